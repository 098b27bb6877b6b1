// Stored procedures.
//
// The standard way is the call escape of ODBC with bound OUT parameters. The PostgreSQL driver does
// not know procedures in it, so there the statement is written out: CALL for procedures, SELECT for
// functions; their results come as one row.
#include <sql.h>
#include <sqlext.h>

#include <algorithm>

#include "sql/errors_gen.h"
#include "sql/prepared.h"
#include "text/sql_identifier.h"
#include "value/datetime.h"
#include "value/decimal.h"

namespace millstream::sql {

using value::Kind;
using value::Value;

namespace {

constexpr size_t kOutputBytesMax = 32 * 1024;  // of a text or binary OUT parameter

std::string procedure_name(const ProcedureCall& call, const std::string& quote) {
  std::string out;
  if (!call.schema.empty()) {
    text::append_sql_identifier(out, call.schema, false, quote);
    out += '.';
  }
  text::append_sql_identifier(out, call.name, false, quote);
  return out;
}

std::string markers(size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += i ? ", ?" : "?";
  return out;
}

// A parameter that comes back, with room for what the procedure makes of it.
struct OutputSlot {
  Kind kind = Kind::kCharacter;
  SQLLEN length = SQL_NULL_DATA;
  int64_t integer = 0;
  double real = 0;
  SQL_TIMESTAMP_STRUCT timestamp{};
  SQL_DATE_STRUCT date{};
  SQL_TIME_STRUCT time{};
  std::vector<char> bytes;
  std::vector<char16_t> wide;
};

void put_input(OutputSlot& s, const Value& v) {
  switch (v.kind) {
    case Kind::kNull:
      s.length = SQL_NULL_DATA;
      return;
    case Kind::kInteger:
    case Kind::kBoolean:
      s.integer = v.integer;
      s.length = sizeof s.integer;
      return;
    case Kind::kFloat:
      s.real = v.real;
      s.length = sizeof s.real;
      return;
    case Kind::kDecimal: {
      const std::string text = v.as_decimal().to_text();
      std::copy(text.begin(), text.end(), s.bytes.begin());
      s.length = static_cast<SQLLEN>(text.size());
      return;
    }
    case Kind::kBlob: {
      const size_t n = std::min(v.text().size(), s.bytes.size());
      std::copy_n(v.text().begin(), n, s.bytes.begin());
      s.length = static_cast<SQLLEN>(n);
      return;
    }
    case Kind::kCharacter: {
      std::vector<char16_t> wide;
      append_wide(v.text(), wide);
      const size_t n = std::min(wide.size(), s.wide.size() - 1);
      std::copy_n(wide.begin(), n, s.wide.begin());
      s.length = static_cast<SQLLEN>(n * sizeof(char16_t));
      return;
    }
    default: {
      const value::DateTimeFields f = value::decompose(v);
      const auto year = static_cast<SQLSMALLINT>(f.year);
      const auto month = static_cast<SQLUSMALLINT>(f.month), day = static_cast<SQLUSMALLINT>(f.day);
      const auto hour = static_cast<SQLUSMALLINT>(f.hour);
      const auto minute = static_cast<SQLUSMALLINT>(f.minute);
      const auto second = static_cast<SQLUSMALLINT>(f.second);
      s.date = {year, month, day};
      s.time = {hour, minute, second};
      s.timestamp = {
          year, month, day, hour, minute, second, static_cast<SQLUINTEGER>(f.micros) * 1000};
      s.length = sizeof s.timestamp;
      return;
    }
  }
}

Status take_output(const OutputSlot& s, base::Arena& arena, Value& out) {
  out = Value::null();
  if (s.length == SQL_NULL_DATA) return {};
  switch (s.kind) {
    case Kind::kInteger:
      out = Value::make_integer(s.integer);
      return {};
    case Kind::kBoolean:
      out = Value::make_boolean(s.integer != 0);
      return {};
    case Kind::kFloat:
      out = Value::make_float(s.real);
      return {};
    case Kind::kDecimal: {
      value::Decimal d;
      const std::string_view text(s.bytes.data(), static_cast<size_t>(s.length));
      if (value::Decimal::parse(text, d)) {
        out = Value::make_decimal(d, arena);
      } else {
        out = Value::make_character(arena.copy(text));
      }
      return {};
    }
    case Kind::kBlob:
      out = Value::make_blob(arena.copy({s.bytes.data(), static_cast<size_t>(s.length)}));
      return {};
    case Kind::kDate:
    case Kind::kTime:
    case Kind::kGmtTime:
    case Kind::kTimestamp:
    case Kind::kGmtTimestamp: {
      value::DateTimeFields f;
      if (s.kind == Kind::kDate) {
        f.year = s.date.year, f.month = s.date.month, f.day = s.date.day;
      } else if (s.kind == Kind::kTime || s.kind == Kind::kGmtTime) {
        f.hour = s.time.hour, f.minute = s.time.minute, f.second = s.time.second;
      } else {
        f.year = s.timestamp.year, f.month = s.timestamp.month, f.day = s.timestamp.day;
        f.hour = s.timestamp.hour, f.minute = s.timestamp.minute, f.second = s.timestamp.second;
        f.micros = static_cast<int32_t>(s.timestamp.fraction / 1000);
      }
      out = MS_TRY(value::compose(s.kind, f));
      return {};
    }
    default: {
      std::string text;
      append_utf8({s.wide.data(), static_cast<size_t>(s.length) / sizeof(char16_t)}, text);
      out = Value::make_character(arena.copy(text));
      return {};
    }
  }
}

SQLRETURN bind_output(SQLHSTMT handle, size_t number, SQLSMALLINT direction, OutputSlot& s) {
  const auto at = static_cast<SQLUSMALLINT>(number);
  auto bind = [&](SQLSMALLINT c, SQLSMALLINT type, SQLULEN size, SQLSMALLINT digits, void* data,
                  size_t bytes) {
    return SQLBindParameter(handle, at, direction, c, type, size, digits, data,
                            static_cast<SQLLEN>(bytes), &s.length);
  };
  switch (s.kind) {
    case Kind::kInteger:
    case Kind::kBoolean:
      return bind(SQL_C_SBIGINT, SQL_BIGINT, 19, 0, &s.integer, sizeof s.integer);
    case Kind::kFloat:
      return bind(SQL_C_DOUBLE, SQL_DOUBLE, 53, 0, &s.real, sizeof s.real);
    case Kind::kDecimal:
      s.bytes.resize(128);
      return bind(SQL_C_CHAR, SQL_DECIMAL, 34, 10, s.bytes.data(), s.bytes.size());
    case Kind::kBlob:
      s.bytes.resize(kOutputBytesMax);
      return bind(SQL_C_BINARY, SQL_VARBINARY, kOutputBytesMax, 0, s.bytes.data(), s.bytes.size());
    case Kind::kDate:
      return bind(SQL_C_TYPE_DATE, SQL_TYPE_DATE, 10, 0, &s.date, sizeof s.date);
    case Kind::kTime:
    case Kind::kGmtTime:
      return bind(SQL_C_TYPE_TIME, SQL_TYPE_TIME, 8, 0, &s.time, sizeof s.time);
    case Kind::kTimestamp:
    case Kind::kGmtTimestamp:
      return bind(SQL_C_TYPE_TIMESTAMP, SQL_TYPE_TIMESTAMP, 26, 6, &s.timestamp,
                  sizeof s.timestamp);
    default:
      s.wide.resize(kOutputBytesMax / sizeof(char16_t));
      return bind(SQL_C_WCHAR, SQL_WVARCHAR, s.wide.size() - 1, 0, s.wide.data(), kOutputBytesMax);
  }
}

}  // namespace

Status Connection::call(const ProcedureCall& call, base::Arena& arena, ProcedureOutcome& out) {
  // Its driver would take the call for a statement, and the error would be about a brace.
  if (!has_procedures_) {
    return base::make_error(errors::kNoProcedures,
                            {std::string(call.name), settings_.name, product_});
  }
  return dialect_ == Dialect::kPostgres ? call_postgres(call, arena, out)
                                        : call_standard(call, arena, out);
}

Status Connection::call_standard(const ProcedureCall& call, base::Arena& arena,
                                 ProcedureOutcome& out) {
  const std::string sql = std::string(call.has_return ? "{? = call " : "{call ") +
                          procedure_name(call, quote_) + "(" + markers(call.arguments.size()) +
                          ")}";
  SQLHSTMT handle = SQL_NULL_HSTMT;
  SQLRETURN rc = SQLAllocHandle(SQL_HANDLE_STMT, handle_, &handle);
  if (!SQL_SUCCEEDED(rc)) return failure(SQL_HANDLE_DBC, handle_, rc);
  Prepared p(handle);
  rc = SQLPrepare(handle, reinterpret_cast<SQLCHAR*>(const_cast<char*>(sql.c_str())), SQL_NTS);
  if (!SQL_SUCCEEDED(rc)) return failure(SQL_HANDLE_STMT, handle, rc);

  std::vector<OutputSlot> slots(call.arguments.size() + 1);
  size_t number = 0;
  if (call.has_return) {
    slots[0].kind = call.return_kind;
    rc = bind_output(handle, ++number, SQL_PARAM_OUTPUT, slots[0]);
    if (!SQL_SUCCEEDED(rc)) return failure(SQL_HANDLE_STMT, handle, rc);
  }
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const ProcedureArgument& a = call.arguments[i];
    OutputSlot& s = slots[i + 1];
    s.kind = a.kind;
    const SQLSMALLINT direction = a.direction == Direction::kIn    ? SQL_PARAM_INPUT
                                  : a.direction == Direction::kOut ? SQL_PARAM_OUTPUT
                                                                   : SQL_PARAM_INPUT_OUTPUT;
    rc = bind_output(handle, ++number, direction, s);
    if (!SQL_SUCCEEDED(rc)) return failure(SQL_HANDLE_STMT, handle, rc);
    if (a.direction != Direction::kOut) put_input(s, a.value);
  }
  is_in_transaction_ = true;
  rc = SQLExecute(handle);
  if (rc != SQL_SUCCESS && rc != SQL_SUCCESS_WITH_INFO && rc != SQL_NO_DATA) {
    return failure(SQL_HANDLE_STMT, handle, rc);
  }
  if (rc == SQL_SUCCESS_WITH_INFO) note_warning(handle, arena, out.outcome);
  // OUT parameters are only there after all results have been taken.
  for (;;) {
    SQLSMALLINT columns = 0;
    SQLNumResultCols(handle, &columns);
    if (columns > 0) {
      ResultSet rows;
      p.is_described = false;
      MS_TRY(read_rows(p, call.result_bytes_max, arena, rows));
      if (out.result_sets.size() < call.result_sets_max) out.result_sets.push_back(rows);
    }
    rc = SQLMoreResults(handle);
    if (rc == SQL_NO_DATA) break;
    if (!SQL_SUCCEEDED(rc)) return failure(SQL_HANDLE_STMT, handle, rc);
  }
  if (call.has_return) MS_TRY(take_output(slots[0], arena, out.returned));
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    ProcedureArgument& a = call.arguments[i];
    if (a.direction != Direction::kIn) MS_TRY(take_output(slots[i + 1], arena, a.value));
  }
  return {};
}

