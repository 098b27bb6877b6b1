// SHARED variables: lifetime, atomic statements, memory, threads.
#include <doctest/doctest.h>

#include <thread>

#include "esql/exec_test_util.h"

namespace millstream::esql::testing {

TEST_CASE("shared: values outlive messages") {
  Runner r(
      "DECLARE n SHARED INTEGER 5;\nDECLARE cache SHARED ROW;\n" +
      compute("SET n = n + 1; SET cache.last = 'v' || CAST(n AS CHARACTER); "
              "SET OutputRoot.XMLNSC.n = n; SET OutputRoot.XMLNSC.c = cache.last; RETURN TRUE;"));
  REQUIRE(r.diagnostics == "");
  CHECK(r.run() == "TRUE");
  CHECK(r.output() == "Root{XMLNSC{n=6 c='v6'}}");
  r.new_message();
  CHECK(r.run() == "TRUE");
  CHECK(r.output() == "Root{XMLNSC{n=7 c='v7'}}");
}

TEST_CASE("shared: trees go in and out as copies") {
  Runner r("DECLARE cache SHARED ROW;\n" +
           compute("IF cache.a.k IS NULL THEN SET cache.a = InputRoot.XMLNSC.doc; END IF; "
                   "SET OutputRoot.XMLNSC.o = cache.a; "
                   "DECLARE x REFERENCE TO cache.a; SET x.more = 'm'; "
                   "SET OutputRoot.XMLNSC.n = CARDINALITY(cache.a.*[]); "
                   "FOR y AS cache.a.*[] DO SET OutputRoot.XMLNSC.l = FIELDNAME(y); END FOR; "
                   "SET OutputRoot.XMLNSC.s = THE(SELECT ITEM C.k FROM cache.a AS C); "
                   "RETURN TRUE;"));
  REQUIRE(r.diagnostics == "");
  r.add(r.input_path({"XMLNSC", "doc"}), "k", "1");
  CHECK(r.run() == "TRUE");
  CHECK(r.output() == "Root{XMLNSC{o{k='1'} n=2 l='more' s='1'}}");
  r.new_message();
  CHECK(r.run() == "TRUE");
  CHECK(r.output() == "Root{XMLNSC{o{k='1' more='m'} n=2 l='more' s='1'}}");
}

TEST_CASE("shared: memory does not grow with the number of assignments") {
  Runner r("DECLARE s SHARED CHARACTER '';\nDECLARE c SHARED ROW;\n" +
           compute("DECLARE i INTEGER 0; WHILE i < 1000 DO SET s = REPLICATE('x', 100); "
                   "SET c.k.v = REPLICATE('y', 100); SET i = i + 1; END WHILE; RETURN TRUE;"));
  REQUIRE(r.diagnostics == "");
  for (int i = 0; i < 50; ++i) {
    REQUIRE(r.run() == "TRUE");
    r.new_message();
  }
  CHECK(r.shared->used_bytes() < 2 * SharedStore::kCompactAboveBytes);
}

TEST_CASE("shared: statements are atomic across threads") {
  Runner r("DECLARE n SHARED INTEGER 0;\nDECLARE c SHARED ROW;\n" +
           compute("DECLARE i INTEGER 0; WHILE i < 2000 DO SET n = n + 1; "
                   "SET c.x = COALESCE(c.x, 0) + 1; SET c.t.{CAST(i AS CHARACTER)} = "
                   "CAST(c.x AS CHARACTER); SET i = i + 1; END WHILE; "
                   "SET OutputRoot.XMLNSC.n = n; SET OutputRoot.XMLNSC.x = c.x; RETURN TRUE;"));
  REQUIRE(r.diagnostics == "");
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  std::vector<std::string> results(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&r, &results, t] {
      FakeHost host;
      tree::MessageArena arena(r.names);
      tree::MessageAssembly in = arena.make_assembly(), out = arena.make_assembly();
      ModuleInstance instance(r.code, *r.module);
      Invocation i{arena.context(), host, r.zone, 0, in, out, r.shared.get()};
      Result<Tri> result = instance.run(i);
      results[t] = result.ok() ? "ok" : result.error().describe();
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::string& s : results) CHECK(s == "ok");
  r.new_message();
  REQUIRE(r.run() == "TRUE");
  CHECK(r.output() == "Root{XMLNSC{n=10000 x=10000}}");
}

TEST_CASE("shared: a routine called in a statement may use them too") {
  CHECK(run_body("SET s.a = F(1) + F(2); SET OutputRoot.XMLNSC.n = s.a; RETURN TRUE;",
                 "DECLARE s SHARED ROW;\nCREATE FUNCTION F(IN x INTEGER) RETURNS INTEGER BEGIN "
                 "SET s.b = COALESCE(s.b, 0) + x; RETURN s.b; END;\n") ==
        "TRUE: Root{XMLNSC{n=4}}");
}

}  // namespace millstream::esql::testing
