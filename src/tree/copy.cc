// Copying subtrees. Iterative throughout: documents may be nested deeper than a fiber's stack.
#include "tree/domain.h"
#include "tree/edit.h"

namespace millstream::tree {
namespace {

class Copier {
 public:
  Copier(TreeContext& context, CopyMode mode, const Domain* from, const Domain* to)
      : context_(context), mode_(mode), strips_types_(from && to && from != to) {}

  // A childless copy.
  Element* copy_head(Element* source, bool keeps_domain) {
    Element* e;
    if (keeps_domain && source->has_flag(kFlagDomainRoot)) {
      e = make_domain_root(context_, *static_cast<DomainRoot*>(source)->domain, name_of(source));
    } else {
      e = make_element(context_, name_of(source), type_of(source));
    }
    // A domain root has no value, and asking would begin its parse.
    if (!source->has_flag(kFlagDomainRoot)) copy_scalar(e, source);
    return e;
  }

  void copy_scalar(Element* target, Element* source) {
    value::Value v = scalar_value(source);
    if (mode_ == CopyMode::kAcross) v = value::copy_value(v, context_.arena);
    v.spare = target->scalar.spare;
    target->scalar = v;
  }

  FieldType type_of(Element* source) const {
    return strips_types_ ? source->type & kTypeClassMask : source->type;
  }

  // Copies the children of `source` below `target` (which has none). Domain roots below `source`
  // stay domain roots when `keeps_domain`.
  void copy_children(Element* target, Element* source, bool keeps_domain) {
    Element* from = source;
    Element* to = target;
    Element* child = first_child(from);
    while (true) {
      if (child) {
        Element* copy = copy_head(child, keeps_domain);
        link_last(to, copy);
        if (keeps_domain && clone_parser(copy, child)) {
          child = next_sibling(child);
          continue;
        }
        if (Element* inner = first_child(child)) {
          from = child;
          to = copy;
          child = inner;
          continue;
        }
        child = next_sibling(child);
        continue;
      }
      if (from == source) return;
      child = next_sibling(from);
      from = from->parent;
      to = to->parent;
    }
  }

  // True when `copy`, a fresh domain root, could take a second parse of the same bytes.
  bool clone_parser(Element* copy, Element* source) {
    if (mode_ == CopyMode::kAcross || !copy->has_flag(kFlagDomainRoot) ||
        !source->has_flag(kFlagDomainRoot) || source->has_flag(kFlagModified)) {
      return false;
    }
    BodyParser* parser = static_cast<DomainRoot*>(source)->parser;
    auto* target = static_cast<DomainRoot*>(copy);
    if (!parser) return false;
    target->parser = parser->clone_for(context_, target);
    return target->parser != nullptr;
  }

 private:
  const base::QName* name_of(Element* source) {
    if (mode_ == CopyMode::kSameContext) return source->name;
    return context_.names.qname(source->namespace_uri(), source->local_name());
  }
  static void link_last(Element* parent, Element* child) {
    child->parent = parent;
    child->prev = parent->last;
    (parent->last ? parent->last->next : parent->first) = child;
    parent->last = child;
  }

  TreeContext& context_;
  CopyMode mode_;
  bool strips_types_;
};

const Domain* domain_of(Element* e) {
  DomainRoot* root = domain_root_of(e);
  return root ? root->domain : nullptr;
}

bool is_within(Element* e, Element* ancestor) {
  for (; e; e = e->parent) {
    if (e == ancestor) return true;
  }
  return false;
}

}  // namespace

Result<Element*> deep_copy(TreeContext& context, Element* source, CopyMode mode) {
  Copier copier(context, mode, nullptr, nullptr);
  Element* copy = copier.copy_head(source, true);
  if (!copier.clone_parser(copy, source)) copier.copy_children(copy, source, true);
  if (context.has_parse_error()) return context.take_parse_error();
  return copy;
}

Status copy_content(TreeContext& context, Element* target, Element* source, CopyMode mode) {
  if (target == source) return {};
  if (is_within(source, target) || is_within(target, source)) {
    // SET a = a.b or SET a.b = a: the target's change would disturb the source.
    source = MS_TRY(deep_copy(context, source, mode));
    mode = CopyMode::kSameContext;
  }
  const Domain* from = domain_of(source);
  const Domain* to = domain_of(target);
  Copier copier(context, mode, from, to);
  if (target->first || target->is_open()) detach_children(target);
  if (target->has_flag(kFlagDomainRoot)) static_cast<DomainRoot*>(target)->parser = nullptr;
  const bool is_same_domain_root = target->has_flag(kFlagDomainRoot) && from == to;
  if (is_same_domain_root && copier.clone_parser(target, source)) {
    // The clone is unmodified, so the original bytes go out again; what is above is changed.
    target->clear_flag(kFlagModified);
    mark_modified(target->parent);
    return {};
  }
  copier.copy_scalar(target, source);
  // A root or domain root is a container: copying one below a plain field makes a folder of it.
  if (!target->has_flag(kFlagDomainRoot) && !source->has_flag(kFlagDomainRoot) && source->parent &&
      (target->parent != nullptr)) {
    target->type = copier.type_of(source);
  } else if (!target->has_flag(kFlagDomainRoot) && first_child(source)) {
    target->type = kName;
  }
  copier.copy_children(target, source, /*keeps_domain=*/to == nullptr);
  mark_modified(target);
  if (context.has_parse_error()) return context.take_parse_error();
  return {};
}

}  // namespace millstream::tree
