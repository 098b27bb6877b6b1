// Every parameter style, both ways: the table is that of the OpenAPI specification ("Style
// Examples"), with color = "blue", ["blue","black","brown"] and {"R":100,"G":200,"B":150}.
#include "model/parameters.h"

#include <doctest/doctest.h>

namespace millstream::model {
namespace {

struct StyleCase {
  const char* place;
  const char* style;
  bool explodes;
  const char* schema;  // "string", "array", "object"
  const char* sent;    // path segment, query, header or cookie
  const char* value;   // JSON
};

constexpr const char* kArray = R"(["blue","black","brown"])";
constexpr const char* kObject = R"({"R":100,"G":200,"B":150})";

constexpr StyleCase kStyles[] = {
    {"path", "matrix", false, "string", ";color=blue", R"("blue")"},
    {"path", "matrix", false, "array", ";color=blue,black,brown", kArray},
    {"path", "matrix", false, "object", ";color=R,100,G,200,B,150", kObject},
    {"path", "matrix", true, "string", ";color=blue", R"("blue")"},
    {"path", "matrix", true, "array", ";color=blue;color=black;color=brown", kArray},
    {"path", "matrix", true, "object", ";R=100;G=200;B=150", kObject},
    {"path", "label", false, "string", ".blue", R"("blue")"},
    {"path", "label", false, "array", ".blue,black,brown", kArray},
    {"path", "label", false, "object", ".R,100,G,200,B,150", kObject},
    {"path", "label", true, "array", ".blue.black.brown", kArray},
    {"path", "label", true, "object", ".R=100.G=200.B=150", kObject},
    {"path", "simple", false, "string", "blue", R"("blue")"},
    {"path", "simple", false, "array", "blue,black,brown", kArray},
    {"path", "simple", false, "object", "R,100,G,200,B,150", kObject},
    {"path", "simple", true, "array", "blue,black,brown", kArray},
    {"path", "simple", true, "object", "R=100,G=200,B=150", kObject},
    {"query", "form", false, "string", "color=blue", R"("blue")"},
    {"query", "form", false, "array", "color=blue,black,brown", kArray},
    {"query", "form", false, "object", "color=R,100,G,200,B,150", kObject},
    {"query", "form", true, "string", "color=blue", R"("blue")"},
    {"query", "form", true, "array", "color=blue&color=black&color=brown", kArray},
    {"query", "form", true, "object", "R=100&G=200&B=150", kObject},
    {"query", "spaceDelimited", false, "array", "color=blue%20black%20brown", kArray},
    {"query", "spaceDelimited", false, "object", "color=R%20100%20G%20200%20B%20150", nullptr},
    {"query", "pipeDelimited", false, "array", "color=blue%7Cblack%7Cbrown", kArray},
    {"query", "deepObject", true, "object", "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150",
     kObject},
    {"header", "simple", false, "string", "blue", R"("blue")"},
    {"header", "simple", false, "array", "blue,black,brown", kArray},
    {"header", "simple", false, "object", "R,100,G,200,B,150", kObject},
    {"header", "simple", true, "object", "R=100,G=200,B=150", kObject},
    {"cookie", "form", false, "string", "color=blue", R"("blue")"},
    {"cookie", "form", false, "array", "color=blue,black,brown", kArray},
    {"cookie", "form", true, "array", "color=blue; color=black; color=brown", kArray},
    {"cookie", "form", false, "object", "color=R,100,G,200,B,150", kObject},
};

std::shared_ptr<const ApiDocument> document_of(const std::string& place, const std::string& style,
                                               bool explodes, const std::string& schema) {
  const std::string path = place == "path" ? "/x/{color}" : "/x";
  const std::string schemas =
      schema == "array" ? R"({"type":"array","items":{"type":"string"}})"
      : schema == "object"
          ? R"({"type":"object","properties":{"R":{"type":"integer"},"G":{"type":"integer"},)"
            R"("B":{"type":"integer"}}})"
          : "{\"type\":\"" + schema + "\"}";
  auto document = ApiDocument::parse(
      R"({"openapi":"3.0.0","paths":{")" + path +
          R"(":{"get":{"operationId":"op","parameters":[{"name":"color","in":")" + place +
          R"(","required":true,"style":")" + style + R"(","explode":)" +
          (explodes ? "true" : "false") + R"(,"schema":)" + schemas + "}]}}}}",
      "t.json");
  if (!document.ok()) MESSAGE(document.error().describe());
  REQUIRE(document.ok());
  return document.value();
}

ParameterValue decode_one(const ApiDocument& document, const std::string& place,
                          std::string_view sent) {
  const std::string path = place == "path" ? "/x/" + std::string(sent) : "/x";
  const PathMatch match = document.match("GET", path);
  REQUIRE(match.operation);
  RawRequest raw;
  raw.path = &match.parameters;
  if (place == "query") raw.query = sent;
  if (place == "cookie") raw.cookies = sent;
  if (place == "header") raw.headers = {{"COLOR", sent}};
  return decode_parameters(*match.operation, raw).at(0);
}

TEST_CASE("parameters: every style is decoded") {
  for (const StyleCase& c : kStyles) {
    CAPTURE(c.place);
    CAPTURE(c.style);
    CAPTURE(c.explodes);
    CAPTURE(c.sent);
    auto document = document_of(c.place, c.style, c.explodes, c.schema);
    const ParameterValue v = decode_one(*document, c.place, c.sent);
    CHECK(v.is_present);
    CHECK(json::write(v.value) == (c.value ? c.value : kObject));
  }
}

TEST_CASE("parameters: every style is encoded to what it was decoded from") {
  for (const StyleCase& c : kStyles) {
    if (!c.value) continue;
    CAPTURE(c.place);
    CAPTURE(c.style);
    CAPTURE(c.sent);
    auto document = document_of(c.place, c.style, c.explodes, c.schema);
    const Operation& operation = document->operations()[0];
    auto encoded =
        encode_request(operation, {{&operation.parameters[0], json::parse(c.value, {}).value()}});
    REQUIRE(encoded.ok());
    const EncodedRequest& r = encoded.value();
    const std::string place = c.place;
    if (place == "path") CHECK(r.path == "/x/" + std::string(c.sent));
    if (place == "query") CHECK(r.query == c.sent);
    if (place == "header" || place == "cookie") {
      REQUIRE(r.headers.size() == 1);
      CHECK(r.headers[0].second == c.sent);
    }
  }
}

TEST_CASE("parameters: a delimiter is data where it is encoded beside a plain one") {
  auto document = document_of("query", "form", false, "array");
  CHECK(json::write(decode_one(*document, "query", "color=a%2Cb,c").value) == R"(["a,b","c"])");
  // Alone, it is what clients send that encode all they write.
  CHECK(json::write(decode_one(*document, "query", "color=a%2Cb").value) == R"(["a","b"])");
  CHECK(json::write(decode_one(*document, "query", "color=").value) == "[]");
}

TEST_CASE("parameters: types by the schema, text where it fits none") {
  auto integer = document_of("query", "form", true, "integer");
  CHECK(decode_one(*integer, "query", "color=12").value == json::Value(12));
  for (const char* text : {"1.5", "012", "1e2", "1.0", "+1", "0x10", "1 ", "-", "", "1_000"}) {
    CAPTURE(text);
    CHECK(decode_one(*integer, "query", std::string("color=") + text).value.is_string());
  }
  CHECK(decode_one(*integer, "query", "color=-12").value == json::Value(-12));
  CHECK(decode_one(*integer, "query", "color=x").value == json::Value("x"));
  CHECK(decode_one(*integer, "query", "color=12").text == "12");
  auto boolean = document_of("query", "form", true, "boolean");
  CHECK(decode_one(*boolean, "query", "color=true").value == json::Value(true));
  CHECK(decode_one(*boolean, "query", "color=TRUE").value == json::Value("TRUE"));
  CHECK(decode_one(*boolean, "query", "other=1").is_present == false);
  auto text = document_of("query", "form", true, "string");
  CHECK(decode_one(*text, "query", "color=a+b%26c").text == "a b&c");
  auto path = document_of("path", "simple", false, "string");
  CHECK(decode_one(*path, "path", "a+b%2Fc").text == "a+b/c");
}

TEST_CASE("parameters: what is a number of its format, and what only looks like one") {
  struct Case {
    const char* schema;
    std::vector<const char*> good, bad;
  };
  const Case cases[] = {
      {R"({"type":"integer","format":"int32"})",
       {"0", "-1", "2147483647", "-2147483648"},
       {"2147483648", "-2147483649", "1e2", "1.0", "99999999999999999999", "0x1", " 1", "%2B1"}},
      {R"({"type":"integer","format":"int64"})",
       {"9223372036854775807", "-9223372036854775808"},
       {"9223372036854775808", "-9223372036854775809", "1e3"}},
      {R"({"type":"integer"})", {"99999999999999999999"}, {"1e20", "NaN", "Infinity"}},
      {R"({"type":"number"})", {"1", "1e2", "-0.5", "1E-3"}, {".5", "1.", "1e", "1,5", "NaN"}},
      {R"({"type":"number","format":"float"})", {"1e38"}, {"1e39"}},
      {R"({"type":"boolean"})", {"true", "false"}, {"True", "1", "0", "yes", ""}},
      {R"({"enum":[1,2]})", {"1", "2"}, {"3", "1.0", "x"}},
      {R"({"type":"string","format":"date"})",
       {"2024-02-29"},
       {"2023-02-29", "2024-2-9", "2024-02-29Z", "20240229"}},
      {R"({"type":"string","format":"date-time"})",
       {"2024-02-29T23:59:59Z", "2024-02-29t00:00:00.5%2B01:00"},
       {"2024-02-29", "2024-02-29T24:00:00Z", "2024-02-29T23:59:59", "2024-02-29 23:59:59Z"}},
      {R"({"type":"string","format":"uuid"})",
       {"123e4567-e89b-12d3-a456-426614174000"},
       {"123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g"}},
  };
  for (const Case& c : cases) {
    auto document =
        ApiDocument::parse(std::string(R"({"openapi":"3.0.0","paths":{"/x":{"get":{"parameters":[
      {"name":"color","in":"query","schema":)") +
                               c.schema + "}]}}}}",
                           "t.json");
    REQUIRE(document.ok());
    auto fits = [&](const char* text) {
      const ParameterValue v = decode_one(*document.value(), "query", std::string("color=") + text);
      return validate(*v.parameter->schema, v.value).empty();
    };
    for (const char* text : c.good) CHECK_MESSAGE(fits(text), c.schema << " " << text);
    for (const char* text : c.bad) CHECK_MESSAGE(!fits(text), c.schema << " " << text);
  }
}

TEST_CASE("parameters: defaults, content and Swagger's collections") {
  auto document = ApiDocument::parse(R"({"openapi":"3.0.0","paths":{"/x":{"get":{"parameters":[
      {"name":"n","in":"query","schema":{"type":"integer","default":5}},
      {"name":"f","in":"query","content":{"application/json":{"schema":{"type":"object"}}}}]}}}})",
                                     "t.json");
  REQUIRE(document.ok());
  const Operation& o = document.value()->operations()[0];
  RawRequest raw;
  raw.query = "f=%7B%22a%22%3A1%7D";
  auto values = decode_parameters(o, raw);
  CHECK(!values[0].is_present);
  CHECK(values[0].has_value);
  CHECK(values[0].text == "5");
  CHECK(json::write(values[1].value) == R"({"a":1})");
  auto swagger = ApiDocument::parse(R"({"swagger":"2.0","paths":{"/x":{"get":{"parameters":[
      {"name":"a","in":"query","type":"array","items":{"type":"integer"},"collectionFormat":"multi"},
      {"name":"b","in":"query","type":"array","items":{"type":"string"},"collectionFormat":"tsv"},
      {"name":"c","in":"query","type":"array","items":{"type":"string"}}]}}}})",
                                    "t.json");
  REQUIRE(swagger.ok());
  raw.query = "a=1&a=2&b=x%09y&c=p,q";
  values = decode_parameters(swagger.value()->operations()[0], raw);
  CHECK(json::write(values[0].value) == "[1,2]");
  CHECK(json::write(values[1].value) == R"(["x","y"])");
  CHECK(json::write(values[2].value) == R"(["p","q"])");
}

TEST_CASE("parameters: an open object takes what no other parameter takes") {
  auto document = ApiDocument::parse(R"({"openapi":"3.0.0","paths":{"/x":{"get":{"parameters":[
      {"name":"page","in":"query","schema":{"type":"integer"}},
      {"name":"filter","in":"query","schema":{"type":"object",
        "additionalProperties":{"type":"string"}}}]}}}})",
                                     "t.json");
  REQUIRE(document.ok());
  RawRequest raw;
  raw.query = "page=1&a=x&b=y";
  auto values = decode_parameters(document.value()->operations()[0], raw);
  CHECK(json::write(values[1].value) == R"({"a":"x","b":"y"})");
}

TEST_CASE("parameters: a request that lacks a part of its path") {
  auto document = document_of("path", "simple", false, "string");
  auto encoded = encode_request(document->operations()[0], {});
  REQUIRE(!encoded.ok());
  CHECK(encoded.error().code->number == 1128);
}

}  // namespace
}  // namespace millstream::model
