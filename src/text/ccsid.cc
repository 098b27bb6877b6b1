#include "text/ccsid.h"

#include <unicode/ucnv.h>

#include <cstring>
#include <memory>
#include <unordered_map>

#include "text/ccsid_names.h"
#include "text/errors_gen.h"
#include "text/utf8.h"

namespace millstream::text {
namespace {

constexpr int32_t kMaxCcsid = 65535;

enum class Form : uint8_t {
  kUtf8,
  kUtf16,
  kUtf16Big,
  kUtf16Little,
  kUtf32,
  kUtf32Big,
  kUtf32Little,
  kLatin1,
  kAscii,
  kConverter
};

Form form_of(int32_t ccsid) {
  switch (ccsid) {
    case 1208:
    case 1209:
      return Form::kUtf8;
    case 1200:
    case 1204:
    case 1205:
    case 13488:
    case 17584:
      return Form::kUtf16;
    case 1201:
      return Form::kUtf16Big;
    case 1202:
    case 1203:
      return Form::kUtf16Little;
    case 1232:
    case 1236:
      return Form::kUtf32;
    case 1233:
      return Form::kUtf32Big;
    case 1234:
      return Form::kUtf32Little;
    case 819:
      return Form::kLatin1;
    case 367:
      return Form::kAscii;
    default:
      return Form::kConverter;
  }
}

struct ConverterCloser {
  void operator()(UConverter* c) const { ucnv_close(c); }
};
using ConverterHandle = std::unique_ptr<UConverter, ConverterCloser>;

// Converters are costly to open and hold state, so each thread keeps its own. The number of
// distinct CCSIDs bounds the map; unknown ones are remembered as null.
UConverter* converter_for(int32_t ccsid) {
  if (ccsid <= 0 || ccsid > kMaxCcsid) return nullptr;
  constexpr size_t kMaxCached = 512;
  thread_local std::unordered_map<int32_t, ConverterHandle> cache;
  auto found = cache.find(ccsid);
  if (found != cache.end()) return found->second.get();
  if (cache.size() >= kMaxCached) cache.clear();
  UErrorCode status = U_ZERO_ERROR;
  ConverterHandle handle(ucnv_open(converter_name(ccsid).c_str(), &status));
  if (U_FAILURE(status)) handle.reset();
  if (handle) {
    ucnv_setToUCallBack(handle.get(), UCNV_TO_U_CALLBACK_STOP, nullptr, nullptr, nullptr, &status);
    ucnv_setFromUCallBack(handle.get(), UCNV_FROM_U_CALLBACK_STOP, nullptr, nullptr, nullptr,
                          &status);
  }
  return cache.emplace(ccsid, std::move(handle)).first->second.get();
}

std::string hex_byte(char c) {
  constexpr char kHex[] = "0123456789ABCDEF";
  auto b = static_cast<unsigned char>(c);
  return {'X', '\'', kHex[b >> 4], kHex[b & 15], '\''};
}

Status invalid_bytes(std::string_view bytes, size_t at, int32_t ccsid) {
  if (at >= bytes.size()) return base::make_error(errors::kTruncatedBytes, {at, ccsid});
  return base::make_error(errors::kInvalidBytes, {hex_byte(bytes[at]), at, ccsid});
}

Status unmappable(char32_t c, size_t at, int32_t ccsid) {
  char name[16];
  snprintf(name, sizeof name, "U+%04X", static_cast<unsigned>(c));
  return base::make_error(errors::kUnmappableCharacter, {name, at, ccsid});
}

Status decode_utf16(std::string_view bytes, bool little, int32_t ccsid, std::string& out) {
  auto unit = [&](size_t at) -> char32_t {
    auto a = static_cast<unsigned char>(bytes[at]), b = static_cast<unsigned char>(bytes[at + 1]);
    return little ? (b << 8 | a) : (a << 8 | b);
  };
  out.reserve(out.size() + bytes.size());
  size_t at = 0;
  for (; at + 2 <= bytes.size(); at += 2) {
    char32_t c = unit(at);
    if (c >= 0xD800 && c < 0xE000) {
      if (c >= 0xDC00) return invalid_bytes(bytes, at, ccsid);
      if (at + 4 > bytes.size()) return base::make_error(errors::kTruncatedBytes, {at, ccsid});
      char32_t low = unit(at + 2);
      if (low < 0xDC00 || low >= 0xE000) return invalid_bytes(bytes, at, ccsid);
      c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
      at += 2;
    }
    append_utf8(out, c);
  }
  if (at != bytes.size()) return base::make_error(errors::kTruncatedBytes, {at, ccsid});
  return {};
}

Status decode_utf32(std::string_view bytes, bool little, int32_t ccsid, std::string& out) {
  size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    char32_t c = 0;
    for (size_t i = 0; i < 4; ++i) {
      c = c << 8 | static_cast<unsigned char>(bytes[at + (little ? 3 - i : i)]);
    }
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return invalid_bytes(bytes, at, ccsid);
    append_utf8(out, c);
  }
  if (at != bytes.size()) return base::make_error(errors::kTruncatedBytes, {at, ccsid});
  return {};
}

// `width` 2 or 4. A byte order mark decides and is dropped; without one the order is big endian.
bool take_byte_order_mark(std::string_view& bytes, size_t width) {
  using namespace std::string_view_literals;
  std::string_view big = width == 2 ? "\xFE\xFF"sv : "\0\0\xFE\xFF"sv;
  std::string_view little = width == 2 ? "\xFF\xFE"sv : "\xFF\xFE\0\0"sv;
  std::string_view head = bytes.substr(0, width);
  if (head == big || head == little) bytes.remove_prefix(width);
  return head == little;
}

Status decode_single_byte(std::string_view bytes, bool is_latin1, int32_t ccsid, std::string& out) {
  out.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size(); ++at) {
    auto b = static_cast<unsigned char>(bytes[at]);
    if (b >= 0x80 && !is_latin1) return invalid_bytes(bytes, at, ccsid);
    append_utf8(out, b);
  }
  return {};
}

