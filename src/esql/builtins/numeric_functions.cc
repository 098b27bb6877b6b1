#include "esql/builtins/numeric_functions.h"

#include <cmath>

#include "esql/builtins/arguments.h"
#include "esql/errors_gen.h"
#include "value/decimal.h"
#include "value/number_format.h"

namespace millstream::esql::builtins {

namespace {

using value::Decimal;
using value::Kind;
using value::Rounding;
using value::Value;
using Args = std::span<const Value>;

std::string shown_number(const Value& v) {
  if (v.kind == Kind::kInteger) return std::to_string(v.integer);
  if (v.kind == Kind::kFloat) return value::float_to_text(v.real);
  return v.as_decimal().to_text();
}

std::string shown_call(const char* function, Args args) {
  std::string out = std::string(function) + "(" + shown_number(args[0]);
  for (size_t i = 1; i < args.size(); ++i) out += ", " + shown_number(args[i]);
  return out + ")";
}

Status integer_overflow(const char* function, Args args) {
  return base::make_error(errors::kIntegerOverflow, {shown_call(function, args)});
}

// A FLOAT result; finite arguments must not give anything else.
Status float_result(const char* function, Args args, double result, Value& out) {
  bool is_finite = std::isfinite(result);
  for (const Value& v : args) is_finite = is_finite || !std::isfinite(real_value(v));
  if (!is_finite) return base::make_error(errors::kFloatOverflow, {shown_call(function, args)});
  out = Value::make_float(result);
  return {};
}

Status float_function(const char* function, double (*f)(double), Args args, Value& out) {
  MS_TRY(numeric_argument(function, 1, args[0]));
  return float_result(function, args.first(1), f(real_value(args[0])), out);
}

// A logarithm: its argument must be positive.
Status logarithm(const char* function, double (*f)(double), Args args, Value& out) {
  MS_TRY(numeric_argument(function, 1, args[0]));
  double x = real_value(args[0]);
  if (x <= 0) return argument_value_error(function, 1, shown_number(args[0]), "a positive number");
  return float_result(function, args, f(x), out);
}

Status inverse_sine(const char* function, double (*f)(double), Args args, Value& out) {
  MS_TRY(numeric_argument(function, 1, args[0]));
  double x = real_value(args[0]);
  if (x < -1 || x > 1) {
    return argument_value_error(function, 1, shown_number(args[0]), "a number from -1 to 1");
  }
  return float_result(function, args, f(x), out);
}

Status fold_integers(const char* function, Args args, int64_t (*f)(int64_t, int64_t), Value& out) {
  int64_t result = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    int64_t n = 0;
    MS_TRY(integer_argument(function, static_cast<int>(i) + 1, args[i], n));
    result = i == 0 ? n : f(result, n);
  }
  out = Value::make_integer(result);
  return {};
}

Status round_integer(const char* function, Args args, int64_t places, Rounding mode, Value& out) {
  if (places >= 0) {
    out = args[0];
    return {};
  }
  int64_t result = 0;
  Decimal rounded = Decimal::from_int64(args[0].integer).round_to_scale(places, mode);
  if (!rounded.to_int64(result)) return integer_overflow(function, args);
  out = Value::make_integer(result);
  return {};
}

// FLOAT goes through its 15 significant digits, so that 0.285 rounds as it is written.
double round_float(double d, int64_t places, Rounding mode) {
  Decimal exact = Decimal::from_double(d);
  if (!exact.is_finite() || exact.scale() <= places) return d;
  return exact.round_to_scale(places, mode).to_double();
}

Status mode_argument(Args args, Rounding& out) {
  int64_t mode = 0;
  MS_TRY(integer_argument("ROUND", 3, args[2], mode));
  if (mode < 0 || mode > static_cast<int64_t>(Rounding::kHalfDown)) {
    return argument_value_error("ROUND", 3, std::to_string(mode), "a mode such as ROUND_HALF_UP");
  }
  out = static_cast<Rounding>(mode);
  return {};
}

Status to_whole(EvalContext& context, const char* function, double (*f)(double), Rounding mode,
                Args args, Value& out) {
  MS_TRY(numeric_argument(function, 1, args[0]));
  switch (args[0].kind) {
    case Kind::kFloat:
      out = Value::make_float(f(args[0].real));
      break;
    case Kind::kDecimal:
      out = Value::make_decimal(args[0].as_decimal().to_integral(mode), context.arena());
      break;
    default:
      out = args[0];
  }
  return {};
}

}  // namespace

