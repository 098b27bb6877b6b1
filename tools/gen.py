#!/usr/bin/env python3
"""Writes what is generated from component records.

  tools/gen.py           write every generated file
  tools/gen.py --check   write nothing; exit 1 and name the files that are stale

One generator a kind of record, in tools/gen_*.py; docs/internals/records.md describes the records.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import gen_amqp  # noqa: E402
import gen_builtins  # noqa: E402
import gen_errors  # noqa: E402
import gen_mqsc  # noqa: E402
import gen_nodes  # noqa: E402
import gen_objects  # noqa: E402
import gen_reference  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
GENERATORS = [gen_errors.generate, gen_builtins.generate, gen_nodes.generate,
              gen_objects.generate, gen_mqsc.generate, gen_amqp.generate, gen_reference.generate]


def main() -> int:
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return 0
    check = "--check" in sys.argv[1:]
    stale = []
    for generate in GENERATORS:
        for path, text in generate(ROOT).items():
            if path.exists() and path.read_text(encoding="utf-8") == text:
                continue
            stale.append(path.relative_to(ROOT))
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    for path in stale:
        print(("stale: " if check else "wrote: ") + str(path))
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
