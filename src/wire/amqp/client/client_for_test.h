// A broker for tests of the client, on the engine itself: queues by address, each a list of
// messages. Not the server's, so that both sides of a test do not share what may be wrong.
// Thread: one reactor's.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "net/reactor_pool.h"
#include "wire/amqp/client/links.h"

namespace millstream::wire::amqp::client {

struct TestBrokerOptions {
  std::string mechanisms = "PLAIN";
  std::string user = "app", password = "secret";
  std::string refused_address = "REFUSED";    // links to it are refused
  std::string rejecting_address = "REJECTS";  // messages to it are rejected
  bool has_transactions = true;
};

// One connection of it.
class TestBroker final : TransportHandler, Output, EngineHandler, LinkHandler {
 public:
  using Queues = std::map<std::string, std::deque<std::string>>;
  TestBroker(net::Reactor& reactor, int fd, Queues& queues, const TestBrokerOptions& options)
      : queues_(queues), options_(options), engine_(*this, *this) {
    transport_ = Transport::accept(reactor, fd, nullptr, {});
    transport_->start(*this);
  }
  bool is_closed() const { return is_closed_; }
  void cut() { transport_->abort(); }
  std::string initial_response;

 private:
  struct LinkState {
    std::string address;
    bool is_browser = false;
    bool is_coordinator = false;
    std::set<const std::string*> sent;  // by a browser
  };
  struct Unsettled {
    LinkState* state;
    std::string bytes;
  };
  struct Work {
    std::deque<std::pair<std::string, std::string>> puts;
    std::deque<uint64_t> gets;
  };

  // --- transport ---
  size_t on_received(std::string_view bytes) override {
    size_t consumed = 0;
    while (consumed < bytes.size()) {
      size_t n = take(bytes.substr(consumed));
      if (n == 0) break;
      consumed += n;
    }
    engine_.flush();
    return consumed;
  }
  size_t take(std::string_view bytes) {
    if (step_ == 2) return take_sasl(bytes);
    if (step_ == 4) return engine_.receive(bytes, 1);
    if (bytes.size() < kProtocolHeaderBytes) return 0;
    ++step_;
    send(bytes.substr(0, kProtocolHeaderBytes));
    if (step_ == 1) {
      step_ = 2;
      send_sasl(SaslMechanisms{.sasl_server_mechanisms = mechanisms()});
    } else {
      step_ = 4;
    }
    return kProtocolHeaderBytes;
  }
  size_t take_sasl(std::string_view bytes) {
    Frame frame;
    if (parse_frame(bytes, 4096, frame) != FrameResult::kWhole) return 0;
    SaslInit init;
    if (decode(frame.body, init)) {
      initial_response = init.initial_response;
      std::string wanted =
          std::string(1, '\0') + options_.user + std::string(1, '\0') + options_.password;
      bool is_good = init.mechanism == "ANONYMOUS" || initial_response == wanted;
      send_sasl(SaslOutcome{.code = static_cast<uint8_t>(is_good ? 0 : 1)});
      step_ = 3;
    }
    return frame.size;
  }
  std::string_view mechanisms() {
    encoded_mechanisms_ = encode_symbols({options_.mechanisms});
    return encoded_mechanisms_;
  }
  template <typename T>
  void send_sasl(const T& performative) {
    Writer w;
    w.big32(0);
    w.byte(2);
    w.byte(1);
    w.big16(0);
    encode(w, performative);
    w.put_big32(0, static_cast<uint32_t>(w.size()));
    send(w.bytes());
  }
  void on_drained() override { engine_.drained(); }
  void on_closed(CloseReason) override { is_closed_ = true; }
  void send(std::string_view bytes) override { transport_->send(bytes); }
  void send(const queue::Body& body) override { transport_->send(body); }

