// CREATE, DELETE, DETACH, ATTACH and MOVE (spec A3, tree statements).
#include "esql/bit_stream.h"
#include "esql/compile.h"
#include "esql/errors_gen.h"
#include "esql/shared.h"
#include "tree/domain.h"

namespace millstream::esql {

using tree::Element;
using value::Kind;
using value::Value;

namespace {

Status text_clause(Frame& f, const ExprNode& e, std::string_view& out) {
  Value v;
  MS_TRY(e.eval(f, v));
  if (v.kind == Kind::kCharacter) {
    out = v.text();
    return {};
  }
  if (v.is_null()) return base::make_error(errors::kNameNull, {});
  return base::make_error(errors::kNameNotCharacter, {value::kind_name(v.kind)});
}

Status place_element(const Ref& where, ast::Place place, Element* e) {
  switch (place) {
    case ast::Place::kFirstChild:
      tree::prepend_child(where.element, e);
      return {};
    case ast::Place::kPreviousSibling:
    case ast::Place::kNextSibling:
      if (!where.element->parent) {
        return base::make_error(errors::kNoSiblings, {where.element->local_name()});
      }
      if (place == ast::Place::kNextSibling) {
        tree::insert_after(where.element, e);
      } else {
        tree::insert_before(where.element, e);
      }
      return {};
    default:
      tree::append_child(where.element, e);
      return {};
  }
}

bool is_sibling_place(ast::Place p) {
  return p == ast::Place::kPreviousSibling || p == ast::Place::kNextSibling;
}

// What the TYPE, NAMESPACE, NAME and IDENTITY clauses say.
struct Identity {
  bool has_type = false;
  bool has_ns = false;
  bool has_name = false;
  tree::FieldType type = 0;
  const base::Name* ns = nullptr;
  const base::Name* name = nullptr;
};

class IdentityClauses {
 public:
  IdentityClauses(Compiler& c, const ast::Expr* type, const ast::Expr* ns, const ast::Expr* name,
                  const ast::PathStep* identity)
      : type_(c.expr(type)), ns_(c.expr(ns)), name_(c.expr(name)), has_step_(identity != nullptr) {
    if (identity) step_ = c.step(*identity);
  }
  Status eval(Frame& f, tree::TreeContext& tree, Identity& out) const {
    if (has_step_) return eval_step(f, tree, out);
    if (type_) {
      Value v;
      MS_TRY(type_->eval(f, v));
      if (v.kind != Kind::kInteger) {
        return base::make_error(errors::kTypeNotInteger, {value::kind_name(v.kind)});
      }
      out.has_type = true;
      out.type = static_cast<tree::FieldType>(v.integer);
    }
    std::string_view text;
    if (ns_) {
      Value v;
      MS_TRY(ns_->eval(f, v));
      if (!v.is_null()) MS_TRY(text_clause(f, *ns_, text));
      out.has_ns = true;
      out.ns = tree.names.intern(v.is_null() ? std::string_view() : text);
    }
    if (name_) {
      MS_TRY(text_clause(f, *name_, text));
      out.has_name = true;
      out.name = tree.names.intern(text);
    }
    return {};
  }

