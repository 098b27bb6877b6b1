// Rows out of statements.
//
// Types (spec A3): integers -> INTEGER; REAL, DOUBLE, FLOAT -> FLOAT; DECIMAL, NUMERIC -> DECIMAL
// with all digits; BIT and boolean -> BOOLEAN; binary -> BLOB; dates and times -> DATE, TIME,
// TIMESTAMP; everything else -> CHARACTER. NULL stays NULL. SQLite knows no types of values but
// those a value was stored with: what does not read as the declared type comes as CHARACTER.
#include <sql.h>
#include <sqlext.h>

#include <algorithm>
#include <cstring>

#include "sql/errors_gen.h"
#include "sql/prepared.h"
#include "text/utf8.h"
#include "value/datetime.h"
#include "value/decimal.h"
#include "value/number_format.h"

namespace millstream::sql {

using value::Kind;
using value::Value;

namespace {

bool begins_with(std::string_view s, std::string_view word) {
  return s.size() >= word.size() &&
         text::equals_ignoring_ascii_case(s.substr(0, word.size()), word);
}

Kind result_kind(SQLSMALLINT type, std::string_view type_name) {
  switch (type) {
    case SQL_TINYINT:
    case SQL_SMALLINT:
    case SQL_INTEGER:
    case SQL_BIGINT:
      return Kind::kInteger;
    case SQL_REAL:
    case SQL_FLOAT:
    case SQL_DOUBLE:
      return Kind::kFloat;
    case SQL_DECIMAL:
    case SQL_NUMERIC:
      return Kind::kDecimal;
    case SQL_BIT:
      return Kind::kBoolean;
    case SQL_BINARY:
    case SQL_VARBINARY:
    case SQL_LONGVARBINARY:
      return Kind::kBlob;
    case SQL_TYPE_DATE:
    case SQL_DATE:
      return Kind::kDate;
    case SQL_TYPE_TIME:
    case SQL_TIME:
      return Kind::kTime;
    case SQL_TYPE_TIMESTAMP:
    case SQL_TIMESTAMP:
      return Kind::kTimestamp;
    default:
      break;
  }
  // Drivers that describe these as text: SQLite's for decimals, PostgreSQL's for booleans.
  if (begins_with(type_name, "decimal") || begins_with(type_name, "numeric")) {
    return Kind::kDecimal;
  }
  if (begins_with(type_name, "bool")) return Kind::kBoolean;
  return Kind::kCharacter;
}

constexpr size_t kFirstBufferBytes = 8 * 1024;

}  // namespace

// Reads the columns of the current row of one statement.
class ResultReader {
 public:
  ResultReader(Connection& connection, Prepared& prepared, base::Arena& arena)
      : c_(connection), p_(prepared), arena_(arena) {
    if (c_.buffer_.empty()) c_.buffer_.resize(kFirstBufferBytes);
  }

  Status read(size_t column, Value& out) {
    const ResultColumn& k = p_.columns[column];
    const auto number = static_cast<SQLUSMALLINT>(column + 1);
    const bool is_loose = c_.dialect_ == Dialect::kSqlite;
    switch (k.kind) {
      case Kind::kInteger:
        if (is_loose) return read_parsed(column, out);
        return read_integer(number, out);
      case Kind::kFloat:
        return read_float(number, out);
      case Kind::kBlob:
        return read_blob(column, out);
      case Kind::kDate:
      case Kind::kTime:
      case Kind::kTimestamp:
        if (c_.dialect_ == Dialect::kGeneric) return read_structure(number, k.kind, out);
        return read_parsed(column, out);
      case Kind::kDecimal:
      case Kind::kBoolean:
        return read_parsed(column, out);
      default:
        return read_text(column, out);
    }
  }

 private:
  Status check(SQLRETURN rc) {
    return SQL_SUCCEEDED(rc) ? Status() : c_.failure(SQL_HANDLE_STMT, p_.handle, rc);
  }
  Status read_integer(SQLUSMALLINT column, Value& out) {
    int64_t number = 0;
    SQLLEN length = 0;
    MS_TRY(check(SQLGetData(p_.handle, column, SQL_C_SBIGINT, &number, sizeof number, &length)));
    out = length == SQL_NULL_DATA ? Value::null() : Value::make_integer(number);
    return {};
  }
  Status read_float(SQLUSMALLINT column, Value& out) {
    double number = 0;
    SQLLEN length = 0;
    MS_TRY(check(SQLGetData(p_.handle, column, SQL_C_DOUBLE, &number, sizeof number, &length)));
    out = length == SQL_NULL_DATA ? Value::null() : Value::make_float(number);
    return {};
  }
  Status read_structure(SQLUSMALLINT column, Kind kind, Value& out) {
    value::DateTimeFields f;
    SQLLEN length = 0;
    SQL_TIMESTAMP_STRUCT s{};
    // Drivers convert a date or a time to a timestamp, so one structure reads all three.
    MS_TRY(check(SQLGetData(p_.handle, column, SQL_C_TYPE_TIMESTAMP, &s, sizeof s, &length)));
    if (length == SQL_NULL_DATA) {
      out = Value::null();
      return {};
    }
    f.year = s.year;
    f.month = s.month;
    f.day = s.day;
    f.hour = s.hour;
    f.minute = s.minute;
    f.second = s.second;
    f.micros = static_cast<int32_t>(s.fraction / 1000);
    out = MS_TRY(value::compose(kind, f));
    return {};
  }

