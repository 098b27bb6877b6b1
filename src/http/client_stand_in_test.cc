#include <doctest/doctest.h>

#include <cstring>

#include "http/client.h"
#include "net/reactor_pool.h"

namespace {
namespace net = millstream::net;
namespace http = millstream::http;

class Echo final : public http::ClientStandIn {
 public:
  millstream::Status answer(const http::ClientRequest& request, net::Reactor& reactor,
                            http::ClientResponse& response) override {
    ++calls;
    response.status = 203;
    response.buffer = reactor.buffers().take(request.body.size() + 1);
    std::memcpy(response.buffer.data(), request.body.data(), request.body.size());
    response.body = {response.buffer.data(), request.body.size()};
    return {};
  }
  int calls = 0;
};

TEST_CASE("http client: a stand-in answers in place of the network, on its thread only") {
  auto pool = net::ReactorPool::create(1).take_value();
  Echo echo;
  pool->run_on(0, [&] {
    http::set_client_stand_in(&echo);
    http::ClientRequest request;
    request.url = http::parse_url("https://nowhere.invalid:1/x").take_value();
    request.url.is_https = false;
    request.body = "hello";
    http::ClientPool clients(*net::Reactor::current());
    auto response = clients.send(request);
    REQUIRE(response.ok());
    CHECK(response.value().status == 203);
    CHECK(response.value().body == "hello");
    CHECK(clients.connections_made() == 0);

    http::ClientPool network(*net::Reactor::current(), {.is_always_network = true});
    CHECK_FALSE(network.send(request).ok());
    http::set_client_stand_in(nullptr);
    CHECK_FALSE(clients.send(request).ok());
  });
  CHECK(echo.calls == 1);
  pool->stop();
}

}  // namespace
