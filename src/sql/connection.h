// One ODBC connection: prepared statements, values in and out, one transaction at a time.
// What is executed belongs to the transaction that commit() or rollback() ends, unless
// set_autocommit(true) was called before it.
//
// Values are always bound as parameters, never written into the SQL text. Prepared statements are
// kept for reuse (kStatementsMax, the least recently used one goes).
// Type mapping (spec A3): see result_kind() in result.cc and bind_value() in parameters.cc.
// Every function here blocks: call it on the blocking pool. Thread: one at a time, any.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/arena.h"
#include "base/result.h"
#include "sql/settings.h"
#include "value/value.h"

namespace millstream::sql {

// What drivers do differently where the standard leaves it open.
enum class Dialect : uint8_t { kGeneric, kPostgres, kSqlite };

struct Statement {
  std::string_view sql;
  std::span<const value::Value> parameters;
  bool is_direct = false;      // as it is, without preparing: PASSTHRU of other than queries
  bool is_query = false;       // SELECT: reads only
  bool is_repeatable = false;  // may run again on a new connection when the first one was dead
  size_t result_bytes_max = size_t{2} << 30;
};

// Rows in the arena the caller gave.
struct ResultSet {
  std::span<const std::string_view> columns;
  std::span<const value::Value> cells;  // row by row
  size_t row_count = 0;
  const value::Value& cell(size_t row, size_t column) const {
    return cells[row * columns.size() + column];
  }
};

// What a statement left: its rows and the registers that ESQL shows.
struct Outcome {
  ResultSet rows;
  int64_t affected = 0;
  int code = 0;                      // ODBC return code: 0, 1 warning, 100 nothing found
  std::string_view state = "00000";  // in the arena, or a literal
  int64_t native_error = 0;
  std::string_view text;  // of a warning; in the arena
};

enum class Direction : uint8_t { kIn, kOut, kInOut };
struct ProcedureArgument {
  Direction direction = Direction::kIn;
  value::Kind kind = value::Kind::kCharacter;
  value::Value value;  // OUT and INOUT are written back, in the arena
};
struct ProcedureCall {
  std::string_view schema;  // may be empty
  std::string_view name;
  std::span<ProcedureArgument> arguments;
  bool has_return = false;
  value::Kind return_kind = value::Kind::kNull;
  size_t result_sets_max = 0;
  size_t result_bytes_max = size_t{2} << 30;
};
struct ProcedureOutcome {
  Outcome outcome;
  value::Value returned;
  std::vector<ResultSet> result_sets;
};

struct Prepared;

class Connection {
 public:
  static constexpr size_t kStatementsMax = 128;
  static constexpr size_t kSqlBytesMax = 1 << 20;

  static Result<std::unique_ptr<Connection>> open(const DataSourceSettings& settings);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Status execute(const Statement& statement, base::Arena& arena, Outcome& out);
  Status call(const ProcedureCall& call, base::Arena& arena, ProcedureOutcome& out);
  Status commit();
  void rollback();
  // Something has run since the last commit or rollback.
  bool is_in_transaction() const { return is_in_transaction_; }
  // The other side has gone: of no more use.
  bool is_dead() const { return is_dead_; }
  // Asks the driver, without a round trip.
  bool looks_alive();
  Dialect dialect() const { return dialect_; }
  // Only outside a transaction. Costs nothing when it is so already.
  Status set_autocommit(bool is_on);
  // Each statement sees what is committed when it begins, so that a query alone needs no
  // transaction.
  bool reads_committed() const { return reads_committed_; }
  const std::string& quote() const { return quote_; }  // around identifiers
  size_t statements_cached() const { return statements_.size(); }

  int64_t idle_since_ns = 0;  // for the pool

 private:
  friend class ResultReader;
  Connection(const DataSourceSettings& settings);
  Status connect();
  void find_dialect();
  Result<Prepared*> prepare(const Statement& statement);
  void forget(const std::string& key);
  Status run(Prepared& p, const Statement& statement, base::Arena& arena, Outcome& out);
  Status bind(Prepared& p, std::span<const value::Value> values);
  Status read_rows(Prepared& p, size_t bytes_max, base::Arena& arena, ResultSet& out);
  Status call_standard(const ProcedureCall& call, base::Arena& arena, ProcedureOutcome& out);
  Status call_postgres(const ProcedureCall& call, base::Arena& arena, ProcedureOutcome& out);
  Result<bool> is_postgres_procedure(const ProcedureCall& call, base::Arena& arena);
  Status read_cursors(const ProcedureCall& call, const ResultSet& rows, base::Arena& arena,
                      ProcedureOutcome& out);
  Status failure(int16_t handle_type, void* handle, int return_code);
  void note_warning(void* statement, base::Arena& arena, Outcome& out);

  const DataSourceSettings settings_;
  void* handle_ = nullptr;  // SQLHDBC
  Dialect dialect_ = Dialect::kGeneric;
  std::string quote_ = "\"";
  bool is_connected_ = false;
  bool is_dead_ = false;
  bool is_in_transaction_ = false;
  bool is_autocommit_ = true;
  bool reads_committed_ = false;
  bool has_procedures_ = true;
  std::string product_;                              // the database's own name, for messages
  std::list<std::unique_ptr<Prepared>> statements_;  // most recently used first
  std::unordered_map<std::string_view, std::list<std::unique_ptr<Prepared>>::iterator> index_;
  std::string key_;           // scratch: SQL text and types of the values
  std::vector<char> buffer_;  // scratch: one column
  std::vector<value::Value> cells_;
  std::unordered_map<std::string, bool> procedures_;  // Postgres: is it a procedure?
};

// UTF-8 <-> the driver manager's wide characters (UTF-16). Invalid input becomes U+FFFD.
void append_wide(std::string_view utf8, std::vector<char16_t>& out);
void append_utf8(std::u16string_view wide, std::string& out);

}  // namespace millstream::sql
