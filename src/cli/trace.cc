// millstream trace: the way of the next messages through a flow, or its user trace on and off.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "cli/admin_client.h"
#include "cli/commands.h"
#include "http/url.h"

namespace millstream::cli {
namespace {

using base::json::Value;

constexpr useconds_t kPollUs = 150'000;

volatile std::sig_atomic_t g_is_interrupted = 0;

void indent(const std::string& text, int blanks) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::printf("%*s%s\n", blanks, "", text.substr(at, end - at).c_str());
    at = end + 1;
  }
}

// Prints the steps of messages, one message after the other; those of a message that runs beside
// the one that is being printed wait. A tree that is as it was before is not shown again.
class StepPrinter {
 public:
  void add(const Value& step) {
    waiting_[step.get("message").as_integer()].push_back(step);
    while (true) {
      const auto it = waiting_.find(current_);
      if (it == waiting_.end()) return;
      bool has_ended = false;
      for (const Value& s : it->second) {
        print(s);
        has_ended |= s.get("kind").as_string() == "end";
      }
      it->second.clear();
      if (!has_ended) return;
      waiting_.erase(it);
      ++current_;
    }
  }
  void print_rest() {
    for (const auto& [message, steps] : waiting_) {
      for (const Value& s : steps) print(s);
    }
  }

 private:
  void print(const Value& step) {
    const std::string& kind = step.get("kind").as_string();
    const auto depth = static_cast<int>(step.get("depth").as_integer());
    const std::string node = step.get("node").as_string();
    const std::string& type = step.get("type").as_string();
    std::string head;
    if (kind == "begin") {
      head = "message " + std::to_string(step.get("message").as_integer()) + ": " +
             step.get("application").as_string() + "/" + step.get("flow").as_string() + ", " +
             std::to_string(step.get("bytes").as_integer()) + " bytes, from " + node + " (" + type +
             ")";
      before_.clear();
    } else if (kind == "enter") {
      head = "> " + node + " (" + type + ")";
    } else if (kind == "leave") {
      char times[80];
      std::snprintf(times, sizeof times, " in %.1f us, CPU %.1f us",
                    step.get("elapsedUs").as_double(), step.get("cpuUs").as_double());
      head = "< " + node + times;
    } else if (kind == "propagate") {
      head = node + "." + step.get("terminal").as_string() + " ->";
    } else if (kind == "line") {
      head = step.get("text").as_string();
    } else {
      head = "end of message " + std::to_string(step.get("message").as_integer());
    }
    std::printf("%10.1f us  %*s%s\n", step.get("atUs").as_double(), 2 * depth, "", head.c_str());
    const Value& exception = step.get("exception");
    if (!exception.is_null()) indent(exception.as_string(), 15 + 2 * depth);
    print_trees(step.get("trees"), 15 + 2 * depth);
  }

  void print_trees(const Value& trees, int blanks) {
    for (const base::json::Member& m : trees.members()) {
      const std::string& text = m.value.as_string();
      std::string& before = before_[m.name];
      if (before == text) continue;
      // An empty tree says nothing unless it had something before.
      if (before.empty() && text.find('\n') + 1 >= text.rfind(")\n")) continue;
      before = text;
      indent(text, blanks);
    }
  }
  std::map<int64_t, std::vector<Value>> waiting_;
  int64_t current_ = 1;
  std::map<std::string, std::string> before_;
};

int switch_user_trace(const base::ParsedFlags& flags, const std::optional<AdminTarget>& target) {
  const std::string& url = target->url;
  const std::string& flow = flags.arguments()[0];
  const std::string word = flags.arguments().size() > 1 ? flags.arguments()[1] : "on";
  if (word != "on" && word != "off") {
    std::fprintf(stderr, "Say on or off behind the flow, not '%s'.\n", word.c_str());
    return 2;
  }
  Result<AdminAnswer> found = ask_admin(
      *target,
      {.method = "GET", .path = "/apiv2/statistics/flows?flow=" + http::percent_encode(flow)});
  if (!found.ok() || found.value().status != 200) return print_admin_failure(found, url);
  const Value& first = found.value().json.get("flows").items().at(0);
  Result<AdminAnswer> done = ask_admin(
      *target,
      {.method = "POST",
       .path = "/apiv2/applications/" + http::percent_encode(first.get("application").as_string()) +
               "/messageflows/" + http::percent_encode(first.get("flow").as_string()) +
               (word == "on" ? "/start-user-trace" : "/stop-user-trace")});
  if (!done.ok() || done.value().status != 200) return print_admin_failure(done, url);
  std::printf("User trace of %s/%s is %s: %s\n", first.get("application").as_string().c_str(),
              first.get("flow").as_string().c_str(), word.c_str(),
              done.value().json.get("userTraceFile").as_string().c_str());
  return 0;
}

}  // namespace

