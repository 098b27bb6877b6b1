// Tree statements, references, field functions and bit streams.
#include <doctest/doctest.h>

#include "esql/exec_test_util.h"

namespace millstream::esql::testing {

TEST_CASE("exec tree: CREATE in every place") {
  CHECK(run_body("CREATE FIELD OutputRoot.XMLNSC.a.b VALUE 1; "
                 "CREATE LASTCHILD OF OutputRoot.XMLNSC.a NAME 'c' VALUE 2; "
                 "CREATE FIRSTCHILD OF OutputRoot.XMLNSC.a NAME 'f' VALUE 0; "
                 "CREATE NEXTSIBLING OF OutputRoot.XMLNSC.a.b NAME 'n' VALUE 3; "
                 "CREATE PREVIOUSSIBLING OF OutputRoot.XMLNSC.a.b NAME 'p' VALUE 4; "
                 "CREATE PREVIOUSSIBLING OF OutputRoot.XMLNSC.a.b REPEAT VALUE 5; RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{a{f=0 p=4 b=5 b=1 n=3 c=2}}}");
  CHECK(run_body("CREATE FIELD OutputRoot.XMLNSC.a VALUE 'x'; CREATE FIELD OutputRoot.XMLNSC.a; "
                 "RETURN TRUE;") == "TRUE: Root{XMLNSC{a='x'}}");
  CHECK(run_body("CREATE LASTCHILD OF OutputRoot.XMLNSC.a IDENTITY (XMLNSC.Attribute)id VALUE '1'; "
                 "RETURN TRUE;") == "TRUE: Root{XMLNSC{a{@id='1'}}}");
  CHECK(run_body("CREATE FIELD OutputRoot.JSON.Data IDENTITY (JSON.Array)Data; "
                 "CREATE LASTCHILD OF OutputRoot.JSON.Data NAME 'Item' VALUE 1; RETURN TRUE;") ==
        "TRUE: Root{JSON{[]Data{Item=1}}}");
  CHECK(run_body("DECLARE ns NAMESPACE 'urn:n'; CREATE LASTCHILD OF OutputRoot.XMLNSC NAMESPACE ns "
                 "NAME 'q' VALUE 1; SET OutputRoot.XMLNSC.r = OutputRoot.XMLNSC.ns:q; "
                 "SET OutputRoot.XMLNSC.any = OutputRoot.XMLNSC.*:q; "
                 "SET OutputRoot.XMLNSC.none = OutputRoot.XMLNSC.q; RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{{urn:n}q=1 r=1 any=1}}");
  CHECK(run_body("CREATE NEXTSIBLING OF OutputRoot.XMLNSC.missing NAME 'x'; RETURN TRUE;")
            .find("1675") != std::string::npos);
  CHECK(run_body("CREATE LASTCHILD OF OutputRoot DOMAIN('NOPE'); RETURN TRUE;").find("1661") !=
        std::string::npos);
}

TEST_CASE("exec tree: CREATE ... AS, FROM and DOMAIN") {
  CHECK(run_body("DECLARE r REFERENCE TO OutputRoot; "
                 "CREATE LASTCHILD OF OutputRoot AS r DOMAIN('XMLNSC'); "
                 "CREATE LASTCHILD OF r AS r NAME 'top'; SET r.x = 1; "
                 "CREATE LASTCHILD OF OutputRoot.XMLNSC NAME 'copy' FROM r; "
                 "CREATE LASTCHILD OF OutputRoot.XMLNSC.copy FROM r.x; RETURN LASTMOVE(r);") ==
        "TRUE: Root{XMLNSC{top{x=1} copy{x=1 x=1}}}");
}

TEST_CASE("exec tree: PARSE and ASBITSTREAM") {
  CHECK(run_body("CREATE LASTCHILD OF OutputRoot DOMAIN('XMLNSC') "
                 "PARSE(CAST('a=1;b=2' AS BLOB CCSID 1208)); "
                 "SET OutputRoot.XMLNSC.bytes = "
                 "CAST(ASBITSTREAM(OutputRoot.XMLNSC CCSID 1208) AS CHARACTER CCSID 1208); "
                 "RETURN TRUE;") == "TRUE: Root{XMLNSC{a='1' b='2' bytes='a=1;b=2;'}}");
  CHECK(
      run_body("SET OutputRoot.XMLNSC.m.a = 'x'; SET OutputRoot.XMLNSC.t = CAST("
               "ASBITSTREAM(OutputRoot.XMLNSC.m OPTIONS FolderBitStream) AS CHARACTER CCSID 1208); "
               "RETURN TRUE;") == "TRUE: Root{XMLNSC{m{a='x'} t='folder:a=x;'}}");
  CHECK(run_body("SET OutputRoot.XMLNSC.n = ASBITSTREAM(OutputRoot.XMLNSC.none); RETURN TRUE;") ==
        "TRUE: Root");
  CHECK(run_body("CREATE LASTCHILD OF Environment.x NAME 'y' PARSE(X'00'); RETURN TRUE;")
            .find("1677") != std::string::npos);
  CHECK(run_body("DECLARE b BLOB; SET b = ASBITSTREAM(Environment); RETURN TRUE;").find("1660") !=
        std::string::npos);
}

TEST_CASE("exec tree: DELETE and inert references") {
  CHECK(run_body("SET OutputRoot.XMLNSC.a.b = 1; DECLARE r REFERENCE TO OutputRoot.XMLNSC.a.b; "
                 "DELETE FIELD OutputRoot.XMLNSC.a; DELETE FIELD OutputRoot.XMLNSC.a; "
                 "SET r = 5; SET r.c = 6; SET OutputRoot.XMLNSC.l = LASTMOVE(r); "
                 "SET OutputRoot.XMLNSC.n = r IS NULL; MOVE r TO OutputRoot.XMLNSC.l; "
                 "SET OutputRoot.XMLNSC.m = LASTMOVE(r); RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{l=FALSE n=TRUE m=TRUE}}");
  CHECK(run_body("SET OutputRoot.XMLNSC.a = 1; SET OutputRoot.XMLNSC.b = 2; "
                 "SET OutputRoot.XMLNSC.c = 3; DELETE FIRSTCHILD OF OutputRoot.XMLNSC; "
                 "DELETE NEXTSIBLING OF OutputRoot.XMLNSC.b; RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{b=2}}");
}

TEST_CASE("exec tree: DETACH and ATTACH") {
  CHECK(run_body(
            "SET OutputRoot.XMLNSC.a.b = 1; SET OutputRoot.XMLNSC.c = 2; "
            "DECLARE r REFERENCE TO OutputRoot.XMLNSC.a.b; DETACH r; "
            "ATTACH r TO OutputRoot.XMLNSC.c AS PREVIOUSSIBLING; SET r = 9; RETURN LASTMOVE(r);") ==
        "TRUE: Root{XMLNSC{a b=9 c=2}}");
  CHECK(run_body("SET OutputRoot.XMLNSC.a.b = 1; DECLARE r REFERENCE TO OutputRoot.XMLNSC.a; "
                 "DETACH r; ATTACH r TO r.b AS LASTCHILD; RETURN TRUE;")
            .find("1679") != std::string::npos);
}

TEST_CASE("exec tree: MOVE") {
  const char* start =
      "SET OutputRoot.XMLNSC.a.i[1] = 1; SET OutputRoot.XMLNSC.a.j = 2; "
      "SET OutputRoot.XMLNSC.a.i[2] = 3; DECLARE r REFERENCE TO OutputRoot.XMLNSC.a; "
      "DECLARE s CHARACTER ''; ";
  auto body = [&](std::string moves) {
    return run_body(start + moves +
                    " SET Environment.x = 1; SET OutputRoot.XMLNSC = NULL; "
                    "SET OutputRoot.XMLNSC.s = s; RETURN TRUE;");
  };
  CHECK(body("MOVE r FIRSTCHILD; WHILE LASTMOVE(r) DO SET s = s || FIELDNAME(r); "
             "MOVE r NEXTSIBLING; END WHILE;") == "TRUE: Root{XMLNSC{s='iji'}}");
  CHECK(
      body("MOVE r FIRSTCHILD NAME 'i'; WHILE LASTMOVE(r) DO "
           "SET s = s || CAST(r AS CHARACTER); MOVE r NEXTSIBLING REPEAT TYPE NAME; END WHILE;") ==
      "TRUE: Root{XMLNSC{s='13'}}");
  CHECK(body("MOVE r LASTCHILD; MOVE r PREVIOUSSIBLING; SET s = FIELDNAME(r); MOVE r PARENT; "
             "SET s = s || FIELDNAME(r);") == "TRUE: Root{XMLNSC{s='ja'}}");
  // A failed move keeps the place.
  CHECK(body("MOVE r FIRSTCHILD NAME 'none'; SET s = FIELDNAME(r) || "
             "CAST(LASTMOVE(r) AS CHARACTER);") == "TRUE: Root{XMLNSC{s='aFALSE'}}");
  CHECK(body("MOVE r TO OutputRoot.XMLNSC.zz; SET s = FIELDNAME(r) || "
             "CAST(LASTMOVE(r) AS CHARACTER);") == "TRUE: Root{XMLNSC{s='aFALSE'}}");
}

TEST_CASE("exec tree: references to missing fields rest at the root") {
  CHECK(run_body(
            "DECLARE r REFERENCE TO OutputRoot.XMLNSC.zz; SET OutputRoot.XMLNSC.l = LASTMOVE(r); "
            "SET OutputRoot.XMLNSC.n = FIELDNAME(r); RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{l=FALSE n='Root'}}");
}

TEST_CASE("exec tree: field functions") {
  CHECK(run_body("SET OutputRoot.XMLNSC.(XMLNSC.Attribute)a = 'v'; "
                 "SET OutputRoot.XMLNSC.t = FIELDTYPE(OutputRoot.XMLNSC.a); "
                 "SET OutputRoot.XMLNSC.ns = FIELDNAMESPACE(OutputRoot.XMLNSC.a); "
                 "SET OutputRoot.XMLNSC.v = FIELDVALUE(OutputRoot.XMLNSC.a); "
                 "SET OutputRoot.XMLNSC.null = FIELDTYPE(OutputRoot.XMLNSC.zz) IS NULL; "
                 "RETURN TRUE;") == "TRUE: Root{XMLNSC{@a='v' t=50331904 ns='' v='v' null=TRUE}}");
  CHECK(run_body("SET OutputRoot.XMLNSC.i[1] = 1; SET OutputRoot.XMLNSC.i[2] = 2; "
                 "SET OutputRoot.XMLNSC.c = CARDINALITY(OutputRoot.XMLNSC.i[]); "
                 "SET OutputRoot.XMLNSC.e = EXISTS(OutputRoot.XMLNSC.i[]); "
                 "SET OutputRoot.XMLNSC.z = EXISTS(OutputRoot.XMLNSC.zz[]); "
                 "SET OutputRoot.XMLNSC.s = SINGULAR(OutputRoot.XMLNSC.i[]); "
                 "SET OutputRoot.XMLNSC.o = SINGULAR(OutputRoot.XMLNSC.c[]); "
                 "SET OutputRoot.XMLNSC.all = CARDINALITY(OutputRoot.XMLNSC.*[]); RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{i=1 i=2 c=2 e=TRUE z=FALSE s=FALSE o=TRUE all=7}}");
  CHECK(run_body("DECLARE r REFERENCE TO OutputRoot.XMLNSC; "
                 "SET OutputRoot.XMLNSC.a = 1; MOVE r TO OutputRoot.XMLNSC.a; "
                 "SET OutputRoot.XMLNSC.same = SAMEFIELD(r, OutputRoot.XMLNSC.a); "
                 "SET OutputRoot.XMLNSC.diff = SAMEFIELD(r, OutputRoot.XMLNSC); RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{a=1 same=TRUE diff=FALSE}}");
}

TEST_CASE("exec tree: copies of whole messages keep the parser's domains") {
  for (std::string body :
       {"CALL CopyEntireMessage(); RETURN TRUE;", "SET OutputRoot = InputRoot; RETURN TRUE;",
        "CALL CopyMessageHeaders(); SET OutputRoot.XMLNSC = InputRoot.XMLNSC; "
        "RETURN TRUE;"}) {
    Runner r(
        compute(body,
                "CREATE PROCEDURE CopyMessageHeaders() BEGIN\n DECLARE I INTEGER 1;\n"
                "DECLARE J INTEGER;\n SET J = CARDINALITY(InputRoot.*[]);\n"
                "WHILE I < J DO\n SET OutputRoot.*[I] = InputRoot.*[I]; -- copy\n"
                "SET I = I + 1;\n END WHILE;\n END;\n"
                "CREATE PROCEDURE CopyEntireMessage() BEGIN SET OutputRoot = InputRoot; END;"));
    REQUIRE(r.diagnostics == "");
    r.add(r.input_path({"Properties"}), "MessageSet", "s");
    r.add(r.input_path({"MQMD"}), "Format", "f");
    r.add(r.input_path({"XMLNSC", "doc"}), "x", "1");
    CHECK(r.run() == "TRUE");
    CHECK(r.output() == "Root{Properties{MessageSet='s'} MQMD{Format='f'} XMLNSC{doc{x='1'}}}");
    for (tree::Element* c = r.out.root->first; c; c = c->next) {
      CHECK(c->has_flag(tree::kFlagDomainRoot));
    }
  }
}

TEST_CASE("exec tree: the same copy written differently runs as statements") {
  Runner r(
      compute("DECLARE n INTEGER CARDINALITY(InputRoot.*[]); DECLARE k INTEGER 1; "
              "WHILE k <= n DO SET OutputRoot.*[k] = InputRoot.*[k]; SET k = k + 1; END WHILE; "
              "RETURN TRUE;"));
  r.add(r.input_path({"Properties"}), "MessageSet", "s");
  r.add(r.input_path({"XMLNSC", "doc"}), "x", "1");
  CHECK(r.run() == "TRUE");
  CHECK(r.output() == "Root{Properties{MessageSet='s'} XMLNSC{doc{x='1'}}}");
  CHECK(r.out.root->last->has_flag(tree::kFlagDomainRoot));
}

TEST_CASE("exec tree: the input cannot be changed, the environment can") {
  CHECK(
      run_body("DECLARE r REFERENCE TO InputRoot; SET r.XMLNSC.a = 1; RETURN TRUE;").find("1651") !=
      std::string::npos);
  Runner r(
      compute("SET Environment.Variables.a = 1; "
              "SET InputLocalEnvironment.x = 2; RETURN TRUE;"));
  CHECK(r.run() == "TRUE");
  CHECK(r.environment() == "Environment{Variables{a=1}}");
}

TEST_CASE("exec tree: a value replaces children but attributes") {
  CHECK(run_body("SET OutputRoot.XMLNSC.a.(XMLNSC.Attribute)id = 1; SET OutputRoot.XMLNSC.a.b = 2; "
                 "SET OutputRoot.XMLNSC.a = 'v'; RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{a='v'{@id=1}}}");
}

TEST_CASE("exec tree: ROW variables") {
  CHECK(run_body("DECLARE r ROW; SET r.a.b = 1; SET r.a.c = 'x'; SET OutputRoot.XMLNSC.o = r; "
                 "SET r = NULL; SET OutputRoot.XMLNSC.gone = r.a.b IS NULL; RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{o{a{b=1 c='x'}} gone=TRUE}}");
  CHECK(run_body("DECLARE r ROW ROW(1 AS a, 'x' AS b); SET OutputRoot.XMLNSC = r; RETURN TRUE;") ==
        "TRUE: Root{XMLNSC{a=1 b='x'}}");
}

TEST_CASE("exec tree: references as parameters and results") {
  const char* more =
      "CREATE FUNCTION Child(IN r REFERENCE, IN n CHARACTER) RETURNS CHARACTER BEGIN "
      "RETURN r.{n}; END;\n"
      "CREATE PROCEDURE Next(INOUT r REFERENCE) BEGIN MOVE r NEXTSIBLING; END;\n"
      "CREATE FUNCTION Make() RETURNS ROW BEGIN DECLARE x ROW; SET x.k = 7; RETURN x; END;\n";
  CHECK(run_body("SET OutputRoot.XMLNSC.a.b = 'v'; SET OutputRoot.XMLNSC.n = "
                 "Child(OutputRoot.XMLNSC.a, 'b'); RETURN TRUE;",
                 more) == "TRUE: Root{XMLNSC{a{b='v'} n='v'}}");
  CHECK(run_body("SET OutputRoot.XMLNSC.a = 1; SET OutputRoot.XMLNSC.b = 2; "
                 "DECLARE r REFERENCE TO OutputRoot.XMLNSC.a; CALL Next(r); "
                 "SET OutputRoot.XMLNSC.n = FIELDNAME(r); RETURN LASTMOVE(r);",
                 more) == "TRUE: Root{XMLNSC{a=1 b=2 n='b'}}");
  CHECK(run_body("SET OutputRoot.XMLNSC.m = Make(); RETURN TRUE;", more) ==
        "TRUE: Root{XMLNSC{m{k=7}}}");
}

}  // namespace millstream::esql::testing
