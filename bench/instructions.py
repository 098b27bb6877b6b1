#!/usr/bin/env python3
"""Instructions per message of fixed work, counted by callgrind: the gate against slow decay.

Unlike times they do not depend on what else the machine does. One server runs under callgrind; each
case is the mean over a fixed number of requests on one connection, after a warm-up. Only user-mode
instructions count. The build must be the release preset (g++ 12).
  bench/instructions.py            compare with bench/instructions.txt; exit 1 beyond +-3 %
  bench/instructions.py --write    make the measured numbers the new ones
"""
import http.client
import pathlib
import re
import subprocess
import sys

import harness
from harness import Lab, PROGRAM, ROOT, table, tool

LIMIT_PERCENT = 3
WARM_UP = 10
BASELINE = ROOT / "bench/instructions.txt"
ROUTING = "examples/routing"
PROJECTS = ("bench/projects/http-floor", "examples/http-xml-sum", "examples/http-json-sum", ROUTING)
# name, path, content type, body (a payload, a file or text), requests
CASES = (
    ("floor-100", "/floor", "text/plain", "x" * 100, 400),
    ("route-xml", "/routing/orders", "text/xml", pathlib.Path(ROUTING, "input/domestic.xml"), 200),
    ("xml-sum-2K", "/xml/sum", "text/xml", ("2K", "xml"), 200),
    ("xml-sum-200K", "/xml/sum", "text/xml", ("200K", "xml"), 10),
    ("json-sum-2K", "/json/sum", "application/json", ("2K", "json"), 200),
    ("json-sum-200K", "/json/sum", "application/json", ("200K", "json"), 10),
)


def body_of(source):
    if isinstance(source, str):
        return source.encode()
    if isinstance(source, pathlib.Path):
        return (ROOT / source).read_bytes()
    size, kind = source
    return subprocess.run([PROGRAM, "payload", "sales", "--size", size, "--format", kind],
                          capture_output=True, check=True, cwd=ROOT).stdout


def control(option, pid):
    subprocess.run([tool("callgrind_control"), option, str(pid)], capture_output=True, check=True)


class Counter:
    """The server under callgrind."""

    def __init__(self, lab):
        self.out = lab.folder / "callgrind.out"
        log = lab.folder / "server.log"
        with open(log, "w") as stream:
            self.process = lab.spawn(
                [tool("valgrind"), "--tool=callgrind", f"--callgrind-out-file={self.out}", PROGRAM,
                 "run", *PROJECTS, "--http-port", "0", "--host", "127.0.0.1", "--cores", 1],
                None, stream)
        port = lab.wait_for(self.process, log, r"http://\*:(\d+)/")
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.dumps = 0

    def send(self, path, content_type, body, count):
        for _ in range(count):
            self.connection.request("POST", path, body, {"Content-Type": content_type})
            reply = self.connection.getresponse()
            text = reply.read()
            if reply.status != 200:
                raise SystemExit(f"{path}: {reply.status} {text[:300]}")

    def measure(self, path, content_type, body, count):
        self.send(path, content_type, body, WARM_UP)
        control("-z", self.process.pid)
        self.send(path, content_type, body, count)
        self.dumps += 1
        control("-d", self.process.pid)
        dump = self.out.with_name(f"{self.out.name}.{self.dumps}").read_text()
        return int(re.search(r"^(?:totals|summary): (\d+)", dump, re.M).group(1)) // count


def main():
    harness.READY_WAIT_S = 120
    known = dict(line.split() for line in BASELINE.read_text().splitlines()
                 if line and not line.startswith("#")) if BASELINE.exists() else {}
    measured, rows, bad = {}, [("case", "instructions", "before", "change")], []
    with Lab() as lab:
        counter = Counter(lab)
        for name, path, content_type, source, count in CASES:
            found = counter.measure(path, content_type, body_of(source), count)
            measured[name] = found
            before = int(known.get(name, 0))
            change = (found / before - 1) * 100 if before else 0
            rows.append((name, found, before or "-", f"{change:+.1f} %" if before else "new"))
            if not before or abs(change) > LIMIT_PERCENT:
                bad.append(name)
    table(rows)
    if "--write" in sys.argv[1:]:
        lines = [f"{name} {count}" for name, count in measured.items()]
        BASELINE.write_text("# Instructions per message; bench/instructions.py --write renews them.\n"
                            + "\n".join(lines) + "\n")
    elif bad:
        print(f"beyond {LIMIT_PERCENT} %: {', '.join(bad)}. If that is meant (also when it became "
              "cheaper), renew with --write.")
        sys.exit(1)


if __name__ == "__main__":
    main()
