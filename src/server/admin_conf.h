// What server.conf.yaml says about the admin port:
//   RestAdminListener                   address, key and certificate, client certificates, login
//   Security/Permissions/ROLE           what members of the group ROLE may do:
//   read+:write-:execute- Millstream/Administration           AllowAnonymous, AllowPlainHttp: that
//   something else protects
//                                       a port which other machines reach
// sslPassword is the password of the key, the name of a credential, or the PEM file of the key.
// Thread: one, at start.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "admin/admin_gate.h"
#include "base/diagnostics.h"
#include "net/tls_context.h"
#include "nodes/common/credentials.h"

namespace millstream::format {
struct YamlNode;
}

namespace millstream::server {

struct AdminConf {
  std::optional<int> port;     // -1: none
  std::string host;            // empty: loopback
  net::TlsServerSettings tls;  // no key store: plain HTTP
  bool has_basic_auth = false;
  bool has_authorization = false;
  bool needs_login = false;  // one of them, after finish_admin_conf()
  bool needs_tls = false;
  bool allows_anonymous = false;
  bool allows_plain_http = false;
  bool has_roles = false;
  std::map<std::string, admin::AdminRole, std::less<>> roles;
};

// Reads one file; keys that are not there leave what an earlier file has said.
void apply_admin_conf(const std::string& file, const format::YamlNode& root, AdminConf& conf,
                      base::Diagnostics& diagnostics);
// After all files: passwords by name, file names below `work_folder`.
void finish_admin_conf(const std::string& work_folder, const nodes::common::Credentials& known,
                       AdminConf& conf);
// Whether the port may listen on `host`: beyond this machine nobody comes in anonymously, and no
// password goes in the clear, unless a key says so.
Status check_admin_conf(const AdminConf& conf, const std::string& host);

}  // namespace millstream::server