  // All bytes of a value of variable length, in the connection's buffer; -1: NULL.
  Status read_bytes(size_t column, SQLSMALLINT c_type, size_t terminator, int64_t& size) {
    const auto number = static_cast<SQLUSMALLINT>(column + 1);
    size_t used = 0;
    for (;;) {
      const size_t room = c_.buffer_.size() - used;
      SQLLEN length = 0;
      const SQLRETURN rc = SQLGetData(p_.handle, number, c_type, c_.buffer_.data() + used,
                                      static_cast<SQLLEN>(room), &length);
      if (rc == SQL_NO_DATA) break;
      MS_TRY(check(rc));
      if (length == SQL_NULL_DATA) {
        size = -1;
        return {};
      }
      const bool is_whole =
          length != SQL_NO_TOTAL && static_cast<size_t>(length) + terminator <= room;
      if (is_whole) {
        used += static_cast<size_t>(length);
        break;
      }
      used += room - terminator;
      const size_t more = length == SQL_NO_TOTAL ? c_.buffer_.size() : static_cast<size_t>(length);
      if (used + more > c_.settings_.column_bytes_max * 2) {
        return base::make_error(errors::kColumnTooLarge,
                                {p_.columns[column].name, c_.settings_.column_bytes_max});
      }
      c_.buffer_.resize(std::max(c_.buffer_.size() * 2, used + more + terminator));
    }
    size = static_cast<int64_t>(used);
    return {};
  }
  Status read_blob(size_t column, Value& out) {
    int64_t size = 0;
    MS_TRY(read_bytes(column, SQL_C_BINARY, 0, size));
    out = size < 0 ? Value::null()
                   : Value::make_blob(arena_.copy({c_.buffer_.data(), static_cast<size_t>(size)}));
    return {};
  }
  Status read_text(size_t column, Value& out) {
    int64_t size = 0;
    if (c_.dialect_ == Dialect::kSqlite) {
      MS_TRY(read_bytes(column, SQL_C_CHAR, 1, size));
      if (size < 0) {
        out = Value::null();
        return {};
      }
      const std::string_view text(c_.buffer_.data(), static_cast<size_t>(size));
      if (!text::is_valid_utf8(text)) {
        return base::make_error(errors::kBadColumnText, {p_.columns[column].name});
      }
      out = Value::make_character(arena_.copy(text));
      return {};
    }
    MS_TRY(read_bytes(column, SQL_C_WCHAR, sizeof(char16_t), size));
    if (size < 0) {
      out = Value::null();
      return {};
    }
    out = Value::make_character(narrow(static_cast<size_t>(size) / sizeof(char16_t)));
    return {};
  }
  // The wide text of the buffer as UTF-8 in the arena.
  std::string_view narrow(size_t units) {
    const auto* wide = reinterpret_cast<const char16_t*>(c_.buffer_.data());
    size_t ascii = 0;
    while (ascii < units && wide[ascii] < 0x80) ++ascii;
    if (ascii == units) {
      char* bytes = arena_.bytes(units);
      for (size_t i = 0; i < units; ++i) bytes[i] = static_cast<char>(wide[i]);
      return {bytes, units};
    }
    text_.clear();
    append_utf8({wide, units}, text_);
    return arena_.copy(text_);
  }

