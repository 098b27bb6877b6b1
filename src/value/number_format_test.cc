#include "value/number_format.h"

#include <doctest/doctest.h>

#include <cmath>

namespace millstream::value {
namespace {

std::string format_with(std::string_view pattern, std::string_view number) {
  Decimal d;
  REQUIRE(Decimal::parse(number, d));
  Result<NumberFormat> format = NumberFormat::create(pattern);
  if (!format.ok()) return "bad pattern";
  std::string out;
  if (!format.value().format(d, out).ok()) return "error";
  return out;
}

std::string parse_with(std::string_view pattern, std::string_view text) {
  Result<NumberFormat> format = NumberFormat::create(pattern);
  if (!format.ok()) return "bad pattern";
  Decimal d;
  return format.value().parse(text, d).ok() ? d.to_text() : "error";
}

struct FormatCase {
  const char* pattern;
  const char* number;
  const char* text;
};

TEST_CASE("number patterns: number to text") {
  const FormatCase cases[] = {
      {"000000000000000", "42", "000000000000042"},
      {"000000000000000", "1234567890123456", "1234567890123456"},
      {"#,##0.000", "1234567.8915", "1,234,567.892"},
      {"#,##0.000", "0.5", "0.500"},
      {"#,##0.000", "-1234", "-1,234.000"},
      {"##0", "7", "7"},
      {"##0", "0", "0"},
      {"##0", "12345", "12345"},
      {"0.00", "2.345", "2.34"},
      {"0.00", "2.355", "2.36"},
      {"0.00", "2.3451", "2.35"},
      {"0.00", "0.995", "1.00"},
      {"0.00", "0.004", "0.00"},
      {" 000", "5", " 005"},
      {" 000", "-5", "- 005"},
      {"#", "0", "0"},
      {"#", "0.5", "0"},
      {"#", "1.5", "2"},
      {"#.##", "0.5", "0.5"},
      {"#.##", "12", "12"},
      {".##", "0.5", ".5"},
      {".##", "0", ".0"},
      {".00", "12.345", "12.34"},
      {"#.00", "0.5", ".50"},
      {"0.", "12", "12."},
      {"0.###", "1.50", "1.5"},
      {"00.##", "1.005", "01"},
      {"#,##0", "999", "999"},
      {"#,##0", "1000", "1,000"},
      {"#,##0", "100000000000000000000000000000000", "100,000,000,000,000,000,000,000,000,000,000"},
      {"#,##,##0", "123456789", "12,34,56,789"},
      {"0000,000", "12", "0,000,012"},
      {"0%", "0.25", "25%"},
      {"#0.0%", "0.1234", "12.3%"},
      {"0\xE2\x80\xB0", "0.0125", "12\xE2\x80\xB0"},
      {"'%'0", "5", "%5"},
      {"'it''s '0", "5", "it's 5"},
      {"''0''", "5", "'5'"},
      {"EUR 0.00", "3.5", "EUR 3.50"},
      {"0.00 kg", "-3.5", "-3.50 kg"},
      {"\xE2\x82\xAC#,##0.00", "1234.5",
       "\xE2\x82\xAC"
       "1,234.50"},
      {"0.00;(0.00)", "-1.5", "(1.50)"},
      {"0.00;(0.00)", "1.5", "1.50"},
      {"0;0-", "-7", "7-"},
      {"+0;-0", "7", "+7"},
      {"+0;-0", "-7", "-7"},
      {"0;0", "-7", "-7"},
      {"#,##0.00:groupsep=.:decsep=,", "1234567.5", "1.234.567,50"},
      {"#,##0.00:decsep=,:groupsep=.", "1234567.5", "1.234.567,50"},
      {"#,##0:groupsep= ", "1234567", "1 234 567"},
      {"0.0:decsep=,", "1.5", "1,5"},
      {"0E0", "12345", "1E4"},
      {"0.###E0", "12345", "1.234E4"},
      {"0.###E0", "123450", "1.234E5"},
      {"0.###E0", "0.00012", "1.2E-4"},
      {"00.###E0", "0.00123", "12.3E-4"},
      {"##0.##E0", "12345", "12.3E3"},
      {"##0.#####E0", "12345", "12.345E3"},
      {"##0.#####E0", "123456", "123.456E3"},
      {"##0.#####E0", "0.00012345", "123.45E-6"},
      {"##0E0", "12345", "12E3"},
      {"0.00E00", "9.999", "1.00E01"},
      {"0.0E+0", "15", "1.5E+1"},
      {"0.0E+0", "0.15", "1.5E-1"},
      {"0.0E0", "0", "0.0E0"},
      {"0.0E0", "-15", "-1.5E1"},
      {"0", "1E+33", "1000000000000000000000000000000000"},
      {"0", "1E+999999", "error"},
      {"0E0", "1E+999999999", "1E999999999"},
      {"0", "INF", "INF"},
      {"0", "-INF", "-INF"},
      {"0.00", "NAN", "NAN"},
      {"0.00", "1E-999999999", "0.00"},
      // Not patterns.
      {"", "1", "bad pattern"},
      {"abc", "1", "bad pattern"},
      {"0#", "1", "bad pattern"},
      {"0.#0", "1", "bad pattern"},
      {"#,", "1", "bad pattern"},
      {"0,.0", "1", "bad pattern"},
      {"0;0;0", "1", "bad pattern"},
      {"'0", "1", "bad pattern"},
      {"0@", "1", "bad pattern"},
      {"0 0", "1", "bad pattern"},
      {"5", "1", "bad pattern"},
      {".", "1", "bad pattern"},
      {"#,##0:groupsep=.", "1", "bad pattern"},
  };
  for (const FormatCase& c : cases) {
    INFO(std::string(c.pattern), " ", std::string(c.number));
    CHECK(format_with(c.pattern, c.number) == std::string(c.text));
  }
}

TEST_CASE("number patterns: text to number") {
  const FormatCase cases[] = {
      {"000000000000000", "000000000000042", "42"},
      {"#,##0.000", "1,234,567.892", "1234567.892"},
      {"#,##0.000", "-1,234", "-1234"},
      {"#,##0", "1234", "1234"},
      {"##0", " 7 ", "7"},
      {" 000", " 005", "5"},
      {" 000", "005", "5"},
      {"0.00", "2.50", "2.50"},
      {"0.00", "+2.50", "2.50"},
      {"0.00", "abc", "error"},
      {"0.00", "", "error"},
      {"0.00", "1.2.3", "error"},
      {"0.00", "1,000", "error"},
      {"#,##0", "1,", "error"},
      {"#,##0", ",1", "error"},
      {"0.00", "12x", "error"},
      {"0%", "25%", "0.25"},
      {"0%", "25", "error"},
      {"0.00;(0.00)", "(1.50)", "-1.50"},
      {"0.00;(0.00)", "-1.50", "error"},
      {"EUR 0", "EUR 7", "7"},
      {"EUR 0", "-EUR 7", "-7"},
      {"#,##0.00:groupsep=.:decsep=,", "1.234.567,50", "1234567.50"},
      {"0.###E0", "1.234E4", "12340"},
      {"0", "1E2", "1e+2"},
      {"0", "INF", "INF"},
      {"0", "99999999999999999999999999999999999999", "1.000000000000000000000000000000000e+38"},
  };
  for (const FormatCase& c : cases) {
    INFO(std::string(c.pattern), " ", std::string(c.number));
    std::string expected = c.text;
    if (expected == "12340") expected = "1.234e+4";
    CHECK(parse_with(c.pattern, c.number) == expected);
  }
}

TEST_CASE("number patterns have a size limit") {
  std::string pattern(NumberFormat::kPatternBytesMax, '0');
  CHECK(format_with(pattern, "1").size() == pattern.size());
  CHECK(format_with(pattern + "0", "1") == "bad pattern");
}

TEST_CASE("FLOAT as text has at most 15 digits and an exponent") {
  CHECK(float_to_text(1.5) == "1.5E+0");
  CHECK(float_to_text(0) == "0E+0");
  CHECK(float_to_text(-0.0) == "0E+0");
  CHECK(float_to_text(100) == "1E+2");
  CHECK(float_to_text(0.1) == "1E-1");
  CHECK(float_to_text(-1234.5678) == "-1.2345678E+3");
  CHECK(float_to_text(1.0 / 3) == "3.33333333333333E-1");
  CHECK(float_to_text(1e300) == "1E+300");
  CHECK(float_to_text(5e-324) == "4.94065645841247E-324");
  CHECK(float_to_text(INFINITY) == "INF");
  CHECK(float_to_text(-INFINITY) == "-INF");
  CHECK(float_to_text(NAN) == "NAN");
}

TEST_CASE("numbers from text") {
  int64_t i = 0;
  CHECK(parse_integer_text(" 42 ", i) == NumberParse::kOk);
  CHECK(i == 42);
  CHECK(parse_integer_text("+7", i) == NumberParse::kOk);
  CHECK(parse_integer_text("-9223372036854775808", i) == NumberParse::kOk);
  CHECK(i == INT64_MIN);
  CHECK(parse_integer_text("9223372036854775808", i) == NumberParse::kOutOfRange);
  for (const char* bad : {"", " ", "1.5", "1e3", "abc", "1 2", "+-1", "++1", "0x1"}) {
    INFO(std::string(bad));
    CHECK(parse_integer_text(bad, i) == NumberParse::kNotANumber);
  }
  double d = 0;
  CHECK(parse_float_text(" -1.5e3 ", d) == NumberParse::kOk);
  CHECK(d == -1500);
  CHECK(parse_float_text(".5", d) == NumberParse::kOk);
  CHECK(d == 0.5);
  CHECK(parse_float_text("-INF", d) == NumberParse::kOk);
  CHECK(d == -INFINITY);
  CHECK(parse_float_text("1e400", d) == NumberParse::kOutOfRange);
  CHECK(parse_float_text("1e-400", d) == NumberParse::kOk);
  CHECK(d == 0);
  for (const char* bad : {"", "x", "1.2.3", "1e", "--1", "infin", "0x10", "1,5"}) {
    INFO(std::string(bad));
    CHECK(parse_float_text(bad, d) == NumberParse::kNotANumber);
  }
  Decimal n;
  CHECK(parse_decimal_text(" 1.50 ", n) == NumberParse::kOk);
  CHECK(n.to_text() == "1.50");
  CHECK(parse_decimal_text("1e9999999999", n) == NumberParse::kOutOfRange);
  CHECK(parse_decimal_text("1e99x", n) == NumberParse::kNotANumber);
  CHECK(parse_decimal_text("", n) == NumberParse::kNotANumber);
}

}  // namespace
}  // namespace millstream::value
