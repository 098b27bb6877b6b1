// Clients of MQTT that mean harm, or are broken: the connection ends, and nothing is left of it.
#include <doctest/doctest.h>

#include "wire/mqtt/mqtt_for_test.h"
#include "wire/mqtt/writer.h"

namespace millstream::wire::mqtt {
namespace {

using testing::eventually;
using testing::MqttWorld;
using testing::RawClient;

std::string connect_packet(Version version, std::string_view id) {
  ConnectFields fields;
  fields.version = version;
  fields.client_id = id;
  std::string packet;
  write_connect(packet, fields);
  return packet;
}

struct Attacker : RawClient {
  Attacker(MqttWorld& world, Version version) : RawClient(world.endpoint->port()) {
    send(connect_packet(version, "attacker"));
    CHECK(receive_bytes(4));
    received.clear();
  }
};

TEST_CASE("mqtt hostile: packets that are none end the connection") {
  MqttWorld world;
  const std::string cases[] = {
      std::string("\x30\xff\xff\xff\xff\x01", 6),       // a length of five bytes
      std::string("\x30\xff\xff\xff\x7f", 5),           // longer than any message may be
      std::string("\x00\x00", 2),                       // reserved type
      std::string("\x36\x05\x00\x01t\x00\x01", 7),      // quality of service 3
      std::string("\x32\x05\x00\x01t\x00\x00", 7),      // packet identifier 0
      std::string("\x80\x06\x00\x01\x00\x01t\x00", 8),  // SUBSCRIBE without its flags
      std::string("\x82\x02\x00\x01", 4),               // SUBSCRIBE to nothing
      std::string("\x30\x05\x00\x09t/x", 7),            // a topic that goes beyond the packet
      std::string("\x30\x04\x00\x02\xc3\x28", 6),       // no UTF-8
      connect_packet(Version::k311, "again"),           // a second CONNECT
  };
  for (Version version : {Version::k311, Version::k5}) {
    for (const std::string& bytes : cases) {
      CAPTURE(bytes.size());
      Attacker client(world, version);
      client.send(bytes);
      CHECK(client.receive_end());
      // Version 5 is told why.
      if (version == Version::k5) CHECK(client.received.substr(0, 1) == "\xe0");
      if (version != Version::k5) CHECK(client.received.empty());
    }
  }
  CHECK(eventually([&] { return world.endpoint->stats().connections == 0; }));
}

TEST_CASE("mqtt hostile: one byte at a time") {
  MqttWorld world;
  RawClient client(world.endpoint->port());
  std::string bytes = connect_packet(Version::k311, "slow");
  FilterField filter{"a/b", {.qos = 1}};
  write_subscribe(bytes, Version::k311, 1, {&filter, 1});
  write_publish(bytes, Version::k311, {.qos = 1, .packet_id = 2, .topic = "a/b"}, "payload");
  for (const char& c : bytes) client.send(std::string_view(&c, 1));
  std::string expected("\x20\x02\x00\x00\x90\x03\x00\x01\x01", 9);
  REQUIRE(client.receive_bytes(expected.size() + 4 + 16));
  CHECK(client.received.substr(0, expected.size()) == expected);
  CHECK(client.received.find(std::string("\x40\x02\x00\x02", 4)) != std::string::npos);
  CHECK(client.received.find("a/b") != std::string::npos);
  CHECK(client.received.find("payload") != std::string::npos);
}

TEST_CASE("mqtt hostile: who does not log in, and who goes without a word") {
  EndpointLimits limits;
  limits.handshake_ns = 50 * net::kMillisecond;
  MqttWorld world({}, limits);
  RawClient silent(world.endpoint->port());
  CHECK(silent.receive_end());
  RawClient slow(world.endpoint->port());
  slow.send(connect_packet(Version::k5, "slow").substr(0, 5));
  CHECK(slow.receive_end());
  // What a CONNECT may have is bounded before it is read.
  RawClient large(world.endpoint->port());
  large.send(std::string("\x10\xff\xff\xff\x7f", 5));
  CHECK(large.receive_end());
  {
    Attacker gone(world, Version::k5);
    gone.reset();
  }
  CHECK(eventually([&] { return world.endpoint->stats().connections == 0; }));
}

}  // namespace
}  // namespace millstream::wire::mqtt
