#include "queue/selector/selector.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "queue/selector/selector_for_test.h"

namespace millstream::queue::selector {
namespace {

using mqi::PropertyId;
using mqi::PropertyView;

SelectorTestSource selector_message() {
  SelectorTestSource m;
  m.named["color"] = PropertyView::string("red");
  m.named["quantity"] = PropertyView::int32(12);
  m.named["weight"] = PropertyView::float64(2.5);
  m.named["ratio"] = PropertyView::float32(1.1f);
  m.named["urgent"] = PropertyView::boolean(true);
  m.named["calm"] = PropertyView::boolean(false);
  m.named["key"] = PropertyView::bytes("\x2F\x1C");
  m.named["place"] = PropertyView::string("Z\xC3\xBCrich 100%_x");
  m.named["max"] = PropertyView::int64(INT64_MAX);
  m.named["empty"] = PropertyView::string("");
  m.fields[PropertyId::kJmsPriority] = PropertyView::int32(4);
  m.fields[PropertyId::kMqmdPriority] = PropertyView::int32(4);
  m.fields[PropertyId::kJmsDeliveryMode] = PropertyView::string("PERSISTENT");
  m.fields[PropertyId::kJmsCorrelationId] =
      PropertyView::string("ID:414d5120514d312020202020202020200a0b0c0d0e0f1011");
  return m;
}

// "true", "false", "unknown", or why it was refused.
std::string evaluated(std::string_view text) {
  auto s = Selector::compile(text);
  if (!s.ok()) return std::to_string(s.error().number) + " " + s.error().text;
  // What it prints is the same selector.
  auto again = Selector::compile(s.value()->canonical_text());
  REQUIRE_MESSAGE(again.ok(), s.value()->canonical_text());
  CHECK(again.value()->canonical_text() == s.value()->canonical_text());
  SelectorTestSource m = selector_message();
  Truth t = s.value()->evaluate(m);
  CHECK(again.value()->evaluate(m) == t);
  CHECK(s.value()->matches(m) == (t == Truth::kTrue));
  return t == Truth::kTrue ? "true" : t == Truth::kFalse ? "false" : "unknown";
}

bool refuses(std::string_view text, int reason, std::string_view part) {
  auto s = Selector::compile(text);
  if (s.ok()) return false;
  if (s.error().number == reason && s.error().text.find(part) != std::string::npos) return true;
  MESSAGE(s.error().text);
  return false;
}

TEST_CASE("selector: comparisons and types") {
  CHECK(evaluated("color = 'red'") == "true");
  CHECK(evaluated("color <> 'red'") == "false");
  CHECK(evaluated("Color = 'red'") == "unknown");  // names have case
  CHECK(evaluated("color = 'Red'") == "false");    // and so have strings
  CHECK(evaluated("usr.color = 'red'") == "true");
  CHECK(evaluated("quantity = 12") == "true");
  CHECK(evaluated("quantity = 12.0") == "true");  // exact and approximate
  CHECK(evaluated("weight > 2") == "true");
  CHECK(evaluated("5 > weight") == "true");
  CHECK(evaluated("quantity >= 12 and quantity <= 12") == "true");
  CHECK(evaluated("ratio = 1.1") == "false");  // a float is not the double, as in Java
  CHECK(evaluated("ratio = 1.1f") == "true");
  // Unlike types: false, whichever operator; so NOT makes it true.
  CHECK(evaluated("color = 12") == "false");
  CHECK(evaluated("color <> 12") == "false");
  CHECK(evaluated("NOT color = 12") == "true");
  CHECK(evaluated("color > quantity") == "false");
  CHECK(evaluated("urgent = TRUE") == "true");
  CHECK(evaluated("urgent <> calm") == "true");
  CHECK(evaluated("urgent = 1") == "false");
  CHECK(evaluated("key = \"0x2F1C\"") == "true");
  CHECK(evaluated("key = \"0X2f1c\"") == "true");
  CHECK(evaluated("key = \"0x2F1C00\"") == "false");  // zeros count
  CHECK(evaluated("key = '0x2F1C'") == "false");
  CHECK(evaluated("empty = ''") == "true");
  CHECK(evaluated("empty IS NULL") == "false");
}

TEST_CASE("selector: literals") {
  CHECK(evaluated("quantity = 0xC") == "true");
  CHECK(evaluated("quantity = 0XC and quantity = 014") == "true");  // octal
  CHECK(evaluated("quantity = 1.2E1 and quantity = 120e-1 and quantity = 12.") == "true");
  CHECK(evaluated("weight = .25e+1 and weight = +2.5") == "true");
  CHECK(evaluated("quantity = 12L") == "true");
  CHECK(evaluated("max = 9223372036854775807") == "true");
  CHECK(evaluated("-9223372036854775808 < max") == "true");
  CHECK(evaluated("color = 'it''s'") == "false");
  CHECK(evaluated("TRUE") == "true");
  CHECK(evaluated("true and NOT false") == "true");
  CHECK(refuses("quantity = 09", 2459, "octal"));
  CHECK(refuses("quantity = 9223372036854775808", 2459, "64 bits"));
  CHECK(refuses("quantity = 1e999", 2459, "range"));
  CHECK(refuses("quantity = 12abc", 2459, "no number"));
  CHECK(refuses("quantity = 0x", 2459, "64 bits"));
  CHECK(refuses("color = \"red\"", 2459, "double quotes"));
  CHECK(refuses("key = \"0x2F1\"", 2459, "double quotes"));
  CHECK(refuses("key = \"0x2G\"", 2459, "hexadecimal"));
  CHECK(refuses("color = 'red", 2459, "not closed"));
}

TEST_CASE("selector: three-valued logic") {
  CHECK(evaluated("none = 1") == "unknown");
  CHECK(evaluated("NOT none = 1") == "unknown");
  CHECK(evaluated("none <> 1") == "unknown");
  CHECK(evaluated("none = none") == "unknown");
  const char* values[] = {"TRUE", "FALSE", "none"};
  const char* conjunction[] = {"true",  "false",   "unknown", "false",  "false",
                               "false", "unknown", "false",   "unknown"};
  const char* disjunction[] = {"true",    "true", "true",    "true",   "false",
                               "unknown", "true", "unknown", "unknown"};
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      std::string left = values[a], right = values[b];
      CHECK(evaluated(left + " AND " + right) == conjunction[3 * a + b]);
      CHECK(evaluated(left + " OR " + right) == disjunction[3 * a + b]);
    }
  }
  CHECK(evaluated("none IS NULL") == "true");
  CHECK(evaluated("none IS NOT NULL") == "false");
  CHECK(evaluated("color is not null") == "true");
  CHECK(evaluated("none + 1 > 0") == "unknown");
  CHECK(evaluated("color + 1 > 0") == "unknown");
  CHECK(evaluated("color") == "unknown");  // a string is no condition
  CHECK(evaluated("NOT quantity") == "unknown");
  CHECK(evaluated("urgent AND NOT calm") == "true");
  CHECK(evaluated("NOT NOT urgent") == "true");
  CHECK(evaluated("none IN ('a', 'b')") == "unknown");
  CHECK(evaluated("none NOT IN ('a', 'b')") == "unknown");
  CHECK(evaluated("none LIKE '%'") == "unknown");
  CHECK(evaluated("none BETWEEN 1 AND 2") == "unknown");
  CHECK(evaluated("quantity BETWEEN none AND 2") == "false");  // one half decides
  CHECK(evaluated("quantity NOT BETWEEN none AND 2") == "true");
}

