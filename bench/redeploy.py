#!/usr/bin/env python3
"""Latency around redeployments: the same load with and without new versions.

  bench/redeploy.py [SWITCHES] [RATE]     12 switches, one every 1.5 s; 4,000 requests a second

Each switch of the run with redeployments has a second of its own; the run without has the same
seconds. Prints the 99th percentiles of all of them, and fails when a request is lost or when the
worst second after a switch is more than 5 ms above that of the run without.
"""
import http.client
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import harness  # noqa: E402

sys.path.insert(0, str(harness.ROOT / "tests" / "redeploy"))
from harness import machine  # noqa: E402

PACED_LOAD = pathlib.Path(os.environ.get("PACED_LOAD", harness.PROGRAM.parent / "bench" / "paced_load"))
GAP_S = 1.5
LIMIT_MS = 5.0
MODULES = 40  # of the larger application, with routines, so that compiling takes a while


def write_projects(folder):
    import importlib.util
    spec = importlib.util.spec_from_file_location("redeploy_harness",
                                                  harness.ROOT / "tests" / "redeploy" / "harness.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.write_application(folder, "app", "v0", "/app")
    return module


def filler(number):
    """ESQL that is compiled and never runs."""
    lines = [f"CREATE FUNCTION filler{number}(IN a INTEGER, IN b CHARACTER) RETURNS CHARACTER BEGIN",
             "  DECLARE r CHARACTER '';"]
    for n in range(60):
        lines.append(f"  IF a > {n} AND LENGTH(b) < {n * 3} THEN SET r = r || CAST(a * {n} AS CHARACTER) || b; END IF;")
    return "\n".join(lines + ["  RETURN r;", "END;"]) + "\n"


def archive(folder):
    inner, outer = pathlib.Path(folder) / "in.zip", pathlib.Path(folder) / "out.bar"
    with zipfile.ZipFile(inner, "w") as target:
        for path in (pathlib.Path(folder) / "app").iterdir():
            if path.suffix != ".next" and path.name != ".project":
                target.write(path, path.name)
    with zipfile.ZipFile(outer, "w") as target:
        target.write(inner, "app.appzip")
    return outer.read_bytes()


def run(port, url, rate, switches, make_next):
    """Samples of one run, and when each version was in place."""
    seconds = switches * GAP_S + 1
    load = subprocess.Popen([PACED_LOAD, str(port), "/app", str(rate), "8", str(seconds)],
                            stdout=subprocess.PIPE, text=True)
    marks, figures = [], []

    def deploy():
        start = time.monotonic()
        for n in range(switches):
            time.sleep(max(0.0, start + n * GAP_S + 0.5 - time.monotonic()))
            if make_next:
                body = make_next()
                connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
                begun = time.monotonic_ns() // 1000
                connection.request("POST", "/apiv2/deploy", body=body)
                reply = connection.getresponse()
                text = reply.read().decode()
                assert reply.status == 200, text
                figures.append([int(re.search(f'"{name}": (\\d+)', text).group(1))
                                for name in ("buildMicroseconds", "switchMicroseconds")])
                marks.append(begun)
            else:
                marks.append(time.monotonic_ns() // 1000)

    thread = threading.Thread(target=deploy)
    thread.start()
    text = load.communicate()[0]
    thread.join()
    samples = [tuple(map(int, line.split())) for line in text.splitlines()]
    return samples, marks, figures


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))] if values else 0


def seconds_after(samples, marks):
    """The 99th percentile in ms of each second that begins with a mark."""
    return [percentile([took for due, took, _ in samples if mark <= due < mark + 1_000_000], 0.99) / 1000
            for mark in marks]


def measure(title, folder, rate, switches, fill):
    """The row of one application, and whether it kept the promise."""
    support = write_projects(folder)
    if fill:
        (pathlib.Path(folder) / "app" / "Filler.esql").write_text("".join(filler(n) for n in range(MODULES)))
    version = 0

    def make_next():
        nonlocal version
        version += 1
        support.write_esql(folder, "app", f"v{version}")
        return archive(folder)

    server = support.Server(str(harness.PROGRAM), pathlib.Path(folder) / "app")
    try:
        run(server.port, server.url, rate, 1, None)  # warm
        quiet, quiet_marks, _ = run(server.port, server.url, rate, switches, None)
        busy, busy_marks, figures = run(server.port, server.url, rate, switches, make_next)
    finally:
        server.stop(signal.SIGTERM)
    lost = sum(1 for _, _, status in quiet + busy if status != 200)
    without, after = seconds_after(quiet, quiet_marks), seconds_after(busy, busy_marks)
    builds, changes = [f[0] for f in figures], [f[1] for f in figures]
    print(f"{title:26} {len(busy):8} {lost:5} {statistics.median(without):9.2f} {max(without):7.2f} "
          f"{statistics.median(after):9.2f} {max(after):7.2f} {statistics.median(builds) / 1000:9.2f} "
          f"{max(changes) / 1000:8.2f}")
    return lost == 0 and max(after) <= max(without) + LIMIT_MS


def main():
    switches = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    rate = int(sys.argv[2]) if len(sys.argv) > 2 else 4000
    print(f"{machine()}\n{switches} switches at {rate} requests a second; 99th percentile of a second, ms\n")
    print(f"{'':41} {'  without a switch':17} {'    after a switch':17}")
    print(f"{'application':26} {'requests':>8} {'lost':>5} {'median':>9} {'worst':>7} {'median':>9} {'worst':>7} "
          f"{'build ms':>9} {'switch':>8}")
    is_good = True
    for title, fill in (("one small flow", False), (f"{MODULES} routines, 2,500 lines", True)):
        with tempfile.TemporaryDirectory(prefix="ms_redeploy_") as folder:
            is_good &= measure(title, folder, rate, switches, fill)
    print(f"\n{'kept' if is_good else 'NOT kept'}: nothing lost, worst second within {LIMIT_MS:.0f} ms of the run "
          "without")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
