#!/usr/bin/env python3
"""Checks the house style where a script can.

  tools/tidy.py [ROOT]    exit 1 and one "file:line: rule: message" each

Rules (the names are what tools/tidy_waivers.txt uses; a waiver is `path-pattern rule reason`):
  file-length      C++ files have at most 800 lines
  function-length  C++ functions have at most 70 lines besides case labels (a TEST_CASE: 150)
  line-length      at most 100 columns in C++, 120 in Python, 150 in end-to-end tests, where a request is best
                   one line (URLs and raw strings may be longer)
  ban              throw, std::regex, <iostream> outside cli, using namespace, <filesystem> in headers
  test-sleep       tests do not sleep
  test-port        tests do not use fixed ports
  blank            no tabs, no blanks at a line's end, a newline at the end of the file
  todo             no TODO, FIXME or XXX: say it in an issue, or do it
  header           a header begins with its contract (a comment) and has #pragma once
  name             files are snake_case
  dead-file        every header is included, every page of docs/ is linked
  link             relative links of pages lead somewhere
  title            a page has exactly one title, its first heading
Generated files (*_gen.*) are exempt from the first three.
"""
import fnmatch
import os
import re
import sys
from pathlib import Path

FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 70
TEST_CASE_LINES_MAX = 150  # mostly tables
COLUMNS_MAX = {".cc": 100, ".h": 100, ".py": 120}
COLUMNS_MAX_END_TO_END = 150
CXX = (".cc", ".h")
FOLDERS = ("src", "tests", "fuzz", "bench", "tools", "cmake", "docs", "packaging", "examples", ".ci")
# Inputs and expected outputs keep their bytes, whatever they are.
DATA_FOLDERS = ("examples/", "tests/", "fuzz/corpus/")
TEXT = (".cc", ".h", ".py", ".sh", ".md", ".yaml", ".cmake", ".json")

BANS = [  # (pattern over code without comments and strings, where, message)
    (r"\bthrow\b", r"^src/", "no throw: errors are values (base/result.h)"),
    (r"\bstd::(w|u8)?regex\b|#\s*include\s*<regex>", r"", "no std::regex: it is slow and recurses on its input"),
    (r"#\s*include\s*<iostream>", r"^src/(?!cli/)", "no <iostream> outside cli: use base/log.h or a string"),
    (r"\busing\s+namespace\s+(?![\w:]*literals;)", r"^src/", "no using namespace: unity batches share one scope"),
    (r"#\s*include\s*<filesystem>", r"(?<!_for_test)(?<!_test_util)\.h$", "<filesystem> is too dear for a header"),
]
CASE_LABEL = re.compile(r"\s*(case [^;{]*|default):\s*$")  # the formatter gives each a line of its own
SLEEP_CXX = re.compile(r"\bthis_thread::sleep_|\b(usleep|nanosleep)\b|(?<![\w\]])::sleep\s*\(|^[ \t]*sleep\s*\(", re.M)
SLEEP_PYTHON = re.compile(r"\btime\.sleep\s*\(")
PORT = re.compile(r"""\bport_?\s*=\s*[1-9]\d{3,4}\b|\bhtons\(\s*[1-9]|--http-port[ =",]+[1-9]"""
                  r"""|\b(bind|listen|connect)\(\(?\s*["'][^"']*["']\s*,\s*[1-9]\d{3,4}\b""")
LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                     r"|(?<![0-9A-Za-z_])'(?:\\.[^'\n]*|[^'\\\n])'", re.S)
SCOPE_HEAD = re.compile(r"^(?:(?:inline|export|template\s*<.*>|typedef|static|constexpr)\s+)*"
                        r"(?:namespace|class|struct|union|enum|extern\s*\"?)\b", re.S)


def blank_out(text):
    """Replaces everything but newlines by spaces."""
    return re.sub(r"[^\n]", " ", text)


def strip_literals(text, comments_only=False):
    """The code with comments (and strings, as empty quotes) blanked; positions stay the same."""
    def replace(match):
        token = match.group()
        if token[0] == "/":
            return blank_out(token)
        if comments_only:
            return token
        return token[0] + blank_out(token[1:-1]) + token[-1] if token[0] != "R" else " " + '"' + \
            blank_out(token[2:-1]) + '"'
    return LITERAL.sub(replace, text)


def raw_string_lines(text):
    lines = set()
    for match in LITERAL.finditer(text):
        if match.group().startswith('R"'):
            first = text.count("\n", 0, match.start())
            lines.update(range(first + 1, first + match.group().count("\n") + 2))
    return lines


