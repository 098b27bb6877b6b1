// HTTPAsyncRequest and HTTPAsyncResponse: an exchange with a web service whose answer comes in
// another flow (spec C3, C4).
#include "base/clock.h"
#include "flow/invocation.h"
#include "net/reactor.h"
#include "nodes/common/async_requests.h"
#include "nodes/common/body.h"
#include "nodes/common/http_observe.h"
#include "nodes/common/http_send.h"
#include "nodes/common/input_run.h"
#include "nodes/http/errors_gen.h"
#include "nodes/http/http_async_request_properties_gen.h"
#include "nodes/http/http_async_response_properties_gen.h"
#include "parsers/headers/http_headers.h"
#include "parsers/headers/properties.h"
#include "text/ccsid.h"

namespace millstream::nodes::http {
namespace {

using common::AsyncKind;
using common::AsyncRequest;
using value::Value;
using AsyncAnswer = Result<millstream::http::ClientResponse>;
using AsyncField = parsers::headers::HttpField;

bool sends_async_body(const std::string& method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

// What an answer is handed to.
class HttpResponder : public common::AsyncResponder {
 public:
  // In a fiber, on the reactor that received the answer. `target` is for messages.
  virtual void receive(const AsyncRequest& request, const std::string& target,
                       AsyncAnswer answer) = 0;
};

class HttpAsyncRequest final : public flow::Node {
 public:
  HttpAsyncRequest(HttpAsyncRequestProperties properties, const common::Application& application,
                   std::unique_ptr<common::HttpSender> sender, common::AsyncRequests* requests)
      : properties_(std::move(properties)),
        application_(application),
        sender_(std::move(sender)),
        requests_(requests) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    if (!requests_) return base::make_error(errors::kNoListener, {full_label()});
    common::HttpCall call = sender_->new_call();
    MS_TRY(prepare(invocation, in, call));
    std::string body;
    if (sends_async_body(call.method))
      MS_TRY(common::write_body(invocation.context(), in.root, body));
    common::add_trace_headers(invocation, *this, call.headers);
    std::shared_ptr<AsyncRequest> pending =
        MS_TRY(requests_->begin(AsyncKind::kHttp, application_,
                                properties_.async_response_correlator, *this, invocation, in));
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
    const std::string line =
        call.method + " " + call.url.target + (call.is_http10 ? " HTTP/1.0" : " HTTP/1.1");
    if (!answer.ok()) {
      answer = base::wrap_error(base::make_error(errors::kHttpError, {line}),
                                std::move(answer).take_status());
    }
    flow::FlowHold hold;
    auto responder = std::static_pointer_cast<HttpResponder>(pending.responder(hold));
    responder->receive(pending, call.url.authority() + call.url.target, std::move(answer));
  }

  Status prepare(flow::Invocation& invocation, const tree::MessageAssembly& in,
                 common::HttpCall& call) {
    static constexpr const char* kMethods[] = {"POST", "GET",   "PUT",     "DELETE",
                                               "HEAD", "PATCH", "OPTIONS", "TRACE"};
    tree::Element* destination = tree::find_child(in.local_environment, "Destination");
    if (destination) destination = tree::find_child(destination, "HTTP");
    tree::Element* folder = tree::find_domain(in.root, "HTTPRequestHeader");
    call.url = MS_TRY(choose_url(invocation.context(), destination, folder));
    call.method = kMethods[static_cast<size_t>(properties_.http_method)];
    MS_TRY(common::HttpSender::apply_overrides(destination, call));
    if (folder) {
      std::vector<AsyncField> fields;
      MS_TRY(parsers::headers::collect_http_fields(invocation.context(), folder, fields));
      for (const AsyncField& f : fields) call.headers.add(f.name, f.value);
    }
    if (call.is_http10) call.keeps_alive = false;
    if (!properties_.generate_default_http_headers || !sends_async_body(call.method)) return {};
    if (!call.headers.has("Content-Type")) {
      call.headers.add("Content-Type", common::content_type(invocation.context(), in.root));
    }
    if (!call.headers.has("SOAPAction") &&
        call.headers.get("Content-Type").find("text/xml") != std::string_view::npos) {
      call.headers.add("SOAPAction", "\"\"");
    }
    return {};
  }

  // The first usable one of header, LocalEnvironment and property.
  Result<millstream::http::Url> choose_url(tree::TreeContext& context, tree::Element* destination,
                                           tree::Element* folder) const {
    std::string header;
    if (folder) header = parsers::headers::http_field_text(context, folder, "X-Original-HTTP-URL");
    Status problem;
    for (const std::string& candidate :
         {header, common::http_field_value(destination, "RequestURL"), properties_.url_specifier}) {
      if (candidate.empty()) continue;
      Result<millstream::http::Url> url = millstream::http::parse_url(candidate);
      if (url.ok()) return url;
      problem = std::move(url).take_status();
    }
    if (problem.ok()) return base::make_error(errors::kNoUrl);
    return base::wrap_error(base::make_error(errors::kNoUrl), std::move(problem));
  }

  const HttpAsyncRequestProperties properties_;
  const common::Application& application_;
  const std::unique_ptr<common::HttpSender> sender_;
  common::AsyncRequests* const requests_;
};

class HttpAsyncResponse final : public flow::Node {
 public:
  HttpAsyncResponse(HttpAsyncResponseProperties properties, common::BodyParserChoice body,
                    const common::Application& application, common::AsyncRequests* requests)
      : properties_(std::move(properties)),
        body_(std::move(body)),
        application_(application),
        requests_(requests) {}

