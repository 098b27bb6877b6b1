// millstream deploy, undeploy: a new version into a server that runs.
#include <cstdio>
#include <string>

#include "ace/bar_writer.h"
#include "base/diagnostics.h"
#include "cli/admin_client.h"
#include "cli/commands.h"
#include "http/url.h"
#include "io/file.h"

namespace millstream::cli {
namespace {

using base::json::Value;

bool is_bar_name(std::string_view path) {
  return path.ends_with(".bar") || path.ends_with(".appzip") || path.ends_with(".shlibzip");
}

// A file as it is, folders as a BAR made here.
Result<ace::BarFile> bar_of(const std::vector<std::string>& paths, std::string& name,
                            base::Diagnostics& diagnostics) {
  name = std::string(io::file_name(paths[0]));
  if (paths.size() == 1 && is_bar_name(paths[0])) {
    ace::BarFile bar;
    bar.bytes = MS_TRY(io::read_file(paths[0], uint64_t{1} << 30));
    return bar;
  }
  name = ace::folder_title(paths[0]) + ".bar";
  ace::Workspace workspace;
  for (const std::string& path : paths) ace::add_path(workspace, path, diagnostics);
  ace::find_references(workspace, diagnostics);
  return ace::make_bar(workspace, name, diagnostics);
}

// Places in the BAR that was made here are those of the files it was made of.
std::string place_of(const Value& diagnostic, const ace::BarFile& bar) {
  const std::string& file = diagnostic.get("file").as_string();
  auto it = bar.sources.find(file);
  std::string place = it == bar.sources.end() ? file : it->second;
  for (const char* member : {"line", "column"}) {
    const int64_t number = diagnostic.get(member).as_integer();
    if (number != 0) place += ":" + std::to_string(number);
  }
  return place;
}

void print_change_diagnostics(const Value& change, const ace::BarFile& bar) {
  for (const Value& d : change.get("diagnostics").items()) {
    const std::string place = place_of(d, bar);
    std::fprintf(stderr, "%s%s%s: %s: %s\n", place.c_str(), place.empty() ? "" : ": ",
                 d.get("severity").as_string().c_str(), d.get("code").as_string().c_str(),
                 d.get("text").as_string().c_str());
  }
  const Value& error = change.get("error");
  if (error.is_null()) return;
  std::fprintf(stderr, "%sE: %s\n", error.get("code").as_string().c_str(),
               error.get("message").as_string().c_str());
}

void print_names(const Value& change, const char* member, const char* what) {
  std::string names;
  for (const Value& n : change.get(member).items()) {
    names += (names.empty() ? "" : ", ") + n.as_string();
  }
  if (!names.empty()) std::printf("%s: %s\n", what, names.c_str());
}

int print_change(const Result<AdminAnswer>& answer, std::string_view url, const ace::BarFile& bar) {
  if (!answer.ok() || answer.value().json.get("change").is_null()) {
    return print_admin_failure(answer, url);
  }
  const Value& change = answer.value().json.get("change");
  print_change_diagnostics(change, bar);
  const bool is_trial = change.get("isTrial").as_bool();
  print_names(change, "started", is_trial ? "Would deploy" : "Deployed");
  print_names(change, "replaced", is_trial ? "Would replace" : "Replaced");
  print_names(change, "removed", is_trial ? "Would remove" : "Removed");
  print_names(change, "kept", "Not replaced");
  print_names(change, "refused", "Refused");
  if (answer.value().status != 200) return 1;
  const bool has_changed =
      change.get("started").size() + change.get("replaced").size() + change.get("removed").size() >
      0;
  if (!has_changed) {
    std::printf("Nothing has changed.\n");
  } else if (!is_trial) {
    std::printf("Compiled in %.1f ms, switched in %.1f ms.\n",
                static_cast<double>(change.get("buildMicroseconds").as_integer()) / 1000.0,
                static_cast<double>(change.get("switchMicroseconds").as_integer()) / 1000.0);
  }
  return 0;
}

}  // namespace

const base::CommandSpec& deploy_command() {
  static const base::CommandSpec kSpec{
      .name = "deploy",
      .arguments = "PATH...",
      .summary = "Put a new version of projects or a BAR file into a running server.",
      .description =
          "The server compiles it beside the version that runs and switches between two messages; "
          "messages that came before end where they began. With errors nothing changes, and the "
          "exit code is 1. Into a server with a work directory it is also kept there.",
      .arguments_min = 1,
      .arguments_max = 1000,
      .flags = with_admin_flags({{.name = "delete-all",
                                  .help = "Remove everything else that is deployed.",
                                  .kind = base::FlagKind::kSwitch},
                                 {.name = "dry-run",
                                  .help = "Compile it in the server and say what would change.",
                                  .kind = base::FlagKind::kSwitch}}),
      .examples = {{"millstream deploy Orders.bar", "a BAR file into the server on this machine"},
                   {"millstream deploy Orders/ --url http://test1:7600",
                    "a project folder with the libraries beside it"}}};
  return kSpec;
}

int run_deploy(const base::ParsedFlags& flags) {
  base::Diagnostics diagnostics;
  std::string name;
  Result<ace::BarFile> bar = bar_of(flags.arguments(), name, diagnostics);
  for (const base::Diagnostic& d : diagnostics.all()) {
    std::fprintf(stderr, "%s\n", d.format().c_str());
  }
  if (!bar.ok()) std::fprintf(stderr, "%s\n", bar.error().describe().c_str());
  if (!bar.ok() || diagnostics.has_errors()) return 1;
  std::string path = "/apiv2/deploy";
  if (flags.is_on("delete-all")) path += "?delete-all=true";
  if (flags.is_on("dry-run")) {
    path += path.find('?') == std::string::npos ? "?" : "&";
    path += "deploy-action=ImpactAnalysis";
  }
  std::string safe_name;
  for (char c : name) {
    if (c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20) safe_name += c;
  }
  const std::optional<AdminTarget> target = open_admin(flags);
  if (!target) return 1;
  const std::string& url = target->url;
  const Result<AdminAnswer> answer =
      ask_admin(*target, {.method = "POST",
                          .path = path,
                          .body = bar.value().bytes,
                          .content_type = "application/octet-stream",
                          .disposition = "attachment; filename=\"" + safe_name + "\""});
  return print_change(answer, url, bar.value());
}

const base::CommandSpec& undeploy_command() {
  static const base::CommandSpec kSpec{
      .name = "undeploy",
      .arguments = "NAME",
      .summary = "Remove an application, library or policy project from a running server.",
      .description = "Messages that it has are finished; its URLs answer 404 from then on.",
      .arguments_min = 1,
      .arguments_max = 1,
      .flags = with_admin_flags({}),
      .examples = {{"millstream undeploy Orders", "from the server on this machine"}}};
  return kSpec;
}

int run_undeploy(const base::ParsedFlags& flags) {
  const std::optional<AdminTarget> target = open_admin(flags);
  if (!target) return 1;
  const std::string& url = target->url;
  // Names are unique among all kinds, so that the collection does not matter.
  const Result<AdminAnswer> answer = ask_admin(
      *target, {.method = "DELETE",
                .path = "/apiv2/applications/" + http::percent_encode(flags.arguments()[0])});
  return print_change(answer, url, {});
}

}  // namespace millstream::cli
