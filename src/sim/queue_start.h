// What a simulated queue manager has to have after a start, beside queues and messages:
// subscriptions, the retained publication, branches in doubt and branches that an operator decided.
// Each is compared with what clients were told before.
// Thread: one.
#pragma once
#include <set>
#include <string>

#include "sim/queue_client.h"

namespace millstream::sim {

class QueueStart {
 public:
  static constexpr size_t kEventsMax = 200'000;

  explicit QueueStart(QueueScene& scene) : scene_(scene) {}

  // After a start: compares; makes subscriptions that are missing and were never acknowledged.
  void look();
  void look_at_branches();

 private:
  void define_model();
  void look_at_subscriptions();
  void look_at_retained();
  // The outcome of a call; failed when the queue manager ended meanwhile.
  template <typename Call>
  queue::Outcome await(Call&& call);
  void note(const std::string& text) { scene_.oracle.note(text); }

  QueueScene& scene_;
  std::set<std::string> acknowledged_;  // subscriptions
};

}  // namespace millstream::sim
