// Message selectors: the conditions of JMS 2.0 (3.8.1) as IBM MQ takes them, compiled once and
// evaluated for any number of messages.
//
// Values have JMS's types: numbers (exact 64-bit and approximate, promoted as Java does), strings,
// booleans, and MQ's byte strings ("0x2F1C"). Logic is three-valued: a property that is missing is
// unknown, and so is what depends on it. Values of unlike types are never equal, less or greater.
// Strings, booleans and bytes know only = and <>. Exact literals may be decimal, hexadecimal (0xA)
// or octal (012). Identifiers are case-sensitive, keywords are not.
// A whole division by zero and arithmetic on what is no number are unknown; sums wrap around as
// Java's do.
//
// A Selector never changes after compile(). Evaluation does not allocate, and its stack is bounded
// at compile time. Limits: below, the text's is MQ's; and Pattern::kStepsMax of a LIKE.
// Thread: any; share it by std::shared_ptr between subscriptions and threads.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "mqi/properties.h"

namespace millstream::queue::selector {

enum class Truth : uint8_t { kFalse, kTrue, kUnknown };

// `JMSCorrelationID = '...'` and the like: what an index over identifiers can answer.
struct IdentifierEquality {
  enum class Field : uint8_t { kNone, kMessageId, kCorrelationId };
  Field field = Field::kNone;
  // True: `value` is bytes (from "0x..." against Root.MQMD.*, or from 'ID:' and hexadecimal
  // digits). False: text as a JMS application gave it.
  bool is_bytes = false;
  // True: the selector says nothing else. False: it has to be evaluated for what the index finds.
  bool is_whole = false;
  std::string value;
  explicit operator bool() const { return field != Field::kNone; }
};

struct Instruction;  // selector_code.h
struct Constant;
struct ConstantSet;
struct Pattern;

class Selector {
 public:
  static constexpr size_t kTextBytesMax = 10'240;
  static constexpr uint32_t kDepthMax = 100;       // parentheses, NOTs and signs
  static constexpr uint32_t kOperandsMax = 2'000;  // literals and identifiers
  static constexpr uint32_t kStackMax = 64;

  // The number of the error is the MQI reason: 2459 for the syntax, with the position, 2519 for a
  // text that cannot be a selector (length, UTF-8), 2551 for conditions on the body. A text of
  // blanks selects everything.
  static Result<std::shared_ptr<const Selector>> compile(std::string_view text);
  ~Selector();
  Selector(const Selector&) = delete;
  Selector& operator=(const Selector&) = delete;

  Truth evaluate(const mqi::PropertySource& source) const;
  bool matches(const mqi::PropertySource& source) const { return evaluate(source) == Truth::kTrue; }

  // A condition that every selected message meets; of several, one on the message id first.
  const IdentifierEquality& identifier_equality() const { return equality_; }
  // True when blanks only: every message matches.
  bool selects_all() const { return code_.empty(); }

  const std::string& text() const { return text_; }  // as it was given
  // Upper-case keywords, single blanks, literals in one form: equal for selectors that differ in
  // spelling only. It compiles to the same selector.
  const std::string& canonical_text() const { return canonical_; }

 private:
  friend class Compiler;
  Selector();
  std::string text_;
  std::string canonical_;
  std::string strings_;  // what constants, names and patterns are views of
  std::vector<Instruction> code_;
  std::vector<Constant> constants_;
  std::vector<ConstantSet> sets_;
  std::vector<Pattern> patterns_;
  IdentifierEquality equality_;
  uint32_t stack_ = 0;
};

}  // namespace millstream::queue::selector
