// Text between the tags of XML and HTML that this server makes up: faults, pages, reports, headers.
// The writers of message bodies know more (parsers/common/xml_value.h). Thread: any.
#pragma once
#include <string>
#include <string_view>

namespace millstream::base {

// & < > as entities, everything else as it is: for content that must come back the same.
inline void append_markup(std::string& out, std::string_view text) {
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
}

// For people: characters that XML cannot hold become '?'.
inline std::string escape_markup(std::string_view text) {
  std::string plain(text);
  for (char& c : plain) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') c = '?';
  }
  std::string out;
  append_markup(out, plain);
  return out;
}

// The same where it may stand between double quotes.
inline std::string escape_attribute(std::string_view text) {
  std::string out;
  for (char c : escape_markup(text)) {
    if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace millstream::base
