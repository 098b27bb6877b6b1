// Names: scopes, roots of paths, path elements, declarations, modules and routines.
#include "esql/analysis.h"

#include "base/flags.h"
#include "esql/builtin.h"
#include "esql/constants.h"
#include "text/utf8.h"

namespace millstream::esql {

using ast::PathExpr;
using ast::PathStep;
using ast::RefKind;
using ast::Storage;
using ast::TypeKind;
using ast::Variable;

// ---------------------------------------------------------------- index

namespace {
std::string index_key(char kind, std::string_view schema, std::string_view module,
                      std::string_view name) {
  std::string key(1, kind);
  key.append(schema).append(1, '\0').append(module).append(1, '\0').append(name);
  return key;
}
}  // namespace

bool ProgramIndex::add(char kind, uint32_t unit, std::string_view schema, std::string_view module,
                       std::string_view name, void* what, void** first) {
  std::vector<Entry>& entries = entries_[index_key(kind, schema, module, name)];
  for (const Entry& e : entries) {
    if (e.unit != unit) continue;
    *first = e.what;
    return false;
  }
  entries.push_back({unit, what});
  return true;
}

void* ProgramIndex::find(char kind, uint32_t unit, std::string_view schema, std::string_view module,
                         std::string_view name) const {
  auto found = entries_.find(index_key(kind, schema, module, name));
  if (found == entries_.end()) return nullptr;
  const Entry* best = nullptr;
  for (const Entry& e : found->second) {
    if (e.unit == unit) return e.what;
    if (!best || e.unit < best->unit) best = &e;
  }
  return best ? best->what : nullptr;
}

// ---------------------------------------------------------------- scopes

class Analyser::ScopeGuard {
 public:
  explicit ScopeGuard(Analyser& a) : a_(a), scope_(a.scope_) {}
  ~ScopeGuard() { a_.scope_ = scope_; }
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

