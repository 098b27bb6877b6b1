#include "flowtest/flow_probe.h"

#include "flow/errors_gen.h"
#include "flowtest/errors_gen.h"

namespace millstream::flowtest {
namespace {

bool has_left_its_node(const base::Error& error) {
  if (error.is_unwinding) return true;
  for (const auto& cause : error.causes) {
    if (has_left_its_node(*cause)) return true;
  }
  return false;
}

std::string_view last_part(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

bool is_flow_named(const flow::Flow& flow, std::string_view name) {
  return flow.name() == name || last_part(flow.name()) == name ||
         flow.application() + "/" + flow.name() == name;
}

bool find_in_flow(flow::Flow& flow, std::string_view text, NodePoint& out) {
  out.flow = &flow;
  out.output = -1;
  out.input = 0;
  out.node = flow.find_node(text);
  if (out.node) return true;
  const size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return false;
  out.node = flow.find_node(text.substr(0, dot));
  if (!out.node) return false;
  const std::string_view terminal = text.substr(dot + 1);
  out.output = out.node->find_output(terminal);
  if (out.output >= 0) return true;
  const auto& inputs = out.node->type().inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (terminal != inputs[i]) continue;
    out.input = static_cast<int>(i);
    return true;
  }
  return false;
}

}  // namespace

void FlowProbe::add_flow(flow::Flow& flow) {
  flows_.push_back(&flow);
  auto states = std::make_unique<std::vector<NodeState>>(flow.nodes().size());
  for (const auto& node : flow.nodes())
    (*states)[node->index()].outputs.resize(node->output_count());
  states_[&flow] = std::move(states);
  flow::interpose(flow, *this);
}

Result<NodePoint> FlowProbe::find(std::string_view text, std::string_view usual_flow) const {
  std::string_view flow_name = usual_flow, name = text;
  const size_t colons = text.find("::");
  if (colons != std::string_view::npos) {
    flow_name = text.substr(0, colons);
    name = text.substr(colons + 2);
  }
  std::vector<NodePoint> found;
  bool has_flow = false;
  for (flow::Flow* flow : flows_) {
    if (!flow_name.empty() && !is_flow_named(*flow, flow_name)) continue;
    has_flow = true;
    NodePoint point;
    if (find_in_flow(*flow, name, point)) found.push_back(point);
  }
  if (found.size() == 1) return found[0];
  std::string known;
  if (!has_flow) {
    for (flow::Flow* f : flows_) known += (known.empty() ? "" : ", ") + f->name();
    return base::make_error(errors::kNoFlow, {flow_name, known});
  }
  if (!found.empty()) {
    for (const NodePoint& p : found) known += (known.empty() ? "" : ", ") + p.flow->name();
    return base::make_error(errors::kAmbiguousNode, {name, known});
  }
  for (flow::Flow* flow : flows_) {
    if (!flow_name.empty() && !is_flow_named(*flow, flow_name)) continue;
    for (const auto& node : flow->nodes()) known += (known.empty() ? "" : ", ") + node->label();
  }
  return base::make_error(errors::kNoNode, {name, known});
}

void FlowProbe::keep_messages_of(const NodePoint& point) {
  NodeState& s = state(*point.node);
  (point.output < 0 ? s.entry : s.outputs[static_cast<size_t>(point.output)]).keeps = true;
}

void FlowProbe::add_mock(const NodePoint& point, const FlowAction& action) {
  std::lock_guard lock(mutex_);
  mock_outputs_[&action] = point.output;
  state(*point.node).mocks.push_back(&action);
}

void FlowProbe::begin_step() {
  std::lock_guard lock(mutex_);
  unhandled_.reset();
  for (auto& [flow, states] : states_) {
    for (NodeState& s : *states) {
      s.error.reset();
      s.entry.calls = 0;
      s.entry.kept.clear();
      for (Point& p : s.outputs) {
        p.calls = 0;
        p.kept.clear();
      }
    }
  }
}

uint64_t FlowProbe::calls_of(const NodePoint& point) const {
  std::lock_guard lock(mutex_);
  NodeState& s = state(*point.node);
  return point.output < 0 ? s.entry.calls : s.outputs[static_cast<size_t>(point.output)].calls;
}

std::vector<Snapshot> FlowProbe::messages_of(const NodePoint& point) const {
  std::lock_guard lock(mutex_);
  NodeState& s = state(*point.node);
  return point.output < 0 ? s.entry.kept : s.outputs[static_cast<size_t>(point.output)].kept;
}

std::unique_ptr<base::Error> FlowProbe::error_of(const NodePoint& point) const {
  std::lock_guard lock(mutex_);
  const auto& error = state(*point.node).error;
  return error ? error->clone() : nullptr;
}

std::unique_ptr<base::Error> FlowProbe::unhandled_error() const {
  std::lock_guard lock(mutex_);
  return unhandled_ ? unhandled_->clone() : nullptr;
}

uint64_t FlowProbe::total_calls_of(const flow::Node& node) const {
  std::lock_guard lock(mutex_);
  return state(node).entry.total;
}

uint64_t FlowProbe::total_calls_of(const flow::Node& node, int output) const {
  std::lock_guard lock(mutex_);
  return state(node).outputs[static_cast<size_t>(output)].total;
}

// The mock for exactly this call goes before one from some call on, that before one for all; of
// equals the later one.
const FlowAction* FlowProbe::choose_mock(const NodeState& s) const {
  const FlowAction* best = nullptr;
  int best_rank = 0;
  for (const FlowAction* mock : s.mocks) {
    int rank = 0;
    if (mock->number == 0) rank = 1;
    if (mock->is_and_later && s.entry.total >= mock->number) rank = 2;
    if (!mock->is_and_later && mock->number == s.entry.total) rank = 3;
    if (rank == 0 || rank < best_rank) continue;
    best = mock;
    best_rank = rank;
  }
  return best;
}

void FlowProbe::note(Point& point, flow::Invocation& invocation,
                     const tree::MessageAssembly& assembly) {
  ++point.calls;
  ++point.total;
  if (!point.keeps || point.kept.size() >= kKeptMax) return;
  point.kept.push_back(take_snapshot(invocation.context(), assembly));
}

Status FlowProbe::run_mock(const FlowAction& mock, flow::Node& node, flow::Invocation& invocation,
                           const tree::MessageAssembly& in) {
  if (mock.kind == FlowAction::Kind::kStop) return {};
  if (mock.kind == FlowAction::Kind::kThrow) {
    Status status = base::make_error(errors::kMockedException, {mock.section->body});
    base::Error& error = status.error();
    error.number = static_cast<int>(mock.amount);
    error.inserts.clear();
    std::string_view rest = mock.section->body;
    error.text = rest.substr(0, rest.find('\n'));
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      error.inserts.emplace_back(rest.substr(0, end));
      rest = rest.substr(std::min(end + 1, rest.size()));
    }
    return status;
  }
  tree::MessageAssembly out = in;
  MS_TRY(apply_parts(invocation.context(), mock.parts, folder_, out));
  int output = mock_outputs_.at(&mock);
  if (output < 0) output = node.find_output("out");
  return invocation.propagate(node, output, out);
}

