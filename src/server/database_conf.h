// Where databases are: the data sources of server.conf.yaml, its credentials for them, and the
// JDBCProviders policies of the workspace. A name that none of them knows is a DSN of odbc.ini.
//
//   Millstream:
//     DataSources:
//       SHOP: "Driver=SQLite3;Database=${WorkPath}/shop.db"
//       BILLING: {connection: "...", user: u, password: p, maxConnections: 8}
//     OdbcDrivers: {oracle: "Oracle 21 ODBC driver"}     for policies, by database type
//   Credentials:
//     ServerCredentials: {odbc: {SHOP: {username: u, password: p}}, jdbc: {...}}
//
// ${NAME} in a connection string, user or password is a variable of the environment; ${WorkPath} is
// the work directory. Thread: one, while loading.
#pragma once
#include <string>

#include "ace/workspace.h"
#include "base/diagnostics.h"
#include "sql/data_source.h"

namespace millstream::server {

// Reads everything anew and gives it to `sources`. False: there were errors; what could be read is
// given all the same, unless `is_change`.
bool configure_databases(const std::string& work_folder, const ace::Workspace& workspace,
                         sql::DataSources& sources, base::Diagnostics& diagnostics,
                         bool is_change = false);

}  // namespace millstream::server
