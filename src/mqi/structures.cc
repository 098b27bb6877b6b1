#include "mqi/structures.h"

#include <charconv>
#include <cstring>

#include "mqi/errors_gen.h"
#include "text/ccsid.h"
#include "value/datetime.h"

namespace millstream::mqi {
namespace {

using value::Kind;
using value::Value;

constexpr MqFieldType kText = MqFieldType::kText;
constexpr MqFieldType kBytes = MqFieldType::kBytes;

// The order is that of the product's trees.
constexpr MqField kMqmdFields[] = {
    {"Encoding", 24, 4, MqFieldType::kInteger, kEncodingNative},
    {"CodedCharSetId", 28, 4},
    {"Format", 32, 8, kText},
    {"Version", 4, 4, MqFieldType::kInteger, 2},
    {"Report", 8, 4},
    {"MsgType", 12, 4, MqFieldType::kInteger, 8},
    {"Expiry", 16, 4, MqFieldType::kInteger, -1},
    {"Feedback", 20, 4},
    {"Priority", 40, 4, MqFieldType::kInteger, -1},
    {"Persistence", 44, 4, MqFieldType::kInteger, 2},
    {"MsgId", 48, 24, kBytes},
    {"CorrelId", 72, 24, kBytes},
    {"BackoutCount", 96, 4},
    {"ReplyToQ", 100, 48, kText},
    {"ReplyToQMgr", 148, 48, kText},
    {"UserIdentifier", 196, 12, kText},
    {"AccountingToken", 208, 32, kBytes},
    {"ApplIdentityData", 240, 32, kText},
    {"PutApplType", 272, 4},
    {"PutApplName", 276, 28, kText},
    {"PutDate", 304, 8, MqFieldType::kDate},
    {"PutTime", 312, 8, MqFieldType::kTime},
    {"ApplOriginData", 320, 4, kText},
    {"GroupId", 324, 24, kBytes},
    {"MsgSeqNumber", 348, 4, MqFieldType::kInteger, 1},
    {"Offset", 352, 4},
    {"MsgFlags", 356, 4},
    {"OriginalLength", 360, 4, MqFieldType::kInteger, -1},
};

constexpr MqField kMqdlhFields[] = {
    {"Version", 4, 4, MqFieldType::kInteger, 1},
    {"Reason", 8, 4},
    {"DestQName", 12, 48, kText},
    {"DestQMgrName", 60, 48, kText},
    {"Encoding", 108, 4, MqFieldType::kInteger, kEncodingNative},
    {"CodedCharSetId", 112, 4, MqFieldType::kInteger, 1208},
    {"Format", 116, 8, kText},
    {"PutApplType", 124, 4},
    {"PutApplName", 128, 28, kText},
    {"PutDate", 156, 8, MqFieldType::kDate},
    {"PutTime", 164, 8, MqFieldType::kTime},
};

constexpr MqField kMqrfh2Fields[] = {
    {"Version", 4, 4, MqFieldType::kInteger, 2},
    {"Format", 20, 8, kText},
    {"Encoding", 12, 4, MqFieldType::kInteger, kEncodingNative},
    {"CodedCharSetId", 16, 4, MqFieldType::kInteger, 1208},
    {"Flags", 28, 4},
    {"NameValueCCSID", 32, 4, MqFieldType::kInteger, 1208},
};

constexpr uint32_t kCcsidEbcdic = 500;

// Identifiers use only characters that all EBCDIC code pages share.
bool is_ebcdic_id(std::string_view bytes, std::string_view id) {
  std::string converted;
  if (!text::from_utf8(id, kCcsidEbcdic, converted).ok()) return false;
  return bytes.substr(0, id.size()) == converted;
}

bool is_ebcdic_ccsid(uint32_t ccsid) {
  std::string letter;
  return text::from_utf8("A", static_cast<int32_t>(ccsid), letter).ok() && letter == "\xC1";
}

int digits_at(std::string_view s, size_t at) {
  if (at + 2 > s.size() || s[at] < '0' || s[at] > '9' || s[at + 1] < '0' || s[at + 1] > '9') {
    return -1;
  }
  return (s[at] - '0') * 10 + (s[at + 1] - '0');
}

// yyyymmdd -> DATE, hhmmssth (GMT, hundredths) -> GMTTIME; blanks and nonsense stay text.
Value decode_date_time(MqFieldType type, std::string_view s) {
  value::DateTimeFields f;
  int a = digits_at(s, 0), b = digits_at(s, 2), c = digits_at(s, 4), d = digits_at(s, 6);
  if (a < 0 || b < 0 || c < 0 || d < 0) return Value::make_character(s);
  if (type == MqFieldType::kDate) {
    f.year = a * 100 + b;
    f.month = c;
    f.day = d;
  } else {
    f.hour = a;
    f.minute = b;
    f.second = c;
    f.micros = d * 10'000;
  }
  auto v = value::compose(type == MqFieldType::kDate ? Kind::kDate : Kind::kGmtTime, f);
  return v.ok() ? v.value() : Value::make_character(s);
}

void append_two(std::string& out, int n) {
  out.push_back(static_cast<char>('0' + n / 10 % 10));
  out.push_back(static_cast<char>('0' + n % 10));
}

Status field_error(const MqLayout& layout, const MqField& field, std::string_view reason) {
  return base::make_error(errors::kMqField, {layout.name, field.name, reason});
}

Status encode_text(const MqLayout& layout, const MqField& field, const Value& v, uint32_t ccsid,
                   std::string& bytes) {
  std::string text;
  if (v.kind == Kind::kDate || v.kind == Kind::kTime || v.kind == Kind::kGmtTime ||
      v.kind == Kind::kTimestamp || v.kind == Kind::kGmtTimestamp) {
    value::DateTimeFields f = value::decompose(v);
    if (field.type == MqFieldType::kDate) {
      append_two(text, f.year / 100);
      append_two(text, f.year % 100);
      append_two(text, f.month);
      append_two(text, f.day);
    } else {
      append_two(text, f.hour);
      append_two(text, f.minute);
      append_two(text, f.second);
      append_two(text, f.micros / 10'000);
    }
  } else if (v.kind == Kind::kCharacter) {
    text = v.text();
  } else if (v.kind == Kind::kInteger) {
    text = std::to_string(v.integer);
  } else if (v.kind == Kind::kBlob) {
    bytes = v.text();
    return {};
  } else if (!v.is_null()) {
    return field_error(layout, field, "the value is no text");
  }
  text.resize(std::max<size_t>(text.size(), field.size), ' ');
  MS_TRY(text::from_utf8(text, static_cast<int32_t>(ccsid), bytes));
  // Trailing blanks beyond the field are only padding.
  if (bytes.size() > field.size) {
    size_t content = text.find_last_not_of(' ') + 1;
    std::string short_text = text.substr(0, content);
    short_text.resize(std::max<size_t>(content, field.size), ' ');
    MS_TRY(text::from_utf8(short_text, static_cast<int32_t>(ccsid), bytes));
  }
  return {};
}

Status encode_integer(const MqLayout& layout, const MqField& field, const Value& v, int32_t& out) {
  int64_t n = 0;
  if (v.kind == Kind::kInteger || v.kind == Kind::kBoolean) {
    n = v.integer;
  } else if (v.kind == Kind::kCharacter) {
    std::string_view s = v.text();
    while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
    auto r = std::from_chars(s.data(), s.data() + s.size(), n);
    if (r.ec != std::errc() || r.ptr != s.data() + s.size() || s.empty()) {
      return field_error(layout, field, "the text is no integer");
    }
  } else {
    return field_error(layout, field, "the value is no integer");
  }
  if (n < INT32_MIN || n > INT32_MAX)
    return field_error(layout, field, "the integer needs more than 32 bits");
  out = static_cast<int32_t>(n);
  return {};
}

}  // namespace

constexpr MqLayout kMqmdLayout = {"MQMD", "MD  ", kMqmdFields, 324, 364};
constexpr MqLayout kMqdlhLayout = {"MQDLH", "DLH ", kMqdlhFields, 172, 172};
constexpr MqLayout kMqrfh2Layout = {"MQRFH2", "RFH ", kMqrfh2Fields, 36, 36};

bool is_little_endian(uint32_t encoding) { return encoding == 0 || (encoding & 15) == 2; }

int32_t read_int32(const char* p, bool little_endian) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  if (!little_endian) v = __builtin_bswap32(v);
  return static_cast<int32_t>(v);
}

void write_int32(char* p, int32_t n, bool little_endian) {
  uint32_t v = static_cast<uint32_t>(n);
  if (!little_endian) v = __builtin_bswap32(v);
  std::memcpy(p, &v, 4);
}

void append_int32(std::string& out, int32_t v, bool little_endian) {
  char bytes[4];
  write_int32(bytes, v, little_endian);
  out.append(bytes, 4);
}

Result<MqCoding> find_coding(const MqLayout& layout, std::string_view bytes, uint32_t ccsid) {
  MqCoding c;
  c.ccsid = ccsid ? ccsid : 1208;
  if (bytes.size() < layout.size_version_1) {
    return base::make_error(errors::kMqShort, {layout.name, bytes.size()});
  }
  if (is_ebcdic_id(bytes, layout.struc_id)) {
    if (!is_ebcdic_ccsid(c.ccsid)) c.ccsid = kCcsidEbcdic;
  } else if (!bytes.starts_with(layout.struc_id)) {
    return base::make_error(errors::kMqStrucId, {layout.name});
  } else if (is_ebcdic_ccsid(c.ccsid)) {
    c.ccsid = 1208;
  }
  c.version = read_int32(bytes.data() + 4, true);
  if (c.version < 1 || c.version > 2) {
    c.little_endian = false;
    c.version = read_int32(bytes.data() + 4, false);
  }
  if (c.version < 1 || c.version > 2) {
    return base::make_error(errors::kMqVersion, {layout.name, static_cast<int64_t>(c.version)});
  }
  c.size = c.version == 1 ? layout.size_version_1 : layout.size_version_2;
  if (bytes.size() < c.size) return base::make_error(errors::kMqShort, {layout.name, bytes.size()});
  return c;
}

Result<Value> decode_field(const MqField& field, std::string_view bytes, const MqCoding& coding,
                           base::Arena& arena) {
  if (field.offset + field.size > coding.size) return default_value(field);
  if (field.type == MqFieldType::kInteger) {
    return Value::make_integer(read_int32(bytes.data() + field.offset, coding.little_endian));
  }
  std::string_view raw = bytes.substr(field.offset, field.size);
  if (field.type == MqFieldType::kBytes) return Value::make_blob(raw);
  // Some clients fill names with zeros instead of blanks.
  if (size_t zero = raw.find('\0'); zero != std::string_view::npos) {
    std::string padded(raw.substr(0, zero));
    padded.resize(field.size, is_ebcdic_ccsid(coding.ccsid) ? '\x40' : ' ');
    raw = arena.copy(padded);
  }
  std::string_view text = MS_TRY(text::to_utf8(raw, static_cast<int32_t>(coding.ccsid), arena));
  if (field.type == MqFieldType::kText) return Value::make_character(text);
  return decode_date_time(field.type, text);
}

Value default_value(const MqField& field) {
  static constexpr std::string_view kBlanks = "                                                ";
  static constexpr char kZeros[48] = {};
  switch (field.type) {
    case MqFieldType::kInteger:
      return Value::make_integer(field.default_integer);
    case MqFieldType::kBytes:
      return Value::make_blob({kZeros, field.size});
    default:
      return Value::make_character(kBlanks.substr(0, field.size));
  }
}

Status encode_structure(const MqLayout& layout, int32_t version, uint32_t encoding, uint32_t ccsid,
                        const std::function<Value(const MqField&)>& get, std::string& out) {
  bool little_endian = is_little_endian(encoding);
  if (ccsid == 0) ccsid = 1208;
  std::string s(version == 1 ? layout.size_version_1 : layout.size_version_2, '\0');
  std::string bytes;
  MS_TRY(text::from_utf8(layout.struc_id, static_cast<int32_t>(ccsid), bytes));
  s.replace(0, bytes.size(), bytes);
  for (const MqField& field : layout.fields) {
    if (field.offset + field.size > s.size()) continue;
    Value v = field.name == "Version" ? Value::make_integer(version) : get(field);
    if (v.is_null()) v = default_value(field);
    if (field.type == MqFieldType::kInteger) {
      int32_t n = 0;
      MS_TRY(encode_integer(layout, field, v, n));
      write_int32(s.data() + field.offset, n, little_endian);
      continue;
    }
    if (field.type == MqFieldType::kBytes) {
      if (v.kind != Kind::kBlob) return field_error(layout, field, "the value is no BLOB");
      bytes = v.text();
      bytes.resize(std::max<size_t>(bytes.size(), field.size), '\0');
    } else {
      MS_TRY(encode_text(layout, field, v, ccsid, bytes));
    }
    if (bytes.size() > field.size) return field_error(layout, field, "the value is too long");
    bytes.resize(field.size, ' ');
    s.replace(field.offset, field.size, bytes);
  }
  out += s;
  return {};
}

}  // namespace millstream::mqi
