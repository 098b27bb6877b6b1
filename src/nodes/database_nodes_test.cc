// Database statements of ESQL in real nodes, against SQLite through ODBC.
#include <doctest/doctest.h>

#include <cstdlib>

#include "nodes/node_test_support.h"
#include "sql/data_source.h"

namespace millstream::nodes {
namespace {

using test::NodeFixture;
using test::TestProperties;

// A folder of its own for one database file.
struct TemporaryDatabase {
  TemporaryDatabase() {
    char path[] = "/tmp/ms_db_XXXXXX";
    folder = ::mkdtemp(path);
    sql::DataSourceSettings s;
    s.name = "SHOP";
    s.connection = "Driver=SQLite3;Database=" + folder + "/shop.db";
    sources.configure({s}, {});
  }
  ~TemporaryDatabase() {
    sources.close_idle();
    if (std::system(("rm -rf " + folder).c_str()) != 0) MESSAGE("left behind: " << folder);
  }
  std::string folder;
  sql::DataSources sources;
};

struct DatabaseFixture : NodeFixture {
  explicit DatabaseFixture(TemporaryDatabase& database, const std::string& body,
                           const TestProperties& more = {}, const std::string& before = "",
                           const std::string& type = "ComIbmCompute")
      : NodeFixture(before + "CREATE " + (type == "ComIbmDatabase" ? "DATABASE" : "COMPUTE") +
                    " MODULE M\nCREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n" + body +
                    "\nRETURN TRUE; END;\nEND MODULE;\n") {
    services.set(&database.sources);
    TestProperties properties = {
        {type == "ComIbmDatabase" ? "statement" : "computeExpression", "esql://routine/#M.Main"},
        {"dataSource", "SHOP"}};
    for (const auto& [name, value] : more) properties[name] = value;
    node(type, "C", properties);
    wires({"In.out -> C", "C.out -> out", "C.failure -> failure"});
    REQUIRE(build());
  }
  std::string go(const std::string& body = "<a>1</a>") { return run("XMLNSC", body); }
};

std::string go(TemporaryDatabase& database, const std::string& body,
               const TestProperties& more = {}) {
  DatabaseFixture f(database, body, more);
  return f.go();
}

const char* const kMakeTable =
    "PASSTHRU('CREATE TABLE item (id INTEGER PRIMARY KEY, name VARCHAR(40), price DECIMAL(10,2), "
    "made DATE, note TEXT)');"
    "INSERT INTO Database.item (id, name, price, made) "
    "VALUES (1, 'Tea', DECIMAL '3.50', DATE '2026-01-31');"
    "INSERT INTO Database.item (id, name, price, note) VALUES (2, 'Càke', DECIMAL '12.25', "
    "'it''s');"
    "SET OutputRoot.XMLNSC.o = 'made';";

TEST_CASE("database nodes: SELECT, INSERT, UPDATE, DELETE") {
  TemporaryDatabase d;
  CHECK(go(d, kMakeTable) == "out<<o>made</o>>");
  CHECK(go(d,
           "SET OutputRoot.XMLNSC.r.i[] = SELECT T.id, T.name AS title, T.price * 2 AS twice, "
           "T.made FROM Database.item AS T WHERE T.price > 1;") ==
        "out<<r><i><id>1</id><title>Tea</title><twice>7.0</twice><made>2026-01-31</made></i>"
        "<i><id>2</id><title>Càke</title><twice>24.50</twice></i></r>>");
  CHECK(go(d,
           "SET OutputRoot.XMLNSC.r = THE (SELECT ITEM T.name FROM Database.item AS T WHERE T.id = "
           "CAST(InputRoot.XMLNSC.a AS INTEGER));") == "out<<r>Tea</r>>");
  CHECK(
      go(d, "SET OutputRoot.XMLNSC.r[] = SELECT * FROM Database.main.item AS T WHERE T.id = 2;") ==
      "out<<r><id>2</id><name>Càke</name><price>12.25</price><note>it's</note></r>>");
  CHECK(go(d,
           "UPDATE Database.item AS T SET price = T.price + 1, note = UPPER(T.name) WHERE T.id = "
           "1;"
           "DELETE FROM Database.item AS T WHERE T.name LIKE 'C%';"
           "SET OutputRoot.XMLNSC.r[] = SELECT T.price, T.note FROM Database.SHOP.main.item AS "
           "T;") == "out<<r><price>4.5</price><note>TEA</note></r>>");
  CHECK(go(d,
           "SET OutputRoot.XMLNSC.r.n = SELECT COUNT(*) FROM Database.item AS T WHERE T.id > 0;") ==
        "out<<r><n>1</n></r>>");
}

}  // namespace
}  // namespace millstream::nodes
