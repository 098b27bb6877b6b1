// The quick lane of expressions: what usual statements over usual messages need, without statuses,
// virtual returns through memory and copies. ExprNode::quick() gives a value or declines with NULL
// as soon as anything is out of the ordinary (a missing field, an overflow, a parse error, a text
// that is no short number); then eval() starts afresh and says what the language says. Declining
// must therefore have no effect that eval() would not have.
// Thread: any.
#pragma once
#include <cstdint>
#include <cstring>

#include "esql/operators.h"
#include "tree/element.h"
#include "value/decimal.h"

namespace millstream::esql::quick {

// The first child called `name`; null when there is none, or the parse failed.
inline tree::Element* child_named(tree::Element* parent, const base::QName* name) {
  tree::Element* e = parent->first;
  if (__builtin_expect(e == nullptr, 0)) e = tree::first_child(parent);
  while (e) {
    if (e->name == name) return e;
    tree::Element* next = e->next;
    // At the end of what is parsed the parser goes on.
    if (__builtin_expect(next == nullptr, 0)) next = tree::next_sibling(e);
    e = next;
  }
  return nullptr;
}

// The first of `e` and its following siblings that is called `name`.
inline tree::Element* sibling_named(tree::Element* e, const base::QName* name) {
  while (e && e->name != name) {
    tree::Element* next = e->next;
    if (__builtin_expect(next == nullptr, 0)) next = tree::next_sibling(e);
    e = next;
  }
  return e;
}

// digits[.digits] of at most 8 characters, without branches on what they are: where the point
// stands and how many digits follow is what processors predict worst.
__attribute__((always_inline)) inline bool short_number(const char* p, uint32_t size,
                                                        int64_t* coefficient, int32_t* exponent) {
  if (size - 1 > 7) return false;
  uint64_t text;
  if (size >= 4) {
    uint32_t head, tail;
    std::memcpy(&head, p, 4);
    std::memcpy(&tail, p + size - 4, 4);
    text = head | uint64_t{tail} << (8 * (size - 4));
  } else {
    auto byte = [&](uint32_t i) { return uint64_t{static_cast<unsigned char>(p[i])} << (8 * i); };
    text = byte(0) | byte(size / 2) | byte(size - 1);
  }
  // The bytes of `text` in order; take out the point, if any.
  constexpr uint64_t kOnes = 0x0101010101010101ull;
  const uint64_t no_point = text ^ (kOnes * '.');
  const uint64_t points = (no_point - kOnes) & ~no_point & (kOnes << 7);
  uint32_t digits = size;
  uint32_t fraction = 0;
  if (points != 0) {
    const auto at = static_cast<uint32_t>(__builtin_ctzll(points)) / 8;
    const uint64_t before = (uint64_t{1} << (8 * at)) - 1;
    text = (text & before) | ((text >> 8) & ~before);
    digits = size - 1;
    fraction = digits - at;
    if (fraction == 0 || digits == 0) return false;
  }
  // To the end of eight digits, with zeros in front.
  const uint32_t shift = 8 * (8 - digits);
  const uint64_t zeros = (kOnes * '0') & ~(~uint64_t{0} << shift);
  text = shift == 0 ? text : (text << shift) | zeros;
  constexpr uint64_t kHigh = kOnes * 0xF0;
  if (((text & kHigh) | (((text + kOnes * 6) & kHigh) >> 4)) != kOnes * 0x33) return false;
  text = (text & (kOnes * 0x0F)) * 2561 >> 8;
  text = (text & 0x00FF00FF00FF00FFull) * 6553601 >> 16;
  text = (text & 0x0000FFFF0000FFFFull) * 42949672960001ull >> 32;
  *coefficient = static_cast<int64_t>(text);
  *exponent = -static_cast<int32_t>(fraction);
  return true;
}

// NULL: declined.
__attribute__((always_inline)) inline value::Value arithmetic(ArithmeticOp op,
                                                              const value::Value& a,
                                                              const value::Value& b) {
  using value::Kind;
  using value::Value;
  Value out;
  if (a.kind == Kind::kInteger && b.kind == Kind::kInteger) {
    int64_t r = 0;
    bool overflows = true;
    if (op == ArithmeticOp::kAdd) overflows = __builtin_add_overflow(a.integer, b.integer, &r);
    if (op == ArithmeticOp::kSubtract) overflows = __builtin_sub_overflow(a.integer, b.integer, &r);
    if (op == ArithmeticOp::kMultiply) overflows = __builtin_mul_overflow(a.integer, b.integer, &r);
    return overflows ? out : Value::make_integer(r);
  }
  // An INTEGER beside a DECIMAL is one without a fraction.
  auto as_decimal = [](const Value& v) {
    return v.kind == Kind::kInteger ? Value::make_inline_decimal(v.integer, 0) : v;
  };
  const Value x = as_decimal(a);
  const Value y = as_decimal(b);
  if (x.kind == Kind::kDecimal && y.kind == Kind::kDecimal) {
    bool fits = false;
    if (op == ArithmeticOp::kAdd) fits = value::try_add_inline(x, y, out);
    if (op == ArithmeticOp::kSubtract) fits = value::try_subtract_inline(x, y, out);
    if (op == ArithmeticOp::kMultiply) fits = value::try_multiply_inline(x, y, out);
    return fits ? out : Value::null();
  }
  return out;
}

}  // namespace millstream::esql::quick
