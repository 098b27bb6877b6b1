// Resolution and checks of a parsed program (spec A2 scoping, A6 correlation names, A3 rules of
// place): fills the "Resolved" fields of ast.h and reports what the product would refuse at
// deployment, plus warnings.
//
// Codes: BIP2432 unknown correlation name or variable; MS1603 duplicate; MS1605 unknown routine;
// MS1606 number of arguments; MS1607 assignment to a constant; MS1608 labels; MS1609 place of a
// handler; MS1610 PROPAGATE in a Filter; MS1611 SHARED; MS1612 EXTERNAL; MS1613 Main; MS1614 wrong
// kind of operand; MS1615 a scalar has no fields; MS1616 a REFERENCE variable is needed; MS1617
// unknown namespace prefix; MS1618 RESIGNAL; MS1619 RETURN. Warnings: MS1620 external routines,
// MS1622 CARDINALITY without [], MS1623 terminals, MS1624 read-only trees, MS1625
// PROPAGATE inside ATOMIC, MS1626 prefix that is not a NAMESPACE constant, MS1627 schema and
// folder, MS1628 a routine whose name differs in case. Internal to the front end; use Program.
// Thread: one.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/arena.h"
#include "base/names.h"
#include "esql/ast.h"
#include "esql/program.h"

namespace millstream::esql {

// Interns the names of paths: in the table of a deployment, or in a message's scope (EVAL).
class NameInterner {
 public:
  virtual const base::Name* name(std::string_view text) = 0;
  virtual const base::QName* qname(std::string_view ns, std::string_view local) = 0;

 protected:
  ~NameInterner() = default;
};

// Names of all files, by unit, schema and module.
class ProgramIndex {
 public:
  struct Entry {
    uint32_t unit = 0;
    void* what = nullptr;
  };
  // False: the unit has one of that name already; `first` is that.
  bool add(char kind, uint32_t unit, std::string_view schema, std::string_view module,
           std::string_view name, void* what, void** first);
  // In `unit` first, then in the others from 0 on.
  void* find(char kind, uint32_t unit, std::string_view schema, std::string_view module,
             std::string_view name) const;

  ast::Variable* find_variable(uint32_t unit, std::string_view schema, std::string_view module,
                               std::string_view name) const {
    return static_cast<ast::Variable*>(find('v', unit, schema, module, name));
  }
  ast::Routine* find_routine(uint32_t unit, std::string_view schema, std::string_view module,
                             std::string_view name) const {
    return static_cast<ast::Routine*>(find('r', unit, schema, module, name));
  }
  ast::Module* find_module(uint32_t unit, std::string_view schema, std::string_view name) const {
    return static_cast<ast::Module*>(find('m', unit, schema, {}, name));
  }

 private:
  std::unordered_map<std::string, std::vector<Entry>> entries_;
};

using DiagnosticSink =
    std::function<void(const ast::SourcePos&, DiagnosticLevel, std::string_view code, std::string)>;

// Sets has_literal and literal of a constant whose initialiser is a literal of its own type.
void fold_literal(ast::Variable& v);

class Analyser {
 public:
  Analyser(const Program& program, const ProgramIndex& index, base::Arena& arena,
           NameInterner& names, DiagnosticSink sink)
      : program_(program), index_(index), arena_(arena), names_(names), sink_(std::move(sink)) {}

  void run_file(ast::SourceFile& file);
  // EVAL: resolves as if inside `routine` at a place with this scope; returns the frame slots.
  uint32_t run_eval(const EvalInput& input, ast::SourceFile& file, ast::Module* module,
                    ast::Expr* expression, const ast::Block& block);

 private:
  struct LabelEntry {
    std::string_view label;
    const ast::Stmt* statement;
  };
  class ScopeGuard;
  struct Level {  // one more level of nesting
    explicit Level(Analyser& a) : analyser(a) {
      if (++a.depth_ > a.deepest_) a.deepest_ = a.depth_;
    }
    ~Level() { --analyser.depth_; }
    Analyser& analyser;
  };

