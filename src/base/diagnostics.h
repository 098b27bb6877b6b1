// What loading and checking say about the artifacts they read: data first, text last.
// "file:line:column: severity: text", the form compilers use, so that editors can jump to it.
// Thread: one.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace millstream::base {

enum class DiagnosticSeverity : uint8_t { kNote, kWarning, kError };
std::string_view severity_name(DiagnosticSeverity severity);

struct Diagnostic {
  DiagnosticSeverity severity = DiagnosticSeverity::kError;
  Position position;
  std::string code;  // "BIP2432", "MS1901"; may be empty for notes
  std::string text;
  std::string format() const;
};

class Diagnostics {
 public:
  void add(Diagnostic diagnostic) { all_.push_back(std::move(diagnostic)); }
  void error(Position position, std::string code, std::string text);
  void warning(Position position, std::string code, std::string text);
  // The innermost cause is what the user can act on; the outer ones give the way to it.
  void error(const Error& error, const Position& fallback);
  bool has_errors() const;
  size_t error_count() const;
  const std::vector<Diagnostic>& all() const { return all_; }

 private:
  std::vector<Diagnostic> all_;
};

}  // namespace millstream::base
