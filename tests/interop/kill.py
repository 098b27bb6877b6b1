#!/usr/bin/env python3
"""Clients of all protocols exchange persistent messages while the server is killed with -9 and started
again, and the ledger is clean: Qpid JMS in transactions, Proton, stomp.py, MQTT.js.

    tests/interop/kill.py [--binary PATH] [--kills N] [--protocols LIST] [--seed N]

- Nothing is lost: each message whose put was acknowledged has come to its getter.
- Nothing is made up: each that came was put.
- Nothing comes twice where the server has confirmed the acknowledgement (transactions of JMS, receipts
  of STOMP); elsewhere a message may come again after a kill.

The last line is "N passed, N failed"; exit status 1 when something failed.
"""
import argparse
import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import clients  # noqa: E402
from harness import ROOT, Server, eventually, pace  # noqa: E402
from wire_ports import PROTOCOLS, listener_arguments, listener_ports  # noqa: E402

HERE = Path(__file__).resolve().parent
END_S = 60


def python_worker(protocol):
    clients.python_module("proton")
    clients.python_module("stomp")
    return [sys.executable, "-B", HERE / "kill_worker.py", protocol]


def java_worker():
    return ["java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", clients.java(), "KillWorker"]


WORKERS = {
    "jms": ("amqp", java_worker),
    "amqp": ("amqp", lambda: python_worker("amqp")),
    "stomp": ("stomp", lambda: python_worker("stomp")),
    "mqtt": ("mqtt", lambda: ["node", clients.javascript() / "kill_worker.js"]),
}
# Whose acknowledgements the server confirms.
EXACT = {"jms", "stomp"}
# Putter and its address, getter and its address.
LINES = [
    ("jms", "queue://K.1", "amqp", "queue://K.1"),
    ("amqp", "queue://K.2", "jms", "queue://K.2"),
    ("stomp", "queue://K.3", "jms", "queue://K.3"),
    ("amqp", "queue://K.4", "stomp", "queue://K.4"),
    ("mqtt", "kill/to-queue", "amqp", "queue://K.5"),
    ("stomp", "topic://kill/to-mqtt", "mqtt", "kill/to-mqtt"),
]
OBJECTS = "".join(f"DEFINE QLOCAL(K.{n}) DEFPSIST(YES) MAXDEPTH(999999999) NOREPLACE\n" for n in range(1, 6)) + \
    "DEFINE SUB(K.5) TOPICSTR('kill/to-queue') DEST(K.5) NOREPLACE\n"


class Worker:
    """A process that is on one side of a line."""

    def __init__(self, kind, role, address, prefix, ports_file):
        self.kind = kind
        self.said = {"put": [], "maybe": [], "got": [], "ready": []}
        words = [*WORKERS[kind][1](), role, address, prefix, ports_file]
        self.process = subprocess.Popen([str(w) for w in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, start_new_session=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            word, _, text = line.rstrip("\n").partition(" ")
            if word in self.said:
                self.said[word].append(text)

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(15)
        self.reader.join(15)


class Line:
    def __init__(self, number, putter, put_address, getter, get_address, ports_file):
        self.name = f"{putter}_to_{getter}"
        self.prefix = f"L{number}"
        self.getter = Worker(getter, "get", get_address, self.prefix + "g", ports_file)
        if getter == "mqtt":  # its subscription has to be there before anything is published
            eventually(lambda: self.getter.said["ready"], "the subscription of MQTT.js", END_S)
        self.putter = Worker(putter, "put", put_address, self.prefix, ports_file)

    def is_clean(self):
        return not self.missing()

    def missing(self):
        return set(self.putter.said["put"]) - set(self.getter.said["got"])

    def check(self):
        """What is wrong with the ledger; nothing when it is clean."""
        put, got, maybe = (self.putter.said["put"], self.getter.said["got"], set(self.getter.said["maybe"]))
        lost = set(put) - set(got) - maybe
        strange = [t for t in got if not t.startswith(self.prefix + "-")]
        twice = [t for t, n in collections.Counter(got).items() if n > 1]
        wrong = []
        if len(put) < 20:
            wrong.append(f"only {len(put)} messages were put")
        if lost:
            wrong.append(f"{len(lost)} were lost: {sorted(lost)[:5]}")
        if strange:
            wrong.append(f"{strange[:5]} were never put")
        if twice and self.getter.kind in EXACT:
            wrong.append(f"{len(twice)} came twice: {twice[:5]}")
        print(f"  {self.name}: {len(put)} put, {len(set(got))} got, {len(twice)} came again", flush=True)
        return wrong


def start(binary, folder, protocols, ports_file, script):
    server = Server(binary, script, "--work-dir", folder / "work", "--dev", "--qmgr", "QM1", "--buffered",
                    *listener_arguments(protocols))
    assert server.port, "\n".join(server.lines + server.errors)
    new = ports_file.with_suffix(".new")
    new.write_text(json.dumps(listener_ports(server)))
    new.rename(ports_file)
    return server


def play(options, folder):
    protocols = options.protocols.split(",")
    dice = random.Random(options.seed)
    (folder / "work").mkdir()
    ports_file, script = folder / "ports.json", folder / "objects.mqsc"
    script.write_text(OBJECTS)
    server = start(options.binary, folder, protocols, ports_file, script)
    lines = []
    try:
        for number, line in enumerate(LINES):
            if all(WORKERS[kind][0] in protocols for kind in (line[0], line[2])):
                lines.append(Line(number, *line, ports_file))
        for line in lines:
            eventually(lambda line=line: line.getter.said["got"], f"a first message of {line.name}", END_S)
        for _ in range(options.kills):
            pace(dice.uniform(0.3, 1.5))
            server.process.kill()
            server.process.wait()
            server = start(options.binary, folder, protocols, ports_file, script)
            before = [len(line.getter.said["got"]) for line in lines]
            for line, count in zip(lines, before):
                eventually(lambda line=line, count=count: len(line.getter.said["got"]) > count,
                           f"{line.name} to go on after a kill", END_S)
        for line in lines:
            line.putter.stop()
        deadline = time.monotonic() + END_S
        while not all(line.is_clean() for line in lines) and time.monotonic() < deadline:
            pace(0.1)
            # What a kill left in doubt never comes again, so an end without news is the end.
            if all(line.missing() <= set(line.getter.said["maybe"]) for line in lines):
                break
    finally:
        for line in lines:
            for worker in (line.putter, line.getter):
                if worker.process.poll() is None:
                    worker.stop()
        server.stop()
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.environ.get("MILLSTREAM", str(ROOT / "build/release/millstream")))
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--protocols", default=",".join(PROTOCOLS), help="what the server is to speak")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    print(f"{options.kills} kills, seed {options.seed}", flush=True)
    passed = failed = 0
    try:
        with tempfile.TemporaryDirectory(prefix="millstream_") as folder:
            for line in play(options, Path(folder)):
                wrong = line.check()
                passed, failed = passed + (not wrong), failed + bool(wrong)
                print(f"{'FAILED' if wrong else 'ok'} {line.name} {'; '.join(wrong)}", flush=True)
    except clients.Missing as why:
        print(f"skipped: {why}")
        failed += os.environ.get("CI") == "true"
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
