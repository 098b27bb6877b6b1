// Connections, pool and sessions against SQLite.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "net/reactor_pool.h"
#include "sql/data_source.h"
#include "text/sql_identifier.h"
#include "value/datetime.h"
#include "value/decimal.h"

namespace millstream::sql {
namespace {

using value::Kind;
using value::Value;

struct Files {
  Files() {
    char path[] = "/tmp/ms_sql_XXXXXX";
    folder = ::mkdtemp(path);
  }
  ~Files() { std::filesystem::remove_all(folder); }
  DataSourceSettings settings(const std::string& file = "a.db") const {
    DataSourceSettings s;
    s.name = "A";
    s.connection = "Driver=SQLite3;Database=" + folder + "/" + file;
    return s;
  }
  std::string folder;
};

struct Open {
  explicit Open(const DataSourceSettings& settings) {
    Result<std::unique_ptr<Connection>> opened = Connection::open(settings);
    REQUIRE(opened.ok());
    connection = std::move(opened).value();
  }
  // "1|abc|NULL;2|...": the rows, or "! state number" of an error.
  std::string run(std::string_view sql, std::vector<Value> values = {}) {
    Statement s;
    s.sql = sql;
    s.parameters = values;
    Outcome out;
    Status status = connection->execute(s, arena, out);
    if (!status.ok()) {
      const base::Error& e = status.error().innermost();
      return "! " + e.sql_state + " " + std::to_string(e.number);
    }
    code = out.code;
    std::string text;
    for (size_t r = 0; r < out.rows.row_count; ++r) {
      if (r) text += ';';
      for (size_t c = 0; c < out.rows.columns.size(); ++c) {
        if (c) text += '|';
        text += shown(out.rows.cell(r, c));
      }
    }
    return text;
  }
  static std::string shown(const Value& v) {
    switch (v.kind) {
      case Kind::kNull:
        return "NULL";
      case Kind::kInteger:
        return std::to_string(v.integer);
      case Kind::kBoolean:
        return v.boolean() ? "TRUE" : "FALSE";
      case Kind::kDecimal:
        return "D" + v.as_decimal().to_text();
      case Kind::kFloat:
        return "F" + std::to_string(v.real);
      case Kind::kCharacter:
        return "'" + std::string(v.text()) + "'";
      case Kind::kBlob:
        return "X" + std::to_string(v.text().size());
      default:
        return value::format_literal(v);
    }
  }
  std::unique_ptr<Connection> connection;
  base::Arena arena;
  int code = 0;
};

Value text(std::string_view s) { return Value::make_character(s); }

TEST_CASE("connection: types there and back") {
  Files files;
  Open c(files.settings());
  CHECK(
      c.run("CREATE TABLE t (i INTEGER, d DECIMAL(12,2), f DOUBLE, c VARCHAR(20), b BLOB, x DATE, "
            "y TIME, z TIMESTAMP, o BOOLEAN, w TEXT)") == "");
  value::Decimal d;
  REQUIRE(value::Decimal::parse("1234567890.12", d));
  const std::string blob("\x00\x01\xff", 3);
  Value date, time, stamp;
  REQUIRE(value::parse_datetime_text(Kind::kDate, "2026-02-28", date).ok());
  REQUIRE(value::parse_datetime_text(Kind::kTime, "23:59:58.5", time).ok());
  REQUIRE(value::parse_datetime_text(Kind::kTimestamp, "2026-02-28 01:02:03.000004", stamp).ok());
  const std::string_view words = "h\u00e9llo \u20ac\U0001d11e";
  CHECK(c.run("INSERT INTO t VALUES (?,?,?,?,?,?,?,?,?,?)",
              {Value::make_integer(INT64_MIN), Value::make_decimal(d, c.arena),
               Value::make_float(0.5), text(words), Value::make_blob(blob), date, time, stamp,
               Value::make_boolean(true), text("")}) == "");
  CHECK(c.run("INSERT INTO t (i) VALUES (?)", {Value::null()}) == "");
  CHECK(c.run("SELECT * FROM t") == "-9223372036854775808|D1234567890.12|F0.500000|'" +
                                        std::string(words) +
                                        "'|X3|DATE '2026-02-28'|TIME '23:59:58.500000'|TIMESTAMP "
                                        "'2026-02-28 01:02:03.000004'|TRUE|''"
                                        ";NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL");
  CHECK(c.run("SELECT COUNT(*), MAX(f), 'x' || c FROM t WHERE c = ?", {text(words)}) ==
        "1|F0.500000|'x" + std::string(words) + "'");
}

TEST_CASE("connection: values never become part of the statement") {
  Files files;
  Open c(files.settings());
  CHECK(c.run("CREATE TABLE t (c VARCHAR(200))") == "");
  for (std::string_view hostile :
       {"'; DROP TABLE t; --", "' OR '1'='1", "\\'; DELETE FROM t; --", "?", "a\nb\t\"c\"", "%_"}) {
    CHECK(c.run("INSERT INTO t VALUES (?)", {text(hostile)}) == "");
    CHECK(c.run("SELECT c FROM t WHERE c = ?", {text(hostile)}) ==
          "'" + std::string(hostile) + "'");
  }
  CHECK(c.run("SELECT COUNT(*) FROM t") == "6");
  std::string name;
  text::append_sql_identifier(name, "a\"; DROP TABLE t; --", false);
  CHECK(name == "\"a\"\"; DROP TABLE t; --\"");
}

TEST_CASE("connection: errors carry state, native code and text") {
  Files files;
  Open c(files.settings());
  CHECK(c.run("CREATE TABLE t (i INTEGER PRIMARY KEY)") == "");
  CHECK(c.run("INSERT INTO t VALUES (1)") == "");
  CHECK(c.run("INSERT INTO t VALUES (1)") == "! D23000 2322");
  CHECK(c.run("SELECT nope FROM t") == "! DHY000 2322");
  CHECK(c.run("SELECT i FROM t WHERE i = ?") == "!  2106");
  CHECK(c.run("SELECT ?", {Value::make_bit("\x80", 1)}) == "!  2101");
  CHECK(c.run("UPDATE t SET i = 3 WHERE i = 2") == "");
  CHECK(c.code == 100);
  CHECK_FALSE(c.connection->is_dead());
}

TEST_CASE("connection: the type of an expression is that of its value, each time") {
  Files files;
  Open c(files.settings());
  CHECK(c.run("CREATE TABLE t (i INTEGER)") == "");
  CHECK(c.run("SELECT MAX(t1.i) FROM t t1") == "NULL");
  CHECK(c.run("INSERT INTO t VALUES (1)") == "");
  CHECK(c.run("SELECT MAX(t1.i) FROM t t1") == "1");
  CHECK(c.run("SELECT t1.i, t1.i || 'x' FROM t t1") == "1|'1x'");
}

TEST_CASE("connection: statements and names beyond ASCII") {
  Files files;
  Open c(files.settings());
  const std::string word = "na\u00efve \u20ac\U0001d11e";
  CHECK(c.run("CREATE TABLE t (\"" + word + "\" TEXT)") == "");
  CHECK(c.run("INSERT INTO t VALUES ('" + word + "')") == "");
  Statement s;
  s.sql = "SELECT * FROM t";
  Outcome out;
  REQUIRE(c.connection->execute(s, c.arena, out).ok());
  CHECK(out.rows.columns[0] == word);
  CHECK(out.rows.cell(0, 0).text() == word);
}

TEST_CASE("connection: statements are prepared once and their number is bounded") {
  Files files;
  Open c(files.settings());
  CHECK(c.run("CREATE TABLE t (i INTEGER)") == "");
  const size_t before = c.connection->statements_cached();
  for (int i = 0; i < 10; ++i) {
    CHECK(c.run("INSERT INTO t VALUES (?)", {Value::make_integer(i)}) == "");
  }
  CHECK(c.connection->statements_cached() == before + 1);
  for (size_t i = 0; i < Connection::kStatementsMax + 20; ++i) {
    const std::string sql =
        "SELECT i FROM t WHERE i = " + std::to_string(i % 10) + " + " + std::to_string(i) + " * 0";
    CHECK(c.run(sql) == std::to_string(i % 10));
  }
  CHECK(c.connection->statements_cached() == Connection::kStatementsMax);
}

TEST_CASE("connection: limits of rows, columns and results") {
  Files files;
  DataSourceSettings s = files.settings();
  s.rows_max = 3;
  s.column_bytes_max = 20000;
  Open c(s);
  CHECK(c.run("CREATE TABLE t (b BLOB, c TEXT)") == "");
  const std::string big(60000, 'x');
  CHECK(c.run("INSERT INTO t VALUES (?, ?)", {Value::make_blob({big.data(), 15000}), text("a")}) ==
        "");
  CHECK(c.run("SELECT b FROM t") == "X15000");
  CHECK(c.run("INSERT INTO t VALUES (?, ?)", {Value::make_blob(big), text("b")}) == "");
  CHECK(c.run("SELECT b FROM t WHERE c = 'b'") == "!  2103");
  for (int i = 0; i < 4; ++i) CHECK(c.run("INSERT INTO t (c) VALUES ('z')") == "");
  CHECK(c.run("SELECT c FROM t") == "!  2102");
}

TEST_CASE("connection: transactions") {
  Files files;
  Open c(files.settings());
  CHECK(c.run("CREATE TABLE t (i INTEGER)") == "");
  CHECK(c.connection->commit().ok());
  CHECK(c.run("INSERT INTO t VALUES (1)") == "");
  CHECK(c.connection->is_in_transaction());
  c.connection->rollback();
  CHECK(c.run("SELECT COUNT(*) FROM t") == "0");
  CHECK(c.run("INSERT INTO t VALUES (1)") == "");
  CHECK(c.connection->commit().ok());
  CHECK_FALSE(c.connection->is_in_transaction());
  Open other(files.settings());
  CHECK(other.run("SELECT COUNT(*) FROM t") == "1");
}

TEST_CASE("session: pool of connections, waiting, giving back") {
  Files files;
  auto pool = net::ReactorPool::create(1);
  REQUIRE(pool.ok());
  DataSources sources;
  DataSourceSettings settings = files.settings();
  settings.wait_ns = 5'000'000'000;
  sources.configure({settings}, {});
  std::shared_ptr<DataSource> source = sources.find("{Policies}:A");
  CHECK(source == sources.find("A"));
  base::Arena arena;
  auto execute = [&](Session& session, std::string_view sql) {
    Statement s;
    s.sql = sql;
    Outcome out;
    return session.execute(s, arena, out).ok();
  };
  pool.value()->run_on(0, [&] {
    Session first(source);
    CHECK(execute(first, "CREATE TABLE t (i INTEGER)"));
    CHECK(source->used_count() == 1);
    CHECK(first.commit().ok());
    CHECK(source->used_count() == 0);
    CHECK(source->idle_count() == 1);
    CHECK(execute(first, "INSERT INTO t VALUES (1)"));
    first.rollback();
    Session second(source);
    CHECK(execute(second, "INSERT INTO t VALUES (2)"));
    CHECK(second.commit().ok());
    CHECK(source->idle_count() == 1);
  });
  std::vector<std::unique_ptr<Connection>> stale;
  source->take_stale(0, stale);
  CHECK(stale.empty());
  source->take_stale(INT64_MAX, stale);
  CHECK(stale.size() == 1);
}

TEST_CASE("session: many messages share one SQLite connection without an error") {
  Files files;
  auto pool = net::ReactorPool::create(2);
  REQUIRE(pool.ok());
  DataSources sources;
  sources.configure({files.settings()}, {});
  std::shared_ptr<DataSource> source = sources.find("A");
  base::Arena arena;
  Outcome out;
  Statement make;
  make.sql = "CREATE TABLE t (i INTEGER)";
  {
    Session session(source);
    REQUIRE(session.execute(make, arena, out).ok());
    REQUIRE(session.commit().ok());
  }
  std::atomic<int> failed{0};
  constexpr int kMessages = 40;
  auto message = [&](int i) {
    base::Arena own;
    Session session(source);
    const Value values[] = {Value::make_integer(i)};
    Statement insert;
    insert.sql = "INSERT INTO t VALUES (?)";
    insert.parameters = values;
    Outcome ignored;
    if (!session.execute(insert, own, ignored).ok() || !session.commit().ok()) ++failed;
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kMessages / 8; ++i) pool.value()->run_on(t % 2, [&] { message(i); });
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(failed == 0);
  Session session(source);
  Statement count;
  count.sql = "SELECT COUNT(*) FROM t";
  REQUIRE(session.execute(count, arena, out).ok());
  CHECK(out.rows.cell(0, 0).integer == kMessages);
}

TEST_CASE("settings: connection strings, names, policies") {
  DataSourceSettings s;
  s.name = "MY DSN";
  s.user = "me";
  s.password = "a;b}c";
  CHECK(connection_string(s) == "DSN={MY DSN};UID=me;PWD={a;b}}c}");
  s.connection = "Driver={X;UID=no};uid=other;";
  CHECK(connection_string(s) == "Driver={X;UID=no};uid=other;PWD={a;b}}c}");
  CHECK(bare_name("{Project}:Name") == "Name");
  CHECK(bare_name("Name") == "Name");

  PolicyProperties p;
  p.values = {{"databaseType", "PostgreSQL"}, {"serverName", "db.example"},
              {"portNumber", "5432"},         {"databaseName", "shop"},
              {"securityIdentity", "id"},     {"maxConnectionPoolSize", "7"}};
  std::string error;
  DataSourceSettings made = settings_of_policy("P", p, {}, {{"jdbc::id", {"u", "w"}}}, error);
  CHECK(error == "");
  CHECK(connection_string(made) ==
        "Driver={PostgreSQL Unicode};Server=db.example;Port=5432;Database=shop;UID=u;PWD=w");
  CHECK(made.connections_max == 7);
  p.values["databaseType"] = "Oracle";
  made = settings_of_policy("P", p, {{"oracle", "Oracle 21"}}, {}, error);
  CHECK(made.connection == "Driver={Oracle 21};DBQ=db.example:5432/shop");
  p.values["databaseType"] = "Cardfile";
  settings_of_policy("P", p, {}, {}, error);
  CHECK(error != "");
}

}  // namespace
}  // namespace millstream::sql
