"""What hostile clients and services must not get: memory, time, or the place of others. Raw HTTP/2 frames and bombs."""
import concurrent.futures
import gzip
import socket
import ssl
import struct
import time
import zlib

from lab import call, curl, expect, test
from peers import Backend

DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, END_HEADERS = 1, 4
CALM = 11  # ENHANCE_YOUR_CALM
MIB = 1024  # in KiB


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def text(value):
    """A string of HPACK, without Huffman coding."""
    size, out = len(value), b""
    if size < 127:
        return bytes([size]) + value
    out, size = b"\x7f", size - 127
    while size >= 128:
        out, size = out + bytes([size & 127 | 128]), size >> 7
    return out + bytes([size]) + value


def field(name, value, form=0):
    """A field with a new name: 0 not indexed, 0x40 put into the table."""
    return bytes([form]) + text(name) + text(value)


def block(path=b"/plain", method=b"POST", *more):
    return b"".join([field(b":method", method), field(b":scheme", b"http"), field(b":authority", b"localhost"),
                     field(b":path", path), *more])


class Http2:
    """A connection by prior knowledge, or by ALPN with `trust`."""

    def __init__(self, port, trust=None, settings=b""):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        if trust:
            context = ssl.create_default_context(cafile=str(trust))
            context.set_alpn_protocols(["h2"])
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        self.buffer = b""
        self.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, payload=settings))

    def send(self, data):
        """False when the server has hung up."""
        try:
            self.socket.sendall(data)
            return True
        except OSError:
            return False

    def frames(self, seconds=20.0):
        """All that comes, until the server hangs up or is silent."""
        self.socket.settimeout(seconds)
        while True:
            while len(self.buffer) >= 9 and len(self.buffer) >= 9 + (size := int.from_bytes(self.buffer[:3], "big")):
                head, payload, self.buffer = self.buffer[:9], self.buffer[9:9 + size], self.buffer[9 + size:]
                yield head[3], head[4], int.from_bytes(head[5:9], "big") & 0x7fffffff, payload
            try:
                more = self.socket.recv(65536)
            except OSError:
                return
            if not more:
                return
            self.buffer += more

    def goaway(self):
        """The error that the connection ends with; None: it does not end."""
        found = None
        for kind, _, _, payload in self.frames(15):
            if kind == GOAWAY:
                found = int.from_bytes(payload[4:8], "big")
                if found:
                    return found
        return found

    def status(self, stream):
        """':status' of a reply, as the server's HPACK has it: an index, or a literal."""
        for kind, _, number, payload in self.frames(15):
            if kind == HEADERS and number == stream:
                codes = {0x88: 200, 0x8c: 400, 0x8d: 404, 0x8e: 500}
                return codes.get(payload[0]) or int(payload.split(b"\x03", 1)[1][:3]) if b"\x03" in payload[:3] else \
                    codes.get(payload[0], 1)
            if kind == RST and number == stream:
                return -int.from_bytes(payload, "big")
            if kind == GOAWAY and int.from_bytes(payload[4:8], "big"):
                return -1000
        return None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def is_served(lab, s):
    started = time.monotonic()
    expect(curl(s.plain_url("/plain"), body=b"others").body == b"others")
    expect(curl(s.secure_url("/echo"), "--cacert", lab.ca.pem, "--http2", body=b"others").body == b"others")
    expect(time.monotonic() - started < 10, "others wait")


