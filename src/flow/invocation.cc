#include "flow/invocation.h"

#include "base/clock.h"
#include "flow/errors_gen.h"
#include "net/fiber.h"

namespace millstream::flow {
namespace {

bool left_its_node(const base::Error& error) {
  if (error.is_unwinding) return true;
  for (const auto& cause : error.causes) {
    if (left_its_node(*cause)) return true;
  }
  return false;
}

Status node_exception(const Node& node, const char* text) {
  Status status = base::make_error(errors::kNodeException, {node.full_label()});
  status.error().text = text;
  status.error().inserts.clear();
  status.error().function = node.type().name;
  label_error(status.error(), node);
  return status;
}

}  // namespace

bool is_catchable(const base::Error& error) {
  const base::Error& cause = error.innermost();
  return cause.code != &errors::kCancelled && cause.code != &errors::kNestedTooDeep;
}

void label_error(base::Error& error, const Node& node) {
  if (error.node_label.empty()) {
    error.node_label = node.full_label();
    error.node_type = node.type().runtime_type;
    error.node_name = node.id();
  }
  for (const auto& cause : error.causes) label_error(*cause, node);
}

Status Invocation::propagate(const Node& from, int output, const tree::MessageAssembly& assembly) {
  if (!from.is_wired(output)) return {};
  counters_.nodes[from.index()].outputs[static_cast<size_t>(output)].add(1);
  if (base::kCounts && __builtin_expect(watching_ & kObserved, 0)) {
    observation_->propagates(from, output, assembly);
  }
  for (const Target& target : from.targets(output)) {
    MS_TRY(run(*target.node, assembly, target.input));
  }
  return {};
}

Status Invocation::propagate_to_label(const Node& from, std::string_view label,
                                      const tree::MessageAssembly& assembly) {
  Node* target = flow_.find_label(label, from);
  if (!target) {
    Status status = base::make_error(errors::kUnknownLabel, {flow_.name(), label});
    label_error(status.error(), from);
    return status;
  }
  return run(*target, assembly, 0);
}

Status Invocation::run(Node& node, const tree::MessageAssembly& assembly, int input) {
  if (__builtin_expect(net::stack_remaining_bytes() < kStackReserveBytes, 0)) {
    Status status = base::make_error(errors::kNestedTooDeep, {node.full_label()});
    label_error(status.error(), node);
    status.error().is_unwinding = true;  // no failure terminal could run on this stack either
    return status;
  }
  counters_.nodes[node.index()].invocations.add(1);
  Status status = !base::kCounts || __builtin_expect(watching_ == 0, 1)
                      ? node.evaluate(*this, assembly, input)
                      : run_watched(node, assembly, input);
  if (__builtin_expect(status.ok(), 1)) return status;
  return handle_error(node, assembly, std::move(status));
}

Status Invocation::run_watched(Node& node, const tree::MessageAssembly& assembly, int input) {
  if (observation_) observation_->enters(node, assembly, input);
  const int64_t elapsed_start = base::system_clock().monotonic_ns();
  const int64_t cpu_start = net::fiber_cpu_ns();
  Status status = node.evaluate(*this, assembly, input);
  NodeTimes times;
  times.elapsed_ns = base::system_clock().monotonic_ns() - elapsed_start;
  times.cpu_ns = net::fiber_cpu_ns() - cpu_start;
  if (watching_ & kTimes) {
    NodeCounters& counters = counters_.nodes[node.index()];
    counters.elapsed_us.record(static_cast<uint64_t>(times.elapsed_ns) / 1000);
    counters.cpu_us.record(static_cast<uint64_t>(times.cpu_ns) / 1000);
  }
  if (observation_) observation_->leaves(node, status, times);
  return status;
}

void Invocation::start_observation() {
  observation_ = flow_.observers().start(*this);
  if (observation_) watching_ |= kObserved;
}

Status Invocation::end_observation(const Node& input, Status status) {
  if (observation_) observation_->ends(input, status);
  return status;
}

// An error of the node's own goes to its failure terminal when that is wired; one that comes from
// further down only passes through.
Status Invocation::handle_error(Node& node, const tree::MessageAssembly& assembly, Status status) {
  if (left_its_node(status.error())) {
    if (node.type().rethrows) {
      status = base::wrap_error(node_exception(node, "Caught exception and rethrowing"),
                                std::move(status));
    }
    status.error().is_unwinding = true;
    return status;
  }
  label_error(status.error(), node);
  if (node.is_wired(node.failure_output())) {
    counters_.flow.processing_errors.add(1);
    return propagate(node, node.failure_output(), with_exception(node, assembly, status.error()));
  }
  if (node.type().rethrows) {
    status = base::wrap_error(node_exception(node, "Caught exception and rethrowing"),
                              std::move(status));
  }
  status.error().is_unwinding = true;
  return status;
}

tree::MessageAssembly Invocation::with_exception(const Node& catcher,
                                                 const tree::MessageAssembly& assembly,
                                                 const base::Error& error) {
  context().parse_error = Status();
  tree::MessageAssembly caught = assembly;
  caught.exception_list = tree::make_root(context(), "ExceptionList");
  Status wrapper = node_exception(catcher, "Node throwing exception");
  wrapper.error().causes.push_back(error.clone());
  tree::append_exception(context(), caught.exception_list, wrapper.error());
  return caught;
}

Status Invocation::run_from_input(const Node& input, const tree::MessageAssembly& assembly,
                                  size_t input_bytes) {
  FlowCounters& counters = counters_.flow;
  const int64_t start = base::kCounts ? base::system_clock().monotonic_ns() : 0;
  counters.input_bytes.record(input_bytes);
  counters_.nodes[input.index()].invocations.add(1);
  if (observation_) observation_->begins(input, assembly, input_bytes);

  Status status = propagate(input, input.find_output("out"), assembly);
  const int catch_output = input.find_output("catch");
  if (!status.ok()) {
    counters.messages_with_errors.add(1);
    if (input.is_wired(catch_output) && is_catchable(status.error())) {
      status = propagate(input, catch_output, with_exception(input, assembly, status.error()));
    }
  }
  status = end_unit_of_work(std::move(status));
  if (!status.ok()) status = handle_input_error(input, assembly, std::move(status));
  if (!status.ok()) counters.processing_errors.add(1);
  if constexpr (base::kCounts) {
    const auto elapsed_us =
        static_cast<uint64_t>(base::system_clock().monotonic_ns() - start) / 1000;
    counters.elapsed_us.record(elapsed_us);
    counters.durations.record(elapsed_us);
  }
  return end_observation(input, std::move(status));
}

Status Invocation::run_branch_from_input(const Node& input, int output,
                                         const tree::MessageAssembly& assembly) {
  if (observation_) observation_->begins(input, assembly, 0);
  return end_observation(input, run_branch(input, output, assembly));
}

Status Invocation::run_branch(const Node& input, int output,
                              const tree::MessageAssembly& assembly) {
  return end_unit_of_work(propagate(input, output, assembly));
}

Status Invocation::run_failure_from_input(const Node& input, const tree::MessageAssembly& assembly,
                                          Status status, size_t input_bytes) {
  FlowCounters& counters = counters_.flow;
  counters.input_bytes.record(input_bytes);
  counters.messages_with_errors.add(1);
  counters_.nodes[input.index()].invocations.add(1);
  label_error(status.error(), input);
  if (observation_) observation_->begins(input, assembly, input_bytes);
  status = handle_input_error(input, assembly, std::move(status));
  if (!status.ok()) counters.processing_errors.add(1);
  return end_observation(input, std::move(status));
}

Status Invocation::handle_input_error(const Node& input, const tree::MessageAssembly& assembly,
                                      Status status) {
  if (!input.is_wired(input.failure_output()) || !is_catchable(status.error())) return status;
  return run_branch(input, input.failure_output(), with_exception(input, assembly, status.error()));
}

Status Invocation::end_unit_of_work(Status status) {
  if (status.ok()) status = unit_of_work_.commit();
  if (status.ok()) {
    counters_.flow.commits.add(1);
  } else {
    unit_of_work_.rollback();
    counters_.flow.backouts.add(1);
  }
  return status;
}

}  // namespace millstream::flow
