#include "ace/application.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ace/errors_gen.h"
#include "ace/flatten.h"
#include "ace/flow_set.h"
#include "ace/known_nodes.h"
#include "ace/rest_api.h"
#include "esql/line_hits.h"
#include "nodes/registry.h"

namespace millstream::ace {
namespace {

std::string schema_of(const std::string& path) {
  std::string schema = path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  std::replace(schema.begin(), schema.end(), '/', '.');
  return schema;
}

std::string with_article(std::string_view name) {
  const bool is_spelled = name.substr(0, 2) == "MQ" || name.substr(0, 4) == "HTTP" ||
                          name.substr(0, 3) == "XSL" || name.substr(0, 3) == "FTE";
  const bool is_vowel = std::string_view("AEIO").find(name[0]) != std::string_view::npos;
  return (is_spelled || is_vowel ? "an " : "a ") + std::string(name);
}

// Errors that a library which is not there may explain.
bool may_be_in_library(const std::string& code) {
  return code == "MS1605" || code == "MS1861" || code == errors::kSubflowNotFound.id;
}

// What is left of a flow without the nodes of unknown types, which have their own diagnostics: the
// rest of it can then be checked too. True when there were any.
bool remove_unknown_nodes(flow::FlowDefinition& definition) {
  constexpr size_t kGone = static_cast<size_t>(-1);
  std::vector<size_t> moved(definition.nodes.size(), kGone);
  std::vector<flow::NodeDefinition> kept;
  for (size_t i = 0; i < definition.nodes.size(); ++i) {
    if (!nodes::node_registry().find(definition.nodes[i].type)) continue;
    moved[i] = kept.size();
    kept.push_back(std::move(definition.nodes[i]));
  }
  const bool has_unknown = kept.size() != moved.size();
  definition.nodes = std::move(kept);
  if (!has_unknown) return false;
  std::vector<flow::ConnectionDefinition> connections;
  for (flow::ConnectionDefinition& c : definition.connections) {
    if (moved[c.source] == kGone || moved[c.target] == kGone) continue;
    c.source = moved[c.source];
    c.target = moved[c.target];
    connections.push_back(std::move(c));
  }
  definition.connections = std::move(connections);
  return true;
}

// The same place is often met several times: a subflow in twenty flows, a library of ten
// applications.
std::string place_of(const base::Diagnostic& d) {
  std::string key = d.position.file + ":" + std::to_string(d.position.line) + ":" +
                    std::to_string(d.position.column) + ":" + d.code;
  return d.position.line == 0 ? key + d.text : key;
}

}  // namespace

class ApplicationBuilder {
 public:
  ApplicationBuilder(const Workspace& workspace, const Container& container, BuildOptions& options)
      : workspace_(workspace),
        container_(container),
        options_(options),
        application_(std::make_unique<Application>()) {
    units_ = libraries_of(workspace, container, diagnostics_);
    is_library_missing_ = diagnostics_.has_errors();
    units_.insert(units_.begin(), &container);
  }

  std::unique_ptr<Application> build() {
    application_->context_.name = container_.name;
    application_->kind_ = container_.kind;
    application_->context_.server_name = options_.server_name;
    application_->context_.work_path = options_.work_path;
    application_->context_.user_variables = options_.user_variables;
    application_->context_.drives = options_.drives;
    for (size_t i = 1; i < units_.size(); ++i) {
      application_->context_.library_names.push_back(units_[i]->name);
    }
    application_->names_ = std::make_shared<base::NameTable>();
    overrides_ = *options_.overrides;
    read_flow_files();
    if (is_cancelled() || !compile_esql()) return nullptr;
    application_->services_ = *options_.services;
    application_->services_.set(&application_->context_);
    application_->policies_ = options_.policies;
    if (application_->policies_) application_->services_.set(application_->policies_.get());
    if (!application_->program_->has_errors()) {
      application_->runtime_ = std::make_unique<nodes::common::EsqlRuntime>(
          application_->program_, application_->names_, options_.services->find<value::TimeZone>());
      application_->services_.set(application_->runtime_.get());
    }
    load_documents();
    build_flows();
    for (const auto& f : flows_->files()) {
      if (used_.count(f.get()) != 0) check_node_types(*f);
    }
    if (options_.checks_unused_subflows) build_unused_subflows();
    application_->names_->freeze();
    explain_missing();
    if (diagnostics_.has_errors() || is_cancelled()) return nullptr;
    return std::move(application_);
  }

  // Hands over what was found, each place once.
  void report(base::Diagnostics& out) const {
    size_t hidden = 0;
    for (const base::Diagnostic& d : diagnostics_.all()) {
      if (is_library_missing_ && may_be_in_library(d.code)) {
        ++hidden;
      } else if (options_.reported.insert(place_of(d)).second) {
        out.add(d);
      }
    }
    if (hidden == 0) return;
    Status status = base::make_error(errors::kHiddenErrors, {hidden});
    out.warning({container_.location, 0, 0}, status.error().code->id, status.error().text);
  }

