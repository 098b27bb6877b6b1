// Base64 of RFC 4648 section 4, with padding. Thread: any.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace millstream::base {

std::string base64_encode(std::string_view bytes);
// Nothing when the text has other characters, or padding in the wrong place. Padding may be
// missing.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace millstream::base
