#include "flowtest/flowtest.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "flowtest/file_watch.h"
#include "flowtest/test_files.h"
#include "io/folder_watch.h"

namespace millstream::flowtest {
namespace {

// A flow with a Compute node that counts in a SHARED variable, and a Filter.
constexpr const char* kFlow = R"(--- msgflow Main
In: HTTPInput
  URLSpecifier = /main
  messageDomainProperty = XMLNSC
Count: Compute
  computeExpression = esql://routine/#Count.Main
Reply: HTTPReply
In -> Count
Count -> Reply
--- esql
CREATE COMPUTE MODULE Count
  DECLARE n SHARED INTEGER 0;
  CREATE FUNCTION Main() RETURNS BOOLEAN
  BEGIN
    SET n = n + 1;
    SET OutputRoot.Properties = InputRoot.Properties;
    SET OutputRoot.XMLNSC.n = n;
    IF n > 100 THEN
      SET OutputRoot.XMLNSC.n = 'many';
    END IF;
    RETURN TRUE;
  END;
END MODULE;
)";

class TemporaryFlowTest {
 public:
  explicit TemporaryFlowTest(std::string_view text) {
    char pattern[] = "/tmp/flowtest_XXXXXX";
    folder_ = mkdtemp(pattern);
    path_ = folder_ + "/a.flowtest";
    std::ofstream(path_) << text;
  }
  ~TemporaryFlowTest() { std::filesystem::remove_all(folder_); }
  FlowTestSummary run(FlowTestOptions options = {}) {
    report.clear();
    Result<FlowTestSummary> r = run_flowtests({path_}, options, [&](const TestOutcome& outcome) {
      if (outcome.has_failed()) report += failure_text(outcome) + "\n";
    });
    if (!r.ok()) report = r.error().describe();
    return r.ok() ? std::move(r).take_value() : FlowTestSummary();
  }
  std::string content() const {
    std::ostringstream out;
    out << std::ifstream(path_).rdbuf();
    return out.str();
  }
  const std::string& path() const { return path_; }
  const std::string& folder() const { return folder_; }
  std::string report;

