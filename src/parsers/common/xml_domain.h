// The two functions of an XML tree::Domain (tree/domain.h), for a parser class and a dialect, so
// that XMLNSC and XMLNS differ in nothing but their parser and their field types.
// Thread: that of the message.
#pragma once
#include <string>
#include <string_view>

#include "parsers/common/xml_encoding.h"
#include "parsers/common/xml_writer.h"
#include "tree/domain.h"

namespace millstream::parsers::common {

// Domain::parse. On demand, unless `options` wants the errors at once.
template <typename Parser>
Status parse_xml_body(tree::TreeContext& context, tree::DomainRoot* root, std::string_view bytes,
                      const tree::ParseOptions& options) {
  if (bytes.empty()) return {};  // no body: a folder without children
  std::string_view utf8 = MS_TRY(xml_to_utf8(context.arena, bytes, options.ccsid));
  root->parser = context.arena.make<Parser>(context, root, bytes, utf8, options);
  if (!options.is_immediate) return {};
  tree::complete(root);
  return context.take_parse_error();
}

// Domain::serialise. Appends to `out` in the CCSID of `options`; after an error `out` is as before.
template <typename Parser>
Status serialise_xml_body(tree::TreeContext& context, tree::Element* e, const XmlDialect& dialect,
                          const tree::Domain& domain, const tree::SerialiseOptions& options,
                          std::string& out) {
  bool is_utf8 = options.ccsid == 0 || options.ccsid == 1208;
  std::string converted;
  XmlTreeWriter writer(context, dialect, is_utf8 ? out : converted);
  size_t before = out.size();
  Status status;
  if (e->has_flag(tree::kFlagDomainRoot)) {
    auto* root = static_cast<tree::DomainRoot*>(e);
    tree::complete(e);
    // A body whose parse failed is cut off: it is never written, even after the error was handled.
    if (root->parser && root->domain == &domain) {
      status = static_cast<Parser*>(root->parser)->repeat_error();
    }
    if (status.ok()) status = writer.write_document(e);
  } else {
    status = writer.write_element(e);
  }
  if (!status.ok()) {
    out.resize(before);
    return status;
  }
  return is_utf8 ? Status() : append_xml_in_ccsid(converted, options.ccsid, out);
}

}  // namespace millstream::parsers::common
