#include "server/callable_conf.h"

#include <cstdlib>

#include "format/yaml.h"
#include "http/url.h"
#include "server/errors_gen.h"

namespace millstream::server {
namespace {

using nodes::callable::RemoteCallService;
using nodes::callable::RemoteCallSettings;

void refuse_callable(const std::string& file, const format::YamlNode& node, const std::string& key,
                     const std::string& shown, const char* wanted, base::Diagnostics& diagnostics) {
  Status status =
      base::make_error(errors::kBadSetting, {"Millstream/CallableFlows" + key, shown, wanted});
  diagnostics.error(status.error(), {file, node.line, node.column});
}

// A secret that is "${NAME}" stands in the environment, so that the file may be read by others.
std::string resolve_secret(const std::string& text) {
  if (text.size() < 4 || text.substr(0, 2) != "${" || text.back() != '}') return text;
  const char* value = std::getenv(text.substr(2, text.size() - 3).c_str());
  return value ? value : "";
}

void apply_flag(const std::string& file, const format::YamlNode& own, const char* key, bool& out,
                base::Diagnostics& diagnostics) {
  const format::YamlNode* node = own.find(key);
  if (!node || node->is_null()) return;
  const std::optional<bool> value = node->as_bool();
  if (value) {
    out = *value;
  } else {
    refuse_callable(file, *node, std::string("/") + key, node->text, "true or false", diagnostics);
  }
}

void apply_remote(const std::string& file, const format::YamlNode& remote,
                  RemoteCallSettings& settings, base::Diagnostics& diagnostics) {
  if (!remote.is_mapping()) {
    refuse_callable(file, remote, "/Remote", remote.text, "endpoints with URLs", diagnostics);
    return;
  }
  for (const format::YamlEntry& e : remote.entries) {
    const size_t slash = e.key.find('/');
    Result<http::Url> url = http::parse_url(e.value.text);
    const bool is_endpoint = slash != std::string::npos && slash > 0 && slash + 1 < e.key.size();
    if (!is_endpoint || !url.ok() || url.value().target != "/") {
      refuse_callable(file, e.value, "/Remote/" + e.key, e.value.text,
                      "Application/endpoint with a URL such as http://host:7800", diagnostics);
      continue;
    }
    std::string server = e.value.text;
    while (server.back() == '/') server.pop_back();
    settings.servers[e.key] = std::move(server);
  }
}

}  // namespace

void apply_callable_conf(const std::string& file, const format::YamlNode& root,
                         RemoteCallSettings& settings, base::Diagnostics& diagnostics) {
  const format::YamlNode* own = root.find_path({"Millstream", "CallableFlows"});
  if (!own || own->is_null()) return;
  if (!own->is_mapping()) {
    refuse_callable(file, *own, "", own->text, "a mapping with the keys Secret and Remote",
                    diagnostics);
    return;
  }
  for (const format::YamlEntry& e : own->entries) {
    if (e.key == "Secret" || e.key == "Remote" || e.key == "KeyAlias") continue;
    if (e.key == "UseHTTPS" || e.key == "HostnameChecking") continue;
    Status status =
        base::make_error(errors::kUnknownSetting, {"Millstream/CallableFlows/" + e.key});
    diagnostics.warning({file, e.line, own->column}, status.error().code->id, status.error().text);
  }
  if (const format::YamlNode* secret = own->find("Secret"); secret && !secret->is_null()) {
    settings.secret = resolve_secret(secret->text);
    if (settings.secret.size() < RemoteCallService::kSecretBytesMin) {
      // Not shown: it is a secret, if a bad one.
      refuse_callable(file, *secret, "/Secret", "...", "a text of at least 16 characters",
                      diagnostics);
    }
  }
  apply_flag(file, *own, "UseHTTPS", settings.comes_by_https, diagnostics);
  apply_flag(file, *own, "HostnameChecking", settings.checks_host_name, diagnostics);
  const format::YamlNode* alias = own->find("KeyAlias");
  if (alias && alias->is_scalar()) settings.key_alias = alias->text;
  if (const format::YamlNode* remote = own->find("Remote"); remote && !remote->is_null()) {
    apply_remote(file, *remote, settings, diagnostics);
    if (!settings.servers.empty() && settings.secret.empty()) {
      refuse_callable(file, *remote, "/Secret", "", "set where Remote is, as in the other server",
                      diagnostics);
    }
  }
}

}  // namespace millstream::server
