// Text -> instructions in one pass: a recursive descent whose every rule appends the postfix code
// of what it read. Chains of AND, OR and arithmetic are loops; only parentheses recurse.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "base/assert.h"
#include "base/utf8_check.h"
#include "queue/selector/errors_gen.h"
#include "queue/selector/selector.h"
#include "queue/selector/selector_code.h"
#include "queue/selector/selector_lexer.h"
#include "text/utf8.h"

namespace millstream::queue::selector {
namespace {

using mqi::PropertyId;
using mqi::PropertyView;

constexpr size_t kIdentifierHexDigits = 48;

// 'ID:' and 48 hexadecimal digits: the form of JMS for 24 bytes.
bool is_identifier_text(std::string_view s) {
  if (s.size() != 3 + kIdentifierHexDigits || s.substr(0, 3) != "ID:") return false;
  return std::all_of(s.begin() + 3, s.end(), [](char c) { return base::hex_digit_value(c) >= 0; });
}

bool is_identifier_property(PropertyId id) {
  return id == PropertyId::kJmsMessageId || id == PropertyId::kJmsCorrelationId ||
         id == PropertyId::kJmsxGroupId;
}

IdentifierEquality::Field field_of(PropertyId id) {
  if (id == PropertyId::kJmsMessageId || id == PropertyId::kMqmdMsgId) {
    return IdentifierEquality::Field::kMessageId;
  }
  if (id == PropertyId::kJmsCorrelationId || id == PropertyId::kMqmdCorrelId) {
    return IdentifierEquality::Field::kCorrelationId;
  }
  return IdentifierEquality::Field::kNone;
}

Compare mirrored(Compare how) {
  switch (how) {
    case Compare::kLess:
      return Compare::kGreater;
    case Compare::kLessEqual:
      return Compare::kGreaterEqual;
    case Compare::kGreater:
      return Compare::kLess;
    case Compare::kGreaterEqual:
      return Compare::kLessEqual;
    default:
      return how;
  }
}

void append_quoted(std::string& out, std::string_view s) {
  out.push_back('\'');
  for (char c : s) out.append(c == '\'' ? 2 : 1, c);
  out.push_back('\'');
}

void append_real(std::string& out, double d) {
  char digits[32];
  auto r = std::to_chars(digits, digits + sizeof digits, d);
  std::string_view s(digits, static_cast<size_t>(r.ptr - digits));
  out += s;
  if (s.find_first_of(".e") == std::string_view::npos) out += ".0";
}

}  // namespace

class Compiler {
 public:
  Compiler(Selector& out, std::string_view text) : out_(out), lexer_(text), text_(text) {
    // No string below is longer than its text, so that views into it stay valid.
    out_.strings_.reserve(2 * text.size() + 64);
  }

  Status run() {
    MS_TRY(advance());
    if (token_.kind == TokenKind::kEnd) return {};
    size_t start = token_.at;
    Operand whole = MS_TRY(take_or());
    if (token_.kind != TokenKind::kEnd) return fail("an operator or the end is expected");
    MS_TRY(need_truth(whole, start));
    out_.equality_ = std::move(whole.equality);
    return {};
  }

 private:
  // What is known of a value before any message is seen.
  enum class StaticType : uint8_t { kAny, kNumber, kString, kBytes, kTruth };
  struct Operand {
    StaticType type = StaticType::kAny;
    size_t first = 0;  // its first instruction
    IdentifierEquality equality;
  };

  Status fail_at(size_t at, std::string_view reason) {
    size_t character = 1 + text::count_code_points(text_.substr(0, at));
    size_t end = text::advance_code_points(text_, at, 20);
    Status s =
        base::make_error(errors::kSelectorSyntax, {character, reason, text_.substr(at, end - at)});
    s.error().position = {"", 1, static_cast<uint32_t>(character)};
    return s;
  }
  Status fail(std::string_view reason) { return fail_at(token_.at, reason); }

