// Statements over trees and databases (spec A3).
#include "esql/parser.h"

namespace millstream::esql {

using ast::Place;
using ast::Stmt;
using ast::StmtKind;

// FIRSTCHILD, LASTCHILD, PREVIOUSSIBLING, NEXTSIBLING
bool Parser::accept_place(Place& place) {
  switch (peek().kw) {
    case Kw::kFIRSTCHILD:
      place = Place::kFirstChild;
      break;
    case Kw::kLASTCHILD:
      place = Place::kLastChild;
      break;
    case Kw::kPREVIOUSSIBLING:
      place = Place::kPreviousSibling;
      break;
    case Kw::kNEXTSIBLING:
      place = Place::kNextSibling;
      break;
    default:
      return false;
  }
  advance();
  return true;
}

Stmt* Parser::parse_create() {
  const Token& start = peek();
  auto* s = make<ast::CreateStmt>(StmtKind::kCreate, start);
  advance();
  if (accept_place(s->place)) {
    expect(Kw::kOF);
  } else if (!accept(Kw::kFIELD)) {
    syntax_error("FIELD, FIRSTCHILD, LASTCHILD, PREVIOUSSIBLING or NEXTSIBLING");
  }
  s->target = parse_path();
  if (accept(Kw::kAS)) s->as = parse_path();
  const Token& domain = peek();
  if (accept(Kw::kDOMAIN)) {
    s->domain = parse_expr();
    if (s->place == Place::kField) {
      error_at(domain, "BIP4001", "DOMAIN is not allowed with CREATE FIELD");
    }
  }
  parse_create_clauses(s);
  if (!is_statement_end()) {
    syntax_error("AS, DOMAIN, REPEAT, TYPE, NAMESPACE, NAME, IDENTITY, VALUE, FROM, PARSE or ';'");
  }
  return s;
}

// REPEAT [VALUE e] | names [VALUE e | FROM path | PARSE(...)]
void Parser::parse_create_clauses(ast::CreateStmt* s) {
  const Token& first = peek();
  if (accept(Kw::kREPEAT)) {
    s->content = ast::CreateFrom::kRepeat;
    if (s->place != Place::kPreviousSibling && s->place != Place::kNextSibling) {
      error_at(first, "BIP4001", "REPEAT goes with PREVIOUSSIBLING and NEXTSIBLING only");
    }
    if (accept(Kw::kVALUE)) s->value = parse_expr();
    return;
  }
  if (accept(Kw::kIDENTITY)) {
    s->identity = arena_.make<ast::PathStep>(parse_step());
  } else {
    while (true) {
      if (accept(Kw::kTYPE)) {
        s->type = parse_expr();
      } else if (accept(Kw::kNAMESPACE)) {
        s->ns = parse_expr();
      } else if (accept(Kw::kNAME)) {
        s->name = parse_expr();
      } else {
        break;
      }
    }
  }
  const Token& content = peek();
  if (accept(Kw::kVALUE)) {
    s->content = ast::CreateFrom::kValue;
    s->value = parse_expr();
  } else if (accept(Kw::kFROM)) {
    s->content = ast::CreateFrom::kFrom;
    s->from = parse_path();
  } else if (accept(Kw::kPARSE)) {
    s->content = ast::CreateFrom::kParse;
    if (s->place == Place::kField) {
      error_at(content, "BIP4001", "PARSE is not allowed with CREATE FIELD");
    }
    expect(TokenKind::kLeftParen);
    s->value = parse_expr();
    parse_bitstream_options(s->parse);
  }
}

Stmt* Parser::parse_delete() {
  const Token& start = peek();
  advance();
  if (is(Kw::kFROM)) return parse_delete_from(start);
  auto* s = make<ast::DeleteStmt>(StmtKind::kDelete, start);
  if (accept_place(s->place)) {
    expect(Kw::kOF);
  } else if (!accept(Kw::kFIELD)) {
    syntax_error("FIELD, FIRSTCHILD, LASTCHILD, PREVIOUSSIBLING, NEXTSIBLING or FROM");
  }
  s->target = parse_path();
  return s;
}

Stmt* Parser::parse_detach() {
  auto* s = make<ast::DetachStmt>(StmtKind::kDetach, peek());
  advance();
  s->target = parse_path();
  return s;
}

Stmt* Parser::parse_attach() {
  auto* s = make<ast::AttachStmt>(StmtKind::kAttach, peek());
  advance();
  s->what = parse_path();
  expect(Kw::kTO);
  s->to = parse_path();
  expect(Kw::kAS);
  if (!accept_place(s->place)) {
    syntax_error("FIRSTCHILD, LASTCHILD, PREVIOUSSIBLING or NEXTSIBLING");
  }
  return s;
}

Stmt* Parser::parse_move() {
  auto* s = make<ast::MoveStmt>(StmtKind::kMove, peek());
  advance();
  s->reference = parse_path();
  if (accept(Kw::kTO)) {
    s->to = parse_path();
    return s;
  }
  if (accept(Kw::kPARENT)) {
    s->place = Place::kParent;
  } else if (!accept_place(s->place)) {
    syntax_error("TO, PARENT, FIRSTCHILD, LASTCHILD, PREVIOUSSIBLING or NEXTSIBLING");
  }
  parse_move_names(s);
  return s;
}

// [REPEAT [TYPE] [NAMESPACE] [NAME]] | [TYPE e] [NAMESPACE e | *] [NAME e] | IDENTITY element
void Parser::parse_move_names(ast::MoveStmt* s) {
  if (accept(Kw::kREPEAT)) {
    s->is_repeat_type = accept(Kw::kTYPE);
    s->is_repeat_namespace = accept(Kw::kNAMESPACE);
    s->is_repeat_name = accept(Kw::kNAME);
    if (!s->is_repeat_type && !s->is_repeat_namespace && !s->is_repeat_name) {
      s->is_repeat_type = s->is_repeat_namespace = s->is_repeat_name = true;
    }
    return;
  }
  if (accept(Kw::kIDENTITY)) {
    s->identity = arena_.make<ast::PathStep>(parse_step());
    return;
  }
  while (true) {
    if (accept(Kw::kTYPE)) {
      s->type = parse_expr();
    } else if (accept(Kw::kNAMESPACE)) {
      s->is_any_namespace = accept(TokenKind::kStar);
      if (!s->is_any_namespace) s->ns = parse_expr();
    } else if (accept(Kw::kNAME)) {
      s->name = parse_expr();
    } else {
      break;
    }
  }
}

// ---------------------------------------------------------------- databases

// INSERT INTO Database.table [(columns)] VALUES (e, ...)
Stmt* Parser::parse_insert() {
  auto* s = make<ast::InsertStmt>(StmtKind::kInsert, peek());
  advance();
  expect(Kw::kINTO);
  s->table = parse_path();
  if (accept(TokenKind::kLeftParen)) {
    std::vector<ast::ColumnName> columns;
    do {
      const bool is_quoted = is(TokenKind::kQuoted);
      columns.push_back({expect_name("a column name"), is_quoted});
    } while (accept(TokenKind::kComma));
    expect(TokenKind::kRightParen);
    s->columns = list_of(columns);
  }
  expect(Kw::kVALUES);
  if (accept(TokenKind::kLeftParen)) {
    s->values = list_of(parse_expr_list(TokenKind::kRightParen));
  } else {
    s->values = list_of(std::vector<ast::Expr*>{parse_expr()});
  }
  return s;
}

// UPDATE Database.table [AS a] SET c = e, ... [WHERE e]
Stmt* Parser::parse_update() {
  auto* s = make<ast::UpdateStmt>(StmtKind::kUpdate, peek());
  advance();
  s->table = parse_path();
  if (accept(Kw::kAS)) {
    s->correlation = expect_name("a correlation name");
  } else if (!s->table->steps.empty()) {
    s->correlation = s->table->steps.back().name;
  }
  expect(Kw::kSET);
  std::vector<ast::UpdateColumn> columns;
  do {
    ast::UpdateColumn c{};
    c.pos = pos_of(peek());
    c.is_quoted = is(TokenKind::kQuoted);
    c.name = expect_name("a column name");
    // T.column = e, with the correlation name
    if (accept(TokenKind::kDot)) {
      c.is_quoted = is(TokenKind::kQuoted);
      c.name = expect_name("a column name");
    }
    expect(TokenKind::kEqual);
    c.value = parse_expr();
    columns.push_back(c);
  } while (accept(TokenKind::kComma));
  s->columns = list_of(columns);
  if (accept(Kw::kWHERE)) s->where = parse_expr();
  return s;
}

// DELETE FROM Database.table [AS a] [WHERE e]; DELETE is consumed.
Stmt* Parser::parse_delete_from(const Token& start) {
  auto* s = make<ast::DeleteFromStmt>(StmtKind::kDeleteFrom, start);
  advance();
  s->table = parse_path();
  if (accept(Kw::kAS)) {
    s->correlation = expect_name("a correlation name");
  } else if (!s->table->steps.empty()) {
    s->correlation = s->table->steps.back().name;
  }
  if (accept(Kw::kWHERE)) s->where = parse_expr();
  return s;
}

// PASSTHRU(sql, v ...), PASSTHRU(sql TO d VALUES(...)) or PASSTHRU sql [TO d] [VALUES(...)]
Stmt* Parser::parse_passthru_statement() {
  const Token& start = peek();
  auto* s = make<ast::PassthruStmt>(StmtKind::kPassthru, start);
  if (is_at(1, TokenKind::kLeftParen)) {
    s->call = parse_passthru();
    if (s->call->values.empty() && !s->call->to) parse_passthru_tail(s->call);
    return s;
  }
  advance();
  s->call = make<ast::PassthruExpr>(ast::ExprKind::kPassthru, start);
  s->call->sql = parse_expr();
  parse_passthru_tail(s->call);
  done(s->call, start);
  return s;
}

}  // namespace millstream::esql
