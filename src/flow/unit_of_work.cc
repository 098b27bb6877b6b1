#include "flow/unit_of_work.h"

#include <algorithm>

#include "flow/errors_gen.h"

namespace millstream::flow {

void UnitOfWork::enlist(Participant* participant) {
  if (std::find(participants_.begin(), participants_.end(), participant) == participants_.end()) {
    participants_.push_back(participant);
  }
}

Participant& UnitOfWork::enlist_owned(const void* key, std::unique_ptr<Participant> participant) {
  participants_.push_back(participant.get());
  owned_.push_back({key, std::move(participant)});
  return *owned_.back().participant;
}

Participant* UnitOfWork::find(const void* key) const {
  for (const Owned& o : owned_) {
    if (o.key == key) return o.participant.get();
  }
  return nullptr;
}

Status UnitOfWork::commit() {
  std::vector<Participant*> ending = std::move(participants_);
  participants_.clear();
  const std::vector<Owned> owned = std::move(owned_);  // until the end of this function
  owned_.clear();
  for (size_t i = 0; i < ending.size(); ++i) {
    Status status = ending[i]->commit();
    if (status.ok()) continue;
    for (size_t j = i + 1; j < ending.size(); ++j) ending[j]->rollback();
    return base::wrap_error(base::make_error(errors::kCommitFailed, {ending[i]->name()}),
                            std::move(status));
  }
  return {};
}

void UnitOfWork::rollback() {
  std::vector<Participant*> ending = std::move(participants_);
  participants_.clear();
  const std::vector<Owned> owned = std::move(owned_);
  owned_.clear();
  for (Participant* p : ending) p->rollback();
}

}  // namespace millstream::flow
