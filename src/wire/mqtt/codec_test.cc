// The codec: every packet both ways, every property where it may and may not stand, and what is
// refused.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "wire/mqtt/packets.h"
#include "wire/mqtt/topic_names.h"
#include "wire/mqtt/writer.h"

namespace millstream::wire::mqtt {
namespace {

using P = PropertyId;

Frame frame_of(std::string_view bytes) {
  Frame frame;
  Reason reason = Reason::kSuccess;
  REQUIRE(read_frame(bytes, kRemainingLengthMax, frame, reason) == FrameState::kWhole);
  REQUIRE(frame.size == bytes.size());
  return frame;
}

std::string codec_hex(std::string_view text) {
  std::string out;
  auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; };
  std::string digits;
  for (char c : text) {
    if (c != ' ') digits += c;
  }
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    out += static_cast<char>(digit(digits[i]) << 4 | digit(digits[i + 1]));
  }
  return out;
}

struct NamedPlace {
  const char* name;
  PropertyPlace place;
};
constexpr NamedPlace kPlaces[] = {
    {"CONNECT", property_place(PacketType::kConnect)},
    {"CONNACK", property_place(PacketType::kConnack)},
    {"PUBLISH", property_place(PacketType::kPublish)},
    {"Will", kWillProperties},
    {"PUBACK", property_place(PacketType::kPuback)},
    {"PUBREC", property_place(PacketType::kPubrec)},
    {"PUBREL", property_place(PacketType::kPubrel)},
    {"PUBCOMP", property_place(PacketType::kPubcomp)},
    {"SUBSCRIBE", property_place(PacketType::kSubscribe)},
    {"SUBACK", property_place(PacketType::kSuback)},
    {"UNSUBSCRIBE", property_place(PacketType::kUnsubscribe)},
    {"UNSUBACK", property_place(PacketType::kUnsuback)},
    {"DISCONNECT", property_place(PacketType::kDisconnect)},
    {"AUTH", property_place(PacketType::kAuth)},
};

// The table of 2.2.2.2, written down a second time: places by name, an example of each type.
struct PropertyCase {
  P id;
  const char* example;  // in hex, behind the identifier
  const char* places;
  bool may_repeat;
};
constexpr const char* kEverywhere =
    "CONNECT CONNACK PUBLISH Will PUBACK PUBREC PUBREL PUBCOMP SUBSCRIBE SUBACK UNSUBSCRIBE "
    "UNSUBACK DISCONNECT AUTH";
constexpr const char* kReasonPlaces =
    "CONNACK PUBACK PUBREC PUBREL PUBCOMP SUBACK UNSUBACK DISCONNECT AUTH";
constexpr PropertyCase kProperties[] = {
    {P::kPayloadFormat, "01", "PUBLISH Will", false},
    {P::kMessageExpiry, "00000010", "PUBLISH Will", false},
    {P::kContentType, "0002 6869", "PUBLISH Will", false},
    {P::kResponseTopic, "0002 6869", "PUBLISH Will", false},
    {P::kCorrelationData, "0003 00ff01", "PUBLISH Will", false},
    {P::kSubscriptionId, "8001", "PUBLISH SUBSCRIBE", true},
    {P::kSessionExpiry, "ffffffff", "CONNECT CONNACK DISCONNECT", false},
    {P::kAssignedClientId, "0002 6869", "CONNACK", false},
    {P::kServerKeepAlive, "0010", "CONNACK", false},
    {P::kAuthenticationMethod, "0002 6869", "CONNECT CONNACK AUTH", false},
    {P::kAuthenticationData, "0002 00ff", "CONNECT CONNACK AUTH", false},
    {P::kRequestProblemInfo, "00", "CONNECT", false},
    {P::kWillDelay, "00000001", "Will", false},
    {P::kRequestResponseInfo, "01", "CONNECT", false},
    {P::kResponseInfo, "0000", "CONNACK", false},
    {P::kServerReference, "0001 61", "CONNACK DISCONNECT", false},
    {P::kReasonString, "0001 61", kReasonPlaces, false},
    {P::kReceiveMaximum, "0001", "CONNECT CONNACK", false},
    {P::kTopicAliasMaximum, "0000", "CONNECT CONNACK", false},
    {P::kTopicAlias, "0001", "PUBLISH", false},
    {P::kMaximumQos, "01", "CONNACK", false},
    {P::kRetainAvailable, "01", "CONNACK", false},
    {P::kUserProperty, "0001 61 0001 62", kEverywhere, true},
    {P::kMaximumPacketSize, "00000100", "CONNECT CONNACK", false},
    {P::kWildcardAvailable, "01", "CONNACK", false},
    {P::kSubscriptionIdsAvailable, "00", "CONNACK", false},
    {P::kSharedAvailable, "00", "CONNACK", false},
};

