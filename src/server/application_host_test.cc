// Versions of applications in a running server: what a change touches, what it leaves alone, and
// when an old version goes.
#include "server/application_host.h"

#include <doctest/doctest.h>

#include <thread>

#include "ace/bar_writer.h"
#include "ace/fixtures_for_test.h"
#include "http/server_for_test.h"
#include "server/server.h"

namespace millstream::server {
namespace {

using ace::TempTree;
using http::testing::body_of;
using http::testing::status_of;

const std::string kHostInput = "ComIbmWSInput.msgnode";
const std::string kHostReply = "ComIbmWSReply.msgnode";
const std::string kHostCompute = "ComIbmCompute.msgnode";

std::string host_flow(const std::string& url, bool has_reply = true) {
  ace::FlowText text{{kHostInput, kHostReply, kHostCompute}};
  if (!has_reply) text.types = {kHostInput, kHostCompute};
  text.nodes =
      ace::node_text(kHostInput, "i", "In", "URLSpecifier=\"" + url + "\"") +
      ace::node_text(kHostCompute, "m", "Middle", "computeExpression=\"esql://routine/#M.Main\"") +
      ace::wire_text("i", "OutTerminal.out", "m", "InTerminal.in");
  if (has_reply) {
    text.nodes += ace::node_text(kHostReply, "r", "Reply") +
                  ace::wire_text("m", "OutTerminal.out", "r", "InTerminal.in");
  }
  return text.str();
}

std::string host_module(const std::string& expression, const std::string& variables = "") {
  return "CREATE COMPUTE MODULE M\n" + variables +
         "  CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n"
         "    SET OutputRoot.BLOB.BLOB = CAST(" +
         expression + " AS BLOB CCSID 1208);\n    RETURN TRUE;\n  END;\nEND MODULE;\n";
}

// A server on a workspace of its own.
struct Running {
  void write_application(const std::string& name, const std::string& url, const std::string& esql,
                         bool has_reply = true) {
    tree.write(name + "/application.descriptor", ace::descriptor_text("appDescriptor"));
    tree.write(name + "/F.msgflow", host_flow(url, has_reply));
    tree.write(name + "/M.esql", esql);
  }
  void start(const std::string& work_folder = "") {
    ServerOptions options;
    if (work_folder.empty()) options.deployment.paths = {tree.path()};
    options.deployment.work_folder = work_folder;
    options.host = "127.0.0.1";
    options.http_port = 0;
    options.admin_port = 0;
    options.cores = 2;
    options.hooks = hooks;
    auto started = Server::start(options, diagnostics);
    REQUIRE(started.ok());
    server = std::move(started).take_value();
  }
  std::string get(const std::string& path) {
    http::testing::RawClient client(server->http_port());
    client.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
    const std::string reply = client.read_reply();
    return status_of(reply) == 200 ? body_of(reply) : std::to_string(status_of(reply));
  }
  const ace::Application* application(const std::string& name) {
    return server->host().find(name).get();
  }
  ChangeReport deploy(const TempTree& from, bool removes_others = false) {
    ace::Workspace workspace;
    base::Diagnostics said;
    ace::add_path(workspace, from.path(), said);
    Result<ace::BarFile> bar = ace::make_bar(workspace, "New.bar", said);
    REQUIRE(bar.ok());
    DeployRequest request;
    request.source = "New.bar";
    request.removes_others = removes_others;
    request.containers = ace::load_bar_bytes(bar.value().bytes, "New.bar").take_value();
    return server->host().deploy(std::move(request));
  }
  // The worker looks every few milliseconds.
  void wait_until_drained() {
    while (server->host().draining() != 0) std::this_thread::yield();
  }

