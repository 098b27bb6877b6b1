#include "esql/database_push.h"

#include <algorithm>

#include "esql/builtin.h"

namespace millstream::esql {

using ast::Expr;
using ast::ExprKind;
using Visit = std::function<void(const Expr&)>;

// ---------------------------------------------------------------- looking into expressions

namespace {

void visit_one(const Expr* e, const Visit& visit) {
  if (e) visit(*e);
}

void visit_all(ast::List<Expr*> list, const Visit& visit) {
  for (const Expr* e : list) visit_one(e, visit);
}

void visit_steps(ast::List<ast::PathStep> steps, const Visit& visit) {
  for (const ast::PathStep& s : steps) {
    visit_one(s.type, visit);
    visit_one(s.ns_expr, visit);
    visit_one(s.name_expr, visit);
    visit_one(s.index, visit);
  }
}

void visit_select(const ast::SelectExpr& s, const Visit& visit) {
  for (const ast::SelectColumn& c : s.columns) {
    visit_one(c.value, visit);
    visit_steps(c.as, visit);
  }
  visit_one(s.item, visit);
  for (const ast::FromItem& i : s.from) visit_one(i.source, visit);
  visit_one(s.where, visit);
}

void visit_options(const ast::BitStreamOptions& o, const Visit& visit) {
  for (const Expr* e : {o.options, o.encoding, o.ccsid, o.set, o.type, o.format}) {
    visit_one(e, visit);
  }
}

void visit_path(const ast::PathExpr& p, const Visit& visit) {
  visit_one(p.root_index_expr, visit);
  visit_steps(p.steps, visit);
}

// Calls, rows and lists, SELECT.
void visit_compound(const Expr& e, const Visit& visit) {
  switch (e.kind) {
    case ExprKind::kPath:
      visit_path(ast::as<ast::PathExpr>(e), visit);
      break;
    case ExprKind::kCall: {
      const auto& c = ast::as<ast::CallExpr>(e);
      visit_all(c.args, visit);
      visit_one(c.in_reference, visit);
      visit_one(c.external_schema, visit);
      break;
    }
    case ExprKind::kCast: {
      const auto& c = ast::as<ast::CastExpr>(e);
      visit_all(c.sources, visit);
      for (const Expr* x : {c.ccsid, c.encoding, c.format, c.default_value}) visit_one(x, visit);
      break;
    }
    case ExprKind::kInterval:
      visit_one(ast::as<ast::IntervalExpr>(e).operand, visit);
      break;
    case ExprKind::kSelect:
      visit_select(ast::as<ast::SelectExpr>(e), visit);
      break;
    case ExprKind::kThe:
      visit_one(ast::as<ast::TheExpr>(e).list, visit);
      break;
    case ExprKind::kRow:
      for (const ast::RowField& f : ast::as<ast::RowExpr>(e).fields) {
        visit_one(f.value, visit);
        visit_steps(f.as, visit);
      }
      break;
    case ExprKind::kList:
      visit_all(ast::as<ast::ListExpr>(e).items, visit);
      break;
    case ExprKind::kQuantifier:
      visit_one(ast::as<ast::QuantifierExpr>(e).list, visit);
      visit_one(ast::as<ast::QuantifierExpr>(e).condition, visit);
      break;
    case ExprKind::kAsBitStream:
      visit_one(ast::as<ast::AsBitStreamExpr>(e).field, visit);
      visit_options(ast::as<ast::AsBitStreamExpr>(e).clauses, visit);
      break;
    case ExprKind::kPassthru: {
      const auto& p = ast::as<ast::PassthruExpr>(e);
      visit_one(p.sql, visit);
      visit_one(p.to, visit);
      visit_all(p.values, visit);
      break;
    }
    case ExprKind::kEval:
      visit_one(ast::as<ast::EvalExpr>(e).text, visit);
      break;
    default:
      break;
  }
}

}  // namespace

void for_each_inner(const Expr& e, const Visit& visit) {
  switch (e.kind) {
    case ExprKind::kNegate:
    case ExprKind::kPlus:
    case ExprKind::kNot:
      visit_one(ast::as<ast::UnaryExpr>(e).operand, visit);
      break;
    case ExprKind::kArithmetic:
    case ExprKind::kConcatenate:
    case ExprKind::kCompare:
    case ExprKind::kAnd:
    case ExprKind::kOr:
      visit_one(ast::as<ast::BinaryExpr>(e).left, visit);
      visit_one(ast::as<ast::BinaryExpr>(e).right, visit);
      break;
    case ExprKind::kBetween: {
      const auto& b = ast::as<ast::BetweenExpr>(e);
      for (const Expr* x : {b.operand, b.low, b.high}) visit_one(x, visit);
      break;
    }
    case ExprKind::kIn:
      visit_one(ast::as<ast::InExpr>(e).operand, visit);
      visit_all(ast::as<ast::InExpr>(e).list, visit);
      break;
    case ExprKind::kLike: {
      const auto& l = ast::as<ast::LikeExpr>(e);
      for (const Expr* x : {l.operand, l.pattern, l.escape}) visit_one(x, visit);
      break;
    }
    case ExprKind::kIs:
      visit_one(ast::as<ast::IsExpr>(e).operand, visit);
      break;
    case ExprKind::kCase: {
      const auto& c = ast::as<ast::CaseExpr>(e);
      visit_one(c.operand, visit);
      for (const ast::CaseWhen& w : c.whens) {
        visit_one(w.when, visit);
        visit_one(w.then, visit);
      }
      visit_one(c.otherwise, visit);
      break;
    }
    default:
      visit_compound(e, visit);
  }
}

bool refers_to(const Expr& e, std::span<const ast::Variable* const> variables) {
  if (e.kind == ExprKind::kEval) return true;
  if (e.kind == ExprKind::kPath) {
    const auto& p = ast::as<ast::PathExpr>(e);
    if (p.ref == ast::RefKind::kVariable &&
        std::find(variables.begin(), variables.end(), p.variable) != variables.end()) {
      return true;
    }
  }
  bool is_found = false;
  for_each_inner(e, [&](const Expr& inner) {
    if (!is_found) is_found = refers_to(inner, variables);
  });
  return is_found;
}

const ast::PathStep* column_of(const Expr& e, std::span<const ast::Variable* const> tables) {
  if (e.kind != ExprKind::kPath) return nullptr;
  const auto& p = ast::as<ast::PathExpr>(e);
  if (p.ref != ast::RefKind::kVariable || p.root_index != ast::IndexKind::kNone ||
      p.steps.size() != 1 || std::find(tables.begin(), tables.end(), p.variable) == tables.end()) {
    return nullptr;
  }
  const ast::PathStep& s = p.steps[0];
  const bool is_plain = s.name_kind == ast::NameKind::kLiteral &&
                        s.ns_kind == ast::NamespaceKind::kNone && !s.type &&
                        s.index_kind == ast::IndexKind::kNone;
  return is_plain ? &s : nullptr;
}

// ---------------------------------------------------------------- what a database can do

namespace {

// Functions that databases have under the same name and with the same meaning.
const char* pushed_function(const ast::CallExpr& c) {
  if (c.target != ast::CallTarget::kBuiltin || !c.builtin) return nullptr;
  struct Known {
    const char *esql, *sql;
  };
  static constexpr Known kKnown[] = {
      {"UPPER", "UPPER"}, {"UCASE", "UPPER"}, {"LOWER", "LOWER"},       {"LCASE", "LOWER"},
      {"ABS", "ABS"},     {"ABSVAL", "ABS"},  {"COALESCE", "COALESCE"}, {"NULLIF", "NULLIF"}};
  for (const Known& k : kKnown) {
    if (std::string_view(c.builtin->name) == k.esql) return k.sql;
  }
  return nullptr;
}

// One character that can stand in ESCAPE '...'.
bool is_escape_literal(const Expr* e) {
  if (!e) return true;
  if (e->kind != ExprKind::kLiteral) return false;
  const value::Value& v = ast::as<ast::LiteralExpr>(*e).value;
  return v.kind == value::Kind::kCharacter && v.text().size() == 1 && v.text()[0] >= ' ' &&
         v.text()[0] < 0x7f;
}

bool has_pushable_form(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kNegate:
    case ExprKind::kPlus:
    case ExprKind::kNot:
    case ExprKind::kArithmetic:
    case ExprKind::kConcatenate:
    case ExprKind::kCompare:
    case ExprKind::kAnd:
    case ExprKind::kOr:
    case ExprKind::kCase:
      return true;
    case ExprKind::kBetween:
      return !ast::as<ast::BetweenExpr>(e).is_symmetric;
    case ExprKind::kIn:
      for (const Expr* item : ast::as<ast::InExpr>(e).list) {
        if (item->kind == ExprKind::kSelect || item->kind == ExprKind::kList ||
            item->kind == ExprKind::kPassthru) {
          return false;
        }
        if (item->kind != ExprKind::kPath) continue;
        const auto& p = ast::as<ast::PathExpr>(*item);
        const ast::IndexKind last = p.steps.empty() ? p.root_index : p.steps.back().index_kind;
        if (last == ast::IndexKind::kList) return false;
      }
      return true;
    case ExprKind::kLike:
      return is_escape_literal(ast::as<ast::LikeExpr>(e).escape);
    case ExprKind::kIs: {
      const ast::IsTest test = ast::as<ast::IsExpr>(e).test;
      return test == ast::IsTest::kNull || test == ast::IsTest::kUnknown;
    }
    case ExprKind::kCall:
      return pushed_function(ast::as<ast::CallExpr>(e)) != nullptr;
    default:
      return false;
  }
}

}  // namespace

