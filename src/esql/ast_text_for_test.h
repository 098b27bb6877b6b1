// Expressions as short text, so that a test of the parser is a line: operators as (op a b), paths
// as they are written, functions as (name args).
#pragma once
#include <string>

#include "esql/ast.h"
#include "value/datetime.h"

namespace millstream::esql {

using ast::Expr;
using ast::ExprKind;

inline std::string show(const Expr* e);
inline std::string show_compound(const Expr* e);

inline std::string show_value(const value::Value& v) {
  using value::Kind;
  switch (v.kind) {
    case Kind::kNull:
      return "NULL";
    case Kind::kBoolean:
      return v.boolean() ? "TRUE" : "FALSE";
    case Kind::kInteger:
      return std::to_string(v.integer);
    case Kind::kFloat:
      return "float";
    case Kind::kDecimal:
      return "decimal";
    case Kind::kCharacter:
      return "'" + std::string(v.text()) + "'";
    case Kind::kBlob:
      return "blob" + std::to_string(v.size);
    case Kind::kBit:
      return "bit" + std::to_string(v.size);
    default:
      return value::format_literal(v);
  }
}

inline std::string show_index(ast::IndexKind kind, const Expr* index) {
  switch (kind) {
    case ast::IndexKind::kNone:
      return "";
    case ast::IndexKind::kList:
      return "[]";
    case ast::IndexKind::kNumber:
      return "[" + show(index) + "]";
    case ast::IndexKind::kFirst:
      return "[>]";
    case ast::IndexKind::kFromFirst:
      return "[>" + show(index) + "]";
    case ast::IndexKind::kLast:
      return "[<]";
    case ast::IndexKind::kFromLast:
      return "[<" + show(index) + "]";
  }
  return "?";
}

inline std::string show_step(const ast::PathStep& s) {
  std::string out;
  if (s.type) out += "(" + show(s.type) + ")";
  switch (s.ns_kind) {
    case ast::NamespaceKind::kNone:
      break;
    case ast::NamespaceKind::kEmpty:
      out += ":";
      break;
    case ast::NamespaceKind::kLiteral:
      out += std::string(s.prefix) + ":";
      break;
    case ast::NamespaceKind::kExpr:
      out += "{" + show(s.ns_expr) + "}:";
      break;
    case ast::NamespaceKind::kAny:
      out += "*:";
      break;
  }
  switch (s.name_kind) {
    case ast::NameKind::kAbsent:
      break;
    case ast::NameKind::kLiteral:
      out += s.name;
      break;
    case ast::NameKind::kExpr:
      out += "{" + show(s.name_expr) + "}";
      break;
    case ast::NameKind::kAny:
      out += "*";
      break;
  }
  return out + show_index(s.index_kind, s.index);
}

inline std::string show_path(const ast::PathExpr& p) {
  std::string out = std::string(p.name) + show_index(p.root_index, p.root_index_expr);
  for (const ast::PathStep& s : p.steps) out += "." + show_step(s);
  return out;
}

inline std::string show_list(ast::List<Expr*> list) {
  std::string out;
  for (Expr* e : list) out += " " + show(e);
  return out;
}

inline std::string show_select(const ast::SelectExpr& s) {
  std::string out = "(select";
  switch (s.select) {
    case ast::SelectKind::kColumns:
      break;
    case ast::SelectKind::kItem:
      out += " item";
      break;
    case ast::SelectKind::kCount:
      out += " count";
      break;
    case ast::SelectKind::kCountStar:
      out += " count*";
      break;
    case ast::SelectKind::kMax:
      out += " max";
      break;
    case ast::SelectKind::kMin:
      out += " min";
      break;
    case ast::SelectKind::kSum:
      out += " sum";
      break;
  }
  if (s.item) out += " " + show(s.item);
  for (const ast::SelectColumn& c : s.columns) {
    out += " " + (c.value ? show(c.value) : "*") + (c.is_all_of ? ".*" : "");
    for (const ast::PathStep& step : c.as) out += "/" + show_step(step);
  }
  out += " from";
  for (const ast::FromItem& f : s.from) {
    out += " " + show(f.source) + ":" + std::string(f.name) + (f.is_list ? "+" : "");
  }
  if (s.where) out += " where " + show(s.where);
  return out + (s.is_list ? ")" : " single)");
}

inline std::string show_binary(const Expr* e) {
  const auto& b = *ast::as<ast::BinaryExpr>(e);
  constexpr const char* kArithmetic[] = {"+", "-", "*", "/"};
  constexpr const char* kCompare[] = {"=", "<>", "<", ">", "<=", ">="};
  std::string op = e->kind == ExprKind::kArithmetic    ? kArithmetic[static_cast<int>(b.arithmetic)]
                   : e->kind == ExprKind::kCompare     ? kCompare[static_cast<int>(b.compare)]
                   : e->kind == ExprKind::kConcatenate ? "||"
                   : e->kind == ExprKind::kAnd         ? "and"
                                                       : "or";
  return "(" + op + " " + show(b.left) + " " + show(b.right) + ")";
}

inline std::string show(const Expr* e) {
  if (!e) return "-";
  switch (e->kind) {
    case ExprKind::kLiteral:
      return show_value(ast::as<ast::LiteralExpr>(e)->value);
    case ExprKind::kPath:
      return show_path(*ast::as<ast::PathExpr>(e));
    case ExprKind::kNegate:
      return "(neg " + show(ast::as<ast::UnaryExpr>(e)->operand) + ")";
    case ExprKind::kPlus:
      return "(pos " + show(ast::as<ast::UnaryExpr>(e)->operand) + ")";
    case ExprKind::kNot:
      return "(not " + show(ast::as<ast::UnaryExpr>(e)->operand) + ")";
    case ExprKind::kBetween: {
      const auto& b = *ast::as<ast::BetweenExpr>(e);
      return std::string(b.is_negated ? "(not" : "(") + "between" + (b.is_symmetric ? "~ " : " ") +
             show(b.operand) + " " + show(b.low) + " " + show(b.high) + ")";
    }
    case ExprKind::kIn: {
      const auto& i = *ast::as<ast::InExpr>(e);
      return std::string(i.is_negated ? "(notin " : "(in ") + show(i.operand) + show_list(i.list) +
             ")";
    }
    case ExprKind::kLike: {
      const auto& l = *ast::as<ast::LikeExpr>(e);
      return std::string(l.is_negated ? "(notlike " : "(like ") + show(l.operand) + " " +
             show(l.pattern) + (l.escape ? " " + show(l.escape) : "") + ")";
    }
    case ExprKind::kIs: {
      const auto& i = *ast::as<ast::IsExpr>(e);
      return "(is" + std::string(i.is_negated ? "not" : "") +
             std::to_string(static_cast<int>(i.test)) + " " + show(i.operand) + ")";
    }
    case ExprKind::kCase: {
      const auto& c = *ast::as<ast::CaseExpr>(e);
      std::string out = "(case " + show(c.operand);
      for (const ast::CaseWhen& w : c.whens) out += " " + show(w.when) + ":" + show(w.then);
      return out + " else " + show(c.otherwise) + ")";
    }
    case ExprKind::kCall: {
      const auto& c = *ast::as<ast::CallExpr>(e);
      std::string schema = c.schema.empty() ? "" : std::string(c.schema) + "#";
      return schema + std::string(c.name) + "(" + show_list(c.args) + ")";
    }
    default:
      return show_compound(e);
  }
}

inline std::string show_compound(const Expr* e) {
  switch (e->kind) {
    case ExprKind::kCast: {
      const auto& c = *ast::as<ast::CastExpr>(e);
      std::string out =
          "(cast" + show_list(c.sources) + " as " + std::string(value::kind_name(c.target.kind));
      if (c.target.precision >= 0) {
        out += std::to_string(c.target.precision) + "." + std::to_string(c.target.scale);
      }
      if (c.target.has_qualifier)
        out += " " + std::string(value::qualifier_name(c.target.qualifier));
      if (c.ccsid) out += " ccsid " + show(c.ccsid);
      if (c.encoding) out += " encoding " + show(c.encoding);
      if (c.format) out += " format " + show(c.format);
      if (c.default_value) out += " default " + show(c.default_value);
      return out + ")";
    }
    case ExprKind::kInterval: {
      const auto& i = *ast::as<ast::IntervalExpr>(e);
      return "(interval " + show(i.operand) + " " +
             std::string(value::qualifier_name(i.qualifier)) + ")";
    }
    case ExprKind::kSelect:
      return show_select(*ast::as<ast::SelectExpr>(e));
    case ExprKind::kThe:
      return "(the " + show(ast::as<ast::TheExpr>(e)->list) + ")";
    case ExprKind::kRow: {
      std::string out = "(row";
      for (const ast::RowField& f : ast::as<ast::RowExpr>(e)->fields) {
        out += " " + show(f.value);
        for (const ast::PathStep& s : f.as) out += "/" + show_step(s);
      }
      return out + ")";
    }
    case ExprKind::kList:
      return "(list" + show_list(ast::as<ast::ListExpr>(e)->items) + ")";
    case ExprKind::kQuantifier: {
      const auto& q = *ast::as<ast::QuantifierExpr>(e);
      return std::string(q.quantifier == ast::Quantifier::kAll ? "(all " : "(any ") + show(q.list) +
             ":" + std::string(q.name) + " " + show(q.condition) + ")";
    }
    case ExprKind::kAsBitStream: {
      const auto& a = *ast::as<ast::AsBitStreamExpr>(e);
      const ast::BitStreamOptions& o = a.clauses;
      return "(asbitstream " + show_path(*a.field) + " " + show(o.options) + " " +
             show(o.encoding) + " " + show(o.ccsid) + " " + show(o.set) + " " + show(o.type) + " " +
             show(o.format) + ")";
    }
    case ExprKind::kPassthru: {
      const auto& p = *ast::as<ast::PassthruExpr>(e);
      return "(passthru " + show(p.sql) + (p.to ? " to " + show_path(*p.to) : "") +
             show_list(p.values) + ")";
    }
    case ExprKind::kEval:
      return "(eval " + show(ast::as<ast::EvalExpr>(e)->text) + ")";
    default:
      return show_binary(e);
  }
}

}  // namespace millstream::esql
