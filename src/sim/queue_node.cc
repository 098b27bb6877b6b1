#include "sim/queue_node.h"

#include <utility>

namespace millstream::sim {

queue::StoreOptions tiny_store_options() {
  queue::StoreOptions o;
  o.segment_bytes = 48 << 10;
  o.first_segment_bytes = 24 << 10;
  o.segments_spare = 2;
  o.block_bytes_max = 12 << 10;
  o.chunk_bytes = 3 << 10;
  o.spill_file_bytes = 48 << 10;
  o.spill_block_bytes = 8 << 10;
  o.checkpoint_bytes = 64 << 10;
  o.checkpoint_interval_ns = 2'000'000'000;
  o.journal_bytes_max = 2 << 20;
  o.disk_reserve_bytes = 64 << 10;
  o.units_told_at_once = 1;
  o.blocks_recent = 2;
  return o;
}

QueueNode::QueueNode(uint64_t seed, NodeOptions options)
    : sim(seed),
      executor(sim),
      disk(seed ^ 0x9E3779B97F4A7C15ull, options.disk_bytes),
      options_(std::move(options)),
      workers_(sim) {}

QueueNode::~QueueNode() { drop(); }

bool QueueNode::start() {
  drop();
  has_failed = false;
  error.clear();
  queue::QueueManagerOptions options;
  options.settings = options_.settings;
  options.executor = &executor;
  options.random = &sim.random();
  options.memory_bytes_max = options_.memory_bytes_max;
  options.on_failure = [this](const base::Error& failure) {
    if (is_dropping_) return;
    has_failed = true;
    error = failure.describe();
  };
  manager_ = std::make_unique<queue::QueueManager>(std::move(options));
  auto opened =
      queue::JournalStore::open(options_.store, {disk, sim.clock(), sim.random(), workers_},
                                manager_->listener(), manager_->recovery());
  if (!opened.ok()) {
    error = opened.error().describe();
    drop();
    return false;
  }
  store_ = std::move(opened).take_value();
  Status started = manager_->start(*store_);
  if (!started.ok()) {
    error = started.error().describe();
    drop();
    return false;
  }
  return !has_failed;
}

bool QueueNode::stop() {
  // In an order of our own: the run has to be the same every time.
  for (auto& weak : connections_) {
    if (auto connection = weak.lock()) connection->abandon();
  }
  manager_->stop();
  sim.run_ready(100'000);
  Status closed = store_->close();
  sim.run_ready(100'000);
  const bool is_ok = closed.ok() && !has_failed;
  if (!closed.ok()) error = closed.error().describe();
  lost_power = disk.has_crashed();
  kill();
  return is_ok;
}

void QueueNode::power_cut() {
  drop();
  disk.restart();
}

void QueueNode::kill() {
  drop();
  if (disk.has_crashed()) {
    disk.restart();
  } else {
    disk.restart_process();
  }
}

void QueueNode::drop() {
  sim.drop_all();
  if (manager_ != nullptr && !has_failed) {
    is_dropping_ = true;  // what is under way ends with the process; this frees it
    manager_->listener().failed({});
    is_dropping_ = false;
  }
  for (auto& weak : connections_) {
    if (auto connection = weak.lock()) connection->abandon();
  }
  connections_.clear();
  sim.drop_all();
  store_.reset();
  manager_.reset();
  sim.drop_all();
}

std::shared_ptr<queue::Connection> QueueNode::connect(base::Executor& on, std::string user) {
  std::shared_ptr<queue::Connection> out;
  queue::ConnectOptions options;
  options.user = std::move(user);
  options.application_name = "simulation";
  options.executor = &on;
  (void)manager_->connect(options, out);
  if (out != nullptr) connections_.push_back(out);
  return out;
}

uint32_t QueueNode::depth(const std::string& name) {
  queue::QueueRef queue = manager_->find_queue(name);
  if (queue == nullptr) return 0;
  std::lock_guard lock(queue->mutex());
  return queue->depth();
}

}  // namespace millstream::sim
