// RESTAsyncRequest and RESTAsyncResponse: a call whose answer starts another flow.
#include "flow/errors_gen.h"
#include "net/reactor.h"
#include "nodes/common/async_response.h"
#include "nodes/common/http_observe.h"
#include "nodes/rest/errors_gen.h"
#include "nodes/rest/rest_answer.h"
#include "nodes/rest/rest_async_request_properties_gen.h"
#include "nodes/rest/rest_async_response_properties_gen.h"
#include "nodes/rest/rest_call.h"
#include "parsers/headers/properties.h"

namespace millstream::nodes::rest {
namespace {

using millstream::http::ClientResponse;
using value::Value;

class RestAsyncRequest final : public flow::Node {
 public:
  RestAsyncRequest(std::unique_ptr<RestCaller> caller, std::string correlator,
                   const common::Application& application, common::AsyncRequests* requests)
      : caller_(std::move(caller)),
        correlator_(std::move(correlator)),
        application_(application),
        requests_(requests) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    if (!requests_) return base::make_error(errors::kNoAsyncRequests, {full_label()});
    // Moves into the fiber that sends; the body is a view of the text beside it.
    auto exchange = std::make_shared<Exchange>();
    exchange->call = MS_TRY(caller_->prepare(invocation, *this, in, exchange->body));
    std::shared_ptr<common::AsyncRequest> pending = MS_TRY(requests_->begin(
        common::AsyncKind::kRest, application_, correlator_, *this, invocation, in));
    pending->set_trace(common::trace_of(exchange->call.headers));
    net::Reactor::current()->spawn([this, exchange, pending] { send(*exchange, *pending); });
    return invocation.propagate(*this, kOut, in);
  }

 private:
  static constexpr int kOut = 1;
  struct Exchange {
    std::string body;
    common::HttpCall call;
  };

  // The pending request keeps this node's flow.
  void send(Exchange& exchange, const common::AsyncRequest& pending) const {
    Result<ClientResponse> answer = caller_->sender().send(exchange.call);
    const std::string& operation = caller_->operation_name();
    if (!answer.ok()) {
      answer = RestCaller::call_error(operation, exchange.call, std::move(answer).take_status());
    }
    common::hand_over(pending, operation, std::move(answer));
  }

  const std::unique_ptr<RestCaller> caller_;
  const std::string correlator_;
  const common::Application& application_;
  common::AsyncRequests* const requests_;  // null: this process has none
};

class RestAsyncResponse final : public common::AsyncResponseNode<ClientResponse> {
 public:
  RestAsyncResponse(AnswerReader reader, std::string correlator,
                    const common::Application& application, common::AsyncRequests* requests)
      : AsyncResponseNode(common::AsyncKind::kRest, std::move(correlator), application, requests),
        reader_(std::move(reader)) {}

 private:
  static constexpr int kError = 1;

  Status run_answer(const common::AsyncRequest& request, const std::string& operation,
                    Result<ClientResponse> answer, common::InputRun& run) override {
    tree::TreeContext& context = run.context();
    flow::Invocation& invocation = run.invocation();
    tree::MessageAssembly message = run.arena().make_assembly();
    const bool has_answer = answer.ok();
    const int status_code = has_answer ? answer.value().status : 0;
    const size_t bytes = has_answer ? answer.value().received_bytes : 0;
    Status status = make_message(request, std::move(answer), invocation, message);
    if (!status.ok()) return fail(invocation, context, message, std::move(status));
    if (is_success(status_code)) return invocation.run_from_input(*this, message, bytes);
    if (is_wired(kError)) return invocation.run_branch_from_input(*this, kError, message);
    return fail(invocation, context, message,
                base::make_error(errors::kErrorStatus, {operation, status_code}));
  }

  Status fail(flow::Invocation& invocation, tree::TreeContext& context,
              const tree::MessageAssembly& message, Status status) {
    context.parse_error = Status();
    return invocation.run_failure_from_input(*this, message, std::move(status), 0);
  }

  // The answer, or an empty message when there is none; the context of the request in both cases.
  Status make_message(const common::AsyncRequest& request, Result<ClientResponse> answer,
                      flow::Invocation& invocation, tree::MessageAssembly& message) {
    tree::TreeContext& context = invocation.context();
    MS_TRY(common::restore_async_context(common::AsyncKind::kRest, request.context(), context,
                                         message));
    tree::Element* rest = tree::ensure_child(context, message.local_environment, "REST");
    tree::Element* response = tree::ensure_child(context, rest, "Response");
    tree::set_child(context, response, "CorrelationID", Value::make_blob(request.identifier()));
    if (!answer.ok()) {
      parsers::headers::make_properties(context, message.root, {});
      return std::move(answer).take_status();
    }
    ClientResponse& received = answer.value();
    const size_t head =
        received.received_bytes - std::min(received.received_bytes, received.body.size());
    auto set = [&](std::string_view name, size_t n) {
      tree::set_child(context, response, name, Value::make_integer(static_cast<int64_t>(n)));
    };
    set("StatusCode", static_cast<size_t>(received.status));
    set("ResponseHeadersSize", head);
    set("ResponseBodySize", received.body.size());
    message = MS_TRY(reader_.read(invocation, message, received));
    return {};
  }

  const AnswerReader reader_;
};

}  // namespace

Result<std::unique_ptr<flow::Node>> create_rest_async_request(flow::NodeBuildContext& context) {
  RestAsyncRequestProperties properties = MS_TRY(
      read_rest_async_request_properties(context.definition.properties, context.diagnostics));
  std::unique_ptr<RestCaller> caller =
      MS_TRY(RestCaller::create(rest_call_settings(properties), context));
  return std::unique_ptr<flow::Node>(
      new RestAsyncRequest(std::move(caller), std::move(properties.async_response_correlator),
                           *context.services.find<common::Application>(),
                           context.services.find<common::AsyncRequests>()));
}

Result<std::unique_ptr<flow::Node>> create_rest_async_response(flow::NodeBuildContext& context) {
  const flow::PropertySet& set = context.definition.properties;
  RestAsyncResponseProperties properties =
      MS_TRY(read_rest_async_response_properties(set, context.diagnostics));
  AnswerReader reader = MS_TRY(AnswerReader::create(properties, set));
  return std::unique_ptr<flow::Node>(
      new RestAsyncResponse(std::move(reader), std::move(properties.async_request_correlator),
                            *context.services.find<common::Application>(),
                            context.services.find<common::AsyncRequests>()));
}

}  // namespace millstream::nodes::rest
