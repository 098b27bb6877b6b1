// CAST and calls of the scalar built-in functions.
#include <charconv>

#include "esql/builtin.h"
#include "esql/compile.h"
#include "esql/errors_gen.h"
#include "esql/exec_path.h"

namespace millstream::esql {

using value::Kind;
using value::Value;

namespace {

// The usual texts of messages; anything else goes the long way.
bool try_cast_text(std::string_view s, Kind to, Value& out) {
  int64_t coefficient = 0;
  int32_t exponent = 0;
  if (to != Kind::kFloat &&
      quick::short_number(s.data(), static_cast<uint32_t>(s.size()), &coefficient, &exponent)) {
    if (to == Kind::kInteger && exponent != 0) return false;
    out = to == Kind::kInteger ? Value::make_integer(coefficient)
                               : Value::make_inline_decimal(coefficient, exponent);
    return true;
  }
  if (s.empty() || s.size() > 19) return false;
  const char* p = s.data();
  const char* const end = p + s.size();
  const bool is_negative = *p == '-';
  if (is_negative || *p == '+') ++p;
  const char* const first = p;
  uint64_t n = 0;  // 19 digits fit
  while (p < end && static_cast<unsigned char>(*p - '0') < 10)
    n = n * 10 + static_cast<uint64_t>(*p++ - '0');
  int32_t digits = static_cast<int32_t>(p - first);
  int32_t fraction = 0;
  if (p < end) {
    if (*p != '.' || to == Kind::kInteger) return false;
    const char* const point = ++p;
    while (p < end && static_cast<unsigned char>(*p - '0') < 10)
      n = n * 10 + static_cast<uint64_t>(*p++ - '0');
    fraction = static_cast<int32_t>(p - point);
    digits += fraction;
    if (p < end || fraction == 0) return false;
  }
  if (digits == 0 || digits > 18) return false;
  const int64_t number = is_negative ? -static_cast<int64_t>(n) : static_cast<int64_t>(n);
  if (to == Kind::kInteger) {
    out = Value::make_integer(number);
  } else if (to == Kind::kDecimal) {
    if (is_negative && n == 0) return false;
    out = Value::make_inline_decimal(number, -fraction);
  } else {
    double d = 0;
    const char* begin = s.data() + (s[0] == '+' ? 1 : 0);
    auto r = std::from_chars(begin, s.data() + s.size(), d);
    if (r.ec != std::errc() || r.ptr != s.data() + s.size()) return false;
    out = Value::make_float(d);
  }
  return true;
}

// One source and no clauses.
class SimpleCastNode : public ExprNode {
 public:
  SimpleCastNode(const ast::CastExpr& e, const ExprNode* source)
      : ast_(e), target_(e.target), source_(source) {
    is_plain_ = target_.precision < 0 && target_.scale < 0;
    is_number_ = is_plain_ && (target_.kind == Kind::kInteger || target_.kind == Kind::kDecimal ||
                               target_.kind == Kind::kFloat);
    path_ = source->path();
  }
  bool is_quick() const override { return is_number_ && source_->is_quick(); }
  Value quick(Frame& f) const override {
    const Value v = path_ ? path_->quick(f) : source_->quick(f);
    if (v.kind == target_.kind) return v;
    Value out;
    int64_t coefficient = 0;
    int32_t exponent = 0;
    if (v.kind == Kind::kCharacter && target_.kind == Kind::kDecimal &&
        quick::short_number(v.data, v.size, &coefficient, &exponent)) {
      return Value::make_inline_decimal(coefficient, exponent);
    }
    if (v.kind == Kind::kCharacter && try_cast_text(v.text(), target_.kind, out)) return out;
    return {};
  }
  Status eval(Frame& f, Value& out) const override {
    Value v;
    MS_TRY(source_->eval(f, v));
    if (v.is_null()) {
      out = v;
      return {};
    }
    if (is_plain_) {
      if (v.kind == target_.kind && v.kind != Kind::kInterval) {
        out = v;
        return {};
      }
      if (v.kind == Kind::kCharacter && is_number_ && try_cast_text(v.text(), target_.kind, out)) {
        return {};
      }
      if (v.kind == Kind::kInteger && target_.kind == Kind::kCharacter) {
        char* p = f.x.arena().bytes(20);
        auto r = std::to_chars(p, p + 20, v.integer);
        out = Value::make_character({p, static_cast<size_t>(r.ptr - p)});
        return {};
      }
    }
    return cast(f.x.ctx, {&v, 1}, target_, {}, out);
  }

