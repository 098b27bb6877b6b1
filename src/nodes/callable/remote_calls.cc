#include "nodes/callable/remote_calls.h"

#include <charconv>

#include "http/url.h"
#include "nodes/callable/calling.h"
#include "nodes/callable/errors_gen.h"
#include "nodes/common/http_observe.h"
#include "nodes/common/tree_codec.h"
#include "tree/edit.h"

namespace millstream::nodes::callable {
namespace {

using millstream::http::RequestRef;
using value::Value;

constexpr const char* kFormHeader = "X-Millstream-Form";
constexpr const char* kApplicationHeader = "X-Millstream-Application";
constexpr const char* kEndpointHeader = "X-Millstream-Endpoint";
constexpr const char* kDepthHeader = "X-Millstream-Depth";
constexpr const char* kTimeHeader = "X-Millstream-Milliseconds-Left";
constexpr const char* kOutcomeHeader = "X-Millstream-Outcome";
constexpr const char* kBinary = "application/octet-stream";
constexpr size_t kShownTextMax = 300;
constexpr int kExceptionDepthMax = 200;
constexpr int64_t kTimeMillisMax = 2'147'483'000;

std::shared_ptr<const base::NameTable> no_names() {
  static const std::shared_ptr<const base::NameTable> names = [] {
    auto table = std::make_shared<base::NameTable>();
    table->freeze();
    return table;
  }();
  return names;
}

int64_t number_of(std::string_view text, int64_t max) {
  int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const bool is_good = error == std::errc() && end == text.data() + text.size();
  return is_good && n >= 0 && n <= max ? n : max;
}

std::string text_of(tree::Element* parent, std::string_view name) {
  tree::Element* e = tree::find_child(parent, name);
  if (!e) return {};
  const Value v = tree::scalar_value(e);
  return v.kind == value::Kind::kCharacter ? std::string(v.text()) : std::string();
}

int64_t integer_of(tree::Element* parent, std::string_view name) {
  tree::Element* e = tree::find_child(parent, name);
  if (!e) return 0;
  const Value v = tree::scalar_value(e);
  return v.kind == value::Kind::kInteger ? v.integer : 0;
}

bool find_kind(std::string_view element_name, base::ExceptionKind& out) {
  for (int i = 0; i <= static_cast<int>(base::ExceptionKind::kUnknown); ++i) {
    const auto kind = static_cast<base::ExceptionKind>(i);
    if (base::exception_element_name(kind) != element_name) continue;
    out = kind;
    return true;
  }
  return false;
}

std::unique_ptr<base::Error> error_of_element(tree::Element* e, int depth) {
  Status made = base::make_error(errors::kRemoteException);
  std::unique_ptr<base::Error> error = made.take_error();
  find_kind(e->local_name(), error->kind);
  error->number = static_cast<int>(integer_of(e, "Number"));
  error->severity =
      static_cast<base::Severity>(std::clamp<int64_t>(integer_of(e, "Severity"), 1, 3));
  error->catalog = text_of(e, "Catalog");
  error->text = text_of(e, "Text");
  error->function = text_of(e, "Function");
  error->node_type = text_of(e, "Type");
  error->node_name = text_of(e, "Name");
  error->node_label = text_of(e, "Label");
  error->position.file = text_of(e, "File");
  error->position.line = static_cast<uint32_t>(integer_of(e, "Line"));
  for (tree::Element* c = tree::first_child(e); c; c = tree::next_sibling(c)) {
    base::ExceptionKind kind;
    if (c->local_name() == "Insert") {
      const int64_t type = std::clamp<int64_t>(integer_of(c, "Type"), 1, 14);
      error->inserts.emplace_back(static_cast<base::InsertType>(type), text_of(c, "Text"));
    } else if (find_kind(c->local_name(), kind) && depth < kExceptionDepthMax) {
      error->causes.push_back(error_of_element(c, depth + 1));
    }
  }
  return error;
}

// As long as the longer one is, so that time tells nothing.
bool is_same_secret(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const char x = i < a.size() ? a[i] : '\0', y = i < b.size() ? b[i] : '\0';
    difference |= static_cast<unsigned char>(x ^ y);
  }
  return difference == 0;
}

void answer_call(RequestRef& request, int status, const char* outcome, std::string body) {
  millstream::http::Response* response = request->claim_reply();
  if (!response) return;
  response->status = status;
  response->headers.add(kOutcomeHeader, outcome);
  response->headers.add("Content-Type", kBinary);
  response->body = std::move(body);
  request->send_reply();
}

}  // namespace

Result<std::string> encode_exception(const base::Error& error) {
  tree::MessageArena arena(no_names());
  tree::Element* list = tree::make_root(arena.context(), "ExceptionList");
  tree::append_exception(arena.context(), list, error);
  tree::Element* const trees[] = {list};
  std::string bytes;
  MS_TRY(common::encode_trees(arena.context(), trees, bytes));
  return bytes;
}

Status decode_exception(std::string_view bytes) {
  tree::MessageArena arena(no_names());
  std::vector<tree::Element*> trees = MS_TRY(common::decode_trees(arena.context(), bytes));
  tree::Element* first = trees.empty() || !trees[0] ? nullptr : tree::first_child(trees[0]);
  if (!first) return base::make_error(errors::kRemoteException);
  return Status(error_of_element(first, 0));
}

