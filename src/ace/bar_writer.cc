#include "ace/bar_writer.h"

#include <algorithm>
#include <set>

#include "ace/errors_gen.h"
#include "io/zip_writer.h"

namespace millstream::ace {
namespace {

class BarBuilder {
 public:
  BarBuilder(const Workspace& workspace, const std::string& name, base::Diagnostics& diagnostics)
      : workspace_(workspace), name_(name), diagnostics_(diagnostics) {}

  Result<BarFile> build() {
    const Container* loose = nullptr;
    for (const auto& c : workspace_.containers) {
      switch (c->kind) {
        case ContainerKind::kApplication:
        case ContainerKind::kRestApi:
        case ContainerKind::kService:
          MS_TRY(add_archive(*c, ".appzip"));
          break;
        case ContainerKind::kSharedLibrary:
          MS_TRY(add_archive(*c, ".shlibzip"));
          break;
        case ContainerKind::kPolicyProject:
          MS_TRY(add_resources(*c, bar_, name_ + "!/", c->name + "/"));
          bar_file_.names.push_back(c->name);
          break;
        case ContainerKind::kIndependent:
          if (loose) {
            return base::make_error_at(errors::kTwoLooseProjects, {c->location, 0, 0},
                                       {loose->name, c->name});
          }
          loose = c.get();
          MS_TRY(add_resources(*c, bar_, name_ + "!/", ""));
          bar_file_.names.push_back(c->name);
          break;
        case ContainerKind::kStaticLibrary:
        case ContainerKind::kOther:
          break;
      }
    }
    bar_file_.bytes = MS_TRY(std::move(bar_).finish(name_));
    return std::move(bar_file_);
  }

 private:
  Status add_archive(const Container& container, const char* extension) {
    const std::string entry = container.name + extension;
    const std::string where = name_ + "!/" + entry;
    bar_.add(entry, MS_TRY(archive(container, where, /*takes_libraries=*/true)));
    bar_file_.names.push_back(container.name);
    return {};
  }

  // Only at the top: libraries_of() has found those that libraries use, too.
  Result<std::string> archive(const Container& container, const std::string& where,
                              bool takes_libraries) {
    io::ZipWriter zip;
    MS_TRY(add_resources(container, zip, where + "!/", ""));
    std::vector<const Container*> libraries;
    for (const auto& nested : container.nested) libraries.push_back(nested.get());
    if (takes_libraries) {
      for (const Container* l : libraries_of(workspace_, container, diagnostics_)) {
        if (l->kind == ContainerKind::kStaticLibrary &&
            std::find(libraries.begin(), libraries.end(), l) == libraries.end()) {
          libraries.push_back(l);
        }
      }
    }
    for (const Container* l : libraries) {
      const std::string entry = l->name + ".libzip";
      zip.add(entry, MS_TRY(archive(*l, where + "!/" + entry, /*takes_libraries=*/false)));
    }
    return std::move(zip).finish(where);
  }

  Status add_resources(const Container& container, io::ZipWriter& zip, const std::string& where,
                       const std::string& folder) {
    for (const Resource& r : container.resources) {
      // Those of policy projects that came out of a BAR have their folder already.
      const bool has_folder = !folder.empty() && r.path().starts_with(folder);
      const std::string path = has_folder ? r.path() : folder + r.path();
      zip.add(path, MS_TRY(r.read()));
      bar_file_.sources[where + path] = r.file();
    }
    return {};
  }

  const Workspace& workspace_;
  const std::string name_;
  base::Diagnostics& diagnostics_;
  io::ZipWriter bar_;
  BarFile bar_file_;
};

}  // namespace

Result<BarFile> make_bar(const Workspace& workspace, const std::string& name,
                         base::Diagnostics& diagnostics) {
  return BarBuilder(workspace, name, diagnostics).build();
}

}  // namespace millstream::ace
