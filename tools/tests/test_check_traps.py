"""Tests of tools/check_traps.py: a small tree, one broken rule each."""
import tempfile
import unittest
from pathlib import Path

import helper
import check_traps


class TrapsTest(unittest.TestCase):
    def run_on(self, rows, case="trap 1: a | b"):
        with tempfile.TemporaryDirectory() as tmp:
            root = Path(tmp)
            (root / "docs/internals").mkdir(parents=True)
            (root / "tests/esql").mkdir(parents=True)
            (root / "x_test.cc").write_text('TEST_CASE("x: works") {\n')
            (root / "tests/esql/t.esqltest").write_text(f"=== {case}\n--- exprs\n1 => 1\n")
            lines = [f"| {n} | what | {rows.get(n, 'comes with later nodes')} |"
                     for n in range(1, check_traps.COUNT + 1) if rows.get(n) != ""]
            (root / check_traps.TABLE).write_text("\n".join(lines) + "\n")
            return check_traps.check(root)

    GOOD = r"`tests/esql/t.esqltest`: trap 1: a \| b<br>`x_test.cc`: x: works"

    def test_good(self):
        self.assertEqual(self.run_on({1: self.GOOD}), [])

    def test_problems(self):
        for rows, part in (({1: self.GOOD, 7: ""}, "trap 7 has no row"),
                           ({1: self.GOOD, 7: "`x_test.cc`: x: fails"}, "has no test"),
                           ({1: self.GOOD, 7: "`y_test.cc`: x"}, "there is no y_test.cc"),
                           ({1: self.GOOD, 7: "some day"}, "is no test"),
                           ({}, "is missing in")):
            problems = self.run_on(rows)
            self.assertEqual(len(problems), 1, problems)
            self.assertIn(part, problems[0])


if __name__ == "__main__":
    unittest.main()
