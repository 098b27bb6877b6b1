// Flows of real nodes for unit tests: sources and sinks of our own around them, one message at a
// time, and what came out as one string a sink: "label<body>" with "[2230>3001]" behind it when
// there is an exception list.
//
//   NodeFixture f("CREATE COMPUTE MODULE M ...");
//   f.text.node("test:In", "In");
//   f.text.node("ComIbmCompute", "C").properties...   or f.node("ComIbmCompute", "C", {{...}});
//   f.wires({"In.out -> C", "C.out -> Sink"});        sinks are made as they are named
//   REQUIRE(f.build());
//   CHECK(f.run("XMLNSC", "<a/>") == "Sink<<a/>>");
#pragma once
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "flow/flow_test_util.h"
#include "net/reactor_pool.h"
#include "nodes/common/api_documents.h"
#include "nodes/common/application.h"
#include "nodes/common/body.h"
#include "nodes/common/esql_runtime.h"
#include "nodes/http/listener.h"
#include "nodes/registry.h"
#include "parsers/headers/properties.h"

namespace millstream::nodes::test {

struct Observed {
  std::string events;
  // Called in every sink, for what the string does not show.
  std::function<void(const std::string& sink, flow::Invocation&, const tree::MessageAssembly&)>
      look;
};

class TestNode final : public flow::Node {
 public:
  explicit TestNode(Observed& observed) : observed_(observed) {}
  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    std::string body;
    Status status = common::write_body(invocation.context(), in.root, body);
    if (body.size() > 200) body = std::to_string(body.size()) + " bytes";
    observed_.events += (observed_.events.empty() ? "" : " ") + label() + "<" +
                        (status.ok() ? body : "unwritable") + ">";
    write_numbers(in.exception_list);
    if (observed_.look) observed_.look(label(), invocation, in);
    return {};
  }

 private:
  void write_numbers(tree::Element* list) {
    std::string chain;
    for (tree::Element* e = tree::first_child(list); e;) {
      tree::Element* number = tree::find_child(e, "Number");
      if (number) chain += (chain.empty() ? "" : ">") + std::to_string(number->scalar.integer);
      tree::Element* next = nullptr;
      for (tree::Element* c = tree::first_child(e); c; c = tree::next_sibling(c)) {
        if (c->local_name().find("Exception") != std::string_view::npos) next = c;
      }
      e = next;
    }
    if (!chain.empty()) observed_.events += "[" + chain + "]";
  }
  Observed& observed_;
};

inline Result<std::unique_ptr<flow::Node>> create_test_node(flow::NodeBuildContext& context) {
  return std::unique_ptr<flow::Node>(new TestNode(*context.services.find<Observed>()));
}

inline const flow::NodeRegistry& test_registry() {
  static const flow::NodeRegistry registry = [] {
    std::vector<flow::NodeType> types = node_registry().all();
    types.push_back({"In",
                     "test:In",
                     "InNode",
                     "In",
                     {},
                     {"failure", "out", "catch"},
                     false,
                     true,
                     false,
                     &create_test_node});
    types.push_back({"Sink",
                     "test:Sink",
                     "SinkNode",
                     "Sink",
                     {"in"},
                     {},
                     false,
                     false,
                     false,
                     &create_test_node});
    return flow::NodeRegistry(std::move(types));
  }();
  return registry;
}

using TestProperties = std::map<std::string, std::string>;

struct NodeFixture {
  Observed observed;
  flow::test::FlowText text;
  common::Application application;
  http::HttpListener listener;
  // Nothing listens where this API is said to be.
  common::ApiDocuments documents{[](std::string_view) -> Result<common::ApiDocuments::File> {
    return common::ApiDocuments::File{
        R"({"openapi":"3.0.0","servers":[{"url":"http://127.0.0.1:1"}],)"
        R"("paths":{"/x":{"post":{"operationId":"op"}}}})",
        "api.json"};
  }};
  std::unique_ptr<common::EsqlRuntime> runtime;
  std::shared_ptr<base::NameTable> names = std::make_shared<base::NameTable>();
  flow::Services services;
  base::Diagnostics diagnostics;
  std::unique_ptr<flow::Flow> flow;
  std::unique_ptr<net::ReactorPool> pool;
  std::unique_ptr<tree::MessageArena> arena;

