#include "model/openapi.h"

#include <doctest/doctest.h>

namespace millstream::model {
namespace {

std::shared_ptr<const ApiDocument> must_load(const std::string& text) {
  auto document = ApiDocument::parse(text, "api.yaml");
  if (!document.ok()) MESSAGE(document.error().describe());
  REQUIRE(document.ok());
  return document.value();
}

std::string error_of(const std::string& text) {
  auto document = ApiDocument::parse(text, "api.yaml");
  return document.ok() ? "" : document.error().describe();
}

constexpr const char* kOrders = R"(openapi: 3.0.3
info: {title: Orders, version: 1.10}
servers:
  - url: https://{host}:8443/orders/v1/
    variables: {host: {default: api.example}}
paths:
  /orders:
    parameters:
      - $ref: '#/components/parameters/Page'
    get:
      operationId: listOrders
      parameters:
        - {name: page, in: query, schema: {type: string}}
      responses:
        '200':
          description: All
          headers: {X-Total: {required: true, schema: {type: integer}}}
          content:
            application/json:
              schema: {type: array, items: {$ref: '#/components/schemas/Order'}}
        4XX: {$ref: '#/components/responses/Problem'}
        default: {description: Else}
    post:
      operationId: addOrder
      requestBody: {$ref: '#/components/requestBodies/Order'}
      responses: {201: {description: Made}}
      security: [{key: []}, {user: [], key: []}]
  /orders/{id}:
    get: {operationId: getOrder, responses: {200: {description: One}}}
  /orders/mine:
    get: {operationId: myOrders, responses: {200: {description: Mine}}}
  /files/{name}.{type}:
    get: {operationId: getFile, responses: {200: {description: File}}}
    options: {operationId: fileOptions, responses: {200: {description: Options}}}
  /:
    get: {responses: {200: {description: Root}}}
components:
  parameters: {Page: {name: page, in: query, required: true, schema: {type: integer}}}
  requestBodies:
    Order: {required: true, content: {application/json; charset=utf-8: {schema: {$ref: '#/components/schemas/Order'}}}}
  responses: {Problem: {description: Wrong, content: {application/problem+json: {}}}}
  schemas: {Order: {type: object, properties: {next: {$ref: '#/components/schemas/Order'}}}}
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
    user: {type: http, scheme: Basic}
)";

TEST_CASE("openapi: what a 3.0 document in YAML says") {
  auto document = must_load(kOrders);
  CHECK(document->is_yaml());
  CHECK(document->title() == "Orders");
  CHECK(document->version() == "1.1");  // YAML reads a number
  CHECK(document->base_url() == "https://api.example:8443/orders/v1");
  CHECK(document->base_path() == "/orders/v1");
  CHECK(document->operations().size() == 7);
  CHECK(document->schema_problems().empty());
  const Operation* list = document->find_operation("listOrders");
  REQUIRE(list);
  // The operation's own parameter wins over that of the path.
  REQUIRE(list->parameters.size() == 1);
  CHECK(!list->parameters[0].is_required);
  CHECK(list->find_reply(200)->headers.size() == 1);
  CHECK(list->find_reply(404)->description == "Wrong");
  CHECK(list->find_reply(500)->status == "default");
  const Operation* add = document->find_operation("addOrder");
  REQUIRE(add->body);
  CHECK(add->body->is_required);
  CHECK(find_media_type(add->body->media_types, "Application/JSON; x=y"));
  CHECK(!find_media_type(add->body->media_types, "text/xml"));
  CHECK(add->security.size() == 2);
  CHECK(document->find_security_scheme("user")->kind == SecurityScheme::Kind::kBasic);
  CHECK(document->find_security_scheme("key")->parameter == "X-Key");
  // A parameter of the path that nobody declares is text.
  CHECK(document->find_operation("getOrder")->find_parameter("id")->place == ParameterPlace::kPath);
}

TEST_CASE("openapi: the most specific path wins, and only its methods count") {
  auto document = must_load(kOrders);
  auto id = [&](std::string_view method, std::string_view path) {
    const PathMatch m = document->match(method, path);
    return m.operation ? m.operation->id : m.has_path ? "405 " + m.allow : std::string("404");
  };
  CHECK(id("GET", "/orders/mine") == "myOrders");
  CHECK(id("GET", "/orders/m") == "getOrder");
  CHECK(id("DELETE", "/orders/mine") == "405 GET, HEAD");
  CHECK(id("GET", "/orders/") == "listOrders");
  CHECK(id("HEAD", "/orders") == "listOrders");
  CHECK(id("POST", "/orders") == "addOrder");
  CHECK(id("GET", "/orders//x") == "404");
  CHECK(id("GET", "/orders/1/2") == "404");
  CHECK(id("GET", "/order%73") == "listOrders");
  CHECK(id("GET", "") == "GET /");
  CHECK(id("GET", "/files/a.b.c") == "getFile");
  CHECK(id("GET", "/files/.c") == "404");
  CHECK(id("OPTIONS", "/files/a.c") == "fileOptions");
  CHECK(id("OPTIONS", "/orders") == "405 GET, POST, HEAD");
  const PathMatch file = document->match("GET", "/files/a.b.c");
  REQUIRE(file.parameters.size() == 2);
  CHECK(file.parameters[0].second == "a.b");
  CHECK(file.parameters[1].second == "c");
  CHECK(document->match("GET", "/orders/a%2Fb").parameters[0].second == "a%2Fb");
}

TEST_CASE("openapi: the order of the file does not matter to which path wins") {
  std::string paths;
  for (const char* path : {"/a/{x}", "/b", "/a", "/c/{x}/{y}", "/d", "/a/b/{x}", "/e", "/{x}", "/f",
                           "/a/b/c", "/a/{x}/c", "/g", "/a/b"}) {
    paths += (paths.empty() ? "" : ",") + std::string("\"") + path + R"(":{"get":{}})";
  }
  auto document = must_load(R"({"openapi":"3.0.0","paths":{)" + paths + "}}");
  auto path_of = [&](std::string_view path) {
    return document->match("GET", path).operation->path;
  };
  CHECK(path_of("/a/b") == "/a/b");
  CHECK(path_of("/a/z") == "/a/{x}");
  CHECK(path_of("/a/b/c") == "/a/b/c");
  CHECK(path_of("/a/b/z") == "/a/b/{x}");
  CHECK(path_of("/a/z/c") == "/a/{x}/c");
  CHECK(path_of("/g") == "/g");
  CHECK(path_of("/z") == "/{x}");
}

