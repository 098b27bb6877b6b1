#include "mqi/conversion.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/assert.h"
#include "mqi/message_descriptor.h"
#include "mqi/reasons.h"
#include "mqi/structures.h"
#include "text/ccsid.h"

namespace millstream::mqi {
namespace {

constexpr int32_t kInherit = -2;  // MQCCSI_INHERIT

struct Side {
  int32_t encoding;
  int32_t ccsid;
  bool little_endian() const { return (encoding & 0xF) == 2; }
  bool has_valid_integers() const { return (encoding & 0xF) == 1 || (encoding & 0xF) == 2; }
  bool operator==(const Side&) const = default;
};

// A structure: its fields as letters and sizes ("i4": a number, "t48": text, "b24": bytes), and
// where it says how what follows is coded.
struct HeaderLayout {
  std::string_view format;
  std::string_view struc_id;
  std::string_view fields;
  size_t length_at;  // of StrucLength; 0: the fields are all there is
  size_t encoding_at;
  size_t ccsid_at;
  size_t format_at;  // 0: nothing follows
};

constexpr HeaderLayout kHeaderLayouts[] = {
    {"MQDEAD", "DLH ", "t4i4i4t48t48i4i4t8i4t28t8t8", 0, 108, 112, 116},
    {"MQHRF2", "RFH ", "t4i4i4i4i4t8i4i4", 8, 12, 16, 20},
    {"MQHRF", "RFH ", "t4i4i4i4i4t8i4", 8, 12, 16, 20},
    {"MQHMDE", "MDE ", "t4i4i4i4i4t8i4b24i4i4i4i4", 8, 12, 16, 20},
    {"MQXMIT", "XQH ", "t4i4t48t48t4i4i4i4i4i4i4i4t8i4i4b24b24i4t48t48t12b32t32i4t28t8t8t4", 0, 128,
     132, 136},
    {"MQTRIG", "TM  ", "t4i4t48t48t64i4t256t128t128", 0, 0, 0, 0},
    {"MQCICS", "CIH ",
     "t4i4i4i4i4t8i4i4i4i4i4i4i4i4i4i4i4i4b8t4t4t8t8t8t4t4t4t4t4t4t4t4t8t8i4i4i4i4", 8, 12, 16, 20},
    {"MQIMS", "IIH ", "t4i4i4i4i4t8i4t8t8t8t8b16t1t1t1t1", 8, 12, 16, 20},
    {"MQHWIH", "WIH ", "t4i4i4i4i4t8i4t32t8b16t32", 8, 12, 16, 20},
};

// The text functions know UTF-16 of both byte orders by CCSIDs of their own.
int32_t exact_ccsid(std::string_view bytes, const Side& side) {
  bool is_utf16 = side.ccsid == 1200 || side.ccsid == 13488 || side.ccsid == 17584;
  if (!is_utf16) return side.ccsid;
  bool has_mark = bytes.starts_with("\xFE\xFF") || bytes.starts_with("\xFF\xFE");
  if (has_mark) return text::kCcsidUtf16;
  return side.little_endian() ? text::kCcsidUtf16LittleEndian : text::kCcsidUtf16BigEndian;
}

size_t utf8_length(char lead) {
  auto c = static_cast<unsigned char>(lead);
  return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

// What the target cannot write becomes SUB.
Status encode_substituting(const std::string& utf8, int32_t ccsid, std::string& out) {
  if (text::from_utf8(utf8, ccsid, out).ok()) return {};
  std::map<std::string_view, bool> can_write;
  std::string changed;
  std::string one;
  std::string_view rest = utf8;
  while (!rest.empty()) {
    std::string_view c = rest.substr(0, utf8_length(rest.front()));
    rest.remove_prefix(c.size());
    auto [found, is_new] = can_write.try_emplace(c, true);
    if (is_new) found->second = text::from_utf8(c, ccsid, one).ok();
    changed += found->second ? c : std::string_view("\x1A");
  }
  return text::from_utf8(changed, ccsid, out);
}

class Converter {
 public:
  Converter(std::string_view body, const Side& to, bool is_cut, std::string& out)
      : rest_(body), to_(to), is_cut_(is_cut), out_(out) {}

  int32_t run(const BodyCoding& coding) {
    Side from{coding.encoding, coding.ccsid};
    std::string format = coding.format;
    for (int i = 0; i < kConvertHeadersMax; ++i) {
      const HeaderLayout* layout = find_layout(format);
      if (layout == nullptr) return convert_last(format, from, i == 0);
      std::string next_format;
      Side next = from;
      if (int32_t reason = convert_header(*layout, from, next, next_format); reason != 0) {
        return reason;
      }
      if (layout->format_at == 0) return rest_.empty() ? 0 : reason::kFormatError;
      from = next;
      format = next_format;
    }
    return reason::kFormatError;
  }

 private:
  static const HeaderLayout* find_layout(std::string_view format) {
    for (const HeaderLayout& layout : kHeaderLayouts) {
      if (layout.format == format) return &layout;
    }
    return nullptr;
  }

  int32_t check_sides(const Side& from, bool needs_integers) const {
    if (!text::is_known_ccsid(from.ccsid)) return reason::kSourceCcsidError;
    if (!text::is_known_ccsid(to_.ccsid)) return reason::kTargetCcsidError;
    if (!needs_integers) return 0;
    if (!from.has_valid_integers()) return reason::kSourceIntegerEncError;
    return to_.has_valid_integers() ? 0 : reason::kTargetIntegerEncError;
  }

  // What is no header: text, PCF, or bytes of whatever kind.
  int32_t convert_last(std::string_view format, const Side& from, bool is_first) {
    if (rest_.empty() || (from == to_ && !rest_.empty())) {
      out_ += rest_;
      patch_next(to_);
      return 0;
    }
    if (format == "MQSTR") {
      if (int32_t reason = check_sides(from, false); reason != 0) return reason;
      if (int32_t reason = convert_text(from); reason != 0) return reason;
      patch_next(to_);
      return 0;
    }
    if (format == "MQADMIN" || format == "MQEVENT" || format == "MQPCF") {
      if (int32_t reason = check_sides(from, true); reason != 0) return reason;
      if (int32_t reason = convert_pcf(from); reason != 0) return reason;
      patch_next(to_);
      return 0;
    }
    if (is_first || !format.empty()) return reason::kFormatError;
    out_ += rest_;
    patch_next(from);
    return 0;
  }

  int32_t convert_text(const Side& from) {
    std::string utf8;
    std::string bytes;
    std::string_view whole = rest_;
    constexpr size_t kCharacterBytesMax = 4;
    size_t tries = is_cut_ ? kCharacterBytesMax : 1;
    for (size_t i = 0; i < tries && i <= whole.size(); ++i) {
      std::string_view part = whole.substr(0, whole.size() - i);
      if (!text::to_utf8(part, exact_ccsid(part, from), utf8).ok()) continue;
      if (!encode_substituting(utf8, exact_ccsid({}, to_), bytes).ok()) break;
      out_ += bytes;
      return 0;
    }
    return reason::kNotConverted;
  }

  int32_t append_text(std::string_view raw, const Side& from) {
    std::string utf8;
    std::string bytes;
    if (!text::to_utf8(raw, exact_ccsid(raw, from), utf8).ok()) return reason::kNotConverted;
    utf8.resize(utf8.find_last_not_of(' ') + 1);
    auto encode = [&] { return encode_substituting(utf8, exact_ccsid({}, to_), bytes).ok(); };
    if (!encode()) return reason::kNotConverted;
    if (bytes.size() > raw.size()) return reason::kConvertedStringTooBig;
    std::string blank;
    if (!text::from_utf8(" ", exact_ccsid({}, to_), blank).ok() || blank.empty()) {
      return reason::kNotConverted;
    }
    while (bytes.size() + blank.size() <= raw.size()) bytes += blank;
    bytes.resize(raw.size(), '\0');
    out_ += bytes;
    return 0;
  }

  void append_number(const char* p, const Side& from) {
    append_int32(out_, read_int32(p, from.little_endian()), to_.little_endian());
  }

  // The fields that lie within `size` bytes.
  int32_t convert_fields(std::string_view fields, size_t size, const Side& from) {
    size_t at = 0;
    while (!fields.empty() && at < size) {
      char kind = fields.front();
      fields.remove_prefix(1);
      size_t width = 0;
      while (!fields.empty() && fields.front() >= '0' && fields.front() <= '9') {
        width = width * 10 + static_cast<size_t>(fields.front() - '0');
        fields.remove_prefix(1);
      }
      std::string_view raw = rest_.substr(at, width);
      if (raw.size() < width || at + width > size) return reason::kFormatError;
      if (kind == 'i') {
        append_number(raw.data(), from);
      } else if (kind == 'b') {
        out_ += raw;
      } else if (int32_t reason = append_text(raw, from); reason != 0) {
        return reason;
      }
      at += width;
    }
    rest_.remove_prefix(at);
    return 0;
  }

  static size_t fields_bytes(std::string_view fields) {
    size_t sum = 0;
    size_t width = 0;
    for (char c : fields) {
      if (c >= '0' && c <= '9') {
        width = width * 10 + static_cast<size_t>(c - '0');
      } else {
        sum += width;
        width = 0;
      }
    }
    return sum + width;
  }

  int32_t convert_header(const HeaderLayout& layout, const Side& from, Side& next,
                         std::string& next_format) {
    if (int32_t reason = check_sides(from, true); reason != 0) return reason;
    size_t size = fields_bytes(layout.fields);
    size_t fixed = size;
    if (layout.length_at != 0) {
      if (rest_.size() < layout.length_at + 4) return reason::kFormatError;
      int32_t length = read_int32(rest_.data() + layout.length_at, from.little_endian());
      constexpr int32_t kLeast = 32;
      if (length < kLeast || static_cast<size_t>(length) > rest_.size()) {
        return reason::kFormatError;
      }
      size = static_cast<size_t>(length);
      fixed = std::min(size, fixed);
    }
    std::string id;
    if (rest_.size() < size || !text::to_utf8(rest_.substr(0, 4), from.ccsid, id).ok() ||
        id != layout.struc_id) {
      return reason::kFormatError;
    }
    if (layout.format_at != 0) {
      next = {read_int32(rest_.data() + layout.encoding_at, from.little_endian()),
              read_int32(rest_.data() + layout.ccsid_at, from.little_endian())};
      if (next.ccsid == kInherit || next.ccsid == 0) next.ccsid = from.ccsid;
      if (!text::to_utf8(rest_.substr(layout.format_at, 8), from.ccsid, next_format).ok()) {
        return reason::kNotConverted;
      }
      next_format.resize(next_format.find_last_not_of(std::string_view(" \0", 2)) + 1);
    }
    size_t start = out_.size();
    patch_next(to_);
    if (int32_t reason = convert_fields(layout.fields, fixed, from); reason != 0) return reason;
    if (layout.format_at != 0) {
      next_encoding_at_ = start + layout.encoding_at;
      next_ccsid_at_ = start + layout.ccsid_at;
    }
    if (size == fixed) return 0;
    std::string_view tail = rest_.substr(0, size - fixed);
    rest_.remove_prefix(tail.size());
    if (layout.format == "MQHRF2") return convert_folders(tail, start, from);
    if (layout.format == "MQHRF") return append_text(tail, from);
    out_ += tail;
    return 0;
  }

  // Lengths only: folders have a CCSID of their own; UTF-16 follows the byte order.
  int32_t convert_folders(std::string_view tail, size_t header, const Side& from) {
    int32_t ccsid = read_int32(out_.data() + header + 32, to_.little_endian());
    Side own_from{from.encoding, ccsid};
    bool is_swapped = exact_ccsid({}, own_from) != exact_ccsid({}, {to_.encoding, ccsid});
    while (!tail.empty()) {
      if (tail.size() < 4) return reason::kFormatError;
      int32_t length = read_int32(tail.data(), from.little_endian());
      append_number(tail.data(), from);
      tail.remove_prefix(4);
      if (length < 0 || static_cast<size_t>(length) > tail.size()) return reason::kFormatError;
      std::string_view folder = tail.substr(0, static_cast<size_t>(length));
      tail.remove_prefix(folder.size());
      size_t at = out_.size();
      out_ += folder;
      if (!is_swapped) continue;
      for (size_t i = at; i + 1 < out_.size(); i += 2) std::swap(out_[i], out_[i + 1]);
    }
    return 0;
  }

  int32_t convert_pcf(const Side& from);
  int32_t convert_parameter(std::string_view bytes, int32_t type, const Side& from);
  void append_int64(const char* p, const Side& from) {
    if (from.little_endian() == to_.little_endian()) {
      out_.append(p, 8);
    } else {
      for (int i = 7; i >= 0; --i) out_.push_back(p[i]);
    }
  }

  // The header before says how this part is coded now.
  void patch_next(const Side& side) {
    if (next_encoding_at_ == 0) return;
    write_int32(out_.data() + next_encoding_at_, side.encoding, to_.little_endian());
    write_int32(out_.data() + next_ccsid_at_, side.ccsid, to_.little_endian());
    next_encoding_at_ = 0;
  }

  std::string_view rest_;
  Side to_;
  bool is_cut_;
  std::string& out_;
  size_t next_encoding_at_ = 0;
  size_t next_ccsid_at_ = 0;
};

// MQCFH, then its parameters; every structure says its length.
int32_t Converter::convert_pcf(const Side& from) {
  constexpr size_t kCfhBytes = 36;
  if (rest_.size() < kCfhBytes) return reason::kFormatError;
  for (size_t i = 0; i < kCfhBytes; i += 4) append_number(rest_.data() + i, from);
  rest_.remove_prefix(kCfhBytes);
  while (!rest_.empty()) {
    constexpr size_t kLeast = 16;
    if (rest_.size() < kLeast) return reason::kFormatError;
    int32_t type = read_int32(rest_.data(), from.little_endian());
    int32_t length = read_int32(rest_.data() + 4, from.little_endian());
    if (length < static_cast<int32_t>(kLeast) || static_cast<size_t>(length) > rest_.size()) {
      return reason::kFormatError;
    }
    std::string_view parameter = rest_.substr(0, static_cast<size_t>(length));
    if (int32_t reason = convert_parameter(parameter, type, from); reason != 0) return reason;
    rest_.remove_prefix(parameter.size());
  }
  return 0;
}

int32_t Converter::convert_parameter(std::string_view bytes, int32_t type, const Side& from) {
  struct Form {
    int32_t type;
    size_t numbers;    // that begin it
    char rest;         // numbers, longs, text, bytes
    size_t ccsid_at;   // of its text
    size_t length_at;  // of the text; of each, in a list
    size_t count_at;
  };
  constexpr Form kForms[] = {
      {3, 4, 'i', 0, 0, 0},     // MQCFIN
      {4, 5, 't', 12, 16, 0},   // MQCFST
      {5, 4, 'i', 0, 0, 0},     // MQCFIL
      {6, 6, 't', 12, 20, 16},  // MQCFSL
      {9, 4, 'b', 0, 0, 0},     // MQCFBS
      {13, 5, 'i', 0, 0, 0},    // MQCFIF
      {14, 6, 't', 16, 20, 0},  // MQCFSF
      {15, 5, 'b', 0, 0, 0},    // MQCFBF
      {20, 4, 'i', 0, 0, 0},    // MQCFGR
      {23, 4, 'l', 0, 0, 0},    // MQCFIN64
      {25, 4, 'l', 0, 0, 0},    // MQCFIL64
  };
  const Form* form = std::find_if(std::begin(kForms), std::end(kForms),
                                  [&](const Form& f) { return f.type == type; });
  if (form == std::end(kForms) || bytes.size() < form->numbers * 4) return reason::kFormatError;
  size_t start = out_.size();
  for (size_t i = 0; i < form->numbers; ++i) append_number(bytes.data() + 4 * i, from);
  auto number = [&](size_t at) { return read_int32(bytes.data() + at, from.little_endian()); };
  std::string_view rest = bytes.substr(form->numbers * 4);
  switch (form->rest) {
    case 'i':
      for (; rest.size() >= 4; rest.remove_prefix(4)) append_number(rest.data(), from);
      break;
    case 'l':
      for (; rest.size() >= 8; rest.remove_prefix(8)) append_int64(rest.data(), from);
      break;
    case 't': {
      Side own{from.encoding, number(form->ccsid_at)};
      if (own.ccsid <= 0) own.ccsid = from.ccsid;
      if (!text::is_known_ccsid(own.ccsid)) return reason::kSourceCcsidError;
      int32_t length = number(form->length_at);
      int32_t count = form->count_at != 0 ? number(form->count_at) : 1;
      for (; count > 0; --count) {
        if (length < 0 || static_cast<size_t>(length) > rest.size()) return reason::kFormatError;
        if (int32_t r = append_text(rest.substr(0, static_cast<size_t>(length)), own); r != 0) {
          return r;
        }
        rest.remove_prefix(static_cast<size_t>(length));
        if (length == 0) break;
      }
      write_int32(out_.data() + start + form->ccsid_at, to_.ccsid, to_.little_endian());
      break;
    }
    default:
      break;
  }
  out_ += rest;  // bytes, and what fills the structure
  return 0;
}

}  // namespace

int32_t convert_body(std::string_view body, const BodyCoding& from, int32_t encoding, int32_t ccsid,
                     bool is_cut, std::string& out) {
  out.clear();
  out.reserve(body.size());
  return Converter(body, {encoding, ccsid}, is_cut, out).run(from);
}

}  // namespace millstream::mqi
