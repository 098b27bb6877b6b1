// The core function library (section 4), values and the evaluation entry.
#include <cmath>

#include "query/xpath_eval.h"
#include "text/utf8.h"

namespace millstream::query {
namespace {

std::string normalized_space(std::string_view s) {
  std::string out;
  bool is_pending = false;
  for (char c : s) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      is_pending = !out.empty();
      continue;
    }
    if (is_pending) out.push_back(' ');
    is_pending = false;
    out.push_back(c);
  }
  return out;
}

std::string translated(std::string_view s, std::string_view from, std::string_view to) {
  std::vector<std::pair<char32_t, char32_t>> table;  // second 0: removed
  size_t t = 0;
  for (size_t f = 0; f < from.size();) {
    auto a = text::decode_utf8(from, f);
    if (!a.size) break;
    f += a.size;
    auto b = t < to.size() ? text::decode_utf8(to, t) : text::DecodedCodePoint{};
    t += b.size;
    bool is_known = false;
    for (auto& entry : table) is_known |= entry.first == a.value;
    if (!is_known) table.emplace_back(a.value, b.size ? b.value : 0);
  }
  std::string out;
  for (size_t i = 0; i < s.size();) {
    auto c = text::decode_utf8(s, i);
    if (!c.size) break;
    i += c.size;
    char32_t value = c.value;
    bool is_removed = false;
    for (auto& entry : table) {
      if (entry.first != c.value) continue;
      value = entry.second;
      is_removed = entry.second == 0;
      break;
    }
    if (!is_removed) text::append_utf8(out, value);
  }
  return out;
}

double rounded(double d) {
  // Halves go up; -0.5 to 0 is negative zero.
  if (std::isnan(d) || std::isinf(d) || std::fabs(d) >= 4503599627370496.0) return d;
  double r = std::floor(d + 0.5);
  if (d - std::floor(d) < 0.5) r = std::floor(d);  // 0.49999999999999994 + 0.5 would be 1
  return r == 0 && std::signbit(d) ? -0.0 : r;
}

std::string substring_of(std::string_view s, double start, double length, bool has_length) {
  double first = rounded(start);
  double end = has_length ? first + rounded(length) : HUGE_VAL;
  if (std::isnan(first) || std::isnan(end)) return {};
  std::string out;
  double position = 1;
  for (size_t i = 0; i < s.size(); ++position) {
    auto c = text::decode_utf8(s, i);
    if (!c.size) break;
    if (position >= first && position < end) out.append(s.substr(i, c.size));
    if (position >= end) break;
    i += c.size;
  }
  return out;
}

std::string qualified_name(tree::Element* e) { return std::string(e->local_name()); }

}  // namespace

XPathValue XPathValue::of(tree::Element* e) {
  XPathValue v;
  if (e) v.nodes.push_back({e});
  return v;
}
XPathValue XPathValue::of(bool b) {
  XPathValue v;
  v.kind = Kind::kBoolean;
  v.boolean = b;
  return v;
}
XPathValue XPathValue::of(double d) {
  XPathValue v;
  v.kind = Kind::kNumber;
  v.number = d;
  return v;
}
XPathValue XPathValue::of(std::string s) {
  XPathValue v;
  v.kind = Kind::kString;
  v.text = std::move(s);
  return v;
}

bool XPathValue::to_boolean() const {
  switch (kind) {
    case Kind::kNodes:
      return !nodes.empty();
    case Kind::kNumber:
      return number != 0 && !std::isnan(number);
    case Kind::kString:
      return !text.empty();
    case Kind::kBoolean:
      return boolean;
  }
  return false;
}

double XPathValue::to_number() const {
  uint64_t steps = 0;
  switch (kind) {
    case Kind::kNodes:
      return nodes.empty() ? std::nan("") : number_value(nodes[0], steps);
    case Kind::kNumber:
      return number;
    case Kind::kString:
      return xpath_number(text);
    case Kind::kBoolean:
      return boolean ? 1 : 0;
  }
  return 0;
}

std::string XPathValue::to_string() const {
  uint64_t steps = 0;
  switch (kind) {
    case Kind::kNodes:
      return nodes.empty() ? std::string() : string_value(nodes[0], steps);
    case Kind::kNumber:
      return xpath_text(number);
    case Kind::kString:
      return text;
    case Kind::kBoolean:
      return boolean ? "true" : "false";
  }
  return {};
}

tree::Element* XPathValue::first_element() const {
  return kind == Kind::kNodes && !nodes.empty() ? nodes[0].element : nullptr;
}

bool XPathEvaluation::lang_matches(const XPathNode& n, std::string_view wanted) {
  for (tree::Element* e = n.element; e; e = e->parent) {
    for (tree::Element* c = tree::first_child(e); c; c = tree::next_sibling(c)) {
      ++steps_;
      if (c->local_name() != "lang" ||
          c->namespace_uri() != "http://www.w3.org/XML/1998/namespace") {
        continue;
      }
      std::string have = string_value({c}, steps_);
      return have.size() >= wanted.size() &&
             text::equals_ignoring_ascii_case(have.substr(0, wanted.size()), wanted) &&
             (have.size() == wanted.size() || have[wanted.size()] == '-');
    }
    if (e == root_) break;
  }
  return false;
}

