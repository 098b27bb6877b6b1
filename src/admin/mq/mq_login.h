// Who sends a request of the admin port for a queue manager: HTTP basic authentication against the
// users of the queue managers. With --dev whoever comes from this machine is taken for the user
// that he names, or for "dev".
// Thread: in a fiber of the request's reactor.
#pragma once
#include <string>

#include "admin/admin_request.h"
#include "admin/mq/mq_access.h"

namespace millstream::admin {

struct MqLogin {
  std::string user;  // empty: refused, and then `refusal` is the reply
  std::vector<std::string> groups;
  AdminReply refusal;
  bool is_accepted() const { return !user.empty(); }
};

MqLogin log_in(const MqAccess& access, const AdminRequest& request);

// The user and password of an Authorization field; false when it has none of the Basic scheme.
bool read_basic_authorization(std::string_view field, std::string& user, std::string& password);
// "192.0.2.1" of "192.0.2.1:1234", "::1" of "[::1]:1234".
std::string_view address_of_peer(std::string_view peer);

}  // namespace millstream::admin
