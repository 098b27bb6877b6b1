#include "base/thread_turns.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace millstream::base {
namespace {

constexpr int kNiceMax = 19;
constexpr uint64_t kShortTurnNs = 100'000;  // the shortest that the kernel takes

// As of Linux 3.14; no header of the C library has it.
struct SchedulingAttributes {
  uint32_t size = sizeof(SchedulingAttributes);
  uint32_t policy = 0;  // SCHED_OTHER
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t slice_ns = 0;
  uint64_t deadline_ns = 0, period_ns = 0;
};

// Only of a thread that shares the cores in the usual way; whoever runs the server in real time or
// in the background has meant it.
bool has_usual_policy(pid_t self) { return ::syscall(SYS_sched_getscheduler, self) == 0; }

}  // namespace

void take_short_turns() {
  const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  if (!has_usual_policy(self)) return;
  SchedulingAttributes wanted;
  wanted.nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(self));
  wanted.slice_ns = kShortTurnNs;
  ::syscall(SYS_sched_setattr, 0, &wanted, 0);
}

void give_way(int nice_added) {
  const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  const int nice =
      std::min(::getpriority(PRIO_PROCESS, static_cast<id_t>(self)) + nice_added, kNiceMax);
  if (has_usual_policy(self)) {
    SchedulingAttributes wanted;
    wanted.nice = nice;
    if (::syscall(SYS_sched_setattr, 0, &wanted, 0) == 0) return;
  }
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(self), nice);
}

}  // namespace millstream::base
