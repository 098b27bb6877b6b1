// The window of ESQL on the rest of the server: what a program does beyond values and trees goes
// through a Host. The flow engine implements one for each node kind; tests implement a fake.
//
// Every function has a default that refuses the request with an error that names it, so that a host
// implements what its node can do. Functions that wait suspend the calling fiber.
// Lifetime: at least one node invocation. Thread: that of the message.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "tree/domain.h"
#include "tree/element.h"
#include "value/value.h"

namespace millstream::esql {

class Tracer;

// PROPAGATE. Trees that are null are chosen by the node (compute mode), the same way as for the
// implicit propagate after Main.
struct PropagateRequest {
  enum class To : uint8_t { kTerminalName, kTerminalNumber, kLabel };
  To to = To::kTerminalName;
  std::string_view name = "out";  // terminal or label
  int64_t number = 0;             // kTerminalNumber: 0..4, -1 failure, -2 nowhere
  tree::Element* message = nullptr;
  tree::Element* local_environment = nullptr;
  tree::Element* exception_list = nullptr;
  bool is_finalized = true;  // FINALIZE DEFAULT: header chain and Properties are put in order
  bool is_deleted = true;    // DELETE DEFAULT: the executor empties the output trees afterwards
};

// One LOG statement.
struct LogRequest {
  bool is_event = false;  // EVENT (system log), else USER TRACE
  int64_t severity = 1;
  std::string_view catalog = "BIPmsgs";
  int64_t number = 2951;
  std::vector<base::Insert> inserts;
  const base::Error* exception = nullptr;  // LOG EXCEPTION
  bool is_full = false;                    // FULL EXCEPTION: with its causes
};

// One statement for a database. What comes from messages is in `parameters`, never in `sql`.
struct DatabaseRequest {
  std::string_view data_source;  // empty: that of the node
  std::string_view sql;
  std::span<const value::Value> parameters;
  bool is_query = false;       // a SELECT that ESQL made: it only reads
  bool is_passthru = false;    // PASSTHRU: the text is the program's own
  std::string_view statement;  // as written in ESQL, for errors
};

// Rows in the message's arena, cell by cell.
struct DatabaseRows {
  std::span<const std::string_view> columns;
  std::span<const value::Value> cells;
  size_t row_count = 0;
};

// What is left after a database statement: rows, and what SQLCODE and the like show. A host whose
// node does not throw on database errors reports them here.
struct DatabaseResult {
  DatabaseRows rows;
  int64_t code = 0;
  std::string_view state = "00000";  // literal, or in the message's arena
  int64_t native_error = 0;
  std::string_view text;
};

enum class DatabaseDirection : uint8_t { kIn, kOut, kInOut };
struct DatabaseArgument {
  DatabaseDirection direction = DatabaseDirection::kIn;
  value::Kind kind = value::Kind::kCharacter;  // as declared
  value::Value value;                          // OUT and INOUT are written back
};
// CALL of a procedure with LANGUAGE DATABASE.
struct DatabaseCall {
  std::string_view data_source;
  std::string_view schema;  // may be empty
  std::string_view name;
  std::span<DatabaseArgument> arguments;
  bool has_return = false;
  value::Kind return_kind = value::Kind::kNull;
  value::Value returned;
  size_t result_sets_max = 0;
  std::vector<DatabaseRows> result_sets;
  std::string_view statement;
};

// A call of a routine whose language is not ESQL.
struct ExternalCall {
  std::string_view routine;        // as declared
  std::string_view external_name;  // EXTERNAL NAME, e.g. "pkg.Class.method"
  std::string_view class_loader;
  bool is_java = true;
  std::span<value::Value> arguments;  // OUT and INOUT values are written back
  value::Value* result = nullptr;
};

class Host {
 public:
  virtual ~Host() = default;

  // --- flow
  // Runs everything downstream before it returns.
  virtual Status propagate(const PropagateRequest& request);

  // --- domains; null when there is none of that name
  virtual const tree::Domain* find_domain(std::string_view name);

  // --- databases
  virtual Status run_database(const DatabaseRequest& request, DatabaseResult& result);
  virtual Status call_database(DatabaseCall& call, DatabaseResult& result);
  // COMMIT and ROLLBACK: ends what the flow has done in this data source so far.
  virtual Status end_database_work(std::string_view data_source, bool is_rollback,
                                   DatabaseResult& result);
  // A table that is named where no table can stand.
  Status execute_database(std::string_view what);

  // --- waiting and locks
  virtual Status sleep(int64_t milliseconds);
  // BEGIN ATOMIC: one holder a flow for each (schema, label).
  virtual Status lock_atomic(std::string_view schema, std::string_view label);
  virtual void unlock_atomic(std::string_view schema, std::string_view label);
  // Called every few hundred iterations of a loop and before PROPAGATE: lets other fibers run and
  // returns an error when the message was cancelled.
  virtual Status check_budget();
  // Memory one message may use; a loop that makes fields without end stops there.
  virtual size_t message_bytes_max() { return size_t{2} << 30; }
  // Bytes left on the stack of the caller; recursion stops with an error before it is used up.
  virtual size_t stack_remaining_bytes();

  // Where a program that was compiled to be traced tells what it does; null: nobody listens.
  virtual Tracer* tracer() { return nullptr; }

  // --- log
  virtual void log(const LogRequest& request);

  // --- names
  // BrokerName, MessageFlowLabel, ...; texts live at least as long as the invocation. NULL value:
  // known but not set. False: unknown.
  virtual bool find_broker_property(std::string_view name, value::Value& out);
  // The configured text of a user-defined property (EXTERNAL variable), if there is one.
  virtual std::optional<std::string_view> find_user_property(std::string_view name);

  // --- routines in other languages
  virtual Status call_external(const ExternalCall& call);
};

}  // namespace millstream::esql
