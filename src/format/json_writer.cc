#include "format/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace millstream::format {
namespace {

// 0: as it is; 'u': \u00XX; else the letter after the backslash.
constexpr std::array<char, 256> make_escapes() {
  std::array<char, 256> t{};
  for (int i = 0; i < 32; ++i) t[static_cast<size_t>(i)] = 'u';
  t['\b'] = 'b';
  t['\f'] = 'f';
  t['\n'] = 'n';
  t['\r'] = 'r';
  t['\t'] = 't';
  t['"'] = '"';
  t['\\'] = '\\';
  return t;
}
constexpr std::array<char, 256> kEscapes = make_escapes();

// True when a byte of `w` is a control character, quote, backslash or slash (may be true for none).
bool may_need_escape(uint64_t w) {
  constexpr uint64_t kOnes = 0x0101010101010101ull, kHigh = 0x8080808080808080ull;
  auto has_zero = [](uint64_t v) { return (v - kOnes) & ~v & kHigh; };
  uint64_t control = (w - kOnes * 0x20) & ~w & kHigh;
  return control | has_zero(w ^ (kOnes * '"')) | has_zero(w ^ (kOnes * '\\')) |
         has_zero(w ^ (kOnes * '/'));
}

}  // namespace

void append_json_string(std::string& out, std::string_view text, const JsonWriteOptions& options) {
  static constexpr char kHex[] = "0123456789abcdef";
  out.push_back('"');
  const char* p = text.data();
  const char* end = p + text.size();
  const char* run = p;
  while (p < end) {
    if (end - p >= 8) {
      uint64_t w;
      std::memcpy(&w, p, 8);
      if (!may_need_escape(w)) {
        p += 8;
        continue;
      }
    }
    const char* stop = end - p >= 8 ? p + 8 : end;
    for (; p < stop; ++p) {
      char e = kEscapes[static_cast<unsigned char>(*p)];
      if (*p == '/' && options.escapes_slash) e = '/';
      if (!e) continue;
      out.append(run, static_cast<size_t>(p - run));
      run = p + 1;
      out.push_back('\\');
      out.push_back(e);
      if (e == 'u') {
        unsigned char c = static_cast<unsigned char>(*p);
        char hex[4] = {'0', '0', kHex[c >> 4], kHex[c & 15]};
        out.append(hex, 4);
      }
    }
  }
  out.append(run, static_cast<size_t>(end - run));
  out.push_back('"');
}

bool append_json_double(std::string& out, double d) {
  if (!std::isfinite(d)) return false;
  char buffer[40];
  auto r = std::to_chars(buffer, buffer + sizeof(buffer), d);
  out.append(buffer, static_cast<size_t>(r.ptr - buffer));
  return true;
}

}  // namespace millstream::format
