// ACE 12 test projects as flow tests: the Java of their tests is read as text, and what the
// product's generated tests are made of is translated (object references, spies, stubs, recorded
// assemblies, counts and comparisons of messages). What is not stays as a comment in the case.
// Thread: any.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace millstream::flowtest {

struct ImportedTest {
  std::string name;                         // "Class.method"
  size_t translated = 0;                    // statements
  std::vector<std::string> not_translated;  // "line 12: statement"
};

struct ImportedFile {
  std::string path;  // of the .flowtest written
  std::vector<ImportedTest> tests;
};

// `folder`: a test project, or a folder that holds some. Files are written to `output`, or beside
// each test project when it is empty. Existing files are not replaced.
Result<std::vector<ImportedFile>> import_test_projects(const std::string& folder,
                                                       const std::string& output);

// One Java source. `resource` gives the path of a recording by its name, as the test is to refer
// to it; `project` that of an application. For tests.
std::string import_java(std::string_view source, const std::string& class_name,
                        const std::vector<std::pair<std::string, std::string>>& resources,
                        const std::vector<std::string>& projects, std::vector<ImportedTest>& tests);

}  // namespace millstream::flowtest
