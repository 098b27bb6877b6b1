// One queue manager of a simulation with everything below it: the shipped queue manager over the
// shipped journal store, on a simulated disk and with a virtual clock. It starts, stops, is killed
// and loses its power as often as a test likes; what is on the disk decides what comes back.
//
//   QueueNode node(seed, {});
//   if (!node.start()) fail(node.error);
//   auto connection = node.connect(executor);
//   node.power_cut();        // connections are dead from here on
//   node.start();
// Thread: one.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/sim_executor.h"
#include "io/sim_disk.h"
#include "queue/core/connection.h"
#include "queue/core/queue_manager.h"
#include "queue/store/journal_store.h"

namespace millstream::sim {

// Small files and blocks, so that a short run meets every boundary.
queue::StoreOptions tiny_store_options();

struct NodeOptions {
  queue::StoreOptions store = tiny_store_options();
  uint64_t disk_bytes = 1ull << 40;
  uint64_t memory_bytes_max = 256u << 20;
  queue::QueueManagerSettings settings;
};

class QueueNode {
 public:
  QueueNode(uint64_t seed, NodeOptions options = {});
  ~QueueNode();
  QueueNode(const QueueNode&) = delete;
  QueueNode& operator=(const QueueNode&) = delete;

  // False: `error` says why. Whatever was written meanwhile stays written.
  bool start();
  // A clean stop: everybody is told, everything is written. False: `error` says why.
  bool stop();
  void power_cut();  // what was not flushed is lost, as the seed says
  void kill();       // the process ends, the disk has everything
  bool is_up() const { return manager_ != nullptr && !has_failed; }

  std::shared_ptr<queue::Connection> connect(base::Executor& executor, std::string user = "alice");
  queue::QueueManager& manager() { return *manager_; }
  queue::JournalStore& store() { return *store_; }
  uint32_t depth(const std::string& queue);
  int64_t now_ns() { return sim.clock().monotonic_ns(); }

  base::SimScheduler sim;
  base::SimExecutor executor;
  io::SimDisk disk;
  std::string error;
  bool lost_power = false;  // in the middle of stop()
  bool has_failed = false;  // fail-stop: the process would end now; `error` says why

 private:
  void drop();

  NodeOptions options_;
  bool is_dropping_ = false;
  base::SimWorkerFactory workers_;
  std::unique_ptr<queue::QueueManager> manager_;
  std::unique_ptr<queue::JournalStore> store_;
  std::vector<std::weak_ptr<queue::Connection>> connections_;
};

}  // namespace millstream::sim
