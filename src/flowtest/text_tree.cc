#include "flowtest/text_tree.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "esql/executor.h"
#include "flowtest/errors_gen.h"
#include "flowtest/tree_text.h"
#include "net/fiber.h"
#include "parsers/domains.h"
#include "tree/edit.h"
#include "tree/field_type.h"

namespace millstream::flowtest {
namespace {

// Trees are looked at on the stacks of fibers, too.
constexpr size_t kStackReserveBytes = 64 * 1024;
constexpr std::string_view kXmlnsUri = "http://www.w3.org/2000/xmlns/";

bool is_blank_char(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool needs_quotes(std::string_view name) {
  return name.find_first_of(" \t\r\n{}=\"'@%[]()#") != std::string_view::npos || name.empty();
}

std::string mark_of(const tree::Element* e) {
  namespace x = tree::xmlnsc;
  switch (e->type) {
    case tree::kName:
    case tree::kNameValue:
      return {};
    case tree::kValue:
      return "#";
    case x::kAttribute:
    case x::kSingleAttribute:
      return "@";
    case x::kNamespaceDecl:
    case x::kSingleNamespaceDecl:
      return "%";
    case tree::json::kArray:
      return "[]";
    default: {
      char text[16];
      std::snprintf(text, sizeof text, "(0x%08x)", e->type);
      return text;
    }
  }
}

TextTree text_tree_of(esql::EvalContext& context, tree::Element* e, int depth) {
  TextTree t;
  t.mark = mark_of(e);
  t.name = e->local_name();
  t.space = e->namespace_uri();
  const value::Value v = tree::scalar_value(e);
  const bool is_name = (e->type & tree::kTypeClassMask) == tree::kName;
  const bool is_too_deep =
      depth >= kTextTreeDepthMax || net::stack_remaining_bytes() < kStackReserveBytes;
  tree::Element* child = is_too_deep ? nullptr : tree::first_child(e);
  if (!v.is_null() || (!is_name && !child)) t.value = value_text(context, v);
  t.is_folder = child || (is_name && v.is_null());
  for (; child; child = tree::next_sibling(child)) {
    t.children.push_back(text_tree_of(context, child, depth + 1));
  }
  return t;
}

// Recursive descent over the notation.
class ForestParser {
 public:
  explicit ForestParser(std::string_view text) : text_(text) {}

  Result<TextForest> parse() {
    TextForest forest = MS_TRY(items(0));
    if (at_ < text_.size()) return fail("an element");
    return forest;
  }

 private:
  Status fail(std::string_view wanted) const {
    size_t line = 1;
    for (size_t i = 0; i < at_ && i < text_.size(); ++i) line += text_[i] == '\n';
    const std::string near(text_.substr(std::min(at_, text_.size()), 20));
    return base::make_error(errors::kTreeNotation, {line, wanted, near});
  }

  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  void skip_blanks() {
    while (!at_end() && is_blank_char(text_[at_])) ++at_;
  }

  Result<TextForest> items(int depth) {
    if (depth > kTextTreeDepthMax) return fail("less nesting");
    TextForest out;
    for (skip_blanks(); !at_end() && peek() != '}'; skip_blanks()) {
      out.push_back(MS_TRY(item(depth)));
    }
    return out;
  }

  Result<TextTree> item(int depth) {
    TextTree t;
    if (looks_like_value()) {
      t.mark = "#";
      t.value = MS_TRY(value());
      return t;
    }
    MS_TRY(title(t));
    const size_t behind = at_;
    skip_blanks();
    if (peek() == '=') {
      ++at_;
      skip_blanks();
      t.value = MS_TRY(value());
    } else {
      at_ = behind;
    }
    const size_t after_value = at_;
    skip_blanks();
    if (peek() == '{' && !is_next_name_space()) {
      ++at_;
      t.is_folder = true;
      t.children = MS_TRY(items(depth + 1));
      if (peek() != '}') return fail("a closing brace");
      ++at_;
    } else {
      at_ = after_value;
      if (t.value.empty()) t.is_folder = true;
    }
    return t;
  }

  // `a {uri}b` is two elements, `a {b}` one with a child: a URI has a colon or a slash, or a name
  // follows its brace without a blank.
  bool is_next_name_space() const {
    const size_t end = text_.find('}', at_);
    if (end == std::string_view::npos || end + 1 >= text_.size()) return false;
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    return inside.find_first_of(" \t\r\n{=") == std::string_view::npos && !inside.empty() &&
           !is_blank_char(text_[end + 1]) && text_[end + 1] != '}';
  }

  // A quoted text, a number, or a keyword with a quoted text.
  bool looks_like_value() const {
    const char c = peek();
    if (c == '\'' || (c >= '0' && c <= '9') || c == '-' || c == '+') return true;
    size_t i = at_;
    while (i < text_.size() && text_[i] >= 'A' && text_[i] <= 'Z') ++i;
    if (i == at_) return false;
    if (i < text_.size() && text_[i] == ' ') ++i;
    return i < text_.size() && text_[i] == '\'';
  }

  Status title(TextTree& t) {
    if (peek() == '@' || peek() == '%' || peek() == '#') {
      t.mark = text_[at_++];
    } else if (text_.substr(at_, 2) == "[]") {
      t.mark = "[]";
      at_ += 2;
    } else if (text_.substr(at_, 3) == "(0x") {
      const size_t end = text_.find(')', at_);
      if (end == std::string_view::npos) return fail("a closing parenthesis");
      t.mark = text_.substr(at_, end + 1 - at_);
      at_ = end + 1;
    }
    if (peek() == '{') {
      const size_t end = text_.find('}', at_);
      if (end == std::string_view::npos) return fail("a closing brace");
      t.space = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
    }
    if (peek() == '"') {
      const size_t end = text_.find('"', at_ + 1);
      if (end == std::string_view::npos) return fail("a closing quote");
      t.name = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
    } else {
      const size_t start = at_;
      while (!at_end() && !is_blank_char(peek()) && peek() != '=' && peek() != '{' && peek() != '}')
        ++at_;
      t.name = text_.substr(start, at_ - start);
    }
    if (t.mark == "%" && t.name.starts_with("xmlns:")) {
      t.name = t.name.substr(6);
      t.space = kXmlnsUri;
    }
    if (t.name.empty() && t.mark != "#" && t.mark != "%") return fail("a name");
    return {};
  }

  Result<std::string> value() {
    const size_t start = at_;
    while (!at_end() && ((peek() >= 'A' && peek() <= 'Z') || peek() == '_')) ++at_;
    const size_t keyword_end = at_;
    if (at_ > start && peek() == ' ' && at_ + 1 < text_.size() && text_[at_ + 1] == '\'') ++at_;
    if (peek() == '\'') {
      MS_TRY(quoted());
      if (text_.substr(start, keyword_end - start) == "INTERVAL") qualifier();
      return std::string(text_.substr(start, at_ - start));
    }
    at_ = start;
    while (!at_end() && !is_blank_char(peek()) && peek() != '{' && peek() != '}') ++at_;
    if (at_ == start) return fail("a value");
    return std::string(text_.substr(start, at_ - start));
  }

  Status quoted() {
    for (++at_;; ++at_) {
      if (at_end()) return fail("a closing quote");
      if (peek() != '\'') continue;
      if (at_ + 1 < text_.size() && text_[at_ + 1] == '\'') {
        ++at_;
      } else {
        break;
      }
    }
    ++at_;
    return {};
  }

  void qualifier() {  // DAY TO SECOND
    for (;;) {
      size_t i = at_;
      while (i < text_.size() && text_[i] == ' ') ++i;
      const size_t word = i;
      while (i < text_.size() && text_[i] >= 'A' && text_[i] <= 'Z') ++i;
      if (i == word || (i < text_.size() && !is_blank_char(text_[i]) && text_[i] != '}')) return;
      at_ = i;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

void print_into(const TextForest& forest, size_t depth, std::string& out) {
  for (const TextTree& t : forest) {
    out.append(depth * 2, ' ');
    if (t.name.empty() && t.mark == "#") {
      out += t.value + "\n";
      continue;
    }
    out += t.title();
    if (!t.value.empty()) out += "=" + t.value;
    if (t.children.empty()) {
      out += t.is_folder && t.value.empty() ? "{}\n" : "\n";
      continue;
    }
    out += "{\n";
    print_into(t.children, depth + 1, out);
    out.append(depth * 2, ' ');
    out += "}\n";
  }
}

bool step_matches(const TextPath::Step& step, const TextTree& t, size_t index) {
  if (step.index != 0 && step.index != index) return false;
  if (step.name == "*") return true;
  if (step.has_space && step.space != t.space) return false;
  if (!step.name.empty() && step.name[0] == '@') {
    return t.mark == "@" && step.name.compare(1, std::string::npos, t.name) == 0;
  }
  return step.name == t.name;
}

size_t index_in(const TextForest& forest, size_t i) {
  size_t index = 1;
  for (size_t k = 0; k < i; ++k) {
    index += forest[k].name == forest[i].name && forest[k].mark == forest[i].mark;
  }
  return index;
}

struct Trail {
  const TextPath* path;
  size_t at;
};

void remove_along(TextForest& forest, const std::vector<Trail>& trails) {
  if (trails.empty()) return;
  std::vector<size_t> indexes(forest.size());
  for (size_t i = 0; i < forest.size(); ++i) indexes[i] = index_in(forest, i);
  TextForest kept;
  for (size_t i = 0; i < forest.size(); ++i) {
    bool is_removed = false;
    std::vector<Trail> below;
    for (const Trail& trail : trails) {
      const auto& steps = trail.path->steps;
      size_t at = trail.at;
      while (at < steps.size() && steps[at].name == "**") {
        if (at == trail.at) below.push_back({trail.path, at});
        ++at;
      }
      if (at == steps.size() || step_matches(steps[at], forest[i], indexes[i])) {
        if (at + 1 >= steps.size()) {
          is_removed = true;
        } else {
          below.push_back({trail.path, at + 1});
        }
      }
    }
    if (is_removed) continue;
    remove_along(forest[i].children, below);
    kept.push_back(std::move(forest[i]));
  }
  forest = std::move(kept);
}

}  // namespace

std::string TextTree::title() const {
  std::string out = mark;
  if (space == kXmlnsUri && mark == "%") {
    out += "xmlns:";
  } else if (!space.empty()) {
    out += "{" + space + "}";
  }
  if (needs_quotes(name) && !(name.empty() && mark == "%")) return out + "\"" + name + "\"";
  return out + name;
}

TextForest forest_of(esql::EvalContext& context, tree::Element* e) {
  return e ? text_tree_of(context, e, 0).children : TextForest();
}

Result<TextForest> parse_forest(std::string_view text) { return ForestParser(text).parse(); }

std::string print_forest(const TextForest& forest) {
  std::string out;
  print_into(forest, 0, out);
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

Result<TextPath> TextPath::parse(std::string_view text) {
  TextPath path;
  while (!text.empty()) {
    Step step;
    if (text[0] == '{') {
      const size_t end = text.find('}');
      if (end == std::string_view::npos) return base::make_error(errors::kTreePath, {text});
      step.space = text.substr(1, end - 1);
      step.has_space = true;
      text.remove_prefix(end + 1);
    }
    size_t end = 0;
    if (text.substr(0, 1) == "\"") {
      end = text.find('"', 1);
      if (end == std::string_view::npos) return base::make_error(errors::kTreePath, {text});
      step.name = text.substr(1, end - 1);
      ++end;
    } else {
      end = std::min(text.find_first_of(".["), text.size());
      step.name = text.substr(0, end);
    }
    text.remove_prefix(end);
    if (text.substr(0, 1) == "[") {
      const size_t close = text.find(']');
      step.index =
          static_cast<size_t>(std::strtoul(std::string(text.substr(1)).c_str(), nullptr, 10));
      if (close == std::string_view::npos || step.index == 0) {
        return base::make_error(errors::kTreePath, {text});
      }
      text.remove_prefix(close + 1);
    }
    if (step.name.empty() || (!text.empty() && text[0] != '.')) {
      return base::make_error(errors::kTreePath, {text});
    }
    path.steps.push_back(std::move(step));
    if (text == ".") return base::make_error(errors::kTreePath, {text});
    if (!text.empty()) text.remove_prefix(1);
  }
  if (path.steps.empty()) return base::make_error(errors::kTreePath, {text});
  return path;
}

void remove_paths(TextForest& forest, const std::vector<TextPath>& paths) {
  std::vector<Trail> trails;
  for (const TextPath& path : paths) trails.push_back({&path, 0});
  remove_along(forest, trails);
}

const TextTree* find_path(const TextForest& forest, const TextPath& path) {
  const TextForest* level = &forest;
  const TextTree* found = nullptr;
  for (const TextPath::Step& step : path.steps) {
    found = nullptr;
    for (size_t i = 0; i < level->size() && !found; ++i) {
      if (step_matches(step, (*level)[i], index_in(*level, i))) found = &(*level)[i];
    }
    if (!found) return nullptr;
    level = &found->children;
  }
  return found;
}

void canonicalise(TextForest& forest, DocumentKind kind) {
  TextForest kept;
  for (TextTree& t : forest) {
    if (t.mark == "%" || t.mark == "(0x01000400)") continue;
    if (t.mark == "(0x03000001)" || t.mark == "(0x03000002)") t.mark.clear();
    if (t.mark == "(0x02000001)" || t.mark == "(0x02000002)") t.mark = "#";
    canonicalise(t.children, kind);
    kept.push_back(std::move(t));
  }
  forest = std::move(kept);
  // The elements of a JSON array all have one name, so that they keep their order.
  auto end = kind == DocumentKind::kJson
                 ? forest.end()
                 : std::stable_partition(forest.begin(), forest.end(),
                                         [](const TextTree& t) { return t.mark == "@"; });
  std::stable_sort(forest.begin(), end,
                   [](const TextTree& a, const TextTree& b) { return a.name < b.name; });
}

// ---------------------------------------------------------------- differences

namespace {

constexpr size_t kDiffLinesMax = 1500;  // of either side, for the exact form
constexpr size_t kDiffContext = 3;

std::vector<std::string_view> diff_split(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

struct DiffLine {
  char mark;
  std::string_view text;
};

// By the longest common subsequence; what is longer than kDiffLinesMax between the common ends is
// shown as replaced whole.
std::vector<DiffLine> diff_of(const std::vector<std::string_view>& a,
                              const std::vector<std::string_view>& b) {
  size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  const size_t n = a.size() - head - tail, m = b.size() - head - tail;
  std::vector<DiffLine> out;
  for (size_t i = 0; i < head; ++i) out.push_back({' ', a[i]});
  size_t i = 0, j = 0;
  if (n <= kDiffLinesMax && m <= kDiffLinesMax) {
    std::vector<uint16_t> length((n + 1) * (m + 1), 0);
    auto at = [&](size_t x, size_t y) -> uint16_t& { return length[x * (m + 1) + y]; };
    for (size_t x = n; x-- > 0;) {
      for (size_t y = m; y-- > 0;) {
        at(x, y) = a[head + x] == b[head + y] ? static_cast<uint16_t>(at(x + 1, y + 1) + 1)
                                              : std::max(at(x + 1, y), at(x, y + 1));
      }
    }
    while (i < n && j < m) {
      if (a[head + i] == b[head + j]) {
        out.push_back({' ', a[head + i++]});
        ++j;
      } else if (at(i + 1, j) >= at(i, j + 1)) {
        out.push_back({'-', a[head + i++]});
      } else {
        out.push_back({'+', b[head + j++]});
      }
    }
  }
  while (i < n) out.push_back({'-', a[head + i++]});
  while (j < m) out.push_back({'+', b[head + j++]});
  for (size_t k = a.size() - tail; k < a.size(); ++k) out.push_back({' ', a[k]});
  return out;
}

}  // namespace

std::string diff_lines(std::string_view expected, std::string_view found) {
  if (expected == found) return {};
  const std::vector<DiffLine> lines = diff_of(diff_split(expected), diff_split(found));
  std::vector<bool> is_shown(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].mark == ' ') continue;
    const size_t from = i < kDiffContext ? 0 : i - kDiffContext;
    for (size_t k = from; k < std::min(lines.size(), i + kDiffContext + 1); ++k) is_shown[k] = true;
  }
  std::string out;
  bool was_shown = true;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (is_shown[i]) {
      out += std::string("  ") + lines[i].mark + " ";
      out.append(lines[i].text).append("\n");
    } else if (was_shown) {
      out += "    ...\n";
    }
    was_shown = is_shown[i];
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

// ---------------------------------------------------------------- elements

namespace {

tree::FieldType type_of(const TextTree& t) {
  namespace x = tree::xmlnsc;
  if (t.mark == "@") return x::kAttribute;
  if (t.mark == "%") return x::kNamespaceDecl;
  if (t.mark == "[]") return tree::json::kArray;
  if (t.mark == "#") return tree::kValue;
  if (t.mark.starts_with("(0x")) {
    return static_cast<tree::FieldType>(std::strtoul(t.mark.c_str() + 3, nullptr, 16));
  }
  return t.value.empty() ? tree::kName : tree::kNameValue;
}

Status text_literal(std::string_view literal, tree::TreeContext& context, value::Value& out) {
  std::string text;
  for (size_t i = 1; i + 1 < literal.size(); ++i) {
    if (literal[i] == '\'') ++i;
    if (literal[i] == '\\' && i + 2 < literal.size() &&
        (literal[i + 1] == 'n' || literal[i + 1] == 'r')) {
      text += literal[++i] == 'n' ? '\n' : '\r';
    } else {
      text += literal[i];
    }
  }
  out = value::Value::make_character(context.arena.copy(text));
  return {};
}

Status literal_value(esql::EvalContext& context, const std::string& literal, value::Value& out) {
  if (literal.starts_with('\'')) return text_literal(literal, context.tree, out);
  base::NameTable names;
  esql::LinkOptions options;
  options.names = &names;
  auto compiled = esql::CompiledExpression::compile(literal, options, context.local_zone);
  if (!compiled.ok()) return base::make_error(errors::kBadLiteral, {literal});
  esql::Host host;
  tree::Element* element = nullptr;
  esql::Invocation invocation{context.tree, host, context.local_zone, context.now_gmt_micros};
  MS_TRY(compiled.value()->evaluate(invocation, out, element));
  out = value::copy_value(out, context.tree.arena);  // constants go with the compiled expression
  return {};
}

Status build_element(esql::EvalContext& context, tree::Element* parent, const TextTree& t,
                     bool is_root) {
  if (net::stack_remaining_bytes() < kStackReserveBytes) {
    return base::make_error(errors::kTreeNotation, {0, "less nesting", t.name});
  }
  tree::TreeContext& tree = context.tree;
  const base::QName* name = tree.names.qname(t.space, t.name);
  tree::Element* e = nullptr;
  const tree::Domain* domain = is_root ? parsers::find_domain(t.name) : nullptr;
  if (domain) {
    e = tree::make_domain_root(tree, *domain, name);
  } else {
    e = tree::make_element(tree, name, type_of(t));
  }
  tree::append_child(parent, e);
  if (!t.value.empty()) {
    value::Value v;
    MS_TRY(literal_value(context, t.value, v));
    tree::set_value(e, v);
  }
  for (const TextTree& child : t.children) MS_TRY(build_element(context, e, child, false));
  return {};
}

}  // namespace

Status build_elements(esql::EvalContext& context, tree::Element* parent, const TextForest& forest,
                      bool is_root) {
  for (const TextTree& t : forest) MS_TRY(build_element(context, parent, t, is_root));
  return {};
}

}  // namespace millstream::flowtest
