// `run --watch`: reads the paths of a server again when something in them changes, once the changes
// have paused, and tells what came of it.
// Thread: one of its own; made and destroyed by the owner, before the host stops.
#pragma once
#include <functional>
#include <memory>
#include <thread>

#include "base/result.h"
#include "io/folder_watch.h"
#include "server/application_host.h"

namespace millstream::server {

class PathWatch {
 public:
  static constexpr int kQuietMs = 60;  // without a change; editors write several files
  static constexpr int kQuietWaitMaxMs = 1000;

  using OnReport = std::function<void(const ChangeReport&)>;
  static Result<std::unique_ptr<PathWatch>> start(ApplicationHost& host, OnReport on_report);
  ~PathWatch();
  bool is_polling() const { return watch_.is_polling(); }

 private:
  PathWatch(ApplicationHost& host, OnReport on_report, io::FolderWatch watch)
      : host_(host), on_report_(std::move(on_report)), watch_(std::move(watch)) {}
  void run();
  void rescan();

  ApplicationHost& host_;
  const OnReport on_report_;
  io::FolderWatch watch_;
  std::string last_said_;  // the thread's own
  bool is_first_ = true;
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace millstream::server
