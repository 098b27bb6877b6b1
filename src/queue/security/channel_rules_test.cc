// The rules of channels as the developer script of MQ's container image sets them, and the order in
// which they are asked.
#include <doctest/doctest.h>

#include "queue/objects/channel_auth.h"

namespace millstream::queue::security {
namespace {

using objects::ChannelAuthRule;
using objects::ChannelAuthTable;
using objects::ChannelAuthType;
using objects::ChannelCaller;
using objects::ChannelDecision;
using objects::UserSource;

ChannelDecision decided(const ChannelAuthTable& table, const ChannelCaller& caller) {
  ChannelCaller c = caller;
  c.is_administrator = [](const std::string& user) { return user == "admin" || user == "mqm"; };
  return table.decide(c);
}

void put_developer_rules(ChannelAuthTable& table) {
  table.put({.profile = "*",
             .type = ChannelAuthType::kAddressMap,
             .address = "*",
             .source = UserSource::kNoAccess});
  table.put({.profile = "DEV.APP.SVRCONN",
             .type = ChannelAuthType::kAddressMap,
             .address = "*",
             .source = UserSource::kChannel,
             .check = objects::ChannelCheck::kRequired});
  table.put({.profile = "DEV.ADMIN.SVRCONN",
             .type = ChannelAuthType::kUserMap,
             .client_user = "admin",
             .source = UserSource::kChannel});
  table.put({.profile = "DEV.ADMIN.SVRCONN",
             .type = ChannelAuthType::kBlockUser,
             .user_list = {"nobody"}});
  table.put({.profile = "*", .type = ChannelAuthType::kBlockUser, .user_list = {"*MQADMIN"}});
}

TEST_CASE("channel rules: the developer configuration") {
  ChannelAuthTable table;
  put_developer_rules(table);
  ChannelDecision d = decided(table, {.channel = "DEV.APP.SVRCONN",
                                      .address = "192.0.2.7",
                                      .client_user = "app",
                                      .agent_user = "app"});
  CHECK(d.is_allowed);
  CHECK(d.user == "app");
  CHECK(d.check == objects::ChannelCheck::kRequired);
  // Administrators may not come in through the channel of applications...
  d = decided(table,
              {.channel = "DEV.APP.SVRCONN", .address = "192.0.2.7", .client_user = "admin"});
  CHECK_FALSE(d.is_allowed);
  CHECK(d.rule == "CHLAUTH(*) TYPE(BLOCKUSER)");
  // ... but through their own, and nobody else there.
  CHECK(decided(table, {.channel = "DEV.ADMIN.SVRCONN", .address = "::1", .client_user = "admin"})
            .is_allowed);
  d = decided(table, {.channel = "DEV.ADMIN.SVRCONN", .address = "::1", .client_user = "app"});
  CHECK_FALSE(d.is_allowed);
  CHECK(d.rule == "CHLAUTH(*) TYPE(ADDRESSMAP)");
  // Any other channel is shut.
  CHECK_FALSE(
      decided(table, {.channel = "OTHER", .address = "::1", .client_user = "app"}).is_allowed);
}

TEST_CASE("channel rules: which rule counts") {
  ChannelAuthTable table;
  auto map = [](ChannelAuthType type, std::string profile, std::string user) {
    ChannelAuthRule r;
    r.type = type;
    r.profile = std::move(profile);
    r.agent_user = std::move(user);
    return r;
  };
  ChannelAuthRule address = map(ChannelAuthType::kAddressMap, "APP.*", "by_address");
  address.address = "192.0.2.*";
  table.put(address);
  ChannelAuthRule closer = map(ChannelAuthType::kAddressMap, "APP.*", "by_closer_address");
  closer.address = "192.0.2.7";
  table.put(closer);
  ChannelAuthRule peer = map(ChannelAuthType::kSslPeerMap, "APP.*", "by_peer");
  peer.ssl_peer = "CN=orders,O=Firm";
  table.put(peer);
  ChannelAuthRule user = map(ChannelAuthType::kUserMap, "APP.*", "by_user");
  user.client_user = "joe";
  table.put(user);
  ChannelCaller caller{.channel = "APP.ONE", .address = "192.0.2.8", .client_user = "jim"};
  CHECK(decided(table, caller).user == "by_address");
  caller.address = "192.0.2.7";
  CHECK(decided(table, caller).user == "by_closer_address");
  caller.client_user = "joe";
  CHECK(decided(table, caller).user == "by_user");  // before the address
  caller.ssl_peer = "CN=orders,OU=x,O=Firm,C=DE";
  CHECK(decided(table, caller).user == "by_peer");  // before the user
  caller.ssl_peer = "CN=other,O=Firm";
  CHECK(decided(table, caller).user == "by_user");
  // A comma inside a value begins no attribute.
  for (const char* forged : {"O=x\\,CN=orders,O=Firm", "O=\"x,CN=orders\",O=Firm"}) {
    caller.ssl_peer = forged;
    CHECK(decided(table, caller).user == "by_user");
  }
  // A warning only reports.
  ChannelAuthRule block{.profile = "*", .type = ChannelAuthType::kBlockAddr};
  block.address_list = {"192.0.2.*"};
  block.is_warning = true;
  table.put(block);
  CHECK(decided(table, caller).is_allowed);
  block.is_warning = false;
  table.put(block);
  ChannelDecision d = decided(table, caller);
  CHECK_FALSE(d.is_allowed);
  CHECK(d.rule == "CHLAUTH(*) TYPE(BLOCKADDR)");
}

TEST_CASE("channel rules: addresses") {
  CHECK(objects::matches_address("*", "192.0.2.1"));
  CHECK(objects::matches_address("192.0.2.1-9", "192.0.2.5"));
  CHECK_FALSE(objects::matches_address("192.0.2.1-9", "192.0.2.10"));
  CHECK_FALSE(objects::matches_address("192.0.2.1", "192.0.2.10"));
  CHECK(objects::matches_address("192.0.*", "192.0.2.10"));
  CHECK_FALSE(objects::matches_address("192.0.*", "192.1.2.10"));
  CHECK(objects::matches_address("2001:db8:*", "2001:db8:1::2"));
  CHECK_FALSE(objects::matches_address("2001:db8:*", "2001:db9:1::2"));
  CHECK_FALSE(objects::matches_address("127.0.0.1", "::1"));
}

}  // namespace
}  // namespace millstream::queue::security
