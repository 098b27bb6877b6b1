#include "ace/container.h"

#include <algorithm>
#include <filesystem>

#include "ace/descriptors.h"
#include "ace/errors_gen.h"
#include "io/file.h"
#include "io/zip.h"

namespace millstream::ace {
namespace {

constexpr int kArchiveNestingMax = 4;

bool has_tail(std::string_view s, std::string_view tail) {
  return s.size() >= tail.size() && s.substr(s.size() - tail.size()) == tail;
}

// Folders inside a project that hold nothing to deploy.
bool is_tool_folder(std::string_view path) {
  for (std::string_view folder : {".git/", ".metadata/", ".settings/", "node_modules/"}) {
    if (path.substr(0, folder.size()) == folder) return true;
    if (path.find("/" + std::string(folder)) != std::string_view::npos) return true;
  }
  return false;
}

struct ArchiveKind {
  std::string_view extension;
  ContainerKind kind;
};
constexpr ArchiveKind kArchives[] = {
    {".appzip", ContainerKind::kApplication},
    {".shlibzip", ContainerKind::kSharedLibrary},
    {".libzip", ContainerKind::kStaticLibrary},
};

const ArchiveKind* archive_kind(std::string_view path) {
  for (const ArchiveKind& a : kArchives) {
    if (has_tail(path, a.extension)) return &a;
  }
  return nullptr;
}

using Containers = std::vector<std::unique_ptr<Container>>;

// Moves what lies below `folder` out of `from`; the paths lose the folder when `strips`.
std::vector<Resource> take_folder(std::vector<Resource>& from, const std::string& folder,
                                  bool strips) {
  std::vector<Resource> rest, taken;
  for (Resource& r : from) {
    if (r.path().compare(0, folder.size() + 1, folder + "/") != 0) {
      rest.push_back(std::move(r));
    } else if (strips) {
      std::string path = r.path().substr(folder.size() + 1);
      taken.push_back(std::move(r).with_path(std::move(path)));
    } else {
      taken.push_back(std::move(r));
    }
  }
  from = std::move(rest);
  return taken;
}

// In the run folder of a work directory the static libraries lie inside their application.
Status split_nested_libraries(Container& container) {
  std::vector<std::string> folders;
  for (const Resource& r : container.resources) {
    const std::string folder(io::folder_name(r.path()));
    if (io::file_name(r.path()) == "library.descriptor" && !folder.empty() &&
        folder.find('/') == std::string::npos) {
      folders.push_back(folder);
    }
  }
  for (const std::string& folder : folders) {
    auto library = std::make_unique<Container>();
    library->kind = ContainerKind::kStaticLibrary;
    library->name = folder;
    library->location = path_in(container.location, folder);
    library->resources = take_folder(container.resources, folder, /*strips=*/true);
    MS_TRY(read_descriptors(*library));
    library->name = folder;
    container.nested.push_back(std::move(library));
  }
  return {};
}

class BarReader {
 public:
  BarReader(std::string file, uint64_t unpacked_bytes_max)
      : file_(std::move(file)), unpacked_left_(unpacked_bytes_max) {}

  Result<Containers> read(std::string_view bytes) {
    if (const ArchiveKind* archive = archive_kind(file_)) {
      containers_.push_back(MS_TRY(read_archive({file_, std::string(bytes)}, *archive, file_, 1)));
      return std::move(containers_);
    }
    std::vector<io::ZipEntry> entries = MS_TRY(unpack(bytes, file_));
    auto loose = std::make_unique<Container>();
    loose->kind = ContainerKind::kIndependent;
    loose->name = std::string(io::file_name(file_));
    if (has_tail(loose->name, ".bar")) loose->name.resize(loose->name.size() - 4);
    loose->location = file_;
    for (io::ZipEntry& entry : entries) {
      const std::string where = file_ + "!/" + entry.name;
      if (const ArchiveKind* archive = archive_kind(entry.name)) {
        containers_.push_back(MS_TRY(read_archive(entry, *archive, where, 1)));
      } else if (entry.name == "META-INF/broker.xml") {
        MS_TRY(loose->bar_overrides.add_broker_xml(entry.content, where));
        loose->resources.emplace_back(entry.name, where, std::move(entry.content));
      } else if (has_tail(entry.name, ".cmf")) {
        return base::make_error_at(
            errors::kUnsupportedContent, {where, 0, 0},
            {"Compiled message flow (.cmf) of a release before IIB 10; build the BAR again with "
             "-deployAsSource, or give the project folder."});
      } else {
        loose->resources.emplace_back(entry.name, where, std::move(entry.content));
      }
    }
    split_policy_projects(*loose);
    const bool has_loose =
        std::any_of(loose->resources.begin(), loose->resources.end(), [](const Resource& r) {
          return r.has_extension(".msgflow") || r.has_extension(".subflow") ||
                 r.has_extension(".esql");
        });
    if (has_loose) containers_.push_back(std::move(loose));
    return std::move(containers_);
  }

