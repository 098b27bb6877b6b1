// Small SQLite databases of the server's own (timers): prepared statements, errors as values.
//
// A file is opened for this process alone, in WAL mode with full synchronisation: what a committed
// statement has changed survives a crash of the process and of the machine. Its tables have a
// version (PRAGMA user_version), raised by migrate(); a newer one than the program knows is
// refused. Blocking; not for a reactor thread: call through net::run_blocking. Thread: one at a
// time a database, its statements included.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace millstream::io {

class SqliteDatabase;

// A prepared statement, for use again and again. Parameters and columns count from 0. Ownership: it
// dies before its database.
class SqliteStatement {
 public:
  SqliteStatement() = default;
  SqliteStatement(SqliteStatement&& other) noexcept { swap(other); }
  SqliteStatement& operator=(SqliteStatement&& other) noexcept {
    swap(other);
    return *this;
  }
  ~SqliteStatement();

  // Texts and blobs must live until the statement is reset.
  SqliteStatement& bind(int index, int64_t value);
  SqliteStatement& bind(int index, std::string_view text);
  SqliteStatement& bind_blob(int index, std::string_view bytes);
  // True: there is a row; false: it is done. After an error, or when it is done, it is reset.
  Result<bool> step();
  // For statements without rows: runs to the end.
  Status run();
  void reset();  // also forgets what was bound

  int64_t integer(int column) const;
  std::string_view text(int column) const;  // until the next step() or reset(); blobs too

 private:
  friend class SqliteDatabase;
  void swap(SqliteStatement& other) noexcept;
  sqlite3_stmt* statement_ = nullptr;
  SqliteDatabase* database_ = nullptr;
};

class SqliteDatabase {
 public:
  static constexpr int kBusyTimeoutMs = 2'000;

  // Creates the file, readable for its owner alone, when it is not there. ":memory:": no file.
  static Result<std::unique_ptr<SqliteDatabase>> open(const std::string& path);
  ~SqliteDatabase();
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  // steps[n] brings the tables from version n to n + 1; all that are missing run in one
  // transaction.
  Status migrate(std::span<const char* const> steps);
  Status execute(const char* sql);  // one or more statements without parameters and rows
  Result<SqliteStatement> prepare(std::string_view sql);
  int64_t changes() const;  // rows that the last statement changed
  const std::string& path() const { return path_; }

 private:
  friend class SqliteStatement;
  SqliteDatabase() = default;
  Status failure(int code) const;
  sqlite3* handle_ = nullptr;
  std::string path_;
};

// A transaction that is rolled back at the end of the scope unless commit() succeeded.
class SqliteTransaction {
 public:
  static Result<SqliteTransaction> begin(SqliteDatabase& database);
  SqliteTransaction(SqliteTransaction&& other) noexcept
      : database_(std::exchange(other.database_, nullptr)) {}
  ~SqliteTransaction();
  Status commit();

 private:
  explicit SqliteTransaction(SqliteDatabase& database) : database_(&database) {}
  SqliteDatabase* database_;
};

}  // namespace millstream::io
