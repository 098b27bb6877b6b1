#!/usr/bin/env python3
"""Latency around redeployments, beside the same load without, in one run.

  bench/redeploy.py [--switches 12] [--rate 2000] [--repeat 1] [--hogs 0]

A run is a row of windows of a second each. In half of them, drawn by lot, a new version is deployed
at the start; the others are what it is compared with, so that what else the machine does meets
both. The latency is the server's own: from when a request was really sent to when its answer came
in, by the kernel's stamp (bench/paced_load.cc), without the waiting of the load generator for a
core. `--hogs N` starts N processes that do nothing but compute, for a machine that is as busy as
one likes. Fails when a request is lost, or when the worst, the median or the pooled 99th percentile
of the windows with a switch is more than 5 ms above that of those without.
"""
import argparse
import http.client
import importlib
import os
import pathlib
import random
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

PACED_LOAD = pathlib.Path(os.environ.get("PACED_LOAD", harness.PROGRAM.parent / "bench" / "paced_load"))
WINDOW_S = 1.0
GAP_S = 0.2  # between two windows, for what a switch leaves behind
CONNECTIONS = 32
LIMIT_MS = 5.0
MODULES = 40  # of the larger application, with routines, so that compiling takes a while


def load_support():
    """tests/redeploy/versions.py, which knows another module by the name of this folder's harness."""
    own = sys.modules.pop("harness")
    sys.path.insert(0, str(own.ROOT / "tests" / "redeploy"))
    try:
        return importlib.import_module("versions")
    finally:
        sys.modules["harness"] = own


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


def run(server, rate, plan, make_next):
    """Samples of one run, when each window began, and what the deployments say of themselves."""
    seconds = len(plan) * (WINDOW_S + GAP_S) + 1
    load = subprocess.Popen([PACED_LOAD, str(server.port), "/app", str(rate), str(CONNECTIONS), str(seconds)],
                            stdout=subprocess.PIPE, text=True)
    marks, figures = [], []

    def deploy():
        start = time.monotonic()
        for n, is_switch in enumerate(plan):
            body = make_next() if is_switch else None
            time.sleep(max(0.0, start + n * (WINDOW_S + GAP_S) + 0.5 - time.monotonic()))
            marks.append(time.monotonic_ns() // 1000)
            if body is None:
                continue
            connection = http.client.HTTPConnection("127.0.0.1", server.admin_port, timeout=60)
            connection.request("POST", "/apiv2/deploy", body=body)
            reply = connection.getresponse()
            text = reply.read().decode()
            assert reply.status == 200, text
            figures.append([int(re.search(f'"{name}": (\\d+)', text).group(1))
                            for name in ("buildMicroseconds", "switchMicroseconds")])

    thread = threading.Thread(target=deploy)
    thread.start()
    text = load.communicate()[0]
    thread.join()
    assert len(marks) == len(plan), "a deployment took longer than the run"
    return [tuple(map(int, line.split())) for line in text.splitlines()], marks, figures


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))] if values else 0


def windows(samples, marks):
    """The latencies of each window in ms, as the server has it."""
    return [[server_us / 1000 for due, _, server_us, _ in samples if mark <= due < mark + WINDOW_S * 1e6]
            for mark in marks]


def summary(parts):
    p99 = [percentile(p, 0.99) for p in parts]
    return statistics.median(p99), max(p99), percentile([x for p in parts for x in p], 0.99)


def measure(support, title, folder, options, fill, rng):
    """The row of one application, and whether it kept the promise."""
    support.write_application(folder, "app", "v0", "/app")
    if fill:
        (pathlib.Path(folder) / "app" / "Filler.esql").write_text("".join(filler(n) for n in range(MODULES)))
    version = 0

    def make_next():
        nonlocal version
        version += 1
        support.write_esql(folder, "app", f"v{version}")
        return archive(folder)

    plan = [True, False] * options.switches
    rng.shuffle(plan)
    server = support.Server(str(harness.PROGRAM), pathlib.Path(folder) / "app")
    try:
        run(server, options.rate, [False], make_next)  # warm
        samples, marks, figures = run(server, options.rate, plan, make_next)
    finally:
        server.stop(signal.SIGTERM)
    lost = sum(1 for *_, status in samples if status != 200)
    each = windows(samples, marks)
    without = summary([w for w, is_switch in zip(each, plan) if not is_switch])
    after = summary([w for w, is_switch in zip(each, plan) if is_switch])
    own = percentile([(took - server_us) / 1000 for _, took, server_us, _ in samples], 0.99)
    builds, changes = [f[0] for f in figures], [f[1] for f in figures]
    print(f"{title:26} {len(samples):8} {lost:5}  " + " ".join(f"{x:7.2f}" for x in without) + "   "
          + " ".join(f"{x:7.2f}" for x in after) + f" {own:9.2f} {statistics.median(builds) / 1000:9.2f} "
          f"{max(changes) / 1000:8.2f}", flush=True)
    return lost == 0 and all(a <= w + LIMIT_MS for a, w in zip(after, without))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--switches", type=int, default=12)
    parser.add_argument("--rate", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--hogs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    rng = random.Random(options.seed)
    support = load_support()
    print(f"{harness.machine()}\n{options.switches} windows with a switch and as many without, {options.rate} requests "
          f"a second, {options.hogs} other processes that compute (seed {options.seed})\n"
          "99th percentile in ms, of a window (median, worst) and of all windows\n")
    print(f"{'':42}{'without a switch':^23}   {'with a switch':^23} generator")
    print(f"{'application':26} {'requests':>8} {'lost':>5}  " + " ".join(f"{x:>7}" for x in ("median", "worst", "all"))
          + "   " + " ".join(f"{x:>7}" for x in ("median", "worst", "all"))
          + f" {'itself':>9} {'build ms':>9} {'switch':>8}")
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.hogs)]
    kept = rows = 0
    try:
        for _ in range(options.repeat):
            for title, fill in (("one small flow", False), (f"{MODULES} routines, 2,500 lines", True)):
                with tempfile.TemporaryDirectory(prefix="ms_redeploy_") as folder:
                    kept += measure(support, title, folder, options, fill, rng)
                    rows += 1
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    print(f"\nkept in {kept} of {rows} runs: nothing lost, median, worst and all within {LIMIT_MS:.0f} ms of the "
          "windows without")
    return 0 if kept == rows else 1


if __name__ == "__main__":
    sys.exit(main())
