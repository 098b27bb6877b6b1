// The conformance suite: every node type of the registry against its own record.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "format/yaml.h"
#include "nodes/node_test_support.h"

namespace millstream::nodes {
namespace {

using test::NodeFixture;
using test::TestProperties;

constexpr const char* kConformanceEsql =
    "CREATE COMPUTE MODULE Copy CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
    "SET OutputRoot = InputRoot; RETURN TRUE; END; END MODULE;\n"
    "CREATE COMPUTE MODULE Bad CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
    "THROW USER EXCEPTION; RETURN TRUE; END; END MODULE;\n"
    "CREATE FILTER MODULE Yes CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
    "RETURN TRUE; END; END MODULE;\n"
    "CREATE FILTER MODULE BadFilter CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
    "RETURN CAST('x' AS INTEGER) > 1; END; END MODULE;\n"
    "CREATE DATABASE MODULE Look CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
    "RETURN TRUE; END; END MODULE;\n"
    "CREATE DATABASE MODULE BadLook CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
    "DELETE FROM Database.T; RETURN TRUE; END; END MODULE;\n";

// What makes a node of the type work, and what makes it fail (empty: it cannot by itself).
struct Usage {
  TestProperties works, fails;
};
const std::map<std::string, Usage>& usages() {
  static const std::map<std::string, Usage> all = {
      {"ComIbmCompute",
       {{{"computeExpression", "esql://routine/#Copy.Main"}},
        {{"computeExpression", "esql://routine/#Bad.Main"}}}},
      {"ComIbmFilter",
       {{{"filterExpression", "esql://routine/#Yes.Main"}},
        {{"filterExpression", "esql://routine/#BadFilter.Main"}}}},
      {"ComIbmDatabase",
       {{{"statement", "esql://routine/#Look.Main"}},
        {{"statement", "esql://routine/#BadLook.Main"}}}},
      {"ComIbmDatabaseRetrieve",  // no such data source
       {{{"dataSourceName", "NONE"}, {"sqlQuery", "SELECT T.A FROM T"}},
        {{"dataSourceName", "NONE"}, {"sqlQuery", "SELECT T.A FROM T"}}}},
      {"ComIbmDatabaseRoute",
       {{{"dataSourceName", "NONE"}, {"sqlQuery", "SELECT T.A FROM T"}},
        {{"dataSourceName", "NONE"}, {"sqlQuery", "SELECT T.A FROM T"}}}},
      {"ComIbmTrace",
       {{{"destination", "file"}, {"filePath", "/dev/null"}, {"pattern", "${Root}\n"}},
        {{"destination", "file"}, {"filePath", "/dev/null"}, {"pattern", "${1/0}"}}}},
      {"ComIbmWSInput", {{{"URLSpecifier", "/conformance"}}, {}}},
      {"ComIbmWSReply", {{}, {{"ignoreTransportFailures", "true"}}}},  // nothing to reply to
      {"ComIbmWSRequest",
       {{{"URLSpecifier", "http://127.0.0.1:1/"}}, {{"URLSpecifier", "http://127.0.0.1:1/"}}}},
      {"ComIbmCallableFlowInput", {{{"callableInputEndpoint", "e"}}, {}}},
      {"ComIbmCallableFlowReply", {{}, {{"validateMaster", "none"}}}},  // nobody to reply to
      {"ComIbmCallableFlowInvoke", {{}, {{"targetApplication", "Nobody"}}}},
      {"ComIbmCallableFlowAsyncInvoke",
       {{{"asyncResponseCorrelator", "a"}}, {{"asyncResponseCorrelator", "a"}}}},
      {"ComIbmCallableFlowAsyncResponse", {{{"asyncResponseCorrelator", "a"}}, {}}},
      {"ComIbmRESTRequest",
       {{{"definitionFile", "api.json"}, {"operationName", "op"}},
        {{"definitionFile", "api.json"}, {"operationName", "op"}}}},
      {"ComIbmRESTAsyncRequest",
       {{{"definitionFile", "api.json"}, {"operationName", "op"}, {"asyncResponseCorrelator", "a"}},
        {{"definitionFile", "api.json"},
         {"operationName", "op"},
         {"asyncResponseCorrelator", "a"}}}},
      {"ComIbmRESTAsyncResponse", {{{"asyncRequestCorrelator", "a"}}, {}}},
      {"ComIbmHTTPAsyncRequest",
       {{{"asyncResponseCorrelator", "a"}}, {{"asyncResponseCorrelator", "a"}}}},
      {"ComIbmHTTPAsyncResponse", {{{"asyncRequestCorrelator", "a"}}, {}}},
      {"ComIbmTimeoutControl", {{{"uniqueIdentifier", "t"}}, {{"uniqueIdentifier", "t"}}}},
      {"ComIbmTimeoutNotification", {{{"uniqueIdentifier", "t"}}, {}}},
      {"ComIbmLabel", {{{"labelName", "L"}}, {}}},
      {"ComIbmRouteToLabel", {{}, {{"mode", "routeToFirst"}}}},  // an empty list
      {"ComIbmThrow", {{}, {{"messageText", "x"}}}},
      {"ComIbmResetContentDescriptor",
       {{{"resetMessageDomain", "true"}, {"messageDomain", "BLOB"}},
        {{"resetMessageDomain", "true"},
         {"messageDomain", "JSON"},
         {"validateTiming", "complete"}}}},
  };
  return all;
}
Usage usage_of(const std::string& type) {
  auto it = usages().find(type);
  return it == usages().end() ? Usage{} : it->second;
}

struct Record {
  std::string file;
  format::YamlNode yaml;
  std::string text(std::string_view key) const {
    const format::YamlNode* n = yaml.find(key);
    return n ? n->text : std::string();
  }
  std::vector<std::string> list(std::string_view key, const std::vector<std::string>& none) const {
    const format::YamlNode* n = yaml.find(key);
    if (!n) return none;
    std::vector<std::string> out;
    for (const format::YamlNode& item : n->items) out.push_back(item.text);
    return out;
  }
};

const std::vector<Record>& records() {
  static const std::vector<Record> all = [] {
    std::vector<Record> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator("src/nodes")) {
      const std::string file = entry.path().string();
      if (!file.ends_with(".yaml") || file.ends_with("errors.yaml")) continue;
      std::stringstream text;
      text << std::ifstream(file).rdbuf();
      Result<format::YamlNode> yaml = format::parse_yaml(text.str(), file);
      if (!yaml.ok()) FAIL(yaml.error().describe());
      out.push_back({file, std::move(yaml).value()});
    }
    std::sort(out.begin(), out.end(),
              [](const Record& a, const Record& b) { return a.file < b.file; });
    return out;
  }();
  return all;
}

// Problems when a node of this type with these properties is built; "" when it is fine. Warnings
// have a "w" before their code.
std::string problems_of(const Record& r, const TestProperties& properties,
                        const char* table = nullptr) {
  NodeFixture f(kConformanceEsql);
  flow::NodeDefinition& n = f.node(r.text("type"), "N", properties);
  for (const auto& [name, value] : properties) {
    n.properties.set(name, {value, {"F.msgflow", 77, 9}, "BAR override"});
  }
  if (table) {
    flow::PropertyRow row;
    row.columns = {{"x", "y"}};
    row.position = {"F.msgflow", 78, 1};
    n.properties.add_row(table, row);
  }
  f.build();
  std::string out;
  for (const base::Diagnostic& d : f.diagnostics.all()) {
    if (!out.empty()) out += ' ';
    out += std::to_string(d.position.line) +
           (d.severity == base::DiagnosticSeverity::kError ? ":" : ":w") + d.code;
  }
  return out;
}

TestProperties with(TestProperties base, const std::string& name, const std::string& value) {
  base[name] = value;
  return base;
}

TEST_CASE("node conformance: records and registry agree") {
  CHECK(records().size() == node_registry().all().size());
  for (const Record& r : records()) {
    CAPTURE(r.file);
    const flow::NodeType* type = node_registry().find(r.text("type"));
    REQUIRE(type != nullptr);
    CHECK(type->name == r.text("name"));
    const std::vector<std::string> inputs(type->inputs.begin(), type->inputs.end());
    const std::vector<std::string> outputs(type->outputs.begin(), type->outputs.end());
    CHECK(inputs == r.list("inputs", {"in"}));
    CHECK(outputs == r.list("outputs", {}));
    CHECK_FALSE(r.text("description").empty());
  }
}

TEST_CASE("node conformance: the least a node needs, and what it misses without") {
  for (const Record& r : records()) {
    CAPTURE(r.file);
    const TestProperties works = usage_of(r.text("type")).works;
    CHECK(problems_of(r, works) == "");
    const format::YamlNode* properties = r.yaml.find("properties");
    for (const format::YamlNode& p :
         properties ? properties->items : std::vector<format::YamlNode>()) {
      const format::YamlNode* required = p.find("required");
      if (!required || !required->as_bool().value_or(false)) continue;
      TestProperties missing = works;
      missing.erase(p.find("name")->text);
      CAPTURE(p.find("name")->text);
      CHECK(problems_of(r, missing).find("MS1031") != std::string::npos);
      CHECK(problems_of(r, with(works, p.find("name")->text, "")).find("77:MS1031") !=
            std::string::npos);
    }
  }
}

TEST_CASE("node conformance: unknown properties and tables are refused where they stand") {
  for (const Record& r : records()) {
    if (r.text("type").starts_with("eflow:")) continue;  // only layout is written on them
    CAPTURE(r.file);
    const TestProperties works = usage_of(r.text("type")).works;
    CHECK(problems_of(r, with(works, "noSuchProperty", "1")) == "77:MS1030");
    CHECK(problems_of(r, works, "noSuchTable") == "78:MS1035");
    CHECK(problems_of(r, with(works, "monitorEvents", "x")) == "");
  }
}

void check_enum(const Record& r, const format::YamlNode& p, const TestProperties& works) {
  const std::string name = p.find("name")->text;
  const format::YamlNode* tolerant = p.find("tolerant");
  const format::YamlNode* refused = p.find("refused_values");
  const bool only_default = p.find("refused_unless_default") != nullptr;
  const bool is_tolerant = tolerant && tolerant->as_bool().value_or(false);
  const std::string nonsense = problems_of(r, with(works, name, "nonsense"));
  if (only_default) {
    CHECK(nonsense.find("77:MS103") == 0);
  } else {
    CHECK(nonsense == (is_tolerant ? "77:wMS1034" : "77:MS1032"));
  }
  for (const format::YamlNode& value : p.find("values")->items) {
    CAPTURE(value.text);
    const bool is_refused =
        (refused && refused->find(value.text)) ||
        (only_default && (!p.find("default") || value.text != p.find("default")->text));
    CHECK(problems_of(r, with(works, name, value.text)) == (is_refused ? "77:MS1033" : ""));
  }
}

void check_property(const Record& r, const format::YamlNode& p, const TestProperties& works) {
  const std::string name = p.find("name")->text;
  CAPTURE(name);
  const std::string type = p.find("type") ? p.find("type")->text : "string";
  const std::string support = p.find("support") ? p.find("support")->text : "works";
  if (support == "ignored") {
    CHECK(problems_of(r, with(works, name, "anything at all")) == "");
    return;
  }
  if (support == "refused") {
    CHECK(problems_of(r, with(works, name, "x")) == "77:MS1033");
    return;
  }
  if (type == "enum") return check_enum(r, p, works);
  if (const format::YamlNode* preset = p.find("default")) {
    CHECK(problems_of(r, with(works, name, preset->text)) == "");
  }
  const bool only_default = p.find("refused_unless_default") != nullptr;
  if (type == "boolean") {
    for (const char* good : {"true", "false", "yes", "no"}) {
      const std::string problem = problems_of(r, with(works, name, good));
      CHECK((problem.empty() || (only_default && problem.find("77:MS1033") == 0)));
    }
    for (const char* bad : {"TRUE", "maybe", "", "1"}) {
      CHECK(problems_of(r, with(works, name, bad)).find("77:MS103") == 0);
    }
  }
  if (type == "integer") {
    for (const char* bad : {"", "x", "1.5", "1x", "99999999999999999999", " 1"}) {
      CHECK(problems_of(r, with(works, name, bad)) == "77:MS1032");
    }
    if (const format::YamlNode* min = p.find("min")) {
      const int64_t least = *min->as_integer(), most = *p.find("max")->as_integer();
      CHECK(problems_of(r, with(works, name, std::to_string(least))) == "");
      CHECK(problems_of(r, with(works, name, std::to_string(most))) == "");
      CHECK(problems_of(r, with(works, name, std::to_string(least - 1))) == "77:MS1032");
      CHECK(problems_of(r, with(works, name, std::to_string(most + 1))) == "77:MS1032");
    }
  }
  if (type == "string" && only_default) {
    CHECK(problems_of(r, with(works, name, "x")) == "77:MS1033");
  }
}

TEST_CASE("node conformance: every property takes what its record says, and nothing else") {
  for (const Record& r : records()) {
    CAPTURE(r.file);
    const format::YamlNode* properties = r.yaml.find("properties");
    if (!properties) continue;
    for (const format::YamlNode& p : properties->items) {
      check_property(r, p, usage_of(r.text("type")).works);
    }
  }
}

// A flow "In -> N", every terminal of N with a sink of its name.
struct WiredFixture : NodeFixture {
  WiredFixture(const Record& r, const TestProperties& properties, bool wires_failure)
      : NodeFixture(kConformanceEsql) {
    node(r.text("type"), "N", properties);
    wires({"In.out -> N"});
    for (const std::string& output : r.list("outputs", {})) {
      if (output == "failure" && !wires_failure) continue;
      wires({"N." + output + " -> " + output + "Sink"});
    }
    wires({"In.catch -> caught"});
    REQUIRE(build());
  }
};

bool takes_messages(const Record& r) { return !r.list("inputs", {"in"}).empty(); }

TEST_CASE("node conformance: small, empty and large bodies, and each message is counted") {
  const std::string large = "<a>" + std::string(static_cast<size_t>(2) << 20, 'x') + "</a>";
  for (const Record& r : records()) {
    if (!takes_messages(r)) continue;
    CAPTURE(r.file);
    WiredFixture f(r, usage_of(r.text("type")).works, true);
    for (const std::string& body : {std::string("<a>1</a>"), std::string(), large}) {
      const std::string out = f.run("XMLNSC", body);
      CHECK_FALSE(out.empty());
      CHECK(out.find("unwritable") == std::string::npos);
    }
    const flow::Node& node = *f.flow->find_node("N");
    CHECK(f.flow->statistics().node(node.index()).invocations.get() == 0);  // of another thread
    const std::string snapshot = f.flow->statistics().snapshot_json(*f.flow, "server", false);
    CHECK(snapshot.find("\"TotalInputMessages\":3") != std::string::npos);
    const size_t at = snapshot.find("\"Label\":\"N\"");
    CHECK(snapshot.find("\"CountOfInvocations\":3", at) != std::string::npos);
  }
}

TEST_CASE("node conformance: its own exception goes to failure, else to whoever catches") {
  for (const Record& r : records()) {
    const TestProperties fails = usage_of(r.text("type")).fails;
    if (fails.empty()) continue;
    CAPTURE(r.file);
    const auto outputs = r.list("outputs", {});
    if (std::find(outputs.begin(), outputs.end(), "failure") != outputs.end()) {
      const std::string handled = WiredFixture(r, fails, true).run("XMLNSC", "<a>1</a>");
      CHECK(handled.find("failureSink<<a>1</a>>[2230>") == 0);
    }
    const std::string caught = WiredFixture(r, fails, false).run("XMLNSC", "<a>1</a>");
    CHECK(caught.find("caught<<a>1</a>>[2230>") == 0);
  }
}

TEST_CASE("node conformance: memory does not grow with the number of messages") {
  for (const Record& r : records()) {
    if (!takes_messages(r) || r.text("type") == "ComIbmWSRequest" ||
        r.text("type") == "ComIbmRESTRequest") {
      continue;
    }
    CAPTURE(r.file);
    const Usage usage = usage_of(r.text("type"));
    for (const TestProperties& properties : {usage.works, usage.fails}) {
      WiredFixture f(r, properties, true);
      size_t reserved = 0, used = 0;
      for (int i = 0; i < 1000; ++i) {
        f.run("XMLNSC", "<a>1</a>");
        if (i != 9) continue;
        reserved = f.arena->arena().reserved_bytes();
        used = f.arena->arena().used_bytes();
      }
      CHECK(f.arena->arena().reserved_bytes() == reserved);
      CHECK(f.arena->arena().used_bytes() == used);
    }
  }
}

}  // namespace
}  // namespace millstream::nodes