  explicit NodeFixture(std::string esql = "") {
    application.name = "App";
    application.server_name = "server";
    auto program = std::make_shared<esql::Program>();
    const bool is_good = program->add_file({"t.esql", std::move(esql), "", 0}) &&
                         program->link(common::esql_link_options(*names));
    if (!is_good) FAIL(esql::format_diagnostic(program->diagnostics().at(0)));
    runtime = std::make_unique<common::EsqlRuntime>(std::move(program), names);
    services.set(&observed);
    services.set(&application);
    services.set(&listener);
    services.set(&documents);
    services.set(runtime.get());
    text.node("test:In", "In");
  }

  flow::NodeDefinition& node(std::string type, std::string label,
                             const TestProperties& values = {}) {
    flow::NodeDefinition& n = text.node(std::move(type), std::move(label));
    for (const auto& [name, value] : values) {
      n.properties.set(name, {value, {"F.msgflow", n.properties.position.line, 9}, "flow"});
    }
    return n;
  }
  // Targets that are not there yet become sinks.
  void wires(std::initializer_list<std::string> list) {
    for (const std::string& wire : list) {
      std::string target = wire.substr(wire.find(" -> ") + 4);
      if (target.ends_with(".in")) target.resize(target.size() - 3);
      const size_t found = text.index_of(target);
      if (found == 0) text.node("test:Sink", target);
      text.wire(wire);
    }
  }
  bool build() {
    flow =
        flow::build_flow(text.definition, test_registry(), services, names, "server", diagnostics);
    names->freeze();
    arena = std::make_unique<tree::MessageArena>(names);
    return flow && flow->start().ok();
  }
  // "11 MS1032; " for each diagnostic: its line and code.
  std::string problems() const {
    std::string out;
    for (const base::Diagnostic& d : diagnostics.all()) {
      out += std::to_string(d.position.line) + " " + d.code + "; ";
    }
    return out;
  }

  // One message through the flow, in a fiber. Unhandled errors: "=> 2230>2488".
  std::string run(
      const std::string& domain, const std::string& body,
      const std::function<void(tree::TreeContext&, tree::MessageAssembly&)>& prepare = nullptr) {
    if (!pool) {
      auto made = net::ReactorPool::create(1);
      REQUIRE(made.ok());
      pool = std::move(made).take_value();
    }
    pool->run_on(0, [&] { run_here(domain, body, prepare); });
    return std::exchange(observed.events, {});
  }

 private:
  void run_here(const std::string& domain, const std::string& body,
                const std::function<void(tree::TreeContext&, tree::MessageAssembly&)>& prepare) {
    arena->reset(names);
    flow::Invocation invocation(*flow, *arena);
    tree::MessageAssembly message = arena->make_assembly();
    parsers::headers::make_properties(arena->context(), message.root, {});
    Result<common::BodyParserChoice> choice = common::choose_body_parser(domain, false);
    Status status = choice.ok() ? common::add_body(arena->context(), message.root, choice.value(),
                                                   arena->arena().copy(body), 1208, 546)
                                : std::move(choice).take_status();
    if (status.ok()) {
      if (prepare) prepare(arena->context(), message);
      status = invocation.run_from_input(*flow->find_node("In"), message, body.size());
    }
    if (status.ok()) return;
    std::string chain;
    for (const base::Error* e = &status.error(); e;
         e = e->causes.empty() ? nullptr : e->causes[0].get()) {
      chain += (chain.empty() ? "" : ">") + std::to_string(e->number);
    }
    observed.events += (observed.events.empty() ? "=> " : " => ") + chain;
  }
};

}  // namespace millstream::nodes::test
