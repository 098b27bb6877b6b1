// ESQL source -> tokens, tree, resolved program: never crashes, hangs or reports an empty message.
// The first byte chooses a file, the text of an EVAL statement or that of an EVAL expression.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "esql/program.h"

using millstream::base::Arena;
using millstream::base::NameScope;
using millstream::base::NameTable;
namespace esql = millstream::esql;

namespace {

void run_file(std::string_view text) {
  NameTable names;
  esql::Program program;
  program.add_file({.path = "f.esql", .text = std::string(text)});
  program.link({.names = &names});
  for (const esql::Diagnostic& d : program.diagnostics()) {
    if (d.text.empty() || d.line == 0) std::abort();
  }
  if (program.has_errors() == program.is_linked()) std::abort();
}

void run_eval(std::string_view text, bool is_expression) {
  static const esql::Program* program = [] {
    auto* p = new esql::Program;
    p->add_file({.path = "f.esql",
                 .text = "CREATE COMPUTE MODULE M CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
                         "DECLARE a INTEGER; DECLARE r REFERENCE TO InputRoot; EVAL('');"
                         "RETURN TRUE; END; END MODULE;"});
    static NameTable names;
    p->link({.names = &names});
    return p;
  }();
  auto table = std::make_shared<NameTable>();
  table->freeze();
  Arena arena;
  NameScope scope(arena, table);
  esql::EvalInput input;
  input.text = text;
  input.is_expression = is_expression;
  input.routine = program->find_module("", "M")->main;
  auto result = esql::compile_eval(*program, input, arena, scope);
  if (!result.ok() && result.error().text.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      run_file(text);
      break;
    case 1:
      run_eval(text, false);
      break;
    default:
      run_eval(text, true);
      break;
  }
  return 0;
}
