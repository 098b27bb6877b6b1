// HTTPAsyncRequest and HTTPAsyncResponse with a stand-in for the network.
#include "http/client.h"
#include "nodes/common/async_requests.h"
#include "nodes/node_test_support.h"

namespace millstream::nodes {
namespace {

using millstream::http::ClientRequest;
using millstream::http::ClientResponse;

// Answers "<status of the X-Want header><body>" after an hour; status 0: no answer.
class SlowBackEnd final : public millstream::http::ClientStandIn {
 public:
  Status answer(const ClientRequest& request, net::Reactor& reactor,
                ClientResponse& response) override {
    ++asked;
    gate.wait();
    if (status == 0) return base::make_error(flow::test::kOops);
    const std::string body = "<got>" + std::string(request.body) + "</got>";
    response.buffer = reactor.buffers().take(body.size());
    std::copy(body.begin(), body.end(), response.buffer.data());
    response.body = {response.buffer.data(), body.size()};
    response.status = status;
    response.reason = "Well";
    return {};
  }
  net::FiberEvent gate;
  int asked = 0;
  int status = 200;
};

struct AsyncHttpFixture : test::NodeFixture {
  common::AsyncRequests requests;
  SlowBackEnd back_end;
  explicit AsyncHttpFixture(bool wires_error = true) {
    services.set(&requests);
    node("ComIbmHTTPAsyncRequest", "Ask",
         {{"asyncResponseCorrelator", "p"}, {"URLSpecifier", "http://back.end/x"}});
    node("ComIbmHTTPAsyncResponse", "Answer",
         {{"asyncRequestCorrelator", "p"}, {"messageDomainProperty", "XMLNSC"}});
    wires({"In.out -> Ask", "Ask.out -> sent", "Answer.out -> out", "Answer.failure -> failed"});
    if (wires_error) wires({"Answer.error -> error"});
    REQUIRE(build());
    auto made = net::ReactorPool::create(1);
    REQUIRE(made.ok());
    pool = std::move(made).take_value();
  }
  // So many messages are sent; then all answers come.
  std::string run_all(int count) {
    pool->run_on(0, [&] {
      millstream::http::set_client_stand_in(&back_end);
      for (int i = 0; i < count; ++i) {
        flow::PooledArena message_arena(names);
        flow::Invocation invocation(*flow, *message_arena);
        tree::MessageAssembly message = message_arena->make_assembly();
        parsers::headers::make_properties(message_arena->context(), message.root, {});
        tree::Element* http =
            tree::ensure_child(message_arena->context(), message.environment, "HTTP");
        tree::set_child(message_arena->context(), http, "UserContext",
                        value::Value::make_integer(i));
        CHECK(invocation.run_from_input(*flow->find_node("In"), message, 0).ok());
      }
      while (back_end.asked < count) net::Fiber::current()->yield();
      CHECK(flow->instances().in_use() == 0);
      CHECK(requests.outstanding() == static_cast<size_t>(count));
      CHECK(flow->holds() == static_cast<size_t>(2 * count));
      back_end.gate.set();
      while (requests.outstanding() > 0) net::Fiber::current()->yield();
      millstream::http::set_client_stand_in(nullptr);
    });
    return std::exchange(observed.events, {});
  }
};

TEST_CASE("http async: answers start the response flow, with nothing held meanwhile") {
  AsyncHttpFixture f;
  int sum = 0;
  f.observed.look = [&](const std::string& sink, flow::Invocation&,
                        const tree::MessageAssembly& in) {
    if (sink != "out") return;
    tree::Element* http = tree::find_child(in.environment, "HTTP");
    sum += static_cast<int>(tree::scalar_value(tree::find_child(http, "UserContext")).integer);
    http = tree::find_child(in.local_environment, "HTTP");
    tree::Element* response = tree::find_child(http, "Response");
    CHECK(tree::scalar_value(tree::find_child(response, "StatusCode")).integer == 200);
    CHECK(tree::find_domain(in.root, "HTTPResponseHeader") != nullptr);
  };
  const std::string events = f.run_all(300);
  CHECK(sum == 299 * 300 / 2);
  CHECK(events.find("out<<got></got>>") != std::string::npos);
  CHECK(f.flow->holds() == 0);
}

TEST_CASE("http async: error statuses and broken exchanges have terminals of their own") {
  struct Case {
    int status;
    bool wires_error;
    const char* events;
  };
  for (const Case& c : {Case{503, true, "sent<> error<<got></got>>"},
                        Case{503, false, "sent<> failed<<got></got>>[2230>1840]"},
                        Case{0, true, "sent<> failed<>[2230>3162>3152>1998]"}}) {
    CAPTURE(c.events);
    AsyncHttpFixture f(c.wires_error);
    f.back_end.status = c.status;
    CHECK(f.run_all(1) == c.events);
  }
}

}  // namespace
}  // namespace millstream::nodes
