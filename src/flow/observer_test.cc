#include "flow/observer.h"

#include <doctest/doctest.h>

#include "flow/flow_test_util.h"

namespace millstream::flow {
namespace {

using test::FlowFixture;
using test::FlowText;

// Writes what it is told, one word each.
class Notes final : public Observer {
 public:
  std::string text;
  bool is_wanted = true;

  class Message final : public MessageObserver {
   public:
    explicit Message(Notes& notes) : notes_(notes) {}
    void begins(const Node& input, const tree::MessageAssembly&, size_t) override {
      notes_.text += "begin:" + input.label() + " ";
    }
    void enters(const Node& node, const tree::MessageAssembly&, int) override {
      notes_.text += "+" + node.label() + " ";
    }
    void leaves(const Node& node, const Status& status, const NodeTimes& times) override {
      CHECK(times.elapsed_ns >= 0);
      notes_.text += "-" + node.label() + (status.ok() ? " " : "! ");
    }
    void propagates(const Node& from, int output, const tree::MessageAssembly&) override {
      notes_.text += from.label() + "." + from.output_name(output) + " ";
    }
    void ends(const Node&, const Status& status) override {
      notes_.text += status.ok() ? "end" : "end!";
    }

   private:
    Notes& notes_;
  };
  std::unique_ptr<MessageObserver> start(Invocation&) override {
    return is_wanted ? std::make_unique<Message>(*this) : nullptr;
  }
};

FlowText observed_flow() {
  FlowText text;
  text.nodes({{"In", "In"}, {"Say", "A"}, {"Fail", "X"}, {"Say", "H"}});
  text.wires({"In.out -> A", "A.out -> X", "X.failure -> H"});
  return text;
}

TEST_CASE("observer: sees the way of a message, until it is removed") {
  FlowFixture f;
  REQUIRE(f.build(observed_flow()));
  auto notes = std::make_shared<Notes>();
  f.run();
  CHECK(notes->text.empty());
  f.flow->observers().add(notes);
  f.run();
  CHECK(notes->text == "begin:In In.out +A A.out +X -X! X.failure +H -H -A end");
  notes->text.clear();
  notes->is_wanted = false;
  f.run();
  notes->is_wanted = true;
  f.flow->observers().remove(notes.get());
  f.run();
  CHECK(notes->text.empty());
  CHECK(f.flow->observers().is_empty());
}

TEST_CASE("observer: a message that nobody handles ends with its error") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Fail", "X"}});
  text.wires({"In.out -> X"});
  REQUIRE(f.build(text));
  auto notes = std::make_shared<Notes>();
  f.flow->observers().add(notes);
  f.run();
  CHECK(notes->text == "begin:In In.out +X -X! end!");
}

TEST_CASE("traceparent: what is well formed is read and written back") {
  const std::string good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  TraceContext c = parse_traceparent(good);
  REQUIRE(c.is_valid());
  CHECK(c.is_sampled());
  CHECK(c.traceparent() == good);
  CHECK(!parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00").is_sampled());
  // A later version is read as 00; unknown flags are not passed on.
  c = parse_traceparent("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03-what");
  CHECK(c.traceparent() == good);
  for (const char* bad : {"", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
                          "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                          "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                          "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                          "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                          "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what",
                          "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01what",
                          "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
                          "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01"}) {
    CHECK_MESSAGE(!parse_traceparent(bad).is_valid(), bad);
  }
}

TEST_CASE("tracestate: passed on whole, or not at all") {
  CHECK(checked_tracestate(" a=1,b@v=x y ") == "a=1,b@v=x y");
  CHECK(checked_tracestate("a=1,,b=2") == "a=1,,b=2");
  CHECK(checked_tracestate("novalue").empty());
  CHECK(checked_tracestate("=x").empty());
  CHECK(checked_tracestate("a=\x01").empty());
  CHECK(checked_tracestate("a=" + std::string(TraceContext::kStateBytesMax - 2, 'x')).size() ==
        TraceContext::kStateBytesMax);
  CHECK(checked_tracestate("a=" + std::string(TraceContext::kStateBytesMax - 1, 'x')).empty());
  std::string many;
  for (size_t i = 0; i < TraceContext::kStateMembersMax; ++i) many += "a=1,";
  CHECK(!checked_tracestate(many).empty());
  CHECK(checked_tracestate(many + "a=1").empty());
}

TEST_CASE("trace ids are not zero and not the same twice") {
  CHECK(make_trace_id() != make_trace_id());
  CHECK(make_span_id() != make_span_id());
}

}  // namespace
}  // namespace millstream::flow