 private:
  Analyser& a_;
  const ast::Scope* scope_;
};

void Analyser::error(const ast::SourcePos& pos, std::string_view code, std::string text) {
  sink_(pos, DiagnosticLevel::kError, code, std::move(text));
}

void Analyser::warning(const ast::SourcePos& pos, std::string_view code, std::string text) {
  sink_(pos, DiagnosticLevel::kWarning, code, std::move(text));
}

void Analyser::add_to_scope(Variable* v) {
  auto* entry = arena_.make<ast::Scope>();
  entry->outer = scope_;
  entry->variable = v;
  scope_ = entry;
}

// The correlation name of a FOR, a SELECT or a quantifier.
Variable* Analyser::add_row(std::string_view name, const ast::SourcePos& pos) {
  auto* v = arena_.make<Variable>();
  v->name = name;
  v->pos = pos;
  v->type.kind = TypeKind::kReference;
  v->storage = Storage::kRow;
  v->is_constant = true;
  v->slot = next_slot_++;
  v->file = file_;
  add_to_scope(v);
  return v;
}

Variable* Analyser::find_variable(std::string_view name, bool namespaces_only) const {
  auto fits = [&](const Variable* v) {
    return v && (!namespaces_only || v->type.kind == TypeKind::kNamespace);
  };
  for (const ast::Scope* s = scope_; s; s = s->outer) {
    if (s->variable->name == name && fits(s->variable)) return s->variable;
  }
  if (!file_) return nullptr;
  if (module_) {
    Variable* v = index_.find_variable(unit(), file_->schema, module_->name, name);
    if (fits(v)) return v;
  }
  Variable* v = index_.find_variable(unit(), file_->schema, {}, name);
  if (fits(v)) return v;
  for (std::string_view schema : file_->search_path) {
    v = index_.find_variable(unit(), schema, {}, name);
    if (fits(v)) return v;
  }
  return nullptr;
}

ast::Routine* Analyser::find_routine(std::string_view schema, std::string_view name) const {
  if (!file_) return nullptr;
  if (!schema.empty()) return index_.find_routine(unit(), schema, {}, name);
  if (module_) {
    ast::Routine* r = index_.find_routine(unit(), file_->schema, module_->name, name);
    if (r) return r;
  }
  if (ast::Routine* r = index_.find_routine(unit(), file_->schema, {}, name)) return r;
  for (std::string_view s : file_->search_path) {
    if (ast::Routine* r = index_.find_routine(unit(), s, {}, name)) return r;
  }
  return nullptr;
}

// ---------------------------------------------------------------- paths

void Analyser::set_variable(PathExpr& p, Variable* v) {
  p.ref = RefKind::kVariable;
  p.variable = v;
  bool has_fields = v->type.kind == TypeKind::kRow || v->type.kind == TypeKind::kReference;
  if (!has_fields && (!p.steps.empty() || p.root_index != ast::IndexKind::kNone)) {
    error(p.pos, "MS1615", "'" + std::string(v->name) + "' is a scalar variable; it has no fields");
  }
}

// Names that are predeclared: registers, functions without arguments, constants, properties.
bool Analyser::resolve_constant(PathExpr& p) {
  if (p.steps.size() == 1 && p.root_index == ast::IndexKind::kNone) {
    const PathStep& s = p.steps[0];
    bool is_plain = s.name_kind == ast::NameKind::kLiteral && !s.type &&
                    s.ns_kind == ast::NamespaceKind::kNone && s.index_kind == ast::IndexKind::kNone;
    if (!is_plain) return false;
    tree::FieldType type = 0;
    if (find_type_constant(p.name, s.name, type)) {
      p.ref = RefKind::kConstant;
      p.constant = value::Value::make_integer(type);
      p.steps = {};
      return true;
    }
    if (!text::equals_ignoring_ascii_case(p.name, "SQL")) return false;
    std::string_view property = find_broker_property(s.name);
    if (property.empty()) return false;
    p.ref = RefKind::kBrokerProperty;
    p.name = property;
    p.steps = {};
    return true;
  }
  if (!p.steps.empty() || p.root_index != ast::IndexKind::kNone) return false;
  if (find_special(p.name, p.special)) {
    p.ref = RefKind::kSpecial;
    return true;
  }
  std::string upper(p.name);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  const Builtin* builtin = find_builtin(upper);
  // The product also takes UUIDASCHAR and the like without parentheses.
  if (builtin && builtin->function && builtin->args_min == 0) {
    p.ref = RefKind::kNiladic;
    p.builtin = builtin;
    return true;
  }
  int64_t plain = 0;
  if (find_plain_constant(p.name, plain)) {
    p.ref = RefKind::kConstant;
    p.constant = value::Value::make_integer(plain);
    return true;
  }
  std::string_view property = find_broker_property(p.name);
  if (!property.empty()) {
    p.ref = RefKind::kBrokerProperty;
    p.name = property;
    return true;
  }
  const auto& lookup = program_.link_options().find_constant;
  if (lookup && lookup(p.name, p.constant)) {
    p.ref = RefKind::kConstant;
    return true;
  }
  return false;
}

// schema.variable: the first steps are the rest of the schema's name.
bool Analyser::resolve_qualified(PathExpr& p) {
  std::string schema(p.name);
  for (size_t i = 0; i < p.steps.size(); ++i) {
    const PathStep& s = p.steps[i];
    if (s.name_kind != ast::NameKind::kLiteral || s.type ||
        s.ns_kind != ast::NamespaceKind::kNone) {
      return false;
    }
    if (Variable* v = index_.find_variable(unit(), schema, {}, s.name)) {
      p.root_index = s.index_kind;
      p.root_index_expr = s.index;
      p.steps = p.steps.subspan(i + 1);
      p.name = s.name;
      set_variable(p, v);
      return true;
    }
    if (s.index_kind != ast::IndexKind::kNone) return false;
    schema.append(1, '.').append(s.name);
  }
  return false;
}

std::span<const std::string_view> Analyser::correlation_names() const {
  static constexpr std::string_view kCompute[] = {
      "InputRoot",          "InputBody",  "InputProperties",        "InputLocalEnvironment",
      "InputExceptionList", "OutputRoot", "OutputLocalEnvironment", "OutputExceptionList",
      "Environment",        "Database"};
  static constexpr std::string_view kOther[] = {"Root",          "Body",
                                                "Properties",    "LocalEnvironment",
                                                "ExceptionList", "DestinationList",
                                                "Environment",   "Database"};
  if (!module_ || module_->kind == ast::ModuleKind::kCompute) return kCompute;
  return kOther;
}

std::string Analyser::known_correlations() const {
  std::string out;
  for (std::string_view name : correlation_names()) {
    if (!out.empty()) out += ", ";
    out += name;
  }
  size_t shown = 0;
  for (const ast::Scope* s = scope_; s && shown < 20; s = s->outer, ++shown) {
    if (!s->variable->name.empty()) out.append(", ").append(s->variable->name);
  }
  return out;
}

void Analyser::resolve_root(PathExpr& p) {
  if (Variable* v = find_variable(p.name)) return set_variable(p, v);
  if (!p.is_quoted) {
    const ast::ModuleKind* kind = module_ ? &module_->kind : nullptr;
    if (find_correlation(p.name, kind, p.correlation)) {
      p.ref = RefKind::kCorrelation;
      return;
    }
    if (resolve_constant(p)) return;
  }
  if (resolve_qualified(p)) return;
  std::string text = "the correlation name '" + std::string(p.name) + "' is not known here";
  if (module_ && is_foreign_correlation(p.name, module_->kind)) {
    text = "the correlation name '" + std::string(p.name) +
           "' does not exist in a module of this kind";
  } else if (is_type_domain(p.name) && p.steps.size() == 1) {
    text = "'" + std::string(p.name) + "." + std::string(p.steps[0].name) + "' is not a field type";
  }
  std::string_view similar;
  if (!is_type_domain(p.name)) similar = similar_name(p.name);
  if (!similar.empty()) text += "; did you mean '" + std::string(similar) + "'?";
  error(p.pos, "BIP2432", text + "; in scope are: " + known_correlations());
}

// A visible variable whose name differs in case only, or else a visible name at two edits at most.
// Only the first errors of a run get the latter, so that a hostile program cannot make it costly.
std::string_view Analyser::similar_name(std::string_view name) {
  constexpr size_t kNamesMax = 1000;
  constexpr size_t kEditsMax = 2;
  std::vector<std::string_view> near;
  std::string_view same;
  auto add = [&](std::string_view k) {
    if (same.empty() && text::equals_ignoring_ascii_case(k, name)) same = k;
    bool is_near = k.size() <= name.size() + kEditsMax && name.size() <= k.size() + kEditsMax;
    if (is_near && near.size() < kNamesMax) near.push_back(k);
  };
  for (const ast::Scope* s = scope_; s; s = s->outer) add(s->variable->name);
  for (const Variable* v : module_ ? module_->variables : ast::List<Variable*>()) add(v->name);
  for (const Variable* v : file_ ? file_->variables : ast::List<Variable*>()) add(v->name);
  if (!same.empty() || suggestions_left_ == 0) return same;
  --suggestions_left_;
  for (std::string_view k : correlation_names()) near.push_back(k);
  return base::nearest_word(name, near, kEditsMax);
}

PathExpr* Analyser::variable_path(Variable* v, const ast::SourcePos& pos) {
  auto* p = arena_.make<PathExpr>();
  p->kind = ast::ExprKind::kPath;
  p->pos = pos;
  p->name = v->name;
  p->source = v->name;
  p->ref = RefKind::kVariable;
  p->variable = v;
  return p;
}

bool Analyser::constant_type(const ast::Expr* e, tree::FieldType& out) {
  value::Value v;
  if (e->kind == ast::ExprKind::kLiteral) {
    v = ast::as<ast::LiteralExpr>(e)->value;
  } else if (e->kind == ast::ExprKind::kPath) {
    const auto* p = ast::as<PathExpr>(e);
    if (p->ref == RefKind::kConstant) {
      v = p->constant;
    } else if (p->ref == RefKind::kVariable && p->variable->has_literal) {
      v = p->variable->literal;
    }
  }
  if (v.kind != value::Kind::kInteger || v.integer < 0 || v.integer > UINT32_MAX) return false;
  out = static_cast<tree::FieldType>(v.integer);
  return true;
}

// ns:name. A NAMESPACE constant is looked for among NAMESPACE constants only.
void Analyser::step_namespace(PathStep& s) {
  switch (s.ns_kind) {
    case ast::NamespaceKind::kNone:
    case ast::NamespaceKind::kEmpty:
      s.ns = names_.name("");
      return;
    case ast::NamespaceKind::kAny:
      return;
    case ast::NamespaceKind::kExpr:
      expr(s.ns_expr);
      return;
    case ast::NamespaceKind::kLiteral:
      break;
  }
  Variable* v = find_variable(s.prefix, true);
  if (!v && (s.prefix == "xmlns" || s.prefix == "xml")) {  // predeclared
    s.ns = names_.name(s.prefix == "xmlns" ? "http://www.w3.org/2000/xmlns/"
                                           : "http://www.w3.org/XML/1998/namespace");
    return;
  }
  if (!v) {
    v = find_variable(s.prefix);
    bool is_text =
        v && v->type.kind == TypeKind::kScalar && v->type.scalar.kind == value::Kind::kCharacter;
    if (!is_text) {
      return error(s.pos, "MS1617",
                   "the namespace prefix '" + std::string(s.prefix) +
                       "' is not declared (DECLARE " + std::string(s.prefix) + " NAMESPACE '...')");
    }
    warning(s.pos, "MS1626",
            "'" + std::string(s.prefix) + "' is not a NAMESPACE constant; write {" +
                std::string(s.prefix) + "}: for the value of a variable");
  }
  if (v->has_literal && v->literal.kind == value::Kind::kCharacter) {
    s.ns = names_.name(v->literal.text());
    return;
  }
  s.ns_kind = ast::NamespaceKind::kExpr;
  s.ns_expr = variable_path(v, s.pos);
}

void Analyser::step(PathStep& s) {
  if (s.type) {
    expr(s.type);
    s.has_constant_type = constant_type(s.type, s.constant_type);
  }
  step_namespace(s);
  if (s.name_kind == ast::NameKind::kLiteral && !s.is_quoted) {
    // A NAME constant stands for the name it holds.
    Variable* v = find_variable(s.name);
    if (v && v->type.kind == TypeKind::kName) {
      if (v->has_literal && v->literal.kind == value::Kind::kCharacter) {
        s.name = v->literal.text();
      } else {
        s.name_kind = ast::NameKind::kExpr;
        s.name_expr = variable_path(v, s.pos);
      }
    }
  } else if (s.name_kind == ast::NameKind::kExpr) {
    expr(s.name_expr);
  }
  if (s.name_kind == ast::NameKind::kLiteral) {
    s.local = names_.name(s.name);
    if (s.ns) s.qname = names_.qname(s.ns->view(), s.name);
  }
  if (s.index) expr(s.index);
}

void Analyser::steps(ast::List<PathStep> list) {
  for (PathStep& s : list) step(s);
}

void Analyser::path(PathExpr* p) {
  if (!p || p->ref != RefKind::kUnresolved) return;
  resolve_root(*p);
  if (p->root_index_expr) expr(p->root_index_expr);
  steps(p->steps);
}

// ---------------------------------------------------------------- declarations

void Analyser::declaration(Variable& v, bool is_local) {
  std::string name = "'" + std::string(v.name) + "'";
  bool is_shared = v.storage == Storage::kShared;
  bool is_external = v.storage == Storage::kExternal;
  if (is_local && is_shared) {
    error(v.pos, "MS1611", name + ": SHARED is allowed in modules and schemas, not in routines");
  }
  if (is_local && is_external) {
    error(v.pos, "MS1612", name + ": EXTERNAL is allowed in modules and schemas, not in routines");
  }
  if (is_shared && v.type.kind == TypeKind::kReference) {
    error(v.pos, "MS1611", name + ": a REFERENCE cannot be SHARED; share a ROW");
  }
  if (is_external && (v.type.kind == TypeKind::kReference || v.type.kind == TypeKind::kRow)) {
    error(v.pos, "MS1612", name + ": an EXTERNAL variable has a scalar type");
  }
  if (v.type.kind == TypeKind::kReference && v.is_constant && v.storage != Storage::kRow) {
    error(v.pos, "MS1614", name + ": a REFERENCE cannot be CONSTANT");
  }
  bool is_name = v.type.kind == TypeKind::kNamespace || v.type.kind == TypeKind::kName;
  if (is_name && !v.initial && !is_external) {
    error(v.pos, "MS1614", name + ": a NAMESPACE or NAME constant needs a value");
  }
  path(v.type.reference_to);
  if (v.initial) expr(v.initial);
}

void Analyser::routine(ast::Routine& r) {
  ScopeGuard guard(*this);
  routine_ = &r;
  next_slot_ = 0;
  depth_ = deepest_ = 0;
  handler_depth_ = atomic_depth_ = 0;
  labels_.clear();
  for (size_t i = 0; i < r.parameters.size(); ++i) {
    Variable* v = r.parameters[i];
    v->slot = next_slot_++;
    v->module = module_;
    v->file = file_;
    for (size_t k = 0; k < i; ++k) {
      if (r.parameters[k]->name == v->name) {
        error(v->pos, "MS1603", "two parameters are called '" + std::string(v->name) + "'");
      }
    }
    add_to_scope(v);
  }
  if (r.language == ast::Language::kJava || r.language == ast::Language::kDotNet) {
    warning(r.pos, "MS1620",
            "'" + std::string(r.name) + "' is a " +
                (r.language == ast::Language::kJava ? "Java" : ".NET") +
                " routine; calling it raises an exception");
  }
  if (r.body) statement(r.body);
  r.frame_slots = next_slot_;
  r.depth = deepest_;
  routine_ = nullptr;
}

void Analyser::check_main(ast::Module& m) {
  m.main = nullptr;
  if (m.kind == ast::ModuleKind::kDatabaseEvent) return;
  for (ast::Routine* r : m.routines) {
    if (r->name == "Main") m.main = r;
  }
  if (!m.main) {
    return warning(
        m.pos, "MS1613",
        "the module '" + std::string(m.name) + "' has no function Main; no node can run it");
  }
  const ast::Routine& r = *m.main;
  bool is_boolean = r.has_return_type && r.returns.kind == TypeKind::kScalar &&
                    r.returns.scalar.kind == value::Kind::kBoolean;
  if (!r.parameters.empty() || !is_boolean || r.language != ast::Language::kEsql) {
    error(r.pos, "MS1613", "Main has no parameters, RETURNS BOOLEAN and is written in ESQL");
  }
}

void Analyser::module(ast::Module& m) {
  module_ = &m;
  check_main(m);
  scope_ = nullptr;
  for (Variable* v : m.variables) declaration(*v, false);
  for (ast::Routine* r : m.routines) routine(*r);
  module_ = nullptr;
}

void Analyser::run_file(ast::SourceFile& file) {
  file_ = &file;
  for (Variable* v : file.variables) declaration(*v, false);
  for (ast::Routine* r : file.routines) routine(*r);
  for (ast::Module* m : file.modules) module(*m);
  file_ = nullptr;
}

uint32_t Analyser::run_eval(const EvalInput& input, ast::SourceFile& file, ast::Module* module,
                            ast::Expr* expression, const ast::Block& body) {
  file_ = &file;
  module_ = module;
  routine_ = input.routine;
  scope_ = input.scope;
  next_slot_ = input.first_slot;
  is_eval_ = true;
  if (expression) {
    expr(expression);
  } else {
    block(body);
  }
  return next_slot_;
}

}  // namespace millstream::esql
