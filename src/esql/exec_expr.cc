// Scalar expressions: literals, variables and operators.
#include <cstring>
#include <vector>

#include "base/ascii.h"
#include "esql/builtin.h"
#include "esql/compile.h"
#include "esql/errors_gen.h"
#include "esql/quick.h"
#include "value/decimal.h"

namespace millstream::esql {

using value::Kind;
using value::Value;

Status ExprNode::eval_tri(Frame& f, Tri& out) const {
  Value v;
  MS_TRY(eval(f, v));
  if (v.kind == Kind::kBoolean) {
    out = v.boolean() ? Tri::kTrue : Tri::kFalse;
    return {};
  }
  return to_tri(f.x.ctx, v, out);
}

Status ExprNode::eval_ref(Frame&, Ref& out) const {
  out = Ref{};
  return base::make_error(errors::kNotAField, {"expression"});
}

Status ExprNode::for_each(Frame&, ItemSink&) const {
  return base::make_error(errors::kNotAList, {"expression"});
}

Status expression_error(Frame& f, const ast::Expr& e, Status cause,
                        std::initializer_list<Value> operands) {
  std::string_view text = e.source.substr(0, Execution::kStatementTextMax);
  std::vector<base::Insert> inserts;
  inserts.emplace_back(std::to_string(e.pos.line) + "." + std::to_string(e.pos.column));
  inserts.emplace_back(text);
  for (const Value& v : operands) {
    std::string shown = display_text(f.x.ctx, v);
    if (shown.size() > Execution::kOperandTextMax) {
      size_t end = Execution::kOperandTextMax;
      while (end > 0 && (static_cast<unsigned char>(shown[end]) & 0xc0) == 0x80) --end;
      shown.resize(end);
      shown += " ...";
    }
    inserts.emplace_back(std::move(shown));
  }
  Status outer = base::make_error(errors::kExpressionFailed, std::move(inserts));
  outer.error().position.line = e.pos.line;
  outer.error().position.column = e.pos.column;
  return base::wrap_error(std::move(outer), std::move(cause));
}

namespace {

class LiteralNode : public ExprNode {
 public:
  explicit LiteralNode(const Value& v) : value_(v) {}
  Status eval(Frame&, Value& out) const override {
    out = value_;
    return {};
  }
  const Value* constant() const override { return &value_; }
  bool is_quick() const override { return true; }
  Value quick(Frame&) const override { return value_; }

 private:
  Value value_;
};

class LocalNode : public ExprNode {
 public:
  LocalNode(uint32_t slot, Kind kind)
      : slot_(slot),
        is_number_(kind == Kind::kInteger || kind == Kind::kDecimal || kind == Kind::kFloat) {}
  Status eval(Frame& f, Value& out) const override {
    out = f.slots[slot_].value;
    return {};
  }
  int32_t local_slot() const override { return static_cast<int32_t>(slot_); }
  bool is_quick() const override { return is_number_; }
  Value quick(Frame& f) const override { return f.slots[slot_].value; }

 private:
  uint32_t slot_;
  bool is_number_;
};

class GlobalNode : public ExprNode {
 public:
  explicit GlobalNode(const ast::Variable& v) : variable_(v) {}
  Status eval(Frame& f, Value& out) const override {
    Slot* slot = MS_TRY(f.x.slot_of(f, variable_));
    out = slot->value;
    if (variable_.storage == ast::Storage::kShared) out = value::copy_value(out, f.x.arena());
    return {};
  }

 private:
  const ast::Variable& variable_;
};

class SpecialNode : public ExprNode {
 public:
  explicit SpecialNode(ast::SpecialName name) : name_(name) {}
  Status eval(Frame& f, Value& out) const override {
    const SqlRegisters& sql = f.x.sql;
    switch (name_) {
      case ast::SpecialName::kSqlCode:
        out = Value::make_integer(sql.code);
        break;
      case ast::SpecialName::kSqlState:
        out = Value::make_character(sql.state);
        break;
      case ast::SpecialName::kSqlErrorText:
        out = Value::make_character(sql.text);
        break;
      case ast::SpecialName::kSqlNativeError:
        out = Value::make_integer(sql.native_error);
        break;
    }
    return {};
  }

