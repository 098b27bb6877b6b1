#include <doctest/doctest.h>

#include <cstring>
#include <memory>

#include "format/json_index.h"
#include "format/json_token.h"
#include "format/json_writer.h"

namespace format = millstream::format;

namespace {

std::optional<format::JsonProblem> json_problem(std::string_view s, uint32_t depth = 10'000) {
  format::JsonLimits limits;
  limits.depth_max = depth;
  return format::check_json(s, limits);
}

std::string json_decoded(std::string_view raw) {
  std::string out(raw.size(), '\0');
  size_t n = format::decode_json_string(raw, out.data());
  if (n == std::string_view::npos) return "<error>";
  out.resize(n);
  return out;
}

}  // namespace

TEST_CASE("json: check accepts what RFC 8259 allows") {
  for (const char* s : {"{}", "[]", " \t\r\n{ } ", R"({"a":1,"b":[true,false,null,"x"]})", "[-0]",
                        "[1.50,1e3,1E-3,-0.0e+10]", R"(["\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t"])",
                        R"({"":{"":{}}})", "[[],[[]]]", "[\"\x7f\"]"}) {
    CAPTURE(s);
    CHECK_FALSE(json_problem(s));
  }
}

TEST_CASE("json: check names the place of the first problem") {
  struct Case {
    const char* text;
    size_t offset;
  };
  for (const Case& c : {Case{"", 0},
                        {"  ", 2},
                        {"1", 0},
                        {"\"x\"", 0},
                        {"{", 1},
                        {"[", 1},
                        {"[1", 2},
                        {"[1,", 3},
                        {"[1,]", 3},
                        {"{\"a\"}", 4},
                        {"{\"a\":}", 5},
                        {"{\"a\":1,}", 7},
                        {"{a:1}", 1},
                        {"[01]", 2},
                        {"[1.]", 1},
                        {"[+1]", 1},
                        {"[.5]", 1},
                        {"[1e]", 1},
                        {"[tru]", 1},
                        {"[truex]", 5},
                        {"[\"a]", 4},
                        {"[\"\\x\"]", 2},
                        {"[\"\\u12\"]", 2},
                        {"[\"\\ud800\"]", 2},
                        {"[\"a\\udc00\"]", 3},
                        {"[\"\\ud800\\u0041\"]", 2},
                        {"[1]x", 3},
                        {"[1}", 2},
                        {"{\"a\":1]", 6},
                        {"[\"\t\"]", 2},
                        {"[1 2]", 3},
                        {"[\"\xff\"]", 2},
                        {"{\"a\" 1}", 5},
                        {"[nul\xc3]", 1}}) {
    CAPTURE(c.text);
    auto p = json_problem(c.text);
    REQUIRE(p);
    CHECK(p->offset == c.offset);
  }
}

TEST_CASE("json: check bounds depth and exponents") {
  CHECK_FALSE(json_problem("[[[]]]", 3));
  auto p = json_problem("[[[[]]]]", 3);
  REQUIRE(p);
  CHECK(p->kind == format::JsonProblem::Kind::kDepth);
  CHECK(p->offset == 3);
  std::string deep(1'000'000, '[');
  p = json_problem(deep);
  REQUIRE(p);
  CHECK(p->kind == format::JsonProblem::Kind::kDepth);
  CHECK(json_problem("[1e1000000000]")->kind == format::JsonProblem::Kind::kNumberRange);
  CHECK(json_problem("[1e-1000000000]")->kind == format::JsonProblem::Kind::kNumberRange);
  CHECK(json_problem("[1e99999999999999999999]"));
  CHECK_FALSE(json_problem("[1e400, 1e-400, 1e999999999]"));
}

TEST_CASE("json: strings decode") {
  CHECK(json_decoded(R"(a\u00e9\ud83d\ude00z)") == "a\xc3\xa9\xf0\x9f\x98\x80z");
  CHECK(json_decoded(R"(\"\\\/\b\f\n\r\t)") == "\"\\/\b\f\n\r\t");
  CHECK(json_decoded(R"(\u0000)") == std::string(1, '\0'));
  CHECK(json_decoded(R"(\ud83d)") == "<error>");
  CHECK(json_decoded("\\") == "<error>");
}

TEST_CASE("json: positions count lines and code points") {
  auto p = format::text_position("a\nb\xc3\xa9z", 5);
  CHECK(p.line == 2);
  CHECK(p.column == 3);
}

TEST_CASE("json: index gives every token of a document without padding") {
  auto document = std::make_unique<char[]>(9);  // exactly sized: the sanitizer sees any over-read
  std::memcpy(document.get(), "[1,\"a,b\"]", 9);
  format::JsonIndex index;
  REQUIRE(index.build({document.get(), 9}));
  REQUIRE(index.count() == 5);
  CHECK(index.offsets()[2] == 2);
  CHECK(index.offsets()[3] == 3);
  CHECK(index.offsets()[4] == 8);
  CHECK_FALSE(index.build(""));
  CHECK_FALSE(index.build("[\"a]"));
  CHECK_FALSE(index.build("[\"\xff\"]"));
}

TEST_CASE("json: writer escapes what it must") {
  std::string out;
  format::append_json_string(out, "a\"\\/\x01\n\xc3\xa9 plain text of some length/", {});
  CHECK(out == "\"a\\\"\\\\/\\u0001\\n\xc3\xa9 plain text of some length/\"");
  out.clear();
  format::append_json_string(out, "12345678/abcdefgh/", {.escapes_slash = true});
  CHECK(out == "\"12345678\\/abcdefgh\\/\"");
  out.clear();
  CHECK(format::append_json_double(out, 0.1));
  CHECK(out == "0.1");
  CHECK_FALSE(format::append_json_double(out, 1.0 / 0.0));
}
