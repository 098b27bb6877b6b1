#include "observe/spans.h"

#include <cmath>
#include <cstring>

#include "base/clock.h"
#include "base/json_value.h"
#include "flow/invocation.h"

namespace millstream::observe {

// ---------------------------------------------------------------- queue

void SpanQueue::set_batch(size_t batch, std::function<void()> on_full) {
  std::lock_guard lock(mutex_);
  batch_ = batch;
  on_full_ = std::move(on_full);
}

void SpanQueue::push(std::vector<Span> spans) {
  std::function<void()> on_full;
  {
    std::lock_guard lock(mutex_);
    const size_t room = spans_max_ - std::min(spans_max_, spans_.size());
    const size_t taken = std::min(room, spans.size());
    count_dropped(spans.size() - taken);
    for (size_t i = 0; i < taken; ++i) spans_.push_back(std::move(spans[i]));
    if (batch_ && spans_.size() >= batch_) on_full = on_full_;
  }
  if (on_full) on_full();
}

std::vector<Span> SpanQueue::take(size_t spans_max) {
  std::lock_guard lock(mutex_);
  if (spans_.size() <= spans_max) return std::exchange(spans_, {});
  const auto end = spans_.begin() + static_cast<std::ptrdiff_t>(spans_max);
  std::vector<Span> out(std::make_move_iterator(spans_.begin()), std::make_move_iterator(end));
  spans_.erase(spans_.begin(), end);
  return out;
}

size_t SpanQueue::size() const {
  std::lock_guard lock(mutex_);
  return spans_.size();
}

// ---------------------------------------------------------------- one message

namespace {

SpanAttribute text_attribute(std::string name, std::string_view text) {
  SpanAttribute a;
  a.name = std::move(name);
  a.text = text;
  return a;
}

SpanAttribute number_attribute(std::string name, int64_t number) {
  SpanAttribute a;
  a.name = std::move(name);
  a.number = number;
  a.is_number = true;
  return a;
}

class MessageSpans final : public flow::MessageObserver {
 public:
  MessageSpans(Tracer& tracer, const flow::Flow& flow)
      : tracer_(tracer),
        flow_(flow),
        start_wall_ns_(base::system_clock().wall_gmt_micros() * 1000),
        start_monotonic_ns_(base::system_clock().monotonic_ns()) {}

  ~MessageSpans() override {
    if (!spans_.empty()) tracer_.queue().push(std::move(spans_));
  }

  void received(const flow::MessageOrigin& origin) override {
    parent_ = flow::parse_traceparent(origin.traceparent);
    if (parent_.is_valid()) parent_.state = flow::checked_tracestate(origin.tracestate);
    if (origin.method.empty()) return;
    kind_ = Span::Kind::kServer;
    name_ = std::string(origin.method) + " " + std::string(origin.route);
    auto add = [this](const char* name, std::string_view text) {
      if (!text.empty()) attributes_.push_back(text_attribute(name, text));
    };
    add("http.request.method", origin.method);
    add("http.route", origin.route);
    add("url.path", origin.path);
    add("url.query", origin.query);
    add("url.scheme", origin.scheme);
    add("server.address", origin.host);
    add("client.address", origin.peer);
  }

  void begins(const flow::Node& input, const tree::MessageAssembly&, size_t bytes) override {
    decide_context();
    Span& root = open(name_.empty() ? flow_.name() + " " + input.label() : name_, kind_);
    if (!is_recording_) return;
    root.has_parent = parent_.is_valid();
    root.parent_id = parent_.span_id;
    root.attributes = std::move(attributes_);
    root.attributes.push_back(text_attribute("messageflow.application", flow_.application()));
    root.attributes.push_back(text_attribute("messageflow.name", flow_.name()));
    root.attributes.push_back(text_attribute("messageflow.node", input.label()));
    root.attributes.push_back(text_attribute("messageflow.node.type", input.type().name));
    if (kind_ == Span::Kind::kServer) {
      root.attributes.push_back(
          number_attribute("http.request.body.size", static_cast<int64_t>(bytes)));
    }
  }

