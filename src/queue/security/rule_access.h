// The queue manager's AccessControl (queue/core/access.h) over users and authority records.
//
// - Members of `mqm`, and the server itself (user `mqm`), may do everything.
// - For everybody else each right that is asked for needs its authority (+put, +get, ...) in what
//   the most specific matching profile gives the user and each of the user's groups.
// - A topic string is checked at its topic objects: the nearest one first, then those above; the
//   first that grants is enough.
// - A refusal names the rule: "user app has no +put on queue ORDERS.IN: profile ORDERS.** of user
//   app allows BROWSE,GET".
// Thread: any, after attach(). Tables and functions outlive it.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "queue/core/access.h"
#include "queue/objects/authority.h"
#include "queue/security/user_table.h"

namespace millstream::queue::security {

class RuleAccess final : public AccessControl {
 public:
  struct Options {
    const UserTable* users = nullptr;
    const objects::AuthorityTable* authorities = nullptr;
    // Names of the topic objects at and above a topic string, the nearest first.
    std::function<std::vector<std::string>(std::string_view topic)> topic_objects;
    std::string queue_manager;  // for refusals
    bool is_dev = false;        // everybody who got in may do everything
  };
  explicit RuleAccess(Options options) : options_(std::move(options)) {}
  // For a queue manager that is made with its AccessControl and has its tables only then. Before
  // it is asked anything.
  void attach(const objects::AuthorityTable& authorities,
              std::function<std::vector<std::string>(std::string_view)> topic_objects) {
    options_.authorities = &authorities;
    options_.topic_objects = std::move(topic_objects);
  }
  std::string refuses(const AccessRequest& request) const override;

 private:
  Options options_;
};

// What a set of rights is called in authority records, and on which object it is looked up.
struct RightAuthority {
  Right right;
  uint32_t authority;
  bool is_of_queue_manager;
};
const std::vector<RightAuthority>& right_authorities();

}  // namespace millstream::queue::security
