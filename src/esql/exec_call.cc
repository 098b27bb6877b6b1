// Calls of routines: parameters by value-result and by reference, results, other languages.
#include <algorithm>

#include "esql/compile.h"
#include "esql/errors_gen.h"
#include "esql/exec_database.h"
#include "esql/shared.h"

namespace millstream::esql {

using value::Kind;
using value::Value;

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
      if (e.routine->language == ast::Language::kDatabase) return compile_database_call(c, e);
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

}  // namespace millstream::esql
