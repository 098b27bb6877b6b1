#include "ace/flow_set.h"

#include <algorithm>

#include "ace/known_nodes.h"
#include "nodes/registry.h"

namespace millstream::ace {
namespace {

bool has_tail_path(std::string_view path, std::string_view tail) {
  return path.size() > tail.size() && path[path.size() - tail.size() - 1] == '/' &&
         path.substr(path.size() - tail.size()) == tail;
}

bool has_input_node(const FlowFile& file) {
  return std::any_of(file.nodes.begin(), file.nodes.end(), [](const FlowFileNode& n) {
    const flow::NodeType* type = nodes::node_registry().find(n.type);
    const KnownNode* known = find_known_node(n.type);
    return type ? type->is_input : known && known->is_input;
  });
}

bool is_subflow_shaped(const FlowFile& file) {
  return std::any_of(file.nodes.begin(), file.nodes.end(),
                     [](const FlowFileNode& n) { return n.type == "eflow:FCMSource"; });
}

}  // namespace

FlowSet::FlowSet(const std::vector<const Container*>& units, base::Diagnostics& diagnostics)
    : units_(units) {
  for (size_t unit = 0; unit < units_.size(); ++unit) {
    for (const Resource& r : units_[unit]->resources) {
      if (!r.has_extension(".msgflow") && !r.has_extension(".subflow")) continue;
      Result<std::string> bytes = r.read();
      if (!bytes.ok()) {
        diagnostics.error(bytes.error(), {r.file(), 0, 0});
        continue;
      }
      Result<FlowFile> file = parse_flow_file(bytes.value(), r.path(), r.file());
      if (!file.ok()) {
        diagnostics.error(file.error(), {r.file(), 0, 0});
        continue;
      }
      file.value().unit = static_cast<uint32_t>(unit);
      files_.push_back(std::make_unique<FlowFile>(std::move(file).value()));
      by_path_.emplace(files_.back()->path, files_.back().get());
    }
  }
}

const FlowFile* FlowSet::find(std::string_view path) const {
  if (auto it = by_path_.find(path); it != by_path_.end()) return it->second;
  for (const auto& f : files_) {
    if (has_tail_path(f->path, path)) return f.get();
  }
  return nullptr;
}

bool FlowSet::is_main_flow(const FlowFile& file) const {
  if (!is_message_flow(file)) return false;
  if (is_subflow_shaped(file) && !has_input_node(file)) return false;
  return file.unit == 0 || units_[file.unit]->kind != ContainerKind::kIndependent;
}

bool is_message_flow(const FlowFile& file) {
  constexpr std::string_view kTail = ".msgflow";
  return file.path.size() > kTail.size() &&
         file.path.compare(file.path.size() - kTail.size(), kTail.size(), kTail) == 0;
}

}  // namespace millstream::ace
