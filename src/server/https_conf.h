// What server.conf.yaml says about TLS and credentials:
//   ResourceManagers/HTTPSConnector   the HTTPS port: keys, trust, client certificates, ciphers
//   ResourceManagers/JVM              the server's key store and trust store, also of requests out
//   Credentials/ServerCredentials     user names, passwords and tokens, by type and name
//   forceServerHTTPS                  every HTTPInput is on HTTPS
// Passwords are given as they are, or as the name of a credential (types keystore, keystorekey,
// truststore). Relative file names are below the work directory.
// Thread: one, at start.
#pragma once
#include <optional>
#include <string>

#include "base/diagnostics.h"
#include "net/tls_context.h"
#include "nodes/common/credentials.h"
#include "nodes/common/http_security.h"

namespace millstream::format {
struct YamlNode;
}

namespace millstream::server {

struct HttpsConf {
  std::optional<int> port;  // ListenerPort; 0 is the usual one, as in the product
  std::string address;      // ListenerAddress
  net::TlsServerSettings tls;
  nodes::common::HttpTlsSettings client;  // the JVM resource manager's stores
  nodes::common::Credentials credentials;
  bool forces_https = false;
};

// Reads one file; keys that are not there leave what an earlier file has said.
void apply_https_conf(const std::string& file, const format::YamlNode& root, HttpsConf& conf,
                      base::Diagnostics& diagnostics);
// After all files: passwords by name, file names below `work_folder`, stores that HTTPSConnector
// leaves to the JVM resource manager.
void finish_https_conf(const std::string& work_folder, HttpsConf& conf);
// The keys of an HTTPSConnector in a section of another name, before finish_https_conf().
void apply_tls_connector(const std::string& file, const format::YamlNode& section,
                         const std::string& path, HttpsConf& conf, base::Diagnostics& diagnostics);
// An HTTPSConnector section by itself, which messages call `path`, over finished settings. A store
// that it names is taken with its password, not with that of the one before.
void apply_https_connector(const std::string& file, const format::YamlNode& section,
                           const std::string& path, const std::string& work_folder, HttpsConf& conf,
                           base::Diagnostics& diagnostics);

}  // namespace millstream::server
