#include "wire/common/websocket.h"

#include <algorithm>
#include <cstring>

#include "text/utf8.h"

namespace millstream::wire {
namespace {

constexpr uint8_t kContinuation = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10;
constexpr uint16_t kProtocolError = 1002, kInvalidText = 1007, kTooBig = 1009;
constexpr uint8_t kFinalBit = 0x80, kReservedBits = 0x70, kMaskBit = 0x80;

bool is_close_code(uint16_t code) {
  return (code >= 1000 && code <= 1011 && code != 1004 && code != 1005 && code != 1006) ||
         (code >= 3000 && code <= 4999);
}

}  // namespace

// How long the header is, as far as its first two bytes say.
size_t WebSocketDecoder::header_bytes() const {
  if (header_used_ < 2) return 2;
  uint8_t length = static_cast<uint8_t>(header_[1]) & 0x7F;
  return 2 + (length == 126 ? 2 : length == 127 ? 8 : 0) + 4;
}

bool WebSocketDecoder::begin_frame() {
  uint8_t first = static_cast<uint8_t>(header_[0]);
  uint8_t second = static_cast<uint8_t>(header_[1]);
  opcode_ = first & 0x0F;
  is_final_ = (first & kFinalBit) != 0;
  uint64_t length = second & 0x7F;
  size_t at = 2;
  if (length >= 126) {
    size_t size = length == 126 ? 2 : 8;
    length = 0;
    for (size_t i = 0; i < size; ++i) length = length << 8 | static_cast<uint8_t>(header_[at++]);
  }
  std::memcpy(mask_, header_ + at, sizeof mask_);
  if (length > kFrameBytesMax) return fail(kTooBig);
  bool is_control = (opcode_ & 0x08) != 0;
  if (is_control) {
    bool is_known = opcode_ == kClose || opcode_ == kPing || opcode_ == kPong;
    if (!is_known || !is_final_ || length > kControlBytesMax) return fail(kProtocolError);
  } else {
    if (opcode_ > kBinary) return fail(kProtocolError);
    if ((opcode_ == kContinuation) != is_in_message_) return fail(kProtocolError);
    if (opcode_ != kContinuation) is_text_ = opcode_ == kText;
    is_in_message_ = true;
  }
  mask_at_ = 0;
  left_ = length;
  is_in_frame_ = true;
  control_.clear();
  return true;
}

bool WebSocketDecoder::end_control(Sink& sink) {
  if (opcode_ == kPing) sink.on_ping(control_);
  if (opcode_ != kClose) return true;
  if (control_.empty()) {
    sink.on_close(1005);
    return true;
  }
  if (control_.size() < 2) return fail(kProtocolError);
  uint16_t code = static_cast<uint16_t>(static_cast<uint8_t>(control_[0]) << 8 |
                                        static_cast<uint8_t>(control_[1]));
  if (!is_close_code(code)) return fail(kProtocolError);
  sink.on_close(code);
  return true;
}

// UTF-8 across frames: how many continuation bytes follow, and the range of the next one.
bool WebSocketDecoder::check_text(std::string_view bytes) {
  uint32_t left = utf8_state_ & 0xFF;
  uint32_t low = utf8_state_ >> 8 & 0xFF;
  uint32_t high = utf8_state_ >> 16 & 0xFF;
  for (char c : bytes) {
    uint8_t b = static_cast<uint8_t>(c);
    if (left > 0) {
      if (b < low || b > high) return false;
      low = 0x80;
      high = 0xBF;
      --left;
      continue;
    }
    if (b < 0x80) continue;
    if (b < 0xC2 || b > 0xF4) return false;
    left = b < 0xE0 ? 1 : b < 0xF0 ? 2 : 3;
    low = b == 0xE0 ? 0xA0 : b == 0xF0 ? 0x90 : 0x80;
    high = b == 0xED ? 0x9F : b == 0xF4 ? 0x8F : 0xBF;
  }
  utf8_state_ = left | low << 8 | high << 16;
  return true;
}

bool WebSocketDecoder::decode(std::string_view bytes, Sink& sink) {
  while (!bytes.empty() || (is_in_frame_ && left_ == 0)) {
    if (!is_in_frame_) {
      size_t take = std::min(header_bytes() - header_used_, bytes.size());
      std::memcpy(header_ + header_used_, bytes.data(), take);
      header_used_ += take;
      bytes.remove_prefix(take);
      if (header_used_ < 2) continue;
      // At once: what is not masked would be waited for in vain.
      bool is_masked = (static_cast<uint8_t>(header_[1]) & kMaskBit) != 0;
      bool has_reserved = (static_cast<uint8_t>(header_[0]) & kReservedBits) != 0;
      if (!is_masked || has_reserved) return fail(kProtocolError);
      if (header_used_ < header_bytes()) continue;
      header_used_ = 0;
      if (!begin_frame()) return false;
      continue;
    }
    size_t take = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size()));
    unmasked_.assign(bytes.substr(0, take));
    for (char& c : unmasked_) c = static_cast<char>(c ^ mask_[mask_at_++ & 3]);
    bytes.remove_prefix(take);
    left_ -= take;
    bool is_control = (opcode_ & 0x08) != 0;
    if (left_ == 0) is_in_frame_ = false;
    if (is_control) {
      control_ += unmasked_;
      if (left_ == 0 && !end_control(sink)) return false;
      continue;
    }
    if (is_text_ && !check_text(unmasked_)) return fail(kInvalidText);
    if (left_ == 0 && is_final_) {
      is_in_message_ = false;
      if (is_text_ && (utf8_state_ & 0xFF) != 0) return fail(kInvalidText);
      utf8_state_ = 0;
    }
    if (take > 0) sink.on_payload(unmasked_);
  }
  return true;
}

