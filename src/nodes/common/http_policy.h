// HTTPRequest policies: what a request node sends is changed by the policy that its property
// `policyUrl` names.
//
//   endpointUrl            scheme, host and port to send to, whatever URL node and message say
//   credentialName         entry of type http in the server's Credentials
//   apiKeyName,            the apiKey of that entry goes out as a header field, or as a form field
//   apiKeyLocation         appended to the body
//   acceptSelfSignedCerts  a service whose certificate is signed by itself is trusted
// and, beyond the product's, properties of the node by their names: timeoutForServer,
// httpProxyLocation, protocol, allowedCiphers, keyAlias, hostnameChecking, enableCRLCheck,
// followRedirection. They win over the node; the message's LocalEnvironment wins over both.
// Thread: while loading.
#pragma once
#include "base/diagnostics.h"
#include "base/result.h"
#include "flow/node.h"
#include "nodes/common/http_send.h"
#include "nodes/common/policies.h"

namespace millstream::nodes::common {

// What the node's policy says, into `settings`; nothing when it names none.
Status apply_http_policy(const flow::NodeBuildContext& context, HttpSendSettings& settings);
// The same of a policy at hand. What works otherwise than written is warned about.
Status apply_http_policy(const Policy& policy, HttpSendSettings& settings,
                         base::Diagnostics& diagnostics);

}  // namespace millstream::nodes::common
