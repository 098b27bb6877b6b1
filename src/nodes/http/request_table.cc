#include "nodes/http/request_table.h"

#include <cstring>

namespace millstream::nodes::http {
namespace {

constexpr char kEyeCatcher[4] = {'E', 'V', 'H', 'T'};
constexpr size_t kSlotAt = 12;
constexpr size_t kGenerationAt = 16;

}  // namespace

void RequestTable::add(const millstream::http::RequestRef& request) {
  std::lock_guard lock(mutex_);
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const uint32_t slot = free_.back();
  free_.pop_back();
  slots_[slot].request = request;
  slots_[slot].generation = next_generation_++;
  request->user = reinterpret_cast<void*>(static_cast<uintptr_t>(slot) + 1);
}

void RequestTable::write_identifier(const millstream::http::Request& request, char* out) const {
  const uint32_t slot = static_cast<uint32_t>(slot_of(request));
  std::lock_guard lock(mutex_);
  std::memset(out, 0, kRequestIdentifierBytes);
  std::memcpy(out, kEyeCatcher, sizeof kEyeCatcher);
  std::memcpy(out + kSlotAt, &slot, sizeof slot);
  std::memcpy(out + kGenerationAt, &slots_[slot].generation, sizeof slots_[slot].generation);
}

millstream::http::RequestRef RequestTable::find(std::string_view identifier) {
  if (identifier.size() != kRequestIdentifierBytes ||
      std::memcmp(identifier.data(), kEyeCatcher, sizeof kEyeCatcher) != 0) {
    return {};
  }
  uint32_t slot;
  uint64_t generation;
  std::memcpy(&slot, identifier.data() + kSlotAt, sizeof slot);
  std::memcpy(&generation, identifier.data() + kGenerationAt, sizeof generation);
  std::lock_guard lock(mutex_);
  if (slot >= slots_.size() || slots_[slot].generation != generation) return {};
  return slots_[slot].request;
}

void RequestTable::remove(const millstream::http::Request& request) {
  // The last reference may recycle the request, so it goes outside of the lock.
  millstream::http::RequestRef last;
  std::lock_guard lock(mutex_);
  const size_t slot = slot_of(request);
  if (slot >= slots_.size() || slots_[slot].request.get() != &request) return;
  last = std::move(slots_[slot].request);
  slots_[slot].request = {};
  slots_[slot].generation = 0;
  free_.push_back(static_cast<uint32_t>(slot));
}

void RequestTable::clear() {
  std::vector<Slot> slots;
  std::lock_guard lock(mutex_);
  slots.swap(slots_);
  free_.clear();
}

size_t RequestTable::size() const {
  std::lock_guard lock(mutex_);
  return slots_.size() - free_.size();
}

}  // namespace millstream::nodes::http
