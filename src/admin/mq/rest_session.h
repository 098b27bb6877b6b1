// Who sends a request of the REST API: HTTP basic authentication, or the cookie LtpaToken2 that
// POST /login gave. A token is a random name of a session that is kept here, for kSessionMs; there
// is nothing in it. Every request but GET needs the header ibm-mq-rest-csrf-token, with any value:
// a page of another site cannot set it.
// With --dev whoever comes from this machine is taken for the user that he names, or for "dev".
// Thread: any; authenticate() and log_in() in a fiber of the request's reactor.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "admin/admin_request.h"
#include "admin/mq/mq_access.h"
#include "base/clock.h"
#include "base/random.h"

namespace millstream::admin {

class RestSessions {
 public:
  static constexpr int64_t kSessionMs = 120 * 60'000;
  static constexpr size_t kSessionsMax = 10'000;
  static constexpr std::string_view kCookie = "LtpaToken2";
  static constexpr std::string_view kCsrfHeader = "ibm-mq-rest-csrf-token";

  RestSessions(const MqAccess& access, const base::Clock& clock, base::Random& random)
      : access_(access), clock_(clock), random_(random) {}

  struct Caller {
    std::string user;
    std::string token;  // empty: by name and password
  };
  // Nothing when it is somebody, and then `out` says who; else the refusal.
  std::optional<AdminReply> authenticate(const AdminRequest& request, Caller& out);

  // POST, GET and DELETE of /login.
  AdminReply log_in(const AdminRequest& request);
  AdminReply show(const AdminRequest& request);
  AdminReply log_out(const AdminRequest& request);

 private:
  struct Session {
    std::string user;
    std::shared_ptr<const void> stamp;  // of the user; shared with the table of users
    int64_t until_ms = 0;
  };
  std::optional<AdminReply> check_password(const AdminRequest& request, std::string user,
                                           std::string password, std::string& accepted);
  std::string begin_session(std::string user);
  int64_t now_ms() const { return clock_.monotonic_ns() / 1'000'000; }

  const MqAccess& access_;
  const base::Clock& clock_;
  base::Random& random_;
  std::mutex mutex_;  // leaf; of the sessions
  std::map<std::string, Session, std::less<>> sessions_;
};

}  // namespace millstream::admin
