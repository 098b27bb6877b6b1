// DatabaseRetrieve and DatabaseRoute.
#include <algorithm>

#include "nodes/common/pause.h"
#include "nodes/database/database_retrieve_properties_gen.h"
#include "nodes/database/database_route_properties_gen.h"
#include "nodes/database/errors_gen.h"
#include "nodes/database/query.h"
#include "nodes/database/target.h"
#include "text/utf8.h"
#include "tree/edit.h"

namespace millstream::nodes::database {
namespace {

// ---------------------------------------------------------------- DatabaseRetrieve

struct DataElement {
  std::string column;
  Target target;
};

class DatabaseRetrieve final : public flow::Node {
 public:
  DatabaseRetrieve(Query query, std::vector<DataElement> elements, bool takes_all_rows)
      : query_(std::move(query)), elements_(std::move(elements)), takes_all_rows_(takes_all_rows) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    sql::Outcome found;
    MS_TRY(query_.run(invocation, *this, in, found));
    const sql::ResultSet& rows = found.rows;
    if (rows.row_count == 0) {
      return invocation.propagate(*this, find_output("keyNotFound"), in);
    }
    tree::MessageAssembly out = in;
    MS_TRY(copy_targets(invocation.context(), out));
    std::vector<size_t> columns;
    for (const DataElement& e : elements_) {
      columns.push_back(query_.find_column(e.column, rows));
      if (columns.back() == rows.columns.size()) {
        return base::make_error(errors::kNoColumn, {e.column});
      }
    }
    const size_t count = takes_all_rows_ ? rows.row_count : 1;
    for (size_t row = 0; row < count; ++row) {
      for (size_t i = 0; i < elements_.size(); ++i) {
        const value::Value& v = rows.cell(row, columns[i]);
        if (v.is_null()) continue;
        MS_TRY(elements_[i].target.write(invocation.context(), tree_of(elements_[i].target, out), v,
                                         row > 0));
      }
    }
    return invocation.propagate(*this, find_output("out"), out);
  }

 private:
  static tree::Element* tree_of(const Target& target, const tree::MessageAssembly& out) {
    switch (target.tree()) {
      case Target::Tree::kRoot:
        return out.root;
      case Target::Tree::kLocalEnvironment:
        return out.local_environment;
      case Target::Tree::kExceptionList:
        return out.exception_list;
      case Target::Tree::kEnvironment:
        return out.environment;
    }
    return out.root;
  }
  // Trees of the input stay as they are; the Environment is one for all.
  Status copy_targets(tree::TreeContext& context, tree::MessageAssembly& out) const {
    bool is_copied[3] = {};
    for (const DataElement& e : elements_) {
      const auto tree = static_cast<size_t>(e.target.tree());
      if (e.target.tree() == Target::Tree::kEnvironment || is_copied[tree]) continue;
      is_copied[tree] = true;
      tree::Element*& root = e.target.tree() == Target::Tree::kRoot ? out.root
                             : e.target.tree() == Target::Tree::kLocalEnvironment
                                 ? out.local_environment
                                 : out.exception_list;
      root = MS_TRY(tree::deep_copy(context, root));
    }
    return {};
  }
  const Query query_;
  const std::vector<DataElement> elements_;
  const bool takes_all_rows_;
};

// ---------------------------------------------------------------- DatabaseRoute

struct RouteRule {
  query::XPath expression;
  std::string terminal;
};

class DatabaseRoute final : public flow::Node {
 public:
  DatabaseRoute(Query query, std::vector<RouteRule> rules, bool takes_first)
      : query_(std::move(query)), rules_(std::move(rules)), takes_first_(takes_first) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    sql::Outcome found;
    MS_TRY(query_.run(invocation, *this, in, found));
    if (found.rows.row_count == 0) {
      return invocation.propagate(*this, find_output("keyNotFound"), in);
    }
    const query::XPathVariables variables =
        query::assembly_variables(in, nullptr, [&](std::string_view name, query::XPathValue& out) {
          return find_column(name, found.rows, invocation.context(), out);
        });
    const query::XPathInput input = common::xpath_input(invocation, in, variables);
    bool is_matched = false;
    for (const RouteRule& rule : rules_) {
      const query::XPathValue value = MS_TRY(rule.expression.evaluate(input));
      if (!value.to_boolean()) continue;
      is_matched = true;
      MS_TRY(invocation.propagate(*this, find_output(rule.terminal), in));
      if (takes_first_) break;
    }
    return is_matched ? Status() : invocation.propagate(*this, find_output("default"), in);
  }

