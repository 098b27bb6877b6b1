// SET and DISPLAY CHLAUTH.
#include "mqi/reasons.h"
#include "queue/mqsc/display.h"
#include "queue/mqsc/messages.h"
#include "queue/objects/object_name.h"

namespace millstream::queue::mqsc {
namespace {

using objects::ChannelAuthRule;
using objects::ChannelAuthType;
using objects::UserSource;

std::string text_of(const Command& command, std::string_view keyword) {
  const Clause* clause = command.find(keyword);
  if (!clause || !clause->has_values) return "";
  std::string out = clause->value();
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::vector<std::string> list_of(const Command& command, std::string_view keyword) {
  std::vector<std::string> out;
  const Clause* clause = command.find(keyword);
  if (!clause) return out;
  for (const Word& word : clause->values) out.push_back(word.text);
  return out;
}

bool find_type(std::string_view name, ChannelAuthType& out) {
  for (int n = 1; n <= 6; ++n) {
    auto type = static_cast<ChannelAuthType>(n);
    if (objects::channel_auth_type_name(type) != name) continue;
    out = type;
    return true;
  }
  return false;
}

ChannelAuthRule read_rule(const Command& command) {
  ChannelAuthRule out;
  out.profile = command.name.text;
  find_type(text_of(command, "TYPE"), out.type);
  out.address = text_of(command, "ADDRESS");
  out.client_user = text_of(command, "CLNTUSER");
  out.manager = text_of(command, "QMNAME");
  out.ssl_peer = text_of(command, "SSLPEER");
  out.ssl_issuer = text_of(command, "SSLCERTI");
  out.address_list = list_of(command, "ADDRLIST");
  out.user_list = list_of(command, "USERLIST");
  std::string source = text_of(command, "USERSRC");
  out.source = source == "NOACCESS"  ? UserSource::kNoAccess
               : source == "CHANNEL" ? UserSource::kChannel
                                     : UserSource::kMap;
  out.agent_user = text_of(command, "MCAUSER");
  std::string check = text_of(command, "CHCKCLNT");
  out.check = check == "REQUIRED"  ? objects::ChannelCheck::kRequired
              : check == "REQDADM" ? objects::ChannelCheck::kReqdAdm
                                   : objects::ChannelCheck::kAsQmgr;
  out.is_warning = text_of(command, "WARN") == "YES";
  out.description = text_of(command, "DESCR");
  out.custom = text_of(command, "CUSTOM");
  return out;
}

// Which parameter a type needs, besides USERSRC.
std::string_view filter_keyword(ChannelAuthType type) {
  switch (type) {
    case ChannelAuthType::kBlockUser:
      return "USERLIST";
    case ChannelAuthType::kBlockAddr:
      return "ADDRLIST";
    case ChannelAuthType::kSslPeerMap:
      return "SSLPEER";
    case ChannelAuthType::kAddressMap:
      return "ADDRESS";
    case ChannelAuthType::kUserMap:
      return "CLNTUSER";
    case ChannelAuthType::kQmgrMap:
      return "QMNAME";
  }
  return "";
}

bool is_parameter_of(ChannelAuthType type, std::string_view keyword) {
  static constexpr std::string_view kCommon[] = {"TYPE", "DESCR", "CUSTOM", "ACTION", "WARN"};
  for (std::string_view common : kCommon) {
    if (common == keyword) return true;
  }
  bool is_block = type == ChannelAuthType::kBlockUser || type == ChannelAuthType::kBlockAddr;
  if (keyword == filter_keyword(type)) return true;
  if (is_block) return false;
  if (keyword == "USERSRC" || keyword == "MCAUSER" || keyword == "CHCKCLNT") return true;
  if (keyword == "SSLCERTI") return type == ChannelAuthType::kSslPeerMap;
  return keyword == "ADDRESS";
}

SyntaxError check_rule(const Command& command, const ChannelAuthRule& rule,
                       const std::string& action) {
  const Clause* type = command.find("TYPE");
  if (!type) return syntax_error(whole_word(command.text), "TYPE is missing.");
  for (const Clause& clause : command.clauses) {
    if (is_parameter_of(rule.type, clause.keyword.text)) continue;
    return syntax_error(clause.keyword,
                        clause.keyword.text + " is not for TYPE(" + type->value() + ").");
  }
  if (rule.type == ChannelAuthType::kBlockAddr && rule.profile != "*") {
    return syntax_error(command.name, "BLOCKADDR is for all channels: the name is '*'.");
  }
  if (rule.description.size() > 64) {
    return syntax_error(command.find("DESCR")->values[0], "DESCR takes up to 64 characters.",
                        "AMQ8413E");
  }
  if (action == "REMOVEALL") return {};
  std::string_view filter = filter_keyword(rule.type);
  bool is_removing = action == "REMOVE";
  bool is_list = filter == "USERLIST" || filter == "ADDRLIST";
  if (!command.find(filter) && !(is_removing && is_list)) {
    return syntax_error(whole_word(command.text), std::string(filter) + " is missing.");
  }
  if (is_removing || is_list) return {};
  bool maps = rule.source == UserSource::kMap;
  if (maps && rule.agent_user.empty()) {
    return syntax_error(whole_word(command.text), "USERSRC(MAP) needs MCAUSER.");
  }
  if (!maps && !rule.agent_user.empty()) {
    return syntax_error(command.find("MCAUSER")->keyword, "MCAUSER is for USERSRC(MAP).");
  }
  return {};
}

CommandResponse no_rule(const std::string& profile) {
  CommandResponse out =
      failure(objects::AdminResult::failed(mqi::reason::kUnknownObjectName), profile);
  out.messages = {"AMQ8884E: No channel authentication record found."};
  return out;
}

// Erases one rule after the other.
struct EraseJob : std::enable_shared_from_this<EraseJob> {
  void step() {
    if (next == keys.size()) {
      return reply(success("AMQ8877I: Channel authentication record set."));
    }
    target->erase_channel_auth(keys[next++],
                               [self = shared_from_this()](objects::AdminResult result) {
                                 if (result.ok()) return self->step();
                                 result.inserts.clear();  // a key
                                 self->reply(failure(result, ""));
                               });
  }
  objects::AdminTarget* target = nullptr;
  std::vector<std::string> keys;
  size_t next = 0;
  Reply reply;
};

void erase_rules(const RunContext& context, const ChannelAuthRule& rule, bool is_all, Reply reply) {
  auto job = std::make_shared<EraseJob>();
  job->target = &context.target;
  for (const ChannelAuthRule& there : context.target.channel_auth().all()) {
    bool is_same = is_all ? there.profile == rule.profile && there.type == rule.type
                          : there.key() == rule.key();
    if (is_same) job->keys.push_back(there.key());
  }
  if (job->keys.empty() && !is_all) return reply(no_rule(rule.profile));
  job->reply = std::move(reply);
  job->step();
}

void set_rule(const RunContext& context, const Command& command, Reply reply) {
  ChannelAuthRule rule = read_rule(command);
  std::string action = text_of(command, "ACTION");
  SyntaxError problem = check_rule(command, rule, action);
  if (problem.is_set) return reply(syntax_failure(problem, command.text));
  if (context.options.is_verify_only) return reply(CommandResponse());
  if (action == "REMOVE" || action == "REMOVEALL") {
    return erase_rules(context, rule, action == "REMOVEALL", std::move(reply));
  }
  std::string profile = rule.profile;
  if (action != "REPLACE" && !context.options.is_definition_mode) {
    for (const ChannelAuthRule& there : context.target.channel_auth().all()) {
      if (there.key() != rule.key()) continue;
      bool is_list =
          rule.type == ChannelAuthType::kBlockUser || rule.type == ChannelAuthType::kBlockAddr;
      if (!is_list) {
        CommandResponse out =
            failure(objects::AdminResult::failed(mqi::reason::kObjectAlreadyExists), profile);
        out.messages = {"AMQ8883E: The channel authentication record exists already."};
        return reply(std::move(out));
      }
      // ADD to a list.
      for (const std::string& item : there.user_list) rule.user_list.push_back(item);
      for (const std::string& item : there.address_list) rule.address_list.push_back(item);
    }
  }
  context.target.set_channel_auth(std::move(rule), [reply, profile](objects::AdminResult result) {
    reply(result.ok() ? success("AMQ8877I: Channel authentication record set.")
                      : failure(result, profile));
  });
}

Row rule_row(const ChannelAuthRule& r) {
  Row row;
  row.fields = {text_field("CHLAUTH", r.profile),
                text_field("TYPE", std::string(objects::channel_auth_type_name(r.type))),
                text_field("DESCR", r.description), text_field("CUSTOM", r.custom)};
  if (r.type == ChannelAuthType::kBlockUser) {
    row.fields.push_back(list_field("USERLIST", r.user_list));
    row.fields.push_back(text_field("WARN", r.is_warning ? "YES" : "NO"));
  } else if (r.type == ChannelAuthType::kBlockAddr) {
    row.fields.push_back(list_field("ADDRLIST", r.address_list));
    row.fields.push_back(text_field("WARN", r.is_warning ? "YES" : "NO"));
  } else {
    if (r.type == ChannelAuthType::kSslPeerMap) {
      row.fields.push_back(text_field("SSLPEER", r.ssl_peer));
      row.fields.push_back(text_field("SSLCERTI", r.ssl_issuer));
    }
    if (r.type == ChannelAuthType::kQmgrMap) row.fields.push_back(text_field("QMNAME", r.manager));
    row.fields.push_back(text_field("ADDRESS", r.address));
    if (r.type == ChannelAuthType::kUserMap) {
      row.fields.push_back(text_field("CLNTUSER", r.client_user));
    }
    static constexpr std::string_view kSources[] = {"MAP", "NOACCESS", "CHANNEL"};
    static constexpr std::string_view kChecks[] = {"ASQMGR", "REQUIRED", "REQDADM"};
    row.fields.push_back(
        text_field("USERSRC", std::string(kSources[static_cast<size_t>(r.source) % 3])));
    if (r.source == UserSource::kMap) row.fields.push_back(text_field("MCAUSER", r.agent_user));
    if (r.source == UserSource::kNoAccess) {
      row.fields.push_back(text_field("WARN", r.is_warning ? "YES" : "NO"));
    } else {
      row.fields.push_back(
          text_field("CHCKCLNT", std::string(kChecks[static_cast<size_t>(r.check) % 3])));
    }
  }
  row.fields.push_back(date_field("ALTDATE", r.altered_gmt_ms));
  row.fields.push_back(time_field("ALTTIME", r.altered_gmt_ms));
  return row;
}

// MATCH(RUNCHECK): which rule would decide for such a connection.
void check_connection(const RunContext& context, const Command& command, Reply reply) {
  objects::ChannelCaller caller;
  caller.channel = command.name.text;
  caller.address = text_of(command, "ADDRESS");
  caller.client_user = text_of(command, "CLNTUSER");
  caller.manager = text_of(command, "QMNAME");
  caller.ssl_peer = text_of(command, "SSLPEER");
  caller.ssl_issuer = text_of(command, "SSLCERTI");
  if (caller.address.empty() || objects::is_generic(caller.channel)) {
    return reply(syntax_failure(
        syntax_error(whole_word(command.text), "MATCH(RUNCHECK) needs a channel name and ADDRESS."),
        command.text));
  }
  objects::ChannelDecision decision = context.target.channel_auth().decide(caller);
  CommandResponse response;
  response.title = "AMQ8878I: Display channel authentication record details.";
  for (const ChannelAuthRule& rule : context.target.channel_auth().all()) {
    if (!decision.rule.empty() && decision.key == rule.key()) {
      response.rows.push_back(rule_row(rule));
    }
  }
  if (response.rows.empty())
    response = success("AMQ9783I: Channel will run using MCAUSER('" + decision.user + "').");
  reply(std::move(response));
}

}  // namespace

void run_channel_auth(const RunContext& context, CommandPtr command, Reply reply) {
  bool is_display = command->spec->kind == CommandKind::kDisplayChlauth;
  DisplayRequest request;
  SyntaxError problem = check_record_parameters(*command, is_display, request);
  if (problem.is_set) return reply(syntax_failure(problem, command->text));
  if (!is_display) return set_rule(context, *command, std::move(reply));
  if (context.options.is_verify_only) return reply(CommandResponse());
  std::string match = text_of(*command, "MATCH");
  if (match == "RUNCHECK") return check_connection(context, *command, std::move(reply));
  std::string type = text_of(*command, "TYPE");
  CommandResponse response;
  response.title = "AMQ8878I: Display channel authentication record details.";
  for (const ChannelAuthRule& rule : context.target.channel_auth().all()) {
    const std::string& name = command->name.text;
    bool is_named = match == "EXACT" || match.empty()
                        ? objects::matches_generic(name, rule.profile)
                        : objects::matches_generic(name, rule.profile) ||
                              objects::matches_generic(rule.profile, name);
    bool is_type =
        type.empty() || type == "ALL" || type == objects::channel_auth_type_name(rule.type);
    if (!is_named || !is_type) continue;
    Row row = rule_row(rule);
    if (request.matches(row)) response.rows.push_back(request.select(row, 2, {}));
  }
  if (response.rows.empty()) return reply(no_rule(command->name.text));
  reply(std::move(response));
}

}  // namespace millstream::queue::mqsc
