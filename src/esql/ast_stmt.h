// The syntax tree of ESQL: statements. See ast.h.
#pragma once
#include "esql/ast_expr.h"

namespace millstream::esql::ast {

enum class StmtKind : uint8_t {
  kBlock,
  kDeclare,
  kHandler,
  kSet,
  kIf,
  kCase,
  kWhile,
  kRepeat,
  kLoop,
  kFor,
  kLeave,
  kIterate,
  kCall,
  kReturn,
  kThrow,
  kResignal,
  kLog,
  kEval,
  kTransaction,
  kPropagate,
  kCreate,
  kDelete,
  kDetach,
  kAttach,
  kMove,
  kInsert,
  kUpdate,
  kDeleteFrom,
  kPassthru,
};

struct Stmt {
  StmtKind kind;
  SourcePos pos;
  std::string_view source;  // from the first token to before ';'
};

// A scope: declarations are visible from their place on.
struct Block {
  List<Stmt*> statements;
  List<struct HandlerStmt*> handlers;  // those of `statements`, in order; statements skip them
};

struct BlockStmt : Stmt {  // BEGIN [ATOMIC] ... END
  std::string_view label;
  bool is_atomic = false;
  Block body;
};
struct DeclareStmt : Stmt {
  List<Variable*> variables;  // all with the same type and initial expression
};
struct SqlStatePattern {
  bool is_like = false;
  std::string_view text;
  std::string_view escape;
  bool has_escape = false;
};
struct HandlerStmt : Stmt {
  bool is_exit = false;  // EXIT, else CONTINUE
  List<SqlStatePattern> patterns;
  Stmt* action;
};
enum class Facet : uint8_t { kWhole, kType, kNamespace, kName, kValue };
struct SetStmt : Stmt {
  PathExpr* target;
  Facet facet = Facet::kWhole;
  Expr* value;
};
struct IfBranch {
  Expr* condition;  // null: ELSE
  Block body;
};
struct IfStmt : Stmt {
  List<IfBranch> branches;
};
struct CaseStmt : Stmt {
  Expr* operand = nullptr;  // null: searched form
  List<IfBranch> branches;  // condition null: ELSE
};
struct WhileStmt : Stmt {  // kWhile, kRepeat (condition = UNTIL), kLoop (no condition)
  std::string_view label;
  Expr* condition = nullptr;
  Block body;
};
struct ForStmt : Stmt {
  std::string_view label;
  std::string_view name;
  Expr* list;  // PathExpr or a list expression
  Block body;
  Variable* variable = nullptr;  // Resolved: Storage::kRow
};
struct JumpStmt : Stmt {  // LEAVE, ITERATE
  std::string_view label;
  const Stmt* target = nullptr;  // Resolved: the enclosing BlockStmt, WhileStmt or ForStmt
};
struct CallStmt : Stmt {  // CALL p(...) [INTO t]; or f(...);
  CallExpr* call;
  PathExpr* into = nullptr;
};
struct ReturnStmt : Stmt {
  Expr* value = nullptr;
};
struct ThrowStmt : Stmt {  // THROW, LOG; a null clause means the default
  bool is_user = false;    // THROW USER EXCEPTION
  Expr* severity = nullptr;
  Expr* catalog = nullptr;
  Expr* message = nullptr;
  List<Expr*> values;
  // LOG only
  bool is_event = false;  // EVENT, else USER TRACE
  bool has_exception = false;
  bool is_full = false;
};
struct ResignalStmt : Stmt {};
struct EvalStmt : Stmt {
  Expr* text;
  const Scope* scope = nullptr;  // Resolved
};
struct TransactionStmt : Stmt {
  bool is_rollback = false;
  PathExpr* database = nullptr;
};
enum class PropagateTo : uint8_t { kDefault, kTerminal, kLabel };
struct PropagateStmt : Stmt {
  PropagateTo to = PropagateTo::kDefault;
  Expr* destination = nullptr;
  PathExpr* environment = nullptr;
  PathExpr* message = nullptr;
  PathExpr* exception = nullptr;
  bool is_finalize_none = false;
  bool is_delete_none = false;
};

// Where CREATE, DELETE and MOVE act, relative to the field they name.
enum class Place : uint8_t {
  kField,
  kParent,
  kFirstChild,
  kLastChild,
  kPreviousSibling,
  kNextSibling,
};
enum class CreateFrom : uint8_t { kNothing, kValue, kRepeat, kFrom, kParse };
struct CreateStmt : Stmt {
  Place place = Place::kField;
  PathExpr* target;
  PathExpr* as = nullptr;  // a REFERENCE variable, no steps
  Expr* domain = nullptr;
  Expr* type = nullptr;
  Expr* ns = nullptr;
  Expr* name = nullptr;
  PathStep* identity = nullptr;  // IDENTITY path element
  CreateFrom content = CreateFrom::kNothing;
  Expr* value = nullptr;           // kValue, kRepeat (may be null), the blob of kParse
  PathExpr* from = nullptr;        // kFrom
  BitStreamOptions parse;          // kParse
  bool has_constant_type = false;  // Resolved: `type` is a constant
  tree::FieldType constant_type = 0;
};
struct DeleteStmt : Stmt {
  Place place = Place::kField;
  PathExpr* target;
};
struct DetachStmt : Stmt {
  PathExpr* target;
};
struct AttachStmt : Stmt {
  PathExpr* what;
  PathExpr* to;
  Place place;
};
struct MoveStmt : Stmt {
  PathExpr* reference;          // a REFERENCE variable, no steps
  Place place = Place::kField;  // kField: MOVE r TO `to`
  PathExpr* to = nullptr;
  // Name clauses
  bool is_repeat_type = false;  // REPEAT TYPE NAMESPACE NAME: same as the current field
  bool is_repeat_namespace = false;
  bool is_repeat_name = false;
  Expr* type = nullptr;
  Expr* ns = nullptr;
  bool is_any_namespace = false;  // NAMESPACE *
  Expr* name = nullptr;
  PathStep* identity = nullptr;
};
struct ColumnName {
  std::string_view name;
  bool is_quoted = false;
};
struct InsertStmt : Stmt {
  PathExpr* table;
  List<ColumnName> columns;
  List<Expr*> values;
};
struct UpdateColumn {
  std::string_view name;
  bool is_quoted = false;
  SourcePos pos;
  Expr* value;
};
struct UpdateStmt : Stmt {
  PathExpr* table;
  std::string_view correlation;
  List<UpdateColumn> columns;
  Expr* where = nullptr;
  Variable* variable = nullptr;  // Resolved: Storage::kRow
};
struct DeleteFromStmt : Stmt {
  PathExpr* table;
  std::string_view correlation;
  Expr* where = nullptr;
  Variable* variable = nullptr;  // Resolved: Storage::kRow
};
struct PassthruStmt : Stmt {
  PassthruExpr* call;
};

template <typename T>
const T& as(const Stmt& s) {
  return static_cast<const T&>(s);
}
template <typename T>
const T* as(const Stmt* s) {
  return static_cast<const T*>(s);
}

}  // namespace millstream::esql::ast
