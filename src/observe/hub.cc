#include "observe/hub.h"

#include <algorithm>
#include <iterator>

#include "base/log.h"
#include "io/file.h"
#include "observe/errors_gen.h"

namespace millstream::observe {
namespace {

const FlowControl kNoControl;

bool switches(std::shared_ptr<flow::Observer>& present, std::shared_ptr<flow::Observer> wanted,
              flow::Observers& observers) {
  if (present == wanted) return false;
  if (present) observers.remove(present.get());
  if (wanted) observers.add(wanted);
  present = std::move(wanted);
  return true;
}

}  // namespace

Hub::Hub() {
  PublisherOptions none;
  snapshot_ = std::make_unique<StatisticsPublisher>(none);
  none.reader = flow::StatisticsReader::kArchive;
  archive_ = std::make_unique<StatisticsPublisher>(none);
  metrics_.add([this](base::MetricWriter& w) { collect_flows(w); });
  metrics_.add([](base::MetricWriter& w) { base::process_metrics().collect(w); });
  metrics_.add(base::collect_process_metrics);
}

Hub::~Hub() { stop(); }

Status Hub::configure(HubOptions options) {
  options_ = std::move(options);
  start_us_ = flow::statistics_now_us();
  Settings& settings = options_.settings;
  if (!options_.statistics_file.empty()) settings.snapshot.is_on = true;
  PublisherOptions publishing;
  publishing.settings = settings.snapshot;
  publishing.server_name = options_.server_name;
  publishing.json_file = options_.statistics_file;
  publishing.bytes_max = settings.log_bytes_max;
  publishing.files_max = settings.log_files_max;
  if (!options_.work_folder.empty()) {
    publishing.folder = io::join_path(options_.work_folder, "log");
  }
  publishing.csv = settings.statistics_csv;
  if (!publishing.csv.folder.empty() && publishing.csv.folder.front() != '/' &&
      !options_.work_folder.empty()) {
    publishing.csv.folder = io::join_path(options_.work_folder, publishing.csv.folder);
  }
  publishing.user_trace = [this](const flow::Flow& flow, int number, std::string_view text) {
    write(flow, number, text);
  };
  snapshot_ = std::make_unique<StatisticsPublisher>(publishing);
  MS_TRY(snapshot_->check_file());
  publishing.reader = flow::StatisticsReader::kArchive;
  publishing.settings = settings.archive;
  publishing.json_file.clear();
  archive_ = std::make_unique<StatisticsPublisher>(publishing);
  if (settings.tracing.is_on) {
    spans_ = std::make_shared<SpanQueue>(settings.tracing.queue_max);
    tracer_ = std::make_shared<Tracer>(settings.tracing, spans_);
    exporter_ = MS_TRY(
        OtlpExporter::create(settings.tracing, options_.server_name, options_.version, spans_));
  }
  make_activity_writers();
  restart_ticker(Which::kSnapshot);
  restart_ticker(Which::kArchive);
  return {};
}

void Hub::stop() {
  snapshot_ticker_.reset();
  archive_ticker_.reset();
  std::unique_ptr<OtlpExporter> exporter;
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(is_stopped_, true)) return;
    for (Which which : {Which::kSnapshot, Which::kArchive}) {
      for (Entry& e : entries_) publish_locked(which, e, "Shutdown");
      publisher(which).flush();
    }
    exporter = std::move(exporter_);
  }
  if (exporter) exporter->stop();
}

// ---------------------------------------------------------------- flows

void Hub::flow_starts(flow::Flow& flow) {
  std::lock_guard lock(mutex_);
  for (Entry& e : entries_) {
    if (e.flow == &flow) {
      e.is_running = true;
      return;
    }
  }
  Entry& entry = entries_.emplace_back();
  entry.flow = &flow;
  apply_locked(entry);
}

void Hub::flow_stops(flow::Flow& flow) {
  std::lock_guard lock(mutex_);
  for (Entry& e : entries_) {
    if (e.flow == &flow) e.is_running = false;
  }
}

void Hub::flow_ends(flow::Flow& flow) {
  std::lock_guard lock(mutex_);
  const auto it = std::find_if(entries_.begin(), entries_.end(),
                               [&](const Entry& e) { return e.flow == &flow; });
  if (it == entries_.end()) return;
  if (!is_stopped_) {
    for (Which which : {Which::kSnapshot, Which::kArchive}) publish_locked(which, *it, "ReDeploy");
  }
  ended_[key_of(flow)].add(flow, /*has_ended=*/true);
  entries_.erase(it);
}

const FlowControl& Hub::control_locked(const FlowKey& key) const {
  const auto it = controls_.find(key);
  return it == controls_.end() ? kNoControl : it->second;
}

