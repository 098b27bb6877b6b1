#include "ace/descriptors.h"

#include <algorithm>

#include "ace/config_xml.h"
#include "base/ascii.h"

namespace millstream::ace {
namespace {

bool has_nature(const ConfigElement& project, std::string_view part) {
  const ConfigElement* natures = project.child("natures");
  if (!natures) return false;
  for (const auto& n : natures->children) {
    if (n->text.find(part) != std::string::npos) return true;
  }
  return false;
}

ContainerKind kind_of_project(const ConfigElement& project) {
  if (has_nature(project, "restapi.ui.Nature")) return ContainerKind::kRestApi;
  if (has_nature(project, "serviceApplicationNature")) return ContainerKind::kService;
  if (has_nature(project, "sharedLibraryNature")) return ContainerKind::kSharedLibrary;
  if (has_nature(project, "libraryNature")) return ContainerKind::kStaticLibrary;
  if (has_nature(project, "policy.ui.Nature")) return ContainerKind::kPolicyProject;
  if (has_nature(project, "testProjectNature")) return ContainerKind::kOther;
  if (has_nature(project, "applicationNature")) return ContainerKind::kApplication;
  if (has_nature(project, "messageBrokerProjectNature")) return ContainerKind::kIndependent;
  return ContainerKind::kOther;
}

Status read_project_file(Container& container) {
  const Resource* resource = container.find(".project");
  if (!resource) return {};
  const std::string bytes = MS_TRY(resource->read());
  const ConfigDocument document = MS_TRY(parse_config_xml(bytes, resource->file()));
  if (const ConfigElement* name = document.root->child("name")) {
    if (std::string_view text = base::trim_white_space(name->text); !text.empty())
      container.name = text;
  }
  if (const ConfigElement* projects = document.root->child("projects")) {
    for (const auto& p : projects->children) {
      container.projects.emplace_back(base::trim_white_space(p->text));
      container.references.emplace(container.projects.back(), p->position);
    }
  }
  container.kind = kind_of_project(*document.root);
  return {};
}

struct DescriptorKind {
  std::string_view file;
  ContainerKind kind;
};
constexpr DescriptorKind kDescriptors[] = {
    {"restapi.descriptor", ContainerKind::kRestApi},
    {"service.descriptor", ContainerKind::kService},
    {"application.descriptor", ContainerKind::kApplication},
    {"library.descriptor", ContainerKind::kStaticLibrary},
    {"policy.descriptor", ContainerKind::kPolicyProject},
    {"testproject.descriptor", ContainerKind::kOther},
};

void collect_library_names(const ConfigElement& root, Container& container) {
  std::vector<const ConfigElement*> pending = {&root};
  while (!pending.empty()) {
    const ConfigElement* e = pending.back();
    pending.pop_back();
    for (const auto& c : e->children) {
      if (c->local == "libraryName") {
        container.shared_libraries.emplace_back(base::trim_white_space(c->text));
        container.references[container.shared_libraries.back()] = c->position;
      } else if (c->local.find("ference") != std::string::npos) {
        pending.push_back(c.get());
      }
    }
  }
}

}  // namespace

Status read_descriptors(Container& container) {
  MS_TRY(read_project_file(container));
  bool has_kind =
      container.kind != ContainerKind::kOther && container.kind != ContainerKind::kIndependent;
  for (const DescriptorKind& d : kDescriptors) {
    const Resource* resource = container.find(d.file);
    if (!resource) continue;
    const std::string bytes = MS_TRY(resource->read());
    const ConfigDocument document = MS_TRY(parse_config_xml(bytes, resource->file()));
    collect_library_names(*document.root, container);
    if (has_kind) continue;
    container.kind = d.kind;
    has_kind = true;
    if (document.root->attribute("type").find("sharedLibrary") != std::string_view::npos) {
      container.kind = ContainerKind::kSharedLibrary;
    }
  }
  std::sort(container.shared_libraries.begin(), container.shared_libraries.end());
  container.shared_libraries.erase(
      std::unique(container.shared_libraries.begin(), container.shared_libraries.end()),
      container.shared_libraries.end());
  return {};
}

}  // namespace millstream::ace
