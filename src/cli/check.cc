// millstream check: everything that `run` does before it listens, and a verdict.
#include <cstdio>
#include <string>
#include <vector>

#include "base/json_value.h"
#include "cli/check_summary.h"
#include "cli/commands.h"
#include "nodes/http/listener.h"
#include "server/deployment.h"
#include "server/flow_services.h"

namespace millstream::cli {
namespace {

namespace json = base::json;

json::Value diagnostic_record(const base::Diagnostic& d) {
  json::Value v = json::Value::object();
  v.set("file", d.position.file);
  v.set("line", d.position.line);
  v.set("column", d.position.column);
  v.set("severity", base::severity_name(d.severity));
  v.set("code", d.code);
  v.set("text", d.text);
  return v;
}

struct Verdict {
  std::vector<std::string> accepted, refused;  // applications, by name
  size_t flow_count = 0;                       // of those accepted
};

// Starts what was built, on a listener that is never bound: two flows with one URL show up as they
// would in `run`.
Verdict try_all(server::Deployment& deployment, base::Diagnostics& diagnostics) {
  Verdict verdict;
  verdict.refused = deployment.refused;
  for (const auto& application : deployment.applications) {
    if (application->try_start(diagnostics)) {
      verdict.accepted.push_back(application->name());
      verdict.flow_count += application->flows().size();
    } else {
      verdict.refused.push_back(application->name());
    }
  }
  return verdict;
}

void print_json(const base::Diagnostics& diagnostics, const Verdict& verdict) {
  json::Value document = json::Value::object();
  json::Value list = json::Value::array();
  for (const base::Diagnostic& d : diagnostics.all()) list.push_back(diagnostic_record(d));
  document.set("diagnostics", std::move(list));
  document.set("errors", static_cast<uint64_t>(diagnostics.error_count()));
  json::Value accepted = json::Value::array();
  for (const std::string& name : verdict.accepted) accepted.push_back(name);
  document.set("accepted", std::move(accepted));
  json::Value refused = json::Value::array();
  for (const std::string& name : verdict.refused) refused.push_back(name);
  document.set("refused", std::move(refused));
  std::printf("%s\n", json::write(document, {.is_pretty = true}).c_str());
}

void print_text(const base::Diagnostics& diagnostics, const Verdict& verdict) {
  size_t warnings = 0;
  for (const base::Diagnostic& d : diagnostics.all()) {
    std::printf("%s\n", d.format().c_str());
    warnings += d.severity == base::DiagnosticSeverity::kWarning ? 1 : 0;
  }
  std::printf(
      "%zu application(s) with %zu flow(s) can run, %zu cannot; %zu error(s), %zu warning(s)\n",
      verdict.accepted.size(), verdict.flow_count, verdict.refused.size(),
      diagnostics.error_count(), warnings);
}

}  // namespace

const base::CommandSpec& check_command() {
  static const base::CommandSpec kSpec{
      .name = "check",
      .arguments = "PATH...",
      .summary = "Compile projects without running them and say what is wrong.",
      .description =
          "Prints file:line:column: severity: text for everything that does not fit or is not "
          "supported. The exit code is 1 when there are errors.",
      .arguments_min = 0,
      .arguments_max = 1000,
      .flags = {{.name = "json",
                 .help = "One JSON document for programs.",
                 .kind = base::FlagKind::kSwitch},
                {.name = "summary",
                 .help = "Counts over whole trees of unrelated projects: how much is complete, and "
                         "what is missing most. The exit code is then 0 whatever is found.",
                 .kind = base::FlagKind::kSwitch},
                {.name = "work-dir",
                 .value_name = "FOLDER",
                 .help =
                     "Work directory: server.conf.yaml, overrides/ and what is deployed in run/."},
                {.name = "overrides",
                 .value_name = "FILE",
                 .help = "Lines of Flow#Node.property=value.",
                 .is_repeated = true}},
      .examples = {{"millstream check MyWorkspace/", "every project of a workspace"},
                   {"millstream check --json Orders.bar", "for a program"},
                   {"millstream check --summary repositories/", "what is missing most"}}};
  return kSpec;
}

int run_check(const base::ParsedFlags& flags) {
  server::DeploymentInput input;
  input.paths = flags.arguments();
  input.work_folder = flags.text("work-dir");
  for (std::string_view file : flags.all("overrides")) input.override_files.emplace_back(file);
  input.checks_everything = true;
  if (flags.is_on("summary") && !input.paths.empty()) {
    return run_check_summary(input.paths, flags.is_on("json"));
  }
  if (input.paths.empty() && input.work_folder.empty()) {
    std::fprintf(stderr, "Give at least one PATH, or --work-dir.\n\n%s",
                 base::command_help({.name = "millstream"}, check_command()).c_str());
    return 2;
  }
  nodes::http::HttpListener listener;
  flow::Services services;
  services.set(&listener);
  server::FlowServices flow_services;
  flow_services.add_to(services);
  base::Diagnostics diagnostics;
  std::unique_ptr<server::Deployment> deployment =
      server::build_deployment(input, services, diagnostics);
  const Verdict verdict = try_all(*deployment, diagnostics);
  if (flags.is_on("json")) {
    print_json(diagnostics, verdict);
  } else {
    print_text(diagnostics, verdict);
  }
  for (const auto& application : deployment->applications) application->stop();
  return diagnostics.has_errors() ? 1 : 0;
}

}  // namespace millstream::cli
