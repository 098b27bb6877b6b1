#include "wire/amqp/engine/engine.h"

#include <algorithm>

#include "base/assert.h"

namespace millstream::wire::amqp {

namespace {
constexpr size_t kFrameKeepBytes = 256 * 1024;
}  // namespace

Engine::Engine(Output& output, EngineHandler& handler, const EngineLimits& limits)
    : output_(output), handler_(handler), limits_(limits) {}

Engine::~Engine() = default;

Writer& Engine::begin_frame(uint16_t channel) {
  MS_ASSERT(frame_.size() == 0);
  frame_.big32(0);
  frame_.byte(2);
  frame_.byte(static_cast<uint8_t>(FrameType::kAmqp));
  frame_.big16(channel);
  return frame_;
}

void Engine::end_frame() {
  frame_.put_big32(0, static_cast<uint32_t>(frame_.size()));
  output_.send(frame_.bytes());
  frame_.clear();
  frame_.shrink(kFrameKeepBytes);
  has_sent_ = true;
  ++frames_out_;
}

void Engine::open(Open open) {
  if (open_sent_ || is_finished_) return;
  open.max_frame_size = limits_.frame_bytes_max;
  open.channel_max = limits_.channel_max;
  // Half of the time after which we give it up, as 2.4.5 wants.
  if (limits_.idle_ns > 0) {
    open.idle_time_out = static_cast<uint32_t>(std::max<int64_t>(limits_.idle_ns / 2'000'000, 1));
  }
  open_sent_ = true;
  send_frame(0, open);
}

void Engine::close(std::string_view condition, std::string_view description,
                   std::string_view info) {
  if (is_finished_ || close_sent_) return;
  if (!open_sent_) open({.container_id = ""});
  for (auto& session : sessions_) {
    if (session != nullptr) session->flush_disposition();
  }
  if (!condition.empty()) failure_ = encode_error(condition, description, info);
  close_sent_ = true;
  send_frame(0, Close{.error = failure_});
}

Session* Engine::begin() {
  Session* session = add_session();
  if (session != nullptr) session->send_begin(false);
  return session;
}

Session* Engine::add_session() {
  size_t channel = 0;
  while (channel < sessions_.size() && sessions_[channel] != nullptr) ++channel;
  if (channel > std::min(limits_.channel_max, peer_channel_max_)) return nullptr;
  if (channel == sessions_.size()) sessions_.emplace_back();
  sessions_[channel] = std::make_unique<Session>(*this, static_cast<uint16_t>(channel));
  return sessions_[channel].get();
}

void Engine::remove_session(Session& session) {
  for (Session*& remote : by_remote_) {
    if (remote == &session) remote = nullptr;
  }
  dead_sessions_.push_back(std::move(sessions_[session.channel()]));
  if (!is_receiving_) clear_dead();
}

void Engine::clear_dead() {
  dead_links_.clear();
  dead_sessions_.clear();
}

size_t Engine::receive(std::string_view bytes, int64_t now_ns) {
  size_t consumed = 0;
  is_receiving_ = true;
  last_received_ns_ = now_ns;
  while (!is_finished_) {
    Frame frame;
    FrameResult result = parse_frame(bytes.substr(consumed), limits_.frame_bytes_max, frame);
    if (result == FrameResult::kPartial) {
      wanted_bytes_ = std::max<size_t>(frame.size, kFrameHeaderBytes);
      break;
    }
    if (result == FrameResult::kInvalid) {
      fail(condition::kFramingError, "a frame whose size cannot be");
      finish(nullptr);
      break;
    }
    consumed += frame.size;
    ++frames_in_;
    if (!on_frame(frame)) {
      finish(nullptr);
      break;
    }
  }
  is_receiving_ = false;
  clear_dead();
  return is_finished_ ? bytes.size() : consumed;
}

// False: there is no way to go on.
bool Engine::on_frame(const Frame& frame) {
  if (frame.type != static_cast<uint8_t>(FrameType::kAmqp)) {
    fail(condition::kFramingError, "a frame that is none of AMQP");
    return false;
  }
  if (frame.body.empty()) return true;  // to keep the connection alive
  Reader reader(frame.body);
  uint64_t code = 0;
  if (!reader.read_descriptor(code)) {
    fail(condition::kDecodeError, reader.error());
    return false;
  }
  if (code == descriptor::kClose) {
    Close close;
    static_cast<void>(read_fields(reader, close));
    on_close(close);
    return true;
  }
  if (close_sent_) return true;  // nothing else counts any more
  if (code == descriptor::kOpen) {
    Open open;
    if (!read_fields(reader, open)) {
      fail(condition::kDecodeError, reader.error());
      return false;
    }
    if (open_received_) {
      fail(condition::kIllegalState, "a second open");
      return true;
    }
    on_open(open);
    return true;
  }
  if (!open_received_) {
    fail(condition::kIllegalState, "the first performative is no open");
    return false;
  }
  if (code == descriptor::kBegin) {
    Begin begin;
    if (read_fields(reader, begin)) {
      on_begin(frame.channel, begin);
    } else {
      fail(condition::kDecodeError, reader.error());
    }
    return true;
  }
  Session* session = remote_session(frame.channel);
  if (session == nullptr) {
    fail(condition::kNotAllowed, "no session on this channel");
    return true;
  }
  session->on_frame(code, reader);
  return true;
}

void Engine::on_open(const Open& open) {
  open_received_ = true;
  peer_container_ = open.container_id;
  peer_channel_max_ = open.channel_max;
  peer_frame_bytes_max_ = std::max(open.max_frame_size, kFrameBytesMin);
  if (open.max_frame_size < kFrameBytesMin) {
    return fail(condition::kInvalidField, "max-frame-size is less than 512");
  }
  if (open.idle_time_out.has_value() && *open.idle_time_out > 0) {
    if (*open.idle_time_out < limits_.peer_idle_ms_min) {
      return fail(condition::kNotAllowed, "the idle time-out is too short");
    }
    peer_idle_ns_ = int64_t{*open.idle_time_out} * 1'000'000;
  }
  handler_.on_open(*this, open);
}

void Engine::on_begin(uint16_t channel, const Begin& begin) {
  if (channel > limits_.channel_max) {
    return fail(condition::kFramingError, "a channel beyond channel-max");
  }
  if (remote_session(channel) != nullptr) {
    return fail(condition::kNotAllowed, "a session is on this channel");
  }
  Session* session = nullptr;
  if (begin.remote_channel.has_value()) {
    uint16_t ours = *begin.remote_channel;
    session = ours < sessions_.size() ? sessions_[ours].get() : nullptr;
    if (session == nullptr || session->begin_received_) {
      return fail(condition::kInvalidField, "remote-channel names no session that was begun");
    }
  } else {
    session = add_session();
    if (session == nullptr) {
      return fail(condition::kResourceLimitExceeded, "too many sessions");
    }
  }
  if (channel >= by_remote_.size()) by_remote_.resize(channel + 1u);
  by_remote_[channel] = session;
  session->remote_channel_ = channel;
  session->on_begin(begin);
  if (!session->begin_sent_) session->send_begin(true);
  handler_.on_begin(*session);
}

void Engine::on_close(const Close& close) {
  ErrorInfo error;
  bool has_error = !close.error.empty() && decode(close.error, error);
  if (!close_sent_) {
    close_sent_ = true;
    if (!open_sent_) open({.container_id = ""});
    for (auto& session : sessions_) {
      if (session != nullptr) session->flush_disposition();
    }
    send_frame(0, Close());
  }
  finish(has_error ? &error : nullptr);
}

void Engine::finish(const ErrorInfo* error) {
  if (is_finished_) return;
  is_finished_ = true;
  for (auto& session : sessions_) {
    if (session == nullptr) continue;
    session->drop_links();
    dead_sessions_.push_back(std::move(session));
  }
  by_remote_.clear();
  ErrorInfo ours;
  if (error == nullptr && !failure_.empty() && decode(failure_, ours)) error = &ours;
  handler_.on_finished(*this, error);
}

void Engine::flush() {
  if (is_finished_) return;
  for (size_t i = 0; i < sessions_.size(); ++i) {
    if (sessions_[i] != nullptr) sessions_[i]->flush();
  }
}

void Engine::drained() {
  for (size_t i = 0; i < sessions_.size() && !is_finished_; ++i) {
    if (sessions_[i] != nullptr) sessions_[i]->continue_sending();
  }
}

int64_t Engine::tick(int64_t now_ns) {
  constexpr int64_t kLong = 3'600'000'000'000;
  if (is_finished_) return now_ns + kLong;
  if (last_received_ns_ == 0) last_received_ns_ = now_ns;
  if (has_sent_ || last_sent_ns_ == 0) {
    has_sent_ = false;
    last_sent_ns_ = now_ns;
  }
  int64_t next = now_ns + kLong;
  if (peer_idle_ns_ > 0 && open_sent_) {
    // Looked at twice a time-out, so that what was sent just after a look is early enough.
    int64_t due = last_sent_ns_ + peer_idle_ns_ / 3;
    if (now_ns >= due && !close_sent_) {
      begin_frame(0);
      end_frame();
      has_sent_ = false;
      last_sent_ns_ = now_ns;
      due = now_ns + peer_idle_ns_ / 3;
    }
    next = std::min(next, due);
  }
  if (limits_.idle_ns > 0) {
    int64_t dead = last_received_ns_ + limits_.idle_ns;
    if (now_ns >= dead) {
      fail(condition::kResourceLimitExceeded, "nothing was received for the idle time-out");
      finish(nullptr);
      return now_ns + kLong;
    }
    next = std::min(next, dead);
  }
  return next;
}

}  // namespace millstream::wire::amqp
