#include "wire/amqp/codec/reader.h"

#include <bit>
#include <cstring>

#include "text/utf8.h"

namespace millstream::wire::amqp {

namespace {
// Bytes that follow a constructor of fixed width; -1: it has a size.
int fixed_width(uint8_t code) {
  switch (code >> 4) {
    case 0x4:
      return 0;
    case 0x5:
      return 1;
    case 0x6:
      return 2;
    case 0x7:
      return 4;
    case 0x8:
      return 8;
    case 0x9:
      return 16;
    default:
      return -1;
  }
}

bool is_known(uint8_t c) {
  switch (c) {
    case code::kNull:
    case code::kTrue:
    case code::kFalse:
    case code::kUint0:
    case code::kUlong0:
    case code::kList0:
    case code::kUbyte:
    case code::kByte:
    case code::kSmallUint:
    case code::kSmallUlong:
    case code::kSmallInt:
    case code::kSmallLong:
    case code::kBoolean:
    case code::kUshort:
    case code::kShort:
    case code::kUint:
    case code::kInt:
    case code::kFloat:
    case code::kChar:
    case code::kDecimal32:
    case code::kUlong:
    case code::kLong:
    case code::kDouble:
    case code::kTimestamp:
    case code::kDecimal64:
    case code::kDecimal128:
    case code::kUuid:
    case code::kBinary8:
    case code::kString8:
    case code::kSymbol8:
    case code::kBinary32:
    case code::kString32:
    case code::kSymbol32:
    case code::kList8:
    case code::kMap8:
    case code::kList32:
    case code::kMap32:
    case code::kArray8:
    case code::kArray32:
      return true;
    default:
      return false;
  }
}

template <typename T>
T load_big(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  if constexpr (sizeof(T) == 2) v = static_cast<T>(__builtin_bswap16(v));
  if constexpr (sizeof(T) == 4) v = static_cast<T>(__builtin_bswap32(v));
  if constexpr (sizeof(T) == 8) v = static_cast<T>(__builtin_bswap64(v));
  return v;
}
}  // namespace

std::string_view type_name(Type type) {
  static constexpr std::string_view kNames[] = {
      "null",       "boolean", "ubyte",     "ushort",   "uint",   "ulong",     "byte",
      "short",      "int",     "long",      "float",    "double", "decimal32", "decimal64",
      "decimal128", "char",    "timestamp", "uuid",     "binary", "string",    "symbol",
      "list",       "map",     "array",     "described"};
  return kNames[static_cast<size_t>(type)];
}

bool Reader::take(size_t n, const char*& at) {
  if (n > left()) return fail("a value ends after the bytes do");
  at = p_;
  p_ += n;
  return true;
}

template <typename T>
bool Reader::take_int(T& v) {
  const char* at = nullptr;
  if (!take(sizeof(T), at)) return false;
  v = load_big<T>(at);
  return true;
}

bool Reader::skip_content(uint8_t c) {
  if (!is_known(c)) return fail("an unknown constructor");
  const char* at = nullptr;
  int width = fixed_width(c);
  if (width >= 0) return take(static_cast<size_t>(width), at);
  bool is_wide = (c & 0x10) != 0;  // 0xb, 0xd, 0xf
  uint8_t small = 0;
  uint32_t size = 0;
  if (is_wide ? !take_int(size) : !take_int(small)) return false;
  return take(is_wide ? size : small, at);
}

// A descriptor may itself be described; nobody does that, and not very deep.
bool Reader::skip_described(int depth) {
  if (depth > kDepthMax) return fail("too many nested values");
  const char* at = nullptr;
  if (!take(1, at)) return false;
  uint8_t c = static_cast<uint8_t>(*at);
  if (c != code::kDescribed) return skip_content(c);
  return skip_described(depth + 1) && skip_described(depth + 1);
}

bool Reader::skip() { return skip_described(0); }

bool Reader::read_raw(std::string_view& raw) {
  const char* from = p_;
  if (!skip()) return false;
  raw = {from, static_cast<size_t>(p_ - from)};
  return true;
}

bool Reader::read_descriptor(uint64_t& code_out) {
  const char* at = nullptr;
  if (!take(1, at)) return false;
  if (static_cast<uint8_t>(*at) != code::kDescribed) return fail("a described value is expected");
  if (left() >= 2 && static_cast<uint8_t>(*p_) == code::kSmallUlong) {
    code_out = static_cast<uint8_t>(p_[1]);
    p_ += 2;
    return true;
  }
  Value v;
  if (peek() == code::kDescribed) return fail("a descriptor is a number or a symbol");
  if (!read(v)) return false;
  if (v.type == Type::kUlong) {
    code_out = v.u;
    return true;
  }
  if (v.type != Type::kSymbol) return fail("a descriptor is a number or a symbol");
  code_out = descriptor_of(v.bytes);
  return true;
}

bool Reader::read(Value& value) {
  const char* from = p_;
  const char* at = nullptr;
  if (!take(1, at)) return false;
  uint8_t c = static_cast<uint8_t>(*at);
  if (c == code::kDescribed) {
    value = Value();
    value.type = Type::kDescribed;
    if (!read_raw(value.bytes) || !read_raw(value.inner)) return false;
  } else if (!read_content(c, value)) {
    return false;
  }
  value.whole = {from, static_cast<size_t>(p_ - from)};
  return true;
}

bool Reader::read_element(uint8_t element_code, Value& value) {
  const char* from = p_;
  if (!read_content(element_code, value)) return false;
  value.whole = {from, static_cast<size_t>(p_ - from)};
  return true;
}

namespace {
struct FixedType {
  Type type;
  bool is_signed;
};
FixedType fixed_type(uint8_t c) {
  switch (c) {
    case code::kUbyte:
      return {Type::kUbyte, false};
    case code::kByte:
      return {Type::kByte, true};
    case code::kSmallUint:
    case code::kUint:
      return {Type::kUint, false};
    case code::kSmallUlong:
    case code::kUlong:
      return {Type::kUlong, false};
    case code::kSmallInt:
    case code::kInt:
      return {Type::kInt, true};
    case code::kSmallLong:
    case code::kLong:
      return {Type::kLong, true};
    case code::kUshort:
      return {Type::kUshort, false};
    case code::kShort:
      return {Type::kShort, true};
    case code::kChar:
      return {Type::kChar, false};
    case code::kTimestamp:
      return {Type::kTimestamp, true};
    default:
      return {Type::kNull, false};
  }
}
}  // namespace

bool Reader::read_variable(uint8_t c, Value& value) {
  value.type = (c & 0xf) == 0 ? Type::kBinary : (c & 0xf) == 1 ? Type::kString : Type::kSymbol;
  bool is_wide = (c & 0x10) != 0;
  uint8_t small = 0;
  uint32_t size = 0;
  if (is_wide ? !take_int(size) : !take_int(small)) return false;
  if (!is_wide) size = small;
  const char* at = nullptr;
  if (!take(size, at)) return false;
  value.bytes = {at, size};
  return true;
}

bool Reader::read_content(uint8_t c, Value& value) {
  value = Value();
  const char* at = nullptr;
  switch (c) {
    case code::kNull:
      return true;
    case code::kTrue:
    case code::kFalse:
      value.type = Type::kBoolean;
      value.u = c == code::kTrue;
      return true;
    case code::kUint0:
    case code::kUlong0:
      value.type = c == code::kUint0 ? Type::kUint : Type::kUlong;
      return true;
    case code::kList0:
      value.type = Type::kList;
      value.bytes = {p_, 0};
      return true;
    case code::kBoolean:
      value.type = Type::kBoolean;
      if (!take(1, at)) return false;
      if (static_cast<uint8_t>(*at) > 1) return fail("a boolean is 0 or 1");
      value.u = static_cast<uint8_t>(*at);
      return true;
    case code::kFloat: {
      value.type = Type::kFloat;
      uint32_t bits = 0;
      if (!take_int(bits)) return false;
      value.real = static_cast<double>(std::bit_cast<float>(bits));
      return true;
    }
    case code::kDouble: {
      value.type = Type::kDouble;
      uint64_t bits = 0;
      if (!take_int(bits)) return false;
      value.real = std::bit_cast<double>(bits);
      return true;
    }
    case code::kDecimal32:
    case code::kDecimal64:
    case code::kDecimal128:
    case code::kUuid: {
      value.type = c == code::kUuid        ? Type::kUuid
                   : c == code::kDecimal32 ? Type::kDecimal32
                   : c == code::kDecimal64 ? Type::kDecimal64
                                           : Type::kDecimal128;
      size_t n = static_cast<size_t>(fixed_width(c));
      if (!take(n, at)) return false;
      value.bytes = {at, n};
      return true;
    }
    case code::kBinary8:
    case code::kString8:
    case code::kSymbol8:
    case code::kBinary32:
    case code::kString32:
    case code::kSymbol32:
      return read_variable(c, value);
    case code::kList8:
    case code::kMap8:
    case code::kList32:
    case code::kMap32:
      value.type = (c & 0xf) == 0 ? Type::kList : Type::kMap;
      return read_compound(value, (c & 0x10) != 0);
    case code::kArray8:
    case code::kArray32:
      value.type = Type::kArray;
      return read_array(value, c == code::kArray32);
    default:
      break;
  }
  FixedType fixed = fixed_type(c);
  if (fixed.type == Type::kNull) return fail("an unknown constructor");
  int width = fixed_width(c);
  if (!take(static_cast<size_t>(width), at)) return false;
  value.type = fixed.type;
  uint64_t u = width == 1   ? static_cast<uint8_t>(*at)
               : width == 2 ? load_big<uint16_t>(at)
               : width == 4 ? load_big<uint32_t>(at)
                            : load_big<uint64_t>(at);
  if (fixed.is_signed) {
    int shift = 64 - 8 * width;
    value.i = static_cast<int64_t>(u << shift) >> shift;
  } else {
    value.u = u;
  }
  return true;
}

bool Reader::read_compound(Value& value, bool is_wide) {
  uint32_t size = 0;
  uint8_t small = 0;
  if (is_wide ? !take_int(size) : !take_int(small)) return false;
  if (!is_wide) size = small;
  const char* at = nullptr;
  if (!take(size, at)) return false;
  Reader inside({at, size});
  uint32_t count = 0;
  if (is_wide ? !inside.take_int(count) : !inside.take_int(small)) {
    return fail("a compound without a count");
  }
  if (!is_wide) count = small;
  if (count > inside.left()) return fail("a compound with more elements than bytes");
  value.count = count;
  value.bytes = inside.rest();
  return true;
}

bool Reader::read_array(Value& value, bool is_wide) {
  uint32_t size = 0;
  uint8_t small = 0;
  if (is_wide ? !take_int(size) : !take_int(small)) return false;
  if (!is_wide) size = small;
  const char* at = nullptr;
  if (!take(size, at)) return false;
  Reader inside({at, size});
  uint32_t count = 0;
  if (is_wide ? !inside.take_int(count) : !inside.take_int(small)) {
    return fail("an array without a count");
  }
  if (!is_wide) count = small;
  uint8_t element = 0;
  if (!inside.take_int(element)) return fail("an array without a constructor");
  if (element == code::kDescribed) {
    // The elements share one descriptor; their constructor follows it.
    if (!inside.skip() || !inside.take_int(element)) return fail("an array without a constructor");
  }
  if (!is_known(element)) return fail("an unknown constructor");
  bool is_empty_element = fixed_width(element) == 0;
  if (is_empty_element ? count > kEmptyElementsMax : count > inside.left()) {
    return fail("an array with more elements than bytes");
  }
  value.count = count;
  value.element_code = element;
  value.bytes = inside.rest();
  return true;
}

bool Reader::open_compound(uint8_t small_code, uint8_t large_code, Reader& elements,
                           uint32_t& count) {
  Value v;
  uint8_t c = peek();
  if (c != small_code && c != large_code && !(c == code::kList0 && small_code == code::kList8)) {
    return fail(small_code == code::kList8 ? "a list is expected" : "a map is expected");
  }
  if (!read(v)) return false;
  elements = Reader(v.bytes);
  count = v.count;
  return true;
}

bool Reader::read_list(Reader& elements, uint32_t& count) {
  return open_compound(code::kList8, code::kList32, elements, count);
}

bool Reader::read_map(Reader& elements, uint32_t& count) {
  return open_compound(code::kMap8, code::kMap32, elements, count);
}

bool Reader::read_bool(bool& v) {
  Value value;
  if (!read(value)) return false;
  if (value.type != Type::kBoolean) return fail("a boolean is expected");
  v = value.u != 0;
  return true;
}

bool Reader::read_u8(uint8_t& v) {
  Value value;
  if (!read(value)) return false;
  if (value.type != Type::kUbyte) return fail("a ubyte is expected");
  v = static_cast<uint8_t>(value.u);
  return true;
}

bool Reader::read_u16(uint16_t& v) {
  Value value;
  if (!read(value)) return false;
  if (value.type != Type::kUshort) return fail("a ushort is expected");
  v = static_cast<uint16_t>(value.u);
  return true;
}

bool Reader::read_u32(uint32_t& v) {
  const char* at = nullptr;
  if (!take(1, at)) return false;
  switch (static_cast<uint8_t>(*at)) {
    case code::kSmallUint: {
      uint8_t small = 0;
      if (!take_int(small)) return false;
      v = small;
      return true;
    }
    case code::kUint0:
      v = 0;
      return true;
    case code::kUint:
      return take_int(v);
    default:
      p_ = at;
      return fail("a uint is expected");
  }
}

bool Reader::read_u64(uint64_t& v) {
  Value value;
  if (!read(value)) return false;
  if (value.type != Type::kUlong) return fail("a ulong is expected");
  v = value.u;
  return true;
}

bool Reader::read_timestamp(int64_t& v) {
  Value value;
  if (!read(value)) return false;
  if (value.type != Type::kTimestamp) return fail("a timestamp is expected");
  v = value.i;
  return true;
}

bool Reader::read_string(std::string_view& v) {
  Value value;
  if (!read(value)) return false;
  if (value.type != Type::kString) return fail("a string is expected");
  if (!text::is_valid_utf8(value.bytes)) return fail("a string is no UTF-8");
  v = value.bytes;
  return true;
}

bool Reader::read_symbol(std::string_view& v) {
  Value value;
  if (!read(value)) return false;
  if (value.type != Type::kSymbol) return fail("a symbol is expected");
  v = value.bytes;
  return true;
}

bool Reader::read_binary(std::string_view& v) {
  Value value;
  if (!read(value)) return false;
  if (value.type != Type::kBinary) return fail("a binary is expected");
  v = value.bytes;
  return true;
}

namespace {
bool is_ascii_symbol(std::string_view s) {
  for (char c : s) {
    if (static_cast<uint8_t>(c) >= 0x80) return false;
  }
  return true;
}

bool validate_value(const Value& v, int depth);

bool validate_at(Reader& reader, int depth) {
  Value v;
  return reader.read(v) && validate_value(v, depth);
}

bool validate_elements(const Value& v, int depth) {
  Reader elements(v.bytes);
  for (uint32_t i = 0; i < v.count; ++i) {
    Value e;
    if (!elements.read_element(v.element_code, e) || !validate_value(e, depth + 1)) return false;
  }
  return elements.at_end();
}

bool validate_value(const Value& v, int depth) {
  if (depth > Reader::kDepthMax) return false;
  switch (v.type) {
    case Type::kString:
      return text::is_valid_utf8(v.bytes);
    case Type::kSymbol:
      return is_ascii_symbol(v.bytes);
    case Type::kChar:
      return v.u < 0x110000 && (v.u < 0xd800 || v.u > 0xdfff);
    case Type::kArray:
      return validate_elements(v, depth);
    case Type::kMap:
      if (v.count % 2 != 0) return false;
      [[fallthrough]];
    case Type::kList: {
      Reader elements(v.bytes);
      for (uint32_t i = 0; i < v.count; ++i) {
        if (!validate_at(elements, depth + 1)) return false;
      }
      return elements.at_end();
    }
    case Type::kDescribed: {
      Reader descriptor(v.bytes), inner(v.inner);
      return validate_at(descriptor, depth + 1) && validate_at(inner, depth + 1);
    }
    default:
      return true;
  }
}
}  // namespace

bool validate(std::string_view bytes) {
  Reader reader(bytes);
  return validate_at(reader, 0) && reader.at_end();
}

bool has_symbol(std::string_view raw, std::string_view symbol) {
  bool found = false;
  bool is_valid = for_each_symbol(raw, [&](std::string_view s) { found = found || s == symbol; });
  return is_valid && found;
}

}  // namespace millstream::wire::amqp
