// Project trees under tests/golden-loaders/<case>/input against <case>/expected.txt: what is found
// on disk, and every flow after subflows, promotion and overrides. MS_REBASELINE=1 writes the files
// anew. Lines "overrides.txt" of a case are an overrides file.
#include <doctest/doctest.h>

#include <algorithm>

#include "ace/fixtures_for_test.h"
#include "ace/flatten.h"
#include "ace/flow_set.h"
#include "ace/workspace.h"
#include "io/file.h"

namespace millstream::ace {
namespace {

constexpr const char* kGoldenFolder = "tests/golden-loaders";

std::string quoted_text(std::string_view s) {
  std::string out = "'";
  for (char c : s) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string dump_property(const std::string& name, const flow::Property& p) {
  std::string out = name + " = " + quoted_text(p.value);
  if (p.origin != "flow") out += "  (" + p.origin + ")";
  return out + "\n";
}

std::string dump_definition(const flow::FlowDefinition& flow) {
  std::string out = "flow " + flow.name + " of " + flow.application + ", " + flow.file + "\n";
  for (const auto& [name, p] : flow.properties.values()) out += "  " + dump_property(name, p);
  for (size_t i = 0; i < flow.scopes.size(); ++i) {
    const flow::ScopeDefinition& scope = flow.scopes[i];
    if (i > 0) {
      out += "  scope " + std::to_string(i) + " " + quoted_text(scope.label) + " in " +
             std::to_string(scope.parent) + "\n";
    }
    for (const auto& u : scope.user_defined) {
      out += "    user-defined " + u.name + " = " + quoted_text(u.value) + "  (" + u.origin + ")\n";
    }
  }
  for (const flow::NodeDefinition& n : flow.nodes) {
    out += "  node " + quoted_text(n.label) + " " + n.type + " " + n.id + " scope " +
           std::to_string(n.scope) + " unit " + std::to_string(n.unit) + " schema " +
           quoted_text(n.schema) + " " + n.properties.position.file + ":" +
           std::to_string(n.properties.position.line) + "\n";
    for (const std::string& t : n.dynamic_outputs) out += "    terminal " + t + "\n";
    for (const auto& [name, p] : n.properties.values()) out += "    " + dump_property(name, p);
    for (const auto& [name, rows] : n.properties.tables()) {
      for (const flow::PropertyRow& row : rows) {
        out += "    " + name + ":";
        for (const auto& [column, value] : row.columns) {
          out += " " + column + "=" + quoted_text(value);
        }
        out += "\n";
      }
    }
  }
  for (const flow::ConnectionDefinition& c : flow.connections) {
    out += "  " + quoted_text(flow.nodes[c.source].label) + "." + c.source_terminal + " -> " +
           quoted_text(flow.nodes[c.target].label) + "." + c.target_terminal + "\n";
  }
  return out;
}

std::string dump_container(const Container& c, const std::string& indent = "") {
  std::string out =
      indent + "container " + c.name + ", " + std::string(container_kind_name(c.kind)) + "\n";
  for (const Resource& r : c.resources) out += indent + "  " + r.path() + "\n";
  for (const std::string& l : c.shared_libraries) out += indent + "  shared library " + l + "\n";
  for (const std::string& p : c.projects) out += indent + "  project " + p + "\n";
  for (const auto& n : c.nested) out += dump_container(*n, indent + "  ");
  return out;
}

std::string dump_case(const std::string& folder) {
  base::Diagnostics diagnostics;
  Workspace workspace;
  add_path(workspace, folder + "/input", diagnostics);
  find_references(workspace, diagnostics);
  Overrides lines;
  const std::string override_file = folder + "/overrides.txt";
  if (Result<std::string> text = io::read_file(override_file); text.ok()) {
    lines.add_lines(text.value(), override_file, diagnostics);
  }
  std::string out;
  for (const auto& c : workspace.containers) out += dump_container(*c);
  for (const auto& c : workspace.containers) {
    if (!has_flows_to_run(c->kind)) continue;
    std::vector<const Container*> units = libraries_of(workspace, *c, diagnostics);
    units.insert(units.begin(), c.get());
    Overrides overrides = lines;
    for (const Container* unit : units) overrides.add_all(unit->bar_overrides);
    FlowSet flows(units, diagnostics);
    SubflowFinder finder = [&](std::string_view path) { return flows.find(path); };
    for (const auto& file : flows.files()) {
      if (!flows.is_main_flow(*file)) continue;
      auto flow = flatten_flow(*file, c->name, finder, overrides, diagnostics);
      if (flow) out += dump_definition(*flow);
    }
    lines.note_used(overrides);
  }
  lines.report_unused(diagnostics);
  out += said(diagnostics);
  // The folder of the case is not part of it.
  for (size_t at; (at = out.find(folder + "/")) != std::string::npos;) {
    out.erase(at, folder.size() + 1);
  }
  return out;
}

TEST_CASE("golden project trees") {
  Result<std::vector<io::FolderEntry>> cases = io::list_folder(kGoldenFolder);
  REQUIRE(cases.ok());
  CHECK(cases.value().size() >= 3);
  for (const io::FolderEntry& c : cases.value()) {
    if (c.kind != io::PathKind::kFolder) continue;
    CAPTURE(c.name);
    const std::string folder = std::string(kGoldenFolder) + "/" + c.name;
    const std::string found = dump_case(folder);
    const std::string file = folder + "/expected.txt";
    if (std::getenv("MS_REBASELINE")) REQUIRE(io::write_file(file, found).ok());
    Result<std::string> expected = io::read_file(file);
    REQUIRE(expected.ok());
    CHECK(found == expected.value());
  }
}

}  // namespace
}  // namespace millstream::ace
