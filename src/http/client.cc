#include "http/client.h"

#include <sys/uio.h>

#include <algorithm>
#include <cstring>

#include "http/errors_gen.h"
#include "http/message_parser.h"
#include "net/address.h"
#include "net/errors_gen.h"
#include "net/socket.h"
#include "net/tls_stream.h"

namespace millstream::http {

namespace {
class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(std::unique_ptr<net::Socket> socket) : socket_(std::move(socket)) {}
  Result<size_t> read_some(char* data, size_t size, int64_t deadline_ns) override {
    return socket_->read_some(data, size, deadline_ns);
  }
  Status write_all(iovec* parts, int count, int64_t deadline_ns, size_t* sent) override {
    return socket_->write_all(parts, count, deadline_ns, sent);
  }
  bool is_idle() override { return !socket_->is_readable_now(); }

 private:
  std::unique_ptr<net::Socket> socket_;
};

class TlsTransport final : public Transport {
 public:
  explicit TlsTransport(std::unique_ptr<net::TlsStream> stream) : stream_(std::move(stream)) {}
  Result<size_t> read_some(char* data, size_t size, int64_t deadline_ns) override {
    return stream_->read_some(data, size, deadline_ns);
  }
  Status write_all(iovec* parts, int count, int64_t deadline_ns, size_t* sent) override {
    return stream_->write_all(parts, count, deadline_ns, sent);
  }
  bool is_idle() override { return stream_->is_idle(); }
  net::TlsSession take_session() override { return stream_->engine().take_session(); }

 private:
  std::unique_ptr<net::TlsStream> stream_;
};

thread_local ClientStandIn* t_stand_in = nullptr;

bool is_idempotent(std::string_view method) {
  for (std::string_view name : {"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"}) {
    if (method == name) return true;
  }
  return false;
}

bool is_client_framing_field(std::string_view name) {
  return equals_ignore_case(name, "content-length") ||
         equals_ignore_case(name, "transfer-encoding") || equals_ignore_case(name, "connection") ||
         equals_ignore_case(name, "keep-alive");
}

// The head of the request, refusing what would break the framing.
Result<std::string> make_request_head(const ClientRequest& request) {
  if (!is_valid_field_name(request.method)) {
    return base::make_error(errors::kHeaderInjection, {request.method});
  }
  std::string authority = request.url.authority();
  if (!is_valid_field_value(authority) || !is_valid_field_value(request.url.target) ||
      request.url.target.find(' ') != std::string::npos) {
    return base::make_error(errors::kBadUrl,
                            {authority + request.url.target, "it has forbidden characters"});
  }
  std::string out = request.method + " ";
  const bool is_relayed = !request.proxy.host.empty() && !request.url.is_https;
  if (is_relayed) out += "http://" + authority;
  out += request.url.target;
  out += request.is_http10 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n";
  if (!request.headers.has("Host")) out += "Host: " + authority + "\r\n";
  if (is_relayed && !request.proxy.authorization.empty()) {
    if (!is_valid_field_value(request.proxy.authorization)) {
      return base::make_error(errors::kHeaderInjection, {"Proxy-Authorization"});
    }
    out += "Proxy-Authorization: " + request.proxy.authorization + "\r\n";
  }
  for (size_t i = 0; i < request.headers.size(); ++i) {
    std::string_view name = request.headers.name(i), value = request.headers.value(i);
    if (!is_valid_field_name(name) || !is_valid_field_value(value)) {
      return base::make_error(errors::kHeaderInjection, {name});
    }
    if (is_client_framing_field(name)) continue;
    out.append(name).append(": ").append(value).append("\r\n");
  }
  if (!request.body.empty() || request.sends_empty_body || request.method == "POST" ||
      request.method == "PUT" || request.method == "PATCH") {
    out += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  }
  if (!request.must_keep_alive) {
    out += "Connection: close\r\n";
  } else if (request.is_http10) {
    out += "Connection: keep-alive\r\n";
  }
  out += "\r\n";
  return out;
}
}  // namespace

struct ClientPool::Exchange {
  Exchange(const ClientRequest& r, const MessageLimits& limits)
      : request(r), parser(HeadParser::Kind::kResponse, limits) {}
  const ClientRequest& request;
  std::string head;
  std::unique_ptr<Transport> transport;
  HeadParser parser;
  ClientResponse response;
  size_t used = 0;         // bytes in response.buffer
  size_t message_at = 0;   // where the current head begins (after 1xx replies)
  bool is_at_end = false;  // the other side has closed
  bool can_reuse = false;

