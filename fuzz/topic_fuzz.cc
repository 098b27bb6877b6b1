// Topics: the tree finds a subscription exactly when its pattern matches by itself, and is empty
// again when the subscription goes. The input is patterns, a line each, and a topic in the last.
#include <cstdlib>

#include "queue/topic/topic_tree.h"

namespace topic = millstream::queue::topic;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  topic::TopicTree tree;
  std::vector<topic::TopicPattern> patterns;
  constexpr size_t kPatternsMax = 20;
  while (patterns.size() < kPatternsMax) {
    size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    bool is_characters = !line.empty() && line[0] == '!';
    auto pattern = topic::TopicPattern::create(
        line.substr(is_characters),
        is_characters ? topic::WildcardScheme::kCharacter : topic::WildcardScheme::kTopic);
    if (!pattern.ok()) continue;
    if (!tree.subscribe(patterns.size(), pattern.value()).ok()) abort();
    patterns.push_back(std::move(pattern).take_value());
  }
  if (!topic::check_topic_string(text).ok()) return 0;
  topic::MatchScratch scratch;
  std::vector<topic::SubscriptionId> found;
  tree.match(text, scratch, found);
  std::vector<bool> is_found(patterns.size());
  for (topic::SubscriptionId id : found) {
    if (is_found[id]) abort();
    is_found[id] = true;
  }
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (patterns[i].matches(text) != is_found[i]) abort();
    if (!tree.unsubscribe(i)) abort();
  }
  if (tree.node_count() != 0) abort();
  return 0;
}