TEST_CASE("openapi: a path of many parts cannot be made to try for ever") {
  auto document = must_load(R"({"openapi":"3.0.0","paths":{
      "/{a}-{b}-{c}-{d}-{e}-{f}-{g}x":{"get":{"responses":{}}}}})");
  const std::string path = "/" + std::string(8000, '-');
  CHECK(!document->match("GET", path).has_path);
}

TEST_CASE("openapi: Swagger 2.0") {
  auto document = must_load(R"({"swagger":"2.0","info":{"title":"Pets","version":"1"},
      "host":"pets.example:81","basePath":"/v2","schemes":["https","http"],
      "consumes":["application/json","text/xml"],
      "paths":{"/pets/{id}":{"put":{"operationId":"putPet","produces":["text/plain"],
        "parameters":[{"name":"id","in":"path","required":true,"type":"integer","format":"int64"},
          {"name":"tags","in":"query","type":"array","items":{"type":"string"},
           "collectionFormat":"pipes"},
          {"name":"b","in":"body","required":true,"schema":{"$ref":"#/definitions/Pet"}}],
        "responses":{"200":{"description":"ok","schema":{"type":"string"}}}},
      "post":{"parameters":[{"name":"f","in":"formData","type":"file","required":true}],
        "responses":{"default":{"description":"x"}}}}},
      "definitions":{"Pet":{"type":"object"}},
      "securityDefinitions":{"o":{"type":"oauth2"}}})");
  CHECK(document->base_url() == "https://pets.example:81/v2");
  const Operation* put = document->find_operation("putPet");
  REQUIRE(put);
  CHECK(put->parameters.size() == 2);
  CHECK(possible_types(*put->find_parameter("id")->schema) == kTypeInteger);
  CHECK(put->find_parameter("tags")->style == ParameterStyle::kPipeDelimited);
  REQUIRE(put->body);
  CHECK(put->body->media_types.size() == 2);
  CHECK(put->body->media_types[1].name == "text/xml");
  CHECK(put->replies[0].media_types[0].name == "text/plain");
  const Operation* post = document->find_operation("POST /pets/{id}");
  REQUIRE(post);
  CHECK(!post->has_id);
  CHECK(post->body->is_required);
  CHECK(document->find_security_scheme("o")->kind == SecurityScheme::Kind::kBearer);
}

