// The part of the tokenizer that knows DTDs: the document type declaration, and entities.
#include <algorithm>

#include "format/xml_chars.h"
#include "format/xml_scan.h"
#include "format/xml_tokenizer.h"

namespace millstream::format {
namespace {

bool dtd_starts_with(const char* p, const char* end, std::string_view s) {
  return static_cast<size_t>(end - p) >= s.size() && std::memcmp(p, s.data(), s.size()) == 0;
}
std::string_view dtd_between(const char* from, const char* to) {
  return {from, static_cast<size_t>(to - from)};
}
bool is_public_id(std::string_view s) {
  constexpr std::string_view kPunctuation = " \r\n-'()+,./:=?;!*#@$_%";
  return std::all_of(s.begin(), s.end(), [&](char c) {
    bool is_alnum = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    return is_alnum || kPunctuation.find(c) != std::string_view::npos;
  });
}
size_t entity_bucket(std::string_view name) {
  size_t h = 5381;
  for (char c : name) h = h * 33 + static_cast<uint8_t>(c);
  return h;
}

}  // namespace

bool XmlTokenizer::charge(size_t bytes) {
  expanded_ += bytes + 16;  // an empty entity costs work too
  if (expanded_ <= limits_.expansion_max) return true;
  return fault("entities expand to more than the limit", pos_);
}

XmlTokenizer::Entity* XmlTokenizer::find_entity(std::string_view name, bool is_parameter) {
  if (!entities_) return nullptr;
  for (Entity* e = entities_[entity_bucket(name) % kEntityBuckets]; e; e = e->next) {
    if (e->is_parameter == is_parameter && e->name == name) return e;
  }
  return nullptr;
}

// A reference in content at *p. Text is appended to `out`; an entity with markup becomes the new
// input (is_frame), and *p is then meaningless.
bool XmlTokenizer::content_reference(const char** p, ArenaText* out, bool* is_frame) {
  const char* start = *p;
  if (start + 1 < end_ && start[1] == '#') {
    char32_t c;
    if (!character_reference(p, end_, &c)) return false;
    char space[4];
    std::string_view s;
    xml_encode(c, s, space);
    out->append(arena_, s);
    return true;
  }
  pos_ = start + 1;
  std::string_view name;
  if (!scan_name(&name)) return false;
  if (pos_ >= end_ || *pos_ != ';') return fault("';' is expected after an entity name", pos_);
  *p = ++pos_;
  if (char c = predefined(name)) {
    out->append(arena_, c);
    return true;
  }
  Entity* e = find_entity(name, false);
  if (!e) return fault("an unknown entity", start);
  if (e->is_external) return fault("an external entity is not fetched", start);
  if (!charge(e->value.size())) return false;
  if (e->is_plain) {
    out->append(arena_, e->value);
    return true;
  }
  *is_frame = true;
  return enter_entity(e);
}

bool XmlTokenizer::enter_entity(Entity* e) {
  if (e->is_open) return fault("an entity refers to itself", pos_);
  if (frames_.size() >= limits_.entity_depth_max) {
    return fault("entities are nested too deeply", pos_);
  }
  e->is_open = true;
  frames_.push(arena_, {pos_, end_, e, open_.size()});
  pos_ = e->value.data();
  end_ = pos_ + e->value.size();
  return true;
}

bool XmlTokenizer::value_reference(const char** p, const char* end, uint32_t depth,
                                   ArenaText* out) {
  const char* start = *p;
  if (start + 1 < end && start[1] == '#') {
    char32_t c;
    if (!character_reference(p, end, &c)) return false;
    char space[4];
    std::string_view s;
    xml_encode(c, s, space);
    out->append(arena_, s);
    return true;
  }
  const char* stop =
      static_cast<const char*>(std::memchr(start, ';', static_cast<size_t>(end - start)));
  if (!stop || !is_xml_name(dtd_between(start + 1, stop))) {
    return fault("an illegal entity reference", start);
  }
  std::string_view name = dtd_between(start + 1, stop);
  *p = stop + 1;
  if (char c = predefined(name)) {
    out->append(arena_, c);
    return true;
  }
  Entity* e = find_entity(name, false);
  if (!e) return fault("an unknown entity", start);
  if (e->is_external) return fault("an external entity is not allowed in an attribute", start);
  if (e->is_open) return fault("an entity refers to itself", start);
  if (depth >= limits_.entity_depth_max) return fault("entities are nested too deeply", start);
  if (!charge(e->value.size())) return false;
  e->is_open = true;
  bool ok = expand_in_value(e->value, depth + 1, out);
  e->is_open = false;
  return ok;
}

bool XmlTokenizer::expand_in_value(std::string_view text, uint32_t depth, ArenaText* out) {
  const char* p = text.data();
  const char* end = p + text.size();
  while (p < end) {
    const char* piece = p;
    while (p < end && *p != '&' && *p != '<' && !is_xml_space(*p)) ++p;
    out->append(arena_, dtd_between(piece, p));
    if (p == end) break;
    if (*p == '<') return fault("'<' is not allowed in an attribute value", pos_);
    if (*p == '&') {
      if (!value_reference(&p, end, depth, out)) return false;
    } else {
      out->append(arena_, ' ');
      ++p;
    }
  }
  return true;
}

bool XmlTokenizer::quoted(const char** p, const char* end, std::string_view* text) {
  const char* start = *p;
  if (start >= end || (*start != '"' && *start != '\'')) {
    return fault("a text in quotes is expected", start);
  }
  const char* q = start + 1;
  for (;;) {
    q = xml_scan::char_stop(q, end, *start);
    if (q >= end) return fault("a text in quotes is not closed", start);
    if (*q == *start) break;
    if (!pass_odd(&q, end)) return false;
  }
  *text = dtd_between(start + 1, q);
  *p = q + 1;
  return true;
}

// SYSTEM "uri" or PUBLIC "id" "uri" at pos_; a notation may leave out the uri.
bool XmlTokenizer::external_id(bool is_notation) {
  auto space = [&] {
    const char* before = pos_;
    pos_ = xml_scan::skip_space(pos_, end_);
    return pos_ != before;
  };
  if (dtd_starts_with(pos_, end_, "PUBLIC")) {
    pos_ += 6;
    if (!space()) return fault("white space is expected after PUBLIC", pos_);
    if (!quoted(&pos_, end_, &doctype_.public_id)) return false;
    if (!is_public_id(doctype_.public_id)) return fault("an illegal public identifier", pos_);
    doctype_.has_public_id = true;
    bool has_space = space();
    if (is_notation && (pos_ >= end_ || (*pos_ != '"' && *pos_ != '\''))) return true;
    if (!has_space) return fault("white space is expected before the system identifier", pos_);
  } else {
    pos_ += 6;  // the caller saw SYSTEM
    if (!space()) return fault("white space is expected after SYSTEM", pos_);
  }
  doctype_.has_system_id = true;
  return quoted(&pos_, end_, &doctype_.system_id);
}

XmlEvent XmlTokenizer::doctype_declaration() {
  if (has_root_) return fail("a document type declaration after the root element");
  if (has_doctype_) return fail("a second document type declaration");
  if (!frames_.empty()) return fail("a document type declaration within an entity");
  has_doctype_ = true;
  pos_ += 9;
  const char* before = pos_;
  pos_ = xml_scan::skip_space(pos_, end_);
  if (pos_ == before) return fail("white space is expected after DOCTYPE");
  std::string_view name;
  if (!scan_name(&name)) return XmlEvent::kError;
  const char* text_start = pos_;
  pos_ = xml_scan::skip_space(pos_, end_);
  if (dtd_starts_with(pos_, end_, "SYSTEM") || dtd_starts_with(pos_, end_, "PUBLIC")) {
    if (pos_ == text_start) return fail("white space is expected after the document type name");
    if (!external_id(false)) return XmlEvent::kError;
    pos_ = xml_scan::skip_space(pos_, end_);
  }
  XmlDoctype kept = doctype_;
  if (pos_ < end_ && *pos_ == '[') {
    const char* p = pos_ + 1;
    const char* start = p;
    if (!subset(&p, end_, ']', 0)) return XmlEvent::kError;
    kept.internal_subset = dtd_between(start, p);
    kept.has_internal_subset = true;
    pos_ = xml_scan::skip_space(p + 1, end_);
  }
  if (pos_ >= end_ || *pos_ != '>') return fail("'>' is expected at the end of DOCTYPE");
  kept.name = name;
  kept.text = dtd_between(text_start, pos_);
  doctype_ = kept;
  ++pos_;
  return XmlEvent::kDoctype;
}

// Declarations up to `closer` (left unread), or to `end` when closer is 0.
bool XmlTokenizer::subset(const char** p, const char* end, char closer, uint32_t depth) {
  for (;;) {
    *p = xml_scan::skip_space(*p, end);
    if (*p >= end) return closer == 0 || fault("the internal subset is not closed", *p);
    if (closer && **p == closer) return true;
    if (**p == '%') {
      if (!parameter_reference(p, end, depth)) return false;
    } else if (**p == '<') {
      if (!declaration(p, end)) return false;
    } else {
      return fault("an illegal character in the internal subset", *p);
    }
  }
}

bool XmlTokenizer::parameter_reference(const char** p, const char* end, uint32_t depth) {
  const char* start = *p;
  const char* stop =
      static_cast<const char*>(std::memchr(start, ';', static_cast<size_t>(end - start)));
  if (!stop || !is_xml_name(dtd_between(start + 1, stop))) {
    return fault("an illegal parameter entity reference", start);
  }
  *p = stop + 1;
  Entity* e = find_entity(dtd_between(start + 1, stop), true);
  if (!e || e->is_external) {
    entities_incomplete_ = true;  // what follows may be overridden by what we do not read
    return true;
  }
  if (e->is_open) return fault("an entity refers to itself", start);
  if (depth >= limits_.entity_depth_max) return fault("entities are nested too deeply", start);
  pos_ = start;
  if (!charge(e->value.size())) return false;
  e->is_open = true;
  const char* q = e->value.data();
  bool ok = subset(&q, q + e->value.size(), 0, depth + 1);
  e->is_open = false;
  return ok;
}

bool XmlTokenizer::declaration(const char** p, const char* end) {
  const char* saved_end = end_;
  bool ok = true;
  if (dtd_starts_with(*p, end, "<!--") || dtd_starts_with(*p, end, "<?")) {
    pos_ = *p;
    end_ = end;
    event_start_ = *p;
    ok = ((*p)[1] == '?' ? processing_instruction() : comment()) != XmlEvent::kError;
    *p = pos_;
    end_ = saved_end;
    return ok;
  }
  if (dtd_starts_with(*p, end, "<!ENTITY")) {
    end_ = end;
    ok = entity_declaration(p, end);
    end_ = saved_end;
    return ok;
  }
  if (dtd_starts_with(*p, end, "<!ELEMENT") || dtd_starts_with(*p, end, "<!ATTLIST") ||
      dtd_starts_with(*p, end, "<!NOTATION")) {
    end_ = end;
    ok = skip_declaration(p, end);
    end_ = saved_end;
    return ok;
  }
  return fault("unknown markup in the internal subset", *p);
}

// Delimits an ELEMENT, ATTLIST or NOTATION declaration: keyword, space, name, anything up to '>'
// outside quotes.
bool XmlTokenizer::skip_declaration(const char** p, const char* end) {
  const char* start = *p;
  bool is_notation = start[2] == 'N';
  bool is_element = start[2] == 'E';
  pos_ = start + (is_notation ? 10 : 9);
  const char* before = pos_;
  pos_ = xml_scan::skip_space(pos_, end);
  if (pos_ == before) return fault("white space is expected in a declaration", pos_);
  std::string_view name;
  if (!scan_name(&name)) return false;
  before = pos_;
  pos_ = xml_scan::skip_space(pos_, end);
  if (pos_ == before && !(pos_ < end && *pos_ == '>' && start[2] == 'A')) {
    return fault("white space is expected in a declaration", pos_);
  }
  if (is_notation) {
    if (!dtd_starts_with(pos_, end, "SYSTEM") && !dtd_starts_with(pos_, end, "PUBLIC")) {
      return fault("SYSTEM or PUBLIC is expected", pos_);
    }
    XmlDoctype kept = doctype_;
    bool ok = external_id(true);
    doctype_ = kept;
    if (!ok) return false;
    pos_ = xml_scan::skip_space(pos_, end);
    if (pos_ >= end || *pos_ != '>') return fault("'>' is expected", pos_);
  }
  if (is_element && !dtd_starts_with(pos_, end, "EMPTY") && !dtd_starts_with(pos_, end, "ANY") &&
      !(pos_ < end && *pos_ == '(')) {
    return fault("a content model is expected", pos_);
  }
  const char* q = pos_;
  while (q < end && *q != '>') {
    if (*q == '<' || *q == '&' || *q == '%')
      return fault("an illegal character in a declaration", q);
    if (*q == '"' || *q == '\'') {
      std::string_view ignored;
      if (is_element) return fault("an illegal character in a declaration", q);
      if (!quoted(&q, end, &ignored)) return false;
    } else if (static_cast<uint8_t>(*q) >= 0x20 && static_cast<uint8_t>(*q) < 0x80) {
      ++q;
    } else if (!pass_odd(&q, end)) {
      return false;
    }
  }
  if (q >= end) return fault("a declaration is not closed", start);
  *p = q + 1;
  return true;
}

bool XmlTokenizer::entity_declaration(const char** p, const char* end) {
  const char* start = *p;
  pos_ = start + 8;
  auto space = [&] {
    const char* before = pos_;
    pos_ = xml_scan::skip_space(pos_, end);
    return pos_ != before || fault("white space is expected in a declaration", pos_);
  };
  if (!space()) return false;
  Entity made{};
  if (pos_ < end && *pos_ == '%') {
    made.is_parameter = true;
    ++pos_;
    if (!space()) return false;
  }
  if (!scan_name(&made.name)) return false;
  if (made.name.find(':') != std::string_view::npos) {
    return fault("an entity name has a colon", pos_);
  }
  if (!space()) return false;
  if (dtd_starts_with(pos_, end, "SYSTEM") || dtd_starts_with(pos_, end, "PUBLIC")) {
    XmlDoctype kept = doctype_;
    bool ok = external_id(false);
    doctype_ = kept;
    if (!ok) return false;
    made.is_external = true;
    const char* before = pos_;
    pos_ = xml_scan::skip_space(pos_, end);
    if (!made.is_parameter && dtd_starts_with(pos_, end, "NDATA")) {
      if (pos_ == before) return fault("white space is expected before NDATA", pos_);
      pos_ += 5;
      std::string_view notation;
      if (!space() || !scan_name(&notation)) return false;
    }
  } else if (!entity_value(&pos_, end, &made.value, &made.is_plain)) {
    return false;
  }
  pos_ = xml_scan::skip_space(pos_, end);
  if (pos_ >= end || *pos_ != '>') return fault("'>' is expected at the end of ENTITY", pos_);
  *p = pos_ + 1;
  if (entities_incomplete_ || find_entity(made.name, made.is_parameter)) return true;
  if (++entity_count_ > limits_.entities_max) return fault("too many entities", start);
  if (!entities_) {
    entities_ = static_cast<Entity**>(arena_.allocate(kEntityBuckets * sizeof(Entity*)));
    std::fill(entities_, entities_ + kEntityBuckets, nullptr);
  }
  Entity** chain = &entities_[entity_bucket(made.name) % kEntityBuckets];
  made.next = *chain;
  *chain = arena_.make<Entity>(made);
  return true;
}

// The replacement text: character references are replaced, general references stay.
bool XmlTokenizer::entity_value(const char** p, const char* end, std::string_view* value,
                                bool* is_plain) {
  std::string_view raw;
  if (!quoted(p, end, &raw)) return false;
  ArenaText out;
  *is_plain = true;
  const char* q = raw.data();
  const char* stop = q + raw.size();
  while (q < stop) {
    if (*q == '%') return fault("a parameter entity reference within an entity value", q);
    if (*q == '&' && q + 1 < stop && q[1] == '#') {
      char32_t c;
      if (!character_reference(&q, stop, &c)) return false;
      char space[4];
      std::string_view s;
      xml_encode(c, s, space);
      if (c == '<' || c == '&') *is_plain = false;
      out.append(arena_, s);
      continue;
    }
    if (*q == '&') {
      const char* semicolon =
          static_cast<const char*>(std::memchr(q, ';', static_cast<size_t>(stop - q)));
      if (!semicolon || !is_xml_name(dtd_between(q + 1, semicolon))) {
        return fault("an illegal entity reference", q);
      }
    }
    if (*q == '<' || *q == '&' || *q == ']') *is_plain = false;
    if (*q == '\r') {
      out.append(arena_, '\n');
      q += (q + 1 < stop && q[1] == '\n') ? 2 : 1;
      continue;
    }
    out.append(arena_, *q++);
  }
  // 16 bytes more are readable, as builders of trees expect of every name.
  constexpr size_t kPadding = 16;
  size_t size = out.view().size();
  out.append(arena_, std::string_view("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", kPadding));
  *value = out.view().substr(0, size);
  return true;
}

}  // namespace millstream::format
