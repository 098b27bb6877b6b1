#include "wire/amqp/client/connection.h"

#include "base/ascii.h"
#include "base/random.h"
#include "net/blocking_pool.h"
#include "wire/amqp/client/errors_gen.h"

namespace millstream::wire::amqp::client {
namespace {

constexpr size_t kSaslFramesMax = 16;
constexpr uint8_t kSaslOk = 0;

std::string_view sasl_failure_text(uint8_t code) {
  switch (code) {
    case 1:
      return "user or password is wrong";
    case 2:
      return "the broker had an error";
    case 3:
      return "the broker has an error that stays";
    default:
      return "the broker cannot check it now";
  }
}

std::string new_container_id() {
  char bytes[12];
  base::system_random().fill(bytes, sizeof bytes);
  std::string id = "millstream-";
  base::append_hex(id, std::string_view(bytes, sizeof bytes));
  return id;
}

}  // namespace

std::string error_text(const ErrorInfo* error, std::string_view otherwise) {
  if (error == nullptr) return std::string(otherwise);
  std::string text(error->condition);
  if (!error->description.empty()) text.append(": ").append(error->description);
  return text;
}

Connection::Connection(net::Reactor& reactor, ConnectionOptions options)
    : reactor_(reactor),
      options_(std::move(options)),
      peer_(options_.host + ":" + std::to_string(options_.port)),
      tick_alarm_(reactor, [this] { tick(); }) {
  if (options_.container_id.empty()) options_.container_id = new_container_id();
  engine_.reset(new Engine(*this, *this, options_.limits));
}

Connection::~Connection() { base::wipe(options_.identity.password); }

Result<std::unique_ptr<Connection>> Connection::open(net::Reactor& reactor,
                                                     ConnectionOptions options) {
  Transport::ConnectOptions how;
  how.timeout_ns = options.timeout_ns;
  how.addresses =
      MS_TRY(net::resolve(options.host, options.port, reactor.refresh_now() + how.timeout_ns));
  how.tls = options.tls;
  how.host = options.host;
  std::unique_ptr<Connection> connection(new Connection(reactor, std::move(options)));
  connection->transport_ = Transport::connect(reactor, std::move(how));
  connection->transport_->start(*connection);
  Connection& c = *connection;
  if (!c.wait(c.deadline(), [&] { return c.is_connected_; })) return c.why_ended();
  MS_TRY(c.log_in());
  MS_TRY(c.open_engine());
  return connection;
}

int64_t Connection::deadline() const { return reactor_.refresh_now() + options_.timeout_ns; }

Status Connection::why_ended() const {
  if (!not_amqp_.empty()) return base::make_error(errors::kNotAmqp, {peer_, not_amqp_});
  if (!is_ended_) return base::make_error(errors::kNoAnswer, {peer_});
  return base::make_error(errors::kConnectionLost, {peer_, why_});
}

// --- SASL ---

template <typename T>
void Connection::send_sasl(const T& performative) {
  Writer w;
  w.big32(0);
  w.byte(2);
  w.byte(static_cast<uint8_t>(FrameType::kSasl));
  w.big16(0);
  encode(w, performative);
  w.put_big32(0, static_cast<uint32_t>(w.size()));
  transport_->send(w.bytes());
}

Result<std::string> Connection::next_sasl_frame() {
  if (!wait(deadline(), [&] { return !sasl_frames_.empty(); })) return why_ended();
  std::string frame = std::move(sasl_frames_.front());
  sasl_frames_.pop_front();
  return frame;
}

Status Connection::log_in() {
  state_ = State::kSaslHeader;
  transport_->send(protocol_header(ProtocolId::kSasl));
  std::string frame = MS_TRY(next_sasl_frame());
  SaslMechanisms offered;
  if (!decode(frame, offered)) {
    return base::make_error(errors::kNotAmqp, {peer_, "it begins without its mechanisms"});
  }
  const std::string who =
      options_.identity.user.empty() ? "an anonymous user" : options_.identity.user;
  SaslClient sasl(options_.identity);
  if (!sasl.choose(offered.sasl_server_mechanisms)) {
    std::string names;
    for_each_symbol(offered.sasl_server_mechanisms, [&](std::string_view name) {
      names.append(names.empty() ? "" : ", ").append(name);
    });
    return base::make_error(errors::kLoginRefused, {peer_, who, "it wants one of " + names});
  }
  send_sasl(SaslInit{.mechanism = sasl.mechanism(),
                     .initial_response = sasl.initial_response(),
                     .hostname = options_.host});
  for (size_t i = 0; i < kSaslFramesMax; ++i) {
    frame = MS_TRY(next_sasl_frame());
    SaslChallenge challenge;
    SaslOutcome outcome;
    if (decode(frame, challenge)) {
      Result<std::string> answer = std::string();
      net::run_blocking([&] { answer = sasl.answer(challenge.challenge); });
      const std::string response = MS_TRY(std::move(answer));
      send_sasl(SaslResponse{.response = std::string_view(response.c_str(), response.size())});
    } else if (!decode(frame, outcome)) {
      return base::make_error(errors::kNotAmqp, {peer_, "a frame of SASL is damaged"});
    } else if (outcome.code != kSaslOk) {
      return base::make_error(errors::kLoginRefused, {peer_, who, sasl_failure_text(outcome.code)});
    } else {
      return sasl.check(outcome.additional_data);
    }
  }
  return base::make_error(errors::kLoginRefused, {peer_, who, "it asks too much"});
}

Status Connection::open_engine() {
  transport_->send(protocol_header(ProtocolId::kAmqp));
  engine_->open({.container_id = options_.container_id, .hostname = options_.host});
  if (!wait(deadline(), [&] { return engine_->is_open(); })) return why_ended();
  session_ = engine_->begin();
  if (!wait(deadline(), [&] { return session_ != nullptr && session_->is_open(); })) {
    return why_ended();
  }
  tick();
  return {};
}

Status Connection::close() {
  if (is_ended_) return why_ended();
  is_closing_ = true;
  engine_->flush();
  engine_->close();
  if (!wait(deadline(), [&] { return is_closed_; })) return why_ended();
  transport_->shut();
  return {};
}

void Connection::flush_later() {
  if (is_flush_posted_ || is_ended_) return;
  is_flush_posted_ = true;
  reactor_.post([this, life = std::weak_ptr<char>(life_)] {
    if (life.expired()) return;
    is_flush_posted_ = false;
    engine_->flush();
  });
}

void Connection::tick() {
  if (is_ended_) return;
  tick_alarm_.set_at(engine_->tick(reactor_.refresh_now()));
}

void Connection::end(std::string why) {
  if (is_ended_) return;
  is_ended_ = true;
  why_ = std::move(why);
  tick_alarm_.cancel();
  waiters_.notify();
}

// --- transport ---

void Connection::on_connected() {
  is_connected_ = true;
  waiters_.notify();
}

size_t Connection::take_header(std::string_view bytes, ProtocolId wanted) {
  ProtocolId id = ProtocolId::kAmqp;
  if (!parse_protocol_header(bytes.substr(0, kProtocolHeaderBytes), id)) {
    not_amqp_ = "it answers with something else";
  } else if (id != wanted) {
    not_amqp_ = "it wants another protocol first";
  }
  if (!not_amqp_.empty()) {
    transport_->abort();
    end(not_amqp_);
    return bytes.size();
  }
  state_ = wanted == ProtocolId::kSasl ? State::kSasl : State::kOpen;
  return kProtocolHeaderBytes;
}

size_t Connection::take_sasl(std::string_view bytes) {
  Frame frame;
  switch (parse_frame(bytes, options_.limits.frame_bytes_max, frame)) {
    case FrameResult::kPartial:
      return 0;
    case FrameResult::kInvalid:
      break;
    case FrameResult::kWhole: {
      if (frame.type != static_cast<uint8_t>(FrameType::kSasl)) break;
      if (sasl_frames_.size() >= kSaslFramesMax) break;
      sasl_frames_.emplace_back(frame.body);
      SaslOutcome outcome;
      if (decode(frame.body, outcome)) state_ = State::kAmqpHeader;
      waiters_.notify();
      return frame.size;
    }
  }
  not_amqp_ = "a frame of SASL is damaged";
  transport_->abort();
  end(not_amqp_);
  return bytes.size();
}

size_t Connection::on_received(std::string_view bytes) {
  size_t consumed = 0;
  size_t wanted = 1;
  while (consumed < bytes.size() && !is_ended_) {
    std::string_view rest = bytes.substr(consumed);
    size_t taken = 0;
    if (state_ == State::kSasl) {
      taken = take_sasl(rest);
    } else if (state_ == State::kOpen) {
      taken = engine_->receive(rest, reactor_.now_ns());
      wanted = engine_->wanted_bytes();
    } else if (rest.size() >= kProtocolHeaderBytes) {
      taken =
          take_header(rest, state_ == State::kSaslHeader ? ProtocolId::kSasl : ProtocolId::kAmqp);
    }
    if (taken == 0) break;
    consumed += taken;
  }
  if (is_ended_) return bytes.size();
  engine_->flush();
  if (state_ == State::kOpen && consumed < bytes.size()) transport_->expect(wanted);
  waiters_.notify();
  return consumed;
}

void Connection::on_drained() {
  engine_->drained();
  waiters_.notify();
}

void Connection::on_closed(CloseReason reason) {
  std::string why(close_reason_text(reason));
  if (!transport_->failure().empty()) why += ": " + transport_->failure();
  end(std::move(why));
}

void Connection::send(std::string_view bytes) {
  if (!is_ended_) transport_->send(bytes);
}
void Connection::send(const queue::Body& body) {
  if (!is_ended_) transport_->send(body);
}
bool Connection::is_congested() const {
  return transport_->outgoing_bytes() > options_.outgoing_bytes_max;
}

// --- engine ---

void Connection::on_end(Session& session, const ErrorInfo* error) {
  if (&session != session_) return;
  session_ = nullptr;
  if (is_closing_) return;
  end(error_text(error, "the broker has ended the session"));
  engine_->close();
  transport_->shut();
}

void Connection::on_finished(Engine&, const ErrorInfo* error) {
  session_ = nullptr;
  if (is_closing_ && error == nullptr) {
    is_closed_ = true;
    return waiters_.notify();
  }
  end(error_text(error, "the broker has closed it"));
  transport_->shut();
}

}  // namespace millstream::wire::amqp::client
