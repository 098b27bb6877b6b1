// One evaluation of an XPath: a walk over its syntax tree. Internal to src/query. Steps are counted
// against a budget, so that `//*//*` over a long message ends with an error.
// Thread: that of the message.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "query/xpath.h"
#include "query/xpath_ast.h"
#include "query/xpath_nodes.h"

namespace millstream::query {

class XPathEvaluation {
 public:
  explicit XPathEvaluation(const XPathInput& input);
  Result<XPathValue> run(const XPathExpr& e);

 private:
  // The context of an expression (XPath 1.0, section 1): node, position from 1, size.
  struct Focus {
    XPathNode node;
    size_t position = 1;
    size_t size = 1;
  };

  Status eval(const XPathExpr& e, const Focus& focus, XPathValue& out);
  Status eval_chain(const XPathExpr& e, const Focus& focus, XPathValue& out);
  Status apply_binary(const XPathExpr& e, const Focus& focus, XPathValue& left);
  Status eval_filter(const XPathExpr& e, const Focus& focus, XPathValue& out);
  Status eval_path(const XPathExpr& e, const Focus& focus, XPathValue& out);
  Status eval_step(const XPathStep& step, std::vector<XPathNode>& nodes, bool& is_flat);
  Status collect(const XPathStep& step, const XPathNode& from, std::vector<XPathNode>& out);
  Status apply_predicates(const std::vector<std::unique_ptr<XPathExpr>>& predicates, size_t first,
                          std::vector<XPathNode>& nodes);
  Status eval_call(const XPathExpr& e, const Focus& focus, XPathValue& out);
  Status eval_text_call(const XPathExpr& e, std::vector<XPathValue>& args, XPathValue& out);
  Status need_nodes(const XPathExpr& e, const XPathValue& v);
  bool compare(XPathOp op, const XPathValue& a, const XPathValue& b);
  bool compare_sets(XPathOp op, const XPathValue& a, const XPathValue& b);
  bool compare_with_set(XPathOp op, const XPathValue& set, const XPathValue& other);

  // Axes. `accept` takes a node and says whether to go on.
  template <typename Accept>
  void walk(XPathAxis axis, const XPathNode& from, Accept&& accept);
  template <typename Accept>
  bool walk_children(tree::Element* e, Accept&& accept);
  template <typename Accept>
  bool walk_below(tree::Element* top, Accept&& accept);
  template <typename Accept>
  bool walk_backwards(tree::Element* top, Accept&& accept);
  template <typename Accept>
  void walk_siblings(const XPathNode& from, bool is_forward, Accept&& accept);
  template <typename Accept>
  void walk_following(const XPathNode& from, Accept&& accept);
  template <typename Accept>
  void walk_preceding(const XPathNode& from, Accept&& accept);
  bool is_child_node(tree::Element* e);  // neither attribute nor declaration
  bool matches(const XPathStep& step, const XPathNode& n);
  tree::Element* parent_of(const XPathNode& n) const;

  std::string text_of(const XPathValue& v);
  double number_of(const XPathValue& v);
  bool lang_matches(const XPathNode& n, std::string_view wanted);
  // After steps were counted: an error when there were too many, or when a pause gave one.
  Status check_budget();
  // The same for loops, which then stop and leave it to check_budget() to say why.
  bool must_stop() { return __builtin_expect(steps_ > pause_at_, 0) && pause_or_stop(); }
  bool pause_or_stop();

  const XPathInput& input_;
  tree::Element* root_ = nullptr;
  XPathClassifier classifier_;
  XPathOrder order_;
  uint64_t steps_ = 0;
  uint64_t pause_at_ = 0;  // when must_stop() has something to do
  Status stopped_;         // of a pause
};

}  // namespace millstream::query
