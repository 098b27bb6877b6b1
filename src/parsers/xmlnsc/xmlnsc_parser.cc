#include "parsers/xmlnsc/xmlnsc_parser.h"

#include <algorithm>

#include "format/xml_chars.h"
#include "format/xml_scan.h"

namespace millstream::parsers::xmlnsc {
namespace {

namespace scan = format::xml_scan;
using common::XmlNameCache;
using common::XmlNamespaces;
using format::XmlEvent;
using format::XmlOpenTag;
using tree::Element;
using value::Value;

// The fast loop works only where this many bytes follow, so that none of its steps looks behind the
// end; the general path does the rest.
constexpr ptrdiff_t kRoom = 64;
constexpr size_t kSlabElements = 32;

bool is_name_start_byte(char c) { return (format::kXmlNameByte[static_cast<uint8_t>(c)] & 6) != 0; }
bool is_low(char c) { return static_cast<uint8_t>(c) <= ' '; }

format::XmlLimits limits_of(const tree::ParseOptions& options) {
  format::XmlLimits limits;
  limits.depth_max = options.depth_max;
  return limits;
}

}  // namespace

XmlnscParser::XmlnscParser(tree::TreeContext& context, tree::DomainRoot* root,
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

tree::BodyParser* XmlnscParser::clone_for(tree::TreeContext& context, tree::DomainRoot* target) {
  std::string_view utf8 = utf8_;
  // Converted text lives in the arena of its own message only.
  if (&context != &context_ && utf8_.data() != bytes_.data()) utf8 = context.arena.copy(utf8_);
  return context.arena.make<XmlnscParser>(context, target, bytes_, utf8, options_);
}

Status XmlnscParser::repeat_error() const { return has_error_ ? tokens_.error() : Status(); }

void XmlnscParser::parse_child(Element* e, Element* after) { run(e, after, false); }
void XmlnscParser::parse_all(Element* e) { run(e, nullptr, true); }

bool XmlnscParser::is_satisfied(Element* target, Element* after, bool is_all) {
  if (!target->is_open()) return true;
  if (is_all) return false;
  if (after ? !after->next : !target->first) return false;
  // What is visible must be known to be a leaf or a folder.
  return tokens_.open().empty() || !(tokens_.open().back().bits & kUndetermined);
}

void XmlnscParser::run(Element* target, Element* after, bool is_all) {
  while (!is_satisfied(target, after, is_all)) {
    if (tokens_.depth() && tokens_.is_plain() && options_.opaque_elements.empty() &&
        run_plain(target, is_all)) {
      continue;
    }
    if (is_satisfied(target, after, is_all)) return;
    if (!step()) break;
  }
  // After the end nothing is open, however an element got here.
  if (!root_->is_open()) target->clear_flag(tree::kFlagOpen);
}

inline Element* XmlnscParser::new_element(Element* parent, const base::QName* name,
                                          tree::FieldType type) {
  if (__builtin_expect(slab_ == slab_end_, 0)) {
    slab_ = static_cast<Element*>(
        context_.arena.allocate(kSlabElements * sizeof(Element), alignof(Element)));
    slab_end_ = slab_ + kSlabElements;
  }
  Element* e = slab_++;
  Element* last = parent->last;
  e->parent = parent;
  e->first = nullptr;
  e->last = nullptr;
  e->prev = last;
  e->next = nullptr;
  e->name = name;
  e->type = type;
  e->stamp = 0;
  e->scalar = Value();
  (last ? last->next : parent->first) = e;
  parent->last = e;
  return e;
}

// Elements without attributes, leaves with plain ASCII text, matching end tags and white space
// between them, as long as all of it is well-formed at first sight. Anything else stops the loop
// with nothing consumed, and the tokenizer judges it. False: the first thing here is not plain.
bool XmlnscParser::run_plain(Element* target, bool is_all) {
  const char* p = tokens_.pos();
  const char* const start = p;
  const char* const end = tokens_.end();
  auto& open = tokens_.open();
  XmlNameCache& cache = XmlNameCache::of_thread();
  Element* parent = static_cast<Element*>(open.back().user);
  if (open.back().bits & kUndetermined) return false;
  const uint32_t depth_max = options_.depth_max;
  const bool keeps_mixed = options_.retain_mixed_content;

  for (;;) {
    if (p < end && is_low(*p) && !keeps_mixed) p = scan::skip_space(p, end);
    if (end - p < kRoom || *p != '<') break;
    if (p[1] == '/') {
      const XmlOpenTag& tag = open.back();
      if (end - p < kRoom + static_cast<ptrdiff_t>(tag.size)) break;
      if (!scan::same_bytes(p + 2, tag.name, tag.size, true) || p[2 + tag.size] != '>') break;
      p += 3 + tag.size;
      parent->clear_flag(tree::kFlagOpen);
      namespaces_.leave(open.size());
      open.pop();
      bool is_target = parent == target;
      if (is_target || open.empty()) break;
      parent = static_cast<Element*>(open.back().user);
      continue;
    }
    const char* name = p + 1;
    const char* after_name = scan::name_end(name, end);
    auto size = static_cast<uint32_t>(after_name - name);
    if (end - after_name < kRoom || *after_name != '>') break;
    const base::QName* qname = namespaces_.cached(cache, name, size, true);
    if (!qname) break;
    const char* text = after_name + 1;
    const char* stop = is_low(*text) ? scan::skip_space(text, end) : scan::text_stop(text, end);
    if (end - stop < kRoom + static_cast<ptrdiff_t>(size) || *stop != '<') break;
    if (stop[1] == '/') {
      if (is_low(*text)) break;  // only white space: line ends may need care
      if (!scan::same_bytes(stop + 2, name, size, true) || stop[2 + size] != '>') break;
      Element* e = new_element(parent, qname, tree::xmlnsc::kField);
      e->scalar = Value::make_character({text, static_cast<size_t>(stop - text)});
      p = stop + 3 + size;
    } else {
      // A folder; text before its first child is rare and dropped elsewhere.
      if (!is_name_start_byte(stop[1]) || (stop != text && (keeps_mixed || !is_low(*text)))) break;
      if (open.size() >= depth_max) break;
      Element* e = new_element(parent, qname, tree::xmlnsc::kFolder);
      e->set_flag(tree::kFlagOpen);
      open.push(context_.arena, {name, size, 0, e, 0, kHasElements});
      p = stop;
      if (parent == target && !is_all) break;
      parent = e;
      continue;
    }
    if (parent == target && !is_all) break;
  }
  tokens_.set_pos(p);
  return p != start;
}

Element* XmlnscParser::top() {
  return tokens_.open().empty() ? root_ : static_cast<Element*>(tokens_.open().back().user);
}

// One token of any kind. False: the parse is over.
bool XmlnscParser::step() {
  // The tokenizer pops an element before it reports its end.
  XmlOpenTag tag{};
  if (tokens_.depth()) tag = tokens_.open().back();
  XmlEvent event = tokens_.next();
  switch (event) {
    case XmlEvent::kStartTag:
      if (start_element()) return true;
      tokens_.next();  // reports what failed
      give_up();
      return false;
    case XmlEvent::kEndTag:
      end_element(static_cast<Element*>(tag.user), tag.bits);
      return true;
    case XmlEvent::kText:
      if (tokens_.depth()) add_text(tokens_.text(), false);
      return true;
    case XmlEvent::kCData:
      add_text(tokens_.text(), true);
      return true;
    case XmlEvent::kXmlDecl:
      add_declaration();
      return true;
    case XmlEvent::kDoctype:
      if (options_.retain_document_type) add_doctype();
      return true;
    case XmlEvent::kComment:
      if (options_.retain_comments) add_node(tree::xmlnsc::kComment, "", tokens_.text());
      return true;
    case XmlEvent::kPi:
      if (options_.retain_processing_instructions) {
        add_node(tree::xmlnsc::kProcessingInstruction, tokens_.name(), tokens_.text());
      }
      return true;
    case XmlEvent::kEnd:
      root_->clear_flag(tree::kFlagOpen);
      return false;
    case XmlEvent::kError:
      break;
  }
  give_up();
  return false;
}

// Keeps the first error and closes everything, so that no navigation comes back.
void XmlnscParser::give_up() {
  has_error_ = true;
  if (context_.parse_error.ok()) context_.parse_error = tokens_.error();
  for (XmlOpenTag& tag : tokens_.open()) {
    if (tag.user) static_cast<Element*>(tag.user)->clear_flag(tree::kFlagOpen);
  }
  root_->clear_flag(tree::kFlagOpen);
}

bool XmlnscParser::start_element() {
  auto& open = tokens_.open();
  XmlOpenTag& tag = open.back();
  Element* parent = root_;
  if (open.size() > 1) {
    XmlOpenTag& outer = open[open.size() - 2];
    parent = static_cast<Element*>(outer.user);
    if (text_.is_any() && options_.retain_mixed_content) flush_mixed(parent);
    outer.bits = (outer.bits & ~kUndetermined) | kHasElements;
    parent->type = tree::xmlnsc::kFolder;
  }
  clear_text();
  const auto& attributes = tokens_.attributes();
  bool declares = false;
  for (const format::XmlAttribute& a : attributes) {
    if (!XmlNamespaces::is_declaration(a.name)) continue;
    if (!declares) namespaces_.enter(open.size());
    declares = true;
    if (!namespaces_.declare(a.name, a.value)) {
      tokens_.fail(namespaces_.reason(), a.name.data());
      return false;
    }
  }
  const base::QName* name = namespaces_.element_name({tag.name, tag.size});
  if (!name) {
    tokens_.fail(namespaces_.reason(), tag.name);
    return false;
  }
  Element* e = new_element(parent, name, tree::xmlnsc::kFolder);
  e->set_flag(tree::kFlagOpen);
  tag.user = e;
  tag.bits = kUndetermined;
  if (!attributes.empty() && !add_attributes(e, open.size())) return false;
  if (!options_.opaque_elements.empty() && tokens_.is_plain() && is_opaque(e->local_name())) {
    return capture_opaque(e);
  }
  look_ahead();
  return true;
}

bool XmlnscParser::add_attributes(Element* e, uint32_t) {
  bool has_prefixed = false;
  for (const format::XmlAttribute& a : tokens_.attributes()) {
    const base::QName* name;
    tree::FieldType type;
    if (XmlNamespaces::is_declaration(a.name)) {
      name = namespaces_.declaration_name(a.name);
      type = a.quote == '"' ? tree::xmlnsc::kNamespaceDecl : tree::xmlnsc::kSingleNamespaceDecl;
    } else {
      name = namespaces_.attribute_name(a.name);
      if (!name) {
        tokens_.fail(namespaces_.reason(), a.name.data());
        return false;
      }
      has_prefixed = has_prefixed || name->ns->size != 0;
      type = a.quote == '"' ? tree::xmlnsc::kAttribute : tree::xmlnsc::kSingleAttribute;
    }
    Element* child = new_element(e, name, type);
    child->scalar = Value::make_character(a.value);
  }
  return !has_prefixed || tokens_.attributes().size() < 2 || check_unique_names(e);
}

// Two prefixes may mean the same namespace.
bool XmlnscParser::check_unique_names(Element* e) {
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

// opaque_elements: local names, perhaps written //name, separated by blanks.
bool XmlnscParser::is_opaque(std::string_view local) const {
  std::string_view list = options_.opaque_elements;
  while (!list.empty()) {
    size_t size = std::min(list.find(' '), list.size());
    std::string_view one = list.substr(0, size);
    list.remove_prefix(std::min(size + 1, list.size()));
    one = one.substr(std::min(one.find_last_of('/') + 1, one.size()));
    if (size_t colon = one.find(':'); colon != std::string_view::npos) one = one.substr(colon + 1);
    if (!one.empty() && one == local) return true;
  }
  return false;
}

// Passes over the content of the element just opened, which is still checked for well-formedness,
// and keeps it as text, its end tag included.
bool XmlnscParser::capture_opaque(Element* e) {
  uint32_t depth = tokens_.depth();
  const char* from = tokens_.pos();
  tokens_.open().back().bits = kHasElements;
  for (;;) {
    XmlEvent event = tokens_.next();
    if (event == XmlEvent::kError) return false;
    if (event == XmlEvent::kEndTag && tokens_.depth() < depth) break;
  }
  Element* child = new_element(e, context_.names.empty_qname(), tree::xmlnsc::kAsisElementContent);
  size_t size = static_cast<size_t>(std::max(tokens_.event_start(), from) - from);
  child->scalar = Value::make_character({from, size});
  e->clear_flag(tree::kFlagOpen);
  namespaces_.leave(depth);
  return true;
}

// Determines a folder without taking its first child, so that navigation can stop before it.
void XmlnscParser::look_ahead() {
  if (!tokens_.is_plain()) return;
  const char* p = scan::skip_space(tokens_.pos(), tokens_.end());
  if (tokens_.end() - p < 2 || *p != '<' || !is_name_start_byte(p[1])) return;
  XmlOpenTag& tag = tokens_.open().back();
  tag.bits = kHasElements;
}

void XmlnscParser::end_element(Element* e, uint32_t bits) {
  if (!(bits & kHasElements)) {
    leaf_value(e);
  } else if (text_.is_any() && options_.retain_mixed_content) {
    flush_mixed(e);
  }
  clear_text();
  e->clear_flag(tree::kFlagOpen);
  namespaces_.leave(tokens_.depth() + 1);
}

void XmlnscParser::leaf_value(Element* e) {
  uint16_t flags = e->flags();
  std::string_view text = text_.is_copied ? text_.copy.view() : text_.view;
  bool is_nil = false;
  if (text.empty() && !text_.has_cdata) {
    for (Element* a = e->first; a; a = a->next) {
      bool says_true = a->scalar.text() == "true" || a->scalar.text() == "1";
      is_nil = is_nil ||
               (says_true && a->local_name() == "nil" && a->namespace_uri() == common::kXsiUri);
    }
    text = std::string_view("", 0);
  }
  e->type = tree::xmlnsc::kField;
  if (text_.has_cdata) {
    e->type = text_.has_text ? tree::xmlnsc::kHybridField : tree::xmlnsc::kCDataField;
  }
  e->scalar = is_nil ? Value() : Value::make_character(text);
  e->scalar.spare = flags;
}

void XmlnscParser::add_text(std::string_view text, bool is_cdata) {
  XmlOpenTag& tag = tokens_.open().back();
  if ((tag.bits & kHasElements) && !options_.retain_mixed_content) return;
  bool is_first = !text_.is_any();
  (is_cdata ? text_.has_cdata : text_.has_text) = true;
  if (is_first) {
    text_.view = text;
    return;
  }
  if (!text_.is_copied) {
    text_.is_copied = true;
    text_.copy.append(context_.arena, text_.view);
  }
  text_.copy.append(context_.arena, text);
}

// The text so far becomes a Value child of `parent`.
void XmlnscParser::flush_mixed(Element* parent) {
  std::string_view text = text_.is_copied ? text_.copy.view() : text_.view;
  tree::FieldType type = tree::xmlnsc::kPCDataValue;
  if (text_.has_cdata) {
    type = text_.has_text ? tree::xmlnsc::kHybridValue : tree::xmlnsc::kCDataValue;
  }
  if (!text.empty()) {
    new_element(parent, context_.names.empty_qname(), type)->scalar = Value::make_character(text);
  }
  clear_text();
}

void XmlnscParser::add_declaration() {
  base::NameScope& names = context_.names;
  Element* e = new_element(root_, names.qname("XmlDeclaration"), tree::xmlnsc::kXmlDeclaration);
  auto add = [&](std::string_view name, std::string_view text) {
    if (text.empty()) return;
    new_element(e, names.qname(name), tree::xmlnsc::kAttribute)->scalar =
        Value::make_character(text);
  };
  add("Version", tokens_.version());
  add("Encoding", tokens_.encoding());
  add("Standalone", tokens_.standalone());
}

void XmlnscParser::add_doctype() {
  const format::XmlDoctype& d = tokens_.doctype();
  Element* e = new_element(root_, context_.names.qname(d.name), tree::xmlnsc::kDocumentType);
  e->scalar = Value::make_character(d.text);
}

void XmlnscParser::add_node(tree::FieldType type, std::string_view name, std::string_view text) {
  base::NameScope& names = context_.names;
  if (text_.is_any() && (tokens_.open().back().bits & kHasElements)) flush_mixed(top());
  Element* e = new_element(top(), name.empty() ? names.empty_qname() : names.qname(name), type);
  if (text.empty()) text = std::string_view("", 0);
  e->scalar = Value::make_character(text);
}

}  // namespace millstream::parsers::xmlnsc
