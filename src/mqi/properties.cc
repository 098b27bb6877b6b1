#include "mqi/properties.h"

#include <bit>
#include <cstring>

#include "mqi/errors_gen.h"
#include "mqi/property_names.h"
#include "text/utf8.h"

namespace millstream::mqi {
namespace {

// One entry: type (1), size of the name (2), size of the value (4), name, value; little endian.
constexpr char kListVersion = 1;
constexpr size_t kEntryBytes = 7;

size_t fixed_size(PropertyType type) {
  switch (type) {
    case PropertyType::kBoolean:
    case PropertyType::kInt8:
      return 1;
    case PropertyType::kInt16:
      return 2;
    case PropertyType::kInt32:
    case PropertyType::kFloat32:
      return 4;
    case PropertyType::kInt64:
    case PropertyType::kFloat64:
      return 8;
    default:
      return 0;
  }
}

bool has_view(PropertyType type) {
  return type == PropertyType::kString || type == PropertyType::kBytes;
}

uint64_t read_le(const char* p, size_t size) {
  uint64_t v = 0;
  for (size_t i = size; i-- > 0;) v = v << 8 | static_cast<unsigned char>(p[i]);
  return v;
}
void append_le(std::string& out, uint64_t v, size_t size) {
  for (size_t i = 0; i < size; ++i, v >>= 8) out.push_back(static_cast<char>(v & 0xFF));
}

PropertyView read_value(PropertyType type, const char* p, uint32_t size) {
  PropertyView v;
  v.type = type;
  switch (type) {
    case PropertyType::kNull:
      break;
    case PropertyType::kString:
    case PropertyType::kBytes:
      v.size = size;
      v.data = p;
      break;
    case PropertyType::kFloat32:
      v.real = std::bit_cast<float>(static_cast<uint32_t>(read_le(p, 4)));
      break;
    case PropertyType::kFloat64:
      v.real = std::bit_cast<double>(read_le(p, 8));
      break;
    case PropertyType::kBoolean:
      v.integer = *p != 0;
      break;
    default: {
      int shift = static_cast<int>(64 - 8 * fixed_size(type));
      v.integer = static_cast<int64_t>(read_le(p, fixed_size(type)) << shift) >> shift;
    }
  }
  return v;
}

void append_value(std::string& out, const PropertyView& v) {
  if (has_view(v.type)) {
    out += v.text();
  } else if (v.type == PropertyType::kFloat32) {
    append_le(out, std::bit_cast<uint32_t>(static_cast<float>(v.real)), 4);
  } else if (v.type == PropertyType::kFloat64) {
    append_le(out, std::bit_cast<uint64_t>(v.real), 8);
  } else {
    append_le(out, static_cast<uint64_t>(v.integer), fixed_size(v.type));
  }
}

// Of the value alone.
Status check_value(std::string_view name, const PropertyView& v) {
  if (v.type == PropertyType::kString && !text::is_valid_utf8(v.text())) {
    return base::make_error(errors::kPropertyValue, {name, "it is not valid UTF-8"});
  }
  if (v.is_integer() && v.type != PropertyType::kInt64) {
    int64_t limit = int64_t{1} << (8 * fixed_size(v.type) - 1);
    if (v.integer < -limit || v.integer >= limit) {
      return base::make_error(errors::kPropertyValue, {name, "it does not fit its type"});
    }
  }
  return {};
}

Status broken(size_t at, const char* reason) {
  return base::make_error(errors::kPropertiesBroken, {at, reason});
}

}  // namespace

bool PropertyView::equals(const PropertyView& other) const {
  if (type != other.type) return false;
  if (has_view(type)) return text() == other.text();
  return is_float() ? real == other.real : integer == other.integer;
}

bool PropertyListView::next(size_t& at, std::string_view& name, PropertyView& value) const {
  if (at + kEntryBytes > bytes_.size()) return false;
  const char* p = bytes_.data() + at;
  size_t name_size = read_le(p + 1, 2);
  uint32_t value_size = static_cast<uint32_t>(read_le(p + 3, 4));
  name = {p + kEntryBytes, name_size};
  value = read_value(static_cast<PropertyType>(*p), p + kEntryBytes + name_size, value_size);
  at += kEntryBytes + name_size + value_size;
  return true;
}

PropertyView PropertyListView::find(std::string_view wanted, bool* is_there) const {
  if (is_there) *is_there = false;
  for (size_t at = kHeaderBytes; at + kEntryBytes <= bytes_.size();) {
    const char* p = bytes_.data() + at;
    size_t name_size = read_le(p + 1, 2);
    uint32_t value_size = static_cast<uint32_t>(read_le(p + 3, 4));
    if (name_size == wanted.size() && std::memcmp(p + kEntryBytes, wanted.data(), name_size) == 0) {
      if (is_there) *is_there = true;
      return read_value(static_cast<PropertyType>(*p), p + kEntryBytes + name_size, value_size);
    }
    at += kEntryBytes + name_size + value_size;
  }
  return {};
}

uint32_t PropertyListView::count() const {
  uint32_t n = 0;
  for_each([&](std::string_view, const PropertyView&) { ++n; });
  return n;
}

Result<PropertyListView> PropertyListView::view(std::string_view bytes) {
  if (bytes.empty()) return PropertyListView();
  if (bytes.size() > PropertyList::kBytesMax) return broken(0, "there is too much");
  if (bytes[0] != kListVersion) return broken(0, "the version is unknown");
  uint32_t count = 0;
  for (size_t at = kHeaderBytes; at < bytes.size();) {
    if (bytes.size() - at < kEntryBytes) return broken(at, "an entry is cut off");
    const char* p = bytes.data() + at;
    size_t name_size = read_le(p + 1, 2), value_size = read_le(p + 3, 4);
    auto type = static_cast<PropertyType>(*p);
    if (static_cast<unsigned char>(*p) > static_cast<unsigned char>(PropertyType::kString)) {
      return broken(at, "a type is unknown");
    }
    if (name_size + value_size > bytes.size() - at - kEntryBytes) {
      return broken(at, "an entry is cut off");
    }
    std::string_view name(p + kEntryBytes, name_size);
    if (name.empty() || name_size > PropertyList::kNameBytesMax || !text::is_valid_utf8(name)) {
      return broken(at, "a name is wrong");
    }
    if (!has_view(type) && value_size != fixed_size(type)) {
      return broken(at, "a value has the wrong size");
    }
    std::string_view value(p + kEntryBytes + name_size, value_size);
    if (type == PropertyType::kString && !text::is_valid_utf8(value)) {
      return broken(at, "a text is not valid UTF-8");
    }
    if (type == PropertyType::kBoolean && static_cast<unsigned char>(value[0]) > 1) {
      return broken(at, "a boolean is neither true nor false");
    }
    if (++count > PropertyList::kCountMax) return broken(at, "there are too many");
    at += kEntryBytes + name_size + value_size;
  }
  return PropertyListView(bytes);
}

Status PropertyList::set(std::string_view name, const PropertyView& value) {
  ResolvedProperty p = resolve_property(name);
  MS_TRY(check_property_name(name));
  if (p.id == PropertyId::kNamed) return set_unchecked_name(p.name, value);
  std::string_view stored = settable_name(p.id);
  if (stored.empty()) {
    return base::make_error(errors::kPropertyName,
                            {name, "it stands for a field that is set elsewhere"});
  }
  return set_unchecked_name(stored, value);
}

Status PropertyList::set_unchecked_name(std::string_view name, const PropertyView& value) {
  if (name.empty() || name.size() > kNameBytesMax) {
    return base::make_error(errors::kPropertyName, {name.substr(0, 100), "of its length"});
  }
  if (!text::is_valid_utf8(name)) {
    return base::make_error(errors::kPropertyName, {"?", "it is not valid UTF-8"});
  }
  MS_TRY(check_value(name, value));
  size_t size = has_view(value.type) ? value.size : fixed_size(value.type);
  if (bytes_.size() + kEntryBytes + name.size() + size > kBytesMax) {
    return base::make_error(errors::kPropertiesTooBig, {"more than 16 MB"});
  }
  std::string entry;
  entry.push_back(static_cast<char>(value.type));
  append_le(entry, name.size(), 2);
  append_le(entry, size, 4);
  entry += name;
  append_value(entry, value);
  if (!remove_stored(name) && count_ == kCountMax) {
    return base::make_error(errors::kPropertiesTooBig, {"more than 2000"});
  }
  if (bytes_.empty()) bytes_.push_back(kListVersion);
  bytes_ += entry;
  ++count_;
  return {};
}

bool PropertyList::remove(std::string_view name) {
  ResolvedProperty p = resolve_property(name);
  return remove_stored(p.id == PropertyId::kNamed ? p.name : settable_name(p.id));
}

bool PropertyList::remove_stored(std::string_view wanted) {
  std::string_view name;
  PropertyView value;
  for (size_t at = PropertyListView::kHeaderBytes, start = at; view().next(at, name, value);
       start = at) {
    if (name != wanted) continue;
    bytes_.erase(start, at - start);
    if (--count_ == 0) bytes_.clear();
    return true;
  }
  return false;
}

PropertyView PropertyList::find(std::string_view name, bool* is_there) const {
  ResolvedProperty p = resolve_property(name);
  return view().find(p.id == PropertyId::kNamed ? p.name : settable_name(p.id), is_there);
}

Result<PropertyList> PropertyList::from_bytes(std::string bytes) {
  PropertyListView v = MS_TRY(PropertyListView::view(bytes));
  PropertyList list;
  list.count_ = v.count();
  if (list.count_ > 0) list.bytes_ = std::move(bytes);
  return list;
}

Result<PropertyRequest> property_request_of(int32_t get_options) {
  constexpr std::pair<uint32_t, PropertyRequest> kBits[] = {
      {0x02000000, PropertyRequest::kForce},
      {0x04000000, PropertyRequest::kNone},
      {0x08000000, PropertyRequest::kInHandle},
      {0x10000000, PropertyRequest::kCompat}};
  PropertyRequest request = PropertyRequest::kAsQueue;
  uint32_t seen = 0;
  for (auto [bit, meaning] : kBits) {
    if (!(static_cast<uint32_t>(get_options) & bit)) continue;
    if (++seen > 1) {
      return base::make_error(errors::kPropertyOptions, {static_cast<int64_t>(get_options)});
    }
    request = meaning;
  }
  return request;
}

// The rule of COMPAT: what JMS or an MQRFH2 of old had, in an MQRFH2; else an application that
// knows no properties sees none.
PropertyDelivery decide_delivery(PropertyControl control, PropertyRequest request, bool has_handle,
                                 PropertyListView properties) {
  if (properties.empty()) return PropertyDelivery::kDropped;
  auto compatible = [&] {
    bool is_known = false;
    properties.for_each([&](std::string_view name, const PropertyView&) {
      std::string_view folder = folder_of_property(name);
      is_known =
          is_known || folder == "usr" || folder == "jms" || folder == "mcd" || folder == "mqext";
    });
    return is_known ? PropertyDelivery::kRfh2 : PropertyDelivery::kDropped;
  };
  switch (request) {
    case PropertyRequest::kNone:
      return PropertyDelivery::kDropped;
    case PropertyRequest::kInHandle:
      return has_handle ? PropertyDelivery::kHandle : PropertyDelivery::kDropped;
    case PropertyRequest::kForce:
      return PropertyDelivery::kRfh2;
    case PropertyRequest::kCompat:
      return compatible();
    case PropertyRequest::kAsQueue:
      break;
  }
  if (control == PropertyControl::kForce) return PropertyDelivery::kRfh2;
  if (has_handle) return PropertyDelivery::kHandle;
  switch (control) {
    case PropertyControl::kNone:
      return PropertyDelivery::kDropped;
    case PropertyControl::kAll:
      return PropertyDelivery::kRfh2;
    default:
      return compatible();
  }
}

}  // namespace millstream::mqi
