// The on-demand parser of XMLNSC. One lives in the arena for every body; see xmlnsc_domain.h for
// the tree. Thread: one.
#pragma once
#include "format/xml_tokenizer.h"
#include "parsers/common/xml_namespaces.h"
#include "tree/domain.h"
#include "tree/element.h"

namespace millstream::parsers::xmlnsc {

class XmlnscParser final : public tree::BodyParser {
 public:
  // `utf8` are the same characters as `bytes` in UTF-8 (the same view when they are UTF-8).
  XmlnscParser(tree::TreeContext& context, tree::DomainRoot* root, std::string_view bytes,
               std::string_view utf8, const tree::ParseOptions& options);

  void parse_child(tree::Element* e, tree::Element* after) override;
  void parse_all(tree::Element* e) override;
  std::string_view bytes() const override { return bytes_; }
  tree::BodyParser* clone_for(tree::TreeContext& context, tree::DomainRoot* target) override;

  // The parse error again, after somebody has taken it from the context; OK when there was none.
  Status repeat_error() const;

 private:
  // Bits of XmlOpenTag::bits.
  static constexpr uint32_t kUndetermined = 1;  // leaf or folder is not known yet
  static constexpr uint32_t kHasElements = 2;

  struct PendingText {
    std::string_view view;
    format::ArenaText copy;
    bool is_copied = false, has_text = false, has_cdata = false;
    bool is_any() const { return has_text || has_cdata; }
  };

  void run(tree::Element* target, tree::Element* after, bool is_all);
  bool run_plain(tree::Element* target, bool is_all);
  bool step();
  bool is_satisfied(tree::Element* target, tree::Element* after, bool is_all);

  tree::Element* new_element(tree::Element* parent, const base::QName* name, tree::FieldType type);
  tree::Element* top();
  bool start_element();
  bool add_attributes(tree::Element* e, uint32_t depth);
  bool check_unique_names(tree::Element* e);
  bool capture_opaque(tree::Element* e);
  bool is_opaque(std::string_view local) const;
  void look_ahead();
  void end_element(tree::Element* e, uint32_t bits);
  void leaf_value(tree::Element* e);
  void add_text(std::string_view text, bool is_cdata);
  void flush_mixed(tree::Element* parent);
  void clear_text() { text_ = PendingText(); }
  void add_declaration();
  void add_doctype();
  void add_node(tree::FieldType type, std::string_view name, std::string_view text);
  void give_up();

  tree::TreeContext& context_;
  tree::DomainRoot* root_;
  std::string_view bytes_;
  std::string_view utf8_;
  tree::ParseOptions options_;
  format::XmlTokenizer tokens_;
  common::XmlNamespaces namespaces_;
  tree::Element* slab_ = nullptr;  // unused elements of the last slab
  tree::Element* slab_end_ = nullptr;
  PendingText text_;
  bool has_error_ = false;
};

}  // namespace millstream::parsers::xmlnsc
