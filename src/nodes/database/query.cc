#include "nodes/database/query.h"

#include <algorithm>

#include "nodes/common/pause.h"
#include "nodes/database/errors_gen.h"
#include "text/sql_identifier.h"
#include "text/utf8.h"

namespace millstream::nodes::database {

namespace {

using value::Value;

Status bad(std::string why, const base::Position& position) {
  return base::make_error_at(errors::kBadQuery, position, {std::move(why)});
}

std::string_view trimmed(std::string_view s) {
  auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

bool is_comparison(std::string_view op) {
  for (std::string_view known : {"=", "<>", "!=", "<", ">", "<=", ">=", "LIKE", "NOT LIKE"}) {
    if (text::equals_ignoring_ascii_case(op, known)) return true;
  }
  return false;
}

bool is_order(std::string_view op) {
  return text::equals_ignoring_ascii_case(op, "ASC") ||
         text::equals_ignoring_ascii_case(op, "DESC");
}

// "SCHEMA.TABLE" or "TABLE", each part an identifier.
std::string dotted(std::string_view name) {
  std::string out;
  for (;;) {
    const size_t dot = name.find('.');
    text::append_sql_identifier(out, name.substr(0, dot), false);
    if (dot == std::string_view::npos) return out;
    out += '.';
    name.remove_prefix(dot + 1);
  }
}

size_t count_markers(std::string_view sql) {
  size_t count = 0;
  char quote = 0;
  for (char c : sql) {
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '?') {
      ++count;
    }
  }
  return count;
}

std::string upper(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return out;
}

// The items between SELECT and FROM.
std::vector<std::string> select_list(std::string_view sql) {
  std::vector<std::string> out;
  const std::string folded = upper(sql);
  size_t at = folded.find("SELECT");
  if (at == std::string::npos) return out;
  at += 6;
  int depth = 0;
  size_t start = at;
  for (; at < folded.size(); ++at) {
    const char c = folded[at];
    if (c == '(') ++depth;
    if (c == ')') --depth;
    const bool is_from = depth == 0 && folded.compare(at, 4, "FROM") == 0 && at > start &&
                         trimmed(folded.substr(at - 1, 1)).empty();
    if (depth == 0 && (c == ',' || is_from)) {
      out.emplace_back(trimmed(sql.substr(start, at - start)));
      start = at + 1;
    }
    if (is_from) break;
  }
  return out;
}

// The value of a message element for a parameter: typed when it is one element.
Value parameter_value(const query::XPathValue& v, base::Arena& arena) {
  switch (v.kind) {
    case query::XPathValue::Kind::kNodes: {
      tree::Element* e = v.first_element();
      if (!e) return Value::null();
      Value value = tree::scalar_value(e);
      value.spare = 0;
      return value;
    }
    case query::XPathValue::Kind::kNumber: {
      const double whole = v.number;
      if (whole >= -9e15 && whole <= 9e15 &&
          whole == static_cast<double>(static_cast<int64_t>(whole))) {
        return Value::make_integer(static_cast<int64_t>(whole));
      }
      return Value::make_float(whole);
    }
    case query::XPathValue::Kind::kBoolean:
      return Value::make_boolean(v.boolean);
    case query::XPathValue::Kind::kString:
      return Value::make_character(arena.copy(v.text));
  }
  return Value::null();
}

// A constant of the query as XPath, so that it is bound like all values.
std::string literal_path(std::string_view type, std::string_view value) {
  if (text::equals_ignoring_ascii_case(type, "Integer") ||
      text::equals_ignoring_ascii_case(type, "Number")) {
    return std::string(value);
  }
  if (value.size() >= 2 && value.front() == '\'' && value.back() == '\'') return std::string(value);
  const char quote = value.find('\'') == std::string_view::npos ? '\'' : '"';
  return quote + std::string(value) + quote;
}

}  // namespace

query::XPathNamespaces read_namespaces(const flow::PropertySet& set) {
  query::XPathNamespaces out;
  for (const flow::PropertyRow& row : set.rows("nsMappingTable")) {
    out.emplace_back(row.get("nsPrefix"), row.get("namespace"));
  }
  return out;
}

Status Query::read_elements(const flow::PropertySet& set, const query::XPathNamespaces& namespaces,
                            bool makes_sql) {
  std::vector<std::string> tables;
  std::string select, where, order;
  size_t number = 0;
  for (const flow::PropertyRow& row : set.rows("queryElements")) {
    ++number;
    const std::string at = "row " + std::to_string(number) + " of the query elements: ";
    const std::string_view op = trimmed(row.get("operator")), type = row.get("valueType");
    const std::string column = dotted(row.get("tableName")) + "." + dotted(row.get("columnName"));
    const std::string table = dotted(row.get("tableName"));
    if (row.get("tableName").empty() || row.get("columnName").empty()) {
      return bad(at + "table and column must be given.", row.position);
    }
    if (std::find(tables.begin(), tables.end(), table) == tables.end()) tables.push_back(table);
    if (is_order(op)) {
      select += (select.empty() ? "" : ", ") + column;
      order += (order.empty() ? "" : ", ") + column + " " + upper(op);
      continue;
    }
    if (!is_comparison(op)) {
      return bad(at + "the operator '" + std::string(op) + "' is not known.", row.position);
    }
    where += (where.empty() ? "" : " AND ") + column + " " + upper(op) + " ";
    if (text::equals_ignoring_ascii_case(type, "Column")) {
      where += dotted(row.get("value"));
      continue;
    }
    where += "?";
    const bool is_element = text::equals_ignoring_ascii_case(type, "Element");
    // The Toolkit writes constants into the query; only elements have markers there.
    if (!makes_sql && !is_element) continue;
    const std::string path =
        is_element ? std::string(row.get("value")) : literal_path(type, row.get("value"));
    Result<query::XPath> compiled =
        query::XPath::compile(path, namespaces, query::is_assembly_name);
    if (!compiled.ok()) return bad(at + compiled.error().text, row.position);
    parameters_.push_back({std::move(compiled).value()});
  }
  if (!makes_sql) return {};
  if (select.empty()) return bad("no column is selected.", set.position);
  sql_ = "SELECT " + select + " FROM ";
  for (size_t i = 0; i < tables.size(); ++i) sql_ += (i ? ", " : "") + tables[i];
  if (!where.empty()) sql_ += " WHERE " + where;
  sql_ += " ORDER BY " + order;
  return {};
}

Result<Query> Query::compile(const flow::NodeBuildContext& context, const QuerySettings& settings) {
  Query q;
  const flow::PropertySet& set = context.definition.properties;
  q.choice_.sources = context.services.find<sql::DataSources>();
  if (!q.choice_.sources) q.choice_.sources = &sql::DataSources::process();
  q.choice_.data_source = settings.data_source;
  q.sql_ = std::string(trimmed(settings.sql));
  MS_TRY(q.read_elements(set, read_namespaces(set), q.sql_.empty()));
  const size_t markers = count_markers(q.sql_);
  if (markers != q.parameters_.size()) {
    return bad("it has " + std::to_string(markers) + " markers for " +
                   std::to_string(q.parameters_.size()) + " elements of the message.",
               set.position);
  }
  q.selected_ = select_list(q.sql_);
  return q;
}

Status Query::run(flow::Invocation& invocation, const flow::Node& node,
                  const tree::MessageAssembly& in, sql::Outcome& out) const {
  sql::Session* session = MS_TRY(common::database_session(invocation, choice_, {}));
  const query::XPathVariables variables = query::assembly_variables(in);
  const query::XPathInput input = common::xpath_input(invocation, in, variables);
  std::vector<Value> values;
  for (const Parameter& p : parameters_) {
    const query::XPathValue v = MS_TRY(p.path.evaluate(input));
    values.push_back(parameter_value(v, invocation.arena()));
  }
  sql::Statement statement;
  statement.sql = sql_;
  statement.parameters = values;
  statement.is_query = true;
  statement.is_repeatable = true;
  common::ObservedStatement observed(invocation, node, choice_, {}, sql_, true);
  Status status = session->execute(statement, invocation.arena(), out);
  observed.end(status);
  return status;
}

size_t Query::find_column(std::string_view name, const sql::ResultSet& rows) const {
  for (size_t i = 0; i < selected_.size() && i < rows.columns.size(); ++i) {
    if (text::equals_ignoring_ascii_case(selected_[i], name)) return i;
  }
  const size_t dot = name.rfind('.');
  const std::string_view bare = dot == std::string_view::npos ? name : name.substr(dot + 1);
  for (size_t i = 0; i < rows.columns.size(); ++i) {
    if (text::equals_ignoring_ascii_case(rows.columns[i], bare)) return i;
  }
  return rows.columns.size();
}

}  // namespace millstream::nodes::database
