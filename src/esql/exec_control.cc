// Control flow: blocks, IF, CASE, loops, LEAVE and ITERATE, DECLARE, handlers.
#include "esql/exec_control.h"

#include "esql/errors_gen.h"
#include "esql/quick.h"
#include "esql/shared.h"

namespace millstream::esql {

using value::Value;

// ---------------------------------------------------------------- blocks

Flow BlockNode::run_statements(Frame& f) const {
  for (const StmtNode* s : statements) {
    Flow flow = s->run(f);
    if (__builtin_expect(flow != Flow::kNext, 0)) return flow;
  }
  return Flow::kNext;
}

Flow BlockNode::run(Frame& f) const {
  if (handlers.empty()) return run_statements(f);
  HandlerScope scope{this, f.handlers};
  f.handlers = &scope;
  Flow flow = run_statements(f);
  f.handlers = scope.outer;
  if (flow == Flow::kExitScope && f.exit_scope == &scope) return Flow::kNext;
  return flow;
}

bool handler_matches(const ast::HandlerStmt& h, std::string_view state, EvalContext& ctx) {
  for (const ast::SqlStatePattern& p : h.patterns) {
    if (!p.is_like) {
      if (p.text == state) return true;
      continue;
    }
    Tri t = Tri::kFalse;
    Value escape = p.has_escape ? Value::make_character(p.escape) : Value::null();
    Status s = like(ctx, Value::make_character(state), Value::make_character(p.text), escape, t);
    if (s.ok() && t == Tri::kTrue) return true;
  }
  return false;
}

const BlockNode* Compiler::block(const ast::Block& b) {
  BlockNode* n = make<BlockNode>();
  for (const ast::HandlerStmt* h : b.handlers) n->handlers.push_back({h, stmt(h->action)});
  for (const ast::Stmt* s : b.statements) {
    if (s->kind == ast::StmtKind::kHandler) continue;
    n->statements.push_back(stmt(s));
  }
  return n;
}

namespace {

class BlockStmtNode : public StmtNode {
 public:
  BlockStmtNode(Compiler& c, const ast::BlockStmt& s) : StmtNode(s), body_(c.block(s.body)) {}
  Flow run(Frame& f) const override {
    const auto& s = ast::as<ast::BlockStmt>(*ast);
    Flow flow = s.is_atomic ? run_atomic(f, s) : body_->run(f);
    if (flow == Flow::kLeave && f.jump_target == ast) return Flow::kNext;
    return flow;
  }

 private:
  // The lock is that of (schema, label); a second one of the same name would wait for itself.
  Flow run_atomic(Frame& f, const ast::BlockStmt& s) const {
    Execution& x = f.x;
    std::string_view schema;
    if (f.routine && f.routine->ast->file) schema = f.routine->ast->file->schema;
    for (const auto& [held_schema, held_label] : x.atomics) {
      if (held_schema == schema && held_label == s.label) {
        return x.fail(f, *this, base::make_error(errors::kAtomicNested, {s.label}));
      }
    }
    Status locked = x.host.lock_atomic(schema, s.label);
    if (!locked.ok()) return x.fail(f, *this, std::move(locked));
    x.atomics.emplace_back(schema, s.label);
    Flow flow = body_->run(f);
    x.atomics.pop_back();
    x.host.unlock_atomic(schema, s.label);
    return flow;
  }
  const BlockNode* body_;
};

// ---------------------------------------------------------------- DECLARE

class DeclareNode : public SimpleStmt {
 public:
  DeclareNode(Compiler& c, const ast::DeclareStmt& s) : SimpleStmt(s) {
    for (const ast::Variable* v : s.variables) codes_.push_back(c.variable(*v));
  }
  Status execute(Frame& f) const override {
    for (const VariableCode& code : codes_) {
      MS_TRY(initialise_variable(f, code, f.slots[code.variable->slot]));
    }
    return {};
  }

 private:
  std::vector<VariableCode> codes_;
};

// ---------------------------------------------------------------- IF and CASE

class IfNode : public StmtNode {
 public:
  IfNode(Compiler& c, const ast::IfStmt& s) : StmtNode(s) {
    for (const ast::IfBranch& b : s.branches) {
      branches_.emplace_back(c.expr(b.condition), c.block(b.body));
    }
  }
  Flow run(Frame& f) const override {
    for (const auto& [condition, body] : branches_) {
      if (condition) {
        Tri t = Tri::kUnknown;
        Status s = condition->eval_tri(f, t);
        f.x.end_statement();
        if (!s.ok()) return f.x.fail(f, *this, std::move(s));
        if (t != Tri::kTrue) continue;
      }
      return body->run(f);
    }
    return Flow::kNext;
  }

