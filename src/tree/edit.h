// Changing trees. All functions keep the links, stamps and modified marks of element.h.
// `complete` the parent first where a position matters: append_child() does it itself.
// Thread: one (that of the message).
#pragma once
#include "tree/element.h"

namespace millstream::tree {

inline Element* make_element(TreeContext& context, const base::QName* name, FieldType type) {
  Element* e = context.arena.make<Element>();
  e->name = name;
  e->type = type;
  return e;
}
DomainRoot* make_domain_root(TreeContext& context, const Domain& domain, const base::QName* name);

void append_child(Element* parent, Element* child);  // after the last one; completes the parse
// The same for a parent that is just being built: no parser goes on with it, and it is in no tree
// yet whose original bytes could be sent.
inline void link_child(Element* parent, Element* child) {
  child->parent = parent;
  child->prev = parent->last;
  (parent->last ? parent->last->next : parent->first) = child;
  parent->last = child;
}
void prepend_child(Element* parent, Element* child);
void insert_before(Element* sibling, Element* child);
void insert_after(Element* sibling, Element* child);
// Unlinks. The subtree stays usable (ATTACH) but counts as detached until it is linked again.
void detach(Element* e);
void detach_children(Element* e);

void set_value(Element* e, const value::Value& v);  // text must already live in the arena
void set_name(Element* e, const base::QName* name);
void set_type(Element* e, FieldType type);
void mark_modified(Element* e);  // up to the domain root

// The deep copy of `source` (value and children) into `target`, which keeps its own name and, when
// both are under the same domain, takes the source's type; across domains only the generic class of
// the type survives (spec A6). Existing children of target are removed first.
// A partly parsed, unmodified domain root is copied by cloning its parser.
// Source and target may overlap (SET a.b = a).
enum class CopyMode : uint8_t {
  kSameContext,  // texts and names are shared with the source
  kAcross,       // the source is in another context (SHARED variables): texts and names are copied
};
Status copy_content(TreeContext& context, Element* target, Element* source,
                    CopyMode mode = CopyMode::kSameContext);
// A new, unlinked element (or domain root) with the same name, type, value and children.
Result<Element*> deep_copy(TreeContext& context, Element* source,
                           CopyMode mode = CopyMode::kSameContext);

// First child with this expanded name from `from` on (`from` null: from the first child).
Element* find_child(Element* parent, const base::QName* name, Element* from = nullptr);
// By local name only, for fixed header fields; interns nothing.
Element* find_child(Element* parent, std::string_view local_name);
// The named child (no namespace), created as last child when it is missing.
Element* ensure_child(TreeContext& context, Element* parent, std::string_view local_name,
                      FieldType type = kName);
// ensure_child + set_value; texts are copied into the arena.
Element* set_child(TreeContext& context, Element* parent, std::string_view local_name,
                   const value::Value& v);

// Depth-first dump as the Trace node prints it: "(0x03000000:NameValue):name = 'v' (CHARACTER)".
void dump(Element* e, std::string& out, int depth = 0);

}  // namespace millstream::tree
