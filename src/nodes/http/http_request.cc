// HTTPRequest: one exchange with a web service, in the message's fiber (spec C3).
#include <memory>

#include "flow/invocation.h"
#include "http/client.h"
#include "net/reactor.h"
#include "nodes/common/body.h"
#include "nodes/common/http_answer.h"
#include "nodes/common/http_observe.h"
#include "nodes/common/http_policy.h"
#include "nodes/common/identity.h"
#include "nodes/common/location.h"
#include "nodes/http/errors_gen.h"
#include "nodes/http/http_request_properties_gen.h"
#include "nodes/http/request_parts.h"

namespace millstream::nodes::http {
namespace {

using common::HttpCall;
using common::HttpSender;
using millstream::http::ClientResponse;
using value::Value;

class HttpRequest final : public flow::Node {
 public:
  HttpRequest(HttpRequestProperties properties, common::BodyParserChoice answer,
              common::MessagePlace request_location, common::MessagePlace response_location,
              common::MessagePlace error_location, std::unique_ptr<HttpSender> sender,
              bool propagates_identity)
      : properties_(std::move(properties)),
        answer_(std::move(answer)),
        request_location_(std::move(request_location)),
        response_location_(std::move(response_location)),
        error_location_(std::move(error_location)),
        sender_(std::move(sender)),
        propagates_identity_(propagates_identity) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    HttpCall call = sender_->new_call();
    MS_TRY(prepare(invocation, in, call));
    std::string body;
    MS_TRY(write_request_body(invocation, in, call.method, body));
    call.body = body;
    common::add_trace_headers(invocation, *this, call.headers);
    Result<ClientResponse> answer = sender_->send(call);
    if (!answer.ok()) return http_call_error(call, std::move(answer).take_status());
    ClientResponse response = std::move(answer).value();
    const int status = response.status;
    common::note_http_answer(invocation, *this, status);
    tree::MessageAssembly out = MS_TRY(make_message(invocation, in, response));
    if (status >= 200 && status < 300) return invocation.propagate(*this, kOut, out);
    if (is_wired(kError)) return invocation.propagate(*this, kError, out);
    return http_call_error(
        call,
        base::make_error(errors::kErrorStatus, {call.url.authority() + call.url.target, status}));
  }

 private:
  static constexpr int kError = 1;
  static constexpr int kOut = 2;

  Status prepare(flow::Invocation& invocation, const tree::MessageAssembly& in, HttpCall& call) {
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
    return {};
  }

  Status write_request_body(flow::Invocation& invocation, const tree::MessageAssembly& in,
                            const std::string& method, std::string& body) {
    if (!sends_body(method)) return {};
    if (properties_.use_whole_input_msg_as_request || request_location_.is_whole_tree()) {
      return common::write_body(invocation.context(), in.root, body);
    }
    tree::Element* e = request_location_.find(in);
    if (!e) return {};
    const Value v = tree::scalar_value(e);
    if (v.kind == value::Kind::kBlob ||
        (v.kind == value::Kind::kCharacter && !tree::first_child(e))) {
      body = v.text();
      return {};
    }
    if (e->has_flag(tree::kFlagDomainRoot)) {
      return tree::serialise_body(invocation.context(), static_cast<tree::DomainRoot*>(e), {},
                                  body);
    }
    // A part of a body is written by the domain it belongs to.
    tree::DomainRoot* owner = tree::domain_root_of(e);
    const tree::Domain* domain = owner ? owner->domain : answer_.domain;
    tree::SerialiseOptions options;
    options.mode = tree::BitStreamMode::kFolder;
    return domain->serialise(invocation.context(), e, options, body);
  }

  Result<tree::MessageAssembly> make_message(flow::Invocation& invocation,
                                             const tree::MessageAssembly& in,
                                             ClientResponse& response) {
    tree::TreeContext& context = invocation.context();
    tree::MessageAssembly out = in;
    tree::Element* answer = tree::make_root(context, "Root");
    const common::HttpAnswerBody body = common::begin_http_answer(invocation, answer, response);
    MS_TRY(common::add_body(context, answer, answer_, body.bytes, body.ccsid, 0));
    const bool is_error = response.status < 200 || response.status >= 300;
    if (is_error ? properties_.replace_input_msg_with_http_error
                 : properties_.replace_input_msg_with_ws_response) {
      MS_TRY(common::copy_other_headers(context, in.root, answer));
      out.root = answer;
      return out;
    }
    MS_TRY(put_answer(context, is_error ? error_location_ : response_location_, in, answer, out));
    return out;
  }

  // The message goes on as it was, with the answer at the place the property names.
  static Status put_answer(tree::TreeContext& context, const common::MessagePlace& location,
                           const tree::MessageAssembly& in, tree::Element* answer,
                           tree::MessageAssembly& out) {
    using Tree = common::MessagePlace::Tree;
    if (location.tree() == Tree::kRoot || location.tree() == Tree::kBody) {
      out.root = MS_TRY(tree::deep_copy(context, in.root));
    } else if (location.tree() == Tree::kLocalEnvironment) {
      out.local_environment = MS_TRY(tree::deep_copy(context, in.local_environment));
    }
    tree::Element* body = tree::body_of(answer);
    if (location.is_whole_tree()) {
      if (tree::DomainRoot* old = tree::body_of(out.root)) tree::detach(old);
      for (tree::Element* e : {tree::previous_sibling(body), body}) {
        tree::detach(e);
        tree::append_child(out.root, e);
      }
      return {};
    }
    tree::Element* place = MS_TRY(location.ensure(context, out));
    return tree::copy_content(context, place, body);
  }

  const HttpRequestProperties properties_;
  const common::BodyParserChoice answer_;
  const common::MessagePlace request_location_;
  const common::MessagePlace response_location_;
  const common::MessagePlace error_location_;
  const std::unique_ptr<HttpSender> sender_;
  const bool propagates_identity_;
};

}  // namespace

Result<std::unique_ptr<flow::Node>> create_http_request(flow::NodeBuildContext& context) {
  HttpRequestProperties properties =
      MS_TRY(read_http_request_properties(context.definition.properties, context.diagnostics));
  common::BodyParserChoice answer = MS_TRY(common::choose_body_parser(
      properties.message_domain_property, properties.parser_xmlnsc_use_for_xmlns_domain));
  common::set_xml_options(properties, context.definition.properties, answer);
  common::MessagePlace request_location =
      MS_TRY(common::MessagePlace::parse(properties.request_msg_location_in_tree));
  common::MessagePlace response_location =
      MS_TRY(common::MessagePlace::parse(properties.response_msg_location_in_tree));
  common::MessagePlace error_location =
      MS_TRY(common::MessagePlace::parse(properties.error_msg_location_in_tree));
  const bool propagates_identity = MS_TRY(common::propagates_identity(context));
  common::HttpSendSettings settings = send_settings(properties);
  settings.tls.checks_revocation |= properties.ssl_crl;
  MS_TRY(common::apply_http_policy(context, settings));
  std::unique_ptr<HttpSender> sender =
      MS_TRY(HttpSender::create(std::move(settings), context.services));
  return std::unique_ptr<flow::Node>(
      new HttpRequest(std::move(properties), std::move(answer), std::move(request_location),
                      std::move(response_location), std::move(error_location), std::move(sender),
                      propagates_identity));
}

}  // namespace millstream::nodes::http
