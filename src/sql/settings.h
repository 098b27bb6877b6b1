// What is known of a data source before it is connected to: where it is, as whom, and its limits.
// Thread: any (values only).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace millstream::sql {

struct DataSourceSettings {
  static constexpr size_t kDefaultConnectionsMax = 32;
  static constexpr size_t kDefaultRowsMax = 1'000'000;
  static constexpr size_t kDefaultColumnBytesMax = 64u << 20;

  std::string name;  // as flows and ESQL write it
  // ODBC connection string. Empty: the name is a DSN of odbc.ini.
  std::string connection;
  // Added to the connection string when it has none of its own.
  std::string user, password;
  // 0: kDefaultConnectionsMax, or one for SQLite, which has one writer and fails others.
  size_t connections_max = 0;
  size_t rows_max = kDefaultRowsMax;
  size_t column_bytes_max = kDefaultColumnBytesMax;
  int64_t wait_ns = 30'000'000'000;  // for a free connection
  int64_t idle_ns = 60'000'000'000;  // unused connections are closed then
  int64_t statement_timeout_s = 0;   // SQL_ATTR_QUERY_TIMEOUT; 0: none
};

// The connection string that SQLDriverConnect gets: with DSN, UID and PWD where they are missing.
std::string connection_string(const DataSourceSettings& settings);

// "{Project}:Policy" -> "Policy"; other names as they are.
std::string_view bare_name(std::string_view name);

// User and password of a resource, as `Credentials` in server.conf.yaml and mqsisetdbparms have
// them, by "odbc::NAME", "jdbc::NAME" or "NAME".
struct Credential {
  std::string user, password;
};
using Credentials = std::map<std::string, Credential, std::less<>>;

// The properties of a JDBCProviders policy as an ODBC data source. `drivers`: database type in
// lower case -> name of the ODBC driver in odbcinst.ini, where it is not the usual one.
struct PolicyProperties {
  std::map<std::string, std::string, std::less<>> values;
  std::string get(std::string_view name) const {
    auto it = values.find(name);
    return it == values.end() ? std::string() : it->second;
  }
};
// `error` is set when the policy cannot be translated.
DataSourceSettings settings_of_policy(std::string_view name, const PolicyProperties& policy,
                                      const std::map<std::string, std::string>& drivers,
                                      const Credentials& credentials, std::string& error);

}  // namespace millstream::sql