def find_functions(text):
    """[(first line, last line, head)] of the function bodies of clang-formatted code."""
    code = strip_literals(text)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: blank_out(m.group()), code, flags=re.M)
    functions, stack, head_start = [], [], 0
    for match in re.finditer(r"[{};]", code):
        at, c = match.start(), match.group()
        if c == ";":
            if not stack or stack[-1][0] == "scope":
                head_start = at + 1
        elif c == "{":
            kind, first = "other", 0
            if not stack or stack[-1][0] == "scope":
                head = re.sub(r"^\s*(?:(?:public|private|protected)\s*:\s*)+", "", code[head_start:at])
                kind = classify(head)
                first = code.count("\n", 0, at - len(head.lstrip())) + 1
                if kind == "scope":
                    head_start = at + 1
            stack.append((kind, first, head_start))
        elif stack:
            kind, first, start = stack.pop()
            if kind == "function":
                functions.append((first, code.count("\n", 0, at) + 1, " ".join(code[start:].split("{")[0].split())))
            if kind != "other":
                head_start = at + 1
    return functions


def classify(head):
    """What a brace at namespace or class scope opens: a scope, a function or an initializer."""
    text = head.strip()
    if SCOPE_HEAD.match(text) and not re.search(r"\)\s*(const|noexcept|override|final|->.*)?\s*$", text):
        return "scope"
    if text == "" or text.startswith("extern"):
        return "scope"
    if re.search(r"[\w>\])]$", head) and not head.endswith(")"):  # name{...}: a member initializer
        return "other"
    flat = re.sub(r"operator\s*[^\w\s(]+", " ", text)
    while re.search(r"\([^()]", flat):
        shorter = re.sub(r"\([^()]*\)", "", flat)
        if shorter == flat:
            break
        flat = shorter
    if ")" not in text or re.search(r"(?<![=!<>])=(?!=)", flat):
        return "other"
    return "function"


