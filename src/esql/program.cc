#include "esql/program.h"

#include <algorithm>

#include "esql/analysis.h"
#include "esql/errors_gen.h"
#include "esql/parser.h"
#include "text/utf8.h"

namespace millstream::esql {

namespace {

constexpr uint32_t kEvalFile = UINT32_MAX;

// Bytes that are not UTF-8 are taken for ISO 8859-1, which every byte sequence is.
std::string latin1_to_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 8);
  for (unsigned char c : bytes) text::append_utf8(out, c);
  return out;
}

class TableInterner : public NameInterner {
 public:
  explicit TableInterner(base::NameTable& table) : table_(table) {}
  const base::Name* name(std::string_view text) override { return table_.intern(text); }
  const base::QName* qname(std::string_view ns, std::string_view local) override {
    return table_.intern_qname(ns, local);
  }

 private:
  base::NameTable& table_;
};

class ScopeInterner : public NameInterner {
 public:
  explicit ScopeInterner(base::NameScope& scope) : scope_(scope) {}
  const base::Name* name(std::string_view text) override { return scope_.intern(text); }
  const base::QName* qname(std::string_view ns, std::string_view local) override {
    return scope_.qname(ns, local);
  }

 private:
  base::NameScope& scope_;
};

}  // namespace

std::string format_diagnostic(const Diagnostic& d) {
  std::string out = d.file + ":" + std::to_string(d.line) + ":" + std::to_string(d.column) + ": ";
  out += d.level == DiagnosticLevel::kError ? "error: " : "warning: ";
  return out + d.text + " [" + d.code + "]";
}

Program::Program() : index_(std::make_unique<ProgramIndex>()) {}
Program::~Program() = default;

std::string_view Program::file_path(const ast::SourcePos& pos) const {
  if (pos.file == kEvalFile) return "EVAL";
  return pos.file < files_.size() ? files_[pos.file]->path : std::string_view{};
}

void Program::report(Diagnostic d) {
  if (d.level == DiagnosticLevel::kError) ++error_count_;
  if (diagnostics_.size() < kDiagnosticsMax) diagnostics_.push_back(std::move(d));
}

void Program::report_at(const ast::SourcePos& pos, DiagnosticLevel level, std::string_view code,
                        std::string text) {
  report({level, std::string(file_path(pos)), pos.line, pos.column, std::string(code),
          std::move(text)});
}

bool Program::add_file(FileInput file) {
  auto owned = std::make_unique<FileInput>(std::move(file));
  FileInput& input = *owned;
  inputs_.push_back(std::move(owned));
  auto* source = arena_.make<ast::SourceFile>();
  source->index = static_cast<uint32_t>(files_.size());
  source->path = input.path;
  files_.push_back(source);
  units_.push_back(input.unit);
  ast::SourcePos start{source->index, 1, 1};
  if (input.text.size() > kFileBytesMax) {
    report_at(start, DiagnosticLevel::kError, "MS1629",
              "the file has " + std::to_string(input.text.size()) + " bytes; at most " +
                  std::to_string(kFileBytesMax) + " are compiled");
    return false;
  }
  bytes_ += input.text.size();
  if (bytes_ > kBytesMax) {
    report_at(start, DiagnosticLevel::kError, "MS1629",
              "with this file there are " + std::to_string(bytes_) +
                  " bytes of ESQL in the application and its libraries; at most " +
                  std::to_string(kBytesMax) + " are compiled");
    return false;
  }
  // No text has one: the rest would be an error for each byte.
  if (const size_t nul = input.text.find('\0'); nul != std::string::npos) {
    const std::string_view before = std::string_view(input.text).substr(0, nul);
    const size_t line_start =
        before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    start.line = 1 + static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n'));
    start.column = 1 + static_cast<uint32_t>(nul - line_start);
    report_at(start, DiagnosticLevel::kError, "MS1630",
              "a NUL byte: the file is no ESQL text, or is in UTF-16; save it as UTF-8");
    return false;
  }
  if (!text::is_valid_utf8(input.text)) {
    input.text = latin1_to_utf8(input.text);
    report_at(start, DiagnosticLevel::kWarning, "MS1600",
              "the file is not UTF-8; it is read as ISO 8859-1");
  }
  source->text = input.text;
  Parser parser(input.text, source->index, arena_);
  parser.parse_file(*source);
  for (const ParseMessage& m : parser.messages()) {
    report_at(m.pos, m.is_warning ? DiagnosticLevel::kWarning : DiagnosticLevel::kError, m.code,
              m.text);
  }
  if (source->schema != input.schema && !input.schema.empty()) {
    report_at(start, DiagnosticLevel::kWarning, "MS1627",
              "the schema is '" + std::string(source->schema) + "' but the folder says '" +
                  input.schema + "'");
  }
  return !parser.has_errors();
}