TEST_CASE("selector: arithmetic, precedence and promotion") {
  CHECK(evaluated("quantity * 2 + 1 = 25") == "true");
  CHECK(evaluated("1 + quantity * 2 = 25") == "true");
  CHECK(evaluated("(1 + quantity) * 2 = 26") == "true");
  CHECK(evaluated("quantity / 5 = 2") == "true");  // whole numbers
  CHECK(evaluated("quantity / 5.0 = 2.4") == "true");
  CHECK(evaluated("quantity - 5 - 5 = 2") == "true");
  CHECK(evaluated("-quantity = -12 and - -quantity = 12 and +quantity = 12") == "true");
  CHECK(evaluated("-color = 1") == "unknown");
  CHECK(evaluated("+color = 'red'") == "unknown");
  CHECK(evaluated("quantity / 0 = 1") == "unknown");
  CHECK(evaluated("weight / 0 > 1000") == "true");
  CHECK(evaluated("max + 1 < 0") == "true");  // as Java's sums
  CHECK(evaluated("-9223372036854775808 / -1 < 0") == "true");
  CHECK(evaluated("quantity = 1 OR quantity = 12 AND color = 'red'") == "true");
  CHECK(evaluated("(quantity = 12 OR quantity = 1) AND color = 'blue'") == "false");
  CHECK(evaluated("NOT quantity = 1 AND color = 'red'") == "true");
  CHECK(evaluated("(quantity > 1) = (weight > 1)") == "true");
}

