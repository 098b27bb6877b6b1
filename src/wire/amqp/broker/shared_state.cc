#include "wire/amqp/broker/shared_state.h"

namespace millstream::wire::amqp {

bool SharedState::claim_container(const std::string& name) {
  std::lock_guard lock(mutex_);
  return containers_.insert(name).second;
}

void SharedState::release_container(const std::string& name) {
  std::lock_guard lock(mutex_);
  containers_.erase(name);
}

}  // namespace millstream::wire::amqp
