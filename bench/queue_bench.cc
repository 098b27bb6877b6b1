// A whole queue manager in this process, measured against what the disk can do in the same run.
//
//   queue_bench commits [FOLDER [SECONDS]]   durable commits of 2 KB by 1, 8 and 100 fibers; the
//       baseline writes blocks of the same mean size with O_DIRECT|O_DSYNC, slice by slice in turn
//   queue_bench depth [FOLDER [MESSAGES]]    puts on a deep queue beside puts on an empty one
//   queue_bench restart [FOLDER]             kill -9 with 512 MB of journal, until the first get
//   queue_bench create [FOLDER]              a new queue manager, with all its objects
//
// FOLDER has to be on a disk (default /var/tmp). Exit code 1 when something failed; the figures are
// for docs/performance.md, nothing here passes or fails by time.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/thread_worker.h"
#include "io/aligned_buffer.h"
#include "io/durable.h"
#include "io/posix_disk.h"
#include "net/awaiter.h"
#include "net/reactor_executor.h"
#include "net/reactor_pool.h"
#include "queue/core/connection.h"
#include "queue/core/queue_manager.h"
#include "queue/mqsc/script_apply.h"
#include "queue/objects/system_objects.h"
#include "queue/store/journal_store.h"

namespace base = millstream::base;
namespace io = millstream::io;
namespace mqi = millstream::mqi;
namespace net = millstream::net;
namespace queue = millstream::queue;

namespace {

constexpr int64_t kSliceNs = 250'000'000;

void must(const millstream::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.error().describe().c_str());
  std::_Exit(1);
}

void must(const queue::Outcome& outcome, const char* what) {
  if (outcome.is_ok()) return;
  std::fprintf(stderr, "%s: reason %d\n", what, outcome.reason);
  std::_Exit(1);
}

template <typename T>
T must(millstream::Result<T> result) {
  if (!result.ok()) must(std::move(result).take_status());
  return std::move(result).take_value();
}

int64_t now_ns() { return base::system_clock().monotonic_ns(); }

// Of this process, to the disk.
uint64_t bytes_written() {
  std::ifstream io("/proc/self/io");
  std::string word;
  uint64_t value = 0;
  while (io >> word >> value) {
    if (word == "write_bytes:") return value;
  }
  return 0;
}

uint64_t resident_mb() {
  std::ifstream statm("/proc/self/statm");
  uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * 4096 >> 20;
}

struct Manager {
  Manager(const std::string& folder, const queue::StoreOptions& options) {
    pool = must(net::ReactorPool::create(1));
    executor = std::make_unique<net::ReactorExecutor>(pool->reactor(0));
    disk = must(io::open_posix_disk(folder));
    queue::QueueManagerOptions m;
    m.executor = executor.get();
    m.random = &base::system_random();
    m.settings.message_bytes_max = 4 << 20;
    m.on_failure = [](const base::Error& error) {
      std::fprintf(stderr, "%s\n", error.describe().c_str());
      std::_Exit(1);
    };
    manager = std::make_unique<queue::QueueManager>(std::move(m));
    store = must(queue::JournalStore::open(
        options, {*disk, base::system_clock(), base::system_random(), workers}, manager->listener(),
        manager->recovery()));
    must(manager->start(*store));
  }
  ~Manager() {
    net::FiberEvent stopped;
    manager->stop([&] { stopped.set(); });
    stopped.wait(net::kNever, false);
    must(store->close());
    pool->stop();
  }
  void define(const std::string& name) {
    queue::QueueSettings settings;
    settings.depth_max = 999'999'999;
    settings.default_persistent = true;
    manager->define_local(name, settings);
  }
  void run(std::function<void()> task) { pool->run_on(0, std::move(task)); }

  std::unique_ptr<net::ReactorPool> pool;
  std::unique_ptr<net::ReactorExecutor> executor;
  base::ThreadWorkerFactory workers;
  std::unique_ptr<io::Disk> disk;
  std::unique_ptr<queue::QueueManager> manager;
  std::unique_ptr<queue::JournalStore> store;
};

// In a fiber.
class Client {
 public:
  Client(Manager& m, const std::string& name, size_t bytes) : body_(bytes, 'x') {
    must(m.manager->connect({.user = "mqm",
                             .application_name = "bench",
                             .application_type = 6,
                             .channel = {},
                             .remote_address = {},
                             .executor = m.executor.get()},
                            connection_),
         "connect");
    queue::OpenCall open;
    open.object_name = name;
    open.options = mqi::oo::kOutput | mqi::oo::kInputShared;
    wait(connection_->open(open, answer_.callback()), "open");
    handle_ = open.handle;
  }
  void put() {
    queue::PutCall call;
    call.options = mqi::pmo::kSyncpoint | mqi::pmo::kNewMessageId;
    call.body = queue::Body::copy(body_);  // one shared by many puts would be stored once
    wait(connection_->put(handle_, call, fresh()), "put");
  }
  bool get() {
    queue::GetCall call;
    call.options = mqi::gmo::kSyncpoint;
    call.match_options = 0;
    queue::Outcome outcome = connection_->get(handle_, call, fresh());
    if (outcome.is_pending()) outcome = answer_.wait();
    if (outcome.reason == mqi::reason::kNoMsgAvailable) return false;
    must(outcome, "get");
    return true;
  }
  void commit() { wait(connection_->commit(fresh()), "commit"); }

