#!/usr/bin/env python3
"""Starts a new node: its record, class, unit test and flow test, from tools/templates/node.

  tools/new_node.py NAME --family FAMILY [--type TYPE] [--root ROOT]

NAME is the name users see ("FileRead"); TYPE is the node's type in .msgflow files (ComIbm and the name when
absent). What comes out compiles, passes and hands the message on; make it say and do what the node does.
"""
import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import gen_nodes  # noqa: E402

TEMPLATES = Path(__file__).resolve().parent / "templates/node"
TARGETS = {"record.yaml": "src/nodes/{family}/{snake}.yaml", "node.cc": "src/nodes/{family}/{snake}.cc",
           "node_test.cc": "src/nodes/{family}/{snake}_test.cc", "node.flowtest": "tests/flow/{snake}.flowtest"}


def write_files(root, name, family, node_type):
    """The paths written; stops before the first one that exists."""
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]+", name):
        raise SystemExit(f"new_node.py: '{name}' is not a node name such as FileRead")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", family):
        raise SystemExit(f"new_node.py: '{family}' is not a folder name in snake_case")
    for record in gen_nodes.load_nodes(root):
        if node_type == record.raw["type"] or name == record.name:
            raise SystemExit(f"new_node.py: {record.where} is {record.name}, {record.raw['type']} already")
    snake = gen_nodes.snake(name)
    words = {"@NAME@": name, "@TYPE@": node_type, "@FAMILY@": family, "@SNAKE@": snake,
             "@PASCAL@": gen_nodes.pascal(name)}
    paths = {t: root / TARGETS[t].format(family=family, snake=snake) for t in TARGETS if (TEMPLATES / t).exists()}
    for path in paths.values():
        if path.exists():
            raise SystemExit(f"new_node.py: {path.relative_to(root)} exists")
    for template, path in paths.items():
        text = (TEMPLATES / template).read_text(encoding="utf-8")
        for word, value in words.items():
            text = text.replace(word, value)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(paths.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--family", required=True)
    parser.add_argument("--type")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    args = parser.parse_args()
    paths = write_files(args.root, args.name, args.family, args.type or "ComIbm" + args.name)
    generated = gen_nodes.generate(args.root)
    for path, text in generated.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            paths.append(path)
    for path in paths:
        print("wrote: " + str(path.relative_to(args.root)))
    print("next: edit the record, then tools/gen.py; ninja -C build/debug nodes_test")
    return 0


if __name__ == "__main__":
    sys.exit(main())