FlowControl Hub::control(const FlowKey& key) const {
  std::lock_guard lock(mutex_);
  return control_locked(key);
}

void Hub::set_control(const FlowKey& key, const std::function<void(FlowControl&)>& change) {
  bool has_collection_changed = false;
  {
    std::lock_guard lock(mutex_);
    FlowControl& control = controls_[key];
    const FlowControl before = control;
    change(control);
    if (before.activity_log != control.activity_log) activity_logs_.erase(key);
    has_collection_changed =
        before.snapshot != control.snapshot || before.archive != control.archive;
    for (Entry& e : entries_) {
      const bool is_of_application = key.second.empty() && e.flow->application() == key.first;
      if (is_of_application || key_of(*e.flow) == key) apply_locked(e);
    }
  }
  if (!has_collection_changed) return;
  for (Which which : {Which::kSnapshot, Which::kArchive}) restart_ticker(which);
}

bool Hub::is_collected(Which which, const FlowControl& control) const {
  const std::optional<bool>& own = which == Which::kSnapshot ? control.snapshot : control.archive;
  return own.value_or((which == Which::kSnapshot ? *snapshot_ : *archive_).settings().is_on);
}

// What is switched on for a flow, put into it.
void Hub::apply_locked(Entry& entry) {
  flow::Flow& flow = *entry.flow;
  const FlowControl& control = control_locked(key_of(flow));
  auto level = flow::NodeDataLevel::kNone;
  bool has_origins = false;
  for (Which which : {Which::kSnapshot, Which::kArchive}) {
    if (!is_collected(which, control)) continue;
    level = std::max(level, publisher(which).record_options("").node_level);
    has_origins |= publisher(which).settings().has_origins;
  }
  flow.statistics().set_node_data_level(level);
  if (has_origins != (entry.origins != nullptr)) {
    std::shared_ptr<flow::Observer> present = entry.origins;
    entry.origins = has_origins ? std::make_shared<OriginAccounting>() : nullptr;
    switches(present, entry.origins, flow.observers());
  }
  const bool is_traced =
      control.tracing.value_or(control_locked({flow.application(), ""}).tracing.value_or(true));
  switches(entry.tracer, is_traced ? tracer_ : nullptr, flow.observers());
  const FlowKey key = key_of(flow);
  std::shared_ptr<flow::Observer> wanted;
  if (has_user_trace(key)) {
    std::shared_ptr<UserTrace>& trace = user_traces_[key];
    if (!trace) trace = std::make_shared<UserTrace>(trace_file(key));
    wanted = trace;
  }
  switches(entry.user_trace, std::move(wanted), flow.observers());
  wanted = nullptr;
  if (has_activity_log(key)) {
    std::shared_ptr<ActivityLog>& log = activity_logs_[key];
    if (!log) {
      const ActivitySettings& settings = options_.settings.activity;
      // Who switches it on for a flow wants to read it, whatever holds for the others.
      const bool is_kept = control.activity_log.value_or(settings.is_on);
      log = std::make_shared<ActivityLog>(
          ActivityLog::Options{is_kept, settings.entries_max, settings.severity_min},
          activity_writers_);
    }
    wanted = log;
  }
  switches(entry.activity_log, std::move(wanted), flow.observers());
  for (auto& [id, trace] : traces_) {
    if (trace.key != key) continue;
    flow.observers().remove(trace.trace.get());  // it may be there already
    flow.observers().add(trace.trace);
  }
}

Status Hub::with_flow(std::string_view name, const std::function<void(flow::Flow&)>& visit) {
  std::lock_guard lock(mutex_);
  std::vector<flow::Flow*> found;
  std::string names;
  for (const Entry& e : entries_) {
    if (!e.is_running) continue;
    const flow::Flow& flow = *e.flow;
    const std::string whole = flow.application() + "/" + flow.name();
    const std::string_view last = std::string_view(flow.name()).substr(flow.name().rfind('.') + 1);
    if (whole == name) {
      found = {e.flow};
      break;
    }
    if (flow.name() != name && last != name) continue;
    found.push_back(e.flow);
    names += (names.empty() ? ": " : ", ") + whole;
  }
  if (found.size() == 1) {
    visit(*found[0]);
    return {};
  }
  return base::make_error(errors::kNoSuchFlow,
                          {name, found.empty() ? std::string() : " but several" + names});
}

void Hub::for_each_flow(const std::function<void(flow::Flow&)>& visit) {
  std::lock_guard lock(mutex_);
  for (const Entry& e : entries_) {
    if (e.is_running) visit(*e.flow);
  }
}

// ---------------------------------------------------------------- statistics

