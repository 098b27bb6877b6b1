#include "nodes/http/request_parts.h"

#include <vector>

#include "nodes/common/body.h"
#include "nodes/http/errors_gen.h"
#include "parsers/headers/http_headers.h"

namespace millstream::nodes::http {
namespace {

Result<millstream::http::Url> choose_url(tree::TreeContext& context, tree::Element* destination,
                                         tree::Element* folder, const std::string& specifier) {
  std::string header;
  if (folder) header = parsers::headers::http_field_text(context, folder, "X-Original-HTTP-URL");
  Status problem;
  for (const std::string& candidate :
       {header, common::http_field_value(destination, "RequestURL"), specifier}) {
    if (candidate.empty()) continue;
    Result<millstream::http::Url> url = millstream::http::parse_url(candidate);
    if (url.ok()) return url;
    problem = std::move(url).take_status();
  }
  if (problem.ok()) return base::make_error(errors::kNoUrl);
  return base::wrap_error(base::make_error(errors::kNoUrl), std::move(problem));
}

}  // namespace

tree::Element* find_http_destination(const tree::MessageAssembly& in) {
  tree::Element* e = tree::find_child(in.local_environment, "Destination");
  return e ? tree::find_child(e, "HTTP") : nullptr;
}

Status read_request(tree::TreeContext& context, const tree::MessageAssembly& in,
                    const std::string& url_specifier, common::HttpCall& call) {
  tree::Element* destination = find_http_destination(in);
  tree::Element* folder = tree::find_domain(in.root, "HTTPRequestHeader");
  call.url = MS_TRY(choose_url(context, destination, folder, url_specifier));
  MS_TRY(common::HttpSender::apply_overrides(destination, call));
  if (folder) {
    std::vector<parsers::headers::HttpField> fields;
    MS_TRY(parsers::headers::collect_http_fields(context, folder, fields));
    for (const parsers::headers::HttpField& f : fields) call.headers.add(f.name, f.value);
  }
  if (call.is_http10) call.keeps_alive = false;
  return {};
}

void add_default_headers(tree::TreeContext& context, const tree::MessageAssembly& in,
                         common::HttpCall& call) {
  if (!sends_body(call.method)) return;
  if (!call.headers.has("Content-Type")) {
    call.headers.add("Content-Type", common::content_type(context, in.root));
  }
  if (!call.headers.has("SOAPAction") &&
      call.headers.get("Content-Type").find("text/xml") != std::string_view::npos) {
    call.headers.add("SOAPAction", "\"\"");
  }
}

Status http_call_error(const common::HttpCall& call, Status cause) {
  const std::string line =
      call.method + " " + call.url.target + (call.is_http10 ? " HTTP/1.0" : " HTTP/1.1");
  return base::wrap_error(base::make_error(errors::kHttpError, {line}), std::move(cause));
}

}  // namespace millstream::nodes::http