  char* data() { return response.buffer.data(); }
  Status bad(const char* why) const {
    return base::make_error(errors::kBadResponse, {request.url.host, request.url.port, why});
  }
  Status too_large() const {
    return base::make_error(errors::kResponseTooLarge,
                            {request.url.host, request.url.port, request.body_bytes_max});
  }
  Status closed() const { return base::make_error(net::errors::kSocketClosed, {used}); }
};

void set_client_stand_in(ClientStandIn* stand_in) { t_stand_in = stand_in; }

ClientPool::ClientPool(net::Reactor& reactor, ClientOptions options)
    : reactor_(reactor), options_(options) {
  sweep_timer_.owner = this;
  sweep_timer_.fire = [](net::Timer& timer) { static_cast<ClientPool*>(timer.owner)->sweep(); };
}

ClientPool::~ClientPool() {
  reactor_.cancel(sweep_timer_);
  close_idle();
}

void ClientPool::sweep() {
  for (auto at = idle_.begin(); at != idle_.end();) {
    auto& list = at->second;
    idle_count_ -= std::erase_if(list, [this](const Idle& idle) {
      return idle.until_ns <= reactor_.now_ns() || !idle.transport->is_idle();
    });
    at = list.empty() ? idle_.erase(at) : std::next(at);
  }
  if (idle_count_ > 0) reactor_.arm(sweep_timer_, reactor_.now_ns() + kSweepNs);
}

void ClientPool::close_idle() {
  idle_.clear();
  idle_count_ = 0;
}

std::unique_ptr<Transport> ClientPool::take_idle(const std::string& key) {
  auto found = idle_.find(key);
  if (found == idle_.end()) return nullptr;
  auto& list = found->second;
  while (!list.empty()) {
    Idle idle = std::move(list.back());  // the newest: the least likely to have been closed
    list.pop_back();
    --idle_count_;
    if (idle.until_ns > reactor_.now_ns() && idle.transport->is_idle()) {
      return std::move(idle.transport);
    }
  }
  idle_.erase(found);
  return nullptr;
}

void ClientPool::give_back(const std::string& key, std::unique_ptr<Transport> transport) {
  auto& list = idle_[key];
  if (list.size() >= options_.idle_connections_max) {
    list.erase(list.begin());  // the oldest
    --idle_count_;
  }
  list.push_back({std::move(transport), reactor_.now_ns() + options_.idle_timeout_ns});
  ++idle_count_;
  if (!sweep_timer_.is_armed()) reactor_.arm(sweep_timer_, reactor_.now_ns() + kSweepNs);
}

Result<std::unique_ptr<net::Socket>> ClientPool::connect_socket(const std::string& host, int port,
                                                                int64_t deadline_ns) {
  std::vector<net::Address> addresses = MS_TRY(net::resolve(host, port, deadline_ns));
  Status last;
  for (const net::Address& address : addresses) {
    auto socket = net::Socket::connect(address, deadline_ns);
    if (socket.ok()) {
      ++connections_made_;
      return std::move(socket).take_value();
    }
    last = std::move(socket).take_status();
    if (last.error().code != &net::errors::kSocketOperation) break;  // time is over
  }
  return last;
}

namespace {
// RFC 9110 9.3.6: after a 2xx the connection is a tunnel to the target.
Status open_tunnel(net::Socket& socket, const ClientRequest& request) {
  const Proxy& proxy = request.proxy;
  std::string target = request.url.host;
  if (target.find(':') != std::string::npos) target = "[" + target + "]";
  target += ":" + std::to_string(request.url.port);
  std::string head = "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n";
  Headers fields = proxy.connect_headers;
  if (!proxy.authorization.empty()) fields.set("Proxy-Authorization", proxy.authorization);
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!is_valid_field_name(fields.name(i)) || !is_valid_field_value(fields.value(i))) {
      return base::make_error(errors::kHeaderInjection, {fields.name(i)});
    }
    head.append(fields.name(i)).append(": ").append(fields.value(i)).append("\r\n");
  }
  head += "\r\n";
  iovec part{head.data(), head.size()};
  MS_TRY(socket.write_all(&part, 1, request.deadline_ns));
  auto refused = [&](std::string why) {
    return base::make_error(errors::kProxyRefused, {proxy.host, proxy.port, target, why});
  };
  const MessageLimits limits;
  HeadParser parser(HeadParser::Kind::kResponse, limits);
  Headers reply;
  std::string received;
  for (;;) {
    char chunk[4096];
    const size_t n = MS_TRY(socket.read_some(chunk, sizeof chunk, request.deadline_ns));
    if (n == 0) return refused("it closed the connection");
    received.append(chunk, n);
    reply.clear();
    parser.reset();
    const ParseStatus parsed = parser.parse(received.data(), received.size(), reply);
    if (parsed == ParseStatus::kError) return refused(parser.error().text);
    if (parsed == ParseStatus::kNeedMore) continue;
    const int status = parser.response().status;
    if (status >= 200 && status < 300) break;
    if (status >= 200) return refused("it answered with status " + std::to_string(status));
    received.erase(0, parser.head_bytes());  // an interim reply
  }
  // The target speaks second: what already follows is not its.
  if (parser.head_bytes() != received.size()) return refused("it sent data before it was asked");
  return {};
}
}  // namespace

