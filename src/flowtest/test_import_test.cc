#include "flowtest/test_import.h"

#include <doctest/doctest.h>

#include "flowtest/esqltest_file.h"
#include "flowtest/flow_script.h"
#include "flowtest/java_source.h"

namespace millstream::flowtest {
namespace {

constexpr const char* kJava = R"(package shop;
import com.ibm.integration.test.v1.NodeSpy;

public class OrderTest {
  // A comment with a { brace and a "quote
  private NodeSpy unused;

  @AfterEach
  public void clean() throws TestException { TestSetup.restoreAllMocks(); }

  @Test
  public void pays_once() throws TestException {
    SpyObjectReference ref = new SpyObjectReference().application("Shop")
        .messageFlow("Orders").subflowNode("Checkout").node("Pay; \"now\"");
    NodeSpy pay = new NodeSpy(ref);
    NodeSpy in = new NodeSpy(ref.getURI() + "/nodes/HTTP%20Input");
    NodeSpy reply = new NodeSpy(new SpyObjectReference().application("Shop").messageFlow("Orders").node("Reply"));
    stubStock();
    reply.setStopAtInputTerminal("in");
    TestMessageAssembly message = new TestMessageAssembly();
    try {
      String path = "/order.mxml";
      InputStream stream = Thread.currentThread().getContextClassLoader().getResourceAsStream(path);
      if (stream == null) {
        throw new TestException("none: " + path);
      }
      message.buildFromRecordedMessageAssembly(stream);
    } catch (Exception ex) {
      throw new TestException("failed", ex);
    }
    in.propagate(message, "out");
    assertThat("once", pay, nodeCallCountIs(1));
    assertThat(reply, nodeCallCountIs(0));
    assertThat(pay, terminalPropagateCountIs("out", 1));
    TestMessageAssembly expected = new TestMessageAssembly();
    expected.buildFromRecordedMessageAssembly(Thread.currentThread().getContextClassLoader().getResourceAsStream("/paid.mxml"));
    TestMessageAssembly actual = pay.propagatedMessageAssembly("out", 1);
    assertThat(actual, equalsMessage(expected).ignorePath("/Message/JSON/Data/id", true));
    assertEquals("paid", actual.messagePath("JSON.Data.state").getStringValue());
    assertThat(reply.receivedMessageAssembly("in", 1).environmentPath("count").getLongValue(), equalTo(2L));
    ledger.check(actual);
  }

  private void stubStock() throws TestException {
    SpyObjectReference stock = new SpyObjectReference().application("Shop").messageFlow("Orders").node("Stock");
    NodeStub stub = new NodeStub(stock);
    TestMessageAssembly answer = new TestMessageAssembly();
    answer.buildFromRecordedMessageAssembly(this.getClass().getResourceAsStream("/stock.mxml"));
    stub.onCall().propagatesMessage("in", "out", answer);
  }

