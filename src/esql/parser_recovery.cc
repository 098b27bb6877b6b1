// Where parsing goes on after an error, and how blocks close when their END is missing or wrong.
// The aim is one message for one mistake: what an error leaves behind is passed over in silence.
#include "esql/parser.h"

namespace millstream::esql {

// ---------------------------------------------------------------- what a token begins or ends

bool Parser::is_on_new_line() const {
  return position_ == 0 || peek().line != tokens_[position_ - 1].line;
}

// Words are not reserved: `x.End`, `end.x` and `set = 1` are names.
bool Parser::is_word_used_as_name() const {
  if (position_ > 0 && tokens_[position_ - 1].kind == TokenKind::kDot) return true;
  TokenKind next = peek(1).kind;
  return next == TokenKind::kDot || next == TokenKind::kEqual || next == TokenKind::kComma ||
         next == TokenKind::kRightParen;
}

// CREATE FUNCTION, CREATE ... MODULE, END MODULE: these end every statement.
bool Parser::is_item_boundary() const {
  if (is(Kw::kEND)) return is_at(1, Kw::kMODULE) && is_open(Kw::kMODULE);
  if (!is(Kw::kCREATE)) return false;
  if (is_at(1, Kw::kFUNCTION) || is_at(1, Kw::kPROCEDURE)) return true;
  return is_at(2, Kw::kMODULE) && !is_at(1, Kw::kFIELD);
}

bool Parser::is_block_word() const {
  switch (peek().kw) {
    case Kw::kEND:
    case Kw::kELSE:
    case Kw::kELSEIF:
    case Kw::kWHEN:
    case Kw::kUNTIL:
      return !is_word_used_as_name() && !is_at(1, TokenKind::kColon);
    default:
      return false;
  }
}

bool Parser::is_statement_start() const {
  if (is_word_used_as_name()) return false;
  bool is_call = is_at(1, TokenKind::kLeftParen) || is_at(1, TokenKind::kColon);
  switch (peek().kw) {
    case Kw::kIF:
    case Kw::kWHILE:
    case Kw::kRETURN:
      return true;
    case Kw::kBEGIN:
    case Kw::kDECLARE:
    case Kw::kSET:
    case Kw::kREPEAT:
    case Kw::kLOOP:
    case Kw::kLEAVE:
    case Kw::kITERATE:
    case Kw::kCALL:
    case Kw::kTHROW:
    case Kw::kRESIGNAL:
    case Kw::kLOG:
    case Kw::kPROPAGATE:
    case Kw::kCREATE:
    case Kw::kDETACH:
    case Kw::kATTACH:
    case Kw::kMOVE:
    case Kw::kINSERT:
      return !is_at(1, TokenKind::kLeftParen);
    case Kw::kFOR:
      return is_name_at(1) && is_at(2, Kw::kAS);
    case Kw::kDELETE:
      return is_at(1, Kw::kFIELD) || is_at(1, Kw::kFROM) || is_at(2, Kw::kOF);
    case Kw::kNone:
      return is_name() && is_call && is_on_new_line();
    default:
      return false;
  }
}

// The statement is over here, with its ';' or without.
bool Parser::is_statement_end() const {
  if (is(TokenKind::kSemicolon) || is(TokenKind::kEnd)) return true;
  return is_block_word() || is_item_boundary() || (is_on_new_line() && is_statement_start());
}

// No value follows RETURN or the type of a DECLARE. A call on a new line is a value.
bool Parser::is_value_absent() const {
  if (is(TokenKind::kSemicolon) || is(TokenKind::kEnd)) return true;
  return peek().kw != Kw::kNone && is_statement_end();
}

// ---------------------------------------------------------------- errors that need no skipping

void Parser::report(const ast::SourcePos& pos, std::string text) {
  if (is_panicking_) return;
  ++error_count_;
  messages_.push_back({pos, false, "BIP4001", std::move(text)});
}

// The ';' after a statement; where it is only forgotten, parsing goes on as if it were there.
void Parser::expect_statement_end() {
  if (is_panicking_ || accept(TokenKind::kSemicolon)) return;
  if (missing_end_at_ == position_) return;
  if (!is_statement_end() || position_ == 0) {
    return expect(TokenKind::kSemicolon);
  }
  const Token& last = tokens_[position_ - 1];
  ast::SourcePos pos = pos_of(last);
  std::string_view text = token_text(last);
  size_t newline = text.rfind('\n');  // a string may go over lines
  if (newline == std::string_view::npos) {
    pos.column += static_cast<uint32_t>(text.size());
  } else {
    for (char c : text) pos.line += c == '\n';
    pos.column = static_cast<uint32_t>(text.size() - newline);
  }
  report(pos, "expected ';' after " + describe(last) + ", found " + describe(peek()));
  // At the end of the text what else is missing follows from this.
  if (is(TokenKind::kEnd)) is_panicking_ = true;
}

// ---------------------------------------------------------------- skipping

// CASE expressions begun and not ended between the last ';' and here.
size_t Parser::open_case_expressions() const {
  constexpr size_t kLookBackMax = 512;  // tokens
  size_t first = position_;
  while (first > 0 && position_ - first < kLookBackMax &&
         tokens_[first - 1].kind != TokenKind::kSemicolon) {
    --first;
  }
  size_t cases = 0;
  for (size_t i = first; i < position_; ++i) count_case(i, cases);
  return cases;
}

void Parser::count_case(size_t i, size_t& cases) const {
  if (tokens_[i].kw == Kw::kEND && cases > 0) --cases;
  if (tokens_[i].kw != Kw::kCASE || i == 0) return;
  const Token& before = tokens_[i - 1];
  switch (before.kw) {
    case Kw::kBEGIN:
    case Kw::kDO:
    case Kw::kLOOP:
    case Kw::kREPEAT:
    case Kw::kEND:
      return;  // a CASE statement, or END CASE
    case Kw::kTHEN:
    case Kw::kELSE:
      if (cases == 0) return;
      break;
    default:
      break;
  }
  if (before.kind != TokenKind::kSemicolon) ++cases;
}

// After an error: to after the next ';', or to before a word that goes on with the enclosing block
// or begins a statement on a new line. An error at the end of the text stays: it says it all.
void Parser::recover() {
  if (position_ + 1 >= tokens_.size()) return;
  is_panicking_ = false;
  size_t cases = open_case_expressions();
  while (!is(TokenKind::kEnd)) {
    if (accept(TokenKind::kSemicolon)) return;
    if (is_item_boundary() || (cases == 0 && is_block_word())) return;
    if (is_on_new_line() && is_statement_start() && position_ != statement_at_) return;
    count_case(position_, cases);
    advance();
  }
}

// THEN or DO after the head of an IF or a loop. After an error in the head its body is parsed all
// the same, so that its END has something to belong to.
void Parser::expect_head_end(Kw kw) {
  bool is_missing = !is_panicking_ && !is(kw);
  expect(kw);
  if (!is_panicking_ || position_ + 1 >= tokens_.size()) return;
  is_panicking_ = false;
  size_t cases = is_missing ? 0 : open_case_expressions();
  while (!is(TokenKind::kEnd) && !is(TokenKind::kSemicolon)) {
    if (is_item_boundary() || is_statement_start() || (cases == 0 && is_block_word())) return;
    if (cases == 0 && accept(kw)) return;
    count_case(position_, cases);
    advance();
  }
  if (is(TokenKind::kEnd)) is_panicking_ = true;
}

// The body of a routine after an error in its head: to its BEGIN.
void Parser::recover_to_body() {
  if (!is_panicking_ || position_ + 1 >= tokens_.size()) return;
  size_t i = position_;
  while (tokens_[i].kind != TokenKind::kEnd && tokens_[i].kind != TokenKind::kSemicolon &&
         tokens_[i].kw != Kw::kCREATE && tokens_[i].kw != Kw::kBEGIN) {
    ++i;
  }
  if (tokens_[i].kw != Kw::kBEGIN) return;
  position_ = i;
  is_panicking_ = false;
}

// Between routines and modules, after an error: passes over what is left of a broken routine.
bool Parser::skip_remains() {
  bool is_tree_create = is(Kw::kCREATE) && (is_at(1, Kw::kFIELD) || is_at(2, Kw::kOF));
  if (!is_tree_create && (is(Kw::kDECLARE) || is(Kw::kCREATE))) return false;
  do {
    advance();
  } while (!is(TokenKind::kEnd) && !is_item_boundary());
  return true;
}

// ---------------------------------------------------------------- blocks

bool Parser::is_open(Kw kw) const {
  for (const OpenBlock& b : open_) {
    if (b.kw == kw) return true;
  }
  return false;
}

bool Parser::is_taken_by_open_block(Kw kw) const {
  for (const OpenBlock& b : open_) {
    bool is_if = b.kw == Kw::kIF && (kw == Kw::kELSE || kw == Kw::kELSEIF);
    bool is_case = b.kw == Kw::kCASE && (kw == Kw::kELSE || kw == Kw::kWHEN);
    if (!b.is_last_part && (is_if || is_case)) return true;
    if (b.kw == Kw::kREPEAT && kw == Kw::kUNTIL) return true;
  }
  return false;
}

// At END: what it ends; BEGIN for a plain END.
Kw Parser::block_of_end() const {
  Kw kw = peek(1).kw;
  switch (kw) {
    case Kw::kIF:
    case Kw::kWHILE:
    case Kw::kCASE:
    case Kw::kLOOP:
    case Kw::kREPEAT:
    case Kw::kFOR:
    case Kw::kMODULE:
      // END, then IF on the next line: a statement after a forgotten ';'.
      return peek(1).line == peek().line ? kw : Kw::kBEGIN;
    default:
      return Kw::kBEGIN;
  }
}

// The END of the innermost block, BEGIN or another. Instead of it may stand the END of another
// block: of an enclosing one, which is left for that, or of none, which is taken for this.
void Parser::expect_end(Kw kw) {
  bool is_begin = kw == Kw::kBEGIN;
  if (is_panicking_) return;
  Kw found = is(Kw::kEND) ? block_of_end() : Kw::kNone;
  if (is(Kw::kEND) && (is_begin ? found == kw : is_at(1, kw))) {
    advance();
    if (!is_begin) advance();
    return;
  }
  std::string expected = is_begin ? "END" : "END " + std::string(keyword_name(kw));
  if (is(TokenKind::kEnd)) return syntax_error(expected);
  if (missing_end_at_ != position_) {
    std::string what = describe(peek());
    if (is(Kw::kEND) && found != Kw::kBEGIN) {
      what = "'END " + std::string(keyword_name(found)) + "'";
    }
    report(pos_of(peek()), "expected " + expected + ", found " + what);
  }
  if (found != Kw::kNone && !is_open_outside(found)) {
    advance();
    if (found != Kw::kBEGIN) advance();
    return;
  }
  missing_end_at_ = position_;
}

// In a block but the innermost.
bool Parser::is_open_outside(Kw kw) const {
  for (size_t i = 0; i + 1 < open_.size(); ++i) {
    if (open_[i].kw == kw) return true;
  }
  return false;
}

// At a word that ends a block, or a part of one, but belongs to no open block: passes over it,
// with a message unless an error before explains it. False: it belongs to one.
bool Parser::skip_orphan(bool had_error) {
  if (!is_block_word()) return false;
  Kw kw = peek().kw;
  Kw found = kw;
  // A routine may be called so.
  if (!had_error && kw != Kw::kWHEN && is_at(1, TokenKind::kLeftParen)) return false;
  if (kw == Kw::kEND) {
    found = block_of_end();
    bool is_mistyped = !had_error && !open_.empty() && open_.back().kw != Kw::kBEGIN;
    if (found == Kw::kBEGIN || is_open(found) || is_mistyped) return false;
  } else if (is_taken_by_open_block(kw)) {
    return false;
  }
  if (!had_error) {
    report(pos_of(peek()), "there is no " +
                               std::string(kw == Kw::kEND     ? keyword_name(found)
                                           : kw == Kw::kWHEN  ? "CASE"
                                           : kw == Kw::kUNTIL ? "REPEAT"
                                                              : "IF") +
                               " that this " + std::string(keyword_name(kw)) + " belongs to");
  }
  advance();
  if (kw == Kw::kELSE) return true;
  Kw stop = kw == Kw::kELSEIF || kw == Kw::kWHEN ? Kw::kTHEN : Kw::kNone;
  while (!is(TokenKind::kEnd) && !is(TokenKind::kSemicolon) && !is_item_boundary()) {
    if (stop != Kw::kNone && is(stop)) break;
    advance();
  }
  if (!is_item_boundary()) advance();
  return true;
}

}  // namespace millstream::esql
