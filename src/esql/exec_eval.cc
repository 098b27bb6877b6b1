// EVAL: text compiled and run in the scope of its place (spec A3).
#include <algorithm>

#include "esql/compile.h"
#include "esql/errors_gen.h"
#include "esql/exec_control.h"

namespace millstream::esql {

using value::Value;

namespace {

Result<EvalUnitCode*> compile_eval_text(Frame& f, const void* place, std::string_view text,
                                        const ast::Scope* scope, bool is_expression) {
  Execution& x = f.x;
  for (const auto& known : x.evals) {
    if (known->place == place && known->text == text) return known.get();
  }
  if (x.evals.size() >= Execution::kEvalsMax && x.eval_depth == 0) x.evals.clear();
  auto code = std::make_unique<EvalUnitCode>();
  code->place = place;
  code->text = std::string(text);
  EvalInput input;
  input.text = text;
  input.is_expression = is_expression;
  input.routine = f.routine ? f.routine->ast : nullptr;
  input.scope = scope;
  input.first_slot = f.slot_count;
  code->unit = MS_TRY(compile_eval(*x.program.program, input, x.arena(), x.tree().names));
  Compiler compiler(code->nodes, x.program, &x.ctx);
  compiler.use_message_names();
  if (is_expression) {
    code->expression = compiler.expr(code->unit.expression);
  } else {
    code->block = compiler.block(code->unit.statements);
  }
  code->cursors = compiler.cursors();
  x.evals.push_back(std::move(code));
  return x.evals.back().get();
}

Status eval_text(Frame& f, const ExprNode& e, std::string_view& out) {
  Value v;
  MS_TRY(e.eval(f, v));
  if (v.kind != value::Kind::kCharacter) {
    return base::make_error(errors::kEvalNotCharacter, {value::kind_name(v.kind)});
  }
  if (f.x.host.stack_remaining_bytes() < Execution::kEvalReserveBytes) {
    return base::make_error(errors::kStackExhausted, {"EVAL"});
  }
  out = v.text();
  return {};
}

// The variables of the place are copied into a larger frame and back.
void open_eval_frame(Frame& f, Frame& inner, const EvalUnitCode& code) {
  f.x.open_frame(inner, std::max(code.unit.frame_slots, f.slot_count), code.cursors);
  std::copy(f.slots, f.slots + f.slot_count, inner.slots);
}

class EvalNode : public ExprNode {
 public:
  EvalNode(const ast::EvalExpr& e, const ExprNode* text) : ast_(e), text_(text) {}
  Status eval(Frame& f, Value& out) const override {
    std::string_view text;
    MS_TRY(eval_text(f, *text_, text));
    EvalUnitCode* code = MS_TRY(compile_eval_text(f, this, text, ast_.scope, true));
    ScratchStack::Mark mark = f.x.stack.mark();
    Frame inner(f.x, f.routine);
    open_eval_frame(f, inner, *code);
    ++f.x.eval_depth;
    Status s = code->expression->eval(inner, out);
    --f.x.eval_depth;
    std::copy(inner.slots, inner.slots + f.slot_count, f.slots);
    f.x.stack.release(mark);
    return s;
  }

 private:
  const ast::EvalExpr& ast_;
  const ExprNode* text_;
};

class EvalStmtNode : public StmtNode {
 public:
  EvalStmtNode(const ast::EvalStmt& s, const ExprNode* text) : StmtNode(s), text_(text) {}
  Flow run(Frame& f) const override {
    std::string_view text;
    Status s = eval_text(f, *text_, text);
    f.x.end_statement();
    if (!s.ok()) return f.x.fail(f, *this, std::move(s));
    auto compiled = compile_eval_text(f, this, text, ast::as<ast::EvalStmt>(*ast).scope, false);
    if (!compiled.ok()) return f.x.fail(f, *this, Status(compiled.take_error()));
    ScratchStack::Mark mark = f.x.stack.mark();
    Frame inner(f.x, f.routine);
    open_eval_frame(f, inner, *compiled.value());
    ++f.x.eval_depth;
    Flow flow = compiled.value()->block->run(inner);
    --f.x.eval_depth;
    std::copy(inner.slots, inner.slots + f.slot_count, f.slots);
    f.x.stack.release(mark);
    f.result = inner.result;
    f.result_ref = inner.result_ref;
    f.jump_target = inner.jump_target;
    if (flow == Flow::kError) return f.x.fail(f, *this, std::move(f.x.error));
    return flow;
  }

 private:
  const ExprNode* text_;
};

}  // namespace

const ExprNode* compile_eval(Compiler& c, const ast::EvalExpr& e) {
  return c.make<EvalNode>(e, c.expr(e.text));
}

const StmtNode* compile_eval_statement(Compiler& c, const ast::EvalStmt& s) {
  return c.make<EvalStmtNode>(s, c.expr(s.text));
}

}  // namespace millstream::esql