 private:
  ast::SpecialName name_;
};

class BrokerPropertyNode : public ExprNode {
 public:
  explicit BrokerPropertyNode(const ast::PathExpr& e) : ast_(e) {}
  Status eval(Frame& f, Value& out) const override {
    out = Value::null();
    if (!f.x.host.find_broker_property(ast_.name, out)) out = Value::null();
    return {};
  }

 private:
  const ast::PathExpr& ast_;
};

}  // namespace

const ExprNode* compile_literal(Compiler& c, const Value& v) { return c.make<LiteralNode>(v); }

const ExprNode* compile_path_value(Compiler& c, const ast::PathExpr& e) {
  switch (e.ref) {
    case ast::RefKind::kConstant:
      return compile_literal(c, e.constant);
    case ast::RefKind::kSpecial:
      return c.make<SpecialNode>(e.special);
    case ast::RefKind::kNiladic:
      return compile_builtin(c, *e.builtin, e, {});
    case ast::RefKind::kBrokerProperty:
      return c.make<BrokerPropertyNode>(e);
    case ast::RefKind::kVariable: {
      const ast::Variable& v = *e.variable;
      const bool is_scalar = v.type.kind != ast::TypeKind::kRow &&
                             v.type.kind != ast::TypeKind::kReference &&
                             v.storage != ast::Storage::kRow;
      if (!is_scalar || !e.steps.empty()) break;
      if (v.has_literal) return compile_literal(c, v.literal);
      if (v.storage == ast::Storage::kLocal || v.storage == ast::Storage::kParameter) {
        return c.make<LocalNode>(v.slot, v.type.scalar.kind);
      }
      return c.make<GlobalNode>(v);
    }
    default:
      break;
  }
  return c.path(&e);
}

// ---------------------------------------------------------------- operators

namespace {

// A literal such as 1.6 is FLOAT, but beside a DECIMAL its digits count: recorded output of the
// product has 0.30 * 1.6 = 0.480 (DECIMAL). Null when `e` is no such literal; those of 17 digits or
// more stay FLOAT, so that the value needs no arena.
Value exact_literal(const ast::Expr& e) {
  constexpr size_t kTextMax = 17;
  if (e.kind != ast::ExprKind::kLiteral) return {};
  const Value& v = ast::as<ast::LiteralExpr>(e).value;
  value::Decimal d;
  if (v.kind != Kind::kFloat || e.source.size() > kTextMax ||
      e.source.find_first_of("eE") != std::string_view::npos ||
      !value::Decimal::parse(e.source, d)) {
    return {};
  }
  base::Arena unused;
  return Value::make_decimal(d, unused);
}

void use_exact_literals(const Value& exact_left, const Value& exact_right, Value& a, Value& b) {
  if (a.kind == Kind::kDecimal && exact_right.kind == Kind::kDecimal) b = exact_right;
  if (b.kind == Kind::kDecimal && exact_left.kind == Kind::kDecimal) a = exact_left;
}

class ArithmeticNode : public ExprNode {
 public:
  ArithmeticNode(const ast::BinaryExpr& e, const ExprNode* left, const ExprNode* right)
      : ast_(e),
        op_(e.arithmetic),
        left_(left),
        right_(right),
        exact_left_(exact_literal(*e.left)),
        exact_right_(exact_literal(*e.right)),
        is_quick_(op_ != ArithmeticOp::kDivide && exact_left_.is_null() && exact_right_.is_null() &&
                  left->is_quick() && right->is_quick()) {}
  bool is_quick() const override { return is_quick_; }
  Value quick(Frame& f) const override {
    Value a = left_->quick(f);
    if (__builtin_expect(a.is_null(), 0)) return a;
    Value b = right_->quick(f);
    if (__builtin_expect(b.is_null(), 0)) return b;
    return quick::arithmetic(op_, a, b);
  }
  Status eval(Frame& f, Value& out) const override {
    Value a, b;
    MS_TRY(left_->eval(f, a));
    MS_TRY(right_->eval(f, b));
    Value quick = quick::arithmetic(op_, a, b);
    if (!quick.is_null()) {
      out = quick;
      return {};
    }
    use_exact_literals(exact_left_, exact_right_, a, b);
    Status s = arithmetic(f.x.ctx, op_, a, b, out);
    if (__builtin_expect(!s.ok(), 0)) return expression_error(f, ast_, std::move(s), {a, b});
    return {};
  }

