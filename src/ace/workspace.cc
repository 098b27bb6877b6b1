#include "ace/workspace.h"

#include <algorithm>
#include <map>
#include <set>

#include "ace/descriptors.h"
#include "ace/errors_gen.h"
#include "io/file.h"

namespace millstream::ace {
namespace {

void add_container(Workspace& workspace, std::unique_ptr<Container> container,
                   base::Diagnostics& diagnostics) {
  if (const Container* other = workspace.find(container->name)) {
    // The same folder named twice, or found again as a reference, is no conflict.
    if (other->location == container->location) return;
    // Loose resources have no name of their own, only that of their folder or BAR.
    if (container->kind == ContainerKind::kIndependent && !container->find(".project")) {
      container->name = container->location;
      workspace.containers.push_back(std::move(container));
      return;
    }
    Status status = base::make_error(errors::kDuplicateContainer,
                                     {container->name, other->location, container->location});
    diagnostics.error(status.error(), {container->location, 0, 0});
    return;
  }
  workspace.containers.push_back(std::move(container));
}

bool is_archive_name(std::string_view path) {
  for (std::string_view tail : {".bar", ".BAR", ".appzip", ".shlibzip", ".libzip", ".zip"}) {
    if (path.size() > tail.size() && path.substr(path.size() - tail.size()) == tail) return true;
  }
  return false;
}

bool is_project_folder(const std::string& folder) {
  for (std::string_view file :
       {".project", "application.descriptor", "library.descriptor", "restapi.descriptor",
        "service.descriptor", "policy.descriptor", "testproject.descriptor"}) {
    if (io::path_kind(io::join_path(folder, file)) == io::PathKind::kFile) return true;
  }
  return false;
}

bool add_loose_flows(Workspace& workspace, const std::string& folder,
                     const std::vector<io::FolderEntry>& entries, base::Diagnostics& diagnostics) {
  const bool has_flow = std::any_of(entries.begin(), entries.end(), [](const io::FolderEntry& e) {
    return e.kind == io::PathKind::kFile && e.name.size() > 8 &&
           e.name.compare(e.name.size() - 8, 8, ".msgflow") == 0;
  });
  if (!has_flow) return false;
  auto container = std::make_unique<Container>();
  container->kind = ContainerKind::kIndependent;
  container->location = folder;
  container->name = folder_title(folder);
  Result<std::vector<std::string>> files = io::list_files(folder);
  if (!files.ok()) {
    diagnostics.error(files.error(), {folder, 0, 0});
    return true;
  }
  for (std::string& path : files.value()) {
    std::string file = path_in(folder, path);
    container->resources.emplace_back(std::move(path), std::move(file));
  }
  add_container(workspace, std::move(container), diagnostics);
  return true;
}

void add_bar(Workspace& workspace, const std::string& path, base::Diagnostics& diagnostics) {
  Result<std::vector<std::unique_ptr<Container>>> bar = load_bar(path);
  if (!bar.ok()) {
    diagnostics.error(bar.error(), {path, 0, 0});
    return;
  }
  for (auto& container : bar.value()) add_container(workspace, std::move(container), diagnostics);
}

// True when something was found in or below `folder`.
bool add_folder(Workspace& workspace, const std::string& folder, int depth,
                base::Diagnostics& diagnostics) {
  if (is_project_folder(folder)) {
    Result<std::unique_ptr<Container>> project = load_project_folder(folder);
    if (!project.ok()) {
      diagnostics.error(project.error(), {folder, 0, 0});
      return true;
    }
    if (project.value() && project.value()->kind != ContainerKind::kOther) {
      add_container(workspace, std::move(project).value(), diagnostics);
      return true;
    }
    // A Java or test project; or the root of a repository, which Eclipse made a project of.
    if (project.value()) workspace.other_projects.insert(project.value()->name);
    if (project.value() && project.value()->find("testproject.descriptor")) return false;
  }
  Result<std::vector<io::FolderEntry>> entries = io::list_folder(folder);
  if (!entries.ok()) {
    diagnostics.error(entries.error(), {folder, 0, 0});
    return true;
  }
  const std::string run = path_in(folder, "run");
  if (is_work_folder(folder) && io::path_kind(run) == io::PathKind::kFolder) {
    return add_folder(workspace, run, depth + 1, diagnostics);
  }
  if (add_loose_flows(workspace, folder, entries.value(), diagnostics)) return true;
  if (depth >= kWorkspaceDepthMax) return false;
  bool is_found = false;
  for (const io::FolderEntry& e : entries.value()) {
    const std::string path = path_in(folder, e.name);
    if (e.kind == io::PathKind::kFolder && e.name[0] != '.') {
      is_found |= add_folder(workspace, path, depth + 1, diagnostics);
    } else if (e.kind == io::PathKind::kFile && e.name.size() > 4 &&
               e.name.compare(e.name.size() - 4, 4, ".bar") == 0 && depth == 0) {
      add_bar(workspace, path, diagnostics);
      is_found = true;
    }
  }
  return is_found;
}

// The name in .project, else that of the folder.
std::string project_name(const std::string& folder) {
  Container probe;
  probe.name = folder_title(folder);
  probe.resources.emplace_back(".project", io::join_path(folder, ".project"));
  if (!io::read_file(probe.resources[0].file()).ok()) return probe.name;
  return read_descriptors(probe).ok() ? probe.name : std::string();
}

// The projects beside a project by name, each parent folder looked through once and only when
// the folder of that name is not the project.
class Neighbours {
 public:
  std::string find(const Container& container, const std::string& name) {
    const std::string parent = parent_of(container.location);
    std::string direct = path_in(parent, name);
    if (is_project_folder(direct)) return direct;
    auto [it, is_new] = folders_.try_emplace(parent);
    if (is_new) read_names(parent, it->second);
    auto found = it->second.find(name);
    return found == it->second.end() ? std::string() : found->second;
  }

