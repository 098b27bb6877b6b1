// SELECT, THE, rows, lists, quantifiers.
#include <doctest/doctest.h>

#include "esql/exec_test_util.h"

namespace millstream::esql::testing {

namespace {

// Two orders with items.
void fill_orders(Runner& r) {
  tree::Element* doc = r.input_path({"XMLNSC", "doc"});
  int price = 10;
  for (const char* id : {"A", "B"}) {
    tree::Element* order = r.add(doc, "order", "", tree::kName);
    r.add(order, "id", id, tree::xmlnsc::kAttribute);
    for (int i = 0; i < 2; ++i, price += 5) {
      tree::Element* item = r.add(order, "item", "", tree::kName);
      r.add(item, "name", std::string(id) + std::to_string(i));
      r.add(item, "price", std::to_string(price));
    }
  }
}

std::string select(std::string_view body) {
  Runner r(compute(std::string(body) + " RETURN TRUE;"));
  if (!r.diagnostics.empty()) return r.diagnostics;
  fill_orders(r);
  std::string result = r.run();
  return result == "TRUE" ? r.output() : result;
}

}  // namespace

TEST_CASE("select: rows into a list") {
  CHECK(select("SET OutputRoot.XMLNSC.r.o[] = (SELECT O.id, O.item[1].name AS first "
               "FROM InputRoot.XMLNSC.doc.order[] AS O);") ==
        "Root{XMLNSC{r{o{@id='A' first='A0'} o{@id='B' first='B0'}}}}");
  CHECK(select("SET OutputRoot.XMLNSC.r.o[] = (SELECT ITEM O.id FROM InputRoot.XMLNSC.doc.order[] "
               "AS O WHERE O.id = 'B');") == "Root{XMLNSC{r{@o='B'}}}");
  CHECK(select("SET OutputRoot.XMLNSC.r.o[] = (SELECT O.nothing FROM InputRoot.XMLNSC.doc.order[] "
               "AS O);") == "Root{XMLNSC{r{o o}}}");
}

TEST_CASE("select: the target list is replaced") {
  CHECK(select("SET OutputRoot.XMLNSC.r.o[1] = 1; SET OutputRoot.XMLNSC.r.o[2] = 2; "
               "SET OutputRoot.XMLNSC.r.o[3] = 3; "
               "SET OutputRoot.XMLNSC.r.o[] = LIST{7, 8};") == "Root{XMLNSC{r{o=7 o=8}}}");
  CHECK(select("SET OutputRoot.XMLNSC.r.o[1] = 1; SET OutputRoot.XMLNSC.r.o[] = "
               "InputRoot.XMLNSC.none[];") == "Root{XMLNSC{r}}");
  CHECK(select("SET OutputRoot.XMLNSC.r.o[] = LIST{ROW(1 AS a), ROW(2 AS a)}; "
               "SET OutputRoot.XMLNSC.r.o[] = OutputRoot.XMLNSC.r.o[];") ==
        "Root{XMLNSC{r{o{a=1} o{a=2}}}}");
}

TEST_CASE("select: joins, WHERE and nesting") {
  CHECK(select("SET OutputRoot.XMLNSC.r.p[] = (SELECT O.id AS order, I.name AS item FROM "
               "InputRoot.XMLNSC.doc.order[] AS O, O.item[] AS I WHERE "
               "CAST(I.price AS INTEGER) > 10 AND CAST(I.price AS INTEGER) < 25);") ==
        "Root{XMLNSC{r{p{@order='A' item='A1'} p{@order='B' item='B0'}}}}");
  CHECK(select("SET OutputRoot.XMLNSC.r.o[] = (SELECT O.id AS k, (SELECT ITEM I.name FROM O.item[] "
               "AS I) AS names.n[] FROM InputRoot.XMLNSC.doc.order[] AS O);") ==
        "Root{XMLNSC{r{o{@k='A' names{n='A0' n='A1'}} o{@k='B' names{n='B0' n='B1'}}}}}");
  CHECK(
      select("SET OutputRoot.XMLNSC.r.o[] = (SELECT I.* FROM InputRoot.XMLNSC.doc.order[1].item[] "
             "AS I);") == "Root{XMLNSC{r{o{name='A0' price='10'} o{name='A1' price='15'}}}}");
  CHECK(select("SET OutputRoot.XMLNSC.r.o = (SELECT * FROM InputRoot.XMLNSC.doc.order[1].item[2] "
               "AS I);") == "Root{XMLNSC{r{o{name='A1' price='15'}}}}");
}

TEST_CASE("select: column functions") {
  const std::string from = " FROM InputRoot.XMLNSC.doc.order[] AS O, O.item[] AS I)";
  CHECK(select("SET OutputRoot.XMLNSC.n = (SELECT COUNT(*)" + from + ";") == "Root{XMLNSC{n=4}}");
  CHECK(select("SET OutputRoot.XMLNSC.n = (SELECT COUNT(I.none)" + from + ";") ==
        "Root{XMLNSC{n=0}}");
  CHECK(select("SET OutputRoot.XMLNSC.n = (SELECT SUM(CAST(I.price AS DECIMAL))" + from + ";") ==
        "Root{XMLNSC{n=70}}");
  CHECK(select("SET OutputRoot.XMLNSC.n = (SELECT MAX(CAST(I.price AS INTEGER))" + from + ";") ==
        "Root{XMLNSC{n=25}}");
  CHECK(select("SET OutputRoot.XMLNSC.n = (SELECT MIN(I.name)" + from + ";") ==
        "Root{XMLNSC{n='A0'}}");
  CHECK(select("SET OutputRoot.XMLNSC.n VALUE = (SELECT SUM(CAST(I.price AS INTEGER)) FROM "
               "InputRoot.XMLNSC.none[] AS I);") == "Root{XMLNSC{n}}");
  CHECK(select("SET OutputRoot.XMLNSC.n = (SELECT SUM(I.price)" + from + ";") == "2488 1673");
}

TEST_CASE("select: THE and single rows") {
  CHECK(select("SET OutputRoot.XMLNSC.r = THE(SELECT ITEM O.item[2].name FROM "
               "InputRoot.XMLNSC.doc.order[] AS O WHERE O.id = 'B');") == "Root{XMLNSC{r='B1'}}");
  CHECK(select("DECLARE c CHARACTER THE(SELECT ITEM O.id FROM InputRoot.XMLNSC.doc.order[] AS O "
               "WHERE O.id = 'Z'); SET OutputRoot.XMLNSC.n = c IS NULL;") ==
        "Root{XMLNSC{n=TRUE}}");
  CHECK(select("SET OutputRoot.XMLNSC.r = THE(SELECT O.id AS x FROM InputRoot.XMLNSC.doc.order[] "
               "AS O);") == "Root{XMLNSC{r{@x='A'}}}");
  CHECK(select("SET OutputRoot.XMLNSC.r = (SELECT O.id AS x.y FROM InputRoot.XMLNSC.doc.order AS "
               "O);") == "Root{XMLNSC{r{x{@y='A'}}}}");
  CHECK(
      select("SET OutputRoot.XMLNSC.e = EXISTS(SELECT O.id FROM InputRoot.XMLNSC.doc.order[] AS O "
             "WHERE O.id = 'B');") == "Root{XMLNSC{e=TRUE}}");
  CHECK(select("SET OutputRoot.XMLNSC.c = CARDINALITY(SELECT O.id FROM "
               "InputRoot.XMLNSC.doc.order[] AS O);") == "Root{XMLNSC{c=2}}");
}

TEST_CASE("select: typed AS paths keep their type in the target's domain") {
  CHECK(select("SET OutputRoot.XMLNSC.r.o[] = (SELECT O.item[1].name AS (XMLNSC.Attribute)n FROM "
               "InputRoot.XMLNSC.doc.order[] AS O);") == "Root{XMLNSC{r{o{@n='A0'} o{@n='B0'}}}}");
  // Into another domain the attribute type of the source does not survive.
  CHECK(select("SET OutputRoot.JSON.Data.o[] = (SELECT O.id FROM InputRoot.XMLNSC.doc.order[] AS "
               "O);") == "Root{JSON{Data{o{id='A'} o{id='B'}}}}");
}

TEST_CASE("select: FOR over SELECT and LIST, IN, quantifiers") {
  CHECK(
      select("DECLARE s CHARACTER ''; FOR x AS (SELECT O.id AS k FROM InputRoot.XMLNSC.doc.order[] "
             "AS O) DO SET s = s || x.k; END FOR; SET OutputRoot.XMLNSC.s = s;") ==
      "Root{XMLNSC{s='AB'}}");
  CHECK(select("SET OutputRoot.XMLNSC.a = 'B' IN (SELECT ITEM O.id FROM "
               "InputRoot.XMLNSC.doc.order[] AS O); "
               "SET OutputRoot.XMLNSC.b = 'Z' IN ('X', 'Y');") == "Root{XMLNSC{a=TRUE b=FALSE}}");
  CHECK(select("SET OutputRoot.XMLNSC.a = FOR ALL InputRoot.XMLNSC.doc.order[] AS o "
               "(CARDINALITY(o.item[]) = 2); SET OutputRoot.XMLNSC.b = "
               "FOR ANY InputRoot.XMLNSC.doc.order[] AS o (o.id = 'Q'); SET OutputRoot.XMLNSC.c = "
               "FOR ALL InputRoot.XMLNSC.none[] AS o (FALSE);") ==
        "Root{XMLNSC{a=TRUE b=FALSE c=TRUE}}");
}

TEST_CASE("select: comparison of rows and lists") {
  CHECK(eval_text("ROW(1 AS a, 2 AS b) = ROW(1 AS a, 2 AS b)") == "TRUE");
  CHECK(eval_text("ROW(1 AS a, 2 AS b) = ROW(2 AS b, 1 AS a)") == "FALSE");
  CHECK(eval_text("ROW(1 AS a) <> ROW(1 AS c)") == "TRUE");
  CHECK(eval_text("LIST{1, 2} = LIST{1, 2}") == "TRUE");
  CHECK(eval_text("LIST{1, 2} = LIST{1}") == "FALSE");
  CHECK(eval_text("LIST{1, 2} <> LIST{2, 1}") == "TRUE");
  CHECK(eval_text("LIST{1} < LIST{2}").find("1672") != std::string::npos);
}

TEST_CASE("select: databases are refused") {
  CHECK(select("SET OutputRoot.XMLNSC.r[] = (SELECT T.x FROM Database.T AS T);").find("1658") !=
        std::string::npos);
  CHECK(select("INSERT INTO Database.T (a) VALUES (1);") == "2488 1658");
  CHECK(select("SET OutputRoot.XMLNSC.r[] = PASSTHRU('SELECT 1');") == "2488 1658");
}

}  // namespace millstream::esql::testing