 private:
  const ast::BinaryExpr& ast_;
  ArithmeticOp op_;
  const ExprNode* left_;
  const ExprNode* right_;
  Value exact_left_, exact_right_;
  bool is_quick_;
};

// a || b || c ... as one operator: the parts may be many, and the result is written once.
class ConcatenateNode : public ExprNode {
 public:
  struct Part {
    const ast::BinaryExpr* ast;  // the || in front of it; null for the first
    const ExprNode* value;
  };
  explicit ConcatenateNode(std::vector<Part> parts) : parts_(std::move(parts)) {}
  Status eval(Frame& f, Value& out) const override {
    ScratchStack::Mark mark = f.x.stack.mark();
    auto* values = static_cast<Value*>(f.x.stack.allocate(parts_.size() * sizeof(Value)));
    Status s = eval_parts(f, values);
    if (s.ok() && !join_texts(f, values, out)) s = join_pairs(f, values, out);
    f.x.stack.release(mark);
    return s;
  }

 private:
  Status eval_parts(Frame& f, Value* values) const {
    for (size_t i = 0; i < parts_.size(); ++i) {
      new (&values[i]) Value();
      MS_TRY(parts_[i].value->eval(f, values[i]));
    }
    return {};
  }
  // False when they are not all CHARACTER, or too long.
  bool join_texts(Frame& f, const Value* values, Value& out) const {
    uint64_t size = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (values[i].kind != Kind::kCharacter) return false;
      size += values[i].size;
    }
    if (size > kJoinedBytesMax) return false;
    // A text that grows at its end in a loop is not copied each time (operators.cc, concatenate).
    const Value& first = values[0];
    const bool is_extended =
        first.size != 0 && f.x.arena().try_extend(first.data, first.size, size);
    char* p = is_extended ? const_cast<char*>(first.data) : f.x.arena().bytes(size);
    out = Value::make_character({p, size});
    if (is_extended) p += first.size;
    for (size_t i = is_extended ? 1 : 0; i < parts_.size(); ++i) {
      if (values[i].size) std::memcpy(p, values[i].data, values[i].size);
      p += values[i].size;
    }
    return true;
  }
  Status join_pairs(Frame& f, const Value* values, Value& out) const {
    Value left = values[0];
    for (size_t i = 1; i < parts_.size(); ++i) {
      Status s = concatenate(f.x.ctx, left, values[i], out);
      if (!s.ok()) return expression_error(f, *parts_[i].ast, std::move(s), {left, values[i]});
      left = out;
    }
    return {};
  }
  static constexpr uint64_t kJoinedBytesMax = 16 * 1024 * 1024;  // beyond, pairs know the limit
  std::vector<Part> parts_;
};

class CompareNode : public ExprNode {
 public:
  CompareNode(const ast::BinaryExpr& e, const ExprNode* left, const ExprNode* right)
      : ast_(e), op_(e.compare), left_(left), right_(right) {}
  Status eval(Frame& f, Value& out) const override {
    Tri t = Tri::kUnknown;
    MS_TRY(eval_tri(f, t));
    out = tri_value(t);
    return {};
  }
  Status eval_tri(Frame& f, Tri& out) const override {
    Value a, b;
    MS_TRY(left_->eval(f, a));
    MS_TRY(right_->eval(f, b));
    if (a.kind == b.kind) {
      if (a.kind == Kind::kInteger) {
        out = is_true((a.integer > b.integer) - (a.integer < b.integer)) ? Tri::kTrue : Tri::kFalse;
        return {};
      }
      if (a.kind == Kind::kCharacter && (op_ == CompareOp::kEqual || op_ == CompareOp::kNotEqual)) {
        bool same =
            base::without_trailing_blanks(a.text()) == base::without_trailing_blanks(b.text());
        out = same == (op_ == CompareOp::kEqual) ? Tri::kTrue : Tri::kFalse;
        return {};
      }
    }
    Status s = compare(f.x.ctx, op_, a, b, out);
    if (__builtin_expect(!s.ok(), 0)) return expression_error(f, ast_, std::move(s), {a, b});
    return {};
  }

