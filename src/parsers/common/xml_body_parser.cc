#include "parsers/common/xml_body_parser.h"

#include <algorithm>

#include "format/xml_chars.h"
#include "format/xml_scan.h"

namespace millstream::parsers::common {
namespace {

using format::XmlOpenTag;
using tree::Element;
using value::Value;

format::XmlLimits limits_of(const tree::ParseOptions& options) {
  format::XmlLimits limits;
  limits.depth_max = options.depth_max;
  return limits;
}

}  // namespace

XmlBodyParser::XmlBodyParser(tree::TreeContext& context, tree::DomainRoot* root,
                             std::string_view bytes, std::string_view utf8,
                             const tree::ParseOptions& options)
    : context_(context),
      root_(root),
      bytes_(bytes),
      utf8_(utf8),
      options_(options),
      tokens_(context.arena, utf8, limits_of(options)),
      namespaces_(context.arena, context.names) {
  root->set_flag(tree::kFlagOpen);
}

std::string_view XmlBodyParser::text_for(tree::TreeContext& context) const {
  // Converted text lives in the arena of its own message only.
  if (&context == &context_ || utf8_.data() == bytes_.data()) return utf8_;
  return context.arena.copy(utf8_);
}

bool XmlBodyParser::is_satisfied(Element* target, Element* after, bool is_all) {
  if (!target->is_open()) return true;
  if (is_all) return false;
  if (after ? !after->next : !target->first) return false;
  return tokens_.open().empty() || !(tokens_.open().back().bits & kUndetermined);
}

void XmlBodyParser::run(Element* target, Element* after, bool is_all) {
  while (!is_satisfied(target, after, is_all)) {
    if (tokens_.depth() && tokens_.is_plain() && run_plain(target, is_all)) continue;
    if (!step()) break;
  }
  // After the end nothing is open, however an element got here.
  if (!root_->is_open()) target->clear_flag(tree::kFlagOpen);
}

void XmlBodyParser::new_slab() {
  slab_ = static_cast<Element*>(
      context_.arena.allocate(kSlabElements * sizeof(Element), alignof(Element)));
  slab_end_ = slab_ + kSlabElements;
}

Element* XmlBodyParser::add_value(Element* parent, const base::QName* name, tree::FieldType type,
                                  std::string_view text) {
  Element* e = new_element(parent, name, type);
  e->scalar = Value::make_character(text.empty() ? std::string_view("") : text);
  return e;
}

Element* XmlBodyParser::top() {
  return tokens_.open().empty() ? root_ : static_cast<Element*>(tokens_.open().back().user);
}

// Keeps the first error and closes everything, so that no navigation comes back.
bool XmlBodyParser::give_up() {
  has_error_ = true;
  if (context_.parse_error.ok()) context_.parse_error = tokens_.error();
  for (XmlOpenTag& tag : tokens_.open()) {
    if (tag.user) static_cast<Element*>(tag.user)->clear_flag(tree::kFlagOpen);
  }
  root_->clear_flag(tree::kFlagOpen);
  return false;
}

bool XmlBodyParser::finish() {
  root_->clear_flag(tree::kFlagOpen);
  return false;
}

Element* XmlBodyParser::open_element(Element* parent, tree::FieldType type,
                                     const XmlAttributeTypes& types) {
  bool has_attributes = !tokens_.attributes().empty();
  if (has_attributes && !declare_namespaces()) return nullptr;
  XmlOpenTag& tag = tokens_.open().back();
  const base::QName* name = namespaces_.element_name({tag.name, tag.size});
  if (!name) {
    tokens_.fail(namespaces_.reason(), tag.name);
    return nullptr;
  }
  Element* e = new_element(parent, name, type);
  e->set_flag(tree::kFlagOpen);
  tag.user = e;
  tag.bits = kUndetermined;
  if (has_attributes && !add_attributes(e, types)) return nullptr;
  return e;
}

bool XmlBodyParser::declare_namespaces() {
  bool declares = false;
  for (const format::XmlAttribute& a : tokens_.attributes()) {
    if (!XmlNamespaces::is_declaration(a.name)) continue;
    if (!declares) namespaces_.enter(tokens_.depth());
    declares = true;
    if (!namespaces_.declare(a.name, a.value)) {
      tokens_.fail(namespaces_.reason(), a.name.data());
      return false;
    }
  }
  return true;
}

bool XmlBodyParser::add_attributes(Element* e, const XmlAttributeTypes& types) {
  bool has_prefixed = false;
  for (const format::XmlAttribute& a : tokens_.attributes()) {
    const base::QName* name;
    tree::FieldType type;
    if (XmlNamespaces::is_declaration(a.name)) {
      name = namespaces_.declaration_name(a.name);
      type = a.quote == '"' ? types.declaration : types.single_declaration;
    } else {
      name = namespaces_.attribute_name(a.name);
      if (!name) {
        tokens_.fail(namespaces_.reason(), a.name.data());
        return false;
      }
      has_prefixed = has_prefixed || name->ns->size != 0;
      type = a.quote == '"' ? types.attribute : types.single_attribute;
    }
    Element* child = new_element(e, name, type);
    child->scalar = Value::make_character(a.value);
  }
  return !has_prefixed || tokens_.attributes().size() < 2 || check_unique_names(e);
}

// Two prefixes may mean the same namespace.
bool XmlBodyParser::check_unique_names(Element* e) {
  constexpr uint32_t kPairwiseMax = 16;
  uint32_t n = tokens_.attributes().size();
  if (n <= kPairwiseMax) {
    for (Element* a = e->first; a; a = a->next) {
      for (Element* b = a->next; b; b = b->next) {
        if (a->name != b->name) continue;
        tokens_.fail("an attribute occurs twice");
        return false;
      }
    }
    return true;
  }
  auto* names = static_cast<const base::QName**>(context_.arena.allocate(n * sizeof(void*)));
  uint32_t i = 0;
  for (Element* a = e->first; a; a = a->next) names[i++] = a->name;
  std::sort(names, names + n);
  if (std::adjacent_find(names, names + n) == names + n) return true;
  tokens_.fail("an attribute occurs twice");
  return false;
}

void XmlBodyParser::look_ahead() {
  if (!tokens_.is_plain()) return;
  const char* p = format::xml_scan::skip_space(tokens_.pos(), tokens_.end());
  if (tokens_.end() - p < 2 || *p != '<') return;
  if (format::kXmlNameByte[static_cast<uint8_t>(p[1])] & 6) {
    tokens_.open().back().bits = kHasElements;
  }
}

}  // namespace millstream::parsers::common
