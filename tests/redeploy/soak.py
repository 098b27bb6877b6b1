#!/usr/bin/env python3
"""Redeployments without end under load: every request gets an answer of the version before or after,
and memory, descriptors and threads do not grow.

  tests/redeploy/soak.py [BINARY] [--count 1000] [--clients 4]
"""
import argparse
import http.client
import json
import os
import sys
import tempfile
import time
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from versions import Load, Server, write_application, write_esql  # noqa: E402
from harness import eventually, pace  # noqa: E402

WARM_PART = 0.2  # of the redeployments, before memory is looked at
GROWTH_KIB_MAX = 8 * 1024


def soak(binary, folder, redeployments, clients, pause_s=0.0, says=lambda text: None):
    """Redeploys one application; returns the figures. Raises AssertionError on anything lost or leaked."""
    write_application(folder, "soaked", "v0", "/soaked")
    write_application(folder, "other", "other", "/other")
    application = Path(folder) / "soaked"
    def archive():
        inner, outer = Path(folder) / "in.zip", Path(folder) / "out.bar"
        with zipfile.ZipFile(inner, "w") as target:
            for path in application.iterdir():
                if path.suffix != ".next" and path.name != ".project":
                    target.write(path, path.name)
        with zipfile.ZipFile(outer, "w") as target:
            target.write(inner, "soaked.appzip")
        return outer.read_bytes()

    state = {"deployed": 0, "sent": 0}

    def is_right(answer, deployed_before):
        # Who asks after a deployment is done gets nothing older.
        return answer.startswith("v") and deployed_before <= int(answer[1:]) <= state["sent"]

    with Server(binary, folder) as server:
        admin = http.client.HTTPConnection("127.0.0.1", server.admin_port, timeout=60)
        memory, builds, switches = [], [], []
        baseline = None
        start = time.monotonic()
        with Load(server.port, "/soaked", is_right, clients, lambda: state["deployed"]) as load:
            for version in range(1, redeployments + 1):
                write_esql(folder, "soaked", f"v{version}")
                state["sent"] = version
                admin.request("POST", "/apiv2/deploy", body=archive())
                reply = admin.getresponse()
                text = reply.read()
                assert reply.status == 200, text
                change = json.loads(text)["change"]
                assert change["replaced"] == ["soaked"], change
                builds.append(change["buildMicroseconds"])
                switches.append(change["switchMicroseconds"])
                state["deployed"] = version
                if version == int(redeployments * WARM_PART):
                    eventually(lambda: server.draining() == 0, "old versions to end")
                    baseline = {what: server.count(what) for what in ("fd", "task")}
                if version >= redeployments * WARM_PART:
                    memory.append(server.memory_kib())
                if version % 100 == 0:
                    says(f"{version} redeployments, {server.memory_kib()} KiB")
                pace(pause_s)
        elapsed = time.monotonic() - start
        eventually(lambda: server.draining() == 0, "old versions to end")
        assert not load.wrong, f"{len(load.wrong)} wrong answers: {load.wrong[:3]}"
        assert load.asked > 0
        growth = server.memory_kib() - memory[0]
        versions = redeployments * (1 - WARM_PART)
        assert growth < GROWTH_KIB_MAX, f"memory grew by {growth} KiB: {memory[::50]}"
        after = {what: server.count(what) for what in ("fd", "task")}
        assert after["fd"] <= baseline["fd"] and after["task"] <= baseline["task"], (baseline, after)
        assert server.get("/other") == (200, "other")
    builds.sort()
    switches.sort()
    return {"redeployments": redeployments, "seconds": round(elapsed, 1), "asked": load.asked, "lost": 0,
            "versions seen": len(load.seen), "memory start KiB": memory[0], "memory growth KiB": growth,
            "growth a version B": round(growth * 1024 / versions), "build p50 us": builds[len(builds) // 2],
            "build max us": builds[-1], "switch p50 us": switches[len(switches) // 2],
            "switch max us": switches[-1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("binary", nargs="?", default=os.environ.get("MILLSTREAM", "build/release/millstream"))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ms_soak_") as folder:
        try:
            report = soak(os.path.abspath(options.binary), folder, options.count, options.clients,
                          says=lambda text: print(text, flush=True))
        except AssertionError as error:
            print(f"FAIL {error}\n0 passed, 1 failed")
            return 1
    for name, value in report.items():
        print(f"{name:22} {value}")
    print("1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
