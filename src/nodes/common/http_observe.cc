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
  origin.scheme = "http";
  origin.peer = request.peer().substr(0, request.peer().rfind(':'));
  observation->received(origin);
}

void add_trace_headers(flow::Invocation& invocation, const flow::Node& node,
                       millstream::http::Headers& headers) {
  flow::Observation* observation = invocation.observation();
  if (const flow::TraceContext* context = observation ? observation->outgoing(node) : nullptr) {
    headers.set("traceparent", context->traceparent());
    headers.remove("tracestate");
    if (!context->state.empty()) headers.add("tracestate", context->state);
    return;
  }
  const auto* own = static_cast<const RequestRef*>(invocation.transport);
  if (!own || !*own || headers.has("traceparent")) return;
  const millstream::http::Headers& received = (*own)->headers();
  const std::string_view parent = received.get("traceparent");
  if (parent.empty() || !flow::parse_traceparent(parent).is_valid()) return;
  headers.set("traceparent", parent);
  const std::string_view state = flow::checked_tracestate(received.get("tracestate"));
  if (!state.empty()) headers.set("tracestate", state);
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
