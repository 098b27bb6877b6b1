// What the admin port's resources for queue managers need of the server that hosts them, which
// implements it. Ownership: it outlives the admin server. Thread: any.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "queue/core/queue_manager.h"
#include "queue/security/authenticator.h"

namespace millstream::net {
class Reactor;
}

namespace millstream::admin {

class MqAccess {
 public:
  virtual ~MqAccess() = default;
  // By its name, exact case; "" and "*" mean the default one. Null: none of that name.
  virtual queue::QueueManager* find(std::string_view name) const = 0;
  virtual std::vector<std::string> names() const = 0;
  // Null: there are no queue managers, and nobody can log in.
  virtual queue::security::Authenticator* authenticator() const = 0;
  // Something that stays the same while a user does, for sessions that end when he is changed;
  // null: there is no such user, or nobody keeps users.
  virtual std::shared_ptr<const void> user_stamp(std::string_view) const { return nullptr; }
  // Of connections whose calls come from this reactor's thread.
  virtual base::Executor& executor(const net::Reactor& reactor) const = 0;
};

}  // namespace millstream::admin
