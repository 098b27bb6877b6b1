// The applications of a running server, and how a set of them gives way to the next.
//
// A change compiles the new version beside the old one, switches all at once, and destroys the old
// version when its last message has left. What has not changed, by content, is not touched. When
// something does not compile or start, the old version goes on as if nothing had been asked.
//
//   switch: registries hold back (flow::EndpointRegistry) -> old inputs stop -> new inputs start ->
//           the registries show the new state in one step -> each reactor has been seen between two
//           tasks, so that nobody is on the way to an old node any more -> the old version drains.
//
// One thread, of lower priority than the reactors, does all of it one after the other, so that
// compiling takes no time from messages. Only the switch is done by another, of their priority: on
// a machine that is busy the first may wait for its turn at any place, and between the first stop
// and the last start messages would wait with it. Callers wait for both: never call from a reactor.
// Thread: start by the owner; the rest any but a reactor's.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "flow/services.h"
#include "net/reactor_pool.h"
#include "server/deployment.h"

namespace millstream::server {

// What a change did. Without errors everything it was about serves now.
struct ChangeReport {
  std::vector<std::string> started;   // new applications
  std::vector<std::string> replaced;  // with a new version
  std::vector<std::string> removed;
  std::vector<std::string> kept;     // old versions that go on because the new ones have errors
  std::vector<std::string> refused;  // new applications with errors
  base::Diagnostics diagnostics;
  Status status;               // why nothing was done, beside what the diagnostics say
  int64_t build_ns = 0;        // reading and compiling
  int64_t switch_ns = 0;       // from the first stop to the last start
  bool is_trial = false;       // nothing was switched
  bool is_unreadable = false;  // `status`: what was to be deployed is not even an archive
  bool has_changed() const { return !started.empty() || !replaced.empty() || !removed.empty(); }
  bool ok() const { return status.ok() && kept.empty() && refused.empty(); }
};

struct DeployRequest {
  using Containers = std::vector<std::unique_ptr<ace::Container>>;
  Containers containers;
  // Null: `containers` as they are. Else makes them, on the worker's thread, so that one archive at
  // a time is unpacked, with the worker's priority; `names` are those that will come of it.
  std::function<Result<Containers>()> load;
  std::set<std::string, std::less<>> names;
  std::string source;           // for the log: "Orders.bar"
  bool removes_others = false;  // all that is deployed goes first
  bool is_trial = false;        // only say what would change
};

class ApplicationHost {
 public:
  static constexpr int kPriorityBelowReactors = 5;  // added to the nice value
  static constexpr int kDrainPollMs = 5;
  // What one change may have to compile: some ten seconds of the worker.
  static constexpr uint64_t kChangeSourceBytesMax = 256ull << 20;
  static constexpr int64_t kSlowDrainNs = 60'000'000'000;  // then the log says who waits

  struct Hooks {
    std::function<void(ace::Application&)> prepare;  // before a new version starts
    std::function<void(ace::Application&)> retire;   // after an old one's last message
  };

  ApplicationHost(DeploymentInput input, const flow::Services& services, Hooks hooks);
  ~ApplicationHost();  // stops; reactors must not run any more

  // Called once by start(), before anything is built.
  std::function<void(const ServerConf&)> on_settings;
  // Called at each change, before the switch, on the worker. An error ends the change.
  std::function<Status(const ServerConf&, base::Diagnostics&)> on_changed_settings;
  // Builds and starts what the input names, on the calling thread. `is_changeable`: changes will
  // follow, so that applications have to know what they were built from.
  Status start(bool is_partial, bool is_changeable, base::Diagnostics& diagnostics);
  // Changes are taken from here on.
  void accept_changes(net::ReactorPool& reactors);
  // Ends what is being compiled and refuses what comes; returns at once.
  void cancel_changes();
  // No more changes; old versions are kept until the destructor. Idempotent.
  void stop_changes();

