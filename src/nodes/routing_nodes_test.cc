#include <doctest/doctest.h>

#include "nodes/node_test_support.h"

namespace millstream::nodes::routing {
namespace {

using test::NodeFixture;
using value::Value;

void add_labels(tree::TreeContext& context, tree::MessageAssembly& m,
                std::initializer_list<const char*> labels, const char* field = "labelName") {
  tree::Element* e = tree::ensure_child(context, m.local_environment, "Destination");
  e = tree::ensure_child(context, e, "RouterList");
  for (const char* label : labels) {
    tree::Element* entry =
        tree::make_element(context, context.names.qname("DestinationData"), tree::kName);
    tree::append_child(e, entry);
    tree::set_child(context, entry, field, Value::make_character(label));
  }
}

struct LabelFixture : NodeFixture {
  explicit LabelFixture(const char* mode = "routeToLast") {
    node("ComIbmRouteToLabel", "R", {{"mode", mode}});
    node("ComIbmLabel", "L1", {{"labelName", "one"}});
    node("ComIbmLabel", "L2", {{"labelName", "two"}});
    wires({"In.out -> R", "L1.out -> s1", "L2.out -> s2", "R.failure -> failure"});
    REQUIRE(build());
  }
  std::string go(std::initializer_list<const char*> labels, const char* field = "labelName") {
    return run("BLOB", "b", [&](tree::TreeContext& context, tree::MessageAssembly& m) {
      add_labels(context, m, labels, field);
    });
  }
};

TEST_CASE("route to label: one entry is used, the last or the first") {
  CHECK(LabelFixture().go({"one", "two"}) == "s2<b>");
  CHECK(LabelFixture("routeToLast").go({"one", "two"}) == "s2<b>");
  CHECK(LabelFixture("routeToFirst").go({"one", "two"}) == "s1<b>");
}

TEST_CASE("route to label: names may be padded, and the field is spelt in two ways") {
  CHECK(LabelFixture().go({"one   "}) == "s1<b>");
  CHECK(LabelFixture().go({"one"}, "labelname") == "s1<b>");
}

TEST_CASE("route to label: an empty list and an unknown label are exceptions") {
  CHECK(LabelFixture().go({}) == "failure<b>[2230>4256]");
  CHECK(LabelFixture().go({"One"}) == "failure<b>[2230>4241]");
}

TEST_CASE("route to label: the used entry is gone behind the label, and only there") {
  LabelFixture f;
  size_t left = 9, kept = 9;
  auto count = [](tree::Element* local_environment) {
    size_t entries = 0;
    tree::Element* list =
        tree::find_child(tree::find_child(local_environment, "Destination"), "RouterList");
    for (tree::Element* e = tree::first_child(list); e; e = tree::next_sibling(e)) ++entries;
    return entries;
  };
  f.observed.look = [&](const std::string&, flow::Invocation&, const tree::MessageAssembly& m) {
    left = count(m.local_environment);
  };
  f.run("BLOB", "b", [&](tree::TreeContext& context, tree::MessageAssembly& m) {
    add_labels(context, m, {"one", "two", "one"});
    kept = count(m.local_environment);
  });
  CHECK(left == 2);
  CHECK(kept == 3);
}

// A Route node with rules "xpath -> terminal" and sinks named like the terminals.
struct RouteFixture : NodeFixture {
  RouteFixture(const test::TestProperties& properties,
               std::initializer_list<std::pair<const char*, const char*>> rules) {
    flow::NodeDefinition& n = node("ComIbmRoute", "R", properties);
    n.dynamic_outputs = {"A", "B"};
    uint32_t line = 50;
    for (const auto& [pattern, terminal] : rules) {
      flow::PropertyRow row;
      row.columns = {{"filterPattern", pattern}, {"routingOutputTerminal", terminal}};
      row.position = {"F.msgflow", line++, 2};
      n.properties.add_row("filterTable", row);
    }
    flow::PropertyRow prefix;
    prefix.columns = {{"nsPrefix", "p"}, {"namespace", "urn:x"}};
    n.properties.add_row("nsMappingTable", prefix);
    wires({"In.out -> R", "R.A -> a", "R.B -> b", "R.default -> default", "R.failure -> failure"});
  }
};

TEST_CASE("route: all matching rules, or the first, in the order of the table") {
  for (const char* mode : {"all", "first"}) {
    CAPTURE(mode);
    RouteFixture f({{"distributionMode", mode}},
                   {{"$Root/XMLNSC/o/@k='1'", "B"}, {"$Body/o/n > 5", "A"}});
    REQUIRE(f.build());
    const bool is_all = std::string(mode) == "all";
    CHECK(f.run("XMLNSC", "<o k=\"1\"><n>6</n></o>") ==
          (is_all ? "b<<o k=\"1\"><n>6</n></o>> a<<o k=\"1\"><n>6</n></o>>"
                  : "b<<o k=\"1\"><n>6</n></o>>"));
    CHECK(f.run("XMLNSC", "<o><n>6</n></o>") == "a<<o><n>6</n></o>>");
    CHECK(f.run("XMLNSC", "<o><n>5</n></o>") == "default<<o><n>5</n></o>>");
  }
}

TEST_CASE("route: namespaces, LocalEnvironment and Environment") {
  RouteFixture f({}, {{"$Body/p:o", "A"}, {"$Environment/v = 'x'", "B"}});
  REQUIRE(f.build());
  CHECK(f.run("XMLNSC", "<q:o xmlns:q=\"urn:x\"/>").substr(0, 2) == "a<");
  CHECK(f.run("XMLNSC", "<o/>", [](tree::TreeContext& context, tree::MessageAssembly& m) {
    tree::set_child(context, m.environment, "v", Value::make_character("x"));
  }) == "b<<o/>>");
}

TEST_CASE("route: a malformed body is the node's own exception") {
  RouteFixture f({}, {{"$Body/o/n > 5", "A"}});
  REQUIRE(f.build());
  const std::string out = f.run("XMLNSC", "<o><n>6</o>");
  CHECK(out.find("failure<<o><n>6</o>>[2230>") == 0);
  CHECK(out.find("5004") != std::string::npos);
}

TEST_CASE("route: bad rows are refused with their place") {
  RouteFixture bad_path({}, {{"$Body/o[", "A"}});
  CHECK_FALSE(bad_path.build());
  CHECK(bad_path.problems() == "50 MS1820; ");
  RouteFixture bad_terminal({}, {{"$Body/o", "A"}, {"$Body/o", "C"}});
  CHECK_FALSE(bad_terminal.build());
  CHECK(bad_terminal.problems() == "51 MS1820; ");
}

}  // namespace
}  // namespace millstream::nodes::routing
