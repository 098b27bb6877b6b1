// Scheduler (spec C6).
#include "base/clock.h"
#include "nodes/common/esql_runtime.h"
#include "nodes/common/input_run.h"
#include "nodes/timer/errors_gen.h"
#include "nodes/timer/schedule.h"
#include "nodes/timer/scheduler_properties_gen.h"
#include "nodes/timer/timer_service.h"
#include "parsers/domains.h"
#include "parsers/headers/properties.h"
#include "value/datetime.h"

namespace millstream::nodes::timer {
namespace {

using value::Value;

// What the properties mean.
struct Plan {
  bool is_calendar = false;
  CalendarTimes times;
  int64_t interval_micros = 0;
  WeekDays days{};
  value::TimeZone zone;
};

// 2026-09-11T08:22:53.796+01:00
std::string iso_time(int64_t gmt_micros, const value::TimeZone& zone) {
  const int32_t offset = zone.offset_at_gmt(gmt_micros);
  const value::DateTimeFields f =
      value::fields_of_timestamp(gmt_micros + offset * value::kMicrosPerSecond);
  const int32_t minutes = std::abs(offset) / 60;
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03d%c%02d:%02d", f.year, f.month,
                f.day, f.hour, f.minute, f.second, f.micros / 1000, offset < 0 ? '-' : '+',
                minutes / 60, minutes % 60);
  return text;
}

class Scheduler final : public flow::Node {
 public:
  Scheduler(SchedulerProperties properties, Plan plan, value::TimeZone local, TimerService* timers)
      : properties_(std::move(properties)),
        plan_(std::move(plan)),
        local_(std::move(local)),
        timers_(timers) {}

  Status evaluate(flow::Invocation&, const tree::MessageAssembly&, int) override { return {}; }
  Status start() override {
    if (!timers_) return {};
    events_ = std::make_shared<Events>(*this);
    timers_->alarms().add(events_);
    return {};
  }
  void stop() override {
    if (events_) timers_->alarms().remove(events_.get());
    events_.reset();
  }

 private:
  class Events final : public common::Alarm {
   public:
    explicit Events(Scheduler& node) : node_(node), hold_(node.flow()) {}
    std::optional<int64_t> next_due(int64_t now) override {
      if (!first_) {
        first_ = now;
        if (node_.properties_.run_once_on_check) return now;
      }
      const Plan& plan = node_.plan_;
      if (plan.is_calendar) return next_calendar_time(plan.times, plan.zone, now);
      return next_interval_time(*first_, plan.interval_micros, plan.days, plan.zone, now);
    }
    void ring(int64_t due) override {
      node_.run(last_, due);
      last_ = due;
    }

   private:
    Scheduler& node_;
    flow::FlowHold hold_;
    std::optional<int64_t> first_;
    int64_t last_ = 0;  // the epoch before the first event, as in the product
  };

  void run(int64_t last, int64_t due) {
    common::InputRun run(flow());
    tree::TreeContext& context = run.context();
    tree::MessageAssembly message = run.arena().make_assembly();
    parsers::headers::PropertiesInput properties;
    properties.creation_time_micros = due;
    properties.reply_protocol = "FILE";
    parsers::headers::make_properties(context, message.root, properties);
    if (properties_.message_type == SchedulerProperties::MessageType::kTimeout) {
      TimerRequest request;
      request.name = properties_.schedule_identifier;
      request.interval_s = plan_.interval_micros / value::kMicrosPerSecond;
      write_timer_request(context, message.local_environment, request, due, local_);
    } else {
      add_events(context, message, last, due);
    }
    Status status = run.invocation().run_from_input(*this, message, 0);
    if (!status.ok()) common::log_input_exception(*this, std::move(status));
  }

  void add_events(tree::TreeContext& context, const tree::MessageAssembly& message, int64_t last,
                  int64_t due) {
    tree::DomainRoot* json =
        tree::make_domain_root(context, *parsers::find_domain("JSON"), context.names.qname("JSON"));
    tree::append_child(message.root, json);
    tree::Element* const folders[] = {
        tree::ensure_child(context, json, "Data", tree::json::kObject),
        tree::ensure_child(context, message.local_environment, "Scheduler")};
    const std::pair<const char*, std::string> fields[] = {
        {"lastEventTime", iso_time(last, local_)},
        {"currentEventTime", iso_time(due, local_)},
        {"scheduleIdentifier", properties_.schedule_identifier}};
    for (tree::Element* folder : folders) {
      for (const auto& [name, text] : fields) {
        tree::Element* e = tree::ensure_child(context, folder, name, tree::kNameValue);
        tree::set_value(e, Value::make_character(context.arena.copy(text)));
      }
    }
  }

  const SchedulerProperties properties_;
  const Plan plan_;
  const value::TimeZone local_;
  TimerService* const timers_;
  std::shared_ptr<Events> events_;
};

Result<Plan> make_plan(const SchedulerProperties& properties, const std::string& label) {
  static constexpr int64_t kUnits[] = {value::kMicrosPerSecond, value::kMicrosPerMinute,
                                       value::kMicrosPerHour};
  Plan plan;
  plan.is_calendar = properties.schedule_type == SchedulerProperties::ScheduleType::kCalendar;
  plan.zone = MS_TRY(value::TimeZone::load(properties.time_zone));
  plan.days = MS_TRY(parse_week_days(properties.days, label));
  if (plan.is_calendar) {
    plan.times = MS_TRY(parse_calendar(properties.cron_exp, label));
  } else {
    plan.interval_micros = properties.interval * kUnits[static_cast<size_t>(properties.unit)];
  }
  return plan;
}

}  // namespace

Result<std::unique_ptr<flow::Node>> create_scheduler(flow::NodeBuildContext& context) {
  SchedulerProperties properties =
      MS_TRY(read_scheduler_properties(context.definition.properties, context.diagnostics));
  Plan plan = MS_TRY(make_plan(properties, context.definition.label));
  auto* runtime = context.services.find<common::EsqlRuntime>();
  return std::unique_ptr<flow::Node>(new Scheduler(
      std::move(properties), std::move(plan), runtime ? runtime->zone() : value::TimeZone::local(),
      context.services.find<TimerService>()));
}

}  // namespace millstream::nodes::timer
