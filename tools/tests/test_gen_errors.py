"""Tests of tools/gen_errors.py and gen_reference.py, and of gen.py --check."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import helper
import gen_errors
import gen_reference

RECORDS = """
- name: kLate
  id: MS1000
  kind: Fatal
  text: "Broken ''{0}'' | \\"x\\""
  help: "Report it."
- name: kEarly
  id: BIP200
  kind: Configuration
  severity: Warning
  text: "First"
  help: "Go on."
"""


class ErrorsTest(unittest.TestCase):
    def write(self, tmp, text, folder="base"):
        path = Path(tmp, "src", folder, "errors.yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_header(self):
        with tempfile.TemporaryDirectory() as tmp:
            self.write(tmp, RECORDS, "nodes/http")
            (text,) = gen_errors.generate(Path(tmp)).values()
        self.assertIn("namespace millstream::nodes::http::errors {", text)
        self.assertIn('"MS1000", 1000, base::ExceptionKind::kFatal, base::Severity::kError,\n'
                      '    "Broken \'{0}\' | \\"x\\""}', text)

    def test_bad_records_are_named(self):
        for change, message in ((("kind: Fatal", "kind: Fatale"), "unknown kind"),
                                (("id: BIP200", "id: MS1000"), "is already that of"),
                                (("name: kEarly", "name: kLate"), "name used twice"),
                                (('help: "Go on."', ""), "'help' is missing")):
            with tempfile.TemporaryDirectory() as tmp, self.assertRaises(SystemExit) as stop:
                self.write(tmp, RECORDS.replace(*change))
                gen_errors.generate(Path(tmp))
            self.assertIn(message, str(stop.exception))

    def test_reference_is_sorted_and_topics_hold_the_page(self):
        with tempfile.TemporaryDirectory() as tmp:
            self.write(tmp, RECORDS)
            files = {str(p.relative_to(tmp)): t for p, t in gen_reference.generate(Path(tmp)).items()}
        page = files["docs/reference/errors.md"]
        self.assertLess(page.index("## BIP200"), page.index("## MS1000"))
        self.assertIn("Warning, found while loading. Go on.", page)
        self.assertIn('{"error", "BIP200", "First",', files["src/cli/describe_gen.cc"])

    def test_literal_records_are_for_the_reference_only(self):
        record = ("- name: kStarted\n  literal: true\n  id: BIP300\n  kind: Log\n  severity: Info\n"
                  "  text: \"a | b\"\n  help: \"Wait.\"\n")
        with tempfile.TemporaryDirectory() as tmp:
            self.write(tmp, RECORDS + record)
            (header,) = gen_errors.generate(Path(tmp)).values()
            files = {str(p.relative_to(tmp)): t for p, t in gen_reference.generate(Path(tmp)).items()}
        self.assertNotIn("kStarted", header)
        self.assertIn("## BIP300\n\na \\| b\n\nInfo, a line of the log. Wait.", files["docs/reference/errors.md"])
        self.assertIn('{"error", "BIP300", "a | b",', files["src/cli/describe_gen.cc"])
        with tempfile.TemporaryDirectory() as tmp, self.assertRaises(SystemExit):
            self.write(tmp, record.replace("  literal: true\n", ""))
            gen_errors.generate(Path(tmp))

    def test_check_names_stale_files(self):
        with tempfile.TemporaryDirectory() as tmp:
            self.write(tmp, RECORDS)
            shutil.copytree(helper.TOOLS, Path(tmp, "tools"), ignore=shutil.ignore_patterns("__pycache__"))
            run = [sys.executable, "-B", str(Path(tmp, "tools/gen.py"))]
            check = subprocess.run(run + ["--check"], capture_output=True, text=True)
            self.assertEqual(check.returncode, 1)
            self.assertIn("stale: src/base/errors_gen.h", check.stdout)
            self.assertFalse(Path(tmp, "src/base/errors_gen.h").exists())
            self.assertEqual(subprocess.run(run, capture_output=True).returncode, 0)
            self.assertEqual(subprocess.run(run + ["--check"], capture_output=True).returncode, 0)


if __name__ == "__main__":
    unittest.main()
