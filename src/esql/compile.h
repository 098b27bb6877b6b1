// The compiler: from the resolved syntax tree to executable nodes. It cannot fail on a linked
// program; what this release does not run becomes a node that raises an error when it is reached.
// Internal to src/esql.
// Thread: one.
#pragma once
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "esql/exec.h"
#include "esql/exec_path.h"

namespace millstream::esql {

struct ModuleCode {
  const ast::Module* ast = nullptr;
  const RoutineCode* main = nullptr;
  std::vector<VariableCode> variables;  // Storage::kModule, in order
  uint32_t cursors = 0;                 // for the initialisers
};

// Everything compiled of one Program. Immutable once built.
struct ProgramCode {
  ProgramCode(std::shared_ptr<const Program> p, bool traced);
  std::shared_ptr<const Program> program;  // owns the syntax tree the nodes point into
  const bool is_traced;                    // statements tell what they do (esql/trace.h)
  base::Arena arena;                       // folded constants
  tree::TreeContext tree;
  NodePool nodes;
  std::deque<RoutineCode> routines;
  std::deque<ModuleCode> modules;
  std::vector<VariableCode> schema_variables, shared_variables, externals;  // by slot
  std::unordered_map<const ast::Routine*, RoutineCode*> routine_index;
  std::unordered_map<const ast::Module*, ModuleCode*> module_index;
};

class Compiler {
 public:
  // `fold` is where constants are computed; null: nothing is folded.
  Compiler(NodePool& pool, const ProgramCode& code, EvalContext* fold)
      : pool_(pool), code_(code), fold_(fold) {}

  const ExprNode* expr(const ast::Expr* e);  // null for null
  const StmtNode* stmt(const ast::Stmt* s);  // counted where that is asked for
  const BlockNode* block(const ast::Block& b);
  const PathNode* path(const ast::PathExpr* e);  // null for null; never folded to a constant
  StepNode step(const ast::PathStep& s);
  std::vector<StepNode> steps(ast::List<ast::PathStep> list);
  VariableCode variable(const ast::Variable& v);
  const RoutineCode* routine(const ast::Routine* r) const;

  template <typename T, typename... Args>
  T* make(Args&&... args) {
    auto node = std::make_unique<T>(std::forward<Args>(args)...);
    T* raw = node.get();
    pool_.push_back(std::move(node));
    return raw;
  }
  EvalContext* fold() { return fold_; }
  const ProgramCode& code() const { return code_; }
  uint32_t take_cursor() { return cursors_++; }
  uint32_t cursors() const { return cursors_; }
  // For EVAL: names are interned in the message, so they are looked up again in other trees.
  void use_message_names() { has_message_names_ = true; }

 private:
  const StmtNode* statement(const ast::Stmt* s);
  const ExprNode* expression(const ast::Expr* e);

  NodePool& pool_;
  const ProgramCode& code_;
  EvalContext* fold_;
  uint32_t cursors_ = 0;
  bool has_message_names_ = false;
};

// One function a group of nodes; each is beside its node classes.
const ExprNode* compile_literal(Compiler& c, const value::Value& v);
const ExprNode* compile_path_value(Compiler& c, const ast::PathExpr& e);
const ExprNode* compile_operator(Compiler& c, const ast::Expr& e);
const ExprNode* compile_logic(Compiler& c, const ast::Expr& e);
const ExprNode* compile_cast(Compiler& c, const ast::CastExpr& e);
const ExprNode* compile_builtin(Compiler& c, const Builtin& b, const ast::Expr& e,
                                ast::List<ast::Expr*> args);
const ExprNode* compile_field_function(Compiler& c, const ast::CallExpr& e);
const ExprNode* compile_as_bit_stream(Compiler& c, const ast::AsBitStreamExpr& e);
const ExprNode* compile_call(Compiler& c, const ast::CallExpr& e);
const ExprNode* compile_database_expression(Compiler& c, const ast::Expr& e);
const ExprNode* compile_eval(Compiler& c, const ast::EvalExpr& e);
const ExprNode* compile_row_or_list(Compiler& c, const ast::Expr& e);
const ExprNode* compile_complex_compare(Compiler& c, const ast::BinaryExpr& e, const ExprNode* left,
                                        const ExprNode* right);
const ExprNode* compile_quantifier(Compiler& c, const ast::QuantifierExpr& e);
const ExprNode* compile_select(Compiler& c, const ast::SelectExpr& e);
const ExprNode* compile_the(Compiler& c, const ast::TheExpr& e);

const StmtNode* compile_set(Compiler& c, const ast::SetStmt& s);
const StmtNode* compile_control(Compiler& c, const ast::Stmt& s);
const StmtNode* compile_action(Compiler& c, const ast::Stmt& s);
const StmtNode* compile_eval_statement(Compiler& c, const ast::EvalStmt& s);
const StmtNode* compile_tree_statement(Compiler& c, const ast::Stmt& s);

// Routines of the Toolkit's Compute template, recognised by their text.
RoutineCode::Fast recognise_routine(const ast::Routine& r);
Status run_fast_routine(Frame& f, RoutineCode::Fast kind);

}  // namespace millstream::esql
