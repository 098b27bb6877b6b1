"""The other sides: web services with TLS, and a proxy that keeps a list of what it was asked."""
import base64
import functools
import gzip
import http.server
import socket
import ssl
import threading
import zlib


BOMBS = {"/bomb": 31, "/bomb/zlib": 15, "/bomb/raw": -15}  # paths with zlib's window bits


@functools.cache
def bomb(path):
    packer = zlib.compressobj(wbits=BOMBS[path])
    return packer.compress(bytes(200 << 20)) + packer.flush()


class Service(http.server.BaseHTTPRequestHandler):
    """Answers with what it was sent, and tells about the connection in header fields."""
    protocol_version = "HTTP/1.1"

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        coding = self.headers.get("Content-Encoding", "")
        if coding == "gzip":
            body = gzip.decompress(body)
        elif coding == "deflate":
            try:
                body = zlib.decompress(body)
            except zlib.error:
                body = zlib.decompress(body, -15)
                coding = "raw"
        self.server.seen.append((self.command, self.path, dict(self.headers), self.client_address))
        if self.path.startswith("/redirect/"):
            self.send_response(307)
            self.send_header("Location", self.server.redirect_to)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path == "/endless":
            return self.send_endless()
        if self.path in BOMBS:
            body = bomb(self.path)
        elif self.path == "/gzip" and "gzip" in self.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body)
        elif self.path == "/deflate":
            body = zlib.compress(body)
        self.send_response(200)
        if self.path in ("/bomb", "/gzip"):
            self.send_header("Content-Encoding", "gzip")
        if self.path in ("/deflate", "/bomb/zlib", "/bomb/raw"):
            self.send_header("Content-Encoding", "deflate")
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Coding", coding or "none")
        self.send_header("X-Authorization", self.headers.get("Authorization", "none"))
        if isinstance(self.connection, ssl.SSLSocket):
            peer = self.connection.getpeercert()
            names = [v for part in peer.get("subject", ()) for _, v in part] if peer else []
            self.send_header("X-Version", self.connection.version())
            self.send_header("X-Cipher", self.connection.cipher()[0])
            self.send_header("X-Client", names[0] if names else "none")
            self.send_header("X-Resumed", str(self.connection.session_reused))
        self.end_headers()
        self.wfile.write(body)

    def send_endless(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        chunk = b"10000\r\n" + bytes(65536) + b"\r\n"
        try:
            while True:
                self.wfile.write(chunk)
        except OSError:
            self.close_connection = True

    do_GET = do_POST = do_PUT = handle_any

    def log_message(self, *_):
        pass


class Backend:
    """A Service on a thread; `pem` is its key and certificate, None for plain HTTP."""

    def __init__(self, pem=None, change=None):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
        self.server.daemon_threads = True
        self.server.seen = []
        self.server.redirect_to = ""
        self.port = self.server.server_address[1]
        self.seen = self.server.seen
        if pem:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(pem)
            if change:
                change(context)
            # The handshake belongs to the thread of the connection.
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                     do_handshake_on_connect=False)
        self.server.handle_error = lambda *_: None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path="/", host="localhost", scheme="https"):
        return f"{scheme}://{host}:{self.port}{path}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Proxy:
    """An HTTP proxy: CONNECT tunnels, and plain requests in absolute form; wants `credentials` if given."""

    def __init__(self, credentials=None):
        self.credentials = credentials and "Basic " + base64.b64encode(credentials.encode()).decode()
        self.seen = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            more = client.recv(4096)
            if not more:
                return client.close()
            head += more
        head, rest = head.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines[1:])
        method, target, _ = lines[0].split(" ")
        self.seen.append((method, target, fields))
        if self.credentials and fields.get("Proxy-Authorization") != self.credentials:
            client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            return client.close()
        if method == "CONNECT":
            host, port = target.rsplit(":", 1)
            server = socket.create_connection((host, int(port)))
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            place = target.split("/")[2]
            host, port = place.rsplit(":", 1)
            server = socket.create_connection((host, int(port)))
            lines[0] = f"{method} /{target.split('/', 3)[3]} HTTP/1.1"
            kept = [line for line in lines if not line.lower().startswith("proxy-")]
            server.sendall("\r\n".join(kept).encode() + b"\r\n\r\n" + rest)
        other = threading.Thread(target=self.pump, args=(server, client), daemon=True)
        other.start()
        self.pump(client, server)

    @staticmethod
    def pump(source, sink):
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                sink.sendall(data)
        except OSError:
            pass
        for s in (source, sink):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
