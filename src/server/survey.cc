#include "server/survey.h"

#include <algorithm>

#include "ace/flow_file.h"
#include "ace/known_nodes.h"
#include "ace/policies.h"
#include "esql/program.h"
#include "io/file.h"
#include "nodes/registry.h"
#include "parsers/domains.h"
#include "server/deployment.h"

namespace millstream::server {
namespace {

constexpr std::string_view kMappingType = "ComIbmMSLMapping";
// Types of policies that something reads.
constexpr std::string_view kPolicyTypes[] = {"JDBCProviders"};
constexpr size_t kTextMax = 100;  // of a message in the table

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string cut(std::string text) {
  if (text.size() <= kTextMax) return text;
  size_t end = kTextMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

// Subflows that nothing uses are only warned about in an application that runs; here they count.
bool is_problem(const base::Diagnostic& d) {
  return d.severity == base::DiagnosticSeverity::kError ||
         d.text.ends_with("(No flow uses this subflow.)") || d.code == "MS1620";
}

// A path like "a/Flow.msgflow" of a workspace, as a node of the drawing of what needs what.
struct FlowRecord {
  ace::FlowFile file;
  const ace::Container* container = nullptr;
  bool is_own_complete = true;
  enum class State : uint8_t { kUnknown, kBeingAsked, kComplete, kIncomplete };
  State state = State::kUnknown;
};

class PlaceSurvey {
 public:
  PlaceSurvey(const SurveyPlace& place, const flow::Services& services, Survey& survey)
      : place_(place), services_(services), survey_(survey) {}

  void run() {
    Sources sources;
    if (place_.paths.empty()) add_loose(sources.workspace);
    for (const std::string& path : place_.paths) {
      ace::add_path(sources.workspace, path, diagnostics_);
    }
    ace::find_references(sources.workspace, diagnostics_);
    const BuildPlan plan{.services = &services_, .checks_everything = true};
    build_applications(sources, plan, diagnostics_);
    for (const base::Diagnostic& d : diagnostics_.all()) {
      if (is_problem(d)) problems_[d.position.file].push_back(&d);
    }
    ++survey_.workspaces;
    for (const auto& container : sources.workspace.containers) look_at(*container);
    for (auto& [path, flow] : flows_) count_flow(flow);
    count_problems();
  }

 private:
  void add_loose(ace::Workspace& workspace) {
    Result<std::vector<std::string>> files = io::list_files(place_.folder);
    if (!files.ok()) return diagnostics_.error(files.error(), {place_.folder, 0, 0});
    auto container = std::make_shared<ace::Container>();
    container->kind = ace::ContainerKind::kIndependent;
    container->location = place_.folder;
    container->name = ace::folder_title(place_.folder);
    for (std::string& path : files.value()) {
      std::string file = ace::path_in(place_.folder, path);
      container->resources.emplace_back(std::move(path), std::move(file));
    }
    workspace.containers.push_back(std::move(container));
  }

  void look_at(const ace::Container& container) {
    ++survey_.projects;
    for (const ace::Resource& r : container.resources) {
      if (!seen_.insert(r.file()).second) continue;
      if (r.has_extension(".esql")) look_at_esql(r, container);
      if (r.has_extension(".msgflow") || r.has_extension(".subflow")) look_at_flow(r, container);
      if (r.has_extension(".policyxml")) look_at_policies(r);
      if (r.has_extension(".map")) look_at_map(r);
      if (r.has_extension(".mset")) {
        survey_.add_gap("artifact", "message set (.mset)", "MRM models", {r.file(), 0, 0});
      }
      if (r.has_extension(".cmf")) {
        survey_.add_gap("artifact", "compiled flow (.cmf)", "the sources of the flow",
                        {r.file(), 0, 0});
      }
    }
    for (const auto& nested : container.nested) look_at(*nested);
  }

  const std::vector<const base::Diagnostic*>& problems_of(const std::string& file) const {
    static const std::vector<const base::Diagnostic*> kNone;
    auto it = problems_.find(file);
    return it == problems_.end() ? kNone : it->second;
  }

  // A module reaches to the next one; what stands in front of the first is the schema's.
  void look_at_esql(const ace::Resource& r, const ace::Container& container) {
    Result<std::string> text = r.read();
    if (!text.ok()) return;
    find_domains(text.value(), r.file());
    esql::Program program;
    const bool is_read = program.add_file({r.file(), std::move(text).value(), {}, 0});
    const auto& problems = problems_of(r.file());
    for (const esql::ast::SourceFile* file : program.files()) {
      for (size_t i = 0; i < file->modules.size(); ++i) {
        const esql::ast::Module& m = *file->modules[i];
        const uint32_t from = m.pos.line;
        const uint32_t to =
            i + 1 < file->modules.size() ? file->modules[i + 1]->pos.line : UINT32_MAX;
        const bool is_complete =
            std::none_of(problems.begin(), problems.end(), [&](const base::Diagnostic* d) {
              return d->position.line >= from && d->position.line < to;
            });
        survey_.modules.add(is_complete);
        modules_[{&container, std::string(m.name)}] = is_complete;
      }
      if (!is_read && file->modules.empty()) survey_.modules.add(false);
    }
  }

  // InputRoot.MRM, DOMAIN('DFDL'): a look at the text is enough to count them.
  void find_domains(std::string_view text, const std::string& file) {
    uint32_t line = 1;
    size_t counted = 0;
    auto meet = [&](size_t at, std::string_view name) {
      if (name.empty() || parsers::find_domain(name)) return;
      line += static_cast<uint32_t>(std::count(text.begin() + static_cast<ptrdiff_t>(counted),
                                               text.begin() + static_cast<ptrdiff_t>(at), '\n'));
      counted = at;
      survey_.add_gap("domain", std::string(name), "", {file, line, 0});
    };
    auto word_at = [&](size_t at) {
      size_t end = at;
      while (end < text.size() && is_word_char(text[end])) ++end;
      return text.substr(at, end - at);
    };
    for (size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '-' && at + 1 < text.size() && text[at + 1] == '-') {
        at = std::min(text.find('\n', at), text.size());
        continue;
      }
      if (text[at] != '.' && text[at] != '(') continue;
      std::string_view before = text.substr(0, at);
      if (text[at] == '.' && (before.ends_with("InputRoot") || before.ends_with("OutputRoot"))) {
        // Other children of a root are headers, or made up.
        const std::string_view name = word_at(at + 1);
        if (parsers::unsupported_domain_reason(name).ends_with("is not supported yet.")) {
          meet(at, name);
        }
      }
      if (text[at] == '(' && before.ends_with("DOMAIN") && text.substr(at + 1, 1) == "'") {
        meet(at, word_at(at + 2));
      }
    }
  }

  void look_at_flow(const ace::Resource& r, const ace::Container& container) {
    Result<std::string> bytes = r.read();
    Result<ace::FlowFile> file = bytes.ok()
                                     ? ace::parse_flow_file(bytes.value(), r.path(), r.file())
                                     : Result<ace::FlowFile>(Status(bytes.take_error()));
    if (!file.ok()) {
      count_for(r.has_extension(".msgflow")).add(false);
      return;
    }
    FlowRecord record{std::move(file).value(), &container};
    record.is_own_complete = problems_of(r.file()).empty();
    for (const ace::FlowFileNode& n : record.file.nodes) look_at_node(n, record);
    flows_.emplace(r.file(), std::move(record));
  }

  void look_at_node(const ace::FlowFileNode& n, FlowRecord& record) {
    for (const auto& [name, property] : n.properties.values()) {
      const bool is_domain = name == "messageDomainProperty" || name == "messageDomain" ||
                             name == "supportedMessageDomain";
      if (!is_domain || property.value.empty() || parsers::find_domain(property.value)) continue;
      survey_.add_gap("domain", property.value, "", property.position);
      record.is_own_complete = false;
    }
    if (n.type.empty() || nodes::node_registry().find(n.type)) return;
    const ace::KnownNode* known = ace::find_known_node(n.type);
    survey_.add_gap("node", known ? std::string(known->name) : n.type,
                    known ? "needs " + std::string(known->needs) : "user-defined",
                    n.properties.position);
    record.is_own_complete = false;
  }

  SurveyCount& count_for(bool is_message_flow) {
    return is_message_flow ? survey_.flows : survey_.subflows;
  }

  void count_flow(FlowRecord& flow) {
    count_for(flow.file.file.ends_with(".msgflow")).add(is_complete(flow));
  }

  bool is_complete(FlowRecord& flow) {
    using State = FlowRecord::State;
    // A subflow within itself is an error of its own.
    if (flow.state == State::kBeingAsked) return true;
    if (flow.state != State::kUnknown) return flow.state == State::kComplete;
    flow.state = State::kBeingAsked;
    bool is_all = flow.is_own_complete;
    for (const ace::FlowFileNode& n : flow.file.nodes) {
      if (!is_all) break;
      is_all = n.subflow.empty() ? has_complete_modules(n, flow) : is_subflow_complete(n.subflow);
    }
    flow.state = is_all ? State::kComplete : State::kIncomplete;
    return is_all;
  }

  bool is_subflow_complete(const std::string& path) {
    for (auto& [file, record] : flows_) {
      const std::string& own = record.file.path;
      if (own == path || (own.ends_with(path) && own[own.size() - path.size() - 1] == '/')) {
        return is_complete(record);
      }
    }
    return false;
  }

  // "esql://routine/com.acme#Flow_Compute.Main"
  bool has_complete_modules(const ace::FlowFileNode& n, const FlowRecord& flow) const {
    for (const auto& [name, property] : n.properties.values()) {
      if (!property.value.starts_with("esql://routine/")) continue;
      std::string_view module = property.value;
      module.remove_prefix(std::min(module.find('#') + 1, module.size()));
      if (!is_module_complete(std::string(module.substr(0, module.find('.'))), flow)) return false;
    }
    return true;
  }

  // The one beside the flow, else any of that name in a library. A missing one is an error of the
  // flow's own.
  bool is_module_complete(const std::string& name, const FlowRecord& flow) const {
    if (auto own = modules_.find({flow.container, name}); own != modules_.end()) return own->second;
    bool is_there = false;
    for (const auto& [key, is_complete] : modules_) {
      if (key.second != name) continue;
      if (is_complete) return true;
      is_there = true;
    }
    return !is_there;
  }

  void look_at_map(const ace::Resource& r) {
    const bool is_complete = nodes::node_registry().find(kMappingType) != nullptr;
    survey_.maps.add(is_complete);
    if (!is_complete) {
      survey_.add_gap("artifact", "graphical data map (.map)", "the Mapping node",
                      {r.file(), 0, 0});
    }
  }

  // Complete: something reads policies of its type, and all it says is understood.
  void look_at_policies(const ace::Resource& r) {
    nodes::common::Policies policies;
    Status status = ace::add_policies_of(r, "", policies);
    if (!status.ok()) {
      survey_.policies.add(false);
      survey_.add_gap("artifact", "unreadable policy", status.error().text, {r.file(), 0, 0});
      return;
    }
    for (const nodes::common::Policy& policy : policies.all()) {
      std::string why;
      const bool is_complete = is_complete_policy(policy, why);
      survey_.policies.add(is_complete);
      if (is_complete) continue;
      survey_.add_gap("artifact", "policy of type " + policy.type, cut(why), policy.position);
    }
  }

  // What building said, beside nodes, which were counted one by one.
  void count_problems() {
    for (const base::Diagnostic& d : diagnostics_.all()) {
      if (!is_problem(d) || d.code == "MS1914" || d.code == "MS1915") continue;
      const bool is_esql = d.position.file.ends_with(".esql");
      const bool is_flow = d.position.file.ends_with("flow");
      const bool is_property = d.text.starts_with("The property '");
      // One row a kind of mistake; properties are told apart by name and value.
      const std::string name = is_property ? cut(d.text) : d.code.empty() ? cut(d.text) : d.code;
      survey_.add_gap(is_esql       ? "ESQL"
                      : is_property ? "property"
                      : is_flow     ? "flow"
                                    : "project",
                      name, is_property ? "" : cut(d.text), d.position);
    }
  }

  const SurveyPlace& place_;
  const flow::Services& services_;
  Survey& survey_;
  base::Diagnostics diagnostics_;
  std::map<std::string, std::vector<const base::Diagnostic*>> problems_;  // by file
  std::set<std::string> seen_;
  std::map<std::string, FlowRecord> flows_;                                // by file
  std::map<std::pair<const ace::Container*, std::string>, bool> modules_;  // complete
};

}  // namespace

std::vector<const SurveyGap*> Survey::ranked() const {
  std::vector<const SurveyGap*> out;
  for (const auto& [key, gap] : gaps) out.push_back(&gap);
  std::stable_sort(out.begin(), out.end(), [](const SurveyGap* a, const SurveyGap* b) {
    return a->count != b->count ? a->count > b->count : a->files.size() > b->files.size();
  });
  return out;
}

void Survey::add_gap(const std::string& kind, const std::string& name, const std::string& detail,
                     const base::Position& at) {
  SurveyGap& gap = gaps[kind + "\n" + name];
  if (gap.count++ == 0) {
    gap.kind = kind;
    gap.name = name;
    gap.detail = detail;
    gap.first = at;
  }
  gap.files.insert(at.file);
}

void survey_place(const SurveyPlace& place, const flow::Services& services, Survey& survey) {
  PlaceSurvey(place, services, survey).run();
}

}  // namespace millstream::server
