#include "io/sqlite.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace millstream::io {
namespace {

struct SqliteFolder {
  std::string path;
  SqliteFolder() {
    char name[] = "/tmp/ms_sqlite_XXXXXX";
    path = ::mkdtemp(name);
  }
  ~SqliteFolder() { std::filesystem::remove_all(path); }
  std::string file(const char* name = "t.db") const { return path + "/" + name; }
};

constexpr const char* kSteps[] = {"CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, body BLOB);",
                                  "ALTER TABLE t ADD COLUMN extra INTEGER DEFAULT 7;"};

TEST_CASE("sqlite: what was committed is there after opening anew, in a file for its owner alone") {
  SqliteFolder folder;
  const std::string blob("\0\1\xff", 3);
  {
    auto database = SqliteDatabase::open(folder.file());
    REQUIRE(database.ok());
    SqliteDatabase& db = *database.value();
    REQUIRE(db.migrate(std::span(kSteps, 1)).ok());
    SqliteStatement insert = db.prepare("INSERT INTO t VALUES(?,?,?)").take_value();
    for (int64_t i = 0; i < 3; ++i) {
      CHECK(insert.bind(0, i).bind(1, "n'ame").bind_blob(2, blob).run().ok());
      CHECK(db.changes() == 1);
    }
    SqliteTransaction dropped = SqliteTransaction::begin(db).take_value();
    CHECK(db.execute("DELETE FROM t").ok());
  }
  struct stat info{};
  REQUIRE(::stat(folder.file().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  auto database = SqliteDatabase::open(folder.file());
  REQUIRE(database.ok());
  SqliteDatabase& db = *database.value();
  REQUIRE(db.migrate(kSteps).ok());
  SqliteStatement query =
      db.prepare("SELECT id, name, body, extra FROM t WHERE id > ? ORDER BY id").take_value();
  query.bind(0, int64_t{0});
  int rows = 0;
  for (; query.step().take_value(); ++rows) {
    CHECK(query.text(1) == "n'ame");
    CHECK(query.text(2) == blob);
    CHECK(query.integer(3) == 7);
  }
  CHECK(rows == 2);
}

TEST_CASE("sqlite: a statement that fails says why and can be used again") {
  auto database = SqliteDatabase::open(":memory:");
  REQUIRE(database.ok());
  SqliteDatabase& db = *database.value();
  REQUIRE(db.migrate(kSteps).ok());
  SqliteStatement insert = db.prepare("INSERT INTO t(id) VALUES(?)").take_value();
  CHECK(insert.bind(0, int64_t{1}).run().ok());
  Status twice = insert.bind(0, int64_t{1}).run();
  REQUIRE_FALSE(twice.ok());
  CHECK(twice.error().number == 1063);
  CHECK(twice.error().text.find("UNIQUE constraint failed: t.id") != std::string::npos);
  CHECK(insert.bind(0, int64_t{2}).run().ok());
  CHECK_FALSE(db.prepare("SELEKT 1").ok());
}

TEST_CASE("sqlite: a full disk changes nothing and is named") {
  SqliteFolder folder;
  auto database = SqliteDatabase::open(folder.file());
  REQUIRE(database.ok());
  SqliteDatabase& db = *database.value();
  REQUIRE(db.migrate(kSteps).ok());
  REQUIRE(db.execute("PRAGMA max_page_count=20").ok());
  SqliteStatement insert = db.prepare("INSERT INTO t(body) VALUES(?)").take_value();
  const std::string large(1 << 20, 'x');
  Status full = insert.bind_blob(0, large).run();
  REQUIRE_FALSE(full.ok());
  CHECK(full.error().number == 1064);
  CHECK(insert.bind_blob(0, "small").run().ok());
  SqliteStatement count = db.prepare("SELECT COUNT(*) FROM t").take_value();
  CHECK(count.step().take_value());
  CHECK(count.integer(0) == 1);
}

TEST_CASE("sqlite: files of others, damaged and newer ones are refused") {
  SqliteFolder folder;
  auto first = SqliteDatabase::open(folder.file());
  REQUIRE(first.ok());
  auto second = SqliteDatabase::open(folder.file());
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().number == 1065);

  std::ofstream(folder.file("bad.db")) << std::string(4096, 'x');
  auto damaged = SqliteDatabase::open(folder.file("bad.db"));
  REQUIRE_FALSE(damaged.ok());
  CHECK(damaged.error().number == 1066);

  auto missing = SqliteDatabase::open(folder.file("none/t.db"));
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().number == 1062);

  REQUIRE(first.value()->migrate(kSteps).ok());
  Status newer = first.value()->migrate(std::span(kSteps, 1));
  REQUIRE_FALSE(newer.ok());
  CHECK(newer.error().number == 1067);
}

}  // namespace
}  // namespace millstream::io
