#!/usr/bin/env python3
"""Attacks on the HTTP port of real server processes: whatever a client sends, the server stays up, its memory
and processor time stay bounded, and other clients are served."""
import functools
import os
import random
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common")]
from harness import Server, case_of, main  # noqa: E402
from make_project import COPY_HEADERS, Project  # noqa: E402
from wire import Reply, simple_flow  # noqa: E402

HEAD = b"Host: localhost\r\n"


def attack_project(folder):
    p = Project(folder, "Attacked")
    p.flow("Echo", [("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/echo", "messageDomainProperty": "XMLNSC"}),
                    ("r", "ComIbmWSReply", "HTTP Reply", {})], ["in.out -> r.in"])
    p.flow("EchoBlob", [("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/blob"}),
                        ("r", "ComIbmWSReply", "HTTP Reply", {})], ["in.out -> r.in"])
    for domain in ("XMLNSC", "XMLNS", "JSON"):
        simple_flow(p, f"Walk{domain}", f"/walk/{domain}", COPY_HEADERS + f"""
    SET OutputRoot.XMLNSC.n = CARDINALITY(InputBody.*[]);
    SET OutputRoot.XMLNSC.last = LENGTH(CAST(FIELDVALUE(InputBody.*[<].*[<]) AS CHARACTER));
    RETURN TRUE;""", {"messageDomainProperty": domain})
        simple_flow(p, f"Copy{domain}", f"/copy/{domain}", f"""
    SET OutputRoot = InputRoot;
    SET OutputRoot.{domain}.*[<].added = 1;
    RETURN TRUE;""", {"messageDomainProperty": domain})
    simple_flow(p, "Number", "/number", COPY_HEADERS + """
    DECLARE d DECIMAL CAST(InputRoot.XMLNSC.a AS DECIMAL);
    SET OutputRoot.XMLNSC.n = d + 1;
    RETURN TRUE;""")
    simple_flow(p, "Total", "/total", COPY_HEADERS + """
    SET OutputRoot.XMLNSC.n = SUM_OF(InputRoot.JSON.Data);
    RETURN TRUE;""".replace("SUM_OF(InputRoot.JSON.Data)", "InputRoot.JSON.Data.a + 1"), {"messageDomainProperty": "JSON"})
    simple_flow(p, "Split", "/split", """
    SET OutputRoot.Properties = InputRoot.Properties;
    SET OutputRoot.HTTPReplyHeader."X-Echo" = InputRoot.XMLNSC.a.v;
    SET OutputRoot.HTTPReplyHeader."X-Lines" = CAST(X'610d0a5365742d436f6f6b69653a20623d63' AS CHARACTER CCSID 1208);
    SET OutputRoot.HTTPReplyHeader.(CAST(X'582d413a20620d0a582d45' AS CHARACTER CCSID 1208)) = 'n';
    SET OutputRoot.HTTPReplyHeader."Content-Length" = '3';
    SET OutputRoot.HTTPReplyHeader."Transfer-Encoding" = 'chunked';
    SET OutputRoot.XMLNSC.done = 'yes';
    RETURN TRUE;""")
    simple_flow(p, "Log", "/log", COPY_HEADERS + """
    LOG EVENT SEVERITY 1 MESSAGE 2951 VALUES('LOGGED', InputRoot.XMLNSC.a, InputRoot.HTTPInputHeader."X-Log");
    SET OutputRoot.XMLNSC.done = 'yes';
    RETURN TRUE;""")
    simple_flow(p, "Throw", "/throw", "    THROW USER EXCEPTION MESSAGE 2951 VALUES('THROWN', InputRoot.XMLNSC.a);")
    simple_flow(p, "Deep", "/deep", COPY_HEADERS + """
    SET OutputRoot.XMLNSC.v = EVAL(InputRoot.XMLNSC.a);
    RETURN TRUE;""")
    simple_flow(p, "Silent", "/silent", "    RETURN FALSE;", {"timeoutForClient": "120"})
    p.flow("TraceFull", [("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/full"}),
                         ("t", "ComIbmTrace", "Trace", {"destination": "file", "filePath": "/dev/full", "pattern": "${Root}"}),
                         ("r", "ComIbmWSReply", "HTTP Reply", {})], ["in.out -> t.in", "t.out -> r.in"])
    rows = ('<outTerminals terminalNodeID="deep" dynamic="true" label="deep"/>'
            '<filterTable filterPattern="count(//*[count(.//*) &gt; 0]) &gt; 3" routingOutputTerminal="deep"/>')
    p.flow("Routed", [("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/route", "messageDomainProperty": "XMLNSC"}),
                      ("x", "ComIbmRoute", "Route", {"distributionMode": "first"}, rows),
                      ("r", "ComIbmWSReply", "HTTP Reply", {})],
           ["in.out -> x.in", "x.!deep -> r.in", "x.default -> r.in"])


