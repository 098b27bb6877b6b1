// Header fields in order of arrival. Names compare without regard to case. A list either borrows
// (the fields are ranges of a receive buffer) or owns its text; both allocate nothing once warmed
// up. Ownership: a borrowing list is valid as long as its buffer. Thread: one at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millstream::http {

bool equals_ignore_case(std::string_view a, std::string_view b);

class Headers {
 public:
  struct Range {
    uint32_t name_at, name_size, value_at, value_size;
  };

  size_t size() const { return ranges_.size(); }
  bool empty() const { return ranges_.empty(); }
  size_t text_bytes() const { return text_.size(); }  // that an owning list holds
  std::string_view name(size_t i) const {
    return {base() + ranges_[i].name_at, ranges_[i].name_size};
  }
  std::string_view value(size_t i) const {
    return {base() + ranges_[i].value_at, ranges_[i].value_size};
  }
  static constexpr size_t kNone = SIZE_MAX;
  size_t find_index(std::string_view name, size_t from = 0) const;  // kNone when absent
  bool has(std::string_view name) const { return find_index(name) != kNone; }
  std::string_view get(std::string_view name) const;  // first value, empty when absent
  size_t count(std::string_view name) const;

  void add(std::string_view name,
           std::string_view value);  // copies; a borrowing list becomes owning
  void set(std::string_view name, std::string_view value);  // replaces all fields of that name
  void remove(std::string_view name);
  void clear();

  // For parsers: fields are ranges of `base`, which may move while the head is incomplete.
  void add_range(const Range& range) { ranges_.push_back(range); }
  void borrow_from(const char* base) { borrowed_ = base; }

 private:
  const char* base() const { return borrowed_ ? borrowed_ : text_.data(); }
  void make_owned();
  const char* borrowed_ = nullptr;
  std::string text_;
  std::vector<Range> ranges_;
};

// "text/xml; charset=utf-8" taken apart; views into the value, quotes removed.
struct ContentType {
  std::string_view media_type;  // "text/xml", as written
  std::string_view charset;     // empty when absent
  std::string_view boundary;    // empty when absent
};
ContentType parse_content_type(std::string_view value);

// Is the comma-separated list `value` one that has `token`, without regard to case?
bool list_has_token(std::string_view value, std::string_view token);

// What may go out: a token as name; no control characters but tab in the value.
bool is_valid_field_name(std::string_view name);
bool is_valid_field_value(std::string_view value);

}  // namespace millstream::http
