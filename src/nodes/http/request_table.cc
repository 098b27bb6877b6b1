#include "nodes/http/request_table.h"

#include <cstring>

namespace millstream::nodes::http {
namespace {

constexpr char kEyeCatcher[4] = {'E', 'V', 'H', 'T'};
constexpr size_t kSlotAt = 12;
constexpr size_t kGenerationAt = 16;

}  // namespace

void RequestTable::add(const millstream::http::RequestRef& request, char* out) {
  uint32_t slot;
  uint64_t generation;
  {
    std::lock_guard lock(mutex_);
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    slot = free_.back();
    free_.pop_back();
    generation = next_generation_++;
    slots_[slot].request = request;
    slots_[slot].generation = generation;
  }
  std::memset(out, 0, kRequestIdentifierBytes);
  std::memcpy(out, kEyeCatcher, sizeof kEyeCatcher);
  std::memcpy(out + kSlotAt, &slot, sizeof slot);
  std::memcpy(out + kGenerationAt, &generation, sizeof generation);
}

bool RequestTable::locate(std::string_view identifier, size_t* slot, uint64_t* generation) const {
  if (identifier.size() != kRequestIdentifierBytes ||
      std::memcmp(identifier.data(), kEyeCatcher, sizeof kEyeCatcher) != 0) {
    return false;
  }
  uint32_t number;
  std::memcpy(&number, identifier.data() + kSlotAt, sizeof number);
  std::memcpy(generation, identifier.data() + kGenerationAt, sizeof *generation);
  *slot = number;
  return number < slots_.size() && slots_[number].generation == *generation &&
         slots_[number].request.get() != nullptr;
}

millstream::http::RequestRef RequestTable::find(std::string_view identifier) {
  std::lock_guard lock(mutex_);
  size_t slot;
  uint64_t generation;
  if (!locate(identifier, &slot, &generation)) return {};
  return slots_[slot].request;
}

void RequestTable::remove(std::string_view identifier) {
  // The last reference may recycle the request, so it goes outside of the lock.
  millstream::http::RequestRef last;
  std::lock_guard lock(mutex_);
  size_t slot;
  uint64_t generation;
  if (!locate(identifier, &slot, &generation)) return;
  last = std::move(slots_[slot].request);
  slots_[slot].request = {};
  slots_[slot].generation = 0;
  free_.push_back(static_cast<uint32_t>(slot));
}

size_t RequestTable::size() const {
  std::lock_guard lock(mutex_);
  return slots_.size() - free_.size();
}

}  // namespace millstream::nodes::http
