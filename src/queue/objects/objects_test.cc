#include <doctest/doctest.h>

#include <thread>

#include "queue/objects/authority.h"
#include "queue/objects/catalogue.h"
#include "queue/objects/channel_auth.h"
#include "queue/objects/definition.h"
#include "queue/objects/object_name.h"
#include "queue/objects/system_objects.h"

namespace millstream::queue::objects {
namespace {

std::string bytes_of(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return out;
}

Definition sample_queue() {
  Definition d(ObjectType::kQlocal, "A.B");
  d.set_created(1'767'225'600'000);
  d.set_number(Attr::kMaxdepth, 10);
  d.set_text(Attr::kDescr, "it's");
  d.set_number(Attr::kTrigger, 1);
  return d;
}

}  // namespace

TEST_CASE("a definition has defaults and keeps what differs") {
  Definition d(ObjectType::kQlocal, "Q");
  CHECK(d.number(Attr::kMaxdepth) == 5000);
  CHECK(d.values().empty());
  d.set_number(Attr::kMaxdepth, 7);
  d.set_text(Attr::kBoqname, "BACK");
  CHECK(d.values().size() == 2);
  d.set_number(Attr::kMaxdepth, 5000);
  CHECK(d.values().size() == 1);
  QueueAttributes a = read_queue_attributes(d);
  CHECK(a.depth_max == 5000);
  CHECK(a.backout_queue == "BACK");
  CHECK(a.is_shareable);
  CHECK(a.input_default == InputDefault::kShared);
  CHECK(a.expiry_cap_tenths == -1);
  CHECK_FALSE(a.get_inhibited);
  d.reset(Attr::kBoqname);
  CHECK(d.same_attributes(Definition(ObjectType::kQlocal, "other")));
}

TEST_CASE("defaults differ by type") {
  QueueAttributes model = read_queue_attributes(Definition(ObjectType::kQmodel, "M"));
  CHECK_FALSE(model.is_shareable);
  CHECK(model.input_default == InputDefault::kExcl);
  CHECK(model.definition_type == QueueDefinitionType::kTempdyn);
  Definition amqp(ObjectType::kChannel, "C", static_cast<int32_t>(ChannelType::kAmqp));
  CHECK(amqp.number(Attr::kPort) == 5672);
  Definition connection(ObjectType::kChannel, "C", static_cast<int32_t>(ChannelType::kSvrconn));
  CHECK(read_channel_attributes(connection).channel_type == ChannelType::kSvrconn);
  CHECK_FALSE(find_spec(ObjectType::kChannel, connection.subtype(), Attr::kXmitq));
}

TEST_CASE("a dynamic queue takes over what its model has") {
  Definition model(ObjectType::kQmodel, "M");
  model.set_number(Attr::kMaxdepth, 3);
  Definition queue(ObjectType::kQlocal, "DYN");
  queue.copy_attributes(model);
  CHECK(queue.number(Attr::kMaxdepth) == 3);
  CHECK(queue.number(Attr::kShare) == 0);
  CHECK(queue.number(Attr::kDeftype) == static_cast<int64_t>(QueueDefinitionType::kTempdyn));
}

TEST_CASE("definitions survive their bytes") {
  Definition d = sample_queue();
  Result<Definition> back = Definition::decode(d.encode());
  REQUIRE(back.ok());
  CHECK(back.value().name() == "A.B");
  CHECK(back.value().created_gmt_ms() == 1'767'225'600'000);
  CHECK(back.value().same_attributes(d));
  Definition list(ObjectType::kNamelist, "N");
  list.set_items(Attr::kNames, {"A", "B"});
  Result<Definition> names = Definition::decode(list.encode());
  REQUIRE(names.ok());
  CHECK(names.value().items(Attr::kNames) == std::vector<std::string>{"A", "B"});
}

TEST_CASE("bytes of version 1 stay readable") {
  // QLOCAL(A) MAXDEPTH(9), as the first version wrote it.
  std::string old = bytes_of(
      "01"
      "06000000514c4f43414c"
      "00000000"
      "0100000041"
      "00a0cb7a9b010000"
      "00a0cb7a9b010000"
      "01000000"
      "080000004d41584445505448"
      "0900000000000000"
      "00000000");
  Result<Definition> d = Definition::decode(old);
  REQUIRE(d.ok());
  CHECK(d.value().number(Attr::kMaxdepth) == 9);
  CHECK(d.value().encode() == old);
}

TEST_CASE("damaged and newer bytes are refused") {
  std::string bytes = sample_queue().encode();
  for (size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(Definition::decode(std::string_view(bytes).substr(0, size)).ok());
  }
  CHECK_FALSE(Definition::decode(bytes + "x").ok());
  std::string newer = bytes;
  newer[0] = 2;
  Result<Definition> r = Definition::decode(newer);
  REQUIRE_FALSE(r.ok());
  CHECK(std::string(r.error().code->id) == "MS2561");
  std::string unknown = bytes;
  unknown.replace(unknown.find("MAXDEPTH"), 8, "MAXDEPTX");
  Result<Definition> u = Definition::decode(unknown);
  REQUIRE_FALSE(u.ok());
  CHECK(std::string(u.error().code->id) == "MS2562");
}

TEST_CASE("names") {
  CHECK(is_object_name("A.b/C_1%-:"));
  CHECK_FALSE(is_object_name(""));
  CHECK_FALSE(is_object_name("A B"));
  CHECK_FALSE(is_object_name("A*"));
  CHECK(is_object_name(std::string(48, 'A')));
  CHECK_FALSE(is_object_name(std::string(49, 'A')));
  CHECK_FALSE(is_name_for(ObjectType::kChannel, std::string(21, 'A')));
  CHECK(is_name_for(ObjectType::kSub, "any text, of a subscription"));
  CHECK(matches_generic("A.*", "A.B"));
  CHECK(matches_generic("*", "A"));
  CHECK_FALSE(matches_generic("A.*", "B.A"));
  CHECK_FALSE(matches_generic("A", "A.B"));
}

TEST_CASE("profiles") {
  CHECK(matches_profile("DEV.**", "DEV.QUEUE.1"));
  CHECK(matches_profile("DEV.**", "DEV"));
  CHECK_FALSE(matches_profile("DEV.*", "DEV.QUEUE.1"));
  CHECK(matches_profile("DEV.*.1", "DEV.QUEUE.1"));
  CHECK(matches_profile("**.1", "DEV.QUEUE.1"));
  CHECK(matches_profile("DEV.**.1", "DEV.1"));
  CHECK(matches_profile("D?V.Q*", "DEV.QUEUE"));
  CHECK_FALSE(matches_profile("D?V.Q*", "DEV.QUEUE.1"));
  CHECK(matches_profile("**", "ANY.NAME"));
  CHECK_FALSE(matches_profile("A", "AB"));
  CHECK(is_more_specific("AB.C*", "AB.?D"));
  CHECK(is_more_specific("DEV.A", "DEV.**"));
  CHECK_FALSE(is_more_specific("**", "DEV.**"));
  // Bounded, whatever the profile.
  std::string stars;
  for (int i = 0; i < 16; ++i) stars += "**.";
  matches_profile(stars + "Z", "A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A");
}

TEST_CASE("the catalogue finds by family and generic name") {
  Catalogue catalogue;
  auto put = [&](ObjectType type, const char* name, int32_t subtype = 0) {
    CHECK(catalogue.put(std::make_shared<Definition>(type, name, subtype)));
  };
  put(ObjectType::kQlocal, "APP.A");
  put(ObjectType::kQalias, "APP.B");
  put(ObjectType::kProcess, "APP.A");
  put(ObjectType::kChannel, "C", static_cast<int32_t>(ChannelType::kSvrconn));
  put(ObjectType::kChannel, "C", static_cast<int32_t>(ChannelType::kClntconn));
  CHECK(catalogue.size() == 5);
  CHECK(catalogue.find(ObjectFamily::kQueue, "APP.A")->type() == ObjectType::kQlocal);
  CHECK(catalogue.find_generic(ObjectFamily::kQueue, "APP.*").size() == 2);
  CHECK(catalogue.find_generic(ObjectFamily::kQueue, "*").size() == 2);
  CHECK(catalogue.find_generic(ObjectFamily::kQueue, "APP.B").size() == 1);
  CHECK(catalogue.find_generic(ObjectFamily::kQueue, "B*").empty());
  CHECK(catalogue.find(ObjectFamily::kClientChannel, "C"));
  CHECK(catalogue.erase(ObjectFamily::kQueue, "APP.A"));
  CHECK_FALSE(catalogue.erase(ObjectFamily::kQueue, "APP.A"));
  CHECK(catalogue.size() == 4);
}

TEST_CASE("readers and writers of the catalogue at the same time") {
  Catalogue catalogue;
  std::thread writer([&] {
    for (int i = 0; i < 2000; ++i) {
      auto d = std::make_shared<Definition>(ObjectType::kQlocal, "Q" + std::to_string(i % 50));
      d->set_number(Attr::kMaxdepth, i);
      catalogue.put(std::move(d));
    }
  });
  size_t seen = 0;
  for (int i = 0; i < 500; ++i) seen += catalogue.find_generic(ObjectFamily::kQueue, "Q*").size();
  writer.join();
  CHECK(catalogue.size() == 50);
  CHECK(seen <= 500 * 50);
}

TEST_CASE("authorities: the most specific profile of each entity counts") {
  AuthorityTable table;
  table.put({"DEV.**", AuthorityObject::kQueue, "apps", true, authority::kGet | authority::kPut});
  table.put({"DEV.SECRET", AuthorityObject::kQueue, "apps", true, 0});
  table.put({"DEV.**", AuthorityObject::kQueue, "john", false, authority::kBrowse});
  auto check = [&](const char* queue, uint32_t wanted) {
    return table.check(AuthorityObject::kQueue, queue, wanted, "john", {"apps"});
  };
  CHECK(check("DEV.A", authority::kGet | authority::kBrowse).is_allowed);
  CHECK_FALSE(check("DEV.A", authority::kInq).is_allowed);
  CHECK_FALSE(check("DEV.SECRET", authority::kGet).is_allowed);
  CHECK(check("DEV.SECRET", authority::kBrowse).is_allowed);
  AuthorityDecision none = check("OTHER", authority::kGet);
  CHECK_FALSE(none.is_allowed);
  CHECK(none.rule == "no authority record matches");
  CHECK(check("DEV.A", authority::kGet).rule ==
        "profile DEV.** of user john, profile DEV.** of group apps");
  AuthorityRecord record{"P", AuthorityObject::kTopic, "u", false, authority::kSub};
  Result<AuthorityRecord> back = AuthorityRecord::decode(record.encode());
  REQUIRE(back.ok());
  CHECK(back.value().key() == record.key());
  CHECK(back.value().allowed == authority::kSub);
  CHECK_FALSE(AuthorityRecord::decode("").ok());
}

TEST_CASE("channel rules decide") {
  ChannelAuthTable table;
  ChannelAuthRule back_stop{.profile = "*", .address = "*", .source = UserSource::kNoAccess};
  ChannelAuthRule app{
      .profile = "APP.SVRCONN", .address = "10.0.*", .source = UserSource::kChannel};
  ChannelAuthRule user{.profile = "APP.SVRCONN",
                       .type = ChannelAuthType::kUserMap,
                       .client_user = "john",
                       .agent_user = "app"};
  ChannelAuthRule block{
      .profile = "*", .type = ChannelAuthType::kBlockUser, .user_list = {"*MQADMIN", "evil"}};
  for (const ChannelAuthRule& rule : {back_stop, app, user, block}) table.put(rule);
  ChannelCaller caller{.channel = "APP.SVRCONN", .address = "10.0.0.7", .client_user = "mary"};
  ChannelDecision d = table.decide(caller);
  CHECK(d.is_allowed);
  CHECK(d.user == "mary");
  caller.client_user = "john";
  CHECK(table.decide(caller).user == "app");
  caller.client_user = "evil";
  CHECK_FALSE(table.decide(caller).is_allowed);
  caller.client_user = "root";
  caller.is_administrator = [](const std::string& name) { return name == "root"; };
  CHECK_FALSE(table.decide(caller).is_allowed);
  caller.client_user = "mary";
  caller.address = "192.0.2.1";
  d = table.decide(caller);
  CHECK_FALSE(d.is_allowed);
  CHECK(d.rule == "CHLAUTH(*) TYPE(ADDRESSMAP)");
  Result<ChannelAuthRule> copy = ChannelAuthRule::decode(block.encode());
  REQUIRE(copy.ok());
  CHECK(copy.value().user_list == block.user_list);
  CHECK(copy.value().key() == block.key());
}

TEST_CASE("addresses") {
  CHECK(matches_address("*", "10.0.0.1"));
  CHECK(matches_address("10.0.0.*", "10.0.0.1"));
  CHECK(matches_address("10.0.*", "10.0.9.1"));
  CHECK_FALSE(matches_address("10.0.*", "10.1.9.1"));
  CHECK(matches_address("10.0.0.1-9", "10.0.0.5"));
  CHECK_FALSE(matches_address("10.0.0.1-9", "10.0.0.10"));
  CHECK(matches_address("2001:db8:*", "2001:db8:0:0:0:0:0:1"));
  CHECK(matches_address("*.example.com", "host.example.com"));
  CHECK_FALSE(matches_address("10.0.0", "10.0.0.1"));
}

TEST_CASE("every type that DEFINE makes has a default object") {
  for (const SpecTable& table : all_spec_tables()) {
    if (table.type == ObjectType::kQmgr) continue;
    bool is_mqtt = table.type == ObjectType::kChannel &&
                   table.subtype == static_cast<int32_t>(ChannelType::kMqtt);
    if (!is_mqtt) CHECK_FALSE(default_object(table.type, table.subtype).empty());
  }
}

}  // namespace millstream::queue::objects
