#include "server/path_watch.h"

#include "base/clock.h"
#include "io/file.h"

namespace millstream::server {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;

bool is_below(const std::string& path, const std::vector<std::string>& folders) {
  for (const std::string& f : folders) {
    if (f == "." ? !path.starts_with('/') && !path.starts_with("..")
                 : path == f || path.starts_with(f.ends_with('/') ? f : f + "/")) {
      return true;
    }
  }
  return false;
}

// Of a work directory only what is read: its log folder changes all the time.
void add_work_folder(const std::string& folder, std::vector<std::string>& paths) {
  for (const char* name : {"server.conf.yaml", "overrides", "run"}) {
    std::string path = io::join_path(folder, name);
    if (io::path_kind(path) != io::PathKind::kMissing) paths.push_back(std::move(path));
  }
}

std::vector<std::string> watched_paths(const ApplicationHost& host) {
  std::vector<std::string> paths;
  for (const std::string& path : host.input().paths) {
    if (!ace::is_work_folder(path)) paths.push_back(path);
  }
  if (!host.work_folder().empty()) add_work_folder(host.work_folder(), paths);
  for (const std::string& file : host.input().override_files) paths.push_back(file);
  // Libraries that were found beside the projects that use them.
  for (const auto& container : host.containers()) {
    const std::string& location = container->location;
    if (io::path_kind(location) == io::PathKind::kFolder && !is_below(location, paths)) {
      paths.push_back(location);
    }
  }
  return paths;
}

}  // namespace

Result<std::unique_ptr<PathWatch>> PathWatch::start(ApplicationHost& host, OnReport on_report) {
  io::FolderWatch watch = MS_TRY(io::FolderWatch::open(watched_paths(host)));
  std::unique_ptr<PathWatch> out(new PathWatch(host, std::move(on_report), std::move(watch)));
  out->thread_ = std::thread([self = out.get()] { self->run(); });
  return out;
}

PathWatch::~PathWatch() {
  is_ending_.store(true);
  watch_.wake();
  if (thread_.joinable()) thread_.join();
}

void PathWatch::run() {
  using Event = io::FolderWatch::Event;
  rescan();  // what has changed since the start, before anybody watched
  while (!is_ending_.load()) {
    if (watch_.wait(-1) != Event::kChange) continue;
    const int64_t until = base::system_clock().monotonic_ns() + kQuietWaitMaxMs * kNsPerMs;
    while (watch_.wait(kQuietMs) == Event::kChange && base::system_clock().monotonic_ns() < until) {
    }
    if (is_ending_.load()) return;
    rescan();
  }
}

void PathWatch::rescan() {
  const ChangeReport report = host_.rescan();
  if (is_ending_.load()) return;
  std::string said;
  for (const base::Diagnostic& d : report.diagnostics.all()) said += d.format() + "\n";
  if (!report.status.ok()) said += report.status.error().describe();
  // A warning about a file that nobody touches is no news at every change of another.
  const bool is_news = said != last_said_ && (report.diagnostics.has_errors() || !is_first_);
  if (report.has_changed() || (is_news && !said.empty()) || !report.status.ok()) on_report_(report);
  last_said_ = std::move(said);
  is_first_ = false;
}

}  // namespace millstream::server
