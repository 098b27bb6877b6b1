#include "queue/objects/channel_auth.h"

#include <algorithm>
#include <charconv>
#include <mutex>

#include "queue/objects/definition.h"
#include "queue/objects/errors_gen.h"
#include "queue/objects/object_name.h"
#include "queue/objects/record_bytes.h"

namespace millstream::queue::objects {
namespace {

constexpr uint8_t kChannelAuthVersion = 1;

// Mapping types in the order in which they are asked.
int mapping_rank(ChannelAuthType type) {
  switch (type) {
    case ChannelAuthType::kSslPeerMap:
      return 3;
    case ChannelAuthType::kQmgrMap:
    case ChannelAuthType::kUserMap:
      return 2;
    case ChannelAuthType::kAddressMap:
      return 1;
    default:
      return 0;
  }
}

bool matches_text(std::string_view pattern, std::string_view text) {
  if (pattern.find('*') == std::string_view::npos) return pattern == text;
  // A name has no qualifiers here: one `*` anywhere.
  size_t star = pattern.find('*');
  std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  if (text.size() < head.size() + tail.size()) return false;
  return text.substr(0, head.size()) == head && text.substr(text.size() - tail.size()) == tail;
}

// The comma that ends an attribute: not one that a backslash or quotes make part of a value, or
// whoever may choose an O could give itself another's CN.
size_t find_attribute_end(std::string_view name) {
  bool is_quoted = false;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\\') {
      ++i;
    } else if (name[i] == '"') {
      is_quoted = !is_quoted;
    } else if (name[i] == ',' && !is_quoted) {
      return i;
    }
  }
  return std::string_view::npos;
}

// Every attribute of the pattern is in the name: "CN=app,O=Firm" in "CN=app, O=Firm, C=DE".
bool matches_peer(std::string_view pattern, std::string_view name) {
  while (!pattern.empty()) {
    size_t comma = find_attribute_end(pattern);
    std::string_view part = pattern.substr(0, comma);
    pattern = comma == std::string_view::npos ? std::string_view() : pattern.substr(comma + 1);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    size_t equals = part.find('=');
    if (equals == std::string_view::npos) return false;
    bool is_found = false;
    std::string_view rest = name;
    while (!rest.empty() && !is_found) {
      size_t end = find_attribute_end(rest);
      std::string_view other = rest.substr(0, end);
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      while (!other.empty() && other.front() == ' ') other.remove_prefix(1);
      size_t at = other.find('=');
      is_found = at != std::string_view::npos && other.substr(0, at) == part.substr(0, equals) &&
                 matches_text(part.substr(equals + 1), other.substr(at + 1));
    }
    if (!is_found) return false;
  }
  return true;
}

bool is_mapping_for(const ChannelAuthRule& rule, const ChannelCaller& caller) {
  if (!rule.address.empty() && !matches_address(rule.address, caller.address)) return false;
  switch (rule.type) {
    case ChannelAuthType::kSslPeerMap:
      return !caller.ssl_peer.empty() && matches_peer(rule.ssl_peer, caller.ssl_peer) &&
             (rule.ssl_issuer.empty() || matches_peer(rule.ssl_issuer, caller.ssl_issuer));
    case ChannelAuthType::kQmgrMap:
      return !caller.manager.empty() && matches_text(rule.manager, caller.manager);
    case ChannelAuthType::kUserMap:
      return !caller.client_user.empty() && rule.client_user == caller.client_user;
    case ChannelAuthType::kAddressMap:
      return true;
    default:
      return false;
  }
}

std::string_view filter_of(const ChannelAuthRule& rule) {
  switch (rule.type) {
    case ChannelAuthType::kSslPeerMap:
      return rule.ssl_peer;
    case ChannelAuthType::kQmgrMap:
      return rule.manager;
    case ChannelAuthType::kUserMap:
      return rule.client_user;
    default:
      return rule.address;
  }
}

