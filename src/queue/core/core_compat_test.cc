// Stored formats stay readable: tests/compat/queue_records.txt has what earlier programs wrote, one
// `name hex` a line. Lines are added, never changed. What this program writes is compared with the
// newest sample of each kind, so that no format changes without a new version and a new line.
#include <doctest/doctest.h>

#include <fstream>
#include <map>

#include "base/ascii.h"
#include "mqi/properties.h"
#include "queue/core/definitions.h"
#include "queue/core/message_codec.h"
#include "queue/objects/authority.h"
#include "queue/objects/channel_auth.h"

namespace millstream::queue {
namespace {

using objects::Attr;

constexpr const char* kSamples = "tests/compat/queue_records.txt";

std::string compat_bytes(std::string_view hex) {
  auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'A' + 10; };
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  }
  return out;
}

std::map<std::string, std::string> compat_samples() {
  std::map<std::string, std::string> out;
  std::ifstream file(kSamples);
  std::string name, hex;
  while (file >> name >> hex) out[name] = compat_bytes(hex);
  return out;
}

mqi::PropertyList compat_properties() {
  mqi::PropertyList p;
  CHECK(p.set("a.null", mqi::PropertyView::null()).ok());
  CHECK(p.set("a.bool", mqi::PropertyView::boolean(true)).ok());
  CHECK(p.set("a.int", mqi::PropertyView::int32(-7)).ok());
  CHECK(p.set("a.long", mqi::PropertyView::int64(1ll << 40)).ok());
  CHECK(p.set("a.float", mqi::PropertyView::float32(0.5f)).ok());
  CHECK(p.set("a.double", mqi::PropertyView::float64(-0.25)).ok());
  CHECK(p.set("a.text", mqi::PropertyView::string("gr\xc3\xbc\xc3\x9f")).ok());
  CHECK(p.set("a.bytes", mqi::PropertyView::bytes(std::string_view("\0\xff", 2))).ok());
  return p;
}

MessageRef compat_message(bool is_full) {
  MessageRef m = Message::create();
  m->md.format = "MQSTR";
  m->md.priority = 4;
  m->md.persistence = mqi::kPersistent;
  m->md.message_id = mqi::Id("message");
  if (!is_full) return m;
  m->md.correlation_id = mqi::Id("correlation");
  m->md.group_id = mqi::Id("group");
  m->md.flags = mqi::mf::kLastInGroup | mqi::mf::kInGroup;
  m->md.sequence_number = 3;
  m->md.user_identifier = "carol";
  m->md.reply_to_queue = "REPLIES";
  m->md.put_date = "20261201";
  m->expires_gmt_ms = 1'800'000'000'000;
  m->due_gmt_ms = 1'790'000'000'000;
  m->properties = compat_properties().bytes();
  m->origin = std::string("\0origin", 7);
  m->origin_kind = OriginKind::kMqtt;
  m->long_ids = std::make_unique<LongIds>();
  m->long_ids->message_id = std::string(40, 'm');
  m->long_ids->correlation_id = std::string(30, 'c');
  return m;
}

objects::Definition compat_queue() {
  objects::Definition d(objects::ObjectType::kQlocal, "APP.Q");
  d.set_number(Attr::kMaxdepth, 77);
  d.set_number(Attr::kTrigger, 1);
  d.set_text(Attr::kBoqname, "APP.BO");
  d.set_created(1'764'000'000'000);
  d.set_altered(1'765'000'000'000);
  return d;
}

objects::Definition compat_channel() {
  objects::Definition d(objects::ObjectType::kChannel, "APP.SVRCONN",
                        static_cast<int32_t>(objects::ChannelType::kSvrconn));
  d.set_text(Attr::kMcauser, "app");
  return d;
}

objects::Definition compat_names() {
  objects::Definition d(objects::ObjectType::kNamelist, "NAMES");
  d.set_items(Attr::kNames, {"ONE", "TWO"});
  return d;
}

objects::AuthorityRecord compat_authority() {
  return {"APP.**", objects::AuthorityObject::kQueue, "mqclient", true,
          objects::authority::kGet | objects::authority::kPut};
}

objects::ChannelAuthRule compat_rule() {
  objects::ChannelAuthRule r;
  r.profile = "APP.*";
  r.type = objects::ChannelAuthType::kBlockUser;
  r.user_list = {"nobody", "*MQADMIN"};
  r.description = "words";
  r.is_warning = true;
  r.altered_gmt_ms = 1'764'000'000'000;
  return r;
}

