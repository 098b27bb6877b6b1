#include "server/database_conf.h"

#include <cstdlib>

#include "ace/config_xml.h"
#include "format/yaml.h"
#include "io/file.h"
#include "server/errors_gen.h"
#include "sql/errors_gen.h"

namespace millstream::server {
namespace {

using format::YamlEntry;
using format::YamlNode;

class DatabaseConf {
 public:
  DatabaseConf(const std::string& work_folder, base::Diagnostics& diagnostics)
      : work_path_(work_folder.empty() ? "." : work_folder), diagnostics_(diagnostics) {}

  void read_file(const std::string& file) {
    if (io::path_kind(file) != io::PathKind::kFile) return;
    Result<std::string> text = io::read_file(file);
    if (!text.ok()) return;  // said where the file's other settings are read
    Result<YamlNode> root = format::parse_yaml(text.value(), file);
    if (!root.ok()) return;
    file_ = file;
    if (const YamlNode* own = root.value().find("Millstream")) {
      if (const YamlNode* all = own->find("DataSources")) read_sources(*all);
      if (const YamlNode* all = own->find("OdbcDrivers")) read_drivers(*all);
    }
    if (const YamlNode* all = root.value().find_path({"Credentials", "ServerCredentials"})) {
      for (const char* kind : {"odbc", "jdbc"}) {
        if (const YamlNode* names = all->find(kind)) read_credentials(kind, *names);
      }
    }
  }

  // After the files: what policies say yields to DataSources of the same name.
  void read_policies(const ace::Workspace& workspace) {
    for (const auto& container : workspace.containers) {
      if (container->kind != ace::ContainerKind::kPolicyProject) continue;
      for (const ace::Resource& r : container->resources) {
        if (r.has_extension(".policyxml")) read_policy_file(r);
      }
    }
  }

  bool is_good() const { return is_good_; }

  void give_to(sql::DataSources& sources) {
    std::vector<sql::DataSourceSettings> all;
    for (auto& [name, settings] : sources_) all.push_back(settings);
    sources.configure(std::move(all), std::move(credentials_));
  }

 private:
  void fail(const base::Error& error, base::Position position) {
    is_good_ = false;
    diagnostics_.error(error, std::move(position));
  }

  void refuse(const YamlNode& node, const std::string& key, const char* wanted) {
    Status status = base::make_error(errors::kBadSetting, {key, node.text, wanted});
    fail(status.error(), {file_, node.line, node.column});
  }

  std::string resolved(const std::string& text) const {
    std::string out;
    for (size_t at = 0; at < text.size();) {
      const size_t start = text.find("${", at);
      const size_t end = start == std::string::npos ? start : text.find('}', start);
      if (end == std::string::npos) return out + text.substr(at);
      out += text.substr(at, start - at);
      const std::string name = text.substr(start + 2, end - start - 2);
      const char* value = name == "WorkPath" ? work_path_.c_str() : std::getenv(name.c_str());
      if (value) out += value;
      at = end + 1;
    }
    return out;
  }

  void read_sources(const YamlNode& all) {
    if (all.is_null()) return;
    if (!all.is_mapping()) {
      return refuse(all, "Millstream/DataSources", "names with connection strings");
    }
    for (const YamlEntry& e : all.entries) {
      sql::DataSourceSettings s;
      s.name = e.key;
      const std::string key = "Millstream/DataSources/" + e.key;
      if (e.value.is_scalar()) {
        s.connection = resolved(e.value.text);
      } else if (e.value.is_mapping()) {
        for (const YamlEntry& property : e.value.entries) read_property(key, property, s);
      } else {
        refuse(e.value, key, "a connection string, or a mapping with the key connection");
      }
      sources_[e.key] = std::move(s);
    }
  }

