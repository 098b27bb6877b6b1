// The activity log of flows: a few lines a message (received, requests and database statements,
// committed or rolled back, exceptions). The newest are kept in memory; outputs write those that
// their filters take as CSV or to the console, with the product's columns and tags.
// Thread: any.
#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.h"
#include "flow/observer.h"
#include "observe/activity_settings.h"
#include "observe/rotating_file.h"

namespace millstream::observe {

struct ActivityEntry {
  std::string id;  // "BIP11501I"
  ActivitySeverity severity = ActivitySeverity::kInfo;
  int64_t time_us = 0;
  long thread = 0;
  std::string text;
  std::vector<std::string> inserts;
  std::string resource;  // RM: HTTP, ODBC, ...; empty: the flow itself
  std::string flow, node, node_type;
  // While spans are on.
  std::string trace_id, span_id, trace_state, trace_parent;

  // Empty when it has no such tag.
  std::string_view tag(std::string_view name) const;
};

// One place that entries are written to.
class ActivityWriter {
 public:
  // `work_folder` may be empty; then a relative file is in the current folder.
  ActivityWriter(ActivityOutput output, const std::string& work_folder, std::string server_name);
  void write(const ActivityEntry& entry);
  bool takes(const ActivityEntry& entry) const;

  static const char* csv_header();

 private:
  std::string console_line(const ActivityEntry& entry) const;
  const ActivityOutput output_;
  const std::string server_name_;
  std::unique_ptr<RotatingFile> file_, console_;
};
using ActivityWriters = std::vector<std::unique_ptr<ActivityWriter>>;

// Of one flow.
class ActivityLog final : public flow::Observer {
 public:
  struct Options {
    bool is_kept = true;  // in memory
    size_t entries_max = 1'000;
    ActivitySeverity severity_min = ActivitySeverity::kInfo;  // of what is kept
  };
  // `writers` may be null; it is shared by the flows of a server.
  ActivityLog(const Options& options, std::shared_ptr<const ActivityWriters> writers)
      : options_(options), writers_(std::move(writers)) {}
  std::unique_ptr<flow::MessageObserver> start(flow::Invocation& invocation) override;
  void add(ActivityEntry entry);
  // Oldest first.
  base::json::Value entries() const;

 private:
  const Options options_;
  const std::shared_ptr<const ActivityWriters> writers_;
  mutable std::mutex mutex_;  // leaf lock
  std::deque<ActivityEntry> entries_;
};

// The resource manager that nodes of a type work with; empty: none.
std::string_view resource_of(std::string_view node_type);

}  // namespace millstream::observe