 private:
  // The gate of a REST API, and the documents that its own nodes and others' need.
  void load_documents() {
    application_->documents_ =
        std::make_unique<nodes::common::ApiDocuments>(document_reader(units_));
    application_->services_.set(application_->documents_.get());
    if (container_.kind != ContainerKind::kRestApi) return;
    application_->rest_api_ = load_rest_api(container_, *flows_, *application_->documents_,
                                            *application_->names_, diagnostics_);
    application_->services_.set<nodes::common::RestGate>(application_->rest_api_.get());
  }

  // A project that .project names may be a library or anything else; it only matters when something
  // cannot be found.
  void explain_missing() {
    const auto& all = diagnostics_.all();
    if (std::none_of(all.begin(), all.end(), [](const base::Diagnostic& d) {
          return d.severity == base::DiagnosticSeverity::kError && may_be_in_library(d.code);
        })) {
      return;
    }
    for (const Container* unit : units_) {
      for (const std::string& name : unit->projects) {
        const auto& shared = unit->shared_libraries;
        if (name.empty() || workspace_.knows(name) ||
            std::find(shared.begin(), shared.end(), name) != shared.end()) {
          continue;
        }
        Status status = base::make_error(errors::kProjectNotFound, {unit->name, name});
        diagnostics_.warning(unit->reference_position(name), status.error().code->id,
                             status.error().text);
      }
    }
  }

  void check_node_types(const FlowFile& file) {
    for (const FlowFileNode& n : file.nodes) {
      if (n.type.empty() || nodes::node_registry().find(n.type)) continue;
      const KnownNode* known = find_known_node(n.type);
      Status status = known ? base::make_error(errors::kUnsupportedNode,
                                               {n.label, with_article(known->name), n.type,
                                                known->needs, advice_for(*known)})
                            : base::make_error(errors::kUserDefinedNode, {n.label, n.type});
      diagnostics_.error(status.error(), n.properties.position);
    }
  }

  void read_flow_files() {
    for (const Container* unit : units_) merge_bar_overrides(*unit);
    flows_ = std::make_unique<FlowSet>(units_, diagnostics_);
  }

  // What an overrides file says stays; BAR overrides fill the rest.
  void merge_bar_overrides(const Container& unit) { overrides_.add_all(unit.bar_overrides); }

  bool is_cancelled() const { return options_.is_cancelled && options_.is_cancelled(); }

  // False: it was cancelled.
  bool compile_esql() {
    application_->program_ = std::make_shared<esql::Program>();
    esql::Program& program = *application_->program_;
    for (size_t unit = 0; unit < units_.size(); ++unit) {
      for (const Resource& r : units_[unit]->resources) {
        if (!r.has_extension(".esql")) continue;
        if (is_cancelled()) return false;
        Result<std::string> text = r.read();
        if (!text.ok()) {
          diagnostics_.error(text.error(), {r.file(), 0, 0});
          continue;
        }
        program.add_file(
            {r.file(), std::move(text).value(), schema_of(r.path()), static_cast<uint32_t>(unit)});
      }
    }
    esql::LinkOptions link = nodes::common::esql_link_options(*application_->names_);
    link.hits = options_.services->find<esql::LineHits>();
    if (is_cancelled()) return false;
    program.link(std::move(link));
    for (const esql::Diagnostic& d : program.diagnostics()) {
      base::Position position{d.file, d.line, d.column};
      if (d.level == esql::DiagnosticLevel::kError) {
        diagnostics_.error(std::move(position), d.code, d.text);
      } else {
        diagnostics_.warning(std::move(position), d.code, d.text);
      }
    }
    return !is_cancelled();
  }

  const FlowFile* find_subflow(std::string_view path) {
    const FlowFile* found = flows_->find(path);
    if (found) used_.insert(found);
    return found;
  }

  void build_flow(const FlowFile& file) {
    SubflowFinder finder = [this](std::string_view path) { return find_subflow(path); };
    std::unique_ptr<flow::FlowDefinition> definition =
        flatten_flow(file, container_.name, finder, overrides_, diagnostics_);
    overrides_.note_known(flow_names(file), [this](std::string_view name) {
      const auto& externals = application_->program_->externals();
      return std::any_of(externals.begin(), externals.end(),
                         [name](const esql::ast::Variable* v) { return v->name == name; });
    });
    if (definition && application_->rest_api_) {
      apply_rest_api(*application_->rest_api_, *definition);
    }
    // Without working ESQL every Compute node would add an error that says nothing new.
    if (!definition || !application_->runtime_) return;
    const bool is_whole = !remove_unknown_nodes(*definition);
    base::Diagnostics found;
    std::unique_ptr<flow::Flow> flow =
        flow::build_flow(*definition, nodes::node_registry(), application_->services_,
                         application_->names_, options_.server_name, found);
    for (const base::Diagnostic& d : found.all()) {
      const bool is_about_input = d.code == "MS1712";
      if (!is_about_input || (is_whole && is_message_flow(file))) diagnostics_.add(d);
    }
    if (!flow || !is_whole) return;
    const flow::Property* mode = definition->properties.find("startMode");
    base::Position position{file.file, 0, 0};
    for (const FlowFileNode& n : file.nodes) {
      const flow::NodeType* type = nodes::node_registry().find(n.type);
      if (type && type->is_input && position.line == 0) position = n.properties.position;
    }
    application_->starts_.push_back(
        {mode && mode->value == "manual", mode && mode->value == "automatic", std::move(position)});
    application_->flows_.push_back(std::move(flow));
  }

