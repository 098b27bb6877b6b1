#include "observe/statistics_publisher.h"

#include <unistd.h>

#include "base/json_value.h"
#include "base/log.h"
#include "io/file.h"

namespace millstream::observe {
namespace {

namespace json = base::json;

std::string base_name(flow::StatisticsReader reader) {
  return reader == flow::StatisticsReader::kArchive ? "archive-statistics" : "statistics";
}

// "Name='value', Name='value'" of all members that are values.
void append_pairs(const json::Value& object, std::string& out) {
  for (const json::Member& m : object.members()) {
    if (m.value.is_array() || m.value.is_object()) continue;
    out += ", " + m.name + "='";
    out += m.value.is_string() ? m.value.as_string() : std::to_string(m.value.as_integer());
    out += "'";
  }
}

}  // namespace

StatisticsPublisher::StatisticsPublisher(PublisherOptions options) : options_(std::move(options)) {
  StatisticsSettings& s = options_.settings;
  // A record that goes nowhere helps nobody; the file is what most people look for.
  if (!s.is_json && !s.is_csv && !s.is_user_trace) s.is_json = true;
}

Status StatisticsPublisher::check_file() {
  if (options_.json_file.empty()) return {};
  return io::append_file(options_.json_file, "");
}

StatisticsSettings StatisticsPublisher::settings() const {
  std::lock_guard lock(mutex_);
  return options_.settings;
}

void StatisticsPublisher::set_settings(const StatisticsSettings& settings) {
  std::lock_guard lock(mutex_);
  options_.settings = settings;
}

flow::NodeDataLevel StatisticsPublisher::measured_level() const {
  const StatisticsSettings s = settings();
  if (!s.is_on) return flow::NodeDataLevel::kNone;
  // Without a word about nodes they are measured, as --statistics always did.
  return s.has_level ? s.node_level : flow::NodeDataLevel::kAdvanced;
}

flow::RecordOptions StatisticsPublisher::record_options(const std::string& code) const {
  flow::RecordOptions record;
  const StatisticsSettings s = settings();
  record.server_name = options_.server_name;
  record.reader = options_.reader;
  record.code = code;
  record.node_level = s.has_level ? s.node_level : flow::NodeDataLevel::kAdvanced;
  record.has_threads = s.has_threads;
  return record;
}

void StatisticsPublisher::publish(const flow::Flow& flow, const std::string& code,
                                  OriginAccounting* origins) {
  const StatisticsSettings s = settings();
  flow::RecordOptions record = record_options(code);
  std::vector<std::pair<std::string, flow::StatisticsTotals>> parts;
  flow::StatisticsTotals totals = flow.statistics().take(options_.reader, /*resets=*/true);
  if (s.has_origins && origins) {
    parts = origins->take(options_.reader, totals);
  } else {
    parts.emplace_back(OriginAccounting::kAnonymous, std::move(totals));
  }
  for (const auto& [origin, part] : parts) {
    record.origin = origin;
    if (s.is_user_trace) add_user_trace(flow, part, record);
    std::lock_guard lock(mutex_);
    if (s.is_json || !options_.json_file.empty()) {
      unwritten_json_ += flow::statistics_json(flow, part, record) + "\n";
    }
    if (s.is_csv) flow::append_statistics_csv(flow, part, record, unwritten_csv_);
  }
}

void StatisticsPublisher::flush() {
  std::lock_guard lock(mutex_);
  if (!options_.json_file.empty()) {
    // What could not be written goes with the next records, as long as it does not grow for ever.
    if (unwritten_json_.size() > kUnwrittenBytesMax) unwritten_json_.clear();
    Status status = io::append_file(options_.json_file, unwritten_json_);
    if (status.ok()) unwritten_json_.clear();
    if (!status.ok()) base::log_error(status.error());
  } else if (!options_.folder.empty() && !unwritten_json_.empty()) {
    if (!json_) {
      json_ = std::make_unique<RotatingFile>(
          io::join_path(options_.folder, base_name(options_.reader) + ".json"), options_.bytes_max,
          options_.files_max);
    }
    json_->write(unwritten_json_);
    unwritten_json_.clear();
  }
  if (options_.json_file.empty() && options_.folder.empty()) unwritten_json_.clear();
  const flow::StatisticsCsv csv = std::exchange(unwritten_csv_, {});
  if (options_.folder.empty() && options_.csv.folder.empty()) return;
  const flow::StatisticsCsv& headers = flow::statistics_csv_headers();
  if (!csv.flow.empty()) csv_file("flow", headers.flow, flow_csv_).write(csv.flow);
  if (!csv.nodes.empty()) csv_file("nodes", headers.nodes, nodes_csv_).write(csv.nodes);
  if (!csv.terminals.empty()) {
    csv_file("terminals", headers.terminals, terminals_csv_).write(csv.terminals);
  }
  if (!csv.threads.empty()) csv_file("threads", headers.threads, threads_csv_).write(csv.threads);
}

RotatingFile& StatisticsPublisher::csv_file(const char* kind, const std::string& header,
                                            std::unique_ptr<RotatingFile>& file) {
  if (!file) {
    const StatisticsFiles& own = options_.csv;
    const std::string& folder = own.folder.empty() ? options_.folder : own.folder;
    file = std::make_unique<RotatingFile>(
        io::join_path(folder, base_name(options_.reader) + "-" + kind + ".csv"),
        own.bytes_max ? own.bytes_max : options_.bytes_max,
        own.files_max ? own.files_max : options_.files_max, header);
  }
  return *file;
}

// BIP2380 to BIP2383: flow, threads, nodes, terminals.
void StatisticsPublisher::add_user_trace(const flow::Flow& flow,
                                         const flow::StatisticsTotals& totals,
                                         const flow::RecordOptions& options) {
  if (!options_.user_trace) return;
  Result<json::Value> document = json::parse(flow::statistics_json(flow, totals, options));
  if (!document.ok()) return;
  const json::Value& record = document.value().get("WMQIStatisticsAccounting");
  const std::string head = "ProcessID='" + std::to_string(::getpid()) + "', Type='" +
                           record.get("RecordType").as_string() + "', Reason='" +
                           record.get("RecordCode").as_string() + "'";
  auto write = [&](int number, const char* what, std::initializer_list<const json::Value*> parts) {
    std::string text = std::string("WMQI ") + what + " statistics. " + head;
    for (const json::Value* part : parts) append_pairs(*part, text);
    options_.user_trace(flow, number, text + ".");
  };
  write(2380, "message flow", {&record.get("MessageFlow")});
  for (const json::Value& t : record.get("ThreadStatistics").items()) write(2381, "thread", {&t});
  for (const json::Value& node : record.get("Nodes").items()) {
    write(2382, "node", {&node});
    for (const json::Value& t : node.get("TerminalStatistics").items()) {
      write(2383, "terminal", {&t});
    }
  }
}

}  // namespace millstream::observe
