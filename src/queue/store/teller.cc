#include "queue/store/teller.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace millstream::queue::store {

namespace {
constexpr size_t kAnswersAtOnce = 16;
constexpr size_t kSparesMax = 4;
}  // namespace

void Teller::tell(Told& told) {
  {
    std::lock_guard lock(mutex_);
    const bool is_behind = is_telling_ || !waiting_.empty();
    const bool is_many = told.units.size() > shared_.options.units_told_at_once;
    if (worker_ && (is_behind || is_many)) {
      waiting_.push_back(std::move(told));
      told = {};
      if (!spare_.empty()) {
        told = std::move(spare_.back());
        spare_.pop_back();
      }
      worker_->wake();
      return;
    }
    MS_ASSERT(!is_behind);
  }
  tell_now(told);
  told.units.clear();
  told.locations.clear();
}

bool Teller::step() {
  Told told;
  {
    std::lock_guard lock(mutex_);
    if (waiting_.empty()) return false;
    told = std::move(waiting_.front());
    waiting_.pop_front();
    is_telling_ = true;
  }
  tell_now(told);
  told.units.clear();
  told.locations.clear();
  std::lock_guard lock(mutex_);
  is_telling_ = false;
  if (spare_.size() < kSparesMax) spare_.push_back(std::move(told));
  return !waiting_.empty();
}

void Teller::finish() {
  while (step()) {
  }
}

void Teller::tell_now(Told& told) {
  std::lock_guard lock(shared_.tell_mutex);
  if (shared_.has_failed.load()) return;
  uint32_t begin = 0;
  for (size_t i = 0; i < told.units.size();) {
    const base::PostBatch::Scope scope(answers_);
    for (const size_t end = std::min(i + kAnswersAtOnce, told.units.size()); i < end; ++i) {
      const Told::Unit& unit = told.units[i];
      unit.pending->durable(std::span(told.locations).subspan(begin, unit.locations_end - begin));
      begin = unit.locations_end;
    }
  }
  const uint64_t durable = shared_.units_durable.fetch_add(told.units.size()) + told.units.size();
  if (durable >= shared_.wake_when_durable.load()) shared_.wake_checkpoint();
}

}  // namespace millstream::queue::store
