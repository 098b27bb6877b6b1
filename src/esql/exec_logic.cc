// Three-valued logic: NOT, AND, OR, BETWEEN, IN, IS and CASE (spec A4).
#include <cmath>

#include "esql/compile.h"
#include "esql/errors_gen.h"
#include "value/decimal.h"

namespace millstream::esql {

using value::Kind;
using value::Value;

namespace {

// Nodes whose natural result is a truth value.
class TriNode : public ExprNode {
 public:
  Status eval(Frame& f, Value& out) const final {
    Tri t = Tri::kUnknown;
    MS_TRY(eval_tri(f, t));
    out = tri_value(t);
    return {};
  }
};

class NotNode : public TriNode {
 public:
  explicit NotNode(const ExprNode* operand) : operand_(operand) {}
  Status eval_tri(Frame& f, Tri& out) const override {
    MS_TRY(operand_->eval_tri(f, out));
    out = tri_not(out);
    return {};
  }

 private:
  const ExprNode* operand_;
};

class AndOrNode : public TriNode {
 public:
  AndOrNode(bool is_and, const ExprNode* left, const ExprNode* right)
      : is_and_(is_and), left_(left), right_(right) {}
  Status eval_tri(Frame& f, Tri& out) const override {
    Tri a = Tri::kUnknown, b = Tri::kUnknown;
    MS_TRY(left_->eval_tri(f, a));
    if (a == (is_and_ ? Tri::kFalse : Tri::kTrue)) {
      out = a;
      return {};
    }
    MS_TRY(right_->eval_tri(f, b));
    out = is_and_ ? tri_and(a, b) : tri_or(a, b);
    return {};
  }

 private:
  bool is_and_;
  const ExprNode* left_;
  const ExprNode* right_;
};

class BetweenNode : public TriNode {
 public:
  BetweenNode(Compiler& c, const ast::BetweenExpr& e)
      : ast_(e), operand_(c.expr(e.operand)), low_(c.expr(e.low)), high_(c.expr(e.high)) {}
  Status eval_tri(Frame& f, Tri& out) const override {
    Value x, a, b;
    MS_TRY(operand_->eval(f, x));
    MS_TRY(low_->eval(f, a));
    MS_TRY(high_->eval(f, b));
    Status s = test(f, x, a, b, out);
    if (s.ok() && ast_.is_symmetric && out != Tri::kTrue) {
      Tri swapped = Tri::kUnknown;
      s = test(f, x, b, a, swapped);
      out = tri_or(out, swapped);
    }
    if (!s.ok()) return expression_error(f, ast_, std::move(s), {x, a, b});
    if (ast_.is_negated) out = tri_not(out);
    return {};
  }

 private:
  static Status test(Frame& f, const Value& x, const Value& a, const Value& b, Tri& out) {
    Tri low = Tri::kUnknown, high = Tri::kUnknown;
    MS_TRY(compare(f.x.ctx, CompareOp::kGreaterEqual, x, a, low));
    MS_TRY(compare(f.x.ctx, CompareOp::kLessEqual, x, b, high));
    out = tri_and(low, high);
    return {};
  }
  const ast::BetweenExpr& ast_;
  const ExprNode* operand_;
  const ExprNode* low_;
  const ExprNode* high_;
};

class InNode : public TriNode {
 public:
  InNode(Compiler& c, const ast::InExpr& e) : ast_(e), operand_(c.expr(e.operand)) {
    for (const ast::Expr* item : e.list) list_.push_back(c.expr(item));
  }
  Status eval_tri(Frame& f, Tri& out) const override {
    Value x;
    MS_TRY(operand_->eval(f, x));
    out = x.is_null() ? Tri::kUnknown : Tri::kFalse;
    if (!x.is_null()) MS_TRY(search(f, x, out));
    if (ast_.is_negated) out = tri_not(out);
    return {};
  }

 private:
  class Search : public ItemSink {
   public:
    Search(const InNode& in, const Value& x, Tri& result) : in_(in), x_(x), result_(result) {}
    Status item(Frame& f, const Ref& item, bool, bool& stop) override {
      Value v;
      MS_TRY(field_value(f, item, v));
      MS_TRY(in_.test(f, x_, v, result_));
      stop = result_ == Tri::kTrue;
      return {};
    }

