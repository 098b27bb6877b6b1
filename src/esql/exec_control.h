// Scopes and handlers. Internal to the executor.
#pragma once
#include <vector>

#include "esql/compile.h"

namespace millstream::esql {

struct HandlerNode {
  const ast::HandlerStmt* ast = nullptr;
  const StmtNode* action = nullptr;
};

// A list of statements with the handlers of its scope.
class BlockNode : public NodeBase {
 public:
  Flow run(Frame& f) const;
  std::vector<const StmtNode*> statements;
  std::vector<HandlerNode> handlers;

 private:
  Flow run_statements(Frame& f) const;
};

bool handler_matches(const ast::HandlerStmt& h, std::string_view state, EvalContext& ctx);

}  // namespace millstream::esql
