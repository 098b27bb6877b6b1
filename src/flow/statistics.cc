#include "flow/statistics.h"

#include <sys/time.h>

#include <ctime>

#include "base/json_value.h"
#include "flow/flow.h"

namespace millstream::flow {
namespace {

int64_t statistics_now_us() {
  timeval now{};
  gettimeofday(&now, nullptr);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000 + now.tv_usec;
}

struct SpreadSum {
  uint64_t count = 0, total = 0, maximum = 0, minimum = 0;
  void add(const Spread& s) {
    if (s.count.get() == 0) return;
    const uint64_t low = s.minimum.get() - 1;
    minimum = count == 0 ? low : (low < minimum ? low : minimum);
    if (s.maximum.get() > maximum) maximum = s.maximum.get();
    count += s.count.get();
    total += s.total.get();
  }
};

void reset_spread(Spread& s) {
  s.count.set(0);
  s.total.set(0);
  s.maximum.set(0);
  s.minimum.set(0);
}

std::string format_time(int64_t us, bool is_local, const char* pattern, bool has_millis) {
  time_t seconds = us / 1'000'000;
  tm fields{};
  if (is_local) {
    localtime_r(&seconds, &fields);
  } else {
    gmtime_r(&seconds, &fields);
  }
  char buffer[40];
  size_t size = strftime(buffer, sizeof buffer, pattern, &fields);
  std::string out(buffer, size);
  if (has_millis) {
    char millis[8];
    snprintf(millis, sizeof millis, ".%03d", static_cast<int>(us / 1000 % 1000));
    out += millis;
  }
  return out;
}

base::JsonValue number(uint64_t n) { return base::JsonValue(static_cast<int64_t>(n)); }

}  // namespace

size_t thread_number() {
  static std::atomic<size_t> next{0};
  thread_local const size_t mine = next.fetch_add(1) % Statistics::kShardsMax;
  return mine;
}

void Spread::record(uint64_t value) {
  count.add(1);
  total.add(value);
  maximum.raise_to(value);
  if (minimum.get() == 0 || value + 1 < minimum.get()) minimum.set(value + 1);
}

Statistics::Statistics(std::vector<size_t> output_counts)
    : output_counts_(std::move(output_counts)), start_us_(statistics_now_us()) {}

Statistics::~Statistics() {
  for (auto& shard : shards_) delete shard.load();
}

Statistics::Shard& Statistics::shard() {
  const size_t thread = thread_number();
  Shard* shard = shards_[thread].load(std::memory_order_acquire);
  return __builtin_expect(shard != nullptr, 1) ? *shard : make_shard(thread);
}

Statistics::Shard& Statistics::make_shard(size_t thread) {
  auto made = std::make_unique<Shard>();
  for (size_t outputs : output_counts_) made->nodes.emplace_back(outputs);
  Shard* expected = nullptr;
  // Two threads share a number only beyond kShardsMax threads.
  if (shards_[thread].compare_exchange_strong(expected, made.get())) return *made.release();
  return *expected;
}

std::string Statistics::snapshot_json(const Flow& flow, const std::string& server_name,
                                      bool resets) {
  const int64_t start = start_us_.load();
  const int64_t end = statistics_now_us();
  SpreadSum elapsed, cpu, bytes;
  uint64_t with_errors = 0, errors = 0, commits = 0, backouts = 0, timeouts = 0, at_limit = 0;
  struct NodeSum {
    SpreadSum elapsed, cpu;
    uint64_t invocations = 0;
    std::vector<uint64_t> outputs;
  };
  std::vector<NodeSum> nodes(output_counts_.size());
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i].outputs.resize(output_counts_[i]);
  size_t threads = 0;
  for (auto& slot : shards_) {
    Shard* shard = slot.load(std::memory_order_acquire);
    if (!shard) continue;
    ++threads;
    FlowCounters& f = shard->flow;
    elapsed.add(f.elapsed_us);
    cpu.add(f.cpu_us);
    bytes.add(f.input_bytes);
    with_errors += f.messages_with_errors.get();
    errors += f.processing_errors.get();
    commits += f.commits.get();
    backouts += f.backouts.get();
    timeouts += f.reply_timeouts.get();
    at_limit += f.times_max_instances.get();
    for (size_t i = 0; i < nodes.size(); ++i) {
      NodeCounters& n = shard->nodes[i];
      nodes[i].elapsed.add(n.elapsed_us);
      nodes[i].cpu.add(n.cpu_us);
      nodes[i].invocations += n.invocations.get();
      for (size_t o = 0; o < n.outputs.size(); ++o) nodes[i].outputs[o] += n.outputs[o].get();
      if (resets) {
        reset_spread(n.elapsed_us);
        reset_spread(n.cpu_us);
        n.invocations.set(0);
        for (Counter& c : n.outputs) c.set(0);
      }
    }
    if (resets) {
      reset_spread(f.elapsed_us);
      reset_spread(f.cpu_us);
      reset_spread(f.input_bytes);
      for (Counter* c : {&f.messages_with_errors, &f.processing_errors, &f.commits, &f.backouts,
                         &f.reply_timeouts, &f.times_max_instances}) {
        c->set(0);
      }
    }
  }
  if (resets) start_us_.store(end);

