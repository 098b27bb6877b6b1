// Packets as mosquitto_pub, mosquitto_sub and paho (Python) send them and as Mosquitto 2.0.11
// answers, recorded on a socket: each is read, and written again to the same bytes.
#include <doctest/doctest.h>

#include "wire/mqtt/rewrite_for_test.h"

namespace millstream::wire::mqtt {
namespace {

struct SampleSession {
  const char* client;
  Version version;
  const char* bytes;  // hexadecimal; packets of both sides
};
constexpr SampleSession kSessions[] = {
    {"mosquitto_pub, 3.1", Version::k31,
     "101100064d51497364700302003c00036f6c64 20020000 3206000161000178 40020001 e000"},
    {"mosquitto_pub, 3.1.1", Version::k311,
     "102300044d51545404ce003c00026d310001770004676f6e6500026d650006736563726574 20020000 "
     "350c0003612f62000168656c6c6f 50020001 62020001 70020001 e000"},
    {"mosquitto_pub, 5", Version::k5,
     "102300044d5154540506003c08110000000a21000500026d32051800000003000177000170 "
     "200900000622000a210014 32300003612f6200012303000a746578742f706c61696e2600016b00017602"
     "0000003c0800017209000163010168656c6c6f 4003000110 e000"},
    {"mosquitto_sub, 5", Version::k5,
     "101700044d5154540500003c0811ffffffff21001400026d33 200900000622000a210014 "
     "82180001020b070003612f230a000a2473686172652f672f620a 90050001000202 "
     "350f0003612f620001020b0768656c6c6f 50020001 62020001 70020001 e00104"},
    {"paho, 5", Version::k5,
     "102300044d5154540502001e1411000000052200032600016100016227000003e800027031 "
     "200900000622000a210014 820c0001030bac020003782f2b16 900400010002 "
     "340f00017900020809000200012300027a 50020002 62020002 70020002 310400017900 "
     "a2080004000003782f2b b00400040000 e00104"},
};

TEST_CASE("mqtt samples: recorded packets come back byte for byte") {
  size_t packets = 0;
  for (const SampleSession& session : kSessions) {
    CAPTURE(session.client);
    std::string bytes;
    auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::string_view hex = session.bytes;
    for (size_t i = 0; i + 1 < hex.size(); ++i) {
      if (hex[i] == ' ') continue;
      bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
      ++i;
    }
    std::string_view rest = bytes;
    while (!rest.empty()) {
      Frame frame;
      Reason reason = Reason::kSuccess;
      REQUIRE(read_frame(rest, kRemainingLengthMax, frame, reason) == FrameState::kWhole);
      std::string again;
      CHECK(rewrite_packet(frame, session.version, again) == Reason::kSuccess);
      CHECK(again == rest.substr(0, frame.size));
      rest.remove_prefix(frame.size);
      ++packets;
    }
  }
  CHECK(packets == 38);
}

}  // namespace
}  // namespace millstream::wire::mqtt
