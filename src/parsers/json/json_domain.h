// The JSON domain: bytes <-> JSON.Data (spec B7, traps 46 to 49).
//
// Tree: Data and nested containers are Object (0x01000000) or Array (0x01001000), items of an array
// are named Item, everything else is a NameValue. Integral numbers within 64 bits are INTEGER, any
// other number is a DECIMAL with its digits and scale; null is a NULL value; duplicate members
// stay, in order. Strings are views into the body unless they hold escapes. The whole body is
// scanned at the first navigation below the root; nothing is read before that. An empty body gives
// a JSON root without Data. A scalar at the top is refused both ways.
//
// Writing: Array types make arrays (item names are ignored), folders make objects, repeated names
// make duplicate members. An element that has both a value and children, as XMLNSC fields with
// attributes have, becomes an object whose first member has the empty name and that value.
// DECIMAL is written in plain digits; a number that nobody changed since it was read is written as
// it was read. Dates and times are ISO 8601 strings, BLOB is a base64 string, BIT a string of 0
// and 1. Thread: that of the message.
#pragma once
#include "tree/domain.h"

namespace millstream::parsers::json {

extern const tree::Domain kDomain;

// escapeMode of the JSON parser manager: "/" becomes "\/" as the product writes it.
struct WriteSettings {
  bool escapes_slash = true;
};
WriteSettings& write_settings();  // set once at start-up, before the first message

}  // namespace millstream::parsers::json
