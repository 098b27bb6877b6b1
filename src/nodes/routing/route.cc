// Route: XPath rules choose the terminals.
#include <algorithm>

#include "flow/invocation.h"
#include "nodes/common/pause.h"
#include "nodes/routing/errors_gen.h"
#include "nodes/routing/route_properties_gen.h"
#include "query/xpath.h"

namespace millstream::nodes::routing {
namespace {

struct Rule {
  query::XPath expression;
  std::string terminal;
};

class Route final : public flow::Node {
 public:
  Route(RouteProperties properties, std::vector<Rule> rules)
      : properties_(std::move(properties)), rules_(std::move(rules)) {}

  Status start() override {
    for (const Rule& rule : rules_) outputs_.push_back(find_output(rule.terminal));
    return {};
  }

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    const query::XPathVariables variables = query::assembly_variables(in);
    const query::XPathInput input = common::xpath_input(invocation, in, variables);
    bool is_matched = false;
    for (size_t i = 0; i < rules_.size(); ++i) {
      const query::XPathValue value = MS_TRY(rules_[i].expression.evaluate(input));
      if (!value.to_boolean()) continue;
      is_matched = true;
      MS_TRY(invocation.propagate(*this, outputs_[i], in));
      if (properties_.distribution_mode == RouteProperties::DistributionMode::kFirst) break;
    }
    return is_matched ? Status() : invocation.propagate(*this, kDefault, in);
  }

 private:
  static constexpr int kDefault = 1;
  const RouteProperties properties_;
  const std::vector<Rule> rules_;
  std::vector<int> outputs_;  // of each rule; set at start
};

Status bad_row(size_t row, std::string why, const base::Position& position) {
  return base::make_error_at(errors::kBadRouteTable, position,
                             {static_cast<int64_t>(row), std::move(why)});
}

Result<std::vector<Rule>> read_rules(const flow::NodeBuildContext& context) {
  const flow::PropertySet& set = context.definition.properties;
  query::XPathNamespaces namespaces;
  for (const flow::PropertyRow& row : set.rows("nsMappingTable")) {
    namespaces.emplace_back(row.get("nsPrefix"), row.get("namespace"));
  }
  std::vector<Rule> rules;
  for (const flow::PropertyRow& row : set.rows("filterTable")) {
    const size_t number = rules.size() + 1;
    std::string terminal(row.get("routingOutputTerminal"));
    const std::vector<std::string>& dynamic = context.definition.dynamic_outputs;
    if (terminal != "default" &&
        std::find(dynamic.begin(), dynamic.end(), terminal) == dynamic.end()) {
      return bad_row(number, "the node has no output terminal '" + terminal + "'.", row.position);
    }
    Result<query::XPath> expression =
        query::XPath::compile(row.get("filterPattern"), namespaces, query::is_assembly_name);
    if (!expression.ok()) return bad_row(number, expression.error().text, row.position);
    rules.push_back({std::move(expression).value(), std::move(terminal)});
  }
  return rules;
}

}  // namespace

Result<std::unique_ptr<flow::Node>> create_route(flow::NodeBuildContext& context) {
  RouteProperties properties =
      MS_TRY(read_route_properties(context.definition.properties, context.diagnostics));
  std::vector<Rule> rules = MS_TRY(read_rules(context));
  return std::unique_ptr<flow::Node>(new Route(std::move(properties), std::move(rules)));
}

}  // namespace millstream::nodes::routing
