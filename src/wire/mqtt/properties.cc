#include "wire/mqtt/properties.h"

#include <cstring>

#include "base/assert.h"
#include "text/utf8.h"

namespace millstream::wire::mqtt {
namespace {

enum class PropertyType : uint8_t { kNone, kByte, kTwo, kFour, kVarint, kText, kBinary, kPair };

struct PropertySpec {
  PropertyType type = PropertyType::kNone;
  bool is_repeated = false;
  bool is_flag = false;     // 0 or 1
  bool is_nonzero = false;  // 0 is a protocol error
  int8_t text_slot = -1;
  PropertyPlace places = 0;
};

struct PropertyTable {
  PropertySpec specs[kPropertyIdsEnd];

  constexpr void set(PropertyId id, PropertyType type, PropertyPlace places) {
    PropertySpec& spec = specs[static_cast<uint8_t>(id)];
    spec.type = type;
    spec.places = places;
  }
  constexpr PropertyTable() {
    using P = PropertyId;
    using T = PropertyType;
    constexpr PropertyPlace kConnect = property_place(PacketType::kConnect);
    constexpr PropertyPlace kConnack = property_place(PacketType::kConnack);
    constexpr PropertyPlace kPublish = property_place(PacketType::kPublish);
    constexpr PropertyPlace kSubscribe = property_place(PacketType::kSubscribe);
    constexpr PropertyPlace kDisconnect = property_place(PacketType::kDisconnect);
    constexpr PropertyPlace kAuth = property_place(PacketType::kAuth);
    constexpr PropertyPlace kMessage = kPublish | kWillProperties;
    constexpr PropertyPlace kAnswers =
        kConnack | property_place(PacketType::kPuback) | property_place(PacketType::kPubrec) |
        property_place(PacketType::kPubrel) | property_place(PacketType::kPubcomp) |
        property_place(PacketType::kSuback) | property_place(PacketType::kUnsuback) | kDisconnect |
        kAuth;
    constexpr PropertyPlace kAll =
        kAnswers | kConnect | kMessage | kSubscribe | property_place(PacketType::kUnsubscribe);
    set(P::kPayloadFormat, T::kByte, kMessage);
    set(P::kMessageExpiry, T::kFour, kMessage);
    set(P::kContentType, T::kText, kMessage);
    set(P::kResponseTopic, T::kText, kMessage);
    set(P::kCorrelationData, T::kBinary, kMessage);
    set(P::kSubscriptionId, T::kVarint, kPublish | kSubscribe);
    set(P::kSessionExpiry, T::kFour, kConnect | kConnack | kDisconnect);
    set(P::kAssignedClientId, T::kText, kConnack);
    set(P::kServerKeepAlive, T::kTwo, kConnack);
    set(P::kAuthenticationMethod, T::kText, kConnect | kConnack | kAuth);
    set(P::kAuthenticationData, T::kBinary, kConnect | kConnack | kAuth);
    set(P::kRequestProblemInfo, T::kByte, kConnect);
    set(P::kWillDelay, T::kFour, kWillProperties);
    set(P::kRequestResponseInfo, T::kByte, kConnect);
    set(P::kResponseInfo, T::kText, kConnack);
    set(P::kServerReference, T::kText, kConnack | kDisconnect);
    set(P::kReasonString, T::kText, kAnswers);
    set(P::kReceiveMaximum, T::kTwo, kConnect | kConnack);
    set(P::kTopicAliasMaximum, T::kTwo, kConnect | kConnack);
    set(P::kTopicAlias, T::kTwo, kPublish);
    set(P::kMaximumQos, T::kByte, kConnack);
    set(P::kRetainAvailable, T::kByte, kConnack);
    set(P::kUserProperty, T::kPair, kAll);
    set(P::kMaximumPacketSize, T::kFour, kConnect | kConnack);
    set(P::kWildcardAvailable, T::kByte, kConnack);
    set(P::kSubscriptionIdsAvailable, T::kByte, kConnack);
    set(P::kSharedAvailable, T::kByte, kConnack);
    specs[static_cast<uint8_t>(P::kUserProperty)].is_repeated = true;
    specs[static_cast<uint8_t>(P::kSubscriptionId)].is_repeated = true;
    for (P id : {P::kReceiveMaximum, P::kMaximumPacketSize, P::kSubscriptionId}) {
      specs[static_cast<uint8_t>(id)].is_nonzero = true;
    }
    int8_t slot = 0;
    for (PropertySpec& spec : specs) {
      if (spec.type == T::kByte) spec.is_flag = true;
      if (spec.type == T::kText || spec.type == T::kBinary) spec.text_slot = slot++;
    }
  }
};
constexpr PropertyTable kPropertyTable;
static_assert(kPropertyTable.specs[static_cast<uint8_t>(PropertyId::kReasonString)].text_slot == 8);

const PropertySpec* spec_of(uint8_t id) {
  if (id >= kPropertyIdsEnd || kPropertyTable.specs[id].type == PropertyType::kNone) return nullptr;
  return &kPropertyTable.specs[id];
}

bool take_number(std::string_view& rest, size_t size, uint32_t& out) {
  if (rest.size() < size) return false;
  out = 0;
  for (size_t i = 0; i < size; ++i) out = out << 8 | static_cast<uint8_t>(rest[i]);
  rest.remove_prefix(size);
  return true;
}

bool take_bytes(std::string_view& rest, std::string_view& out) {
  uint32_t size = 0;
  if (!take_number(rest, 2, size) || rest.size() < size) return false;
  out = rest.substr(0, size);
  rest.remove_prefix(size);
  return true;
}

}  // namespace

void append_varint(std::string& out, uint32_t value) {
  MS_ASSERT(value <= kRemainingLengthMax);
  while (value >= 128) {
    out += static_cast<char>(value % 128 | 128);
    value /= 128;
  }
  out += static_cast<char>(value);
}

int read_varint(std::string_view bytes, uint32_t& value) {
  value = 0;
  for (size_t i = 0; i < 4; ++i) {
    if (i == bytes.size()) return 0;
    uint8_t byte = static_cast<uint8_t>(bytes[i]);
    value |= static_cast<uint32_t>(byte & 127) << (7 * i);
    if ((byte & 128) != 0) continue;
    bool is_shortest = i == 0 || byte != 0;
    return is_shortest ? static_cast<int>(i + 1) : -1;
  }
  return -1;
}

bool is_mqtt_text(std::string_view text) {
  return std::memchr(text.data(), 0, text.size()) == nullptr && text::is_valid_utf8(text);
}

std::string_view Properties::text(PropertyId id) const {
  if (!has(id)) return {};
  int8_t slot = kPropertyTable.specs[static_cast<uint8_t>(id)].text_slot;
  MS_ASSERT(slot >= 0);
  return texts_[slot];
}

Reason Properties::read_item(std::string_view& rest, Item& item) {
  uint32_t id = 0;
  int id_bytes = read_varint(rest, id);
  const PropertySpec* spec =
      id_bytes <= 0 || id > 255 ? nullptr : spec_of(static_cast<uint8_t>(id));
  if (spec == nullptr) return Reason::kMalformedPacket;
  item.id = static_cast<PropertyId>(id);
  rest.remove_prefix(static_cast<size_t>(id_bytes));
  bool is_whole = false;
  switch (spec->type) {
    case PropertyType::kByte:
      is_whole = take_number(rest, 1, item.number);
      break;
    case PropertyType::kTwo:
      is_whole = take_number(rest, 2, item.number);
      break;
    case PropertyType::kFour:
      is_whole = take_number(rest, 4, item.number);
      break;
    case PropertyType::kVarint: {
      int size = read_varint(rest, item.number);
      is_whole = size > 0;
      if (is_whole) rest.remove_prefix(static_cast<size_t>(size));
      break;
    }
    case PropertyType::kText:
      is_whole = take_bytes(rest, item.text) && is_mqtt_text(item.text);
      break;
    case PropertyType::kBinary:
      is_whole = take_bytes(rest, item.text);
      break;
    case PropertyType::kPair:
      is_whole = take_bytes(rest, item.text) && is_mqtt_text(item.text) &&
                 take_bytes(rest, item.value) && is_mqtt_text(item.value);
      break;
    case PropertyType::kNone:
      break;
  }
  return is_whole ? Reason::kSuccess : Reason::kMalformedPacket;
}

Reason Properties::keep(const Item& item) {
  const PropertySpec& spec = kPropertyTable.specs[static_cast<uint8_t>(item.id)];
  if (has(item.id) && !spec.is_repeated) return Reason::kProtocolError;
  if (spec.is_flag && item.number > 1) return Reason::kProtocolError;
  if (spec.is_nonzero && item.number == 0) return Reason::kProtocolError;
  present_ |= uint64_t{1} << static_cast<uint8_t>(item.id);
  if (item.id == PropertyId::kUserProperty) {
    return ++user_count_ > kUserPropertiesMax ? Reason::kPacketTooLarge : Reason::kSuccess;
  }
  if (item.id == PropertyId::kSubscriptionId && ++id_count_ > kSubscriptionIdsMax) {
    return Reason::kPacketTooLarge;
  }
  if (spec.text_slot >= 0) {
    texts_[spec.text_slot] = item.text;
  } else {
    numbers_[static_cast<uint8_t>(item.id)] = item.number;
  }
  return Reason::kSuccess;
}

Reason Properties::read(std::string_view bytes, PropertyPlace place) {
  present_ = 0;
  user_count_ = 0;
  id_count_ = 0;
  raw_ = bytes;
  while (!bytes.empty()) {
    Item item;
    if (Reason r = read_item(bytes, item); is_error(r)) return r;
    const PropertySpec& spec = kPropertyTable.specs[static_cast<uint8_t>(item.id)];
    if ((spec.places & place) == 0) return Reason::kProtocolError;
    if (Reason r = keep(item); is_error(r)) return r;
  }
  return Reason::kSuccess;
}

void Properties::walk(Visit visit, void* context) const {
  std::string_view rest = raw_;
  while (!rest.empty()) {
    Item item;
    if (is_error(read_item(rest, item))) return;  // read() has checked it
    visit(context, item);
  }
}

void PropertyWriter::number(PropertyId id, uint32_t value) {
  out_ += static_cast<char>(id);
  const PropertySpec& spec = kPropertyTable.specs[static_cast<uint8_t>(id)];
  MS_ASSERT(spec.text_slot < 0 && spec.type != PropertyType::kPair);
  if (spec.type == PropertyType::kVarint) return append_varint(out_, value);
  int bytes = spec.type == PropertyType::kByte ? 1 : spec.type == PropertyType::kTwo ? 2 : 4;
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
    out_ += static_cast<char>(value >> shift);
  }
}

namespace {

void append_sized(std::string& out, std::string_view bytes) {
  MS_ASSERT(bytes.size() <= kTextBytesMax);
  out += static_cast<char>(bytes.size() >> 8);
  out += static_cast<char>(bytes.size());
  out += bytes;
}

}  // namespace

void PropertyWriter::text(PropertyId id, std::string_view value) {
  MS_ASSERT(kPropertyTable.specs[static_cast<uint8_t>(id)].text_slot >= 0);
  out_ += static_cast<char>(id);
  append_sized(out_, value);
}

void PropertyWriter::pair(std::string_view name, std::string_view value) {
  out_ += static_cast<char>(PropertyId::kUserProperty);
  append_sized(out_, name);
  append_sized(out_, value);
}

}  // namespace millstream::wire::mqtt
