#include "sql/settings.h"

#include <cstdlib>

#include "text/utf8.h"

namespace millstream::sql {
namespace {

// Whether a connection string has this attribute: KEY=value;KEY={va;lue}
bool has_attribute(std::string_view connection, std::string_view key) {
  size_t at = 0;
  while (at < connection.size()) {
    const size_t equals = connection.find('=', at);
    if (equals == std::string_view::npos) return false;
    std::string_view name = connection.substr(at, equals - at);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    if (text::equals_ignoring_ascii_case(name, key)) return true;
    size_t end = equals + 1;
    if (end < connection.size() && connection[end] == '{') {
      end = connection.find('}', end);
      if (end == std::string_view::npos) return false;
    }
    end = connection.find(';', end);
    if (end == std::string_view::npos) return false;
    at = end + 1;
  }
  return false;
}

// Braces keep semicolons in a value from starting another attribute.
std::string attribute_value(std::string_view value) {
  if (value.find_first_of(";{}[]()?*=!@, ") == std::string_view::npos) return std::string(value);
  std::string out = "{";
  for (char c : value) {
    out += c;
    if (c == '}') out += c;
  }
  return out + "}";
}

void add_attribute(std::string& connection, std::string_view key, std::string_view value) {
  if (!connection.empty() && connection.back() != ';') connection += ';';
  connection += std::string(key) + "=" + attribute_value(value);
}

struct DatabaseType {
  std::string_view word;  // how databaseType begins, in lower case
  const char* driver;     // the usual name in odbcinst.ini
  const char* server_key;
  const char* port_key;
  const char* database_key;
};
constexpr DatabaseType kDatabaseTypes[] = {
    {"postgres", "PostgreSQL Unicode", "Server", "Port", "Database"},
    {"db2", "IBM DB2 ODBC DRIVER", "Hostname", "Port", "Database"},
    {"oracle", "Oracle", "", "", "DBQ"},
    {"mysql", "MariaDB Unicode", "Server", "Port", "Database"},
    {"mariadb", "MariaDB Unicode", "Server", "Port", "Database"},
    {"microsoft sql server", "FreeTDS", "Server", "Port", "Database"},
    {"sqlserver", "FreeTDS", "Server", "Port", "Database"},
    {"sqlite", "SQLite3", "", "", "Database"},
};

const DatabaseType* find_type(std::string_view name) {
  for (const DatabaseType& t : kDatabaseTypes) {
    if (name.size() >= t.word.size() &&
        text::equals_ignoring_ascii_case(name.substr(0, t.word.size()), t.word)) {
      return &t;
    }
  }
  return nullptr;
}

}  // namespace

std::string_view bare_name(std::string_view name) {
  if (name.empty() || name[0] != '{') return name;
  const size_t end = name.find("}:");
  return end == std::string_view::npos ? name : name.substr(end + 2);
}

std::string connection_string(const DataSourceSettings& settings) {
  std::string out = settings.connection;
  if (out.empty()) add_attribute(out, "DSN", settings.name);
  if (!settings.user.empty() && !has_attribute(out, "UID"))
    add_attribute(out, "UID", settings.user);
  if (!settings.password.empty() && !has_attribute(out, "PWD")) {
    add_attribute(out, "PWD", settings.password);
  }
  return out;
}

DataSourceSettings settings_of_policy(std::string_view name, const PolicyProperties& policy,
                                      const std::map<std::string, std::string>& drivers,
                                      const Credentials& credentials, std::string& error) {
  DataSourceSettings out;
  out.name = std::string(name);
  const std::string type_name = policy.get("databaseType");
  const DatabaseType* type = find_type(type_name);
  if (!type) {
    error = "the database type '" + type_name + "' of its policy is not known.";
    return out;
  }
  std::string driver = type->driver;
  if (auto it = drivers.find(std::string(type->word)); it != drivers.end()) driver = it->second;
  add_attribute(out.connection, "Driver", driver);
  const std::string server = policy.get("serverName"), port = policy.get("portNumber");
  const std::string database = policy.get("databaseName");
  if (type->word == "oracle") {
    // EZCONNECT: host:port/service
    add_attribute(out.connection, type->database_key,
                  server + (port.empty() ? "" : ":" + port) + "/" + database);
  } else {
    if (*type->server_key && !server.empty()) {
      add_attribute(out.connection, type->server_key, server);
    }
    if (*type->port_key && !port.empty() && port != "0") {
      add_attribute(out.connection, type->port_key, port);
    }
    add_attribute(out.connection, type->database_key, database);
  }
  const std::string identity = policy.get("securityIdentity");
  for (const std::string& key : {"jdbc::" + identity, "odbc::" + identity, identity}) {
    auto it = credentials.find(key);
    if (identity.empty() || it == credentials.end()) continue;
    out.user = it->second.user;
    out.password = it->second.password;
    break;
  }
  const long connections = std::strtol(policy.get("maxConnectionPoolSize").c_str(), nullptr, 10);
  if (connections > 0) out.connections_max = static_cast<size_t>(connections);
  return out;
}

}  // namespace millstream::sql
