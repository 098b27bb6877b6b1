// millstream start, stop: the message flows of a running server.
#include <cstdio>
#include <string>
#include <vector>

#include "cli/admin_client.h"
#include "cli/commands.h"
#include "http/url.h"

namespace millstream::cli {
namespace {

using base::json::Value;

struct FoundFlow {
  std::string application, flow, uri;
};

// The flows a word means: a name, one without its broker schema, or all with an empty one.
std::vector<FoundFlow> find_flows(const Value& server, std::string_view application,
                                  std::string_view flow) {
  std::vector<FoundFlow> found;
  for (const char* member : {"applications", "restApis", "services"}) {
    for (const Value& a : server.get("children").get(member).get("children").items()) {
      const std::string& name = a.get("name").as_string();
      if (!application.empty() && name != application) continue;
      for (const Value& f : a.get("children").get("messageFlows").get("children").items()) {
        const std::string& full = f.get("name").as_string();
        const bool is_meant = flow.empty() || full == flow ||
                              (full.size() > flow.size() && full.ends_with(flow) &&
                               full[full.size() - flow.size() - 1] == '.');
        if (is_meant) found.push_back({name, full, f.get("uri").as_string()});
      }
    }
  }
  return found;
}

int change_flow(const base::ParsedFlags& flags, const char* action, const char* done) {
  const std::optional<AdminTarget> target = open_admin(flags);
  if (!target) return 1;
  const std::string& url = target->url;
  const std::string flow = flags.arguments().empty() ? "" : flags.arguments()[0];
  const std::string_view application = flags.text("application");
  if (flow.empty() && application.empty()) {
    std::fprintf(stderr, "Give a FLOW, or --application NAME for all flows of an application.\n");
    return 2;
  }
  const Result<AdminAnswer> server =
      ask_admin(*target, {.method = "GET", .path = "/apiv2?depth=5"});
  if (!server.ok() || server.value().status != 200) return print_admin_failure(server, url);
  const std::vector<FoundFlow> found = find_flows(server.value().json, application, flow);
  if (found.empty()) {
    std::fprintf(stderr, "There is no such flow in the server at %.*s.\n",
                 static_cast<int>(url.size()), url.data());
    return 1;
  }
  if (!flow.empty() && found.size() > 1) {
    std::fprintf(stderr,
                 "Several applications have a flow of this name; choose one with "
                 "--application:\n");
    for (const FoundFlow& f : found) {
      std::fprintf(stderr, "  %s/%s\n", f.application.c_str(), f.flow.c_str());
    }
    return 1;
  }
  for (const FoundFlow& f : found) {
    const Result<AdminAnswer> answer =
        ask_admin(*target, {.method = "POST", .path = f.uri + "/" + action});
    if (!answer.ok() || answer.value().status != 200) return print_admin_failure(answer, url);
    std::printf("%s: %s/%s\n", done, f.application.c_str(), f.flow.c_str());
  }
  return 0;
}

base::FlagSpec application_flag() {
  return {.name = "application",
          .value_name = "NAME",
          .help = "Application of the flow; without FLOW, all of its flows are meant."};
}

}  // namespace

const base::CommandSpec& start_command() {
  static const base::CommandSpec kSpec{
      .name = "start",
      .arguments = "[FLOW]",
      .summary = "Start a message flow of a running server.",
      .arguments_min = 0,
      .arguments_max = 1,
      .flags = with_admin_flags({application_flag()}),
      .examples = {{"millstream start OrderFlow", "the flow of this name, whatever application"},
                   {"millstream start --application Orders", "all flows of an application"}}};
  return kSpec;
}

int run_start(const base::ParsedFlags& flags) { return change_flow(flags, "start", "Started"); }

const base::CommandSpec& stop_command() {
  static const base::CommandSpec kSpec{
      .name = "stop",
      .arguments = "[FLOW]",
      .summary = "Stop a message flow of a running server.",
      .description =
          "It takes no more messages; those it has are finished. It stays stopped when "
          "its application is deployed again, and runs when the server starts anew.",
      .arguments_min = 0,
      .arguments_max = 1,
      .flags = with_admin_flags({application_flag()}),
      .examples = {{"millstream stop OrderFlow --application Orders", "one flow"}}};
  return kSpec;
}

int run_stop(const base::ParsedFlags& flags) { return change_flow(flags, "stop", "Stopped"); }

}  // namespace millstream::cli