const base::CommandSpec& trace_command() {
  static const base::CommandSpec kSpec{
      .name = "trace",
      .arguments = "FLOW [on|off]",
      .summary = "Show the trees at each node for the next messages of a flow.",
      .description =
          "Waits for messages and prints what each node gets, as a Trace node would, with times "
          "and exceptions. Nothing is written on the server and nothing is left on. With "
          "--user-trace it switches the user trace of the flow instead, which goes to a file in "
          "the work "
          "directory.",
      .arguments_min = 1,
      .arguments_max = 2,
      .flags = with_admin_flags(
          {{.name = "count",
            .value_name = "N",
            .help = "Messages to show.",
            .kind = base::FlagKind::kInteger,
            .default_text = "1",
            .integer_min = 1,
            .integer_max = 1000},
           {.name = "esql",
            .help = "Show the statements and expressions of ESQL too.",
            .kind = base::FlagKind::kSwitch},
           {.name = "trees",
            .help = "Show the trees, as it does unless told otherwise with --no-trees.",
            .kind = base::FlagKind::kSwitch},
           {.name = "json",
            .help = "Print each step as one line of JSON.",
            .kind = base::FlagKind::kSwitch},
           {.name = "user-trace",
            .help = "Switch the user trace of the flow on or off.",
            .kind = base::FlagKind::kSwitch}}),
      .examples = {{"millstream trace Orders", "the next message, tree by tree"},
                   {"millstream trace Orders --count 5 --no-trees --esql", "five, statements only"},
                   {"millstream trace --user-trace Orders on", "user trace into a file"}}};
  return kSpec;
}

int run_trace(const base::ParsedFlags& flags) {
  const std::optional<AdminTarget> target = open_admin(flags);
  if (!target) return 1;
  const std::string& url = target->url;
  if (flags.is_on("user-trace")) return switch_user_trace(flags, target);
  std::string path = "/apiv2/message-traces?flow=" + http::percent_encode(flags.arguments()[0]) +
                     "&count=" + std::to_string(flags.integer("count"));
  if (flags.is_on("esql")) path += "&esql=true";
  if (flags.has("trees") && !flags.is_on("trees")) path += "&trees=false";
  Result<AdminAnswer> started = ask_admin(*target, {.method = "POST", .path = path});
  if (!started.ok() || started.value().status != 201) return print_admin_failure(started, url);
  const std::string uri = started.value().json.get("uri").as_string();
  if (!flags.is_on("json")) {
    std::fprintf(stderr, "Waiting for messages of %s/%s; Ctrl-C ends.\n",
                 started.value().json.get("application").as_string().c_str(),
                 started.value().json.get("flow").as_string().c_str());
  }
  std::signal(SIGINT, [](int) { g_is_interrupted = 1; });
  StepPrinter printer;
  while (!g_is_interrupted) {
    Result<AdminAnswer> answer = ask_admin(*target, {.method = "GET", .path = uri});
    if (!answer.ok() || answer.value().status != 200) return print_admin_failure(answer, url);
    const Value& reply = answer.value().json;
    for (const Value& step : reply.get("steps").items()) {
      if (flags.is_on("json")) {
        std::printf("%s\n", base::json::write(step).c_str());
      } else {
        printer.add(step);
      }
    }
    const int64_t dropped = reply.get("dropped").as_integer();
    if (dropped > 0) {
      std::fprintf(stderr, "%lld steps were too many to keep.\n", static_cast<long long>(dropped));
    }
    std::fflush(stdout);
    if (reply.get("isDone").as_bool()) {
      printer.print_rest();
      return 0;
    }
    ::usleep(kPollUs);
  }
  (void)ask_admin(*target, {.method = "DELETE", .path = uri});
  return 0;
}

}  // namespace millstream::cli
