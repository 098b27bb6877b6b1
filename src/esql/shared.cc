#include "esql/shared.h"

#include <algorithm>

namespace millstream::esql {

SharedStore::SharedStore(size_t slot_count, std::shared_ptr<const base::NameTable> table)
    : table_(std::move(table)),
      generation_(std::make_unique<Generation>(table_)),
      slot_count_(slot_count),
      blocks_(1, std::vector<Slot>(slot_count)) {}

uint32_t SharedStore::add_node() {
  std::lock_guard lock(mutex_);
  blocks_.emplace_back(slot_count_);
  return static_cast<uint32_t>(blocks_.size() - 1);
}

void SharedStore::unlock() {
  if (pins_ == 0 && used_bytes() > 2 * alive_bytes_ + kCompactAboveBytes) compact();
  mutex_.unlock();
}

void SharedStore::set_scalar(Slot& slot, const value::Value& v) {
  slot.value = value::copy_value(v, generation_->arena);
}

void SharedStore::make_row(Slot& slot, std::string_view name) {
  slot.ref.element = tree::make_root(generation_->context, name);
  slot.ref.shared = this;
}

void SharedStore::compact() {
  auto fresh = std::make_unique<Generation>(table_);
  std::vector<std::vector<Slot>> moved = blocks_;
  for (std::vector<Slot>& block : moved) {
    for (Slot& s : block) {
      s.value = value::copy_value(s.value, fresh->arena);
      if (!s.ref.element) continue;
      Result<tree::Element*> copy =
          tree::deep_copy(fresh->context, s.ref.element, tree::CopyMode::kAcross);
      // The trees are complete, so copying them cannot fail; if it did, the old ones stay.
      if (!copy.ok()) return;
      s.ref.element = copy.value();
    }
  }
  for (size_t i = 0; i < moved.size(); ++i) {
    std::copy(moved[i].begin(), moved[i].end(), blocks_[i].begin());
  }
  generation_ = std::move(fresh);
  alive_bytes_ = used_bytes();
}

}  // namespace millstream::esql
