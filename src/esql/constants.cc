#include "esql/constants.h"

#include "text/utf8.h"

namespace millstream::esql {
namespace {

using ast::Correlation;
using ast::ModuleKind;
using text::equals_ignoring_ascii_case;
using tree::FieldType;

struct TypeConstant {
  std::string_view name;
  FieldType type;
};

namespace x = tree::xmlnsc;
// Element is not a constant of the product's documentation but occurs in real programs.
constexpr TypeConstant kXmlnscTypes[] = {
    {"Folder", x::kFolder},
    {"DocumentType", x::kDocumentType},
    {"XmlDeclaration", x::kXmlDeclaration},
    {"Field", x::kField},
    {"PCDataField", x::kField},
    {"Element", x::kField},
    {"CDataField", x::kCDataField},
    {"HybridField", x::kHybridField},
    {"Attribute", x::kAttribute},
    {"DoubleAttribute", x::kAttribute},
    {"SingleAttribute", x::kSingleAttribute},
    {"NamespaceDecl", x::kNamespaceDecl},
    {"DoubleNamespaceDecl", x::kNamespaceDecl},
    {"SingleNamespaceDecl", x::kSingleNamespaceDecl},
    {"BitStream", x::kBitStream},
    {"Comment", x::kComment},
    {"ProcessingInstruction", x::kProcessingInstruction},
    {"EntityDefinition", x::kEntityDefinition},
    {"EntityReference", x::kEntityReference},
    {"AsisElementContent", x::kAsisElementContent},
    {"Value", x::kPCDataValue},
    {"PCDataValue", x::kPCDataValue},
    {"CDataValue", x::kCDataValue},
    {"HybridValue", x::kHybridValue},
};

namespace n = tree::xmlns;
constexpr TypeConstant kXmlnsTypes[] = {
    {"Element", n::kElement},
    {"Tag", n::kElement},
    {"ParserRoot", n::kParserRoot},
    {"XmlDecl", n::kXmlDecl},
    {"DocTypeDecl", n::kDocTypeDecl},
    {"IntSubset", n::kIntSubset},
    {"Content", n::kContent},
    {"PCData", n::kContent},
    {"CDataSection", n::kCDataSection},
    {"WhiteSpace", n::kWhiteSpace},
    {"EntityReferenceStart", n::kEntityReferenceStart},
    {"EntityReferenceEnd", n::kEntityReferenceEnd},
    {"AsisElementContent", n::kAsisElementContent},
    {"Attribute", n::kAttribute},
    {"Attr", n::kAttribute},
    {"NamespaceDecl", n::kNamespaceDecl},
    {"Version", n::kVersion},
    {"Encoding", n::kEncoding},
    {"Standalone", n::kStandalone},
    {"Comment", n::kComment},
    {"ProcessingInstruction", n::kProcessingInstruction},
    {"SystemId", n::kSystemId},
    {"PublicId", n::kPublicId},
    {"BitStream", n::kBitStream},
};

constexpr TypeConstant kJsonTypes[] = {
    {"Object", tree::json::kObject},
    {"Array", tree::json::kArray},
    {"Value", tree::json::kJsonValue},
};

constexpr TypeConstant kGenericTypes[] = {
    {"Name", tree::kName},           {"Folder", tree::kName},     {"Value", tree::kValue},
    {"NameValue", tree::kNameValue}, {"Field", tree::kNameValue},
};

struct TypeDomain {
  std::string_view name;
  std::span<const TypeConstant> types;
};
constexpr TypeDomain kTypeDomains[] = {
    {"XMLNSC", kXmlnscTypes},   {"XMLNS", kXmlnsTypes},     {"XML", kXmlnsTypes},
    {"SOAP", kXmlnscTypes},     {"JSON", kJsonTypes},       {"MQRFH2", kGenericTypes},
    {"MQRFH2C", kGenericTypes}, {"MRM", kGenericTypes},     {"DFDL", kGenericTypes},
    {"MIME", kGenericTypes},    {"BLOB", kGenericTypes},    {"DataObject", kGenericTypes},
    {"JMSMap", kXmlnsTypes},    {"JMSStream", kXmlnsTypes},
};

const TypeDomain* find_type_domain(std::string_view domain) {
  for (const TypeDomain& d : kTypeDomains) {
    if (equals_ignoring_ascii_case(d.name, domain)) return &d;
  }
  return nullptr;
}

struct PlainConstant {
  std::string_view name;
  int64_t value;
};
constexpr PlainConstant kPlainConstants[] = {
    {"Name", tree::kName},
    {"NameValue", tree::kNameValue},
    {"Value", tree::kValue},
    {"RootBitStream", kRootBitStream},
    {"EmbeddedBitStream", kEmbeddedBitStream},
    {"FolderBitStream", kFolderBitStream},
    {"ValidateNone", 0},
    {"ValidateMaster", 0x100},
    {"ValidateContent", 0x200},
    {"ValidateContentAndValue", 0x200},
    {"ValidateValue", 0x400},
    {"ValidateDisable", 0x800},
    {"ValidateInherit", 0x1000},
    {"ValidateLocalError", 0x2000},
    {"ValidateUserTrace", 0x4000},
    {"ValidateException", 0x8000},
    {"ValidateExceptionList", 0x10000},
    {"ValidateImmediate", 0x20000},
    {"ValidateDeferred", 0x40000},
    {"ValidateComplete", 0x80000},
    {"ValidateFullFixUp", 0x100000},
    {"ValidateNoFixUp", 0x200000},
    {"ValidateFullConstraints", 0x400000},
    {"ValidateBasicValueConstraints", 0x800000},
};

// Bits: in which modules a correlation name is known.
constexpr uint8_t kInCompute = 1;
constexpr uint8_t kInFilter = 2;  // and Database
constexpr uint8_t kInEvent = 4;
struct CorrelationName {
  std::string_view name;
  Correlation correlation;
  uint8_t where;
};
constexpr CorrelationName kCorrelations[] = {
    {"InputRoot", Correlation::kInputRoot, kInCompute},
    {"InputBody", Correlation::kInputBody, kInCompute},
    {"InputProperties", Correlation::kInputProperties, kInCompute},
    {"InputLocalEnvironment", Correlation::kInputLocalEnvironment, kInCompute},
    {"InputDestinationList", Correlation::kInputLocalEnvironment, kInCompute},
    {"InputExceptionList", Correlation::kInputExceptionList, kInCompute},
    {"OutputRoot", Correlation::kOutputRoot, kInCompute},
    {"OutputLocalEnvironment", Correlation::kOutputLocalEnvironment, kInCompute},
    {"OutputDestinationList", Correlation::kOutputLocalEnvironment, kInCompute},
    {"OutputExceptionList", Correlation::kOutputExceptionList, kInCompute},
    {"Root", Correlation::kRoot, kInFilter | kInEvent},
    {"Body", Correlation::kBody, kInFilter | kInEvent},
    {"Properties", Correlation::kProperties, kInFilter | kInEvent},
    {"LocalEnvironment", Correlation::kLocalEnvironment, kInFilter | kInEvent},
    {"DestinationList", Correlation::kLocalEnvironment, kInFilter | kInEvent},
    {"ExceptionList", Correlation::kExceptionList, kInFilter | kInEvent},
    {"Environment", Correlation::kEnvironment, kInCompute | kInFilter | kInEvent},
    {"Database", Correlation::kDatabase, kInCompute | kInFilter | kInEvent},
};

uint8_t place_of(const ModuleKind* kind) {
  if (!kind) return kInCompute | kInFilter | kInEvent;
  switch (*kind) {
    case ModuleKind::kCompute:
      return kInCompute;
    case ModuleKind::kFilter:
    case ModuleKind::kDatabase:
      return kInFilter;
    case ModuleKind::kDatabaseEvent:
      return kInEvent;
  }
  return 0;
}

constexpr std::string_view kBrokerProperties[] = {
    "AdditionalInstances",
    "ApplicationLabel",
    "BrokerDataSource",
    "BrokerDataSourceUserId",
    "BrokerName",
    "BrokerPlatform",
    "BrokerUserId",
    "BrokerVRMF",
    "BrokerVersion",
    "CommitCount",
    "CommitInterval",
    "CoordinatedTransaction",
    "DataSource",
    "DataSourceUserId",
    "DeploymentTimestamp",
    "ExecutionGroupLabel",
    "ExecutionGroupName",
    "Family",
    "FlowMonitoringEnabled",
    "IntegrationNodeName",
    "IntegrationServerName",
    "LibraryLabel",
    "MessageFlowLabel",
    "MessageOptions",
    "NodeLabel",
    "NodeType",
    "ProcessId",
    "QueueManagerName",
    "TransactionType",
    "WorkPath",
};

}  // namespace

bool is_type_domain(std::string_view domain) { return find_type_domain(domain) != nullptr; }

bool find_type_constant(std::string_view domain, std::string_view name, FieldType& out) {
  const TypeDomain* d = find_type_domain(domain);
  if (!d) return false;
  auto search = [&](std::span<const TypeConstant> types) {
    for (const TypeConstant& t : types) {
      if (!equals_ignoring_ascii_case(t.name, name)) continue;
      out = t.type;
      return true;
    }
    return false;
  };
  return search(d->types) || search(kGenericTypes);
}

bool find_plain_constant(std::string_view name, int64_t& out) {
  for (const PlainConstant& c : kPlainConstants) {
    if (!equals_ignoring_ascii_case(c.name, name)) continue;
    out = c.value;
    return true;
  }
  return false;
}

bool find_correlation(std::string_view name, const ModuleKind* kind, Correlation& out) {
  uint8_t place = place_of(kind);
  for (const CorrelationName& c : kCorrelations) {
    if (!(c.where & place) || !equals_ignoring_ascii_case(c.name, name)) continue;
    out = c.correlation;
    return true;
  }
  return false;
}

bool is_foreign_correlation(std::string_view name, const ModuleKind& kind) {
  Correlation c;
  return find_correlation(name, nullptr, c) && !find_correlation(name, &kind, c);
}

bool is_input_only(Correlation c) {
  return c == Correlation::kInputRoot || c == Correlation::kInputBody ||
         c == Correlation::kInputProperties || c == Correlation::kInputExceptionList;
}

bool find_special(std::string_view name, ast::SpecialName& out) {
  using ast::SpecialName;
  if (equals_ignoring_ascii_case(name, "SQLCODE")) {
    out = SpecialName::kSqlCode;
  } else if (equals_ignoring_ascii_case(name, "SQLSTATE")) {
    out = SpecialName::kSqlState;
  } else if (equals_ignoring_ascii_case(name, "SQLERRORTEXT")) {
    out = SpecialName::kSqlErrorText;
  } else if (equals_ignoring_ascii_case(name, "SQLNATIVEERROR")) {
    out = SpecialName::kSqlNativeError;
  } else {
    return false;
  }
  return true;
}

std::string_view find_broker_property(std::string_view name) {
  for (std::string_view p : kBrokerProperties) {
    if (equals_ignoring_ascii_case(p, name)) return p;
  }
  return {};
}

}  // namespace millstream::esql