 private:
  // $TABLE_COLUMN, $TABLE.COLUMN or $COLUMN. A NULL column is an empty set.
  bool find_column(std::string_view name, const sql::ResultSet& rows, tree::TreeContext& context,
                   query::XPathValue& out) const {
    for (size_t i = 0; i < rows.columns.size(); ++i) {
      std::string selected = i < query_.selected().size() ? query_.selected()[i] : std::string();
      bool is_this = text::equals_ignoring_ascii_case(name, rows.columns[i]) ||
                     text::equals_ignoring_ascii_case(name, selected);
      std::replace(selected.begin(), selected.end(), '.', '_');
      is_this |= text::equals_ignoring_ascii_case(name, selected);
      if (!is_this) continue;
      const value::Value& v = rows.cell(0, i);
      out = query::XPathValue::of(static_cast<tree::Element*>(nullptr));
      if (v.is_null()) return true;
      tree::Element* e =
          tree::make_element(context, context.names.qname(rows.columns[i]), tree::kNameValue);
      tree::set_value(e, v);
      out = query::XPathValue::of(e);
      return true;
    }
    return false;
  }
  const Query query_;
  const std::vector<RouteRule> rules_;
  const bool takes_first_;
};

Status bad_rule(size_t row, std::string why, const base::Position& position) {
  return base::make_error_at(errors::kBadDatabaseRouteTable, position,
                             {static_cast<int64_t>(row), std::move(why)});
}

Result<std::vector<RouteRule>> read_rules(const flow::NodeBuildContext& context) {
  const flow::PropertySet& set = context.definition.properties;
  std::vector<RouteRule> rules;
  for (const flow::PropertyRow& row : set.rows("filterTable")) {
    const size_t number = rules.size() + 1;
    std::string terminal(row.get("routingOutputTerminal"));
    const std::vector<std::string>& dynamic = context.definition.dynamic_outputs;
    if (terminal != "default" && terminal != "keyNotFound" &&
        std::find(dynamic.begin(), dynamic.end(), terminal) == dynamic.end()) {
      return bad_rule(number, "the node has no output terminal '" + terminal + "'.", row.position);
    }
    // Which columns there are is known when the query has run.
    Result<query::XPath> expression = query::XPath::compile(
        row.get("filterPattern"), read_namespaces(set), [](std::string_view) { return true; });
    if (!expression.ok()) return bad_rule(number, expression.error().text, row.position);
    rules.push_back({std::move(expression).value(), std::move(terminal)});
  }
  return rules;
}

}  // namespace

Result<std::unique_ptr<flow::Node>> create_database_retrieve(flow::NodeBuildContext& context) {
  const flow::PropertySet& set = context.definition.properties;
  DatabaseRetrieveProperties properties =
      MS_TRY(read_database_retrieve_properties(set, context.diagnostics));
  Query query =
      MS_TRY(Query::compile(context, {properties.data_source_name, properties.sql_query}));
  std::vector<DataElement> elements;
  const query::XPathNamespaces namespaces = read_namespaces(set);
  for (const flow::PropertyRow& row : set.rows("dataElements")) {
    Target target = MS_TRY(Target::compile(row.get("messageElement"), namespaces, row.position));
    elements.push_back({std::string(row.get("columnName")), std::move(target)});
  }
  return std::unique_ptr<flow::Node>(
      new DatabaseRetrieve(std::move(query), std::move(elements), properties.all_rows));
}

Result<std::unique_ptr<flow::Node>> create_database_route(flow::NodeBuildContext& context) {
  DatabaseRouteProperties properties =
      MS_TRY(read_database_route_properties(context.definition.properties, context.diagnostics));
  Query query =
      MS_TRY(Query::compile(context, {properties.data_source_name, properties.sql_query}));
  std::vector<RouteRule> rules = MS_TRY(read_rules(context));
  const bool takes_first =
      properties.distribution_mode == DatabaseRouteProperties::DistributionMode::kFirst;
  return std::unique_ptr<flow::Node>(
      new DatabaseRoute(std::move(query), std::move(rules), takes_first));
}

}  // namespace millstream::nodes::database