 private:
  std::vector<std::pair<const ExprNode*, const BlockNode*>> branches_;
};

class CaseStmtNode : public StmtNode {
 public:
  CaseStmtNode(Compiler& c, const ast::CaseStmt& s) : StmtNode(s), operand_(c.expr(s.operand)) {
    for (const ast::IfBranch& b : s.branches) {
      branches_.emplace_back(c.expr(b.condition), c.block(b.body));
    }
  }
  Flow run(Frame& f) const override {
    const BlockNode* body = nullptr;
    Status s = choose(f, body);
    f.x.end_statement();
    if (!s.ok()) return f.x.fail(f, *this, std::move(s));
    return body ? body->run(f) : Flow::kNext;
  }

 private:
  Status choose(Frame& f, const BlockNode*& body) const {
    Value x;
    if (operand_) MS_TRY(operand_->eval(f, x));
    for (const auto& [condition, branch] : branches_) {
      Tri t = Tri::kTrue;
      if (condition && operand_) {
        Value v;
        MS_TRY(condition->eval(f, v));
        MS_TRY(compare(f.x.ctx, CompareOp::kEqual, x, v, t));
      } else if (condition) {
        MS_TRY(condition->eval_tri(f, t));
      }
      if (t != Tri::kTrue) continue;
      body = branch;
      break;
    }
    return {};
  }
  const ExprNode* operand_;
  std::vector<std::pair<const ExprNode*, const BlockNode*>> branches_;
};

// ---------------------------------------------------------------- loops

// What a loop does about the flow its body ended with. True: go on with the loop.
bool continues_loop(Frame& f, const ast::Stmt* loop, Flow& flow) {
  if (__builtin_expect(flow == Flow::kNext, 1)) return true;
  if (f.jump_target == loop) {
    if (flow == Flow::kIterate) return true;
    if (flow == Flow::kLeave) flow = Flow::kNext;
  }
  return false;
}

class WhileNode : public StmtNode {
 public:
  WhileNode(Compiler& c, const ast::WhileStmt& s)
      : StmtNode(s), condition_(c.expr(s.condition)), body_(c.block(s.body)) {}
  Flow run(Frame& f) const override {
    const bool is_repeat = ast->kind == ast::StmtKind::kRepeat;
    for (bool first = true;; first = false) {
      if (condition_ && !(is_repeat && first)) {
        Tri t = Tri::kUnknown;
        Status s = condition_->eval_tri(f, t);
        f.x.end_statement();
        if (!s.ok()) return f.x.fail(f, *this, std::move(s));
        // WHILE goes on while TRUE, REPEAT until TRUE; UNKNOWN is not TRUE.
        if ((t == Tri::kTrue) == is_repeat) return Flow::kNext;
      }
      Flow flow = body_->run(f);
      if (!continues_loop(f, ast, flow)) return flow;
      Status s = f.x.check_loop();
      if (!s.ok()) return f.x.fail_raw(f, std::move(s));
    }
  }

 private:
  const ExprNode* condition_;
  const BlockNode* body_;
};

class ForNode : public StmtNode {
 public:
  ForNode(Compiler& c, const ast::ForStmt& s)
      : StmtNode(s), list_(c.expr(s.list)), body_(c.block(s.body)), slot_(s.variable->slot) {}
  Flow run(Frame& f) const override {
    if (const PathNode* path = list_->path(); path && !path->steps.empty()) {
      return run_path(f, *path);
    }
    return run_list(f);
  }

 private:
  // Over the fields of a tree. The list is evaluated once: what the body adds is not visited, nor
  // what it deletes before its turn. A tree that cannot change is gone through as it is parsed.
  Flow run_path(Frame& f, const PathNode& path) const {
    Ref item;
    StepMatch own;
    const bool is_fixed = path.steps.back().is_fixed;
    bool matches = is_fixed;
    Status s = is_fixed ? path.find_steps(f, item, path.steps.size() - 1)
                        : path.find_parent(f, item, own, matches);
    if (!s.ok()) return f.x.fail(f, *this, std::move(s));
    if (!item.element || !matches) {
      f.x.end_statement();
      return Flow::kNext;
    }
    const StepMatch& m = is_fixed ? path.steps.back().fixed : own;
    if (item.is_read_only) return run_in_place(f, item, m);
    ScratchStack::Mark mark = f.x.stack.mark();
    size_t count = 0;
    for (tree::Element* e = first_match(m, item.element); e; e = next_match(m, e)) ++count;
    auto* fields = static_cast<tree::Element**>(f.x.stack.allocate(count * sizeof(void*)));
    tree::Element** end = fields;
    for (tree::Element* e = first_match(m, item.element); e; e = next_match(m, e)) *end++ = e;
    if (item.shared) f.x.pin_shared();
    f.x.end_statement();
    s = f.x.check_parse();
    Flow flow = Flow::kNext;
    if (!s.ok()) {
      end = fields;
      flow = f.x.fail(f, *this, std::move(s));
    }
    for (tree::Element** at = fields; at != end && flow == Flow::kNext; ++at) {
      item.element = *at;
      flow = run_item(f, item);
    }
    f.x.stack.release(mark);
    return flow == Flow::kLeave && f.jump_target == ast ? Flow::kNext : flow;
  }

