// The activity log of flows: a few lines a message (received, requests, committed or rolled back),
// kept in memory, the newest only, and written as CSV with the product's columns where there is a
// work directory.
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
#include "observe/rotating_file.h"

namespace millstream::observe {

struct ActivityEntry {
  int number = 0;
  char severity = 'I';
  int64_t time_us = 0;
  long thread = 0;
  std::string text;
  std::vector<std::string> inserts;
  std::string resource;  // RM: HTTP, ODBC, ...; empty: the flow itself
  std::string flow, node, node_type;
};

class ActivityLog final : public flow::Observer {
 public:
  static constexpr size_t kEntriesMax = 1000;  // of a flow

  // `file` may be null.
  explicit ActivityLog(std::shared_ptr<RotatingFile> file) : file_(std::move(file)) {}
  std::unique_ptr<flow::MessageObserver> start(flow::Invocation& invocation) override;
  void add(ActivityEntry entry);
  // Oldest first.
  base::json::Value entries() const;

  static const char* csv_header();

 private:
  const std::shared_ptr<RotatingFile> file_;  // shared by the flows of a server
  mutable std::mutex mutex_;                  // leaf lock
  std::deque<ActivityEntry> entries_;
};

}  // namespace millstream::observe
