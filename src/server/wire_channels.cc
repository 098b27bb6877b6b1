#include "server/wire_channels.h"

#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "net/blocking_pool.h"
#include "queue/core/client_records.h"
#include "queue/core/queue_manager.h"
#include "queue/objects/attributes_gen.h"
#include "queue/objects/object_name.h"
#include "server/port_error.h"
#include "server/wire_conf.h"
#include "server/wire_protocols.h"

namespace millstream::server {

namespace objects = queue::objects;
using objects::AdminResult;

namespace {

// Records of channels that were started by command.
constexpr std::string_view kRecordPrefix = "channel/";

int port_number(int port) { return port == kAnyWirePort ? 0 : port; }

std::string url_of(std::string_view protocol, bool has_tls, const std::string& host, int port) {
  std::string url(protocol);
  if (has_tls) url += 's';
  return url + "://" + (host == "0.0.0.0" || host.empty() ? "*" : host) + ":" +
         std::to_string(port);
}

// What SSLCIPH says, in the words of net::TlsChoice.
net::TlsChoice choice_of_cipher(const std::string& cipher) {
  net::TlsChoice choice;
  if (cipher == "ANY_TLS13" || cipher == "ANY_TLS13_OR_HIGHER") choice.protocol = "TLSv1.3";
  if (cipher == "ANY_TLS12") choice.protocol = "TLSv1.2";
  if (!cipher.starts_with("ANY")) choice.ciphers = cipher;
  return choice;
}

// The address of LOCLADDR: "192.0.2.1", "192.0.2.1(5672)".
std::string host_of_address(const std::string& address) {
  return address.substr(0, address.find('('));
}

AdminResult unsupported(const std::string& name, std::string why) {
  return AdminResult::failed(objects::reason::kUnsupported, {name, std::move(why)});
}

}  // namespace

WireChannels::~WireChannels() { stop(); }

Status WireChannels::start(Options options, std::vector<WirePort> usual,
                           base::Diagnostics& diagnostics) {
  std::lock_guard control(control_mutex_);
  options_ = std::move(options);
  usual_ = std::move(usual);
  broker_ = std::make_unique<wire::Broker>(options_.broker);
  is_started_ = true;
  for (const WirePort& port : usual_) MS_TRY(open(port, &diagnostics));
  start_kept();
  return {};
}

void WireChannels::start_kept() {
  std::set<std::string> names = before_start_;
  for (const auto& [key, value] : broker_->manager().client_records().take(kRecordPrefix)) {
    names.insert(key.substr(kRecordPrefix.size()));
  }
  for (const std::string& name : names) {
    if (is_running(name)) continue;
    AdminResult result = start_channel(name);
    if (result.ok() && before_start_.contains(name)) keep_started(name, true);
    if (result.ok()) continue;
    const bool is_gone = result.reason == objects::reason::kChannelNotFound;
    if (is_gone) keep_started(name, false);
    const std::string why = is_gone ? "it is not defined" : result.inserts.back();
    Status status = base::make_error(errors::kChannelNotStarted, {name, why});
    base::log_error(status.error());
  }
}

Result<wire::Protocol*> WireChannels::protocol_of(const wire::ProtocolSpec& spec) {
  auto known = protocols_.find(spec.name);
  if (known != protocols_.end()) return known->second.get();
  std::unique_ptr<wire::Protocol> made = spec.make(*broker_);
  MS_TRY(made->start());
  std::lock_guard lock(list_mutex_);
  return protocols_.emplace(spec.name, std::move(made)).first->second.get();
}

Status WireChannels::open(const WirePort& wish, base::Diagnostics* diagnostics) {
  wire::Protocol* protocol = MS_TRY(protocol_of(*wish.protocol));
  wire::EndpointOptions options;
  options.protocol = wish.protocol->name;
  options.channel = wish.channel;
  options.channel_type = wish.protocol->channel_type;
  options.limits = wish.limits;
  options.websocket_subprotocols = wish.protocol->websocket_subprotocols;
  options.websocket_sends_text = wish.protocol->websocket_sends_text;
  auto endpoint = std::make_shared<wire::Endpoint>(
      *options_.reactors, *broker_, std::move(options),
      [protocol](wire::SessionHost& host, std::unique_ptr<wire::Transport> transport) {
        return protocol->make_session(host, std::move(transport));
      });
  MS_TRY(listen(*endpoint, wish, diagnostics));
  if (endpoint->port() == 0 && endpoint->tls_port() == 0) return {};
  Running running{wish, std::move(endpoint), base::system_clock().wall_gmt_micros() / 1000};
  std::lock_guard lock(list_mutex_);
  running_.push_back(std::move(running));
  return {};
}

Status WireChannels::listen(wire::Endpoint& endpoint, const WirePort& wish,
                            base::Diagnostics* diagnostics) {
  // A port that nobody has asked for may be taken.
  auto check = [&](Status status, int port, bool is_asked) -> Status {
    if (status.ok()) return {};
    if (is_asked || diagnostics == nullptr) return port_in_use(wish.host, port, status.error());
    Status warning = base::make_error(
        errors::kWirePortTaken,
        {std::string(wish.protocol->title), wish.host, port, reason_of_listening(status.error())});
    diagnostics->warning({}, warning.error().code->id, warning.error().text);
    return {};
  };
  if (wish.port != kNoWirePort) {
    const int port = port_number(wish.port);
    MS_TRY(check(endpoint.listen(wish.host, port), port, wish.is_port_asked));
  }
  if (wish.tls_port != kNoWirePort) {
    const int port = port_number(wish.tls_port);
    if (wish.tls.keystore.path.empty()) {
      return base::make_error(errors::kNoWireKeystore, {std::string(wish.protocol->title)});
    }
    auto tls = MS_TRY(net::TlsServer::create(wish.tls));
    MS_TRY(
        check(endpoint.listen_tls(wish.host, port, std::move(tls)), port, wish.is_tls_port_asked));
  }
  return {};
}

void WireChannels::stop() {
  std::lock_guard control(control_mutex_);
  if (is_stopped_) return;
  is_stopped_ = true;
  for (const Running& one : running()) one.endpoint->stop_listening();
  for (const Running& one : running()) one.endpoint->stop();
  for (const auto& [name, protocol] : protocols_) protocol->stop();
}

// --- status ---

std::vector<WireChannels::Running> WireChannels::running() const {
  std::lock_guard lock(list_mutex_);
  return running_;
}

bool WireChannels::is_running(std::string_view channel) const {
  std::lock_guard lock(list_mutex_);
  return std::any_of(running_.begin(), running_.end(),
                     [&](const Running& one) { return one.wish.channel == channel; });
}

std::vector<WireChannels::Open> WireChannels::ports() const {
  std::vector<Open> out;
  for (const Running& one : running()) {
    for (bool has_tls : {false, true}) {
      const int port = has_tls ? one.endpoint->tls_port() : one.endpoint->port();
      if (port == 0) continue;
      out.push_back(
          {url_of(one.wish.protocol->name, has_tls, one.wish.host, port), one.wish.channel});
    }
  }
  return out;
}

void WireChannels::collect_metrics(base::MetricWriter& writer) const {
  for (const Running& one : running()) one.endpoint->collect_metrics(writer);
  std::vector<const wire::Protocol*> protocols;
  {
    std::lock_guard lock(list_mutex_);
    for (const auto& [name, protocol] : protocols_) protocols.push_back(protocol.get());
  }
  for (const wire::Protocol* protocol : protocols) protocol->collect_metrics(writer);
}

std::vector<objects::ChannelStatus> WireChannels::channel_status(std::string_view pattern) const {
  std::vector<objects::ChannelStatus> out;
  for (const Running& one : running()) {
    if (!objects::matches_generic(pattern, one.wish.channel)) continue;
    for (objects::ChannelStatus& status : one.endpoint->channel_status()) {
      out.push_back(std::move(status));
    }
  }
  return out;
}

std::vector<objects::ListenerStatus> WireChannels::listener_status(std::string_view pattern) const {
  std::vector<objects::ListenerStatus> out;
  for (const Running& one : running()) {
    if (!objects::matches_generic(pattern, one.wish.channel)) continue;
    for (bool has_tls : {false, true}) {
      const int port = has_tls ? one.endpoint->tls_port() : one.endpoint->port();
      if (port == 0) continue;
      objects::ListenerStatus status;
      status.listener = one.wish.channel;
      status.address = one.wish.host == "0.0.0.0" ? "" : one.wish.host;
      status.port = port;
      status.process_id = ::getpid();
      status.started_gmt_ms = one.started_gmt_ms;
      status.control = objects::ListenerControl::kQmgr;
      status.description = std::string(one.wish.protocol->title) + (has_tls ? " with TLS" : "");
      out.push_back(std::move(status));
    }
  }
  return out;
}

// --- START and STOP ---

void WireChannels::control(objects::ControlRequest request, objects::AdminDone done) {
  const bool is_start = request.verb == objects::ControlVerb::kStart;
  const bool is_stop = request.verb == objects::ControlVerb::kStop;
  if (request.object != objects::ControlObject::kChannel || (!is_start && !is_stop)) {
    return done(unsupported(request.name, "only channels of messaging clients run here"));
  }
  // Opening and closing wait for reactors, and the caller may be on one.
  net::BlockingPool::shared().submit([this, request = std::move(request), is_start,
                                      done = std::move(done)] {
    AdminResult result;
    {
      std::lock_guard control(control_mutex_);
      if (is_stopped_) {
        result = unsupported(request.name, "the server is stopping");
      } else if (!is_started_ && is_start) {
        before_start_.insert(request.name);
      } else if (!is_started_) {
        before_start_.erase(request.name);
      } else if (is_start) {
        result = start_channel(request.name);
        if (result.ok()) keep_started(request.name, true);
      } else {
        result = stop_channel(request.name, request.mode == "FORCE" || request.mode == "TERMINATE");
        keep_started(request.name, false);
      }
    }
    done(std::move(result));
  });
}

AdminResult WireChannels::start_channel(const std::string& name) {
  if (is_running(name)) return AdminResult::failed(objects::reason::kChannelInUse, {name});
  WirePort wish;
  AdminResult found = wish_of_channel(name, wish);
  if (!found.ok()) return found;
  Status status = open(wish, nullptr);
  if (!status.ok()) return unsupported(name, status.error().describe());
  return {};
}

AdminResult WireChannels::wish_of_channel(const std::string& name, WirePort& wish) {
  for (const WirePort& usual : usual_) {
    if (usual.channel != name) continue;
    wish = usual;
    return {};
  }
  const objects::DefinitionPtr definition =
      broker_->manager().admin().catalogue().find(objects::ObjectFamily::kChannel, name);
  if (definition == nullptr) {
    return AdminResult::failed(objects::reason::kChannelNotFound, {name});
  }
  const objects::ChannelAttributes channel = objects::read_channel_attributes(*definition);
  for (const wire::ProtocolSpec* spec : wire_protocols()) {
    const bool has_own_type = spec->channel_type != objects::ChannelType::kSvrconn;
    if (has_own_type && spec->channel_type == channel.channel_type) wish.protocol = spec;
  }
  if (wish.protocol == nullptr) {
    return unsupported(name, "channels of this type do not run in this process");
  }
  if (!channel.peer_name.empty()) {
    return unsupported(name, "SSLPEER is not looked at: use SET CHLAUTH TYPE(SSLPEERMAP)");
  }
  wish.channel = name;
  wish.host =
      channel.local_address.empty() ? options_.host : host_of_address(channel.local_address);
  wish.limits = options_.conf.of(wish.protocol->name).limits;
  if (channel.instances_max > 0) {
    wish.limits.connections_max =
        std::min(wish.limits.connections_max, static_cast<uint32_t>(channel.instances_max));
  }
  if (channel.message_bytes_max > 0) {
    wish.limits.message_bytes_max = static_cast<size_t>(channel.message_bytes_max);
  }
  (channel.cipher.empty() ? wish.port : wish.tls_port) = channel.port;
  if (channel.cipher.empty()) return {};
  wish.tls = options_.tls;
  wish.tls.choice = choice_of_cipher(channel.cipher);
  wish.tls.client_auth = channel.client_certificate == objects::SslClientAuth::kRequired
                             ? net::TlsClientAuth::kRequired
                             : net::TlsClientAuth::kOptional;
  return {};
}

AdminResult WireChannels::stop_channel(const std::string& name, bool is_forced) {
  std::shared_ptr<wire::Endpoint> endpoint;
  {
    std::lock_guard lock(list_mutex_);
    auto found = std::find_if(running_.begin(), running_.end(),
                              [&](const Running& one) { return one.wish.channel == name; });
    if (found == running_.end()) {
      return AdminResult::failed(objects::reason::kChannelNotActive, {name});
    }
    endpoint = found->endpoint;
    retired_.push_back(endpoint);
    running_.erase(found);
  }
  endpoint->stop(is_forced ? 0 : wire::Endpoint::kStopGraceNs);
  return {};
}

// Whether it starts again with the server.
void WireChannels::keep_started(const std::string& name, bool is_started) {
  const bool is_usual = std::any_of(usual_.begin(), usual_.end(),
                                    [&](const WirePort& port) { return port.channel == name; });
  if (is_usual) return;
  std::string key = std::string(kRecordPrefix) + name;
  queue::QueueManager& manager = broker_->manager();
  queue::UnitOfWork unit;
  unit.records.push_back(is_started ? queue::client_record(std::move(key), "started")
                                    : queue::erased_client_record(std::move(key)));
  auto* operation =
      new queue::CommitOperation(manager, std::move(unit), &manager.executor(), nullptr);
  (void)operation->run();
}

}  // namespace millstream::server