bool names_place(std::string_view places, std::string_view name) {
  std::string padded = " " + std::string(places) + " ";
  return padded.find(" " + std::string(name) + " ") != std::string::npos;
}

TEST_CASE("mqtt properties: each where it belongs, once, and whole") {
  for (const PropertyCase& c : kProperties) {
    std::string one(1, static_cast<char>(c.id));
    one += codec_hex(c.example);
    for (const NamedPlace& place : kPlaces) {
      CAPTURE(static_cast<int>(c.id));
      CAPTURE(place.name);
      bool belongs = names_place(c.places, place.name);
      Properties properties;
      CHECK((properties.read(one, place.place) == Reason::kSuccess) == belongs);
      if (!belongs) continue;
      CHECK(properties.has(c.id));
      Reason twice = properties.read(one + one, place.place);
      CHECK(twice == (c.may_repeat ? Reason::kSuccess : Reason::kProtocolError));
      for (size_t cut = 1; cut < one.size(); ++cut) {
        CHECK(properties.read(one.substr(0, cut), place.place) == Reason::kMalformedPacket);
      }
    }
  }
  Properties properties;
  for (int id = 0; id < 256; ++id) {
    bool is_known = false;
    for (const PropertyCase& c : kProperties) is_known |= static_cast<int>(c.id) == id;
    if (is_known) continue;
    std::string bytes;
    append_varint(bytes, static_cast<uint32_t>(id));
    CHECK(properties.read(bytes + std::string(16, '\1'), ~0u) == Reason::kMalformedPacket);
  }
}

TEST_CASE("mqtt properties: values that are errors") {
  struct Bad {
    const char* bytes;
    Reason reason;
  };
  const Bad kBad[] = {
      {"01 02", Reason::kProtocolError},             // payload format
      {"17 02", Reason::kProtocolError},             // request problem information
      {"21 0000", Reason::kProtocolError},           // receive maximum
      {"27 00000000", Reason::kProtocolError},       // maximum packet size
      {"0b 00", Reason::kProtocolError},             // subscription identifier
      {"0b ffffffff01", Reason::kMalformedPacket},   // five bytes
      {"0b 8000", Reason::kMalformedPacket},         // not the shortest
      {"03 0002 c328", Reason::kMalformedPacket},    // UTF-8
      {"03 0003 eda080", Reason::kMalformedPacket},  // a surrogate
      {"03 0001 00", Reason::kMalformedPacket},      // U+0000
      {"26 0001 61 0001 00", Reason::kMalformedPacket},
  };
  for (const Bad& bad : kBad) {
    CAPTURE(bad.bytes);
    Properties properties;
    CHECK(properties.read(codec_hex(bad.bytes), ~0u) == bad.reason);
  }
  std::string many;
  PropertyWriter writer(many);
  for (size_t i = 0; i < kUserPropertiesMax; ++i) writer.pair("a", "b");
  Properties properties;
  CHECK(properties.read(many, ~0u) == Reason::kSuccess);
  CHECK(properties.user_count() == kUserPropertiesMax);
  writer.pair("a", "b");
  CHECK(properties.read(many, ~0u) == Reason::kPacketTooLarge);
}

