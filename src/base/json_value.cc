#include "base/json_value.h"

namespace millstream::base::json {

// All here, because Member is complete only after Value.
Value::Value() = default;
Value::Value(bool v) : kind_(Kind::kBool) { bool_ = v; }
Value::Value(int v) : Value(static_cast<int64_t>(v)) {}
Value::Value(uint32_t v) : Value(static_cast<int64_t>(v)) {}
Value::Value(int64_t v) : kind_(Kind::kInteger) { integer_ = v; }
Value::Value(uint64_t v) : Value(static_cast<int64_t>(v)) {}
Value::Value(double v) : kind_(Kind::kDouble) { double_ = v; }
Value::Value(const char* v) : kind_(Kind::kString), text_(v) {}
Value::Value(std::string_view v) : kind_(Kind::kString), text_(v) {}
Value::Value(std::string v) : kind_(Kind::kString), text_(std::move(v)) {}
Value::Value(const Value& other) = default;
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) = default;
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;

Value Value::array() {
  Value v;
  v.kind_ = Kind::kArray;
  return v;
}

Value Value::object() {
  Value v;
  v.kind_ = Kind::kObject;
  return v;
}

double Value::as_double(double fallback) const {
  if (kind_ == Kind::kDouble) return double_;
  return kind_ == Kind::kInteger ? static_cast<double>(integer_) : fallback;
}

Value& Value::push_back(Value v) {
  if (is_null()) kind_ = Kind::kArray;
  items_.push_back(std::move(v));
  return items_.back();
}

size_t Value::size() const { return is_array() ? items_.size() : members_.size(); }

const Value* Value::find(std::string_view name) const {
  for (const Member& m : members_) {
    if (m.name == name) return &m.value;
  }
  return nullptr;
}

Value* Value::find(std::string_view name) {
  return const_cast<Value*>(static_cast<const Value*>(this)->find(name));
}

const Value& Value::get(std::string_view name) const {
  static const Value kAbsent{};
  const Value* v = find(name);
  return v ? *v : kAbsent;
}

Value& Value::set(std::string_view name, Value v) {
  if (Value* old = find(name)) {
    *old = std::move(v);
    return *old;
  }
  return append_new_member(std::string(name), std::move(v));
}

Value& Value::append_new_member(std::string name, Value v) {
  if (is_null()) kind_ = Kind::kObject;
  members_.push_back({std::move(name), std::move(v)});
  return members_.back().value;
}

bool Value::erase(std::string_view name) {
  for (auto it = members_.begin(); it != members_.end(); ++it) {
    if (it->name == name) {
      members_.erase(it);
      return true;
    }
  }
  return false;
}

bool Value::operator==(const Value& other) const {
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return bool_ == other.bool_;
    case Kind::kInteger:
      return integer_ == other.integer_;
    case Kind::kDouble:
      return double_ == other.double_;
    case Kind::kString:
      return text_ == other.text_;
    case Kind::kArray:
      return items_ == other.items_;
    case Kind::kObject:
      break;
  }
  if (members_.size() != other.members_.size()) return false;
  for (const Member& m : members_) {
    const Value* v = other.find(m.name);
    if (!v || !(*v == m.value)) return false;
  }
  return true;
}

}  // namespace millstream::base::json
