#!/usr/bin/env python3
"""Callable flows in one server and between two, asynchronous HTTP, and timers that outlive their server."""
import datetime
import http.client
import http.server
import os
import re
import signal
import socket
import ssl
import sys
import threading
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / name) for name in ("common", "http", "https")]
import harness  # noqa: E402
from harness import WAIT_S, case, main  # noqa: E402
from make_project import Project  # noqa: E402
from pki import Authority  # noqa: E402

SECRET = "a secret of two servers"


class Server(harness.Server):
    """With `conf`, the text of its server.conf.yaml, in the work directory `work`."""

    def __init__(self, binary, work, projects, conf="", port=0, environment=None):
        work.mkdir(parents=True, exist_ok=True)
        (work / "server.conf.yaml").write_text(conf)
        super().__init__(binary, "--http-port", port, "--admin-port", "-1", "--work-dir", work, *projects,
                         environment=environment)

    def post(self, path, body, headers=None):
        reply = self.request("POST", path, body, {"Content-Type": "text/xml", **(headers or {})})
        return reply.status, reply.text


class BackEnd:
    """Receives POSTs; keeps their bodies in order, and answers after `delay_s`."""

    def __init__(self, delay_s=0.0):
        back_end = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                with back_end.changed:
                    back_end.bodies.append(body)
                    back_end.times.append(time.time())
                    back_end.open += 1
                    back_end.most_open = max(back_end.most_open, back_end.open)
                    back_end.changed.notify_all()
                back_end.gate.wait(WAIT_S if delay_s < 0 else delay_s)
                with back_end.changed:
                    back_end.open -= 1
                if self.headers.get("X-Want-Status") == "none":
                    self.close_connection = True
                    return
                status = int(self.headers.get("X-Want-Status", "200"))
                answer = f"<answer>{body}</answer>".encode()
                self.send_response(status)
                self.send_header("Content-Type", "text/xml")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        class Threads(http.server.ThreadingHTTPServer):
            request_queue_size = 500
            daemon_threads = True

            def handle_error(self, *_):
                pass  # the server that asked was killed

        self.bodies, self.times, self.open, self.most_open = [], [], 0, 0
        self.changed, self.gate = threading.Condition(), threading.Event()
        self.server = Threads(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wait_for(self, count, seconds=WAIT_S):
        with self.changed:
            return self.changed.wait_for(lambda: len(self.bodies) >= count, timeout=seconds)

    def close(self):
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()


def callee_project(folder, factor="2"):
    project = Project(folder, "Stock")
    project.flow("Price", [
        ("in", "ComIbmCallableFlowInput", "Called", {"callableInputEndpoint": "price"}),
        ("compute", "ComIbmCompute", "Compute", {"computeExpression": "esql://routine/#Price.Main",
                                                 "computeMode": "destinationAndMessage"}),
        ("reply", "ComIbmCallableFlowReply", "Reply", {})],
        ["in.out -> compute.in", "compute.out -> reply.in"])
    project.esql("Price", f"""CREATE COMPUTE MODULE Price
  CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
    SET OutputLocalEnvironment = InputLocalEnvironment;
    SET OutputLocalEnvironment.Variables.Server = 'stock';
    SET OutputRoot = InputRoot;
    DECLARE n INTEGER CAST(InputRoot.XMLNSC.order.count AS INTEGER);
    IF n = 13 THEN
      THROW USER EXCEPTION MESSAGE 2951 VALUES('unlucky', n);
    END IF;
    IF n = 99 THEN
      SLEEP(3000);
    END IF;
    SET OutputRoot.XMLNSC.order.price = n * {factor};
    RETURN TRUE;
  END;
END MODULE;
""")
    return project.folder


def caller_project(folder, timeout="30"):
    project = Project(folder, "Shop")
    target = {"targetApplication": "Stock", "targetEndpointName": "price", "requestTimeout": timeout}
    project.flow("Ask", [
        ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/ask", "messageDomainProperty": "XMLNSC",
                                               "faultFormat": "JSON"}),
        ("call", "ComIbmCallableFlowInvoke", "Call", target),
        ("show", "ComIbmCompute", "Show", {"computeExpression": "esql://routine/#Show.Main",
                                           "computeMode": "destinationAndMessage"}),
        ("reply", "ComIbmWSReply", "Reply", {})],
        ["in.out -> call.in", "call.out -> show.in", "show.out -> reply.in"])
    project.flow("Later", [
        ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/later", "messageDomainProperty": "XMLNSC"}),
        ("keep", "ComIbmCompute", "Keep", {"computeExpression": "esql://routine/#Keep.Main"}),
        ("call", "ComIbmCallableFlowAsyncInvoke", "Call", {**target, "asyncResponseCorrelator": "pair"})],
        ["in.out -> keep.in", "keep.out -> call.in"])
    project.flow("Back", [
        ("in", "ComIbmCallableFlowAsyncResponse", "Back", {"asyncResponseCorrelator": "pair"}),
        ("show", "ComIbmCompute", "Show", {"computeExpression": "esql://routine/#ShowBack.Main",
                                           "computeMode": "destinationAndMessage"}),
        ("errors", "ComIbmCompute", "Errors", {"computeExpression": "esql://routine/#ShowErrors.Main"}),
        ("reply", "ComIbmWSReply", "Reply", {})],
        ["in.out -> show.in", "in.failure -> errors.in", "show.out -> reply.in", "errors.out -> reply.in"])
    project.esql("Shop", """CREATE COMPUTE MODULE Show
  CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
    SET OutputLocalEnvironment = InputLocalEnvironment;
    SET OutputRoot.Properties = InputRoot.Properties;
    SET OutputRoot.XMLNSC.shop.price = InputRoot.XMLNSC.order.price;
    SET OutputRoot.XMLNSC.shop.server = InputLocalEnvironment.Variables.Server;
    RETURN TRUE;
  END;
END MODULE;
CREATE COMPUTE MODULE Keep
  CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
    SET OutputRoot = InputRoot;
    SET Environment.CallableFlow.UserContext.count = InputRoot.XMLNSC.order.count;
    RETURN TRUE;
  END;
END MODULE;
CREATE COMPUTE MODULE ShowBack
  CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
    SET OutputLocalEnvironment = InputLocalEnvironment;
    SET OutputRoot.Properties = InputRoot.Properties;
    SET OutputRoot.XMLNSC.back.price = InputRoot.XMLNSC.order.price;
    SET OutputRoot.XMLNSC.back.kept = Environment.CallableFlow.UserContext.count;
    RETURN TRUE;
  END;
END MODULE;
CREATE COMPUTE MODULE ShowErrors
  CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
    DECLARE deep REFERENCE TO InputExceptionList.*[1];
    WHILE LASTMOVE(deep) DO
      IF deep.Number IS NOT NULL THEN
        SET OutputRoot.XMLNSC.failed.number = deep.Number;
      END IF;
      MOVE deep LASTCHILD;
    END WHILE;
    SET OutputRoot.XMLNSC.failed.kept = Environment.CallableFlow.UserContext.count;
    RETURN TRUE;
  END;
END MODULE;
""")
    return project.folder


