// Statements: rules of place, labels, targets.
#include "esql/analysis.h"
#include "esql/constants.h"
#include "esql/database_push.h"

namespace millstream::esql {

using ast::Stmt;
using ast::StmtKind;
using ast::TypeKind;

namespace {

bool is_reference_like(const ast::PathExpr& p) {
  return p.ref == ast::RefKind::kVariable && p.variable->type.kind == TypeKind::kReference;
}

bool is_terminal_name(std::string_view s) {
  return s == "out" || s == "out1" || s == "out2" || s == "out3" || s == "out4" || s == "failure" ||
         s == "nowhere";
}

}  // namespace

// Handlers come first in their scope; declarations of variables may stand before them.
void Analyser::check_handler_place(const ast::Block& b) {
  bool is_late = false;
  for (const Stmt* s : b.statements) {
    if (s->kind == StmtKind::kHandler && is_late) {
      error(s->pos, "MS1609",
            "a handler must be declared before the other statements of its scope");
    }
    if (s->kind != StmtKind::kHandler && s->kind != StmtKind::kDeclare) is_late = true;
  }
}

void Analyser::block(const ast::Block& b) {
  const ast::Scope* outer = scope_;
  if (!b.handlers.empty()) check_handler_place(b);
  for (Stmt* s : b.statements) statement(s);
  scope_ = outer;
}

void Analyser::loop(const ast::Block& body, std::string_view label, const Stmt& s) {
  labels_.push_back({label, &s});
  block(body);
  labels_.pop_back();
}

void Analyser::handler(ast::HandlerStmt& s) {
  for (const ast::SqlStatePattern& p : s.patterns) {
    if (p.has_escape && p.escape.size() != 1) {
      error(s.pos, "MS1614", "ESCAPE needs one character");
    }
  }
  const ast::Scope* outer = scope_;
  ++handler_depth_;
  statement(s.action);
  --handler_depth_;
  scope_ = outer;
}

void Analyser::for_statement(ast::ForStmt& s) {
  expr(s.list);
  const ast::Scope* outer = scope_;
  s.variable = add_row(s.name, s.pos);
  loop(s.body, s.label, s);
  scope_ = outer;
}

void Analyser::jump(ast::JumpStmt& s) {
  for (size_t i = labels_.size(); i-- > 0;) {
    if (labels_[i].label != s.label) continue;
    s.target = labels_[i].statement;
    if (s.kind == StmtKind::kIterate && s.target->kind == StmtKind::kBlock) {
      error(s.pos, "MS1608",
            "ITERATE needs the label of a loop; '" + std::string(s.label) + "' is that of a block");
    }
    return;
  }
  error(s.pos, "MS1608", "no enclosing statement has the label '" + std::string(s.label) + "'");
}

// What SET, INTO and OUT arguments write to.
void Analyser::tree_target(ast::PathExpr* p, std::string_view statement) {
  path(p);
  switch (p->ref) {
    case ast::RefKind::kVariable:
      if (p->variable->is_constant && p->steps.empty() &&
          p->variable->storage != ast::Storage::kRow) {
        error(p->pos, "MS1607",
              "'" + std::string(p->variable->name) + "' is a constant and cannot be changed");
      }
      break;
    case ast::RefKind::kCorrelation:
      if (p->correlation == ast::Correlation::kDatabase) {
        error(p->pos, "MS1614", "a database table cannot be changed by " + std::string(statement));
      } else if (is_input_only(p->correlation)) {
        warning(p->pos, "MS1624",
                "'" + std::string(p->name) + "' cannot be changed; this raises an exception");
      }
      break;
    case ast::RefKind::kUnresolved:
      break;
    default:
      error(p->pos, "MS1607", "'" + std::string(p->name) + "' cannot be changed");
      break;
  }
}

void Analyser::reference_variable(ast::PathExpr* p, std::string_view statement) {
  path(p);
  if (p->ref == ast::RefKind::kUnresolved) return;
  // The name of a FOR loop is a reference too, and flows in use move it.
  bool ok = is_reference_like(*p) && p->steps.empty() && p->root_index == ast::IndexKind::kNone;
  if (!ok) {
    error(p->pos, "MS1616", std::string(statement) + " needs a variable of type REFERENCE");
  }
}

void Analyser::set(ast::SetStmt& s) {
  expr(s.value);
  tree_target(s.target, "SET");
  if (s.facet == ast::Facet::kWhole || s.target->ref != ast::RefKind::kVariable) return;
  TypeKind kind = s.target->variable->type.kind;
  if (kind != TypeKind::kRow && kind != TypeKind::kReference) {
    error(s.target->pos, "MS1614",
          "TYPE, NAMESPACE, NAME and VALUE belong to fields; '" +
              std::string(s.target->variable->name) + "' is a scalar variable");
  }
}

void Analyser::call_statement(ast::CallStmt& s) {
  expr(s.call->external_schema);
  call(*s.call, true);
  if (s.call->in_reference) path(s.call->in_reference);
  if (!s.into) return;
  tree_target(s.into, "CALL");
  if (s.call->routine && !s.call->routine->has_return_type) {
    error(s.into->pos, "MS1614",
          "'" + std::string(s.call->routine->name) + "' returns nothing that INTO could receive");
  }
}

void Analyser::return_statement(ast::ReturnStmt& s) {
  if (!s.value) return;
  expr(s.value);
  if (routine_ && !routine_->has_return_type && !is_eval_) {
    error(s.pos, "MS1619",
          "'" + std::string(routine_->name) + "' has no RETURNS, so RETURN takes no value");
  }
}

void Analyser::message_statement(ast::ThrowStmt& s) {
  expr(s.severity);
  expr(s.catalog);
  expr(s.message);
  exprs(s.values);
}

void Analyser::propagate(ast::PropagateStmt& s) {
  if (module_ && module_->kind == ast::ModuleKind::kFilter) {
    error(s.pos, "MS1610", "PROPAGATE is not allowed in a Filter module");
  }
  if (atomic_depth_ > 0) {
    warning(s.pos, "MS1625", "PROPAGATE inside BEGIN ATOMIC raises an exception");
  }
  expr(s.destination);
  path(s.environment);
  path(s.message);
  path(s.exception);
  if (s.to == ast::PropagateTo::kDefault || s.destination->kind != ast::ExprKind::kLiteral) return;
  const value::Value& v = ast::as<ast::LiteralExpr>(s.destination)->value;
  bool is_text = v.kind == value::Kind::kCharacter;
  bool ok = is_text;
  if (s.to == ast::PropagateTo::kTerminal) {
    ok = is_text ? is_terminal_name(v.text())
                 : v.kind == value::Kind::kInteger && v.integer >= -2 && v.integer <= 4;
  }
  if (!ok) {
    warning(
        s.destination->pos, "MS1623",
        s.to == ast::PropagateTo::kLabel
            ? "a label is a CHARACTER value"
            : std::string(s.destination->source) +
                  " is not a terminal: they are 'out', 'out1' to 'out4', 'failure' and 'nowhere', "
                  "in lower case, or 0 to 4, -1 and -2");
  }
}

void Analyser::create(ast::CreateStmt& s) {
  tree_target(s.target, "CREATE");
  if (s.target->ref == ast::RefKind::kVariable) {
    TypeKind kind = s.target->variable->type.kind;
    if (kind != TypeKind::kRow && kind != TypeKind::kReference && s.target->steps.empty()) {
      error(s.target->pos, "MS1614",
            "'" + std::string(s.target->variable->name) + "' is a scalar variable, not a field");
    }
  }
  if (s.as) reference_variable(s.as, "AS");
  expr(s.domain);
  expr(s.type);
  expr(s.ns);
  expr(s.name);
  if (s.identity) step(*s.identity);
  expr(s.value);
  path(s.from);
  options(s.parse);
  if (s.type) s.has_constant_type = constant_type(s.type, s.constant_type);
}

void Analyser::move(ast::MoveStmt& s) {
  reference_variable(s.reference, "MOVE");
  path(s.to);
  expr(s.type);
  expr(s.ns);
  expr(s.name);
  if (s.identity) step(*s.identity);
}

// A statement that names no data source goes to that of the node.
void Analyser::uses_node_source(const ast::SourcePos& pos) {
  if (module_ && module_->needs_data_source.line == 0) module_->needs_data_source = pos;
}

// What UPDATE and DELETE compute for each row is computed by the database.
void Analyser::pushed(const ast::Expr* e, const ast::Variable* row) {
  if (!e) return;
  PushScope scope;
  scope.tables.push_back(row);
  const ast::Expr* culprit = nullptr;
  if (classify(*e, scope, &culprit) != PushKind::kNeither) return;
  error(culprit->pos, "MS2124",
        "'" + std::string(culprit->source) + "' cannot be given to the database");
}

void Analyser::insert(ast::InsertStmt& s) {
  path(s.table);
  if (s.table->steps.size() < 3) uses_node_source(s.pos);
  exprs(s.values);
  if (!s.columns.empty() && s.columns.size() != s.values.size()) {
    warning(s.pos, "MS1606",
            std::to_string(s.columns.size()) + " columns but " + std::to_string(s.values.size()) +
                " values");
  }
}

void Analyser::update(ast::UpdateStmt& s) {
  path(s.table);
  if (s.table->steps.size() < 3) uses_node_source(s.pos);
  const ast::Scope* outer = scope_;
  s.variable = add_row(s.correlation, s.pos);
  for (ast::UpdateColumn& c : s.columns) {
    expr(c.value);
    pushed(c.value, s.variable);
  }
  expr(s.where);
  pushed(s.where, s.variable);
  scope_ = outer;
}

void Analyser::delete_from(ast::DeleteFromStmt& s) {
  path(s.table);
  if (s.table->steps.size() < 3) uses_node_source(s.pos);
  const ast::Scope* outer = scope_;
  s.variable = add_row(s.correlation, s.pos);
  expr(s.where);
  pushed(s.where, s.variable);
  scope_ = outer;
}

void Analyser::statement(Stmt* s) {
  Level level(*this);
  switch (s->kind) {
    case StmtKind::kBlock: {
      auto& b = static_cast<ast::BlockStmt&>(*s);
      if (b.is_atomic) ++atomic_depth_;
      loop(b.body, b.label, b);
      if (b.is_atomic) --atomic_depth_;
      break;
    }
    case StmtKind::kDeclare:
      for (ast::Variable* v : static_cast<ast::DeclareStmt&>(*s).variables) {
        declaration(*v, true);
        v->slot = next_slot_++;
        v->module = module_;
        v->file = file_;
        fold_literal(*v);
        add_to_scope(v);
      }
      break;
    case StmtKind::kHandler:
      handler(static_cast<ast::HandlerStmt&>(*s));
      break;
    case StmtKind::kSet:
      set(static_cast<ast::SetStmt&>(*s));
      break;
    case StmtKind::kIf:
      for (ast::IfBranch& b : static_cast<ast::IfStmt&>(*s).branches) {
        expr(b.condition);
        block(b.body);
      }
      break;
    case StmtKind::kCase: {
      auto& c = static_cast<ast::CaseStmt&>(*s);
      expr(c.operand);
      for (ast::IfBranch& b : c.branches) {
        expr(b.condition);
        block(b.body);
      }
      break;
    }
    case StmtKind::kWhile:
    case StmtKind::kRepeat:
    case StmtKind::kLoop: {
      auto& w = static_cast<ast::WhileStmt&>(*s);
      if (w.condition) expr(w.condition);
      loop(w.body, w.label, w);
      break;
    }
    case StmtKind::kFor:
      for_statement(static_cast<ast::ForStmt&>(*s));
      break;
    case StmtKind::kLeave:
    case StmtKind::kIterate:
      jump(static_cast<ast::JumpStmt&>(*s));
      break;
    case StmtKind::kCall:
      call_statement(static_cast<ast::CallStmt&>(*s));
      break;
    case StmtKind::kReturn:
      return_statement(static_cast<ast::ReturnStmt&>(*s));
      break;
    case StmtKind::kThrow:
    case StmtKind::kLog:
      message_statement(static_cast<ast::ThrowStmt&>(*s));
      break;
    case StmtKind::kResignal:
      if (handler_depth_ == 0 && !is_eval_) {
        error(s->pos, "MS1618", "RESIGNAL is allowed inside a handler only");
      }
      break;
    default:
      action(s);
      break;
  }
}

// Statements without a body.
void Analyser::action(Stmt* s) {
  switch (s->kind) {
    case StmtKind::kEval: {
      auto& e = static_cast<ast::EvalStmt&>(*s);
      expr(e.text);
      e.scope = scope_;
      break;
    }
    case StmtKind::kTransaction:
      path(static_cast<ast::TransactionStmt&>(*s).database);
      break;
    case StmtKind::kPropagate:
      propagate(static_cast<ast::PropagateStmt&>(*s));
      break;
    case StmtKind::kCreate:
      create(static_cast<ast::CreateStmt&>(*s));
      break;
    case StmtKind::kDelete:
      tree_target(static_cast<ast::DeleteStmt&>(*s).target, "DELETE");
      break;
    case StmtKind::kDetach:
      tree_target(static_cast<ast::DetachStmt&>(*s).target, "DETACH");
      break;
    case StmtKind::kAttach:
      path(static_cast<ast::AttachStmt&>(*s).what);
      tree_target(static_cast<ast::AttachStmt&>(*s).to, "ATTACH");
      break;
    case StmtKind::kMove:
      move(static_cast<ast::MoveStmt&>(*s));
      break;
    case StmtKind::kInsert:
      insert(static_cast<ast::InsertStmt&>(*s));
      break;
    case StmtKind::kUpdate:
      update(static_cast<ast::UpdateStmt&>(*s));
      break;
    case StmtKind::kDeleteFrom:
      delete_from(static_cast<ast::DeleteFromStmt&>(*s));
      break;
    case StmtKind::kPassthru:
      expr(static_cast<ast::PassthruStmt&>(*s).call);
      break;
    default:
      break;
  }
}

}  // namespace millstream::esql
