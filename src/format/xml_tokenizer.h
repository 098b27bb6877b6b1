// A strict, non-validating XML 1.0 pull tokenizer over one UTF-8 buffer. It knows nothing of
// namespaces and builds no tree: names are as written, attributes are a list.
//
//   XmlTokenizer t(arena, utf8, {});
//   for (;;) switch (t.next()) { case XmlEvent::kStartTag: t.name(), t.attributes() ... }
//
// Well-formedness is complete except inside ELEMENT, ATTLIST and NOTATION declarations, which are
// only delimited. Entities of the internal subset are expanded within XmlLimits; nothing external
// is ever fetched: a reference to an external or unknown entity is an error. Default attribute
// values of a DTD are not supplied. No event recurses: nesting costs 32 bytes a level. After kError
// every further call gives kError. Lifetime: views point into the buffer or, when text had to be
// changed, into the arena; the object itself may live in an arena (no destructor). Thread: one.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "base/result.h"
#include "format/xml_arena.h"

namespace millstream::format {

enum class XmlEvent : uint8_t {
  kError,
  kEnd,
  kXmlDecl,   // version(), encoding(), standalone()
  kDoctype,   // doctype()
  kStartTag,  // name(), attributes(); an empty tag is followed by its kEndTag
  kEndTag,    // name()
  kText,      // text(); adjacent pieces occur (entities); white space outside the root too
  kCData,     // text()
  kComment,   // text()
  kPi,        // name() is the target, text() its data
};

struct XmlAttribute {
  std::string_view name;   // as written
  std::string_view value;  // normalised, references expanded
  char quote = '"';
};

struct XmlDoctype {
  std::string_view name;
  std::string_view public_id, system_id;
  std::string_view internal_subset;  // between the brackets
  std::string_view text;             // all between the name and the closing '>'
  bool has_system_id = false, has_public_id = false, has_internal_subset = false;
};

struct XmlLimits {
  uint32_t depth_max = 10'000;         // open elements
  uint32_t entity_depth_max = 20;      // entities within entities
  uint32_t entities_max = 10'000;      // declarations
  size_t expansion_max = 1024 * 1024;  // bytes that entities may add in all
  size_t size_max = 0x7fffffff;        // bytes of one document
};

// An element whose end tag has not been seen. `user` and `mark` belong to the caller.
struct XmlOpenTag {
  const char* name;
  uint32_t size;
  uint32_t frame;  // entity nesting at its start tag
  void* user;
  uint32_t mark;
  uint32_t bits;
};

class XmlTokenizer {
 public:
  XmlTokenizer(base::Arena& arena, std::string_view utf8, const XmlLimits& limits);

  XmlEvent next();

  std::string_view name() const { return name_; }
  std::string_view text() const { return text_; }
  const ArenaVector<XmlAttribute>& attributes() const { return attributes_; }
  const XmlDoctype& doctype() const { return doctype_; }
  std::string_view version() const { return version_; }
  std::string_view encoding() const { return encoding_; }
  std::string_view standalone() const { return standalone_; }
  uint32_t depth() const { return open_.size(); }
  Status error() const;  // after kError
  Status error_at(const char* reason, const char* position) const;
  // Makes the next and all later events kError, for faults that only the caller sees.
  XmlEvent fail(const char* reason, const char* position = nullptr);

  // --- For tree builders with their own fast loop over plain elements. They may consume "<name>",
  // plain text and "</name>" themselves while is_plain(), keeping pos() and open() right.
  bool is_plain() const { return frames_.empty() && !pending_end_ && !reason_; }
  const char* pos() const { return pos_; }
  void set_pos(const char* p) { pos_ = p; }
  const char* end() const { return end_; }
  ArenaVector<XmlOpenTag>& open() { return open_; }
  base::Arena& arena() { return arena_; }
  const XmlLimits& limits() const { return limits_; }
  // From a stop of xml_scan::text_stop on: the '<' that ends the text when all before it needs no
  // change, else null. Valid characters, tabs and line feeds are passed over.
  static const char* plain_text_end(const char* p, const char* end);
  // Where the last event began.
  const char* event_start() const { return event_start_; }

 private:
  struct Entity {
    std::string_view name;
    std::string_view value;
    Entity* next;
    bool is_parameter, is_external, is_open, is_plain;
  };
  struct Frame {
    const char* pos;
    const char* end;
    Entity* entity;
    uint32_t depth;
  };
  static constexpr uint32_t kEntityBuckets = 64;

  XmlEvent markup();
  XmlEvent start_tag();
  XmlEvent end_tag();
  XmlEvent pending_end();
  XmlEvent comment();
  XmlEvent cdata();
  XmlEvent processing_instruction();
  XmlEvent xml_declaration();
  XmlEvent character_data();
  XmlEvent blank_outside_root();
  XmlEvent doctype_declaration();
  XmlEvent at_end();

  bool scan_name(std::string_view* name);
  bool scan_attributes(bool* is_empty);
  bool check_unique_attributes();
  bool attribute_value(char quote, std::string_view* value);
  bool expand_in_value(std::string_view text, uint32_t depth, ArenaText* out);
  bool value_reference(const char** p, const char* end, uint32_t depth, ArenaText* out);
  bool pass_odd(const char** p, const char* end);  // one byte < 0x20 or one UTF-8 character
  bool character_reference(const char** p, const char* end, char32_t* out);
  char predefined(std::string_view name) const;
  bool until(const char* stop, size_t stop_size, const char* unclosed, bool* has_cr);
  std::string_view normalise_ends(std::string_view raw);

  Entity* find_entity(std::string_view name, bool is_parameter);
  bool content_reference(const char** p, ArenaText* out, bool* is_frame);
  bool enter_entity(Entity* e);
  bool charge(size_t bytes);

  bool external_id(bool is_notation);
  bool subset(const char** p, const char* end, char closer, uint32_t depth);
  bool declaration(const char** p, const char* end);
  bool entity_declaration(const char** p, const char* end);
  bool entity_value(const char** p, const char* end, std::string_view* value, bool* is_plain);
  bool parameter_reference(const char** p, const char* end, uint32_t depth);
  bool skip_declaration(const char** p, const char* end);
  bool quoted(const char** p, const char* end, std::string_view* text);

  bool fault(const char* reason, const char* position) {
    fail(reason, position);
    return false;
  }

  base::Arena& arena_;
  const char* pos_;
  const char* end_;
  const char* event_start_;
  const char* reason_ = nullptr;
  const char* fault_at_ = nullptr;
  bool pending_end_ = false;
  bool has_root_ = false;
  bool has_doctype_ = false;
  bool is_first_ = true;
  bool entities_incomplete_ = false;
  XmlLimits limits_;
  std::string_view buffer_;
  std::string_view name_, text_, version_, encoding_, standalone_;
  ArenaVector<XmlAttribute> attributes_;
  ArenaVector<XmlOpenTag> open_;
  ArenaVector<Frame> frames_;
  XmlDoctype doctype_;
  Entity** entities_ = nullptr;  // kEntityBuckets chains, made with the first declaration
  uint32_t entity_count_ = 0;
  size_t expanded_ = 0;
};

}  // namespace millstream::format
