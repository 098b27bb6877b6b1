// What is deployed in a work directory: its run/ folder, one folder a container, changed so that a
// crash at any instant leaves either the old set or the new one.
//
//   prepare(): the new folders are written and flushed in run/.deploying/new
//   commit():  run/.deploying/commit is written and flushed: from here on the change has happened;
//              then every old folder moves to .deploying/old, every new one into its place
//   recover:   with a commit file the moves are finished, without one .deploying is removed
//
// A lock on run/.deploying.lock keeps a second server on the same directory out meanwhile.
// Thread: one. Blocking.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ace/container.h"
#include "base/result.h"

namespace millstream::server {

constexpr size_t kContainerNameBytesMax = 200;

// Whether a container of an archive can be kept in a folder of its name; brings its files into the
// form that a project folder has (a .project of another name would rename it at the next start).
Status make_deployable(ace::Container& container);

class RunFolderChange {
 public:
  explicit RunFolderChange(const std::string& work_folder);
  ~RunFolderChange();  // without commit() nothing has happened
  RunFolderChange(const RunFolderChange&) = delete;
  RunFolderChange& operator=(const RunFolderChange&) = delete;

  // `replaced`: what gives way, wherever below run/ it lies; what is not there is no error.
  Status prepare(const std::vector<const ace::Container*>& written,
                 const std::vector<const ace::Container*>& replaced);
  Status commit();

 private:
  Status write_container(const ace::Container& container, const std::string& folder);

  const std::string run_;
  const std::string staging_;
  int lock_ = -1;
  bool is_prepared_ = false;
  std::string moves_;  // what the commit file says
};

// At the start of a server, before run/ is read.
Status recover_run_folder(const std::string& work_folder);

}  // namespace millstream::server