 private:
  const ast::CastExpr& ast_;
  CastTarget target_;
  const ExprNode* source_;
  const PathNode* path_;  // the source when it is a path, so that it needs no virtual call
  bool is_plain_;
  bool is_number_;
};

class CastNode : public ExprNode {
 public:
  static constexpr size_t kSourcesMax = 16;
  CastNode(Compiler& c, const ast::CastExpr& e)
      : ast_(e),
        ccsid_(c.expr(e.ccsid)),
        encoding_(c.expr(e.encoding)),
        format_(c.expr(e.format)),
        default_(c.expr(e.default_value)) {
    for (const ast::Expr* s : e.sources) sources_.push_back(c.expr(s));
  }
  Status eval(Frame& f, Value& out) const override {
    Value sources[kSourcesMax];
    if (sources_.size() > kSourcesMax) {
      return base::make_error(errors::kTooManyArguments, {"CAST", kSourcesMax});
    }
    for (size_t i = 0; i < sources_.size(); ++i) MS_TRY(sources_[i]->eval(f, sources[i]));
    CastClauses clauses;
    if (ccsid_) MS_TRY(ccsid_->eval(f, clauses.ccsid));
    if (encoding_) MS_TRY(encoding_->eval(f, clauses.encoding));
    if (format_) MS_TRY(format_->eval(f, clauses.format));
    if (default_) {
      clauses.has_default = true;
      MS_TRY(default_->eval(f, clauses.default_value));
    }
    return cast(f.x.ctx, {sources, sources_.size()}, ast_.target, clauses, out);
  }

 private:
  const ast::CastExpr& ast_;
  std::vector<const ExprNode*> sources_;
  const ExprNode* ccsid_;
  const ExprNode* encoding_;
  const ExprNode* format_;
  const ExprNode* default_;
};

}  // namespace

const ExprNode* compile_cast(Compiler& c, const ast::CastExpr& e) {
  if (e.sources.size() == 1 && !e.ccsid && !e.encoding && !e.format && !e.default_value) {
    return c.make<SimpleCastNode>(e, c.expr(e.sources[0]));
  }
  return c.make<CastNode>(c, e);
}

// ---------------------------------------------------------------- built-in functions

namespace {

class BuiltinNode : public ExprNode {
 public:
  static constexpr size_t kInlineArgs = 8;
  BuiltinNode(const Builtin& b, std::vector<const ExprNode*> args)
      : builtin_(b), args_(std::move(args)), may_wait_(std::string_view(b.name) == "SLEEP") {}
  Status eval(Frame& f, Value& out) const override {
    if (args_.size() <= kInlineArgs) {
      Value args[kInlineArgs];
      return call(f, args, out);
    }
    ScratchStack::Mark mark = f.x.stack.mark();
    auto* args = static_cast<Value*>(f.x.stack.allocate(args_.size() * sizeof(Value)));
    Status s = call(f, args, out);
    f.x.stack.release(mark);
    return s;
  }

 private:
  Status call(Frame& f, Value* args, Value& out) const {
    bool has_null = false;
    for (size_t i = 0; i < args_.size(); ++i) {
      args[i] = Value::null();
      MS_TRY(args_[i]->eval(f, args[i]));
      has_null |= args[i].is_null();
    }
    if (has_null && builtin_.null_rule == NullRule::kPropagates) {
      out = Value::null();
      return {};
    }
    if (may_wait_) {
      SharedPause pause(f.x);
      return builtin_.function(f.x.ctx, {args, args_.size()}, out);
    }
    return builtin_.function(f.x.ctx, {args, args_.size()}, out);
  }
  const Builtin& builtin_;
  std::vector<const ExprNode*> args_;
  bool may_wait_;
};

const ExprNode* fold_builtin(Compiler& c, const Builtin& b,
                             const std::vector<const ExprNode*>& args) {
  if (!c.fold() || !b.is_pure || args.empty()) return nullptr;
  std::vector<Value> values;
  for (const ExprNode* a : args) {
    if (!a->constant()) return nullptr;
    values.push_back(*a->constant());
    if (values.back().is_null() && b.null_rule == NullRule::kPropagates) {
      return compile_literal(c, Value::null());
    }
  }
  Value out;
  if (!b.function(*c.fold(), values, out).ok()) return nullptr;
  return compile_literal(c, out);
}

}  // namespace

const ExprNode* compile_builtin(Compiler& c, const Builtin& b, const ast::Expr&,
                                ast::List<ast::Expr*> args) {
  std::vector<const ExprNode*> nodes;
  for (const ast::Expr* a : args) nodes.push_back(c.expr(a));
  if (const ExprNode* n = fold_builtin(c, b, nodes)) return n;
  return c.make<BuiltinNode>(b, std::move(nodes));
}

}  // namespace millstream::esql