  Flow run_in_place(Frame& f, Ref item, const StepMatch& m) const {
    Flow flow = Flow::kNext;
    const bool is_name = m.mode == StepMatch::Mode::kExact && !m.has_type;
    const base::QName* name = m.qname;
    tree::Element* e =
        is_name ? quick::child_named(item.element, name) : first_match(m, item.element);
    while (e) {
      if (f.x.tree().has_parse_error()) break;
      item.element = e;
      flow = run_item(f, item);
      if (flow != Flow::kNext) break;
      e = is_name ? quick::sibling_named(tree::next_sibling(e), name) : next_match(m, e);
    }
    if (flow == Flow::kNext) {
      Status s = f.x.check_parse();
      if (!s.ok()) return f.x.fail(f, *this, std::move(s));
    }
    return flow == Flow::kLeave && f.jump_target == ast ? Flow::kNext : flow;
  }

  // One round; kNext: go on with the next item.
  Flow run_item(Frame& f, const Ref& item) const {
    if (f.x.may_have_deleted && is_disconnected(item.element)) return Flow::kNext;
    f.slots[slot_].ref = item;
    Flow flow = body_->run(f);
    if (flow == Flow::kIterate && f.jump_target == ast) flow = Flow::kNext;
    if (flow != Flow::kNext) return flow;
    if (__builtin_expect(++f.x.loop_count < Execution::kLoopsPerBudgetCheck, 1)) return flow;
    Status s = f.x.spend_budget();
    return s.ok() ? Flow::kNext : f.x.fail_raw(f, std::move(s));
  }

  class Collect : public ItemSink {
   public:
    Status item(Frame&, const Ref& item, bool, bool&) override {
      items.push_back(item);
      return {};
    }
    std::vector<Ref> items;
  };
  Flow run_list(Frame& f) const {
    Collect all;
    Status s;
    if (list_->shape() == Shape::kList) {
      s = list_->for_each(f, all);
    } else {
      Ref one;
      s = list_->eval_ref(f, one);
      if (one.element) all.items.push_back(one);
    }
    if (s.ok() && f.x.is_shared_locked) f.x.pin_shared();
    f.x.end_statement();
    if (!s.ok()) return f.x.fail(f, *this, std::move(s));
    Flow flow = Flow::kNext;
    for (size_t i = 0; i < all.items.size() && flow == Flow::kNext; ++i) {
      flow = run_item(f, all.items[i]);
    }
    return flow == Flow::kLeave && f.jump_target == ast ? Flow::kNext : flow;
  }
  const ExprNode* list_;
  const BlockNode* body_;
  uint32_t slot_;
};

class JumpNode : public StmtNode {
 public:
  explicit JumpNode(const ast::JumpStmt& s) : StmtNode(s), target_(s.target) {}
  Flow run(Frame& f) const override {
    f.jump_target = target_;
    return ast->kind == ast::StmtKind::kLeave ? Flow::kLeave : Flow::kIterate;
  }

 private:
  const ast::Stmt* target_;
};

}  // namespace

const StmtNode* compile_control(Compiler& c, const ast::Stmt& s) {
  switch (s.kind) {
    case ast::StmtKind::kBlock:
      return c.make<BlockStmtNode>(c, ast::as<ast::BlockStmt>(s));
    case ast::StmtKind::kDeclare:
      return c.make<DeclareNode>(c, ast::as<ast::DeclareStmt>(s));
    case ast::StmtKind::kHandler:
      return c.stmt(ast::as<ast::HandlerStmt>(s).action);
    case ast::StmtKind::kIf:
      return c.make<IfNode>(c, ast::as<ast::IfStmt>(s));
    case ast::StmtKind::kCase:
      return c.make<CaseStmtNode>(c, ast::as<ast::CaseStmt>(s));
    case ast::StmtKind::kFor:
      return c.make<ForNode>(c, ast::as<ast::ForStmt>(s));
    case ast::StmtKind::kLeave:
    case ast::StmtKind::kIterate:
      return c.make<JumpNode>(ast::as<ast::JumpStmt>(s));
    default:
      return c.make<WhileNode>(c, ast::as<ast::WhileStmt>(s));
  }
}

}  // namespace millstream::esql