 private:
  Status eval_step(Frame& f, tree::TreeContext& tree, Identity& out) const {
    StepMatch m;
    if (!MS_TRY(step_.match(f, tree, m))) return base::make_error(errors::kNameNull, {});
    out.has_type = m.has_type;
    out.type = m.type;
    if (m.mode == StepMatch::Mode::kExact) {
      out.has_ns = out.has_name = true;
      out.ns = m.qname->ns;
      out.name = m.qname->local;
    } else if (m.mode == StepMatch::Mode::kLocalName) {
      out.has_name = true;
      out.name = m.local;
    } else if (m.mode == StepMatch::Mode::kNamespace) {
      out.has_ns = true;
      out.ns = m.ns;
    }
    return {};
  }
  const ExprNode* type_;
  const ExprNode* ns_;
  const ExprNode* name_;
  bool has_step_;
  StepNode step_;
};

// ---------------------------------------------------------------- CREATE

class CreateNode : public SimpleStmt {
 public:
  CreateNode(Compiler& c, const ast::CreateStmt& s)
      : SimpleStmt(s),
        target_(c.path(s.target)),
        as_(c.path(s.as)),
        domain_(c.expr(s.domain)),
        identity_(c, s.type, s.ns, s.name, s.identity),
        value_(c.expr(s.value)),
        from_(c.path(s.from)),
        parse_(c, s.parse) {}
  Status execute(Frame& f) const override {
    const auto& s = ast::as<ast::CreateStmt>(*ast);
    Ref made;
    if (s.place == ast::Place::kField) {
      MS_TRY(create_field(f, made));
    } else {
      MS_TRY(create_relative(f, s, made));
    }
    if (!made.element) return {};
    if (as_) {
      Slot* slot = MS_TRY(f.x.slot_of(f, *as_->variable()));
      bind_reference(f, *slot, made);
      slot->last_move = true;
    }
    return {};
  }

 private:
  // CREATE FIELD: navigates, makes what is missing, then applies the clauses to the field.
  Status create_field(Frame& f, Ref& made) const {
    const auto& s = ast::as<ast::CreateStmt>(*ast);
    MS_TRY(target_->find_or_create(f, made));
    if (!made.element) return {};
    MS_TRY(check_writable(made));
    Identity id;
    tree::TreeContext& tree = f.x.context_of(made);
    MS_TRY(identity_.eval(f, tree, id));
    if (id.has_type) tree::set_type(made.element, id.type);
    if (id.has_name || id.has_ns) {
      const base::QName* old = made.element->name;
      tree::set_name(made.element, tree.names.qname(id.has_ns ? id.ns : old->ns,
                                                    id.has_name ? id.name : old->local));
    }
    if (s.content == ast::CreateFrom::kValue) return give_value(f, made, id);
    if (s.content == ast::CreateFrom::kFrom) return copy_from(f, made, id);
    return {};
  }

  Status create_relative(Frame& f, const ast::CreateStmt& s, Ref& made) const {
    Ref where;
    if (is_sibling_place(s.place)) {
      MS_TRY(target_->find(f, where));
      if (!where.element) return base::make_error(errors::kNoTarget, {target_->ast->source});
    } else {
      MS_TRY(target_->find_or_create(f, where));
      if (!where.element) return {};
    }
    MS_TRY(check_writable(where));
    made = where;
    tree::TreeContext& tree = f.x.context_of(where);
    Identity id;
    MS_TRY(identity_.eval(f, tree, id));
    const tree::Domain* domain = nullptr;
    MS_TRY(find_named_domain(f, domain));
    if (s.content == ast::CreateFrom::kParse) return create_parsed(f, s, where, id, domain, made);
    Ref source;
    if (s.content == ast::CreateFrom::kFrom) MS_TRY(from_->find(f, source));
    MS_TRY(make_element(f, s, where, id, domain, source, made.element));
    MS_TRY(place_element(where, s.place, made.element));
    switch (s.content) {
      case ast::CreateFrom::kValue:
      case ast::CreateFrom::kRepeat:
        return value_ ? give_value(f, made, id) : Status();
      case ast::CreateFrom::kFrom:
        return copy_from(f, made, id);
      default:
        return {};
    }
  }