TEST_CASE("mqtt frames: lengths, flags, limits") {
  Frame frame;
  Reason reason = Reason::kSuccess;
  CHECK(read_frame("", 100, frame, reason) == FrameState::kIncomplete);
  CHECK(read_frame("\xc0", 100, frame, reason) == FrameState::kIncomplete);
  CHECK(read_frame(std::string_view("\xc0\0", 2), 100, frame, reason) == FrameState::kWhole);
  CHECK(frame.type == PacketType::kPingreq);
  // A length of five bytes, and one that is not the shortest.
  CHECK(read_frame("\x30\xff\xff\xff\xff", 1000, frame, reason) == FrameState::kBad);
  CHECK(read_frame(std::string_view("\x30\x80\0", 3), 1000, frame, reason) == FrameState::kBad);
  CHECK(reason == Reason::kMalformedPacket);
  // Too large is said before the packet is there.
  CHECK(read_frame("\x30\x64", 101, frame, reason) == FrameState::kBad);
  CHECK(reason == Reason::kPacketTooLarge);
  CHECK(read_frame("\x30\x64", 102, frame, reason) == FrameState::kIncomplete);
  CHECK(frame.size == 102);
  // Which of the 256 first bytes may be: 2.1.3.
  for (int first = 0; first < 256; ++first) {
    int type = first >> 4;
    int flags = first & 15;
    bool expected = flags == 0;
    if (type == 0) expected = false;
    if (type == 3) expected = (flags & 6) != 6 && flags != 8 && flags != 9;
    if (type == 6 || type == 8 || type == 10) expected = flags == 2;
    std::string bytes{static_cast<char>(first), '\0'};
    CAPTURE(first);
    CHECK((read_frame(bytes, 100, frame, reason) == FrameState::kWhole) == expected);
  }
}

TEST_CASE("mqtt varints: both ways, at their borders") {
  for (uint32_t value :
       {0u, 1u, 127u, 128u, 16'383u, 16'384u, 2'097'151u, 2'097'152u, kRemainingLengthMax}) {
    std::string bytes;
    append_varint(bytes, value);
    CHECK(bytes.size() == varint_bytes(value));
    uint32_t back = 1;
    CHECK(read_varint(bytes, back) == static_cast<int>(bytes.size()));
    CHECK(back == value);
    bytes.pop_back();
    CHECK(read_varint(bytes, back) == 0);
  }
}

TEST_CASE("mqtt connect: all fields, by version") {
  for (Version version : {Version::k31, Version::k311, Version::k5}) {
    ConnectFields f;
    f.version = version;
    f.is_clean = version != Version::k311;
    f.keep_alive_s = 300;
    f.client_id = "client-1";
    std::string properties;
    std::string will_properties;
    PropertyWriter writer(properties);
    writer.number(P::kSessionExpiry, 3600);
    writer.pair("k", "v");
    writer.pair("k", "w");
    PropertyWriter(will_properties).number(P::kWillDelay, 7);
    f.properties = properties;
    f.has_will = true;
    f.will_topic = "w/t";
    f.will_payload = "gone";
    f.will_properties = will_properties;
    f.will_qos = 2;
    f.is_will_retained = true;
    f.user = "u";
    f.password = "p";
    std::string bytes;
    write_connect(bytes, f);
    ConnectPacket packet;
    REQUIRE(read_connect(frame_of(bytes), packet) == Reason::kSuccess);
    CHECK(packet.version == version);
    CHECK(packet.is_clean == f.is_clean);
    CHECK(packet.keep_alive_s == 300);
    CHECK(packet.client_id == "client-1");
    CHECK(packet.will.topic == "w/t");
    CHECK(packet.will.payload == "gone");
    CHECK(packet.will.qos == 2);
    CHECK(packet.will.is_retained);
    CHECK(packet.user == "u");
    CHECK(packet.password == "p");
    if (version != Version::k5) continue;
    CHECK(packet.properties.number(P::kSessionExpiry) == 3600);
    CHECK(packet.will.properties.number(P::kWillDelay) == 7);
    std::string pairs;
    packet.properties.for_each_user(
        [&](const PropertyPair& p) { pairs += std::string(p.name) + "=" + std::string(p.value); });
    CHECK(pairs == "k=vk=w");
  }
}

