// CAST to INTEGER, FLOAT and DECIMAL.
#include <cmath>

#include "base/arena.h"
#include "esql/cast_internal.h"
#include "esql/errors_gen.h"
#include "value/datetime.h"
#include "value/decimal.h"
#include "value/number_format.h"

namespace millstream::esql::internal {

using value::Decimal;
using value::Kind;
using value::NumberParse;
using value::Value;

namespace {

Status number_range(const CastJob& job) {
  return base::make_error(errors::kCastNumberRange,
                          {plain_text(job.source), target_name(job.target)});
}

// The outcome of a parse_*_text as a status.
Status parsed(const CastJob& job, NumberParse outcome, std::string_view text) {
  if (outcome == NumberParse::kOk) return {};
  if (outcome == NumberParse::kOutOfRange) {
    return base::make_error(errors::kCastNumberRange, {text, target_name(job.target)});
  }
  return base::make_error(errors::kCastNumberText, {text, target_name(job.target)});
}

// The number in a string source by the FORMAT clause.
Result<Decimal> number_by_format(const CastJob& job) {
  std::string_view pattern = MS_TRY(clause_format(job));
  value::NumberFormat format = MS_TRY(value::NumberFormat::create(pattern));
  std::string_view text = MS_TRY(source_text(job));
  Decimal number;
  MS_TRY(format.parse(text, number));
  return number;
}

// BLOB and BIT become numbers as text when a clause says that they are text.
bool is_text_source(const CastJob& job) {
  return job.source.kind == Kind::kCharacter ||
         (is_string(job.source.kind) && (job.has_format() || job.has_character_set()));
}

Status integer_from_bytes(const CastJob& job) {
  const Value& v = job.source;
  size_t bits = v.kind == Kind::kBlob ? size_t{v.size} * 8 : v.size;
  if (bits != 64) {
    return base::make_error(errors::kCastBytesLength,
                            {kind_name(v.kind), bits, "INTEGER", "64 bits"});
  }
  uint64_t n = 0;
  for (int i = 0; i < 8; ++i) n = n << 8 | static_cast<unsigned char>(v.data[i]);
  job.out = Value::make_integer(static_cast<int64_t>(n));
  return {};
}

Status integer_from_decimal(const CastJob& job, const Decimal& d) {
  int64_t n = 0;
  if (!d.to_int64(n)) return number_range(job);
  job.out = Value::make_integer(n);
  return {};
}

Status integer_from_text(const CastJob& job) {
  if (job.has_format()) return integer_from_decimal(job, MS_TRY(number_by_format(job)));
  std::string_view text = MS_TRY(source_text(job));
  int64_t n = 0;
  MS_TRY(parsed(job, value::parse_integer_text(text, n), text));
  job.out = Value::make_integer(n);
  return {};
}

Status put_decimal(const CastJob& job, const Decimal& d) {
  Decimal result = d;
  bool is_stated = job.target.precision >= 0 || job.target.scale >= 0;
  if (is_stated && d.is_finite()) {
    int32_t precision = job.target.precision >= 0 ? job.target.precision : Decimal::kMaxDigits;
    if (!d.rescale(precision, job.target.scale, result)) return number_range(job);
  }
  job.out = Value::make_decimal(result, job.context.arena());
  return {};
}

}  // namespace

Status cast_to_integer(const CastJob& job) {
  const Value& v = job.source;
  if (is_text_source(job)) return integer_from_text(job);
  switch (v.kind) {
    case Kind::kInteger:
      job.out = Value::make_integer(v.integer);
      return {};
    case Kind::kFloat: {
      // Both limits are exact doubles; NaN fails the comparison.
      constexpr double kTwoTo63 = 9223372036854775808.0;
      double whole = std::trunc(v.real);
      if (!(whole >= -kTwoTo63 && whole < kTwoTo63)) return number_range(job);
      job.out = Value::make_integer(static_cast<int64_t>(whole));
      return {};
    }
    case Kind::kDecimal:
      return integer_from_decimal(job, v.as_decimal());
    case Kind::kBlob:
    case Kind::kBit:
      return integer_from_bytes(job);
    case Kind::kInterval: {
      std::optional<int64_t> units = value::interval_units(v, nullptr);
      if (!units) return unsupported_cast(job);
      job.out = Value::make_integer(*units);
      return {};
    }
    default:
      return unsupported_cast(job);
  }
}

Status cast_to_float(const CastJob& job) {
  const Value& v = job.source;
  if (is_text_source(job)) {
    double d = 0;
    if (job.has_format()) {
      d = MS_TRY(number_by_format(job)).to_double();
    } else {
      std::string_view text = MS_TRY(source_text(job));
      MS_TRY(parsed(job, value::parse_float_text(text, d), text));
    }
    job.out = Value::make_float(d);
    return {};
  }
  switch (v.kind) {
    case Kind::kInteger:
      job.out = Value::make_float(static_cast<double>(v.integer));
      return {};
    case Kind::kFloat:
      job.out = Value::make_float(v.real);
      return {};
    case Kind::kDecimal: {
      Decimal d = v.as_decimal();
      double real = d.to_double();
      if (std::isinf(real) && d.is_finite()) return number_range(job);
      job.out = Value::make_float(real);
      return {};
    }
    case Kind::kInterval: {
      int64_t rest = 0;
      std::optional<int64_t> units = value::interval_units(v, &rest);
      if (!units) return unsupported_cast(job);
      double real = static_cast<double>(*units);
      if (v.interval_qualifier() == value::IntervalQualifier::kSecond) {
        real = static_cast<double>(v.integer) / 1e6;
      }
      job.out = Value::make_float(real);
      return {};
    }
    default:
      return unsupported_cast(job);
  }
}

Status cast_to_decimal(const CastJob& job) {
  const Value& v = job.source;
  if (is_text_source(job)) {
    if (job.has_format()) return put_decimal(job, MS_TRY(number_by_format(job)));
    std::string_view text = MS_TRY(source_text(job));
    Decimal d;
    MS_TRY(parsed(job, value::parse_decimal_text(text, d), text));
    return put_decimal(job, d);
  }
  switch (v.kind) {
    case Kind::kInteger:
      return put_decimal(job, Decimal::from_int64(v.integer));
    case Kind::kFloat:
      return put_decimal(job, Decimal::from_double(v.real));
    case Kind::kDecimal:
      return put_decimal(job, v.as_decimal());
    case Kind::kInterval: {
      std::optional<int64_t> units = value::interval_units(v, nullptr);
      if (!units) return unsupported_cast(job);
      if (v.interval_qualifier() == value::IntervalQualifier::kSecond) {
        return put_decimal(job, Decimal::from_scaled(v.integer, -6));
      }
      return put_decimal(job, Decimal::from_int64(*units));
    }
    default:
      return unsupported_cast(job);
  }
}

}  // namespace millstream::esql::internal
