#include "queue/security/login_limiter.h"

#include <algorithm>
#include <vector>

namespace millstream::queue::security {
namespace {

// User names have no zero character, so the keys of addresses alone cannot be met.
std::string pair_key(std::string_view user, std::string_view address) {
  std::string key(user.substr(0, 256));
  key.push_back('\0');
  key += address;
  return key;
}
std::string address_key(std::string_view address) {
  return std::string(1, '\0') + std::string(address);
}

}  // namespace

int64_t LoginLimiter::wait_of(const std::string& key) {
  auto at = entries_.find(key);
  if (at == entries_.end()) return 0;
  if (now_ms() - at->second.last_ms > kForgetMs) {
    entries_.erase(at);
    return 0;
  }
  return std::max<int64_t>(0, at->second.blocked_until_ms - now_ms());
}

int64_t LoginLimiter::wait_ms(std::string_view user, std::string_view address) {
  std::lock_guard lock(mutex_);
  return std::max(wait_of(pair_key(user, address)), wait_of(address_key(address)));
}

void LoginLimiter::make_room() {
  if (entries_.size() < kEntriesMax) return;
  std::erase_if(entries_, [&](const auto& e) { return now_ms() - e.second.last_ms > kForgetMs; });
  if (entries_.size() < kEntriesMax) return;
  // A tenth at a time, so that this is rare under attack.
  std::vector<int64_t> times;
  for (const auto& [key, entry] : entries_) times.push_back(entry.last_ms);
  auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 10);
  std::nth_element(times.begin(), middle, times.end());
  size_t surplus = times.size() / 10 + 1;
  std::erase_if(entries_, [&](const auto& e) {
    bool goes = surplus > 0 && e.second.last_ms <= *middle;
    surplus -= goes;
    return goes;
  });
}

void LoginLimiter::note(const std::string& key, uint32_t free_failures) {
  auto at = entries_.find(key);
  if (at == entries_.end()) {
    make_room();
    at = entries_.emplace(key, Entry()).first;
  }
  Entry& e = at->second;
  if (e.failures > 0 && now_ms() - e.last_ms > kForgetMs) e = {};
  ++e.failures;
  e.last_ms = now_ms();
  if (e.failures < free_failures) return;
  uint32_t doublings = std::min(e.failures - free_failures, 10u);
  e.blocked_until_ms = e.last_ms + std::min<int64_t>(kWaitMaxMs, int64_t{1000} << doublings);
}

void LoginLimiter::failed(std::string_view user, std::string_view address) {
  std::lock_guard lock(mutex_);
  note(pair_key(user, address), kFreeFailures);
  note(address_key(address), kFreeFailuresOfAddress);
}

void LoginLimiter::succeeded(std::string_view user, std::string_view address) {
  std::lock_guard lock(mutex_);
  entries_.erase(pair_key(user, address));
}

size_t LoginLimiter::entries() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace millstream::queue::security
