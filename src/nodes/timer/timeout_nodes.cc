// TimeoutControl and TimeoutNotification (spec C6).
#include "base/clock.h"
#include "base/log.h"
#include "net/blocking_pool.h"
#include "nodes/common/body.h"
#include "nodes/common/esql_runtime.h"
#include "nodes/common/input_run.h"
#include "nodes/common/location.h"
#include "nodes/common/tree_codec.h"
#include "nodes/timer/errors_gen.h"
#include "nodes/timer/timeout_control_properties_gen.h"
#include "nodes/timer/timeout_notification_properties_gen.h"
#include "nodes/timer/timer_service.h"
#include "parsers/headers/properties.h"
#include "value/datetime.h"

namespace millstream::nodes::timer {
namespace {

value::TimeZone zone_of(const flow::Services& services) {
  auto* runtime = services.find<common::EsqlRuntime>();
  return runtime ? runtime->zone() : value::TimeZone::local();
}

// A policy would change the interval in silence.
Status check_identifier(const std::string& identifier) {
  if (identifier.substr(0, 1) != "{") return {};
  return base::make_error(errors::kTimerPolicy, {identifier});
}

class TimeoutControl final : public flow::Node {
 public:
  TimeoutControl(TimeoutControlProperties properties, common::MessagePlace location,
                 std::optional<common::BodyParserChoice> domain, value::TimeZone zone,
                 TimerService* timers)
      : properties_(std::move(properties)),
        location_(std::move(location)),
        domain_(std::move(domain)),
        zone_(std::move(zone)),
        timers_(timers) {}

  Status start() override {
    if (!timers_) return {};
    return timers_->open();
  }

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    if (!timers_) return base::make_error(errors::kNoTimers, {full_label()});
    tree::Element* folder = location_.find(in);
    if (!folder) {
      return base::make_error(errors::kNoRequestThere,
                              {full_label(), properties_.request_location});
    }
    TimerRequest request =
        MS_TRY(read_timer_request(folder, zone_, base::system_clock().wall_gmt_micros()));
    request.timer = properties_.unique_identifier;
    request.survives_restart =
        properties_.request_persistence != TimeoutControlProperties::RequestPersistence::kNo;
    if (request.action == TimerAction::kCancel) {
      timers_->cancel(request.timer, request.name, invocation.unit_of_work());
    } else {
      std::string message;
      MS_TRY(encode_message(invocation.context(), in.root, message));
      timers_->warn_unless_kept(full_label());
      MS_TRY(timers_->set(std::move(request), message, invocation.unit_of_work()));
    }
    return invocation.propagate(*this, kOut, in);
  }

 private:
  static constexpr int kOut = 1;

  Status encode_message(tree::TreeContext& context, tree::Element* root, std::string& out) {
    tree::DomainRoot* body = tree::body_of(root);
    if (domain_ && body && body->domain != domain_->domain) {
      // The message goes on as it is, so that a copy gets the other domain.
      std::string bytes;
      MS_TRY(common::write_body(context, root, bytes));
      root = MS_TRY(tree::deep_copy(context, root));
      tree::detach(tree::body_of(root));
      char* kept = context.arena.bytes(bytes.size() + net::Buffer::kPadding);
      std::copy(bytes.begin(), bytes.end(), kept);
      std::fill_n(kept + bytes.size(), net::Buffer::kPadding, '\0');
      const auto properties = parsers::headers::read_serialise_properties(root);
      MS_TRY(common::add_body(context, root, *domain_, {kept, bytes.size()},
                              static_cast<uint32_t>(properties.coded_char_set_id),
                              static_cast<uint32_t>(properties.encoding)));
    }
    tree::Element* const trees[] = {root};
    return common::encode_trees(context, trees, out);
  }

  const TimeoutControlProperties properties_;
  const common::MessagePlace location_;
  const std::optional<common::BodyParserChoice> domain_;
  const value::TimeZone zone_;
  TimerService* const timers_;
};

class TimeoutNotification final : public flow::Node {
 public:
  TimeoutNotification(TimeoutNotificationProperties properties,
                      const common::Application& application, value::TimeZone zone,
                      TimerService* timers)
      : properties_(std::move(properties)),
        application_(application),
        zone_(std::move(zone)),
        timers_(timers) {}

  Status evaluate(flow::Invocation&, const tree::MessageAssembly&, int) override { return {}; }

  Status start() override {
    if (!timers_) return {};
    if (properties_.operation_mode == TimeoutNotificationProperties::OperationMode::kControlled) {
      handler_ = std::make_shared<Handler>(*this);
      return timers_->add_handler(properties_.unique_identifier, application_, handler_);
    }
    ticks_ = std::make_shared<Ticks>(*this, properties_.timeout_interval);
    timers_->alarms().add(ticks_);
    return {};
  }
  void stop() override {
    if (handler_) timers_->remove_handler(properties_.unique_identifier, handler_.get());
    if (ticks_) timers_->alarms().remove(ticks_.get());
    handler_.reset();
    ticks_.reset();
  }

