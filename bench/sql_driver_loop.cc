// What a single-row SELECT costs with the driver alone: one prepared statement, one bound
// parameter, the columns read, in a loop, each query by itself. bench/sql_select.py compares a
// flow with it.
//   sql_driver_loop CONNECTION_STRING COUNT      prints nanoseconds of CPU and of time a round
#include <sql.h>
#include <sqlext.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void check(SQLRETURN rc, SQLSMALLINT type, SQLHANDLE handle, const char* what) {
  if (SQL_SUCCEEDED(rc)) return;
  SQLCHAR state[6] = {}, text[512] = {};
  SQLINTEGER native = 0;
  SQLSMALLINT length = 0;
  SQLGetDiagRec(type, handle, 1, state, &native, text, sizeof text, &length);
  std::fprintf(stderr, "%s: %s %s\n", what, state, text);
  std::exit(1);
}

int64_t cpu_ns() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto ns = [](const timeval& t) { return t.tv_sec * int64_t{1'000'000'000} + t.tv_usec * 1000; };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

void round_trip(SQLHSTMT statement, int64_t id, std::string& key, SQLLEN& length) {
  key = std::to_string(id);
  length = static_cast<SQLLEN>(key.size());
  check(SQLExecute(statement), SQL_HANDLE_STMT, statement, "execute");
  check(SQLFetch(statement), SQL_HANDLE_STMT, statement, "fetch");
  SQLWCHAR name[128];
  char price[64];
  SQLLEN size = 0;
  check(SQLGetData(statement, 1, SQL_C_WCHAR, name, sizeof name, &size), SQL_HANDLE_STMT, statement,
        "name");
  check(SQLGetData(statement, 2, SQL_C_CHAR, price, sizeof price, &size), SQL_HANDLE_STMT,
        statement, "price");
  if (SQLFetch(statement) != SQL_NO_DATA) std::exit(2);
  SQLFreeStmt(statement, SQL_CLOSE);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int64_t count = std::atoll(argv[2]);
  SQLHENV env = nullptr;
  SQLHDBC dbc = nullptr;
  SQLHSTMT statement = nullptr;
  SQLAllocHandle(SQL_HANDLE_ENV, nullptr, &env);
  SQLSetEnvAttr(env, SQL_ATTR_ODBC_VERSION, reinterpret_cast<SQLPOINTER>(SQL_OV_ODBC3), 0);
  SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc);
  check(SQLDriverConnect(dbc, nullptr, reinterpret_cast<SQLCHAR*>(argv[1]), SQL_NTS, nullptr, 0,
                         nullptr, SQL_DRIVER_NOPROMPT),
        SQL_HANDLE_DBC, dbc, "connect");
  SQLAllocHandle(SQL_HANDLE_STMT, dbc, &statement);
  char sql[] = "SELECT t1.name, t1.price FROM item t1 WHERE (t1.id = ?)";
  check(SQLPrepare(statement, reinterpret_cast<SQLCHAR*>(sql), SQL_NTS), SQL_HANDLE_STMT, statement,
        "prepare");
  std::string key(32, ' ');
  SQLLEN length = 0;
  check(SQLBindParameter(statement, 1, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR, 20, 0, key.data(),
                         32, &length),
        SQL_HANDLE_STMT, statement, "bind");
  for (int64_t i = 0; i < 200; ++i) round_trip(statement, i % 1000, key, length);
  const int64_t cpu = cpu_ns();
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < count; ++i) round_trip(statement, i % 1000, key, length);
  const auto elapsed = std::chrono::steady_clock::now() - start;
  const int64_t wall = std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count();
  std::printf("%lld %lld\n", static_cast<long long>((cpu_ns() - cpu) / count),
              static_cast<long long>(wall / count));
  SQLFreeHandle(SQL_HANDLE_STMT, statement);
  SQLDisconnect(dbc);
  return 0;
}
