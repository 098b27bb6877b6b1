"""Servers, projects in versions, and load for the tests of redeployment."""
import os
import re
import socket
import sys
import threading
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "common"), str(TESTS / "http")]
import harness  # noqa: E402
from harness import WAIT_S  # noqa: E402
from make_project import Project  # noqa: E402


class Server(harness.Server):
    def get(self, path):
        reply = self.request("GET", path)
        return reply.status, reply.text

    def draining(self):
        return self.ask("GET", "/apiv2")[1]["active"]["versionsDraining"]

    def count(self, what):
        return len(os.listdir(f"/proc/{self.process.pid}/{what}"))


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
