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

namespace {

std::string run_as_node(Runner& r, uint32_t node) {
  r.new_message();
  Invocation i{r.message->context(), r.host, r.zone, 0, r.in, r.out, r.shared.get(), node};
  Result<Tri> result = r.instance->run(i);
  return result.ok() ? r.output() : result.error().describe();
}

}  // namespace

TEST_CASE("shared: a schema's variables are one a flow, a module's one a node") {
  Runner r("DECLARE s SHARED INTEGER 0;\n" +
           compute("SET s = s + 1; SET m = m + 10; SET t.a = COALESCE(t.a, 0) + 100; "
                   "SET OutputRoot.XMLNSC.s = s; SET OutputRoot.XMLNSC.m = m; "
                   "SET OutputRoot.XMLNSC.t = t.a; RETURN TRUE;",
                   "DECLARE m SHARED INTEGER 0; DECLARE t SHARED ROW;"));
  REQUIRE(r.diagnostics == "");
  const uint32_t a = r.shared->add_node();
  const uint32_t b = r.shared->add_node();
  CHECK(run_as_node(r, a) == "Root{XMLNSC{s=1 m=10 t=100}}");
  CHECK(run_as_node(r, b) == "Root{XMLNSC{s=2 m=10 t=100}}");
  CHECK(run_as_node(r, a) == "Root{XMLNSC{s=3 m=20 t=200}}");
  CHECK(run_as_node(r, b) == "Root{XMLNSC{s=4 m=20 t=200}}");
}

TEST_CASE("shared: compaction keeps the variables of every node") {
  Runner r(
      compute("SET m.last = REPLICATE(InputRoot.XMLNSC.c, 1000); "
              "SET OutputRoot.XMLNSC.m = LEFT(m.last, 1); RETURN TRUE;",
              "DECLARE m SHARED ROW;"));
  REQUIRE(r.diagnostics == "");
  const uint32_t nodes[] = {r.shared->add_node(), r.shared->add_node()};
  for (int i = 0; i < 2000; ++i) {
    r.new_message();
    const char* text = i % 2 ? "b" : "a";
    r.add(r.input_path({"XMLNSC"}), "c", text);
    Invocation call{r.message->context(), r.host,      r.zone, 0, r.in, r.out,
                    r.shared.get(),       nodes[i % 2]};
    REQUIRE(r.instance->run(call).ok());
    REQUIRE(r.output() == std::string("Root{XMLNSC{m='") + text + "'}}");
  }
  CHECK(r.shared->used_bytes() < 2 * SharedStore::kCompactAboveBytes);
}

// The routine lets go of the lock; whoever comes meanwhile must not find NULL.
TEST_CASE("shared: no message sees a variable before its initial value") {
  for (int round = 0; round < 20; ++round) {
    Runner r(
        "DECLARE n SHARED INTEGER slow(7);\nDECLARE row SHARED ROW rows();\n"
        "CREATE FUNCTION slow(IN x INTEGER) RETURNS INTEGER BEGIN DECLARE i INTEGER 0; "
        "WHILE i < 3000 DO SET i = i + 1; END WHILE; RETURN x; END;\n"
        "CREATE FUNCTION rows() RETURNS ROW BEGIN DECLARE r ROW; SET r.k = slow(8); RETURN r; "
        "END;\n" +
        compute("SET OutputRoot.XMLNSC.n = COALESCE(n, 0); "
                "SET OutputRoot.XMLNSC.k = COALESCE(row.k, 0); RETURN TRUE;"));
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
        EvalContext ctx{arena.context(), r.zone, 0, &host};
        results[t] = result.ok() ? show(ctx, out.root) : result.error().describe();
      });
    }
    for (std::thread& t : threads) t.join();
    for (const std::string& s : results) CHECK(s == "Root{XMLNSC{n=7 k=8}}");
  }
}

// A statement over SHARED trees that would take hours can still be stopped.
TEST_CASE("shared: a long SELECT spends the budget") {
  Runner r("DECLARE c SHARED ROW;\n" +
           compute("DECLARE i INTEGER 0; WHILE i < 300 DO CREATE LASTCHILD OF c NAME 'v' VALUE i; "
                   "SET i = i + 1; END WHILE; SET OutputRoot.XMLNSC.n = (SELECT COUNT(*) FROM "
                   "c.v[] AS A, c.v[] AS B, c.v[] AS C, c.v[] AS D, c.v[] AS E); RETURN TRUE;"));
  REQUIRE(r.diagnostics == "");
  r.host.budget = 20;
  CHECK(r.run() != "TRUE");
}

TEST_CASE("shared: an initialiser that fails is tried again") {
  Runner r(
      "DECLARE tries SHARED INTEGER 0;\nDECLARE n SHARED INTEGER f();\n"
      "CREATE FUNCTION f() RETURNS INTEGER BEGIN SET tries = tries + 1; "
      "IF tries < 3 THEN THROW USER EXCEPTION; END IF; RETURN 5; END;\n" +
      compute("SET OutputRoot.XMLNSC.n = n; RETURN TRUE;"));
  REQUIRE(r.diagnostics == "");
  CHECK(r.run() != "TRUE");
  r.new_message();
  CHECK(r.run() != "TRUE");
  r.new_message();
  CHECK(r.run() == "TRUE");
  CHECK(r.output() == "Root{XMLNSC{n=5}}");
}

TEST_CASE("shared: a routine called in a statement may use them too") {
  CHECK(run_body("SET s.a = F(1) + F(2); SET OutputRoot.XMLNSC.n = s.a; RETURN TRUE;",
                 "DECLARE s SHARED ROW;\nCREATE FUNCTION F(IN x INTEGER) RETURNS INTEGER BEGIN "
                 "SET s.b = COALESCE(s.b, 0) + x; RETURN s.b; END;\n") ==
        "TRUE: Root{XMLNSC{n=4}}");
}

}  // namespace millstream::esql::testing
