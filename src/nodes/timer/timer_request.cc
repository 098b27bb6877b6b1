#include "nodes/timer/timer_request.h"

#include <charconv>
#include <optional>

#include "nodes/timer/errors_gen.h"
#include "text/utf8.h"
#include "tree/edit.h"
#include "value/datetime.h"

namespace millstream::nodes::timer {
namespace {

using value::Kind;
using value::Value;

constexpr int64_t kIntervalSecondsMax = 100LL * 366 * 86'400;
constexpr int64_t kCountMax = 1'000'000'000;

Status bad_request(std::string why) {
  return base::make_error(errors::kBadRequest, {std::move(why)});
}

Value field_of(tree::Element* folder, std::string_view name) {
  for (tree::Element* e = tree::first_child(folder); e; e = tree::next_sibling(e)) {
    if (text::equals_ignoring_ascii_case(e->local_name(), name)) return tree::scalar_value(e);
  }
  return {};
}

std::string_view trimmed_text(const Value& v) {
  std::string_view t = v.kind == Kind::kCharacter ? v.text() : std::string_view();
  while (!t.empty() && t.front() == ' ') t.remove_prefix(1);
  while (!t.empty() && t.back() == ' ') t.remove_suffix(1);
  return t;
}

bool is_absent(const Value& v) {
  return v.is_null() || (v.kind == Kind::kCharacter && trimmed_text(v).empty());
}

Status read_whole(const Value& v, const char* name, int64_t min, int64_t max, int64_t& out) {
  if (is_absent(v)) return {};
  int64_t n = 0;
  bool is_good = v.kind == Kind::kInteger;
  if (is_good) n = v.integer;
  if (v.kind == Kind::kCharacter) {
    const std::string_view t = trimmed_text(v);
    const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), n);
    is_good = error == std::errc() && end == t.data() + t.size();
  }
  if (!is_good || n < min || n > max) {
    return bad_request(std::string(name) + " is not a whole number from " + std::to_string(min) +
                       " to " + std::to_string(max));
  }
  out = n;
  return {};
}

Status read_truth(const Value& v, const char* name, bool& out) {
  if (is_absent(v)) return {};
  const std::string_view t = trimmed_text(v);
  if (v.kind == Kind::kBoolean) {
    out = v.boolean();
  } else if (text::equals_ignoring_ascii_case(t, "TRUE")) {
    out = true;
  } else if (text::equals_ignoring_ascii_case(t, "FALSE")) {
    out = false;
  } else {
    return bad_request(std::string(name) + " is neither TRUE nor FALSE");
  }
  return {};
}

// One of the two fields that say when it begins.
struct StartField {
  Kind kind;
  std::string_view present;  // the word for this day or this instant
  const char* wrong_type;
  const char* wrong_form;
};
constexpr StartField kStartDate{Kind::kDate, "TODAY", "StartDate has a type that is no date",
                                "StartDate is neither TODAY nor of the form yyyy-mm-dd"};
constexpr StartField kStartTime{Kind::kTime, "NOW", "StartTime has a type that is no time",
                                "StartTime is neither NOW nor of the form hh:mm:ss"};

// Days of the local calendar, or microseconds of the local day; nothing when it is the present.
Status read_start_field(const Value& v, const StartField& field, std::optional<int64_t>& out) {
  const std::string_view t = trimmed_text(v);
  if (is_absent(v) || text::equals_ignoring_ascii_case(t, field.present)) return {};
  if (v.kind == field.kind) {
    out = v.integer;
    return {};
  }
  if (v.kind == Kind::kTimestamp) {
    out = field.kind == Kind::kDate ? value::floor_div(v.integer, value::kMicrosPerDay)
                                    : value::floor_mod(v.integer, value::kMicrosPerDay);
    return {};
  }
  Value read;
  Status status = v.kind == Kind::kCharacter ? value::parse_literal_body(field.kind, t, read)
                                             : bad_request(field.wrong_type);
  if (!status.ok()) return base::wrap_error(bad_request(field.wrong_form), std::move(status));
  out = read.integer;
  return {};
}

