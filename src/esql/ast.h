// The syntax tree of ESQL, as the parser builds it and the analysis completes it.
//
// All nodes are plain structs in the arena of their Program (or, for EVAL, of one evaluation);
// lists are spans in the same arena; texts are views into the source text or the arena, both of
// which live as long as the Program. Fields under "Resolved" are null or zero until analyse()
// (analysis.h) has run; nothing writes to the tree after that, so it may be read by any thread.
// Thread: one until analysed, any afterwards.
// Follows spec A1-A8. Keyword forms of functions are already positional (esql/builtin.h).
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "base/names.h"
#include "esql/cast.h"
#include "esql/operators.h"
#include "tree/field_type.h"
#include "value/value.h"

namespace millstream::esql {
struct Builtin;
}

namespace millstream::esql::ast {

struct Expr;
struct Stmt;
struct PathExpr;
struct Routine;
struct Module;
struct SourceFile;
struct Variable;
struct BlockStmt;

template <typename T>
using List = std::span<T>;

// Line and column count from 1 (bytes within the line); `file` indexes Program::files().
struct SourcePos {
  uint32_t file = 0;
  uint32_t line = 0;
  uint32_t column = 0;
};

// ---------------------------------------------------------------- types and variables

enum class TypeKind : uint8_t { kScalar, kRow, kReference, kNamespace, kName };

struct DataType {
  TypeKind kind = TypeKind::kScalar;
  CastTarget scalar;                 // kScalar; CHARACTER for kNamespace and kName
  PathExpr* reference_to = nullptr;  // DECLARE r REFERENCE TO path; null for parameters
};

// Where a variable lives. Locals, parameters and the row variables of FOR and SELECT share one
// frame a routine activation, indexed by Variable::slot (parameters first).
enum class Storage : uint8_t {
  kLocal,      // frame slot
  kParameter,  // frame slot
  kRow,        // frame slot: correlation name of FOR or SELECT, FOR ALL/ANY/SOME
  kModule,     // slot in the module's block of variables: one block a message and node
  kSchema,     // slot in the schema's block: one block a message and node
  kShared,     // slot in the program's shared block: one a flow (or deployment)
  kExternal,   // index in Program::externals(); constant
};

enum class Direction : uint8_t { kIn, kOut, kInOut };

struct Variable {
  std::string_view name;
  SourcePos pos;
  DataType type;
  Storage storage = Storage::kLocal;
  bool is_constant = false;  // CONSTANT, EXTERNAL, NAMESPACE, NAME, FOR and SELECT correlations
  Direction direction = Direction::kIn;  // kParameter
  Expr* initial = nullptr;
  uint32_t slot = 0;  // Resolved
  // Resolved: the initialiser is a literal of the declared type, so that a reference to this
  // constant is that literal. Never set for kExternal.
  bool has_literal = false;
  value::Value literal;
  Module* module = nullptr;  // kModule, or a SHARED/EXTERNAL declared in a module
  SourceFile* file = nullptr;
};

// One entry of the chain of visible names; EVAL keeps the chain of its place.
struct Scope {
  const Scope* outer = nullptr;
  Variable* variable = nullptr;
};

// ---------------------------------------------------------------- expressions

enum class ExprKind : uint8_t {
  kLiteral,
  kPath,
  kNegate,
  kPlus,
  kNot,
  kArithmetic,
  kConcatenate,
  kCompare,
  kAnd,
  kOr,
  kBetween,
  kIn,
  kLike,
  kIs,
  kCase,
  kCall,
  kCast,
  kInterval,
  kSelect,
  kThe,

