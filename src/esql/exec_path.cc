#include "esql/exec_path.h"

#include "esql/errors_gen.h"
#include "esql/shared.h"
#include "tree/domain.h"

namespace millstream::esql {

using tree::Element;
using value::Kind;
using value::Value;

namespace {

Status step_text(Frame& f, const ExprNode& e, bool& is_null, std::string_view& out) {
  Value v;
  MS_TRY(e.eval(f, v));
  is_null = v.is_null();
  if (is_null) return {};
  if (v.kind != Kind::kCharacter) {
    return base::make_error(errors::kNameNotCharacter, {value::kind_name(v.kind)});
  }
  out = v.text();
  return {};
}

}  // namespace

Result<bool> StepNode::match(Frame& f, tree::TreeContext& tree, StepMatch& out) const {
  out = fixed;
  if (is_fixed) return true;
  const base::Name* ns_name = ns;
  const base::Name* local_name = local;
  if (has_message_names && &tree != &f.x.tree()) {
    if (ns_name) ns_name = tree.names.intern(ns_name->view());
    if (local_name) local_name = tree.names.intern(local_name->view());
  }
  bool is_null = false;
  std::string_view text;
  if (ns_expr) {
    MS_TRY(step_text(f, *ns_expr, is_null, text));
    if (is_null) return false;
    ns_name = tree.names.intern(text);
  }
  if (name_expr) {
    MS_TRY(step_text(f, *name_expr, is_null, text));
    if (is_null) return false;
    local_name = tree.names.intern(text);
  }
  if (type_expr) {
    Value v;
    MS_TRY(type_expr->eval(f, v));
    if (v.is_null()) return false;
    if (v.kind != Kind::kInteger) {
      return base::make_error(errors::kTypeNotInteger, {value::kind_name(v.kind)});
    }
    out.has_type = true;
    out.type = static_cast<tree::FieldType>(v.integer);
  }
  const bool has_ns = ns_kind != ast::NamespaceKind::kAny && ns_name;
  const bool has_local =
      (name_kind == ast::NameKind::kLiteral || name_kind == ast::NameKind::kExpr) && local_name;
  if (has_ns && has_local) {
    out.mode = StepMatch::Mode::kExact;
    out.qname = tree.names.qname(ns_name, local_name);
  } else if (has_local) {
    out.mode = StepMatch::Mode::kLocalName;
    out.local = local_name;
  } else if (has_ns && ns_kind != ast::NamespaceKind::kNone) {
    out.mode = StepMatch::Mode::kNamespace;
    out.ns = ns_name;
  } else {
    out.mode = StepMatch::Mode::kAny;
  }
  return true;
}

Result<int64_t> eval_index(Frame& f, const ExprNode& index) {
  Value v;
  MS_TRY(index.eval(f, v));
  if (v.kind != Kind::kInteger) {
    return base::make_error(errors::kIndexNotInteger, {value::kind_name(v.kind)});
  }
  if (v.integer < 1) return base::make_error(errors::kIndexNotPositive, {v.integer});
  return v.integer;
}

Status check_writable(const Ref& ref) {
  if (!ref.is_read_only) return {};
  Element* e = ref.element;
  while (e && e->parent) e = e->parent;
  return base::make_error(errors::kTreeReadOnly, {e ? e->local_name() : std::string_view("tree")});
}

Status StepNode::find(Frame& f, tree::TreeContext& tree, Element* parent, Element*& out) const {
  StepMatch scratch;
  const StepMatch* m = &fixed;
  out = nullptr;
  if (!is_fixed) {
    if (!MS_TRY(match(f, tree, scratch))) return {};
    m = &scratch;
  }
  switch (index_kind) {
    case ast::IndexKind::kNone:
    case ast::IndexKind::kFirst:
    case ast::IndexKind::kList:
      out = first_match(*m, parent);
      return {};
    case ast::IndexKind::kNumber:
    case ast::IndexKind::kFromFirst: {
      int64_t n = index ? MS_TRY(eval_index(f, *index)) : 1;
      out = nth_match(*m, parent, n, f.cursors[cursor]);
      return {};
    }
    case ast::IndexKind::kLast:
    case ast::IndexKind::kFromLast: {
      int64_t n = index ? MS_TRY(eval_index(f, *index)) : 1;
      out = nth_match_from_end(*m, parent, n);
      return {};
    }
  }
  return {};
}

Result<const base::QName*> name_for_create(tree::TreeContext& tree, const StepNode& step,
                                           const StepMatch& m) {
  if (m.mode == StepMatch::Mode::kExact) return m.qname;
  if (step.name_kind == ast::NameKind::kAbsent) return tree.names.empty_qname();
  if (m.mode == StepMatch::Mode::kLocalName) {
    return tree.names.qname(tree.names.empty(), m.local);  // *:name
  }
  // (XMLNSC.XmlDeclaration)* = ...: the type says all that the writer needs.
  if (step.name_kind == ast::NameKind::kAny && m.has_type) return tree.names.empty_qname();
  return base::make_error(errors::kCannotCreateAny, {});
}

Element* create_child(Frame& f, const Ref& parent, const base::QName* name, tree::FieldType type) {
  tree::TreeContext& tree = f.x.context_of(parent);
  Element* e = nullptr;
  if (f.x.is_message_root(parent.element) && name->ns->size == 0) {
    if (const tree::Domain* d = f.x.host.find_domain(name->local->view())) {
      e = tree::make_domain_root(tree, *d, name);
    }
  }
  if (!e) e = tree::make_element(tree, name, type);
  tree::append_child(parent.element, e);
  return e;
}

Status StepNode::find_or_create(Frame& f, const Ref& parent, Element*& out) const {
  tree::TreeContext& tree = f.x.context_of(parent);
  StepMatch scratch;
  if (!is_fixed && !MS_TRY(match(f, tree, scratch))) return base::make_error(errors::kNameNull, {});
  const StepMatch& m = is_fixed ? fixed : scratch;
  int64_t n = 1;
  switch (index_kind) {
    case ast::IndexKind::kNone:
    case ast::IndexKind::kFirst:
    case ast::IndexKind::kList:
      out = first_match(m, parent.element);
      break;
    case ast::IndexKind::kNumber:
    case ast::IndexKind::kFromFirst: {
      if (index) n = MS_TRY(eval_index(f, *index));
      ChildCursor& c = f.cursors[cursor];
      out = nth_match(m, parent.element, n, c);
      // The cursor rests on the last match, so the gap check costs nothing extra.
      if (!out && n > 1 && (c.at == nullptr || c.index != n - 1)) {
        return base::make_error(errors::kIndexGap,
                                {m.qname ? m.qname->local->view() : std::string_view("*"), n});
      }
      break;
    }
    case ast::IndexKind::kLast:
    case ast::IndexKind::kFromLast:
      if (index) n = MS_TRY(eval_index(f, *index));
      out = nth_match_from_end(m, parent.element, n);
      if (!out && n > 1) {
        return base::make_error(errors::kIndexGap,
                                {m.qname ? m.qname->local->view() : std::string_view("*"), n});
      }
      break;
  }
  MS_TRY(f.x.check_parse());
  if (out) return {};
  const base::QName* name = MS_TRY(name_for_create(tree, *this, m));
  out = create_child(f, parent, name, m.has_type ? m.type : tree::kName);
  return {};
}

// ---------------------------------------------------------------- PathNode

namespace {

bool is_read_only_correlation(const Execution& x, ast::Correlation c) {
  switch (c) {
    case ast::Correlation::kInputRoot:
    case ast::Correlation::kInputBody:
    case ast::Correlation::kInputProperties:
    case ast::Correlation::kInputExceptionList:
      return true;
    case ast::Correlation::kRoot:
    case ast::Correlation::kBody:
    case ast::Correlation::kProperties:
    case ast::Correlation::kExceptionList:
      return x.module != nullptr;  // expressions outside modules do not write
    default:
      return false;
  }
}

Element* correlation_element(Execution& x, ast::Correlation c) {
  auto root = [&](ast::Correlation r) { return x.roots[static_cast<size_t>(r)]; };
  switch (c) {
    case ast::Correlation::kInputBody: {
      Element* r = root(ast::Correlation::kInputRoot);
      return r ? tree::last_child(r) : nullptr;
    }
    case ast::Correlation::kBody: {
      Element* r = root(ast::Correlation::kRoot);
      return r ? tree::last_child(r) : nullptr;
    }
    case ast::Correlation::kInputProperties: {
      Element* r = root(ast::Correlation::kInputRoot);
      return r ? tree::find_child(r, "Properties") : nullptr;
    }
    case ast::Correlation::kProperties: {
      Element* r = root(ast::Correlation::kRoot);
      return r ? tree::find_child(r, "Properties") : nullptr;
    }
    default:
      return root(c);
  }
}

}  // namespace

void PathNode::find_quick_names() {
  for (const StepNode& s : steps) {
    const bool is_name = s.is_fixed && s.index_kind == ast::IndexKind::kNone &&
                         s.fixed.mode == StepMatch::Mode::kExact && !s.fixed.has_type;
    if (!is_name) {
      quick_names.clear();
      return;
    }
    quick_names.push_back(s.fixed.qname);
  }
}

void PathNode::decide_start() {
  decide_start_kind();
  if (start_kind != Start::kGeneral) find_quick_names();
}

void PathNode::decide_start_kind() {
  if (root_index || ast->root_index != ast::IndexKind::kNone) return;
  if (ast->ref == ast::RefKind::kVariable) {
    const ast::Variable& v = *ast->variable;
    if (v.storage != ast::Storage::kLocal && v.storage != ast::Storage::kParameter &&
        v.storage != ast::Storage::kRow) {
      return;
    }
    start_kind = Start::kLocal;
    start_index = v.slot;
    is_start_read_only = v.is_constant && v.storage != ast::Storage::kRow;
    return;
  }
  if (ast->ref != ast::RefKind::kCorrelation) return;
  switch (ast->correlation) {
    case ast::Correlation::kInputRoot:
    case ast::Correlation::kInputExceptionList:
      is_start_read_only = true;
      break;
    case ast::Correlation::kInputLocalEnvironment:
    case ast::Correlation::kOutputRoot:
    case ast::Correlation::kOutputLocalEnvironment:
    case ast::Correlation::kOutputExceptionList:
    case ast::Correlation::kEnvironment:
      break;
    default:
      return;
  }
  start_kind = Start::kRoot;
  start_index = static_cast<uint32_t>(ast->correlation);
}

Status PathNode::start_general(Frame& f, Ref& out) const {
  Execution& x = f.x;
  if (ast->ref == ast::RefKind::kVariable) {
    const ast::Variable& v = *ast->variable;
    Slot* slot = v.storage == ast::Storage::kLocal || v.storage == ast::Storage::kParameter ||
                         v.storage == ast::Storage::kRow
                     ? &f.slots[v.slot]
                     : MS_TRY(x.slot_of(f, v));
    out = slot->ref;
    if (out.shared) x.lock_shared();
    if (x.may_have_deleted && out.element && is_disconnected(out.element)) out.element = nullptr;
    if (v.is_constant && v.storage != ast::Storage::kRow) out.is_read_only = true;
  } else if (ast->ref == ast::RefKind::kCorrelation) {
    if (ast->correlation == ast::Correlation::kDatabase) {
      return x.host.execute_database(ast->source);
    }
    out.element = correlation_element(x, ast->correlation);
    out.shared = nullptr;
    out.is_read_only = is_read_only_correlation(x, ast->correlation);
    if (x.tree().has_parse_error()) return x.tree().take_parse_error();
  } else {
    return base::make_error(errors::kNotAField, {ast->source});
  }
  if (root_index && out.element) {
    if (MS_TRY(eval_index(f, *root_index)) != 1) out.element = nullptr;
  }
  return {};
}

Status PathNode::find_steps(Frame& f, Ref& out, size_t count) const {
  MS_TRY(start(f, out));
  Element* e = out.element;
  for (size_t i = 0; i < count && e; ++i) {
    const StepNode& s = steps[i];
    if (s.is_fixed && s.index_kind == ast::IndexKind::kNone) {
      const bool is_name = s.fixed.mode == StepMatch::Mode::kExact && !s.fixed.has_type;
      e = is_name ? quick::child_named(e, s.fixed.qname) : first_match(s.fixed, e);
      continue;
    }
    if (s.is_simple_index()) {
      const Value& n = f.slots[s.index_slot].value;
      if (n.kind == Kind::kInteger && n.integer > 0) {
        e = nth_match_fixed(s.fixed, e, n.integer, f.cursors[s.cursor]);
        continue;
      }
    }
    Element* next = nullptr;
    MS_TRY(s.find(f, f.x.context_of(out), e, next));
    e = next;
  }
  out.element = e;
  return f.x.check_parse();
}

Status PathNode::find_or_create(Frame& f, Ref& out) const {
  MS_TRY(start(f, out));
  if (!out.element) return {};  // an inert reference: the caller does nothing
  MS_TRY(check_writable(out));
  for (const StepNode& s : steps) {
    Element* next = nullptr;
    MS_TRY(s.find_or_create(f, out, next));
    out.element = next;
  }
  return {};
}

Status PathNode::find_parent(Frame& f, Ref& parent, StepMatch& last, bool& matches) const {
  matches = false;
  MS_TRY(find_steps(f, parent, steps.empty() ? 0 : steps.size() - 1));
  if (parent.element && !steps.empty()) {
    matches = MS_TRY(steps.back().match(f, f.x.context_of(parent), last));
  }
  return {};
}

Status PathNode::create_parent(Frame& f, Ref& parent) const {
  MS_TRY(start(f, parent));
  if (!parent.element) return {};
  MS_TRY(check_writable(parent));
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    Element* next = nullptr;
    MS_TRY(steps[i].find_or_create(f, parent, next));
    parent.element = next;
  }
  return {};
}