Status read_start(tree::Element* folder, const value::TimeZone& zone, int64_t now,
                  TimerRequest& request) {
  const int64_t local_now = zone.to_local(now);
  const int64_t today = value::floor_div(local_now, value::kMicrosPerDay);
  std::optional<int64_t> date, time;
  MS_TRY(read_start_field(field_of(folder, "StartDate"), kStartDate, date));
  MS_TRY(read_start_field(field_of(folder, "StartTime"), kStartTime, time));
  const int64_t day = date.value_or(today);
  if (!time && day == today) {
    // Not by way of the local clock, which may show this hour twice.
    request.start_micros = now;
    return {};
  }
  const int64_t local =
      day * value::kMicrosPerDay + time.value_or(local_now - today * value::kMicrosPerDay);
  MS_TRY(value::check_timestamp(local));
  request.start_micros = zone.to_gmt(local);
  if (request.start_micros >= now) return {};
  if (request.start_micros < now - kPassedGraceSeconds * value::kMicrosPerSecond) {
    const Value shown = Value::make_timestamp(Kind::kTimestamp, local);
    return base::make_error(errors::kStartPassed,
                            {request.name, value::format_literal_body(shown), kPassedGraceSeconds});
  }
  request.start_micros = now;
  return {};
}

}  // namespace

void TimerRequest::skip_missed(int64_t now_micros) {
  if (is_over() || due_micros() >= now_micros) return;
  const int64_t step = interval_s * value::kMicrosPerSecond;
  if (step == 0) {
    ++next_event;
    return;
  }
  const int64_t skipped = (now_micros - due_micros() + step - 1) / step;
  next_event += skipped;
  if (count != kForever && next_event > count) next_event = count;
}

Result<TimerRequest> read_timer_request(tree::Element* folder, const value::TimeZone& zone,
                                        int64_t now_micros) {
  TimerRequest request;
  const Value action = field_of(folder, "Action");
  const std::string_view word = trimmed_text(action);
  if (word == "CANCEL") {
    request.action = TimerAction::kCancel;
  } else if (word != "SET") {
    return bad_request(word.empty() ? "Action is missing"
                                    : "Action is '" + std::string(word) + "', not SET or CANCEL");
  }
  const Value name = field_of(folder, "Identifier");
  request.name = trimmed_text(name);
  if (name.kind == Kind::kInteger) request.name = std::to_string(name.integer);
  if (request.name.empty()) return bad_request("Identifier is missing");
  if (request.name.size() > kIdentifierBytesMax) return bad_request("Identifier is too long");
  if (request.action == TimerAction::kCancel) return request;
  MS_TRY(read_whole(field_of(folder, "Interval"), "Interval", 0, kIntervalSecondsMax,
                    request.interval_s));
  MS_TRY(read_whole(field_of(folder, "Count"), "Count", kForever, kCountMax, request.count));
  if (request.count == 0) return bad_request("Count is 0; it must be above 0, or -1");
  if (request.count != 1 && request.interval_s == 0) {
    return bad_request("Count is " + std::to_string(request.count) +
                       ", so that Interval must be at least 1");
  }
  MS_TRY(read_truth(field_of(folder, "IgnoreMissed"), "IgnoreMissed", request.ignores_missed));
  MS_TRY(
      read_truth(field_of(folder, "AllowOverwrite"), "AllowOverwrite", request.allows_overwrite));
  MS_TRY(read_start(folder, zone, now_micros, request));
  return request;
}

void write_timer_request(tree::TreeContext& context, tree::Element* local_environment,
                         const TimerRequest& request, int64_t event_micros,
                         const value::TimeZone& zone) {
  tree::Element* folder = tree::ensure_child(context, local_environment, "TimeoutRequest");
  const int64_t local = zone.to_local(event_micros);
  const int64_t day = value::floor_div(local, value::kMicrosPerDay);
  auto text = [&](const char* name, std::string_view s) {
    tree::set_child(context, folder, name, Value::make_character(s));
  };
  text("Action", "SET");
  text("Identifier", request.name);
  text("StartDate", value::format_literal_body(Value::make_date(day)));
  text("StartTime", value::format_literal_body(
                        Value::make_time(Kind::kTime, local - day * value::kMicrosPerDay)));
  tree::set_child(context, folder, "Count", Value::make_integer(request.events_left()));
  tree::set_child(context, folder, "Interval", Value::make_integer(request.interval_s));
  tree::set_child(context, folder, "IgnoreMissed", Value::make_boolean(request.ignores_missed));
  tree::set_child(context, folder, "AllowOverwrite", Value::make_boolean(request.allows_overwrite));
}

}  // namespace millstream::nodes::timer