@test
def http2_floods_end_their_connection(lab):
    """What costs the client next to nothing: the connection ends with ENHANCE_YOUR_CALM, others do not notice."""
    floods = {
        "rapid reset": lambda n: frame(HEADERS, END_HEADERS | END_STREAM, n, block(b"/plain", b"GET")) +
        frame(RST, 0, n, struct.pack(">I", 8)),
        "resets in the middle of a body": lambda n: frame(HEADERS, END_HEADERS, n, block()) +
        frame(DATA, 0, n, b"x" * 100) + frame(RST, 0, n, struct.pack(">I", 8)),
        "settings": lambda n: frame(SETTINGS, payload=struct.pack(">HI", 3, n)),
        "pings": lambda n: frame(PING, payload=struct.pack(">Q", n)),
        "priorities": lambda n: frame(PRIORITY, 0, n + 100_000, struct.pack(">IB", 0, 1)),
        "windows": lambda n: frame(WINDOW, 0, 0, struct.pack(">I", 1)),
    }
    with lab.server() as s:
        before = s.memory_kib()
        for name, one in floods.items():
            for trust in (None, lab.ca.pem):
                with Http2(s.secure_port if trust else s.port, trust) as c:
                    part, sent = b"", 0
                    for n in range(1, 40_001, 2):
                        part += one(n)
                        if len(part) > 16_000:
                            sent = n
                            if not c.send(part):
                                break
                            part = b""
                    expect(c.goaway() == CALM or sent < 39_000, name, "TLS" if trust else "", "was let through")
            is_served(lab, s)
        expect(s.memory_kib() - before < 60 * MIB, "memory", s.memory_kib() - before)


@test
def http2_empty_data_frames_do_not_run_for_ever(lab):
    with lab.server() as s, Http2(s.port) as c:
        c.send(frame(HEADERS, END_HEADERS, 1, block()))
        one = frame(DATA, 0, 1)
        for _ in range(500):
            if not c.send(one * 200):
                break
        is_served(lab, s)
        expect(c.goaway() == CALM, "100,000 empty frames")


@test
def http2_header_lists_have_an_end(lab):
    with lab.server() as s:
        before = s.memory_kib()
        # One large field, many small ones, and a table's worth of large ones named by one byte each: a bomb.
        large = field(b"x", b"v" * 70_000)
        many = b"".join(field(b"x%d" % n, b"v") for n in range(5000))
        bomb = field(b"x", b"v" * 3900, 0x40) + b"\xbe" * 12_000
        for name, more in (("large", large), ("many", many), ("bomb", bomb)):
            with Http2(s.port) as c:
                data = block(b"/plain", b"POST", more)
                parts = [data[i:i + 16_000] for i in range(0, len(data), 16_000)]
                c.send(frame(HEADERS, END_STREAM | (END_HEADERS if len(parts) == 1 else 0), 1, parts[0]))
                for i, part in enumerate(parts[1:], 2):
                    c.send(frame(CONTINUATION, END_HEADERS if i == len(parts) else 0, 1, part))
                status = c.status(1)
                expect(status == 431 or (status is not None and status < 0), name, status)
            is_served(lab, s)
        expect(s.memory_kib() - before < 40 * MIB, "memory", s.memory_kib() - before)


