#include "esql/builtins/arguments.h"

#include <cstring>

#include "esql/errors_gen.h"
#include "text/utf8.h"
#include "value/decimal.h"

namespace millstream::esql::builtins {

using value::Kind;
using value::Value;

Status argument_type_error(const char* function, int index, const Value& v, const char* needed) {
  return base::make_error(errors::kArgumentType,
                          {function, index, value::kind_name(v.kind), needed});
}

Status argument_value_error(const char* function, int index, std::string_view shown,
                            const char* needed) {
  return base::make_error(errors::kArgumentValue, {function, index, shown, needed});
}

Status result_too_long(const char* function, uint64_t bytes_max) {
  return base::make_error(errors::kResultTooLong, {function, size_t{bytes_max}});
}

Status integer_argument(const char* function, int index, const Value& v, int64_t& out) {
  if (v.kind != Kind::kInteger) return argument_type_error(function, index, v, "INTEGER");
  out = v.integer;
  return {};
}

Status character_argument(const char* function, int index, const Value& v) {
  if (v.kind == Kind::kCharacter) return {};
  return argument_type_error(function, index, v, "CHARACTER");
}

Status numeric_argument(const char* function, int index, const Value& v) {
  if (v.kind == Kind::kInteger || v.kind == Kind::kFloat || v.kind == Kind::kDecimal) return {};
  return argument_type_error(function, index, v, "a number");
}

double real_value(const Value& number) {
  if (number.kind == Kind::kFloat) return number.real;
  if (number.kind == Kind::kInteger) return static_cast<double>(number.integer);
  return number.as_decimal().to_double();
}

size_t find_part(std::string_view s, std::string_view x, size_t from) {
  if (from > s.size()) return std::string_view::npos;
  if (x.empty()) return from;
  if (x.size() > s.size() - from) return std::string_view::npos;
  const void* at = memmem(s.data() + from, s.size() - from, x.data(), x.size());
  if (at == nullptr) return std::string_view::npos;
  return static_cast<size_t>(static_cast<const char*>(at) - s.data());
}

namespace {

bool is_known_ascii(EvalContext& context, std::string_view s) {
  constexpr size_t kWorthRemembering = 256;
  if (s.data() == context.ascii_text && s.size() <= context.ascii_size) return true;
  if (!text::is_ascii(s)) return false;
  if (s.size() >= kWorthRemembering) {
    context.ascii_text = s.data();
    context.ascii_size = s.size();
  }
  return true;
}

}  // namespace

Status Singletons::create(EvalContext& context, const char* function, int index, const Value& v,
                          Singletons& out) {
  out.kind_ = v.kind;
  out.is_multibyte_ = false;
  switch (v.kind) {
    case Kind::kCharacter:
      out.bytes_ = v.text();
      out.is_multibyte_ = !is_known_ascii(context, v.text());
      return {};
    case Kind::kBlob:
      out.bytes_ = v.text();
      return {};
    case Kind::kBit: {
      char* p = context.arena().bytes(v.size);
      for (uint32_t i = 0; i < v.size; ++i) {
        p[i] = static_cast<char>((static_cast<unsigned char>(v.data[i / 8]) >> (7 - i % 8)) & 1);
      }
      out.bytes_ = {p, v.size};
      return {};
    }
    default:
      return argument_type_error(function, index, v, "CHARACTER, BLOB or BIT");
  }
}

Status Singletons::create_same(EvalContext& context, const char* function, int first_index,
                               std::initializer_list<const Value*> values, Singletons* out) {
  int i = 0;
  for (const Value* v : values) {
    MS_TRY(create(context, function, first_index + i, *v, out[i]));
    if (out[i].kind_ != out[0].kind_) {
      return base::make_error(
          errors::kArgumentTypesDiffer,
          {function, value::kind_name(out[0].kind_), value::kind_name(v->kind)});
    }
    ++i;
  }
  return {};
}

uint64_t Singletons::count() const {
  return is_multibyte_ ? text::count_code_points(bytes_) : bytes_.size();
}

size_t Singletons::offset_of(uint64_t n) const {
  if (n >= bytes_.size()) return bytes_.size();  // never fewer bytes than singletons
  return is_multibyte_ ? text::advance_code_points(bytes_, 0, n) : static_cast<size_t>(n);
}

size_t Singletons::offset_from_end(uint64_t n) const {
  if (n >= bytes_.size()) return 0;
  if (is_multibyte_) return text::retreat_code_points(bytes_, bytes_.size(), n);
  return bytes_.size() - static_cast<size_t>(n);
}

size_t Singletons::next(size_t offset) const {
  return is_multibyte_ ? text::advance_code_points(bytes_, offset, 1) : offset + 1;
}

uint64_t Singletons::index_of_offset(size_t offset) const {
  return is_multibyte_ ? text::count_code_points(bytes_.substr(0, offset)) : offset;
}

Value Singletons::make(EvalContext& context, std::string_view part) const {
  if (kind_ == Kind::kCharacter) return Value::make_character(part);
  if (kind_ == Kind::kBlob) return Value::make_blob(part);
  size_t bytes = (part.size() + 7) / 8;
  char* p = context.arena().bytes(bytes);
  for (size_t i = 0; i < bytes; ++i) p[i] = 0;
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] != 0)
      p[i / 8] = static_cast<char>(static_cast<unsigned char>(p[i / 8]) | (0x80 >> (i % 8)));
  }
  return Value::make_bit(p, static_cast<uint32_t>(part.size()));
}

}  // namespace millstream::esql::builtins
