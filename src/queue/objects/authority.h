// Authority records: what a user or a group may do with the objects whose names match a profile.
//
// A check takes, for the user and each of their groups, the most specific profile of the object's
// type that has a record for that entity, and adds up what those records allow (a record that
// allows nothing hides less specific ones). Members of the group `mqm` are not checked here: that
// is the caller's rule.
// Stored as versioned bytes, a record each, under key().
// Thread: AuthorityTable any; readers do not wait for each other. Lock: leaf.
#pragma once
#include <cstdint>
#include <map>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace millstream::queue::objects {

// OBJTYPE of SET AUTHREC; numbers are stored.
enum class AuthorityObject : uint16_t {
  kQueue = 1,
  kNamelist = 2,
  kProcess = 3,
  kQmgr = 5,
  kChannel = 6,
  kAuthinfo = 7,
  kTopic = 8,
  kComminfo = 9,
  kListener = 11,
  kService = 12,
  kClntconn = 1014,
  kRqmname = 1018,
};

// Bits of what is allowed; stored.
namespace authority {
constexpr uint32_t kAltusr = 1u << 0;
constexpr uint32_t kBrowse = 1u << 1;
constexpr uint32_t kChg = 1u << 2;
constexpr uint32_t kClr = 1u << 3;
constexpr uint32_t kConnect = 1u << 4;
constexpr uint32_t kCrt = 1u << 5;
constexpr uint32_t kCtrl = 1u << 6;
constexpr uint32_t kCtrlx = 1u << 7;
constexpr uint32_t kDlt = 1u << 8;
constexpr uint32_t kDsp = 1u << 9;
constexpr uint32_t kGet = 1u << 10;
constexpr uint32_t kInq = 1u << 11;
constexpr uint32_t kPassall = 1u << 12;
constexpr uint32_t kPassid = 1u << 13;
constexpr uint32_t kPub = 1u << 14;
constexpr uint32_t kPut = 1u << 15;
constexpr uint32_t kResume = 1u << 16;
constexpr uint32_t kSet = 1u << 17;
constexpr uint32_t kSetall = 1u << 18;
constexpr uint32_t kSetid = 1u << 19;
constexpr uint32_t kSub = 1u << 20;
constexpr uint32_t kSystem = 1u << 21;
}  // namespace authority

struct AuthorityName {
  std::string_view keyword;
  uint32_t bit;
};
const std::vector<AuthorityName>& authority_names();  // sorted, without ALL, ALLADM, ALLMQI, NONE
// What ALL, ALLADM and ALLMQI mean for an object type; 0 when `keyword` is none of them.
uint32_t authority_group(std::string_view keyword, AuthorityObject object);
// What can be allowed for an object type at all.
uint32_t authorities_of(AuthorityObject object);
std::string authority_text(uint32_t bits, std::string_view separator);  // "GET,PUT"

struct AuthorityObjectName {
  std::string_view keyword;  // "QUEUE"
  AuthorityObject object;
};
const std::vector<AuthorityObjectName>& authority_object_names();

struct AuthorityRecord {
  std::string profile;  // empty for AuthorityObject::kQmgr
  AuthorityObject object = AuthorityObject::kQueue;
  std::string entity;  // name of the user or group
  bool is_group = false;
  uint32_t allowed = 0;

  std::string key() const;
  std::string encode() const;
  static Result<AuthorityRecord> decode(std::string_view bytes);
};

// Why a check came out as it did.
struct AuthorityDecision {
  bool is_allowed = false;
  uint32_t allowed = 0;  // of all that was asked and more
  std::string rule;      // "profile DEV.** of group mqclient", or "no authority record matches"
};

class AuthorityTable {
 public:
  void put(AuthorityRecord record);  // adds or replaces
  bool erase(std::string_view key);
  // Null-like: empty profile and entity when there is none.
  bool find(std::string_view key, AuthorityRecord& out) const;
  std::vector<AuthorityRecord> all() const;  // by object type, profile, entity

  AuthorityDecision check(AuthorityObject object, std::string_view name, uint32_t wanted,
                          std::string_view user, const std::vector<std::string>& groups) const;

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, AuthorityRecord, std::less<>> records_;
};

}  // namespace millstream::queue::objects
