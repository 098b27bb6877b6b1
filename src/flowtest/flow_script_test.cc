#include "flowtest/flow_script.h"

#include <doctest/doctest.h>

#include "flowtest/flow_notation.h"

namespace millstream::flowtest {
namespace {

Result<FlowScript> script(const std::string& text) {
  static TestFile file;  // scripts point into it
  file = MS_TRY(TestFile::parse("t.flowtest", text, flowtest_grammar()));
  return read_script(file, file.cases.at(0));
}

size_t error_line(const std::string& text) {
  Result<FlowScript> r = script(text);
  REQUIRE_FALSE(r.ok());
  return r.error().position.line;
}

TEST_CASE("flow script: settings, mocks, steps and expectations") {
  Result<FlowScript> r = script(
      "# about the file\n"
      "--- project ../orders\n"
      "--- clock 2024-12-31 23:59:58\n"
      "=== name\n"
      "# about the case\n"
      "--- flow com.acme.Orders\n"
      "--- property limit=5\n"
      "--- mock Look Up.out #2+\n"
      "--- body XMLNSC\n"
      "<a/>\n"
      "--- mock Sub.Pay throws BIP2951 #1\n"
      "no\n"
      "--- backend GET http://x.example/*\n"
      "--- request PUT /orders?x=1\n"
      "--- advance 90s\n"
      "--- expect body Look Up.out #3 json\n"
      "--- expect reply 404 text\n"
      "--- exception Pay\n");
  REQUIRE_MESSAGE(r.ok(), r.error().describe());
  const FlowScript& s = r.value();
  CHECK(s.projects == std::vector<std::string>{"../orders"});
  CHECK(s.flow == "com.acme.Orders");
  CHECK(s.clock_micros == 1'735'689'598'000'000);
  REQUIRE(s.actions.size() == 8);
  CHECK(s.actions[0].target == "Look Up.out");
  CHECK(s.actions[0].number == 2);
  CHECK(s.actions[0].is_and_later);
  CHECK(s.actions[0].parts.body->body == "<a/>");
  CHECK(s.actions[1].kind == FlowAction::Kind::kThrow);
  CHECK(s.actions[1].target == "Sub.Pay");
  CHECK(s.actions[1].amount == 2951);
  CHECK(s.actions[1].number == 1);
  CHECK(s.actions[2].word == "GET");
  CHECK(s.actions[2].target == "http://x.example/*");
  CHECK(s.actions[3].target == "/orders?x=1");
  CHECK(s.actions[4].amount == 90'000'000'000);
  CHECK(s.actions[5].target == "Look Up.out");
  CHECK(s.actions[5].mode == "json");
  CHECK(s.actions[5].number == 3);
  CHECK(s.actions[6].amount == 404);
  CHECK(s.actions[7].target == "Pay");
  CHECK(s.actions[7].line() == 18);
}

TEST_CASE("flow script: what is wrong is said with its line") {
  CHECK(error_line("=== a\n--- request /x\n--- expect calls\n") == 2);
  CHECK(error_line("=== a\n--- request GET x\n--- expect calls\n") == 2);
  CHECK(error_line("=== a\n--- stop N\n--- flow F\n--- expect calls\n") == 3);
  CHECK(error_line("=== a\n--- body XMLNSC\n--- expect calls\n") == 2);
  CHECK(error_line("=== a\n--- inject N\n--- body\n--- expect calls\n") == 3);
  CHECK(error_line("=== a\n--- advance soon\n--- expect calls\n") == 2);
  CHECK(error_line("=== a\n--- clock noon\n--- expect calls\n") == 2);
  CHECK(error_line("=== a\n--- property x\n--- expect calls\n") == 2);
  CHECK(error_line("=== a\n--- file ../x\n--- expect calls\n") == 2);
  CHECK(error_line("=== a\n--- mock\n--- expect calls\n") == 2);
  CHECK(error_line("=== a\n--- mock N throws up\n--- expect calls\n") == 2);
  CHECK(error_line("=== a\n--- expect nothing\n") == 2);
  CHECK(error_line("=== a\n--- expect reply soon\n") == 2);
  CHECK(error_line("=== a\n--- expect tree\n") == 2);
  CHECK(error_line("=== a\n--- ignore\na..b\n--- expect calls\n") == 2);
  CHECK(error_line("=== a\n--- nonsense\n") == 2);
  CHECK(error_line("=== nothing is expected\n--- request GET /\n") == 1);
}

TEST_CASE("flow script: headers end at the empty line, and may be missing") {
  HttpText t = parse_http_text("A: 1\nB-C: two words \n\nbody: x\n");
  REQUIRE(t.headers.size() == 2);
  CHECK(t.headers[1].second == "two words");
  CHECK(t.body == "body: x\n");
  CHECK(parse_http_text("{\"a\": 1}").body == "{\"a\": 1}");
  CHECK(parse_http_text("{\"a\": 1}").headers.empty());
  CHECK(parse_http_text("\nA: 1").body == "A: 1");
  CHECK(parse_http_text("A: 1").headers.size() == 1);
  CHECK(parse_http_text("A: 1\n<x/>").headers.empty());  // all or none
}

TEST_CASE("flow script: durations") {
  int64_t ns = 0;
  CHECK(parse_duration("1500ms", ns));
  CHECK(ns == 1'500'000'000);
  CHECK(parse_duration("2 h", ns));
  CHECK(ns == 7'200'000'000'000);
  for (const char* bad : {"", "5", "s", "-1s", "1.5s", "1y", "9999999999d"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_duration(bad, ns));
  }
}

TEST_CASE("flow script: bodies may repeat, and have a limit") {
  CHECK(expand_body("a\n@repeat 3 <b/>\nc", "").value() == "a<b/><b/><b/>c");
  CHECK_FALSE(expand_body("@repeat x y", "").ok());
  CHECK_FALSE(expand_body("@repeat 999999999 abcdefghij", "").ok());
  CHECK_FALSE(expand_body("@file /no/such/file", "").ok());
  CHECK(expand_body("me@home", "").value() == "me@home");
}

TEST_CASE("flow notation: nodes, properties, connections") {
  Result<std::string> r = flow_file_text(
      "property limit = 5 < 6\n"
      "In: HTTPInput\n"
      "  URLSpecifier = /a\n"
      "Sub: subflow a/b/Sub.subflow\n"
      "Route: Route\n"
      "  <filterTable filterPattern=\"$Body/a\" routingOutputTerminal=\"big\"/>\n"
      "In -> Route\n"
      "Route.big -> Sub.Input\n"
      "Route.default -> Sub\n",
      "F.msgflow");
  REQUIRE_MESSAGE(r.ok(), r.error().describe());
  const std::string& xml = r.value();
  for (const char* part :
       {"xmlns:ComIbmWSInput.msgnode=\"ComIbmWSInput.msgnode\"", "URLSpecifier=\"/a\"",
        "xmlns:a_b_Sub.subflow=\"a/b/Sub.subflow\"", "sourceTerminalName=\"big\"",
        "targetTerminalName=\"InTerminal.Input\"", "sourceTerminalName=\"OutTerminal.default\"",
        "terminalNodeID=\"big\"", "defaultValueLiteral=\"5 &lt; 6\""}) {
    CAPTURE(part);
    CHECK(xml.find(part) != std::string::npos);
  }
  for (const char* bad : {"nonsense", "  a = 1", "A: Trace\n  nonsense", "A: Trace\nA -> B",
                          "A: Trace\nA: Trace", "A: Trace\nB.out -> A"}) {
    CAPTURE(bad);
    Result<std::string> wrong = flow_file_text(bad, "F");
    REQUIRE_FALSE(wrong.ok());
    CHECK(std::string(wrong.error().code->id) == "MS1650");
  }
}

}  // namespace
}  // namespace millstream::flowtest
