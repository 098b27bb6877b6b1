#!/usr/bin/env python3
"""Kills a real queue manager with -9 at any instant, again and again, and judges its promises.

Test "a unit of work over three queues is committed, the process killed with -9 at any instant, and
after the restart the ledger is clean": half of all units put to three queues at once.

    tests/crash/run.py [PROGRAM] [--count N] [--seed N]

The last line is "N passed, N failed".
"""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="build/debug/queue_process")
    parser.add_argument("--count", type=int, default=25)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--longest-ms", type=int, default=1500)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    print(f"seed {options.seed}, {options.count} kills", flush=True)
    folder = tempfile.mkdtemp(prefix="queue-kill-", dir="build" if os.path.isdir("build") else None)
    data, ledgers = os.path.join(folder, "data"), os.path.join(folder, "ledgers")
    os.mkdir(ledgers)
    passed = failed = 0
    for turn in range(options.count):
        child = subprocess.Popen([options.program, "work", data, ledgers, str(turn)])
        during_start = turn > 0 and rng.random() < 0.3
        time.sleep(rng.uniform(0, 0.03) if during_start
                   else rng.uniform(0.02, options.longest_ms / 1000))
        if not during_start and rng.random() < 0.2:
            child.send_signal(signal.SIGSTOP)
            time.sleep(rng.uniform(0, 0.3))
            child.send_signal(signal.SIGCONT)
            time.sleep(rng.uniform(0, 0.1))
        ended_itself = child.poll()
        child.kill()
        child.wait()
        judge = subprocess.run([options.program, "check", data, ledgers], capture_output=True,
                               text=True, timeout=120)
        line = judge.stdout.splitlines()[0] if judge.stdout else judge.stderr.strip()
        if judge.returncode == 0 and ended_itself is None:
            passed += 1
        else:
            failed += 1
            print(f"kill {turn}: {ended_itself=} {judge.stdout}{judge.stderr}", flush=True)
            break
    print(line)
    if failed == 0:
        shutil.rmtree(folder)
    else:
        print(f"what is left of it is in {folder}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
