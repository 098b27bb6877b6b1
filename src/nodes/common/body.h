// The body of a message: the parser that a node's properties choose, attached to bytes, and the
// body written back to bytes. Shared by all nodes that receive or send. Thread: create while
// loading; the rest in the message's fiber.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "flow/property_set.h"
#include "tree/assembly.h"

namespace millstream::nodes::common {

// What the parser properties of a node say; texts live as long as the node.
struct BodyParserChoice {
  const tree::Domain* domain = nullptr;
  const base::QName* folder_name = nullptr;  // of `folder`, when the node has looked it up
  std::string folder;  // name of the folder under Root: the domain as the property spells it
  std::string message_set, message_type, message_format;
  std::string opaque_elements;
  tree::ParseOptions options;  // without CCSID, encoding and the texts above
};

// `domain` empty = BLOB. An error names what is not supported.
Result<BodyParserChoice> choose_body_parser(std::string_view domain, bool uses_xmlnsc_for_xmlns);

// The XPaths of the table parserXmlnscOpaqueElements, separated by blanks.
std::string opaque_elements(const flow::PropertySet& set);

// The parser options that input nodes have in common, from their generated property structs.
template <typename Properties>
void set_xml_options(const Properties& p, const flow::PropertySet& set, BodyParserChoice& choice) {
  using P = Properties;
  choice.opaque_elements = opaque_elements(set);
  choice.options.retain_mixed_content =
      p.parser_xmlnsc_mixed_content_retain_mode == P::ParserXmlnscMixedContentRetainMode::kAll;
  choice.options.retain_comments =
      p.parser_xmlnsc_comments_retain_mode == P::ParserXmlnscCommentsRetainMode::kAll;
  choice.options.retain_processing_instructions =
      p.parser_xmlnsc_processing_instructions_retain_mode ==
      P::ParserXmlnscProcessingInstructionsRetainMode::kAll;
  choice.options.is_immediate = p.validate_timing != P::ValidateTiming::kDeferred;
}

// Appends the body folder to `root`. `bytes` must outlive the message. An empty body of a domain
// other than BLOB becomes an empty folder: only whoever needs content finds out that there is none.
Status add_body(tree::TreeContext& context, tree::Element* root, const BodyParserChoice& choice,
                std::string_view bytes, uint32_t ccsid, uint32_t encoding);

// The same with a domain and folder other than those of the choice.
Status add_body_as(tree::TreeContext& context, tree::Element* root, const tree::Domain& domain,
                   std::string_view folder, const BodyParserChoice& choice, std::string_view bytes,
                   uint32_t ccsid, uint32_t encoding);

// The bytes of the message body of `root` (appended), by Properties.CodedCharSetId and Encoding.
// No body, or an empty folder: nothing. Header folders are never part of it.
Status write_body(tree::TreeContext& context, tree::Element* root, std::string& out);

// Content-Type of the body: what Properties say, else by its domain and CCSID. In the arena.
std::string_view content_type(tree::TreeContext& context, tree::Element* root);

}  // namespace millstream::nodes::common
