// Ports of messaging clients of one queue manager, each with the name of a channel: the usual ones
// of the protocols, and channels of types AMQP and MQTT that an administrator defines and starts
// (DEFINE CHANNEL, START CHANNEL, STOP CHANNEL).
//
// - Channels that were started by command start again with the server, until they are stopped by
//   command. A usual port that was stopped by command is open again after a restart.
// - What is started before start(), by scripts, opens then.
// - A channel with SSLCIPH has TLS, with the keys of Millstream/Messaging.
// Order: it is made before its queue manager; start() when that has recovered, stop() before that
// stops. Destroyed when the reactors have ended; the queue manager asks nothing of it then.
// Thread: start and stop the owner's; the rest any. Locks: control, then list (leaf).
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "queue/objects/admin_target.h"
#include "server/wire_conf.h"
#include "wire/common/protocol.h"

namespace millstream::server {

// A port that is to be opened, with its twin for TLS. 0: none; kAnyWirePort: any free one.
struct WirePort {
  const wire::ProtocolSpec* protocol = nullptr;
  std::string channel;
  std::string host;
  int port = 0;
  int tls_port = 0;
  // Somebody has asked for this very port; else a port that is taken is only warned about.
  bool is_port_asked = false;
  bool is_tls_port_asked = false;
  wire::EndpointLimits limits;
  net::TlsServerSettings tls;
};

class WireChannels final : public queue::objects::ChannelHost {
 public:
  struct Options {
    wire::Broker::Options broker;
    net::ReactorPool* reactors = nullptr;
    std::string host;
    WireConf conf;               // limits
    net::TlsServerSettings tls;  // no key store: channels with SSLCIPH do not start
  };
  // A port that is open.
  struct Open {
    std::string url;  // "amqps://*:5671"
    std::string channel;
  };

  WireChannels() = default;
  ~WireChannels() override;
  WireChannels(const WireChannels&) = delete;
  WireChannels& operator=(const WireChannels&) = delete;

  // Opens the usual ports and the channels that were started before. Warnings are diagnostics; a
  // channel that cannot start is only logged.
  Status start(Options options, std::vector<WirePort> usual, base::Diagnostics& diagnostics);
  // Clients are told, and have a moment to go. Idempotent.
  void stop();
  std::vector<Open> ports() const;
  void collect_metrics(base::MetricWriter& writer) const;

  std::vector<queue::objects::ChannelStatus> channel_status(
      std::string_view pattern) const override;
  std::vector<queue::objects::ListenerStatus> listener_status(
      std::string_view pattern) const override;
  void control(queue::objects::ControlRequest request, queue::objects::AdminDone done) override;

 private:
  struct Running {
    WirePort wish;
    std::shared_ptr<wire::Endpoint> endpoint;  // a reader of status holds it, too
    int64_t started_gmt_ms = 0;
  };
  using AdminResult = queue::objects::AdminResult;

  Status open(const WirePort& wish, base::Diagnostics* diagnostics);
  Status listen(wire::Endpoint& endpoint, const WirePort& wish, base::Diagnostics* diagnostics);
  Result<wire::Protocol*> protocol_of(const wire::ProtocolSpec& spec);
  AdminResult start_channel(const std::string& name);
  AdminResult stop_channel(const std::string& name, bool is_forced);
  AdminResult wish_of_channel(const std::string& name, WirePort& wish);
  void keep_started(const std::string& name, bool is_started);
  void start_kept();
  std::vector<Running> running() const;
  bool is_running(std::string_view channel) const;

  Options options_;
  std::unique_ptr<wire::Broker> broker_;
  std::vector<WirePort> usual_;
  std::mutex control_mutex_;            // one change at a time; guards what is above, and the next
  std::set<std::string> before_start_;  // channels that scripts have started
  bool is_started_ = false;
  bool is_stopped_ = false;
  // Guards what follows; `protocols_` is changed under both.
  mutable std::mutex list_mutex_;
  std::map<std::string_view, std::unique_ptr<wire::Protocol>> protocols_;  // by name
  std::vector<Running> running_;
  // Sessions that calls still hold refer to their endpoint.
  std::vector<std::shared_ptr<wire::Endpoint>> retired_;
};

}  // namespace millstream::server
