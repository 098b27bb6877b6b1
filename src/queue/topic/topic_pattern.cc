#include "queue/topic/topic_pattern.h"

#include "base/utf8_check.h"
#include "queue/topic/errors_gen.h"
#include "text/utf8.h"

namespace millstream::queue::topic {
namespace {

constexpr char kPlain = 'c', kOne = '1', kAny = '*';

Status topic_error(std::string_view topic, const char* reason) {
  std::string_view shown = text::is_valid_utf8(topic) ? topic : std::string_view("?");
  return base::make_error(errors::kTopicString,
                          {shown.substr(0, text::advance_code_points(shown, 0, 100)), reason});
}

// Matches `size` elements of a text against those of a pattern, going back to the last kAny only.
// kind(p): of the pattern's element; same(p, t): equal elements. step(t): the next element's start.
template <typename Kind, typename Same, typename Step>
bool match_elements(size_t pattern_size, size_t text_size, Kind kind, Same same, Step step) {
  size_t t = 0, p = 0, retry_t = 0, retry_p = std::string_view::npos;
  while (t < text_size || p < pattern_size) {
    if (p < pattern_size && kind(p) == kAny) {
      retry_p = ++p;
      retry_t = t;
      continue;
    }
    if (p < pattern_size && t < text_size) {
      if (kind(p) == kOne) {
        t = step(t);
        ++p;
        continue;
      }
      if (same(p, t)) {
        ++t;
        ++p;
        continue;
      }
    }
    if (retry_p == std::string_view::npos || retry_t >= text_size) return false;
    t = retry_t = step(retry_t);
    p = retry_p;
  }
  return true;
}

}  // namespace

Status check_topic_string(std::string_view topic) {
  if (topic.size() > kTopicBytesMax) return topic_error(topic.substr(0, 20), "it is too long");
  if (!text::is_valid_utf8(topic)) return topic_error(topic, "it is not valid UTF-8");
  if (topic.find('\0') != std::string_view::npos) {
    return topic_error(topic.substr(0, topic.find('\0')), "it has a zero character");
  }
  if (topic.size() > kTopicCharactersMax && text::count_code_points(topic) > kTopicCharactersMax) {
    return topic_error(topic, "it is longer than 10240 characters");
  }
  return {};
}

Result<std::string> compose_topic(std::string_view base, std::string_view given) {
  std::string whole(base);
  if (!base.empty() && !given.empty()) whole += '/';
  whole += given;
  MS_TRY(check_topic_string(whole));
  return whole;
}

void split_topic(std::string_view topic, std::vector<std::string_view>& levels) {
  levels.clear();
  if (topic.empty()) return;
  while (true) {
    size_t slash = topic.find('/');
    levels.push_back(topic.substr(0, slash));
    if (slash == std::string_view::npos) return;
    topic.remove_prefix(slash + 1);
  }
}

Result<TopicPattern> TopicPattern::create(std::string_view text, WildcardScheme scheme) {
  MS_TRY(check_topic_string(text));
  TopicPattern p;
  p.text_ = text;
  p.scheme_ = scheme;
  if (scheme == WildcardScheme::kTopic) {
    p.read_levels();
  } else {
    p.read_characters();
  }
  if (p.wildcards_ > kPatternWildcardsMax) return topic_error(text, "it has too many wildcards");
  return p;
}

void TopicPattern::read_levels() {
  std::vector<std::string_view> levels;
  split_topic(text_, levels);
  bool is_literal = true;
  for (std::string_view level : levels) {
    elements_.push_back(level == "+" ? kOne : level == "#" ? kAny : kPlain);
    if (elements_.back() != kPlain) {
      ++wildcards_;
      is_literal = false;
    }
    if (!is_literal) continue;
    if (literal_levels_++ > 0) literal_ += '/';
    literal_ += level;
  }
}

void TopicPattern::read_characters() {
  std::string_view text = text_;
  bool is_literal = true;
  for (size_t i = 0; i < text.size(); ++i) {
    char kind = text[i] == '*' ? kAny : text[i] == '?' ? kOne : kPlain;
    bool is_escape = text[i] == '%' && i + 1 < text.size() &&
                     (text[i + 1] == '*' || text[i + 1] == '?' || text[i + 1] == '%');
    if (is_escape) ++i;
    elements_.push_back(kind);
    characters_.push_back(text[i]);
    if (kind != kPlain) {
      ++wildcards_;
      is_literal = false;
    }
    if (!is_literal) continue;
    literal_.push_back(text[i]);
    literal_levels_ += text[i] == '/';
  }
  if (is_literal && !literal_.empty()) ++literal_levels_;  // its last level is whole too
}

bool TopicPattern::matches(std::string_view topic) const {
  if (wildcards_ == 0) return topic == literal_;
  auto kind = [this](size_t p) { return elements_[p]; };
  if (scheme_ == WildcardScheme::kCharacter) {
    if (topic.substr(0, literal_.size()) != literal_) return false;
    return match_elements(
        elements_.size(), topic.size(), kind,
        [&](size_t p, size_t t) { return characters_[p] == topic[t]; },
        [&](size_t t) {
          size_t n = base::utf8_sequence_size(topic.substr(t));
          return t + (n ? n : 1);
        });
  }
  std::vector<std::string_view> pattern_levels, topic_levels;
  split_topic(text_, pattern_levels);
  split_topic(topic, topic_levels);
  return match_elements(
      elements_.size(), topic_levels.size(), kind,
      [&](size_t p, size_t t) { return pattern_levels[p] == topic_levels[t]; },
      [](size_t t) { return t + 1; });
}

}  // namespace millstream::queue::topic