def order(count):
    return f"<order><count>{count}</count></order>"


@case
def callable_in_one_server(binary, folder):
    projects = [callee_project(folder / "p"), caller_project(folder / "p", timeout="1")]
    with Server(binary, folder / "w", projects) as server:
        assert server.post("/ask", order(21)) == (200, "<shop><price>42</price><server>stock</server></shop>")
        status, body = server.post("/ask", order(13))
        assert status == 500, status
        for part in ("MS1928", "BIP2951", "unlucky"):
            assert part in body, body
        status, body = server.post("/ask", order(99))
        assert status == 500 and "MS1927" in body, body
        assert server.post("/later", order(4)) == (200, "<back><price>8</price><kept>4</kept></back>")
        status, body = server.post("/later", order(13))
        assert "<number>2951</number><kept>13</kept>" in body, body
        status, body = server.post("/later", order(99))
        assert "<number>1927</number><kept>99</kept>" in body, body


@case
def many_callers_at_once(binary, folder):
    projects = [callee_project(folder / "p"), caller_project(folder / "p")]
    with Server(binary, folder / "w", projects) as server:
        wrong = []

        def ask(n):
            for i in range(50):
                path = "/ask" if i % 2 else "/later"
                status, body = server.post(path, order(100 + n * 50 + i))
                if status != 200 or f"<price>{2 * (100 + n * 50 + i)}</price>" not in body:
                    wrong.append((n, i, status, body))

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(16)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not wrong, wrong[:3]


