// RESTRequest: an operation of an OpenAPI document called in the message's fiber.
#include "net/reactor.h"
#include "nodes/common/http_observe.h"
#include "nodes/rest/errors_gen.h"
#include "nodes/rest/rest_answer.h"
#include "nodes/rest/rest_call.h"
#include "nodes/rest/rest_request_properties_gen.h"

namespace millstream::nodes::rest {
namespace {

using millstream::http::ClientResponse;
using value::Value;

class RestRequest final : public flow::Node {
 public:
  RestRequest(std::unique_ptr<RestCaller> caller, AnswerReader reader)
      : caller_(std::move(caller)), reader_(std::move(reader)) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    std::string body;
    common::HttpCall call = MS_TRY(caller_->prepare(invocation, *this, in, body));
    const int64_t start_ns = net::Reactor::current()->refresh_now();
    Result<ClientResponse> answer = caller_->sender().send(call);
    const int64_t elapsed_ns = net::Reactor::current()->refresh_now() - start_ns;
    if (!answer.ok()) {
      return RestCaller::call_error(caller_->operation_name(), call,
                                    std::move(answer).take_status());
    }
    ClientResponse response = std::move(answer).value();
    common::note_http_answer(invocation, *this, response.status);
    const int status = response.status;
    tree::MessageAssembly sent = in;
    MS_TRY(note_destination(invocation, call, response, elapsed_ns, sent));
    const tree::MessageAssembly out = MS_TRY(reader_.read(invocation, sent, response));
    if (is_success(status)) return invocation.propagate(*this, kOut, out);
    if (is_wired(kError)) return invocation.propagate(*this, kError, out);
    return RestCaller::call_error(
        caller_->operation_name(), call,
        base::make_error(errors::kErrorStatus, {caller_->operation_name(), status}));
  }

 private:
  static constexpr int kError = 1;
  static constexpr int kOut = 2;

  // LocalEnvironment.WrittenDestination.REST
  static Status note_destination(flow::Invocation& invocation, const common::HttpCall& call,
                                 const ClientResponse& response, int64_t elapsed_ns,
                                 tree::MessageAssembly& out) {
    tree::TreeContext& context = invocation.context();
    out.local_environment = MS_TRY(tree::deep_copy(context, out.local_environment));
    tree::Element* written =
        tree::ensure_child(context, out.local_environment, "WrittenDestination");
    tree::Element* rest = tree::ensure_child(context, written, "REST");
    tree::detach_children(rest);
    const std::string url =
        (call.url.is_https ? "https://" : "http://") + call.url.authority() + call.url.target;
    auto set = [&](std::string_view name, const Value& v) {
      tree::set_child(context, rest, name, v);
    };
    auto size = [](size_t whole, size_t body) {
      return Value::make_integer(static_cast<int64_t>(whole - std::min(whole, body)));
    };
    set("URL", Value::make_character(url));
    set("Method", Value::make_character(call.method));
    set("StatusCode", Value::make_integer(response.status));
    set("TotalRequestTime", Value::make_integer(elapsed_ns / net::kMillisecond));
    set("RequestHeadersSize", size(response.sent_bytes, call.body.size()));
    set("RequestBodySize", Value::make_integer(static_cast<int64_t>(call.body.size())));
    set("ResponseHeadersSize", size(response.received_bytes, response.body.size()));
    set("ResponseBodySize", Value::make_integer(static_cast<int64_t>(response.body.size())));
    return {};
  }

  const std::unique_ptr<RestCaller> caller_;
  const AnswerReader reader_;
};

}  // namespace

Result<std::unique_ptr<flow::Node>> create_rest_request(flow::NodeBuildContext& context) {
  const flow::PropertySet& set = context.definition.properties;
  RestRequestProperties properties = MS_TRY(read_rest_request_properties(set, context.diagnostics));
  AnswerReader reader = MS_TRY(AnswerReader::create(properties, set));
  std::unique_ptr<RestCaller> caller =
      MS_TRY(RestCaller::create(rest_call_settings(properties), context));
  return std::unique_ptr<flow::Node>(new RestRequest(std::move(caller), std::move(reader)));
}

}  // namespace millstream::nodes::rest
