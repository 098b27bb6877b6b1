#!/usr/bin/env python3
"""Clients that others wrote, unmodified, against one server: AMQP 1.0 with Proton (Python, C++),
rhea and Qpid JMS; MQTT with mosquitto's and MQTT.js; STOMP with
stomp.py and stompit; and what one protocol puts, got by every other.

    tests/interop/run.py [--binary PATH] [--suite NAME]... [--filter TEXT] [--protocols LIST] [--peer amqp=PORT,mqtt=PORT,stomp=PORT]

Installs the clients (clients.py). Those that cannot be are skipped by name; with CI=true that is a
failure. --peer tries the suites against another broker, to find out whether a suite or a server is
wrong; cases that need the admin port are then skipped. --protocols for a server that does not speak all. --list names the suites.
The last line is "N passed, N failed"; exit status 1 when something failed.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import clients  # noqa: E402
from harness import ROOT, Server  # noqa: E402
from wire_ports import PROTOCOLS, listener_arguments, listener_ports  # noqa: E402

HERE = Path(__file__).resolve().parent
SUITE_S = 240  # a suite that takes longer hangs


def python(script, *modules, programs=()):
    def command():
        for module in modules:
            clients.python_module(module)
        for program in programs:
            clients.program(program)
        return [sys.executable, "-B", HERE / script]
    return command


def node(script):
    return lambda: ["node", clients.javascript() / script]


def java(name):
    return lambda: ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", clients.java(), name]


# Name, protocols, and what makes its command line, installing what it needs.
SUITES = [
    ("proton-python", ("amqp",), python("proton_python.py", "proton")),
    ("proton-python-transactions", ("amqp",), python("proton_transactions.py", "proton")),
    ("proton-cpp", ("amqp",), lambda: [clients.proton_cpp()]),
    ("rhea", ("amqp",), node("rhea_cases.js")),
    ("qpid-jms", ("amqp",), java("JmsCases")),
    ("commands", ("amqp",), python("command_cases.py")),
    ("commands-artemis", ("amqp",), python("artemis_cases.py", programs=("java",))),
    ("mosquitto", ("mqtt",), python("mosquitto_cases.py", programs=("mosquitto_pub", "mosquitto_sub"))),
    ("mqtt-js", ("mqtt",), node("mqtt_cases.js")),
    ("stomp-py", ("stomp",), python("stomp_cases.py", "stomp")),
    ("stompit", ("stomp",), node("stompit_cases.js")),
    ("matrix", ("amqp", "stomp"), python("matrix.py", "proton", "paho.mqtt.client", "stomp")),
]


# Messages may be as long as they can be, not 4 MB.
LIMITS = """ALTER QMGR MAXMSGL(104857600)
ALTER QLOCAL(SYSTEM.DEFAULT.LOCAL.QUEUE) MAXMSGL(104857600)
"""


class Counts:
    passed, failed, skipped = 0, 0, 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.environ.get("MILLSTREAM", str(ROOT / "build/release/millstream")))
    parser.add_argument("--suite", action="append", default=[], help="only this suite (repeat for more)")
    parser.add_argument("--filter", default="", help="only cases whose name holds this text")
    parser.add_argument("--peer", default="", help="ports of a broker that runs: amqp=5672,mqtt=1883,stomp=61613")
    parser.add_argument("--protocols", default=",".join(PROTOCOLS), help="what the server is to speak")
    parser.add_argument("--list", action="store_true", help="name the suites")
    return parser.parse_args()


def lines_of(process, deadline_s):
    """Its output; the process group is killed at the deadline, which ends the output."""
    def kill():
        os.killpg(process.pid, signal.SIGKILL)
    timer = threading.Timer(deadline_s, kill)
    timer.daemon = True
    timer.start()
    try:
        yield from process.stdout
    finally:
        timer.cancel()


def run_suite(name, words, environment, wanted, counts):
    started = time.monotonic()
    process = subprocess.Popen([str(w) for w in words] + [wanted], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, errors="replace", env=environment, start_new_session=True)
    passed = failed = 0
    for line in lines_of(process, SUITE_S):
        result = re.match(r"(ok|FAILED|skipped) (\S+)", line)
        if not result:
            print("  " + line.rstrip(), flush=True)
            continue
        passed += result[1] == "ok"
        failed += result[1] == "FAILED"
        counts.skipped += result[1] == "skipped"
        print(f"{result[1]:7} {name}/{line[result.start(2):].rstrip()}", flush=True)
    code = process.wait()
    took = time.monotonic() - started
    if code != 0 and failed == 0:
        failed = 1
        why = f"hung for {SUITE_S} s" if took >= SUITE_S else f"ended with {code}"
        print(f"FAILED  {name}/the suite itself: {why}", flush=True)
    print(f"{name}: {passed} passed, {failed} failed in {took:.1f} s", flush=True)
    counts.passed += passed
    counts.failed += failed


def peer_ports(text):
    return {k: int(v) for k, v in (pair.split("=") for pair in text.split(","))}


def environment_of(ports, admin, binary):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("INTEROP_")}
    environment.update({f"INTEROP_{k.upper()}": f"127.0.0.1:{v}" for k, v in ports.items() if v})
    environment.update({"INTEROP_RUN": f"{os.getpid():x}", "MILLSTREAM": str(Path(binary).resolve()), "TZ": "UTC",
                        "PYTHONPATH": str(HERE)})
    if admin:
        environment["INTEROP_WS"] = environment.get("INTEROP_MQTT", "")
        environment["INTEROP_ADMIN"] = admin
    return environment


def run_suites(options, ports, admin, counts):
    environment = environment_of(ports, admin, options.binary)
    for name, protocols, command in SUITES:
        if options.suite and name not in options.suite:
            continue
        if not options.peer and not set(protocols) <= set(options.protocols.split(",")):
            continue  # not asked for
        if not all(ports.get(p) for p in protocols):
            print(f"skipped {name}: the broker does not speak {' '.join(protocols)}", flush=True)
            counts.failed += admin is not None and not options.peer
            continue
        try:
            words = command()
        except clients.Missing as why:
            print(f"skipped {name}: {why}", flush=True)
            counts.skipped += 1
            if os.environ.get("CI") == "true":
                print(f"FAILED  {name}: nothing may be skipped here", flush=True)
                counts.failed += 1
            continue
        run_suite(name, words, environment, options.filter, counts)


def main():
    options = parse_arguments()
    if options.list:
        print("\n".join(name for name, _, _ in SUITES))
        return 0
    unknown = set(options.suite) - {name for name, _, _ in SUITES}
    assert not unknown, f"there is no suite {unknown}"
    counts = Counts()
    if options.peer:
        run_suites(options, peer_ports(options.peer), None, counts)
    else:
        with tempfile.TemporaryDirectory(prefix="millstream_") as folder:
            with Broker(options.binary, folder, options.protocols.split(",")) as server:
                run_suites(options, server.ports, server.url, counts)
    if counts.skipped:
        print(f"{counts.skipped} skipped")
    print(f"{counts.passed} passed, {counts.failed} failed")
    return 1 if counts.failed else 0


class Broker(Server):
    """A server for development with all listeners on free ports."""

    def __init__(self, binary, folder, protocols=PROTOCOLS, *more):
        script = Path(folder) / "limits.mqsc"
        script.write_text(LIMITS)
        work = Path(folder) / "work"
        work.mkdir()
        super().__init__(binary, script, "--dev", "--work-dir", work, "--qmgr", "QM1", "--buffered",
                         *listener_arguments(protocols), *more)
        self.ports = listener_ports(self)


if __name__ == "__main__":
    sys.exit(main())
