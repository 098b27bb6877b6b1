// Statements that reach beyond the tree: CALL, RETURN, THROW, LOG, EVAL, PROPAGATE and databases.
#include <algorithm>

#include "esql/compile.h"
#include "esql/errors_gen.h"
#include "esql/exec_control.h"
#include "esql/shared.h"

namespace millstream::esql {

using value::Kind;
using value::Value;

// ---------------------------------------------------------------- calls of routines

namespace {

class ErrorNode : public ExprNode {
 public:
  ErrorNode(const base::ErrorCode& code, std::string_view what) : code_(code), what_(what) {}
  Status eval(Frame&, Value&) const override { return base::make_error(code_, {what_}); }

 private:
  const base::ErrorCode& code_;
  std::string_view what_;
};

class CallNode : public ExprNode {
 public:
  static constexpr size_t kExternalArgumentsMax = 64;
  CallNode(Compiler& c, const ast::CallExpr& e)
      : ast_(e), routine_(*e.routine), code_(c.routine(e.routine)) {
    for (const ast::Expr* a : e.args) {
      args_.push_back(c.expr(a));
      paths_.push_back(a->kind == ast::ExprKind::kPath ? c.path(ast::as<ast::PathExpr>(a))
                                                       : nullptr);
    }
  }
  Shape shape() const override {
    if (!routine_.has_return_type) return Shape::kScalar;
    if (routine_.returns.kind == ast::TypeKind::kRow) return Shape::kRow;
    if (routine_.returns.kind == ast::TypeKind::kReference) return Shape::kField;
    return Shape::kScalar;
  }
  Status eval(Frame& f, Value& out) const override {
    Ref ref;
    MS_TRY(invoke(f, out, ref));
    return shape() == Shape::kScalar ? Status() : field_value(f, ref, out);
  }
  Status eval_ref(Frame& f, Ref& out) const override {
    Value v;
    return invoke(f, v, out);
  }
  Status invoke(Frame& f, Value& out, Ref& out_ref) const {
    if (routine_.language != ast::Language::kEsql) return invoke_external(f, out);
    Execution& x = f.x;
    ScratchStack::Mark mark = x.stack.mark();
    Frame callee(x, code_);
    x.open_frame(callee, routine_.frame_slots, code_->cursors);
    Status s = run(f, callee, out);
    out_ref = callee.result_ref;
    x.stack.release(mark);
    return s;
  }

 private:
  Status run(Frame& f, Frame& callee, Value& out) const {
    size_t count = std::min(args_.size(), routine_.parameters.size());
    for (size_t i = 0; i < count; ++i) MS_TRY(pass_in(f, callee, i));
    {
      SharedPause pause(f.x);
      MS_TRY(f.x.run_routine(callee));
    }
    for (size_t i = 0; i < count; ++i) MS_TRY(pass_out(f, callee, i));
    if (routine_.returns.kind != ast::TypeKind::kScalar || callee.result.is_null() ||
        !routine_.has_return_type) {
      out = callee.result;
      if (out.is_null() && routine_.has_return_type && !routine_.is_return_nullable &&
          routine_.returns.kind == ast::TypeKind::kScalar) {
        return base::make_error(errors::kNullReturned, {code_->qualified_name});
      }
      return {};
    }
    return cast_for_assignment(f.x.ctx, callee.result, routine_.returns.scalar, out);
  }

