#include "nodes/common/http_observe.h"

#include "base/metrics.h"

namespace millstream::nodes::common {

using millstream::http::Request;
using millstream::http::RequestRef;

void note_http_origin(flow::Invocation& invocation, Request& request, std::string_view route) {
  flow::Observation* observation = invocation.observation();
  if (!observation) return;
  flow::MessageOrigin origin;
  origin.traceparent = request.headers().get("traceparent");
  origin.tracestate = request.headers().get("tracestate");
  origin.method = request.method();
  origin.route = route;
  origin.path = request.path();
  origin.query = request.query();
  origin.host = request.headers().get("Host");
  origin.scheme = request.is_secure() ? "https" : "http";
  origin.peer = request.peer().substr(0, request.peer().rfind(':'));
  observation->received(origin);
}

namespace {

// What the message itself came with.
flow::TraceHeaders received_trace(const flow::Invocation& invocation) {
  flow::TraceHeaders trace;
  if (invocation.trace) {
    trace = *invocation.trace;
  } else if (const auto* own = static_cast<const RequestRef*>(invocation.transport); own && *own) {
    trace.parent = (*own)->headers().get("traceparent");
    if (!trace.parent.empty()) trace.state = (*own)->headers().get("tracestate");
  }
  if (trace.parent.empty() || !flow::parse_traceparent(trace.parent).is_valid()) return {};
  trace.state = flow::checked_tracestate(trace.state);
  return trace;
}

const flow::TraceContext* own_trace(flow::Invocation& invocation, const flow::Node& node) {
  flow::Observation* observation = invocation.observation();
  return observation ? observation->outgoing(node) : nullptr;
}

}  // namespace

void add_trace_headers(flow::Invocation& invocation, const flow::Node& node,
                       millstream::http::Headers& headers) {
  if (const flow::TraceContext* context = own_trace(invocation, node)) {
    headers.set("traceparent", context->traceparent());
    headers.remove("tracestate");
    if (!context->state.empty()) headers.add("tracestate", context->state);
    return;
  }
  if (headers.has("traceparent")) return;
  const flow::TraceHeaders received = received_trace(invocation);
  if (received.parent.empty()) return;
  headers.set("traceparent", received.parent);
  if (!received.state.empty()) headers.set("tracestate", received.state);
}

flow::TraceHeaders trace_to_pass_on(flow::Invocation& invocation, const flow::Node& node) {
  if (const flow::TraceContext* context = own_trace(invocation, node)) {
    return {context->traceparent(), context->state};
  }
  return received_trace(invocation);
}

void continue_trace(flow::Invocation& invocation, const flow::TraceHeaders& trace) {
  if (trace.parent.empty()) return;
  invocation.trace = &trace;
  flow::Observation* observation = invocation.observation();
  if (!observation) return;
  flow::MessageOrigin origin;
  origin.traceparent = trace.parent;
  origin.tracestate = trace.state;
  observation->received(origin);
}

// ---------------------------------------------------------------- metrics

namespace {

struct ClientCounters {
  base::ShardedCounter requests, failures, elapsed_us, connections;
  struct alignas(64) Thread {
    base::Counter idle;
    base::DurationHistogram durations;
  };
  Thread threads[base::kThreadNumbers];
  uint64_t registration;

  ClientCounters() {
    registration =
        base::process_metrics().add([this](base::MetricWriter& writer) { collect(writer); });
  }
  ~ClientCounters() { base::process_metrics().remove(registration); }

  void collect(base::MetricWriter& w) const {
    using base::MetricType;
    w.family("millstream_http_client_requests_total", MetricType::kCounter,
             "HTTP requests that nodes sent.");
    w.sample({}, requests.sum());
    w.family("millstream_http_client_failures_total", MetricType::kCounter,
             "HTTP requests that got no answer.");
    w.sample({}, failures.sum());
    w.family("millstream_http_client_connections_total", MetricType::kCounter,
             "Connections that were made for them.");
    w.sample({}, connections.sum());
    uint64_t idle = 0, counts[base::kDurationBuckets] = {};
    for (const Thread& t : threads) {
      idle += t.idle.get();
      for (size_t i = 0; i < base::kDurationBuckets; ++i) counts[i] += t.durations.buckets[i].get();
    }
    w.family("millstream_http_client_connections_idle", MetricType::kGauge,
             "Connections that wait in the pools.");
    w.sample({}, idle);
    double bounds[std::size(base::kDurationBoundsUs)];
    for (size_t i = 0; i < std::size(bounds); ++i) {
      bounds[i] = static_cast<double>(base::kDurationBoundsUs[i]) / 1e6;
    }
    w.family("millstream_http_client_duration_seconds", MetricType::kHistogram,
             "Time from sending a request to its whole answer.");
    w.histogram({}, bounds, counts, static_cast<double>(elapsed_us.sum()) / 1e6);
  }
};

ClientCounters& client_counters() {
  static ClientCounters counters;
  return counters;
}

}  // namespace

void record_client_call(const millstream::http::ClientPool& pool, int64_t elapsed_ns, bool is_ok) {
  thread_local uint64_t connections_seen = 0;
  ClientCounters& counters = client_counters();
  counters.requests.add();
  if (!is_ok) counters.failures.add();
  const auto us = static_cast<uint64_t>(elapsed_ns > 0 ? elapsed_ns : 0) / 1000;
  counters.elapsed_us.add(us);
  counters.connections.add(pool.connections_made() - connections_seen);
  connections_seen = pool.connections_made();
  ClientCounters::Thread& mine = counters.threads[base::thread_number()];
  mine.idle.set(pool.idle_connections());
  mine.durations.record(us);
}

}  // namespace millstream::nodes::common