def connect(port, timeout=20.0):
    return socket.create_connection(("127.0.0.1", port), timeout=timeout)


def post(path, body=b"", more=b""):
    return b"POST %s HTTP/1.1\r\n%sContent-Length: %d\r\n%s\r\n%s" % (path.encode(), HEAD, len(body), more, body)


def exchange(port, data, timeout=20.0):
    """Sends raw bytes and returns all that comes back until the other side closes."""
    with connect(port, timeout) as s:
        s.sendall(data)
        return read_to_end(s)


def read_to_end(s):
    parts = []
    while True:
        try:
            parts.append(s.recv(1 << 20))
        except ConnectionResetError:
            parts.append(b"")
        if not parts[-1]:
            return b"".join(parts)


def call(port, path, body=b"", headers=(), timeout=20.0):
    body = body.encode() if isinstance(body, str) else body
    more = b"".join(f"{k}: {v}\r\n".encode() for k, v in headers)
    return Reply(exchange(port, post(path, body, more + b"Connection: close\r\n"), timeout))


def read_reply(s):
    got = bytearray()
    while b"\r\n\r\n" not in got:
        more = s.recv(65536)
        if not more:
            return None
        got += more
    size = re.search(rb"\r\nContent-Length: (\d+)", got)
    need = got.index(b"\r\n\r\n") + 4 + int(size.group(1) if size else 0)
    while len(got) < need:
        more = s.recv(65536)
        if not more:
            return None
        got += more
    return Reply(bytes(got))


def statuses(raw):
    return [int(s) for s in re.findall(rb"(?:^|(?<=[\s\S]))HTTP/1\.[01] (\d{3}) ", raw)]


def rss_mib(process):
    text = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text).group(1)) / 1024


