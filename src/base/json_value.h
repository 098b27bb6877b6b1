// JSON of the control plane: configuration, statistics, admin replies, log events. Members keep
// their order. Message bodies never come here; they have a parser and exact numbers of their own
// (format/json_*.h).
//
//   json::Value v = json::Value::object();
//   v.set("port", 7800);
//   std::string text = json::write(v, {.is_pretty = true});
//   json::Value back = MS_TRY(json::parse(text));
//
// Lifetime: a Value owns all below it; references die when their container changes.
// Thread: any (no sharing).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace millstream::base::json {

enum class Kind : uint8_t { kNull, kBool, kInteger, kDouble, kString, kArray, kObject };

struct Member;

class Value {
 public:
  Value();  // null
  Value(bool v);
  Value(int v);
  Value(uint32_t v);
  Value(int64_t v);
  Value(uint64_t v);  // callers stay below 2^63
  Value(double v);
  Value(const char* v);
  Value(std::string_view v);
  Value(std::string v);
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();
  static Value array();
  static Value object();

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_bool() const { return kind_ == Kind::kBool; }
  bool is_integer() const { return kind_ == Kind::kInteger; }
  bool is_number() const { return kind_ == Kind::kInteger || kind_ == Kind::kDouble; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_object() const { return kind_ == Kind::kObject; }

  // The value when it is of the kind, else the fallback.
  bool as_bool(bool fallback = false) const { return is_bool() ? bool_ : fallback; }
  int64_t as_integer(int64_t fallback = 0) const { return is_integer() ? integer_ : fallback; }
  double as_double(double fallback = 0) const;
  const std::string& as_string() const { return text_; }  // empty unless a string

  // Arrays.
  const std::vector<Value>& items() const { return items_; }
  Value& push_back(Value v);  // turns null into an array
  size_t size() const;        // items or members; 0 for scalars

  // Objects.
  const std::vector<Member>& members() const { return members_; }
  const Value* find(std::string_view name) const;  // null when absent or not an object
  Value* find(std::string_view name);
  const Value& get(std::string_view name) const;  // a null value when absent
  Value& set(std::string_view name, Value v);     // adds or replaces; turns null into an object
  Value& append_new_member(std::string name, Value v);  // the caller knows that it is new
  bool erase(std::string_view name);

  // Line in the file it was read from, from 1; 0 = made here. Not part of equality.
  uint32_t line() const { return line_; }
  void set_line(uint32_t line) { line_ = line; }

  bool operator==(const Value& other) const;

 private:
  Kind kind_ = Kind::kNull;
  uint32_t line_ = 0;
  union {
    bool bool_;
    int64_t integer_ = 0;
    double double_;
  };
  std::string text_;
  std::vector<Value> items_;
  std::vector<Member> members_;
};

struct Member {
  std::string name;
  Value value;
};

struct WriteOptions {
  bool is_pretty = false;  // two blanks a level, one member a line
};

// Never fails: text that is not UTF-8 is written with U+FFFD, NaN and infinities as null.
std::string write(const Value& value, const WriteOptions& options = {});
void append_quoted(std::string_view text, std::string& out);  // with the quotes

struct ParseOptions {
  uint32_t depth_max = 200;
  // A value takes some 60 bytes, and as few as two in the text.
  size_t values_max = SIZE_MAX;
  std::string file;  // for error positions
};

// RFC 8259, strict: one value, UTF-8, no duplicate members, no lone surrogates. Integral numbers
// within 64 bits become kInteger, all others kDouble.
Result<Value> parse(std::string_view text, const ParseOptions& options = {});

}  // namespace millstream::base::json
