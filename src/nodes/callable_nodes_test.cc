// Callable flows within one server: what goes there and comes back, errors, time-outs, limits.
#include "flow/flow_hold.h"
#include "nodes/callable/callable_flows.h"
#include "nodes/common/async_requests.h"
#include "nodes/node_test_support.h"

namespace millstream::nodes {
namespace {

using callable::CallableFlows;
using test::NodeFixture;
using value::Value;

// What callers and callees of one server share.
struct CallWorld {
  CallableFlows flows;
  common::AsyncRequests requests;
};

struct CallFixture : NodeFixture {
  explicit CallFixture(CallWorld& world, std::string name = "App", std::string esql = "")
      : NodeFixture(std::move(esql)) {
    application.name = std::move(name);
    services.set(&world.flows);
    services.set(&world.requests);
  }
};

constexpr const char* kCalleeEsql =
    "CREATE COMPUTE MODULE Answer CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
    "SET OutputLocalEnvironment = InputLocalEnvironment; "
    "SET OutputLocalEnvironment.Variables.Callee = 'was here'; "
    "SET Environment.Variables.Secret = 1; "
    "SET OutputRoot = InputRoot; "
    "SET OutputRoot.XMLNSC.Order.Price = CAST(InputRoot.XMLNSC.Order.Count AS INTEGER) * DECIMAL "
    "'2.50'; "
    "RETURN TRUE; END; END MODULE;\n"
    "CREATE COMPUTE MODULE Bad CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
    "THROW USER EXCEPTION MESSAGE 2951 VALUES('no stock'); RETURN TRUE; END; END MODULE;\n";

// Endpoint "price": CallableInput -> Compute -> CallableReply -> after.
void make_callee(NodeFixture& f, const char* module, const char* endpoint = "price") {
  f.node("ComIbmCallableFlowInput", "Called", {{"callableInputEndpoint", endpoint}});
  f.node("ComIbmCompute", "C",
         {{"computeExpression", std::string("esql://routine/#") + module + ".Main"},
          {"computeMode", "destinationAndMessage"}});
  f.node("ComIbmCallableFlowReply", "Reply");
  f.wires({"Called.out -> C", "C.out -> Reply", "Reply.out -> after"});
  REQUIRE(f.build());
}

test::TestProperties target(const char* application, const char* endpoint) {
  return {{"targetApplication", application}, {"targetEndpointName", endpoint}};
}

void make_caller(NodeFixture& f, test::TestProperties properties, bool wires_error = true) {
  f.node("ComIbmCallableFlowInvoke", "Call", properties);
  f.wires({"In.out -> Call", "Call.out -> back", "Call.failure -> failed"});
  if (wires_error) f.wires({"Call.error -> error"});
  REQUIRE(f.build());
}

TEST_CASE("callable: message and LocalEnvironment go there and back, Environment stays") {
  CallWorld world;
  CallFixture callee(world, "Stock", kCalleeEsql);
  make_callee(callee, "Answer");
  CallFixture caller(world);
  make_caller(caller, target("Stock", "price"));
  std::string seen;
  caller.observed.look = [&](const std::string&, flow::Invocation&,
                             const tree::MessageAssembly& in) {
    tree::dump(in.local_environment, seen);
    tree::dump(in.environment, seen);
  };
  const std::string out = caller.run(
      "XMLNSC", "<Order><Count>4</Count></Order>",
      [](tree::TreeContext& context, tree::MessageAssembly& in) {
        tree::Element* e = tree::ensure_child(context, in.local_environment, "Variables");
        tree::set_child(context, e, "Caller", Value::make_integer(1));
        tree::set_child(context, in.environment, "Mine", Value::make_integer(2));
      });
  CHECK(out == "back<<Order><Count>4</Count><Price>10.00</Price></Order>>");
  CHECK(seen.find("Caller = 1") != std::string::npos);
  CHECK(seen.find("Callee = 'was here'") != std::string::npos);
  CHECK(seen.find("Mine = 2") != std::string::npos);
  CHECK(seen.find("Secret") == std::string::npos);
  CHECK(seen.find("ReplyIdentifier") == std::string::npos);
  CHECK(callee.observed.events == "after<<Order><Count>4</Count><Price>10.00</Price></Order>>");
  CHECK(world.flows.waiting_calls() == 0);
  CHECK(callee.flow->holds() == 0);
  CHECK(callee.flow->instances().in_use() == 0);
}

TEST_CASE("callable: exceptions of the callee reach the caller below its own") {
  CallWorld world;
  CallFixture callee(world, "Stock", kCalleeEsql);
  make_callee(callee, "Bad");
  CallFixture caller(world);
  make_caller(caller, target("Stock", "price"));
  std::string list;
  caller.observed.look = [&](const std::string&, flow::Invocation&,
                             const tree::MessageAssembly& in) {
    tree::dump(in.exception_list, list);
  };
  CHECK(caller.run("XMLNSC", "<a/>") == "error<<a/>>[2230>1928>2230>2488>2951]");
  CHECK(list.find("no stock") != std::string::npos);
  CHECK(list.find("F.C") != std::string::npos);
  CallFixture unwired(world);
  make_caller(unwired, target("Stock", "price"), false);
  CHECK(unwired.run("XMLNSC", "<a/>") == "failed<<a/>>[2230>1928>2230>2488>2951]");
}

TEST_CASE("callable: a target that is not there is named, with those that are") {
  CallWorld world;
  CallFixture callee(world, "Stock", kCalleeEsql);
  make_callee(callee, "Answer");
  CallFixture caller(world);
  make_caller(caller, target("Stock", "Price"));
  std::string list;
  caller.observed.look = [&](const std::string&, flow::Invocation&,
                             const tree::MessageAssembly& in) {
    tree::dump(in.exception_list, list);
  };
  CHECK(caller.run("XMLNSC", "<a/>") == "failed<<a/>>[2230>1926]");
  CHECK(list.find("this server runs Stock/price") != std::string::npos);
  callee.flow->stop();
  CHECK(caller.run("XMLNSC", "<a/>") == "failed<<a/>>[2230>1926]");
  CHECK(list.find("this server runs no callable flow") != std::string::npos);
}

TEST_CASE("callable: the LocalEnvironment may choose the target") {
  CallWorld world;
  CallFixture callee(world, "Stock", kCalleeEsql);
  make_callee(callee, "Answer");
  CallFixture caller(world);
  make_caller(caller, target("Nobody", "nothing"));
  const std::string out = caller.run(
      "XMLNSC", "<Order><Count>1</Count></Order>",
      [](tree::TreeContext& context, tree::MessageAssembly& in) {
        tree::Element* e = tree::ensure_child(context, in.local_environment, "Destination");
        e = tree::ensure_child(context, e, "CallableFlow");
        tree::set_child(context, e, "targetApplication", Value::make_character("Stock"));
        tree::set_child(context, e, "TargetEndpointName", Value::make_character("price"));
      });
  CHECK(out == "back<<Order><Count>1</Count><Price>2.50</Price></Order>>");
}

TEST_CASE("callable: a message that cannot be parsed is the caller's problem") {
  CallWorld world;
  CallFixture callee(world, "Stock", kCalleeEsql);
  make_callee(callee, "Answer");
  CallFixture caller(world);
  make_caller(caller, target("Stock", "price"));
  const std::string out = caller.run("XMLNSC", "<a><b></a>");
  CHECK(out.find("failed<") == 0);
  CHECK(out.find("1928") == std::string::npos);
  CHECK(callee.observed.events.empty());
}

TEST_CASE("callable: flows that call each other without end are stopped") {
  CallWorld world;
  CallFixture f(world, "Loop");
  f.node("ComIbmCallableFlowInput", "Called", {{"callableInputEndpoint", "again"}});
  f.node("ComIbmCallableFlowInvoke", "Call", target("Loop", "again"));
  f.wires({"In.out -> Call", "Called.out -> Call", "Call.out -> back"});
  REQUIRE(f.build());
  const std::string out = f.run("XMLNSC", "<a/>");
  CHECK(out.find("=> 2230>1928>2230>1928>") == 0);
  CHECK(out.ends_with(">1929"));
  CHECK(world.flows.waiting_calls() == 0);
}

TEST_CASE("callable: one endpoint twice in an application is refused, a newer version replaces") {
  CallWorld world;
  CallFixture old(world, "Stock", kCalleeEsql);
  make_callee(old, "Bad");
  CallFixture newer(world, "Stock", kCalleeEsql);
  make_callee(newer, "Answer");
  CallFixture caller(world);
  make_caller(caller, target("Stock", "price"));
  const std::string order = "<Order><Count>2</Count></Order>";
  CHECK(caller.run("XMLNSC", order).find("back<") == 0);
  newer.flow->stop();
  CHECK(caller.run("XMLNSC", order).find("error<") == 0);
  // A redeployment shows the new state at its end, in one step.
  world.flows.begin_change();
  old.flow->stop();
  CHECK(caller.run("XMLNSC", order).find("error<") == 0);
  REQUIRE(newer.flow->start().ok());
  CHECK(caller.run("XMLNSC", order).find("error<") == 0);
  world.flows.end_change();
  CHECK(caller.run("XMLNSC", order).find("back<") == 0);

  CallFixture twice(world, "Twice");
  twice.node("ComIbmCallableFlowInput", "One", {{"callableInputEndpoint", "e"}});
  twice.node("ComIbmCallableFlowInput", "Two", {{"callableInputEndpoint", "e"}});
  CHECK_FALSE(twice.build());
}

constexpr const char* kWaitEsql =
    "CREATE COMPUTE MODULE Slow CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
    "SLEEP(3600000); SET OutputRoot = InputRoot; RETURN TRUE; END; END MODULE;\n";

// Reactor threads on a clock that jumps to the next timer whenever nothing else is to be done.
net::ReactorOptions jumping(base::VirtualClock& clock) {
  net::ReactorOptions options;
  options.clock = &clock;
  options.idle_wait_ms = 1;
  options.on_idle = [&clock](int64_t deadline_ns) {
    if (deadline_ns != net::kNever) clock.advance_ns(deadline_ns - clock.monotonic_ns());
  };
  return options;
}

TEST_CASE("callable: a call is given up after its time, and the late reply hurts nobody") {
  base::VirtualClock clock(1'700'000'000'000'000);
  CallWorld world;
  CallFixture callee(world, "Slow", kWaitEsql);
  callee.node("ComIbmCallableFlowInput", "Called", {{"callableInputEndpoint", "wait"}});
  callee.node("ComIbmCompute", "C", {{"computeExpression", "esql://routine/#Slow.Main"}});
  callee.node("ComIbmCallableFlowReply", "Reply");
  callee.wires({"Called.out -> C", "C.out -> Reply", "Reply.out -> after"});
  REQUIRE(callee.build());
  CallFixture caller(world);
  test::TestProperties properties = target("Slow", "wait");
  properties["requestTimeout"] = "120";
  make_caller(caller, properties);
  auto pool = net::ReactorPool::create(1, jumping(clock));
  REQUIRE(pool.ok());
  caller.pool = std::move(pool).take_value();
  int64_t failed_at_ns = 0;  // the clock goes on as soon as this is done
  caller.observed.look = [&](const std::string&, flow::Invocation&, const tree::MessageAssembly&) {
    failed_at_ns = clock.monotonic_ns();
  };
  CHECK(caller.run("XMLNSC", "<a/>") == "failed<<a/>>[2230>1927]");
  CHECK(failed_at_ns >= 120 * net::kSecond);
  CHECK(failed_at_ns < 3600 * net::kSecond);
  caller.pool->run_on(0, [] { net::sleep_for(4000 * net::kSecond); });
  CHECK(callee.observed.events == "after<<a/>>");
  CHECK(callee.flow->instances().in_use() == 0);
}

// One message, and the fiber goes on until no answer is awaited any more.
std::string run_to_the_end(
    CallFixture& f, const CallWorld& world, const std::string& body,
    const std::function<void(tree::TreeContext&, tree::MessageAssembly&)>& prepare = nullptr) {
  f.pool->run_on(0, [&] {
    {
      flow::PooledArena arena(f.names);
      flow::Invocation invocation(*f.flow, *arena);
      tree::MessageAssembly message = arena->make_assembly();
      Result<common::BodyParserChoice> choice = common::choose_body_parser("XMLNSC", false);
      CHECK(common::add_body(
                arena->context(), message.root, choice.value(),
                arena->arena().copy(body + std::string(64, '\0')).substr(0, body.size()), 1208, 546)
                .ok());
      if (prepare) prepare(arena->context(), message);
      CHECK(invocation.run_from_input(*f.flow->find_node("In"), message, body.size()).ok());
    }
    while (world.requests.outstanding() > 0) net::sleep_for(net::kSecond);
  });
  return std::exchange(f.observed.events, {});
}

TEST_CASE("callable: an asynchronous call ends in the flow of its response node") {
  base::VirtualClock clock(1'700'000'000'000'000);
  CallWorld world;
  CallFixture callee(world, "Stock", kCalleeEsql);
  make_callee(callee, "Answer");
  CallFixture f(world);
  test::TestProperties properties = target("Stock", "price");
  properties["asyncResponseCorrelator"] = "pair";
  f.node("ComIbmCallableFlowAsyncInvoke", "Ask", properties);
  f.node("ComIbmCallableFlowAsyncResponse", "Answer", {{"asyncResponseCorrelator", "pair"}});
  f.wires({"In.out -> Ask", "Ask.out -> sent", "Answer.out -> back", "Answer.failure -> failed"});
  REQUIRE(f.build());
  std::string seen;
  f.observed.look = [&](const std::string& sink, flow::Invocation&,
                        const tree::MessageAssembly& in) {
    if (sink != "back") return;
    tree::dump(in.local_environment, seen);
    tree::dump(in.environment, seen);
  };
  auto prepare = [](tree::TreeContext& context, tree::MessageAssembly& in) {
    tree::Element* e = tree::ensure_child(context, in.local_environment, "Destination");
    e = tree::ensure_child(context, e, "HTTP");
    tree::set_child(context, e, "RequestIdentifier", Value::make_blob("client"));
    e = tree::ensure_child(context, in.environment, "CallableFlow");
    tree::set_child(context, e, "UserContext", Value::make_character("mine"));
  };
  auto pool = net::ReactorPool::create(1, jumping(clock));
  REQUIRE(pool.ok());
  f.pool = std::move(pool).take_value();
  CHECK(run_to_the_end(f, world, "<Order><Count>2</Count></Order>", prepare) ==
        "sent<<Order><Count>2</Count></Order>> "
        "back<<Order><Count>2</Count><Price>5.00</Price></Order>>");
  CHECK(seen.find("UserContext = 'mine'") != std::string::npos);
  CHECK(seen.find("RequestIdentifier = X'636c69656e74'") != std::string::npos);
  CHECK(seen.find("CorrelationID = X'43414c4c01") != std::string::npos);
  CHECK(seen.find("ReplyIdentifier") == std::string::npos);
  CHECK(f.flow->holds() == 0);
}

TEST_CASE("callable: exceptions and time-outs of asynchronous calls go to the response node") {
  base::VirtualClock clock(1'700'000'000'000'000);
  CallWorld world;
  CallFixture callee(world, "Stock", std::string(kCalleeEsql) + kWaitEsql);
  make_callee(callee, "Bad");
  CallFixture slow(world, "Slow", kWaitEsql);
  make_callee(slow, "Slow", "wait");
  struct Case {
    const char *application, *endpoint, *events;
  };
  for (const Case& c : {Case{"Stock", "price", "error<>[2230>1928>2230>2488>2951]"},
                        Case{"Slow", "wait", "failed<>[2230>1927]"}}) {
    CAPTURE(c.application);
    CallFixture f(world, "Caller");
    test::TestProperties properties = target(c.application, c.endpoint);
    properties["asyncResponseCorrelator"] = c.application;
    properties["requestTimeout"] = "5";
    f.node("ComIbmCallableFlowAsyncInvoke", "Ask", properties);
    f.node("ComIbmCallableFlowAsyncResponse", "Answer",
           {{"asyncResponseCorrelator", c.application}});
    f.wires({"In.out -> Ask", "Answer.out -> back", "Answer.error -> error",
             "Answer.failure -> failed"});
    REQUIRE(f.build());
    auto pool = net::ReactorPool::create(1, jumping(clock));
    REQUIRE(pool.ok());
    f.pool = std::move(pool).take_value();
    CHECK(run_to_the_end(f, world, "<a/>") == c.events);
    f.pool->run_on(0, [] { net::sleep_for(7200 * net::kSecond); });  // the late reply
    CHECK(world.requests.outstanding() == 0);
    f.flow->stop();
  }
}

TEST_CASE("callable: another flow may reply, and nobody twice") {
  CallWorld world;
  CallFixture callee(world, "Stock", kCalleeEsql);
  callee.node("ComIbmCallableFlowInput", "Called", {{"callableInputEndpoint", "price"}});
  callee.node("ComIbmCallableFlowReply", "Reply");
  callee.node("ComIbmCallableFlowReply", "Again");
  callee.wires({"Called.out -> Reply", "Reply.out -> Again", "Again.failure -> twice"});
  REQUIRE(callee.build());
  CallFixture caller(world);
  make_caller(caller, target("Stock", "price"));
  CHECK(caller.run("XMLNSC", "<a/>") == "back<<a/>>");
  CHECK(callee.observed.events == "twice<<a/>>[2230>1931]");

  CallFixture lone(world, "Lone");
  lone.node("ComIbmCallableFlowReply", "Reply");
  lone.wires({"In.out -> Reply", "Reply.failure -> failed"});
  REQUIRE(lone.build());
  CHECK(lone.run("XMLNSC", "<a/>") == "failed<<a/>>[2230>1931]");
}

TEST_CASE("callable: many calls at once wait for the instances of the callee") {
  CallWorld world;
  CallFixture callee(world, "Stock", kCalleeEsql);
  callee.text.definition.properties.set("additionalInstances", {"1", {}, "flow"});
  make_callee(callee, "Answer");
  CHECK(callee.flow->instances().limit() == 2);
  CallFixture caller(world);
  make_caller(caller, target("Stock", "price"));
  auto pool = net::ReactorPool::create(1);
  REQUIRE(pool.ok());
  caller.pool = std::move(pool).take_value();
  int done = 0;
  caller.pool->run_on(0, [&] {
    for (int i = 0; i < 50; ++i) {
      net::Reactor::current()->spawn([&] {
        flow::PooledArena arena(caller.names);
        flow::Invocation invocation(*caller.flow, *arena);
        tree::MessageAssembly message = arena->make_assembly();
        CHECK(invocation.run_from_input(*caller.flow->find_node("In"), message, 0).ok());
        ++done;
      });
    }
    while (done < 50) net::Fiber::current()->yield();
  });
  CHECK(callee.flow->instances().in_use() == 0);
  CHECK(world.flows.waiting_calls() == 0);
}

}  // namespace
}  // namespace millstream::nodes