  Status pass_in(Frame& f, Frame& callee, size_t i) const {
    const ast::Variable& p = *routine_.parameters[i];
    Slot& slot = callee.slots[p.slot];
    slot.is_set = true;
    if (p.type.kind == ast::TypeKind::kReference) {
      if (p.direction == ast::Direction::kOut) return {};
      Ref ref;
      if (paths_[i] && !paths_[i]->is_scalar_variable()) {
        MS_TRY(paths_[i]->find(f, ref));
        slot.last_move = ref.element != nullptr;
        if (!ref.element) MS_TRY(paths_[i]->start(f, ref));
      } else if (args_[i]->shape() == Shape::kField || args_[i]->shape() == Shape::kRow) {
        MS_TRY(args_[i]->eval_ref(f, ref));
        slot.last_move = ref.element != nullptr;
      }
      bind_reference(callee, slot, ref);
      return {};
    }
    if (p.type.kind == ast::TypeKind::kRow) {
      slot.ref.element = tree::make_root(f.x.tree(), p.name);
      if (p.direction == ast::Direction::kOut) return {};
      return assign_content(f, slot.ref, *args_[i]);
    }
    if (p.direction == ast::Direction::kOut) return {};
    Value v;
    MS_TRY(args_[i]->eval(f, v));
    if (v.is_null() || (v.kind == p.type.scalar.kind && v.kind != Kind::kInterval)) {
      slot.value = v;
      return {};
    }
    return cast_for_assignment(f.x.ctx, v, p.type.scalar, slot.value);
  }

  Status pass_out(Frame& f, Frame& callee, size_t i) const {
    const ast::Variable& p = *routine_.parameters[i];
    if (p.direction == ast::Direction::kIn || !paths_[i]) return {};
    const Slot& slot = callee.slots[p.slot];
    if (p.type.kind == ast::TypeKind::kReference) {
      const PathNode& path = *paths_[i];
      if (!path.is_bare_variable() || path.is_scalar_variable() ||
          path.variable()->type.kind != ast::TypeKind::kReference) {
        return {};
      }
      Slot* own = MS_TRY(f.x.slot_of(f, *path.variable()));
      bind_reference(f, *own, slot.ref);
      own->last_move = slot.last_move;
      return {};
    }
    if (p.type.kind == ast::TypeKind::kRow) {
      Ref target;
      MS_TRY(paths_[i]->find_or_create(f, target));
      return copy_field(f, target, slot.ref);
    }
    return assign_path_value(f, *paths_[i], slot.value);
  }

  Status invoke_external(Frame& f, Value& out) const {
    Value arguments[kExternalArgumentsMax];
    size_t count = std::min(args_.size(), kExternalArgumentsMax);
    for (size_t i = 0; i < count; ++i) {
      bool is_in = i >= routine_.parameters.size() ||
                   routine_.parameters[i]->direction != ast::Direction::kOut;
      if (is_in && args_[i]->shape() == Shape::kScalar) MS_TRY(args_[i]->eval(f, arguments[i]));
    }
    ExternalCall call;
    call.routine = code_->qualified_name;
    call.external_name = routine_.external_name;
    call.class_loader = routine_.class_loader;
    call.is_java = routine_.language == ast::Language::kJava;
    call.is_database = routine_.language == ast::Language::kDatabase;
    call.arguments = {arguments, count};
    call.result = &out;
    {
      SharedPause pause(f.x);
      MS_TRY(f.x.host.call_external(call));
    }
    for (size_t i = 0; i < std::min(count, routine_.parameters.size()); ++i) {
      if (routine_.parameters[i]->direction == ast::Direction::kIn || !paths_[i]) continue;
      MS_TRY(assign_path_value(f, *paths_[i], arguments[i]));
    }
    return {};
  }

  const ast::CallExpr& ast_;
  const ast::Routine& routine_;
  const RoutineCode* code_;
  std::vector<const ExprNode*> args_;
  std::vector<const PathNode*> paths_;
};

}  // namespace

const ExprNode* compile_call(Compiler& c, const ast::CallExpr& e) {
  switch (e.target) {
    case ast::CallTarget::kRoutine:
      return c.make<CallNode>(c, e);
    case ast::CallTarget::kBuiltin:
      return compile_builtin(c, *e.builtin, e, e.args);
    case ast::CallTarget::kField:
      return compile_field_function(c, e);
    case ast::CallTarget::kUnresolved:
      break;
  }
  return c.make<ErrorNode>(errors::kUnknownRoutine, e.name);
}

namespace {

class DatabaseNode : public ExprNode {
 public:
  explicit DatabaseNode(std::string_view source) : source_(source) {}
  Shape shape() const override { return Shape::kList; }
  Status eval(Frame& f, Value&) const override { return f.x.host.execute_database(source_); }
  Status for_each(Frame& f, ItemSink&) const override { return f.x.host.execute_database(source_); }

