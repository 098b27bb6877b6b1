#include "esql/literals.h"
#include "esql/parser.h"
#include "value/datetime.h"
#include "value/decimal.h"

namespace millstream::esql {

using ast::ExprKind;
using ast::LiteralExpr;
using value::Kind;
using value::Value;

Value Parser::number_value(const Token& t) {
  Value v;
  bool ok = false;
  std::string_view text = token_text(t);
  if (t.kind == TokenKind::kHexInteger) {
    ok = parse_hex_literal(text, v);
    if (!ok) error_at(t, "MS1600", "a hexadecimal number has at most 16 digits");
  } else {
    ok = t.kind == TokenKind::kInteger ? parse_integer_literal(text, arena_, v)
                                       : parse_real_literal(text, arena_, v);
    if (!ok) error_at(t, "MS1600", "the number " + describe(t) + " is out of range");
  }
  return v;
}

Value Parser::bytes_value(const Token& t) {
  std::string_view text = token_text(t);
  if (text.size() < 3) return Value::make_blob({});  // a lexical error, already reported
  std::string_view body = text.substr(2, text.size() - 3);
  return t.kind == TokenKind::kBlob ? blob_of_hex(body, arena_) : bits_of_digits(body, arena_);
}

// YEAR TO MONTH and the like. A TO that no second field follows is left alone.
bool Parser::accept_qualifier(value::IntervalQualifier& q) {
  switch (peek().kw) {
    case Kw::kYEAR:
    case Kw::kMONTH:
    case Kw::kDAY:
    case Kw::kHOUR:
    case Kw::kMINUTE:
    case Kw::kSECOND:
      break;
    default:
      return false;
  }
  std::string words(keyword_name(peek().kw));
  if (is_at(1, Kw::kTO)) {
    std::string span = words + " TO " + std::string(keyword_name(peek(2).kw));
    if (auto found = value::parse_qualifier(span)) {
      q = *found;
      advance();
      advance();
      advance();
      return true;
    }
  }
  q = *value::parse_qualifier(words);
  advance();
  return true;
}

// DATE '...', DECIMAL '...', INTERVAL '...' DAY: the keyword makes a literal only before a string.
ast::Expr* Parser::parse_typed_literal() {
  if (!is_at(1, TokenKind::kString)) return nullptr;
  const Token& start = peek();
  Kind kind;
  switch (start.kw) {
    case Kw::kDATE:
      kind = Kind::kDate;
      break;
    case Kw::kTIME:
      kind = Kind::kTime;
      break;
    case Kw::kGMTTIME:
      kind = Kind::kGmtTime;
      break;
    case Kw::kTIMESTAMP:
      kind = Kind::kTimestamp;
      break;
    case Kw::kGMTTIMESTAMP:
      kind = Kind::kGmtTimestamp;
      break;
    case Kw::kINTERVAL:
      kind = Kind::kInterval;
      break;
    case Kw::kDECIMAL:
      kind = Kind::kDecimal;
      break;
    default:
      return nullptr;
  }
  auto* e = make<LiteralExpr>(ExprKind::kLiteral, start);
  advance();
  const Token& text_token = peek();
  std::string_view body = expect_string("a character literal");
  if (kind == Kind::kDecimal) {
    value::Decimal d;
    if (value::Decimal::parse(body, d)) {
      e->value = Value::make_decimal(d, arena_);
    } else {
      error_at(text_token, "MS1600", describe(text_token) + " is not the text of a DECIMAL");
    }
    return done(e, start);
  }
  Status status;
  std::string type(value::kind_name(kind));
  if (kind == Kind::kInterval) {
    value::IntervalQualifier q{};
    if (!accept_qualifier(q)) syntax_error("an interval qualifier such as DAY or HOUR TO MINUTE");
    if (is_panicking_) return e;
    status = value::parse_interval_body(body, q, e->value);
    type += " " + std::string(value::qualifier_name(q));
  } else {
    status = value::parse_literal_body(kind, body, e->value);
  }
  if (!status.ok()) {
    error_at(text_token, "MS1600", describe(text_token) + " is not the text of a " + type);
  }
  return done(e, start);
}

ast::Expr* Parser::parse_literal() {
  const Token& t = peek();
  Value v;
  switch (t.kind) {
    case TokenKind::kString:
      v = Value::make_character(string_of(t));
      break;
    case TokenKind::kBlob:
    case TokenKind::kBit:
      v = bytes_value(t);
      break;
    case TokenKind::kInteger:
    case TokenKind::kHexInteger:
    case TokenKind::kReal:
      v = number_value(t);
      break;
    case TokenKind::kIdentifier: {
      // TRUE and the others are not reserved: `True.x` or `Null[1]` is a path, `Unknown(...)` a
      // call.
      TokenKind next = peek(1).kind;
      bool is_word = next != TokenKind::kDot && next != TokenKind::kLeftBracket &&
                     next != TokenKind::kLeftParen;
      if (t.kw == Kw::kTRUE && is_word) {
        v = Value::make_boolean(true);
      } else if (t.kw == Kw::kFALSE && is_word) {
        v = Value::make_boolean(false);
      } else if ((t.kw != Kw::kNULL && t.kw != Kw::kUNKNOWN) || !is_word) {
        return parse_typed_literal();
      }
      break;
    }
    default:
      return nullptr;
  }
  auto* e = make<LiteralExpr>(ExprKind::kLiteral, t);
  e->value = v;
  advance();
  return done(e, t);
}

}  // namespace millstream::esql