std::map<std::string, std::string> compat_written() {
  std::map<std::string, std::string> out;
  encode_message_header(*compat_message(false), out["message1.plain"]);
  encode_message_header(*compat_message(true), out["message1.full"]);
  out["properties1"] = compat_properties().bytes();
  out["definition1.queue"] = compat_queue().encode();
  out["definition1.channel"] = compat_channel().encode();
  out["definition1.names"] = compat_names().encode();
  out["authority1"] = compat_authority().encode();
  out["channel_auth1"] = compat_rule().encode();
  return out;
}

TEST_CASE("stored formats: what is written is what the newest samples have") {
  std::map<std::string, std::string> samples = compat_samples();
  for (const auto& [name, bytes] : compat_written()) {
    CAPTURE(name);
    std::string hex;
    base::append_upper_hex(hex, bytes);
    INFO(name << " " << hex);
    CHECK(samples[name] == bytes);
  }
}

TEST_CASE("stored formats: messages of version 1") {
  std::map<std::string, std::string> samples = compat_samples();
  auto plain = decode_message(samples["message1.plain"], "body");
  REQUIRE(plain.ok());
  CHECK(plain.value()->md.format.padded() == "MQSTR   ");
  CHECK(plain.value()->is_persistent());
  CHECK(plain.value()->message_id() == "message");
  CHECK(plain.value()->body.view() == "body");
  CHECK(plain.value()->expires_gmt_ms == 0);
  auto full = decode_message(samples["message1.full"], "");
  REQUIRE(full.ok());
  const Message& m = *full.value();
  CHECK(m.correlation_id() == std::string(30, 'c'));
  CHECK(m.message_id() == std::string(40, 'm'));
  CHECK(m.group_id() == "group");
  CHECK(m.md.sequence_number == 3);
  CHECK(m.md.reply_to_queue.view() == "REPLIES");
  CHECK(m.expires_gmt_ms == 1'800'000'000'000);
  CHECK(m.due_gmt_ms == 1'790'000'000'000);
  CHECK(m.origin_kind == OriginKind::kMqtt);
  CHECK(m.origin == std::string("\0origin", 7));
  auto properties = mqi::PropertyListView::trusted(m.properties);
  CHECK(properties.find("a.text").text() == "gr\xc3\xbc\xc3\x9f");
  // One that a later program wrote is refused, not misread.
  std::string later = samples["message1.plain"];
  later[0] = 2;
  CHECK_FALSE(decode_message(later, "").ok());
}

TEST_CASE("stored formats: properties, definitions, authorities and rules of version 1") {
  std::map<std::string, std::string> samples = compat_samples();
  auto list = mqi::PropertyList::from_bytes(samples["properties1"]);
  REQUIRE(list.ok());
  CHECK(list.value().bytes() == compat_properties().bytes());
  auto queue = objects::Definition::decode(samples["definition1.queue"]);
  REQUIRE(queue.ok());
  CHECK(queue.value().name() == "APP.Q");
  CHECK(queue.value().same_attributes(compat_queue()));
  CHECK(queue.value().created_gmt_ms() == 1'764'000'000'000);
  CHECK(queue_settings_of(queue.value()).depth_max == 77);
  auto channel = objects::Definition::decode(samples["definition1.channel"]);
  REQUIRE(channel.ok());
  CHECK(channel.value().same_attributes(compat_channel()));
  auto names = objects::Definition::decode(samples["definition1.names"]);
  REQUIRE(names.ok());
  CHECK(names.value().items(Attr::kNames) == std::vector<std::string>{"ONE", "TWO"});
  auto authority = objects::AuthorityRecord::decode(samples["authority1"]);
  REQUIRE(authority.ok());
  CHECK(authority.value().key() == compat_authority().key());
  CHECK(authority.value().allowed == compat_authority().allowed);
  auto rule = objects::ChannelAuthRule::decode(samples["channel_auth1"]);
  REQUIRE(rule.ok());
  CHECK(rule.value().user_list == compat_rule().user_list);
  CHECK(rule.value().is_warning);
  CHECK(rule.value().description == "words");
}

TEST_CASE("stored formats: kinds of records keep their numbers") {
  CHECK(static_cast<int>(RecordKind::kDefinition) == 1);
  CHECK(static_cast<int>(RecordKind::kQueueId) == 2);
  CHECK(static_cast<int>(RecordKind::kAuthority) == 3);
  CHECK(static_cast<int>(RecordKind::kChannelAuth) == 4);
  CHECK(static_cast<int>(RecordKind::kScript) == 5);
  CHECK(static_cast<int>(RecordKind::kCleanStop) == 6);
  CHECK(static_cast<int>(RecordKind::kRetained) == 8);
  CHECK(static_cast<int>(RecordKind::kMaybeSeen) == 9);
  CHECK(static_cast<int>(RecordKind::kClient) == 10);
}

}  // namespace
}  // namespace millstream::queue
