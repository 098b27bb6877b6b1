// The second pass over a JSON document: structural offsets -> elements. Each token's end is found
// from the next structural offset, so that no character is looked at twice without need.
#include <cstring>

#include "format/json_index.h"
#include "format/json_token.h"
#include "parsers/json/json_parser.h"
#include "value/decimal.h"

namespace millstream::parsers::json {
namespace {

using tree::Element;
using value::Value;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Equality of short texts without a call; never reads outside either.
inline bool same_bytes(const char* a, const char* b, size_t n) {
  auto load8 = [](const char* p) {
    uint64_t v;
    std::memcpy(&v, p, 8);
    return v;
  };
  auto load4 = [](const char* p) {
    uint32_t v;
    std::memcpy(&v, p, 4);
    return v;
  };
  if (n >= 8) {
    if (n > 16) return std::memcmp(a, b, n) == 0;
    return load8(a) == load8(b) && load8(a + n - 8) == load8(b + n - 8);
  }
  if (n >= 4) return load4(a) == load4(b) && load4(a + n - 4) == load4(b + n - 4);
  for (size_t i = 0; i < n; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

inline bool is_name(const base::QName* name, std::string_view text) {
  return name->local->size == text.size() &&
         same_bytes(name->local->data, text.data(), text.size());
}

}  // namespace

inline Element* TreeBuilder::append(Element* parent, const base::QName* name,
                                    tree::FieldType type) {
  auto* e = parser_.context_.arena.make<Element>();
  e->parent = parent;
  e->name = name;
  e->type = type;
  e->prev = parent->last;
  (parent->last ? parent->last->next : parent->first) = e;
  parent->last = e;
  return e;
}

inline std::string_view TreeBuilder::token_at(uint32_t start) const {
  uint32_t end = *next_;
  while (is_space(text_[end - 1])) --end;
  return text_.substr(start, end - start);
}

bool TreeBuilder::decode(std::string_view raw, std::string_view& out) {
  char* buffer = parser_.context_.arena.bytes(raw.size());
  size_t size = format::decode_json_string(raw, buffer);
  out = {buffer, size};
  return size != std::string_view::npos;
}

// Records of a list mostly have the members of the record before them, in the same order: compare
// with what came there, then with a small cache, and only then hash and intern.
inline const base::QName* TreeBuilder::name_of(std::string_view raw, uint32_t depth) {
  if (depth < kPredictedDepth) {
    Element*& hint = hints_[depth];
    if (hint && is_name(hint->name, raw)) {
      const base::QName* name = hint->name;
      hint = hint->next;
      return name;
    }
    // One member fewer than in the record before.
    if (hint && hint->next && is_name(hint->next->name, raw)) {
      const base::QName* name = hint->next->name;
      hint = hint->next->next;
      return name;
    }
  }
  size_t n = raw.size();
  uint32_t slot = static_cast<uint32_t>(n * 31);
  if (n) {
    slot += static_cast<unsigned char>(raw[0]) * 7u + static_cast<unsigned char>(raw[n - 1]) * 13u +
            static_cast<unsigned char>(raw[n / 2]) * 3u;
  }
  const base::QName*& cached = cache_[slot % kCacheSize];
  if (!cached || !is_name(cached, raw)) cached = parser_.context_.names.qname(raw);
  return cached;
}

inline bool TreeBuilder::read_string(Element* e, uint32_t start) {
  std::string_view token = token_at(start);
  std::string_view raw = token.substr(1, token.size() - 2);
  if (has_escapes_ && std::memchr(raw.data(), '\\', raw.size()) && !decode(raw, raw)) return false;
  uint16_t flags = e->scalar.spare;
  e->scalar = Value::make_character(raw);
  e->scalar.spare = flags;
  return true;
}

void TreeBuilder::record(Element* e, std::string_view token) {
  parser_.raw_numbers_ =
      parser_.context_.arena.make<RawNumber>(e, e->scalar, token, parser_.raw_numbers_);
}

bool TreeBuilder::read_number(Element* e, uint32_t start) {
  std::string_view token = token_at(start);
  format::JsonNumber n;
  const char* end = token.data() + token.size();
  if (format::scan_json_number(token.data(), end, n) != end || !n.is_in_range()) return false;
  constexpr uint64_t kMaxMagnitude = 0x8000000000000000ull;
  bool fits = n.digit_count <= 19 && n.coefficient < kMaxMagnitude + (n.is_negative ? 1 : 0);
  int64_t signed_value = static_cast<int64_t>(n.is_negative ? 0 - n.coefficient : n.coefficient);
  if (fits && n.is_integral()) {
    e->scalar = Value::make_integer(signed_value);
  } else if (fits) {
    e->scalar = Value::make_inline_decimal(signed_value, static_cast<int32_t>(n.exponent));
  } else {
    value::Decimal d;
    if (!value::Decimal::parse(token, d)) return false;
    e->scalar = Value::make_decimal(d, parser_.context_.arena);
  }
  // Digits that the value alone would not give back in this form.
  bool is_negative_zero = n.is_negative && n.digit_count == 0;
  if (n.has_exponent || is_negative_zero || n.digit_count > value::Decimal::kMaxDigits ||
      n.exponent < -100) {
    record(e, token);
  }
  return true;
}

bool TreeBuilder::read_literal(Element* e, uint32_t start) {
  std::string_view token = token_at(start);
  if (token == "true") {
    e->scalar = Value::make_boolean(true);
  } else if (token == "false") {
    e->scalar = Value::make_boolean(false);
  } else {
    return token == "null";
  }
  return true;
}

inline bool TreeBuilder::read_value(Element* parent, const base::QName* name, bool& is_container) {
  uint32_t start = *next_++;
  switch (text_[start]) {
    case '"':
      return read_string(append(parent, name, tree::json::kJsonValue), start);
    case '{':
      append(parent, name, tree::json::kObject);
      return is_container = true;
    case '[':
      append(parent, name, tree::json::kArray);
      return is_container = true;
    case 't':
    case 'f':
    case 'n':
      return read_literal(append(parent, name, tree::json::kJsonValue), start);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
      return read_number(append(parent, name, tree::json::kJsonValue), start);
    default:
      return false;
  }
}

bool TreeBuilder::run() {
  format::JsonIndex& index = format::JsonIndex::of_thread();
  struct Release {
    format::JsonIndex& i;
    ~Release() { i.release_if_large(); }
  } release{index};
  if (!index.build(text_)) return false;
  next_ = index.offsets();
  const uint32_t* end = next_ + index.count();
  // With a bracket as last token, only reading past a closing bracket can leave the array: every
  // other token is followed by one.
  char first = text_[*next_], last = text_[end[-1]];
  if ((first != '{' && first != '[') || (last != '}' && last != ']')) return false;
  has_escapes_ = std::memchr(text_.data(), '\\', text_.size()) != nullptr;

  base::NameScope& names = parser_.context_.names;
  const base::QName* item = names.qname("Item");
  const uint32_t depth_max = parser_.options_.depth_max;
  Element* parent = parser_.root_;
  uint32_t depth = 0;
  const base::QName* name = names.qname("Data");
  while (true) {
    bool is_container = false;
    if (!read_value(parent, name, is_container)) return false;
    if (is_container) {
      if (++depth > depth_max) return false;
      parent = parent->last;
      if (depth < kPredictedDepth) {
        Element* before = parent->prev;
        hints_[depth] = before && before->type == parent->type ? before->first : nullptr;
      }
    } else if (next_ == end) {
      return false;  // unreachable while the last token is a bracket
    }
    // Closing brackets; a comma leads to the next value. A fresh container skips the comma.
    bool is_fresh = is_container;
    while (true) {
      bool is_object = parent->type == tree::json::kObject;
      if (next_ == end) return false;
      char c = text_[*next_];
      if (c == (is_object ? '}' : ']')) {
        ++next_;
        is_fresh = false;
        parent = parent->parent;
        if (--depth == 0) return next_ == end;
        continue;
      }
      if (!is_fresh) {
        if (c != ',' || ++next_ == end) return false;
      }
      if (!is_object) {
        name = item;
        break;
      }
      uint32_t start = *next_++;
      if (text_[start] != '"' || next_ == end || text_[*next_] != ':') return false;
      std::string_view token = token_at(start);
      std::string_view raw = token.substr(1, token.size() - 2);
      if (has_escapes_ && std::memchr(raw.data(), '\\', raw.size()) && !decode(raw, raw)) {
        return false;
      }
      name = name_of(raw, depth);
      if (++next_ == end) return false;
      break;
    }
  }
}

}  // namespace millstream::parsers::json
