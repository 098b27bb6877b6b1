// START, STOP, RESET, RESOLVE, PING and REFRESH.
#include <charconv>

#include "mqi/reasons.h"
#include "queue/mqsc/command.h"
#include "queue/mqsc/messages.h"

namespace millstream::queue::mqsc {
namespace {

using objects::ControlObject;
using objects::ControlRequest;
using objects::ControlVerb;

struct ControlRow {
  CommandKind kind;
  ControlVerb verb;
  ControlObject object;
  std::string_view done;  // what is said when it worked
};
constexpr ControlRow kControls[] = {
    {CommandKind::kPingQmgr, ControlVerb::kPing, ControlObject::kManager,
     "AMQ8415I: Ping Queue Manager command complete."},
    {CommandKind::kPingChannel, ControlVerb::kPing, ControlObject::kChannel,
     "AMQ8020I: Ping channel complete."},
    {CommandKind::kRefreshSecurity, ControlVerb::kRefresh, ControlObject::kSecurity,
     "AMQ8560I: Security cache refreshed."},
    {CommandKind::kRefreshQmgr, ControlVerb::kRefresh, ControlObject::kManager,
     "AMQ8561I: Queue manager refreshed."},
    {CommandKind::kResetQmgr, ControlVerb::kReset, ControlObject::kManager,
     "AMQ8562I: Queue manager reset."},
    {CommandKind::kResetChannel, ControlVerb::kReset, ControlObject::kChannel,
     "AMQ8023I: Channel reset."},
    {CommandKind::kResolveChannel, ControlVerb::kResolve, ControlObject::kChannel,
     "AMQ8025I: Channel resolved."},
    {CommandKind::kStartChannel, ControlVerb::kStart, ControlObject::kChannel,
     "AMQ8018I: Start channel accepted."},
    {CommandKind::kStopChannel, ControlVerb::kStop, ControlObject::kChannel,
     "AMQ8019I: Stop channel accepted."},
    {CommandKind::kStartListener, ControlVerb::kStart, ControlObject::kListener,
     "AMQ8021I: Request to start listener accepted."},
    {CommandKind::kStopListener, ControlVerb::kStop, ControlObject::kListener,
     "AMQ8706I: Request to stop listener accepted."},
    {CommandKind::kStartService, ControlVerb::kStart, ControlObject::kService,
     "AMQ8733I: Request to start service accepted."},
    {CommandKind::kStopService, ControlVerb::kStop, ControlObject::kService,
     "AMQ8735I: Request to stop service accepted."},
    {CommandKind::kStopConn, ControlVerb::kStop, ControlObject::kConnection,
     "AMQ8457I: Connection stopped."},
};

const ControlRow* find_control(CommandKind kind) {
  for (const ControlRow& row : kControls) {
    if (row.kind == kind) return &row;
  }
  return nullptr;
}

std::string value_of(const Command& command, std::string_view keyword) {
  const Clause* clause = command.find(keyword);
  return clause && clause->has_values ? clause->value() : std::string();
}

int64_t number_of(const Command& command, std::string_view keyword) {
  std::string text = value_of(command, keyword);
  int64_t out = -1;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// CONN(16 digits) EXTCONN(32 digits): the 24 bytes; without EXTCONN the last 8.
SyntaxError read_connection(const Command& command, std::string& out) {
  std::string digits = value_of(command, "EXTCONN") + command.name.text;
  bool is_valid = command.name.text.size() == 16 && (digits.size() == 16 || digits.size() == 48);
  for (size_t i = 0; is_valid && i < digits.size(); i += 2) {
    int high = hex_digit(digits[i]), low = hex_digit(digits[i + 1]);
    is_valid = high >= 0 && low >= 0;
    out += static_cast<char>(high * 16 + low);
  }
  if (is_valid) return {};
  return syntax_error(command.name, "That is no connection identifier.", "AMQ8460E");
}

SyntaxError check_control(const Command& command) {
  SyntaxError problem = check_parameters(command);
  if (problem.is_set) return problem;
  CommandKind kind = command.spec->kind;
  bool needs_type = kind == CommandKind::kRefreshQmgr || kind == CommandKind::kResetQmgr;
  Word after = whole_word(command.text);
  if (needs_type && !command.find("TYPE")) return syntax_error(after, "TYPE is missing.");
  if (kind == CommandKind::kResolveChannel && !command.find("ACTION")) {
    return syntax_error(after, "ACTION is missing.");
  }
  return {};
}

}  // namespace

void run_control(const RunContext& context, CommandPtr command, Reply reply) {
  const CommandSpec& spec = *command->spec;
  SyntaxError problem = check_control(*command);
  ControlRequest request;
  request.name = command->name.text;
  if (!problem.is_set && spec.kind == CommandKind::kStopConn) {
    request.name.clear();
    problem = read_connection(*command, request.name);
  }
  if (problem.is_set) return reply(syntax_failure(problem, command->text));
  if (context.options.is_verify_only) return reply(CommandResponse());
  const ControlRow* row = find_control(spec.kind);
  if (!row) {
    // What starts and stops with the server itself.
    if (spec.verb == "START") return reply(success("AMQ8024I: Started with the server already."));
    return reply(refusal(std::string(spec.verb) + " " + std::string(spec.object),
                         "It belongs to the server and stops with it."));
  }
  request.verb = row->verb;
  request.object = row->object;
  request.mode = value_of(*command, "MODE");
  request.status = value_of(*command, "STATUS");
  request.type = value_of(*command, "TYPE");
  request.action = value_of(*command, "ACTION");
  request.address = value_of(*command, "CONNAME");
  request.manager = value_of(*command, "QMNAME");
  request.sequence = number_of(*command, "SEQNUM");
  request.data_bytes = number_of(*command, "DATALEN");
  request.ignores_state = value_of(*command, "IGNSTATE") == "YES";
  std::string what = std::string(spec.verb) + " " + std::string(spec.object);
  bool is_channel = row->object == ControlObject::kChannel;
  std::string name = command->name.text;
  if (row->object == ControlObject::kListener &&
      !context.target.catalogue().find(objects::ObjectFamily::kListener, name)) {
    return reply(
        failure(objects::AdminResult::failed(mqi::reason::kUnknownObjectName, {name}), name));
  }
  context.target.control(std::move(request), [reply, row, what, name,
                                              is_channel](objects::AdminResult result) {
    if (result.ok()) return reply(success(row->done));
    // A listener may be defined before there is anything that can serve its port: scripts that
    // start it go on.
    if (result.reason == objects::reason::kUnsupported && row->object == ControlObject::kListener) {
      CommandResponse warning = success("MS2577W: Listener " + name +
                                        " is defined, but nothing serves it in this process.");
      warning.completion = 1;
      warning.reason = result.reason;
      return reply(std::move(warning));
    }
    if (result.reason == objects::reason::kUnsupported) {
      std::string why = result.inserts.empty() ? "" : result.inserts.back();
      return reply(refusal(what, why));
    }
    CommandResponse response = failure(result, name, is_channel);
    // What is to be stopped and does not run is as it was wanted.
    bool is_stopped =
        row->verb == ControlVerb::kStop && (result.reason == objects::reason::kListenerNotRunning ||
                                            result.reason == objects::reason::kServiceNotRunning);
    if (is_stopped) response.completion = 1;
    reply(std::move(response));
  });
}

}  // namespace millstream::queue::mqsc
