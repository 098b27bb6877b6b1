#include "text/sql_identifier.h"

namespace millstream::text {

void append_sql_identifier(std::string& out, std::string_view name, bool is_quoted,
                           std::string_view quote) {
  bool is_plain = !name.empty() && !is_quoted && !(name[0] >= '0' && name[0] <= '9');
  for (char c : name) {
    is_plain &=
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  if (is_plain) {
    out += name;
    return;
  }
  if (quote.empty() || quote == " ") quote = "\"";
  out += quote;
  for (char c : name) {
    if (c == '\0') continue;
    out += c;
    if (c == quote[0]) out += c;
  }
  out += quote;
}

}  // namespace millstream::text
