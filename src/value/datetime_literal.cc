// The text of datetime and interval literals, both ways.
#include "base/ascii.h"
#include "text/utf8.h"
#include "value/datetime.h"
#include "value/errors_gen.h"

namespace millstream::value {
namespace {

using Q = IntervalQualifier;

struct QualifierRecord {
  Q qualifier;
  const char* name;
  Q first, last;
};

// In the order of the enumeration.
constexpr QualifierRecord kQualifiers[] = {
    {Q::kYear, "YEAR", Q::kYear, Q::kYear},
    {Q::kYearToMonth, "YEAR TO MONTH", Q::kYear, Q::kMonth},
    {Q::kMonth, "MONTH", Q::kMonth, Q::kMonth},
    {Q::kDay, "DAY", Q::kDay, Q::kDay},
    {Q::kDayToHour, "DAY TO HOUR", Q::kDay, Q::kHour},
    {Q::kDayToMinute, "DAY TO MINUTE", Q::kDay, Q::kMinute},
    {Q::kDayToSecond, "DAY TO SECOND", Q::kDay, Q::kSecond},
    {Q::kHour, "HOUR", Q::kHour, Q::kHour},
    {Q::kHourToMinute, "HOUR TO MINUTE", Q::kHour, Q::kMinute},
    {Q::kHourToSecond, "HOUR TO SECOND", Q::kHour, Q::kSecond},
    {Q::kMinute, "MINUTE", Q::kMinute, Q::kMinute},
    {Q::kMinuteToSecond, "MINUTE TO SECOND", Q::kMinute, Q::kSecond},
    {Q::kSecond, "SECOND", Q::kSecond, Q::kSecond},
};

// Reads the parts of a literal from the front.
struct LiteralScanner {
  std::string_view text;
  size_t at = 0;