TEST_CASE("mqtt connect: what is refused") {
  struct Bad {
    const char* body;
    Reason reason;
  };
  const Bad kBad[] = {
      {"0004 4d515454 06 02 0000 00 0000", Reason::kUnsupportedProtocolVersion},
      {"0004 4d515454 03 02 0000 0000", Reason::kUnsupportedProtocolVersion},
      {"0004 4d515455 04 02 0000 0000", Reason::kMalformedPacket},              // name
      {"0004 4d515454 04 03 0000 0000", Reason::kMalformedPacket},              // reserved bit
      {"0004 4d515454 04 1e 0000 0000 000161 0000", Reason::kMalformedPacket},  // will QoS 3
      {"0004 4d515454 04 0a 0000 0000", Reason::kMalformedPacket},  // will QoS without a will
      {"0004 4d515454 04 22 0000 0000", Reason::kMalformedPacket},  // will retain without a will
      {"0004 4d515454 04 42 0000 0000 000161", Reason::kMalformedPacket},  // no user in 3.1.1
      {"0004 4d515454 04 02 0000 0000 00", Reason::kMalformedPacket},      // bytes left
      {"0004 4d515454 04 02 0000 0001", Reason::kMalformedPacket},         // bytes missing
      {"0004 4d515454 04 02 0000 0001 00", Reason::kMalformedPacket},      // U+0000
      {"0004 4d515454 04 06 0000 0000 000123 0000", Reason::kTopicNameInvalid},
      {"0004 4d515454 05 02 0000 04 16000161 0000", Reason::kProtocolError},  // data, no method
      {"0004 4d515454 05 02 0000 05 1100000001 1100000001 0000", Reason::kMalformedPacket},
      {"0004 4d515454 05 02 0000 0a 1100000001 1100000001 0000", Reason::kProtocolError},
  };
  for (const Bad& bad : kBad) {
    CAPTURE(bad.body);
    Frame frame;
    std::string body = codec_hex(bad.body);
    frame.type = PacketType::kConnect;
    frame.body = body;
    ConnectPacket packet;
    CHECK(read_connect(frame, packet) == bad.reason);
  }
  // A password alone is right in version 5.
  Frame frame;
  std::string body = codec_hex("0004 4d515454 05 42 0000 00 0000 000161");
  frame.type = PacketType::kConnect;
  frame.body = body;
  ConnectPacket packet;
  CHECK(read_connect(frame, packet) == Reason::kSuccess);
  CHECK(packet.password == "a");
}

