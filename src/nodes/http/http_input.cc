// HTTPInput: one request becomes one message (spec B1, B2, C3).
#include <algorithm>
#include <charconv>

#include "base/base64.h"
#include "base/clock.h"
#include "base/log.h"
#include "flow/arena_pool.h"
#include "flow/flow_hold.h"
#include "flow/invocation.h"
#include "http/coding.h"
#include "http/errors_gen.h"
#include "http/url.h"
#include "net/reactor.h"
#include "net/tls_engine.h"
#include "nodes/common/body.h"
#include "nodes/common/http_observe.h"
#include "nodes/common/identity.h"
#include "nodes/common/rest_gate.h"
#include "nodes/http/errors_gen.h"
#include "nodes/http/fault.h"
#include "nodes/http/http_input_properties_gen.h"
#include "nodes/http/listener.h"
#include "parsers/headers/http_headers.h"
#include "parsers/headers/properties.h"
#include "text/ccsid.h"

namespace millstream::nodes::http {
namespace {

using millstream::http::RequestRef;
using value::Value;

constexpr size_t kNotesCount = 7;
constexpr size_t kPortDigitsMax = 12;  // of any int

// The names that every message gets, looked up once a deployment.
struct InputNames {
  explicit InputNames(base::NameTable& table)
      : properties(parsers::headers::intern_properties_names(table)) {
    struct {
      const base::QName*& out;
      const char* name;
    } const all[] = {
        {destination, "Destination"},
        {http, "HTTP"},
        {request_identifier, "RequestIdentifier"},
        {input, "Input"},
        {request_line, "RequestLine"},
        {method, "Method"},
        {request_uri, "RequestURI"},
        {http_version, "HTTPVersion"},
        {query_string, "QueryString"},
        {path, "Path"},
        {path_info, "PathInfo"},
        {router_list, "RouterList"},
        {destination_data, "DestinationData"},
        {label_name, "labelName"},
        {notes[0], "X-Original-HTTP-Command"},
        {notes[1], "X-Original-HTTP-URL"},
        {notes[2], "X-Server-Name"},
        {notes[3], "X-Server-Port"},
        {notes[4], "X-Remote-Addr"},
        {notes[5], "X-Remote-Host"},
        {notes[6], "X-Scheme"},
    };
    for (const auto& entry : all) entry.out = table.intern_qname("", entry.name);
  }

  parsers::headers::PropertiesNames properties;
  const base::QName *destination, *http, *request_identifier;
  const base::QName *input, *request_line, *method, *request_uri, *http_version;
  const base::QName *query_string, *path, *path_info;
  const base::QName *router_list, *destination_data, *label_name;
  const base::QName* notes[kNotesCount];  // in the order of add_header_folder
};

std::string_view version_text(const RequestRef& request) {
  const millstream::http::RequestHead& head = request->head();
  if (head.major_version == 2) return "HTTP/2.0";
  return head.minor_version == 0 ? "HTTP/1.0" : "HTTP/1.1";
}

class HttpInput;

// What the listener holds on to. Requests in flight keep it, not the node, alive: the node belongs
// to its flow, which waits for them before it goes.
class HttpInputHandler final : public UrlHandler {
 public:
  explicit HttpInputHandler(HttpInput& node) : node_(node) {}
  void handle(RequestRef request) override;
  std::string node_label() const override;
  std::string flow_name() const override;
  std::string application_name() const override;

 private:
  HttpInput& node_;
};

// The faults of a node, for a REST gate; what a reply still needs when the node has gone.
class NodeFaults final : public common::FaultWriter {
 public:
  explicit NodeFaults(FaultFormat format) : format_(format) {}
  void write(const base::Error& error, millstream::http::Response& response) const override {
    Fault fault = make_fault(format_, error.id_with_letter() + ": " + error.text, nullptr);
    response.headers.add("Content-Type", fault.content_type);
    response.body = std::move(fault.body);
  }

 private:
  const FaultFormat format_;
};

class HttpInput final : public flow::Node {
 public:
  HttpInput(HttpInputProperties properties, UrlPattern pattern, common::BodyParserChoice body,
            const InputNames& names, HttpListener& listener, common::RestGate* gate,
            bool propagates_identity)
      : names_(names),
        properties_(std::move(properties)),
        pattern_(std::move(pattern)),
        body_(std::move(body)),
        listener_(listener),
        is_secure_(properties_.use_https || listener.forces_secure()),
        propagates_identity_(propagates_identity),
        gate_(gate),
        faults_(std::make_shared<NodeFaults>(static_cast<FaultFormat>(properties_.fault_format))) {}

