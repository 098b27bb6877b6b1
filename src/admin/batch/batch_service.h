// Does what batch frames ask: the one code behind the endpoint of a server and behind commands on
// a stopped data directory.
//
//   auto service = BatchService::create(access);
//   Answer answer = service->run("QM1", "alice", request);   // in a fiber of a reactor
//
// A get leaves its unit of work open in a session, with a token for the calls that follow, so that
// a message leaves the queue when its reader says that it has it, and not before. A session is
// backed out when its client has died (no guard for kUnguardedNs; guards are short requests one
// after another), when it never had a guard and is not heard of for the idle time, and by stop().
// Its calls run on the reactor of its first.
// Thread: run() and guard() in fibers of reactors; the rest any. Ownership: `access` and its
// reactors outlive the service; sessions go with it.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "admin/batch/batch_frames.h"
#include "admin/batch/batch_session.h"
#include "admin/mq/mq_access.h"

namespace millstream::admin::batch {

class BatchService : public std::enable_shared_from_this<BatchService> {
 public:
  static constexpr size_t kSessionsMax = 256;
  static constexpr int64_t kIdleNs = 60'000'000'000;
  static constexpr int64_t kUnguardedNs = 6'000'000'000;
  static constexpr int64_t kLookNs = 1'000'000'000;

  // `idle_ns` kNever: the caller ends with its sessions.
  static std::shared_ptr<BatchService> create(const MqAccess& access, int64_t idle_ns = kIdleNs) {
    return std::shared_ptr<BatchService>(new BatchService(access, idle_ns));
  }
  ~BatchService();

  // An error: there is no such queue manager or session. What the MQI refuses is in the answer.
  Result<Answer> run(const std::string& queue_manager, const std::string& user,
                     const Request& request);
  // Waits until the session ends, `timeout_ns` is over (true: it lives on) or set_on_gone's
  // function is called, which ends the session.
  Result<bool> guard(const std::string& user, uint64_t token, int64_t timeout_ns,
                     const std::function<void(std::function<void()>)>& set_on_gone);
  // Ends all sessions, and waits that are under way. Idempotent.
  void stop();
  size_t session_count() const;

 private:
  BatchService(const MqAccess& access, int64_t idle_ns) : access_(access), idle_ns_(idle_ns) {}
  Result<SessionRef> find_session(const std::string& user, uint64_t token) const;
  Result<SessionRef> make_session(queue::QueueManager& manager, const std::string& user);
  Result<Answer> run_in(const SessionRef& session, const Request& request);
  void drop(const SessionRef& session);
  void watch(const SessionRef& session);
  void look_at(const SessionRef& session);

  const MqAccess& access_;
  const int64_t idle_ns_;
  mutable std::mutex mutex_;  // leaf; of what follows
  std::unordered_map<uint64_t, SessionRef> sessions_;
  bool is_stopped_ = false;
};

}  // namespace millstream::admin::batch
