// SET and the other ways a field or variable gets its content (spec A6).
#include "esql/compile.h"
#include "esql/errors_gen.h"
#include "esql/shared.h"
#include "tree/domain.h"

namespace millstream::esql {

using tree::Element;
using value::Kind;
using value::Value;

namespace {

// The value as it must be to live in the tree of `ref`.
Value stored_in(Execution& x, const Ref& ref, const Value& v) {
  return ref.shared ? value::copy_value(v, x.context_of(ref).arena) : v;
}

tree::CopyMode copy_mode(const Ref& target, const Ref& source) {
  return target.shared == source.shared ? tree::CopyMode::kSameContext : tree::CopyMode::kAcross;
}

bool is_null_leaf(Element* e) {
  return (e->type & tree::kTypeClassMask) != tree::kName && !e->has_flag(tree::kFlagDomainRoot) &&
         !tree::first_child(e) && tree::scalar_value(e).is_null();
}

// SET f = NULL: the field goes. A root or a ROW variable is emptied instead.
void remove_field(Execution& x, Element* e) {
  x.may_have_deleted = true;
  if (e->parent) {
    tree::detach(e);
  } else {
    tree::detach_children(e);
    tree::set_value(e, Value::null());
  }
}

}  // namespace

Status assign_value(Frame& f, const Ref& target, const Value& v) {
  if (!target.element) return {};
  MS_TRY(check_writable(target));
  if (v.is_null()) {
    remove_field(f.x, target.element);
    return {};
  }
  if (target.element->first) f.x.may_have_deleted = true;
  assign_scalar(target.element, stored_in(f.x, target, v));
  return f.x.check_parse();
}

Status copy_field(Frame& f, const Ref& target, const Ref& source) {
  if (!target.element) return {};
  MS_TRY(check_writable(target));
  if (target.element->first) f.x.may_have_deleted = true;
  return tree::copy_content(f.x.context_of(target), target.element, source.element,
                            copy_mode(target, source));
}

Status assign_content(Frame& f, const Ref& target, const ExprNode& value) {
  if (value.shape() == Shape::kField || value.shape() == Shape::kRow) {
    Ref source;
    MS_TRY(value.eval_ref(f, source));
    if (!source.element || is_null_leaf(source.element)) return assign_value(f, target, {});
    return copy_field(f, target, source);
  }
  if (value.shape() == Shape::kList) return base::make_error(errors::kListToField, {});
  Value v;
  MS_TRY(value.eval(f, v));
  return assign_value(f, target, v);
}

Status assign_path_value(Frame& f, const PathNode& target, const Value& v) {
  if (target.is_scalar_variable()) {
    const ast::Variable& var = *target.variable();
    Slot* slot = MS_TRY(f.x.slot_of(f, var));
    Value cast_value;
    if (v.is_null() || (v.kind == var.type.scalar.kind && v.kind != Kind::kInterval)) {
      cast_value = v;
    } else {
      MS_TRY(cast_for_assignment(f.x.ctx, v, var.type.scalar, cast_value));
    }
    if (var.storage == ast::Storage::kShared) {
      f.x.lock_shared();
      f.x.shared->set_scalar(*slot, cast_value);
    } else {
      slot->value = cast_value;
    }
    return {};
  }
  Ref ref;
  if (v.is_null()) {
    MS_TRY(target.find(f, ref));
  } else {
    MS_TRY(target.find_or_create(f, ref));
  }
  return assign_value(f, ref, v);
}

Status adopt_child(Frame& f, const Ref& parent, const base::QName* name, const Ref& item,
                   bool is_temporary) {
  tree::TreeContext& tree = f.x.context_of(parent);
  const bool is_movable = is_temporary && item.shared == parent.shared &&
                          !item.element->has_flag(tree::kFlagDomainRoot);
  if (is_movable) {
    if (item.element->parent) tree::detach(item.element);
    item.element->name = name;
    tree::append_child(parent.element, item.element);
    return {};
  }
  Element* e = create_child(f, parent, name, tree::kName);
  (void)tree;
  Ref target = parent;
  target.element = e;
  return copy_field(f, target, item);
}

namespace {

// ---------------------------------------------------------------- variables

class SetLocalNode : public SimpleStmt {
 public:
  SetLocalNode(const ast::SetStmt& s, const ast::Variable& v, const ExprNode* value)
      : SimpleStmt(s),
        slot_(v.slot),
        target_(v.type.scalar),
        value_(value),
        is_quick_(value->is_quick() && v.type.scalar.kind != Kind::kInterval) {}
  Flow run(Frame& f) const override {
    if (is_quick_) {
      const Value v = value_->quick(f);
      if (__builtin_expect(v.kind == target_.kind, 1)) {
        f.slots[slot_].value = v;
        return Flow::kNext;
      }
    }
    return SimpleStmt::run(f);
  }
  Status execute(Frame& f) const override {
    Value v;
    MS_TRY(value_->eval(f, v));
    if (v.kind == target_.kind && v.kind != Kind::kInterval) {
      f.slots[slot_].value = v;
      return {};
    }
    if (v.is_null()) {
      f.slots[slot_].value = Value::null();
      return {};
    }
    Value out;
    MS_TRY(cast_for_assignment(f.x.ctx, v, target_, out));
    f.slots[slot_].value = out;
    return {};
  }

