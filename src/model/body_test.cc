// XML, forms and text against schemas. What is expected of XML is what the XML object of the
// OpenAPI specification shows in its examples.
#include "model/body.h"

#include <doctest/doctest.h>

namespace millstream::model {
namespace {

std::shared_ptr<const ApiDocument> body_document(const std::string& media_type,
                                                 const std::string& schema,
                                                 const std::string& more = "") {
  auto document = ApiDocument::parse(
      "openapi: 3.0.3\npaths:\n  /a:\n    post:\n      operationId: a\n      requestBody:\n"
      "        content:\n          " +
          media_type + ":\n            schema: " + schema + "\n" + more + R"(
components:
  schemas:
    Tag:
      type: object
      xml: {name: tag}
      properties: {name: {type: string}}
    Pet:
      type: object
      required: [id, name]
      additionalProperties: false
      xml: {name: pet, namespace: 'urn:pets', prefix: p}
      properties:
        id: {type: integer, format: int32, xml: {attribute: true}}
        lang: {type: string, enum: [de, en], xml: {attribute: true, name: language}}
        name: {type: string, maxLength: 5, xml: {namespace: 'urn:names'}}
        price: {type: number, nullable: true}
        sold: {type: boolean}
        born: {type: string, format: date}
        plain: {type: array, items: {type: integer}}
        named: {type: array, items: {type: string, xml: {name: animal}}, xml: {name: ignored}}
        wrapped: {type: array, maxItems: 2, items: {type: string}, xml: {wrapped: true}}
        both: {type: array, items: {type: string, xml: {name: item}}, xml: {wrapped: true, name: items}}
        tags: {type: array, items: {$ref: '#/components/schemas/Tag'}, xml: {wrapped: true}}
        main: {$ref: '#/components/schemas/Tag'}
        parent: {$ref: '#/components/schemas/Pet'}
)",
      "b.yaml");
  if (!document.ok()) MESSAGE(document.error().describe());
  REQUIRE(document.ok());
  for (const auto& p : document.value()->schema_problems()) MESSAGE(p->describe());
  REQUIRE(document.value()->schema_problems().empty());
  return document.value();
}

std::string check_with(const ApiDocument& document, std::string_view body, const BodyLabel& label) {
  const MediaType& type = document.operations()[0].body->media_types[0];
  std::string out;
  for (const SchemaProblem& p : check_body(body, label, type, {.direction = Direction::kRequest})) {
    out += (out.empty() ? "" : "; ") + p.place + " " + p.text;
  }
  return out;
}

std::string pet(const std::string& body, std::string_view charset = {}) {
  static const auto document =
      body_document("application/xml", "{$ref: '#/components/schemas/Pet'}");
  return check_with(*document, body, {"application/xml", charset, {}});
}
std::string pet_of(const std::string& content) {
  return pet("<p:pet xmlns:p='urn:pets' xmlns:n='urn:names' id='1'><n:name>Rex</n:name>" + content +
             "</p:pet>");
}

TEST_CASE("body: XML that fits") {
  CHECK(pet_of("") == "");
  CHECK(pet("<?xml version='1.0'?><!-- c --><pet xmlns='urn:pets' id='1' language='de' "
            "xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:schemaLocation='a b'>"
            "<name xmlns='urn:names'>R&amp;x</name></pet>") == "");
  CHECK(pet_of("<price> 1.5 </price><sold>true</sold><born>2024-02-29</born>") == "");
  CHECK(pet_of("<price xmlns:x='http://www.w3.org/2001/XMLSchema-instance' x:nil='true'/>") == "");
  CHECK(pet_of("<plain>1</plain><plain> 2 </plain><animal>a</animal><animal>b</animal>") == "");
  CHECK(pet_of("<wrapped><wrapped>a</wrapped><wrapped>b</wrapped></wrapped>") == "");
  CHECK(pet_of("<items><item>a</item></items><tags><tag><name>t</name></tag></tags>") == "");
  CHECK(pet_of("<wrapped/><items> </items>") == "");
  // A schema of its own name, where the property has another: tools write either.
  CHECK(pet_of("<main><name>t</name></main>") == "");
  CHECK(pet_of("<tag><name>t</name></tag>") == "");
  CHECK(pet_of("<main><other>open</other></main>") == "");
  CHECK(pet("\xEF\xBB\xBF<pet xmlns='urn:pets' id='1'><name xmlns='urn:names'>a</name></pet>") ==
        "");
}

TEST_CASE("body: XML that does not fit, with the place") {
  struct Case {
    std::string found;
    const char* expected;
  };
  const Case cases[] = {
      {pet("<p:dog xmlns:p='urn:pets'/>"), " must have the root element pet, not dog"},
      {pet("<pet id='1'><n:name xmlns:n='urn:names'>a</n:name></pet>"),
       " must be in the namespace urn:pets"},
      {pet_of("<name>x</name>"),
       "/name must be in the namespace urn:names; /name is there more than once"},
      {pet("<pet xmlns='urn:pets'><id>1</id><name xmlns='urn:names'>a</name></pet>"),
       "/id is not an element that the schema knows"},
      {pet("<pet xmlns='urn:pets' id='x'><name xmlns='urn:names'>a</name></pet>"),
       "/id must be of type integer, not \"x\""},
      {pet("<pet xmlns='urn:pets' id='1e2'><name xmlns='urn:names'>a</name></pet>"),
       "/id must be of type integer, not \"1e2\""},
      {pet("<pet xmlns='urn:pets' id='1' lang='de'><name xmlns='urn:names'>a</name></pet>"),
       "/@lang is not an attribute that the schema knows"},
      {pet("<pet xmlns='urn:pets' id='1' language='fr'><name xmlns='urn:names'>a</name></pet>"),
       "/lang must be one of [\"de\",\"en\"], not \"fr\""},
      {pet("<pet xmlns='urn:pets' id='1'/>"), " must have the member name"},
      {pet("<pet xmlns='urn:pets' id='1'><name xmlns='urn:names'>toolong</name></pet>"),
       "/name must have at most 5 characters, not 7"},
      {pet_of("<price>cheap</price>"), "/price must be of type number, not \"cheap\""},
      {pet_of("<sold>1</sold>"), "/sold must be of type boolean, not \"1\""},
      {pet_of("<born>2023-02-29</born>"), "/born must have the format date, not \"2023-02-29\""},
      {pet_of("<plain>1</plain><plain>x</plain>"), "/plain/1 must be of type integer, not \"x\""},
      {pet_of("<sold>true</sold><sold>true</sold>"), "/sold is there more than once"},
      {pet_of("<ignored>a</ignored>"), "/ignored is not an element that the schema knows"},
      {pet_of("<named>a</named>"), "/named is not an element that the schema knows"},
      {pet_of("<item>a</item>"), "/item is not an element that the schema knows"},
      {pet_of("<items><other>a</other></items>"), "/both/0 must be an element item, not other"},
      {pet_of("<wrapped>a</wrapped>"), "/wrapped must have elements only, no text"},
      {pet_of("<wrapped><a>1</a><a>2</a><a>3</a></wrapped>"),
       "/wrapped must have at most 2 items, not 3"},
      {pet_of("<sold><a/></sold>"), "/sold must have text only, no elements"},
      {pet_of("text"), " must have elements only, no text"},
      {pet_of("<parent xmlns:n='urn:names' id='2'><n:name>toolong</n:name></parent>"),
       "/parent must be in the namespace urn:pets"},
      {pet_of("<p:parent id='2'><n:name>toolong</n:name></p:parent>"),
       "/parent/name must have at most 5 characters, not 7"},
  };
  for (const Case& c : cases) CHECK(c.found == c.expected);
  CHECK(pet("<pet").find("is not XML") != std::string::npos);
  CHECK(pet("").find("is not XML") != std::string::npos);
  CHECK(pet("<x:pet/>").find("not declared") != std::string::npos);
  CHECK(pet("{\"id\":1}").find("is not XML") != std::string::npos);
}

TEST_CASE("body: XML in other encodings, and its limits") {
  const std::string head = "<pet xmlns='urn:pets' id='1'><name xmlns='urn:names'>";
  CHECK(pet(head + "\xE4</name></pet>", "ISO-8859-1") == "");
  CHECK(pet("<?xml version='1.0' encoding='ISO-8859-1'?>" + head +
            "\xE4\xE4\xE4\xE4\xE4</name></pet>") == "");
  CHECK(pet(head + "\xE4</name></pet>").find("is not XML") != std::string::npos);
  CHECK(pet(head + "a</name></pet>", "x-none").find("cannot be read as x-none") !=
        std::string::npos);
  std::string wide = "\xFE\xFF";
  for (char c : head + "a</name></pet>") wide += std::string(1, '\0') + c;
  CHECK(pet(wide) == "");
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "<parent>";
  CHECK(pet_of(deep).find("is not XML") != std::string::npos);
  const std::string bomb =
      "<!DOCTYPE pet [<!ENTITY a '0123456789'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>"
      "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;'><!ENTITY d '&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;'>"
      "<!ENTITY e '&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;'><!ENTITY f '&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;'>"
      "<!ENTITY g '&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;'>]>";
  CHECK(pet(bomb + head + "&g;</name></pet>").find("is not XML") != std::string::npos);
}

TEST_CASE("body: XML lists as the root, alternatives and open objects") {
  auto list = body_document("text/xml", "{type: array, items: {$ref: '#/components/schemas/Tag'}}");
  auto of = [](const ApiDocument& document, std::string_view body) {
    return check_with(document, body, {"text/xml", {}, {}});
  };
  CHECK(of(*list, "<all><tag><name>a</name></tag><tag/></all>") == "");
  CHECK(of(*list, "<all><tag><name><x/></name></tag></all>") ==
        "/0/name must have text only, no elements");
  auto open = body_document("text/xml",
                            "{type: object, required: [a], properties: {a: {type: integer}}, "
                            "additionalProperties: {type: boolean}}");
  CHECK(of(*open, "<any><a>1</a><b>true</b></any>") == "");
  CHECK(of(*open, "<any><b>no</b></any>") ==
        " must have the member a; /b must be of type boolean, not \"no\"");
  auto either =
      body_document("application/soap+xml",
                    "{oneOf: [{type: object, required: [a], properties: {a: {type: integer}}}, "
                    "{type: object, required: [b], properties: {b: {type: integer}}}]}");
  CHECK(of(*either, "<x><b>1</b></x>") == "");
  CHECK(of(*either, "<x><c>1</c></x>") == " fits none of the alternatives");
  auto scalar = body_document("text/xml", "{type: integer, minimum: 5}");
  CHECK(of(*scalar, "<n>7</n>") == "");
  CHECK(of(*scalar, "<n>4</n>") == " must be at least 5, not 4");
}

constexpr const char* kForm =
    "{type: object, required: [id], additionalProperties: false, properties: {id: {type: integer}, "
    "tags: {type: array, items: {type: string, maxLength: 2}}, at: {type: object, properties: "
    "{x: {type: integer}}}, flat: {type: array, items: {type: integer}}, "
    "deep: {type: object, properties: {x: {type: integer}}}, file: {type: string, format: binary, "
    "maxLength: 4}}}";
constexpr const char* kEncodings =
    "            encoding:\n              flat: {style: form, explode: false}\n"
    "              deep: {style: deepObject}\n"
    "              file: {contentType: 'image/png, image/jpeg', headers: {X-Sum: {required: true, "
    "schema: {type: string}}}}";

TEST_CASE("body: application/x-www-form-urlencoded") {
  auto document = body_document("application/x-www-form-urlencoded", kForm, kEncodings);
  auto form = [&](std::string_view body) {
    return check_with(*document, body, {"application/x-www-form-urlencoded", {}, {}});
  };
  CHECK(form("id=1&tags=a&tags=b&flat=1,2&deep%5Bx%5D=1") == "");
  CHECK(form("id=1&at=%7B%22x%22%3A1%7D") == "");
  CHECK(form("id=1&x=1") == "");  // the members of `at` as pairs of their own
  CHECK(form("id=1e2") == "/id must be of type integer, not \"1e2\"");
  CHECK(form("tags=a") == " must have the member id");
  CHECK(form("id=1&tags=abc") == "/tags/0 must have at most 2 characters, not 3");
  CHECK(form("id=1&flat=1,x") == "/flat/1 must be of type integer, not \"x\"");
  CHECK(form("id=1&deep[x]=a") == "/deep/x must be of type integer, not \"a\"");
  CHECK(form("id=1&at=%7B") == "/at is not JSON");
  CHECK(form("id=1&other=1") == "/other is not a member that the schema knows");
  CHECK(form("id=%ff") == "/id is not UTF-8");
  std::string many = "id=1";
  for (size_t i = 0; i < BodyOptions::kFieldsMax; ++i) many += "&tags=a";
  CHECK(form(many) == " has too many fields");
}

std::string part(const std::string& name, const std::string& value, const std::string& more = "") {
  return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"" + more + "\r\n\r\n" +
         value + "\r\n";
}

TEST_CASE("body: multipart/form-data") {
  auto document = body_document("multipart/form-data", kForm, kEncodings);
  auto form = [&](const std::string& body, std::string_view boundary = "b") {
    return check_with(*document, body, {"multipart/form-data", {}, boundary});
  };
  const std::string file_head = "; filename=\"x;\\\"y.png\"\r\nContent-Type: image/png\r\nX-Sum: 1";
  CHECK(form(part("id", "1") + "--b--") == "");
  CHECK(form("a preamble\r\n" + part("id", "1") + part("tags", "a") + part("tags", "b") +
             "--b--\r\n") == "");
  CHECK(form(part("id", "1") + part("at", "{\"x\":1}") + part("flat", "1,2") + "--b--") == "");
  CHECK(form(part("id", "1") + part("file", "\xFF\r\n", file_head) + "--b--") == "");
  CHECK(form(part("id", "1") + part("deep", "<d><x>1</x></d>", "\r\nContent-Type: text/xml") +
             "--b--") == "");
  CHECK(form(part("id", "x") + "--b--") == "/id must be of type integer, not \"x\"");
  CHECK(form(part("tags", "a") + "--b--") == " must have the member id");
  CHECK(form(part("id", "1") + part("id", "2") + "--b--") == "/id is there more than once");
  CHECK(form(part("id", "1") + part("tags", "abc") + "--b--") ==
        "/tags/0 must have at most 2 characters, not 3");
  CHECK(form(part("id", "1") + part("at", "{\"x\":\"a\"}") + "--b--") ==
        "/at/x must be of type integer, not \"a\"");
  CHECK(form(part("id", "1") + part("at", "x") + "--b--").find("/at is not JSON") == 0);
  CHECK(form(part("id", "1") + part("deep", "<d><x>a</x></d>", "\r\nContent-Type: text/xml") +
             "--b--") == "/deep/x must be of type integer, not \"a\"");
  CHECK(form(part("id", "1") + part("other", "2") + "--b--") ==
        "/other is not a member that the schema knows");
  CHECK(form(part("id", "1") + part("file", "1") + "--b--") ==
        "/file must be of the media type image/png, image/jpeg, not text/plain");
  CHECK(form(part("id", "1") + part("file", "1", "\r\nContent-Type: image/jpeg") + "--b--") ==
        "/file must have the header X-Sum");
  CHECK(form(part("id", "1") + part("file", "12345", file_head) + "--b--") ==
        "/file must have at most 4 characters, not 5");
  CHECK(form(part("id", "\xFF") + "--b--") == "/id is not UTF-8");
  CHECK(form(part("id", "1", "\r\nContent-Type: text/plain; charset=utf-16") + "--b--") ==
        "/id is in the charset utf-16, not in UTF-8");
  CHECK(form(part("id", "1")) == " is not multipart: its last boundary is missing");
  CHECK(form("id=1") == " is not multipart: its boundary is missing");
  CHECK(form(part("id", "1") + "--b--", "") == " has no boundary in its Content-Type");
  CHECK(form("--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--") ==
        " has a part that is no form field");
  CHECK(form("--b\r\nno header\r\n\r\nx\r\n--b--") == " has a part that is no form field");
  CHECK(form("--b\r\n--b--") == " has a part that is no form field");
  CHECK(form("--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--") ==
        " has a part that is no form field");
  CHECK(form("--b--") == " must have the member id");
  // An empty name is a name.
  CHECK(form(part("id", "1") + part("", "2") + "--b--") ==
        "/ is not a member that the schema knows");
  auto open = body_document("multipart/form-data", "{type: object, required: ['']}");
  CHECK(check_with(*open, part("", "1") + part("", "2") + "--b--",
                   {"multipart/form-data", {}, "b"}) == "");
  CHECK(check_with(*open, part("a", "1") + "--b--", {"multipart/form-data", {}, "b"}) ==
        " must have the member ");
  std::string many = part("id", "1");
  for (size_t i = 0; i < BodyOptions::kFieldsMax; ++i) many += part("tags", "a");
  CHECK(form(many + "--b--") == " has too many parts");
  CHECK(form("--b\r\nX: " + std::string(BodyOptions::kPartHeadBytesMax, 'x') +
             "\r\n\r\n\r\n--b--") == " has a part that is no form field");
}

TEST_CASE("body: Swagger 2.0's form fields") {
  auto document = ApiDocument::parse(R"({"swagger":"2.0","paths":{"/a":{"post":{
      "consumes":["multipart/form-data","application/x-www-form-urlencoded","application/json"],
      "parameters":[{"name":"id","in":"formData","required":true,"type":"integer","maximum":9},
        {"name":"list","in":"formData","type":"array","items":{"type":"integer"},"collectionFormat":"pipes"},
        {"name":"empty","in":"formData","type":"integer","allowEmptyValue":true},
        {"name":"file","in":"formData","type":"file"}]}}}})",
                                     "s.json");
  REQUIRE(document.ok());
  const auto& types = document.value()->operations()[0].body->media_types;
  REQUIRE(types.size() == 2);
  CHECK(document.value()->warnings().empty());
  auto check = [&](size_t i, const std::string& body) {
    std::string out;
    for (const SchemaProblem& p : check_body(body, {types[i].name, {}, "b"}, types[i], {})) {
      out += p.place + " " + p.text;
    }
    return out;
  };
  CHECK(check(1, "id=1&list=1|2&empty=&unknown=1") == "");
  CHECK(check(1, "list=1") == " must have the field id");
  CHECK(check(1, "id=10") == "/id must be at most 9, not 10");
  CHECK(check(1, "id=1&list=1|x") == "/list/1 must be of type integer, not \"x\"");
  CHECK(check(0, part("id", "1") + part("file", "\xFF", "; filename=a") + part("list", "1|2") +
                     "--b--") == "");
  CHECK(check(0, part("id", "1") + part("list", "1|x") + "--b--") ==
        "/list/1 must be of type integer, not \"x\"");
  CHECK(check(0, part("file", "x") + "--b--") == " must have the field id");
}

