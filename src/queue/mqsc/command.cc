#include "queue/mqsc/command.h"

#include <algorithm>

#include "queue/mqsc/messages.h"
#include "queue/objects/object_name.h"

namespace millstream::queue::mqsc {
namespace {

std::string objects_of(std::string_view verb) {
  std::string out;
  for (const CommandSpec& command : all_commands()) {
    if (command.verb != verb) continue;
    out += (out.empty() ? "" : ", ");
    out += command.object;
  }
  return out;
}

bool is_free_text(const CommandSpec& spec) {
  return spec.kind == CommandKind::kDisplayConn || spec.kind == CommandKind::kStopConn ||
         spec.kind == CommandKind::kDisplayTpstatus || spec.kind == CommandKind::kDisplaySbstatus ||
         spec.kind == CommandKind::kClearTopicstr ||
         (spec.kind <= CommandKind::kDisplayObject && spec.type == objects::ObjectType::kSub);
}

SyntaxError check_name(const Command& command) {
  const CommandSpec& spec = *command.spec;
  const std::string& name = command.name.text;
  if (is_free_text(spec)) return {};
  if (spec.kind == CommandKind::kDefineObject) {
    if (objects::is_name_for(spec.type, name)) return {};
    return syntax_error(
        command.name,
        "'" + name + "' cannot be the name of a " + std::string(type_spec(spec.type).title) + ".",
        name.size() > type_spec(spec.type).name_bytes_max ? "AMQ8413E" : "AMQ8405I");
  }
  if (spec.name == NameRule::kProfile) {
    std::string_view stem = name;
    if (objects::is_generic(stem)) stem.remove_suffix(1);
    if (stem.empty() || objects::is_object_name(stem)) return {};
    return syntax_error(command.name, "'" + name + "' is no channel name or generic name.");
  }
  std::string_view stem = name;
  if (spec.name != NameRule::kRequired && objects::is_generic(stem)) stem.remove_suffix(1);
  if ((stem.empty() && stem.size() != name.size()) || objects::is_object_name(stem)) return {};
  return syntax_error(
      command.name,
      "'" + name + "' is no object name" +
          (spec.name == NameRule::kRequired ? "." : " or generic name; only its end may be a *."));
}

SyntaxError take_name(Clause& object, Command& out) {
  NameRule rule = out.spec->name;
  if (!object.has_values) {
    if (rule == NameRule::kNone || rule == NameRule::kOptional) return {};
    return syntax_error(object.keyword, object.keyword.text + " needs a name.");
  }
  if (rule == NameRule::kNone) {
    return syntax_error(object.values[0], object.keyword.text + " takes no name.");
  }
  if (object.values.size() != 1) {
    return syntax_error(object.values[1], "One name is expected.");
  }
  out.name = std::move(object.values[0]);
  while (!out.name.text.empty() && out.name.text.back() == ' ') out.name.text.pop_back();
  out.has_name = true;
  return check_name(out);
}

SyntaxError check_parameter(const ParameterSpec& parameter, const Clause& clause) {
  const std::string& keyword = clause.keyword.text;
  if (parameter.kind == ParameterKind::kFlag) {
    if (!clause.has_values) return {};
    return syntax_error(clause.values[0], keyword + " takes no value.");
  }
  if (!clause.has_values) return syntax_error(clause.keyword, keyword + " needs a value.");
  if (parameter.kind == ParameterKind::kList) return {};
  if (clause.values.size() != 1) {
    return syntax_error(clause.values[1], keyword + " takes one value.");
  }
  const Word& value = clause.values[0];
  if (parameter.kind == ParameterKind::kNumber) {
    bool is_number = !value.text.empty() && value.text.size() <= 9 &&
                     value.text.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number) return syntax_error(value, keyword + " takes a number up to 999999999.");
  }
  if (parameter.kind == ParameterKind::kName && !value.text.empty() && value.text != " " &&
      !objects::is_object_name(value.text)) {
    return syntax_error(value, "'" + value.text + "' is no object name.");
  }
  if (parameter.kind == ParameterKind::kChoice) {
    std::string choices;
    for (std::string_view choice : parameter.choices) {
      if (choice == value.text) return {};
      choices += (choices.empty() ? "" : ", ") + std::string(choice);
    }
    return syntax_error(value,
                        value.text + " is no value of " + keyword + "; it takes " + choices + ".");
  }
  return {};
}

}  // namespace

const VerbSpec* find_verb(std::string_view word) {
  for (const VerbSpec& verb : all_verbs()) {
    if (verb.verb == word || (!verb.synonym.empty() && verb.synonym == word)) return &verb;
  }
  return nullptr;
}

const CommandSpec* find_command(std::string_view verb, std::string_view object) {
  for (const CommandSpec& command : all_commands()) {
    if (command.verb != verb) continue;
    if (command.object == object || (!command.synonym.empty() && command.synonym == object)) {
      return &command;
    }
  }
  return nullptr;
}

