// References into other files: what is followed, what is refused, and the one document made of all.
#include "model/references.h"

#include <doctest/doctest.h>

#include <map>

#include "model/errors_gen.h"
#include "model/openapi.h"

namespace millstream::model {
namespace {

using Files = std::map<std::string, std::string>;

Result<std::shared_ptr<const ApiDocument>> load_files(const Files& files, const std::string& path) {
  DocumentFile document;
  document.path = path;
  document.name = "P/" + path;
  document.text = files.at(path);
  return ApiDocument::load(std::move(document),
                           [files](const std::string& wanted) -> Result<ProjectFile> {
                             auto it = files.find(wanted);
                             if (it != files.end()) return ProjectFile{it->second, "P/" + wanted};
                             return base::make_error(errors::kNotAnApiDocument, {"missing"});
                           });
}

std::shared_ptr<const ApiDocument> must_load_files(const Files& files, const std::string& path) {
  auto document = load_files(files, path);
  if (!document.ok()) MESSAGE(document.error().describe());
  REQUIRE(document.ok());
  return document.value();
}

const Files kShop = {
    {"api/shop.yaml", R"(openapi: 3.0.3
info: {title: Shop, version: '1'}
paths:
  /orders/{id}: {$ref: 'paths/order.yaml'}
  /orders:
    post:
      operationId: addOrder
      parameters: [{$ref: '../common.yaml#/components/parameters/Trace'}]
      requestBody: {$ref: '../common.yaml#/components/requestBodies/Order'}
      responses:
        '201': {$ref: '../common.yaml#/components/responses/Order'}
components:
  schemas:
    Customer: {type: string, maxLength: 3}
    Unused: {$ref: '../models/unused.json'}
)"},
    {"api/paths/order.yaml", R"(get:
  operationId: getOrder
  parameters:
    - {name: id, in: path, required: true, schema: {$ref: '../../models/order.json#/properties/id'}}
  responses:
    200: {$ref: '../../common.yaml#/components/responses/Order'}
)"},
    {"common.yaml", R"(components:
  parameters: {Trace: {name: X-Trace, in: header, required: true, schema: {type: integer}}}
  requestBodies:
    Order: {content: {application/json: {schema: {$ref: 'models/order.json'}}}}
  responses:
    Order:
      description: It
      headers: {X-Seen: {$ref: '#/components/headers/Seen'}}
      content: {application/json: {schema: {$ref: './models/order.json#'}}}
  headers: {Seen: {required: true, schema: {type: string}}}
  schemas: {Customer: {type: object}}
)"},
    {"models/order.json", R"({"type": "object", "required": ["id"],
 "properties": {"id": {"type": "integer"},
  "customer": {"$ref": "../api/shop.yaml#/components/schemas/Customer"},
  "buyer": {"$ref": "../common.yaml#/components/schemas/Customer"},
  "next": {"$ref": "#"}, "$ref": {"type": "string"}},
 "example": {"$ref": "nowhere.json"}})"},
    {"models/unused.json", R"({"type": "boolean"})"},
};

TEST_CASE("references: other files, in every place, JSON and YAML, in circles") {
  auto document = must_load_files(kShop, "api/shop.yaml");
  for (const auto& p : document->schema_problems()) MESSAGE(p->describe());
  CHECK(document->schema_problems().empty());
  const Operation* add = document->find_operation("addOrder");
  REQUIRE(add);
  REQUIRE(add->parameters.size() == 1);
  CHECK(add->parameters[0].name == "X-Trace");
  CHECK(add->parameters[0].source.text() == "common.yaml:2");
  REQUIRE(add->body);
  const Schema* order = add->body->media_types[0].schema;
  CHECK(order->pointer == "models/order.json#");
  // The same schema by another way, and by itself.
  CHECK(add->replies[0].media_types[0].schema == order);
  CHECK(order->find_property("next") == order);
  CHECK(order->find_property("customer")->pointer == "#/components/schemas/Customer");
  CHECK(order->find_property("buyer")->pointer == "common.yaml#/components/schemas/Customer");
  CHECK(add->replies[0].headers[0].is_required);
  const Operation* get = document->find_operation("getOrder");
  REQUIRE(get);
  CHECK(get->source.text() == "api/paths/order.yaml:2");
  CHECK(possible_types(*get->find_parameter("id")->schema) == kTypeInteger);
  CHECK(document->match("GET", "/orders/7").operation == get);
  const auto problems = validate(*order, json::parse(R"({"id":1,"customer":"long"})", {}).value());
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].place == "/customer");
  CHECK(problems[0].source.text() == "api/shop.yaml:14");
}

