#include "nodes/common/identity.h"

#include <utility>

#include "nodes/common/errors_gen.h"
#include "parsers/headers/properties.h"

namespace millstream::nodes::common {

Result<bool> propagates_identity(std::string_view profile) {
  if (profile.empty() || profile == "No Security") return false;
  if (profile == kPropagationProfile) return true;
  return base::make_error(
      errors::kPropertyRefused,
      {"securityProfileName", profile,
       "only the profiles Default Propagation and No Security are supported, not those that ask "
       "LDAP, WS-Trust or another service."});
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
