// The main program of every unit test, with a watchdog: a test case that hangs is named, the stacks
// of all threads are printed and the program ends, before ctest ends it without a word.
// MS_TEST_SECONDS changes how long one test case may take (300).
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <dirent.h>
#include <doctest/doctest.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kProgramSeconds = 570;  // ctest's limit is 600
const char* volatile running_name = "(none)";
const char* volatile running_file = "";

void say(const char* text) { (void)!write(STDERR_FILENO, text, strlen(text)); }

// addr2line -Cfe PROGRAM +0x... says more about a line.
void print_own_stack(int) {
  void* frames[48];
  const int count = backtrace(frames, 48);
  say("--- a thread's stack:\n");
  backtrace_symbols_fd(frames, count, STDERR_FILENO);
}

// Async-signal-safe as far as it goes: whatever hangs may hold the allocator's lock.
void on_alarm(int) {
  say("\n*** WATCHDOG: test case \"");
  say(running_name);
  say("\" of ");
  say(running_file);
  say(" does not end\n");
  const int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY);
  alignas(8) char buffer[32768];
  const long bytes = tasks < 0 ? 0 : syscall(SYS_getdents64, tasks, buffer, sizeof buffer);
  for (long at = 0; at < bytes;) {
    const char* entry = buffer + at;
    unsigned short length = 0;
    memcpy(&length, entry + 16, sizeof length);
    const int thread = atoi(entry + 19);
    if (thread > 0) {
      syscall(SYS_tgkill, getpid(), thread, SIGUSR2);
      poll(nullptr, 0, 50);  // one after the other
    }
    at += length;
  }
  signal(SIGABRT, SIG_DFL);
  abort();
}

class Watchdog : public doctest::IReporter {
 public:
  explicit Watchdog(const doctest::ContextOptions&) {}

  void test_run_start() override {
    void* frame = nullptr;
    backtrace(&frame, 1);  // loads what it needs, while that is safe
    struct sigaction action{};
    action.sa_flags = SA_RESTART;
    sigaddset(&action.sa_mask, SIGALRM);
    action.sa_handler = print_own_stack;
    sigaction(SIGUSR2, &action, nullptr);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, nullptr);
    if (const char* seconds = getenv("MS_TEST_SECONDS")) case_seconds_ = std::max(1, atoi(seconds));
    clock_gettime(CLOCK_MONOTONIC, &begin_);
  }
  void test_case_start(const doctest::TestCaseData& test) override {
    running_name = test.m_name;
    running_file = test.m_file.c_str();
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int left = kProgramSeconds - static_cast<int>(now.tv_sec - begin_.tv_sec);
    alarm(static_cast<unsigned>(std::max(1, std::min(case_seconds_, std::max(left, 30)))));
  }
  void test_case_end(const doctest::CurrentTestCaseStats&) override { alarm(0); }
  void test_run_end(const doctest::TestRunStats&) override { alarm(0); }

  void report_query(const doctest::QueryData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  timespec begin_{};
  int case_seconds_ = 300;
};
REGISTER_LISTENER("watchdog", 1, Watchdog);

}  // namespace