  // The canonical text grows with the tokens as they are passed.
  void write(std::string_view s) {
    std::string& out = out_.canonical_;
    bool is_tight = out.empty() || out.back() == '(' || is_after_sign_ || s == ")" || s == ",";
    if (!is_tight) out.push_back(' ');
    is_after_sign_ = false;
    out += s;
  }
  void write_token() {
    std::string s;
    switch (token_.kind) {
      case TokenKind::kEnd:
        return;
      case TokenKind::kKeyword:
        s = keyword_text(token_.keyword);
        break;
      case TokenKind::kInteger:
        s = std::to_string(token_.integer);
        break;
      case TokenKind::kReal:
        append_real(s, token_.real);
        break;
      case TokenKind::kString:
        append_quoted(s, token_.value);
        break;
      case TokenKind::kBytes:
        s = "\"0x";
        base::append_hex(s, token_.value);
        s += '"';
        break;
      default:
        s = token_.text;
    }
    write(s);
  }

  Status advance() {
    write_token();
    if (const char* reason = lexer_.next(token_)) return fail_at(lexer_.error_at(), reason);
    return {};
  }
  Status expect_symbol(std::string_view s, std::string_view reason) {
    if (!token_.is_symbol(s)) return fail(reason);
    return advance();
  }
  Result<bool> skip_keyword(Keyword k) {
    if (!token_.is_keyword(k)) return false;
    MS_TRY(advance());
    return true;
  }

  // `effect`: how many values more are on the stack afterwards.
  Status emit(Instruction i, int effect) {
    out_.code_.push_back(i);
    stack_ += effect;
    MS_ASSERT(stack_ > 0);
    out_.stack_ = std::max(out_.stack_, static_cast<uint32_t>(stack_));
    if (out_.stack_ > Selector::kStackMax) return fail("the selector is too deeply nested");
    return {};
  }
  uint32_t add_constant(const PropertyView& v) {
    out_.constants_.push_back({v});
    return static_cast<uint32_t>(out_.constants_.size() - 1);
  }
  std::string_view keep(std::string_view s) {
    MS_ASSERT(out_.strings_.size() + s.size() <= out_.strings_.capacity());
    size_t at = out_.strings_.size();
    out_.strings_ += s;
    return std::string_view(out_.strings_).substr(at);
  }

  Status need_number(const Operand& o, size_t at) {
    if (o.type == StaticType::kAny || o.type == StaticType::kNumber) return {};
    return fail_at(at, "a number is expected");
  }
  // Makes a truth of the value on top; an identifier may hold a boolean.
  Status need_truth(Operand& o, size_t at) {
    if (o.type == StaticType::kTruth) return {};
    if (o.type != StaticType::kAny) return fail_at(at, "a condition is expected");
    o.type = StaticType::kTruth;
    return emit({.op = Op::kCondition}, 0);
  }

  // Fills in where the jumps of a chain go.
  void land(const std::vector<size_t>& jumps) {
    for (size_t j : jumps) out_.code_[j].a = static_cast<uint32_t>(out_.code_.size());
  }

  Result<Operand> take_or() {
    size_t start = token_.at;
    Operand left = MS_TRY(take_and());
    std::vector<size_t> jumps;
    while (token_.is_keyword(Keyword::kOr)) {
      MS_TRY(need_truth(left, start));
      MS_TRY(advance());
      jumps.push_back(out_.code_.size());
      MS_TRY(emit({.op = Op::kSkipWhenTrue}, 0));
      start = token_.at;
      Operand right = MS_TRY(take_and());
      MS_TRY(need_truth(right, start));
      MS_TRY(emit({.op = Op::kOr}, -1));
      left.equality = {};
    }
    land(jumps);
    return left;
  }

  Result<Operand> take_and() {
    size_t start = token_.at;
    Operand left = MS_TRY(take_not());
    std::vector<size_t> jumps;
    while (token_.is_keyword(Keyword::kAnd)) {
      MS_TRY(need_truth(left, start));
      MS_TRY(advance());
      jumps.push_back(out_.code_.size());
      MS_TRY(emit({.op = Op::kSkipWhenFalse}, 0));
      start = token_.at;
      Operand right = MS_TRY(take_not());
      MS_TRY(need_truth(right, start));
      MS_TRY(emit({.op = Op::kAnd}, -1));
      bool is_better = right.equality.field == IdentifierEquality::Field::kMessageId &&
                       left.equality.field != IdentifierEquality::Field::kMessageId;
      if (!left.equality || is_better) left.equality = std::move(right.equality);
      left.equality.is_whole = false;
    }
    land(jumps);
    return left;
  }

