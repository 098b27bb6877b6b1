#include <algorithm>

#include "ace/workspace.h"
#include "io/file.h"
#include "server/survey.h"

namespace millstream::server {
namespace {

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> tails) {
  return std::any_of(tails.begin(), tails.end(), [name](std::string_view tail) {
    return name.size() > tail.size() && name.ends_with(tail);
  });
}

bool is_archive(std::string_view name) {
  return ends_with_any(name, {".bar", ".BAR", ".appzip", ".shlibzip", ".libzip"});
}

bool is_artifact(std::string_view name) {
  return ends_with_any(name, {".msgflow", ".subflow", ".esql", ".map", ".policyxml"});
}

class PlaceFinder {
 public:
  explicit PlaceFinder(base::Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void look_at(const std::string& path) {
    switch (io::path_kind(path)) {
      case io::PathKind::kFile:
        if (is_archive(path)) places_.push_back({path, {path}});
        return;
      case io::PathKind::kFolder:
        if (is_project(path)) {
          places_.push_back({path, {path}});
        } else {
          look_into(path, 0);
        }
        return;
      default: {
        ace::Workspace nothing;
        ace::add_path(nothing, path, diagnostics_);  // says what is wrong with it
      }
    }
  }

  std::vector<SurveyPlace> places_;

 private:
  // Something that is built; not a Java project, nor a repository that Eclipse made a project of.
  bool is_project(const std::string& folder) {
    Result<std::unique_ptr<ace::Container>> project = ace::load_project_folder(folder);
    if (!project.ok()) {
      diagnostics_.error(project.error(), {folder, 0, 0});
      return false;
    }
    return project.value() && project.value()->kind != ace::ContainerKind::kOther;
  }

  void look_into(const std::string& folder, int depth) {
    Result<std::vector<io::FolderEntry>> entries = io::list_folder(folder);
    if (!entries.ok()) {
      diagnostics_.error(entries.error(), {folder, 0, 0});
      return;
    }
    SurveyPlace here{folder, {}};
    bool is_loose = false;
    std::vector<std::string> below;
    for (const io::FolderEntry& e : entries.value()) {
      if (e.name.starts_with('.')) continue;
      const std::string path = ace::path_in(folder, e.name);
      if (e.kind == io::PathKind::kFile && is_archive(e.name)) places_.push_back({path, {path}});
      is_loose |= e.kind == io::PathKind::kFile && is_artifact(e.name);
      if (e.kind != io::PathKind::kFolder) continue;
      if (is_project(path)) {
        here.paths.push_back(path);
      } else {
        below.push_back(path);
      }
    }
    if (!here.paths.empty()) places_.push_back(std::move(here));
    // Loose artifacts are taken with all that stands below them.
    if (is_loose) places_.push_back({folder, {}});
    if (is_loose || depth >= kSurveyDepthMax) return;
    for (const std::string& path : below) look_into(path, depth + 1);
  }

  base::Diagnostics& diagnostics_;
};

}  // namespace

std::vector<SurveyPlace> find_places(const std::string& path, base::Diagnostics& diagnostics) {
  PlaceFinder finder(diagnostics);
  finder.look_at(path);
  return std::move(finder.places_);
}

}  // namespace millstream::server
