// A broker of AMQP on a port of its own, and clients of it that are our engine over a blocking
// socket. Tests only.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "wire/amqp/broker/broker_session.h"
#include "wire/amqp/broker/shared_state.h"
#include "wire/amqp/engine/engine_for_test.h"
#include "wire/common/wire_for_test.h"

namespace millstream::wire::amqp::testing {

using wire::testing::kTestPassword;
using wire::testing::kTestUser;
using wire::testing::kTestWaitMs;
using wire::testing::RawClient;

inline constexpr const char* kQueue = "DEV.QUEUE.1";

class AmqpWorld : public wire::testing::WireWorld {
 public:
  explicit AmqpWorld(Options options = {}, const EndpointLimits& limits = {})
      : WireWorld(std::move(options)) {
    EndpointOptions wish;
    wish.protocol = "amqp";
    wish.channel = "SYSTEM.DEF.AMQP";
    wish.limits = limits;
    endpoint = std::make_unique<Endpoint>(
        *pool, *broker, wish, [this](SessionHost& host, std::unique_ptr<Transport> transport) {
          return std::make_shared<BrokerSession>(host, std::move(transport), shared);
        });
    REQUIRE(endpoint->listen("127.0.0.1", 0).ok());
  }
  ~AmqpWorld() {
    endpoint = nullptr;
    shared.kept_links()->clear();
  }
  SharedState shared;
  std::unique_ptr<Endpoint> endpoint;
};

// One link of a client: what came on it.
struct ClientLink final : LinkHandler {
  struct Message {
    uint32_t id = 0;
    std::string bytes;
    std::string body;  // of a data section or a text
    std::string tag;
    bool is_settled = false;
    bool is_transactional = false;
    bool is_resumed = false;
  };
  struct State {
    uint32_t id = 0;
    StateKind kind = StateKind::kNone;
    bool is_settled = false;
    std::string txn_id;
    std::string condition;
  };
  Link* link = nullptr;
  std::vector<Message> messages;
  std::vector<State> states;
  std::string address;    // that the broker's answer has
  std::string source;     // encoded
  std::string unsettled;  // of the broker's answer
  std::string condition;  // of a detach
  bool is_attached = false;
  bool is_detached = false;
  bool is_closed = false;
  bool has_source = false;
  uint32_t next_tag = 0;

