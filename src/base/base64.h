// Base64 of RFC 4648 section 4, with padding. Thread: any.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace millstream::base {

constexpr size_t base64_size(size_t bytes) { return (bytes + 2) / 3 * 4; }
// Writes base64_size(bytes.size()) characters.
void base64_encode_to(std::string_view bytes, char* out);
std::string base64_encode(std::string_view bytes);
// The six bits that a character stands for; -1 for all others, '=' too.
int base64_value(char c);
// Nothing when the text has other characters, or padding in the wrong place. Padding may be
// missing.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace millstream::base
