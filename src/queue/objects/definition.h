// An object's definition: its type, its name and the attributes that differ from their defaults.
//
// Values are what MQI calls know: numbers as the MQI's (TRIGTYPE(FIRST) is 1), flags 1 and 0, names
// and texts without trailing blanks, lists of names. The typed structs in attributes_gen.h
// (QueueAttributes, TopicAttributes, ...) are what the queue manager works with; reading one is a
// copy of about fifty values, so it is done when a definition changes, not when it is used.
//
// Stored as versioned bytes (version 1): type, subtype, name, times, and keyword and value of each
// attribute, so that a build with other attributes reads it. An unknown keyword or type is an
// error: a definition that is only half understood must not be acted on.
// Thread: any number may read; a Definition in the catalogue is never changed, only replaced.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "queue/objects/attribute_spec.h"

namespace millstream::queue::objects {

constexpr uint8_t kDefinitionVersion = 1;
constexpr size_t kDefinitionBytesMax = 256 * 1024;

struct AttributeValue {
  int64_t number = 0;
  std::string text;  // of a list: each item ended by a zero character
  bool operator==(const AttributeValue&) const = default;
};

class Definition {
 public:
  Definition() = default;
  // With every attribute at its default. `subtype`: ChannelType or AuthinfoType, else 0.
  Definition(ObjectType type, std::string name, int32_t subtype = 0);

  ObjectType type() const { return type_; }
  int32_t subtype() const { return subtype_; }
  ObjectFamily family() const { return family_of(type_, subtype_); }
  const std::string& name() const { return name_; }
  int64_t created_gmt_ms() const { return created_gmt_ms_; }
  int64_t altered_gmt_ms() const { return altered_gmt_ms_; }
  void set_created(int64_t gmt_ms) { created_gmt_ms_ = altered_gmt_ms_ = gmt_ms; }
  void set_altered(int64_t gmt_ms) { altered_gmt_ms_ = gmt_ms; }
  void set_name(std::string name) { name_ = std::move(name); }

  // The value or the default; 0 and empty for an attribute that the type has not.
  int64_t number(Attr attribute) const;
  std::string text(Attr attribute) const;
  std::vector<std::string> items(Attr attribute) const;
  // Whether it differs from the default.
  bool is_set(Attr attribute) const { return find(attribute) != nullptr; }

  // Values are taken as valid (MQSC and PCF check them against the record). An attribute that the
  // type has not is a bug of the caller and left out.
  void set_number(Attr attribute, int64_t number);
  void set_text(Attr attribute, std::string text);
  void set_items(Attr attribute, const std::vector<std::string>& items);
  void reset(Attr attribute);  // to the default
  // All attributes that the type of this one has too; LIKE, and what a model gives a dynamic queue.
  void copy_attributes(const Definition& from);

  const std::vector<std::pair<Attr, AttributeValue>>& values() const { return values_; }
  bool same_attributes(const Definition& other) const {
    return type_ == other.type_ && subtype_ == other.subtype_ && values_ == other.values_;
  }

  std::string encode() const;
  static Result<Definition> decode(std::string_view bytes);

 private:
  const AttributeValue* find(Attr attribute) const;
  void put(Attr attribute, AttributeValue value);

  ObjectType type_ = ObjectType::kQlocal;
  int32_t subtype_ = 0;
  std::string name_;
  int64_t created_gmt_ms_ = 0;
  int64_t altered_gmt_ms_ = 0;
  std::vector<std::pair<Attr, AttributeValue>> values_;  // sorted by Attr
};

using DefinitionPtr = std::shared_ptr<const Definition>;

std::string join_items(const std::vector<std::string>& items);
std::vector<std::string> split_items(std::string_view text);

}  // namespace millstream::queue::objects