Result<std::unique_ptr<RemoteCallService>> RemoteCallService::create(
    RemoteCallSettings settings, CallableFlows& flows, const flow::Services& services) {
  common::HttpSendSettings send;
  send.timeout_s = 0;
  send.tls.checks_host_name = settings.checks_host_name;
  send.tls.choice.key_alias = settings.key_alias;
  for (const auto& [endpoint, url] : settings.servers) {
    if (url.substr(0, 6) == "https:") send.likely_url = url;
  }
  std::unique_ptr<common::HttpSender> sender =
      MS_TRY(common::HttpSender::create(std::move(send), services));
  return std::unique_ptr<RemoteCallService>(
      new RemoteCallService(std::move(settings), flows, std::move(sender)));
}

std::string RemoteCallService::find_server(const std::string& application,
                                           const std::string& endpoint) const {
  for (const std::string& key : {application + "/" + endpoint, application + "/*"}) {
    auto it = settings_.servers.find(key);
    if (it != settings_.servers.end()) return it->second;
  }
  return {};
}

Result<std::string> RemoteCallService::call(const std::string& server, const Call& call,
                                            std::string_view request, int64_t deadline_ns) {
  auto failed = [&](std::string why) {
    return base::make_error(errors::kRemoteFailed,
                            {call.application(), call.endpoint(), server, std::move(why)});
  };
  const int64_t start = net::Reactor::current()->refresh_now();
  common::HttpCall http = sender_->new_call();
  http.url = MS_TRY(millstream::http::parse_url(server + kPath));
  http.headers.add("Authorization", "Bearer " + settings_.secret);
  http.headers.add("Content-Type", kBinary);
  http.headers.add(kFormHeader, kFormVersion);
  http.headers.add(kApplicationHeader, millstream::http::percent_encode(call.application()));
  http.headers.add(kEndpointHeader, millstream::http::percent_encode(call.endpoint()));
  http.headers.add(kDepthHeader, std::to_string(call.depth()));
  if (!call.trace().parent.empty()) http.headers.add("traceparent", call.trace().parent);
  if (!call.trace().state.empty()) http.headers.add("tracestate", call.trace().state);
  if (deadline_ns != net::kNever) {
    http.timeout_ns = std::max<int64_t>(deadline_ns - start, 1);
    http.headers.add(kTimeHeader, std::to_string(http.timeout_ns / net::kMillisecond));
  }
  http.body = request;
  Result<millstream::http::ClientResponse> answer = sender_->send(http);
  if (!answer.ok()) {
    const bool is_late =
        deadline_ns != net::kNever && net::Reactor::current()->refresh_now() >= deadline_ns;
    return base::wrap_error(failed(is_late ? "it did not reply in time" : "the request failed"),
                            std::move(answer).take_status());
  }
  const millstream::http::ClientResponse& response = answer.value();
  const std::string_view outcome = response.headers.get(kOutcomeHeader);
  if (outcome == "reply") return std::string(response.body);
  if (outcome == "exception") {
    return base::wrap_error(
        base::make_error(errors::kCallFailed, {call.application(), call.endpoint()}),
        decode_exception(response.body));
  }
  std::string why = "it answered with status " + std::to_string(response.status);
  if (outcome == "error") why = std::string(response.body.substr(0, kShownTextMax));
  return failed(std::move(why));
}

bool RemoteCallService::is_admitted(const millstream::http::Request& request) const {
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view token = request.headers().get("Authorization");
  return token.substr(0, kScheme.size()) == kScheme &&
         is_same_secret(token.substr(kScheme.size()), settings_.secret);
}

void RemoteCallService::serve(RequestRef request) {
  if (!is_admitted(*request)) {
    return answer_call(request, 401, "error", "the secrets of the two servers differ");
  }
  if (request->method() != "POST" || request->headers().get(kFormHeader) != kFormVersion) {
    return answer_call(request, 400, "error",
                       "the form of the call is not version " + std::string(kFormVersion));
  }
  CallPlan plan;
  plan.application = millstream::http::percent_decode(request->headers().get(kApplicationHeader));
  plan.endpoint = millstream::http::percent_decode(request->headers().get(kEndpointHeader));
  plan.preference = CallPreference::kLocalOnly;
  const auto depth =
      static_cast<uint32_t>(number_of(request->headers().get(kDepthHeader), Call::kDepthMax + 1));
  const std::string_view left = request->headers().get(kTimeHeader);
  const int64_t millis = left.empty() ? 0 : number_of(left, kTimeMillisMax);
  // Rounded up: the caller gives up first, and says so itself.
  if (!left.empty()) plan.timeout_s = millis / 1000 + 1;
  Status depth_status = check_depth(plan, depth);
  if (!depth_status.ok()) return answer_call(request, 508, "error", depth_status.error().text);
  Result<CallRoute> route = find_route(flows_, plan);
  if (!route.ok()) return answer_call(request, 404, "error", route.error().text);
  Result<std::string> reply =
      call_with_bytes(flows_, plan, std::move(route).take_value(), depth,
                      common::trace_of(request->headers()), std::string(request->body()));
  if (reply.ok()) return answer_call(request, 200, "reply", std::move(reply).take_value());
  if (reply.error().code != &errors::kCallFailed) {
    return answer_call(request, 504, "error", reply.error().text);
  }
  // The caller adds its own exception around those of the flow.
  Result<std::string> exception = encode_exception(*reply.error().causes.at(0));
  if (!exception.ok()) return answer_call(request, 500, "error", exception.error().text);
  answer_call(request, 200, "exception", std::move(exception).take_value());
}

}  // namespace millstream::nodes::callable
