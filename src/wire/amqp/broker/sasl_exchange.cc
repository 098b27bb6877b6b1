#include "wire/amqp/broker/sasl_exchange.h"

#include <utility>

#include "wire/amqp/codec/performatives_gen.h"

namespace millstream::wire::amqp {

SaslExchange::SaslExchange(Broker& broker, Caller caller, base::Executor& executor,
                           Transport& transport, Done done)
    : broker_(broker),
      caller_(std::move(caller)),
      executor_(executor),
      transport_(transport),
      done_(std::move(done)) {}

template <typename T>
void SaslExchange::send(const T& body) {
  writer_.clear();
  writer_.big32(0);
  writer_.byte(2);
  writer_.byte(static_cast<uint8_t>(FrameType::kSasl));
  writer_.big16(0);
  encode(writer_, body);
  writer_.put_big32(0, static_cast<uint32_t>(writer_.size()));
  transport_.send(writer_.bytes());
}

void SaslExchange::start() {
  transport_.send(protocol_header(ProtocolId::kSasl));
  // Always an array, even of one: some clients take nothing else.
  std::vector<std::string> names = SaslServer::mechanisms(broker_, caller_);
  Writer w;
  size_t size = 2;  // the count and the constructor of the elements
  for (const std::string& name : names) size += 1 + name.size();
  w.byte(code::kArray8);
  w.byte(static_cast<uint8_t>(size));
  w.byte(static_cast<uint8_t>(names.size()));
  w.byte(code::kSymbol8);
  for (const std::string& name : names) {
    w.byte(static_cast<uint8_t>(name.size()));
    w.raw(name);
  }
  send(SaslMechanisms{.sasl_server_mechanisms = w.bytes()});
}

SaslExchange::Result SaslExchange::receive(const Frame& frame) {
  Reader reader(frame.body);
  uint64_t code = 0;
  if (is_finished_ || frame.type != static_cast<uint8_t>(FrameType::kSasl) ||
      !reader.read_descriptor(code)) {
    return Result::kBroken;
  }
  if (code == descriptor::kSaslResponse && server_ != nullptr) {
    SaslResponse response;
    if (!read_fields(reader, response)) return Result::kBroken;
    return on_response(response.response);
  }
  SaslInit init;
  if (code != descriptor::kSaslInit || server_ != nullptr || !read_fields(reader, init)) {
    return Result::kBroken;
  }
  server_ = SaslServer::create(broker_, caller_, init.mechanism, executor_);
  if (server_ == nullptr) {
    finish(Outcome::kAuth, {}, "mechanism " + std::string(init.mechanism) + " is not offered");
    return Result::kMore;
  }
  bool has_response = init.initial_response.data() != nullptr;
  if (!has_response && init.mechanism == "PLAIN") {
    send(SaslChallenge{.challenge = ""});
    return Result::kMore;
  }
  return on_response(init.initial_response);
}

SaslExchange::Result SaslExchange::on_response(std::string_view response) {
  if (has_last_word_) {
    finish(Outcome::kOk, std::move(login_), {});
    return Result::kMore;
  }
  if (++steps_ > kStepsMax) {
    finish(Outcome::kAuth, {}, "too many steps");
    return Result::kMore;
  }
  is_waiting_ = is_in_step_ = true;
  server_->step(response, [this](SaslServer::Step step) { on_step(std::move(step)); });
  is_in_step_ = false;
  return is_waiting_ ? Result::kWaits : Result::kMore;
}

void SaslExchange::on_step(SaslServer::Step step) {
  is_waiting_ = false;
  using Kind = SaslServer::Step::Kind;
  auto resumed = is_in_step_ ? nullptr : resumed_;
  if (step.kind == Kind::kRefused) {
    finish(Outcome::kAuth, std::move(step.login), std::move(step.why));
  } else if (step.kind == Kind::kChallenge || !step.data.empty()) {
    has_last_word_ = step.kind == Kind::kAccepted;
    login_ = std::move(step.login);
    send(SaslChallenge{.challenge = step.data});
  } else {
    finish(Outcome::kOk, std::move(step.login), {});
  }
  if (resumed) resumed();
}

void SaslExchange::finish(Outcome outcome, Login login, std::string why) {
  is_finished_ = true;
  send(SaslOutcome{.code = static_cast<uint8_t>(outcome)});
  std::exchange(done_, nullptr)(outcome == Outcome::kOk, std::move(login), std::move(why));
}

}  // namespace millstream::wire::amqp