@test
def http2_continuations_have_an_end(lab):
    with lab.server() as s:
        before = s.memory_kib()
        for name, part in (("empty", b""), ("small", field(b"x", b"y")), ("full", field(b"x", b"y" * 16_000))):
            with Http2(s.port) as c:
                c.send(frame(HEADERS, END_STREAM, 1, block()))
                one, sent = frame(CONTINUATION, 0, 1, part), 0
                batch = one * max(1, 16_000 // len(one))
                started = time.monotonic()
                while sent < 16 << 20 and c.send(batch):
                    sent += len(batch)
                    if len(batch) * 40 == sent:
                        is_served(lab, s)
                # What still comes after the last word is thrown away unread, for a while.
                expect(c.goaway() is not None or sent < 16 << 20, name, "continuations were taken")
                expect(time.monotonic() - started < 10, name, "how long it took")
            is_served(lab, s)
        expect(s.memory_kib() - before < 40 * MIB, "memory", s.memory_kib() - before)


@test
def http2_streams_have_a_number(lab):
    with lab.server() as s:
        with Http2(s.port) as c:
            # A thousand requests without an end: a hundred are held, the others refused.
            c.send(b"".join(frame(HEADERS, END_HEADERS, n, block()) for n in range(1, 2001, 2)))
            refused, goaway = 0, None
            for kind, _, _, payload in c.frames(3):
                refused += kind == RST and int.from_bytes(payload, "big") == 7
                goaway = int.from_bytes(payload[4:8], "big") if kind == GOAWAY else goaway
            expect(refused >= 900 or goaway == CALM, refused, goaway)
            is_served(lab, s)
        # Who asks much and takes nothing.
        before = s.memory_kib()
        shut = struct.pack(">HI", 4, 0)
        clients = [Http2(s.port, settings=shut) for _ in range(20)]
        body = b"b" * 16_000
        for c in clients:
            for n in range(1, 101, 2):
                if not c.send(frame(HEADERS, END_HEADERS, n, block()) + frame(DATA, END_STREAM, n, body)):
                    break
        is_served(lab, s)
        expect(s.memory_kib() - before < 120 * MIB, "memory", s.memory_kib() - before)
        for c in clients:
            c.socket.close()


def packed(coding, data):
    if coding == "gzip":
        return gzip.compress(data)
    if coding == "zlib":
        return zlib.compress(data)
    raw = zlib.compressobj(wbits=-15)
    return raw.compress(data) + raw.flush()


@test
def bombs_of_every_coding_at_once(lab):
    bombs = {c: packed(c, bytes(300 << 20)) for c in ("gzip", "zlib", "raw")}
    with lab.server() as s:
        for coding, bomb in bombs.items():
            field_text = "gzip" if coding == "gzip" else "deflate"
            reply = curl(s.plain_url("/unpack"), "-H", f"Content-Encoding: {field_text}", body=bomb)
            expect(reply.status == 413 and b"MS1365E" in reply.body, coding, reply)
            reply = curl(s.plain_url("/unpack"), "-H", f"Content-Encoding: {field_text}", "-H", "Transfer-Encoding: chunked",
                         body=bomb)
            expect(reply.status == 413, coding, "chunked", reply)
            reply = curl(s.plain_url("/unpack"), "--http2-prior-knowledge", "-H", f"Content-Encoding: {field_text}", body=bomb)
            expect(reply.status == 413, coding, "HTTP/2", reply)
        # Codings in codings, and thousands of members, each of them small.
        for field_text, body in (("gzip, gzip", packed("gzip", bombs["gzip"])), ("gzip", packed("gzip", b"") * 200_000)):
            reply = curl(s.plain_url("/unpack"), "-H", f"Content-Encoding: {field_text}", body=body)
            expect(reply.status in (200, 400, 413, 415) and len(reply.body) < 1 << 20, field_text, reply.status)
        before = s.memory_kib()
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            replies = list(pool.map(lambda _: curl(s.plain_url("/unpack"), "-H", "Content-Encoding: gzip",
                                                   body=bombs["gzip"], timeout=120), range(20)))
        expect(all(r.status == 413 for r in replies), [r.status for r in replies])
        expect(s.memory_kib() - before < 500 * MIB, "memory", s.memory_kib() - before)
        is_served(lab, s)


@test
def bombs_as_answers(lab):
    with Backend() as b, lab.client_server() as s:
        before = s.memory_kib()
        for path in ("/bomb", "/bomb/zlib", "/bomb/raw"):
            reply = call(s, b.url(path, "127.0.0.1", "http"), "/accepts", body=b"x")
            expect(reply.status == 500 and b"MS1365E" in reply.body, path, reply)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda _: call(s, b.url("/bomb", "127.0.0.1", "http"), "/accepts", body=b"x"), range(8)))
        expect(all(r.status == 500 and b"MS1365E" in r.body for r in replies), replies[0])
        expect(s.memory_kib() - before < 500 * MIB, "memory", s.memory_kib() - before)
        # One that never ends: the limit is met while it comes.
        reply = call(s, b.url("/endless", "127.0.0.1", "http"), "/accepts", body=b"x")
        expect(reply.status == 500 and b"MS1351E" in reply.body, reply)
        is_served(lab, s)