  Status make_element(Frame& f, const ast::CreateStmt& s, const Ref& where, const Identity& id,
                      const tree::Domain* domain, const Ref& source, Element*& out) const {
    tree::TreeContext& tree = f.x.context_of(where);
    const base::Name* ns = id.has_ns ? id.ns : tree.names.empty();
    if (!domain && !domain_ && id.has_name && ns->size == 0 &&
        f.x.is_message_root(is_sibling_place(s.place) ? where.element->parent : where.element)) {
      domain = f.x.host.find_domain(id.name->view());
    }
    if (domain) {
      const base::QName* name = id.has_name ? tree.names.qname(ns, id.name)
                                            : tree.names.qname(std::string_view(domain->name));
      out = tree::make_domain_root(tree, *domain, name);
      return {};
    }
    const base::QName* name = tree.names.empty_qname();
    tree::FieldType type = id.has_type ? id.type : tree::kName;
    if (s.content == ast::CreateFrom::kRepeat) {
      name = where.element->name;
      type = where.element->type;
    } else if (id.has_name) {
      name = tree.names.qname(ns, id.name);
    } else if (source.element) {
      name = source.shared == where.shared
                 ? source.element->name
                 : tree.names.qname(source.element->namespace_uri(), source.element->local_name());
    } else if (!id.has_type && s.content == ast::CreateFrom::kValue) {
      type = tree::kValue;
    }
    out = tree::make_element(tree, name, type);
    return {};
  }

  Status find_named_domain(Frame& f, const tree::Domain*& out) const {
    if (!domain_) return {};
    std::string_view name;
    MS_TRY(text_clause(f, *domain_, name));
    out = f.x.host.find_domain(name);
    if (!out) return base::make_error(errors::kNoSuchDomain, {name});
    return {};
  }

  Status give_value(Frame& f, const Ref& made, const Identity& id) const {
    Value v;
    MS_TRY(value_->eval(f, v));
    if (v.is_null()) {
      Element* e = made.element;
      if (tree::first_child(e)) return {};
      // NULL is a value: a folder would be an empty object in JSON.
      if (e->type == tree::kName && !id.has_type && !e->has_flag(tree::kFlagDomainRoot) &&
          e->parent) {
        tree::set_type(e, tree::kNameValue);
      }
      tree::set_value(e, v);
      return {};
    }
    MS_TRY(assign_value(f, made, v));
    if (id.has_type) made.element->type = id.type;
    return {};
  }

  Status copy_from(Frame& f, const Ref& made, const Identity& id) const {
    Ref source;
    MS_TRY(from_->find(f, source));
    if (!source.element) return {};
    MS_TRY(copy_field(f, made, source));
    if (id.has_type) made.element->type = id.type;
    return {};
  }

  // The bytes become a tree of their own domain, or of the one the place belongs to; in folder mode
  // what the bytes hold is the new field itself.
  Status create_parsed(Frame& f, const ast::CreateStmt& s, const Ref& where, const Identity& id,
                       const tree::Domain* domain, Ref& made) const {
    BitStreamArguments arguments;
    bool has_null = false;
    Value bytes;
    MS_TRY(parse_.eval(f, arguments, has_null));
    MS_TRY(value_->eval(f, bytes));
    if (bytes.kind != Kind::kBlob) {
      return base::make_error(errors::kParseNotBlob, {value::kind_name(bytes.kind)});
    }
    const bool is_own_domain = domain != nullptr;
    if (!domain) {
      if (tree::DomainRoot* root = tree::domain_root_of(where.element)) domain = root->domain;
    }
    if (!domain || !domain->parse) {
      return base::make_error(errors::kParseNoDomain, {target_->ast->source});
    }
    tree::TreeContext& tree = f.x.context_of(where);
    if (where.shared) bytes = value::copy_value(bytes, tree.arena);
    const base::QName* name =
        id.has_name ? tree.names.qname(id.has_ns ? id.ns : tree.names.empty(), id.name)
                    : tree.names.qname(std::string_view(domain->name));
    tree::DomainRoot* root = tree::make_domain_root(tree, *domain, name);
    tree::ParseOptions options;
    options.ccsid = arguments.ccsid;
    options.encoding = arguments.encoding;
    options.message_set = arguments.message_set;
    options.message_type = arguments.message_type;
    options.message_format = arguments.message_format;
    options.mode = bit_stream_mode(arguments.options);
    MS_TRY(domain->parse(tree, root, bytes.text(), options));
    if (is_own_domain) {
      MS_TRY(place_element(where, s.place, root));
      made.element = root;
      // A tree of SHARED variables is never parsed on demand: the lock may not be held then.
      if (where.shared) tree::complete(root);
      return take_error(f, tree);
    }
    tree::complete(root);
    MS_TRY(take_error(f, tree));
    Element* first = root->first;
    if (!first) return base::make_error(errors::kParseNoDomain, {target_->ast->source});
    tree::detach(first);
    if (id.has_name) first->name = name;
    made.element = first;
    return place_element(where, s.place, first);
  }
  static Status take_error(Frame& f, tree::TreeContext& tree) {
    if (tree.has_parse_error()) return tree.take_parse_error();
    return f.x.check_parse();
  }

