// Work directories given as a path or by --work-dir, and what their files say wrongly.
#include <doctest/doctest.h>

#include "ace/fixtures_for_test.h"
#include "nodes/http/listener.h"
#include "server/deployment.h"

namespace millstream::server {
namespace {

using ace::has_said;
using ace::said;
using ace::TempTree;

// A work directory with one application, whose flow reads an EXTERNAL variable.
void write_work_folder(const TempTree& tree, const std::string& name, const std::string& folder) {
  ace::FlowText flow{{"ComIbmWSInput.msgnode", "ComIbmCompute.msgnode", "ComIbmWSReply.msgnode"}};
  flow.features = ace::feature_text("country", "defaultValueLiteral=\"NL\"");
  flow.organizer = ace::user_defined_text("country");
  flow.nodes =
      ace::node_text(flow.types[0], "i", "In", "URLSpecifier=\"/" + folder + "\"") +
      ace::node_text(flow.types[1], "c", "Do", "computeExpression=\"esql://routine/#M.Main\"") +
      ace::node_text(flow.types[2], "r", "Reply") +
      ace::wire_text("i", "OutTerminal.out", "c", "InTerminal.in") +
      ace::wire_text("c", "OutTerminal.out", "r", "InTerminal.in");
  const std::string app = name + "/run/" + folder;
  tree.write(app + "/application.descriptor", ace::descriptor_text("appDescriptor"));
  tree.write(app + "/F.msgflow", flow.str());
  tree.write(app + "/M.esql",
             "DECLARE rate EXTERNAL INTEGER 1;\nCREATE COMPUTE MODULE M\nCREATE FUNCTION Main() "
             "RETURNS BOOLEAN BEGIN SET OutputRoot.JSON.Data.x = rate; RETURN TRUE; END;\nEND "
             "MODULE;\n");
  tree.write(name + "/server.conf.yaml", "serverName: " + folder + "\n");
}

struct Deployed {
  std::unique_ptr<Deployment> deployment;
  base::Diagnostics diagnostics;
};

Deployed deployed(const DeploymentInput& input) {
  nodes::http::HttpListener listener;
  flow::Services services;
  services.set(&listener);
  Deployed out;
  out.deployment = build_deployment(input, services, out.diagnostics);
  out.deployment->applications.clear();  // before the listener goes
  return out;
}

TEST_CASE("a work directory given as a path brings its settings and overrides, when it is one") {
  TempTree tree;
  write_work_folder(tree, "w", "A");
  write_work_folder(tree, "v", "B");
  tree.write("w/overrides/o.txt", "F#Inn.x=1\n");
  tree.write("Plain/F.esql", "");
  Deployed one = deployed({.paths = {tree / "w"}});
  CHECK(one.deployment->conf.server_name == "A");
  CHECK(one.deployment->work_folder == tree / "w");
  CHECK(has_said(one.diagnostics, "o.txt:1:1: warning: MS1910"));
  Deployed two = deployed({.paths = {tree / "w", tree / "v"}});
  CHECK(two.deployment->conf.server_name == "");
  CHECK(two.deployment->work_folder == "");
  CHECK(said(two.diagnostics) == "");
  Deployed other = deployed({.paths = {tree / "w"}, .work_folder = tree / "v"});
  CHECK(other.deployment->conf.server_name == "B");
  Deployed alone = deployed({.work_folder = tree / "v"});
  CHECK(alone.deployment->conf.server_name == "B");
  CHECK(alone.deployment->workspace.find("B"));
}

TEST_CASE("a work directory that is not there is an error, and nothing is built") {
  TempTree tree;
  write_work_folder(tree, "w", "A");
  for (const auto& paths : {std::vector<std::string>{}, std::vector<std::string>{tree / "w"}}) {
    Deployed out = deployed({.paths = paths, .work_folder = tree / "nowhere"});
    CHECK(said(out.diagnostics) == tree / "nowhere: error: MS2004: The work directory '" +
                                       tree.path() + "/nowhere' does not exist.\n");
    CHECK(out.deployment->workspace.containers.empty());
  }
  Deployed file = deployed({.work_folder = tree / "w/server.conf.yaml"});
  CHECK(has_said(file.diagnostics, "is not a folder."));
}

TEST_CASE("an override of a flow's property that nobody knows is a warning") {
  TempTree tree;
  write_work_folder(tree, "w", "A");
  tree.write("w/overrides/o.txt", "F#country=BE\nF#rate=2\nF#additionalInstances=3\nF#udp=3\n");
  Deployed out = deployed({.paths = {tree / "w"}});
  CHECK(said(out.diagnostics) ==
        tree /
            "w/overrides/o.txt:4:1: warning: MS1910: The override 'F#udp' matches no flow, "
            "node or property.\n");
}

TEST_CASE("words of server.conf.yaml that mean nothing are said with their place") {
  TempTree tree;
  const std::string file = tree.write("w/server.conf.yaml",
                                      "resolveUserVariableEnvVars: maybe\n"
                                      "Statistics:\n"
                                      "  Snapshot:\n"
                                      "    publicationOn: on\n"
                                      "    nodeDataLevel: 'full'\n"
                                      "Unread: {of: the product}\n"
                                      "Millstream:\n"
                                      "  Drivers: {C: /c}\n");
  ace::Overrides overrides;
  base::Diagnostics diagnostics;
  ServerConf conf = read_work_folder(tree / "w", overrides, diagnostics);
  CHECK(said(diagnostics) ==
        file +
            ":1:29: error: MS2003: The setting resolveUserVariableEnvVars is 'maybe'; it must "
            "be true or false.\n" +
            file +
            ":4:20: error: MS2003: The setting Statistics/Snapshot/publicationOn is 'on'; it "
            "must be active or inactive.\n" +
            file +
            ":5:20: error: MS2003: The setting Statistics/Snapshot/nodeDataLevel is 'full'; "
            "it must be none, basic or advanced.\n" +
            file +
            ":8:3: warning: MS2005: There is no setting Millstream/Drivers; it does "
            "nothing.\n");
  CHECK_FALSE(conf.observe.snapshot.is_on);
  CHECK_FALSE(conf.observe.snapshot.has_level);
}

TEST_CASE("settings without a value, and all words that mean something, are fine") {
  TempTree tree;
  ace::Overrides overrides;
  base::Diagnostics diagnostics;
  for (const char* text :
       {"resolveUserVariableEnvVars:\nStatistics:\n  Snapshot:\n    publicationOn:\nMillstream:\n",
        "Millstream:\n  Drives:\n", "Statistics: {Snapshot: {nodeDataLevel: advanced}}\n",
        "resolveUserVariableEnvVars: yes\n"
        "Statistics: {Snapshot: {publicationOn: 'active', nodeDataLevel: \"none\"}}\n"}) {
    tree.write("w/server.conf.yaml", text);
    ServerConf conf = read_work_folder(tree / "w", overrides, diagnostics);
    CHECK(conf.resolves_environment == (std::string_view(text).find("yes") != std::string::npos));
  }
  CHECK(said(diagnostics) == "");
  tree.write("w/server.conf.yaml", "Millstream: [Drives]\n");
  read_work_folder(tree / "w", overrides, diagnostics);
  tree.write("w/server.conf.yaml", "Millstream: {Drives: /srv}\n");
  read_work_folder(tree / "w", overrides, diagnostics);
  CHECK(diagnostics.error_count() == 2);
}

}  // namespace
}  // namespace millstream::server