 private:
  std::string folder_, path_;
};

std::string with_flow(std::string_view cases) { return std::string(kFlow) + std::string(cases); }

TEST_CASE("flowtest: cases are isolated, also when they run at once") {
  std::string cases;
  for (int i = 0; i < 12; ++i) {
    cases += "=== case " + std::to_string(i) +
             "\n--- request POST /main\n<a/>\n--- expect reply 200\n<n>1</n>\n"
             "--- request POST /main\n<a/>\n--- expect reply 200\n<n>2</n>\n";
  }
  TemporaryFlowTest test(with_flow(cases));
  for (int jobs : {1, 4}) {
    FlowTestOptions options;
    options.jobs = jobs;
    const FlowTestSummary s = test.run(options);
    CHECK(s.outcomes.size() == 12);
    CHECK(test.report.empty());
    CHECK(s.outcomes[11].name == "case 11");  // in order, whoever was first
  }
}

TEST_CASE("flowtest: every kind of expectation fails with its line and the difference") {
  TemporaryFlowTest test(
      with_flow("=== wrong\n"
                "--- request POST /main\n"
                "<a/>\n"
                "--- expect reply 201\n"
                "X-None: 1\n"
                "\n"
                "<n>7</n>\n"
                "--- expect calls\n"
                "Count = 1\n"
                "Reply = 2\n"
                "--- expect tree Count.out\n"
                "XMLNSC{n=8}\n"
                "--- ignore\n"
                "Properties\n"
                "--- expect paths Count.out\n"
                "XMLNSC.n = 9\n"
                "--- exception\n"
                "BIP3001\n"
                "--- expect log\n"
                "nothing of the kind\n"
                "--- expect statistics Main\n"
                "TotalInputMessages = 5\n"
                "--- expect body Reply #2\n"
                "<n/>\n"));
  const FlowTestSummary s = test.run();
  REQUIRE(s.outcomes.size() == 1);
  const std::string at = test.path() + ":";
  const size_t base = std::count(kFlow, kFlow + std::string_view(kFlow).size(), '\n');
  auto said = [&](size_t line, std::string_view what) {
    const std::string wanted = at + std::to_string(base + line) + ": wrong: " + std::string(what);
    CAPTURE(wanted);
    CAPTURE(test.report);
    CHECK(test.report.find(wanted) != std::string::npos);
  };
  said(4, "status\n  - 201\n  + 200");
  said(4, "header X-None\n  - 1\n  + (none)");
  said(4, "body\n  - n='7'\n  + n='1'");
  said(10, "calls\n  - Reply = 2\n  + Reply = 1");
  said(11, "tree Count.out\n    XMLNSC{\n  -   n=8\n  +   n=1\n    }");
  said(16, "path\n  - XMLNSC.n = 9\n  + XMLNSC.n = 1");
  said(17, "there was no exception");
  said(20, "log\n  - nothing of the kind\n  + (nothing)");
  said(22, "statistics\n  - TotalInputMessages = 5\n  + TotalInputMessages = 1");
  said(23, "1 message(s) came to Reply, not 2");
}

TEST_CASE("flowtest: rebaseline writes what was found, once, and leaves the rest") {
  TemporaryFlowTest test(
      with_flow("=== a\n--- request POST /main\n<a/>\n--- expect reply 500\n<x/>\n--- expect "
                "calls\nCount = 9\n"
                "=== b\n--- request POST /main\n<a/>\n--- expect reply 200\n<n>1</n>\n"));
  FlowTestOptions options;
  options.rebaseline = true;
  CHECK(test.run(options).rewritten == 1);
  CHECK(test.report.empty());
  CHECK(
      test.content() ==
      with_flow(
          "=== a\n--- request POST /main\n<a/>\n--- expect reply 200\n<n>1</n>\n--- expect calls\n"
          "Count = 1\n=== b\n--- request POST /main\n<a/>\n--- expect reply 200\n<n>1</n>\n"));
  CHECK(test.run(options).rewritten == 0);
}

TEST_CASE("flowtest: what cannot run is said, not skipped") {
  auto report_of = [](const std::string& text) {
    TemporaryFlowTest test(text);
    test.run();
    return test.report;
  };
  CHECK(report_of("=== a\n--- request GET /\n--- expect reply 200\n").find("MS2757") !=
        std::string::npos);  // no project
  const std::string unknown =
      report_of(with_flow("=== a\n--- stop Nobody\n--- expect calls\nCount = 0\n"));
  CHECK(unknown.find("no node or terminal 'Nobody'; the nodes are: In, Count, Reply") !=
        std::string::npos);
  CHECK(
      report_of("--- msgflow F\nA: NoSuchNode\n=== a\n--- expect calls\nA = 0\n").find("MS2759") !=
      std::string::npos);
  CHECK(report_of("--- msgflow F\nA - B\n=== a\n--- expect calls\nA = 0\n").find("MS1650") !=
        std::string::npos);
  CHECK(report_of(with_flow("=== a\n--- clock real\n--- advance 1s\n--- expect calls\nIn = 0\n"))
            .find("MS2761") != std::string::npos);
  CHECK(report_of("nonsense").find("MS1641") != std::string::npos);
  CHECK(report_of(with_flow("=== a\n--- inject Count\n--- body NOSUCH\n--- expect calls\nIn = 0\n"))
            .find("MS1645") != std::string::npos);
}

TEST_CASE("flowtest: an exception nobody asks about fails an injection") {
  TemporaryFlowTest test(with_flow(
      "=== a\n--- mock Count throws 2951\noops\n--- inject Count\n--- expect calls\nCount = 1\n"));
  test.run();
  CHECK(test.report.find("an exception came back") != std::string::npos);
  CHECK(test.report.find("oops") != std::string::npos);
}

TEST_CASE("flowtest: the filter takes cases by file and name") {
  TemporaryFlowTest test(with_flow(
      "=== one\n--- inject Count alone\n--- body XMLNSC\n<a/>\n--- expect calls\nReply = 0\n"
      "=== two\n--- inject Count alone\n--- body XMLNSC\n<a/>\n--- expect calls\nReply = 0\n"));
  FlowTestOptions options;
  options.filter = "flowtest: two";
  CHECK(test.run(options).outcomes.size() == 1);
  CHECK(test.report.empty());
}

TEST_CASE("flowtest: time passes when the test says so, and waits cost none") {
  TemporaryFlowTest test(
      "--- msgflow Main\n"
      "In: HTTPInput\n"
      "  URLSpecifier = /main\n"
      "Sleep: Compute\n"
      "  computeExpression = esql://routine/#Sleep.Main\n"
      "Reply: HTTPReply\n"
      "In -> Sleep\n"
      "Sleep -> Reply\n"
      "--- esql\n"
      "CREATE COMPUTE MODULE Sleep\n"
      "  CREATE FUNCTION Main() RETURNS BOOLEAN\n"
      "  BEGIN\n"
      "    SET OutputRoot.Properties = InputRoot.Properties;\n"
      "    SET OutputRoot.XMLNSC.t = CURRENT_GMTTIMESTAMP;\n"
      "    SLEEP(60000);\n"
      "    RETURN TRUE;\n"
      "  END;\n"
      "END MODULE;\n"
      "=== an hour\n"
      "--- clock 2024-02-29 10:00:00\n"
      "--- request GET /main\n"
      "--- expect reply 200\n"
      "<t>2024-02-29T10:00:00Z</t>\n"
      "--- advance 1h\n"
      "--- expect calls\n"
      "Reply = 0\n"
      "--- request GET /main\n"
      "--- expect reply 200\n"
      "<t>2024-02-29T11:01:00Z</t>\n");
  const FlowTestSummary s = test.run();
  CHECK(test.report == "");
  REQUIRE(s.outcomes.size() == 1);
  CHECK(s.outcomes[0].seconds < 10);
}

TEST_CASE("flowtest: coverage of nodes, terminals and lines") {
  TemporaryFlowTest test(
      with_flow("=== a\n--- request POST /main\n<a/>\n--- expect reply 200\n"
                "=== b\n--- request POST /main\n<a/>\n--- expect reply 200\n"));
  Coverage coverage;
  FlowTestOptions options;
  options.coverage = &coverage;
  test.run(options);
  REQUIRE(test.report.empty());
  const base::json::Value json = coverage.json();
  REQUIRE(json.get("flows").size() == 1);
  const base::json::Value& nodes = json.get("flows").items()[0].get("nodes");
  REQUIRE(nodes.size() == 3);
  CHECK(nodes.items()[0].get("name").as_string() == "Count");
  CHECK(nodes.items()[0].get("count").as_integer() == 2);
  const base::json::Value& lines = json.get("files").items()[0].get("lines");
  CHECK(lines.get("5").as_integer() == 2);  // SET n = n + 1
  CHECK(lines.get("9").as_integer() == 0);  // SET OutputRoot.XMLNSC.n = 'many'
  CHECK(lines.find("4") == nullptr);        // BEGIN
  CHECK(coverage.table().find("5/6") != std::string::npos);
  CHECK(coverage.table().find(" 9\n") != std::string::npos);
  CHECK(coverage.lcov().find("DA:9,0\n") != std::string::npos);
}

TEST_CASE("flowtest: reports for programs") {
  TestOutcome good{"a.flowtest", "good", 3, 0.5, {}, {}};
  TestOutcome bad{
      "a.flowtest", "<bad> & \"worse\"", 9, 0.25, {{10, "body\n  - a\x01\n  + b", false}}, "log"};
  const std::string xml = report_junit({good, bad});
  CHECK(xml.find("<testsuite name=\"a.flowtest\" tests=\"2\" failures=\"1\" time=\"0.750\">") !=
        std::string::npos);
  CHECK(xml.find("name=\"&lt;bad&gt; &amp; &quot;worse&quot;\"") != std::string::npos);
  CHECK(xml.find("a.flowtest:10: body\n  - a?\n  + b") != std::string::npos);
  const base::json::Value json = report_json({good, bad});
  CHECK(json.get("passed").as_integer() == 1);
  CHECK(json.get("tests").items()[1].get("failures").items()[0].get("line").as_integer() == 10);
}

TEST_CASE("flowtest: files are found by their ending, and watched") {
  TemporaryFlowTest test(with_flow("=== a\n--- expect calls\nIn = 0\n"));
  std::ofstream(test.folder() + "/b.esqltest") << "=== a\n";
  Result<TestFiles> files = find_test_files({test.folder(), test.path()});
  REQUIRE(files.ok());
  CHECK(files.value().flowtests == std::vector<std::string>{test.path()});
  CHECK(files.value().esqltests.size() == 1);
  CHECK_FALSE(find_test_files({test.folder() + "/none"}).ok());

  using Event = io::FolderWatch::Event;
  Result<io::FolderWatch> watch = io::FolderWatch::open(folders_of_tests({test.path()}));
  REQUIRE(watch.ok());
  CHECK(watch.value().wait(0) == Event::kTimeout);
  std::ofstream(test.folder() + "/c.esql") << "-- new";
  CHECK(watch.value().wait(0) == Event::kChange);
  CHECK(watch.value().wait(0) == Event::kTimeout);
}

TEST_CASE("flowtest: the example of the guide") {
  std::ifstream page("docs/guide/flow-tests.md");
  REQUIRE(page.good());
  std::string text, line;
  while (std::getline(page, line) && line != "```text") {
  }
  while (std::getline(page, line) && line != "```") text += line + "\n";
  TemporaryFlowTest test(text);
  CHECK(test.run().outcomes.size() == 2);
  CHECK(test.report == "");
}

}  // namespace
}  // namespace millstream::flowtest
