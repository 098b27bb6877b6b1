// What stands on disk before anything of it is compiled: applications, libraries and policy
// projects with their files, from project folders, workspaces, BAR files or work directories.
// Thread: one while loading, any afterwards.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ace/overrides.h"
#include "base/diagnostics.h"
#include "base/result.h"

namespace millstream::ace {

enum class ContainerKind : uint8_t {
  kApplication,
  kRestApi,
  kService,
  kStaticLibrary,
  kSharedLibrary,
  kPolicyProject,
  kIndependent,  // resources without an application or library nature
  kOther,        // test, Java and other projects: nothing to run
};
std::string_view container_kind_name(ContainerKind kind);
bool has_flows_to_run(ContainerKind kind);  // application, REST API, service, independent

// A file of a container. Files of folders are read when asked for.
class Resource {
 public:
  Resource(std::string path, std::string file) : path_(std::move(path)), file_(std::move(file)) {}
  Resource(std::string path, std::string file, std::string content)
      : path_(std::move(path)),
        file_(std::move(file)),
        content_(std::move(content)),
        is_in_memory_(true) {}
  const std::string& path() const { return path_; }  // inside the container, with '/'
  const std::string& file() const { return file_; }  // for messages: "app/Flow.msgflow"
  Result<std::string> read() const;
  bool has_extension(std::string_view extension) const;  // ".esql"
  // Keeps the bytes of a file in memory, so that what is hashed and what is compiled are the same;
  // unload() gives them back. Nothing for those that came in memory.
  Status load();
  void unload();
  const std::string& content() const { return content_; }  // of what is in memory
  Resource with_path(std::string path) && {
    path_ = std::move(path);
    return std::move(*this);
  }

 private:
  std::string path_, file_, content_;
  bool is_in_memory_ = false;
  bool is_loaded_ = false;  // a file that is in memory for a while
};

struct Container {
  ContainerKind kind = ContainerKind::kOther;
  std::string name;
  std::string location;  // folder, or archive path, for messages
  // Where what came in an archive is kept from now on; empty: `location`.
  std::string deployed_folder;
  std::vector<Resource> resources;
  std::vector<std::string> shared_libraries;  // names from the descriptor
  std::vector<std::string> projects;          // names from .project (static libraries among them)
  std::vector<std::unique_ptr<Container>> nested;  // static libraries inside a BAR's application
  Overrides bar_overrides;                         // from broker.xml
  uint64_t hash = 0;                               // once asked for: see content_hash()

  // Where a library or project is named: line of the descriptor or .project, else the location.
  std::map<std::string, base::Position, std::less<>> references;

  const Resource* find(std::string_view path) const;
  base::Position reference_position(std::string_view name) const;
};

// The name a folder has, also when it is given as "." or "..".
std::string folder_title(const std::string& folder);
// join_path(), but "x" instead of "./x".
std::string path_in(std::string_view folder, std::string_view name);
// Reads one folder that is a project or an unpacked container; null when it is neither.
Result<std::unique_ptr<Container>> load_project_folder(const std::string& folder);
// Reads a BAR file: its applications, libraries and policy projects. A single .appzip, .libzip or
// .shlibzip is read too.
Result<std::vector<std::unique_ptr<Container>>> load_bar(const std::string& file);
// The same from memory; `name` is for messages and ends with the extension. All that is unpacked,
// at every depth, is no more than `unpacked_bytes_max`.
constexpr uint64_t kUnpackedBytesMax = 2ull << 30;
Result<std::vector<std::unique_ptr<Container>>> load_bar_bytes(
    std::string_view bytes, const std::string& name,
    uint64_t unpacked_bytes_max = kUnpackedBytesMax);
// The names that its containers will have, from the directory of the archive alone.
Result<std::set<std::string, std::less<>>> names_in_bar(std::string_view bytes,
                                                        const std::string& name);
// Bytes of what is in memory and has to be understood to build it, in all its files.
uint64_t source_bytes(const Container& container);
// Of kind, paths and bytes of everything in it. Loads the files (Resource::load) at the first call;
// what changes on the disk later is seen by reading the container anew.
uint64_t content_hash(Container& container);
uint64_t text_hash(std::string_view text);
uint64_t combine_hashes(uint64_t a, uint64_t b);
void unload_files(Container& container);

}  // namespace millstream::ace
