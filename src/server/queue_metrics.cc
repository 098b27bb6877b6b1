#include "server/queue_metrics.h"

#include <algorithm>
#include <mutex>

#include "queue/core/queue.h"

namespace millstream::server {
namespace {

using base::MetricType;

struct QueueNumbers {
  std::string manager, queue;
  uint64_t depth = 0, uncommitted = 0, puts = 0, gets = 0;
  double oldest_seconds = 0;
};

struct ManagerNumbers {
  std::string name;
  uint64_t connections = 0, memory_bytes = 0, memory_bytes_max = 0, alarms = 0, puts_refused = 0;
};

void add_numbers(queue::QueueManager& manager, std::vector<QueueNumbers>& out) {
  for (const queue::NamedQueueRef& object : manager.objects().all()) {
    if (object->kind != queue::QueueKind::kLocal) continue;
    queue::Queue& queue = *object->queue;
    QueueNumbers n;
    {
      std::lock_guard lock(queue.mutex());
      n.depth = static_cast<uint64_t>(queue.depth());
      n.uncommitted = static_cast<uint64_t>(queue.uncommitted_puts() + queue.locked());
      n.puts = queue.statistics.puts;
      n.gets = queue.statistics.gets;
      const int64_t oldest = queue.oldest_put_gmt_micros();
      if (oldest > 0) {
        n.oldest_seconds =
            static_cast<double>(std::max<int64_t>(0, manager.now_gmt_micros() - oldest)) / 1e6;
      }
    }
    const bool is_system = object->name.starts_with("SYSTEM.");
    if (is_system && n.depth == 0 && n.puts == 0) continue;
    n.manager = manager.name();
    n.queue = object->name;
    out.push_back(std::move(n));
  }
}

void write_manager_numbers(const std::vector<ManagerNumbers>& numbers, base::MetricWriter& w) {
  auto by_number = [&](const char* name, MetricType type, const char* help, auto member) {
    w.family(name, type, help);
    for (const ManagerNumbers& n : numbers) w.sample({{"qmgr", n.name}}, n.*member);
  };
  by_number("millstream_queue_manager_connections", MetricType::kGauge,
            "Connections that are open.", &ManagerNumbers::connections);
  by_number("millstream_queue_manager_memory_bytes", MetricType::kGauge,
            "Bytes of messages in memory.", &ManagerNumbers::memory_bytes);
  by_number("millstream_queue_manager_memory_bytes_max", MetricType::kGauge,
            "The memory budget: beyond it messages are kept on the disk.",
            &ManagerNumbers::memory_bytes_max);
  by_number("millstream_queue_manager_space_alarms_total", MetricType::kCounter,
            "How often persistent puts began to be refused because journal or disk were nearly "
            "full.",
            &ManagerNumbers::alarms);
  by_number("millstream_queue_manager_puts_refused_total", MetricType::kCounter,
            "Persistent puts that were refused for want of space.", &ManagerNumbers::puts_refused);
}

}  // namespace

void collect_queue_metrics(const QueueManagers& managers, base::MetricWriter& w) {
  std::vector<QueueNumbers> queues;
  std::vector<std::pair<std::string, queue::StoreUsage>> stores;
  std::vector<ManagerNumbers> numbers;
  for (const std::string& name : managers.names()) {
    queue::QueueManager* manager = managers.find(name);
    if (!manager) continue;
    add_numbers(*manager, queues);
    stores.emplace_back(name, manager->store().usage());
    const SpaceAlarms alarms = managers.alarms_of(name);
    numbers.push_back({name, manager->connection_count(), manager->memory_bytes(),
                       manager->options().memory_bytes_max, alarms.begun, alarms.puts_refused});
  }
  if (stores.empty()) return;
  auto by_queue = [&](const char* name, MetricType type, const char* help, auto value) {
    w.family(name, type, help);
    for (const QueueNumbers& n : queues) {
      w.sample({{"qmgr", n.manager}, {"queue", n.queue}}, value(n));
    }
  };
  by_queue("millstream_queue_depth", MetricType::kGauge, "Messages on the queue, CURDEPTH.",
           [](const QueueNumbers& n) { return n.depth; });
  by_queue("millstream_queue_uncommitted", MetricType::kGauge,
           "Puts and gets of units of work that are open.",
           [](const QueueNumbers& n) { return n.uncommitted; });
  by_queue("millstream_queue_puts_total", MetricType::kCounter, "Messages that were put.",
           [](const QueueNumbers& n) { return n.puts; });
  by_queue("millstream_queue_gets_total", MetricType::kCounter, "Messages that were got.",
           [](const QueueNumbers& n) { return n.gets; });
  by_queue("millstream_queue_oldest_message_seconds", MetricType::kGauge,
           "How long the oldest message has been there; 0 when it is not known.",
           [](const QueueNumbers& n) { return n.oldest_seconds; });
  auto by_manager = [&](const char* name, MetricType type, const char* help, auto value) {
    w.family(name, type, help);
    for (const auto& [manager, usage] : stores) w.sample({{"qmgr", manager}}, value(usage));
  };
  by_manager("millstream_queue_manager_journal_bytes", MetricType::kGauge,
             "Bytes of the journal that a restart would read.",
             [](const queue::StoreUsage& u) { return u.journal_bytes; });
  by_manager("millstream_queue_manager_journal_bytes_max", MetricType::kGauge,
             "What the journal may grow to.",
             [](const queue::StoreUsage& u) { return u.journal_bytes_max; });
  by_manager("millstream_queue_manager_spill_bytes", MetricType::kGauge,
             "Bytes of files of messages that outlived their part of the journal.",
             [](const queue::StoreUsage& u) { return u.spill_bytes; });
  by_manager("millstream_queue_manager_disk_free_bytes", MetricType::kGauge,
             "Free space of the file system with the data.",
             [](const queue::StoreUsage& u) { return u.disk_free_bytes; });
  by_manager("millstream_queue_manager_flushes_total", MetricType::kCounter,
             "Blocks of the journal that were made durable.",
             [](const queue::StoreUsage& u) { return u.blocks_written; });
  by_manager("millstream_queue_manager_units_total", MetricType::kCounter,
             "Units of work that were made durable.",
             [](const queue::StoreUsage& u) { return u.units_written; });
  by_manager("millstream_queue_manager_checkpoints_total", MetricType::kCounter,
             "Checkpoints that were written.",
             [](const queue::StoreUsage& u) { return u.checkpoints; });
  by_manager("millstream_queue_manager_admits_puts", MetricType::kGauge,
             "1; 0 while persistent puts are refused because journal or disk are nearly full.",
             [](const queue::StoreUsage& u) { return uint64_t{u.admits_puts}; });
  by_manager("millstream_queue_manager_spill_live_bytes", MetricType::kGauge,
             "What of the spill bytes is messages that are still there.",
             [](const queue::StoreUsage& u) { return u.spill_live_bytes; });
  write_manager_numbers(numbers, w);
}

}  // namespace millstream::server
