// ROW and LIST constructors, their comparison, and FOR ALL / ANY (spec A4, A7, A8).
#include "esql/rows.h"

#include "esql/errors_gen.h"
#include "esql/shared.h"
#include "tree/domain.h"

namespace millstream::esql {

using tree::Element;
using value::Kind;
using value::Value;

Element* make_holder(Frame& f) {
  tree::TreeContext& tree = f.x.tree();
  const base::QName* none = tree.names.empty_qname();
  if (f.x.temporary_domain) return tree::make_domain_root(tree, *f.x.temporary_domain, none);
  return tree::make_element(tree, none, tree::kName);
}

Ref make_temporary(Frame& f, Element* holder, tree::FieldType type) {
  Ref out;
  out.element = tree::make_element(f.x.tree(), f.x.tree().names.empty_qname(), type);
  tree::append_child(holder, out.element);
  return out;
}

namespace {

Status create_along(Frame& f, const Ref& row, const std::vector<StepNode>& as, size_t position,
                    size_t count, Ref& out) {
  out = row;
  if (as.empty()) {
    std::string name = "Column" + std::to_string(position + 1);
    out.element = create_child(f, row, f.x.tree().names.qname(name), tree::kName);
    return {};
  }
  for (size_t i = 0; i < count; ++i) {
    Element* next = nullptr;
    MS_TRY(as[i].find_or_create(f, out, next));
    out.element = next;
  }
  return {};
}

// Each item becomes an instance of the last step's name.
class ColumnItems : public ItemSink {
 public:
  ColumnItems(const Ref& parent, const StepNode& last) : parent_(parent), last_(last) {}
  Status item(Frame& f, const Ref& item, bool is_temporary, bool&) override {
    StepMatch m;
    if (!MS_TRY(last_.match(f, f.x.tree(), m))) return base::make_error(errors::kNameNull, {});
    const base::QName* name = MS_TRY(name_for_create(f.x.tree(), last_, m));
    MS_TRY(adopt_child(f, parent_, name, item, is_temporary));
    if (m.has_type) parent_.element->last->type = m.type;
    return {};
  }

 private:
  Ref parent_;
  const StepNode& last_;
};

}  // namespace

Status put_column(Frame& f, const Ref& row, const std::vector<StepNode>& as, size_t position,
                  const ExprNode& value) {
  Ref target;
  switch (value.shape()) {
    case Shape::kList: {
      if (as.empty()) return base::make_error(errors::kListToField, {});
      MS_TRY(create_along(f, row, as, position, as.size() - 1, target));
      ColumnItems sink(target, as.back());
      return value.for_each(f, sink);
    }
    case Shape::kField:
    case Shape::kRow: {
      Ref source;
      MS_TRY(value.eval_ref(f, source));
      if (!source.element) return {};
      if (!tree::first_child(source.element) && tree::scalar_value(source.element).is_null() &&
          (source.element->type & tree::kTypeClassMask) != tree::kName) {
        return f.x.check_parse();
      }
      MS_TRY(create_along(f, row, as, position, as.size(), target));
      const tree::FieldType wanted = target.element->type;
      MS_TRY(copy_field(f, target, source));
      // AS (XMLNSC.Attribute)x says the type; otherwise it comes with the copy.
      if (!as.empty() && as.back().fixed.has_type) target.element->type = wanted;
      return {};
    }
    case Shape::kScalar:
      break;
  }
  Value v;
  MS_TRY(value.eval(f, v));
  if (v.is_null()) return {};
  MS_TRY(create_along(f, row, as, position, as.size(), target));
  return assign_value(f, target, v);
}

Status put_all_columns(Frame& f, const Ref& row, const Ref& source) {
  if (!source.element) return {};
  for (Element* c = tree::first_child(source.element); c; c = tree::next_sibling(c)) {
    Ref item = source;
    item.element = c;
    const base::QName* name = c->name;
    if (source.shared) name = f.x.tree().names.qname(c->namespace_uri(), c->local_name());
    MS_TRY(adopt_child(f, row, name, item, false));
  }
  return f.x.check_parse();
}

Status for_each_item(Frame& f, const ExprNode& e, ItemSink& sink) {
  if (e.shape() == Shape::kList) return e.for_each(f, sink);
  bool stop = false;
  Ref one;
  if (e.shape() == Shape::kScalar) {
    Value v;
    MS_TRY(e.eval(f, v));
    one = make_temporary(f, make_holder(f), tree::kNameValue);
    one.element->scalar = v;
    one.element->scalar.spare = 0;
    return sink.item(f, one, true, stop);
  }
  MS_TRY(e.eval_ref(f, one));
  return one.element ? sink.item(f, one, e.shape() == Shape::kRow, stop) : Status();
}

Status make_item(Frame& f, Element* holder, const ExprNode& value, Ref& out, bool& is_temporary) {
  is_temporary = value.shape() != Shape::kField;
  if (value.shape() == Shape::kField || value.shape() == Shape::kRow) {
    MS_TRY(value.eval_ref(f, out));
    if (out.element) return {};
    is_temporary = true;
    out = make_temporary(f, holder, tree::kNameValue);
    return {};
  }
  Value v;
  MS_TRY(value.eval(f, v));
  out = make_temporary(f, holder, tree::kNameValue);
  if (!v.is_null()) tree::set_value(out.element, v);
  return {};
}

namespace {

class RowNode : public ExprNode {
 public:
  RowNode(Compiler& c, const ast::RowExpr& e) {
    for (const ast::RowField& field : e.fields) {
      fields_.push_back({c.expr(field.value), c.steps(field.as)});
    }
  }
  Shape shape() const override { return Shape::kRow; }
  Status eval(Frame&, Value&) const override {
    return base::make_error(errors::kNotAScalar, {"ROW"});
  }
  Status eval_ref(Frame& f, Ref& out) const override {
    out = make_temporary(f, make_holder(f), tree::kName);
    for (size_t i = 0; i < fields_.size(); ++i) {
      MS_TRY(put_column(f, out, fields_[i].as, i, *fields_[i].value));
    }
    return {};
  }

