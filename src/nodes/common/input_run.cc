#include "nodes/common/input_run.h"

#include "base/log.h"
#include "net/fiber.h"
#include "nodes/common/errors_gen.h"

namespace millstream::nodes::common {

InputRun::Instance::Instance(flow::Flow& f) : flow(f) {
  if (flow.instances().enter()) flow.statistics().flow().times_max_instances.add(1);
}

InputRun::InputRun(flow::Flow& flow)
    : instance_(flow),
      arena_(flow.names()),
      invocation_(flow, *arena_),
      cpu_start_ns_(net::fiber_cpu_ns()) {}

InputRun::~InputRun() {
  invocation_.flow().statistics().flow().cpu_us.record(
      static_cast<uint64_t>(net::fiber_cpu_ns() - cpu_start_ns_) / 1000);
}

void log_input_exception(const flow::Node& node, Status status) {
  if (net::is_current_cancelled()) return;  // the server is stopping, which it says itself
  Status outer = base::wrap_error(base::make_error(errors::kInputException, {node.full_label()}),
                                  std::move(status));
  base::log_error(outer.error());
}

}  // namespace millstream::nodes::common
