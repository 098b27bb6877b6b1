// SET, DELETE and DISPLAY AUTHREC, DISPLAY ENTAUTH.
#include <algorithm>

#include "mqi/reasons.h"
#include "queue/mqsc/display.h"
#include "queue/mqsc/messages.h"
#include "queue/objects/object_name.h"

namespace millstream::queue::mqsc {
namespace {

using objects::AuthorityObject;
using objects::AuthorityRecord;

constexpr size_t kEntitiesMax = 100;

// What SET, DELETE and DISPLAY have in common.
struct AuthorityCommand {
  std::string profile;
  bool has_profile = false;
  AuthorityObject object = AuthorityObject::kQueue;
  bool has_object = false;
  std::vector<std::pair<std::string, bool>> entities;  // name, is a group
  uint32_t add = 0;
  uint32_t remove = 0;
};

std::string plain(const Word& word) {
  std::string out = word.text;
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

SyntaxError read_object_type(const Clause& clause, AuthorityCommand& out) {
  for (const objects::AuthorityObjectName& name : objects::authority_object_names()) {
    if (name.keyword != clause.value()) continue;
    out.object = name.object;
    out.has_object = true;
    return {};
  }
  std::string known;
  for (const objects::AuthorityObjectName& name : objects::authority_object_names()) {
    known += (known.empty() ? "" : ", ") + std::string(name.keyword);
  }
  return syntax_error(clause.values[0], "OBJTYPE takes " + known + ".");
}

SyntaxError read_authorities(const Clause& clause, AuthorityObject object, uint32_t& out) {
  for (const Word& word : clause.values) {
    if (word.text == "NONE") continue;
    uint32_t bits = objects::authority_group(word.text, object);
    for (const objects::AuthorityName& name : objects::authority_names()) {
      if (name.keyword == word.text) bits = name.bit;
    }
    if (bits == 0 && word.text != "ALLMQI") {
      return syntax_error(word, word.text + " is no authority.");
    }
    if ((bits & ~objects::authorities_of(object)) != 0) {
      return syntax_error(word, word.text + " does not apply to objects of this type.");
    }
    out |= bits;
  }
  return {};
}

SyntaxError check_profile(const Word& word, std::string& out) {
  out = plain(word);
  std::string stem;
  for (char c : out) {
    if (c != '*' && c != '?') stem += c;
  }
  bool is_valid = out.size() <= objects::kProfileNameMax &&
                  (stem.empty() ? !out.empty() : objects::is_object_name(stem));
  if (is_valid || out == "@class") return {};
  return syntax_error(word, "'" + out + "' is no profile.");
}

SyntaxError read_entities(const Command& command, AuthorityCommand& out) {
  for (std::string_view keyword : {"PRINCIPAL", "GROUP"}) {
    const Clause* clause = command.find(keyword);
    if (!clause) continue;
    for (const Word& word : clause->values) {
      std::string name = plain(word);
      if (name.empty() || name.size() > 1024) {
        return syntax_error(word, std::string(keyword) + " needs a name.");
      }
      out.entities.emplace_back(std::move(name), keyword == "GROUP");
      if (out.entities.size() > kEntitiesMax) {
        return syntax_error(word, "There are too many users and groups.");
      }
    }
  }
  return {};
}

SyntaxError read_authority(const Command& command, AuthorityCommand& out) {
  if (const Clause* type = command.find("OBJTYPE")) {
    SyntaxError problem = read_object_type(*type, out);
    if (problem.is_set) return problem;
  }
  if (const Clause* profile = command.find("PROFILE")) {
    if (out.has_object && out.object == AuthorityObject::kQmgr) {
      // The queue manager is the one object of its type: what is named is that.
    } else {
      SyntaxError problem = check_profile(profile->values[0], out.profile);
      if (problem.is_set) return problem;
      out.has_profile = true;
    }
  }
  SyntaxError problem = read_entities(command, out);
  for (std::string_view keyword : {"AUTHADD", "AUTHRMV"}) {
    const Clause* clause = command.find(keyword);
    if (problem.is_set || !clause) continue;
    problem = read_authorities(*clause, out.object, keyword == "AUTHADD" ? out.add : out.remove);
  }
  return problem;
}

SyntaxError check_complete(const Command& command, const AuthorityCommand& given) {
  Word all = whole_word(command.text);
  if (!given.has_object) return syntax_error(all, "OBJTYPE is missing.");
  if (!given.has_profile && given.object != AuthorityObject::kQmgr) {
    return syntax_error(all, "PROFILE is missing.");
  }
  if (given.entities.empty()) return syntax_error(all, "PRINCIPAL or GROUP is missing.");
  bool is_set = command.spec->kind == CommandKind::kSetAuthrec;
  if (is_set && !command.find("AUTHADD") && !command.find("AUTHRMV")) {
    return syntax_error(all, "AUTHADD or AUTHRMV is missing.");
  }
  return {};
}

// One record after the other.
struct AuthorityJob : std::enable_shared_from_this<AuthorityJob> {
  AuthorityJob(const RunContext& c, CommandPtr m, Reply r)
      : context(c), command(std::move(m)), reply(std::move(r)) {}

  void step() {
    bool is_delete = command->spec->kind == CommandKind::kDeleteAuthrec;
    if (next == given.entities.size()) {
      return reply(success(is_delete ? "AMQ8863I: Authority record deleted."
                                     : "AMQ8862I: Authority record set."));
    }
    AuthorityRecord record;
    record.profile = given.profile;
    record.object = given.object;
    record.entity = given.entities[next].first;
    record.is_group = given.entities[next].second;
    ++next;
    auto done = [self = shared_from_this()](objects::AdminResult result) {
      if (result.ok()) return self->step();
      if (result.reason == mqi::reason::kUnknownObjectName) result.inserts.clear();  // a key
      self->reply(failure(result, self->given.profile));
    };
    if (is_delete) return context.target.erase_authority(record.key(), done);
    AuthorityRecord old;
    if (context.target.authorities().find(record.key(), old)) record.allowed = old.allowed;
    record.allowed = (record.allowed | given.add) & ~given.remove;
    context.target.set_authority(std::move(record), done);
  }

  RunContext context;
  CommandPtr command;
  Reply reply;
  AuthorityCommand given;
  size_t next = 0;
};

std::string_view object_name(AuthorityObject object) {
  for (const objects::AuthorityObjectName& name : objects::authority_object_names()) {
    if (name.object == object) return name.keyword;
  }
  return "";
}

Row authority_row(std::string_view key, const AuthorityRecord& record, const std::string& manager) {
  Row row;
  row.fields = {text_field(key, record.profile.empty() ? manager : record.profile),
                text_field("ENTITY", record.entity),
                text_field("ENTTYPE", record.is_group ? "GROUP" : "PRINCIPAL"),
                text_field("OBJTYPE", std::string(object_name(record.object))),
                text_field("AUTHLIST", objects::authority_text(record.allowed, ","))};
  return row;
}

bool is_wanted(const Command& command, const AuthorityCommand& given,
               const AuthorityRecord& record) {
  const Clause* match = command.find("MATCH");
  bool is_exact = match && match->value() == "EXACT";
  if (given.has_object && record.object != given.object) return false;
  if (given.has_profile && given.profile != record.profile) {
    bool is_inside = objects::is_object_name(given.profile)
                         ? objects::matches_profile(record.profile, given.profile)
                         : objects::matches_generic(given.profile, record.profile);
    if (is_exact || !is_inside) return false;
  }
  if (const Clause* entity = command.find("ENTITY")) {
    if (!objects::matches_generic(entity->value(), record.entity)) return false;
  }
  if (given.entities.empty()) return true;
  return std::any_of(given.entities.begin(), given.entities.end(), [&](const auto& e) {
    return e.second == record.is_group && e.first == record.entity;
  });
}

void display_records(const RunContext& context, const Command& command,
                     const AuthorityCommand& given, const DisplayRequest& request, Reply reply) {
  CommandResponse response;
  response.title = "AMQ8864I: Display authority record details.";
  for (const AuthorityRecord& record : context.target.authorities().all()) {
    if (!is_wanted(command, given, record)) continue;
    Row row = authority_row("PROFILE", record, "SELF");
    if (request.matches(row)) response.rows.push_back(request.select(row, 4, {}));
  }
  if (response.rows.empty()) {
    response = failure(objects::AdminResult::failed(objects::reason::kNothingFound), "");
    response.messages = {"AMQ8867E: No matching authority record."};
  }
  reply(std::move(response));
}

// What a user or group has in the end.
void display_entity(const RunContext& context, const Command& command,
                    const AuthorityCommand& given, Reply reply) {
  const Clause* name = command.find("OBJNAME");
  if (!given.has_object || given.entities.size() != 1 ||
      (!name && given.object != AuthorityObject::kQmgr)) {
    return reply(syntax_failure(syntax_error(whole_word(command.text),
                                             "OBJTYPE, OBJNAME and PRINCIPAL or GROUP are needed."),
                                command.text));
  }
  AuthorityRecord record;
  record.profile = name ? name->value() : "";
  record.object = given.object;
  record.entity = given.entities[0].first;
  record.is_group = given.entities[0].second;
  std::string user = record.is_group ? "" : record.entity;
  std::vector<std::string> groups;
  if (record.is_group) groups.push_back(record.entity);
  record.allowed =
      context.target.authorities().check(given.object, record.profile, 0, user, groups).allowed;
  CommandResponse response;
  response.title = "AMQ8866I: Display entity authority details.";
  response.rows.push_back(authority_row("OBJNAME", record, context.target.manager_name()));
  reply(std::move(response));
}

}  // namespace

void run_authority(const RunContext& context, CommandPtr command, Reply reply) {
  bool is_display = command->spec->kind == CommandKind::kDisplayAuthrec ||
                    command->spec->kind == CommandKind::kDisplayEntauth;
  DisplayRequest request;
  SyntaxError problem = check_record_parameters(*command, is_display, request);
  AuthorityCommand given;
  if (!problem.is_set) problem = read_authority(*command, given);
  if (!problem.is_set && !is_display) problem = check_complete(*command, given);
  if (problem.is_set) return reply(syntax_failure(problem, command->text));
  if (context.options.is_verify_only) return reply(CommandResponse());
  if (command->spec->kind == CommandKind::kDisplayAuthrec) {
    return display_records(context, *command, given, request, std::move(reply));
  }
  if (is_display) return display_entity(context, *command, given, std::move(reply));
  auto job = std::make_shared<AuthorityJob>(context, command, std::move(reply));
  job->given = std::move(given);
  job->step();
}

}  // namespace millstream::queue::mqsc
