// IBM MQ's REST API on the admin port, below /ibmmq/rest/v1, v2 and v3, so that clients made for it
// work unchanged:
//   POST, GET, DELETE .../messaging/qmgr/{qmgr}/queue/{queue}/message    put, browse, get
//   GET               .../messaging/qmgr/{qmgr}/queue/{queue}/messagelist
//   POST              .../messaging/qmgr/{qmgr}/topic/{topic}/message    publish
//   POST              .../admin/action/qmgr/{qmgr}/mqsc                  MQSC as text or JSON
//   GET               .../admin/qmgr[/{qmgr}], .../admin/installation[/{name}]
//   POST, GET, DELETE .../login
// Each request is a connection of its own. Rights are those of the queue manager at open; MQSC
// needs the right to administer it. A get that waits holds no thread, and takes nothing once its
// client has gone.
// Lifetime: outlives the admin server; `access` outlives it. Thread: any.
#pragma once
#include <atomic>
#include <functional>

#include "admin/admin_server.h"
#include "admin/mq/mq_access.h"
#include "admin/mq/rest_message.h"
#include "admin/mq/rest_session.h"

namespace millstream::admin {

class MqRest {
 public:
  // Waits beyond it end as if they had been that long.
  static constexpr int64_t kWaitMsMax = 9 * 60'000;
  // At a time: the admin port keeps room for administration.
  static constexpr int kRequestsMax = 384;
  static constexpr int64_t kListDefault = 10;
  static constexpr int64_t kListMax = 5'000;  // more are not listed at once
  static constexpr size_t kCommandBytesMax = 1u << 20;
  static constexpr uint32_t kCommandDepthMax = 16;
  static constexpr size_t kCommandValuesMax = 10'000;

  explicit MqRest(const MqAccess& access);
  void add_routes(AdminServer& server);

 private:
  struct Visit;
  using Handler = AdminReply (MqRest::*)(const AdminRequest&, RestVersion, Visit&);

  void add_route(AdminServer& server, std::string_view method, std::string_view path,
                 Handler handler);
  // Who it is, which queue manager, and room for it; then the handler.
  AdminReply run(const AdminRequest& request, RestVersion version, Handler handler);
  AdminReply put_message(const AdminRequest& request, RestVersion version, Visit& visit);
  AdminReply publish(const AdminRequest& request, RestVersion version, Visit& visit);
  AdminReply browse_message(const AdminRequest& request, RestVersion version, Visit& visit);
  AdminReply get_message(const AdminRequest& request, RestVersion version, Visit& visit);
  AdminReply list_messages(const AdminRequest& request, RestVersion version, Visit& visit);
  AdminReply run_mqsc(const AdminRequest& request, RestVersion version, Visit& visit);
  AdminReply show_managers(const AdminRequest& request, RestVersion version, Visit& visit);
  AdminReply show_installation(const AdminRequest& request, RestVersion version, Visit& visit);

  AdminReply put(const AdminRequest& request, RestVersion version, Visit& visit, bool is_topic);
  AdminReply take(const AdminRequest& request, RestVersion version, Visit& visit, bool is_browse);

  const MqAccess& access_;
  RestSessions sessions_;
  std::atomic<int> running_{0};
};

}  // namespace millstream::admin
