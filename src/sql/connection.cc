// ODBC connections: connecting, preparing, executing, transactions, errors.
#include "sql/connection.h"

#include <sql.h>
#include <sqlext.h>

#include <algorithm>

#include "sql/errors_gen.h"
#include "sql/prepared.h"
#include "text/utf8.h"

namespace millstream::sql {

namespace {

// One environment a process, never freed: drivers keep state in it until the very end.
SQLHENV environment() {
  static SQLHENV handle = []() -> SQLHENV {
    SQLHENV h = SQL_NULL_HENV;
    if (SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &h) != SQL_SUCCESS) return SQL_NULL_HENV;
    SQLSetEnvAttr(h, SQL_ATTR_ODBC_VERSION, reinterpret_cast<SQLPOINTER>(SQL_OV_ODBC3), 0);
    return h;
  }();
  return handle;
}

SQLCHAR* sql_chars(const std::string& s) {
  return reinterpret_cast<SQLCHAR*>(const_cast<char*>(s.c_str()));
}

// The driver manager converts narrow text by the locale of the process, so all but ASCII goes wide;
// not to SQLite's driver, which has no wide functions and takes UTF-8.
struct WideText {
  explicit WideText(std::string_view utf8) {
    append_wide(utf8, units);
    units.push_back(0);
  }
  SQLWCHAR* data() { return reinterpret_cast<SQLWCHAR*>(units.data()); }
  SQLINTEGER size() const { return static_cast<SQLINTEGER>(units.size() - 1); }
  std::vector<char16_t> units;
};

SQLRETURN prepare_text(SQLHSTMT handle, std::string_view sql, Dialect dialect) {
  if (dialect != Dialect::kSqlite && !text::is_ascii(sql)) {
    WideText wide(sql);
    return SQLPrepareW(handle, wide.data(), wide.size());
  }
  const std::string narrow(sql);
  return SQLPrepare(handle, sql_chars(narrow), static_cast<SQLINTEGER>(narrow.size()));
}

SQLRETURN execute_text(SQLHSTMT handle, std::string_view sql, Dialect dialect) {
  if (dialect != Dialect::kSqlite && !text::is_ascii(sql)) {
    WideText wide(sql);
    return SQLExecDirectW(handle, wide.data(), wide.size());
  }
  const std::string narrow(sql);
  return SQLExecDirect(handle, sql_chars(narrow), static_cast<SQLINTEGER>(narrow.size()));
}

std::string narrow_text(const SQLWCHAR* text, size_t units) {
  std::string out;
  append_utf8({reinterpret_cast<const char16_t*>(text), units}, out);
  return out;
}

struct Diagnosis {
  std::string state = "HY000", text;
  int64_t native = 0;
};

// The first record says what happened; the texts of the others follow it.
Diagnosis diagnose(SQLSMALLINT type, SQLHANDLE handle) {
  constexpr int kRecordsMax = 8;
  constexpr size_t kTextMax = 4096;
  Diagnosis out;
  for (SQLSMALLINT i = 1; i <= kRecordsMax && out.text.size() < kTextMax; ++i) {
    SQLWCHAR state[6] = {};
    SQLWCHAR text[1024] = {};
    constexpr SQLSMALLINT kUnits = sizeof text / sizeof text[0];
    SQLINTEGER native = 0;
    SQLSMALLINT length = 0;
    const SQLRETURN rc = SQLGetDiagRecW(type, handle, i, state, &native, text, kUnits, &length);
    if (!SQL_SUCCEEDED(rc)) break;
    const auto units = static_cast<size_t>(std::clamp<SQLSMALLINT>(length, 0, kUnits - 1));
    if (i == 1) {
      out.state = narrow_text(state, 5);
      out.native = native;
    } else {
      out.text += "; ";
    }
    out.text += narrow_text(text, units);
  }
  return out;
}

// The SQLite driver reports everything as HY000; its own codes tell more.
const char* sqlite_state(int64_t native) {
  switch (native & 0xff) {
    case 19:  // constraint
      return "23000";
    case 5:  // busy
    case 6:  // locked
      return "40001";
    case 20:  // type mismatch
      return "22018";
    case 14:  // cannot open
      return "08001";
    case 8:  // read-only
      return "42000";
    default:
      return nullptr;
  }
}

}  // namespace

Connection::Connection(const DataSourceSettings& settings) : settings_(settings) {}

Result<std::unique_ptr<Connection>> Connection::open(const DataSourceSettings& settings) {
  std::unique_ptr<Connection> connection(new Connection(settings));
  MS_TRY(connection->connect());
  return connection;
}

