// Scopes and handlers. Internal to the executor.
// Thread: immutable once compiled; run() in the message's fiber.
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

// Whether SQLSTATE `state` is one that the handler names, literally or by its LIKE pattern.
bool handler_matches(const ast::HandlerStmt& h, std::string_view state, EvalContext& ctx);

}  // namespace millstream::esql