Result<std::unique_ptr<Transport>> ClientPool::connect(const ClientRequest& request,
                                                       const std::string& key) {
  const bool has_proxy = !request.proxy.host.empty();
  const Url& url = request.url;
  std::unique_ptr<net::Socket> socket =
      MS_TRY(connect_socket(has_proxy ? request.proxy.host : url.host,
                            has_proxy ? request.proxy.port : url.port, request.deadline_ns));
  if (!url.is_https) {
    return std::unique_ptr<Transport>(std::make_unique<TcpTransport>(std::move(socket)));
  }
  if (has_proxy) MS_TRY(open_tunnel(*socket, request));
  auto known = sessions_.find(key);
  net::TlsSession session;
  if (known != sessions_.end()) {
    session = std::move(known->second);  // each is good for one connection
    sessions_.erase(known);
  }
  std::unique_ptr<net::TlsStream> stream = MS_TRY(net::TlsStream::connect(
      std::move(socket), request.tls, {url.host, url.port, session.get()}, request.deadline_ns));
  return std::unique_ptr<Transport>(std::make_unique<TlsTransport>(std::move(stream)));
}

void ClientPool::keep_session(const std::string& key, net::TlsSession session) {
  if (!session) return;
  if (sessions_.size() >= kSessionsMax) sessions_.clear();
  sessions_[key] = std::move(session);
}

namespace {
// What must be equal for a connection to serve another request.
std::string pool_key(const ClientRequest& request) {
  const Url& url = request.url;
  const Proxy& proxy = request.proxy;
  std::string key;
  if (!proxy.host.empty()) {
    key = proxy.host + ":" + std::to_string(proxy.port) + " " + proxy.authorization + " ";
    if (!url.is_https) return key;
  }
  key += url.host + ":" + std::to_string(url.port);
  if (url.is_https) key += " " + std::to_string(request.tls->id());
  return key;
}
}  // namespace

Result<ClientResponse> ClientPool::send(const ClientRequest& request) {
  Exchange exchange(request, options_.limits);
  exchange.head = MS_TRY(make_request_head(request));
  const bool is_stood_in = t_stand_in && !options_.is_always_network;
  Status status =
      is_stood_in ? t_stand_in->answer(request, reactor_, exchange.response) : run(exchange);
  if (status.ok()) return std::move(exchange.response);
  const Url& url = request.url;
  return base::wrap_error(
      base::make_error(errors::kWebServiceSocket, {url.host, url.port, url.target}),
      std::move(status));
}

Status ClientPool::run(Exchange& exchange) {
  const ClientRequest& request = exchange.request;
  if (request.url.is_https && !request.tls) {
    return base::make_error(errors::kNoTlsContext, {request.url.authority() + request.url.target});
  }
  const std::string key = pool_key(request);
  exchange.transport = take_idle(key);
  for (;;) {
    bool is_pooled = exchange.transport != nullptr;
    if (!is_pooled) exchange.transport = MS_TRY(connect(request, key));
    iovec parts[2] = {{exchange.head.data(), exchange.head.size()},
                      {const_cast<char*>(request.body.data()), request.body.size()}};
    size_t sent = 0;
    Status status = exchange.transport->write_all(parts, 2, request.deadline_ns, &sent);
    exchange.response.sent_bytes = sent;
    bool was_sent_whole = sent == exchange.head.size() + request.body.size();
    if (status.ok()) status = read_response(exchange);
    if (status.ok()) break;
    bool is_stale = is_pooled && exchange.used == 0 &&
                    status.error().code != &net::errors::kSocketTimeout &&
                    status.error().code != &net::errors::kCancelled;
    if (!is_stale || (was_sent_whole && !is_idempotent(request.method))) return status;
    exchange.transport.reset();
    exchange.is_at_end = false;
    exchange.parser.reset();
  }
  keep_session(key, exchange.transport->take_session());
  if (exchange.can_reuse) give_back(key, std::move(exchange.transport));
  return {};
}

// Reads more, growing the buffer to at least `target` bytes in all.
Status ClientPool::receive(Exchange& exchange, size_t target) {
  net::Buffer& buffer = exchange.response.buffer;
  target = std::max(target, exchange.used + 1);
  if (buffer.capacity() < target &&
      !reactor_.buffers().grow(buffer, exchange.used, std::max(target, exchange.used * 2))) {
    return exchange.too_large();
  }
  size_t n = MS_TRY(exchange.transport->read_some(buffer.data() + exchange.used,
                                                  buffer.capacity() - exchange.used,
                                                  exchange.request.deadline_ns));
  exchange.used += n;
  exchange.response.received_bytes += n;
  exchange.is_at_end = n == 0;
  return {};
}