   private:
    const InNode& in_;
    const Value& x_;
    Tri& result_;
  };
  Status search(Frame& f, const Value& x, Tri& out) const {
    for (const ExprNode* item : list_) {
      if (item->shape() == Shape::kList) {
        Search sink(*this, x, out);
        MS_TRY(item->for_each(f, sink));
      } else {
        Value v;
        MS_TRY(item->eval(f, v));
        MS_TRY(test(f, x, v, out));
      }
      if (out == Tri::kTrue) break;
    }
    return {};
  }
  Status test(Frame& f, const Value& x, const Value& v, Tri& result) const {
    Tri t = Tri::kUnknown;
    Status s = compare(f.x.ctx, CompareOp::kEqual, x, v, t);
    if (!s.ok()) return expression_error(f, ast_, std::move(s), {x, v});
    result = tri_or(result, t);
    return {};
  }
  const ast::InExpr& ast_;
  const ExprNode* operand_;
  std::vector<const ExprNode*> list_;
};

class IsNode : public TriNode {
 public:
  IsNode(const ast::IsExpr& e, const ExprNode* operand) : ast_(e), operand_(operand) {}
  Status eval_tri(Frame& f, Tri& out) const override {
    bool result = false;
    if (ast_.test == ast::IsTest::kTrue || ast_.test == ast::IsTest::kFalse) {
      Tri t = Tri::kUnknown;
      MS_TRY(operand_->eval_tri(f, t));
      result = t == (ast_.test == ast::IsTest::kTrue ? Tri::kTrue : Tri::kFalse);
    } else {
      Value v;
      MS_TRY(operand_->eval(f, v));
      result = test(v);
    }
    out = result != ast_.is_negated ? Tri::kTrue : Tri::kFalse;
    return {};
  }

 private:
  bool test(const Value& v) const {
    if (ast_.test == ast::IsTest::kNull || ast_.test == ast::IsTest::kUnknown) return v.is_null();
    bool is_infinite = false, is_negative = false, is_nan = false, is_number = false;
    if (v.kind == Kind::kDecimal) {
      value::Decimal d = v.as_decimal();
      is_infinite = d.is_infinite();
      is_negative = d.is_negative();
      is_nan = d.is_nan();
      is_number = d.is_finite();
    } else if (v.kind == Kind::kFloat) {
      is_infinite = std::isinf(v.real);
      is_negative = std::signbit(v.real);
      is_nan = std::isnan(v.real);
      is_number = std::isfinite(v.real);
    } else if (v.kind == Kind::kInteger) {
      is_number = true;
    }
    switch (ast_.test) {
      case ast::IsTest::kInfinity:
        return is_infinite;
      case ast::IsTest::kPlusInfinity:
        return is_infinite && !is_negative;
      case ast::IsTest::kMinusInfinity:
        return is_infinite && is_negative;
      case ast::IsTest::kNan:
        return is_nan;
      case ast::IsTest::kNumber:
        return is_number;
      default:
        return false;
    }
  }
  const ast::IsExpr& ast_;
  const ExprNode* operand_;
};

class CaseNode : public ExprNode {
 public:
  CaseNode(Compiler& c, const ast::CaseExpr& e)
      : ast_(e), operand_(c.expr(e.operand)), otherwise_(c.expr(e.otherwise)) {
    for (const ast::CaseWhen& w : e.whens) whens_.emplace_back(c.expr(w.when), c.expr(w.then));
  }
  Status eval(Frame& f, Value& out) const override {
    const ExprNode* chosen = nullptr;
    MS_TRY(choose(f, chosen));
    if (chosen) return chosen->eval(f, out);
    out = Value::null();
    return {};
  }

 private:
  Status choose(Frame& f, const ExprNode*& chosen) const {
    Value x;
    if (operand_) MS_TRY(operand_->eval(f, x));
    chosen = otherwise_;
    for (const auto& [when, then] : whens_) {
      Tri t = Tri::kUnknown;
      if (operand_) {
        Value v;
        MS_TRY(when->eval(f, v));
        Status s = compare(f.x.ctx, CompareOp::kEqual, x, v, t);
        if (!s.ok()) return expression_error(f, ast_, std::move(s), {x, v});
      } else {
        MS_TRY(when->eval_tri(f, t));
      }
      if (t == Tri::kTrue) {
        chosen = then;
        break;
      }
    }
    return {};
  }
  const ast::CaseExpr& ast_;
  const ExprNode* operand_;
  const ExprNode* otherwise_;
  std::vector<std::pair<const ExprNode*, const ExprNode*>> whens_;
};

}  // namespace

const ExprNode* compile_logic(Compiler& c, const ast::Expr& e) {
  switch (e.kind) {
    case ast::ExprKind::kNot:
      return c.make<NotNode>(c.expr(ast::as<ast::UnaryExpr>(e).operand));
    case ast::ExprKind::kAnd:
    case ast::ExprKind::kOr: {
      const auto& b = ast::as<ast::BinaryExpr>(e);
      const ExprNode* left = c.expr(b.left);
      const ExprNode* right = c.expr(b.right);
      return c.make<AndOrNode>(e.kind == ast::ExprKind::kAnd, left, right);
    }
    case ast::ExprKind::kBetween:
      return c.make<BetweenNode>(c, ast::as<ast::BetweenExpr>(e));
    case ast::ExprKind::kIn:
      return c.make<InNode>(c, ast::as<ast::InExpr>(e));
    case ast::ExprKind::kIs: {
      const auto& is = ast::as<ast::IsExpr>(e);
      return c.make<IsNode>(is, c.expr(is.operand));
    }
    default:
      return c.make<CaseNode>(c, ast::as<ast::CaseExpr>(e));
  }
}

}  // namespace millstream::esql
