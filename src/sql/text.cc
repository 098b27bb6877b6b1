// Text and names at the border to ODBC.
#include "sql/connection.h"
#include "text/utf8.h"

namespace millstream::sql {

void append_wide(std::string_view utf8, std::vector<char16_t>& out) {
  out.reserve(out.size() + utf8.size());
  for (size_t at = 0; at < utf8.size();) {
    const unsigned char c = static_cast<unsigned char>(utf8[at]);
    if (c < 0x80) {
      out.push_back(c);
      ++at;
      continue;
    }
    const text::DecodedCodePoint point = text::decode_utf8(utf8, at);
    if (point.size == 0) {
      out.push_back(0xfffd);
      ++at;
      continue;
    }
    at += point.size;
    if (point.value < 0x10000) {
      out.push_back(static_cast<char16_t>(point.value));
    } else {
      const char32_t v = point.value - 0x10000;
      out.push_back(static_cast<char16_t>(0xd800 + (v >> 10)));
      out.push_back(static_cast<char16_t>(0xdc00 + (v & 0x3ff)));
    }
  }
}

void append_utf8(std::u16string_view wide, std::string& out) {
  out.reserve(out.size() + wide.size());
  for (size_t i = 0; i < wide.size(); ++i) {
    char32_t c = wide[i];
    if (c < 0x80) {
      out += static_cast<char>(c);
      continue;
    }
    if (c >= 0xd800 && c < 0xdc00 && i + 1 < wide.size() && wide[i + 1] >= 0xdc00 &&
        wide[i + 1] < 0xe000) {
      c = 0x10000 + ((c - 0xd800) << 10) + (wide[i + 1] - 0xdc00);
      ++i;
    }
    text::append_utf8(out, c);
  }
}

}  // namespace millstream::sql
