#include "query/xpath_nodes.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "tree/domain.h"
#include "value/datetime.h"
#include "value/decimal.h"

namespace millstream::query {
namespace {

using tree::Element;
using value::Kind;

XPathNodeKind kind_in_xmlns(uint32_t type) {
  switch (type) {
    case tree::xmlns::kXmlDecl:
    case tree::xmlns::kDocTypeDecl:
    case tree::xmlns::kIntSubset:
    case tree::xmlns::kEntityReferenceStart:
    case tree::xmlns::kEntityReferenceEnd:
    case tree::xmlns::kVersion:
    case tree::xmlns::kEncoding:
    case tree::xmlns::kStandalone:
    case tree::xmlns::kSystemId:
    case tree::xmlns::kPublicId:
      return XPathNodeKind::kNone;
    case tree::xmlns::kAttribute:
      return XPathNodeKind::kAttribute;
    case tree::xmlns::kNamespaceDecl:
      return XPathNodeKind::kNamespace;
    case tree::xmlns::kComment:
      return XPathNodeKind::kComment;
    case tree::xmlns::kProcessingInstruction:
      return XPathNodeKind::kProcessingInstruction;
    default:
      return (type & tree::kTypeClassMask) == tree::kValue ? XPathNodeKind::kText
                                                           : XPathNodeKind::kElement;
  }
}

XPathNodeKind kind_elsewhere(uint32_t type) {
  switch (type) {
    case tree::xmlnsc::kDocumentType:
    case tree::xmlnsc::kXmlDeclaration:
    case tree::xmlnsc::kEntityDefinition:
    case tree::xmlnsc::kEntityReference:
      return XPathNodeKind::kNone;
    case tree::xmlnsc::kAttribute:
    case tree::xmlnsc::kSingleAttribute:
      return XPathNodeKind::kAttribute;
    case tree::xmlnsc::kNamespaceDecl:
    case tree::xmlnsc::kSingleNamespaceDecl:
      return XPathNodeKind::kNamespace;
    case tree::xmlnsc::kComment:
      return XPathNodeKind::kComment;
    case tree::xmlnsc::kProcessingInstruction:
      return XPathNodeKind::kProcessingInstruction;
    default:
      return (type & tree::kTypeClassMask) == tree::kValue ? XPathNodeKind::kText
                                                           : XPathNodeKind::kElement;
  }
}

}  // namespace

XPathNodeKind XPathClassifier::kind_of(Element* e) {
  tree::Element* parent = e->parent;
  if (parent != parent_ || !parent_) {
    // One level down or up within a domain: no need to climb, which deep trees would make dear.
    const bool is_near = parent && parent_ && !parent->has_flag(tree::kFlagDomainRoot) &&
                         !parent_->has_flag(tree::kFlagDomainRoot) &&
                         (parent->parent == parent_ || parent_->parent == parent);
    parent_ = parent;
    if (is_near) return is_xmlns_ ? kind_in_xmlns(e->type) : kind_elsewhere(e->type);
    tree::DomainRoot* root = parent_ ? tree::domain_root_of(parent_) : nullptr;
    is_xmlns_ = root && std::string_view(root->domain->name) == "XMLNS";
  }
  return is_xmlns_ ? kind_in_xmlns(e->type) : kind_elsewhere(e->type);
}

// XMLNS gives an element the value of its first content as well: then the Value child is the text.
bool has_own_text(Element* e) {
  value::Value v = tree::scalar_value(e);
  if (v.kind == Kind::kNull) return false;
  if ((v.kind == Kind::kCharacter || v.kind == Kind::kBlob) && v.size == 0) return false;
  for (Element* c = tree::first_child(e); c; c = tree::next_sibling(c)) {
    if ((c->type & tree::kTypeClassMask) == tree::kValue) return false;
  }
  return true;
}

void append_scalar(std::string& out, const value::Value& v) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  switch (v.kind) {
    case Kind::kNull:
      return;
    case Kind::kBoolean:
      out += v.boolean() ? "true" : "false";
      return;
    case Kind::kInteger:
      out += std::to_string(v.integer);
      return;
    case Kind::kFloat:
      out += xpath_text(v.real);
      return;
    case Kind::kDecimal: {
      value::Decimal d = v.as_decimal();
      out += d.is_finite() ? d.to_plain_text() : xpath_text(d.to_double());
      return;
    }
    case Kind::kCharacter:
      out += v.text();
      return;
    case Kind::kBlob:
      for (char c : v.text()) {
        out.push_back(kHex[static_cast<unsigned char>(c) >> 4]);
        out.push_back(kHex[static_cast<unsigned char>(c) & 15]);
      }
      return;
    case Kind::kBit:
      base::append_bit_digits(out, v.data, v.size);
      return;
    default:
      out += value::format_literal_body(v);
      return;
  }
}