  bool done() const { return at == text.size(); }
  bool take(char c) {
    if (done() || text[at] != c) return false;
    ++at;
    return true;
  }
  // Exactly `digits` digits.
  bool fixed(int digits, int32_t& out) {
    int32_t v = 0;
    for (int i = 0; i < digits; ++i, ++at) {
      if (done() || text[at] < '0' || text[at] > '9') return false;
      v = v * 10 + (text[at] - '0');
    }
    out = v;
    return true;
  }
  bool open(int64_t& out) {
    size_t start = at;
    int64_t v = 0;
    while (!done() && text[at] >= '0' && text[at] <= '9' && at - start < 18) {
      v = v * 10 + (text[at++] - '0');
    }
    out = v;
    return at > start;
  }
  // 1 to 6 digits after the point.
  bool fraction(int32_t& micros) {
    int digits = 0;
    micros = 0;
    while (!done() && text[at] >= '0' && text[at] <= '9' && digits < 6) {
      micros = micros * 10 + (text[at++] - '0');
      ++digits;
    }
    for (int i = digits; i < 6; ++i) micros *= 10;
    return digits > 0;
  }
  bool date(DateTimeFields& f) {
    return fixed(4, f.year) && take('-') && fixed(2, f.month) && take('-') && fixed(2, f.day);
  }
  bool time(DateTimeFields& f) {
    if (!fixed(2, f.hour) || !take(':') || !fixed(2, f.minute) || !take(':') ||
        !fixed(2, f.second)) {
      return false;
    }
    return !take('.') || fraction(f.micros);
  }
};

Status bad_literal(Kind kind, std::string_view text, const LiteralScanner& scan) {
  std::string why = scan.done() ? "it ends too early"
                                : "character " + std::to_string(scan.at + 1) + " is not expected";
  return base::make_error(errors::kDateTimeText, {text, kind_name(kind), why});
}

Status parse_body(Kind kind, std::string_view body, bool allows_t, Value& out) {
  LiteralScanner scan{body};
  DateTimeFields f;
  bool has_date = kind != Kind::kTime && kind != Kind::kGmtTime;
  bool has_time = kind != Kind::kDate;
  bool matched = !has_date || scan.date(f);
  if (matched && has_date && has_time) matched = scan.take(' ') || (allows_t && scan.take('T'));
  if (matched && has_time) matched = scan.time(f);
  if (!matched || !scan.done()) return bad_literal(kind, body, scan);
  out = MS_TRY(compose(kind, f));
  return {};
}

// Removes `word` from the front; what follows must not continue the word.
bool take_word(std::string_view& s, std::string_view word) {
  if (!text::equals_ignoring_ascii_case(s.substr(0, word.size()), word)) return false;
  std::string_view rest = s.substr(word.size());
  if (!rest.empty() &&
      (std::isalnum(static_cast<unsigned char>(rest.front())) || rest.front() == '_')) {
    return false;
  }
  s = base::trim_white_space(rest);
  return true;
}

// '...' from the front.
bool take_quoted(std::string_view& s, std::string_view& body) {
  if (s.empty() || s.front() != '\'') return false;
  size_t end = s.find('\'', 1);
  if (end == std::string_view::npos) return false;
  body = s.substr(1, end - 1);
  s.remove_prefix(end + 1);
  return true;
}

void append_date(std::string& out, const DateTimeFields& f) {
  base::append_padded(out, f.year, 4);
  out.push_back('-');
  base::append_padded(out, f.month, 2);
  out.push_back('-');
  base::append_padded(out, f.day, 2);
}

void append_time(std::string& out, const DateTimeFields& f) {
  base::append_padded(out, f.hour, 2);
  out.push_back(':');
  base::append_padded(out, f.minute, 2);
  out.push_back(':');
  base::append_padded(out, f.second, 2);
  out.push_back('.');
  base::append_padded(out, f.micros, 6);
}

struct IntervalField {
  Q field;
  int64_t unit;    // months or microseconds
  int64_t limit;   // exclusive, when not the first field
  char separator;  // before it, when not the first field
};

constexpr IntervalField kIntervalFields[] = {
    {Q::kYear, 12, 0, 0},
    {Q::kMonth, 1, 12, '-'},
    {Q::kDay, kMicrosPerDay, 0, 0},
    {Q::kHour, kMicrosPerHour, 24, ' '},
    {Q::kMinute, kMicrosPerMinute, 60, ':'},
    {Q::kSecond, kMicrosPerSecond, 60, ':'},
};

// Calls `visit(field, is_first)` for every field of the qualifier until it returns false.
template <typename Visit>
bool for_each_interval_field(Q q, Visit visit) {
  Q first = first_field(q), last = last_field(q);
  bool is_inside = false, is_first = true;
  for (const IntervalField& field : kIntervalFields) {
    if (field.field == first) is_inside = true;
    if (!is_inside) continue;
    if (!visit(field, is_first)) return false;
    is_first = false;
    if (field.field == last) break;
  }
  return true;
}

void append_interval(std::string& out, const Value& v) {
  Q q = v.interval_qualifier();
  bool is_negative = v.integer < 0;
  // As unsigned, so that the smallest value has a magnitude.
  uint64_t rest =
      is_negative ? 0 - static_cast<uint64_t>(v.integer) : static_cast<uint64_t>(v.integer);
  if (is_negative) out.push_back('-');
  for_each_interval_field(q, [&](const IntervalField& field, bool is_first) {
    if (!is_first) out.push_back(field.separator);
    auto unit = static_cast<uint64_t>(field.unit);
    base::append_padded(out, static_cast<int64_t>(rest / unit), is_first ? 1 : 2);
    rest %= unit;
    if (field.field == Q::kSecond) {
      out.push_back('.');
      base::append_padded(out, static_cast<int64_t>(rest), 6);
    }
    return true;
  });
}

bool scan_interval(LiteralScanner& scan, Q q, int64_t& amount) {
  bool is_negative = scan.take('-');
  if (!is_negative) scan.take('+');
  while (scan.take(' ')) {
  }
  int64_t total = 0;
  bool matched = for_each_interval_field(q, [&](const IntervalField& field, bool is_first) {
    int64_t n = 0;
    if (is_first) {
      if (!scan.open(n)) return false;
    } else {
      int32_t two = 0;
      if (!scan.take(field.separator) || !scan.fixed(2, two) || two >= field.limit) return false;
      n = two;
    }
    int64_t part = 0;
    if (__builtin_mul_overflow(n, field.unit, &part) ||
        __builtin_add_overflow(total, part, &total)) {
      return false;
    }
    if (field.field != Q::kSecond || !scan.take('.')) return true;
    int32_t micros = 0;
    return scan.fraction(micros) && !__builtin_add_overflow(total, int64_t{micros}, &total);
  });
  amount = is_negative ? -total : total;
  return matched && scan.done();
}

}  // namespace

std::string_view qualifier_name(IntervalQualifier q) {
  return kQualifiers[static_cast<size_t>(q)].name;
}

IntervalQualifier first_field(IntervalQualifier q) {
  return kQualifiers[static_cast<size_t>(q)].first;
}

IntervalQualifier last_field(IntervalQualifier q) {
  return kQualifiers[static_cast<size_t>(q)].last;
}

std::optional<IntervalQualifier> parse_qualifier(std::string_view words) {
  std::string normal;
  for (char c : base::trim_white_space(words)) {
    if (!base::is_ascii_white_space(c)) {
      normal.push_back(c);
    } else if (normal.back() != ' ') {
      normal.push_back(' ');
    }
  }
  for (const QualifierRecord& r : kQualifiers) {
    if (text::equals_ignoring_ascii_case(normal, r.name)) return r.qualifier;
  }
  return std::nullopt;
}

Status parse_literal_body(Kind kind, std::string_view body, Value& out) {
  return parse_body(kind, body, false, out);
}

Status parse_interval_body(std::string_view body, IntervalQualifier q, Value& out) {
  LiteralScanner scan{base::trim_white_space(body)};
  int64_t amount = 0;
  if (!scan_interval(scan, q, amount)) return base::make_error(errors::kIntervalText, {body});
  out = Value::make_interval(amount, q);
  return {};
}

Status parse_datetime_text(Kind kind, std::string_view text, Value& out) {
  std::string_view rest = base::trim_white_space(text);
  if (!take_word(rest, kind_name(kind))) return parse_body(kind, rest, true, out);
  std::string_view body;
  if (!take_quoted(rest, body) || !rest.empty()) {
    return base::make_error(errors::kDateTimeText,
                            {text, kind_name(kind), "the value must stand between single quotes"});
  }
  return parse_body(kind, body, false, out);
}

Status parse_interval_text(std::string_view text, const IntervalQualifier* expected, Value& out) {
  std::string_view rest = base::trim_white_space(text);
  if (!take_word(rest, "INTERVAL")) {
    if (expected == nullptr) return base::make_error(errors::kIntervalText, {text});
    Status s = parse_interval_body(rest, *expected, out);
    return s.ok() ? Status() : base::make_error(errors::kIntervalText, {text});
  }
  bool is_negated = false;
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
    is_negated = rest.front() == '-';
    rest = base::trim_white_space(rest.substr(1));
  }
  std::string_view body;
  if (!take_quoted(rest, body)) return base::make_error(errors::kIntervalText, {text});
  std::optional<IntervalQualifier> q = parse_qualifier(rest);
  Value v;
  if (!q || !parse_interval_body(body, *q, v).ok()) {
    return base::make_error(errors::kIntervalText, {text});
  }
  if (is_negated) v.integer = -v.integer;
  if (expected != nullptr) return requalify_interval(v, *expected, out);
  out = v;
  return {};
}

std::string format_literal_body(const Value& v) {
  std::string out;
  if (v.kind == Kind::kInterval) {
    append_interval(out, v);
    return out;
  }
  DateTimeFields f = decompose(v);
  bool has_date = v.kind != Kind::kTime && v.kind != Kind::kGmtTime;
  bool has_time = v.kind != Kind::kDate;
  if (has_date) append_date(out, f);
  if (has_date && has_time) out.push_back(' ');
  if (has_time) append_time(out, f);
  return out;
}

std::string format_literal(const Value& v) {
  std::string out(kind_name(v.kind));
  out += " '";
  out += format_literal_body(v);
  out += '\'';
  if (v.kind == Kind::kInterval) {
    out += ' ';
    out += qualifier_name(v.interval_qualifier());
  }
  return out;
}

}  // namespace millstream::value
