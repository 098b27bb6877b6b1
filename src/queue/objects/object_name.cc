#include "queue/objects/object_name.h"

#include <cstdint>
#include <vector>

namespace millstream::queue::objects {
namespace {

bool is_name_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '/' || c == '_' || c == '%' || c == '-' || c == ':';
}

// One qualifier against one qualifier; linear with one step back to the last star.
bool matches_qualifier(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = SIZE_MAX, star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) && pattern[p] != '*') {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (star != SIZE_MAX) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<std::string_view> split_qualifiers(std::string_view text) {
  std::vector<std::string_view> out;
  while (true) {
    size_t dot = text.find('.');
    out.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return out;
    text.remove_prefix(dot + 1);
  }
}

int wildness(std::string_view s, size_t at) {
  if (at >= s.size()) return 0;
  if (s[at] == '?') return 1;
  if (s[at] != '*') return 0;
  return at + 1 < s.size() && s[at + 1] == '*' ? 3 : 2;
}

}  // namespace

bool is_object_name(std::string_view name, size_t bytes_max) {
  if (name.empty() || name.size() > bytes_max) return false;
  for (char c : name) {
    if (!is_name_character(c)) return false;
  }
  return true;
}

bool is_name_for(ObjectType type, std::string_view name) {
  const TypeSpec& spec = type_spec(type);
  if (type != ObjectType::kSub) return is_object_name(name, spec.name_bytes_max);
  if (name.empty() || name.size() > spec.name_bytes_max) return false;
  for (char c : name) {
    if (static_cast<unsigned char>(c) < 0x20) return false;
  }
  return true;
}

bool is_generic(std::string_view pattern) { return !pattern.empty() && pattern.back() == '*'; }

bool matches_generic(std::string_view pattern, std::string_view name) {
  if (!is_generic(pattern)) return pattern == name;
  return name.substr(0, pattern.size() - 1) == pattern.substr(0, pattern.size() - 1);
}

// As for characters: one step back to the last `**`, never further.
bool matches_profile(std::string_view profile, std::string_view name) {
  std::vector<std::string_view> patterns = split_qualifiers(profile);
  std::vector<std::string_view> texts = split_qualifiers(name);
  size_t p = 0, t = 0, star = SIZE_MAX, star_text = 0;
  while (t < texts.size()) {
    if (p < patterns.size() && patterns[p] == "**") {
      star = p++;
      star_text = t;
    } else if (p < patterns.size() && matches_qualifier(patterns[p], texts[t])) {
      ++p, ++t;
    } else if (star != SIZE_MAX) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < patterns.size() && patterns[p] == "**") ++p;
  return p == patterns.size();
}

bool is_more_specific(std::string_view a, std::string_view b) {
  for (size_t i = 0; i < a.size() || i < b.size(); ++i) {
    int wild_a = wildness(a, i), wild_b = wildness(b, i);
    if (wild_a != wild_b) return wild_a < wild_b;
    if (wild_a >= 2) break;
  }
  return a.size() != b.size() ? a.size() > b.size() : a < b;
}

}  // namespace millstream::queue::objects
