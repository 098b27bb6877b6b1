// What the database statements of ESQL have in common: names of tables, SQL text with its
// parameters, and what a statement leaves in SQLCODE and the like. Internal to the executor.
// Thread: immutable once compiled; evaluation in the message's fiber.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "esql/compile.h"
#include "esql/database_push.h"

namespace millstream::esql {

// One part of Database.source.schema.table: a name, or {expression}.
struct DatabaseName {
  std::string text;
  bool is_quoted = false;
  const ExprNode* expr = nullptr;
  bool is_given() const { return expr || !text.empty(); }
  // In the message's arena; an error when the expression gives no text.
  Status eval(Frame& f, const char* what, std::string_view& out) const;
};

// Database[.source].schema.table, as far as it is written.
struct DatabaseTable {
  DatabaseName source, schema, table;
};
DatabaseTable compile_table(Compiler& c, const ast::PathExpr& path);
// Database.source [.schema], of TO and IN clauses, COMMIT and ROLLBACK; null: the node's source.
DatabaseTable compile_source(Compiler& c, const ast::PathExpr* path);

// SQL text with values to bind. Text that depends on the message (names in braces) is put in when
// it is run, as quoted identifiers.
class SqlText {
 public:
  std::string text;  // while compiling: append here
  void add_name(const DatabaseName& name);
  void add_table(const DatabaseTable& table);
  // A value in the order of the markers in `text`.
  void add_parameter(const ExprNode* value, PushUse use) { parameters_.push_back({value, use}); }

  Status eval_text(Frame& f, std::string_view& out) const;
  Status eval_parameters(Frame& f, std::span<const value::Value>& out) const;

 private:
  struct Hole {
    size_t at;
    DatabaseName name;
  };
  struct Parameter {
    const ExprNode* value;
    PushUse use;
  };
  std::vector<Hole> holes_;
  std::vector<Parameter> parameters_;
};

// Runs one statement; other users of SHARED variables are let in while it waits.
Status run_sql(Frame& f, const SqlText& sql, const DatabaseName& source, bool is_query,
               std::string_view statement, DatabaseResult& out);
void set_registers(Frame& f, const DatabaseResult& result);

// Rows as elements: columns are children in the order of the result, NULLs are left out.
class RowMaker {
 public:
  RowMaker(Frame& f, const DatabaseRows& rows);
  size_t count() const { return rows_.row_count; }
  // A new element below `holder` with columns [first, last) of the row.
  Ref make(Frame& f, tree::Element* holder, size_t row, size_t first, size_t last) const;
  Ref make(Frame& f, tree::Element* holder, size_t row) const {
    return make(f, holder, row, 0, names_.size());
  }
  void set_name(size_t column, const base::QName* name) { names_[column] = name; }

 private:
  const DatabaseRows& rows_;
  std::vector<const base::QName*> names_;
};

// The tables of a SELECT: read with one statement, bound to their correlation names row by row.
class DatabaseSelect {
 public:
  // Takes what it can of the WHERE clause; `rest` is what remains to be evaluated for each row.
  DatabaseSelect(Compiler& c, const ast::SelectExpr& e, std::vector<const ast::Expr*>& rest);

  // COUNT, MAX, MIN or SUM that the database computes.
  bool is_aggregate() const { return is_aggregate_; }
  Status eval_aggregate(Frame& f, value::Value& out) const;
  // Binds the correlation names to each combination of rows and calls `row`.
  template <typename Row>
  Status for_each_row(Frame& f, const Row& row, bool& stop) const {
    DatabaseResult result;
    bool is_excluded = false;
    MS_TRY(open(f, result, is_excluded));
    if (is_excluded || result.rows.row_count == 0) return {};
    RowMaker maker(f, result.rows);
    Places places;
    place_columns(f, result.rows, maker, places);
    tree::Element* holder = make_row_holder(f);
    for (size_t i = 0; i < result.rows.row_count && !stop; ++i) {
      MS_TRY(f.x.check_inner_loop());
      bind(f, maker, holder, i, places);
      MS_TRY(row());
    }
    return {};
  }

 private:
  using Places = std::vector<std::pair<size_t, size_t>>;  // columns of each table in a row
  struct Column {
    const ast::PathStep* step;
  };
  struct Table {
    const ast::Variable* variable;
    DatabaseTable name;
    bool is_whole = false;  // T.*: more than named columns are needed
    std::vector<Column> columns;
  };
  void find_columns(const ast::Expr& e);
  void collect_columns(const ast::SelectExpr& e, const std::vector<const ast::Expr*>& rest);
  void write_select_list();
  void write_from();
  void write_condition(Compiler& c, const ast::Expr& e, PushUse use);
  bool try_aggregate(Compiler& c, const ast::SelectExpr& e);
  Status open(Frame& f, DatabaseResult& result, bool& is_excluded) const;
  Status eval_source(Frame& f, std::string_view& out) const;
  void place_columns(Frame& f, const DatabaseRows& rows, RowMaker& maker, Places& places) const;
  void bind(Frame& f, const RowMaker& maker, tree::Element* holder, size_t row,
            const Places& places) const;
  static tree::Element* make_row_holder(Frame& f);

  std::string_view statement_;
  PushScope scope_;
  std::vector<Table> tables_;
  std::vector<const ExprNode*> preconditions_;
  SqlText sql_;
  bool is_aggregate_ = false;
};

const StmtNode* compile_database_statement(Compiler& c, const ast::Stmt& s);
const ExprNode* compile_database_call(Compiler& c, const ast::CallExpr& e);

}  // namespace millstream::esql
