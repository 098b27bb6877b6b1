// Non-persistent messages that the memory budget has no room for: written to files without a name
// by a worker, read back when somebody gets or browses them. An entry whose message is out has the
// number of its place as location; the store never sees it.
// Thread: any; the files are touched by the worker alone.
#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "base/executor.h"
#include "queue/core/queue.h"
#include "queue/store/overflow.h"
#include "queue/store/store.h"

namespace millstream::queue {

class QueueManager;

class Paging {
 public:
  Paging(QueueManager& manager, Overflow& overflow, base::WorkerFactory& workers);
  ~Paging();
  // Its message leaves memory some time later, if it is still there then.
  void page_out(QueueRef queue, Sequence sequence, MessageRef message);
  void read(Location place, ReadDone& done);
  // The message is gone.
  void free(Location place);
  uint64_t messages_out() const;

 private:
  struct Job {
    QueueRef queue;  // of a page-out
    Sequence sequence = 0;
    MessageRef message;
    Location place;  // of a read
    ReadDone* done = nullptr;
  };
  bool step();
  void run_out(Job& job);
  void run_read(Job& job);

  QueueManager& manager_;
  Overflow& overflow_;
  mutable std::mutex mutex_;  // guards what follows
  std::deque<Job> jobs_;
  std::vector<std::pair<OverflowPlace, uint32_t>> places_;  // with the size of the header
  std::vector<uint64_t> free_places_;
  uint64_t out_ = 0;
  std::unique_ptr<base::Worker> worker_;  // last: its step uses the rest
};

}  // namespace millstream::queue
