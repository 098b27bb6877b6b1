// A connection of the queue manager that serves the frames of one client, and what they do to it.
// Thread: the calls of one session one after another, in fibers of its reactor; what says "any" is
// for all.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "admin/batch/batch_frames.h"
#include "net/reactor.h"
#include "net/waiting.h"
#include "queue/core/connection.h"

namespace millstream::admin::batch {

class BatchSession : public std::enable_shared_from_this<BatchSession> {
 public:
  BatchSession(queue::QueueManager& manager, std::string user, net::Reactor& reactor,
               base::Executor& executor, uint64_t token);
  ~BatchSession();

  Answer run(const Request& request);
  // Backs out and disconnects; a call under way ends with 2009. Any thread; idempotent.
  void end();

  uint64_t token() const { return token_; }
  const std::string& user() const { return user_; }
  net::Reactor& reactor() { return reactor_; }
  base::Executor& executor() { return executor_; }
  bool is_open() const { return !has_ended_.load(std::memory_order_acquire); }
  // Whether later calls go on with it.
  bool is_kept() const { return is_kept_ && is_open(); }
  // False: another call is under way.
  bool take() { return !is_busy_.exchange(true, std::memory_order_acq_rel); }
  void give_back();
  bool is_busy() const { return is_busy_.load(std::memory_order_acquire); }
  int guards() const { return guards_.load(); }
  bool had_guard() const { return had_guard_.load(); }
  void take_guard();
  void give_back_guard();
  int64_t idle_since_ns() const { return idle_since_ns_.load(std::memory_order_relaxed); }
  // Waits for the end; false: the time was over before.
  bool wait_for_end(int64_t deadline_ns);

 private:
  using Outcome = queue::Outcome;
  Outcome open(const std::string& name, int32_t options, const std::string& selector,
               queue::Hobj& handle);
  Outcome open_for(const Request& request, int32_t options);
  Outcome put(queue::Hobj handle, queue::PutCall& call);
  Outcome get(queue::GetCall& call);
  Outcome commit();
  uint64_t depth_of(const std::string& queue) const;
  void touch();
  // Lets others of this reactor run, now and then.
  void make_way();

  Outcome open_targets(const Request& request, int32_t options, Answer& answer,
                       std::vector<queue::Hobj>& targets);
  void run_put(const Request& request, Answer& answer);
  void run_get(const Request& request, Answer& answer);
  void run_browse(const Request& request, Answer& answer);
  void run_end(const Request& request, Answer& answer);
  void run_move(const Request& request, Answer& answer);
  void run_admin(const Request& request, Answer& answer);
  // What the options get, up to the request's limits.
  void read_batch(const Request& request, int32_t options, Answer& answer);
  // batch_move.cc
  enum class Step : uint8_t { kMoved, kLeft, kStop };
  Step move_one(const Request& request, queue::GetCall& browsed, Answer& answer);
  Outcome put_moved(const Request& request, const queue::GetCall& browsed, std::string& where);

  queue::QueueManager& manager_;
  const std::string user_;
  net::Reactor& reactor_;
  base::Executor& executor_;
  const uint64_t token_;
  std::shared_ptr<queue::Connection> connection_;  // called on the reactor's thread
  Outcome connected_;
  queue::Hobj in_ = queue::kNoObject;
  queue::Hobj out_ = queue::kNoObject;
  uint32_t steps_ = 0;     // since others ran
  uint64_t seen_ = 0;      // by moves
  uint64_t seen_max_ = 0;  // what was there when the first began
  std::atomic<bool> has_ended_{false};
  std::atomic<bool> is_busy_{false};
  std::atomic<int> guards_{0};
  std::atomic<bool> had_guard_{false};
  std::atomic<int64_t> idle_since_ns_{0};
  bool is_kept_ = false;
  net::FiberEvent ended_;
};
using SessionRef = std::shared_ptr<BatchSession>;  // the service, its calls and guards

}  // namespace millstream::admin::batch
