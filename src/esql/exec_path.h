// A compiled field reference: where it starts and its steps. Reads find the first match or null;
// writes create what is missing on the direct path (spec A6).
// Thread: any (immutable); evaluation uses the Frame.
#pragma once
#include <vector>

#include "esql/exec.h"
#include "esql/quick.h"

namespace millstream::esql {

struct StepNode {
  StepMatch fixed;
  bool is_fixed = true;  // no expression in type, namespace or name
  // Compiled by EVAL: the names belong to the message, not to the deployment.
  bool has_message_names = false;
  ast::NamespaceKind ns_kind = ast::NamespaceKind::kNone;
  ast::NameKind name_kind = ast::NameKind::kAbsent;
  ast::IndexKind index_kind = ast::IndexKind::kNone;
  const base::Name* ns = nullptr;
  const base::Name* local = nullptr;
  const ExprNode* type_expr = nullptr;
  const ExprNode* ns_expr = nullptr;
  const ExprNode* name_expr = nullptr;
  const ExprNode* index = nullptr;
  int32_t index_slot = -1;  // the index is this local variable
  uint32_t cursor = 0;
  ast::SourcePos pos;

  // Fixed name and type, [n]: the step of indexed loops.
  bool is_simple_index() const {
    return is_fixed && index_slot >= 0 && index_kind == ast::IndexKind::kNumber;
  }

  // False: a name or type expression was NULL, so nothing matches.
  Result<bool> match(Frame& f, tree::TreeContext& tree, StepMatch& out) const;
  // The child of `parent`, null when there is none.
  Status find(Frame& f, tree::TreeContext& tree, tree::Element* parent, tree::Element*& out) const;
  Status find_or_create(Frame& f, const Ref& parent, tree::Element*& out) const;
};

// The name a new field gets from a match; null when the step does not say one.
Result<const base::QName*> name_for_create(tree::TreeContext& tree, const StepNode& step,
                                           const StepMatch& m);
// A new last child; a child of a message root becomes a domain root when its name is a domain.
tree::Element* create_child(Frame& f, const Ref& parent, const base::QName* name,
                            tree::FieldType type);
// Evaluates an index expression: an INTEGER from 1.
Result<int64_t> eval_index(Frame& f, const ExprNode& index);
Status check_writable(const Ref& ref);

class PathNode final : public ExprNode {
 public:
  explicit PathNode(const ast::PathExpr& e) : ast(&e) {}

  Status eval(Frame& f, value::Value& out) const override;
  Shape shape() const override { return is_list ? Shape::kList : Shape::kField; }
  Status eval_ref(Frame& f, Ref& out) const override { return find(f, out); }
  Status for_each(Frame& f, ItemSink& sink) const override;
  const PathNode* path() const override { return this; }
  bool is_quick() const override { return !quick_names.empty(); }
  value::Value quick(Frame& f) const override {
    tree::Element* e = quick_start(f);
    for (const base::QName* name : quick_names) {
      if (!e) return {};
      e = quick::child_named(e, name);
    }
    // An open element may still become a folder.
    if (!e || e->is_open() || f.x.tree().has_parse_error()) return {};
    value::Value v = e->scalar;
    v.spare = 0;
    return v;
  }

  // Where the path starts. Null element: the variable refers to nothing.
  Status start(Frame& f, Ref& out) const {
    if (start_kind == Start::kRoot) {
      out.element = f.x.roots[start_index];
      out.shared = nullptr;
      out.is_read_only = is_start_read_only;
      return {};
    }
    if (start_kind == Start::kLocal && !f.x.may_have_deleted) {
      out = f.slots[start_index].ref;
      out.is_read_only |= is_start_read_only;
      if (out.shared) f.x.lock_shared();
      return {};
    }
    return start_general(f, out);
  }
  Status start_general(Frame& f, Ref& out) const;
  Status find(Frame& f, Ref& out) const { return find_steps(f, out, steps.size()); }
  Status find_steps(Frame& f, Ref& out, size_t count) const;  // the first `count` steps only
  Status find_or_create(Frame& f, Ref& out) const;
  // All steps but the last; `parent` null when missing. `matches` false: nothing can match.
  Status find_parent(Frame& f, Ref& parent, StepMatch& last, bool& matches) const;
  // All steps but the last, creating them.
  Status create_parent(Frame& f, Ref& parent) const;
  // kList: how many elements, at most `enough` counted when not 0.
  Status count(Frame& f, int64_t enough, int64_t& out) const;

  bool is_bare_variable() const {
    return ast->ref == ast::RefKind::kVariable && steps.empty() &&
           ast->root_index == ast::IndexKind::kNone;
  }
  bool is_scalar_variable() const {
    return is_bare_variable() && ast->variable->type.kind != ast::TypeKind::kRow &&
           ast->variable->type.kind != ast::TypeKind::kReference &&
           ast->variable->storage != ast::Storage::kRow;
  }
  const ast::Variable* variable() const { return ast->variable; }

  // How the start is found; decided once, when the steps are there.
  enum class Start : uint8_t { kGeneral, kLocal, kRoot };
  void decide_start();

  const ast::PathExpr* ast;
  Start start_kind = Start::kGeneral;
  bool is_start_read_only = false;
  uint32_t start_index = 0;  // frame slot, or index in Execution::roots
  std::vector<StepNode> steps;
  const ExprNode* root_index = nullptr;
  bool is_list = false;
  // The steps when all are plain names, else empty.
  std::vector<const base::QName*> quick_names;

 private:
  // Null: missing, or not for the quick lane.
  tree::Element* quick_start(Frame& f) const {
    if (start_kind == Start::kRoot) return f.x.roots[start_index];
    if (f.x.may_have_deleted) return nullptr;
    const Ref& ref = f.slots[start_index].ref;
    return ref.shared ? nullptr : ref.element;
  }
  void decide_start_kind();
  void find_quick_names();
};

// The value of an element as an expression sees it.
Status field_value(Frame& f, const Ref& ref, value::Value& out);

}  // namespace millstream::esql
