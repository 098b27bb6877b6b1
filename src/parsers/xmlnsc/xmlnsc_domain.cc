#include "parsers/xmlnsc/xmlnsc_domain.h"

#include "parsers/common/xml_domain.h"
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
  return common::parse_xml_body<XmlnscParser>(context, root, bytes, options);
}

Status serialise_xmlnsc(tree::TreeContext& context, tree::Element* e,
                        const tree::SerialiseOptions& options, std::string& out) {
  return common::serialise_xml_body<XmlnscParser>(context, e, kXmlnscDialect, kDomain, options,
                                                  out);
}

}  // namespace

constinit const tree::Domain kDomain{"XMLNSC",     "xmlnsc",         true,
                                     parse_xmlnsc, serialise_xmlnsc, tree::kNameValue};

}  // namespace millstream::parsers::xmlnsc
