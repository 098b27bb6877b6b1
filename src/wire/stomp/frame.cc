#include "wire/stomp/frame.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/assert.h"

namespace millstream::wire::stomp {
namespace {

bool is_connecting(std::string_view command) {
  return command == "CONNECT" || command == "STOMP" || command == "CONNECTED";
}

std::string_view without_cr(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::string_view version_text(Version version) {
  switch (version) {
    case Version::kNone:
    case Version::k10:
      return "1.0";
    case Version::k11:
      return "1.1";
    case Version::k12:
      return "1.2";
  }
  return "1.0";
}

const Header* Frame::find(std::string_view name) const {
  for (const Header& header : headers) {
    if (header.first == name) return &header;
  }
  return nullptr;
}

// --- reading ---

FrameReader::Event FrameReader::bad(std::string why) {
  state_ = State::kBad;
  why_ = std::move(why);
  return Event::kBad;
}

FrameReader::Event FrameReader::read(std::string_view& bytes) {
  while (true) {
    switch (state_) {
      case State::kBad:
        return Event::kBad;
      case State::kBetween: {
        size_t beats = 0;
        while (beats < bytes.size() && (bytes[beats] == '\n' || bytes[beats] == '\r')) ++beats;
        bytes.remove_prefix(beats);
        if (bytes.empty()) return Event::kNone;
        scanned_ = 0;
        state_ = State::kHead;
        break;
      }
      case State::kHead: {
        size_t head_bytes = 0;
        const size_t looked_at = scanned_;
        bool is_whole = find_head_end(bytes, head_bytes);
        size_t seen = is_whole ? head_bytes : bytes.size();
        if (seen > limits_.header_bytes_max) return bad("the headers are too long");
        if (bytes.substr(0, seen).find('\0', looked_at) != std::string_view::npos) {
          return bad("the headers do not end with an empty line");
        }
        if (!is_whole) return Event::kNone;
        if (!read_head(bytes.substr(0, head_bytes))) return Event::kBad;
        bytes.remove_prefix(head_bytes);
        if (!begin_body()) return Event::kBad;
        break;
      }
      case State::kBody: {
        if (!take_body(bytes, std::min(body_left_, bytes.size()))) return Event::kBad;
        if (body_left_ > 0) return Event::kNone;
        state_ = State::kNul;
        break;
      }
      case State::kBodyToNul: {
        const size_t end = bytes.find('\0');
        if (!take_body(bytes, std::min(end, bytes.size()))) return Event::kBad;
        if (end == std::string_view::npos) return Event::kNone;
        state_ = State::kNul;
        break;
      }
      case State::kNul: {
        if (bytes.empty()) return Event::kNone;
        if (bytes.front() != '\0') return bad("the body does not end where content-length says");
        bytes.remove_prefix(1);
        frame_.body = queue::Body::adopt(std::move(body_));
        body_ = std::string();
        state_ = State::kBetween;
        return Event::kFrame;
      }
    }
  }
}

// The head ends with an empty line. What has been looked at is not looked at again.
bool FrameReader::find_head_end(std::string_view bytes, size_t& head_bytes) {
  MS_ASSERT(scanned_ <= bytes.size());
  while (true) {
    const size_t end = bytes.find('\n', scanned_);
    if (end == std::string_view::npos) return false;
    const std::string_view line = without_cr(bytes.substr(scanned_, end - scanned_));
    scanned_ = end + 1;
    if (!line.empty()) continue;
    head_bytes = end + 1;
    return true;
  }
}

bool FrameReader::read_head(std::string_view head) {
  head_ = head;  // views into it, unescaped in place
  frame_.headers.clear();
  frame_.body = queue::Body();
  std::string_view rest = head_;
  auto take_line = [&] {
    const size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    return line;
  };
  frame_.command = without_cr(take_line());
  const bool is_escaped = !is_connecting(frame_.command) && version_ >= Version::k11;
  const bool has_cr = version_ == Version::k12 || version_ == Version::kNone;
  while (true) {
    std::string_view line = take_line();
    if (without_cr(line).empty()) return true;
    if (!read_header(has_cr ? without_cr(line) : line, is_escaped)) return false;
  }
}

bool FrameReader::read_header(std::string_view line, bool is_escaped) {
  if (frame_.headers.size() >= limits_.headers_max) {
    (void)bad("there are too many headers");
    return false;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    (void)bad("a header line has no name or no colon");
    return false;
  }
  Header header{line.substr(0, colon), line.substr(colon + 1)};
  // 1.0 says nothing of blanks, and its servers take them away.
  if (version_ < Version::k11) header = {trimmed(header.first), trimmed(header.second)};
  if (is_escaped && (!unescape(header.first) || !unescape(header.second))) {
    (void)bad("a header has an escape that there is not");
    return false;
  }
  frame_.headers.push_back(header);
  return true;
}

bool FrameReader::unescape(std::string_view& text) {
  const size_t first = text.find('\\');
  if (first == std::string_view::npos) return true;
  char* const begin = head_.data() + (text.data() - head_.data());
  char* out = begin + first;
  for (size_t i = first; i < text.size(); ++i) {
    if (text[i] != '\\') {
      *out++ = text[i];
      continue;
    }
    if (++i == text.size()) return false;
    switch (text[i]) {
      case 'n':
        *out++ = '\n';
        break;
      case 'c':
        *out++ = ':';
        break;
      case '\\':
        *out++ = '\\';
        break;
      case 'r':
        if (version_ < Version::k12) return false;
        *out++ = '\r';
        break;
      default:
        return false;
    }
  }
  text = {begin, static_cast<size_t>(out - begin)};
  return true;
}

bool FrameReader::begin_body() {
  const Header* length = frame_.find("content-length");
  frame_.has_content_length = length != nullptr;
  state_ = State::kBodyToNul;
  if (length == nullptr) return true;
  const std::string_view text = trimmed(length->second);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), body_left_);
  if (error != std::errc() || end != text.data() + text.size()) {
    (void)bad("content-length is no number");
    return false;
  }
  if (body_left_ > limits_.body_bytes_max) {
    (void)bad("the body is longer than " + std::to_string(limits_.body_bytes_max) + " bytes");
    return false;
  }
  state_ = State::kBody;
  return true;
}

bool FrameReader::take_body(std::string_view& bytes, size_t count) {
  if (body_.size() + count > limits_.body_bytes_max) {
    (void)bad("the body is longer than " + std::to_string(limits_.body_bytes_max) + " bytes");
    return false;
  }
  // A body that comes whole is copied once, into memory of its size.
  body_.append(bytes.substr(0, count));
  if (state_ == State::kBody) body_left_ -= count;
  bytes.remove_prefix(count);
  return true;
}

// --- writing ---

void FrameWriter::append(std::string_view text) {
  if (version_ < Version::k11) {
    // 1.0 has no way to say them.
    for (char c : text) {
      if (c != '\0') out_ += c == '\n' ? ' ' : c;
    }
    return;
  }
  for (char c : text) {
    switch (c) {
      case '\n':
        out_ += "\\n";
        break;
      case ':':
        out_ += "\\c";
        break;
      case '\\':
        out_ += "\\\\";
        break;
      case '\r':
        out_ += version_ == Version::k12 ? "\\r" : "\r";
        break;
      case '\0':
        break;  // it would end the frame
      default:
        out_ += c;
    }
  }
}

void FrameWriter::add_plain(std::string_view name, std::string_view value) {
  out_ += name;
  out_ += ':';
  out_ += value;
  out_ += '\n';
}

void FrameWriter::add(std::string_view name, std::string_view value) {
  const bool can_be_said = version_ >= Version::k11 || name.find(':') == std::string_view::npos;
  if (!can_be_said) return;
  append(name);
  out_ += ':';
  append(value);
  out_ += '\n';
}

}  // namespace millstream::wire::stomp
