#include "queue/security/rule_access.h"

#include <algorithm>

#include "base/ascii.h"

namespace millstream::queue::security {
namespace {

using objects::AuthorityDecision;
using objects::AuthorityObject;
namespace authority = objects::authority;

constexpr int32_t kObjectTopic = 8;

std::string_view object_word(AuthorityObject type) {
  switch (type) {
    case AuthorityObject::kQueue:
      return "queue";
    case AuthorityObject::kTopic:
      return "topic";
    case AuthorityObject::kProcess:
      return "process";
    case AuthorityObject::kQmgr:
      return "queue manager";
    case AuthorityObject::kChannel:
      return "channel";
    default:
      return "object";
  }
}

std::string plus_words(uint32_t bits) {
  std::string out;
  for (const objects::AuthorityName& name : objects::authority_names()) {
    if (!(bits & name.bit)) continue;
    if (!out.empty()) out += ' ';
    out += '+';
    for (char c : name.keyword) out.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
  }
  return out;
}

}  // namespace

const std::vector<RightAuthority>& right_authorities() {
  static const std::vector<RightAuthority> kTable = {
      {kRightConnect, authority::kConnect, true},
      {kRightGet, authority::kGet, false},
      {kRightPut, authority::kPut, false},
      {kRightBrowse, authority::kBrowse, false},
      {kRightInquire, authority::kInq, false},
      {kRightSet, authority::kSet, false},
      {kRightPassContext, authority::kPassall, false},
      {kRightSetContext, authority::kSetall, false},
      {kRightPassIdentity, authority::kPassid, false},
      {kRightSetIdentity, authority::kSetid, false},
      {kRightDelete, authority::kDlt, false},
      {kRightPublish, authority::kPub, false},
      {kRightSubscribe, authority::kSub, false},
      {kRightAlternateUser, authority::kAltusr, true},
      {kRightAdmin, authority::kChg, true},
  };
  return kTable;
}

std::string RuleAccess::refuses(const AccessRequest& request) const {
  if (options_.is_dev || request.user == kAdministrators) return {};
  UserRef user = options_.users->find(request.user);
  if (user && user->is_disabled) return "user " + user->name + " is disabled";
  if (user && user->is_administrator()) return {};
  std::vector<std::string> groups = user ? user->groups : std::vector<std::string>();
  uint32_t of_object = 0, of_manager = 0;
  for (const RightAuthority& r : right_authorities()) {
    if (request.rights & r.right) (r.is_of_queue_manager ? of_manager : of_object) |= r.authority;
  }
  if (!options_.authorities) return "there are no authority records yet";
  auto type = static_cast<AuthorityObject>(request.object_type);
  if (type == AuthorityObject::kQmgr) of_manager |= std::exchange(of_object, 0);
  auto refusal = [&](AuthorityObject object, std::string_view name, uint32_t wanted,
                     const AuthorityDecision& d) {
    std::string text = "user " + std::string(request.user) + " has no " +
                       plus_words(wanted & ~d.allowed) + " on " + std::string(object_word(object)) +
                       " " + std::string(name) + ": " + d.rule;
    if (d.rule.find(" of ") != std::string::npos) {
      text += " allows " + objects::authority_text(d.allowed, ",");
    }
    return text;
  };
  if (of_manager) {
    AuthorityDecision d =
        options_.authorities->check(AuthorityObject::kQmgr, "", of_manager, request.user, groups);
    if (!d.is_allowed) {
      return refusal(AuthorityObject::kQmgr, options_.queue_manager, of_manager, d);
    }
  }
  if (!of_object) return {};
  if (request.object_type != kObjectTopic || !options_.topic_objects) {
    AuthorityDecision d =
        options_.authorities->check(type, request.object, of_object, request.user, groups);
    return d.is_allowed ? std::string() : refusal(type, request.object, of_object, d);
  }
  AuthorityDecision nearest{.rule = "there is no topic object above it"};
  bool is_first = true;
  for (const std::string& object : options_.topic_objects(request.object)) {
    AuthorityDecision d =
        options_.authorities->check(type, object, of_object, request.user, groups);
    if (d.is_allowed) return {};
    if (std::exchange(is_first, false)) nearest = d;
  }
  return refusal(type, request.object, of_object, nearest);
}

}  // namespace millstream::queue::security
