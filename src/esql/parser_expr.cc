// Operators, from the loosest to the tightest (spec A4): OR; AND; comparisons and predicates; + -;
// ||; * /; unary - + NOT. So `NOT a = b` is `(NOT a) = b`, and `'a' || 1 + 2` is `('a' || 1) + 2`.
#include "esql/parser.h"

namespace millstream::esql {

using ast::Expr;
using ast::ExprKind;

Expr* Parser::make_binary(ExprKind kind, Expr* l, Expr* r, const Token& start) {
  auto* e = make<ast::BinaryExpr>(kind, start);
  e->left = l;
  e->right = r;
  return done(e, start);
}

Expr* Parser::parse_expr() {
  Nesting nesting(*this);
  if (is_panicking_) return placeholder(peek());
  if (expression_depth_++ == 0) operator_count_ = 0;
  const Token& start = peek();
  Expr* left = parse_and();
  while (accept(Kw::kOR)) {
    count_operator();
    left = make_binary(ExprKind::kOr, left, parse_and(), start);
  }
  --expression_depth_;
  return left;
}

Expr* Parser::parse_and() {
  const Token& start = peek();
  Expr* left = parse_comparison();
  while (accept(Kw::kAND)) {
    count_operator();
    left = make_binary(ExprKind::kAnd, left, parse_comparison(), start);
  }
  return left;
}

Expr* Parser::parse_comparison() {
  const Token& start = peek();
  Expr* left = parse_additive();
  while (true) {
    Expr* next = parse_comparison_tail(left, start);
    if (!next) return left;
    count_operator();
    left = next;
  }
}

// One comparison or predicate after `left`; null when none follows.
Expr* Parser::parse_comparison_tail(Expr* left, const Token& start) {
  CompareOp op;
  switch (peek().kind) {
    case TokenKind::kEqual:
      op = CompareOp::kEqual;
      break;
    case TokenKind::kNotEqual:
      op = CompareOp::kNotEqual;
      break;
    case TokenKind::kLess:
      op = CompareOp::kLess;
      break;
    case TokenKind::kGreater:
      op = CompareOp::kGreater;
      break;
    case TokenKind::kLessEqual:
      op = CompareOp::kLessEqual;
      break;
    case TokenKind::kGreaterEqual:
      op = CompareOp::kGreaterEqual;
      break;
    case TokenKind::kIdentifier: {
      bool negated = is(Kw::kNOT);
      Kw kw = peek(negated ? 1 : 0).kw;
      if (kw == Kw::kIS && !negated) return parse_is(left, start);
      if (kw != Kw::kBETWEEN && kw != Kw::kIN && kw != Kw::kLIKE) return nullptr;
      if (negated) advance();
      advance();
      if (kw == Kw::kBETWEEN) return parse_between(left, start, negated);
      if (kw == Kw::kIN) return parse_in(left, start, negated);
      return parse_like(left, start, negated);
    }
    default:
      return nullptr;
  }
  advance();
  auto* e =
      static_cast<ast::BinaryExpr*>(make_binary(ExprKind::kCompare, left, parse_additive(), start));
  e->compare = op;
  return e;
}

Expr* Parser::parse_between(Expr* left, const Token& start, bool negated) {
  auto* e = make<ast::BetweenExpr>(ExprKind::kBetween, start);
  e->is_negated = negated;
  e->operand = left;
  e->is_symmetric = accept(Kw::kSYMMETRIC);
  if (!e->is_symmetric) accept(Kw::kASYMMETRIC);
  e->low = parse_additive();
  expect(Kw::kAND);
  e->high = parse_additive();
  return done(e, start);
}

Expr* Parser::parse_in(Expr* left, const Token& start, bool negated) {
  auto* e = make<ast::InExpr>(ExprKind::kIn, start);
  e->is_negated = negated;
  e->operand = left;
  expect(TokenKind::kLeftParen);
  e->list = list_of(parse_expr_list(TokenKind::kRightParen));
  if (e->list.empty()) syntax_error("an expression");
  return done(e, start);
}

Expr* Parser::parse_like(Expr* left, const Token& start, bool negated) {
  auto* e = make<ast::LikeExpr>(ExprKind::kLike, start);
  e->is_negated = negated;
  e->operand = left;
  e->pattern = parse_additive();
  if (accept(Kw::kESCAPE)) e->escape = parse_additive();
  return done(e, start);
}

Expr* Parser::parse_is(Expr* left, const Token& start) {
  advance();
  auto* e = make<ast::IsExpr>(ExprKind::kIs, start);
  e->operand = left;
  e->is_negated = accept(Kw::kNOT);
  using ast::IsTest;
  bool is_plus = is(TokenKind::kPlus);
  bool is_minus = is(TokenKind::kMinus);
  if (is_plus || is_minus) advance();
  switch (peek().kw) {
    case Kw::kINF:
    case Kw::kINFINITY:
      e->test = is_plus    ? IsTest::kPlusInfinity
                : is_minus ? IsTest::kMinusInfinity
                           : IsTest::kInfinity;
      advance();
      return done(e, start);
    case Kw::kNULL:
      e->test = IsTest::kNull;
      break;
    case Kw::kUNKNOWN:
      e->test = IsTest::kUnknown;
      break;
    case Kw::kTRUE:
      e->test = IsTest::kTrue;
      break;
    case Kw::kFALSE:
      e->test = IsTest::kFalse;
      break;
    case Kw::kNAN:
      e->test = IsTest::kNan;
      break;
    case Kw::kNUM:
    case Kw::kNUMBER:
      e->test = IsTest::kNumber;
      break;
    default:
      syntax_error("NULL, UNKNOWN, TRUE, FALSE, INF, NAN or NUM after IS");
      return e;
  }
  if (is_plus || is_minus) syntax_error("INF or INFINITY after the sign");
  advance();
  return done(e, start);
}

Expr* Parser::parse_additive() {
  const Token& start = peek();
  Expr* left = parse_concat();
  while (is(TokenKind::kPlus) || is(TokenKind::kMinus)) {
    ArithmeticOp op = is(TokenKind::kPlus) ? ArithmeticOp::kAdd : ArithmeticOp::kSubtract;
    advance();
    count_operator();
    auto* e = static_cast<ast::BinaryExpr*>(
        make_binary(ExprKind::kArithmetic, left, parse_concat(), start));
    e->arithmetic = op;
    left = e;
  }
  return left;
}

Expr* Parser::parse_concat() {
  const Token& start = peek();
  Expr* left = parse_multiplicative();
  while (accept(TokenKind::kConcat)) {
    count_operator();
    left = make_binary(ExprKind::kConcatenate, left, parse_multiplicative(), start);
  }
  return left;
}

Expr* Parser::parse_multiplicative() {
  const Token& start = peek();
  Expr* left = parse_unary();
  while (is(TokenKind::kStar) || is(TokenKind::kSlash)) {
    ArithmeticOp op = is(TokenKind::kStar) ? ArithmeticOp::kMultiply : ArithmeticOp::kDivide;
    advance();
    count_operator();
    auto* e = static_cast<ast::BinaryExpr*>(
        make_binary(ExprKind::kArithmetic, left, parse_unary(), start));
    e->arithmetic = op;
    left = e;
  }
  return left;
}

Expr* Parser::parse_unary() {
  const Token& start = peek();
  ExprKind kind;
  if (is(TokenKind::kMinus)) {
    kind = ExprKind::kNegate;
  } else if (is(TokenKind::kPlus)) {
    kind = ExprKind::kPlus;
  } else if (is(Kw::kNOT)) {
    kind = ExprKind::kNot;
  } else {
    return parse_primary();
  }
  Nesting nesting(*this);
  advance();
  auto* e = make<ast::UnaryExpr>(kind, start);
  e->operand = parse_unary();
  return done(e, start);
}

std::vector<Expr*> Parser::parse_expr_list(TokenKind close) {
  std::vector<Expr*> items;
  if (accept(close)) return items;
  do {
    items.push_back(parse_expr());
  } while (accept(TokenKind::kComma));
  expect(close);
  return items;
}

// ( e ), optionally followed by an interval qualifier: (a - b) DAY.
Expr* Parser::parse_parenthesised() {
  const Token& start = peek();
  advance();
  Expr* inner = parse_expr();
  expect(TokenKind::kRightParen);
  value::IntervalQualifier q{};
  if (!accept_qualifier(q)) return inner;
  auto* e = make<ast::IntervalExpr>(ExprKind::kInterval, start);
  e->operand = inner;
  e->qualifier = q;
  return done(e, start);
}

Expr* Parser::parse_case() {
  const Token& start = peek();
  advance();
  auto* e = make<ast::CaseExpr>(ExprKind::kCase, start);
  if (!is(Kw::kWHEN)) e->operand = parse_expr();
  std::vector<ast::CaseWhen> whens;
  while (accept(Kw::kWHEN)) {
    ast::CaseWhen w{};
    w.when = parse_expr();
    expect(Kw::kTHEN);
    w.then = parse_expr();
    whens.push_back(w);
  }
  if (whens.empty()) syntax_error("WHEN");
  e->whens = list_of(whens);
  if (accept(Kw::kELSE)) e->otherwise = parse_expr();
  expect(Kw::kEND);
  return done(e, start);
}

Expr* Parser::parse_row() {
  const Token& start = peek();
  advance();
  auto* e = make<ast::RowExpr>(ExprKind::kRow, start);
  expect(TokenKind::kLeftParen);
  std::vector<ast::RowField> fields;
  if (!is(TokenKind::kRightParen)) {
    do {
      ast::RowField f{};
      f.value = parse_expr();
      f.as = accept(Kw::kAS) ? parse_relative_path() : derived_name(f.value);
      fields.push_back(f);
    } while (accept(TokenKind::kComma));
  }
  expect(TokenKind::kRightParen);
  e->fields = list_of(fields);
  return done(e, start);
}

Expr* Parser::parse_list() {
  const Token& start = peek();
  advance();
  auto* e = make<ast::ListExpr>(ExprKind::kList, start);
  expect(TokenKind::kLeftBrace);
  e->items = list_of(parse_expr_list(TokenKind::kRightBrace));
  return done(e, start);
}

// FOR ALL list AS x (condition)
Expr* Parser::parse_quantifier() {
  const Token& start = peek();
  advance();
  auto* e = make<ast::QuantifierExpr>(ExprKind::kQuantifier, start);
  e->quantifier = is(Kw::kALL) ? ast::Quantifier::kAll : ast::Quantifier::kAny;
  advance();
  ast::Expr* list = is(TokenKind::kLeftParen) ? parse_parenthesised() : parse_path();
  e->list = list;
  if (accept(Kw::kAS)) {
    e->name = expect_name("a correlation name");
  } else {
    ast::List<ast::PathStep> last = derived_name(list);
    e->name = last.empty() ? std::string_view{} : last[0].name;
  }
  expect(TokenKind::kLeftParen);
  e->condition = parse_expr();
  expect(TokenKind::kRightParen);
  return done(e, start);
}

Expr* Parser::parse_primary() {
  const Token& start = peek();
  if (is_panicking_) return placeholder(start);
  if (Expr* literal = parse_literal()) return literal;
  if (is(TokenKind::kLeftParen)) return parse_parenthesised();
  if (start.kind == TokenKind::kIdentifier) {
    switch (start.kw) {
      case Kw::kCASE:
        return parse_case();
      case Kw::kSELECT:
        if (!is_at(1, TokenKind::kDot)) return parse_select();
        break;
      case Kw::kROW:
        if (is_at(1, TokenKind::kLeftParen)) return parse_row();
        break;
      case Kw::kLIST:
        if (is_at(1, TokenKind::kLeftBrace)) return parse_list();
        break;
      case Kw::kFOR:
        if (is_at(1, Kw::kALL) || is_at(1, Kw::kANY) || is_at(1, Kw::kSOME)) {
          return parse_quantifier();
        }
        break;
      default:
        break;
    }
    if (Expr* call = parse_keyword_function()) return call;
  }
  if (is_name()) return parse_path_or_call();
  syntax_error("an expression");
  return placeholder(start);
}

}  // namespace millstream::esql
