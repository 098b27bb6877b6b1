#include "admin/admin_gate.h"

#include <algorithm>

#include "admin/errors_gen.h"
#include "admin/mq/mq_login.h"
#include "http/request.h"

namespace millstream::admin {
namespace {

const char* word_of(AdminRight right) {
  if (right == AdminRight::kWrite) return "write";
  return right == AdminRight::kExecute ? "execute" : "read";
}

bool is_metrics_of_this_machine(const AdminRequest& request) {
  if (request.path != AdminGate::kMetricsPath || !request.exchange) return false;
  return queue::security::is_loopback_address(address_of_peer(request.exchange->peer()));
}

}  // namespace

bool AdminRole::may(AdminRight right) const {
  if (right == AdminRight::kWrite) return writes;
  return right == AdminRight::kExecute ? executes : reads;
}

std::optional<AdminReply> AdminGate::check(const AdminRequest& request, AdminRight right) const {
  if (right == AdminRight::kRead && is_metrics_of_this_machine(request)) return {};
  MqLogin login = log_in(access_, request);
  if (!login.is_accepted()) return std::move(login.refusal);
  Status status = check_rights(login.user, login.groups, right);
  if (status.ok()) return {};
  return error_reply(403, status.error());
}

Status AdminGate::check_rights(const std::string& user, const std::vector<std::string>& groups,
                               AdminRight right) const {
  const std::string_view administrators = queue::security::kAdministrators;
  if (std::find(groups.begin(), groups.end(), administrators) != groups.end()) return {};
  if (!options_.has_roles) {
    if (right == AdminRight::kRead) return {};
    return base::make_error(
        errors::kNotPermitted,
        {user, word_of(right), "only members of " + std::string(administrators) + " may"});
  }
  std::string known;
  for (const std::string& group : groups) {
    const auto role = options_.roles.find(group);
    if (role == options_.roles.end()) continue;
    if (role->second.may(right)) return {};
    known += (known.empty() ? "" : ", ") + group;
  }
  const std::string why =
      known.empty() ? "Security/Permissions has no role that is named like one of its groups"
                    : "Security/Permissions/" + known + " has no " + word_of(right) + "+";
  return base::make_error(errors::kNotPermitted, {user, word_of(right), why});
}

}  // namespace millstream::admin
