// The administration of App Connect Enterprise over the admin port: /apiv2, its applications,
// message flows, libraries and policies, deploy, start and stop. Names, paths and the envelope of
// every resource are the product's (spec D1), so that scripts made for it go on working.
// Thread: routes are added by the owner; handlers on any thread but a reactor's.
#pragma once
#include "admin/admin_server.h"

namespace millstream::server {

class Server;
struct ChangeReport;

// `server` outlives `admin`.
void add_resource_routes(admin::AdminServer& admin, Server& server);
void add_deploy_routes(admin::AdminServer& admin, Server& server);
// The product's response log, and with member "change" what it does not say.
base::json::Value change_json(const ChangeReport& report, const std::string& uri);

// The archive in the body of a deploy request, as it is or as the first part of a form.
struct DeployedArchive {
  std::string name;  // "Orders.bar"; never with a folder
  std::string_view bytes;
};
Result<DeployedArchive> archive_of(const admin::AdminRequest& request);

}  // namespace millstream::server
