// What the nodes that call have in common: which flow, for how long, and making the call.
// Thread: that of the message.
#pragma once
#include <memory>
#include <string>

#include "nodes/callable/callable_flows.h"

namespace millstream::nodes::callable {

enum class CallPreference : uint8_t { kPreferLocal, kLocalOnly, kRemoteOnly };

struct CallPlan {
  std::string application, endpoint;
  int64_t timeout_s = 0;  // 0: none
  CallPreference preference = CallPreference::kPreferLocal;
};
// `planned` as the properties have it, with what LocalEnvironment.Destination.CallableFlow says.
CallPlan choose_call(const CallPlan& planned, tree::Element* local_environment);

// A call that has been looked up: in this server, or in another one.
struct CallRoute {
  std::shared_ptr<CallableTarget> target;  // null: `server`
  flow::FlowHold hold;
  std::string server;
};
Result<CallRoute> find_route(const CallableFlows& flows, const CallPlan& plan);

// Too deep a chain of calls is an error.
Status check_depth(const CallPlan& plan, uint32_t depth);

// Makes the call and waits for its end, in a fiber; `trace` goes along. For calls with trees the
// reply is in `context`; otherwise it is encoded in `reply_bytes`. Exceptions of the callable flow
// are errors::kCallFailed.
Result<CallMessage> call_with_trees(CallableFlows& flows, const CallPlan& plan, CallRoute route,
                                    uint32_t depth, flow::TraceHeaders trace,
                                    tree::TreeContext& context,
                                    const tree::MessageAssembly& message);
Result<std::string> call_with_bytes(CallableFlows& flows, const CallPlan& plan, CallRoute route,
                                    uint32_t depth, flow::TraceHeaders trace, std::string request);
// The reactor's time when the plan's time-out is over.
int64_t deadline_of(const CallPlan& plan);

// LocalEnvironment.Destination.CallableFlow.ReplyIdentifier; removed when `identifier` is empty.
void set_reply_identifier(tree::TreeContext& context, tree::Element* local_environment,
                          std::string_view identifier);
std::string find_reply_identifier(tree::Element* local_environment);

}  // namespace millstream::nodes::callable
