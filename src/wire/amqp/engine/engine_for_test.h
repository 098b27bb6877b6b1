// Two engines that talk to each other without sockets, and frames by hand. Tests only.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "wire/amqp/engine/engine.h"

namespace millstream::wire::amqp {

struct TestOutput final : Output {
  std::string bytes;
  bool congested = false;
  void send(std::string_view b) override { bytes += b; }
  void send(const queue::Body& b) override { bytes += b.view(); }
  bool is_congested() const override { return congested; }
};

// One side: answers what comes, and writes down what happens.
struct TestSide final : EngineHandler, LinkHandler {
  explicit TestSide(const EngineLimits& limits = {}) : engine(output, *this, limits) {}
  TestOutput output;
  Engine engine;
  std::vector<std::string> events;
  std::vector<std::string> messages;
  std::vector<uint32_t> ids;
  std::vector<bool> settled;
  uint32_t credit = 100;
  bool opens = true, accepts = true, refuses = false;
  Session* session = nullptr;
  Link* link = nullptr;
  bool is_finished = false;
  std::string error;
  std::function<void(Link&)> credit_hook;

  static std::string text_of(const ErrorInfo* e) {
    return e == nullptr ? std::string() : std::string(e->condition);
  }
  void on_open(Engine& e, const Open& open) override {
    events.push_back("open " + std::string(open.container_id));
    if (opens) e.open({.container_id = "answer"});
  }
  void on_begin(Session& s) override {
    session = &s;
    events.push_back("begin");
  }
  void on_attach(Link& l, const Attach& a) override {
    events.push_back("attach " + l.name());
    link = &l;
    l.set_handler(this);
    if (refuses) return l.refuse(condition::kNotFound, "nothing here");
    l.attach({.snd_settle_mode = a.snd_settle_mode,
              .rcv_settle_mode = a.rcv_settle_mode,
              .source = a.source,
              .target = a.target,
              .max_message_size = engine.limits().message_bytes_max});
    if (!l.is_sender()) l.set_credit(credit);
  }
  void on_end(Session&, const ErrorInfo* e) override {
    events.push_back("end " + text_of(e));
    session = nullptr;
    link = nullptr;
  }
  void on_finished(Engine&, const ErrorInfo* e) override {
    is_finished = true;
    error = text_of(e);
    session = nullptr;
    link = nullptr;
  }
  void on_attached(Link& l, const Attach&) override {
    events.push_back("attached " + l.name());
    link = &l;
  }
  void on_message(Link& l, Incoming& m) override {
    messages.emplace_back(m.bytes);
    ids.push_back(m.id);
    settled.push_back(m.is_settled);
    if (accepts && !m.is_settled) l.settle(m.id, {.kind = StateKind::kAccepted});
  }
  void on_flow(Link& l) override { events.push_back("flow " + std::to_string(l.credit())); }
  void on_credit(Link& l) override {
    if (credit_hook) credit_hook(l);
  }
  void on_state(Link&, uint32_t id, uint64_t, const DeliveryState& s, bool is_settled) override {
    events.push_back("state " + std::to_string(id) + " " + std::string(outcome_symbol(s.kind)) +
                     (is_settled ? " settled" : ""));
  }
  void on_detached(Link& l, bool is_closed, const ErrorInfo* e) override {
    events.push_back("detached " + l.name() + (is_closed ? " closed " : " ") + text_of(e));
    link = nullptr;
  }
  bool saw(std::string_view event) const {
    for (const auto& e : events) {
      if (e == event) return true;
    }
    return false;
  }
};

// What `from` has written goes to `to`, in segments of at most `segment` bytes.
inline void carry(TestSide& from, TestSide& to, size_t segment, std::string& kept) {
  from.engine.flush();
  std::string bytes = std::exchange(from.output.bytes, {});
  for (size_t at = 0; at < bytes.size();) {
    size_t n = std::min(segment, bytes.size() - at);
    kept.append(bytes, at, n);
    at += n;
    if (kept.size() < to.engine.wanted_bytes()) continue;
    kept.erase(0, to.engine.receive(kept, 1));
  }
}

struct TestPair {
  TestSide client, server;
  size_t segment = SIZE_MAX;
  std::string to_server, to_client;
  explicit TestPair(const EngineLimits& client_limits = {}, const EngineLimits& server_limits = {})
      : client(client_limits), server(server_limits) {
    client.opens = false;
  }
  void run() {
    for (int i = 0; i < 1000; ++i) {
      carry(client, server, segment, to_server);
      carry(server, client, segment, to_client);
      client.engine.flush();
      server.engine.flush();
      if (client.output.bytes.empty() && server.output.bytes.empty()) return;
    }
  }
  Session& begin() {
    client.engine.open({.container_id = "client"});
    run();
    Session* s = client.engine.begin();
    run();
    return *s;
  }
  Link* attach(bool is_sender, uint8_t settle_mode = kSenderMixed) {
    Session& s = begin();
    Link* l = s.attach("link", is_sender, {.snd_settle_mode = settle_mode}, client);
    run();
    return l;
  }
};

}  // namespace millstream::wire::amqp