  std::shared_ptr<const Applications> applications() const {
    return std::atomic_load(&applications_);
  }
  std::shared_ptr<ace::Application> find(std::string_view name) const;  // null: none
  const ServerConf& conf() const { return conf_; }                      // as of the start
  // Of a work directory: what is deployed is kept there, and runs again at the next start.
  bool has_run_folder() const;
  const std::string& work_folder() const { return work_folder_; }
  const DeploymentInput& input() const { return input_; }
  std::vector<std::string> refused() const;  // as of the last look
  std::vector<std::shared_ptr<const ace::Container>> containers() const;
  size_t draining() const { return draining_.load(std::memory_order_relaxed); }

  // Reads the input's paths again. An application with errors keeps its old version, the others
  // change.
  ChangeReport rescan();
  // All or nothing. Gives up those before it that are about nothing else and have not been
  // compiled yet.
  ChangeReport deploy(DeployRequest request);
  ChangeReport undeploy(const std::string& container);
  // Of one flow, or of all with an empty name.
  Status set_running(const std::string& application, const std::string& flow, bool runs);

 private:
  struct Retired {
    std::shared_ptr<ace::Application> application;
    int64_t since_ns = 0;
    int quiet_polls = 0;
    bool is_reported = false;
  };
  using NameSet = std::set<std::string, std::less<>>;

  void run(std::function<void()> job);
  void run_switches();
  void switch_with_priority(const std::function<void()>& job);
  void work();
  bool do_next_job(std::unique_lock<std::mutex>& lock);
  void drain();
  std::unique_ptr<Sources> copy_sources() const;
  std::unique_ptr<Sources> reload(ChangeReport& report);
  void apply_deployed(Sources& sources) const;
  // What a change may do. Strict: all or nothing.
  struct Scope {
    bool is_strict = false;
    bool has_all = true;  // what is not among the sources has been removed
    NameSet asked_for;    // containers the change is about
    const std::atomic<bool>* superseded = nullptr;
  };
  // A deployment that waits for the worker, or is the worker's.
  struct PendingDeploy {
    NameSet names;
    bool removes_others = false;
    bool is_trial = false;
    std::atomic<bool> is_superseded{false};
  };
  std::shared_ptr<PendingDeploy> announce(const DeployRequest& request);
  ChangeReport change(std::unique_ptr<Sources> sources, ChangeReport report, const Scope& scope);
  Applications next_applications(const BuiltApplications& built, const Scope& scope,
                                 ChangeReport& report) const;
  Status switch_or_drop(Applications next, const Scope& scope, BuiltApplications& built,
                        ChangeReport& report);
  // `failed`: whose start is the error.
  Status switch_to(std::shared_ptr<const Applications> next,
                   std::shared_ptr<ace::Application>& failed);
  ChangeReport do_deploy(DeployRequest& request, const PendingDeploy& pending);
  ChangeReport do_undeploy(const std::string& container);

  const DeploymentInput input_;
  const flow::Services& services_;
  const Hooks hooks_;
  ServerConf conf_;
  std::string work_folder_;
  net::ReactorPool* reactors_ = nullptr;
  std::shared_ptr<const Applications> applications_ = std::make_shared<Applications>();

  // The worker's own.
  std::shared_ptr<Sources> sources_;
  std::set<uint64_t> refused_hashes_;
  std::vector<std::shared_ptr<ace::Container>> deployed_;  // over what the paths hold
  NameSet undeployed_;                                     // of what they hold
  std::vector<Retired> retired_;

  mutable std::mutex mutex_;  // leaf lock: guards what follows
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::string> refused_;
  std::vector<std::shared_ptr<const ace::Container>> containers_;
  std::vector<std::shared_ptr<PendingDeploy>> pending_;  // oldest first
  bool is_ending_ = false;
  std::atomic<bool> is_cancelled_{false};  // with is_ending_, for who compiles
  std::atomic<size_t> draining_{0};
  std::thread worker_;

  std::mutex switch_mutex_;  // leaf lock: guards the two below
  std::condition_variable switch_wake_;
  const std::function<void()>* switch_job_ = nullptr;  // the worker waits until it is done
  bool has_no_switches_ = false;
  std::thread switcher_;
};

}  // namespace millstream::server
