#include "format/yaml.h"

#include <yaml.h>

#include <charconv>
#include <map>

#include "format/errors_gen.h"
#include "text/utf8.h"

namespace millstream::format {
namespace {

bool is_null_word(std::string_view s) {
  return s.empty() || s == "~" || s == "null" || s == "Null" || s == "NULL";
}

size_t count_nodes(const YamlNode& node) {
  size_t n = 1;  // recursion is bounded by depth_max
  for (const YamlNode& item : node.items) n += count_nodes(item);
  for (const YamlEntry& entry : node.entries) n += 1 + count_nodes(entry.value);
  return n;
}

uint32_t depth_of(const YamlNode& node) {
  uint32_t deepest = 0;
  for (const YamlNode& item : node.items) deepest = std::max(deepest, depth_of(item));
  for (const YamlEntry& entry : node.entries) deepest = std::max(deepest, depth_of(entry.value));
  return deepest + 1;
}

class YamlReader {
 public:
  YamlReader(std::string_view text, std::string_view file, const YamlLimits& limits)
      : text_(text), file_(file), limits_(limits) {
    is_ready_ = yaml_parser_initialize(&parser_) != 0;
  }
  ~YamlReader() {
    if (is_ready_) yaml_parser_delete(&parser_);
  }
  YamlReader(const YamlReader&) = delete;

  Result<YamlNode> run() {
    if (text_.size() > limits_.bytes_max) return fail(1, 1, "the file is larger than the limit");
    if (!is_ready_) return fail(1, 1, "the reader could not start");
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text_.data()),
                                 text_.size());
    bool is_done = false;
    while (!is_done) {
      yaml_event_t event;
      if (!yaml_parser_parse(&parser_, &event)) {
        return fail(static_cast<uint32_t>(parser_.problem_mark.line + 1),
                    static_cast<uint32_t>(parser_.problem_mark.column + 1),
                    parser_.problem ? parser_.problem : "the text is not YAML");
      }
      Status status = take(event, is_done);
      yaml_event_delete(&event);
      MS_TRY(std::move(status));
    }
    return std::move(result_);
  }

 private:
  struct Open {
    YamlNode node;
    std::string anchor;
    bool has_key = false;
    std::string key;
    uint32_t key_line = 0;
  };

  Status fail(uint32_t line, uint32_t column, std::string_view reason) {
    return base::make_error_at(errors::kYaml, {std::string(file_), line, column}, {reason});
  }
  Status fail_at(const YamlNode& node, std::string_view reason) {
    return fail(node.line, node.column, reason);
  }

  static YamlNode make_node(const yaml_event_t& event, YamlNode::Kind kind) {
    YamlNode n;
    n.kind = kind;
    n.line = static_cast<uint32_t>(event.start_mark.line + 1);
    n.column = static_cast<uint32_t>(event.start_mark.column + 1);
    return n;
  }
  static std::string name_of(const yaml_char_t* anchor) {
    return anchor ? reinterpret_cast<const char*>(anchor) : "";
  }

  Status take(const yaml_event_t& event, bool& is_done) {
    switch (event.type) {
      case YAML_STREAM_END_EVENT:
      case YAML_DOCUMENT_END_EVENT:
        is_done = true;
        return {};
      case YAML_SCALAR_EVENT:
        return take_scalar(event);
      case YAML_ALIAS_EVENT:
        return take_alias(event);
      case YAML_SEQUENCE_START_EVENT:
        return open(make_node(event, YamlNode::Kind::kSequence),
                    name_of(event.data.sequence_start.anchor));
      case YAML_MAPPING_START_EVENT:
        return open(make_node(event, YamlNode::Kind::kMapping),
                    name_of(event.data.mapping_start.anchor));
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT: {
        Open closed = std::move(open_.back());
        open_.pop_back();
        return add(std::move(closed.node), closed.anchor);
      }
      default:
        return {};
    }
  }

  Status open(YamlNode node, std::string anchor) {
    if (open_.size() >= limits_.depth_max) {
      return fail_at(node, "the nesting is deeper than the limit");
    }
    if (!open_.empty() && open_.back().node.is_mapping() && !open_.back().has_key) {
      return fail_at(node, "a key must be a scalar");
    }
    open_.push_back({.node = std::move(node), .anchor = std::move(anchor)});
    return {};
  }

  Status take_scalar(const yaml_event_t& event) {
    const auto& s = event.data.scalar;
    YamlNode n = make_node(event, YamlNode::Kind::kScalar);
    n.text.assign(reinterpret_cast<const char*>(s.value), s.length);
    n.is_quoted = s.style != YAML_PLAIN_SCALAR_STYLE;
    if (!n.is_quoted && is_null_word(n.text)) n.kind = YamlNode::Kind::kNull;
    return add(std::move(n), name_of(s.anchor));
  }

