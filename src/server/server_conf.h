// The settings of a work directory: server.conf.yaml, with overrides/server.conf.yaml winning key
// by key, and the property overrides below overrides/. Keys that are not read here are accepted,
// except below Millstream: the file is that of the product, and most of it configures what this
// server does not have.
// Thread: one, at start.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ace/overrides.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "nodes/callable/remote_calls.h"
#include "nodes/http/cors.h"
#include "observe/settings.h"
#include "server/admin_conf.h"
#include "server/https_conf.h"
#include "server/policy_conf.h"
#include "server/wire_conf.h"

namespace millstream::server {

struct ServerConf {
  std::string server_name;
  std::optional<int> http_port;       // ResourceManagers/HTTPConnector/ListenerPort
  std::string http_address;           // ResourceManagers/HTTPConnector/ListenerAddress
  AdminConf admin;                    // RestAdminListener, Security/Permissions
  std::string default_queue_manager;  // defaultQueueManager
  std::map<std::string, std::string, std::less<>> user_variables;
  bool resolves_environment = false;  // resolveUserVariableEnvVars
  observe::Settings observe;          // Statistics, OpenTelemetry, traceNodeLevel, ActivityLog
  nodes::callable::RemoteCallSettings remote_calls;  // Millstream/CallableFlows
  HttpsConf https;          // HTTPSConnector, JVM, Credentials, forceServerHTTPS
  WireConf wire;            // Millstream/Messaging
  PolicyDefaults policies;  // Defaults/policyProject, Defaults/Policies
  nodes::http::CorsSettings cors, secure_cors;  // CORS keys of HTTPConnector, HTTPSConnector
  std::map<char, std::string> drives;           // Millstream/Drives: {C: /srv/c}
};

// The port and address of an HTTPConnector section, which messages call `path`.
void apply_http_connector(const std::string& file, const format::YamlNode& section,
                          const std::string& path, ServerConf& conf,
                          base::Diagnostics& diagnostics);
// Reads what is there; a missing file is no error. Property overrides go to `overrides`.
ServerConf read_work_folder(const std::string& folder, ace::Overrides& overrides,
                            base::Diagnostics& diagnostics);

}  // namespace millstream::server
