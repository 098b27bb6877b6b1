// Field type codes of tree elements, as FIELDTYPE() shows them and the TYPE clauses of ESQL name
// them. Generic classes sit in the high byte; each parser owns the low 24 bits.
// Sources: spec B6 (XMLNSC, JSON); XMLNS codes are our own choice inside the generic classes.
// Thread: any.
#pragma once
#include <cstdint>

namespace millstream::tree {

using FieldType = uint32_t;

constexpr FieldType kTypeClassMask = 0xff000000;
constexpr FieldType kName = 0x01000000;       // folder
constexpr FieldType kValue = 0x02000000;      // nameless value
constexpr FieldType kNameValue = 0x03000000;  // name and value

namespace xmlnsc {
constexpr FieldType kFolder = 0x01000000;
constexpr FieldType kDocumentType = 0x01000300;
constexpr FieldType kXmlDeclaration = 0x01000400;
constexpr FieldType kField = 0x03000000;  // also PCDataField
constexpr FieldType kCDataField = 0x03000001;
constexpr FieldType kHybridField = 0x03000002;
constexpr FieldType kAttribute = 0x03000100;  // double quotes
constexpr FieldType kSingleAttribute = 0x03000101;
constexpr FieldType kNamespaceDecl = 0x03000102;  // double quotes
constexpr FieldType kSingleNamespaceDecl = 0x03000103;
constexpr FieldType kBitStream = 0x03000200;
constexpr FieldType kComment = 0x03000400;
constexpr FieldType kProcessingInstruction = 0x03000401;
constexpr FieldType kEntityDefinition = 0x03000500;
constexpr FieldType kAsisElementContent = 0x03000600;
constexpr FieldType kPCDataValue = 0x02000000;  // also Value
constexpr FieldType kCDataValue = 0x02000001;
constexpr FieldType kHybridValue = 0x02000002;
constexpr FieldType kEntityReference = 0x02000100;
}  // namespace xmlnsc

namespace xmlns {
constexpr FieldType kElement = 0x01000000;
constexpr FieldType kParserRoot = 0x01000010;
constexpr FieldType kXmlDecl = 0x01000011;
constexpr FieldType kDocTypeDecl = 0x01000020;
constexpr FieldType kIntSubset = 0x01000021;
constexpr FieldType kContent = 0x02000000;  // #PCDATA
constexpr FieldType kCDataSection = 0x02000001;
constexpr FieldType kWhiteSpace = 0x02000002;
constexpr FieldType kEntityReferenceStart = 0x02000003;
constexpr FieldType kEntityReferenceEnd = 0x02000004;
constexpr FieldType kAsisElementContent = 0x02000005;
constexpr FieldType kAttribute = 0x03000000;
constexpr FieldType kNamespaceDecl = 0x03000001;
constexpr FieldType kVersion = 0x03000002;
constexpr FieldType kEncoding = 0x03000003;
constexpr FieldType kStandalone = 0x03000004;
constexpr FieldType kComment = 0x03000005;
constexpr FieldType kProcessingInstruction = 0x03000006;
constexpr FieldType kSystemId = 0x03000007;
constexpr FieldType kPublicId = 0x03000008;
constexpr FieldType kBitStream = 0x03000009;
}  // namespace xmlns

namespace json {
constexpr FieldType kObject = 0x01000000;
constexpr FieldType kArray = 0x01001000;
constexpr FieldType kJsonValue = 0x03000000;
}  // namespace json

}  // namespace millstream::tree