 private:
  uint32_t slot_;
  CastTarget target_;
  const ExprNode* value_;
  bool is_quick_;
};

// Any scalar expression to a variable elsewhere or to a field.
class SetValueNode : public SimpleStmt {
 public:
  SetValueNode(const ast::SetStmt& s, const PathNode* target, const ExprNode* value)
      : SimpleStmt(s), target_(target), value_(value) {}
  Status execute(Frame& f) const override {
    Value v;
    MS_TRY(value_->eval(f, v));
    return assign_path_value(f, *target_, v);
  }

 private:
  const PathNode* target_;
  const ExprNode* value_;
};

// ---------------------------------------------------------------- field to field

class SetFieldNode : public SimpleStmt {
 public:
  SetFieldNode(const ast::SetStmt& s, const PathNode* target, const ExprNode* value)
      : SimpleStmt(s), target_(target), value_(value) {}
  Status execute(Frame& f) const override {
    Ref source, target;
    MS_TRY(eval_source(f, source));
    if (!source.element || is_null_leaf(source.element)) {
      MS_TRY(f.x.check_parse());
      MS_TRY(target_->find(f, target));
      return assign_value(f, target, Value::null());
    }
    if (takes_source_name()) return set_unnamed(f, source);
    MS_TRY(target_->find_or_create(f, target));
    MS_TRY(copy_field(f, target, source));
    return state_type(f, target);
  }

