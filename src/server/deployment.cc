#include "server/deployment.h"

#include <algorithm>
#include <optional>
#include <set>

#include "ace/policies.h"
#include "io/file.h"
#include "server/database_conf.h"
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

// With a wrong work directory everything would run, with other settings than meant.
bool has_good_work_folder(const std::string& folder, base::Diagnostics& diagnostics) {
  if (folder.empty() || io::path_kind(folder) == io::PathKind::kFolder) return true;
  const bool is_missing = io::path_kind(folder) == io::PathKind::kMissing;
  Status status = base::make_error(errors::kNoWorkFolder,
                                   {folder, is_missing ? "does not exist" : "is not a folder"});
  diagnostics.error(status.error(), {folder, 0, 0});
  return false;
}

// What was deployed stays deployed whatever the paths hold, as it did when it was deployed over
// them.
void add_containers(const DeploymentInput& input, Sources& sources,
                    base::Diagnostics& diagnostics) {
  ace::Workspace& all = sources.workspace;
  const bool is_work_folder =
      !sources.work_folder.empty() && ace::add_run_folder(all, sources.work_folder, diagnostics);
  if (input.paths.empty() && !is_work_folder) ace::add_path(all, sources.work_folder, diagnostics);
  ace::Workspace given;
  for (const std::string& path : input.paths) ace::add_path(given, path, diagnostics);
  const size_t deployed = all.containers.size();
  for (auto& c : given.containers) {
    const ace::Container* other = nullptr;
    for (size_t i = 0; i < deployed && !other; ++i) {
      if (all.containers[i]->name == c->name) other = all.containers[i].get();
    }
    if (!other) {
      all.containers.push_back(std::move(c));
    } else if (other->location != c->location) {
      Status status =
          base::make_error(errors::kHiddenByDeployed, {c->name, c->location, other->location});
      diagnostics.warning({c->location, 0, 0}, status.error().code->id, status.error().text);
    }
  }
  all.other_projects.merge(given.other_projects);
}

ace::BuildOptions build_options(Sources& sources, const BuildPlan& plan) {
  ace::BuildOptions options;
  if (!sources.conf.server_name.empty()) options.server_name = sources.conf.server_name;
  options.work_path = sources.work_folder.empty() ? "." : sources.work_folder;
  options.user_variables = sources.conf.user_variables;
  options.drives.folders = sources.conf.drives;
  options.drives.default_root = io::join_path(options.work_path, "drives");
  options.overrides = &sources.overrides;
  options.services = plan.services;
  options.policies = ace::read_policies(sources.workspace, sources.conf.policies.project);
  options.checks_unused_subflows = plan.checks_everything;
  options.is_cancelled = plan.is_cancelled;
  return options;
}

// What building an application has to understand. False, and a diagnostic: that would be too much.
class SourceBudget {
 public:
  explicit SourceBudget(uint64_t bytes_max) : max_(bytes_max) {}
  bool take(const ace::Workspace& workspace, const ace::Container& container,
            base::Diagnostics& diagnostics) {
    if (max_ == 0) return true;
    uint64_t bytes = ace::source_bytes(container);
    base::Diagnostics ignored;
    for (const ace::Container* l : ace::libraries_of(workspace, container, ignored)) {
      bytes += ace::source_bytes(*l);
    }
    if (bytes <= max_ - used_) {
      used_ += bytes;
      return true;
    }
    Status status = base::make_error(errors::kTooMuchSource, {container.name, used_ + bytes, max_});
    diagnostics.error(status.error(), {container.location, 0, 0});
    return false;
  }

 private:
  const uint64_t max_;
  uint64_t used_ = 0;
};

// The hashes of all containers; files stay in memory until they are unloaded.
class ContentHashes {
 public:
  explicit ContentHashes(Sources& sources) : sources_(sources), shared_(sources.settings_hash) {
    for (const auto& c : sources.workspace.containers) {
      const uint64_t hash = ace::content_hash(*c);
      // Any node may refer to a policy.
      if (c->kind == ace::ContainerKind::kPolicyProject) {
        shared_ = ace::combine_hashes(shared_, hash);
      }
    }
  }
  ~ContentHashes() {
    for (const auto& c : sources_.workspace.containers) ace::unload_files(*c);
  }
  uint64_t of_application(const ace::Container& container) const {
    uint64_t hash = ace::combine_hashes(shared_, container.hash);
    base::Diagnostics ignored;
    for (const ace::Container* l : ace::libraries_of(sources_.workspace, container, ignored)) {
      hash = ace::combine_hashes(hash, l->hash);
    }
    return hash;
  }

 private:
  Sources& sources_;
  uint64_t shared_ = 0;
};

std::shared_ptr<ace::Application> find_same(const Applications* running, std::string_view name,
                                            uint64_t hash) {
  if (!running) return nullptr;
  for (const auto& a : *running) {
    if (a->name() == name && a->content_hash() == hash) return a;
  }
  return nullptr;
}

}  // namespace

