// Topic names and filters of MQTT (4.7) and shared subscriptions (4.8.2). What they match is the
// topic tree's business (queue/topic): `+` and `#` mean the same there, but that filters which
// begin with a wildcard do not see topics that begin with `$`.
// Thread: any. Views are of what was passed.
#pragma once
#include <string>
#include <string_view>

namespace millstream::wire::mqtt {

// A topic, or a filter, that is the queue of this name.
inline constexpr std::string_view kQueuePrefix = "queue://";

// Not empty, no wildcard, no zero character. UTF-8 is checked where packets are read.
bool is_topic_name(std::string_view topic);
// Not empty; `+` and `#` alone in their levels, `#` in the last.
bool is_topic_filter(std::string_view filter);

struct FilterParts {
  std::string_view group;   // of $share/group/filter; empty: not shared
  std::string_view filter;  // what is matched
};
// False: it is no valid filter.
bool split_filter(std::string_view filter, FilterParts& out);

// Whether a publication to `topic` is hidden from the filter by the rule of `$`.
bool is_hidden_from(std::string_view topic, std::string_view filter);

}  // namespace millstream::wire::mqtt
