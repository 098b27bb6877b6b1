// YAML 1.1 documents (server.conf.yaml, OpenAPI files) as a small tree with line numbers; libyaml
// does the reading. Scalars keep their text: what 0755, 1.10 or yes mean is for the reader of the
// setting to say. Anchors and aliases are resolved by copying, "<<" merges a mapping.
// Limits: bytes, nesting and total nodes (an alias counts all it copies), so that no small file can
// grow without bound. A duplicate key is an error that names the first line.
// Thread: any (no sharing). Lifetime: a node owns all below it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace millstream::format {

struct YamlEntry;

struct YamlNode {
  enum class Kind : uint8_t { kNull, kScalar, kSequence, kMapping };

  Kind kind = Kind::kNull;
  bool is_quoted = false;  // a scalar in quotes or block style: always text
  uint32_t line = 0;       // from 1
  uint32_t column = 0;     // from 1
  std::string text;        // of a scalar, and of a null that was written ("~", "null")
  std::vector<YamlNode> items;
  std::vector<YamlEntry> entries;

  bool is_null() const { return kind == Kind::kNull; }
  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_sequence() const { return kind == Kind::kSequence; }
  bool is_mapping() const { return kind == Kind::kMapping; }
  // The value of a key of this mapping; null when absent or no mapping.
  const YamlNode* find(std::string_view key) const;
  // Through several mappings: find_path({"ResourceManagers", "HTTPConnector", "ListenerPort"}).
  const YamlNode* find_path(std::initializer_list<std::string_view> keys) const;
  // Unquoted true/false/yes/no/on/off in any case, or the same text in quotes.
  std::optional<bool> as_bool() const;
  // Decimal, 0x hexadecimal, or 0o octal digits with a sign.
  std::optional<int64_t> as_integer() const;
};

struct YamlEntry {
  std::string key;
  uint32_t line = 0;
  YamlNode value;
};

struct YamlLimits {
  size_t bytes_max = 16 * 1024 * 1024;
  uint32_t depth_max = 100;
  size_t nodes_max = 1'000'000;
};

// The first document of `text`; a null node when there is none. `file` is for error positions.
Result<YamlNode> parse_yaml(std::string_view text, std::string_view file,
                            const YamlLimits& limits = {});

}  // namespace millstream::format
