// String functions that look for a part: CONTAINS, POSITION, REPLACE, SUBSTRING BEFORE, TRANSLATE.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "esql/builtins/arguments.h"
#include "esql/builtins/string_functions.h"

namespace millstream::esql::builtins {

namespace {

using value::Value;
using Args = std::span<const Value>;

constexpr size_t kNone = std::string_view::npos;

// Matches are counted without overlaps. A UTF-8 sequence is found only where a code point starts.
int64_t position_forward(const Singletons& s, std::string_view x, int64_t from, int64_t repeat) {
  size_t at = from <= 1 ? 0 : s.offset_of(static_cast<uint64_t>(from - 1));
  for (;; at += x.size()) {
    at = find_part(s.bytes(), x, at);
    if (at == kNone) return 0;
    if (--repeat == 0) return static_cast<int64_t>(s.index_of_offset(at)) + 1;
  }
}

std::string_view reversed_copy(EvalContext& context, std::string_view s) {
  char* p = context.arena().bytes(s.size());
  std::reverse_copy(s.begin(), s.end(), p);
  return {p, s.size()};
}

// From the end: `from` counts from the last singleton, and the match ends there or before.
int64_t position_backward(EvalContext& context, const Singletons& s, std::string_view x,
                          int64_t from, uint64_t repeat) {
  size_t end = from <= 1 ? s.bytes().size() : s.offset_from_end(static_cast<uint64_t>(from - 1));
  std::string_view mirrored = reversed_copy(context, s.bytes().substr(0, end));
  std::string_view mirrored_x = reversed_copy(context, x);
  for (size_t at = 0;; at += x.size()) {
    at = find_part(mirrored, mirrored_x, at);
    if (at == kNone) return 0;
    if (--repeat == 0) return static_cast<int64_t>(s.index_of_offset(end - at - x.size())) + 1;
  }
}

// BEFORE and AFTER share their arguments: (s, x [, n]).
Status split_arguments(EvalContext& context, const char* function, Args args, Singletons* parts,
                       int64_t& count) {
  MS_TRY(Singletons::create_same(context, function, 1, {&args[0], &args[1]}, parts));
  count = INT64_MAX;
  if (args.size() > 2) MS_TRY(integer_argument(function, 3, args[2], count));
  if (count < 0) count = 0;
  return {};
}

Status test_part(EvalContext& context, const char* function, Args args,
                 bool (*test)(std::string_view s, std::string_view x), Value& out) {
  Singletons parts[2];
  MS_TRY(Singletons::create_same(context, function, 1, {&args[0], &args[1]}, parts));
  out = Value::make_boolean(test(parts[0].bytes(), parts[1].bytes()));
  return {};
}

}  // namespace

Status fn_contains(EvalContext& context, Args args, Value& out) {
  return test_part(
      context, "CONTAINS", args,
      [](std::string_view s, std::string_view x) { return find_part(s, x) != kNone; }, out);
}

Status fn_startswith(EvalContext& context, Args args, Value& out) {
  return test_part(
      context, "STARTSWITH", args,
      [](std::string_view s, std::string_view x) { return s.starts_with(x); }, out);
}

Status fn_endswith(EvalContext& context, Args args, Value& out) {
  return test_part(
      context, "ENDSWITH", args,
      [](std::string_view s, std::string_view x) { return s.ends_with(x); }, out);
}

// POSITION(x, s [, from [, repeat]])
Status fn_position(EvalContext& context, Args args, Value& out) {
  Singletons parts[2];
  int64_t from = 1, repeat = 1;
  MS_TRY(Singletons::create_same(context, "POSITION", 1, {&args[0], &args[1]}, parts));
  if (args.size() > 2) MS_TRY(integer_argument("POSITION", 3, args[2], from));
  if (args.size() > 3) MS_TRY(integer_argument("POSITION", 4, args[3], repeat));
  std::string_view x = parts[0].bytes();
  int64_t position = 0;
  if (x.empty()) {
    position = 1;
  } else if (repeat > 0) {
    position = position_forward(parts[1], x, from, repeat);
  } else if (repeat < 0) {
    position = position_backward(context, parts[1], x, from, 0 - static_cast<uint64_t>(repeat));
  }
  out = Value::make_integer(position);
  return {};
}

// REPLACE(s, x [, y])
Status fn_replace(EvalContext& context, Args args, Value& out) {
  Singletons parts[3];
  if (args.size() > 2) {
    MS_TRY(Singletons::create_same(context, "REPLACE", 1, {&args[0], &args[1], &args[2]}, parts));
  } else {
    MS_TRY(Singletons::create_same(context, "REPLACE", 1, {&args[0], &args[1]}, parts));
  }
  std::string_view s = parts[0].bytes(), x = parts[1].bytes(), y = parts[2].bytes();
  size_t found = 0;
  if (!x.empty()) {
    for (size_t at = find_part(s, x); at != kNone; at = find_part(s, x, at + x.size())) ++found;
  }
  if (found == 0) {
    out = args[0];
    return {};
  }
  uint64_t size = s.size() - found * x.size() + static_cast<uint64_t>(found) * y.size();
  if (size > kResultBytesMax) return result_too_long("REPLACE", kResultBytesMax);
  char* p = context.arena().bytes(size);
  char* to = p;
  size_t done = 0;
  auto append = [&to](std::string_view piece) {
    if (!piece.empty()) std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
  };
  for (size_t at = find_part(s, x); at != kNone; at = find_part(s, x, done)) {
    append(s.substr(done, at - done));
    append(y);
    done = at + x.size();
  }
  append(s.substr(done));
  out = parts[0].make(context, {p, size});
  return {};
}

Status fn_substring_before(EvalContext& context, Args args, Value& out) {
  Singletons parts[2];
  int64_t count = 0;
  MS_TRY(split_arguments(context, "SUBSTRING", args, parts, count));
  size_t at = find_part(parts[0].bytes(), parts[1].bytes());
  std::string_view before;
  if (at != kNone) {
    uint64_t index = parts[0].index_of_offset(at);
    uint64_t skipped =
        index > static_cast<uint64_t>(count) ? index - static_cast<uint64_t>(count) : 0;
    size_t start = parts[0].offset_of(skipped);
    before = parts[0].bytes().substr(start, at - start);
  }
  out = parts[0].make(context, before);
  return {};
}

Status fn_substring_after(EvalContext& context, Args args, Value& out) {
  Singletons parts[2];
  int64_t count = 0;
  MS_TRY(split_arguments(context, "SUBSTRING", args, parts, count));
  size_t at = find_part(parts[0].bytes(), parts[1].bytes());
  std::string_view after;
  if (at != kNone) {
    size_t start = at + parts[1].bytes().size();
    after = parts[0].bytes().substr(start);
    if (static_cast<uint64_t>(count) < after.size()) {
      uint64_t last = parts[0].index_of_offset(start) + static_cast<uint64_t>(count);
      after = after.substr(0, parts[0].offset_of(last) - start);
    }
  }
  out = parts[0].make(context, after);
  return {};
}

// TRANSLATE(s, from [, to]): one singleton for another; one that has no partner is dropped.
Status fn_translate(EvalContext& context, Args args, Value& out) {
  Singletons parts[3];
  if (args.size() > 2) {
    MS_TRY(Singletons::create_same(context, "TRANSLATE", 1, {&args[0], &args[1], &args[2]}, parts));
  } else {
    MS_TRY(Singletons::create_same(context, "TRANSLATE", 1, {&args[0], &args[1]}, parts));
  }
  const Singletons &s = parts[0], &from = parts[1], &to = parts[2];
  using Pair = std::pair<std::string_view, std::string_view>;
  std::vector<Pair> pairs;
  bool may_grow = false;
  for (size_t at = 0, to_at = 0, next; at < from.bytes().size(); at = next) {
    next = from.next(at);
    size_t to_next = to_at < to.bytes().size() ? to.next(to_at) : to_at;
    pairs.emplace_back(from.bytes().substr(at, next - at),
                       to.bytes().substr(to_at, to_next - to_at));
    may_grow = may_grow || to_next - to_at > next - at;
    to_at = to_next;
  }
  auto is_before = [](const Pair& a, const Pair& b) { return a.first < b.first; };
  std::stable_sort(pairs.begin(), pairs.end(), is_before);  // of equal ones the first counts
  uint64_t size_max = uint64_t{s.bytes().size()} * (may_grow ? 4 : 1);
  if (size_max > kResultBytesMax) return result_too_long("TRANSLATE", kResultBytesMax);
  char* p = context.arena().bytes(size_max);
  size_t size = 0;
  for (size_t at = 0, next; at < s.bytes().size(); at = next) {
    next = s.next(at);
    std::string_view piece = s.bytes().substr(at, next - at);
    auto match = std::lower_bound(pairs.begin(), pairs.end(), Pair(piece, {}), is_before);
    if (match != pairs.end() && match->first == piece) piece = match->second;
    if (!piece.empty()) std::memcpy(p + size, piece.data(), piece.size());
    size += piece.size();
  }
  out = s.make(context, {p, size});
  return {};
}

}  // namespace millstream::esql::builtins
