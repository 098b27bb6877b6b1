#include "ace/application.h"

#include <algorithm>
#include <set>

#include "ace/errors_gen.h"
#include "ace/flatten.h"
#include "ace/flow_file.h"
#include "nodes/registry.h"

namespace millstream::ace {
namespace {

std::string schema_of(const std::string& path) {
  std::string schema = path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  std::replace(schema.begin(), schema.end(), '/', '.');
  return schema;
}

bool has_input_node(const FlowFile& file) {
  return std::any_of(file.nodes.begin(), file.nodes.end(), [](const FlowFileNode& n) {
    const flow::NodeType* type = nodes::node_registry().find(n.type);
    return type && type->is_input;
  });
}

bool is_subflow_shaped(const FlowFile& file) {
  return std::any_of(file.nodes.begin(), file.nodes.end(),
                     [](const FlowFileNode& n) { return n.type == "eflow:FCMSource"; });
}

}  // namespace

class ApplicationBuilder {
 public:
  ApplicationBuilder(const Workspace& workspace, const Container& container, BuildOptions& options,
                     base::Diagnostics& diagnostics)
      : container_(container),
        options_(options),
        diagnostics_(diagnostics),
        application_(std::make_unique<Application>()) {
    units_ = libraries_of(workspace, container, diagnostics);
    units_.insert(units_.begin(), &container);
  }

  std::unique_ptr<Application> build() {
    const size_t errors_before = diagnostics_.error_count();
    application_->context_.name = container_.name;
    application_->context_.server_name = options_.server_name;
    application_->context_.work_path = options_.work_path;
    application_->context_.user_variables = options_.user_variables;
    application_->context_.drives = options_.drives;
    for (size_t i = 1; i < units_.size(); ++i) {
      application_->context_.library_names.push_back(units_[i]->name);
    }
    application_->names_ = std::make_shared<base::NameTable>();
    overrides_ = *options_.overrides;
    refuse_unsupported();
    read_flow_files();
    compile_esql();
    application_->services_ = *options_.services;
    application_->services_.set(&application_->context_);
    // Without working ESQL every Compute node would add an error that says nothing new.
    if (!application_->program_->has_errors()) {
      application_->runtime_ = std::make_unique<nodes::common::EsqlRuntime>(application_->program_,
                                                                            application_->names_);
      application_->services_.set(application_->runtime_.get());
      build_flows();
      if (options_.checks_unused_subflows) build_unused_subflows();
    }
    application_->names_->freeze();
    if (diagnostics_.error_count() != errors_before) return nullptr;
    return std::move(application_);
  }

 private:
  void refuse_unsupported() {
    if (container_.kind != ContainerKind::kRestApi) return;
    const Resource* descriptor = container_.find("restapi.descriptor");
    Status status = base::make_error(errors::kUnsupportedContent,
                                     {"'" + container_.name +
                                      "' is a REST API: choosing the operation from its OpenAPI "
                                      "document is not supported yet."});
    diagnostics_.error(status.error(),
                       {descriptor ? descriptor->file() : container_.location, 1, 1});
  }

  void read_flow_files() {
    for (size_t unit = 0; unit < units_.size(); ++unit) {
      merge_bar_overrides(*units_[unit]);
      for (const Resource& r : units_[unit]->resources) {
        if (!r.has_extension(".msgflow") && !r.has_extension(".subflow")) continue;
        Result<std::string> bytes = r.read();
        if (!bytes.ok()) {
          diagnostics_.error(bytes.error(), {r.file(), 0, 0});
          continue;
        }
        Result<FlowFile> file = parse_flow_file(bytes.value(), r.path(), r.file());
        if (!file.ok()) {
          diagnostics_.error(file.error(), {r.file(), 0, 0});
          continue;
        }
        file.value().unit = static_cast<uint32_t>(unit);
        files_.push_back(std::make_unique<FlowFile>(std::move(file).value()));
      }
    }
  }

  // What an overrides file says stays; BAR overrides fill the rest.
  void merge_bar_overrides(const Container& unit) { overrides_.add_all(unit.bar_overrides); }

