// STOMP frames of any version: whole and in pieces they are the same, and what is written is read
// again to the same.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wire/stomp/frame.h"

namespace stomp = millstream::wire::stomp;

namespace {

constexpr stomp::FrameLimits kLimits{
    .header_bytes_max = 4'096, .headers_max = 20, .body_bytes_max = 8'192};

std::string text_of(const stomp::Frame& frame, stomp::Version version) {
  stomp::FrameWriter writer(frame.command, version);
  for (const stomp::Header& header : frame.headers) {
    if (header.first != "content-length") writer.add(header.first, header.second);
  }
  writer.add("content-length", frame.body.size());
  return writer.take() + std::string(frame.body.view()) + '\0';
}

std::string read_all(std::string_view bytes, size_t step, stomp::Version version, bool& is_bad) {
  stomp::FrameReader reader(kLimits);
  reader.set_version(version);
  std::string waiting, out;
  while (!bytes.empty()) {
    waiting += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
    std::string_view rest = waiting;
    while (true) {
      const stomp::FrameReader::Event event = reader.read(rest);
      if (event == stomp::FrameReader::Event::kNone) break;
      if (event == stomp::FrameReader::Event::kBad) {
        is_bad = true;
        return out;
      }
      out += text_of(reader.frame(), version);
    }
    waiting.erase(0, waiting.size() - rest.size());
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr stomp::Version kVersions[] = {stomp::Version::k10, stomp::Version::k11,
                                          stomp::Version::k12};
  const stomp::Version version = kVersions[data[0] % 3];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  bool is_bad = false, is_bad_in_pieces = false;
  const std::string whole = read_all(bytes, bytes.size() + 1, version, is_bad);
  const std::string pieces = read_all(bytes, 1 + data[0] / 3 % 7, version, is_bad_in_pieces);
  if (whole != pieces || is_bad != is_bad_in_pieces) abort();
  // 1.0 cannot say all that others can; CONNECT is never escaped; what is escaped is longer; a line
  // end that a command has is no part of it.
  if (version == stomp::Version::k10 || whole.find("CONNECT") != std::string::npos ||
      whole.find("STOMP") != std::string::npos || whole.find('\r') != std::string::npos ||
      whole.size() > kLimits.header_bytes_max) {
    return 0;
  }
  bool is_bad_again = false;
  const std::string again = read_all(whole, whole.size() + 1, version, is_bad_again);
  if (is_bad_again || again != whole) abort();
  return 0;
}