 private:
  bool is_true(int order) const {
    switch (op_) {
      case CompareOp::kEqual:
        return order == 0;
      case CompareOp::kNotEqual:
        return order != 0;
      case CompareOp::kLess:
        return order < 0;
      case CompareOp::kGreater:
        return order > 0;
      case CompareOp::kLessEqual:
        return order <= 0;
      case CompareOp::kGreaterEqual:
        return order >= 0;
    }
    return false;
  }
  const ast::BinaryExpr& ast_;
  CompareOp op_;
  const ExprNode* left_;
  const ExprNode* right_;
};

class NegateNode : public ExprNode {
 public:
  NegateNode(const ast::Expr& e, const ExprNode* operand) : ast_(e), operand_(operand) {}
  Status eval(Frame& f, Value& out) const override {
    Value v;
    MS_TRY(operand_->eval(f, v));
    Status s = negate(f.x.ctx, v, out);
    if (__builtin_expect(!s.ok(), 0)) return expression_error(f, ast_, std::move(s), {v});
    return {};
  }

 private:
  const ast::Expr& ast_;
  const ExprNode* operand_;
};

class LikeNode : public ExprNode {
 public:
  LikeNode(Compiler& c, const ast::LikeExpr& e)
      : ast_(e), text_(c.expr(e.operand)), pattern_(c.expr(e.pattern)), escape_(c.expr(e.escape)) {}
  Status eval(Frame& f, Value& out) const override {
    Value text, pattern, escape;
    MS_TRY(text_->eval(f, text));
    MS_TRY(pattern_->eval(f, pattern));
    Tri t = Tri::kUnknown;
    if (escape_) {
      MS_TRY(escape_->eval(f, escape));
      if (escape.is_null()) {
        out = tri_value(t);
        return {};
      }
    }
    Status s = like(f.x.ctx, text, pattern, escape, t);
    if (!s.ok()) return expression_error(f, ast_, std::move(s), {text, pattern});
    out = tri_value(ast_.is_negated ? tri_not(t) : t);
    return {};
  }

 private:
  const ast::LikeExpr& ast_;
  const ExprNode* text_;
  const ExprNode* pattern_;
  const ExprNode* escape_;
};

// (a - b) DAY, (n) DAY.
class IntervalNode : public ExprNode {
 public:
  IntervalNode(Compiler& c, const ast::IntervalExpr& e) : ast_(e) {
    if (e.operand->kind == ast::ExprKind::kArithmetic) {
      const auto& b = ast::as<ast::BinaryExpr>(*e.operand);
      if (b.arithmetic == ArithmeticOp::kSubtract) {
        left_ = c.expr(b.left);
        right_ = c.expr(b.right);
        return;
      }
    }
    left_ = c.expr(e.operand);
  }
  Status eval(Frame& f, Value& out) const override {
    Value a, b;
    MS_TRY(left_->eval(f, a));
    if (right_) MS_TRY(right_->eval(f, b));
    Status s = compute(f, a, b, out);
    if (!s.ok()) return expression_error(f, ast_, std::move(s), {a, b});
    return {};
  }