 private:
  struct Field {
    const ExprNode* value;
    std::vector<StepNode> as;
  };
  std::vector<Field> fields_;
};

class ListNode : public ExprNode {
 public:
  ListNode(Compiler& c, const ast::ListExpr& e) {
    for (const ast::Expr* item : e.items) items_.push_back(c.expr(item));
  }
  Shape shape() const override { return Shape::kList; }
  Status eval(Frame&, Value&) const override {
    return base::make_error(errors::kNotAScalar, {"LIST"});
  }
  Status for_each(Frame& f, ItemSink& sink) const override {
    Element* holder = make_holder(f);
    bool stop = false;
    for (const ExprNode* e : items_) {
      if (stop) break;
      if (e->shape() == Shape::kList) {
        MS_TRY(e->for_each(f, sink));
        continue;
      }
      Ref item;
      bool is_temporary = false;
      MS_TRY(make_item(f, holder, *e, item, is_temporary));
      MS_TRY(sink.item(f, item, is_temporary, stop));
    }
    return {};
  }

 private:
  std::vector<const ExprNode*> items_;
};

// ---------------------------------------------------------------- comparison

class CollectItems : public ItemSink {
 public:
  Status item(Frame&, const Ref& item, bool, bool&) override {
    items.push_back(item);
    return {};
  }
  std::vector<Ref> items;
};

class ComplexCompareNode : public ExprNode {
 public:
  ComplexCompareNode(const ast::BinaryExpr& e, bool is_row, const ExprNode* left,
                     const ExprNode* right)
      : ast_(e), is_row_(is_row), left_(left), right_(right) {}
  Status eval(Frame& f, Value& out) const override {
    if (ast_.compare != CompareOp::kEqual && ast_.compare != CompareOp::kNotEqual) {
      return base::make_error(errors::kRowOrder, {is_row_ ? "ROW" : "LIST"});
    }
    CollectItems a, b;
    MS_TRY(collect(f, *left_, a));
    MS_TRY(collect(f, *right_, b));
    Tri t = a.items.size() == b.items.size() ? Tri::kTrue : Tri::kFalse;
    for (size_t i = 0; i < a.items.size() && t != Tri::kFalse; ++i) {
      Tri one = Tri::kUnknown;
      MS_TRY(compare_items(f, a.items[i], b.items[i], one));
      t = tri_and(t, one);
    }
    out = tri_value(ast_.compare == CompareOp::kEqual ? t : tri_not(t));
    return {};
  }