TEST_CASE("body: text, JSON, and what is not checked") {
  auto text = body_document("text/plain", "{type: integer, maximum: 5}");
  CHECK(text->warnings().empty());
  CHECK(check_with(*text, "5", {"text/plain", {}, {}}) == "");
  CHECK(check_with(*text, "6", {"text/plain", {}, {}}) == " must be at most 5, not 6");
  CHECK(check_with(*text, "\xFF", {"text/plain", {}, {}}) == " is not UTF-8");
  CHECK(check_with(*text, "\xF5", {"text/plain", "ibm-1047", {}}) == "");
  auto json = body_document("application/json", "{type: integer}");
  CHECK(check_with(*json, "1", {"application/json", "UTF-8", {}}) == "");
  CHECK(check_with(*json, "1", {"application/json", "utf-16", {}}).find("not in UTF-8") !=
        std::string::npos);
  CHECK(check_with(*json, "{", {"application/json", {}, {}}).find("is not JSON") !=
        std::string::npos);
  auto csv = body_document("text/csv", "{type: array, items: {type: string}}");
  REQUIRE(csv->warnings().size() == 1);
  CHECK(csv->warnings()[0]->text.find("'text/csv' are not checked") != std::string::npos);
  CHECK(csv->warnings()[0]->position.line == 9);
  CHECK(check_with(*csv, "a", {"text/csv", {}, {}}) == "");
  CHECK(body_document("multipart/mixed", "{type: object, required: [a]}")->warnings().size() == 1);
  CHECK(body_document("application/pdf", "{type: string, format: binary}")->warnings().empty());
  CHECK(body_document("'*/*'", "{type: object}")->warnings().empty());
}

}  // namespace
}  // namespace millstream::model
