#include "server/deployment.h"

#include <doctest/doctest.h>

#include "ace/fixtures_for_test.h"
#include "io/zip_writer_for_test.h"
#include "nodes/http/listener.h"

namespace millstream::server {
namespace {

using ace::descriptor_text;
using ace::FlowText;
using ace::has_said;
using ace::library_reference_text;
using ace::nature_text;
using ace::node_text;
using ace::Overrides;
using ace::project_text;
using ace::said;
using ace::sink_text;
using ace::source_text;
using ace::TempTree;
using ace::wire_text;

const std::string kInput = "ComIbmWSInput.msgnode";
const std::string kReply = "ComIbmWSReply.msgnode";
const std::string kCompute = "ComIbmCompute.msgnode";

// HTTPInput -> Compute -> HTTPReply, or with another node type or subflow in the middle.
std::string http_flow(
    const std::string& url, const std::string& middle = kCompute,
    const std::string& attributes = "computeExpression=\"esql://routine/#M.Main\"",
    const std::string& in = "InTerminal.in", const std::string& out = "OutTerminal.out") {
  FlowText text{{kInput, kReply, middle}};
  if (middle == kInput || middle == kReply) text.types.pop_back();
  text.nodes = node_text(kInput, "i", "In", "URLSpecifier=\"" + url + "\"") +
               node_text(middle, "m", "Middle", attributes) + node_text(kReply, "r", "Reply") +
               wire_text("i", "OutTerminal.out", "m", in) +
               wire_text("m", out, "r", "InTerminal.in");
  return text.str();
}

const std::string kModule =
    "CREATE COMPUTE MODULE M\n"
    "  CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN SET OutputRoot = InputRoot; RETURN TRUE; END;\n"
    "END MODULE;\n";
const std::string kApp = descriptor_text("appDescriptor");

struct Checked {
  std::unique_ptr<Deployment> deployment;
  base::Diagnostics diagnostics;
  std::string accepted, refused;
};

class Checking {
 public:
  TempTree tree;
  bool checks_everything = true;
  std::vector<std::string> override_files;
  std::string work_folder;

  Checked run(std::vector<std::string> names = {""}) {
    DeploymentInput input;
    for (const std::string& n : names) input.paths.push_back(n.empty() ? tree.path() : tree / n);
    input.checks_everything = checks_everything;
    input.override_files = override_files;
    input.work_folder = work_folder;
    flow::Services services;
    services.set(&listener_);
    Checked out;
    out.deployment = build_deployment(input, services, out.diagnostics);
    for (const auto& a : out.deployment->applications) {
      out.accepted += (out.accepted.empty() ? "" : " ") + a->name();
      a->try_start(out.diagnostics);
      a->stop();
    }
    for (const std::string& r : out.deployment->refused) {
      out.refused += (out.refused.empty() ? "" : " ") + r;
    }
    return out;
  }
  void add_app(const std::string& name, const std::string& flow, const std::string& esql = kModule,
               const std::string& descriptor = kApp) {
    tree.write(name + "/application.descriptor", descriptor);
    tree.write(name + "/F.msgflow", flow);
    if (!esql.empty()) tree.write(name + "/M.esql", esql);
  }

