"""What the end-to-end suites share: a server process, waiting, and a runner of cases.

A suite is a file of functions marked @case, each called with the binary's path and a folder of its own:

    from harness import Server, case, main

    @case
    def answers(binary, folder):
        with Server(binary, folder / "project") as server:
            assert server.request("GET", "/hello").status == 200

    if __name__ == "__main__":
        main(__doc__)

Cases of one server or one set of certificates are marked @case_of(shared): shared(binary, folder) is a
context manager, entered once for all of them, and each is called with what it gives.

Its command line is `SUITE [--binary PATH] [--filter TEXT]` ($MILLSTREAM, else build/release/millstream), its
last line "N passed, N failed".
"""
import argparse
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 60.0
REPORT = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|: runtime error: ")  # of a sanitizer
CASES = []


class Case(NamedTuple):
    name: str
    function: object
    shared: object = None


class Skipped(Exception):
    """A case that cannot run here, and why."""


def case(function):
    CASES.append(Case(function.__name__, function))
    return function


def case_of(shared):
    def mark(function):
        CASES.append(Case(function.__name__, function, shared))
        return function
    return mark


def pace(seconds):
    """Lets time pass where the moment is the point: the gap between edits, the instant of a kill."""
    threading.Event().wait(seconds)


def eventually(condition, what, timeout_s=WAIT_S):
    """The value of `condition` as soon as it is true."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"in {timeout_s} s never: {what}"
        pace(0.01)


class Reply(NamedTuple):
    status: int
    headers: dict
    body: bytes

    @property
    def text(self):
        return self.body.decode()

    def json(self):
        return json.loads(self.body)


def request(port, method, path, body=None, headers=None, timeout_s=WAIT_S):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        connection.request(method, path, body.encode() if isinstance(body, str) else body, headers or {})
        response = connection.getresponse()
        return Reply(response.status, dict(response.getheaders()), response.read())
    finally:
        connection.close()


class Server:
    """`millstream run` with the given arguments, on free ports, without ports of messaging clients unless they are
    given (`free` takes a free one, and `client_ports` has it); ready when it is entered. What it prints is kept in
    `lines`, its log in `errors`. Ports given in `arguments` win, and what is in `unset` is not given at all. `before`
    runs in the new process, before the program does."""

    def __init__(self, binary, *arguments, environment=None, folder=None, unset=(), before=None):
        arguments = [str(a) for a in arguments]
        defaults = [(k, v) for k, v in (("--http-port", "0"), ("--admin-port", "0"), ("--host", "127.0.0.1"),
                                         ("--amqp-port", "0"), ("--mqtt-port", "0"), ("--stomp-port", "0"))
                    if k not in unset]
        self.binary = str(binary)
        words = [self.binary, "run",
                 *(word for pair in defaults if pair[0] not in arguments for word in pair), *arguments]
        clean = {k: v for k, v in os.environ.items() if not k.startswith("OTEL_")}
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        cwd=folder, env={**clean, "TZ": "UTC", **(environment or {})},
                                        preexec_fn=before)
        self.lines, self.errors, self.port, self.admin_port, self.secure_port = [], [], 0, 0, 0
        self.client_ports = {}  # by protocol: "stomp", "stomps"
        self._reader = threading.Thread(target=self._read, args=(self.process.stderr, self.errors), daemon=True)
        self._reader.start()
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            admin = re.search(r"administration +https?://[^:]+:(\d+)", line)
            if admin:
                self.admin_port = int(admin.group(1))
            clients = re.match(r"  ([a-z]+)://.*:(\d+)  \S+$", line)
            if clients and clients.group(1) not in ("http", "https"):
                self.client_ports.setdefault(clients.group(1), int(clients.group(2)))
            secure = re.search(r"https://\*:(\d+)/", line)
            if secure:
                self.secure_port = int(secure.group(1))
            ready = re.search(r"on port (\d+)", line)
            if ready:
                self.port = int(ready.group(1))
                break
        else:
            self._reader.join(WAIT_S)
        threading.Thread(target=self._read, args=(self.process.stdout, self.lines), daemon=True).start()

    @staticmethod
    def _read(stream, lines):
        for line in stream:
            lines.append(line.rstrip())

    def __enter__(self):
        assert self.port, "the server did not start:\n" + "\n".join(self.lines + self.errors)
        return self

    def __exit__(self, kind, *_):
        self.stop()
        self._reader.join(WAIT_S)
        if kind:
            print("--- the server's log:\n" + "\n".join(self.errors[-40:]))
        else:
            assert not any(REPORT.search(line) for line in self.errors), "\n".join(self.errors[-60:])

    @property
    def url(self):
        return f"http://127.0.0.1:{self.admin_port}"

    def stop(self, how=signal.SIGTERM):
        """Its exit code; as subprocess has it, -N for a signal."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(timeout=WAIT_S)

    def request(self, method, path, body=None, headers=None):
        return request(self.port, method, path, body, headers)

    def admin(self, method, path, body=None, headers=None):
        return request(self.admin_port, method, path, body, headers, 2 * WAIT_S)

    def ask(self, method, path, body=None, headers=None):
        """The admin port's status and body, as a value when it is JSON."""
        reply = self.admin(method, path, json.dumps(body) if isinstance(body, dict) else body, headers)
        return reply.status, reply.json() if "json" in reply.headers.get("Content-Type", "") else reply.text

    def command(self, *arguments, text=None):
        """A command of the binary against this server's admin port, whatever its exit code."""
        return command(self.binary, *arguments, "--url", self.url, text=text)

    def run(self, *arguments, text=None, check=True):
        return run(self.binary, *arguments, "--url", self.url, text=text, check=check)

    def memory_kib(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))


