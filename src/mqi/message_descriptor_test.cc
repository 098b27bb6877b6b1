#include "mqi/message_descriptor.h"

#include <doctest/doctest.h>

#include "base/arena.h"
#include "mqi/options.h"
#include "mqi/structures.h"

namespace millstream::mqi {
namespace {

TEST_CASE("message descriptor: defaults are MQ's") {
  MessageDescriptor md;
  CHECK(md.report == 0);
  CHECK(md.message_type == mt::kDatagram);
  CHECK(md.expiry == -1);
  CHECK(md.encoding == static_cast<int32_t>(kEncodingNative));
  CHECK(md.priority == -1);
  CHECK(md.persistence == kPersistenceAsQueueDef);
  CHECK(md.message_id.is_null());
  CHECK(md.format.is_blank());
  CHECK(md.sequence_number == 1);
  CHECK(md.original_length == -1);
}

TEST_CASE("message descriptor: the layout of structures.h reads what is written") {
  MessageDescriptor md;
  md.report = ro::kCoa;
  md.format = "MQSTR";
  md.priority = 7;
  md.correlation_id = Id("reply to this");
  md.reply_to_queue = "REPLY.Q";
  md.user_identifier = "alice";
  md.put_appl_name = "app";
  format_put_time(1'700'000'000'120'000, md.put_date, md.put_time);
  md.sequence_number = 3;
  md.flags = mf::kInGroup;
  for (bool little_endian : {true, false}) {
    std::string bytes;
    encode_message_descriptor(md, bytes, little_endian);
    REQUIRE(bytes.size() == kMqmdBytes);
    auto coding = find_coding(kMqmdLayout, bytes, 1208);
    REQUIRE(coding.ok());
    CHECK(coding.value().little_endian == little_endian);
    base::Arena arena;
    for (const MqField& field : kMqmdLayout.fields) {
      auto value = decode_field(field, bytes, coding.value(), arena);
      REQUIRE(value.ok());
      if (field.name == "Report") CHECK(read_int32(&bytes[field.offset], little_endian) == 256);
      if (field.name == "MsgSeqNumber") CHECK(read_int32(&bytes[field.offset], little_endian) == 3);
      if (field.name == "PutDate") CHECK(bytes.substr(field.offset, 8) == "20231114");
      if (field.name == "PutTime") CHECK(bytes.substr(field.offset, 8) == "22132012");
    }
    auto again = decode_message_descriptor(bytes);
    REQUIRE(again.ok());
    std::string same;
    encode_message_descriptor(again.value(), same, little_endian);
    CHECK(same == bytes);
  }
}

TEST_CASE("message descriptor: short, foreign and unknown versions are refused") {
  std::string bytes;
  encode_message_descriptor({}, bytes);
  CHECK_FALSE(decode_message_descriptor(bytes.substr(0, 300)).ok());
  CHECK_FALSE(decode_message_descriptor(bytes.substr(0, 330)).ok());
  std::string version_1 = bytes.substr(0, kMqmd1Bytes);
  version_1[4] = 1;
  CHECK(decode_message_descriptor(version_1).ok());
  bytes[4] = 9;
  CHECK_FALSE(decode_message_descriptor(bytes).ok());
  bytes[0] = 'X';
  CHECK_FALSE(decode_message_descriptor(bytes).ok());
}

TEST_CASE("message descriptor: put date and time, both ways") {
  for (int64_t micros : {int64_t{0}, int64_t{951'782'399'990'000}, int64_t{1'709'164'800'000'000},
                         int64_t{4'102'444'800'550'000}}) {
    FixedText<8> date, time;
    format_put_time(micros, date, time);
    CHECK(parse_put_time(date.view(), time.view()) == micros);
  }
  CHECK(parse_put_time("2024X101", "00000000") == 0);
  CHECK(parse_put_time("20241301", "00000000") == 0);
}

}  // namespace
}  // namespace millstream::mqi
