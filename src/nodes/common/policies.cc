#include "nodes/common/policies.h"

#include "nodes/common/errors_gen.h"

namespace millstream::nodes::common {

Result<const Policy*> Policies::find(std::string_view reference, std::string_view type,
                                     std::string_view named_by, const base::Position& at) const {
  std::string_view project = default_project_;
  std::string_view name = reference;
  if (reference.starts_with('{')) {
    const size_t end = reference.find("}:");
    if (end == std::string_view::npos || end == 1 || end + 2 == reference.size()) {
      return base::make_error_at(errors::kPolicyReference, at, {named_by, reference});
    }
    project = reference.substr(1, end - 1);
    name = reference.substr(end + 2);
  }
  const Policy* found = nullptr;
  for (const Policy& p : all_) {
    if (p.name != name || p.project != project) continue;
    if (found) {
      return base::make_error_at(errors::kPolicyTwice, p.position,
                                 {p.full_name(), found->position.file, found->position.line});
    }
    found = &p;
  }
  if (!found) {
    return base::make_error_at(errors::kPolicyMissing, at, {named_by, name, project});
  }
  if (found->type != type) {
    return base::make_error_at(
        errors::kPolicyType, at,
        {named_by, found->full_name(), found->type, type, found->position.file});
  }
  return found;
}

Result<const Policy*> find_node_policy(const flow::NodeBuildContext& context,
                                       std::string_view property, std::string_view type) {
  const flow::Property* reference = context.definition.properties.find(property);
  if (!reference || reference->value.empty()) return static_cast<const Policy*>(nullptr);
  static const Policies kNoPolicies;
  const auto* policies = context.services.find<Policies>();
  return (policies ? policies : &kNoPolicies)
      ->find(reference->value, type, property, reference->position);
}

Status policy_value_error(const Policy& policy, std::string_view property,
                          std::string_view reason) {
  const PolicyProperty* found = policy.find(property);
  return base::make_error_at(errors::kPolicyValue, found ? found->position : policy.position,
                             {property, policy.full_name(),
                              found ? std::string_view(found->value) : std::string_view(), reason});
}

}  // namespace millstream::nodes::common