  // --- engine ---
  void on_open(Engine& e, const Open&) override { e.open({.container_id = "test"}); }
  void on_finished(Engine&, const ErrorInfo*) override { transport_->shut(); }
  void on_attach(Link& link, const Attach& attach) override {
    LinkState& state = links_[&link];
    Source source;
    Target target;
    amqp::Coordinator coordinator;
    if (decode(attach.target, coordinator)) {
      if (!options_.has_transactions) return link.refuse(condition::kNotImplemented, "none here");
      state.is_coordinator = true;
    } else if (link.is_sender() && decode(attach.source, source)) {
      state.address = text_of(source.address);
      state.is_browser = source.distribution_mode == "copy";
    } else if (decode(attach.target, target)) {
      state.address = text_of(target.address);
    }
    if (state.address == options_.refused_address) {
      return link.refuse(condition::kNotFound, "no such queue");
    }
    link.set_handler(this);
    link.attach({.source = attach.source, .target = attach.target});
    if (!link.is_sender()) link.set_credit(10);
  }
  static std::string text_of(std::string_view encoded) {
    Reader reader(encoded);
    std::string_view text;
    return reader.read_string(text) ? std::string(text) : std::string();
  }
  void on_detached(Link& link, bool, const ErrorInfo*) override { links_.erase(&link); }
  void on_message(Link& link, Incoming& m) override {
    LinkState& state = links_[&link];
    link.set_credit(10);
    DeliveryState answer{.kind = StateKind::kAccepted};
    std::string error;
    if (state.is_coordinator) {
      answer = coordinate(m.bytes);
    } else if (state.address == options_.rejecting_address) {
      error = encode_error(condition::kNotAllowed, "not today");
      answer = {.kind = StateKind::kRejected, .error = error};
    } else if (m.state.is_transactional) {
      work_[std::string(m.state.txn_id)].puts.emplace_back(state.address, m.bytes);
      answer.is_transactional = true;
      answer.txn_id = m.state.txn_id;
    } else {
      queues_[state.address].emplace_back(m.bytes);
    }
    if (!m.is_settled) link.settle(m.id, answer);
  }
  DeliveryState coordinate(std::string_view bytes) {
    Reader reader(bytes);
    uint64_t code = 0;
    static_cast<void>(reader.read_descriptor(code));
    Discharge discharge;
    if (!decode(reader.rest(), discharge)) {
      txn_ = "T" + std::to_string(++last_txn_);
      work_[txn_];
      return {.kind = StateKind::kDeclared, .txn_id = txn_};
    }
    Work work = std::move(work_[std::string(discharge.txn_id)]);
    work_.erase(std::string(discharge.txn_id));
    for (uint64_t cookie : work.gets) {
      if (discharge.fail) give_back(cookie);
      unsettled_.erase(cookie);
    }
    if (!discharge.fail) {
      for (auto& [address, message] : work.puts) queues_[address].push_back(message);
    }
    return {.kind = StateKind::kAccepted};
  }
  void give_back(uint64_t cookie) {
    auto it = unsettled_.find(cookie);
    if (it == unsettled_.end()) return;
    queues_[it->second.state->address].push_front(it->second.bytes);
  }
  void on_credit(Link& link) override {
    LinkState& state = links_[&link];
    auto& queue = queues_[state.address];
    while (link.can_send() && !state.is_browser && !queue.empty()) {
      uint64_t cookie = ++last_cookie_;
      unsettled_[cookie] = {&state, queue.front()};
      link.send({.tag = "t", .head = queue.front(), .cookie = cookie});
      queue.pop_front();
    }
    for (const std::string& m : queue) {
      if (!state.is_browser || !link.can_send()) break;
      if (state.sent.insert(&m).second) link.send({.tag = "t", .is_settled = true, .head = m});
    }
    link.drained();
  }
  void on_state(Link& link, uint32_t id, uint64_t cookie, const DeliveryState& s, bool) override {
    if (s.is_transactional) {
      work_[std::string(s.txn_id)].gets.push_back(cookie);
    } else {
      if (s.kind != StateKind::kAccepted) give_back(cookie);
      unsettled_.erase(cookie);
    }
    link.forget(id);
  }

  Queues& queues_;
  const TestBrokerOptions& options_;
  std::unique_ptr<Transport> transport_;
  Engine engine_;
  int step_ = 0;
  std::string encoded_mechanisms_, txn_;
  uint64_t last_cookie_ = 0, last_txn_ = 0;
  std::map<Link*, LinkState> links_;
  std::map<uint64_t, Unsettled> unsettled_;
  std::map<std::string, Work> work_;
  bool is_closed_ = false;
};

}  // namespace millstream::wire::amqp::client
