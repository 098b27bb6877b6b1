// Navigation of field references over the message tree (spec A6): which children a path element
// means, the n-th of them, how many there are, and what is created when a write finds none.
//
// A StepMatch is a path element with all its expressions evaluated. No type clause matches any
// type; a name without prefix means names in no namespace. Indexed access keeps a ChildCursor, so
// that `WHILE I <= CARDINALITY(a.b[]) ... a.b[I]` costs linear time: a cursor holds as long as the
// parent's stamp is the same.
// Parse errors met on the way are left in TreeContext::parse_error (tree/element.h).
// Thread: that of the message.
#pragma once
#include <cstdint>

#include "base/names.h"
#include "tree/edit.h"
#include "tree/element.h"

namespace millstream::esql {

struct StepMatch {
  enum class Mode : uint8_t { kExact, kLocalName, kNamespace, kAny };
  Mode mode = Mode::kAny;
  bool has_type = false;
  tree::FieldType type = 0;
  const base::QName* qname = nullptr;  // kExact
  const base::Name* local = nullptr;   // kLocalName
  const base::Name* ns = nullptr;      // kNamespace
};

// Whether an element of type `actual` is meant by the type clause `wanted`.
bool type_matches(tree::FieldType wanted, tree::FieldType actual);

inline bool step_matches(const StepMatch& m, const tree::Element* e) {
  switch (m.mode) {
    case StepMatch::Mode::kExact:
      if (e->name != m.qname) return false;
      break;
    case StepMatch::Mode::kLocalName:
      if (e->name->local != m.local) return false;
      break;
    case StepMatch::Mode::kNamespace:
      if (e->name->ns != m.ns) return false;
      break;
    case StepMatch::Mode::kAny:
      break;
  }
  return !m.has_type || type_matches(m.type, e->type);
}

// The first match from `e` on, `e` included.
inline tree::Element* match_from(const StepMatch& m, tree::Element* e) {
  while (e && !step_matches(m, e)) e = tree::next_sibling(e);
  return e;
}
inline tree::Element* first_match(const StepMatch& m, tree::Element* parent) {
  return match_from(m, tree::first_child(parent));
}
inline tree::Element* next_match(const StepMatch& m, tree::Element* e) {
  return match_from(m, tree::next_sibling(e));
}

// Remembers "match number `index` below `parent` is `at`", and how far matches were counted.
struct ChildCursor {
  tree::Element* parent = nullptr;
  uint32_t stamp = 0;
  StepMatch match;
  int64_t index = 0;  // of `at`, from 1
  tree::Element* at = nullptr;
  int64_t count = 0;                    // matches up to and including `counted_to`
  tree::Element* counted_to = nullptr;  // last child looked at while counting
  bool holds_for(const StepMatch& m, const tree::Element* p) const {
    return parent == p && stamp == p->stamp && match.mode == m.mode && match.qname == m.qname &&
           match.local == m.local && match.ns == m.ns && match.has_type == m.has_type &&
           match.type == m.type;
  }
};

// The n-th match from 1; null when there are fewer.
tree::Element* nth_match(const StepMatch& m, tree::Element* parent, int64_t n, ChildCursor& cursor);
// The n-th match from the end; 1 = last.
tree::Element* nth_match_from_end(const StepMatch& m, tree::Element* parent, int64_t n);
int64_t count_matches(const StepMatch& m, tree::Element* parent, ChildCursor& cursor);
// nth_match for a cursor that is only ever used with this match: the common step of a loop inline.
inline tree::Element* nth_match_fixed(const StepMatch& m, tree::Element* parent, int64_t n,
                                      ChildCursor& cursor) {
  if (cursor.parent == parent && cursor.stamp == parent->stamp && cursor.at) {
    if (n == cursor.index) return cursor.at;
    if (n == cursor.index + 1) {
      tree::Element* e = next_match(m, cursor.at);
      if (e) {
        cursor.at = e;
        cursor.index = n;
      }
      return e;
    }
  }
  return nth_match(m, parent, n, cursor);
}
inline int64_t count_matches_fixed(const StepMatch& m, tree::Element* parent, ChildCursor& cursor) {
  if (cursor.parent == parent && cursor.stamp == parent->stamp && cursor.counted_to &&
      !cursor.counted_to->next && !parent->is_open()) {
    return cursor.count;
  }
  return count_matches(m, parent, cursor);
}
tree::Element* previous_match(const StepMatch& m, tree::Element* e);

// True when `e` or what it hangs on was deleted: a reference to it is inert.
bool is_disconnected(const tree::Element* e);

// Gives `e` a scalar value as SET does: children go, except attributes and namespace declarations
// of XMLNSC; a folder becomes a field of its domain. Texts must live in the arena of the tree.
void assign_scalar(tree::Element* e, const value::Value& v);

}  // namespace millstream::esql
