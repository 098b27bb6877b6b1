// Scalar values as the text formats (JSON, header lines, folder XML) write them: ISO 8601 dates and
// durations, plain digits, lower-case booleans. Locale and zone play no part. Thread: any.
#pragma once
#include <string>
#include <string_view>

#include "value/value.h"

namespace millstream::parsers {

// Largest number of zeros written before an exponent form is used instead.
constexpr int32_t kPlainZerosMax = 100;

void append_integer(std::string& out, int64_t i);
// Digits with the scale kept (1.50), never an exponent while at most kPlainZerosMax zeros are
// needed. False, and nothing written, for INF and NAN.
bool append_plain_decimal(std::string& out, const value::Value& v);
// Any scalar: NULL is nothing, BLOB is hexadecimal, BIT is zeros and ones, FLOAT the shortest text
// that reads back, GMT kinds end in Z.
void append_scalar_text(std::string& out, const value::Value& v);
std::string scalar_text(const value::Value& v);
void append_base64(std::string& out, std::string_view bytes);

}  // namespace millstream::parsers
