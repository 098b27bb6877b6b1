#include "esql/operators.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "value/datetime.h"
#include "value/decimal.h"

namespace millstream::esql {
namespace {

using value::Decimal;
using value::IntervalQualifier;
using value::Kind;
using value::Value;

struct OperatorsFixture {
  base::Arena arena;
  std::shared_ptr<base::NameTable> names = std::make_shared<base::NameTable>();
  tree::TreeContext tree{arena, names};
  value::TimeZone zone = value::TimeZone::fixed(2 * 3600);
  EvalContext context{tree, zone, 0, nullptr};

  Value dec(std::string_view text) {
    Decimal d;
    REQUIRE(Decimal::parse(text, d));
    return Value::make_decimal(d, arena);
  }
  Value text(std::string_view s) { return Value::make_character(arena.copy(s)); }
  Value whole(int64_t i) { return Value::make_integer(i); }
  Value real(double d) { return Value::make_float(d); }
  Value bits(std::string_view zeros_and_ones) {
    std::string bytes((zeros_and_ones.size() + 7) / 8, '\0');
    for (size_t i = 0; i < zeros_and_ones.size(); ++i) {
      if (zeros_and_ones[i] == '1')
        bytes[i / 8] = static_cast<char>(bytes[i / 8] | (0x80 >> (i % 8)));
    }
    return Value::make_bit(arena.copy(bytes).data(), static_cast<uint32_t>(zeros_and_ones.size()));
  }

