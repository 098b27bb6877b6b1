// A real process with a real data directory, for tests/crash/run.py, which kills it at any instant:
// clients in fibers put to three queues in one unit of work, move messages between queues and get
// them, and write what they mean to do and what they were told to files of their own.
//
//   queue_process work DIR LEDGERS ROUND   until it is killed
//   queue_process check DIR LEDGERS        starts, browses all, judges; exit 1 when a promise broke
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "base/thread_worker.h"
#include "io/posix_disk.h"
#include "net/awaiter.h"
#include "net/reactor_executor.h"
#include "net/reactor_pool.h"
#include "queue/core/connection.h"
#include "queue/store/journal_store.h"
#include "sim/ledger.h"
#include "sim/message_text.h"

namespace millstream::sim {
namespace {

using Kind = LedgerEntry::Kind;
using queue::Outcome;
namespace oo = mqi::oo;

constexpr int kProcessClients = 4;
constexpr const char* kProcessQueues[] = {"Q1", "Q2", "Q3"};

int64_t process_now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "queue_process: %s\n", why.c_str());
  _exit(2);
}

class ProcessNode {
 public:
  explicit ProcessNode(const std::string& folder) {
    auto pool = net::ReactorPool::create(2);
    if (!pool.ok()) give_up(pool.error().describe());
    pool_ = std::move(pool).take_value();
    for (int i = 0; i < 2; ++i) {
      executors_.push_back(std::make_unique<net::ReactorExecutor>(pool_->reactor(i)));
    }
    auto disk = io::open_posix_disk(folder);
    if (!disk.ok()) disk = io::open_posix_disk(folder, io::DiskWay::kBuffered);
    if (!disk.ok()) give_up(disk.error().describe());
    disk_ = std::move(disk).take_value();
    queue::QueueManagerOptions options;
    options.executor = executors_[0].get();
    options.random = &base::system_random();
    options.on_failure = [](const base::Error& error) { give_up(error.describe()); };
    manager = std::make_unique<queue::QueueManager>(std::move(options));
    queue::StoreOptions store;
    store.segment_bytes = 1 << 20;
    store.first_segment_bytes = 256 << 10;
    store.block_bytes_max = 128 << 10;
    store.chunk_bytes = 32 << 10;
    store.spill_file_bytes = 1 << 20;
    store.checkpoint_bytes = 2 << 20;
    store.journal_bytes_max = 64 << 20;
    store.disk_reserve_bytes = 8 << 20;
    auto opened = queue::JournalStore::open(
        store, {*disk_, base::system_clock(), base::system_random(), workers_}, manager->listener(),
        manager->recovery());
    if (!opened.ok()) give_up(opened.error().describe());
    store_ = std::move(opened).take_value();
    if (!manager->start(*store_).ok()) give_up("the queue manager does not start");
    for (const char* queue : kProcessQueues) {
      if (manager->find_queue(queue) == nullptr) {
        manager->define_local(queue, {.depth_max = 1'000'000});
      }
    }
  }
  // Runs in a fiber of a reactor; its connection is there, too.
  template <typename F>
  void with_connection(int client, F&& run) {
    pool_->run_on(client % 2, [&] {
      std::shared_ptr<queue::Connection> connection;
      queue::ConnectOptions options;
      options.user = "client" + std::to_string(client);
      options.executor = executors_[static_cast<size_t>(client % 2)].get();
      if (!manager->connect(options, connection).is_ok()) give_up("no connection");
      run(*connection);
    });
  }
  std::unique_ptr<queue::QueueManager> manager;

 private:
  std::unique_ptr<net::ReactorPool> pool_;
  std::vector<std::unique_ptr<net::ReactorExecutor>> executors_;
  base::ThreadWorkerFactory workers_;
  std::unique_ptr<io::Disk> disk_;
  std::unique_ptr<queue::JournalStore> store_;
};

template <typename Call>
Outcome await(Call&& call) {
  net::Awaiter<Outcome> answer;
  Outcome outcome = call(answer.callback());
  return outcome.is_pending() ? answer.wait() : outcome;
}

queue::Hobj open_queue(queue::Connection& connection, const char* name) {
  queue::OpenCall call;
  call.object_name = name;
  call.options = oo::kInputShared | oo::kOutput | oo::kBrowse;
  if (!connection.open(call).is_ok()) give_up(std::string(name) + " does not open");
  return call.handle;
}

// One client of one round.
class ProcessClient {
 public:
  ProcessClient(queue::Connection& connection, const std::string& ledger, std::string name)
      : connection_(connection), name_(std::move(name)) {
    file_ = ::open((ledger + "/" + name_ + ".log").c_str(), O_CREAT | O_APPEND | O_WRONLY, 0644);
    if (file_ < 0) give_up("no ledger");
    for (const char* queue : kProcessQueues) handles_.push_back(open_queue(connection, queue));
  }

  void run() {
    base::Random& random = base::system_random();
    for (;;) {
      unit_ = name_ + "u" + std::to_string(++units_);
      const uint64_t dice = random.next_u64() % 10;
      if (dice < 5) {
        for (int i = 0; i < 3; ++i) put(i, 50 + random.next_u64() % 3000);  // over three queues
      } else if (dice < 8) {
        for (uint64_t n = 1 + random.next_u64() % 5; n > 0; --n) {
          get(static_cast<int>(random.next_u64() % 3));
        }
        if (dice == 7) put(static_cast<int>(random.next_u64() % 3), 100);
      } else if (dice == 8) {
        put(0, 60'000);  // more than a chunk
        put(1, 10);
      } else {
        get(static_cast<int>(random.next_u64() % 3));
        write(Kind::kBackedOut);
        (void)connection_.back();
        continue;
      }
      write(Kind::kCommit);
      const Outcome o = await([&](queue::Done done) { return connection_.commit(done); });
      if (o.is_failed() && o.reason != mqi::reason::kBackedOut) give_up("commit fails");
      write(o.is_failed() ? Kind::kBackedOut : Kind::kCommitted);
    }
  }

 private:
  void write(LedgerEntry entry) {
    entry.at_ns = process_now_ns();
    if (entry.unit.empty()) entry.unit = unit_;
    std::string line;
    write_entry(entry, line);
    if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      give_up("the ledger cannot be written");
    }
  }
  void write(Kind kind) {
    LedgerEntry entry;
    entry.kind = kind;
    write(std::move(entry));
  }

