// A STOMP session that has logged in and then gets anything, in pieces of any size: it ends, and
// everything that it had goes with it.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdint>
#include <cstdlib>

#include "wire/stomp/stomp_for_test.h"

namespace testing = millstream::wire::testing;

namespace {

testing::StompWorld& world() {
  static doctest::Context context;
  context.setAsDefaultForAssertsOutOfTestCases();
  // Never destroyed: the process ends with it.
  static auto* const world = new testing::StompWorld();
  return *world;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr const char* kVersions[] = {"1.0", "1.1", "1.2"};
  testing::StompWorld& w = world();
  testing::RawClient client(w.endpoint->port());
  client.send("CONNECT\naccept-version:" + std::string(kVersions[data[0] % 3]) + "\nhost:h\n\n" +
              std::string(1, '\0'));
  if (client.receive_until(std::string(1, '\0')).empty()) abort();
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t step = data[0] < 128 ? rest.size() + 1 : 1 + data[0] % 31;
  while (!rest.empty()) {
    client.send(rest.substr(0, step));
    rest.remove_prefix(std::min(step, rest.size()));
  }
  client.finish_sending();
  while (client.receive_more()) client.received.clear();
  if (!client.has_ended()) abort();  // it hangs
  client.close();
  if (!testing::eventually([&] { return w.endpoint->stats().connections == 0; })) abort();
  return 0;
}