namespace {

// XMLNS keeps the text of an element as nameless value children.
Status text_of_children(Frame& f, Element* e, Value& out) {
  tree::DomainRoot* root = tree::domain_root_of(e);
  if (!root || std::string_view(root->domain->name).substr(0, 5) != "XMLNS" ||
      std::string_view(root->domain->name) == "XMLNSC") {
    return {};
  }
  Value found;
  for (Element* c = tree::first_child(e); c; c = tree::next_sibling(c)) {
    if ((c->type & tree::kTypeClassMask) != tree::kValue) continue;
    Value v = tree::scalar_value(c);
    if (v.kind != Kind::kCharacter) continue;
    if (found.is_null()) {
      found = v;
    } else {
      char* p = f.x.arena().bytes(found.size + v.size);
      std::memcpy(p, found.data, found.size);
      std::memcpy(p + found.size, v.data, v.size);
      found = Value::make_character({p, found.size + v.size});
    }
  }
  out = found;
  return {};
}

}  // namespace

Status field_value(Frame& f, const Ref& ref, Value& out) {
  if (!ref.element) {
    out = Value::null();
    return {};
  }
  out = tree::scalar_value(ref.element);
  if (out.is_null() && (ref.element->type & tree::kTypeClassMask) == tree::kName) {
    MS_TRY(text_of_children(f, ref.element, out));
  }
  if (ref.shared && !out.is_null()) out = value::copy_value(out, f.x.arena());
  return f.x.check_parse();
}