  kRow,
  kList,
  kQuantifier,
  kAsBitStream,
  kPassthru,
  kEval,
};

struct Expr {
  ExprKind kind;
  SourcePos pos;
  std::string_view source;  // the text of the expression, for error inserts
};

struct LiteralExpr : Expr {
  value::Value value;  // texts are in the arena; NULL and UNKNOWN are Value::null()
};

// --- field references and variables

enum class NamespaceKind : uint8_t {
  kNone,     // no prefix: names in no namespace
  kEmpty,    // ":name": names in no namespace
  kLiteral,  // "ns:name" with a constant `ns`, see `ns`
  kExpr,     // "{e}:name", or a prefix whose value is known at run time only, see `ns_expr`
  kAny,      // "*:name"
};
enum class NameKind : uint8_t {
  kAbsent,
  kLiteral,
  kExpr,
  kAny
};  // kAbsent: "(Type)" or "[n]" only
enum class IndexKind : uint8_t {
  kNone,
  kList,    // a, a[]
  kNumber,  // a[n]
  kFirst,
  kFromFirst,  // a[>], a[>n]
  kLast,
  kFromLast,  // a[<], a[<n]
};

struct PathStep {
  SourcePos pos;
  NamespaceKind ns_kind = NamespaceKind::kNone;
  NameKind name_kind = NameKind::kAbsent;
  IndexKind index_kind = IndexKind::kNone;
  bool is_quoted = false;   // "name" in double quotes
  Expr* type = nullptr;     // (Type); null = any type
  std::string_view prefix;  // as written before ':'
  Expr* ns_expr = nullptr;
  std::string_view name;  // kLiteral
  Expr* name_expr = nullptr;
  Expr* index = nullptr;  // kNumber, kFromFirst, kFromLast
  // Resolved
  bool has_constant_type = false;  // `type` is a type constant or literal: see constant_type
  tree::FieldType constant_type = 0;
  const base::Name* ns = nullptr;      // kNone, kEmpty (the empty name), kLiteral
  const base::Name* local = nullptr;   // name_kind kLiteral
  const base::QName* qname = nullptr;  // both known
};

// Correlation names that the node provides.
enum class Correlation : uint8_t {
  kInputRoot,
  kInputBody,
  kInputProperties,
  kInputLocalEnvironment,
  kInputExceptionList,
  kOutputRoot,
  kOutputLocalEnvironment,
  kOutputExceptionList,
  // Filter and Database modules. They see one assembly: these are kRoot, kBody, ...
  kRoot,
  kBody,
  kProperties,
  kLocalEnvironment,
  kExceptionList,
  kEnvironment,
  kDatabase,
};

enum class SpecialName : uint8_t { kSqlCode, kSqlState, kSqlErrorText, kSqlNativeError };

enum class RefKind : uint8_t {
  kUnresolved,
  kVariable,        // `variable`
  kCorrelation,     // `correlation`
  kConstant,        // `constant`: type constant, MQ constant; never has steps
  kSpecial,         // `special`: SQLSTATE, ...; never has steps
  kNiladic,         // `builtin`: CURRENT_TIMESTAMP, ...; never has steps
  kBrokerProperty,  // `name` in canonical spelling: BrokerName, MessageFlowLabel, ...
  kRelative,        // no root: an AS path or IDENTITY path element; only steps count
};

// `root(.step)*`; a bare variable or constant is a path without steps. In a list context the last
// step has index kind kList; `row[]` on a bare variable is `root_index` kList.
struct PathExpr : Expr {
  std::string_view name;  // the root identifier as written
  bool is_quoted = false;
  IndexKind root_index = IndexKind::kNone;  // r[], r[n] on the root itself
  Expr* root_index_expr = nullptr;
  List<PathStep> steps;
  // Resolved
  RefKind ref = RefKind::kUnresolved;
  Correlation correlation{};
  SpecialName special{};
  Variable* variable = nullptr;
  const Builtin* builtin = nullptr;
  value::Value constant;
};

// --- operators

struct UnaryExpr : Expr {  // kNegate, kPlus, kNot
  Expr* operand;
};
struct BinaryExpr : Expr {  // kArithmetic, kConcatenate, kCompare, kAnd, kOr
  ArithmeticOp arithmetic{};
  CompareOp compare{};
  Expr* left;
  Expr* right;
};
struct BetweenExpr : Expr {
  bool is_negated = false;
  bool is_symmetric = false;
  Expr* operand;
  Expr* low;
  Expr* high;
};
struct InExpr : Expr {
  bool is_negated = false;
  Expr* operand;
  List<Expr*> list;  // one SelectExpr or "a.b[]" path, or scalar expressions
};
struct LikeExpr : Expr {
  bool is_negated = false;
  Expr* operand;
  Expr* pattern;
  Expr* escape = nullptr;
};
enum class IsTest : uint8_t {
  kNull,
  kUnknown,
  kTrue,
  kFalse,
  kInfinity,
  kPlusInfinity,
  kMinusInfinity,
  kNan,
  kNumber,
};
struct IsExpr : Expr {
  bool is_negated = false;
  IsTest test;
  Expr* operand;
};
struct CaseWhen {
  Expr* when;
  Expr* then;
};
struct CaseExpr : Expr {
  Expr* operand = nullptr;  // null: searched form
  List<CaseWhen> whens;
  Expr* otherwise = nullptr;
};
// (e) DAY: subtraction of datetimes, or a number made an interval.
struct IntervalExpr : Expr {
  Expr* operand;
  value::IntervalQualifier qualifier;
};

// --- calls

enum class CallTarget : uint8_t { kUnresolved, kRoutine, kBuiltin, kField };

// Functions over fields and lists; their arguments are not evaluated to scalars first.
enum class FieldFunction : uint8_t {
  kNone,
  kFieldName,
  kFieldNamespace,
  kFieldType,
  kFieldValue,
  kSameField,
  kLastMove,
  kCardinality,
  kExists,
  kSingular,
  kBitStream,
};

struct CallExpr : Expr {
  std::string_view schema;  // "a.b" of a.b.F(...), empty when not written
  std::string_view name;    // as written
  List<Expr*> args;
  // CALL only
  PathExpr* in_reference = nullptr;  // IN Database.dsn...
  Expr* external_schema = nullptr;   // EXTERNAL SCHEMA e
  // Resolved
  CallTarget target = CallTarget::kUnresolved;
  Routine* routine = nullptr;
  const Builtin* builtin = nullptr;  // kBuiltin; `function` is not null
  FieldFunction field_function = FieldFunction::kNone;
};

struct CastExpr : Expr {
  List<Expr*> sources;
  CastTarget target;
  Expr* ccsid = nullptr;
  Expr* encoding = nullptr;
  Expr* format = nullptr;
  Expr* default_value = nullptr;
};

// Options of ASBITSTREAM and PARSE.
struct BitStreamOptions {
  Expr* options = nullptr;
  Expr* encoding = nullptr;
  Expr* ccsid = nullptr;
  Expr* set = nullptr;
  Expr* type = nullptr;
  Expr* format = nullptr;
};
struct AsBitStreamExpr : Expr {
  PathExpr* field;
  BitStreamOptions clauses;
};
struct PassthruExpr : Expr {
  Expr* sql;
  PathExpr* to = nullptr;  // Database.dsn
  List<Expr*> values;
  bool values_are_list = false;  // one argument "a.b[]" that supplies all values
};
// EVAL as a function; the text is parsed at run time in `scope`.
struct EvalExpr : Expr {
  Expr* text;
  const Scope* scope = nullptr;  // Resolved
};

// --- rows and lists

enum class SelectKind : uint8_t { kColumns, kItem, kCount, kCountStar, kMax, kMin, kSum };

struct SelectColumn {
  SourcePos pos;
  Expr* value = nullptr;   // null: "*" (all columns of all sources)
  bool is_all_of = false;  // "A.*": value is the PathExpr of A (the "*" step removed)
  // AS path, or the name taken from a field reference; empty: no name could be derived. A last step
  // with index kind kList holds a nested list.
  List<PathStep> as;
};
struct FromItem {
  Expr* source;           // PathExpr, or an expression that gives rows (LIST, PASSTHRU, ...)
  std::string_view name;  // AS name, else the last name of the path
  bool is_list = false;   // "x[]", a table, or an expression
  bool is_database = false;
  Variable* variable = nullptr;  // Resolved: Storage::kRow
};
struct SelectExpr : Expr {
  SelectKind select = SelectKind::kColumns;
  List<SelectColumn> columns;  // kColumns
  Expr* item = nullptr;        // kItem, and the argument of kCount, kMax, kMin, kSum
  List<FromItem> from;
  Expr* where = nullptr;
  bool is_list = false;  // some FROM item is a list (never true for column functions)
};
struct TheExpr : Expr {
  Expr* list;
};
struct RowField {
  Expr* value;
  List<PathStep> as;  // AS path or derived name; empty: unnamed
};
struct RowExpr : Expr {
  List<RowField> fields;
};
struct ListExpr : Expr {
  List<Expr*> items;
};
enum class Quantifier : uint8_t { kAll, kAny };  // SOME = ANY
struct QuantifierExpr : Expr {                   // FOR ALL list AS x (condition)
  Quantifier quantifier;
  Expr* list;
  std::string_view name;
  Expr* condition;
  Variable* variable = nullptr;  // Resolved: Storage::kRow
};

template <typename T>
const T& as(const Expr& e) {
  return static_cast<const T&>(e);
}
template <typename T>
const T* as(const Expr* e) {
  return static_cast<const T*>(e);
}

// ---------------------------------------------------------------- statements

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

// ---------------------------------------------------------------- routines, modules, files

enum class Language : uint8_t { kEsql, kJava, kDotNet, kDatabase };

struct Routine {
  SourcePos pos;
  std::string_view source;
  std::string_view name;
  bool is_function = false;    // FUNCTION, else PROCEDURE
  List<Variable*> parameters;  // Storage::kParameter, slots 0..n-1
  bool has_return_type = false;
  bool is_return_nullable = true;  // false: RETURNS t NOT NULL
  DataType returns;
  Language language = Language::kEsql;
  Stmt* body = nullptr;  // language kEsql
  std::string_view external_name;
  std::string_view class_loader;
  int64_t result_sets = 0;   // DYNAMIC RESULT SETS n
  Module* module = nullptr;  // null: schema level
  SourceFile* file = nullptr;
  uint32_t frame_slots = 0;  // Resolved: slots of one activation
  uint32_t depth = 0;        // Resolved: deepest nesting of statements and expressions
};

enum class ModuleKind : uint8_t { kCompute, kDatabase, kFilter, kDatabaseEvent };

struct Module {
  ModuleKind kind = ModuleKind::kCompute;
  SourcePos pos;
  std::string_view name;
  List<Variable*> variables;  // in order; includes SHARED and EXTERNAL ones
  List<Routine*> routines;
  SourceFile* file = nullptr;
  Routine* main = nullptr;      // Resolved; null for kDatabaseEvent
  uint32_t variable_slots = 0;  // Resolved: Storage::kModule
  SourcePos needs_data_source;  // Resolved: first statement that needs the node's; line 0: none
};

struct SourceFile {
  uint32_t index = 0;
  std::string_view path;
  std::string_view text;
  std::string_view schema;  // "a.b.c"; empty = default schema
  List<std::string_view> search_path;
  List<Variable*> variables;
  List<Routine*> routines;
  List<Module*> modules;
};

}  // namespace millstream::esql::ast
