#include "esql/parser.h"

#include <doctest/doctest.h>

#include "esql/ast_text_for_test.h"

namespace millstream::esql {
namespace {

// The tree of an expression, or its first error.
std::string parse_shown(std::string_view text, ParserLimits limits = {}) {
  base::Arena arena;
  Parser parser(text, 0, arena, limits);
  const Expr* e = parser.parse_eval_expression();
  if (parser.has_errors()) {
    const ParseMessage& m = parser.messages()[0];
    return "!" + std::to_string(m.pos.column) + " " + m.text;
  }
  return show(e);
}

// "ok" or every error as line:column.
std::string parse_statements(std::string_view text) {
  base::Arena arena;
  Parser parser(text, 0, arena);
  parser.parse_eval_statements();
  if (!parser.has_errors()) return "ok";
  const ParseMessage& m = parser.messages()[0];
  return "!" + std::to_string(m.pos.line) + ":" + std::to_string(m.pos.column) + " " + m.text;
}

std::string parse_whole_file(std::string_view text) {
  base::Arena arena;
  ast::SourceFile file;
  Parser parser(text, 0, arena);
  parser.parse_file(file);
  if (parser.has_errors()) {
    std::string out;
    for (const ParseMessage& m : parser.messages()) {
      out += std::to_string(m.pos.line) + ":" + std::to_string(m.pos.column) + " ";
    }
    return out;
  }
  return std::string(file.schema) + " " + std::to_string(file.modules.size()) + "m " +
         std::to_string(file.routines.size()) + "r " + std::to_string(file.variables.size()) + "v";
}

TEST_CASE("Precedence: unary, * /, ||, + -, comparison, AND, OR") {
  CHECK(parse_shown("1 + 2 * 3") == "(+ 1 (* 2 3))");
  CHECK(parse_shown("1 * 2 + 3") == "(+ (* 1 2) 3)");
  CHECK(parse_shown("1 - 2 - 3") == "(- (- 1 2) 3)");
  CHECK(parse_shown("8 / 4 / 2") == "(/ (/ 8 4) 2)");
  CHECK(parse_shown("'a' || 1 + 2") == "(+ (|| 'a' 1) 2)");
  CHECK(parse_shown("'a' || 1 * 2") == "(|| 'a' (* 1 2))");
  CHECK(parse_shown("1 + 2 || 3") == "(+ 1 (|| 2 3))");
  CHECK(parse_shown("NOT a = b") == "(= (not a) b)");
  CHECK(parse_shown("NOT (a = b)") == "(not (= a b))");
  CHECK(parse_shown("NOT NOT a") == "(not (not a))");
  CHECK(parse_shown("NOT a AND b OR c") == "(or (and (not a) b) c)");
  CHECK(parse_shown("a OR b AND c") == "(or a (and b c))");
  CHECK(parse_shown("a = b AND c < d") == "(and (= a b) (< c d))");
  CHECK(parse_shown("- a * b") == "(* (neg a) b)");
  CHECK(parse_shown("+ - 1") == "(pos (neg 1))");
  CHECK(parse_shown("a + b = c || d") == "(= (+ a b) (|| c d))");
  CHECK(parse_shown("a <> b") == "(<> a b)");
  CHECK(parse_shown("(a OR b) AND c") == "(and (or a b) c)");
}

TEST_CASE("Predicates") {
  CHECK(parse_shown("a BETWEEN 1 AND 2 AND b") == "(and (between a 1 2) b)");
  CHECK(parse_shown("a NOT BETWEEN SYMMETRIC 1 + 1 AND 2") == "(notbetween~ a (+ 1 1) 2)");
  CHECK(parse_shown("a BETWEEN ASYMMETRIC 1 AND 2") == "(between a 1 2)");
  CHECK(parse_shown("a IN (1, 2) OR b") == "(or (in a 1 2) b)");
  CHECK(parse_shown("a NOT IN ('x')") == "(notin a 'x')");
  CHECK(parse_shown("a LIKE 'x%' ESCAPE '$'") == "(like a 'x%' '$')");
  CHECK(parse_shown("a NOT LIKE 'x' || '%'") == "(notlike a (|| 'x' '%'))");
  CHECK(parse_shown("a IS NULL") == "(is0 a)");
  CHECK(parse_shown("a IS NOT NULL AND b IS UNKNOWN") == "(and (isnot0 a) (is1 b))");
  CHECK(parse_shown("a IS +INF") == "(is5 a)");
  CHECK(parse_shown("a IS -INFINITY") == "(is6 a)");
  CHECK(parse_shown("a IS INF") == "(is4 a)");
  CHECK(parse_shown("a IS NAN") == "(is7 a)");
  CHECK(parse_shown("a IS NUMBER") == "(is8 a)");
  CHECK(parse_shown("a = b IS TRUE") == "(is2 (= a b))");
  CHECK(parse_shown("a IN ()").starts_with("!"));
  CHECK(parse_shown("a IS +NAN").starts_with("!"));
}

TEST_CASE("Paths in every form") {
  CHECK(parse_shown("InputRoot.XMLNSC.a.b") == "InputRoot.XMLNSC.a.b");
  CHECK(parse_shown("InputRoot.*[<].a[2].b[]") == "InputRoot.*[<].a[2].b[]");
  CHECK(parse_shown("a[>].b[>2].c[<3]") == "a[>].b[>2].c[<3]");
  CHECK(parse_shown("a.(XMLNSC.Attribute)b") == "a.(XMLNSC.Attribute)b");
  CHECK(parse_shown("a.(XMLNSC.Attribute)*[]") == "a.(XMLNSC.Attribute)*[]");
  CHECK(parse_shown("a.(Name)") == "a.(Name)");
  CHECK(parse_shown("a.[2]") == "a.[2]");
  CHECK(parse_shown("a.ns:b.*:c.:d.{x}:e.ns:*.*:*") == "a.ns:b.*:c.:d.{x}:e.ns:*.*:*");
  CHECK(parse_shown("a.{'n' || i}[j + 1]") == "a.{(|| 'n' i)}[(+ j 1)]");
  CHECK(parse_shown("a.\"with-hyphen\"") == "a.with-hyphen");
  CHECK(parse_shown("a.Item.Case.From.Select") == "a.Item.Case.From.Select");
  CHECK(parse_shown("Date.Type.Name.Value") == "Date.Type.Name.Value");
  CHECK(parse_shown("a.b * 2") == "(* a.b 2)");
  CHECK(parse_shown("a.(T)ns:b[<]") == "a.(T)ns:b[<]");
  CHECK(parse_shown("a.").starts_with("!"));
  CHECK(parse_shown("a.ns:").starts_with("!"));
}

TEST_CASE("Literals") {
  CHECK(parse_shown("9223372036854775807") == "9223372036854775807");
  CHECK(parse_shown("9223372036854775808") == "decimal");
  CHECK(parse_shown("0xFF") == "255");
  CHECK(parse_shown("0xFFFFFFFFFFFFFFFF") == "-1");
  CHECK(parse_shown("0x10000000000000000").starts_with("!"));
  CHECK(parse_shown("1.5") == "float");
  CHECK(parse_shown("1e400") == "decimal");
  CHECK(parse_shown("DECIMAL '1.50'") == "decimal");
  CHECK(parse_shown("DECIMAL 'inf'") == "decimal");
  CHECK(parse_shown("DECIMAL 'x'") == "!9 ''x'' is not the text of a DECIMAL");
  CHECK(parse_shown("DATE '2024-02-29'") == "DATE '2024-02-29'");
  CHECK(parse_shown("DATE '2023-02-29'").starts_with("!6"));
  CHECK(parse_shown("TIME '10:00:00'") == "TIME '10:00:00.000000'");
  CHECK(parse_shown("GMTTIMESTAMP '2024-01-01 00:00:00.5'") ==
        "GMTTIMESTAMP '2024-01-01 00:00:00.500000'");
  CHECK(parse_shown("INTERVAL '1-02' YEAR TO MONTH") == "INTERVAL '1-02' YEAR TO MONTH");
  CHECK(parse_shown("INTERVAL '5' MINUTE") == "INTERVAL '5' MINUTE");
  CHECK(parse_shown("INTERVAL '5'").starts_with("!"));
  CHECK(parse_shown("(a - b) DAY TO SECOND") == "(interval (- a b) DAY TO SECOND)");
  CHECK(parse_shown("(a - b) DAY + c") == "(+ (interval (- a b) DAY) c)");
  CHECK(parse_shown("TRUE AND unknown OR Null") == "(or (and TRUE NULL) NULL)");
  CHECK(parse_shown("X'0aff' || x''") == "(|| blob2 blob0)");
  CHECK(parse_shown("B'10110'") == "bit5");
  CHECK(parse_shown("'it''s'") == "'it's'");
  CHECK(parse_shown("Date") == "Date");
  CHECK(parse_shown("Time + Interval") == "(+ Time Interval)");
}

TEST_CASE("Functions with keywords become positional") {
  CHECK(parse_shown("SUBSTRING(s FROM 2)") == "SUBSTRING( s 2)");
  CHECK(parse_shown("substring(s from 2 for 3)") == "SUBSTRING( s 2 3)");
  CHECK(parse_shown("SUBSTRING(s BEFORE 'x')") == "SUBSTRING_BEFORE( s 'x')");
  CHECK(parse_shown("SUBSTRING(s AFTER 'x' FOR 2)") == "SUBSTRING_AFTER( s 'x' 2)");
  CHECK(parse_shown("TRIM(s)") == "TRIM( 0 s)");
  CHECK(parse_shown("TRIM(LEADING FROM s)") == "TRIM( 1 s)");
  CHECK(parse_shown("TRIM(TRAILING '0' FROM s)") == "TRIM( 2 s '0')");
  CHECK(parse_shown("TRIM('0' FROM s)") == "TRIM( 0 s '0')");
  CHECK(parse_shown("POSITION('a' IN s)") == "POSITION( 'a' s 1 1)");
  CHECK(parse_shown("POSITION('a' || 'b' IN s FROM 2 REPEAT -1)") ==
        "POSITION( (|| 'a' 'b') s 2 (neg 1))");
  CHECK(parse_shown("OVERLAY(s PLACING x FROM 2 FOR 3)") == "OVERLAY( s x 2 3)");
  CHECK(parse_shown("EXTRACT(YEAR FROM d)") == "EXTRACT( 0 d)");
  CHECK(parse_shown("EXTRACT(IsLeapYear FROM d)") == "EXTRACT( 15 d)");
  CHECK(parse_shown("EXTRACT(EPOCH FROM d)").starts_with("!"));
  CHECK(parse_shown("ROUND(x, 2)") == "ROUND( x 2 5)");
  CHECK(parse_shown("ROUND(x, 2 MODE ROUND_UP)") == "ROUND( x 2 0)");
  CHECK(parse_shown("CAST(a AS DECIMAL(10,2) DEFAULT 0)") == "(cast a as DECIMAL10.2 default 0)");
  CHECK(parse_shown("CAST(a, b, c AS DATE)") == "(cast a b c as DATE)");
  CHECK(parse_shown("CAST(a AS CHAR CCSID 1208 ENCODING 546 FORMAT 'x')") ==
        "(cast a as CHARACTER ccsid 1208 encoding 546 format 'x')");
  CHECK(parse_shown("CAST(3 AS INTERVAL HOUR)") == "(cast 3 as INTERVAL HOUR)");
  CHECK(parse_shown("CAST(a AS DECIMAL(35))").starts_with("!"));
  CHECK(parse_shown("ASBITSTREAM(r.a OPTIONS FolderBitStream CCSID 1208)") ==
        "(asbitstream r.a FolderBitStream - 1208 - - -)");
  CHECK(parse_shown("ASBITSTREAM(r.a, 546, 1208, 's', 't', 'f', 0)") ==
        "(asbitstream r.a 0 546 1208 's' 't' 'f')");
  CHECK(parse_shown("ASBITSTREAM(r,,1208)") == "(asbitstream r - - 1208 - - -)");
  CHECK(parse_shown("PASSTHRU('sql', a, b)") == "(passthru 'sql' a b)");
  CHECK(parse_shown("PASSTHRU('sql' TO Database.d VALUES(a))") ==
        "(passthru 'sql' to Database.d a)");
  CHECK(parse_shown("EVAL('1')") == "(eval '1')");
  CHECK(parse_shown("a.b.F(1)") == "a.b#F( 1)");
  CHECK(parse_shown("F()") == "F()");
  CHECK(parse_shown("CURRENT_TIMESTAMP") == "CURRENT_TIMESTAMP");
}

TEST_CASE("CASE, ROW, LIST, SELECT, quantifiers") {
  CHECK(parse_shown("CASE WHEN a THEN 1 ELSE 2 END") == "(case - a:1 else 2)");
  CHECK(parse_shown("CASE x WHEN 1 THEN 'a' WHEN 2 THEN 'b' END || 'c'") ==
        "(|| (case x 1:'a' 2:'b' else -) 'c')");
  CHECK(parse_shown("ROW(1 AS a, x.b, y.(T)c AS d)") == "(row 1/a x.b/b y.(T)c/d)");
  CHECK(parse_shown("LIST{1, ROW(2 AS b)}") == "(list 1 (row 2/b))");
  CHECK(parse_shown("LIST{}") == "(list)");
  CHECK(parse_shown("THE(SELECT ITEM T.v FROM E.t[] AS T WHERE T.k = 1)") ==
        "(the (select item T.v from E.t[]:T+ where (= T.k 1)))");
  CHECK(parse_shown("SELECT T.a, T.b AS x.y[], 1 AS {n} FROM E.t[] AS T, T.u[] AS U") ==
        "(select T.a/a T.b/x/y[] 1/{n} from E.t[]:T+ T.u[]:U+)");
  CHECK(parse_shown("SELECT * FROM Database.DSN.S.T") == "(select * from Database.DSN.S.T:T+)");
  CHECK(parse_shown("SELECT A.* FROM x.A[]") == "(select A.* from x.A[]:A+)");
  CHECK(parse_shown("SELECT COUNT(*) FROM x.a[]") == "(select count* from x.a[]:a+ single)");
  CHECK(parse_shown("SELECT SUM(A.x * A.y) FROM x.a[] AS A") ==
        "(select sum (* A.x A.y) from x.a[]:A+ single)");
  CHECK(parse_shown("SELECT R.x FROM x.r AS R") == "(select R.x/x from x.r:R single)");
  CHECK(parse_shown("SELECT Item.x FROM a.Item[]") == "(select Item.x/x from a.Item[]:Item+)");
  CHECK(parse_shown("EXISTS(SELECT 1 AS a FROM b[])") == "EXISTS( (select 1/a from b[]:b+))");
  CHECK(parse_shown("FOR ANY a.b[] AS x (x.c = 1)") == "(any a.b[]:x (= x.c 1))");
  CHECK(parse_shown("FOR ALL a.b[] (b > 1) AND c") == "(and (all a.b[]:b (> b 1)) c)");
  CHECK(parse_shown("SELECT DISTINCT a FROM b[]").starts_with("!8"));
  CHECK(parse_shown("SELECT SUM(a), b FROM c[]").starts_with("!14"));
}

TEST_CASE("Depth and number of operators are limited") {
  std::string deep(5000, '(');
  CHECK(parse_shown(deep).find("nested deeper") != std::string::npos);
  std::string nots;
  for (int i = 0; i < 5000; ++i) nots += "NOT ";
  CHECK(parse_shown(nots + "a").find("nested deeper") != std::string::npos);
  std::string chain = "a";
  for (int i = 0; i < 3000; ++i) chain += " || a";
  CHECK(parse_shown(chain).find("operators") != std::string::npos);
  chain = "a";
  for (int i = 0; i < 1900; ++i) chain += "+ a";
  CHECK(parse_statements("SET b = " + chain + ";") == "ok");
  CHECK(parse_shown("((((1))))", {.depth_max = 3}).starts_with("!"));
  std::string blocks;
  for (int i = 0; i < 5000; ++i) blocks += "BEGIN ";
  CHECK(parse_statements(blocks).find("nested deeper") != std::string::npos);
  std::string cases;
  for (int i = 0; i < 5000; ++i) cases += "CASE WHEN ";
  CHECK(parse_shown(cases).find("nested deeper") != std::string::npos);
  std::string paths = "a";
  for (int i = 0; i < 5000; ++i) paths += "[a";
  CHECK(parse_shown(paths).find("nested deeper") != std::string::npos);
}

TEST_CASE("Every statement parses") {
  for (std::string_view s : {
           "DECLARE a, b CHARACTER 'x'",
           "DECLARE c CONSTANT INTEGER -1",
           "DECLARE r REFERENCE TO a.b[1]",
           "DECLARE n NAMESPACE 'urn:x'",
           "DECLARE i INTERVAL HOUR TO MINUTE",
           "DECLARE x ROW",
           "DECLARE CONTINUE HANDLER FOR SQLSTATE LIKE 'D%' ESCAPE '!', SQLSTATE VALUE 'x' SET a = "
           "1",
           "DECLARE EXIT HANDLER FOR SQLSTATE 'U0001' BEGIN RESIGNAL; END",
           "DECLARE exit INTEGER 1",
           "SET a = 1",
           "SET a.b TYPE = 1",
           "SET a NAMESPACE = 'x'",
           "SET a NAME = 'x'",
           "SET a VALUE = 1",
           "SET a[] = LIST{1}",
           "BEGIN END",
           "BEGIN ATOMIC SET a = 1; END",
           "x: BEGIN ATOMIC READ WRITE SET a = 1; END x",
           "BEGIN ATOMIC READ ONLY END",
           "x: BEGIN ATOMIC READ WRITE SET a = 1; END x",
           "BEGIN ATOMIC read only END",
           "BEGIN ATOMIC SET READ = 1; END",
           "BEGIN NOT ATOMIC END",
           "l: BEGIN LEAVE l; END l",
           "IF a THEN SET b = 1; ELSEIF c THEN ELSE END IF",
           "CASE a WHEN 1 THEN SET b = 1; WHEN 2 THEN ELSE SET c = 1; END CASE",
           "CASE WHEN a = 1 THEN END CASE",
           "w: WHILE a DO ITERATE w; END WHILE w",
           "REPEAT SET a = 1; UNTIL a END REPEAT",
           "l: LOOP LEAVE l; END LOOP l",
           "FOR x AS a.b[] DO SET c = x.d; END FOR",
           "CALL p()",
           "CALL a.b.p(1, x) INTO y.z",
           "CALL p(1) IN Database.d",
           "CALL p(1) EXTERNAL SCHEMA 's' INTO x",
           "f(1)",
           "a.f(1)",
           "RETURN",
           "RETURN a + 1",
           "THROW EXCEPTION",
           "THROW USER EXCEPTION SEVERITY 3 CATALOG 'c' MESSAGE 2951 VALUES('a', 1)",
           "LOG EVENT SEVERITY 1 CATALOG 'BIPmsgs' MESSAGE 2951 VALUES(1)",
           "LOG USER TRACE VALUES('x')",
           "LOG EVENT FULL EXCEPTION",
           "EVAL('SET a = 1;')",
           "COMMIT",
           "COMMIT Database.d",
           "ROLLBACK Database.d",
           "PROPAGATE",
           "PROPAGATE TO TERMINAL 'out1' DELETE NONE",
           "PROPAGATE TO LABEL a.b ENVIRONMENT OutputLocalEnvironment MESSAGE OutputRoot EXCEPTION "
           "OutputExceptionList FINALIZE NONE DELETE DEFAULT",
           "CREATE FIELD a.b.c",
           "CREATE FIELD a IDENTITY (JSON.Array)items",
           "CREATE LASTCHILD OF a AS r DOMAIN('XMLNSC') PARSE(b CCSID 1208 ENCODING 546)",
           "CREATE LASTCHILD OF a DOMAIN 'XMLNSC' PARSE(b, 546, 1208, 's', 't', 'f')",
           "CREATE FIRSTCHILD OF a TYPE NameValue NAMESPACE n NAME 'x' VALUE 1",
           "CREATE NEXTSIBLING OF a AS a REPEAT VALUE 2",
           "CREATE PREVIOUSSIBLING OF a FROM b.c",
           "CREATE LASTCHILD OF a IDENTITY (XMLNSC.Attribute)ns:Id VALUE 1",
           "DELETE FIELD a.b",
           "DELETE LASTCHILD OF a",
           "DELETE NEXTSIBLING OF a",
           "DETACH a",
           "ATTACH a TO b.c AS FIRSTCHILD",
           "MOVE r TO a.b",
           "MOVE r PARENT",
           "MOVE r NEXTSIBLING REPEAT TYPE NAME",
           "MOVE r LASTCHILD NAME 'x'",
           "MOVE r FIRSTCHILD TYPE Name NAMESPACE * NAME 'x'",
           "MOVE r NEXTSIBLING IDENTITY ns:x",
           "INSERT INTO Database.T(a, b) VALUES (1, 2)",
           "INSERT INTO Database.{d}.S.T VALUES (1)",
           "UPDATE Database.T AS t SET a = 1, b = t.c WHERE t.d = 2",
           "DELETE FROM Database.T AS t WHERE t.a = 1",
           "PASSTHRU('sql', 1)",
           "CALL PASSTHRU('sql')",
           "PASSTHRU 'sql' TO Database.d VALUES(1, 2)",
           "PASSTHRU('sql') TO Database.d",
           "SET Data = Name.Value",
           "SET Message[1].Type = 'x'",
           "DECLARE Value, Name CHARACTER",
       }) {
    INFO(std::string(s));
    CHECK(parse_statements(std::string(s) + ";") == "ok");
  }
}

TEST_CASE("Diagnostics name the place and what was expected") {
  CHECK(parse_statements("SET a 1;") ==
        "!1:7 expected '=', TYPE, NAMESPACE, NAME or VALUE, found '1'");
  CHECK(parse_statements("SET a = ;") == "!1:9 expected an expression, found ';'");
  CHECK(parse_statements("IF a THEN SET b = 1;") ==
        "!1:21 expected END IF, found the end of the text");
  CHECK(parse_statements("DECLARE x DECIMAL(10,2);").find("CAST only") != std::string::npos);
  CHECK(parse_statements("DECLARE r REFERENCE;") == "!1:20 expected TO, found ';'");
  CHECK(parse_statements("l: BEGIN END m;") ==
        "!1:14 the label 'm' does not match 'l' at the beginning");
  CHECK(parse_statements("CREATE FIELD a DOMAIN('X');") ==
        "!1:16 DOMAIN is not allowed with CREATE FIELD");
  CHECK(parse_statements("CREATE LASTCHILD OF a REPEAT;").starts_with("!1:23"));
  CHECK(parse_statements("DECLARE case INTEGER;").find("reserved word") != std::string::npos);
  CHECK(parse_statements("x;").find("expected a statement") != std::string::npos);
}

TEST_CASE("One run reports several errors, one each") {
  CHECK(parse_whole_file("CREATE COMPUTE MODULE M\n"
                         "  CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n"
                         "    SET a = ;\n"
                         "    SET b = 2;\n"
                         "    IF x = ) THEN\n"
                         "      SET c = 1;\n"
                         "    ELSE\n"
                         "      SET d = 1;\n"
                         "    END IF;\n"
                         "    SET e f;\n"
                         "    RETURN TRUE;\n"
                         "  END;\n"
                         "END MODULE;\n") == "3:13 5:12 10:11 ");
  CHECK(parse_whole_file("DECLARE a INTEGR;\nDECLARE b INTEGER;\nCREATE THING;\n") == "1:11 3:8 ");
}

TEST_CASE("Files") {
  CHECK(parse_whole_file("") == " 0m 0r 0v");
  CHECK(parse_whole_file(
            "BROKER SCHEMA a.b.c\nPATH x, y.z;\nDECLARE v INTEGER 1;\n"
            "CREATE PROCEDURE p(IN a CHARACTER, OUT b ROW, INOUT c REFERENCE) BEGIN END;\n"
            "CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN RETURN TRUE; END "
            "MODULE;\n"
            "CREATE FILTER MODULE F END MODULE;") == "a.b.c 2m 1r 1v");
  CHECK(parse_whole_file("CREATE FUNCTION f(in CHARACTER, out INTEGER) RETURNS INT NOT NULL "
                         "LANGUAGE ESQL RETURN 1;") == " 0m 1r 0v");
  CHECK(parse_whole_file(
            "CREATE PROCEDURE j(IN a CHARACTER CONSTANT) RETURNS CHAR LANGUAGE JAVA EXTERNAL NAME "
            "\"a.B.c\" CLASSLOADER \"x\";")
            .starts_with("1:"));
  CHECK(
      parse_whole_file(
          "CREATE PROCEDURE j(IN a CONSTANT CHARACTER) RETURNS CHAR LANGUAGE JAVA EXTERNAL NAME "
          "\"a.B.c\" CLASSLOADER \"x\";\n"
          "CREATE PROCEDURE d(IN a CHARACTER) LANGUAGE DATABASE DYNAMIC RESULT SETS 1 EXTERNAL "
          "NAME "
          "\"s.p\";\n"
          "CREATE FUNCTION n(IN a CHARACTER) RETURNS CHARACTER LANGUAGE .NET EXTERNAL NAME \"A.B\" "
          "ASSEMBLY \"x\" VERSION \"1.0\";") == " 0m 3r 0v");
  CHECK(parse_whole_file(
            "CREATE DATABASEEVENT MODULE E CREATE PROCEDURE ReadEvents(IN r REFERENCE) BEGIN END; "
            "END MODULE;") == " 1m 0r 0v");
  CHECK(parse_whole_file("CREATE PROCEDURE p() BEGIN END") == "1:31 ");
  CHECK(parse_whole_file("CREATE FUNCTION f() RETURNS INTEGER EXTERNAL NAME \"x\";") == "1:37 ");
}

}  // namespace
}  // namespace millstream::esql
