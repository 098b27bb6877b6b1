#include "esql/trace.h"

#include <doctest/doctest.h>

#include "esql/exec_test_util.h"

namespace millstream::esql {
namespace {

using testing::compute;
using testing::Runner;

std::string traced(std::string_view body, std::string_view more = "") {
  Runner r(compute(body, more), true);
  std::string out = r.run();
  for (const std::string& line : r.tracer.lines) out += "\n" + line;
  return out;
}

TEST_CASE("trace: statements, expressions with the results of their parts, assignments") {
  CHECK(traced("DECLARE I INTEGER 1;\n"
               "SET I = I + 2 * I;\n"
               "RETURN I = 3;") ==
        "TRUE\n"
        "2537 Executing statement   ''DECLARE I INTEGER 1;'' at ('.M.Main', '3.1').\n"
        "2537 Executing statement   ''SET I = I + 2 * I;'' at ('.M.Main', '4.1').\n"
        "2538 Evaluating expression ''I + 2 * I'' at ('.M.Main', '4.9').\n"
        "2539 Evaluating expression ''I'' at ('.M.Main', '4.9'). This resolved to ''I''. The "
        "result was ''1''.\n"
        "2538 Evaluating expression ''2 * I'' at ('.M.Main', '4.13').\n"
        "2539 Evaluating expression ''I'' at ('.M.Main', '4.17'). This resolved to ''I''. The "
        "result was ''1''.\n"
        "2539 Evaluating expression ''2 * I'' at ('.M.Main', '4.13'). This resolved to ''2 * "
        "1''. The result was ''2''.\n"
        "2539 Evaluating expression ''I + 2 * I'' at ('.M.Main', '4.9'). This resolved to ''1 + "
        "2''. The result was ''3''.\n"
        "2566 Assigning value ''3'' to field / variable ''I''.\n"
        "2537 Executing statement   ''RETURN I = 3;'' at ('.M.Main', '5.1').\n"
        "2538 Evaluating expression ''I = 3'' at ('.M.Main', '5.8').\n"
        "2539 Evaluating expression ''I'' at ('.M.Main', '5.8'). This resolved to ''I''. The "
        "result was ''3''.\n"
        "2539 Evaluating expression ''I = 3'' at ('.M.Main', '5.8'). This resolved to ''3 = "
        "3''. The result was ''TRUE''.");
}

TEST_CASE("trace: lines count from the routine, texts are on one line and bounded") {
  const std::string text =
      traced("CALL P();\nRETURN TRUE;", "CREATE PROCEDURE P() BEGIN\n  DECLARE C CHARACTER\n    '" +
                                            std::string(3000, 'x') + "';\nEND;");
  CHECK(text.find("Executing statement   ''DECLARE C CHARACTER 'xxx") != std::string::npos);
  CHECK(text.find("at ('.M.P', '2.3')") != std::string::npos);
  CHECK(text.find(" ...;''") != std::string::npos);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    CHECK(end - at < 2 * Tracer::kTextMax + 500);
    at = end + 1;
  }
}

TEST_CASE("trace: an expression that fails leaves no half line behind") {
  const std::string text = traced(
      "DECLARE CONTINUE HANDLER FOR SQLSTATE LIKE '%' BEGIN END;\n"
      "DECLARE I INTEGER 0;\n"
      "SET I = 1 / I;\n"
      "SET I = I + 1;\n"
      "RETURN TRUE;");
  CHECK(text.find("Assigning value ''1'' to field / variable ''I''.") != std::string::npos);
  CHECK(text.find("''1 / I'' at ('.M.Main', '5.9'). This resolved") == std::string::npos);
}

TEST_CASE("trace: a program that is not traced tells nothing") {
  Runner r(compute("RETURN 1 = 1;"));
  r.host.trace = &r.tracer;
  CHECK(r.run() == "TRUE");
  CHECK(r.tracer.lines.empty());
}

}  // namespace
}  // namespace millstream::esql
