#include "esql/cast.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/arena.h"
#include "esql/errors_gen.h"
#include "value/datetime.h"
#include "value/decimal.h"

namespace millstream::esql {
namespace {

using value::IntervalQualifier;
using value::Kind;
using value::Value;

// 2024-07-15 09:30:45.123456 GMT, 11:30:45 in the zone of the tests.
constexpr int64_t kCastNow = 1'721'035'845'123'456;

struct CastFixture {
  base::Arena arena;
  std::shared_ptr<base::NameTable> names = [] {
    auto table = std::make_shared<base::NameTable>();
    table->freeze();
    return table;
  }();
  tree::TreeContext tree{arena, names};
  value::TimeZone zone = value::TimeZone::load("CET-1CEST,M3.5.0,M10.5.0/3").value();
  EvalContext context{tree, zone, kCastNow, nullptr};

  Value lit(Kind kind, std::string_view body) {
    Value v;
    REQUIRE(value::parse_literal_body(kind, body, v).ok());
    return v;
  }
  Value dec(std::string_view text) {
    value::Decimal d;
    REQUIRE(value::Decimal::parse(text, d));
    return Value::make_decimal(d, arena);
  }
  Value span_of(std::string_view body, IntervalQualifier q) {
    Value v;
    REQUIRE(value::parse_interval_body(body, q, v).ok());
    return v;
  }
  static Value text(std::string_view s) { return Value::make_character(s); }
  static Value blob(std::string_view s) { return Value::make_blob(s); }

