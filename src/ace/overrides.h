// Overrides of flow and node properties: "Flow#Node.property=value" lines as mqsiapplybaroverride
// takes them, and the override attributes of a BAR's broker.xml.
//
// A node inside a subflow is addressed by the main flow and the whole label ("Main#Sub.Compute.x")
// or by the subflow ("Sub#Compute.x"); flow names may carry the broker schema or not.
// Precedence: what was added with the higher rank wins; within a rank the later one.
// Thread: one.
#pragma once
#include <functional>
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
  // Lines of "Flow#Node.property=value"; '#', ';' or '//' at the start of a line begins a comment.
  // `file` is for messages.
  void add_lines(std::string_view text, const std::string& file, base::Diagnostics& diagnostics);
  // META-INF/broker.xml of a BAR or of an archive in it.
  Status add_broker_xml(std::string_view bytes, const std::string& file);
  void add(std::string key, std::string value, OverrideRank rank, base::Position position,
           std::string origin);

  // Adds those of another set; what is there with the same or a higher rank stays.
  void add_all(const Overrides& other);
  // Marks as used what `copy`, made from this set, has used.
  void note_used(const Overrides& copy);

  // One way to address a flow or node: the names the flow goes by, and the label of the node in it
  // (empty for the flow itself).
  struct Address {
    std::vector<std::string> flows;
    std::string node;
  };
  // Puts the overrides of a node (or flow) that has several addresses into `properties`. A higher
  // rank wins; within a rank the later address does.
  void apply(const std::vector<Address>& addresses, flow::PropertySet& properties);
  // The properties of a flow are whatever it declares, so that apply() leaves them unused: marks
  // those that `is_known` accepts.
  void note_known(const std::vector<std::string>& flows,
                  const std::function<bool(std::string_view)>& is_known);
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