  Status evaluate(flow::Invocation&, const tree::MessageAssembly&, int) override { return {}; }

  Status start() override {
    handler_ = std::make_shared<HttpInputHandler>(*this);
    return listener_.add(pattern_, handler_, is_secure_);
  }
  void stop() override {
    if (handler_) listener_.remove(handler_.get());
  }
  std::string endpoint() const override {
    return (is_secure_ ? "https://*:" : "http://*:") + std::to_string(port()) + pattern_.path +
           (pattern_.is_prefix ? "*" : "");
  }

  void handle(RequestRef request);

 private:
  enum class Way : uint8_t { kRequest, kTimeout };

  tree::MessageAssembly make_head(tree::MessageArena& arena, RequestRef& request);
  Status add_body(tree::MessageArena& arena, RequestRef& request,
                  const tree::MessageAssembly& message);
  Status fail(flow::Invocation& invocation, tree::MessageArena& arena, RequestRef& request,
              const tree::MessageAssembly& message, Status status);
  void add_header_folder(tree::TreeContext& context, tree::Element* root, RequestRef& request);
  void add_local_environment(tree::TreeContext& context, tree::Element* environment,
                             RequestRef& request);
  void add_path(tree::TreeContext& context, tree::Element* input, tree::Element* environment,
                RequestRef& request);
  int port() const { return is_secure_ ? listener_.secure_port() : listener_.port(); }
  bool unpack(RequestRef& request);
  void add_identity(base::Arena& arena, tree::Element* properties, RequestRef& request) const;
  void add_client_certificate(tree::TreeContext& context, tree::Element* input,
                              RequestRef& request) const;
  void run(RequestRef& request, Way way);
  void time_out(RequestRef& request);
  void reply_fault(RequestRef& request, const std::string& summary, const base::Error* cause);
  uint32_t request_ccsid(const RequestRef& request) const;
  // Of the URL "/orders/v1*", as OpenAPI writes it.
  std::string_view base_path() const {
    const std::string_view path = pattern_.path;
    return path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
  }
  int64_t timeout_ns() const { return properties_.timeout_for_client * net::kSecond; }

