// Fixed layouts of MQI structures on the wire: MQMD (versions 1 and 2), MQDLH, the fixed part of
// MQRFH2, MQXQH's and MQTM's fields, and how their fields become values and bytes. Integers follow
// the encoding (MQENC word), text the CCSID; text keeps the blanks that fill its field. Thread:
// any. Lifetime: text and bytes of decoded values live in the arena or in `bytes`.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/result.h"
#include "value/value.h"

namespace millstream::mqi {

enum class MqFieldType : uint8_t { kInteger, kText, kBytes, kDate, kTime };

struct MqField {
  std::string_view name;  // as the message tree shows it
  uint16_t offset;
  uint16_t size;
  MqFieldType type = MqFieldType::kInteger;
  int64_t default_integer = 0;
  std::string_view default_text = {};
};

struct MqLayout {
  std::string_view name;            // "MQMD"
  std::string_view struc_id;        // "MD  ", at offset 0
  std::span<const MqField> fields;  // in the order of the tree; Version among them
  uint16_t size_version_1;
  uint16_t size_version_2;  // the same when there is only one
};

extern const MqLayout kMqmdLayout;
extern const MqLayout kMqdlhLayout;
extern const MqLayout kMqrfh2Layout;  // its fixed 36 bytes

constexpr uint32_t kEncodingNative = 546;
bool is_little_endian(uint32_t encoding);  // of integers; 0 = native
int32_t read_int32(const char* p, bool little_endian);
void write_int32(char* p, int32_t v, bool little_endian);
void append_int32(std::string& out, int32_t v, bool little_endian);

// How a structure in `bytes` is coded: byte order from its Version, character set from its
// identifier (an EBCDIC "MD  " overrides a CCSID that is not EBCDIC). False: not this structure.
struct MqCoding {
  bool little_endian = true;
  uint32_t ccsid = 1208;
  int32_t version = 1;
  size_t size = 0;
};
Result<MqCoding> find_coding(const MqLayout& layout, std::string_view bytes, uint32_t ccsid);

Result<value::Value> decode_field(const MqField& field, std::string_view bytes,
                                  const MqCoding& coding, base::Arena& arena);
// Appends the whole structure. `get` gives the value of a field, NULL for its default.
Status encode_structure(const MqLayout& layout, int32_t version, uint32_t encoding, uint32_t ccsid,
                        const std::function<value::Value(const MqField&)>& get, std::string& out);

// The value of a field that is missing in a tree.
value::Value default_value(const MqField& field);

}  // namespace millstream::mqi
