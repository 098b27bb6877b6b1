#include "base/json_value.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace millstream::base::json {
namespace {

std::string json_failure(std::string_view text, const ParseOptions& options = {}) {
  Result<Value> r = parse(text, options);
  REQUIRE_FALSE(r.ok());
  return std::to_string(r.error().position.line) + ":" + std::to_string(r.error().position.column) +
         " " + r.error().inserts[0].text;
}

TEST_CASE("json: every kind goes out and comes back") {
  Value v = Value::object();
  v.set("null", Value());
  v.set("yes", true);
  v.set("integer", std::numeric_limits<int64_t>::min());
  v.set("double", 0.1);
  v.set("whole", 3.0);
  v.set("text", "a\"b\\c\n\x01\x7f\xC3\xA9\xF0\x9F\x98\x80");
  v.set("array", Value()).push_back(1);
  v.find("array")->push_back(Value::array());
  v.set("empty", Value::object());
  std::string text = write(v);
  CHECK(text ==
        R"({"null":null,"yes":true,"integer":-9223372036854775808,"double":0.1,"whole":3.0,)"
        R"("text":"a\"b\\c\n\u0001\u007f)"
        "\xC3\xA9\xF0\x9F\x98\x80"
        R"(","array":[1,[]],"empty":{}})");
  Result<Value> back = parse(text);
  REQUIRE(back.ok());
  CHECK(back.value() == v);
  CHECK(parse(write(v, {.is_pretty = true})).value() == v);
}

TEST_CASE("json: pretty form") {
  Value v = parse(R"({"a":[1,{"b":[]}],"c":"d"})").take_value();
  CHECK(write(v, {.is_pretty = true}) ==
        "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    }\n  ],\n  \"c\": \"d\"\n}");
}

TEST_CASE("json: what is not JSON is written as something that is") {
  CHECK(write(Value(std::nan(""))) == "null");
  CHECK(write(Value(std::numeric_limits<double>::infinity())) == "null");
  CHECK(write(Value("a\xFF\xC3z\xED\xA0\x80")) ==
        "\"a\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST_CASE("json: members keep their order and are unique") {
  Value v;
  v.set("b", 1);
  v.set("a", 2);
  v.set("b", 3);
  CHECK(write(v) == R"({"b":3,"a":2})");
  CHECK(v.erase("b"));
  CHECK_FALSE(v.erase("b"));
  CHECK(v.get("b").is_null());
  CHECK(v.get("a").as_integer() == 2);
  CHECK(v.get("a").get("nothing").is_null());
  CHECK(parse(R"({"x":1,"y":2})").value() == parse(R"({"y":2,"x":1})").value());
  CHECK_FALSE(parse(R"({"x":1})").value() == parse(R"({"x":2})").value());
}

TEST_CASE("json: numbers") {
  CHECK(parse("9223372036854775807").value().as_integer() == INT64_MAX);
  CHECK(parse("9223372036854775808").value().kind() == Kind::kDouble);
  CHECK(parse("-0").value().is_integer());
  CHECK(parse("1.5e3").value().as_double() == 1500);
  for (std::string_view bad : {"01", "+1", ".5", "1.", "1e", "1e+", "-", "0x1", "1e999", "NaN"}) {
    CHECK_FALSE(parse(bad).ok());
  }
}

TEST_CASE("json: strings") {
  CHECK(parse(R"("\u00e9\ud83d\ude00\/\b\f")").value().as_string() ==
        "\xC3\xA9\xF0\x9F\x98\x80/\b\f");
  CHECK(json_failure(R"("\ud83d")") == "1:8 a lone high surrogate");
  CHECK(json_failure(R"("\ude00")") == "1:8 a lone low surrogate");
  CHECK(json_failure(R"("\ud83d\u0041")") == "1:14 a lone high surrogate");
  CHECK(json_failure(R"("\x")") == "1:3 an unknown escape");
  CHECK(json_failure(R"("\u12g4")") == "1:4 expected four hexadecimal digits");
  CHECK(json_failure("\"a\nb\"") == "1:3 a control character in a string");
  CHECK(json_failure("\"\xC0\x80\"") == "1:2 not UTF-8");
  CHECK(json_failure("\"abc") == "1:5 the text ends inside a string");
  CHECK(json_failure("\"abc\\") == "1:6 an unknown escape");
}

TEST_CASE("json: errors have a place") {
  CHECK(json_failure("") == "1:1 the text ends where a value should begin");
  CHECK(json_failure("{\n  \"a\": 1,\n  \"a\": 2}") == "3:6 the member \"a\" is there twice");
  CHECK(json_failure("[1,]") == "1:4 not a value");
  CHECK(json_failure("{\"a\" 1}") == "1:6 expected ':'");
  CHECK(json_failure("{a:1}") == "1:2 expected a member name in quotes");
  CHECK(json_failure("[1 2]") == "1:4 expected ',' or ']'");
  CHECK(json_failure("1 2") == "1:3 nothing may follow the value");
  CHECK(json_failure("tru") == "1:1 not a value");
  CHECK(parse("nul", {.file = "x.json"}).error().describe() ==
        "x.json:1:1: MS1001E: Not valid JSON: not a value");
}

TEST_CASE("json: values know their lines") {
  Value v = parse("{\n\"a\": 1,\n\"b\": [\n2]}").take_value();
  CHECK(v.line() == 1);
  CHECK(v.get("a").line() == 2);
  CHECK(v.get("b").items()[0].line() == 4);
}

TEST_CASE("json: the depth is bounded") {
  std::string deep(1'000'000, '[');
  CHECK(json_failure(deep) == "1:202 nested deeper than 200 levels");
  CHECK(json_failure("[[[1]]]", {.depth_max = 2}) == "1:4 nested deeper than 2 levels");
  CHECK(parse("[[1]]", {.depth_max = 2}).ok());
  CHECK(json_failure("[1,2,{\"a\":3}]", {.values_max = 4}) == "1:11 more than 4 values");
  CHECK(parse("[1,2,{\"a\":3}]", {.values_max = 5}).ok());
}

}  // namespace
}  // namespace millstream::base::json
