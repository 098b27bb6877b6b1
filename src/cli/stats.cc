// millstream stats: what the flows of a running server do, as a table.
#include <unistd.h>

#include <algorithm>
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

struct FlowRow {
  std::string name;
  int64_t messages = 0, errors = 0, in_flight = 0, elapsed_us = 0, cpu_us = 0, bytes = 0;
  std::vector<int64_t> bounds_us, durations;
  Value nodes;

  // What happened after `before`.
  FlowRow since(const FlowRow& before) const {
    FlowRow out = *this;
    out.messages -= before.messages;
    out.errors -= before.errors;
    out.elapsed_us -= before.elapsed_us;
    out.cpu_us -= before.cpu_us;
    out.bytes -= before.bytes;
    for (size_t i = 0; i < out.durations.size() && i < before.durations.size(); ++i) {
      out.durations[i] -= before.durations[i];
    }
    // The flow was deployed anew and counts from the beginning.
    return out.messages < 0 ? *this : out;
  }
};

struct StatsSample {
  int64_t time_us = 0, start_us = 0;
  std::vector<FlowRow> flows;
};

StatsSample read_sample(const Value& reply) {
  StatsSample sample;
  sample.time_us = reply.get("time").as_integer();
  for (const Value& f : reply.get("flows").items()) {
    const Value& record = f.get("record").get("MessageFlow");
    FlowRow row;
    row.name = f.get("application").as_string() + "/" + f.get("flow").as_string();
    row.in_flight = f.get("inFlight").as_integer();
    row.messages = record.get("TotalInputMessages").as_integer();
    row.errors = record.get("TotalNumberOfErrorsProcessingMessages").as_integer();
    row.elapsed_us = record.get("TotalElapsedTime").as_integer();
    row.cpu_us = record.get("TotalCPUTime").as_integer();
    row.bytes = record.get("TotalSizeOfInputMessages").as_integer();
    for (const Value& v : f.get("durationBoundsUs").items())
      row.bounds_us.push_back(v.as_integer());
    for (const Value& v : f.get("durations").items()) row.durations.push_back(v.as_integer());
    row.nodes = f.get("record").get("Nodes");
    sample.flows.push_back(std::move(row));
  }
  return sample;
}

std::string duration_text(int64_t us) {
  char text[32];
  if (us < 1000) {
    std::snprintf(text, sizeof text, "%lld us", static_cast<long long>(us));
  } else if (us < 1'000'000) {
    std::snprintf(text, sizeof text, "%.3g ms", static_cast<double>(us) / 1e3);
  } else {
    std::snprintf(text, sizeof text, "%.3g s", static_cast<double>(us) / 1e6);
  }
  return text;
}

// The bound that so many of a hundred messages did not exceed.
std::string percentile(const FlowRow& row, int percent) {
  int64_t all = 0, below = 0;
  for (int64_t n : row.durations) all += n;
  if (all == 0) return "-";
  for (size_t i = 0; i < row.durations.size(); ++i) {
    below += row.durations[i];
    if (below * 100 < all * percent) continue;
    if (i < row.bounds_us.size()) return "<" + duration_text(row.bounds_us[i]);
    return ">" + duration_text(row.bounds_us.back());
  }
  return "-";
}

std::string mean(int64_t total_us, int64_t count) {
  return count > 0 ? duration_text(total_us / count) : "-";
}

void print_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      line += i == 0 ? row[i] + blanks : "  " + blanks + row[i];
    }
    std::printf("%s\n", line.c_str());
  }
}

void print_flows_table(const std::vector<FlowRow>& flows, double seconds) {
  std::vector<std::vector<std::string>> rows = {{"flow", "messages", seconds > 0 ? "per s" : "",
                                                 "errors", "in flight", "mean", "50 %", "95 %",
                                                 "99 %", "CPU", "MB in"}};
  for (const FlowRow& f : flows) {
    char rate[32] = "", megabytes[32];
    if (seconds > 0) {
      std::snprintf(rate, sizeof rate, "%.1f", static_cast<double>(f.messages) / seconds);
    }
    std::snprintf(megabytes, sizeof megabytes, "%.1f", static_cast<double>(f.bytes) / 1e6);
    rows.push_back({f.name, std::to_string(f.messages), rate, std::to_string(f.errors),
                    std::to_string(f.in_flight), mean(f.elapsed_us, f.messages), percentile(f, 50),
                    percentile(f, 95), percentile(f, 99), mean(f.cpu_us, f.messages), megabytes});
  }
  print_table(rows);
}

