// The scalar built-in functions. Their records are in esql/builtins/*.yaml; tools/gen.py writes the
// table (esql/builtins_gen.cc) and the reference pages from it. Functions over fields and lists
// (CARDINALITY, FIELDNAME, ASBITSTREAM, ...) are part of the executor, with a record of their own
// (form: field) so that the reference is complete.
//
// Keyword forms are turned into positional arguments by the ESQL parser, defaults filled in:
//   SUBSTRING(s FROM p [FOR n])        -> SUBSTRING(s, p [, n])
//   SUBSTRING(s BEFORE x [FOR n])      -> SUBSTRING_BEFORE(s, x [, n])
//   SUBSTRING(s AFTER x [FOR n])       -> SUBSTRING_AFTER(s, x [, n])
//   TRIM([BOTH|LEADING|TRAILING] [x] FROM s) -> TRIM(mode, s [, x]) with mode 0, 1, 2
//   POSITION(x IN s [FROM p] [REPEAT k])     -> POSITION(x, s, p, k) with defaults 1, 1
//   OVERLAY(s PLACING x FROM p [FOR n])      -> OVERLAY(s, x, p [, n])
//   EXTRACT(part FROM d)               -> EXTRACT(part, d) with part = ExtractPart as INTEGER
//   ROUND(n, p [MODE m])               -> ROUND(n, p, m) with m = value::Rounding as INTEGER
#pragma once
#include <span>
#include <string_view>

#include "base/result.h"
#include "esql/eval_context.h"
#include "value/value.h"

namespace millstream::esql {

enum class ExtractPart : uint8_t {
  kYear,
  kMonth,
  kDay,
  kHour,
  kMinute,
  kSecond,
  kDays,
  kDayOfYear,
  kDayOfWeek,
  kMonths,
  kQuarterOfYear,
  kQuarters,
  kWeeks,
  kWeekOfYear,
  kWeekOfMonth,
  kIsLeapYear,
};

enum class NullRule : uint8_t {
  kPropagates,  // any NULL argument gives NULL; the function never sees one
  kHandles,     // the function sees NULLs (COALESCE, NULLIF, ...)
};

using BuiltinFunction = Status (*)(EvalContext& context, std::span<const value::Value> args,
                                   value::Value& out);

struct Builtin {
  const char* name;  // upper case
  uint8_t args_min;
  uint8_t args_max;  // 255 = any number
  NullRule null_rule;
  bool is_pure;              // may be folded when all arguments are constants
  BuiltinFunction function;  // null for form: field
};

const Builtin* find_builtin(std::string_view upper_name);  // null when there is none

}  // namespace millstream::esql
