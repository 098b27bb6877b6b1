// %XX of URLs and of names that are written as in URLs. Thread: any.
#pragma once
#include <string>
#include <string_view>

#include "base/ascii.h"

namespace millstream::base {

// %XX decoded; a '%' without two digits stays. `plus_is_space` for query strings and forms.
inline std::string percent_decode(std::string_view text, bool plus_is_space = false) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit_value(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit_value(text[i + 2]) : -1;
    if (low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i] == '+' && plus_is_space ? ' ' : text[i];
    }
  }
  return out;
}

}  // namespace millstream::base
