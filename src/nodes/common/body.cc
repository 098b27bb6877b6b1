#include "nodes/common/body.h"

#include <algorithm>

#include "nodes/common/errors_gen.h"
#include "parsers/domains.h"
#include "parsers/headers/properties.h"
#include "text/ccsid.h"

namespace millstream::nodes::common {

Result<BodyParserChoice> choose_body_parser(std::string_view domain, bool uses_xmlnsc_for_xmlns) {
  BodyParserChoice choice;
  choice.folder = domain.empty() ? std::string("BLOB") : std::string(domain);
  // The compact parser makes its own tree, under its own name.
  if (uses_xmlnsc_for_xmlns && choice.folder == "XMLNS") choice.folder = "XMLNSC";
  choice.domain = parsers::find_domain(choice.folder);
  if (!choice.domain || !choice.domain->is_body) {
    return base::make_error(errors::kDomainUnsupported,
                            {domain, parsers::unsupported_domain_reason(domain)});
  }
  return choice;
}

std::string opaque_elements(const flow::PropertySet& set) {
  std::string list;
  for (const flow::PropertyRow& row : set.rows("parserXmlnscOpaqueElements")) {
    const std::string_view path = row.get("elements");
    if (path.empty()) continue;
    if (!list.empty()) list += ' ';
    list += path;
  }
  return list;
}

Status add_body(tree::TreeContext& context, tree::Element* root, const BodyParserChoice& choice,
                std::string_view bytes, uint32_t ccsid, uint32_t encoding) {
  return add_body_as(context, root, *choice.domain, choice.folder, choice, bytes, ccsid, encoding);
}

Status add_body_as(tree::TreeContext& context, tree::Element* root, const tree::Domain& domain,
                   std::string_view folder, const BodyParserChoice& choice, std::string_view bytes,
                   uint32_t ccsid, uint32_t encoding) {
  tree::DomainRoot* body = tree::make_domain_root(context, domain, context.names.qname(folder));
  tree::append_child(root, body);
  if (bytes.empty() && folder != "BLOB") return {};
  tree::ParseOptions options = choice.options;
  options.opaque_elements = choice.opaque_elements;
  options.ccsid = ccsid;
  options.encoding = encoding;
  options.message_set = choice.message_set;
  options.message_type = choice.message_type;
  options.message_format = choice.message_format;
  MS_TRY(domain.parse(context, body, bytes, options));
  if (options.is_immediate) {
    tree::complete(body);
    if (context.has_parse_error()) return context.take_parse_error();
  }
  return {};
}

Status write_body(tree::TreeContext& context, tree::Element* root, std::string& out) {
  tree::DomainRoot* body = tree::body_of(root);
  if (!body || (!body->parser && !tree::first_child(body))) return {};
  const auto properties = parsers::headers::read_serialise_properties(root);
  tree::SerialiseOptions options;
  options.ccsid = static_cast<uint32_t>(properties.coded_char_set_id);
  options.encoding = static_cast<uint32_t>(properties.encoding);
  options.message_set = properties.message_set;
  options.message_type = properties.message_type;
  options.message_format = properties.message_format;
  return tree::serialise_body(context, body, options, out);
}

std::string_view content_type(tree::TreeContext& context, tree::Element* root) {
  const auto properties = parsers::headers::read_serialise_properties(root);
  if (!properties.content_type.empty()) return properties.content_type;
  tree::DomainRoot* body = tree::body_of(root);
  const std::string_view name = body ? body->domain->name : std::string_view();
  if (name == "BLOB") return "application/octet-stream";
  const std::string_view type = name == "JSON" ? "application/json" : "text/xml";
  const int64_t ccsid = properties.coded_char_set_id;
  const std::string_view encoding =
      text::encoding_of_ccsid(static_cast<int32_t>(ccsid ? ccsid : text::kCcsidUtf8));
  if (encoding.empty()) return type;
  constexpr std::string_view kCharset = "; charset=";
  char* start = context.arena.bytes(type.size() + kCharset.size() + encoding.size());
  char* p = std::copy(type.begin(), type.end(), start);
  p = std::copy(kCharset.begin(), kCharset.end(), p);
  for (char c : encoding) *p++ = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return {start, static_cast<size_t>(p - start)};
}

}  // namespace millstream::nodes::common