TEST_CASE("references: one document of all files") {
  auto document = must_load_files(kShop, "api/shop.yaml");
  CHECK(document->warnings().empty());
  CHECK(document->files().size() == 5);  // the unused one too: a client may look at it
  const std::string text = json::write(document->bundled_root());
  for (const char* path : {"models/", "common.yaml", "paths/order"}) {
    CAPTURE(path);
    CHECK(text.find(path) == std::string::npos);
  }
  CHECK(text.find("nowhere.json") != std::string::npos);  // an example is left alone
  // It stands alone and says the same.
  auto again = ApiDocument::parse(text, "bundle.json");
  if (!again.ok()) MESSAGE(again.error().describe());
  REQUIRE(again.ok());
  CHECK(again.value()->schema_problems().empty());
  CHECK(again.value()->files().size() == 1);
  REQUIRE(again.value()->operations().size() == 2);
  const Schema* order = again.value()->find_operation("addOrder")->body->media_types[0].schema;
  CHECK(order->pointer == "#/components/schemas/order");
  CHECK(order->find_property("next") == order);
  CHECK(order->find_property("customer")->max_length == 3);
  // Two schemas of one name, of different files.
  CHECK(order->find_property("buyer")->pointer == "#/components/schemas/Customer_2");
  CHECK(possible_types(*order->find_property("$ref")) == kTypeString);
  CHECK(again.value()->find_operation("getOrder")->parameters.size() == 1);
}

TEST_CASE("references: Swagger 2.0, and mappings of discriminators") {
  const Files files = {{"pets.json", R"({"swagger":"2.0","paths":{"/pets":{
        "$ref":"parts.yaml#/pets","get":{"operationId":"own","responses":{"200":{"description":"x"}}}}}})"},
                       {"parts.yaml", R"(pets:
  get: {operationId: hidden}
  put:
    operationId: putPet
    parameters:
      - {$ref: '#/parameters/Kind'}
      - {name: body, in: body, schema: {$ref: 'pet.json#/definitions/Pet'}}
    responses: {200: {$ref: '#/responses/Pet'}}
parameters: {Kind: {name: kind, in: query, type: integer}}
responses: {Pet: {description: It, schema: {$ref: 'pet.json#/definitions/Pet'}}}
)"},
                       {"pet.json", R"({"definitions":{"Pet":{"type":"object"}}})"}};
  auto document = must_load_files(files, "pets.json");
  CHECK(document->find_operation("own"));
  CHECK(!document->find_operation("hidden"));
  const Operation* put = document->find_operation("putPet");
  REQUIRE(put);
  CHECK(put->parameters.size() == 1);
  CHECK(put->body->media_types[0].schema == put->replies[0].media_types[0].schema);
  const json::Value& root = document->bundled_root();
  CHECK(root.get("definitions").find("Pet"));
  CHECK(root.get("parameters").find("Kind"));
  CHECK(root.get("responses").find("Pet"));
  CHECK(root.get("paths").get("/pets").get("get").get("operationId").as_string() == "own");
  REQUIRE(ApiDocument::parse(json::write(root), "b.json").ok());

  const Files mapped = {{"a.yaml", R"(openapi: 3.0.0
paths:
  /a: {post: {operationId: a, requestBody: {content: {application/json: {schema: {$ref: 'b.yaml#/components/schemas/Pet'}}}}}}
)"},
                        {"b.yaml", R"(components:
  schemas:
    Pet:
      oneOf: [{$ref: '#/components/schemas/Dog'}, {$ref: 'cat.json'}]
      discriminator: {propertyName: kind, mapping: {d: Dog, c: cat.json}}
    Dog: {required: [bark]}
)"},
                        {"cat.json", R"({"required":["meow"]})"}};
  for (int i = 0; i < 2; ++i) {
    auto first = must_load_files(mapped, "a.yaml");
    std::shared_ptr<const ApiDocument> pets = first;
    if (i == 1) {
      pets = ApiDocument::parse(json::write(first->bundled_root()), "bundle.json").value();
    }
    const Schema* pet = pets->find_operation("a")->body->media_types[0].schema;
    auto problem = [&](const char* text) {
      const auto found = validate(*pet, json::parse(text, {}).value());
      return found.empty() ? "" : found[0].text;
    };
    CHECK(problem(R"({"kind":"d"})") == "must have the member bark");
    CHECK(problem(R"({"kind":"c"})") == "must have the member meow");
    CHECK(problem(R"({"kind":"c","meow":1})") == "");
  }
}

std::string problem_of_reference(const std::string& reference,
                                 const std::string& path = "api/a.yaml") {
  const Files files = {
      {path, "openapi: 3.0.0\npaths:\n  /a:\n    get:\n      parameters:\n        - $ref: '" +
                 reference + "'\n"},
      {"b.yaml", "P: {name: p, in: query}\nloop: {$ref: 'c.yaml#/loop'}\n"},
      {"c.yaml", "loop: {$ref: 'b.yaml#/loop'}\n"},
      {"bad.yaml", "a: ["},
      {"..", "{}"}};
  auto document = load_files(files, path);
  return document.ok() ? "" : document.error().describe();
}

