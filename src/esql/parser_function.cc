// Functions whose arguments are separated by keywords; they become positional (esql/builtin.h).
#include "base/flags.h"
#include "esql/builtin.h"
#include "esql/parser.h"
#include "value/decimal.h"

namespace millstream::esql {

using ast::Expr;
using ast::ExprKind;

namespace {

std::string only_cast_takes_as(std::string_view name) {
  std::string text =
      "expected ')', found AS in the call of '" + std::string(name) + "'; only CAST takes AS";
  static constexpr std::string_view kCast[] = {"CAST"};
  std::string upper(name);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  if (!base::nearest_word(upper, kCast).empty()) text += "; did you mean 'CAST'?";
  return text;
}

}  // namespace

ast::CallExpr* Parser::make_call(std::string_view name, const std::vector<Expr*>& args,
                                 const Token& start) {
  auto* e = make<ast::CallExpr>(ExprKind::kCall, start);
  e->name = name;
  e->args = list_of(args);
  return done(e, start);
}

// At the '(' of name(...) or schema.name(...).
ast::CallExpr* Parser::parse_call(std::string_view schema, std::string_view name,
                                  const Token& start) {
  expect(TokenKind::kLeftParen);
  std::vector<Expr*> args;
  if (!accept(TokenKind::kRightParen)) {
    do {
      args.push_back(parse_expr());
    } while (accept(TokenKind::kComma));
    if (is(Kw::kAS) && schema.empty()) {
      error_at(peek(), "BIP4001", only_cast_takes_as(name));
    }
    expect(TokenKind::kRightParen);
  }
  ast::CallExpr* e = make_call(name, args, start);
  e->schema = schema;
  return e;
}

Expr* Parser::parse_keyword_function() {
  if (!is_at(1, TokenKind::kLeftParen)) return nullptr;
  switch (peek().kw) {
    case Kw::kCAST:
      return parse_cast();
    case Kw::kSUBSTRING:
      return parse_substring();
    case Kw::kTRIM:
      return parse_trim();
    case Kw::kPOSITION:
      return parse_position();
    case Kw::kOVERLAY:
      return parse_overlay();
    case Kw::kEXTRACT:
      return parse_extract();
    case Kw::kROUND:
      return parse_round();
    case Kw::kASBITSTREAM:
      return parse_asbitstream();
    case Kw::kEVAL:
      return parse_eval_function();
    case Kw::kPASSTHRU:
      return parse_passthru();
    case Kw::kTHE: {
      const Token& start = peek();
      auto* e = make<ast::TheExpr>(ExprKind::kThe, start);
      advance();
      expect(TokenKind::kLeftParen);
      e->list = parse_expr();
      expect(TokenKind::kRightParen);
      return done(e, start);
    }
    default:
      return nullptr;
  }
}

// DECIMAL(p,s) is allowed in CAST only (`with_precision`).
CastTarget Parser::parse_scalar_type(bool with_precision) {
  CastTarget t;
  using value::Kind;
  switch (peek().kw) {
    case Kw::kBOOLEAN:
      t.kind = Kind::kBoolean;
      break;
    case Kw::kINT:
    case Kw::kINTEGER:
      t.kind = Kind::kInteger;
      break;
    case Kw::kFLOAT:
      t.kind = Kind::kFloat;
      break;
    case Kw::kDECIMAL:
      t.kind = Kind::kDecimal;
      break;
    case Kw::kCHAR:
    case Kw::kCHARACTER:
      t.kind = Kind::kCharacter;
      break;
    case Kw::kBLOB:
      t.kind = Kind::kBlob;
      break;
    case Kw::kBIT:
      t.kind = Kind::kBit;
      break;
    case Kw::kDATE:
      t.kind = Kind::kDate;
      break;
    case Kw::kTIME:
      t.kind = Kind::kTime;
      break;
    case Kw::kGMTTIME:
      t.kind = Kind::kGmtTime;
      break;
    case Kw::kTIMESTAMP:
      t.kind = Kind::kTimestamp;
      break;
    case Kw::kGMTTIMESTAMP:
      t.kind = Kind::kGmtTimestamp;
      break;
    case Kw::kINTERVAL:
      t.kind = Kind::kInterval;
      break;
    default:
      syntax_error("a data type");
      return t;
  }
  advance();
  if (t.kind == Kind::kInterval) t.has_qualifier = accept_qualifier(t.qualifier);
  if (t.kind != Kind::kDecimal || !is(TokenKind::kLeftParen)) return t;
  if (!with_precision) {
    error_at(peek(), "BIP4001",
             "DECIMAL takes no precision and scale here; they are allowed in CAST only");
    return t;
  }
  advance();
  auto number = [&](int32_t& out, int64_t max) {
    const Token& token = peek();
    if (!is(TokenKind::kInteger)) return syntax_error("a number of digits");
    value::Value v = number_value(token);
    if (v.kind != Kind::kInteger || v.integer > max) {
      return error_at(token, "MS1600", "at most " + std::to_string(max) + " is allowed here");
    }
    out = static_cast<int32_t>(v.integer);
    advance();
  };
  number(t.precision, value::Decimal::kMaxDigits);
  t.scale = 0;
  if (accept(TokenKind::kComma)) number(t.scale, value::Decimal::kMaxDigits);
  expect(TokenKind::kRightParen);
  return t;
}

Expr* Parser::parse_cast() {
  const Token& start = peek();
  auto* e = make<ast::CastExpr>(ExprKind::kCast, start);
  advance();
  expect(TokenKind::kLeftParen);
  std::vector<Expr*> sources;
  do {
    sources.push_back(parse_expr());
  } while (accept(TokenKind::kComma));
  e->sources = list_of(sources);
  expect(Kw::kAS);
  e->target = parse_scalar_type(true);
  while (true) {
    if (accept(Kw::kCCSID)) {
      e->ccsid = parse_expr();
    } else if (accept(Kw::kENCODING)) {
      e->encoding = parse_expr();
    } else if (accept(Kw::kFORMAT)) {
      e->format = parse_expr();
    } else if (accept(Kw::kDEFAULT)) {
      e->default_value = parse_expr();
    } else {
      break;
    }
  }
  if (!accept(TokenKind::kRightParen)) syntax_error("CCSID, ENCODING, FORMAT, DEFAULT or ')'");
  return done(e, start);
}

// SUBSTRING(s {FROM p | BEFORE x | AFTER x} [FOR n])
Expr* Parser::parse_substring() {
  const Token& start = peek();
  advance();
  expect(TokenKind::kLeftParen);
  std::vector<Expr*> args{parse_expr()};
  std::string_view name = "SUBSTRING";
  if (accept(Kw::kBEFORE)) {
    name = "SUBSTRING_BEFORE";
  } else if (accept(Kw::kAFTER)) {
    name = "SUBSTRING_AFTER";
  } else if (!accept(Kw::kFROM)) {
    syntax_error("FROM, BEFORE or AFTER");
  }
  args.push_back(parse_expr());
  if (accept(Kw::kFOR)) args.push_back(parse_expr());
  if (!accept(TokenKind::kRightParen)) syntax_error("FOR or ')'");
  return make_call(name, args, start);
}

// TRIM([[BOTH | LEADING | TRAILING] [x] FROM] s)
Expr* Parser::parse_trim() {
  const Token& start = peek();
  advance();
  expect(TokenKind::kLeftParen);
  int64_t mode = 0;
  bool has_mode = true;
  if (accept(Kw::kLEADING)) {
    mode = 1;
  } else if (accept(Kw::kTRAILING)) {
    mode = 2;
  } else {
    has_mode = accept(Kw::kBOTH);
  }
  Expr* singleton = nullptr;
  Expr* source = nullptr;
  if (has_mode && accept(Kw::kFROM)) {
    source = parse_expr();
  } else {
    source = parse_expr();
    if (accept(Kw::kFROM)) {
      singleton = source;
      source = parse_expr();
    } else if (has_mode) {
      syntax_error("FROM");
    }
  }
  expect(TokenKind::kRightParen);
  std::vector<Expr*> args{make_integer(mode, start), source};
  if (singleton) args.push_back(singleton);
  return make_call("TRIM", args, start);
}

// POSITION(x IN s [FROM p] [REPEAT k]); x stops before IN.
Expr* Parser::parse_position() {
  const Token& start = peek();
  advance();
  expect(TokenKind::kLeftParen);
  Expr* searched = parse_additive();
  expect(Kw::kIN);
  Expr* source = parse_expr();
  Expr* from = accept(Kw::kFROM) ? parse_expr() : make_integer(1, start);
  Expr* repeat = accept(Kw::kREPEAT) ? parse_expr() : make_integer(1, start);
  if (!accept(TokenKind::kRightParen)) syntax_error("FROM, REPEAT or ')'");
  return make_call("POSITION", {searched, source, from, repeat}, start);
}

// OVERLAY(s PLACING x FROM p [FOR n])
Expr* Parser::parse_overlay() {
  const Token& start = peek();
  advance();
  expect(TokenKind::kLeftParen);
  std::vector<Expr*> args{parse_expr()};
  expect(Kw::kPLACING);
  args.push_back(parse_expr());
  expect(Kw::kFROM);
  args.push_back(parse_expr());
  if (accept(Kw::kFOR)) args.push_back(parse_expr());
  expect(TokenKind::kRightParen);
  return make_call("OVERLAY", args, start);
}

namespace {

constexpr std::string_view kExtractParts[] = {
    "YEAR",  "MONTH",      "DAY",         "HOUR",       "MINUTE",        "SECOND",
    "DAYS",  "DAYOFYEAR",  "DAYOFWEEK",   "MONTHS",     "QUARTEROFYEAR", "QUARTERS",
    "WEEKS", "WEEKOFYEAR", "WEEKOFMONTH", "ISLEAPYEAR",
};
static_assert(std::size(kExtractParts) == static_cast<size_t>(ExtractPart::kIsLeapYear) + 1);

constexpr std::string_view kRoundModes[] = {
    "ROUND_UP",      "ROUND_DOWN",      "ROUND_CEILING",   "ROUND_FLOOR",
    "ROUND_HALF_UP", "ROUND_HALF_EVEN", "ROUND_HALF_DOWN",
};
static_assert(std::size(kRoundModes) == static_cast<size_t>(value::Rounding::kHalfDown) + 1);

std::string upper_word(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return out;
}

// Index of `word` (any case) in `words`, or -1.
template <size_t N>
int64_t find_word(const std::string_view (&words)[N], std::string_view word) {
  std::string key = upper_word(word);
  for (size_t i = 0; i < N; ++i) {
    if (words[i] == key) return static_cast<int64_t>(i);
  }
  return -1;
}

}  // namespace

// EXTRACT(part FROM d)
Expr* Parser::parse_extract() {
  const Token& start = peek();
  advance();
  expect(TokenKind::kLeftParen);
  int64_t part = is(TokenKind::kIdentifier) ? find_word(kExtractParts, token_text(peek())) : -1;
  if (part < 0) syntax_error("a part of a date or time such as YEAR or DAYOFWEEK");
  Expr* part_expr = make_integer(part, peek());
  advance();
  expect(Kw::kFROM);
  Expr* source = parse_expr();
  expect(TokenKind::kRightParen);
  return make_call("EXTRACT", {part_expr, source}, start);
}

// ROUND(n, p [MODE m])
Expr* Parser::parse_round() {
  const Token& start = peek();
  advance();
  expect(TokenKind::kLeftParen);
  std::vector<Expr*> args = {parse_expr()};
  while (accept(TokenKind::kComma)) args.push_back(parse_expr());
  int64_t mode = static_cast<int64_t>(value::Rounding::kHalfEven);
  const Token& at = peek();
  if (accept(Kw::kMODE)) {
    mode = is(TokenKind::kIdentifier) ? find_word(kRoundModes, token_text(peek())) : -1;
    if (mode < 0) syntax_error("a rounding mode such as ROUND_HALF_UP");
    advance();
  }
  if (args.size() == 2) args.push_back(make_integer(mode, at));
  if (!accept(TokenKind::kRightParen)) syntax_error("MODE or ')'");
  return make_call("ROUND", args, start);
}

// Keywords in any order, or positional: encoding, ccsid, set, type, format, options.
void Parser::parse_bitstream_options(ast::BitStreamOptions& o) {
  if (is(TokenKind::kComma)) {
    Expr** places[] = {&o.encoding, &o.ccsid, &o.set, &o.type, &o.format, &o.options};
    for (Expr** place : places) {
      if (!accept(TokenKind::kComma)) break;
      // An omitted argument: f(x, , 1208).
      if (!is(TokenKind::kComma) && !is(TokenKind::kRightParen)) *place = parse_expr();
    }
  }
  while (true) {
    Expr** place = nullptr;
    switch (peek().kw) {
      case Kw::kOPTIONS:
        place = &o.options;
        break;
      case Kw::kENCODING:
        place = &o.encoding;
        break;
      case Kw::kCCSID:
        place = &o.ccsid;
        break;
      case Kw::kSET:
        place = &o.set;
        break;
      case Kw::kTYPE:
        place = &o.type;
        break;
      case Kw::kFORMAT:
        place = &o.format;
        break;
      default:
        break;
    }
    if (!place) break;
    if (*place) syntax_error("each option once");
    advance();
    *place = parse_expr();
  }
  if (!accept(TokenKind::kRightParen)) {
    syntax_error("OPTIONS, ENCODING, CCSID, SET, TYPE, FORMAT or ')'");
  }
}

Expr* Parser::parse_asbitstream() {
  const Token& start = peek();
  auto* e = make<ast::AsBitStreamExpr>(ExprKind::kAsBitStream, start);
  advance();
  expect(TokenKind::kLeftParen);
  e->field = parse_path();
  parse_bitstream_options(e->clauses);
  return done(e, start);
}

Expr* Parser::parse_eval_function() {
  const Token& start = peek();
  auto* e = make<ast::EvalExpr>(ExprKind::kEval, start);
  advance();
  expect(TokenKind::kLeftParen);
  e->text = parse_expr();
  expect(TokenKind::kRightParen);
  return done(e, start);
}

// TO Database.dsn and VALUES(v, ...), in this order.
void Parser::parse_passthru_tail(ast::PassthruExpr* call) {
  if (accept(Kw::kTO)) call->to = parse_path();
  if (accept(Kw::kVALUES)) {
    if (accept(TokenKind::kLeftParen)) {
      call->values = list_of(parse_expr_list(TokenKind::kRightParen));
    } else {
      call->values = list_of(std::vector<Expr*>{parse_expr()});
    }
  }
}

// PASSTHRU(sql [, v ...]) or PASSTHRU(sql [TO d] [VALUES(v, ...)]).
ast::PassthruExpr* Parser::parse_passthru() {
  const Token& start = peek();
  auto* e = make<ast::PassthruExpr>(ExprKind::kPassthru, start);
  advance();
  expect(TokenKind::kLeftParen);
  e->sql = parse_expr();
  if (is(TokenKind::kComma)) {
    std::vector<Expr*> values;
    while (accept(TokenKind::kComma)) values.push_back(parse_expr());
    e->values = list_of(values);
  } else {
    parse_passthru_tail(e);
  }
  expect(TokenKind::kRightParen);
  if (e->values.size() == 1 && e->values[0]->kind == ExprKind::kPath) {
    const auto& path = ast::as<ast::PathExpr>(*e->values[0]);
    e->values_are_list =
        !path.steps.empty() && path.steps.back().index_kind == ast::IndexKind::kList;
  }
  return done(e, start);
}

}  // namespace millstream::esql
