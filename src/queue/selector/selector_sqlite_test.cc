// Random selectors against SQLite, which shares this part of SQL-92: logic of three values,
// arithmetic, BETWEEN, IN, LIKE and IS NULL over one row. Left out is where the two differ by
// definition: comparisons of unlike types, overflow, and division of approximate numbers by zero.
#include <doctest/doctest.h>

#include <charconv>

#include "base/random.h"
#include "io/sqlite.h"
#include "queue/selector/selector.h"
#include "queue/selector/selector_for_test.h"

namespace millstream::queue::selector {
namespace {

using mqi::PropertyView;

class RandomSelector {
 public:
  explicit RandomSelector(uint64_t seed) : random_(seed) {}

  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_.next_u64() % n); }
  std::string condition(int depth) {
    switch (depth <= 0 ? 3 + below(6) : below(9)) {
      case 0:
        return condition(depth - 1) + " AND " + condition(depth - 1);
      case 1:
        return condition(depth - 1) + " OR " + condition(depth - 1);
      case 2:
        return "NOT (" + condition(depth - 1) + ")";
      case 3:
        return "(" + number(2) + compare() + number(2) + ")";
      case 4:
        return text() + (below(2) ? " = " : " <> ") + text();
      case 5:
        return pick({"i1", "i2", "r1", "(i1 + r1)"}) + negation() + "BETWEEN " + number(1) +
               " AND " + number(1);
      case 6:
        return pick({"s1", "s2"}) + negation() + "LIKE " + pattern();
      case 7:
        return pick({"s1", "s2"}) + negation() + "IN ('', 'ab', " + literal() + ")";
      default:
        return below(2) ? pick({"i1", "s2", "b1"}) + (below(2) ? " IS NULL" : " IS NOT NULL")
                        : pick({"b1", "b2", "TRUE", "FALSE", "b1 = b2", "b1 <> TRUE"});
    }
  }
  std::string literal() {
    std::string s = "'";
    for (uint32_t n = below(5); n > 0; --n) s += pick({"a", "b", "A", "%", "_", "\xC3\xBC"});
    return s + "'";
  }

 private:
  std::string pick(std::initializer_list<const char*> of) { return of.begin()[below(of.size())]; }
  std::string compare() { return pick({" = ", " <> ", " < ", " <= ", " > ", " >= "}); }
  std::string negation() { return below(3) ? " " : " NOT "; }
  std::string text() { return below(2) ? pick({"s1", "s2"}) : literal(); }
  std::string pattern() {
    std::string s = "'";
    bool is_escaping = below(3) == 0;
    for (uint32_t n = below(7); n > 0; --n) {
      s += is_escaping && below(3) == 0 ? pick({"!%", "!_", "!!"})
                                        : pick({"a", "b", "%", "_", "A", "\xC3\xBC"});
    }
    return s + (is_escaping ? "' ESCAPE '!'" : "'");
  }
  std::string number(int depth) {
    if (depth <= 0 || below(3) == 0) {
      return pick({"i1", "i2", "r1", "r2", "0", "1", "7", "2.5", "-3", "0.25", "1e1", "-i1"});
    }
    switch (below(5)) {
      case 0:
        return number(depth - 1) + " + " + number(depth - 1);
      case 1:
        return number(depth - 1) + " - " + number(depth - 1);
      case 2:
        return "(" + number(depth - 1) + ") * " + number(depth - 1);
      case 3:
        return "(" + pick({"i1", "7", "12"}) + " / " + pick({"i2", "2", "0", "3"}) + ")";
      default:
        return "(" + number(depth - 1) + ")";
    }
  }

  base::SeededRandom random_;
};

struct SqlRow {
  SelectorTestSource source;
  std::string sql;  // the values of the row
  std::string texts[2];

  void make(RandomSelector& r) {
    source.named.clear();
    sql.clear();
    auto add = [&](const char* name, const PropertyView& v, const std::string& as_sql) {
      bool is_null = r.below(4) == 0;
      if (!is_null) source.named[name] = v;
      sql += (sql.empty() ? "" : ", ") + (is_null ? std::string("NULL") : as_sql);
    };
    for (const char* name : {"i1", "i2"}) {
      int v = static_cast<int>(r.below(21)) - 10;
      add(name, PropertyView::int32(v), std::to_string(v));
    }
    for (const char* name : {"r1", "r2"}) {
      double d = (static_cast<int>(r.below(41)) - 20) / 4.0;
      add(name, PropertyView::float64(d), std::to_string(d));
    }
    for (int n = 0; n < 2; ++n) {
      std::string quoted = r.literal();
      texts[n] = quoted.substr(1, quoted.size() - 2);
      add(n ? "s2" : "s1", PropertyView::string(texts[n]), quoted);
    }
    for (const char* name : {"b1", "b2"}) {
      bool b = r.below(2);
      add(name, PropertyView::boolean(b), b ? "1" : "0");
    }
  }
};

TEST_CASE("selector: the same truth as SQLite") {
  constexpr uint64_t kSeed = 20261130;
  RandomSelector random(kSeed);
  auto database = io::SqliteDatabase::open(":memory:");
  REQUIRE(database.ok());
  io::SqliteDatabase& db = *database.value();
  REQUIRE(db.execute("PRAGMA case_sensitive_like = ON").ok());
  REQUIRE(db.execute("CREATE TABLE t (i1, i2, r1, r2, s1, s2, b1, b2)").ok());
  int seen[3] = {};
  for (int n = 0; n < 4'000; ++n) {
    SqlRow row;
    row.make(random);
    REQUIRE(db.execute(("DELETE FROM t; INSERT INTO t VALUES (" + row.sql + ")").c_str()).ok());
    std::string text = random.condition(3);
    CAPTURE(kSeed);
    CAPTURE(text);
    CAPTURE(row.sql);
    auto selector = Selector::compile(text);
    REQUIRE_MESSAGE(selector.ok(), selector.error().text);
    auto query = db.prepare("SELECT ifnull((" + text + ") <> 0, 2) FROM t");
    REQUIRE_MESSAGE(query.ok(), query.error().text);
    REQUIRE(query.value().step().value());
    int wanted = static_cast<int>(query.value().integer(0));
    int got = static_cast<int>(selector.value()->evaluate(row.source));
    REQUIRE(got == wanted);
    ++seen[got];
  }
  // The generator is worth something only when it makes all three.
  for (int count : seen) CHECK(count > 300);
}

}  // namespace
}  // namespace millstream::queue::selector
