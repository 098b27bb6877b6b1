#include "queue/mqsc/export.h"

#include <algorithm>

#include "queue/mqsc/runner.h"
#include "queue/mqsc/values.h"
#include "queue/objects/memory_target.h"
#include "queue/objects/system_objects.h"

namespace millstream::queue::mqsc {
namespace {

using objects::Attr;
using objects::AttributeSpec;
using objects::AuthorityRecord;
using objects::ChannelAuthRule;
using objects::Definition;
using objects::DefinitionPtr;
using objects::ObjectFamily;
using objects::ObjectType;

// What is named by others comes before what names it.
constexpr ObjectType kExportOrder[] = {
    ObjectType::kNamelist, ObjectType::kProcess,  ObjectType::kQlocal,   ObjectType::kQmodel,
    ObjectType::kQremote,  ObjectType::kQalias,   ObjectType::kComminfo, ObjectType::kTopic,
    ObjectType::kSub,      ObjectType::kAuthinfo, ObjectType::kChannel,  ObjectType::kListener,
    ObjectType::kService};

class Exporter {
 public:
  Exporter(const objects::AdminTarget& target, const ExportOptions& options)
      : target_(target), options_(options), fresh_(target.manager_name(), base::system_clock()) {
    auto ignore = [](std::string_view) {};
    auto no_result = [](const ScriptResult&) {};
    run_script(fresh_, objects::system_objects_script(), {}, ignore, no_result);
    run_script(fresh_, objects::developer_objects_script(), {}, ignore, no_result);
  }

  std::string run() {
    out_ = "* Definitions of queue manager " + target_.manager_name() + ".\n";
    for (bool is_defaults : {true, false}) {
      for (ObjectType type : kExportOrder) append_type(type, is_defaults);
    }
    append_deletions();
    append_manager();
    append_rules();
    append_authorities();
    return out_;
  }

 private:
  static bool is_default_object(const Definition& d) {
    return default_object(d.type(), d.subtype()) == d.name();
  }

  static bool is_part_of_manager(const Definition& d) {
    if (d.type() == ObjectType::kQlocal) {
      return d.number(Attr::kDeftype) !=
             static_cast<int64_t>(objects::QueueDefinitionType::kTempdyn);
    }
    if (d.type() == ObjectType::kSub) {
      return d.number(Attr::kSubtype) == static_cast<int64_t>(objects::SubscriptionType::kAdmin);
    }
    return true;
  }

  std::vector<DefinitionPtr> objects_of(const objects::AdminTarget& target, ObjectType type) const {
    std::vector<DefinitionPtr> out;
    std::vector<ObjectFamily> families = {objects::type_spec(type).family};
    if (type == ObjectType::kChannel) families.push_back(ObjectFamily::kClientChannel);
    for (ObjectFamily family : families) {
      for (DefinitionPtr& d : target.catalogue().find_generic(family, "*")) {
        if (d->type() == type && is_part_of_manager(*d)) out.push_back(std::move(d));
      }
    }
    return out;
  }

  void append_type(ObjectType type, bool is_defaults) {
    for (const DefinitionPtr& d : objects_of(target_, type)) {
      if (is_default_object(*d) != is_defaults) continue;
      DefinitionPtr fresh = fresh_.catalogue().find(d->family(), d->name());
      // An unchanged object depends on its default object too: both unchanged, or written anew.
      bool is_unchanged = fresh && fresh->same_attributes(*d);
      if (!is_unchanged || options_.all_objects) append_definition(*d);
    }
  }

  // What DEFINE without attributes would make of it.
  Definition base_of(const Definition& d) const {
    Definition base(d.type(), d.name(), d.subtype());
    std::string_view name = default_object(d.type(), d.subtype());
    if (name.empty() || name == d.name()) return base;
    DefinitionPtr found = target_.catalogue().find(d.family(), name);
    if (found && found->type() == d.type() && found->subtype() == d.subtype()) {
      base.copy_attributes(*found);
    }
    return base;
  }

