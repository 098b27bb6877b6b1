#include "esql/builtins/string_functions.h"

#include <cstring>

#include "esql/builtins/arguments.h"
#include "text/utf8.h"

namespace millstream::esql::builtins {

namespace {

using value::Kind;
using value::Value;
using Args = std::span<const Value>;

constexpr int64_t kTrimBoth = 0, kTrimLeading = 1, kTrimTrailing = 2;

std::string_view default_trim_singleton(Kind kind) {
  return kind == Kind::kCharacter ? std::string_view(" ", 1) : std::string_view("\0", 1);
}

std::string_view trim_singletons(std::string_view s, std::string_view x, int64_t mode) {
  // A whole code point at the start or end can be compared as bytes: UTF-8 has no overlaps.
  while (mode != kTrimTrailing && s.starts_with(x)) s.remove_prefix(x.size());
  while (mode != kTrimLeading && s.ends_with(x)) s.remove_suffix(x.size());
  return s;
}

Status trim_with_default(EvalContext& context, const char* function, const Value& v, int64_t mode,
                         Value& out) {
  Singletons s;
  MS_TRY(Singletons::create(context, function, 1, v, s));
  out = s.make(context, trim_singletons(s.bytes(), default_trim_singleton(s.kind()), mode));
  return {};
}

// The part of s that lies in the positions [from, from + count), both of any size and sign.
std::string_view substring_of(const Singletons& s, int64_t from, bool has_count, int64_t count) {
  int64_t end = INT64_MAX;  // exclusive
  if (has_count && __builtin_add_overflow(from, count, &end)) {
    end = count > 0 ? INT64_MAX : INT64_MIN;
  }
  if (from < 1) from = 1;
  if (end <= from) return {};
  size_t start = s.offset_of(static_cast<uint64_t>(from - 1));
  std::string_view rest = s.bytes().substr(start);
  if (!has_count) return rest;
  uint64_t wanted = static_cast<uint64_t>(end) - static_cast<uint64_t>(from);
  if (wanted >= rest.size()) return rest;
  size_t stop = start;
  if (wanted <= 64) {  // usual: a few singletons of a long text
    for (uint64_t i = 0; i < wanted && stop < s.bytes().size(); ++i) stop = s.next(stop);
  } else {
    stop = s.offset_of(static_cast<uint64_t>(end - 1));
  }
  return s.bytes().substr(start, stop - start);
}

// Lower or upper case; ASCII without a detour.
Status change_case(EvalContext& context, const char* function, const Value& v, bool to_upper,
                   Value& out) {
  MS_TRY(character_argument(function, 1, v));
  std::string_view s = v.text();
  if (!text::is_ascii(s)) {
    out = Value::make_character(
        context.arena().copy(to_upper ? text::to_upper(s) : text::to_lower(s)));
    return {};
  }
  char* p = context.arena().bytes(s.size());
  char first = to_upper ? 'a' : 'A', last = to_upper ? 'z' : 'Z';
  for (size_t i = 0; i < s.size(); ++i) {
    p[i] = s[i] >= first && s[i] <= last ? static_cast<char>(s[i] ^ 0x20) : s[i];
  }
  out = Value::make_character({p, s.size()});
  return {};
}

}  // namespace

Status fn_left(EvalContext& context, Args args, Value& out) {
  Singletons s;
  int64_t n = 0;
  MS_TRY(Singletons::create(context, "LEFT", 1, args[0], s));
  MS_TRY(integer_argument("LEFT", 2, args[1], n));
  size_t end = n <= 0 ? 0 : s.offset_of(static_cast<uint64_t>(n));
  out = s.make(context, s.bytes().substr(0, end));
  return {};
}

Status fn_right(EvalContext& context, Args args, Value& out) {
  Singletons s;
  int64_t n = 0;
  MS_TRY(Singletons::create(context, "RIGHT", 1, args[0], s));
  MS_TRY(integer_argument("RIGHT", 2, args[1], n));
  size_t start = n <= 0 ? s.bytes().size() : s.offset_from_end(static_cast<uint64_t>(n));
  out = s.make(context, s.bytes().substr(start));
  return {};
}

Status fn_length(EvalContext& context, Args args, Value& out) {
  if (args[0].kind == Kind::kBit) {
    out = Value::make_integer(args[0].size);
    return {};
  }
  Singletons s;
  MS_TRY(Singletons::create(context, "LENGTH", 1, args[0], s));
  out = Value::make_integer(static_cast<int64_t>(s.count()));
  return {};
}

Status fn_lower(EvalContext& context, Args args, Value& out) {
  return change_case(context, "LOWER", args[0], false, out);
}

Status fn_upper(EvalContext& context, Args args, Value& out) {
  return change_case(context, "UPPER", args[0], true, out);
}

Status fn_ltrim(EvalContext& context, Args args, Value& out) {
  return trim_with_default(context, "LTRIM", args[0], kTrimLeading, out);
}

Status fn_rtrim(EvalContext& context, Args args, Value& out) {
  return trim_with_default(context, "RTRIM", args[0], kTrimTrailing, out);
}

// TRIM(mode, s [, x])
Status fn_trim(EvalContext& context, Args args, Value& out) {
  int64_t mode = 0;
  MS_TRY(integer_argument("TRIM", 1, args[0], mode));
  if (mode < kTrimBoth || mode > kTrimTrailing) {
    return argument_value_error("TRIM", 1, std::to_string(mode), "BOTH, LEADING or TRAILING");
  }
  if (args.size() < 3) return trim_with_default(context, "TRIM", args[1], mode, out);
  Singletons parts[2];
  MS_TRY(Singletons::create_same(context, "TRIM", 2, {&args[1], &args[2]}, parts));
  std::string_view x = parts[1].bytes();
  if (x.empty() || parts[1].next(0) != x.size()) {
    return argument_value_error("TRIM", 3, parts[1].kind() == Kind::kCharacter ? x : "...",
                                "exactly one character, byte or bit");
  }
  out = parts[0].make(context, trim_singletons(parts[0].bytes(), x, mode));
  return {};
}

// OVERLAY(s, x, p [, n])
Status fn_overlay(EvalContext& context, Args args, Value& out) {
  Singletons parts[2];
  int64_t from = 0, count = 0;
  MS_TRY(Singletons::create_same(context, "OVERLAY", 1, {&args[0], &args[1]}, parts));
  MS_TRY(integer_argument("OVERLAY", 3, args[2], from));
  count = static_cast<int64_t>(parts[1].count());
  if (args.size() > 3) MS_TRY(integer_argument("OVERLAY", 4, args[3], count));
  if (count < 0) count = 0;
  int64_t tail_from = 0;
  if (__builtin_add_overflow(from, count, &tail_from)) tail_from = INT64_MAX;
  std::string_view head;
  if (from > 1)
    head = parts[0].bytes().substr(0, parts[0].offset_of(static_cast<uint64_t>(from - 1)));
  std::string_view tail = substring_of(parts[0], tail_from, false, 0);
  std::string_view middle = parts[1].bytes();
  uint64_t size = uint64_t{head.size()} + middle.size() + tail.size();
  if (size > kResultBytesMax) return result_too_long("OVERLAY", kResultBytesMax);
  char* p = context.arena().bytes(size);
  char* at = p;
  for (std::string_view piece : {head, middle, tail}) {
    if (!piece.empty()) std::memcpy(at, piece.data(), piece.size());
    at += piece.size();
  }
  out = parts[0].make(context, {p, size});
  return {};
}

Status fn_replicate(EvalContext& context, Args args, Value& out) {
  Singletons s;
  int64_t n = 0;
  MS_TRY(Singletons::create(context, "REPLICATE", 1, args[0], s));
  MS_TRY(integer_argument("REPLICATE", 2, args[1], n));
  if (n < 0) return argument_value_error("REPLICATE", 2, std::to_string(n), "zero or more");
  std::string_view piece = s.bytes();
  if (n != 0 && piece.size() > kReplicatedBytesMax / static_cast<uint64_t>(n)) {
    return result_too_long("REPLICATE", kReplicatedBytesMax);
  }
  size_t size = piece.size() * static_cast<size_t>(n);
  char* p = context.arena().bytes(size);
  for (size_t at = 0; at < size; at += piece.size())
    std::memcpy(p + at, piece.data(), piece.size());
  out = s.make(context, {p, size});
  return {};
}

Status fn_space(EvalContext& context, Args args, Value& out) {
  int64_t n = 0;
  MS_TRY(integer_argument("SPACE", 1, args[0], n));
  if (n < 0) return argument_value_error("SPACE", 1, std::to_string(n), "zero or more");
  if (static_cast<uint64_t>(n) > kReplicatedBytesMax) {
    return result_too_long("SPACE", kReplicatedBytesMax);
  }
  char* p = context.arena().bytes(static_cast<size_t>(n));
  std::memset(p, ' ', static_cast<size_t>(n));
  out = Value::make_character({p, static_cast<size_t>(n)});
  return {};
}

// SUBSTRING(s, p [, n])
Status fn_substring(EvalContext& context, Args args, Value& out) {
  Singletons s;
  int64_t from = 0, count = 0;
  MS_TRY(Singletons::create(context, "SUBSTRING", 1, args[0], s));
  MS_TRY(integer_argument("SUBSTRING", 2, args[1], from));
  bool has_count = args.size() > 2;
  if (has_count) MS_TRY(integer_argument("SUBSTRING", 3, args[2], count));
  out = s.make(context, substring_of(s, from, has_count, count));
  return {};
}

}  // namespace millstream::esql::builtins