TEST_CASE("openapi: documents that cannot be used are refused with the place") {
  CHECK(error_of("{}").find("neither") != std::string::npos);
  CHECK(error_of("a: [").find("api.yaml:") != std::string::npos);
  CHECK(error_of("openapi: 3.0.0\ninfo: {}").find("no \"paths\"") != std::string::npos);
  CHECK(error_of("openapi: 3.0.0\npaths: {a: {get: {}}}").find("begins with /") !=
        std::string::npos);
  CHECK(error_of(R"({"openapi":"3.0.0","paths":{"/a{":{"get":{}}}})").find("brace") !=
        std::string::npos);
  CHECK(error_of(
            "openapi: 3.0.0\npaths:\n  /a:\n    get: {operationId: x}\n    put: {operationId: x}")
            .find("used before, at #/paths/~1a/get") != std::string::npos);
  CHECK(error_of("openapi: 3.0.0\npaths: {'/{a}': {get: {}}, '/{b}': {get: {}}}")
            .find("same requests") != std::string::npos);
  CHECK(
      error_of("openapi: 3.0.0\npaths: {/a: {get: {parameters: [{$ref: '#/x'}]}}}").find("'#/x'") !=
      std::string::npos);
  CHECK(error_of("openapi: 3.0.0\npaths: {/a: {get: {parameters: [{name: a, in: body}]}}}")
            .find("none of") != std::string::npos);
  CHECK(error_of("openapi: 3.0.0\npaths: {/a: {get: {parameters: [{name: a, in: query, style: "
                 "matrix}]}}}")
            .find("style") != std::string::npos);
}

TEST_CASE("openapi: limits") {
  std::string parameters;
  for (size_t i = 0; i <= ApiDocument::kParametersMax; ++i) {
    parameters +=
        (i ? "," : "") + std::string(R"({"in":"query","name":"p)") + std::to_string(i) + "\"}";
  }
  CHECK(
      error_of(R"({"openapi":"3.0.0","paths":{"/a":{"get":{"parameters":[)" + parameters + "]}}}}")
          .find("more than 500 parameters") != std::string::npos);
  std::string path;
  for (size_t i = 0; i <= ApiDocument::kPathPiecesMax; ++i) path += "/a";
  CHECK(error_of(R"({"openapi":"3.0.0","paths":{")" + path + R"(":{"get":{}}}})").find("parts") !=
        std::string::npos);
}

TEST_CASE("openapi: scalars of YAML") {
  auto v =
      yaml_to_json("{a: 1, b: 1.5, c: true, d: '1', e: ~, f: 1e3, g: 0x10, h: 1.2.3, i: no}", "y");
  REQUIRE(v.ok());
  CHECK(json::write(v.value()) ==
        R"({"a":1,"b":1.5,"c":true,"d":"1","e":null,"f":1000.0,"g":16,"h":"1.2.3","i":"no"})");
}

}  // namespace
}  // namespace millstream::model
