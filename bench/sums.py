#!/usr/bin/env python3
"""http-xml-sum and http-json-sum at 2K to 2MB: CPU per message beside the floor of the same run.

The floor is nginx `return 200` with as many connections. The server has core 0, wrk core 1; the
replies of the check before and after are compared with the sum that Python's decimal makes. Where
perf is installed, a second table splits the cost by call stacks of the same requests.
  bench/sums.py [ROUNDS] [SECONDS]
"""
import collections
import decimal
import json
import re
import shutil
import subprocess
import sys

import harness
from harness import Lab, PROGRAM, ROOT, median, spread, table

SIZES = ("2K", "20K", "200K", "2MB")
TARGETS = {"2K": 2.3, "20K": 5, "200K": 35, "2MB": 350}
FORMATS = {"xml": "text/xml", "json": "application/json"}
CONNECTIONS = 4


def json_sum(text):
    total = decimal.Decimal(0)

    def walk(node, name):
        nonlocal total
        if isinstance(node, dict):
            for key, value in node.items():
                walk(value, key)
        elif isinstance(node, list):
            for value in node:
                walk(value, name)
        elif name in ("Price", "Quantity", "Balance"):
            total += decimal.Decimal(node)

    walk(json.loads(text, parse_float=decimal.Decimal), "")
    return total


def xml_sum(text):
    found = re.findall(r"<(?:Price|Quantity|Balance)>([^<]*)<", text)
    return sum(map(decimal.Decimal, found), decimal.Decimal(0))


def check(server, kind, payload, expected):
    status, reply = server.request("POST", f"/{kind}/sum", payload.read_bytes(),
                                   {"Content-Type": FORMATS[kind]})
    found = re.search(rb"[\d.]{2,}", reply.replace(b"1.0", b"")) or re.search(rb"[\d.]+", reply)
    if status != 200 or decimal.Decimal(found.group(0).decode()) != expected:
        raise SystemExit(f"{kind} {payload.name}: expected {expected}, got {status} {reply[:300]}")


# The first of these that any frame of a stack matches, from the innermost frame outwards.
PARTS = (
    ("receive", r"sys_recv|Connection::receive"),
    ("send", r"sys_send|Connection::write_out"),
    ("wait", r"sys_epoll"),
    ("serialise", r"::serialise|Writer|write_body"),
    ("parse", r"millstream::(parsers|format)::|simdjson"),
    ("ESQL", r"millstream::(esql|value)::"),
)


def part_of(stack):
    for frame in stack:
        for part, pattern in PARTS:
            if re.search(pattern, frame):
                return part
    return "HTTP, flow, other"


def parts(lab, server, path, script, seconds):
    """Shares of the server's samples, by part; None without perf."""
    if not shutil.which("perf"):
        return None
    data = lab.folder / "perf.data"
    recorder = subprocess.Popen(["perf", "record", "-q", "-g", "-F", "1999", "-p", str(server.pid),
                                 "-o", data, "--", "sleep", str(seconds)],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lab.wrk(server, path, seconds + 1, CONNECTIONS, script)
    recorder.wait()
    text = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym"], capture_output=True,
                          text=True).stdout
    counts = collections.Counter(part_of(stack.splitlines())
                                 for stack in text.split("\n\n") if stack.strip())
    total = sum(counts.values())
    return {part: count / total for part, count in counts.items()} if total else None


def print_parts(lab, servers, cells, costs):
    names = [part for part, _ in PARTS] + ["HTTP, flow, other"]
    rows = [("CPU us by part", *names)]
    for cell in cells:
        kind, size, _, _, script = cell
        shares = parts(lab, servers[kind], f"/{kind}/sum", script, 2)
        if not shares:
            print("no split: perf is not there or may not sample")
            return
        rows.append((f"{kind} {size}", *(f"{shares.get(n, 0) * median(costs[cell]):.1f}"
                                         for n in names)))
    print()
    table(rows)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    print(harness.machine())
    with Lab() as lab:
        nginx = lab.nginx("x" * 100)
        cells = []
        servers = {kind: lab.millstream(f"examples/http-{kind}-sum") for kind in FORMATS}
        for kind in FORMATS:
            for size in SIZES:
                payload = lab.folder / f"{size}.{kind}"
                text = subprocess.run([PROGRAM, "payload", "sales", "--size", size, "--format", kind],
                                      capture_output=True, check=True, cwd=ROOT).stdout
                payload.write_bytes(text)
                expected = (xml_sum if kind == "xml" else json_sum)(text.decode())
                check(servers[kind], kind, payload, expected)
                cells.append((kind, size, payload, expected,
                              lab.post_script(payload, FORMATS[kind])))
        floors = []
        rates, costs = ({cell: [] for cell in cells} for _ in range(2))
        for number in range(rounds):
            for cell in cells if number % 2 == 0 else reversed(cells):
                kind, size, _, _, script = cell
                if size in ("2K", "200K"):  # often, as the small messages are close to it
                    floors.append(lab.wrk(nginx, "/", 1, CONNECTIONS)[1])
                rate, cost = lab.wrk(servers[kind], f"/{kind}/sum", seconds, CONNECTIONS, script)
                rates[cell].append(rate)
                costs[cell].append(cost)
        for kind, _, payload, expected, _ in cells:
            check(servers[kind], kind, payload, expected)
        floor = median(floors)
        print(f"floor: nginx return 200, CPU us/request {spread(floors)}")
        rows = [("message", "bytes", "req/s", "CPU us/message: median (range)", "floors", "target",
                 "", "ns/byte")]
        for cell in cells:
            kind, size, payload, _, _ = cell
            ratio = median(costs[cell]) / floor
            count = payload.stat().st_size
            rows.append((f"{kind} {size}", count, f"{median(rates[cell]):.0f}", spread(costs[cell]),
                         f"{ratio:.2f}", TARGETS[size],
                         "met" if ratio <= TARGETS[size] else "MISSED",
                         f"{median(costs[cell]) * 1000 / count:.2f}"))
        table(rows)
        print_parts(lab, servers, cells, costs)


if __name__ == "__main__":
    main()
