#include "http/request.h"

#include "http/server_shard.h"
#include "net/tls_engine.h"

namespace millstream::http {

RequestRef::RequestRef(const RequestRef& other) : request_(other.request_) {
  if (request_) request_->references_.fetch_add(1, std::memory_order_relaxed);
}

RequestRef::~RequestRef() {
  if (request_) request_->drop();
}

void Request::drop() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) recycle();
}

void Request::recycle() {
  net::Reactor& home = shard_.reactor();
  if (net::Reactor::current() == &home) {
    shard_.recycle(this);
  } else {
    home.post([this] { shard_.recycle(this); });
  }
}

net::Reactor& Request::reactor() const { return shard_.reactor(); }

size_t Request::buffer_room() const {
  const size_t limit = shard_.server().options().buffer_bytes_max;
  const size_t used = reactor().buffers().in_use_bytes();
  return used < limit ? limit - used : 0;
}

std::string_view Request::peer() const {
  return connection_ ? connection_->peer() : std::string_view();
}

const net::TlsPeer* Request::tls_peer() const {
  const net::TlsPeer* peer = connection_ && is_secure_ ? connection_->tls_peer() : nullptr;
  return peer && peer->has_certificate ? peer : nullptr;
}

Response* Request::claim_reply() {
  if (is_claimed_.exchange(true, std::memory_order_acq_rel)) return nullptr;
  return &response_;
}

bool Request::send_reply() {
  for (const auto& filter : filters_) filter->before_send(*this, response_);
  filters_.clear();
  if (is_gone_.load(std::memory_order_acquire)) return false;
  net::Reactor& home = shard_.reactor();
  if (net::Reactor::current() == &home) {
    if (!connection_) return false;
    connection_->send(*this);
    return true;
  }
  references_.fetch_add(1, std::memory_order_relaxed);
  home.post([this] {
    RequestRef self(this);
    if (connection_) connection_->send(*this);
  });
  return true;
}

bool Request::reply(int status, std::string_view content_type, std::string body) {
  Response* response = claim_reply();
  if (!response) return false;
  response->status = status;
  if (!content_type.empty()) response->headers.add("Content-Type", content_type);
  response->body = std::move(body);
  return send_reply();
}

void Request::set_reply_deadline(int64_t deadline_ns, std::function<void(RequestRef)> on_timeout) {
  on_timeout_ = std::move(on_timeout);
  if (connection_ && !is_replied()) connection_->set_reply_deadline(*this, deadline_ns);
}

void Request::set_on_gone(std::function<void(Request&)> on_gone) {
  if (connection_) {
    on_gone_ = std::move(on_gone);
  } else {
    on_gone(*this);
  }
}

}  // namespace millstream::http
