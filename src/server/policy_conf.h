// Policies that server.conf.yaml names, and policies of the listeners:
//
//   Defaults:
//     policyProject: OrderPolicies        where names without a project are looked for
//     Policies:
//       HTTPConnector: Plain              or '{OtherPolicies}:Plain'
//       HTTPSConnector: Secure
//
// The properties of an HTTPConnector or HTTPSConnector policy have the names and meanings of the
// keys below ResourceManagers in server.conf.yaml, and win over them; the command line wins over
// both. Ports and addresses are those of the start, keys and certificates follow a redeployment.
// Thread: one, while loading.
#pragma once
#include <string>

#include "ace/workspace.h"
#include "base/diagnostics.h"
#include "nodes/common/policies.h"

namespace millstream::format {
struct YamlNode;
}

namespace millstream::server {

struct ServerConf;

// A policy that a key of server.conf.yaml names.
struct NamedPolicy {
  std::string reference;  // empty: none
  std::string key;        // "Defaults/Policies/HTTPSConnector"
  base::Position position;
};

struct PolicyDefaults {
  std::string project{nodes::common::kDefaultPolicyProject};
  NamedPolicy http, https;
};

void apply_policy_conf(const std::string& file, const format::YamlNode& root, PolicyDefaults& out,
                       base::Diagnostics& diagnostics);

// The listeners' settings of `conf` as the policies that it names say. False: there were errors.
bool apply_listener_policies(const ace::Workspace& workspace, const std::string& work_folder,
                             ServerConf& conf, base::Diagnostics& diagnostics);

// For `check`: true when something reads policies of this type and this one is as it should be;
// else `why` says what is wrong.
bool is_complete_policy(const nodes::common::Policy& policy, std::string& why);

}  // namespace millstream::server
