// What is known of the attributes of objects: keyword, type, limits, default, support. The tables
// are generated from records/*.yaml (docs/internals/records.md); this is how they are read.
// Thread: any; everything is constant.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "queue/objects/attributes_gen.h"

namespace millstream::queue::objects {

// One a kind of DEFINE. Channels and AUTHINFO have a subtype beside: CHLTYPE, AUTHTYPE.
enum class ObjectType : uint8_t {
  kQlocal,
  kQalias,
  kQremote,
  kQmodel,
  kProcess,
  kNamelist,
  kTopic,
  kSub,
  kChannel,
  kListener,
  kService,
  kAuthinfo,
  kComminfo,
  kQmgr,
};

// A name is unique in its family: there is no alias queue named like a local one, but a process. A
// client-connection channel may be named like the server-connection channel that it is for.
enum class ObjectFamily : uint8_t {
  kQueue,
  kProcess,
  kNamelist,
  kTopic,
  kSubscription,
  kChannel,
  kClientChannel,
  kListener,
  kService,
  kAuthinfo,
  kComminfo,
  kQmgr,
};

enum class AttributeKind : uint8_t {
  kNumber,  // min..max, or one of `names`
  kText,    // up to `max` characters
  kName,    // an object name or nothing
  kObject,  // the name of a queue or topic: as kName
  kHex,     // up to `max` hexadecimal digits
  kEnum,    // one of `names`
  kFlag,    // the keyword itself or `off_keyword`, without a value
  kList,    // up to `count_max` names
  kWords,   // one or two of `words`
};
enum class Support : uint8_t { kEffective, kKept };

constexpr uint32_t kDefineOnly = 1;  // ALTER refuses it
constexpr uint32_t kReadOnly = 2;    // DISPLAY shows it, nothing sets it
constexpr uint32_t kRequired = 4;    // DEFINE needs it
constexpr uint32_t kSecret = 8;      // shown as stars
constexpr uint32_t kHidden = 16;     // shown only when asked for

struct NamedNumber {
  std::string_view keyword;
  int32_t number;
  bool is_settable;
};
struct RefusedValue {
  std::string_view keyword;
  std::string_view why;
};

struct AttributeSpec {
  Attr id;
  std::string_view keyword;
  std::string_view synonym;
  std::string_view off_keyword;  // of a flag
  AttributeKind kind;
  Support support;
  uint32_t flags;
  int64_t min;
  int64_t max;  // of a number; the length of a text
  int64_t default_number;
  std::string_view default_text;
  std::span<const NamedNumber> names;
  std::span<const std::string_view> words;
  std::string_view refused;  // why any value but nothing is refused
  std::span<const RefusedValue> refused_values;
  uint32_t count_max;
  std::string_view description;

  bool is_number() const {
    return kind == AttributeKind::kNumber || kind == AttributeKind::kEnum ||
           kind == AttributeKind::kFlag;
  }
  bool has(uint32_t flag) const { return (flags & flag) != 0; }
};

struct SpecTable {
  ObjectType type;
  int32_t subtype;
  std::span<const AttributeSpec> attributes;
};
struct TypeSpec {
  ObjectType type;
  ObjectFamily family;
  std::string_view keyword;         // "QLOCAL"
  std::string_view synonym;         // "QL"; may be empty
  std::string_view family_keyword;  // "QUEUE"
  std::string_view title;           // "local queue"
  uint32_t name_bytes_max;
  bool has_subtype;
  Attr subtype_attribute;
  std::string_view subtype_keyword;  // "CHLTYPE"
  std::span<const NamedNumber> subtypes;
};

// Generated.
std::span<const SpecTable> all_spec_tables();
std::span<const TypeSpec> all_types();
std::span<const std::string_view> all_keywords();  // by Attr

const TypeSpec& type_spec(ObjectType type);
// In display order; nothing for a subtype that the type has not. `subtype` is 0 for types without.
std::span<const AttributeSpec> attribute_specs(ObjectType type, int32_t subtype);
const AttributeSpec* find_spec(ObjectType type, int32_t subtype, Attr attribute);
// By keyword, synonym or off keyword, in upper case.
const AttributeSpec* find_spec(ObjectType type, int32_t subtype, std::string_view keyword);
std::string_view keyword_of(Attr attribute);
std::optional<Attr> find_attr(std::string_view keyword);
// The shown keyword of a number, or nothing.
std::string_view name_of_number(std::span<const NamedNumber> names, int64_t number);
const NamedNumber* find_named(std::span<const NamedNumber> names, std::string_view keyword);
ObjectFamily family_of(ObjectType type, int32_t subtype);

}  // namespace millstream::queue::objects
