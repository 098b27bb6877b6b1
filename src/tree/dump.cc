// Trees as text, in the form in which the product's Trace node and user trace show them.
#include <cstdio>

#include "tree/domain.h"
#include "tree/edit.h"
#include "value/datetime.h"
#include "value/decimal.h"
#include "value/number_format.h"

namespace millstream::tree {
namespace {

constexpr size_t kDumpDepthMax =
    1000;  // indentation stops growing here, so that output stays linear

struct TypeName {
  FieldType type;
  const char* name;
};
constexpr TypeName kXmlnscNames[] = {
    {xmlnsc::kFolder, "Folder"},
    {xmlnsc::kDocumentType, "DocumentType"},
    {xmlnsc::kXmlDeclaration, "XmlDeclaration"},
    {xmlnsc::kField, "PCDataField"},
    {xmlnsc::kCDataField, "CDataField"},
    {xmlnsc::kHybridField, "HybridField"},
    {xmlnsc::kAttribute, "Attribute"},
    {xmlnsc::kSingleAttribute, "SingleAttribute"},
    {xmlnsc::kNamespaceDecl, "NamespaceDecl"},
    {xmlnsc::kSingleNamespaceDecl, "SingleNamespaceDecl"},
    {xmlnsc::kComment, "Comment"},
    {xmlnsc::kProcessingInstruction, "ProcessingInstruction"},
    {xmlnsc::kAsisElementContent, "AsisElementContent"},
    {xmlnsc::kPCDataValue, "PCDataValue"},
    {xmlnsc::kCDataValue, "CDataValue"},
    {xmlnsc::kHybridValue, "HybridValue"},
};

std::string type_name(const Domain* domain, FieldType type) {
  const std::string_view name = domain ? domain->name : std::string_view();
  if (name == "XMLNSC") {
    for (const TypeName& t : kXmlnscNames) {
      if (t.type == type) return t.name;
    }
  }
  if (name == "JSON" && type == json::kArray) return "Array";
  if (name == "JSON" && type == json::kObject) return "Object";
  switch (type & kTypeClassMask) {
    case kName:
      return "Name";
    case kValue:
      return "Value";
    default:
      return "NameValue";
  }
}

void append_dump_value(const value::Value& v, std::string& out) {
  using value::Kind;
  switch (v.kind) {
    case Kind::kNull:
      out += "NULL";
      return;
    case Kind::kBoolean:
      out += v.boolean() ? "TRUE" : "FALSE";
      break;
    case Kind::kInteger:
      out += std::to_string(v.integer);
      break;
    case Kind::kFloat:
      out += value::float_to_text(v.real);
      break;
    case Kind::kDecimal:
      out += v.as_decimal().to_text();
      break;
    case Kind::kCharacter:
      out += '\'';
      out += v.text();
      out += '\'';
      break;
    case Kind::kBlob: {
      out += "X'";
      for (unsigned char c : v.text()) {
        char hex[3];
        std::snprintf(hex, sizeof hex, "%02x", c);
        out += hex;
      }
      out += '\'';
      break;
    }
    case Kind::kBit:
      out += "B'";
      for (uint32_t i = 0; i < v.size; ++i) out += (v.data[i / 8] >> (7 - i % 8)) & 1 ? '1' : '0';
      out += '\'';
      break;
    default:
      out += value::format_literal(v);
      break;
  }
  out += " (";
  out += value::kind_name(v.kind);
  out += ')';
}

void append_dump_head(Element* e, const Domain* domain, size_t depth, std::string& out) {
  out.append(2 * (depth < kDumpDepthMax ? depth : kDumpDepthMax), ' ');
  char code[16];
  std::snprintf(code, sizeof code, "(0x%08x:", e->type);
  out += code;
  out += type_name(domain, e->type) + "):";
  if (!e->namespace_uri().empty()) {
    out += e->namespace_uri();
    out += ':';
  }
  out += e->local_name();
  out += " = ";
}

}  // namespace

void dump(Element* top, std::string& out, int first_depth) {
  size_t depth = static_cast<size_t>(first_depth);
  Element* e = top;
  while (true) {
    DomainRoot* root = domain_root_of(e);
    const Domain* domain = root ? root->domain : nullptr;
    append_dump_head(e, domain, depth, out);
    const value::Value v = scalar_value(e);
    Element* child = first_child(e);
    if (child || (v.is_null() && (e->type & kTypeClassMask) == kName)) {
      out += "(";
      if (e->has_flag(kFlagDomainRoot)) out += " ['" + std::string(domain->parser_class) + "']";
      if (!v.is_null()) {
        out += ' ';
        append_dump_value(v, out);
      }
      out += '\n';
    } else {
      append_dump_value(v, out);
      out += '\n';
    }
    if (child) {
      e = child;
      ++depth;
      continue;
    }
    if (v.is_null() && (e->type & kTypeClassMask) == kName) {
      out.append(2 * (depth < kDumpDepthMax ? depth : kDumpDepthMax), ' ');
      out += ")\n";
    }
    while (true) {
      if (e == top) return;
      if (Element* next = next_sibling(e)) {
        e = next;
        break;
      }
      e = e->parent;
      --depth;
      out.append(2 * (depth < kDumpDepthMax ? depth : kDumpDepthMax), ' ');
      out += ")\n";
    }
  }
}

}  // namespace millstream::tree
