// Puts an observer between the nodes of a flow: it is asked instead of each node, and told what
// leaves each terminal. Made for tests of flows (mocks, spies, coverage). A flow without an
// interposer has no trace of this: nodes are replaced in the wiring once, before it starts.
//
//   interpose(flow, observer);       after build_flow(), before Flow::start()
//
// Terminals that are wired are always watched. Others are watched where being wired changes
// nothing: not failure, catch, error and timeout, whose wiring decides how errors go. Ownership:
// the interposer outlives the flow. Thread: interpose() while loading; the calls in the fibers of
// messages.
#pragma once
#include "flow/flow.h"
#include "flow/invocation.h"

namespace millstream::flow {

class Interposer {
 public:
  // Stands for `node`; call node.evaluate(...) to run it. An error that is returned is handled as
  // the node's own.
  virtual Status evaluate(Node& node, Invocation& invocation, const tree::MessageAssembly& in,
                          int input) = 0;
  // Before what is wired to `output` runs.
  virtual void propagated(const Node& from, int output, Invocation& invocation,
                          const tree::MessageAssembly& assembly) = 0;

 protected:
  ~Interposer() = default;
};

void interpose(Flow& flow, Interposer& interposer);

// Sends `assembly` to an input terminal of `node` as the flow's own wiring would, in a unit of work
// of its own. The flow must be interposed, so that `node` is entered the same way.
Status enter_node(Flow& flow, Node& node, int input, Invocation& invocation,
                  const tree::MessageAssembly& assembly);

}  // namespace millstream::flow
