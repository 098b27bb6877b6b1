#include "format/xml_tokenizer.h"

#include <algorithm>

#include "format/xml/errors_gen.h"
#include "format/xml_chars.h"
#include "format/xml_scan.h"

namespace millstream::format {
namespace {

bool starts_with(const char* p, const char* end, std::string_view s) {
  return static_cast<size_t>(end - p) >= s.size() && std::memcmp(p, s.data(), s.size()) == 0;
}

std::string_view between(const char* from, const char* to) {
  return {from, static_cast<size_t>(to - from)};
}

}  // namespace

XmlTokenizer::XmlTokenizer(base::Arena& arena, std::string_view utf8, const XmlLimits& limits)
    : arena_(arena), limits_(limits), buffer_(utf8) {
  if (utf8.empty()) buffer_ = std::string_view("");  // a place to point at
  pos_ = buffer_.data();
  end_ = pos_ + buffer_.size();
  if (starts_with(pos_, end_, "\xEF\xBB\xBF")) pos_ += 3;
  event_start_ = pos_;
  if (utf8.size() > limits_.size_max) fail("the document is larger than the limit", pos_);
}

XmlEvent XmlTokenizer::fail(const char* reason, const char* position) {
  if (!reason_) {
    reason_ = reason;
    const char* at = position ? position : pos_;
    // Inside an entity the place that counts is its reference in the document.
    fault_at_ = frames_.empty() ? at : frames_[0].pos;
  }
  return XmlEvent::kError;
}

Status XmlTokenizer::error() const {
  return error_at(reason_ ? reason_ : "unknown", fault_at_ ? fault_at_ : pos_);
}

Status XmlTokenizer::error_at(const char* reason, const char* position) const {
  const char* start = buffer_.data();
  const char* at = std::clamp(position, start, start + buffer_.size());
  size_t line = 1, column = 1;
  for (const char* p = start; p < at; ++p) {
    if (*p == '\n') {
      ++line;
      column = 1;
    } else if ((static_cast<uint8_t>(*p) & 0xC0) != 0x80) {
      ++column;  // counts characters, not bytes
    }
  }
  Status status = base::make_error(xml::errors::kXmlParse,
                                   {reason, line, column, static_cast<size_t>(at - start)});
  status.error().position.line = static_cast<uint32_t>(line);
  status.error().position.column = static_cast<uint32_t>(column);
  return status;
}

XmlEvent XmlTokenizer::next() {
  if (__builtin_expect(reason_ != nullptr, 0)) return XmlEvent::kError;
  if (pending_end_) return pending_end();
  for (;;) {
    event_start_ = pos_;
    if (pos_ >= end_) {
      if (frames_.empty()) return at_end();
      Frame f = frames_.back();
      if (open_.size() != f.depth) return fail("an element begins but does not end in an entity");
      f.entity->is_open = false;
      frames_.pop();
      pos_ = f.pos;
      end_ = f.end;
      continue;
    }
    if (*pos_ == '<') return markup();
    if (open_.empty()) return blank_outside_root();
    uint32_t frames = frames_.size();
    XmlEvent e = character_data();
    if (e == XmlEvent::kText && text_.empty() && frames_.size() != frames) continue;
    if (e == XmlEvent::kText && text_.empty()) continue;  // an empty entity
    return e;
  }
}

XmlEvent XmlTokenizer::at_end() {
  if (!open_.empty()) return fail("the document ends within an element");
  if (!has_root_) return fail("the document has no root element");
  return XmlEvent::kEnd;
}

XmlEvent XmlTokenizer::markup() {
  const char* p = pos_ + 1;
  if (p >= end_) return fail("the document ends within a tag");
  bool was_first = is_first_;
  is_first_ = false;
  switch (*p) {
    case '/':
      return end_tag();
    case '?':
      if (was_first && frames_.empty() && starts_with(p, end_, "?xml") && p + 4 < end_ &&
          is_xml_space(p[4])) {
        return xml_declaration();
      }
      return processing_instruction();
    case '!':
      if (starts_with(p, end_, "!--")) return comment();
      if (starts_with(p, end_, "![CDATA[")) {
        if (open_.empty()) return fail("a CDATA section outside the root element");
        return cdata();
      }
      if (starts_with(p, end_, "!DOCTYPE")) return doctype_declaration();
      return fail("unknown markup after '<!'");
    default:
      return start_tag();
  }
}

XmlEvent XmlTokenizer::blank_outside_root() {
  const char* start = pos_;
  pos_ = xml_scan::skip_space(pos_, end_);
  if (pos_ < end_ && *pos_ != '<') return fail("text outside the root element");
  is_first_ = false;
  text_ = between(start, pos_);
  return XmlEvent::kText;
}

bool XmlTokenizer::scan_name(std::string_view* name) {
  const char* start = pos_;
  const char* p = pos_;
  if (p >= end_) return fault("a name is missing at the end of the document", p);
  uint8_t kind = kXmlNameByte[static_cast<uint8_t>(*p)];
  if (!(kind & 6)) return fault("a name is expected here", p);
  bool is_ascii = true;
  while (p < end_ && (kind = kXmlNameByte[static_cast<uint8_t>(*p)]) != 0) {
    is_ascii = is_ascii && kind != 4;
    ++p;
  }
  *name = between(start, p);
  if (!is_ascii && !is_xml_name(*name)) return fault("a name has an illegal character", start);
  pos_ = p;
  return true;
}

XmlEvent XmlTokenizer::start_tag() {
  const char* start = pos_;
  if (open_.empty() && has_root_) return fail("a second root element");
  ++pos_;
  std::string_view name;
  if (!scan_name(&name)) return XmlEvent::kError;
  if (open_.size() >= limits_.depth_max) return fail("elements are nested too deeply", start);
  attributes_.clear();
  bool is_empty = false;
  if (pos_ < end_ && *pos_ == '>') {
    ++pos_;
  } else if (!scan_attributes(&is_empty)) {
    return XmlEvent::kError;
  }
  has_root_ = true;
  open_.push(arena_,
             {name.data(), static_cast<uint32_t>(name.size()), frames_.size(), nullptr, 0, 0});
  name_ = name;
  pending_end_ = is_empty;
  return XmlEvent::kStartTag;
}

XmlEvent XmlTokenizer::pending_end() {
  pending_end_ = false;
  name_ = {open_.back().name, open_.back().size};
  open_.pop();
  return XmlEvent::kEndTag;
}

XmlEvent XmlTokenizer::end_tag() {
  const char* start = pos_;
  if (open_.empty()) return fail("an end tag without a start tag");
  XmlOpenTag& tag = open_.back();
  if (tag.frame != frames_.size()) return fail("an element begins and ends in different entities");
  const char* p = pos_ + 2;
  if (!starts_with(p, end_, {tag.name, tag.size})) {
    return fail("the end tag does not match the start tag", start);
  }
  p = xml_scan::skip_space(p + tag.size, end_);
  if (p >= end_) return fail("the document ends within a tag", p);
  if (*p != '>') return fail("the end tag does not match the start tag", start);
  pos_ = p + 1;
  name_ = {tag.name, tag.size};
  open_.pop();
  return XmlEvent::kEndTag;
}

bool XmlTokenizer::scan_attributes(bool* is_empty) {
  for (;;) {
    const char* before = pos_;
    pos_ = xml_scan::skip_space(pos_, end_);
    if (pos_ >= end_) return fault("the document ends within a tag", pos_);
    if (*pos_ == '>') {
      ++pos_;
      break;
    }
    if (*pos_ == '/') {
      if (pos_ + 1 >= end_ || pos_[1] != '>') return fault("'>' is expected after '/'", pos_ + 1);
      pos_ += 2;
      *is_empty = true;
      break;
    }
    if (pos_ == before) return fault("white space is expected before an attribute", pos_);
    XmlAttribute a;
    if (!scan_name(&a.name)) return false;
    if (pos_ < end_ && *pos_ != '=') pos_ = xml_scan::skip_space(pos_, end_);
    if (pos_ >= end_ || *pos_ != '=') return fault("'=' is expected after an attribute name", pos_);
    ++pos_;
    if (pos_ < end_ && *pos_ != '"') pos_ = xml_scan::skip_space(pos_, end_);
    if (pos_ >= end_ || (*pos_ != '"' && *pos_ != '\'')) {
      return fault("an attribute value must be in quotes", pos_);
    }
    a.quote = *pos_++;
    if (!attribute_value(a.quote, &a.value)) return false;
    attributes_.push(arena_, a);
  }
  return attributes_.size() < 2 || check_unique_attributes();
}

bool XmlTokenizer::check_unique_attributes() {
  constexpr uint32_t kPairwiseMax = 12;
  uint32_t n = attributes_.size();
  if (n <= kPairwiseMax) {
    for (uint32_t i = 1; i < n; ++i) {
      for (uint32_t j = 0; j < i; ++j) {
        if (attributes_[i].name == attributes_[j].name) {
          return fault("an attribute occurs twice", attributes_[i].name.data());
        }
      }
    }
    return true;
  }
  auto* names = static_cast<std::string_view*>(arena_.allocate(n * sizeof(std::string_view)));
  for (uint32_t i = 0; i < n; ++i) new (&names[i]) std::string_view(attributes_[i].name);
  std::sort(names, names + n);
  std::string_view* twice = std::adjacent_find(names, names + n);
  return twice == names + n || fault("an attribute occurs twice", twice->data());
}

// One byte below 0x20 or one character above 0x7F; the caller has found it odd.
bool XmlTokenizer::pass_odd(const char** p, const char* end) {
  auto b = static_cast<uint8_t>(**p);
  if (b < 0x20) {
    if (b != '\t' && b != '\n' && b != '\r') return fault("an illegal control character", *p);
    ++*p;
    return true;
  }
  do {
    char32_t c;
    uint32_t n = xml_decode(*p, end, &c);
    if (n == 0) return fault("the bytes are not valid UTF-8", *p);
    if (!is_xml_char(c)) return fault("an illegal character", *p);
    *p += n;
  } while (*p < end && static_cast<uint8_t>(**p) >= 0x80);
  return true;
}

const char* XmlTokenizer::plain_text_end(const char* p, const char* end) {
  for (;;) {
    p = xml_scan::text_stop(p, end);
    if (p >= end) return nullptr;
    if (*p == '<') return p;
    if (*p == '\n' || *p == '\t') {
      ++p;
      continue;
    }
    if (static_cast<uint8_t>(*p) < 0x80) return nullptr;
    do {
      char32_t c;
      uint32_t n = xml_decode(p, end, &c);
      if (n == 0 || !is_xml_char(c)) return nullptr;
      p += n;
    } while (p < end && static_cast<uint8_t>(*p) >= 0x80);
  }
}

bool XmlTokenizer::character_reference(const char** p, const char* end, char32_t* out) {
  const char* start = *p;  // at '&'
  const char* q = start + 2;
  bool is_hex = q < end && *q == 'x';
  if (is_hex) ++q;
  uint32_t value = 0;
  const char* digits = q;
  for (; q < end && *q != ';'; ++q) {
    uint32_t d;
    if (*q >= '0' && *q <= '9') {
      d = static_cast<uint32_t>(*q - '0');
    } else if (is_hex && (*q | 0x20) >= 'a' && (*q | 0x20) <= 'f') {
      d = static_cast<uint32_t>((*q | 0x20) - 'a' + 10);
    } else {
      return fault("an illegal character reference", start);
    }
    value = value * (is_hex ? 16 : 10) + d;
    if (value > 0x10FFFF) value = 0x110000;  // stays illegal however many digits follow
  }
  if (q >= end || q == digits) return fault("an illegal character reference", start);
  if (!is_xml_char(value)) return fault("a reference to an illegal character", start);
  *p = q + 1;
  *out = value;
  return true;
}

char XmlTokenizer::predefined(std::string_view name) const {
  if (name == "lt") return '<';
  if (name == "gt") return '>';
  if (name == "amp") return '&';
  if (name == "quot") return '"';
  if (name == "apos") return '\'';
  return 0;
}

XmlEvent XmlTokenizer::character_data() {
  const char* start = pos_;
  const char* piece = pos_;
  const char* p = pos_;
  ArenaText copy;
  bool is_frame = false;
  while (!is_frame) {
    p = xml_scan::text_stop(p, end_);
    if (p >= end_ || *p == '<') break;
    if (*p == ']') {
      if (starts_with(p, end_, "]]>")) return fail("']]>' is not allowed in text", p);
      ++p;
    } else if (*p == '\r' && frames_.empty()) {
      copy.append(arena_, between(piece, p));
      copy.append(arena_, '\n');
      p += (p + 1 < end_ && p[1] == '\n') ? 2 : 1;
      piece = p;
      is_first_ = false;
    } else if (*p == '&') {
      if (p > piece) copy.append(arena_, between(piece, p));
      const char* before = p;
      if (!content_reference(&p, &copy, &is_frame)) return XmlEvent::kError;
      piece = is_frame ? before : p;
      if (is_frame) break;
    } else if (!pass_odd(&p, end_)) {
      return XmlEvent::kError;
    }
  }
  if (is_frame) {  // content_reference has moved to the entity's text
    text_ = copy.view();
    return XmlEvent::kText;
  }
  if (piece == start) {
    text_ = between(start, p);
  } else {
    copy.append(arena_, between(piece, p));
    text_ = copy.view();
  }
  pos_ = p;
  return XmlEvent::kText;
}

bool XmlTokenizer::attribute_value(char quote, std::string_view* value) {
  const char* start = pos_;
  const char* piece = pos_;
  const char* p = pos_;
  ArenaText copy;
  for (;;) {
    p = xml_scan::value_stop(p, end_, quote);
    if (p >= end_) return fault("an attribute value is not closed", start - 1);
    if (*p == quote) break;
    if (*p == '<') return fault("'<' is not allowed in an attribute value", p);
    if (*p == '&') {
      copy.append(arena_, between(piece, p));
      if (!value_reference(&p, end_, 0, &copy)) return false;
      piece = p;
    } else if (is_xml_space(*p)) {
      copy.append(arena_, between(piece, p));
      copy.append(arena_, ' ');
      p += (*p == '\r' && p + 1 < end_ && p[1] == '\n') ? 2 : 1;
      piece = p;
    } else if (!pass_odd(&p, end_)) {
      return false;
    }
  }
  if (piece == start) {
    *value = between(start, p);
  } else {
    copy.append(arena_, between(piece, p));
    *value = copy.view();
  }
  pos_ = p + 1;
  return true;
}

// Searches `stop`, judging every odd byte on the way; on success pos_ is behind it and text_ is
// what lies before.
bool XmlTokenizer::until(const char* stop, size_t stop_size, const char* unclosed, bool* has_cr) {
  const char* start = pos_;
  const char* p = pos_;
  *has_cr = false;
  for (;;) {
    p = xml_scan::char_stop(p, end_, stop[0]);
    if (p >= end_) return fault(unclosed, event_start_);
    if (*p == stop[0]) {
      if (starts_with(p, end_, {stop, stop_size})) break;
      ++p;
      continue;
    }
    if (*p == '\r') *has_cr = true;
    if (!pass_odd(&p, end_)) return false;
  }
  text_ = between(start, p);
  if (*has_cr) text_ = normalise_ends(text_);
  pos_ = p + stop_size;
  return true;
}

std::string_view XmlTokenizer::normalise_ends(std::string_view raw) {
  char* out = arena_.bytes(raw.size());
  size_t n = 0;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\r') {
      out[n++] = raw[i];
    } else if (i + 1 == raw.size() || raw[i + 1] != '\n') {
      out[n++] = '\n';
    }
  }
  return {out, n};
}