void append_utf16(const std::u16string& units, std::string& out) {
  for (size_t i = 0; i < units.size(); ++i) {
    char32_t c = units[i];
    if (c >= 0xD800 && c < 0xDC00 && i + 1 < units.size()) {
      c = 0x10000 + ((c - 0xD800) << 10) + (units[++i] - 0xDC00);
    }
    append_utf8(out, c);
  }
}

Status decode_with_converter(std::string_view bytes, int32_t ccsid, std::string& out) {
  UConverter* converter = converter_for(ccsid);
  if (converter == nullptr) return base::make_error(errors::kUnknownCcsid, {ccsid});
  ucnv_resetToUnicode(converter);
  std::u16string units(bytes.size() + 16, u'\0');
  const char* source = bytes.data();
  const char* end = bytes.data() + bytes.size();
  size_t used = 0;
  for (;;) {
    UErrorCode status = U_ZERO_ERROR;
    UChar* start = units.data() + used;
    UChar* target = start;
    ucnv_toUnicode(converter, &target, units.data() + units.size(), &source, end, nullptr, true,
                   &status);
    used += static_cast<size_t>(target - start);
    if (status == U_BUFFER_OVERFLOW_ERROR) {
      units.resize(units.size() * 2);
      continue;
    }
    if (status == U_TRUNCATED_CHAR_FOUND) {
      return base::make_error(errors::kTruncatedBytes, {bytes.size(), ccsid});
    }
    if (U_FAILURE(status)) {
      char bad[32];
      int8_t bad_size = sizeof bad;
      UErrorCode ignored = U_ZERO_ERROR;
      ucnv_getInvalidChars(converter, bad, &bad_size, &ignored);
      auto at = static_cast<size_t>(source - bytes.data());
      size_t back = U_SUCCESS(ignored) && bad_size > 0 ? static_cast<size_t>(bad_size) : 1;
      return invalid_bytes(bytes, at >= back ? at - back : 0, ccsid);
    }
    break;
  }
  units.resize(used);
  out.reserve(used + used / 2);
  append_utf16(units, out);
  return {};
}

void put_utf16(std::string& out, char32_t unit, bool little) {
  char high = static_cast<char>(unit >> 8), low = static_cast<char>(unit);
  out.push_back(little ? low : high);
  out.push_back(little ? high : low);
}

