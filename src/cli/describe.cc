#include "cli/describe.h"

namespace millstream::cli {
namespace {

char upper_of(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::string upper_text(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = upper_of(c);
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_meant(const Topic& topic, const std::string& word) {
  std::string name = upper_text(topic.name);
  if (name == word) return true;
  if (topic.kind == "node") return upper_text(topic.summary) == word;
  if (topic.kind != "error") return false;
  if (word.size() == name.size() + 1 && word.starts_with(name)) {
    return word.back() == 'E' || word.back() == 'W' || word.back() == 'I';
  }
  return !word.empty() && is_digit(word[0]) && name.ends_with(word) &&
         !is_digit(name[name.size() - word.size() - 1]);
}

}  // namespace

std::vector<const Topic*> find_topics(std::string_view word) {
  std::vector<const Topic*> out;
  std::string wanted = upper_text(word);
  for (const Topic& topic : all_topics()) {
    if (is_meant(topic, wanted)) out.push_back(&topic);
  }
  return out;
}

}  // namespace millstream::cli