// Puts the names of one file into the index and numbers its variables.
void Program::index_file(ast::SourceFile& file) {
  uint32_t unit = units_[file.index];
  auto duplicate = [&](const ast::SourcePos& pos, std::string_view what, std::string_view name,
                       const ast::SourcePos& first) {
    report_at(pos, DiagnosticLevel::kError, "MS1603",
              std::string(what) + " '" + std::string(name) + "' is declared already at " +
                  std::string(file_path(first)) + ":" + std::to_string(first.line));
  };
  auto add_variable = [&](ast::Variable* v, std::string_view module,
                          std::vector<ast::Variable*>* own, uint32_t& module_slots) {
    void* first = nullptr;
    if (!index_->add('v', unit, file.schema, module, v->name, v, &first)) {
      duplicate(v->pos, "the variable", v->name, static_cast<ast::Variable*>(first)->pos);
    }
    std::vector<ast::Variable*>* list = own;
    if (v->storage == ast::Storage::kShared) {
      list = &shared_variables_;
    } else if (v->storage == ast::Storage::kExternal) {
      list = &externals_;
    } else {
      v->storage = own ? ast::Storage::kSchema : ast::Storage::kModule;
    }
    if (list) {
      v->slot = static_cast<uint32_t>(list->size());
      list->push_back(v);
    } else {
      v->slot = module_slots++;
    }
    fold_literal(*v);
  };
  auto add_routine = [&](ast::Routine* r, std::string_view module) {
    void* first = nullptr;
    if (!index_->add('r', unit, file.schema, module, r->name, r, &first)) {
      duplicate(r->pos, "the routine", r->name, static_cast<ast::Routine*>(first)->pos);
    }
  };
  uint32_t none = 0;
  for (ast::Variable* v : file.variables) add_variable(v, {}, &schema_variables_, none);
  for (ast::Routine* r : file.routines) add_routine(r, {});
  for (ast::Module* m : file.modules) {
    void* first = nullptr;
    if (!index_->add('m', unit, file.schema, {}, m->name, m, &first)) {
      duplicate(m->pos, "the module", m->name, static_cast<ast::Module*>(first)->pos);
      continue;
    }
    for (ast::Variable* v : m->variables) add_variable(v, m->name, nullptr, m->variable_slots);
    for (ast::Routine* r : m->routines) add_routine(r, m->name);
  }
}

bool Program::link(LinkOptions options) {
  options_ = std::move(options);
  if (has_errors()) return false;
  for (ast::SourceFile* f : files_) index_file(*f);
  base::NameTable own;
  TableInterner interner(options_.names ? *options_.names : own);
  Analyser analyser(*this, *index_, arena_, interner,
                    [this](const ast::SourcePos& pos, DiagnosticLevel level, std::string_view code,
                           std::string text) { report_at(pos, level, code, std::move(text)); });
  for (ast::SourceFile* f : files_) analyser.run_file(*f);
  is_linked_ = !has_errors();
  return is_linked_;
}

const ast::Module* Program::find_module(std::string_view schema, std::string_view name,
                                        uint32_t unit) const {
  return index_->find_module(unit, schema, name);
}

const ast::Routine* Program::find_routine(std::string_view schema, std::string_view module,
                                          std::string_view name, uint32_t unit) const {
  return index_->find_routine(unit, schema, module, name);
}

// ---------------------------------------------------------------- EVAL

Result<EvalUnit> compile_eval(const Program& program, const EvalInput& input, base::Arena& arena,
                              base::NameScope& names) {
  EvalUnit unit;
  unit.text = arena.copy(input.text);
  // A message's text comes from outside and is compiled on a fiber's stack: small limits, for which
  // Execution::kEvalReserveBytes is enough.
  Parser parser(unit.text, kEvalFile, arena, {.depth_max = 40, .operators_max = 300});
  if (input.is_expression) {
    unit.expression = parser.parse_eval_expression();
  } else {
    unit.statements = parser.parse_eval_statements();
  }
  auto fail = [&](const ast::SourcePos& pos, std::string_view code, const std::string& text) {
    return base::make_error(errors::kEvalText,
                            {base::Insert(unit.text), base::Insert(pos.line),
                             base::Insert(pos.column), base::Insert(text), base::Insert(code)});
  };
  if (parser.has_errors()) {
    const ParseMessage& m = parser.messages().front();
    return fail(m.pos, m.code, m.text);
  }
  ast::SourceFile none;
  ast::SourceFile* file = input.routine && input.routine->file ? input.routine->file : &none;
  ast::Module* module = input.routine ? input.routine->module : nullptr;
  Status status;
  ScopeInterner interner(names);
  Analyser analyser(program, program.index(), arena, interner,
                    [&](const ast::SourcePos& pos, DiagnosticLevel level, std::string_view code,
                        const std::string& text) {
                      if (level == DiagnosticLevel::kError && status.ok()) {
                        status = fail(pos, code, text);
                      }
                    });
  unit.frame_slots = analyser.run_eval(input, *file, module, unit.expression, unit.statements);
  if (!status.ok()) return status;
  return unit;
}

}  // namespace millstream::esql
