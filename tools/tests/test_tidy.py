"""Tests of tools/tidy.py: the function finder, and one small tree a rule."""
import tempfile
import unittest
from pathlib import Path

import helper  # noqa: F401
import tidy

HEADER = "// A contract.\n#pragma once\n"


def body(lines):
    return "  f();\n" * lines


class FunctionsTest(unittest.TestCase):
    def spans(self, text):
        return [(first, last) for first, last, _ in tidy.find_functions(text)]

    def test_plain_functions(self):
        self.assertEqual(self.spans("namespace a {\n\nint f(int x) {\n  return x;\n}\n\nint g() { return 1; }\n}\n"),
                         [(3, 5), (7, 7)])

    def test_signature_over_lines_counts(self):
        self.assertEqual(self.spans("Status f(int a,\n         int b) {\n  return {};\n}\n"), [(1, 4)])

    def test_nested_braces_belong_to_the_function(self):
        self.assertEqual(self.spans("void f() {\n  auto g = [&](int i) {\n    if (i) {\n    }\n  };\n}\n"), [(1, 6)])

    def test_classes_are_scopes(self):
        text = ("class A : public B {\n public:\n  explicit A(int x) : x_{x}, y_(2) {\n    go();\n  }\n"
                "  int get() const { return x_; }\n\n private:\n  int x_ = 0;\n  std::vector<int> v_{1, 2};\n};\n")
        self.assertEqual(self.spans(text), [(3, 5), (6, 6)])

    def test_tables_are_not_functions(self):
        self.assertEqual(self.spans("constexpr Row kRows[] = {\n    {1, f(2)},\n    {3, 4},\n};\n"), [])
        self.assertEqual(self.spans("int x = f() + g({1});\n"), [])
        self.assertEqual(self.spans("const auto kMap = make({\n  {1, 2},\n});\nint f() {\n}\n"), [(4, 5)])

    def test_operators_templates_and_defaults(self):
        self.assertEqual(self.spans("bool operator==(A a, A b) {\n  return true;\n}\n"), [(1, 3)])
        self.assertEqual(self.spans("template <typename T>\nvoid f(T t = T()) {\n}\n"), [(1, 3)])
        self.assertEqual(self.spans("struct A* make(int depth = 3) {\n}\n"), [(1, 2)])

    def test_braces_in_literals_and_macros(self):
        text = 'void f() {\n  g("}", \'}\', R"x(}})x");  // }\n}\n#define M(x) {\\\n  {\nvoid h() {\n}\n'
        self.assertEqual(self.spans(text), [(1, 3), (6, 7)])
        self.assertEqual(self.spans("void f() {\n  int i = 1'000'000;\n}\nvoid g() {\n}\n"), [(1, 3), (4, 5)])


