// DEFINE, ALTER and DELETE of objects.
#include <algorithm>

#include "mqi/reasons.h"
#include "queue/mqsc/command.h"
#include "queue/mqsc/messages.h"
#include "queue/mqsc/values.h"
#include "queue/objects/system_objects.h"

namespace millstream::queue::mqsc {
namespace {

using objects::AttributeSpec;
using objects::Definition;
using objects::DefinitionPtr;
using objects::ObjectFamily;
using objects::ObjectType;

// How often an ALTER begins anew because somebody else was faster.
constexpr int kAlterAttemptsMax = 100;

bool is_system_name(std::string_view name) { return name.substr(0, 7) == "SYSTEM."; }

const AttributeSpec* spec_of(const Definition& definition, std::string_view keyword) {
  return find_spec(definition.type(), definition.subtype(), keyword);
}

// CHLTYPE or AUTHTYPE: 0 and no error when it is absent.
int32_t read_subtype(const Command& command, const objects::TypeSpec& type, SyntaxError& problem) {
  const Clause* clause = command.find(type.subtype_keyword);
  if (!clause) return 0;
  const objects::NamedNumber* name = clause->has_values && clause->values.size() == 1
                                         ? find_named(type.subtypes, clause->value())
                                         : nullptr;
  if (name) return name->number;
  std::string known;
  for (const objects::NamedNumber& n : type.subtypes) {
    known += (known.empty() ? "" : ", ") + std::string(n.keyword);
  }
  problem = syntax_error(clause->has_values ? clause->values[0] : clause->keyword,
                         std::string(type.subtype_keyword) + " takes " + known + ".");
  return 0;
}

bool is_define_option(std::string_view keyword) {
  return keyword == "REPLACE" || keyword == "NOREPLACE" || keyword == "LIKE";
}

// Sets every clause that is an attribute. `set` collects the records of those.
SyntaxError set_attributes(const Command& command, bool is_alter, Definition& definition,
                           std::vector<const AttributeSpec*>& set) {
  const objects::TypeSpec& type = type_spec(definition.type());
  for (const Clause& clause : command.clauses) {
    const std::string& keyword = clause.keyword.text;
    if (type.has_subtype && keyword == type.subtype_keyword) continue;
    if (is_alter ? keyword == "FORCE" || keyword == "NOFORCE" || keyword == "SUBID"
                 : is_define_option(keyword)) {
      continue;
    }
    const AttributeSpec* spec = spec_of(definition, keyword);
    if (!spec) {
      std::string what(type.keyword);
      if (type.has_subtype) {
        what += " of type " + std::string(name_of_number(type.subtypes, definition.subtype()));
      }
      return syntax_error(clause.keyword, keyword + " is no attribute of " + what + ".");
    }
    if (std::find(set.begin(), set.end(), spec) != set.end()) {
      return syntax_error(clause.keyword, keyword + " is there twice.", "AMQ8411E");
    }
    if (is_alter && spec->has(objects::kDefineOnly)) {
      return syntax_error(clause.keyword, keyword + " can only be set when it is defined.");
    }
    SyntaxError problem = set_attribute(*spec, clause, definition);
    if (problem.is_set) return problem;
    set.push_back(spec);
  }
  return {};
}

SyntaxError check_required(const Command& command, const Definition& definition) {
  if (is_system_name(definition.name())) return {};
  for (const AttributeSpec& spec : attribute_specs(definition.type(), definition.subtype())) {
    if (!spec.has(objects::kRequired) || !definition.text(spec.id).empty()) continue;
    return syntax_error(whole_word(command.text), std::string(spec.keyword) + " is missing.");
  }
  if (definition.type() != ObjectType::kSub) return {};
  bool has_topic = !definition.text(objects::Attr::kTopicstr).empty() ||
                   !definition.text(objects::Attr::kTopicobj).empty();
  if (!has_topic) return syntax_error(whole_word(command.text), "TOPICSTR or TOPICOBJ is missing.");
  bool is_provided = definition.number(objects::Attr::kDestclas) ==
                     static_cast<int64_t>(objects::DestinationClass::kProvided);
  if (is_provided && definition.text(objects::Attr::kDest).empty()) {
    return syntax_error(whole_word(command.text), "DEST is missing.");
  }
  return {};
}

// What the new definition starts from: LIKE, the default object, or the records' defaults.
SyntaxError copy_base(const RunContext& context, const Command& command, Definition& definition,
                      CommandResponse& missing) {
  const Clause* like = command.find("LIKE");
  std::string name;
  if (like) {
    if (!like->has_values || like->values.size() != 1) {
      return syntax_error(like->keyword, "LIKE takes the name of an object.");
    }
    name = like->value();
  } else {
    name = default_object(definition.type(), definition.subtype());
    if (name.empty() || name == definition.name()) return {};
  }
  DefinitionPtr base = context.target.catalogue().find(definition.family(), name);
  bool fits = base && base->type() == definition.type() && base->subtype() == definition.subtype();
  if (fits) {
    definition.copy_attributes(*base);
  } else if (like) {
    missing = base ? failure(objects::AdminResult::failed(objects::reason::kWrongType), name)
                   : not_found(name);
  }
  return {};
}

std::vector<std::string> differences(const Definition& before, const Definition& after) {
  std::vector<std::string> out;
  for (const AttributeSpec& spec : attribute_specs(after.type(), after.subtype())) {
    std::string was = attribute_clause(spec, before), is = attribute_clause(spec, after);
    if (was == is) continue;
    if (spec.has(objects::kSecret)) is = std::string(spec.keyword) + "(********)", was = is;
    out.push_back("   " + is + " instead of " + was);
  }
  return out;
}

// One ALTER, repeated while others change the object at the same time.
struct AlterJob : std::enable_shared_from_this<AlterJob> {
  AlterJob(const RunContext& c, CommandPtr m, Reply r)
      : context(c), command(std::move(m)), reply(std::move(r)) {}