PushKind classify(const Expr& e, const PushScope& scope, const Expr** culprit) {
  const bool has_tables = refers_to(e, scope.tables), has_others = refers_to(e, scope.others);
  if (!has_tables && !has_others) return PushKind::kLocal;
  if (column_of(e, scope.tables)) return PushKind::kDatabase;
  if (!has_pushable_form(e)) {
    if (culprit) *culprit = &e;
    return PushKind::kNeither;
  }
  PushKind kind = PushKind::kDatabase;
  for_each_inner(e, [&](const Expr& inner) {
    if (kind == PushKind::kDatabase && classify(inner, scope, culprit) == PushKind::kNeither) {
      kind = PushKind::kNeither;
    }
  });
  return kind;
}

void split_conjuncts(const Expr* e, std::vector<const Expr*>& out) {
  if (!e) return;
  if (e->kind != ExprKind::kAnd) {
    out.push_back(e);
    return;
  }
  split_conjuncts(ast::as<ast::BinaryExpr>(*e).left, out);
  split_conjuncts(ast::as<ast::BinaryExpr>(*e).right, out);
}

// ---------------------------------------------------------------- SQL text

namespace {

const char* arithmetic_text(ArithmeticOp op) {
  switch (op) {
    case ArithmeticOp::kAdd:
      return " + ";
    case ArithmeticOp::kSubtract:
      return " - ";
    case ArithmeticOp::kMultiply:
      return " * ";
    case ArithmeticOp::kDivide:
      return " / ";
  }
  return " + ";
}

const char* compare_text(CompareOp op) {
  switch (op) {
    case CompareOp::kEqual:
      return " = ";
    case CompareOp::kNotEqual:
      return " <> ";
    case CompareOp::kLess:
      return " < ";
    case CompareOp::kGreater:
      return " > ";
    case CompareOp::kLessEqual:
      return " <= ";
    case CompareOp::kGreaterEqual:
      return " >= ";
  }
  return " = ";
}

class Writer {
 public:
  explicit Writer(const PushWriter& w) : w_(w) {}

