// SELECT over tables: one statement for all of them, with what the database can do of the WHERE
// clause.
#include <algorithm>

#include "esql/errors_gen.h"
#include "esql/exec_database.h"
#include "esql/rows.h"
#include "text/sql_identifier.h"
#include "text/utf8.h"

namespace millstream::esql {

using value::Value;

namespace {

// Between the columns of two tables that are selected whole, so that the border can be found.
constexpr std::string_view kBorder = "ms_next";

std::string alias_of(size_t table) { return "t" + std::to_string(table + 1); }

}  // namespace

DatabaseSelect::DatabaseSelect(Compiler& c, const ast::SelectExpr& e,
                               std::vector<const ast::Expr*>& rest)
    : statement_(e.source) {
  for (const ast::FromItem& item : e.from) {
    if (!item.is_database) {
      scope_.others.push_back(item.variable);
      continue;
    }
    scope_.tables.push_back(item.variable);
    Table t;
    t.variable = item.variable;
    t.name = compile_table(c, ast::as<ast::PathExpr>(*item.source));
    tables_.push_back(std::move(t));
  }
  std::vector<const ast::Expr*> conjuncts, pushed;
  split_conjuncts(e.where, conjuncts);
  for (const ast::Expr* one : conjuncts) {
    switch (classify(*one, scope_)) {
      case PushKind::kLocal:
        preconditions_.push_back(c.expr(one));
        break;
      case PushKind::kDatabase:
        pushed.push_back(one);
        break;
      case PushKind::kNeither:
        rest.push_back(one);
        break;
    }
  }
  sql_.text = "SELECT ";
  is_aggregate_ = rest.empty() && scope_.others.empty() && try_aggregate(c, e);
  if (!is_aggregate_) {
    collect_columns(e, rest);
    write_select_list();
  }
  write_from();
  for (size_t i = 0; i < pushed.size(); ++i) {
    sql_.text += i ? " AND " : " WHERE ";
    write_condition(c, *pushed[i], PushUse::kCondition);
  }
}

// What the rows must hold for what is evaluated here.
void DatabaseSelect::find_columns(const ast::Expr& e) {
  if (e.kind == ast::ExprKind::kPath) {
    const auto& p = ast::as<ast::PathExpr>(e);
    for (Table& t : tables_) {
      if (p.ref != ast::RefKind::kVariable || p.variable != t.variable) continue;
      const ast::PathStep* column = column_of(e, scope_.tables);
      if (!column) {
        t.is_whole = true;
        continue;
      }
      const bool is_known =
          std::any_of(t.columns.begin(), t.columns.end(), [&](const Column& known) {
            return known.step->name == column->name && known.step->is_quoted == column->is_quoted;
          });
      if (!is_known) t.columns.push_back({column});
    }
  }
  if (e.kind == ast::ExprKind::kEval) {
    for (Table& t : tables_) t.is_whole = true;
  }
  for_each_inner(e, [this](const ast::Expr& inner) { find_columns(inner); });
}

void DatabaseSelect::collect_columns(const ast::SelectExpr& e,
                                     const std::vector<const ast::Expr*>& rest) {
  for (const ast::SelectColumn& column : e.columns) {
    if (!column.value) {
      for (Table& t : tables_) t.is_whole = true;
      continue;
    }
    find_columns(*column.value);
    for (const ast::PathStep& s : column.as) {
      for (const ast::Expr* inner : {s.type, s.ns_expr, s.name_expr, s.index}) {
        if (inner) find_columns(*inner);
      }
    }
  }
  if (e.item) find_columns(*e.item);
  for (const ast::Expr* one : rest) find_columns(*one);
  // FROM items may go through a column's children, or call with it.
  for (const ast::FromItem& item : e.from) {
    if (!item.is_database) find_columns(*item.source);
  }
}

void DatabaseSelect::write_select_list() {
  bool is_first = true;
  auto comma = [&] {
    if (!is_first) sql_.text += ", ";
    is_first = false;
  };
  for (size_t i = 0; i < tables_.size(); ++i) {
    if (tables_[i].is_whole) {
      comma();
      sql_.text += alias_of(i) + ".*";
      if (i + 1 < tables_.size()) sql_.text += ", 0 AS " + std::string(kBorder);
      continue;
    }
    for (const Column& column : tables_[i].columns) {
      comma();
      sql_.text += alias_of(i) + ".";
      text::append_sql_identifier(sql_.text, column.step->name, column.step->is_quoted);
    }
  }
  // COUNT(*) over rows that are counted here needs no column.
  if (is_first) sql_.text += "1";
}

void DatabaseSelect::write_from() {
  for (size_t i = 0; i < tables_.size(); ++i) {
    sql_.text += i ? ", " : " FROM ";
    sql_.add_table(tables_[i].name);
    sql_.text += " " + alias_of(i);
  }
}

void DatabaseSelect::write_condition(Compiler& c, const ast::Expr& e, PushUse use) {
  PushWriter writer{
      sql_.text, scope_,
      [&](const ast::Expr& local, PushUse how) { sql_.add_parameter(c.expr(&local), how); },
      [&](const ast::Variable& table, const ast::PathStep& column) {
        for (size_t i = 0; i < tables_.size(); ++i) {
          if (tables_[i].variable == &table) sql_.text += alias_of(i) + ".";
        }
        text::append_sql_identifier(sql_.text, column.name, column.is_quoted);
      }};
  write_pushed(writer, e, use);
}

bool DatabaseSelect::try_aggregate(Compiler& c, const ast::SelectExpr& e) {
  const char* function = nullptr;
  switch (e.select) {
    case ast::SelectKind::kCountStar:
      sql_.text += "COUNT(*)";
      return true;
    case ast::SelectKind::kCount:
      function = "COUNT(";
      break;
    case ast::SelectKind::kMax:
      function = "MAX(";
      break;
    case ast::SelectKind::kMin:
      function = "MIN(";
      break;
    case ast::SelectKind::kSum:
      function = "SUM(";
      break;
    default:
      return false;
  }
  if (!e.item || classify(*e.item, scope_) != PushKind::kDatabase) return false;
  sql_.text += function;
  write_condition(c, *e.item, PushUse::kValue);
  sql_.text += ")";
  return true;
}

// ---------------------------------------------------------------- execution

Status DatabaseSelect::eval_source(Frame& f, std::string_view& out) const {
  for (size_t i = 0; i < tables_.size(); ++i) {
    std::string_view source;
    MS_TRY(tables_[i].name.source.eval(f, "data source", source));
    if (i == 0) out = source;
    if (source != out) return base::make_error(errors::kDatabasePlaces, {out, source});
  }
  return {};
}

Status DatabaseSelect::open(Frame& f, DatabaseResult& result, bool& is_excluded) const {
  for (const ExprNode* condition : preconditions_) {
    Tri t = Tri::kUnknown;
    MS_TRY(condition->eval_tri(f, t));
    if (t != Tri::kTrue) {
      is_excluded = true;
      return {};
    }
  }
  DatabaseName source;
  std::string_view name;
  MS_TRY(eval_source(f, name));
  source.text = name;
  return run_sql(f, sql_, source, true, statement_, result);
}

Status DatabaseSelect::eval_aggregate(Frame& f, Value& out) const {
  DatabaseResult result;
  bool is_excluded = false;
  MS_TRY(open(f, result, is_excluded));
  out = Value::null();
  if (is_excluded) {
    if (sql_.text.starts_with("SELECT COUNT(")) out = Value::make_integer(0);
    return {};
  }
  if (result.rows.row_count > 0 && !result.rows.columns.empty()) out = result.rows.cells[0];
  return {};
}

// Which columns belong to which table. Named columns get the names they have in ESQL, so that they
// are found whatever case the database gives them.
void DatabaseSelect::place_columns(Frame& f, const DatabaseRows& rows, RowMaker& maker,
                                   Places& places) const {
  const size_t count = rows.columns.size();
  size_t at = 0;
  for (const Table& t : tables_) {
    const size_t begin = at;
    if (t.is_whole) {
      while (at < count && !text::equals_ignoring_ascii_case(rows.columns[at], kBorder)) ++at;
      places.emplace_back(begin, at);
      if (at < count) ++at;  // the border
      continue;
    }
    for (const Column& column : t.columns) {
      if (at >= count) break;
      const base::QName* name = column.step->qname;
      maker.set_name(at++, name ? name : f.x.tree().names.qname(column.step->name));
    }
    places.emplace_back(begin, at);
  }
}

tree::Element* DatabaseSelect::make_row_holder(Frame& f) { return make_holder(f); }

void DatabaseSelect::bind(Frame& f, const RowMaker& maker, tree::Element* holder, size_t row,
                          const Places& places) const {
  for (size_t i = 0; i < tables_.size(); ++i) {
    f.slots[tables_[i].variable->slot].ref =
        maker.make(f, holder, row, places[i].first, places[i].second);
  }
}

}  // namespace millstream::esql
