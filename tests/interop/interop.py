"""What the Python suites share: where the broker is, names of their own, and a runner of cases.

A suite is a program: it is given the broker in its environment, and prints a line for each case:
"ok NAME (seconds)", "FAILED NAME" with what went wrong below it, or "skipped NAME: why". Those in
JavaScript, Java and C++ do the same (js/interop.js, java/Interop.java, cpp/interop.h). An argument
is a text that the names of the wanted cases hold.

    INTEROP_AMQP, _MQTT, _STOMP, _WS   host:port of the listeners
    INTEROP_ADMIN                      URL of the admin port; absent when the broker is another one
    INTEROP_RUN                        a word that no other run has, for names
    MILLSTREAM                         the binary
"""
import os
import subprocess
import sys
import threading
import time
import traceback
import urllib.error
import urllib.request

WAIT_S = 20.0
RUN = os.environ.get("INTEROP_RUN", "x")
ADMIN = os.environ.get("INTEROP_ADMIN", "")
IS_OURS = bool(ADMIN)
CASES = []


class Skipped(Exception):
    """A case that cannot run here, and why."""


def case(function):
    CASES.append((function.__name__, function))
    return function


def named_case(name, function, *arguments):
    CASES.append((name, lambda: function(*arguments)))


def ours(function):
    """A case that needs more than a protocol: it is skipped with another broker."""
    def run():
        if not IS_OURS:
            raise Skipped("the broker is another one")
        function()
    run.__name__ = function.__name__
    return run


def endpoint(protocol):
    host, _, port = os.environ[f"INTEROP_{protocol.upper()}"].rpartition(":")
    return host, int(port)


def queue(text):
    """The name of a queue that only this run and case have."""
    return f"IT.{RUN}.{text}"[:48]


def pace(seconds):
    """Lets time pass where that is the point: a delay, an expiry, that nothing comes."""
    threading.Event().wait(seconds)


def eventually(condition, what, timeout_s=WAIT_S):
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"in {timeout_s} s never: {what}"
        pace(0.01)


def same(have, want, what=""):
    assert have == want, f"{what}: {have!r}, expected {want!r}"


def ask(method, path, body=None, headers=None):
    """The admin port's status, headers and body."""
    request = urllib.request.Request(ADMIN + path, data=body, method=method, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=WAIT_S) as reply:
            return reply.status, dict(reply.headers), reply.read()
    except urllib.error.HTTPError as reply:
        return reply.code, dict(reply.headers), reply.read()


def millstream(*arguments, data=b"", code=0, url=ADMIN):
    """A command of the binary; its standard output."""
    done = subprocess.run([os.environ["MILLSTREAM"], *map(str, arguments), "--url", url], input=data,
                          capture_output=True, timeout=3 * WAIT_S, check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def mqsc(text):
    return millstream("mqsc", "-e", data=text.encode()).decode()


def attempt(name, function):
    started = time.monotonic()
    try:
        function()
        print(f"ok {name} ({time.monotonic() - started:.1f} s)", flush=True)
        return True
    except Skipped as why:
        print(f"skipped {name}: {why}", flush=True)
        return True
    except Exception:  # noqa: BLE001
        print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
        return False


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    results = [attempt(name, function) for name, function in CASES if wanted in name]
    # Threads of a client that a failed case left behind do not keep the program.
    sys.stdout.flush()
    os._exit(0 if all(results) else 1)
