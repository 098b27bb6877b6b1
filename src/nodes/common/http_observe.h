// What HTTP nodes tell those who watch: where a message came from, the trace that its requests
// belong to, and how the client side fares.
// Thread: the message's fiber; record_client_call any reactor.
#pragma once
#include <cstdint>

#include "flow/invocation.h"
#include "http/client.h"
#include "http/request.h"

namespace millstream::nodes::common {

// Tells the observers of the message, if there are any. `route` is the URL pattern of the node.
void note_http_origin(flow::Invocation& invocation, millstream::http::Request& request,
                      std::string_view route);

// traceparent and tracestate for a request that `node` is about to send. A traced message sends the
// id of its span. Any other passes on what its own request brought, unless the flow has set them.
void add_trace_headers(flow::Invocation& invocation, const flow::Node& node,
                       millstream::http::Headers& headers);

// The same for what is no HTTP request, such as a call of another flow; empty when there is none.
flow::TraceHeaders trace_to_pass_on(flow::Invocation& invocation, const flow::Node& node);
// What headers have of it.
inline flow::TraceHeaders trace_of(const millstream::http::Headers& headers) {
  return {std::string(headers.get("traceparent")), std::string(headers.get("tracestate"))};
}
// For an input node that got it: before run_from_input(), and `trace` lives until that returns.
void continue_trace(flow::Invocation& invocation, const flow::TraceHeaders& trace);

// Has the answer that add_trace_headers() began a span for.
inline void note_http_answer(flow::Invocation& invocation, const flow::Node& node, int status) {
  if (flow::Observation* o = invocation.observation()) o->answered(node, status);
}

// One exchange of this reactor's pool, for the metrics millstream_http_client_*.
void record_client_call(const millstream::http::ClientPool& pool, int64_t elapsed_ns, bool is_ok);

}  // namespace millstream::nodes::common
