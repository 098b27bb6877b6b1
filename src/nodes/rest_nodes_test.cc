// The gate of a REST API and the request nodes, without a network; tests/rest drives them over one.
#include "base/json_value.h"
#include "nodes/node_test_support.h"
#include "nodes/rest/rest_api.h"
#include "nodes/rest/rest_call.h"

namespace millstream::nodes {
namespace {

using rest::RestApi;
using test::NodeFixture;

constexpr const char* kPets =
    R"({"openapi":"3.0.0","info":{"title":"Pets & \"more\"","version":"1"},
  "servers":[{"url":"https://pets.example/v1"}],"paths":{"/pets/{id}":{
    "get":{"operationId":"getPet","summary":"<one>",
      "responses":{"200":{"description":"A pet","headers":{"X-Seen":{"required":true}},
        "content":{"application/json":{"schema":{"required":["name"]}}}},
        "4XX":{"description":"Wrong"}}}}}})";

std::shared_ptr<RestApi> make_api(bool validates, bool only_2xx) {
  auto document = model::ApiDocument::parse(kPets, "pets.json");
  REQUIRE(document.ok());
  rest::RestApiOptions options;
  options.flow_name = "gen.Pets";
  options.document_name = "pets.json";
  options.implemented = {"getPet"};
  options.validates_replies = validates;
  options.only_validates_2xx = only_2xx;
  base::NameTable names;
  return RestApi::create(document.value(), std::move(options), names);
}

std::string problem_of(const RestApi& api, int status, std::string_view type, std::string body,
                       bool has_header = true) {
  millstream::http::Response response;
  response.status = status;
  if (!type.empty()) response.headers.add("Content-Type", type);
  if (has_header) response.headers.add("x-seen", "1");
  response.body = std::move(body);
  Status found = api.check_reply(*api.document().find_operation("getPet"), response);
  return found.ok() ? "" : found.error().text;
}

TEST_CASE("REST API: which flow it is for") {
  auto api = make_api(false, false);
  CHECK(api->is_for("gen.Pets"));
  CHECK_FALSE(api->is_for("gen.Pets2"));
}

TEST_CASE("REST API: replies that are not as promised") {
  auto api = make_api(true, false);
  const char* json = "application/json; charset=utf-8";
  CHECK(problem_of(*api, 200, json, R"({"name":"Rex"})") == "");
  CHECK(problem_of(*api, 200, json, "").empty());
  CHECK(problem_of(*api, 200, json, "{}").find("must have the member name") != std::string::npos);
  CHECK(problem_of(*api, 200, json, "{").find("not JSON") != std::string::npos);
  CHECK(problem_of(*api, 200, "text/xml", "<a/>").find("media type text/xml") != std::string::npos);
  CHECK(problem_of(*api, 200, json, R"({"name":1})", false).find("header X-Seen is missing") !=
        std::string::npos);
  CHECK(problem_of(*api, 500, json, "{}").find("status 500 is not described") != std::string::npos);
  CHECK(problem_of(*api, 404, "text/plain", "gone") == "");
  CHECK(problem_of(*make_api(true, true), 500, json, "x") == "");
  CHECK(problem_of(*make_api(false, false), 200, json, "x") == "");
}

TEST_CASE("REST API: replies in XML and with headers that are not as promised") {
  auto document = model::ApiDocument::parse(R"(openapi: 3.0.0
paths:
  /a:
    get:
      operationId: getPet
      responses:
        200:
          description: It
          headers: {X-Count: {schema: {type: array, items: {type: integer}}}}
          content:
            application/xml: {schema: {type: object, required: [a], xml: {name: r}, properties: {a: {type: integer}}}}
)",
                                            "pets.yaml");
  REQUIRE(document.ok());
  rest::RestApiOptions options;
  options.validates_replies = true;
  base::NameTable names;
  auto api = RestApi::create(document.value(), std::move(options), names);
  auto problem = [&](std::string body, const char* count = "1, 2") {
    millstream::http::Response response;
    response.status = 200;
    response.headers.add("Content-Type", "application/xml");
    response.headers.add("X-Count", count);
    response.body = std::move(body);
    Status found = api->check_reply(document.value()->operations()[0], response);
    return found.ok() ? "" : found.error().text;
  };
  CHECK(problem("<r><a>1</a></r>") == "");
  CHECK(problem("<r><a>1</a></r>", "1,1e1").find("header X-Count/1 must be of type integer") !=
        std::string::npos);
  const std::string told = problem("<r><a>x</a></r>");
  CHECK(told.find("'getPet'") != std::string::npos);
  CHECK(told.find("body/a must be of type integer, not \"x\" (pets.yaml:11)") != std::string::npos);
  CHECK(problem("<r").find("body is not XML") != std::string::npos);
}

