// Character classes of XML 1.0 (fifth edition) over UTF-8, and the decoding they need.
// Thread: any.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace millstream::format {

// Decodes one character at `p`; 0 when the bytes are not valid UTF-8 (overlong, surrogate, cut
// off).
uint32_t xml_decode(const char* p, const char* end, char32_t* out);
void xml_encode(char32_t c, std::string_view& out, char (&space)[4]);

bool is_xml_char(char32_t c);               // production [2] Char
bool is_xml_name_start(char32_t c);         // [4] NameStartChar, with ':'
bool is_xml_name_char(char32_t c);          // [4a]
bool is_xml_name(std::string_view name);    // [5] Name
bool is_xml_ncname(std::string_view name);  // a Name without ':'
inline bool is_xml_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
// True when all of `s` is white space.
bool is_all_xml_space(std::string_view s);

// ASCII name characters; bytes of other characters count as "maybe".
extern const std::array<uint8_t, 256> kXmlNameByte;  // 1 name char, 3 name start, 4 not ASCII

}  // namespace millstream::format
