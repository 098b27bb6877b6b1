// The properties of an MQTT 5 packet (2.2.2): a table says which type each has, in which packets
// it may stand, and whether more than once. Reading checks all of that and keeps views.
//
// Thread: one. Views are of the packet that was read.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "wire/mqtt/words.h"

namespace millstream::wire::mqtt {

// Where properties stand: a packet, or the will within CONNECT.
using PropertyPlace = uint32_t;
constexpr PropertyPlace property_place(PacketType type) { return 1u << static_cast<uint8_t>(type); }
constexpr PropertyPlace kWillProperties = 1u << 16;

struct PropertyPair {
  std::string_view name;
  std::string_view value;
};

class Properties {
 public:
  bool empty() const { return present_ == 0; }
  bool has(PropertyId id) const { return (present_ >> static_cast<uint8_t>(id) & 1) != 0; }
  uint32_t number(PropertyId id, uint32_t absent = 0) const {
    return has(id) ? numbers_[static_cast<uint8_t>(id)] : absent;
  }
  std::string_view text(PropertyId id) const;
  std::string_view raw() const { return raw_; }

  // In the order of the packet.
  template <typename F>
  void for_each_user(F&& f) const {
    if (has(PropertyId::kUserProperty)) walk(&call_user<F>, &f);
  }
  template <typename F>
  void for_each_subscription_id(F&& f) const {
    if (has(PropertyId::kSubscriptionId)) walk(&call_id<F>, &f);
  }
  size_t user_count() const { return user_count_; }

  // `bytes` without the length before them. kMalformedPacket or kProtocolError otherwise.
  [[nodiscard]] Reason read(std::string_view bytes, PropertyPlace place);

 private:
  struct Item {
    PropertyId id = PropertyId::kPayloadFormat;
    uint32_t number = 0;
    std::string_view text;
    std::string_view value;
  };
  using Visit = void (*)(void* context, const Item& item);
  template <typename F>
  static void call_user(void* f, const Item& item) {
    if (item.id == PropertyId::kUserProperty) {
      (*static_cast<std::remove_reference_t<F>*>(f))(PropertyPair{item.text, item.value});
    }
  }
  template <typename F>
  static void call_id(void* f, const Item& item) {
    if (item.id == PropertyId::kSubscriptionId) {
      (*static_cast<std::remove_reference_t<F>*>(f))(item.number);
    }
  }
  void walk(Visit visit, void* context) const;
  static Reason read_item(std::string_view& rest, Item& item);
  Reason keep(const Item& item);

  uint64_t present_ = 0;
  uint32_t user_count_ = 0;
  uint32_t id_count_ = 0;
  std::string_view raw_;
  uint32_t numbers_[kPropertyIdsEnd];  // where present_ says so
  std::string_view texts_[9];
};

// Appends properties one after another; length() is what goes before them.
class PropertyWriter {
 public:
  explicit PropertyWriter(std::string& out) : out_(out) {}
  void number(PropertyId id, uint32_t value);
  void text(PropertyId id, std::string_view value);
  void pair(std::string_view name, std::string_view value);

 private:
  std::string& out_;
};

// Of variable byte integers (1.5.5).
void append_varint(std::string& out, uint32_t value);
constexpr size_t varint_bytes(uint32_t value) {
  return value < 128 ? 1 : value < 16'384 ? 2 : value < 2'097'152 ? 3 : 4;
}
// 0: more bytes are needed; negative: longer than four bytes, or not the shortest form; else how
// many bytes it took.
int read_varint(std::string_view bytes, uint32_t& value);

// UTF-8 without U+0000 (1.5.4).
bool is_mqtt_text(std::string_view text);

}  // namespace millstream::wire::mqtt
