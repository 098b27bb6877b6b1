// What goes to a database: SQL text and parameters of each statement, and what stays here.
#include <doctest/doctest.h>

#include "esql/exec_test_util.h"

namespace millstream::esql {
namespace {

using testing::Runner;
using value::Value;

// "sql [1, 'x']" of each statement, "source: " before it when one is named; and the output.
struct DatabaseRunner {
  explicit DatabaseRunner(const std::string& body) : r(testing::compute(body + " RETURN TRUE;")) {
    if (!r.diagnostics.empty()) return;
    tree::Element* in = r.input_path({"XMLNSC", "in"});
    r.add(in, "id", "7");
    r.add(in, "name", "O'Hara");
    r.host.on_database = [this](const DatabaseRequest& request, DatabaseResult& result) {
      if (!request.data_source.empty()) seen += std::string(request.data_source) + ": ";
      seen += request.sql;
      EvalContext ctx = r.context();
      for (size_t i = 0; i < request.parameters.size(); ++i) {
        const Value& v = request.parameters[i];
        seen += i ? ", " : " [";
        const bool is_text = v.kind == value::Kind::kCharacter;
        seen += is_text       ? "'" + std::string(v.text()) + "'"
                : v.is_null() ? "NULL"
                              : display_text(ctx, v);
      }
      seen += request.parameters.empty() ? ";" : "];";
      result.rows.columns = columns;
      result.rows.cells = cells;
      result.rows.row_count = columns.empty() ? 0 : cells.size() / columns.size();
      return Status();
    };
  }
  std::string run() {
    const std::string result = r.run();
    return result == "TRUE" ? seen : result;
  }
  Runner r;
  std::string seen;
  std::vector<std::string_view> columns;
  std::vector<Value> cells;
};

std::string sql(const std::string& body) { return DatabaseRunner(body).run(); }
std::string select(const std::string& rest) {
  return sql("SET Environment.r[] = (SELECT T.a FROM Database.t AS T " + rest + ");");
}

TEST_CASE("database: INSERT, UPDATE, DELETE") {
  CHECK(sql("INSERT INTO Database.t (a, b, \"C d\") VALUES (1, InputRoot.XMLNSC.in.name, NULL);") ==
        "INSERT INTO t (a, b, \"C d\") VALUES (?, ?, ?) [1, 'O'Hara', NULL];");
  CHECK(sql("INSERT INTO Database.S.s.t VALUES (1 + 1, 'a' || 'b');") ==
        "S: INSERT INTO s.t VALUES (?, ?) [2, 'ab'];");
  CHECK(sql("UPDATE Database.s.t AS X SET a = X.b * 2 + CAST(InputRoot.XMLNSC.in.id AS INTEGER), "
            "X.b = 'x' WHERE X.c = 1 AND X.d IS NULL;") ==
        "UPDATE s.t SET a = ((b * ?) + ?), b = ? WHERE ((c = ?) AND (d IS NULL)) [2, 7, 'x', 1];");
  CHECK(sql("DELETE FROM Database.t;") == "DELETE FROM t;");
  CHECK(sql("DELETE FROM Database.t AS X WHERE InputRoot.XMLNSC.in.id = '7' OR X.a = 1;") ==
        "DELETE FROM t WHERE ((? = 1) OR (a = ?)) [1, 1];");
}

TEST_CASE("database: conditions of SELECT go to the database one by one") {
  CHECK(select("WHERE T.a = InputRoot.XMLNSC.in.id") ==
        "SELECT t1.a FROM t t1 WHERE (t1.a = ?) ['7'];");
  CHECK(select("WHERE T.a IN (1, 2) AND T.b LIKE 'x%' ESCAPE '!' AND T.c NOT BETWEEN 1 AND T.d") ==
        "SELECT t1.a FROM t t1 WHERE (t1.a IN (?, ?)) AND (t1.b LIKE ? ESCAPE '!') AND "
        "(t1.c NOT BETWEEN ? AND t1.d) [1, 2, 'x%', 1];");
  CHECK(select("WHERE UPPER(T.a) = 'X' AND LENGTH(T.b) = 2 AND COALESCE(T.c, 0) = 0") ==
        "SELECT t1.a, t1.b FROM t t1 WHERE (UPPER(t1.a) = ?) AND (COALESCE(t1.c, ?) = ?) "
        "['X', 0, 0];");
  CHECK(select("WHERE CASE T.a WHEN 1 THEN 'x' ELSE T.b END <> 'y'") ==
        "SELECT t1.a FROM t t1 WHERE ((CASE t1.a WHEN ? THEN ? ELSE t1.b END) <> ?) "
        "[1, 'x', 'y'];");
  // Nothing has to be asked when a condition of the message alone is not TRUE.
  CHECK(select("WHERE InputRoot.XMLNSC.in.id = '8' AND T.a = 1") == "");
  CHECK(select("WHERE InputRoot.XMLNSC.in.missing = '8' AND T.a = 1") == "");
}

TEST_CASE("database: columns, joins, whole tables") {
  CHECK(
      sql("SET Environment.r[] = (SELECT A.x, B.y + A.z AS s FROM Database.a AS A, Database.b AS B "
          "WHERE A.id = B.id);") ==
      "SELECT t1.x, t1.z, t2.y FROM a t1, b t2 WHERE (t1.id = t2.id);");
  CHECK(sql("SET Environment.r[] = (SELECT * FROM Database.a AS A, Database.b AS B);") ==
        "SELECT t1.*, 0 AS ms_next, t2.* FROM a t1, b t2;");
  CHECK(sql("SET Environment.n = SELECT COUNT(*) FROM Database.a AS A WHERE A.x > 1;") ==
        "SELECT COUNT(*) FROM a t1 WHERE (t1.x > ?) [1];");
  CHECK(sql("SET Environment.n = SELECT SUM(A.x * 2) FROM Database.a AS A;") ==
        "SELECT SUM((t1.x * ?)) FROM a t1 [2];");
  CHECK(sql("SET Environment.n = SELECT MAX(LENGTH(A.x)) FROM Database.a AS A;") ==
        "SELECT t1.x FROM a t1;");
  CHECK(sql("SET Environment.n = SELECT COUNT(*) FROM Database.a AS A WHERE LENGTH('a') = 1;") ==
        "SELECT COUNT(*) FROM a t1;");
}

TEST_CASE("database: names that are computed are quoted, never text") {
  CHECK(
      sql("DECLARE n CHARACTER 'x\"; DROP TABLE t; --'; INSERT INTO Database.{n}.{'S'}.{n} VALUES "
          "(1);") ==
      "x\"; DROP TABLE t; --: INSERT INTO S.\"x\"\"; DROP TABLE t; --\" VALUES (?) [1];");
  CHECK(sql("INSERT INTO Database.\"Order\" (\"select\") VALUES (1);") ==
        "INSERT INTO \"Order\" (\"select\") VALUES (?) [1];");
  CHECK(sql("INSERT INTO Database.{InputRoot.XMLNSC.in.missing} VALUES (1);") == "2488 2121");
  CHECK(sql("SET Environment.r[] = (SELECT A.x FROM Database.{'p'}.s.a AS A, Database.{'q'}.s.b AS "
            "B);") == "2488 2122");
  CHECK(sql("SET Environment.r = Database.t.a;") == "2488 2120");
}

TEST_CASE("database: PASSTHRU in its forms") {
  CHECK(sql("PASSTHRU('a ?', 1);") == "a ? [1];");
  CHECK(sql("PASSTHRU 'a' TO Database.D;") == "D: a;");
  CHECK(sql("PASSTHRU 'a ?' TO Database.{'D'} VALUES ('x');") == "D: a ? ['x'];");
  CHECK(sql("SET Environment.r[] = PASSTHRU('a ? ?' TO Database.D VALUES "
            "(InputRoot.XMLNSC.in.*[]));") == "D: a ? ? ['7', 'O'Hara'];");
  CHECK(sql("PASSTHRU(NULL);") == "2488 2121");
}

TEST_CASE("database: rows become fields; what stays here is evaluated for each row") {
  DatabaseRunner d(
      "SET OutputRoot.XMLNSC.o.r[] = (SELECT T.A, T.b || '!' AS c FROM Database.t AS T "
      "WHERE LENGTH(T.b) > 1);");
  d.columns = {"a", "b"};
  d.cells = {Value::make_integer(1), Value::make_character("xy"),
             Value::make_integer(2), Value::make_character("x"),
             Value::null(),          Value::make_character("zz")};
  CHECK(d.run() == "SELECT t1.A, t1.b FROM t t1;");
  CHECK(d.r.output() == "Root{XMLNSC{o{r{A=1 c='xy!'} r{c='zz!'}}}}");

  DatabaseRunner join(
      "SET OutputRoot.XMLNSC.o.r[] = (SELECT A.*, B.* FROM Database.a AS A, Database.b AS B);");
  join.columns = {"x", "MS_NEXT", "y", "z"};
  join.cells = {Value::make_integer(1), Value::make_integer(0), Value::make_integer(2),
                Value::make_integer(3)};
  join.run();
  CHECK(join.r.output() == "Root{XMLNSC{o{r{x=1 y=2 z=3}}}}");
}

}  // namespace
}  // namespace millstream::esql
