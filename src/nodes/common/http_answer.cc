#include "nodes/common/http_answer.h"

#include <string>
#include <vector>

#include "base/clock.h"
#include "parsers/headers/http_headers.h"
#include "parsers/headers/properties.h"
#include "text/ccsid.h"

namespace millstream::nodes::common {

HttpAnswerBody begin_http_answer(flow::Invocation& invocation, tree::Element* root,
                                 millstream::http::ClientResponse& response) {
  tree::TreeContext& context = invocation.context();
  HttpAnswerBody body;
  // Views of the answer's headers may be in memory of the response object itself.
  body.content_type = context.arena.copy(response.headers.get("Content-Type"));
  const std::string_view charset = millstream::http::parse_content_type(body.content_type).charset;
  if (!charset.empty()) {
    body.ccsid = static_cast<uint32_t>(text::ccsid_of_encoding(charset).value_or(0));
  }
  parsers::headers::PropertiesInput properties;
  properties.coded_char_set_id = body.ccsid ? body.ccsid : text::kCcsidUtf8;
  properties.reply_protocol = "SOAP-HTTP";
  properties.content_type = body.content_type;
  properties.creation_time_micros = base::system_clock().wall_gmt_micros();
  parsers::headers::make_properties(context, root, properties);

  const std::string code = std::to_string(response.status);
  std::vector<parsers::headers::HttpField> fields = {
      {"X-Original-HTTP-Status-Line",
       context.arena.copy("HTTP/1.1 " + code + " " + std::string(response.reason))},
      {"X-Original-HTTP-Status-Code", context.arena.copy(code)}};
  for (size_t i = 0; i < response.headers.size(); ++i) {
    fields.push_back({context.arena.copy(response.headers.name(i)),
                      context.arena.copy(response.headers.value(i))});
  }
  parsers::headers::make_http_header(context, root, parsers::headers::kHttpResponseHeader, fields);
  body.bytes = response.body;
  invocation.keep(std::move(response.buffer));
  return body;
}

Status copy_other_headers(tree::TreeContext& context, tree::Element* from, tree::Element* to) {
  tree::Element* after = tree::first_child(to);
  for (tree::Element* e = tree::first_child(from); e; e = tree::next_sibling(e)) {
    if (!e->has_flag(tree::kFlagDomainRoot)) continue;
    const std::string_view name = e->local_name();
    if (static_cast<tree::DomainRoot*>(e)->domain->is_body || name == "Properties" ||
        name.starts_with("HTTP")) {
      continue;
    }
    tree::Element* copy = MS_TRY(tree::deep_copy(context, e));
    tree::insert_after(after, copy);
    after = copy;
  }
  return {};
}

}  // namespace millstream::nodes::common
