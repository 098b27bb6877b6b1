// The string functions of ESQL (spec A8) over CHARACTER, BLOB and BIT. Arguments are positional as
// esql/builtin.h says; their records are in string.yaml. NULL arguments never arrive here.
// Thread: any.
#pragma once
#include <span>

#include "base/result.h"
#include "esql/eval_context.h"
#include "value/value.h"

namespace millstream::esql::builtins {

Status fn_contains(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_startswith(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_endswith(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_left(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_right(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_length(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_lower(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_upper(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_ltrim(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_rtrim(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_trim(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_overlay(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_position(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_replace(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_replicate(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_space(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_substring(EvalContext& context, std::span<const value::Value> args, value::Value& out);
Status fn_substring_before(EvalContext& context, std::span<const value::Value> args,
                           value::Value& out);
Status fn_substring_after(EvalContext& context, std::span<const value::Value> args,
                          value::Value& out);
Status fn_translate(EvalContext& context, std::span<const value::Value> args, value::Value& out);

}  // namespace millstream::esql::builtins
