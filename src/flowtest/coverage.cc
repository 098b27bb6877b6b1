#include "flowtest/coverage.h"

#include <algorithm>

namespace millstream::flowtest {
namespace {

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string share_of(size_t part, size_t whole) {
  const size_t tenths = whole == 0 ? 1000 : part * 1000 / whole;
  std::string percent = std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
  return std::to_string(part) + "/" + std::to_string(whole) + "  " + percent;
}

// "3-5, 9"
std::string line_ranges(const std::vector<uint32_t>& lines) {
  std::string out;
  for (size_t i = 0; i < lines.size();) {
    size_t k = i;
    while (k + 1 < lines.size() && lines[k + 1] == lines[k] + 1) ++k;
    out += (out.empty() ? "" : ", ") + std::to_string(lines[i]);
    if (k > i) out += "-" + std::to_string(lines[k]);
    i = k + 1;
  }
  return out;
}

}  // namespace

void Coverage::add(const FlowProbe& probe, const LineHits& hits, const std::string& folder,
                   const std::string& shown) {
  std::lock_guard lock(mutex_);
  for (const flow::Flow* flow : probe.flows()) {
    auto& nodes = flows_[flow->application() + "/" + flow->name()];
    for (const auto& node : flow->nodes()) {
      const std::string_view type = node->type().name;
      if (type == "Input" || type == "Output") continue;  // the ends of subflows
      Node& n = nodes[node->label()];
      n.type = type;
      n.is_input = node->type().is_input;
      n.count += probe.total_calls_of(*node);
      for (size_t output = 0; output < node->output_count(); ++output) {
        const int index = static_cast<int>(output);
        // A tap is the first target of each watched terminal.
        const auto& targets = node->targets(index);
        Terminal& t = n.terminals[node->output_name(index)];
        t.is_wired |= targets.size() > 1;
        const uint64_t count = probe.total_calls_of(*node, index);
        t.count += count;
        if (n.is_input) n.count += count;
      }
    }
  }
  for (const LineHits::Place& place : hits.places()) {
    const bool is_below = place.file.starts_with(folder + "/");
    const std::string file = is_below ? shown + place.file.substr(folder.size()) : place.file;
    files_[file][place.line] += place.count.load();
  }
}

std::string Coverage::table() const {
  std::string out =
      "Flows                                              nodes          not reached\n";
  for (const auto& [name, nodes] : flows_) {
    size_t reached = 0;
    std::string missing;
    for (const auto& [label, node] : nodes) {
      if (node.count > 0) {
        ++reached;
        for (const auto& [terminal, t] : node.terminals) {
          if (t.is_wired && t.count == 0)
            missing += (missing.empty() ? "" : ", ") + label + "." + terminal;
        }
      } else {
        missing += (missing.empty() ? "" : ", ") + label;
      }
    }
    out +=
        padded(name, 50) + " " + padded(share_of(reached, nodes.size()), 14) + " " + missing + "\n";
  }
  out += "ESQL files                                         lines          not reached\n";
  for (const auto& [name, lines] : files_) {
    std::vector<uint32_t> missing;
    for (const auto& [line, count] : lines) {
      if (count == 0) missing.push_back(line);
    }
    out += padded(name, 50) + " " +
           padded(share_of(lines.size() - missing.size(), lines.size()), 14) + " " +
           line_ranges(missing) + "\n";
  }
  return out;
}

base::json::Value Coverage::json() const {
  using base::json::Value;
  Value out = Value::object();
  Value& flows = out.set("flows", Value::array());
  for (const auto& [name, nodes] : flows_) {
    Value& flow = flows.push_back(Value::object());
    flow.set("name", name);
    Value& list = flow.set("nodes", Value::array());
    for (const auto& [label, node] : nodes) {
      Value& entry = list.push_back(Value::object());
      entry.set("name", label);
      entry.set("type", node.type);
      entry.set("count", node.count);
      Value& terminals = entry.set("terminals", Value::object());
      for (const auto& [terminal, t] : node.terminals) {
        if (t.is_wired || t.count > 0) terminals.set(terminal, t.count);
      }
    }
  }
  Value& files = out.set("files", Value::array());
  for (const auto& [name, lines] : files_) {
    Value& file = files.push_back(Value::object());
    file.set("path", name);
    Value& list = file.set("lines", Value::object());
    for (const auto& [line, count] : lines) list.set(std::to_string(line), count);
  }
  return out;
}

std::string Coverage::lcov() const {
  std::string out = "TN:\n";
  for (const auto& [name, lines] : files_) {
    size_t hit = 0;
    out += "SF:" + name + "\n";
    for (const auto& [line, count] : lines) {
      out += "DA:" + std::to_string(line) + "," + std::to_string(count) + "\n";
      hit += count > 0;
    }
    out +=
        "LF:" + std::to_string(lines.size()) + "\nLH:" + std::to_string(hit) + "\nend_of_record\n";
  }
  return out;
}

}  // namespace millstream::flowtest
