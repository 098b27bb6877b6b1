// Functions over fields and lists: FIELDNAME ... CARDINALITY, ASBITSTREAM (spec A8).
#include "esql/bit_stream.h"
#include "esql/compile.h"
#include "esql/errors_gen.h"
#include "esql/shared.h"
#include "tree/assembly.h"
#include "tree/domain.h"

namespace millstream::esql {

using tree::Element;
using value::Kind;
using value::Value;

namespace {

class FieldFunctionNode : public ExprNode {
 public:
  FieldFunctionNode(Compiler& c, const ast::CallExpr& e) : ast_(e) {
    for (const ast::Expr* a : e.args) {
      // A bare scalar variable is a value, all other paths are fields.
      const PathNode* p =
          a->kind == ast::ExprKind::kPath ? path_of(c, ast::as<ast::PathExpr>(*a)) : nullptr;
      args_.push_back(p && !p->is_scalar_variable() ? p : c.expr(a));
    }
  }
  Status eval(Frame& f, Value& out) const override {
    switch (ast_.field_function) {
      case ast::FieldFunction::kCardinality:
      case ast::FieldFunction::kExists:
      case ast::FieldFunction::kSingular:
        return eval_count(f, out);
      case ast::FieldFunction::kLastMove:
        return eval_last_move(f, out);
      case ast::FieldFunction::kSameField:
        return eval_same_field(f, out);
      default:
        return eval_property(f, out);
    }
  }

 private:
  static const PathNode* path_of(Compiler& c, const ast::PathExpr& e) {
    return e.ref == ast::RefKind::kVariable || e.ref == ast::RefKind::kCorrelation ? c.path(&e)
                                                                                   : nullptr;
  }
  class Count : public ItemSink {
   public:
    explicit Count(int64_t enough) : enough_(enough) {}
    Status item(Frame&, const Ref&, bool, bool& stop) override {
      stop = ++count == enough_;
      return {};
    }
    int64_t count = 0;

   private:
    int64_t enough_;
  };
  Status eval_count(Frame& f, Value& out) const {
    const ast::FieldFunction fn = ast_.field_function;
    const int64_t enough = fn == ast::FieldFunction::kExists     ? 1
                           : fn == ast::FieldFunction::kSingular ? 2
                                                                 : 0;
    int64_t n = 0;
    const ExprNode& list = *args_[0];
    if (const PathNode* path = list.path()) {
      MS_TRY(path->count(f, enough, n));
    } else if (list.shape() == Shape::kList) {
      Count sink(enough);
      MS_TRY(list.for_each(f, sink));
      n = sink.count;
    } else if (list.shape() == Shape::kScalar) {
      Value v;
      MS_TRY(list.eval(f, v));
      n = v.is_null() ? 0 : 1;
    } else {
      Ref ref;
      MS_TRY(list.eval_ref(f, ref));
      n = ref.element ? 1 : 0;
    }
    out = fn == ast::FieldFunction::kCardinality ? Value::make_integer(n)
                                                 : Value::make_boolean(n == 1);
    return {};
  }
  Status eval_last_move(Frame& f, Value& out) const {
    const PathNode* path = args_[0]->path();
    if (!path || !path->is_bare_variable()) return base::make_error(errors::kNotAReference, {});
    Slot* slot = MS_TRY(f.x.slot_of(f, *path->variable()));
    bool moved = path->variable()->type.kind == ast::TypeKind::kReference ? slot->last_move : true;
    if (!slot->ref.element) moved = false;
    if (moved && f.x.may_have_deleted) moved = !is_disconnected(slot->ref.element);
    out = Value::make_boolean(moved);
    return {};
  }
  Status eval_same_field(Frame& f, Value& out) const {
    Ref a, b;
    MS_TRY(args_[0]->eval_ref(f, a));
    MS_TRY(args_[1]->eval_ref(f, b));
    out = a.element && b.element ? Value::make_boolean(a.element == b.element) : Value::null();
    return {};
  }
  Status eval_property(Frame& f, Value& out) const {
    if (args_[0]->shape() == Shape::kScalar &&
        ast_.field_function == ast::FieldFunction::kFieldValue) {
      return args_[0]->eval(f, out);
    }
    Ref ref;
    if (args_[0]->path()) {
      MS_TRY(args_[0]->path()->find(f, ref));
    } else {
      MS_TRY(args_[0]->eval_ref(f, ref));
    }
    out = Value::null();
    if (!ref.element) return {};
    switch (ast_.field_function) {
      case ast::FieldFunction::kFieldName:
        out = Value::make_character(ref.element->local_name());
        break;
      case ast::FieldFunction::kFieldNamespace:
        out = Value::make_character(ref.element->namespace_uri());
        break;
      case ast::FieldFunction::kFieldType:
        out = Value::make_integer(ref.element->type);
        break;
      case ast::FieldFunction::kBitStream:
        return serialise_field(f, ref, BitStreamArguments{}, out);
      default:
        return field_value(f, ref, out);
    }
    if (ref.shared) out = value::copy_value(out, f.x.arena());
    return {};
  }
  const ast::CallExpr& ast_;
  std::vector<const ExprNode*> args_;
};

class AsBitStreamNode : public ExprNode {
 public:
  AsBitStreamNode(Compiler& c, const ast::AsBitStreamExpr& e)
      : field_(c.path(e.field)), clauses_(c, e.clauses) {}
  Status eval(Frame& f, Value& out) const override {
    BitStreamArguments arguments;
    bool has_null = false;
    MS_TRY(clauses_.eval(f, arguments, has_null));
    Ref ref;
    MS_TRY(field_->find(f, ref));
    out = Value::null();
    if (!ref.element || has_null) return {};
    return serialise_field(f, ref, arguments, out);
  }

