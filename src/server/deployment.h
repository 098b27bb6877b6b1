// From the paths of a command line to built applications: what `run` and `check` have in common.
// Thread: one.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ace/application.h"
#include "base/diagnostics.h"
#include "server/server_conf.h"

namespace millstream::server {

struct DeploymentInput {
  std::vector<std::string> paths;           // none: what is deployed in the work folder
  std::string work_folder;                  // empty: the one path that is a work folder, if any
  std::vector<std::string> override_files;  // later ones win
  // Lines as of an override file, with the name that messages give them; win over all files.
  std::vector<std::pair<std::string, std::string>> override_texts;
  bool checks_everything = false;  // also libraries and subflows that nothing uses
};

struct Deployment {
  std::string work_folder;  // that of the input, or found among its paths; may be empty
  ServerConf conf;
  ace::Workspace workspace;
  std::vector<std::unique_ptr<ace::Application>> applications;
  std::vector<std::string> refused;  // names of applications with errors
};

// Problems are in `diagnostics`; what can run is in the result.
std::unique_ptr<Deployment> build_deployment(const DeploymentInput& input,
                                             const flow::Services& services,
                                             base::Diagnostics& diagnostics);

}  // namespace millstream::server