@case
def callable_between_two_servers(binary, folder):
    stock, shop = callee_project(folder / "p"), caller_project(folder / "p")
    conf = f"Millstream:\n  CallableFlows:\n    Secret: '{SECRET}'\n"
    with Server(binary, folder / "w1", [stock], conf) as callee:
        remote = conf + f"    Remote:\n      Stock/price: http://127.0.0.1:{callee.port}\n"
        with Server(binary, folder / "w2", [shop], remote.replace(SECRET, "${SHOP_SECRET}"),
                    environment={"SHOP_SECRET": SECRET}) as caller:
            assert caller.post("/ask", order(21)) == (200, "<shop><price>42</price><server>stock</server></shop>")
            status, body = caller.post("/ask", order(13))
            for part in ("MS1928", "BIP2951", "unlucky"):
                assert part in body, body
            assert caller.post("/later", order(4)) == (200, "<back><price>8</price><kept>4</kept></back>")
            # Nobody without the secret calls.
            status, body = callee.post("/millstream/callable-flows", "x", {"Authorization": "Bearer wrong"})
            assert status == 401, (status, body)
            assert callee.post("/millstream/callable-flows", "x")[0] == 401
            # The other server goes, and comes back on the same port.
            port = callee.port
            callee.stop()
            status, body = caller.post("/ask", order(1))
            assert status == 500 and "MS1953" in body and f"127.0.0.1:{port}" in body, body
            with Server(binary, folder / "w1", [stock], conf, port=port):
                assert caller.post("/ask", order(3))[1].startswith("<shop><price>6<"), "after a restart"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


@case
def callable_between_two_servers_over_https(binary, folder):
    stock, shop = callee_project(folder / "p"), caller_project(folder / "p")
    ca, stranger = Authority(folder / "ca"), Authority(folder / "stranger", "Stranger")
    own, client, elsewhere = ca.issue("own"), ca.issue("shop", "", "shop"), ca.issue("elsewhere", "DNS:else.example")
    foreign = stranger.issue("foreign", "", "foreign")
    port = free_port()

    def callee_conf(key, port):
        return (f"ResourceManagers:\n  HTTPSConnector:\n    ListenerPort: {port}\n    KeystoreFile: {key}\n"
                f"    TruststoreFile: {ca.pem}\n    ReqClientAuth: true\n"
                f"Millstream:\n  CallableFlows:\n    Secret: '{SECRET}'\n    UseHTTPS: true\n")

    def caller_conf(key, trust, port, more=""):
        jvm = (f"    keystoreFile: {key}\n" if key else "") + f"    truststoreFile: {trust}\n"
        return (f"ResourceManagers:\n  JVM:\n{jvm}Millstream:\n  CallableFlows:\n    Secret: '{SECRET}'\n{more}"
                f"    Remote:\n      Stock/price: https://localhost:{port}\n")

    def ask(conf):
        with Server(binary, folder / "w2", [shop], conf) as caller:
            return caller.post("/ask", order(21))

    with Server(binary, folder / "w1", [stock], callee_conf(own, port)) as callee:
        with Server(binary, folder / "w2", [shop], caller_conf(client, ca.pem, port)) as caller:
            assert caller.post("/ask", order(21)) == (200, "<shop><price>42</price><server>stock</server></shop>")
            assert caller.post("/later", order(4)) == (200, "<back><price>8</price><kept>4</kept></back>")
            status, body = caller.post("/ask", order(13))
            for part in ("MS1928", "BIP2951", "unlucky"):
                assert part in body, body
        # By HTTPS alone, and with a certificate only.
        assert callee.post("/millstream/callable-flows", "x", {"Authorization": f"Bearer {SECRET}"})[0] == 404
        for key, trust in ((None, ca.pem), (foreign, ca.pem), (client, stranger.pem)):
            status, body = ask(caller_conf(key, trust, port))
            assert status == 500 and "MS1953" in body, (key, trust, body)
        context = ssl.create_default_context(cafile=str(ca.pem))
        context.load_cert_chain(client)
        connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=WAIT_S)
        connection.request("POST", "/millstream/callable-flows", b"x", {"Authorization": "Bearer wrong"})
        assert connection.getresponse().status == 401, "a certificate is not enough"
        connection.close()
    port = free_port()
    with Server(binary, folder / "w1", [stock], callee_conf(elsewhere, port)):
        status, body = ask(caller_conf(client, ca.pem, port))
        assert status == 500 and "MS1355" in body, body
        assert ask(caller_conf(client, ca.pem, port, "    HostnameChecking: false\n"))[0] == 200


