// What server.conf.yaml says about calls between servers, below Millstream/CallableFlows:
//   Secret            both servers have it; ${NAME} is taken from the environment
//   Remote            Application/endpoint, or Application/*, to the URL of the server that has it
//   UseHTTPS          calls of other servers come by the HTTPS port alone
//   HostnameChecking  the certificate of the other server must be for its host; the default
//   KeyAlias          entry of the key store to identify with at the other server
// Thread: one, at start.
#pragma once
#include <string>

#include "base/diagnostics.h"
#include "nodes/callable/remote_calls.h"

namespace millstream::format {
struct YamlNode;
}

namespace millstream::server {

// Reads one file; keys that are not there leave what an earlier file has said.
void apply_callable_conf(const std::string& file, const format::YamlNode& root,
                         nodes::callable::RemoteCallSettings& settings,
                         base::Diagnostics& diagnostics);

}  // namespace millstream::server
