// Runs the proofs of the queue manager that take many runs: simulated seeds, exhaustive small
// workloads, damage. It forks a process a core; a process that dies is a finding like any other,
// and the seed that it died in is named.
//
//   queue_proof simulate [--seeds N] [--start N] [--jobs N] [--quick-stop]
//   queue_proof exhaustive [--length N] [--jobs N] [--quick-stop]
//   queue_proof quick          what make test runs: both, 3,000 seeds and length 3
//   queue_proof seed N         one seed with its whole trace
//
// The last line is "N passed, N failed". Exit 1 when something failed.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "sim/queue_exhaustive.h"
#include "sim/queue_run.h"

namespace millstream::sim {
namespace {

struct ProofArguments {
  std::string mode;
  uint64_t seeds = 3000, start = 1;
  int jobs = 0;
  int length = 3;
  bool stops_at_first = false;
  std::vector<uint64_t> listed;  // instead of a range
};

// What the processes share.
struct ProofShared {
  static constexpr int kJobsMax = 64;
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> passed{0}, failed{0};
  std::atomic<uint64_t> calls{0}, starts{0}, disk_operations{0}, units{0};
  std::atomic<uint64_t> working_on[kJobsMax];  // a seed, or 0
};

int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Sequences are counted as seeds are, from 0.
void run_sequences(ProofShared& shared, const ProofArguments& arguments, int job) {
  std::vector<SmallOp> sequence;
  for (;;) {
    if (arguments.stops_at_first && shared.failed.load() > 0) return;
    const uint64_t n = shared.next.fetch_add(1);
    if (!small_sequence(n, arguments.length, &sequence)) return;
    shared.working_on[job] = n + 1;
    SmallResult result = run_small_sequence(sequence, n + 1);
    shared.working_on[job] = 0;
    shared.starts += result.runs;
    if (result.violations.empty()) {
      ++shared.passed;
      continue;
    }
    if (++shared.failed > 20) continue;
    for (const std::string& violation : result.violations) std::printf("%s\n", violation.c_str());
    std::fflush(stdout);
  }
}

void run_seeds(ProofShared& shared, const ProofArguments& arguments, int job) {
  for (;;) {
    if (arguments.stops_at_first && shared.failed.load() > 0) return;
    const uint64_t n = shared.next.fetch_add(1);
    if (n >= arguments.seeds) return;
    const uint64_t seed = arguments.listed.empty() ? arguments.start + n : arguments.listed[n];
    shared.working_on[job] = seed;
    RunResult result = run_queue_seed({.seed = seed});
    shared.working_on[job] = 0;
    shared.calls += result.calls;
    shared.starts += result.starts;
    shared.disk_operations += result.disk_operations;
    shared.units += result.units;
    if (result.ok()) {
      ++shared.passed;
      continue;
    }
    if (++shared.failed <= 20) {
      if (result.trace.size() > 40) {
        result.trace.erase(result.trace.begin(), result.trace.end() - 40);
      }
      std::fputs(result.report().c_str(), stdout);
      std::fflush(stdout);
    }
  }
}

void print_progress(const ProofShared& shared, const ProofArguments& arguments, int64_t begin) {
  const uint64_t done = shared.passed + shared.failed;
  if (arguments.mode == "exhaustive") {
    std::printf("%llu sequences, %llu failed, %llu crashes, %lld s\n",
                static_cast<unsigned long long>(done),
                static_cast<unsigned long long>(shared.failed.load()),
                static_cast<unsigned long long>(shared.starts.load()),
                static_cast<long long>((now_ms() - begin) / 1000));
    std::fflush(stdout);
    return;
  }
  std::printf("%llu of %llu seeds, %llu failed, %llu starts, %llu calls, %lld s\n",
              static_cast<unsigned long long>(done),
              static_cast<unsigned long long>(arguments.seeds),
              static_cast<unsigned long long>(shared.failed.load()),
              static_cast<unsigned long long>(shared.starts.load()),
              static_cast<unsigned long long>(shared.calls.load()),
              static_cast<long long>((now_ms() - begin) / 1000));
  std::fflush(stdout);
}

// Adds what passed and failed to the sums; 0 when nothing failed.
int run_processes(const ProofArguments& arguments, uint64_t* passed, uint64_t* all_failed) {
  void* memory =
      mmap(nullptr, sizeof(ProofShared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 2;
  auto* shared = new (memory) ProofShared;
  const int64_t begin = now_ms();
  std::vector<pid_t> children(static_cast<size_t>(arguments.jobs), 0);
  auto launch = [&](size_t job) {
    std::fflush(stdout);
    children[job] = fork();
    if (children[job] != 0) return;
    if (arguments.mode == "exhaustive") {
      run_sequences(*shared, arguments, static_cast<int>(job));
    } else {
      run_seeds(*shared, arguments, static_cast<int>(job));
    }
    std::fflush(stdout);
    _exit(0);
  };
  for (size_t job = 0; job < children.size(); ++job) launch(job);
  int64_t next_line = begin + 10'000;
  size_t running = children.size();
  while (running > 0) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended <= 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (now_ms() >= next_line) {
        print_progress(*shared, arguments, begin);
        next_line += 10'000;
      }
      continue;
    }
    for (size_t job = 0; job < children.size(); ++job) {
      if (children[job] != ended) continue;
      --running;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
      const uint64_t seed = shared->working_on[job].exchange(0);
      std::printf("seed %llu: the process died (status %d)\n",
                  static_cast<unsigned long long>(seed), status);
      ++shared->failed;
      if (arguments.stops_at_first || shared->failed > 50) break;
      launch(job);
      ++running;
      break;
    }
  }
  print_progress(*shared, arguments, begin);
  *passed += shared->passed;
  *all_failed += shared->failed;
  const bool is_ok = shared->failed == 0 && shared->passed > 0;
  munmap(memory, sizeof(ProofShared));
  return is_ok ? 0 : 1;
}

// Seeds that found something once.
std::vector<uint64_t> read_seeds(const char* path) {
  std::vector<uint64_t> seeds;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') seeds.push_back(std::strtoull(line.c_str(), nullptr, 10));
  }
  return seeds;
}

int run_modes(ProofArguments arguments, const std::vector<const char*>& modes) {
  uint64_t passed = 0, failed = 0;
  int status = 0;
  for (const char* mode : modes) {
    arguments.mode = mode;
    const uint64_t seeds = arguments.seeds;
    if (arguments.mode == "regress") {
      arguments.listed = read_seeds("tests/crash/regress_seeds.txt");
      arguments.seeds = arguments.listed.size();
    }
    status |= run_processes(arguments, &passed, &failed);
    arguments.seeds = seeds;
    arguments.listed.clear();
    if (status != 0 && arguments.stops_at_first) break;
  }
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(passed),
              static_cast<unsigned long long>(failed));
  return status;
}

