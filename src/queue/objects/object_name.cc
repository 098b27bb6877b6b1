#include "queue/objects/object_name.h"

#include <cstdint>

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

std::string_view take_qualifier(std::string_view& rest, bool& is_last) {
  size_t dot = rest.find('.');
  is_last = dot == std::string_view::npos;
  std::string_view head = rest.substr(0, dot);
  rest = is_last ? std::string_view() : rest.substr(dot + 1);
  return head;
}

// `depth` is bounded by the qualifiers of a profile of at most kProfileNameMax characters.
bool matches_qualifiers(std::string_view pattern, bool has_pattern, std::string_view text,
                        bool has_text, int depth) {
  if (depth > static_cast<int>(kProfileNameMax) + 1) return false;
  while (has_pattern) {
    bool is_last = false;
    std::string_view head = take_qualifier(pattern, is_last);
    if (head == "**") {
      if (is_last) return true;
      std::string_view rest = text;
      bool has_rest = has_text;
      while (true) {
        if (matches_qualifiers(pattern, true, rest, has_rest, depth + 1)) return true;
        if (!has_rest) return false;
        bool was_last = false;
        take_qualifier(rest, was_last);
        has_rest = !was_last;
      }
    }
    if (!has_text) return false;
    bool text_last = false;
    if (!matches_qualifier(head, take_qualifier(text, text_last))) return false;
    has_pattern = !is_last;
    has_text = !text_last;
  }
  return !has_text;
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

bool matches_profile(std::string_view profile, std::string_view name) {
  return matches_qualifiers(profile, true, name, true, 0);
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
