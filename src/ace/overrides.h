// Overrides of flow and node properties: "Flow#Node.property=value" lines as mqsiapplybaroverride
// takes them, and the override attributes of a BAR's broker.xml.
//
// A node inside a subflow is addressed by the main flow and the whole label ("Main#Sub.Compute.x")
// or by the subflow ("Sub#Compute.x"); flow names may carry the broker schema or not.
// Precedence: what was added with the higher rank wins; within a rank the later one.
// Thread: one.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "flow/property_set.h"

namespace millstream::ace {

enum class OverrideRank : uint8_t { kBar, kOverridesFile };

class Overrides {
 public:
  // Lines of "Flow#Node.property=value"; '#' or ';' at the start of a line begins a comment, unless
  // the line has the form of an override. `file` is for messages.
  void add_lines(std::string_view text, const std::string& file, base::Diagnostics& diagnostics);
  // META-INF/broker.xml of a BAR or of an archive in it.
  Status add_broker_xml(std::string_view bytes, const std::string& file);
  void add(std::string key, std::string value, OverrideRank rank, base::Position position,
           std::string origin);

  // Adds those of another set; what is there with the same or a higher rank stays.
  void add_all(const Overrides& other);
  // Marks as used what `copy`, made from this set, has used.
  void note_used(const Overrides& copy);

  // The override for one property, or null. `flows` are the names the flow goes by; `node` is empty
  // for a property of the flow itself.
  const flow::Property* find(const std::vector<std::string>& flows, std::string_view node,
                             std::string_view property);
  // Properties overridden for this node (by name), whether or not the file sets them.
  std::vector<std::string> properties_of(const std::vector<std::string>& flows,
                                         std::string_view node) const;
  // A warning for each line of an overrides file that matched nothing.
  void report_unused(base::Diagnostics& diagnostics) const;

 private:
  struct Entry {
    flow::Property property;
    OverrideRank rank;
    bool is_used = false;
  };
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace millstream::ace
