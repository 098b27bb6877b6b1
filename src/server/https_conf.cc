#include "server/https_conf.h"

#include <utility>

#include "format/yaml.h"
#include "io/file.h"
#include "server/errors_gen.h"

namespace millstream::server {
namespace {

using format::YamlNode;

// One section of the file, and the messages about it.
struct Section {
  const std::string& file;
  const YamlNode* node;
  std::string path;
  base::Diagnostics& diagnostics;

  const YamlNode* find(const char* key) const {
    const YamlNode* found = node ? node->find(key) : nullptr;
    return found && !found->is_null() ? found : nullptr;
  }
  void refuse(const char* key, const YamlNode& value, const char* wanted) const {
    Status status = base::make_error(errors::kBadSetting, {path + "/" + key, value.text, wanted});
    diagnostics.error(status.error(), {file, value.line, value.column});
  }
  void text(const char* key, std::string& out) const {
    const YamlNode* value = find(key);
    if (value && value->is_scalar()) out = value->text;
    if (value && !value->is_scalar()) refuse(key, *value, "a text");
  }
  void words(const char* key, std::string& out) const {  // a text, or a list of them
    const YamlNode* value = find(key);
    if (!value) return;
    if (value->is_scalar()) {
      out = value->text;
      return;
    }
    out.clear();
    for (const YamlNode& item : value->items) out += (out.empty() ? "" : ",") + item.text;
  }
};

std::vector<std::string> split_files(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find_first_of(",;", at), text.size());
    std::string name = text.substr(at, end - at);
    at = end + 1;
    while (!name.empty() && name.front() == ' ') name.erase(0, 1);
    while (!name.empty() && name.back() == ' ') name.pop_back();
    if (!name.empty()) out.push_back(std::move(name));
  }
  return out;
}

// Stores are told apart by what is in them; a type that neither can be is a mistake.
void check_store_type(const Section& section, const char* key) {
  const YamlNode* type = section.find(key);
  if (!type) return;
  for (const char* known : {"PEM", "PKCS12", "P12", "JKS", "pem", "pkcs12", "p12", "jks"}) {
    if (type->text == known) return;
  }
  section.refuse(key, *type, "PEM, PKCS12 or JKS");
}

void apply_client_auth(const Section& section, net::TlsServerSettings& tls) {
  for (const char* key : {"ReqClientAuth", "ClientAuth"}) {
    const YamlNode* value = section.find(key);
    if (!value) continue;
    const std::optional<bool> is_on = value->as_bool();
    if (is_on) {
      tls.client_auth = *is_on ? net::TlsClientAuth::kRequired : net::TlsClientAuth::kNone;
    } else if (value->text == "required") {
      tls.client_auth = net::TlsClientAuth::kRequired;
    } else if (value->text == "optional" || value->text == "want") {
      tls.client_auth = net::TlsClientAuth::kOptional;
    } else if (value->text == "none") {
      tls.client_auth = net::TlsClientAuth::kNone;
    } else {
      section.refuse(key, *value, "true, false, required, optional or none");
    }
  }
}

void apply_connector(const Section& section, HttpsConf& conf) {
  if (const YamlNode* port = section.find("ListenerPort")) {
    const std::optional<int64_t> number = port->as_integer();
    if (number && *number >= 0 && *number <= 65535) {
      conf.port = static_cast<int>(*number);
    } else {
      section.refuse("ListenerPort", *port, "a number from 0 to 65535");
    }
  }
  section.text("ListenerAddress", conf.address);
  section.text("KeystoreFile", conf.tls.keystore.path);
  section.text("KeystorePassword", conf.tls.keystore.password);
  section.text("KeyPassword", conf.tls.keystore.key_password);
  section.text("KeyAlias", conf.tls.choice.key_alias);
  section.text("TruststoreFile", conf.tls.truststore.path);
  section.text("TruststorePassword", conf.tls.truststore.password);
  check_store_type(section, "KeystoreType");
  check_store_type(section, "TruststoreType");
  section.words("CipherSpec", conf.tls.choice.ciphers);
  section.text("SSLProtocol", conf.tls.choice.protocol);
  apply_client_auth(section, conf.tls);
  std::string crls;
  section.words("CRLFile", crls);
  if (!crls.empty()) conf.tls.crl_files = split_files(crls);
  Status status = net::check_tls_choice(conf.tls.choice);
  if (!status.ok()) {
    section.diagnostics.error(status.error(), {section.file, section.node ? section.node->line : 0,
                                               section.node ? section.node->column : 0});
  }
}

void apply_jvm(const Section& section, HttpsConf& conf) {
  section.text("keystoreFile", conf.client.keystore.path);
  section.text("keystorePass", conf.client.keystore.password);
  section.text("truststoreFile", conf.client.truststore.path);
  section.text("truststorePass", conf.client.truststore.password);
  check_store_type(section, "keystoreType");
  check_store_type(section, "truststoreType");
  std::string crls;
  section.words("crlFileList", crls);
  if (!crls.empty()) conf.client.crl_files = split_files(crls);
}

