#include "ace/flatten.h"

#include <algorithm>
#include <map>

#include "ace/errors_gen.h"
#include "base/percent.h"

namespace millstream::ace {
namespace {

using PropertyMap = std::map<std::string, flow::Property, std::less<>>;

std::string_view strip(std::string_view s, std::string_view prefix) {
  return s.substr(0, prefix.size()) == prefix ? s.substr(prefix.size()) : s;
}

// The Input or Output node of a subflow that a terminal name stands for: its xmi:id as written or
// URL-decoded, with or without the InTerminal./OutTerminal. prefix, else its display name.
const FlowFileNode* find_terminal(const FlowFile& subflow, std::string_view terminal,
                                  std::string_view type, std::string_view prefix) {
  const std::string decoded = base::percent_decode(terminal);
  for (const FlowFileNode& n : subflow.nodes) {
    if (n.type != type) continue;
    if (n.id == terminal || n.id == decoded || base::percent_decode(n.id) == decoded) return &n;
  }
  const std::string_view bare = strip(decoded, prefix);
  for (const FlowFileNode& n : subflow.nodes) {
    if (n.type == type && (strip(n.id, prefix) == bare || n.label == bare)) return &n;
  }
  return nullptr;
}

// What a BAR can set of any flow, whether or not it means something to this server.
bool is_flow_property(std::string_view name) {
  static constexpr std::string_view kNames[] = {"additionalInstances",
                                                "commitCount",
                                                "commitInterval",
                                                "coordinatedTransaction",
                                                "consumerPolicy",
                                                "maximumRateMsgsPerSec",
                                                "monitoringProfile",
                                                "notificationThresholdMsgsPerSec",
                                                "processingTimeoutSec",
                                                "processingTimeoutAction",
                                                "providerPolicy",
                                                "securityProfileName",
                                                "startMode",
                                                "startInstancesWhenFlowStarts",
                                                "wlmPolicy"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

class Flattener {
 public:
  Flattener(const std::string& application, const SubflowFinder& find_subflow, Overrides& overrides,
            base::Diagnostics& diagnostics)
      : find_subflow_(find_subflow), overrides_(overrides), diagnostics_(diagnostics) {
    flow_.application = application;
  }

  bool run(const FlowFile& main) {
    const size_t errors_before = diagnostics_.error_count();
    flow_.name = main.qualified_name();
    flow_.file = main.file;
    overrides_.apply({{flow_names(main), ""}}, flow_.properties);
    overrides_.note_known(flow_names(main), [&main](std::string_view name) {
      return is_flow_property(name) ||
             std::any_of(main.properties.begin(), main.properties.end(),
                         [name](const DeclaredProperty& p) { return p.name == name; });
    });
    Instance top{main, "", 0, flow_.properties.values(), {}};
    expand(top);
    return diagnostics_.error_count() == errors_before;
  }

  flow::FlowDefinition take() { return std::move(flow_); }

 private:
  // One use of a flow file: the main flow, or a subflow at one of its nodes.
  struct Instance {
    const FlowFile& file;
    std::string label;  // "" or "Sub.Inner"
    size_t scope;
    PropertyMap given;                    // values for the file's declared properties, from outside
    std::map<std::string, size_t> index;  // xmi:id -> node
    std::map<std::string, std::unique_ptr<Instance>> subflows = {};  // xmi:id -> what it expands to
    const Instance* outer = nullptr;
  };

  void error(Status status, const base::Position& position) {
    diagnostics_.error(status.error(), position);
  }

  void expand(Instance& at) {
    path_.push_back(&at.file);
    const PropertyMap values = declared_values(at);
    add_user_defined(at, values);
    for (const FlowFileNode& node : at.file.nodes) {
      if (is_too_large(at)) break;
      flow::PropertySet properties = resolve_properties(at, node, values);
      if (node.subflow.empty()) {
        add_node(at, node, std::move(properties));
      } else {
        add_subflow(at, node, properties);
      }
    }
    for (const FlowFileConnection& c : at.file.connections) connect(at, c);
    path_.pop_back();
  }

  // Uses of subflows count too: they may hold nothing but further ones. Said once.
  bool is_too_large(const Instance& at) {
    if (flow_.nodes.size() + flow_.scopes.size() < kFlatNodesMax) return false;
    if (!has_said_too_large_) {
      error(base::make_error(errors::kNotAFlow, {at.file.file, "it has too many nodes"}),
            {at.file.file, 0, 0});
    }
    has_said_too_large_ = true;
    return true;
  }

  // What the declared properties of this use of the file are worth; absent = the nodes keep theirs.
  PropertyMap declared_values(const Instance& at) {
    PropertyMap values;
    for (const DeclaredProperty& p : at.file.properties) {
      if (auto it = at.given.find(p.name); it != at.given.end()) {
        values[p.name] = it->second;
      } else if (p.has_default) {
        values[p.name] = {p.default_value, p.position,
                          (at.label.empty() ? "flow " : "subflow ") + at.file.name};
      }
    }
    return values;
  }

  void add_user_defined(const Instance& at, const PropertyMap& values) {
    for (const DeclaredProperty& p : at.file.properties) {
      if (!p.is_user_defined) continue;
      auto it = values.find(p.name);
      if (it == values.end()) continue;
      flow_.scopes[at.scope].user_defined.push_back({p.name, it->second.value, it->second.origin});
    }
  }

  std::string full_label(const Instance& at, const std::string& label) const {
    return at.label.empty() ? label : at.label + "." + label;
  }

  flow::PropertySet resolve_properties(const Instance& at, const FlowFileNode& node,
                                       const PropertyMap& values) {
    flow::PropertySet properties = node.properties;
    for (const PromotionLink& link : at.file.links) {
      if (std::find(link.nodes.begin(), link.nodes.end(), node.id) == link.nodes.end()) continue;
      if (auto it = values.find(link.promoted); it != values.end()) {
        properties.set(link.property, it->second);
      }
    }
    overrides_.apply(addresses_of(at, node.label), properties);
    return properties;
  }

  // A node is addressed by the file it stands in, or by any flow around that with the whole way
  // down to it; the outermost one knows best.
  static std::vector<Overrides::Address> addresses_of(const Instance& at,
                                                      const std::string& label) {
    std::vector<Overrides::Address> addresses;
    for (const Instance* i = &at; i; i = i->outer) {
      std::string way = label;
      if (i != &at) {
        const size_t begin = i->label.empty() ? 0 : i->label.size() + 1;
        way = at.label.substr(begin) + "." + label;
      }
      addresses.push_back({flow_names(i->file), std::move(way)});
    }
    return addresses;
  }

  void add_node(Instance& at, const FlowFileNode& node, flow::PropertySet properties) {
    flow::NodeDefinition definition;
    definition.type = node.type;
    definition.id = at.file.name + "#" + node.id;
    definition.label = full_label(at, node.label);
    definition.schema = at.file.schema;
    definition.file = at.file.file;
    definition.unit = at.file.unit;
    definition.scope = at.scope;
    definition.dynamic_outputs = node.dynamic_outputs;
    definition.properties = std::move(properties);
    at.index[node.id] = flow_.nodes.size();
    flow_.nodes.push_back(std::move(definition));
  }

  void add_subflow(Instance& at, const FlowFileNode& node, const flow::PropertySet& properties) {
    const FlowFile* file = find_subflow_(node.subflow);
    if (!file) {
      error(
          base::make_error(errors::kSubflowNotFound, {node.subflow, node.label, flow_.application}),
          node.properties.position);
      return;
    }
    if (std::find(path_.begin(), path_.end(), file) != path_.end() ||
        path_.size() >= kSubflowDepthMax) {
      std::string way;
      for (const FlowFile* f : path_) way += f->path + " -> ";
      error(base::make_error(errors::kSubflowRecursion, {node.subflow, way + file->path}),
            node.properties.position);
      return;
    }
    flow::ScopeDefinition scope;
    scope.parent = at.scope;
    scope.label = full_label(at, node.label);
    flow_.scopes.push_back(scope);
    auto instance = std::make_unique<Instance>(
        Instance{*file, scope.label, flow_.scopes.size() - 1, properties.values(), {}});
    Instance& inner = *instance;
    inner.outer = &at;
    at.subflows[node.id] = std::move(instance);
    expand(inner);
  }

  struct End {
    size_t node = 0;
    std::string terminal;
    bool is_found = false;
  };

  End find_end(Instance& at, const std::string& id, const std::string& terminal, bool is_source,
               const base::Position& position) {
    const std::string_view prefix = is_source ? "OutTerminal." : "InTerminal.";
    if (auto it = at.index.find(id); it != at.index.end()) {
      return {it->second, std::string(strip(terminal, prefix)), true};
    }
    auto sub = at.subflows.find(id);
    if (sub == at.subflows.end()) {
      // A subflow that could not be expanded has its own diagnostic.
      if (!at.file.find_node(id)) {
        error(base::make_error(errors::kDanglingConnection, {id}), position);
      }
      return {};
    }
    Instance& inner = *sub->second;
    const FlowFileNode* end = find_terminal(
        inner.file, terminal, is_source ? "eflow:FCMSink" : "eflow:FCMSource", prefix);
    if (!end) {
      error(base::make_error(errors::kSubflowTerminal,
                             {inner.file.path, is_source ? "output" : "input", terminal}),
            position);
      return {};
    }
    return {inner.index[end->id], is_source ? "out" : "in", true};
  }

  void connect(Instance& at, const FlowFileConnection& c) {
    End source = find_end(at, c.source, c.source_terminal, true, c.position);
    End target = find_end(at, c.target, c.target_terminal, false, c.position);
    if (!source.is_found || !target.is_found) return;
    flow_.connections.push_back({source.node, std::move(source.terminal), target.node,
                                 std::move(target.terminal), c.position});
  }

  const SubflowFinder& find_subflow_;
  Overrides& overrides_;
  base::Diagnostics& diagnostics_;
  flow::FlowDefinition flow_;
  std::vector<const FlowFile*> path_;
  bool has_said_too_large_ = false;
};

}  // namespace

std::vector<std::string> flow_names(const FlowFile& file) {
  std::vector<std::string> names = {file.qualified_name()};
  if (!file.schema.empty()) names.push_back(file.name);
  return names;
}

std::unique_ptr<flow::FlowDefinition> flatten_flow(const FlowFile& main,
                                                   const std::string& application,
                                                   const SubflowFinder& find_subflow,
                                                   Overrides& overrides,
                                                   base::Diagnostics& diagnostics) {
  Flattener flattener(application, find_subflow, overrides, diagnostics);
  if (!flattener.run(main)) return nullptr;
  return std::make_unique<flow::FlowDefinition>(flattener.take());
}

}  // namespace millstream::ace
