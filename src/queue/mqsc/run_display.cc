// DISPLAY of objects.
#include <algorithm>
#include <unordered_map>

#include "base/ascii.h"
#include "queue/mqsc/display.h"
#include "queue/mqsc/messages.h"
#include "queue/mqsc/values.h"
#include "queue/objects/object_name.h"

namespace millstream::queue::mqsc {
namespace {

using objects::AttributeSpec;
using objects::Definition;
using objects::DefinitionPtr;
using objects::ObjectFamily;
using objects::ObjectType;

// Attributes that are not in a definition's values: times, counts, what is derived.
struct DerivedAttribute {
  std::string_view keyword;
  bool is_number;
  bool (*is_of)(const Definition& definition);
};

bool has_creation(const Definition& d) {
  return d.family() == ObjectFamily::kQueue || d.type() == ObjectType::kSub ||
         d.type() == ObjectType::kQmgr;
}
bool has_alteration(const Definition&) { return true; }
bool is_local(const Definition& d) { return d.type() == ObjectType::kQlocal; }
bool is_namelist(const Definition& d) { return d.type() == ObjectType::kNamelist; }
bool is_subscription(const Definition& d) { return d.type() == ObjectType::kSub; }

constexpr DerivedAttribute kDerived[] = {
    {"ALTDATE", false, has_alteration}, {"ALTTIME", false, has_alteration},
    {"CRDATE", false, has_creation},    {"CRTIME", false, has_creation},
    {"CURDEPTH", true, is_local},       {"IPPROCS", true, is_local},
    {"NAMCOUNT", true, is_namelist},    {"OPPROCS", true, is_local},
    {"SUBID", false, is_subscription},
};

// In these the times come last, in the others where they belong by name.
bool shows_times_last(ObjectType type) {
  return type == ObjectType::kNamelist || type == ObjectType::kListener ||
         type == ObjectType::kService || type == ObjectType::kProcess;
}

struct ObjectDisplay {
  std::vector<ObjectType> types;
  ObjectFamily family = ObjectFamily::kQueue;
  int32_t subtype = 0;  // only these
  std::string subscription_id;
  DisplayRequest request;
  std::vector<objects::QueueStatus> status;          // of local queues, when asked for
  std::unordered_map<std::string, std::string> ids;  // SUBID by name
};

bool needs_status(const DisplayRequest& request, bool is_one) {
  auto is_status = [](std::string_view keyword) {
    return keyword == "CURDEPTH" || keyword == "IPPROCS" || keyword == "OPPROCS";
  };
  return request.is_all || (is_one && request.asks_nothing()) ||
         std::any_of(request.keywords.begin(), request.keywords.end(), is_status) ||
         (request.where && is_status(request.where->keyword));
}

Field derived_field(std::string_view keyword, const Definition& d, const ObjectDisplay& display) {
  if (keyword == "ALTDATE") return date_field(keyword, d.altered_gmt_ms());
  if (keyword == "ALTTIME") return time_field(keyword, d.altered_gmt_ms());
  if (keyword == "CRDATE") return date_field(keyword, d.created_gmt_ms());
  if (keyword == "CRTIME") return time_field(keyword, d.created_gmt_ms());
  if (keyword == "NAMCOUNT") {
    return number_field(keyword, static_cast<int64_t>(d.items(objects::Attr::kNames).size()));
  }
  if (keyword == "SUBID") {
    auto at = display.ids.find(d.name());
    return text_field(keyword, at == display.ids.end() ? "" : at->second);
  }
  auto at = std::lower_bound(
      display.status.begin(), display.status.end(), d.name(),
      [](const objects::QueueStatus& s, const std::string& name) { return s.queue < name; });
  if (at == display.status.end() || at->queue != d.name()) return number_field(keyword, 0);
  if (keyword == "CURDEPTH") return number_field(keyword, at->depth);
  return number_field(keyword, keyword == "IPPROCS" ? at->inputs : at->outputs);
}

std::string_view name_keyword(ObjectType type) {
  return type == ObjectType::kQmgr ? "QMNAME" : type_spec(type).family_keyword;
}

// All fields; the first one or two are the keys. `keys` says how many.
Row object_row(const Definition& d, const ObjectDisplay& display, size_t& keys) {
  const objects::TypeSpec& type = type_spec(d.type());
  Row row;
  row.fields.push_back(text_field(name_keyword(d.type()), d.name()));
  if (type.has_subtype) {
    row.fields.push_back(
        text_field(type.subtype_keyword, std::string(name_of_number(type.subtypes, d.subtype()))));
  } else if (d.family() == ObjectFamily::kQueue) {
    row.fields.push_back(text_field("TYPE", std::string(type.keyword)));
  } else if (d.type() == ObjectType::kTopic) {
    row.fields.push_back(text_field("TYPE", "LOCAL"));
  } else if (d.type() == ObjectType::kComminfo) {
    row.fields.push_back(text_field("TYPE", "MULTICAST"));
  }
  keys = row.fields.size();
  auto next = std::begin(kDerived);
  bool is_last = shows_times_last(d.type());
  auto specs = attribute_specs(d.type(), d.subtype());
  for (size_t i = 0; i < specs.size(); ++i) {
    const AttributeSpec& spec = specs[i];
    // NOTRIGGER stands among the N: what follows such a record decides, too.
    auto is_before = [&](size_t at) {
      return at >= specs.size() || next->keyword < specs[at].keyword;
    };
    while (!is_last && next != std::end(kDerived) && is_before(i) && is_before(i + 1)) {
      if (next->is_of(d)) row.fields.push_back(derived_field(next->keyword, d, display));
      ++next;
    }
    bool is_hidden = spec.has(objects::kHidden) && !display.request.is_all;
    bool is_named = std::find(display.request.keywords.begin(), display.request.keywords.end(),
                              spec.keyword) != display.request.keywords.end();
    if (!is_hidden || is_named) row.fields.push_back(attribute_field(spec, d));
  }
  for (; next != std::end(kDerived); ++next) {
    if (next->is_of(d)) row.fields.push_back(derived_field(next->keyword, d, display));
  }
  return row;
}

std::optional<DisplayAttribute> resolve_attribute(const std::vector<ObjectType>& types,
                                                  const std::string& keyword) {
  for (ObjectType type : types) {
    for (const objects::SpecTable& table : objects::all_spec_tables()) {
      if (table.type != type) continue;
      const AttributeSpec* spec = find_spec(type, table.subtype, keyword);
      if (!spec) continue;
      bool is_number = spec->is_number() && spec->kind != objects::AttributeKind::kFlag;
      return DisplayAttribute{std::string(spec->keyword), is_number, spec->names};
    }
    for (const DerivedAttribute& derived : kDerived) {
      if (derived.keyword != keyword || !derived.is_of(Definition(type, "", 0))) continue;
      return DisplayAttribute{keyword, derived.is_number, {}};
    }
    const objects::TypeSpec& type_record = type_spec(type);
    bool is_type = keyword == "TYPE" || keyword == "QTYPE" || keyword == "CHLTYPE";
    if (type_record.has_subtype &&
        (keyword == type_record.subtype_keyword || (is_type && keyword != "QTYPE"))) {
      return DisplayAttribute{std::string(type_record.subtype_keyword), false, {}};
    }
    if (is_type && keyword != "CHLTYPE") return DisplayAttribute{"TYPE", false, {}};
    if (keyword == name_keyword(type)) return DisplayAttribute{keyword, false, {}};
  }
  return std::nullopt;
}

// TYPE, CHLTYPE, AUTHTYPE and SUBID with a value choose objects.
bool read_selection(const Clause& clause, const Command& command, ObjectDisplay& out,
                    SyntaxError& problem) {
  const std::string& keyword = clause.keyword.text;
  if (!clause.has_values) return false;
  if (clause.values.size() != 1) return false;
  const std::string& value = clause.value();
  const objects::TypeSpec& type = type_spec(out.types.front());
  if (type.has_subtype && (keyword == type.subtype_keyword || keyword == "TYPE")) {
    const objects::NamedNumber* name = find_named(type.subtypes, value);
    if (name) out.subtype = name->number;
    if (!name && value != "ALL") {
      problem = syntax_error(clause.values[0], value + " is no " + keyword + ".");
    }
    return true;
  }
  if (command.spec->kind == CommandKind::kDisplayQueue &&
      (keyword == "TYPE" || keyword == "QTYPE")) {
    if (value == "ALL") return true;
    for (ObjectType known :
         {ObjectType::kQlocal, ObjectType::kQalias, ObjectType::kQremote, ObjectType::kQmodel}) {
      if (type_spec(known).keyword == value) out.types = {known};
    }
    if (type_spec(out.types.front()).keyword != value) {
      problem = syntax_error(clause.values[0], value + " is no queue type.");
    }
    return true;
  }
  if (keyword == "TYPE" && out.types.front() == ObjectType::kTopic &&
      (value == "LOCAL" || value == "ALL")) {
    return true;
  }
  if (keyword == "SUBID" && out.types.front() == ObjectType::kSub) {
    out.subscription_id = value;
    return true;
  }
  return false;
}

SyntaxError read_request(const Command& command, ObjectDisplay& out) {
  std::vector<ObjectType> types = out.types;
  DisplayResolver resolve = [&](const std::string& keyword) {
    return resolve_attribute(types, keyword);
  };
  for (const Clause& clause : command.clauses) {
    SyntaxError problem;
    bool is_read = read_selection(clause, command, out, problem) ||
                   read_display_clause(clause, resolve, out.request, problem);
    if (problem.is_set) return problem;
    if (!is_read) {
      return syntax_error(clause.keyword, clause.keyword.text + " is no attribute of " +
                                              std::string(command.spec->object) + ".");
    }
  }
  return {};
}

std::vector<DefinitionPtr> find_objects(const objects::AdminTarget& target,
                                        const ObjectDisplay& display, const std::string& pattern) {
  std::vector<DefinitionPtr> found = target.catalogue().find_generic(display.family, pattern);
  if (display.types.front() == ObjectType::kChannel) {
    for (DefinitionPtr& client :
         target.catalogue().find_generic(ObjectFamily::kClientChannel, pattern)) {
      found.push_back(std::move(client));
    }
  }
  std::erase_if(found, [&](const DefinitionPtr& d) {
    bool is_type =
        std::find(display.types.begin(), display.types.end(), d->type()) != display.types.end();
    return !is_type || (display.subtype != 0 && d->subtype() != display.subtype);
  });
  return found;
}

std::string hex_text(std::string_view bytes) {
  std::string out;
  base::append_upper_hex(out, bytes);
  return out;
}

void read_status(const objects::AdminTarget& target, const std::string& pattern,
                 ObjectDisplay& out) {
  if (out.family == ObjectFamily::kQueue &&
      needs_status(out.request, !objects::is_generic(pattern))) {
    out.status = target.queue_status(pattern);
    std::sort(out.status.begin(), out.status.end(),
              [](const auto& a, const auto& b) { return a.queue < b.queue; });
  }
  if (out.family == ObjectFamily::kSubscription) {
    for (const objects::SubscriptionStatus& s : target.subscription_status(pattern)) {
      out.ids.emplace(s.subscription, hex_text(s.id));
    }
  }
}

}  // namespace

void run_display_object(const RunContext& context, CommandPtr command, Reply reply) {
  ObjectDisplay display;
  bool is_manager = command->spec->kind == CommandKind::kDisplayQmgr;
  if (command->spec->kind == CommandKind::kDisplayQueue) {
    display.types = {ObjectType::kQlocal, ObjectType::kQalias, ObjectType::kQremote,
                     ObjectType::kQmodel};
  } else {
    display.types = {is_manager ? ObjectType::kQmgr : command->spec->type};
  }
  display.family = type_spec(display.types.front()).family;
  SyntaxError problem = read_request(*command, display);
  if (problem.is_set) return reply(syntax_failure(problem, command->text));
  if (context.options.is_verify_only) return reply(CommandResponse());
  std::string pattern = is_manager ? context.target.manager_name() : command->name.text;
  std::vector<DefinitionPtr> found = find_objects(context.target, display, pattern);
  read_status(context.target, pattern, display);
  CommandResponse response;
  response.title = object_messages(display.types.front()).display;
  // A generic name alone shows which objects there are, a full one everything of the object.
  bool is_list = objects::is_generic(pattern) && display.request.asks_nothing();
  static constexpr std::string_view kNothing[] = {"-"};
  static constexpr std::string_view kSubscription[] = {"SUBID"};
  std::span<const std::string_view> shown;
  if (is_list) shown = kNothing;
  if (is_list && display.family == ObjectFamily::kSubscription) shown = kSubscription;
  for (const DefinitionPtr& definition : found) {
    size_t keys = 0;
    Row row = object_row(*definition, display, keys);
    if (!display.request.matches(row)) continue;
    if (!display.subscription_id.empty() &&
        display.ids[definition->name()] != display.subscription_id) {
      continue;
    }
    response.rows.push_back(display.request.select(row, keys, shown));
  }
  if (response.rows.empty()) return reply(not_found(pattern));
  reply(std::move(response));
}

}  // namespace millstream::queue::mqsc
