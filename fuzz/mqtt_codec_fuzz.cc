// MQTT packets of any version: what is read and accepted is written and read again to the same.
#include <cstdint>
#include <cstdlib>

#include "wire/mqtt/rewrite_for_test.h"
#include "wire/mqtt/topic_names.h"

namespace mqtt = millstream::wire::mqtt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr mqtt::Version kVersions[] = {mqtt::Version::k31, mqtt::Version::k311,
                                         mqtt::Version::k5};
  mqtt::Version version = kVersions[data[0] % 3];
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  mqtt::FilterParts parts;
  (void)mqtt::split_filter(rest, parts);
  while (!rest.empty()) {
    mqtt::Frame frame;
    mqtt::Reason reason = mqtt::Reason::kSuccess;
    if (mqtt::read_frame(rest, 1u << 20, frame, reason) != mqtt::FrameState::kWhole) break;
    std::string once;
    if (!mqtt::is_error(mqtt::rewrite_packet(frame, version, once))) {
      mqtt::Frame again;
      if (mqtt::read_frame(once, 1u << 20, again, reason) != mqtt::FrameState::kWhole) abort();
      std::string twice;
      if (mqtt::is_error(mqtt::rewrite_packet(again, version, twice)) || once != twice) abort();
    }
    rest.remove_prefix(frame.size);
  }
  return 0;
}
