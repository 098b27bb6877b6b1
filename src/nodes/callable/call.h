// One call of a callable flow: what the caller sends, and the place where the reply arrives.
//
// The caller waits in its fiber and may give up; the callee copies the request when it has an
// instance, and the reply is copied or encoded when it is made, so that neither side ever refers to
// the arena of the other one that has gone on. Direct copying between arenas happens only on the
// caller's own reactor, where nothing can run in between. Thread: any; see the functions.
#pragma once
#include <mutex>
#include <string>

#include "base/result.h"
#include "flow/trace_context.h"
#include "net/reactor.h"
#include "net/waiting.h"
#include "tree/assembly.h"

namespace millstream::nodes::callable {

// What is sent there and back.
struct CallMessage {
  tree::Element* root = nullptr;
  tree::Element* local_environment = nullptr;
};

class Call {
 public:
  static constexpr uint32_t kDepthMax = 64;
  static constexpr size_t kIdentifierBytes = 24;

  // With trees: they live until give_up() or the end of wait().
  Call(std::string application, std::string endpoint, uint32_t depth);
  void send_trees(tree::TreeContext& context, const tree::MessageAssembly& message);
  void send_bytes(std::string encoded) { encoded_ = std::move(encoded); }

  const std::string& application() const { return application_; }
  const std::string& endpoint() const { return endpoint_; }
  uint32_t depth() const { return depth_; }
  const std::string& identifier() const { return identifier_; }
  // Before the call is started.
  void set_trace(flow::TraceHeaders trace) { trace_ = std::move(trace); }
  const flow::TraceHeaders& trace() const { return trace_; }

  // For the callee, on the caller's reactor when there are trees: the request in an arena of its
  // own. False: the caller has given up.
  Result<bool> take_request(tree::TreeContext& context, tree::MessageAssembly& out);

  // For the callee, from any thread. False when there was a reply already; for a caller that has
  // given up it is dropped.
  Result<bool> reply(tree::TreeContext& context, const tree::MessageAssembly& message);
  bool fail(Status status);

  // For the caller.
  net::WakeReason wait(int64_t deadline_ns) { return is_done_.wait(deadline_ns); }
  // After wait() returned kWoken: the reply in the caller's context, or the callee's exception.
  Result<CallMessage> take_reply(tree::TreeContext& context);
  // The same as bytes, for a caller without trees.
  Result<std::string> take_reply_bytes();
  void give_up();

 private:
  enum class State : uint8_t { kWaiting, kReplied, kFailed, kGivenUp };
  const std::string application_, endpoint_;
  const uint32_t depth_;
  std::string identifier_;
  flow::TraceHeaders trace_;
  std::mutex mutex_;  // leaf lock; guards what is below
  State state_ = State::kWaiting;
  net::Reactor* home_ = nullptr;  // where the trees may be used
  tree::TreeContext* context_ = nullptr;
  tree::MessageAssembly request_;
  std::string encoded_, reply_encoded_;
  CallMessage reply_;
  Status error_;
  net::FiberEvent is_done_;
};

// Parses all of the message's root, so that parse errors are the caller's.
Status complete_message(tree::TreeContext& context, tree::Element* root);
// Deep copies into another context.
Result<CallMessage> copy_message(tree::TreeContext& from, tree::Element* root,
                                 tree::Element* local_environment, tree::TreeContext& to);
// The exception and its causes, as if raised anew: what it was on its way through another flow no
// longer counts.
Status arrived_error(const base::Error& error);

}  // namespace millstream::nodes::callable
