// Transports and endpoints, with a protocol of lines: HELLO logs in, ECHO sends back, BIG sends
// much, QUIT ends.
#include <doctest/doctest.h>

#include "net/tls_for_test.h"
#include "wire/common/websocket.h"
#include "wire/common/wire_for_test.h"

namespace millstream::wire {
namespace {

using testing::eventually;
using testing::RawClient;
using testing::WireWorld;

std::atomic<int> g_lines_ended{0};

class LineSession final : public Session {
 public:
  using Session::Session;
  size_t on_received(std::string_view bytes) override {
    size_t consumed = 0;
    while (!transport().is_open() || consumed < bytes.size()) {
      if (!transport().is_open()) break;
      size_t end = bytes.find('\n', consumed);
      if (end == std::string_view::npos) break;
      handle(bytes.substr(consumed, end - consumed));
      consumed = end + 1;
    }
    return consumed;
  }
  void on_stopping() override {
    transport().send("BYE\n");
    transport().shut();
  }
  void on_drained() override { transport().send("DRAINED\n"); }
  void on_ended(CloseReason) override { ++g_lines_ended; }

 private:
  void handle(std::string_view line) {
    if (line == "HELLO") {
      handshake_done("u", "client-1");
      transport().send("WELCOME " + std::string(caller().certificate_name) + "\n");
    } else if (line == "QUIT") {
      transport().send("GOODBYE\n");
      transport().shut();
    } else if (line.substr(0, 4) == "BIG ") {
      std::string big(static_cast<size_t>(std::stoul(std::string(line.substr(4)))), 'x');
      transport().send(queue::Body::adopt(std::move(big)));
      transport().send(".\n");
    } else {
      count_in();
      transport().send(std::string(line) + "\n");
      count_out();
    }
  }
};

std::unique_ptr<Endpoint> make_lines(WireWorld& world, EndpointLimits limits = {}) {
  EndpointOptions options;
  options.protocol = "lines";
  options.channel = "LINES";
  options.limits = limits;
  options.websocket_subprotocols = {"v1.lines"};
  options.websocket_sends_text = true;
  return std::make_unique<Endpoint>(*world.pool, *world.broker, options,
                                    [](SessionHost& host, std::unique_ptr<Transport> transport) {
                                      return std::make_shared<LineSession>(host,
                                                                           std::move(transport));
                                    });
}

TEST_CASE("wire endpoint: lines in pieces of any size, counted and ended") {
  WireWorld world;
  g_lines_ended = 0;
  auto endpoint = make_lines(world);
  REQUIRE(endpoint->listen("127.0.0.1", 0).ok());
  {
    RawClient client(endpoint->port());
    client.send("HEL");
    client.send("LO\nONE\nTW");
    CHECK(client.receive_until("\n") == "WELCOME \n");
    CHECK(client.receive_until("\n") == "ONE\n");
    client.send("O\n");
    CHECK(client.receive_until("\n") == "TWO\n");
    CHECK(endpoint->channel_status().size() == 1);
    CHECK(endpoint->channel_status().at(0).user == "u");
    client.send("QUIT\n");
    CHECK(client.receive_until("\n") == "GOODBYE\n");
    CHECK(client.receive_end());
  }
  CHECK(eventually([&] { return endpoint->stats().connections == 0; }));
  EndpointStats stats = endpoint->stats();
  CHECK(stats.accepted == 1);
  CHECK(stats.messages_in == 2);
  CHECK(stats.bytes_in == 19);
  CHECK(stats.handshake_failures == 0);
  CHECK(g_lines_ended == 1);
}

TEST_CASE("wire endpoint: a long answer waits for a slow reader and tells when it has gone") {
  WireWorld world;
  auto endpoint = make_lines(world);
  REQUIRE(endpoint->listen("127.0.0.1", 0).ok());
  RawClient client(endpoint->port());
  constexpr size_t kBytes = 20'000'000;
  client.send("HELLO\nBIG 20000000\nAFTER\n");
  CHECK(client.receive_until("\n") == "WELCOME \n");
  CHECK(client.receive_until(".\n").size() == kBytes + 2);
  std::string rest = client.receive_until("\n") + client.receive_until("\n");
  CHECK(rest.find("AFTER\n") != std::string::npos);
  CHECK(rest.find("DRAINED\n") != std::string::npos);
}

TEST_CASE("wire endpoint: who does not log in in time, or sends no end of a line, is closed") {
  WireWorld world;
  EndpointLimits limits;
  limits.handshake_ns = 50 * net::kMillisecond;
  limits.input_bytes_max = 100'000;
  auto endpoint = make_lines(world, limits);
  REQUIRE(endpoint->listen("127.0.0.1", 0).ok());
  RawClient slow(endpoint->port());
  slow.send("HEL");
  CHECK(slow.receive_end());
  RawClient endless(endpoint->port());
  endless.send("HELLO\n" + std::string(300'000, 'x'));
  CHECK(endless.receive_end());
  CHECK(eventually([&] { return endpoint->stats().connections == 0; }));
  CHECK(endpoint->stats().handshake_failures >= 1);
}

TEST_CASE("wire endpoint: limits of connections") {
  WireWorld world;
  EndpointLimits limits;
  limits.connections_max = 2;
  auto endpoint = make_lines(world, limits);
  REQUIRE(endpoint->listen("127.0.0.1", 0).ok());
  RawClient a(endpoint->port());
  RawClient b(endpoint->port());
  a.send("HELLO\n");
  b.send("HELLO\n");
  CHECK(a.receive_until("\n") != "");
  CHECK(b.receive_until("\n") != "");
  RawClient c(endpoint->port());
  CHECK(c.receive_end());
  CHECK(endpoint->stats().refused == 1);
  a.close();
  CHECK(eventually([&] { return endpoint->stats().connections == 1; }));
  RawClient d(endpoint->port());
  d.send("HELLO\n");
  CHECK(d.receive_until("\n") != "");
}

TEST_CASE("wire endpoint: a stop says good-bye, and cuts who does not go") {
  WireWorld world;
  auto endpoint = make_lines(world);
  REQUIRE(endpoint->listen("127.0.0.1", 0).ok());
  RawClient client(endpoint->port());
  client.send("HELLO\n");
  CHECK(client.receive_until("\n") != "");
  std::thread reader([&] {
    CHECK(client.receive_until("\n") == "BYE\n");
    CHECK(client.receive_end());
    client.close();
  });
  endpoint->stop();
  reader.join();
  CHECK(endpoint->stats().connections == 0);
}

TEST_CASE("wire endpoint: the peer's reset ends the session") {
  WireWorld world;
  g_lines_ended = 0;
  auto endpoint = make_lines(world);
  REQUIRE(endpoint->listen("127.0.0.1", 0).ok());
  RawClient client(endpoint->port());
  client.send("HELLO\n");
  CHECK(client.receive_until("\n") != "");
  client.reset();
  CHECK(eventually([] { return g_lines_ended == 1; }));
}

std::string masked_frame(uint8_t first, std::string_view payload) {
  std::string out(1, static_cast<char>(first));
  if (payload.size() < 126) {
    out += static_cast<char>(0x80 | payload.size());
  } else {
    out += static_cast<char>(0x80 | 126);
    out += static_cast<char>(payload.size() >> 8);
    out += static_cast<char>(payload.size());
  }
  const char mask[4] = {1, 2, 3, 4};
  out.append(mask, 4);
  for (size_t i = 0; i < payload.size(); ++i) out += static_cast<char>(payload[i] ^ mask[i & 3]);
  return out;
}

constexpr std::string_view kUpgrade =
    "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: keep-alive, "
    "Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Protocol: v9.lines, v1.lines\r\n\r\n";

TEST_CASE("wire websocket: the same protocol within frames, fragments and pings between them") {
  WireWorld world;
  auto endpoint = make_lines(world);
  REQUIRE(endpoint->listen("127.0.0.1", 0).ok());
  RawClient client(endpoint->port());
  client.send(kUpgrade.substr(0, 2));  // not known yet
  client.send(kUpgrade.substr(2));
  std::string head = client.receive_until("\r\n\r\n");
  // The example of RFC 6455, section 1.3.
  CHECK(head.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n") != std::string::npos);
  CHECK(head.find("Sec-WebSocket-Protocol: v1.lines\r\n") != std::string::npos);
  client.send(masked_frame(0x01, "HEL") + masked_frame(0x89, "hi") + masked_frame(0x80, "LO\n"));
  REQUIRE(client.receive_bytes(4 + 11));
  CHECK(client.received == std::string("\x8A\x02hi\x81\x09WELCOME \n", 15));
  client.received.clear();
  std::string all = masked_frame(0x82, "one\n");
  for (char c : all) client.send({&c, 1});
  REQUIRE(client.receive_bytes(6));
  CHECK(client.received == std::string("\x81\x04one\n", 6));
  client.received.clear();
  client.send(masked_frame(0x88, std::string("\x03\xE8", 2)));
  CHECK(client.receive_end());
  CHECK(client.received == std::string("\x88\x02\x03\xE8", 4));
}

TEST_CASE("wire websocket: what is no handshake, and frames that are not to the RFC") {
  WireWorld world;
  auto endpoint = make_lines(world);
  REQUIRE(endpoint->listen("127.0.0.1", 0).ok());
  for (std::string_view request :
       {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
        "Sec-WebSocket-Version: 12\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhl\r\n\r\n"}) {
    RawClient client(endpoint->port());
    client.send(request);
    CHECK(client.receive_end());
    CHECK(client.received.substr(0, 10) == "HTTP/1.1 4");
  }
  struct Case {
    std::string frames;
    int code;
  };
  for (const Case& c : {Case{std::string("\x81\x02hi", 4), 1002},  // not masked
                        Case{masked_frame(0xC1, "hi"), 1002},      // a reserved bit
                        Case{masked_frame(0x80, "hi"), 1002},      // continues nothing
                        Case{masked_frame(0x01, "a") + masked_frame(0x81, "b"), 1002},
                        Case{masked_frame(0x83, "hi"), 1002},                   // unknown
                        Case{masked_frame(0x09, "hi"), 1002},                   // ping in fragments
                        Case{masked_frame(0x89, std::string(126, 'x')), 1002},  // too long for one
                        Case{masked_frame(0x88, "x"), 1002}, Case{masked_frame(0x81, "\xFF"), 1007},
                        Case{masked_frame(0x81, "\xC3"), 1007}}) {
    RawClient client(endpoint->port());
    client.send(std::string(kUpgrade) + c.frames);
    CHECK(client.receive_end());
    size_t at = client.received.find("\r\n\r\n");
    REQUIRE(at != std::string::npos);
    std::string close("\x88\x02", 2);
    close += static_cast<char>(c.code >> 8);
    close += static_cast<char>(c.code);
    CHECK(client.received.substr(at + 4) == close);
  }
}

// The other end of a connection, made by us.
struct LineClient final : TransportHandler {
  void on_connected() override { transport->send("HELLO\n"); }
  size_t on_received(std::string_view bytes) override {
    received += bytes;
    if (received == "WELCOME client\n") transport->send("BIG 3000000\n");
    constexpr size_t kAll = 15 + 3'000'000 + 2;
    if (received.size() >= kAll) transport->send("QUIT\n");
    return bytes.size();
  }
  void on_closed(CloseReason) override { is_closed = true; }
  std::string received;
  std::atomic<bool> is_closed{false};
  std::unique_ptr<Transport> transport;
};

TEST_CASE("wire endpoint: TLS with the client's certificate, both ends being transports") {
  using net::testing::make_certificate;
  using net::testing::TestCertificate;
  using net::testing::TestPki;
  WireWorld world;
  TestPki pki;
  TestCertificate certificate = make_certificate({"client"}, &pki.authority);
  net::TlsServerSettings settings = pki.server_settings();
  settings.client_auth = net::TlsClientAuth::kRequired;
  settings.truststore.path = pki.authority_file;
  auto server = net::TlsServer::create(settings);
  REQUIRE(server.ok());
  net::TlsClientSettings client_settings = pki.client_settings();
  client_settings.keystore.path = pki.folder.write("client.pem", pem_of(certificate, true));
  auto endpoint = make_lines(world);
  REQUIRE(endpoint->listen_tls("127.0.0.1", 0, std::move(server).take_value()).ok());
  for (bool has_certificate : {true, false}) {
    if (!has_certificate) client_settings.keystore.path.clear();
    auto context = net::TlsContext::create_client(client_settings);
    REQUIRE(context.ok());
    LineClient client;
    Transport::ConnectOptions options;
    options.addresses = {
        net::resolve_for_listening("127.0.0.1", endpoint->tls_port()).take_value()};
    options.tls = context.value();
    options.host = "localhost";
    world.on_reactor([&] {
      client.transport = Transport::connect(world.pool->reactor(0), options);
      client.transport->start(client);
    });
    CHECK(eventually([&] { return client.is_closed.load(); }));
    world.on_reactor([&] { client.transport.reset(); });
    if (has_certificate) {
      CHECK(client.received.size() >= 15 + 3'000'000 + 2 + 8);
      CHECK(client.received.find("GOODBYE\n") != std::string::npos);
      CHECK(client.received.substr(0, 15) == "WELCOME client\n");
    } else {
      CHECK(client.received == "");
    }
  }
}

TEST_CASE("wire transport: nobody listens") {
  WireWorld world;
  LineClient client;
  Transport::ConnectOptions options;
  options.addresses = {net::resolve_for_listening("127.0.0.1", 1).take_value()};
  world.on_reactor([&] {
    client.transport = Transport::connect(world.pool->reactor(0), options);
    client.transport->start(client);
  });
  CHECK(eventually([&] { return client.is_closed.load(); }));
  world.on_reactor([&] {
    CHECK(client.transport->failure() != "");
    client.transport.reset();
  });
}

}  // namespace
}  // namespace millstream::wire
