// Outputs of the activity log from policies of type ActivityLog, which have the properties of the
// sections below ActivityLog in server.conf.yaml:
//
//   <policies>
//     <policy policyType="ActivityLog" policyName="Orders" policyTemplate="ActivityLog">
//       <fileName>log/orders.csv</fileName><filter>RM=HTTP</filter>
//     </policy>
//   </policies>
//
// As in the product they take effect when the server starts. Thread: one, while loading.
#pragma once
#include <memory>
#include <vector>

#include "ace/container.h"
#include "base/diagnostics.h"
#include "observe/activity_settings.h"

namespace millstream::server {

// A policy named as one of `known` yields to it. Bad values are errors in `diagnostics`.
std::vector<observe::ActivityOutput> activity_policies(
    const std::vector<std::shared_ptr<const ace::Container>>& containers,
    const std::vector<observe::ActivityOutput>& known, base::Diagnostics& diagnostics);

}  // namespace millstream::server
