// Operators on scalar values: the type rules, NULL rules and errors of spec A4.
// Thread: any. Results live in the context's arena.
#pragma once
#include "base/result.h"
#include "esql/eval_context.h"
#include "value/value.h"

namespace millstream::esql {

enum class ArithmeticOp : uint8_t { kAdd, kSubtract, kMultiply, kDivide };
enum class CompareOp : uint8_t { kEqual, kNotEqual, kLess, kGreater, kLessEqual, kGreaterEqual };
// Three-valued logic; kUnknown is a NULL boolean.
enum class Tri : uint8_t { kFalse, kTrue, kUnknown };

Status arithmetic(EvalContext& context, ArithmeticOp op, const value::Value& a,
                  const value::Value& b, value::Value& out);
// datetime - datetime with the qualifier written after the parentheses: (a - b) DAY.
Status subtract_to_interval(EvalContext& context, const value::Value& a, const value::Value& b,
                            value::IntervalQualifier qualifier, value::Value& out);
Status negate(EvalContext& context, const value::Value& a, value::Value& out);
Status concatenate(EvalContext& context, const value::Value& a, const value::Value& b,
                   value::Value& out);
Status compare(EvalContext& context, CompareOp op, const value::Value& a, const value::Value& b,
               Tri& out);
// `escape` NULL = none.
Status like(EvalContext& context, const value::Value& text, const value::Value& pattern,
            const value::Value& escape, Tri& out);
// BOOLEAN, NULL, or CHARACTER cast to BOOLEAN; anything else is an error.
Status to_tri(EvalContext& context, const value::Value& v, Tri& out);
Tri tri_and(Tri a, Tri b);
Tri tri_or(Tri a, Tri b);
Tri tri_not(Tri a);
value::Value tri_value(Tri t);

}  // namespace millstream::esql
