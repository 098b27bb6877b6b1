#include "base/ascii.h"

#include <doctest/doctest.h>

namespace millstream::base {

TEST_CASE("ascii: hexadecimal digits") {
  CHECK(hex_digit_value('0') == 0);
  CHECK(hex_digit_value('9') == 9);
  CHECK(hex_digit_value('a') == 10);
  CHECK(hex_digit_value('F') == 15);
  for (char c : {'/', ':', '@', 'G', '`', 'g', '\0', '\xFF'}) CHECK(hex_digit_value(c) == -1);
  std::string out = "X'";
  append_hex(out, std::string_view("\x00\x7F\xFF", 3));
  CHECK(out == "X'007fff");
  out.clear();
  append_upper_hex(out, std::string_view("\x00\x7F\xFA", 3));
  CHECK(out == "007FFA");
  out = "=";
  CHECK(append_bytes_of_hex(out, "007ffA"));
  CHECK(out == std::string_view("=\x00\x7F\xFA", 4));
  CHECK(append_bytes_of_hex(out, ""));
  for (std::string_view bad : {"0", "0g", "g0", "000"}) CHECK(!append_bytes_of_hex(out, bad));
}

TEST_CASE("ascii: numbers with leading zeros") {
  std::string out;
  append_padded(out, 0, 1);
  append_padded(out, 7, 2);
  append_padded(out, 2024, 2);
  append_padded(out, INT64_MAX, 4);
  CHECK(out ==
        "007"
        "2024"
        "9223372036854775807");
}

TEST_CASE("ascii: white space around a value") {
  CHECK(trim_white_space(" \t\r\n a b \n") == "a b");
  CHECK(trim_white_space(" \t\r\n ").empty());
  CHECK(trim_white_space("").empty());
  CHECK(without_trailing_blanks(" a  ") == " a");
  CHECK(without_trailing_blanks("a\t ") == "a\t");
  CHECK(without_trailing_blanks("   ").empty());
}

}  // namespace millstream::base
