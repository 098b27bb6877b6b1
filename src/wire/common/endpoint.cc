#include "wire/common/endpoint.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "net/waiting.h"

namespace millstream::wire {

namespace {

std::string host_of_fd(int fd) {
  std::string peer = net::peer_text(fd);
  std::string host = peer.substr(0, peer.rfind(':'));
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  return host;
}

}  // namespace

// --- SessionHost ---

SessionHost::SessionHost(Endpoint& endpoint, net::Reactor& reactor)
    : endpoint_(endpoint), reactor_(reactor), executor_(endpoint.broker().executor(reactor)) {}

Broker& SessionHost::broker() { return endpoint_.broker(); }
const EndpointOptions& SessionHost::options() const { return endpoint_.options(); }

void SessionHost::open(int fd, std::shared_ptr<const net::TlsContext> tls) {
  TransportLimits limits{this->limits().input_bytes_max, this->limits().stall_ns};
  std::unique_ptr<Transport> transport = Transport::accept(reactor_, fd, std::move(tls), limits);
  if (transport == nullptr) {
    ::close(fd);
    endpoint_.leave(host_of_fd(fd));
    return;
  }
  const EndpointOptions& options = this->options();
  if (!options.websocket_subprotocols.empty()) {
    transport->allow_websocket(options.websocket_subprotocols, options.websocket_sends_text);
  }
  std::shared_ptr<Session> session = endpoint_.make_(*this, std::move(transport));
  accepted.add();
  sessions_.emplace(session->id(), session);
  {
    std::lock_guard lock(records_mutex_);
    records_.emplace(session->id(), session->record_);
  }
  session->handshake_alarm_.set_at(reactor_.refresh_now() + this->limits().handshake_ns);
  session->on_started();
  session->transport().start(*session);
}

void SessionHost::remove(Session& session) {
  Transport& transport = session.transport();
  bytes_in.add(transport.bytes_received());
  bytes_out.add(transport.bytes_sent());
  endpoint_.leave(transport.peer_host());
  {
    std::lock_guard lock(records_mutex_);
    records_.erase(session.id());
  }
  sessions_.erase(session.id());
}

std::vector<std::shared_ptr<Session>> SessionHost::snapshot() const {
  std::vector<std::shared_ptr<Session>> out;
  out.reserve(sessions_.size());
  for (const auto& [id, session] : sessions_) out.push_back(session);
  return out;
}

// --- Session ---

Session::Session(SessionHost& host, std::unique_ptr<Transport> transport)
    : host_(host),
      record_(std::make_shared<SessionRecord>()),
      transport_(std::move(transport)),
      handshake_alarm_(host.reactor(), [this] {
        if (is_ended_ || is_logged_in_) return;
        on_handshake_timeout();
      }) {
  record_->id = host.endpoint_.last_id_.fetch_add(1, std::memory_order_relaxed) + 1;
  record_->address = transport_->peer_address();
  record_->started_gmt_ms = host.executor().clock().wall_gmt_micros() / 1000;
}

Session::~Session() = default;

Caller Session::caller() {
  const EndpointOptions& options = host_.options();
  return caller_of(*transport_, options.protocol, options.channel);
}

void Session::handshake_done(std::string_view user, std::string_view client_id,
                             std::string_view application) {
  is_logged_in_ = true;
  handshake_alarm_.cancel();
  std::lock_guard lock(record_->mutex);
  record_->user = user;
  record_->client_id = client_id;
  record_->application = application;
}

void Session::on_closed(CloseReason reason) {
  std::shared_ptr<Session> self = shared_from_this();
  is_ended_ = true;
  handshake_alarm_.cancel();
  if (!is_logged_in_) host_.handshake_failures.add();
  on_ended(reason);
  host_.remove(*this);
}

// --- Endpoint ---

Endpoint::Endpoint(net::ReactorPool& reactors, Broker& broker, EndpointOptions options,
                   MakeSession make)
    : reactors_(reactors), broker_(broker), options_(std::move(options)), make_(std::move(make)) {
  for (int i = 0; i < reactors.size(); ++i) {
    hosts_.push_back(std::make_unique<SessionHost>(*this, reactors.reactor(i)));
  }
}

Endpoint::~Endpoint() { stop(0); }

SessionHost& Endpoint::host_of(net::Reactor& reactor) {
  for (const auto& host : hosts_) {
    if (&host->reactor() == &reactor) return *host;
  }
  return *hosts_.front();
}

Status Endpoint::listen(const std::string& host, int port) {
  plain_ = MS_TRY(net::Listener::open(reactors_, host, port, acceptor(nullptr)));
  return {};
}

Status Endpoint::listen_tls(const std::string& host, int port,
                            std::shared_ptr<net::TlsServer> tls) {
  secure_ = MS_TRY(net::Listener::open(reactors_, host, port, acceptor(tls)));
  if (!has_tls_.load(std::memory_order_relaxed)) {
    tls_ = std::move(tls);
    has_tls_.store(true, std::memory_order_release);
  }
  return {};
}

std::shared_ptr<const net::TlsContext> Endpoint::tls_context(const net::Reactor& reactor) const {
  if (!has_tls_.load(std::memory_order_acquire)) return nullptr;
  return tls_->current(reactor.now_ns());
}

net::Listener::OnAccept Endpoint::acceptor(std::shared_ptr<net::TlsServer> tls) {
  return [this, alive = is_alive_, tls = std::move(tls)](net::Reactor& reactor, int fd) {
    if (!alive->load(std::memory_order_acquire)) {
      ::close(fd);
      return;
    }
    accept(reactor, fd, tls);
  };
}

void Endpoint::accept(net::Reactor& reactor, int fd, const std::shared_ptr<net::TlsServer>& tls) {
  if (is_stopping_.load(std::memory_order_relaxed) ||
      !admit(host_of_fd(fd), reactor.refresh_now())) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    ::close(fd);
    return;
  }
  host_of(reactor).open(fd, tls ? tls->current(reactor.now_ns()) : nullptr);
}

