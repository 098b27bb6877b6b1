// SELECT in every form, and THE (spec A7). Nested loops over the FROM items, leftmost slowest; rows
// are temporary elements made one at a time, so that COUNT, EXISTS and THE keep none.
#include <memory>

#include "esql/errors_gen.h"
#include "esql/exec_database.h"
#include "esql/rows.h"
#include "esql/shared.h"

namespace millstream::esql {

using tree::Element;
using value::Kind;
using value::Value;

namespace {

struct Source {
  const ExprNode* list;
  uint32_t slot;
};

// Called once for each combination that WHERE lets through, with the correlation names bound.
class RowSink {
 public:
  virtual Status row(Frame& f, bool& stop) = 0;

 protected:
  ~RowSink() = default;
};

class SelectNode : public ExprNode {
 public:
  SelectNode(Compiler& c, const ast::SelectExpr& e) : ast_(e) {
    bool has_tables = false;
    for (const ast::FromItem& i : e.from) {
      has_tables |= i.is_database;
      if (!i.is_database) sources_.push_back({c.expr(i.source), i.variable->slot});
    }
    std::vector<const ast::Expr*> conditions;
    if (has_tables) {
      database_ = std::make_unique<DatabaseSelect>(c, e, conditions);
    } else if (e.where) {
      conditions.push_back(e.where);
    }
    for (const ast::Expr* condition : conditions) where_.push_back(c.expr(condition));
    for (const ast::SelectColumn& column : e.columns) {
      columns_.push_back({c.expr(column.value), c.steps(column.as), column.is_all_of});
    }
    item_ = c.expr(e.item);
  }
  Shape shape() const override {
    switch (ast_.select) {
      case ast::SelectKind::kColumns:
        return ast_.is_list ? Shape::kList : Shape::kRow;
      case ast::SelectKind::kItem:
        return ast_.is_list ? Shape::kList : item_->shape();
      default:
        return Shape::kScalar;
    }
  }
  Status eval(Frame& f, Value& out) const override {
    out = Value::null();
    if (shape() == Shape::kScalar && ast_.select != ast::SelectKind::kItem) {
      if (database_ && database_->is_aggregate()) return database_->eval_aggregate(f, out);
      return eval_aggregate(f, out);
    }
    // The first row stands for the list.
    First first(*this);
    MS_TRY(rows(f, 0, first));
    return field_value(f, first.result, out);
  }
  Status eval_ref(Frame& f, Ref& out) const override {
    First first(*this);
    MS_TRY(rows(f, 0, first));
    out = first.result;
    return {};
  }
  Status for_each(Frame& f, ItemSink& sink) const override {
    Each each(*this, make_holder(f), sink);
    return rows(f, 0, each);
  }

 private:
  struct Column {
    const ExprNode* value;
    std::vector<StepNode> as;
    bool is_all_of;
  };

  class First : public RowSink {
   public:
    explicit First(const SelectNode& s) : select_(s) {}
    Status row(Frame& f, bool& stop) override {
      bool is_temporary;
      stop = true;
      return select_.make_row(f, make_holder(f), result, is_temporary);
    }
    Ref result;

   private:
    const SelectNode& select_;
  };
  class Each : public RowSink {
   public:
    Each(const SelectNode& s, Element* holder, ItemSink& sink)
        : select_(s), holder_(holder), sink_(sink) {}
    Status row(Frame& f, bool& stop) override {
      Ref item;
      bool is_temporary = false;
      MS_TRY(select_.make_row(f, holder_, item, is_temporary));
      return sink_.item(f, item, is_temporary, stop);
    }

   private:
    const SelectNode& select_;
    Element* holder_;
    ItemSink& sink_;
  };
  class Aggregate : public RowSink {
   public:
    explicit Aggregate(const SelectNode& s) : select_(s) {}
    Status row(Frame& f, bool&) override {
      if (select_.ast_.select == ast::SelectKind::kCountStar) {
        ++count;
        return {};
      }
      Value v;
      MS_TRY(select_.item_->eval(f, v));
      if (v.is_null()) return {};
      ++count;
      if (select_.ast_.select == ast::SelectKind::kCount) return {};
      if (total.is_null()) {
        total = v;
        return check_number(v);
      }
      Status s = combine(f, v);
      if (!s.ok()) return expression_error(f, select_.ast_, std::move(s), {total, v});
      return {};
    }
    int64_t count = 0;
    Value total;

