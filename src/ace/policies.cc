#include "ace/policies.h"

#include "ace/config_xml.h"
#include "base/ascii.h"

namespace millstream::ace {
namespace {

using nodes::common::Policies;
using nodes::common::Policy;

// "Orders/HTTPS.policyxml" -> "HTTPS"
std::string policy_file_title(const std::string& path) {
  const size_t slash = path.rfind('/');
  std::string title = path.substr(slash == std::string::npos ? 0 : slash + 1);
  return title.substr(0, title.rfind('.'));
}

}  // namespace

Status add_policies_of(const Resource& file, const std::string& project, Policies& out) {
  const std::string bytes = MS_TRY(file.read());
  const ConfigDocument document = MS_TRY(parse_config_xml(bytes, file.file()));
  for (const auto& element : document.root->children) {
    if (element->local != "policy") continue;
    Policy policy;
    policy.project = project;
    policy.name = element->attribute("policyName");
    if (policy.name.empty()) policy.name = policy_file_title(file.path());
    policy.type = element->attribute("policyType");
    policy.position = element->position;
    for (const auto& property : element->children) {
      const std::string_view value = base::trim_white_space(property->text);
      if (value.empty()) continue;
      policy.properties[property->local] = {std::string(value), property->position};
    }
    out.add(std::move(policy));
  }
  return {};
}

std::shared_ptr<Policies> read_policies(const Workspace& workspace, std::string default_project) {
  auto out = std::make_shared<Policies>(std::move(default_project));
  for (const auto& container : workspace.containers) {
    if (container->kind != ContainerKind::kPolicyProject) continue;
    for (const Resource& r : container->resources) {
      if (!r.has_extension(".policyxml")) continue;
      Status status = add_policies_of(r, container->name, *out);
      (void)status;
    }
  }
  return out;
}

}  // namespace millstream::ace
