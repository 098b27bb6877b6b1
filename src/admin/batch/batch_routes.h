// POST /millstream/v1/qmgr/{queueManager}/batch: one frame in, one frame out (batch_frames.h).
// Refusals that are not the MQI's (login, unknown queue manager, no frame) are HTTP errors in JSON.
// Thread: before the admin server listens.
#pragma once
#include <memory>

#include "admin/admin_server.h"
#include "admin/batch/batch_service.h"

namespace millstream::admin::batch {

// `access` outlives the admin server. Stop the service before the admin server, so that nobody
// waits for it.
std::shared_ptr<BatchService> add_batch_routes(AdminServer& admin, const MqAccess& access);

}  // namespace millstream::admin::batch
