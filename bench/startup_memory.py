#!/usr/bin/env python3
"""Time to the ready line of the examples, resident memory idle, and after mixed requests.

Mixed: 100 bytes through input and reply, XML and JSON sums of 2K and 20K, and one malformed message
in 200, which takes the error path.
  bench/startup_memory.py [REQUESTS]      default 1,000,000; memory is compared with a tenth of them
"""
import subprocess
import sys
import time

import harness
from harness import Lab, PROGRAM, ROOT, median, resident_kb, table

STARTS = 9
CONNECTIONS = 16
READY_MS, IDLE_MB, GROWTH_PERCENT = 100, 40, 5
PROJECTS = ("examples", "bench/projects/http-floor")

MIX = """
local function body(name) local f = io.open(name, "rb"); return f:read("*a") end
local function post(path, type, text)
  return wrk.format("POST", path, {["Content-Type"] = type, ["Host"] = "localhost"}, text)
end
local mix, bad, n = {}, nil, 0
function init()
  local floor = post("/floor", "text/plain", string.rep("x", 100))
  local xml, json = body("%(d)s/2K.xml"), body("%(d)s/2K.json")
  mix = {floor, post("/xml/sum", "text/xml", xml), floor, post("/json/sum", "application/json", json),
         floor, post("/xml/sum", "text/xml", xml), floor, floor, post("/xml/sum", "text/xml",
         body("%(d)s/20K.xml")), post("/json/sum", "application/json", body("%(d)s/20K.json"))}
  bad = post("/xml/sum", "text/xml", string.sub(xml, 1, 1000))
end
function request()
  n = n + 1
  if n %% 200 == 0 then return bad end
  return mix[n %% #mix + 1]
end
"""


def start_times(lab):
    times = []
    for _ in range(STARTS):
        before = time.monotonic()
        server = lab.millstream(*PROJECTS, cores=None)
        times.append((time.monotonic() - before) * 1000)
        server.process.terminate()
        server.process.wait()
    return times


def main():
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print(harness.machine())
    with Lab() as lab:
        for size in ("2K", "20K"):
            for kind in ("xml", "json"):
                out = subprocess.run([PROGRAM, "payload", "sales", "--size", size, "--format", kind],
                                     capture_output=True, check=True, cwd=ROOT).stdout
                (lab.folder / f"{size}.{kind}").write_bytes(out)
        script = lab.folder / "mix.lua"
        script.write_text(MIX % {"d": lab.folder})
        times = start_times(lab)
        server = lab.millstream(*PROJECTS, cores=None, threads=2)
        time.sleep(0.2)
        idle = resident_kb(server.pid) / 1024
        done, marks = 0, {}
        for mark in (total // 10, total):
            while done < mark:
                lab.wrk(server, "/", 2, CONNECTIONS, script, cores=None, expects_errors=True)
                done += lab.last_count
            marks[mark] = (done, resident_kb(server.pid) / 1024)
        (first, early), (last, late) = marks.values()
        growth = (late / early - 1) * 100
        table([
            ("measure", "value", "target"),
            ("start to ready line, median ms", f"{median(times):.0f}", f"< {READY_MS}"),
            ("start to ready line, best ms", f"{min(times):.0f}", ""),
            ("resident idle, MB", f"{idle:.1f}", f"< {IDLE_MB}"),
            (f"resident after {first} requests, MB", f"{early:.1f}", ""),
            (f"resident after {last} requests, MB", f"{late:.1f}", ""),
            ("growth between, %", f"{growth:.1f}", f"< {GROWTH_PERCENT}"),
        ])
        met = min(times) < READY_MS and idle < IDLE_MB and growth < GROWTH_PERCENT
        print("targets met" if met else "targets MISSED")


if __name__ == "__main__":
    main()
