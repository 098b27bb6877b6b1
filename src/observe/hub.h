// What a server knows about its flows while they run: metrics, statistics records, spans, user
// trace, activity log, and the traces that somebody waits for. One hub a server; flows tell it of
// themselves (flow::FlowListener), so that what is switched on for a flow stays on when a new
// version of it is deployed.
// Lifetime: outlives all flows of the server. Thread: any; configure, start and stop by the owner.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "flow/flow.h"
#include "flow/observer.h"
#include "observe/activity_log.h"
#include "observe/flow_metrics.h"
#include "observe/message_trace.h"
#include "observe/origin_accounting.h"
#include "observe/otlp_exporter.h"
#include "observe/settings.h"
#include "observe/spans.h"
#include "observe/statistics_publisher.h"
#include "observe/ticker.h"
#include "observe/user_trace.h"

namespace millstream::observe {

struct HubOptions {
  Settings settings;
  std::string server_name, version;
  std::string work_folder;      // empty: none; user trace goes to the standard output then
  std::string statistics_file;  // --statistics: JSON lines
};

// Switched on or off for a flow, else as for the server.
struct FlowControl {
  std::optional<bool> snapshot, archive, tracing;
  std::optional<bool> user_trace, activity_log;
};

class Hub final : public flow::FlowListener, public flow::TraceSink {
 public:
  Hub();
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  // Before any flow starts.
  Status configure(HubOptions options);
  // Outputs of the activity log beside those of the settings, from policies. Once, before messages
  // come; a message under way goes on with what there was.
  void add_activity_outputs(std::vector<ActivityOutput> outputs);
  // Last records and spans; flows may still end afterwards.
  void stop();

  // --- flow::FlowListener
  void flow_starts(flow::Flow& flow) override;
  void flow_stops(flow::Flow& flow) override;
  void flow_ends(flow::Flow& flow) override;
  // --- flow::TraceSink
  bool are_trace_nodes_on() const override { return options_.settings.are_trace_nodes_on; }
  bool is_open() const override { return !options_.work_folder.empty(); }
  void write(const flow::Flow& flow, int number, std::string_view text) override;

  // --- metrics
  base::MetricRegistry& metrics() { return metrics_; }
  std::string metrics_text();

  // --- statistics
  enum class Which : uint8_t { kSnapshot, kArchive };
  StatisticsSettings statistics_settings(Which which) const;
  // Changes hold for all flows, those to come too.
  void set_statistics_settings(Which which, const StatisticsSettings& settings);
  // One JSON record a flow and line; counting starts anew when `resets`.
  std::string statistics_lines(bool resets);

  // --- flows
  // "Application/Flow", a flow's name, or the last part of it. Calls `visit` while the flow cannot
  // go; an error when there is none, or several.
  Status with_flow(std::string_view name, const std::function<void(flow::Flow&)>& visit);
  void for_each_flow(const std::function<void(flow::Flow&)>& visit);
  // With an empty name of the flow: `tracing` of all flows of the application, those to come too.
  FlowControl control(const FlowKey& key) const;
  void set_control(const FlowKey& key, const std::function<void(FlowControl&)>& change);

  // Whether it is on for a flow now.
  bool has_user_trace(const FlowKey& key) const;
  bool has_activity_log(const FlowKey& key) const;
  // Entries of a flow's activity log; empty when it is off.
  base::json::Value activity(const FlowKey& key) const;
  // "the standard output" without a work directory.
  std::string user_trace_place(const FlowKey& key) const;
  // Empties the user trace of a flow.
  void reset_user_trace(const FlowKey& key);

  // --- traces of single messages
  static constexpr size_t kTracesMax = 16;
  Result<std::string> start_trace(const FlowKey& key, const MessageTrace::Options& options);
  Result<base::json::Value> take_trace(const std::string& id);
  void end_trace(const std::string& id);

  const HubOptions& options() const { return options_; }

 private:
  struct Entry {
    flow::Flow* flow;
    bool is_running = true;
    std::shared_ptr<OriginAccounting> origins;
    std::shared_ptr<flow::Observer> tracer, user_trace, activity_log;  // as added to the flow
  };
  struct Trace {
    FlowKey key;
    std::shared_ptr<MessageTrace> trace;
  };
  static FlowKey key_of(const flow::Flow& flow) { return {flow.application(), flow.name()}; }
  const FlowControl& control_locked(const FlowKey& key) const;
  bool is_collected(Which which, const FlowControl& control) const;
  void apply_locked(Entry& entry);
  void make_activity_writers();
  void publish(Which which, const std::string& code);
  void publish_locked(Which which, Entry& entry, const std::string& code);
  void collect_flows(base::MetricWriter& writer);
  StatisticsPublisher& publisher(Which which) {
    return which == Which::kSnapshot ? *snapshot_ : *archive_;
  }
  void restart_ticker(Which which);
  std::shared_ptr<RotatingFile> trace_file(const FlowKey& key);
  std::string trace_path(const FlowKey& key) const;
  void drop_idle_traces_locked();
  void remove_trace_locked(const Trace& trace);

  HubOptions options_;
  base::MetricRegistry metrics_;
  // Taken by tickers, deployments and handlers on the blocking pool, not by messages. Guards flows,
  // controls and what ended flows counted.
  mutable std::recursive_mutex mutex_;
  std::vector<Entry> entries_;
  std::map<FlowKey, FlowControl> controls_;
  FlowMetricsMap ended_;
  std::unique_ptr<StatisticsPublisher> snapshot_, archive_;
  std::unique_ptr<Ticker> snapshot_ticker_, archive_ticker_;
  std::mutex files_mutex_;  // leaf lock: guards trace_files_, which Trace nodes look into
  std::map<FlowKey, std::shared_ptr<RotatingFile>> trace_files_;
  std::map<FlowKey, std::shared_ptr<UserTrace>> user_traces_;
  std::map<FlowKey, std::shared_ptr<ActivityLog>> activity_logs_;
  std::shared_ptr<const ActivityWriters> activity_writers_;  // shared by the logs of all flows
  std::map<std::string, Trace> traces_;
  uint64_t last_trace_ = 0;
  std::shared_ptr<SpanQueue> spans_;
  std::shared_ptr<Tracer> tracer_;
  std::unique_ptr<OtlpExporter> exporter_;
  int64_t start_us_ = 0;
  bool is_stopped_ = false;
};

}  // namespace millstream::observe
