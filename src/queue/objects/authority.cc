#include "queue/objects/authority.h"

#include <mutex>

#include "queue/objects/errors_gen.h"
#include "queue/objects/object_name.h"
#include "queue/objects/record_bytes.h"

namespace millstream::queue::objects {
namespace {

namespace a = authority;
constexpr uint8_t kAuthorityVersion = 1;
constexpr uint32_t kAdminCommon = a::kChg | a::kDlt | a::kDsp;

uint32_t mqi_of(AuthorityObject object) {
  switch (object) {
    case AuthorityObject::kQmgr:
      return a::kAltusr | a::kConnect | a::kInq | a::kSet | a::kSetall | a::kSetid | a::kSystem;
    case AuthorityObject::kQueue:
      return a::kBrowse | a::kGet | a::kInq | a::kPassall | a::kPassid | a::kPut | a::kSet |
             a::kSetall | a::kSetid;
    case AuthorityObject::kTopic:
      return a::kPub | a::kSub | a::kResume | a::kPassall | a::kPassid | a::kSetall | a::kSetid;
    case AuthorityObject::kRqmname:
      return a::kPut;
    case AuthorityObject::kProcess:
      return a::kInq | a::kSet;
    case AuthorityObject::kNamelist:
    case AuthorityObject::kAuthinfo:
      return a::kInq;
    default:
      return 0;
  }
}

uint32_t admin_of(AuthorityObject object) {
  switch (object) {
    case AuthorityObject::kRqmname:
      return 0;
    case AuthorityObject::kQueue:
      return kAdminCommon | a::kClr;
    case AuthorityObject::kTopic:
      return kAdminCommon | a::kClr | a::kCtrl;
    case AuthorityObject::kQmgr:
      return kAdminCommon | a::kCtrl;
    case AuthorityObject::kChannel:
      return kAdminCommon | a::kCtrl | a::kCtrlx;
    case AuthorityObject::kListener:
    case AuthorityObject::kService:
      return kAdminCommon | a::kCtrl;
    default:
      return kAdminCommon;
  }
}

}  // namespace

const std::vector<AuthorityName>& authority_names() {
  static const std::vector<AuthorityName> kNames = {
      {"ALTUSR", a::kAltusr},   {"BROWSE", a::kBrowse},   {"CHG", a::kChg},
      {"CLR", a::kClr},         {"CONNECT", a::kConnect}, {"CRT", a::kCrt},
      {"CTRL", a::kCtrl},       {"CTRLX", a::kCtrlx},     {"DLT", a::kDlt},
      {"DSP", a::kDsp},         {"GET", a::kGet},         {"INQ", a::kInq},
      {"PASSALL", a::kPassall}, {"PASSID", a::kPassid},   {"PUB", a::kPub},
      {"PUT", a::kPut},         {"RESUME", a::kResume},   {"SET", a::kSet},
      {"SETALL", a::kSetall},   {"SETID", a::kSetid},     {"SUB", a::kSub},
      {"SYSTEM", a::kSystem}};
  return kNames;
}

uint32_t authority_group(std::string_view keyword, AuthorityObject object) {
  if (keyword == "ALLMQI") return mqi_of(object);
  if (keyword == "ALLADM") return admin_of(object);
  if (keyword == "ALL") return mqi_of(object) | admin_of(object);
  return 0;
}

uint32_t authorities_of(AuthorityObject object) {
  return mqi_of(object) | admin_of(object) |
         (object == AuthorityObject::kRqmname ? 0 : authority::kCrt);
}

std::string authority_text(uint32_t bits, std::string_view separator) {
  std::string out;
  for (const AuthorityName& name : authority_names()) {
    if ((bits & name.bit) == 0) continue;
    if (!out.empty()) out += separator;
    out += name.keyword;
  }
  return out.empty() ? "NONE" : out;
}

const std::vector<AuthorityObjectName>& authority_object_names() {
  static const std::vector<AuthorityObjectName> kNames = {
      {"AUTHINFO", AuthorityObject::kAuthinfo}, {"CHANNEL", AuthorityObject::kChannel},
      {"CLNTCONN", AuthorityObject::kClntconn}, {"COMMINFO", AuthorityObject::kComminfo},
      {"LISTENER", AuthorityObject::kListener}, {"NAMELIST", AuthorityObject::kNamelist},
      {"PROCESS", AuthorityObject::kProcess},   {"QMGR", AuthorityObject::kQmgr},
      {"QUEUE", AuthorityObject::kQueue},       {"RQMNAME", AuthorityObject::kRqmname},
      {"SERVICE", AuthorityObject::kService},   {"TOPIC", AuthorityObject::kTopic}};
  return kNames;
}

std::string AuthorityRecord::key() const {
  std::string out;
  append_number(out, static_cast<uint64_t>(object), 2);
  append_record_text(out, profile);
  out.push_back(is_group ? 'g' : 'u');
  out += entity;
  return out;
}

std::string AuthorityRecord::encode() const {
  std::string out;
  out.push_back(static_cast<char>(kAuthorityVersion));
  append_number(out, static_cast<uint64_t>(object), 2);
  append_record_text(out, profile);
  out.push_back(is_group ? 1 : 0);
  append_record_text(out, entity);
  append_number(out, allowed, 4);
  return out;
}

Result<AuthorityRecord> AuthorityRecord::decode(std::string_view bytes) {
  RecordReader reader(bytes);
  auto version = static_cast<int>(reader.number(1));
  if (reader.ok() && version != kAuthorityVersion) {
    return base::make_error(errors::kDefinitionVersion, {version});
  }
  AuthorityRecord out;
  out.object = static_cast<AuthorityObject>(reader.number(2));
  out.profile = reader.text();
  out.is_group = reader.number(1) != 0;
  out.entity = reader.text();
  out.allowed = static_cast<uint32_t>(reader.number(4));
  if (!reader.ok() || !reader.at_end()) return base::make_error(errors::kDefinitionBytes, {});
  return out;
}

void AuthorityTable::put(AuthorityRecord record) {
  std::string key = record.key();
  std::unique_lock lock(mutex_);
  records_.insert_or_assign(std::move(key), std::move(record));
}

bool AuthorityTable::erase(std::string_view key) {
  std::unique_lock lock(mutex_);
  auto at = records_.find(key);
  if (at == records_.end()) return false;
  records_.erase(at);
  return true;
}

bool AuthorityTable::find(std::string_view key, AuthorityRecord& out) const {
  std::shared_lock lock(mutex_);
  auto at = records_.find(key);
  if (at == records_.end()) return false;
  out = at->second;
  return true;
}

std::vector<AuthorityRecord> AuthorityTable::all() const {
  std::shared_lock lock(mutex_);
  std::vector<AuthorityRecord> out;
  for (const auto& [key, record] : records_) out.push_back(record);
  return out;
}

AuthorityDecision AuthorityTable::check(AuthorityObject object, std::string_view name,
                                        uint32_t wanted, std::string_view user,
                                        const std::vector<std::string>& groups) const {
  // Best record so far of each entity: the user first, then the groups.
  std::vector<const AuthorityRecord*> best(1 + groups.size(), nullptr);
  AuthorityDecision out;
  std::shared_lock lock(mutex_);
  for (const auto& [key, record] : records_) {
    if (record.object != object) continue;
    size_t slot = SIZE_MAX;
    if (!record.is_group && record.entity == user) slot = 0;
    for (size_t i = 0; record.is_group && i < groups.size(); ++i) {
      if (groups[i] == record.entity) slot = i + 1;
    }
    if (slot == SIZE_MAX) continue;
    if (object != AuthorityObject::kQmgr && !matches_profile(record.profile, name)) continue;
    if (!best[slot] || is_more_specific(record.profile, best[slot]->profile)) {
      best[slot] = &record;
    }
  }
  for (const AuthorityRecord* record : best) {
    if (!record) continue;
    out.allowed |= record->allowed;
    if (!out.rule.empty()) out.rule += ", ";
    out.rule += record->profile.empty() ? "queue manager" : "profile " + record->profile;
    out.rule += record->is_group ? " of group " : " of user ";
    out.rule += record->entity;
  }
  if (out.rule.empty()) out.rule = "no authority record matches";
  out.is_allowed = (out.allowed & wanted) == wanted;
  return out;
}

}  // namespace millstream::queue::objects
