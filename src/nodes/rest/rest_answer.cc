#include "nodes/rest/rest_answer.h"

#include "model/openapi.h"
#include "nodes/common/http_answer.h"
#include "text/utf8.h"

namespace millstream::nodes::rest {
namespace {

std::string_view domain_for(std::string_view content_type) {
  const std::string bare =
      text::to_lower(millstream::http::parse_content_type(content_type).media_type);
  if (model::is_json_media_type(bare)) return "JSON";
  if (bare == "text/xml" || bare == "application/xml" || bare.ends_with("+xml")) return "XMLNSC";
  return "BLOB";
}

}  // namespace

Result<tree::Element*> AnswerReader::make_root(flow::Invocation& invocation,
                                               millstream::http::ClientResponse& response) const {
  tree::TreeContext& context = invocation.context();
  tree::Element* root = tree::make_root(context, "Root");
  const common::HttpAnswerBody body = common::begin_http_answer(invocation, root, response);
  if (body.bytes.empty()) return root;
  if (!trusts_content_type_ || body.content_type.empty()) {
    MS_TRY(common::add_body(context, root, parser_, body.bytes, body.ccsid, 0));
    return root;
  }
  const common::BodyParserChoice chosen =
      MS_TRY(common::choose_body_parser(domain_for(body.content_type), false));
  // The folder's name is the domain's, which lives as long as the process.
  MS_TRY(common::add_body_as(context, root, *chosen.domain, chosen.domain->name, parser_,
                             body.bytes, body.ccsid, 0));
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
    MS_TRY(common::copy_other_headers(context, in.root, answer.root));
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