 private:
  using Names = std::map<std::string, std::string>;  // project name -> folder

  static std::string parent_of(const std::string& folder) {
    if (folder == ".") return "..";
    if (io::file_name(folder) == "..") return io::join_path(folder, "..");
    const std::string_view parent = io::folder_name(folder);
    if (!parent.empty()) return std::string(parent);
    return folder.starts_with('/') ? "/" : ".";
  }

  static void read_names(const std::string& parent, Names& names) {
    Result<std::vector<io::FolderEntry>> entries = io::list_folder(parent);
    if (!entries.ok()) return;
    for (const io::FolderEntry& e : entries.value()) {
      const std::string path = path_in(parent, e.name);
      if (e.kind != io::PathKind::kFolder || !is_project_folder(path)) continue;
      names.emplace(project_name(path), path);
    }
  }

  std::map<std::string, Names> folders_;
};

void collect_libraries(const Workspace& workspace, const Container& container,
                       std::set<const Container*>& seen, std::vector<const Container*>& out,
                       base::Diagnostics& diagnostics) {
  auto add = [&](const Container* library) {
    if (!library || !seen.insert(library).second) return;
    out.push_back(library);
    collect_libraries(workspace, *library, seen, out, diagnostics);
  };
  for (const auto& nested : container.nested) add(nested.get());
  for (const std::string& name : container.projects) {
    const Container* project = workspace.find(name);
    if (project && (project->kind == ContainerKind::kStaticLibrary ||
                    project->kind == ContainerKind::kSharedLibrary ||
                    project->kind == ContainerKind::kIndependent)) {
      add(project);
    }
  }
  for (const std::string& name : container.shared_libraries) {
    const Container* library = workspace.find(name);
    if (!library) {
      Status status = base::make_error(errors::kLibraryNotFound, {container.name, name});
      diagnostics.error(status.error(), container.reference_position(name));
    }
    add(library);
  }
}

}  // namespace

const Container* Workspace::find(std::string_view name) const {
  for (const auto& c : containers) {
    if (c->name == name) return c.get();
  }
  return nullptr;
}

bool Workspace::knows(std::string_view name) const {
  return find(name) || other_projects.find(name) != other_projects.end();
}

bool Workspace::has_location(std::string_view path) const {
  return std::any_of(containers.begin(), containers.end(), [path](const auto& c) {
    const std::string& l = c->location;
    if (path == ".") return !l.starts_with('/') && !l.starts_with("..");
    return l.compare(0, path.size(), path) == 0 &&
           (l.size() == path.size() || l[path.size()] == '/' || l[path.size()] == '!');
  });
}

bool is_work_folder(const std::string& path) {
  auto kind_of = [&](const char* name) { return io::path_kind(io::join_path(path, name)); };
  return kind_of("server.conf.yaml") == io::PathKind::kFile &&
         (kind_of("run") == io::PathKind::kFolder || kind_of("overrides") == io::PathKind::kFolder);
}

std::string plain_path(std::string path) {
  while (path.size() > 1) {
    if (path.starts_with("./")) {
      path.erase(0, std::min(path.find_first_not_of('/', 1), path.size()));
      if (path.empty()) path = ".";
    } else if (path.back() == '/' || path.ends_with("/.")) {
      path.pop_back();
    } else {
      break;
    }
  }
  return path;
}

bool add_run_folder(Workspace& workspace, const std::string& work_folder,
                    base::Diagnostics& diagnostics) {
  const std::string folder = plain_path(work_folder);
  const std::string run = path_in(folder, "run");
  const bool has_run = io::path_kind(run) == io::PathKind::kFolder;
  if (has_run) add_folder(workspace, run, 1, diagnostics);
  return has_run || io::path_kind(path_in(folder, "server.conf.yaml")) == io::PathKind::kFile;
}

void add_path(Workspace& workspace, const std::string& given, base::Diagnostics& diagnostics) {
  const std::string path = plain_path(given);
  const size_t before = workspace.containers.size();
  const size_t said_before = diagnostics.all().size();
  switch (io::path_kind(path)) {
    case io::PathKind::kFile:
      if (is_archive_name(path)) add_bar(workspace, path, diagnostics);
      break;
    case io::PathKind::kFolder:
      add_folder(workspace, path, 0, diagnostics);
      break;
    case io::PathKind::kMissing: {
      Status status = base::make_error(errors::kPathNotFound, {path});
      diagnostics.error(status.error(), {path, 0, 0});
      return;
    }
    default:
      break;
  }
  const bool has_said = diagnostics.all().size() != said_before;
  // A work directory is there to be deployed to, so that it may hold nothing yet.
  if (workspace.containers.size() == before && !has_said && !workspace.has_location(path) &&
      !is_work_folder(path)) {
    // That there is nothing to run in a Java project or a BAR of resources is no mistake.
    if (is_project_folder(path) || is_archive_name(path)) {
      Status status = base::make_error(errors::kNoFlowsHere, {path});
      diagnostics.warning({path, 0, 0}, status.error().code->id, status.error().text);
    } else {
      Status status = base::make_error(errors::kNothingToRun, {path});
      diagnostics.error(status.error(), {path, 0, 0});
    }
  }
}

void find_references(Workspace& workspace, base::Diagnostics& diagnostics) {
  Neighbours neighbours;
  // The list grows while it is walked: a library may refer to further ones.
  for (size_t i = 0; i < workspace.containers.size(); ++i) {
    const Container& container = *workspace.containers[i];
    if (io::path_kind(container.location) != io::PathKind::kFolder) continue;
    std::vector<std::string> names = container.shared_libraries;
    names.insert(names.end(), container.projects.begin(), container.projects.end());
    for (const std::string& name : names) {
      if (name.empty() || workspace.find(name)) continue;
      const std::string folder = neighbours.find(container, name);
      if (folder.empty()) continue;
      workspace.other_projects.insert(name);
      Result<std::unique_ptr<Container>> project = load_project_folder(folder);
      if (!project.ok()) {
        diagnostics.error(project.error(), {folder, 0, 0});
      } else if (project.value() && !has_flows_to_run(project.value()->kind)) {
        workspace.containers.push_back(std::move(project).value());
      }
    }
  }
}

std::vector<const Container*> libraries_of(const Workspace& workspace, const Container& container,
                                           base::Diagnostics& diagnostics) {
  std::vector<const Container*> out;
  std::set<const Container*> seen = {&container};
  collect_libraries(workspace, container, seen, out, diagnostics);
  return out;
}

}  // namespace millstream::ace
