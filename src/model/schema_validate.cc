// JSON values against compiled schemas, in the order of the validation vocabulary of JSON Schema.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "model/schema.h"
#include "text/utf8.h"

namespace millstream::model {
namespace {

constexpr size_t kShownBytesMax = 60;

std::string shown(const json::Value& v) {
  std::string out = json::write(v);
  if (out.size() <= kShownBytesMax) return out;
  // Not in the middle of a character.
  out.resize(text::retreat_code_points(out, text::advance_code_points(out, 0, kShownBytesMax), 1));
  return out + "...";
}

std::string type_names(uint32_t types) {
  static constexpr struct {
    uint32_t bit;
    const char* name;
  } kNames[] = {{kTypeNull, "null"},     {kTypeBoolean, "boolean"}, {kTypeInteger, "integer"},
                {kTypeNumber, "number"}, {kTypeString, "string"},   {kTypeArray, "array"},
                {kTypeObject, "object"}};
  std::string out;
  for (const auto& n : kNames) {
    if ((types & n.bit) == 0) continue;
    if (!out.empty()) out += " or ";
    out += n.name;
  }
  return out;
}

bool is_whole(const json::Value& v) {
  return v.is_integer() || (v.is_number() && std::nearbyint(v.as_double()) == v.as_double());
}

uint32_t type_of(const json::Value& v) {
  switch (v.kind()) {
    case json::Kind::kNull:
      return kTypeNull;
    case json::Kind::kBool:
      return kTypeBoolean;
    case json::Kind::kInteger:
    case json::Kind::kDouble:
      return is_whole(v) ? kTypeInteger | kTypeNumber : kTypeNumber;
    case json::Kind::kString:
      return kTypeString;
    case json::Kind::kArray:
      return kTypeArray;
    case json::Kind::kObject:
      break;
  }
  return kTypeObject;
}

// 64 bits of mantissa: exact for every integer.
long double number_of(const json::Value& v) {
  return v.is_integer() ? static_cast<long double>(v.as_integer())
                        : static_cast<long double>(v.as_double());
}

bool is_multiple(const json::Value& v, const json::Value& step) {
  if (v.is_integer() && step.is_integer()) return v.as_integer() % step.as_integer() == 0;
  const long double quotient = number_of(v) / number_of(step);
  // What a decimal fraction loses as a double.
  constexpr long double kSlack = 1e-9L;
  return std::fabs(quotient - std::nearbyint(quotient)) <= kSlack;
}

// 1 and 1.0 are equal; members may come in any order.
bool are_equal(const json::Value& a, const json::Value& b) {
  if (a.is_number() && b.is_number()) return number_of(a) == number_of(b);
  if (a.kind() != b.kind()) return false;
  if (a.is_array()) {
    return std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(),
                      are_equal);
  }
  if (!a.is_object()) return a == b;
  if (a.members().size() != b.members().size()) return false;
  return std::all_of(a.members().begin(), a.members().end(), [&](const json::Member& m) {
    const json::Value* other = b.find(m.name);
    return other && are_equal(m.value, *other);
  });
}

// The same text for equal values.
std::string equality_key(const json::Value& v) {
  if (v.is_number()) {
    return is_whole(v) && std::fabs(number_of(v)) < 9e18L
               ? std::to_string(static_cast<int64_t>(number_of(v)))
               : json::write(v);
  }
  if (v.is_array()) {
    std::string out = "[";
    for (const json::Value& item : v.items()) out += equality_key(item) + ",";
    return out + "]";
  }
  if (!v.is_object()) return json::write(v);
  std::vector<std::string> members;
  for (const json::Member& m : v.members()) {
    std::string name;
    json::append_quoted(m.name, name);
    members.push_back(name + ":" + equality_key(m.value));
  }
  std::sort(members.begin(), members.end());
  std::string out = "{";
  for (const std::string& m : members) out += m + ",";
  return out + "}";
}

class Validator {
 public:
  explicit Validator(const ValidationOptions& options) : options_(options) {}