  void append_attributes(const Definition& d, const Definition& base) {
    for (const AttributeSpec& spec : attribute_specs(d.type(), d.subtype())) {
      if (spec.has(objects::kReadOnly)) continue;
      // The queue of a managed subscription is made with it.
      bool is_made =
          spec.id == Attr::kDest &&
          d.number(Attr::kDestclas) == static_cast<int64_t>(objects::DestinationClass::kManaged);
      if (d.type() == ObjectType::kSub && is_made) continue;
      std::string clause = attribute_clause(spec, d);
      bool is_same = clause == attribute_clause(spec, base);
      if (is_same && !options_.all_attributes) continue;
      if (spec.has(objects::kSecret)) {
        if (!d.text(spec.id).empty()) {
          secrets_ += "* " + std::string(spec.keyword) + " of " + d.name() + " is not exported.\n";
        }
        continue;
      }
      // Nothing cannot be said of attributes that need a value; it is their default anyway.
      if (spec.has(objects::kRequired) && d.text(spec.id).empty()) continue;
      out_ += " +\n       " + clause;
    }
  }

  void append_definition(const Definition& d) {
    const objects::TypeSpec& type = objects::type_spec(d.type());
    out_ += "DEFINE " + std::string(type.keyword) + "(" + quoted(d.name()) + ")";
    if (type.has_subtype) {
      out_ += " " + std::string(type.subtype_keyword) + "(" +
              std::string(name_of_number(type.subtypes, d.subtype())) + ")";
    }
    append_attributes(d, base_of(d));
    out_ += " +\n       REPLACE\n";
    out_ += secrets_;
    secrets_.clear();
  }

  void append_deletions() {
    for (ObjectType type : kExportOrder) {
      for (const DefinitionPtr& d : objects_of(fresh_, type)) {
        if (target_.catalogue().find(d->family(), d->name())) continue;
        out_ += "DELETE " + std::string(objects::type_spec(type).keyword) + "(" +
                quoted(d->name()) + ")";
        if (d->family() == ObjectFamily::kClientChannel) out_ += " CHLTABLE(CLNTTBL)";
        out_ += " IGNSTATE(YES)\n";
      }
    }
  }

  void append_manager() {
    DefinitionPtr d = target_.catalogue().find(ObjectFamily::kQmgr, target_.manager_name());
    if (!d) return;
    // A new one has DEADQ and CONNAUTH of the developer objects.
    DefinitionPtr fresh = fresh_.catalogue().find(ObjectFamily::kQmgr, target_.manager_name());
    size_t before = out_.size();
    out_ += "ALTER QMGR";
    size_t head = out_.size();
    append_attributes(*d, *fresh);
    if (out_.size() == head) {
      out_.resize(before);
    } else {
      out_ += "\n";
    }
    out_ += secrets_;
    secrets_.clear();
  }

  static std::string rule_head(const ChannelAuthRule& r) {
    std::string out = "SET CHLAUTH(" + quoted(r.profile) + ") TYPE(" +
                      std::string(objects::channel_auth_type_name(r.type)) + ")";
    auto append = [&](std::string_view keyword, const std::string& value) {
      if (!value.empty()) out += " " + std::string(keyword) + "(" + quoted(value) + ")";
    };
    append("ADDRESS", r.address);
    append("CLNTUSER", r.client_user);
    append("QMNAME", r.manager);
    append("SSLPEER", r.ssl_peer);
    append("SSLCERTI", r.ssl_issuer);
    return out;
  }

  static std::string list_clause(std::string_view keyword, const std::vector<std::string>& items) {
    std::string out = " " + std::string(keyword) + "(";
    for (size_t i = 0; i < items.size(); ++i) out += (i == 0 ? "" : ",") + quoted(items[i]);
    return out + ")";
  }