TEST_CASE("mqtt publish: both ways and what is refused") {
  for (Version version : {Version::k311, Version::k5}) {
    for (uint8_t qos : {0, 1, 2}) {
      std::string properties;
      PropertyWriter(properties).text(P::kContentType, "text/plain");
      std::string bytes;
      write_publish(bytes, version,
                    {.is_duplicate = qos == 1,
                     .qos = qos,
                     .is_retained = true,
                     .packet_id = 513,
                     .topic = "a/b",
                     .properties = properties},
                    "hello");
      PublishPacket packet;
      REQUIRE(read_publish(frame_of(bytes), version, packet) == Reason::kSuccess);
      CHECK(packet.qos == qos);
      CHECK(packet.is_duplicate == (qos == 1));
      CHECK(packet.is_retained);
      CHECK(packet.packet_id == (qos == 0 ? 0 : 513));
      CHECK(packet.topic == "a/b");
      CHECK(packet.payload == "hello");
      CHECK(packet.properties.text(P::kContentType) ==
            (version == Version::k5 ? "text/plain" : ""));
    }
  }
  auto read = [](const char* body, uint8_t flags, Version version) {
    Frame frame;
    std::string bytes = codec_hex(body);
    frame.type = PacketType::kPublish;
    frame.flags = flags;
    frame.body = bytes;
    PublishPacket packet;
    return read_publish(frame, version, packet);
  };
  CHECK(read("0000", 0, Version::k311) == Reason::kMalformedPacket);
  CHECK(read("0000 00", 0, Version::k5) == Reason::kProtocolError);
  CHECK(read("0000 03 230001", 0, Version::k5) == Reason::kSuccess);
  CHECK(read("0001 23", 0, Version::k311) == Reason::kTopicNameInvalid);
  CHECK(read("0001 2b 00", 0, Version::k5) == Reason::kTopicNameInvalid);
  CHECK(read("0001 61 0000", 2, Version::k311) == Reason::kProtocolError);
  CHECK(read("0001 61 00", 2, Version::k311) == Reason::kMalformedPacket);
  CHECK(read("0001 61 05 01", 0, Version::k5) == Reason::kMalformedPacket);
}

TEST_CASE("mqtt acknowledgements, short and long forms") {
  for (PacketType type :
       {PacketType::kPuback, PacketType::kPubrec, PacketType::kPubrel, PacketType::kPubcomp}) {
    std::string bytes;
    write_ack(bytes, Version::k5, type, 7);
    CHECK(bytes.size() == 4);
    AckPacket packet;
    REQUIRE(read_ack(frame_of(bytes), Version::k5, packet) == Reason::kSuccess);
    CHECK(packet.packet_id == 7);
    CHECK(packet.reason == Reason::kSuccess);
    std::string properties;
    PropertyWriter(properties).text(P::kReasonString, "because");
    Reason reason = type == PacketType::kPuback || type == PacketType::kPubrec
                        ? Reason::kQuotaExceeded
                        : Reason::kPacketIdNotFound;
    bytes.clear();
    write_ack(bytes, Version::k5, type, 8, reason, properties);
    AckPacket full;
    REQUIRE(read_ack(frame_of(bytes), Version::k5, full) == Reason::kSuccess);
    CHECK(full.reason == reason);
    CHECK(full.properties.text(P::kReasonString) == "because");
    CHECK(read_ack(frame_of(bytes), Version::k311, full) == Reason::kMalformedPacket);
    bytes.clear();
    write_ack(bytes, Version::k5, type, 8, Reason::kBanned);
    CHECK(read_ack(frame_of(bytes), Version::k5, full) == Reason::kProtocolError);
    bytes.clear();
    write_ack(bytes, Version::k311, type, 0);
    CHECK(read_ack(frame_of(bytes), Version::k311, full) == Reason::kProtocolError);
  }
}