  void enters(const flow::Node& node, const tree::MessageAssembly&, int) override {
    if (!tracer_.settings().has_node_spans || !is_recording_) return;
    open_node(node, Span::Kind::kInternal);
  }

  void propagates(const flow::Node& from, int, const tree::MessageAssembly&) override {
    close_request(from);
  }

  void leaves(const flow::Node& node, const Status& status, const flow::NodeTimes&) override {
    if (!is_recording_) return;
    if (!status.ok() && !was_noted(status.error())) note_error(status.error());
    // A request that is open still got no answer.
    if (!status.ok() && is_request_open(node)) fail(spans_[open_.back().index], status.error());
    close_request(node);
    if (!open_.empty() && open_.back().node == &node) {
      if (!status.ok()) fail(spans_[open_.back().index], status.error());
      close();
    }
  }

  const flow::TraceContext* outgoing(const flow::Node& from) override {
    if (!context_.is_valid()) decide_context();
    if (!is_recording_) return &context_;
    open_node(from, Span::Kind::kClient);
    open_.back().is_request = true;
    return &spans_[open_.back().index].context;
  }

  void answered(const flow::Node& node, int status) override {
    if (!is_request_open(node)) return;
    Span& span = spans_[open_.back().index];
    span.attributes.push_back(number_attribute("http.response.status_code", status));
    span.is_error = status >= 400;
    if (span.is_error) {
      span.attributes.push_back(text_attribute("error.type", std::to_string(status)));
    }
    close();
  }

  void queries(const flow::Node& node, const flow::DatabaseUse& use) override {
    if (!context_.is_valid()) decide_context();
    if (!is_recording_) return;
    open_node(node, Span::Kind::kClient);
    open_.back().is_statement = true;
    if (open_.back().is_shared) return;
    Span& span = spans_[open_.back().index];
    span.name = std::string(use.operation) + " " + std::string(use.data_source);
    span.attributes.push_back(text_attribute("db.system.name", "other_sql"));
    span.attributes.push_back(text_attribute("db.namespace", use.data_source));
    span.attributes.push_back(text_attribute("db.operation.name", use.operation));
    if (!use.statement.empty()) {
      span.attributes.push_back(text_attribute(
          use.operation == "CALL" ? "db.stored_procedure.name" : "db.query.text", use.statement));
    }
  }

  void queried(const flow::Node& node, const flow::DatabaseUse&, const Status& status) override {
    if (open_.empty() || open_.back().node != &node || !open_.back().is_statement) return;
    if (!status.ok()) {
      // Also when the node does not throw it: the event belongs to the statement.
      if (!was_noted(status.error())) note_error(status.error());
      Span& span = spans_[open_.back().index];
      fail(span, status.error());
      std::string_view state = status.error().innermost().sql_state;
      if (state.size() == 6) state.remove_prefix(1);
      if (!state.empty() && !open_.back().is_shared) {
        span.attributes.push_back(text_attribute("db.response.status_code", state));
      }
    }
    close();
  }

  const flow::TraceContext* trace() override {
    if (!context_.is_valid()) decide_context();
    return is_recording_ && !open_.empty() ? &spans_[open_.back().index].context : &context_;
  }

  void replied(const flow::Node&, int status) override {
    if (!is_recording_ || spans_.empty()) return;
    spans_[0].attributes.push_back(number_attribute("http.response.status_code", status));
    if (status >= 500) spans_[0].is_error = true;
  }

  void ends(const flow::Node&, const Status& status) override {
    if (!is_recording_ || spans_.empty()) return;
    while (open_.size() > 1) close();
    if (!status.ok()) fail(spans_[0], status.error());
    if (!open_.empty()) close();
  }

 private:
  struct Open {
    const flow::Node* node;
    size_t index;
    bool is_request = false;
    bool is_statement = false;
    bool is_shared = false;  // beyond the limit: the span is another's
  };

  int64_t now_ns() const {
    return start_wall_ns_ + base::system_clock().monotonic_ns() - start_monotonic_ns_;
  }