  std::vector<SchemaProblem> run(const Schema& schema, const json::Value& value) {
    std::vector<SchemaProblem> problems;
    problems_ = &problems;
    check(schema, value, "");
    if (is_over_budget_) {
      problems.clear();
      problems.push_back({"", "is too complex to be checked against the schema"});
    }
    return problems;
  }

 private:
  using Place = const std::string&;

  void add(Place place, std::string text) {
    ++failures_;
    if (problems_ && problems_->size() < ValidationOptions::kProblemsMax) {
      problems_->push_back({place, std::move(text), current_ ? current_->place : DocumentPlace()});
    }
  }

  // Whether the value fits, without telling why not.
  bool fits(const Schema& schema, const json::Value& value, Place place) {
    const size_t before = failures_;
    std::vector<SchemaProblem>* problems = std::exchange(problems_, nullptr);
    const size_t outer = std::exchange(failures_when_trial_began_, before);
    check(schema, value, place);
    failures_when_trial_began_ = outer;
    problems_ = problems;
    const bool is_good = failures_ == before;
    failures_ = before;
    return is_good;
  }

  // Nothing that is found from here on would be told.
  bool is_decided() const {
    return problems_ ? problems_->size() >= ValidationOptions::kProblemsMax
                     : failures_ > failures_when_trial_began_;
  }

  void check(const Schema& s, const json::Value& v, Place place) {
    if (is_over_budget_ || is_decided()) return;
    if (depth_ >= std::min(options_.depth_max, ValidationOptions::kDepthMax) ||
        ++steps_ > ValidationOptions::kStepsMax) {
      is_over_budget_ = true;
      ++failures_;
      return;
    }
    ++depth_;
    const Schema* outer = std::exchange(current_, &s);
    check_here(s, v, place);
    current_ = outer;
    --depth_;
  }

  void check_here(const Schema& s, const json::Value& v, Place place) {
    if (s.is_never) return add(place, "is not allowed");
    if (v.is_null() && s.is_nullable) return;
    const uint32_t type = type_of(v);
    if (s.types && (s.types & type) == 0) {
      return add(place, "must be of type " + type_names(s.types) + ", not " + shown(v));
    }
    check_fixed_values(s, v, place);
    if (v.is_number()) check_number(s, v, place);
    if (v.is_string()) check_string(s, v, place);
    if (v.is_array()) check_array(s, v, place);
    if (v.is_object()) check_object(s, v, place);
    check_composition(s, v, place);
  }

  void check_fixed_values(const Schema& s, const json::Value& v, Place place) {
    if (s.constant && !are_equal(*s.constant, v)) {
      add(place, "must be " + shown(*s.constant) + ", not " + shown(v));
    }
    if (!s.enumeration) return;
    const auto& all = s.enumeration->items();
    if (std::any_of(all.begin(), all.end(), [&](const json::Value& e) { return are_equal(e, v); }))
      return;
    add(place, "must be one of " + shown(*s.enumeration) + ", not " + shown(v));
  }

  void check_number(const Schema& s, const json::Value& v, Place place) {
    const long double n = number_of(v);
    if (s.minimum && n < number_of(*s.minimum)) {
      add(place, "must be at least " + shown(*s.minimum) + ", not " + shown(v));
    }
    if (s.maximum && n > number_of(*s.maximum)) {
      add(place, "must be at most " + shown(*s.maximum) + ", not " + shown(v));
    }
    if (s.exclusive_minimum && n <= number_of(*s.exclusive_minimum)) {
      add(place, "must be above " + shown(*s.exclusive_minimum) + ", not " + shown(v));
    }
    if (s.exclusive_maximum && n >= number_of(*s.exclusive_maximum)) {
      add(place, "must be below " + shown(*s.exclusive_maximum) + ", not " + shown(v));
    }
    if (s.multiple_of && !is_multiple(v, *s.multiple_of)) {
      add(place, "must be a multiple of " + shown(*s.multiple_of) + ", not " + shown(v));
    }
    const bool is_out = (s.format == Format::kInt32 && (n < -2147483648.0L || n > 2147483647.0L)) ||
                        // What is no integer of 64 bits here was rounded to the bound.
                        (s.format == Format::kInt64 && !v.is_integer() &&
                         (n <= -9223372036854775808.0L || n > 9223372036854775807.0L)) ||
                        (s.format == Format::kFloat && std::fabs(n) > 3.4028235677973366e38L);
    if (is_out) add(place, "must be in the range of " + s.format_name + ", not " + shown(v));
  }

