#!/usr/bin/env python3
"""What statistics, metrics and the hooks for traces cost when nothing is switched on.

Two release binaries of the same source: the one that is shipped, and one that was configured with
-DMS_UNCOUNTED=ON, in which no counter counts, no clock is read for statistics and no message asks
whether somebody watches it. Instructions a message are counted by callgrind, system calls by
strace; the limit is 2 % of http-xml-sum at 2K.
  cmake -B build/uncounted --preset release -DMS_UNCOUNTED=ON && ninja -C build/uncounted millstream
  bench/observe_cost.py [SHIPPED [UNCOUNTED]]     default build/release and build/uncounted
"""
import http.client
import pathlib
import re
import subprocess
import sys

import harness
import instructions
from harness import ROOT, Lab, table, tool

LIMIT_PERCENT = 2
FEW, MANY = 100, 1100  # messages; the difference leaves out start and end of the process


def system_calls(lab, program, body, messages):
    """System calls of the whole process for so many messages on one connection."""
    log, trace = lab.folder / "strace.log", lab.folder / "strace.txt"
    with open(log, "w") as stream:
        process = lab.spawn([tool("strace"), "-f", "-c", "-o", trace, program, "run", "examples/http-xml-sum",
                             "--http-port", "0", "--host", "127.0.0.1", "--cores", 1], None, stream)
    port = lab.wait_for(process, log, r"http://\*:(\d+)/")

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for _ in range(messages):
        connection.request("POST", "/xml/sum", body, {"Content-Type": "text/xml"})
        reply = connection.getresponse()
        reply.read()
        assert reply.status == 200, reply.status
    connection.close()
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    subprocess.run(["kill", "-TERM", children[0]], check=True)
    process.wait(60)
    total = re.search(r"^\s*100\.00\s+\S+\s+\S*\s*(\d+)\s+\d*\s*total", trace.read_text(), re.M)
    return int(total.group(1))


def instruction_count(lab, program, body):
    instructions.PROGRAM = program
    counter = instructions.Counter(lab)
    found = counter.measure("/xml/sum", "text/xml", body, 1000)
    counter.process.terminate()
    counter.process.wait(60)
    return found


def main():
    harness.READY_WAIT_S = 120
    words = sys.argv[1:]
    programs = [pathlib.Path(words[0] if words else ROOT / "build/release/millstream"),
                pathlib.Path(words[1] if len(words) > 1 else ROOT / "build/uncounted/millstream")]
    body = subprocess.run([programs[0], "payload", "sales", "--size", "2K", "--format", "xml"],
                          capture_output=True, check=True).stdout
    rows = [("binary", "instructions/message", "system calls/message")]
    found = []
    for name, program in zip(("shipped", "uncounted"), programs):
        with Lab() as lab:
            calls = [system_calls(lab, program, body, messages) for messages in (FEW, MANY)]
            counts = instruction_count(lab, program, body), (calls[1] - calls[0]) / (MANY - FEW)
        found.append(counts)
        rows.append((name, counts[0], f"{counts[1]:.2f}"))
    cost = [100 * (a - b) / b for a, b in zip(*found)]
    rows.append(("cost", *(f"{c:+.2f} %" for c in cost)))
    table(rows)
    bad = any(c > LIMIT_PERCENT for c in cost)
    print(f"statistics, hooks and metrics at their defaults: limit {LIMIT_PERCENT} %: " + ("MISSED" if bad else "met"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
