#include "nodes/rest/rest_answer.h"

#include "base/clock.h"
#include "model/openapi.h"
#include "parsers/headers/http_headers.h"
#include "parsers/headers/properties.h"
#include "text/ccsid.h"
#include "text/utf8.h"

namespace millstream::nodes::rest {
namespace {

using parsers::headers::HttpField;

std::string_view domain_for(std::string_view content_type) {
  const std::string bare =
      text::to_lower(millstream::http::parse_content_type(content_type).media_type);
  if (model::is_json_media_type(bare)) return "JSON";
  if (bare == "text/xml" || bare == "application/xml" || bare.ends_with("+xml")) return "XMLNSC";
  return "BLOB";
}

void add_answer_header(tree::TreeContext& context, tree::Element* root,
                       const millstream::http::ClientResponse& response) {
  const std::string code = std::to_string(response.status);
  const std::string_view line =
      context.arena.copy("HTTP/1.1 " + code + " " + std::string(response.reason));
  std::vector<HttpField> fields = {{"X-Original-HTTP-Status-Line", line},
                                   {"X-Original-HTTP-Status-Code", context.arena.copy(code)}};
  for (size_t i = 0; i < response.headers.size(); ++i) {
    fields.push_back({context.arena.copy(response.headers.name(i)),
                      context.arena.copy(response.headers.value(i))});
  }
  parsers::headers::make_http_header(context, root, parsers::headers::kHttpResponseHeader, fields);
}

// The header folders of other protocols stay with the message.
Status keep_foreign_headers(tree::TreeContext& context, tree::Element* from, tree::Element* to) {
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

}  // namespace

Result<tree::Element*> AnswerReader::make_root(flow::Invocation& invocation,
                                               millstream::http::ClientResponse& response) const {
  tree::TreeContext& context = invocation.context();
  const std::string_view content_type = context.arena.copy(response.headers.get("Content-Type"));
  const std::string_view charset = millstream::http::parse_content_type(content_type).charset;
  const uint32_t ccsid =
      charset.empty() ? 0 : static_cast<uint32_t>(text::ccsid_of_encoding(charset).value_or(0));
  tree::Element* root = tree::make_root(context, "Root");
  parsers::headers::PropertiesInput properties;
  properties.coded_char_set_id = ccsid ? ccsid : text::kCcsidUtf8;
  properties.reply_protocol = "SOAP-HTTP";
  properties.content_type = content_type;
  properties.creation_time_micros = base::system_clock().wall_gmt_micros();
  parsers::headers::make_properties(context, root, properties);
  add_answer_header(context, root, response);
  const std::string_view body = response.body;
  invocation.keep(std::move(response.buffer));
  if (body.empty()) return root;
  if (!trusts_content_type_ || content_type.empty()) {
    MS_TRY(common::add_body(context, root, parser_, body, ccsid, 0));
    return root;
  }
  const common::BodyParserChoice chosen =
      MS_TRY(common::choose_body_parser(domain_for(content_type), false));
  // The folder's name is the domain's, which lives as long as the process.
  MS_TRY(common::add_body_as(context, root, *chosen.domain, chosen.domain->name, parser_, body,
                             ccsid, 0));
  return root;
}

Result<tree::MessageAssembly> AnswerReader::read(flow::Invocation& invocation,
                                                 const tree::MessageAssembly& in,
                                                 millstream::http::ClientResponse& response) const {
  using Tree = common::MessagePlace::Tree;
  tree::TreeContext& context = invocation.context();
  const common::MessagePlace& place = is_success(response.status) ? output_ : error_;
  tree::MessageAssembly answer = in;
  answer.root = MS_TRY(make_root(invocation, response));
  if (place.is_whole_tree() && place.tree() == Tree::kRoot) {
    MS_TRY(keep_foreign_headers(context, in.root, answer.root));
    return answer;
  }
  tree::MessageAssembly out = in;
  if (place.tree() == Tree::kRoot || place.tree() == Tree::kBody) {
    out.root = MS_TRY(tree::deep_copy(context, in.root));
  } else if (place.tree() == Tree::kLocalEnvironment) {
    out.local_environment = MS_TRY(tree::deep_copy(context, in.local_environment));
  }
  tree::Element* source = result_.find(answer);
  if (context.has_parse_error()) return context.take_parse_error();
  tree::Element* target = MS_TRY(place.ensure(context, out));
  if (source) {
    MS_TRY(tree::copy_content(context, target, source));
  } else {
    tree::detach_children(target);
  }
  return out;
}

}  // namespace millstream::nodes::rest