  void attempt() {
    DefinitionPtr seen = context.target.catalogue().find(family, name);
    if (!seen) return reply(missing());
    if (seen->type() != type || (subtype != 0 && seen->subtype() != subtype)) {
      return reply(failure(objects::AdminResult::failed(objects::reason::kWrongType), name,
                           type == ObjectType::kChannel));
    }
    Definition changed = *seen;
    std::vector<const AttributeSpec*> set;
    SyntaxError problem = set_attributes(*command, is_alter, changed, set);
    if (problem.is_set) return reply(syntax_failure(problem, command->text));
    if (context.options.is_verify_only) return reply(CommandResponse());
    std::vector<std::string> lines;
    if (!is_alter) {
      lines = differences(*seen, changed);
      if (lines.empty()) return reply(unchanged());
      for (const AttributeSpec* spec : set) {
        if (!spec->has(objects::kDefineOnly)) continue;
        if (attribute_clause(*spec, *seen) == attribute_clause(*spec, changed)) continue;
        return reply(refusal(std::string(type_spec(type).keyword) + "(" + name + ")",
                             std::string(spec->keyword) +
                                 " can only be set when it is defined; delete the object first."));
      }
    }
    auto self = shared_from_this();
    context.target.alter(
        seen, std::move(changed), command->find("FORCE") != nullptr,
        [self, lines = std::move(lines)](objects::AdminResult result) {
          if (result.reason == mqi::reason::kObjectChanged &&
              ++self->attempts < kAlterAttemptsMax) {
            return self->attempt();
          }
          if (!result.ok()) {
            return self->reply(failure(result, self->name, self->type == ObjectType::kChannel));
          }
          CommandResponse response = success(object_messages(self->type).changed);
          response.messages.insert(response.messages.end(), lines.begin(), lines.end());
          self->reply(std::move(response));
        });
  }

  CommandResponse missing() const {
    return failure(objects::AdminResult::failed(mqi::reason::kUnknownObjectName), name,
                   type == ObjectType::kChannel);
  }
  CommandResponse unchanged() const {
    return success("MS2571I: " + std::string(type_spec(type).keyword) + "(" + name +
                   ") is there already, as it is defined.");
  }

