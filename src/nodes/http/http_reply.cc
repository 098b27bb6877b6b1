// HTTPReply: the message body becomes the response to a waiting request (spec C3).
#include "flow/invocation.h"
#include "http/coding.h"
#include "nodes/common/body.h"
#include "nodes/http/errors_gen.h"
#include "nodes/http/http_reply_properties_gen.h"
#include "nodes/http/listener.h"
#include "parsers/headers/http_headers.h"
#include "parsers/headers/properties.h"

namespace millstream::nodes::http {
namespace {

using millstream::http::Coding;
using millstream::http::RequestRef;
using parsers::headers::HttpField;

// What is looked for in every message, interned once a deployment.
struct ReplyNames {
  explicit ReplyNames(base::NameTable& table)
      : destination(table.intern_qname("", "Destination")),
        http(table.intern_qname("", "HTTP")),
        identifiers{table.intern_qname("", "RequestIdentifier"),
                    table.intern_qname("", "ReplyIdentifier")},
        status_code(table.intern_qname("", "ReplyStatusCode")) {}
  const base::QName *destination, *http, *identifiers[2], *status_code;
};

// The body of the last reply of this thread, so that its memory serves the next one.
std::string& spare_body() {
  thread_local std::string spare;
  return spare;
}

Coding coding_of(HttpReplyProperties::CompressionType type) {
  constexpr Coding kCodings[] = {Coding::kIdentity, Coding::kGzip, Coding::kZlib,
                                 Coding::kRawDeflate};
  return kCodings[static_cast<size_t>(type)];
}

class HttpReply final : public flow::Node {
 public:
  HttpReply(HttpReplyProperties properties, const ReplyNames& names, HttpListener& listener)
      : properties_(std::move(properties)), names_(names), listener_(listener) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    tree::Element* destination = tree::find_child(in.local_environment, names_.destination);
    tree::Element* http = destination ? tree::find_child(destination, names_.http) : nullptr;
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

  Result<std::string_view> request_identifier(tree::Element* http) const {
    for (const base::QName* name : names_.identifiers) {
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
    const int status = MS_TRY(status_code(context, http, in.root));
    // Kept for the next message; nothing waits while it is in use.
    thread_local std::vector<HttpField> fields;
    fields.clear();
    if (folder) MS_TRY(parsers::headers::collect_http_fields(context, folder, fields));
    std::string body = std::move(spare_body());
    body.clear();
    MS_TRY(common::write_body(context, in.root, body));

    millstream::http::Response* response = request->claim_reply();
    if (!response) {
      if (properties_.ignore_transport_failures) return {};
      return base::make_error(errors::kRequestGone, {"another reply came first"});
    }
    response->status = status;
    if (flow::Observation* o = invocation.observation()) o->replied(*this, status);
    bool has_content_type = false;
    for (const HttpField& f : fields) {
      response->headers.add(f.name, f.value);
      has_content_type |= millstream::http::equals_ignore_case(f.name, "Content-Type");
    }
    if (!has_content_type && properties_.generate_default_http_headers && !body.empty()) {
      response->headers.add("Content-Type", common::content_type(context, in.root));
    }
    if (compression_ != Coding::kIdentity) compress_body(*request, *response, body);
    response->body.swap(body);
    spare_body() = std::move(body);
    if (!request->send_reply() && !properties_.ignore_transport_failures) {
      return base::make_error(errors::kRequestGone, {"its client has left"});
    }
    return {};
  }

  Result<int> status_code(tree::TreeContext& context, tree::Element* http,
                          tree::Element* root) const {
    std::string text;
    if (tree::Element* e = http ? tree::find_child(http, names_.status_code) : nullptr) {
      const value::Value v = tree::scalar_value(e);
      if (v.kind == value::Kind::kInteger) text = std::to_string(v.integer);
      if (v.kind == value::Kind::kCharacter) text = v.text();
    }
    for (const char* folder : {"HTTPReplyHeader", "HTTPResponseHeader"}) {
      if (!text.empty()) break;
      text = parsers::headers::http_field_text(context, tree::find_domain(root, folder),
                                               "X-Original-HTTP-Status-Code");
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    if (text.empty()) return 200;
    int code = 0;
    for (char c : text) {
      if (c < '0' || c > '9' || code > 999) return base::make_error(errors::kBadStatusCode, {text});
      code = code * 10 + (c - '0');
    }
    if (code < 200 || code > 599) return base::make_error(errors::kBadStatusCode, {text});
    return code;
  }

  // What cannot be compressed goes as it is.
  void compress_body(const millstream::http::Request& request, millstream::http::Response& response,
                     std::string& body) const {
    if (body.empty() || response.headers.has("Content-Encoding")) return;
    response.headers.add("Vary", "Accept-Encoding");
    const std::string_view accepted = request.headers().get("Accept-Encoding");
    std::string packed;
    if (!millstream::http::is_coding_accepted(accepted, compression_) ||
        !millstream::http::compress(compression_, body, packed).ok()) {
      return;
    }
    response.headers.add("Content-Encoding", millstream::http::coding_name(compression_));
    body.swap(packed);
  }

  const HttpReplyProperties properties_;
  const Coding compression_ = coding_of(properties_.compression_type);
  const ReplyNames names_;
  HttpListener& listener_;
};

}  // namespace

Result<std::unique_ptr<flow::Node>> create_http_reply(flow::NodeBuildContext& context) {
  HttpReplyProperties properties =
      MS_TRY(read_http_reply_properties(context.definition.properties, context.diagnostics));
  auto* listener = context.services.find<HttpListener>();
  if (!listener) return base::make_error(errors::kNoListener, {context.definition.label});
  context.names.intern_qname("", "HTTPReplyHeader");
  return std::unique_ptr<flow::Node>(
      new HttpReply(std::move(properties), ReplyNames(context.names), *listener));
}

}  // namespace millstream::nodes::http
