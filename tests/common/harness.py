"""What the end-to-end suites share: a server process, waiting, and a runner of cases.

A suite is a file of functions marked @case, each called with the binary's path and a folder of its own:

    from harness import Server, case, main

    @case
    def answers(binary, folder):
        with Server(binary, folder / "project") as server:
            assert server.request("GET", "/hello").status == 200

    if __name__ == "__main__":
        main(__doc__)

Its command line is `SUITE [--binary PATH] [--filter TEXT]`, its last line "N passed, N failed".
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
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 60.0
CASES = []


def case(function):
    CASES.append(function)
    return function


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


def request(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
    try:
        connection.request(method, path, body.encode() if isinstance(body, str) else body, headers or {})
        response = connection.getresponse()
        return Reply(response.status, dict(response.getheaders()), response.read())
    finally:
        connection.close()


class Server:
    """`millstream run` with the given arguments, on free ports; ready when it is entered. What it
    prints is kept in `lines`, its log in `errors`. Ports given in `arguments` win."""

    def __init__(self, binary, *arguments, environment=None, folder=None):
        arguments = [str(a) for a in arguments]
        defaults = [("--http-port", "0"), ("--admin-port", "0"), ("--host", "127.0.0.1")]
        self.binary = str(binary)
        self.command = [self.binary, "run",
                        *(word for pair in defaults if pair[0] not in arguments for word in pair), *arguments]
        clean = {k: v for k, v in os.environ.items() if not k.startswith("OTEL_")}
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        cwd=folder, env={**clean, "TZ": "UTC", **(environment or {})})
        self.lines, self.errors, self.port, self.admin_port = [], [], 0, 0
        threading.Thread(target=self._read, args=(self.process.stderr, self.errors), daemon=True).start()
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            admin = re.search(r"administration +http://[^:]+:(\d+)", line)
            if admin:
                self.admin_port = int(admin.group(1))
            ready = re.search(r"on port (\d+)", line)
            if ready:
                self.port = int(ready.group(1))
                break
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
        if kind:
            print("--- the server's log:\n" + "\n".join(self.errors[-40:]))

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
        return request(self.admin_port, method, path, body, headers)

    def run(self, *arguments, text=None, check=True):
        """A command of the binary against this server's admin port."""
        return run(self.binary, *arguments, "--url", self.url, text=text, check=check)

    def memory_kib(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))


def run(binary, *arguments, text=None, check=True):
    done = subprocess.run([str(binary), *map(str, arguments)], input=text, capture_output=True, text=True,
                          timeout=WAIT_S, check=False)
    assert not check or done.returncode == 0, f"{arguments} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done


def main(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.environ.get("MILLSTREAM", str(ROOT / "build/release/millstream")))
    parser.add_argument("--filter", default="", help="only cases whose name holds this text")
    options = parser.parse_args()
    passed = failed = 0
    for function in CASES:
        if options.filter not in function.__name__:
            continue
        with tempfile.TemporaryDirectory(prefix="millstream_") as folder:
            started = time.monotonic()
            try:
                function(str(Path(options.binary).resolve()), Path(folder))
                passed += 1
                print(f"ok     {function.__name__} ({time.monotonic() - started:.1f} s)", flush=True)
            except Exception:  # noqa: BLE001
                failed += 1
                print(f"FAILED {function.__name__}\n{traceback.format_exc()}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)
