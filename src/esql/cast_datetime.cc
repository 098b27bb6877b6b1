// CAST to the datetime types and to INTERVAL, and the casts of several values to one.
//
// Local and GMT values are converted by LOCAL_TIMEZONE, the offset at the instant of the node
// invocation, as the product does by default: a value of another season keeps today's offset.
#include "base/arena.h"
#include "esql/cast_internal.h"
#include "esql/errors_gen.h"
#include "value/datetime.h"
#include "value/datetime_format.h"
#include "value/decimal.h"

namespace millstream::esql::internal {

using value::Kind;
using value::kMicrosPerDay;
using value::kMicrosPerSecond;
using value::Value;

namespace {

int64_t local_offset_micros(const EvalContext& context) {
  return context.local_zone.offset_at_gmt(context.now_gmt_micros) * kMicrosPerSecond;
}

// The reading of the clock now: local, or GMT.
int64_t clock_now(const EvalContext& context, bool is_gmt) {
  return is_gmt ? context.now_gmt_micros : context.now_gmt_micros + local_offset_micros(context);
}

bool is_gmt_kind(Kind kind) { return kind == Kind::kGmtTime || kind == Kind::kGmtTimestamp; }
bool is_time_kind(Kind kind) { return kind == Kind::kTime || kind == Kind::kGmtTime; }

int64_t day_start(int64_t micros) {
  return value::floor_div(micros, kMicrosPerDay) * kMicrosPerDay;
}

// The source as a full clock reading of the target's kind of clock (local or GMT).
int64_t target_reading(const CastJob& job, bool to_gmt) {
  const Value& v = job.source;
  if (v.kind == Kind::kDate) {  // with the current time of day
    return v.integer * kMicrosPerDay +
           value::floor_mod(clock_now(job.context, to_gmt), kMicrosPerDay);
  }
  bool from_gmt = is_gmt_kind(v.kind);
  int64_t reading = v.integer;
  if (is_time_kind(v.kind)) reading += day_start(clock_now(job.context, from_gmt));
  if (from_gmt && !to_gmt) reading += local_offset_micros(job.context);
  if (!from_gmt && to_gmt) reading -= local_offset_micros(job.context);
  return reading;
}

Status datetime_from_datetime(const CastJob& job) {
  Kind from = job.source.kind, to = job.target.kind;
  if (from == to) {
    job.out = job.source;
    job.out.spare = 0;
    return {};
  }
  if (from == Kind::kDate && is_time_kind(to)) return unsupported_cast(job);
  if (is_time_kind(from) && to == Kind::kDate) return unsupported_cast(job);
  int64_t reading = target_reading(job, is_gmt_kind(to));
  MS_TRY(value::check_timestamp(reading));
  if (to == Kind::kDate) {
    job.out = Value::make_date(value::floor_div(reading, kMicrosPerDay));
  } else if (is_time_kind(to)) {
    job.out = Value::make_time(to, value::floor_mod(reading, kMicrosPerDay));
  } else {
    job.out = Value::make_timestamp(to, reading);
  }
  return {};
}

// Text of XML Schema: a T between date and time, an offset at the end. Nothing shorter than the
// target needs.
bool is_xml_form(Kind kind, std::string_view text) {
  bool has_date = text.size() >= 10 && text[4] == '-' && text[7] == '-';
  bool has_time = text.size() >= 19 && text[10] == 'T';
  if (kind == Kind::kDate) return has_date;
  if (is_time_kind(kind)) return text.size() >= 8 && text[2] == ':' && text[5] == ':';
  return has_date && has_time;
}

Status datetime_from_text(const CastJob& job) {
  std::string_view text = MS_TRY(source_text(job));
  const EvalContext& context = job.context;
  Kind kind = job.target.kind;
  if (job.has_format()) {
    std::string_view pattern = MS_TRY(clause_format(job));
    return value::parse_datetime(text, pattern, kind, context.local_zone, context.now_gmt_micros,
                                 job.out);
  }
  Status status = value::parse_datetime_text(kind, text, job.out);
  if (status.ok()) return {};
  std::string_view bare = text;
  while (!bare.empty() && bare.front() == ' ') bare.remove_prefix(1);
  if (!is_xml_form(kind, bare)) return status;
  Status iso = value::parse_datetime(bare, is_time_kind(kind) ? "T" : "I", kind, context.local_zone,
                                     context.now_gmt_micros, job.out);
  return iso.ok() ? Status() : std::move(status);
}

Status interval_from_number(const CastJob& job) {
  using value::IntervalQualifier;
  IntervalQualifier q = job.target.qualifier;
  if (!job.target.has_qualifier || value::first_field(q) != value::last_field(q)) {
    return base::make_error(
        errors::kCastQualifierNeeded,
        {kind_name(job.source.kind), job.target.has_qualifier ? value::qualifier_name(q) : ""});
  }
  if (job.source.kind == Kind::kInteger) {
    return value::make_interval_of(job.source.integer, q, job.out);
  }
  Value one;
  MS_TRY(value::make_interval_of(1, q, one));
  return value::scale_interval(one, job.source, false, job.out);
}

// One number of a cast of several: INTEGER, or DECIMAL and FLOAT for the seconds.
Result<int64_t> micros_of_seconds(const Value& v) {
  Value one = Value::make_interval(kMicrosPerSecond, value::IntervalQualifier::kSecond), out;
  MS_TRY(value::scale_interval(one, v, false, out));
  return out.integer;
}

Status many_unsupported(std::span<const Value> sources, const CastTarget& target,
                        const char* wanted) {
  return base::make_error(errors::kCastSourceCount, {sources.size(), target_name(target), wanted});
}

Result<int32_t> whole_part(EvalContext& context, const Value& v) {
  CastTarget target;
  target.kind = Kind::kInteger;
  CastClauses none;
  Value out;
  if (!is_number(v.kind)) {
    return unsupported_cast(CastJob{context, v, target, none, out});
  }
  MS_TRY(cast_to_integer(CastJob{context, v, target, none, out}));
  constexpr int64_t kLimit = 1'000'000'000;
  if (out.integer > kLimit || out.integer < -kLimit) {
    return base::make_error(errors::kCastNumberRange, {out.integer, "a datetime field"});
  }
  return static_cast<int32_t>(out.integer);
}

// `sources` are hour, minute, second.
Status put_time_parts(EvalContext& context, std::span<const Value> sources,
                      value::DateTimeFields& f) {
  f.hour = MS_TRY(whole_part(context, sources[0]));
  f.minute = MS_TRY(whole_part(context, sources[1]));
  if (sources[2].kind == Kind::kInteger) {
    f.second = MS_TRY(whole_part(context, sources[2]));
    return {};
  }
  if (!is_number(sources[2].kind)) return whole_part(context, sources[2]).take_status();
  int64_t micros = MS_TRY(micros_of_seconds(sources[2]));
  if (micros < 0 || micros >= 60 * kMicrosPerSecond) {
    return base::make_error(errors::kCastNumberRange, {plain_text(sources[2]), "a second"});
  }
  f.second = static_cast<int32_t>(micros / kMicrosPerSecond);
  f.micros = static_cast<int32_t>(micros % kMicrosPerSecond);
  return {};
}

Status put_date_parts(EvalContext& context, std::span<const Value> sources,
                      value::DateTimeFields& f) {
  f.year = MS_TRY(whole_part(context, sources[0]));
  f.month = MS_TRY(whole_part(context, sources[1]));
  f.day = MS_TRY(whole_part(context, sources[2]));
  return {};
}

Status timestamp_from_many(EvalContext& context, std::span<const Value> sources,
                           const CastTarget& target, Value& out) {
  bool is_gmt = target.kind == Kind::kGmtTimestamp;
  if (sources.size() == 6) {
    value::DateTimeFields f;
    MS_TRY(put_date_parts(context, sources.first(3), f));
    MS_TRY(put_time_parts(context, sources.last(3), f));
    out = MS_TRY(value::compose(target.kind, f));
    return {};
  }
  bool is_pair =
      sources.size() == 2 && sources[0].kind == Kind::kDate && is_time_kind(sources[1].kind);
  if (!is_pair)
    return many_unsupported(sources, target, "six numbers, or a DATE and a TIME, are needed");
  int64_t reading = sources[0].integer * kMicrosPerDay + sources[1].integer;
  bool from_gmt = is_gmt_kind(sources[1].kind);
  if (from_gmt && !is_gmt) reading += local_offset_micros(context);
  if (!from_gmt && is_gmt) reading -= local_offset_micros(context);
  MS_TRY(value::check_timestamp(reading));
  out = Value::make_timestamp(target.kind, reading);
  return {};
}

// One number for each field of the qualifier: (d, h, m, s) AS INTERVAL DAY TO SECOND.
Status interval_from_many(EvalContext& context, std::span<const Value> sources,
                          const CastTarget& target, Value& out) {
  using Q = value::IntervalQualifier;
  constexpr Q kFields[] = {Q::kYear, Q::kMonth, Q::kDay, Q::kHour, Q::kMinute, Q::kSecond};
  const char* kWanted = "one number for each field is needed";
  if (!target.has_qualifier) return many_unsupported(sources, target, kWanted);
  Q first = value::first_field(target.qualifier), last = value::last_field(target.qualifier);
  size_t used = 0;
  int64_t total = 0;
  bool is_inside = false;
  for (Q field : kFields) {
    if (field == first) is_inside = true;
    if (!is_inside) continue;
    if (used == sources.size()) return many_unsupported(sources, target, kWanted);
    const Value& v = sources[used++];
    int64_t amount = 0;
    if (field == Q::kSecond && is_number(v.kind)) {
      amount = MS_TRY(micros_of_seconds(v));
    } else {
      Value part;
      MS_TRY(value::make_interval_of(MS_TRY(whole_part(context, v)), field, part));
      amount = part.integer;
    }
    if (__builtin_add_overflow(total, amount, &total)) {
      return base::make_error(errors::kCastNumberRange, {amount, target_name(target)});
    }
    if (field == last) break;
  }
  if (used != sources.size()) return many_unsupported(sources, target, kWanted);
  out = Value::make_interval(total, target.qualifier);
  return {};
}

}  // namespace

Status cast_to_datetime(const CastJob& job) {
  if (value::is_datetime(job.source.kind)) return datetime_from_datetime(job);
  bool is_text = job.source.kind == Kind::kCharacter ||
                 (is_string(job.source.kind) && (job.has_format() || job.has_character_set()));
  return is_text ? datetime_from_text(job) : unsupported_cast(job);
}

Status cast_to_interval(const CastJob& job) {
  const Value& v = job.source;
  if (is_number(v.kind)) return interval_from_number(job);
  if (v.kind == Kind::kInterval) {
    if (job.target.has_qualifier) {
      return value::requalify_interval(v, job.target.qualifier, job.out);
    }
    job.out = v;
    job.out.spare = 0;
    return {};
  }
  if (v.kind != Kind::kCharacter) return unsupported_cast(job);
  return value::parse_interval_text(
      v.text(), job.target.has_qualifier ? &job.target.qualifier : nullptr, job.out);
}

Status cast_many(EvalContext& context, std::span<const Value> sources, const CastTarget& target,
                 Value& out) {
  value::DateTimeFields f;
  switch (target.kind) {
    case Kind::kDate:
      if (sources.size() != 3) return many_unsupported(sources, target, "three numbers are needed");
      MS_TRY(put_date_parts(context, sources, f));
      break;
    case Kind::kTime:
    case Kind::kGmtTime:
      if (sources.size() != 3) return many_unsupported(sources, target, "three numbers are needed");
      MS_TRY(put_time_parts(context, sources, f));
      break;
    case Kind::kTimestamp:
    case Kind::kGmtTimestamp:
      return timestamp_from_many(context, sources, target, out);
    case Kind::kInterval:
      return interval_from_many(context, sources, target, out);
    default:
      return many_unsupported(sources, target, "one value is needed");
  }
  out = MS_TRY(value::compose(target.kind, f));
  return {};
}

}  // namespace millstream::esql::internal