class Callers:
    """Threads that ask without pause, half of them with the asynchronous pair. Every answer is noted:
    whether it was the price, an error that names its reason, or neither."""

    REASONS = ("MS1927", "MS1928", "MS1953")

    def __init__(self, server, threads=12):
        self.server, self.ends, self.lock = server, threading.Event(), threading.Lock()
        self.right, self.failed, self.wrong, self.slowest = 0, 0, [], 0.0
        self.threads = [threading.Thread(target=self._run, args=(n,), daemon=True) for n in range(threads)]

    def _run(self, number):
        count = 1000 * (number + 1)
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=WAIT_S)
        while not self.ends.is_set():
            count += 1
            started = time.monotonic()
            try:
                connection.request("POST", "/ask" if number % 2 else "/later", order(count).encode(),
                                   {"Content-Type": "text/xml"})
                response = connection.getresponse()
                status, body = response.status, response.read().decode()
            except OSError as error:
                status, body = 0, repr(error)
            with self.lock:
                self.slowest = max(self.slowest, time.monotonic() - started)
                if status == 200 and f"<price>{2 * count}</price>" in body:
                    self.right += 1
                elif status == 500 and any(reason in body for reason in self.REASONS):
                    self.failed += 1
                elif "<failed><number>" in body and f"<kept>{count}</kept>" in body:  # the failure terminal's flow
                    self.failed += 1
                else:
                    self.wrong.append((number, status, body))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        for thread in self.threads:
            thread.join(WAIT_S)
            assert not thread.is_alive(), "a caller still waits for its answer"

    def wait_for_more(self, count, what="right"):
        start, until = getattr(self, what), time.monotonic() + WAIT_S
        while getattr(self, what) < start + count:
            assert time.monotonic() < until, (what, self.right, self.failed, self.wrong[:3])
            threading.Event().wait(0.01)


def use_of(server):
    """Descriptors and threads of a server; those of idle connections end by themselves."""
    return tuple(len(os.listdir(f"/proc/{server.process.pid}/{what}")) for what in ("fd", "task"))