  void on_attached(Link& l, const Attach& a) override {
    is_attached = true;
    has_source = !a.source.empty();
    source = a.source;
    unsettled = a.unsettled;
    Value v;
    Source s;
    Target t;
    std::string_view raw;
    if (!l.is_sender() && decode(a.source, s)) raw = s.address;
    if (l.is_sender() && decode(a.target, t)) raw = t.address;
    Reader reader(raw);
    if (!raw.empty() && reader.read(v)) address = v.bytes;
  }
  void on_message(Link&, Incoming& m) override {
    Message got{.id = m.id,
                .bytes = std::string(m.bytes),
                .tag = std::string(m.tag),
                .is_settled = m.is_settled,
                .is_transactional = m.state.is_transactional,
                .is_resumed = m.is_resumed};
    Reader reader(got.bytes);
    uint64_t code = 0;
    std::string_view raw;
    while (!reader.at_end() && reader.read_descriptor(code) && reader.read_raw(raw)) {
      Reader inside(raw);
      Value v;
      if (code >= descriptor::kData && code <= descriptor::kAmqpValue && inside.read(v)) {
        got.body += v.bytes;
      }
    }
    messages.push_back(std::move(got));
  }
  void on_state(Link&, uint32_t id, uint64_t, const DeliveryState& s, bool is_settled) override {
    ErrorInfo error;
    bool has_error = !s.error.empty() && decode(s.error, error);
    states.push_back({id, s.kind, is_settled, std::string(s.txn_id),
                      has_error ? std::string(error.condition) : std::string()});
  }
  void on_detached(Link&, bool closed, const ErrorInfo* e) override {
    is_detached = true;
    is_closed = closed;
    link = nullptr;
    if (e != nullptr) condition = e->condition;
  }
};

class Client final : Output, EngineHandler {
 public:
  explicit Client(int port, std::string container = "client", bool opens = true,
                  const EngineLimits& limits = {})
      : raw(port), engine(*this, *this, limits) {
    if (!opens) return;
    raw.send(protocol_header(ProtocolId::kAmqp));
    REQUIRE(raw.receive_bytes(kProtocolHeaderBytes));
    CHECK(raw.received.substr(0, 8) == protocol_header(ProtocolId::kAmqp));
    raw.received.erase(0, kProtocolHeaderBytes);
    open(std::move(container));
  }
  void open(std::string container, std::string_view desired = {}) {
    engine.open({.container_id = container, .desired_capabilities = desired});
    REQUIRE(run_until([&] { return is_open || is_finished; }));
    if (is_finished) return;
    session = engine.begin();
    REQUIRE(run_until([&] { return session->is_open() || is_finished; }));
  }
  // Works until it is so; false: the time is over, or the connection.
  bool run_until(const std::function<bool()>& is_so) {
    for (;;) {
      engine.flush();
      raw.send(std::exchange(out, {}));
      while (raw.received.size() >= engine.wanted_bytes()) {
        size_t n = engine.receive(raw.received, 1);
        if (n == 0) break;
        raw.received.erase(0, n);
      }
      engine.flush();
      raw.send(std::exchange(out, {}));
      if (is_so()) return true;
      if (!raw.receive_more()) return is_so();
    }
  }
  // Until the broker has answered a begin that follows everything.
  void settle_down() {
    amqp::Session* more = engine.begin();
    REQUIRE(more != nullptr);
    CHECK(run_until([&] { return more->is_open() || is_finished; }));
    if (is_finished) return;
    more->end();
    CHECK(run_until([&] { return ended > 0 || is_finished; }));
    ended = 0;
  }
  std::unique_ptr<ClientLink> attach(std::string name, bool is_sender, Attach wish,
                                     uint32_t credit = 0) {
    auto l = std::make_unique<ClientLink>();
    l->link = session->attach(std::move(name), is_sender, wish, *l);
    REQUIRE(l->link != nullptr);
    CHECK(run_until([&] { return l->is_attached || is_finished || !session->is_open(); }));
    bool is_there = !l->is_detached && l->link != nullptr;
    if (is_there && is_sender) {
      (void)run_until([&] {
        return l->is_detached || l->link->credit() > 0 || l->link->is_detached_by_peer();
      });
    } else if (is_there && credit > 0) {
      l->link->set_credit(credit);
    }
    return l;
  }
  std::unique_ptr<ClientLink> sender(std::string_view address, uint8_t settle_mode = kSenderMixed,
                                     uint8_t receiver_mode = kReceiverFirst) {
    std::string target = target_of(address);
    return attach("s-" + std::string(address) + std::to_string(++last_name), true,
                  {.snd_settle_mode = settle_mode,
                   .rcv_settle_mode = receiver_mode,
                   .source = empty_source(),
                   .target = target});
  }
  std::unique_ptr<ClientLink> receiver(std::string_view address, uint32_t credit = 10,
                                       uint8_t settle_mode = kSenderMixed,
                                       uint8_t receiver_mode = kReceiverFirst) {
    std::string source = source_of(address);
    return attach("r-" + std::string(address) + std::to_string(++last_name), false,
                  {.snd_settle_mode = settle_mode,
                   .rcv_settle_mode = receiver_mode,
                   .source = source,
                   .target = empty_target()},
                  credit);
  }
  // Its delivery-id.
  uint32_t put(ClientLink& l, std::string_view body, std::string_view txn_id = {},
               bool is_settled = false, bool is_durable = true) {
    CHECK(run_until([&] { return l.is_detached || l.link->can_send(); }));
    std::string bytes = message_of(body, is_durable);
    std::string tag = std::to_string(++l.next_tag);
    Writer state;
    if (!txn_id.empty()) encode_state(state, {.txn_id = txn_id, .is_transactional = true});
    return l.link->send(
        {.tag = tag, .is_settled = is_settled, .state = state.bytes(), .head = bytes});
  }
  bool put_accepted(ClientLink& l, std::string_view body) {
    size_t before = l.states.size();
    put(l, body);
    return run_until([&] { return l.states.size() > before || l.is_detached; }) &&
           l.states.size() > before && l.states.back().kind == StateKind::kAccepted;
  }
  bool wait_messages(ClientLink& l, size_t count) {
    return run_until([&] { return l.messages.size() >= count || l.is_detached || is_finished; }) &&
           l.messages.size() >= count;
  }
  void close() {
    engine.close();
    CHECK(run_until([&] { return is_finished; }));
  }

  static std::string message_of(std::string_view body, bool is_durable = true) {
    Writer w;
    encode(w, Header{.durable = is_durable});
    w.descriptor(descriptor::kAmqpValue);
    w.string(body);
    return std::string(w.bytes());
  }
  static std::string text_value(std::string_view text) {
    Writer w;
    w.string(text);
    return std::string(w.bytes());
  }
  static std::string source_of(std::string_view address, Source more = {}) {
    std::string raw = text_value(address);
    more.address = raw;
    Writer w;
    encode(w, more);
    return std::string(w.bytes());
  }
  static std::string target_of(std::string_view address, Target more = {}) {
    std::string raw = text_value(address);
    if (!address.empty()) more.address = raw;
    Writer w;
    encode(w, more);
    return std::string(w.bytes());
  }
  static std::string_view empty_source() { return {"\0\x53\x28\x45", 4}; }
  static std::string_view empty_target() { return {"\0\x53\x29\x45", 4}; }

  RawClient raw;
  std::string out;
  Engine engine;
  amqp::Session* session = nullptr;
  int ended = 0;
  int last_name = 0;
  bool is_open = false;
  bool is_finished = false;
  std::string offered, properties, error, error_info, session_error;

 private:
  void send(std::string_view b) override { out += b; }
  void send(const queue::Body& b) override { out += b.view(); }
  void on_open(Engine&, const Open& o) override {
    is_open = true;
    offered = o.offered_capabilities;
    properties = o.properties;
  }
  void on_end(amqp::Session& s, const ErrorInfo* e) override {
    ++ended;
    if (e != nullptr) session_error = e->condition;
    if (&s == session) session = nullptr;
  }
  void on_finished(Engine&, const ErrorInfo* e) override {
    is_finished = true;
    session = nullptr;
    if (e == nullptr) return;
    error = e->condition;
    error_info = e->info;
  }
};

}  // namespace millstream::wire::amqp::testing
