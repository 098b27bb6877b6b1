#include "cli/describe.h"

#include <algorithm>

namespace millstream::cli {
namespace {

char upper_of(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::string upper_text(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = upper_of(c);
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_meant(const Topic& topic, const std::string& word) {
  std::string name = upper_text(topic.name);
  if (name == word) return true;
  if (topic.kind == "node") return upper_text(topic.summary) == word;
  if (topic.kind != "error") return false;
  if (word.size() == name.size() + 1 && word.starts_with(name)) {
    return word.back() == 'E' || word.back() == 'W' || word.back() == 'I';
  }
  return !word.empty() && is_digit(word[0]) && name.ends_with(word) &&
         !is_digit(name[name.size() - word.size() - 1]);
}

// The cells of "| `name` | type | default | meaning |"; fewer than four: no such row.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> out;
  std::string cell;
  if (!line.starts_with("| `")) return out;
  for (size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '|' && line[i - 1] != '\\') {
      while (cell.starts_with(' ')) cell.erase(0, 1);
      while (cell.ends_with(' ')) cell.pop_back();
      out.push_back(std::move(cell));
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  return out;
}

void add_property(const Topic& node, const std::string& wanted, std::string& out) {
  for (size_t at = 0; at < node.text.size();) {
    const size_t end = std::min(node.text.find('\n', at), node.text.size());
    const std::vector<std::string> cells = cells_of(node.text.substr(at, end - at));
    at = end + 1;
    if (cells.size() < 4 || upper_text(cells[0]) != "`" + wanted + "`") continue;
    const std::string name = cells[0].substr(1, cells[0].size() - 2);
    out += (out.empty() ? "" : "\n") + std::string(node.name) + "." + name + " (property)\n\n" +
           cells[3] + "\n\nType: " + cells[1] + "\n";
    if (!cells[2].empty()) out += "Default: " + cells[2] + "\n";
  }
}

}  // namespace

std::string property_text(std::string_view word) {
  const size_t dot = word.find('.');
  const bool has_node = dot != std::string_view::npos;
  const std::string node = has_node ? upper_text(word.substr(0, dot)) : std::string();
  const std::string wanted = upper_text(has_node ? word.substr(dot + 1) : word);
  std::string out;
  for (const Topic& topic : all_topics()) {
    if (topic.kind != "node" || (has_node && !is_meant(topic, node))) continue;
    add_property(topic, wanted, out);
  }
  return out;
}

std::vector<const Topic*> find_topics(std::string_view word) {
  std::vector<const Topic*> out;
  std::string wanted = upper_text(word);
  for (const Topic& topic : all_topics()) {
    if (is_meant(topic, wanted)) out.push_back(&topic);
  }
  return out;
}

}  // namespace millstream::cli
