#include "http/headers.h"

#include "http/chars.h"

namespace millstream::http {

bool equals_ignore_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && ascii_lower(a[i]) != ascii_lower(b[i])) return false;
  }
  return true;
}

size_t Headers::find_index(std::string_view name, size_t from) const {
  for (size_t i = from; i < ranges_.size(); ++i) {
    if (ranges_[i].name_size == name.size() && equals_ignore_case(this->name(i), name)) return i;
  }
  return kNone;
}

std::string_view Headers::get(std::string_view name) const {
  size_t i = find_index(name);
  return i == kNone ? std::string_view() : value(i);
}

size_t Headers::count(std::string_view name) const {
  size_t n = 0;
  for (size_t i = find_index(name); i != kNone; i = find_index(name, i + 1)) ++n;
  return n;
}

void Headers::make_owned() {
  if (!borrowed_) return;
  text_.clear();
  for (Range& range : ranges_) {
    Range owned{static_cast<uint32_t>(text_.size()), range.name_size, 0, range.value_size};
    text_.append(borrowed_ + range.name_at, range.name_size);
    owned.value_at = static_cast<uint32_t>(text_.size());
    text_.append(borrowed_ + range.value_at, range.value_size);
    range = owned;
  }
  borrowed_ = nullptr;
}

void Headers::add(std::string_view name, std::string_view value) {
  make_owned();
  Range range{static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(name.size()), 0,
              static_cast<uint32_t>(value.size())};
  text_.append(name);
  range.value_at = static_cast<uint32_t>(text_.size());
  text_.append(value);
  ranges_.push_back(range);
}

void Headers::set(std::string_view name, std::string_view value) {
  size_t first = find_index(name);
  if (first == kNone) return add(name, value);
  make_owned();
  uint32_t at = static_cast<uint32_t>(text_.size());
  text_.append(value);
  ranges_[first].value_at = at;
  ranges_[first].value_size = static_cast<uint32_t>(value.size());
  for (size_t i = find_index(name, first + 1); i != kNone; i = find_index(name, i)) {
    ranges_.erase(ranges_.begin() + static_cast<ptrdiff_t>(i));
  }
}

void Headers::remove(std::string_view name) {
  for (size_t i = find_index(name); i != kNone; i = find_index(name, i)) {
    ranges_.erase(ranges_.begin() + static_cast<ptrdiff_t>(i));
  }
}

void Headers::clear() {
  borrowed_ = nullptr;
  text_.clear();
  ranges_.clear();
}

namespace {
std::string_view trim_blanks(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

// Takes the text up to `separator` outside quotes from the front of `rest`.
std::string_view take_part(std::string_view& rest, char separator) {
  bool in_quotes = false;
  size_t at = 0;
  for (; at < rest.size(); ++at) {
    if (in_quotes && rest[at] == '\\') {
      ++at;
    } else if (rest[at] == '"') {
      in_quotes = !in_quotes;
    } else if (rest[at] == separator && !in_quotes) {
      break;
    }
  }
  std::string_view part = rest.substr(0, std::min(at, rest.size()));
  rest = at < rest.size() ? rest.substr(at + 1) : std::string_view();
  return trim_blanks(part);
}
}  // namespace

ContentType parse_content_type(std::string_view value) {
  ContentType out;
  std::string_view rest = value;
  out.media_type = take_part(rest, ';');
  while (!rest.empty()) {
    std::string_view parameter = take_part(rest, ';');
    size_t equal = parameter.find('=');
    if (equal == std::string_view::npos) continue;
    std::string_view name = trim_blanks(parameter.substr(0, equal));
    std::string_view text = trim_blanks(parameter.substr(equal + 1));
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
      text = text.substr(1, text.size() - 2);
    }
    if (equals_ignore_case(name, "charset") && out.charset.empty()) out.charset = text;
    if (equals_ignore_case(name, "boundary") && out.boundary.empty()) out.boundary = text;
  }
  return out;
}

bool list_has_token(std::string_view value, std::string_view token) {
  while (!value.empty()) {
    if (equals_ignore_case(take_part(value, ','), token)) return true;
  }
  return false;
}

bool is_valid_field_name(std::string_view name) {
  if (name.empty()) return false;
  for (char c : name) {
    if (!is_token_char(c)) return false;
  }
  return true;
}

bool is_valid_field_value(std::string_view value) {
  for (char c : value) {
    if (!is_field_char(c)) return false;
  }
  return true;
}

}  // namespace millstream::http