Status encode_wide(std::string_view utf8, bool is_32, bool little, int32_t ccsid,
                   std::string& out) {
  out.reserve(utf8.size() * 2);
  for (size_t at = 0; at < utf8.size();) {
    DecodedCodePoint c = decode_utf8(utf8, at);
    if (c.size == 0) return invalid_bytes(utf8, at, ccsid);
    at += c.size;
    if (is_32) {
      put_utf16(out, little ? c.value & 0xFFFF : c.value >> 16, little);
      put_utf16(out, little ? c.value >> 16 : c.value & 0xFFFF, little);
    } else if (c.value >= 0x10000) {
      put_utf16(out, 0xD800 + ((c.value - 0x10000) >> 10), little);
      put_utf16(out, 0xDC00 + ((c.value - 0x10000) & 0x3FF), little);
    } else {
      put_utf16(out, c.value, little);
    }
  }
  return {};
}

Status encode_single_byte(std::string_view utf8, char32_t max, int32_t ccsid, std::string& out) {
  out.reserve(utf8.size());
  for (size_t at = 0; at < utf8.size();) {
    DecodedCodePoint c = decode_utf8(utf8, at);
    if (c.size == 0) return invalid_bytes(utf8, at, ccsid);
    if (c.value > max) return unmappable(c.value, at, ccsid);
    out.push_back(static_cast<char>(c.value));
    at += c.size;
  }
  return {};
}

// Offset in the UTF-8 text of the UTF-16 unit number `unit`.
size_t utf8_offset_of_unit(std::string_view utf8, size_t unit) {
  size_t at = 0;
  while (unit > 0 && at < utf8.size()) {
    DecodedCodePoint c = decode_utf8(utf8, at);
    at += c.size ? c.size : 1;
    unit -= c.value >= 0x10000 && unit > 1 ? 2 : 1;
  }
  return at;
}

Status to_units(std::string_view utf8, int32_t ccsid, std::u16string& units) {
  units.reserve(utf8.size());
  for (size_t at = 0; at < utf8.size();) {
    DecodedCodePoint c = decode_utf8(utf8, at);
    if (c.size == 0) return invalid_bytes(utf8, at, ccsid);
    at += c.size;
    if (c.value >= 0x10000) {
      units.push_back(static_cast<char16_t>(0xD800 + ((c.value - 0x10000) >> 10)));
      units.push_back(static_cast<char16_t>(0xDC00 + ((c.value - 0x10000) & 0x3FF)));
    } else {
      units.push_back(static_cast<char16_t>(c.value));
    }
  }
  return {};
}

Status encode_with_converter(std::string_view utf8, int32_t ccsid, std::string& out) {
  UConverter* converter = converter_for(ccsid);
  if (converter == nullptr) return base::make_error(errors::kUnknownCcsid, {ccsid});
  ucnv_resetFromUnicode(converter);
  std::u16string units;
  MS_TRY(to_units(utf8, ccsid, units));
  out.assign(utf8.size() + 16, '\0');
  const UChar* source = units.data();
  const UChar* end = units.data() + units.size();
  size_t used = 0;
  for (;;) {
    UErrorCode status = U_ZERO_ERROR;
    char* start = out.data() + used;
    char* target = start;
    ucnv_fromUnicode(converter, &target, out.data() + out.size(), &source, end, nullptr, true,
                     &status);
    used += static_cast<size_t>(target - start);
    if (status == U_BUFFER_OVERFLOW_ERROR) {
      out.resize(out.size() * 2);
      continue;
    }
    if (U_FAILURE(status)) {
      UChar bad[8];
      int8_t bad_size = 8;
      UErrorCode ignored = U_ZERO_ERROR;
      ucnv_getInvalidUChars(converter, bad, &bad_size, &ignored);
      auto unit = static_cast<size_t>(source - units.data());
      size_t back = U_SUCCESS(ignored) && bad_size > 0 ? static_cast<size_t>(bad_size) : 1;
      size_t at = utf8_offset_of_unit(utf8, unit >= back ? unit - back : 0);
      out.clear();
      return unmappable(decode_utf8(utf8, at).value, at, ccsid);
    }
    break;
  }
  out.resize(used);
  return {};
}

// Whether ASCII text has the same bytes in the set. The PC code pages among them give three control
// characters other meanings (see is_plain_ascii).
bool is_ascii_based(int32_t ccsid) {
  switch (ccsid) {
    case 367:
    case 437:
    case 813:
    case 819:
    case 850:
    case 852:
    case 855:
    case 857:
    case 858:
    case 866:
    case 912:
    case 913:
    case 914:
    case 915:
    case 916:
    case 920:
    case 921:
    case 923:
    case 1089:
      return true;
    default:
      return (ccsid >= 1250 && ccsid <= 1258) || (ccsid >= 5346 && ccsid <= 5350);
  }
}

