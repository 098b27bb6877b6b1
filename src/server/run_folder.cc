#include "server/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/markup.h"
#include "io/durable.h"
#include "io/file.h"
#include "server/errors_gen.h"

namespace millstream::server {
namespace {

using ace::Container;
using ace::ContainerKind;
using io::join_path;
using io::PathKind;

constexpr std::string_view kStaging = ".deploying";

std::string project_text(const std::string& name) {
  std::string escaped;
  base::append_markup(escaped, name);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<projectDescription>\n  <name>" + escaped +
         "</name>\n  <natures>\n    <nature>com.ibm.etools.msgbroker.tooling."
         "messageBrokerProjectNature</nature>\n  </natures>\n</projectDescription>\n";
}

struct Descriptor {
  ContainerKind kind;
  const char* file;
  const char* text;
};
constexpr Descriptor kDescriptors[] = {
    {ContainerKind::kApplication, "application.descriptor", "<appDescriptor/>\n"},
    {ContainerKind::kStaticLibrary, "library.descriptor", "<libraryDescriptor/>\n"},
    {ContainerKind::kSharedLibrary, "library.descriptor",
     "<libraryDescriptor type=\"sharedLibrary\"/>\n"},
    {ContainerKind::kPolicyProject, "policy.descriptor", "<policyProjectDescriptor/>\n"},
};

bool is_good_name(std::string_view name) {
  if (name.empty() || name.size() > kContainerNameBytesMax || name.front() == '.') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return c != '/' && c != '\\' && static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  });
}

// The folder of a container relative to run/; empty when it lies elsewhere.
std::string place_in(const std::string& run, const Container& container) {
  const std::string prefix = run + "/";
  const std::string& folder =
      container.deployed_folder.empty() ? container.location : container.deployed_folder;
  if (!folder.starts_with(prefix)) return {};
  const std::string place = folder.substr(prefix.size());
  return place.find('!') == std::string::npos ? place : std::string();
}

Status sync_tree(const std::string& folder) {
  for (const io::FolderEntry& e : MS_TRY(io::list_folder(folder))) {
    if (e.kind == PathKind::kFolder) MS_TRY(sync_tree(join_path(folder, e.name)));
  }
  return io::sync_folder(folder);
}

// Finishes what the commit file says; every step may have been done before.
Status finish_moves(const std::string& run, const std::string& staging, std::string_view moves) {
  const std::string old = join_path(staging, "old");
  MS_TRY(io::make_folders(old));
  size_t number = 0;
  while (!moves.empty()) {
    const size_t end = std::min(moves.find('\n'), moves.size());
    const std::string_view line = moves.substr(0, end);
    moves.remove_prefix(std::min(end + 1, moves.size()));
    const std::string place(line.substr(std::min<size_t>(line.find(' ') + 1, line.size())));
    const std::string target = join_path(run, place);
    const std::string aside = join_path(old, std::to_string(number++));
    const std::string fresh = join_path(join_path(staging, "new"), place);
    const bool is_write = line.starts_with("write ");
    if (is_write && io::path_kind(fresh) == PathKind::kMissing) continue;
    if (io::path_kind(target) != PathKind::kMissing) MS_TRY(io::rename_path(target, aside));
    if (is_write) MS_TRY(io::rename_path(fresh, target));
  }
  MS_TRY(io::sync_folder(run));
  // The commit file goes first: without it a half removed staging folder means nothing.
  MS_TRY(io::remove_tree(join_path(staging, "commit")));
  MS_TRY(io::sync_folder(staging));
  return io::remove_tree(staging);
}

