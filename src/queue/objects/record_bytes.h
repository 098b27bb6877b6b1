// The bytes of records: little-endian numbers and texts with their length in front.
// Thread: any. Views of a reader are of what it reads.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace millstream::queue::objects {

inline void append_number(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}
inline void append_record_text(std::string& out, std::string_view text) {
  append_number(out, text.size(), 4);
  out.append(text);
}

// After a failure everything read is zero and ok() false.
class RecordReader {
 public:
  explicit RecordReader(std::string_view bytes) : rest_(bytes) {}
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  uint64_t number(size_t bytes) {
    if (!ok_ || rest_.size() < bytes) {
      ok_ = false;
      return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; ++i) {
      value |= static_cast<uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
    }
    rest_.remove_prefix(bytes);
    return value;
  }
  std::string_view text() {
    size_t size = static_cast<size_t>(number(4));
    if (size > rest_.size()) ok_ = false;
    if (!ok_) return {};
    std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace millstream::queue::objects