  Status evaluate(flow::Invocation&, const tree::MessageAssembly&, int) override { return {}; }
  Status start() override {
    if (!requests_) return {};
    responder_ = std::make_shared<Responder>(*this);
    return requests_->add(AsyncKind::kHttp, application_, properties_.async_request_correlator,
                          full_label(), responder_);
  }
  void stop() override {
    if (responder_) requests_->remove(responder_.get());
  }

 private:
  static constexpr int kError = 1;

  class Responder final : public HttpResponder {
   public:
    explicit Responder(HttpAsyncResponse& node) : node_(node) {}
    flow::Flow& flow() const override { return node_.flow(); }
    void receive(const AsyncRequest& request, const std::string& target,
                 AsyncAnswer answer) override {
      node_.receive(request, target, std::move(answer));
    }

   private:
    HttpAsyncResponse& node_;
  };

  void receive(const AsyncRequest& request, const std::string& target, AsyncAnswer answer) {
    common::InputRun run(flow());
    run.invocation().call_depth = request.call_depth();
    Status status = run_answer(request, target, answer, run);
    if (!status.ok()) common::log_input_exception(*this, std::move(status));
  }

  Status run_answer(const AsyncRequest& request, const std::string& target, AsyncAnswer& answer,
                    common::InputRun& run) {
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
    parsers::headers::PropertiesInput properties;
    properties.reply_protocol = "SOAP-HTTP";
    properties.creation_time_micros = base::system_clock().wall_gmt_micros();
    if (!answer.ok()) {
      parsers::headers::make_properties(context, message.root, properties);
      return std::move(answer).take_status();
    }
    millstream::http::ClientResponse& response = answer.value();
    const std::string_view type = context.arena.copy(response.headers.get("Content-Type"));
    const std::string_view charset = millstream::http::parse_content_type(type).charset;
    const uint32_t ccsid =
        charset.empty() ? 0 : static_cast<uint32_t>(text::ccsid_of_encoding(charset).value_or(0));
    properties.coded_char_set_id = ccsid ? ccsid : text::kCcsidUtf8;
    properties.content_type = type;
    parsers::headers::make_properties(context, message.root, properties);
    add_response(context, request, message, response);
    const std::string_view body = response.body;
    invocation.keep(std::move(response.buffer));
    return common::add_body(context, message.root, body_, body, ccsid, 0);
  }

