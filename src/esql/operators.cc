#include "esql/operators.h"

#include <cmath>
#include <cstring>

#include "esql/errors_gen.h"
#include "value/datetime.h"
#include "value/decimal.h"
#include "value/number_format.h"

namespace millstream::esql {

namespace {

using value::Decimal;
using value::Kind;
using value::Value;

constexpr uint64_t kTextBytesMax = uint64_t{1} << 30;

const char* symbol_of(ArithmeticOp op) {
  constexpr const char* kSymbols[] = {"+", "-", "*", "/"};
  return kSymbols[static_cast<int>(op)];
}

bool is_numeric(Kind k) { return k == Kind::kInteger || k == Kind::kFloat || k == Kind::kDecimal; }

std::string number_text(const Value& v) {
  if (v.kind == Kind::kInteger) return std::to_string(v.integer);
  if (v.kind == Kind::kFloat) return value::float_to_text(v.real);
  return v.as_decimal().to_text();
}

std::string operation_text(ArithmeticOp op, const Value& a, const Value& b) {
  return number_text(a) + " " + symbol_of(op) + " " + number_text(b);
}

Status incompatible(const char* symbol, const Value& a, const Value& b) {
  return base::make_error(errors::kIncompatibleOperands,
                          {symbol, value::kind_name(a.kind), value::kind_name(b.kind)});
}

Status integer_arithmetic(ArithmeticOp op, const Value& a, const Value& b, Value& out) {
  int64_t x = a.integer, y = b.integer, result = 0;
  bool overflows = false;
  switch (op) {
    case ArithmeticOp::kAdd:
      overflows = __builtin_add_overflow(x, y, &result);
      break;
    case ArithmeticOp::kSubtract:
      overflows = __builtin_sub_overflow(x, y, &result);
      break;
    case ArithmeticOp::kMultiply:
      overflows = __builtin_mul_overflow(x, y, &result);
      break;
    case ArithmeticOp::kDivide:
      if (y == 0) {
        return base::make_error(errors::kIntegerDivideByZero, {operation_text(op, a, b)});
      }
      overflows = x == INT64_MIN && y == -1;
      if (!overflows) result = x / y;
      break;
  }
  if (overflows) {
    return base::make_error(errors::kIntegerOverflow, {operation_text(op, a, b)});
  }
  out = Value::make_integer(result);
  return {};
}

double to_real(const Value& v) {
  if (v.kind == Kind::kFloat) return v.real;
  if (v.kind == Kind::kInteger) return static_cast<double>(v.integer);
  return v.as_decimal().to_double();
}

Status float_arithmetic(ArithmeticOp op, const Value& a, const Value& b, Value& out) {
  double x = to_real(a), y = to_real(b), result = 0;
  switch (op) {
    case ArithmeticOp::kAdd:
      result = x + y;
      break;
    case ArithmeticOp::kSubtract:
      result = x - y;
      break;
    case ArithmeticOp::kMultiply:
      result = x * y;
      break;
    case ArithmeticOp::kDivide:
      if (y == 0) {
        return base::make_error(errors::kFloatDivideByZero, {operation_text(op, a, b)});
      }
      result = x / y;
      break;
  }
  if (!std::isfinite(result) && std::isfinite(x) && std::isfinite(y)) {
    return base::make_error(errors::kFloatOverflow, {operation_text(op, a, b)});
  }
  out = Value::make_float(result);
  return {};
}

Decimal to_decimal(const Value& v) {
  return v.kind == Kind::kInteger ? Decimal::from_int64(v.integer) : v.as_decimal();
}

Status decimal_arithmetic(EvalContext& context, ArithmeticOp op, const Value& a, const Value& b,
                          Value& out) {
  Decimal x = to_decimal(a), y = to_decimal(b), result;
  switch (op) {
    case ArithmeticOp::kAdd:
      MS_TRY(Decimal::add(x, y, result));
      break;
    case ArithmeticOp::kSubtract:
      MS_TRY(Decimal::subtract(x, y, result));
      break;
    case ArithmeticOp::kMultiply:
      MS_TRY(Decimal::multiply(x, y, result));
      break;
    case ArithmeticOp::kDivide:
      MS_TRY(Decimal::divide(x, y, result));
      break;
  }
  out = Value::make_decimal(result, context.arena());
  return {};
}

// Everything with a date, time or interval in it.
Status datetime_arithmetic(ArithmeticOp op, const Value& a, const Value& b, Value& out) {
  bool is_sum = op == ArithmeticOp::kAdd, is_difference = op == ArithmeticOp::kSubtract;
  bool a_is_interval = a.kind == Kind::kInterval, b_is_interval = b.kind == Kind::kInterval;
  if (a_is_interval && b_is_interval) {
    if (is_sum || is_difference) return value::add_intervals(a, b, is_difference, out);
  } else if (value::is_datetime(a.kind) && b_is_interval) {
    if (is_sum || is_difference) return value::add_interval(a, b, is_difference, out);
  } else if (a_is_interval && value::is_datetime(b.kind)) {
    if (is_sum) return value::add_interval(b, a, false, out);
  } else if (a_is_interval && is_numeric(b.kind)) {
    if (!is_sum && !is_difference) {
      return value::scale_interval(a, b, op == ArithmeticOp::kDivide, out);
    }
  } else if (is_numeric(a.kind) && b_is_interval) {
    if (op == ArithmeticOp::kMultiply) return value::scale_interval(b, a, false, out);
  } else if (is_difference && value::is_datetime(a.kind) && value::is_datetime(b.kind)) {
    return base::make_error(errors::kQualifierNeeded,
                            {value::kind_name(a.kind), value::kind_name(b.kind)});
  }
  return incompatible(symbol_of(op), a, b);
}

bool try_decimal_inline(ArithmeticOp op, const Value& a, const Value& b, Value& out) {
  switch (op) {
    case ArithmeticOp::kAdd:
      return value::try_add_inline(a, b, out);
    case ArithmeticOp::kSubtract:
      return value::try_subtract_inline(a, b, out);
    case ArithmeticOp::kMultiply:
      return value::try_multiply_inline(a, b, out);
    case ArithmeticOp::kDivide:
      return false;
  }
  return false;
}

// Appends bits [0, count) of `from` at bit `at` of `to`, whose bits from `at` on are zero.
void append_bits(char* to, uint32_t at, const char* from, uint32_t count) {
  uint32_t shift = at % 8;
  char* p = to + at / 8;
  uint32_t bytes = (count + 7) / 8;
  if (shift == 0) {
    if (bytes != 0) std::memcpy(p, from, bytes);
    return;
  }
  for (uint32_t i = 0; i < bytes; ++i) {
    unsigned byte = static_cast<unsigned char>(from[i]);
    p[i] = static_cast<char>(static_cast<unsigned char>(p[i]) | (byte >> shift));
    bool has_next = i * 8 + (8 - shift) < count;
    if (has_next) p[i + 1] = static_cast<char>(byte << (8 - shift));
  }
}

Status too_long() {
  return base::make_error(errors::kResultTooLong, {"||", size_t{kTextBytesMax}});
}

Value gmt_to_local(EvalContext& context, const Value& v) {
  const value::TimeZone& zone = context.local_zone;
  if (v.kind == Kind::kGmtTimestamp) {
    return Value::make_timestamp(Kind::kTimestamp, zone.to_local(v.integer));
  }
  if (v.kind != Kind::kGmtTime) return v;
  int64_t offset = zone.offset_at_gmt(context.now_gmt_micros) * value::kMicrosPerSecond;
  return Value::make_time(Kind::kTime, value::floor_mod(v.integer + offset, value::kMicrosPerDay));
}

}  // namespace

Status arithmetic(EvalContext& context, ArithmeticOp op, const Value& a, const Value& b,
                  Value& out) {
  if (a.kind == Kind::kInteger && b.kind == Kind::kInteger) {
    return integer_arithmetic(op, a, b, out);
  }
  if (a.kind == Kind::kDecimal && b.kind == Kind::kDecimal) {
    if (try_decimal_inline(op, a, b, out)) return {};
    return decimal_arithmetic(context, op, a, b, out);
  }
  if (a.is_null() || b.is_null()) {
    out = Value::null();
    return {};
  }
  if (is_numeric(a.kind) && is_numeric(b.kind)) {
    if (a.kind == Kind::kFloat || b.kind == Kind::kFloat) return float_arithmetic(op, a, b, out);
    if (a.kind == Kind::kInteger &&
        try_decimal_inline(op, Value::make_inline_decimal(a.integer, 0), b, out)) {
      return {};
    }
    if (b.kind == Kind::kInteger &&
        try_decimal_inline(op, a, Value::make_inline_decimal(b.integer, 0), out)) {
      return {};
    }
    return decimal_arithmetic(context, op, a, b, out);
  }
  return datetime_arithmetic(op, a, b, out);
}

Status subtract_to_interval(EvalContext& context, const Value& a, const Value& b,
                            value::IntervalQualifier qualifier, Value& out) {
  if (a.is_null() || b.is_null()) {
    out = Value::null();
    return {};
  }
  if (is_numeric(a.kind) && is_numeric(b.kind)) {
    Value difference;
    MS_TRY(arithmetic(context, ArithmeticOp::kSubtract, a, b, difference));
    Value unit;
    MS_TRY(value::make_interval_of(1, qualifier, unit));
    return value::scale_interval(unit, difference, false, out);
  }
  if (!value::is_datetime(a.kind) || !value::is_datetime(b.kind)) return incompatible("-", a, b);
  if (a.kind == b.kind) return value::subtract_datetimes(a, b, qualifier, out);
  return value::subtract_datetimes(gmt_to_local(context, a), gmt_to_local(context, b), qualifier,
                                   out);
}

Status negate(EvalContext& context, const Value& a, Value& out) {
  switch (a.kind) {
    case Kind::kNull:
      out = a;
      return {};
    case Kind::kInteger:
      if (a.integer == INT64_MIN) {
        return base::make_error(errors::kIntegerOverflow, {"- " + number_text(a)});
      }
      out = Value::make_integer(-a.integer);
      return {};
    case Kind::kFloat:
      out = Value::make_float(-a.real);
      return {};
    case Kind::kDecimal:
      if (a.is_inline_decimal() && a.integer != INT64_MIN) {
        out = Value::make_inline_decimal(-a.integer, a.inline_exponent());
        return {};
      }
      out = Value::make_decimal(a.as_decimal().negated(), context.arena());
      return {};
    case Kind::kInterval:
      return value::negate_interval(a, out);
    default:
      return base::make_error(errors::kArgumentType,
                              {"unary -", 1, value::kind_name(a.kind), "a number or INTERVAL"});
  }
}

Status concatenate(EvalContext& context, const Value& a, const Value& b, Value& out) {
  if (a.is_null() || b.is_null()) {
    out = Value::null();
    return {};
  }
  bool is_text = a.kind == Kind::kCharacter || a.kind == Kind::kBlob;
  if (a.kind != b.kind || (!is_text && a.kind != Kind::kBit)) return incompatible("||", a, b);
  uint64_t size = uint64_t{a.size} + b.size;
  base::Arena& arena = context.arena();
  if (is_text) {
    if (size > kTextBytesMax) return too_long();
    char* p;
    // A text that grows at its end in a loop is not copied again each time. Views of the shorter
    // text stay right, because only bytes behind it are written.
    if (a.size != 0 && arena.try_extend(a.data, a.size, size)) {
      p = const_cast<char*>(a.data);
    } else {
      p = arena.bytes(size);
      if (a.size != 0) std::memcpy(p, a.data, a.size);
    }
    if (b.size != 0) std::memcpy(p + a.size, b.data, b.size);
    Value result = Value::make_character({p, size});
    result.kind = a.kind;
    out = result;
    return {};
  }
  if (size > UINT32_MAX - 8) return too_long();
  size_t bytes = (size + 7) / 8;
  char* p = arena.bytes(bytes);
  std::memset(p, 0, bytes);
  append_bits(p, 0, a.data, a.size);
  append_bits(p, a.size, b.data, b.size);
  out = Value::make_bit(p, static_cast<uint32_t>(size));
  return {};
}

}  // namespace millstream::esql