 private:
  std::string_view source_;
};

}  // namespace

const ExprNode* compile_database_expression(Compiler& c, const ast::Expr& e) {
  return c.make<DatabaseNode>(e.source);
}

// ---------------------------------------------------------------- EVAL

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
  if (v.kind != Kind::kCharacter) {
    return base::make_error(errors::kEvalNotCharacter, {value::kind_name(v.kind)});
  }
  if (f.x.host.stack_remaining_bytes() < Execution::kStackReserveBytes) {
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

// ---------------------------------------------------------------- statements

namespace {

class CallStmtNode : public SimpleStmt {
 public:
  CallStmtNode(Compiler& c, const ast::CallStmt& s)
      : SimpleStmt(s), call_(c.expr(s.call)), into_(c.path(s.into)) {}
  Status execute(Frame& f) const override {
    if (into_ && call_->shape() != Shape::kScalar) {
      Ref result, target;
      MS_TRY(call_->eval_ref(f, result));
      if (!result.element) return {};
      MS_TRY(into_->find_or_create(f, target));
      return copy_field(f, target, result);
    }
    Value v;
    MS_TRY(call_->eval(f, v));
    return into_ ? assign_path_value(f, *into_, v) : Status();
  }

 private:
  const ExprNode* call_;
  const PathNode* into_;
};

class ReturnNode : public StmtNode {
 public:
  ReturnNode(const ast::ReturnStmt& s, const ExprNode* value) : StmtNode(s), value_(value) {}
  Flow run(Frame& f) const override {
    Status s = execute(f);
    f.x.end_statement();
    if (!s.ok()) return f.x.fail(f, *this, std::move(s));
    return Flow::kReturn;
  }

 private:
  Status execute(Frame& f) const {
    f.result = Value::null();
    f.result_ref = Ref{};
    if (!value_) return {};
    const bool is_tree = f.routine && f.routine->ast->has_return_type &&
                         (f.routine->ast->returns.kind == ast::TypeKind::kRow ||
                          f.routine->ast->returns.kind == ast::TypeKind::kReference);
    if (!is_tree) return value_->eval(f, f.result);
    if (value_->shape() != Shape::kField && value_->shape() != Shape::kRow) {
      return base::make_error(errors::kNotAField, {"RETURN"});
    }
    MS_TRY(value_->eval_ref(f, f.result_ref));
    if (f.result_ref.shared) f.x.pin_shared();
    return {};
  }
  const ExprNode* value_;
};

// The clauses that THROW and LOG have in common.
struct MessageClauses {
  MessageClauses(Compiler& c, const ast::ThrowStmt& s)
      : severity(c.expr(s.severity)), catalog(c.expr(s.catalog)), message(c.expr(s.message)) {
    for (const ast::Expr* v : s.values) values.push_back(c.expr(v));
  }
  Status eval(Frame& f, LogRequest& out) const {
    Value v;
    if (severity) {
      MS_TRY(severity->eval(f, v));
      if (v.kind == Kind::kInteger) out.severity = v.integer;
    }
    if (catalog) {
      MS_TRY(catalog->eval(f, v));
      if (v.kind == Kind::kCharacter) out.catalog = v.text();
    }
    if (message) {
      MS_TRY(message->eval(f, v));
      if (v.kind == Kind::kCharacter) {
        CastTarget target;
        target.kind = Kind::kInteger;
        MS_TRY(cast_for_assignment(f.x.ctx, v, target, v));
      }
      if (v.kind == Kind::kInteger) out.number = v.integer;
    }
    for (const ExprNode* e : values) {
      MS_TRY(e->eval(f, v));
      out.inserts.emplace_back(insert_type(v.kind), display_text(f.x.ctx, v));
    }
    return {};
  }
  static base::InsertType insert_type(Kind kind) {
    switch (kind) {
      case Kind::kBoolean:
        return base::InsertType::kBoolean;
      case Kind::kInteger:
        return base::InsertType::kInteger;
      case Kind::kFloat:
        return base::InsertType::kFloat;
      case Kind::kDecimal:
        return base::InsertType::kDecimal;
      case Kind::kCharacter:
        return base::InsertType::kCharacter;
      case Kind::kTime:
        return base::InsertType::kTime;
      case Kind::kGmtTime:
        return base::InsertType::kGmtTime;
      case Kind::kDate:
        return base::InsertType::kDate;
      case Kind::kTimestamp:
        return base::InsertType::kTimestamp;
      case Kind::kGmtTimestamp:
        return base::InsertType::kGmtTimestamp;
      case Kind::kInterval:
        return base::InsertType::kInterval;
      case Kind::kBlob:
        return base::InsertType::kBlob;
      case Kind::kBit:
        return base::InsertType::kBit;
      case Kind::kNull:
        break;
    }
    return base::InsertType::kUnknown;
  }
  const ExprNode* severity;
  const ExprNode* catalog;
  const ExprNode* message;
  std::vector<const ExprNode*> values;
};

class ThrowNode : public SimpleStmt {
 public:
  ThrowNode(Compiler& c, const ast::ThrowStmt& s) : SimpleStmt(s), clauses_(c, s) {}
  Status execute(Frame& f) const override {
    LogRequest r;
    MS_TRY(clauses_.eval(f, r));
    std::string joined;
    for (const base::Insert& i : r.inserts) {
      joined += joined.empty() ? "" : ", ";
      joined += i.text;
    }
    Status s = base::make_error(errors::kUserException, {joined});
    base::Error& e = s.error();
    e.number = static_cast<int>(std::clamp<int64_t>(r.number, INT32_MIN, INT32_MAX));
    e.severity = r.severity <= 1   ? base::Severity::kInfo
                 : r.severity == 2 ? base::Severity::kWarning
                                   : base::Severity::kError;
    e.catalog = std::string(r.catalog);
    e.inserts = std::move(r.inserts);
    return s;
  }

 private:
  MessageClauses clauses_;
};

class LogNode : public SimpleStmt {
 public:
  LogNode(Compiler& c, const ast::ThrowStmt& s) : SimpleStmt(s), clauses_(c, s) {}
  Status execute(Frame& f) const override {
    const auto& s = ast::as<ast::ThrowStmt>(*ast);
    LogRequest r;
    MS_TRY(clauses_.eval(f, r));
    r.is_event = s.is_event;
    if (s.has_exception) r.exception = f.x.handled;
    r.is_full = s.is_full;
    f.x.host.log(r);
    return {};
  }

 private:
  MessageClauses clauses_;
};

class ResignalNode : public StmtNode {
 public:
  using StmtNode::StmtNode;
  Flow run(Frame& f) const override {
    if (!f.x.handled) return f.x.fail(f, *this, base::make_error(errors::kResignalOutside, {}));
    return f.x.fail_raw(f, Status(f.x.handled->clone()));
  }
};

class DatabaseStmtNode : public SimpleStmt {
 public:
  using SimpleStmt::SimpleStmt;
  Status execute(Frame& f) const override { return f.x.host.execute_database(ast->source); }
};

class PropagateNode : public SimpleStmt {
 public:
  PropagateNode(Compiler& c, const ast::PropagateStmt& s)
      : SimpleStmt(s),
        destination_(c.expr(s.destination)),
        environment_(c.path(s.environment)),
        message_(c.path(s.message)),
        exception_(c.path(s.exception)) {}
  Status execute(Frame& f) const override {
    const auto& s = ast::as<ast::PropagateStmt>(*ast);
    Execution& x = f.x;
    if (!x.atomics.empty()) {
      return base::make_error(errors::kPropagateInAtomic, {x.atomics.back().second});
    }
    PropagateRequest r;
    MS_TRY(eval_destination(f, s, r));
    MS_TRY(eval_tree(f, environment_, r.local_environment));
    MS_TRY(eval_tree(f, message_, r.message));
    MS_TRY(eval_tree(f, exception_, r.exception_list));
    r.is_finalized = !s.is_finalize_none;
    r.is_deleted = !s.is_delete_none;
    MS_TRY(x.host.check_budget());
    x.may_have_deleted = true;  // whatever runs downstream may change the Environment
    {
      SharedPause pause(x);
      MS_TRY(x.host.propagate(r));
    }
    if (r.is_deleted) {
      for (ast::Correlation c :
           {ast::Correlation::kOutputRoot, ast::Correlation::kOutputLocalEnvironment,
            ast::Correlation::kOutputExceptionList}) {
        tree::Element* e = x.roots[static_cast<size_t>(c)];
        if (e) tree::detach_children(e);
      }
    }
    return {};
  }

 private:
  Status eval_destination(Frame& f, const ast::PropagateStmt& s, PropagateRequest& r) const {
    if (s.to == ast::PropagateTo::kDefault) return {};
    Value v;
    MS_TRY(destination_->eval(f, v));
    if (v.kind == Kind::kCharacter) {
      r.to = s.to == ast::PropagateTo::kLabel ? PropagateRequest::To::kLabel
                                              : PropagateRequest::To::kTerminalName;
      r.name = v.text();
      return {};
    }
    if (v.kind == Kind::kInteger && s.to == ast::PropagateTo::kTerminal) {
      r.to = PropagateRequest::To::kTerminalNumber;
      r.number = v.integer;
      return {};
    }
    return base::make_error(errors::kPropagateDestination, {value::kind_name(v.kind)});
  }
  static Status eval_tree(Frame& f, const PathNode* path, tree::Element*& out) {
    if (!path) return {};
    Ref ref;
    MS_TRY(path->find(f, ref));
    if (!ref.element) return base::make_error(errors::kPropagateNoTree, {path->ast->source});
    if (!ref.shared) {
      out = ref.element;
      return {};
    }
    out = MS_TRY(tree::deep_copy(f.x.tree(), ref.element, tree::CopyMode::kAcross));
    return {};
  }
  const ExprNode* destination_;
  const PathNode* environment_;
  const PathNode* message_;
  const PathNode* exception_;
};

}  // namespace

const StmtNode* compile_action(Compiler& c, const ast::Stmt& s) {
  switch (s.kind) {
    case ast::StmtKind::kCall:
      return c.make<CallStmtNode>(c, ast::as<ast::CallStmt>(s));
    case ast::StmtKind::kReturn: {
      const auto& r = ast::as<ast::ReturnStmt>(s);
      return c.make<ReturnNode>(r, c.expr(r.value));
    }
    case ast::StmtKind::kThrow:
      return c.make<ThrowNode>(c, ast::as<ast::ThrowStmt>(s));
    case ast::StmtKind::kLog:
      return c.make<LogNode>(c, ast::as<ast::ThrowStmt>(s));
    case ast::StmtKind::kResignal:
      return c.make<ResignalNode>(s);
    case ast::StmtKind::kEval: {
      const auto& e = ast::as<ast::EvalStmt>(s);
      return c.make<EvalStmtNode>(e, c.expr(e.text));
    }
    case ast::StmtKind::kPropagate:
      return c.make<PropagateNode>(c, ast::as<ast::PropagateStmt>(s));
    default:
      return c.make<DatabaseStmtNode>(s);
  }
}

}  // namespace millstream::esql
