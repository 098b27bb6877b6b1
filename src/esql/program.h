// All the ESQL of one application and its libraries: files are added, then linked once, then only
// read. It owns the sources and the syntax trees; every pointer into them lives as long as it does.
//
//   Program program;
//   program.add_file({.path = "app/Flow_Compute.esql", .text = text, .schema = "a.b"});
//   program.link({.names = table, .find_constant = mqi_lookup});
//   const ast::Module* m = program.find_module("a.b", "Flow_Compute");
//
// Spec A2 (structure, name lookup). Thread: one until link() has returned, then any.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/names.h"
#include "base/result.h"
#include "esql/ast.h"

namespace millstream::esql {

class LineHits;

enum class DiagnosticLevel : uint8_t { kWarning, kError };

// What the parser or the analysis has to say about a place. `code` is "BIP4001", "MS1604", ...
struct Diagnostic {
  DiagnosticLevel level = DiagnosticLevel::kError;
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  std::string code;
  std::string text;
};
// "file:line:column: error: text [MS1604]"
std::string format_diagnostic(const Diagnostic& d);

struct FileInput {
  std::string path;
  std::string text;
  // The schema that the folder of the file stands for ("a.b"); a BROKER SCHEMA line that differs
  // gives a warning and wins.
  std::string schema;
  // The application is unit 0, its libraries are 1, 2, ... in search order. A name is looked up in
  // the unit of its user first, then in the others from 0 on.
  uint32_t unit = 0;
};

struct LinkOptions {
  base::NameTable* names = nullptr;  // not frozen yet; names of paths go here
  // Predeclared constants of other layers (MQ constants); false = unknown.
  std::function<bool(std::string_view name, value::Value& out)> find_constant;
  LineHits* hits = nullptr;  // null: statements are not counted (esql/line_hits.h)
};

class Program {
 public:
  static constexpr size_t kFileBytesMax = 8u << 20;
  // Of all files together: what is made of them takes up to forty times as much memory.
  static constexpr size_t kBytesMax = 64u << 20;
  static constexpr size_t kDiagnosticsMax = 500;  // further ones are counted, not kept

  Program();
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // False: the file has syntax errors (see diagnostics()); link() then fails too.
  bool add_file(FileInput file);
  // Resolves everything. False: there are errors.
  bool link(LinkOptions options);
  bool is_linked() const { return is_linked_; }

  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  bool has_errors() const { return error_count_ != 0; }
  size_t error_count() const { return error_count_; }

  const std::vector<ast::SourceFile*>& files() const { return files_; }
  uint32_t unit_of(const ast::SourceFile& file) const { return units_[file.index]; }
  std::string_view file_path(const ast::SourcePos& pos) const;
  // What esql://routine/<schema>#<Module>.Main names; null when there is none. `unit` is where the
  // search begins.
  const ast::Module* find_module(std::string_view schema, std::string_view name,
                                 uint32_t unit = 0) const;
  // A routine of a module (`module` empty: of the schema itself).
  const ast::Routine* find_routine(std::string_view schema, std::string_view module,
                                   std::string_view name, uint32_t unit = 0) const;

  // Variables by storage; Variable::slot is the index here. Schema variables are initialised once a
  // message and node (lazily is fine), shared ones once, at their first use.
  const std::vector<ast::Variable*>& schema_variables() const { return schema_variables_; }
  const std::vector<ast::Variable*>& shared_variables() const { return shared_variables_; }
  const std::vector<ast::Variable*>& externals() const { return externals_; }

  // For EVAL: predeclared constants stay available after link().
  const LinkOptions& link_options() const { return options_; }
  const class ProgramIndex& index() const { return *index_; }

 private:
  void report(Diagnostic d);
  void report_at(const ast::SourcePos& pos, DiagnosticLevel level, std::string_view code,
                 std::string text);

  void index_file(ast::SourceFile& file);

  base::Arena arena_;
  std::vector<std::unique_ptr<FileInput>> inputs_;
  std::vector<ast::SourceFile*> files_;
  std::vector<uint32_t> units_;
  std::vector<ast::Variable*> schema_variables_, shared_variables_, externals_;
  std::vector<Diagnostic> diagnostics_;
  std::unique_ptr<ProgramIndex> index_;
  LinkOptions options_;
  size_t error_count_ = 0;
  size_t bytes_ = 0;  // of all files so far
  bool is_linked_ = false;
};

// EVAL: parses and resolves `text` as if it stood where `scope` was taken, inside `routine`. Its
// own locals take frame slots from `first_slot` on; frame_slots says how many the frame then needs.
// Everything lives in `arena` (usually that of the message); names are interned in `names`.
struct EvalUnit {
  ast::Expr* expression = nullptr;  // is_expression
  ast::Block statements;            // else
  uint32_t frame_slots = 0;
  std::string_view text;
};
struct EvalInput {
  std::string_view text;
  bool is_expression = false;
  const ast::Routine* routine = nullptr;
  const ast::Scope* scope = nullptr;
  uint32_t first_slot = 0;
};
// `text` is copied into the arena. Errors: BIP4001 or that of the analysis, with line and column
// within the text.
Result<EvalUnit> compile_eval(const Program& program, const EvalInput& input, base::Arena& arena,
                              base::NameScope& names);

}  // namespace millstream::esql
