"""Tests of tools/new_node.py: what it writes passes the checks and compiles."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import helper
import tidy


class NewNodeTest(unittest.TestCase):
    def run_tool(self, root, *args):
        return subprocess.run([sys.executable, "-B", str(helper.TOOLS / "new_node.py"), "--root", str(root), *args],
                              capture_output=True, text=True)

    def test_a_new_node_compiles_and_is_tidy(self):
        with tempfile.TemporaryDirectory() as tmp:
            done = self.run_tool(tmp, "FileRead", "--family", "file")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("wrote: src/nodes/file/file_read.yaml", done.stdout)
            self.assertIn("wrote: src/nodes/registry_gen.cc", done.stdout)
            errors = [e for e in tidy.Tidy(Path(tmp)).run() if "dead-file" not in e and ": link:" not in e]
            self.assertEqual(errors, [])
            if not shutil.which("g++"):
                return
            for source in sorted(Path(tmp, "src").rglob("*.cc")):
                done = subprocess.run(
                    ["g++", "-std=gnu++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{tmp}/src",
                     f"-I{helper.TOOLS.parent}/src", str(source)], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_refuses_what_exists_and_bad_names(self):
        with tempfile.TemporaryDirectory() as tmp:
            self.run_tool(tmp, "FileRead", "--family", "file")
            for args, message in ((("FileRead", "--family", "file"), "already"),
                                  (("Other", "--family", "file", "--type", "ComIbmFileRead"), "already"),
                                  (("file_read", "--family", "file"), "not a node name"),
                                  (("FileX", "--family", "File"), "snake_case")):
                done = self.run_tool(tmp, *args)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
