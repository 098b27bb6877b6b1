// What the on-demand parsers of the XML domains share: the loop that goes on until a navigation is
// satisfied, elements from slabs, names and attributes of a start tag, and giving up on an error.
//
// Rule of all of them: an element that navigation can see is known to be a leaf or a folder, and a
// leaf has its value. While the innermost element is undetermined the loop goes on.
// Lifetime: in the arena of its message; no destructor. Thread: one.
#pragma once
#include <cstring>

#include "format/xml_tokenizer.h"
#include "parsers/common/xml_namespaces.h"
#include "tree/domain.h"
#include "tree/element.h"

namespace millstream::parsers::common {

struct XmlAttributeTypes {
  tree::FieldType attribute, single_attribute, declaration, single_declaration;
};

class XmlBodyParser : public tree::BodyParser {
 public:
  void parse_child(tree::Element* e, tree::Element* after) final { run(e, after, false); }
  void parse_all(tree::Element* e) final { run(e, nullptr, true); }
  std::string_view bytes() const final { return bytes_; }

  // The parse error again, after somebody has taken it from the context; OK when there was none.
  Status repeat_error() const { return has_error_ ? tokens_.error() : Status(); }

 protected:
  // Bits of XmlOpenTag::bits.
  static constexpr uint32_t kUndetermined = 1;  // leaf or folder is not known yet
  static constexpr uint32_t kHasElements = 2;
  static constexpr size_t kSlabElements = 32;

  // `utf8` are the same characters as `bytes` in UTF-8 (the same view when they are UTF-8).
  XmlBodyParser(tree::TreeContext& context, tree::DomainRoot* root, std::string_view bytes,
                std::string_view utf8, const tree::ParseOptions& options);
  ~XmlBodyParser() = default;

  // One token of any kind. False: the parse is over.
  virtual bool step() = 0;
  // A fast loop over what is plain; false: nothing was consumed.
  virtual bool run_plain(tree::Element* target, bool is_all) = 0;

  // The text for a second parser in `context`.
  std::string_view text_for(tree::TreeContext& context) const;

  // Appended to `parent`. Inline: the hottest function of a parse.
  tree::Element* new_element(tree::Element* parent, const base::QName* name, tree::FieldType type) {
    if (__builtin_expect(slab_ == slab_end_, 0)) new_slab();
    tree::Element* e = slab_++;
    link_element(e, parent, name, type);
    e->scalar = value::Value();
    return e;
  }
  // The same with text as its value.
  tree::Element* new_text_element(tree::Element* parent, const base::QName* name,
                                  tree::FieldType type, const char* text, size_t size) {
    if (__builtin_expect(slab_ == slab_end_, 0)) new_slab();
    tree::Element* e = slab_++;
    link_element(e, parent, name, type);
    set_character(e->scalar, text, size);
    return e;
  }
  tree::Element* add_value(tree::Element* parent, const base::QName* name, tree::FieldType type,
                           std::string_view text);
  tree::Element* top();
  // The element around the start tag just read, which is a folder from now on.
  tree::Element* open_parent() {
    auto& open = tokens_.open();
    if (open.size() < 2) return root_;
    format::XmlOpenTag& outer = open[open.size() - 2];
    outer.bits = (outer.bits & ~kUndetermined) | kHasElements;
    return static_cast<tree::Element*>(outer.user);
  }
  // The element of the start tag just read, with its attributes; null: the tokenizer has failed.
  tree::Element* open_element(tree::Element* parent, tree::FieldType type,
                              const XmlAttributeTypes& types);
  // Determines a folder without taking its first child, so that navigation can stop before it.
  void look_ahead();
  bool give_up();  // false
  bool finish();   // false; the document has ended well

  tree::TreeContext& context_;
  tree::DomainRoot* root_;
  std::string_view bytes_;
  std::string_view utf8_;
  tree::ParseOptions options_;
  format::XmlTokenizer tokens_;
  XmlNamespaces namespaces_;

 private:
  void run(tree::Element* target, tree::Element* after, bool is_all);
  bool is_satisfied(tree::Element* target, tree::Element* after, bool is_all);
  bool declare_namespaces();
  bool add_attributes(tree::Element* e, const XmlAttributeTypes& types);
  bool check_unique_names(tree::Element* e);
  void new_slab();
  // In two stores instead of five.
  static void set_character(value::Value& v, const char* text, size_t size) {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    uint64_t head = static_cast<uint64_t>(value::Kind::kCharacter) | uint64_t{size} << 32;
    std::memcpy(static_cast<void*>(&v), &head, sizeof head);
    v.data = text;
  }
  static void link_element(tree::Element* e, tree::Element* parent, const base::QName* name,
                           tree::FieldType type) {
    tree::Element* last = parent->last;
    e->parent = parent;
    e->first = nullptr;
    e->last = nullptr;
    e->prev = last;
    e->next = nullptr;
    e->name = name;
    e->type = type;
    e->stamp = 0;
    (last ? last->next : parent->first) = e;
    parent->last = e;
  }

  tree::Element* slab_ = nullptr;  // unused elements of the last slab
  tree::Element* slab_end_ = nullptr;
  bool has_error_ = false;
};

}  // namespace millstream::parsers::common
