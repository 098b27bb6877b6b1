// The public interface: kinds of modules, single expressions, schemas, EVAL and SHARED together.
#include <doctest/doctest.h>

#include "esql/exec_test_util.h"

namespace millstream::esql::testing {

TEST_CASE("executor: Filter and Database modules see Root") {
  for (const char* kind : {"FILTER", "DATABASE"}) {
    Runner r(std::string("CREATE ") + kind +
             " MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
             "SET Environment.x = Root.XMLNSC.doc.a; RETURN Body.doc.a = 'v'; END; END MODULE;");
    REQUIRE(r.diagnostics == "");
    r.add(r.input_path({"XMLNSC", "doc"}), "a", "v");
    CHECK(r.run() == "TRUE");
    CHECK(r.environment() == "Environment{x='v'}");
  }
  Runner r(
      "CREATE FILTER MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
      "RETURN Root.XMLNSC.missing = 1; END; END MODULE;");
  CHECK(r.run() == "UNKNOWN");
}

TEST_CASE("executor: Main must return a BOOLEAN") {
  Runner r(compute("RETURN TRUE;"));
  CHECK(r.run() == "TRUE");
  CHECK(run_body("RETURN 1;").substr(0, 4) != "TRUE");
}

namespace {

std::string expression(Runner& r, base::NameTable& names, std::string_view text,
                       tree::Element** element = nullptr) {
  LinkOptions options;
  options.names = &names;
  auto e = CompiledExpression::compile(text, options, r.zone);
  if (!e.ok()) {
    return std::to_string(e.error().position.line) + "." +
           std::to_string(e.error().position.column) + " " + std::to_string(e.error().number);
  }
  Invocation i{r.message->context(), r.host, r.zone, 0, r.in, {}, nullptr};
  value::Value v;
  tree::Element* found = nullptr;
  Status s = e.value()->evaluate(i, v, found);
  if (!s.ok()) return Runner::error_chain(s.error());
  if (element) *element = found;
  EvalContext ctx = r.context();
  return display_text(ctx, v);
}

}  // namespace

TEST_CASE("executor: single expressions") {
  Runner r(compute("RETURN TRUE;"));
  base::NameTable names;
  tree::Element* doc = r.input_path({"XMLNSC", "doc"});
  r.add(doc, "a", "v");
  tree::Element* found = nullptr;
  CHECK(expression(r, names, "1 + 2 * 3") == "7");
  CHECK(expression(r, names, "Root", &found) == "NULL");
  CHECK(found == r.in.root);
  CHECK(expression(r, names, "1 +").find("1691") != std::string::npos);
  CHECK(expression(r, names, "1; SET Environment.x = 2").find("1691") != std::string::npos);
  CHECK(expression(r, names, "1 / 0") == "2439 2450");
}

TEST_CASE("executor: EVAL may use SHARED trees with names of its own") {
  Runner r("DECLARE s SHARED ROW;\n" +
           compute("EVAL('SET s.neverseen.inside = ''x'';'); "
                   "SET OutputRoot.XMLNSC.v = EVAL('s.neverseen.inside'); "
                   "SET OutputRoot.XMLNSC.n = FIELDNAME(s.*[1]); RETURN TRUE;"));
  REQUIRE(r.diagnostics == "");
  for (int i = 0; i < 3; ++i) {
    CHECK(r.run() == "TRUE");
    CHECK(r.output() == "Root{XMLNSC{v='x' n='neverseen'}}");
    r.new_message();
  }
}

TEST_CASE("executor: errors inside EVAL") {
  CHECK(run_body("EVAL('SET OutputRoot.XMLNSC.a = 1 / 0;');") == "2488 2488 2439 2450: Root");
  CHECK(run_body("EVAL(5);") == "2488 1688: Root");
  // The text calls itself until the stack is used up.
  CHECK(run_body("DECLARE t CHARACTER; SET t = 'EVAL(t);'; EVAL(t);").find("1652") !=
        std::string::npos);
}

TEST_CASE("executor: SQL states") {
  auto state = [](std::string_view failing) {
    Runner r(
        compute("DECLARE EXIT HANDLER FOR SQLSTATE LIKE '%' BEGIN SET Environment.s = SQLSTATE; "
                "SET Environment.t = SQLERRORTEXT; RETURN TRUE; END; " +
                std::string(failing) + " RETURN FALSE;"));
    std::string result = r.run();
    if (result != "TRUE") return result;
    tree::Element* s = tree::find_child(r.in.environment, "s");
    return std::string(s->scalar.text());
  };
  CHECK(state("DECLARE z INTEGER 0; SET z = 1 / z;") == "S22012");
  CHECK(state("DECLARE z INTEGER 9223372036854775807; SET z = z + 1;") == "S22003");
  CHECK(state("THROW USER EXCEPTION MESSAGE 2960;") == "U02960");
  CHECK(state("THROW USER EXCEPTION VALUES('U12345');") == "U12345");
  CHECK(state("INSERT INTO Database.T (a) VALUES (1);") == "D01658");
}

TEST_CASE("executor: a cancelled message leaves an endless loop") {
  class Cancelling : public FakeHost {
   public:
    Status check_budget() override {
      if (++calls < 3) return {};
      static const base::ErrorCode kCancelled{"MS0000", 9999, base::ExceptionKind::kFatal,
                                              base::Severity::kError, "cancelled"};
      return base::make_error(kCancelled);
    }
    int calls = 0;
  };
  Runner r(compute("WHILE TRUE DO END WHILE; RETURN TRUE;"));
  REQUIRE(r.diagnostics == "");
  Cancelling host;
  Invocation i{r.message->context(), host, r.zone, 0, r.in, r.out, nullptr};
  Result<Tri> result = r.instance->run(i);
  CHECK_FALSE(result.ok());
  CHECK(host.calls == 3);
}

TEST_CASE("executor: recursion and SELECT spend the budget too") {
  Runner r(compute("SET Environment.x = Fib(18); RETURN TRUE;",
                   "CREATE FUNCTION Fib(IN n INTEGER) RETURNS INTEGER BEGIN "
                   "IF n < 2 THEN RETURN n; END IF; RETURN Fib(n - 1) + Fib(n - 2); END;"));
  CHECK(r.run() == "TRUE");
  CHECK(r.environment() == "Environment{x=2584}");
  CHECK(r.host.budget_checks > 5);
  Runner s(
      compute("DECLARE i INTEGER 0; WHILE i < 100 DO SET i = i + 1; "
              "CREATE LASTCHILD OF Environment.l NAME 'i' VALUE i; END WHILE; "
              "SET Environment.n = (SELECT COUNT(*) FROM Environment.l.i[] AS A, "
              "Environment.l.i[] AS B WHERE A = B); SET Environment.l = NULL; RETURN TRUE;"));
  CHECK(s.run() == "TRUE");
  CHECK(s.environment() == "Environment{n=100}");
  CHECK(s.host.budget_checks > 10);
}

TEST_CASE("executor: a loop that makes fields without end stops at the memory limit") {
  class Small : public FakeHost {
   public:
    size_t message_bytes_max() override { return 4 << 20; }
  };
  Runner r(
      compute("WHILE TRUE DO CREATE LASTCHILD OF OutputRoot.XMLNSC NAME 'x'; END WHILE; "
              "RETURN TRUE;"));
  Small host;
  Invocation i{r.message->context(), host, r.zone, 0, r.in, r.out, nullptr};
  Result<Tri> result = r.instance->run(i);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().number == 1693);
}

