#include "server/deployment.h"

#include <algorithm>
#include <set>

#include "io/file.h"
#include "server/errors_gen.h"

namespace millstream::server {
namespace {

// Containers that some application of the workspace uses as a library.
std::set<const ace::Container*> used_libraries(const ace::Workspace& workspace) {
  std::set<const ace::Container*> used;
  base::Diagnostics ignored;  // missing libraries are reported where the application is built
  for (const auto& c : workspace.containers) {
    if (!ace::has_flows_to_run(c->kind)) continue;
    for (const ace::Container* library : ace::libraries_of(workspace, *c, ignored)) {
      // Independent resources run by themselves too.
      if (!ace::has_flows_to_run(library->kind)) used.insert(library);
    }
  }
  return used;
}

void add_override_file(const std::string& file, ace::Overrides& overrides,
                       base::Diagnostics& diagnostics) {
  Result<std::string> text = io::read_file(file);
  if (text.ok()) {
    overrides.add_lines(text.value(), file, diagnostics);
  } else {
    diagnostics.error(text.error(), {file, 0, 0});
  }
}

// A work directory given as a path means its settings too, as long as there is no doubt which.
std::string work_folder_of(const DeploymentInput& input) {
  if (!input.work_folder.empty()) return input.work_folder;
  std::string found;
  for (const std::string& path : input.paths) {
    if (!ace::is_work_folder(path)) continue;
    if (!found.empty() && found != path) return {};
    found = path;
  }
  return found;
}

// With a wrong work directory everything would run, with other settings than meant.
bool has_good_work_folder(const std::string& folder, base::Diagnostics& diagnostics) {
  if (folder.empty() || io::path_kind(folder) == io::PathKind::kFolder) return true;
  const bool is_missing = io::path_kind(folder) == io::PathKind::kMissing;
  Status status = base::make_error(errors::kNoWorkFolder,
                                   {folder, is_missing ? "does not exist" : "is not a folder"});
  diagnostics.error(status.error(), {folder, 0, 0});
  return false;
}

}  // namespace

std::unique_ptr<Deployment> build_deployment(const DeploymentInput& input,
                                             const flow::Services& services,
                                             base::Diagnostics& diagnostics) {
  auto deployment = std::make_unique<Deployment>();
  ace::Overrides overrides;
  deployment->work_folder = work_folder_of(input);
  if (!has_good_work_folder(deployment->work_folder, diagnostics)) return deployment;
  deployment->conf = read_work_folder(deployment->work_folder, overrides, diagnostics);
  for (const std::string& file : input.override_files) {
    add_override_file(file, overrides, diagnostics);
  }
  for (const auto& [name, lines] : input.override_texts) {
    overrides.add_lines(lines, name, diagnostics);
  }
  std::vector<std::string> paths = input.paths;
  if (paths.empty()) paths.push_back(deployment->work_folder);
  for (const std::string& path : paths) {
    ace::add_path(deployment->workspace, path, diagnostics);
  }
  ace::find_references(deployment->workspace, diagnostics);

  ace::BuildOptions options;
  if (!deployment->conf.server_name.empty()) options.server_name = deployment->conf.server_name;
  options.work_path = deployment->work_folder.empty() ? "." : deployment->work_folder;
  options.user_variables = deployment->conf.user_variables;
  options.drives.folders = deployment->conf.drives;
  options.drives.default_root = io::join_path(options.work_path, "drives");
  options.overrides = &overrides;
  options.services = &services;
  options.checks_unused_subflows = input.checks_everything;

  const std::set<const ace::Container*> used = used_libraries(deployment->workspace);
  for (const auto& container : deployment->workspace.containers) {
    if (used.count(container.get()) != 0) continue;
    if (ace::has_flows_to_run(container->kind)) {
      std::unique_ptr<ace::Application> application =
          ace::build_application(deployment->workspace, *container, options, diagnostics);
      if (application) {
        deployment->applications.push_back(std::move(application));
      } else {
        deployment->refused.push_back(container->name);
      }
    } else if (input.checks_everything) {
      ace::check_library(deployment->workspace, *container, options, diagnostics);
    }
  }
  overrides.report_unused(diagnostics);
  return deployment;
}

}  // namespace millstream::server
