// Writes statistics records of flows every interval: JSON lines, the product's CSV files, or the
// user trace. One publisher for snapshots, one for archives.
// Thread: any; publishing is serialised.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "flow/flow.h"
#include "observe/origin_accounting.h"
#include "observe/rotating_file.h"
#include "observe/settings.h"

namespace millstream::observe {

struct PublisherOptions {
  flow::StatisticsReader reader = flow::StatisticsReader::kSnapshot;
  StatisticsSettings settings;
  std::string server_name;
  std::string folder;     // of log files; empty: none
  StatisticsFiles csv;    // other than those, for CSV
  std::string json_file;  // JSON lines go here whatever the settings say; not rotated
  size_t bytes_max = 25u << 20;
  int files_max = 4;
  // An entry of the user trace of a flow.
  std::function<void(const flow::Flow&, int number, std::string_view text)> user_trace;
};

class StatisticsPublisher {
 public:
  static constexpr size_t kUnwrittenBytesMax = 1 << 20;

  explicit StatisticsPublisher(PublisherOptions options);
  // Fails when the file of --statistics cannot be written.
  Status check_file();
  // The record of one flow, which begins a new interval. `code` is why: SnapShot, MajorInterval,
  // ReDeploy, Shutdown, StatsSettingsModified.
  // `origins`: null when nobody accounts by origin.
  void publish(const flow::Flow& flow, const std::string& code, OriginAccounting* origins);
  // After the records of all flows.
  void flush();

  StatisticsSettings settings() const;
  void set_settings(const StatisticsSettings& settings);
  flow::RecordOptions record_options(const std::string& code) const;
  // What a flow has to measure for this publisher.
  flow::NodeDataLevel measured_level() const;

 private:
  void add_user_trace(const flow::Flow& flow, const flow::StatisticsTotals& totals,
                      const flow::RecordOptions& options);
  RotatingFile& csv_file(const char* kind, const std::string& header,
                         std::unique_ptr<RotatingFile>& file);

  PublisherOptions options_;
  mutable std::mutex mutex_;
  std::string unwritten_json_;
  flow::StatisticsCsv unwritten_csv_;
  std::unique_ptr<RotatingFile> json_, flow_csv_, nodes_csv_, terminals_csv_, threads_csv_;
};

}  // namespace millstream::observe