  RunContext context;
  CommandPtr command;
  Reply reply;
  ObjectType type = ObjectType::kQlocal;
  int32_t subtype = 0;
  ObjectFamily family = ObjectFamily::kQueue;
  std::string name;
  bool is_alter = true;  // false: a DEFINE in definition mode
  int attempts = 0;
};

ObjectFamily family_to_alter(const RunContext& context, ObjectType type, int32_t subtype,
                             const std::string& name) {
  ObjectFamily family = family_of(type, subtype);
  // Without CHLTYPE a channel is looked for among all, client channels last.
  if (type == ObjectType::kChannel && subtype == 0 &&
      !context.target.catalogue().find(family, name)) {
    return ObjectFamily::kClientChannel;
  }
  return family;
}

}  // namespace

void run_define(const RunContext& context, CommandPtr command, Reply reply) {
  const objects::TypeSpec& type = type_spec(command->spec->type);
  SyntaxError problem = check_duplicates(command->clauses);
  int32_t subtype = problem.is_set ? 0 : read_subtype(*command, type, problem);
  if (!problem.is_set && type.has_subtype && subtype == 0) {
    problem =
        syntax_error(whole_word(command->text), std::string(type.subtype_keyword) + " is missing.");
  }
  if (!problem.is_set && attribute_specs(type.type, subtype).empty()) {
    problem = syntax_error(whole_word(command->text), "That type is not supported.");
  }
  if (!problem.is_set && command->find("REPLACE") && command->find("NOREPLACE")) {
    problem = syntax_error(command->find("NOREPLACE")->keyword,
                           "REPLACE and NOREPLACE exclude each other.");
  }
  if (problem.is_set) return reply(syntax_failure(problem, command->text));
  Definition definition(type.type, command->name.text, subtype);
  CommandResponse missing;
  problem = copy_base(context, *command, definition, missing);
  std::vector<const AttributeSpec*> set;
  if (!problem.is_set) problem = set_attributes(*command, false, definition, set);
  if (!problem.is_set && missing.completion == 0) problem = check_required(*command, definition);
  if (problem.is_set) return reply(syntax_failure(problem, command->text));
  if (context.options.is_verify_only) return reply(CommandResponse());
  if (missing.completion != 0) return reply(std::move(missing));
  bool exists = context.target.catalogue().find(definition.family(), definition.name()) != nullptr;
  if (context.options.is_definition_mode && exists) {
    auto job = std::make_shared<AlterJob>(context, command, std::move(reply));
    job->type = type.type;
    job->subtype = subtype;
    job->family = definition.family();
    job->name = definition.name();
    job->is_alter = false;
    return job->attempt();
  }
  bool is_channel = type.type == ObjectType::kChannel;
  std::string name = definition.name();
  context.target.define(std::move(definition), command->find("REPLACE") != nullptr,
                        [reply, name, is_channel, type = type.type](objects::AdminResult result) {
                          reply(result.ok() ? success(object_messages(type).created)
                                            : failure(result, name, is_channel));
                        });
}

void run_alter(const RunContext& context, CommandPtr command, Reply reply) {
  bool is_manager = command->spec->kind == CommandKind::kAlterQmgr;
  ObjectType object_type = is_manager ? ObjectType::kQmgr : command->spec->type;
  const objects::TypeSpec& type = type_spec(object_type);
  SyntaxError problem = check_duplicates(command->clauses);
  int32_t subtype = type.has_subtype && !problem.is_set ? read_subtype(*command, type, problem) : 0;
  if (problem.is_set) return reply(syntax_failure(problem, command->text));
  auto job = std::make_shared<AlterJob>(context, command, reply);
  job->type = object_type;
  job->subtype = subtype;
  job->name = is_manager ? context.target.manager_name() : command->name.text;
  job->family = family_to_alter(context, object_type, subtype, job->name);
  // Values are checked before the object is looked for, as far as its kind is known.
  if (!type.has_subtype || subtype != 0) {
    Definition probe(object_type, job->name, subtype);
    std::vector<const AttributeSpec*> set;
    problem = set_attributes(*command, true, probe, set);
    if (problem.is_set) return reply(syntax_failure(problem, command->text));
  }
  if (context.options.is_verify_only) return reply(CommandResponse());
  job->attempt();
}

namespace {

SyntaxError check_delete(const Command& command) {
  SyntaxError problem = check_duplicates(command.clauses);
  if (problem.is_set) return problem;
  bool is_queue = type_spec(command.spec->type).family == ObjectFamily::kQueue;
  for (const Clause& clause : command.clauses) {
    const std::string& keyword = clause.keyword.text;
    bool is_word = (keyword == "PURGE" || keyword == "NOPURGE") && !clause.has_values &&
                   command.spec->type == ObjectType::kQlocal;
    bool is_choice = clause.has_values && clause.values.size() == 1;
    bool is_yes_no = is_choice && (clause.value() == "YES" || clause.value() == "NO");
    bool is_table = is_choice && (clause.value() == "QMGRTBL" || clause.value() == "CLNTTBL");
    if (is_word || (keyword == "AUTHREC" && is_yes_no) || (keyword == "IGNSTATE" && is_yes_no) ||
        (keyword == "CHLTABLE" && is_table && command.spec->type == ObjectType::kChannel)) {
      continue;
    }
    if (keyword == "CHLTYPE" && command.spec->type == ObjectType::kChannel) continue;
    return syntax_error(
        clause.keyword,
        keyword + (is_queue ? " is no option of DELETE; PURGE, NOPURGE, AUTHREC and "
                              "IGNSTATE are."
                            : " is no option of DELETE here, or has another value."));
  }
  return {};
}

bool is_yes(const Command& command, std::string_view keyword, bool otherwise) {
  const Clause* clause = command.find(keyword);
  return clause ? clause->value() == "YES" : otherwise;
}

}  // namespace

void run_delete(const RunContext& context, CommandPtr command, Reply reply) {
  SyntaxError problem = check_delete(*command);
  const objects::TypeSpec& type = type_spec(command->spec->type);
  int32_t subtype = type.has_subtype && !problem.is_set ? read_subtype(*command, type, problem) : 0;
  if (problem.is_set) return reply(syntax_failure(problem, command->text));
  if (context.options.is_verify_only) return reply(CommandResponse());
  ObjectFamily family = family_of(type.type, subtype);
  const Clause* table = command->find("CHLTABLE");
  if (table && table->value() == "CLNTTBL") family = ObjectFamily::kClientChannel;
  if (!table) family = family_to_alter(context, type.type, subtype, command->name.text);
  std::string name = command->name.text;
  bool is_channel = type.type == ObjectType::kChannel;
  bool ignores_state = is_yes(*command, "IGNSTATE", false);
  DefinitionPtr seen = context.target.catalogue().find(family, name);
  if (!seen) {
    if (ignores_state) return reply(success(object_messages(type.type).deleted));
    return reply(
        failure(objects::AdminResult::failed(mqi::reason::kUnknownObjectName), name, is_channel));
  }
  if (seen->type() != type.type) {
    return reply(failure(objects::AdminResult::failed(objects::reason::kWrongType), name));
  }
  objects::EraseOptions options;
  options.is_purge = command->find("PURGE") != nullptr;
  options.erases_authorities = is_yes(*command, "AUTHREC", true);
  context.target.erase(family, name, options,
                       [reply, name, is_channel, type = type.type](objects::AdminResult result) {
                         reply(result.ok() ? success(object_messages(type).deleted)
                                           : failure(result, name, is_channel));
                       });
}

void run_messages(const RunContext& context, CommandPtr command, Reply reply) {
  SyntaxError problem = check_parameters(*command);
  bool is_move = command->spec->kind == CommandKind::kMoveQlocal;
  if (!problem.is_set && is_move && !command->find("TOQLOCAL")) {
    problem = syntax_error(whole_word(command->text), "TOQLOCAL is missing.");
  }
  if (problem.is_set) return reply(syntax_failure(problem, command->text));
  if (context.options.is_verify_only) return reply(CommandResponse());
  std::string name = command->name.text;
  if (is_move) {
    std::string to = command->find("TOQLOCAL")->value();
    return context.target.move_messages(name, to, [reply, name](objects::AdminResult result) {
      std::string count = result.inserts.empty() ? "0" : result.inserts[0];
      reply(result.ok() ? success("MS2572I: " + count + " messages moved.")
                        : failure(result, name));
    });
  }
  if (command->spec->kind == CommandKind::kClearTopicstr) {
    if (!command->find("CLRTYPE")) {
      problem = syntax_error(whole_word(command->text), "CLRTYPE(RETAINED) is missing.");
      return reply(syntax_failure(problem, command->text));
    }
    return context.target.clear_retained(name, [reply, name](objects::AdminResult result) {
      reply(result.ok() ? success("AMQ8682I: Topic string cleared.") : failure(result, name));
    });
  }
  DefinitionPtr seen = context.target.catalogue().find(ObjectFamily::kQueue, name);
  if (!seen) return reply(not_found(name));
  if (seen->type() != ObjectType::kQlocal) {
    return reply(failure(objects::AdminResult::failed(objects::reason::kWrongType), name));
  }
  context.target.clear_queue(name, [reply, name](objects::AdminResult result) {
    reply(result.ok() ? success("AMQ8022I: Queue cleared.") : failure(result, name));
  });
}

}  // namespace millstream::queue::mqsc
