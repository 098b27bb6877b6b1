// Statements of every kind, run end to end.
#include <doctest/doctest.h>

#include "esql/compile.h"
#include "esql/exec_test_util.h"

namespace millstream::esql::testing {

TEST_CASE("exec: SET of variables and fields") {
  CHECK(run_body(
            "DECLARE i INTEGER 1; SET i = i + 41; SET OutputRoot.XMLNSC.a.b = i; RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{a{b=42}}}");
  CHECK(run_body("SET OutputRoot.XMLNSC.a.b = 'x'; SET OutputRoot.XMLNSC.a.c = 'y'; "
                 "SET OutputRoot.XMLNSC.a.b = NULL; RETURN FALSE;") ==
        "FALSE: Root{XMLNSC{a{c='y'}}}");
  CHECK(run_body("SET OutputRoot.XMLNSC.a VALUE = NULL; RETURN TRUE;") == "TRUE: Root{XMLNSC{a}}");
  CHECK(run_body("SET OutputRoot.XMLNSC.a = OutputRoot.XMLNSC.missing; RETURN TRUE;") ==
        "TRUE: Root");
  CHECK(run_body("DECLARE c CHARACTER; SET c = 12; SET OutputRoot.XMLNSC.a = c; RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{a='12'}}");
  CHECK(run_body("DECLARE n CHARACTER 'q'; SET OutputRoot.XMLNSC.a.{n || '1'} = 1; RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{a{q1=1}}}");
  CHECK(run_body("SET OutputRoot.XMLNSC.(XMLNSC.Attribute)id = 'x'; RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{@id='x'}}");
}

TEST_CASE("exec: facets") {
  CHECK(run_body("SET OutputRoot.XMLNSC.a = 1; SET OutputRoot.XMLNSC.a NAME = 'b'; "
                 "SET OutputRoot.XMLNSC.b TYPE = XMLNSC.Attribute; "
                 "SET OutputRoot.XMLNSC.b NAMESPACE = 'urn:x'; RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{@{urn:x}b=1}}");
}

TEST_CASE("exec: indices create in order, gaps fail") {
  CHECK(run_body("SET OutputRoot.XMLNSC.a.i[1] = 1; SET OutputRoot.XMLNSC.a.i[2] = 2; "
                 "SET OutputRoot.XMLNSC.a.i[<] = 3; RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{a{i=1 i=3}}}");
  CHECK(run_body("SET OutputRoot.XMLNSC.a.i[2] = 2; RETURN TRUE;").substr(0, 9) == "2488 2331");
  CHECK(run_body("SET OutputRoot.XMLNSC.a.i[0] = 2; RETURN TRUE;").substr(0, 9) == "2488 1692");
  CHECK(run_body("DECLARE c CHARACTER '1'; SET OutputRoot.XMLNSC.a.i[c] = 2; RETURN TRUE;")
            .substr(0, 9) == "2488 2434");
}

TEST_CASE("exec: control flow") {
  CHECK(run_body("DECLARE i INTEGER 0; DECLARE s INTEGER 0; "
                 "WHILE i < 10 DO SET i = i + 1; SET s = s + i; END WHILE; "
                 "SET OutputRoot.XMLNSC.s = s; RETURN TRUE;") == "TRUE: Root{XMLNSC{s=55}}");
  CHECK(run_body("DECLARE i INTEGER 0; L: LOOP SET i = i + 1; IF i < 5 THEN ITERATE L; END IF; "
                 "LEAVE L; END LOOP L; SET OutputRoot.XMLNSC.i = i; RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{i=5}}");
  CHECK(run_body("DECLARE i INTEGER 0; REPEAT SET i = i + 1; UNTIL i >= 3 END REPEAT; "
                 "SET OutputRoot.XMLNSC.i = i; RETURN TRUE;") == "TRUE: Root{XMLNSC{i=3}}");
  CHECK(run_body("DECLARE x CHARACTER; IF x <> 'A' THEN SET OutputRoot.XMLNSC.t = 1; "
                 "ELSE SET OutputRoot.XMLNSC.e = 1; END IF; RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{e=1}}");
  CHECK(run_body("CASE 2 WHEN 1 THEN SET OutputRoot.XMLNSC.a = 1; WHEN 2 THEN "
                 "SET OutputRoot.XMLNSC.b = 1; ELSE SET OutputRoot.XMLNSC.c = 1; END CASE; RETURN "
                 "TRUE;") == "TRUE: Root{XMLNSC{b=1}}");
  CHECK(
      run_body("B: BEGIN SET OutputRoot.XMLNSC.a = 1; LEAVE B; SET OutputRoot.XMLNSC.b = 1; END B; "
               "RETURN TRUE;") == "TRUE: Root{XMLNSC{a=1}}");
  CHECK(run_body("SET OutputRoot.XMLNSC.a = 1;") == "UNKNOWN: Root{XMLNSC{a=1}}");
}

TEST_CASE("exec: FOR over fields") {
  Runner r(
      compute("DECLARE s DECIMAL 0; FOR x AS InputRoot.XMLNSC.a.i[] DO "
              "SET s = s + CAST(x.v AS DECIMAL); END FOR; "
              "SET OutputRoot.XMLNSC.s = s; SET OutputRoot.XMLNSC.n = "
              "CARDINALITY(InputRoot.XMLNSC.a.i[]); RETURN TRUE;"));
  REQUIRE(r.diagnostics == "");
  tree::Element* a = r.input_path({"XMLNSC", "a"});
  for (const char* v : {"1.50", "2.25", "-0.75"}) {
    tree::Element* i = r.add(a, "i", "", tree::kName);
    r.add(i, "v", v);
  }
  CHECK(r.run() == "TRUE");
  CHECK(r.output() == "Root{XMLNSC{s=3.00 n=3}}");
}

TEST_CASE("exec: an indexed loop is linear") {
  Runner r(
      compute("DECLARE i INTEGER 1; DECLARE s INTEGER 0; "
              "WHILE i <= CARDINALITY(InputRoot.XMLNSC.a.i[]) DO "
              "SET s = s + CAST(InputRoot.XMLNSC.a.i[i] AS INTEGER); SET i = i + 1; END WHILE; "
              "SET OutputRoot.XMLNSC.s = s; RETURN TRUE;"));
  REQUIRE(r.diagnostics == "");
  tree::Element* a = r.input_path({"XMLNSC", "a"});
  // Quadratic navigation of this many would take minutes.
  for (int i = 0; i < 100'000; ++i) r.add(a, "i", "2");
  CHECK(r.run() == "TRUE");
  CHECK(r.output() == "Root{XMLNSC{s=200000}}");
  CHECK(r.host.budget_checks > 100);
}

TEST_CASE("exec: routines") {
  const char* routines =
      "CREATE FUNCTION Fact(IN n INTEGER) RETURNS INTEGER BEGIN IF n <= 1 THEN RETURN 1; END IF; "
      "RETURN n * Fact(n - 1); END;\n"
      "CREATE PROCEDURE Swap(INOUT a INTEGER, INOUT b INTEGER) BEGIN DECLARE t INTEGER a; "
      "SET a = b; SET b = t; END;\n"
      "CREATE PROCEDURE Fill(IN r REFERENCE, OUT ok BOOLEAN) BEGIN SET r.x = 'y'; SET ok = TRUE; "
      "END;\n"
      "CREATE FUNCTION Forever(IN n INTEGER) RETURNS INTEGER BEGIN RETURN Forever(n + 1); END;\n";
  CHECK(run_body("SET OutputRoot.XMLNSC.f = Fact(10); RETURN TRUE;", routines) ==
        "TRUE: Root{XMLNSC{f=3628800}}");
  CHECK(run_body("DECLARE a INTEGER 1; DECLARE b INTEGER 2; CALL Swap(a, b); "
                 "SET OutputRoot.XMLNSC.a = a; SET OutputRoot.XMLNSC.b = b; RETURN TRUE;",
                 routines) == "TRUE: Root{XMLNSC{a=2 b=1}}");
  CHECK(
      run_body("CREATE FIELD OutputRoot.XMLNSC.e; DECLARE r REFERENCE TO OutputRoot.XMLNSC.e; "
               "DECLARE ok BOOLEAN; CALL Fill(r, ok); SET OutputRoot.XMLNSC.ok = ok; RETURN TRUE;",
               routines) == "TRUE: Root{XMLNSC{e{x='y'} ok=TRUE}}");
  std::string deep = run_body("SET OutputRoot.XMLNSC.f = Forever(1); RETURN TRUE;", routines);
  CHECK(deep.find("1652") != std::string::npos);
}

TEST_CASE("exec: errors carry the statement and the cause") {
  Runner r(compute("DECLARE z INTEGER 0;\nSET OutputRoot.XMLNSC.a = 1 / z;\nRETURN TRUE;"));
  CHECK(r.run() == "2488 2439 2450");
  REQUIRE(r.error);
  CHECK(r.error->position.line == 6);
  CHECK(r.error->inserts.at(0).text == ".M.Main");
  CHECK(r.error->inserts.at(1).text == "6.1");
  CHECK(r.error->inserts.at(2).text == "SET OutputRoot.XMLNSC.a = 1 / z;");
  CHECK(run_body("THROW USER EXCEPTION MESSAGE 2999 VALUES('a', 1);") == "2488 2999: Root");
  CHECK(run_body("THROW USER EXCEPTION;") == "2488 2951: Root");
}

TEST_CASE("exec: handlers") {
  CHECK(
      run_body("DECLARE CONTINUE HANDLER FOR SQLSTATE LIKE '%' BEGIN "
               "SET OutputRoot.XMLNSC.state = SQLSTATE; END; "
               "DECLARE z INTEGER 0; SET z = 1 / z; SET OutputRoot.XMLNSC.after = 1; RETURN TRUE;")
          .substr(0, 4) == "TRUE");
  CHECK(run_body("BEGIN DECLARE EXIT HANDLER FOR SQLSTATE LIKE 'U%' SET OutputRoot.XMLNSC.h = 1; "
                 "THROW USER EXCEPTION; SET OutputRoot.XMLNSC.not = 1; END; "
                 "SET OutputRoot.XMLNSC.after = SQLSTATE; RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{h=1 after='U02951'}}");
  CHECK(
      run_body("BEGIN DECLARE CONTINUE HANDLER FOR SQLSTATE LIKE 'U%' SET OutputRoot.XMLNSC.h = 1; "
               "IF TRUE THEN THROW USER EXCEPTION; SET OutputRoot.XMLNSC.inner = 1; END IF; END; "
               "RETURN TRUE;") == "TRUE: Root{XMLNSC{h=1 inner=1}}");
  CHECK(run_body("DECLARE EXIT HANDLER FOR SQLSTATE LIKE 'S%' BEGIN END; THROW USER EXCEPTION;") ==
        "2488 2951: Root");
  CHECK(run_body("DECLARE EXIT HANDLER FOR SQLSTATE LIKE '%' BEGIN RESIGNAL; END; "
                 "THROW USER EXCEPTION;") == "2488 2951: Root");
  CHECK(run_body("DECLARE EXIT HANDLER FOR SQLSTATE LIKE '%' BEGIN RETURN FALSE; END; "
                 "THROW USER EXCEPTION; RETURN TRUE;") == "FALSE: Root");
}

TEST_CASE("exec: PROPAGATE") {
  Runner r(
      compute("SET OutputRoot.XMLNSC.a = 1; PROPAGATE TO TERMINAL 'out1' DELETE NONE; "
              "PROPAGATE TO TERMINAL 2; PROPAGATE TO LABEL 'L'; RETURN FALSE;"));
  CHECK(r.run() == "FALSE");
  CHECK(r.host.log_lines ==
        std::vector<std::string>{"propagate out1", "propagate 2", "propagate label L"});
  CHECK(r.output() == "Root");
  CHECK(run_body("BEGIN ATOMIC PROPAGATE; END; RETURN FALSE;").substr(0, 9) == "2488 1654");
  CHECK(run_body("PROPAGATE TO TERMINAL 1.5; RETURN FALSE;").find("1656") != std::string::npos);
}

TEST_CASE("exec: EVAL sees and changes the caller's variables") {
  CHECK(run_body("DECLARE a INTEGER 5; EVAL('SET a = a + 1; SET OutputRoot.XMLNSC.x = a;'); "
                 "SET OutputRoot.XMLNSC.y = EVAL('a * 2'); RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{x=6 y=12}}");
  CHECK(run_body("EVAL('SET = ;'); RETURN TRUE;").substr(0, 4) == "2488");
}

TEST_CASE("exec: atomic blocks, log, properties") {
  Runner r(
      compute("BEGIN ATOMIC SET OutputRoot.XMLNSC.a = MessageFlowLabel; END; "
              "L: BEGIN ATOMIC LOG EVENT MESSAGE 2952 VALUES('v'); END L; "
              "SET OutputRoot.XMLNSC.e = ext; RETURN TRUE;",
              "DECLARE ext EXTERNAL CHARACTER 'default';"));
  r.host.properties["ext"] = "configured";
  CHECK(r.run() == "TRUE");
  CHECK(r.output() == "Root{XMLNSC{a='TestFlow' e='configured'}}");
  CHECK(r.host.log_lines ==
        std::vector<std::string>{"lock /", "unlock ", "lock /L", "log 2952 v", "unlock L"});
}

TEST_CASE("exec: module and schema variables live for one message") {
  Runner r("DECLARE s INTEGER 10;\n" +
           compute("SET s = s + 1; SET m = m + s; SET OutputRoot.XMLNSC.m = m; RETURN TRUE;",
                   "DECLARE m INTEGER 1;"));
  for (int i = 0; i < 2; ++i) {
    CHECK(r.run() == "TRUE");
    CHECK(r.output() == "Root{XMLNSC{m=12}}");
    r.new_message();
  }
}

// As long as the parser lets it be, and no deeper than one operator: a fiber's stack is small.
TEST_CASE("exec: a long concatenation is one operator") {
  std::string chain = "Environment.a";
  for (int i = 0; i < 1500; ++i) chain += " || Environment.a";
  Runner s(compute("SET Environment.a = 'ab'; SET OutputRoot.XMLNSC.n = LENGTH(" + chain +
                   "); RETURN TRUE;"));
  REQUIRE(s.diagnostics == "");
  CHECK(s.run() == "TRUE");
  CHECK(s.output() == "Root{XMLNSC{n=3002}}");
  CHECK(s.module->main->ast->depth < 30);
}

TEST_CASE("exec: concatenation in pairs where parts are no texts, NULL, or too long") {
  CHECK(eval_text("X'01' || X'02' || X'03'") == "X'010203'");
  CHECK(eval_text("B'1' || B'0' || B'11'") == "B'1011'");
  CHECK(eval_text("'a' || Environment.none || 'b'") == "NULL");
  CHECK(eval_text("Environment.none || 'b'") == "NULL");
  CHECK(eval_text("'a' || 'b' || c || 'd' || 'e'", "DECLARE c CHARACTER 'C';") == "abCde");
  CHECK(eval_text("c || c || c", "DECLARE c CHARACTER '';") == "");
  CHECK(eval_text("c || 1 || c", "DECLARE c CHARACTER 'x';") == "2488 2439 2420");
  CHECK(eval_text("c || c || X'00'", "DECLARE c CHARACTER 'x';") == "2488 2439 2420");
  CHECK(eval_text("LENGTH(c || c || c || 'x')", "DECLARE c CHARACTER REPLICATE('a', 10000000);") ==
        "30000001");
  CHECK(eval_text("s || s",
                  "DECLARE s CHARACTER 'a'; SET s = s || 'b' || s; SET s = s || s || 'c';") ==
        "abaabacabaabac");
}

}  // namespace millstream::esql::testing