  void compile_esql() {
    application_->program_ = std::make_shared<esql::Program>();
    esql::Program& program = *application_->program_;
    for (size_t unit = 0; unit < units_.size(); ++unit) {
      for (const Resource& r : units_[unit]->resources) {
        if (!r.has_extension(".esql")) continue;
        Result<std::string> text = r.read();
        if (!text.ok()) {
          diagnostics_.error(text.error(), {r.file(), 0, 0});
          continue;
        }
        program.add_file(
            {r.file(), std::move(text).value(), schema_of(r.path()), static_cast<uint32_t>(unit)});
      }
    }
    program.link(nodes::common::esql_link_options(*application_->names_));
    for (const esql::Diagnostic& d : program.diagnostics()) {
      base::Position position{d.file, d.line, d.column};
      if (d.level == esql::DiagnosticLevel::kError) {
        diagnostics_.error(std::move(position), d.code, d.text);
      } else {
        diagnostics_.warning(std::move(position), d.code, d.text);
      }
    }
  }

  const FlowFile* find_subflow(std::string_view path) {
    const FlowFile* found = nullptr;
    for (const auto& f : files_) {
      if (f->path == path) {
        found = f.get();
        break;
      }
    }
    // Some tools put the sources below a folder of their own.
    for (const auto& f : files_) {
      if (found) break;
      if (f->path.size() > path.size() && f->path[f->path.size() - path.size() - 1] == '/' &&
          f->path.compare(f->path.size() - path.size(), path.size(), path) == 0) {
        found = f.get();
      }
    }
    if (found) used_.insert(found);
    return found;
  }

  void build_flow(const FlowFile& file) {
    SubflowFinder finder = [this](std::string_view path) { return find_subflow(path); };
    std::unique_ptr<flow::FlowDefinition> definition =
        flatten_flow(file, container_.name, finder, overrides_, diagnostics_);
    if (!definition) return;
    if (file.unit > 0) definition->library = units_[file.unit]->name;
    std::unique_ptr<flow::Flow> flow =
        flow::build_flow(*definition, nodes::node_registry(), application_->services_,
                         application_->names_, options_.server_name, diagnostics_);
    if (!flow) return;
    const flow::Property* mode = definition->properties.find("startMode");
    application_->starts_by_hand_.push_back(mode && mode->value == "manual");
    application_->flows_.push_back(std::move(flow));
  }

  void build_flows() {
    for (const auto& f : files_) {
      const bool is_flow =
          f->file.size() > 8 && f->file.compare(f->file.size() - 8, 8, ".msgflow") == 0;
      if (!is_flow) continue;
      // Older projects use one flow as a subflow of another.
      if (is_subflow_shaped(*f) && !has_input_node(*f)) continue;
      used_.insert(f.get());
      build_flow(*f);
    }
  }

  // Their nodes may be unsupported just as those of flows; what they build is not kept.
  void build_unused_subflows() {
    const size_t kept = application_->flows_.size();
    for (const auto& f : files_) {
      if (used_.count(f.get()) == 0) build_flow(*f);
    }
    application_->flows_.resize(kept);
    application_->starts_by_hand_.resize(kept);
  }

  const Container& container_;
  BuildOptions& options_;
  base::Diagnostics& diagnostics_;
  std::unique_ptr<Application> application_;
  std::vector<const Container*> units_;
  std::vector<std::unique_ptr<FlowFile>> files_;
  std::set<const FlowFile*> used_;
  Overrides overrides_;

 public:
  const Overrides& overrides() const { return overrides_; }
};

Status Application::start() {
  for (size_t i = 0; i < flows_.size(); ++i) {
    if (starts_by_hand_[i]) continue;
    Status status = flows_[i]->start();
    if (!status.ok()) {
      for (size_t j = 0; j <= i; ++j) flows_[j]->stop();
      return status;
    }
  }
  return {};
}

void Application::stop() {
  for (const auto& flow : flows_) flow->stop();
}

std::unique_ptr<Application> build_application(const Workspace& workspace,
                                               const Container& container, BuildOptions& options,
                                               base::Diagnostics& diagnostics) {
  ApplicationBuilder builder(workspace, container, options, diagnostics);
  std::unique_ptr<Application> application = builder.build();
  options.overrides->note_used(builder.overrides());
  return application;
}

void check_library(const Workspace& workspace, const Container& library, BuildOptions& options,
                   base::Diagnostics& diagnostics) {
  BuildOptions checking = options;
  checking.checks_unused_subflows = true;
  build_application(workspace, library, checking, diagnostics);
}

}  // namespace millstream::ace