const Clause* Command::find(std::string_view keyword) const {
  for (const Clause& clause : clauses) {
    if (clause.keyword.text == keyword) return &clause;
  }
  return nullptr;
}

SyntaxError bind_command(std::string_view text, Command& out) {
  out.text = text;
  std::vector<Clause> clauses;
  SyntaxError shape = parse_clauses(text, clauses);
  if (clauses.empty()) {
    return shape.is_set ? shape : syntax_error(Word(), "There is no command.");
  }
  const Word& verb_word = clauses[0].keyword;
  const VerbSpec* verb = clauses[0].has_values ? nullptr : find_verb(verb_word.text);
  if (!verb) return syntax_error(verb_word, verb_word.text + " is no MQSC command.");
  if (clauses.size() < 2) {
    if (shape.is_set) return shape;
    return syntax_error(verb_word, verb_word.text + " takes " + objects_of(verb->verb) + ".");
  }
  Clause& object = clauses[1];
  out.spec = find_command(verb->verb, object.keyword.text);
  if (!out.spec) {
    return syntax_error(object.keyword, std::string(verb->verb) + " does not take " +
                                            object.keyword.text + ", but " +
                                            objects_of(verb->verb) + ".");
  }
  if (shape.is_set) return shape;
  SyntaxError problem = take_name(object, out);
  if (problem.is_set) return problem;
  out.clauses.assign(std::make_move_iterator(clauses.begin() + 2),
                     std::make_move_iterator(clauses.end()));
  return {};
}

SyntaxError check_duplicates(const std::vector<Clause>& clauses) {
  std::vector<std::string_view> seen;
  for (const Clause& clause : clauses) {
    if (std::find(seen.begin(), seen.end(), clause.keyword.text) != seen.end()) {
      return syntax_error(clause.keyword, clause.keyword.text + " is there twice.", "AMQ8411E");
    }
    seen.push_back(clause.keyword.text);
  }
  return {};
}

SyntaxError check_parameters(const Command& command,
                             const std::function<bool(const Clause&)>& others) {
  SyntaxError problem = check_duplicates(command.clauses);
  if (problem.is_set) return problem;
  for (const Clause& clause : command.clauses) {
    const ParameterSpec* found = nullptr;
    for (const ParameterSpec& parameter : command.spec->parameters) {
      if (parameter.keyword == clause.keyword.text) found = &parameter;
    }
    if (others && others(clause)) continue;
    if (!found) {
      return syntax_error(clause.keyword, clause.keyword.text + " is no parameter of " +
                                              std::string(command.spec->verb) + " " +
                                              std::string(command.spec->object) + ".");
    }
    problem = check_parameter(*found, clause);
    if (problem.is_set) return problem;
  }
  return {};
}

void run_command(const RunContext& context, CommandPtr command, Reply reply) {
  const CommandSpec& spec = *command->spec;
  if (!spec.refused.empty()) {
    if (!spec.takes_anything) {
      SyntaxError problem = check_parameters(*command);
      if (problem.is_set) return reply(syntax_failure(problem, command->text));
    }
    return reply(refusal(std::string(spec.verb) + " " + std::string(spec.object), spec.refused));
  }
  switch (spec.kind) {
    case CommandKind::kDefineObject:
      return run_define(context, std::move(command), std::move(reply));
    case CommandKind::kAlterObject:
    case CommandKind::kAlterQmgr:
      return run_alter(context, std::move(command), std::move(reply));
    case CommandKind::kDeleteObject:
      return run_delete(context, std::move(command), std::move(reply));
    case CommandKind::kDisplayObject:
    case CommandKind::kDisplayQueue:
    case CommandKind::kDisplayQmgr:
      return run_display_object(context, std::move(command), std::move(reply));
    case CommandKind::kClearQlocal:
    case CommandKind::kClearTopicstr:
    case CommandKind::kMoveQlocal:
      return run_messages(context, std::move(command), std::move(reply));
    case CommandKind::kSetAuthrec:
    case CommandKind::kDeleteAuthrec:
    case CommandKind::kDisplayAuthrec:
    case CommandKind::kDisplayEntauth:
      return run_authority(context, std::move(command), std::move(reply));
    case CommandKind::kSetChlauth:
    case CommandKind::kDisplayChlauth:
      return run_channel_auth(context, std::move(command), std::move(reply));
    case CommandKind::kDisplayQstatus:
    case CommandKind::kDisplayConn:
    case CommandKind::kDisplayChstatus:
    case CommandKind::kDisplayLsstatus:
    case CommandKind::kDisplaySvstatus:
    case CommandKind::kDisplayQmstatus:
    case CommandKind::kDisplayTpstatus:
    case CommandKind::kDisplaySbstatus:
    case CommandKind::kDisplayPubsub:
      return run_status(context, std::move(command), std::move(reply));
    default:
      return run_control(context, std::move(command), std::move(reply));
  }
}

}  // namespace millstream::queue::mqsc
