// ESQL text -> tokens (spec A1). Keywords are recognised in any case but stay identifiers: whether
// a word is a keyword depends on its place, which only the parser knows.
//
// The whole text becomes a vector of tokens at once, so that the parser can look ahead freely. The
// last token is always kEnd. Tokens hold offsets into the text. Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millstream::esql {

// Every word that has a meaning somewhere in the grammar.
// clang-format off
#define MS_ESQL_KEYWORDS(X) \
  X(AFTER) X(ALL) X(AND) X(ANY) X(AS) X(ASBITSTREAM) X(ASYMMETRIC) X(ATOMIC) X(ATTACH) X(BEFORE) \
  X(BEGIN) X(BETWEEN) X(BIT) X(BLOB) X(BOOLEAN) X(BOTH) X(BROKER) X(CALL) X(CASE) X(CAST) \
  X(CATALOG) X(CCSID) X(CHAR) X(CHARACTER) X(CLASSLOADER) X(CLR) X(COMMIT) X(COMPUTE) \
  X(CONSTANT) X(CONTINUE) X(COUNT) X(CREATE) X(DATABASE) X(DATABASEEVENT) X(DATE) X(DAY) \
  X(DECIMAL) X(DECLARE) X(DEFAULT) X(DELETE) X(DETACH) X(DISTINCT) X(DO) X(DOMAIN) X(DYNAMIC) \
  X(ELSE) X(ELSEIF) X(ENCODING) X(END) X(ENVIRONMENT) X(ESCAPE) X(ESQL) X(EVAL) X(EVENT) \
  X(EXCEPTION) X(EXIT) X(EXTERNAL) X(EXTRACT) X(FALSE) X(FIELD) X(FILTER) X(FINALIZE) \
  X(FIRSTCHILD) X(FLOAT) X(FOR) X(FORMAT) X(FROM) X(FULL) X(FUNCTION) X(GMTTIME) X(GMTTIMESTAMP) \
  X(HANDLER) X(HOUR) X(IDENTITY) X(IF) X(IN) X(INF) X(INFINITY) X(INOUT) X(INSERT) X(INT) \
  X(INTEGER) X(INTERVAL) X(INTO) X(IS) X(ITEM) X(ITERATE) X(JAVA) X(LABEL) X(LANGUAGE) \
  X(LASTCHILD) X(LEADING) X(LEAVE) X(LIKE) X(LIST) X(LOG) X(LOOP) X(MAX) X(MESSAGE) X(MIN) \
  X(MINUTE) X(MODE) X(MODULE) X(MONTH) X(MOVE) X(NAME) X(NAMESPACE) X(NAN) X(NET) X(NEXTSIBLING) \
  X(NONE) X(NOT) X(NULL) X(NULLABLE) X(NUM) X(NUMBER) X(OF) X(ONLY) X(OPTIONS) X(OR) X(OUT) \
  X(OVERLAY) X(PARENT) X(PARSE) X(PASSTHRU) X(PATH) X(PLACING) X(POSITION) X(PREVIOUSSIBLING) \
  X(PROCEDURE) X(PROPAGATE) X(READ) X(REFERENCE) X(REPEAT) X(RESIGNAL) X(RESULT) X(RETURN) \
  X(RETURNS) X(ROLLBACK) X(ROUND) X(ROW) X(SCHEMA) X(SECOND) X(SELECT) X(SET) X(SETS) \
  X(SEVERITY) X(SHARED) X(SOME) X(SQLSTATE) X(SUBSTRING) X(SUM) X(SYMMETRIC) X(TERMINAL) X(THE) \
  X(THEN) X(THROW) X(TIME) X(TIMESTAMP) X(TO) X(TRACE) X(TRAILING) X(TRIM) X(TRUE) X(TYPE) \
  X(UNKNOWN) X(UNTIL) X(UPDATE) X(USER) X(VALUE) X(VALUES) X(WHEN) X(WHERE) X(WHILE) X(WRITE) \
  X(YEAR)
// clang-format on

enum class Kw : uint8_t {
  kNone,
#define MS_ESQL_KEYWORD(name) k##name,
  MS_ESQL_KEYWORDS(MS_ESQL_KEYWORD)
#undef MS_ESQL_KEYWORD
};
Kw find_keyword(std::string_view word);  // any case; kNone when it is none
std::string_view keyword_name(Kw kw);
bool is_reserved(Kw kw);  // cannot be an unquoted identifier

enum class TokenKind : uint8_t {
  kEnd,
  kIdentifier,  // unquoted; see Token::kw
  kQuoted,      // "..."
  kString,      // '...'
  kBlob,        // X'...'
  kBit,         // B'...'
  kInteger,     // 12
  kHexInteger,  // 0x1A
  kReal,        // 1.5, 1e3
  // Punctuation
  kDot,
  kComma,
  kSemicolon,
  kColon,
  kLeftParen,
  kRightParen,
  kLeftBracket,
  kRightBracket,
  kLeftBrace,
  kRightBrace,
  kPlus,
  kMinus,
  kStar,
  kSlash,
  kConcat,
  kEqual,
  kNotEqual,
  kLess,
  kGreater,
  kLessEqual,
  kGreaterEqual,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Kw kw = Kw::kNone;
  uint32_t begin = 0;  // offsets in the text
  uint32_t end = 0;
  uint32_t line = 1;
  uint32_t column = 1;
};

struct LexError {
  uint32_t line = 0;
  uint32_t column = 0;
  std::string text;
};

struct TokenList {
  std::vector<Token> tokens;
  // The characters concerned are skipped; after kLexErrorsMax of them the text ends.
  std::vector<LexError> errors;
};
constexpr size_t kLexErrorsMax = 100;

TokenList tokenize(std::string_view text);

// The content of a quoted token (kString, kQuoted) with doubled quotes made single; empty optional
// part: `text` holds no quote to undouble, so that the view between the quotes can be used as it
// is.
bool has_doubled_quote(std::string_view token_text);
std::string undouble_quotes(std::string_view token_text);

// "an identifier", "';'", ... for messages.
std::string_view describe_kind(TokenKind kind);

}  // namespace millstream::esql
