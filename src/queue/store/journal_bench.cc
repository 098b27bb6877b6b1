// Durable commits a second of the journal store at 1, 8 and 100 committers of 2 KB, against a
// baseline that appends blocks of the store's own median size with O_DIRECT and a durable write
// each, interleaved slice by slice in the same run and from the same thread priority. A committer
// is what a fiber is: it puts again from the callback of its last commit.
//
//   journal_bench [FOLDER [SECONDS]]      (a folder on a disk; default /var/tmp)
//
// Also: time of a start after 512 MB of journal, with 2 KB and with 100 byte messages.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/thread_worker.h"
#include "io/aligned_buffer.h"
#include "io/durable.h"
#include "io/posix_disk.h"
#include "queue/store/journal_store.h"

namespace millstream {
namespace {

int64_t bench_now() { return base::system_clock().monotonic_ns(); }

class BenchListener final : public queue::StoreListener {
 public:
  bool moved(queue::QueueId, queue::Sequence, queue::Location, queue::Location) override {
    return true;
  }
  void failed(const base::Error& error) override {
    std::fprintf(stderr, "%s\n", error.describe().c_str());
    std::_Exit(1);
  }
  void space_changed(bool) override {}
};

class CountingHandler final : public queue::RecoveryHandler {
 public:
  Status record(uint8_t, std::string_view, std::string_view) override { return {}; }
  Status message(queue::QueueId, const queue::IndexEntry& index, queue::Location) override {
    ++messages;
    last = index.sequence;
    return {};
  }
  Status sequence(queue::QueueId, queue::Sequence) override { return {}; }
  Status prepared(const queue::RedoUnit&, std::span<const queue::Location>) override { return {}; }
  Status heuristic(std::string_view, uint8_t) override { return {}; }
  uint64_t messages = 0, last = 0;
};

struct Bench {
  explicit Bench(const std::string& path)
      : disk(std::move(io::open_posix_disk(path)).take_value()),
        store(
            std::move(queue::JournalStore::open(
                          options(), {*disk, base::system_clock(), base::system_random(), workers},
                          listener, handler))
                .take_value()) {}
  static queue::StoreOptions options() {
    queue::StoreOptions o;
    o.checkpoint_bytes = 4ull << 30;  // measured apart
    o.journal_bytes_max = 8ull << 30;
    o.checkpoint_interval_ns = 3'600'000'000'000;
    return o;
  }
  std::unique_ptr<io::Disk> disk;
  base::ThreadWorkerFactory workers;
  BenchListener listener;
  CountingHandler handler;
  std::unique_ptr<queue::JournalStore> store;
  std::atomic<uint64_t> sequence{0};
  std::atomic<bool> is_running{false};
  std::atomic<int> active{0};
};

class Committer final : public queue::Pending {
 public:
  Committer(Bench& bench, size_t body_bytes) : bench_(bench), body_(body_bytes, 'x') {
    unit_.puts.resize(1);
    unit_.puts[0].queue = 1;
    unit_.puts[0].header = header_;
    unit_.puts[0].body = body_;
    unit_.gets.resize(1);
    unit_.gets.clear();
  }
  void go() {
    unit_.puts[0].index.sequence = ++bench_.sequence;
    bench_.store->append(unit_, *this);
  }
  void durable(std::span<const queue::Location> puts) override {
    ++commits;
    // What was put is got with the next put, so that nothing piles up.
    unit_.gets.assign(1, {1, unit_.puts[0].index.sequence, puts[0]});
    if (bench_.is_running.load(std::memory_order_relaxed)) {
      go();
    } else {
      bench_.active.fetch_sub(1);
      bench_.active.notify_all();
    }
  }
  uint64_t commits = 0;