  // HTTPResponseHeader, and LocalEnvironment.HTTP.Response.
  static void add_response(tree::TreeContext& context, const AsyncRequest& request,
                           const tree::MessageAssembly& message,
                           const millstream::http::ClientResponse& response) {
    const std::string code = std::to_string(response.status);
    std::vector<AsyncField> fields = {
        {"X-Original-HTTP-Status-Line",
         context.arena.copy("HTTP/1.1 " + code + " " + std::string(response.reason))},
        {"X-Original-HTTP-Status-Code", context.arena.copy(code)}};
    for (size_t i = 0; i < response.headers.size(); ++i) {
      fields.push_back({context.arena.copy(response.headers.name(i)),
                        context.arena.copy(response.headers.value(i))});
    }
    parsers::headers::make_http_header(context, message.root, parsers::headers::kHttpResponseHeader,
                                       fields);
    tree::Element* folder = tree::ensure_child(context, message.local_environment, "HTTP");
    folder = tree::ensure_child(context, folder, "Response");
    tree::set_child(context, folder, "StatusCode", Value::make_integer(response.status));
    tree::set_child(context, folder, "CorrelationID", Value::make_blob(request.identifier()));
  }

  const HttpAsyncResponseProperties properties_;
  const common::BodyParserChoice body_;
  const common::Application& application_;
  common::AsyncRequests* const requests_;
  std::shared_ptr<Responder> responder_;
};

common::HttpSendSettings async_send_settings(const HttpAsyncRequestProperties& p) {
  static constexpr const char* kCompressions[] = {"none", "gzip", "zlib", "deflate"};
  common::HttpSendSettings s;
  s.timeout_s = p.timeout_for_server;
  s.follows_redirects = p.follow_redirection;
  s.keeps_alive = p.enable_keep_alive;
  s.is_http10 = p.http_version == HttpAsyncRequestProperties::HttpVersion::k10;
  s.proxy_location = p.http_proxy_location;
  s.compression = kCompressions[static_cast<size_t>(p.request_compression_type)];
  s.compression_bytes_min = p.minimum_request_compression_size;
  s.accepts_compressed = p.accept_compressed_responses;
  s.tls.choice.protocol = p.protocol;
  s.tls.choice.ciphers = p.allowed_ciphers;
  s.tls.choice.key_alias = p.key_alias;
  s.tls.checks_host_name = p.hostname_checking;
  s.tls.checks_revocation = p.enable_crl_check;
  s.security_identity = p.security_identity;
  s.likely_url = p.url_specifier;
  return s;
}

}  // namespace

Result<std::unique_ptr<flow::Node>> create_http_async_request(flow::NodeBuildContext& context) {
  HttpAsyncRequestProperties properties = MS_TRY(
      read_http_async_request_properties(context.definition.properties, context.diagnostics));
  std::unique_ptr<common::HttpSender> sender =
      MS_TRY(common::HttpSender::create(async_send_settings(properties), context.services));
  return std::unique_ptr<flow::Node>(
      new HttpAsyncRequest(std::move(properties), *context.services.find<common::Application>(),
                           std::move(sender), context.services.find<common::AsyncRequests>()));
}

Result<std::unique_ptr<flow::Node>> create_http_async_response(flow::NodeBuildContext& context) {
  HttpAsyncResponseProperties properties = MS_TRY(
      read_http_async_response_properties(context.definition.properties, context.diagnostics));
  common::BodyParserChoice body = MS_TRY(common::choose_body_parser(
      properties.message_domain_property, properties.parser_xmlnsc_use_for_xmlns_domain));
  common::set_xml_options(properties, context.definition.properties, body);
  return std::unique_ptr<flow::Node>(new HttpAsyncResponse(
      std::move(properties), std::move(body), *context.services.find<common::Application>(),
      context.services.find<common::AsyncRequests>()));
}

}  // namespace millstream::nodes::http
