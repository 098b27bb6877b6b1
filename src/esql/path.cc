#include "esql/path.h"

#include "tree/domain.h"

namespace millstream::esql {

using tree::Element;

bool type_matches(tree::FieldType wanted, tree::FieldType actual) {
  if (wanted == actual) return true;
  switch (wanted) {
    // The general XMLNSC constants stand for all spellings of the same thing.
    case tree::xmlnsc::kField:
      return actual == tree::xmlnsc::kCDataField || actual == tree::xmlnsc::kHybridField;
    case tree::xmlnsc::kPCDataValue:
      return actual == tree::xmlnsc::kCDataValue || actual == tree::xmlnsc::kHybridValue;
    case tree::xmlnsc::kAttribute:
      return actual == tree::xmlnsc::kSingleAttribute;
    case tree::xmlnsc::kNamespaceDecl:
      return actual == tree::xmlnsc::kSingleNamespaceDecl;
    default:
      return false;
  }
}

namespace {

void restart_cursor(const StepMatch& m, Element* parent, ChildCursor& cursor) {
  cursor = ChildCursor{};
  cursor.parent = parent;
  cursor.stamp = parent->stamp;
  cursor.match = m;
}

}  // namespace

Element* previous_match(const StepMatch& m, Element* e) {
  e = tree::previous_sibling(e);
  while (e && !step_matches(m, e)) e = tree::previous_sibling(e);
  return e;
}

Element* nth_match(const StepMatch& m, Element* parent, int64_t n, ChildCursor& cursor) {
  if (n < 1) return nullptr;
  if (!cursor.holds_for(m, parent)) restart_cursor(m, parent, cursor);
  Element* e = cursor.at;
  int64_t i = cursor.index;
  if (e && n < i) {
    if (n > i / 2) {
      for (; e && i > n; --i) e = previous_match(m, e);
    } else {
      e = nullptr;
    }
  }
  if (!e) {
    e = first_match(m, parent);
    i = 1;
  }
  for (; e && i < n; ++i) {
    Element* next = next_match(m, e);
    if (!next) {
      // Keep the last match: the next access often asks for the following one, created meanwhile.
      cursor.at = e;
      cursor.index = i;
      return nullptr;
    }
    e = next;
  }
  if (e) {
    cursor.at = e;
    cursor.index = i;
  }
  return e;
}

Element* nth_match_from_end(const StepMatch& m, Element* parent, int64_t n) {
  if (n < 1) return nullptr;
  Element* e = tree::last_child(parent);
  for (; e; e = tree::previous_sibling(e)) {
    if (step_matches(m, e) && --n == 0) return e;
  }
  return nullptr;
}

int64_t count_matches(const StepMatch& m, Element* parent, ChildCursor& cursor) {
  if (!cursor.holds_for(m, parent)) restart_cursor(m, parent, cursor);
  Element* e =
      cursor.counted_to ? tree::next_sibling(cursor.counted_to) : tree::first_child(parent);
  for (; e; e = tree::next_sibling(e)) {
    if (step_matches(m, e)) ++cursor.count;
    cursor.counted_to = e;
  }
  return cursor.count;
}

bool is_disconnected(const Element* e) {
  for (; e; e = e->parent) {
    if (e->has_flag(tree::kFlagDetached)) return true;
  }
  return false;
}

namespace {

// Attributes and namespace declarations stay when an element gets a value.
bool is_attribute_like(bool is_xmlns, tree::FieldType type) {
  if (is_xmlns) return type == tree::xmlns::kAttribute || type == tree::xmlns::kNamespaceDecl;
  return type >= tree::xmlnsc::kAttribute && type <= tree::xmlnsc::kSingleNamespaceDecl;
}

void remove_content(Element* e) {
  tree::DomainRoot* root = tree::domain_root_of(e);
  const bool is_xmlns = root && std::string_view(root->domain->name) == "XMLNS";
  Element* child = tree::first_child(e);
  while (child) {
    Element* next = tree::next_sibling(child);
    if (!is_attribute_like(is_xmlns, child->type)) tree::detach(child);
    child = next;
  }
}

}  // namespace

void assign_scalar(Element* e, const value::Value& v) {
  if (tree::first_child(e)) remove_content(e);
  if (e->type == tree::kName && !e->has_flag(tree::kFlagDomainRoot) && e->parent) {
    tree::DomainRoot* root = tree::domain_root_of(e);
    e->type = root ? root->domain->default_field_type : tree::kNameValue;
  }
  tree::set_value(e, v);
}

}  // namespace millstream::esql
