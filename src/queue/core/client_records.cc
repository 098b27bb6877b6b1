#include "queue/core/client_records.h"

#include "queue/core/definitions.h"

namespace millstream::queue {

void ClientRecords::recovered(std::string_view key, std::string_view value) {
  std::lock_guard lock(mutex_);
  recovered_.insert_or_assign(std::string(key), std::string(value));
}

ClientRecords::Map ClientRecords::take(std::string_view prefix) {
  std::lock_guard lock(mutex_);
  Map out;
  auto at = recovered_.lower_bound(prefix);
  while (at != recovered_.end() && std::string_view(at->first).starts_with(prefix)) {
    auto node = recovered_.extract(at++);
    out.insert(std::move(node));
  }
  return out;
}

UnitRecord client_record(std::string key, std::string value) {
  return {static_cast<uint8_t>(RecordKind::kClient), std::move(key), std::move(value), false};
}

UnitRecord erased_client_record(std::string key) {
  return {static_cast<uint8_t>(RecordKind::kClient), std::move(key), "", true};
}

}  // namespace millstream::queue