XmlEvent XmlTokenizer::comment() {
  pos_ += 4;
  bool has_cr;
  if (!until("--", 2, "a comment is not closed", &has_cr)) return XmlEvent::kError;
  if (pos_ >= end_) return fail("a comment is not closed", event_start_);
  if (*pos_ != '>') return fail("'--' is not allowed in a comment", pos_ - 2);
  ++pos_;
  return XmlEvent::kComment;
}

XmlEvent XmlTokenizer::cdata() {
  pos_ += 9;
  bool has_cr;
  if (!until("]]>", 3, "a CDATA section is not closed", &has_cr)) return XmlEvent::kError;
  return XmlEvent::kCData;
}

XmlEvent XmlTokenizer::processing_instruction() {
  pos_ += 2;
  std::string_view target;
  if (!scan_name(&target)) return XmlEvent::kError;
  if (target.size() == 3 && (target[0] | 0x20) == 'x' && (target[1] | 0x20) == 'm' &&
      (target[2] | 0x20) == 'l') {
    return fail("an XML declaration is allowed only at the very beginning", event_start_);
  }
  const char* after = pos_;
  pos_ = xml_scan::skip_space(pos_, end_);
  if (pos_ == after && !starts_with(pos_, end_, "?>")) {
    return fail("white space is expected after the target of a processing instruction");
  }
  bool has_cr;
  if (!until("?>", 2, "a processing instruction is not closed", &has_cr)) return XmlEvent::kError;
  name_ = target;
  return XmlEvent::kPi;
}

