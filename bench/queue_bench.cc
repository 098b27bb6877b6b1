// A whole queue manager in this process, measured against what the disk can do in the same run.
//
//   queue_bench commits [FOLDER [SECONDS [FIBERS]]]   durable commits of 2 KB by 1, 8 and 100
//   fibers, each a
//       put and the get of the put before (and once more without gets); the baseline appends blocks
//       of the store's own median size with O_DIRECT|O_DSYNC, on a thread like the store's own,
//       slice by slice in turn
//   queue_bench depth [FOLDER [MESSAGES]]    puts on a deep queue beside puts on an empty one
//   queue_bench restart [FOLDER]             kill -9 with 512 MB of journal, until the first get
//   queue_bench create [FOLDER]              a new queue manager, with all its objects
//
// FOLDER has to be on a disk (default /var/tmp). Exit code 1 when something failed, or when the
// messages of `depth` do not fit the memory budget; nothing passes or fails by time.
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
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

constexpr int64_t kSliceNs = 60'000'000;

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

// Until nothing is written any more: spare segments are there, and checkpoints have ended.
void wait_for_rest() {
  for (uint64_t before = 0, now = bytes_written(); now != before; now = bytes_written()) {
    before = now;
    ::usleep(300'000);
  }
}

uint64_t resident_mb() {
  std::ifstream statm("/proc/self/statm");
  uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * 4096 >> 20;
}

// Notes how large the journal's blocks are; everything else goes through.
class CountingDisk final : public io::Disk {
 public:
  using FileResult = millstream::Result<std::unique_ptr<io::DiskFile>>;
  explicit CountingDisk(std::unique_ptr<io::Disk> disk) : disk_(std::move(disk)) {}
  struct Blocks {
    std::vector<size_t> sizes;
    int64_t writing_ns = 0;
  };
  Blocks take_blocks() {
    std::lock_guard lock(mutex_);
    return std::exchange(blocks_, {});
  }
  void note(size_t bytes, int64_t ns) {
    std::lock_guard lock(mutex_);
    blocks_.sizes.push_back(bytes);
    blocks_.writing_ns += ns;
  }

  millstream::Status make_folder(const std::string& n) override { return disk_->make_folder(n); }
  FileResult create(const std::string& name, uint64_t bytes) override {
    return wrap(name, disk_->create(name, bytes));
  }
  FileResult open(const std::string& name) override { return wrap(name, disk_->open(name)); }
  FileResult create_unlinked() override { return disk_->create_unlinked(); }
  millstream::Status rename(const std::string& from, const std::string& to) override {
    return disk_->rename(from, to);
  }
  millstream::Status remove(const std::string& name) override { return disk_->remove(name); }
  millstream::Status sync_folder(const std::string& n) override { return disk_->sync_folder(n); }
  millstream::Result<std::vector<std::string>> list(const std::string& folder) override {
    return disk_->list(folder);
  }
  millstream::Status lock() override { return disk_->lock(); }
  millstream::Result<uint64_t> free_bytes() override { return disk_->free_bytes(); }
  size_t page_bytes() const override { return disk_->page_bytes(); }
  const std::string& path() const override { return disk_->path(); }

 private:
  class File final : public io::DiskFile {
   public:
    File(CountingDisk& disk, std::unique_ptr<io::DiskFile> file)
        : disk_(disk), file_(std::move(file)) {}
    const std::string& name() const override { return file_->name(); }
    millstream::Result<uint64_t> size() override { return file_->size(); }
    millstream::Status read(uint64_t at, void* out, size_t size) override {
      return file_->read(at, out, size);
    }
    millstream::Status write(uint64_t at, const void* data, size_t size) override {
      const int64_t begin = now_ns();
      millstream::Status status = file_->write(at, data, size);
      disk_.note(size, now_ns() - begin);
      return status;
    }
    millstream::Status write_later(uint64_t at, const void* data, size_t size) override {
      return file_->write_later(at, data, size);
    }
    millstream::Status sync() override { return file_->sync(); }
    millstream::Status extend(uint64_t size) override { return file_->extend(size); }

   private:
    CountingDisk& disk_;
    std::unique_ptr<io::DiskFile> file_;
  };
  FileResult wrap(const std::string& name, FileResult file) {
    if (!file.ok() || !name.starts_with("journal/")) return file;
    return FileResult(std::make_unique<File>(*this, std::move(file).take_value()));
  }

  std::unique_ptr<io::Disk> disk_;
  std::mutex mutex_;
  Blocks blocks_;
};

struct Manager {
  Manager(const std::string& folder, const queue::StoreOptions& options,
          uint64_t memory_bytes_max = 256 << 20) {
    pool = must(net::ReactorPool::create(1));
    executor = std::make_unique<net::ReactorExecutor>(pool->reactor(0));
    disk = std::make_unique<CountingDisk>(must(io::open_posix_disk(folder)));
    queue::QueueManagerOptions m;
    m.executor = executor.get();
    m.random = &base::system_random();
    m.settings.message_bytes_max = 4 << 20;
    m.memory_bytes_max = memory_bytes_max;
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
  std::unique_ptr<CountingDisk> disk;
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

// The baseline: one thread, one file of the size of a segment, one write after the other.
class Baseline {
 public:
  explicit Baseline(io::Disk& disk)
      : file_(must(disk.create("baseline", kFileBytes))), block_(1 << 20) {
    std::memset(block_.data(), 'b', block_.size());
  }
  uint64_t slice(size_t bytes) {
    uint64_t writes = 0;
    net::FiberEvent ended;
    const int64_t end = now_ns() + kSliceNs;
    auto worker = workers_.start("baseline", [&] {
      if (now_ns() >= end) {
        ended.set();
        return false;
      }
      if (at_ + bytes > kFileBytes) at_ = 0;
      must(file_->write(at_, block_.data(), bytes));
      at_ += bytes;
      ++writes;
      return true;
    });
    worker->wake();
    ended.wait(net::kNever, false);
    return writes;
  }

 private:
  static constexpr uint64_t kFileBytes = 64 << 20;
  std::unique_ptr<io::DiskFile> file_;
  io::AlignedBuffer block_;
  uint64_t at_ = 0;
  base::ThreadWorkerFactory workers_;
};

size_t median(std::vector<size_t> sizes) {
  if (sizes.empty()) return 4096;
  std::nth_element(sizes.begin(), sizes.begin() + sizes.size() / 2, sizes.end());
  return sizes[sizes.size() / 2];
}

double cpu_s() {
  timespec t;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

void compare_commits(Manager& m, Baseline& baseline, size_t count, bool gets, double seconds) {
  const std::string name = (gets ? "G" : "P") + std::to_string(count) + ".";
  auto clients = make_clients(m, count, name, 2048, true);
  // Spare segments are made meanwhile: later ones are used again.
  for (int i = 0; i < 16; ++i) commit_slice(m, clients, gets);
  wait_for_rest();
  double own_s = 0, own_cpu_s = 0, peer_s = 0, writing_s = 0;
  uint64_t commits = 0, writes = 0, blocks = 0, bytes = 0, peer_bytes = 0;
  std::vector<size_t> all;
  m.disk->take_blocks();
  while (own_s + peer_s < seconds) {
    int64_t begin = now_ns();
    const double cpu = cpu_s();
    commits += commit_slice(m, clients, gets);
    own_cpu_s += cpu_s() - cpu;
    own_s += static_cast<double>(now_ns() - begin) / 1e9;
    const CountingDisk::Blocks written = m.disk->take_blocks();
    blocks += written.sizes.size();
    for (const size_t size : written.sizes) bytes += size;
    all.insert(all.end(), written.sizes.begin(), written.sizes.end());
    writing_s += static_cast<double>(written.writing_ns) / 1e9;
    const size_t size = median(all);
    begin = now_ns();
    const uint64_t done = baseline.slice(size);
    peer_s += static_cast<double>(now_ns() - begin) / 1e9;
    writes += done;
    peer_bytes += done * size;
  }
  const double rate = static_cast<double>(commits) / own_s;
  const double commit_bytes = static_cast<double>(bytes) / static_cast<double>(commits);
  const double peer = static_cast<double>(peer_bytes) / peer_s / commit_bytes;
  std::printf(
      "%3zu fibers, %s: %7.0f commits/s, %5.0f flushes/s, %5.1f commits a flush, %4.1f us of CPU a "
      "commit, writing %2.0f %% of the time; baseline %5.0f writes/s of %zu bytes = %7.0f "
      "commits/s; ratio %.2f\n",
      count, gets ? "put and get" : "put only   ", rate, static_cast<double>(blocks) / own_s,
      static_cast<double>(commits) / static_cast<double>(blocks),
      own_cpu_s * 1e6 / static_cast<double>(commits), 100 * writing_s / own_s,
      static_cast<double>(writes) / peer_s, median(all), peer, rate / peer);
  std::fflush(stdout);
  m.run([&] { clients.clear(); });
}

void bench_commits(const std::string& folder, double seconds, size_t only) {
  queue::StoreOptions options;
  options.journal_bytes_max = 8ull << 30;
  Manager m(folder, options);
  Baseline baseline(*m.disk);
  for (const bool gets : {true, false}) {
    for (const size_t count : {1, 8, 100}) {
      if (only == 0 || only == count) compare_commits(m, baseline, count, gets, seconds);
    }
  }
}

// Not by time, but whether so many messages fit: the budget is of messages and index, and the
// process has little beside.
void check_depth(Manager& m, uint64_t messages, uint64_t budget_mb) {
  const uint64_t counted_mb = m.manager->memory_bytes() >> 20;
  const queue::QueueRef queue = m.manager->find_queue("DEEP");
  uint64_t depth = 0;
  {
    std::lock_guard lock(queue->mutex());
    depth = queue->depth();
  }
  std::printf(
      "%llu messages deep; budget %llu MB, messages and index by our own count %llu MB, resident "
      "%llu MB\n",
      static_cast<unsigned long long>(depth), static_cast<unsigned long long>(budget_mb),
      static_cast<unsigned long long>(counted_mb), static_cast<unsigned long long>(resident_mb()));
  std::fflush(stdout);
  if (depth == messages && counted_mb <= budget_mb && resident_mb() <= budget_mb * 5 / 4 + 128) {
    return;
  }
  std::fprintf(stderr, "this is beyond the budget, or not all of them\n");
  std::_Exit(1);
}

void bench_depth(const std::string& folder, uint64_t messages) {
  queue::StoreOptions options;
  options.journal_bytes_max = 8ull << 30;
  constexpr uint64_t kIndexBytes = 140;  // of a message
  const uint64_t budget_mb = 128 + (messages * kIndexBytes >> 20);
  Manager m(folder, options, budget_mb << 20);
  m.define("DEEP");
  m.define("EMPTY");
  const int64_t begin = now_ns();
  m.run([&] {
    Client client(m, "DEEP", 100);
    for (uint64_t i = 0; i < messages; ++i) {
      client.put();
      if (i % 1000 == 999) client.commit();
    }
    client.commit();
  });
  std::printf("%llu puts of 100 bytes in %.1f s\n", static_cast<unsigned long long>(messages),
              static_cast<double>(now_ns() - begin) / 1e9);
  check_depth(m, messages, budget_mb);
  for (const size_t count : {1, 100}) {
    auto deep = make_clients(m, count, "DEEP", 100, false);
    auto empty = make_clients(m, count, "EMPTY", 100, false);
    uint64_t on_deep = 0, on_empty = 0;
    wait_for_rest();
    for (int i = 0; i < 24; ++i) {
      on_empty += commit_slice(m, empty, false);
      on_deep += commit_slice(m, deep, false);
    }
    std::printf(
        "%3zu fibers: %llu puts on the empty queue, %llu on the deep one in the same time: %.1f %% "
        "slower\n",
        count, static_cast<unsigned long long>(on_empty), static_cast<unsigned long long>(on_deep),
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
    m.manager->admin().begin_unit();  // as server/queue_managers.cc does
    for (auto [name, script] :
         {std::pair("system", queue::objects::system_objects_script()),
          std::pair("developer", queue::objects::developer_objects_script())}) {
      net::Awaiter<queue::mqsc::AppliedScript> answer;
      queue::mqsc::apply_script(*target, name, script, answer.callback());
      if (answer.wait().result.exit_code() != queue::mqsc::kExitOk) std::_Exit(1);
    }
    net::Awaiter<queue::objects::AdminResult> durable;
    m.manager->admin().end_unit(durable.callback());
    if (!durable.wait().ok()) std::_Exit(1);
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
    bench_commits(folder + "/qm", argc > 3 ? std::atof(argv[3]) : 8,
                  argc > 4 ? std::strtoul(argv[4], nullptr, 10) : 0);
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
