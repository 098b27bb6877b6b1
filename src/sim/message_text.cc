#include "sim/message_text.h"

#include <algorithm>
#include <charconv>

namespace millstream::sim {
namespace {

char filler_at(uint64_t seed, size_t at) {
  uint64_t x = seed + at / 8 * 0x9E3779B97F4A7C15ull;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9ull;
  x ^= x >> 32;
  return static_cast<char>(x >> (at % 8 * 8));
}

uint64_t seed_of(std::string_view line) {
  uint64_t h = 14695981039346656037ull;
  for (const char c : line) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return h;
}

}  // namespace

std::string make_message_text(std::string_view key, size_t bytes) {
  std::string line;
  size_t size = bytes;
  // The size is in the line, whose length may depend on it.
  for (int round = 0; round < 3; ++round) {
    line = std::string(key) + " " + std::to_string(size) + "\n";
    size = std::max(bytes, line.size());
  }
  const uint64_t seed = seed_of(line);
  line.reserve(size);
  for (size_t at = line.size(); at < size; ++at) line += filler_at(seed, at);
  return line;
}

MessageText read_message_text(std::string_view body, size_t whole_bytes) {
  MessageText out;
  const size_t blank = body.find(' '), end = body.find('\n');
  if (blank == std::string_view::npos || end == std::string_view::npos || blank > end) {
    out.error = "a body of " + std::to_string(body.size()) + " bytes without a key";
    return out;
  }
  out.key = body.substr(0, blank);
  size_t size = 0;
  std::from_chars(body.data() + blank + 1, body.data() + end, size);
  if (size != whole_bytes) {
    out.error = "key " + out.key + " has " + std::to_string(whole_bytes) + " bytes instead of " +
                std::to_string(size);
    return out;
  }
  const uint64_t seed = seed_of(body.substr(0, end + 1));
  for (size_t at = end + 1; at < body.size(); ++at) {
    if (body[at] == filler_at(seed, at)) continue;
    out.error = "key " + out.key + " has another byte at " + std::to_string(at);
    return out;
  }
  return out;
}

}  // namespace millstream::sim
