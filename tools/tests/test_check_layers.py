"""Tests of tools/check_layers.py: small trees, one broken rule each."""
import tempfile
import unittest
from pathlib import Path

import helper
import check_layers
import json

DATA = {
    "levels": [["base"], ["text", "net"], ["tree"], ["nodes"], ["cli"]],
    "folders": {"base": [], "text": ["base"], "net": ["base"], "tree": ["base", "text"],
                "nodes": ["base", "tree"], "cli": ["*", "-net"]},
    "siblings": {"nodes": {"soap": ["http"]}},
    "third_party": {"openssl/": ["net"], "zlib.h": ["base"], "doctest/": []},
}


class LayersTest(unittest.TestCase):
    def run_on(self, files, data=None):
        with tempfile.TemporaryDirectory() as tmp:
            root = Path(tmp)
            (root / "src").mkdir()
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_layers.Checker(root, check_layers.Table(data or DATA)).run()

    def assert_one(self, files, *parts, data=None):
        errors = self.run_on(files, data)
        self.assertEqual(len(errors), 1, errors)
        for part in parts:
            self.assertIn(part, errors[0])

    def test_legal_tree(self):
        self.assertEqual(self.run_on({
            "src/base/a.h": "#include <string>\n", "src/base/a.cc": '#include <zlib.h>\n#include <sys/stat.h>\n',
            "src/tree/t.h": '#include "base/a.h"\n', "src/nodes/http/h.h": '#include "nodes/common/c.h"\n',
            "src/nodes/common/c.h": "", "src/cli/main.cc": '#include "nodes/http/h.h"\n'}), [])

    def test_upward_include(self):
        self.assert_one({"src/tree/t.h": "", "src/base/a.h": '// x\n#include "tree/t.h"\n'},
                        "src/base/a.h:2: base may not include tree")

    def test_lower_but_not_on_the_line(self):
        self.assert_one({"src/net/n.h": "", "src/tree/t.h": '#include "net/n.h"\n'}, "src/tree/t.h:1:")
        self.assert_one({"src/net/n.h": "", "src/cli/c.cc": '#include "net/n.h"\n'}, "src/cli/c.cc:1:")

    def test_test_files_may_look_down_only(self):
        self.assertEqual(self.run_on({"src/net/n.h": "", "src/tree/t_test.cc": '#include "net/n.h"\n'}), [])
        self.assert_one({"src/tree/t.h": "", "src/net/n_test.cc": '#include "tree/t.h"\n'}, "may not include tree")

    def test_test_headers_stay_in_tests(self):
        self.assert_one({"src/base/x_testing.h": "", "src/base/a.cc": '#include "base/x_testing.h"\n'},
                        "for tests only")

    def test_siblings(self):
        files = {"src/nodes/http/h.h": "", "src/nodes/mq/m.h": '#include "nodes/http/h.h"\n'}
        self.assert_one(files, "src/nodes/mq/m.h:1: nodes/mq may not include its sibling nodes/http")
        self.assertEqual(self.run_on({"src/nodes/http/h.h": "",
                                      "src/nodes/soap/s.h": '#include "nodes/http/h.h"\n'}), [])
        # The registry stands above the families; a family must not reach another through it.
        self.assertEqual(self.run_on({"src/nodes/http/h.h": "",
                                      "src/nodes/registry.cc": '#include "nodes/http/h.h"\n'}), [])
        self.assert_one({"src/nodes/http/h.h": "", "src/nodes/all.h": '#include "nodes/http/h.h"\n',
                         "src/nodes/mq/m.cc": '#include "nodes/all.h"\n'}, "stands above nodes/mq")

    def test_third_party(self):
        self.assert_one({"src/net/tls.h": "#include <openssl/ssl.h>\n"}, "in a header")
        self.assert_one({"src/tree/t.cc": "#include <openssl/ssl.h>\n"}, "belongs to net, not to tree")
        self.assert_one({"src/tree/t.cc": "#include <boost/asio.hpp>\n"}, "unknown third-party header")
        self.assert_one({"src/tree/t.cc": "#include <doctest/doctest.h>\n"}, "belongs to tests")
        self.assertEqual(self.run_on({"src/tree/t_test.cc": "#include <doctest/doctest.h>\n"}), [])

    def test_file_cycle(self):
        self.assert_one({"src/base/a.h": '#include "base/b.h"\n', "src/base/b.h": '#include "base/c.h"\n',
                         "src/base/c.h": '#include "base/a.h"\n'},
                        "include cycle of files: base/a.h base/b.h base/c.h")

    def test_folder_cycle_and_edges_that_do_not_go_down(self):
        data = {**DATA, "folders": {**DATA["folders"], "text": ["base", "net"], "net": ["base", "text"]}}
        errors = self.run_on({"src/text/t.h": '#include "net/n.h"\n', "src/text/u.h": "", "src/net/n.h": "",
                              "src/net/n.cc": '#include "text/u.h"\n'}, data)
        self.assertIn("src/net: include cycle of folders: net text", errors)
        self.assertIn("tools/layers.json: the edge text -> net does not go down", errors)

    def test_unknown_folder_and_missing_file(self):
        self.assert_one({"src/misc/a.cc": ""}, "src/misc: a new folder")
        self.assert_one({"src/base/a.h": "", "src/base/a.cc": '#include "a.h"\n'}, 'no file "src/a.h"; write it from')

    def test_comments_do_not_count(self):
        self.assertEqual(self.run_on({"src/base/a.h": '/*\n#include "tree/t.h"\n*/\n// #include "tree/t.h"\n'}), [])

    def test_cmake(self):
        self.assert_one({"CMakeLists.txt": "ms_library(base)\nms_library(text DEPS base net LIBS z)\n"},
                        "CMakeLists.txt:2: text may not depend on net")

    def test_the_real_table(self):
        data = json.loads((helper.TOOLS / "layers.json").read_text())
        table = check_layers.Table(data)
        self.assertEqual(table.errors, [])
        self.assertEqual(set(table.level), set(table.allowed))
        self.assertNotIn("flow", table.allowed["esql"])
        self.assertNotIn("net", table.allowed["queue"])
        self.assertNotIn("parsers", table.allowed["tree"])


if __name__ == "__main__":
    unittest.main()