// ASCII without the control characters 1A, 1C and 7F.
bool is_plain_ascii(std::string_view s) {
  return is_ascii(s) && (s.empty() || (std::memchr(s.data(), 0x1A, s.size()) == nullptr &&
                                       std::memchr(s.data(), 0x1C, s.size()) == nullptr &&
                                       std::memchr(s.data(), 0x7F, s.size()) == nullptr));
}

}  // namespace

bool is_known_ccsid(int32_t ccsid) {
  return form_of(ccsid) != Form::kConverter || converter_for(ccsid) != nullptr;
}

Status to_utf8(std::string_view bytes, int32_t ccsid, std::string& out) {
  out.clear();
  switch (form_of(ccsid)) {
    case Form::kUtf8: {
      size_t bad = find_invalid_utf8(bytes);
      if (bad != std::string_view::npos) return invalid_bytes(bytes, bad, ccsid);
      out.assign(bytes);
      return {};
    }
    case Form::kUtf16: {
      bool little = take_byte_order_mark(bytes, 2);
      return decode_utf16(bytes, little, ccsid, out);
    }
    case Form::kUtf16Big:
      return decode_utf16(bytes, false, ccsid, out);
    case Form::kUtf16Little:
      return decode_utf16(bytes, true, ccsid, out);
    case Form::kUtf32: {
      bool little = take_byte_order_mark(bytes, 4);
      return decode_utf32(bytes, little, ccsid, out);
    }
    case Form::kUtf32Big:
      return decode_utf32(bytes, false, ccsid, out);
    case Form::kUtf32Little:
      return decode_utf32(bytes, true, ccsid, out);
    case Form::kLatin1:
      return decode_single_byte(bytes, true, ccsid, out);
    case Form::kAscii:
      return decode_single_byte(bytes, false, ccsid, out);
    case Form::kConverter:
      break;
  }
  return decode_with_converter(bytes, ccsid, out);
}

Status from_utf8(std::string_view utf8, int32_t ccsid, std::string& out) {
  out.clear();
  switch (form_of(ccsid)) {
    case Form::kUtf8: {
      size_t bad = find_invalid_utf8(utf8);
      if (bad != std::string_view::npos) return invalid_bytes(utf8, bad, ccsid);
      out.assign(utf8);
      return {};
    }
    case Form::kUtf16:
    case Form::kUtf16Big:
      return encode_wide(utf8, false, false, ccsid, out);
    case Form::kUtf16Little:
      return encode_wide(utf8, false, true, ccsid, out);
    case Form::kUtf32:
    case Form::kUtf32Big:
      return encode_wide(utf8, true, false, ccsid, out);
    case Form::kUtf32Little:
      return encode_wide(utf8, true, true, ccsid, out);
    case Form::kLatin1:
      return encode_single_byte(utf8, 0xFF, ccsid, out);
    case Form::kAscii:
      return encode_single_byte(utf8, 0x7F, ccsid, out);
    case Form::kConverter:
      break;
  }
  return encode_with_converter(utf8, ccsid, out);
}

Result<std::string_view> to_utf8(std::string_view bytes, int32_t ccsid, base::Arena& arena) {
  Form form = form_of(ccsid);
  if (form == Form::kUtf8) {
    size_t bad = find_invalid_utf8(bytes);
    if (bad != std::string_view::npos) return invalid_bytes(bytes, bad, ccsid);
    return bytes;
  }
  if (is_ascii_based(ccsid) && is_plain_ascii(bytes)) return bytes;
  std::string out;
  MS_TRY(to_utf8(bytes, ccsid, out));
  return arena.copy(out);
}

Result<std::string_view> from_utf8(std::string_view utf8, int32_t ccsid, base::Arena& arena) {
  Form form = form_of(ccsid);
  if (form == Form::kUtf8 || (is_ascii_based(ccsid) && is_plain_ascii(utf8))) return utf8;
  std::string out;
  MS_TRY(from_utf8(utf8, ccsid, out));
  return arena.copy(out);
}

}  // namespace millstream::text
