// The node types of the product that projects in the wild use, by xmi:type prefix: what the Toolkit
// calls them and, for those this server does not run, what somebody who meets one can do.
// Thread: any.
#pragma once
#include <string_view>

namespace millstream::ace {

struct KnownNode {
  std::string_view type;   // "ComIbmMQInput"
  std::string_view name;   // "MQInput", as in the Toolkit's palette
  std::string_view needs;  // what running it takes: "queues", "a graphical data map", ...
  bool is_input = false;
};

// Null for a user-defined node or a type nobody has met yet.
const KnownNode* find_known_node(std::string_view type);

// The end of "... is not supported yet: it needs <needs>; <this>".
std::string_view advice_for(const KnownNode& node);

}  // namespace millstream::ace