  void put(int queue, size_t bytes) {
    LedgerEntry entry;
    entry.queue = kProcessQueues[queue];
    entry.producer = name_;
    entry.number = ++number_;
    entry.key = name_ + "k" + std::to_string(number_);
    queue::PutCall call;
    call.md.message_id = mqi::Id(entry.key);
    call.md.persistence = 1;
    call.body = queue::Body::adopt(make_message_text(entry.key, bytes));
    call.options = mqi::pmo::kSyncpoint;
    const Outcome o = await([&](queue::Done done) {
      return connection_.put(handles_[static_cast<size_t>(queue)], call, done);
    });
    if (!o.is_failed()) write(std::move(entry));
  }

  void get(int queue) {
    queue::GetCall call;
    call.options = mqi::gmo::kSyncpoint;
    call.match_options = mqi::mo::kNone;
    const Outcome o = await([&](queue::Done done) {
      return connection_.get(handles_[static_cast<size_t>(queue)], call, done);
    });
    if (!o.is_ok()) return;
    MessageText text = read_message_text(call.body.view(), call.data_bytes);
    if (!text.error.empty()) give_up(text.error);
    LedgerEntry entry;
    entry.kind = Kind::kGot;
    entry.queue = kProcessQueues[queue];
    entry.key = text.key;
    entry.producer = name_;
    entry.is_flagged = call.md.backout_count > 0 || call.is_maybe_redelivered;
    write(std::move(entry));
  }

  queue::Connection& connection_;
  std::string name_, unit_;
  std::vector<queue::Hobj> handles_;
  int file_ = -1;
  uint64_t units_ = 0, number_ = 0;
};

int work(const std::string& folder, const std::string& ledger, const std::string& round) {
  {
    LedgerEntry entry;  // whatever ran before is dead
    entry.kind = Kind::kCrash;
    entry.at_ns = process_now_ns();
    std::string line;
    write_entry(entry, line);
    std::ofstream(ledger + "/r" + round + "start.log", std::ios::app) << line;
  }
  ProcessNode node(folder);
  std::vector<std::thread> threads;
  for (int i = 0; i < kProcessClients; ++i) {
    threads.emplace_back([&, i] {
      node.with_connection(i, [&](queue::Connection& connection) {
        ProcessClient(connection, ledger, "r" + round + "c" + std::to_string(i)).run();
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

void browse_all(queue::Connection& connection, queue::QueueManager& manager, Ledger& ledger) {
  for (const char* name : kProcessQueues) {
    queue::Hobj handle = open_queue(connection, name);
    for (;;) {
      queue::GetCall call;
      call.options = mqi::gmo::kBrowseNext;
      call.match_options = mqi::mo::kNone;
      const Outcome o = await([&](queue::Done done) { return connection.get(handle, call, done); });
      if (!o.is_ok()) {
        if (o.reason != mqi::reason::kNoMsgAvailable) give_up("a browse fails");
        break;
      }
      MessageText text = read_message_text(call.body.view(), call.data_bytes);
      if (!text.error.empty()) give_up(text.error);
      LedgerEntry entry;
      entry.kind = Kind::kLeft;
      entry.at_ns = process_now_ns();
      entry.queue = name;
      entry.key = text.key;
      ledger.add(std::move(entry));
    }
    LedgerEntry depth;
    depth.kind = Kind::kDepth;
    depth.at_ns = process_now_ns();
    depth.queue = name;
    queue::QueueRef queue = manager.find_queue(name);
    std::lock_guard lock(queue->mutex());
    depth.number = queue->depth();
    ledger.add(std::move(depth));
  }
}

int check(const std::string& folder, const std::string& ledger_folder) {
  Ledger ledger;
  for (const auto& file : std::filesystem::directory_iterator(ledger_folder)) {
    std::ifstream in(file.path());
    std::stringstream text;
    text << in.rdbuf();
    std::vector<LedgerEntry> entries;
    std::string error;
    if (!read_entries(text.str(), entries, error)) give_up(file.path().string() + ": " + error);
    for (LedgerEntry& entry : entries) ledger.add(std::move(entry));
  }
  LedgerEntry crash;
  crash.kind = Kind::kCrash;
  crash.at_ns = process_now_ns();
  ledger.add(std::move(crash));
  ProcessNode node(folder);
  node.with_connection(
      0, [&](queue::Connection& connection) { browse_all(connection, *node.manager, ledger); });
  const LedgerVerdict verdict = ledger.check();
  std::fputs(verdict.summary().c_str(), stdout);
  std::fflush(stdout);
  _exit(verdict.ok() ? 0 : 1);  // as a kill: the directory is for the next round
}

}  // namespace
}  // namespace millstream::sim

int main(int argc, char** argv) {
  using namespace millstream::sim;
  if (argc == 5 && std::strcmp(argv[1], "work") == 0) return work(argv[2], argv[3], argv[4]);
  if (argc == 4 && std::strcmp(argv[1], "check") == 0) return check(argv[2], argv[3]);
  std::fprintf(stderr, "usage: queue_process work DIR LEDGERS ROUND | check DIR LEDGERS\n");
  return 2;
}
