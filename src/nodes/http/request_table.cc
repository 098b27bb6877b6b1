#include "nodes/http/request_table.h"

#include <cstring>

namespace millstream::nodes::http {
namespace {

constexpr char kEyeCatcher[4] = {'E', 'V', 'H', 'T'};
constexpr size_t kSlotAt = 12;
constexpr size_t kNumberAt = 16;

}  // namespace

void RequestTable::add(const millstream::http::RequestRef& request) {
  std::lock_guard lock(mutex_);
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const uint32_t slot = free_.back();
  free_.pop_back();
  slots_[slot] = request;
  request->user = reinterpret_cast<void*>(static_cast<uintptr_t>(slot) + 1);
}

void RequestTable::write_identifier(const millstream::http::Request& request, char* out) {
  const uint32_t slot = static_cast<uint32_t>(slot_of(request));
  const uint64_t number = request.id();
  std::memset(out, 0, kRequestIdentifierBytes);
  std::memcpy(out, kEyeCatcher, sizeof kEyeCatcher);
  std::memcpy(out + kSlotAt, &slot, sizeof slot);
  std::memcpy(out + kNumberAt, &number, sizeof number);
}

millstream::http::RequestRef RequestTable::find(std::string_view identifier) {
  if (identifier.size() != kRequestIdentifierBytes ||
      std::memcmp(identifier.data(), kEyeCatcher, sizeof kEyeCatcher) != 0) {
    return {};
  }
  uint32_t slot;
  uint64_t number;
  std::memcpy(&slot, identifier.data() + kSlotAt, sizeof slot);
  std::memcpy(&number, identifier.data() + kNumberAt, sizeof number);
  std::lock_guard lock(mutex_);
  if (slot >= slots_.size() || !slots_[slot] || slots_[slot]->id() != number) return {};
  return slots_[slot];
}

void RequestTable::remove(const millstream::http::Request& request) {
  // The last reference may recycle the request, so it goes outside of the lock.
  millstream::http::RequestRef last;
  std::lock_guard lock(mutex_);
  const size_t slot = slot_of(request);
  if (slot >= slots_.size() || slots_[slot].get() != &request) return;
  last = std::move(slots_[slot]);
  free_.push_back(static_cast<uint32_t>(slot));
}

void RequestTable::clear() {
  std::vector<millstream::http::RequestRef> slots;
  std::lock_guard lock(mutex_);
  slots.swap(slots_);
  free_.clear();
}

size_t RequestTable::size() const {
  std::lock_guard lock(mutex_);
  return slots_.size() - free_.size();
}

}  // namespace millstream::nodes::http
