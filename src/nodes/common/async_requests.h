// Requests whose answers come in another flow: which response node waits for the answers to a
// request node, and what of the request's message an answer gets back. One table a process, reached
// through flow::Services; request and response nodes are paired by their kind and the identifier
// that both have as a property.
//
//   request node, in its message's fiber:
//     auto pending = MS_TRY(requests.begin(AsyncKind::kHttp, application, id, *this, invocation,
//     in)); net::Reactor::current()->spawn([pending, ...] { send; wait; responder.receive(...); });
//   response node: start() { requests.add(...); }  stop() { requests.remove(...); }
//
// No instance is held while an answer is awaited; both flows are (flow::FlowHold), so that neither
// is destroyed. An answer goes to the response node that was started last: a newer version of the
// application takes over the answers to requests of the older one.
// Thread: any.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flow/endpoint_registry.h"
#include "flow/flow_hold.h"
#include "flow/invocation.h"
#include "nodes/common/application.h"
#include "nodes/common/endpoint_versions.h"
#include "tree/assembly.h"

namespace millstream::nodes::common {

enum class AsyncKind : uint8_t { kHttp, kRest, kCallable };
std::string_view async_family(AsyncKind kind);  // "HTTP", "REST", "CallableFlow"

// A response node. Each family derives its own interface from it and casts what it gets back: all
// responders of one kind are of one class.
class AsyncResponder {
 public:
  virtual ~AsyncResponder() = default;
  virtual flow::Flow& flow() const = 0;  // alive as long as it is registered or held
};

// What of a request's message belongs to the answer's too: who is to be replied to, and what the
// flow has put into UserContext. Bytes, since the arenas are not the same.
struct AsyncContext {
  std::string http_identifier;  // LocalEnvironment.Destination.HTTP.RequestIdentifier
  std::string call_identifier;  // LocalEnvironment.Destination.CallableFlow.ReplyIdentifier
  std::string user_contexts;    // encoded trees: that of Environment, that of LocalEnvironment
};
// UserContext is read from Environment.<family>.UserContext and, in the manner of older nodes, from
// LocalEnvironment.Destination.<family>.UserContext.
Result<AsyncContext> save_async_context(AsyncKind kind, tree::TreeContext& context,
                                        const tree::MessageAssembly& in);
// Puts everything back where it was, into the trees of `out`.
Status restore_async_context(AsyncKind kind, const AsyncContext& saved, tree::TreeContext& context,
                             const tree::MessageAssembly& out);

class AsyncRequests;

// A request whose answer is awaited. Shared by the fibers that work on it; the last one to let go
// ends it.
class AsyncRequest {
 public:
  ~AsyncRequest();
  AsyncRequest(const AsyncRequest&) = delete;
  AsyncRequest& operator=(const AsyncRequest&) = delete;

  const std::string& identifier() const { return identifier_; }  // 24 bytes
  const AsyncContext& context() const { return context_; }
  const std::string& request_node() const { return request_node_; }  // "Flow.Node", for the log
  uint32_t call_depth() const { return call_depth_; }
  // The trace that the request carries and its answer goes on with. Before it is sent.
  void set_trace(flow::TraceHeaders trace) { trace_ = std::move(trace); }
  const flow::TraceHeaders& trace() const { return trace_; }
  // Who gets the answer now; never null. `hold` keeps its flow while the answer is handled.
  std::shared_ptr<AsyncResponder> responder(flow::FlowHold& hold) const;

 private:
  friend class AsyncRequests;
  AsyncRequest() = default;
  AsyncRequests* owner_ = nullptr;
  AsyncKind kind_ = AsyncKind::kHttp;
  std::string application_, pairing_;
  std::string identifier_, request_node_;
  AsyncContext context_;
  uint32_t call_depth_ = 0;
  flow::TraceHeaders trace_;
  flow::FlowHold request_flow_, response_flow_;
  std::shared_ptr<AsyncResponder> first_responder_;
};

class AsyncRequests final : public flow::EndpointRegistry {
 public:
  static constexpr size_t kOutstandingMax = 100'000;

  // For start() and stop() of response nodes. Two of one application version with the same
  // identifier are an error; `node_label` is for its text.
  Status add(AsyncKind kind, const Application& application, const std::string& pairing,
             const std::string& node_label, std::shared_ptr<AsyncResponder> responder);
  void remove(const AsyncResponder* responder);
  void begin_change() override;
  void end_change() override;

  // An error when no response node with this identifier runs, or too many answers are awaited. The
  // context of the message is saved, and the identifier written to Environment.<family>.
  Result<std::shared_ptr<AsyncRequest>> begin(AsyncKind kind, const Application& application,
                                              const std::string& pairing, const flow::Node& node,
                                              flow::Invocation& invocation,
                                              const tree::MessageAssembly& in);
  size_t outstanding() const { return outstanding_.load(std::memory_order_relaxed); }

 private:
  friend class AsyncRequest;
  struct Entry {
    const Application* version;  // compared only: it may be gone
    std::string application, node_label;
    std::shared_ptr<AsyncResponder> responder;
  };
  using Key = std::pair<AsyncKind, std::string>;
  const Entry* find(AsyncKind kind, const std::string& application,
                    const std::string& pairing) const;

  mutable std::mutex mutex_;  // leaf lock: entries
  EndpointVersions<Key, Entry> entries_;
  std::atomic<size_t> outstanding_{0};
  std::atomic<uint64_t> next_number_{0};
};

}  // namespace millstream::nodes::common
