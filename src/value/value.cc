#include "value/value.h"

#include "base/arena.h"
#include "value/decimal.h"

namespace millstream::value {

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "UNKNOWN";
    case Kind::kBoolean:
      return "BOOLEAN";
    case Kind::kInteger:
      return "INTEGER";
    case Kind::kFloat:
      return "FLOAT";
    case Kind::kDecimal:
      return "DECIMAL";
    case Kind::kCharacter:
      return "CHARACTER";
    case Kind::kBlob:
      return "BLOB";
    case Kind::kBit:
      return "BIT";
    case Kind::kDate:
      return "DATE";
    case Kind::kTime:
      return "TIME";
    case Kind::kGmtTime:
      return "GMTTIME";
    case Kind::kTimestamp:
      return "TIMESTAMP";
    case Kind::kGmtTimestamp:
      return "GMTTIMESTAMP";
    case Kind::kInterval:
      return "INTERVAL";
  }
  return "UNKNOWN";
}

Value copy_value(const Value& v, base::Arena& arena) {
  Value out = v;
  switch (v.kind) {
    case Kind::kCharacter:
    case Kind::kBlob:
      out.data = arena.copy(v.text()).data();
      break;
    case Kind::kBit:
      out.data = arena.copy({v.data, (static_cast<size_t>(v.size) + 7) / 8}).data();
      break;
    case Kind::kDecimal:
      if (!v.is_inline_decimal()) {
        uint16_t spare = v.spare;
        out = Value::make_decimal(*v.decimal, arena);
        out.spare = spare;
      }
      break;
    default:
      break;
  }
  return out;
}

}  // namespace millstream::value
