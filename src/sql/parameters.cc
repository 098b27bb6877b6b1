// Values into statements.
//
// CHARACTER goes as Unicode text; INTEGER as a 64-bit number; DECIMAL as digits, which keeps it
// exact; dates and times as the structures of ODBC. Differences of drivers: PostgreSQL infers the
// type of a parameter that comes as text, which makes an INTEGER fit a column of any type, so
// INTEGER and TIME go as text there; SQLite keeps dates as text, so they go as the text that its
// functions read.
#include <sql.h>
#include <sqlext.h>

#include <cstring>

#include "sql/errors_gen.h"
#include "sql/prepared.h"
#include "value/datetime.h"
#include "value/decimal.h"

namespace millstream::sql {

using value::Kind;
using value::Value;

char parameter_type(const Value& v, Dialect dialect) {
  switch (v.kind) {
    case Kind::kNull:
      return 'z';
    case Kind::kBoolean:
      return 'b';
    case Kind::kInteger:
      return dialect == Dialect::kPostgres ? 't' : 'i';
    case Kind::kFloat:
      return 'f';
    case Kind::kDecimal:
      return 'n';
    case Kind::kCharacter:
      return 'c';
    case Kind::kBlob:
      return 'x';
    case Kind::kDate:
      return dialect == Dialect::kSqlite ? 't' : 'd';
    case Kind::kTime:
    case Kind::kGmtTime:
      return dialect == Dialect::kGeneric ? 'h' : 't';
    case Kind::kTimestamp:
    case Kind::kGmtTimestamp:
      return dialect == Dialect::kSqlite ? 't' : 's';
    case Kind::kBit:
    case Kind::kInterval:
      return 0;
  }
  return 0;
}

namespace {

// What SQLBindParameter is told for one value.
struct Binding {
  SQLSMALLINT c_type = SQL_C_CHAR, sql_type = SQL_VARCHAR;
  SQLULEN size = 1;
  SQLSMALLINT digits = 0;
  void* data = nullptr;
  SQLLEN data_size = 0;
};

constexpr size_t kVarcharMax = 4000;  // characters or bytes; longer values go as long types

void set_narrow(BoundParameter& p, std::string_view text, Binding& b) {
  p.narrow.assign(text.begin(), text.end());
  if (p.narrow.empty()) p.narrow.reserve(1);
  p.length = static_cast<int64_t>(text.size());
  b.data = p.narrow.data();
  b.data_size = p.length;
  b.size = text.empty() ? 1 : text.size();
}

void set_text(BoundParameter& p, const Value& v, Dialect dialect, Binding& b) {
  if (dialect == Dialect::kSqlite) {
    set_narrow(p, v.text(), b);
    b.sql_type = v.text().size() > kVarcharMax ? SQL_LONGVARCHAR : SQL_VARCHAR;
    return;
  }
  p.wide.clear();
  append_wide(v.text(), p.wide);
  if (p.wide.empty()) p.wide.reserve(1);
  p.length = static_cast<int64_t>(p.wide.size() * sizeof(char16_t));
  b.c_type = SQL_C_WCHAR;
  b.sql_type = p.wide.size() > kVarcharMax ? SQL_WLONGVARCHAR : SQL_WVARCHAR;
  b.size = p.wide.empty() ? 1 : p.wide.size();
  b.data = p.wide.data();
  b.data_size = p.length;
}

// One of ODBC's structures for dates and times; `size` in characters of its text.
template <typename Struct>
void set_struct(BoundParameter& p, const Struct& s, SQLSMALLINT c_type, SQLSMALLINT sql_type,
                SQLULEN size, Binding& b) {
  static_assert(sizeof s <= sizeof p.bytes);
  std::memcpy(p.bytes, &s, sizeof s);
  b.c_type = c_type;
  b.sql_type = sql_type;
  b.size = size;
  b.data = p.bytes;
  p.length = sizeof s;
}

void set_timestamp(BoundParameter& p, const Value& v, Binding& b) {
  value::DateTimeFields f = value::decompose(v);
  SQL_TIMESTAMP_STRUCT s{};
  s.year = static_cast<SQLSMALLINT>(f.year);
  s.month = static_cast<SQLUSMALLINT>(f.month);
  s.day = static_cast<SQLUSMALLINT>(f.day);
  s.hour = static_cast<SQLUSMALLINT>(f.hour);
  s.minute = static_cast<SQLUSMALLINT>(f.minute);
  s.second = static_cast<SQLUSMALLINT>(f.second);
  s.fraction = static_cast<SQLUINTEGER>(f.micros) * 1000;
  set_struct(p, s, SQL_C_TYPE_TIMESTAMP, SQL_TYPE_TIMESTAMP, 26, b);
  b.digits = 6;
}

void set_date(BoundParameter& p, const Value& v, Binding& b) {
  value::DateTimeFields f = value::decompose(v);
  SQL_DATE_STRUCT s{static_cast<SQLSMALLINT>(f.year), static_cast<SQLUSMALLINT>(f.month),
                    static_cast<SQLUSMALLINT>(f.day)};
  set_struct(p, s, SQL_C_TYPE_DATE, SQL_TYPE_DATE, 10, b);
}

void set_time(BoundParameter& p, const Value& v, Binding& b) {
  value::DateTimeFields f = value::decompose(v);
  SQL_TIME_STRUCT s{static_cast<SQLUSMALLINT>(f.hour), static_cast<SQLUSMALLINT>(f.minute),
                    static_cast<SQLUSMALLINT>(f.second)};
  set_struct(p, s, SQL_C_TYPE_TIME, SQL_TYPE_TIME, 8, b);
}

void set_number_text(BoundParameter& p, const Value& v, Binding& b) {
  const value::Decimal d = v.as_decimal();
  set_narrow(p, d.to_text(), b);
  b.sql_type = SQL_DECIMAL;
  const int scale = d.scale() > 0 ? d.scale() : 0;
  b.size =
      static_cast<SQLULEN>(scale > value::Decimal::kMaxDigits ? scale : value::Decimal::kMaxDigits);
  b.digits = static_cast<SQLSMALLINT>(scale > 127 ? 127 : scale);
}

void bind_value(BoundParameter& p, const Value& v, Dialect dialect, Binding& b) {
  switch (parameter_type(v, dialect)) {
    case 'z':
      p.length = SQL_NULL_DATA;
      break;
    case 'b':
      set_narrow(p, v.boolean() ? "1" : "0", b);
      if (dialect != Dialect::kPostgres) b.sql_type = SQL_BIT;
      break;
    case 'i':
      p.integer = v.integer;
      b.c_type = SQL_C_SBIGINT;
      b.sql_type = SQL_BIGINT;
      b.size = 19;
      b.data = &p.integer;
      p.length = sizeof p.integer;
      break;
    case 'f':
      p.real = v.real;
      b.c_type = SQL_C_DOUBLE;
      b.sql_type = SQL_DOUBLE;
      b.size = 53;
      b.data = &p.real;
      p.length = sizeof p.real;
      break;
    case 'n':
      set_number_text(p, v, b);
      break;
    case 'c':
      set_text(p, v, dialect, b);
      break;
    case 'x':
      set_narrow(p, v.text(), b);
      b.c_type = SQL_C_BINARY;
      b.sql_type = v.text().size() > kVarcharMax ? SQL_LONGVARBINARY : SQL_VARBINARY;
      break;
    case 'd':
      set_date(p, v, b);
      break;
    case 's':
      set_timestamp(p, v, b);
      break;
    case 'h':
      set_time(p, v, b);
      break;
    case 't':
      set_narrow(
          p, v.kind == Kind::kInteger ? std::to_string(v.integer) : value::format_literal_body(v),
          b);
      break;
    default:
      break;
  }
}

}  // namespace

Status Connection::bind(Prepared& prepared, std::span<const Value> values) {
  while (prepared.parameters.size() < values.size()) {
    prepared.parameters.push_back(std::make_unique<BoundParameter>());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    BoundParameter& p = *prepared.parameters[i];
    Binding b;
    bind_value(p, values[i], dialect_, b);
    const char type = parameter_type(values[i], dialect_);
    const int64_t size = static_cast<int64_t>(b.size);
    // What the driver was told last time still holds: it reads the new value where the old one was.
    if (p.type == type && p.bound_data == b.data && p.bound_size >= size &&
        p.bound_digits == b.digits) {
      continue;
    }
    const SQLRETURN rc = SQLBindParameter(
        prepared.handle, static_cast<SQLUSMALLINT>(i + 1), SQL_PARAM_INPUT, b.c_type, b.sql_type,
        b.size, b.digits, b.data, b.data_size, reinterpret_cast<SQLLEN*>(&p.length));
    if (!SQL_SUCCEEDED(rc)) return failure(SQL_HANDLE_STMT, prepared.handle, rc);
    p.type = type;
    p.bound_data = b.data;
    p.bound_size = size;
    p.bound_digits = b.digits;
  }
  return {};
}

}  // namespace millstream::sql
