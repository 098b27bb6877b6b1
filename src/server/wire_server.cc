#include "server/wire_server.h"

#include "base/log.h"
#include "server/errors_gen.h"
#include "server/wire_protocols.h"

namespace millstream::server {
namespace {

// The command line, else the file, else the usual number.
struct PortChoice {
  int port = kNoWirePort;
  bool is_asked = false;
};

PortChoice choose(std::optional<int> flag, std::optional<int> conf, int usual) {
  if (flag) return {*flag, true};
  if (conf) return {*conf, true};
  return {usual, false};
}

}  // namespace

std::string WireServer::who_needs_manager(const WireFlags& flags, const WireConf& conf) {
  for (const auto& [name, port] : flags.ports) {
    if (port != kNoWirePort) return "--" + name + "-port";
  }
  for (const auto& [name, protocol] : conf.protocols) {
    if (protocol.port.value_or(0) != 0 || protocol.tls_port.value_or(0) != 0) {
      return "Millstream/Messaging of server.conf.yaml";
    }
  }
  return {};
}

WireChannels& WireServer::channels_of(const std::string& manager) {
  std::unique_ptr<WireChannels>& channels = channels_[manager];
  if (channels == nullptr) channels = std::make_unique<WireChannels>();
  return *channels;
}

Status WireServer::start(Options options, QueueManagers& managers, net::ReactorPool& reactors,
                         base::Diagnostics& diagnostics) {
  const std::string& configured = options.conf.https.address;
  const bool is_configured = !configured.empty() && configured != "*";
  const std::string host = options.host == "0.0.0.0" && is_configured ? configured : options.host;
  net::TlsServerSettings tls = options.conf.tls();
  if (!options.flags.keystore.empty()) tls.keystore = {options.flags.keystore, "", ""};
  tls.offers_http2 = false;
  const std::vector<WirePort> usual = MS_TRY(usual_ports(options, host, tls));
  for (const auto& [name, channels] : channels_) {
    WireChannels::Options channel;
    channel.broker.manager = managers.find(name);
    if (channel.broker.manager == nullptr) continue;
    channel.broker.authenticator = managers.authenticator();
    channel.broker.is_dev = options.is_dev;
    channel.broker.executor = [&managers](const net::Reactor& r) -> base::Executor& {
      return managers.executor(r);
    };
    channel.reactors = &reactors;
    channel.host = host;
    channel.conf = options.conf;
    channel.tls = tls;
    const bool is_default = name == managers.default_name();
    MS_TRY(channels->start(std::move(channel), is_default ? usual : std::vector<WirePort>(),
                           diagnostics));
    for (const WireChannels::Open& port : channels->ports()) {
      base::log_event(
          base::LogLevel::kInfo, "MS2047I",
          "Queue manager " + name + " listens on " + port.url + ", channel " + port.channel + ".");
    }
  }
  return {};
}

Result<std::vector<WirePort>> WireServer::usual_ports(const Options& options,
                                                      const std::string& host,
                                                      const net::TlsServerSettings& tls) const {
  std::vector<WirePort> out;
  for (std::string_view name : kWireProtocolNames) {
    const wire::ProtocolSpec* spec = find_wire_protocol(name);
    const std::string flag(name), tls_flag = flag + "s";
    if (spec == nullptr) {
      for (const std::string& asked : {flag, tls_flag}) {
        if (options.flags.port(asked).value_or(kNoWirePort) == kNoWirePort) continue;
        return base::make_error(errors::kWireProtocolMissing, {asked});
      }
      continue;
    }
    const WireProtocolConf conf = options.conf.of(name);
    const PortChoice plain = choose(options.flags.port(flag), conf.port, spec->port);
    const PortChoice secure = choose(options.flags.port(tls_flag), conf.tls_port, spec->tls_port);
    WirePort port;
    port.protocol = spec;
    port.channel = conf.channel.empty() ? spec->channel : conf.channel;
    port.host = host;
    port.port = plain.port;
    port.is_port_asked = plain.is_asked;
    // Without a key the usual port for TLS is not missed.
    const bool has_key = !tls.keystore.path.empty();
    port.tls_port = secure.is_asked || has_key ? secure.port : kNoWirePort;
    port.is_tls_port_asked = secure.is_asked;
    port.limits = conf.limits;
    port.tls = tls;
    out.push_back(std::move(port));
  }
  return out;
}

void WireServer::stop() {
  for (const auto& [name, channels] : channels_) channels->stop();
}

std::vector<WireChannels::Open> WireServer::ports() const {
  std::vector<WireChannels::Open> out;
  for (const auto& [name, channels] : channels_) {
    for (WireChannels::Open& port : channels->ports()) out.push_back(std::move(port));
  }
  return out;
}

void WireServer::collect_metrics(base::MetricWriter& writer) const {
  for (const auto& [name, channels] : channels_) channels->collect_metrics(writer);
}

}  // namespace millstream::server
