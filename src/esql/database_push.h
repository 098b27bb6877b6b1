// Which parts of an expression a database can evaluate, and their SQL text.
//
// A SELECT over tables sends what it can of its WHERE clause to the database and evaluates the rest
// for each row; UPDATE and DELETE must be able to send everything, which analysis checks. What does
// not depend on a row (fields of the message, variables, literals, functions of them) is evaluated
// once and bound as a parameter. Internal to src/esql.
// Thread: any.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "esql/ast.h"

namespace millstream::esql {

// The correlation names of one statement: those of tables, and those of other FROM items.
struct PushScope {
  std::vector<const ast::Variable*> tables;
  std::vector<const ast::Variable*> others;
};

// Every expression directly inside `e`, those of path steps and nested SELECTs included.
void for_each_inner(const ast::Expr& e, const std::function<void(const ast::Expr&)>& visit);

// Whether `e` names one of the variables; true for EVAL, whose text is not known.
bool refers_to(const ast::Expr& e, std::span<const ast::Variable* const> variables);

// T.column: the step when `e` is a plain reference to a column of one of the tables.
const ast::PathStep* column_of(const ast::Expr& e, std::span<const ast::Variable* const> tables);

enum class PushKind : uint8_t {
  kLocal,     // the same for every row: evaluated here, once
  kDatabase,  // can be evaluated by the database
  kNeither,   // needs the row here
};
// `culprit`: the innermost expression that makes it kNeither.
PushKind classify(const ast::Expr& e, const PushScope& scope, const ast::Expr** culprit = nullptr);

// How a local part goes into the SQL text.
enum class PushUse : uint8_t {
  kValue,      // "?"
  kCondition,  // "(? = 1)" with TRUE, FALSE, UNKNOWN as 1, 0, NULL
};
// Builds SQL text; the caller takes the local parts in the order of their markers, and says how a
// column is written.
struct PushWriter {
  std::string& sql;
  const PushScope& scope;
  std::function<void(const ast::Expr&, PushUse)> take_local;
  std::function<void(const ast::Variable&, const ast::PathStep&)> write_column;
};
// `e` is kLocal or kDatabase.
void write_pushed(const PushWriter& w, const ast::Expr& e, PushUse use);

// The conditions that AND connects, in order.
void split_conjuncts(const ast::Expr* e, std::vector<const ast::Expr*>& out);

}  // namespace millstream::esql