  void build_flows() {
    for (const auto& f : flows_->files()) {
      if (!flows_->is_main_flow(*f) || is_cancelled()) continue;
      used_.insert(f.get());
      build_flow(*f);
    }
  }

  // Their nodes may be unsupported just as those of flows; what they build is not kept. In an
  // application nothing runs them, so that they do not refuse it.
  void build_unused_subflows() {
    const size_t kept = application_->flows_.size();
    base::Diagnostics before;
    if (has_flows_to_run(container_.kind)) std::swap(before, diagnostics_);
    const std::set<const FlowFile*> used_by_flows = used_;
    for (const auto& f : flows_->files()) {
      if (used_by_flows.count(f.get()) != 0) continue;
      if (f->unit > 0 && is_message_flow(*f) &&
          units_[f->unit]->kind == ContainerKind::kIndependent) {
        continue;
      }
      check_node_types(*f);
      build_flow(*f);
    }
    application_->flows_.resize(kept);
    application_->starts_.resize(kept);
    if (!has_flows_to_run(container_.kind)) return;
    for (base::Diagnostic d : diagnostics_.all()) {
      if (d.severity == base::DiagnosticSeverity::kError) {
        d.severity = base::DiagnosticSeverity::kWarning;
        d.text += " (No flow uses this subflow.)";
      }
      before.add(std::move(d));
    }
    std::swap(before, diagnostics_);
  }

  const Workspace& workspace_;
  const Container& container_;
  BuildOptions& options_;
  base::Diagnostics diagnostics_;  // of this application; see report()
  bool is_library_missing_ = false;
  std::unique_ptr<Application> application_;
  std::vector<const Container*> units_;
  std::unique_ptr<FlowSet> flows_;
  std::set<const FlowFile*> used_;
  Overrides overrides_;

 public:
  const Overrides& overrides() const { return overrides_; }
};

Status Application::start_flow_at(size_t index) {
  Status status = flows_[index]->start();
  if (status.ok()) return status;
  if (status.error().position.file.empty()) status.error().position = starts_[index].position;
  for (const auto& flow : flows_) flow->stop();
  return status;
}

Status Application::start_all(const std::set<std::string, std::less<>>& stopped) {
  for (size_t i = 0; i < flows_.size(); ++i) {
    if (starts_[i].is_by_hand) continue;
    if (!starts_[i].is_automatic && stopped.count(flows_[i]->name()) != 0) continue;
    MS_TRY(start_flow_at(i));
  }
  return {};
}

Status Application::restart(const std::set<std::string, std::less<>>& flows) {
  for (size_t i = 0; i < flows_.size(); ++i) {
    if (flows.count(flows_[i]->name()) != 0) MS_TRY(start_flow_at(i));
  }
  return {};
}

std::set<std::string, std::less<>> Application::stopped_flows() const {
  std::set<std::string, std::less<>> names;
  for (const auto& flow : flows_) {
    if (!flow->is_running()) names.insert(flow->name());
  }
  return names;
}

bool Application::is_idle() const {
  return std::all_of(flows_.begin(), flows_.end(), [](const auto& f) { return f->is_idle(); });
}

flow::Flow* Application::find_flow(std::string_view name) const {
  for (const auto& flow : flows_) {
    if (flow->name() == name) return flow.get();
  }
  return nullptr;
}

bool Application::try_start(base::Diagnostics& diagnostics) {
  bool has_started = true;
  for (size_t i = 0; i < flows_.size(); ++i) {
    if (starts_[i].is_by_hand) continue;
    Status status = flows_[i]->start();
    if (status.ok()) continue;
    diagnostics.error(status.error(), starts_[i].position);
    has_started = false;
  }
  return has_started;
}

void Application::stop() {
  for (const auto& flow : flows_) flow->stop();
}

std::unique_ptr<Application> build_application(const Workspace& workspace,
                                               const Container& container, BuildOptions& options,
                                               base::Diagnostics& diagnostics) {
  ApplicationBuilder builder(workspace, container, options);
  std::unique_ptr<Application> application = builder.build();
  builder.report(diagnostics);
  options.overrides->note_used(builder.overrides());
  return application;
}

void check_library(const Workspace& workspace, const Container& library, BuildOptions& options,
                   base::Diagnostics& diagnostics) {
  const bool checked = std::exchange(options.checks_unused_subflows, true);
  build_application(workspace, library, options, diagnostics);
  options.checks_unused_subflows = checked;
}

}  // namespace millstream::ace