class RulesTest(unittest.TestCase):
    def run_on(self, files):
        with tempfile.TemporaryDirectory() as tmp:
            for name, text in files.items():
                path = Path(tmp, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return tidy.Tidy(Path(tmp)).run()

    def assert_one(self, files, start):
        errors = self.run_on(files)
        self.assertEqual(len(errors), 1, errors)
        self.assertTrue(errors[0].startswith(start), errors[0])

    def test_clean_tree(self):
        self.assertEqual(self.run_on({
            "src/base/a.h": HEADER, "src/base/a_test.cc": '#include "base/a.h"\n', "README.md": "# A\n",
            "docs/README.md": "# Docs\n[b](guide/b.md)\n", "docs/guide/b.md": "# B\n```\n# not a title\n```\n"}), [])

    def test_lengths(self):
        self.assert_one({"src/base/a.cc": "// x\n" * 801}, "src/base/a.cc:1: file-length: 801")
        self.assertEqual(self.run_on({"src/base/a.cc": "// x\n" * 800, "src/base/b_gen.cc": "// x\n" * 900}), [])
        self.assert_one({"src/base/a.cc": "\nvoid f() {\n" + body(69) + "}\n"}, "src/base/a.cc:2: function-length: 71")
        self.assertEqual(self.run_on({"src/base/a.cc": "void f() {\n" + body(68) + "}\n"}), [])
        self.assertEqual(self.run_on({"src/base/a_test.cc": 'TEST_CASE("x") {\n' + body(99) + "}\n"}), [])
        cases = "  switch (x) {\n" + "    case A:\n    case B:\n      return 1;\n" * 60 + "  }\n"
        self.assertEqual(self.run_on({"src/base/a.cc": "int f() {\n" + cases + "}\n"}), [])
        self.assert_one({"src/base/a.cc": "// " + "x" * 98 + "\n"}, "src/base/a.cc:1: line-length: 101")
        self.assertEqual(self.run_on({"src/base/a.cc": "// https://" + "x" * 100 + "\n"}), [])
        self.assertEqual(self.run_on({"src/base/a.cc": 'auto a = R"(' + "x" * 100 + ')";\n'}), [])

    def test_bans(self):
        for code in ("throw 1;", "std::regex r;", "#include <iostream>", "using namespace std;"):
            self.assert_one({"src/base/a.cc": f"\n{code}\n"}, "src/base/a.cc:2: ban:")
        self.assertEqual(self.run_on({"src/base/a.cc": '// throw\nauto a = "throw"; int parse_throw;\n',
                                      "src/cli/main.cc": "#include <iostream>\n"}), [])
        self.assert_one({"src/base/a.h": HEADER + "#include <filesystem>\n", "src/base/b.cc": '#include "base/a.h"\n'},
                        "src/base/a.h:3: ban:")

    def test_tests(self):
        self.assert_one({"src/net/a_test.cc": "\nstd::this_thread::sleep_for(x);\n"}, "src/net/a_test.cc:2: test-sleep")
        self.assert_one({"tests/http/run.py": "time.sleep(1)\n"}, "tests/http/run.py:1: test-sleep")
        clean = "Status sleep(int ms);\nhost.sleep(3);\nnet::sleep_for(2);\n"
        self.assertEqual(self.run_on({"src/net/a_test.cc": clean}), [])
        self.assert_one({"src/net/a_test.cc": "int port = 8080;\n"}, "src/net/a_test.cc:1: test-port")
        self.assert_one({"tests/http/run.py": 's.bind(("127.0.0.1", 7800))\n'}, "tests/http/run.py:1: test-port")
        self.assertEqual(self.run_on({"src/net/a_test.cc": 'int port = 0;\nparse("http://localhost:7800/");\n'}), [])

    def test_blanks_and_todos(self):
        self.assert_one({"src/base/a.cc": "int a;\n\tint b;\n"}, "src/base/a.cc:2: blank: a tab")
        self.assert_one({"src/base/a.cc": "int a; \n"}, "src/base/a.cc:1: blank: blanks")
        self.assert_one({"src/base/a.cc": "int a;"}, "src/base/a.cc:1: blank: no newline")
        self.assert_one({"src/base/a.cc": "// TODO: more\n"}, "src/base/a.cc:1: todo")

    def test_headers_and_names(self):
        use = {"src/base/b.cc": '#include "base/a.h"\n'}
        self.assert_one({"src/base/a.h": "#pragma once\n", **use}, "src/base/a.h:1: header: does not begin")
        self.assert_one({"src/base/a.h": "// x\n", **use}, "src/base/a.h:1: header: no #pragma once")
        self.assert_one({"src/base/BadName.cc": ""}, "src/base/BadName.cc:1: name")

    def test_dead_files(self):
        self.assert_one({"src/base/a.h": HEADER, "src/base/a.cc": '#include "base/a.h"\n'},
                        "src/base/a.h:1: dead-file")
        self.assert_one({"docs/a.md": "# A\n"}, "docs/a.md:1: dead-file")

    def test_pages(self):
        self.assert_one({"README.md": "# A\n# B\n"}, "README.md:1: title: 2 titles")
        self.assert_one({"README.md": "## B\n\n# A\n"}, "README.md:1: title: a heading before")
        self.assert_one({"README.md": "# A\n[x](no/such.md#part)\n"}, "README.md:2: link: 'no/such.md'")
        self.assertEqual(self.run_on({"README.md": "# A\n[x](https://example.org) `[x](y)`\n"}), [])

    def test_waivers(self):
        files = {"src/base/a.cc": "// TODO\n", "tools/tidy_waivers.txt": "src/base/*.cc todo because\n"}
        self.assertEqual(self.run_on(files), [])
        self.assert_one({"tools/tidy_waivers.txt": "src/x.cc todo because\n"},
                        "tools/tidy_waivers.txt:1: waiver: waives nothing")
        self.assert_one({"tools/tidy_waivers.txt": "src/x.cc todo\n"}, "tools/tidy_waivers.txt:1: waiver: not")


if __name__ == "__main__":
    unittest.main()