TEST_CASE("selector: BETWEEN, IN and LIKE") {
  CHECK(evaluated("quantity BETWEEN 12 AND 13 AND color = 'red'") == "true");
  CHECK(evaluated("quantity NOT BETWEEN 1 AND 5 + 6") == "true");
  CHECK(evaluated("color BETWEEN 1 AND 5") == "false");
  CHECK(evaluated("color NOT BETWEEN 1 AND 5") == "false");
  CHECK(evaluated("color IN ('green', 'red', 'a')") == "true");
  CHECK(evaluated("color NOT IN ('green', 'a')") == "true");
  CHECK(evaluated("quantity IN ('12')") == "false");
  CHECK(evaluated("quantity IN (1, 12.0, -3)") == "true");
  CHECK(evaluated("key IN (\"0x00\", \"0x2F1C\")") == "true");
  CHECK(refuses("color IN ('a', 1)", 2459, "one type"));
  CHECK(refuses("color IN ()", 2459, "literal"));
  CHECK(refuses("color IN ('a' 'b')", 2459, "comma"));
  CHECK(refuses("'a' IN ('a')", 2459, "property name"));
  CHECK(evaluated("color LIKE 'r%'") == "true");
  CHECK(evaluated("color LIKE '_e_'") == "true");
  CHECK(evaluated("color LIKE 're'") == "false");
  CHECK(evaluated("color NOT LIKE '%x%'") == "true");
  CHECK(evaluated("empty LIKE '%' AND empty LIKE '' AND NOT empty LIKE '_'") == "true");
  CHECK(evaluated("place LIKE 'Z_rich%'") == "true");  // one character, two bytes
  CHECK(evaluated("place LIKE '%100!%!_x' ESCAPE '!'") == "true");
  CHECK(evaluated("place LIKE '%100\\%\\_y' ESCAPE '\\'") == "false");
  CHECK(evaluated("color LIKE 'r!!%' ESCAPE '!'") == "false");
  CHECK(evaluated("quantity LIKE '12'") == "false");
  CHECK(refuses("color LIKE 'a!b' ESCAPE '!'", 2459, "escape"));
  CHECK(refuses("color LIKE 'a!' ESCAPE '!'", 2459, "escape"));
  CHECK(refuses("color LIKE 'a' ESCAPE '!!'", 2459, "one character"));
  CHECK(refuses("color LIKE 5", 2459, "string"));
}

TEST_CASE("selector: header fields") {
  CHECK(evaluated("JMSPriority = 4") == "true");
  CHECK(evaluated("Root.MQMD.Priority > 3") == "true");
  CHECK(evaluated("JMSDeliveryMode = 'PERSISTENT'") == "true");
  CHECK(evaluated("JMSType IS NULL") == "true");
  CHECK(evaluated("JMSCorrelationID = 'ID:414D5120514D312020202020202020200A0B0C0D0E0F1011'") ==
        "true");
  CHECK(evaluated("JMSCorrelationID IN ('ID:414D5120514D312020202020202020200A0B0C0D0E0F1011')") ==
        "true");
  CHECK(refuses("Root.MQMD.Nothing = 1", 2459, "no such field"));
  CHECK(refuses("Root.XMLNSC.a = 1", 2551, "Root.XMLNSC.a"));
  CHECK(refuses("Body.a = 1", 2551, "body"));
}

