// RFC 4013: one form for names and passwords that look the same, so that a client's hash and ours
// agree whatever keyboard typed them. Thread: any.
#pragma once
#include <string>
#include <string_view>

namespace millstream::text {

// ASCII stays as it is. What SASLprep prohibits (control characters, text of both directions), and
// what is not UTF-8, also stays as it is: it can still be a password, compared byte by byte.
std::string saslprep(std::string_view s);

}  // namespace millstream::text
