// HTTPRequest: one exchange with a web service, in the message's fiber (spec C3).
#include <memory>

#include "base/clock.h"
#include "flow/invocation.h"
#include "http/client.h"
#include "net/reactor.h"
#include "nodes/common/body.h"
#include "nodes/common/http_observe.h"
#include "nodes/common/http_send.h"
#include "nodes/common/identity.h"
#include "nodes/common/location.h"
#include "nodes/http/errors_gen.h"
#include "nodes/http/http_request_properties_gen.h"
#include "parsers/headers/http_headers.h"
#include "parsers/headers/properties.h"
#include "text/ccsid.h"

namespace millstream::nodes::http {
namespace {

using common::HttpCall;
using common::HttpSender;
using millstream::http::ClientResponse;
using millstream::http::Url;
using parsers::headers::HttpField;
using value::Value;

tree::Element* find_destination(const tree::MessageAssembly& in) {
  tree::Element* e = tree::find_child(in.local_environment, "Destination");
  return e ? tree::find_child(e, "HTTP") : nullptr;
}

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
    if (!answer.ok()) return http_error(call, std::move(answer).take_status());
    ClientResponse response = std::move(answer).value();
    const int status = response.status;
    common::note_http_answer(invocation, *this, status);
    tree::MessageAssembly out = MS_TRY(make_message(invocation, in, response));
    if (status >= 200 && status < 300) return invocation.propagate(*this, kOut, out);
    if (is_wired(kError)) return invocation.propagate(*this, kError, out);
    return http_error(call, base::make_error(errors::kErrorStatus,
                                             {call.url.authority() + call.url.target, status}));
  }

 private:
  // As the product nests them: what went wrong below the request it went wrong for.
  static Status http_error(const HttpCall& call, Status cause) {
    const std::string line =
        call.method + " " + call.url.target + (call.is_http10 ? " HTTP/1.0" : " HTTP/1.1");
    return base::wrap_error(base::make_error(errors::kHttpError, {line}), std::move(cause));
  }

  static constexpr int kError = 1;
  static constexpr int kOut = 2;

  Status prepare(flow::Invocation& invocation, const tree::MessageAssembly& in, HttpCall& call) {
    tree::TreeContext& context = invocation.context();
    tree::Element* destination = find_destination(in);
    tree::Element* folder = tree::find_domain(in.root, "HTTPRequestHeader");
    call.url = MS_TRY(choose_url(context, destination, folder));
    call.method = method_name();
    MS_TRY(HttpSender::apply_overrides(destination, call));
    if (folder) {
      std::vector<HttpField> fields;
      MS_TRY(parsers::headers::collect_http_fields(context, folder, fields));
      for (const HttpField& f : fields) call.headers.add(f.name, f.value);
    }
    add_default_headers(invocation.context(), in, call);
    if (call.is_http10) call.keeps_alive = false;
    if (propagates_identity_) {
      common::Identity identity = common::identity_to_send(in.root);
      call.user_info = std::move(identity.user_info);
      call.bearer_token = std::move(identity.bearer_token);
    }
    return {};
  }

  // The first usable one of header, LocalEnvironment and property.
  Result<Url> choose_url(tree::TreeContext& context, tree::Element* destination,
                         tree::Element* folder) const {
    const std::string candidates[] = {
        folder
            ? std::string(parsers::headers::http_field_text(context, folder, "X-Original-HTTP-URL"))
            : std::string(),
        common::http_field_value(destination, "RequestURL"), properties_.url_specifier};
    Status problem;
    for (const std::string& candidate : candidates) {
      if (candidate.empty()) continue;
      Result<Url> url = millstream::http::parse_url(candidate);
      if (url.ok()) return url;
      problem = std::move(url).take_status();
    }
    if (problem.ok()) return base::make_error(errors::kNoUrl);
    return base::wrap_error(base::make_error(errors::kNoUrl), std::move(problem));
  }

  std::string method_name() const {
    static constexpr const char* kNames[] = {"POST", "GET",   "PUT",     "DELETE",
                                             "HEAD", "PATCH", "OPTIONS", "TRACE"};
    return kNames[static_cast<size_t>(properties_.http_method)];
  }

  static bool sends_body(const std::string& method) {
    return method == "POST" || method == "PUT" || method == "PATCH";
  }

