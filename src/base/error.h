// What went wrong, as data: the exceptions of ESQL and of message flows are values, never C++
// exceptions. An Error carries what the ExceptionList tree shows (number, severity, inserts, label,
// text) and the chain of nested errors; nesting means more detail about the same failure.
//
// Error codes are records in <folder>/errors.yaml; tools/gen.py writes <folder>/errors_gen.h.
// Ownership: an Error owns all its strings. Thread: any (no sharing).
#pragma once
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millstream::base {

// The element names of the exception tree.
enum class ExceptionKind : uint8_t {
  kRecoverable,
  kParser,
  kConversion,
  kDatabase,
  kUser,
  kCast,
  kMessage,
  kSql,
  kSocket,
  kSocketTimeout,
  kConfiguration,
  kSecurity,
  kFatal,
  kUnknown,
};
std::string_view exception_element_name(ExceptionKind kind);  // "RecoverableException", ...

// Message catalogue severities: the numbers the ExceptionList shows are 1, 2, 3.
enum class Severity : uint8_t { kInfo = 1, kWarning = 2, kError = 3 };

// One record of an errors.yaml. `id` is "BIP2450" or "MS1001"; `text` holds {0}, {1}, ... for
// inserts.
struct ErrorCode {
  const char* id;
  int number;
  ExceptionKind kind;
  Severity severity;
  const char* text;
};

// ExceptionList Insert.Type codes (2 and 5 are verified, the rest follow the value kinds).
enum class InsertType : uint8_t {
  kBoolean = 1,
  kInteger = 2,
  kFloat = 3,
  kDecimal = 4,
  kCharacter = 5,
  kTime = 6,
  kGmtTime = 7,
  kDate = 8,
  kTimestamp = 9,
  kGmtTimestamp = 10,
  kInterval = 11,
  kBlob = 12,
  kBit = 13,
  kUnknown = 14,
};

struct Insert {
  Insert(std::string_view s) : text(s) {}
  Insert(const char* s) : text(s) {}
  Insert(std::string s) : text(std::move(s)) {}
  Insert(int64_t v) : type(InsertType::kInteger), text(std::to_string(v)) {}
  Insert(int v) : Insert(static_cast<int64_t>(v)) {}
  Insert(uint32_t v) : Insert(static_cast<int64_t>(v)) {}
  Insert(size_t v) : Insert(static_cast<int64_t>(v)) {}
  Insert(InsertType t, std::string s) : type(t), text(std::move(s)) {}
  InsertType type = InsertType::kCharacter;
  std::string text;
};

// A place in a source artifact; line and column count from 1, 0 = unknown.
struct Position {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
};

struct Error {
  const ErrorCode* code = nullptr;  // never null in a live error
  ExceptionKind kind = ExceptionKind::kRecoverable;
  Severity severity = Severity::kError;
  int number = 0;  // code->number, or what THROW ... MESSAGE said
  std::string catalog = "BIPmsgs";
  std::string text;  // code->text with the inserts in place
  std::vector<Insert> inserts;
  Position position;
  std::string function;    // e.g. "Module.Main"
  std::string node_type;   // ExceptionList Type, e.g. "ComIbmComputeNode"
  std::string node_name;   // ExceptionList Name, e.g. "Flow#FCMComposite_1_3"
  std::string node_label;  // ExceptionList Label, e.g. "Flow.Compute"
  std::string sql_state;   // five or six characters when set; see esql handlers
  int64_t sql_code = 0;
  int64_t sql_native_error = 0;
  // Set once the error has left the flow node it was raised in: from there on failure terminals of
  // nodes upstream do not handle it (only a TryCatch or an input node does).
  bool is_unwinding = false;
  std::vector<std::unique_ptr<Error>> causes;  // one = the usual chain; several = separate failures

  // "file:line:column: BIP2450E: text", then each cause indented.
  std::string describe() const;
  // "BIP2450E"; the letter follows the severity.
  std::string id_with_letter() const;
  const Error& innermost() const;  // first cause, recursively
  std::unique_ptr<Error> clone() const;
};

// Replaces {0}, {1}, ... in `pattern`.
std::string format_inserts(std::string_view pattern, const std::vector<Insert>& inserts);

}  // namespace millstream::base