bool is_closer(const ChannelAuthRule& a, const ChannelAuthRule& b) {
  if (a.profile != b.profile) return is_more_specific(a.profile, b.profile);
  if (mapping_rank(a.type) != mapping_rank(b.type)) {
    return mapping_rank(a.type) > mapping_rank(b.type);
  }
  if (filter_of(a) != filter_of(b)) return is_more_specific(filter_of(a), filter_of(b));
  return a.address.size() > b.address.size();
}

std::string rule_text(const ChannelAuthRule& rule) {
  std::string out = "CHLAUTH(" + rule.profile + ") TYPE(";
  out += channel_auth_type_name(rule.type);
  return out + ")";
}

bool parse_part(std::string_view text, int base, long& out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string_view channel_auth_type_name(ChannelAuthType type) {
  switch (type) {
    case ChannelAuthType::kBlockUser:
      return "BLOCKUSER";
    case ChannelAuthType::kBlockAddr:
      return "BLOCKADDR";
    case ChannelAuthType::kSslPeerMap:
      return "SSLPEERMAP";
    case ChannelAuthType::kAddressMap:
      return "ADDRESSMAP";
    case ChannelAuthType::kUserMap:
      return "USERMAP";
    case ChannelAuthType::kQmgrMap:
      return "QMGRMAP";
  }
  return "";
}

bool matches_address(std::string_view pattern, std::string_view address) {
  if (pattern == "*" || pattern == address) return true;
  bool is_six = address.find(':') != std::string_view::npos;
  char separator = is_six ? ':' : '.';
  bool is_numeric = is_six || address.find_first_not_of("0123456789.") == std::string_view::npos;
  if (!is_numeric) return matches_text(pattern, address);
  while (true) {
    size_t p = pattern.find(separator), t = address.find(separator);
    std::string_view part = pattern.substr(0, p), text = address.substr(0, t);
    bool is_last = p == std::string_view::npos;
    if (part == "*" && is_last) return true;
    size_t dash = part.find('-');
    long low = 0, high = 0, value = 0;
    int base = is_six ? 16 : 10;
    if (dash != std::string_view::npos) {
      if (!parse_part(part.substr(0, dash), base, low) ||
          !parse_part(part.substr(dash + 1), base, high) || !parse_part(text, base, value) ||
          value < low || value > high) {
        return false;
      }
    } else if (part != "*" && part != text) {
      return false;
    }
    if (is_last || t == std::string_view::npos) return is_last && t == std::string_view::npos;
    pattern.remove_prefix(p + 1);
    address.remove_prefix(t + 1);
  }
}

std::string ChannelAuthRule::key() const {
  std::string out;
  append_record_text(out, profile);
  append_number(out, static_cast<uint64_t>(type), 1);
  if (mapping_rank(type) > 0) {
    append_record_text(out, address);
    append_record_text(out, client_user);
    append_record_text(out, manager);
    append_record_text(out, ssl_peer);
    append_record_text(out, ssl_issuer);
  }
  return out;
}

std::string ChannelAuthRule::encode() const {
  std::string out;
  out.push_back(static_cast<char>(kChannelAuthVersion));
  append_number(out, static_cast<uint64_t>(type), 1);
  append_number(out, static_cast<uint64_t>(source), 1);
  append_number(out, static_cast<uint64_t>(check), 1);
  append_number(out, is_warning, 1);
  append_number(out, static_cast<uint64_t>(altered_gmt_ms), 8);
  for (const std::string* text : {&profile, &address, &client_user, &manager, &ssl_peer,
                                  &ssl_issuer, &agent_user, &description, &custom}) {
    append_record_text(out, *text);
  }
  append_record_text(out, join_items(address_list));
  append_record_text(out, join_items(user_list));
  return out;
}

Result<ChannelAuthRule> ChannelAuthRule::decode(std::string_view bytes) {
  RecordReader reader(bytes);
  auto version = static_cast<int>(reader.number(1));
  if (reader.ok() && version != kChannelAuthVersion) {
    return base::make_error(errors::kDefinitionVersion, {version});
  }
  ChannelAuthRule out;
  out.type = static_cast<ChannelAuthType>(reader.number(1));
  out.source = static_cast<UserSource>(reader.number(1));
  out.check = static_cast<ChannelCheck>(reader.number(1));
  out.is_warning = reader.number(1) != 0;
  out.altered_gmt_ms = static_cast<int64_t>(reader.number(8));
  for (std::string* text :
       {&out.profile, &out.address, &out.client_user, &out.manager, &out.ssl_peer, &out.ssl_issuer,
        &out.agent_user, &out.description, &out.custom}) {
    *text = reader.text();
  }
  out.address_list = split_items(reader.text());
  out.user_list = split_items(reader.text());
  if (!reader.ok() || !reader.at_end() || channel_auth_type_name(out.type).empty()) {
    return base::make_error(errors::kDefinitionBytes, {});
  }
  return out;
}

void ChannelAuthTable::put(ChannelAuthRule rule) {
  std::string key = rule.key();
  std::unique_lock lock(mutex_);
  rules_.insert_or_assign(std::move(key), std::move(rule));
}

bool ChannelAuthTable::erase(std::string_view key) {
  std::unique_lock lock(mutex_);
  auto at = rules_.find(key);
  if (at == rules_.end()) return false;
  rules_.erase(at);
  return true;
}

std::vector<ChannelAuthRule> ChannelAuthTable::all() const {
  std::vector<ChannelAuthRule> out;
  {
    std::shared_lock lock(mutex_);
    for (const auto& [key, rule] : rules_) out.push_back(rule);
  }
  std::stable_sort(out.begin(), out.end(), [](const ChannelAuthRule& a, const ChannelAuthRule& b) {
    if (a.profile != b.profile) return is_more_specific(a.profile, b.profile);
    return static_cast<int>(a.type) > static_cast<int>(b.type);
  });
  return out;
}

ChannelDecision ChannelAuthTable::decide(const ChannelCaller& caller) const {
  ChannelDecision out;
  out.user = caller.agent_user.empty() ? caller.client_user : caller.agent_user;
  const ChannelAuthRule* mapping = nullptr;
  const ChannelAuthRule* block = nullptr;
  std::shared_lock lock(mutex_);
  for (const auto& [key, rule] : rules_) {
    if (rule.type == ChannelAuthType::kBlockAddr) {
      for (const std::string& address : rule.address_list) {
        if (!matches_address(address, caller.address) || rule.is_warning) continue;
        out.is_allowed = false;
        out.rule = rule_text(rule);
        out.key = rule.key();
        return out;
      }
      continue;
    }
    if (!matches_generic(rule.profile, caller.channel)) continue;
    if (rule.type == ChannelAuthType::kBlockUser) {
      if (!block || is_more_specific(rule.profile, block->profile)) block = &rule;
    } else if (is_mapping_for(rule, caller) && (!mapping || is_closer(rule, *mapping))) {
      mapping = &rule;
    }
  }
  if (mapping) {
    out.rule = rule_text(*mapping);
    out.key = mapping->key();
    out.check = mapping->check;
    if (mapping->source == UserSource::kNoAccess && !mapping->is_warning) {
      out.is_allowed = false;
      return out;
    }
    if (mapping->source == UserSource::kMap) out.user = mapping->agent_user;
  }
  if (block && !block->is_warning) {
    for (const std::string& user : block->user_list) {
      bool is_blocked = user == "*MQADMIN"
                            ? caller.is_administrator && caller.is_administrator(out.user)
                            : user == out.user;
      if (!is_blocked) continue;
      out.is_allowed = false;
      out.rule = rule_text(*block);
      out.key = block->key();
    }
  }
  return out;
}

}  // namespace millstream::queue::objects
