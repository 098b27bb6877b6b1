#include "model/schema.h"

#include <doctest/doctest.h>

namespace millstream::model {
namespace {

// A document with one schema at #/s, compiled.
struct OneSchema {
  explicit OneSchema(std::string_view text, Dialect dialect = Dialect::kOpenApi30)
      : references(document_of_text(text)), set(references, dialect) {
    schema = set.add(references.root().get("s"), "#/s");
    set.finish();
  }
  std::string check(std::string_view value, Direction direction = Direction::kNone) const {
    const json::Value parsed = json::parse(value, {}).value();
    std::string out;
    for (const SchemaProblem& p : validate(*schema, parsed, {.direction = direction})) {
      out += (out.empty() ? "" : "; ") + p.place + " " + p.text;
    }
    return out;
  }
  static DocumentFile document_of_text(std::string_view text) {
    DocumentFile file;
    file.name = "s.json";
    file.root = json::parse(text, {}).value();
    return file;
  }
  References references;
  SchemaSet set;
  const Schema* schema;
};

TEST_CASE("schema: types, and whole numbers with a fraction of zero") {
  OneSchema s(R"({"s":{"type":"integer"}})");
  CHECK(s.check("1").empty());
  CHECK(s.check("1.0").empty());
  CHECK(s.check("1.5") == " must be of type integer, not 1.5");
  CHECK(s.check("\"1\"") == " must be of type integer, not \"1\"");
  CHECK(s.check("null") != "");
  OneSchema nullable(R"({"s":{"type":"string","nullable":true,"enum":["a"]}})");
  CHECK(nullable.check("null").empty());
  CHECK(nullable.check("\"b\"") == " must be one of [\"a\"], not \"b\"");
  OneSchema list(R"({"s":{"type":["string","null"]}})", Dialect::kOpenApi31);
  CHECK(list.check("null").empty());
  CHECK(list.check("1") == " must be of type null or string, not 1");
}

TEST_CASE("schema: numbers") {
  OneSchema s(R"({"s":{"minimum":1,"exclusiveMinimum":true,"maximum":3,"multipleOf":0.1}})");
  CHECK(s.check("1") == " must be above 1, not 1");
  CHECK(s.check("1.1").empty());
  CHECK(s.check("2.35") == " must be a multiple of 0.1, not 2.35");
  CHECK(s.check("3.1") == " must be at most 3, not 3.1");
  OneSchema later(R"({"s":{"exclusiveMaximum":5}})", Dialect::kOpenApi31);
  CHECK(later.check("5") != "");
  CHECK(later.check("4").empty());
  OneSchema exact(R"({"s":{"maximum":9007199254740993}})");
  CHECK(exact.check("9007199254740993").empty());
  CHECK(exact.check("9007199254740994") != "");
  OneSchema narrow(R"({"s":{"type":"integer","format":"int32"}})");
  CHECK(narrow.check("2147483647").empty());
  CHECK(narrow.check("2147483648") != "");
}

TEST_CASE("schema: text is counted in characters; patterns are searched for") {
  OneSchema s(R"({"s":{"minLength":2,"maxLength":3,"pattern":"^[a-z\u20ac]+$"}})");
  CHECK(s.check("\"\u20ac\u20ac\u20ac\"").empty());
  CHECK(s.check("\"a\"") == " must have at least 2 characters, not 1");
  CHECK(s.check("\"abcd\"") == " must have at most 3 characters, not 4");
  CHECK(s.check("\"AB\"").find("must match the pattern") != std::string::npos);
  OneSchema hard(R"({"s":{"pattern":"^(a|aa)+$"}})");
  CHECK(hard.check("\"" + std::string(60, 'a') + "b\"").find("too complex") != std::string::npos);
}

TEST_CASE("schema: arrays") {
  OneSchema s(R"({"s":{"items":{"type":"integer"},"minItems":1,"maxItems":3,"uniqueItems":true}})");
  CHECK(s.check("[]") != "");
  CHECK(s.check("[1,2,3,4]") != "");
  CHECK(s.check("[1,\"a\"]") == "/1 must be of type integer, not \"a\"");
  CHECK(s.check("[1,1.0]") == " must not have equal items; 0 and 1 are");
  OneSchema objects(R"({"s":{"uniqueItems":true}})");
  CHECK(objects.check(R"([{"a":1,"b":2},{"b":2,"a":1}])") != "");
  CHECK(objects.check(R"([{"a":1},{"a":2}])").empty());
  OneSchema tuple(
      R"({"s":{"prefixItems":[{"type":"string"}],"items":false,"contains":{"const":"x"}}})",
      Dialect::kOpenApi31);
  CHECK(tuple.check("[\"x\"]").empty());
  CHECK(tuple.check("[\"y\"]") != "");
  CHECK(tuple.check("[\"x\",1]") == "/1 is not allowed");
}

TEST_CASE("schema: objects, readOnly and writeOnly") {
  OneSchema s(R"({"s":{"required":["id","name","secret"],"additionalProperties":false,"properties":{
      "id":{"type":"integer","readOnly":true},"name":{"type":"string"},
      "secret":{"type":"string","writeOnly":true}}}})");
  CHECK(s.check(R"({"id":1,"name":"a","secret":"s"})").empty());
  CHECK(s.check(R"({"name":"a","secret":"s"})") == " must have the member id");
  CHECK(s.check(R"({"name":"a","secret":"s"})", Direction::kRequest).empty());
  CHECK(s.check(R"({"id":1,"name":"a"})", Direction::kResponse).empty());
  CHECK(s.check(R"({"id":1,"name":"a","secret":"s","x/y":0})") ==
        "/x~1y is not a member that the schema knows");
  OneSchema open(R"({"s":{"additionalProperties":{"type":"integer"},"maxProperties":2}})");
  CHECK(open.check(R"({"a":1})").empty());
  CHECK(open.check(R"({"a":"x"})") == "/a must be of type integer, not \"x\"");
  CHECK(open.check(R"({"a":1,"b":2,"c":3})") != "");
}

