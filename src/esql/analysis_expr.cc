// Expressions, calls, SELECT.
#include <vector>

#include "esql/analysis.h"
#include "esql/builtin.h"
#include "text/utf8.h"

namespace millstream::esql {

using ast::Expr;
using ast::ExprKind;
using ast::FieldFunction;

namespace {

struct FieldFunctionRecord {
  std::string_view name;
  FieldFunction function;
  size_t args;
};
constexpr FieldFunctionRecord kFieldFunctions[] = {
    {"FIELDNAME", FieldFunction::kFieldName, 1},
    {"FIELDNAMESPACE", FieldFunction::kFieldNamespace, 1},
    {"FIELDTYPE", FieldFunction::kFieldType, 1},
    {"FIELDVALUE", FieldFunction::kFieldValue, 1},
    {"SAMEFIELD", FieldFunction::kSameField, 2},
    {"LASTMOVE", FieldFunction::kLastMove, 1},
    {"CARDINALITY", FieldFunction::kCardinality, 1},
    {"EXISTS", FieldFunction::kExists, 1},
    {"SINGULAR", FieldFunction::kSingular, 1},
    {"BITSTREAM", FieldFunction::kBitStream, 1},
};

bool takes_list(FieldFunction f) {
  return f == FieldFunction::kCardinality || f == FieldFunction::kExists ||
         f == FieldFunction::kSingular;
}

std::string arguments_text(size_t n) {
  return std::to_string(n) + (n == 1 ? " argument" : " arguments");
}

}  // namespace

// The value of a constant whose initialiser is a literal of its own type.
void fold_literal(ast::Variable& v) {
  if (!v.is_constant || v.storage == ast::Storage::kExternal) return;
  if (v.type.kind == ast::TypeKind::kRow || v.type.kind == ast::TypeKind::kReference) return;
  value::Value literal;
  if (v.initial) {
    const Expr* e = v.initial;
    bool is_negative = e->kind == ExprKind::kNegate;
    if (is_negative) e = ast::as<ast::UnaryExpr>(e)->operand;
    if (e->kind != ExprKind::kLiteral) return;
    literal = ast::as<ast::LiteralExpr>(e)->value;
    if (is_negative) {
      if (literal.kind != value::Kind::kInteger || literal.integer == INT64_MIN) return;
      literal.integer = -literal.integer;
    }
  }
  value::Kind declared =
      v.type.kind == ast::TypeKind::kScalar ? v.type.scalar.kind : value::Kind::kCharacter;
  bool fits = literal.is_null() || literal.kind == declared;
  if (literal.kind == value::Kind::kInterval && v.type.scalar.has_qualifier) {
    fits = fits && literal.interval_qualifier() == v.type.scalar.qualifier;
  }
  if (!fits) return;
  v.has_literal = true;
  v.literal = literal;
}

void Analyser::exprs(ast::List<Expr*> list) {
  for (Expr* e : list) expr(e);
}

void Analyser::options(ast::BitStreamOptions& o) {
  expr(o.options);
  expr(o.encoding);
  expr(o.ccsid);
  expr(o.set);
  expr(o.type);
  expr(o.format);
}

void Analyser::expr(Expr* e) {
  if (!e) return;
  Level level(*this);
  switch (e->kind) {
    case ExprKind::kLiteral:
      break;
    case ExprKind::kPath:
      path(static_cast<ast::PathExpr*>(e));
      break;
    case ExprKind::kNegate:
    case ExprKind::kPlus:
    case ExprKind::kNot:
      expr(static_cast<ast::UnaryExpr*>(e)->operand);
      break;
    case ExprKind::kArithmetic:
    case ExprKind::kCompare:
    case ExprKind::kAnd:
    case ExprKind::kOr:
      expr(static_cast<ast::BinaryExpr*>(e)->left);
      expr(static_cast<ast::BinaryExpr*>(e)->right);
      break;
    case ExprKind::kConcatenate: {
      // A chain runs as one operator (ConcatenateNode), so it is no deeper than its parts.
      std::vector<ast::BinaryExpr*> chain;
      for (; e->kind == ExprKind::kConcatenate; e = chain.back()->left) {
        chain.push_back(static_cast<ast::BinaryExpr*>(e));
      }
      expr(e);
      for (size_t i = chain.size(); i-- > 0;) expr(chain[i]->right);
      break;
    }
    case ExprKind::kBetween: {
      auto* b = static_cast<ast::BetweenExpr*>(e);
      expr(b->operand);
      expr(b->low);
      expr(b->high);
      break;
    }
    case ExprKind::kIn:
      expr(static_cast<ast::InExpr*>(e)->operand);
      exprs(static_cast<ast::InExpr*>(e)->list);
      break;
    case ExprKind::kLike: {
      auto* l = static_cast<ast::LikeExpr*>(e);
      expr(l->operand);
      expr(l->pattern);
      expr(l->escape);
      break;
    }
    case ExprKind::kIs:
      expr(static_cast<ast::IsExpr*>(e)->operand);
      break;
    default:
      compound(e);
      break;
  }
}

// Expressions that are more than an operator.
void Analyser::compound(Expr* e) {
  switch (e->kind) {
    case ExprKind::kCase: {
      auto* c = static_cast<ast::CaseExpr*>(e);
      expr(c->operand);
      for (ast::CaseWhen& w : c->whens) {
        expr(w.when);
        expr(w.then);
      }
      expr(c->otherwise);
      break;
    }
    case ExprKind::kCall:
      call(*static_cast<ast::CallExpr*>(e), false);
      break;
    case ExprKind::kCast: {
      auto* c = static_cast<ast::CastExpr*>(e);
      exprs(c->sources);
      expr(c->ccsid);
      expr(c->encoding);
      expr(c->format);
      expr(c->default_value);
      break;
    }
    case ExprKind::kInterval:
      expr(static_cast<ast::IntervalExpr*>(e)->operand);
      break;
    case ExprKind::kSelect:
      select(*static_cast<ast::SelectExpr*>(e));
      break;
    case ExprKind::kThe:
      expr(static_cast<ast::TheExpr*>(e)->list);
      break;
    case ExprKind::kRow:
      for (ast::RowField& f : static_cast<ast::RowExpr*>(e)->fields) {
        expr(f.value);
        steps(f.as);
      }
      break;
    case ExprKind::kList:
      exprs(static_cast<ast::ListExpr*>(e)->items);
      break;
    case ExprKind::kQuantifier:
      quantifier(*static_cast<ast::QuantifierExpr*>(e));
      break;
    case ExprKind::kAsBitStream:
      path(static_cast<ast::AsBitStreamExpr*>(e)->field);
      options(static_cast<ast::AsBitStreamExpr*>(e)->clauses);
      break;
    case ExprKind::kPassthru: {
      auto* p = static_cast<ast::PassthruExpr*>(e);
      expr(p->sql);
      path(p->to);
      if (!p->to) uses_node_source(p->pos);
      exprs(p->values);
      break;
    }
    case ExprKind::kEval: {
      auto* v = static_cast<ast::EvalExpr*>(e);
      expr(v->text);
      v->scope = scope_;
      break;
    }
    default:
      break;
  }
}

// ---------------------------------------------------------------- calls

void Analyser::check_arguments(const ast::Routine& r, const ast::CallExpr& e) {
  size_t given = e.args.size();
  size_t wanted = r.parameters.size();
  // The result sets of a stored procedure are bound to further arguments.
  bool may_have_more = r.language == ast::Language::kDatabase;
  if (given != wanted && !(may_have_more && given > wanted)) {
    return error(e.pos, "MS1606",
                 "'" + std::string(r.name) + "' takes " + arguments_text(wanted) + ", not " +
                     std::to_string(given));
  }
  for (size_t i = 0; i < wanted; ++i) {
    const ast::Variable& p = *r.parameters[i];
    Expr* arg = e.args[i];
    std::string where = "argument " + std::to_string(i + 1) + " of '" + std::string(r.name) + "'";
    if (p.direction != ast::Direction::kIn) {
      if (arg->kind != ExprKind::kPath) {
        error(arg->pos, "MS1614", where + " is OUT or INOUT; it must be a variable or field");
      } else if (p.type.kind != ast::TypeKind::kReference) {
        tree_target(static_cast<ast::PathExpr*>(arg), "CALL");
      }
    } else if (p.type.kind == ast::TypeKind::kReference && arg->kind != ExprKind::kPath) {
      error(arg->pos, "MS1614", where + " is a REFERENCE; it must be a field reference");
    }
  }
}

// FIELDNAME and the like; their operands are fields or lists.
bool Analyser::field_function(ast::CallExpr& e) {
  for (const FieldFunctionRecord& f : kFieldFunctions) {
    if (!text::equals_ignoring_ascii_case(f.name, e.name)) continue;
    e.target = ast::CallTarget::kField;
    e.field_function = f.function;
    if (e.args.size() != f.args) {
      error(e.pos, "MS1606", std::string(f.name) + " takes " + arguments_text(f.args));
      return true;
    }
    for (Expr* arg : e.args) {
      bool is_path = arg->kind == ExprKind::kPath;
      if (!takes_list(f.function)) {
        if (!is_path) error(arg->pos, "MS1614", std::string(f.name) + " needs a field reference");
      } else if (arg->kind == ExprKind::kLiteral) {
        error(arg->pos, "MS1614", std::string(f.name) + " needs a list such as a.b[]");
      } else if (is_path && f.function == FieldFunction::kCardinality) {
        const auto& p = *ast::as<ast::PathExpr>(arg);
        ast::IndexKind last = p.steps.empty() ? p.root_index : p.steps.back().index_kind;
        if (last != ast::IndexKind::kList) {
          warning(arg->pos, "MS1622",
                  "CARDINALITY(" + std::string(arg->source) + ") counts one field; write " +
                      std::string(arg->source) + "[] to count all of them");
        }
      }
    }
    if (f.function == FieldFunction::kLastMove && e.args[0]->kind == ExprKind::kPath) {
      const auto& p = *ast::as<ast::PathExpr>(e.args[0]);
      bool ok = p.ref == ast::RefKind::kUnresolved ||
                (p.ref == ast::RefKind::kVariable && p.steps.empty() &&
                 p.variable->type.kind == ast::TypeKind::kReference);
      if (!ok) error(p.pos, "MS1616", "LASTMOVE needs a variable of type REFERENCE");
    }
    return true;
  }
  return false;
}

void Analyser::call_routine(ast::CallExpr& e, ast::Routine& r, bool is_statement) {
  e.target = ast::CallTarget::kRoutine;
  e.routine = &r;
  if (!is_statement && !r.has_return_type) {
    error(e.pos, "MS1614", "'" + std::string(r.name) + "' returns no value; use CALL");
  }
  check_arguments(r, e);
  if (r.language == ast::Language::kDatabase && !e.in_reference) uses_node_source(e.pos);
}

void Analyser::call(ast::CallExpr& e, bool is_statement) {
  exprs(e.args);
  if (ast::Routine* r = find_routine(e.schema, e.name)) return call_routine(e, *r, is_statement);
  std::string shown =
      e.schema.empty() ? std::string(e.name) : std::string(e.schema) + "." + std::string(e.name);
  if (e.schema.empty()) {
    if (field_function(e)) return;
    std::string upper(e.name);
    for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    const Builtin* b = find_builtin(upper);
    if (b && b->function) {
      e.target = ast::CallTarget::kBuiltin;
      e.builtin = b;
      size_t n = e.args.size();
      if (n >= b->args_min && (b->args_max == 255 || n <= b->args_max)) return;
      std::string wanted = arguments_text(b->args_min);
      if (b->args_max == 255) {
        wanted += " or more";
      } else if (b->args_max != b->args_min) {
        wanted = std::to_string(b->args_min) + " to " + arguments_text(b->args_max);
      }
      return error(e.pos, "MS1606", upper + " takes " + wanted + ", not " + std::to_string(n));
    }
  }
  if (ast::Routine* similar = e.schema.empty() ? similar_routine(e.name) : nullptr) {
    // Deployed projects hold such calls.
    warning(e.pos, "MS1628",
            "'" + shown + "' is taken for the routine '" + std::string(similar->name) +
                "', whose name differs in case");
    return call_routine(e, *similar, is_statement);
  }
  error(e.pos, "MS1605",
        "there is no routine '" + shown +
            "' in this module, its schema or the schemas of PATH, and no such "
            "function");
}

// A routine of this module or file whose name differs in case only.
ast::Routine* Analyser::similar_routine(std::string_view name) const {
  for (ast::Routine* r : module_ ? module_->routines : ast::List<ast::Routine*>()) {
    if (text::equals_ignoring_ascii_case(r->name, name)) return r;
  }
  for (ast::Routine* r : file_ ? file_->routines : ast::List<ast::Routine*>()) {
    if (text::equals_ignoring_ascii_case(r->name, name)) return r;
  }
  return nullptr;
}

// ---------------------------------------------------------------- SELECT and quantifiers

namespace {

// The data source of Database.source.schema.table, when it is written as a name.
std::string_view source_name(const Expr& table) {
  const auto& p = ast::as<ast::PathExpr>(table);
  const size_t count = p.steps.size();
  return count > 2 ? p.steps[count - 3].name : std::string_view();
}

}  // namespace

void Analyser::select(ast::SelectExpr& e) {
  const ast::Scope* outer = scope_;
  const ast::FromItem* first = nullptr;
  for (const ast::FromItem& item : e.from) {
    if (!item.is_database) continue;
    if (ast::as<ast::PathExpr>(*item.source).steps.size() < 3) uses_node_source(item.source->pos);
    if (first && source_name(*item.source) != source_name(*first->source)) {
      error(item.source->pos, "MS2125", "all tables of one SELECT must be in one data source");
    }
    if (!first) first = &item;
  }
  for (ast::FromItem& item : e.from) {
    expr(item.source);
    item.variable = add_row(item.name, item.source->pos);
  }
  for (ast::SelectColumn& c : e.columns) {
    expr(c.value);
    steps(c.as);
  }
  expr(e.item);
  expr(e.where);
  scope_ = outer;
}

void Analyser::quantifier(ast::QuantifierExpr& e) {
  expr(e.list);
  const ast::Scope* outer = scope_;
  e.variable = add_row(e.name, e.pos);
  expr(e.condition);
  scope_ = outer;
}

}  // namespace millstream::esql