  void write(const Expr& e, PushUse use) {
    const std::vector<const ast::Variable*>& tables = w_.scope.tables;
    if (!refers_to(e, tables)) {
      w_.sql += use == PushUse::kCondition ? "(? = 1)" : "?";
      w_.take_local(e, use);
      return;
    }
    if (const ast::PathStep* column = column_of(e, tables)) {
      w_.write_column(*ast::as<ast::PathExpr>(e).variable, *column);
      return;
    }
    if (e.kind == ExprKind::kCall) return write_form(e);
    w_.sql += '(';
    write_form(e);
    w_.sql += ')';
  }

 private:
  void value(const Expr* e) { write(*e, PushUse::kValue); }
  void condition(const Expr* e) { write(*e, PushUse::kCondition); }
  void write_form(const Expr& e) {
    switch (e.kind) {
      case ExprKind::kNegate:
        w_.sql += "- ";
        return value(ast::as<ast::UnaryExpr>(e).operand);
      case ExprKind::kPlus:
        return value(ast::as<ast::UnaryExpr>(e).operand);
      case ExprKind::kNot:
        w_.sql += "NOT ";
        return condition(ast::as<ast::UnaryExpr>(e).operand);
      case ExprKind::kArithmetic:
        return binary(e, arithmetic_text(ast::as<ast::BinaryExpr>(e).arithmetic), false);
      case ExprKind::kConcatenate:
        return binary(e, " || ", false);
      case ExprKind::kCompare:
        return binary(e, compare_text(ast::as<ast::BinaryExpr>(e).compare), false);
      case ExprKind::kAnd:
        return binary(e, " AND ", true);
      case ExprKind::kOr:
        return binary(e, " OR ", true);
      case ExprKind::kBetween: {
        const auto& b = ast::as<ast::BetweenExpr>(e);
        value(b.operand);
        w_.sql += b.is_negated ? " NOT BETWEEN " : " BETWEEN ";
        value(b.low);
        w_.sql += " AND ";
        return value(b.high);
      }
      case ExprKind::kIn: {
        const auto& in = ast::as<ast::InExpr>(e);
        value(in.operand);
        w_.sql += in.is_negated ? " NOT IN (" : " IN (";
        list(in.list);
        w_.sql += ')';
        return;
      }
      case ExprKind::kLike:
        return write_like(ast::as<ast::LikeExpr>(e));
      case ExprKind::kIs:
        value(ast::as<ast::IsExpr>(e).operand);
        w_.sql += ast::as<ast::IsExpr>(e).is_negated ? " IS NOT NULL" : " IS NULL";
        return;
      case ExprKind::kCase:
        return write_case(ast::as<ast::CaseExpr>(e));
      case ExprKind::kCall:
        w_.sql += pushed_function(ast::as<ast::CallExpr>(e));
        w_.sql += '(';
        list(ast::as<ast::CallExpr>(e).args);
        w_.sql += ')';
        return;
      default:
        return;
    }
  }
  void binary(const Expr& e, const char* op, bool has_conditions) {
    const PushUse use = has_conditions ? PushUse::kCondition : PushUse::kValue;
    write(*ast::as<ast::BinaryExpr>(e).left, use);
    w_.sql += op;
    write(*ast::as<ast::BinaryExpr>(e).right, use);
  }
  void list(ast::List<Expr*> items) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (i) w_.sql += ", ";
      value(items[i]);
    }
  }
  void write_like(const ast::LikeExpr& e) {
    value(e.operand);
    w_.sql += e.is_negated ? " NOT LIKE " : " LIKE ";
    value(e.pattern);
    if (!e.escape) return;
    const char c = ast::as<ast::LiteralExpr>(*e.escape).value.text()[0];
    w_.sql += " ESCAPE '";
    w_.sql += c;
    if (c == '\'') w_.sql += c;
    w_.sql += '\'';
  }
  void write_case(const ast::CaseExpr& e) {
    w_.sql += "CASE";
    if (e.operand) {
      w_.sql += ' ';
      value(e.operand);
    }
    for (const ast::CaseWhen& when : e.whens) {
      w_.sql += " WHEN ";
      write(*when.when, e.operand ? PushUse::kValue : PushUse::kCondition);
      w_.sql += " THEN ";
      value(when.then);
    }
    if (e.otherwise) {
      w_.sql += " ELSE ";
      value(e.otherwise);
    }
    w_.sql += " END";
  }
  const PushWriter& w_;
};

}  // namespace

void write_pushed(const PushWriter& w, const Expr& e, PushUse use) { Writer(w).write(e, use); }

}  // namespace millstream::esql