  void decide_context() {
    if (context_.is_valid()) return;
    const bool has_parent = parent_.is_valid();
    context_.trace_id = has_parent ? parent_.trace_id : flow::make_trace_id();
    context_.span_id = flow::make_span_id();
    context_.state = parent_.state;
    is_recording_ = has_parent && tracer_.settings().follows_parent
                        ? parent_.is_sampled()
                        : tracer_.samples(context_.trace_id);
    context_.flags = is_recording_ ? flow::TraceContext::kSampled : 0;
  }

  // The root when nothing is open; its id is that of the context.
  Span& open(std::string name, Span::Kind kind) {
    Span& span = spans_.emplace_back();
    span.context = context_;
    if (spans_.size() > 1) {
      span.context.span_id = flow::make_span_id();
      span.parent_id = spans_[open_.empty() ? 0 : open_.back().index].context.span_id;
      span.has_parent = true;
    }
    span.name = std::move(name);
    span.kind = kind;
    span.start_ns = now_ns();
    open_.push_back({.node = nullptr, .index = spans_.size() - 1});
    if (!is_recording_) {
      spans_.clear();
      open_.clear();
      return unrecorded_;
    }
    return span;
  }

  void open_node(const flow::Node& node, Span::Kind kind) {
    // Beyond the limit nodes share the last span, which stays well nested.
    if (spans_.size() >= Tracer::kSpansPerMessageMax) {
      tracer_.queue().count_dropped(1);
      open_.push_back({.node = &node, .index = spans_.size() - 1, .is_shared = true});
      return;
    }
    Span& span = open(node.label(), kind);
    span.attributes.push_back(text_attribute("messageflow.node", node.label()));
    span.attributes.push_back(text_attribute("messageflow.node.type", node.type().name));
    open_.back().node = &node;
  }

  bool is_request_open(const flow::Node& node) const {
    return !open_.empty() && open_.back().node == &node && open_.back().is_request;
  }

  void close_request(const flow::Node& node) {
    if (is_request_open(node)) close();
  }

  void close() {
    spans_[open_.back().index].end_ns = now_ns();
    open_.pop_back();
  }

  // An error on its way out passes many nodes and is one event.
  bool was_noted(const base::Error& error) const {
    return noted_number_ == error.innermost().number && noted_text_ == error.innermost().text;
  }

  void note_error(const base::Error& error) {
    const base::Error& inner = error.innermost();
    noted_number_ = inner.number;
    noted_text_ = inner.text;
    if (spans_.empty()) return;
    Span& span = spans_[open_.empty() ? 0 : open_.back().index];
    if (span.events.size() >= Span::kEventsMax) return;
    SpanEvent& event = span.events.emplace_back();
    event.name = "exception";
    event.time_ns = now_ns();
    event.attributes.push_back(text_attribute("exception.type", inner.id_with_letter()));
    event.attributes.push_back(text_attribute("exception.message", inner.text));
    if (!inner.node_label.empty()) {
      event.attributes.push_back(text_attribute("messageflow.node", inner.node_label));
    }
  }

  static void fail(Span& span, const base::Error& error) {
    span.is_error = true;
    const base::Error& inner = error.innermost();
    span.message = inner.id_with_letter() + ": " + inner.text;
    for (const SpanAttribute& a : span.attributes) {
      if (a.name == "error.type") return;
    }
    span.attributes.push_back(text_attribute("error.type", inner.id_with_letter()));
  }

