#include "value/decimal.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/arena.h"

namespace millstream::value {
namespace {

Decimal dec(std::string_view text) {
  Decimal d;
  INFO(text);
  REQUIRE(Decimal::parse(text, d));
  return d;
}

std::vector<std::string> split_case(const std::string& line) {
  std::vector<std::string> parts(1);
  for (char c : line) {
    if (c == '|') {
      parts.emplace_back();
    } else if (c != '\n') {
      parts.back() += c;
    }
  }
  return parts;
}

using DecimalOperation = Status (*)(const Decimal&, const Decimal&, Decimal&);

std::string apply_operation(DecimalOperation f, const std::string& a, const std::string& b) {
  Decimal out;
  Status status = f(dec(a), dec(b), out);
  return status.ok() ? out.to_scientific_text() : "ERROR";
}

std::string hex_double(double d) {
  if (d != d) return "NAN";
  char buffer[60];
  std::snprintf(buffer, sizeof buffer, "%.17g", d);
  return buffer;
}

// Difference in units of the last place, for power: 0 when equal, large when not comparable.
bool is_within_one_unit(const std::string& a, const std::string& b) {
  if (a == b) return true;
  if (a == "ERROR" || b == "ERROR") return false;
  Decimal x = dec(a), y = dec(b), difference, unit;
  if (!Decimal::subtract(x, y, difference).ok()) return false;
  int32_t exponent = x.exponent() < y.exponent() ? y.exponent() : x.exponent();
  unit = Decimal::from_scaled(1, exponent);
  return Decimal::compare(difference.absolute(), unit) != Ordering::kGreater;
}

std::string answer_of(const std::vector<std::string>& c) {
  const std::string &op = c[0], &a = c[1], &b = c[2];
  Decimal out;
  if (op == "add") return apply_operation(&Decimal::add, a, b);
  if (op == "sub") return apply_operation(&Decimal::subtract, a, b);
  if (op == "mul") return apply_operation(&Decimal::multiply, a, b);
  if (op == "div") return apply_operation(&Decimal::divide, a, b);
  if (op == "rem") return apply_operation(&Decimal::remainder, a, b);
  if (op == "sqrt") {
    return Decimal::square_root(dec(a), out).ok() ? out.to_scientific_text() : "ERROR";
  }
  if (op == "cmp") {
    const char* names[] = {"-1", "0", "1", "U"};
    return names[static_cast<int>(Decimal::compare(dec(a), dec(b)))];
  }
  if (op == "round") {
    int64_t scale = std::atoll(b.c_str());
    int mode = std::atoi(b.c_str() + b.find(',') + 1);
    return dec(a).round_to_scale(scale, static_cast<Rounding>(mode)).to_scientific_text();
  }
  if (op == "integral") {
    return dec(a).to_integral(static_cast<Rounding>(std::atoi(b.c_str()))).to_scientific_text();
  }
  if (op == "parse") return Decimal::parse(a, out) ? out.to_scientific_text() : "ERROR";
  if (op == "int64") {
    int64_t i;
    return dec(a).to_int64(i) ? std::to_string(i) : "ERROR";
  }
  if (op == "double") return hex_double(dec(a).to_double());
  if (op == "fromdouble") {
    return Decimal::from_double(std::strtod(a.c_str(), nullptr)).to_scientific_text();
  }
  if (op == "power") {
    bool is_ok = Decimal::power(dec(a), std::atoll(b.c_str()), out).ok();
    return is_ok ? out.to_scientific_text() : "ERROR";
  }
  if (op == "neg") return dec(a).negated().to_scientific_text();
  return "unknown operation";
}

// The inline operations must agree with the general ones wherever they do not decline.
void check_inline(const std::vector<std::string>& c, base::Arena& arena) {
  Value a = Value::make_decimal(dec(c[1]), arena), b = Value::make_decimal(dec(c[2]), arena), out;
  bool is_done = c[0] == "add"   ? try_add_inline(a, b, out)
                 : c[0] == "sub" ? try_subtract_inline(a, b, out)
                                 : c[0] == "mul" && try_multiply_inline(a, b, out);
  if (!is_done) return;
  Decimal expected = dec(c[3]);
  if (expected.digits() > 18) return;  // padded by the general form to 34 digits
  INFO(c[0], " ", c[1], " ", c[2]);
  CHECK(out.as_decimal().absolute().to_text() == expected.absolute().to_text());
  CHECK(out.as_decimal().sign() == expected.sign());
}

TEST_CASE("DECIMAL agrees with CPython's decimal") {
  const char* python = "/usr/bin/python3";
  if (std::FILE* f = std::fopen(python, "r")) {
    std::fclose(f);
  } else {
    MESSAGE("no python3: comparison left out");
    return;
  }
  const char* seed = std::getenv("MS_SEED");
  std::string command = std::string(python) + " tests/oracle/decimal_oracle.py " +
                        (seed != nullptr ? seed : "20261130") + " 60000";
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[1024];
  size_t compared = 0;
  int wrong = 0;
  base::Arena arena;
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr && wrong < 20) {
    if (buffer[0] == '#') continue;
    std::string line = buffer;
    std::vector<std::string> c = split_case(line);
    REQUIRE(c.size() == 4);
    std::string answer = answer_of(c), expected = c[3];
    if (c[0] == "double") expected = hex_double(std::strtod(expected.c_str(), nullptr));
    bool is_right = c[0] == "power" ? is_within_one_unit(answer, expected) : answer == expected;
    if (!is_right) {
      ++wrong;
      FAIL_CHECK(command, ": ", line, " gives ", answer);
    }
    bool has_inline = c[0] == "add" || c[0] == "sub" || c[0] == "mul";
    if (is_right && has_inline && expected != "ERROR") check_inline(c, arena);
    ++compared;
    arena.reset();
  }
  CHECK(pclose(pipe) == 0);
  CHECK(compared == 60000);
}

TEST_CASE("DECIMAL text keeps the scale") {
  CHECK(dec("1.50").to_text() == "1.50");
  CHECK(dec("00.30").to_text() == "0.30");
  CHECK(dec("0.00").to_text() == "0.00");
  CHECK(dec("-0.5").to_text() == "-0.5");
  CHECK(dec("+7").to_text() == "7");
  CHECK(dec(".5").to_text() == "0.5");
  CHECK(dec("5.").to_text() == "5");
  CHECK(dec("1E3").to_text() == "1e+3");
  CHECK(dec("0.0000001").to_text() == "1e-7");
  CHECK(dec("0.000001").to_text() == "0.000001");
  CHECK(dec("inf").to_text() == "INF");
  CHECK(dec("-Infinity").to_text() == "-INF");
  CHECK(dec("nan").to_text() == "NAN");
  CHECK(dec("1E3").to_plain_text() == "1000");
  CHECK(dec("1E-9").to_plain_text() == "0.000000001");
  CHECK(dec("1E-99999").to_plain_text() == "1E-99999");
  CHECK(dec("0E+9").to_plain_text() == "0");
}

TEST_CASE("DECIMAL products and quotients as the product shows them") {
  Decimal out;
  REQUIRE(Decimal::multiply(dec("0.30"), dec("1.6"), out).ok());
  CHECK(out.to_text() == "0.480");
  REQUIRE(Decimal::divide(dec("1"), dec("4"), out).ok());
  CHECK(out.to_text() == "0.25");
  REQUIRE(Decimal::divide(dec("6"), dec("2"), out).ok());
  CHECK(out.to_text() == "3");
  REQUIRE(Decimal::divide(dec("1"), dec("3"), out).ok());
  CHECK(out.to_text() == "0.3333333333333333333333333333333333");
  REQUIRE(Decimal::divide(dec("1"), dec("300"), out).ok());
  CHECK(out.to_text() == "3.333333333333333333333333333333333e-3");
  CHECK(out.to_plain_text() == "0.003333333333333333333333333333333333");
}

TEST_CASE("DECIMAL errors carry the operation") {
  Decimal out;
  Status status = Decimal::divide(dec("1.5"), dec("0"), out);
  REQUIRE(!status.ok());
  CHECK(status.error().text.find("1.5 / 0") != std::string::npos);
  CHECK(!Decimal::multiply(dec("1E999999999"), dec("10"), out).ok());
  CHECK(!Decimal::add(dec("9.999999999999999999999999999999999E999999999"),
                      dec("9.999999999999999999999999999999999E999999999"), out)
             .ok());
  CHECK(!Decimal::power(dec("10"), 1'000'000'000, out).ok());
  CHECK(!Decimal::power(dec("10"), INT64_MAX, out).ok());
  CHECK(!Decimal::power(dec("0"), -1, out).ok());
  CHECK(!Decimal::square_root(dec("-1"), out).ok());
  REQUIRE(Decimal::power(dec("10"), INT64_MIN, out).ok());
  CHECK(out.is_zero());
  REQUIRE(Decimal::power(dec("1"), INT64_MIN, out).ok());
  CHECK(out.to_text() == "1");
}

TEST_CASE("DECIMAL(precision, scale)") {
  Decimal out;
  REQUIRE(dec("123.456").rescale(5, 2, out));
  CHECK(out.to_text() == "123.46");
  CHECK(!dec("123.456").rescale(4, 2, out));
  REQUIRE(dec("0.005").rescale(3, 2, out));
  CHECK(out.to_text() == "0.00");
  REQUIRE(dec("7").rescale(10, 3, out));
  CHECK(out.to_text() == "7.000");
  REQUIRE(dec("99999.6").rescale(5, -1, out));
  CHECK(out.to_text() == "1.0000e+5");
  REQUIRE(dec("INF").rescale(5, 2, out));
  CHECK(out.is_infinite());
}

TEST_CASE("DECIMAL integers, truncation and zeros") {
  CHECK(dec("3.00").is_integer());
  CHECK(dec("3E+5").is_integer());
  CHECK(!dec("3.01").is_integer());
  CHECK(!dec("1E-50").is_integer());
  CHECK(!dec("INF").is_integer());
  CHECK(dec("-2.5").floor().to_text() == "-3");
  CHECK(dec("-2.5").ceil().to_text() == "-2");
  CHECK(dec("2.59").truncate().to_text() == "2");
  CHECK(dec("2.599").truncate_to_scale(2).to_text() == "2.59");
  CHECK(dec("2.5").truncate_to_scale(3).to_text() == "2.5");
  CHECK(dec("1.500").without_trailing_zeros().to_text() == "1.5");
  CHECK(dec("100").without_trailing_zeros().to_text() == "100");
  CHECK(dec("1234").round_to_scale(-2).to_text() == "1.2e+3");
  int64_t i;
  CHECK(dec("9223372036854775807").to_int64(i));
  CHECK(!dec("9223372036854775808").to_int64(i));
  CHECK(dec("-9223372036854775808").to_int64(i));
  CHECK(i == INT64_MIN);
  CHECK(!dec("NAN").to_int64(i));
}

TEST_CASE("decimal values: inline, in the arena, special") {
  base::Arena arena;
  for (const char* text :
       {"0", "-1.50", "9223372036854775807", "9223372036854775808",
        "-9999999999999999999999999999999999", "INF", "-INF", "NAN", "1E+999999999"}) {
    Value v = Value::make_decimal(dec(text), arena);
    CHECK(v.kind == Kind::kDecimal);
    CHECK(v.as_decimal().to_scientific_text() == dec(text).to_scientific_text());
    base::Arena other;
    Value copy = copy_value(v, other);
    arena.reset();
    CHECK(copy.as_decimal().to_scientific_text() == dec(text).to_scientific_text());
  }
  CHECK(Value::make_decimal(dec("1.50"), arena).is_inline_decimal());
  CHECK(!Value::make_decimal(dec("9223372036854775808"), arena).is_inline_decimal());
  Value zero = Value::make_decimal(dec("-0.0"), arena);
  CHECK(zero.as_decimal().to_text() == "0.0");
}

TEST_CASE("inline decimals decline what they cannot hold") {
  Value big = Value::make_inline_decimal(INT64_MAX, 0), one = Value::make_inline_decimal(1, 0), out;
  CHECK(!try_add_inline(big, one, out));
  CHECK(!try_multiply_inline(big, big, out));
  CHECK(!try_subtract_inline(Value::make_inline_decimal(INT64_MIN, 0), one, out));
  CHECK(!try_add_inline(one, Value::make_integer(1), out));
  CHECK(!try_add_inline(Value::make_inline_decimal(1, 40), one, out));
  CHECK(!try_multiply_inline(Value::make_inline_decimal(1, 999'999'999), one, out));
  int order;
  REQUIRE(try_compare_inline(Value::make_inline_decimal(150, -2),
                             Value::make_inline_decimal(15, -1), order));
  CHECK(order == 0);
}

TEST_CASE("values are copied with their bytes") {
  base::Arena arena;
  std::string text = "abc";
  Value v = copy_value(Value::make_character(text), arena);
  text[0] = 'x';
  CHECK(v.text() == "abc");
  std::string bits("\xA0", 1);
  Value bit = copy_value(Value::make_bit(bits.data(), 3), arena);
  bits[0] = 0;
  CHECK(static_cast<unsigned char>(bit.data[0]) == 0xA0);
  CHECK(kind_name(Kind::kGmtTimestamp) == "GMTTIMESTAMP");
}

}  // namespace
}  // namespace millstream::value
