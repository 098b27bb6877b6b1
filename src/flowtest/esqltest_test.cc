#include "flowtest/esqltest.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "flowtest/esqltest_file.h"
#include "flowtest/tree_text.h"
#include "mqi/constants.h"

namespace millstream::flowtest {
namespace {

// A test file in a folder of its own, removed afterwards.
class TemporaryTest {
 public:
  explicit TemporaryTest(std::string_view text) {
    char pattern[] = "/tmp/esqltest_XXXXXX";
    folder_ = mkdtemp(pattern);
    path_ = folder_ + "/a.esqltest";
    std::ofstream(path_) << text;
  }
  ~TemporaryTest() { std::filesystem::remove_all(folder_); }
  EsqlTestSummary run(EsqlTestOptions options = {}) {
    report.clear();
    Result<EsqlTestSummary> r = run_esqltests(
        {folder_}, options, [&](std::string_view line) { report += std::string(line) + "\n"; });
    REQUIRE_MESSAGE(r.ok(), r.error().describe());
    return r.value();
  }
  std::string content() const {
    std::ostringstream out;
    out << std::ifstream(path_).rdbuf();
    return out.str();
  }
  std::string report;

 private:
  std::string folder_, path_;
};

TEST_CASE("A case passes, and fails when its expectation is wrong") {
  std::string text =
      "# comment\n=== copies a field\n--- esql\nSET OutputRoot.XMLNSC.a = InputRoot.XMLNSC.r.b;\n"
      "--- input xmlnsc\n<r><b>x</b></r>\n--- expect xmlnsc\n<a>x</a>\n--- expect return\nTRUE\n";
  TemporaryTest good(text);
  EsqlTestSummary summary = good.run();
  CHECK_MESSAGE(summary.failed == 0, good.report);
  CHECK(summary.passed == 1);
  text.replace(text.find("<a>x</a>"), 8, "<a>y</a>");
  TemporaryTest bad(text);
  CHECK(bad.run().failed == 1);
  CHECK(bad.report.find("copies a field") != std::string::npos);
  CHECK(bad.report.find("found:    <a>x</a>") != std::string::npos);
}

TEST_CASE("Exceptions are matched by id and text anywhere in the chain") {
  std::string text =
      "=== divides\n--- esql\nSET OutputRoot.XMLNSC.a = 1 / 0;\n--- exception\nBIP2450 divide by "
      "zero\n";
  TemporaryTest good(text);
  CHECK_MESSAGE(good.run().passed == 1, good.report);
  TemporaryTest wrong(
      "=== divides\n--- esql\nSET OutputRoot.XMLNSC.a = 1 / 0;\n--- exception\nBIP2451\n");
  CHECK(wrong.run().failed == 1);
  TemporaryTest none("=== none\n--- esql\nSET OutputRoot.XMLNSC.a = 1;\n--- exception\nBIP2450\n");
  CHECK(none.run().failed == 1);
  TemporaryTest unexpected(
      "=== raises\n--- esql\nSET OutputRoot.XMLNSC.a = 1 / 0;\n--- expect return\nTRUE\n");
  CHECK(unexpected.run().failed == 1);
}

TEST_CASE("Tables of expressions; every line counts") {
  TemporaryTest t(
      "=== table\n--- setup\nDECLARE x INTEGER 5;\n--- exprs\n1 + x => 6\n# comment\n'a' || 'b' => "
      "'ab'\n"
      "1 / 0 => !BIP2450\nNULL => NULL\n2 => 3\n");
  EsqlTestSummary summary = t.run();
  CHECK_MESSAGE(summary.passed == 4, t.report);
  CHECK(summary.failed == 1);
  CHECK(t.report.find(":10:") != std::string::npos);
}

TEST_CASE("Rebaselining writes what was found and changes nothing else") {
  TemporaryTest t(
      "# head\n\n=== a\n--- esql\nSET OutputRoot.XMLNSC.a = 1;\n--- expect xmlnsc\nold\nold\n--- "
      "expect return\nTRUE\n\n"
      "=== b\n--- exprs\n1 + 1 => 3\n5 => 5\n");
  EsqlTestOptions options;
  options.rebaseline = true;
  CHECK(t.run(options).rewritten == 2);
  CHECK(t.content() ==
        "# head\n\n=== a\n--- esql\nSET OutputRoot.XMLNSC.a = 1;\n--- expect xmlnsc\n<a>1</a>\n--- "
        "expect return\nTRUE\n\n"
        "=== b\n--- exprs\n1 + 1 => 2\n5 => 5\n");
  CHECK(t.run().failed == 0);
}

TEST_CASE("Rebaselining counts a case once, and none whose text stays") {
  TemporaryTest t(
      "=== two sections\n--- esql\nSET OutputRoot.XMLNSC.a = 1;\n--- expect xmlnsc\nold\n"
      "--- expect return\nFALSE\n"
      "=== right\n--- esql\nRETURN FALSE;\n--- expect return\nFALSE\n");
  EsqlTestOptions options;
  options.rebaseline = true;
  CHECK(t.run(options).rewritten == 1);
  CHECK(t.run(options).rewritten == 0);
}

TEST_CASE("An endless loop is stopped; a filter selects cases") {
  TemporaryTest t(
      "=== loops\n--- esql\nl: LOOP ITERATE l; END LOOP l;\n--- exception\nMS1643\n"
      "=== other\n--- esql\nRETURN NULL;\n--- expect return\nNULL\n");
  CHECK_MESSAGE(t.run().passed == 2, t.report);
  EsqlTestOptions options;
  options.filter = ": other";
  CHECK(t.run(options).passed == 1);
}

TEST_CASE("Wrong files are refused with their line") {
  auto error_of = [](std::string_view text) {
    Result<TestFile> r = TestFile::parse("f", text);
    return r.ok() ? std::string("ok") : r.error().describe();
  };
  CHECK(error_of("--- esql\n").find("f:1:") == 0);
  CHECK(error_of("=== a\n--- what\n").find("f:2:") == 0);
  CHECK(error_of("=== a\n--- esql\nx\n").find("f:1:") == 0);
  CHECK(error_of("stray\n").find("f:1:") == 0);
  CHECK(error_of("=== a\n--- esql\n\\--- x\n--- expect return\nTRUE\n") == "ok");
}

TEST_CASE("Layout of an expected tree does not matter, quoted text does") {
  CHECK(normalise_tree_text("a{\n  b='x  y'\n  c{ }\n}\n") == "a{b='x  y' c{}}");
}

// The suite of the language. MS_ESQLTEST_REBASELINE=1 rewrites it, MS_ESQLTEST_FILTER selects.
TEST_CASE("tests/esql") {
  EsqlTestOptions options;
  options.find_constant = mqi::find_mq_constant;
  const char* filter = std::getenv("MS_ESQLTEST_FILTER");
  if (filter) options.filter = filter;
  options.rebaseline = std::getenv("MS_ESQLTEST_REBASELINE") != nullptr;
  Result<EsqlTestSummary> r = run_esqltests(
      {"tests/esql"}, options, [](std::string_view line) { MESSAGE(std::string(line)); });
  REQUIRE_MESSAGE(r.ok(), r.error().describe());
  MESSAGE(r.value().passed << " ESQL cases passed");
  CHECK(r.value().failed == 0);
}

}  // namespace
}  // namespace millstream::flowtest
