// Where messaging clients come in (AMQP, MQTT, STOMP), for all queue managers of a server. The
// usual ports lead to the default queue manager: those of the command line, else of
// server.conf.yaml, else the protocols' own. A usual port that nobody has asked for and that is
// taken is warned about; one that was asked for and is taken ends the start. Ports for TLS are
// opened when there is a key store.
// Order: made before the queue managers, start() after their scripts, stop() before they stop;
// destroyed when the reactors have ended and before the queue managers are.
// Thread: start and stop the owner's; the rest any.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/queue_managers.h"
#include "server/wire_channels.h"
#include "server/wire_conf.h"

namespace millstream::server {

class WireServer {
 public:
  struct Options {
    WireFlags flags;
    WireConf conf;
    std::string host;  // of the command line
    bool is_dev = false;
  };

  // Which option or key makes no sense without a queue manager; empty: none.
  static std::string who_needs_manager(const WireFlags& flags, const WireConf& conf);
  // Made when it is asked for, while the queue manager opens.
  WireChannels& channels_of(const std::string& manager);
  Status start(Options options, QueueManagers& managers, net::ReactorPool& reactors,
               base::Diagnostics& diagnostics);
  void stop();
  std::vector<WireChannels::Open> ports() const;
  void collect_metrics(base::MetricWriter& writer) const;

 private:
  Result<std::vector<WirePort>> usual_ports(const Options& options, const std::string& host,
                                            const net::TlsServerSettings& tls) const;

  std::map<std::string, std::unique_ptr<WireChannels>, std::less<>> channels_;
};

}  // namespace millstream::server