  std::string show(const Value& v) {
    switch (v.kind) {
      case Kind::kNull:
        return "NULL";
      case Kind::kInteger:
        return std::to_string(v.integer);
      case Kind::kDecimal:
        return "DECIMAL " + v.as_decimal().to_text();
      case Kind::kFloat:
        return "FLOAT " + std::to_string(v.real);
      case Kind::kCharacter:
        return std::string(v.text());
      case Kind::kBlob:
        return "BLOB " + std::string(v.text());
      case Kind::kBit: {
        std::string out = "BIT ";
        for (uint32_t i = 0; i < v.size; ++i) {
          out += (static_cast<unsigned char>(v.data[i / 8]) >> (7 - i % 8)) & 1 ? '1' : '0';
        }
        return out;
      }
      default:
        return value::format_literal(v);
    }
  }
  std::string calculate(ArithmeticOp op, const Value& a, const Value& b) {
    Value out;
    Status s = arithmetic(context, op, a, b, out);
    return s.ok() ? show(out) : s.error().code->id;
  }
  std::string add(const Value& a, const Value& b) { return calculate(ArithmeticOp::kAdd, a, b); }
  std::string subtract(const Value& a, const Value& b) {
    return calculate(ArithmeticOp::kSubtract, a, b);
  }
  std::string multiply(const Value& a, const Value& b) {
    return calculate(ArithmeticOp::kMultiply, a, b);
  }
  std::string divide(const Value& a, const Value& b) {
    return calculate(ArithmeticOp::kDivide, a, b);
  }
  std::string join(const Value& a, const Value& b) {
    Value out;
    Status s = concatenate(context, a, b, out);
    return s.ok() ? show(out) : s.error().code->id;
  }
  // "T", "F", "U" or the error.
  std::string test(CompareOp op, const Value& a, const Value& b) {
    Tri out;
    Status s = compare(context, op, a, b, out);
    return s.ok() ? name(out) : s.error().code->id;
  }
  std::string equal(const Value& a, const Value& b) { return test(CompareOp::kEqual, a, b); }
  std::string less(const Value& a, const Value& b) { return test(CompareOp::kLess, a, b); }
  std::string matches(std::string_view s, std::string_view pattern, std::string_view escape = {}) {
    Tri out;
    Value e = escape.empty() ? Value::null() : text(escape);
    Status status = like(context, text(s), text(pattern), e, out);
    return status.ok() ? name(out) : status.error().code->id;
  }
  static std::string name(Tri t) { return t == Tri::kTrue ? "T" : t == Tri::kFalse ? "F" : "U"; }
};

TEST_CASE_FIXTURE(OperatorsFixture, "INTEGER arithmetic never wraps") {
  CHECK(add(whole(2), whole(3)) == "5");
  CHECK(divide(whole(7), whole(2)) == "3");
  CHECK(divide(whole(-7), whole(2)) == "-3");
  CHECK(divide(whole(1), whole(0)) == "BIP2450");
  CHECK(add(whole(INT64_MAX), whole(1)) == "MS1510");
  CHECK(subtract(whole(INT64_MIN), whole(1)) == "MS1510");
  CHECK(multiply(whole(INT64_MAX), whole(2)) == "MS1510");
  CHECK(divide(whole(INT64_MIN), whole(-1)) == "MS1510");
  Value out;
  Status s = arithmetic(context, ArithmeticOp::kDivide, whole(100), whole(0), out);
  REQUIRE(s.error().inserts.size() == 1);
  CHECK(s.error().inserts[0].text == "100 / 0");
  CHECK(s.error().inserts[0].type == base::InsertType::kCharacter);
}

TEST_CASE_FIXTURE(OperatorsFixture, "mixed numbers take the type of the table") {
  CHECK(add(whole(1), real(0.5)) == "FLOAT 1.500000");
  CHECK(add(whole(1), dec("0.50")) == "DECIMAL 1.50");
  CHECK(add(dec("0.50"), whole(1)) == "DECIMAL 1.50");
  CHECK(multiply(dec("0.30"), dec("1.6")) == "DECIMAL 0.480");
  CHECK(multiply(dec("2"), real(1.5)) == "FLOAT 3.000000");
  CHECK(multiply(real(1.5), dec("2")) == "FLOAT 3.000000");
  CHECK(divide(dec("1"), whole(4)) == "DECIMAL 0.25");
  CHECK(divide(dec("1"), dec("0")) == "MS1501");
  CHECK(divide(real(1), whole(0)) == "MS1512");
  CHECK(multiply(real(1e300), real(1e300)) == "MS1511");
  CHECK(multiply(dec("9223372036854775807"), dec("10")) == "DECIMAL 92233720368547758070");
  CHECK(add(dec("9999999999999999999999999999999999"), dec("1")) ==
        "DECIMAL 1.000000000000000000000000000000000e+34");
  CHECK(add(dec("INF"), dec("1")) == "DECIMAL INF");
}

TEST_CASE_FIXTURE(OperatorsFixture, "NULL makes the result NULL, other types are refused") {
  for (ArithmeticOp op : {ArithmeticOp::kAdd, ArithmeticOp::kSubtract, ArithmeticOp::kMultiply,
                          ArithmeticOp::kDivide}) {
    CHECK(calculate(op, Value::null(), whole(1)) == "NULL");
    CHECK(calculate(op, whole(1), Value::null()) == "NULL");
    CHECK(calculate(op, text("1"), whole(1)) == "BIP2420");
    CHECK(calculate(op, whole(1), text("1")) == "BIP2420");
    CHECK(calculate(op, text("1"), text("1")) == "BIP2420");
    CHECK(calculate(op, Value::make_boolean(true), whole(1)) == "BIP2420");
    CHECK(calculate(op, Value::make_blob("a"), Value::make_blob("a")) == "BIP2420");
  }
}

TEST_CASE_FIXTURE(OperatorsFixture, "dates, times and intervals") {
  Value day = Value::make_date(19753);
  Value two_days = Value::make_interval(2 * value::kMicrosPerDay, IntervalQualifier::kDay);
  Value month = Value::make_interval(1, IntervalQualifier::kMonth);
  CHECK(add(day, two_days) == value::format_literal(Value::make_date(19755)));
  CHECK(add(two_days, day) == value::format_literal(Value::make_date(19755)));
  CHECK(subtract(day, two_days) == value::format_literal(Value::make_date(19751)));
  CHECK(subtract(two_days, day) == "BIP2420");
  CHECK(subtract(day, day) == "MS1514");
  CHECK(add(day, day) == "BIP2420");
  CHECK(multiply(day, two_days) == "BIP2420");
  CHECK(multiply(two_days, whole(3)) == "INTERVAL '6' DAY");
  CHECK(multiply(whole(3), two_days) == "INTERVAL '6' DAY");
  CHECK(divide(two_days, whole(2)) == "INTERVAL '1' DAY");
  CHECK(divide(whole(2), two_days) == "BIP2420");
  CHECK(add(two_days, whole(1)) == "BIP2420");
  CHECK(add(two_days, two_days) == "INTERVAL '4' DAY");
  CHECK(multiply(two_days, two_days) == "BIP2420");
  CHECK(add(two_days, month) != "NULL");
  Value out;
  REQUIRE(subtract_to_interval(context, Value::make_date(19755), day, IntervalQualifier::kDay, out)
              .ok());
  CHECK(show(out) == "INTERVAL '2' DAY");
  REQUIRE(subtract_to_interval(context, whole(5), whole(2), IntervalQualifier::kHour, out).ok());
  CHECK(show(out) == "INTERVAL '3' HOUR");
  // The GMT side becomes local: 10:00 at GMT+2 is 08:00 GMT.
  Value local = Value::make_timestamp(Kind::kTimestamp, 10 * value::kMicrosPerHour);
  Value gmt = Value::make_timestamp(Kind::kGmtTimestamp, 8 * value::kMicrosPerHour);
  REQUIRE(subtract_to_interval(context, local, gmt, IntervalQualifier::kHour, out).ok());
  CHECK(show(out) == "INTERVAL '0' HOUR");
  CHECK(!subtract_to_interval(context, text("a"), day, IntervalQualifier::kDay, out).ok());
  REQUIRE(subtract_to_interval(context, Value::null(), day, IntervalQualifier::kDay, out).ok());
  CHECK(out.is_null());
}

TEST_CASE_FIXTURE(OperatorsFixture, "unary minus") {
  Value out;
  REQUIRE(negate(context, whole(5), out).ok());
  CHECK(show(out) == "-5");
  REQUIRE(negate(context, dec("1.50"), out).ok());
  CHECK(show(out) == "DECIMAL -1.50");
  REQUIRE(negate(context, dec("12345678901234567890"), out).ok());
  CHECK(show(out) == "DECIMAL -12345678901234567890");
  REQUIRE(negate(context, dec("INF"), out).ok());
  CHECK(show(out) == "DECIMAL -INF");
  REQUIRE(negate(context, Value::null(), out).ok());
  CHECK(out.is_null());
  CHECK(!negate(context, whole(INT64_MIN), out).ok());
  CHECK(!negate(context, text("1"), out).ok());
}

TEST_CASE_FIXTURE(OperatorsFixture, "|| joins values of one string type") {
  CHECK(join(text("ab"), text("cd")) == "abcd");
  CHECK(join(text(""), text("x")) == "x");
  CHECK(join(text(""), text("")) == "");
  CHECK(join(Value::make_blob("a"), Value::make_blob("b")) == "BLOB ab");
  CHECK(join(bits("101"), bits("11")) == "BIT 10111");
  CHECK(join(bits("1010101"), bits("111000111")) == "BIT 1010101111000111");
  CHECK(join(bits("10101010"), bits("1")) == "BIT 101010101");
  CHECK(join(bits(""), bits("01")) == "BIT 01");
  CHECK(join(text("a"), Value::null()) == "NULL");
  CHECK(join(Value::null(), text("a")) == "NULL");
  CHECK(join(text("a"), whole(5)) == "BIP2420");
  CHECK(join(text("a"), Value::make_blob("b")) == "BIP2420");
  CHECK(join(whole(1), whole(2)) == "BIP2420");
}

TEST_CASE_FIXTURE(OperatorsFixture, "a text that grows in place leaves its old views alone") {
  Value a = text("start"), first, second;
  REQUIRE(concatenate(context, a, text("-x"), first).ok());
  Value grown = first;
  for (int i = 0; i < 1000; ++i)
    REQUIRE(concatenate(context, grown, Value::make_character("ab"), grown).ok());
  CHECK(grown.size == first.size + 2000);
  CHECK(first.text() == "start-x");
  REQUIRE(concatenate(context, first, Value::make_character("other"), second).ok());
  CHECK(second.text() == "start-xother");
  CHECK(grown.text().substr(0, 9) == "start-xab");
  size_t before = arena.used_bytes();
  Value tail = text("t");
  for (int i = 0; i < 10'000; ++i)
    REQUIRE(concatenate(context, tail, Value::make_character("y"), tail).ok());
  CHECK(arena.used_bytes() - before < 200'000);
}

TEST_CASE_FIXTURE(OperatorsFixture, "comparison of texts ignores trailing blanks only") {
  CHECK(equal(text("hello"), text("hello   ")) == "T");
  CHECK(equal(text(" hello"), text("hello")) == "F");
  CHECK(equal(text("a"), text("A")) == "F");
  CHECK(equal(text(""), text("   ")) == "T");
  CHECK(less(text("a"), text("b ")) == "T");
  CHECK(less(text("a "), text("a")) == "F");
  CHECK(less(text("ab"), text("abc")) == "T");
  CHECK(less(text("Z"), text("a")) == "T");
  CHECK(less(text("\xEF\xBF\xBD"), text("\xF0\x9F\x98\x80")) == "T");
  CHECK(equal(Value::make_blob("a"), Value::make_blob("a ")) == "F");
  CHECK(less(Value::make_blob("a"), Value::make_blob("a ")) == "T");
  CHECK(equal(bits("101"), bits("101")) == "T");
  CHECK(equal(bits("101"), bits("1010")) == "F");
  CHECK(less(bits("101"), bits("11")) == "T");
}

TEST_CASE_FIXTURE(OperatorsFixture, "comparison of numbers") {
  CHECK(equal(whole(1), real(1.0)) == "T");
  CHECK(equal(whole(1), dec("1.00")) == "T");
  CHECK(equal(dec("1.50"), dec("1.5")) == "T");
  CHECK(equal(dec("0.1"), real(0.1)) == "T");
  CHECK(less(dec("-1E+500"), whole(0)) == "T");
  CHECK(less(whole(INT64_MAX), dec("9223372036854775808")) == "T");
  CHECK(equal(dec("NAN"), dec("NAN")) == "F");
  CHECK(test(CompareOp::kNotEqual, dec("NAN"), dec("1")) == "T");
  CHECK(less(dec("NAN"), dec("1")) == "F");
  CHECK(equal(real(std::numeric_limits<double>::quiet_NaN()), whole(1)) == "F");
  CHECK(test(CompareOp::kNotEqual, whole(1), dec("NAN")) == "T");
  CHECK(less(dec("1"), dec("INF")) == "T");
  CHECK(test(CompareOp::kLessEqual, whole(2), whole(2)) == "T");
  CHECK(test(CompareOp::kGreaterEqual, whole(2), whole(3)) == "F");
  CHECK(test(CompareOp::kGreater, whole(4), whole(3)) == "T");
}

TEST_CASE_FIXTURE(OperatorsFixture, "comparison casts CHARACTER to the other type") {
  CHECK(equal(text("007"), whole(7)) == "T");
  CHECK(equal(whole(7), text(" 7 ")) == "T");
  CHECK(equal(text("1.50"), dec("1.5")) == "T");
  CHECK(less(text("1"), dec("1.5")) == "T");
  CHECK(test(CompareOp::kGreater, dec("1.5"), text("1")) == "T");
  CHECK(equal(text("true"), Value::make_boolean(true)) == "T");
  CHECK(equal(text("1970-01-02"), Value::make_date(1)) == "T");
  CHECK(equal(text("INTERVAL '2' DAY"),
              Value::make_interval(2 * value::kMicrosPerDay, IntervalQualifier::kDay)) == "T");
  CHECK(equal(text("abc"), whole(7)) != "F");
  CHECK(equal(text("2"), Value::make_interval(2 * value::kMicrosPerDay, IntervalQualifier::kDay)) !=
        "T");
}

TEST_CASE_FIXTURE(OperatorsFixture, "comparison of datetimes and what cannot be compared") {
  Value local = Value::make_timestamp(Kind::kTimestamp, 10 * value::kMicrosPerHour);
  Value gmt = Value::make_timestamp(Kind::kGmtTimestamp, 8 * value::kMicrosPerHour);
  CHECK(equal(local, gmt) == "T");
  CHECK(equal(Value::make_time(Kind::kTime, value::kMicrosPerHour),
              Value::make_time(Kind::kGmtTime, 23 * value::kMicrosPerHour)) == "T");
  CHECK(equal(Value::make_date(1), Value::make_timestamp(Kind::kTimestamp, value::kMicrosPerDay)) ==
        "T");
  CHECK(less(Value::make_date(1),
             Value::make_timestamp(Kind::kTimestamp, value::kMicrosPerDay + 1)) == "T");
  CHECK(equal(Value::make_date(1), Value::make_time(Kind::kTime, 0)) == "BIP2420");
  CHECK(equal(whole(1), Value::make_boolean(true)) == "BIP2420");
  CHECK(equal(whole(1), Value::make_date(1)) == "BIP2420");
  CHECK(equal(Value::make_blob("a"), bits("0")) == "BIP2420");
  CHECK(equal(Value::make_interval(1, IntervalQualifier::kMonth),
              Value::make_interval(1, IntervalQualifier::kDay)) == "BIP2420");
  CHECK(equal(Value::make_interval(12, IntervalQualifier::kMonth),
              Value::make_interval(12, IntervalQualifier::kYear)) == "T");
  CHECK(equal(Value::make_boolean(true), Value::make_boolean(false)) == "F");
  for (CompareOp op : {CompareOp::kEqual, CompareOp::kNotEqual, CompareOp::kLess}) {
    CHECK(test(op, Value::null(), whole(1)) == "U");
    CHECK(test(op, text("x"), Value::null()) == "U");
    CHECK(test(op, Value::null(), Value::null()) == "U");
  }
}

TEST_CASE_FIXTURE(OperatorsFixture, "LIKE") {
  CHECK(matches("hello", "h%") == "T");
  CHECK(matches("hello", "%o") == "T");
  CHECK(matches("hello", "%ell%") == "T");
  CHECK(matches("hello", "h_llo") == "T");
  CHECK(matches("hello", "h_lo") == "F");
  CHECK(matches("hello", "hello") == "T");
  CHECK(matches("hello ", "hello") == "F");
  CHECK(matches("", "%") == "T");
  CHECK(matches("", "") == "T");
  CHECK(matches("", "_") == "F");
  CHECK(matches("x", "") == "F");
  CHECK(matches("aab", "%ab") == "T");
  CHECK(matches("abcabd", "%ab_") == "T");
  CHECK(matches("mississippi", "%iss%ip%") == "T");
  CHECK(matches("mississippi", "%iss%ix%") == "F");
  CHECK(matches("\xC3\xA9t\xC3\xA9", "_t_") == "T");
  CHECK(matches("50%", "50!%", "!") == "T");
  CHECK(matches("500", "50!%", "!") == "F");
  CHECK(matches("a_b", "a\\_b", "\\") == "T");
  CHECK(matches("axb", "a\\_b", "\\") == "F");
  CHECK(matches("a!b", "a!!b", "!") == "T");
  CHECK(matches("a", "a!", "!") == "MS1516");
  CHECK(matches("a", "a", "!!") == "MS1516");
  std::string many(20'000, 'a');
  CHECK(matches(many, "%a%a%a%a%a%a%a%b") == "F");
  std::string hostile(400'000, 'a');
  CHECK(matches(hostile, "%" + hostile.substr(0, 200'000) + "b%") == "F");
  CHECK(matches(hostile, "%" + hostile.substr(0, 200'000) + "%") == "T");
  CHECK(matches("a", std::string(100'000, '%')) == "T");
  CHECK(matches("ab", "ab%b") == "F");
  CHECK(matches("abb", "ab%b") == "T");
  CHECK(matches("ab", "%_b") == "T");
  CHECK(matches("b", "%_b") == "F");
  CHECK(matches("\xC3\xA9"
                "b",
                "%_b") == "T");
  CHECK(matches("xayzb", "%a_%b") == "T");
  CHECK(matches("xab", "%a_%b") == "F");
  CHECK(matches("abc", "%%%") == "T");
  CHECK(matches("abc", "%___%") == "T");
  CHECK(matches("abc", "%____%") == "F");
  Tri out;
  REQUIRE(like(context, Value::null(), text("a"), Value::null(), out).ok());
  CHECK(out == Tri::kUnknown);
  REQUIRE(like(context, text("a"), Value::null(), Value::null(), out).ok());
  CHECK(out == Tri::kUnknown);
  CHECK(!like(context, whole(1), text("a"), Value::null(), out).ok());
  CHECK(!like(context, text("a"), text("a"), whole(1), out).ok());
}

bool matches_naively(std::string_view s, std::string_view p) {
  if (p.empty()) return s.empty();
  if (p[0] == '%') {
    return matches_naively(s, p.substr(1)) || (!s.empty() && matches_naively(s.substr(1), p));
  }
  if (s.empty() || (p[0] != '_' && p[0] != s[0])) return false;
  return matches_naively(s.substr(1), p.substr(1));
}

TEST_CASE_FIXTURE(OperatorsFixture, "LIKE agrees with its definition on all short patterns") {
  // Patterns over {a, b, %, _} of up to five characters beside texts over {a, b} of up to five.
  auto nth = [](unsigned n, unsigned size, std::string_view letters) {
    std::string out;
    for (unsigned i = 0; i < size; ++i, n /= static_cast<unsigned>(letters.size()))
      out += letters[n % letters.size()];
    return out;
  };
  int wrong = 0;
  for (unsigned pattern_size = 0; pattern_size <= 5; ++pattern_size) {
    for (unsigned p = 0; p < 1u << (2 * pattern_size); ++p) {
      std::string pattern = nth(p, pattern_size, "ab%_");
      for (unsigned size = 0; size <= 5; ++size) {
        for (unsigned t = 0; t < 1u << size; ++t) {
          std::string s = nth(t, size, "ab");
          if (matches(s, pattern) == (matches_naively(s, pattern) ? "T" : "F")) continue;
          if (++wrong < 10) FAIL_CHECK(s, " LIKE ", pattern);
        }
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE_FIXTURE(OperatorsFixture, "three-valued logic") {
  const Tri t = Tri::kTrue, f = Tri::kFalse, u = Tri::kUnknown;
  CHECK(tri_and(t, u) == u);
  CHECK(tri_and(u, t) == u);
  CHECK(tri_and(f, u) == f);
  CHECK(tri_and(u, f) == f);
  CHECK(tri_and(u, u) == u);
  CHECK(tri_and(t, t) == t);
  CHECK(tri_or(t, u) == t);
  CHECK(tri_or(u, t) == t);
  CHECK(tri_or(f, u) == u);
  CHECK(tri_or(f, f) == f);
  CHECK(tri_or(u, u) == u);
  CHECK(tri_not(u) == u);
  CHECK(tri_not(t) == f);
  CHECK(tri_not(f) == t);
  CHECK(tri_value(u).is_null());
  CHECK(tri_value(t).boolean());
  CHECK(!tri_value(f).boolean());
  Tri out;
  REQUIRE(to_tri(context, Value::make_boolean(true), out).ok());
  CHECK(out == t);
  REQUIRE(to_tri(context, Value::null(), out).ok());
  CHECK(out == u);
  REQUIRE(to_tri(context, text("FALSE"), out).ok());
  CHECK(out == f);
  CHECK(!to_tri(context, whole(1), out).ok());
}

}  // namespace
}  // namespace millstream::esql