 private:
  Bench& bench_;
  std::string header_ = std::string(200, 'h'), body_;
  queue::RedoUnit unit_;
};

void wait_for_idle(Bench& bench) {
  for (int n = bench.active.load(); n != 0; n = bench.active.load()) bench.active.wait(n);
}

// Commits in a slice, and blocks written for them.
uint64_t store_slice(Bench& bench, std::vector<std::unique_ptr<Committer>>& committers,
                     int64_t span_ns, uint64_t* blocks) {
  uint64_t before = 0, after = 0;
  for (auto& c : committers) before += c->commits;
  const uint64_t blocks_before = bench.store->usage().blocks_written;
  bench.is_running = true;
  bench.active = static_cast<int>(committers.size());
  for (auto& c : committers) c->go();
  ::usleep(static_cast<useconds_t>(span_ns / 1000));
  bench.is_running = false;
  wait_for_idle(bench);
  for (auto& c : committers) after += c->commits;
  *blocks += bench.store->usage().blocks_written - blocks_before;
  return after - before;
}

uint64_t baseline_slice(io::DiskFile& file, uint64_t file_bytes, size_t block_bytes,
                        const char* block, int64_t span_ns, uint64_t* at) {
  uint64_t writes = 0;
  for (const int64_t end = bench_now() + span_ns; bench_now() < end; ++writes) {
    if (*at + block_bytes > file_bytes) *at = 0;
    if (!file.write(*at, block, block_bytes).ok()) std::_Exit(1);
    *at += block_bytes;
  }
  return writes;
}

void bench_commits(const std::string& folder, size_t committers_count, double seconds) {
  const std::string path = folder + "/commits";
  {
    Bench bench(path);
    constexpr uint64_t kFileBytes = 64 << 20;
    auto file = std::move(bench.disk->create("baseline", kFileBytes)).take_value();
    io::AlignedBuffer block(1 << 20);
    std::memset(block.data(), 'b', block.size());
    std::vector<std::unique_ptr<Committer>> committers;
    for (size_t i = 0; i < committers_count; ++i) {
      committers.push_back(std::make_unique<Committer>(bench, 2048));
    }
    ::usleep(1'500'000);  // spares are made
    uint64_t blocks = 0, commits = 0, writes = 0, at = 0;
    constexpr int64_t kSliceNs = 200'000'000;
    commits = store_slice(bench, committers, kSliceNs, &blocks);  // warm, and its block size
    const double per_block = static_cast<double>(commits) / static_cast<double>(blocks);
    const size_t bytes =
        io::align_up(static_cast<uint64_t>(64 + per_block * (16 + 64 + 2248 + 24)));
    commits = blocks = 0;
    double store_s = 0, baseline_s = 0;
    while (store_s + baseline_s < seconds) {
      int64_t begin = bench_now();
      commits += store_slice(bench, committers, kSliceNs, &blocks);
      store_s += static_cast<double>(bench_now() - begin) / 1e9;
      begin = bench_now();
      writes += baseline_slice(*file, kFileBytes, bytes, block.data(), kSliceNs, &at);
      baseline_s += static_cast<double>(bench_now() - begin) / 1e9;
    }
    const double rate = static_cast<double>(commits) / store_s;
    const double baseline = static_cast<double>(writes) / baseline_s * per_block;
    std::printf(
        "%3zu committers: %8.0f commits/s, %7.0f flushes/s (%.1f a block); baseline "
        "%7.0f blocks/s of %zu bytes = %8.0f commits/s; ratio %.2f\n",
        committers_count, rate, static_cast<double>(blocks) / store_s, per_block,
        static_cast<double>(writes) / baseline_s, bytes, baseline, rate / baseline);
    std::fflush(stdout);
  }
  if (!io::remove_tree(path).ok()) std::_Exit(1);
}

void bench_start(const std::string& folder, size_t body_bytes, uint64_t journal_bytes) {
  const std::string path = folder + "/start";
  {
    const int64_t begin = bench_now();
    Bench bench(path);
    std::printf("new store: %.1f ms\n", static_cast<double>(bench_now() - begin) / 1e6);
    class Filler final : public queue::Pending {
     public:
      void durable(std::span<const queue::Location>) override { done = true; }
      std::atomic<bool> done{false};
    } filler;
    const std::string header(200, 'h');
    // Not the same memory for two puts: a shared body would be written once.
    const std::string bodies[2] = {std::string(body_bytes, 'x'), std::string(body_bytes, 'y')};
    while (bench.store->usage().journal_bytes < journal_bytes) {
      queue::RedoUnit unit;
      unit.puts.resize(200'000 / (body_bytes + 300));
      for (queue::RedoPut& put : unit.puts) {
        put.queue = 1;
        put.index.sequence = ++bench.sequence;
        put.header = header;
        put.body = bodies[bench.sequence % 2];
      }
      filler.done = false;
      bench.store->append(unit, filler);
      while (!filler.done) ::usleep(50);
    }
  }  // killed
  const int64_t begin = bench_now();
  Bench bench(path);
  const double ms = static_cast<double>(bench_now() - begin) / 1e6;
  const queue::store::RecoveryReport& report = bench.store->recovery();
  std::printf("start after a kill, %zu byte messages: %.0f ms for %.0f MB, %llu messages\n",
              body_bytes, ms, static_cast<double>(report.bytes) / 1e6,
              static_cast<unsigned long long>(bench.handler.messages));
  std::fflush(stdout);
}

int run_bench(int argc, char** argv) {
  const std::string base_folder = argc > 1 ? argv[1] : "/var/tmp";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 4;
  std::string folder = base_folder + "/ms_bench_XXXXXX";
  if (!::mkdtemp(folder.data())) return 1;
  for (const size_t committers : {1, 8, 100}) bench_commits(folder, committers, seconds);
  for (const size_t body_bytes : {2048, 100}) {
    bench_start(folder, body_bytes, 512ull << 20);
    if (!io::remove_tree(folder + "/start").ok()) return 1;
  }
  return io::remove_tree(folder).ok() ? 0 : 1;
}

}  // namespace
}  // namespace millstream

int main(int argc, char** argv) { return millstream::run_bench(argc, argv); }
