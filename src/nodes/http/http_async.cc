// HTTPAsyncRequest and HTTPAsyncResponse: an exchange with a web service whose answer comes in
// another flow (spec C3, C4).
#include "base/clock.h"
#include "flow/invocation.h"
#include "net/reactor.h"
#include "nodes/common/async_response.h"
#include "nodes/common/body.h"
#include "nodes/common/http_answer.h"
#include "nodes/common/http_observe.h"
#include "nodes/common/http_policy.h"
#include "nodes/common/identity.h"
#include "nodes/http/errors_gen.h"
#include "nodes/http/http_async_request_properties_gen.h"
#include "nodes/http/http_async_response_properties_gen.h"
#include "nodes/http/request_parts.h"
#include "parsers/headers/properties.h"

namespace millstream::nodes::http {
namespace {

using common::AsyncKind;
using common::AsyncRequest;
using millstream::http::ClientResponse;
using value::Value;
using AsyncAnswer = Result<ClientResponse>;

class HttpAsyncRequest final : public flow::Node {
 public:
  HttpAsyncRequest(HttpAsyncRequestProperties properties, const common::Application& application,
                   std::unique_ptr<common::HttpSender> sender, common::AsyncRequests* requests,
                   bool propagates_identity)
      : properties_(std::move(properties)),
        application_(application),
        sender_(std::move(sender)),
        requests_(requests),
        propagates_identity_(propagates_identity) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    if (!requests_) return base::make_error(errors::kNoListener, {full_label()});
    common::HttpCall call = sender_->new_call();
    call.method = method_name(properties_);
    MS_TRY(read_request(invocation.context(), in, properties_.url_specifier, call));
    if (properties_.generate_default_http_headers) {
      add_default_headers(invocation.context(), in, call);
    }
    if (propagates_identity_) {
      common::Identity identity = common::identity_to_send(in.root);
      call.user_info = std::move(identity.user_info);
      call.bearer_token = std::move(identity.bearer_token);
    }
    std::string body;
    if (sends_body(call.method)) MS_TRY(common::write_body(invocation.context(), in.root, body));
    common::add_trace_headers(invocation, *this, call.headers);
    std::shared_ptr<AsyncRequest> pending =
        MS_TRY(requests_->begin(AsyncKind::kHttp, application_,
                                properties_.async_response_correlator, *this, invocation, in));
    pending->set_trace(common::trace_of(call.headers));
    net::Reactor::current()->spawn(
        [this, pending = std::move(pending), call = std::move(call),
         body = std::move(body)]() mutable { exchange(*pending, std::move(call), body); });
    return invocation.propagate(*this, kOut, in);
  }

 private:
  static constexpr int kOut = 1;

  // In a fiber of its own; `pending` keeps this node's flow.
  void exchange(const AsyncRequest& pending, common::HttpCall call, const std::string& body) const {
    call.body = body;
    AsyncAnswer answer = sender_->send(call);
    // The server is stopping: nobody is left to hand it to.
    if (net::is_current_cancelled()) return;
    if (!answer.ok()) answer = http_call_error(call, std::move(answer).take_status());
    common::hand_over(pending, call.url.authority() + call.url.target, std::move(answer));
  }

  const HttpAsyncRequestProperties properties_;
  const common::Application& application_;
  const std::unique_ptr<common::HttpSender> sender_;
  common::AsyncRequests* const requests_;
  const bool propagates_identity_;
};

class HttpAsyncResponse final : public common::AsyncResponseNode<ClientResponse> {
 public:
  HttpAsyncResponse(const HttpAsyncResponseProperties& properties, common::BodyParserChoice body,
                    const common::Application& application, common::AsyncRequests* requests)
      : AsyncResponseNode(AsyncKind::kHttp, properties.async_request_correlator, application,
                          requests),
        body_(std::move(body)) {}

 private:
  static constexpr int kError = 1;

  Status run_answer(const AsyncRequest& request, const std::string& target, AsyncAnswer answer,
                    common::InputRun& run) override {
    flow::Invocation& invocation = run.invocation();
    tree::MessageAssembly message = run.arena().make_assembly();
    const size_t bytes = answer.ok() ? answer.value().body.size() : 0;
    const int code = answer.ok() ? answer.value().status : 0;
    Status status = make_message(request, answer, invocation, message);
    if (!status.ok()) {
      return invocation.run_failure_from_input(*this, message, std::move(status), bytes);
    }
    if (code >= 200 && code < 300) return invocation.run_from_input(*this, message, bytes);
    if (is_wired(kError)) return invocation.run_branch_from_input(*this, kError, message);
    return invocation.run_failure_from_input(
        *this, message, base::make_error(errors::kErrorStatus, {target, code}), bytes);
  }

  Status make_message(const AsyncRequest& request, AsyncAnswer& answer,
                      flow::Invocation& invocation, const tree::MessageAssembly& message) {
    tree::TreeContext& context = invocation.context();
    MS_TRY(common::restore_async_context(AsyncKind::kHttp, request.context(), context, message));
    tree::Element* family = tree::ensure_child(context, message.environment, "HTTP");
    tree::set_child(context, family, "CorrelationID", Value::make_blob(request.identifier()));
    if (!answer.ok()) {
      parsers::headers::PropertiesInput properties;
      properties.reply_protocol = "SOAP-HTTP";
      properties.creation_time_micros = base::system_clock().wall_gmt_micros();
      parsers::headers::make_properties(context, message.root, properties);
      return std::move(answer).take_status();
    }
    const int status = answer.value().status;
    const common::HttpAnswerBody body =
        common::begin_http_answer(invocation, message.root, answer.value());
    tree::Element* folder = tree::ensure_child(context, message.local_environment, "HTTP");
    folder = tree::ensure_child(context, folder, "Response");
    tree::set_child(context, folder, "StatusCode", Value::make_integer(status));
    tree::set_child(context, folder, "CorrelationID", Value::make_blob(request.identifier()));
    return common::add_body(context, message.root, body_, body.bytes, body.ccsid, 0);
  }

  const common::BodyParserChoice body_;
};

}  // namespace

Result<std::unique_ptr<flow::Node>> create_http_async_request(flow::NodeBuildContext& context) {
  HttpAsyncRequestProperties properties = MS_TRY(
      read_http_async_request_properties(context.definition.properties, context.diagnostics));
  const bool propagates_identity = MS_TRY(common::propagates_identity(context));
  common::HttpSendSettings settings = send_settings(properties);
  MS_TRY(common::apply_http_policy(context, settings));
  std::unique_ptr<common::HttpSender> sender =
      MS_TRY(common::HttpSender::create(std::move(settings), context.services));
  return std::unique_ptr<flow::Node>(new HttpAsyncRequest(
      std::move(properties), *context.services.find<common::Application>(), std::move(sender),
      context.services.find<common::AsyncRequests>(), propagates_identity));
}

Result<std::unique_ptr<flow::Node>> create_http_async_response(flow::NodeBuildContext& context) {
  HttpAsyncResponseProperties properties = MS_TRY(
      read_http_async_response_properties(context.definition.properties, context.diagnostics));
  common::BodyParserChoice body = MS_TRY(common::choose_body_parser(
      properties.message_domain_property, properties.parser_xmlnsc_use_for_xmlns_domain));
  common::set_xml_options(properties, context.definition.properties, body);
  return std::unique_ptr<flow::Node>(new HttpAsyncResponse(
      properties, std::move(body), *context.services.find<common::Application>(),
      context.services.find<common::AsyncRequests>()));
}

}  // namespace millstream::nodes::http