void append_websocket_header(std::string& out, uint8_t opcode, uint64_t payload_bytes) {
  out += static_cast<char>(kFinalBit | opcode);
  int size = payload_bytes < 126 ? 0 : payload_bytes <= 0xFFFF ? 2 : 8;
  out += static_cast<char>(size == 0 ? payload_bytes : size == 2 ? 126 : 127);
  for (int i = size - 1; i >= 0; --i) out += static_cast<char>(payload_bytes >> (8 * i));
}

size_t WebSocket::receive(std::string_view bytes) {
  size_t consumed = 0;
  if (!is_open_) {
    size_t end = bytes.find("\r\n\r\n");
    if (end == std::string_view::npos && bytes.size() < WebSocketHandshake::kHeadBytesMax) return 0;
    if (end == std::string_view::npos || end > WebSocketHandshake::kHeadBytesMax) {
      transport_.abort(CloseReason::kWebSocket);
      return bytes.size();
    }
    consumed = end + 4;
    WebSocketHandshake answer =
        answer_websocket_handshake(bytes.substr(0, consumed), subprotocols_);
    transport_.append(std::move(answer.reply));
    framed_pieces_ = transport_.pieces_.size();
    transport_.schedule_flush();
    if (!answer.is_accepted) {
      has_said_goodbye_ = true;
      transport_.shut();
      return bytes.size();
    }
    chosen_ = std::move(answer.chosen);
    is_open_ = true;
    subprotocols_ = {};
  }
  if (!decoder_.decode(bytes.substr(consumed), *this)) fail(decoder_.close_code());
  return bytes.size();
}

void WebSocket::on_payload(std::string_view bytes) {
  if (transport_.state_ != Transport::State::kOpen) return;
  if (kept_.empty()) {
    size_t consumed = transport_.give_to_handler(bytes);
    kept_.assign(bytes.substr(consumed));
  } else {
    kept_.append(bytes);
    give_kept();
  }
  if (kept_.size() > transport_.limits_.input_bytes_max) fail(kTooBig);
}

void WebSocket::give_kept() {
  if (kept_.empty() || transport_.state_ != Transport::State::kOpen) return;
  size_t consumed = transport_.give_to_handler(kept_);
  kept_.erase(0, consumed);
  if (kept_.empty()) std::string().swap(kept_);
}

void WebSocket::frame() {
  if (!is_open_ || transport_.pieces_.size() <= framed_pieces_) return;
  uint64_t bytes = 0;
  bool is_text = transport_.sends_text_;
  for (size_t i = framed_pieces_; i < transport_.pieces_.size(); ++i) {
    const Transport::Piece& piece = transport_.pieces_[i];
    bytes += piece.size();
    if (is_text) is_text = text::is_valid_utf8({piece.data(), piece.size()});
  }
  Transport::Piece header;
  append_websocket_header(header.text, is_text ? kText : kBinary, bytes);
  transport_.outgoing_bytes_ += header.text.size();
  transport_.pieces_.insert(transport_.pieces_.begin() + static_cast<ptrdiff_t>(framed_pieces_),
                            std::move(header));
  framed_pieces_ = transport_.pieces_.size();
}

void WebSocket::send_control(uint8_t opcode, std::string_view payload) {
  if (transport_.state_ != Transport::State::kOpen || has_said_goodbye_) return;
  frame();
  Transport::Piece piece;
  append_websocket_header(piece.text, opcode, payload.size());
  piece.text += payload;
  transport_.outgoing_bytes_ += piece.text.size();
  transport_.pieces_.push_back(std::move(piece));
  framed_pieces_ = transport_.pieces_.size();
  transport_.schedule_flush();
}

void WebSocket::on_ping(std::string_view bytes) { send_control(kPong, bytes); }

void WebSocket::say_goodbye(uint16_t code) {
  char bytes[2] = {static_cast<char>(code >> 8), static_cast<char>(code)};
  send_control(kClose, {bytes, sizeof bytes});
  has_said_goodbye_ = true;
}

void WebSocket::on_close(uint16_t) {
  say_goodbye();
  transport_.failure_ = "closed by the peer";
  if (transport_.state_ != Transport::State::kOpen) return;
  transport_.shut_reason_ = CloseReason::kPeer;
  transport_.shut();
}

void WebSocket::fail(uint16_t code) {
  if (transport_.state_ != Transport::State::kOpen) return;
  say_goodbye(code);
  transport_.shut_reason_ = CloseReason::kWebSocket;
  transport_.shut();
}

}  // namespace millstream::wire
