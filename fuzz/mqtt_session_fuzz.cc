// An MQTT session that has connected and then gets anything, in pieces of any size: it ends, and
// everything that it had goes with it; a durable one is taken up by the next.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdint>
#include <cstdlib>

#include "wire/mqtt/mqtt_for_test.h"
#include "wire/mqtt/writer.h"

namespace mqtt = millstream::wire::mqtt;
namespace testing = millstream::wire::testing;

namespace {

testing::MqttWorld& world() {
  static doctest::Context context;
  context.setAsDefaultForAssertsOutOfTestCases();
  // Never destroyed: the process ends with it.
  static auto* const world = new testing::MqttWorld();
  return *world;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr mqtt::Version kVersions[] = {mqtt::Version::k31, mqtt::Version::k311,
                                         mqtt::Version::k5};
  testing::MqttWorld& w = world();
  testing::RawClient client(w.endpoint->port());
  mqtt::ConnectFields fields;
  fields.version = kVersions[data[0] % 3];
  fields.is_clean = data[0] % 2 == 0;
  fields.client_id = "fuzz";
  std::string packet;
  mqtt::write_connect(packet, fields);
  client.send(packet);
  if (!client.receive_bytes(4)) abort();
  client.received.clear();
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