Status Connection::connect() {
  if (SQLAllocHandle(SQL_HANDLE_DBC, environment(), &handle_) != SQL_SUCCESS) {
    return failure(SQL_HANDLE_ENV, environment(), SQL_ERROR);
  }
  SQLSetConnectAttr(handle_, SQL_ATTR_LOGIN_TIMEOUT,
                    reinterpret_cast<SQLPOINTER>(settings_.wait_ns / 1'000'000'000), 0);
  WideText text(connection_string(settings_));
  const SQLRETURN connected =
      SQLDriverConnectW(handle_, nullptr, text.data(), static_cast<SQLSMALLINT>(text.size()),
                        nullptr, 0, nullptr, SQL_DRIVER_NOPROMPT);
  if (!SQL_SUCCEEDED(connected)) {
    Status status = failure(SQL_HANDLE_DBC, handle_, connected);
    is_dead_ = true;
    return status;
  }
  is_connected_ = true;
  MS_TRY(set_autocommit(false));
  find_dialect();
  return {};
}

Status Connection::set_autocommit(bool is_on) {
  if (is_on == is_autocommit_) return {};
  const auto value = reinterpret_cast<SQLPOINTER>(is_on ? SQL_AUTOCOMMIT_ON : SQL_AUTOCOMMIT_OFF);
  const SQLRETURN rc = SQLSetConnectAttr(handle_, SQL_ATTR_AUTOCOMMIT, value, 0);
  if (!SQL_SUCCEEDED(rc)) return failure(SQL_HANDLE_DBC, handle_, rc);
  is_autocommit_ = is_on;
  return {};
}

void Connection::find_dialect() {
  SQLUINTEGER isolation = 0;
  if (SQL_SUCCEEDED(SQLGetConnectAttr(handle_, SQL_ATTR_TXN_ISOLATION, &isolation, 0, nullptr))) {
    reads_committed_ = isolation == SQL_TXN_READ_COMMITTED || isolation == SQL_TXN_READ_UNCOMMITTED;
  }
  char text[128] = {};
  SQLSMALLINT length = 0;
  if (SQL_SUCCEEDED(SQLGetInfo(handle_, SQL_DBMS_NAME, text, sizeof text, &length))) {
    product_ = text;
    const std::string_view name = product_;
    if (name.starts_with("PostgreSQL")) dialect_ = Dialect::kPostgres;
    if (name.starts_with("SQLite")) dialect_ = Dialect::kSqlite;
  }
  if (SQL_SUCCEEDED(SQLGetInfo(handle_, SQL_IDENTIFIER_QUOTE_CHAR, text, sizeof text, &length))) {
    quote_ = text;
  }
  if (SQL_SUCCEEDED(SQLGetInfo(handle_, SQL_PROCEDURES, text, sizeof text, &length))) {
    has_procedures_ = text[0] != 'N' || dialect_ == Dialect::kPostgres;
  }
}

Connection::~Connection() {
  if (is_in_transaction_ && !is_dead_) rollback();
  index_.clear();
  statements_.clear();
  if (!handle_) return;
  if (is_connected_) SQLDisconnect(handle_);
  SQLFreeHandle(SQL_HANDLE_DBC, handle_);
}

Prepared::~Prepared() {
  if (handle) SQLFreeHandle(SQL_HANDLE_STMT, handle);
}

bool Connection::looks_alive() {
  if (is_dead_) return false;
  SQLUINTEGER is_gone = SQL_CD_FALSE;
  const SQLRETURN rc = SQLGetConnectAttr(handle_, SQL_ATTR_CONNECTION_DEAD, &is_gone, 0, nullptr);
  if (SQL_SUCCEEDED(rc) && is_gone == SQL_CD_TRUE) is_dead_ = true;
  return !is_dead_;
}

Status Connection::failure(int16_t handle_type, void* handle, int return_code) {
  Diagnosis d = diagnose(handle_type, handle);
  if (dialect_ == Dialect::kSqlite && d.state == "HY000") {
    if (const char* state = sqlite_state(d.native)) d.state = state;
  }
  // 57P01 to 57P03: the PostgreSQL server is going down or coming up.
  if (d.state.starts_with("08") || d.state.starts_with("57P0")) is_dead_ = true;
  if (handle_type == SQL_HANDLE_STMT) looks_alive();
  Status inner = base::make_error(errors::kDatabaseMessage, {d.state, d.native, d.text});
  inner.error().sql_state = "D" + d.state;
  inner.error().sql_code = return_code;
  inner.error().sql_native_error = d.native;
  return base::wrap_error(
      base::make_error(errors::kDatabaseCall, {return_code, settings_.name, "libodbc.so.2"}),
      std::move(inner));
}

void Connection::note_warning(void* statement, base::Arena& arena, Outcome& out) {
  const Diagnosis d = diagnose(SQL_HANDLE_STMT, statement);
  out.code = SQL_SUCCESS_WITH_INFO;
  out.state = arena.copy(d.state == "HY000" ? std::string_view("01000") : d.state);
  out.native_error = d.native;
  out.text = arena.copy(d.text);
}

void Connection::forget(const std::string& key) {
  auto it = index_.find(key);
  if (it == index_.end()) return;
  auto at = it->second;
  index_.erase(it);
  statements_.erase(at);
}

Result<Prepared*> Connection::prepare(const Statement& statement) {
  key_.assign(statement.sql);
  key_ += '\0';
  for (size_t i = 0; i < statement.parameters.size(); ++i) {
    const char type = parameter_type(statement.parameters[i], dialect_);
    if (type == 0) {
      return base::make_error(errors::kUnsupportedParameter,
                              {i + 1, value::kind_name(statement.parameters[i].kind)});
    }
    key_ += type;
  }
  if (auto it = index_.find(key_); it != index_.end()) {
    statements_.splice(statements_.begin(), statements_, it->second);
    return it->second->get();
  }
  if (statements_.size() >= kStatementsMax) {
    index_.erase(statements_.back()->key);
    statements_.pop_back();
  }
  SQLHSTMT handle = SQL_NULL_HSTMT;
  SQLRETURN rc = SQLAllocHandle(SQL_HANDLE_STMT, handle_, &handle);
  if (!SQL_SUCCEEDED(rc)) return failure(SQL_HANDLE_DBC, handle_, rc);
  auto p = std::make_unique<Prepared>(handle);
  if (settings_.statement_timeout_s > 0) {
    SQLSetStmtAttr(handle, SQL_ATTR_QUERY_TIMEOUT,
                   reinterpret_cast<SQLPOINTER>(settings_.statement_timeout_s), 0);
  }
  p->key = key_;
  rc = prepare_text(handle, statement.sql, dialect_);
  if (!SQL_SUCCEEDED(rc)) return failure(SQL_HANDLE_STMT, handle, rc);
  SQLSMALLINT markers = 0;
  if (SQL_SUCCEEDED(SQLNumParams(handle, &markers)) &&
      static_cast<size_t>(markers) != statement.parameters.size()) {
    return base::make_error(errors::kParameterCount,
                            {static_cast<int64_t>(markers), statement.parameters.size()});
  }
  statements_.push_front(std::move(p));
  index_[statements_.front()->key] = statements_.begin();
  return statements_.front().get();
}

Status Connection::execute(const Statement& statement, base::Arena& arena, Outcome& out) {
  if (!statement.is_direct) {
    Prepared* p = MS_TRY(prepare(statement));
    MS_TRY(bind(*p, statement.parameters));
    Status status = run(*p, statement, arena, out);
    // Its state in the driver is not known any more, and the tables may have changed under it.
    if (!status.ok() || p->is_for_once) forget(std::string(p->key));
    return status;
  }
  SQLHSTMT handle = SQL_NULL_HSTMT;
  const SQLRETURN rc = SQLAllocHandle(SQL_HANDLE_STMT, handle_, &handle);
  if (!SQL_SUCCEEDED(rc)) return failure(SQL_HANDLE_DBC, handle_, rc);
  Prepared once(handle);
  return run(once, statement, arena, out);
}

Status Connection::run(Prepared& p, const Statement& statement, base::Arena& arena, Outcome& out) {
  is_in_transaction_ = !is_autocommit_;
  SQLRETURN rc;
  if (statement.is_direct) {
    rc = execute_text(p.handle, statement.sql, dialect_);
  } else {
    rc = SQLExecute(p.handle);
  }
  if (rc != SQL_SUCCESS && rc != SQL_SUCCESS_WITH_INFO && rc != SQL_NO_DATA) {
    return failure(SQL_HANDLE_STMT, p.handle, rc);
  }
  if (rc == SQL_SUCCESS_WITH_INFO) note_warning(p.handle, arena, out);
  SQLSMALLINT columns = static_cast<SQLSMALLINT>(p.columns.size());
  if (!p.is_described) {
    columns = 0;
    if (rc != SQL_NO_DATA) SQLNumResultCols(p.handle, &columns);
  }
  if (columns == 0) {
    SQLLEN affected = 0;
    if (rc != SQL_NO_DATA) SQLRowCount(p.handle, &affected);
    out.affected = affected;
    if (rc == SQL_NO_DATA) {
      out.code = SQL_NO_DATA;
      out.state = "02000";
    }
    SQLFreeStmt(p.handle, SQL_CLOSE);
    return {};
  }
  Status status = read_rows(p, statement.result_bytes_max, arena, out.rows);
  SQLFreeStmt(p.handle, SQL_CLOSE);
  return status;
}

Status Connection::commit() {
  if (!is_in_transaction_) return {};
  const SQLRETURN rc = SQLEndTran(SQL_HANDLE_DBC, handle_, SQL_COMMIT);
  // Drivers may report success for a commit whose answer never came.
  if (SQL_SUCCEEDED(rc) && looks_alive()) {
    is_in_transaction_ = false;
    return {};
  }
  Status status = failure(SQL_HANDLE_DBC, handle_, rc);
  if (!is_dead_) rollback();
  is_in_transaction_ = false;
  return status;
}

void Connection::rollback() {
  if (!is_in_transaction_) return;
  is_in_transaction_ = false;
  if (is_dead_) return;
  // A transaction that cannot be undone must not be met by the next user of the connection.
  if (!SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, handle_, SQL_ROLLBACK))) is_dead_ = true;
}

}  // namespace millstream::sql
