// The numeric functions of ESQL (spec A8). ABS, CEIL, FLOOR, ROUND, SIGN and TRUNCATE keep the type
// of their argument; MOD and BIT* take INTEGER; SQRT and POWER of a DECIMAL are DECIMAL where that
// is exact arithmetic; everything else is FLOAT. Their records are in numeric.yaml.
// Thread: any; RAND has one sequence a thread.
#pragma once
#include <span>

#include "base/result.h"
#include "esql/eval_context.h"
#include "value/value.h"

namespace millstream::esql::builtins {

Status fn_abs(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_acos(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_asin(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_atan(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_atan2(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_bitand(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_bitnot(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_bitor(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_bitxor(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_ceil(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_cos(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_cosh(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_cot(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_degrees(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_exp(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_floor(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_ln(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_log10(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_mod(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_power(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_radians(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_rand(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_round(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_sign(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_sin(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_sinh(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_sqrt(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_tan(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_tanh(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_truncate(EvalContext& context, std::span<const value::Value> args, value::Value& out);

}  // namespace millstream::esql::builtins
