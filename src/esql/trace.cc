#include "esql/trace.h"

#include "esql/cast.h"
#include "esql/compile.h"

namespace millstream::esql {

using value::Value;

namespace {

// On one line, and not without end.
std::string traced_text(std::string_view source) {
  std::string out;
  bool is_space = false;
  for (const char c : source) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
      is_space = !out.empty();
      continue;
    }
    if (is_space) out += ' ';
    is_space = false;
    out += c;
    if (out.size() < Tracer::kTextMax) continue;
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0) out.pop_back();
    return out + " ...";
  }
  return out;
}

std::string position_text(const Tracer::Place& place) {
  return "('" + std::string(place.routine) + "', '" + std::to_string(place.line) + "." +
         std::to_string(place.column) + "')";
}

Tracer::Place place_of(const Frame& f, const ast::SourcePos& pos) {
  Tracer::Place place;
  uint32_t first = 1;
  if (f.routine) {
    place.routine = f.routine->qualified_name;
    first = f.routine->ast->pos.line;
  }
  place.line = pos.line >= first ? pos.line - first + 1 : pos.line;
  place.column = pos.column;
  return place;
}

}  // namespace

void Tracer::statement(const Place& place, std::string_view source) {
  line(2537,
       "Executing statement   ''" + traced_text(source) + ";'' at " + position_text(place) + ".");
}

void Tracer::begin_expression(const Place& place, std::string_view source, bool is_reference) {
  if (!is_reference) {
    line(2538,
         "Evaluating expression ''" + traced_text(source) + "'' at " + position_text(place) + ".");
  }
  open_.push_back({source, {}});
}

void Tracer::drop_expression() { open_.pop_back(); }

void Tracer::end_expression(const Place& place, std::string_view source, std::string result) {
  if (result.size() > kTextMax) result = traced_text(result);
  Open mine = std::move(open_.back());
  open_.pop_back();
  // The expression with the results of its parts in their place.
  std::string resolved;
  size_t at = 0;
  for (const Part& p : mine.parts) {
    if (p.at < at) continue;  // evaluated again, as in a loop
    resolved += source.substr(at, p.at - at);
    resolved += p.text;
    at = p.at + p.size;
  }
  resolved += source.substr(at);
  line(2539, "Evaluating expression ''" + traced_text(source) + "'' at " + position_text(place) +
                 ". This resolved to ''" + traced_text(resolved) + "''. The result was ''" +
                 result + "''.");
  if (open_.empty()) {
    result_ = std::move(result);
    has_result_ = true;
    return;
  }
  const std::string_view around = open_.back().source;
  if (source.data() < around.data() ||
      source.data() + source.size() > around.data() + around.size())
    return;
  open_.back().parts.push_back(
      {static_cast<size_t>(source.data() - around.data()), source.size(), std::move(result)});
}

void Tracer::assigned(std::string_view target) {
  if (!has_result_) return;
  line(2566,
       "Assigning value ''" + result_ + "'' to field / variable ''" + traced_text(target) + "''.");
}

namespace {

class TracedStmt final : public StmtNode {
 public:
  TracedStmt(const ast::Stmt& s, const StmtNode& node) : StmtNode(s), node_(node) {}
  Flow run(Frame& f) const override {
    Tracer* tracer = f.x.host.tracer();
    if (!tracer) return node_.run(f);
    tell(*tracer, f);
    const Flow flow = node_.run(f);
    if (flow == Flow::kNext && ast->kind == ast::StmtKind::kSet) tell_assigned(*tracer);
    return flow;
  }

 private:
  [[gnu::noinline]] void tell(Tracer& tracer, Frame& f) const {
    tracer.forget_result();
    tracer.statement(place_of(f, ast->pos), ast->source);
  }
  [[gnu::noinline]] void tell_assigned(Tracer& tracer) const {
    tracer.assigned(ast::as<ast::SetStmt>(*ast).target->source);
  }
  const StmtNode& node_;
};

class TracedExpr final : public ExprNode {
 public:
  TracedExpr(const ast::Expr& e, const ExprNode& node) : expr_(e), node_(node) {}

  Status eval(Frame& f, Value& out) const override {
    Tracer* tracer = f.x.host.tracer();
    if (!tracer) return node_.eval(f, out);
    begin(*tracer, f);
    Status status = node_.eval(f, out);
    end(*tracer, f, status.ok() ? &out : nullptr);
    return status;
  }
  Status eval_tri(Frame& f, Tri& out) const override {
    Tracer* tracer = f.x.host.tracer();
    if (!tracer) return node_.eval_tri(f, out);
    begin(*tracer, f);
    Status status = node_.eval_tri(f, out);
    const Value v = out == Tri::kUnknown ? Value::null() : Value::make_boolean(out == Tri::kTrue);
    end(*tracer, f, status.ok() ? &v : nullptr);
    return status;
  }
  Shape shape() const override { return node_.shape(); }
  Status eval_ref(Frame& f, Ref& out) const override { return node_.eval_ref(f, out); }
  Status for_each(Frame& f, ItemSink& sink) const override { return node_.for_each(f, sink); }
  const Value* constant() const override { return node_.constant(); }
  const PathNode* path() const override { return node_.path(); }
  int32_t local_slot() const override { return node_.local_slot(); }

 private:
  [[gnu::noinline]] void begin(Tracer& tracer, Frame& f) const {
    tracer.begin_expression(place_of(f, expr_.pos), expr_.source,
                            expr_.kind == ast::ExprKind::kPath);
  }
  [[gnu::noinline]] void end(Tracer& tracer, Frame& f, const Value* result) const {
    if (!result) {
      tracer.drop_expression();
      return;
    }
    tracer.end_expression(place_of(f, expr_.pos), expr_.source, display_text(f.x.ctx, *result));
  }
  const ast::Expr& expr_;
  const ExprNode& node_;
};

}  // namespace

const StmtNode* traced_statement(Compiler& c, const ast::Stmt& s, const StmtNode* node) {
  return c.make<TracedStmt>(s, *node);
}

const ExprNode* traced_expression(Compiler& c, const ast::Expr& e, const ExprNode* node) {
  if (node->constant() || e.source.empty()) return node;
  return c.make<TracedExpr>(e, *node);
}

}  // namespace millstream::esql
