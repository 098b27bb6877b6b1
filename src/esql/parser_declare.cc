// Statements that declare or open a scope: BEGIN, DECLARE, handlers (spec A3).
#include "esql/parser.h"

namespace millstream::esql {

using ast::Stmt;
using ast::StmtKind;

// READ ONLY or READ WRITE after ATOMIC: the lock is exclusive for both.
void Parser::parse_atomic_access() {
  if (!is(Kw::kREAD) || !(is_at(1, Kw::kONLY) || is_at(1, Kw::kWRITE))) return;
  advance();
  advance();
}

Stmt* Parser::parse_begin(std::string_view label, const Token& start) {
  BlockScope scope(*this, Kw::kBEGIN);
  auto* s = make<ast::BlockStmt>(StmtKind::kBlock, start);
  s->label = label;
  expect(Kw::kBEGIN);
  if (is(Kw::kNOT) && is_at(1, Kw::kATOMIC)) {
    advance();
    advance();
  } else if (is(Kw::kATOMIC) && !is_at(1, TokenKind::kColon) && !is_at(1, TokenKind::kLeftParen)) {
    advance();
    s->is_atomic = true;
    parse_atomic_access();
  }
  s->body = parse_block({Kw::kEND});
  expect_end(Kw::kBEGIN);
  expect_end_label(label);
  return s;
}

bool Parser::is_type_at(size_t ahead) const {
  switch (peek(ahead).kw) {
    case Kw::kBOOLEAN:
    case Kw::kINT:
    case Kw::kINTEGER:
    case Kw::kFLOAT:
    case Kw::kDECIMAL:
    case Kw::kCHAR:
    case Kw::kCHARACTER:
    case Kw::kBLOB:
    case Kw::kBIT:
    case Kw::kDATE:
    case Kw::kTIME:
    case Kw::kGMTTIME:
    case Kw::kTIMESTAMP:
    case Kw::kGMTTIMESTAMP:
    case Kw::kINTERVAL:
    case Kw::kROW:
    case Kw::kREFERENCE:
    case Kw::kNAMESPACE:
    case Kw::kNAME:
      return true;
    default:
      return false;
  }
}

ast::DataType Parser::parse_type(bool is_parameter) {
  ast::DataType t;
  if (accept(Kw::kROW)) {
    t.kind = ast::TypeKind::kRow;
  } else if (accept(Kw::kREFERENCE)) {
    t.kind = ast::TypeKind::kReference;
    if (is_parameter) {
      if (accept(Kw::kTO)) parse_path();
    } else {
      expect(Kw::kTO);
      t.reference_to = parse_path();
    }
  } else if (accept(Kw::kNAMESPACE)) {
    t.kind = ast::TypeKind::kNamespace;
  } else if (accept(Kw::kNAME)) {
    t.kind = ast::TypeKind::kName;
  } else {
    t.scalar = parse_scalar_type(false);
  }
  return t;
}

void Parser::parse_variable_kind(ast::Variable& v) {
  while (true) {
    // A modifier is one only when a type or another modifier follows.
    if (is(Kw::kSHARED)) {
      v.storage = ast::Storage::kShared;
    } else if (is(Kw::kEXTERNAL)) {
      v.storage = ast::Storage::kExternal;
      v.is_constant = true;
    } else if (is(Kw::kCONSTANT)) {
      v.is_constant = true;
    } else {
      break;
    }
    advance();
  }
}

// DECLARE a, b [SHARED | EXTERNAL] [CONSTANT] type [initial]
bool Parser::parse_declaration(std::vector<ast::Variable*>& out) {
  struct Named {
    const Token* token;
    std::string_view name;
  };
  std::vector<Named> names;
  do {
    const Token* t = &peek();
    names.push_back({t, expect_name("the name of a variable")});
  } while (accept(TokenKind::kComma));
  ast::Variable v{};
  parse_variable_kind(v);
  v.type = parse_type(false);
  using ast::TypeKind;
  if (v.type.kind == TypeKind::kNamespace || v.type.kind == TypeKind::kName) v.is_constant = true;
  if (!is_value_absent()) {
    if (v.type.kind == TypeKind::kReference) {
      syntax_error("';' (a REFERENCE is initialised by TO)");
    } else {
      v.initial = parse_expr();
    }
  }
  for (const Named& n : names) {
    auto* copy = arena_.make<ast::Variable>(v);
    copy->name = n.name;
    copy->pos = pos_of(*n.token);
    out.push_back(copy);
  }
  return !is_panicking_;
}

Stmt* Parser::parse_declare() {
  const Token& start = peek();
  advance();
  if ((is(Kw::kCONTINUE) || is(Kw::kEXIT)) && is_at(1, Kw::kHANDLER)) return parse_handler(start);
  auto* s = make<ast::DeclareStmt>(StmtKind::kDeclare, start);
  std::vector<ast::Variable*> variables;
  parse_declaration(variables);
  s->variables = list_of(variables);
  return s;
}

// DECLARE {CONTINUE | EXIT} HANDLER FOR SQLSTATE ..., SQLSTATE ... statement
Stmt* Parser::parse_handler(const Token& start) {
  auto* s = make<ast::HandlerStmt>(StmtKind::kHandler, start);
  s->is_exit = is(Kw::kEXIT);
  advance();
  advance();
  expect(Kw::kFOR);
  std::vector<ast::SqlStatePattern> patterns;
  do {
    ast::SqlStatePattern p;
    expect(Kw::kSQLSTATE);
    if (accept(Kw::kLIKE)) {
      p.is_like = true;
      p.text = expect_string("a pattern in quotes");
      if (accept(Kw::kESCAPE)) {
        p.escape = expect_string("an escape character in quotes");
        p.has_escape = true;
      }
    } else {
      accept(Kw::kVALUE);
      p.text = expect_string("VALUE or LIKE and an SQL state in quotes");
    }
    patterns.push_back(p);
  } while (accept(TokenKind::kComma));
  s->patterns = list_of(patterns);
  s->action = parse_statement();
  return s;
}

}  // namespace millstream::esql
