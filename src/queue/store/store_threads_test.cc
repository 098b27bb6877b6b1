// The store on threads and a real directory: several appenders, each with a queue of its own,
// readers and checkpoints at the same time, then a kill and a start. ThreadSanitizer runs this one,
// too.
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_worker.h"
#include "io/durable.h"
#include "io/posix_disk.h"
#include "queue/store/store_rig_for_test.h"

namespace millstream::queue {
namespace {

// A core in small: an index by queue, kept up to date by the listener.
class ThreadsCore final : public StoreListener {
 public:
  void add(QueueId queue, Sequence sequence, Location location) {
    std::lock_guard lock(mutex_);
    index_[queue][sequence] = location;
  }
  bool take_first(QueueId queue, RedoGet* get) {
    std::lock_guard lock(mutex_);
    auto& messages = index_[queue];
    if (messages.empty()) return false;
    *get = {queue, messages.begin()->first, messages.begin()->second};
    messages.erase(messages.begin());
    return true;
  }
  bool last(QueueId queue, RedoGet* get) {
    std::lock_guard lock(mutex_);
    auto& messages = index_[queue];
    if (messages.empty()) return false;
    *get = {queue, messages.rbegin()->first, messages.rbegin()->second};
    return true;
  }
  size_t depth(QueueId queue) {
    std::lock_guard lock(mutex_);
    return index_[queue].size();
  }
  std::atomic<int> moves{0}, failures{0};

 private:
  bool moved(QueueId queue, Sequence sequence, Location from, Location to) override {
    std::lock_guard lock(mutex_);
    const auto message = index_[queue].find(sequence);
    if (message == index_[queue].end()) return false;
    if (!(message->second == from)) ++failures;
    message->second = to;
    ++moves;
    return true;
  }
  void failed(const base::Error&) override { ++failures; }
  void space_changed(bool) override {}
  std::mutex mutex_;
  std::map<QueueId, std::map<Sequence, Location>> index_;
};

class ThreadsDone final : public Pending {
 public:
  explicit ThreadsDone(ThreadsCore& core) : core_(core) {}
  void durable(std::span<const Location> puts) override {
    if (!puts.empty()) core_.add(queue, sequence, puts[0]);  // indexed before it is told
    std::lock_guard lock(mutex_);
    is_done_ = true;
    changed_.notify_one();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_done_; });
    is_done_ = false;
  }
  QueueId queue = 0;
  Sequence sequence = 0;

 private:
  ThreadsCore& core_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false;
};

class ThreadsRead final : public ReadDone {
 public:
  void read(Result<StoredMessage> message) override {
    std::lock_guard lock(mutex_);
    is_right_ = message.ok() && message.value().body.size() == 1500;
    is_done_ = true;
    changed_.notify_one();
  }
  bool wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_done_; });
    return is_right_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false, is_right_ = false;
};

void run_appender(Store& store, ThreadsCore& core, QueueId queue, int rounds) {
  const std::string body(1500, static_cast<char>('a' + queue));
  ThreadsDone done(core);
  done.queue = queue;
  for (int i = 1; i <= rounds; ++i) {
    RedoUnit unit;
    unit.puts.push_back({queue, {}, "header", body});
    unit.puts[0].index.sequence = done.sequence = static_cast<Sequence>(i);
    RedoGet get;
    if (i % 3 != 0 && core.take_first(queue, &get)) unit.gets.push_back(get);
    store.append(unit, done);
    done.wait();
    if (i % 5 == 0 && core.last(queue, &get)) {
      ThreadsRead read;
      store.read(get.location, read);
      if (!read.wait()) ++core.failures;
    }
  }
}

}  // namespace

TEST_CASE("store threads: appenders, reads and checkpoints at the same time, then a kill") {
  char folder[] = "/var/tmp/ms_store_XXXXXX";
  REQUIRE(::mkdtemp(folder));
  StoreOptions options = small_store_options();
  options.disk_reserve_bytes = 0;
  constexpr QueueId kAppenders = 4;
  std::vector<size_t> depths(kAppenders + 1);
  {
    base::ThreadWorkerFactory workers;
    auto disk = std::move(io::open_posix_disk(folder)).take_value();
    ThreadsCore core;
    StoreContent content;
    ContentHandler handler(content);
    auto store =
        std::move(JournalStore::open(options,
                                     {*disk, base::system_clock(), base::system_random(), workers},
                                     core, handler))
            .take_value();
    std::vector<std::thread> threads;
    for (QueueId q = 1; q <= kAppenders; ++q) {
      threads.emplace_back([&, q] { run_appender(*store, core, q, 120); });
    }
    std::atomic<bool> is_over{false};
    std::thread checkpoints([&] {
      while (!is_over) {
        store->checkpoint();
        const uint64_t before = store->usage().checkpoints;
        while (!is_over && store->usage().checkpoints == before) std::this_thread::yield();
      }
    });
    for (std::thread& thread : threads) thread.join();
    // On a busy machine the appenders may be through before a checkpoint has moved anything.
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (core.moves == 0 && std::chrono::steady_clock::now() < patience) {
      std::this_thread::yield();
    }
    is_over = true;
    checkpoints.join();
    for (QueueId q = 1; q <= kAppenders; ++q) depths[q] = core.depth(q);
    CHECK(core.failures == 0);
    CHECK(core.moves > 0);
  }  // killed
  base::ThreadWorkerFactory workers;
  auto disk = std::move(io::open_posix_disk(folder)).take_value();
  ThreadsCore core;
  StoreContent content;
  ContentHandler handler(content);
  auto store = std::move(JournalStore::open(
                             options, {*disk, base::system_clock(), base::system_random(), workers},
                             core, handler))
                   .take_value();
  CHECK(content.order_error == "");
  std::vector<size_t> found(kAppenders + 1);
  for (const auto& [key, message] : content.messages) ++found[key.first];
  CHECK(found == depths);
  REQUIRE(store->close().ok());
  REQUIRE(io::remove_tree(folder).ok());
}

}  // namespace millstream::queue
