#include "server/policy_conf.h"

#include <algorithm>
#include <cctype>

#include "ace/policies.h"
#include "format/yaml.h"
#include "nodes/common/http_policy.h"
#include "nodes/common/identity.h"
#include "server/cors_conf.h"
#include "server/errors_gen.h"
#include "server/server_conf.h"

namespace millstream::server {
namespace {

using format::YamlNode;
using nodes::common::Policies;
using nodes::common::Policy;

constexpr const char* kHttpPolicy = "HTTPConnector";
constexpr const char* kHttpsPolicy = "HTTPSConnector";

// What some part of the server reads.
constexpr std::string_view kHttpKeys[] = {
    "ListenerPort",         "ListenerAddress",   "CORSEnabled",
    "CORSAllowOrigins",     "CORSAllowMethods",  "CORSAllowHeaders",
    "CORSAllowCredentials", "CORSExposeHeaders", "CORSMaxAge"};
constexpr std::string_view kHttpsKeys[] = {
    "KeystoreFile",   "KeystorePassword",   "KeystoreType",   "KeyPassword", "KeyAlias",
    "TruststoreFile", "TruststorePassword", "TruststoreType", "CipherSpec",  "SSLProtocol",
    "ReqClientAuth",  "ClientAuth",         "CRLFile"};

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_key_of(std::string_view name, bool is_https) {
  return std::find(std::begin(kHttpKeys), std::end(kHttpKeys), name) != std::end(kHttpKeys) ||
         (is_https &&
          std::find(std::begin(kHttpsKeys), std::end(kHttpsKeys), name) != std::end(kHttpsKeys));
}

// A policy as the section of server.conf.yaml that it stands for.
YamlNode section_of(const Policy& policy) {
  YamlNode section;
  section.kind = YamlNode::Kind::kMapping;
  section.line = policy.position.line;
  section.column = policy.position.column;
  for (const auto& [name, property] : policy.properties) {
    format::YamlEntry entry{name, property.position.line, {}};
    entry.value.kind = YamlNode::Kind::kScalar;
    entry.value.text = property.value;
    entry.value.line = property.position.line;
    entry.value.column = property.position.column;
    section.entries.push_back(std::move(entry));
  }
  return section;
}

void warn_unknown(const Policy& policy, base::Diagnostics& diagnostics) {
  for (const auto& [name, property] : policy.properties) {
    if (is_key_of(name, policy.type == kHttpsPolicy)) continue;
    Status status = base::make_error(errors::kIdlePolicyProperty, {name, policy.full_name()});
    diagnostics.warning(property.position, status.error().code->id, status.error().text);
  }
}

void apply_http_policy(const Policy& policy, ServerConf& conf, base::Diagnostics& diagnostics) {
  const YamlNode section = section_of(policy);
  const std::string path = "policy " + policy.full_name();
  apply_http_connector(policy.position.file, section, path, conf, diagnostics);
  apply_cors_section(policy.position.file, section, path, conf.cors, diagnostics);
}

void apply_https_policy(const Policy& policy, const std::string& work_folder, ServerConf& conf,
                        base::Diagnostics& diagnostics) {
  const YamlNode section = section_of(policy);
  const std::string path = "policy " + policy.full_name();
  apply_https_connector(policy.position.file, section, path, work_folder, conf.https, diagnostics);
  apply_cors_section(policy.position.file, section, path, conf.secure_cors, diagnostics);
}

Result<const Policy*> find_named(const Policies& policies, const NamedPolicy& named,
                                 const char* type) {
  return policies.find(named.reference, type, named.key, named.position);
}

}  // namespace

void apply_policy_conf(const std::string& file, const YamlNode& root, PolicyDefaults& out,
                       base::Diagnostics& diagnostics) {
  const YamlNode* project = root.find_path({"Defaults", "policyProject"});
  if (project && project->is_scalar() && !project->text.empty()) out.project = project->text;
  const YamlNode* named = root.find_path({"Defaults", "Policies"});
  if (!named || !named->is_mapping()) return;
  for (const format::YamlEntry& e : named->entries) {
    if (!e.value.is_scalar() || e.value.text.empty()) continue;
    const std::string key = lower_case(e.key);  // httpConnector is met, too
    const base::Position position{file, e.value.line, e.value.column};
    NamedPolicy policy{e.value.text, "Defaults/Policies/" + e.key, position};
    if (key == "httpconnector") {
      out.http = std::move(policy);
    } else if (key == "httpsconnector") {
      out.https = std::move(policy);
    } else if (key.starts_with("security")) {
      // To run unprotected what somebody wants protected is the one thing that must not happen.
      Status status =
          base::make_error(errors::kDefaultSecurityProfile, {policy.key, policy.reference});
      diagnostics.error(status.error(), position);
    } else {
      Status status = base::make_error(errors::kIdleDefaultPolicy, {policy.key, policy.reference});
      diagnostics.warning(position, status.error().code->id, status.error().text);
    }
  }
}

bool apply_listener_policies(const ace::Workspace& workspace, const std::string& work_folder,
                             ServerConf& conf, base::Diagnostics& diagnostics) {
  const PolicyDefaults& defaults = conf.policies;
  if (defaults.http.reference.empty() && defaults.https.reference.empty()) return true;
  const size_t errors_before = diagnostics.error_count();
  const std::shared_ptr<Policies> policies = ace::read_policies(workspace, defaults.project);
  if (!defaults.http.reference.empty()) {
    Result<const Policy*> policy = find_named(*policies, defaults.http, kHttpPolicy);
    if (policy.ok()) {
      warn_unknown(*policy.value(), diagnostics);
      apply_http_policy(*policy.value(), conf, diagnostics);
    } else {
      diagnostics.error(policy.error(), defaults.http.position);
    }
  }
  if (!defaults.https.reference.empty()) {
    Result<const Policy*> policy = find_named(*policies, defaults.https, kHttpsPolicy);
    if (policy.ok()) {
      warn_unknown(*policy.value(), diagnostics);
      apply_https_policy(*policy.value(), work_folder, conf, diagnostics);
    } else {
      diagnostics.error(policy.error(), defaults.https.position);
    }
  }
  return diagnostics.error_count() == errors_before;
}

bool is_complete_policy(const Policy& policy, std::string& why) {
  base::Diagnostics diagnostics;
  Status status;
  ServerConf conf;
  // What these lack is said where they are used.
  if (policy.type == "ActivityLog" || policy.type == "JDBCProviders") return true;
  if (policy.type == nodes::common::kHttpRequestPolicy) {
    nodes::common::HttpSendSettings settings;
    status = nodes::common::apply_http_policy(policy, settings, diagnostics);
  } else if (policy.type == nodes::common::kSecurityProfilesPolicy) {
    auto propagates = nodes::common::propagates_identity(policy, "policy", policy.position);
    if (!propagates.ok()) status = std::move(propagates).take_status();
  } else if (policy.type == kHttpPolicy) {
    apply_http_policy(policy, conf, diagnostics);
  } else if (policy.type == kHttpsPolicy) {
    apply_https_policy(policy, "", conf, diagnostics);
  } else {
    why = "nothing reads it";
    return false;
  }
  if (!status.ok()) {
    why = status.error().text;
    return false;
  }
  for (const base::Diagnostic& d : diagnostics.all()) {
    if (d.severity != base::DiagnosticSeverity::kError) continue;
    why = d.text;
    return false;
  }
  return true;
}

}  // namespace millstream::server