Status FlowProbe::evaluate(flow::Node& node, flow::Invocation& invocation,
                           const tree::MessageAssembly& in, int input) {
  const FlowAction* mock = nullptr;
  bool is_outermost = false;
  {
    std::lock_guard lock(mutex_);
    if (alone_ && alone_ != &node) return {};
    NodeState& s = state(node);
    note(s.entry, invocation, in);
    mock = choose_mock(s);
    is_outermost = depths_[&invocation]++ == 0;
  }
  Status status =
      mock ? run_mock(*mock, node, invocation, in) : node.evaluate(invocation, in, input);
  std::lock_guard lock(mutex_);
  if (--depths_[&invocation] == 0) depths_.erase(&invocation);
  if (status.ok()) return status;
  std::unique_ptr<base::Error> error = status.error().clone();
  const bool goes_to_failure =
      node.is_wired(node.failure_output()) && !has_left_its_node(status.error());
  // The engine adds its own when it lets the exception out.
  if (node.type().rethrows && !goes_to_failure) {
    Status outer = base::make_error(flow::errors::kNodeException, {node.full_label()});
    outer.error().text = "Caught exception and rethrowing";
    outer.error().node_label = node.full_label();
    outer.error().causes.push_back(std::move(error));
    error = outer.error().clone();
  }
  if (is_outermost && !goes_to_failure) unhandled_ = error->clone();
  state(node).error = std::move(error);
  return status;
}

void FlowProbe::propagated(const flow::Node& from, int output, flow::Invocation& invocation,
                           const tree::MessageAssembly& assembly) {
  std::lock_guard lock(mutex_);
  note(state(from).outputs[static_cast<size_t>(output)], invocation, assembly);
}

}  // namespace millstream::flowtest