class Tidy:
    def __init__(self, root):
        self.root = root
        self.errors = []  # (path, line, rule, message)
        self.texts = {}
        names = [p.name for p in root.iterdir() if p.is_file() and p.suffix in (".md", ".txt")]
        for folder in FOLDERS:
            for top, dirs, files in os.walk(root / folder):
                dirs[:] = [d for d in dirs if d not in ("__pycache__", "node_modules")]
                names += [Path(top, f).relative_to(root).as_posix() for f in files]
        for name in sorted(names):
            if Path(name).suffix in TEXT:
                self.texts[name] = (root / name).read_text(encoding="utf-8", errors="replace")

    def error(self, name, line, rule, message):
        self.errors.append((name, line, rule, message))

    def check_lines(self, name, text):
        suffix = Path(name).suffix
        is_data = name.startswith(DATA_FOLDERS) and suffix not in (".cc", ".h", ".py", ".sh", ".md")
        raw = raw_string_lines(text) if suffix in CXX else set()
        if not is_data and text and not text.endswith("\n"):
            self.error(name, text.count("\n") + 1, "blank", "no newline at the end")
        for number, line in enumerate(text.split("\n"), 1):
            if not is_data and "\t" in line and number not in raw:
                self.error(name, number, "blank", "a tab")
            if not is_data and line != line.rstrip() and number not in raw:
                self.error(name, number, "blank", "blanks at the line's end")
            if re.search(r"\b(TODO|FIXME|XXX)\b", line) and not name.startswith(("tools/t", "docs/")):
                self.error(name, number, "todo", "do it now or say it in an issue")
            limit = COLUMNS_MAX_END_TO_END if name.startswith("tests/") and suffix == ".py" else \
                COLUMNS_MAX.get(suffix)
            if limit and len(line) > limit and number not in raw and "_gen." not in name and \
                    not re.search(r"https?://\S{20}", line):
                self.error(name, number, "line-length", f"{len(line)} columns, at most {limit}")

    def check_cxx(self, name, text):
        is_generated = "_gen." in name
        all_lines = text.split("\n")
        lines = len(all_lines) - 1
        if lines > FILE_LINES_MAX and not is_generated:
            self.error(name, 1, "file-length", f"{lines} lines, at most {FILE_LINES_MAX}")
        if not is_generated:
            for first, last, head in find_functions(text):
                limit = TEST_CASE_LINES_MAX if head.startswith("TEST_CASE") else FUNCTION_LINES_MAX
                length = sum(1 for line in all_lines[first - 1:last] if not CASE_LABEL.match(line))
                if length > limit:
                    self.error(name, first, "function-length", f"{length} lines, at most {limit}: {head[:60]}")
        code = strip_literals(text)
        for pattern, where, message in BANS:
            if re.search(where, name):
                for match in re.finditer(pattern, code):
                    self.error(name, code.count("\n", 0, match.start()) + 1, "ban", message)
        if name.endswith(".h"):
            if not text.startswith("//"):
                self.error(name, 1, "header", "does not begin with its contract, a comment")
            if "\n#pragma once\n" not in "\n" + text:
                self.error(name, 1, "header", "no #pragma once")
        if not re.fullmatch(r"[a-z0-9_]+\.(cc|h)", Path(name).name):
            self.error(name, 1, "name", "not snake_case")

    def check_test(self, name, text):
        is_cxx = name.endswith(CXX)
        code = strip_literals(text) if is_cxx else re.sub(r"#[^\n]*", "", text)
        for match in (SLEEP_CXX if is_cxx else SLEEP_PYTHON).finditer(code):
            self.error(name, code.count("\n", 0, match.end()) + 1, "test-sleep",
                       "tests do not sleep: wait for the event, or use base::VirtualClock")
        code = strip_literals(text, comments_only=True) if is_cxx else code
        for match in PORT.finditer(code):
            self.error(name, code.count("\n", 0, match.start()) + 1, "test-port", "bind port 0 and ask for the port")

    def check_page(self, name, text):
        prose = re.sub(r"^(```|~~~).*?^\1[^\n]*$", lambda m: blank_out(m.group()), text, flags=re.M | re.S)
        titles = [m.start() for m in re.finditer(r"^# ", prose, re.M)]
        if len(titles) != 1:
            self.error(name, 1, "title", f"{len(titles)} titles ('# ...'), not one")
        first = re.search(r"^#+ ", prose, re.M)
        if titles and first and first.start() != titles[0]:
            self.error(name, prose.count("\n", 0, first.start()) + 1, "title", "a heading before the title")
        links = set()
        prose = re.sub(r"`[^`\n]*`", lambda m: blank_out(m.group()), prose)
        for match in re.finditer(r"\]\(([^)#\s]+)(#[^)\s]*)?\)", prose):
            target = match.group(1)
            if re.match(r"[a-z]+:", target):
                continue
            path = os.path.normpath(os.path.join(os.path.dirname(name), target))
            links.add(path)
            if not (self.root / path).exists():
                self.error(name, prose.count("\n", 0, match.start()) + 1, "link", f"'{target}' does not exist")
        return links

    def check_dead_files(self, links):
        included = {}
        for name, text in self.texts.items():
            if name.endswith(CXX):
                for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M):
                    included.setdefault("src/" + header, set()).add(name)
        for name in self.texts:
            if name.startswith("src/") and name.endswith(".h") and "_gen." not in name and \
                    not included.get(name, set()) - {name[:-2] + ".cc"}:
                self.error(name, 1, "dead-file", "nobody includes this header")
            if name.startswith("docs/") and name.endswith(".md") and name not in links and name != "docs/README.md":
                self.error(name, 1, "dead-file", "no page links to this page")

    def apply_waivers(self):
        path = self.root / "tools/tidy_waivers.txt"
        if not path.exists():
            return
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            parts = line.split(None, 2)
            if len(parts) < 3:
                self.error("tools/tidy_waivers.txt", number, "waiver", "not `path-pattern rule reason`")
                continue
            kept = [e for e in self.errors if not (fnmatch.fnmatch(e[0], parts[0]) and e[2] == parts[1])]
            if len(kept) == len(self.errors):
                self.error("tools/tidy_waivers.txt", number, "waiver", "waives nothing: remove the line")
            else:
                self.errors = kept

    def run(self):
        links = set()
        for name, text in self.texts.items():
            self.check_lines(name, text)
            if name.endswith(CXX):
                self.check_cxx(name, text)
            if re.search(r"_test(ing|_util|_support)?\.(cc|h)$", name) or name.startswith("tests/") and name.endswith(
                    (".py", ".cc", ".h")):
                self.check_test(name, text)
            if name.endswith(".md"):
                links |= self.check_page(name, text) - {name}
        self.check_dead_files(links)
        self.apply_waivers()
        return [f"{name}:{line}: {rule}: {message}" for name, line, rule, message in sorted(self.errors)]


def main():
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return 0
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    errors = Tidy(root).run()
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
