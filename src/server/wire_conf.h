// What server.conf.yaml says about ports of messaging clients:
//   Millstream/Messaging             address, key and certificate, client certificates (the keys of
//                                    an HTTPSConnector; what is left out is the JVM manager's)
//   Millstream/Messaging/AMQP|MQTT|STOMP
//       Port, TlsPort                0: none
//       Channel                      whose rules (SET CHLAUTH) apply
//       MaxConnections, MaxConnectionsPerAddress, MaxConnectionsPerSecond, LoginSeconds,
//       StallSeconds, MaxMessageBytes, MaxLinks, MaxUnsettledBytes
// Thread: one, at start.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "server/https_conf.h"
#include "wire/common/endpoint.h"

namespace millstream::format {
struct YamlNode;
}

namespace millstream::server {

inline constexpr int kNoWirePort = 0;
inline constexpr int kAnyWirePort = -2;  // any free one

// Of the command line, by the name of the flag without "-port": "amqp", "amqps". What is not there
// was not given.
struct WireFlags {
  std::map<std::string, int, std::less<>> ports;
  std::string keystore;
  std::optional<int> port(std::string_view name) const;
};

struct WireProtocolConf {
  std::optional<int> port;
  std::optional<int> tls_port;
  std::string channel;  // empty: the protocol's
  wire::EndpointLimits limits;
};

struct WireConf {
  HttpsConf https;  // the part of it that a TLS port needs
  std::map<std::string, WireProtocolConf, std::less<>> protocols;  // by name: "amqp"

  const net::TlsServerSettings& tls() const { return https.tls; }
  WireProtocolConf of(std::string_view protocol) const;
};

// Reads one file; keys that are not there leave what an earlier file has said.
void apply_wire_conf(const std::string& file, const format::YamlNode& root, WireConf& conf,
                     base::Diagnostics& diagnostics);
// After all files, but before finish_https_conf() of `server`, which has the credentials and the
// JVM manager's stores.
void finish_wire_conf(const std::string& work_folder, const HttpsConf& server, WireConf& conf);

}  // namespace millstream::server
