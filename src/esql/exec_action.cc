// Statements that reach beyond the tree: CALL, RETURN, THROW, LOG, PROPAGATE and databases.
#include <algorithm>

#include "esql/compile.h"
#include "esql/errors_gen.h"
#include "esql/exec_control.h"
#include "esql/exec_database.h"
#include "esql/shared.h"

namespace millstream::esql {

using value::Kind;
using value::Value;

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
    MS_TRY(x.spend_budget());
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
    case ast::StmtKind::kEval:
      return compile_eval_statement(c, ast::as<ast::EvalStmt>(s));
    case ast::StmtKind::kPropagate:
      return c.make<PropagateNode>(c, ast::as<ast::PropagateStmt>(s));
    default:
      return compile_database_statement(c, s);
  }
}

}  // namespace millstream::esql
