#include "format/xml_chars.h"

namespace millstream::format {
namespace {

struct XmlRange {
  char32_t first, last;
};
constexpr XmlRange kXmlNameStartRanges[] = {{0xC0, 0xD6},     {0xD8, 0xF6},     {0xF8, 0x2FF},
                                            {0x370, 0x37D},   {0x37F, 0x1FFF},  {0x200C, 0x200D},
                                            {0x2070, 0x218F}, {0x2C00, 0x2FEF}, {0x3001, 0xD7FF},
                                            {0xF900, 0xFDCF}, {0xFDF0, 0xFFFD}, {0x10000, 0xEFFFF}};

constexpr std::array<uint8_t, 256> make_xml_name_bytes() {
  std::array<uint8_t, 256> t{};
  for (int c = 'a'; c <= 'z'; ++c) t[c] = 3;
  for (int c = 'A'; c <= 'Z'; ++c) t[c] = 3;
  for (int c = '0'; c <= '9'; ++c) t[c] = 1;
  t['_'] = 3;
  t[':'] = 3;
  t['-'] = 1;
  t['.'] = 1;
  for (int c = 0x80; c < 0x100; ++c) t[c] = 4;
  return t;
}

bool xml_name_from(std::string_view name, bool allow_colon) {
  const char* p = name.data();
  const char* end = p + name.size();
  bool is_first = true;
  while (p < end) {
    uint8_t kind = kXmlNameByte[static_cast<uint8_t>(*p)];
    if (*p == ':' && !allow_colon) return false;
    if (kind == 4) {
      char32_t c;
      uint32_t n = xml_decode(p, end, &c);
      if (n == 0 || !(is_first ? is_xml_name_start(c) : is_xml_name_char(c))) return false;
      p += n;
    } else {
      if (!(kind & (is_first ? 2 : 1))) return false;
      ++p;
    }
    is_first = false;
  }
  return !is_first;
}

}  // namespace

constinit const std::array<uint8_t, 256> kXmlNameByte = make_xml_name_bytes();

uint32_t xml_decode(const char* s, const char* end, char32_t* out) {
  const auto* p = reinterpret_cast<const uint8_t*>(s);
  size_t left = static_cast<size_t>(end - s);
  if (left == 0) return 0;
  uint8_t b = p[0];
  if (b < 0x80) {
    *out = b;
    return 1;
  }
  auto is_tail = [&](size_t i) { return (p[i] & 0xC0) == 0x80; };
  if (b >= 0xC2 && b <= 0xDF && left >= 2 && is_tail(1)) {
    *out = (b & 0x1Fu) << 6 | (p[1] & 0x3Fu);
    return 2;
  }
  if ((b & 0xF0) == 0xE0 && left >= 3 && is_tail(1) && is_tail(2)) {
    char32_t c = (b & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    if (c < 0x800 || (c >= 0xD800 && c <= 0xDFFF)) return 0;
    *out = c;
    return 3;
  }
  if (b >= 0xF0 && b <= 0xF4 && left >= 4 && is_tail(1) && is_tail(2) && is_tail(3)) {
    char32_t c = (b & 0x07u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
    if (c < 0x10000 || c > 0x10FFFF) return 0;
    *out = c;
    return 4;
  }
  return 0;
}

void xml_encode(char32_t c, std::string_view& out, char (&space)[4]) {
  size_t n = 0;
  if (c < 0x80) {
    space[n++] = static_cast<char>(c);
  } else if (c < 0x800) {
    space[n++] = static_cast<char>(0xC0 | (c >> 6));
    space[n++] = static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    space[n++] = static_cast<char>(0xE0 | (c >> 12));
    space[n++] = static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    space[n++] = static_cast<char>(0x80 | (c & 0x3F));
  } else {
    space[n++] = static_cast<char>(0xF0 | (c >> 18));
    space[n++] = static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    space[n++] = static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    space[n++] = static_cast<char>(0x80 | (c & 0x3F));
  }
  out = {space, n};
}

bool is_xml_char(char32_t c) {
  if (c < 0x20) return c == 0x9 || c == 0xA || c == 0xD;
  return c <= 0xD7FF || (c >= 0xE000 && c <= 0xFFFD) || (c >= 0x10000 && c <= 0x10FFFF);
}

bool is_xml_name_start(char32_t c) {
  if (c < 0x80) return (kXmlNameByte[c] & 2) != 0;
  for (const XmlRange& r : kXmlNameStartRanges) {
    if (c >= r.first && c <= r.last) return true;
  }
  return false;
}

bool is_xml_name_char(char32_t c) {
  if (c < 0x80) return (kXmlNameByte[c] & 1) != 0;
  return c == 0xB7 || (c >= 0x300 && c <= 0x36F) || (c >= 0x203F && c <= 0x2040) ||
         is_xml_name_start(c);
}

bool is_xml_name(std::string_view name) { return xml_name_from(name, true); }
bool is_xml_ncname(std::string_view name) { return xml_name_from(name, false); }

bool is_all_xml_space(std::string_view s) {
  for (char c : s) {
    if (!is_xml_space(c)) return false;
  }
  return true;
}

}  // namespace millstream::format
