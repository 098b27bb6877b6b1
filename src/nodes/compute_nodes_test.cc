#include <doctest/doctest.h>

#include "nodes/node_test_support.h"

namespace millstream::nodes::compute {
namespace {

using test::NodeFixture;
using test::TestProperties;

std::string compute_module(const std::string& name, const std::string& body,
                           const std::string& kind = "COMPUTE") {
  return "CREATE " + kind + " MODULE " + name + "\nCREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n" +
         body + "\nEND;\nEND MODULE;\n";
}

// A Compute node "C" running `body`, wired to sinks named like its terminals.
struct ComputeFixture : NodeFixture {
  explicit ComputeFixture(const std::string& body, const TestProperties& more = {})
      : NodeFixture(compute_module("M", body)) {
    TestProperties properties = {{"computeExpression", "esql://routine/#M.Main"}};
    properties.insert(more.begin(), more.end());
    node("ComIbmCompute", "C", properties);
    wires({"In.out -> C", "C.out -> out", "C.out1 -> out1", "C.out2 -> out2",
           "C.failure -> failure", "In.catch -> catch"});
    REQUIRE(build());
  }
  std::string go(const std::string& body = "<a>1</a>") { return run("XMLNSC", body); }
};

constexpr const char* kMark =
    "SET OutputRoot.XMLNSC.o = 1; SET OutputLocalEnvironment.L.x = 1; "
    "SET OutputExceptionList.E.Number = 7; SET Environment.N = 1; ";

TEST_CASE("compute: the mode says which output trees leave, the others are the input's") {
  struct Case {
    const char* mode;
    bool message, local_environment, exception;
  };
  for (const Case& c :
       {Case{"message", true, false, false}, Case{"destination", false, true, false},
        Case{"destinationAndMessage", true, true, false}, Case{"exception", false, false, true},
        Case{"exceptionAndMessage", true, false, true},
        Case{"exceptionAndDestination", false, true, true}, Case{"all", true, true, true},
        Case{"nonsense", true, false, false}, Case{"Message", true, false, false}}) {
    CAPTURE(c.mode);
    ComputeFixture f(std::string(kMark) + "RETURN TRUE;", {{"computeMode", c.mode}});
    bool has_output_environment = false, has_input_environment = false, has_exception = false;
    f.observed.look = [&](const std::string&, flow::Invocation&, const tree::MessageAssembly& m) {
      has_output_environment = tree::find_child(m.local_environment, "L") != nullptr;
      has_input_environment = tree::find_child(m.local_environment, "In") != nullptr;
      has_exception = tree::find_child(m.exception_list, "E") != nullptr;
      CHECK(tree::find_child(m.environment, "N") != nullptr);
    };
    const std::string out =
        f.run("XMLNSC", "<a>1</a>", [](tree::TreeContext& context, tree::MessageAssembly& m) {
          tree::ensure_child(context, m.local_environment, "In");
        });
    CHECK(out.find(c.message ? "out<<o>1</o>>" : "out<<a>1</a>>") == 0);
    CHECK(has_output_environment == c.local_environment);
    CHECK(has_input_environment == !c.local_environment);
    CHECK(has_exception == c.exception);
  }
}

TEST_CASE("compute: a header that is set last leaves the body, and InputBody is the last child") {
  ComputeFixture f(
      "SET OutputRoot = InputRoot; SET OutputRoot.HTTPReplyHeader.\"X-A\" = 'b';"
      "SET Environment.last = FIELDNAME(OutputRoot.*[<]); RETURN TRUE;");
  f.observed.look = [](const std::string&, flow::Invocation& i, const tree::MessageAssembly& m) {
    CHECK(tree::find_child(m.environment, "last")->scalar.text() == "HTTPReplyHeader");
    CHECK(common::content_type(i.context(), m.root).starts_with("text/xml"));
  };
  CHECK(f.go() == "out<<a>1</a>>");
}

TEST_CASE("compute: an unknown mode is tolerated with a warning") {
  ComputeFixture f("SET OutputRoot = InputRoot; RETURN TRUE;", {{"computeMode", "mesage"}});
  CHECK(f.problems() == "11 MS1034; ");
  CHECK(f.go() == "out<<a>1</a>>");
}

TEST_CASE("compute: RETURN FALSE, NULL and nothing send nothing") {
  CHECK(ComputeFixture("SET OutputRoot = InputRoot; RETURN FALSE;").go() == "");
  CHECK(ComputeFixture("SET OutputRoot = InputRoot; RETURN NULL;").go() == "");
  CHECK(ComputeFixture("SET OutputRoot = InputRoot; RETURN UNKNOWN;").go() == "");
}

TEST_CASE("compute: PROPAGATE by name, number and default") {
  const std::string copy = "SET OutputRoot = InputRoot; ";
  CHECK(ComputeFixture(copy + "PROPAGATE; RETURN FALSE;").go() == "out<<a>1</a>>");
  CHECK(ComputeFixture(copy + "PROPAGATE TO TERMINAL 'out2'; RETURN FALSE;").go() ==
        "out2<<a>1</a>>");
  CHECK(ComputeFixture(copy + "PROPAGATE TO TERMINAL 2; RETURN FALSE;").go() == "out2<<a>1</a>>");
  CHECK(ComputeFixture(copy + "PROPAGATE TO TERMINAL 0; RETURN FALSE;").go() == "out<<a>1</a>>");
  CHECK(ComputeFixture(copy + "PROPAGATE TO TERMINAL 'failure'; RETURN FALSE;").go() ==
        "failure<<a>1</a>>");
  CHECK(ComputeFixture(copy + "PROPAGATE TO TERMINAL -1; RETURN FALSE;").go() ==
        "failure<<a>1</a>>");
  for (const char* nowhere : {"'nowhere'", "-2", "'Out1'", "'out3'", "3"}) {
    CAPTURE(nowhere);
    CHECK(ComputeFixture(copy + "PROPAGATE TO TERMINAL " + nowhere + "; RETURN FALSE;").go() == "");
  }
}

TEST_CASE("compute: output trees are cleared after PROPAGATE unless it says DELETE NONE") {
  CHECK(ComputeFixture("SET OutputRoot.XMLNSC.o = 1; PROPAGATE; PROPAGATE; RETURN FALSE;").go() ==
        "out<<o>1</o>> failure<<a>1</a>>[2230>2488>1862]");
  CHECK(ComputeFixture("SET OutputRoot.XMLNSC.o = 1; PROPAGATE DELETE NONE; PROPAGATE; "
                       "RETURN FALSE;")
            .go() == "out<<o>1</o>> out<<o>1</o>>");
  CHECK(ComputeFixture("SET OutputRoot.XMLNSC.o = 1; PROPAGATE; RETURN TRUE;").go() ==
        "out<<o>1</o>> failure<<a>1</a>>[2230>1862]");
}

TEST_CASE("compute: an empty message that nobody would get is no error") {
  CHECK(ComputeFixture("PROPAGATE TO TERMINAL 'out3'; RETURN FALSE;").go() == "");
  CHECK(ComputeFixture("RETURN TRUE;").go() == "failure<<a>1</a>>[2230>1862]");
}

TEST_CASE("compute: explicit clauses choose the trees whatever the mode") {
  ComputeFixture f(
      "SET Environment.Variables.m.XMLNSC.z = 3; CREATE FIELD Environment.K; "
      "PROPAGATE ENVIRONMENT OutputLocalEnvironment MESSAGE OutputRoot; RETURN FALSE;",
      {{"computeMode", "destination"}});
  CHECK(f.go() == "failure<<a>1</a>>[2230>2488>1862]");
  CHECK(ComputeFixture("SET OutputRoot.XMLNSC.z = 3; PROPAGATE MESSAGE OutputRoot; RETURN FALSE;",
                       {{"computeMode", "destination"}})
            .go() == "out<<z>3</z>>");
}

TEST_CASE("compute: FINALIZE puts Properties first, makes it when there is none, or leaves all") {
  auto folders = [](const std::string& body) {
    ComputeFixture f(body);
    std::string names;
    f.observed.look = [&](const std::string&, flow::Invocation&, const tree::MessageAssembly& m) {
      for (tree::Element* e = tree::first_child(m.root); e; e = tree::next_sibling(e)) {
        names += std::string(e->local_name()) + " ";
      }
    };
    f.go();
    return names;
  };
  CHECK(folders("SET OutputRoot.XMLNSC.o = 1; RETURN TRUE;") == "Properties XMLNSC ");
  CHECK(folders("SET OutputRoot.XMLNSC.o = 1; PROPAGATE FINALIZE NONE; RETURN FALSE;") ==
        "XMLNSC ");
  CHECK(folders("CREATE FIELD OutputRoot.MQMD; SET OutputRoot.Properties = InputRoot.Properties; "
                "SET OutputRoot.XMLNSC.o = 1; RETURN TRUE;") == "Properties MQMD XMLNSC ");
}

TEST_CASE("compute: an exception of the ESQL goes to failure, else it gets its BIP2230") {
  const std::string body = "DECLARE i INTEGER 0; SET OutputRoot.XMLNSC.o = 1 / i; RETURN TRUE;";
  CHECK(ComputeFixture(body).go() == "failure<<a>1</a>>[2230>2488>2439>2450]");
  NodeFixture f(compute_module("M", body));
  f.node("ComIbmCompute", "C", {{"computeExpression", "esql://routine/#M.Main"}});
  f.wires({"In.out -> C", "In.catch -> catch"});
  REQUIRE(f.build());
  CHECK(f.run("XMLNSC", "<a>1</a>") == "catch<<a>1</a>>[2230>2230>2488>2439>2450]");
}

TEST_CASE("compute: an exception downstream of PROPAGATE passes through ESQL and its handlers") {
  const std::string fail =
      compute_module("Fail", "THROW USER EXCEPTION MESSAGE 2951; RETURN TRUE;");
  for (const bool is_handled : {false, true}) {
    CAPTURE(is_handled);
    const std::string handler =
        is_handled ? "DECLARE CONTINUE HANDLER FOR SQLSTATE LIKE '%' SET Environment.H = SQLCODE; "
                   : "";
    NodeFixture f(
        compute_module("M", handler +
                                "SET OutputRoot = InputRoot; PROPAGATE; "
                                "SET OutputRoot.XMLNSC = NULL; SET OutputRoot.XMLNSC.after = 1; "
                                "PROPAGATE TO TERMINAL 'out1'; RETURN FALSE;") +
        fail);
    f.node("ComIbmCompute", "C", {{"computeExpression", "esql://routine/#M.Main"}});
    f.node("ComIbmCompute", "X", {{"computeExpression", "esql://routine/#Fail.Main"}});
    f.wires(
        {"In.out -> C", "C.out -> X", "C.out1 -> after", "C.failure -> own", "In.catch -> catch"});
    REQUIRE(f.build());
    CHECK(f.run("XMLNSC", "<a/>") ==
          (is_handled ? "after<<after>1</after>>" : "catch<<a/>>[2230>2230>2488>2230>2488>2951]"));
  }
}

TEST_CASE("compute: PROPAGATE TO LABEL") {
  NodeFixture f(compute_module("M",
                               "SET OutputRoot = InputRoot; "
                               "PROPAGATE TO LABEL InputRoot.XMLNSC.a; RETURN FALSE;"));
  f.node("ComIbmCompute", "C", {{"computeExpression", "esql://routine/#M.Main"}});
  f.node("ComIbmLabel", "L1", {{"labelName", "one"}});
  f.node("ComIbmLabel", "L2", {{"labelName", "two"}});
  f.wires({"In.out -> C", "L1.out -> s1", "L2.out -> s2", "C.failure -> failure"});
  REQUIRE(f.build());
  CHECK(f.run("XMLNSC", "<a>two</a>") == "s2<<a>two</a>>");
  CHECK(f.run("XMLNSC", "<a>Two</a>") == "failure<<a>Two</a>>[2230>2488>4241]");
}

TEST_CASE("compute: the input stays as it was") {
  NodeFixture f(compute_module("M",
                               "SET OutputRoot = InputRoot; SET OutputRoot.XMLNSC.a = 2; "
                               "RETURN TRUE;"));
  f.node("ComIbmCompute", "C", {{"computeExpression", "esql://routine/#M.Main"}});
  f.wires({"In.out -> C", "C.out -> changed", "In.out -> kept"});
  REQUIRE(f.build());
  CHECK(f.run("XMLNSC", "<a>1</a>") == "changed<<a>2</a>> kept<<a>1</a>>");
}

TEST_CASE("compute: modules that are not there are named at load") {
  for (const char* reference :
       {"esql://routine/#N.Main", "esql://routine/s.t#M.Main", "esql://routine/M", "a b"}) {
    CAPTURE(reference);
    NodeFixture f(compute_module("M", "RETURN TRUE;"));
    f.node("ComIbmCompute", "C", {{"computeExpression", reference}});
    CHECK_FALSE(f.build());
    CHECK(f.problems().substr(0, 7) == "11 MS18");
  }
}

TEST_CASE("compute: SHARED variables mean one message at a time, wherever they are used") {
  struct Case {
    const char* esql;
    size_t limit;
  };
  const std::string main = compute_module("M", "CALL P(); RETURN TRUE;");
  for (const Case& c :
       {Case{"DECLARE s SHARED INTEGER 0; CREATE PROCEDURE P() BEGIN SET s = s + 1; END;", 1},
        Case{"CREATE PROCEDURE P() BEGIN CALL Q(); END; DECLARE s SHARED ROW; "
             "CREATE PROCEDURE Q() BEGIN SET s.x = 1; END;",
             1},
        Case{"DECLARE n INTEGER 0; CREATE PROCEDURE P() BEGIN SET n = 1; END;", 0},
        Case{"DECLARE unused SHARED INTEGER 0; CREATE PROCEDURE P() BEGIN END;", 1}}) {
    CAPTURE(c.esql);
    NodeFixture f(std::string(c.esql) + "\n" + main);
    f.node("ComIbmCompute", "C", {{"computeExpression", "esql://routine/#M.Main"}});
    REQUIRE(f.build());
    CHECK(f.flow->instances().limit() == c.limit);
  }
}

TEST_CASE("filter: true, false and unknown; the message stays") {
  NodeFixture f(compute_module("M", "RETURN Root.XMLNSC.a.n > 5;", "FILTER"));
  f.node("ComIbmFilter", "C", {{"filterExpression", "esql://routine/#M.Main"}});
  f.wires({"In.out -> C", "C.true -> yes", "C.false -> no", "C.unknown -> open",
           "C.failure -> failure"});
  REQUIRE(f.build());
  CHECK(f.run("XMLNSC", "<a><n>6</n></a>") == "yes<<a><n>6</n></a>>");
  CHECK(f.run("XMLNSC", "<a><n>5</n></a>") == "no<<a><n>5</n></a>>");
  CHECK(f.run("XMLNSC", "<a/>") == "open<<a/>>");
  CHECK(f.run("XMLNSC", "<a><n>x</n></a>").find("failure<<a><n>x</n></a>>[2230>") == 0);
}

}  // namespace
}  // namespace millstream::nodes::compute
