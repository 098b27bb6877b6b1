#include "base/base64.h"

#include <cstdint>

namespace millstream::base {

constexpr char kBase64Digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

void base64_encode_to(std::string_view bytes, char* out) {
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t left = bytes.size() - at;
    auto byte = [&](size_t i) -> uint32_t {
      return i < left ? static_cast<uint8_t>(bytes[at + i]) : 0;
    };
    const uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
    *out++ = kBase64Digits[group >> 18];
    *out++ = kBase64Digits[group >> 12 & 63];
    *out++ = left > 1 ? kBase64Digits[group >> 6 & 63] : '=';
    *out++ = left > 2 ? kBase64Digits[group & 63] : '=';
  }
}

std::string base64_encode(std::string_view bytes) {
  std::string out(base64_size(bytes.size()), '\0');
  base64_encode_to(bytes, out.data());
  return out;
}

std::optional<std::string> base64_decode(std::string_view text) {
  for (int i = 0; i < 2 && !text.empty() && text.back() == '='; ++i) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out;
  out.reserve(text.size() * 3 / 4);
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    const int value = base64_value(c);
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xFF);
  }
  return out;
}

}  // namespace millstream::base