void apply_credentials(const std::string& file, const YamlNode& all, HttpsConf& conf,
                       base::Diagnostics& diagnostics) {
  for (const format::YamlEntry& type : all.entries) {
    for (const format::YamlEntry& name : type.value.entries) {
      const std::string path = "Credentials/ServerCredentials/" + type.key + "/" + name.key;
      const Section section{file, &name.value, path, diagnostics};
      if (!name.value.is_mapping()) {
        section.refuse("username", name.value, "a mapping with username and password");
        continue;
      }
      nodes::common::Credential c;
      section.text("username", c.user);
      section.text("password", c.password);
      section.text("accessToken", c.token);
      section.text("bearerToken", c.token);
      section.text("apiKey", c.api_key);
      conf.credentials.add(type.key, name.key, std::move(c));
    }
  }
}

void resolve_password(const HttpsConf& conf, const char* kind, std::string& password) {
  if (password.empty()) return;
  const nodes::common::Credential* known = conf.credentials.find_identity(kind, password);
  if (known) password = known->password;
}

void resolve_path(const std::string& work_folder, std::string& path) {
  if (path.empty() || path.front() == '/' || work_folder.empty()) return;
  path = io::join_path(work_folder, path);
}

}  // namespace

void apply_https_conf(const std::string& file, const YamlNode& root, HttpsConf& conf,
                      base::Diagnostics& diagnostics) {
  const auto section = [&](const char* name) {
    return Section{file, root.find_path({"ResourceManagers", name}),
                   std::string("ResourceManagers/") + name, diagnostics};
  };
  apply_connector(section("HTTPSConnector"), conf);
  apply_jvm(section("JVM"), conf);
  const YamlNode* credentials = root.find_path({"Credentials", "ServerCredentials"});
  if (credentials && credentials->is_mapping()) {
    apply_credentials(file, *credentials, conf, diagnostics);
  }
  if (const YamlNode* forces = root.find("forceServerHTTPS"); forces && !forces->is_null()) {
    const std::optional<bool> is_on = forces->as_bool();
    if (is_on) {
      conf.forces_https = *is_on;
    } else {
      Section{file, &root, "", diagnostics}.refuse("forceServerHTTPS", *forces, "true or false");
    }
  }
}

void finish_https_conf(const std::string& work_folder, HttpsConf& conf) {
  if (conf.tls.keystore.path.empty()) conf.tls.keystore = conf.client.keystore;
  if (conf.tls.truststore.path.empty()) conf.tls.truststore = conf.client.truststore;
  if (conf.tls.crl_files.empty()) conf.tls.crl_files = conf.client.crl_files;
  resolve_password(conf, "keystorekey", conf.tls.keystore.key_password);
  for (net::TlsFile* store : {&conf.tls.keystore, &conf.client.keystore}) {
    resolve_password(conf, "keystore", store->password);
    resolve_path(work_folder, store->path);
  }
  for (net::TlsFile* store : {&conf.tls.truststore, &conf.client.truststore}) {
    resolve_password(conf, "truststore", store->password);
    resolve_path(work_folder, store->path);
  }
  for (auto* files : {&conf.tls.crl_files, &conf.client.crl_files}) {
    for (std::string& path : *files) resolve_path(work_folder, path);
  }
}

void apply_tls_connector(const std::string& file, const YamlNode& node, const std::string& path,
                         HttpsConf& conf, base::Diagnostics& diagnostics) {
  apply_connector({file, &node, path, diagnostics}, conf);
}

void apply_https_connector(const std::string& file, const YamlNode& node, const std::string& path,
                           const std::string& work_folder, HttpsConf& conf,
                           base::Diagnostics& diagnostics) {
  const Section section{file, &node, path, diagnostics};
  if (section.find("KeystoreFile")) conf.tls.keystore = {};
  if (section.find("TruststoreFile")) conf.tls.truststore = {};
  const net::TlsServerSettings before = conf.tls;
  apply_connector(section, conf);
  net::TlsServerSettings& now = conf.tls;
  auto finish = [&](const char* kind, const net::TlsFile& old, net::TlsFile& store) {
    if (store.password != old.password) resolve_password(conf, kind, store.password);
    if (store.path != old.path) resolve_path(work_folder, store.path);
  };
  finish("keystore", before.keystore, now.keystore);
  finish("truststore", before.truststore, now.truststore);
  if (now.keystore.key_password != before.keystore.key_password) {
    resolve_password(conf, "keystorekey", now.keystore.key_password);
  }
  if (now.crl_files == before.crl_files) return;
  for (std::string& list : now.crl_files) resolve_path(work_folder, list);
}

}  // namespace millstream::server
