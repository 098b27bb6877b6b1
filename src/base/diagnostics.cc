#include "base/diagnostics.h"

#include <algorithm>

namespace millstream::base {

std::string_view severity_name(DiagnosticSeverity severity) {
  switch (severity) {
    case DiagnosticSeverity::kNote:
      return "note";
    case DiagnosticSeverity::kWarning:
      return "warning";
    case DiagnosticSeverity::kError:
      return "error";
  }
  return "error";
}

std::string Diagnostic::format() const {
  std::string out = position.file;
  if (position.line) {
    out += ':' + std::to_string(position.line) + ':' + std::to_string(position.column);
  }
  if (!out.empty()) out += ": ";
  out += std::string(severity_name(severity)) + ": ";
  if (!code.empty()) out += code + ": ";
  return out + text;
}

void Diagnostics::error(Position position, std::string code, std::string text) {
  all_.push_back(
      {DiagnosticSeverity::kError, std::move(position), std::move(code), std::move(text)});
}

void Diagnostics::warning(Position position, std::string code, std::string text) {
  all_.push_back(
      {DiagnosticSeverity::kWarning, std::move(position), std::move(code), std::move(text)});
}

void Diagnostics::error(const Error& error, const Position& fallback) {
  Position position =
      error.position.line || !error.position.file.empty() ? error.position : fallback;
  std::string text = error.text;
  for (const auto& cause : error.causes) text += " (" + cause->text + ")";
  this->error(std::move(position), error.code ? error.code->id : "", std::move(text));
}

bool Diagnostics::has_errors() const { return error_count() != 0; }

size_t Diagnostics::error_count() const {
  return static_cast<size_t>(std::count_if(all_.begin(), all_.end(), [](const Diagnostic& d) {
    return d.severity == DiagnosticSeverity::kError;
  }));
}

}  // namespace millstream::base
