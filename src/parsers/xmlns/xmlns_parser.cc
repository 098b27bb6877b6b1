#include "parsers/xmlns/xmlns_parser.h"

#include "base/assert.h"

namespace millstream::parsers::xmlns {
namespace {

using format::XmlEvent;
using format::XmlOpenTag;
using tree::Element;
using value::Value;

constexpr common::XmlAttributeTypes kXmlnsAttributeTypes{
    tree::xmlns::kAttribute, tree::xmlns::kAttribute, tree::xmlns::kNamespaceDecl,
    tree::xmlns::kNamespaceDecl};

}  // namespace

tree::BodyParser* XmlnsParser::clone_for(tree::TreeContext& context, tree::DomainRoot* target) {
  return context.arena.make<XmlnsParser>(context, target, bytes_, text_for(context), options_);
}

bool XmlnsParser::step() {
  // The tokenizer pops an element before it reports its end.
  XmlOpenTag tag{};
  if (tokens_.depth()) tag = tokens_.open().back();
  XmlEvent event = tokens_.next();
  if (event != XmlEvent::kText) content_ = nullptr;
  const base::QName* nameless = context_.names.empty_qname();
  switch (event) {
    case XmlEvent::kStartTag:
      return start_element() || give_up();
    case XmlEvent::kEndTag:
      MS_ASSERT(tag.user != nullptr);  // an end tag without a start is kError
      end_element(static_cast<Element*>(tag.user), tag.bits);
      return true;
    case XmlEvent::kText:
      add_text(tokens_.text());
      return true;
    case XmlEvent::kCData:
      add_value(top(), nameless, tree::xmlns::kCDataSection, tokens_.text());
      return true;
    case XmlEvent::kXmlDecl:
      add_declaration();
      return true;
    case XmlEvent::kDoctype:
      add_doctype();
      return true;
    case XmlEvent::kComment:
      add_value(top(), nameless, tree::xmlns::kComment, tokens_.text());
      return true;
    case XmlEvent::kPi:
      add_value(top(), context_.names.qname(tokens_.name()), tree::xmlns::kProcessingInstruction,
                tokens_.text());
      return true;
    case XmlEvent::kEnd:
      return finish();
    case XmlEvent::kError:
      break;
  }
  return give_up();
}

bool XmlnsParser::start_element() {
  if (!open_element(open_parent(), tree::xmlns::kElement, kXmlnsAttributeTypes)) return false;
  look_ahead();
  return true;
}

// The value of a leaf is its text; with one Content child both are the same view.
void XmlnsParser::end_element(Element* e, uint32_t bits) {
  if (!(bits & kHasElements)) {
    std::string_view text("");
    format::ArenaText joined;
    uint32_t pieces = 0;
    for (Element* c = e->first; c; c = c->next) {
      if (c->type != tree::xmlns::kContent && c->type != tree::xmlns::kCDataSection) continue;
      if (++pieces == 2) joined.append(context_.arena, text);
      text = c->scalar.text();
      if (pieces >= 2) joined.append(context_.arena, text);
    }
    uint16_t flags = e->flags();
    e->scalar = Value::make_character(pieces >= 2 ? joined.view() : text);
    e->scalar.spare = flags;
  }
  e->clear_flag(tree::kFlagOpen);
  namespaces_.leave(tokens_.depth() + 1);
}

void XmlnsParser::add_text(std::string_view text) {
  if (text.empty()) return;
  const base::QName* nameless = context_.names.empty_qname();
  if (!tokens_.depth()) {
    add_value(root_, nameless, tree::xmlns::kWhiteSpace, text);
    return;
  }
  if (!content_) {
    content_ = add_value(top(), nameless, tree::xmlns::kContent, text);
    joined_.start();
    return;
  }
  if (joined_.empty()) joined_.append(context_.arena, content_->scalar.text());
  joined_.append(context_.arena, text);
  uint16_t flags = content_->flags();
  content_->scalar = Value::make_character(joined_.view());
  content_->scalar.spare = flags;
}

void XmlnsParser::add_declaration() {
  base::NameScope& names = context_.names;
  Element* e = new_element(root_, names.qname("XmlDecl"), tree::xmlns::kXmlDecl);
  auto add = [&](std::string_view name, tree::FieldType type, std::string_view text) {
    if (!text.empty()) add_value(e, names.qname(name), type, text);
  };
  add("Version", tree::xmlns::kVersion, tokens_.version());
  add("Encoding", tree::xmlns::kEncoding, tokens_.encoding());
  add("Standalone", tree::xmlns::kStandalone, tokens_.standalone());
}

void XmlnsParser::add_doctype() {
  base::NameScope& names = context_.names;
  const format::XmlDoctype& d = tokens_.doctype();
  Element* e = new_element(root_, names.qname(d.name), tree::xmlns::kDocTypeDecl);
  if (d.has_public_id) {
    add_value(e, names.qname("PublicId"), tree::xmlns::kPublicId, d.public_id);
  }
  if (d.has_system_id) {
    add_value(e, names.qname("SystemId"), tree::xmlns::kSystemId, d.system_id);
  }
  if (d.has_internal_subset) {
    Element* subset = new_element(e, names.qname("IntSubset"), tree::xmlns::kIntSubset);
    add_value(subset, names.empty_qname(), tree::xmlns::kAsisElementContent, d.internal_subset);
  }
}

}  // namespace millstream::parsers::xmlns
