#include "parsers/xmlnsc/xmlnsc_parser.h"

#include <algorithm>

#include "format/xml_chars.h"
#include "format/xml_scan.h"

namespace millstream::parsers::xmlnsc {
namespace {

namespace scan = format::xml_scan;
using common::XmlNameCache;
using format::XmlEvent;
using format::XmlOpenTag;
using tree::Element;
using value::Value;

// The fast loop works only where this many bytes follow, so that none of its steps looks behind the
// end; the general path does the rest. Room for a tag with a short name and 16 bytes of text.
constexpr ptrdiff_t kRoom = 48;
// What must follow a leaf's text: its end tag, and room for the next round.
constexpr ptrdiff_t kRoomAfterText = kRoom + 32;
// Elements made beyond what a navigation asked for: coming back for each one costs a third of the
// parse. Nothing but plain text is read ahead, so an error is still found when it is reached.
constexpr uint64_t kReadAheadElements = 32;
constexpr common::XmlAttributeTypes kXmlnscAttributeTypes{
    tree::xmlnsc::kAttribute, tree::xmlnsc::kSingleAttribute, tree::xmlnsc::kNamespaceDecl,
    tree::xmlnsc::kSingleNamespaceDecl};

bool is_name_start_byte(char c) { return (format::kXmlNameByte[static_cast<uint8_t>(c)] & 6) != 0; }
bool is_low(char c) { return static_cast<uint8_t>(c) <= ' '; }

using NameEntry = XmlNameCache::Entry;

// The name of the start tag at `name` when it is not the expected one, or long. Null: the tokenizer
// must judge what stands there.
const NameEntry* other_name(common::XmlNamespaces& namespaces, XmlNameCache& cache,
                            common::XmlNameOrder& order, const char* name, const char* end) {
  const char* after = scan::name_end(name, end);
  if (end - after < kRoom || *after != '>') return nullptr;
  const auto size = static_cast<uint32_t>(after - name);
  const NameEntry& expected = order.expected();
  if (size > XmlNameCache::kShortBytes && expected.size == size &&
      namespaces.cached(expected, name, size)) {
    order.confirm();
    return &expected;
  }
  const uint32_t slot = XmlNameCache::slot_of(name, size, true, 0);
  if (__builtin_expect(!namespaces.cached(cache.entries[slot], name, size), 0)) {
    // Seen for the first time in this scope.
    if (!format::is_xml_name({name, size}) || !namespaces.element_name({name, size})) {
      return nullptr;
    }
  }
  order.correct(slot);
  return &cache.entries[slot];
}

// The '<' that ends the text at `text`, all of which needs no change. `end`: the tokenizer must
// judge it.
const char* other_text_stop(const char* text, const char* stop, const char* end) {
  if (stop == text && is_low(*text)) {
    stop = scan::skip_space(text, end);
    if (std::memchr(text, '\r', static_cast<size_t>(stop - text))) return end;
    if (stop < end && *stop == '<') return stop;
  }
  stop = format::XmlTokenizer::plain_text_end(stop, end);
  return stop ? stop : end;
}

inline bool has_end_tag(const NameEntry& entry, const char* stop, const char* last) {
  if (__builtin_expect(entry.is_tag_at(stop + 2), 1)) return true;
  return last - stop >= static_cast<ptrdiff_t>(entry.size) + 3 && entry.is_long_tag_at(stop + 2);
}

}  // namespace

tree::BodyParser* XmlnscParser::clone_for(tree::TreeContext& context, tree::DomainRoot* target) {
  return context.arena.make<XmlnscParser>(context, target, bytes_, text_for(context), options_);
}

// The end tag at `*p`, when it is that of `parent`.
inline bool XmlnscParser::take_end_tag(const char** p, const char* last, Element* parent) {
  auto& open = tokens_.open();
  const XmlOpenTag& tag = open.back();
  if (last - *p < static_cast<ptrdiff_t>(tag.size)) return false;
  if (!scan::same_bytes(*p + 2, tag.name, tag.size, true) || (*p)[2 + tag.size] != '>')
    return false;
  *p += 3 + tag.size;
  parent->clear_flag(tree::kFlagOpen);
  namespaces_.leave(open.size());
  open.pop();
  return true;
}

inline Element* XmlnscParser::open_folder(Element* parent, const base::QName* name,
                                          std::string_view raw) {
  Element* e = new_element(parent, name, tree::xmlnsc::kFolder);
  e->set_flag(tree::kFlagOpen);
  tokens_.open().push(context_.arena,
                      {raw.data(), static_cast<uint32_t>(raw.size()), 0, e, 0, kHasElements});
  return e;
}

// Elements without attributes, leaves with plain ASCII text, matching end tags and white space
// between them, as long as all of it is well-formed at first sight. Anything else stops the loop
// with nothing consumed, and the tokenizer judges it. False: the first thing here is not plain.
bool XmlnscParser::run_plain(Element* target, bool is_all) {
  auto& open = tokens_.open();
  Element* parent = static_cast<Element*>(open.back().user);
  if ((open.back().bits & kUndetermined) || !options_.opaque_elements.empty()) return false;
  const bool keeps_mixed = options_.retain_mixed_content;
  if (keeps_mixed && text_.is_any()) return false;  // it belongs before the next tag
  const char* p = tokens_.pos();
  const char* const start = p;
  const char* const end = tokens_.end();
  if (end - p < kRoomAfterText) return false;
  const char* const last = end - kRoom;
  const char* const last_text = end - kRoomAfterText;
  XmlNameCache& cache = XmlNameCache::of_thread();
  common::XmlNameOrder order(cache);
  // How many elements more may be made: unlimited until the navigation is satisfied. It is by the
  // first child of `target` that is complete, or by the end of `target`.
  uint64_t left = UINT64_MAX;
  auto limit = [&](uint64_t count) { left = std::min(left, is_all ? UINT64_MAX : count); };
  if (parent == target) limit(kReadAheadElements + 1);

  for (;;) {  // p <= last
    if (is_low(*p)) {
      if (keeps_mixed) break;
      p = scan::skip_space(p, end);
      if (p > last) break;
    }
    if (*p != '<') break;
    if (p[1] == '/') {
      if (!take_end_tag(&p, last, parent)) break;
      if (open.empty() || (parent == target && is_all)) break;
      if (parent == target) limit(kReadAheadElements);
      parent = static_cast<Element*>(open.back().user);
      if (parent == target) limit(kReadAheadElements + 1);
      if (p > last) break;
      continue;
    }
    const char* const name = p + 1;
    const NameEntry* entry = &order.expected();
    if (__builtin_expect(entry->scope == namespaces_.scope() && entry->is_tag_at(name), 1)) {
      order.confirm();
    } else {
      entry = other_name(namespaces_, cache, order, name, end);
      if (!entry) break;
    }
    const uint32_t size = entry->size;
    const char* const text = name + size + 1;
    const char* stop = scan::text_stop_roomy(text, end);
    if (__builtin_expect(stop <= last_text && *stop != '<', 0)) {
      stop = other_text_stop(text, stop, end);
    }
    if (__builtin_expect(stop > last_text, 0)) break;
    if (stop[1] == '/') {
      if (!has_end_tag(*entry, stop, last)) break;
      new_text_element(parent, entry->qname, tree::xmlnsc::kField, text,
                       static_cast<size_t>(stop - text));
      p = stop + 3 + size;
    } else {
      // Text before the first child of a folder is rare and dropped elsewhere.
      if (!is_name_start_byte(stop[1]) || (stop != text && (keeps_mixed || !is_low(*text)))) break;
      if (open.size() >= options_.depth_max) break;
      Element* e = open_folder(parent, entry->qname, {name, size});
      p = stop;
      parent = e;
      if (parent == target) limit(kReadAheadElements + 1);
    }
    if (__builtin_expect(--left == 0, 0)) break;
  }
  tokens_.set_pos(p);
  return p != start;
}

// One token of any kind. False: the parse is over.
bool XmlnscParser::step() {
  // The tokenizer pops an element before it reports its end.
  XmlOpenTag tag{};
  if (tokens_.depth()) tag = tokens_.open().back();
  XmlEvent event = tokens_.next();
  switch (event) {
    case XmlEvent::kStartTag:
      return start_element() || give_up();
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
      return finish();
    case XmlEvent::kError:
      break;
  }
  return give_up();
}

bool XmlnscParser::start_element() {
  Element* parent = open_parent();
  if (parent != root_) {
    if (text_.is_any() && options_.retain_mixed_content) flush_mixed(parent);
    parent->type = tree::xmlnsc::kFolder;
  }
  clear_text();
  Element* e = open_element(parent, tree::xmlnsc::kFolder, kXmlnscAttributeTypes);
  if (!e) return false;
  if (!options_.opaque_elements.empty() && tokens_.is_plain() && is_opaque(e->local_name())) {
    return capture_opaque(e);
  }
  if (!finish_leaf(e)) look_ahead();
  return true;
}

// Text that needs no change and the end tag, taken at once: the usual content of an element with
// attributes. False: nothing was consumed.
bool XmlnscParser::finish_leaf(Element* e) {
  if (!tokens_.is_plain()) return false;
  auto& open = tokens_.open();
  const XmlOpenTag& tag = open.back();
  const char* p = tokens_.pos();
  const char* end = tokens_.end();
  const char* stop = format::XmlTokenizer::plain_text_end(p, end);
  if (!stop || end - stop < kRoom + static_cast<ptrdiff_t>(tag.size) || stop[1] != '/' ||
      !scan::same_bytes(stop + 2, tag.name, tag.size, true) || stop[2 + tag.size] != '>') {
    return false;
  }
  text_.view = {p, static_cast<size_t>(stop - p)};
  text_.has_text = stop != p;
  tokens_.set_pos(stop + 3 + tag.size);
  open.pop();
  end_element(e, 0);
  return true;
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
    text = std::string_view("");
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
  if (text.empty()) text = std::string_view("");
  e->scalar = Value::make_character(text);
}

}  // namespace millstream::parsers::xmlnsc
