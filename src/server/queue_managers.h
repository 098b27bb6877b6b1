// The queue managers of a server, each with its data in a folder of its own: W/qmgrs/NAME, where
// '.' and '/' of a name are written '!' and '&', as IBM MQ does.
//
// start() opens all that are there and makes the default one when it is wanted. A new queue manager
// gets the SYSTEM objects and those that developers know; the first of a work directory makes the
// first user (server/queue_security.h).
// A failure of any store ends the process: nothing may be acknowledged after it.
// Thread: start and stop the owner's; the rest any.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "admin/mq/mq_access.h"
#include "base/thread_worker.h"
#include "io/disk.h"
#include "net/reactor_executor.h"
#include "net/reactor_pool.h"
#include "queue/core/queue_manager.h"
#include "queue/store/journal_store.h"
#include "server/mqsc_files.h"
#include "server/queue_security.h"

namespace millstream::server {

inline constexpr std::string_view kDefaultQueueManager = "QM1";

struct QueueManagersOptions {
  std::string work_folder;
  std::string default_name{kDefaultQueueManager};
  bool is_default_wanted = false;  // made when it is not there
  bool needs_users = false;        // also without a queue manager
  bool is_only_default = false;    // the others stay closed
  bool is_dev = false;             // whoever comes from this machine may do everything
  bool is_buffered = false;        // fdatasync, where the folder cannot do direct I/O
  // Who runs channels of the queue manager of this name; null: nobody. It is there
  // until the manager has stopped.
  std::function<queue::objects::ChannelHost*(const std::string& name)> channels;
  // The process must end; called on a thread of the store.
  std::function<void(const base::Error&)> on_failure;
};

// Of persistent puts that had no space: how often it began to refuse them, and how many it refused.
struct SpaceAlarms {
  uint64_t begun = 0, puts_refused = 0;
};

class QueueManagers final : public admin::MqAccess {
 public:
  QueueManagers();
  ~QueueManagers() override;  // stops
  QueueManagers(const QueueManagers&) = delete;
  QueueManagers& operator=(const QueueManagers&) = delete;

  Status start(QueueManagersOptions options, net::ReactorPool& reactors);
  // To the default queue manager; scripts whose content it has seen are left out. What they define
  // goes to the log. An error says which commands failed.
  Status apply_scripts(const std::vector<MqscFile>& files);
  // Calls end with 2162 from here on; what the stores could not finish is in the log. Idempotent.
  // Managers stay until this object goes, which is after the reactors have ended.
  void stop();

  // By its name, exact case; "" and "*" mean the default one. Null: none of that name.
  queue::QueueManager* find(std::string_view name) const override;
  std::vector<std::string> names() const override;
  SpaceAlarms alarms_of(std::string_view name) const;
  const std::string& default_name() const { return options_.default_name; }
  bool empty() const { return hosted_.empty(); }
  // Who may log in; null without queue managers.
  queue::security::Authenticator* authenticator() const override {
    return security_ ? &security_->authenticator() : nullptr;
  }
  std::shared_ptr<const void> user_stamp(std::string_view user) const override {
    return security_ ? security_->users().find(user) : nullptr;
  }
  // Of a connection whose calls come from this reactor's thread.
  base::Executor& executor(const net::Reactor& reactor) const override;

 private:
  struct Hosted;
  Status open(const std::string& name);
  Status define_first_objects(queue::QueueManager& manager);

  QueueManagersOptions options_;
  net::ReactorPool* reactors_ = nullptr;
  std::vector<std::unique_ptr<net::ReactorExecutor>> executors_;  // one a reactor
  base::ThreadWorkerFactory workers_;
  std::unique_ptr<QueueSecurity> security_;  // outlives the managers
  std::vector<std::unique_ptr<Hosted>> hosted_;
  bool is_stopped_ = false;
};

// The folder's name for a queue manager, and back.
std::string queue_manager_folder(std::string_view name);
std::string queue_manager_of_folder(std::string_view folder);

}  // namespace millstream::server