 private:
  // The fields of a row, the items of a list.
  Status collect(Frame& f, const ExprNode& e, CollectItems& out) const {
    if (!is_row_) return for_each_item(f, e, out);
    Ref row;
    MS_TRY(e.eval_ref(f, row));
    if (!row.element) return {};
    for (Element* c = tree::first_child(row.element); c; c = tree::next_sibling(c)) {
      Ref field = row;
      field.element = c;
      out.items.push_back(field);
    }
    return f.x.check_parse();
  }
  Status compare_items(Frame& f, const Ref& a, const Ref& b, Tri& out) const {
    if (is_row_ && (a.element->local_name() != b.element->local_name() ||
                    a.element->namespace_uri() != b.element->namespace_uri())) {
      out = Tri::kFalse;
      return {};
    }
    if (!is_row_ && (tree::first_child(a.element) || tree::first_child(b.element))) {
      return compare_rows(f, a, b, out);
    }
    Value x, y;
    MS_TRY(field_value(f, a, x));
    MS_TRY(field_value(f, b, y));
    Status s = compare(f.x.ctx, CompareOp::kEqual, x, y, out);
    if (!s.ok()) return expression_error(f, ast_, std::move(s), {x, y});
    return {};
  }
  // Rows as items of lists.
  Status compare_rows(Frame& f, const Ref& a, const Ref& b, Tri& out) const {
    out = Tri::kTrue;
    Ref x = a, y = b;
    x.element = tree::first_child(a.element);
    y.element = tree::first_child(b.element);
    while (x.element && y.element && out != Tri::kFalse) {
      Tri t = Tri::kFalse;
      if (x.element->local_name() == y.element->local_name()) {
        Value v, w;
        MS_TRY(field_value(f, x, v));
        MS_TRY(field_value(f, y, w));
        MS_TRY(compare(f.x.ctx, CompareOp::kEqual, v, w, t));
      }
      out = tri_and(out, t);
      x.element = tree::next_sibling(x.element);
      y.element = tree::next_sibling(y.element);
    }
    if (x.element || y.element) out = Tri::kFalse;
    return {};
  }
  const ast::BinaryExpr& ast_;
  bool is_row_;
  const ExprNode* left_;
  const ExprNode* right_;
};

// ---------------------------------------------------------------- FOR ALL / ANY

class QuantifierNode : public ExprNode {
 public:
  QuantifierNode(Compiler& c, const ast::QuantifierExpr& e)
      : ast_(e), list_(c.expr(e.list)), condition_(c.expr(e.condition)) {}
  Status eval(Frame& f, Value& out) const override {
    const bool is_all = ast_.quantifier == ast::Quantifier::kAll;
    Test sink(*this, is_all ? Tri::kTrue : Tri::kFalse);
    MS_TRY(for_each_item(f, *list_, sink));
    out = tri_value(sink.result);
    return {};
  }

 private:
  class Test : public ItemSink {
   public:
    Test(const QuantifierNode& q, Tri start) : result(start), q_(q) {}
    Status item(Frame& f, const Ref& item, bool, bool& stop) override {
      const bool is_all = q_.ast_.quantifier == ast::Quantifier::kAll;
      if (q_.ast_.variable) bind_reference(f, f.slots[q_.ast_.variable->slot], item);
      MS_TRY(f.x.check_inner_loop());
      Tri t = Tri::kUnknown;
      MS_TRY(q_.condition_->eval_tri(f, t));
      result = is_all ? tri_and(result, t) : tri_or(result, t);
      stop = result == (is_all ? Tri::kFalse : Tri::kTrue);
      return {};
    }
    Tri result;

   private:
    const QuantifierNode& q_;
  };
  const ast::QuantifierExpr& ast_;
  const ExprNode* list_;
  const ExprNode* condition_;
};

}  // namespace

const ExprNode* compile_row_or_list(Compiler& c, const ast::Expr& e) {
  if (e.kind == ast::ExprKind::kRow) return c.make<RowNode>(c, ast::as<ast::RowExpr>(e));
  return c.make<ListNode>(c, ast::as<ast::ListExpr>(e));
}

const ExprNode* compile_complex_compare(Compiler& c, const ast::BinaryExpr& e, const ExprNode* left,
                                        const ExprNode* right) {
  const Shape a = left->shape(), b = right->shape();
  if (a == Shape::kList || b == Shape::kList) {
    return c.make<ComplexCompareNode>(e, false, left, right);
  }
  const bool has_row = e.left->kind == ast::ExprKind::kRow || e.right->kind == ast::ExprKind::kRow;
  if (has_row && a != Shape::kScalar && b != Shape::kScalar) {
    return c.make<ComplexCompareNode>(e, true, left, right);
  }
  return nullptr;
}

const ExprNode* compile_quantifier(Compiler& c, const ast::QuantifierExpr& e) {
  return c.make<QuantifierNode>(c, e);
}

}  // namespace millstream::esql
