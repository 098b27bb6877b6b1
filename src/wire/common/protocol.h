// How a protocol plugs into a server. Its folder has a protocol.h with one function,
//
//   const ProtocolSpec& stomp::protocol();
//
// and server/wire_protocols.cc lists it, one line a protocol. Everything else follows from the
// record: the flags of `millstream run`, keys of server.conf.yaml, ports, channels, metrics.
//
// A Protocol is made once a queue manager and serves all its ports of that protocol, so it is the
// place for what sessions share (MQTT's clients, durable records).
//
//   make(broker)      the queue manager has recovered; nothing listens
//   start()           once, before the first port opens: take over what a start has found
//   make_session()    for each connection, on its reactor; a session belongs to its host
//   stop()            once, when all sessions have ended and before the queue manager stops
//   destruction       after the reactors have ended, so callbacks may still refer to it
// Thread: make_session() the host's reactor, several at a time; the rest the server's own.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wire/common/endpoint.h"

namespace millstream::wire {

class Protocol {
 public:
  virtual ~Protocol() = default;
  virtual Status start() { return {}; }
  virtual std::shared_ptr<Session> make_session(SessionHost& host,
                                                std::unique_ptr<Transport> transport) = 0;
  virtual void stop() {}
  // Beside what all protocols count (Endpoint::collect_metrics).
  virtual void collect_metrics(base::MetricWriter&) const {}
};

struct ProtocolSpec {
  std::string_view name;   // "stomp": --stomp-port, --stomps-port; in metrics and logs
  std::string_view title;  // "STOMP": in server.conf.yaml and to people
  int port = 0;            // the usual ones
  int tls_port = 0;
  // Whose rules (SET CHLAUTH) apply to the usual ports.
  std::string_view channel;
  queue::objects::ChannelType channel_type = queue::objects::ChannelType::kSvrconn;
  std::vector<std::string> websocket_subprotocols;  // empty: no WebSocket
  bool websocket_sends_text = false;
  std::unique_ptr<Protocol> (*make)(Broker& broker) = nullptr;
};

}  // namespace millstream::wire
