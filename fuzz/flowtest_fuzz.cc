// What users' flow tests are read from: recorded message assemblies, .flowtest and .esqltest files,
// Java sources of test projects. The first byte chooses; whatever the rest is, reading ends with a
// test or an error, and text that was read can be written and read again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "flowtest/flow_script.h"
#include "flowtest/mxml.h"
#include "flowtest/test_import.h"
#include "flowtest/text_tree.h"

namespace flowtest = millstream::flowtest;

namespace {
void try_tests(std::string_view text, const flowtest::TestGrammar& grammar, bool is_flow) {
  auto file = flowtest::TestFile::parse("f", text, grammar);
  if (!file.ok()) return;
  for (const flowtest::TestCase& c : file.value().cases) {
    if (is_flow) static_cast<void>(flowtest::read_script(file.value(), c).ok());
  }
  auto again = flowtest::TestFile::parse("f", file.value().text(), grammar);
  if (!again.ok() || again.value().cases.size() != file.value().cases.size()) std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'm':
      static_cast<void>(flowtest::read_mxml(text, "f.mxml").ok());
      break;
    case 'f':
      try_tests(text, flowtest::flowtest_grammar(), true);
      break;
    case 'e':
      try_tests(text, flowtest::esqltest_grammar(), false);
      break;
    default: {
      std::vector<flowtest::ImportedTest> tests;
      const std::string out = flowtest::import_java(text, "T", {{"a", "a.mxml"}}, {"App"}, tests);
      if (!flowtest::TestFile::parse("f", out, flowtest::flowtest_grammar()).ok()) std::abort();
    }
  }
  return 0;
}
