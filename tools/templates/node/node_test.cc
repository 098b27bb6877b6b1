#include <doctest/doctest.h>

#include "flow/flow.h"
#include "flow/node_registry.h"
#include "nodes/@FAMILY@/@SNAKE@_properties_gen.h"
#include "nodes/registry.h"

namespace millstream::nodes::@FAMILY@ {
namespace {

TEST_CASE("@NAME@: an unknown property is refused at its place") {
  flow::PropertySet set;
  set.set("noSuchProperty", {"x", {"F.msgflow", 7, 3}, "flow"});
  base::Diagnostics diagnostics;
  auto result = read_@SNAKE@_properties(set, diagnostics);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().position.line == 7);
}

TEST_CASE("@NAME@: is registered and made with its defaults") {
  const flow::NodeType* type = node_registry().find("@TYPE@");
  REQUIRE(type != nullptr);
  flow::Flow flow;
  flow::NodeDefinition definition;
  flow::FlowDefinition flow_definition;
  flow::Services services;
  base::NameTable names;
  base::Diagnostics diagnostics;
  flow::NodeBuildContext context{definition, flow_definition, flow, services, names, diagnostics};
  CHECK(type->create(context).ok());
  CHECK(diagnostics.all().empty());
}

}  // namespace
}  // namespace millstream::nodes::@FAMILY@
