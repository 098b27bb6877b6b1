// Frames of STOMP 1.0, 1.1 and 1.2 (stomp.github.io): reading in pieces of any size, and writing.
//
// - Headers are escaped by version: 1.0 not at all, 1.1 `\n` `\c` `\\`, 1.2 `\r` too; CONNECT,
//   STOMP and CONNECTED never. Of a header that comes twice the first counts.
// - A body ends with its content-length, or at the first NUL when it has none.
// - Line ends between frames are heart-beats.
// A body is not asked memory for before its bytes come.
// Thread: one object one thread. Views of a frame live until the next read().
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "queue/core/message.h"

namespace millstream::wire::stomp {

enum class Version : uint8_t { kNone, k10, k11, k12 };  // kNone: nobody has said yet
std::string_view version_text(Version version);

using Header = std::pair<std::string_view, std::string_view>;

struct Frame {
  std::string_view command;
  std::vector<Header> headers;
  bool has_content_length = false;
  queue::Body body;

  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::string_view get(std::string_view name) const {  // empty: not there
    const Header* header = find(name);
    return header != nullptr ? header->second : std::string_view();
  }
  const Header* find(std::string_view name) const;
};

struct FrameLimits {
  size_t header_bytes_max = 64 * 1024;  // command and headers of a frame
  size_t headers_max = 1'000;
  size_t body_bytes_max = 100u << 20;
};

class FrameReader {
 public:
  enum class Event : uint8_t { kNone, kFrame, kBad };

  explicit FrameReader(FrameLimits limits) : limits_(limits) {}
  // From the connection's negotiation on.
  void set_version(Version version) { version_ = version; }
  // Takes from the front of `bytes` what it has understood. What it leaves is to be given again
  // with more behind it. kBad: why() says what is wrong; nothing can be read any more.
  Event read(std::string_view& bytes);
  Frame& frame() { return frame_; }
  const std::string& why() const { return why_; }

 private:
  enum class State : uint8_t { kBetween, kHead, kBody, kBodyToNul, kNul, kBad };
  Event bad(std::string why);
  bool find_head_end(std::string_view bytes, size_t& head_bytes);
  bool read_head(std::string_view head);
  bool read_header(std::string_view line, bool is_escaped);
  bool unescape(std::string_view& text);
  bool begin_body();
  bool take_body(std::string_view& bytes, size_t count);

  FrameLimits limits_;
  Version version_ = Version::kNone;
  State state_ = State::kBetween;
  size_t scanned_ = 0;  // of a head that is not whole, no end before it
  std::string head_;    // what the views of the frame are of
  std::string body_;
  size_t body_left_ = 0;
  Frame frame_;
  std::string why_;
};

// Writes the head of a frame; the body and a NUL follow.
class FrameWriter {
 public:
  FrameWriter(std::string_view command, Version version) : version_(version) {
    out_ += command;
    out_ += '\n';
  }
  // Not escaped: CONNECTED.
  void add_plain(std::string_view name, std::string_view value);
  void add(std::string_view name, std::string_view value);
  void add(std::string_view name, uint64_t value) { add_plain(name, std::to_string(value)); }
  std::string take() {
    out_ += '\n';
    return std::move(out_);
  }

 private:
  void append(std::string_view text);
  Version version_;
  std::string out_;
};

}  // namespace millstream::wire::stomp
