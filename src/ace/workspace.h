// Everything that was named on the command line, as containers with their references resolved: the
// step between disk and compilation.
//
// A path may be a BAR file, a project folder, an unpacked container, a folder of projects (a
// workspace, to any depth), a work directory (its run/ folder), a folder with loose message flows.
// Libraries that a project refers to and that were not named are looked for beside the project.
// Thread: one.
#pragma once
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ace/container.h"
#include "base/diagnostics.h"

namespace millstream::ace {

constexpr int kWorkspaceDepthMax = 8;

struct Workspace {
  // Shared by the workspaces of successive versions of a deployment.
  std::vector<std::shared_ptr<Container>> containers;
  std::set<std::string, std::less<>> other_projects;  // Java, test, ... projects, by name
  const Container* find(std::string_view name) const;
  // True also for projects that are there but hold nothing for this server.
  bool knows(std::string_view name) const;
  bool has_location(std::string_view path) const;  // something at or below the path
};

// A work directory: server.conf.yaml beside run/ or overrides/.
bool is_work_folder(const std::string& path);
// Without what says nothing: "./a/" is "a". One way to write a path makes it comparable.
std::string plain_path(std::string path);
// Adds what is deployed in a work directory, which may be nothing. False: it has neither a run/
// folder nor settings, so that it may be no work directory at all.
bool add_run_folder(Workspace& workspace, const std::string& work_folder,
                    base::Diagnostics& diagnostics);
// Adds what `path` holds. Problems go to `diagnostics`; what could be read is kept.
void add_path(Workspace& workspace, const std::string& path, base::Diagnostics& diagnostics);
// Finds referenced libraries beside the projects that refer to them. Call once after all paths.
void find_references(Workspace& workspace, base::Diagnostics& diagnostics);
// The libraries of a container in search order: nested and static ones, then shared ones, each with
// the libraries it refers to itself. A missing shared library is an error.
std::vector<const Container*> libraries_of(const Workspace& workspace, const Container& container,
                                           base::Diagnostics& diagnostics);

}  // namespace millstream::ace
