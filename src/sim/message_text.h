// Bodies that prove themselves: every byte follows from the key and the size at the front, so that
// a body which is cut, mixed with another or stale is found out by reading it.
// Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace millstream::sim {

// "KEY SIZE\n" and what follows from it; at least that line.
std::string make_message_text(std::string_view key, size_t bytes);

struct MessageText {
  std::string key;    // empty: there is none to be read
  std::string error;  // what is wrong with the body; empty: nothing
};
// `whole_bytes`: of the message, when `body` may be its beginning only.
MessageText read_message_text(std::string_view body, size_t whole_bytes);

}  // namespace millstream::sim
