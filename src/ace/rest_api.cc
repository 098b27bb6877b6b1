#include "ace/rest_api.h"

#include <algorithm>

#include "ace/config_xml.h"
#include "ace/errors_gen.h"
#include "base/ascii.h"
#include "model/errors_gen.h"

namespace millstream::ace {
namespace {

constexpr const char* kDescriptorFile = "restapi.descriptor";

struct Descriptor {
  std::string file;  // for messages
  std::string definition, implementation;
  base::Position position, definition_position, implementation_position;
  std::vector<std::pair<std::string, base::Position>> operations;  // those with a subflow
  nodes::rest::RestApiOptions options;
};

bool is_true(std::string_view s) { return s == "true" || s == "1" || s == "TRUE"; }

// <validations><validation type="INPUT" allowUnexpectedBody=... onlyValidate2xx=.../>
void read_validations(const ConfigElement& root, Descriptor& out, base::Diagnostics& diagnostics) {
  const ConfigElement* list = root.child("validations");
  if (!list) return;
  for (const auto& v : list->children) {
    if (v->local != "validation") continue;
    const std::string_view type = v->attribute("type");
    if (type == "INPUT") {
      out.options.validates_requests = true;
    } else if (type == "OUTPUT") {
      out.options.validates_replies = true;
    } else {
      Status status = base::make_error(errors::kBadValidation, {type});
      diagnostics.error(status.error(), v->position);
    }
    out.options.allows_unexpected_body |= is_true(v->attribute("allowUnexpectedBody"));
    out.options.only_validates_2xx |= is_true(v->attribute("onlyValidate2xx"));
  }
}

base::Position position_of(const ConfigElement& e, std::string_view attribute) {
  const ConfigAttribute* a = e.find_attribute(attribute);
  return a ? a->position : e.position;
}

Result<Descriptor> read_descriptor(const Container& container, base::Diagnostics& diagnostics) {
  const Resource* resource = container.find(kDescriptorFile);
  if (!resource) {
    return base::make_error(errors::kNoRestDescriptor, {container.name});
  }
  Descriptor out;
  out.file = resource->file();
  const std::string bytes = MS_TRY(resource->read());
  const ConfigDocument document = MS_TRY(parse_config_xml(bytes, resource->file()));
  const ConfigElement& root = *document.root;
  out.definition = root.attribute("definitionFile");
  out.implementation = root.attribute("implementation");
  out.options.fault_format = root.attribute("faultFormat");
  out.position = root.position;
  out.definition_position = position_of(root, "definitionFile");
  out.implementation_position = position_of(root, "implementation");
  if (const ConfigElement* operations = root.child("operations")) {
    for (const auto& o : operations->children) {
      if (o->attribute("implementation").empty()) continue;
      out.operations.emplace_back(o->attribute("name"), position_of(*o, "name"));
    }
  }
  read_validations(root, out, diagnostics);
  return out;
}

// Labels are what RouteToLabel can reach.
std::set<std::string> labels_of(const FlowFile& flow) {
  std::set<std::string> out;
  for (const FlowFileNode& n : flow.nodes) {
    if (n.type != "ComIbmLabel") continue;
    const flow::Property* label = n.properties.find("labelName");
    if (label) out.emplace(base::trim_white_space(label->value));
  }
  return out;
}

std::string flow_name_of(std::string path) {
  const size_t dot = path.rfind('.');
  if (dot != std::string::npos) path.resize(dot);
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

// What keeps values from being checked matters only when they are to be.
void report_schema_problems(const model::ApiDocument& document, const std::string& file,
                            bool is_validating, base::Diagnostics& diagnostics) {
  for (const auto& problem : document.schema_problems()) {
    base::Position position = problem->position;
    if (position.file.empty()) position.file = file;
    if (is_validating) {
      diagnostics.error(*problem, position);
    } else {
      diagnostics.warning(position, problem->code->id, problem->text);
    }
  }
  for (const auto& warning : document.warnings()) {
    if (!is_validating && warning->code == &model::errors::kUncheckedBody) continue;
    diagnostics.warning(warning->position, warning->code->id, warning->text);
  }
}

Result<std::string> read_document(const Resource& resource) {
  std::string bytes = MS_TRY(resource.read());
  if (bytes.size() > kApiDocumentBytesMax) {
    return base::make_error_at(errors::kSourceTooLarge, {resource.file(), 0, 0},
                               {resource.file(), bytes.size(), kApiDocumentBytesMax});
  }
  return bytes;
}

// What a document of `own` refers to: there, else in the other units.
model::ProjectReader reader_beside(const Container* own, const std::vector<const Container*>& all) {
  std::vector<const Container*> units = {own};
  for (const Container* unit : all) {
    if (unit != own) units.push_back(unit);
  }
  return [units = std::move(units)](const std::string& path) -> Result<model::ProjectFile> {
    for (const Container* unit : units) {
      const Resource* resource = unit->find(path);
      if (resource) return model::ProjectFile{MS_TRY(read_document(*resource)), resource->file()};
    }
    return base::make_error(errors::kDocumentNotFound, {path});
  };
}

}  // namespace

nodes::common::ApiDocuments::Reader document_reader(std::vector<const Container*> units) {
  return [units = std::move(units)](
             std::string_view path) -> Result<nodes::common::ApiDocuments::File> {
    std::string plain(path);
    std::replace(plain.begin(), plain.end(), '\\', '/');
    if (plain.starts_with('/')) plain.erase(0, 1);
    // "{Library}:file" and "{Library}/file" name the library that is looked through anyway.
    if (const size_t brace = plain.find('}'); plain.starts_with('{') && brace < plain.size()) {
      plain.erase(0, brace + 1);
      if (plain.starts_with(':') || plain.starts_with('/')) plain.erase(0, 1);
    }
    for (const Container* unit : units) {
      const Resource* resource = unit->find(plain);
      if (!resource) continue;
      return nodes::common::ApiDocuments::File{MS_TRY(read_document(*resource)), resource->file(),
                                               plain, reader_beside(unit, units)};
    }
    return base::make_error(errors::kDocumentNotFound, {path});
  };
}

void apply_rest_api(nodes::rest::RestApi& api, flow::FlowDefinition& definition) {
  if (!api.is_for(definition.name)) return;
  for (flow::NodeDefinition& n : definition.nodes) {
    if (n.type != "ComIbmWSInput") continue;
    const std::string& format = api.options().fault_format;
    if (!format.empty() && !n.properties.find("faultFormat")) {
      n.properties.set("faultFormat", {format, n.properties.position, kDescriptorFile});
    }
    const flow::Property* validation = n.properties.find("validateMaster");
    if (!validation || (validation->value != "content" && validation->value != "contentAndValue")) {
      continue;
    }
    api.validate_requests();
    flow::Property none = *validation;
    none.value = "none";
    n.properties.set("validateMaster", std::move(none));
  }
}

std::shared_ptr<nodes::rest::RestApi> load_rest_api(const Container& container,
                                                    const FlowSet& flows,
                                                    nodes::common::ApiDocuments& documents,
                                                    base::NameTable& names,
                                                    base::Diagnostics& diagnostics) {
  Result<Descriptor> read = read_descriptor(container, diagnostics);
  if (!read.ok()) {
    diagnostics.error(read.error(), {container.location, 0, 0});
    return nullptr;
  }
  Descriptor& descriptor = read.value();
  const FlowFile* flow = flows.find(descriptor.implementation);
  if (!flow || descriptor.implementation.empty()) {
    Status status = base::make_error(errors::kNoRestFlow, {descriptor.implementation});
    diagnostics.error(status.error(), descriptor.implementation_position);
    return nullptr;
  }
  auto document = documents.find(descriptor.definition);
  if (!document.ok()) {
    diagnostics.error(document.error(), descriptor.definition_position);
    return nullptr;
  }
  nodes::rest::RestApiOptions& options = descriptor.options;
  options.name = container.name;
  options.flow_name = flow_name_of(flow->path);
  options.document_name = descriptor.definition.substr(descriptor.definition.rfind('/') + 1);
  options.implemented = labels_of(*flow);
  for (const auto& [name, position] : descriptor.operations) {
    if (document.value()->find_operation(name)) continue;
    Status status = base::make_error(errors::kUnknownRestOperation, {name, descriptor.definition});
    diagnostics.warning(position, status.error().code->id, status.error().text);
  }
  const bool is_validating = options.validates_requests || options.validates_replies;
  report_schema_problems(*document.value(), descriptor.definition, is_validating, diagnostics);
  return nodes::rest::RestApi::create(document.value(), std::move(options), names);
}

}  // namespace millstream::ace