 private:
  const PathNode* field_;
  BitStreamClauses clauses_;
};

}  // namespace

const ExprNode* compile_field_function(Compiler& c, const ast::CallExpr& e) {
  return c.make<FieldFunctionNode>(c, e);
}

const ExprNode* compile_as_bit_stream(Compiler& c, const ast::AsBitStreamExpr& e) {
  return c.make<AsBitStreamNode>(c, e);
}

// ---------------------------------------------------------------- bit streams

BitStreamClauses::BitStreamClauses(Compiler& c, const ast::BitStreamOptions& o)
    : options_(c.expr(o.options)),
      encoding_(c.expr(o.encoding)),
      ccsid_(c.expr(o.ccsid)),
      set_(c.expr(o.set)),
      type_(c.expr(o.type)),
      format_(c.expr(o.format)) {}

namespace {

Status eval_number(Frame& f, const ExprNode* e, int64_t& out, bool& has_null) {
  if (!e) return {};
  Value v;
  MS_TRY(e->eval(f, v));
  if (v.is_null()) {
    has_null = true;
    return {};
  }
  if (v.kind != Kind::kInteger) {
    CastTarget target;
    target.kind = Kind::kInteger;
    MS_TRY(cast_for_assignment(f.x.ctx, v, target, v));
  }
  out = v.integer;
  return {};
}

Status eval_text_clause(Frame& f, const ExprNode* e, std::string_view& out, bool& has_null) {
  if (!e) return {};
  Value v;
  MS_TRY(e->eval(f, v));
  if (v.kind == Kind::kCharacter) {
    out = v.text();
  } else {
    has_null |= v.is_null();
  }
  return {};
}

}  // namespace

Status BitStreamClauses::eval(Frame& f, BitStreamArguments& out, bool& has_null) const {
  int64_t ccsid = 0, encoding = 0;
  MS_TRY(eval_number(f, options_, out.options, has_null));
  MS_TRY(eval_number(f, encoding_, encoding, has_null));
  MS_TRY(eval_number(f, ccsid_, ccsid, has_null));
  MS_TRY(eval_text_clause(f, set_, out.message_set, has_null));
  MS_TRY(eval_text_clause(f, type_, out.message_type, has_null));
  MS_TRY(eval_text_clause(f, format_, out.message_format, has_null));
  if (ccsid < 0 || ccsid > UINT32_MAX) return base::make_error(errors::kBadCcsid, {ccsid});
  out.ccsid = static_cast<uint32_t>(ccsid);
  out.encoding = static_cast<uint32_t>(encoding);
  return {};
}

tree::BitStreamMode bit_stream_mode(int64_t options) {
  const int64_t mode = options & kBitStreamModeMask;
  if (mode & kFolderBitStream) return tree::BitStreamMode::kFolder;
  if (mode & kEmbeddedBitStream) return tree::BitStreamMode::kEmbedded;
  return tree::BitStreamMode::kRoot;
}

Status serialise_field(Frame& f, const Ref& ref, const BitStreamArguments& arguments, Value& out) {
  tree::TreeContext& tree = f.x.context_of(ref);
  tree::SerialiseOptions options;
  options.ccsid = arguments.ccsid;
  options.encoding = arguments.encoding;
  options.message_set = arguments.message_set;
  options.message_type = arguments.message_type;
  options.message_format = arguments.message_format;
  options.mode = bit_stream_mode(arguments.options);
  std::string bytes;
  Element* e = ref.element;
  if (options.mode != tree::BitStreamMode::kFolder && f.x.is_message_root(e)) {
    for (Element* c = tree::first_child(e); c; c = tree::next_sibling(c)) {
      if (!c->has_flag(tree::kFlagDomainRoot)) continue;
      auto* root = static_cast<tree::DomainRoot*>(c);
      if (root->domain->serialise || root->parser) {
        MS_TRY(tree::serialise_body(tree, root, options, bytes));
      }
    }
  } else if (options.mode != tree::BitStreamMode::kFolder && e->has_flag(tree::kFlagDomainRoot)) {
    MS_TRY(tree::serialise_body(tree, static_cast<tree::DomainRoot*>(e), options, bytes));
  } else {
    tree::DomainRoot* root = tree::domain_root_of(e);
    if (!root || !root->domain->serialise) {
      return base::make_error(errors::kNoDomainForField, {e->local_name()});
    }
    tree::complete(e);
    MS_TRY(f.x.check_parse());
    if (!e->has_flag(tree::kFlagDomainRoot)) options.mode = tree::BitStreamMode::kFolder;
    MS_TRY(root->domain->serialise(tree, e, options, bytes));
  }
  out = Value::make_blob(f.x.arena().copy(bytes));
  return {};
}

}  // namespace millstream::esql