void print_nodes_table(const FlowRow& flow) {
  std::vector<std::vector<std::string>> rows = {
      {"node", "type", "messages", "mean", "max", "CPU", "terminals"}};
  for (const Value& n : flow.nodes.items()) {
    std::string terminals;
    for (const Value& t : n.get("TerminalStatistics").items()) {
      const int64_t count = t.get("CountOfInvocations").as_integer();
      if (t.get("Type").as_string() != "Output" || count == 0) continue;
      terminals += (terminals.empty() ? "" : ", ") + t.get("Label").as_string() + " " +
                   std::to_string(count);
    }
    const int64_t count = n.get("CountOfInvocations").as_integer();
    const int64_t elapsed = n.get("TotalElapsedTime").as_integer();
    const bool is_timed = elapsed > 0;
    rows.push_back({n.get("Label").as_string(), n.get("Type").as_string(), std::to_string(count),
                    is_timed ? mean(elapsed, count) : "-",
                    is_timed ? duration_text(n.get("MaximumElapsedTime").as_integer()) : "-",
                    is_timed ? mean(n.get("TotalCPUTime").as_integer(), count) : "-", terminals});
  }
  std::printf("\n");
  print_table(rows);
}

}  // namespace

const base::CommandSpec& stats_command() {
  static const base::CommandSpec kSpec{
      .name = "stats",
      .arguments = "[FLOW]",
      .summary = "Show what the flows of a running server do.",
      .description =
          "Counts are since the flow was deployed, with --watch those of each interval. "
          "FLOW is a flow's name, or APPLICATION/FLOW; its nodes are shown too. Nodes "
          "are timed while statistics with node data are collected.",
      .arguments_min = 0,
      .arguments_max = 1,
      .flags = with_admin_flags({{.name = "json",
                                  .help = "Print the statistics records as JSON.",
                                  .kind = base::FlagKind::kSwitch},
                                 {.name = "watch",
                                  .help = "Show it again and again, until Ctrl-C.",
                                  .kind = base::FlagKind::kSwitch},
                                 {.name = "interval",
                                  .value_name = "SECONDS",
                                  .help = "Time between two looks of --watch.",
                                  .kind = base::FlagKind::kInteger,
                                  .default_text = "2",
                                  .integer_min = 1,
                                  .integer_max = 3600}}),
      .examples = {{"millstream stats", "all flows of the server on this machine"},
                   {"millstream stats Orders --watch", "one flow and its nodes, every 2 seconds"}}};
  return kSpec;
}

int run_stats(const base::ParsedFlags& flags) {
  const std::optional<AdminTarget> target = open_admin(flags);
  if (!target) return 1;
  const std::string& url = target->url;
  AdminCall call;
  call.method = "GET";
  call.path = "/apiv2/statistics/flows";
  const bool has_flow = !flags.arguments().empty();
  if (has_flow) call.path += "?flow=" + http::percent_encode(flags.arguments()[0]);
  std::map<std::string, FlowRow> before;
  int64_t time_before_us = 0;
  while (true) {
    Result<AdminAnswer> answer = ask_admin(*target, call);
    if (!answer.ok() || answer.value().status != 200) return print_admin_failure(answer, url);
    if (flags.is_on("json")) {
      std::printf("%s\n", answer.value().body.c_str());
    } else {
      const StatsSample sample = read_sample(answer.value().json);
      std::vector<FlowRow> shown = sample.flows;
      double seconds = 0;
      if (time_before_us) {
        seconds = static_cast<double>(sample.time_us - time_before_us) / 1e6;
        for (FlowRow& f : shown) {
          if (auto it = before.find(f.name); it != before.end()) f = f.since(it->second);
        }
      }
      if (flags.is_on("watch") && ::isatty(STDOUT_FILENO)) std::printf("\x1b[H\x1b[2J");
      print_flows_table(shown, seconds);
      if (has_flow && !shown.empty()) print_nodes_table(shown[0]);
      for (const FlowRow& f : sample.flows) before[f.name] = f;
      time_before_us = sample.time_us;
    }
    std::fflush(stdout);
    if (!flags.is_on("watch")) return 0;
    ::sleep(static_cast<unsigned>(flags.integer("interval")));
  }
}

}  // namespace millstream::cli
