#include "nodes/common/pause.h"

#include "flow/errors_gen.h"
#include "net/fiber.h"

namespace millstream::nodes::common {

Status let_others_run() {
  if (net::is_current_cancelled()) return base::make_error(flow::errors::kCancelled);
  if (net::Fiber* fiber = net::Fiber::current()) fiber->yield();
  return {};
}

query::XPathInput xpath_input(flow::Invocation& invocation, const tree::MessageAssembly& in,
                              const query::XPathVariables& variables) {
  query::XPathInput input;
  input.context = &invocation.context();
  input.node = tree::body_of(in.root);
  input.variables = &variables;
  input.pause = let_others_run;
  return input;
}

}  // namespace millstream::nodes::common