Status PathNode::eval(Frame& f, Value& out) const {
  Ref ref;
  MS_TRY(find(f, ref));
  return field_value(f, ref, out);
}

Status PathNode::for_each(Frame& f, ItemSink& sink) const {
  Ref item;
  bool stop = false;
  if (steps.empty()) {
    MS_TRY(start(f, item));
    return item.element ? sink.item(f, item, false, stop) : Status();
  }
  StepMatch m;
  bool matches = false;
  MS_TRY(find_parent(f, item, m, matches));
  if (!item.element || !matches) return {};
  for (Element* e = first_match(m, item.element); e && !stop;) {
    // The next one is found first: the sink may delete or move the current one.
    Element* next = next_match(m, e);
    MS_TRY(f.x.check_parse());
    item.element = e;
    MS_TRY(sink.item(f, item, false, stop));
    if (next && next->has_flag(tree::kFlagDetached)) next = next_match(m, e);
    e = next;
  }
  return f.x.check_parse();
}

Status PathNode::count(Frame& f, int64_t enough, int64_t& out) const {
  Ref parent;
  out = 0;
  if (steps.empty()) {
    MS_TRY(start(f, parent));
    out = parent.element ? 1 : 0;
    return {};
  }
  const StepNode& last = steps.back();
  if (last.is_fixed && last.index_kind == ast::IndexKind::kList && enough == 0) {
    MS_TRY(find_steps(f, parent, steps.size() - 1));
    if (parent.element)
      out = count_matches_fixed(last.fixed, parent.element, f.cursors[last.cursor]);
    return f.x.check_parse();
  }
  StepMatch m;
  bool matches = false;
  MS_TRY(find_parent(f, parent, m, matches));
  if (!parent.element || !matches) return {};
  if (steps.back().index_kind != ast::IndexKind::kList) {
    Element* e = nullptr;
    MS_TRY(steps.back().find(f, f.x.context_of(parent), parent.element, e));
    out = e ? 1 : 0;
  } else if (enough > 0) {
    for (Element* e = first_match(m, parent.element); e; e = next_match(m, e)) {
      if (++out >= enough) break;
    }
  } else {
    out = count_matches(m, parent.element, f.cursors[steps.back().cursor]);
  }
  return f.x.check_parse();
}

}  // namespace millstream::esql
