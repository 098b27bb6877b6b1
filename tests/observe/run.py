#!/usr/bin/env python3
"""End-to-end tests of what can be seen of a running server: metrics, statistics, spans, traces.

  tests/observe/run.py [BINARY [NAME...]]   the binary to test (build/release/millstream); only tests
                                            whose name holds a NAME

The last line is "N passed, N failed"; the exit code is 1 when one failed.
"""
import csv
import http.client
import http.server
import io
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

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "http"))
from make_project import COPY_HEADERS, Project, module  # noqa: E402

TESTS = []
WAIT_S = 30


def test(function):
    TESTS.append(function)
    return function


def eventually(condition, what):
    """The value of `condition` as soon as it is true."""
    deadline = time.monotonic() + WAIT_S
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"in {WAIT_S} s never: {what}"
        threading.Event().wait(0.02)


class Server:
    """A millstream process with an admin port."""

    def __init__(self, binary, *arguments, env=None):
        command = [binary, "run", "--http-port", "0", "--admin-port", "0", "--host", "127.0.0.1",
                   *map(str, arguments)]
        clean = {k: v for k, v in os.environ.items() if not k.startswith("OTEL_")}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**clean, **(env or {})})
        self.lines, self.errors, self.port, self.admin = [], [], 0, ""
        threading.Thread(target=self.read, args=(self.process.stderr, self.errors), daemon=True).start()
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            if found := re.search(r"administration  http://(\S+)", line):
                self.admin = found.group(1)
            if found := re.search(r"on port (\d+)", line):
                self.port = int(found.group(1))
                break
        threading.Thread(target=self.read, args=(self.process.stdout, self.lines), daemon=True).start()

    @staticmethod
    def read(stream, lines):
        for line in stream:
            lines.append(line.rstrip("\n"))

    def __enter__(self):
        assert self.port and self.admin, "the server did not start:\n" + "\n".join(self.errors)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)

    def post(self, path, body="<a/>", headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("POST", path, body, {"Content-Type": "text/xml", **(headers or {})})
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return reply.status, text

    def ask(self, method, path, body=None):
        """Status and body, as a value when it is JSON."""
        connection = http.client.HTTPConnection(self.admin, timeout=30)
        connection.request(method, path, None if body is None else json.dumps(body))
        reply = connection.getresponse()
        text = reply.read().decode()
        self.content_type = reply.headers["Content-Type"]
        connection.close()
        return reply.status, json.loads(text) if "json" in self.content_type else text

    def metrics(self):
        status, text = self.ask("GET", "/metrics")
        assert status == 200, text
        return text


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
        self.binary, self.folder = binary, Path(folder)

    def server(self, *arguments, env=None, work_dir=True):
        if work_dir:
            (self.folder / "wd").mkdir(exist_ok=True)
            arguments = (*arguments, "--work-dir", self.folder / "wd")
        return Server(self.binary, *arguments, env=env)

    def conf(self, text):
        (self.folder / "wd").mkdir(exist_ok=True)
        (self.folder / "wd/server.conf.yaml").write_text(text)

    def log(self, name):
        file = self.folder / "wd/log" / name
        return file.read_text() if file.exists() else ""

    def call(self, *words):
        return subprocess.run([self.binary, *map(str, words)], capture_output=True, text=True, timeout=60)

    def app(self, statement="SET OutputRoot = InputRoot; RETURN TRUE;", name="App", routines="", more=(), wires=()):
        """An application with one flow "Hello" at /<name>: In -> Do -> Reply."""
        project = Project(self.folder, name)
        nodes = [("in", "ComIbmWSInput", "In", {"URLSpecifier": f"/{name}", "messageDomainProperty": "XMLNSC"}),
                 ("do", "ComIbmCompute", "Do", {"computeExpression": "esql://routine/#M.Main"}),
                 ("reply", "ComIbmWSReply", "Reply", {}), *more]
        project.flow("Hello", nodes, wires or ["in.out -> do.in", "do.out -> reply.in"])
        project.esql("Hello", module("M", statement) + routines)
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

# ---------------------------------------------------------------- metrics


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


@test
def metrics_are_valid_and_count_messages(t):
    with t.server(t.app()) as s:
        for _ in range(5):
            assert s.post("/App", "<a>12345</a>")[0] == 200
        samples = parse_exposition(s.metrics())
        assert s.content_type == "text/plain; version=0.0.4; charset=utf-8", s.content_type
    flow = '{application="App",flow="Hello"}'
    assert samples["millstream_flow_messages_total", flow] == 5
    assert samples["millstream_flow_input_bytes_total", flow] == 60
    assert samples["millstream_flow_errors_total", flow] == 0
    assert samples["millstream_flow_messages_in_flight", flow] == 0
    assert samples["millstream_flow_duration_seconds_count", flow] == 5
    assert samples["millstream_flow_duration_seconds_bucket", flow[:-1] + ',le="+Inf"}'] == 5
    assert samples["millstream_node_invocations_total",
                   '{application="App",flow="Hello",node="Do",type="Compute"}'] == 5
    assert samples["millstream_http_server_requests_total", ""] == 5
    assert samples["process_resident_memory_bytes", ""] > 1e6
    assert samples["process_open_fds", ""] > 5
    assert abs(samples["process_start_time_seconds", ""] - time.time()) < 600


@test
def metrics_pass_the_parser_of_prometheus_client(t):
    try:
        from prometheus_client.parser import text_string_to_metric_families
    except ImportError:
        return "python3-prometheus-client is not installed"
    with Collector() as back_end, t.server(t.app(name='A'), t.calling_app(back_end.url + "/x")) as s:
        s.post("/A")
        s.post("/Caller")
        families = {f.name: f for f in text_string_to_metric_families(s.metrics())}
    assert families["millstream_flow_messages"].type == "counter"
    assert families["millstream_flow_duration_seconds"].type == "histogram"
    assert families["millstream_http_client_requests"].samples[0].value == 1
    assert families["millstream_http_client_connections"].samples[0].value == 1
    assert sum(x.value for x in families["millstream_flow_messages"].samples) == 2


@test
def metrics_count_errors(t):
    with t.server(t.app("THROW USER EXCEPTION MESSAGE 2951 VALUES('no');")) as s:
        assert s.post("/App")[0] == 500
        samples = parse_exposition(s.metrics())
    flow = '{application="App",flow="Hello"}'
    assert samples["millstream_flow_messages_with_errors_total", flow] == 1
    assert samples["millstream_flow_errors_total", flow] == 1
    assert samples["millstream_flow_backouts_total", flow] == 1


# ---------------------------------------------------------------- statistics


@test
def statistics_are_switched_at_the_admin_port(t):
    with t.server(t.app(), "--statistics-interval", "1") as s:
        s.post("/App")
        status, snapshot = s.ask("GET", "/apiv2/statistics/snapshot")
        assert status == 200 and snapshot["properties"]["publicationOn"] == "inactive", snapshot
        assert t.log("statistics.json") == ""
        status, snapshot = s.ask("PATCH", "/apiv2/statistics/snapshot",
                                 {"properties": {"outputFormat": "json,csv", "threadDataLevel": "basic"}})
        assert status == 200 and snapshot["properties"]["outputFormat"] == "csv,json", snapshot
        assert s.ask("POST", "/apiv2/statistics/snapshot/start-collection")[0] == 200
        s.post("/App")
        s.post("/App")

        def counted():
            records = [json.loads(line)["WMQIStatisticsAccounting"]
                       for line in t.log("statistics.json").splitlines()]
            return records if sum(r["MessageFlow"]["TotalInputMessages"] for r in records) >= 2 else None
        records = eventually(counted, "two messages in the records")
        assert sum(r["MessageFlow"]["TotalInputMessages"] for r in records) == 2  # not the one before
        full = next(r for r in records if r["MessageFlow"]["TotalInputMessages"])
        assert full["RecordCode"] == "SnapShot" and full["NumberOfThreads"] >= 1
        assert {n["Label"] for n in full["Nodes"]} == {"In", "Do", "Reply"}
        timed = {n["Label"]: n["TotalElapsedTime"] for n in full["Nodes"]}
        assert timed["Do"] > 0, timed
        assert s.ask("POST", "/apiv2/statistics/snapshot/stop-collection")[0] == 200
        size = len(t.log("statistics.json"))
        s.post("/App")
        status, _ = s.ask("PATCH", "/apiv2/statistics/snapshot", {"properties": {"nodeDataLevel": "much"}})
        assert status == 400
        assert len(t.log("statistics.json")) == size
    rows = list(csv.DictReader(io.StringIO(t.log("statistics-flow.csv"))))
    assert sum(int(r["TotalInputMessages"]) for r in rows) == 2, rows
    assert rows[0]["MessageFlowName"] == "Hello" and rows[0]["AccountingOrigin"] == "Anonymous"
    nodes = list(csv.DictReader(io.StringIO(t.log("statistics-nodes.csv"))))
    assert {n["Label"] for n in nodes} == {"In", "Do", "Reply"}
    assert list(csv.DictReader(io.StringIO(t.log("statistics-terminals.csv"))))
    assert list(csv.DictReader(io.StringIO(t.log("statistics-threads.csv"))))


@test
def settings_choose_levels_formats_origins_and_archives(t):
    t.conf("Statistics:\n"
           "  Snapshot: {publicationOn: active, accountingOrigin: basic, nodeDataLevel: basic,\n"
           "             outputFormat: 'json,usertrace', threadDataLevel: none}\n"
           "  Archive: {archivalOn: active, outputFormat: csv, nodeDataLevel: none, majorInterval: 1}\n")
    app = t.app("SET Environment.Broker.Accounting.Origin = InputRoot.XMLNSC.a;"
                "SET OutputRoot = InputRoot; RETURN TRUE;")
    with t.server(app, "--statistics-interval", "1") as s:
        for body in ("<a>Alice</a>", "<a>Bob</a>", "<a>Alice</a>", "<a/>"):
            assert s.post("/App", body)[0] == 200

        def totals():
            out = {}
            for line in t.log("statistics.json").splitlines():
                record = json.loads(line)["WMQIStatisticsAccounting"]
                flow = record["MessageFlow"]
                out[flow["AccountingOrigin"]] = out.get(flow["AccountingOrigin"], 0) + flow["TotalInputMessages"]
                for node in record["Nodes"]:
                    assert "TerminalStatistics" not in node
                assert record["ThreadStatistics"] == []
            return out if out.get("Anonymous", 0) >= 1 and out.get("Alice", 0) >= 2 else None
        assert eventually(totals, "records by origin") == {"Alice": 2, "Bob": 1, "Anonymous": 1}
        trace = eventually(lambda: t.log("userTrace.App.Hello.txt"), "statistics in the user trace")
        assert re.search(r"UserTrace   BIP2380I: WMQI message flow statistics\. ProcessID='\d+', "
                         r"Type='SnapShot', Reason='SnapShot', BrokerLabel='integration_server'", trace), trace[:500]
        assert "BIP2382I: WMQI node statistics." in trace and "BIP2383I" not in trace
    rows = list(csv.DictReader(io.StringIO(t.log("archive-statistics-flow.csv"))))
    assert [r["RecordCode"] for r in rows] == ["Shutdown"] and rows[0]["RecordType"] == "Archive", rows
    assert rows[0]["TotalInputMessages"] == "4"
    assert t.log("archive-statistics-nodes.csv") == ""


@test
def bad_settings_are_refused_with_their_place(t):
    t.conf("Statistics:\n  Archive: {archivalOn: perhaps, majorInterval: 0}\n  Snapshot: {outputFormat: 'xml, jsn'}\n")
    server = t.server(t.app())
    server.process.wait(timeout=30)
    text = eventually(lambda: "\n".join(server.errors), "an error")
    assert "server.conf.yaml:2:25: error: MS2003: The setting Statistics/Archive/archivalOn is 'perhaps'" in text, text
    assert "majorInterval is '0'; it must be a number from 1 to 43200" in text
    assert "outputFormat is 'xml, jsn'; it must be a list of" in text
    assert "warning: MS1723" in text
    assert server.process.returncode == 1


@test
def statistics_of_one_flow(t):
    with t.server(t.app(), t.app(name="Other")) as s:
        s.post("/App", "<a>1</a>")
        status, record = s.ask("GET", FLOW + "/statistics/snapshot")
        flow = record["WMQIStatisticsAccounting"]["MessageFlow"]
        assert status == 200 and flow["TotalInputMessages"] == 1 and flow["ApplicationName"] == "App"
        status, error = s.ask("GET", "/apiv2/applications/App/messageflows/Nope/statistics/snapshot")
        assert status == 404 and error["code"] == "MS1718", error
        status, error = s.ask("GET", "/apiv2/statistics/flows?flow=Hello")
        assert status == 404 and "several: App/Hello, Other/Hello" in error["message"], error
        status, flows = s.ask("GET", "/apiv2/statistics/flows?flow=App/Hello")
        assert status == 200 and [f["flow"] for f in flows["flows"]] == ["Hello"]
        assert s.ask("POST", FLOW + "/statistics/snapshot/start-collection")[1]["snapshot"] == "active"


@test
def stats_shows_a_table(t):
    with t.server(t.app()) as s:
        for _ in range(3):
            s.post("/App")
        result = t.call("stats", "--url", s.admin)
        assert result.returncode == 0, result
        assert re.search(r"App/Hello +3 +0 +0 +\S+", result.stdout), result.stdout
        result = t.call("stats", "Hello", "--url", s.admin)
        assert re.search(r"Do +ComputeNode +3 .*out 3", result.stdout), result.stdout
        result = t.call("stats", "--json", "--url", s.admin)
        assert json.loads(result.stdout)["flows"][0]["record"]["MessageFlow"]["TotalInputMessages"] == 3
        result = t.call("stats", "Nope", "--url", s.admin)
        assert result.returncode == 1 and "MS1718" in result.stderr, result
    result = t.call("stats", "--url", s.admin)
    assert result.returncode == 1 and "No server answers" in result.stderr, result


# ---------------------------------------------------------------- spans

FAST = {"OTEL_BSP_SCHEDULE_DELAY": "50"}
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@test
def spans_reach_a_collector_and_traces_go_on(t):
    with Collector() as collector:
        env = {**FAST, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_SERVICE_NAME": "orders",
               "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test",
               "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b"}
        with t.server(t.calling_app(collector.url + "/stock"), env=env) as s:
            assert s.post("/Caller", headers={"traceparent": PARENT, "tracestate": "v=1"})[0] == 200
            spans = eventually(lambda: len(collector.spans()) >= 2 and collector.spans(), "two spans")
        root = next(x for x in spans if x["kind"] == 2)
        request = next(x for x in spans if x["kind"] == 3)
        assert root["traceId"] == "0af7651916cd43dd8448eb211c80319c" == request["traceId"]
        assert root["parentSpanId"] == "b7ad6b7169203331" and root["traceState"] == "v=1"
        assert root["name"] == "POST /Caller" and request["parentSpanId"] == root["spanId"]
        about = attributes(root)
        assert about["http.request.method"] == "POST" and about["http.response.status_code"] == "200"
        assert about["messageflow.name"] == "Hello" and about["messageflow.application"] == "Caller"
        assert attributes(request)["http.response.status_code"] == "200"
        for span in (root, request):
            assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
            assert abs(int(span["startTimeUnixNano"]) / 1e9 - time.time()) < 600
            assert span["status"] == {}
        assert int(request["endTimeUnixNano"]) <= int(root["endTimeUnixNano"])
        sent = {k.lower(): v for k, v in collector.requests[0].items()}
        assert sent["traceparent"] == f"00-{root['traceId']}-{request['spanId']}-01"
        assert sent["tracestate"] == "v=1"
        resource = attributes(collector.batches[0]["resourceSpans"][0]["resource"])
        assert resource["service.name"] == "orders" and resource["deployment.environment.name"] == "test"
        path, headers = collector.headers[0]
        assert path == "/v1/traces" and headers["Content-Type"] == "application/json"
        assert headers["api-key"] == "a b"


@test
def traces_go_through_callable_flows(t):
    with Collector() as collector:
        shop = t.calling_flows(collector.url + "/stock")
        env = {**FAST, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        with t.server(shop, env=env) as s:
            assert s.post("/Shop", headers={"traceparent": PARENT, "tracestate": "v=1"})[0] == 200
            spans = eventually(lambda: len(collector.spans()) >= 4 and collector.spans(), "four spans")
        by_name = {x["name"]: x for x in spans}
        assert set(by_name) == {"POST /Shop", "Invoke", "Price Called", "Ask"}, by_name.keys()
        assert {x["traceId"] for x in spans} == {PARENT[3:35]}
        for child, parent in [("Invoke", "POST /Shop"), ("Price Called", "Invoke"), ("Ask", "Price Called")]:
            assert by_name[child]["parentSpanId"] == by_name[parent]["spanId"], child
        assert attributes(by_name["POST /Shop"])["url.scheme"] == "http"
        # Without spans what came is passed on as it is.
        with t.server(shop) as s:
            assert s.post("/Shop", headers={"traceparent": PARENT, "tracestate": "v=1"})[0] == 200
        sent = {k.lower(): v for k, v in collector.requests[1].items()}
    assert sent["traceparent"] == PARENT and sent["tracestate"] == "v=1"


@test
def errors_are_in_spans(t):
    with Collector() as collector:
        app = t.app("THROW USER EXCEPTION MESSAGE 2951 VALUES('no');")
        with t.server(app, "--otlp", collector.url, env=FAST) as s:
            assert s.post("/App")[0] == 500
            span = eventually(collector.spans, "a span")[0]
    assert span["status"]["code"] == 2 and "2951" in span["status"]["message"], span["status"]
    assert "parentSpanId" not in span
    event = span["events"][0]
    assert event["name"] == "exception" and attributes(event)["exception.type"].startswith("BIP2951")


@test
def every_node_has_a_span_when_asked(t):
    with Collector() as collector:
        t.conf("OpenTelemetry: {openTelemetryEnabled: true, endpoint: '%s'}\n"
               "Millstream: {Tracing: {nodeSpans: all}}\n" % collector.url)
        with t.server(t.app(), env=FAST) as s:
            s.post("/App")
            spans = eventually(lambda: len(collector.spans()) >= 3 and collector.spans(), "three spans")
    by_name = {x["name"]: x for x in spans}
    assert set(by_name) == {"POST /App", "Do", "Reply"}, by_name.keys()
    assert by_name["Do"]["parentSpanId"] == by_name["POST /App"]["spanId"]
    assert by_name["Reply"]["parentSpanId"] == by_name["Do"]["spanId"]
    assert by_name["Do"]["kind"] == 1


@test
def sampling_and_switches(t):
    with Collector() as collector:
        env = {**FAST, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": collector.url + "/custom/traces"}
        with t.server(t.calling_app(collector.url + "/stock"), env=env) as s:
            # The parent is not sampled, so neither is this; the decision travels on.
            assert s.post("/Caller", headers={"traceparent": PARENT[:-1] + "0"})[0] == 200
            sent = {k.lower(): v for k, v in collector.requests[0].items()}
            assert sent["traceparent"].endswith("-00") and sent["traceparent"][3:35] == PARENT[3:35]
            # Switched off for the flow: what came goes on unchanged.
            path = "/apiv2/applications/Caller/messageflows/Hello/observability"
            status, now = s.ask("PATCH", path, {"properties": {"openTelemetryEnabled": "false"}})
            assert status == 200 and now["openTelemetryEnabled"] == "false", now
            assert s.post("/Caller", headers={"traceparent": PARENT})[0] == 200
            assert {k.lower(): v for k, v in collector.requests[1].items()}["traceparent"] == PARENT
            assert s.ask("PATCH", path, {"openTelemetryEnabled": "inherit"})[0] == 200
            assert s.post("/Caller")[0] == 200
            spans = eventually(lambda: len(collector.spans()) >= 2 and collector.spans(), "spans")
            assert len({x["traceId"] for x in spans}) == 1
        assert collector.headers[0][0] == "/custom/traces"


@test
def without_tracing_a_context_is_passed_on(t):
    with Collector() as back_end, t.server(t.calling_app(back_end.url + "/stock")) as s:
        s.post("/Caller", headers={"traceparent": PARENT, "tracestate": "v=1"})
        s.post("/Caller", headers={"traceparent": "nonsense"})
        s.post("/Caller")
    sent = [{k.lower(): v for k, v in r.items()} for r in back_end.requests]
    assert sent[0]["traceparent"] == PARENT and sent[0]["tracestate"] == "v=1"
    assert "traceparent" not in sent[1] and "traceparent" not in sent[2]


@test
def a_dead_collector_costs_spans_and_no_message(t):
    with Collector(status=400) as collector:
        env = {**FAST, "OTEL_BSP_MAX_QUEUE_SIZE": "10", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "5"}
        with t.server(t.app(), "--otlp", collector.url, env=env) as s:
            for _ in range(40):
                assert s.post("/App")[0] == 200

            def dropped():
                samples = parse_exposition(s.metrics())
                return samples["millstream_spans_dropped_total", ""] == 40 and samples
            samples = eventually(dropped, "all spans are dropped")
            assert samples["millstream_spans_exported_total", ""] == 0
            assert samples["millstream_span_export_failures_total", ""] >= 1
            eventually(lambda: [line for line in s.errors if "MS1715" in line], "a line in the log")
            logged = [line for line in s.errors if "MS1715" in line]
            assert len(logged) == 1 and "MS1716" in logged[0], s.errors


@test
def bad_otel_settings_are_refused(t):
    for env, words in (({"OTEL_TRACES_SAMPLER": "sometimes"}, "MS1714"),
                       ({"OTEL_BSP_MAX_QUEUE_SIZE": "many"}, "a number from 1"),
                       ({"OTEL_EXPORTER_OTLP_HEADERS": "novalue"}, "name=value")):
        server = t.server(t.app(), env={"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", **env})
        assert server.process.wait(timeout=30) == 1
        eventually(lambda: words in "\n".join(server.errors), words)
    # Disabled, nothing of it is read.
    with t.server(t.app(), env={"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true",
                                "OTEL_TRACES_SAMPLER": "sometimes"}) as s:
        assert "millstream_spans" not in s.metrics()


# ---------------------------------------------------------------- user trace, activity log


@test
def user_trace_is_switched_while_messages_run(t):
    app = t.app("DECLARE I INTEGER 1;\nSET I = I + 1;\nSET OutputRoot = InputRoot;\n"
                "LOG USER TRACE VALUES('noted');\nRETURN TRUE;")
    with t.server(app) as s:
        assert s.post("/App")[0] == 200
        assert t.log("userTrace.App.Hello.txt") == ""
        result = t.call("trace", "--user", "Hello", "on", "--url", s.admin)
        assert result.returncode == 0 and "userTrace.App.Hello.txt" in result.stdout, result
        assert s.post("/App", "<a>1</a>") == (200, "<a>1</a>")
        # The last node's line is written when the message ends, after the reply.
        eventually(lambda: "label=Reply" in t.log("userTrace.App.Hello.txt"), "the end of the trace")
        text = t.log("userTrace.App.Hello.txt")
        head = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} +\d+   UserTrace   "
        for line in text.splitlines():
            assert re.match(head + "BIP\\d+[IWE]: ", line), line
        for expected in (
                r"BIP3122I: Message received and propagated to 'out' terminal of HTTP input node 'Hello.In'\.",
                r"BIP3904I: Invoking the evaluate\(\) method of node \(class=ComIbmComputeNode, name=\S+, label=Do\)\.",
                r"BIP2537I: Node 'Hello.Do': Executing statement   ''SET I = I \+ 1;'' at \('\.M\.Main', '\d+\.\d+'\)\.",
                r"BIP2538I: Node 'Hello.Do': Evaluating expression ''I \+ 1'' at ",
                r"BIP2539I: Node 'Hello.Do': Evaluating expression ''I \+ 1'' at \('\.M\.Main', '\d+\.\d+'\)\. "
                r"This resolved to ''1 \+ 1''\. The result was ''2''\.",
                r"BIP2566I: Node 'Hello.Do': Assigning value ''2'' to field / variable ''I''\.",
                r"BIP4007I: Message propagated to 'out' terminal of node 'Hello.Do'\."):
            assert re.search(expected, text), f"{expected}\n{text}"
        assert "noted" in text
        assert t.call("trace", "--user", "App/Hello", "off", "--url", s.admin).returncode == 0
        assert s.post("/App")[0] == 200
        assert t.log("userTrace.App.Hello.txt") == text
        status, now = s.ask("POST", FLOW + "/reset-user-trace")
        assert status == 200 and now["userTrace"] is False and t.log("userTrace.App.Hello.txt") == ""


@test
def traced_esql_does_what_other_esql_does(t):
    app = t.app("""DECLARE R REFERENCE TO InputRoot.XMLNSC.a.b;
        DECLARE N INTEGER 0;
        WHILE LASTMOVE(R) DO
          SET N = N + CAST(R.v AS INTEGER);
          IF N > 2 AND R.v <> 9 THEN SET Environment.big = N; END IF;
          MOVE R NEXTSIBLING REPEAT TYPE NAME;
        END WHILE;
        DECLARE CONTINUE HANDLER FOR SQLSTATE LIKE '%' BEGIN SET Environment.caught = SQLCODE; END;
        SET N = N / 0;
        SET OutputRoot.XMLNSC.r = (SELECT ITEM SUM(B.v) FROM InputRoot.XMLNSC.a.b[] AS B);
        SET OutputRoot.XMLNSC.out.n = COALESCE(N, 0);
        SET OutputRoot.XMLNSC.out.(XMLNSC.Attribute)big = Environment.big;
        SET OutputRoot.XMLNSC.out.e = EVAL('Environment.caught || ''!''');
        SET OutputRoot.XMLNSC.out.f = Add(N, 1);
        RETURN TRUE;""".replace("DECLARE CONTINUE", "BEGIN DECLARE CONTINUE").replace(
            "SET N = N / 0;", "SET N = N / 0; END;"),
                routines="CREATE FUNCTION Add(IN a INTEGER, IN b INTEGER) RETURNS INTEGER BEGIN RETURN a + b; END;\n")
    body = "<a>" + "".join(f"<b><v>{i}</v></b>" for i in (1, 2, 3)) + "</a>"
    with t.server(app) as s:
        plain = s.post("/App", body)
        assert s.ask("POST", FLOW + "/start-user-trace")[0] == 200
        assert s.post("/App", body) == plain
        assert s.ask("POST", FLOW + "/stop-user-trace")[0] == 200
        assert s.post("/App", body) == plain
    assert plain[0] in (200, 500), plain
    assert "BIP2537I" in t.log("userTrace.App.Hello.txt")


@test
def exceptions_and_terminals_are_in_the_user_trace(t):
    app = t.app("THROW USER EXCEPTION MESSAGE 2951 VALUES('no');",
                more=[("filter", "ComIbmFilter", "Ask", {"filterExpression": "esql://routine/#F.Main"})],
                wires=["in.out -> filter.in", "filter.true -> do.in", "do.out -> reply.in"],
                routines="CREATE FILTER MODULE F CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN RETURN TRUE; END; "
                         "END MODULE;\n")
    with t.server(app, "--user-trace", "*") as s:
        assert s.post("/App")[0] == 500
    text = t.log("userTrace.App.Hello.txt")
    assert "BIP4004I: Message propagated to 'true' terminal of filter node 'Hello.Ask'." in text, text
    assert re.search(r"BIP2951.: ", text) and "BIP2488E" in text, text
    assert text.count("BIP2488E") == 1


@test
def trace_nodes_write_to_the_user_trace(t):
    app = t.app(more=[("trace", "ComIbmTrace", "Look", {"destination": "userTrace",
                                                         "pattern": "saw ${Root.XMLNSC.a}"})],
                wires=["in.out -> trace.in", "trace.out -> do.in", "do.out -> reply.in"])
    with t.server(app) as s:
        s.post("/App", "<a>5</a>")
    assert "BIP4060I: Data 'saw 5' from trace node 'Hello.Look'." in t.log("userTrace.App.Hello.txt")
    (t.folder / "wd/log/userTrace.App.Hello.txt").unlink()
    t.conf("traceNodeLevel: false\n")
    with t.server(app) as s:
        s.post("/App", "<a>5</a>")
    assert t.log("userTrace.App.Hello.txt") == ""
    # Without a work directory it goes to the standard output, while it is on.
    with t.server(app, work_dir=False) as s:
        s.post("/App", "<a>6</a>")
        assert s.ask("POST", "/apiv2/start-user-trace")[0] == 200
        s.post("/App", "<a>7</a>")
        eventually(lambda: any("saw 7" in line for line in s.lines), "the trace on the standard output")
        assert not any("saw 6" in line for line in s.lines)


@test
def user_trace_files_are_bounded(t):
    t.conf("Millstream: {Tracing: {logFileMegabytes: 1, logFiles: 2}}\n")
    app = t.app("DECLARE I INTEGER 0; WHILE I < 3000 DO SET I = I + 1; END WHILE; SET OutputRoot = InputRoot; "
                "RETURN TRUE;")
    with t.server(app, "--user-trace", "Hello") as s:
        for _ in range(4):
            assert s.post("/App")[0] == 200
    sizes = {f.name: f.stat().st_size for f in (t.folder / "wd/log").iterdir()}
    assert set(sizes) == {"userTrace.App.Hello.txt", "userTrace.App.Hello.txt.1"}, sizes
    assert max(sizes.values()) <= 1 << 20, sizes


@test
def activity_log_has_the_columns_of_the_product(t):
    with t.server(t.app()) as s:
        s.post("/App")
        assert s.ask("POST", FLOW + "/start-activity-log")[1]["activityLog"] is True
        s.post("/App")
        status, log = s.ask("GET", FLOW + "/activity-log")
        entries = log["activityLogEntries"]
        assert [e["bipNumber"] for e in entries] == ["BIP11501I", "BIP11506I"], entries
        assert entries[0]["tags"] == {"MSGFLOW": "Hello", "NODE": "In", "NODETYPE": "HTTPInput"}, entries[0]
        s.ask("POST", FLOW + "/stop-activity-log")
        s.post("/App")
    rows = list(csv.DictReader(io.StringIO(t.log("activityLog.csv"))))
    assert list(rows[0]) == ["MessageNumber", "Severity", "Timestamp", "ThreadID", "FormattedMessage", "Inserts", "RM",
                             "MSGFLOW", "NODE", "NODETYPE"], rows[0]
    assert [r["MessageNumber"] for r in rows] == ["BIP11501I", "BIP11506I"]
    t.conf("ActivityLog: {enabled: true}\n")
    with t.server(t.app("THROW USER EXCEPTION MESSAGE 2951 VALUES('no');", name="Bad")) as s:
        s.post("/Bad")
    rows = list(csv.DictReader(io.StringIO(t.log("activityLog.csv"))))[2:]
    assert [r["MessageNumber"] for r in rows][-1] == "BIP11507E" and rows[-1]["Severity"] == "ERROR", rows


# ---------------------------------------------------------------- traces of messages


@test
def trace_prints_the_tree_at_each_node(t):
    with t.server(t.app("SET OutputRoot = InputRoot; SET OutputRoot.XMLNSC.a.more = 'new'; RETURN TRUE;")) as s:
        process = subprocess.Popen([t.binary, "trace", "Hello", "--count", "2", "--esql", "--url", s.admin],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert "Waiting for messages of App/Hello" in process.stderr.readline()
        for n in range(3):
            assert s.post("/App", f"<a><n>{n}</n></a>")[0] == 200
        out, _ = process.communicate(timeout=30)
        assert process.returncode == 0
        assert s.metrics().count("millstream_flow_messages_total") > 0
    assert "message 1: App/Hello, 15 bytes, from In (HTTPInput)" in out, out
    assert "end of message 2" in out and "message 3" not in out
    assert re.search(r"> Do \(Compute\)", out) and re.search(r"< Do in [\d.]+ us, CPU [\d.]+ us", out)
    assert "(0x03000000:PCDataField):n = '0' (CHARACTER)" in out, out
    assert re.search(r"> Reply \(HTTPReply\)\n(?:.*\n)*?.*:more = 'new' \(CHARACTER\)", out), out
    assert "BIP2537I" in out and "Do.out ->" in out


def traced_steps(s, trace):
    """All steps of a trace, fetched until it is done."""
    steps = []

    def fetch():
        status, reply = s.ask("GET", trace["uri"])
        assert status == 200 and reply["dropped"] == 0, reply
        steps.extend(reply["steps"])
        return reply["isDone"]
    eventually(fetch, "the end of the trace")
    return steps


@test
def a_trace_of_a_failing_message(t):
    app = t.app("SET OutputRoot.XMLNSC.r = InputRoot.XMLNSC.a / 0; RETURN TRUE;")
    with t.server(app) as s:
        status, trace = s.ask("POST", "/apiv2/message-traces?flow=App/Hello")
        assert status == 201, trace
        assert s.post("/App", "<a>1</a>")[0] == 500
        steps = traced_steps(s, trace)
        kinds = [step["kind"] for step in steps]
        assert kinds == ["begin", "propagate", "enter", "leave", "end"], kinds
        assert "BIP2488E" in steps[3]["exception"]
        assert s.ask("GET", trace["uri"])[0] == 404  # it is over
        # Half a message: the trace shows what there is, and the flow still fails.
        status, trace = s.ask("POST", "/apiv2/message-traces?flow=Hello")
        assert s.post("/App", "<a>1</a><b")[0] == 500
        first = traced_steps(s, trace)[0]
        assert "cannot be parsed further" in first["trees"]["Root"], first
        assert s.ask("POST", "/apiv2/message-traces?flow=Nope")[0] == 404
        assert s.ask("POST", "/apiv2/message-traces?flow=Hello&count=0")[0] == 400
        for _ in range(16):
            status, last = s.ask("POST", "/apiv2/message-traces?flow=Hello")
            assert status == 201
        assert s.ask("POST", "/apiv2/message-traces?flow=Hello")[0] == 409
        assert s.ask("DELETE", last["uri"])[0] == 200
        assert s.ask("POST", "/apiv2/message-traces?flow=Hello")[0] == 201


def main():
    words = sys.argv[1:]
    binary = words[0] if words else str(Path(__file__).resolve().parents[2] / "build/release/millstream")
    names = words[1:]
    passed = failed = 0
    for function in TESTS:
        if names and not any(n in function.__name__ for n in names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                skipped = function(Context(binary, folder))
                passed += 1
                if skipped:
                    print(f"skipped {function.__name__}: {skipped}")
            except Exception:  # noqa: BLE001
                failed += 1
                print(f"FAILED {function.__name__}")
                traceback.print_exc(file=sys.stdout)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