  Tracer& tracer_;
  const flow::Flow& flow_;
  const int64_t start_wall_ns_, start_monotonic_ns_;
  flow::TraceContext parent_, context_;
  bool is_recording_ = false;
  Span::Kind kind_ = Span::Kind::kConsumer;
  std::string name_;
  std::vector<SpanAttribute> attributes_;
  std::vector<Span> spans_;
  std::vector<Open> open_;
  Span unrecorded_;
  int noted_number_ = 0;
  std::string noted_text_;
};

}  // namespace

// ---------------------------------------------------------------- tracer

bool Tracer::samples(const std::array<uint8_t, 16>& trace_id) const {
  switch (settings_.sampler) {
    case Sampler::kAlwaysOn:
      return true;
    case Sampler::kAlwaysOff:
      return false;
    case Sampler::kRatio:
      break;
  }
  // The lower 63 bits of the id against the ratio, so that services agree on a trace.
  uint64_t low = 0;
  for (size_t i = 8; i < 16; ++i) low = low << 8 | trace_id[i];
  return static_cast<double>(low >> 1) < settings_.ratio * std::ldexp(1.0, 63);
}

std::unique_ptr<flow::MessageObserver> Tracer::start(flow::Invocation& invocation) {
  return std::make_unique<MessageSpans>(*this, invocation.flow());
}

// ---------------------------------------------------------------- OTLP

namespace {

namespace json = base::json;

json::Value attributes_json(const std::vector<SpanAttribute>& attributes) {
  json::Value out = json::Value::array();
  for (const SpanAttribute& a : attributes) {
    json::Value value = json::Value::object();
    // 64-bit numbers are text in the JSON mapping.
    if (a.is_number) {
      value.set("intValue", std::to_string(a.number));
    } else {
      value.set("stringValue", a.text);
    }
    json::Value item = json::Value::object();
    item.set("key", a.name);
    item.set("value", std::move(value));
    out.push_back(std::move(item));
  }
  return out;
}

json::Value span_json(const Span& span) {
  json::Value out = json::Value::object();
  const flow::TraceContext& c = span.context;
  out.set("traceId", flow::hex_text(c.trace_id.data(), c.trace_id.size()));
  out.set("spanId", flow::hex_text(c.span_id.data(), c.span_id.size()));
  if (!c.state.empty()) out.set("traceState", c.state);
  if (span.has_parent) {
    out.set("parentSpanId", flow::hex_text(span.parent_id.data(), span.parent_id.size()));
  }
  out.set("flags", static_cast<int>(c.flags));
  out.set("name", span.name);
  out.set("kind", static_cast<int>(span.kind));
  out.set("startTimeUnixNano", std::to_string(span.start_ns));
  out.set("endTimeUnixNano", std::to_string(span.end_ns ? span.end_ns : span.start_ns));
  out.set("attributes", attributes_json(span.attributes));
  if (!span.events.empty()) {
    json::Value events = json::Value::array();
    for (const SpanEvent& e : span.events) {
      json::Value event = json::Value::object();
      event.set("timeUnixNano", std::to_string(e.time_ns));
      event.set("name", e.name);
      event.set("attributes", attributes_json(e.attributes));
      events.push_back(std::move(event));
    }
    out.set("events", std::move(events));
  }
  json::Value status = json::Value::object();
  if (span.is_error) {
    status.set("code", 2);
    if (!span.message.empty()) status.set("message", span.message);
  }
  out.set("status", std::move(status));
  return out;
}

}  // namespace

std::string otlp_json(const std::vector<Span>& spans, const std::string& service_name,
                      const std::vector<std::pair<std::string, std::string>>& resource,
                      const std::string& version) {
  std::vector<SpanAttribute> about = {text_attribute("service.name", service_name)};
  for (const auto& [name, value] : resource) about.push_back(text_attribute(name, value));
  about.push_back(text_attribute("telemetry.sdk.name", "millstream"));
  about.push_back(text_attribute("telemetry.sdk.version", version));
  json::Value list = json::Value::array();
  for (const Span& s : spans) list.push_back(span_json(s));
  json::Value scope = json::Value::object();
  scope.set("name", "millstream");
  scope.set("version", version);
  json::Value scope_spans = json::Value::object();
  scope_spans.set("scope", std::move(scope));
  scope_spans.set("spans", std::move(list));
  json::Value scopes = json::Value::array();
  scopes.push_back(std::move(scope_spans));
  json::Value about_json = json::Value::object();
  about_json.set("attributes", attributes_json(about));
  json::Value resource_spans = json::Value::object();
  resource_spans.set("resource", std::move(about_json));
  resource_spans.set("scopeSpans", std::move(scopes));
  json::Value all = json::Value::array();
  all.push_back(std::move(resource_spans));
  json::Value out = json::Value::object();
  out.set("resourceSpans", std::move(all));
  return json::write(out);
}

}  // namespace millstream::observe