 private:
  static bool is_number(const Value& v) {
    return v.kind == Kind::kInteger || v.kind == Kind::kFloat || v.kind == Kind::kDecimal ||
           v.kind == Kind::kInterval;
  }
  Status compute(Frame& f, const Value& a, const Value& b, Value& out) const {
    if (a.is_null() || (right_ && b.is_null())) {
      out = Value::null();
      return {};
    }
    Value amount = a;
    if (right_) {
      if (!is_number(a)) return subtract_to_interval(f.x.ctx, a, b, ast_.qualifier, out);
      MS_TRY(arithmetic(f.x.ctx, ArithmeticOp::kSubtract, a, b, amount));
    }
    CastTarget target;
    target.kind = Kind::kInterval;
    target.qualifier = ast_.qualifier;
    target.has_qualifier = true;
    return cast(f.x.ctx, {&amount, 1}, target, {}, out);
  }
  const ast::IntervalExpr& ast_;
  const ExprNode* left_ = nullptr;
  const ExprNode* right_ = nullptr;
};

// The constant that an operator over constants gives; null when it fails or is none.
const ExprNode* fold_binary(Compiler& c, const ast::BinaryExpr& e, const ExprNode* left,
                            const ExprNode* right) {
  if (!c.fold() || !left->constant() || !right->constant()) return nullptr;
  Value a = *left->constant();
  Value b = *right->constant();
  Value out;
  Tri t = Tri::kUnknown;
  Status s;
  switch (e.kind) {
    case ast::ExprKind::kArithmetic:
      use_exact_literals(exact_literal(*e.left), exact_literal(*e.right), a, b);
      s = arithmetic(*c.fold(), e.arithmetic, a, b, out);
      break;
    case ast::ExprKind::kConcatenate:
      s = concatenate(*c.fold(), a, b, out);
      break;
    case ast::ExprKind::kCompare:
      s = compare(*c.fold(), e.compare, a, b, t);
      out = s.ok() ? tri_value(t) : out;
      break;
    default:
      return nullptr;
  }
  return s.ok() ? compile_literal(c, out) : nullptr;
}

// The chain is gone through in a loop, because it may be longer than the stack is deep.
const ExprNode* compile_concatenation(Compiler& c, const ast::BinaryExpr& e) {
  std::vector<const ast::BinaryExpr*> chain;  // outermost, which is the last ||, first
  const ast::Expr* first = &e;
  while (first->kind == ast::ExprKind::kConcatenate) {
    chain.push_back(&ast::as<ast::BinaryExpr>(*first));
    first = chain.back()->left;
  }
  std::vector<ConcatenateNode::Part> parts{{nullptr, c.expr(first)}};
  for (size_t i = chain.size(); i-- > 0;) {
    const ExprNode* right = c.expr(chain[i]->right);
    const ExprNode* folded =
        parts.size() == 1 ? fold_binary(c, *chain[i], parts[0].value, right) : nullptr;
    if (folded) {
      parts[0].value = folded;
    } else {
      parts.push_back({chain[i], right});
    }
  }
  return parts.size() == 1 ? parts[0].value : c.make<ConcatenateNode>(std::move(parts));
}

}  // namespace

const ExprNode* compile_operator(Compiler& c, const ast::Expr& e) {
  switch (e.kind) {
    case ast::ExprKind::kNegate: {
      const ExprNode* operand = c.expr(ast::as<ast::UnaryExpr>(e).operand);
      Value out;
      if (c.fold() && operand->constant() && negate(*c.fold(), *operand->constant(), out).ok()) {
        return compile_literal(c, out);
      }
      return c.make<NegateNode>(e, operand);
    }
    case ast::ExprKind::kLike:
      return c.make<LikeNode>(c, ast::as<ast::LikeExpr>(e));
    case ast::ExprKind::kInterval:
      return c.make<IntervalNode>(c, ast::as<ast::IntervalExpr>(e));
    default:
      break;
  }
  const auto& b = ast::as<ast::BinaryExpr>(e);
  if (e.kind == ast::ExprKind::kConcatenate) return compile_concatenation(c, b);
  const ExprNode* left = c.expr(b.left);
  const ExprNode* right = c.expr(b.right);
  if (e.kind == ast::ExprKind::kCompare) {
    if (const ExprNode* n = compile_complex_compare(c, b, left, right)) return n;
  }
  if (const ExprNode* n = fold_binary(c, b, left, right)) return n;
  if (e.kind == ast::ExprKind::kCompare) return c.make<CompareNode>(b, left, right);
  return c.make<ArithmeticNode>(b, left, right);
}

}  // namespace millstream::esql
