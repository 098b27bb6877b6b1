// Coded character sets: bytes of a CCSID <-> UTF-8, and the names encodings have in XML
// declarations and Content-Type headers.
//
// UTF-16 without a stated byte order (1200, 13488, 17584) is big endian on output and honours a
// byte order mark on input. CCSID 1209 (UTF-8 with private use) is treated as 1208. Conversion is
// strict: bytes with no meaning, and characters the target cannot write, are errors with their byte
// offset. Thread: any.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/result.h"

namespace millstream::text {

constexpr int32_t kCcsidUtf8 = 1208;
constexpr int32_t kCcsidUtf16 = 1200;
constexpr int32_t kCcsidUtf16BigEndian = 1201;
constexpr int32_t kCcsidUtf16LittleEndian = 1202;
constexpr int32_t kCcsidUtf32 = 1232;
constexpr int32_t kCcsidUtf32BigEndian = 1233;
constexpr int32_t kCcsidUtf32LittleEndian = 1234;
constexpr int32_t kCcsidLatin1 = 819;
constexpr int32_t kCcsidAscii = 367;

bool is_known_ccsid(int32_t ccsid);

// Replaces `out`.
Status to_utf8(std::string_view bytes, int32_t ccsid, std::string& out);
Status from_utf8(std::string_view utf8, int32_t ccsid, std::string& out);

// The same into an arena; the result is `bytes` itself when no byte changes (UTF-8, pure ASCII in
// an ASCII-based set), so it lives as long as both.
Result<std::string_view> to_utf8(std::string_view bytes, int32_t ccsid, base::Arena& arena);
Result<std::string_view> from_utf8(std::string_view utf8, int32_t ccsid, base::Arena& arena);

// "UTF-8", "iso-8859-1", "windows-1252", "Shift_JIS", "IBM-1047", "cp037" ...; any case. Nothing
// for a name we do not know.
std::optional<int32_t> ccsid_of_encoding(std::string_view name);
// The preferred IANA name, e.g. for an XML declaration; empty when the CCSID is unknown.
std::string_view encoding_of_ccsid(int32_t ccsid);

}  // namespace millstream::text
