// The opening handshake of RFC 6455, section 4.2, with the SHA-1 that it needs and nobody else.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/base64.h"
#include "wire/common/websocket.h"

namespace millstream::wire {
namespace {

constexpr std::string_view kAcceptSuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

void sha1_block(const uint8_t* block, std::array<uint32_t, 5>& h) {
  uint32_t w[80];
  for (int i = 0; i < 16; ++i) {
    w[i] = static_cast<uint32_t>(block[4 * i]) << 24 | block[4 * i + 1] << 16 |
           block[4 * i + 2] << 8 | block[4 * i + 3];
  }
  for (int i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
  for (int i = 0; i < 80; ++i) {
    uint32_t f, k;
    if (i < 20) {
      f = (b & c) | (~b & d);
      k = 0x5A827999;
    } else if (i < 40) {
      f = b ^ c ^ d;
      k = 0x6ED9EBA1;
    } else if (i < 60) {
      f = (b & c) | (b & d) | (c & d);
      k = 0x8F1BBCDC;
    } else {
      f = b ^ c ^ d;
      k = 0xCA62C1D6;
    }
    uint32_t t = std::rotl(a, 5) + f + e + k + w[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = t;
  }
  h[0] += a;
  h[1] += b;
  h[2] += c;
  h[3] += d;
  h[4] += e;
}

std::string sha1(std::string_view text) {
  std::string bytes(text);
  bytes += '\x80';
  while (bytes.size() % 64 != 56) bytes += '\0';
  uint64_t bits = static_cast<uint64_t>(text.size()) * 8;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> shift);
  std::array<uint32_t, 5> h = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  for (size_t at = 0; at < bytes.size(); at += 64) {
    sha1_block(reinterpret_cast<const uint8_t*>(bytes.data()) + at, h);
  }
  std::string out;
  for (uint32_t word : h) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(word >> shift);
  }
  return out;
}

bool equals_header(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trim_blanks(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

// Calls f for each item of a comma-separated list until it returns true.
template <typename F>
bool any_item(std::string_view list, F f) {
  for (;;) {
    size_t comma = list.find(',');
    if (f(trim_blanks(list.substr(0, comma)))) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

WebSocketHandshake refuse_websocket(std::string_view status, std::string_view extra,
                                    std::string_view why) {
  WebSocketHandshake out;
  out.reply = "HTTP/1.1 ";
  out.reply += status;
  out.reply += "\r\nConnection: close\r\nContent-Type: text/plain\r\n";
  out.reply += extra;
  out.reply += "Content-Length: " + std::to_string(why.size() + 1) + "\r\n\r\n";
  out.reply += why;
  out.reply += '\n';
  return out;
}

struct UpgradeRequest {
  bool is_well_formed = false;
  bool wants_websocket = false;
  bool wants_upgrade = false;
  bool has_host = false;
  std::string_view version;
  std::string_view key;
  std::string protocols;
};

UpgradeRequest parse_upgrade(std::string_view head) {
  UpgradeRequest out;
  size_t end = head.find("\r\n");
  std::string_view line = head.substr(0, end);
  constexpr std::string_view kVersion = " HTTP/1.1";
  if (line.size() < kVersion.size() + 5 || line.substr(line.size() - kVersion.size()) != kVersion) {
    return out;
  }
  head.remove_prefix(end + 2);
  while (head.substr(0, 2) != "\r\n") {
    end = head.find("\r\n");
    if (end == std::string_view::npos) return out;
    line = head.substr(0, end);
    head.remove_prefix(end + 2);
    size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) return out;
    std::string_view name = line.substr(0, colon);
    std::string_view value = trim_blanks(line.substr(colon + 1));
    auto is_named = [&](std::string_view wanted) { return equals_header(name, wanted); };
    auto has_item = [&](std::string_view wanted) {
      return any_item(value, [&](auto item) { return equals_header(item, wanted); });
    };
    if (is_named("host")) out.has_host = true;
    if (is_named("upgrade") && has_item("websocket")) out.wants_websocket = true;
    if (is_named("connection") && has_item("upgrade")) out.wants_upgrade = true;
    if (is_named("sec-websocket-version")) out.version = value;
    if (is_named("sec-websocket-key")) out.key = value;
    if (is_named("sec-websocket-protocol")) {
      if (!out.protocols.empty()) out.protocols += ',';
      out.protocols += value;
    }
  }
  out.is_well_formed = true;
  return out;
}

}  // namespace

WebSocketHandshake answer_websocket_handshake(std::string_view head,
                                              const std::vector<std::string>& subprotocols) {
  UpgradeRequest request = parse_upgrade(head);
  if (!request.is_well_formed || !request.has_host) {
    return refuse_websocket("400 Bad Request", "", "not a request of HTTP/1.1");
  }
  if (!request.wants_websocket || !request.wants_upgrade) {
    return refuse_websocket("426 Upgrade Required", "Upgrade: websocket\r\n",
                            "this port speaks a messaging protocol, also in a WebSocket");
  }
  if (request.version != "13") {
    return refuse_websocket("426 Upgrade Required",
                            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
                            "only version 13 of WebSocket is known");
  }
  auto key = base::base64_decode(request.key);
  constexpr size_t kKeyBytes = 16;
  if (!key || key->size() != kKeyBytes) {
    return refuse_websocket("400 Bad Request", "", "Sec-WebSocket-Key is not 16 bytes in base64");
  }
  WebSocketHandshake out;
  if (!request.protocols.empty()) {
    // Ours are in the order of our preference.
    for (const std::string& ours : subprotocols) {
      if (any_item(request.protocols, [&](std::string_view item) { return item == ours; })) {
        out.chosen = ours;
        break;
      }
    }
    if (out.chosen.empty()) {
      std::string known;
      for (const std::string& ours : subprotocols) known += (known.empty() ? "" : ", ") + ours;
      return refuse_websocket("400 Bad Request", "", "known subprotocols: " + known);
    }
  }
  out.is_accepted = true;
  std::string accept =
      base::base64_encode(sha1(std::string(request.key) + std::string(kAcceptSuffix)));
  out.reply =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: " +
      accept + "\r\n";
  if (!out.chosen.empty()) out.reply += "Sec-WebSocket-Protocol: " + out.chosen + "\r\n";
  out.reply += "\r\n";
  return out;
}

}  // namespace millstream::wire
