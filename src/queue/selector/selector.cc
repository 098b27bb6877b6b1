#include "queue/selector/selector.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/utf8_check.h"
#include "queue/selector/selector_code.h"

namespace millstream::queue::selector {
namespace {

using mqi::PropertyView;

PropertyView view_of_truth(Truth t) {
  return t == Truth::kUnknown ? PropertyView::null() : PropertyView::boolean(t == Truth::kTrue);
}
Truth truth_of_value(const PropertyView& v) {
  if (!v.is_boolean()) return Truth::kUnknown;
  return v.integer ? Truth::kTrue : Truth::kFalse;
}
Truth truth_of_bool(bool b) { return b ? Truth::kTrue : Truth::kFalse; }
Truth opposite(Truth t) { return t == Truth::kUnknown ? t : truth_of_bool(t == Truth::kFalse); }

bool is_number(const PropertyView& v) { return v.is_integer() || v.is_float(); }
double as_double(const PropertyView& v) {
  return v.is_float() ? v.real : static_cast<double>(v.integer);
}

template <typename T>
bool compare_ordered(Compare how, T a, T b) {
  switch (how) {
    case Compare::kEqual:
      return a == b;
    case Compare::kNotEqual:
      return a != b;
    case Compare::kLess:
      return a < b;
    case Compare::kLessEqual:
      return a <= b;
    case Compare::kGreater:
      return a > b;
    case Compare::kGreaterEqual:
      return a >= b;
  }
  return false;
}

// JMS 2.0, 3.8.1.2: unlike types make every comparison false, <> too.
Truth compare_values(Compare how, const PropertyView& a, const PropertyView& b) {
  if (a.is_null() || b.is_null()) return Truth::kUnknown;
  if (is_number(a) && is_number(b)) {
    if (a.is_integer() && b.is_integer()) {
      return truth_of_bool(compare_ordered(how, a.integer, b.integer));
    }
    return truth_of_bool(compare_ordered(how, as_double(a), as_double(b)));
  }
  bool is_equal;
  if ((a.is_string() && b.is_string()) || (a.is_bytes() && b.is_bytes())) {
    is_equal = a.text() == b.text();
  } else if (a.is_boolean() && b.is_boolean()) {
    is_equal = a.integer == b.integer;
  } else {
    return Truth::kFalse;
  }
  if (how == Compare::kEqual) return truth_of_bool(is_equal);
  if (how == Compare::kNotEqual) return truth_of_bool(!is_equal);
  return Truth::kFalse;
}

Truth logical_and(Truth a, Truth b) {
  if (a == Truth::kFalse || b == Truth::kFalse) return Truth::kFalse;
  return a == Truth::kTrue && b == Truth::kTrue ? Truth::kTrue : Truth::kUnknown;
}
Truth logical_or(Truth a, Truth b) { return opposite(logical_and(opposite(a), opposite(b))); }

PropertyView calculate_whole(Op op, int64_t a, int64_t b) {
  int64_t r = 0;
  switch (op) {  // the built-ins wrap around
    case Op::kAdd:
      static_cast<void>(__builtin_add_overflow(a, b, &r));
      break;
    case Op::kSubtract:
      static_cast<void>(__builtin_sub_overflow(a, b, &r));
      break;
    case Op::kMultiply:
      static_cast<void>(__builtin_mul_overflow(a, b, &r));
      break;
    default:
      if (b == 0) return PropertyView::null();
      if (b == -1) {
        static_cast<void>(__builtin_sub_overflow(int64_t{0}, a, &r));
      } else {
        r = a / b;
      }
  }
  return PropertyView::int64(r);
}

PropertyView calculate(Op op, const PropertyView& a, const PropertyView& b) {
  if (!is_number(a) || !is_number(b)) return PropertyView::null();
  if (a.is_integer() && b.is_integer()) return calculate_whole(op, a.integer, b.integer);
  double x = as_double(a), y = as_double(b);
  switch (op) {
    case Op::kAdd:
      return PropertyView::float64(x + y);
    case Op::kSubtract:
      return PropertyView::float64(x - y);
    case Op::kMultiply:
      return PropertyView::float64(x * y);
    default:
      return PropertyView::float64(x / y);
  }
}

PropertyView negate(const PropertyView& v) {
  if (v.is_float()) return PropertyView::float64(-v.real);
  return v.is_integer() ? calculate_whole(Op::kSubtract, 0, v.integer) : PropertyView::null();
}

// Only like types can be equal to a member.
Truth is_in_set(const PropertyView& v, const ConstantSet& set) {
  if (v.is_null()) return Truth::kUnknown;
  if (is_number(v)) {
    for (const PropertyView& member : set.values) {
      if (compare_values(Compare::kEqual, v, member) == Truth::kTrue) return Truth::kTrue;
    }
    return Truth::kFalse;
  }
  if (v.is_boolean() || set.values.front().type != v.type) return Truth::kFalse;
  auto is_before = [](const PropertyView& a, const PropertyView& b) {
    return a.size != b.size ? a.size < b.size : a.text() < b.text();
  };
  return truth_of_bool(std::binary_search(set.values.begin(), set.values.end(), v, is_before));
}

Truth is_between(const PropertyView& v, const PropertyView& low, const PropertyView& high,
                 bool is_negated) {
  if (is_negated) {
    return logical_or(compare_values(Compare::kLess, v, low),
                      compare_values(Compare::kGreater, v, high));
  }
  return logical_and(compare_values(Compare::kGreaterEqual, v, low),
                     compare_values(Compare::kLessEqual, v, high));
}

Truth is_like(const PropertyView& v, const Pattern& pattern) {
  if (v.is_null()) return Truth::kUnknown;
  return truth_of_bool(v.is_string() && pattern.matches(v.text()));
}

}  // namespace

// After a % only its leftmost place that fits counts, and going back to the last % is enough: what
// an earlier one could take, the last can too. Runs of plain characters are searched for in linear
// time; patterns with many _ behind a % can still cost their size times the text's, so there is an
// end to that.
bool Pattern::matches(std::string_view text) const {
  auto step = [&](size_t at) {
    size_t n = base::utf8_sequence_size(text.substr(at));
    return at + (n ? n : 1);
  };
  size_t at = 0, p = 0, steps = 0;
  size_t retry_at = 0, retry_p = std::string_view::npos;
  // Moves to where the run behind the % at retry_p - 1 comes next.
  auto resume = [&] {
    size_t end = kinds.find_first_not_of(kLiteral, retry_p);
    std::string_view run =
        chars.substr(retry_p, end == std::string_view::npos ? end : end - retry_p);
    if (!run.empty() && end == std::string_view::npos) {  // the text has to end in it
      if (text.size() - retry_at < run.size() || !text.ends_with(run)) return false;
      retry_at = text.size() - run.size();
    } else if (!run.empty()) {
      const void* found =
          memmem(text.data() + retry_at, text.size() - retry_at, run.data(), run.size());
      if (!found) return false;
      retry_at = static_cast<size_t>(static_cast<const char*>(found) - text.data());
    }
    at = retry_at + run.size();
    p = retry_p + run.size();
    return true;
  };
  while (at < text.size() || p < kinds.size()) {
    if (++steps > kStepsMax) return false;
    if (p < kinds.size() && kinds[p] == kAny) {
      retry_p = ++p;
      if (retry_p == kinds.size()) return true;
      retry_at = at;
      if (!resume()) return false;
      continue;
    }
    if (p < kinds.size() && at < text.size()) {
      if (kinds[p] == kOne) {
        at = step(at);
        ++p;
        continue;
      }
      if (chars[p] == text[at]) {
        ++at;
        ++p;
        continue;
      }
    }
    if (retry_p == std::string_view::npos || retry_at >= text.size()) return false;
    retry_at = step(retry_at);
    if (!resume()) return false;
  }
  return true;
}

Selector::Selector() = default;
Selector::~Selector() = default;

Truth Selector::evaluate(const mqi::PropertySource& source) const {
  if (code_.empty()) return Truth::kTrue;
  MS_ASSERT(stack_ > 0 && stack_ <= kStackMax);
  // Raw, so that a short selector does not pay for clearing a deep stack.
  alignas(PropertyView) unsigned char raw[sizeof(PropertyView) * kStackMax];
  PropertyView* const bottom = reinterpret_cast<PropertyView*>(raw);
  PropertyView* top = bottom - 1;
  auto set_truth = [&top](Truth t) { *top = view_of_truth(t); };
  const Instruction* const end = code_.data() + code_.size();
  for (const Instruction* i = code_.data(); i < end; ++i) {
    switch (i->op) {
      case Op::kConstant:
        *++top = constants_[i->a].value;
        break;
      case Op::kProperty:
        *++top = source.find_property(i->id, constants_[i->a].value.text());
        break;
      case Op::kCompareConstant:
        *++top = view_of_truth(
            compare_values(i->compare, source.find_property(i->id, constants_[i->a].value.text()),
                           constants_[i->b].value));
        break;
      case Op::kNegate:
        *top = negate(*top);
        break;
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kMultiply:
      case Op::kDivide:
        --top;
        *top = calculate(i->op, top[0], top[1]);
        break;
      case Op::kCompare:
        --top;
        set_truth(compare_values(i->compare, top[0], top[1]));
        break;
      case Op::kBetween:
        top -= 2;
        set_truth(is_between(top[0], top[1], top[2], i->is_negated));
        break;
      case Op::kIn: {
        Truth t = is_in_set(*top, sets_[i->a]);
        set_truth(i->is_negated ? opposite(t) : t);
        break;
      }
      case Op::kLike: {
        Truth t = is_like(*top, patterns_[i->a]);
        set_truth(i->is_negated ? opposite(t) : t);
        break;
      }
      case Op::kIsNull:
        set_truth(truth_of_bool(top->is_null() != i->is_negated));
        break;
      case Op::kCondition:
        set_truth(truth_of_value(*top));
        break;
      case Op::kNot:
        set_truth(opposite(truth_of_value(*top)));
        break;
      case Op::kAnd:
        --top;
        set_truth(logical_and(truth_of_value(top[0]), truth_of_value(top[1])));
        break;
      case Op::kOr:
        --top;
        set_truth(logical_or(truth_of_value(top[0]), truth_of_value(top[1])));
        break;
      case Op::kSkipWhenFalse:
        if (truth_of_value(*top) == Truth::kFalse) i = code_.data() + i->a - 1;
        break;
      case Op::kSkipWhenTrue:
        if (truth_of_value(*top) == Truth::kTrue) i = code_.data() + i->a - 1;
        break;
    }
    MS_ASSERT(top >= bottom && top < bottom + stack_);
  }
  return truth_of_value(*top);
}

}  // namespace millstream::queue::selector
