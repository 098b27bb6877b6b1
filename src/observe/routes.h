// What the admin port answers about a running server: /metrics, statistics, user trace, activity
// log, and traces of single messages. See docs/guide/observability.md for the requests.
// Thread: add_routes by the owner, before the port opens.
#pragma once
#include "admin/admin_server.h"
#include "observe/hub.h"

namespace millstream::observe {

// The hub must outlive the admin server.
void add_routes(Hub& hub, admin::AdminServer& admin);

}  // namespace millstream::observe
