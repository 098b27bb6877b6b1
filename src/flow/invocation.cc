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
  flow_.statistics().node(from.index()).outputs[static_cast<size_t>(output)].add(1);
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
  flow_.statistics().node(node.index()).invocations.add(1);
  Status status = flow_.statistics().node_data_level() == NodeDataLevel::kNone
                      ? node.evaluate(*this, assembly, input)
                      : run_timed(node, assembly, input);
  if (__builtin_expect(status.ok(), 1)) return status;
  return handle_error(node, assembly, std::move(status));
}

Status Invocation::run_timed(Node& node, const tree::MessageAssembly& assembly, int input) {
  const int64_t elapsed_start = base::system_clock().monotonic_ns();
  const int64_t cpu_start = net::fiber_cpu_ns();
  Status status = node.evaluate(*this, assembly, input);
  NodeCounters& counters = flow_.statistics().node(node.index());
  counters.elapsed_us.record(
      static_cast<uint64_t>(base::system_clock().monotonic_ns() - elapsed_start) / 1000);
  counters.cpu_us.record(static_cast<uint64_t>(net::fiber_cpu_ns() - cpu_start) / 1000);
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
    flow_.statistics().flow().processing_errors.add(1);
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
  FlowCounters& counters = flow_.statistics().flow();
  const int64_t start = base::system_clock().monotonic_ns();
  counters.input_bytes.record(input_bytes);
  flow_.statistics().node(input.index()).invocations.add(1);

  Status status = propagate(input, input.find_output("out"), assembly);
  const int catch_output = input.find_output("catch");
  if (!status.ok()) {
    flow_.statistics().flow().messages_with_errors.add(1);
    if (input.is_wired(catch_output) && is_catchable(status.error())) {
      status = propagate(input, catch_output, with_exception(input, assembly, status.error()));
    }
  }
  status = end_unit_of_work(std::move(status));
  if (!status.ok()) status = handle_input_error(input, assembly, std::move(status));
  if (!status.ok()) flow_.statistics().flow().processing_errors.add(1);
  flow_.statistics().flow().elapsed_us.record(
      static_cast<uint64_t>(base::system_clock().monotonic_ns() - start) / 1000);
  return status;
}

Status Invocation::run_branch_from_input(const Node& input, int output,
                                         const tree::MessageAssembly& assembly) {
  return end_unit_of_work(propagate(input, output, assembly));
}

Status Invocation::run_failure_from_input(const Node& input, const tree::MessageAssembly& assembly,
                                          Status status, size_t input_bytes) {
  FlowCounters& counters = flow_.statistics().flow();
  counters.input_bytes.record(input_bytes);
  counters.messages_with_errors.add(1);
  flow_.statistics().node(input.index()).invocations.add(1);
  label_error(status.error(), input);
  status = handle_input_error(input, assembly, std::move(status));
  if (!status.ok()) flow_.statistics().flow().processing_errors.add(1);
  return status;
}

Status Invocation::handle_input_error(const Node& input, const tree::MessageAssembly& assembly,
                                      Status status) {
  if (!input.is_wired(input.failure_output()) || !is_catchable(status.error())) return status;
  return run_branch_from_input(input, input.failure_output(),
                               with_exception(input, assembly, status.error()));
}

Status Invocation::end_unit_of_work(Status status) {
  if (status.ok()) status = unit_of_work_.commit();
  if (status.ok()) {
    flow_.statistics().flow().commits.add(1);
  } else {
    unit_of_work_.rollback();
    flow_.statistics().flow().backouts.add(1);
  }
  return status;
}

}  // namespace millstream::flow