  void check_string(const Schema& s, const json::Value& v, Place place) {
    const std::string& text = v.as_string();
    if (s.min_length || s.max_length) {
      const size_t length = text::count_code_points(text);
      if (s.min_length && length < *s.min_length) {
        add(place, "must have at least " + std::to_string(*s.min_length) + " characters, not " +
                       std::to_string(length));
      }
      if (s.max_length && length > *s.max_length) {
        add(place, "must have at most " + std::to_string(*s.max_length) + " characters, not " +
                       std::to_string(length));
      }
    }
    if (s.pattern) check_pattern(*s.pattern, text, v, place);
    if (!has_format(text, s.format)) {
      add(place, "must have the format " + s.format_name + ", not " + shown(v));
    }
  }

  void check_pattern(const SchemaPattern& pattern, const std::string& text, const json::Value& v,
                     Place place) {
    switch (pattern.regex.search(text)) {
      case text::Regex::Outcome::kMatch:
        return;
      case text::Regex::Outcome::kNoMatch:
        return add(place, "must match the pattern " + pattern.text + ", not " + shown(v));
      case text::Regex::Outcome::kTooHard:
        return add(place, "is too complex to be compared with the pattern " + pattern.text);
    }
  }

  void check_array(const Schema& s, const json::Value& v, Place place) {
    const auto& items = v.items();
    if (s.min_items && items.size() < *s.min_items) {
      add(place, "must have at least " + std::to_string(*s.min_items) + " items, not " +
                     std::to_string(items.size()));
    }
    if (s.max_items && items.size() > *s.max_items) {
      add(place, "must have at most " + std::to_string(*s.max_items) + " items, not " +
                     std::to_string(items.size()));
      return;  // may be millions
    }
    if (s.must_be_unique) check_unique(items, place);
    for (size_t i = 0; i < items.size(); ++i) {
      const bool is_prefix = i < s.prefix_items.size();
      const Schema* item = is_prefix ? s.prefix_items[i] : s.items;
      if (item) check(*item, items[i], place + "/" + std::to_string(i));
      if (is_decided()) return;
    }
    if (!s.contains) return;
    size_t count = 0;
    for (const json::Value& item : items) count += fits(*s.contains, item, place);
    if (count < s.min_contains.value_or(1)) add(place, "must contain a further fitting item");
    if (s.max_contains && count > *s.max_contains) add(place, "contains too many fitting items");
  }

  void check_unique(const std::vector<json::Value>& items, Place place) {
    std::unordered_map<std::string, size_t> seen;
    for (size_t i = 0; i < items.size(); ++i) {
      auto [it, is_new] = seen.try_emplace(equality_key(items[i]), i);
      if (is_new) continue;
      return add(place, "must not have equal items; " + std::to_string(it->second) + " and " +
                            std::to_string(i) + " are");
    }
  }

  void check_object(const Schema& s, const json::Value& v, Place place) {
    const auto& members = v.members();
    if (s.min_properties && members.size() < *s.min_properties) {
      add(place, "must have at least " + std::to_string(*s.min_properties) + " members");
    }
    if (s.max_properties && members.size() > *s.max_properties) {
      add(place, "must have at most " + std::to_string(*s.max_properties) + " members");
    }
    for (const std::string& name : s.required) {
      if (!v.find(name) && !is_excused(s, name)) add(place, "must have the member " + name);
    }
    for (const json::Member& m : members) check_member(s, m, place);
    for (const SchemaDependency& d : s.dependencies) {
      if (!v.find(d.name)) continue;
      for (const std::string& name : d.required) {
        if (!v.find(name)) add(place, "must have the member " + name + " beside " + d.name);
      }
      if (d.schema) check(*d.schema, v, place);
    }
  }

  bool is_excused(const Schema& s, const std::string& name) const {
    const Schema* property = s.find_property(name);
    if (!property) return false;
    return (property->is_read_only && options_.direction == Direction::kRequest) ||
           (property->is_write_only && options_.direction == Direction::kResponse);
  }

