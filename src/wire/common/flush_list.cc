#include "wire/common/flush_list.h"

namespace millstream::wire {

FlushList& FlushList::of_thread() {
  thread_local FlushList list;
  return list;
}

void FlushList::add(net::Reactor& reactor, std::shared_ptr<Transport*> transport) {
  FlushList& list = of_thread();
  list.waiting_.push_back(std::move(transport));
  if (list.is_posted_) return;
  list.is_posted_ = true;
  reactor.post([] { of_thread().run(); });
}

void FlushList::run() {
  is_posted_ = false;
  running_.swap(waiting_);
  for (const auto& transport : running_) {
    if (*transport != nullptr && (*transport)->is_flush_scheduled_) (*transport)->flush();
  }
  running_.clear();
}

}  // namespace millstream::wire