Status fn_abs(EvalContext& context, Args args, Value& out) {
  const Value& v = args[0];
  MS_TRY(numeric_argument("ABS", 1, v));
  if (v.kind == Kind::kFloat) {
    out = Value::make_float(std::fabs(v.real));
  } else if (v.kind == Kind::kDecimal) {
    out = Value::make_decimal(v.as_decimal().absolute(), context.arena());
  } else {
    if (v.integer == INT64_MIN) return integer_overflow("ABS", args);
    out = Value::make_integer(v.integer < 0 ? -v.integer : v.integer);
  }
  return {};
}

Status fn_sign(EvalContext& context, Args args, Value& out) {
  const Value& v = args[0];
  MS_TRY(numeric_argument("SIGN", 1, v));
  if (v.kind == Kind::kFloat) {
    out = Value::make_float(std::isnan(v.real) ? v.real : (v.real > 0) - (v.real < 0));
  } else if (v.kind == Kind::kDecimal) {
    Decimal d = v.as_decimal();
    out = d.is_nan() ? v : Value::make_decimal(Decimal::from_int64(d.sign()), context.arena());
  } else {
    out = Value::make_integer((v.integer > 0) - (v.integer < 0));
  }
  return {};
}

Status fn_ceil(EvalContext& context, Args args, Value& out) {
  return to_whole(context, "CEIL", std::ceil, Rounding::kCeiling, args, out);
}

Status fn_floor(EvalContext& context, Args args, Value& out) {
  return to_whole(context, "FLOOR", std::floor, Rounding::kFloor, args, out);
}

// ROUND(n, places [, mode])
Status fn_round(EvalContext& context, Args args, Value& out) {
  int64_t places = 0;
  Rounding mode = Rounding::kHalfEven;
  MS_TRY(numeric_argument("ROUND", 1, args[0]));
  MS_TRY(integer_argument("ROUND", 2, args[1], places));
  if (args.size() > 2) MS_TRY(mode_argument(args, mode));
  if (args[0].kind == Kind::kInteger) return round_integer("ROUND", args, places, mode, out);
  if (args[0].kind == Kind::kFloat) {
    out = Value::make_float(round_float(args[0].real, places, mode));
  } else {
    out = Value::make_decimal(args[0].as_decimal().round_to_scale(places, mode), context.arena());
  }
  return {};
}

Status fn_truncate(EvalContext& context, Args args, Value& out) {
  int64_t places = 0;
  MS_TRY(numeric_argument("TRUNCATE", 1, args[0]));
  MS_TRY(integer_argument("TRUNCATE", 2, args[1], places));
  if (args[0].kind == Kind::kInteger) {
    return round_integer("TRUNCATE", args, places, Rounding::kDown, out);
  }
  if (args[0].kind == Kind::kFloat) {
    out = Value::make_float(round_float(args[0].real, places, Rounding::kDown));
  } else {
    out = Value::make_decimal(args[0].as_decimal().truncate_to_scale(places), context.arena());
  }
  return {};
}

Status fn_mod(EvalContext&, Args args, Value& out) {
  int64_t a = 0, b = 0;
  MS_TRY(integer_argument("MOD", 1, args[0], a));
  MS_TRY(integer_argument("MOD", 2, args[1], b));
  if (b == 0) {
    return base::make_error(errors::kIntegerDivideByZero, {shown_call("MOD", args)});
  }
  out = Value::make_integer(b == -1 ? 0 : a % b);  // INT64_MIN % -1 traps
  return {};
}

Status fn_bitand(EvalContext&, Args args, Value& out) {
  return fold_integers("BITAND", args, [](int64_t a, int64_t b) { return a & b; }, out);
}

Status fn_bitor(EvalContext&, Args args, Value& out) {
  return fold_integers("BITOR", args, [](int64_t a, int64_t b) { return a | b; }, out);
}

Status fn_bitxor(EvalContext&, Args args, Value& out) {
  return fold_integers("BITXOR", args, [](int64_t a, int64_t b) { return a ^ b; }, out);
}

Status fn_bitnot(EvalContext&, Args args, Value& out) {
  int64_t n = 0;
  MS_TRY(integer_argument("BITNOT", 1, args[0], n));
  out = Value::make_integer(~n);
  return {};
}

Status fn_sqrt(EvalContext& context, Args args, Value& out) {
  MS_TRY(numeric_argument("SQRT", 1, args[0]));
  if (real_value(args[0]) < 0) {
    return argument_value_error("SQRT", 1, shown_number(args[0]), "zero or more");
  }
  if (args[0].kind != Kind::kDecimal) return float_function("SQRT", std::sqrt, args, out);
  Decimal root;
  MS_TRY(Decimal::square_root(args[0].as_decimal(), root));
  out = Value::make_decimal(root, context.arena());
  return {};
}

