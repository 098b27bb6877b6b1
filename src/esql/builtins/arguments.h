// What the built-in functions share: argument checks that name the function, and the view of a
// CHARACTER, BLOB or BIT value as a row of singletons (code points, bytes or bits).
// Thread: any.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "base/result.h"
#include "esql/eval_context.h"
#include "value/value.h"

namespace millstream::esql::builtins {

// REPLICATE and SPACE make at most this much.
constexpr uint64_t kReplicatedBytesMax = 32 * 1024 * 1024;
// Any other function that makes a text longer than its arguments.
constexpr uint64_t kResultBytesMax = uint64_t{1} << 30;

// `index` counts from 1.
Status argument_type_error(const char* function, int index, const value::Value& v,
                           const char* needed);
Status argument_value_error(const char* function, int index, std::string_view shown,
                            const char* needed);
Status result_too_long(const char* function, uint64_t bytes_max);
Status integer_argument(const char* function, int index, const value::Value& v, int64_t& out);
Status character_argument(const char* function, int index, const value::Value& v);
// INTEGER, FLOAT or DECIMAL.
Status numeric_argument(const char* function, int index, const value::Value& v);
double real_value(const value::Value& number);
// As std::string_view::find, but linear whatever the texts are: both may come from a message.
size_t find_part(std::string_view s, std::string_view x, size_t from = 0);

// Bits are spread to one byte each, so that every function works on bytes or UTF-8.
class Singletons {
 public:
  // Refuses what is not CHARACTER, BLOB or BIT.
  static Status create(EvalContext& context, const char* function, int index, const value::Value& v,
                       Singletons& out);
  // All of the same type.
  static Status create_same(EvalContext& context, const char* function, int first_index,
                            std::initializer_list<const value::Value*> values, Singletons* out);

  value::Kind kind() const { return kind_; }
  std::string_view bytes() const { return bytes_; }
  uint64_t count() const;                         // singletons
  size_t offset_of(uint64_t n) const;             // byte offset after n singletons, at most the end
  size_t offset_from_end(uint64_t n) const;       // byte offset of the last n singletons
  size_t next(size_t offset) const;               // byte offset of the singleton behind this one
  uint64_t index_of_offset(size_t offset) const;  // singletons before a byte offset
  // A result of the same type; `part` need not be copied when it is a view that lives long enough.
  value::Value make(EvalContext& context, std::string_view part) const;

 private:
  value::Kind kind_ = value::Kind::kCharacter;
  bool is_multibyte_ = false;
  std::string_view bytes_;
};

}  // namespace millstream::esql::builtins
