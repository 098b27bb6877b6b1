#!/usr/bin/env python3
"""http-xml-sum and http-json-sum at 2K to 2MB: CPU per message beside the floor of the same run.

The floor is nginx `return 200`. The server has core 0, wrk core 1; every reply of the check before
and after is compared with the sum that Python's decimal makes.
  bench/sums.py [ROUNDS] [SECONDS]
"""
import decimal
import json
import re
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
            floors.append(lab.wrk(nginx, "/", seconds, CONNECTIONS)[1])
            for cell in cells if number % 2 == 0 else reversed(cells):
                kind, _, _, _, script = cell
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


if __name__ == "__main__":
    main()
