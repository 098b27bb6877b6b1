// Comparison, LIKE and three-valued logic.
#include <cstring>
#include <span>

#include "base/ascii.h"
#include "esql/builtins/arguments.h"
#include "esql/cast.h"
#include "esql/errors_gen.h"
#include "esql/operators.h"
#include "text/utf8.h"
#include "value/datetime.h"
#include "value/decimal.h"

namespace millstream::esql {

namespace {

using value::Decimal;
using value::Kind;
using value::Ordering;
using value::Value;

Ordering order_of(int order) {
  return order < 0 ? Ordering::kLess : order > 0 ? Ordering::kGreater : Ordering::kEqual;
}

template <typename T>
Ordering order_numbers(T a, T b) {
  if (a < b) return Ordering::kLess;
  if (a > b) return Ordering::kGreater;
  return a == b ? Ordering::kEqual : Ordering::kUnordered;  // NaN
}

const char* symbol_of_compare(CompareOp op) {
  constexpr const char* kSymbols[] = {"=", "<>", "<", ">", "<=", ">="};
  return kSymbols[static_cast<int>(op)];
}

Tri decide(CompareOp op, Ordering order) {
  bool is_true = false;
  switch (op) {
    case CompareOp::kEqual:
      is_true = order == Ordering::kEqual;
      break;
    case CompareOp::kNotEqual:
      is_true = order != Ordering::kEqual;
      break;
    case CompareOp::kLess:
      is_true = order == Ordering::kLess;
      break;
    case CompareOp::kGreater:
      is_true = order == Ordering::kGreater;
      break;
    case CompareOp::kLessEqual:
      is_true = order == Ordering::kLess || order == Ordering::kEqual;
      break;
    case CompareOp::kGreaterEqual:
      is_true = order == Ordering::kGreater || order == Ordering::kEqual;
      break;
  }
  return is_true ? Tri::kTrue : Tri::kFalse;
}

// UTF-8 keeps the order of code points.
Ordering order_bytes(std::string_view a, std::string_view b) {
  size_t shared = a.size() < b.size() ? a.size() : b.size();
  int order = shared == 0 ? 0 : std::memcmp(a.data(), b.data(), shared);
  if (order != 0) return order_of(order);
  return order_numbers(a.size(), b.size());
}

Ordering order_text(std::string_view a, std::string_view b) {
  if (a.size() == b.size()) {
    int order = a.empty() ? 0 : std::memcmp(a.data(), b.data(), a.size());
    if (order == 0) return Ordering::kEqual;
  }
  return order_bytes(base::without_trailing_blanks(a), base::without_trailing_blanks(b));
}

Ordering order_bits(const Value& a, const Value& b) {
  // Padding bits are zero, so whole bytes can be compared before the lengths.
  uint32_t shared = a.size < b.size ? a.size : b.size;
  size_t bytes = (static_cast<size_t>(shared) + 7) / 8;
  for (size_t i = 0; i < bytes; ++i) {
    unsigned x = static_cast<unsigned char>(a.data[i]), y = static_cast<unsigned char>(b.data[i]);
    if (i + 1 == bytes && shared % 8 != 0) {
      unsigned mask = 0xFF00u >> (shared % 8);
      x &= mask;
      y &= mask;
    }
    if (x != y) return x < y ? Ordering::kLess : Ordering::kGreater;
  }
  return order_numbers(a.size, b.size);
}

double real_of(const Value& v) {
  if (v.kind == Kind::kFloat) return v.real;
  return v.kind == Kind::kInteger ? static_cast<double>(v.integer) : v.as_decimal().to_double();
}

Ordering order_decimals(const Value& a, const Value& b) {
  int order;
  if (value::try_compare_inline(a, b, order)) return order_of(order);
  auto decimal_of = [](const Value& v) {
    return v.kind == Kind::kInteger ? Decimal::from_int64(v.integer) : v.as_decimal();
  };
  return Decimal::compare(decimal_of(a), decimal_of(b));
}

bool is_number_kind(Kind k) {
  return k == Kind::kInteger || k == Kind::kFloat || k == Kind::kDecimal;
}

// Both datetimes as a local clock reading, for a pair of kinds that may be compared.
bool try_order_datetimes(EvalContext& context, const Value& a, const Value& b, Ordering& out) {
  auto is_clock = [](Kind k) { return k == Kind::kTime || k == Kind::kGmtTime; };
  if (!value::is_datetime(a.kind) || !value::is_datetime(b.kind)) return false;
  if (is_clock(a.kind) != is_clock(b.kind)) return false;
  auto reading = [&](const Value& v) {
    const value::TimeZone& zone = context.local_zone;
    if (v.kind == Kind::kDate) return v.integer * value::kMicrosPerDay;
    if (v.kind == Kind::kGmtTimestamp) return zone.to_local(v.integer);
    if (v.kind != Kind::kGmtTime) return v.integer;
    int64_t offset = zone.offset_at_gmt(context.now_gmt_micros) * value::kMicrosPerSecond;
    return value::floor_mod(v.integer + offset, value::kMicrosPerDay);
  };
  out = order_numbers(reading(a), reading(b));
  return true;
}

// The CHARACTER side of a comparison, as the type of the other side.
Status cast_side(EvalContext& context, const Value& text, const Value& other, Value& out) {
  if (other.kind == Kind::kInterval) return value::parse_interval_text(text.text(), nullptr, out);
  CastTarget target;
  target.kind = other.kind;
  return cast(context, std::span<const Value>(&text, 1), target, CastClauses{}, out);
}

Status order_same_kind(const Value& a, const Value& b, CompareOp op, Ordering& out) {
  switch (a.kind) {
    case Kind::kCharacter:
      out = order_text(a.text(), b.text());
      return {};
    case Kind::kBlob:
      out = order_bytes(a.text(), b.text());
      return {};
    case Kind::kBit:
      out = order_bits(a, b);
      return {};
    case Kind::kFloat:
      out = order_numbers(a.real, b.real);
      return {};
    case Kind::kDecimal:
      out = order_decimals(a, b);
      return {};
    case Kind::kInterval: {
      int order;
      if (!value::compare_intervals(a, b, order)) {
        return base::make_error(
            errors::kIncompatibleOperands,
            {symbol_of_compare(op), "INTERVAL of months", "INTERVAL of days or seconds"});
      }
      out = order_of(order);
      return {};
    }
    default:
      out = order_numbers(a.integer, b.integer);
      return {};
  }
}

Status order_mixed(EvalContext& context, const Value& a, const Value& b, CompareOp op,
                   Ordering& out) {
  if (is_number_kind(a.kind) && is_number_kind(b.kind)) {
    bool is_float = a.kind == Kind::kFloat || b.kind == Kind::kFloat;
    out = is_float ? order_numbers(real_of(a), real_of(b)) : order_decimals(a, b);
    return {};
  }
  if (a.kind == Kind::kCharacter || b.kind == Kind::kCharacter) {
    bool a_is_text = a.kind == Kind::kCharacter;
    Value converted;
    MS_TRY(cast_side(context, a_is_text ? a : b, a_is_text ? b : a, converted));
    if (converted.is_null()) {  // the text UNKNOWN as a BOOLEAN
      out = Ordering::kUnordered;
      return {};
    }
    return order_same_kind(a_is_text ? converted : a, a_is_text ? b : converted, op, out);
  }
  if (try_order_datetimes(context, a, b, out)) return {};
  return base::make_error(
      errors::kIncompatibleOperands,
      {symbol_of_compare(op), value::kind_name(a.kind), value::kind_name(b.kind)});
}

std::string_view character_at(std::string_view s, size_t at) {
  return s.substr(at, text::advance_code_points(s, at, 1) - at);
}

// What stands between two % of a LIKE pattern, its escapes resolved.
struct LikeSegment {
  // For _; no byte of UTF-8.
  static constexpr char kAnyCharacter = '\xFF';