 private:
  // One budget for all archives in it: each may be small and hold many that are not.
  Result<std::vector<io::ZipEntry>> unpack(std::string_view bytes, const std::string& where) {
    io::ZipLimits limits;
    limits.archive_bytes_max = std::min(limits.archive_bytes_max, unpacked_left_);
    std::vector<io::ZipEntry> entries = MS_TRY(io::read_zip(bytes, where, limits));
    for (const io::ZipEntry& e : entries)
      unpacked_left_ -= std::min(unpacked_left_, static_cast<uint64_t>(e.content.size()));
    return entries;
  }

  Result<std::unique_ptr<Container>> read_archive(const io::ZipEntry& entry,
                                                  const ArchiveKind& kind, const std::string& where,
                                                  int depth) {
    if (depth > kArchiveNestingMax) {
      return base::make_error_at(errors::kUnsupportedContent, {where, 0, 0},
                                 {"Archives are nested too deeply."});
    }
    auto container = std::make_unique<Container>();
    container->kind = kind.kind;
    container->name = std::string(io::file_name(entry.name));
    container->name.resize(container->name.size() - kind.extension.size());
    container->location = where;
    const std::string name = container->name;
    for (io::ZipEntry& inner : MS_TRY(unpack(entry.content, where))) {
      const std::string inner_where = where + "!/" + inner.name;
      if (const ArchiveKind* archive = archive_kind(inner.name)) {
        container->nested.push_back(MS_TRY(read_archive(inner, *archive, inner_where, depth + 1)));
      } else if (inner.name == "META-INF/broker.xml") {
        MS_TRY(container->bar_overrides.add_broker_xml(inner.content, inner_where));
        container->resources.emplace_back(inner.name, inner_where, std::move(inner.content));
      } else {
        container->resources.emplace_back(inner.name, inner_where, std::move(inner.content));
      }
    }
    MS_TRY(read_descriptors(*container));
    // The archive's own name is the deployed name; the descriptor only refines the kind.
    container->name = name;
    if (container->kind == ContainerKind::kOther ||
        container->kind == ContainerKind::kIndependent ||
        kind.kind == ContainerKind::kSharedLibrary) {
      container->kind = kind.kind;
    }
    return container;
  }

  // Policy projects travel as plain folders in a BAR.
  void split_policy_projects(Container& loose) {
    std::vector<std::string> folders;
    for (const Resource& r : loose.resources) {
      if (has_tail(r.path(), "/policy.descriptor")) folders.emplace_back(io::folder_name(r.path()));
    }
    for (const std::string& folder : folders) {
      auto project = std::make_unique<Container>();
      project->kind = ContainerKind::kPolicyProject;
      project->name = folder;
      project->location = file_ + "!/" + folder;
      project->resources = take_folder(loose.resources, folder, /*strips=*/false);
      containers_.push_back(std::move(project));
    }
  }