  Result<Operand> take_not() {
    bool is_negated = false, is_any = false;
    for (uint32_t n = 0; token_.is_keyword(Keyword::kNot); is_any = true, is_negated ^= true) {
      if (++n > Selector::kDepthMax) return fail("there are too many NOTs");
      MS_TRY(advance());
    }
    size_t start = token_.at;
    Operand o = MS_TRY(take_predicate());
    if (!is_any) return o;
    MS_TRY(need_truth(o, start));
    o.equality = {};
    if (is_negated) MS_TRY(emit({.op = Op::kNot}, 0));
    return o;
  }

  bool is_comparison(Compare& how) const {
    constexpr std::pair<std::string_view, Compare> kSymbols[] = {
        {"=", Compare::kEqual},      {"<>", Compare::kNotEqual}, {"<", Compare::kLess},
        {"<=", Compare::kLessEqual}, {">", Compare::kGreater},   {">=", Compare::kGreaterEqual}};
    for (const auto& [symbol, value] : kSymbols) {
      if (!token_.is_symbol(symbol)) continue;
      how = value;
      return true;
    }
    return false;
  }

  Result<Operand> take_predicate() {
    size_t start = token_.at;
    Operand left = MS_TRY(take_sum());
    Compare how;
    if (is_comparison(how)) return take_comparison(left, start, how);
    if (token_.is_keyword(Keyword::kIs)) return take_is_null(left, start);
    bool is_negated = MS_TRY(skip_keyword(Keyword::kNot));
    if (token_.is_keyword(Keyword::kBetween)) return take_between(left, start, is_negated);
    if (token_.is_keyword(Keyword::kIn)) return take_in(left, start, is_negated);
    if (token_.is_keyword(Keyword::kLike)) return take_like(left, start, is_negated);
    if (is_negated) return fail("BETWEEN, IN or LIKE is expected");
    return left;
  }

  Operand truth_from(const Operand& left) {
    Operand o;
    o.type = StaticType::kTruth;
    o.first = left.first;
    return o;
  }

  Result<Operand> take_comparison(const Operand& left, size_t start, Compare how) {
    MS_TRY(advance());
    size_t right_at = token_.at;
    Operand right = MS_TRY(take_sum());
    if (how != Compare::kEqual && how != Compare::kNotEqual) {
      MS_TRY(need_number(left, start));
      MS_TRY(need_number(right, right_at));
    }
    Operand o = truth_from(left);
    if (out_.code_.size() == left.first + 2 && right.first == left.first + 1) {
      Instruction a = out_.code_[left.first], b = out_.code_[left.first + 1];
      bool is_swapped = a.op == Op::kConstant && b.op == Op::kProperty;
      if (is_swapped) {
        std::swap(a, b);
        how = mirrored(how);
      }
      if (a.op == Op::kProperty && b.op == Op::kConstant) {
        out_.code_.resize(left.first);
        stack_ -= 2;
        PropertyView& value = out_.constants_[b.a].value;
        if (is_identifier_property(a.id)) value = normal_identifier(value);
        if (how == Compare::kEqual) o.equality = equality_of(a.id, value);
        MS_TRY(
            emit({.op = Op::kCompareConstant, .compare = how, .id = a.id, .a = a.a, .b = b.a}, 1));
        return o;
      }
    }
    MS_TRY(emit({.op = Op::kCompare, .compare = how}, -1));
    return o;
  }

  // JMS writes the digits in lower case, people do not always.
  PropertyView normal_identifier(const PropertyView& v) {
    if (!v.is_string() || !is_identifier_text(v.text())) return v;
    std::string lower(v.text());
    std::transform(lower.begin() + 3, lower.end(), lower.begin() + 3,
                   [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c; });
    // In place: the constant is a view of our own strings.
    std::copy(lower.begin(), lower.end(), out_.strings_.begin() + (v.data - out_.strings_.data()));
    return v;
  }