int lock_run_folder(const std::string& run) {
  const std::string file = join_path(run, std::string(kStaging) + ".lock");
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return -1;
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

Status make_deployable(Container& container) {
  if (!is_good_name(container.name)) {
    return base::make_error(errors::kBadContainerName, {container.name});
  }
  const std::string folder = container.name + "/";
  const bool is_inside_folder =
      container.kind == ContainerKind::kPolicyProject && !container.resources.empty() &&
      std::all_of(container.resources.begin(), container.resources.end(),
                  [&](const ace::Resource& r) { return r.path().starts_with(folder); });
  if (is_inside_folder) {
    for (ace::Resource& r : container.resources) {
      std::string path = r.path().substr(folder.size());
      r = std::move(r).with_path(std::move(path));
    }
  }
  std::erase_if(container.resources, [](const ace::Resource& r) { return r.path() == ".project"; });
  const bool has_descriptor =
      std::any_of(container.resources.begin(), container.resources.end(), [](const auto& r) {
        return r.has_extension(".descriptor") && r.path().find('/') == std::string::npos;
      });
  if (container.kind == ContainerKind::kIndependent) {
    container.resources.emplace_back(".project", join_path(container.location, ".project"),
                                     project_text(container.name));
  }
  for (const Descriptor& d : kDescriptors) {
    if (has_descriptor || d.kind != container.kind) continue;
    container.resources.emplace_back(d.file, join_path(container.location, d.file), d.text);
  }
  for (const auto& nested : container.nested) {
    nested->kind = ContainerKind::kStaticLibrary;
    MS_TRY(make_deployable(*nested));
  }
  container.hash = 0;
  return {};
}

RunFolderChange::RunFolderChange(const std::string& work_folder)
    : run_(join_path(work_folder, "run")), staging_(join_path(run_, kStaging)) {}

RunFolderChange::~RunFolderChange() {
  if (is_prepared_) static_cast<void>(io::remove_tree(staging_).ok());
  if (lock_ >= 0) ::close(lock_);
}

Status RunFolderChange::prepare(const std::vector<const Container*>& written,
                                const std::vector<const Container*>& replaced) {
  MS_TRY(io::make_folders(run_));
  lock_ = lock_run_folder(run_);
  if (lock_ < 0) return base::make_error(errors::kRunFolderBusy, {run_});
  MS_TRY(io::remove_tree(staging_));
  is_prepared_ = true;
  std::set<std::string> names;
  for (const Container* c : written) names.insert(c->name);
  for (const Container* c : replaced) {
    const std::string place = place_in(run_, *c);
    if (!place.empty() && names.count(place) == 0) moves_ += "remove " + place + "\n";
  }
  const std::string fresh = join_path(staging_, "new");
  MS_TRY(io::make_folders(fresh));
  for (const Container* c : written) {
    MS_TRY(write_container(*c, join_path(fresh, c->name)));
    moves_ += "write " + c->name + "\n";
  }
  return sync_tree(staging_);
}

Status RunFolderChange::write_container(const Container& container, const std::string& folder) {
  MS_TRY(io::make_folders(folder));
  for (const ace::Resource& r : container.resources) {
    const std::string file = join_path(folder, r.path());
    MS_TRY(io::make_folders(std::string(io::folder_name(file))));
    MS_TRY(io::write_file_synced(file, MS_TRY(r.read())));
  }
  for (const auto& nested : container.nested) {
    MS_TRY(write_container(*nested, join_path(folder, nested->name)));
  }
  return {};
}

Status RunFolderChange::commit() {
  const std::string mark = join_path(staging_, "commit");
  MS_TRY(io::write_file_synced(mark + ".tmp", moves_));
  MS_TRY(io::rename_path(mark + ".tmp", mark));
  is_prepared_ = false;
  MS_TRY(io::sync_folder(staging_));
  MS_TRY(io::sync_folder(run_));
  return finish_moves(run_, staging_, moves_);
}

Status recover_run_folder(const std::string& work_folder) {
  const std::string run = join_path(work_folder, "run");
  const std::string staging = join_path(run, kStaging);
  if (io::path_kind(staging) == PathKind::kMissing) return {};
  const int lock = lock_run_folder(run);
  if (lock < 0) return {};  // another server is at it
  const std::string mark = join_path(staging, "commit");
  Status status;
  if (io::path_kind(mark) == PathKind::kMissing) {
    status = io::remove_tree(staging);
  } else {
    Result<std::string> moves = io::read_file(mark);
    status =
        moves.ok() ? finish_moves(run, staging, moves.value()) : std::move(moves).take_status();
  }
  ::close(lock);
  return status;
}

}  // namespace millstream::server