def cpu_seconds(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_served(t, limit=5.0):
    start = time.monotonic()
    assert call(t.port, "/echo", "<a>1</a>").text == "<a>1</a>"
    took = time.monotonic() - start
    assert took < limit, f"another client waited {took:.1f} s"


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


# Framing ---------------------------------------------------------------------------------------

INNER = b"GET /echo?smuggled HTTP/1.1\r\nHost: inner\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
SMUGGLING = {
    "CL.TE": b"Content-Length: 4\r\n" + CHUNKED + b"\r\n0\r\n\r\n" + INNER,
    "TE.CL": CHUNKED + b"Content-Length: 4\r\n\r\n5c\r\n" + INNER + b"\r\n0\r\n\r\n",
    "two Content-Length": b"Content-Length: 0\r\nContent-Length: 44\r\n\r\n" + INNER,
    "same Content-Length twice": b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n" + INNER,
    "list Content-Length": b"Content-Length: 0, 44\r\n\r\n" + INNER,
    "signed Content-Length": b"Content-Length: +0\r\n\r\n" + INNER,
    "negative Content-Length": b"Content-Length: -1\r\n\r\n" + INNER,
    "hex Content-Length": b"Content-Length: 0x10\r\n\r\n" + INNER,
    "blank in Content-Length": b"Content-Length: 1 0\r\n\r\n" + INNER,
    "huge Content-Length": b"Content-Length: 18446744073709551616\r\n\r\n" + INNER,
    "Content-Length with tab name": b"Content-Length\t: 0\r\n\r\n" + INNER,
    "TE twice": CHUNKED + CHUNKED + b"\r\n0\r\n\r\n" + INNER,
    "TE identity": b"Transfer-Encoding: identity\r\n\r\n" + INNER,
    "TE list": b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + INNER,
    "TE gzip": b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + INNER,
    "TE x": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + INNER,
    "TE quoted": b"Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n" + INNER,
    "TE space before colon": b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + INNER,
    "TE vertical tab": b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n" + INNER,
    "TE NUL": b"Transfer-Encoding: chunked\x00\r\n\r\n0\r\n\r\n" + INNER,
    "TE folded": b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" + INNER,
    "folded line": b"X-A: b\r\n c\r\n\r\n" + INNER,
    "folded first line": b" X-A: b\r\n\r\n" + INNER,
    "bare LF header": b"X-A: b\nContent-Length: 0\r\n\r\n" + INNER,
    "bare LF end": b"X-A: b\r\n\n" + INNER,
    "bare CR": b"X-A: b\rContent-Length: 44\r\n\r\n" + INNER,
    "NUL in value": b"X-A: a\x00b\r\n\r\n" + INNER,
    "NUL in name": b"X\x00A: ab\r\n\r\n" + INNER,
    "empty name": b": ab\r\n\r\n" + INNER,
    "no colon": b"X-A\r\n\r\n" + INNER,
    "8-bit name": b"X-\xe4: ab\r\n\r\n" + INNER,
    "chunk size overflow": CHUNKED + b"\r\n10000000000000000\r\n" + INNER,
    "chunk size sign": CHUNKED + b"\r\n-1\r\n" + INNER,
    "chunk size 0x": CHUNKED + b"\r\n0x0\r\n\r\n" + INNER,
    "chunk size blank": CHUNKED + b"\r\n 0\r\n\r\n" + INNER,
    "chunk size trailing blank": CHUNKED + b"\r\n0 \r\n\r\n" + INNER,
    "chunk size empty": CHUNKED + b"\r\n\r\n" + INNER,
    "chunk bare LF": CHUNKED + b"\r\n0\n\r\n" + INNER,
    "chunk extension with LF": CHUNKED + b"\r\n0;a=\nb\r\n\r\n" + INNER,
    "chunk data too long": CHUNKED + b"\r\n1\r\nabc\r\n0\r\n\r\n" + INNER,
    "chunk without end": CHUNKED + b"\r\n1\r\na0\r\n\r\n" + INNER,
    "trailer folded": CHUNKED + b"\r\n0\r\n X: b\r\n\r\n" + INNER,
    "second Host": b"Host: other\r\n\r\n" + INNER,
}


@contextmanager
def attacked(binary, folder):
    attack_project(folder)
    project = folder / "Attacked"
    with Server(binary, project, "--cores", "2") as server:
        yield SimpleNamespace(port=server.port, errors=server.errors, process=server.process, binary=binary,
                              project=project)
        status = server.stop()
        assert status == 0, f"the server ended with {status}\n" + "\n".join(server.errors[-20:])


def attack(function):
    @case_of(attacked)
    @functools.wraps(function)
    def run(t):
        function(t)
        assert t.process.poll() is None, "the server died:\n" + "\n".join(t.errors[-20:])
    return function


@attack
def ambiguous_framing_is_refused_and_nothing_behind_it_is_read(t):
    for name, text in SMUGGLING.items():
        raw = exchange(t.port, b"POST /echo HTTP/1.1\r\n" + HEAD + text)
        got = statuses(raw)
        assert len(got) == 1 and got[0] in (400, 413, 501), (name, raw[:300])
        assert b"Connection: close" in raw, (name, raw[:300])


@attack
def bad_start_lines_are_refused(t):
    rest = b"\r\n" + HEAD + b"\r\n"
    for line in (b"GET /", b"GET  / HTTP/1.1", b"GET / HTTP/1.1 ", b" GET / HTTP/1.1", b"GET / HTTP/11", b"GET / http/1.1",
                 b"GET / HTTP/1.1\x00", b"GET /\x00 HTTP/1.1", b"GET /a b HTTP/1.1", b"GET\t/\tHTTP/1.1", b"G@T / HTTP/1.1",
                 b"GET / HTTP/2.0", b"GET / HTTP/0.9", b"PRI * HTTP/2.0", b"CONNECT localhost:80 HTTP/1.1", b"GET * HTTP/1.1",
                 b"GET echo HTTP/1.1", b"GET http:// HTTP/1.1", b"GET http://a@b/ HTTP/1.1", b"GET ftp://b/ HTTP/1.1",
                 b"GET //\x80 HTTP/1.1", b"\r\n\r\n\r\nGET / HTTP/1.1", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"):
        got = statuses(exchange(t.port, line + rest))
        assert len(got) == 1 and got[0] in (400, 501, 505), (line, got)
    for head in (b"", b"Host: a\r\nHost: a\r\n", b"Host: a b\r\n", b"Host: a/b\r\n", b"Host: u@b\r\n"):
        assert statuses(exchange(t.port, b"GET /echo HTTP/1.1\r\n" + head + b"\r\n")) == [400], head
    # Absolute form: its authority counts, and a Host that differs is not an error (RFC 9112 3.2.2).
    assert statuses(exchange(t.port, b"GET http://other/nothing HTTP/1.1\r\nConnection: close\r\n" + HEAD + b"\r\n")) == [404]


@attack
def every_split_of_a_request_is_read_alike(t):
    chunked = b"POST /blob HTTP/1.1\r\n" + HEAD + CHUNKED + b"\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: v\r\n\r\n"
    with connect(t.port) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(1, len(chunked), 5):
            s.sendall(chunked[:at])
            time.sleep(0.001)
            s.sendall(chunked[at:])
            reply = read_reply(s)
            assert reply.status == 200 and reply.body == b"abcde", (at, reply.status, reply.body)


@attack
def floods_of_headers_and_targets_are_cut_off(t):
    start = b"GET /echo HTTP/1.1\r\n" + HEAD
    for data, status in ((start + b"".join(b"X-%d: a\r\n" % i for i in range(100_000)), 431), (start + b"X: " + b"a" * 10_000_000, 431),
                         (start + b"X" * 10_000_000, 431), (b"GET /" + b"a" * 1_000_000, 414), (b"A" * 1_000_000, 414)):
        with connect(t.port) as s:
            try:
                s.sendall(data)
            except OSError:
                pass  # the server has said what it thinks and stopped reading
            got = statuses(read_to_end(s))
        assert got in ([status], []), (data[:10], got)  # the reply may be lost with the unread rest
    is_served(t)


@attack
def chunks_without_end(t):
    count = 10_000_000 if os.environ.get("LONG") else 2_000_000
    start = time.monotonic()
    with connect(t.port, 30) as s:
        s.sendall(b"POST /blob HTTP/1.1\r\n" + HEAD + CHUNKED + b"\r\n")
        s.sendall(b"1\r\na\r\n" * count)
        s.sendall(b"0\r\n\r\n")
        reply = read_reply(s)
        assert reply.status == 200 and reply.body == b"a" * count, reply.status
        # Extensions: a little is fine, a stream of them is not.
        s.sendall(b"POST /blob HTTP/1.1\r\n" + HEAD + CHUNKED + b"\r\n" + b"1;abcdefghijklmnopqrstuvwxyz\r\na\r\n" * 1000)
        assert read_reply(s).status == 400
    assert time.monotonic() - start < 20
    with connect(t.port) as s:
        s.sendall(b"POST /blob HTTP/1.1\r\n" + HEAD + CHUNKED + b"\r\n" + b"fffffff\r\n")
        assert read_reply(s).status == 413
    with connect(t.port) as s:  # trailers without end
        s.sendall(b"POST /blob HTTP/1.1\r\n" + HEAD + CHUNKED + b"\r\n0\r\n" + b"T: v\r\n" * 300)
        assert read_reply(s).status == 431


@attack
def expectations(t):
    for value in (b"200-ok", b"100-continue, 100-continue", b""):
        assert statuses(exchange(t.port, b"POST /echo HTTP/1.1\r\n" + HEAD + b"Expect: " + value + b"\r\nContent-Length: 3\r\n\r\nabc")) == [417]
    head = b"POST /blob HTTP/1.1\r\n" + HEAD + b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\n"
    got = exchange(t.port, (head + b"abc") * 3 + b"GET /no HTTP/1.1\r\nConnection: close\r\n" + HEAD + b"\r\n")
    assert statuses(got) == [200, 200, 200, 404], got
    for _ in range(200):  # announced and never sent
        with connect(t.port) as s:
            s.sendall(head)
            assert s.recv(100).startswith(b"HTTP/1.1 100 ")
    is_served(t)


# Connections -----------------------------------------------------------------------------------

@attack
def slow_senders_do_not_hold_the_others_up(t):
    slow = [connect(t.port) for _ in range(500)]
    for s in slow:
        s.sendall(b"POST /echo HTTP/1.1\r\n")
    deadline = time.monotonic() + 16
    byte, closed = 0, 0
    text = b"X-Slow: " + b"a" * 100
    while closed < len(slow) and time.monotonic() < deadline:
        for i, s in enumerate(slow):
            if s is None:
                continue
            try:
                s.sendall(text[byte % len(text):][:1])
                s.setblocking(False)
                try:
                    got = s.recv(4096)
                    assert got == b"" or got.startswith(b"HTTP/1.1 408"), got
                    slow[i] = None
                    closed += 1
                except BlockingIOError:
                    pass
                if slow[i]:
                    s.setblocking(True)
                else:
                    s.close()
            except (BrokenPipeError, ConnectionResetError):
                slow[i] = None
                closed += 1
        byte += 1
        is_served(t, 2.0)
        time.sleep(0.5)
    assert closed == len(slow), f"{len(slow) - closed} slow clients are still connected"


@attack
def ten_thousand_idle_connections(t):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(10_000, hard - 200)
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 200, hard))
    before = rss_mib(t.process)
    idle = []
    try:
        for _ in range(count):
            idle.append(connect(t.port))
        is_served(t)
        used = cpu_seconds(t.process)
        time.sleep(1)
        assert cpu_seconds(t.process) - used < 0.3, "idle connections cost processor time"
        grown = rss_mib(t.process) - before
        assert grown < count * 4 / 1024 + 20, f"{grown:.0f} MiB for {count} idle connections"
    finally:
        for s in idle:
            s.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    is_served(t)