// Asked once for each name and connection.
Result<bool> Connection::is_postgres_procedure(const ProcedureCall& call, base::Arena& arena) {
  std::string key = std::string(call.schema) + "." + std::string(call.name);
  if (auto it = procedures_.find(key); it != procedures_.end()) return it->second;
  // The server folds plain names to lower case.
  auto folded = [&](std::string_view name) {
    std::string out;
    text::append_sql_identifier(out, name, false);
    const bool is_plain = !out.empty() && out[0] != '"';
    std::string text(name);
    if (is_plain) {
      for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
    return text;
  };
  const std::string name = folded(call.name), schema = folded(call.schema);
  const Value values[] = {Value::make_character(name), Value::make_character(schema),
                          Value::make_character(schema)};
  Statement s;
  s.sql =
      "SELECT p.prokind FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = "
      "p.pronamespace WHERE p.proname = ? AND (n.nspname = ? OR (? = '' AND "
      "pg_catalog.pg_function_is_visible(p.oid)))";
  s.parameters = values;
  Outcome found;
  MS_TRY(execute(s, arena, found));
  const bool is_procedure = found.rows.row_count > 0 &&
                            found.rows.cell(0, 0).kind == Kind::kCharacter &&
                            found.rows.cell(0, 0).text() == "p";
  if (found.rows.row_count > 0) procedures_[key] = is_procedure;
  return is_procedure;
}

// Result sets that come as names of cursors (RETURNS refcursor, or as OUT parameters).
Status Connection::read_cursors(const ProcedureCall& call, const ResultSet& rows,
                                base::Arena& arena, ProcedureOutcome& out) {
  for (size_t r = 0; r < rows.row_count; ++r) {
    const Value& name = rows.cell(r, 0);
    if (name.kind != Kind::kCharacter || out.result_sets.size() >= call.result_sets_max) continue;
    std::string sql = "FETCH ALL IN ";
    text::append_sql_identifier(sql, name.text(), true);
    Statement s;
    s.sql = sql;
    s.is_direct = true;
    s.result_bytes_max = call.result_bytes_max;
    Outcome fetched;
    MS_TRY(execute(s, arena, fetched));
    out.result_sets.push_back(fetched.rows);
  }
  return {};
}

Status Connection::call_postgres(const ProcedureCall& call, base::Arena& arena,
                                 ProcedureOutcome& out) {
  const bool is_procedure = MS_TRY(is_postgres_procedure(call, arena));
  std::vector<Value> values;
  size_t outputs = 0;
  for (const ProcedureArgument& a : call.arguments) {
    if (a.direction != Direction::kIn) ++outputs;
    if (a.direction != Direction::kOut) {
      values.push_back(a.value);
    } else if (is_procedure) {
      values.push_back(Value::null());
    }
  }
  const std::string sql = (is_procedure ? "CALL " : "SELECT * FROM ") +
                          procedure_name(call, quote_) + "(" + markers(values.size()) + ")";
  Statement s;
  s.sql = sql;
  s.parameters = values;
  s.result_bytes_max = call.result_bytes_max;
  MS_TRY(execute(s, arena, out.outcome));
  const ResultSet& rows = out.outcome.rows;
  if (outputs > 0) {
    if (rows.row_count < 1 || rows.columns.size() < outputs) {
      const int64_t returned = rows.row_count < 1 ? 0 : static_cast<int64_t>(rows.columns.size());
      return base::make_error(errors::kNoParameterResult,
                              {call.name, returned, static_cast<int64_t>(outputs)});
    }
    size_t column = 0;
    for (ProcedureArgument& a : call.arguments) {
      if (a.direction != Direction::kIn) a.value = rows.cell(0, column++);
    }
    return {};
  }
  if (call.has_return) {
    if (rows.row_count > 0 && !rows.columns.empty()) out.returned = rows.cell(0, 0);
    return {};
  }
  if (call.result_sets_max == 0 || rows.columns.empty()) return {};
  const bool is_cursor_list = rows.columns.size() == 1 && rows.row_count > 0 &&
                              rows.cell(0, 0).kind == Kind::kCharacter &&
                              rows.cell(0, 0).text().starts_with("<unnamed portal");
  if (is_cursor_list) return read_cursors(call, rows, arena, out);
  out.result_sets.push_back(rows);
  return {};
}

}  // namespace millstream::sql
