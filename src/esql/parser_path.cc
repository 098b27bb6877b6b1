// Field references (spec A6) and SELECT (A7).
#include "esql/parser.h"

namespace millstream::esql {

using ast::Expr;
using ast::ExprKind;
using ast::IndexKind;
using ast::NameKind;
using ast::NamespaceKind;
using ast::PathExpr;
using ast::PathStep;

// [], [n], [<], [<n], [>], [>n] if one stands here.
void Parser::parse_step_index(IndexKind& kind, Expr*& index) {
  if (!accept(TokenKind::kLeftBracket)) return;
  if (accept(TokenKind::kRightBracket)) {
    kind = IndexKind::kList;
    return;
  }
  if (is(TokenKind::kLess) || is(TokenKind::kGreater)) {
    bool is_last = is(TokenKind::kLess);
    advance();
    kind = is_last ? IndexKind::kLast : IndexKind::kFirst;
    if (accept(TokenKind::kRightBracket)) return;
    kind = is_last ? IndexKind::kFromLast : IndexKind::kFromFirst;
  } else {
    kind = IndexKind::kNumber;
  }
  index = parse_expr();
  expect(TokenKind::kRightBracket);
}

// [(Type)] [ns: | {e}: | *: | :] [name | {e} | *] [index]
PathStep Parser::parse_step() {
  PathStep s;
  const Token& start = peek();
  s.pos = pos_of(start);
  if (accept(TokenKind::kLeftParen)) {
    s.type = parse_expr();
    expect(TokenKind::kRightParen);
  }
  // What stands before a possible ':'.
  auto name_part = [&] {
    if (accept(TokenKind::kStar)) {
      s.name_kind = NameKind::kAny;
    } else if (accept(TokenKind::kLeftBrace)) {
      s.name_kind = NameKind::kExpr;
      s.name_expr = parse_expr();
      expect(TokenKind::kRightBrace);
    } else if (is_name() || (is(TokenKind::kIdentifier) && !s.type)) {
      // After a dot even a reserved word can only be a name (a.Case, JSON.Data.Item).
      s.is_quoted = is(TokenKind::kQuoted);
      s.name_kind = NameKind::kLiteral;
      s.name = name_of(peek());
      advance();
    }
  };
  if (!is(TokenKind::kColon)) name_part();
  if (is(TokenKind::kColon)) {
    advance();
    switch (s.name_kind) {
      case NameKind::kAbsent:
        s.ns_kind = NamespaceKind::kEmpty;
        break;
      case NameKind::kAny:
        s.ns_kind = NamespaceKind::kAny;
        break;
      case NameKind::kExpr:
        s.ns_kind = NamespaceKind::kExpr;
        s.ns_expr = s.name_expr;
        break;
      case NameKind::kLiteral:
        s.ns_kind = NamespaceKind::kLiteral;
        s.prefix = s.name;
        break;
    }
    s.name_kind = NameKind::kAbsent;
    s.name = {};
    s.name_expr = nullptr;
    s.is_quoted = false;
    name_part();
    if (s.name_kind == NameKind::kAbsent) syntax_error("a name after ':'");
  }
  if (s.name_kind == NameKind::kAbsent && !s.type && !is(TokenKind::kLeftBracket)) {
    syntax_error("a field name");
  }
  parse_step_index(s.index_kind, s.index);
  return s;
}

PathExpr* Parser::parse_path() {
  Nesting nesting(*this);
  const Token& start = peek();
  auto* e = make<PathExpr>(ExprKind::kPath, start);
  e->is_quoted = is(TokenKind::kQuoted);
  e->name = expect_name("a field reference or variable");
  parse_step_index(e->root_index, e->root_index_expr);
  std::vector<PathStep> steps;
  while (accept(TokenKind::kDot)) steps.push_back(parse_step());
  e->steps = list_of(steps);
  return done(e, start);
}

// a.b.c, or a call name(...) or schema.name(...).
Expr* Parser::parse_path_or_call() {
  const Token& start = peek();
  size_t i = 1;
  while (is_at(i, TokenKind::kDot) && is_name_at(i + 1)) i += 2;
  if (!is_at(i, TokenKind::kLeftParen)) return parse_path();
  std::string schema;
  std::string_view name = expect_name("a name");
  while (accept(TokenKind::kDot)) {
    if (!schema.empty()) schema += '.';
    schema += name;
    name = expect_name("a name");
  }
  return parse_call(schema.empty() ? std::string_view{} : intern(std::move(schema)), name, start);
}

// The path after AS, or the path element after IDENTITY: steps without a root.
ast::List<PathStep> Parser::parse_relative_path() {
  std::vector<PathStep> steps;
  do {
    steps.push_back(parse_step());
  } while (accept(TokenKind::kDot));
  return list_of(steps);
}

// The name a column or row field takes when it has no AS.
ast::List<PathStep> Parser::derived_name(const Expr* e) {
  if (e->kind != ExprKind::kPath) return {};
  const auto* path = ast::as<PathExpr>(e);
  PathStep step;
  step.pos = path->pos;
  if (path->steps.empty()) {
    step.name_kind = NameKind::kLiteral;
    step.name = path->name;
  } else {
    step = path->steps.back();
    if (step.name_kind != NameKind::kLiteral && step.name_kind != NameKind::kExpr) return {};
    if (step.ns_kind == NamespaceKind::kAny) step.ns_kind = NamespaceKind::kNone;
    step.type = nullptr;
    step.index_kind = IndexKind::kNone;
    step.index = nullptr;
  }
  return list_of(std::vector<PathStep>{step});
}

// ---------------------------------------------------------------- SELECT

// COUNT(*), COUNT(e), MAX(e), MIN(e), SUM(e)
bool Parser::parse_column_function(ast::SelectExpr* select) {
  if (!is_at(1, TokenKind::kLeftParen)) return false;
  using ast::SelectKind;
  switch (peek().kw) {
    case Kw::kCOUNT:
      select->select = SelectKind::kCount;
      break;
    case Kw::kMAX:
      select->select = SelectKind::kMax;
      break;
    case Kw::kMIN:
      select->select = SelectKind::kMin;
      break;
    case Kw::kSUM:
      select->select = SelectKind::kSum;
      break;
    default:
      return false;
  }
  advance();
  advance();
  if (select->select == SelectKind::kCount && accept(TokenKind::kStar)) {
    select->select = SelectKind::kCountStar;
  } else {
    select->item = parse_expr();
  }
  expect(TokenKind::kRightParen);
  if (accept(Kw::kAS)) parse_relative_path();  // a scalar has no name
  if (is(TokenKind::kComma)) {
    syntax_error("FROM (COUNT, MAX, MIN and SUM stand alone in a SELECT)");
  }
  return true;
}

void Parser::parse_select_clause(ast::SelectExpr* select) {
  // `SELECT Item.a` is a column of a correlation name that is spelled like the keyword.
  bool has_item = is(Kw::kITEM) && !is_at(1, TokenKind::kDot) && !is_at(1, Kw::kFROM) &&
                  !is_at(1, Kw::kAS) && !is_at(1, TokenKind::kComma);
  if (has_item) advance();
  if (parse_column_function(select)) return;
  if (has_item) {
    select->select = ast::SelectKind::kItem;
    select->item = parse_expr();
    return;
  }
  std::vector<ast::SelectColumn> columns;
  do {
    ast::SelectColumn c;
    c.pos = pos_of(peek());
    if (accept(TokenKind::kStar)) {
      columns.push_back(c);
      continue;
    }
    c.value = parse_expr();
    if (accept(Kw::kAS)) {
      c.as = parse_relative_path();
    } else {
      c.as = derived_name(c.value);
      if (c.value->kind == ExprKind::kPath) {  // A.*
        auto* path = static_cast<PathExpr*>(c.value);
        size_t n = path->steps.size();
        if (n > 0 && path->steps[n - 1].name_kind == NameKind::kAny &&
            path->steps[n - 1].ns_kind == NamespaceKind::kNone && !path->steps[n - 1].type &&
            path->steps[n - 1].index_kind == IndexKind::kNone) {
          c.is_all_of = true;
          path->steps = path->steps.first(n - 1);
        }
      }
    }
    columns.push_back(c);
  } while (accept(TokenKind::kComma));
  select->columns = list_of(columns);
}

ast::FromItem Parser::parse_from_item() {
  ast::FromItem item{};
  const Token& start = peek();
  if (is(TokenKind::kLeftParen)) {
    item.source = parse_parenthesised();
    item.is_list = true;
  } else {
    Expr* source = parse_primary();
    item.source = source;
    if (source->kind == ExprKind::kPath) {
      const auto* path = ast::as<PathExpr>(source);
      item.is_database = !path->is_quoted && find_keyword(path->name) == Kw::kDATABASE;
      IndexKind last = path->steps.empty() ? path->root_index : path->steps.back().index_kind;
      item.is_list = item.is_database || last == IndexKind::kList;
    } else if (source->kind == ExprKind::kLiteral) {
      error_at(start, "BIP4001", "expected a field reference after FROM");
    } else {
      item.is_list = source->kind != ExprKind::kThe && source->kind != ExprKind::kRow;
    }
  }
  if (accept(Kw::kAS)) {
    item.name = expect_name("a correlation name");
  } else {
    ast::List<PathStep> last = derived_name(item.source);
    if (!last.empty() && last[0].name_kind == NameKind::kLiteral) item.name = last[0].name;
  }
  return item;
}

void Parser::parse_from(ast::SelectExpr* select) {
  expect(Kw::kFROM);
  std::vector<ast::FromItem> items;
  do {
    items.push_back(parse_from_item());
    select->is_list = select->is_list || items.back().is_list;
  } while (accept(TokenKind::kComma));
  select->from = list_of(items);
}

ast::SelectExpr* Parser::parse_select() {
  Nesting nesting(*this);
  const Token& start = peek();
  auto* e = make<ast::SelectExpr>(ExprKind::kSelect, start);
  expect(Kw::kSELECT);
  if (is(Kw::kDISTINCT) || is(Kw::kALL)) {
    syntax_error("a select clause (DISTINCT and ALL are not supported, use PASSTHRU)");
  }
  parse_select_clause(e);
  parse_from(e);
  if (accept(Kw::kWHERE)) e->where = parse_expr();
  bool is_column_function =
      e->select != ast::SelectKind::kColumns && e->select != ast::SelectKind::kItem;
  if (is_column_function) e->is_list = false;
  return done(e, start);
}

}  // namespace millstream::esql
