// The second pass over a JSON document: structural offsets -> elements. Each token's end is found
// from the next structural offset, so that no character is looked at twice without need. This is
// the hot loop of every JSON flow: what it uses lives in registers (Cursor), rare cases are calls.
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
bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

template <typename T>
T load(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  return v;
}

// Equality of short texts without a call; never reads outside either.
inline bool same_bytes(const char* a, const char* b, size_t n) {
  if (n >= 8) {
    if (n > 16) return std::memcmp(a, b, n) == 0;
    return load<uint64_t>(a) == load<uint64_t>(b) &&
           load<uint64_t>(a + n - 8) == load<uint64_t>(b + n - 8);
  }
  if (n >= 4) {
    return load<uint32_t>(a) == load<uint32_t>(b) &&
           load<uint32_t>(a + n - 4) == load<uint32_t>(b + n - 4);
  }
  for (size_t i = 0; i < n; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

inline bool is_name(const base::QName* name, std::string_view text) {
  const base::Name* local = name->local;
  return local->size == text.size() && same_bytes(local->data, text.data(), text.size());
}

}  // namespace

#define MS_ALWAYS_INLINE inline __attribute__((always_inline))

struct TreeBuilder::Cursor {
  const char* text;
  const uint32_t* next;     // the next structural offset
  const uint32_t* end;      // after the last one
  Element* parent;          // the open container
  Element* last = nullptr;  // its last child so far
  Element** link;           // where the next element is linked
  Element* hint = nullptr;  // the member expected next, in an earlier container like this one
  Element* twin = nullptr;  // the earlier element that the value to be read next resembles
  Element* block = nullptr;
  Element* block_end = nullptr;
  uint32_t depth = 0;
  bool has_escapes = false;

  // The token that begins at `start`, up to the next structural character.
  std::string_view token(uint32_t start) const {
    uint32_t stop = *next;
    if (__builtin_expect(static_cast<unsigned char>(text[stop - 1]) <= ' ', 0)) {
      while (is_space(text[stop - 1])) --stop;
    }
    return {text + start, stop - start};
  }
  std::string_view string_content(uint32_t start) const {
    std::string_view t = token(start);
    return {t.data() + 1, t.size() - 2};
  }
};

namespace {

MS_ALWAYS_INLINE void fill(Element* e, Element* parent, Element* prev, const base::QName* name,
                           tree::FieldType type) {
  e->parent = parent;
  e->first = e->last = e->next = nullptr;
  e->prev = prev;
  e->name = name;
  e->type = type;
  e->stamp = 0;
}

// A number of up to 18 digits without an exponent; false leaves it to the general form. Reading
// ends at the next structural character at the latest, which is no digit.
MS_ALWAYS_INLINE bool read_short_number(Value& out, const char* p, const char* stop) {
  const char* start = p;
  bool is_negative = *p == '-';
  p += is_negative;
  const char* first = p;
  uint64_t n = 0;
  while (is_digit(*p)) n = n * 10 + static_cast<unsigned char>(*p++ - '0');
  if (p == first || (*first == '0' && p - first > 1)) return false;
  int32_t exponent = 0;
  if (*p == '.') {
    const char* fraction = ++p;
    while (is_digit(*p)) n = n * 10 + static_cast<unsigned char>(*p++ - '0');
    exponent = static_cast<int32_t>(fraction - p);
    if (exponent == 0) return false;
  }
  if (p != stop || p - start > 18 || (is_negative && n == 0)) return false;
  int64_t signed_value = is_negative ? -static_cast<int64_t>(n) : static_cast<int64_t>(n);
  out = exponent ? Value::make_inline_decimal(signed_value, exponent)
                 : Value::make_integer(signed_value);
  return true;
}

}  // namespace

// Elements come from the arena in blocks, no larger than the tokens that are left can need.
__attribute__((noinline)) Element* TreeBuilder::new_block(Cursor& c) {
  size_t count = std::min(kBlockElements, static_cast<size_t>(c.end - c.next) / 2 + 1);
  void* p = parser_.context_.arena.allocate(count * sizeof(Element), alignof(Element));
  c.block = static_cast<Element*>(p);
  c.block_end = c.block + count;
  return c.block++;
}

__attribute__((noinline)) bool TreeBuilder::decode(std::string_view& raw) {
  char* buffer = parser_.context_.arena.bytes(raw.size());
  size_t size = format::decode_json_string(raw, buffer);
  raw = {buffer, size};
  return size != std::string_view::npos;
}

__attribute__((noinline)) const base::QName* TreeBuilder::find_name(std::string_view raw) {
  size_t n = raw.size();
  uint64_t mixed = n;
  if (n >= 4) {
    mixed += load<uint32_t>(raw.data()) + (uint64_t{load<uint32_t>(raw.data() + n - 4)} << 32);
  } else if (n) {
    mixed += (static_cast<uint64_t>(static_cast<unsigned char>(raw[0])) << 8) +
             (static_cast<uint64_t>(static_cast<unsigned char>(raw[n - 1])) << 24);
  }
  size_t slot = (mixed * 0x9e3779b97f4a7c15ull) >> 57;
  static_assert(kCacheSize == 128);
  const base::QName*& cached = cache_[slot];
  if (!cached || !is_name(cached, raw)) cached = parser_.context_.names.qname(raw);
  return cached;
}

// The general form: any length, exponents, negative zero.
__attribute__((noinline)) bool TreeBuilder::read_number(Element* e, std::string_view token) {
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
    parser_.raw_numbers_ =
        parser_.context_.arena.make<RawNumber>(e, e->scalar, token, parser_.raw_numbers_);
  }
  return true;
}

