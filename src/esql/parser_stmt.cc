// Statements of flow and messages (spec A3); parser_declare.cc has declarations.
#include "esql/parser.h"

namespace millstream::esql {

using ast::Expr;
using ast::Stmt;
using ast::StmtKind;

// ---------------------------------------------------------------- blocks

bool Parser::is_block_end(std::initializer_list<Kw> ends) const {
  if (is(TokenKind::kEnd) || is_item_boundary()) return true;
  Kw kw = peek().kw;
  if (kw == Kw::kNone) return false;
  TokenKind next = peek(1).kind;
  // `End.x`, `end(...)`: a word used as a name.
  if (next == TokenKind::kDot || (next == TokenKind::kLeftParen && kw == Kw::kEND)) return false;
  for (Kw end : ends) {
    if (kw == end) return true;
  }
  return is_block_word() && (kw == Kw::kEND || is_taken_by_open_block(kw));
}

// Statements up to one of `ends`, which is not consumed, or to what ends an enclosing block.
ast::Block Parser::parse_block(std::initializer_list<Kw> ends) {
  Nesting nesting(*this);
  std::vector<Stmt*> statements;
  std::vector<ast::HandlerStmt*> handlers;
  size_t errors_before = error_count_;
  while (!is_panicking_) {
    if (skip_orphan(error_count_ != errors_before)) continue;
    if (is_block_end(ends)) break;
    if (accept(TokenKind::kSemicolon)) continue;
    size_t start = position_;
    statement_at_ = start;
    Stmt* s = parse_statement();
    expect_statement_end();
    if (is_panicking_) {
      recover();
      if (position_ == start) advance();
      continue;
    }
    statements.push_back(s);
    if (s->kind == StmtKind::kHandler) handlers.push_back(static_cast<ast::HandlerStmt*>(s));
  }
  return {list_of(statements), list_of(handlers)};
}

void Parser::expect_end_label(std::string_view label) {
  if (!is_name() || missing_end_at_ == position_) return;
  const Token& t = peek();
  if (name_of(t) != label) {
    // A missing ';' is the likelier mistake.
    if (t.kw != Kw::kNone || is_statement_start()) return;
    error_at(t, "MS1608",
             label.empty() ? "the label " + describe(t) + " stands at the end only"
                           : "the label " + describe(t) + " does not match '" + std::string(label) +
                                 "' at the beginning");
    return;
  }
  advance();
}

// ---------------------------------------------------------------- dispatch

Stmt* Parser::parse_statement() {
  Nesting nesting(*this);
  const Token& start = peek();
  if (is_panicking_) return make<ast::ResignalStmt>(StmtKind::kResignal, start);
  Stmt* s = is_name() && is_at(1, TokenKind::kColon) ? parse_labelled() : parse_keyword_statement();
  return done(s, start);
}

Stmt* Parser::parse_labelled() {
  const Token& start = peek();
  std::string_view label = expect_name("a label");
  advance();
  switch (peek().kw) {
    case Kw::kBEGIN:
      return parse_begin(label, start);
    case Kw::kWHILE:
      return parse_while(label, start);
    case Kw::kREPEAT:
      return parse_repeat(label, start);
    case Kw::kLOOP:
      return parse_loop(label, start);
    case Kw::kFOR:
      return parse_for(label, start);
    default:
      syntax_error("BEGIN, WHILE, REPEAT, LOOP or FOR after the label");
      return make<ast::ResignalStmt>(StmtKind::kResignal, start);
  }
}

Stmt* Parser::parse_keyword_statement() {
  const Token& start = peek();
  // A word before '(' or '.' is the name of a routine, except for these.
  bool is_call = is_name() && (is_at(1, TokenKind::kLeftParen) || is_at(1, TokenKind::kDot)) &&
                 !is(Kw::kEVAL) && !is(Kw::kPASSTHRU) && !is(Kw::kIF) && !is(Kw::kWHILE) &&
                 !is(Kw::kRETURN);
  if (is_call) return parse_call_statement();
  switch (start.kw) {
    case Kw::kBEGIN:
      return parse_begin({}, start);
    case Kw::kDECLARE:
      return parse_declare();
    case Kw::kSET:
      return parse_set();
    case Kw::kIF:
      return parse_if();
    case Kw::kCASE:
      return parse_case_statement();
    case Kw::kWHILE:
      return parse_while({}, start);
    case Kw::kREPEAT:
      return parse_repeat({}, start);
    case Kw::kLOOP:
      return parse_loop({}, start);
    case Kw::kFOR:
      return parse_for({}, start);
    case Kw::kLEAVE:
      return parse_jump(StmtKind::kLeave);
    case Kw::kITERATE:
      return parse_jump(StmtKind::kIterate);
    case Kw::kCALL:
      return parse_call_statement();
    case Kw::kRETURN:
      return parse_return();
    case Kw::kTHROW:
      return parse_throw();
    case Kw::kRESIGNAL:
      advance();
      return make<ast::ResignalStmt>(StmtKind::kResignal, start);
    case Kw::kLOG:
      return parse_log();
    case Kw::kEVAL: {
      auto* s = make<ast::EvalStmt>(StmtKind::kEval, start);
      advance();
      expect(TokenKind::kLeftParen);
      s->text = parse_expr();
      expect(TokenKind::kRightParen);
      return s;
    }
    case Kw::kCOMMIT:
    case Kw::kROLLBACK:
      return parse_transaction();
    case Kw::kPROPAGATE:
      return parse_propagate();
    case Kw::kCREATE:
      return parse_create();
    case Kw::kDELETE:
      return parse_delete();
    case Kw::kDETACH:
      return parse_detach();
    case Kw::kATTACH:
      return parse_attach();
    case Kw::kMOVE:
      return parse_move();
    case Kw::kINSERT:
      return parse_insert();
    case Kw::kUPDATE:
      return parse_update();
    case Kw::kPASSTHRU:
      return parse_passthru_statement();
    default:
      syntax_error("a statement");
      return make<ast::ResignalStmt>(StmtKind::kResignal, start);
  }
}

// ---------------------------------------------------------------- SET, IF, CASE, loops

Stmt* Parser::parse_set() {
  const Token& start = peek();
  auto* s = make<ast::SetStmt>(StmtKind::kSet, start);
  advance();
  s->target = parse_path();
  switch (peek().kw) {
    case Kw::kTYPE:
      s->facet = ast::Facet::kType;
      break;
    case Kw::kNAMESPACE:
      s->facet = ast::Facet::kNamespace;
      break;
    case Kw::kNAME:
      s->facet = ast::Facet::kName;
      break;
    case Kw::kVALUE:
      s->facet = ast::Facet::kValue;
      break;
    default:
      break;
  }
  if (s->facet != ast::Facet::kWhole) advance();
  if (!accept(TokenKind::kEqual)) {
    syntax_error(s->facet == ast::Facet::kWhole ? "'=', TYPE, NAMESPACE, NAME or VALUE" : "'='");
  }
  s->value = parse_expr();
  return s;
}

Stmt* Parser::parse_if() {
  BlockScope scope(*this, Kw::kIF);
  const Token& start = peek();
  auto* s = make<ast::IfStmt>(StmtKind::kIf, start);
  std::vector<ast::IfBranch> branches;
  do {
    advance();  // IF or ELSEIF
    ast::IfBranch b{};
    b.condition = parse_expr();
    expect_head_end(Kw::kTHEN);
    b.body = parse_block({Kw::kELSEIF, Kw::kELSE, Kw::kEND});
    branches.push_back(b);
  } while (is(Kw::kELSEIF));
  if (accept(Kw::kELSE)) {
    open_.back().is_last_part = true;
    ast::IfBranch b{};
    b.body = parse_block({Kw::kEND});
    branches.push_back(b);
  }
  expect_end(Kw::kIF);
  s->branches = list_of(branches);
  return s;
}

Stmt* Parser::parse_case_statement() {
  BlockScope scope(*this, Kw::kCASE);
  const Token& start = peek();
  auto* s = make<ast::CaseStmt>(StmtKind::kCase, start);
  advance();
  if (!is(Kw::kWHEN)) s->operand = parse_expr();
  std::vector<ast::IfBranch> branches;
  if (!is(Kw::kWHEN)) syntax_error("WHEN");
  if (is_panicking_) {
    recover();
    if (!is(Kw::kWHEN)) is_panicking_ = true;
  }
  while (accept(Kw::kWHEN)) {
    ast::IfBranch b{};
    b.condition = parse_expr();
    expect_head_end(Kw::kTHEN);
    b.body = parse_block({Kw::kWHEN, Kw::kELSE, Kw::kEND});
    branches.push_back(b);
  }
  if (accept(Kw::kELSE)) {
    open_.back().is_last_part = true;
    ast::IfBranch b{};
    b.body = parse_block({Kw::kEND});
    branches.push_back(b);
  }
  expect_end(Kw::kCASE);
  s->branches = list_of(branches);
  return s;
}

Stmt* Parser::parse_while(std::string_view label, const Token& start) {
  BlockScope scope(*this, Kw::kWHILE);
  auto* s = make<ast::WhileStmt>(StmtKind::kWhile, start);
  s->label = label;
  advance();
  s->condition = parse_expr();
  expect_head_end(Kw::kDO);
  s->body = parse_block({Kw::kEND});
  expect_end(Kw::kWHILE);
  expect_end_label(label);
  return s;
}

Stmt* Parser::parse_repeat(std::string_view label, const Token& start) {
  BlockScope scope(*this, Kw::kREPEAT);
  auto* s = make<ast::WhileStmt>(StmtKind::kRepeat, start);
  s->label = label;
  advance();
  s->body = parse_block({Kw::kUNTIL});
  if (!is(Kw::kUNTIL) && is(Kw::kEND)) {
    report(pos_of(peek()), "expected UNTIL, found " + describe(peek()));
  } else {
    expect(Kw::kUNTIL);
    s->condition = parse_expr();
    if (is_panicking_) recover();
  }
  expect_end(Kw::kREPEAT);
  expect_end_label(label);
  return s;
}

Stmt* Parser::parse_loop(std::string_view label, const Token& start) {
  BlockScope scope(*this, Kw::kLOOP);
  auto* s = make<ast::WhileStmt>(StmtKind::kLoop, start);
  s->label = label;
  advance();
  s->body = parse_block({Kw::kEND});
  expect_end(Kw::kLOOP);
  expect_end_label(label);
  return s;
}

Stmt* Parser::parse_for(std::string_view label, const Token& start) {
  BlockScope scope(*this, Kw::kFOR);
  auto* s = make<ast::ForStmt>(StmtKind::kFor, start);
  s->label = label;
  advance();
  s->name = expect_name("a correlation name");
  expect(Kw::kAS);
  s->list = is_name() && !is(Kw::kSELECT) && !is(Kw::kLIST) && !is(Kw::kPASSTHRU) ? parse_path()
                                                                                  : parse_expr();
  expect_head_end(Kw::kDO);
  s->body = parse_block({Kw::kEND});
  expect_end(Kw::kFOR);
  expect_end_label(label);
  return s;
}

Stmt* Parser::parse_jump(StmtKind kind) {
  auto* s = make<ast::JumpStmt>(kind, peek());
  advance();
  s->label = expect_name("a label");
  return s;
}

// ---------------------------------------------------------------- CALL, RETURN, messages

// [CALL] [schema.]name(args) [IN ref | EXTERNAL SCHEMA e] [INTO target]
Stmt* Parser::parse_call_statement() {
  const Token& start = peek();
  auto* s = make<ast::CallStmt>(StmtKind::kCall, start);
  bool is_explicit = is(Kw::kCALL) && is_name_at(1);
  if (is_explicit) advance();
  if (is(Kw::kPASSTHRU)) return parse_passthru_statement();
  const Token& at = peek();
  std::string schema;
  std::string_view name = expect_name("the name of a routine");
  while (accept(TokenKind::kDot)) {
    if (!schema.empty()) schema += '.';
    schema += name;
    name = expect_name("the name of a routine");
  }
  if (!is(TokenKind::kLeftParen)) {
    syntax_error(is_explicit ? "'('" : "a statement ('(' after the name of a routine)");
  }
  s->call = parse_call(schema.empty() ? std::string_view{} : intern(std::move(schema)), name, at);
  if (accept(Kw::kIN)) {
    s->call->in_reference = parse_path();
  } else if (is(Kw::kEXTERNAL)) {
    advance();
    expect(Kw::kSCHEMA);
    s->call->external_schema = parse_expr();
  }
  if (accept(Kw::kINTO)) s->into = parse_path();
  return s;
}

Stmt* Parser::parse_return() {
  auto* s = make<ast::ReturnStmt>(StmtKind::kReturn, peek());
  advance();
  if (!is_value_absent()) s->value = parse_expr();
  return s;
}

// [SEVERITY e] [CATALOG e] [MESSAGE e] [VALUES(e, ...)]
void Parser::parse_message_clauses(ast::ThrowStmt* s) {
  while (true) {
    if (accept(Kw::kSEVERITY)) {
      s->severity = parse_expr();
    } else if (accept(Kw::kCATALOG)) {
      s->catalog = parse_expr();
    } else if (accept(Kw::kMESSAGE)) {
      s->message = parse_expr();
    } else if (accept(Kw::kVALUES)) {
      expect(TokenKind::kLeftParen);
      s->values = list_of(parse_expr_list(TokenKind::kRightParen));
    } else {
      break;
    }
  }
  if (!is_statement_end()) {
    syntax_error("SEVERITY, CATALOG, MESSAGE, VALUES or ';'");
  }
}

Stmt* Parser::parse_throw() {
  auto* s = make<ast::ThrowStmt>(StmtKind::kThrow, peek());
  advance();
  s->is_user = accept(Kw::kUSER);
  expect(Kw::kEXCEPTION);
  parse_message_clauses(s);
  return s;
}

Stmt* Parser::parse_log() {
  auto* s = make<ast::ThrowStmt>(StmtKind::kLog, peek());
  advance();
  if (accept(Kw::kEVENT)) {
    s->is_event = true;
  } else if (accept(Kw::kUSER)) {
    expect(Kw::kTRACE);
  } else {
    syntax_error("EVENT or USER TRACE");
  }
  s->is_full = accept(Kw::kFULL);
  s->has_exception = accept(Kw::kEXCEPTION);
  if (s->is_full && !s->has_exception) syntax_error("EXCEPTION after FULL");
  parse_message_clauses(s);
  return s;
}

Stmt* Parser::parse_transaction() {
  auto* s = make<ast::TransactionStmt>(StmtKind::kTransaction, peek());
  s->is_rollback = is(Kw::kROLLBACK);
  advance();
  if (!is_value_absent()) s->database = parse_path();
  return s;
}

Stmt* Parser::parse_propagate() {
  auto* s = make<ast::PropagateStmt>(StmtKind::kPropagate, peek());
  advance();
  if (accept(Kw::kTO)) {
    if (accept(Kw::kTERMINAL)) {
      s->to = ast::PropagateTo::kTerminal;
    } else if (accept(Kw::kLABEL)) {
      s->to = ast::PropagateTo::kLabel;
    } else {
      syntax_error("TERMINAL or LABEL");
    }
    s->destination = parse_expr();
  }
  auto is_none = [&] {
    advance();
    bool none = accept(Kw::kNONE);
    if (!none && !accept(Kw::kDEFAULT)) syntax_error("DEFAULT or NONE");
    return none;
  };
  while (true) {
    if (accept(Kw::kENVIRONMENT)) {
      s->environment = parse_path();
    } else if (accept(Kw::kMESSAGE)) {
      s->message = parse_path();
    } else if (accept(Kw::kEXCEPTION)) {
      s->exception = parse_path();
    } else if (is(Kw::kFINALIZE)) {
      s->is_finalize_none = is_none();
    } else if (is(Kw::kDELETE)) {
      s->is_delete_none = is_none();
    } else {
      break;
    }
  }
  if (!is_statement_end()) {
    syntax_error("TO, ENVIRONMENT, MESSAGE, EXCEPTION, FINALIZE, DELETE or ';'");
  }
  return s;
}

}  // namespace millstream::esql
