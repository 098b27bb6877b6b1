#include "query/xpath_eval.h"

#include <algorithm>
#include <cmath>

#include "query/errors_gen.h"

namespace millstream::query {
namespace {

using tree::Element;

bool is_binary(XPathOp op) { return op <= XPathOp::kModulo || op == XPathOp::kUnion; }

bool compare_numbers(XPathOp op, double a, double b) {
  switch (op) {
    case XPathOp::kEqual:
      return a == b;
    case XPathOp::kNotEqual:
      return a != b;
    case XPathOp::kLess:
      return a < b;
    case XPathOp::kLessEqual:
      return a <= b;
    case XPathOp::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

bool is_equality(XPathOp op) { return op == XPathOp::kEqual || op == XPathOp::kNotEqual; }

XPathOp mirrored(XPathOp op) {
  switch (op) {
    case XPathOp::kLess:
      return XPathOp::kGreater;
    case XPathOp::kLessEqual:
      return XPathOp::kGreaterEqual;
    case XPathOp::kGreater:
      return XPathOp::kLess;
    case XPathOp::kGreaterEqual:
      return XPathOp::kLessEqual;
    default:
      return op;
  }
}

}  // namespace

XPathEvaluation::XPathEvaluation(const XPathInput& input)
    : input_(input),
      root_(input.root),
      pause_at_(std::min(XPathInput::kStepsPerPause, input.steps_max)) {
  if (root_ || !input.node) return;
  root_ = tree::domain_root_of(input.node);
  if (root_) return;
  for (root_ = input.node; root_->parent;) root_ = root_->parent;
}

Result<XPathValue> XPathEvaluation::run(const XPathExpr& e) {
  XPathValue out;
  Status status = eval(e, {.node = {input_.node}}, out);
  if (input_.context && input_.context->has_parse_error()) {
    return input_.context->take_parse_error();
  }
  MS_TRY(std::move(status));
  return out;
}

Status XPathEvaluation::check_budget() {
  if (!must_stop()) return {};
  if (!stopped_.ok()) return std::move(stopped_);
  return base::make_error(errors::kXPathBudget, {input_.steps_max});
}

bool XPathEvaluation::pause_or_stop() {
  if (steps_ > input_.steps_max || !stopped_.ok()) return true;
  if (input_.pause) {
    stopped_ = input_.pause();
    if (!stopped_.ok()) return true;  // pause_at_ stays, so that everybody stops
  }
  pause_at_ = std::min(steps_ + XPathInput::kStepsPerPause, input_.steps_max);
  return false;
}

std::string XPathEvaluation::text_of(const XPathValue& v) {
  if (v.kind != XPathValue::Kind::kNodes) return v.to_string();
  return v.nodes.empty() ? std::string() : string_value(v.nodes[0], steps_);
}

double XPathEvaluation::number_of(const XPathValue& v) {
  if (v.kind != XPathValue::Kind::kNodes) return v.to_number();
  return v.nodes.empty() ? std::nan("") : number_value(v.nodes[0], steps_);
}

Status XPathEvaluation::need_nodes(const XPathExpr& e, const XPathValue& v) {
  if (v.kind == XPathValue::Kind::kNodes) return {};
  return base::make_error(errors::kXPathType, {e.offset + 1});
}

Status XPathEvaluation::eval(const XPathExpr& e, const Focus& focus, XPathValue& out) {
  ++steps_;
  if (is_binary(e.op)) return eval_chain(e, focus, out);
  switch (e.op) {
    case XPathOp::kLiteral:
      out = XPathValue::of(e.text);
      return {};
    case XPathOp::kNumber:
      out = XPathValue::of(e.number);
      return {};
    case XPathOp::kVariable:
      if (input_.variables && (*input_.variables)(e.text, out)) return {};
      return base::make_error(errors::kXPathVariable, {e.text});
    case XPathOp::kNegate: {
      XPathValue v;
      MS_TRY(eval(*e.args[0], focus, v));
      double d = number_of(v);
      out = XPathValue::of(e.is_absolute ? d : -d);
      return check_budget();
    }
    case XPathOp::kCall:
      return eval_call(e, focus, out);
    case XPathOp::kFilter:
      return eval_filter(e, focus, out);
    default:
      return eval_path(e, focus, out);
  }
}

// a op b op c nests to the left: walked in a loop, so that long chains need no deep stack.
Status XPathEvaluation::eval_chain(const XPathExpr& e, const Focus& focus, XPathValue& out) {
  std::vector<const XPathExpr*> chain;
  const XPathExpr* left = &e;
  for (; is_binary(left->op); left = left->args[0].get()) chain.push_back(left);
  MS_TRY(eval(*left, focus, out));
  for (auto i = chain.rbegin(); i != chain.rend(); ++i) MS_TRY(apply_binary(**i, focus, out));
  return check_budget();
}

Status XPathEvaluation::apply_binary(const XPathExpr& e, const Focus& focus, XPathValue& left) {
  if (e.op == XPathOp::kOr || e.op == XPathOp::kAnd) {
    bool value = left.to_boolean();
    if (value == (e.op == XPathOp::kOr)) {
      left = XPathValue::of(value);
      return {};
    }
    XPathValue right;
    MS_TRY(eval(*e.args[1], focus, right));
    left = XPathValue::of(right.to_boolean());
    return {};
  }
  XPathValue right;
  MS_TRY(eval(*e.args[1], focus, right));
  switch (e.op) {
    case XPathOp::kUnion:
      MS_TRY(need_nodes(*e.args[0], left));
      MS_TRY(need_nodes(*e.args[1], right));
      left.nodes.insert(left.nodes.end(), right.nodes.begin(), right.nodes.end());
      steps_ += left.nodes.size();
      if (!order_.sort(left.nodes, steps_, [this] { return must_stop(); })) return check_budget();
      return {};
    case XPathOp::kAdd:
      left = XPathValue::of(number_of(left) + number_of(right));
      return {};
    case XPathOp::kSubtract:
      left = XPathValue::of(number_of(left) - number_of(right));
      return {};
    case XPathOp::kMultiply:
      left = XPathValue::of(number_of(left) * number_of(right));
      return {};
    case XPathOp::kDivide:
      left = XPathValue::of(number_of(left) / number_of(right));
      return {};
    case XPathOp::kModulo:
      left = XPathValue::of(std::fmod(number_of(left), number_of(right)));
      return {};
    default:
      left = XPathValue::of(compare(e.op, left, right));
      return {};
  }
}

// Section 3.4.
bool XPathEvaluation::compare(XPathOp op, const XPathValue& a, const XPathValue& b) {
  using K = XPathValue::Kind;
  if (a.kind == K::kNodes && b.kind == K::kNodes) return compare_sets(op, a, b);
  if (a.kind == K::kNodes) return compare_with_set(op, a, b);
  if (b.kind == K::kNodes) return compare_with_set(mirrored(op), b, a);
  if (!is_equality(op)) return compare_numbers(op, a.to_number(), b.to_number());
  bool wants_equal = op == XPathOp::kEqual;
  if (a.kind == K::kBoolean || b.kind == K::kBoolean) {
    return (a.to_boolean() == b.to_boolean()) == wants_equal;
  }
  if (a.kind == K::kNumber || b.kind == K::kNumber) {
    return compare_numbers(op, a.to_number(), b.to_number());
  }
  return (a.text == b.text) == wants_equal;
}

bool XPathEvaluation::compare_with_set(XPathOp op, const XPathValue& set, const XPathValue& other) {
  if (other.kind == XPathValue::Kind::kBoolean) {
    double a = set.to_boolean() ? 1 : 0, b = other.to_number();
    return compare_numbers(op, a, b);
  }
  bool as_text = is_equality(op) && other.kind == XPathValue::Kind::kString;
  double number = other.to_number();
  for (const XPathNode& n : set.nodes) {
    ++steps_;
    if (as_text) {
      if ((string_value(n, steps_) == other.text) == (op == XPathOp::kEqual)) return true;
    } else if (compare_numbers(op, number_value(n, steps_), number)) {
      return true;
    }
    if (must_stop()) return false;
  }
  return false;
}

bool XPathEvaluation::compare_sets(XPathOp op, const XPathValue& a, const XPathValue& b) {
  if (is_equality(op)) {
    std::vector<std::string> right;
    for (const XPathNode& n : b.nodes) {
      right.push_back(string_value(n, steps_));
      if (must_stop()) return false;
    }
    for (const XPathNode& n : a.nodes) {
      std::string text = string_value(n, steps_);
      for (const std::string& r : right) {
        ++steps_;
        if ((text == r) == (op == XPathOp::kEqual)) return true;
        if (must_stop()) return false;
      }
      if (must_stop()) return false;
    }
    return false;
  }
  std::vector<double> right;
  for (const XPathNode& n : b.nodes) {
    right.push_back(number_value(n, steps_));
    if (must_stop()) return false;
  }
  for (const XPathNode& n : a.nodes) {
    double d = number_value(n, steps_);
    for (double r : right) {
      ++steps_;
      if (compare_numbers(op, d, r)) return true;
      if (must_stop()) return false;
    }
    if (must_stop()) return false;
  }
  return false;
}

Status XPathEvaluation::eval_filter(const XPathExpr& e, const Focus& focus, XPathValue& out) {
  MS_TRY(eval(*e.args[0], focus, out));
  MS_TRY(need_nodes(*e.args[0], out));
  return apply_predicates(e.args, 1, out.nodes);
}

Status XPathEvaluation::eval_path(const XPathExpr& e, const Focus& focus, XPathValue& out) {
  std::vector<XPathNode> nodes;
  if (!e.args.empty()) {
    XPathValue start;
    MS_TRY(eval(*e.args[0], focus, start));
    MS_TRY(need_nodes(*e.args[0], start));
    nodes = std::move(start.nodes);
  } else if (e.is_absolute) {
    if (root_) nodes.push_back({root_});
  } else if (focus.node.element) {
    nodes.push_back(focus.node);
  }
  bool is_flat = nodes.size() < 2;
  for (const XPathStep& step : e.steps) MS_TRY(eval_step(step, nodes, is_flat));
  out = XPathValue();
  out.nodes = std::move(nodes);
  return {};
}

// `is_flat`: no node of the set is below another, so that children come out in document order.
Status XPathEvaluation::eval_step(const XPathStep& step, std::vector<XPathNode>& nodes,
                                  bool& is_flat) {
  std::vector<XPathNode> result, found;
  bool is_reverse = is_reverse_axis(step.axis);
  bool is_single = nodes.size() == 1;
  for (const XPathNode& n : nodes) {
    std::vector<XPathNode>& target = is_single ? result : found;
    target.clear();
    MS_TRY(collect(step, n, target));
    if (is_reverse) std::reverse(target.begin(), target.end());
    if (!is_single) result.insert(result.end(), found.begin(), found.end());
    MS_TRY(check_budget());
  }
  bool stays_flat = step.axis == XPathAxis::kChild || step.axis == XPathAxis::kAttribute ||
                    step.axis == XPathAxis::kSelf || step.axis == XPathAxis::kNamespace;
  if (!is_single && !(stays_flat && is_flat)) {
    steps_ += result.size() * 4;
    if (!order_.sort(result, steps_, [this] { return must_stop(); })) return check_budget();
  }
  is_flat = result.size() < 2 || (is_flat && stays_flat);
  nodes = std::move(result);
  return check_budget();
}

Status XPathEvaluation::collect(const XPathStep& step, const XPathNode& from,
                                std::vector<XPathNode>& out) {
  size_t first_predicate = 0;
  size_t wanted = 0;
  // A leading [3] needs no more than three nodes.
  if (!step.predicates.empty() && step.predicates[0]->op == XPathOp::kNumber) {
    double d = step.predicates[0]->number;
    if (!(d >= 1) || d != std::floor(d) || d > 1e9) return {};
    wanted = static_cast<size_t>(d);
    first_predicate = 1;
  }
  size_t count = 0;
  walk(step.axis, from, [&](const XPathNode& n) {
    ++steps_;
    if (must_stop()) return false;
    if (!matches(step, n)) return true;
    if (wanted == 0) {
      out.push_back(n);
      return true;
    }
    if (++count < wanted) return true;
    out.push_back(n);
    return false;
  });
  MS_TRY(check_budget());
  return apply_predicates(step.predicates, first_predicate, out);
}

Status XPathEvaluation::apply_predicates(const std::vector<std::unique_ptr<XPathExpr>>& predicates,
                                         size_t first, std::vector<XPathNode>& nodes) {
  for (size_t p = first; p < predicates.size(); ++p) {
    size_t kept = 0;
    const size_t size = nodes.size();
    for (size_t i = 0; i < size; ++i) {
      XPathValue v;
      MS_TRY(eval(*predicates[p], {.node = nodes[i], .position = i + 1, .size = size}, v));
      bool keep = v.kind == XPathValue::Kind::kNumber ? v.number == static_cast<double>(i + 1)
                                                      : v.to_boolean();
      if (keep) nodes[kept++] = nodes[i];
    }
    nodes.resize(kept);
  }
  return check_budget();
}

bool XPathEvaluation::matches(const XPathStep& step, const XPathNode& n) {
  if (step.test == XPathTest::kNode) return true;
  XPathNodeKind kind = classifier_.kind_of(n);
  switch (step.test) {
    case XPathTest::kText:
      return kind == XPathNodeKind::kText;
    case XPathTest::kComment:
      return kind == XPathNodeKind::kComment;
    case XPathTest::kPi:
      return kind == XPathNodeKind::kProcessingInstruction &&
             (step.local.empty() || n.element->local_name() == step.local);
    default:
      break;
  }
  XPathNodeKind principal = step.axis == XPathAxis::kAttribute   ? XPathNodeKind::kAttribute
                            : step.axis == XPathAxis::kNamespace ? XPathNodeKind::kNamespace
                                                                 : XPathNodeKind::kElement;
  if (kind != principal) return false;
  // The root of "/" is the document, not an element, for whoever comes to it from below.
  if (n.element == root_ && (is_reverse_axis(step.axis) || step.axis == XPathAxis::kSelf ||
                             step.axis == XPathAxis::kDescendantOrSelf)) {
    return false;
  }
  if (step.test == XPathTest::kAnyName) return true;
  if (n.element->namespace_uri() != step.ns) return false;
  return step.test == XPathTest::kAnyInNamespace || n.element->local_name() == step.local;
}

Element* XPathEvaluation::parent_of(const XPathNode& n) const {
  if (n.is_text) return n.element;
  return n.element == root_ ? nullptr : n.element->parent;
}

template <typename Accept>
bool XPathEvaluation::walk_children(Element* e, Accept&& accept) {
  if (has_own_text(e) && !accept(XPathNode{e, true})) return false;
  for (Element* c = tree::first_child(e); c; c = tree::next_sibling(c)) {
    XPathNodeKind kind = classifier_.kind_of(c);
    if (kind == XPathNodeKind::kAttribute || kind == XPathNodeKind::kNamespace ||
        kind == XPathNodeKind::kNone) {
      ++steps_;
      continue;
    }
    if (!accept(XPathNode{c})) return false;
  }
  return true;
}

// Descendants in document order.
template <typename Accept>
bool XPathEvaluation::walk_below(Element* top, Accept&& accept) {
  if (classifier_.kind_of(top) != XPathNodeKind::kElement) return true;
  if (has_own_text(top) && !accept(XPathNode{top, true})) return false;
  Element* e = tree::first_child(top);
  while (e) {
    XPathNodeKind kind = classifier_.kind_of(e);
    bool is_element = kind == XPathNodeKind::kElement;
    bool is_node = is_element || kind == XPathNodeKind::kText || kind == XPathNodeKind::kComment ||
                   kind == XPathNodeKind::kProcessingInstruction;
    if (is_node && !accept(XPathNode{e})) return false;
    if (is_element && has_own_text(e) && !accept(XPathNode{e, true})) return false;
    Element* next = is_element ? tree::first_child(e) : nullptr;
    while (!next) {
      next = tree::next_sibling(e);
      if (next) break;
      e = e->parent;
      if (e == top) return true;
    }
    e = next;
  }
  return true;
}

// `top` and its descendants, last first.
template <typename Accept>
bool XPathEvaluation::walk_backwards(Element* top, Accept&& accept) {
  std::vector<XPathNode> nodes{{top}};
  walk_below(top, [&](const XPathNode& n) {
    nodes.push_back(n);
    ++steps_;
    return !must_stop();
  });
  for (size_t i = nodes.size(); i-- > 0;) {
    if (!accept(nodes[i])) return false;
  }
  return true;
}

bool XPathEvaluation::is_child_node(Element* e) {
  XPathNodeKind k = classifier_.kind_of(e);
  return k != XPathNodeKind::kAttribute && k != XPathNodeKind::kNamespace &&
         k != XPathNodeKind::kNone;
}

template <typename Accept>
void XPathEvaluation::walk_siblings(const XPathNode& from, bool is_forward, Accept&& accept) {
  Element* e = from.element;
  if (from.is_text) {
    // The own text comes before all children of its element.
    if (!is_forward) return;
    for (Element* c = tree::first_child(e); c; c = tree::next_sibling(c)) {
      if (is_child_node(c) && !accept(XPathNode{c})) return;
    }
    return;
  }
  if (e == root_ || !e->parent || !is_child_node(e)) return;
  for (Element* c = e; (c = is_forward ? tree::next_sibling(c) : c->prev);) {
    if (is_child_node(c) && !accept(XPathNode{c})) return;
  }
  if (!is_forward && has_own_text(e->parent)) accept(XPathNode{e->parent, true});
}

// All that begins after this node ends. After the own text, and after an attribute, come the
// children of the element.
template <typename Accept>
void XPathEvaluation::walk_following(const XPathNode& from, Accept&& accept) {
  bool is_first = true;
  for (XPathNode n = from; n.element; n = {parent_of(n)}) {
    Element* c = nullptr;
    if (n.is_text) {
      c = tree::first_child(n.element);
    } else if (is_first && !is_child_node(n.element)) {
      Element* p = n.element->parent;
      if (p && has_own_text(p) && !accept(XPathNode{p, true})) return;
      c = tree::next_sibling(n.element);
    } else if (n.element != root_) {
      c = tree::next_sibling(n.element);
    }
    for (; c; c = tree::next_sibling(c)) {
      if (!is_child_node(c)) continue;
      if (!accept(XPathNode{c}) || !walk_below(c, accept)) return;
    }
    is_first = false;
  }
}

// All that ends before this node begins: ancestors are not among it.
template <typename Accept>
void XPathEvaluation::walk_preceding(const XPathNode& from, Accept&& accept) {
  XPathNode n = from;
  while (Element* p = n.element ? parent_of(n) : nullptr) {
    if (!n.is_text) {
      for (Element* c = n.element->prev; c; c = c->prev) {
        if (is_child_node(c) && !walk_backwards(c, accept)) return;
      }
      if (is_child_node(n.element) && has_own_text(p) && !accept(XPathNode{p, true})) return;
    }
    n = {p};
  }
}

template <typename Accept>
void XPathEvaluation::walk(XPathAxis axis, const XPathNode& from, Accept&& accept) {
  Element* e = from.element;
  bool has_children = !from.is_text && classifier_.kind_of(e) == XPathNodeKind::kElement;
  switch (axis) {
    case XPathAxis::kSelf:
      accept(from);
      return;
    case XPathAxis::kParent:
      if (Element* p = parent_of(from)) accept(XPathNode{p});
      return;
    case XPathAxis::kAncestorOrSelf:
      if (!accept(from)) return;
      [[fallthrough]];
    case XPathAxis::kAncestor:
      for (Element* p = parent_of(from); p; p = parent_of(XPathNode{p})) {
        if (!accept(XPathNode{p})) return;
      }
      return;
    case XPathAxis::kChild:
      if (has_children) walk_children(e, accept);
      return;
    case XPathAxis::kAttribute:
    case XPathAxis::kNamespace: {
      if (!has_children) return;
      XPathNodeKind wanted =
          axis == XPathAxis::kAttribute ? XPathNodeKind::kAttribute : XPathNodeKind::kNamespace;
      for (Element* c = tree::first_child(e); c; c = tree::next_sibling(c)) {
        ++steps_;
        if (classifier_.kind_of(c) == wanted && !accept(XPathNode{c})) return;
      }
      return;
    }
    case XPathAxis::kDescendantOrSelf:
      if (!accept(from)) return;
      [[fallthrough]];
    case XPathAxis::kDescendant:
      if (has_children) walk_below(e, accept);
      return;
    case XPathAxis::kFollowingSibling:
      walk_siblings(from, true, accept);
      return;
    case XPathAxis::kPrecedingSibling:
      walk_siblings(from, false, accept);
      return;
    case XPathAxis::kFollowing:
      walk_following(from, accept);
      return;
    case XPathAxis::kPreceding:
      walk_preceding(from, accept);
      return;
  }
}

}  // namespace millstream::query
