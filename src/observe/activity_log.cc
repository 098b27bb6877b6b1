#include "observe/activity_log.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "flow/invocation.h"

namespace millstream::observe {

std::string_view resource_of(std::string_view node_type) {
  struct Family {
    std::string_view prefix, resource;
  };
  // ODBC and REST are names of the product; the others are our own.
  constexpr Family kFamilies[] = {{"HTTP", "HTTP"},         {"REST", "REST"},
                                  {"Callable", "CALLABLE"}, {"Database", "ODBC"},
                                  {"Timeout", "TIMER"},     {"Scheduler", "TIMER"}};
  for (const Family& f : kFamilies) {
    if (node_type.starts_with(f.prefix)) return f.resource;
  }
  return {};
}

namespace {

class ActivityMessage final : public flow::MessageObserver {
 public:
  ActivityMessage(ActivityLog& log, flow::Invocation& invocation)
      : log_(log), invocation_(invocation) {}

  void begins(const flow::Node& input, const tree::MessageAssembly&, size_t) override {
    add("BIP11501I", ActivitySeverity::kInfo, resource_of(input.type().name), input,
        "Received data from input node '" + input.label() + "'.", {input.label()});
  }

  const flow::TraceContext* outgoing(const flow::Node& node) override {
    add("MS1724I", ActivitySeverity::kInfo, resource_of(node.type().name), node,
        "Sent a request from node '" + node.label() + "'.", {node.label()});
    return nullptr;
  }

  void answered(const flow::Node& node, int status) override {
    const bool is_error = status >= 400;
    add(is_error ? "MS1725W" : "MS1725I",
        is_error ? ActivitySeverity::kWarning : ActivitySeverity::kInfo,
        resource_of(node.type().name), node,
        "The request of node '" + node.label() + "' was answered with status " +
            std::to_string(status) + ".",
        {node.label(), std::to_string(status)});
  }

  void queried(const flow::Node& node, const flow::DatabaseUse& use,
               const Status& status) override {
    if (!status.ok()) return add_error("ODBC", node, status.error());
    const std::string operation(use.operation), source(use.data_source);
    add("MS1726I", ActivitySeverity::kInfo, "ODBC", node,
        "Executed " + operation + " in data source '" + source + "'.",
        {operation, source, node.label()});
  }

  // A failure is told where it is raised.
  void leaves(const flow::Node& node, const Status& status, const flow::NodeTimes&) override {
    if (status.ok()) return;
    const bool is_database = status.error().innermost().kind == base::ExceptionKind::kDatabase;
    add_error(is_database ? "ODBC" : resource_of(node.type().name), node, status.error());
  }

  void ends(const flow::Node& input, const Status& status) override {
    if (status.ok()) {
      add("BIP11506I", ActivitySeverity::kInfo, {}, input, "Committed a local transaction.", {});
    } else {
      add("BIP11507E", ActivitySeverity::kError, {}, input, "Rolled back a local transaction.", {});
    }
  }

 private:
  void add_error(std::string_view resource, const flow::Node& node, const base::Error& error) {
    const base::Error& inner = error.innermost();
    if (inner.number == last_error_ && inner.text == last_text_) return;
    last_error_ = inner.number;
    last_text_ = inner.text;
    const std::string id = inner.id_with_letter();
    const bool is_bip = id.starts_with("BIP");
    // The product's number for an error in a node stands before ours, which its readers know not.
    add(is_bip ? id : "BIP2230E", ActivitySeverity::kError, resource, node,
        is_bip ? inner.text : id + ": " + inner.text, {node.label()});
  }

  void add(std::string id, ActivitySeverity severity, std::string_view resource,
           const flow::Node& node, std::string text, std::vector<std::string> inserts) {
    ActivityEntry e;
    e.id = std::move(id);
    e.severity = severity;
    e.time_us = base::system_clock().wall_gmt_micros();
    e.thread = ::syscall(SYS_gettid);
    e.text = std::move(text);
    e.inserts = std::move(inserts);
    e.resource = resource;
    e.flow = invocation_.flow().name();
    e.node = node.label();
    e.node_type = node.type().name;
    flow::Observation* const observation = invocation_.observation();
    if (const flow::TraceContext* c = observation ? observation->trace() : nullptr) {
      e.trace_id = flow::hex_text(c->trace_id.data(), c->trace_id.size());
      e.span_id = flow::hex_text(c->span_id.data(), c->span_id.size());
      e.trace_state = c->state;
      e.trace_parent = c->traceparent();
    }
    log_.add(std::move(e));
  }

  ActivityLog& log_;
  flow::Invocation& invocation_;
  int last_error_ = 0;
  std::string last_text_;
};

}  // namespace

std::unique_ptr<flow::MessageObserver> ActivityLog::start(flow::Invocation& invocation) {
  return std::make_unique<ActivityMessage>(*this, invocation);
}

}  // namespace millstream::observe