  // --- reporting
  void error(const ast::SourcePos& pos, std::string_view code, std::string text);
  void warning(const ast::SourcePos& pos, std::string_view code, std::string text);

  // --- declarations
  void declaration(ast::Variable& v, bool is_local);
  void add_to_scope(ast::Variable* v);
  ast::Variable* add_row(std::string_view name, const ast::SourcePos& pos);
  void module(ast::Module& m);
  void check_main(ast::Module& m);
  void routine(ast::Routine& r);

  // --- statements
  void block(const ast::Block& b);
  void statement(ast::Stmt* s);
  void action(ast::Stmt* s);
  void handler(ast::HandlerStmt& s);
  void check_handler_place(const ast::Block& b);
  void loop(const ast::Block& body, std::string_view label, const ast::Stmt& s);
  void for_statement(ast::ForStmt& s);
  void jump(ast::JumpStmt& s);
  void set(ast::SetStmt& s);
  void call_statement(ast::CallStmt& s);
  void return_statement(ast::ReturnStmt& s);
  void message_statement(ast::ThrowStmt& s);
  void propagate(ast::PropagateStmt& s);
  void create(ast::CreateStmt& s);
  void move(ast::MoveStmt& s);
  void insert(ast::InsertStmt& s);
  void update(ast::UpdateStmt& s);
  void delete_from(ast::DeleteFromStmt& s);
  void pushed(const ast::Expr* e, const ast::Variable* row);
  void uses_node_source(const ast::SourcePos& pos);
  void reference_variable(ast::PathExpr* p, std::string_view statement);
  void tree_target(ast::PathExpr* p, std::string_view statement);

  // --- expressions
  void expr(ast::Expr* e);
  void compound(ast::Expr* e);
  void exprs(ast::List<ast::Expr*> list);
  void call(ast::CallExpr& e, bool is_statement);
  bool field_function(ast::CallExpr& e);
  void check_arguments(const ast::Routine& r, const ast::CallExpr& e);
  void select(ast::SelectExpr& e);
  void quantifier(ast::QuantifierExpr& e);
  void options(ast::BitStreamOptions& o);

  // --- names
  void path(ast::PathExpr* p);
  void resolve_root(ast::PathExpr& p);
  bool resolve_constant(ast::PathExpr& p);
  bool resolve_qualified(ast::PathExpr& p);
  void set_variable(ast::PathExpr& p, ast::Variable* v);
  void step(ast::PathStep& s);
  void step_namespace(ast::PathStep& s);
  void steps(ast::List<ast::PathStep> list);
  ast::Variable* find_variable(std::string_view name, bool namespaces_only = false) const;
  ast::Routine* find_routine(std::string_view schema, std::string_view name) const;
  std::span<const std::string_view> correlation_names() const;
  std::string known_correlations() const;
  std::string_view similar_name(std::string_view name);
  ast::Routine* similar_routine(std::string_view name) const;
  void call_routine(ast::CallExpr& e, ast::Routine& r, bool is_statement);
  ast::PathExpr* variable_path(ast::Variable* v, const ast::SourcePos& pos);
  static bool constant_type(const ast::Expr* e, tree::FieldType& out);
  uint32_t unit() const { return file_ ? program_.unit_of(*file_) : 0; }

  const Program& program_;
  const ProgramIndex& index_;
  base::Arena& arena_;
  NameInterner& names_;
  DiagnosticSink sink_;

  ast::SourceFile* file_ = nullptr;
  ast::Module* module_ = nullptr;
  const ast::Routine* routine_ = nullptr;
  const ast::Scope* scope_ = nullptr;
  std::vector<LabelEntry> labels_;
  uint32_t next_slot_ = 0;
  uint32_t depth_ = 0;    // of statements and expressions being looked at
  uint32_t deepest_ = 0;  // in this routine
  uint32_t handler_depth_ = 0;
  uint32_t atomic_depth_ = 0;
  uint32_t suggestions_left_ = 100;  // by similarity of names
  bool is_eval_ = false;
};

}  // namespace millstream::esql
