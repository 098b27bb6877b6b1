#include "base/error.h"

#include "base/result.h"

namespace millstream::base {

std::string_view exception_element_name(ExceptionKind kind) {
  switch (kind) {
    case ExceptionKind::kRecoverable:
      return "RecoverableException";
    case ExceptionKind::kParser:
      return "ParserException";
    case ExceptionKind::kConversion:
      return "ConversionException";
    case ExceptionKind::kDatabase:
      return "DatabaseException";
    case ExceptionKind::kUser:
      return "UserException";
    case ExceptionKind::kCast:
      return "CastException";
    case ExceptionKind::kMessage:
      return "MessageException";
    case ExceptionKind::kSql:
      return "SqlException";
    case ExceptionKind::kSocket:
      return "SocketException";
    case ExceptionKind::kSocketTimeout:
      return "SocketTimeoutException";
    case ExceptionKind::kConfiguration:
      return "ConfigurationException";
    case ExceptionKind::kSecurity:
      return "SecurityException";
    case ExceptionKind::kFatal:
      return "FatalException";
    case ExceptionKind::kUnknown:
      return "UnknownException";
  }
  return "UnknownException";
}

std::string format_inserts(std::string_view pattern, const std::vector<Insert>& inserts) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '{' && i + 2 < pattern.size() && pattern[i + 2] == '}' &&
        pattern[i + 1] >= '0' && pattern[i + 1] <= '9') {
      size_t index = static_cast<size_t>(pattern[i + 1] - '0');
      if (index < inserts.size()) out += inserts[index].text;
      i += 2;
    } else {
      out += pattern[i];
    }
  }
  return out;
}

std::string Error::id_with_letter() const {
  std::string id;
  // THROW may name a number of its own; the catalogue prefix then stays that of the record.
  if (code && code->number == number) {
    id = code->id;
  } else {
    id = "BIP" + std::to_string(number);
  }
  id += severity == Severity::kInfo ? 'I' : severity == Severity::kWarning ? 'W' : 'E';
  return id;
}

namespace {
void describe_nested(const Error& error, int depth, std::string& out) {
  out.append(static_cast<size_t>(depth) * 2, ' ');
  if (!error.position.file.empty() || error.position.line) {
    out += error.position.file;
    if (error.position.line) {
      out +=
          ':' + std::to_string(error.position.line) + ':' + std::to_string(error.position.column);
    }
    out += ": ";
  }
  out += error.id_with_letter() + ": " + error.text;
  for (const auto& cause : error.causes) {
    out += '\n';
    describe_nested(*cause, depth + 1, out);
  }
}
}  // namespace

std::string Error::describe() const {
  std::string out;
  describe_nested(*this, 0, out);
  return out;
}

const Error& Error::innermost() const {
  const Error* e = this;
  while (!e->causes.empty()) e = e->causes.front().get();
  return *e;
}

std::unique_ptr<Error> Error::clone() const {
  auto copy = std::make_unique<Error>();
  copy->code = code;
  copy->kind = kind;
  copy->severity = severity;
  copy->number = number;
  copy->catalog = catalog;
  copy->text = text;
  copy->inserts = inserts;
  copy->position = position;
  copy->function = function;
  copy->node_type = node_type;
  copy->node_name = node_name;
  copy->node_label = node_label;
  copy->sql_state = sql_state;
  copy->sql_code = sql_code;
  copy->sql_native_error = sql_native_error;
  copy->is_unwinding = is_unwinding;
  for (const auto& cause : causes) copy->causes.push_back(cause->clone());
  return copy;
}

Status make_error(const ErrorCode& code, std::vector<Insert> inserts) {
  auto error = std::make_unique<Error>();
  error->code = &code;
  error->kind = code.kind;
  error->severity = code.severity;
  error->number = code.number;
  error->text = format_inserts(code.text, inserts);
  error->inserts = std::move(inserts);
  return Status(std::move(error));
}

Status make_error_at(const ErrorCode& code, Position position, std::vector<Insert> inserts) {
  Status status = make_error(code, std::move(inserts));
  status.error().position = std::move(position);
  return status;
}

Status wrap_error(Status outer, Status inner) {
  outer.error().causes.push_back(inner.take_error());
  return outer;
}

}  // namespace millstream::base
