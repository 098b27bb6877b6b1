#include "text/utf8.h"

#include <doctest/doctest.h>

namespace millstream::text {

TEST_CASE("utf8: validation finds the first bad byte") {
  struct Case {
    std::string_view text;
    size_t bad;
  };
  constexpr size_t kOk = std::string_view::npos;
  const Case cases[] = {
      {"", kOk},
      {"plain ascii text, long enough for words", kOk},
      {"gr\xC3\xBC\xC3\x9F", kOk},
      {"\xF0\x9F\x98\x80", kOk},
      {"\xF4\x8F\xBF\xBF", kOk},
      {"abcdefgh\x80", 8},
      {"a\xC3", 1},
      {"\xC0\x80", 0},          // overlong
      {"\xE0\x80\x80", 0},      // overlong
      {"\xED\xA0\x80", 0},      // surrogate
      {"\xF4\x90\x80\x80", 0},  // above U+10FFFF
      {"\xFF", 0},
      {"ok\xF0\x9F\x98", 2},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(find_invalid_utf8(c.text) == c.bad);
  }
}

TEST_CASE("utf8: every code point survives encode and decode") {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    char buffer[4];
    size_t size = encode_utf8(c, buffer);
    DecodedCodePoint d = decode_utf8({buffer, size}, 0);
    if (d.value != c || d.size != size) {
      FAIL("code point " << static_cast<uint32_t>(c));
    }
  }
}

TEST_CASE("utf8: a surrogate is written as the replacement character") {
  std::string out;
  append_utf8(out, 0xD800);
  append_utf8(out, 0x110000);
  CHECK(out == "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("utf8: counting and moving by code points") {
  std::string_view s = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80z0123456789";
  CHECK(count_code_points(s) == 15);
  CHECK(count_code_points("") == 0);
  CHECK(advance_code_points(s, 0, 0) == 0);
  CHECK(advance_code_points(s, 0, 1) == 1);
  CHECK(advance_code_points(s, 0, 2) == 3);
  CHECK(advance_code_points(s, 0, 3) == 6);
  CHECK(advance_code_points(s, 0, 4) == 10);
  CHECK(advance_code_points(s, 3, 3) == 11);
  CHECK(advance_code_points(s, 0, 15) == s.size());
  CHECK(advance_code_points(s, 0, 99) == s.size());
  CHECK(retreat_code_points(s, 10, 1) == 6);
  CHECK(retreat_code_points(s, 10, 4) == 0);
  CHECK(retreat_code_points(s, 10, 99) == 0);
  for (size_t n = 0; n <= 15; ++n) {
    CHECK(count_code_points(s.substr(0, advance_code_points(s, 0, n))) == n);
  }
}

TEST_CASE("utf8: case mapping") {
  CHECK(to_upper("Stra\xC3\x9F"
                 "e") == "STRASSE");
  CHECK(to_upper("abc-1") == "ABC-1");
  CHECK(to_lower("ABC \xC3\x84") == "abc \xC3\xA4");
  CHECK(to_upper("\xCE\xB1\xCF\x82") == "\xCE\x91\xCE\xA3");
  CHECK(to_upper("") == "");
  CHECK(equals_ignoring_ascii_case("Utf-8", "UTF-8"));
  CHECK_FALSE(equals_ignoring_ascii_case("Utf-8", "UTF-16"));
}

}  // namespace millstream::text