 private:
  // A type in the path, as in x.(XMLNSC.Attribute)id, wins over that of the source.
  Status state_type(Frame& f, const Ref& target) const {
    if (!target.element || target_->steps.empty()) return {};
    const StepNode& last = target_->steps.back();
    if (last.is_fixed && !last.fixed.has_type) return {};
    StepMatch m;
    const bool matches = MS_TRY(last.match(f, f.x.context_of(target), m));
    if (matches && m.has_type) tree::set_type(target.element, m.type);
    return {};
  }
  // Rows are built for the domain they go to, so that their field types survive.
  Status eval_source(Frame& f, Ref& source) const {
    if (value_->shape() != Shape::kRow) return value_->eval_ref(f, source);
    const tree::Domain* outer = f.x.temporary_domain;
    MS_TRY(find_target_domain(f));
    Status s = value_->eval_ref(f, source);
    f.x.temporary_domain = outer;
    return s;
  }
  // Without creating anything: the source may turn out to be missing.
  Status find_target_domain(Frame& f) const {
    Ref at;
    f.x.temporary_domain = nullptr;
    MS_TRY(target_->start(f, at));
    const std::vector<StepNode>& steps = target_->steps;
    if (!at.element || steps.empty()) return {};
    if (f.x.is_message_root(at.element) && steps[0].is_fixed && steps[0].fixed.qname) {
      f.x.temporary_domain = f.x.host.find_domain(steps[0].fixed.qname->local->view());
      return {};
    }
    for (size_t i = 0; i + 1 < steps.size(); ++i) {
      Element* next = nullptr;
      MS_TRY(steps[i].find(f, f.x.context_of(at), at.element, next));
      if (!next) break;
      at.element = next;
    }
    MS_TRY(f.x.check_parse());
    if (tree::DomainRoot* root = tree::domain_root_of(at.element)) {
      f.x.temporary_domain = root->domain;
    }
    return {};
  }
  // SET OutputRoot.*[n] = InputRoot.*[n]: a field made for a name that matches anything takes that
  // of the source.
  bool takes_source_name() const {
    return !target_->steps.empty() && target_->steps.back().is_fixed &&
           target_->steps.back().name_kind == ast::NameKind::kAny &&
           target_->steps.back().fixed.mode == StepMatch::Mode::kAny;
  }
  Status set_unnamed(Frame& f, const Ref& source) const {
    Ref parent, target;
    MS_TRY(target_->create_parent(f, parent));
    if (!parent.element) return {};
    target = parent;
    MS_TRY(target_->steps.back().find(f, f.x.context_of(parent), parent.element, target.element));
    MS_TRY(f.x.check_parse());
    if (!target.element) {
      const base::QName* name = source.element->name;
      tree::TreeContext& tree = f.x.context_of(parent);
      if (source.shared != parent.shared) {
        name = tree.names.qname(source.element->namespace_uri(), source.element->local_name());
      }
      target.element = create_child(f, parent, name, tree::kName);
    }
    return copy_field(f, target, source);
  }
  const PathNode* target_;
  const ExprNode* value_;
};

// ---------------------------------------------------------------- lists

// SET a.b[] = list: as many instances as the list has, in its order.
class SetListNode : public SimpleStmt {
 public:
  SetListNode(const ast::SetStmt& s, const PathNode* target, const ExprNode* value)
      : SimpleStmt(s), target_(target), value_(value) {}
  Status execute(Frame& f) const override {
    if (target_->steps.empty()) return base::make_error(errors::kListToField, {});
    Ref parent;
    MS_TRY(target_->create_parent(f, parent));
    if (!parent.element) return {};
    const StepNode& last = target_->steps.back();
    tree::TreeContext& tree = f.x.context_of(parent);
    StepMatch m;
    if (!MS_TRY(last.match(f, tree, m))) return base::make_error(errors::kNameNull, {});
    // Items wait below a holder: copies are made before anything is removed, because source and
    // target may overlap.
    Collect all(f, parent);
    MS_TRY(collect(f, all));
    remove_matches(f, parent.element, m);
    if (!all.holder->first) return {};
    const base::QName* name = MS_TRY(name_for_create(tree, last, m));
    while (Element* e = all.holder->first) {
      Ref item = parent;
      item.element = e;
      MS_TRY(adopt_child(f, parent, name, item, true));
      if (m.has_type) tree::set_type(parent.element->last, m.type);
    }
    return {};
  }