@attack
def a_pipelining_flood_leaves_the_others_their_share(t):
    requests = post("/echo", b"<a>flood</a>") * 500
    ending = threading.Event()

    def flood():
        with connect(t.port) as s:
            def sender():
                try:
                    while not ending.is_set():
                        s.sendall(requests)
                except OSError:
                    pass
            thread = threading.Thread(target=sender, daemon=True)
            thread.start()
            while not ending.is_set():
                s.recv(1 << 20)
            s.shutdown(socket.SHUT_RDWR)
            thread.join()

    threads = [threading.Thread(target=flood, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(0.5)
        for _ in range(20):
            is_served(t, 3.0)
    finally:
        ending.set()
        for thread in threads:
            thread.join(10)


@attack
def pipelined_requests_with_nobody_reading_are_not_buffered(t):
    body = b"<a>" + b"x" * 100_000 + b"</a>"
    before = rss_mib(t.process)
    stuck = []
    sent = 0
    for _ in range(20):
        s = connect(t.port)
        s.setblocking(False)
        stuck.append(s)
    until = time.monotonic() + 3
    pending = {s: b"" for s in stuck}
    while time.monotonic() < until:
        for s in stuck:
            try:
                pending[s] = pending[s] or post("/echo", body) * 5
                n = s.send(pending[s])
                pending[s] = pending[s][n:]
                sent += n
            except BlockingIOError:
                pass
        time.sleep(0.001)
    grown = rss_mib(t.process) - before
    assert grown < 100, f"{grown:.0f} MiB more for {sent >> 20} MiB sent"
    is_served(t)
    for s in stuck:
        reset(s)


@attack
def half_closed_and_reset_connections(t):
    with connect(t.port) as s:
        s.sendall(post("/echo", b"<a>1</a>"))
        s.shutdown(socket.SHUT_WR)
        assert read_reply(s).text == "<a>1</a>" and s.recv(10) == b""
    with connect(t.port) as s:
        s.sendall(post("/echo", b"<a>1</a>")[:-3])
        s.shutdown(socket.SHUT_WR)
        assert s.recv(100) == b""
    big = post("/blob", b"b" * 3_000_000)
    chooser = random.Random(7)
    for _ in range(300):
        s = connect(t.port)
        s.sendall(big[:chooser.choice((5, 60, 100, 70_000, 1_000_000))])
        reset(s)
    for _ in range(50):  # in the middle of the reply
        s = connect(t.port)
        s.sendall(big)
        s.recv(1)
        reset(s)
    is_served(t)


@attack
def requests_nobody_answers_go_with_their_clients(t):
    body = b"s" * 1_000_000
    before = rss_mib(t.process)
    for _ in range(300):
        s = connect(t.port)
        s.sendall(post("/silent", body))
        time.sleep(0.002)
        reset(s)
    for _ in range(50):
        if rss_mib(t.process) - before < 100:
            break
        time.sleep(0.1)
    grown = rss_mib(t.process) - before
    assert grown < 100, f"{grown:.0f} MiB more after 300 clients that left"


@attack
def descriptors_run_out_and_come_back(t):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    with Server(t.binary, t.project, before=limit) as server:
        many = [connect(server.port) for _ in range(150)]
        time.sleep(0.5)
        used = cpu_seconds(server.process)
        time.sleep(1)
        assert cpu_seconds(server.process) - used < 0.3, "the listener spins without descriptors"
        for s in many:
            s.close()
        assert call(server.port, "/echo", "<a/>").status == 200
        assert server.stop() == 0


# Bodies ----------------------------------------------------------------------------------------

def lol():
    entities = '<!ENTITY l0 "lol">' + "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
    return f"<!DOCTYPE a [{entities}]><a><b>&l11;</b></a>".encode()


XML_BODIES = {
    "billion laughs": lol(),
    "quadratic blow-up": b'<!DOCTYPE a [<!ENTITY e "' + b"e" * 100_000 + b'">]><a><b>' + b"&e;" * 100_000 + b"</b></a>",
    "recursive entity": b'<!DOCTYPE a [<!ENTITY a "&b;"><!ENTITY b "&a;">]><a><b>&a;</b></a>',
    "external entity": b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a><b>&x;</b></a>',
    "parameter entity": b'<!DOCTYPE a [<!ENTITY % x SYSTEM "file:///etc/passwd">%x;]><a><b>1</b></a>',
    "entities in attributes": b'<!DOCTYPE a [<!ENTITY e "' + b"e" * 10_000 + b'">]><a b="' + b"&e;" * 100_000 + b'"/>',
    "a million levels": b"<a>" * 1_000_000,
    "20,000 levels closed": b"<a>" * 20_000 + b"</a>" * 20_000,
    "300,000 attributes": b"<a " + b" ".join(b'a%d="v"' % i for i in range(300_000)) + b"/>",
    "100,000 attributes of one name": b"<a " + b'a="v" ' * 100_000 + b"/>",
    "100,000 namespaces": b"<a " + b" ".join(b'xmlns:n%d="u%d"' % (i, i) for i in range(100_000)) + b"><b>1</b></a>",
    "namespaces nested": b"".join(b'<n%d:a xmlns:n%d="u">' % (i, i) for i in range(9_000))
                         + b"".join(b"</n%d:a>" % i for i in reversed(range(9_000))),
    "500,000 names": b"<a>" + b"".join(b"<e%d/>" % i for i in range(500_000)) + b"</a>",
    "a long name": b"<" + b"n" * 5_000_000 + b"/>",
    "a long comment": b"<a><!--" + b"c" * 20_000_000 + b"--></a>",
    "open comment": b"<a><!--" + b"c-" * 5_000_000,
    "open CDATA": b"<a><![CDATA[" + b"]]" * 5_000_000,
    "open doctype": b"<!DOCTYPE a [" + b"<!ELEMENT a ANY>" * 300_000,
    "character references": b"<a><b>" + b"&#x41;" * 2_000_000 + b"</b></a>",
    "bad character reference": b"<a><b>&#x110000;&#0;&#99999999999999999999;</b></a>",
    "invalid UTF-8": b"<a><b>" + b"\xc0\x80\xff\xfe" * 1000 + b"</b></a>",
    "UTF-16 with an odd end": b"\xff\xfe" + "<a><b>1</b></a>".encode("utf-16-le") + b"\x00",
    "NUL bytes": b"\x00" * 1_000_000,
    "empty": b"",
}

JSON_BODIES = {
    "a million arrays": b"[" * 1_000_000,
    "a million objects": b'{"a":' * 1_000_000,
    "20,000 arrays closed": b"[" * 20_000 + b"]" * 20_000,
    "200,000 members of one name": b"{" + b",".join(b'"a":1' for _ in range(200_000)) + b"}",
    "500,000 names": b"{" + b",".join(b'"a%d":1' % i for i in range(500_000)) + b"}",
    "1e999999999": b'{"a":1e999999999}',
    "1e-999999999": b'{"a":1e-999999999}',
    "an exponent of 100,000 digits": b'{"a":1e' + b"9" * 100_000 + b"}",
    "10 MB of digits": b'{"a":' + b"9" * 10_000_000 + b"}",
    "10 MB of decimals": b'{"a":0.' + b"1" * 10_000_000 + b"}",
    "a lone surrogate": b'{"a":"\\ud800"}',
    "an open string": b'{"a":"' + b"\\\\" * 5_000_000,
    "escapes": b'{"a":"' + b"\\u0041" * 1_500_000 + b'"}',
    "invalid UTF-8": b'{"a":"' + b"\xc0\x80\xff\xfe" * 1000 + b'"}',
    "NUL bytes": b"\x00" * 1_000_000,
    "empty": b"",
}


def try_bodies(t, paths, bodies, limit=6.0):
    for name, body in bodies.items():
        for path in paths if len(body) < 1_000_000 or os.environ.get("LONG") else paths[1:2]:
            start, used = time.monotonic(), cpu_seconds(t.process)
            reply = call(t.port, path, body, timeout=30)
            cost = cpu_seconds(t.process) - used
            assert reply.status in (200, 400, 413, 500), (name, path, reply.status, reply.text[:300])
            assert b"root:" not in reply.body, (name, "a file of the server came back")
            assert cost < limit, f"{name} at {path} cost {cost:.1f} s of processor time"
            if os.environ.get("VERBOSE"):
                print(f"  {name} {path}: {reply.status} {cost:.2f} s cpu {time.monotonic() - start:.2f} s "
                      f"{rss_mib(t.process):.0f} MiB {reply.text[-150:]!r}")


@attack
def hostile_xml(t):
    try_bodies(t, ("/walk/XMLNSC", "/copy/XMLNSC", "/copy/XMLNS"), XML_BODIES)
    is_served(t)


@attack
def hostile_json(t):
    try_bodies(t, ("/walk/JSON", "/copy/JSON", "/total"), JSON_BODIES)
    is_served(t)


@attack
def numbers_and_expressions_without_end(t):
    for text in (b"9" * 10_000_000, b"0." + b"0" * 10_000_000 + b"1", b"1e999999999", b"1e-999999999", b"1e" + b"9" * 1_000_000,
                 b" " * 10_000_000 + b"1", b"1" + b"0" * 10_000_000):
        used = cpu_seconds(t.process)
        reply = call(t.port, "/number", b"<a>" + text + b"</a>")
        assert reply.status in (200, 500) and len(reply.body) < 100_000, (text[:10], reply.status, len(reply.body))
        assert cpu_seconds(t.process) - used < 3, text[:10]
    for text in ("(" * 1_000_000, "1+" * 500_000 + "1", "-" * 1_000_000 + "1", "NOT " * 200_000 + "TRUE", "EVAL(" * 10_000,
                 "'" + "a" * 1_000_000, "InputRoot" + ".a" * 200_000, "CASE WHEN " * 50_000, "1(" * 100_000):
        used = cpu_seconds(t.process)
        reply = call(t.port, "/deep", f"<a>{text}</a>")
        assert reply.status in (200, 500), (text[:10], reply.status)
        assert cpu_seconds(t.process) - used < 3, text[:10]
    for depth in (10, 1000, 9000):
        assert call(t.port, "/route", b"<a>" * depth + b"</a>" * depth, timeout=30).status in (200, 500), depth
    is_served(t)


@attack
def memory_comes_back_after_malformed_requests(t):
    bad = [(p, b) for p, bodies in (("/walk/XMLNSC", XML_BODIES), ("/walk/JSON", JSON_BODIES)) for b in bodies.values()
           if len(b) < 200_000]

    def round_of(n):
        for _ in range(n):
            for path, body in bad:
                call(t.port, path, body)
            for text in list(SMUGGLING.values())[:10]:
                exchange(t.port, b"POST /echo HTTP/1.1\r\n" + HEAD + text)

    round_of(5)
    before = rss_mib(t.process)
    round_of(40)
    grown = rss_mib(t.process) - before
    assert grown < before * 0.05 + 8, f"{grown:.0f} MiB more than {before:.0f}"


# Outputs ---------------------------------------------------------------------------------------

@attack
def replies_cannot_be_split(t):
    raw = exchange(t.port, post("/split", b"<a><v>1&#13;&#10;Set-Cookie: a=b&#13;&#10;&#13;&#10;&lt;html&gt;</v></a>",
                                b"Connection: close\r\n"))
    assert raw.count(b"HTTP/1.1 ") == 1, raw
    head, _, body = raw.partition(b"\r\n\r\n")
    assert b"Set-Cookie" not in head and b"X-E" not in head, raw
    assert head.lower().count(b"content-length") == 1 and b"chunked" not in head, raw
    assert body in (b"<done>yes</done>",) or b"BIP" in body, raw


@attack
def logs_cannot_be_forged(t):
    forged = "2026-11-30 00:00:00.000000: BIP9999E: forged"
    call(t.port, "/log", f"<a>x&#10;{forged}&#13;{forged}&#x9b;31m&#x85;</a>", headers=[("X-Log", "\u00e4")])
    call(t.port, "/throw", f"<a>x&#10;{forged}</a>")
    call(t.port, "/%0a2026-11-30%20forged", "<a/>")
    for _ in range(50):
        if any("THROWN" in line for line in t.errors):
            break
        time.sleep(0.05)
    assert any("THROWN" in line for line in t.errors) and any("LOGGED" in line for line in t.errors), t.errors[-3:]
    assert not any(line.startswith(forged) for line in t.errors)
    assert not any(c in line for line in t.errors for c in ("\x1b", "\r", "\x9b", "\x00")), "control characters in the log"


@attack
def short_connections_are_never_forgotten(t):
    """Lost wake-ups: many short connections on both reactors while both cores are loaded."""
    load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    slowest, wrong = [0.0], []

    def client():
        for i in range(250):
            start = time.monotonic()
            reply = call(t.port, "/echo", f"<a>{i}</a>", timeout=30)
            slowest[0] = max(slowest[0], time.monotonic() - start)
            if reply.text != f"<a>{i}</a>":
                wrong.append(reply.text)
    try:
        threads = [threading.Thread(target=client) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
    finally:
        for process in load:
            process.kill()
            process.wait()
    assert not wrong and slowest[0] < 10, (slowest, wrong[:3])


# Operation -------------------------------------------------------------------------------------

@attack
def full_disks_are_reported_and_survived(t):
    with Server(t.binary, t.project, "--statistics", "/dev/full", "--statistics-interval", "1") as server:
        for _ in range(20):
            reply = call(server.port, "/full", "<a/>")
            assert reply.status == 500 and "/dev/full" in reply.text and "No space left" in reply.text, reply.text
        time.sleep(1.2)
        assert call(server.port, "/echo", "<a/>").status == 200
        assert server.stop() == 0
        reports = [line for line in server.errors if "Cannot write '/dev/full'" in line and "BIP" not in line]
        assert 1 <= len(reports) <= 4, server.errors[-5:]


def open_files(folder):
    links = []
    for name in os.listdir(folder):
        try:
            links.append(os.readlink(folder / name))
        except FileNotFoundError:
            pass
    return links


@attack
def standard_descriptors_are_never_given_to_sockets(t):
    process = subprocess.Popen(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", t.binary, "run", "--http-port", "0", str(t.project)])
    try:
        folder = Path(f"/proc/{process.pid}/fd")
        for _ in range(500):
            # The shell's own descriptors come and go until it has become the server.
            if any(link.startswith("socket:") for link in open_files(folder)):
                break
            time.sleep(0.02)
        assert [os.readlink(folder / str(fd)) for fd in (0, 1, 2)] == ["/dev/null"] * 3
    finally:
        process.terminate()
        assert process.wait(30) == 0


@attack
def signals(t):
    with Server(t.binary, t.project) as server:
        for how in (signal.SIGHUP, signal.SIGUSR1, signal.SIGPIPE):
            server.process.send_signal(how)
        assert call(server.port, "/echo", "<a/>").status == 200
        second = subprocess.run([t.binary, "run", "--host", "127.0.0.1", "--http-port", str(server.port), str(t.project)],
                                capture_output=True, text=True, timeout=20)
        assert second.returncode == 1 and "Address already in use" in second.stderr, second
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGTERM)
        assert server.stop() == 0


@attack
def readers_of_the_output_may_go(t):
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.Popen([t.binary, "run", "--http-port", "0", str(t.project)], stdout=writer, stderr=writer)
    os.close(writer)
    time.sleep(0.5)
    process.send_signal(signal.SIGUSR1)
    time.sleep(0.1)
    assert process.poll() is None
    process.terminate()
    assert process.wait(30) == 0


if __name__ == "__main__":
    main(__doc__)