  IdentifierEquality equality_of(PropertyId id, const PropertyView& v) {
    IdentifierEquality e;
    if (!v.is_string() && !v.is_bytes()) return e;
    // The other form is never equal to it, so there is nothing to look for.
    bool is_mqmd = id == PropertyId::kMqmdMsgId || id == PropertyId::kMqmdCorrelId;
    if (is_mqmd != v.is_bytes()) return e;
    e.field = field_of(id);
    if (!e) return e;
    e.is_whole = true;
    e.is_bytes = is_mqmd || is_identifier_text(v.text());
    if (!is_mqmd && e.is_bytes) {
      for (size_t i = 3; i < v.size; i += 2) {
        e.value.push_back(static_cast<char>(base::hex_digit_value(v.data[i]) * 16 +
                                            base::hex_digit_value(v.data[i + 1])));
      }
    } else {
      e.value = v.text();
    }
    return e;
  }

  // The instruction of an identifier that stands alone.
  Status need_identifier(const Operand& left, size_t at, std::string_view reason) {
    if (out_.code_.size() == left.first + 1 && out_.code_.back().op == Op::kProperty) return {};
    return fail_at(at, reason);
  }

  Result<Operand> take_is_null(const Operand& left, size_t start) {
    MS_TRY(need_identifier(left, start, "IS NULL follows a property name"));
    MS_TRY(advance());
    bool is_negated = MS_TRY(skip_keyword(Keyword::kNot));
    if (!token_.is_keyword(Keyword::kNull)) return fail("NULL is expected");
    MS_TRY(advance());
    MS_TRY(emit({.op = Op::kIsNull, .is_negated = is_negated}, 0));
    return truth_from(left);
  }

  Result<Operand> take_between(const Operand& left, size_t start, bool is_negated) {
    MS_TRY(need_number(left, start));
    MS_TRY(advance());
    start = token_.at;
    MS_TRY(need_number(MS_TRY(take_sum()), start));
    if (!token_.is_keyword(Keyword::kAnd)) return fail("the AND of BETWEEN is expected");
    MS_TRY(advance());
    start = token_.at;
    MS_TRY(need_number(MS_TRY(take_sum()), start));
    MS_TRY(emit({.op = Op::kBetween, .is_negated = is_negated}, -2));
    return truth_from(left);
  }

  Result<Operand> take_in(const Operand& left, size_t start, bool is_negated) {
    MS_TRY(need_identifier(left, start, "IN follows a property name"));
    bool is_identifier = is_identifier_property(out_.code_.back().id);
    MS_TRY(advance());
    MS_TRY(expect_symbol("(", "the list of IN is expected"));
    ConstantSet set;
    while (true) {
      size_t at = token_.at;
      PropertyView v = MS_TRY(take_literal());
      bool is_like = set.values.empty() || set.values.front().type == v.type ||
                     (!v.is_string() && !v.is_bytes() && !set.values.front().is_string() &&
                      !set.values.front().is_bytes());
      if (!is_like) return fail_at(at, "the values of IN have to be of one type");
      set.values.push_back(is_identifier ? normal_identifier(v) : v);
      if (!token_.is_symbol(",")) break;
      MS_TRY(advance());
    }
    MS_TRY(expect_symbol(")", "a comma or the closing parenthesis is expected"));
    if (set.values.front().is_string() || set.values.front().is_bytes()) {
      std::sort(set.values.begin(), set.values.end(),
                [](const PropertyView& a, const PropertyView& b) {
                  return a.size != b.size ? a.size < b.size : a.text() < b.text();
                });
    }
    out_.sets_.push_back(std::move(set));
    MS_TRY(emit({.op = Op::kIn,
                 .is_negated = is_negated,
                 .a = static_cast<uint32_t>(out_.sets_.size() - 1)},
                0));
    return truth_from(left);
  }

  // A member of IN: a string, bytes, or a number with its sign.
  Result<PropertyView> take_literal() {
    bool is_negative = token_.is_symbol("-");
    if (is_negative || token_.is_symbol("+")) {
      MS_TRY(advance());
      is_after_sign_ = true;
      if (token_.kind != TokenKind::kInteger && token_.kind != TokenKind::kReal) {
        return fail("a number is expected");
      }
    }
    return take_constant(is_negative);
  }

