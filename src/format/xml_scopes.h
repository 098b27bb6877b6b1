// The namespace declarations that are in force at a place of an XML document (Namespaces in XML
// 1.0, section 6), for readers that build a small structure of their own from XmlTokenizer's
// events. The parsers of message domains have theirs, which interns names (parsers/common). Holds
// views of the attributes: the tokenizer's input and arena outlive it. Thread: one.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "format/xml_tokenizer.h"

namespace millstream::format {

inline constexpr std::string_view kXmlNamespaceUri = "http://www.w3.org/XML/1998/namespace";

class XmlScopes {
 public:
  // At a start tag, before its names are resolved; leave() at its end tag.
  void enter(std::span<const XmlAttribute> attributes);
  void leave();
  // Of a prefix, or of no prefix for an element's name: the namespace, empty when it has none;
  // nothing when the prefix is not declared.
  std::optional<std::string_view> resolve(std::string_view prefix) const;

 private:
  struct Binding {
    std::string_view prefix, uri;
  };
  std::vector<Binding> bindings_;
  std::vector<size_t> marks_;
};

// Whether an attribute declares a namespace.
bool is_xml_declaration(std::string_view attribute_name);

struct XmlNameParts {
  std::string_view prefix, local;
};
XmlNameParts split_xml_name(std::string_view name);

}  // namespace millstream::format