TEST_CASE("mqtt subscribe and its answers") {
  std::vector<FilterField> filters = {
      {"a/+", {.qos = 1}},
      {"b/#", {.qos = 2, .no_local = true, .retain_as_published = true, .retain_handling = 2}}};
  std::string properties;
  PropertyWriter(properties).number(P::kSubscriptionId, 268'435'455);
  std::string bytes;
  write_subscribe(bytes, Version::k5, 9, filters, properties);
  SubscribePacket packet;
  REQUIRE(read_subscribe(frame_of(bytes), Version::k5, packet) == Reason::kSuccess);
  CHECK(packet.filter_count == 2);
  uint32_t id = 0;
  packet.properties.for_each_subscription_id([&](uint32_t v) { id = v; });
  CHECK(id == 268'435'455);
  std::string_view filter;
  FilterOptions options;
  for (const FilterField& f : filters) {
    REQUIRE(next_filter(packet, Version::k5, filter, options));
    CHECK(filter == f.filter);
    CHECK(options == f.options);
  }
  CHECK_FALSE(next_filter(packet, Version::k5, filter, options));
  bytes.clear();
  write_suback(bytes, Version::k5, PacketType::kSuback, 9, "\x01\x87");
  SubackPacket suback;
  REQUIRE(read_suback(frame_of(bytes), Version::k5, suback) == Reason::kSuccess);
  CHECK(suback.codes == "\x01\x87");
  bytes.clear();
  std::string_view gone[] = {"a/+", "b/#"};
  write_unsubscribe(bytes, Version::k311, 10, gone);
  SubscribePacket unsubscribe;
  REQUIRE(read_subscribe(frame_of(bytes), Version::k311, unsubscribe) == Reason::kSuccess);
  CHECK(unsubscribe.filter_count == 2);
  REQUIRE(next_filter(unsubscribe, filter));
  CHECK(filter == "a/+");
  // No filter; a reserved bit; retain handling 3; quality of service 3; version 5's bits in 3.1.1.
  struct Bad {
    const char* body;
    Version version;
    Reason reason;
  };
  const Bad kBad[] = {
      {"0001", Version::k311, Reason::kProtocolError},
      {"0001 00", Version::k5, Reason::kProtocolError},
      {"0000 000161 00", Version::k311, Reason::kProtocolError},
      {"0001 000161 03", Version::k311, Reason::kMalformedPacket},
      {"0001 000161 04", Version::k311, Reason::kMalformedPacket},
      {"0001 00 000161 40", Version::k5, Reason::kMalformedPacket},
      {"0001 00 000161 30", Version::k5, Reason::kMalformedPacket},
      {"0001 000161", Version::k311, Reason::kMalformedPacket},
      {"0001 000100 00", Version::k311, Reason::kMalformedPacket},
      {"0001 04 0b010b02 000161 00", Version::k5, Reason::kProtocolError},
  };
  for (const Bad& bad : kBad) {
    CAPTURE(bad.body);
    std::string body = codec_hex(bad.body);
    Frame frame;
    frame.type = PacketType::kSubscribe;
    frame.body = body;
    SubscribePacket out;
    CHECK(read_subscribe(frame, bad.version, out) == bad.reason);
  }
}

TEST_CASE("mqtt connack, disconnect and auth") {
  std::string properties;
  PropertyWriter writer(properties);
  writer.number(P::kReceiveMaximum, 10);
  writer.text(P::kAssignedClientId, "auto-1");
  std::string bytes;
  write_connack(bytes, Version::k5, true, 0, properties);
  ConnackPacket connack;
  REQUIRE(read_connack(frame_of(bytes), Version::k5, connack) == Reason::kSuccess);
  CHECK(connack.is_session_present);
  CHECK(connack.properties.text(P::kAssignedClientId) == "auto-1");
  bytes.clear();
  write_connack(bytes, Version::k311, false, 5, properties);
  CHECK(bytes == codec_hex("20 02 00 05"));
  bytes.clear();
  write_reason(bytes, Version::k5, PacketType::kDisconnect, Reason::kSessionTakenOver);
  CHECK(bytes == codec_hex("e0 01 8e"));
  ReasonPacket disconnect;
  REQUIRE(read_disconnect(frame_of(bytes), Version::k5, disconnect) == Reason::kSuccess);
  CHECK(disconnect.reason == Reason::kSessionTakenOver);
  CHECK(read_disconnect(frame_of(bytes), Version::k311, disconnect) == Reason::kMalformedPacket);
  bytes.clear();
  write_reason(bytes, Version::k311, PacketType::kDisconnect, Reason::kServerBusy);
  CHECK(bytes == codec_hex("e0 00"));
  properties.clear();
  PropertyWriter(properties).text(P::kAuthenticationData, "x");
  bytes.clear();
  write_reason(bytes, Version::k5, PacketType::kAuth, Reason::kContinueAuthentication, properties);
  ReasonPacket auth;
  CHECK(read_auth(frame_of(bytes), Version::k5, auth) == Reason::kProtocolError);
  PropertyWriter(properties).text(P::kAuthenticationMethod, "SCRAM-SHA-256");
  bytes.clear();
  write_reason(bytes, Version::k5, PacketType::kAuth, Reason::kContinueAuthentication, properties);
  ReasonPacket good;
  CHECK(read_auth(frame_of(bytes), Version::k5, good) == Reason::kSuccess);
  CHECK(read_auth(frame_of(bytes), Version::k311, good) == Reason::kProtocolError);
}