TEST_CASE("REST API: the document as served, and the page about it") {
  auto api = make_api(false, false);
  const std::string text = rest::served_document(api->document(), "/here", "h:1");
  auto served = base::json::parse(text, {});
  REQUIRE(served.ok());
  CHECK(base::json::write(served.value().get("servers")) == R"([{"url":"/here"}])");
  CHECK(served.value().get("paths") == api->document().root().get("paths"));
  const std::string page = rest::documentation_page(api->document(), "/here", "pets.json");
  CHECK(page.find("<title>Pets &amp; &quot;more&quot;</title>") != std::string::npos);
  CHECK(page.find("&lt;one&gt;") != std::string::npos);
  CHECK(page.find("href=\"/here/pets.json\"") != std::string::npos);
  CHECK(page.find("getPet") != std::string::npos);
}

// Problems of a RESTRequest node with these properties, as "line code".
std::string problems_with(const test::TestProperties& properties,
                          const std::map<std::string, std::string, std::less<>>& row = {}) {
  NodeFixture f;
  flow::NodeDefinition& n = f.node("ComIbmRESTRequest", "N", properties);
  if (!row.empty()) n.properties.add_row("parameters", {row, {"F.msgflow", 5, 1}});
  f.wires({"In.out -> N"});
  f.build();
  std::string out;
  for (const base::Diagnostic& d : f.diagnostics.all()) out += d.code + " ";
  return out;
}

TEST_CASE("RESTRequest: what is wrong is found while loading") {
  const test::TestProperties good = {{"definitionFile", "api.json"}, {"operationName", "op"}};
  CHECK(problems_with(good) == "");
  auto with = [&](const char* name, const char* value) {
    test::TestProperties changed = good;
    changed[name] = value;
    return problems_with(changed);
  };
  CHECK(with("operationName", "Op") == "MS1887 ");
  CHECK(with("dataLocation", "Nowhere.X") == "MS1802 ");
  CHECK(with("messageDomainProperty", "MRM") == "MS1801 ");
  CHECK(with("securityIdentity", "nobody") != "");
  CHECK(with("baseURL", "ftp://x/") != "");
  CHECK(problems_with(good, {{"name", "none"}, {"expression", "1"}}) == "MS1888 ");
}

TEST_CASE("RESTRequest: nobody listens") {
  NodeFixture f;
  f.node("ComIbmRESTRequest", "N", {{"definitionFile", "api.json"}, {"operationName", "op"}});
  f.wires({"In.out -> N", "N.out -> Out", "N.failure -> Failed"});
  REQUIRE(f.build());
  const std::string failed = f.run("JSON", "{\"a\":1}");
  CHECK(failed.find("Failed<{\"a\":1}>[2230>1891>3152") == 0);
}

TEST_CASE("RESTAsyncRequest: without the server's table it is an exception") {
  NodeFixture f;
  f.node(
      "ComIbmRESTAsyncRequest", "N",
      {{"definitionFile", "api.json"}, {"operationName", "op"}, {"asyncResponseCorrelator", "a"}});
  f.wires({"In.out -> N", "N.failure -> Failed"});
  REQUIRE(f.build());
  CHECK(f.run("JSON", "{}") == "Failed<{}>[2230>1894]");
}

}  // namespace
}  // namespace millstream::nodes
