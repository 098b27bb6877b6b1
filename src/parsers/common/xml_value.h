// Scalar values as XML documents show them, and escaping. Thread: any.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "value/value.h"

namespace millstream::parsers::common {

// Anything but CHARACTER in its XML form: INTEGER and DECIMAL plain, FLOAT scientific, BOOLEAN true
// and false, dates and times ISO 8601 (GMT kinds with Z), BLOB hex, BIT as 0 and 1, INTERVAL as an
// ISO duration. CHARACTER as it is, unescaped. NULL: nothing.
void append_xml_value(const value::Value& v, std::string& out);

enum class XmlContext : uint8_t { kText, kDoubleQuotes, kSingleQuotes };
// Offset of the first character that XML cannot represent, npos when all were appended.
size_t append_xml_escaped(std::string_view text, XmlContext where, std::string& out);
// The same check without writing.
size_t find_illegal_xml(std::string_view text);
// Nothing in it needs a second look, neither escaping nor a check. False negatives are allowed.
bool is_plain_xml_text(std::string_view text);

}  // namespace millstream::parsers::common