  base::JsonValue message_flow = base::JsonValue::object();
  auto put = [&message_flow](const char* name, base::JsonValue v) {
    message_flow.set(name, std::move(v));
  };
  put("BrokerLabel", base::JsonValue(server_name));
  put("BrokerUUID", base::JsonValue(""));
  put("ExecutionGroupName", base::JsonValue(server_name));
  put("ExecutionGroupUUID", base::JsonValue("00000000-0000-0000-0000-000000000000"));
  put("MessageFlowName", base::JsonValue(flow.name()));
  put("ApplicationName", base::JsonValue(flow.application()));
  put("StartDate", base::JsonValue(format_time(start, true, "%Y-%m-%d", false)));
  put("StartTime", base::JsonValue(format_time(start, true, "%H:%M:%S", true)));
  put("GMTStartTime", base::JsonValue(format_time(start, false, "%H:%M:%S", true)));
  put("EndDate", base::JsonValue(format_time(end, true, "%Y-%m-%d", false)));
  put("EndTime", base::JsonValue(format_time(end, true, "%H:%M:%S", true)));
  put("GMTEndTime", base::JsonValue(format_time(end, false, "%H:%M:%S", true)));
  put("TotalElapsedTime", number(elapsed.total));
  put("MaximumElapsedTime", number(elapsed.maximum));
  put("MinimumElapsedTime", number(elapsed.minimum));
  put("TotalCPUTime", number(cpu.total));
  put("MaximumCPUTime", number(cpu.maximum));
  put("MinimumCPUTime", number(cpu.minimum));
  put("CPUTimeWaitingForInputMessage", number(0));
  put("ElapsedTimeWaitingForInputMessage", number(0));
  put("TotalInputMessages", number(bytes.count));
  put("TotalSizeOfInputMessages", number(bytes.total));
  put("MaximumSizeOfInputMessages", number(bytes.maximum));
  put("MinimumSizeOfInputMessages", number(bytes.minimum));
  put("NumberOfThreadsInPool",
      number(flow.instances().limit() ? flow.instances().limit() : threads));
  put("TimesMaximumNumberOfThreadsReached", number(at_limit));
  put("TotalNumberOfMQErrors", number(0));
  put("TotalNumberOfMessagesWithErrors", number(with_errors));
  put("TotalNumberOfErrorsProcessingMessages", number(errors));
  put("TotalNumberOfTimeOutsWaitingForRepliesToAggregateMessages", number(timeouts));
  put("TotalNumberOfCommits", number(commits));
  put("TotalNumberOfBackouts", number(backouts));
  put("AccountingOrigin", base::JsonValue("Anonymous"));

  base::JsonValue node_list = base::JsonValue::array();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = *flow.nodes()[i];
    base::JsonValue terminals = base::JsonValue::array();
    auto add_terminal = [&terminals](std::string_view label, const char* type, uint64_t count) {
      base::JsonValue t = base::JsonValue::object();
      t.set("Label", base::JsonValue(std::string(label)));
      t.set("Type", base::JsonValue(type));
      t.set("CountOfInvocations", number(count));
      terminals.push_back(std::move(t));
    };
    for (const char* input : node.type().inputs) add_terminal(input, "Input", nodes[i].invocations);
    for (size_t o = 0; o < nodes[i].outputs.size(); ++o) {
      add_terminal(node.output_name(static_cast<int>(o)), "Output", nodes[i].outputs[o]);
    }
    base::JsonValue n = base::JsonValue::object();
    n.set("Label", base::JsonValue(node.label()));
    n.set("Type", base::JsonValue(node.type().statistics_type));
    n.set("TotalElapsedTime", number(nodes[i].elapsed.total));
    n.set("MaximumElapsedTime", number(nodes[i].elapsed.maximum));
    n.set("MinimumElapsedTime", number(nodes[i].elapsed.minimum));
    n.set("TotalCPUTime", number(nodes[i].cpu.total));
    n.set("MaximumCPUTime", number(nodes[i].cpu.maximum));
    n.set("MinimumCPUTime", number(nodes[i].cpu.minimum));
    n.set("CountOfInvocations", number(nodes[i].invocations));
    n.set("NumberOfInputTerminals", number(node.type().inputs.size()));
    n.set("NumberOfOutputTerminals", number(node.output_count()));
    n.set("TerminalStatistics", std::move(terminals));
    node_list.push_back(std::move(n));
  }

  base::JsonValue record = base::JsonValue::object();
  record.set("RecordType", base::JsonValue("SnapShot"));
  record.set("RecordCode", base::JsonValue("SnapShot"));
  record.set("MessageFlow", std::move(message_flow));
  record.set("NumberOfThreads", number(0));
  record.set("ThreadStatistics", base::JsonValue::array());
  record.set("NumberOfNodes", number(nodes.size()));
  record.set("Nodes", std::move(node_list));
  base::JsonValue document = base::JsonValue::object();
  document.set("WMQIStatisticsAccounting", std::move(record));
  return document.to_text();
}

}  // namespace millstream::flow
