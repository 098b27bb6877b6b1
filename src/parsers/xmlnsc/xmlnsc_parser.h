// The on-demand parser of XMLNSC. One lives in the arena for every body; see xmlnsc_domain.h for
// the tree. Thread: one.
#pragma once
#include "parsers/common/xml_body_parser.h"

namespace millstream::parsers::xmlnsc {

class XmlnscParser final : public common::XmlBodyParser {
 public:
  XmlnscParser(tree::TreeContext& context, tree::DomainRoot* root, std::string_view bytes,
               std::string_view utf8, const tree::ParseOptions& options)
      : XmlBodyParser(context, root, bytes, utf8, options) {}

  tree::BodyParser* clone_for(tree::TreeContext& context, tree::DomainRoot* target) override;

 private:
  struct PendingText {
    std::string_view view;
    format::ArenaText copy;
    bool is_copied = false, has_text = false, has_cdata = false;
    bool is_any() const { return has_text || has_cdata; }
  };

  bool step() override;
  bool run_plain(tree::Element* target, bool is_all) override;

  bool take_end_tag(const char** p, const char* last, tree::Element* parent);
  tree::Element* open_folder(tree::Element* parent, const base::QName* name, std::string_view raw);
  bool start_element();
  bool finish_leaf(tree::Element* e);
  bool capture_opaque(tree::Element* e);
  bool is_opaque(std::string_view local) const;
  void end_element(tree::Element* e, uint32_t bits);
  void leaf_value(tree::Element* e);
  void add_text(std::string_view text, bool is_cdata);
  void flush_mixed(tree::Element* parent);
  void clear_text() { text_ = PendingText(); }
  void add_declaration();
  void add_doctype();
  void add_node(tree::FieldType type, std::string_view name, std::string_view text);

  PendingText text_;
};

}  // namespace millstream::parsers::xmlnsc