  void check_member(const Schema& s, const json::Member& m, Place place) {
    const std::string at = pointer_step(place, m.name);
    bool is_known = false;
    if (const Schema* property = s.find_property(m.name)) {
      is_known = true;
      check(*property, m.value, at);
    }
    for (const SchemaPatternProperty& p : s.pattern_properties) {
      const text::Regex::Outcome outcome = p.pattern.regex.search(m.name);
      if (outcome == text::Regex::Outcome::kNoMatch) continue;
      is_known = true;
      if (outcome == text::Regex::Outcome::kMatch) {
        check(*p.schema, m.value, at);
      } else {
        add(at, "has a name that is too complex to be compared with the pattern " + p.pattern.text);
      }
    }
    if (s.property_names && !fits(*s.property_names, json::Value(m.name), at)) {
      add(at, "has a name that is not allowed");
    }
    if (is_known) return;
    if (s.has_closed_properties) return add(at, "is not a member that the schema knows");
    if (s.additional_properties) check(*s.additional_properties, m.value, at);
  }

  void check_composition(const Schema& s, const json::Value& v, Place place) {
    if (s.reference) check(*s.reference, v, place);
    for (const Schema* part : s.all_of) check(*part, v, place);
    if (s.discriminator && v.is_object()) {
      check_discriminated(*s.discriminator, v, place);
    } else {
      check_alternatives(s, v, place);
    }
    if (s.not_schema && fits(*s.not_schema, v, place)) add(place, "fits what it must not fit");
    if (!s.if_schema) return;
    const Schema* branch = fits(*s.if_schema, v, place) ? s.then_schema : s.else_schema;
    if (branch) check(*branch, v, place);
  }

  // The property says which alternative is meant, so that its problems can be told.
  void check_discriminated(const Discriminator& d, const json::Value& v, Place place) {
    const json::Value* name = v.find(d.property);
    if (!name || !name->is_string()) {
      return add(place, "must have the member " + d.property + ", which says what it is");
    }
    for (const SchemaProperty& alternative : d.schemas) {
      if (alternative.name == name->as_string()) return check(*alternative.schema, v, place);
    }
    add(pointer_step(place, d.property), "names no alternative: " + shown(*name));
  }

  void check_alternatives(const Schema& s, const json::Value& v, Place place) {
    if (!s.any_of.empty() && std::none_of(s.any_of.begin(), s.any_of.end(),
                                          [&](const Schema* a) { return fits(*a, v, place); })) {
      explain(s.any_of, v, place, "fits none of the alternatives");
    }
    if (s.one_of.empty()) return;
    const auto count = std::count_if(s.one_of.begin(), s.one_of.end(),
                                     [&](const Schema* a) { return fits(*a, v, place); });
    if (count > 1) add(place, "fits more than one of the alternatives");
    if (count == 0) explain(s.one_of, v, place, "fits none of the alternatives");
  }

  // With one alternative of the value's type, its problems are what the sender can act on.
  void explain(const std::vector<const Schema*>& alternatives, const json::Value& v, Place place,
               const char* otherwise) {
    const Schema* meant = nullptr;
    size_t count = 0;
    for (const Schema* a : alternatives) {
      const uint32_t types = possible_types(*a);
      if (types && (types & type_of(v)) == 0) continue;
      meant = a;
      ++count;
    }
    if (count != 1) return add(place, otherwise);
    const size_t before = failures_;
    check(*meant, v, place);
    if (failures_ == before) add(place, otherwise);
  }

  const ValidationOptions& options_;
  std::vector<SchemaProblem>* problems_ = nullptr;
  const Schema* current_ = nullptr;
  size_t failures_ = 0;
  size_t failures_when_trial_began_ = 0;
  size_t steps_ = 0;
  int depth_ = 0;
  bool is_over_budget_ = false;
};

}  // namespace

std::vector<SchemaProblem> validate(const Schema& schema, const json::Value& value,
                                    const ValidationOptions& options) {
  return Validator(options).run(schema, value);
}

}  // namespace millstream::model
