#include "observe/origin_accounting.h"

#include "base/clock.h"
#include "flow/invocation.h"
#include "net/fiber.h"

namespace millstream::observe {
namespace {

void merge(flow::SpreadTotals& sum, const flow::SpreadTotals& other) {
  sum.count += other.count;
  sum.total += other.total;
  sum.merge_extremes(other);
}

void merge_account(flow::StatisticsTotals& account, const flow::FlowTotals& flow,
                   const std::vector<flow::NodeTotals>& nodes) {
  flow::FlowTotals& sum = account.flow;
  merge(sum.elapsed_us, flow.elapsed_us);
  merge(sum.cpu_us, flow.cpu_us);
  merge(sum.input_bytes, flow.input_bytes);
  sum.messages_with_errors += flow.messages_with_errors;
  sum.processing_errors += flow.processing_errors;
  sum.commits += flow.commits;
  sum.backouts += flow.backouts;
  account.nodes.resize(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    flow::NodeTotals& node = account.nodes[i];
    merge(node.elapsed_us, nodes[i].elapsed_us);
    merge(node.cpu_us, nodes[i].cpu_us);
    node.invocations += nodes[i].invocations;
    node.outputs.resize(nodes[i].outputs.size());
    for (size_t o = 0; o < node.outputs.size(); ++o) node.outputs[o] += nodes[i].outputs[o];
  }
}

std::vector<flow::NodeTotals> empty_nodes(const flow::Flow& flow) {
  std::vector<flow::NodeTotals> nodes(flow.nodes().size());
  for (size_t i = 0; i < nodes.size(); ++i)
    nodes[i].outputs.resize(flow.nodes()[i]->output_count());
  return nodes;
}

class OriginMessage final : public flow::MessageObserver {
 public:
  OriginMessage(OriginAccounting& accounting, const flow::Flow& flow)
      : accounting_(accounting), nodes_(empty_nodes(flow)) {}

  void begins(const flow::Node& input, const tree::MessageAssembly& message,
              size_t bytes) override {
    environment_ = message.environment;
    start_ns_ = base::system_clock().monotonic_ns();
    cpu_start_ns_ = net::fiber_cpu_ns();
    flow_.input_bytes.add_value(bytes);
    if (input.index() < nodes_.size()) ++nodes_[input.index()].invocations;
  }
  void enters(const flow::Node& node, const tree::MessageAssembly&, int) override {
    if (node.index() < nodes_.size()) ++nodes_[node.index()].invocations;
  }
  void leaves(const flow::Node& node, const Status& status, const flow::NodeTimes& times) override {
    has_error_ |= !status.ok();
    if (node.index() >= nodes_.size()) return;
    nodes_[node.index()].elapsed_us.add_value(static_cast<uint64_t>(times.elapsed_ns) / 1000);
    nodes_[node.index()].cpu_us.add_value(static_cast<uint64_t>(times.cpu_ns) / 1000);
  }
  void propagates(const flow::Node& from, int output, const tree::MessageAssembly&) override {
    if (from.index() >= nodes_.size()) return;
    std::vector<uint64_t>& outputs = nodes_[from.index()].outputs;
    if (static_cast<size_t>(output) < outputs.size()) ++outputs[static_cast<size_t>(output)];
  }
  void ends(const flow::Node&, const Status& status) override {
    flow_.elapsed_us.add_value(
        static_cast<uint64_t>(base::system_clock().monotonic_ns() - start_ns_) / 1000);
    flow_.cpu_us.add_value(static_cast<uint64_t>(net::fiber_cpu_ns() - cpu_start_ns_) / 1000);
    flow_.messages_with_errors = has_error_;
    flow_.processing_errors = !status.ok();
    ++(status.ok() ? flow_.commits : flow_.backouts);
    accounting_.add(origin(), flow_, nodes_);
  }

 private:
  std::string_view origin() const {
    tree::Element* e = environment_;
    for (const char* name : {"Broker", "Accounting", "Origin"}) {
      if (e) e = tree::find_child(e, name);
    }
    if (!e) return OriginAccounting::kAnonymous;
    const value::Value v = tree::scalar_value(e);
    if (v.kind != value::Kind::kCharacter || v.text().empty()) return OriginAccounting::kAnonymous;
    return v.text().substr(0, OriginAccounting::kOriginBytesMax);
  }

  OriginAccounting& accounting_;
  tree::Element* environment_ = nullptr;
  flow::FlowTotals flow_;
  std::vector<flow::NodeTotals> nodes_;
  int64_t start_ns_ = 0, cpu_start_ns_ = 0;
  bool has_error_ = false;
};

}  // namespace

std::unique_ptr<flow::MessageObserver> OriginAccounting::start(flow::Invocation& invocation) {
  return std::make_unique<OriginMessage>(*this, invocation.flow());
}

void OriginAccounting::add(std::string_view origin, const flow::FlowTotals& flow,
                           const std::vector<flow::NodeTotals>& nodes) {
  std::lock_guard lock(mutex_);
  for (Accounts& accounts : accounts_) {
    auto it = accounts.find(origin);
    if (it == accounts.end()) {
      if (accounts.size() >= kOriginsMax) origin = kAnonymous;
      it = accounts.try_emplace(std::string(origin)).first;
    }
    merge_account(it->second, flow, nodes);
  }
}

std::vector<std::pair<std::string, flow::StatisticsTotals>> OriginAccounting::take(
    flow::StatisticsReader reader, const flow::StatisticsTotals& interval) {
  Accounts accounts;
  {
    std::lock_guard lock(mutex_);
    accounts.swap(accounts_[static_cast<size_t>(reader)]);
  }
  flow::StatisticsTotals& anonymous = accounts[kAnonymous];
  anonymous.flow.times_max_instances = interval.flow.times_max_instances;
  std::vector<std::pair<std::string, flow::StatisticsTotals>> out;
  for (auto& [origin, totals] : accounts) {
    totals.nodes.resize(interval.nodes.size());
    for (size_t i = 0; i < totals.nodes.size(); ++i) {
      totals.nodes[i].outputs.resize(interval.nodes[i].outputs.size());
    }
    totals.start_us = interval.start_us;
    totals.end_us = interval.end_us;
    totals.threads = interval.threads;
    out.emplace_back(origin, std::move(totals));
  }
  return out;
}

}  // namespace millstream::observe
