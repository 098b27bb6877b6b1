#include "parsers/common/xml_encoding.h"

#include <algorithm>
#include <optional>

#include "format/xml_chars.h"
#include "parsers/common/errors_gen.h"
#include "text/ccsid.h"

namespace millstream::parsers::common {
namespace {

constexpr size_t kDeclarationMax = 256;  // bytes searched for the encoding

// The encoding name of an XML declaration in ASCII-compatible bytes; empty when there is none.
std::string_view declared_encoding(std::string_view head) {
  if (!head.starts_with("<?xml")) return {};
  head = head.substr(0, head.find("?>"));
  size_t at = head.find("encoding");
  if (at == std::string_view::npos) return {};
  at = head.find_first_of("\"'", at);
  if (at == std::string_view::npos) return {};
  size_t end = head.find(head[at], at + 1);
  if (end == std::string_view::npos) return {};
  return head.substr(at + 1, end - at - 1);
}

// From a byte order mark, or from the zeros that UTF-16 and UTF-32 put around '<'.
std::optional<int32_t> ccsid_of_shape(std::string_view b) {
  using std::string_view_literals::operator""sv;
  if (b.starts_with("\xEF\xBB\xBF"sv)) return text::kCcsidUtf8;
  if (b.starts_with("\xFF\xFE\0\0"sv)) return text::kCcsidUtf32LittleEndian;
  if (b.starts_with("\0\0\xFE\xFF"sv)) return text::kCcsidUtf32BigEndian;
  if (b.starts_with("\xFF\xFE"sv)) return text::kCcsidUtf16LittleEndian;
  if (b.starts_with("\xFE\xFF"sv)) return text::kCcsidUtf16BigEndian;
  return std::nullopt;
}

std::optional<int32_t> ccsid_of_zeros(std::string_view b) {
  using std::string_view_literals::operator""sv;
  if (b.starts_with("<\0\0\0"sv)) return text::kCcsidUtf32LittleEndian;
  if (b.starts_with("\0\0\0<"sv)) return text::kCcsidUtf32BigEndian;
  if (b.starts_with("<\0"sv)) return text::kCcsidUtf16LittleEndian;
  if (b.starts_with("\0<"sv)) return text::kCcsidUtf16BigEndian;
  return std::nullopt;
}

Result<int32_t> declared_ccsid(std::string_view head) {
  std::string_view name = declared_encoding(head);
  if (name.empty()) return text::kCcsidUtf8;
  if (std::optional<int32_t> ccsid = text::ccsid_of_encoding(name)) return *ccsid;
  return base::make_error(errors::kUnknownEncoding, {name});
}

Result<int32_t> ccsid_of_document(std::string_view bytes) {
  constexpr std::string_view kEbcdicStart = "\x4C\x6F\xA7\x94\x93";  // "<?xml"
  if (std::optional<int32_t> c = ccsid_of_zeros(bytes)) return *c;
  std::string_view head = bytes.substr(0, kDeclarationMax);
  if (!head.starts_with(kEbcdicStart)) {
    int32_t ccsid = MS_TRY(declared_ccsid(head));
    // A declaration that can be read byte by byte is not UTF-16, whatever it says.
    if (ccsid >= text::kCcsidUtf16 && ccsid <= text::kCcsidUtf16LittleEndian) return 1208;
    return ccsid;
  }
  // The letters of a declaration are the same in all EBCDIC sets.
  constexpr int32_t kEbcdicLatin1 = 500;
  std::string ascii;
  MS_TRY(text::to_utf8(head, kEbcdicLatin1, ascii));
  std::string_view name = declared_encoding(ascii);
  if (name.empty()) return kEbcdicLatin1;
  if (std::optional<int32_t> ccsid = text::ccsid_of_encoding(name)) return *ccsid;
  return base::make_error(errors::kUnknownEncoding, {name});
}

// Where in a document the output stands: only text and attribute values can hold references.
enum class Place : uint8_t { kText, kTag, kDoubleQuotes, kSingleQuotes, kOther };

Place next_place(Place place, std::string_view rest) {
  char c = rest[0];
  switch (place) {
    case Place::kText:
      if (c != '<') return place;
      return rest.starts_with("<!") || rest.starts_with("<?") ? Place::kOther : Place::kTag;
    case Place::kTag:
      if (c == '>') return Place::kText;
      if (c == '"') return Place::kDoubleQuotes;
      return c == '\'' ? Place::kSingleQuotes : place;
    case Place::kDoubleQuotes:
      return c == '"' ? Place::kTag : place;
    case Place::kSingleQuotes:
      return c == '\'' ? Place::kTag : place;
    case Place::kOther:
      return c == '>' ? Place::kText : place;  // good enough: '>' inside only shortens the refusal
  }
  return place;
}

}  // namespace

Result<std::string_view> xml_to_utf8(base::Arena& arena, std::string_view bytes, uint32_t ccsid) {
  int32_t from = static_cast<int32_t>(ccsid);
  if (std::optional<int32_t> shape = ccsid_of_shape(bytes)) {
    from = *shape;
  } else if (from == 0) {
    from = MS_TRY(ccsid_of_document(bytes));
  }
  if (from == text::kCcsidUtf8 || from == 1209) return bytes;
  return text::to_utf8(bytes, from, arena);
}

Status append_xml_in_ccsid(std::string_view utf8, uint32_t ccsid, std::string& out) {
  auto to = static_cast<int32_t>(ccsid);
  if (to == 0 || to == text::kCcsidUtf8 || to == 1209) {
    out += utf8;
    return {};
  }
  std::string converted;
  if (text::from_utf8(utf8, to, converted).ok()) {
    out += converted;
    return {};
  }
  std::string referenced, one;
  Place place = Place::kText;
  const char* end = utf8.data() + utf8.size();
  for (const char* p = utf8.data(); p < end;) {
    std::string_view rest(p, static_cast<size_t>(end - p));
    char32_t c;
    uint32_t size = std::max(1u, format::xml_decode(p, end, &c));
    if (size == 1) {
      place = next_place(place, rest);
      referenced += *p++;
      continue;
    }
    Status status = text::from_utf8(rest.substr(0, size), to, one);
    if (status.ok()) {
      referenced += rest.substr(0, size);
    } else if (place == Place::kTag || place == Place::kOther) {
      return status;
    } else {
      referenced += "&#" + std::to_string(static_cast<uint32_t>(c)) + ";";
    }
    p += size;
  }
  MS_TRY(text::from_utf8(referenced, to, converted));
  out += converted;
  return {};
}

}  // namespace millstream::parsers::common
