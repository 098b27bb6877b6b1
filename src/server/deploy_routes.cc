// POST /apiv2/deploy and DELETE of what is deployed.
#include "io/file.h"
#include "io/zip.h"
#include "server/admin_routes.h"
#include "server/errors_gen.h"
#include "server/server.h"

namespace millstream::server {
namespace {

using admin::AdminReply;
using admin::AdminRequest;
using base::json::Value;

// Of all that is in an archive and in the archives in it.
constexpr uint64_t kDeployUnpackedBytesMax = 1ull << 30;
constexpr std::string_view kArchiveExtensions[] = {".bar", ".appzip", ".shlibzip", ".libzip",
                                                   ".zip"};

Value log_entry(int number, char severity, std::string text) {
  Value message = Value::object();
  message.set("number", number);
  message.set("severity", severity == 'I' ? 0 : severity == 'W' ? 2 : 3);
  message.set("severityCode", std::string(1, severity));
  message.set("source", "BIPmsgs");
  Value out = Value::object();
  out.set("type", "logEntry");
  out.set("message", std::move(message));
  out.set("text", text);
  out.set("detailedText", std::move(text));
  return out;
}

int number_of(std::string_view code) {
  int number = 0;
  for (char c : code) {
    if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
  }
  return number;
}

Value names_json(const std::vector<std::string>& names) {
  Value out = Value::array();
  for (const std::string& n : names) out.push_back(n);
  return out;
}

Value diagnostic_json(const base::Diagnostic& d) {
  Value out = Value::object();
  out.set("severity", base::severity_name(d.severity));
  if (!d.position.file.empty()) out.set("file", d.position.file);
  if (d.position.line != 0) out.set("line", d.position.line);
  if (d.position.column != 0) out.set("column", d.position.column);
  out.set("code", d.code);
  out.set("text", d.text);
  return out;
}

AdminReply change_reply(const ChangeReport& report, const std::string& uri) {
  int status = report.ok() ? 200 : 422;
  if (!report.status.ok()) {
    if (report.status.error().code == &errors::kNotDeployed) status = 404;
    if (report.status.error().code == &errors::kServerEnds) status = 503;
    if (report.status.error().code == &errors::kRunFolderBusy) status = 409;
    if (report.status.error().code == &errors::kSuperseded) status = 409;
    if (report.is_unreadable) return admin::error_reply(400, report.status.error());
  }
  return admin::json_reply(change_json(report, uri), status);
}

// The value of filename in a Content-Disposition field, without its folders.
std::string file_name_of(std::string_view disposition) {
  const size_t at = disposition.find("filename=");
  if (at == std::string_view::npos) return {};
  std::string_view name = disposition.substr(at + 9);
  if (name.starts_with('"')) {
    name.remove_prefix(1);
    name = name.substr(0, name.find('"'));
  } else {
    name = name.substr(0, name.find(';'));
  }
  const size_t slash = name.find_last_of("/\\");
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  for (std::string_view extension : kArchiveExtensions) {
    if (name.size() > extension.size() && name.ends_with(extension)) return std::string(name);
  }
  return {};
}

// The first part of a multipart/form-data body; its fields up to the empty line, then its bytes.
bool take_first_part(std::string_view body, std::string_view boundary, std::string_view& fields,
                     std::string_view& bytes) {
  const std::string delimiter = "--" + std::string(boundary);
  if (boundary.empty() || !body.starts_with(delimiter)) return false;
  body.remove_prefix(delimiter.size());
  const size_t head_end = body.find("\r\n\r\n");
  const size_t end = body.find("\r\n" + delimiter);
  if (head_end == std::string_view::npos || end == std::string_view::npos || end < head_end + 2) {
    return false;
  }
  fields = body.substr(0, head_end);
  bytes = body.substr(std::min(head_end + 4, end), end - std::min(head_end + 4, end));
  return true;
}

bool is_on(const std::string* value) { return value && *value == "true"; }

AdminReply deploy(Server& server, const AdminRequest& request) {
  Result<DeployedArchive> archive = archive_of(request);
  if (!archive.ok()) return admin::error_reply(400, archive.error());
  DeployRequest change;
  change.source = archive.value().name;
  Result<std::set<std::string, std::less<>>> names =
      ace::names_in_bar(archive.value().bytes, change.source);
  if (!names.ok()) return admin::error_reply(400, names.error());
  change.names = std::move(names).value();
  change.load = [bytes = archive.value().bytes,
                 source = change.source]() -> Result<DeployRequest::Containers> {
    DeployRequest::Containers containers =
        MS_TRY(ace::load_bar_bytes(bytes, source, kDeployUnpackedBytesMax));
    if (containers.empty()) return base::make_error(errors::kEmptyArchive, {source});
    return containers;
  };
  change.removes_others = is_on(request.find_query("delete-all"));
  const std::string* action = request.find_query("deploy-action");
  change.is_trial = action && *action == "ImpactAnalysis";
  return change_reply(server.host().deploy(std::move(change)), "/apiv2/deploy");
}

}  // namespace

Result<DeployedArchive> archive_of(const AdminRequest& request) {
  DeployedArchive out;
  out.bytes = request.body;
  out.name = file_name_of(request.headers.get("Content-Disposition"));
  const http::ContentType type = http::parse_content_type(request.headers.get("Content-Type"));
  if (http::equals_ignore_case(type.media_type, "multipart/form-data")) {
    std::string_view fields;
    if (!take_first_part(request.body, type.boundary, fields, out.bytes)) {
      return base::make_error(errors::kBadForm);
    }
    out.name = file_name_of(fields);
  }
  if (out.name.empty()) out.name = "deployed.bar";
  if (!io::is_zip(out.bytes)) {
    return base::make_error(errors::kNoArchive, {static_cast<int64_t>(out.bytes.size())});
  }
  return out;
}

Value change_json(const ChangeReport& report, const std::string& uri) {
  Value entries = Value::array();
  for (const base::Diagnostic& d : report.diagnostics.all()) {
    const bool is_error = d.severity == base::DiagnosticSeverity::kError;
    const bool is_warning = d.severity == base::DiagnosticSeverity::kWarning;
    entries.push_back(log_entry(number_of(d.code),
                                is_error     ? 'E'
                                : is_warning ? 'W'
                                             : 'I',
                                d.format()));
  }
  if (!report.status.ok()) {
    entries.push_back(log_entry(number_of(report.status.error().code->id), 'E',
                                report.status.error().describe()));
  }
  for (const auto* names : {&report.started, &report.replaced}) {
    if (report.is_trial) break;
    for (const std::string& name : *names) {
      entries.push_back(log_entry(
          9332, 'I', "BIP9332I: Application '" + name + "' has been changed successfully."));
    }
  }
  Value change = Value::object();
  change.set("started", names_json(report.started));
  change.set("replaced", names_json(report.replaced));
  change.set("removed", names_json(report.removed));
  change.set("kept", names_json(report.kept));
  change.set("refused", names_json(report.refused));
  change.set("isTrial", report.is_trial);
  change.set("buildMicroseconds", report.build_ns / 1000);
  change.set("switchMicroseconds", report.switch_ns / 1000);
  Value diagnostics = Value::array();
  for (const base::Diagnostic& d : report.diagnostics.all()) {
    diagnostics.push_back(diagnostic_json(d));
  }
  change.set("diagnostics", std::move(diagnostics));
  if (!report.status.ok()) change.set("error", admin::error_json(report.status.error()));
  Value out = Value::object();
  out.set("type", "responseLog");
  out.set("count", static_cast<uint64_t>(entries.size()));
  out.set("uri", uri);
  out.set("LogEntry", std::move(entries));
  out.set("change", std::move(change));
  return out;
}

void add_deploy_routes(admin::AdminServer& admin, Server& server) {
  admin.add("POST", "/apiv2/deploy", [&server](const AdminRequest& r) { return deploy(server, r); },
            admin::HandlerPlace::kBlockingPool,
            {admin::AdminRight::kWrite, admin::AdminOptions().body_bytes_max});
  for (const char* collection :
       {"applications", "rest-apis", "services", "shared-libraries", "policies"}) {
    const std::string base = std::string("/apiv2/") + collection + "/";
    admin.add("DELETE", base + "{name}",
              [&server, base](const AdminRequest& r) {
                return change_reply(server.host().undeploy(r.parameter("name")),
                                    base + r.parameter("name"));
              },
              admin::HandlerPlace::kBlockingPool, {.right = admin::AdminRight::kWrite});
  }
}

}  // namespace millstream::server
