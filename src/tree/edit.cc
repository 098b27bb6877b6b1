#include "tree/edit.h"

#include "tree/domain.h"

namespace millstream::tree {

DomainRoot* make_domain_root(TreeContext& context, const Domain& domain, const base::QName* name) {
  DomainRoot* e = context.arena.make<DomainRoot>();
  e->name = name;
  e->type = kName;
  e->domain = &domain;
  e->set_flag(kFlagDomainRoot);
  return e;
}

void mark_modified(Element* e) {
  // Elements above a modified one are modified already, so the walk is short on average.
  for (; e && !e->has_flag(kFlagModified); e = e->parent) e->set_flag(kFlagModified);
}

void append_child(Element* parent, Element* child) {
  complete(parent);
  child->parent = parent;
  child->prev = parent->last;
  child->next = nullptr;
  child->clear_flag(kFlagDetached | kFlagFree);
  (parent->last ? parent->last->next : parent->first) = child;
  parent->last = child;
  mark_modified(parent);
}

void prepend_child(Element* parent, Element* child) {
  Element* old_first = first_child(parent);
  if (!old_first) {
    append_child(parent, child);
  } else {
    insert_before(old_first, child);
  }
}

void insert_before(Element* sibling, Element* child) {
  Element* parent = sibling->parent;
  child->parent = parent;
  child->next = sibling;
  child->prev = sibling->prev;
  child->clear_flag(kFlagDetached | kFlagFree);
  (sibling->prev ? sibling->prev->next : parent->first) = child;
  sibling->prev = child;
  ++parent->stamp;
  mark_modified(parent);
}

void insert_after(Element* sibling, Element* child) {
  Element* parent = sibling->parent;
  // next_sibling() parses on when the sibling is the newest element of an open parent: what follows
  // in the bytes must come after `child`.
  if (Element* following = next_sibling(sibling)) {
    insert_before(following, child);
  } else {
    append_child(parent, child);
  }
}

void detach(Element* e) {
  // What the parser still has for it belongs to it. A domain root takes its parser along, so that a
  // body nobody needs any more is not parsed to the end (nor found to be malformed).
  if (!e->has_flag(kFlagDomainRoot)) complete(e);
  Element* parent = e->parent;
  if (parent) {
    (e->prev ? e->prev->next : parent->first) = e->next;
    (e->next ? e->next->prev : parent->last) = e->prev;
    ++parent->stamp;
    mark_modified(parent);
  }
  e->parent = e->prev = e->next = nullptr;
  e->set_flag(kFlagDetached);
}

void detach_children(Element* e) {
  complete(e);
  for (Element* c = e->first; c;) {
    Element* next = c->next;
    c->parent = c->prev = c->next = nullptr;
    c->set_flag(kFlagDetached);
    c = next;
  }
  if (e->first) ++e->stamp;
  e->first = e->last = nullptr;
  mark_modified(e);
}

void set_value(Element* e, const value::Value& v) {
  complete(e);
  uint16_t flags = e->scalar.spare;
  e->scalar = v;
  e->scalar.spare = flags;
  mark_modified(e);
}

void set_name(Element* e, const base::QName* name) {
  e->name = name;
  if (e->parent) ++e->parent->stamp;
  mark_modified(e);
}

void set_type(Element* e, FieldType type) {
  e->type = type;
  if (e->parent) ++e->parent->stamp;
  mark_modified(e);
}

Element* find_child(Element* parent, const base::QName* name, Element* from) {
  for (Element* c = from ? from : first_child(parent); c; c = next_sibling(c)) {
    if (c->name == name) return c;
  }
  return nullptr;
}

Element* find_child(Element* parent, std::string_view local_name) {
  for (Element* c = first_child(parent); c; c = next_sibling(c)) {
    if (c->local_name() == local_name) return c;
  }
  return nullptr;
}

Element* ensure_child(TreeContext& context, Element* parent, std::string_view local_name,
                      FieldType type) {
  if (Element* found = find_child(parent, local_name)) return found;
  Element* e = make_element(context, context.names.qname(local_name), type);
  append_child(parent, e);
  return e;
}

Element* set_child(TreeContext& context, Element* parent, std::string_view local_name,
                   const value::Value& v) {
  Element* e = ensure_child(context, parent, local_name, kNameValue);
  set_value(e, value::copy_value(v, context.arena));
  return e;
}

}  // namespace millstream::tree
