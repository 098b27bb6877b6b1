#include "wire/stomp/session.h"

#include <algorithm>
#include <charconv>

#include "base/assert.h"
#include "base/log.h"
#include "mqi/reason_codes.h"

namespace millstream::wire::stomp {
namespace {

constexpr int64_t kMs = net::kMillisecond;

FrameLimits frame_limits(const EndpointLimits& limits) {
  FrameLimits out;
  out.body_bytes_max = limits.message_bytes_max;
  return out;
}

std::string reason_text(int32_t reason) {
  std::string out = std::to_string(reason);
  for (const mqi::NumberConstant& known : mqi::reason_codes()) {
    if (known.value == reason) return std::string(known.name) + " (" + out + ")";
  }
  return out;
}

// "cx,cy" in milliseconds.
bool read_beats(std::string_view text, int64_t& sends_ms, int64_t& wants_ms) {
  const char* end = text.data() + text.size();
  auto first = std::from_chars(text.data(), end, sends_ms);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',') return false;
  auto second = std::from_chars(first.ptr + 1, end, wants_ms);
  constexpr int64_t kMsMax = 1'000'000'000;
  return second.ec == std::errc() && second.ptr == end && sends_ms >= 0 && wants_ms >= 0 &&
         sends_ms <= kMsMax && wants_ms <= kMsMax;
}

}  // namespace

StompSession::StompSession(SessionHost& host, std::unique_ptr<Transport> transport)
    : Session(host, std::move(transport)),
      reader_(frame_limits(limits())),
      beat_alarm_(reactor(), [this] { check_beats(); }) {}

StompSession::~StompSession() { subscriptions_.clear(); }

size_t StompSession::on_received(std::string_view bytes) {
  std::string_view rest = bytes;
  while (may_read()) {
    const FrameReader::Event event = reader_.read(rest);
    if (event == FrameReader::Event::kNone) break;
    if (event == FrameReader::Event::kBad) {
      error("", "The frame is malformed.", reader_.why());
      break;
    }
    handle(reader_.frame());
  }
  return state_ == State::kEnding ? bytes.size() : bytes.size() - rest.size();
}

StompSession::Command StompSession::command_of(std::string_view name) {
  static constexpr std::pair<std::string_view, Command> kCommands[] = {
      {"SEND", &StompSession::send_frame},
      {"ACK", &StompSession::ack},
      {"NACK", &StompSession::nack},
      {"SUBSCRIBE", &StompSession::subscribe},
      {"UNSUBSCRIBE", &StompSession::unsubscribe},
      {"BEGIN", &StompSession::begin},
      {"COMMIT", &StompSession::commit},
      {"ABORT", &StompSession::abort_transaction},
      {"DISCONNECT", &StompSession::disconnect}};
  for (const auto& [known, command] : kCommands) {
    if (known == name) return command;
  }
  return nullptr;
}

void StompSession::handle(Frame& frame) {
  const bool is_connect = frame.command == "CONNECT" || frame.command == "STOMP";
  if (state_ == State::kNew) {
    if (is_connect) return connect(frame);
    return error("", "The first frame has to be CONNECT or STOMP.");
  }
  const Command command = command_of(frame.command);
  const bool is_known = command != nullptr && (version_ >= Version::k11 || frame.command != "NACK");
  if (is_connect) return error(frame, "There is a connection already.");
  if (!is_known) return error(frame, "The command is not known.", frame.command);
  (this->*command)(frame);
}

// --- connecting ---

bool StompSession::negotiate(const Frame& frame) {
  const Header* accepts = frame.find("accept-version");
  version_ = Version::k10;
  if (accepts == nullptr) return true;
  version_ = Version::kNone;
  std::string_view rest = accepts->second;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view one = rest.substr(0, comma);
    rest.remove_prefix(std::min(rest.size(), comma + 1));
    for (Version known : {Version::k10, Version::k11, Version::k12}) {
      if (one == version_text(known)) version_ = std::max(version_, known);
    }
  }
  return version_ != Version::kNone;
}

