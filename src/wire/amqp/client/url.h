// Where an AMQP broker is: amqp://[USER[:PASSWORD]@]HOST[:PORT], amqps:// with TLS.
// Thread: any.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace millstream::wire::amqp::client {

inline constexpr int kPlainPort = 5672;
inline constexpr int kTlsPort = 5671;

struct BrokerUrl {
  bool has_tls = false;
  std::string user, password;  // decoded; empty: not given
  std::string host;            // without brackets for IPv6
  int port = kPlainPort;
};

// Whether the text is meant to be one.
bool is_broker_url(std::string_view text);
Result<BrokerUrl> parse_broker_url(std::string_view text);

}  // namespace millstream::wire::amqp::client
