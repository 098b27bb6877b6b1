#include "esql/quick.h"

#include <doctest/doctest.h>

#include <random>
#include <string>

#include "value/decimal.h"

namespace millstream::esql::quick {
namespace {

bool read(std::string_view text, int64_t* coefficient, int32_t* exponent) {
  // Exactly the bytes of the text, so that a sanitizer sees a read behind it.
  std::string copy(text);
  copy.shrink_to_fit();
  return short_number(copy.data(), static_cast<uint32_t>(copy.size()), coefficient, exponent);
}

TEST_CASE("short_number reads digits with at most one point, and nothing else") {
  int64_t n = 0;
  int32_t e = 0;
  CHECK(read("0", &n, &e));
  CHECK(n == 0);
  CHECK(e == 0);
  CHECK(read("00.85", &n, &e));
  CHECK(n == 85);
  CHECK(e == -2);
  CHECK(read(".5", &n, &e));
  CHECK(n == 5);
  CHECK(e == -1);
  CHECK(read("99999999", &n, &e));
  CHECK(n == 99999999);
  CHECK(read("1.234567", &n, &e));
  CHECK(n == 1234567);
  CHECK(e == -6);
  for (std::string_view text : {"", ".", "5.", "1.2.3", "-1", "+1", "1e5", " 1", "1 ", "12a", "/1",
                                ":1", "123456789", "1234567.8", "\xff",
                                "1\xae"
                                "2",
                                "..", "1..2"}) {
    CAPTURE(text);
    CHECK_FALSE(read(text, &n, &e));
  }
}

TEST_CASE("short_number agrees with the general parser on random texts") {
  constexpr uint32_t kSeed = 20;
  std::mt19937 random(kSeed);
  constexpr std::string_view kChars = "0123456789012345678901234567890123456789..-+e /:";
  for (int i = 0; i < 200'000; ++i) {
    std::string text(random() % 9, '0');
    for (char& c : text) c = kChars[random() % kChars.size()];
    int64_t n = 0;
    int32_t e = 0;
    if (!read(text, &n, &e)) {
      // It declines nothing that is only digits.
      CHECK((text.empty() || text.find_first_not_of("0123456789") != std::string::npos));
      continue;
    }
    value::Decimal expected;
    CAPTURE(text);
    REQUIRE(value::Decimal::parse(text, expected));
    CHECK(expected.exponent() == e);
    CHECK(expected.coefficient() == static_cast<uint64_t>(n));
  }
}

}  // namespace
}  // namespace millstream::esql::quick
