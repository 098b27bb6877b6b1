#include "observe/message_trace.h"

#include "base/clock.h"
#include "flow/invocation.h"

namespace millstream::observe {
namespace {

namespace json = base::json;

class TracedMessage final : public flow::MessageObserver {
 public:
  TracedMessage(std::shared_ptr<MessageTrace> trace, flow::Invocation& invocation, int number)
      : trace_(std::move(trace)),
        invocation_(invocation),
        number_(number),
        start_ns_(base::system_clock().monotonic_ns()) {}
  ~TracedMessage() override { trace_->message_ends(); }

  void begins(const flow::Node& input, const tree::MessageAssembly& message,
              size_t bytes) override {
    json::Value step = make_step("begin", input);
    step.set("application", invocation_.flow().application());
    step.set("flow", invocation_.flow().name());
    step.set("bytes", static_cast<uint64_t>(bytes));
    add_trees(step, message);
  }
  void enters(const flow::Node& node, const tree::MessageAssembly& message, int) override {
    json::Value step = make_step("enter", node);
    ++depth_;
    add_trees(step, message);
  }
  void leaves(const flow::Node& node, const Status& status, const flow::NodeTimes& times) override {
    --depth_;
    json::Value step = make_step("leave", node);
    step.set("elapsedUs", static_cast<double>(times.elapsed_ns) / 1000);
    step.set("cpuUs", static_cast<double>(times.cpu_ns) / 1000);
    if (!status.ok()) step.set("exception", status.error().describe());
    finish(std::move(step), 0);
  }
  void propagates(const flow::Node& from, int output, const tree::MessageAssembly&) override {
    json::Value step = make_step("propagate", from);
    step.set("terminal", from.output_name(output));
    finish(std::move(step), 0);
  }
  void line(const flow::Node& node, int number, std::string_view text) override {
    json::Value step = make_step("line", node);
    step.set("text", "BIP" + std::to_string(number) + "I: " + std::string(text));
    finish(std::move(step), text.size());
  }
  bool wants_lines() const override { return trace_->options().has_statements; }
  bool wants_statements() const override { return trace_->options().has_statements; }
  void ends(const flow::Node& input, const Status& status) override {
    json::Value step = make_step("end", input);
    if (!status.ok()) step.set("exception", status.error().describe());
    finish(std::move(step), 0);
  }

 private:
  json::Value make_step(const char* kind, const flow::Node& node) const {
    json::Value step = json::Value::object();
    step.set("message", number_);
    step.set("kind", kind);
    step.set("atUs", static_cast<double>(base::system_clock().monotonic_ns() - start_ns_) / 1000);
    step.set("depth", depth_);
    step.set("node", node.label());
    step.set("type", node.type().name);
    return step;
  }

  // Showing a tree parses it to its end. An error that the parser meets there stays in the context:
  // taken, it would be lost for the flow, which would go on with half a message. So it is raised
  // at the next step of the flow, perhaps earlier than without the trace.
  void add_trees(json::Value& step, const tree::MessageAssembly& message) {
    size_t bytes = 0;
    if (trace_->options().has_trees) {
      json::Value trees = json::Value::object();
      const struct {
        const char* name;
        tree::Element* element;
      } all[] = {{"Root", message.root},
                 {"LocalEnvironment", message.local_environment},
                 {"Environment", message.environment},
                 {"ExceptionList", message.exception_list}};
      for (const auto& [name, element] : all) {
        if (!element) continue;
        const bool had_error = invocation_.context().has_parse_error();
        std::string text;
        tree::dump(element, text, 0);
        if (!had_error && invocation_.context().has_parse_error()) {
          text +=
              "  -- cannot be parsed further: " + invocation_.context().parse_error.error().text +
              "\n";
        }
        if (text.size() > MessageTrace::kTreeBytesMax) {
          text.resize(MessageTrace::kTreeBytesMax);
          text += "\n  -- the rest is cut\n";
        }
        bytes += text.size();
        trees.set(name, std::move(text));
      }
      step.set("trees", std::move(trees));
    }
    finish(std::move(step), bytes);
  }

  void finish(json::Value step, size_t bytes) { trace_->add(std::move(step), bytes + 200); }

  const std::shared_ptr<MessageTrace> trace_;  // shared with whoever fetches it
  flow::Invocation& invocation_;
  const int number_;
  const int64_t start_ns_;
  int depth_ = 0;
};

}  // namespace

MessageTrace::MessageTrace(Options options)
    : options_(options), fetched_ns_(base::system_clock().monotonic_ns()) {}

std::unique_ptr<flow::MessageObserver> MessageTrace::start(flow::Invocation& invocation) {
  int number = 0;
  {
    std::lock_guard lock(mutex_);
    if (started_ == options_.messages || is_idle_locked()) return nullptr;
    number = ++started_;
  }
  return std::make_unique<TracedMessage>(std::static_pointer_cast<MessageTrace>(shared_from_this()),
                                         invocation, number);
}

void MessageTrace::add(json::Value step, size_t bytes) {
  std::lock_guard lock(mutex_);
  if (waiting_bytes_ + bytes > kWaitingBytesMax) {
    ++dropped_;
    return;
  }
  waiting_bytes_ += bytes;
  steps_.push_back(std::move(step));
}

void MessageTrace::message_ends() {
  std::lock_guard lock(mutex_);
  ++ended_;
}

bool MessageTrace::is_idle() const {
  std::lock_guard lock(mutex_);
  return is_idle_locked();
}

bool MessageTrace::is_idle_locked() const {
  return base::system_clock().monotonic_ns() - fetched_ns_ >= kIdleNs;
}

json::Value MessageTrace::take() {
  json::Value out = json::Value::object();
  json::Value steps = json::Value::array();
  std::lock_guard lock(mutex_);
  fetched_ns_ = base::system_clock().monotonic_ns();
  for (json::Value& s : steps_) steps.push_back(std::move(s));
  steps_.clear();
  waiting_bytes_ = 0;
  out.set("steps", std::move(steps));
  out.set("dropped", static_cast<uint64_t>(std::exchange(dropped_, 0)));
  out.set("isDone", ended_ == options_.messages);
  return out;
}

}  // namespace millstream::observe