  Status take_alias(const yaml_event_t& event) {
    YamlNode place = make_node(event, YamlNode::Kind::kNull);
    auto found = anchors_.find(name_of(event.data.alias.anchor));
    if (found == anchors_.end()) return fail_at(place, "the alias has no anchor before it");
    size_t size = count_nodes(found->second);
    if (nodes_ + size > limits_.nodes_max) {
      return fail_at(place, "aliases make the document larger than the limit");
    }
    nodes_ += size;
    if (open_.size() + depth_of(found->second) > limits_.depth_max) {
      return fail_at(place, "the nesting is deeper than the limit");
    }
    return add(YamlNode(found->second), "");
  }

  Status add(YamlNode node, const std::string& anchor) {
    if (++nodes_ > limits_.nodes_max) return fail_at(node, "the document has too many nodes");
    if (!anchor.empty()) anchors_[anchor] = node;
    if (open_.empty()) {
      result_ = std::move(node);
      return {};
    }
    Open& parent = open_.back();
    if (parent.node.is_sequence()) {
      parent.node.items.push_back(std::move(node));
      return {};
    }
    if (!parent.has_key) {
      if (node.is_sequence() || node.is_mapping()) return fail_at(node, "a key must be a scalar");
      parent.has_key = true;
      parent.key = std::move(node.text);
      parent.key_line = node.line;
      return {};
    }
    parent.has_key = false;
    if (parent.key == "<<" && !node.is_scalar()) return merge(parent.node, node);
    if (const YamlEntry* known = find_entry(parent.node, parent.key)) {
      return fail(
          parent.key_line, 1,
          "the key '" + parent.key + "' is already set in line " + std::to_string(known->line));
    }
    parent.node.entries.push_back({parent.key, parent.key_line, std::move(node)});
    return {};
  }

  // "<<": the keys of other mappings that this one does not set itself. Keys set so far win; YAML
  // files write the merge first or have no overlap, and a later own key is then a duplicate error.
  Status merge(YamlNode& target, const YamlNode& source) {
    if (source.is_sequence()) {
      for (const YamlNode& item : source.items) MS_TRY(merge(target, item));
      return {};
    }
    if (!source.is_mapping()) return fail_at(source, "'<<' needs a mapping");
    for (const YamlEntry& entry : source.entries) {
      if (!find_entry(target, entry.key)) target.entries.push_back(entry);
    }
    return {};
  }

  static const YamlEntry* find_entry(const YamlNode& node, std::string_view key) {
    for (const YamlEntry& entry : node.entries) {
      if (entry.key == key) return &entry;
    }
    return nullptr;
  }

  std::string_view text_;
  std::string_view file_;
  const YamlLimits& limits_;
  yaml_parser_t parser_;
  bool is_ready_ = false;
  std::vector<Open> open_;
  std::map<std::string, YamlNode> anchors_;
  size_t nodes_ = 0;
  YamlNode result_;
};

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const YamlEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

const YamlNode* YamlNode::find_path(std::initializer_list<std::string_view> keys) const {
  const YamlNode* n = this;
  for (std::string_view key : keys) {
    n = n->find(key);
    if (!n) return nullptr;
  }
  return n;
}

std::optional<bool> YamlNode::as_bool() const {
  if (!is_scalar()) return std::nullopt;
  for (std::string_view yes : {"true", "yes", "on"}) {
    if (text::equals_ignoring_ascii_case(text, yes)) return true;
  }
  for (std::string_view no : {"false", "no", "off"}) {
    if (text::equals_ignoring_ascii_case(text, no)) return false;
  }
  return std::nullopt;
}

std::optional<int64_t> YamlNode::as_integer() const {
  if (!is_scalar()) return std::nullopt;
  std::string_view s = text;
  bool is_negative = !s.empty() && s[0] == '-';
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) s.remove_prefix(1);
  int base = 10;
  if (s.size() > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'o')) {
    base = s[1] == 'x' ? 16 : 8;
    s.remove_prefix(2);
  }
  int64_t v = 0;
  if (s.empty() || s[0] == '-') return std::nullopt;
  auto r = std::from_chars(s.data(), s.data() + s.size(), v, base);
  if (r.ec != std::errc() || r.ptr != s.data() + s.size()) return std::nullopt;
  return is_negative ? -v : v;
}

Result<YamlNode> parse_yaml(std::string_view text, std::string_view file,
                            const YamlLimits& limits) {
  return YamlReader(text, file, limits).run();
}

}  // namespace millstream::format
