#include "esql/parser.h"

#include "esql/literals.h"

namespace millstream::esql {

using ast::SourcePos;

Parser::Parser(std::string_view text, uint32_t file_index, base::Arena& arena, ParserLimits limits)
    : text_(text), file_index_(file_index), arena_(arena), limits_(limits) {
  TokenList list = tokenize(text);
  tokens_ = std::move(list.tokens);
  for (LexError& e : list.errors) {
    ++error_count_;
    messages_.push_back({{file_index_, e.line, e.column}, false, "BIP4001", std::move(e.text)});
  }
}

// ---------------------------------------------------------------- tokens

bool Parser::accept(TokenKind kind) {
  if (!is(kind)) return false;
  advance();
  return true;
}

bool Parser::accept(Kw kw) {
  if (!is(kw)) return false;
  advance();
  return true;
}

void Parser::expect(TokenKind kind) {
  if (accept(kind)) return;
  syntax_error("'" + std::string(describe_kind(kind)) + "'");
}

void Parser::expect(Kw kw) {
  if (accept(kw)) return;
  syntax_error(keyword_name(kw));
}

std::string_view Parser::token_text(const Token& t) const {
  return text_.substr(t.begin, t.end - t.begin);
}

std::string_view Parser::name_of(const Token& t) {
  return t.kind == TokenKind::kQuoted ? string_of(t) : token_text(t);
}

std::string_view Parser::string_of(const Token& t) {
  std::string_view whole = token_text(t);
  if (whole.size() < 2) return {};
  if (!has_doubled_quote(whole)) return whole.substr(1, whole.size() - 2);
  return intern(undouble_quotes(whole));
}

bool Parser::is_name_at(size_t ahead) const {
  const Token& t = peek(ahead);
  if (t.kind == TokenKind::kQuoted) return true;
  // ITEM is reserved on paper, but real programs name variables so; nothing is ambiguous about it.
  return t.kind == TokenKind::kIdentifier && (!is_reserved(t.kw) || t.kw == Kw::kITEM);
}

bool Parser::is_name() const { return is_name_at(0); }

std::string_view Parser::expect_name(std::string_view what) {
  if (!is_name()) {
    const Token& t = peek();
    if (t.kind == TokenKind::kIdentifier && !is_panicking_) {
      error_at(t, "BIP4001",
               "expected " + std::string(what) + ", but " + describe(t) +
                   " is a reserved word; write it in double quotes to use it as a name");
    } else {
      syntax_error(what);
    }
    return "?";
  }
  std::string_view name = name_of(peek());
  advance();
  return name;
}

std::string_view Parser::expect_string(std::string_view what) {
  if (!is(TokenKind::kString)) {
    syntax_error(what);
    return {};
  }
  std::string_view s = string_of(peek());
  advance();
  return s;
}

// ---------------------------------------------------------------- errors

std::string Parser::describe(const Token& t) const {
  if (t.kind == TokenKind::kEnd) return "the end of the text";
  std::string_view text = token_text(t);
  constexpr size_t kShown = 40;
  if (text.size() <= kShown) return "'" + std::string(text) + "'";
  size_t cut = kShown;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return "'" + std::string(text.substr(0, cut)) + "...'";
}

void Parser::syntax_error(std::string_view expected) {
  if (is_panicking_) return;
  const Token& t = peek();
  error_at(t, "BIP4001", "expected " + std::string(expected) + ", found " + describe(t));
}

void Parser::error_at(const Token& t, std::string_view code, std::string text) {
  if (is_panicking_) return;
  ++error_count_;
  messages_.push_back({pos_of(t), false, code, std::move(text)});
  is_panicking_ = true;
}

void Parser::enter() {
  if (++depth_ <= limits_.depth_max || is_panicking_) return;
  error_at(peek(), "MS1601",
           "this is nested deeper than " + std::to_string(limits_.depth_max) + " levels");
}

void Parser::count_operator() {
  if (++operator_count_ <= limits_.operators_max || is_panicking_) return;
  error_at(peek(), "MS1601",
           "one expression has more than " + std::to_string(limits_.operators_max) + " operators");
}

// ---------------------------------------------------------------- nodes

ast::Expr* Parser::placeholder(const Token& start) {
  return make<ast::LiteralExpr>(ast::ExprKind::kLiteral, start);
}

ast::Expr* Parser::make_integer(int64_t i, const Token& start) {
  auto* e = make<ast::LiteralExpr>(ast::ExprKind::kLiteral, start);
  e->value = value::Value::make_integer(i);
  return e;
}

// ---------------------------------------------------------------- EVAL

ast::Block Parser::parse_eval_statements() {
  std::vector<ast::Stmt*> statements;
  std::vector<ast::HandlerStmt*> handlers;
  while (!is(TokenKind::kEnd) && !is_panicking_) {
    if (accept(TokenKind::kSemicolon)) continue;
    ast::Stmt* s = parse_statement();
    statements.push_back(s);
    if (s->kind == ast::StmtKind::kHandler) handlers.push_back(static_cast<ast::HandlerStmt*>(s));
    if (!is(TokenKind::kEnd)) expect(TokenKind::kSemicolon);
  }
  return {list_of(statements), list_of(handlers)};
}

ast::Expr* Parser::parse_eval_expression() {
  ast::Expr* e = parse_expr();
  accept(TokenKind::kSemicolon);
  if (!is(TokenKind::kEnd)) syntax_error("the end of the expression");
  return e;
}

}  // namespace millstream::esql