TEST_CASE("executor: schemas, PATH and constants") {
  CHECK(run_body("SET OutputRoot.XMLNSC.a = c * 2; SET OutputRoot.XMLNSC.b = ns; RETURN TRUE;",
                 "DECLARE c CONSTANT INTEGER 21;\nDECLARE ns NAMESPACE 'urn:a';") ==
        "TRUE: Root{XMLNSC{a=42 b='urn:a'}}");
}

TEST_CASE("executor: a failing initialiser of the module names its place") {
  CHECK(run_body("RETURN TRUE;", "DECLARE z INTEGER 0;\nDECLARE d INTEGER 1 / z;") ==
        "2488 2439 2450: Root");
}

TEST_CASE("executor: external routines name themselves") {
  CHECK(run_body("DECLARE x CHARACTER; SET x = J('a');",
                 "CREATE FUNCTION J(IN a CHARACTER) RETURNS CHARACTER LANGUAGE JAVA "
                 "EXTERNAL NAME \"p.C.m\";") == "2488 1659: Root");
}

TEST_CASE("executor: OUT and INOUT to fields") {
  CHECK(run_body("CALL P(OutputRoot.XMLNSC.a, OutputRoot.XMLNSC.b); RETURN TRUE;",
                 "CREATE PROCEDURE P(OUT a INTEGER, INOUT b CHARACTER) BEGIN SET a = 1; "
                 "SET b = COALESCE(b, 'none'); END;") == "TRUE: Root{XMLNSC{a=1 b='none'}}");
}

}  // namespace millstream::esql::testing
