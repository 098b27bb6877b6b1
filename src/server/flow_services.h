// What flows of a server have in common beside its HTTP listener: callable flows here and
// elsewhere, asynchronous requests, alarms and timers.
// Order: configure() before anything is built, attach() when the reactors run, detach() when the
// flows have stopped and before the reactors do. Outlives the flows.
// Thread: one; the services themselves any.
#pragma once
#include <memory>

#include "flow/services.h"
#include "net/reactor_pool.h"
#include "nodes/callable/callable_flows.h"
#include "nodes/callable/remote_calls.h"
#include "nodes/common/alarms.h"
#include "nodes/common/async_requests.h"
#include "nodes/http/listener.h"
#include "nodes/timer/timer_service.h"

namespace millstream::server {

class FlowServices {
 public:
  // Makes the services known; for a process that builds flows and runs none (check) that is all.
  void add_to(flow::Services& services);
  // `work_folder` empty: timers are kept in memory. Calls of other servers come in by `listener`,
  // at RemoteCallService::kPath, when there is a secret.
  Status configure(const std::string& work_folder,
                   const nodes::callable::RemoteCallSettings& remote,
                   nodes::http::HttpListener& listener, const flow::Services& services);
  void attach(net::ReactorPool& reactors) { alarms_.attach(reactors); }
  void detach() { alarms_.detach(); }

 private:
  nodes::callable::CallableFlows callable_flows_;
  nodes::common::AsyncRequests async_requests_;
  nodes::common::Alarms alarms_;
  nodes::timer::TimerService timers_{alarms_};
  std::unique_ptr<nodes::callable::RemoteCallService> remote_calls_;
};

}  // namespace millstream::server
