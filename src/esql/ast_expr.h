// The syntax tree of ESQL: types, variables and expressions. See ast.h.
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

}  // namespace millstream::esql::ast
