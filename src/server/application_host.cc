#include "server/application_host.h"

#include <algorithm>
#include <future>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread_turns.h"
#include "io/file.h"
#include "server/database_conf.h"
#include "server/errors_gen.h"
#include "server/run_folder.h"

namespace millstream::server {
namespace {

int64_t host_now_ns() { return base::system_clock().monotonic_ns(); }

bool has_application(const Applications& all, const ace::Application* wanted) {
  return std::any_of(all.begin(), all.end(), [&](const auto& a) { return a.get() == wanted; });
}

const ace::Application* find_by_name(const Applications& all, std::string_view name) {
  for (const auto& a : all) {
    if (a->name() == name) return a.get();
  }
  return nullptr;
}

// Nothing is done of what the report has so far.
void refuse_change(ChangeReport& report) {
  report.kept.insert(report.kept.end(), report.replaced.begin(), report.replaced.end());
  report.refused.insert(report.refused.end(), report.started.begin(), report.started.end());
  report.started.clear();
  report.replaced.clear();
  report.removed.clear();
}

// Returns when every reactor has been between two tasks. Needs no fiber: all may be taken.
void pass_through_reactors(net::ReactorPool& reactors) {
  for (int i = 0; i < reactors.size(); ++i) {
    auto passed = std::make_shared<std::promise<void>>();
    reactors.reactor(i).post([passed] { passed->set_value(); });
    passed->get_future().wait();
  }
}

void log_change(const ChangeReport& report) {
  using base::LogLevel;
  auto log_all = [](const std::vector<std::string>& names, LogLevel level, const char* id,
                    const char* before, const char* after) {
    for (const std::string& name : names) base::log_event(level, id, before + name + after);
  };
  const char* application = "Application '";
  log_all(report.replaced, LogLevel::kInfo, "BIP9332I", application,
          "' has been changed successfully.");
  log_all(report.started, LogLevel::kInfo, "MS2018I", application, "' has been deployed.");
  log_all(report.removed, LogLevel::kInfo, "MS2019I", application, "' is not deployed any more.");
  if (report.diagnostics.has_errors() || !report.status.ok()) {
    log_all(report.kept, LogLevel::kWarning, "MS2020W", "The new version of '",
            "' has errors; the one from before goes on.");
  }
}

}  // namespace

ApplicationHost::ApplicationHost(DeploymentInput input, const flow::Services& services, Hooks hooks)
    : input_(std::move(input)), services_(services), hooks_(std::move(hooks)) {}

ApplicationHost::~ApplicationHost() { stop_changes(); }

Status ApplicationHost::start(bool is_partial, bool is_changeable, base::Diagnostics& diagnostics) {
  const std::string work_folder = work_folder_of(input_);
  if (is_changeable && !work_folder.empty()) MS_TRY(recover_run_folder(work_folder));
  sources_ = load_sources(input_, diagnostics);
  if (!sources_) return base::make_error(errors::kNothingStarted);
  conf_ = sources_->conf;
  work_folder_ = sources_->work_folder;
  if (on_settings) on_settings(conf_);
  if (is_changeable) sources_->settings_hash = hash_settings(input_, work_folder_);
  const BuildPlan plan{.services = &services_,
                       .checks_everything = input_.checks_everything,
                       .hashes_content = is_changeable};
  BuiltApplications built = build_applications(*sources_, plan, diagnostics);
  refused_hashes_ = std::move(built.refused_hashes);
  auto running = std::make_shared<Applications>();
  for (auto& application : built.applications) {
    hooks_.prepare(*application);
    Status status = application->start();
    if (status.ok()) {
      running->push_back(std::move(application));
    } else {
      diagnostics.error(status.error(), {});
      built.refused.push_back(application->name());
    }
  }
  refused_ = std::move(built.refused);
  containers_.assign(sources_->workspace.containers.begin(), sources_->workspace.containers.end());
  std::atomic_store(&applications_, std::shared_ptr<const Applications>(running));
  if (!is_partial) {
    for (const std::string& name : refused_) {
      return base::make_error(errors::kApplicationRefused, {name});
    }
    if (diagnostics.has_errors()) return base::make_error(errors::kNothingStarted);
  }
  return {};
}

void ApplicationHost::accept_changes(net::ReactorPool& reactors) {
  reactors_ = &reactors;
  switcher_ = std::thread([this] { run_switches(); });
  worker_ = std::thread([this] { work(); });
}

void ApplicationHost::cancel_changes() {
  {
    std::lock_guard lock(mutex_);
    is_ending_ = true;
    is_cancelled_.store(true);
  }
  wake_.notify_all();
}

void ApplicationHost::stop_changes() {
  cancel_changes();
  if (worker_.joinable()) worker_.join();
  {
    std::lock_guard lock(switch_mutex_);
    has_no_switches_ = true;
  }
  switch_wake_.notify_all();
  if (switcher_.joinable()) switcher_.join();
}

void ApplicationHost::run_switches() {
  base::take_short_turns();
  std::unique_lock lock(switch_mutex_);
  while (true) {
    switch_wake_.wait(lock, [this] { return has_no_switches_ || switch_job_; });
    if (!switch_job_) return;
    (*switch_job_)();
    switch_job_ = nullptr;
    switch_wake_.notify_all();
  }
}

void ApplicationHost::switch_with_priority(const std::function<void()>& job) {
  std::unique_lock lock(switch_mutex_);
  switch_job_ = &job;
  switch_wake_.notify_all();
  switch_wake_.wait(lock, [this] { return !switch_job_; });
}

void ApplicationHost::work() {
  base::give_way(kPriorityBelowReactors);
  std::unique_lock lock(mutex_);
  while (true) {
    if (do_next_job(lock)) continue;
    if (is_ending_) return;
    if (retired_.empty()) {
      wake_.wait(lock, [this] { return is_ending_ || !jobs_.empty(); });
      continue;
    }
    wake_.wait_for(lock, std::chrono::milliseconds(kDrainPollMs),
                   [this] { return is_ending_ || !jobs_.empty(); });
    if (is_ending_) continue;
    lock.unlock();
    drain();
    lock.lock();
  }
}

bool ApplicationHost::do_next_job(std::unique_lock<std::mutex>& lock) {
  if (jobs_.empty()) return false;
  std::function<void()> job = std::move(jobs_.front());
  jobs_.pop_front();
  lock.unlock();
  job();
  job = nullptr;
  lock.lock();
  return true;
}

void ApplicationHost::run(std::function<void()> job) {
  auto done =
      std::make_shared<std::promise<void>>();  // the worker's end of it may outlive this call
  {
    std::lock_guard lock(mutex_);
    if (is_ending_ || !worker_.joinable()) return;
    jobs_.push_back([done, &job] {
      job();
      done->set_value();
    });
  }
  wake_.notify_all();
  done->get_future().wait();
}

// An old version goes when two looks in a row find nothing on its way in it, and every reactor has
// been between two tasks since: what a look missed was in the middle of one.
void ApplicationHost::drain() {
  pass_through_reactors(*reactors_);
  for (Retired& r : retired_) {
    r.quiet_polls = r.application->is_idle() ? r.quiet_polls + 1 : 0;
    if (r.quiet_polls >= 2) {
      hooks_.retire(*r.application);
      r.application.reset();
    } else if (!r.is_reported && host_now_ns() - r.since_ns > kSlowDrainNs) {
      r.is_reported = true;
      Status status = base::make_error(errors::kSlowDrain, {r.application->name()});
      base::log_error(status.error());
    }
  }
  std::erase_if(retired_, [](const Retired& r) { return !r.application; });
  draining_.store(retired_.size(), std::memory_order_relaxed);
}

std::shared_ptr<ace::Application> ApplicationHost::find(std::string_view name) const {
  const std::shared_ptr<const Applications> all = applications();
  for (const auto& a : *all) {
    if (a->name() == name) return a;
  }
  return nullptr;
}

std::vector<std::string> ApplicationHost::refused() const {
  std::lock_guard lock(mutex_);
  return refused_;
}

std::vector<std::shared_ptr<const ace::Container>> ApplicationHost::containers() const {
  std::lock_guard lock(mutex_);
  return containers_;
}

ChangeReport ApplicationHost::rescan() {
  ChangeReport report;
  report.status = base::make_error(errors::kServerEnds);
  run([&] {
    ChangeReport fresh;
    const int64_t start_ns = host_now_ns();
    std::unique_ptr<Sources> sources = reload(fresh);
    fresh.build_ns = host_now_ns() - start_ns;
    if (sources) {
      // With a folder that cannot be read, applications are missing that nobody has removed.
      const bool has_all = !fresh.diagnostics.has_errors();
      report = change(std::move(sources), std::move(fresh), {.has_all = has_all});
    } else {
      report = std::move(fresh);
      report.status = base::make_error(errors::kNothingChanged);
    }
  });
  return report;
}

std::unique_ptr<Sources> ApplicationHost::reload(ChangeReport& report) {
  std::unique_ptr<Sources> sources = load_sources(input_, report.diagnostics, true);
  if (!sources || sources->has_bad_settings) return nullptr;
  sources->settings_hash = hash_settings(input_, sources->work_folder);
  apply_deployed(*sources);
  return sources;
}

void ApplicationHost::apply_deployed(Sources& sources) const {
  auto& containers = sources.workspace.containers;
  const std::string run = io::join_path(work_folder_, "run") + "/";
  std::erase_if(containers, [&](const auto& c) {
    return (undeployed_.count(c->name) != 0 && !c->location.starts_with(run)) ||
           std::any_of(deployed_.begin(), deployed_.end(),
                       [&](const auto& d) { return d->name == c->name; });
  });
  containers.insert(containers.end(), deployed_.begin(), deployed_.end());
}

std::unique_ptr<Sources> ApplicationHost::copy_sources() const {
  return std::make_unique<Sources>(*sources_);
}

ChangeReport ApplicationHost::change(std::unique_ptr<Sources> sources, ChangeReport report,
                                     const Scope& scope) {
  const int64_t start_ns = host_now_ns();
  const std::shared_ptr<const Applications> running = applications();
  const BuildPlan plan{
      .services = &services_,
      .hashes_content = true,
      .running = running.get(),
      .refused_hashes = refused_hashes_,
      .asked_for = scope.asked_for,
      .source_bytes_max = kChangeSourceBytesMax,
      .is_cancelled = [this, &scope] {
        return is_cancelled_.load(std::memory_order_relaxed) ||
               (scope.superseded && scope.superseded->load(std::memory_order_relaxed));
      }};
  BuiltApplications built = build_applications(*sources, plan, report.diagnostics);
  report.build_ns += host_now_ns() - start_ns;
  if (built.is_cancelled) {
    report.status =
        base::make_error(is_cancelled_.load() ? errors::kServerEnds : errors::kSuperseded);
    return report;
  }
  Applications next = next_applications(built, scope, report);
  if (report.is_trial) return report;
  if (scope.is_strict && (!report.kept.empty() || !report.refused.empty())) {
    report.status = base::make_error(errors::kNothingChanged);
  }
  if (report.status.ok()) {
    // Policies are part of what is deployed. A rescan has said what is wrong with them.
    base::Diagnostics said_already;
    const bool has_databases =
        configure_databases(sources->work_folder, sources->workspace,
                            input_.databases ? *input_.databases : sql::DataSources::process(),
                            scope.is_strict ? report.diagnostics : said_already, true);
    const bool has_listeners = !scope.is_strict || apply_policies(*sources, report.diagnostics);
    if (scope.is_strict && !(has_databases && has_listeners)) {
      report.status = base::make_error(errors::kNothingChanged);
      refuse_change(report);
    }
  }
  if (report.status.ok() && on_changed_settings) {
    report.status = on_changed_settings(sources->conf, report.diagnostics);
    if (!report.status.ok()) refuse_change(report);
  }
  if (report.status.ok() && report.has_changed()) {
    switch_with_priority([&] {
      const int64_t switch_start_ns = host_now_ns();
      report.status = switch_or_drop(std::move(next), scope, built, report);
      report.switch_ns = host_now_ns() - switch_start_ns;
    });
  }
  log_change(report);
  if (scope.is_strict && !report.ok()) return report;
  refused_hashes_ = std::move(built.refused_hashes);
  sources_ = std::move(sources);
  std::lock_guard lock(mutex_);
  refused_ = std::move(built.refused);
  containers_.assign(sources_->workspace.containers.begin(), sources_->workspace.containers.end());
  return report;
}

Applications ApplicationHost::next_applications(const BuiltApplications& built, const Scope& scope,
                                                ChangeReport& report) const {
  const std::shared_ptr<const Applications> running = applications();
  Applications next;
  for (const auto& a : built.applications) {
    if (!has_application(*running, a.get())) {
      auto& list = find_by_name(*running, a->name()) ? report.replaced : report.started;
      list.push_back(a->name());
    }
    next.push_back(a);
  }
  const NameSet refused(built.refused.begin(), built.refused.end());
  bool has_new_errors = false;
  for (uint64_t hash : built.refused_hashes) has_new_errors |= refused_hashes_.count(hash) == 0;
  for (const std::string& name : built.refused) {
    has_new_errors |= scope.asked_for.count(name) != 0;
  }
  for (const auto& a : *running) {
    if (find_by_name(next, a->name())) continue;
    if (refused.count(a->name()) != 0) {
      report.kept.push_back(a->name());
      next.push_back(a);
    } else if (scope.has_all) {
      report.removed.push_back(a->name());
    } else {
      next.push_back(a);
    }
  }
  for (const std::string& name : built.refused) {
    // What had errors before is no news, and no reason against a change of something else.
    if (!find_by_name(*running, name) && has_new_errors) report.refused.push_back(name);
  }
  if (scope.is_strict && !has_new_errors) report.kept.clear();
  return next;
}

// Who cannot start is dropped, so that one URL that is taken does not hold up all the others: at a
// rescan anybody, at a deployment only what it is not about. Errors of starting are not remembered
// as those of compiling are: another application's change may end them.
Status ApplicationHost::switch_or_drop(Applications next, const Scope& scope,
                                       BuiltApplications& built, ChangeReport& report) {
  const std::shared_ptr<const Applications> before = applications();
  Status status;
  while (true) {
    std::shared_ptr<ace::Application> failed;
    status = switch_to(std::make_shared<const Applications>(next), failed);
    if (status.ok()) break;
    const std::string name = failed->name();
    const auto* old = find_by_name(*before, name);
    if (scope.is_strict && (old || scope.asked_for.count(name) != 0)) break;
    report.diagnostics.error(status.error(), {});
    built.refused.push_back(name);
    std::erase(old ? report.replaced : report.started, name);
    (old ? report.kept : report.refused).push_back(name);
    std::erase(next, failed);
    for (const auto& a : *before) {
      if (a.get() == old) next.push_back(a);
    }
    if (!report.has_changed()) {
      status = {};
      break;
    }
  }
  // A version that stays out may have got a message before it was stopped again.
  const std::shared_ptr<const Applications> after = applications();
  for (const auto& a : built.applications) {
    if (!has_application(*after, a.get())) retired_.push_back({a, host_now_ns()});
  }
  draining_.store(retired_.size(), std::memory_order_relaxed);
  if (!status.ok()) refuse_change(report);
  return status;
}

Status ApplicationHost::switch_to(std::shared_ptr<const Applications> next,
                                  std::shared_ptr<ace::Application>& failed) {
  const std::shared_ptr<const Applications> running = applications();
  std::vector<std::shared_ptr<ace::Application>> leaving, coming;
  for (const auto& a : *running) {
    if (!has_application(*next, a.get())) leaving.push_back(a);
  }
  for (const auto& a : *next) {
    if (!has_application(*running, a.get())) coming.push_back(a);
  }
  for (const auto& a : coming) hooks_.prepare(*a);
  for (flow::EndpointRegistry* r : services_.registries()) r->begin_change();
  std::vector<NameSet> stopped;  // as leaving
  for (const auto& a : leaving) {
    stopped.push_back(a->stopped_flows());
    a->stop();
  }
  Status status;
  for (const auto& a : coming) {
    NameSet stays_stopped;
    for (size_t i = 0; i < leaving.size(); ++i) {
      if (leaving[i]->name() == a->name()) stays_stopped = stopped[i];
    }
    status = a->start_all(stays_stopped);
    if (status.ok()) continue;
    failed = a;
    break;
  }
  if (!status.ok()) {
    for (const auto& a : coming) a->stop();
    for (size_t i = 0; i < leaving.size(); ++i) {
      NameSet runs;
      for (const auto& flow : leaving[i]->flows()) {
        if (stopped[i].count(flow->name()) == 0) runs.insert(flow->name());
      }
      Status again = leaving[i]->restart(runs);
      if (!again.ok()) base::log_error(again.error());
    }
  } else {
    std::atomic_store(&applications_, std::move(next));
  }
  for (flow::EndpointRegistry* r : services_.registries()) r->end_change();
  if (!status.ok()) return status;
  const int64_t now = host_now_ns();
  for (auto& a : leaving) retired_.push_back({std::move(a), now});
  draining_.store(retired_.size(), std::memory_order_relaxed);
  return status;
}

std::shared_ptr<ApplicationHost::PendingDeploy> ApplicationHost::announce(
    const DeployRequest& request) {
  auto pending = std::make_shared<PendingDeploy>();
  pending->names = request.names;
  for (const auto& c : request.containers) pending->names.insert(c->name);
  pending->removes_others = request.removes_others;
  pending->is_trial = request.is_trial;
  std::lock_guard lock(mutex_);
  for (const auto& older : pending_) {
    const bool is_same = !pending->is_trial && !older->is_trial && !older->names.empty() &&
                         (pending->removes_others || !older->removes_others) &&
                         std::includes(pending->names.begin(), pending->names.end(),
                                       older->names.begin(), older->names.end());
    if (is_same) older->is_superseded.store(true);
  }
  pending_.push_back(pending);
  return pending;
}

ChangeReport ApplicationHost::deploy(DeployRequest request) {
  ChangeReport report;
  report.status = base::make_error(errors::kServerEnds);
  const std::shared_ptr<PendingDeploy> pending = announce(request);
  run([&] { report = do_deploy(request, *pending); });
  std::lock_guard lock(mutex_);
  std::erase(pending_, pending);
  return report;
}

ChangeReport ApplicationHost::do_deploy(DeployRequest& request, const PendingDeploy& pending) {
  ChangeReport report;
  report.is_trial = request.is_trial;
  if (pending.is_superseded.load()) report.status = base::make_error(errors::kSuperseded);
  if (report.status.ok() && request.load) {
    Result<DeployRequest::Containers> loaded = request.load();
    report.is_unreadable = !loaded.ok();
    report.status = std::move(loaded).take_status();
    if (report.status.ok()) request.containers = std::move(loaded).value();
  }
  if (!report.status.ok()) return report;
  std::unique_ptr<Sources> sources = copy_sources();
  auto& containers = sources->workspace.containers;
  NameSet names, removed;
  std::vector<const ace::Container*> written, replaced;
  for (const auto& c : request.containers) {
    report.status = make_deployable(*c);
    if (!report.status.ok()) return report;
    if (!names.insert(c->name).second) {
      report.status = base::make_error(errors::kDeployedTwice, {c->name, request.source});
      return report;
    }
    written.push_back(c.get());
  }
  std::erase_if(containers, [&](const auto& c) {
    const bool is_replaced = names.count(c->name) != 0;
    if (!is_replaced && !request.removes_others) return false;
    replaced.push_back(c.get());
    if (!is_replaced) removed.insert(c->name);
    return true;
  });
  std::vector<std::shared_ptr<ace::Container>> deployed;
  for (auto& c : request.containers) deployed.push_back(std::move(c));
  containers.insert(containers.end(), deployed.begin(), deployed.end());
  const bool is_kept = has_run_folder() && !request.is_trial;
  RunFolderChange disk(work_folder_);
  if (is_kept) {
    for (auto& c : deployed) {
      c->deployed_folder = io::join_path(io::join_path(work_folder_, "run"), c->name);
    }
    report.status = disk.prepare(written, replaced);
  }
  if (!report.status.ok()) return report;
  report = change(std::move(sources), std::move(report),
                  {.is_strict = true, .asked_for = names, .superseded = &pending.is_superseded});
  if (!report.ok() || request.is_trial) return report;
  if (is_kept) {
    report.status = disk.commit();
  } else {
    std::erase_if(deployed_, [&](const auto& d) {
      return names.count(d->name) != 0 || request.removes_others;
    });
    deployed_.insert(deployed_.end(), deployed.begin(), deployed.end());
  }
  for (const std::string& name : names) undeployed_.erase(name);
  undeployed_.insert(removed.begin(), removed.end());
  return report;
}

ChangeReport ApplicationHost::undeploy(const std::string& container) {
  ChangeReport report;
  report.status = base::make_error(errors::kServerEnds);
  run([&] { report = do_undeploy(container); });
  return report;
}

ChangeReport ApplicationHost::do_undeploy(const std::string& container) {
  ChangeReport report;
  std::unique_ptr<Sources> sources = copy_sources();
  std::vector<const ace::Container*> gone;
  std::erase_if(sources->workspace.containers, [&](const auto& c) {
    if (c->name == container) gone.push_back(c.get());
    return c->name == container;
  });
  if (gone.empty()) {
    report.status = base::make_error(errors::kNotDeployed, {container});
    return report;
  }
  RunFolderChange disk(work_folder_);
  if (has_run_folder()) report.status = disk.prepare({}, gone);
  if (!report.status.ok()) return report;
  report =
      change(std::move(sources), std::move(report), {.is_strict = true, .asked_for = {container}});
  if (!report.ok()) return report;
  if (has_run_folder()) report.status = disk.commit();
  std::erase_if(deployed_, [&](const auto& d) { return d->name == container; });
  undeployed_.insert(container);
  return report;
}

bool ApplicationHost::has_run_folder() const { return !work_folder_.empty(); }

Status ApplicationHost::set_running(const std::string& application, const std::string& flow,
                                    bool runs) {
  Status status = base::make_error(errors::kServerEnds);
  run([&] {
    status = {};
    const std::shared_ptr<ace::Application> found = find(application);
    if (!found || (!flow.empty() && !found->find_flow(flow))) {
      status = base::make_error(errors::kNotDeployed,
                                {flow.empty() ? application : application + "/" + flow});
      return;
    }
    switch_with_priority([&] {
      for (flow::EndpointRegistry* r : services_.registries()) r->begin_change();
      for (const auto& f : found->flows()) {
        if ((!flow.empty() && f->name() != flow) || f->is_running() == runs) continue;
        if (!runs) {
          f->stop();
          continue;
        }
        status = f->start();
        if (status.ok()) continue;
        f->stop();
        break;
      }
      for (flow::EndpointRegistry* r : services_.registries()) r->end_change();
    });
  });
  return status;
}

}  // namespace millstream::server
