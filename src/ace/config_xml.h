// The XML files of projects (.msgflow, descriptors, broker.xml, .project) as a small tree that
// knows where everything stands, for diagnostics. Not for messages: it copies every string. Limits:
// XmlLimits of the tokenizer; nothing external is fetched. Thread: any (no sharing).
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"

namespace millstream::ace {

struct ConfigAttribute {
  std::string name;  // as written, e.g. "xmi:type"
  std::string value;
  base::Position position;
};

struct ConfigElement {
  std::string name;        // as written, e.g. "eflow:FCMComposite"
  std::string local;       // without the prefix
  std::string name_space;  // URI, "" when there is none
  std::string text;        // character data of the element itself
  base::Position position;
  std::vector<ConfigAttribute> attributes;
  std::vector<std::unique_ptr<ConfigElement>> children;

  // "" when absent.
  std::string_view attribute(std::string_view attribute_name) const;
  const ConfigAttribute* find_attribute(std::string_view attribute_name) const;
  // First child with this local name.
  const ConfigElement* child(std::string_view local_name) const;
};

struct ConfigDocument {
  std::unique_ptr<ConfigElement> root;
  // Prefix -> URI declared on the root element ("" for the default namespace).
  std::vector<std::pair<std::string, std::string>> namespaces;
  std::string_view namespace_of(std::string_view prefix) const;
};

constexpr size_t kConfigXmlBytesMax = 16u << 20;  // its tree takes some twenty times as much

// `file` is for positions and messages.
Result<ConfigDocument> parse_config_xml(std::string_view bytes, const std::string& file);

}  // namespace millstream::ace
