// Samples were encoded by Qpid Proton 0.37.
#include <doctest/doctest.h>

#include <string>

#include "wire/amqp/codec/performatives_gen.h"

namespace millstream::wire::amqp {
namespace {

std::string from_hex(std::string_view hex) {
  auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return out;
}

std::string to_hex(std::string_view bytes) {
  std::string out;
  for (char c : bytes) {
    out += "0123456789abcdef"[static_cast<uint8_t>(c) >> 4];
    out += "0123456789abcdef"[static_cast<uint8_t>(c) & 15];
  }
  return out;
}

std::string describe(const Value& v) {
  std::string name(type_name(v.type));
  if (v.is_unsigned() || v.type == Type::kChar) return name + " " + std::to_string(v.u);
  if (v.is_signed() || v.type == Type::kTimestamp) return name + " " + std::to_string(v.i);
  switch (v.type) {
    case Type::kNull:
      return name;
    case Type::kBoolean:
      return v.u != 0 ? "true" : "false";
    case Type::kFloat:
    case Type::kDouble: {
      std::string text = std::to_string(v.real);
      text.erase(text.find_last_not_of('0') + 1);
      return name + " " + text;
    }
    case Type::kString:
    case Type::kSymbol:
      return name + " " + std::string(v.bytes);
    default:
      return name + " " + to_hex(v.bytes);
  }
}

void write(Writer& w, const Value& v) {
  switch (v.type) {
    case Type::kNull:
      return w.null();
    case Type::kBoolean:
      return w.boolean(v.u != 0);
    case Type::kUbyte:
      return w.ubyte(static_cast<uint8_t>(v.u));
    case Type::kUshort:
      return w.ushort(static_cast<uint16_t>(v.u));
    case Type::kUint:
      return w.uint(static_cast<uint32_t>(v.u));
    case Type::kUlong:
      return w.ulong(v.u);
    case Type::kByte:
      return w.sbyte(static_cast<int8_t>(v.i));
    case Type::kShort:
      return w.sshort(static_cast<int16_t>(v.i));
    case Type::kInt:
      return w.sint(static_cast<int32_t>(v.i));
    case Type::kLong:
      return w.slong(v.i);
    case Type::kFloat:
      return w.float32(static_cast<float>(v.real));
    case Type::kDouble:
      return w.float64(v.real);
    case Type::kTimestamp:
      return w.timestamp(v.i);
    case Type::kUuid:
      return w.uuid(v.bytes);
    case Type::kBinary:
      return w.binary(v.bytes);
    case Type::kString:
      return w.string(v.bytes);
    case Type::kSymbol:
      return w.symbol(v.bytes);
    default:
      return w.raw(v.whole);
  }
}

TEST_CASE("amqp codec: primitive values as Proton encodes them") {
  static constexpr struct {
    const char* value;
    const char* hex;
  } kSamples[] = {
      {"null", "40"},
      {"true", "41"},
      {"false", "42"},
      {"ubyte 200", "50c8"},
      {"ushort 65000", "60fde8"},
      {"uint 0", "43"},
      {"uint 255", "52ff"},
      {"uint 256", "7000000100"},
      {"ulong 0", "44"},
      {"ulong 255", "53ff"},
      {"ulong 18446744073709551615", "80ffffffffffffffff"},
      {"byte -7", "51f9"},
      {"short -300", "61fed4"},
      {"int -1", "54ff"},
      {"int -129", "71ffffff7f"},
      {"long 127", "557f"},
      {"long -5000000000", "81fffffffed5fa0e00"},
      {"float 1.5", "723fc00000"},
      {"double -2.25", "82c002000000000000"},
      {"char 8364", "73000020ac"},
      {"timestamp 1234567890123", "830000011f71fb04cb"},
      {"uuid 00112233445566778899aabbccddeeff", "9800112233445566778899aabbccddeeff"},
      {"binary 0001ff", "a0030001ff"},
      {"string gr\303\274n", "a1056772c3bc6e"},
      {"symbol amqp:list", "a309616d71703a6c697374"},
  };
  for (const auto& sample : kSamples) {
    CAPTURE(sample.value);
    std::string bytes = from_hex(sample.hex);
    CHECK(validate(bytes));
    Reader reader(bytes);
    Value v;
    REQUIRE(reader.read(v));
    CHECK(reader.at_end());
    CHECK(describe(v) == sample.value);
    Writer w;
    write(w, v);
    CHECK(to_hex(w.bytes()) == sample.hex);
    for (size_t n = 0; n < bytes.size(); ++n) {
      Reader cut(std::string_view(bytes).substr(0, n));
      CHECK_FALSE(cut.read(v));
      Reader cut_skip(std::string_view(bytes).substr(0, n));
      CHECK_FALSE(cut_skip.skip());
    }
  }
}

TEST_CASE("amqp codec: compounds in all widths") {
  std::string list = from_hex("d000000015000000035401a10374776fd0000000050000000140");
  CHECK(validate(list));
  Reader reader(list);
  Value v, e;
  REQUIRE(reader.read(v));
  REQUIRE(v.type == Type::kList);
  CHECK(v.count == 3);
  Reader elements(v.bytes);
  REQUIRE(elements.read(e));
  CHECK(e.i == 1);
  REQUIRE(elements.read(e));
  CHECK(e.bytes == "two");
  REQUIRE(elements.read(e));
  CHECK(e.count == 1);
  CHECK(elements.at_end());

  Writer w;
  for (uint32_t n : {0u, 1u, 100u, 252u, 253u, 254u, 255u, 256u, 1000u}) {
    w.clear();
    Writer::Compound c = w.begin_list();
    for (uint32_t i = 0; i < n; ++i) {
      w.element(c);
      w.boolean(true);
    }
    w.end(c);
    CAPTURE(n);
    CHECK(validate(w.bytes()));
    Reader again(w.bytes());
    REQUIRE(again.read(v));
    CHECK(v.count == n);
    CHECK(v.bytes.size() == n);
  }
  std::string symbols = from_hex("f00000001500000002b3000000036f6e65000000057468726565");
  CHECK(has_symbol(symbols, "three"));
  CHECK_FALSE(has_symbol(symbols, "thre"));
  CHECK(has_symbol(encode_symbols({"one", "three"}), "one"));
  CHECK(has_symbol(encode_symbols({"one"}), "one"));
  CHECK(validate(encode_symbols({"a", "bc", ""})));
  std::string map = from_hex("d10000000d00000004a301615201a1016241");
  std::string seen;
  CHECK(for_each_entry(map, [&](const Value& key, const Value& value) {
    seen += std::string(key.bytes) + "=" + describe(value) + ";";
  }));
  CHECK(seen == "a=uint 1;b=true;");
}

TEST_CASE("amqp codec: performatives as Proton encodes them") {
  Open open;
  std::string bytes = from_hex(
      "005310c04e0aa103636964a1016870000100006000647000003a98404040d00000002200000002a30f414e4f4e59"
      "4d4f55532d52454c4159a30b5348415245442d53554253d10000000900000002a301705501");
  REQUIRE(decode(bytes, open));
  CHECK(open.container_id == "cid");
  CHECK(open.hostname == "h");
  CHECK(open.max_frame_size == 65536);
  CHECK(open.channel_max == 100);
  CHECK(open.idle_time_out == 15000);
  CHECK(has_symbol(open.desired_capabilities, "SHARED-SUBS"));
  CHECK(open.offered_capabilities.empty());
  Begin begin;
  bytes = from_hex("005311c00d044043707fffffff707fffffff");
  REQUIRE(decode(bytes, begin));
  CHECK_FALSE(begin.remote_channel.has_value());
  CHECK(begin.next_outgoing_id == 0);
  CHECK(begin.incoming_window == 0x7fffffff);
  CHECK(begin.handle_max == 0xffffffff);
  Flow flow;
  bytes = from_hex("005313c0140940707fffffff43707fffffff520143520a4042");
  REQUIRE(decode(bytes, flow));
  CHECK_FALSE(flow.next_incoming_id.has_value());
  CHECK(flow.handle == 1);
  CHECK(flow.delivery_count == 0);
  CHECK(flow.link_credit == 10);
  CHECK_FALSE(flow.drain);
  Writer w;
  encode(w, flow);
  CHECK(to_hex(w.bytes()) == "005313c0120740707fffffff43707fffffff520143520a");
}

TEST_CASE("amqp codec: attach with filters, decoded and encoded again") {
  std::string bytes = from_hex(
      "005312c05e0ea10372637652014150025000005328c0380ba101744340434240a304636f7079d10000002100000"
      "002a30c6a6d732d73656c6563746f7200800000468c00000004a103613d31404040005329c00807404340434240"
      "40404043444040400000");
  // Two bytes of the next frame were cut off with it.
  bytes.resize(2 + 1 + 1 + 1 + 0x5e);
  Attach attach;
  REQUIRE(decode(bytes, attach));
  CHECK(attach.name == "rcv");
  CHECK(attach.handle == 1);
  CHECK(attach.role);
  Source source;
  REQUIRE(decode(attach.source, source));
  CHECK(source.distribution_mode == "copy");
  int filters = 0;
  REQUIRE(for_each_entry(source.filter, [&](const Value& key, const Value& value) {
    ++filters;
    CHECK(key.bytes == "jms-selector");
    Reader filter(value.whole);
    uint64_t code = 0;
    std::string_view text;
    REQUIRE(filter.read_descriptor(code));
    CHECK(code == descriptor::kSelectorFilter);
    REQUIRE(filter.read_string(text));
    CHECK(text == "a=1");
  }));
  CHECK(filters == 1);
  Writer w;
  encode(w, attach);
  Attach again;
  REQUIRE(decode(w.bytes(), again));
  CHECK(again.name == attach.name);
  CHECK(again.source == attach.source);
  CHECK(w.size() <= bytes.size());
}

TEST_CASE("amqp codec: what is missing, too much or of another type") {
  Writer w;
  Attach attach;
  CHECK_FALSE(decode("", attach));
  Flow flow;
  encode(w, Flow{.incoming_window = 5, .next_outgoing_id = 6, .outgoing_window = 7});
  REQUIRE(decode(w.bytes(), flow));
  CHECK_FALSE(flow.handle.has_value());
  CHECK(flow.outgoing_window == 7);
  CHECK_FALSE(decode(w.bytes(), attach));  // another descriptor
  std::string more = std::string(w.bytes()) + "\x40";
  CHECK_FALSE(decode(more, flow));
  // Mandatory next-outgoing-id is null.
  CHECK_FALSE(decode(from_hex("005313c005044052054052"), flow));
  Reader reader(from_hex("00"));
  uint64_t code = 0;
  CHECK_FALSE(reader.read_descriptor(code));
  // 12 fields where there are 11.
  std::string transfer = from_hex("005314c00e0c4340404040404040404040404040");
  Transfer t;
  CHECK_FALSE(decode(transfer, t));
  std::string named = from_hex("00a30e616d71703a6f70656e3a6c697374d00000000700000001a10163");
  Open open;
  REQUIRE(decode(named, open));  // a symbol as descriptor
  CHECK(open.container_id == "c");
  CHECK(open.max_frame_size == 0xffffffff);
}

TEST_CASE("amqp codec: limits and hostile sizes") {
  Value v;
  std::string deep;
  for (int i = 0; i < 200; ++i) deep = from_hex("00") + deep + "\x40";
  Reader reader(deep);
  CHECK_FALSE(reader.skip());
  std::string nested = "\x40";
  for (int i = 0; i < 40; ++i) {
    Writer w;
    Writer::Compound c = w.begin_list();
    w.element(c);
    w.raw(nested);
    w.end(c);
    nested = w.bytes();
    CHECK(validate(nested) == (i < Reader::kDepthMax));
  }
  for (const char* hex :
       {"b0ffffffff00", "d0ffffffff00000001", "c1ff0140", "d00000000400ffffff", "c00105",
        "c00305404040", "f0000000050001000140", "e003ff50", "5602", "99", "41ff" /* rest */,
        "f000000005000200004", "c1030140404", "c10301ff"}) {
    CAPTURE(hex);
    CHECK_FALSE(validate(from_hex(hex)));
  }
  CHECK(validate(from_hex("f0000000050001000040")));  // 65,536 nulls
  CHECK_FALSE(validate(from_hex("f0000000050001000140")));
  CHECK_FALSE(validate(from_hex("a102c328")));    // no UTF-8
  CHECK_FALSE(validate(from_hex("a301ff")));      // no ASCII
  CHECK_FALSE(validate(from_hex("73ffffffff")));  // no character
  CHECK_FALSE(validate(from_hex("c1020140")));    // a key without a value
  Reader one(from_hex("00"));
  CHECK_FALSE(one.read(v));
}

TEST_CASE("amqp codec: a message of Proton, section by section") {
  std::string bytes = from_hex(
      "005370c009034150077000001388005372d10000000f00000002a307782d6f70742d615501005373c02a0aa1026"
      "d3140a10171a101734098000000000000000000000000000000054040408300000000000003e8005374d1000000"
      "0f000000"
      "04a101615501a10162a10178005377a10568656c6c6f");
  Reader reader(bytes);
  uint64_t code = 0;
  REQUIRE(reader.read_descriptor(code));
  REQUIRE(code == descriptor::kHeader);
  Header header;
  REQUIRE(read_fields(reader, header));
  CHECK(header.durable);
  CHECK(header.priority == 7);
  CHECK(header.ttl == 5000);
  REQUIRE(reader.read_descriptor(code));
  CHECK(code == descriptor::kMessageAnnotations);
  REQUIRE(reader.skip());
  REQUIRE(reader.read_descriptor(code));
  REQUIRE(code == descriptor::kProperties);
  Properties properties;
  REQUIRE(read_fields(reader, properties));
  CHECK(properties.subject == "s");
  CHECK(properties.creation_time == 1000);
  Reader id(properties.correlation_id);
  Value v;
  REQUIRE(id.read(v));
  CHECK(v.type == Type::kUuid);
}

}  // namespace
}  // namespace millstream::wire::amqp
