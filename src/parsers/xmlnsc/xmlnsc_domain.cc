#include "parsers/xmlnsc/xmlnsc_domain.h"

#include "parsers/common/xml_encoding.h"
#include "parsers/common/xml_writer.h"
#include "parsers/xmlnsc/xmlnsc_parser.h"

namespace millstream::parsers::xmlnsc {
namespace {

using common::XmlNode;

XmlNode classify_xmlnsc(tree::FieldType type) {
  switch (type) {
    case tree::xmlnsc::kDocumentType:
      return XmlNode::kDoctype;
    case tree::xmlnsc::kXmlDeclaration:
      return XmlNode::kDeclaration;
    case tree::xmlnsc::kCDataField:
      return XmlNode::kCDataElement;
    case tree::xmlnsc::kAttribute:
      return XmlNode::kAttribute;
    case tree::xmlnsc::kSingleAttribute:
      return XmlNode::kSingleAttribute;
    case tree::xmlnsc::kNamespaceDecl:
      return XmlNode::kNamespace;
    case tree::xmlnsc::kSingleNamespaceDecl:
      return XmlNode::kSingleNamespace;
    case tree::xmlnsc::kBitStream:
    case tree::xmlnsc::kAsisElementContent:
      return XmlNode::kVerbatim;
    case tree::xmlnsc::kComment:
      return XmlNode::kComment;
    case tree::xmlnsc::kProcessingInstruction:
      return XmlNode::kPi;
    case tree::xmlnsc::kEntityDefinition:
      return XmlNode::kSkipped;  // written by the document type it belongs to
    case tree::xmlnsc::kCDataValue:
      return XmlNode::kCData;
    case tree::xmlnsc::kEntityReference:
      return XmlNode::kEntityReference;
    default:
      return (type & tree::kTypeClassMask) == tree::kValue ? XmlNode::kText : XmlNode::kElement;
  }
}

constexpr common::XmlDialect kXmlnscDialect{classify_xmlnsc, false};

Status parse_xmlnsc(tree::TreeContext& context, tree::DomainRoot* root, std::string_view bytes,
                    const tree::ParseOptions& options) {
  if (bytes.empty()) return {};  // no body: a folder without children
  std::string_view utf8 = MS_TRY(common::xml_to_utf8(context.arena, bytes, options.ccsid));
  root->parser = context.arena.make<XmlnscParser>(context, root, bytes, utf8, options);
  if (!options.is_immediate) return {};
  tree::complete(root);
  return context.take_parse_error();
}

Status serialise_xmlnsc(tree::TreeContext& context, tree::Element* e,
                        const tree::SerialiseOptions& options, std::string& out) {
  bool is_utf8 = options.ccsid == 0 || options.ccsid == 1208;
  std::string converted;
  common::XmlTreeWriter writer(context, kXmlnscDialect, is_utf8 ? out : converted);
  size_t before = out.size();
  Status status;
  if (e->has_flag(tree::kFlagDomainRoot)) {
    auto* root = static_cast<tree::DomainRoot*>(e);
    tree::complete(e);
    if (root->parser && root->domain == &kDomain) {
      MS_TRY(static_cast<XmlnscParser*>(root->parser)->repeat_error());
    }
    status = writer.write_document(e);
  } else {
    status = writer.write_element(e);
  }
  if (!status.ok()) {
    out.resize(before);
    return status;
  }
  return is_utf8 ? Status() : common::append_xml_in_ccsid(converted, options.ccsid, out);
}

}  // namespace

constinit const tree::Domain kDomain{"XMLNSC",     "xmlnsc",         true,
                                     parse_xmlnsc, serialise_xmlnsc, tree::kNameValue};

}  // namespace millstream::parsers::xmlnsc
