// Channel authentication rules (SET CHLAUTH): who may use which channel, and as whom.
//
// A rule is known by its channel profile, its type and what it filters (address, user, ...). When a
// connection comes, decide() applies: BLOCKADDR before all, then the most specific mapping rule
// (SSLPEERMAP, then QMGRMAP or USERMAP, then ADDRESSMAP; a closer channel profile first, then a
// closer filter), and BLOCKUSER on the user that results.
// Stored as versioned bytes, a rule each, under key().
// Thread: ChannelAuthTable any; readers do not wait for each other. Lock: leaf.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace millstream::queue::objects {

// Numbers are the MQI's MQCAUT_*, and stored.
enum class ChannelAuthType : uint8_t {
  kBlockUser = 1,
  kBlockAddr = 2,
  kSslPeerMap = 3,
  kAddressMap = 4,
  kUserMap = 5,
  kQmgrMap = 6,
};
enum class UserSource : uint8_t { kMap = 0, kNoAccess = 1, kChannel = 2 };
enum class ChannelCheck : uint8_t { kAsQmgr = 0, kRequired = 1, kReqdAdm = 2 };

struct ChannelAuthRule {
  std::string profile;
  ChannelAuthType type = ChannelAuthType::kAddressMap;
  std::string address;
  std::string client_user;  // CLNTUSER
  std::string manager;      // QMNAME
  std::string ssl_peer;
  std::string ssl_issuer;  // SSLCERTI
  std::vector<std::string> address_list;
  std::vector<std::string> user_list;
  UserSource source = UserSource::kMap;
  std::string agent_user;  // MCAUSER of USERSRC(MAP)
  ChannelCheck check = ChannelCheck::kAsQmgr;
  bool is_warning = false;  // WARN(YES): only reported
  std::string description;
  std::string custom;
  int64_t altered_gmt_ms = 0;

  std::string key() const;
  std::string encode() const;
  static Result<ChannelAuthRule> decode(std::string_view bytes);
};
std::string_view channel_auth_type_name(ChannelAuthType type);  // "ADDRESSMAP"

struct ChannelCaller {
  std::string channel;
  std::string address;
  std::string client_user;
  std::string manager;
  std::string ssl_peer;
  std::string ssl_issuer;
  std::string agent_user;  // of the channel, or what the check of the password made of it
  std::function<bool(const std::string& user)> is_administrator;  // for *MQADMIN
};
struct ChannelDecision {
  bool is_allowed = true;
  std::string user;  // whom the channel acts for
  ChannelCheck check = ChannelCheck::kAsQmgr;
  std::string rule;  // which one decided, for logs; empty: none matched
  std::string key;   // of that one
};

class ChannelAuthTable {
 public:
  void put(ChannelAuthRule rule);
  bool erase(std::string_view key);
  std::vector<ChannelAuthRule> all() const;  // by profile, type, filters
  ChannelDecision decide(const ChannelCaller& caller) const;

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, ChannelAuthRule, std::less<>> rules_;
};

// "192.0.2.*", "192.0.2.1-9", "2001:db8:*" and host names with `*`.
bool matches_address(std::string_view pattern, std::string_view address);

}  // namespace millstream::queue::objects
