#include "server/queue_managers.h"

#include <algorithm>

#include "base/log.h"
#include "io/file.h"
#include "io/posix_disk.h"
#include "net/awaiter.h"
#include "queue/core/object_admin.h"
#include "queue/mqsc/script_apply.h"
#include "queue/objects/object_name.h"
#include "queue/objects/system_objects.h"
#include "queue/store/overflow.h"
#include "server/errors_gen.h"
#include "server/queue_alarm.h"

namespace millstream::server {
namespace {

constexpr std::string_view kFolder = "qmgrs";
// May do everything (queue/security/rule_access.h).
constexpr std::string_view kServerUser = "mqm";
// Names may have characters that folders may not, or that hide one.
constexpr std::pair<char, char> kFolderLetters[] = {{'.', '!'}, {'/', '&'}};

std::string lines_of(const queue::mqsc::AppliedScript& applied) {
  std::string lines;
  for (const std::string& line : applied.lines) lines += "\n  " + line;
  return lines;
}

Status check_applied(const std::string& script, const std::string& manager,
                     const queue::mqsc::AppliedScript& applied) {
  const queue::mqsc::ScriptResult& result = applied.result;
  if (result.exit_code() == queue::mqsc::kExitOk) return {};
  return base::make_error(errors::kScriptFailed, {script, result.syntax_errors + result.failures,
                                                  result.commands, manager, lines_of(applied)});
}

}  // namespace

std::string queue_manager_folder(std::string_view name) {
  std::string folder(name);
  for (auto [in_name, in_folder] : kFolderLetters) {
    std::replace(folder.begin(), folder.end(), in_name, in_folder);
  }
  return folder;
}

std::string queue_manager_of_folder(std::string_view folder) {
  std::string name(folder);
  for (auto [in_name, in_folder] : kFolderLetters) {
    std::replace(name.begin(), name.end(), in_folder, in_name);
  }
  return name;
}

// In the order in which they are made; they go the other way round.
struct QueueManagers::Hosted {
  std::unique_ptr<io::Disk> disk;
  std::unique_ptr<queue::security::RuleAccess> access;
  std::unique_ptr<queue::Overflow> overflow;
  std::unique_ptr<queue::QueueManager> manager;
  std::unique_ptr<QueueAlarm> alarm;
  std::unique_ptr<queue::JournalStore> store;
};

QueueManagers::QueueManagers() = default;

QueueManagers::~QueueManagers() { stop(); }

Status QueueManagers::start(QueueManagersOptions options, net::ReactorPool& reactors) {
  options_ = std::move(options);
  reactors_ = &reactors;
  for (int i = 0; i < reactors.size(); ++i) {
    executors_.push_back(std::make_unique<net::ReactorExecutor>(reactors.reactor(i)));
  }
  const std::string folder = io::join_path(options_.work_folder, kFolder);
  if (!options_.is_default_wanted && !options_.needs_users &&
      io::path_kind(folder) != io::PathKind::kFolder) {
    return {};
  }
  QueueSecurity::Options security;
  security.work_folder = options_.work_folder;
  security.is_dev = options_.is_dev;
  security.workers = &workers_;
  security.clock = &base::system_clock();
  security_ = MS_TRY(QueueSecurity::start(std::move(security)));
  bool has_default = false;
  if (io::path_kind(folder) == io::PathKind::kFolder) {
    for (const io::FolderEntry& entry : MS_TRY(io::list_folder(folder))) {
      if (entry.kind != io::PathKind::kFolder || entry.name.starts_with('.')) continue;
      const std::string name = queue_manager_of_folder(entry.name);
      has_default = has_default || name == options_.default_name;
      if (options_.is_only_default && name != options_.default_name) continue;
      MS_TRY(open(name));
    }
  }
  if (!has_default && options_.is_default_wanted) MS_TRY(open(options_.default_name));
  return {};
}

Status QueueManagers::open(const std::string& name) {
  if (!queue::objects::is_object_name(name)) {
    return base::make_error(errors::kQueueManagerName, {name});
  }
  const std::string folder = io::join_path(options_.work_folder, kFolder);
  MS_TRY(io::make_folders(folder));
  auto hosted = std::make_unique<Hosted>();
  hosted->disk = MS_TRY(
      io::open_posix_disk(io::join_path(folder, queue_manager_folder(name)),
                          options_.is_buffered ? io::DiskWay::kBuffered : io::DiskWay::kDirect));
  queue::QueueManagerOptions manager;
  manager.settings.name = name;
  manager.settings.creates_unknown_queues = options_.is_dev;
  manager.executor = executors_.front().get();
  manager.random = &base::system_random();
  manager.on_failure = options_.on_failure;
  if (options_.channels) manager.channels = options_.channels(name);
  hosted->overflow = std::make_unique<queue::Overflow>(*hosted->disk);
  manager.overflow = hosted->overflow.get();
  manager.workers = &workers_;
  hosted->access = security_->make_access(name);
  manager.access = hosted->access.get();
  hosted->manager = std::make_unique<queue::QueueManager>(std::move(manager));
  hosted->access->attach(hosted->manager->admin().authorities(),
                         [m = hosted->manager.get()](std::string_view topic) {
                           return m->pubsub().objects_above(topic);
                         });
  hosted->alarm = std::make_unique<QueueAlarm>(name, *hosted->disk, hosted->manager->listener());
  hosted->store = MS_TRY(queue::JournalStore::open(
      {}, {*hosted->disk, base::system_clock(), base::system_random(), workers_}, *hosted->alarm,
      hosted->manager->recovery()));
  MS_TRY(hosted->manager->start(*hosted->store));
  MS_TRY(define_first_objects(*hosted->manager));
  hosted_.push_back(std::move(hosted));
  return {};
}

// Once, in one unit of work: a queue manager that was killed before has none of them and is new
// again. What an administrator deletes or alters later stays so.
Status QueueManagers::define_first_objects(queue::QueueManager& manager) {
  const auto target = queue::make_admin_target(manager, std::string(kServerUser));
  constexpr std::string_view kSystem = "(system objects)", kDeveloper = "(developer objects)";
  manager.admin().begin_unit();
  Status applied;
  for (auto [name, script] : {std::pair(kSystem, queue::objects::system_objects_script()),
                              std::pair(kDeveloper, queue::objects::developer_objects_script())}) {
    if (!applied.ok() || !target->applied_script(name).empty()) continue;
    net::Awaiter<queue::mqsc::AppliedScript> answer;
    queue::mqsc::apply_script(*target, std::string(name), script, answer.callback());
    applied = check_applied(std::string(name), manager.name(), answer.wait());
  }
  net::Awaiter<queue::objects::AdminResult> durable;
  manager.admin().end_unit(durable.callback());
  const queue::objects::AdminResult stored = durable.wait();
  if (applied.ok() && !stored.ok()) {
    queue::mqsc::AppliedScript lost;
    lost.result.commands = lost.result.failures = 1;
    lost.lines.push_back("reason " + std::to_string(stored.reason));
    return check_applied("(first objects)", manager.name(), lost);
  }
  return applied;
}

Status QueueManagers::apply_scripts(const std::vector<MqscFile>& files) {
  queue::QueueManager* manager = find("");
  if (!manager) return {};
  const auto target = queue::make_admin_target(*manager, std::string(kServerUser));
  for (const MqscFile& file : files) {
    net::Awaiter<queue::mqsc::AppliedScript> answer;
    queue::mqsc::apply_script(*target, file.name, file.content, answer.callback());
    const queue::mqsc::AppliedScript applied = answer.wait();
    if (applied.was_known) continue;
    MS_TRY(check_applied(file.path, manager->name(), applied));
    base::log_event(
        base::LogLevel::kInfo, "MS2039I",
        file.path + " was applied to the queue manager " + manager->name() + lines_of(applied));
  }
  return {};
}

void QueueManagers::stop() {
  if (is_stopped_) return;
  is_stopped_ = true;
  for (auto& hosted : hosted_) {
    net::FiberEvent stopped;
    hosted->manager->stop([&stopped] { stopped.set(); });
    stopped.wait(net::kNever, /*is_cancellable=*/false);
    Status closed = hosted->store->close();
    if (!closed.ok()) base::log_error(closed.error());
  }
}

queue::QueueManager* QueueManagers::find(std::string_view name) const {
  if (name.empty() || name == "*") name = options_.default_name;
  for (const auto& hosted : hosted_) {
    if (hosted->manager->name() == name) return hosted->manager.get();
  }
  return nullptr;
}

SpaceAlarms QueueManagers::alarms_of(std::string_view name) const {
  for (const auto& hosted : hosted_) {
    if (hosted->manager->name() != name) continue;
    return {hosted->alarm->alarms(), hosted->store->puts_refused()};
  }
  return {};
}

std::vector<std::string> QueueManagers::names() const {
  std::vector<std::string> names;
  for (const auto& hosted : hosted_) names.push_back(hosted->manager->name());
  return names;
}

base::Executor& QueueManagers::executor(const net::Reactor& reactor) const {
  for (int i = 0; i < reactors_->size(); ++i) {
    if (&reactors_->reactor(i) == &reactor) return *executors_[static_cast<size_t>(i)];
  }
  return *executors_.front();
}

}  // namespace millstream::server
