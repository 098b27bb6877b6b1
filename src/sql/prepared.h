// A prepared statement of one connection, with its bound parameters. Internal to src/sql.
// Thread: that of its connection.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sql/connection.h"

namespace millstream::sql {

struct ResultColumn {
  std::string name;
  value::Kind kind = value::Kind::kCharacter;
  bool is_text_first = false;  // dates and numbers that are read as text and parsed
};

// Memory that the driver reads a parameter from, or writes it to, during execution.
struct BoundParameter {
  char type = 0;  // of bind_value(): what SQLBindParameter was last told
  union {
    int64_t integer;
    double real;
    unsigned char bytes[16];  // SQL_DATE_STRUCT, SQL_TIMESTAMP_STRUCT
  };
  int64_t length = 0;  // SQLLEN indicator
  std::vector<char16_t> wide;
  std::vector<char> narrow;
  const void* bound_data = nullptr;
  int64_t bound_size = -1;
  int bound_digits = 0;
};

struct Prepared {
  explicit Prepared(void* statement) : handle(statement) {}
  ~Prepared();
  std::string key;
  void* handle;  // SQLHSTMT
  std::vector<std::unique_ptr<BoundParameter>> parameters;
  std::vector<ResultColumn> columns;
  bool is_described = false;
  // The types of some columns are those of the first execution's values: not to be used again.
  bool is_for_once = false;
};

// The letter for how a value is bound; part of the key of a prepared statement, because a server
// fixes the types of parameters when it prepares. 0: not supported.
char parameter_type(const value::Value& v, Dialect dialect);

}  // namespace millstream::sql
