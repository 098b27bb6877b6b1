#include "server/activity_conf.h"

#include <algorithm>

#include "ace/config_xml.h"
#include "observe/errors_gen.h"
#include "server/errors_gen.h"

namespace millstream::server {
namespace {

void read_policy(const ace::ConfigElement& policy, observe::ActivityOutput& out,
                 base::Diagnostics& diagnostics) {
  for (const auto& property : policy.children) {
    std::string words;
    const std::string place = "ActivityLog policy " + out.name + "/" + property->local;
    switch (observe::set_activity_property(property->local, property->text, out, words)) {
      case observe::PropertyOutcome::kTaken:
        break;
      case observe::PropertyOutcome::kBad: {
        Status status = base::make_error(errors::kBadSetting, {place, property->text, words});
        diagnostics.error(status.error(), property->position);
        break;
      }
      case observe::PropertyOutcome::kUnknown:
        words = "an output has no such property";
        [[fallthrough]];
      case observe::PropertyOutcome::kWithoutEffect: {
        Status status = base::make_error(observe::errors::kSettingWithoutEffect,
                                         {place, property->text, words});
        diagnostics.warning(property->position, status.error().code->id, status.error().text);
        break;
      }
    }
  }
}

}  // namespace

std::vector<observe::ActivityOutput> activity_policies(
    const std::vector<std::shared_ptr<const ace::Container>>& containers,
    const std::vector<observe::ActivityOutput>& known, base::Diagnostics& diagnostics) {
  std::vector<observe::ActivityOutput> outputs;
  for (const auto& container : containers) {
    if (container->kind != ace::ContainerKind::kPolicyProject) continue;
    for (const ace::Resource& r : container->resources) {
      if (!r.has_extension(".policyxml")) continue;
      Result<std::string> bytes = r.read();
      if (!bytes.ok()) continue;  // who reads data sources has said so
      Result<ace::ConfigDocument> document = ace::parse_config_xml(bytes.value(), r.file());
      if (!document.ok()) continue;
      for (const auto& policy : document.value().root->children) {
        if (policy->local != "policy" || policy->attribute("policyType") != "ActivityLog") continue;
        observe::ActivityOutput output;
        output.name = policy->attribute("policyName");
        const bool is_known = std::any_of(known.begin(), known.end(),
                                          [&](const auto& o) { return o.name == output.name; });
        if (is_known) continue;
        read_policy(*policy, output, diagnostics);
        outputs.push_back(std::move(output));
      }
    }
  }
  return outputs;
}

}  // namespace millstream::server