 private:
  std::function<void(queue::Outcome)> fresh() {
    answer_ = {};
    return answer_.callback();
  }
  void wait(queue::Outcome outcome, const char* what) {
    if (outcome.is_pending()) outcome = answer_.wait();
    must(outcome, what);
  }
  struct Answer {
    std::unique_ptr<net::Awaiter<queue::Outcome>> awaiter =
        std::make_unique<net::Awaiter<queue::Outcome>>();
    std::function<void(queue::Outcome)> callback() { return awaiter->callback(); }
    queue::Outcome wait() { return awaiter->wait(); }
  };
  std::shared_ptr<queue::Connection> connection_;
  queue::Hobj handle_ = queue::kNoObject;
  const std::string body_;
  Answer answer_;
};

// Fibers that commit a put, and the get of what they put before, until the slice ends.
uint64_t commit_slice(Manager& m, std::vector<std::unique_ptr<Client>>& clients, bool gets) {
  std::atomic<uint64_t> commits{0};
  std::atomic<size_t> running{clients.size()};
  net::FiberEvent ended;
  const int64_t end = now_ns() + kSliceNs;
  for (auto& client : clients) {
    m.pool->reactor(0).spawn([&, c = client.get()] {
      while (now_ns() < end) {
        c->put();
        if (gets) c->get();
        c->commit();
        commits.fetch_add(1, std::memory_order_relaxed);
      }
      if (running.fetch_sub(1) == 1) ended.set();
    });
  }
  ended.wait(net::kNever, false);
  return commits;
}

std::vector<std::unique_ptr<Client>> make_clients(Manager& m, size_t count, const std::string& name,
                                                  size_t bytes, bool own_queues) {
  std::vector<std::unique_ptr<Client>> clients;
  for (size_t i = 0; i < count; ++i) {
    const std::string queue_name = own_queues ? name + std::to_string(i) : name;
    if (own_queues) m.define(queue_name);
    m.run([&] { clients.push_back(std::make_unique<Client>(m, queue_name, bytes)); });
  }
  return clients;
}

void bench_commits(const std::string& folder, double seconds) {
  queue::StoreOptions options;
  options.journal_bytes_max = 8ull << 30;
  Manager m(folder, options);
  constexpr uint64_t kFileBytes = 64 << 20;
  auto file = must(m.disk->create("baseline", kFileBytes));
  io::AlignedBuffer block(1 << 20);
  std::memset(block.data(), 'b', block.size());
  ::usleep(2'000'000);  // spare segments are made meanwhile
  for (const size_t count : {1, 8, 100}) {
    auto clients = make_clients(m, count, "C" + std::to_string(count) + ".", 2048, true);
    uint64_t blocks = m.store->usage().blocks_written, bytes = bytes_written();
    uint64_t commits = commit_slice(m, clients, true);
    blocks = m.store->usage().blocks_written - blocks;
    const uint64_t mean =
        std::max<uint64_t>((bytes_written() - bytes) / std::max<uint64_t>(blocks, 1), 4096);
    const size_t size = std::min<size_t>((mean + 2048) / 4096 * 4096, block.size());
    double own_s = 0, peer_s = 0;
    uint64_t writes = 0, at = 0;
    commits = 0;
    const uint64_t blocks_before = m.store->usage().blocks_written;
    while (own_s + peer_s < seconds) {
      int64_t begin = now_ns();
      commits += commit_slice(m, clients, true);
      own_s += static_cast<double>(now_ns() - begin) / 1e9;
      begin = now_ns();
      for (const int64_t end = begin + kSliceNs; now_ns() < end; ++writes) {
        if (at + size > kFileBytes) at = 0;
        must(file->write(at, block.data(), size));
        at += size;
      }
      peer_s += static_cast<double>(now_ns() - begin) / 1e9;
    }
    blocks = m.store->usage().blocks_written - blocks_before;
    const double per_block = static_cast<double>(commits) / static_cast<double>(blocks);
    const double rate = static_cast<double>(commits) / own_s;
    const double peer = static_cast<double>(writes) / peer_s * per_block;
    std::printf(
        "%3zu fibers: %8.0f commits/s, %6.0f flushes/s, %5.1f commits a flush; baseline "
        "%6.0f writes/s of %zu bytes = %8.0f commits/s; ratio %.2f\n",
        count, rate, static_cast<double>(blocks) / own_s, per_block,
        static_cast<double>(writes) / peer_s, size, peer, rate / peer);
    std::fflush(stdout);
    m.run([&] { clients.clear(); });
  }
}

