#include "flowtest/test_import.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "flowtest/errors_gen.h"
#include "flowtest/java_source.h"
#include "io/file.h"

namespace millstream::flowtest {
namespace {

namespace fs = std::filesystem;

std::set<std::string> applications_of(std::string_view source) {
  std::set<std::string> names;
  size_t from = 0;
  std::vector<std::string> arguments;
  std::string name;
  while (find_java_call(source, "application", from, arguments)) {
    if (!arguments.empty() && java_string(arguments[0], name)) names.insert(name);
  }
  return names;
}

bool is_test_project(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "testproject.descriptor", error);
}

// The folder of an application: beside the test project, or anywhere below the folder above it.
std::string find_application(const fs::path& test_project, const std::string& name) {
  std::error_code error;
  for (fs::path at = test_project.parent_path(), i; !at.empty(); at = at.parent_path()) {
    if (fs::is_directory(at / name, error)) return (at / name).string();
    if (at == at.root_path()) break;
  }
  return {};
}

std::string relative_to(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path out = fs::proximate(fs::absolute(path, error), fs::absolute(folder, error), error);
  return out.empty() ? path.string() : out.string();
}

Status import_project(const fs::path& project, const std::string& output,
                      std::vector<ImportedFile>& files) {
  std::error_code error;
  std::vector<fs::path> sources;
  std::map<std::string, fs::path> recordings;
  for (fs::recursive_directory_iterator it(project, error), end; !error && it != end;
       it.increment(error)) {
    const std::string path = it->path().string();
    if (it->path().extension() == ".java") sources.push_back(it->path());
    if (it->path().extension() == ".mxml" && path.find("/bin/") == std::string::npos) {
      recordings[it->path().filename().string()] = it->path();
    }
  }
  std::sort(sources.begin(), sources.end());
  const fs::path target = output.empty() ? project : fs::path(output);
  MS_TRY(io::make_folders(target.string()));
  for (const fs::path& source : sources) {
    const std::string text = MS_TRY(io::read_file(source.string()));
    std::vector<std::pair<std::string, std::string>> resources;
    for (const auto& [name, path] : recordings) {
      resources.emplace_back(name, relative_to(path, target));
    }
    std::vector<std::string> projects;
    for (const std::string& name : applications_of(text)) {
      const std::string found = find_application(fs::absolute(project, error), name);
      projects.push_back(found.empty() ? name : relative_to(found, target));
    }
    ImportedFile file;
    const std::string content =
        import_java(text, source.stem().string(), resources, projects, file.tests);
    if (file.tests.empty()) continue;
    file.path = (target / (source.stem().string() + ".flowtest")).string();
    if (fs::exists(file.path, error)) return base::make_error(errors::kFileExists, {file.path});
    MS_TRY(io::write_file(file.path, content));
    files.push_back(std::move(file));
  }
  return {};
}

}  // namespace

Result<std::vector<ImportedFile>> import_test_projects(const std::string& folder,
                                                       const std::string& output) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return base::make_error(errors::kTestIo, {folder});
  std::vector<fs::path> projects;
  if (is_test_project(folder)) projects.emplace_back(folder);
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_directory(error) && is_test_project(it->path())) projects.push_back(it->path());
  }
  if (projects.empty()) return base::make_error(errors::kNoTestProject, {folder});
  std::sort(projects.begin(), projects.end());
  std::vector<ImportedFile> files;
  for (const fs::path& project : projects) MS_TRY(import_project(project, output, files));
  return files;
}

}  // namespace millstream::flowtest
