// For tests of the semantics: a queue manager over a store in memory, in a simulation with one
// seed, and calls that run the simulation until they have ended.
#pragma once
#include <memory>
#include <string>

#include "base/sim_executor.h"
#include "queue/core/connection.h"
#include "queue/store/memory_store.h"

namespace millstream::queue {

class QueueWorld {
 public:
  explicit QueueWorld(uint64_t seed = 1, QueueManagerSettings settings = {})
      : sim(seed), executor(sim), workers(sim), settings_(std::move(settings)) {
    start();
  }
  ~QueueWorld() { stop(); }

  void start() {
    QueueManagerOptions options;
    options.settings = settings_;
    options.executor = &executor;
    options.random = &sim.random();
    options.memory_bytes_max = memory_bytes_max;
    options.access = access;
    options.overflow = overflow;
    options.workers = &workers;
    manager = std::make_unique<QueueManager>(std::move(options));
    store = std::make_unique<MemoryStore>(workers, manager->listener(), &image);
    is_ok = store->recover(manager->recovery()).ok() && manager->start(*store).ok();
    a = connect();
    b = connect("bob");
  }
  // As kill -9: what was not durable is lost.
  void crash() {
    sim.drop_all();
    drop(true);
  }
  void restart() {
    stop();
    start();
  }
  void stop() {
    if (manager == nullptr) return;
    manager->stop();
    sim.run_ready();
    drop();
  }

  std::shared_ptr<Connection> connect(std::string user = "alice") {
    std::shared_ptr<Connection> out;
    (void)manager->connect({.user = std::move(user),
                            .application_name = "test",
                            .application_type = 6,
                            .channel = {},
                            .remote_address = {},
                            .executor = &executor},
                           out);
    return out;
  }
  void define(const std::string& name, QueueSettings settings = {}) {
    manager->define_local(name, settings);
  }

  // Runs a call to its end.
  template <typename F>
  Outcome wait(F&& call) {
    bool is_done = false;
    Outcome result = call([&](const Outcome& outcome) {
      is_done = true;
      result_ = outcome;
    });
    if (!result.is_pending()) return result;
    return sim.run_until([&] { return is_done; }) ? result_ : Outcome::pending();
  }

  Hobj open(Connection& c, const std::string& name, int32_t options) {
    OpenCall call;
    call.object_name = name;
    call.options = options;
    last = wait([&](Done done) { return c.open(call, std::move(done)); });
    return call.handle;
  }
  Outcome put(Connection& c, Hobj handle, std::string body, int32_t options = 0,
              mqi::MessageDescriptor md = {}) {
    put_call = PutCall();
    put_call.md = md;
    put_call.options = options;
    put_call.body = Body::copy(body);
    return wait([&](Done done) { return c.put(handle, put_call, std::move(done)); });
  }
  Outcome get(Connection& c, Hobj handle, GetCall& call) {
    return wait([&](Done done) { return c.get(handle, call, std::move(done)); });
  }
  // The body, or "#reason".
  std::string get(Connection& c, Hobj handle, int32_t options = 0, mqi::MessageDescriptor md = {}) {
    got = GetCall();
    got.md = md;
    got.options = options;
    last = get(c, handle, got);
    return last.is_ok() ? std::string(got.body.view()) : "#" + std::to_string(last.reason);
  }
  Outcome commit(Connection& c) {
    return wait([&](Done done) { return c.commit(std::move(done)); });
  }
  uint32_t depth(const std::string& name) {
    QueueRef queue = manager->find_queue(name);
    std::lock_guard lock(queue->mutex());
    return queue->depth();
  }

  base::SimScheduler sim;
  base::SimExecutor executor;
  base::SimWorkerFactory workers;
  MemoryImage image;
  std::unique_ptr<QueueManager> manager;
  std::unique_ptr<MemoryStore> store;
  std::shared_ptr<Connection> a;
  std::shared_ptr<Connection> b;
  Outcome last;
  PutCall put_call;
  GetCall got;
  uint64_t memory_bytes_max = 256u << 20;
  AccessControl* access = nullptr;
  Overflow* overflow = nullptr;
  bool is_ok = false;

 private:
  void drop(bool is_crash = false) {
    if (a != nullptr) a->abandon();
    if (b != nullptr) b->abandon();
    a = b = nullptr;
    if (is_crash) {
      sim.drop_all();
    } else {
      sim.run_ready();
    }
    store = nullptr;
    manager = nullptr;
  }
  QueueManagerSettings settings_;
  Outcome result_;
};

}  // namespace millstream::queue
