#include "ace/flatten.h"

#include <doctest/doctest.h>

#include <map>

#include "ace/fixtures_for_test.h"

namespace millstream::ace {
namespace {

const std::string kCompute = "ComIbmCompute.msgnode";
const std::string kTrace = "ComIbmTrace.msgnode";

// Flow files by path, flattened from "Main.msgflow" (or another one).
class Flattening {
 public:
  Flattening& add(const std::string& path, const FlowText& text) {
    Result<FlowFile> file = parse_flow_file(text.str(), path, path);
    REQUIRE(file.ok());
    files_[path] = std::make_unique<FlowFile>(std::move(file).value());
    return *this;
  }
  std::unique_ptr<flow::FlowDefinition> run(const std::string& main = "Main.msgflow") {
    SubflowFinder finder = [this](std::string_view path) -> const FlowFile* {
      auto it = files_.find(path);
      return it == files_.end() ? nullptr : it->second.get();
    };
    return flatten_flow(*files_.at(main), "App", finder, overrides, diagnostics);
  }
  Overrides overrides;
  base::Diagnostics diagnostics;

 private:
  std::map<std::string, std::unique_ptr<FlowFile>, std::less<>> files_;
};

const flow::NodeDefinition& flat_node(const flow::FlowDefinition& flow, std::string_view label) {
  for (const auto& n : flow.nodes) {
    if (n.label == label) return n;
  }
  FAIL("no node " << label);
  return flow.nodes[0];
}

std::string flat_value(const flow::FlowDefinition& flow, std::string_view label,
                       std::string_view property) {
  const flow::Property* p = flat_node(flow, label).properties.find(property);
  return p ? p->value : "(none)";
}

// "A.out->B.in ..." in the order of the definition.
std::string flat_wires(const flow::FlowDefinition& flow) {
  std::string out;
  for (const auto& c : flow.connections) {
    out += (out.empty() ? "" : " ") + flow.nodes[c.source].label + "." + c.source_terminal + "->" +
           flow.nodes[c.target].label + "." + c.target_terminal;
  }
  return out;
}

// A subflow with one Trace node between its ends, and a promoted pattern.
FlowText logger(const std::string& in = "InTerminal.In",
                const std::string& out = "OutTerminal.Out") {
  FlowText text{{kTrace}};
  text.nodes = source_text(in, "Input") + sink_text(out, "Output") +
               node_text(kTrace, "t", "Trace", "pattern=\"own\" destination=\"file\"") +
               wire_text(in, "OutTerminal.out", "t", "InTerminal.in") +
               wire_text("t", "OutTerminal.out", out, "InTerminal.in");
  text.features = feature_text("text", "defaultValueLiteral=\"promoted default\"");
  text.links = link_text("text", "t", "pattern");
  return text;
}

FlowText main_with_log(const std::string& attributes = "", const std::string& in = "InTerminal.In",
                       const std::string& out = "OutTerminal.Out") {
  FlowText text{{kCompute, "com/acme/Log.subflow"}};
  text.nodes = node_text(kCompute, "a", "A") + node_text(kCompute, "b", "B") +
               node_text("com/acme/Log.subflow", "s", "Log it", attributes) +
               wire_text("a", "OutTerminal.out", "s", in) +
               wire_text("s", out, "b", "InTerminal.in");
  return text;
}

TEST_CASE("a subflow comes in line with its ends, labels, ids, schema and scope") {
  Flattening f;
  f.add("Main.msgflow", main_with_log()).add("com/acme/Log.subflow", logger());
  auto flow = f.run();
  REQUIRE(flow);
  CHECK(flow->name == "Main");
  CHECK(flow->application == "App");
  CHECK(flat_wires(*flow) ==
        "Log it.Input.out->Log it.Trace.in Log it.Trace.out->Log it.Output.in "
        "A.out->Log it.Input.in Log it.Output.out->B.in");
  const flow::NodeDefinition& trace = flat_node(*flow, "Log it.Trace");
  CHECK(trace.id == "Log#t");
  CHECK(trace.schema == "com.acme");
  CHECK(trace.file == "com/acme/Log.subflow");
  REQUIRE(flow->scopes.size() == 2);
  CHECK(trace.scope == 1);
  CHECK(flow->scopes[1].label == "Log it");
  CHECK(flat_node(*flow, "A").scope == 0);
}

TEST_CASE("terminals of subflows: id, decoded id, id without prefix, display name") {
  struct Case {
    std::string in_id, wired;
  };
  for (const Case& c : std::vector<Case>{{"InTerminal.Input_1", "InTerminal.Input_1"},
                                         {"InTerminal.My In", "InTerminal.My%20In"},
                                         {"InTerminal.My%20In", "InTerminal.My In"},
                                         {"In", "InTerminal.In"},
                                         {"InTerminal.x", "InTerminal.Input"},
                                         {"InTerminal.x", "Input"}}) {
    CAPTURE(c.in_id);
    CAPTURE(c.wired);
    Flattening f;
    f.add("Main.msgflow", main_with_log("", c.wired)).add("com/acme/Log.subflow", logger(c.in_id));
    auto flow = f.run();
    CHECK_MESSAGE(flow != nullptr, said(f.diagnostics));
  }
}

TEST_CASE("an unknown terminal of a subflow is refused where the connection stands") {
  Flattening f;
  f.add("Main.msgflow", main_with_log("", "InTerminal.Nope", "InTerminal.In"))
      .add("com/acme/Log.subflow", logger());
  CHECK_FALSE(f.run());
  CHECK(has_said(f.diagnostics,
                 "Main.msgflow:8:1: error: MS1904: Subflow 'com/acme/Log.subflow' has no input "
                 "terminal 'InTerminal.Nope'"));
  // An input cannot be wired from.
  CHECK(has_said(f.diagnostics, "Main.msgflow:9:1: error: MS1904"));
  CHECK(f.diagnostics.error_count() == 2);
}

TEST_CASE("a missing subflow is one error at its node, whatever is wired to it") {
  Flattening f;
  f.add("Main.msgflow", main_with_log());
  CHECK_FALSE(f.run());
  CHECK(said(f.diagnostics) ==
        "Main.msgflow:7:1: error: MS1902: Subflow 'com/acme/Log.subflow' of node 'Log it' is in "
        "neither the project 'App' nor a library it refers to.\n");
}

TEST_CASE("connections to nodes that are not there are refused") {
  Flattening f;
  FlowText text{{kCompute}};
  text.nodes =
      node_text(kCompute, "a", "A") + wire_text("a", "OutTerminal.out", "gone", "InTerminal.in");
  f.add("Main.msgflow", text);
  CHECK_FALSE(f.run());
  CHECK(has_said(f.diagnostics, "Main.msgflow:6:1: error: MS1905"));
}

TEST_CASE("recursion, direct and through another subflow, is refused with the way") {
  Flattening f;
  FlowText main{{"A.subflow"}}, a{{"B.subflow"}}, b{{"A.subflow"}};
  main.nodes = node_text("A.subflow", "1", "a");
  a.nodes = node_text("B.subflow", "1", "b");
  b.nodes = node_text("A.subflow", "1", "a");
  f.add("Main.msgflow", main).add("A.subflow", a).add("B.subflow", b);
  CHECK_FALSE(f.run());
  CHECK(has_said(f.diagnostics, "B.subflow:5:1: error: MS1903"));
  CHECK(has_said(f.diagnostics, "Main.msgflow -> A.subflow -> B.subflow -> A.subflow"));
}

TEST_CASE("doubling at every level stops at the limit, with nodes of their own or without") {
  for (const bool has_nodes : {true, false}) {
    Flattening f;
    for (int i = 0; i < 30; ++i) {
      const std::string next = "S" + std::to_string(i + 1) + ".subflow";
      FlowText text{{next, kTrace}};
      text.nodes = node_text(next, "1", "x") + node_text(next, "2", "y");
      if (has_nodes) text.nodes += node_text(kTrace, "3", "t");
      f.add(i == 0 ? "Main.msgflow" : "S" + std::to_string(i) + ".subflow", text);
    }
    FlowText last{{kTrace}};
    last.nodes = node_text(kTrace, "3", "t");
    f.add("S30.subflow", last);
    CHECK_FALSE(f.run());
    CHECK(has_said(f.diagnostics, "too many nodes"));
    CHECK(f.diagnostics.error_count() == 1);
  }
}

TEST_CASE("two uses of one subflow keep their own values") {
  Flattening f;
  FlowText main{{"com/acme/Log.subflow"}};
  main.nodes = node_text("com/acme/Log.subflow", "1", "one", "text=\"first\"") +
               node_text("com/acme/Log.subflow", "2", "two");
  f.add("Main.msgflow", main).add("com/acme/Log.subflow", logger());
  auto flow = f.run();
  REQUIRE(flow);
  CHECK(flat_value(*flow, "one.Trace", "pattern") == "first");
  CHECK(flat_value(*flow, "two.Trace", "pattern") == "promoted default");
  CHECK(flat_value(*flow, "two.Trace", "destination") == "file");
}

// Main -> Outer -> Log, with the pattern promoted through both.
void add_three_levels(Flattening& f, const std::string& outer_default, const std::string& given) {
  FlowText outer{{"com/acme/Log.subflow"}};
  outer.nodes = node_text("com/acme/Log.subflow", "l", "Inner");
  outer.features = feature_text("outerText", outer_default);
  outer.links = link_text("outerText", "l", "text");
  FlowText main{{"Outer.subflow"}};
  main.nodes = node_text("Outer.subflow", "o", "Outer", given);
  f.add("Main.msgflow", main).add("Outer.subflow", outer).add("com/acme/Log.subflow", logger());
}

TEST_CASE("promotion through several levels; the outermost value wins, an empty one too") {
  for (const auto& [outer_default, given, expected] : std::vector<std::array<std::string, 3>>{
           {"", "", "promoted default"},
           {"defaultValueLiteral=\"outer default\"", "", "outer default"},
           {"defaultValueLiteral=\"outer default\"", "outerText=\"given\"", "given"},
           {"defaultValueLiteral=\"outer default\"", "outerText=\"\"", ""}}) {
    Flattening f;
    add_three_levels(f, outer_default, given);
    auto flow = f.run();
    REQUIRE(flow);
    CHECK(flat_value(*flow, "Outer.Inner.Trace", "pattern") == expected);
  }
}

TEST_CASE("precedence: overrides file, BAR, value on the subflow node, default, own attribute") {
  const std::string keys[] = {"Main#Outer.Inner.Trace.pattern", "Outer#Inner.Trace.pattern",
                              "com.acme.Log#Trace.pattern",     "Log#Trace.pattern",
                              "Main#Outer.outerText",           "Outer#Inner.text"};
  for (const std::string& key : keys) {
    CAPTURE(key);
    Flattening f;
    add_three_levels(f, "", "outerText=\"given\"");
    f.overrides.add(key, "from BAR", OverrideRank::kBar, {}, "BAR override");
    auto flow = f.run();
    REQUIRE(flow);
    CHECK(flat_value(*flow, "Outer.Inner.Trace", "pattern") == "from BAR");
    f.overrides.add(key, "from file", OverrideRank::kOverridesFile, {}, "overrides file");
    flow = f.run();
    REQUIRE(flow);
    CHECK(flat_value(*flow, "Outer.Inner.Trace", "pattern") == "from file");
  }
}

TEST_CASE("overrides of the flow: its promoted and its own properties, with and without schema") {
  for (const char* key : {"acme.Flow", "Flow"}) {
    Flattening f;
    FlowText text{{kTrace}};
    text.nodes = node_text(kTrace, "t", "T", "pattern=\"own\"");
    text.features = feature_text("p");
    text.links = link_text("p", "t", "pattern");
    f.add("acme/Flow.msgflow", text);
    f.overrides.add(std::string(key) + "#p", "new", OverrideRank::kBar, {}, "BAR override");
    f.overrides.add(std::string(key) + "#additionalInstances", "3", OverrideRank::kBar, {}, "b");
    auto flow = f.run("acme/Flow.msgflow");
    REQUIRE(flow);
    CHECK(flow->name == "acme.Flow");
    CHECK(flat_value(*flow, "T", "pattern") == "new");
    CHECK(flow->properties.find("additionalInstances")->value == "3");
  }
}

TEST_CASE("without a value a promoted property leaves the node's own") {
  Flattening f;
  FlowText text{{kTrace}};
  text.nodes = node_text(kTrace, "t", "T", "pattern=\"own\"");
  text.features = feature_text("p");
  text.links = link_text("p", "t", "pattern");
  f.add("Main.msgflow", text);
  CHECK(flat_value(*f.run(), "T", "pattern") == "own");
}

TEST_CASE("user-defined properties: by scope, overridden at one use, found outwards") {
  Flattening f;
  FlowText sub{{kTrace}};
  sub.nodes = node_text(kTrace, "t", "T");
  sub.features = feature_text("mine", "defaultValueLiteral=\"sub default\"");
  sub.organizer = user_defined_text("mine");
  FlowText main{{"Sub.subflow", kTrace}};
  main.nodes = node_text("Sub.subflow", "1", "one", "mine=\"at one\"") +
               node_text("Sub.subflow", "2", "two") + node_text("Sub.subflow", "3", "three") +
               node_text(kTrace, "t", "T");
  main.features = feature_text("mine", "defaultValueLiteral=\"main\"") +
                  feature_text("outer", "defaultValueLiteral=\"o\"") + feature_text("unset");
  main.organizer =
      user_defined_text("mine") + user_defined_text("outer") + user_defined_text("unset");
  f.add("Main.msgflow", main).add("Sub.subflow", sub);
  f.overrides.add("Main#three.mine", "by BAR", OverrideRank::kBar, {}, "BAR override");
  f.overrides.add("Main#outer", "changed", OverrideRank::kBar, {}, "BAR override");
  auto flow = f.run();
  REQUIRE(flow);
  auto udp = [&](std::string_view label, std::string_view name) {
    const std::string* v = flow->find_user_defined(flat_node(*flow, label).scope, name);
    return v ? *v : "(none)";
  };
  CHECK(udp("T", "mine") == "main");
  CHECK(udp("one.T", "mine") == "at one");
  CHECK(udp("two.T", "mine") == "sub default");
  CHECK(udp("three.T", "mine") == "by BAR");
  CHECK(udp("one.T", "outer") == "changed");
  CHECK(udp("T", "unset") == "(none)");
  CHECK(flow->scopes[0].user_defined[1].origin == "BAR override");
}

}  // namespace
}  // namespace millstream::ace
