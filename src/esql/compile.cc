#include "esql/compile.h"

#include "esql/errors_gen.h"
#include "esql/line_hits.h"
#include "esql/trace.h"
#include "value/time_zone.h"

namespace millstream::esql {

ProgramCode::ProgramCode(std::shared_ptr<const Program> p, bool traced)
    : program(std::move(p)),
      is_traced(traced),
      tree(arena, std::make_shared<const base::NameTable>()) {}

const RoutineCode* Compiler::routine(const ast::Routine* r) const {
  auto it = code_.routine_index.find(r);
  return it == code_.routine_index.end() ? nullptr : it->second;
}

const ExprNode* Compiler::expr(const ast::Expr* e) {
  if (!e) return nullptr;
  const ExprNode* node = expression(e);
  const bool is_traced = code_.is_traced && node && !has_message_names_;
  return is_traced ? traced_expression(*this, *e, node) : node;
}

const ExprNode* Compiler::expression(const ast::Expr* e) {
  switch (e->kind) {
    case ast::ExprKind::kLiteral:
      return compile_literal(*this, ast::as<ast::LiteralExpr>(*e).value);
    case ast::ExprKind::kPath:
      return compile_path_value(*this, ast::as<ast::PathExpr>(*e));
    case ast::ExprKind::kPlus:
      return expr(ast::as<ast::UnaryExpr>(*e).operand);
    case ast::ExprKind::kNegate:
    case ast::ExprKind::kArithmetic:
    case ast::ExprKind::kConcatenate:
    case ast::ExprKind::kCompare:
    case ast::ExprKind::kLike:
    case ast::ExprKind::kInterval:
      return compile_operator(*this, *e);
    case ast::ExprKind::kNot:
    case ast::ExprKind::kAnd:
    case ast::ExprKind::kOr:
    case ast::ExprKind::kBetween:
    case ast::ExprKind::kIn:
    case ast::ExprKind::kIs:
    case ast::ExprKind::kCase:
      return compile_logic(*this, *e);
    case ast::ExprKind::kCall:
      return compile_call(*this, ast::as<ast::CallExpr>(*e));
    case ast::ExprKind::kCast:
      return compile_cast(*this, ast::as<ast::CastExpr>(*e));
    case ast::ExprKind::kSelect:
      return compile_select(*this, ast::as<ast::SelectExpr>(*e));
    case ast::ExprKind::kThe:
      return compile_the(*this, ast::as<ast::TheExpr>(*e));
    case ast::ExprKind::kRow:
    case ast::ExprKind::kList:
      return compile_row_or_list(*this, *e);
    case ast::ExprKind::kQuantifier:
      return compile_quantifier(*this, ast::as<ast::QuantifierExpr>(*e));
    case ast::ExprKind::kAsBitStream:
      return compile_as_bit_stream(*this, ast::as<ast::AsBitStreamExpr>(*e));
    case ast::ExprKind::kPassthru:
      return compile_database_expression(*this, *e);
    case ast::ExprKind::kEval:
      return compile_eval(*this, ast::as<ast::EvalExpr>(*e));
  }
  return compile_literal(*this, value::Value::null());
}

StepNode Compiler::step(const ast::PathStep& s) {
  StepNode n;
  n.pos = s.pos;
  n.ns_kind = s.ns_kind;
  n.name_kind = s.name_kind;
  n.index_kind = s.index_kind;
  n.ns = s.ns;
  n.local = s.local;
  n.ns_expr = s.ns_kind == ast::NamespaceKind::kExpr ? expr(s.ns_expr) : nullptr;
  n.name_expr = s.name_kind == ast::NameKind::kExpr ? expr(s.name_expr) : nullptr;
  if (s.has_constant_type) {
    n.fixed.has_type = true;
    n.fixed.type = s.constant_type;
  } else {
    n.type_expr = expr(s.type);
  }
  n.index = expr(s.index);
  if (n.index) n.index_slot = n.index->local_slot();
  if (n.index || s.index_kind == ast::IndexKind::kList ||
      s.index_kind == ast::IndexKind::kFromFirst || s.index_kind == ast::IndexKind::kNumber) {
    n.cursor = take_cursor();
  }
  n.has_message_names = has_message_names_;
  n.is_fixed = !n.ns_expr && !n.name_expr && !n.type_expr && !has_message_names_;
  if (!n.is_fixed) return n;
  const bool has_ns = s.ns_kind != ast::NamespaceKind::kAny;
  if (s.name_kind == ast::NameKind::kLiteral && has_ns && s.qname) {
    n.fixed.mode = StepMatch::Mode::kExact;
    n.fixed.qname = s.qname;
  } else if (s.name_kind == ast::NameKind::kLiteral && has_ns) {
    n.is_fixed = false;  // the pair is made in the message's names
  } else if (s.name_kind == ast::NameKind::kLiteral) {
    n.fixed.mode = StepMatch::Mode::kLocalName;
    n.fixed.local = s.local;
  } else if (has_ns && s.ns_kind != ast::NamespaceKind::kNone && s.ns) {
    n.fixed.mode = StepMatch::Mode::kNamespace;
    n.fixed.ns = s.ns;
  }
  return n;
}

std::vector<StepNode> Compiler::steps(ast::List<ast::PathStep> list) {
  std::vector<StepNode> out;
  out.reserve(list.size());
  for (const ast::PathStep& s : list) out.push_back(step(s));
  return out;
}

const PathNode* Compiler::path(const ast::PathExpr* e) {
  if (!e) return nullptr;
  PathNode* n = make<PathNode>(*e);
  n->steps = steps(e->steps);
  n->is_list = n->steps.empty() ? e->root_index == ast::IndexKind::kList
                                : n->steps.back().index_kind == ast::IndexKind::kList;
  n->root_index = expr(e->root_index_expr);
  n->decide_start();
  return n;
}

VariableCode Compiler::variable(const ast::Variable& v) {
  VariableCode code;
  code.variable = &v;
  code.initial = expr(v.initial);
  if (v.type.kind == ast::TypeKind::kReference) code.reference = path(v.type.reference_to);
  return code;
}

namespace {

// Stands before a statement whose runs are counted.
class CountingStmt final : public StmtNode {
 public:
  CountingStmt(const ast::Stmt& s, const StmtNode& counted, LineHits::Place& place)
      : StmtNode(s), counted_(counted), place_(place) {}
  Flow run(Frame& f) const override {
    place_.count.fetch_add(1, std::memory_order_relaxed);
    return counted_.run(f);
  }

