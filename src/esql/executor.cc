#include "esql/executor.h"

#include "esql/compile.h"
#include "esql/errors_gen.h"
#include "esql/exec_control.h"
#include "esql/shared.h"
#include "value/time_zone.h"

namespace millstream::esql {

using value::Kind;
using value::Value;

namespace {

std::string qualified_name(const ast::Routine& r) {
  std::string name(r.file ? r.file->schema : std::string_view());
  name += '.';
  if (r.module) {
    name += r.module->name;
    name += '.';
  }
  name += r.name;
  return name;
}

void compile_routine(ProgramCode& code, const ast::Routine& r, EvalContext& fold) {
  RoutineCode& out = *code.routine_index[&r];
  Compiler compiler(code.nodes, code, &fold);
  if (!code.program->link_options().hits && !code.is_traced) out.fast = recognise_routine(r);
  out.body = compiler.stmt(r.body);
  out.cursors = compiler.cursors();
}

void declare_routine(ProgramCode& code, const ast::Routine& r) {
  RoutineCode& out = code.routines.emplace_back();
  out.ast = &r;
  out.qualified_name = qualified_name(r);
  code.routine_index[&r] = &out;
}

// Initialisers run outside any routine, so each has cursors of its own.
VariableCode compile_variable(ProgramCode& code, const ast::Variable& v, EvalContext& fold) {
  Compiler compiler(code.nodes, code, &fold);
  VariableCode out = compiler.variable(v);
  out.cursors = compiler.cursors();
  return out;
}

void compile_variables(ProgramCode& code, const std::vector<ast::Variable*>& list,
                       std::vector<VariableCode>& out, EvalContext& fold) {
  for (const ast::Variable* v : list) {
    if (out.size() <= v->slot) out.resize(v->slot + 1);
    out[v->slot] = compile_variable(code, *v, fold);
  }
}

void compile_module(ProgramCode& code, const ast::Module& m, EvalContext& fold) {
  ModuleCode& out = code.modules.emplace_back();
  out.ast = &m;
  code.module_index[&m] = &out;
  for (const ast::Variable* v : m.variables) {
    if (v->storage == ast::Storage::kModule) {
      out.variables.push_back(compile_variable(code, *v, fold));
    }
  }
  if (m.main) out.main = code.routine_index[m.main];
}

}  // namespace

CompiledProgram::~CompiledProgram() = default;

std::shared_ptr<const CompiledProgram> CompiledProgram::compile(
    std::shared_ptr<const Program> program, const value::TimeZone& local_zone, bool is_traced) {
  auto out = std::shared_ptr<CompiledProgram>(new CompiledProgram());
  out->code_ = std::make_unique<ProgramCode>(program, is_traced);
  ProgramCode& code = *out->code_;
  EvalContext fold{code.tree, local_zone, 0, nullptr};
  for (const ast::SourceFile* file : program->files()) {
    for (const ast::Routine* r : file->routines) declare_routine(code, *r);
    for (const ast::Module* m : file->modules) {
      for (const ast::Routine* r : m->routines) declare_routine(code, *r);
    }
  }
  compile_variables(code, program->schema_variables(), code.schema_variables, fold);
  compile_variables(code, program->shared_variables(), code.shared_variables, fold);
  compile_variables(code, program->externals(), code.externals, fold);
  for (const ast::SourceFile* file : program->files()) {
    for (const ast::Routine* r : file->routines) compile_routine(code, *r, fold);
    for (const ast::Module* m : file->modules) {
      for (const ast::Routine* r : m->routines) compile_routine(code, *r, fold);
      compile_module(code, *m, fold);
    }
  }
  return out;
}

const ModuleCode* CompiledProgram::find_module(std::string_view schema, std::string_view name,
                                               uint32_t unit) const {
  return find_module(code_->program->find_module(schema, name, unit));
}

const ModuleCode* CompiledProgram::find_module(const ast::Module* module) const {
  auto it = code_->module_index.find(module);
  return it == code_->module_index.end() ? nullptr : it->second;
}

bool CompiledProgram::has_shared_variables() const { return !code_->shared_variables.empty(); }

std::shared_ptr<SharedStore> CompiledProgram::make_shared_store(
    std::shared_ptr<const base::NameTable> names) const {
  return std::make_shared<SharedStore>(code_->shared_variables.size(), std::move(names));
}

// ---------------------------------------------------------------- running

namespace {

Slot* make_slots(base::Arena& arena, size_t count) {
  if (!count) return nullptr;
  auto* slots = static_cast<Slot*>(arena.allocate(count * sizeof(Slot), alignof(Slot)));
  for (size_t i = 0; i < count; ++i) new (&slots[i]) Slot();
  return slots;
}

void bind_correlations(Execution& x, const Invocation& in, bool is_compute) {
  auto bind = [&x](ast::Correlation c, tree::Element* e) { x.roots[static_cast<size_t>(c)] = e; };
  bind(ast::Correlation::kEnvironment, in.input.environment);
  if (is_compute) {
    bind(ast::Correlation::kInputRoot, in.input.root);
    bind(ast::Correlation::kInputLocalEnvironment, in.input.local_environment);
    bind(ast::Correlation::kInputExceptionList, in.input.exception_list);
    bind(ast::Correlation::kOutputRoot, in.output.root);
    bind(ast::Correlation::kOutputLocalEnvironment, in.output.local_environment);
    bind(ast::Correlation::kOutputExceptionList, in.output.exception_list);
  } else {
    bind(ast::Correlation::kRoot, in.input.root);
    bind(ast::Correlation::kLocalEnvironment, in.input.local_environment);
    bind(ast::Correlation::kExceptionList, in.input.exception_list);
  }
}

// The initialiser of a module's variable is a statement without routine.
Status declaration_error(Execution& x, const ast::Variable& v, Status cause) {
  std::string module = "." + std::string(x.module->name);
  Status outer =
      base::make_error(errors::kStatementFailed,
                       {module, std::to_string(v.pos.line) + "." + std::to_string(v.pos.column),
                        "DECLARE " + std::string(v.name)});
  base::Error& e = outer.error();
  e.position.file = std::string(x.program.program->file_path(v.pos));
  e.position.line = v.pos.line;
  e.position.column = v.pos.column;
  e.function = std::move(module);
  return base::wrap_error(std::move(outer), std::move(cause));
}

Status prepare(Execution& x, const Invocation& in, const ModuleCode& module) {
  x.module = module.ast;
  x.shared = in.shared;
  x.shared_node = in.shared_node;
  bind_correlations(x, in, module.ast->kind == ast::ModuleKind::kCompute);
  base::Arena& arena = x.arena();
  x.schema_slots = make_slots(arena, x.program.schema_variables.size());
  x.external_slots = make_slots(arena, x.program.externals.size());
  x.module_slots = make_slots(arena, module.ast->variable_slots);
  for (const VariableCode& v : module.variables) {
    Frame f(x, nullptr);
    ScratchStack::Mark mark = x.stack.mark();
    x.open_frame(f, 0, v.cursors);
    Status s = initialise_variable(f, v, x.module_slots[v.variable->slot]);
    x.end_statement();
    x.stack.release(mark);
    if (!s.ok()) return declaration_error(x, *v.variable, std::move(s));
  }
  return {};
}

Status run_main(Execution& x, const RoutineCode& code, Value& out) {
  ScratchStack::Mark mark = x.stack.mark();
  Frame f(x, &code);
  x.open_frame(f, code.ast->frame_slots, code.cursors);
  Status s = x.run_routine(f);
  out = f.result;
  x.stack.release(mark);
  return s;
}

}  // namespace

ModuleInstance::ModuleInstance(std::shared_ptr<const CompiledProgram> program,
                               const ModuleCode& module)
    : program_(std::move(program)), module_(module), stack_(std::make_unique<ScratchStack>()) {}

ModuleInstance::~ModuleInstance() = default;

Result<Tri> ModuleInstance::run(const Invocation& in) {
  if (!module_.main) return base::make_error(errors::kNoMain, {module_.ast->name});
  Execution x(program_->code(), in.tree, in.host, in.local_zone, in.now_gmt_micros, *stack_);
  Value result;
  MS_TRY(prepare(x, in, module_));
  MS_TRY(run_main(x, *module_.main, result));
  if (result.is_null()) return Tri::kUnknown;
  if (result.kind != Kind::kBoolean) {
    return base::make_error(errors::kMainNotBoolean,
                            {module_.main->qualified_name, value::kind_name(result.kind)});
  }
  return result.boolean() ? Tri::kTrue : Tri::kFalse;
}

Status ModuleInstance::call(const Invocation& in, std::string_view routine) {
  const RoutineCode* code = nullptr;
  for (const ast::Routine* r : module_.ast->routines) {
    if (r->name == routine) code = program_->code().routine_index.at(r);
  }
  if (!code || !code->ast->parameters.empty()) {
    return base::make_error(errors::kUnknownRoutine, {routine});
  }
  Execution x(program_->code(), in.tree, in.host, in.local_zone, in.now_gmt_micros, *stack_);
  Value result;
  MS_TRY(prepare(x, in, module_));
  return run_main(x, *code, result);
}

// ---------------------------------------------------------------- single expressions

CompiledExpression::~CompiledExpression() = default;

Result<std::shared_ptr<const CompiledExpression>> CompiledExpression::compile(
    std::string_view text, const LinkOptions& options, const value::TimeZone& local_zone) {
  // The expression stands alone on its lines in a module of its own, so that the ordinary parser
  // and analysis see it; positions are put right below.
  auto program = std::make_shared<Program>();
  FileInput file;
  file.path = "expression";
  file.text = "CREATE FILTER MODULE E CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN RETURN (\n";
  file.text += text;
  file.text += "\n); END; END MODULE;";
  bool is_good = program->add_file(std::move(file));
  is_good = program->link(options) && is_good;
  const ast::Module* module = is_good ? program->find_module("", "E") : nullptr;
  if (!module || !module->main) {
    for (const Diagnostic& d : program->diagnostics()) {
      if (d.level != DiagnosticLevel::kError) continue;
      Status s = base::make_error(errors::kBadExpression, {text, d.text});
      s.error().position.line = d.line > 0 ? d.line - 1 : 0;
      s.error().position.column = d.column;
      return s;
    }
    return base::make_error(errors::kBadExpression, {text, "not an expression"});
  }
  const auto& body = ast::as<ast::BlockStmt>(*module->main->body).body;
  if (body.statements.size() != 1 || body.statements[0]->kind != ast::StmtKind::kReturn) {
    return base::make_error(errors::kBadExpression, {text, "more than one expression"});
  }
  auto out = std::shared_ptr<CompiledExpression>(new CompiledExpression());
  auto code = std::shared_ptr<CompiledProgram>(
      std::const_pointer_cast<CompiledProgram>(CompiledProgram::compile(program, local_zone)));
  EvalContext fold{const_cast<ProgramCode&>(code->code()).tree, local_zone, 0, nullptr};
  Compiler compiler(const_cast<ProgramCode&>(code->code()).nodes, code->code(), &fold);
  out->expression_ = compiler.expr(ast::as<ast::ReturnStmt>(*body.statements[0]).value);
  out->slots_ = module->main->frame_slots;
  out->cursors_ = compiler.cursors();
  out->program_ = std::move(code);
  return std::shared_ptr<const CompiledExpression>(std::move(out));
}

Status CompiledExpression::evaluate(const Invocation& in, Value& out,
                                    tree::Element*& element) const {
  ScratchStack stack;
  Execution x(program_->code(), in.tree, in.host, in.local_zone, in.now_gmt_micros, stack);
  MS_TRY(prepare(x, in, program_->code().modules.front()));
  Frame f(x, nullptr);
  x.open_frame(f, slots_, cursors_);
  element = nullptr;
  if (expression_->shape() == Shape::kScalar) return expression_->eval(f, out);
  Ref ref;
  if (expression_->shape() == Shape::kList) {
    return expression_->eval(f, out);
  }
  MS_TRY(expression_->eval_ref(f, ref));
  element = ref.element;
  return field_value(f, ref, out);
}

}  // namespace millstream::esql
