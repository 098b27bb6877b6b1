// Writing the scalars of JSON text. Appends to `out`; `text` must be valid UTF-8. Thread: any.
#pragma once
#include <string>
#include <string_view>

namespace millstream::format {

struct JsonWriteOptions {
  bool escapes_slash = false;  // "\/" as the product writes it
};

// With quotes. Escapes the quote, the backslash and control characters; other characters stay.
void append_json_string(std::string& out, std::string_view text, const JsonWriteOptions& options);
// The shortest decimal that reads back to the same double, in JSON's form. False for NaN and the
// infinities, which JSON cannot write.
bool append_json_double(std::string& out, double d);

}  // namespace millstream::format