  // Short ASCII forms: numbers, dates, booleans.
  Status read_parsed(size_t column, Value& out) {
    int64_t size = 0;
    MS_TRY(read_bytes(column, SQL_C_CHAR, 1, size));
    if (size < 0) {
      out = Value::null();
      return {};
    }
    const std::string_view text(c_.buffer_.data(), static_cast<size_t>(size));
    if (!parse(p_.columns[column].kind, text, out)) {
      if (!text::is_valid_utf8(text)) {
        return base::make_error(errors::kBadColumnText, {p_.columns[column].name});
      }
      out = Value::make_character(arena_.copy(text));
    }
    return {};
  }
  bool parse(Kind kind, std::string_view text, Value& out) {
    switch (kind) {
      case Kind::kInteger: {
        int64_t number = 0;
        if (value::parse_integer_text(text, number) != value::NumberParse::kOk) return false;
        out = Value::make_integer(number);
        return true;
      }
      case Kind::kDecimal: {
        value::Decimal d;
        if (value::parse_decimal_text(text, d) != value::NumberParse::kOk) return false;
        out = Value::make_decimal(d, arena_);
        return true;
      }
      case Kind::kBoolean:
        if (text != "0" && text != "1" && text != "t" && text != "f" &&
            !text::equals_ignoring_ascii_case(text, "true") &&
            !text::equals_ignoring_ascii_case(text, "false")) {
          return false;
        }
        out = Value::make_boolean(text[0] == '1' || text[0] == 't' || text[0] == 'T');
        return true;
      default:
        return value::parse_datetime_text(kind, text, out).ok();
    }
  }

  Connection& c_;
  Prepared& p_;
  base::Arena& arena_;
  std::string text_;
};

namespace {

// Names and types of the result's columns. `is_loose`: SQLite, where an expression has the type
// that its first value happened to have.
void describe_columns(Prepared& p, bool is_loose) {
  SQLSMALLINT count = 0;
  SQLNumResultCols(p.handle, &count);
  p.columns.clear();
  p.columns.resize(static_cast<size_t>(count));
  for (SQLSMALLINT i = 1; i <= count; ++i) {
    ResultColumn& column = p.columns[static_cast<size_t>(i - 1)];
    SQLSMALLINT length = 0, type = SQL_VARCHAR, digits = 0, nullable = 0;
    SQLULEN size = 0;
    const auto number = static_cast<SQLUSMALLINT>(i);
    if (is_loose) {
      SQLCHAR name[256] = {};  // UTF-8
      SQLDescribeCol(p.handle, number, name, sizeof name, &length, &type, &size, &digits,
                     &nullable);
      column.name = reinterpret_cast<const char*>(name);
      if (!text::is_valid_utf8(column.name)) column.name = "Column" + std::to_string(i);
    } else {
      SQLWCHAR name[256] = {};
      SQLDescribeColW(p.handle, number, name, 255, &length, &type, &size, &digits, &nullable);
      static_assert(sizeof(SQLWCHAR) == sizeof(char16_t));
      const size_t units = std::min<size_t>(length > 0 ? static_cast<size_t>(length) : 0, 254);
      append_utf8({reinterpret_cast<const char16_t*>(name), units}, column.name);
    }
    char type_name[128] = {};
    SQLColAttribute(p.handle, static_cast<SQLUSMALLINT>(i), SQL_DESC_TYPE_NAME, type_name,
                    sizeof type_name, &length, nullptr);
    column.kind = result_kind(type, type_name);
    if (!is_loose) continue;
    char table[8] = {};
    SQLColAttribute(p.handle, static_cast<SQLUSMALLINT>(i), SQL_DESC_BASE_TABLE_NAME, table,
                    sizeof table, &length, nullptr);
    p.is_for_once |= table[0] == '\0';
  }
}

}  // namespace

Status Connection::read_rows(Prepared& p, size_t bytes_max, base::Arena& arena, ResultSet& out) {
  if (!p.is_described) describe_columns(p, dialect_ == Dialect::kSqlite);
  p.is_described = true;
  cells_.clear();
  ResultReader reader(*this, p, arena);
  size_t count = 0;
  for (;;) {
    const SQLRETURN rc = SQLFetch(p.handle);
    if (rc == SQL_NO_DATA) break;
    if (!SQL_SUCCEEDED(rc)) return failure(SQL_HANDLE_STMT, p.handle, rc);
    if (++count > settings_.rows_max) {
      return base::make_error(errors::kTooManyRows, {settings_.rows_max});
    }
    if (arena.used_bytes() + cells_.size() * sizeof(Value) > bytes_max) {
      return base::make_error(errors::kResultTooLarge, {bytes_max});
    }
    for (size_t i = 0; i < p.columns.size(); ++i) {
      Value v;
      MS_TRY(reader.read(i, v));
      cells_.push_back(v);
    }
  }
  auto* names = static_cast<std::string_view*>(
      arena.allocate(p.columns.size() * sizeof(std::string_view), alignof(std::string_view)));
  for (size_t i = 0; i < p.columns.size(); ++i) {
    new (&names[i]) std::string_view(arena.copy(p.columns[i].name));
  }
  auto* cells =
      static_cast<Value*>(arena.allocate(cells_.size() * sizeof(Value) + 1, alignof(Value)));
  std::copy(cells_.begin(), cells_.end(), cells);
  out.columns = {names, p.columns.size()};
  out.cells = {cells, cells_.size()};
  out.row_count = count;
  return {};
}

}  // namespace millstream::sql