Status XPathEvaluation::eval_call(const XPathExpr& e, const Focus& focus, XPathValue& out) {
  std::vector<XPathValue> args(e.args.size());
  for (size_t i = 0; i < args.size(); ++i) MS_TRY(eval(*e.args[i], focus, args[i]));
  // These take the context node when they have no argument.
  if (args.empty()) {
    switch (e.function) {
      case XPathFunction::kLocalName:
      case XPathFunction::kNamespaceUri:
      case XPathFunction::kName:
      case XPathFunction::kString:
      case XPathFunction::kStringLength:
      case XPathFunction::kNormalizeSpace:
      case XPathFunction::kNumber:
        args.emplace_back();
        if (focus.node.element) args[0].nodes.push_back(focus.node);
        break;
      default:
        break;
    }
  }
  switch (e.function) {
    case XPathFunction::kLast:
      out = XPathValue::of(static_cast<double>(focus.size));
      return {};
    case XPathFunction::kPosition:
      out = XPathValue::of(static_cast<double>(focus.position));
      return {};
    case XPathFunction::kTrue:
      out = XPathValue::of(true);
      return {};
    case XPathFunction::kFalse:
      out = XPathValue::of(false);
      return {};
    case XPathFunction::kBoolean:
      out = XPathValue::of(args[0].to_boolean());
      return {};
    case XPathFunction::kNot:
      out = XPathValue::of(!args[0].to_boolean());
      return {};
    case XPathFunction::kCount:
      MS_TRY(need_nodes(e, args[0]));
      out = XPathValue::of(static_cast<double>(args[0].nodes.size()));
      return {};
    case XPathFunction::kId:
      out = XPathValue();
      return {};
    case XPathFunction::kSum: {
      MS_TRY(need_nodes(e, args[0]));
      double sum = 0;
      for (const XPathNode& n : args[0].nodes) {
        sum += number_value(n, steps_);
        if (must_stop()) break;
      }
      out = XPathValue::of(sum);
      return check_budget();
    }
    case XPathFunction::kLocalName:
    case XPathFunction::kName:
    case XPathFunction::kNamespaceUri: {
      MS_TRY(need_nodes(e, args[0]));
      const XPathNode n = args[0].nodes.empty() ? XPathNode{} : args[0].nodes[0];
      bool has_name = n.element && !n.is_text && n.element != root_;
      std::string name = !has_name ? std::string()
                         : e.function == XPathFunction::kNamespaceUri
                             ? std::string(n.element->namespace_uri())
                             : qualified_name(n.element);
      out = XPathValue::of(std::move(name));
      return {};
    }
    case XPathFunction::kNumber:
      out = XPathValue::of(number_of(args[0]));
      return check_budget();
    case XPathFunction::kFloor:
      out = XPathValue::of(std::floor(number_of(args[0])));
      return {};
    case XPathFunction::kCeiling:
      out = XPathValue::of(std::ceil(number_of(args[0])));
      return {};
    case XPathFunction::kRound:
      out = XPathValue::of(rounded(number_of(args[0])));
      return {};
    case XPathFunction::kLang:
      out = XPathValue::of(focus.node.element && lang_matches(focus.node, text_of(args[0])));
      return check_budget();
    default:
      return eval_text_call(e, args, out);
  }
}

Status XPathEvaluation::eval_text_call(const XPathExpr& e, std::vector<XPathValue>& args,
                                       XPathValue& out) {
  std::vector<std::string> s;
  size_t bytes = 0;
  for (const XPathValue& a : args) {
    s.push_back(text_of(a));
    bytes += s.back().size();
  }
  steps_ += bytes / 16;
  MS_TRY(check_budget());
  switch (e.function) {
    case XPathFunction::kString:
      out = XPathValue::of(std::move(s[0]));
      return {};
    case XPathFunction::kConcat: {
      std::string all;
      for (const std::string& part : s) all += part;
      out = XPathValue::of(std::move(all));
      return {};
    }
    case XPathFunction::kStartsWith:
      out = XPathValue::of(s[0].starts_with(s[1]));
      return {};
    case XPathFunction::kContains:
      out = XPathValue::of(s[0].find(s[1]) != std::string::npos);
      return {};
    case XPathFunction::kSubstringBefore: {
      size_t at = s[0].find(s[1]);
      out = XPathValue::of(at == std::string::npos ? std::string() : s[0].substr(0, at));
      return {};
    }
    case XPathFunction::kSubstringAfter: {
      size_t at = s[0].find(s[1]);
      out = XPathValue::of(at == std::string::npos ? std::string() : s[0].substr(at + s[1].size()));
      return {};
    }
    case XPathFunction::kSubstring:
      out = XPathValue::of(substring_of(s[0], number_of(args[1]),
                                        args.size() > 2 ? number_of(args[2]) : 0, args.size() > 2));
      return {};
    case XPathFunction::kStringLength:
      out = XPathValue::of(static_cast<double>(text::count_code_points(s[0])));
      return {};
    case XPathFunction::kNormalizeSpace:
      out = XPathValue::of(normalized_space(s[0]));
      return {};
    default:
      out = XPathValue::of(translated(s[0], s[1], s[2]));
      return {};
  }
}

Result<XPathValue> XPath::evaluate(const XPathInput& input) const {
  return XPathEvaluation(input).run(*root_);
}

}  // namespace millstream::query