@case
def callers_survive_restarts_of_the_other_server_under_load(binary, folder):
    stock, shop = callee_project(folder / "p"), caller_project(folder / "p", timeout="5")
    conf = f"Millstream:\n  CallableFlows:\n    Secret: '{SECRET}'\n"
    options = ["--cores", "3"]
    callee = Server(binary, folder / "w1", [stock, *options], conf)
    remote = conf + f"    Remote:\n      Stock/price: http://127.0.0.1:{callee.port}\n"
    try:
        with Server(binary, folder / "w2", [shop, *options], remote) as caller:
            with Callers(caller) as callers:
                callers.wait_for_more(200)
            assert not callers.failed and not callers.wrong, callers.wrong[:3]
            before = use_of(caller)
            with Callers(caller) as callers:
                for how in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
                    callers.wait_for_more(100)
                    port = callee.port
                    callee.stop(how)
                    callers.wait_for_more(50, "failed")
                    callee = Server(binary, folder / "w1", [stock, *options], conf, port=port)
                    assert callee.port == port, callee.errors[-20:]
                callers.wait_for_more(200)
                failed = callers.failed
                callers.wait_for_more(200)
                assert callers.failed == failed, "errors long after the restart"
            assert not callers.wrong, callers.wrong[:3]
            assert callers.slowest < 20, callers.slowest
            # Nothing is left of what failed.
            for _ in range(500):
                after = use_of(caller)
                if after[0] <= before[0] + 12 and after[1] <= before[1] + 4:
                    break
                threading.Event().wait(0.02)
            assert after[0] <= before[0] + 12 and after[1] <= before[1] + 4, (before, after)
            started = time.monotonic()
            caller.stop()
            assert time.monotonic() - started < 10, "something was still on its way"
    finally:
        callee.stop()


@case
def callers_in_one_server_survive_new_versions_of_the_callee(binary, folder):
    """With more reactors than cores; the callee is replaced again and again, and nobody notices."""
    projects = [callee_project(folder / "p"), caller_project(folder / "p")]
    esql = Path(projects[0]) / "Price.esql"
    with Server(binary, folder / "w", [*projects, "--cores", "4", "--watch"]) as server:
        with Callers(server, 16) as callers:
            text = esql.read_text()
            for n in range(8):
                callers.wait_for_more(100)
                new = esql.with_suffix(".next")
                new.write_text(text + f"-- {n}\n")
                os.replace(new, esql)
            callers.wait_for_more(100)
        assert not callers.wrong and not callers.failed, (callers.failed, callers.wrong[:3])


@case
def wrong_secrets_and_missing_endpoints_are_named(binary, folder):
    stock, shop = callee_project(folder / "p"), caller_project(folder / "p")
    conf = "Millstream:\n  CallableFlows:\n    Secret: '{}'\n"
    with Server(binary, folder / "w1", [stock], conf.format(SECRET)) as callee:
        remote = conf.format("some other secret!!") + f"    Remote:\n      Stock/*: http://127.0.0.1:{callee.port}\n"
        with Server(binary, folder / "w2", [shop], remote) as caller:
            status, body = caller.post("/ask", order(1))
            assert "the secrets of the two servers differ" in body, body
    with Server(binary, folder / "w1", [caller_project(folder / "q")], conf.format(SECRET)) as callee:
        remote = conf.format(SECRET) + f"    Remote:\n      Stock/*: http://127.0.0.1:{callee.port}\n"
        with Server(binary, folder / "w2", [shop], remote) as caller:
            status, body = caller.post("/ask", order(1))
            assert "MS1953" in body and "runs no callable flow" in body, body


