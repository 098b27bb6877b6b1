// What the routes of src/observe share. Thread: that of a handler.
#pragma once
#include <functional>
#include <string>

#include "admin/admin_server.h"
#include "observe/hub.h"

namespace millstream::observe {

// Handlers take the hub's lock, and some write files: none of them runs on a reactor.
inline void add_route(admin::AdminServer& admin, std::string_view method, std::string_view path,
                      admin::AdminHandler handler) {
  admin.add(method, path, std::move(handler), admin::HandlerPlace::kBlockingPool);
}

// "Application/Flow" of the path.
std::string flow_name_of(const admin::AdminRequest& request);
// 404 when there is no such flow.
admin::AdminReply answer_for_flow(Hub& hub, const admin::AdminRequest& request,
                                  const std::function<admin::AdminReply(flow::Flow&)>& answer);
// Changes what is switched on for the flow of the path, and tells how it is now.
admin::AdminReply change_flow(Hub& hub, const admin::AdminRequest& request,
                              const std::function<void(FlowControl&)>& change);
base::json::Value control_json(Hub& hub, const FlowKey& key);
// User trace, activity log, traces of single messages, spans by flow.
void add_trace_routes(Hub& hub, admin::AdminServer& admin);

}  // namespace millstream::observe
