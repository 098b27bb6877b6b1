// A domain: how bytes become a tree under a domain root and back. src/parsers has one Domain a
// folder (xmlnsc, json, blob, ...) and registers them in parsers/domains.h.
// Thread: a Domain any, its functions that of the message.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tree/element.h"

namespace millstream::tree {

// Modes of CREATE ... PARSE and ASBITSTREAM (spec A8).
enum class BitStreamMode : uint8_t { kRoot, kEmbedded, kFolder };

// Parser options, from node properties or a PARSE clause. CCSID 0 = not stated (the domain's rule
// applies, in the end 1208); encoding is the MQENC_* word, 0 = native 546.
struct ParseOptions {
  uint32_t ccsid = 0;
  uint32_t encoding = 0;
  std::string_view message_set, message_type, message_format;  // live as long as the deployment
  BitStreamMode mode = BitStreamMode::kRoot;
  bool retain_mixed_content = false;
  bool retain_comments = false;
  bool retain_processing_instructions = false;
  bool retain_document_type = false;  // XMLNSC: keep the DOCTYPE as a DocumentType element
  // XMLNSC: local names (also //name) of elements kept as text, separated by blanks; lives as long
  // as the deployment.
  std::string_view opaque_elements;
  bool is_immediate = false;  // validateTiming immediate or complete: parse at once
  uint32_t depth_max = 10'000;
};

struct SerialiseOptions {
  uint32_t ccsid = 0;
  uint32_t encoding = 0;
  std::string_view message_set, message_type, message_format;
  BitStreamMode mode = BitStreamMode::kRoot;
};

struct Domain {
  const char* name;          // as in DOMAIN('XMLNSC') and as the folder under Root
  const char* parser_class;  // as MQ-style class names show it, e.g. "xmlnsc", "WSINPHDR"
  bool is_body;              // false: a header such as MQMD or HTTPInputHeader
  // Attaches a parser over `bytes` to `root` (no children yet). `bytes` must outlive the context's
  // arena contents; nothing is copied. An on-demand parser reports errors later.
  Status (*parse)(TreeContext& context, DomainRoot* root, std::string_view bytes,
                  const ParseOptions& options);
  // Appends the serialised form of `e` to `out`: the whole message for mode kRoot with the domain
  // root, the element and its content for kFolder. Original bytes are used by the caller
  // (tree/assembly.h serialise_body), not here.
  Status (*serialise)(TreeContext& context, Element* e, const SerialiseOptions& options,
                      std::string& out);
  // The type a new element of this domain gets when none is stated: a folder until it has a value.
  FieldType default_field_type = kNameValue;
};

}  // namespace millstream::tree