// A work directory given as a path means its settings too, as long as there is no doubt which.
std::string work_folder_of(const DeploymentInput& input) {
  if (!input.work_folder.empty()) return ace::plain_path(input.work_folder);
  std::string found;
  for (const std::string& path : input.paths) {
    if (!ace::is_work_folder(path)) continue;
    std::string plain = ace::plain_path(path);
    if (!found.empty() && found != plain) return {};
    found = std::move(plain);
  }
  return found;
}

std::unique_ptr<Sources> load_sources(const DeploymentInput& input, base::Diagnostics& diagnostics,
                                      bool is_change) {
  auto sources = std::make_unique<Sources>();
  sources->work_folder = work_folder_of(input);
  if (!has_good_work_folder(sources->work_folder, diagnostics)) return nullptr;
  sources->file_conf = read_work_folder(sources->work_folder, sources->overrides, diagnostics);
  for (const std::string& file : input.override_files) {
    add_override_file(file, sources->overrides, diagnostics);
  }
  const bool has_bad_files = diagnostics.has_errors();
  add_containers(input, *sources, diagnostics);
  ace::find_references(sources->workspace, diagnostics);
  const bool has_databases = configure_databases(
      sources->work_folder, sources->workspace,
      input.databases ? *input.databases : sql::DataSources::process(), diagnostics, is_change);
  const bool has_listeners = apply_policies(*sources, diagnostics);
  sources->has_bad_settings = has_bad_files || !has_databases || !has_listeners;
  return sources;
}

bool apply_policies(Sources& sources, base::Diagnostics& diagnostics) {
  sources.conf = sources.file_conf;
  return apply_listener_policies(sources.workspace, sources.work_folder, sources.conf, diagnostics);
}

uint64_t hash_settings(const DeploymentInput& input, const std::string& work_folder) {
  std::vector<std::string> files = input.override_files;
  if (!work_folder.empty()) {
    files.push_back(io::join_path(work_folder, "server.conf.yaml"));
    const std::string folder = io::join_path(work_folder, "overrides");
    Result<std::vector<std::string>> overriding = io::list_files(folder);
    if (overriding.ok()) {
      for (const std::string& f : overriding.value()) files.push_back(io::join_path(folder, f));
    }
  }
  uint64_t hash = 0;
  for (const std::string& file : files) {
    Result<std::string> text = io::read_file(file);
    hash = ace::combine_hashes(hash, ace::text_hash(file));
    if (text.ok()) hash = ace::combine_hashes(hash, ace::text_hash(text.value()));
  }
  return hash;
}

BuiltApplications build_applications(Sources& sources, const BuildPlan& plan,
                                     base::Diagnostics& diagnostics) {
  BuiltApplications out;
  ace::BuildOptions options = build_options(sources, plan);
  std::optional<ContentHashes> hashes;
  if (plan.hashes_content) hashes.emplace(sources);
  const std::set<const ace::Container*> used = used_libraries(sources.workspace);
  SourceBudget budget(plan.source_bytes_max);
  for (const auto& container : sources.workspace.containers) {
    if (used.count(container.get()) != 0) continue;
    if (!ace::has_flows_to_run(container->kind)) {
      if (plan.checks_everything) {
        ace::check_library(sources.workspace, *container, options, diagnostics);
      }
      continue;
    }
    const uint64_t hash = hashes ? hashes->of_application(*container) : 0;
    if (auto same = find_same(plan.running, container->name, hash)) {
      out.applications.push_back(std::move(same));
      continue;
    }
    std::shared_ptr<ace::Application> application;
    if (plan.is_cancelled && plan.is_cancelled()) {
      out.is_cancelled = true;
      break;
    }
    if ((plan.refused_hashes.count(hash) == 0 || plan.asked_for.count(container->name) != 0) &&
        budget.take(sources.workspace, *container, diagnostics)) {
      application = ace::build_application(sources.workspace, *container, options, diagnostics);
    }
    if (application) {
      application->set_content_hash(hash);
      out.applications.push_back(std::move(application));
    } else {
      out.refused.push_back(container->name);
      if (hashes) out.refused_hashes.insert(hash);
    }
  }
  if (plan.is_cancelled && plan.is_cancelled()) out.is_cancelled = true;
  // What was taken over has not been asked which overrides it uses.
  if (!plan.running) sources.overrides.report_unused(diagnostics);
  return out;
}

std::unique_ptr<Deployment> build_deployment(const DeploymentInput& input,
                                             const flow::Services& services,
                                             base::Diagnostics& diagnostics) {
  auto deployment = std::make_unique<Deployment>();
  deployment->work_folder = work_folder_of(input);
  std::unique_ptr<Sources> sources = load_sources(input, diagnostics);
  if (!sources) return deployment;
  const BuildPlan plan{.services = &services, .checks_everything = input.checks_everything};
  BuiltApplications built = build_applications(*sources, plan, diagnostics);
  deployment->conf = std::move(sources->conf);
  deployment->workspace = std::move(sources->workspace);
  deployment->applications = std::move(built.applications);
  deployment->refused = std::move(built.refused);
  return deployment;
}

}  // namespace millstream::server
