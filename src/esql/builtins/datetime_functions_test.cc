#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "base/arena.h"
#include "esql/builtin.h"
#include "esql/cast.h"
#include "value/datetime.h"

namespace millstream::esql::builtins {
// From the table of built-ins; called directly here.
Status fn_extract(EvalContext&, std::span<const value::Value>, value::Value&);
Status fn_current_date(EvalContext&, std::span<const value::Value>, value::Value&);
Status fn_current_time(EvalContext&, std::span<const value::Value>, value::Value&);
Status fn_current_timestamp(EvalContext&, std::span<const value::Value>, value::Value&);
Status fn_current_gmtdate(EvalContext&, std::span<const value::Value>, value::Value&);
Status fn_current_gmttime(EvalContext&, std::span<const value::Value>, value::Value&);
Status fn_current_gmttimestamp(EvalContext&, std::span<const value::Value>, value::Value&);
Status fn_local_timezone(EvalContext&, std::span<const value::Value>, value::Value&);
Status fn_uuidasblob(EvalContext&, std::span<const value::Value>, value::Value&);
Status fn_uuidaschar(EvalContext&, std::span<const value::Value>, value::Value&);
Status fn_base64encode(EvalContext&, std::span<const value::Value>, value::Value&);
Status fn_base64decode(EvalContext&, std::span<const value::Value>, value::Value&);
Status fn_coalesce(EvalContext&, std::span<const value::Value>, value::Value&);
Status fn_nullif(EvalContext&, std::span<const value::Value>, value::Value&);

namespace {

using value::IntervalQualifier;
using value::Kind;
using value::Value;

struct FunctionFixture {
  base::Arena arena;
  std::shared_ptr<base::NameTable> names = [] {
    auto table = std::make_shared<base::NameTable>();
    table->freeze();
    return table;
  }();
  tree::TreeContext tree{arena, names};
  value::TimeZone zone = value::TimeZone::fixed(-19'800, "X");  // 5:30 west
  // 2024-03-01 02:00:00.25 GMT is 2024-02-29 20:30:00.25 there.
  EvalContext context{tree, zone, 1'709'258'400'250'000, nullptr};

  std::string call(BuiltinFunction f, std::vector<Value> args = {}) {
    Value out;
    Status s = f(context, args, out);
    return s.ok() ? display_text(context, out) : s.error().code->id;
  }
  static Value lit(Kind kind, std::string_view body) {
    Value v;
    REQUIRE(value::parse_literal_body(kind, body, v).ok());
    return v;
  }
  std::string extract(ExtractPart part, const Value& v) {
    return call(fn_extract, {Value::make_integer(static_cast<int64_t>(part)), v});
  }
  static Value text(std::string_view s) { return Value::make_character(s); }
  static Value blob(std::string_view s) { return Value::make_blob(s); }
};

}  // namespace

TEST_CASE_FIXTURE(FunctionFixture, "CURRENT_ functions and LOCAL_TIMEZONE") {
  CHECK(call(fn_current_date) == "DATE '2024-02-29'");
  CHECK(call(fn_current_time) == "TIME '20:30:00.250000'");
  CHECK(call(fn_current_timestamp) == "TIMESTAMP '2024-02-29 20:30:00.250000'");
  CHECK(call(fn_current_gmtdate) == "DATE '2024-03-01'");
  CHECK(call(fn_current_gmttime) == "GMTTIME '02:00:00.250000'");
  CHECK(call(fn_current_gmttimestamp) == "GMTTIMESTAMP '2024-03-01 02:00:00.250000'");
  CHECK(call(fn_local_timezone) == "INTERVAL '-5:30' HOUR TO MINUTE");
}

TEST_CASE_FIXTURE(FunctionFixture, "EXTRACT from dates") {
  using P = ExtractPart;
  struct Case {
    P part;
    const char* date;
    const char* expected;
  };
  const Case cases[] = {
      {P::kYear, "2024-02-29", "2024"},        {P::kMonth, "2024-02-29", "2"},
      {P::kDay, "2024-02-29", "29"},           {P::kDays, "2000-02-29", "730179"},
      {P::kDays, "0001-01-01", "1"},           {P::kDayOfYear, "2024-12-31", "366"},
      {P::kDayOfWeek, "2024-02-29", "5"},      {P::kDayOfWeek, "2024-03-03", "1"},
      {P::kMonths, "0001-01-31", "1"},         {P::kMonths, "2000-02-29", "23990"},
      {P::kQuarterOfYear, "2024-03-31", "1"},  {P::kQuarterOfYear, "2024-04-01", "2"},
      {P::kQuarterOfYear, "2024-12-31", "4"},  {P::kQuarters, "0001-01-01", "1"},
      {P::kQuarters, "2000-02-29", "7997"},    {P::kWeeks, "0001-01-01", "1"},
      {P::kWeeks, "0001-01-06", "1"},          {P::kWeeks, "0001-01-07", "2"},
      {P::kWeekOfYear, "2024-01-01", "1"},     {P::kWeekOfYear, "2024-01-07", "2"},
      {P::kWeekOfYear, "2024-12-31", "53"},    {P::kWeekOfMonth, "2024-02-03", "1"},
      {P::kWeekOfMonth, "2024-02-04", "2"},    {P::kIsLeapYear, "2024-01-01", "TRUE"},
      {P::kIsLeapYear, "1900-01-01", "FALSE"}, {P::kHour, "2024-01-01", "MS1562"},
      {P::kSecond, "2024-01-01", "MS1562"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.date);
    CAPTURE(static_cast<int>(c.part));
    CHECK(extract(c.part, lit(Kind::kDate, c.date)) == c.expected);
    Value t = lit(Kind::kTimestamp, std::string(c.date) + " 23:59:59.5");
    bool is_clock = c.part == P::kHour || c.part == P::kSecond;
    CHECK(extract(c.part, t) == (!is_clock ? c.expected : c.part == P::kHour ? "23" : "5.95E+1"));
  }
}

TEST_CASE_FIXTURE(FunctionFixture, "EXTRACT from times and intervals, and what it refuses") {
  using P = ExtractPart;
  Value t = lit(Kind::kTime, "10:20:30.5");
  CHECK(extract(P::kHour, t) == "10");
  CHECK(extract(P::kMinute, t) == "20");
  CHECK(extract(P::kSecond, t) == "3.05E+1");
  CHECK(extract(P::kDay, t) == "MS1562");
  CHECK(extract(P::kIsLeapYear, lit(Kind::kGmtTime, "10:20:30")) == "MS1562");
  auto interval = [](std::string_view body, IntervalQualifier q) {
    Value v;
    REQUIRE(value::parse_interval_body(body, q, v).ok());
    return v;
  };
  Value zone_offset = interval("-5:30", IntervalQualifier::kHourToMinute);
  CHECK(extract(P::kHour, zone_offset) == "-5");
  CHECK(extract(P::kMinute, zone_offset) == "-30");
  CHECK(extract(P::kSecond, zone_offset) == "MS1562");
  Value long_one = interval("3 04:05:06.25", IntervalQualifier::kDayToSecond);
  CHECK(extract(P::kDay, long_one) == "3");
  CHECK(extract(P::kHour, long_one) == "4");
  CHECK(extract(P::kMinute, long_one) == "5");
  CHECK(extract(P::kSecond, long_one) == "6.25E+0");
  CHECK(extract(P::kMonth, long_one) == "MS1562");
  CHECK(extract(P::kMonth, interval("2-06", IntervalQualifier::kYearToMonth)) == "6");
  CHECK(extract(P::kSecond, interval("90.5", IntervalQualifier::kSecond)) == "9.05E+1");
  CHECK(extract(P::kYear, text("2024-01-01")) == "MS1520");
  CHECK(call(fn_extract, {Value::make_integer(99), t}) == "MS1520");
}

TEST_CASE_FIXTURE(FunctionFixture, "UUIDs") {
  const char bytes[] = "\x12\x3e\x45\x67\xe8\x9b\x12\xd3\xa4\x56\x42\x66\x14\x17\x40\x00";
  CHECK(call(fn_uuidaschar, {blob({bytes, 16})}) == "123e4567-e89b-12d3-a456-426614174000");
  CHECK(call(fn_uuidasblob, {text("123E4567-e89b-12d3-a456-426614174000")}) ==
        "X'123e4567e89b12d3a456426614174000'");
  std::string a = call(fn_uuidaschar), b = call(fn_uuidaschar);
  CHECK(a.size() == 36);
  CHECK(a != b);
  CHECK(a[14] == '4');
  CHECK(std::string_view("89ab").find(a[19]) != std::string_view::npos);
  CHECK(call(fn_uuidasblob).size() == 35);
  CHECK(call(fn_uuidaschar, {blob("short")}) == "MS1561");
  CHECK(call(fn_uuidaschar, {text("x")}) == "MS1520");
  CHECK(call(fn_uuidasblob, {text("123e4567-e89b-12d3-a456-42661417400")}) == "MS1561");
  CHECK(call(fn_uuidasblob, {text("123e4567xe89b-12d3-a456-426614174000")}) == "MS1561");
  CHECK(call(fn_uuidasblob, {text("123g4567-e89b-12d3-a456-426614174000")}) == "MS1561");
  CHECK(call(fn_uuidasblob, {Value::make_integer(1)}) == "MS1520");
}

TEST_CASE_FIXTURE(FunctionFixture, "base 64") {
  const std::pair<const char*, const char*> vectors[] = {// RFC 4648 section 10
                                                         {"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (auto [plain, coded] : vectors) {
    CHECK(call(fn_base64encode, {blob(plain)}) == coded);
    CHECK(call(fn_base64encode, {text(plain)}) == coded);
    Value out, in = text(coded);
    REQUIRE(fn_base64decode(context, {&in, 1}, out).ok());
    CHECK(out.kind == Kind::kBlob);
    CHECK(out.text() == plain);
  }
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  Value in = blob(all), coded, out;
  REQUIRE(fn_base64encode(context, {&in, 1}, coded).ok());
  REQUIRE(fn_base64decode(context, {&coded, 1}, out).ok());
  CHECK(out.text() == all);
  CHECK(call(fn_base64decode, {text("Zm9v\r\n YmFy\n")}) == "X'666f6f626172'");
  CHECK(call(fn_base64decode, {text("Zg")}) == "X'66'");
  for (const char* bad :
       {"Z", "Zg=", "Zg===", "=Zg", "Zg==Zg==", "Zm9v=", "Z*==", "Zm9vY", "Zm-_"}) {
    CAPTURE(bad);
    CHECK(call(fn_base64decode, {text(bad)}) == "MS1560");
  }
  CHECK(call(fn_base64decode, {Value::make_integer(1)}) == "MS1520");
  CHECK(call(fn_base64encode, {Value::make_integer(1)}) == "MS1520");
}

TEST_CASE_FIXTURE(FunctionFixture, "COALESCE and NULLIF") {
  CHECK(call(fn_coalesce, {Value::null(), text("x"), text("y")}) == "x");
  CHECK(call(fn_coalesce, {Value::null(), Value::null()}) == "NULL");
  CHECK(call(fn_nullif, {text("a"), text("b")}) == "a");
  CHECK(call(fn_nullif, {text("a"), text("a  ")}) == "NULL");
  CHECK(call(fn_nullif, {Value::null(), text("a")}) == "NULL");
  CHECK(call(fn_nullif, {text("a"), Value::null()}) == "a");
  CHECK(call(fn_nullif, {Value::make_integer(1), text("01")}) == "NULL");
}

}  // namespace millstream::esql::builtins