def async_http_project(folder, port):
    project = Project(folder, "Async")
    project.flow("Send", [
        ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/send", "messageDomainProperty": "XMLNSC"}),
        ("keep", "ComIbmCompute", "Keep", {"computeExpression": "esql://routine/#Keep.Main"}),
        ("send", "ComIbmHTTPAsyncRequest", "Send", {"URLSpecifier": f"http://127.0.0.1:{port}/slow",
                                                    "asyncResponseCorrelator": "slow", "timeoutForServer": "30"})],
        ["in.out -> keep.in", "keep.out -> send.in"])
    project.flow("Got", [
        ("in", "ComIbmHTTPAsyncResponse", "Got", {"asyncRequestCorrelator": "slow", "messageDomainProperty": "XMLNSC"}),
        ("show", "ComIbmCompute", "Show", {"computeExpression": "esql://routine/#Show.Main",
                                           "computeMode": "destinationAndMessage"}),
        ("reply", "ComIbmWSReply", "Reply", {})],
        ["in.out -> show.in", "in.error -> show.in", "in.failure -> show.in", "show.out -> reply.in"])
    project.esql("Async", """DECLARE sent SHARED INTEGER 0;
CREATE COMPUTE MODULE Keep
  CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
    SET OutputRoot = InputRoot;
    SET Environment.HTTP.UserContext = InputRoot.XMLNSC.n;
    SET OutputRoot.HTTPRequestHeader."X-Want-Status" = InputRoot.HTTPInputHeader."X-Want-Status";
    SET sent = sent + 1;
    RETURN TRUE;
  END;
END MODULE;
CREATE COMPUTE MODULE Show
  CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
    SET OutputLocalEnvironment = InputLocalEnvironment;
    SET OutputRoot.Properties = InputRoot.Properties;
    SET OutputRoot.XMLNSC.got.n = InputRoot.XMLNSC.answer.n;
    SET OutputRoot.XMLNSC.got.kept = Environment.HTTP.UserContext;
    SET OutputRoot.XMLNSC.got.status = InputLocalEnvironment.HTTP.Response.StatusCode;
    SET OutputRoot.XMLNSC.got.error = InputExceptionList.*[1].*[<].Number;
    RETURN TRUE;
  END;
END MODULE;
""")
    return project.folder


@case
def two_hundred_asynchronous_requests_at_once(binary, folder):
    back_end = BackEnd(delay_s=-1)
    try:
        with Server(binary, folder / "w", [async_http_project(folder / "p", back_end.port)]) as server:
            answers = {}

            def ask(n):
                answers[n] = server.post("/send", f"<n>{n}</n>")

            threads = [threading.Thread(target=ask, args=(n,)) for n in range(200)]
            for t in threads:
                t.start()
            assert back_end.wait_for(200), f"only {len(back_end.bodies)} requests came through"
            assert back_end.most_open == 200, back_end.most_open
            threads_of_server = len(os.listdir(f"/proc/{server.process.pid}/task"))
            assert threads_of_server < 40, threads_of_server
            assert not answers
            back_end.gate.set()
            for t in threads:
                t.join()
            for n in range(200):
                expected = f"<got><n>{n}</n><kept>{n}</kept><status>200</status></got>"
                assert answers[n] == (200, expected), answers[n]
            # An error status, and a back end that hangs up.
            status, body = server.post("/send", "<n>7</n>", {"X-Want-Status": "503"})
            assert "<status>503</status>" in body and "<n>7</n>" in body, body
            status, body = server.post("/send", "<n>8</n>", {"X-Want-Status": "none"})
            assert "<kept>8</kept>" in body and "<error>3162</error>" in body, body
    finally:
        back_end.close()


def timer_project(folder, port):
    project = Project(folder, "Timer")
    project.flow("Set", [
        ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/set", "messageDomainProperty": "XMLNSC",
                                               "faultFormat": "JSON"}),
        ("ask", "ComIbmCompute", "Ask", {"computeExpression": "esql://routine/#Ask.Main",
                                         "computeMode": "destinationAndMessage"}),
        ("set", "ComIbmTimeoutControl", "Set", {"uniqueIdentifier": "t"}),
        ("reply", "ComIbmWSReply", "Reply", {})],
        ["in.out -> ask.in", "ask.out -> set.in", "set.out -> reply.in"])
    project.flow("Due", [
        ("in", "ComIbmTimeoutNotification", "Due", {"uniqueIdentifier": "t", "operationMode": "controlled"}),
        ("send", "ComIbmWSRequest", "Send", {"URLSpecifier": f"http://127.0.0.1:{port}/due", "httpVersion": "1.1"})],
        ["in.out -> send.in"])
    project.flow("Tick", [
        ("in", "ComIbmScheduler", "Tick", {"interval": "1", "unit": "hour", "runOnceOnCheck": "true",
                                           "scheduleIdentifier": "hourly"}),
        ("send", "ComIbmWSRequest", "Send", {"URLSpecifier": f"http://127.0.0.1:{port}/tick", "httpVersion": "1.1"})],
        ["in.out -> send.in"])
    project.esql("Timer", """CREATE COMPUTE MODULE Ask
  CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN
    SET OutputLocalEnvironment = InputLocalEnvironment;
    SET OutputLocalEnvironment.TimeoutRequest = InputRoot.XMLNSC.set;
    SET OutputRoot = InputRoot;
    RETURN TRUE;
  END;
END MODULE;
""")
    return project.folder