TEST_CASE("selector: mistakes are told with their place") {
  struct Mistake {
    const char* text;
    const char* part;
    uint32_t column;
  };
  const Mistake mistakes[] = {
      {"color =", "expected", 8},
      {"color = 'red' quantity", "operator or the end", 15},
      {"(color = 'red'", "closing parenthesis", 15},
      {"color == 'red'", "expected", 8},
      {"color != 'red'", "no meaning", 7},
      {"'a' AND TRUE", "condition", 1},
      {"TRUE AND 5", "condition", 10},
      {"color > 'a'", "a number", 9},
      {"TRUE < FALSE", "a number", 1},
      {"(quantity = 1) + 2 = 3", "a number", 1},
      {"color IS 5", "NULL", 10},
      {"5 IS NULL", "property name", 1},
      {"color NOT = 'a'", "BETWEEN, IN or LIKE", 11},
      {"a..b = 1", "between dots", 2},
      {"a. = 1", "ends in a dot", 2},
      {"\xC3\xBC = # ", "no meaning", 5},
      {"5", "condition", 1},
      {"quantity BETWEEN 1 OR 2", "AND of BETWEEN", 20},
      {"NULL = 1", "expected", 1},
  };
  for (const Mistake& m : mistakes) {
    CAPTURE(m.text);
    auto s = Selector::compile(m.text);
    REQUIRE_FALSE(s.ok());
    CHECK(s.error().number == 2459);
    CHECK(s.error().position.column == m.column);
    CHECK_MESSAGE(s.error().text.find(m.part) != std::string::npos, s.error().text);
  }
}

TEST_CASE("selector: limits") {
  auto nested = [](size_t n) { return std::string(n, '(') + "a = 1" + std::string(n, ')'); };
  CHECK(Selector::compile(nested(Selector::kDepthMax)).ok());
  CHECK(refuses(nested(Selector::kDepthMax + 1), 2459, "deeply nested"));
  std::string deep;  // each level keeps a value on the stack
  for (int i = 0; i < 80; ++i) deep += "1 + (";
  deep += "a" + std::string(80, ')') + " = 1";
  CHECK(refuses(deep, 2459, "deeply nested"));
  std::string nots;
  for (uint32_t i = 0; i < Selector::kDepthMax + 1; ++i) nots += "NOT ";
  CHECK(refuses(nots + "a", 2459, "too many NOTs"));
  CHECK(refuses("a = " + std::string(Selector::kDepthMax + 1, '-') + "1", 2459, "signs"));
  std::string many = "a=1";
  for (uint32_t i = 0; i < Selector::kOperandsMax / 2; ++i) many += " OR a=1";
  CHECK(refuses(many, 2459, "too many literals"));
  std::string longest = "a = '" + std::string(Selector::kTextBytesMax - 6, 'x') + "'";
  CHECK(Selector::compile(longest).ok());
  CHECK(refuses(longest + " ", 2519, "longer"));
  CHECK(refuses("a = '\xFF'", 2519, "UTF-8"));
  // A chain is a loop, not a recursion.
  std::string chain = "a";
  for (int i = 0; i < 1500; ++i) chain += "+b";
  CHECK(Selector::compile(chain + " = 1").ok());
}

// The obvious matcher, which tries everything.
bool naive_like(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '%') {
    return naive_like(pattern.substr(1), text) ||
           (!text.empty() && naive_like(pattern, text.substr(1)));
  }
  return !text.empty() && (pattern[0] == '_' || pattern[0] == text[0]) &&
         naive_like(pattern.substr(1), text.substr(1));
}

