// The inner loops of typical transformations over 2,000 records: FOR, the naive indexed WHILE, a
// moving reference, and SELECT SUM.
#include <benchmark/benchmark.h>

#include "esql/exec_test_util.h"

namespace millstream::esql::testing {
namespace {

constexpr int kRecords = 2000;

void run_over_records(benchmark::State& state, std::string_view body) {
  Runner r(compute(body));
  if (!r.diagnostics.empty()) {
    state.SkipWithError(r.diagnostics.c_str());
    return;
  }
  tree::Element* doc = r.input_path({"XMLNSC", "doc"});
  for (int i = 0; i < kRecords; ++i) {
    tree::Element* item = r.add(doc, "item", "", tree::kName);
    r.add(item, "Name", "something");
    r.add(item, "Price", std::to_string(i) + ".25");
    r.add(item, "Quantity", std::to_string(i % 7));
  }
  for (auto _ : state) {
    std::string result = r.run();
    if (result != "TRUE") state.SkipWithError(result.c_str());
  }
  state.SetItemsProcessed(state.iterations() * kRecords);
}

void for_loop(benchmark::State& state) {
  run_over_records(state,
                   "DECLARE s DECIMAL 0; FOR x AS InputRoot.XMLNSC.doc.item[] DO "
                   "SET s = s + CAST(x.Price AS DECIMAL); SET s = s + CAST(x.Quantity AS DECIMAL); "
                   "END FOR; SET Environment.s = s; RETURN TRUE;");
}
BENCHMARK(for_loop);

void naive_while(benchmark::State& state) {
  run_over_records(state,
                   "DECLARE s DECIMAL 0; DECLARE I INTEGER 1; "
                   "WHILE I <= CARDINALITY(InputRoot.XMLNSC.doc.item[]) DO "
                   "SET s = s + CAST(InputRoot.XMLNSC.doc.item[I].Price AS DECIMAL); "
                   "SET s = s + CAST(InputRoot.XMLNSC.doc.item[I].Quantity AS DECIMAL); "
                   "SET I = I + 1; END WHILE; SET Environment.s = s; RETURN TRUE;");
}
BENCHMARK(naive_while);

void moving_reference(benchmark::State& state) {
  run_over_records(state,
                   "DECLARE s DECIMAL 0; DECLARE r REFERENCE TO InputRoot.XMLNSC.doc.item[1]; "
                   "WHILE LASTMOVE(r) DO "
                   "SET s = s + CAST(r.Price AS DECIMAL); SET s = s + CAST(r.Quantity AS DECIMAL); "
                   "MOVE r NEXTSIBLING REPEAT TYPE NAME; END WHILE; "
                   "SET Environment.s = s; RETURN TRUE;");
}
BENCHMARK(moving_reference);

void select_sum(benchmark::State& state) {
  run_over_records(state,
                   "SET Environment.s = (SELECT SUM(CAST(x.Price AS DECIMAL) + "
                   "CAST(x.Quantity AS DECIMAL)) FROM InputRoot.XMLNSC.doc.item[] AS x); "
                   "RETURN TRUE;");
}
BENCHMARK(select_sum);

void build_output(benchmark::State& state) {
  run_over_records(state,
                   "SET OutputRoot.XMLNSC = NULL; DECLARE I INTEGER 0; "
                   "FOR x AS InputRoot.XMLNSC.doc.item[] DO SET I = I + 1; "
                   "SET OutputRoot.XMLNSC.out.row[I].name = x.Name; "
                   "SET OutputRoot.XMLNSC.out.row[I].price = CAST(x.Price AS DECIMAL) * 2; "
                   "END FOR; RETURN TRUE;");
}
BENCHMARK(build_output)->Iterations(300);

void build_output_by_reference(benchmark::State& state) {
  run_over_records(state,
                   "SET OutputRoot.XMLNSC = NULL; CREATE FIELD OutputRoot.XMLNSC.out; "
                   "DECLARE o REFERENCE TO OutputRoot.XMLNSC.out; "
                   "FOR x AS InputRoot.XMLNSC.doc.item[] DO "
                   "CREATE LASTCHILD OF o AS o NAME 'row'; SET o.name = x.Name; "
                   "SET o.price = CAST(x.Price AS DECIMAL) * 2; MOVE o PARENT; "
                   "END FOR; RETURN TRUE;");
}
BENCHMARK(build_output_by_reference)->Iterations(300);

void select_rows(benchmark::State& state) {
  run_over_records(state,
                   "SET OutputRoot.XMLNSC = NULL; SET OutputRoot.XMLNSC.out.row[] = "
                   "(SELECT x.Name AS name, CAST(x.Price AS DECIMAL) * 2 AS price "
                   "FROM InputRoot.XMLNSC.doc.item[] AS x); RETURN TRUE;");
}
BENCHMARK(select_rows)->Iterations(300);

}  // namespace
}  // namespace millstream::esql::testing
