// For work that a message may make long: lets the other fibers of the reactor run, and is told when
// the message was cancelled. Thread: that of the message.
#pragma once
#include "base/result.h"
#include "flow/invocation.h"
#include "query/xpath.h"
#include "tree/assembly.h"

namespace millstream::nodes::common {

Status let_others_run();
// An XPath over the body of a message, with pauses. `variables` must outlive it.
query::XPathInput xpath_input(flow::Invocation& invocation, const tree::MessageAssembly& in,
                              const query::XPathVariables& variables);

}  // namespace millstream::nodes::common