Status ClientPool::read_response(Exchange& exchange) {
  MS_TRY(read_head(exchange));
  MS_TRY(read_body(exchange));
  // The buffer has its final place now: make the views.
  ClientResponse& response = exchange.response;
  const char* base = exchange.data() + exchange.message_at;
  response.headers.borrow_from(base);
  response.status = exchange.parser.response().status;
  response.reason = exchange.parser.response_in(base).reason;
  return {};
}

Status ClientPool::read_head(Exchange& exchange) {
  for (;;) {
    if (exchange.used > exchange.message_at) {
      ParseStatus parsed =
          exchange.parser.parse(exchange.data() + exchange.message_at,
                                exchange.used - exchange.message_at, exchange.response.headers);
      if (parsed == ParseStatus::kError) return exchange.bad(exchange.parser.error().text);
      if (parsed == ParseStatus::kDone) {
        int status = exchange.parser.response().status;
        if (status == 101) return exchange.bad("it switches protocols unasked");
        if (status >= 200) return {};
        // RFC 9110 15.2: interim replies are skipped; the head limit bounds how many.
        exchange.message_at += exchange.parser.head_bytes();
        exchange.parser.reset();
        if (exchange.message_at > options_.limits.head_bytes_max) {
          return exchange.bad("too many interim replies");
        }
        continue;
      }
    }
    MS_TRY(receive(exchange, 0));
    if (exchange.is_at_end) return exchange.closed();
  }
}

// RFC 9112 6.3.
Status ClientPool::read_body(Exchange& exchange) {
  const ResponseHead head = exchange.parser.response();
  size_t body_at = exchange.message_at + exchange.parser.head_bytes();
  size_t limit = exchange.request.body_bytes_max;
  bool has_no_body = exchange.request.method == "HEAD" || head.status == 204 || head.status == 304;
  size_t body_bytes = 0;
  if (has_no_body) {
    exchange.can_reuse = head.is_keep_alive && exchange.used == body_at;
  } else if (head.is_chunked) {
    MS_TRY(read_chunked(exchange));
    return {};
  } else if (head.has_length) {
    if (head.content_length > limit) return exchange.too_large();
    body_bytes = static_cast<size_t>(head.content_length);
    while (exchange.used < body_at + body_bytes) {
      MS_TRY(receive(exchange, body_at + body_bytes));
      if (exchange.is_at_end) return exchange.closed();
    }
    exchange.can_reuse = head.is_keep_alive && exchange.used == body_at + body_bytes;
  } else {
    while (!exchange.is_at_end) {
      MS_TRY(receive(exchange, 0));
      if (exchange.used - body_at > limit) return exchange.too_large();
    }
    body_bytes = exchange.used - body_at;
  }
  exchange.can_reuse = exchange.can_reuse && exchange.request.must_keep_alive;
  exchange.response.body = {exchange.data() + body_at, body_bytes};
  return {};
}

Status ClientPool::read_chunked(Exchange& exchange) {
  MessageLimits limits = options_.limits;
  limits.body_bytes_max = exchange.request.body_bytes_max;
  ChunkedDecoder chunks(limits);
  size_t body_at = exchange.message_at + exchange.parser.head_bytes();
  size_t in = body_at, out = body_at;
  for (;;) {
    ParseStatus parsed = chunks.decode(exchange.data(), in, exchange.used, out);
    if (parsed == ParseStatus::kDone) break;
    if (parsed == ParseStatus::kError) {
      return chunks.error().status == 413 ? exchange.too_large()
                                          : exchange.bad(chunks.error().text);
    }
    std::memmove(exchange.data() + out, exchange.data() + in, exchange.used - in);
    exchange.used -= in - out;
    in = out;
    MS_TRY(receive(exchange, 0));
    if (exchange.is_at_end) return exchange.closed();
  }
  exchange.can_reuse = exchange.parser.response().is_keep_alive && in == exchange.used &&
                       exchange.request.must_keep_alive;
  exchange.response.body = {exchange.data() + body_at, out - body_at};
  return {};
}

bool is_redirect(const ClientResponse& response) {
  switch (response.status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      return response.headers.has("Location");
    default:
      return false;
  }
}

std::string redirect_method(int status, const std::string& method) {
  if (status == 303 && method != "HEAD") return "GET";
  if ((status == 301 || status == 302) && method == "POST") return "GET";
  return method;
}

}  // namespace millstream::http