 private:
  nodes::http::HttpListener listener_;
};

TEST_CASE("an application that fits is accepted without a word") {
  Checking c;
  c.add_app("App", http_flow("/a"));
  Checked result = c.run();
  CHECK(result.accepted == "App");
  CHECK(said(result.diagnostics) == "");
}

TEST_CASE("an unsupported node is named as in the Toolkit, with its place, once") {
  Checking c;
  c.tree.write("Lib/library.descriptor",
               "<libDescriptor type=\"com.ibm.etools.msgbroker.tooling.sharedLibraryNature\"/>");
  FlowText sub{{"ComIbmMQOutput.msgnode"}};
  sub.nodes = source_text("InTerminal.In", "In") + sink_text("OutTerminal.Out", "Out") +
              node_text("ComIbmMQOutput.msgnode", "q", "To queue") +
              wire_text("InTerminal.In", "OutTerminal.out", "q", "InTerminal.in");
  c.tree.write("Lib/Put.subflow", sub.str());
  const std::string descriptor = descriptor_text("appDescriptor", library_reference_text("Lib"));
  for (const char* name : {"A1", "A2"}) {
    c.add_app(
        name,
        http_flow("/" + std::string(name), "Put.subflow", "", "InTerminal.In", "OutTerminal.Out"),
        "", descriptor);
  }
  c.add_app("Good", http_flow("/good"));
  Checked result = c.run();
  CHECK(result.accepted == "Good");
  CHECK(result.refused == "A1 A2");
  CHECK(said(result.diagnostics) ==
        c.tree / "Lib/Put.subflow" +
            ":7:1: error: MS1914: 'To queue' is an MQOutput node (ComIbmMQOutput), which is not "
            "supported yet: it needs queues; take the flow out of the project, or replace the node "
            "by Compute and HTTP nodes.\n");
}

TEST_CASE("besides an unsupported node the rest of the flow is still checked") {
  Checking c;
  FlowText text{{kInput, "ComIbmJavaCompute.msgnode", "Mine.msgnode"}};
  text.nodes = node_text(kInput, "i", "In", "URLSpecifier=\"/a\" useHTTPS=\"true\"") +
               node_text("ComIbmJavaCompute.msgnode", "j", "J") +
               node_text("Mine.msgnode", "x", "X") +
               wire_text("i", "OutTerminal.nope", "i", "InTerminal.in") +
               wire_text("i", "OutTerminal.out", "j", "InTerminal.in");
  c.add_app("App", text.str());
  Checked result = c.run();
  CHECK(has_said(result.diagnostics, "'J' is a JavaCompute node"));
  CHECK(has_said(result.diagnostics, "user-defined type Mine"));
  CHECK(result.diagnostics.error_count() == 3);
}

TEST_CASE("an unsupported input node is no 'flow without input', and ESQL errors come beside it") {
  Checking c;
  FlowText text{{"ComIbmMQInput.msgnode", kCompute}};
  text.nodes = node_text("ComIbmMQInput.msgnode", "i", "In", "queueName=\"Q\"") +
               node_text(kCompute, "m", "M", "computeExpression=\"esql://routine/#M.Main\"") +
               wire_text("i", "OutTerminal.out", "m", "InTerminal.in");
  c.add_app("App", text.str(),
            "CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n"
            "CALL gone(); RETURN TRUE; END; END MODULE;");
  Checked result = c.run();
  CHECK(has_said(result.diagnostics, "an MQInput node"));
  CHECK(has_said(result.diagnostics, "M.esql:2:"));
  CHECK_FALSE(has_said(result.diagnostics, "MS1712"));
  CHECK_FALSE(has_said(result.diagnostics, "MS1861"));
}

TEST_CASE("an unused subflow with an unsupported node warns; it does not refuse the application") {
  Checking c;
  c.add_app("App", http_flow("/a"));
  FlowText sub{{"ComIbmFileRead.msgnode"}};
  sub.nodes = node_text("ComIbmFileRead.msgnode", "q", "Read");
  c.tree.write("App/Unused.subflow", sub.str());
  Checked result = c.run();
  CHECK(result.accepted == "App");
  CHECK_FALSE(result.diagnostics.has_errors());
  CHECK(has_said(result.diagnostics, "warning: MS1914: 'Read' is a FileRead node"));
  CHECK(has_said(result.diagnostics, "(No flow uses this subflow.)"));
  c.checks_everything = false;
  CHECK(said(c.run().diagnostics) == "");
}

TEST_CASE("a missing library is one error; what it explains is counted") {
  Checking c;
  c.add_app("App", http_flow("/a", "lib/Log.subflow", ""),
            "CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n"
            "CALL lib.gone(); RETURN TRUE; END; END MODULE;",
            descriptor_text("appDescriptor", library_reference_text("Gone")));
  Checked result = c.run();
  CHECK(result.refused == "App");
  CHECK(result.diagnostics.error_count() == 1);
  CHECK(has_said(result.diagnostics, "error: MS1907"));
  CHECK(has_said(result.diagnostics, "warning: MS1917: 2 error(s)"));
}

TEST_CASE("a missing project of .project matters when something cannot be found") {
  Checking c;
  c.tree.write("App/.project",
               project_text("App", nature_text("applicationNature"), "<project>Gone</project>"));
  c.add_app("App", http_flow("/a"));
  CHECK(said(c.run().diagnostics) == "");
  c.tree.write("App/F.msgflow", http_flow("/a", "lib/Log.subflow", ""));
  Checked result = c.run();
  CHECK(has_said(result.diagnostics, "error: MS1902"));
  CHECK(has_said(result.diagnostics, "App/.project:2:"));
  CHECK(has_said(result.diagnostics, "warning: MS1916: 'App' refers to the project 'Gone'"));
}

TEST_CASE("a .msgflow of a static library serves as a subflow, as in older projects") {
  Checking c;
  c.tree.write("App/.project",
               project_text("App", nature_text("applicationNature"), "<project>Lib</project>"));
  c.tree.write("Lib/.project", project_text("Lib", nature_text("libraryNature")));
  FlowText sub{{kCompute}};
  sub.nodes = source_text("InTerminal.In", "In") + sink_text("OutTerminal.Out", "Out") +
              node_text(kCompute, "m", "M", "computeExpression=\"M\"") +
              wire_text("InTerminal.In", "OutTerminal.out", "m", "InTerminal.in") +
              wire_text("m", "OutTerminal.out", "OutTerminal.Out", "InTerminal.in");
  c.tree.write("Lib/old/Sub.msgflow", sub.str());
  c.tree.write("Lib/old/M.esql", "BROKER SCHEMA old\n" + kModule);
  c.add_app("App", http_flow("/a", "old/Sub.msgflow", "", "InTerminal.In", "OutTerminal.Out"), "");
  Checked result = c.run();
  CHECK(said(result.diagnostics) == "");
  REQUIRE(result.deployment->applications.size() == 1);
  CHECK(result.deployment->applications[0]->flows().size() == 1);
}

TEST_CASE("independent projects that refer to each other run each their own flows") {
  Checking c;
  const std::string nature = nature_text("messageBrokerProjectNature");
  c.tree.write("P1/.project", project_text("P1", nature, "<project>P2</project>"));
  c.tree.write("P1/F1.msgflow", http_flow("/1"));
  c.tree.write("P2/.project", project_text("P2", nature));
  c.tree.write("P2/F2.msgflow", http_flow("/2"));
  c.tree.write("P2/M.esql", kModule);
  Checked result = c.run();
  CHECK(said(result.diagnostics) == "");
  CHECK(result.accepted == "P1 P2");
  for (const auto& a : result.deployment->applications) CHECK(a->flows().size() == 1);
}

TEST_CASE("one URL twice is refused by name and place") {
  Checking c;
  c.add_app("A", http_flow("/same"));
  c.add_app("B", http_flow("/same"));
  Checked result = c.run();
  CHECK(result.diagnostics.error_count() == 0);
  // Each was started and stopped; at once they collide.
  flow::Services services;
  nodes::http::HttpListener listener;
  services.set(&listener);
  base::Diagnostics diagnostics;
  auto deployment = build_deployment({.paths = {c.tree.path()}}, services, diagnostics);
  for (const auto& a : deployment->applications) a->try_start(diagnostics);
  CHECK(has_said(diagnostics, "B/F.msgflow:5:1: error: MS1834: The URL '/same'"));
  CHECK(has_said(diagnostics, "in flow 'F' of application 'B' is already that of node"));
  CHECK(has_said(diagnostics, "in flow 'F' of application 'A'."));
  Status status = deployment->applications[1]->start();
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().position.line == 5);
  for (const auto& a : deployment->applications) a->stop();
}

TEST_CASE("overrides: file over BAR over flow; what matches nothing is a warning with its line") {
  Checking c;
  const std::string app = io::make_test_zip(
      {{"application.descriptor", kApp},
       {"F.msgflow", http_flow("/flow")},
       {"M.esql", kModule},
       {"META-INF/broker.xml",
        "<Broker><ConfigurableProperty uri=\"F#In.URLSpecifier\" override=\"/bar\"/></Broker>"}});
  c.tree.write("A.bar", io::make_test_zip({{"App.appzip", app}}));
  auto endpoint = [](const Checked& result) {
    std::string found;
    for (const auto& node : result.deployment->applications.at(0)->flows().at(0)->nodes()) {
      if (!node->endpoint().empty()) found = node->endpoint();
    }
    return found.substr(found.rfind('/'));
  };
  CHECK(endpoint(c.run({"A.bar"})) == "/bar");
  c.override_files = {c.tree.write("o.txt", "F#In.URLSpecifier=/file\nF#Inn.URLSpecifier=/x\n")};
  Checked result = c.run({"A.bar"});
  CHECK(endpoint(result) == "/file");
  CHECK(has_said(result.diagnostics, "o.txt:2:1: warning: MS1910"));
  // A property that the node does not have is an error where the override stands.
  c.override_files = {c.tree.write("p.txt", "F#In.nonsense=1\n")};
  CHECK(has_said(c.run({"A.bar"}).diagnostics, "p.txt:1:1: error: MS1030"));
  c.override_files = {c.tree / "missing.txt"};
  CHECK(c.run({"A.bar"}).diagnostics.has_errors());
}

TEST_CASE("a work directory: settings, overriding settings, user variables, property overrides") {
  Checking c;
  c.add_app("w/run/App", http_flow("/a"));
  c.tree.write("w/server.conf.yaml",
               "serverName: one\nResourceManagers:\n  HTTPConnector:\n    ListenerPort: 7801\n"
               "UserVariables:\n  a: 'base'\n  b: 'base'\nUnknown:\n  key: 1\n");
  c.tree.write("w/overrides/server.conf.yaml",
               "ResourceManagers:\n  HTTPConnector:\n    ListenerPort: 7802\n"
               "UserVariables:\n  b: 'wins'\n  c: 'new'\n");
  c.tree.write("w/overrides/App.txt", "F#In.URLSpecifier=/over\n");
  c.work_folder = c.tree / "w";
  Checked result = c.run({"w"});
  CHECK(said(result.diagnostics) == "");
  const ServerConf& conf = result.deployment->conf;
  CHECK(conf.server_name == "one");
  CHECK(conf.http_port == 7802);
  CHECK(conf.user_variables.at("a") == "base");
  CHECK(conf.user_variables.at("b") == "wins");
  CHECK(conf.user_variables.at("c") == "new");
  REQUIRE(result.deployment->applications.size() == 1);
  bool has_url = false;
  for (const auto& node : result.deployment->applications[0]->flows()[0]->nodes()) {
    has_url |= node->endpoint().find("/over") != std::string::npos;
  }
  CHECK(has_url);
}

TEST_CASE("bad settings are errors with their line; environment variables only when asked for") {
  TempTree tree;
  base::Diagnostics diagnostics;
  Overrides overrides;
  tree.write("w/server.conf.yaml",
             "ResourceManagers:\n  HTTPConnector:\n    ListenerPort: 99999\n"
             "UserVariables:\n  home: '${HOME}x'\n");
  ServerConf conf = read_work_folder(tree / "w", overrides, diagnostics);
  CHECK(has_said(diagnostics, "server.conf.yaml:3:"));
  CHECK(conf.user_variables.at("home") == "${HOME}x");
  tree.write("w/server.conf.yaml",
             "resolveUserVariableEnvVars: true\nUserVariables:\n  home: '${HOME}x'\n"
             "  none: 'a${MS_NO_SUCH_VARIABLE}b'\n  open: '${HOME'\n");
  base::Diagnostics clean;
  conf = read_work_folder(tree / "w", overrides, clean);
  CHECK_FALSE(clean.has_errors());
  CHECK(conf.user_variables.at("home") == std::string(std::getenv("HOME")) + "x");
  CHECK(conf.user_variables.at("none") == "ab");
  CHECK(conf.user_variables.at("open") == "${HOME");
  tree.write("w/server.conf.yaml", "a: [1\n");
  read_work_folder(tree / "w", overrides, clean);
  CHECK(clean.has_errors());
}

}  // namespace
}  // namespace millstream::server
