#include "queue/objects/definition.h"

#include <algorithm>

#include "base/assert.h"
#include "queue/objects/errors_gen.h"
#include "queue/objects/record_bytes.h"

namespace millstream::queue::objects {
namespace {

const TypeSpec* find_type(std::string_view keyword) {
  for (const TypeSpec& t : all_types()) {
    if (t.keyword == keyword) return &t;
  }
  return nullptr;
}

}  // namespace

Definition::Definition(ObjectType type, std::string name, int32_t subtype)
    : type_(type), subtype_(subtype), name_(std::move(name)) {}

const AttributeValue* Definition::find(Attr attribute) const {
  auto at = std::lower_bound(values_.begin(), values_.end(), attribute,
                             [](const auto& entry, Attr wanted) { return entry.first < wanted; });
  return at != values_.end() && at->first == attribute ? &at->second : nullptr;
}

int64_t Definition::number(Attr attribute) const {
  if (const AttributeValue* value = find(attribute)) return value->number;
  const AttributeSpec* spec = find_spec(type_, subtype_, attribute);
  return spec ? spec->default_number : 0;
}

std::string Definition::text(Attr attribute) const {
  if (const AttributeValue* value = find(attribute)) return value->text;
  const AttributeSpec* spec = find_spec(type_, subtype_, attribute);
  return spec ? std::string(spec->default_text) : std::string();
}

std::vector<std::string> Definition::items(Attr attribute) const {
  return split_items(text(attribute));
}

void Definition::put(Attr attribute, AttributeValue value) {
  const AttributeSpec* spec = find_spec(type_, subtype_, attribute);
  MS_ASSERT(spec);
  if (!spec) return;
  bool is_default =
      spec->is_number() ? value.number == spec->default_number : value.text == spec->default_text;
  auto at = std::lower_bound(values_.begin(), values_.end(), attribute,
                             [](const auto& entry, Attr wanted) { return entry.first < wanted; });
  bool is_there = at != values_.end() && at->first == attribute;
  if (is_default) {
    if (is_there) values_.erase(at);
  } else if (is_there) {
    at->second = std::move(value);
  } else {
    values_.insert(at, {attribute, std::move(value)});
  }
}

void Definition::set_number(Attr attribute, int64_t number) { put(attribute, {number, {}}); }

void Definition::set_text(Attr attribute, std::string text) {
  put(attribute, {0, std::move(text)});
}

void Definition::set_items(Attr attribute, const std::vector<std::string>& items) {
  put(attribute, {0, join_items(items)});
}

void Definition::reset(Attr attribute) {
  std::erase_if(values_, [&](const auto& entry) { return entry.first == attribute; });
}

void Definition::copy_attributes(const Definition& from) {
  for (const AttributeSpec& spec : attribute_specs(type_, subtype_)) {
    if (!find_spec(from.type_, from.subtype_, spec.id)) continue;
    if (spec.is_number()) {
      set_number(spec.id, from.number(spec.id));
    } else {
      set_text(spec.id, from.text(spec.id));
    }
  }
}

std::string Definition::encode() const {
  std::string out;
  out.push_back(static_cast<char>(kDefinitionVersion));
  append_record_text(out, type_spec(type_).keyword);
  append_number(out, static_cast<uint32_t>(subtype_), 4);
  append_record_text(out, name_);
  append_number(out, static_cast<uint64_t>(created_gmt_ms_), 8);
  append_number(out, static_cast<uint64_t>(altered_gmt_ms_), 8);
  append_number(out, static_cast<uint32_t>(values_.size()), 4);
  for (const auto& [attribute, value] : values_) {
    append_record_text(out, keyword_of(attribute));
    append_number(out, static_cast<uint64_t>(value.number), 8);
    append_record_text(out, value.text);
  }
  return out;
}

Result<Definition> Definition::decode(std::string_view bytes) {
  RecordReader reader(bytes);
  uint8_t version = static_cast<uint8_t>(reader.number(1));
  if (bytes.size() > kDefinitionBytesMax || !reader.ok()) {
    return base::make_error(errors::kDefinitionBytes, {});
  }
  if (version != kDefinitionVersion) {
    return base::make_error(errors::kDefinitionVersion, {static_cast<int>(version)});
  }
  std::string_view keyword = reader.text();
  const TypeSpec* type = find_type(keyword);
  if (!reader.ok()) return base::make_error(errors::kDefinitionBytes, {});
  if (!type) return base::make_error(errors::kDefinitionKeyword, {keyword, ""});
  int32_t subtype = static_cast<int32_t>(reader.number(4));
  Definition out(type->type, std::string(reader.text()), subtype);
  if (reader.ok() && attribute_specs(out.type_, subtype).empty()) {
    return base::make_error(errors::kDefinitionKeyword,
                            {"subtype " + std::to_string(subtype), out.name_});
  }
  out.created_gmt_ms_ = static_cast<int64_t>(reader.number(8));
  out.altered_gmt_ms_ = static_cast<int64_t>(reader.number(8));
  uint64_t count = reader.number(4);
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    std::string_view name = reader.text();
    AttributeValue value;
    value.number = static_cast<int64_t>(reader.number(8));
    value.text = reader.text();
    if (!reader.ok()) break;
    std::optional<Attr> attribute = find_attr(name);
    if (!attribute || !find_spec(out.type_, subtype, *attribute)) {
      return base::make_error(errors::kDefinitionKeyword, {name, out.name_});
    }
    out.put(*attribute, std::move(value));
  }
  if (!reader.ok() || !reader.at_end()) return base::make_error(errors::kDefinitionBytes, {});
  return out;
}

std::string join_items(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) {
    out += item;
    out.push_back('\0');
  }
  return out;
}

std::vector<std::string> split_items(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    size_t end = text.find('\0');
    out.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace millstream::queue::objects
