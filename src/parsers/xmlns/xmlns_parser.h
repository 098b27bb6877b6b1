// The on-demand parser of XMLNS; see xmlns_domain.h for the tree. Thread: one.
#pragma once
#include "parsers/common/xml_body_parser.h"

namespace millstream::parsers::xmlns {

class XmlnsParser final : public common::XmlBodyParser {
 public:
  XmlnsParser(tree::TreeContext& context, tree::DomainRoot* root, std::string_view bytes,
              std::string_view utf8, const tree::ParseOptions& options)
      : XmlBodyParser(context, root, bytes, utf8, options) {}

  tree::BodyParser* clone_for(tree::TreeContext& context, tree::DomainRoot* target) override;

 private:
  bool step() override;
  bool run_plain(tree::Element*, bool) override { return false; }

  bool start_element();
  void end_element(tree::Element* e, uint32_t bits);
  void add_text(std::string_view text);
  void add_declaration();
  void add_doctype();

  // The Content child that further text still belongs to (entities split text), and its text.
  tree::Element* content_ = nullptr;
  format::ArenaText joined_;
};

}  // namespace millstream::parsers::xmlns