bool TreeBuilder::read_literal(Element* e, std::string_view token) {
  if (token == "true" || token == "false") {
    e->scalar = Value::make_boolean(token.size() == 4);
    return true;
  }
  e->scalar = Value::null();
  return token == "null";
}

MS_ALWAYS_INLINE bool TreeBuilder::open_container(Cursor& c, Element* e) {
  if (c.depth < kPredictedDepth) hints_[c.depth] = c.hint;
  if (++c.depth > parser_.options_.depth_max) return false;
  c.hint = c.twin && c.twin->type == e->type ? c.twin->first : nullptr;
  c.parent = e;
  c.last = nullptr;
  c.link = &e->first;
  return true;
}

// Records of a list mostly have the members of the record before them, in the same order: compare
// with what came there, then with a small cache, and only then hash and intern.
MS_ALWAYS_INLINE bool TreeBuilder::read_name(Cursor& c, const base::QName*& name) {
  uint32_t start = *c.next++;
  if (c.text[start] != '"' || c.next == c.end || c.text[*c.next] != ':') return false;
  std::string_view raw = c.string_content(start);
  if (++c.next == c.end) return false;
  if (c.has_escapes && std::memchr(raw.data(), '\\', raw.size()) && !decode(raw)) return false;
  if (Element* hint = c.hint) {
    if (is_name(hint->name, raw)) {
      name = hint->name;
      c.twin = hint;
      c.hint = hint->next;
      return true;
    }
    // One member fewer than in the record before.
    hint = hint->next;
    if (hint && is_name(hint->name, raw)) {
      name = hint->name;
      c.twin = hint;
      c.hint = hint->next;
      return true;
    }
  }
  c.twin = nullptr;
  name = find_name(raw);
  return true;
}

MS_ALWAYS_INLINE bool TreeBuilder::read_value(Cursor& c, const base::QName* name,
                                              bool& is_container) {
  uint32_t start = *c.next++;
  Element* e = c.block != c.block_end ? c.block++ : new_block(c);
  const char first = c.text[start];
  *c.link = e;
  if (first == '"') {
    fill(e, c.parent, c.last, name, tree::json::kJsonValue);
    std::string_view raw = c.string_content(start);
    if (c.has_escapes && std::memchr(raw.data(), '\\', raw.size()) && !decode(raw)) raw = {};
    if (!raw.data()) return e->scalar = Value(), false;
    e->scalar = Value::make_character(raw);
  } else if (first == '{' || first == '[') {
    fill(e, c.parent, c.last, name, first == '{' ? tree::json::kObject : tree::json::kArray);
    e->scalar = Value();
    is_container = true;
    return open_container(c, e);
  } else {
    fill(e, c.parent, c.last, name, tree::json::kJsonValue);
    if (is_digit(first) || first == '-') {
      if (!read_short_number(e->scalar, c.text + start, c.text + *c.next)) {
        e->scalar = Value();
        if (!read_number(e, c.token(start))) return false;
      }
    } else {
      e->scalar = Value();
      if (!read_literal(e, c.token(start))) return false;
    }
  }
  c.last = e;
  c.link = &e->next;
  return true;
}

// With a bracket as last token, only reading past a closing bracket can leave the index: every
// other token is followed by one.
bool TreeBuilder::build(Cursor& c) {
  base::NameScope& names = parser_.context_.names;
  const base::QName* item = names.qname("Item");
  const base::QName* name = names.qname("Data");
  while (true) {
    bool is_fresh = false;
    if (!read_value(c, name, is_fresh)) return false;
    while (true) {
      if (c.next == c.end) return false;
      bool is_object = c.parent->type == tree::json::kObject;
      char now = c.text[*c.next];
      if (now == ',' && !is_fresh) {
        if (++c.next == c.end) return false;
      } else if (now == (is_object ? '}' : ']')) {
        ++c.next;
        Element* closed = c.parent;
        closed->last = c.last;
        c.last = closed;
        c.link = &closed->next;
        c.parent = closed->parent;
        if (--c.depth == 0) {
          c.parent->last = closed;
          return c.next == c.end;
        }
        c.hint = c.depth < kPredictedDepth ? hints_[c.depth] : nullptr;
        is_fresh = false;
        continue;
      } else if (!is_fresh) {
        return false;
      }
      if (is_object) {
        if (!read_name(c, name)) return false;
      } else {
        name = item;
        c.twin = c.last ? c.last : c.hint;  // the item before, or the first of a list like this
      }
      break;
    }
  }
}

#undef MS_ALWAYS_INLINE

bool TreeBuilder::run() {
  format::JsonIndex& index = format::JsonIndex::of_thread();
  struct Release {
    format::JsonIndex& i;
    ~Release() { i.release_if_large(); }
  } release{index};
  if (!index.build(text_)) return false;
  Cursor c{.text = text_.data(),
           .next = index.offsets(),
           .end = index.offsets() + index.count(),
           .parent = parser_.root_,
           .link = &parser_.root_->first};
  char first = text_[*c.next], last = text_[c.end[-1]];
  if ((first != '{' && first != '[') || (last != '}' && last != ']')) return false;
  c.has_escapes = std::memchr(text_.data(), '\\', text_.size()) != nullptr;
  bool ok = build(c);
  if (!ok) {
    // Close what stayed open, so that the part that was read is a proper tree.
    if (*c.link) c.last = *c.link;
    for (Element* e = c.parent; e != parser_.root_; e = e->parent) {
      e->last = c.last;
      c.last = e;
    }
    parser_.root_->last = c.last;
  }
  return ok;
}

}  // namespace millstream::parsers::json
