// Values of the literals of ESQL source text (spec A1). Texts of results live in the arena.
// Thread: any.
#pragma once
#include <string_view>

#include "base/arena.h"
#include "value/value.h"

namespace millstream::esql {

// Digits only: INTEGER, or DECIMAL when it needs more than 64 bits. False: above the range of both.
bool parse_integer_literal(std::string_view digits, base::Arena& arena, value::Value& out);
// 0x...: at most 16 hexadecimal digits, a 64-bit pattern.
bool parse_hex_literal(std::string_view text, value::Value& out);
// With a point or an exponent: FLOAT, or DECIMAL when a FLOAT cannot hold it.
bool parse_real_literal(std::string_view text, base::Arena& arena, value::Value& out);
// The digits between the quotes, already checked by the lexer.
value::Value blob_of_hex(std::string_view digits, base::Arena& arena);
value::Value bits_of_digits(std::string_view digits, base::Arena& arena);

}  // namespace millstream::esql
