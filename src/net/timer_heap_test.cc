#include "net/timer_heap.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "net/buffer_pool.h"

namespace {
namespace net = millstream::net;
std::vector<int64_t>* g_fired = nullptr;
void note_fired(net::Timer& timer) { g_fired->push_back(timer.deadline_ns); }
}  // namespace

TEST_CASE("timers fire in order of their deadlines, also after moves and cancels") {
  std::vector<int64_t> fired;
  g_fired = &fired;
  std::mt19937 random(42);
  net::TimerHeap heap;
  std::vector<net::Timer> timers(500);
  std::vector<int64_t> expected;
  for (auto& timer : timers) {
    timer.fire = note_fired;
    heap.arm(timer, static_cast<int64_t>(random() % 1000));
  }
  for (size_t i = 0; i < timers.size(); i += 3)
    heap.arm(timers[i], static_cast<int64_t>(random() % 1000));
  for (size_t i = 0; i < timers.size(); i += 7) heap.cancel(timers[i]);
  for (auto& timer : timers) {
    if (timer.is_armed()) expected.push_back(timer.deadline_ns);
  }
  std::sort(expected.begin(), expected.end());
  heap.fire_due(499);
  CHECK(std::all_of(fired.begin(), fired.end(), [](int64_t at) { return at <= 499; }));
  CHECK(heap.next_deadline_ns() > 499);
  heap.fire_due(1000);
  CHECK(fired == expected);
  CHECK(heap.size() == 0);
  CHECK(heap.next_deadline_ns() == net::kNever);
}

TEST_CASE("buffers are reused, grow with their contents and respect the keep limit") {
  net::BufferPool pool(64 * 1024);
  const char* first;
  {
    net::Buffer buffer = pool.take(1000);
    first = buffer.data();
    CHECK(buffer.capacity() == 16 * 1024 - net::Buffer::kPadding);
    buffer.data()[0] = 'x';
    CHECK(pool.grow(buffer, 1, 100'000));
    CHECK(buffer.data()[0] == 'x');
    CHECK(buffer.capacity() >= 100'000);
  }
  CHECK(pool.kept_bytes() == 16 * 1024);  // the large one exceeds the limit and is gone
  CHECK(pool.mapped_bytes() == 16 * 1024);
  net::Buffer again = pool.take(10);
  CHECK(again.data() == first);
  CHECK_FALSE(pool.take(SIZE_MAX / 2));
}
