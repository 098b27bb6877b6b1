#include "parsers/xmlns/xmlns_domain.h"

#include "parsers/common/xml_domain.h"
#include "parsers/xmlns/xmlns_parser.h"

namespace millstream::parsers::xmlns {
namespace {

using common::XmlNode;

XmlNode classify_xmlns(tree::FieldType type) {
  switch (type) {
    case tree::xmlns::kXmlDecl:
      return XmlNode::kDeclaration;
    case tree::xmlns::kDocTypeDecl:
      return XmlNode::kDoctype;
    case tree::xmlns::kIntSubset:
    case tree::xmlns::kVersion:
    case tree::xmlns::kEncoding:
    case tree::xmlns::kStandalone:
    case tree::xmlns::kSystemId:
    case tree::xmlns::kPublicId:
    case tree::xmlns::kEntityReferenceEnd:
      return XmlNode::kSkipped;  // written by what they belong to
    case tree::xmlns::kCDataSection:
      return XmlNode::kCData;
    case tree::xmlns::kEntityReferenceStart:
      return XmlNode::kEntityReference;
    case tree::xmlns::kAsisElementContent:
    case tree::xmlns::kBitStream:
      return XmlNode::kVerbatim;
    case tree::xmlns::kNamespaceDecl:
      return XmlNode::kNamespace;
    case tree::xmlns::kComment:
      return XmlNode::kComment;
    case tree::xmlns::kProcessingInstruction:
      return XmlNode::kPi;
    case tree::xmlns::kAttribute:
      return XmlNode::kAttribute;
    default:
      return (type & tree::kTypeClassMask) == tree::kValue ? XmlNode::kText : XmlNode::kElement;
  }
}

constexpr common::XmlDialect kXmlnsDialect{classify_xmlns, true};

Status parse_xmlns(tree::TreeContext& context, tree::DomainRoot* root, std::string_view bytes,
                   const tree::ParseOptions& options) {
  return common::parse_xml_body<XmlnsParser>(context, root, bytes, options);
}

Status serialise_xmlns(tree::TreeContext& context, tree::Element* e,
                       const tree::SerialiseOptions& options, std::string& out) {
  return common::serialise_xml_body<XmlnsParser>(context, e, kXmlnsDialect, kDomain, options, out);
}

}  // namespace

// A new element without a stated type is an element; see classify_xmlns for NameValue = Attribute.
constinit const tree::Domain kDomain{"XMLNS",     "xmlns",         true,
                                     parse_xmlns, serialise_xmlns, tree::xmlns::kElement};

}  // namespace millstream::parsers::xmlns