  std::string file_;
  uint64_t unpacked_left_;
  Containers containers_;
};

}  // namespace

std::string_view container_kind_name(ContainerKind kind) {
  switch (kind) {
    case ContainerKind::kApplication:
      return "application";
    case ContainerKind::kRestApi:
      return "REST API";
    case ContainerKind::kService:
      return "integration service";
    case ContainerKind::kStaticLibrary:
      return "static library";
    case ContainerKind::kSharedLibrary:
      return "shared library";
    case ContainerKind::kPolicyProject:
      return "policy project";
    case ContainerKind::kIndependent:
      return "independent resources";
    case ContainerKind::kOther:
      return "other project";
  }
  return "other project";
}

bool has_flows_to_run(ContainerKind kind) {
  return kind == ContainerKind::kApplication || kind == ContainerKind::kRestApi ||
         kind == ContainerKind::kService || kind == ContainerKind::kIndependent;
}

Result<std::string> Resource::read() const {
  if (is_in_memory_) return content_;
  return io::read_file(file_);
}

Status Resource::load() {
  if (is_in_memory_) return {};
  content_ = MS_TRY(io::read_file(file_));
  is_in_memory_ = is_loaded_ = true;
  return {};
}

void Resource::unload() {
  if (!is_loaded_) return;
  std::string().swap(content_);
  is_in_memory_ = is_loaded_ = false;
}

bool Resource::has_extension(std::string_view extension) const {
  return has_tail(path_, extension);
}

const Resource* Container::find(std::string_view path) const {
  for (const Resource& r : resources) {
    if (r.path() == path) return &r;
  }
  return nullptr;
}

base::Position Container::reference_position(std::string_view reference) const {
  auto it = references.find(reference);
  return it == references.end() ? base::Position{location, 0, 0} : it->second;
}

std::string folder_title(const std::string& folder) {
  std::string name(io::file_name(folder));
  if (!name.empty() && name != "." && name != "..") return name;
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(folder, error);
  return error || real.filename().empty() ? folder : real.filename().string();
}

std::string path_in(std::string_view folder, std::string_view name) {
  return folder == "." ? std::string(name) : io::join_path(folder, name);
}

Result<std::unique_ptr<Container>> load_project_folder(const std::string& folder) {
  auto container = std::make_unique<Container>();
  container->location = folder;
  container->name = folder_title(folder);
  for (std::string& path : MS_TRY(io::list_files(folder))) {
    if (is_tool_folder(path)) continue;
    std::string file = path_in(folder, path);
    container->resources.emplace_back(std::move(path), std::move(file));
  }
  MS_TRY(read_descriptors(*container));
  if (const Resource* broker_xml = container->find("META-INF/broker.xml")) {
    MS_TRY(container->bar_overrides.add_broker_xml(MS_TRY(broker_xml->read()), broker_xml->file()));
  }
  MS_TRY(split_nested_libraries(*container));
  if (container->kind == ContainerKind::kOther && !container->find(".project") &&
      !container->find("testproject.descriptor")) {
    return std::unique_ptr<Container>();
  }
  return container;
}

uint64_t source_bytes(const Container& container) {
  uint64_t bytes = 0;
  for (const Resource& r : container.resources) {
    for (std::string_view extension : {".esql", ".msgflow", ".subflow", ".xml", ".policyxml",
                                       ".xsd", ".json", ".yaml", ".yml", ".descriptor"}) {
      if (r.has_extension(extension)) bytes += r.content().size();
    }
  }
  for (const auto& nested : container.nested) bytes += source_bytes(*nested);
  return bytes;
}

Result<std::set<std::string, std::less<>>> names_in_bar(std::string_view bytes,
                                                        const std::string& name) {
  std::set<std::string, std::less<>> names;
  const auto add_archive = [&names](std::string_view path) {
    const ArchiveKind* archive = archive_kind(path);
    if (!archive) return false;
    std::string title(io::file_name(path));
    title.resize(title.size() - archive->extension.size());
    names.insert(std::move(title));
    return true;
  };
  if (add_archive(name)) return names;
  std::string title(io::file_name(name));
  if (has_tail(title, ".bar")) title.resize(title.size() - 4);
  for (const std::string& entry : MS_TRY(io::list_zip(bytes, name))) {
    if (add_archive(entry)) continue;
    if (has_tail(entry, "/policy.descriptor")) names.emplace(io::folder_name(entry));
    if (has_tail(entry, ".msgflow") || has_tail(entry, ".subflow") || has_tail(entry, ".esql")) {
      names.insert(title);
    }
  }
  return names;
}

Result<std::vector<std::unique_ptr<Container>>> load_bar(const std::string& file) {
  const std::string bytes = MS_TRY(io::read_file(file, 1ull << 30));
  return load_bar_bytes(bytes, file);
}

Result<std::vector<std::unique_ptr<Container>>> load_bar_bytes(std::string_view bytes,
                                                               const std::string& name,
                                                               uint64_t unpacked_bytes_max) {
  return BarReader(name, unpacked_bytes_max).read(bytes);
}

}  // namespace millstream::ace
