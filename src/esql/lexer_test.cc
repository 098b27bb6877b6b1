#include "esql/lexer.h"

#include <doctest/doctest.h>

namespace millstream::esql {
namespace {

std::string lexer_kinds(std::string_view text) {
  TokenList list = tokenize(text);
  std::string out;
  for (const Token& t : list.tokens) {
    if (t.kind == TokenKind::kEnd) break;
    if (!out.empty()) out += ' ';
    out += text.substr(t.begin, t.end - t.begin);
  }
  for (const LexError& e : list.errors) {
    out += " !" + std::to_string(e.line) + ":" + std::to_string(e.column);
  }
  return out;
}

TokenKind first_kind(std::string_view text) { return tokenize(text).tokens[0].kind; }

TEST_CASE("Tokens end where the language says") {
  CHECK(lexer_kinds("a.b[1]:=c") == "a . b [ 1 ] : = c");
  CHECK(lexer_kinds("a<=b<>c>=d||e") == "a <= b <> c >= d || e");
  CHECK(lexer_kinds("x[<] y[>2]") == "x [ < ] y [ > 2 ]");
  CHECK(lexer_kinds("1.5+2e3-.5*1.") == "1.5 + 2e3 - .5 * 1 .");
  CHECK(lexer_kinds("1e+ 1e-5 1ex") == "1 e + 1e-5 1 ex");
}

TEST_CASE("Comments stand between any two tokens and block comments nest") {
  CHECK(lexer_kinds("a -- rest ; 'x\n b") == "a b");
  CHECK(lexer_kinds("a/* x /* y */ z */b") == "a b");
  CHECK(lexer_kinds("a/**/b/***/c") == "a b c");
  CHECK(lexer_kinds("5--3") == "5");
  CHECK(lexer_kinds("a /* open /* */ b") == "a !1:3");
}

TEST_CASE("Literals and quoted identifiers") {
  CHECK(first_kind("'it''s'") == TokenKind::kString);
  CHECK(undouble_quotes("'it''s'") == "it's");
  CHECK(undouble_quotes("''''") == "'");
  CHECK(undouble_quotes("\"a\"\"b\"") == "a\"b");
  CHECK(first_kind("''") == TokenKind::kString);
  CHECK(first_kind("'two\nlines'") == TokenKind::kString);
  CHECK(first_kind("X'0aFF'") == TokenKind::kBlob);
  CHECK(first_kind("x''") == TokenKind::kBlob);
  CHECK(first_kind("b'01'") == TokenKind::kBit);
  CHECK(first_kind("0x1A") == TokenKind::kHexInteger);
  CHECK(first_kind("\"a-b\"") == TokenKind::kQuoted);
  CHECK(lexer_kinds("X'0'") == "X'0' !1:1");
  CHECK(lexer_kinds("X'0g'") == "X'0g' !1:1");
  CHECK(lexer_kinds("B'012'") == "B'012' !1:1");
  CHECK(lexer_kinds("a 'open") == "a !1:3");
  CHECK(lexer_kinds("\"\"") == "\"\" !1:1");
}

TEST_CASE("Identifiers may hold letters of any script and @ # $") {
  CHECK(first_kind("größe") == TokenKind::kIdentifier);
  CHECK(lexer_kinds("größe.日本") == "größe . 日本");
  CHECK(lexer_kinds("a@b#c$d _x") == "a@b#c$d _x");
  CHECK(lexer_kinds("a ? b") == "a b !1:3");
}

TEST_CASE("Keywords are known in any case; only a few are reserved") {
  CHECK(find_keyword("select") == Kw::kSELECT);
  CHECK(find_keyword("PreviousSibling") == Kw::kPREVIOUSSIBLING);
  CHECK(find_keyword("selec") == Kw::kNone);
  CHECK(find_keyword("") == Kw::kNone);
  CHECK(keyword_name(Kw::kYEAR) == "YEAR");
  for (std::string_view word : {"ALL", "ASYMMETRIC", "BOTH", "CASE", "DISTINCT", "FROM", "ITEM",
                                "LEADING", "NOT", "SYMMETRIC", "TRAILING", "WHEN"}) {
    CHECK(is_reserved(find_keyword(word)));
  }
  for (std::string_view word :
       {"DATE", "NAME", "TYPE", "VALUE", "MESSAGE", "LABEL", "SELECT", "END"}) {
    CHECK_FALSE(is_reserved(find_keyword(word)));
  }
}

TEST_CASE("Lines and columns count from 1, a byte order mark is skipped") {
  TokenList list = tokenize(
      "\xEF\xBB\xBF"
      "a\r\n  b\n\n\tc");
  CHECK(list.tokens[0].line == 1);
  CHECK(list.tokens[0].column == 1);
  CHECK(list.tokens[1].line == 2);
  CHECK(list.tokens[1].column == 3);
  CHECK(list.tokens[2].line == 4);
  CHECK(list.tokens[2].column == 2);
}

TEST_CASE("The number of lexical errors is limited") {
  std::string text(1000, '?');
  CHECK(tokenize(text).errors.size() == kLexErrorsMax);
}

}  // namespace
}  // namespace millstream::esql
