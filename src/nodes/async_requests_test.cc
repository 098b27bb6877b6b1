#include "nodes/common/async_requests.h"

#include "nodes/node_test_support.h"

namespace millstream::nodes {
namespace {

using common::AsyncKind;
using common::AsyncRequests;
using value::Value;

class FakeResponder final : public common::AsyncResponder {
 public:
  explicit FakeResponder(flow::Flow& f) : flow_(f) {}
  flow::Flow& flow() const override { return flow_; }

 private:
  flow::Flow& flow_;
};

// A flow, and a message in it with everything that an answer gets back.
struct AsyncFixture : test::NodeFixture {
  AsyncRequests requests;
  AsyncFixture() {
    node("ComIbmPassthru", "Ask");
    wires({"In.out -> Ask"});
    REQUIRE(build());
  }
  std::shared_ptr<FakeResponder> responder() { return std::make_shared<FakeResponder>(*flow); }
  template <typename Do>
  void with_message(const Do& act) {
    flow::Invocation invocation(*flow, *arena);
    tree::TreeContext& context = arena->context();
    tree::MessageAssembly message = arena->make_assembly();
    auto in = [&](tree::Element* e, std::initializer_list<const char*> path) {
      for (const char* step : path) e = tree::ensure_child(context, e, step);
      return e;
    };
    tree::set_child(context, in(message.local_environment, {"Destination", "HTTP"}),
                    "RequestIdentifier", Value::make_blob("who asked"));
    tree::set_child(context, in(message.environment, {"REST", "UserContext"}), "order",
                    Value::make_integer(7));
    act(invocation, message);
  }
};

TEST_CASE("async requests: without a response node nothing is sent") {
  AsyncFixture f;
  f.with_message([&](flow::Invocation& invocation, const tree::MessageAssembly& in) {
    auto refused = f.requests.begin(AsyncKind::kRest, f.application, "pair",
                                    *f.flow->find_node("Ask"), invocation, in);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().number == 1933);
  });
  CHECK(f.requests.outstanding() == 0);
  CHECK(f.flow->holds() == 0);
}

TEST_CASE("async requests: the answer's message knows who asked and what the flow kept") {
  AsyncFixture f;
  REQUIRE(f.requests.add(AsyncKind::kRest, f.application, "pair", "Answer", f.responder()).ok());
  std::shared_ptr<common::AsyncRequest> pending;
  f.with_message([&](flow::Invocation& invocation, const tree::MessageAssembly& in) {
    auto begun = f.requests.begin(AsyncKind::kRest, f.application, "pair",
                                  *f.flow->find_node("Ask"), invocation, in);
    REQUIRE(begun.ok());
    pending = std::move(begun).value();
    tree::Element* rest = tree::find_child(in.environment, "REST");
    CHECK(tree::scalar_value(tree::find_child(rest, "CorrelationID")).text() ==
          pending->identifier());
  });
  CHECK(pending->identifier().size() == 24);
  CHECK(f.requests.outstanding() == 1);
  CHECK(f.flow->holds() == 2);  // as the flow that asks and as the one that gets the answer
  tree::MessageArena other(f.names);
  tree::MessageAssembly message = other.make_assembly();
  REQUIRE(
      common::restore_async_context(AsyncKind::kRest, pending->context(), other.context(), message)
          .ok());
  std::string dump;
  tree::dump(message.local_environment, dump);
  tree::dump(message.environment, dump);
  CHECK(dump.find("RequestIdentifier = X'77686f2061736b6564'") != std::string::npos);
  CHECK(dump.find("order = 7 (INTEGER)") != std::string::npos);
  pending.reset();
  CHECK(f.requests.outstanding() == 0);
  CHECK(f.flow->holds() == 0);
}

TEST_CASE(
    "async requests: a newer version of the application takes over, the old one is a last resort") {
  AsyncFixture f;
  common::Application newer = f.application, other = f.application;
  other.name = "Other";
  auto first = f.responder(), second = f.responder(), foreign = f.responder();
  REQUIRE(f.requests.add(AsyncKind::kHttp, f.application, "p", "Answer", first).ok());
  Status twice = f.requests.add(AsyncKind::kHttp, f.application, "p", "Second", f.responder());
  REQUIRE_FALSE(twice.ok());
  CHECK(twice.error().text ==
        "The HTTP response nodes 'Second' and 'Answer' have the same unique identifier 'p'.");
  std::shared_ptr<common::AsyncRequest> pending;
  f.with_message([&](flow::Invocation& invocation, const tree::MessageAssembly& in) {
    pending =
        f.requests
            .begin(AsyncKind::kHttp, f.application, "p", *f.flow->find_node("Ask"), invocation, in)
            .take_value();
  });
  flow::FlowHold hold;
  CHECK(pending->responder(hold) == first);
  REQUIRE(f.requests.add(AsyncKind::kHttp, other, "p", "Answer", foreign).ok());
  CHECK(pending->responder(hold) == first);
  REQUIRE(f.requests.add(AsyncKind::kHttp, newer, "p", "Answer", second).ok());
  CHECK(pending->responder(hold) == second);
  f.requests.remove(first.get());
  f.requests.remove(second.get());
  CHECK(pending->responder(hold) == foreign);
  f.requests.remove(foreign.get());
  CHECK(pending->responder(hold) == first);
}

}  // namespace
}  // namespace millstream::nodes