  std::string_view text;
  bool has_any = false;

  // Where a match that starts at `at` ends; npos = none.
  size_t match_at(std::string_view s, size_t at) const {
    for (char c : text) {
      if (at >= s.size()) return std::string_view::npos;
      if (c == kAnyCharacter) {
        at = text::advance_code_points(s, at, 1);
      } else if (s[at++] != c) {
        return std::string_view::npos;
      }
    }
    return at;
  }

  // The end of the first match at or behind `at`.
  size_t find_end(std::string_view s, size_t at) const {
    if (!has_any) {
      size_t found = builtins::find_part(s, text, at);
      return found == std::string_view::npos ? found : found + text.size();
    }
    for (; at < s.size(); at = text::advance_code_points(s, at, 1)) {
      size_t end = match_at(s, at);
      if (end != std::string_view::npos) return end;
    }
    return std::string_view::npos;
  }

  // True when a match that starts at or behind `from` ends the text.
  bool matches_end(std::string_view s, size_t from) const {
    size_t count = 0;  // characters: bytes that continue none
    for (char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    size_t start = text::retreat_code_points(s, s.size(), count);
    return start >= from && match_at(s, start) == s.size();
  }
};

// Reads the pattern up to the next % or its end; `has_more` says which. `buffer` has room for the
// whole pattern and is used again for every segment.
LikeSegment next_like_segment(std::string_view pattern, std::string_view escape, size_t& at,
                              bool& has_more, char* buffer) {
  LikeSegment out;
  size_t size = 0;
  has_more = false;
  while (at < pattern.size()) {
    std::string_view c = character_at(pattern, at);
    at += c.size();
    if (!escape.empty() && c == escape) {
      c = character_at(pattern, at);
      at += c.size();
    } else if (c == "%") {
      has_more = true;
      break;
    } else if (c == "_") {
      buffer[size++] = LikeSegment::kAnyCharacter;
      out.has_any = true;
      continue;
    }
    if (!c.empty()) std::memcpy(buffer + size, c.data(), c.size());
    size += c.size();
  }
  out.text = {buffer, size};
  return out;
}

// Segments are placed from left to right, each as early as it can be; the last one ends the text.
bool matches_like(EvalContext& context, std::string_view s, std::string_view pattern,
                  std::string_view escape) {
  char* buffer = context.arena().bytes(pattern.size());
  size_t at = 0;
  bool has_more = false;
  LikeSegment segment = next_like_segment(pattern, escape, at, has_more, buffer);
  size_t position = segment.match_at(s, 0);
  if (position == std::string_view::npos) return false;
  if (!has_more) return position == s.size();
  while (true) {
    segment = next_like_segment(pattern, escape, at, has_more, buffer);
    if (!has_more) return segment.matches_end(s, position);
    if (segment.text.empty()) continue;
    position = segment.find_end(s, position);
    if (position == std::string_view::npos) return false;
  }
}

Status check_like_escape(std::string_view pattern, std::string_view escape) {
  auto refuse = [&](const char* why) {
    return base::make_error(errors::kLikeEscape, {std::string(pattern), why});
  };
  if (text::count_code_points(escape) != 1) return refuse("it is not one character");
  for (size_t at = 0; at < pattern.size();) {
    std::string_view c = character_at(pattern, at);
    at += c.size();
    if (c != escape) continue;
    if (at == pattern.size()) return refuse("nothing follows it");
    at += character_at(pattern, at).size();
  }
  return {};
}

}  // namespace

Status compare(EvalContext& context, CompareOp op, const Value& a, const Value& b, Tri& out) {
  if (a.is_null() || b.is_null()) {
    out = Tri::kUnknown;
    return {};
  }
  Ordering order = Ordering::kUnordered;
  if (a.kind == b.kind) {
    MS_TRY(order_same_kind(a, b, op, order));
  } else {
    MS_TRY(order_mixed(context, a, b, op, order));
    bool is_unknown_text = order == Ordering::kUnordered && a.kind != Kind::kFloat &&
                           b.kind != Kind::kFloat && a.kind != Kind::kDecimal &&
                           b.kind != Kind::kDecimal;
    if (is_unknown_text) {
      out = Tri::kUnknown;
      return {};
    }
  }
  out = decide(op, order);
  return {};
}

Status like(EvalContext& context, const Value& text, const Value& pattern, const Value& escape,
            Tri& out) {
  if (text.is_null() || pattern.is_null()) {
    out = Tri::kUnknown;
    return {};
  }
  if (text.kind != Kind::kCharacter || pattern.kind != Kind::kCharacter) {
    return base::make_error(errors::kIncompatibleOperands,
                            {"LIKE", value::kind_name(text.kind), value::kind_name(pattern.kind)});
  }
  std::string_view escape_text;
  if (!escape.is_null()) {
    if (escape.kind != Kind::kCharacter) {
      return base::make_error(errors::kLikeEscape,
                              {std::string(pattern.text()), "it is not CHARACTER"});
    }
    escape_text = escape.text();
    MS_TRY(check_like_escape(pattern.text(), escape_text));
  }
  out = matches_like(context, text.text(), pattern.text(), escape_text) ? Tri::kTrue : Tri::kFalse;
  return {};
}

Status to_tri(EvalContext& context, const Value& v, Tri& out) {
  if (v.kind == Kind::kBoolean) {
    out = v.boolean() ? Tri::kTrue : Tri::kFalse;
    return {};
  }
  if (v.is_null()) {
    out = Tri::kUnknown;
    return {};
  }
  if (v.kind != Kind::kCharacter) {
    return base::make_error(errors::kNotBoolean, {value::kind_name(v.kind)});
  }
  CastTarget target;
  target.kind = Kind::kBoolean;
  Value converted;
  MS_TRY(cast(context, std::span<const Value>(&v, 1), target, CastClauses{}, converted));
  return to_tri(context, converted, out);
}

Tri tri_and(Tri a, Tri b) {
  if (a == Tri::kFalse || b == Tri::kFalse) return Tri::kFalse;
  return a == Tri::kTrue && b == Tri::kTrue ? Tri::kTrue : Tri::kUnknown;
}

Tri tri_or(Tri a, Tri b) {
  if (a == Tri::kTrue || b == Tri::kTrue) return Tri::kTrue;
  return a == Tri::kFalse && b == Tri::kFalse ? Tri::kFalse : Tri::kUnknown;
}

Tri tri_not(Tri a) {
  if (a == Tri::kUnknown) return a;
  return a == Tri::kTrue ? Tri::kFalse : Tri::kTrue;
}

Value tri_value(Tri t) {
  return t == Tri::kUnknown ? Value::null() : Value::make_boolean(t == Tri::kTrue);
}

}  // namespace millstream::esql
