// Slows down whoever guesses passwords, before a hash is computed.
//
// After kFreeFailures of one user from one address, or kFreeFailuresOfAddress of an address, each
// further failure doubles the wait, from a second to kWaitMaxMs. A success forgets the failures of
// its pair; time forgets all (kForgetMs after the last). Another address is not held up by what one
// does, so nobody locks a user out.
// Limit: kEntriesMax, of which those that wait longest ago go first.
// Thread: any. Lock: leaf.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace millstream::queue::security {

class LoginLimiter {
 public:
  static constexpr uint32_t kFreeFailures = 5;
  static constexpr uint32_t kFreeFailuresOfAddress = 50;
  static constexpr int64_t kWaitMaxMs = 60'000;
  static constexpr int64_t kForgetMs = 15 * 60'000;
  static constexpr size_t kEntriesMax = 10'000;

  explicit LoginLimiter(const base::Clock& clock) : clock_(clock) {}
  // 0: go ahead; else how long to wait.
  int64_t wait_ms(std::string_view user, std::string_view address);
  void failed(std::string_view user, std::string_view address);
  void succeeded(std::string_view user, std::string_view address);
  size_t entries() const;

 private:
  struct Entry {
    uint32_t failures = 0;
    int64_t last_ms = 0;
    int64_t blocked_until_ms = 0;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;
  int64_t now_ms() const { return clock_.monotonic_ns() / 1'000'000; }
  void note(const std::string& key, uint32_t free_failures);
  int64_t wait_of(const std::string& key);
  void make_room();

  const base::Clock& clock_;
  mutable std::mutex mutex_;
  Entries entries_;
};

}  // namespace millstream::queue::security
