#include "nodes/common/shared_use.h"

#include <set>
#include <unordered_map>

namespace millstream::nodes::common {
namespace {

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Calls `use` with every word of `text`.
template <typename Use>
void for_each_word(std::string_view text, Use use) {
  for (size_t at = 0; at < text.size();) {
    if (!is_word_char(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && is_word_char(text[end])) ++end;
    use(text.substr(at, end - at));
    at = end;
  }
}

bool is_shared(const esql::ast::Variable& v) { return v.storage == esql::ast::Storage::kShared; }

}  // namespace

bool uses_shared_variables(const esql::Program& program, const esql::ast::Module& module) {
  for (const esql::ast::Variable* v : module.variables) {
    if (is_shared(*v)) return true;
  }
  std::set<std::string_view> shared;
  std::unordered_map<std::string_view, std::vector<const esql::ast::SourceFile*>> routine_files;
  for (const esql::ast::SourceFile* file : program.files()) {
    for (const esql::ast::Variable* v : file->variables) {
      if (is_shared(*v)) shared.insert(v->name);
    }
    for (const esql::ast::Routine* r : file->routines) routine_files[r->name].push_back(file);
  }
  if (shared.empty()) return false;
  std::set<const esql::ast::SourceFile*> seen = {module.file};
  std::vector<const esql::ast::SourceFile*> open = {module.file};
  while (!open.empty()) {
    const esql::ast::SourceFile* file = open.back();
    open.pop_back();
    bool is_found = false;
    for_each_word(file->text, [&](std::string_view word) {
      is_found |= shared.count(word) != 0;
      auto called = routine_files.find(word);
      if (called == routine_files.end()) return;
      for (const esql::ast::SourceFile* other : called->second) {
        if (seen.insert(other).second) open.push_back(other);
      }
    });
    if (is_found) return true;
  }
  return false;
}

}  // namespace millstream::nodes::common
