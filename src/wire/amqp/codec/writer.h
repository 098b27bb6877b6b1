// Writes AMQP values at the end of a buffer that is kept from frame to frame: in steady state
// nothing is allocated. Always the shortest encoding.
// Composites: begin_list(), one call a field in their order (absent ones too), end_list(). Absent
// fields at the end take no room. Compounds begin in their small form and are widened when needed.
// Thread: one at a time.
#pragma once
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "wire/amqp/codec/types.h"

namespace millstream::wire::amqp {

class Writer {
 public:
  struct Compound {
    size_t at = 0;  // of the constructor
    uint32_t count = 0;
    uint32_t absent = 0;  // not written yet
  };

  std::string_view bytes() const { return {data_.get(), size_}; }
  size_t size() const { return size_; }
  void clear() { size_ = 0; }
  void truncate(size_t size) { size_ = size; }
  // A buffer that one long value has grown is not kept.
  void shrink(size_t keep_bytes_max) {
    if (capacity_ <= keep_bytes_max) return;
    data_.reset();
    capacity_ = size_ = 0;
  }

  void raw(std::string_view bytes) {
    if (bytes.empty()) return;
    std::memcpy(room(bytes.size()), bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  void byte(uint8_t b) {
    *room(1) = static_cast<char>(b);
    ++size_;
  }
  void big16(uint16_t v);
  void big32(uint32_t v);
  void big64(uint64_t v);
  void put_big32(size_t at, uint32_t v);
  void put_big16(size_t at, uint16_t v);

  void null() { byte(code::kNull); }
  void boolean(bool v) { byte(v ? code::kTrue : code::kFalse); }
  void ubyte(uint8_t v);
  void ushort(uint16_t v);
  void uint(uint32_t v);
  void ulong(uint64_t v);
  void sbyte(int8_t v);
  void sshort(int16_t v);
  void sint(int32_t v);
  void slong(int64_t v);
  void float32(float v);
  void float64(double v);
  void timestamp(int64_t gmt_ms);
  void uuid(std::string_view bytes16);
  void binary(std::string_view v) { variable(code::kBinary8, v); }
  void string(std::string_view v) { variable(code::kString8, v); }
  void symbol(std::string_view v) { variable(code::kSymbol8, v); }
  // Only the constructor and the size of what another buffer has.
  void variable_head(uint8_t small_code, size_t size);
  void descriptor(uint64_t v) {
    byte(code::kDescribed);
    ulong(v);
  }

  Compound begin_list(uint64_t descriptor_code) {
    descriptor(descriptor_code);
    return begin_list();
  }
  Compound begin_list() { return begin(code::kList8); }
  Compound begin_map() { return begin(code::kMap8); }
  // Before each element. A map's count is of keys and values.
  void element(Compound& c) {
    c.count += c.absent + 1;
    for (; c.absent > 0; --c.absent) null();
  }
  void absent(Compound& c) { ++c.absent; }
  void end(Compound& c);

 private:
  Compound begin(uint8_t small_code);
  void variable(uint8_t small_code, std::string_view v) {
    variable_head(small_code, v.size());
    raw(v);
  }
  char* room(size_t n) {
    if (size_ + n > capacity_) grow(n);
    return data_.get() + size_;
  }
  void grow(size_t n);

  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

// One symbol, or an array of them: for a "multiple" field.
std::string encode_symbols(std::initializer_list<std::string_view> symbols);

}  // namespace millstream::wire::amqp