def timeout_request(identifier, seconds_ahead, **fields):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds_ahead)
    all_fields = {"Action": "SET", "Identifier": identifier, "StartDate": at.strftime("%Y-%m-%d"),
                  "StartTime": at.strftime("%H:%M:%S"), **fields}
    return "<set>" + "".join(f"<{k}>{v}</{k}>" for k, v in all_fields.items()) + "</set>"


@case
def timers_survive_a_killed_server(binary, folder):
    back_end = BackEnd()
    try:
        project = timer_project(folder / "p", back_end.port)
        with Server(binary, folder / "w", [project]) as server:
            assert back_end.wait_for(1) and "hourly" in back_end.bodies[0], back_end.bodies
            assert server.post("/set", timeout_request("once", 3, IgnoreMissed="FALSE"))[0] == 200
            assert server.post("/set", timeout_request("more", 3, Interval=2, Count=2, IgnoreMissed="FALSE"))[0] == 200
            assert server.post("/set", timeout_request("gone", 3))[0] == 200
            assert server.post("/set", timeout_request("never", 3))[0] == 200
            assert server.post("/set", "<set><Action>CANCEL</Action><Identifier>never</Identifier></set>")[0] == 200
            status, body = server.post("/set", "<set><Action>SET</Action></set>")
            assert status == 500 and "MS1935" in body, body
            server.stop(signal.SIGKILL)
        assert len(back_end.bodies) == 1, back_end.bodies
        # Until all of them are overdue.
        threading.Event().wait(4)
        with Server(binary, folder / "w", [project]):
            assert back_end.wait_for(5), back_end.bodies
            threading.Event().wait(1)
        names = sorted(re.findall("<Identifier>(.*?)</Identifier>", "".join(back_end.bodies)))
        assert names == ["more", "more", "once"], names
        # Nothing is left, and a third server has nothing to do.
        count = len(back_end.bodies)
        with Server(binary, folder / "w", [project]):
            assert back_end.wait_for(count + 1)  # the Scheduler's first
            threading.Event().wait(1)
        assert len(back_end.bodies) == count + 1, back_end.bodies[count:]
    finally:
        back_end.close()


@case
def an_event_in_the_middle_of_its_flow_comes_again_after_a_crash(binary, folder):
    back_end = BackEnd(delay_s=-1)
    try:
        project = timer_project(folder / "p", back_end.port)
        with Server(binary, folder / "w", [project]) as server:
            assert back_end.wait_for(1)
            assert server.post("/set", timeout_request("a", 0))[0] == 200
            assert back_end.wait_for(2)
            server.stop(signal.SIGKILL)
        back_end.gate.set()
        with Server(binary, folder / "w", [project]):
            assert back_end.wait_for(4), back_end.bodies
        assert sum("<Identifier>a</Identifier>" in b for b in back_end.bodies) == 2, back_end.bodies
    finally:
        back_end.close()


@case
def two_servers_cannot_share_a_work_directory(binary, folder):
    back_end = BackEnd()
    try:
        project = timer_project(folder / "p", back_end.port)
        with Server(binary, folder / "w", [project]):
            second = Server(binary, folder / "w", [project])
            second.stop()
            assert second.port == 0
            assert any("MS1065" in line for line in second.errors), second.errors
    finally:
        back_end.close()


if __name__ == "__main__":
    main(__doc__)
