// The executable form of a selector: postfix instructions over a stack of values, with jumps over
// what AND and OR need not look at. Internal to selector.cc and selector_compiler.cc.
// Thread: any (immutable once built).
#pragma once
#include <string_view>
#include <vector>

#include "mqi/properties.h"

namespace millstream::queue::selector {

enum class Op : uint8_t {
  kConstant,  // pushes constants[a]
  kProperty,  // pushes property `id`, named by constants[a]
  kNegate,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kCompare,          // `compare`; two values give a truth
  kCompareConstant,  // property `id`, constants[a] its name, with constants[b]
  kBetween,          // three values
  kIn,               // one value and sets[a]
  kLike,             // one value and patterns[a]
  kIsNull,           // one value
  kCondition,        // a value where a truth is needed: what is no boolean is unknown
  kNot,
  kAnd,
  kOr,
  kSkipWhenFalse,  // to instruction a, when the top is false; keeps it
  kSkipWhenTrue,
};

enum class Compare : uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

struct Instruction {
  Op op = Op::kConstant;
  Compare compare = Compare::kEqual;
  bool is_negated = false;  // of kBetween, kIn, kLike and kIsNull
  mqi::PropertyId id = mqi::PropertyId::kNamed;
  uint32_t a = 0;
  uint32_t b = 0;
};

struct Constant {
  mqi::PropertyView value;
};

// Of one IN: sorted by (size, bytes), all of one type.
struct ConstantSet {
  std::vector<mqi::PropertyView> values;
};

// Of one LIKE, escapes resolved: `kinds` tells for each of `chars` what it is.
struct Pattern {
  static constexpr char kLiteral = 'c', kOne = '_', kAny = '%';
  // How many characters one match may look at; a text that needs more does not match.
  static constexpr size_t kStepsMax = 50'000'000;
  std::string_view chars;
  std::string_view kinds;
  bool matches(std::string_view text) const;
};

}  // namespace millstream::queue::selector
