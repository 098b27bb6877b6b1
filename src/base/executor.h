// Where and when work runs, behind interfaces, so that the queue manager runs the same code on
// reactors and threads, and on one thread of a simulation with a virtual clock and a seed.
//
// An Executor runs short tasks one after another (a reactor, a plain thread's loop, the simulator).
// A Worker repeats one step that may block on a disk, on a thread of its own; in the simulator a
// step is one event among the others.
// Thread: post(), post_at(), cancel(), wake() and wake_at() any; tasks and steps run where the
// implementation says. Ownership: an executor outlives what posts to it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace millstream::base {

class Executor {
 public:
  using TimerId = uint64_t;  // 0 is none

  virtual ~Executor() = default;
  virtual const Clock& clock() const = 0;
  // Tasks posted by one thread run in the order in which they were posted.
  virtual void post(std::function<void()> task) = 0;
  // All of them in order, with one wake-up where that can be. Leaves the vector's room to its
  // owner.
  virtual void post_all(std::vector<std::function<void()>>& tasks) {
    for (std::function<void()>& task : tasks) post(std::move(task));
    tasks.clear();
  }
  // At the deadline of the monotonic clock or later.
  virtual TimerId post_at(int64_t deadline_ns, std::function<void()> task) = 0;
  // False: it has run, is running, or never was. A task whose cancel() returned true never runs.
  virtual bool cancel(TimerId timer) = 0;
};

class Worker {
 public:
  // Waits for the running step to end; no step runs after that.
  virtual ~Worker() = default;
  // A step begins after this call, whatever was running: no wake-up is lost.
  virtual void wake() = 0;
  // As wake(), at the deadline of the monotonic clock or later; replaces an earlier deadline.
  virtual void wake_at(int64_t deadline_ns) = 0;
};

class WorkerFactory {
 public:
  virtual ~WorkerFactory() = default;
  // Repeats `step` while it returns true (there is more to do at once), then waits for wake().
  // The first step waits for wake(), too. `name` is the thread's, at most 15 characters.
  virtual std::unique_ptr<Worker> start(std::string_view name, std::function<bool()> step) = 0;
};

}  // namespace millstream::base