   private:
    Status check_number(const Value& v) const {
      if (select_.ast_.select != ast::SelectKind::kSum || v.kind == Kind::kInteger ||
          v.kind == Kind::kFloat || v.kind == Kind::kDecimal || v.kind == Kind::kInterval) {
        return {};
      }
      return base::make_error(errors::kSumNotNumber, {value::kind_name(v.kind)});
    }
    Status combine(Frame& f, const Value& v) {
      if (select_.ast_.select == ast::SelectKind::kSum) {
        Value sum;
        MS_TRY(arithmetic(f.x.ctx, ArithmeticOp::kAdd, total, v, sum));
        total = sum;
        return {};
      }
      const bool is_max = select_.ast_.select == ast::SelectKind::kMax;
      Tri t = Tri::kUnknown;
      MS_TRY(compare(f.x.ctx, is_max ? CompareOp::kGreater : CompareOp::kLess, v, total, t));
      if (t == Tri::kTrue) total = v;
      return {};
    }
    const SelectNode& select_;
  };

  Status eval_aggregate(Frame& f, Value& out) const {
    Aggregate sink(*this);
    MS_TRY(rows(f, 0, sink));
    const bool is_count =
        ast_.select == ast::SelectKind::kCount || ast_.select == ast::SelectKind::kCountStar;
    out = is_count ? Value::make_integer(sink.count) : sink.total;
    return {};
  }

  // Binds source number `depth` to each of its items in turn.
  class Bind : public ItemSink {
   public:
    Bind(const SelectNode& s, size_t depth, RowSink& sink)
        : select_(s), depth_(depth), sink_(sink) {}
    Status item(Frame& f, const Ref& item, bool, bool& stop) override {
      MS_TRY(f.x.check_inner_loop());
      f.slots[select_.sources_[depth_].slot].ref = item;
      MS_TRY(select_.rows(f, depth_ + 1, sink_, stop_all));
      stop = stop_all;
      return {};
    }
    bool stop_all = false;

   private:
    const SelectNode& select_;
    size_t depth_;
    RowSink& sink_;
  };
  // All combinations, those of tables first.
  Status rows(Frame& f, size_t depth, RowSink& sink) const {
    bool stop = false;
    if (!database_) return rows(f, depth, sink, stop);
    return database_->for_each_row(f, [&] { return rows(f, depth, sink, stop); }, stop);
  }
  Status rows(Frame& f, size_t depth, RowSink& sink, bool& stop) const {
    if (depth < sources_.size()) {
      Bind bind(*this, depth, sink);
      MS_TRY(for_each_item(f, *sources_[depth].list, bind));
      stop = bind.stop_all;
      return {};
    }
    for (const ExprNode* condition : where_) {
      Tri t = Tri::kUnknown;
      MS_TRY(condition->eval_tri(f, t));
      if (t != Tri::kTrue) return {};
    }
    return sink.row(f, stop);
  }

  Status make_row(Frame& f, Element* holder, Ref& out, bool& is_temporary) const {
    if (ast_.select == ast::SelectKind::kItem) {
      return make_item(f, holder, *item_, out, is_temporary);
    }
    is_temporary = true;
    out = make_temporary(f, holder, tree::kName);
    for (size_t i = 0; i < columns_.size(); ++i) {
      const Column& c = columns_[i];
      if (!c.value) {
        for (const ast::FromItem& s : ast_.from) {
          MS_TRY(put_all_columns(f, out, f.slots[s.variable->slot].ref));
        }
      } else if (c.is_all_of) {
        Ref source;
        MS_TRY(c.value->eval_ref(f, source));
        MS_TRY(put_all_columns(f, out, source));
      } else {
        MS_TRY(put_column(f, out, c.as, i, *c.value));
      }
    }
    return {};
  }

  const ast::SelectExpr& ast_;
  std::vector<Source> sources_;
  std::vector<Column> columns_;
  const ExprNode* item_;
  std::vector<const ExprNode*> where_;  // all must be TRUE
  std::unique_ptr<DatabaseSelect> database_;
};

class TheNode : public ExprNode {
 public:
  explicit TheNode(const ExprNode* list) : list_(list) {}
  Shape shape() const override {
    return list_->shape() == Shape::kList ? Shape::kRow : list_->shape();
  }
  Status eval(Frame& f, Value& out) const override {
    if (list_->shape() != Shape::kList) return list_->eval(f, out);
    Ref ref;
    MS_TRY(eval_ref(f, ref));
    return field_value(f, ref, out);
  }
  Status eval_ref(Frame& f, Ref& out) const override {
    if (list_->shape() != Shape::kList) return list_->eval_ref(f, out);
    First first;
    MS_TRY(list_->for_each(f, first));
    out = first.result;
    return {};
  }

 private:
  class First : public ItemSink {
   public:
    Status item(Frame&, const Ref& item, bool, bool& stop) override {
      result = item;
      stop = true;
      return {};
    }
    Ref result;
  };
  const ExprNode* list_;
};

}  // namespace

const ExprNode* compile_select(Compiler& c, const ast::SelectExpr& e) {
  return c.make<SelectNode>(c, e);
}

const ExprNode* compile_the(Compiler& c, const ast::TheExpr& e) {
  return c.make<TheNode>(c.expr(e.list));
}

}  // namespace millstream::esql
