// What a program tells of itself while it runs, for the user trace: each statement, what its
// expressions resolve to, what is assigned. Only programs that were compiled to be traced do so;
// others have no trace of it (CompiledProgram::compile).
// Thread: one message's.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "esql/ast.h"

namespace millstream::esql {

class Compiler;
class ExprNode;
class StmtNode;

class Tracer {
 public:
  static constexpr size_t kTextMax = 1000;  // of a statement, an expression or a value

  virtual ~Tracer() = default;
  // An entry: BIP2537 executing, BIP2538 evaluating, BIP2539 result, BIP2566 assigning.
  virtual void line(int number, std::string_view text) = 0;

  // --- for the executor
  struct Place {
    std::string_view routine;       // "schema.Module.Routine"
    uint32_t line = 0, column = 0;  // line 1 is that of the routine
  };
  void statement(const Place& place, std::string_view source);
  void begin_expression(const Place& place, std::string_view source, bool is_reference);
  void end_expression(const Place& place, std::string_view source, std::string result);
  // An expression that failed says nothing of its own.
  void drop_expression();
  void assigned(std::string_view target);
  void forget_result() { has_result_ = false; }

 private:
  struct Part {
    size_t at, size;  // in the source of the expression around it
    std::string text;
  };
  struct Open {
    std::string_view source;
    std::vector<Part> parts;
  };
  std::vector<Open> open_;
  std::string result_;  // of the last expression that stood alone
  bool has_result_ = false;
};

// Nodes that tell what they do and let `node` do it.
const StmtNode* traced_statement(Compiler& c, const ast::Stmt& s, const StmtNode* node);
const ExprNode* traced_expression(Compiler& c, const ast::Expr& e, const ExprNode* node);

}  // namespace millstream::esql