  // The display text of the result with its type in front, or the error ids from outer to inner.
  std::string run(std::vector<Value> sources, CastTarget target, CastClauses clauses = {}) {
    Value out = Value::make_integer(424242);
    Status s = cast(context, sources, target, clauses, out);
    if (s.ok()) {
      if (out.is_null()) return "NULL";
      return std::string(kind_name(out.kind)) + " " + display_text(context, out);
    }
    std::string ids;
    for (const base::Error* e = &s.error(); e;
         e = e->causes.empty() ? nullptr : e->causes[0].get()) {
      if (!ids.empty()) ids += " ";
      ids += e->code->id;
      CHECK(e->kind == base::ExceptionKind::kCast);
      if (e->kind != base::ExceptionKind::kCast) MESSAGE(e->text);
    }
    return ids;
  }
  static CastTarget to(Kind kind, int32_t precision = -1, int32_t scale = -1) {
    CastTarget t;
    t.kind = kind;
    t.precision = precision;
    t.scale = scale;
    return t;
  }
  static CastTarget to_interval(IntervalQualifier q) {
    CastTarget t;
    t.kind = Kind::kInterval;
    t.qualifier = q;
    t.has_qualifier = true;
    return t;
  }
  static CastClauses format(std::string_view pattern) {
    CastClauses c;
    c.format = text(pattern);
    return c;
  }
  static CastClauses ccsid(int64_t ccsid, int64_t encoding = 0) {
    CastClauses c;
    if (ccsid != 0) c.ccsid = Value::make_integer(ccsid);
    if (encoding != 0) c.encoding = Value::make_integer(encoding);
    return c;
  }
};

}  // namespace

TEST_CASE_FIXTURE(CastFixture, "cast: NULL stays NULL for every target") {
  for (int k = 1; k <= static_cast<int>(Kind::kInterval); ++k) {
    CHECK(run({Value::null()}, to(static_cast<Kind>(k))) == "NULL");
  }
  CHECK(run({Value::make_integer(2024), Value::null(), Value::make_integer(1)}, to(Kind::kDate)) ==
        "NULL");
}

TEST_CASE_FIXTURE(CastFixture, "cast: numbers") {
  struct Case {
    Value source;
    CastTarget target;
    const char* expected;
  };
  const Case cases[] = {
      {Value::make_integer(7), to(Kind::kInteger), "INTEGER 7"},
      {Value::make_float(1.9), to(Kind::kInteger), "INTEGER 1"},
      {Value::make_float(-1.9), to(Kind::kInteger), "INTEGER -1"},
      {Value::make_float(9.3e18), to(Kind::kInteger), "BIP2521 MS1552"},
      {Value::make_float(-9223372036854775808.0), to(Kind::kInteger),
       "INTEGER -9223372036854775808"},
      {Value::make_float(std::nan("")), to(Kind::kInteger), "BIP2521 MS1552"},
      {dec("2.5"), to(Kind::kInteger), "INTEGER 2"},
      {dec("3.5"), to(Kind::kInteger), "INTEGER 4"},
      {dec("1E+30"), to(Kind::kInteger), "BIP2521 MS1552"},
      {dec("INF"), to(Kind::kInteger), "BIP2521 MS1552"},
      {text(" 42 "), to(Kind::kInteger), "INTEGER 42"},
      {text("-7"), to(Kind::kInteger), "INTEGER -7"},
      {text(""), to(Kind::kInteger), "BIP2521 MS1551"},
      {text("abc"), to(Kind::kInteger), "BIP2521 MS1551"},
      {text("9223372036854775808"), to(Kind::kInteger), "BIP2521 MS1552"},
      {Value::make_integer(3), to(Kind::kFloat), "FLOAT 3E+0"},
      {dec("0.1"), to(Kind::kFloat), "FLOAT 1E-1"},
      {dec("1E+400"), to(Kind::kFloat), "BIP2521 MS1552"},
      {text("1.5e3"), to(Kind::kFloat), "FLOAT 1.5E+3"},
      {text("x"), to(Kind::kFloat), "BIP2521 MS1551"},
      {Value::make_integer(3), to(Kind::kDecimal), "DECIMAL 3"},
      {Value::make_float(0.1), to(Kind::kDecimal), "DECIMAL 0.1"},
      {text("1.50"), to(Kind::kDecimal), "DECIMAL 1.50"},
      {text("1.50"), to(Kind::kDecimal, 10, 1), "DECIMAL 1.5"},
      {text("1.25"), to(Kind::kDecimal, 10, 1), "DECIMAL 1.2"},
      {text("1.5"), to(Kind::kDecimal, 10, 3), "DECIMAL 1.500"},
      {text("123.4"), to(Kind::kDecimal, 4, 2), "BIP2521 MS1552"},
      {text("NAN"), to(Kind::kDecimal), "DECIMAL NAN"},
      {text("1,5"), to(Kind::kDecimal), "BIP2521 MS1551"},
      {Value::make_boolean(true), to(Kind::kInteger), "MS1550"},
      {Value::make_integer(1), to(Kind::kBoolean), "MS1550"},
      {lit(Kind::kDate, "2024-01-31"), to(Kind::kInteger), "MS1550"},
      {span_of("90", IntervalQualifier::kMinute), to(Kind::kInteger), "INTEGER 90"},
      {span_of("90.5", IntervalQualifier::kSecond), to(Kind::kInteger), "INTEGER 90"},
      {span_of("90.5", IntervalQualifier::kSecond), to(Kind::kFloat), "FLOAT 9.05E+1"},
      {span_of("90.5", IntervalQualifier::kSecond), to(Kind::kDecimal), "DECIMAL 90.500000"},
      {span_of("1-06", IntervalQualifier::kYearToMonth), to(Kind::kInteger), "MS1550"},
  };
  for (const Case& c : cases) {
    CAPTURE(display_text(context, c.source));
    CAPTURE(kind_name(c.target.kind));
    CHECK(run({c.source}, c.target) == c.expected);
  }
}

TEST_CASE_FIXTURE(CastFixture, "cast: to CHARACTER without clauses gives literal forms") {
  struct Case {
    Value source;
    const char* expected;
  };
  const char bits[] = "\xA0";
  const Case cases[] = {
      {Value::make_boolean(true), "TRUE"},
      {Value::make_boolean(false), "FALSE"},
      {Value::make_integer(-5), "-5"},
      {Value::make_float(1.5), "1.5E+0"},
      {Value::make_float(0), "0E+0"},
      {dec("1.50"), "1.50"},
      {text("as it is "), "as it is "},
      {blob("\x0a\xff"), "X'0aff'"},
      {blob(""), "X''"},
      {Value::make_bit(bits, 3), "B'101'"},
      {lit(Kind::kDate, "2024-01-31"), "DATE '2024-01-31'"},
      {lit(Kind::kTime, "10:00:00"), "TIME '10:00:00.000000'"},
      {lit(Kind::kGmtTime, "10:00:00"), "GMTTIME '10:00:00.000000'"},
      {lit(Kind::kTimestamp, "2024-01-31 10:00:00"), "TIMESTAMP '2024-01-31 10:00:00.000000'"},
      {lit(Kind::kGmtTimestamp, "2024-01-31 10:00:00.5"),
       "GMTTIMESTAMP '2024-01-31 10:00:00.500000'"},
      {span_of("1 02", IntervalQualifier::kDayToHour), "INTERVAL '1 02' DAY TO HOUR"},
  };
  for (const Case& c : cases) {
    CHECK(run({c.source}, to(Kind::kCharacter)) == std::string("CHARACTER ") + c.expected);
    CHECK(display_text(context, c.source) == c.expected);
  }
  CHECK(display_text(context, Value::null()) == "NULL");
}

TEST_CASE_FIXTURE(CastFixture, "cast: BLOB and BIT") {
  using namespace std::string_view_literals;
  const char bits[] = "\xA0\x80";
  struct Case {
    Value source;
    Kind target;
    const char* expected;
  };
  const Case cases[] = {
      {text("X'0aFF'"), Kind::kBlob, "BLOB X'0aff'"},
      {text("0aff"), Kind::kBlob, "BLOB X'0aff'"},
      {text(" x'' "), Kind::kBlob, "BLOB X''"},
      {text(""), Kind::kBlob, "BLOB X''"},
      {text("0af"), Kind::kBlob, "BIP2521 MS1554"},
      {text("zz"), Kind::kBlob, "BIP2521 MS1554"},
      {text("X'0a"), Kind::kBlob, "BIP2521 MS1554"},
      {text("B'0101'"), Kind::kBit, "BIT B'0101'"},
      {text("0101"), Kind::kBit, "BIT B'0101'"},
      {text("012"), Kind::kBit, "BIP2521 MS1554"},
      {Value::make_bit(bits, 16), Kind::kBlob, "BLOB X'a080'"},
      {Value::make_bit(bits, 9), Kind::kBlob, "BIP2521 MS1555"},
      {blob("\xA0"), Kind::kBit, "BIT B'10100000'"},
      {Value::make_integer(258), Kind::kBlob, "BLOB X'0000000000000102'"},
      {Value::make_integer(-1), Kind::kBit,
       "BIT B'1111111111111111111111111111111111111111111111111111111111111111'"},
      {blob("\0\0\0\0\0\0\1\2"sv), Kind::kInteger, "INTEGER 258"},
      {blob("\1"), Kind::kInteger, "BIP2521 MS1555"},
      {Value::make_bit(bits, 9), Kind::kInteger, "BIP2521 MS1555"},
      {Value::make_float(1), Kind::kBlob, "MS1550"},
      {Value::make_boolean(true), Kind::kBit, "MS1550"},
      {blob("1"), Kind::kFloat, "MS1550"},
      {blob("1"), Kind::kDate, "MS1550"},
  };
  for (const Case& c : cases) {
    CAPTURE(display_text(context, c.source));
    CHECK(run({c.source}, to(c.target)) == c.expected);
  }
}

TEST_CASE_FIXTURE(CastFixture, "cast: CCSID and ENCODING") {
  using namespace std::string_view_literals;
  CHECK(run({blob("gr\xC3\xBC")}, to(Kind::kCharacter), ccsid(1208)) == "CHARACTER gr\xC3\xBC");
  CHECK(run({blob("gr\xFC")}, to(Kind::kCharacter), ccsid(819)) == "CHARACTER gr\xC3\xBC");
  CHECK(run({blob("gr\xFC")}, to(Kind::kCharacter), ccsid(819, 546)) == "CHARACTER gr\xC3\xBC");
  CHECK(run({blob("ok")}, to(Kind::kCharacter), ccsid(0, 546)) == "CHARACTER ok");
  CHECK(run({blob("\0A"sv)}, to(Kind::kCharacter), ccsid(1200)) == "CHARACTER A");
  CHECK(run({blob("A\0"sv)}, to(Kind::kCharacter), ccsid(1200, 546)) == "CHARACTER A");
  CHECK(run({blob("\0A"sv)}, to(Kind::kCharacter), ccsid(1200, 273)) == "CHARACTER A");
  CHECK(run({blob("\xC1\xF1")}, to(Kind::kCharacter), ccsid(500)) == "CHARACTER A1");
  CHECK(run({text("A1")}, to(Kind::kBlob), ccsid(500)) == "BLOB X'c1f1'");
  CHECK(run({text("A")}, to(Kind::kBlob), ccsid(1200, 546)) == "BLOB X'4100'");
  CHECK(run({text("A")}, to(Kind::kBlob), ccsid(1208)) == "BLOB X'41'");
  CHECK(run({text("A")}, to(Kind::kBit), ccsid(1208)) == "BIT B'01000001'");
  CHECK(run({Value::make_bit("A", 8)}, to(Kind::kCharacter), ccsid(1208)) == "CHARACTER A");
  CHECK(run({Value::make_bit("A", 7)}, to(Kind::kCharacter), ccsid(1208)) == "BIP2521 MS1555");
  CastClauses by_text;
  by_text.ccsid = text("1208");
  CHECK(run({blob("A")}, to(Kind::kCharacter), by_text) == "CHARACTER A");
  by_text.ccsid = Value::make_boolean(true);
  CHECK(run({blob("A")}, to(Kind::kCharacter), by_text) == "BIP2521 MS1557");
  by_text.ccsid = Value::make_integer(0);
  CHECK(run({blob("A")}, to(Kind::kCharacter), by_text) == "CHARACTER A");
  Value out;
  Value bad = blob("\xFF\xFE\x80");
  CHECK_FALSE(cast(context, {&bad, 1}, to(Kind::kCharacter), ccsid(1208), out).ok());
  CHECK_FALSE(cast(context, {&bad, 1}, to(Kind::kCharacter), ccsid(4711), out).ok());
  CHECK_FALSE(cast(context, {&bad, 1}, to(Kind::kCharacter), ccsid(-1), out).ok());
}

TEST_CASE_FIXTURE(CastFixture, "cast: BOOLEAN") {
  CHECK(run({text("true")}, to(Kind::kBoolean)) == "BOOLEAN TRUE");
  CHECK(run({text(" False ")}, to(Kind::kBoolean)) == "BOOLEAN FALSE");
  CHECK(run({text("unknown")}, to(Kind::kBoolean)) == "NULL");
  CHECK(run({text("yes")}, to(Kind::kBoolean)) == "BIP2521 MS1553");
  CHECK(run({Value::make_boolean(true)}, to(Kind::kBoolean)) == "BOOLEAN TRUE");
}

TEST_CASE_FIXTURE(CastFixture, "cast: between datetimes, in summer time") {
  struct Case {
    Kind from;
    const char* body;
    Kind target;
    const char* expected;
  };
  const Case cases[] = {
      {Kind::kDate, "2024-01-31", Kind::kDate, "DATE DATE '2024-01-31'"},
      {Kind::kDate, "2024-01-31", Kind::kTimestamp,
       "TIMESTAMP TIMESTAMP '2024-01-31 11:30:45.123456'"},
      {Kind::kDate, "2024-01-31", Kind::kGmtTimestamp,
       "GMTTIMESTAMP GMTTIMESTAMP '2024-01-31 09:30:45.123456'"},
      {Kind::kDate, "2024-01-31", Kind::kTime, "MS1550"},
      {Kind::kTime, "10:00:00", Kind::kDate, "MS1550"},
      {Kind::kTime, "10:00:00", Kind::kTimestamp,
       "TIMESTAMP TIMESTAMP '2024-07-15 10:00:00.000000'"},
      {Kind::kTime, "01:00:00", Kind::kGmtTimestamp,
       "GMTTIMESTAMP GMTTIMESTAMP '2024-07-14 23:00:00.000000'"},
      {Kind::kTime, "01:00:00", Kind::kGmtTime, "GMTTIME GMTTIME '23:00:00.000000'"},
      {Kind::kGmtTime, "23:00:00", Kind::kTime, "TIME TIME '01:00:00.000000'"},
      {Kind::kTimestamp, "2024-07-01 01:00:00", Kind::kDate, "DATE DATE '2024-07-01'"},
      {Kind::kTimestamp, "2024-07-01 01:00:00", Kind::kTime, "TIME TIME '01:00:00.000000'"},
      {Kind::kTimestamp, "2024-07-01 01:00:00", Kind::kGmtTime,
       "GMTTIME GMTTIME '23:00:00.000000'"},
      {Kind::kTimestamp, "2024-07-01 01:00:00", Kind::kGmtTimestamp,
       "GMTTIMESTAMP GMTTIMESTAMP '2024-06-30 23:00:00.000000'"},
      {Kind::kGmtTimestamp, "2024-06-30 23:00:00", Kind::kTimestamp,
       "TIMESTAMP TIMESTAMP '2024-07-01 01:00:00.000000'"},
      {Kind::kGmtTimestamp, "2024-06-30 23:00:00", Kind::kDate, "DATE DATE '2024-07-01'"},
      // A winter value takes the offset of the moment of the cast, not its own.
      {Kind::kGmtTimestamp, "2024-01-01 12:00:00", Kind::kTimestamp,
       "TIMESTAMP TIMESTAMP '2024-01-01 14:00:00.000000'"},
      {Kind::kGmtTimestamp, "9999-12-31 23:00:00", Kind::kTimestamp, "x"},
  };
  for (const Case& c : cases) {
    if (std::string_view(c.expected) == "x") {
      Value v = lit(c.from, c.body), out;
      CHECK_FALSE(cast(context, {&v, 1}, to(c.target), {}, out).ok());
      continue;
    }
    CAPTURE(c.body);
    CHECK(run({lit(c.from, c.body)}, to(c.target)) == c.expected);
  }
}

TEST_CASE_FIXTURE(CastFixture, "cast: text to datetimes and back by FORMAT") {
  struct Case {
    const char* text;
    Kind target;
    const char* pattern;
    const char* expected;
  };
  const Case cases[] = {
      {"2024-01-31", Kind::kDate, "", "DATE DATE '2024-01-31'"},
      {"DATE '2024-01-31'", Kind::kDate, "", "DATE DATE '2024-01-31'"},
      {" 2024-01-31 ", Kind::kDate, "", "DATE DATE '2024-01-31'"},
      {"2024-01-31T10:00:00Z", Kind::kDate, "", "DATE DATE '2024-01-31'"},
      {"10:00:00", Kind::kTime, "", "TIME TIME '10:00:00.000000'"},
      {"10:00:00Z", Kind::kTime, "", "TIME TIME '12:00:00.000000'"},
      {"2024-01-31 10:00:00.25", Kind::kTimestamp, "",
       "TIMESTAMP TIMESTAMP '2024-01-31 10:00:00.250000'"},
      {"2024-01-31T10:00:00", Kind::kTimestamp, "",
       "TIMESTAMP TIMESTAMP '2024-01-31 10:00:00.000000'"},
      {"2024-01-31T10:00:00.5Z", Kind::kTimestamp, "",
       "TIMESTAMP TIMESTAMP '2024-01-31 11:00:00.500000'"},
      {"2024-01-31T10:00:00+01:00", Kind::kGmtTimestamp, "",
       "GMTTIMESTAMP GMTTIMESTAMP '2024-01-31 09:00:00.000000'"},
      {"2024-01-31", Kind::kTimestamp, "", "BIP2521 MS1200"},
      {"2024", Kind::kDate, "", "BIP2521 MS1200"},
      {"", Kind::kDate, "", "BIP2521 MS1200"},
      {"2024-02-30", Kind::kDate, "", "BIP2521 MS1202"},
      {"31/01/2024", Kind::kDate, "dd/MM/yyyy", "DATE DATE '2024-01-31'"},
      {"20240131100000", Kind::kTimestamp, "yyyyMMddHHmmss",
       "TIMESTAMP TIMESTAMP '2024-01-31 10:00:00.000000'"},
      {"31-01-2024", Kind::kDate, "dd/MM/yyyy", "BIP2521 BIP3204"},
      {"31-01-2024", Kind::kDate, "qq", "BIP2521 MS1207"},
      {"4:14 PM", Kind::kTime, "hh:mm a", "BIP2521 BIP3204"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(run({text(c.text)}, to(c.target),
              *c.pattern == '\0' ? CastClauses() : format(c.pattern)) == c.expected);
  }
  Value t = lit(Kind::kTimestamp, "2024-01-31 10:00:00.5");
  CHECK(run({t}, to(Kind::kCharacter), format("yyyyMMddHHmmss")) == "CHARACTER 20240131100000");
  CHECK(run({t}, to(Kind::kCharacter), format("IU")) == "CHARACTER 2024-01-31T10:00:00.500+01:00");
  CHECK(run({t}, to(Kind::kBlob), format("yyyy")) == "BLOB X'32303234'");
  CHECK(run({blob("20240131")}, to(Kind::kDate), format("yyyyMMdd")) == "DATE DATE '2024-01-31'");
  CHECK(run({t}, to(Kind::kCharacter), format("oops")) == "BIP2521 MS1207");
  CastClauses wrong;
  wrong.format = Value::make_integer(1);
  CHECK(run({t}, to(Kind::kCharacter), wrong) == "BIP2521 MS1557");
}

TEST_CASE_FIXTURE(CastFixture, "cast: number FORMAT") {
  CHECK(run({Value::make_integer(42)}, to(Kind::kCharacter), format("000000")) ==
        "CHARACTER 000042");
  CHECK(run({dec("1234.5")}, to(Kind::kCharacter), format("#,##0.000")) == "CHARACTER 1,234.500");
  CHECK(run({Value::make_float(0.5)}, to(Kind::kCharacter), format("##0")) == "CHARACTER 0");
  CHECK(run({text("1,234.50")}, to(Kind::kDecimal), format("#,##0.00")) == "DECIMAL 1234.50");
  CHECK(run({text("000042")}, to(Kind::kInteger), format("000000")) == "INTEGER 42");
  CHECK(run({text("12x")}, to(Kind::kInteger), format("00")) == "BIP2521 MS1504");
  CHECK(run({Value::make_integer(42)}, to(Kind::kBlob), format("000")) == "BLOB X'303432'");
  CHECK(run({blob("042")}, to(Kind::kInteger), format("000")) == "INTEGER 42");
}

TEST_CASE_FIXTURE(CastFixture, "cast: INTERVAL") {
  using Q = IntervalQualifier;
  CHECK(run({Value::make_integer(3)}, to_interval(Q::kDay)) == "INTERVAL INTERVAL '3' DAY");
  CHECK(run({Value::make_integer(-90)}, to_interval(Q::kSecond)) ==
        "INTERVAL INTERVAL '-90.000000' SECOND");
  CHECK(run({Value::make_float(1.5)}, to_interval(Q::kSecond)) ==
        "INTERVAL INTERVAL '1.500000' SECOND");
  CHECK(run({dec("0.000001")}, to_interval(Q::kSecond)) == "INTERVAL INTERVAL '0.000001' SECOND");
  CHECK(run({Value::make_integer(3)}, to_interval(Q::kDayToHour)) == "BIP2521 MS1559");
  CHECK(run({Value::make_integer(3)}, to(Kind::kInterval)) == "BIP2521 MS1559");
  CHECK(run({text("65")}, to_interval(Q::kYear)) == "INTERVAL INTERVAL '65' YEAR");
  CHECK(run({text("INTERVAL '1 02' DAY TO HOUR")}, to(Kind::kInterval)) ==
        "INTERVAL INTERVAL '1 02' DAY TO HOUR");
  CHECK(run({text("1 02")}, to(Kind::kInterval)) == "BIP2521 BIP2463");
  CHECK(run({text("x")}, to_interval(Q::kDay)) == "BIP2521 BIP2463");
  CHECK(run({span_of("1 12:59", Q::kDayToMinute)}, to_interval(Q::kHour)) ==
        "INTERVAL INTERVAL '36' HOUR");
  CHECK(run({Value::make_boolean(true)}, to_interval(Q::kDay)) == "MS1550");
  Value year = span_of("1", Q::kYear), out;
  CHECK_FALSE(cast(context, {&year, 1}, to_interval(Q::kDay), {}, out).ok());
}

TEST_CASE_FIXTURE(CastFixture, "cast: several values to one") {
  using Q = IntervalQualifier;
  auto i = [](int64_t n) { return Value::make_integer(n); };
  CHECK(run({i(2024), i(1), i(31)}, to(Kind::kDate)) == "DATE DATE '2024-01-31'");
  CHECK(run({i(2024), i(2), i(30)}, to(Kind::kDate)) == "BIP2521 MS1202");
  CHECK(run({i(10), i(20), i(30)}, to(Kind::kTime)) == "TIME TIME '10:20:30.000000'");
  CHECK(run({i(10), i(20), Value::make_float(30.25)}, to(Kind::kGmtTime)) ==
        "GMTTIME GMTTIME '10:20:30.250000'");
  CHECK(run({i(10), i(20), dec("60")}, to(Kind::kTime)) == "BIP2521 MS1552");
  CHECK(run({i(2024), i(1), i(31), i(10), i(20), dec("30.5")}, to(Kind::kTimestamp)) ==
        "TIMESTAMP TIMESTAMP '2024-01-31 10:20:30.500000'");
  Value d = lit(Kind::kDate, "2024-01-31");
  CHECK(run({d, lit(Kind::kTime, "10:00:00")}, to(Kind::kTimestamp)) ==
        "TIMESTAMP TIMESTAMP '2024-01-31 10:00:00.000000'");
  CHECK(run({d, lit(Kind::kGmtTime, "23:00:00")}, to(Kind::kTimestamp)) ==
        "TIMESTAMP TIMESTAMP '2024-02-01 01:00:00.000000'");
  CHECK(run({d, lit(Kind::kGmtTime, "23:00:00")}, to(Kind::kGmtTimestamp)) ==
        "GMTTIMESTAMP GMTTIMESTAMP '2024-01-31 23:00:00.000000'");
  CHECK(run({lit(Kind::kTime, "10:00:00"), d}, to(Kind::kTimestamp)) == "BIP2521 MS1558");
  CHECK(run({i(1), i(6)}, to_interval(Q::kYearToMonth)) ==
        "INTERVAL INTERVAL '1-06' YEAR TO MONTH");
  CHECK(run({i(1), i(2), i(3), dec("4.5")}, to_interval(Q::kDayToSecond)) ==
        "INTERVAL INTERVAL '1 02:03:04.500000' DAY TO SECOND");
  CHECK(run({i(1), i(2)}, to_interval(Q::kDayToSecond)) == "BIP2521 MS1558");
  CHECK(run({i(1), i(2)}, to_interval(Q::kDay)) == "BIP2521 MS1558");
  CHECK(run({i(1), i(2)}, to(Kind::kDate)) == "BIP2521 MS1558");
  CHECK(run({i(1), i(2)}, to(Kind::kCharacter)) == "BIP2521 MS1558");
  CHECK(run({text("2024"), i(1), i(1)}, to(Kind::kDate)) == "MS1550");
  CHECK(run({i(99999999999), i(1), i(1)}, to(Kind::kDate)) == "BIP2521 MS1552");
}

TEST_CASE_FIXTURE(CastFixture, "cast: DEFAULT") {
  CastClauses c;
  c.has_default = true;
  c.default_value = Value::make_integer(-1);
  CHECK(run({text("abc")}, to(Kind::kInteger), c) == "INTEGER -1");
  CHECK(run({text("12")}, to(Kind::kInteger), c) == "INTEGER 12");
  CHECK(run({Value::null()}, to(Kind::kInteger), c) == "NULL");
  c.default_value = Value::null();
  CHECK(run({text("abc")}, to(Kind::kInteger), c) == "NULL");
  c.default_value = text("7");
  CHECK(run({text("abc")}, to(Kind::kInteger), c) == "INTEGER 7");
  CHECK(run({Value::make_boolean(true)}, to(Kind::kInteger), c) == "INTEGER 7");
}

TEST_CASE_FIXTURE(CastFixture, "cast: for assignment") {
  Value out;
  REQUIRE(cast_for_assignment(context, Value::null(), to(Kind::kInteger), out).ok());
  CHECK(out.is_null());
  REQUIRE(cast_for_assignment(context, Value::make_integer(5), to(Kind::kCharacter), out).ok());
  CHECK(out.text() == "5");
  REQUIRE(cast_for_assignment(context, text("5"), to(Kind::kInteger), out).ok());
  CHECK(out.integer == 5);
  CHECK_FALSE(cast_for_assignment(context, text("x"), to(Kind::kInteger), out).ok());
  Status s = cast_for_assignment(context, Value::make_integer(5),
                                 to_interval(IntervalQualifier::kDay), out);
  REQUIRE_FALSE(s.ok());
  CHECK(s.error().code == &errors::kUnsupportedCast);
  REQUIRE(cast_for_assignment(context, text("INTERVAL '5' DAY"), to(Kind::kInterval), out).ok());
  CHECK(display_text(context, out) == "INTERVAL '5' DAY");
  REQUIRE(cast_for_assignment(context, Value::make_float(0.1), to(Kind::kDecimal), out).ok());
  CHECK(display_text(context, out) == "0.1");
}

TEST_CASE_FIXTURE(CastFixture, "cast: the message shows the value as a literal, cut when long") {
  Value v = text("abc"), out;
  Status s = cast(context, {&v, 1}, to(Kind::kInteger), {}, out);
  REQUIRE_FALSE(s.ok());
  CHECK(s.error().text == "The value 'abc' cannot be cast to INTEGER.");
  CHECK(s.error().inserts[0].text == "'abc'");
  std::string big(5000, 'x');
  v = text(big);
  s = cast(context, {&v, 1}, to(Kind::kDecimal, 10, 2), {}, out);
  REQUIRE_FALSE(s.ok());
  CHECK(s.error().text.size() < 400);
  CHECK(s.error().inserts[1].text == "DECIMAL(10,2)");
  s = cast(context, {&v, 1}, to(Kind::kNull), {}, out);
  CHECK_FALSE(s.ok());
}

}  // namespace millstream::esql