  const PathNode* target_;
  const PathNode* as_;
  const ExprNode* domain_;
  IdentityClauses identity_;
  const ExprNode* value_;
  const PathNode* from_;
  BitStreamClauses parse_;
};

// ---------------------------------------------------------------- DELETE, DETACH, ATTACH

class DeleteNode : public SimpleStmt {
 public:
  DeleteNode(Compiler& c, const ast::DeleteStmt& s)
      : SimpleStmt(s), place_(s.place), target_(c.path(s.target)) {}
  Status execute(Frame& f) const override {
    Ref ref;
    MS_TRY(target_->find(f, ref));
    if (!ref.element) return {};
    MS_TRY(check_writable(ref));
    Element* e = ref.element;
    switch (place_) {
      case ast::Place::kFirstChild:
        e = tree::first_child(e);
        break;
      case ast::Place::kLastChild:
        e = tree::last_child(e);
        break;
      case ast::Place::kPreviousSibling:
        e = tree::previous_sibling(e);
        break;
      case ast::Place::kNextSibling:
        e = tree::next_sibling(e);
        break;
      default:
        break;
    }
    MS_TRY(f.x.check_parse());
    if (!e) return {};
    f.x.may_have_deleted = true;
    if (e->parent) {
      tree::detach(e);
    } else {
      tree::detach_children(e);
    }
    return f.x.check_parse();
  }

 private:
  ast::Place place_;
  const PathNode* target_;
};

class DetachNode : public SimpleStmt {
 public:
  DetachNode(Compiler& c, const ast::DetachStmt& s) : SimpleStmt(s), target_(c.path(s.target)) {}
  Status execute(Frame& f) const override {
    Ref ref;
    MS_TRY(target_->find(f, ref));
    if (!ref.element) return {};
    MS_TRY(check_writable(ref));
    if (!ref.element->parent) {
      return base::make_error(errors::kDetachRoot, {ref.element->local_name()});
    }
    tree::detach(ref.element);
    // Detached but alive: references to it still work, and ATTACH takes it.
    ref.element->clear_flag(tree::kFlagDetached);
    ref.element->set_flag(tree::kFlagFree);
    return f.x.check_parse();
  }

 private:
  const PathNode* target_;
};

class AttachNode : public SimpleStmt {
 public:
  AttachNode(Compiler& c, const ast::AttachStmt& s)
      : SimpleStmt(s), place_(s.place), what_(c.path(s.what)), to_(c.path(s.to)) {}
  Status execute(Frame& f) const override {
    Ref what, to;
    MS_TRY(what_->find(f, what));
    if (!what.element) return {};
    MS_TRY(check_writable(what));
    if (is_sibling_place(place_)) {
      MS_TRY(to_->find(f, to));
      if (!to.element) return base::make_error(errors::kNoTarget, {to_->ast->source});
    } else {
      MS_TRY(to_->find_or_create(f, to));
      if (!to.element) return {};
    }
    MS_TRY(check_writable(to));
    for (Element* e = to.element; e; e = e->parent) {
      if (e == what.element) return base::make_error(errors::kAttachCycle, {});
    }
    if (!what.element->parent && !what.element->has_flag(tree::kFlagFree)) {
      return base::make_error(errors::kDetachRoot, {what.element->local_name()});
    }
    if (what.shared != to.shared) return base::make_error(errors::kAttachAcross, {});
    if (is_sibling_place(place_) && !to.element->parent) {
      return base::make_error(errors::kNoSiblings, {to.element->local_name()});
    }
    if (what.element->parent) tree::detach(what.element);
    return place_element(to, place_, what.element);
  }