  const InputNames names_;
  const HttpInputProperties properties_;
  const UrlPattern pattern_;
  const common::BodyParserChoice body_;
  HttpListener& listener_;
  const bool is_secure_;
  const bool propagates_identity_;
  common::RestGate* const gate_;                    // null unless the flow is that of a REST API
  const std::shared_ptr<const NodeFaults> faults_;  // shared by replies that outlive the node
  std::shared_ptr<HttpInputHandler> handler_;
};

void HttpInputHandler::handle(RequestRef request) { node_.handle(std::move(request)); }
std::string HttpInputHandler::node_label() const { return node_.label(); }
std::string HttpInputHandler::flow_name() const { return node_.flow().name(); }
std::string HttpInputHandler::application_name() const { return node_.flow().application(); }

void HttpInput::handle(RequestRef request) {
  if (properties_.decompress_input_message && !unpack(request)) return;
  if (gate_ && !gate_->admit(request, base_path(), faults_)) return;
  listener_.requests().add(request);
  // The client's time runs while the flow does; after the flow has ended another one may still
  // reply until it is over.
  const int64_t deadline =
      properties_.timeout_for_client == 0 ? net::kNever : request->arrival_ns() + timeout_ns();
  request->set_reply_deadline(deadline, [this](RequestRef late) { time_out(late); });
  if (flow().instances().enter()) flow().statistics().flow().times_max_instances.add(1);
  run(request, Way::kRequest);
  // Without an instance or a hold the flow may go, and this node with it.
  HttpListener& listener = listener_;
  const bool is_replied = request->is_replied();
  flow::FlowHold hold;
  if (!is_replied) hold = flow::FlowHold(flow());
  flow().instances().leave();
  if (is_replied) {
    listener.requests().remove(*request);
    return;
  }
  // Another flow may still reply, as long as there is a client; until then the time-out is ours.
  request->set_on_gone(
      [&listener, hold](millstream::http::Request& gone) { listener.requests().remove(gone); });
}

// False: it could not be unpacked, and the client has been told.
bool HttpInput::unpack(RequestRef& request) {
  using millstream::http::Coding;
  const Coding coding = millstream::http::parse_coding(request->headers().get("Content-Encoding"));
  if (coding == Coding::kIdentity || coding == Coding::kUnknown || request->body().empty()) {
    return true;
  }
  net::Buffer plain;
  // A small request may become a large one, so the limit of all bodies counts here as well.
  const size_t room = request->buffer_room();
  const size_t bytes_max = std::min(listener_.body_bytes_max(), room);
  Result<size_t> size = millstream::http::decompress(
      coding, request->body(), request->reactor().buffers(), plain, bytes_max);
  if (size.ok()) {
    request->replace_body(std::move(plain), size.value());
    return true;
  }
  const base::Error& error = size.error();
  Fault fault = make_fault(static_cast<FaultFormat>(properties_.fault_format),
                           error.id_with_letter() + ": " + error.text, nullptr);
  const bool is_too_large = error.code == &millstream::http::errors::kDecompressedTooLarge;
  const int too_large_status = bytes_max < listener_.body_bytes_max() ? 503 : 413;
  request->reply(is_too_large ? too_large_status : 400, fault.content_type, std::move(fault.body));
  return false;
}

void HttpInput::time_out(RequestRef& request) {
  const flow::FlowHold hold(flow());
  if (is_wired(find_output("timeout"))) run(request, Way::kTimeout);
  listener_.requests().remove(*request);
  if (request->is_replied()) return;
  Status status =
      base::make_error(errors::kReplyTimedOut, {flow().name(), properties_.timeout_for_client});
  base::log_error(status.error());
  reply_fault(request, status.error().id_with_letter() + ": " + status.error().text, nullptr);
}

void HttpInput::run(RequestRef& request, Way way) {
  flow::PooledArena arena(flow().names());
  flow::Invocation invocation(flow(), *arena);
  invocation.transport = &request;
  if (__builtin_expect(invocation.observation() != nullptr, 0)) {
    common::note_http_origin(invocation, *request, pattern_.path + (pattern_.is_prefix ? "*" : ""));
  }
  const int64_t cpu_start = base::kCounts ? net::fiber_cpu_ns() : 0;
  const tree::MessageAssembly message = make_head(*arena, request);
  Status status = add_body(*arena, request, message);
  if (!status.ok()) {
    status = fail(invocation, *arena, request, message, std::move(status));
  } else if (way == Way::kTimeout) {
    status = invocation.run_branch_from_input(*this, find_output("timeout"), message);
  } else {
    status = invocation.run_from_input(*this, message, request->body().size());
  }
  if constexpr (base::kCounts) {
    flow().statistics().flow().cpu_us.record(
        static_cast<uint64_t>(net::fiber_cpu_ns() - cpu_start) / 1000);
  }
  if (status.ok()) return;
  Status outer = base::make_error(errors::kFlowException, {flow().name(), flow().server_name()});
  const std::string summary = outer.error().id_with_letter() + ": " + outer.error().text;
  base::log_error(summary + " : " + describe_chain(status.error()));
  reply_fault(request, summary, &status.error());
}

// The body could not be parsed: the node's own error. It goes to failure as the bytes it was.
Status HttpInput::fail(flow::Invocation& invocation, tree::MessageArena& arena, RequestRef& request,
                       const tree::MessageAssembly& message, Status status) {
  if (tree::DomainRoot* body = tree::body_of(message.root)) tree::detach(body);
  arena.context().parse_error = Status();
  common::BodyParserChoice bytes = MS_TRY(common::choose_body_parser("BLOB", false));
  MS_TRY(common::add_body(arena.context(), message.root, bytes, request->body(), 0, 0));
  return invocation.run_failure_from_input(*this, message, std::move(status),
                                           request->body().size());
}

void HttpInput::reply_fault(RequestRef& request, const std::string& summary,
                            const base::Error* cause) {
  Fault fault = make_fault(static_cast<FaultFormat>(properties_.fault_format), summary, cause);
  request->reply(500, fault.content_type, std::move(fault.body));
}

uint32_t HttpInput::request_ccsid(const RequestRef& request) const {
  std::string_view charset =
      millstream::http::parse_content_type(request->headers().get("Content-Type")).charset;
  if (charset.empty()) return 0;
  return static_cast<uint32_t>(text::ccsid_of_encoding(charset).value_or(0));
}

Status HttpInput::add_body(tree::MessageArena& arena, RequestRef& request,
                           const tree::MessageAssembly& message) {
  return common::add_body(arena.context(), message.root, body_, request->body(),
                          request_ccsid(request), 0);
}

tree::MessageAssembly HttpInput::make_head(tree::MessageArena& arena, RequestRef& request) {
  tree::TreeContext& context = arena.context();
  tree::MessageAssembly message = arena.make_assembly();
  const uint32_t ccsid = request_ccsid(request);
  parsers::headers::PropertiesInput properties;
  properties.message_set = body_.message_set;
  properties.message_type = body_.message_type;
  properties.message_format = body_.message_format;
  properties.coded_char_set_id = ccsid ? ccsid : text::kCcsidUtf8;
  properties.creation_time_micros = base::system_clock().wall_gmt_micros();
  properties.reply_protocol = "SOAP-HTTP";
  properties.content_type = request->headers().get("Content-Type");
  tree::Element* folder =
      parsers::headers::make_properties(context, message.root, properties, &names_.properties);
  if (propagates_identity_) add_identity(context.arena, folder, request);
  add_header_folder(context, message.root, request);
  add_local_environment(context, message.local_environment, request);
  return message;
}

// As the product names them: the issuer is the client's User-Agent.
void HttpInput::add_identity(base::Arena& arena, tree::Element* properties,
                             RequestRef& request) const {
  const std::string_view header = request->headers().get("Authorization");
  const size_t blank = header.find(' ');
  if (blank == std::string_view::npos) return;
  const std::string_view scheme = header.substr(0, blank);
  std::string_view rest = header.substr(blank);
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  common::SourceIdentity identity;
  identity.issued_by = request->headers().get("User-Agent");
  if (millstream::http::equals_ignore_case(scheme, "Bearer")) {
    identity.type = "OAuth";
    identity.token = rest;
  } else if (millstream::http::equals_ignore_case(scheme, "Basic")) {
    const std::optional<std::string> plain = base::base64_decode(rest);
    if (!plain) return;
    const std::string_view both = arena.copy(*plain);
    const size_t colon = std::min(both.find(':'), both.size());
    identity.type = "usernameAndPassword";
    identity.token = both.substr(0, colon);
    identity.password = both.substr(std::min(colon + 1, both.size()));
  } else {
    return;
  }
  common::set_source_identity(properties, identity);
}

void HttpInput::add_header_folder(tree::TreeContext& context, tree::Element* root,
                                  RequestRef& request) {
  const millstream::http::Headers& headers = request->headers();
  base::Arena& arena = context.arena;
  auto* fields = static_cast<parsers::headers::HttpField*>(
      arena.allocate((headers.size() + kNotesCount) * sizeof(parsers::headers::HttpField)));
  size_t count = 0;
  for (size_t i = 0; i < headers.size(); ++i) {
    // What speaks of the packed body is not true of the one that the flow sees.
    if (request->has_replaced_body() &&
        (millstream::http::equals_ignore_case(headers.name(i), "Content-Encoding") ||
         millstream::http::equals_ignore_case(headers.name(i), "Content-Length"))) {
      continue;
    }
    fields[count++] = {headers.name(i), headers.value(i)};
  }
  // The server's own notes follow what the client sent.
  const std::string_view peer = request->peer();
  const std::string_view address = arena.copy(peer.substr(0, peer.rfind(':')));
  char* port = arena.bytes(kPortDigitsMax);
  char* port_end = std::to_chars(port, port + kPortDigitsMax, this->port()).ptr;
  std::string_view host = headers.get("Host");
  std::string_view bare_host = host.substr(0, std::min(host.rfind(':'), host.size()));
  const std::string_view target = request->head().target;
  char* command = arena.bytes(request->method().size() + host.size() + target.size() + 32);
  char* p = command;
  auto put = [&p](std::string_view s) {
    std::memcpy(p, s.data(), s.size());
    p += s.size();
    return p;
  };
  put(request->method());
  put(" ");
  const char* url = p;
  if (target.substr(0, 1) == "/") {
    put(is_secure_ ? "https://" : "http://");
    put(host.empty() ? std::string_view("localhost") : host);
  }
  const char* url_end = put(target);
  put(" ");
  put(version_text(request));
  const base::QName* const* note = names_.notes;
  auto add_note = [&](std::string_view value) {
    fields[count++] = {(*note)->local->view(), value, *note};
    ++note;
  };
  add_note({command, static_cast<size_t>(p - command)});
  add_note({url, static_cast<size_t>(url_end - url)});
  add_note(bare_host);
  add_note({port, static_cast<size_t>(port_end - port)});
  add_note(address);
  add_note(address);
  add_note(is_secure_ ? "https" : "http");
  parsers::headers::make_http_header(context, root, parsers::headers::kHttpInputHeader,
                                     {fields, count});
}

tree::Element* add_folder(tree::TreeContext& context, tree::Element* parent,
                          const base::QName* name) {
  tree::Element* e = tree::make_element(context, name, tree::kName);
  tree::link_child(parent, e);
  return e;
}

// `text` must live as long as the message.
void add_field(tree::TreeContext& context, tree::Element* parent, const base::QName* name,
               const Value& v) {
  tree::Element* e = tree::make_element(context, name, tree::kNameValue);
  e->scalar = v;
  tree::link_child(parent, e);
}

void HttpInput::add_local_environment(tree::TreeContext& context, tree::Element* environment,
                                      RequestRef& request) {
  char* identifier = context.arena.bytes(kRequestIdentifierBytes);
  RequestTable::write_identifier(*request, identifier);
  tree::Element* destination = add_folder(context, environment, names_.destination);
  tree::Element* reply = add_folder(context, destination, names_.http);
  add_field(context, reply, names_.request_identifier,
            Value::make_blob({identifier, kRequestIdentifierBytes}));

  tree::Element* http = add_folder(context, environment, names_.http);
  tree::Element* input = add_folder(context, http, names_.input);
  tree::Element* line = add_folder(context, input, names_.request_line);
  add_field(context, line, names_.method, Value::make_character(request->method()));
  add_field(context, line, names_.request_uri, Value::make_character(request->path()));
  add_field(context, line, names_.http_version, Value::make_character(version_text(request)));
  if (properties_.parse_query_string) {
    tree::Element* query = add_folder(context, input, names_.query_string);
    for (const auto& [name, text] : millstream::http::parse_query(request->query())) {
      add_field(context, query, context.names.qname(name),
                Value::make_character(context.arena.copy(text)));
    }
  }
  if (is_secure_) add_client_certificate(context, input, request);
  add_path(context, input, environment, request);
  if (gate_) gate_->describe(*request, base_path(), context, environment);
}

void HttpInput::add_client_certificate(tree::TreeContext& context, tree::Element* input,
                                       RequestRef& request) const {
  const net::TlsPeer* peer = request->tls_peer();
  if (!peer) return;
  tree::Element* folder = add_folder(context, input, context.names.qname("ClientCertificate"));
  const std::pair<const char*, const std::string&> fields[] = {{"Subject", peer->subject},
                                                               {"CommonName", peer->common_name},
                                                               {"Issuer", peer->issuer},
                                                               {"SerialNumber", peer->serial},
                                                               {"NotAfter", peer->not_after}};
  for (const auto& [name, text] : fields) {
    add_field(context, folder, context.names.qname(name),
              Value::make_character(context.arena.copy(text)));
  }
}

void HttpInput::add_path(tree::TreeContext& context, tree::Element* input,
                         tree::Element* environment, RequestRef& request) {
  add_field(context, input, names_.path, Value::make_character(request->path()));
  std::string_view below;
  if (pattern_.is_prefix && request->path().size() > pattern_.path.size()) {
    below = request->path().substr(pattern_.path.size());
  }
  if (!below.empty()) add_field(context, input, names_.path_info, Value::make_character(below));
  if (!properties_.set_destination_list || below.empty()) return;
  tree::Element* destination = tree::first_child(environment);
  tree::Element* list = add_folder(context, destination, names_.router_list);
  tree::Element* entry = add_folder(context, list, names_.destination_data);
  add_field(
      context, entry, names_.label_name,
      Value::make_character(context.arena.copy(properties_.label_prefix + std::string(below))));
}

}  // namespace

Result<std::unique_ptr<flow::Node>> create_http_input(flow::NodeBuildContext& context) {
  HttpInputProperties properties =
      MS_TRY(read_http_input_properties(context.definition.properties, context.diagnostics));
  UrlPattern pattern = MS_TRY(parse_url_specifier(properties.url_specifier));
  common::BodyParserChoice body = MS_TRY(common::choose_body_parser(
      properties.message_domain_property, properties.parser_xmlnsc_use_for_xmlns_domain));
  common::set_xml_options(properties, context.definition.properties, body);
  body.message_set = properties.message_set_property;
  body.message_type = properties.message_type_property;
  body.message_format = properties.message_format_property;
  auto* listener = context.services.find<HttpListener>();
  if (!listener) return base::make_error(errors::kNoListener, {context.definition.label});
  parsers::headers::intern_header_names(context.names);
  for (const char* name :
       {"Root", "LocalEnvironment", "Environment", "ExceptionList", "HTTPInputHeader", "Host",
        "User-Agent", "Accept", "Content-Type", "Content-Length", "Connection"}) {
    context.names.intern_qname("", name);
  }
  body.folder_name = context.names.intern_qname("", body.folder);
  const bool propagates_identity = MS_TRY(common::propagates_identity(context));
  auto* gate = context.services.find<common::RestGate>();
  if (gate && !gate->is_for(context.flow_definition.name)) gate = nullptr;
  return std::unique_ptr<flow::Node>(new HttpInput(std::move(properties), std::move(pattern),
                                                   std::move(body), InputNames(context.names),
                                                   *listener, gate, propagates_identity));
}

}  // namespace millstream::nodes::http
