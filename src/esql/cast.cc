#include "esql/cast.h"

#include "base/arena.h"
#include "esql/cast_internal.h"
#include "esql/errors_gen.h"
#include "text/utf8.h"
#include "value/datetime.h"
#include "value/decimal.h"
#include "value/number_format.h"

namespace millstream::esql {
namespace internal {

using value::Kind;
using value::Value;

bool is_number(Kind kind) {
  return kind == Kind::kInteger || kind == Kind::kFloat || kind == Kind::kDecimal;
}

bool is_string(Kind kind) {
  return kind == Kind::kCharacter || kind == Kind::kBlob || kind == Kind::kBit;
}

std::string target_name(const CastTarget& target) {
  std::string name(kind_name(target.kind));
  if (target.kind == Kind::kInterval && target.has_qualifier) {
    name += ' ';
    name += value::qualifier_name(target.qualifier);
  }
  if (target.kind == Kind::kDecimal && target.precision >= 0) {
    name += "(" + std::to_string(target.precision);
    if (target.scale >= 0) name += "," + std::to_string(target.scale);
    name += ")";
  }
  return name;
}

Status unsupported_cast(const CastJob& job) {
  return base::make_error(errors::kUnsupportedCast,
                          {kind_name(job.source.kind), target_name(job.target)});
}

std::string plain_text(const Value& v) {
  switch (v.kind) {
    case Kind::kNull:
      return "NULL";
    case Kind::kBoolean:
      return v.boolean() ? "TRUE" : "FALSE";
    case Kind::kInteger:
      return std::to_string(v.integer);
    case Kind::kFloat:
      return value::float_to_text(v.real);
    case Kind::kDecimal:
      return v.as_decimal().to_text();
    case Kind::kCharacter:
      return std::string(v.text());
    default:
      return value::format_literal(v);
  }
}

Status cast_to_boolean(const CastJob& job) {
  const Value& v = job.source;
  if (v.kind == Kind::kBoolean) {
    job.out = Value::make_boolean(v.boolean());
    return {};
  }
  if (v.kind != Kind::kCharacter) return unsupported_cast(job);
  std::string_view text = v.text();
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text::equals_ignoring_ascii_case(text, "TRUE")) {
    job.out = Value::make_boolean(true);
  } else if (text::equals_ignoring_ascii_case(text, "FALSE")) {
    job.out = Value::make_boolean(false);
  } else if (text::equals_ignoring_ascii_case(text, "UNKNOWN")) {
    job.out = Value::null();
  } else {
    return base::make_error(errors::kCastBooleanText, {v.text()});
  }
  return {};
}

}  // namespace internal

namespace {

using internal::CastJob;
using value::Kind;
using value::Value;

Status cast_one(const CastJob& job) {
  switch (job.target.kind) {
    case Kind::kBoolean:
      return cast_to_boolean(job);
    case Kind::kInteger:
      return cast_to_integer(job);
    case Kind::kFloat:
      return cast_to_float(job);
    case Kind::kDecimal:
      return cast_to_decimal(job);
    case Kind::kCharacter:
      return cast_to_character(job);
    case Kind::kBlob:
      return cast_to_blob(job);
    case Kind::kBit:
      return cast_to_bit(job);
    case Kind::kInterval:
      return cast_to_interval(job);
    case Kind::kNull:
      return unsupported_cast(job);
    default:
      return cast_to_datetime(job);
  }
}

// As a literal, so that blanks and empty texts can be seen; long ones are cut.
std::string value_for_message(EvalContext& context, const Value& v) {
  constexpr size_t kShownBytesMax = 256;
  bool is_text = v.kind == Kind::kCharacter;
  Value head = v;
  bool is_cut = internal::is_string(v.kind) && v.size > kShownBytesMax;
  if (is_cut) {
    head.size = kShownBytesMax;
    if (is_text) {  // not within a character
      while (head.size > 0 && (static_cast<unsigned char>(v.data[head.size]) & 0xC0) == 0x80) {
        --head.size;
      }
    }
  }
  std::string text = display_text(context, head);
  if (is_cut) text += "...";
  return is_text ? "'" + text + "'" : text;
}

std::string values_for_message(EvalContext& context, std::span<const Value> sources) {
  std::string text;
  for (const Value& v : sources) {
    if (!text.empty()) text += ", ";
    text += value_for_message(context, v);
  }
  return text;
}

bool is_same_type(const Value& v, const CastTarget& target) {
  if (v.kind != target.kind) return false;
  if (v.kind == Kind::kDecimal) return target.precision < 0 && target.scale < 0;
  if (v.kind == Kind::kInterval) {
    return !target.has_qualifier || v.interval_qualifier() == target.qualifier;
  }
  return true;
}

}  // namespace

Status cast(EvalContext& context, std::span<const Value> sources, const CastTarget& target,
            const CastClauses& clauses, Value& out) {
  for (const Value& v : sources) {
    if (v.is_null()) {
      out = Value::null();
      return {};
    }
  }
  Value result;
  Status status;
  if (sources.size() == 1) {
    status = cast_one({context, sources[0], target, clauses, result});
  } else {
    status = internal::cast_many(context, sources, target, result);
  }
  if (status.ok()) {
    out = result;
    return {};
  }
  if (clauses.has_default) return cast_for_assignment(context, clauses.default_value, target, out);
  if (status.error().code == &errors::kUnsupportedCast) return status;
  return base::wrap_error(
      base::make_error(errors::kCastFailed,
                       {values_for_message(context, sources), internal::target_name(target)}),
      std::move(status));
}

Status cast_for_assignment(EvalContext& context, const Value& v, const CastTarget& target,
                           Value& out) {
  if (v.is_null() || is_same_type(v, target)) {
    out = v;
    out.spare = 0;
    return {};
  }
  CastClauses none;
  // INTERVAL is reached by way of CHARACTER, so a number cannot become one.
  if (target.kind == Kind::kInterval && v.kind != Kind::kInterval && v.kind != Kind::kCharacter) {
    Value unused;
    return unsupported_cast(CastJob{context, v, target, none, unused});
  }
  return cast(context, {&v, 1}, target, none, out);
}

std::string display_text(EvalContext& context, const Value& v) {
  if (v.kind == Kind::kCharacter || !internal::is_string(v.kind)) return internal::plain_text(v);
  CastTarget target;
  CastClauses none;
  Value out;
  Status status = cast_to_character(CastJob{context, v, target, none, out});
  return status.ok() ? std::string(out.text()) : std::string(kind_name(v.kind));
}

}  // namespace millstream::esql
