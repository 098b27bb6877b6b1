#include "esql/program.h"

#include <doctest/doctest.h>

#include "esql/analysis.h"
#include "esql/constants.h"

namespace millstream::esql {
namespace {

using ast::RefKind;
using ast::Storage;

// A program of one file, with a table of names of its own.
struct Fixture {
  explicit Fixture(std::string text) {
    program.add_file({.path = "t.esql", .text = std::move(text)});
    link();
  }
  Fixture() = default;
  bool link() {
    return program.link(
        {.names = &names, .find_constant = [](std::string_view name, value::Value& out) {
           if (name != "MQMT_REQUEST") return false;
           out = value::Value::make_integer(1);
           return true;
         }});
  }
  // "line:column code" of every diagnostic; warnings with a leading '~'.
  std::string report() const {
    std::string out;
    for (const Diagnostic& d : program.diagnostics()) {
      if (!out.empty()) out += ' ';
      out += (d.level == DiagnosticLevel::kWarning ? "~" : "") + std::to_string(d.line) + ":" +
             std::to_string(d.column) + " " + d.code;
    }
    return out;
  }
  base::NameTable names;
  Program program;
};

// Statements as the body of a Compute Main; positions count from the first statement on line 1.
std::string check_body(std::string_view statements, std::string_view kind = "COMPUTE",
                       std::string_view before = {}) {
  return Fixture("CREATE " + std::string(kind) +
                 " MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n" +
                 std::string(statements) + "\nRETURN TRUE; END; " + std::string(before) +
                 " END MODULE;")
      .report();
}

const ast::Stmt* statement_of(const Program& p, size_t i) {
  const ast::Routine* main = p.find_module("", "M")->main;
  return ast::as<ast::BlockStmt>(main->body)->body.statements[i];
}

TEST_CASE("A correct program has no diagnostics") {
  CHECK(check_body("DECLARE i INTEGER 1; SET OutputRoot.XMLNSC.a = i + InputRoot.XMLNSC.b;") == "");
  CHECK(check_body("SET OutputRoot.MQMD.MsgType = MQMT_REQUEST;") == "");
  CHECK(check_body("SET Environment.x = SQLSTATE || BrokerName || SQL.BrokerName;") == "");
  CHECK(check_body("SET Environment.x = CURRENT_TIMESTAMP;") == "");
  CHECK(check_body("DECLARE r REFERENCE TO InputRoot.XMLNSC; MOVE r FIRSTCHILD; IF LASTMOVE(r) "
                   "THEN END IF;") == "");
  CHECK(check_body("CREATE FIELD OutputRoot.JSON.Data IDENTITY (JSON.array)Data;") == "");
  CHECK(check_body(
            "CREATE LASTCHILD OF OutputRoot DOMAIN('XMLNSC') PARSE(InputRoot.BLOB.BLOB OPTIONS "
            "FolderBitStream);") == "");
}

TEST_CASE("Names that nobody declared") {
  CHECK(check_body("SET x = 1;") == "2:5 BIP2432");
  CHECK(check_body("SET Environment.a = y.b;") == "2:21 BIP2432");
  CHECK(check_body("SET Environment.a = XMLNSC.NoSuchType;") == "2:21 BIP2432");
  CHECK(check_body("SET Environment.a = Nope(1);") == "2:21 MS1605");
  CHECK(check_body("CALL a.b.Nope();") == "2:6 MS1605");
  CHECK(check_body("SET Environment.q:a = 1;") == "2:17 MS1617");
  CHECK(check_body("SET OutputRoot.XMLNSC.a.(XMLNSC.NamespaceDecl)xmlns:q = 'urn:q';") == "");
  CHECK(check_body("SET OutputRoot.XMLNSC.a.(XMLNSC.Attribute)xml:lang = 'en';") == "");
  CHECK(check_body("DECLARE q CHARACTER 'u'; SET Environment.q:a = 1;") == "~2:42 MS1626");
}

TEST_CASE("Trap 57: correlation names of Filter and Database modules are others") {
  CHECK(check_body("SET Environment.a = Root.XMLNSC.b;", "FILTER") == "");
  CHECK(check_body("SET Environment.a = InputRoot.XMLNSC.b;", "FILTER") == "2:21 BIP2432");
  CHECK(check_body("SET Environment.a = InputRoot.XMLNSC.b;", "DATABASE") == "2:21 BIP2432");
  CHECK(check_body("SET Environment.a = Body.b; SET Environment.c = DestinationList.d;",
                   "FILTER") == "");
  CHECK(check_body("SET Environment.a = Root.XMLNSC.b;") == "2:21 BIP2432");
  CHECK(check_body("SET Environment.a = InputDestinationList.b;") == "");
}

TEST_CASE("Trap 21: a local is visible from its declaration on") {
  CHECK(check_body("SET Environment.a = v; DECLARE v INTEGER 1; SET Environment.a = v;") ==
        "2:21 BIP2432");
  CHECK(check_body("IF TRUE THEN DECLARE v INTEGER 1; END IF; SET Environment.a = v;") ==
        "2:63 BIP2432");
  CHECK(check_body("DECLARE v INTEGER v;") == "2:19 BIP2432");
  Fixture f(
      "CREATE COMPUTE MODULE M DECLARE v INTEGER 1; CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
      "SET Environment.a = v; DECLARE v INTEGER v; SET Environment.a = v; RETURN TRUE; END; END "
      "MODULE;");
  REQUIRE(f.report() == "");
  auto value_of = [&](size_t i) {
    return ast::as<ast::PathExpr>(ast::as<ast::SetStmt>(statement_of(f.program, i))->value)
        ->variable;
  };
  CHECK(value_of(0)->storage == Storage::kModule);
  CHECK(value_of(2)->storage == Storage::kLocal);
  const auto* declare = ast::as<ast::DeclareStmt>(statement_of(f.program, 1));
  CHECK(ast::as<ast::PathExpr>(declare->variables[0]->initial)->variable == value_of(0));
}

TEST_CASE("Trap 19: hardly any word is reserved") {
  CHECK(check_body("DECLARE Date, Name, Type, Value, Message, Label, Data, Status, Day CHARACTER; "
                   "SET Date = Name || Type || Value || Message || Label || Data || Status || Day; "
                   "SET OutputRoot.XMLNSC.Date.Name.Type.Value.Message.Label.From.Case = Date;") ==
        "");
}

TEST_CASE("Trap 18: precision belongs to CAST") {
  CHECK(check_body("DECLARE x DECIMAL(10,2);") == "2:18 BIP4001");
  CHECK(check_body("DECLARE x DECIMAL CAST('1.234' AS DECIMAL(10,2));") == "");
}

TEST_CASE("Constants and read-only trees") {
  CHECK(check_body("DECLARE c CONSTANT INTEGER 1; SET c = 2;") == "2:35 MS1607");
  CHECK(check_body("DECLARE n NAMESPACE 'u'; SET n = 'v';") == "2:30 MS1607");
  CHECK(check_body("SET SQLCODE = 1;") == "2:5 MS1607");
  CHECK(check_body("SET InputRoot.XMLNSC.a = 1;") == "~2:5 MS1624");
  CHECK(check_body("SET InputLocalEnvironment.a = 1;") == "");
  CHECK(check_body("SET CURRENT_DATE = 1;") == "2:5 MS1607");
}

TEST_CASE("Scalars have no fields; references are needed where the language says") {
  CHECK(check_body("DECLARE c CHARACTER; SET c.a = 1;") == "2:26 MS1615");
  CHECK(check_body("DECLARE c CHARACTER; SET c TYPE = Name;") == "2:26 MS1614");
  CHECK(check_body("DECLARE c CHARACTER; MOVE c NEXTSIBLING;") == "2:27 MS1616");
  CHECK(check_body("DECLARE c ROW; CREATE FIELD Environment.a AS c;") == "2:46 MS1616");
  CHECK(check_body("SET Environment.a = LASTMOVE(Environment.b);") == "2:30 MS1616");
  CHECK(check_body("SET Environment.a = FIELDNAME(1);") == "2:31 MS1614");
  CHECK(check_body("SET Environment.a = FIELDNAME(Environment.b, 1);") == "2:21 MS1606");
  CHECK(check_body("SET Environment.a = LENGTH('a', 'b');") == "2:21 MS1606");
  CHECK(check_body("SET Environment.a = RAND(1);") == "");
}

TEST_CASE("Labels, handlers, RESIGNAL, PROPAGATE") {
  CHECK(check_body("LEAVE x;") == "2:1 MS1608");
  CHECK(check_body("x: WHILE TRUE DO ITERATE x; LEAVE x; END WHILE x;") == "");
  CHECK(check_body("x: BEGIN ITERATE x; END;") == "2:10 MS1608");
  CHECK(check_body("RESIGNAL;") == "2:1 MS1618");
  CHECK(check_body("DECLARE EXIT HANDLER FOR SQLSTATE LIKE '%' RESIGNAL;") == "");
  CHECK(
      check_body(
          "DECLARE i INTEGER; DECLARE EXIT HANDLER FOR SQLSTATE LIKE '%' SET i = 1; SET i = 2;") ==
      "");
  CHECK(check_body(
            "SET Environment.a = 1; DECLARE EXIT HANDLER FOR SQLSTATE LIKE '%' RETURN FALSE;") ==
        "2:24 MS1609");
  CHECK(check_body("PROPAGATE TO TERMINAL 'Out1';") == "~2:23 MS1623");
  CHECK(check_body("PROPAGATE TO TERMINAL 5;") == "~2:23 MS1623");
  CHECK(check_body("PROPAGATE TO TERMINAL 'out4' DELETE NONE; PROPAGATE TO TERMINAL 0;") == "");
  CHECK(check_body("PROPAGATE;", "FILTER") == "2:1 MS1610");
  CHECK(check_body("PROPAGATE;", "DATABASE") == "");
  CHECK(check_body("BEGIN ATOMIC PROPAGATE; END;") == "~2:14 MS1625");
}

TEST_CASE("SHARED and EXTERNAL") {
  CHECK(check_body("DECLARE s SHARED ROW;") == "2:9 MS1611");
  CHECK(check_body("DECLARE s EXTERNAL CHARACTER;") == "2:9 MS1612");
  CHECK(Fixture("DECLARE s SHARED REFERENCE TO Environment;").report() == "1:9 MS1611");
  CHECK(Fixture("DECLARE s EXTERNAL ROW;").report() == "1:9 MS1612");
  CHECK(Fixture("DECLARE n NAMESPACE;").report() == "1:9 MS1614");
  Fixture f(
      "DECLARE a SHARED ROW; DECLARE b SHARED INTEGER 1; DECLARE c EXTERNAL CHARACTER 'x'; DECLARE "
      "d INTEGER;"
      "CREATE COMPUTE MODULE M DECLARE e SHARED ROW; DECLARE f INTEGER; DECLARE g INTEGER; "
      "CREATE FUNCTION Main() RETURNS BOOLEAN RETURN TRUE; END MODULE;");
  CHECK(f.report() == "");
  CHECK(f.program.shared_variables().size() == 3);
  CHECK(f.program.externals().size() == 1);
  CHECK(f.program.schema_variables().size() == 1);
  const ast::Module* m = f.program.find_module("", "M");
  CHECK(m->variable_slots == 2);
  CHECK(m->variables[2]->slot == 1);
  CHECK(m->variables[0]->storage == Storage::kShared);
  CHECK_FALSE(f.program.externals()[0]->has_literal);
}

TEST_CASE("Main and RETURN") {
  CHECK(Fixture(
            "CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS INTEGER RETURN 1; END MODULE;")
            .report() == "1:25 MS1613");
  CHECK(Fixture("CREATE COMPUTE MODULE M CREATE FUNCTION Main(IN a INTEGER) RETURNS BOOLEAN RETURN "
                "TRUE; END MODULE;")
            .report() == "1:25 MS1613");
  CHECK(Fixture("CREATE COMPUTE MODULE M END MODULE;").report() == "~1:1 MS1613");
  CHECK(Fixture("CREATE PROCEDURE p() RETURN 1;").report() == "1:22 MS1619");
  CHECK(Fixture("CREATE FUNCTION f() BEGIN END;").report() == "");
  CHECK(Fixture("CREATE FUNCTION f() RETURN 1;").report() == "1:21 MS1619");
  CHECK(Fixture("CREATE PROCEDURE p() RETURN;").report() == "");
}

TEST_CASE("Routines: arguments, directions, order of search") {
  std::string_view p =
      "CREATE PROCEDURE p(IN a INTEGER, OUT b CHARACTER, IN r REFERENCE) BEGIN END;";
  CHECK(check_body("DECLARE x CHARACTER; CALL p(1, x, InputRoot.XMLNSC);", "COMPUTE", p) == "");
  CHECK(check_body("CALL p(1, 2, InputRoot);", "COMPUTE", p) == "2:11 MS1614");
  CHECK(check_body("DECLARE x CHARACTER; CALL p(1, x, 'x');", "COMPUTE", p) == "2:35 MS1614");
  CHECK(check_body("CALL p(1);", "COMPUTE", p) == "2:6 MS1606");
  CHECK(check_body("DECLARE x CONSTANT CHARACTER 'a'; CALL p(1, x, Environment);", "COMPUTE", p) ==
        "2:45 MS1607");
  CHECK(check_body("SET Environment.a = p(1, Environment.b, Environment);", "COMPUTE", p) ==
        "2:21 MS1614");
  CHECK(check_body("CALL p(1, Environment.a, Environment) INTO Environment.c;", "COMPUTE", p) ==
        "2:44 MS1614");
  CHECK(check_body("p(1, Environment.a, Environment);", "COMPUTE", p) == "");
  // A name that differs in case only is found, with a warning.
  CHECK(check_body("CALL P(1, Environment.a, Environment);", "COMPUTE", p) == "~2:6 MS1628");
}

TEST_CASE("Lookup: module, own schema, PATH, explicit schema; own unit first") {
  Fixture f;
  auto add = [&](std::string path, std::string text, std::string schema, uint32_t unit) {
    return f.program.add_file({path, text, schema, unit});
  };
  CHECK(
      add("a.esql",
          "BROKER SCHEMA a PATH b; DECLARE k CONSTANT INTEGER 7; CREATE PROCEDURE own() BEGIN END; "
          "CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
          "CALL local(); CALL own(); CALL inb(); CALL c.inc(); SET Environment.x = k + kb; "
          "SET Environment.y = c.kc; RETURN TRUE; END; "
          "CREATE PROCEDURE local() BEGIN END; END MODULE;",
          "a", 0));
  CHECK(add("b.esql", "BROKER SCHEMA b DECLARE kb INTEGER 1; CREATE PROCEDURE inb() BEGIN END;",
            "b", 1));
  CHECK(add("c.esql", "BROKER SCHEMA c DECLARE kc INTEGER 1; CREATE PROCEDURE inc() BEGIN END;",
            "c", 2));
  CHECK(add("a2.esql", "BROKER SCHEMA a CREATE PROCEDURE own() BEGIN END;", "a", 2));
  CHECK(f.link());
  CHECK(f.report() == "");
  const ast::Module* m = f.program.find_module("a", "M");
  REQUIRE(m);
  const auto* body = ast::as<ast::BlockStmt>(m->main->body);
  auto routine_of = [&](size_t i) {
    return ast::as<ast::CallStmt>(body->body.statements[i])->call->routine;
  };
  CHECK(routine_of(0)->module == m);
  CHECK(routine_of(1)->file->path == "a.esql");
  CHECK(routine_of(2)->file->path == "b.esql");
  CHECK(routine_of(3)->file->path == "c.esql");
  CHECK(f.program.find_routine("a", "", "own", 2)->file->path == "a2.esql");
  CHECK(f.program.find_module("b", "M") == nullptr);
}

TEST_CASE("Duplicates and schemas that differ from the folder") {
  Fixture f;
  f.program.add_file(
      {"a.esql", "BROKER SCHEMA x DECLARE v INTEGER; CREATE PROCEDURE p() BEGIN END;", "y", 0});
  f.program.add_file(
      {"b.esql", "BROKER SCHEMA x DECLARE v INTEGER; CREATE PROCEDURE p() BEGIN END;", "x", 0});
  CHECK_FALSE(f.link());
  CHECK(f.report() == "~1:1 MS1627 1:25 MS1603 1:36 MS1603");
  CHECK(check_body("", "COMPUTE", "CREATE PROCEDURE p(IN a INTEGER, IN a INTEGER) BEGIN END;") ==
        "3:55 MS1603");
}

TEST_CASE("Warnings: Java, CARDINALITY without []; what a database cannot do") {
  CHECK(check_body("INSERT INTO Database.T VALUES(1); DELETE FROM Database.T;") == "");
  CHECK(check_body("INSERT INTO Database.T(a, b) VALUES(1);") == "~2:1 MS1606");
  CHECK(check_body("SET Environment.a[] = SELECT T.x FROM Database.T;") == "");
  CHECK(check_body("UPDATE Database.T AS A SET c = SUBSTRING(A.d FROM 2);") == "2:32 MS2124");
  CHECK(check_body("UPDATE Database.T AS A SET c = SUBSTRING('abc' FROM 2) WHERE A.d = 1;") == "");
  CHECK(check_body("DELETE FROM Database.T AS A WHERE A.d = 1 AND A.* = 2;") == "2:47 MS2124");
  CHECK(check_body("SET Environment.a[] = SELECT T.x FROM Database.A.S.T, Database.B.S.U;") ==
        "2:55 MS2125");
  CHECK(check_body("SET Environment.a = CARDINALITY(InputRoot.XMLNSC.a);") == "~2:33 MS1622");
  CHECK(check_body("SET Environment.a = CARDINALITY(InputRoot.XMLNSC.a[]);") == "");
  CHECK(Fixture("CREATE FUNCTION j() RETURNS CHARACTER LANGUAGE JAVA EXTERNAL NAME \"a.b\";")
            .report() == "~1:1 MS1620");
}

TEST_CASE("Paths: names interned, constant types, namespace and NAME constants") {
  Fixture f(
      "DECLARE ns NAMESPACE 'urn:x'; DECLARE Joe NAME 'Jim'; DECLARE ext EXTERNAL NAMESPACE "
      "'urn:y';"
      "CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
      "SET OutputRoot.XMLNSC.ns:a.(XMLNSC.Attribute)*:b.Joe.\"Joe\".ext:c.{'d'}[<] = 1;"
      "RETURN TRUE; END; END MODULE;");
  REQUIRE(f.report() == "");
  const ast::PathExpr& p = *ast::as<ast::SetStmt>(statement_of(f.program, 0))->target;
  CHECK(p.ref == RefKind::kCorrelation);
  CHECK(p.correlation == ast::Correlation::kOutputRoot);
  CHECK(p.steps[0].qname == f.names.intern_qname("", "XMLNSC"));
  CHECK(p.steps[1].qname == f.names.intern_qname("urn:x", "a"));
  CHECK(p.steps[2].has_constant_type);
  CHECK(p.steps[2].constant_type == tree::xmlnsc::kAttribute);
  CHECK(p.steps[2].qname == nullptr);
  CHECK(p.steps[2].local == f.names.intern("b"));
  CHECK(p.steps[3].name == "Jim");
  CHECK(p.steps[4].name == "Joe");
  CHECK(p.steps[5].ns_kind == ast::NamespaceKind::kExpr);
  CHECK(p.steps[6].name_kind == ast::NameKind::kExpr);
}

TEST_CASE("Literal constants, frame slots, FOR and SELECT variables") {
  Fixture f(
      "CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
      "DECLARE c CONSTANT INTEGER -5; DECLARE d CONSTANT FLOAT 1; "
      "FOR r AS Environment.a[] DO SET r.x = THE(SELECT ITEM T.v FROM r.b[] AS T WHERE T.k = c); "
      "END FOR; "
      "RETURN TRUE; END; END MODULE;");
  REQUIRE(f.report() == "");
  const ast::Variable* c = ast::as<ast::DeclareStmt>(statement_of(f.program, 0))->variables[0];
  CHECK(c->has_literal);
  CHECK(c->literal.integer == -5);
  CHECK_FALSE(ast::as<ast::DeclareStmt>(statement_of(f.program, 1))->variables[0]->has_literal);
  const auto* loop = ast::as<ast::ForStmt>(statement_of(f.program, 2));
  CHECK(loop->variable->storage == Storage::kRow);
  CHECK(loop->variable->slot == 2);
  CHECK(f.program.find_module("", "M")->main->frame_slots == 4);
}

TEST_CASE("Long rows of operators are analysed, and the routine knows how deep it is") {
  std::string text = "SET Environment.a = 1";
  for (int i = 0; i < 1900; ++i) text += " + 1";
  Fixture f("CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN " + text +
            "; RETURN TRUE; END; END MODULE;");
  REQUIRE(f.report() == "");
  CHECK(f.program.find_module("", "M")->main->depth > 1900);
  CHECK(f.program.find_module("", "M")->main->depth < 1910);
}

TEST_CASE("EVAL is compiled in the scope of its place") {
  Fixture f(
      "CREATE COMPUTE MODULE M DECLARE m INTEGER 1; CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
      "DECLARE a INTEGER 1; EVAL('x'); DECLARE b INTEGER 2; RETURN TRUE; END; END MODULE;");
  REQUIRE(f.report() == "");
  auto table = std::make_shared<base::NameTable>();
  table->freeze();
  base::Arena arena;
  base::NameScope names(arena, table);
  const ast::Routine* main = f.program.find_module("", "M")->main;
  EvalInput input;
  input.routine = main;
  input.scope = ast::as<ast::EvalStmt>(statement_of(f.program, 1))->scope;
  input.first_slot = main->frame_slots;
  input.text = "SET a = a + m; DECLARE c INTEGER; SET Environment.x.y = c;";
  Result<EvalUnit> ok = compile_eval(f.program, input, arena, names);
  REQUIRE(ok.ok());
  CHECK(ok.value().statements.statements.size() == 3);
  CHECK(ok.value().frame_slots == main->frame_slots + 1);
  input.text = "SET b = 1;";  // declared after the EVAL
  Result<EvalUnit> late = compile_eval(f.program, input, arena, names);
  REQUIRE_FALSE(late.ok());
  CHECK(late.error().text.find("'b' is not known") != std::string::npos);
  input.text = "a + ";
  input.is_expression = true;
  Result<EvalUnit> broken = compile_eval(f.program, input, arena, names);
  REQUIRE_FALSE(broken.ok());
  CHECK(broken.error().text.find("BIP4001") != std::string::npos);
  const std::string deep = std::string(200, '(') + "1" + std::string(200, ')');
  input.text = deep;
  CHECK_FALSE(compile_eval(f.program, input, arena, names).ok());
}

TEST_CASE("Files that are not UTF-8, and the form of a diagnostic") {
  Fixture f("DECLARE v CHARACTER '\xE9';");
  CHECK(f.report() == "~1:1 MS1600");
  CHECK(f.program.files()[0]->variables[0]->initial != nullptr);
  Diagnostic d{DiagnosticLevel::kError, "a/b.esql", 3, 7, "BIP4001", "text"};
  CHECK(format_diagnostic(d) == "a/b.esql:3:7: error: text [BIP4001]");
}

TEST_CASE("Predeclared names") {
  tree::FieldType t = 0;
  CHECK(find_type_constant("JSON", "array", t));
  CHECK(t == tree::json::kArray);
  CHECK(find_type_constant("xmlnsc", "ATTRIBUTE", t));
  CHECK(t == tree::xmlnsc::kAttribute);
  CHECK(find_type_constant("XML", "Attribute", t));
  CHECK(t == tree::xmlns::kAttribute);
  CHECK_FALSE(find_type_constant("JSON", "Attribute", t));
  CHECK(find_broker_property("messageflowlabel") == "MessageFlowLabel");
  CHECK(find_broker_property("Nothing").empty());
}

}  // namespace
}  // namespace millstream::esql
