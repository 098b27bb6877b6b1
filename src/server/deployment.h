// From the paths of a command line to built applications: what `run`, `check` and a redeployment
// have in common.
// Thread: one.
#pragma once
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ace/application.h"
#include "base/diagnostics.h"
#include "server/server_conf.h"

namespace millstream::sql {
class DataSources;
}

namespace millstream::server {

// Shared with whoever looks at them while a newer version takes their place.
using Applications = std::vector<std::shared_ptr<ace::Application>>;

struct DeploymentInput {
  std::vector<std::string> paths;           // beside what is deployed in the work folder
  std::string work_folder;                  // empty: the one path that is a work folder, if any
  std::vector<std::string> override_files;  // later ones win
  bool checks_everything = false;           // also libraries and subflows that nothing uses
  sql::DataSources* databases = nullptr;    // null: those of the process
};

// What paths and work directory hold, before anything is compiled.
struct Sources {
  std::string work_folder;  // that of the input, or found among its paths; may be empty
  ServerConf conf;          // with what the listeners' policies say
  ServerConf file_conf;     // without
  ace::Overrides overrides;
  ace::Workspace workspace;
  uint64_t settings_hash = 0;  // of all files with settings and overrides, when they are hashed
  // Settings, overrides or policies could not be read: any application may miss something.
  bool has_bad_settings = false;
};

// The work directory whose settings hold and whose run/ folder is deployed; empty: none.
std::string work_folder_of(const DeploymentInput& input);
// Problems are in `diagnostics`; null when the work folder is none. While something runs
// (`is_change`), data sources stay what they are when their settings are bad.
std::unique_ptr<Sources> load_sources(const DeploymentInput& input, base::Diagnostics& diagnostics,
                                      bool is_change = false);
// Reads the listeners' policies again, after the workspace has changed. False: there were errors.
bool apply_policies(Sources& sources, base::Diagnostics& diagnostics);
// Of server.conf.yaml and everything that overrides properties.
uint64_t hash_settings(const DeploymentInput& input, const std::string& work_folder);

struct BuildPlan {
  const flow::Services* services = nullptr;
  bool checks_everything = false;
  // With hashes applications know what they were built from, which costs reading all files.
  bool hashes_content = false;
  const Applications* running = nullptr;         // what has not changed is taken over from here
  std::set<uint64_t> refused_hashes;             // known not to build, which has been said already
  std::set<std::string, std::less<>> asked_for;  // built all the same: what is wrong is said again
  // Of everything that has to be compiled, libraries once for each application; 0: any.
  uint64_t source_bytes_max = 0;
  std::function<bool()> is_cancelled;  // see ace::BuildOptions
};

struct BuiltApplications {
  Applications applications;
  std::vector<std::string> refused;   // names of applications with errors
  std::set<uint64_t> refused_hashes;  // when they are hashed
  bool is_cancelled = false;          // what is here is not all there should be
};

BuiltApplications build_applications(Sources& sources, const BuildPlan& plan,
                                     base::Diagnostics& diagnostics);

struct Deployment {
  std::string work_folder;
  ServerConf conf;
  ace::Workspace workspace;
  Applications applications;
  std::vector<std::string> refused;
};

// All of the above at once. Problems are in `diagnostics`; what can run is in the result.
std::unique_ptr<Deployment> build_deployment(const DeploymentInput& input,
                                             const flow::Services& services,
                                             base::Diagnostics& diagnostics);

}  // namespace millstream::server