void bench_depth(const std::string& folder, uint64_t messages) {
  queue::StoreOptions options;
  options.journal_bytes_max = 8ull << 30;
  Manager m(folder, options);
  m.define("DEEP");
  const int64_t begin = now_ns();
  m.run([&] {
    Client client(m, "DEEP", 100);
    for (uint64_t i = 0; i < messages; ++i) {
      client.put();
      if (i % 1000 == 999) {
        client.commit();
        if (i % 1'000'000 == 999'999) {
          std::fprintf(stderr, "\r%llu million",
                       static_cast<unsigned long long>((i + 1) / 1'000'000));
        }
      }
    }
    client.commit();
  });
  std::printf(
      "%llu messages of 100 bytes in %.1f s; resident %llu MB, messages and index by our "
      "own count %llu MB\n",
      static_cast<unsigned long long>(messages), static_cast<double>(now_ns() - begin) / 1e9,
      static_cast<unsigned long long>(resident_mb()),
      static_cast<unsigned long long>(m.manager->memory_bytes() >> 20));
  for (const size_t count : {1, 100}) {
    m.define("EMPTY");
    auto deep = make_clients(m, count, "DEEP", 100, false);
    auto empty = make_clients(m, count, "EMPTY", 100, false);
    uint64_t on_deep = 0, on_empty = 0;
    for (int i = 0; i < 12; ++i) {
      on_empty += commit_slice(m, empty, false);
      on_deep += commit_slice(m, deep, false);
    }
    std::printf(
        "%3zu fibers: %.0f puts/s on the empty queue, %.0f on the deep one: %.1f %% slower\n",
        count, static_cast<double>(on_empty) / 3, static_cast<double>(on_deep) / 3,
        100.0 - 100.0 * static_cast<double>(on_deep) / static_cast<double>(on_empty));
    std::fflush(stdout);
    m.run([&] {
      deep.clear();
      empty.clear();
    });
  }
}

void fill_and_die(const std::string& folder, size_t bytes) {
  queue::StoreOptions options;
  options.checkpoint_bytes = 4ull << 30;
  options.checkpoint_interval_ns = 3'600'000'000'000;
  options.journal_bytes_max = 8ull << 30;
  Manager m(folder, options);
  m.define("Q");
  m.run([&] {
    Client client(m, "Q", bytes);
    while (m.store->usage().journal_bytes < 512ull << 20) {
      for (int i = 0; i < 500; ++i) client.put();
      client.commit();
    }
  });
  ::kill(::getpid(), SIGKILL);
}

void bench_restart(const std::string& folder) {
  for (const size_t bytes : {2048, 100}) {
    const std::string path = folder + "/" + std::to_string(bytes);
    const pid_t child = ::fork();
    if (child == 0) fill_and_die(path, bytes);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFSIGNALED(status)) std::_Exit(1);
    const int64_t begin = now_ns();
    Manager m(path, {});
    const int64_t started = now_ns();
    m.run([&] {
      Client client(m, "Q", bytes);
      if (!client.get()) std::_Exit(1);
    });
    std::printf(
        "kill -9 with %.0f MB of journal, %zu byte messages: %.2f s to the start, %.2f s to "
        "the first get; %llu messages\n",
        static_cast<double>(m.store->recovery().bytes) / 1e6, bytes,
        static_cast<double>(started - begin) / 1e9, static_cast<double>(now_ns() - begin) / 1e9,
        static_cast<unsigned long long>(m.store->recovery().messages));
    std::fflush(stdout);
  }
}

void bench_create(const std::string& folder) {
  for (int i = 0; i < 5; ++i) {
    const int64_t begin = now_ns();
    Manager m(folder + "/" + std::to_string(i), {});
    const auto target = queue::make_admin_target(*m.manager, "mqm");
    for (auto [name, script] :
         {std::pair("system", queue::objects::system_objects_script()),
          std::pair("developer", queue::objects::developer_objects_script())}) {
      net::Awaiter<queue::mqsc::AppliedScript> answer;
      queue::mqsc::apply_script(*target, name, script, answer.callback());
      if (answer.wait().result.exit_code() != queue::mqsc::kExitOk) std::_Exit(1);
    }
    std::printf("a new queue manager: %.1f ms\n", static_cast<double>(now_ns() - begin) / 1e6);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  std::string folder = std::string(argc > 2 ? argv[2] : "/var/tmp") + "/queue_bench_XXXXXX";
  if (!::mkdtemp(folder.data())) {
    std::perror(folder.c_str());
    return 1;
  }
  if (what == "commits") {
    bench_commits(folder + "/qm", argc > 3 ? std::atof(argv[3]) : 8);
  } else if (what == "depth") {
    bench_depth(folder + "/qm", argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 10'000'000);
  } else if (what == "restart") {
    bench_restart(folder);
  } else if (what == "create") {
    bench_create(folder);
  } else {
    std::fprintf(stderr, "queue_bench commits|depth|restart|create [FOLDER [AMOUNT]]\n");
  }
  return io::remove_tree(folder).ok() ? 0 : 1;
}