def command(binary, *arguments, folder=None, text=None):
    """A command that ends by itself, whatever its exit code."""
    return subprocess.run([str(binary), *map(str, arguments)], input=text, capture_output=True, text=True, cwd=folder,
                          timeout=WAIT_S, check=False)


def run(binary, *arguments, text=None, check=True):
    """A command that is right to end with 0."""
    done = command(binary, *arguments, text=text)
    assert not check or done.returncode == 0, f"{arguments} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done


class Runner:
    def __init__(self, binary):
        self.binary, self.passed, self.failed = str(Path(binary).resolve()), 0, 0
        self.shared, self.given, self.open = None, None, ExitStack()

    def run(self, one):
        if one.shared:
            return self.attempt(one.name, lambda: one.function(self.enter(one.shared)))
        with tempfile.TemporaryDirectory(prefix="millstream_") as folder:
            return self.attempt(one.name, lambda: one.function(self.binary, Path(folder)))

    def enter(self, shared):
        """What `shared` gives; leaves what was shared before."""
        if shared is not self.shared:
            self.leave()
            with ExitStack() as opened:
                folder = opened.enter_context(tempfile.TemporaryDirectory(prefix="millstream_"))
                self.given = opened.enter_context(shared(self.binary, Path(folder)))
                self.open, self.shared = opened.pop_all(), shared
        return self.given

    def leave(self):
        left, self.shared = self.shared, None
        if left:
            self.attempt(f"the end of {left.__name__}", self.open.close, counts=False)

    def attempt(self, name, function, counts=True):
        started = time.monotonic()
        try:
            function()
            if counts:
                self.passed += 1
                print(f"ok     {name} ({time.monotonic() - started:.1f} s)", flush=True)
        except Skipped as why:
            print(f"skipped {name}: {why}", flush=True)
        except Exception:  # noqa: BLE001
            self.failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)


def main(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.environ.get("MILLSTREAM", str(ROOT / "build/release/millstream")))
    parser.add_argument("--filter", default="", help="only cases whose name holds this text")
    options = parser.parse_args()
    runner = Runner(options.binary)
    for one in CASES:
        if options.filter in one.name:
            runner.run(one)
    runner.leave()
    print(f"{runner.passed} passed, {runner.failed} failed")
    sys.exit(1 if runner.failed or not runner.passed else 0)
