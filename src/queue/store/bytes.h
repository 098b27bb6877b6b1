// Reading and writing of the manifest's values, with every length checked. Thread: one.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace millstream::queue::store {

class ByteWriter {
 public:
  template <typename T>
  void value(const T& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  void text(std::string_view s) {
    value(static_cast<uint32_t>(s.size()));
    bytes_.append(s);
  }
  template <typename T>
  void array(const T* data, size_t count) {
    value(static_cast<uint64_t>(count));
    bytes_.append(reinterpret_cast<const char*>(data), count * sizeof(T));
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// After a read that does not fit everything reads as zero and ok() is false.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  T value() {
    T v{};
    if (sizeof v > bytes_.size()) {
      fail();
      return v;
    }
    std::memcpy(&v, bytes_.data(), sizeof v);
    bytes_.remove_prefix(sizeof v);
    return v;
  }
  std::string text() {
    const auto n = value<uint32_t>();
    if (n > bytes_.size()) {
      fail();
      return {};
    }
    std::string s(bytes_.substr(0, n));
    bytes_.remove_prefix(n);
    return s;
  }
  // The count of an array whose elements take at least `bytes_each`.
  uint64_t count(size_t bytes_each) {
    const auto n = value<uint64_t>();
    if (n > bytes_.size() / bytes_each) {
      fail();
      return 0;
    }
    return n;
  }
  template <typename T>
  void array(T* out, uint64_t count) {
    if (count * sizeof(T) > bytes_.size()) return fail();
    if (count > 0) std::memcpy(out, bytes_.data(), count * sizeof(T));
    bytes_.remove_prefix(count * sizeof(T));
  }
  bool ok() const { return ok_; }
  bool at_end() const { return bytes_.empty(); }

 private:
  void fail() {
    ok_ = false;
    bytes_ = {};
  }
  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace millstream::queue::store
