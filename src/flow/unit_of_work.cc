#include "flow/unit_of_work.h"

#include <algorithm>

#include "flow/errors_gen.h"

namespace millstream::flow {

void UnitOfWork::enlist(Participant* participant) {
  if (std::find(participants_.begin(), participants_.end(), participant) == participants_.end()) {
    participants_.push_back(participant);
  }
}

Status UnitOfWork::commit() {
  std::vector<Participant*> ending = std::move(participants_);
  participants_.clear();
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
  for (Participant* p : ending) p->rollback();
}

}  // namespace millstream::flow