 private:
  // Automatic mode: a grid of times that begins when the flow starts.
  class Ticks final : public common::Alarm {
   public:
    Ticks(TimeoutNotification& node, int64_t interval_s)
        : node_(node), hold_(node.flow()), interval_(interval_s * value::kMicrosPerSecond) {}
    std::optional<int64_t> next_due(int64_t now) override {
      if (!first_) {
        first_ = now;
        return now;
      }
      return *first_ + (value::floor_div(now - *first_, interval_) + 1) * interval_;
    }
    void ring(int64_t due) override { node_.tick(due); }

   private:
    TimeoutNotification& node_;
    flow::FlowHold hold_;
    const int64_t interval_;
    std::optional<int64_t> first_;
  };

  class Handler final : public TimerHandler {
   public:
    explicit Handler(TimeoutNotification& node) : node_(node) {}
    flow::Flow& flow() const override { return node_.flow(); }
    std::string node_label() const override { return node_.full_label(); }
    bool is_transactional() const override {
      return node_.properties_.transaction_mode !=
             TimeoutNotificationProperties::TransactionMode::kNo;
    }
    void fire(const TimerRequest& request, std::string_view message) override {
      node_.fire(request, message);
    }

   private:
    TimeoutNotification& node_;
  };

  void tick(int64_t due) {
    common::InputRun run(flow());
    tree::MessageAssembly message = run.arena().make_assembly();
    add_properties(run.context(), message.root, due);
    TimerRequest request;
    request.name = properties_.unique_identifier;
    request.interval_s = properties_.timeout_interval;
    write_timer_request(run.context(), message.local_environment, request, due, zone_);
    finish(run.invocation().run_from_input(*this, message, 0));
  }

  void fire(const TimerRequest& request, std::string_view bytes) {
    common::InputRun run(flow());
    tree::MessageAssembly message = run.arena().make_assembly();
    write_timer_request(run.context(), message.local_environment, request, request.due_micros(),
                        zone_);
    Result<std::vector<tree::Element*>> trees = common::decode_trees(run.context(), bytes);
    if (trees.ok() && !trees.value().empty() && trees.value()[0]) {
      message.root = trees.value()[0];
      finish(run.invocation().run_from_input(*this, message, bytes.size()));
      return;
    }
    Status status = trees.ok() ? Status() : std::move(trees).take_status();
    if (status.ok()) status = base::make_error(errors::kBadRequest, {"its message is empty"});
    add_properties(run.context(), message.root, request.due_micros());
    finish(
        run.invocation().run_failure_from_input(*this, message, std::move(status), bytes.size()));
  }

  static void add_properties(tree::TreeContext& context, tree::Element* root, int64_t time) {
    parsers::headers::PropertiesInput properties;
    properties.creation_time_micros = time;
    parsers::headers::make_properties(context, root, properties);
  }

  void finish(Status status) {
    if (!status.ok()) common::log_input_exception(*this, std::move(status));
  }

  const TimeoutNotificationProperties properties_;
  const common::Application& application_;
  const value::TimeZone zone_;
  TimerService* const timers_;
  std::shared_ptr<Handler> handler_;
  std::shared_ptr<Ticks> ticks_;
};

}  // namespace

Result<std::unique_ptr<flow::Node>> create_timeout_control(flow::NodeBuildContext& context) {
  TimeoutControlProperties properties =
      MS_TRY(read_timeout_control_properties(context.definition.properties, context.diagnostics));
  MS_TRY(check_identifier(properties.unique_identifier));
  common::MessagePlace location = MS_TRY(common::MessagePlace::parse(properties.request_location));
  std::optional<common::BodyParserChoice> domain;
  if (!properties.message_domain.empty()) {
    domain = MS_TRY(common::choose_body_parser(properties.message_domain, false));
  }
  return std::unique_ptr<flow::Node>(
      new TimeoutControl(std::move(properties), std::move(location), std::move(domain),
                         zone_of(context.services), context.services.find<TimerService>()));
}

Result<std::unique_ptr<flow::Node>> create_timeout_notification(flow::NodeBuildContext& context) {
  TimeoutNotificationProperties properties = MS_TRY(
      read_timeout_notification_properties(context.definition.properties, context.diagnostics));
  MS_TRY(check_identifier(properties.unique_identifier));
  return std::unique_ptr<flow::Node>(
      new TimeoutNotification(std::move(properties), *context.services.find<common::Application>(),
                              zone_of(context.services), context.services.find<TimerService>()));
}

}  // namespace millstream::nodes::timer