XmlEvent XmlTokenizer::xml_declaration() {
  pos_ += 5;
  attributes_.clear();
  for (;;) {
    const char* before = pos_;
    pos_ = xml_scan::skip_space(pos_, end_);
    if (starts_with(pos_, end_, "?>")) break;
    if (pos_ == before) return fail("a malformed XML declaration");
    XmlAttribute a;
    if (!scan_name(&a.name)) return XmlEvent::kError;
    pos_ = xml_scan::skip_space(pos_, end_);
    if (pos_ >= end_ || *pos_ != '=') return fail("a malformed XML declaration");
    pos_ = xml_scan::skip_space(pos_ + 1, end_);
    if (!quoted(&pos_, end_, &a.value)) return XmlEvent::kError;
    attributes_.push(arena_, a);
  }
  pos_ += 2;
  uint32_t i = 0, n = attributes_.size();
  auto is_digits = [](std::string_view s) {
    return !s.empty() &&
           std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (i == n || attributes_[i].name != "version") return fail("the XML declaration has no version");
  version_ = attributes_[i++].value;
  if (!version_.starts_with("1.") || !is_digits(version_.substr(2))) {
    return fail("the XML version is not supported");
  }
  if (i < n && attributes_[i].name == "encoding") {
    encoding_ = attributes_[i++].value;
    bool is_name =
        !encoding_.empty() && ((encoding_[0] | 0x20) >= 'a' && (encoding_[0] | 0x20) <= 'z');
    for (char c : encoding_)
      is_name = is_name && c != ':' && (kXmlNameByte[static_cast<uint8_t>(c)] & 1);
    if (!is_name) return fail("an illegal encoding name");
  }
  if (i < n && attributes_[i].name == "standalone") {
    standalone_ = attributes_[i++].value;
    if (standalone_ != "yes" && standalone_ != "no") return fail("standalone must be yes or no");
  }
  if (i != n) return fail("a malformed XML declaration");
  return XmlEvent::kXmlDecl;
}

}  // namespace millstream::format
