#include "wire/mqtt/client_state.h"

namespace millstream::wire::mqtt {
namespace {

constexpr uint8_t kStateVersion = 1;

class StateWriter {
 public:
  explicit StateWriter(std::string& out) : out_(out) {}
  void number(uint64_t value) {
    while (value >= 128) {
      out_ += static_cast<char>(value % 128 | 128);
      value /= 128;
    }
    out_ += static_cast<char>(value);
  }
  void text(std::string_view value) {
    number(value.size());
    out_ += value;
  }

 private:
  std::string& out_;
};

class StateReader {
 public:
  explicit StateReader(std::string_view in) : in_(in) {}
  uint64_t number() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (in_.empty()) break;
      uint8_t byte = static_cast<uint8_t>(in_[0]);
      in_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 127) << shift;
      if ((byte & 128) == 0) return value;
    }
    is_bad = true;
    return 0;
  }
  std::string text() {
    uint64_t size = number();
    if (size > in_.size()) {
      is_bad = true;
      return {};
    }
    std::string out(in_.substr(0, size));
    in_.remove_prefix(size);
    return out;
  }
  bool at_end() const { return in_.empty(); }
  bool is_bad = false;

 private:
  std::string_view in_;
};

void write_will(StateWriter& to, const WillMessage& will) {
  to.text(will.topic);
  to.text(will.payload);
  to.text(will.properties);
  to.number(will.qos);
  to.number(will.is_retained ? 1 : 0);
  to.number(will.has_properties ? 1 : 0);
  to.number(will.delay_s);
  to.text(will.user);
}

WillMessage read_stored_will(StateReader& from) {
  WillMessage will;
  will.topic = from.text();
  will.payload = from.text();
  will.properties = from.text();
  will.qos = static_cast<uint8_t>(from.number());
  will.is_retained = from.number() != 0;
  will.has_properties = from.number() != 0;
  will.delay_s = static_cast<uint32_t>(from.number());
  will.user = from.text();
  return will;
}

bool read_state(std::string_view value, ClientState& state) {
  StateReader from(value);
  if (from.number() != kStateVersion) return false;
  state.user = from.text();
  state.session_expiry_s = static_cast<uint32_t>(from.number());
  state.disconnected_gmt_ms = static_cast<int64_t>(from.number());
  state.queue = from.text();
  state.is_queue_permanent = from.number() != 0;
  uint64_t count = from.number();
  for (uint64_t i = 0; i < count && !from.is_bad; ++i) {
    ClientSubscription s;
    s.filter = from.text();
    s.kind = static_cast<SubscriptionKind>(from.number());
    auto options = decode_options(static_cast<uint8_t>(from.number()), Version::k5);
    if (!options.has_value() || s.kind > SubscriptionKind::kQueue) return false;
    s.options = *options;
    s.id = static_cast<uint32_t>(from.number());
    s.mark = from.text();
    std::string filter = s.filter;
    state.subscriptions.emplace(std::move(filter), std::move(s));
  }
  if (from.number() != 0) {
    state.will = read_stored_will(from);
    state.will_due_gmt_ms = static_cast<int64_t>(from.number());
  }
  state.is_stored = true;
  state.is_new = false;
  return !from.is_bad && from.at_end();
}

}  // namespace

const ClientSubscription* ClientState::find_mark(std::string_view mark) const {
  for (const auto& [filter, s] : subscriptions) {
    if (s.mark == mark) return &s;
  }
  return nullptr;
}

std::string client_key(std::string_view client_id) {
  return std::string(kRecordPrefix) + "c" + std::string(client_id);
}

std::string packet_id_key(PacketIdKind kind, std::string_view client_id, uint16_t id) {
  std::string key(kRecordPrefix);
  key += static_cast<char>(kind);
  key += client_id;
  key += '\0';
  key += static_cast<char>(id >> 8);
  key += static_cast<char>(id);
  return key;
}

queue::UnitRecord client_state_record(const ClientState& state) {
  std::string value;
  StateWriter to(value);
  to.number(kStateVersion);
  to.text(state.user);
  to.number(state.session_expiry_s);
  to.number(static_cast<uint64_t>(state.disconnected_gmt_ms));
  to.text(state.queue);
  to.number(state.is_queue_permanent ? 1 : 0);
  to.number(state.subscriptions.size());
  for (const auto& [filter, s] : state.subscriptions) {
    to.text(s.filter);
    to.number(static_cast<uint8_t>(s.kind));
    to.number(encode_options(s.options));
    to.number(s.id);
    to.text(s.mark);
  }
  to.number(state.will.has_value() ? 1 : 0);
  if (state.will.has_value()) {
    write_will(to, *state.will);
    to.number(static_cast<uint64_t>(state.will_due_gmt_ms));
  }
  return queue::client_record(client_key(state.client_id), std::move(value));
}

bool recover_client_record(std::string_view key, std::string_view value,
                           std::map<std::string, ClientState, std::less<>>& clients) {
  if (!key.starts_with(kRecordPrefix)) return false;
  key.remove_prefix(kRecordPrefix.size());
  if (key.empty()) return false;
  char kind = key[0];
  key.remove_prefix(1);
  if (kind == 'c') {
    ClientState& state = clients[std::string(key)];
    state.client_id = key;
    return read_state(value, state);
  }
  constexpr size_t kIdBytes = 3;
  bool is_id = kind == static_cast<char>(PacketIdKind::kReceived) ||
               kind == static_cast<char>(PacketIdKind::kReleased);
  if (!is_id || key.size() < kIdBytes) return false;
  std::string_view client = key.substr(0, key.size() - kIdBytes);
  std::string_view bytes = key.substr(client.size());
  if (bytes[0] != '\0') return false;
  uint16_t id =
      static_cast<uint16_t>(static_cast<uint8_t>(bytes[1]) << 8 | static_cast<uint8_t>(bytes[2]));
  ClientState& state = clients[std::string(client)];
  state.client_id = client;
  bool is_received = kind == static_cast<char>(PacketIdKind::kReceived);
  (is_received ? state.received : state.released).insert(id);
  return true;
}

std::string subscription_name(std::string_view client_id, std::string_view filter) {
  std::string name(kSubscriptionPrefix);
  for (char c : client_id) {
    if (c == '/') {
      name += "%2F";
    } else if (c == '%') {
      name += "%25";
    } else if (c == '$') {
      name += "%24";
    } else {
      name += c;
    }
  }
  name += '/';
  name += filter;
  return name;
}

std::string shared_subscription_name(std::string_view filter) {
  return std::string(kSubscriptionPrefix) + std::string(filter);
}

}  // namespace millstream::wire::mqtt
