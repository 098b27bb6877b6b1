// Who may use the routes of the admin port that do not ask that themselves: basic authentication
// against the users of the work directory, then what the groups of the user allow.
//
// - Members of mqm may do everything, as everywhere.
// - With roles (Security/Permissions of server.conf.yaml), what the roles that are named like the
//   user's groups allow is added up; a user without one may do nothing.
// - Without roles everybody else may read.
// /metrics is readable without a login from this machine alone.
// Thread: any; check() in a fiber of the request's reactor, where it waits for the password's hash.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "admin/admin_request.h"
#include "admin/mq/mq_access.h"

namespace millstream::admin {

struct AdminRole {
  bool reads = false;
  bool writes = false;    // deploys and removes
  bool executes = false;  // starts, stops, switches traces and statistics
  bool may(AdminRight right) const;
};

struct AdminGateOptions {
  bool has_roles = false;
  std::map<std::string, AdminRole, std::less<>> roles;
};

class AdminGate {
 public:
  static constexpr std::string_view kMetricsPath = "/metrics";

  AdminGate(const MqAccess& access, AdminGateOptions options)
      : access_(access), options_(std::move(options)) {}
  // Nothing when the sender may do it; else the refusal, which says by which rule.
  std::optional<AdminReply> check(const AdminRequest& request, AdminRight right) const;

 private:
  Status check_rights(const std::string& user, const std::vector<std::string>& groups,
                      AdminRight right) const;

  const MqAccess& access_;
  const AdminGateOptions options_;
};

}  // namespace millstream::admin