TEST_CASE("references: nothing outside the project is read") {
  CHECK(problem_of_reference("../b.yaml#/P") == "");
  CHECK(problem_of_reference("./../api/.././b.yaml#/P") == "");
  CHECK(problem_of_reference("b.yaml#/P", "a.yaml") == "");
  for (const char* reference : {"../../b.yaml#/P", "../../etc/passwd", "../..",
                                "x/../../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd"}) {
    CAPTURE(reference);
    const std::string problem = problem_of_reference(reference);
    CHECK(problem.find("it leads out of the project") != std::string::npos);
    CHECK(problem.find("P/api/a.yaml:6:") != std::string::npos);
    CHECK(problem.find("MS1122") != std::string::npos);
  }
  CHECK(problem_of_reference("/etc/passwd").find("absolute") != std::string::npos);
  for (const char* reference : {"http://a.example/b.yaml#/P", "file:///etc/passwd", "//a.example/x",
                                "C:/b.yaml", "urn:x"}) {
    CAPTURE(reference);
    CHECK(problem_of_reference(reference).find("nothing from a URL") != std::string::npos);
  }
  for (const char* reference : {"..\\\\b.yaml", "..%2f..%2fetc", "a%00b", "..%5cb.yaml"}) {
    CAPTURE(reference);
    CHECK(problem_of_reference(reference).find("a character that no file") != std::string::npos);
  }
  CHECK(problem_of_reference("../").find("names a folder") != std::string::npos);
  CHECK(problem_of_reference("../gone.yaml#/P").find("cannot be read") != std::string::npos);
  CHECK(problem_of_reference("../b.yaml#/Q").find("nothing at this place") != std::string::npos);
  CHECK(problem_of_reference("../b.yaml#P").find("JSON pointers") != std::string::npos);
  CHECK(problem_of_reference("../b.yaml#/loop").find("leads back to itself") != std::string::npos);
  CHECK(problem_of_reference("../bad.yaml#/P").find("P/bad.yaml:") != std::string::npos);
  // In a schema it only matters when values are to be checked.
  auto document = must_load_files(
      {{"a.yaml",
        "openapi: 3.0.0\npaths:\n  /a:\n    post:\n      requestBody:\n        content:\n"
        "          application/json:\n            schema: {$ref: 'https://a.example/s.json'}\n"}},
      "a.yaml");
  REQUIRE(document->schema_problems().size() == 1);
  CHECK(document->schema_problems()[0]->position.line == 8);
}

TEST_CASE("references: limits") {
  Files many = {{"a.yaml", "openapi: 3.0.0\npaths: {}\ncomponents:\n  schemas:\n"}};
  for (size_t i = 0; i <= References::kFilesMax; ++i) {
    const std::string name = std::to_string(i);
    many["a.yaml"] += "    S" + name + ": {$ref: 'm" + name + ".json'}\n";
    many["m" + name + ".json"] = "{}";
  }
  auto first_warning = [](const Files& files) {
    auto document = must_load_files(files, "a.yaml");
    return document->warnings().empty() ? "" : document->warnings()[0]->text;
  };
  CHECK(first_warning(many).find("more than 500 other files") != std::string::npos);
  Files deep = {
      {"a.yaml", "openapi: 3.0.0\npaths: {}\ncomponents: {schemas: {A: {$ref: 'm0.json'}}}\n"}};
  for (int i = 0; i <= References::kFileDepthMax; ++i) {
    deep["m" + std::to_string(i) + ".json"] =
        R"({"properties":{"a":{"$ref":"m)" + std::to_string(i + 1) + R"(.json"}}})";
  }
  CHECK(first_warning(deep).find("in a row") != std::string::npos);
  Files large = {
      {"a.yaml", "openapi: 3.0.0\npaths: {}\ncomponents: {schemas: {A: {$ref: 'm.json'}}}\n"},
      {"m.json", "{}" + std::string(References::kBytesMax, ' ')}};
  CHECK(first_warning(large).find("bytes in the files") != std::string::npos);
  // Parts of parts, each of them a target: the copies would be many times the file.
  Files nested = {{"a.yaml", "openapi: 3.0.0\npaths: {}\ncomponents:\n  schemas:\n"},
                  {"m.json", ""}};
  std::string open;
  std::string pointer = "m.json#";
  constexpr int kLevels = 95;
  for (int i = 0; i < kLevels; ++i) {
    nested["a.yaml"] += "    S" + std::to_string(i) + ": {$ref: '" + pointer + "'}\n";
    pointer += "/not";
    open += R"({"not":)";
  }
  std::string wide = R"({"enum":[)";
  for (int i = 0; i < 25'000; ++i) wide += "1,";
  nested["m.json"] = open + wide + "1]}" + std::string(kLevels, '}');
  auto document = load_files(nested, "a.yaml");
  REQUIRE(!document.ok());
  CHECK(document.error().text.find("values together") != std::string::npos);
}

}  // namespace
}  // namespace millstream::model
