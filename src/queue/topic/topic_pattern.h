// Topic strings and the patterns of subscriptions.
//
// A topic string is levels between slashes; empty levels count ("a//b" has three), the empty string
// is the root of the tree. In a pattern of the topic scheme a level that is `+` alone stands for
// one level and one that is `#` alone for any number of them, none included, wherever it stands;
// next to other characters both are ordinary. In a pattern of the character scheme `*` stands for
// any characters, slashes included, `?` for one, and `%` takes the special meaning from a `*`, `?`
// or `%` behind it. Case counts.
// Limits: kTopicCharactersMax (MQ's), kTopicBytesMax, kPatternWildcardsMax.
// Thread: any. Views are of what was passed.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace millstream::queue::topic {

constexpr size_t kTopicCharactersMax = 10'240;
constexpr size_t kTopicBytesMax = 4 * kTopicCharactersMax;
constexpr size_t kPatternWildcardsMax = 100;

// 2425: too long, not UTF-8, or with a zero character.
Status check_topic_string(std::string_view topic);

// TOPICSTR of a topic object (or what is above) and what the application gave, with a slash
// between; when one is empty, the other alone. 2425 when the result is too long.
Result<std::string> compose_topic(std::string_view base, std::string_view given);

// The levels of "a//b": "a", "", "b"; none of the empty string.
void split_topic(std::string_view topic, std::vector<std::string_view>& levels);

enum class WildcardScheme : uint8_t { kTopic, kCharacter };

// Checked and taken apart once.
class TopicPattern {
 public:
  // 2425 as check_topic_string(), also for more than kPatternWildcardsMax wildcards.
  static Result<TopicPattern> create(std::string_view text, WildcardScheme scheme);

  const std::string& text() const { return text_; }
  WildcardScheme scheme() const { return scheme_; }
  bool has_wildcard() const { return wildcards_ > 0; }
  // Without a wildcard: the topic itself (escapes are resolved).
  const std::string& topic() const { return literal_; }
  // What comes before the first wildcard; for the topic scheme whole levels without the last slash.
  const std::string& literal_prefix() const { return literal_; }
  // How many whole levels are certain: a topic object that blocks wildcards deeper than this stops
  // the pattern.
  uint32_t literal_levels() const { return literal_levels_; }

  // Time is at most (size of the pattern) * (size of the topic). The reference for the tree too.
  bool matches(std::string_view topic) const;

 private:
  void read_levels();
  void read_characters();
  std::string text_;
  std::string literal_;
  std::string elements_;    // what each level or character of the pattern is
  std::string characters_;  // of the character scheme, escapes resolved
  WildcardScheme scheme_ = WildcardScheme::kTopic;
  uint32_t wildcards_ = 0;
  uint32_t literal_levels_ = 0;
};

}  // namespace millstream::queue::topic