void StompSession::connect(Frame& frame) {
  if (!negotiate(frame)) {
    FrameWriter writer("ERROR", Version::k10);
    writer.add_plain("version", "1.0,1.1,1.2");
    writer.add_plain("message", "None of the versions of STOMP is spoken here.");
    writer.add_plain("content-length", "0");
    transport().send(writer.take() + '\0');
    state_ = State::kEnding;
    return transport().shut();
  }
  reader_.set_version(version_);
  client_id_ = frame.get("client-id");
  agree_on_beats(frame);
  if (state_ == State::kEnding) return;
  state_ = State::kLoggingIn;
  transport().pause_reading();
  auto answer = [this, self = shared_from_this()](LoginAnswer given) {
    if (!is_ended()) logged_in(given);
  };
  const Caller who = caller();
  const std::string_view user = frame.get("login");
  if (user.empty() && !who.certificate_name.empty()) {
    // The certificate says who it is.
    LoginAnswer known;
    known.is_accepted = true;
    known.login = {who.certificate_name, true};
    return executor().post([answer, known] { answer(known); });
  }
  broker().log_in(who, std::string(user), std::string(frame.get("passcode")), executor(), answer);
}

void StompSession::logged_in(const LoginAnswer& answer) {
  std::string why = answer.why;
  queue::Outcome outcome = queue::Outcome::failed(mqi::reason::kNotAuthorized);
  if (answer.is_accepted) {
    login_ = answer.login;
    outcome = broker().connect(caller(), login_, "STOMP client", executor(), connection_, &why);
  }
  if (outcome.is_failed()) {
    base::log_event(base::LogLevel::kWarning, "MS2821W",
                    "A STOMP client of " + std::string(transport().peer_address()) +
                        " was not let in: " + (why.empty() ? reason_text(outcome.reason) : why));
    return error("", "You may not connect.");
  }
  state_ = State::kOpen;
  handshake_done(connection_->options().user, client_id_,
                 "STOMP " + std::string(version_text(version_)));
  FrameWriter writer("CONNECTED", version_);
  writer.add_plain("version", version_text(version_));
  writer.add("session", id());
  writer.add_plain("server", "Millstream/" MS_VERSION);
  if (version_ >= Version::k11) writer.add_plain("heart-beat", beats_);
  transport().send(writer.take() + '\0');
  check_beats();
  transport().resume_reading();
}

// --- heart-beats ---

void StompSession::agree_on_beats(const Frame& frame) {
  int64_t sends_ms = 0, wants_ms = 0;
  const Header* header = version_ >= Version::k11 ? frame.find("heart-beat") : nullptr;
  if (header != nullptr && !read_beats(header->second, sends_ms, wants_ms)) {
    return error("", "heart-beat is not two numbers.");
  }
  if (sends_ms > 0) sends_ms = std::max(sends_ms, kBeatMinMs);
  if (wants_ms > 0) wants_ms = std::max(wants_ms, kBeatMinMs);
  // What we send, and what we want.
  beats_ = std::to_string(wants_ms) + "," + std::to_string(sends_ms);
  send_every_ns_ = wants_ms * kMs;
  receive_every_ns_ = sends_ms * kMs;
  last_received_ns_ = last_sent_ns_ = reactor().now_ns();
}

void StompSession::check_beats() {
  if (is_ended() || state_ == State::kEnding) return;
  if (send_every_ns_ == 0 && receive_every_ns_ == 0) return;
  const int64_t now_ns = reactor().now_ns();
  if (transport().bytes_received() != received_seen_ || is_reading_paused_) {
    received_seen_ = transport().bytes_received();
    last_received_ns_ = now_ns;
  }
  if (receive_every_ns_ > 0 && now_ns - last_received_ns_ > 2 * receive_every_ns_) {
    return transport().abort(CloseReason::kTimeout);
  }
  if (transport().bytes_sent() != sent_seen_) {
    sent_seen_ = transport().bytes_sent();
    last_sent_ns_ = now_ns;
  }
  if (send_every_ns_ > 0 && now_ns - last_sent_ns_ >= send_every_ns_ / 2) {
    if (transport().outgoing_bytes() == 0) transport().send("\n");
    last_sent_ns_ = now_ns;
  }
  // Often enough that neither comes late.
  int64_t look_ns = INT64_MAX;
  if (send_every_ns_ > 0) look_ns = send_every_ns_ / 4;
  if (receive_every_ns_ > 0) look_ns = std::min(look_ns, receive_every_ns_ / 2);
  beat_alarm_.set_after(look_ns);
}

// --- answers ---