TEST_CASE("schema: members by pattern, names and dependencies (3.1)") {
  OneSchema s(
      R"({"s":{"patternProperties":{"^n_":{"type":"number"}},"propertyNames":{"maxLength":4},
      "dependentRequired":{"a":["b"]},"dependentSchemas":{"c":{"required":["d"]}}}})",
      Dialect::kOpenApi31);
  CHECK(s.check(R"({"n_x":1})").empty());
  CHECK(s.check(R"({"n_x":"1"})") != "");
  CHECK(s.check(R"({"toolong":1})") != "");
  CHECK(s.check(R"({"a":1})") == " must have the member b beside a");
  CHECK(s.check(R"({"c":1})") == " must have the member d");
}

TEST_CASE("schema: composition") {
  OneSchema all(R"({"s":{"allOf":[{"minimum":1},{"maximum":3}]}})");
  CHECK(all.check("2").empty());
  CHECK(all.check("4") != "");
  OneSchema any(R"({"s":{"anyOf":[{"type":"integer"},{"type":"string","maxLength":2}]}})");
  CHECK(any.check("1").empty());
  // The only alternative of the value's type says what is wrong.
  CHECK(any.check("\"abc\"") == " must have at most 2 characters, not 3");
  CHECK(any.check("true") == " fits none of the alternatives");
  OneSchema one(R"({"s":{"oneOf":[{"type":"number"},{"type":"integer"}]}})");
  CHECK(one.check("1.5").empty());
  CHECK(one.check("1") == " fits more than one of the alternatives");
  OneSchema no(R"({"s":{"not":{"type":"string"}}})");
  CHECK(no.check("1").empty());
  CHECK(no.check("\"a\"") != "");
  OneSchema choice(R"({"s":{"if":{"required":["a"]},"then":{"required":["b"]},
      "else":{"required":["c"]}}})",
                   Dialect::kOpenApi31);
  CHECK(choice.check(R"({"a":1,"b":1})").empty());
  CHECK(choice.check(R"({"a":1})") != "");
  CHECK(choice.check(R"({})") != "");
}

TEST_CASE("schema: the discriminator chooses the alternative whose problems are told") {
  OneSchema s(R"({"s":{"oneOf":[{"$ref":"#/components/schemas/Cat"},
      {"$ref":"#/components/schemas/Dog"}],"discriminator":{"propertyName":"kind",
      "mapping":{"feline":"#/components/schemas/Cat"}}},
      "components":{"schemas":{"Cat":{"required":["lives"]},"Dog":{"required":["tricks"]}}}})");
  CHECK(s.check(R"({"kind":"Dog","tricks":1})").empty());
  CHECK(s.check(R"({"kind":"feline"})") == " must have the member lives");
  CHECK(s.check(R"({"kind":"Cow"})") == "/kind names no alternative: \"Cow\"");
  CHECK(s.check(R"({"tricks":1})") == " must have the member kind, which says what it is");
}

