"""Raw HTTP for the tests of this folder, and the flow that most of them need."""
import socket

from make_project import module


def exchange(port, data, timeout=20.0, wants_close=True):
    """Sends raw bytes and returns all that comes back until the other side closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as s:
        s.sendall(data)
        got = b""
        try:
            while True:
                more = s.recv(65536)
                if not more:
                    break
                got += more
        except socket.timeout:
            if wants_close:
                raise
        return got


class Reply:
    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split(" ")[1])
        self.headers = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}
        self.text = self.body.decode("utf-8", "replace")


def call(port, path, body=b"", method="POST", headers=(), timeout=20.0):
    if isinstance(body, str):
        body = body.encode()
    lines = [f"{method} {path} HTTP/1.1", f"Host: localhost:{port}", "Connection: close"]
    if body or method == "POST":
        lines.append(f"Content-Length: {len(body)}")
    lines += [f"{k}: {v}" for k, v in headers]
    return Reply(exchange(port, ("\r\n".join(lines) + "\r\n\r\n").encode() + body, timeout))


def simple_flow(project, name, url, body, input_properties=None, request=None, extra=()):
    """HTTPInput -> Compute -> HTTPReply."""
    properties = {"URLSpecifier": url, "messageDomainProperty": "XMLNSC", **(input_properties or {})}
    project.flow(name, [("in", "ComIbmWSInput", "HTTP Input", properties),
                        ("c", "ComIbmCompute", "Compute", {"computeExpression": f"esql://routine/#{name}.Main"}),
                        ("r", "ComIbmWSReply", "HTTP Reply", {})],
                 ["in.out -> c.in", "c.out -> r.in", *extra])
    project.esql(name, module(name, body))
