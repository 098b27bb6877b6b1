// The primitive types of AMQP 1.0 (part 1, 1.6) and a decoded value of any of them.
// Thread: any. Views live as long as the bytes that were read.
#pragma once
#include <cstdint>
#include <string_view>

namespace millstream::wire::amqp {

// Constructors: the high half tells how long what follows is (1.2.3).
namespace code {
inline constexpr uint8_t kDescribed = 0x00;
inline constexpr uint8_t kNull = 0x40, kTrue = 0x41, kFalse = 0x42, kUint0 = 0x43, kUlong0 = 0x44;
inline constexpr uint8_t kList0 = 0x45;
inline constexpr uint8_t kUbyte = 0x50, kByte = 0x51, kSmallUint = 0x52, kSmallUlong = 0x53;
inline constexpr uint8_t kSmallInt = 0x54, kSmallLong = 0x55, kBoolean = 0x56;
inline constexpr uint8_t kUshort = 0x60, kShort = 0x61;
inline constexpr uint8_t kUint = 0x70, kInt = 0x71, kFloat = 0x72, kChar = 0x73, kDecimal32 = 0x74;
inline constexpr uint8_t kUlong = 0x80, kLong = 0x81, kDouble = 0x82, kTimestamp = 0x83;
inline constexpr uint8_t kDecimal64 = 0x84, kDecimal128 = 0x94, kUuid = 0x98;
inline constexpr uint8_t kBinary8 = 0xa0, kString8 = 0xa1, kSymbol8 = 0xa3;
inline constexpr uint8_t kBinary32 = 0xb0, kString32 = 0xb1, kSymbol32 = 0xb3;
inline constexpr uint8_t kList8 = 0xc0, kMap8 = 0xc1, kList32 = 0xd0, kMap32 = 0xd1;
inline constexpr uint8_t kArray8 = 0xe0, kArray32 = 0xf0;
}  // namespace code

enum class Type : uint8_t {
  kNull,
  kBoolean,
  kUbyte,
  kUshort,
  kUint,
  kUlong,
  kByte,
  kShort,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kDecimal32,
  kDecimal64,
  kDecimal128,
  kChar,
  kTimestamp,
  kUuid,
  kBinary,
  kString,
  kSymbol,
  kList,
  kMap,
  kArray,
  kDescribed
};
std::string_view type_name(Type type);

struct Value {
  Type type = Type::kNull;
  uint8_t element_code = 0;  // of an array: the constructor of its elements
  uint32_t count = 0;        // elements of a compound or an array; a map's pair is two
  union {
    uint64_t u = 0;  // unsigned numbers, booleans, characters
    int64_t i;       // signed numbers, timestamps (milliseconds since 1970)
    double real;     // both floats
  };
  // Text and bytes; decimals and UUIDs as they stand; elements of a compound or array, without size
  // and count; of a described value, its descriptor's encoding.
  std::string_view bytes;
  std::string_view whole;  // its encoding, with the constructor
  std::string_view inner;  // of a described value: what it describes, encoded

  bool is_null() const { return type == Type::kNull; }
  bool is_unsigned() const { return type >= Type::kUbyte && type <= Type::kUlong; }
  bool is_signed() const { return type >= Type::kByte && type <= Type::kLong; }
  bool is_text() const { return type == Type::kString || type == Type::kSymbol; }
};

}  // namespace millstream::wire::amqp
