// What one DECIMAL operation costs: inline (up to 18 digits) beside the general form.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/arena.h"
#include "value/decimal.h"

namespace {

using millstream::value::Decimal;
using millstream::value::Value;

std::vector<Value> prices() {
  std::vector<Value> out;
  for (int i = 0; i < 1000; ++i) out.push_back(Value::make_inline_decimal(12345 + i * 37, -2));
  return out;
}

Decimal parsed(std::string_view text) {
  Decimal d;
  Decimal::parse(text, d);
  return d;
}

void add_inline(benchmark::State& state) {
  std::vector<Value> values = prices();
  for (auto _ : state) {
    Value sum = Value::make_inline_decimal(0, 0);
    for (const Value& v : values) millstream::value::try_add_inline(sum, v, sum);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(add_inline);

using Operation = millstream::Status (*)(const Decimal&, const Decimal&, Decimal&);

void general(benchmark::State& state, Operation f, const char* a, const char* b) {
  Decimal x = parsed(a), y = parsed(b), out;
  for (auto _ : state) {
    benchmark::DoNotOptimize(x);
    benchmark::DoNotOptimize(f(x, y, out).ok());
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK_CAPTURE(general, add_short, &Decimal::add, "123.45", "9.999");
BENCHMARK_CAPTURE(general, add_34, &Decimal::add, "1234567890.123456789012345678901234",
                  "9999999.999999999999999999999999999");
BENCHMARK_CAPTURE(general, multiply_short, &Decimal::multiply, "123.45", "1.6");
BENCHMARK_CAPTURE(general, multiply_34, &Decimal::multiply, "1234567890.123456789012345678901234",
                  "9999999.999999999999999999999999999");
BENCHMARK_CAPTURE(general, divide_exact, &Decimal::divide, "1", "4");
BENCHMARK_CAPTURE(general, divide_34, &Decimal::divide, "1", "3");

void parse_price(benchmark::State& state) {
  Decimal out;
  for (auto _ : state) benchmark::DoNotOptimize(Decimal::parse("1234.56", out));
}
BENCHMARK(parse_price);

void write_price(benchmark::State& state) {
  Decimal d = parsed("1234.56");
  for (auto _ : state) benchmark::DoNotOptimize(d.to_text());
}
BENCHMARK(write_price);

}  // namespace