std::string string_value(const XPathNode& n, uint64_t& steps) {
  std::string out;
  XPathClassifier classifier;
  bool is_element = !n.is_text && classifier.kind_of(n.element) == XPathNodeKind::kElement;
  if (!is_element || has_own_text(n.element)) append_scalar(out, tree::scalar_value(n.element));
  if (!is_element) {
    steps += out.size() / 16;
    return out;
  }
  // Text of all elements and Value children below, in document order.
  Element* e = tree::first_child(n.element);
  while (e) {
    ++steps;
    XPathNodeKind kind = classifier.kind_of(e);
    if (kind == XPathNodeKind::kText || (kind == XPathNodeKind::kElement && has_own_text(e))) {
      append_scalar(out, tree::scalar_value(e));
    }
    Element* next = kind == XPathNodeKind::kElement ? tree::first_child(e) : nullptr;
    while (!next && e != n.element) {
      next = tree::next_sibling(e);
      if (!next) e = e->parent;
      if (e == n.element) break;
    }
    e = next;
  }
  steps += out.size() / 16;
  return out;
}

double number_value(const XPathNode& n, uint64_t& steps) {
  // A field that holds a number and nothing below it needs no text in between.
  value::Value v = tree::scalar_value(n.element);
  if (n.is_text || !tree::first_child(n.element)) {
    if (v.kind == Kind::kInteger) return static_cast<double>(v.integer);
    if (v.kind == Kind::kFloat) return v.real;
    if (v.kind == Kind::kDecimal) return v.as_decimal().to_double();
    if (v.kind == Kind::kCharacter) return xpath_number(v.text());
  }
  return xpath_number(string_value(n, steps));
}

double xpath_number(std::string_view s) {
  auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  bool is_negative = !s.empty() && s[0] == '-';
  if (is_negative) s.remove_prefix(1);
  // Number ::= Digits ('.' Digits?)? | '.' Digits
  bool has_digit = false;
  int points = 0;
  for (char c : s) {
    if (c == '.')
      ++points;
    else if (c >= '0' && c <= '9')
      has_digit = true;
    else
      return std::nan("");
  }
  if (!has_digit || points > 1) return std::nan("");
  double d = 0;
  auto r = std::from_chars(s.data(), s.data() + s.size(), d, std::chars_format::fixed);
  if (r.ec == std::errc::result_out_of_range) {
    // Too many digits before the point is infinity, after it zero.
    size_t first = s.find_first_not_of("0.");
    d = first != std::string_view::npos && first < s.find('.') ? HUGE_VAL : 0;
  }
  return is_negative ? -d : d;
}

std::string xpath_text(double d) {
  if (std::isnan(d)) return "NaN";
  if (std::isinf(d)) return d < 0 ? "-Infinity" : "Infinity";
  if (d == 0) return "0";
  char buffer[400];  // the longest is 5e-324 with all its zeros
  auto r = std::to_chars(buffer, buffer + sizeof(buffer), d, std::chars_format::fixed);
  return {buffer, r.ptr};
}

uint32_t XPathOrder::ordinal_of(Element* e) {
  auto found = ordinals_.find(e);
  if (found != ordinals_.end()) return found->second;
  uint32_t n = 0;
  for (Element* c = e->parent->first; c; c = c->next) ordinals_[c] = ++n;
  return ordinals_[e];
}

// From the top of the tree down: twice the position among siblings on each level. An element sorts
// before what is below it, its own text between its attributes and its other children.
const std::vector<uint32_t> XPathOrder::key_of(const XPathNode& n) {
  std::vector<uint32_t> key;
  if (n.is_text) {
    XPathClassifier classifier;
    uint32_t attributes = 0;
    for (Element* c = n.element->first; c; c = c->next, ++attributes) {
      XPathNodeKind kind = classifier.kind_of(c);
      if (kind != XPathNodeKind::kAttribute && kind != XPathNodeKind::kNamespace) break;
    }
    key.push_back(2 * attributes + 1);
  }
  Element* e = n.element;
  for (; e->parent; e = e->parent) key.push_back(2 * ordinal_of(e));
  auto top = std::find(tops_.begin(), tops_.end(), e);
  key.push_back(static_cast<uint32_t>(top - tops_.begin()));
  if (top == tops_.end()) tops_.push_back(e);
  std::reverse(key.begin(), key.end());
  return key;
}

bool XPathOrder::sort(std::vector<XPathNode>& nodes, uint64_t& steps,
                      const std::function<bool()>& must_stop) {
  if (nodes.size() < 2) return true;
  using Keyed = std::pair<std::vector<uint32_t>, XPathNode>;
  std::vector<Keyed> keyed;
  keyed.reserve(nodes.size());
  for (const XPathNode& n : nodes) {
    keyed.emplace_back(key_of(n), n);
    steps += keyed.back().first.size();
    if (must_stop()) return false;
  }
  // Sorting goes on to its end, but with pauses.
  std::sort(keyed.begin(), keyed.end(), [&](const Keyed& a, const Keyed& b) {
    constexpr uint64_t kComparisonsPerPause = 4096;
    if (++comparisons_ % kComparisonsPerPause == 0) {
      steps += kComparisonsPerPause / 4;
      (void)must_stop();
    }
    return a.first < b.first;
  });
  if (must_stop()) return false;
  nodes.clear();
  for (const Keyed& k : keyed) {
    if (nodes.empty() || !(nodes.back() == k.second)) nodes.push_back(k.second);
  }
  return true;
}

}  // namespace millstream::query
