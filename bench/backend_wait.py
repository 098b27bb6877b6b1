#!/usr/bin/env python3
"""2,000 requests at once, each waiting 100 ms in HTTPRequest for a back end of our own.

The server has a reactor a core on two cores; the back end (bench/http_echo.cc) and wrk share them.
With 2,000 requests in flight nothing can exceed 20,000 requests/s.
  bench/backend_wait.py [ROUNDS] [SECONDS]
"""
import os
import pathlib
import sys

import harness
from harness import Lab, median, resident_kb, table

CONNECTIONS = 2000
DELAY_MS = 100
TARGET = 12_000
ECHO = pathlib.Path(os.environ.get("HTTP_ECHO", harness.PROGRAM.parent / "bench/http_echo"))


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(harness.machine())
    with Lab() as lab:
        backend = lab.program("backend", [ECHO, "--cores", 1, "--delay-ms", DELAY_MS], None)
        overrides = lab.folder / "overrides"
        overrides.write_text(f"Wait#Back end.URLSpecifier=http://127.0.0.1:{backend.port}/\n")
        ours = lab.millstream("bench/projects/backend-wait", cores=None, threads=2,
                              options=["--overrides", overrides])
        status, reply = ours.request("GET", "/wait")
        if status != 200 or reply != b"x" * 100:
            raise SystemExit(f"wrong reply: {status} {reply[:300]}")
        lab.wrk(ours, "/wait", 2, CONNECTIONS, cores=None)  # opens the connections
        rates, costs, shares = [], [], []
        for _ in range(rounds):
            before = harness.cpu_ns(backend.pid)
            rate, cost = lab.wrk(ours, "/wait", seconds, CONNECTIONS, cores=None)
            rates.append(rate)
            costs.append(cost)
            shares.append((harness.cpu_ns(backend.pid) - before) / 1000 / (rate * seconds))
        threads = len(list(pathlib.Path(f"/proc/{ours.pid}/task").iterdir()))
        table([
            ("measure", "median", "range"),
            ("requests/s", f"{median(rates):.0f}", f"{min(rates):.0f}-{max(rates):.0f}"),
            ("CPU us/request, server", f"{median(costs):.1f}", f"{min(costs):.1f}-{max(costs):.1f}"),
            ("CPU us/request, back end", f"{median(shares):.1f}",
             f"{min(shares):.1f}-{max(shares):.1f}"),
            ("threads of the server", threads, ""),
            ("resident MB of the server", f"{resident_kb(ours.pid) / 1024:.0f}", ""),
        ])
        met = "met" if max(rates) >= TARGET else "MISSED"
        print(f"best round: {max(rates):.0f} requests/s (target {TARGET}: {met}); "
              f"{TARGET} requests/s take the server {TARGET * median(costs) / 1e6:.2f} cores")


if __name__ == "__main__":
    main()
