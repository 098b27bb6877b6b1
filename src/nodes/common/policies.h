// The policies of a deployment, as the policy projects have them: what nodes and server.conf.yaml
// refer to by "{PolicyProject}:PolicyName", or by the bare name when it is in the default policy
// project. A service of the application (flow/services.h): a version of it keeps the policies it
// was built with. What a type's properties mean is known by who uses it
// (nodes/common/http_policy.h, server/policy_conf.h). Thread: filled while loading, then read only.
// Policies live as long as this.
#pragma once
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "flow/node.h"

namespace millstream::nodes::common {

inline constexpr std::string_view kDefaultPolicyProject = "DefaultPolicies";
inline constexpr std::string_view kHttpRequestPolicy = "HTTPRequest";
inline constexpr std::string_view kSecurityProfilesPolicy = "SecurityProfiles";

struct PolicyProperty {
  std::string value;  // without the white space around it
  base::Position position;
};

struct Policy {
  std::string project, name, type;
  base::Position position;
  // Properties without a value are left out: the Toolkit writes those that nobody has set, too.
  std::map<std::string, PolicyProperty, std::less<>> properties;

  const PolicyProperty* find(std::string_view property) const {
    auto it = properties.find(property);
    return it == properties.end() ? nullptr : &it->second;
  }
  std::string full_name() const { return "{" + project + "}:" + name; }
};

class Policies {
 public:
  explicit Policies(std::string default_project = std::string(kDefaultPolicyProject))
      : default_project_(std::move(default_project)) {}

  void add(Policy policy) { all_.push_back(std::move(policy)); }
  const std::deque<Policy>& all() const { return all_; }
  const std::string& default_project() const { return default_project_; }

  // The policy that `reference` names, which must be of `type`. `named_by` is what the reference
  // stands in, for messages: "policyUrl"; `at` is its place.
  Result<const Policy*> find(std::string_view reference, std::string_view type,
                             std::string_view named_by, const base::Position& at) const;

 private:
  const std::string default_project_;
  std::deque<Policy> all_;
};

// The policy that a property of a node names; null when it names none.
Result<const Policy*> find_node_policy(const flow::NodeBuildContext& context,
                                       std::string_view property, std::string_view type);
// The error of a property whose value does not fit.
Status policy_value_error(const Policy& policy, std::string_view property, std::string_view reason);

}  // namespace millstream::nodes::common
