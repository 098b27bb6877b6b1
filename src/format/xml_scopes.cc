#include "format/xml_scopes.h"

namespace millstream::format {
namespace {

constexpr std::string_view kDeclaration = "xmlns";
}  // namespace

bool is_xml_declaration(std::string_view attribute_name) {
  return attribute_name.starts_with(kDeclaration) &&
         (attribute_name.size() == kDeclaration.size() ||
          attribute_name[kDeclaration.size()] == ':');
}

XmlNameParts split_xml_name(std::string_view name) {
  const size_t colon = name.find(':');
  if (colon == std::string_view::npos) return {{}, name};
  return {name.substr(0, colon), name.substr(colon + 1)};
}

void XmlScopes::enter(std::span<const XmlAttribute> attributes) {
  marks_.push_back(bindings_.size());
  for (const XmlAttribute& a : attributes) {
    if (!is_xml_declaration(a.name)) continue;
    const XmlNameParts parts = split_xml_name(a.name);
    bindings_.push_back({parts.prefix.empty() ? std::string_view() : parts.local, a.value});
  }
}

void XmlScopes::leave() {
  bindings_.resize(marks_.back());
  marks_.pop_back();
}

std::optional<std::string_view> XmlScopes::resolve(std::string_view prefix) const {
  if (prefix == "xml") return kXmlNamespaceUri;
  for (size_t i = bindings_.size(); i-- > 0;) {
    if (bindings_[i].prefix == prefix) return bindings_[i].uri;
  }
  if (prefix.empty()) return std::string_view();
  return std::nullopt;
}

}  // namespace millstream::format
