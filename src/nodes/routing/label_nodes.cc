// Label and RouteToLabel.
#include "flow/invocation.h"
#include "nodes/routing/errors_gen.h"
#include "nodes/routing/label_properties_gen.h"
#include "nodes/routing/route_to_label_properties_gen.h"
#include "text/utf8.h"

namespace millstream::nodes::routing {
namespace {

class Label final : public flow::Node {
 public:
  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    return invocation.propagate(*this, 0, in);
  }
};

class RouteToLabel final : public flow::Node {
 public:
  explicit RouteToLabel(RouteToLabelProperties properties) : properties_(std::move(properties)) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    tree::MessageAssembly out = in;
    // The used entry goes, but the tree of the nodes upstream stays as they made it.
    out.local_environment = MS_TRY(tree::deep_copy(invocation.context(), in.local_environment));
    tree::Element* list = out.local_environment;
    for (std::string_view step : {"Destination", "RouterList"}) {
      list = list ? tree::find_child(list, step) : nullptr;
    }
    tree::Element* entry = list ? choose(list) : nullptr;
    tree::Element* name = entry ? find_label_name(entry) : nullptr;
    if (!name) return base::make_error(errors::kNoLabelName);
    const value::Value label = tree::scalar_value(name);
    if (label.kind != value::Kind::kCharacter) return base::make_error(errors::kNoLabelName);
    tree::detach(entry);
    return invocation.propagate_to_label(*this, trimmed(label.text()), out);
  }

 private:
  // Flows write labelName as well as labelname.
  static tree::Element* find_label_name(tree::Element* entry) {
    for (tree::Element* e = tree::first_child(entry); e; e = tree::next_sibling(e)) {
      if (text::equals_ignoring_ascii_case(e->local_name(), "labelName")) return e;
    }
    return nullptr;
  }

  tree::Element* choose(tree::Element* list) const {
    tree::Element* chosen = nullptr;
    for (tree::Element* e = tree::first_child(list); e; e = tree::next_sibling(e)) {
      if (e->local_name() != "DestinationData" || !find_label_name(e)) continue;
      chosen = e;
      if (properties_.mode == RouteToLabelProperties::Mode::kRouteToFirst) break;
    }
    return chosen;
  }

  static std::string_view trimmed(std::string_view s) {
    while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
    return s;
  }

  const RouteToLabelProperties properties_;
};

}  // namespace

Result<std::unique_ptr<flow::Node>> create_label(flow::NodeBuildContext& context) {
  LabelProperties properties =
      MS_TRY(read_label_properties(context.definition.properties, context.diagnostics));
  std::unique_ptr<flow::Node> node(new Label);
  MS_TRY(context.flow.add_label(properties.label_name, node.get(), context.definition.scope,
                                context.definition.label));
  return node;
}

Result<std::unique_ptr<flow::Node>> create_route_to_label(flow::NodeBuildContext& context) {
  RouteToLabelProperties properties =
      MS_TRY(read_route_to_label_properties(context.definition.properties, context.diagnostics));
  return std::unique_ptr<flow::Node>(new RouteToLabel(std::move(properties)));
}

}  // namespace millstream::nodes::routing
