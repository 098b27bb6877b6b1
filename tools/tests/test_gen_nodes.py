"""Tests of tools/gen_nodes.py: names, checks, and that the generated code compiles."""
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import helper
import gen_nodes

RECORD = """
name: HTTPInput
type: ComIbmWSInput
statistics_type: WSInputNode
family: http
support: partial
description: Receives a request | and starts the flow.
is_input: true
inputs: []
outputs: [out, failure]
properties:
  - {name: URLSpecifier, required: true, description: The path.}
  - {name: faultFormat, type: enum, values: [SOAP 1.1, SOAP 1.2, JSON, none], default: JSON, tolerant: true}
  - {name: timeoutForClient, type: integer, default: 180, min: 0, unit: seconds}
  - {name: useHTTPS, type: boolean, refused_unless_default: true, refused_reason: Not yet.}
  - {name: delimiter, type: hex, default: 0D0A}
  - {name: operator, refused_values: {x: Why.}}
  - {name: securityProfileName, support: refused, refused_reason: No profiles.}
  - {name: labelPrefix, support: ignored}
tables:
  - {name: filterTable, columns: [pattern, {name: terminal, description: Where to.}]}
"""


class NamesTest(unittest.TestCase):
    def test_snake(self):
        for name, expected in (("HTTPInput", "http_input"), ("URLSpecifier", "url_specifier"),
                               ("useHTTPS", "use_https"), ("messageDomainProperty", "message_domain_property"),
                               ("nameValue4RequestHeader", "name_value4_request_header"), ("operator", "operator_"),
                               ("RouteToLabel", "route_to_label")):
            self.assertEqual(gen_nodes.snake(name), expected)

    def test_enumerator(self):
        for value, expected in (("SOAP 1.1", "kSoap11"), ("destinationAndMessage", "kDestinationAndMessage"),
                                ("JSON", "kJson"), ("", "kEmpty")):
            self.assertEqual(gen_nodes.enumerator(value), expected)


class NodesTest(unittest.TestCase):
    def generate(self, text, tmp):
        root = Path(tmp)
        folder = root / "src/nodes/http"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "http_input.yaml").write_text(text)
        files = {str(p.relative_to(root)): t for p, t in gen_nodes.generate(root).items()}
        for name, content in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content)
        return files

    def test_files_and_contents(self):
        with tempfile.TemporaryDirectory() as tmp:
            files = self.generate(RECORD, tmp)
        self.assertEqual(sorted(files), [
            "docs/reference/nodes/HTTPInput.md", "docs/reference/nodes/README.md",
            "src/nodes/http/http_input_properties_gen.cc", "src/nodes/http/http_input_properties_gen.h",
            "src/nodes/registry_gen.cc"])
        header = files["src/nodes/http/http_input_properties_gen.h"]
        self.assertIn("enum class FaultFormat : uint8_t { kSoap11, kSoap12, kJson, kNone };", header)
        self.assertIn("int64_t timeout_for_client = 180;", header)
        self.assertNotIn("label_prefix", header)
        page = files["docs/reference/nodes/HTTPInput.md"]
        self.assertIn("| `useHTTPS` | boolean | `false` | Any other value than the default is refused at load: "
                      "Not yet. |", page)
        self.assertIn("| `terminal` | Where to. |", page)
        self.assertIn("Receives a request \\| and", files["docs/reference/nodes/README.md"])

    @unittest.skipUnless(shutil.which("g++"), "needs g++")
    def test_generated_code_compiles(self):
        with tempfile.TemporaryDirectory() as tmp:
            self.generate(RECORD, tmp)
            for name in ("http/http_input_properties_gen.cc", "registry_gen.cc"):
                done = subprocess.run(
                    ["g++", "-std=gnu++20", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror",
                     "-fsyntax-only", f"-I{tmp}/src", f"-I{helper.TOOLS.parent}/src", f"{tmp}/src/nodes/{name}"],
                    capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_bad_records_are_named(self):
        for change, message in ((("type: hex", "type: hexa"), "unknown type"),
                                (("default: JSON", "default: XML"), "not among the values"),
                                (("family: http", "famili: http"), "unknown key"),
                                (("support: partial", "support: some"), "full or partial"),
                                (("refused_reason: No profiles.", "min: 1"), "without a refused_reason"),
                                (("name: labelPrefix", "name: operator"), "there twice"),
                                (("default: 180", "default: soon"), "not an integer"),
                                (("SOAP 1.2", "SOAP-1.1"), "same C++ name")):
            with tempfile.TemporaryDirectory() as tmp, self.assertRaises(SystemExit) as stop:
                self.generate(RECORD.replace(*change), tmp)
            self.assertIn(message, str(stop.exception))


if __name__ == "__main__":
    unittest.main()
