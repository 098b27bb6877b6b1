#include "server/server_conf.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "format/yaml.h"
#include "io/file.h"
#include "server/callable_conf.h"
#include "server/cors_conf.h"
#include "server/errors_gen.h"

namespace millstream::server {
namespace {

using format::YamlNode;

void refuse_setting(base::Diagnostics& diagnostics, const std::string& file, const YamlNode& node,
                    const std::string& key, const char* wanted) {
  Status status = base::make_error(errors::kBadSetting, {key, node.text, wanted});
  diagnostics.error(status.error(), {file, node.line, node.column});
}

// "${NAME}" of the environment, when the file asks for it.
std::string resolve_variables(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t start = text.find("${", at);
    size_t end = start == std::string::npos ? start : text.find('}', start);
    if (end == std::string::npos) return out + text.substr(at);
    out += text.substr(at, start - at);
    const char* value = std::getenv(text.substr(start + 2, end - start - 2).c_str());
    if (value) out += value;
    at = end + 1;
  }
  return out;
}

// The part of the file that is Millstream's own: what is not known there is a mistake.
void apply_own(const std::string& file, const YamlNode& own, ServerConf& conf,
               base::Diagnostics& diagnostics) {
  if (own.is_null()) return;
  if (!own.is_mapping()) {
    refuse_setting(diagnostics, file, own, "Millstream",
                   "a mapping with the keys Drives and Tracing");
    return;
  }
  for (const format::YamlEntry& e : own.entries) {
    if (e.key == "Drives" || e.key == "Tracing") continue;
    if (e.key == "Administration") continue;                         // admin_conf.h
    if (e.key == "CallableFlows") continue;                          // callable_conf.h
    if (e.key == "Messaging") continue;                              // wire_conf.h
    if (e.key == "DataSources" || e.key == "OdbcDrivers") continue;  // database_conf.h
    Status status = base::make_error(errors::kUnknownSetting, {"Millstream/" + e.key});
    diagnostics.warning({file, e.line, own.column}, status.error().code->id, status.error().text);
  }
  const YamlNode* drives = own.find("Drives");
  if (!drives || drives->is_null()) return;
  if (!drives->is_mapping()) {
    refuse_setting(diagnostics, file, *drives, "Millstream/Drives", "drive letters with folders");
  }
  for (const format::YamlEntry& e : drives->entries) {
    if (e.key.size() == 1 && std::isalpha(static_cast<unsigned char>(e.key[0]))) {
      conf.drives[static_cast<char>(e.key[0] | 0x20)] = e.value.text;
    } else {
      refuse_setting(diagnostics, file, e.value, "Millstream/Drives",
                     "a drive letter and a folder");
    }
  }
}

void apply_file(const std::string& file, const YamlNode& root, ServerConf& conf,
                base::Diagnostics& diagnostics) {
  if (const YamlNode* name = root.find("serverName")) conf.server_name = name->text;
  const YamlNode* manager = root.find("defaultQueueManager");
  if (manager && manager->is_scalar()) conf.default_queue_manager = manager->text;
  if (const YamlNode* connector = root.find_path({"ResourceManagers", "HTTPConnector"})) {
    apply_http_connector(file, *connector, "ResourceManagers/HTTPConnector", conf, diagnostics);
  }
  if (const YamlNode* resolves = root.find("resolveUserVariableEnvVars")) {
    const std::optional<bool> is_on = resolves->as_bool();
    if (is_on) conf.resolves_environment = *is_on;
    if (!is_on && !resolves->is_null()) {
      refuse_setting(diagnostics, file, *resolves, "resolveUserVariableEnvVars", "true or false");
    }
  }
  if (const YamlNode* variables = root.find("UserVariables")) {
    for (const format::YamlEntry& e : variables->entries) {
      conf.user_variables[e.key] =
          conf.resolves_environment ? resolve_variables(e.value.text) : e.value.text;
    }
  }
  apply_admin_conf(file, root, conf.admin, diagnostics);
  apply_https_conf(file, root, conf.https, diagnostics);
  apply_wire_conf(file, root, conf.wire, diagnostics);
  observe::apply_conf(file, root, conf.observe, diagnostics);
  apply_cors(file, root, "HTTPConnector", conf.cors, diagnostics);
  apply_cors(file, root, "HTTPSConnector", conf.secure_cors, diagnostics);
  apply_callable_conf(file, root, conf.remote_calls, diagnostics);
  apply_policy_conf(file, root, conf.policies, diagnostics);
  if (const YamlNode* own = root.find("Millstream")) apply_own(file, *own, conf, diagnostics);
}

void read_conf_file(const std::string& file, ServerConf& conf, base::Diagnostics& diagnostics) {
  if (io::path_kind(file) != io::PathKind::kFile) return;
  Result<std::string> text = io::read_file(file);
  if (!text.ok()) {
    diagnostics.error(text.error(), {file, 0, 0});
    return;
  }
  Result<YamlNode> root = format::parse_yaml(text.value(), file);
  if (!root.ok()) {
    diagnostics.error(root.error(), {file, 0, 0});
    return;
  }
  apply_file(file, root.value(), conf, diagnostics);
}

bool has_override_extension(std::string_view path) {
  for (std::string_view tail : {".txt", ".properties", ".overrides"}) {
    if (path.size() > tail.size() && path.substr(path.size() - tail.size()) == tail) return true;
  }
  return false;
}

}  // namespace

void apply_http_connector(const std::string& file, const YamlNode& section, const std::string& path,
                          ServerConf& conf, base::Diagnostics& diagnostics) {
  if (const YamlNode* port = section.find("ListenerPort")) {
    std::optional<int64_t> number = port->as_integer();
    if (number && *number >= 0 && *number <= 65535) {
      conf.http_port = static_cast<int>(*number);
    } else if (!port->is_null()) {
      refuse_setting(diagnostics, file, *port, path + "/ListenerPort", "a number from 0 to 65535");
    }
  }
  if (const YamlNode* address = section.find("ListenerAddress")) {
    if (!address->is_null()) conf.http_address = address->text;
  }
}

ServerConf read_work_folder(const std::string& folder, ace::Overrides& overrides,
                            base::Diagnostics& diagnostics) {
  ServerConf conf;
  if (folder.empty()) return conf;
  read_conf_file(io::join_path(folder, "server.conf.yaml"), conf, diagnostics);
  const std::string overriding = io::join_path(folder, "overrides");
  read_conf_file(io::join_path(overriding, "server.conf.yaml"), conf, diagnostics);
  finish_wire_conf(folder, conf.https, conf.wire);
  finish_https_conf(folder, conf.https);
  finish_admin_conf(folder, conf.https.credentials, conf.admin);
  if (io::path_kind(overriding) != io::PathKind::kFolder) return conf;
  Result<std::vector<std::string>> files = io::list_files(overriding);
  if (!files.ok()) {
    diagnostics.error(files.error(), {overriding, 0, 0});
    return conf;
  }
  for (const std::string& path : files.value()) {
    if (!has_override_extension(path)) continue;
    const std::string file = io::join_path(overriding, path);
    Result<std::string> text = io::read_file(file);
    if (text.ok()) {
      overrides.add_lines(text.value(), file, diagnostics);
    } else {
      diagnostics.error(text.error(), {file, 0, 0});
    }
  }
  return conf;
}

}  // namespace millstream::server
