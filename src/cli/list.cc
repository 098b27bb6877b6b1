// millstream list and describe: what this binary knows, from the component records.
#include <cstdio>

#include "base/json_value.h"
#include "cli/commands.h"
#include "cli/describe.h"

namespace millstream::cli {
namespace {

void print_table(std::string_view kind) {
  size_t width = 0;
  for (const Topic& t : all_topics()) {
    if (kind.empty() || t.kind == kind) width = t.name.size() > width ? t.name.size() : width;
  }
  std::string_view last_kind;
  for (const Topic& t : all_topics()) {
    if (!kind.empty() && t.kind != kind) continue;
    if (kind.empty() && t.kind != last_kind) {
      std::printf("%s%.*ss\n", last_kind.empty() ? "" : "\n", static_cast<int>(t.kind.size()),
                  t.kind.data());
    }
    last_kind = t.kind;
    std::printf("  %-*.*s  %.*s\n", static_cast<int>(width), static_cast<int>(t.name.size()),
                t.name.data(), static_cast<int>(t.summary.size()), t.summary.data());
  }
}

void print_json(std::string_view kind) {
  base::json::Value list = base::json::Value::array();
  for (const Topic& t : all_topics()) {
    if (!kind.empty() && t.kind != kind) continue;
    base::json::Value v = base::json::Value::object();
    v.set("kind", t.kind);
    v.set("name", t.name);
    v.set("summary", t.summary);
    list.push_back(std::move(v));
  }
  std::printf("%s\n", base::json::write(list, {.is_pretty = true}).c_str());
}

}  // namespace

const base::CommandSpec& list_command() {
  static const base::CommandSpec kSpec{
      .name = "list",
      .arguments = "[nodes|functions|errors|objects]",
      .summary =
          "List the nodes, ESQL functions, errors and MQSC object types that this binary knows.",
      .arguments_min = 0,
      .arguments_max = 1,
      .flags = {{.name = "json",
                 .help = "One JSON document for programs.",
                 .kind = base::FlagKind::kSwitch},
                {.name = "names",
                 .help = "Only the names, one a line.",
                 .kind = base::FlagKind::kSwitch}},
      .examples = {{"millstream list nodes", "which nodes flows may use"}}};
  return kSpec;
}

int run_list(const base::ParsedFlags& flags) {
  std::string_view kind;
  if (!flags.arguments().empty()) {
    kind = flags.arguments()[0];
    if (kind != "nodes" && kind != "functions" && kind != "errors" && kind != "objects") {
      std::fprintf(stderr, "There are nodes, functions, errors and objects to list.\n");
      return 2;
    }
    kind.remove_suffix(1);
  }
  if (flags.is_on("json")) {
    print_json(kind);
  } else if (flags.is_on("names")) {
    for (const Topic& t : all_topics()) {
      if (!kind.empty() && t.kind != kind) continue;
      std::printf("%.*s\n", static_cast<int>(t.name.size()), t.name.data());
    }
  } else {
    print_table(kind);
  }
  return 0;
}

const base::CommandSpec& describe_command() {
  static const base::CommandSpec kSpec{
      .name = "describe",
      .arguments = "NAME",
      .summary =
          "Explain a node or a property of it, an ESQL function, an error number or an MQSC "
          "object.",
      .arguments_min = 1,
      .arguments_max = 1,
      .examples = {{"millstream describe HTTPInput", "properties and terminals of a node"},
                   {"millstream describe HTTPInput.URLSpecifier", "one property of a node"},
                   {"millstream describe BIP2488E", "what an error means and what to do"}},
      .names_from = "list --names"};
  return kSpec;
}

int run_describe(const base::ParsedFlags& flags) {
  const std::string& word = flags.arguments()[0];
  const std::vector<const Topic*> topics = find_topics(word);
  if (topics.empty()) {
    const std::string row = property_text(word);
    if (!row.empty()) {
      std::printf("%s\n", row.c_str());
      return 0;
    }
    std::fprintf(stderr, "Nothing here is called '%s'. See millstream list.\n",
                 flags.arguments()[0].c_str());
    return 1;
  }
  for (const Topic* t : topics) {
    std::printf("%.*s (%.*s)\n\n%.*s\n", static_cast<int>(t->name.size()), t->name.data(),
                static_cast<int>(t->kind.size()), t->kind.data(), static_cast<int>(t->text.size()),
                t->text.data());
  }
  return 0;
}

}  // namespace millstream::cli