StatisticsSettings Hub::statistics_settings(Which which) const {
  return (which == Which::kSnapshot ? *snapshot_ : *archive_).settings();
}

void Hub::set_statistics_settings(Which which, const StatisticsSettings& settings) {
  {
    std::lock_guard lock(mutex_);
    // What was counted under the old settings ends here.
    for (Entry& e : entries_) publish_locked(which, e, "StatsSettingsModified");
    publisher(which).flush();
    publisher(which).set_settings(settings);
    for (Entry& e : entries_) {
      apply_locked(e);
      if (settings.is_on) {
        e.flow->statistics().take(which == Which::kSnapshot ? flow::StatisticsReader::kSnapshot
                                                            : flow::StatisticsReader::kArchive,
                                  /*resets=*/true);
      }
    }
  }
  restart_ticker(which);
}

// Runs also while nothing is collected for the server: single flows may be.
void Hub::restart_ticker(Which which) {
  std::unique_ptr<Ticker>& ticker = which == Which::kSnapshot ? snapshot_ticker_ : archive_ticker_;
  ticker.reset();
  const StatisticsSettings settings = statistics_settings(which);
  bool is_needed = settings.is_on;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [key, control] : controls_) is_needed |= is_collected(which, control);
  }
  if (!is_needed) return;
  ticker = std::make_unique<Ticker>(settings.interval_s, [this, which] {
    publish(which, which == Which::kSnapshot ? "SnapShot" : "MajorInterval");
  });
}

void Hub::publish(Which which, const std::string& code) {
  {
    std::lock_guard lock(mutex_);
    for (Entry& e : entries_) publish_locked(which, e, code);
  }
  // Files are written while others may go on.
  publisher(which).flush();
}

void Hub::publish_locked(Which which, Entry& entry, const std::string& code) {
  if (!is_collected(which, control_locked(key_of(*entry.flow)))) return;
  publisher(which).publish(*entry.flow, code, entry.origins.get());
}

std::string Hub::statistics_lines(bool resets) {
  std::string lines;
  std::lock_guard lock(mutex_);
  for (const Entry& e : entries_) {
    lines += e.flow->statistics().snapshot_json(*e.flow, options_.server_name, resets) + "\n";
  }
  return lines;
}

// ---------------------------------------------------------------- user trace, activity log

bool Hub::has_user_trace(const FlowKey& key) const {
  std::lock_guard lock(mutex_);
  const FlowControl& control = control_locked(key);
  if (control.user_trace) return *control.user_trace;
  const std::string whole = key.first + "/" + key.second;
  for (const std::string& name : options_.settings.user_traced) {
    if (name == "*" || name == whole || name == key.second ||
        name == key.second.substr(key.second.rfind('.') + 1)) {
      return true;
    }
  }
  return false;
}

bool Hub::has_activity_log(const FlowKey& key) const {
  std::lock_guard lock(mutex_);
  const ActivitySettings& settings = options_.settings.activity;
  const bool writes = std::any_of(settings.outputs.begin(), settings.outputs.end(),
                                  [](const ActivityOutput& o) { return o.writes(); });
  return control_locked(key).activity_log.value_or(settings.is_on || writes);
}

void Hub::make_activity_writers() {
  auto writers = std::make_shared<ActivityWriters>();
  for (const ActivityOutput& output : options_.settings.activity.outputs) {
    if (!output.writes()) continue;
    writers->push_back(
        std::make_unique<ActivityWriter>(output, options_.work_folder, options_.server_name));
  }
  // Where nothing is said about outputs, what is switched on is written to the work directory.
  if (options_.settings.activity.outputs.empty() && !options_.work_folder.empty()) {
    ActivityOutput usual;
    usual.file = "log/activityLog.csv";
    usual.is_formatted = true;
    usual.bytes_max = options_.settings.log_bytes_max;
    usual.files_max = options_.settings.log_files_max;
    writers->push_back(
        std::make_unique<ActivityWriter>(usual, options_.work_folder, options_.server_name));
  }
  activity_writers_ = std::move(writers);
}

void Hub::add_activity_outputs(std::vector<ActivityOutput> outputs) {
  if (outputs.empty()) return;
  std::lock_guard lock(mutex_);
  std::vector<ActivityOutput>& all = options_.settings.activity.outputs;
  std::move(outputs.begin(), outputs.end(), std::back_inserter(all));
  make_activity_writers();
  activity_logs_.clear();
  for (Entry& e : entries_) apply_locked(e);
}

base::json::Value Hub::activity(const FlowKey& key) const {
  std::lock_guard lock(mutex_);
  const auto it = activity_logs_.find(key);
  return it == activity_logs_.end() ? base::json::Value::array() : it->second->entries();
}