  void read_property(const std::string& source, const YamlEntry& e, sql::DataSourceSettings& s) {
    const std::string key = source + "/" + e.key;
    int64_t number = 0;
    if (e.key == "connection") {
      s.connection = resolved(e.value.text);
    } else if (e.key == "user") {
      s.user = resolved(e.value.text);
    } else if (e.key == "password") {
      s.password = resolved(e.value.text);
    } else if (e.key == "maxConnections") {
      if (read_number(key, e.value, 1000, number)) s.connections_max = static_cast<size_t>(number);
    } else if (e.key == "maxRows") {
      if (read_number(key, e.value, INT64_MAX, number)) s.rows_max = static_cast<size_t>(number);
    } else if (e.key == "maxColumnBytes") {
      if (read_number(key, e.value, INT32_MAX, number)) {
        s.column_bytes_max = static_cast<size_t>(number);
      }
    } else if (e.key == "waitTimeout") {
      if (read_number(key, e.value, 86400, number)) s.wait_ns = number * 1'000'000'000;
    } else if (e.key == "idleTimeout") {
      if (read_number(key, e.value, 86400, number)) s.idle_ns = number * 1'000'000'000;
    } else if (e.key == "statementTimeout") {
      if (read_number(key, e.value, 86400, number)) s.statement_timeout_s = number;
    } else {
      Status status = base::make_error(errors::kUnknownSetting, {key});
      diagnostics_.warning({file_, e.line, e.value.column}, status.error().code->id,
                           status.error().text);
    }
  }

  bool read_number(const std::string& key, const YamlNode& node, int64_t max, int64_t& out) {
    const std::optional<int64_t> number = node.as_integer();
    if (number && *number >= 1 && *number <= max) {
      out = *number;
      return true;
    }
    refuse(node, key, "a number from 1");
    return false;
  }

  void read_drivers(const YamlNode& all) {
    if (!all.is_mapping() && !all.is_null()) {
      return refuse(all, "Millstream/OdbcDrivers", "database types with names of drivers");
    }
    for (const YamlEntry& e : all.entries) drivers_[e.key] = e.value.text;
  }

  void read_credentials(const std::string& kind, const YamlNode& names) {
    for (const YamlEntry& e : names.entries) {
      sql::Credential& c = credentials_[kind + "::" + e.key];
      if (const YamlNode* user = e.value.find("username")) c.user = resolved(user->text);
      if (const YamlNode* password = e.value.find("password")) {
        c.password = resolved(password->text);
      }
    }
  }

  void read_policy_file(const ace::Resource& resource) {
    Result<std::string> bytes = resource.read();
    if (!bytes.ok()) return fail(bytes.error(), {resource.file(), 0, 0});
    Result<ace::ConfigDocument> document = ace::parse_config_xml(bytes.value(), resource.file());
    if (!document.ok()) return fail(document.error(), {resource.file(), 0, 0});
    for (const auto& policy : document.value().root->children) {
      if (policy->local != "policy" || policy->attribute("policyType") != "JDBCProviders") continue;
      const std::string name(policy->attribute("policyName"));
      if (name.empty() || sources_.count(name) != 0) continue;
      sql::PolicyProperties properties;
      for (const auto& property : policy->children) {
        properties.values[property->local] = property->text;
      }
      std::string error;
      sql::DataSourceSettings settings =
          sql::settings_of_policy(name, properties, drivers_, credentials_, error);
      if (error.empty()) {
        sources_[name] = std::move(settings);
        continue;
      }
      // Nothing may use it; a flow that does gets the driver manager's error.
      Status status = base::make_error(sql::errors::kBadDataSource, {name, error});
      diagnostics_.warning(policy->position, status.error().code->id, status.error().text);
    }
  }

  const std::string work_path_;
  base::Diagnostics& diagnostics_;
  bool is_good_ = true;
  std::string file_;
  std::map<std::string, sql::DataSourceSettings> sources_;
  std::map<std::string, std::string> drivers_;
  sql::Credentials credentials_;
};

}  // namespace

bool configure_databases(const std::string& work_folder, const ace::Workspace& workspace,
                         sql::DataSources& sources, base::Diagnostics& diagnostics,
                         bool is_change) {
  DatabaseConf conf(work_folder, diagnostics);
  if (!work_folder.empty()) {
    conf.read_file(io::join_path(work_folder, "server.conf.yaml"));
    conf.read_file(io::join_path(io::join_path(work_folder, "overrides"), "server.conf.yaml"));
  }
  conf.read_policies(workspace);
  if (conf.is_good() || !is_change) conf.give_to(sources);
  return conf.is_good();
}

}  // namespace millstream::server
