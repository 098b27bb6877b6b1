#include "queue/objects/attribute_spec.h"

#include <algorithm>

#include "base/assert.h"

namespace millstream::queue::objects {

const TypeSpec& type_spec(ObjectType type) {
  for (const TypeSpec& t : all_types()) {
    if (t.type == type) return t;
  }
  MS_CHECK(false && "every object type has a record");
  return all_types().front();
}

std::span<const AttributeSpec> attribute_specs(ObjectType type, int32_t subtype) {
  for (const SpecTable& table : all_spec_tables()) {
    if (table.type == type && table.subtype == subtype) return table.attributes;
  }
  return {};
}

const AttributeSpec* find_spec(ObjectType type, int32_t subtype, Attr attribute) {
  for (const AttributeSpec& spec : attribute_specs(type, subtype)) {
    if (spec.id == attribute) return &spec;
  }
  return nullptr;
}

const AttributeSpec* find_spec(ObjectType type, int32_t subtype, std::string_view keyword) {
  for (const AttributeSpec& spec : attribute_specs(type, subtype)) {
    if (spec.keyword == keyword || (!spec.synonym.empty() && spec.synonym == keyword) ||
        (!spec.off_keyword.empty() && spec.off_keyword == keyword)) {
      return &spec;
    }
  }
  return nullptr;
}

std::string_view keyword_of(Attr attribute) {
  auto index = static_cast<size_t>(attribute);
  return index < all_keywords().size() ? all_keywords()[index] : std::string_view();
}

std::optional<Attr> find_attr(std::string_view keyword) {
  auto keywords = all_keywords();
  auto at = std::lower_bound(keywords.begin(), keywords.end(), keyword);
  if (at == keywords.end() || *at != keyword) return std::nullopt;
  return static_cast<Attr>(at - keywords.begin());
}

std::string_view name_of_number(std::span<const NamedNumber> names, int64_t number) {
  for (const NamedNumber& n : names) {
    if (n.number == number) return n.keyword;
  }
  return {};
}

const NamedNumber* find_named(std::span<const NamedNumber> names, std::string_view keyword) {
  for (const NamedNumber& n : names) {
    if (n.keyword == keyword) return &n;
  }
  return nullptr;
}

ObjectFamily family_of(ObjectType type, int32_t subtype) {
  if (type == ObjectType::kChannel && subtype == static_cast<int32_t>(ChannelType::kClntconn)) {
    return ObjectFamily::kClientChannel;
  }
  return type_spec(type).family;
}

}  // namespace millstream::queue::objects