void StompSession::receipt(const std::string& id) {
  if (id.empty() || is_ended() || state_ == State::kEnding) return;
  FrameWriter writer("RECEIPT", version_);
  writer.add("receipt-id", id);
  transport().send(writer.take() + '\0');
}

void StompSession::error(const Frame& frame, std::string_view message, std::string_view details) {
  error(frame.get("receipt"), message, details);
}

void StompSession::error(std::string_view receipt, std::string_view message,
                         std::string_view details) {
  if (is_ended() || state_ == State::kEnding) return;
  FrameWriter writer("ERROR", version_ == Version::kNone ? Version::k10 : version_);
  writer.add("message", message);
  if (!receipt.empty()) writer.add("receipt-id", receipt);
  std::string body = std::string(message);
  if (!details.empty()) (body += "\n") += details;
  body += '\n';
  writer.add_plain("content-type", "text/plain");
  writer.add("content-length", body.size());
  transport().send(writer.take() + body + '\0');
  state_ = State::kEnding;
  beat_alarm_.cancel();
  for (const auto& [id, subscription] : subscriptions_) subscription->pause();
  transport().shut();
}

void StompSession::failed(std::string_view receipt, std::string_view what,
                          const queue::Outcome& outcome) {
  error(receipt, what, "The queue manager says " + reason_text(outcome.reason) + ".");
}

queue::Done StompSession::when_done(const Frame& frame, std::shared_ptr<void> kept) {
  ++pending_;
  return [this, self = shared_from_this(), kept = std::move(kept),
          command = std::string(frame.command),
          id = std::string(frame.get("receipt"))](const queue::Outcome& outcome) {
    MS_ASSERT(pending_ > 0);
    --pending_;
    if (is_ended()) return;
    if (outcome.is_failed()) return failed(id, command + " was refused.", outcome);
    receipt(id);
    check_pressure();
    finish_disconnect();
  };
}

void StompSession::check_pressure() {
  const bool is_high = pending_ >= kPendingMax;
  if (is_high && !is_reading_paused_) {
    is_reading_paused_ = true;
    transport().pause_reading();
  } else if (is_reading_paused_ && pending_ <= kPendingMax / 2) {
    is_reading_paused_ = false;
    transport().resume_reading();
  }
}

// --- the end ---

void StompSession::disconnect(Frame& frame) {
  is_disconnecting_ = true;
  disconnect_receipt_ = frame.get("receipt");
  for (const auto& [id, subscription] : subscriptions_) subscription->pause();
  finish_disconnect();
}

// Its receipt says that all before it has been done.
void StompSession::finish_disconnect() {
  if (!is_disconnecting_ || pending_ > 0 || state_ == State::kEnding) return;
  receipt(disconnect_receipt_);
  state_ = State::kEnding;
  transport().shut();
}

void StompSession::on_stopping() { error("", "The server is stopping."); }

void StompSession::on_ended(CloseReason) {
  state_ = State::kEnding;
  beat_alarm_.cancel();
  subscriptions_.clear();
  for (const auto& [id, transaction] : transactions_) transaction->connection->abandon();
  transactions_.clear();
  if (connection_ != nullptr) connection_->abandon();
  connection_ = nullptr;
}

// --- for subscriptions ---

void StompSession::send_message(std::string head, const queue::Body& body) {
  count_out();
  if (body.size() < Transport::kSharedBytesMin) {
    head += body.view();
    head += '\0';
    return transport().send(std::move(head));
  }
  transport().send(std::move(head));
  transport().send(body);
  transport().send(std::string_view("\0", 1));
}

void StompSession::on_subscription_failed(Subscription& subscription, int32_t reason) {
  error("", "The subscription " + subscription.id() + " has ended.",
        "The queue manager says " + reason_text(reason) + ".");
}

bool StompSession::is_congested() {
  return state_ != State::kOpen || is_disconnecting_ ||
         transport().outgoing_bytes() > limits().outgoing_bytes_max ||
         unsettled_bytes_ > static_cast<int64_t>(limits().unsettled_bytes_max);
}

void StompSession::count_unsettled(int64_t bytes) {
  unsettled_bytes_ += bytes;
  MS_ASSERT(unsettled_bytes_ >= 0);
}

void StompSession::on_drained() {
  for (const auto& [id, subscription] : subscriptions_) subscription->resume();
}

}  // namespace millstream::wire::stomp
