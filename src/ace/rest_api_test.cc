// What restapi.descriptor means, and what is wrong with it; tests/rest runs whole projects.
#include "ace/rest_api.h"

#include <doctest/doctest.h>

#include "ace/fixtures_for_test.h"
#include "ace/workspace.h"
#include "io/file.h"

namespace millstream::ace {
namespace {

constexpr const char* kDocument =
    "openapi: 3.0.0\npaths:\n  /a:\n    get: {operationId: getA}\n"
    "    put: {operationId: putA, requestBody: {content: {application/json: {schema: {pattern: "
    "'(' }}}}}\n";

struct RestProject {
  TempTree tree;
  std::string attributes = "implementation=\"gen/F.msgflow\" definitionFile=\"api/a.yaml\"";
  std::string content =
      "<operations><operation name=\"getA\" implementation=\"getA.subflow\"/>"
      "</operations>";
  std::string document = kDocument;
  std::string problems;

  std::shared_ptr<nodes::rest::RestApi> load() {
    tree.write("P/restapi.descriptor",
               "<restapiDescriptor " + attributes + ">" + content + "</restapiDescriptor>");
    tree.write("P/api/a.yaml", document);
    FlowText flow{{"ComIbmWSInput.msgnode", "ComIbmLabel.msgnode"}};
    flow.nodes = node_text(flow.types[0], "i", "In", "URLSpecifier=\"/p*\"") +
                 node_text(flow.types[1], "l", "getA", "labelName=\"getA\"");
    tree.write("P/gen/F.msgflow", flow.str());
    base::Diagnostics diagnostics;
    Workspace workspace;
    add_path(workspace, tree / "P", diagnostics);
    REQUIRE(workspace.containers.size() == 1);
    const std::vector<const Container*> units = {workspace.containers[0].get()};
    FlowSet flows(units, diagnostics);
    nodes::common::ApiDocuments documents(document_reader(units));
    base::NameTable names;
    auto api = load_rest_api(*units[0], flows, documents, names, diagnostics);
    problems = said(diagnostics);
    return api;
  }
};

TEST_CASE("REST API project: descriptor, document and labels") {
  RestProject p;
  auto api = p.load();
  REQUIRE(api);
  CHECK(api->is_for("gen.F"));
  CHECK(api->options().document_name == "a.yaml");
  CHECK(api->options().implemented == std::set<std::string>{"getA"});
  CHECK_FALSE(api->options().validates_requests);
  // The pattern is wrong, but nobody asks for it.
  CHECK(p.problems.find("warning: MS1125") != std::string::npos);
}

TEST_CASE("REST API project: validation makes what cannot be checked an error") {
  RestProject p;
  p.content +=
      "<validations><validation type=\"INPUT\" allowUnexpectedBody=\"true\"/>"
      "<validation type=\"OUTPUT\" onlyValidate2xx=\"true\"/></validations>";
  auto api = p.load();
  REQUIRE(api);
  CHECK(api->options().validates_requests);
  CHECK(api->options().validates_replies);
  CHECK(api->options().allows_unexpected_body);
  CHECK(api->options().only_validates_2xx);
  CHECK(p.problems.find("error: MS1125") != std::string::npos);
}

TEST_CASE("REST API project: what it says of its HTTPInput nodes") {
  RestProject p;
  p.attributes += " faultFormat=\"HTML\"";
  auto api = p.load();
  REQUIRE(api);
  flow::FlowDefinition definition;
  definition.name = "gen.F";
  for (const char* format : {"", "JSON"}) {
    definition.nodes.emplace_back().type = "ComIbmWSInput";
    flow::PropertySet& set = definition.nodes.back().properties;
    if (*format) set.set("faultFormat", {format, {}, "flow"});
  }
  apply_rest_api(*api, definition);
  CHECK(definition.nodes[0].properties.find("faultFormat")->value == "HTML");
  CHECK(definition.nodes[1].properties.find("faultFormat")->value == "JSON");
  CHECK_FALSE(api->validates_requests());
  definition.nodes[1].properties.set("validateMaster", {"contentAndValue", {}, "BAR override"});
  definition.name = "Other";
  apply_rest_api(*api, definition);
  CHECK_FALSE(api->validates_requests());
  definition.name = "gen.F";
  apply_rest_api(*api, definition);
  CHECK(api->validates_requests());
  CHECK(definition.nodes[1].properties.find("validateMaster")->value == "none");
}

TEST_CASE("REST API project: files that the document refers to") {
  auto load = [](const std::string& reference, const std::string& content) {
    RestProject p;
    p.tree.write("P/common.yaml", content);
    p.tree.write("secret.yaml", "P: {name: p, in: query}\n");
    p.document =
        "openapi: 3.0.0\npaths:\n  /a:\n    get:\n      operationId: getA\n"
        "      parameters: [{$ref: '" +
        reference + "'}]\n";
    auto api = p.load();
    return std::pair(api, p.problems);
  };
  auto [api, problems] = load("../common.yaml#/P", "P: {name: p, in: query}\n");
  REQUIRE(api);
  CHECK(problems == "");
  CHECK(api->document().find_operation("getA")->find_parameter("p"));
  CHECK(api->document().files().size() == 2);
  CHECK(api->document().files()[1]->path == "common.yaml");
  for (const char* reference : {"../../secret.yaml#/P", "../none.yaml#/P", "https://a.example/P"}) {
    CAPTURE(reference);
    auto [none, told] = load(reference, "");
    CHECK(!none);
    CHECK(told.find("a.yaml:6:") != std::string::npos);
    CHECK(told.find("MS1122") != std::string::npos);
  }
  // What is wrong in the other file is told of that file.
  CHECK(load("../common.yaml#/P", "P: {name: p, in: nowhere}\n").second.find("common.yaml:1:") !=
        std::string::npos);
}

TEST_CASE("REST API project: a library's document keeps to the files of its library") {
  TempTree tree;
  for (const char* name : {"A", "B"}) {
    const std::string folder = name;
    tree.write(folder + "/.project",
               "<projectDescription><name>" + folder + "</name><natures/></projectDescription>");
    tree.write(folder + "/common.yaml", "P: {name: of" + folder + ", in: query}\n");
  }
  tree.write("B/api.yaml",
             "openapi: 3.0.0\npaths: {/a: {get: {operationId: a, parameters: [{$ref: "
             "'common.yaml#/P'}]}}}\n");
  Container a, b;
  for (auto [container, folder] : {std::pair(&a, "A"), std::pair(&b, "B")}) {
    for (const char* file : {"common.yaml", "api.yaml"}) {
      const std::string path = tree / (std::string(folder) + "/" + file);
      if (io::path_kind(path) == io::PathKind::kFile) container->resources.emplace_back(file, path);
    }
  }
  nodes::common::ApiDocuments documents(document_reader({&a, &b}));
  auto document = documents.find("{B}/api.yaml");
  REQUIRE(document.ok());
  CHECK(document.value()->operations()[0].parameters[0].name == "ofB");
}

TEST_CASE("REST API project: what is not checked is told when checking is asked for") {
  for (bool is_checked : {false, true}) {
    RestProject p;
    p.document =
        "openapi: 3.0.0\npaths:\n  /a:\n    get:\n      operationId: getA\n      requestBody:\n"
        "        content: {text/csv: {schema: {type: array}}}\n";
    if (is_checked) p.content += "<validations><validation type=\"INPUT\"/></validations>";
    REQUIRE(p.load());
    CHECK((p.problems.find("warning: MS1129") != std::string::npos) == is_checked);
  }
}

TEST_CASE("REST API project: what is wrong, and where") {
  auto problem = [](const std::function<void(RestProject&)>& change) {
    RestProject p;
    change(p);
    p.load();
    return p.problems;
  };
  const std::string no_file = problem([](RestProject& p) {
    p.attributes = "implementation=\"gen/F.msgflow\" definitionFile=\"b\"";
  });
  CHECK(no_file.find("restapi.descriptor:1:") != std::string::npos);
  CHECK(no_file.find("MS1897") != std::string::npos);
  CHECK(problem([](RestProject& p) {
          p.attributes = "definitionFile=\"api/a.yaml\"";
        }).find("MS1896") != std::string::npos);
  CHECK(problem([](RestProject& p) { p.document = "swagger: 1.2\npaths: {}\n"; }).find("MS1120") !=
        std::string::npos);
  CHECK(problem([](RestProject& p) {
          p.content =
              "<operations><operation name=\"b\" implementation=\"b.subflow\"/></operations>";
        }).find("warning: MS1898") != std::string::npos);
  CHECK(problem([](RestProject& p) {
          p.content = "<validations><validation type=\"BOTH\"/></validations>";
        }).find("MS1899") != std::string::npos);
}

}  // namespace
}  // namespace millstream::ace
