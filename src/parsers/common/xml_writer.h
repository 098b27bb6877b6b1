// A tree under an XML domain -> UTF-8 text. XMLNSC and XMLNS differ in their type codes, which the
// dialect translates; namespaces, escaping and order are the same.
//
// Namespaces: declarations in the tree are written where they stand; a name whose namespace has no
// declaration in scope gets one with a generated prefix NS1, NS2, ...; xmlns="" is written where a
// name without namespace would fall into a default namespace. (A default declaration on an element
// that is itself in no namespace is written as it is and does not count as such.)
// Iterative: the depth of the tree costs arena memory only. Thread: one.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "base/result.h"
#include "format/xml_arena.h"
#include "tree/element.h"

namespace millstream::parsers::common {

enum class XmlNode : uint8_t {
  kElement,
  kCDataElement,  // its value is written as a CDATA section
  kAttribute,
  kSingleAttribute,
  kNamespace,
  kSingleNamespace,
  kText,
  kCData,
  kComment,
  kPi,
  kDoctype,
  kDeclaration,
  kVerbatim,
  kEntityReference,
  kSkipped,
};

struct XmlDialect {
  XmlNode (*classify)(tree::FieldType type);
  // The text of an element is also there as children (XMLNS): see XmlTreeWriter::own_text.
  bool has_text_children;
};

class XmlTreeWriter {
 public:
  XmlTreeWriter(tree::TreeContext& context, const XmlDialect& dialect, std::string& out)
      : context_(context), dialect_(dialect), out_(out) {}

  // All children of the domain root; exactly one of them is an element.
  Status write_document(tree::Element* root);
  // One element and what it holds.
  Status write_element(tree::Element* e);

 private:
  struct Binding {
    std::string_view prefix;
    const base::Name* uri;
    bool is_written;   // stands in the tree; else it is generated
    bool is_inactive;  // a default declaration that does not count (see above)
    bool is_hidden;    // by an inner one of the same prefix
    int32_t hides;     // the outer one of the same prefix, or -1
  };
  struct Open {
    tree::Element* element;
    tree::Element* child;  // the next one to write
    std::string_view prefix;
    uint32_t bindings;
  };

  bool try_leaf(tree::Element* e);
  Status begin(tree::Element* e);
  Status write_attributes(tree::Element* e);
  Status check_unique(tree::Element* e);
  Status collect_declarations(tree::Element* e, bool* has_attributes, bool* has_content);
  Status prefix_for(const base::QName* name, bool is_attribute, std::string_view* prefix);
  std::string_view generate(const base::Name* uri);
  void push_binding(std::string_view prefix, const base::Name* uri, bool is_written,
                    bool is_inactive);
  void pop_bindings(uint32_t size);
  void end(const Open& open);
  Status write_node(tree::Element* e, XmlNode kind);
  Status write_text(tree::Element* e, bool is_cdata);
  Status write_declaration(tree::Element* e);
  Status write_doctype(tree::Element* e);
  Status check_name(const base::Name* name);
  void write_name(std::string_view prefix, const base::QName* name);
  const value::Value* own_text(tree::Element* e, bool* replaces_children);

  tree::TreeContext& context_;
  const XmlDialect& dialect_;
  std::string& out_;
  format::ArenaVector<Open> open_;
  format::ArenaVector<Binding> bindings_;
  std::array<const base::Name*, 64> checked_{};
  uint32_t generated_ = 0;
};

}  // namespace millstream::parsers::common
