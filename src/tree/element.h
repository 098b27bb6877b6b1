// The element of every message tree: 72 bytes in the arena of its message assembly.
//
// Navigation goes through the functions below, not the links, because a body is parsed on demand:
// an element whose children are not all there yet is "open" and its parser continues when somebody
// asks for more. A parse error met while navigating ends the navigation (the function returns null
// or the value is NULL) and is kept in TreeContext::parse_error; callers that navigate check
// has_parse_error() afterwards and report it.
//
// Invariants: children are doubly linked; `stamp` of a parent changes whenever an existing child
// changes its position or name (not on append), so a cursor "child number n is e" stays valid while
// the parent's stamp is unchanged. Modifying goes through tree/edit.h, which also marks the domain
// root modified, so that its original bytes are no longer sent.
// Lifetime: until the arena is reset. Thread: one (that of the message).
#pragma once
#include <cstdint>

#include "base/arena.h"
#include "base/names.h"
#include "base/result.h"
#include "tree/field_type.h"
#include "value/value.h"

namespace millstream::tree {

class BodyParser;
struct TreeContext;

// Bits of Element::flags().
constexpr uint16_t kFlagOpen = 1;        // children are still being parsed
constexpr uint16_t kFlagDomainRoot = 2;  // payload of `parser`; a child of Root such as XMLNSC
constexpr uint16_t kFlagModified = 4;    // this element or something below it was changed
constexpr uint16_t kFlagDetached = 8;    // deleted or DETACHed: references through it are inert
constexpr uint16_t kFlagFree = 16;       // DETACHed but alive: ATTACH takes it

struct Element {
  Element* parent = nullptr;
  Element* first = nullptr;  // use first_child()
  Element* last = nullptr;   // use last_child()
  Element* prev = nullptr;   // use previous_sibling()
  Element* next = nullptr;   // use next_sibling()
  const base::QName* name = nullptr;
  FieldType type = kName;
  uint32_t stamp = 0;
  value::Value scalar;  // use scalar_value(); scalar.spare holds the flags

  uint16_t flags() const { return scalar.spare; }
  bool has_flag(uint16_t f) const { return (scalar.spare & f) != 0; }
  void set_flag(uint16_t f) { scalar.spare |= f; }
  void clear_flag(uint16_t f) { scalar.spare &= static_cast<uint16_t>(~f); }
  bool is_open() const { return has_flag(kFlagOpen); }
  std::string_view local_name() const { return name->local->view(); }
  std::string_view namespace_uri() const { return name->ns->view(); }
};
static_assert(sizeof(Element) == 72);

// A domain root is an Element with what its parser needs. Every child of a message Root is one, as
// is the result of CREATE ... DOMAIN.
struct DomainRoot : Element {
  const struct Domain* domain = nullptr;  // tree/domain.h; never null
  BodyParser* parser = nullptr;           // null for a tree that was built, not parsed
};

// Continues an unfinished parse. Implemented by src/parsers; lives in the arena (its destructor is
// not run).
class BodyParser {
 public:
  // Parses until `e` has a (further) complete child head after `after` (null: a first child), or
  // `e` is closed. On failure it stores the error in the context and closes all open elements.
  virtual void parse_child(Element* e, Element* after) = 0;
  // Parses until `e` is closed.
  virtual void parse_all(Element* e) = 0;
  // The bytes the tree came from, for re-sending it unmodified.
  virtual std::string_view bytes() const = 0;
  // The CCSID of bytes().
  virtual uint32_t ccsid() const { return 1208; }
  // A second, untouched parse of the same bytes under `target`, which has no children yet; null if
  // this parser cannot (then the caller copies the elements).
  virtual BodyParser* clone_for(TreeContext& context, DomainRoot* target) = 0;

 protected:
  ~BodyParser() = default;
};

// Shared by all trees of one message assembly.
struct TreeContext {
  TreeContext(base::Arena& a, std::shared_ptr<const base::NameTable> table)
      : arena(a), names(a, std::move(table)) {}
  base::Arena& arena;
  base::NameScope names;
  Status parse_error;  // first error met by on-demand parsing

  bool has_parse_error() const { return __builtin_expect(!parse_error.ok(), 0); }
  Status take_parse_error() { return std::exchange(parse_error, Status()); }
};

DomainRoot* domain_root_of(Element* e);  // nearest DomainRoot upwards, e included; may be null
void continue_first(Element* e);
void continue_next(Element* e);
void continue_all(Element* e);

inline Element* first_child(Element* e) {
  if (!e->first && e->is_open()) continue_first(e);
  return e->first;
}
inline Element* next_sibling(Element* e) {
  if (!e->next && e->parent && e->parent->is_open()) continue_next(e);
  return e->next;
}
inline Element* previous_sibling(Element* e) { return e->prev; }
inline Element* last_child(Element* e) {
  if (e->is_open()) continue_all(e);
  return e->last;
}
// The value of the element itself; NULL for a folder. For an open element this parses on until the
// value is known (a first child element, or the end tag).
inline value::Value scalar_value(Element* e) {
  if (e->is_open() && !e->first) continue_first(e);
  value::Value v = e->scalar;
  v.spare = 0;
  return v;
}
// Parses everything below `e`.
inline void complete(Element* e) {
  if (e->is_open()) continue_all(e);
}

}  // namespace millstream::tree