  // The literal at the token. `is_negative`: a minus stood before it.
  Result<PropertyView> take_constant(bool is_negative) {
    MS_TRY(count_operand());
    PropertyView v;
    switch (token_.kind) {
      case TokenKind::kInteger: {
        constexpr uint64_t kMost = uint64_t{1} << 63;
        if (token_.integer == kMost && !is_negative) {
          return fail("the number does not fit 64 bits");
        }
        v = PropertyView::int64(
            static_cast<int64_t>(is_negative ? 0 - token_.integer : token_.integer));
        break;
      }
      case TokenKind::kReal:
        v = PropertyView::float64(is_negative ? -token_.real : token_.real);
        break;
      case TokenKind::kString:
        v = PropertyView::string(keep(token_.value));
        break;
      case TokenKind::kBytes:
        v = PropertyView::bytes(keep(token_.value));
        break;
      default:
        return fail("a literal is expected");
    }
    MS_TRY(advance());
    return v;
  }

  Result<Operand> take_like(const Operand& left, size_t start, bool is_negated) {
    MS_TRY(need_identifier(left, start, "LIKE follows a property name"));
    MS_TRY(advance());
    if (token_.kind != TokenKind::kString) return fail("the pattern of LIKE is a string");
    size_t pattern_at = token_.at;
    std::string pattern = token_.value;
    MS_TRY(count_operand());
    MS_TRY(advance());
    std::string escape;
    if (MS_TRY(skip_keyword(Keyword::kEscape))) {
      if (token_.kind != TokenKind::kString || text::count_code_points(token_.value) != 1) {
        return fail("ESCAPE needs a string of one character");
      }
      escape = token_.value;
      MS_TRY(advance());
    }
    MS_TRY(add_pattern(pattern, escape, pattern_at));
    MS_TRY(emit({.op = Op::kLike,
                 .is_negated = is_negated,
                 .a = static_cast<uint32_t>(out_.patterns_.size() - 1)},
                0));
    return truth_from(left);
  }

  Status add_pattern(std::string_view pattern, std::string_view escape, size_t at) {
    std::string chars, kinds;
    for (size_t i = 0; i < pattern.size();) {
      char kind = pattern[i] == '%'   ? Pattern::kAny
                  : pattern[i] == '_' ? Pattern::kOne
                                      : Pattern::kLiteral;
      if (!escape.empty() && pattern.substr(i, escape.size()) == escape) {
        i += escape.size();
        bool is_special = i < pattern.size() && (pattern[i] == '%' || pattern[i] == '_');
        if (!is_special && pattern.substr(i, escape.size()) != escape) {
          return fail_at(at, "the escape character stands before %, _ or itself");
        }
        size_t n = is_special ? 1 : escape.size();
        chars += pattern.substr(i, n);
        kinds.append(n, Pattern::kLiteral);
        i += n;
        continue;
      }
      chars.push_back(pattern[i++]);
      kinds.push_back(kind);
    }
    out_.patterns_.push_back({keep(chars), keep(kinds)});
    return {};
  }

  Result<Operand> take_sum() {
    size_t start = token_.at;
    Operand left = MS_TRY(take_product());
    while (token_.is_symbol("+") || token_.is_symbol("-")) {
      Op op = token_.is_symbol("+") ? Op::kAdd : Op::kSubtract;
      MS_TRY(need_number(left, start));
      MS_TRY(advance());
      size_t at = token_.at;
      MS_TRY(need_number(MS_TRY(take_product()), at));
      MS_TRY(emit({.op = op}, -1));
      left.type = StaticType::kNumber;
    }
    return left;
  }

  Result<Operand> take_product() {
    size_t start = token_.at;
    Operand left = MS_TRY(take_signed());
    while (token_.is_symbol("*") || token_.is_symbol("/")) {
      Op op = token_.is_symbol("*") ? Op::kMultiply : Op::kDivide;
      MS_TRY(need_number(left, start));
      MS_TRY(advance());
      size_t at = token_.at;
      MS_TRY(need_number(MS_TRY(take_signed()), at));
      MS_TRY(emit({.op = op}, -1));
      left.type = StaticType::kNumber;
    }
    return left;
  }

