// The server and the client over TLS and HTTP/2, on sockets of this machine.
#include <doctest/doctest.h>

#include "http/client.h"
#include "http/errors_gen.h"
#include "http/http2_client_for_test.h"
#include "http/server_for_test.h"
#include "net/errors_gen.h"
#include "net/tls_for_test.h"

namespace millstream::http {
namespace {

using net::testing::TestPki;
using testing::echo_request;
using testing::RawClient;
using testing::TestServer;

struct SecureServer : TestServer {
  explicit SecureServer(Server::Handler handler = echo_request,
                        net::TlsServerSettings settings = {}, ServerOptions options = {})
      : TestServer(std::move(handler), options) {
    if (settings.keystore.path.empty()) settings.keystore.path = pki.server_file;
    tls = net::TlsServer::create(settings).take_value();
    secure_port = server->listen("127.0.0.1", 0, {tls, true}).take_value();
  }
  // Runs in a fiber of the server's own reactor.
  void in_fiber(const std::function<void(ClientPool&)>& body) {
    pool->run_on(0, [&] {
      ClientPool client(*net::Reactor::current());
      body(client);
    });
  }
  ClientRequest request(const std::string& target, std::shared_ptr<const net::TlsContext> context) {
    ClientRequest r;
    r.url.is_https = true;
    r.url.host = "localhost";
    r.url.port = secure_port;
    r.url.target = target;
    r.tls = std::move(context);
    return r;
  }
  std::shared_ptr<const net::TlsContext> trusting() const {
    return net::TlsContext::create_client(pki.client_settings()).take_value();
  }
  TestPki pki;
  std::shared_ptr<net::TlsServer> tls;
  int secure_port = 0;
};

TEST_CASE("https: a request goes over TLS and the connection is used again") {
  SecureServer server([](RequestRef request) {
    CHECK(request->is_secure());
    echo_request(std::move(request));
  });
  server.in_fiber([&](ClientPool& client) {
    const auto context = server.trusting();
    for (size_t size : {size_t{10}, size_t{100'000}, size_t{5'000'000}}) {
      ClientRequest request = server.request("/x", context);
      const std::string body(size, 'b');
      request.body = body;
      auto response = client.send(request);
      REQUIRE(response.ok());
      CHECK(response.value().status == 200);
      CHECK((response.value().body == body));
      CHECK(response.value().sent_bytes > size);
    }
    CHECK(client.connections_made() == 1);
    // Another context is another connection.
    CHECK(client.send(server.request("/y", server.trusting())).ok());
    CHECK(client.connections_made() == 2);
  });
}

TEST_CASE("https: the certificate must fit, and http must not be mixed up with it") {
  SecureServer server;
  server.in_fiber([&](ClientPool& client) {
    net::TlsClientSettings settings = server.pki.client_settings();
    settings.truststore.path = server.pki.folder.write(
        "other.pem",
        net::testing::pem_of(net::testing::make_certificate({"Other", {}, true}), false));
    auto stranger = net::TlsContext::create_client(settings).take_value();
    auto response = client.send(server.request("/", stranger));
    REQUIRE_FALSE(response.ok());
    CHECK(response.error().code == &errors::kWebServiceSocket);
    CHECK(response.error().innermost().code == &net::errors::kTlsHandshake);
    CHECK(response.error().innermost().text.find("unable to get local issuer") !=
          std::string::npos);

    ClientRequest plain = server.request("/", server.trusting());
    plain.url.port = server.port;  // no TLS there
    response = client.send(plain);
    REQUIRE_FALSE(response.ok());
    plain = server.request("/", nullptr);
    response = client.send(plain);
    REQUIRE_FALSE(response.ok());
    CHECK(response.error().innermost().code == &errors::kNoTlsContext);
  });
  // Plain HTTP on the HTTPS port: the connection ends, and others go on.
  RawClient raw(server.secure_port);
  raw.send(testing::kGet);
  raw.read_to_end();
}

TEST_CASE("https: the handler sees the client's certificate") {
  TestPki clients;
  net::TlsServerSettings settings;
  settings.truststore.path = clients.authority_file;
  settings.client_auth = net::TlsClientAuth::kOptional;
  std::string seen;
  SecureServer server(
      [&](RequestRef request) {
        const net::TlsPeer* peer = request->tls_peer();
        seen = peer ? peer->subject : "none";
        echo_request(std::move(request));
      },
      settings);
  server.in_fiber([&](ClientPool& client) {
    CHECK(client.send(server.request("/", server.trusting())).ok());
    CHECK(seen == "none");
    net::TlsClientSettings own = server.pki.client_settings();
    own.keystore.path = clients.server_file;
    auto context = net::TlsContext::create_client(own).take_value();
    CHECK(client.send(server.request("/", context)).ok());
    CHECK(seen == "CN=localhost");
  });
}

TEST_CASE("https: a handshake that does not come ends in its own time") {
  SecureServer server;
  RawClient silent(server.secure_port);
  RawClient slow(server.secure_port);
  slow.send(std::string_view("\x16\x03\x01", 3));
  server.wait_for([&] { return server.server->stats().connections == 2; });
  server.advance(9 * net::kSecond);
  CHECK(server.server->stats().connections == 2);
  server.advance(2 * net::kSecond);
  CHECK(silent.read_to_end().empty());
  slow.read_to_end();
  server.wait_for([&] { return server.server->stats().connections == 0; });
}

// Everything that the server sends, through an Http2Client.
struct PlainHttp2 {
  explicit PlainHttp2(int port) : raw(port) {}
  void exchange(const std::function<bool()>& is_done) {
    while (!is_done()) {
      raw.send(client.output());
      const std::string got = raw.read_some();
      if (got.empty()) return;
      client.feed(got);
    }
    raw.send(client.output());
  }
  RawClient raw;
  testing::Http2Client client;
};

TEST_CASE("http2 server: prior knowledge on the plain port, many streams, bodies") {
  TestServer server(echo_request);
  PlainHttp2 peer(server.port);
  std::vector<int32_t> ids;
  for (int i = 0; i < 50; ++i) {
    ids.push_back(peer.client.request("POST", "/" + std::to_string(i), {},
                                      std::string(static_cast<size_t>(i) * 3000 + 1, 'b')));
  }
  peer.exchange([&] {
    for (int32_t id : ids) {
      if (!peer.client.replies[id].is_closed) return false;
    }
    return true;
  });
  for (size_t i = 0; i < ids.size(); ++i) {
    CHECK(peer.client.replies[ids[i]].status == "200");
    CHECK(peer.client.replies[ids[i]].body.size() == i * 3000 + 1);
    CHECK(peer.client.replies[ids[i]].headers["x-path"] == "/" + std::to_string(i));
  }
  CHECK(server.server->stats().in_flight == 0);
  CHECK(server.server->stats().requests == 50);
}

TEST_CASE("http2 server: replies that come later, time-outs, and streams that are given up") {
  std::vector<RequestRef> kept;
  std::atomic<int> count{0};
  std::atomic<int> gone{0};
  TestServer server([&](RequestRef request) {
    request->set_on_gone([&](Request&) { ++gone; });
    kept.push_back(request);
    ++count;
  });
  PlainHttp2 peer(server.port);
  const int32_t late = peer.client.request("GET", "/late");
  const int32_t lost = peer.client.request("GET", "/lost");
  const int32_t timed_out = peer.client.request("GET", "/never");
  peer.exchange([&] { return count == 3; });
  CHECK(server.server->stats().in_flight == 3);
  kept[0]->reply(201, "text/plain", "late");  // from another thread
  peer.exchange([&] { return peer.client.replies[late].is_closed; });
  CHECK(peer.client.replies[late].status == "201");
  CHECK(peer.client.replies[late].body == "late");
  peer.client.reset(lost);
  peer.raw.send(peer.client.output());
  server.wait_for([&] { return gone == 2; });
  CHECK_FALSE(kept[1]->reply(200, "", "too late"));
  server.advance(181 * net::kSecond);
  peer.exchange([&] { return peer.client.replies[timed_out].is_closed; });
  CHECK(peer.client.replies[timed_out].status == "504");
  CHECK(server.server->stats().in_flight == 0);
  kept.clear();
}

TEST_CASE("http2 server: a stop lets streams in flight finish") {
  std::vector<RequestRef> kept;
  std::atomic<int> count{0};
  TestServer server([&](RequestRef request) {
    kept.push_back(request);
    ++count;
  });
  PlainHttp2 peer(server.port);
  const int32_t id = peer.client.request("GET", "/");
  peer.exchange([&] { return count == 1; });
  std::thread stopper([&] { server.server->stop(10 * net::kSecond); });
  peer.exchange([&] { return peer.client.goaway_error != UINT32_MAX; });
  CHECK(peer.client.goaway_error == NGHTTP2_NO_ERROR);
  kept[0]->reply(200, "text/plain", "done");
  kept.clear();
  peer.exchange([&] { return peer.client.replies[id].is_closed; });
  CHECK(peer.client.replies[id].body == "done");
  stopper.join();
  peer.exchange([] { return false; });  // until the server closes
}

TEST_CASE("http2 server: a client that takes nothing is let go, and holds nothing") {
  TestServer server(
      [](RequestRef request) { request->reply(200, "text/plain", std::string(10'000'000, 'r')); });
  PlainHttp2 peer(server.port);
  for (int i = 0; i < 20; ++i) peer.client.request("GET", "/");
  peer.raw.send(peer.client.output());
  server.wait_for([&] { return server.server->stats().requests == 20; });
  // The reactor may see several steps of the clock as one.
  server.wait_for([&] {
    server.advance(net::kSecond);
    return server.server->stats().connections == 0;
  });
  CHECK(server.server->stats().in_flight == 0);
}

TEST_CASE("http2 server: idle connections end") {
  TestServer server(echo_request);
  PlainHttp2 peer(server.port);
  const int32_t id = peer.client.request("GET", "/");
  peer.exchange([&] { return peer.client.replies[id].is_closed; });
  // What the client said last may arrive after the first step of the clock.
  server.wait_for([&] {
    server.advance(net::kSecond);
    return server.server->stats().connections == 0;
  });
  peer.exchange([] { return false; });
  CHECK(peer.client.goaway_error == NGHTTP2_NO_ERROR);
}

TEST_CASE("http2 server: what only begins like HTTP/2 is HTTP/1.1") {
  TestServer server(echo_request);
  RawClient raw(server.port);
  for (const char* piece : {"P", "OST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok"}) {
    raw.send(piece);
  }
  CHECK(testing::body_of(raw.read_reply()) == "ok");
  RawClient wrong(server.port);
  wrong.send("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n");
  CHECK(testing::status_of(wrong.read_reply()) >= 400);
}

}  // namespace
}  // namespace millstream::http
