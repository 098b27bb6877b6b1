// The properties of one node (or flow) as the loader found them, after overrides: text with the
// place it came from. tools/gen.py writes, from each node.yaml, the typed struct and the function
// that fills it from this set and reports what does not fit.
// Thread: one while loading, any afterwards.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"

namespace millstream::flow {

struct Property {
  std::string value;
  base::Position position;  // the attribute, or the override's line
  std::string origin;       // "flow", "subflow Sub", "BAR override", "overrides file", ...
};

// One row of a table property such as <filterTable .../>: attribute name -> value.
struct PropertyRow {
  std::map<std::string, std::string, std::less<>> columns;
  base::Position position;
  std::string_view get(std::string_view column) const {
    auto it = columns.find(column);
    return it == columns.end() ? std::string_view() : std::string_view(it->second);
  }
};

class PropertySet {
 public:
  // Replaces an earlier one: the loader applies origins in the order of their precedence.
  void set(std::string name, Property property) { values_[std::move(name)] = std::move(property); }
  // Null when the file and all overrides are silent; the node's default then holds.
  const Property* find(std::string_view name) const {
    auto it = values_.find(name);
    return it == values_.end() ? nullptr : &it->second;
  }
  void add_row(std::string table, PropertyRow row) {
    tables_[std::move(table)].push_back(std::move(row));
  }
  // In the order of the file; empty for an unknown table.
  const std::vector<PropertyRow>& rows(std::string_view table) const {
    static const std::vector<PropertyRow> kNone;
    auto it = tables_.find(table);
    return it == tables_.end() ? kNone : it->second;
  }
  const std::map<std::string, Property, std::less<>>& values() const { return values_; }
  const std::map<std::string, std::vector<PropertyRow>, std::less<>>& tables() const {
    return tables_;
  }
  base::Position position;  // the node itself

 private:
  std::map<std::string, Property, std::less<>> values_;
  std::map<std::string, std::vector<PropertyRow>, std::less<>> tables_;
};

}  // namespace millstream::flow