  @Test
  void alone() {
    NodeSpy pay = new NodeSpy(new SpyObjectReference().application("Shop").messageFlow("Orders").node("Pay"));
    pay.evaluate(new TestMessageAssembly(), true, "in");
  }
}
)";

TEST_CASE("import: spies, stubs, recordings and comparisons become sections") {
  std::vector<ImportedTest> tests;
  const std::string text = import_java(kJava, "OrderTest",
                                       {{"order.mxml", "res/order.mxml"},
                                        {"paid.mxml", "res/paid.mxml"},
                                        {"stock.mxml", "res/stock.mxml"}},
                                       {"../Shop"}, tests);
  CHECK(text ==
        "# From OrderTest.java.\n"
        "\n"
        "=== pays_once\n"
        "# not translated, line 41: ledger.check(actual)\n"
        "--- project ../Shop\n"
        "--- flow Orders\n"
        "--- mock Stock.out\n"
        "--- mxml\n"
        "res/stock.mxml\n"
        "--- stop Reply\n"
        "--- inject HTTP Input.out\n"
        "--- mxml\n"
        "res/order.mxml\n"
        "--- expect calls\n"
        "Checkout.Pay; \"now\" = 1\n"
        "Checkout.Pay; \"now\".out = 1\n"
        "--- expect mxml Checkout.Pay; \"now\".out #1\n"
        "res/paid.mxml\n"
        "--- expect paths Checkout.Pay; \"now\".out #1\n"
        "text(Root.JSON.Data.state) = 'paid'\n"
        "--- expect paths Reply #1\n"
        "Environment.count = 2\n"
        "--- ignore\n"
        "JSON.Data.id\n"
        "\n"
        "=== alone\n"
        "--- project ../Shop\n"
        "--- flow Orders\n"
        "--- inject Pay alone\n"
        "--- exception\n"
        "none\n"
        "\n");
  REQUIRE(tests.size() == 2);
  CHECK(tests[0].name == "OrderTest.pays_once");
  CHECK(tests[0].not_translated.size() == 1);
  // It is a test file, whatever is missing in it.
  Result<TestFile> file = TestFile::parse("x.flowtest", text, flowtest_grammar());
  REQUIRE_MESSAGE(file.ok(), file.error().describe());
  CHECK(read_script(file.value(), file.value().cases[0]).ok());
}

TEST_CASE("import: Java is taken apart by its marks") {
  const auto methods = read_java(
      "class A { int x = 1; void m() { f(\"a;}\", 'c'); if (x) { g(); } } "
      "@Test void t() { h(); /* no(); */ } }");
  REQUIRE(methods.size() == 3);
  CHECK(methods[0].statements.size() == 1);
  CHECK(methods[1].name == "m");
  REQUIRE(methods[1].statements.size() == 2);
  CHECK(methods[1].statements[0].text == "f(\"a;}\", 'c')");
  CHECK(methods[2].is_test);
  CHECK(methods[2].statements.size() == 1);
  for (const char* bad : {"", "}}}", "\"", "/*", "class A { void m( {", "'", "((("}) read_java(bad);
  size_t from = 0;
  std::vector<std::string> arguments;
  CHECK(find_java_call("x.f(a, g(b, c), \"d,)\")", "f", from, arguments));
  CHECK(arguments == std::vector<std::string>{"a", "g(b, c)", "\"d,)\""});
  CHECK_FALSE(find_java_call("f(a", "f", from = 0, arguments));
  std::string s;
  CHECK(java_string("\"a\\\"b\"", s));
  CHECK(s == "a\"b");
  CHECK(!java_string("\"a\\n\"", s));
  CHECK_FALSE(java_string("\"a\" + \"b\"", s));
}

TEST_CASE("import: names that look like headings stay lines, names of several lines are refused") {
  std::vector<ImportedTest> tests;
  const std::string source =
      "class T { @Test void t() {\n"
      "NodeSpy a = new NodeSpy(new SpyObjectReference().messageFlow(\"F\").node(\"=== A\"));\n"
      "NodeSpy b = new NodeSpy(new SpyObjectReference().messageFlow(\"F\").node(\"B\\nC\"));\n"
      "assertThat(a, nodeCallCountIs(1)); } }";
  const std::string text = import_java(source, "T", {}, {}, tests);
  CHECK(text.find("--- expect calls\n\\=== A = 1\n") != std::string::npos);
  CHECK(text.find("# not translated, line 3:") != std::string::npos);
  CHECK(TestFile::parse("T.flowtest", text, flowtest_grammar()).ok());
}

TEST_CASE("import: a node's URI that is not encoded right is taken as it stands") {
  std::vector<ImportedTest> tests;
  const std::string text = import_java(
      "class T { @Test void t() { SpyObjectReference ref = new "
      "SpyObjectReference().messageFlow(\"F\"); NodeSpy n = new NodeSpy(ref.getURI() + "
      "\"/nodes/HTTP%zz 5%\");\n"
      "n.evaluate(new TestMessageAssembly(), true, \"in\"); } }",
      "T", {}, {}, tests);
  CHECK(text.find("inject HTTP%zz 5% alone") != std::string::npos);
}

}  // namespace
}  // namespace millstream::flowtest
