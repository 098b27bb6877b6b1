"""What the end-to-end tests of observability share: a server, a collector, and projects."""
import functools
import http.client
import http.server
import json
import re
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "http")]
import harness  # noqa: E402
from harness import Skipped, case, command, eventually, main  # noqa: E402,F401
from make_project import Project, module  # noqa: E402


def test(function):
    """A case that gets a Context."""
    @case
    @functools.wraps(function)
    def run(binary, folder):
        function(Context(binary, folder))
    return function


class Server(harness.Server):
    def post(self, path, body="<a/>", headers=None):
        reply = self.request("POST", path, body, {"Content-Type": "text/xml", **(headers or {})})
        return reply.status, reply.text

    def metrics(self):
        reply = self.admin("GET", "/metrics")
        assert reply.status == 200, reply
        assert reply.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8", reply.headers
        return reply.text


class Collector:
    """A server that takes OTLP and answers back-end requests; it keeps what came."""

    def __init__(self, status=200):
        self.batches, self.headers, self.requests, self.status = [], [], [], status
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if self.path.endswith("/traces"):
                    outer.headers.append((self.path, dict(self.headers)))
                    if outer.status == 200:
                        outer.batches.append(json.loads(body))
                    self.answer(outer.status, b"{}")
                else:
                    outer.requests.append(dict(self.headers))
                    self.answer(500 if self.path == "/broken" else 200, b"<answer/>")

            def answer(self, status, body):
                self.send_response(status)
                self.send_header("Content-Type", "text/xml")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def spans(self):
        return [span for batch in list(self.batches) for resource in batch["resourceSpans"]
                for scope in resource["scopeSpans"] for span in scope["spans"]]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def attributes(thing):
    return {a["key"]: next(iter(a["value"].values())) for a in thing["attributes"]}


class Context:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def server(self, *arguments, environment=None, work_dir=True):
        if work_dir:
            (self.folder / "wd").mkdir(exist_ok=True)
            arguments = (*arguments, "--work-dir", self.folder / "wd")
        return Server(self.binary, *arguments, environment=environment)

    def conf(self, text):
        (self.folder / "wd").mkdir(exist_ok=True)
        (self.folder / "wd/server.conf.yaml").write_text(text)

    def log(self, name):
        file = self.folder / "wd/log" / name
        return file.read_text() if file.exists() else ""

    def call(self, *words):
        return command(self.binary, *words)

    def app(self, statement="SET OutputRoot = InputRoot; RETURN TRUE;", name="App", routines="", more=(), wires=()):
        """An application with one flow "Hello" at /<name>: In -> Do -> Reply."""
        project = Project(self.folder, name)
        nodes = [("in", "ComIbmWSInput", "In", {"URLSpecifier": f"/{name}", "messageDomainProperty": "XMLNSC"}),
                 ("do", "ComIbmCompute", "Do", {"computeExpression": "esql://routine/#M.Main"}),
                 ("reply", "ComIbmWSReply", "Reply", {}), *more]
        project.flow("Hello", nodes, wires or ["in.out -> do.in", "do.out -> reply.in"])
        project.esql("Hello", module("M", statement) + routines)
        return self.folder / name

    def database_app(self, name="App"):
        """In -> Do -> Reply, where Do inserts what the request says into table item of data source SHOP."""
        project = Project(self.folder, name)
        project.flow("Hello", [("in", "ComIbmWSInput", "In", {"URLSpecifier": f"/{name}", "messageDomainProperty": "XMLNSC"}),
                               ("do", "ComIbmCompute", "Do", {"computeExpression": "esql://routine/#M.Main",
                                                              "dataSource": "SHOP", "transaction": "commit"}),
                               ("reply", "ComIbmWSReply", "Reply", {})],
                     ["in.out -> do.in", "do.out -> reply.in"])
        project.esql("Hello", module("M", "INSERT INTO Database.item (id) VALUES (CAST(InputRoot.XMLNSC.a AS INTEGER)); "
                                          "SET OutputRoot = InputRoot; RETURN TRUE;"))
        return self.folder / name

    def calling_app(self, url, name="Caller"):
        """In -> Call (HTTPRequest) -> Reply."""
        project = Project(self.folder, name)
        project.flow("Hello", [("in", "ComIbmWSInput", "In", {"URLSpecifier": f"/{name}", "messageDomainProperty": "XMLNSC"}),
                               ("call", "ComIbmWSRequest", "Call", {"URLSpecifier": url}),
                               ("reply", "ComIbmWSReply", "Reply", {})],
                     ["in.out -> call.in", "call.out -> reply.in"])
        return self.folder / name

    def calling_flows(self, url, name="Shop"):
        """In -> Invoke -> Reply, which calls Called -> Ask (HTTPRequest) -> Back."""
        project = Project(self.folder, name)
        project.flow("Hello", [("in", "ComIbmWSInput", "In", {"URLSpecifier": f"/{name}", "messageDomainProperty": "XMLNSC"}),
                               ("call", "ComIbmCallableFlowInvoke", "Invoke",
                                {"targetApplication": name, "targetEndpointName": "price"}),
                               ("reply", "ComIbmWSReply", "Reply", {})],
                     ["in.out -> call.in", "call.out -> reply.in"])
        project.flow("Price", [("in", "ComIbmCallableFlowInput", "Called", {"callableInputEndpoint": "price"}),
                               ("ask", "ComIbmWSRequest", "Ask", {"URLSpecifier": url}),
                               ("back", "ComIbmCallableFlowReply", "Back", {})],
                     ["in.out -> ask.in", "ask.out -> back.in"])
        return self.folder / name


FLOW = "/apiv2/applications/App/messageflows/Hello"
FAST = {"OTEL_BSP_SCHEDULE_DELAY": "50"}
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def parse_exposition(text):
    """{(name, labels): value} by the rules of the text format 0.0.4, checked."""
    samples, types, helped, current = {}, {}, set(), None
    sample = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (\S+)$')
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name = line.split(" ", 3)[2]
            assert name not in helped, f"HELP twice: {name}"
            helped.add(name)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types and kind in ("counter", "gauge", "histogram"), line
            types[name] = kind
            current = name
        else:
            match = sample.match(line)
            assert match, f"not a sample: {line}"
            name, labels, value = match.groups()
            family = re.sub("_(bucket|sum|count)$", "", name) if types[current] == "histogram" else name
            assert family == current, f"{name} stands below {current}"
            assert (name, labels or "") not in samples, f"twice: {line}"
            samples[name, labels or ""] = float(value)
            if types[current] == "counter":
                assert name.endswith("_total") and samples[name, labels or ""] >= 0, line
    assert set(types) == helped
    return samples