Status fn_power(EvalContext& context, Args args, Value& out) {
  MS_TRY(numeric_argument("POWER", 1, args[0]));
  MS_TRY(numeric_argument("POWER", 2, args[1]));
  double base = real_value(args[0]), exponent = real_value(args[1]);
  if (base == 0 && exponent < 0) {
    return argument_value_error("POWER", 2, shown_number(args[1]), "zero or more for a base of 0");
  }
  if (args[0].kind == Kind::kDecimal && args[1].kind != Kind::kFloat) {
    Decimal n = args[1].kind == Kind::kInteger ? Decimal::from_int64(args[1].integer)
                                               : args[1].as_decimal();
    int64_t whole = 0;
    if (n.is_integer() && n.to_int64(whole)) {
      Decimal result;
      MS_TRY(Decimal::power(args[0].as_decimal(), whole, result));
      out = Value::make_decimal(result, context.arena());
      return {};
    }
  }
  if (base < 0 && std::isfinite(exponent) && exponent != std::floor(exponent)) {
    return argument_value_error("POWER", 2, shown_number(args[1]),
                                "an integer for a negative base");
  }
  return float_result("POWER", args, std::pow(base, exponent), out);
}

Status fn_exp(EvalContext&, Args args, Value& out) {
  return float_function("EXP", std::exp, args, out);
}

Status fn_ln(EvalContext&, Args args, Value& out) { return logarithm("LN", std::log, args, out); }

Status fn_log10(EvalContext&, Args args, Value& out) {
  return logarithm("LOG10", std::log10, args, out);
}

Status fn_sin(EvalContext&, Args args, Value& out) {
  return float_function("SIN", std::sin, args, out);
}

Status fn_cos(EvalContext&, Args args, Value& out) {
  return float_function("COS", std::cos, args, out);
}

Status fn_tan(EvalContext&, Args args, Value& out) {
  return float_function("TAN", std::tan, args, out);
}

Status fn_cot(EvalContext&, Args args, Value& out) {
  MS_TRY(numeric_argument("COT", 1, args[0]));
  if (real_value(args[0]) == 0) {
    return argument_value_error("COT", 1, shown_number(args[0]), "a number other than 0");
  }
  return float_function("COT", [](double x) { return 1 / std::tan(x); }, args, out);
}

Status fn_asin(EvalContext&, Args args, Value& out) {
  return inverse_sine("ASIN", std::asin, args, out);
}

Status fn_acos(EvalContext&, Args args, Value& out) {
  return inverse_sine("ACOS", std::acos, args, out);
}

Status fn_atan(EvalContext&, Args args, Value& out) {
  return float_function("ATAN", std::atan, args, out);
}

Status fn_atan2(EvalContext&, Args args, Value& out) {
  MS_TRY(numeric_argument("ATAN2", 1, args[0]));
  MS_TRY(numeric_argument("ATAN2", 2, args[1]));
  return float_result("ATAN2", args, std::atan2(real_value(args[0]), real_value(args[1])), out);
}

Status fn_sinh(EvalContext&, Args args, Value& out) {
  return float_function("SINH", std::sinh, args, out);
}

Status fn_cosh(EvalContext&, Args args, Value& out) {
  return float_function("COSH", std::cosh, args, out);
}

Status fn_tanh(EvalContext&, Args args, Value& out) {
  return float_function("TANH", std::tanh, args, out);
}

Status fn_degrees(EvalContext&, Args args, Value& out) {
  return float_function("DEGREES", [](double x) { return x * (180 / M_PI); }, args, out);
}

Status fn_radians(EvalContext&, Args args, Value& out) {
  return float_function("RADIANS", [](double x) { return x * (M_PI / 180); }, args, out);
}

// RAND([seed]): a seed starts the sequence of this thread anew.
Status fn_rand(EvalContext& context, Args args, Value& out) {
  thread_local uint64_t state = 0;
  thread_local bool is_seeded = false;
  if (!args.empty()) {
    int64_t seed = 0;
    MS_TRY(integer_argument("RAND", 1, args[0], seed));
    state = static_cast<uint64_t>(seed);
    is_seeded = true;
  }
  if (!is_seeded) {  // threads and invocations start at different places
    state = static_cast<uint64_t>(context.now_gmt_micros) ^ reinterpret_cast<uintptr_t>(&state);
    is_seeded = true;
  }
  // One step of a 64-bit Weyl sequence with a mixing function; not for secrets.
  state += 0x9E3779B97F4A7C15u;
  uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
  mixed ^= mixed >> 31;
  out = Value::make_float(static_cast<double>(mixed >> 11) * 0x1.0p-53);
  return {};
}

}  // namespace millstream::esql::builtins