TEST_CASE("selector: LIKE agrees with a naive matcher, and has an end") {
  constexpr uint64_t kSeed = 31;
  CAPTURE(kSeed);
  base::SeededRandom random(kSeed);
  auto make = [&](std::string_view letters, size_t longest) {
    std::string s;
    for (size_t n = random.next_u64() % (longest + 1); n > 0; --n) {
      s += letters[random.next_u64() % letters.size()];
    }
    return s;
  };
  SelectorTestSource m;
  int matches = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string pattern = make("ab%_%", 8), text = make("ab", 10);
    m.named["s"] = PropertyView::string(text);
    auto s = Selector::compile("s LIKE '" + pattern + "'");
    REQUIRE(s.ok());
    bool wanted = naive_like(pattern, text);
    CAPTURE(pattern);
    CAPTURE(text);
    REQUIRE(s.value()->matches(m) == wanted);
    matches += wanted;
  }
  CHECK(matches > 3'000);
  std::string text(2'000'000, 'a'), pattern = "%";
  for (int i = 0; i < 2'000; ++i) pattern += "_a";
  m.named["s"] = PropertyView::string(text);
  CHECK_FALSE(Selector::compile("s LIKE '" + pattern + "b_%'").value()->matches(m));
  CHECK(Selector::compile("s LIKE '" + pattern + "%'").value()->matches(m));
}

TEST_CASE("selector: blanks select everything") {
  auto s = Selector::compile(" \t\n");
  REQUIRE(s.ok());
  CHECK(s.value()->selects_all());
  CHECK(s.value()->matches(selector_message()));
  CHECK(s.value()->canonical_text().empty());
}

TEST_CASE("selector: the canonical text") {
  auto canonical = [](std::string_view text) {
    auto s = Selector::compile(text);
    return s.ok() ? s.value()->canonical_text() : s.error().text;
  };
  CHECK(canonical("color='red'and(quantity>0xA or  NOT  urgent)") ==
        "color = 'red' AND (quantity > 10 OR NOT urgent)");
  CHECK(canonical("a in('x' , 'it''s')") == "a IN ('x', 'it''s')");
  CHECK(canonical("a =-  5 and b= + 1.50") == "a = -5 AND b = +1.5");
  CHECK(canonical("a = 5d and k = \"0XFF\"") == "a = 5.0 AND k = \"0xff\"");
  CHECK(canonical("a between 1 and 2 or b is  null") == "a BETWEEN 1 AND 2 OR b IS NULL");
}

TEST_CASE("selector: an equality on an identifier is found") {
  using Field = IdentifierEquality::Field;
  auto equality = [](std::string_view text) {
    auto s = Selector::compile(text);
    REQUIRE(s.ok());
    return s.value()->identifier_equality();
  };
  auto e = equality("JMSCorrelationID = 'order-7'");
  CHECK(e.field == Field::kCorrelationId);
  CHECK((e.is_whole && !e.is_bytes && e.value == "order-7"));
  e = equality("'order-7' = (JMSCorrelationID)");
  CHECK((e.field == Field::kNone || e.value == "order-7"));
  e = equality("(JMSMessageID='ID:414D5120514D312020202020202020200a0b0c0d0e0f1011')");
  CHECK(e.field == Field::kMessageId);
  CHECK((e.is_whole && e.is_bytes && e.value.size() == 24 && e.value.substr(0, 4) == "AMQ "));
  e = equality("Root.MQMD.CorrelId = \"0x0102\" AND color = 'red'");
  CHECK(e.field == Field::kCorrelationId);
  CHECK((!e.is_whole && e.is_bytes && e.value == "\x01\x02"));
  e = equality("a = 1 AND (JMSCorrelationID = 'x' AND JMSMessageID = 'y')");
  CHECK((e.field == Field::kMessageId && e.value == "y" && !e.is_whole));
  CHECK_FALSE(equality("JMSCorrelationID = 'x' OR a = 1"));
  CHECK_FALSE(equality("NOT JMSCorrelationID = 'x'"));
  CHECK_FALSE(equality("JMSCorrelationID <> 'x'"));
  CHECK_FALSE(equality("JMSCorrelationID = 5"));
  CHECK_FALSE(equality("(JMSCorrelationID = 'x') = FALSE"));
  CHECK_FALSE(equality("a = 'x'"));
}

}  // namespace
}  // namespace millstream::queue::selector
