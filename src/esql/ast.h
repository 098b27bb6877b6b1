// The syntax tree of ESQL, as the parser builds it and the analysis completes it.
//
// All nodes are plain structs in the arena of their Program (or, for EVAL, of one evaluation);
// lists are spans in the same arena; texts are views into the source text or the arena, both of
// which live as long as the Program. Fields under "Resolved" are null or zero until analyse()
// (analysis.h) has run; nothing writes to the tree after that, so it may be read by any thread.
// Thread: one until analysed, any afterwards.
// Follows spec A1-A8. Keyword forms of functions are already positional (esql/builtin.h).
#pragma once
#include "esql/ast_expr.h"
#include "esql/ast_stmt.h"

namespace millstream::esql::ast {

enum class Language : uint8_t { kEsql, kJava, kDotNet, kDatabase };

struct Routine {
  SourcePos pos;
  std::string_view source;
  std::string_view name;
  bool is_function = false;    // FUNCTION, else PROCEDURE
  List<Variable*> parameters;  // Storage::kParameter, slots 0..n-1
  bool has_return_type = false;
  bool is_return_nullable = true;  // false: RETURNS t NOT NULL
  DataType returns;
  Language language = Language::kEsql;
  Stmt* body = nullptr;  // language kEsql
  std::string_view external_name;
  std::string_view class_loader;
  int64_t result_sets = 0;   // DYNAMIC RESULT SETS n
  Module* module = nullptr;  // null: schema level
  SourceFile* file = nullptr;
  uint32_t frame_slots = 0;  // Resolved: slots of one activation
  uint32_t depth = 0;        // Resolved: deepest nesting of statements and expressions
};

enum class ModuleKind : uint8_t { kCompute, kDatabase, kFilter, kDatabaseEvent };

struct Module {
  ModuleKind kind = ModuleKind::kCompute;
  SourcePos pos;
  std::string_view name;
  List<Variable*> variables;  // in order; includes SHARED and EXTERNAL ones
  List<Routine*> routines;
  SourceFile* file = nullptr;
  Routine* main = nullptr;      // Resolved; null for kDatabaseEvent
  uint32_t variable_slots = 0;  // Resolved: Storage::kModule
  SourcePos needs_data_source;  // Resolved: first statement that needs the node's; line 0: none
};

struct SourceFile {
  uint32_t index = 0;
  std::string_view path;
  std::string_view text;
  std::string_view schema;  // "a.b.c"; empty = default schema
  List<std::string_view> search_path;
  List<Variable*> variables;
  List<Routine*> routines;
  List<Module*> modules;
};

}  // namespace millstream::esql::ast
