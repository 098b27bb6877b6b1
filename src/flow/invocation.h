// One message on its way through one flow: its arena, its unit of work, and how nodes call each
// other. Made by an input node, destroyed when the message is done.
//
// propagate() is a nested call: everything downstream has run when it returns. An error it returns
// has left the node it was raised in and is on its way to the nearest TryCatch or input node.
// Thread: the fiber of the message.
#pragma once
#include <functional>
#include <string_view>

#include "flow/flow.h"
#include "flow/node.h"
#include "flow/observer.h"
#include "flow/unit_of_work.h"
#include "net/buffer_pool.h"
#include "tree/assembly.h"

namespace millstream::flow {

class Invocation {
 public:
  // A stack shorter than this ends a flow that nests too deep (a loop of connections).
  static constexpr size_t kStackReserveBytes = 64 * 1024;

  Invocation(Flow& flow, tree::MessageArena& arena)
      : flow_(flow), arena_(arena), counters_(flow.statistics().shard()) {
    if constexpr (!base::kCounts) return;
    if (flow.statistics().node_data_level() != NodeDataLevel::kNone) watching_ = kTimes;
    if (__builtin_expect(!flow.observers().is_empty(), 0)) start_observation();
  }
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;

  Flow& flow() const { return flow_; }
  tree::TreeContext& context() { return arena_.context(); }
  base::Arena& arena() { return arena_.arena(); }
  UnitOfWork& unit_of_work() { return unit_of_work_; }
  // Null while nobody watches this message.
  Observation* observation() const { return observation_.get(); }

  // To all nodes wired to `output` of `from`, one after the other. Unwired or -1: nothing happens.
  Status propagate(const Node& from, int output, const tree::MessageAssembly& assembly);
  // Enters the Label node of this flow with this name.
  Status propagate_to_label(const Node& from, std::string_view label,
                            const tree::MessageAssembly& assembly);
  // `assembly` with an exception list that holds `error` below the catching node's BIP2230.
  tree::MessageAssembly with_exception(const Node& catcher, const tree::MessageAssembly& assembly,
                                       const base::Error& error);
  // The way of an input node (spec C1): out, on an exception catch, then rollback and failure.
  // Returns the error nobody handled; the unit of work has ended either way.
  Status run_from_input(const Node& input, const tree::MessageAssembly& assembly,
                        size_t input_bytes);
  // Another way out of an input node, such as its timeout terminal, with a unit of work of its own.
  Status run_branch_from_input(const Node& input, int output,
                               const tree::MessageAssembly& assembly);
  // The input node itself failed with `status`, so `assembly` goes to failure at once. Returns the
  // error when that terminal is not wired, or what failed there.
  Status run_failure_from_input(const Node& input, const tree::MessageAssembly& assembly,
                                Status status, size_t input_bytes);

  // Keeps a buffer that trees of this message point into.
  void keep(net::Buffer buffer) { buffers_.push_back(std::move(buffer)); }

  // Where the request came from, for nodes of the same family (HTTPReply); set by the input node.
  void* transport = nullptr;
  // The trace that came with the message, where `transport` does not say; set by the input node.
  const TraceHeaders* trace = nullptr;
  // How many callable flows deep this message is; set by the input node (nodes/callable).
  uint32_t call_depth = 0;

 private:
  Status run(Node& node, const tree::MessageAssembly& assembly, int input);
  Status run_watched(Node& node, const tree::MessageAssembly& assembly, int input);
  void start_observation();
  Status end_observation(const Node& input, Status status);
  Status handle_error(Node& node, const tree::MessageAssembly& assembly, Status status);
  Status run_branch(const Node& input, int output, const tree::MessageAssembly& assembly);
  Status handle_input_error(const Node& input, const tree::MessageAssembly& assembly,
                            Status status);
  Status end_unit_of_work(Status status);

  static constexpr uint8_t kTimes = 1;     // nodes are timed for statistics
  static constexpr uint8_t kObserved = 2;  // there is an observation

  Flow& flow_;
  tree::MessageArena& arena_;
  Statistics::Shard& counters_;  // of this thread, which a fiber never leaves
  uint8_t watching_ = 0;
  std::unique_ptr<Observation> observation_;
  UnitOfWork unit_of_work_;
  std::vector<net::Buffer> buffers_;
};

// False for what no flow may handle: the server is stopping, or the stack is used up.
bool is_catchable(const base::Error& error);

// Fills what only the engine knows (node type, name, label) into errors that lack it.
void label_error(base::Error& error, const Node& node);

}  // namespace millstream::flow
