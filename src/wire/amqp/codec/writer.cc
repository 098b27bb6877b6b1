#include "wire/amqp/codec/writer.h"

#include <bit>

#include "base/assert.h"

namespace millstream::wire::amqp {

void Writer::grow(size_t n) {
  size_t capacity = capacity_ == 0 ? 512 : capacity_ * 2;
  while (capacity < size_ + n) capacity *= 2;
  std::unique_ptr<char[]> data(new char[capacity]);
  if (size_ != 0) std::memcpy(data.get(), data_.get(), size_);
  data_ = std::move(data);
  capacity_ = capacity;
}

void Writer::big16(uint16_t v) {
  v = __builtin_bswap16(v);
  raw({reinterpret_cast<const char*>(&v), sizeof v});
}

void Writer::big32(uint32_t v) {
  v = __builtin_bswap32(v);
  raw({reinterpret_cast<const char*>(&v), sizeof v});
}

void Writer::big64(uint64_t v) {
  v = __builtin_bswap64(v);
  raw({reinterpret_cast<const char*>(&v), sizeof v});
}

void Writer::put_big32(size_t at, uint32_t v) {
  MS_ASSERT(at + 4 <= size_);
  v = __builtin_bswap32(v);
  std::memcpy(data_.get() + at, &v, sizeof v);
}

void Writer::put_big16(size_t at, uint16_t v) {
  MS_ASSERT(at + 2 <= size_);
  v = __builtin_bswap16(v);
  std::memcpy(data_.get() + at, &v, sizeof v);
}

void Writer::ubyte(uint8_t v) {
  byte(code::kUbyte);
  byte(v);
}

void Writer::ushort(uint16_t v) {
  byte(code::kUshort);
  big16(v);
}

void Writer::uint(uint32_t v) {
  if (v == 0) {
    byte(code::kUint0);
  } else if (v < 256) {
    byte(code::kSmallUint);
    byte(static_cast<uint8_t>(v));
  } else {
    byte(code::kUint);
    big32(v);
  }
}

void Writer::ulong(uint64_t v) {
  if (v == 0) {
    byte(code::kUlong0);
  } else if (v < 256) {
    byte(code::kSmallUlong);
    byte(static_cast<uint8_t>(v));
  } else {
    byte(code::kUlong);
    big64(v);
  }
}

void Writer::sbyte(int8_t v) {
  byte(code::kByte);
  byte(static_cast<uint8_t>(v));
}

void Writer::sshort(int16_t v) {
  byte(code::kShort);
  big16(static_cast<uint16_t>(v));
}

void Writer::sint(int32_t v) {
  if (v >= -128 && v <= 127) {
    byte(code::kSmallInt);
    byte(static_cast<uint8_t>(v));
  } else {
    byte(code::kInt);
    big32(static_cast<uint32_t>(v));
  }
}

void Writer::slong(int64_t v) {
  if (v >= -128 && v <= 127) {
    byte(code::kSmallLong);
    byte(static_cast<uint8_t>(v));
  } else {
    byte(code::kLong);
    big64(static_cast<uint64_t>(v));
  }
}

void Writer::float32(float v) {
  byte(code::kFloat);
  big32(std::bit_cast<uint32_t>(v));
}

void Writer::float64(double v) {
  byte(code::kDouble);
  big64(std::bit_cast<uint64_t>(v));
}

void Writer::timestamp(int64_t gmt_ms) {
  byte(code::kTimestamp);
  big64(static_cast<uint64_t>(gmt_ms));
}

void Writer::uuid(std::string_view bytes16) {
  MS_ASSERT(bytes16.size() == 16);
  byte(code::kUuid);
  raw(bytes16);
}

void Writer::variable_head(uint8_t small_code, size_t size) {
  if (size < 256) {
    byte(small_code);
    byte(static_cast<uint8_t>(size));
  } else {
    byte(static_cast<uint8_t>(small_code + 0x10));
    big32(static_cast<uint32_t>(size));
  }
}

Writer::Compound Writer::begin(uint8_t small_code) {
  Compound c{.at = size_};
  byte(small_code);
  byte(0);
  byte(0);
  return c;
}

void Writer::end(Compound& c) {
  char* head = data_.get() + c.at;
  size_t content = size_ - c.at - 3;
  bool is_list = static_cast<uint8_t>(*head) == code::kList8;
  if (c.count == 0 && is_list) {
    *head = static_cast<char>(code::kList0);
    size_ = c.at + 1;
    return;
  }
  if (content + 1 < 256 && c.count < 256) {
    head[1] = static_cast<char>(content + 1);
    head[2] = static_cast<char>(c.count);
    return;
  }
  room(6);
  head = data_.get() + c.at;
  std::memmove(head + 9, head + 3, content);
  *head = static_cast<char>(is_list ? code::kList32 : code::kMap32);
  size_ += 6;
  put_big32(c.at + 1, static_cast<uint32_t>(content + 4));
  put_big32(c.at + 5, c.count);
}

std::string encode_symbols(std::initializer_list<std::string_view> symbols) {
  Writer w;
  if (symbols.size() == 1) {
    w.symbol(*symbols.begin());
    return std::string(w.bytes());
  }
  w.byte(code::kArray32);
  w.big32(0);
  w.big32(static_cast<uint32_t>(symbols.size()));
  w.byte(code::kSymbol8);
  for (std::string_view s : symbols) {
    MS_ASSERT(s.size() < 256);
    w.byte(static_cast<uint8_t>(s.size()));
    w.raw(s);
  }
  w.put_big32(1, static_cast<uint32_t>(w.size() - 5));
  return std::string(w.bytes());
}

}  // namespace millstream::wire::amqp
