#include "esql/literals.h"

#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "value/decimal.h"

namespace millstream::esql {
namespace {

bool parse_decimal_literal(std::string_view text, base::Arena& arena, value::Value& out) {
  value::Decimal d;
  if (!value::Decimal::parse(text, d)) return false;
  out = value::Value::make_decimal(d, arena);
  return true;
}

}  // namespace

bool parse_integer_literal(std::string_view digits, base::Arena& arena, value::Value& out) {
  int64_t i = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), i);
  if (error == std::errc() && end == digits.data() + digits.size()) {
    out = value::Value::make_integer(i);
    return true;
  }
  return parse_decimal_literal(digits, arena, out);
}

bool parse_hex_literal(std::string_view text, value::Value& out) {
  uint64_t i = 0;
  const char* begin = text.data() + 2;
  const char* limit = text.data() + text.size();
  auto [end, error] = std::from_chars(begin, limit, i, 16);
  if (error != std::errc() || end != limit) return false;
  out = value::Value::make_integer(static_cast<int64_t>(i));
  return true;
}

bool parse_real_literal(std::string_view text, base::Arena& arena, value::Value& out) {
  double d = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), d);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(d)) {
    out = value::Value::make_float(d);
    return true;
  }
  return parse_decimal_literal(text, arena, out);
}

value::Value blob_of_hex(std::string_view digits, base::Arena& arena) {
  size_t size = digits.size() / 2;
  char* bytes = arena.bytes(size);
  for (size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<char>(base::hex_digit_value(digits[2 * i]) * 16 +
                                 base::hex_digit_value(digits[2 * i + 1]));
  }
  return value::Value::make_blob({bytes, size});
}

value::Value bits_of_digits(std::string_view digits, base::Arena& arena) {
  size_t size = (digits.size() + 7) / 8;
  char* bytes = arena.bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = 0;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] == '1') bytes[i / 8] = static_cast<char>(bytes[i / 8] | (0x80 >> (i % 8)));
  }
  return value::Value::make_bit(bytes, static_cast<uint32_t>(digits.size()));
}

}  // namespace millstream::esql
