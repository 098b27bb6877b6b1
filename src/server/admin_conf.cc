#include "server/admin_conf.h"

#include <algorithm>

#include "admin/admin_server.h"
#include "format/yaml.h"
#include "io/file.h"
#include "server/errors_gen.h"

namespace millstream::server {
namespace {

using format::YamlNode;

class AdminSection {
 public:
  AdminSection(const std::string& file, const YamlNode* node, std::string path,
               base::Diagnostics& diagnostics)
      : file_(file), node_(node), path_(std::move(path)), diagnostics_(diagnostics) {}

  const YamlNode* find(const char* key) const {
    const YamlNode* found = node_ ? node_->find(key) : nullptr;
    return found && !found->is_null() ? found : nullptr;
  }
  void refuse(const std::string& key, const YamlNode& value, const char* wanted) const {
    Status status = base::make_error(errors::kBadSetting, {path_ + "/" + key, value.text, wanted});
    diagnostics_.error(status.error(), {file_, value.line, value.column});
  }
  void refuse_unsupported(const char* key, const char* why) const {
    const YamlNode* value = find(key);
    if (!value || (value->is_scalar() && (value->text.empty() || value->text == "false"))) return;
    Status status = base::make_error(errors::kAdminUnsupported, {key, why});
    diagnostics_.error(status.error(), {file_, value->line, value->column});
  }
  void text(const char* key, std::string& out) const {
    const YamlNode* value = find(key);
    if (value && value->is_scalar()) out = value->text;
    if (value && !value->is_scalar()) refuse(key, *value, "a text");
  }
  void flag(const char* key, bool& out) const {
    const YamlNode* value = find(key);
    if (!value) return;
    const std::optional<bool> is_on = value->as_bool();
    if (is_on) out = *is_on;
    if (!is_on) refuse(key, *value, "true or false");
  }

 private:
  const std::string& file_;
  const YamlNode* node_;
  const std::string path_;
  base::Diagnostics& diagnostics_;
};

// "read+:write-:execute+", "all+". False: it is none.
bool read_permissions(std::string_view text, admin::AdminRole& role) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(':'), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty() || (word.back() != '+' && word.back() != '-')) return false;
    const bool is_granted = word.back() == '+';
    const std::string_view name = word.substr(0, word.size() - 1);
    const bool is_all = name == "all";
    if (!is_all && name != "read" && name != "write" && name != "execute") return false;
    if (is_all || name == "read") role.reads = is_granted;
    if (is_all || name == "write") role.writes = is_granted;
    if (is_all || name == "execute") role.executes = is_granted;
  }
  return true;
}

void apply_roles(const AdminSection& section, const YamlNode& permissions, AdminConf& conf) {
  for (const format::YamlEntry& e : permissions.entries) {
    admin::AdminRole role;
    if (!e.value.is_scalar() || !read_permissions(e.value.text, role)) {
      section.refuse(e.key, e.value,
                     "read, write, execute or all, each with + or -, and : between");
      continue;
    }
    conf.has_roles = true;
    conf.roles[e.key] = role;
  }
}

void apply_listener(const AdminSection& section, AdminConf& conf) {
  if (const YamlNode* port = section.find("port")) {
    const std::optional<int64_t> number = port->as_integer();
    if (number && *number >= -1 && *number <= 65535) {
      conf.port = static_cast<int>(*number);
    } else {
      section.refuse("port", *port, "a number from 0 to 65535, or -1 for none");
    }
  }
  section.text("host", conf.host);
  section.text("sslCertificate", conf.tls.keystore.path);
  section.text("sslPassword", conf.tls.keystore.password);
  section.text("caPath", conf.tls.truststore.path);
  bool needs_certificate = conf.tls.client_auth == net::TlsClientAuth::kRequired;
  section.flag("requireClientCert", needs_certificate);
  conf.tls.client_auth =
      needs_certificate ? net::TlsClientAuth::kRequired : net::TlsClientAuth::kNone;
  section.flag("requireHttps", conf.needs_tls);
  section.flag("basicAuth", conf.has_basic_auth);
  section.flag("authorizationEnabled", conf.has_authorization);
  if (const YamlNode* mode = section.find("authorizationMode"); mode && mode->text != "file") {
    section.refuse_unsupported("authorizationMode",
                               "only the mode file, with Security/Permissions, is there");
  }
  for (const char* key : {"ldapAuthenticationUri", "ldapAuthorizeUri"}) {
    section.refuse_unsupported(key, "users are not looked up by LDAP");
  }
  section.refuse_unsupported("tlsTrustStore", "caPath has the authorities of client certificates");
}

}  // namespace

void apply_admin_conf(const std::string& file, const YamlNode& root, AdminConf& conf,
                      base::Diagnostics& diagnostics) {
  apply_listener({file, root.find("RestAdminListener"), "RestAdminListener", diagnostics}, conf);
  const AdminSection roles{file, root.find("Security"), "Security/Permissions", diagnostics};
  if (const YamlNode* permissions = roles.find("Permissions")) {
    if (!permissions->is_mapping()) roles.refuse("", *permissions, "a mapping of roles");
    apply_roles(roles, *permissions, conf);
  }
  const AdminSection own{file, root.find_path({"Millstream", "Administration"}),
                         "Millstream/Administration", diagnostics};
  own.flag("AllowAnonymous", conf.allows_anonymous);
  own.flag("AllowPlainHttp", conf.allows_plain_http);
}

void finish_admin_conf(const std::string& work_folder, const nodes::common::Credentials& known,
                       AdminConf& conf) {
  conf.needs_login = conf.has_basic_auth || conf.has_authorization;
  auto resolve = [&](const std::string& path) {
    if (path.empty() || path.front() == '/' || work_folder.empty()) return path;
    return io::join_path(work_folder, path);
  };
  net::TlsFile& keys = conf.tls.keystore;
  keys.path = resolve(keys.path);
  conf.tls.truststore.path = resolve(conf.tls.truststore.path);
  if (const auto* credential = known.find_identity("keystore", keys.password)) {
    keys.password = credential->password;
  } else if (!keys.password.empty() &&
             io::path_kind(resolve(keys.password)) == io::PathKind::kFile) {
    keys.key_path = resolve(keys.password);
    keys.password.clear();
  }
}

Status check_admin_conf(const AdminConf& conf, const std::string& host) {
  const bool has_tls = !conf.tls.keystore.path.empty();
  const bool has_client_auth = has_tls && conf.tls.client_auth == net::TlsClientAuth::kRequired;
  if (!has_tls && conf.needs_tls) {
    return base::make_error(errors::kAdminUnsupported,
                            {"requireHttps", "there is no sslCertificate"});
  }
  if (!has_tls && conf.tls.client_auth != net::TlsClientAuth::kNone) {
    return base::make_error(errors::kAdminUnsupported,
                            {"requireClientCert", "there is no sslCertificate"});
  }
  if (has_client_auth && conf.tls.truststore.path.empty()) {
    return base::make_error(errors::kAdminUnsupported,
                            {"requireClientCert", "there is no caPath with their authorities"});
  }
  if (admin::is_loopback_host(host)) return {};
  if (!conf.needs_login && !has_client_auth && !conf.allows_anonymous) {
    return base::make_error(errors::kAdminUnprotected,
                            {host, "it asks nobody for a login or a client certificate"});
  }
  if (conf.needs_login && !has_tls && !conf.allows_plain_http) {
    return base::make_error(errors::kAdminUnprotected,
                            {host, "without TLS passwords would go in the clear"});
  }
  return {};
}

}  // namespace millstream::server
