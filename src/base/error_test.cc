#include "base/error.h"

#include <doctest/doctest.h>

#include "base/diagnostics.h"
#include "base/result.h"

namespace millstream::base {
namespace {

constexpr ErrorCode kTestOuter{"BIP2230", 2230, ExceptionKind::kRecoverable, Severity::kError,
                               "Node ''{0}'' failed"};
constexpr ErrorCode kTestInner{"MS1999", 1999, ExceptionKind::kParser, Severity::kWarning,
                               "{1} before {0}{2}"};

Status fail_if(bool condition) {
  if (condition) return make_error_at(kTestInner, {"a.esql", 3, 9}, {"x", 7});
  return {};
}

Result<std::unique_ptr<int>> boxed(bool fails) {
  MS_TRY(fail_if(fails));
  return std::make_unique<int>(5);
}

Result<int> unboxed(bool fails) {
  std::unique_ptr<int> p = MS_TRY(boxed(fails));
  return *p + 1;
}

TEST_CASE("error: inserts, numbers and positions") {
  Status s = fail_if(true);
  REQUIRE_FALSE(s.ok());
  const Error& e = s.error();
  CHECK(e.text == "7 before x");  // {2} has no insert and leaves nothing
  CHECK(e.inserts[1].type == InsertType::kInteger);
  CHECK(e.id_with_letter() == "MS1999W");
  CHECK(e.describe() == "a.esql:3:9: MS1999W: 7 before x");
  CHECK(exception_element_name(e.kind) == "ParserException");
  CHECK(fail_if(false).ok());
}

TEST_CASE("error: a THROW with a number of its own keeps the product's prefix") {
  Status s = make_error(kTestOuter, {"n"});
  s.error().number = 2951;
  s.error().severity = Severity::kInfo;
  CHECK(s.error().id_with_letter() == "BIP2951I");
}

TEST_CASE("error: causes nest, and a clone is independent") {
  Status s = wrap_error(make_error(kTestOuter, {"n"}), fail_if(true));
  CHECK(s.error().innermost().code == &kTestInner);
  CHECK(s.error().describe() == "BIP2230E: Node ''n'' failed\n  a.esql:3:9: MS1999W: 7 before x");
  std::unique_ptr<Error> copy = s.error().clone();
  s.error().causes.clear();
  CHECK(copy->innermost().code == &kTestInner);
  CHECK(copy->innermost().position.line == 3);
}

TEST_CASE("result: MS_TRY takes values and passes errors on") {
  CHECK(unboxed(false).value() == 6);
  Result<int> failed = unboxed(true);
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.error().code == &kTestInner);
  Result<int> moved = std::move(failed);
  CHECK(moved.error().code == &kTestInner);
  moved = Result<int>(3);
  CHECK(moved.value() == 3);
  Result<std::unique_ptr<int>> box = boxed(false);
  box = boxed(true);  // the old value is destroyed, not leaked
  CHECK_FALSE(box.ok());
}

TEST_CASE("inserts: only single digits in braces are places") {
  CHECK(format_inserts("{0}{x}{10}{", {Insert("a")}) == "a{x}{10}{");
  CHECK(format_inserts("", {}).empty());
}

TEST_CASE("diagnostics: the form that editors understand") {
  Diagnostics all;
  all.warning({"a.msgflow", 4, 2}, "MS1034", "odd");
  CHECK_FALSE(all.has_errors());
  all.error(wrap_error(make_error(kTestOuter, {"n"}), fail_if(true)).error(), {"b.msgflow", 1, 1});
  all.error({"c.msgflow", 0, 0}, "", "no place");
  CHECK(all.error_count() == 2);
  CHECK(all.all()[0].format() == "a.msgflow:4:2: warning: MS1034: odd");
  CHECK(all.all()[1].format() == "b.msgflow:1:1: error: BIP2230: Node ''n'' failed (7 before x)");
  CHECK(all.all()[2].format() == "c.msgflow: error: no place");
}

}  // namespace
}  // namespace millstream::base
