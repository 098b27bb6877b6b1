#include "text/regex.h"

#include <doctest/doctest.h>

namespace millstream::text {
namespace {

Regex must_compile(std::string_view pattern, RegexOptions options = {}) {
  std::string problem;
  std::optional<Regex> regex = Regex::compile(pattern, options, &problem);
  CAPTURE(problem);
  REQUIRE(regex.has_value());
  return *regex;
}

TEST_CASE("regex: search, anchors and case") {
  CHECK(must_compile("b+").search("abbc") == Regex::Outcome::kMatch);
  CHECK(must_compile("^b").search("ab") == Regex::Outcome::kNoMatch);
  CHECK(must_compile("^a$").search("a\n") == Regex::Outcome::kNoMatch);
  CHECK(must_compile("").search("") == Regex::Outcome::kMatch);
  CHECK(must_compile("ABC", {.is_case_insensitive = true}).search("xabcx") ==
        Regex::Outcome::kMatch);
}

TEST_CASE("regex: the dialect of JSON Schema") {
  CHECK(must_compile("^\\d+$").search("\xD9\xA1") == Regex::Outcome::kNoMatch);  // ARABIC ONE
  CHECK(must_compile("^.$").search("\xE2\x82\xAC") == Regex::Outcome::kMatch);   // one code point
  CHECK(must_compile("^\\u0041$").search("A") == Regex::Outcome::kMatch);
}

TEST_CASE("regex: wrong and overlong patterns are told") {
  std::string problem;
  CHECK(!Regex::compile("a(b", {}, &problem).has_value());
  CHECK(problem.find("offset 3") != std::string::npos);
  CHECK(!Regex::compile(std::string(Regex::kPatternBytesMax + 1, 'a'), {}, &problem).has_value());
  CHECK(problem.find("longer") != std::string::npos);
}

TEST_CASE("regex: a pattern that explodes ends at its limit") {
  const Regex regex = must_compile("^(a|aa)+$");
  CHECK(regex.search(std::string(60, 'a') + "b") == Regex::Outcome::kTooHard);
}

}  // namespace
}  // namespace millstream::text
