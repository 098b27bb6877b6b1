#include "nodes/common/identity.h"

#include <utility>

#include "http/headers.h"
#include "nodes/common/errors_gen.h"
#include "parsers/headers/properties.h"

namespace millstream::nodes::common {

namespace {

constexpr std::string_view kProfileProperty = "securityProfileName";

bool is_none(const Policy& policy, std::string_view property) {
  const PolicyProperty* found = policy.find(property);
  return !found || millstream::http::equals_ignore_case(found->value, "NONE");
}

Status refuse_profile(std::string_view profile, std::string_view where, std::string_view why,
                      const base::Position& at) {
  return base::make_error_at(errors::kSecurityProfile, at, {profile, where, why});
}

// "set by the BAR override, for the node 'Ask'"
std::string origin_of(const flow::Property& property, std::string_view kind,
                      std::string_view name) {
  const bool is_override = property.origin.find("overrid") != std::string::npos;
  std::string text = is_override ? "set by the " + property.origin : "set in the flow";
  return text + ", for the " + std::string(kind) + " '" + std::string(name) + "'";
}

}  // namespace

Result<bool> propagates_identity(const Policy& policy, std::string_view where,
                                 const base::Position& at) {
  const std::string place =
      " (policy in " + policy.position.file + ":" + std::to_string(policy.position.line) + ").";
  for (const char* property : {"authentication", "authorization", "mapping"}) {
    if (is_none(policy, property)) continue;
    return refuse_profile(policy.full_name(), where,
                          std::string("its ") + property + " is " + policy.find(property)->value +
                              ", and no such service is asked here" + place,
                          at);
  }
  const PolicyProperty* transport = policy.find("idToPropagateToTransport");
  if (transport && !millstream::http::equals_ignore_case(transport->value, "Message ID")) {
    return refuse_profile(policy.full_name(), where,
                          "its idToPropagateToTransport is " + transport->value +
                              "; use securityIdentity of the node for credentials of its own" +
                              place,
                          at);
  }
  const PolicyProperty* shown = policy.find("passwordValue");
  if (shown && !millstream::http::equals_ignore_case(shown->value, "PLAIN")) {
    return refuse_profile(policy.full_name(), where,
                          "its passwordValue is " + shown->value +
                              ", and passwords are only kept as they come" + place,
                          at);
  }
  const PolicyProperty* propagation = policy.find("propagation");
  if (!propagation) return false;
  const bool is_on = millstream::http::equals_ignore_case(propagation->value, "TRUE");
  if (!is_on && !millstream::http::equals_ignore_case(propagation->value, "FALSE")) {
    return policy_value_error(policy, "propagation", "use TRUE or FALSE");
  }
  return is_on;
}

Result<bool> propagates_identity(const flow::NodeBuildContext& context) {
  const flow::Property* own = context.definition.properties.find(kProfileProperty);
  const bool is_own = own && !own->value.empty();
  if (!is_own) own = context.flow_definition.properties.find(kProfileProperty);
  if (!own || own->value.empty() || own->value == "No Security") return false;
  const std::string& profile = own->value;
  if (profile == kPropagationProfile) return true;
  const std::string where = is_own ? origin_of(*own, "node", context.definition.label)
                                   : origin_of(*own, "flow", context.flow_definition.name);
  const auto* policies = context.services.find<Policies>();
  if (!policies) {
    return refuse_profile(profile, where, "it is not among the policies.", own->position);
  }
  Result<const Policy*> policy =
      policies->find(profile, kSecurityProfilesPolicy, kProfileProperty, own->position);
  if (!policy.ok()) {
    return refuse_profile(profile, where, policy.error().text, own->position);
  }
  return propagates_identity(*policy.value(), where, own->position);
}

void set_source_identity(tree::Element* properties, const SourceIdentity& identity) {
  const std::pair<const char*, std::string_view> fields[] = {
      {"IdentitySourceType", identity.type},
      {"IdentitySourceToken", identity.token},
      {"IdentitySourcePassword", identity.password},
      {"IdentitySourceIssuedBy", identity.issued_by}};
  for (const auto& [name, text] : fields) {
    if (tree::Element* e = tree::find_child(properties, name)) {
      tree::set_value(e, value::Value::make_character(text));
    }
  }
}

Identity identity_to_send(tree::Element* root) {
  for (const char* source : {"IdentityMapped", "IdentitySource"}) {
    const std::string prefix = source;
    const std::string_view type = parsers::headers::property_text(root, prefix + "Type");
    const std::string token(parsers::headers::property_text(root, prefix + "Token"));
    if (token.empty()) continue;
    if (type == "OAuth" || type == "JWT") return {{}, token};
    return {token + ":" + std::string(parsers::headers::property_text(root, prefix + "Password")),
            {}};
  }
  return {};
}

}  // namespace millstream::nodes::common