bool Endpoint::admit(const std::string& address, int64_t now_ns) {
  const EndpointLimits& limits = options_.limits;
  std::lock_guard lock(admit_mutex_);
  if (now_ns - rate_window_ns_ >= net::kSecond) {
    rate_window_ns_ = now_ns;
    accepted_in_window_ = 0;
  }
  if (accepted_in_window_ >= limits.accepts_per_second_max) return false;
  if (connections_.load(std::memory_order_relaxed) >= limits.connections_max) return false;
  uint32_t& count = by_address_[address];
  if (count >= limits.connections_per_address_max) return false;
  ++count;
  ++accepted_in_window_;
  connections_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void Endpoint::leave(const std::string& address) {
  std::lock_guard lock(admit_mutex_);
  connections_.fetch_sub(1, std::memory_order_relaxed);
  auto found = by_address_.find(address);
  if (found == by_address_.end() || --found->second > 0) return;
  by_address_.erase(found);
}

void Endpoint::stop_listening() {
  if (plain_) plain_->close();
  if (secure_) secure_->close();
}

// Runs f(SessionHost&) on each reactor's thread, one after the other, and waits.
template <typename F>
void Endpoint::on_each_reactor(F f) {
  for (const auto& host : hosts_) {
    auto done = std::make_shared<net::FiberEvent>();
    host->reactor().post([done, f, h = host.get()] {
      f(*h);
      done->set();
    });
    done->wait();
  }
}

void Endpoint::stop_sessions() {
  on_each_reactor([](SessionHost& host) {
    host.for_each_session([](Session& session) { session.on_stopped_by_operator(); });
  });
}

void Endpoint::stop(int64_t grace_ns) {
  if (is_stopping_.exchange(true)) return;
  stop_listening();
  constexpr int64_t kLookNs = 5 * net::kMillisecond;
  if (connections_.load() > 0 && grace_ns > 0) {
    on_each_reactor([](SessionHost& host) {
      host.for_each_session([](Session& session) { session.on_stopping(); });
    });
    net::FiberEvent never;
    const int64_t end_ns = base::system_clock().monotonic_ns() + grace_ns;
    while (connections_.load() > 0 && base::system_clock().monotonic_ns() < end_ns) {
      (void)never.wait(base::system_clock().monotonic_ns() + kLookNs);
    }
  }
  // Twice: what is cut in the first round is told in a task behind it.
  for (int round = 0; round < 2; ++round) {
    on_each_reactor([](SessionHost& host) {
      host.for_each_session([](Session& session) { session.transport().abort(); });
    });
  }
  on_each_reactor([](SessionHost&) {});
  is_alive_->store(false, std::memory_order_release);
}

EndpointStats Endpoint::stats() const {
  EndpointStats out;
  out.connections = connections_.load(std::memory_order_relaxed);
  out.refused = refused_.load(std::memory_order_relaxed);
  for (const auto& host : hosts_) {
    out.accepted += host->accepted.get();
    out.handshake_failures += host->handshake_failures.get();
    out.messages_in += host->messages_in.get();
    out.messages_out += host->messages_out.get();
    out.bytes_in += host->bytes_in.get();
    out.bytes_out += host->bytes_out.get();
  }
  return out;
}

std::vector<queue::objects::ChannelStatus> Endpoint::channel_status() const {
  std::vector<queue::objects::ChannelStatus> out;
  for (const auto& host : hosts_) {
    std::lock_guard lock(host->records_mutex_);
    for (const auto& [id, record] : host->records_) {
      queue::objects::ChannelStatus status;
      status.channel = options_.channel;
      status.type = options_.channel_type;
      status.address = record->address;
      status.messages =
          static_cast<int64_t>(record->messages_in.get() + record->messages_out.get());
      status.started_gmt_ms = record->started_gmt_ms;
      std::lock_guard record_lock(record->mutex);
      status.user = record->user;
      status.remote_application =
          record->application.empty() ? record->client_id : record->application;
      out.push_back(std::move(status));
    }
  }
  return out;
}

void Endpoint::collect_metrics(base::MetricWriter& writer) const {
  EndpointStats s = stats();
  using base::MetricType;
  base::MetricLabels labels{{"protocol", options_.protocol}, {"channel", options_.channel}};
  auto sample = [&](std::string_view name, MetricType type, std::string_view help, uint64_t value) {
    writer.family(name, type, help);
    writer.sample(labels, value);
  };
  sample("millstream_wire_connections", MetricType::kGauge, "Client connections now.",
         s.connections);
  sample("millstream_wire_connections_accepted_total", MetricType::kCounter,
         "Client connections that were accepted.", s.accepted);
  sample("millstream_wire_connections_refused_total", MetricType::kCounter,
         "Client connections that a limit refused.", s.refused);
  sample("millstream_wire_handshakes_failed_total", MetricType::kCounter,
         "Client connections that ended before they had logged in.", s.handshake_failures);
  sample("millstream_wire_messages_received_total", MetricType::kCounter,
         "Messages that clients have sent.", s.messages_in);
  sample("millstream_wire_messages_sent_total", MetricType::kCounter,
         "Messages that were sent to clients.", s.messages_out);
  sample("millstream_wire_bytes_received_total", MetricType::kCounter,
         "Bytes from connections that have ended.", s.bytes_in);
  sample("millstream_wire_bytes_sent_total", MetricType::kCounter,
         "Bytes to connections that have ended.", s.bytes_out);
}

}  // namespace millstream::wire
