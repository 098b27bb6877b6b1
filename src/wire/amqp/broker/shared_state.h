// What sessions of AMQP of one queue manager share: which containers are connected that may be so
// only once, and what links have left behind. clear() it before the queue manager stops.
// Thread: any.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

#include "wire/amqp/broker/kept_links.h"

namespace millstream::wire::amqp {

class SharedState {
 public:
  // False: another connection has it.
  bool claim_container(const std::string& name);
  void release_container(const std::string& name);
  // Timers hold it, too.
  const std::shared_ptr<KeptLinks>& kept_links() const { return kept_links_; }

 private:
  const std::shared_ptr<KeptLinks> kept_links_ = std::make_shared<KeptLinks>();
  std::mutex mutex_;  // leaf
  std::unordered_set<std::string> containers_;
};

}  // namespace millstream::wire::amqp