  void add_default_headers(tree::TreeContext& context, const tree::MessageAssembly& in,
                           HttpCall& call) const {
    if (!properties_.generate_default_http_headers || !sends_body(call.method)) return;
    if (!call.headers.has("Content-Type")) {
      call.headers.add("Content-Type", common::content_type(context, in.root));
    }
    if (!call.headers.has("SOAPAction") &&
        call.headers.get("Content-Type").find("text/xml") != std::string_view::npos) {
      call.headers.add("SOAPAction", "\"\"");
    }
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
    const std::string_view content_type = response.headers.get("Content-Type");
    std::string_view charset = millstream::http::parse_content_type(content_type).charset;
    const uint32_t ccsid =
        charset.empty() ? 0 : static_cast<uint32_t>(text::ccsid_of_encoding(charset).value_or(0));
    // Views of the answer's headers may be in memory of the response object itself.
    const std::string_view kept_type = context.arena.copy(content_type);
    tree::Element* answer = tree::make_root(context, "Root");
    parsers::headers::PropertiesInput properties;
    properties.coded_char_set_id = ccsid ? ccsid : text::kCcsidUtf8;
    properties.reply_protocol = "SOAP-HTTP";
    properties.content_type = kept_type;
    properties.creation_time_micros = base::system_clock().wall_gmt_micros();
    parsers::headers::make_properties(context, answer, properties);
    add_response_header(context, answer, response);
    const std::string_view body = response.body;
    invocation.keep(std::move(response.buffer));
    MS_TRY(common::add_body(context, answer, answer_, body, ccsid, 0));
    const bool is_error = response.status < 200 || response.status >= 300;
    if (is_error ? properties_.replace_input_msg_with_http_error
                 : properties_.replace_input_msg_with_ws_response) {
      MS_TRY(keep_other_headers(context, in.root, answer));
      out.root = answer;
      return out;
    }
    MS_TRY(put_answer(context, is_error ? error_location_ : response_location_, in, answer, out));
    return out;
  }

  static void add_response_header(tree::TreeContext& context, tree::Element* root,
                                  const ClientResponse& response) {
    const std::string code = std::to_string(response.status);
    const std::string_view line =
        context.arena.copy("HTTP/1.1 " + code + " " + std::string(response.reason));
    std::vector<HttpField> fields = {{"X-Original-HTTP-Status-Line", line},
                                     {"X-Original-HTTP-Status-Code", context.arena.copy(code)}};
    for (size_t i = 0; i < response.headers.size(); ++i) {
      fields.push_back({context.arena.copy(response.headers.name(i)),
                        context.arena.copy(response.headers.value(i))});
    }
    parsers::headers::make_http_header(context, root, parsers::headers::kHttpResponseHeader,
                                       fields);
  }

  // MQMD, MQRFH2 and the like stay, in their order, before HTTPResponseHeader.
  static Status keep_other_headers(tree::TreeContext& context, tree::Element* from,
                                   tree::Element* to) {
    tree::Element* after = tree::first_child(to);
    for (tree::Element* e = tree::first_child(from); e; e = tree::next_sibling(e)) {
      if (!e->has_flag(tree::kFlagDomainRoot)) continue;
      const tree::Domain& domain = *static_cast<tree::DomainRoot*>(e)->domain;
      const std::string_view name = e->local_name();
      if (domain.is_body || name == "Properties" || name.substr(0, 4) == "HTTP") continue;
      tree::Element* copy = MS_TRY(tree::deep_copy(context, e));
      tree::insert_after(after, copy);
      after = copy;
    }
    return {};
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

common::HttpSendSettings send_settings(const HttpRequestProperties& p) {
  static constexpr const char* kCompressions[] = {"none", "gzip", "zlib", "deflate"};
  common::HttpSendSettings s;
  s.timeout_s = p.timeout_for_server;
  s.follows_redirects = p.follow_redirection;
  s.keeps_alive = p.enable_keep_alive;
  s.is_http10 = p.http_version == HttpRequestProperties::HttpVersion::k10;
  s.proxy_location = p.http_proxy_location;
  s.compression = kCompressions[static_cast<size_t>(p.request_compression_type)];
  s.compression_bytes_min = p.minimum_request_compression_size;
  s.accepts_compressed = p.accept_compressed_responses;
  s.tls.choice = {p.protocol, p.allowed_ciphers, p.key_alias};
  s.tls.checks_host_name = p.hostname_checking;
  s.tls.checks_revocation = p.enable_crl_check || p.ssl_crl;
  s.security_identity = p.security_identity;
  s.likely_url = p.url_specifier;
  return s;
}

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
  const bool propagates_identity =
      MS_TRY(common::propagates_identity(properties.security_profile_name));
  std::unique_ptr<HttpSender> sender =
      MS_TRY(HttpSender::create(send_settings(properties), context.services));
  return std::unique_ptr<flow::Node>(
      new HttpRequest(std::move(properties), std::move(answer), std::move(request_location),
                      std::move(response_location), std::move(error_location), std::move(sender),
                      propagates_identity));
}

}  // namespace millstream::nodes::http
