// The callable flows of a server: which CallableInput node answers which endpoint of which
// application, and the calls that wait for a reply. One table a process, reached through
// flow::Services. Two versions of an application may be there at once while one replaces the other:
// the one that was started last is called, from the end of the change on.
// Thread: any.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "flow/endpoint_registry.h"
#include "flow/flow_hold.h"
#include "nodes/callable/call.h"
#include "nodes/common/application.h"
#include "nodes/common/endpoint_versions.h"

namespace millstream::nodes::callable {

// A CallableInput node.
class CallableTarget {
 public:
  virtual ~CallableTarget() = default;
  // Starts the flow in a fiber of the calling reactor and returns at once. The call ends by
  // Call::reply() or Call::fail().
  virtual void start_call(std::shared_ptr<Call> call, flow::FlowHold hold) = 0;
  virtual flow::Flow& flow() const = 0;  // alive as long as it is registered or held
  virtual std::string node_label() const = 0;
};

// Calls flows of other servers; see remote_calls.h.
class RemoteCalls {
 public:
  virtual ~RemoteCalls() = default;
  // Where the endpoint is, or empty.
  virtual std::string find_server(const std::string& application,
                                  const std::string& endpoint) const = 0;
  // In a fiber: sends the request and waits for the reply, both encoded. An exception of the flow
  // there is errors::kCallFailed with it nested.
  virtual Result<std::string> call(const std::string& server, const Call& call,
                                   std::string_view request, int64_t deadline_ns) = 0;
};

class CallableFlows final : public flow::EndpointRegistry {
 public:
  // For start() and stop() of CallableInput nodes. Two nodes of one application version with the
  // same endpoint are an error.
  Status add(const common::Application& application, const std::string& endpoint,
             std::shared_ptr<CallableTarget> target);
  void remove(const CallableTarget* target);
  void begin_change() override;
  void end_change() override;
  // The newest; null when there is none. `hold` keeps its flow.
  std::shared_ptr<CallableTarget> find(const std::string& application, const std::string& endpoint,
                                       flow::FlowHold& hold) const;
  std::string endpoints() const;  // "App/endpoint, App/other", for error texts

  // Calls that wait, for CallableReply nodes of any flow.
  void add_call(const std::shared_ptr<Call>& call);
  void remove_call(const Call& call);
  std::shared_ptr<Call> find_call(std::string_view identifier) const;
  size_t waiting_calls() const;

  // Before deployment; may stay null. Must outlive the flows.
  void set_remote(RemoteCalls* remote) { remote_ = remote; }
  RemoteCalls* remote() const { return remote_; }

 private:
  struct Entry {
    const common::Application* version;  // compared only: it may be gone
    std::shared_ptr<CallableTarget> target;
  };
  using Key = std::pair<std::string, std::string>;

  mutable std::mutex mutex_;  // leaf lock: endpoints
  common::EndpointVersions<Key, Entry> endpoints_;
  mutable std::mutex calls_mutex_;  // leaf lock: calls
  std::unordered_map<std::string, std::weak_ptr<Call>> calls_;
  RemoteCalls* remote_ = nullptr;
};

}  // namespace millstream::nodes::callable
