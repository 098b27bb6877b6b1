// DISPLAY of status: QSTATUS, CONN, CHSTATUS, LSSTATUS, SVSTATUS, QMSTATUS, TPSTATUS, SBSTATUS and
// PUBSUB.
#include <algorithm>

#include "mqi/reasons.h"
#include "queue/mqsc/display.h"
#include "queue/mqsc/messages.h"
#include "queue/mqsc/status_rows.h"
#include "queue/objects/object_name.h"

namespace millstream::queue::mqsc {
namespace {

bool is_status_number(std::string_view keyword) {
  static constexpr std::string_view kNumbers[] = {
      "CURDEPTH", "CURFSIZE", "IPPROCS",  "OPPROCS",  "MSGAGE",   "PID",      "TID",
      "BUFSRCVD", "BUFSSENT", "BYTSRCVD", "BYTSSENT", "CURSHCNV", "HBINT",    "MAXSHCNV",
      "MSGS",     "PORT",     "BACKLOG",  "CHKPTOPS", "CONNS",    "LOGINUSE", "PUBCOUNT",
      "SUBCOUNT", "NUMMSGS",  "TPCOUNT",  "CURMAXFS"};
  return std::find(std::begin(kNumbers), std::end(kNumbers), keyword) != std::end(kNumbers);
}

std::string choice_of(const Command& command, std::string_view keyword,
                      std::string_view otherwise) {
  const Clause* clause = command.find(keyword);
  return clause && clause->has_values ? clause->value() : std::string(otherwise);
}

void append_queue_rows(const objects::AdminTarget& target, const Command& command,
                       std::vector<Row>& out) {
  const std::string& pattern = command.name.text;
  if (choice_of(command, "TYPE", "QUEUE") == "QUEUE") {
    for (const objects::QueueStatus& s : target.queue_status(pattern)) {
      out.push_back(queue_row(s));
    }
    return;
  }
  std::string open_type = choice_of(command, "OPENTYPE", "ALL");
  for (const objects::ConnectionStatus& connection : target.connections()) {
    for (const objects::HandleStatus& handle : connection.handles) {
      bool is_input = handle.input != objects::HandleInput::kNo || handle.is_browse;
      if (handle.family != objects::ObjectFamily::kQueue) continue;
      if (!objects::matches_generic(pattern, handle.object)) continue;
      if (open_type == "INPUT" && !is_input) continue;
      if (open_type == "OUTPUT" && !handle.is_output) continue;
      out.push_back(queue_handle_row(connection, handle));
    }
  }
}

void append_connection_rows(const objects::AdminTarget& target, const Command& command,
                            std::vector<Row>& out) {
  std::string type = choice_of(command, "TYPE", "CONN");
  std::string extended = choice_of(command, "EXTCONN", "");
  for (const objects::ConnectionStatus& connection : target.connections()) {
    Row row = connection_row(connection);
    if (!objects::matches_generic(command.name.text, row.fields[0].value)) continue;
    if (!extended.empty() && !objects::matches_generic(extended, row.fields[1].value)) continue;
    if (type != "HANDLE") out.push_back(row);
    if (type == "CONN") continue;
    for (const objects::HandleStatus& handle : connection.handles) {
      out.push_back(connection_handle_row(row, handle));
    }
  }
}

void append_subscription_rows(const objects::AdminTarget& target, const Command& command,
                              std::vector<Row>& out) {
  std::string id = choice_of(command, "SUBID", "");
  for (const objects::SubscriptionStatus& s : target.subscription_status(command.name.text)) {
    Row row = subscription_row(s);
    if (id.empty() || row.fields[1].value == id) out.push_back(std::move(row));
  }
}

void append_topic_rows(const objects::AdminTarget& target, const Command& command,
                       std::vector<Row>& out) {
  std::string type = choice_of(command, "TYPE", "TOPIC");
  for (const objects::TopicStatus& status : target.topic_status(command.name.text)) {
    if (type == "TOPIC") {
      out.push_back(topic_row(status));
      continue;
    }
    if (type == "PUB") continue;  // publishers are connections; none is kept by topic
    for (const objects::SubscriptionStatus& s : target.subscription_status("*")) {
      if (s.topic == status.topic) out.push_back(topic_subscription_row(s));
    }
  }
}

// The rows, and how many fields of each always stay.
std::vector<Row> status_rows(const objects::AdminTarget& target, const Command& command,
                             size_t& keys) {
  std::vector<Row> out;
  const std::string& pattern = command.name.text;
  switch (command.spec->kind) {
    case CommandKind::kDisplayQstatus:
      keys = 2;
      append_queue_rows(target, command, out);
      break;
    case CommandKind::kDisplayConn:
      keys = 3;
      append_connection_rows(target, command, out);
      break;
    case CommandKind::kDisplayChstatus:
      keys = 2;
      if (command.find("SAVED")) break;
      for (const auto& s : target.channel_status(pattern)) out.push_back(channel_row(s));
      break;
    case CommandKind::kDisplayLsstatus:
      keys = 2;
      for (const auto& s : target.listener_status(pattern)) out.push_back(listener_row(s));
      break;
    case CommandKind::kDisplaySvstatus:
      keys = 2;
      for (const auto& s : target.service_status(pattern)) out.push_back(service_row(s));
      break;
    case CommandKind::kDisplayQmstatus:
      keys = 2;
      out.push_back(manager_row(target.manager_name(), target.manager_status()));
      break;
    case CommandKind::kDisplayTpstatus:
      keys = 2;
      append_topic_rows(target, command, out);
      break;
    case CommandKind::kDisplaySbstatus:
      keys = 2;
      append_subscription_rows(target, command, out);
      break;
    default:
      keys = 2;
      out.push_back(publish_row(target.manager_name(), target.publish_status()));
      break;
  }
  return out;
}

std::string_view status_title(CommandKind kind) {
  switch (kind) {
    case CommandKind::kDisplayQstatus:
      return "AMQ8450I: Display queue status details.";
    case CommandKind::kDisplayConn:
      return "AMQ8276I: Display Connection details.";
    case CommandKind::kDisplayChstatus:
      return "AMQ8417I: Display Channel Status details.";
    case CommandKind::kDisplayLsstatus:
      return "AMQ8631I: Display listener status details.";
    case CommandKind::kDisplaySvstatus:
      return "AMQ8632I: Display service status details.";
    case CommandKind::kDisplayQmstatus:
      return "AMQ8705I: Display Queue Manager Status Details.";
    case CommandKind::kDisplayTpstatus:
      return "AMQ8754I: Display topic status details.";
    case CommandKind::kDisplaySbstatus:
      return "AMQ8099I: Subscription status inquired.";
    default:
      return "AMQ8723I: Display pub/sub status details.";
  }
}

CommandResponse nothing_found(const objects::AdminTarget& target, const Command& command) {
  CommandKind kind = command.spec->kind;
  const std::string& name = command.name.text;
  if (kind == CommandKind::kDisplayChstatus) {
    return failure(objects::AdminResult::failed(objects::reason::kChannelStatusNotFound), name);
  }
  if (kind == CommandKind::kDisplayConn) {
    CommandResponse out = not_found(name);
    out.messages = {"AMQ8461I: Connection identifier " + name + " not found."};
    return out;
  }
  if (kind == CommandKind::kDisplayQstatus && !objects::is_generic(name) &&
      target.catalogue().find(objects::ObjectFamily::kQueue, name)) {
    CommandResponse out = not_found(name);
    out.reason = objects::reason::kNothingFound;
    out.messages = {"AMQ8565I: No matching status of queue " + name + "."};
    return out;
  }
  return not_found(name);
}

}  // namespace

void run_status(const RunContext& context, CommandPtr command, Reply reply) {
  DisplayRequest request;
  SyntaxError problem;
  DisplayResolver resolve = [&](const std::string& keyword) -> std::optional<DisplayAttribute> {
    for (std::string_view known : command->spec->attributes) {
      if (known != keyword) continue;
      return DisplayAttribute{keyword, is_status_number(keyword), {}};
    }
    return std::nullopt;
  };
  SyntaxError shape = check_parameters(*command, [&](const Clause& clause) {
    if (problem.is_set) return true;
    // CURRENT is a parameter of CHSTATUS and an attribute; PUB and SUB with a value are neither.
    return read_display_clause(clause, resolve, request, problem);
  });
  if (problem.is_set || shape.is_set) {
    return reply(syntax_failure(problem.is_set ? problem : shape, command->text));
  }
  if (command->spec->kind == CommandKind::kDisplayChstatus) {
    std::erase(request.keywords, "CURRENT");
  }
  if (context.options.is_verify_only) return reply(CommandResponse());
  size_t keys = 1;
  std::vector<Row> rows = status_rows(context.target, *command, keys);
  CommandResponse response;
  response.title = status_title(command->spec->kind);
  for (const Row& row : rows) {
    if (!request.matches(row)) continue;
    response.rows.push_back(request.select(row, keys, command->spec->shown));
  }
  if (response.rows.empty()) return reply(nothing_found(context.target, *command));
  reply(std::move(response));
}

}  // namespace millstream::queue::mqsc
