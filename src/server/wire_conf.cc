#include "server/wire_conf.h"

#include <limits>

#include "format/yaml.h"
#include "server/errors_gen.h"
#include "server/wire_protocols.h"

namespace millstream::server {
namespace {

using format::YamlNode;

struct WireSection {
  const std::string& file;
  const YamlNode& node;
  const std::string path;
  base::Diagnostics& diagnostics;

  void refuse(const std::string& key, const YamlNode& value, const std::string& wanted) const {
    Status status = base::make_error(errors::kBadSetting, {path + "/" + key, value.text, wanted});
    diagnostics.error(status.error(), {file, value.line, value.column});
  }
  std::optional<int64_t> number(const char* key, int64_t low, int64_t high) const {
    const YamlNode* value = node.find(key);
    if (value == nullptr || value->is_null()) return {};
    std::optional<int64_t> number = value->as_integer();
    if (number && *number >= low && *number <= high) return number;
    refuse(key, *value, "a number from " + std::to_string(low) + " to " + std::to_string(high));
    return {};
  }
  template <typename T>
  void limit(const char* key, T& out, int64_t factor = 1) const {
    constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
    if (auto value = number(key, 1, kMax)) out = static_cast<T>(*value * factor);
  }
};

void apply_protocol(const WireSection& section, WireProtocolConf& conf) {
  constexpr int64_t kPortMax = 65535;
  if (auto port = section.number("Port", 0, kPortMax)) conf.port = static_cast<int>(*port);
  if (auto port = section.number("TlsPort", 0, kPortMax)) conf.tls_port = static_cast<int>(*port);
  const YamlNode* channel = section.node.find("Channel");
  constexpr size_t kChannelBytesMax = 20;
  if (channel != nullptr && !channel->is_null()) {
    bool fits = channel->is_scalar() && channel->text.size() <= kChannelBytesMax;
    if (fits) conf.channel = channel->text;
    if (!fits) section.refuse("Channel", *channel, "a name of at most 20 characters");
  }
  wire::EndpointLimits& limits = conf.limits;
  section.limit("MaxConnections", limits.connections_max);
  section.limit("MaxConnectionsPerAddress", limits.connections_per_address_max);
  section.limit("MaxConnectionsPerSecond", limits.accepts_per_second_max);
  section.limit("LoginSeconds", limits.handshake_ns, net::kSecond);
  section.limit("StallSeconds", limits.stall_ns, net::kSecond);
  section.limit("MaxMessageBytes", limits.message_bytes_max);
  section.limit("MaxLinks", limits.links_max);
  section.limit("MaxUnsettledBytes", limits.unsettled_bytes_max);
}

}  // namespace

std::optional<int> WireFlags::port(std::string_view name) const {
  auto found = ports.find(name);
  if (found == ports.end()) return {};
  return found->second;
}

WireProtocolConf WireConf::of(std::string_view protocol) const {
  auto found = protocols.find(protocol);
  return found == protocols.end() ? WireProtocolConf() : found->second;
}

void apply_wire_conf(const std::string& file, const YamlNode& root, WireConf& conf,
                     base::Diagnostics& diagnostics) {
  const std::string path = "Millstream/Messaging";
  const YamlNode* own = root.find_path({"Millstream", "Messaging"});
  if (own == nullptr || own->is_null()) return;
  if (!own->is_mapping()) {
    return WireSection{file, root, "Millstream", diagnostics}.refuse("Messaging", *own,
                                                                     "a mapping");
  }
  apply_tls_connector(file, *own, path, conf.https, diagnostics);
  for (std::string_view name : kWireProtocolNames) {
    std::string title;
    for (char c : name) title += static_cast<char>(c - 'a' + 'A');
    const YamlNode* section = own->find(title);
    if (section == nullptr || section->is_null()) continue;
    WireSection in{file, *section, path + "/" + title, diagnostics};
    if (!section->is_mapping()) {
      in.refuse("", *section, "a mapping");
      continue;
    }
    apply_protocol(in, conf.protocols[std::string(name)]);
  }
}

void finish_wire_conf(const std::string& work_folder, const HttpsConf& server, WireConf& conf) {
  conf.https.credentials = server.credentials;
  conf.https.client = server.client;
  finish_https_conf(work_folder, conf.https);
  conf.https.tls.offers_http2 = false;
}

}  // namespace millstream::server