 private:
  class Collect : public ItemSink {
   public:
    Collect(Frame& f, const Ref& p) : parent(p) {
      tree::TreeContext& tree = f.x.context_of(p);
      tree::DomainRoot* root = tree::domain_root_of(p.element);
      domain = root ? root->domain : nullptr;
      const base::QName* none = tree.names.empty_qname();
      holder = domain ? tree::make_domain_root(tree, *domain, none)
                      : tree::make_element(tree, none, tree::kName);
    }
    Status item(Frame& f, const Ref& item, bool is_temporary, bool&) override {
      Ref target = parent;
      target.element = holder;
      return adopt_child(f, target, f.x.context_of(parent).names.empty_qname(), item, is_temporary);
    }
    Ref parent;
    const tree::Domain* domain = nullptr;
    Element* holder = nullptr;
  };
  Status collect(Frame& f, Collect& all) const {
    const tree::Domain* outer = f.x.temporary_domain;
    f.x.temporary_domain = all.domain;
    Status s = collect_items(f, all);
    f.x.temporary_domain = outer;
    return s;
  }
  Status collect_items(Frame& f, Collect& all) const {
    bool stop = false;
    switch (value_->shape()) {
      case Shape::kList:
        return value_->for_each(f, all);
      case Shape::kField: {
        Ref one;
        MS_TRY(value_->eval_ref(f, one));
        return one.element ? all.item(f, one, false, stop) : Status();
      }
      case Shape::kRow:
        return base::make_error(errors::kRowToList, {});
      case Shape::kScalar: {
        Value v;
        MS_TRY(value_->eval(f, v));
        if (v.is_null()) return {};
        return base::make_error(errors::kNotAList, {"scalar"});
      }
    }
    return {};
  }
  static void remove_matches(Frame& f, Element* parent, const StepMatch& m) {
    for (Element* e = first_match(m, parent); e;) {
      Element* next = next_match(m, e);
      tree::detach(e);
      f.x.may_have_deleted = true;
      e = next;
    }
  }
  const PathNode* target_;
  const ExprNode* value_;
};

// ---------------------------------------------------------------- facets

class SetFacetNode : public SimpleStmt {
 public:
  SetFacetNode(const ast::SetStmt& s, const PathNode* target, const ExprNode* value)
      : SimpleStmt(s), facet_(s.facet), target_(target), value_(value) {}
  Status execute(Frame& f) const override {
    Value v;
    MS_TRY(value_->eval(f, v));
    Ref ref;
    MS_TRY(target_->find_or_create(f, ref));
    if (!ref.element) return {};
    MS_TRY(check_writable(ref));
    tree::TreeContext& tree = f.x.context_of(ref);
    if (facet_ == ast::Facet::kValue) {
      if (ref.element->first) f.x.may_have_deleted = true;
      if (ref.element->type == tree::kName && ref.element->parent && !v.is_null()) {
        assign_scalar(ref.element, stored_in(f.x, ref, v));
      } else {
        if (ref.element->type == tree::kName && ref.element->parent &&
            !ref.element->has_flag(tree::kFlagDomainRoot) && !tree::first_child(ref.element)) {
          tree::set_type(ref.element, tree::kNameValue);
        }
        tree::set_value(ref.element, stored_in(f.x, ref, v));
      }
      return {};
    }
    if (facet_ == ast::Facet::kType) {
      if (v.kind != Kind::kInteger) {
        return base::make_error(errors::kTypeNotInteger, {value::kind_name(v.kind)});
      }
      tree::set_type(ref.element, static_cast<tree::FieldType>(v.integer));
      return {};
    }
    if (v.is_null()) v = Value::make_character("");
    if (v.kind != Kind::kCharacter) {
      return base::make_error(errors::kNameNotCharacter, {value::kind_name(v.kind)});
    }
    const base::QName* old = ref.element->name;
    const base::Name* text = tree.names.intern(v.text());
    tree::set_name(ref.element, facet_ == ast::Facet::kName ? tree.names.qname(old->ns, text)
                                                            : tree.names.qname(text, old->local));
    return {};
  }

 private:
  ast::Facet facet_;
  const PathNode* target_;
  const ExprNode* value_;
};

}  // namespace

const StmtNode* compile_set(Compiler& c, const ast::SetStmt& s) {
  const PathNode* target = c.path(s.target);
  const ExprNode* value = c.expr(s.value);
  if (s.facet != ast::Facet::kWhole) return c.make<SetFacetNode>(s, target, value);
  if (target->is_list && !target->is_scalar_variable())
    return c.make<SetListNode>(s, target, value);
  if (target->is_scalar_variable()) {
    const ast::Variable& v = *target->variable();
    if (v.storage == ast::Storage::kLocal || v.storage == ast::Storage::kParameter) {
      return c.make<SetLocalNode>(s, v, value);
    }
    return c.make<SetValueNode>(s, target, value);
  }
  if (value->shape() == Shape::kField || value->shape() == Shape::kRow) {
    return c.make<SetFieldNode>(s, target, value);
  }
  if (value->shape() == Shape::kList) return c.make<SetListNode>(s, target, value);
  return c.make<SetValueNode>(s, target, value);
}

}  // namespace millstream::esql
