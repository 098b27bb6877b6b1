#include "wire/mqtt/topic_names.h"

#include <cstring>

#include "wire/mqtt/words.h"

namespace millstream::wire::mqtt {

bool is_topic_name(std::string_view topic) {
  return !topic.empty() && topic.size() <= kTextBytesMax &&
         topic.find_first_of(std::string_view("+#\0", 3)) == std::string_view::npos;
}

bool is_topic_filter(std::string_view filter) {
  if (filter.empty() || filter.size() > kTextBytesMax) return false;
  for (size_t i = 0; i < filter.size(); ++i) {
    char c = filter[i];
    if (c == '\0') return false;
    if (c != '+' && c != '#') continue;
    bool begins = i == 0 || filter[i - 1] == '/';
    bool ends = i + 1 == filter.size() || (c == '+' && filter[i + 1] == '/');
    if (!begins || !ends) return false;
  }
  return true;
}

bool split_filter(std::string_view filter, FilterParts& out) {
  constexpr std::string_view kShare = "$share/";
  out = {{}, filter};
  if (!filter.starts_with(kShare)) {
    // "$share" alone and "$share/x" without a filter are no shared subscriptions, and no topics.
    return filter != "$share" && is_topic_filter(filter);
  }
  std::string_view rest = filter.substr(kShare.size());
  size_t slash = rest.find('/');
  if (slash == std::string_view::npos || slash == 0) return false;
  out.group = rest.substr(0, slash);
  out.filter = rest.substr(slash + 1);
  return out.group.find_first_of("+#") == std::string_view::npos && is_topic_filter(out.filter);
}

bool is_hidden_from(std::string_view topic, std::string_view filter) {
  return topic.starts_with('$') && (filter.starts_with('+') || filter.starts_with('#'));
}

}  // namespace millstream::wire::mqtt
