// The server's side of a WebSocket (RFC 6455) within a Transport: the handshake, frames with masks,
// fragments, control frames. The payload of all data frames is one stream of bytes for the
// handler; what is sent in one turn goes out as one message.
//
// A frame is not kept until it is whole, so that its length needs no memory; what the handler has
// not consumed is. Limits: below, and the transport's input_bytes_max.
// Thread: the transport's.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/common/transport.h"

namespace millstream::wire {

// Takes frames apart. Gives payload as it comes.
class WebSocketDecoder {
 public:
  static constexpr uint64_t kFrameBytesMax = 1ull << 32;
  static constexpr size_t kControlBytesMax = 125;

  class Sink {
   public:
    virtual ~Sink() = default;
    virtual void on_payload(std::string_view bytes) = 0;  // unmasked
    virtual void on_ping(std::string_view bytes) = 0;
    virtual void on_close(uint16_t code) = 0;  // 1005: without a code
  };
  // All of it is consumed. False: it is not to RFC 6455; close_code() says why.
  bool decode(std::string_view bytes, Sink& sink);
  uint16_t close_code() const { return close_code_; }

 private:
  bool begin_frame();
  bool end_control(Sink& sink);
  bool check_text(std::string_view bytes);
  bool fail(uint16_t code) {
    close_code_ = code;
    return false;
  }
  size_t header_bytes() const;

  char header_[14];
  size_t header_used_ = 0;
  bool is_in_frame_ = false;
  bool is_in_message_ = false;
  bool is_final_ = false;
  bool is_text_ = false;
  uint8_t opcode_ = 0;
  uint8_t mask_[4] = {};
  uint64_t mask_at_ = 0;
  uint64_t left_ = 0;
  uint32_t utf8_state_ = 0;
  std::string control_;
  std::string unmasked_;
  uint16_t close_code_ = 1000;
};

// The answer to a handshake: 101, or why not (400, 426). `chosen` is the subprotocol.
struct WebSocketHandshake {
  static constexpr size_t kHeadBytesMax = 8 * 1024;
  bool is_accepted = false;
  std::string reply;
  std::string chosen;
};
// `head` ends with the empty line. A client that names no subprotocol may do without.
WebSocketHandshake answer_websocket_handshake(std::string_view head,
                                              const std::vector<std::string>& subprotocols);

// Appends the header of a frame of the server.
void append_websocket_header(std::string& out, uint8_t opcode, uint64_t payload_bytes);

class WebSocket final : private WebSocketDecoder::Sink {
 public:
  WebSocket(Transport& transport, std::vector<std::string> subprotocols)
      : transport_(transport), subprotocols_(std::move(subprotocols)) {}

  // As TransportHandler::on_received().
  size_t receive(std::string_view bytes);
  void give_kept();
  std::string_view subprotocol() const { return chosen_; }
  // The pieces that wait to be sent and are in no frame yet become one.
  void frame();
  size_t framed_pieces() const { return framed_pieces_; }
  void pieces_removed(size_t count) {
    framed_pieces_ = count > framed_pieces_ ? 0 : framed_pieces_ - count;
  }
  void say_goodbye(uint16_t code = 1000);

 private:
  void on_payload(std::string_view bytes) override;
  void on_ping(std::string_view bytes) override;
  void on_close(uint16_t code) override;
  void send_control(uint8_t opcode, std::string_view payload);
  void fail(uint16_t code);

  Transport& transport_;
  std::vector<std::string> subprotocols_;
  std::string chosen_;
  WebSocketDecoder decoder_;
  std::string kept_;  // payload that the handler has not consumed
  size_t framed_pieces_ = 0;
  bool is_open_ = false;  // the handshake is over
  bool has_said_goodbye_ = false;
};

}  // namespace millstream::wire