std::string Hub::trace_path(const FlowKey& key) const {
  if (options_.work_folder.empty()) return {};
  std::string name = "userTrace." + key.first + "." + key.second + ".txt";
  for (char& c : name) {
    if (c == '/' || static_cast<unsigned char>(c) < 0x20) c = '_';
  }
  return io::join_path(io::join_path(options_.work_folder, "log"), name);
}

std::string Hub::user_trace_place(const FlowKey& key) const {
  const std::string path = trace_path(key);
  return path.empty() ? "the standard output of the server" : path;
}

std::shared_ptr<RotatingFile> Hub::trace_file(const FlowKey& key) {
  std::lock_guard lock(files_mutex_);
  std::shared_ptr<RotatingFile>& file = trace_files_[key];
  if (!file) {
    file = std::make_shared<RotatingFile>(trace_path(key), options_.settings.log_bytes_max,
                                          options_.settings.log_files_max);
  }
  return file;
}

void Hub::reset_user_trace(const FlowKey& key) { trace_file(key)->clear(); }

void Hub::write(const flow::Flow& flow, int number, std::string_view text) {
  if (!is_open() && !has_user_trace(key_of(flow))) return;
  UserTrace::write(*trace_file(key_of(flow)), number, text);
}

// ---------------------------------------------------------------- traces of single messages

Result<std::string> Hub::start_trace(const FlowKey& key, const MessageTrace::Options& options) {
  std::lock_guard lock(mutex_);
  drop_idle_traces_locked();
  if (traces_.size() >= kTracesMax) {
    return base::make_error(errors::kTooManyTraces, {traces_.size()});
  }
  const std::string id = std::to_string(++last_trace_);
  Trace& trace = traces_[id];
  trace.key = key;
  trace.trace = std::make_shared<MessageTrace>(options);
  for (Entry& e : entries_) {
    if (key_of(*e.flow) == key) e.flow->observers().add(trace.trace);
  }
  return id;
}

Result<base::json::Value> Hub::take_trace(const std::string& id) {
  std::lock_guard lock(mutex_);
  drop_idle_traces_locked();
  const auto it = traces_.find(id);
  if (it == traces_.end()) return base::make_error(errors::kTraceGone, {id});
  base::json::Value out = it->second.trace->take();
  if (out.get("isDone").as_bool()) {
    remove_trace_locked(it->second);
    traces_.erase(it);
  }
  return out;
}

void Hub::end_trace(const std::string& id) {
  std::lock_guard lock(mutex_);
  const auto it = traces_.find(id);
  if (it == traces_.end()) return;
  remove_trace_locked(it->second);
  traces_.erase(it);
}

void Hub::remove_trace_locked(const Trace& trace) {
  for (Entry& e : entries_) {
    if (key_of(*e.flow) == trace.key) e.flow->observers().remove(trace.trace.get());
  }
}

void Hub::drop_idle_traces_locked() {
  std::erase_if(traces_, [&](const auto& item) {
    if (!item.second.trace->is_idle()) return false;
    remove_trace_locked(item.second);
    return true;
  });
}

// ---------------------------------------------------------------- metrics

std::string Hub::metrics_text() { return metrics_.text(); }

void Hub::collect_flows(base::MetricWriter& w) {
  w.family("millstream_build_info", base::MetricType::kGauge, "The version that runs; always 1.");
  w.sample({{"version", options_.version}, {"server", options_.server_name}}, uint64_t{1});
  FlowMetricsMap flows;
  {
    std::lock_guard lock(mutex_);
    flows = ended_;
    for (const Entry& e : entries_) flows[key_of(*e.flow)].add(*e.flow, /*has_ended=*/false);
    w.family("millstream_flows_running", base::MetricType::kGauge,
             "Message flows that take messages.");
    w.sample({}, static_cast<uint64_t>(std::count_if(entries_.begin(), entries_.end(),
                                                     [](const Entry& e) { return e.is_running; })));
    if (exporter_) {
      w.family("millstream_spans_exported_total", base::MetricType::kCounter,
               "Spans that the collector took.");
      w.sample({}, exporter_->exported());
      w.family("millstream_spans_dropped_total", base::MetricType::kCounter,
               "Spans that were dropped: the queue was full or the collector did not take them.");
      w.sample({}, spans_->dropped());
      w.family("millstream_span_export_failures_total", base::MetricType::kCounter,
               "Requests to the collector that failed.");
      w.sample({}, exporter_->failed_requests());
      w.family("millstream_spans_waiting", base::MetricType::kGauge,
               "Spans that wait to be exported.");
      w.sample({}, static_cast<uint64_t>(spans_->size()));
    }
  }
  write_flow_metrics(flows, w);
}

}  // namespace millstream::observe
