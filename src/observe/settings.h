// What server.conf.yaml, the environment and the command line say about statistics and tracing.
// Thread: one while loading; read only afterwards.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "flow/statistics.h"
#include "format/yaml.h"
#include "observe/activity_settings.h"

namespace millstream::observe {

// Statistics/Snapshot or Statistics/Archive.
struct StatisticsSettings {
  bool is_on = false;
  bool has_origins = false;  // accountingOrigin basic
  bool has_level = false;    // nodeDataLevel was set
  flow::NodeDataLevel node_level = flow::NodeDataLevel::kNone;
  bool has_threads = false;  // threadDataLevel basic
  bool is_json = false, is_csv = false, is_user_trace = false;
  int interval_s = 0;
};

// Statistics/csv: where CSV records go, and how much of them is kept.
struct StatisticsFiles {
  std::string folder;    // empty: log/ of the work directory; relative to the work directory
  size_t bytes_max = 0;  // 0: as log files
  int files_max = 0;     // 0: as log files
};

enum class Sampler : uint8_t { kAlwaysOn, kAlwaysOff, kRatio };

struct TracingSettings {
  bool is_on = false;
  std::string url;  // of the traces, "http://collector:4318/v1/traces"
  std::vector<std::pair<std::string, std::string>> headers;
  std::string service_name;  // empty: the server's
  std::vector<std::pair<std::string, std::string>> resource;
  Sampler sampler = Sampler::kAlwaysOn;
  double ratio = 1;
  bool follows_parent = true;
  bool has_node_spans = false;  // Millstream/Tracing/nodeSpans: all
  int64_t timeout_ms = 10'000;
  int64_t delay_ms = 5'000;
  size_t queue_max = 2'048;
  size_t batch_max = 512;
};

struct Settings {
  StatisticsSettings snapshot{.interval_s = 20};
  StatisticsSettings archive{.interval_s = 3600};
  TracingSettings tracing;
  bool are_trace_nodes_on = true;        // traceNodeLevel
  std::vector<std::string> user_traced;  // flows traced from the start; "*": all
  ActivitySettings activity;
  StatisticsFiles statistics_csv;
  size_t log_bytes_max = 25u << 20;  // of one file of user trace or activity log
  int log_files_max = 4;
};

// Reads the sections Statistics, ResourceManagers/OpenTelemetryManager, ActivityLog,
// ResourceManagers/ActivityLogManager, traceNodeLevel and Millstream/Tracing of one file; keys that
// are there win over what is in `settings`.
void apply_conf(const std::string& file, const format::YamlNode& root, Settings& settings,
                base::Diagnostics& diagnostics);

// OTEL_* variables, found through `find` (a null pointer: not set), then `otlp_url` of the command
// line. Empty variables count as not set, as the specification of OpenTelemetry says.
void apply_otel(const char* (*find)(const char* name), const std::string& otlp_url,
                TracingSettings& tracing, base::Diagnostics& diagnostics);

}  // namespace millstream::observe
