#!/usr/bin/env python3
"""The HTTP floor: HTTPInput -> HTTPReply with 100 bytes, beside nginx `return 200`.

Both have one worker on core 0, wrk runs on core 1, rounds alternate (ABBA).
  bench/http_flow_floor.py [ROUNDS] [SECONDS]
"""
import sys

import harness
from harness import Lab, median, spread, table, verdict

BYTES = 100
CONNECTIONS = 32
TARGET = 1.3


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    print(harness.machine())
    with Lab() as lab:
        body = lab.folder / "body"
        body.write_text("x" * BYTES)
        script = lab.post_script(body, "text/plain")
        nginx = lab.nginx("x" * BYTES)
        ours = lab.millstream("bench/projects/http-floor")
        status, text = ours.request("POST", "/floor", body.read_bytes())
        if status != 200 or text != body.read_bytes():
            raise SystemExit(f"wrong reply: {status} {text[:200]}")
        # name -> server, path, script
        subjects = {
            "nginx, GET": (nginx, "/", None),
            "flow, POST": (ours, "/floor", script),
            "nginx, POST": (nginx, "/", script),
        }
        rates, costs = ({name: [] for name in subjects} for _ in range(2))
        for server in (nginx, ours):
            lab.wrk(server, "/floor", 1, CONNECTIONS, script)
        for number in range(rounds):
            names = list(subjects)
            for name in names if number % 2 == 0 else reversed(names):
                server, path, lua = subjects[name]
                rate, cost = lab.wrk(server, path, seconds, CONNECTIONS, lua)
                rates[name].append(rate)
                costs[name].append(cost)
        floor = median(costs["nginx, GET"])
        rows = [("server", "req/s", "CPU us/request: median (range)", "to nginx")]
        for name in subjects:
            rows.append((name, f"{median(rates[name]):.0f}", spread(costs[name]),
                         f"{median(costs[name]) / floor:.2f}"))
        table(rows)
        print(f"flow to nginx `return 200`: {verdict(median(costs['flow, POST']) / floor, TARGET)}")


if __name__ == "__main__":
    main()