  Result<Operand> take_signed() {
    uint32_t signs = 0, minuses = 0;
    while (token_.is_symbol("+") || token_.is_symbol("-")) {
      if (++signs > Selector::kDepthMax) return fail("there are too many signs");
      minuses += token_.is_symbol("-");
      MS_TRY(advance());
      is_after_sign_ = true;
    }
    bool is_number = token_.kind == TokenKind::kInteger || token_.kind == TokenKind::kReal;
    if (signs > 0 && is_number) return take_number(minuses % 2 == 1);
    size_t at = token_.at;
    Operand o = MS_TRY(take_primary());
    if (signs == 0) return o;
    MS_TRY(need_number(o, at));
    o.equality = {};
    o.type = StaticType::kNumber;
    // Also for an even number of minuses: a sign makes a number of it, or nothing.
    MS_TRY(emit({.op = Op::kNegate}, 0));
    if (minuses % 2 == 0) MS_TRY(emit({.op = Op::kNegate}, 0));
    return o;
  }

  Result<Operand> take_number(bool is_negative) {
    Operand o{.type = StaticType::kNumber, .first = out_.code_.size()};
    PropertyView v = MS_TRY(take_constant(is_negative));
    MS_TRY(emit({.op = Op::kConstant, .a = add_constant(v)}, 1));
    return o;
  }

  Status count_operand() {
    if (++operands_ <= Selector::kOperandsMax) return {};
    return fail("there are too many literals and names");
  }

  Result<Operand> take_primary() {
    Operand o;
    o.first = out_.code_.size();
    if (token_.is_symbol("(")) return take_parenthesis();
    if (token_.kind == TokenKind::kIdentifier) {
      MS_TRY(take_identifier());
      return o;
    }
    PropertyView v;
    if (token_.is_keyword(Keyword::kTrue) || token_.is_keyword(Keyword::kFalse)) {
      MS_TRY(count_operand());
      v = PropertyView::boolean(token_.is_keyword(Keyword::kTrue));
      o.type = StaticType::kTruth;
      MS_TRY(advance());
    } else {
      TokenKind kind = token_.kind;
      o.type = kind == TokenKind::kString  ? StaticType::kString
               : kind == TokenKind::kBytes ? StaticType::kBytes
                                           : StaticType::kNumber;
      if (kind == TokenKind::kEnd || kind == TokenKind::kKeyword || kind == TokenKind::kSymbol) {
        return fail("a name, a literal or a parenthesis is expected");
      }
      v = MS_TRY(take_constant(false));
    }
    MS_TRY(emit({.op = Op::kConstant, .a = add_constant(v)}, 1));
    return o;
  }

  Result<Operand> take_parenthesis() {
    if (++depth_ > Selector::kDepthMax) return fail("parentheses are too deeply nested");
    MS_TRY(advance());
    Operand o = MS_TRY(take_or());
    MS_TRY(expect_symbol(")", "the closing parenthesis is expected"));
    --depth_;
    return o;
  }

  Status take_identifier() {
    MS_TRY(count_operand());
    std::string_view name = token_.text;
    mqi::ResolvedProperty p = mqi::resolve_property(name);
    bool is_body = name.substr(0, 5) == "Body." || name == "Body" || name == "Root" ||
                   (name.substr(0, 5) == "Root." && name.substr(0, 10) != "Root.MQMD.");
    if (is_body) {
      size_t character = 1 + text::count_code_points(text_.substr(0, token_.at));
      return base::make_error(errors::kSelectionNotAvailable, {name, character});
    }
    if (p.id == PropertyId::kNamed && name.substr(0, 10) == "Root.MQMD.") {
      return fail("the message descriptor has no such field");
    }
    uint32_t constant = add_constant(PropertyView::string(keep(p.name)));
    MS_TRY(advance());
    return emit({.op = Op::kProperty, .id = p.id, .a = constant}, 1);
  }

  Selector& out_;
  Lexer lexer_;
  std::string_view text_;
  Token token_;
  int stack_ = 0;
  uint32_t depth_ = 0;
  uint32_t operands_ = 0;
  bool is_after_sign_ = false;
};

Result<std::shared_ptr<const Selector>> Selector::compile(std::string_view text) {
  if (text.size() > kTextBytesMax) {
    return base::make_error(errors::kSelectionString, {"it is longer than 10240 bytes"});
  }
  if (!text::is_valid_utf8(text)) {
    return base::make_error(errors::kSelectionString, {"it is not valid UTF-8"});
  }
  std::shared_ptr<Selector> selector(new Selector);
  selector->text_ = text;
  MS_TRY(Compiler(*selector, selector->text_).run());
  return std::shared_ptr<const Selector>(std::move(selector));
}

}  // namespace millstream::queue::selector
