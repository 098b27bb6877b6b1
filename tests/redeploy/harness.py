"""Servers, projects in versions, and load for the tests of redeployment."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "http"))
from make_project import Project  # noqa: E402

WAIT_S = 30.0


class Server:
    """A millstream process with an admin port."""

    def __init__(self, binary, *arguments):
        command = [binary, "run", "--http-port", "0", "--host", "127.0.0.1", "--admin-port", "0",
                   *map(str, arguments)]
        self.binary = binary
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines, self.errors, self.port, self.url = [], [], 0, ""
        threading.Thread(target=self._read, args=(self.process.stderr, self.errors), daemon=True).start()
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            admin = re.search(r"administration +(http://\S+)", line)
            if admin:
                self.url = admin.group(1)
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
        assert self.port, "the server did not start:\n" + "\n".join(self.errors)
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(timeout=60)

    def get(self, path, timeout=WAIT_S):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request("GET", path)
            reply = connection.getresponse()
            return reply.status, reply.read().decode()
        finally:
            connection.close()

    def admin(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=4 * WAIT_S)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            reply = connection.getresponse()
            text = reply.read().decode()
        finally:
            connection.close()
        return reply.status, json.loads(text) if text.startswith("{") else text

    def command(self, *arguments):
        return subprocess.run([self.binary, *map(str, arguments), "--url", self.url], capture_output=True,
                              text=True, timeout=60, check=False)

    def draining(self):
        return self.admin("GET", "/apiv2")[1]["active"]["versionsDraining"]

    def memory_kib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))

    def count(self, what):
        return len(os.listdir(f"/proc/{self.process.pid}/{what}"))


def pace(seconds):
    """Lets time pass where the moment is the point: the gap between edits, the instant of a kill."""
    threading.Event().wait(seconds)


def wait_for(condition, what, timeout=WAIT_S):
    until = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < until, "waited in vain: " + what
        pace(0.005)


COMPUTE = """CREATE COMPUTE MODULE M
  DECLARE asked SHARED INTEGER 0;
  CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
    SET asked = asked + 1;
    {before}
    SET OutputRoot.BLOB.BLOB = CAST('{text}' AS BLOB CCSID 1208);
    RETURN TRUE;
  END;
END MODULE;
"""


def write_application(folder, name, text, url=None, before=""):
    """An application whose flow answers `text` at its URL."""
    project = Project(folder, name)
    project.flow("F", [("in", "ComIbmWSInput", "In", {"URLSpecifier": url or "/" + name}),
                       ("do", "ComIbmCompute", "Do", {"computeExpression": "esql://routine/#M.Main"}),
                       ("out", "ComIbmWSReply", "Out", {})],
                 ["in.out -> do.in", "do.out -> out.in"])
    write_esql(folder, name, text, before)
    return project


def write_esql(folder, name, text, before=""):
    # Whole at every instant, as editors save.
    path = Path(folder) / name / "M.esql"
    new = path.with_suffix(".next")
    new.write_text(COMPUTE.format(text=text, before=before))
    os.replace(new, path)


class Load:
    """Clients that ask without pause on connections they keep, and note every answer that is not
    right: is_right(answer, what note() said before the request was sent)."""

    def __init__(self, port, path, is_right, clients=4, note=lambda: None):
        self.port, self.path, self.is_right, self.note = port, path, is_right, note
        self.asked, self.wrong, self.seen = 0, [], set()
        self._lock, self._ends = threading.Lock(), threading.Event()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(clients)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._ends.set()
        for thread in self._threads:
            thread.join(WAIT_S)
            assert not thread.is_alive(), "a client still waits for its answer"

    def _run(self):
        asked, wrong, seen = 0, [], set()
        request = f"GET {self.path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S) as connection:
                while not self._ends.is_set():
                    noted = self.note()
                    connection.sendall(request)
                    answer = self._read_reply(connection)
                    asked += 1
                    seen.add(answer)
                    if not self.is_right(answer, noted):
                        wrong.append(answer)
        except OSError as error:
            wrong.append(repr(error))
        with self._lock:
            self.asked += asked
            self.wrong += wrong
            self.seen |= seen

    @staticmethod
    def _read_reply(connection):
        data = b""
        while b"\r\n\r\n" not in data:
            more = connection.recv(65536)
            if not more:
                raise OSError("closed by the server")
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(re.search(rb"Content-Length: (\d+)", head).group(1))
        while len(body) < length:
            body += connection.recv(65536)
        status = int(head.split(b" ", 2)[1])
        return body.decode() if status == 200 else f"{status} {body.decode()}"
