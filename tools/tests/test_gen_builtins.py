"""Tests of tools/gen_builtins.py: records in, table and page out."""
import tempfile
import unittest
from pathlib import Path

import helper  # noqa: F401
import gen_builtins

RECORD = """
- name: UPPER
  args: [1, 1]
  group: string
  syntax: UPPER(source)
  description: In upper case.
  examples: [{expr: "UPPER('a|b')", result: "'A|B'"}]
- name: COALESCE
  args: [1, any]
  null: handles
  group: misc
  syntax: COALESCE(a, b, ...)
  description: The first that is not NULL.
- name: FIELDNAME
  form: field
  args: [1, 1]
  group: field
  syntax: FIELDNAME(ref)
  description: The name.
"""


class BuiltinsTest(unittest.TestCase):
    def generate(self, text):
        with tempfile.TemporaryDirectory() as tmp:
            root = Path(tmp)
            folder = root / "src/esql/builtins"
            folder.mkdir(parents=True)
            (folder / "string.yaml").write_text(text)
            return {str(p.relative_to(root)): t for p, t in gen_builtins.generate(root).items()}

    def test_table_is_sorted_and_complete(self):
        code = self.generate(RECORD)["src/esql/builtins_gen.cc"]
        self.assertIn("Status fn_upper(EvalContext&, std::span<const value::Value>, value::Value&);", code)
        self.assertNotIn("fn_fieldname", code)
        self.assertIn('{"COALESCE", 1, 255, NullRule::kHandles, true, builtins::fn_coalesce},', code)
        self.assertIn('{"FIELDNAME", 1, 1, NullRule::kPropagates, true, nullptr},', code)
        self.assertLess(code.index('"COALESCE"'), code.index('"UPPER"'))

    def test_page_quotes_table_cells(self):
        page = self.generate(RECORD)["docs/reference/esql-functions.md"]
        self.assertIn("| `UPPER('a\\|b')` | `'A\\|B'` |", page)

    def test_examples_become_tests(self):
        record = RECORD.replace("examples: [", "examples: [{expr: F(1), result: null}, {expr: NOW(), test: false}, "
                                "{expr: G(), result: true}, ")
        tests = self.generate(record)["tests/esql/builtins_gen.esqltest"]
        self.assertIn("=== example of UPPER\n--- exprs\nF(1) => NULL\nCAST(G() AS CHARACTER) => 'TRUE'\n"
                      "CAST(UPPER('a|b') AS CHARACTER) => '''A|B'''\n", tests)
        self.assertNotIn("NOW", tests)
        self.assertNotIn("COALESCE", tests)

    def test_bad_records_are_named(self):
        for change, message in ((("group: string", "group: strings"), "unknown group"),
                                (("name: UPPER", "name: Upper"), "upper case"),
                                (("name: COALESCE", "name: UPPER"), "recorded twice"),
                                (("args: [1, 1]", "args: [2, 1]"), "is not"),
                                (("syntax: UPPER(source)", "sintax: x"), "unknown key")):
            with self.assertRaises(SystemExit) as stop:
                self.generate(RECORD.replace(*change))
            self.assertIn(message, str(stop.exception))


if __name__ == "__main__":
    unittest.main()