TEST_CASE("schema: references, recursive ones too, and their limits") {
  OneSchema tree(R"({"s":{"$ref":"#/t"},"t":{"required":["v"],"properties":{
      "v":{"type":"integer"},"next":{"$ref":"#/t"}}}})");
  CHECK(tree.set.size() == 2);
  CHECK(tree.check(R"({"v":1,"next":{"v":2,"next":{"v":"x"}}})") ==
        "/next/next/v must be of type integer, not \"x\"");
  std::string deep = "{\"v\":1}";
  for (int i = 0; i < ValidationOptions::kDepthMax; ++i) deep = "{\"v\":1,\"next\":" + deep + "}";
  CHECK(tree.check(deep).find("too complex") != std::string::npos);
  const json::Value three = json::parse(R"({"v":1,"next":{"v":2,"next":{"v":3}}})", {}).value();
  CHECK(validate(*tree.schema, three, {.depth_max = 2}).size() == 1);
  CHECK(validate(*tree.schema, three, {.depth_max = 5}).empty());
  OneSchema loop(R"({"s":{"$ref":"#/a"},"a":{"$ref":"#/b"},"b":{"$ref":"#/a"}})");
  REQUIRE(loop.set.problems().size() == 1);
  CHECK(loop.set.problems()[0]->text.find("leads back to itself") != std::string::npos);
  OneSchema endless(R"({"s":{"allOf":[{"$ref":"#/s"}]}})");
  CHECK(endless.check("1").find("too complex") != std::string::npos);
  OneSchema wide(R"({"s":{"anyOf":[{"$ref":"#/t"},{"$ref":"#/t"}]},
      "t":{"type":"array","items":{"$ref":"#/s"}}})");
  std::string nested = "1";
  for (int i = 0; i < 40; ++i) nested = "[" + nested + "]";
  CHECK(wide.check(nested).find("too complex") != std::string::npos);  // 2 to the 40th
  OneSchema missing(R"({"s":{"$ref":"#/nowhere"}})");
  REQUIRE(missing.set.problems().size() == 1);
  OneSchema remote(R"({"s":{"$ref":"other.json#/a"}})");
  REQUIRE(remote.set.problems().size() == 1);
  CHECK(remote.set.problems()[0]->text.find("another file") != std::string::npos);
  OneSchema beside(R"({"s":{"$ref":"#/t","maximum":3},"t":{"type":"integer"}})",
                   Dialect::kOpenApi31);
  CHECK(beside.check("2").empty());
  CHECK(beside.check("4") != "");
  CHECK(beside.check("1.5") != "");
}

TEST_CASE("schema: what cannot be checked is a problem") {
  CHECK(OneSchema(R"({"s":{"pattern":"a(b"}})").set.problems().size() == 1);
  CHECK(OneSchema(R"({"s":{"unevaluatedProperties":false}})", Dialect::kOpenApi31)
            .set.problems()
            .size() == 1);
  CHECK(OneSchema(R"({"s":{"type":"text"}})").set.problems().size() == 1);
  CHECK(OneSchema(R"({"s":{"minLength":-1}})").set.problems().size() == 1);
  CHECK(OneSchema(R"({"s":[]})").set.problems().size() == 1);
  CHECK(OneSchema(R"({"s":false})", Dialect::kOpenApi31).check("1") == " is not allowed");
}

TEST_CASE("schema: formats") {
  struct {
    const char* format;
    const char* good;
    const char* bad;
  } const cases[] = {
      {"date", "2024-02-29", "2023-02-29"},
      {"date-time", "2024-01-01T10:00:00.5+02:00", "2024-01-01T10:00:00"},
      {"time", "23:59:60Z", "24:00:00Z"},
      {"duration", "P1Y2M3DT4H5M6S", "P1S"},
      {"email", "a.b+c@example.org", "a..b@example.org"},
      {"hostname", "a-b.example", "-a.example"},
      {"ipv4", "127.0.0.1", "127.0.0.01"},
      {"ipv6", "2001:db8::1.2.3.4", "2001:db8:::1"},
      {"uri", "urn:isbn:1", "no scheme"},
      {"uri-reference", "/a?b#c", "a b"},
      {"uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000"},
      {"byte", "TWlsbA==", "TWlsbA="},
      {"json-pointer", "/a~1b", "/a~2"},
      {"regex", "^a$", "a("},
      {"something-else", "x", nullptr},
  };
  for (const auto& c : cases) {
    CAPTURE(c.format);
    CHECK(has_format(c.good, find_format(c.format)));
    if (c.bad) CHECK(!has_format(c.bad, find_format(c.format)));
  }
}

TEST_CASE("schema: at most so many problems") {
  OneSchema s(R"({"s":{"items":{"type":"string"}}})");
  const json::Value many = json::parse("[1,2,3,4,5,6,7,8,9,10,11,12]", {}).value();
  CHECK(validate(*s.schema, many).size() == ValidationOptions::kProblemsMax);
}

TEST_CASE("schema: what is decided is not looked at further") {
  std::string list = "[0";
  for (size_t i = 0; i < ValidationOptions::kStepsMax; ++i) list += ",0";
  list += ']';
  // Each of these would exceed the number of steps.
  OneSchema texts(R"({"s":{"items":{"type":"string"}}})");
  CHECK(texts.check(list).find("/0 must be of type string, not 0; /1 must") == 0);
  OneSchema few(R"({"s":{"items":{"type":"integer"},"maxItems":2}})");
  CHECK(few.check(list) == " must have at most 2 items, not 2000001");
  OneSchema other(R"({"s":{"not":{"items":{"type":"string"}}}})");
  CHECK(other.check(list).empty());
}

}  // namespace
}  // namespace millstream::model
