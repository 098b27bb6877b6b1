#include "io/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "io/errors_gen.h"

namespace millstream::io {
namespace {

constexpr const char* kMemory = ":memory:";
// Exclusive before WAL: no shared-memory file is needed then, and a second server on the same
// folder is found at once.
constexpr const char* kSetUp =
    "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
    "PRAGMA foreign_keys=ON; BEGIN IMMEDIATE; COMMIT;";

// Messages are in the file, so that nobody else may read it; SQLite itself would create it for all.
Status create_private_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return base::make_error(errors::kSqliteOpen, {path, std::strerror(errno)});
  ::close(fd);
  return {};
}

}  // namespace

SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

void SqliteStatement::swap(SqliteStatement& other) noexcept {
  std::swap(statement_, other.statement_);
  std::swap(database_, other.database_);
}

SqliteStatement& SqliteStatement::bind(int index, int64_t value) {
  sqlite3_bind_int64(statement_, index + 1, value);
  return *this;
}

SqliteStatement& SqliteStatement::bind(int index, std::string_view text) {
  sqlite3_bind_text64(statement_, index + 1, text.data() ? text.data() : "", text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

SqliteStatement& SqliteStatement::bind_blob(int index, std::string_view bytes) {
  sqlite3_bind_blob64(statement_, index + 1, bytes.data() ? bytes.data() : "", bytes.size(),
                      SQLITE_STATIC);
  return *this;
}

Result<bool> SqliteStatement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  Status status = code == SQLITE_DONE ? Status() : database_->failure(code);
  reset();
  if (!status.ok()) return status;
  return false;
}

Status SqliteStatement::run() {
  while (MS_TRY(step())) {
  }
  return {};
}

void SqliteStatement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

int64_t SqliteStatement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string_view SqliteStatement::text(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return {static_cast<const char*>(data), data ? static_cast<size_t>(size) : 0};
}

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::open(const std::string& path) {
  if (path != kMemory) MS_TRY(create_private_file(path));
  std::unique_ptr<SqliteDatabase> database(new SqliteDatabase);
  database->path_ = path;
  const int code = sqlite3_open_v2(path.c_str(), &database->handle_,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) {
    return base::make_error(errors::kSqliteOpen, {path, sqlite3_errstr(code)});
  }
  sqlite3_busy_timeout(database->handle_, kBusyTimeoutMs);
  MS_TRY(database->execute(kSetUp));
  return database;
}

SqliteDatabase::~SqliteDatabase() { sqlite3_close_v2(handle_); }

Status SqliteDatabase::failure(int code) const {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return base::make_error(errors::kSqliteFull, {path_});
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return base::make_error(errors::kSqliteBusy, {path_});
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return base::make_error(errors::kSqliteDamaged, {path_, sqlite3_errmsg(handle_)});
    default:
      // ENOSPC and the like come as an I/O error with the reason beside it.
      const int reason = sqlite3_system_errno(handle_);
      if ((code & 0xff) == SQLITE_IOERR && (reason == ENOSPC || reason == EDQUOT)) {
        return base::make_error(errors::kSqliteFull, {path_});
      }
      return base::make_error(errors::kSqliteFailed, {path_, sqlite3_errmsg(handle_)});
  }
}

Status SqliteDatabase::execute(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : failure(code);
}

Result<SqliteStatement> SqliteDatabase::prepare(std::string_view sql) {
  SqliteStatement statement;
  statement.database_ = this;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement.statement_, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return statement;
}

int64_t SqliteDatabase::changes() const { return sqlite3_changes64(handle_); }

Status SqliteDatabase::migrate(std::span<const char* const> steps) {
  int64_t version = 0;
  {
    SqliteStatement query = MS_TRY(prepare("PRAGMA user_version"));
    if (MS_TRY(query.step())) version = query.integer(0);
  }
  const auto known = static_cast<int64_t>(steps.size());
  if (version > known) return base::make_error(errors::kSqliteNewer, {path_, version, known});
  if (version == known) return {};
  SqliteTransaction transaction = MS_TRY(SqliteTransaction::begin(*this));
  for (int64_t i = version; i < known; ++i) MS_TRY(execute(steps[static_cast<size_t>(i)]));
  MS_TRY(execute(("PRAGMA user_version=" + std::to_string(known)).c_str()));
  return transaction.commit();
}

Result<SqliteTransaction> SqliteTransaction::begin(SqliteDatabase& database) {
  MS_TRY(database.execute("BEGIN IMMEDIATE"));
  return SqliteTransaction(database);
}

SqliteTransaction::~SqliteTransaction() {
  if (!database_) return;
  // SQLite has rolled back by itself after some errors; then there is nothing to do.
  Status ignored = database_->execute("ROLLBACK");
}

Status SqliteTransaction::commit() {
  MS_TRY(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace millstream::io