  TempTree tree;
  base::Diagnostics diagnostics;
  const ServerHooks* hooks = nullptr;
  std::unique_ptr<Server> server;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("only what has changed is replaced") {
  Running r;
  r.write_application("A", "/a", host_module("'a1'"));
  r.write_application("B", "/b", host_module("'b1'"));
  r.start();
  const ace::Application* b = r.application("B");
  CHECK(r.get("/a") == "a1");
  CHECK_FALSE(r.server->host().rescan().has_changed());
  r.write_application("A", "/a", host_module("'a2'"));
  const ChangeReport report = r.server->host().rescan();
  CHECK(report.ok());
  CHECK(report.replaced == Names{"A"});
  CHECK(r.get("/a") == "a2");
  CHECK(r.get("/b") == "b1");
  CHECK(r.application("B") == b);
  r.wait_until_drained();
}

TEST_CASE("what does not compile leaves the old version in place, once told") {
  Running r;
  r.write_application("A", "/a", host_module("'a1'"));
  r.write_application("B", "/b", host_module("'b1'"));
  r.start();
  r.write_application("A", "/a", "this is no ESQL");
  r.write_application("B", "/b", host_module("'b2'"));
  ChangeReport report = r.server->host().rescan();
  CHECK(report.kept == Names{"A"});
  CHECK(report.replaced == Names{"B"});
  CHECK(report.diagnostics.has_errors());
  CHECK(r.get("/a") == "a1");
  CHECK(r.get("/b") == "b2");
  report = r.server->host().rescan();
  CHECK_FALSE(report.diagnostics.has_errors());
  CHECK_FALSE(report.has_changed());
  r.write_application("A", "/a", host_module("'a3'"));
  CHECK(r.server->host().rescan().replaced == Names{"A"});
  CHECK(r.get("/a") == "a3");
}

TEST_CASE("URLs come, go and move in one step; a conflict changes nothing") {
  Running r;
  r.write_application("A", "/a", host_module("'a1'"));
  r.write_application("B", "/b", host_module("'b1'"));
  r.start();
  r.write_application("A", "/b", host_module("'a2'"));
  ChangeReport report = r.server->host().rescan();
  CHECK_FALSE(report.ok());
  CHECK(report.diagnostics.has_errors());
  CHECK(report.kept == Names{"A"});
  CHECK(r.get("/a") == "a1");
  CHECK(r.get("/b") == "b1");
  r.write_application("N", "/n", host_module("'n'"));  // others are not held up
  CHECK(r.server->host().rescan().started == Names{"N"});
  CHECK(r.get("/n") == "n");
  r.write_application("B", "/a", host_module("'b2'"));
  report = r.server->host().rescan();
  CHECK(report.ok());
  CHECK(r.get("/a") == "b2");
  CHECK(r.get("/b") == "a2");
  std::filesystem::remove_all(r.tree / "B");
  r.write_application("C", "/c", host_module("'c'"));
  report = r.server->host().rescan();
  CHECK(report.removed == Names{"B"});
  CHECK(report.started == Names{"C"});
  CHECK(r.get("/a") == "404");
  CHECK(r.get("/c") == "c");
  r.wait_until_drained();
}

TEST_CASE("an application whose folder cannot be read is not removed") {
  Running r;
  r.write_application("A", "/a", host_module("'a1'"));
  r.write_application("B", "/b", host_module("'b1'"));
  r.start();
  r.tree.write("A/application.descriptor", "<not xml");
  const ChangeReport report = r.server->host().rescan();
  CHECK(report.diagnostics.has_errors());
  CHECK(report.removed.empty());
  CHECK(r.get("/a") == "a1");
}

TEST_CASE("a policy or setting that cannot be read changes nothing, whatever else has changed") {
  Running r;
  const std::string policy =
      "<policies><policy policyType=\"JDBCProviders\" policyName=\"D\"/></policies>";
  r.write_application("work/run/A", "/a", host_module("'a1'"));
  r.tree.write("work/run/P/policy.descriptor", "<policyProjectDescriptor/>");
  r.tree.write("work/run/P/D.policyxml", policy);
  r.tree.write("work/server.conf.yaml", "serverName: w\n");
  r.start(r.tree / "work");
  const ace::Application* a = r.application("A");
  r.write_application("work/run/A", "/a", host_module("'a2'"));
  r.tree.write("work/run/P/D.policyxml", "<policies");
  ChangeReport report = r.server->host().rescan();
  CHECK(report.status.error().code->id == std::string_view("MS2008"));
  CHECK(report.diagnostics.has_errors());
  CHECK_FALSE(report.has_changed());
  CHECK(r.application("A") == a);
  r.tree.write("work/run/P/D.policyxml", policy);
  r.tree.write("work/server.conf.yaml", "serverName: [\n");
  CHECK_FALSE(r.server->host().rescan().ok());
  CHECK(r.get("/a") == "a1");
  r.tree.write("work/server.conf.yaml", "serverName: w\n");
  CHECK(r.server->host().rescan().replaced == Names{"A"});
  CHECK(r.get("/a") == "a2");
  // A BAR file with such a policy is refused whole.
  TempTree next;
  next.write("A/application.descriptor", ace::descriptor_text("appDescriptor"));
  next.write("A/F.msgflow", host_flow("/a"));
  next.write("A/M.esql", host_module("'a3'"));
  next.write("P/policy.descriptor", "<policyProjectDescriptor/>");
  next.write("P/D.policyxml", "<policies");
  report = r.deploy(next);
  CHECK_FALSE(report.ok());
  CHECK(report.kept == Names{"A"});
  CHECK(r.get("/a") == "a2");
  r.wait_until_drained();
}

TEST_CASE("a library's change replaces the applications that use it") {
  Running r;
  const std::string main =
      "CREATE COMPUTE MODULE M\n  CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n"
      "    SET OutputRoot.BLOB.BLOB = CAST(word() AS BLOB CCSID 1208);\n"
      "    RETURN TRUE;\n  END;\nEND MODULE;\n";
  auto library = [](const std::string& word) {
    return "CREATE FUNCTION word() RETURNS CHARACTER BEGIN RETURN '" + word + "'; END;\n";
  };
  r.write_application("A", "/a", main);
  r.tree.write("A/application.descriptor",
               ace::descriptor_text("appDescriptor", ace::library_reference_text("L")));
  r.tree.write("L/library.descriptor", "<libraryDescriptor type=\"sharedLibrary\"/>");
  r.tree.write("L/W.esql", library("one"));
  r.write_application("B", "/b", host_module("'b'"));
  r.start();
  CHECK(r.get("/a") == "one");
  r.tree.write("L/W.esql", library("two"));
  CHECK(r.server->host().rescan().replaced == Names{"A"});
  CHECK(r.get("/a") == "two");
  const ChangeReport report = r.server->host().undeploy("L");
  CHECK_FALSE(report.ok());
  CHECK(r.get("/a") == "two");
}

TEST_CASE("messages in flight end on the version they began on, which goes with the last") {
  base::VirtualClock time;
  ServerHooks hooks;
  hooks.reactor.clock = &time;
  Running r;
  r.hooks = &hooks;
  r.write_application("A", "/a", host_module("'a1'"), /*has_reply=*/false);
  r.start();
  std::weak_ptr<ace::Application> old = r.server->host().find("A");
  auto client = std::make_unique<http::testing::RawClient>(r.server->http_port());
  client->send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
  while (old.lock()->flows()[0]->is_idle()) std::this_thread::yield();
  r.write_application("A", "/a", host_module("'a2'"));
  CHECK(r.server->host().rescan().replaced == Names{"A"});
  CHECK(r.get("/a") == "a2");
  CHECK(r.server->host().draining() == 1);
  CHECK_FALSE(old.expired());
  time.advance_ns(200 * net::kSecond);  // nobody will reply, says the old version
  for (int i = 0; i < r.server->reactors().size(); ++i) r.server->reactors().reactor(i).poke();
  CHECK(status_of(client->read_reply()) == 500);
  r.wait_until_drained();
  CHECK(old.expired());
}

TEST_CASE("SHARED variables begin anew with a version") {
  Running r;
  const std::string counter = "  DECLARE n SHARED INTEGER 0;\n";
  const std::string count =
      "  CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n    SET n = n + 1;\n"
      "    SET OutputRoot.BLOB.BLOB = CAST(CAST(n AS CHARACTER) AS BLOB CCSID 1208);\n"
      "    RETURN TRUE;\n  END;\nEND MODULE;\n";
  r.write_application("A", "/a", "CREATE COMPUTE MODULE M\n" + counter + count);
  r.start();
  CHECK(r.get("/a") == "1");
  CHECK(r.get("/a") == "2");
  r.write_application("A", "/a", "CREATE COMPUTE MODULE M -- changed\n" + counter + count);
  r.server->host().rescan();
  CHECK(r.get("/a") == "1");
}

TEST_CASE("a flow stopped by hand stays so in the next version") {
  Running r;
  r.write_application("A", "/a", host_module("'a1'"));
  r.start();
  CHECK(r.server->host().set_running("A", "F", false).ok());
  CHECK(r.get("/a") == "404");
  r.write_application("A", "/a", host_module("'a2'"));
  CHECK(r.server->host().rescan().replaced == Names{"A"});
  CHECK(r.get("/a") == "404");
  CHECK(r.server->host().set_running("A", "", true).ok());
  CHECK(r.get("/a") == "a2");
  CHECK(r.server->host().set_running("A", "nix", true).error().code->id ==
        std::string_view("MS2010"));
}

TEST_CASE("a BAR file is deployed whole or not at all, and stays over what the paths hold") {
  Running r;
  r.write_application("A", "/a", host_module("'a1'"));
  r.start();
  TempTree next;
  auto write_next = [&next](const std::string& name, const std::string& url,
                            const std::string& esql) {
    next.write(name + "/application.descriptor", ace::descriptor_text("appDescriptor"));
    next.write(name + "/F.msgflow", host_flow(url));
    next.write(name + "/M.esql", esql);
  };
  write_next("A", "/a", host_module("'a2'"));
  write_next("N", "/n", "no ESQL");
  ChangeReport report = r.deploy(next);
  CHECK_FALSE(report.ok());
  CHECK(report.refused == Names{"N"});
  CHECK(r.get("/a") == "a1");
  CHECK(r.deploy(next).diagnostics.has_errors());  // said again when asked again
  write_next("N", "/n", host_module("'n'"));
  report = r.deploy(next);
  CHECK(report.ok());
  CHECK(r.get("/a") == "a2");
  CHECK(r.get("/n") == "n");
  CHECK_FALSE(r.server->host().rescan().has_changed());
  CHECK(r.server->host().undeploy("N").removed == Names{"N"});
  CHECK(r.get("/n") == "404");
  CHECK(r.server->host().undeploy("A").removed == Names{"A"});
  CHECK_FALSE(r.server->host().rescan().has_changed());
  CHECK(r.get("/a") == "404");
  CHECK_FALSE(r.server->host().undeploy("A").ok());
}

TEST_CASE("a work directory keeps what is deployed") {
  Running r;
  r.tree.write("server.conf.yaml", "serverName: w\n");
  std::filesystem::create_directories(r.tree / "run");
  r.start(r.tree.path());
  CHECK(r.server->name() == "w");
  TempTree next;
  next.write("A/application.descriptor", ace::descriptor_text("appDescriptor"));
  next.write("A/F.msgflow", host_flow("/a"));
  next.write("A/M.esql", host_module("'a1'"));
  CHECK(r.deploy(next).started == Names{"A"});
  CHECK(r.get("/a") == "a1");
  next.write("A/M.esql", host_module("'a2'"));
  CHECK(r.deploy(next).replaced == Names{"A"});
  CHECK_FALSE(r.server->host().rescan().has_changed());
  r.server.reset();
  r.start(r.tree.path());
  CHECK(r.get("/a") == "a2");
  CHECK(r.server->host().undeploy("A").ok());
  CHECK_FALSE(std::filesystem::exists(r.tree / "run/A"));
  r.server.reset();
  r.start(r.tree.path());
  CHECK(r.get("/a") == "404");
}

}  // namespace millstream::server
