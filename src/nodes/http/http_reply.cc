// HTTPReply: the message body becomes the response to a waiting request (spec C3).
#include "flow/invocation.h"
#include "nodes/common/body.h"
#include "nodes/http/errors_gen.h"
#include "nodes/http/http_reply_properties_gen.h"
#include "nodes/http/listener.h"
#include "parsers/headers/http_headers.h"
#include "parsers/headers/properties.h"

namespace millstream::nodes::http {
namespace {

using millstream::http::RequestRef;
using parsers::headers::HttpField;

tree::Element* find_path(tree::Element* e, std::initializer_list<std::string_view> steps) {
  for (std::string_view step : steps) {
    if (!e) return nullptr;
    e = tree::find_child(e, step);
  }
  return e;
}

class HttpReply final : public flow::Node {
 public:
  HttpReply(HttpReplyProperties properties, HttpListener& listener)
      : properties_(std::move(properties)), listener_(listener) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    tree::Element* http = find_path(in.local_environment, {"Destination", "HTTP"});
    const std::string_view identifier = MS_TRY(request_identifier(http));
    RequestRef request = listener_.requests().find(identifier);
    if (request) {
      MS_TRY(send(invocation, in, http, request));
      // A request of this invocation is taken from the table by its input node.
      const auto* own = static_cast<const RequestRef*>(invocation.transport);
      if (!own || own->get() != request.get()) listener_.requests().remove(*request);
    } else if (!properties_.ignore_transport_failures) {
      return base::make_error(errors::kRequestGone,
                              {"it has been answered already, or its client has left"});
    }
    return invocation.propagate(*this, kOut, in);
  }

 private:
  static constexpr int kOut = 1;

  static Result<std::string_view> request_identifier(tree::Element* http) {
    for (std::string_view name : {"RequestIdentifier", "ReplyIdentifier"}) {
      tree::Element* e = http ? tree::find_child(http, name) : nullptr;
      if (!e) continue;
      const value::Value v = tree::scalar_value(e);
      if (v.kind == value::Kind::kBlob) return v.text();
    }
    return base::make_error(errors::kNoRequestIdentifier);
  }

  Status send(flow::Invocation& invocation, const tree::MessageAssembly& in, tree::Element* http,
              RequestRef& request) {
    tree::TreeContext& context = invocation.context();
    tree::Element* folder = tree::find_domain(in.root, "HTTPReplyHeader");
    if (!folder) folder = tree::find_domain(in.root, "HTTPResponseHeader");
    // Everything that can fail comes before the claim: a claimed reply must be sent.
    const int status = MS_TRY(status_code(context, http, folder));
    std::vector<HttpField> fields;
    if (folder) MS_TRY(parsers::headers::collect_http_fields(context, folder, fields));
    std::string body;
    MS_TRY(common::write_body(context, in.root, body));

    millstream::http::Response* response = request->claim_reply();
    if (!response) {
      if (properties_.ignore_transport_failures) return {};
      return base::make_error(errors::kRequestGone, {"another reply came first"});
    }
    response->status = status;
    bool has_content_type = false;
    for (const HttpField& f : fields) {
      response->headers.add(f.name, f.value);
      has_content_type |= millstream::http::equals_ignore_case(f.name, "Content-Type");
    }
    if (!has_content_type && properties_.generate_default_http_headers && !body.empty()) {
      std::string_view content_type = parsers::headers::property_text(in.root, "ContentType");
      response->headers.add("Content-Type", content_type.empty()
                                                ? common::default_content_type(in.root)
                                                : std::string(content_type));
    }
    response->body = std::move(body);
    if (!request->send_reply() && !properties_.ignore_transport_failures) {
      return base::make_error(errors::kRequestGone, {"its client has left"});
    }
    return {};
  }

  static Result<int> status_code(tree::TreeContext& context, tree::Element* http,
                                 tree::Element* folder) {
    std::string text;
    if (tree::Element* e = http ? tree::find_child(http, "ReplyStatusCode") : nullptr) {
      const value::Value v = tree::scalar_value(e);
      if (v.kind == value::Kind::kInteger) text = std::to_string(v.integer);
      if (v.kind == value::Kind::kCharacter) text = v.text();
    }
    if (text.empty()) {
      text = parsers::headers::http_field_text(context, folder, "X-Original-HTTP-Status-Code");
    }
    if (text.empty()) return 200;
    int code = 0;
    for (char c : text) {
      if (c < '0' || c > '9' || code > 999) return base::make_error(errors::kBadStatusCode, {text});
      code = code * 10 + (c - '0');
    }
    if (code < 200 || code > 599) return base::make_error(errors::kBadStatusCode, {text});
    return code;
  }

  const HttpReplyProperties properties_;
  HttpListener& listener_;
};

}  // namespace

Result<std::unique_ptr<flow::Node>> create_http_reply(flow::NodeBuildContext& context) {
  HttpReplyProperties properties =
      MS_TRY(read_http_reply_properties(context.definition.properties, context.diagnostics));
  auto* listener = context.services.find<HttpListener>();
  if (!listener) return base::make_error(errors::kNoListener, {context.definition.label});
  for (const char* name : {"ReplyStatusCode", "ReplyIdentifier", "HTTPReplyHeader"}) {
    context.names.intern_qname("", name);
  }
  return std::unique_ptr<flow::Node>(new HttpReply(std::move(properties), *listener));
}

}  // namespace millstream::nodes::http