  static std::string rule_clause(const ChannelAuthRule& r) {
    std::string out = rule_head(r);
    bool is_block = true;
    if (r.type == objects::ChannelAuthType::kBlockUser) {
      out += list_clause("USERLIST", r.user_list);
    } else if (r.type == objects::ChannelAuthType::kBlockAddr) {
      out += list_clause("ADDRLIST", r.address_list);
    } else {
      is_block = false;
    }
    if (!is_block) {
      static constexpr std::string_view kSources[] = {"MAP", "NOACCESS", "CHANNEL"};
      static constexpr std::string_view kChecks[] = {"ASQMGR", "REQUIRED", "REQDADM"};
      out += " USERSRC(" + std::string(kSources[static_cast<size_t>(r.source) % 3]) + ")";
      if (r.source == objects::UserSource::kMap) out += " MCAUSER(" + quoted(r.agent_user) + ")";
      if (r.check != objects::ChannelCheck::kAsQmgr) {
        out += " CHCKCLNT(" + std::string(kChecks[static_cast<size_t>(r.check) % 3]) + ")";
      }
    }
    if (r.is_warning) out += " WARN(YES)";
    if (!r.description.empty()) out += " DESCR(" + quoted(r.description) + ")";
    if (!r.custom.empty()) out += " CUSTOM(" + quoted(r.custom) + ")";
    return out + " ACTION(REPLACE)\n";
  }

  void append_rules() {
    std::vector<ChannelAuthRule> fresh = fresh_.channel_auth().all();
    std::vector<ChannelAuthRule> rules = target_.channel_auth().all();
    for (const ChannelAuthRule& rule : fresh) {
      bool is_there = std::any_of(rules.begin(), rules.end(),
                                  [&](const auto& r) { return r.key() == rule.key(); });
      if (!is_there) out_ += rule_head(rule) + " ACTION(REMOVE)\n";
    }
    for (const ChannelAuthRule& rule : rules) {
      std::string clause = rule_clause(rule);
      bool is_fresh = std::any_of(fresh.begin(), fresh.end(),
                                  [&](const auto& r) { return rule_clause(r) == clause; });
      if (!is_fresh || options_.all_objects) out_ += clause;
    }
  }

  static std::string authority_head(const AuthorityRecord& r) {
    std::string out = "AUTHREC";
    if (!r.profile.empty()) out += " PROFILE(" + quoted(r.profile) + ")";
    for (const objects::AuthorityObjectName& name : objects::authority_object_names()) {
      if (name.object == r.object) out += " OBJTYPE(" + std::string(name.keyword) + ")";
    }
    return out + (r.is_group ? " GROUP(" : " PRINCIPAL(") + quoted(r.entity) + ")";
  }

  void append_authorities() {
    for (const AuthorityRecord& fresh : fresh_.authorities().all()) {
      AuthorityRecord there;
      if (!target_.authorities().find(fresh.key(), there)) {
        out_ += "DELETE " + authority_head(fresh) + "\n";
      }
    }
    for (const AuthorityRecord& record : target_.authorities().all()) {
      AuthorityRecord fresh;
      bool is_fresh = fresh_.authorities().find(record.key(), fresh);
      if (is_fresh && fresh.allowed == record.allowed && !options_.all_objects) continue;
      out_ += "SET " + authority_head(record);
      if (is_fresh && (fresh.allowed & ~record.allowed) != 0) {
        out_ += " AUTHRMV(" + objects::authority_text(fresh.allowed & ~record.allowed, ",") + ")";
      }
      out_ += " AUTHADD(" + objects::authority_text(record.allowed, ",") + ")\n";
    }
  }

  const objects::AdminTarget& target_;
  ExportOptions options_;
  objects::MemoryTarget fresh_;
  std::string out_;
  std::string secrets_;
};

}  // namespace

std::string export_script(const objects::AdminTarget& target, const ExportOptions& options) {
  return Exporter(target, options).run();
}

}  // namespace millstream::queue::mqsc