TEST_CASE("mqtt topic names and filters") {
  for (const char* good : {"a", "/", "a/b", "+", "#", "+/+", "a/#", "/#", "+/a/#", "//", "a b"}) {
    CAPTURE(good);
    CHECK(is_topic_filter(good));
  }
  for (const char* bad : {"", "a#", "#/a", "a/#/b", "a+", "+a", "a/b+/c", "##", "++"}) {
    CAPTURE(bad);
    CHECK_FALSE(is_topic_filter(bad));
  }
  CHECK(is_topic_name("a/b"));
  CHECK_FALSE(is_topic_name("a/+"));
  CHECK_FALSE(is_topic_name(""));
  FilterParts parts;
  REQUIRE(split_filter("$share/g/a/#", parts));
  CHECK(parts.group == "g");
  CHECK(parts.filter == "a/#");
  REQUIRE(split_filter("$SYS/#", parts));
  CHECK(parts.group.empty());
  for (const char* bad : {"$share", "$share/", "$share/g", "$share//a", "$share/g/", "$share/g+/a",
                          "$share/#/a", "$share/g/a#"}) {
    CAPTURE(bad);
    CHECK_FALSE(split_filter(bad, parts));
  }
  CHECK(is_hidden_from("$SYS/a", "#"));
  CHECK(is_hidden_from("$SYS/a", "+/a"));
  CHECK_FALSE(is_hidden_from("$SYS/a", "$SYS/#"));
  CHECK_FALSE(is_hidden_from("a/$b", "a/#"));
}

TEST_CASE("mqtt codec: changed and cut packets never read beyond their bytes") {
  std::mt19937 random(20261201);
  std::string seeds[6];
  ConnectFields f;
  f.client_id = "c";
  f.has_will = true;
  f.will_topic = "t";
  std::string properties;
  PropertyWriter(properties).pair("a", "b");
  f.properties = properties;
  write_connect(seeds[0], f);
  write_publish(seeds[1], Version::k5,
                {.qos = 1, .packet_id = 1, .topic = "a", .properties = properties}, "x");
  FilterField filter{"a/#", {}};
  write_subscribe(seeds[2], Version::k5, 1, {&filter, 1});
  write_ack(seeds[3], Version::k5, PacketType::kPuback, 1, Reason::kQuotaExceeded, properties);
  write_reason(seeds[4], Version::k5, PacketType::kDisconnect, Reason::kServerBusy, properties);
  write_connack(seeds[5], Version::k5, false, 0, properties);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = seeds[random() % 6];
    bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size() + 1);
    std::vector<char> exact(bytes.begin(), bytes.end());  // for AddressSanitizer
    Frame frame;
    Reason reason = Reason::kSuccess;
    if (read_frame({exact.data(), exact.size()}, 1000, frame, reason) != FrameState::kWhole)
      continue;
    ConnectPacket connect;
    ConnackPacket connack;
    PublishPacket publish;
    AckPacket ack;
    SubscribePacket subscribe;
    SubackPacket suback;
    ReasonPacket with_reason;
    (void)read_connect(frame, connect);
    (void)read_connack(frame, Version::k5, connack);
    (void)read_publish(frame, Version::k5, publish);
    (void)read_ack(frame, Version::k5, ack);
    (void)read_subscribe(frame, Version::k5, subscribe);
    (void)read_suback(frame, Version::k5, suback);
    (void)read_disconnect(frame, Version::k5, with_reason);
    (void)read_auth(frame, Version::k5, with_reason);
  }
}

}  // namespace
}  // namespace millstream::wire::mqtt