int one_seed(uint64_t seed) {
  RunResult result = run_queue_seed({.seed = seed, .keeps_trace = true});
  std::fputs(result.report().c_str(), stdout);
  std::printf("hash %016llx\n%d passed, %d failed\n", static_cast<unsigned long long>(result.hash),
              result.ok() ? 1 : 0, result.ok() ? 0 : 1);
  return result.ok() ? 0 : 1;
}

int proof_main(int argc, char** argv) {
  ProofArguments arguments;
  if (argc > 1) arguments.mode = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string_view name = argv[i];
    auto number = [&] { return i + 1 < argc ? std::strtoull(argv[++i], nullptr, 10) : 0; };
    if (name == "--seeds") {
      arguments.seeds = number();
    } else if (name == "--start") {
      arguments.start = number();
    } else if (name == "--jobs") {
      arguments.jobs = static_cast<int>(number());
    } else if (name == "--length") {
      arguments.length = static_cast<int>(number());
    } else if (name == "--quick-stop") {
      arguments.stops_at_first = true;
    } else if (arguments.mode == "seed") {
      arguments.start = std::strtoull(argv[i], nullptr, 10);
    } else {
      std::fprintf(stderr, "queue_proof: %s is not known\n", argv[i]);
      return 2;
    }
  }
  if (arguments.jobs <= 0) arguments.jobs = static_cast<int>(std::thread::hardware_concurrency());
  if (arguments.jobs > ProofShared::kJobsMax) arguments.jobs = ProofShared::kJobsMax;
  if (arguments.mode == "simulate") return run_modes(arguments, {"simulate"});
  if (arguments.mode == "exhaustive") return run_modes(arguments, {"exhaustive"});
  if (arguments.mode == "quick") return run_modes(arguments, {"regress", "simulate", "exhaustive"});
  if (arguments.mode == "seed") return one_seed(arguments.start);
  std::fprintf(
      stderr,
      "usage: queue_proof simulate|exhaustive|quick [--seeds N] [--start N] [--jobs N] | seed N\n");
  return 2;
}

}  // namespace
}  // namespace millstream::sim

int main(int argc, char** argv) {
  // Torn tails are cut by the thousand here.
  (void)millstream::base::configure_log({.level_min = millstream::base::LogLevel::kError});
  return millstream::sim::proof_main(argc, argv);
}