 private:
  const StmtNode& counted_;
  LineHits::Place& place_;
};

}  // namespace

const StmtNode* Compiler::stmt(const ast::Stmt* s) {
  if (!s) return nullptr;
  const StmtNode* node = statement(s);
  if (code_.is_traced) {
    const bool is_told = node && !has_message_names_ && s->kind != ast::StmtKind::kBlock;
    return is_told ? traced_statement(*this, *s, node) : node;
  }
  LineHits* hits = code_.program->link_options().hits;
  // The text of an EVAL is on no line, and a block is what stands in it.
  if (!hits || !node || has_message_names_ || s->kind == ast::StmtKind::kBlock) return node;
  return make<CountingStmt>(
      *s, *node, hits->add_place(std::string(code_.program->file_path(s->pos)), s->pos.line));
}

const StmtNode* Compiler::statement(const ast::Stmt* s) {
  switch (s->kind) {
    case ast::StmtKind::kSet:
      return compile_set(*this, ast::as<ast::SetStmt>(*s));
    case ast::StmtKind::kCreate:
    case ast::StmtKind::kDelete:
    case ast::StmtKind::kDetach:
    case ast::StmtKind::kAttach:
    case ast::StmtKind::kMove:
      return compile_tree_statement(*this, *s);
    case ast::StmtKind::kBlock:
    case ast::StmtKind::kDeclare:
    case ast::StmtKind::kHandler:
    case ast::StmtKind::kIf:
    case ast::StmtKind::kCase:
    case ast::StmtKind::kWhile:
    case ast::StmtKind::kRepeat:
    case ast::StmtKind::kLoop:
    case ast::StmtKind::kFor:
    case ast::StmtKind::kLeave:
    case ast::StmtKind::kIterate:
      return compile_control(*this, *s);
    default:
      return compile_action(*this, *s);
  }
}

}  // namespace millstream::esql
