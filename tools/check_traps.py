#!/usr/bin/env python3
"""Checks docs/internals/traps.md: which test shows each trap of the language and runtime.

  tools/check_traps.py [ROOT]    exit 1 and one line each when something is wrong

1. Every number from 1 to 80 has one row.
2. A row names tests that exist: cases of .esqltest files, TEST_CASEs, functions of Python tests. A row without
   tests says what the trap comes with.
3. Every case called "trap N: ..." in tests/esql stands in row N.
"""
import re
import sys
from pathlib import Path

TABLE = "docs/internals/traps.md"
COUNT = 80
ROW = re.compile(r"^\| (\d+) \| .*? \| (.*) \|$")
TEST = re.compile(r"^`([^`]+)`: (.+)$")
TRAP = re.compile(r"^=== (trap (\d+): .*)$", re.M)


def has_test(path, text, name):
    if path.endswith(".esqltest"):
        return f"\n=== {name}\n" in "\n" + text
    if path.endswith(".py"):
        return f"def {name}(" in text
    return f'TEST_CASE("{name}")' in text


def check(root):
    problems = []
    named = {}
    for number, line in enumerate((root / TABLE).read_text().splitlines(), 1):
        row = ROW.match(line)
        if not row:
            continue
        trap = int(row[1])
        if trap in named:
            problems.append(f"{TABLE}:{number}: trap {trap} has two rows")
        named[trap] = set()
        for cell in row[2].replace("\\|", "|").split("<br>"):
            test = TEST.match(cell)
            if not test:
                if not cell.startswith("comes with "):
                    problems.append(f"{TABLE}:{number}: '{cell}' is no test")
                continue
            path, name = test.groups()
            named[trap].add(name)
            if not (root / path).is_file():
                problems.append(f"{TABLE}:{number}: there is no {path}")
            elif not has_test(path, (root / path).read_text(), name):
                problems.append(f"{TABLE}:{number}: {path} has no test '{name}'")
    for trap in range(1, COUNT + 1):
        if trap not in named:
            problems.append(f"{TABLE}: trap {trap} has no row")
    for path in sorted((root / "tests/esql").glob("*.esqltest")):
        for name, trap in TRAP.findall(path.read_text()):
            if name not in named.get(int(trap), ()):
                problems.append(f"{path.relative_to(root)}: '{name}' is missing in {TABLE}")
    return problems


def main():
    problems = check(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    for p in problems:
        print(p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
