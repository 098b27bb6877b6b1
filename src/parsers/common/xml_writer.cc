#include "parsers/common/xml_writer.h"

#include <algorithm>
#include <cstring>

#include "format/xml_chars.h"
#include "parsers/common/errors_gen.h"
#include "parsers/common/xml_namespaces.h"
#include "parsers/common/xml_value.h"

namespace millstream::parsers::common {
namespace {

using tree::Element;
using value::Kind;
using value::Value;

bool is_attribute_like(XmlNode k) {
  return k == XmlNode::kAttribute || k == XmlNode::kSingleAttribute || k == XmlNode::kNamespace ||
         k == XmlNode::kSingleNamespace;
}
bool is_declaration_node(XmlNode k) {
  return k == XmlNode::kNamespace || k == XmlNode::kSingleNamespace;
}
bool is_element_node(XmlNode k) { return k == XmlNode::kElement || k == XmlNode::kCDataElement; }

// The prefix that a declaration binds: {xmlns URI}p, or p, xmlns:p and xmlns in no namespace.
std::string_view declared_prefix(Element* e) {
  std::string_view local = e->local_name();
  if (e->namespace_uri() == kXmlnsUri) return local == "xmlns" ? std::string_view() : local;
  if (local == "xmlns") return {};
  if (local.starts_with("xmlns:")) return local.substr(6);
  return local;
}

Status illegal_character(Element* e, std::string_view text, size_t at) {
  char32_t c = 0;
  format::xml_decode(text.data() + at, text.data() + text.size(), &c);
  char hex[16];
  std::snprintf(hex, sizeof(hex), "U+%04X", static_cast<unsigned>(c));
  return base::make_error(errors::kIllegalCharacter, {e->local_name(), hex});
}

}  // namespace

Status XmlTreeWriter::write_document(Element* root) {
  size_t elements = 0;
  tree::complete(root);
  for (Element* c = root->first; c; c = c->next) {
    XmlNode kind = dialect_.classify(c->type);
    if (is_element_node(kind)) ++elements;
    if (kind == XmlNode::kDeclaration) MS_TRY(write_declaration(c));
  }
  if (context_.has_parse_error()) return context_.take_parse_error();
  if (elements != 1) {
    return base::make_error(errors::kRootCount, {root->local_name(), elements});
  }
  for (Element* c = root->first; c; c = c->next) {
    XmlNode kind = dialect_.classify(c->type);
    switch (kind) {
      case XmlNode::kElement:
      case XmlNode::kCDataElement:
        MS_TRY(write_element(c));
        break;
      case XmlNode::kDeclaration:
      case XmlNode::kSkipped:
        break;
      case XmlNode::kText:
      case XmlNode::kCData:
        if (c->scalar.kind != Kind::kNull && !format::is_all_xml_space(c->scalar.text())) {
          return base::make_error(errors::kMisplacedNode, {"text"});
        }
        if (kind == XmlNode::kText) out_ += c->scalar.text();
        break;
      case XmlNode::kAttribute:
      case XmlNode::kSingleAttribute:
      case XmlNode::kNamespace:
      case XmlNode::kSingleNamespace:
        return base::make_error(errors::kMisplacedNode, {"attribute"});
      default:
        MS_TRY(write_node(c, kind));
    }
  }
  return {};
}

Status XmlTreeWriter::write_element(Element* top) {
  MS_TRY(begin(top));
  while (!open_.empty()) {
    Open& o = open_.back();
    Element* c = o.child;
    if (!c) {
      if (context_.has_parse_error()) return context_.take_parse_error();
      end(o);
      pop_bindings(o.bindings);
      open_.pop();
      continue;
    }
    o.child = tree::next_sibling(c);
    XmlNode kind = dialect_.classify(c->type);
    if (is_attribute_like(kind)) continue;
    if (kind == XmlNode::kElement && try_leaf(c)) continue;
    if (is_element_node(kind)) {
      MS_TRY(begin(c));
    } else {
      MS_TRY(write_node(c, kind));
    }
  }
  if (context_.has_parse_error()) return context_.take_parse_error();
  return {};
}

// Most of a message: a field of no namespace with plain text, a name that was checked before, and
// no declaration in sight. False: nothing was written.
bool XmlTreeWriter::try_leaf(Element* e) {
  const base::Name* name = e->name->local;
  const std::string_view text = e->scalar.text();
  if (e->first || e->is_open() || e->scalar.kind != Kind::kCharacter || text.empty() ||
      e->name->ns->size != 0 || !bindings_.empty() || dialect_.has_text_children ||
      checked_[name->hash % checked_.size()] != name || !is_plain_xml_text(text)) {
    return false;
  }
  const size_t at = out_.size();
  out_.resize(at + 2 * name->size + text.size() + 5);
  char* p = out_.data() + at;
  auto put = [&p](const char* from, size_t size) {
    std::memcpy(p, from, size);
    p += size;
  };
  *p++ = '<';
  put(name->data, name->size);
  *p++ = '>';
  put(text.data(), text.size());
  *p++ = '<';
  *p++ = '/';
  put(name->data, name->size);
  *p = '>';
  return true;
}

// The start tag and the value; pushes the element when it has children to write.
Status XmlTreeWriter::begin(Element* e) {
  Open o{e, nullptr, {}, bindings_.size()};
  bool has_attributes = false, has_content = false;
  if (tree::first_child(e)) {
    MS_TRY(collect_declarations(e, &has_attributes, &has_content));
    o.child = e->first;
  }
  MS_TRY(check_name(e->name->local));
  MS_TRY(prefix_for(e->name, false, &o.prefix));
  out_ += '<';
  write_name(o.prefix, e->name);
  if (has_attributes) MS_TRY(write_attributes(e));
  for (uint32_t i = o.bindings; i < bindings_.size(); ++i) {
    const Binding& b = bindings_[i];
    if (b.is_written) continue;
    out_ += b.prefix.empty() ? " xmlns" : " xmlns:";
    out_ += b.prefix;
    out_ += "=\"";
    append_xml_escaped(b.uri->view(), XmlContext::kDoubleQuotes, out_);
    out_ += '"';
  }
  bool replaces_children = false;
  const Value* text = own_text(e, &replaces_children);
  bool is_cdata = dialect_.classify(e->type) == XmlNode::kCDataElement;
  bool has_text =
      text && !text->is_null() && (is_cdata || text->kind != Kind::kCharacter || text->size != 0);
  if (!has_text && !has_content) {
    out_ += "/>";
    pop_bindings(o.bindings);
    return {};
  }
  out_ += '>';
  if (has_text) MS_TRY(write_text(e, is_cdata));
  if (replaces_children) {
    while (o.child && (dialect_.classify(o.child->type) == XmlNode::kText ||
                       dialect_.classify(o.child->type) == XmlNode::kCData ||
                       is_attribute_like(dialect_.classify(o.child->type)))) {
      o.child = o.child->next;
    }
  }
  if (!has_content) o.child = nullptr;
  if (!o.child) {
    end(o);
    pop_bindings(o.bindings);
    return {};
  }
  open_.push(context_.arena, o);
  return {};
}

void XmlTreeWriter::end(const Open& o) {
  out_ += "</";
  write_name(o.prefix, o.element->name);
  out_ += '>';
}

void XmlTreeWriter::write_name(std::string_view prefix, const base::QName* name) {
  if (!prefix.empty()) {
    out_ += prefix;
    out_ += ':';
  }
  out_.append(name->local->data, name->local->size);
}

// The value an element writes itself. In a dialect with text children the value and the children
// say the same as long as nobody changed one of them; the newer wins: a value that differs from
// unchanged children replaces them, else the children are written.
const Value* XmlTreeWriter::own_text(Element* e, bool* replaces_children) {
  const Value& own = e->scalar;
  if (!dialect_.has_text_children) return &own;
  if (own.is_null()) return nullptr;
  bool has_text_child = false;
  std::string joined;
  for (Element* c = e->first; c; c = c->next) {
    XmlNode kind = dialect_.classify(c->type);
    if (kind != XmlNode::kText && kind != XmlNode::kCData) continue;
    has_text_child = true;
    if (c->has_flag(tree::kFlagModified)) return nullptr;
    append_xml_value(c->scalar, joined);
  }
  if (!has_text_child) return &own;
  std::string text;
  append_xml_value(own, text);
  if (text == joined) return nullptr;
  *replaces_children = true;
  return &own;
}

Status XmlTreeWriter::collect_declarations(Element* e, bool* has_attributes, bool* has_content) {
  tree::complete(e);
  uint32_t first = bindings_.size();
  uint32_t attributes = 0;
  for (Element* c = e->first; c; c = c->next) {
    XmlNode kind = dialect_.classify(c->type);
    if (!is_attribute_like(kind)) {
      *has_content = *has_content || kind != XmlNode::kSkipped;
      continue;
    }
    *has_attributes = true;
    ++attributes;
    if (!is_declaration_node(kind)) continue;
    std::string uri;
    append_xml_value(tree::scalar_value(c), uri);
    std::string_view prefix = declared_prefix(c);
    for (uint32_t i = first; i < bindings_.size(); ++i) {
      if (bindings_[i].prefix != prefix) continue;
      return base::make_error(errors::kDuplicateAttribute, {e->local_name(), c->local_name()});
    }
    bool is_inactive = prefix.empty() && !uri.empty() && e->name->ns->size == 0;
    push_binding(prefix, context_.names.intern(uri), true, is_inactive);
  }
  if (attributes > 1) return check_unique(e);
  return {};
}

Status XmlTreeWriter::check_unique(Element* e) {
  std::vector<const base::QName*> names;
  for (Element* c = e->first; c; c = c->next) {
    XmlNode kind = dialect_.classify(c->type);
    if (is_attribute_like(kind) && !is_declaration_node(kind)) names.push_back(c->name);
  }
  std::sort(names.begin(), names.end());
  auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return {};
  return base::make_error(errors::kDuplicateAttribute, {e->local_name(), (*twice)->local->view()});
}

Status XmlTreeWriter::write_attributes(Element* e) {
  for (Element* c = e->first; c; c = c->next) {
    XmlNode kind = dialect_.classify(c->type);
    if (!is_attribute_like(kind)) continue;
    bool is_single = kind == XmlNode::kSingleAttribute || kind == XmlNode::kSingleNamespace;
    if (is_declaration_node(kind)) {
      std::string_view prefix = declared_prefix(c);
      if (!prefix.empty() && !format::is_xml_ncname(prefix)) {
        return base::make_error(errors::kIllegalName, {prefix});
      }
      out_ += prefix.empty() ? " xmlns" : " xmlns:";
      out_ += prefix;
    } else {
      MS_TRY(check_name(c->name->local));
      std::string_view prefix;
      MS_TRY(prefix_for(c->name, true, &prefix));
      out_ += ' ';
      write_name(prefix, c->name);
    }
    out_ += is_single ? "='" : "=\"";
    Value v = tree::scalar_value(c);
    std::string text;
    std::string_view view = v.text();
    if (v.kind != Kind::kCharacter) {
      append_xml_value(v, text);
      view = text;
    }
    size_t bad = append_xml_escaped(
        view, is_single ? XmlContext::kSingleQuotes : XmlContext::kDoubleQuotes, out_);
    if (bad != std::string_view::npos) return illegal_character(c, view, bad);
    out_ += is_single ? '\'' : '"';
  }
  return {};
}

// Hiding is kept up to date here, so that finding a prefix stays linear in the declarations.
void XmlTreeWriter::push_binding(std::string_view prefix, const base::Name* uri, bool is_written,
                                 bool is_inactive) {
  int32_t hides = -1;
  for (uint32_t i = bindings_.size(); i-- > 0;) {
    if (bindings_[i].prefix != prefix) continue;
    hides = static_cast<int32_t>(i);
    bindings_[i].is_hidden = true;
    break;
  }
  bindings_.push(context_.arena, {prefix, uri, is_written, is_inactive, false, hides});
}

void XmlTreeWriter::pop_bindings(uint32_t size) {
  while (bindings_.size() > size) {
    int32_t hides = bindings_.back().hides;
    if (hides >= 0) bindings_[static_cast<size_t>(hides)].is_hidden = false;
    bindings_.pop();
  }
}

Status XmlTreeWriter::prefix_for(const base::QName* name, bool is_attribute,
                                 std::string_view* prefix) {
  *prefix = {};
  const base::Name* uri = name->ns;
  if (uri->size == 0) {
    if (is_attribute) return {};
    for (uint32_t i = bindings_.size(); i-- > 0;) {
      if (!bindings_[i].prefix.empty()) continue;
      if (bindings_[i].uri->size != 0 && !bindings_[i].is_inactive) {
        push_binding({}, context_.names.empty(), false, false);
      }
      return {};
    }
    return {};
  }
  // Declarations of the tree before generated ones, inner before outer.
  const Binding* found = nullptr;
  for (uint32_t i = bindings_.size(); i-- > 0 && !(found && found->is_written);) {
    const Binding& b = bindings_[i];
    if (b.uri != uri || (is_attribute && b.prefix.empty()) || b.is_hidden) continue;
    if (!found || b.is_written) found = &b;
  }
  if (found) {
    *prefix = found->prefix;
    return {};
  }
  if (uri->view() == kXmlUri) {
    *prefix = "xml";
    return {};
  }
  *prefix = generate(uri);
  return {};
}

std::string_view XmlTreeWriter::generate(const base::Name* uri) {
  std::string_view prefix;
  bool is_taken;
  do {
    std::string made = "NS" + std::to_string(++generated_);
    prefix = context_.arena.copy(made);
    is_taken = std::any_of(bindings_.begin(), bindings_.end(),
                           [&](const Binding& b) { return b.prefix == prefix; });
  } while (is_taken);
  push_binding(prefix, uri, false, false);
  return prefix;
}

Status XmlTreeWriter::check_name(const base::Name* name) {
  const base::Name*& slot = checked_[name->hash % checked_.size()];
  if (__builtin_expect(slot == name, 1)) return {};
  if (!format::is_xml_ncname(name->view())) {
    return base::make_error(errors::kIllegalName, {name->view()});
  }
  slot = name;
  return {};
}

Status XmlTreeWriter::write_text(Element* e, bool is_cdata) {
  Value v = tree::scalar_value(e);
  if (v.kind != Kind::kCharacter) {
    if (!is_cdata) {
      append_xml_value(v, out_);  // never needs escaping
      return {};
    }
    out_ += "<![CDATA[";
    append_xml_value(v, out_);
    out_ += "]]>";
    return {};
  }
  std::string_view text = v.text();
  if (!is_cdata) {
    size_t bad = append_xml_escaped(text, XmlContext::kText, out_);
    return bad == std::string_view::npos ? Status() : illegal_character(e, text, bad);
  }
  if (size_t bad = find_illegal_xml(text); bad != std::string_view::npos) {
    return illegal_character(e, text, bad);
  }
  out_ += "<![CDATA[";
  for (size_t at; (at = text.find("]]>")) != std::string_view::npos;) {
    out_.append(text.data(), at + 2);
    out_ += "]]><![CDATA[";
    text.remove_prefix(at + 2);
  }
  out_ += text;
  out_ += "]]>";
  return {};
}

Status XmlTreeWriter::write_node(Element* e, XmlNode kind) {
  std::string text;
  append_xml_value(tree::scalar_value(e), text);
  auto refuse = [&](const char* what, const char* why) {
    return base::make_error(errors::kIllegalMarkup, {what, text, why});
  };
  switch (kind) {
    case XmlNode::kText:
      return write_text(e, false);
    case XmlNode::kCData:
      return write_text(e, true);
    case XmlNode::kComment:
      if (text.find("--") != std::string::npos || text.ends_with('-')) {
        return refuse("comment", "it holds '--' or ends with '-'");
      }
      out_ += "<!--" + text + "-->";
      break;
    case XmlNode::kPi:
      MS_TRY(check_name(e->name->local));
      if (text.find("?>") != std::string::npos) {
        return refuse("processing instruction", "it holds '?>'");
      }
      out_ += "<?";
      out_ += e->local_name();
      if (!text.empty()) out_ += ' ';
      out_ += text + "?>";
      break;
    case XmlNode::kVerbatim: {
      Value v = tree::scalar_value(e);
      bool is_raw = v.kind == Kind::kBlob || v.kind == Kind::kCharacter;
      if (is_raw) {
        out_ += v.text();
      } else {
        out_ += text;
      }
      return {};
    }
    case XmlNode::kEntityReference: {
      std::string_view name = text.empty() ? e->local_name() : std::string_view(text);
      if (!format::is_xml_ncname(name)) return base::make_error(errors::kIllegalName, {name});
      out_ += '&';
      out_ += name;
      out_ += ';';
      return {};
    }
    case XmlNode::kDoctype:
      return write_doctype(e);
    default:
      return {};
  }
  if (size_t bad = find_illegal_xml(text); bad != std::string::npos) {
    return illegal_character(e, text, bad);
  }
  return {};
}

Status XmlTreeWriter::write_declaration(Element* e) {
  std::string version = "1.0", encoding, standalone;
  for (Element* c = tree::first_child(e); c; c = tree::next_sibling(c)) {
    std::string text;
    append_xml_value(tree::scalar_value(c), text);
    std::string_view name = c->local_name();
    auto is = [&](std::string_view a, std::string_view b) { return name == a || name == b; };
    if (is("Version", "version") || c->type == tree::xmlns::kVersion) version = text;
    if (is("Encoding", "encoding") || c->type == tree::xmlns::kEncoding) encoding = text;
    if (is("Standalone", "standalone") || c->type == tree::xmlns::kStandalone) standalone = text;
  }
  for (const std::string* s : {&version, &encoding, &standalone}) {
    if (s->find_first_of("\"<&") == std::string::npos) continue;
    return base::make_error(errors::kIllegalMarkup, {"XML declaration", *s, "it holds '\"'"});
  }
  out_ += "<?xml version=\"" + version + "\"";
  if (!encoding.empty()) out_ += " encoding=\"" + encoding + "\"";
  if (!standalone.empty()) out_ += " standalone=\"" + standalone + "\"";
  out_ += "?>";
  return {};
}

// The value is all that stands between the name and '>'; without one, children say it: SystemId,
// PublicId, IntSubset (by name) and entity definitions.
Status XmlTreeWriter::write_doctype(Element* e) {
  MS_TRY(check_name(e->name->local));
  std::string text;
  append_xml_value(tree::scalar_value(e), text);
  out_ += "<!DOCTYPE ";
  out_ += e->local_name();
  std::string system_id, public_id, subset;
  bool has_system = false;
  for (Element* c = tree::first_child(e); c; c = tree::next_sibling(c)) {
    std::string part;
    append_xml_value(tree::scalar_value(c), part);
    for (Element* inner = tree::first_child(c); inner; inner = tree::next_sibling(inner)) {
      append_xml_value(tree::scalar_value(inner), part);
    }
    if (c->local_name() == "SystemId" || c->type == tree::xmlns::kSystemId) {
      system_id = part;
      has_system = true;
    } else if (c->local_name() == "PublicId" || c->type == tree::xmlns::kPublicId) {
      public_id = part;
    } else if (c->local_name() == "IntSubset" || c->type == tree::xmlns::kIntSubset) {
      subset += part;
    } else {
      MS_TRY(check_name(c->name->local));
      std::string quoted;
      append_xml_escaped(part, XmlContext::kDoubleQuotes, quoted);
      subset += "<!ENTITY " + std::string(c->local_name()) + " \"" + quoted + "\">";
    }
  }
  if (has_system && text.empty()) {  // an identifier cannot hold both kinds of quotes
    char quote = system_id.find('"') == std::string::npos ? '"' : '\'';
    out_ += public_id.empty() ? " SYSTEM " : " PUBLIC \"" + public_id + "\" ";
    out_ += quote + system_id + quote;
  }
  if (!subset.empty() && text.empty()) out_ += " [" + subset + "]";
  if (!text.empty() && !format::is_xml_space(text[0])) out_ += ' ';
  out_ += text + ">";
  return {};
}

}  // namespace millstream::parsers::common
