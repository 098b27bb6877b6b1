// The identity of a message: what securityProfileName of a node or its flow means, and the Identity
// fields of the Properties folder. Profiles that ask an outside service (LDAP, WS-Trust, TFIM,
// Kerberos) are refused while loading.
// Thread: that of the message; the checks while loading.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "flow/node.h"
#include "nodes/common/policies.h"
#include "tree/assembly.h"

namespace millstream::nodes::common {

// The profile that takes the identity along and checks nothing.
inline constexpr std::string_view kPropagationProfile = "Default Propagation";

// Whether the node takes the identity along: what its securityProfileName says, else that of the
// flow. True for the profile above, false for none (also "No Security"), or as a SecurityProfiles
// policy says that asks nobody; an error for all others.
Result<bool> propagates_identity(const flow::NodeBuildContext& context);
// The same of such a policy. `where` says who names it, `at` is the place.
Result<bool> propagates_identity(const Policy& policy, std::string_view where,
                                 const base::Position& at);

struct Identity {
  std::string user_info;  // "user:password"
  std::string bearer_token;
};
// The Identity fields of Properties, as the HTTP input nodes fill them from basic or bearer
// credentials. Views must live as long as the message.
struct SourceIdentity {
  std::string_view type;  // usernameAndPassword, OAuth; empty: no credentials
  std::string_view token, password, issued_by;
};
void set_source_identity(tree::Element* properties, const SourceIdentity& identity);

// The mapped identity of Properties, else the source's; empty fields when there is none.
Identity identity_to_send(tree::Element* root);

}  // namespace millstream::nodes::common
