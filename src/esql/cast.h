// CAST and the implicit casts (spec A9, A4, A5). Results live in the context's arena.
// Thread: any.
#pragma once
#include <span>

#include "base/result.h"
#include "esql/eval_context.h"
#include "value/value.h"

namespace millstream::esql {

struct CastTarget {
  value::Kind kind = value::Kind::kCharacter;
  value::IntervalQualifier qualifier = value::IntervalQualifier::kSecond;  // kInterval
  bool has_qualifier = false;
  int32_t precision = -1;  // DECIMAL(p,s); -1 = not stated
  int32_t scale = -1;
};

// NULL values mean "clause absent" except for default_value, which has its own flag.
struct CastClauses {
  value::Value ccsid, encoding, format;
  bool has_default = false;
  value::Value default_value;
};

Status cast(EvalContext& context, std::span<const value::Value> sources, const CastTarget& target,
            const CastClauses& clauses, value::Value& out);
// To a declared scalar variable, parameter or return type; NULL stays NULL.
Status cast_for_assignment(EvalContext& context, const value::Value& v, const CastTarget& target,
                           value::Value& out);
// What XMLNSC, Trace, || error inserts show: the text of CAST(v AS CHARACTER); NULL is "NULL".
std::string display_text(EvalContext& context, const value::Value& v);

}  // namespace millstream::esql