 private:
  ast::Place place_;
  const PathNode* what_;
  const PathNode* to_;
};

// ---------------------------------------------------------------- MOVE

class MoveNode : public SimpleStmt {
 public:
  MoveNode(Compiler& c, const ast::MoveStmt& s)
      : SimpleStmt(s),
        reference_(c.path(s.reference)),
        to_(c.path(s.to)),
        identity_(c, s.type, s.ns, s.name, s.identity) {}
  Status execute(Frame& f) const override {
    const auto& s = ast::as<ast::MoveStmt>(*ast);
    Slot* slot = MS_TRY(f.x.slot_of(f, *reference_->variable()));
    Ref found;
    if (s.place == ast::Place::kField) {
      MS_TRY(to_->find(f, found));
    } else {
      MS_TRY(reference_->start(f, found));
      if (found.element) MS_TRY(step(f, s, found));
    }
    slot->last_move = found.element != nullptr;
    if (found.element) bind_reference(f, *slot, found);
    return {};
  }

 private:
  // `at` becomes the element moved to, or null.
  Status step(Frame& f, const ast::MoveStmt& s, Ref& at) const {
    StepMatch m;
    MS_TRY(match(f, s, at, m));
    Element* e = at.element;
    switch (s.place) {
      case ast::Place::kParent:
        e = e->parent;
        if (e && !step_matches(m, e)) e = nullptr;
        break;
      case ast::Place::kFirstChild:
        e = first_match(m, e);
        break;
      case ast::Place::kLastChild:
        e = nth_match_from_end(m, e, 1);
        break;
      case ast::Place::kPreviousSibling:
        e = previous_match(m, e);
        break;
      default:
        e = next_match(m, e);
        break;
    }
    at.element = e;
    return f.x.check_parse();
  }
  Status match(Frame& f, const ast::MoveStmt& s, const Ref& at, StepMatch& m) const {
    tree::TreeContext& tree = f.x.context_of(at);
    Identity id;
    MS_TRY(identity_.eval(f, tree, id));
    if (s.is_repeat_type) {
      id.has_type = true;
      id.type = at.element->type;
    }
    if (s.is_repeat_namespace) {
      id.has_ns = true;
      id.ns = at.element->name->ns;
    }
    if (s.is_repeat_name) {
      id.has_name = true;
      id.name = at.element->name->local;
    }
    m.has_type = id.has_type;
    m.type = id.type;
    // A name alone means names in no namespace, as in a path.
    const bool is_any_ns =
        s.is_any_namespace || (s.identity && s.identity->ns_kind == ast::NamespaceKind::kAny);
    if (id.has_name && !is_any_ns) {
      m.mode = StepMatch::Mode::kExact;
      m.qname = tree.names.qname(id.has_ns ? id.ns : tree.names.empty(), id.name);
    } else if (id.has_name) {
      m.mode = StepMatch::Mode::kLocalName;
      m.local = id.name;
    } else if (id.has_ns && !is_any_ns) {
      m.mode = StepMatch::Mode::kNamespace;
      m.ns = id.ns;
    }
    return {};
  }
  const PathNode* reference_;
  const PathNode* to_;
  IdentityClauses identity_;
};

}  // namespace

const StmtNode* compile_tree_statement(Compiler& c, const ast::Stmt& s) {
  switch (s.kind) {
    case ast::StmtKind::kCreate:
      return c.make<CreateNode>(c, ast::as<ast::CreateStmt>(s));
    case ast::StmtKind::kDelete:
      return c.make<DeleteNode>(c, ast::as<ast::DeleteStmt>(s));
    case ast::StmtKind::kDetach:
      return c.make<DetachNode>(c, ast::as<ast::DetachStmt>(s));
    case ast::StmtKind::kAttach:
      return c.make<AttachNode>(c, ast::as<ast::AttachStmt>(s));
    default:
      return c.make<MoveNode>(c, ast::as<ast::MoveStmt>(s));
  }
}

}  // namespace millstream::esql
