#!/usr/bin/env python3
"""End-to-end tests of the HTTP nodes: real server processes, raw sockets, a back end of our own.

flow_tests.py belongs to it.
"""
import http.server
import json
import re
import signal
import socket
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common")]
from harness import Server, case_of, main  # noqa: E402
from make_project import COPY_HEADERS, Project, module  # noqa: E402
from wire import call, exchange, simple_flow  # noqa: E402

class BackEnd:
    """An HTTP server that records requests and answers by path."""

    def __init__(self):
        outer = self
        self.requests = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                size = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(size)
                outer.requests.append((self.command, self.path, dict(self.headers), body))
                status, reply, kind, more = 200, b"<answer>" + body + b"</answer>", "text/xml", {}
                if self.path.startswith("/status/"):
                    status = int(self.path.split("/")[2])
                if self.path.startswith("/redirect"):
                    status, more = 302, {"Location": "/final"}
                if self.path.startswith("/json"):
                    reply, kind = b'{"a":[1,2.50,null]}', "application/json"
                if self.path.startswith("/latin1"):
                    reply, kind = "<a>Gr\u00fc\u00dfe</a>".encode("latin-1"), "text/xml; charset=iso-8859-1"
                if self.path.startswith("/slow"):
                    outer.slow.wait(10)
                if self.path.startswith("/chunked"):
                    self.send_response(200)
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                    for part in (b"<c>", b"1" * 3000, b"</c>"):
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                    self.wfile.write(b"0\r\n\r\n")
                    return
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(reply)))
                for k, v in more.items():
                    self.send_header(k, v)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(reply)

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = answer

            def log_message(self, *_):
                pass

        self.slow = threading.Event()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # a client that timed out has gone
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.slow.set()
        self.server.shutdown()
        self.server.server_close()


def server_project(folder, backend_port):
    p = Project(folder, "HttpNodes")
    p.flow("Echo", [("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/echo", "messageDomainProperty": "XMLNSC"}),
                    ("r", "ComIbmWSReply", "HTTP Reply", {})], ["in.out -> r.in"])
    p.flow("EchoBlob", [("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/blob"}),
                        ("r", "ComIbmWSReply", "HTTP Reply", {})], ["in.out -> r.in"])
    simple_flow(p, "Tree", "/tree/*", COPY_HEADERS + """
    DECLARE h REFERENCE TO InputRoot.HTTPInputHeader;
    SET OutputRoot.XMLNSC.t.command = h."X-Original-HTTP-Command";
    SET OutputRoot.XMLNSC.t.custom = h."X-Custom";
    SET OutputRoot.XMLNSC.t.method = InputLocalEnvironment.HTTP.Input.RequestLine.Method;
    SET OutputRoot.XMLNSC.t.uri = InputLocalEnvironment.HTTP.Input.RequestLine.RequestURI;
    SET OutputRoot.XMLNSC.t.below = InputLocalEnvironment.HTTP.Input.PathInfo;
    SET OutputRoot.XMLNSC.t.q = InputLocalEnvironment.HTTP.Input.QueryString.q;
    SET OutputRoot.XMLNSC.t.id = LENGTH(InputLocalEnvironment.Destination.HTTP.RequestIdentifier);
    SET OutputRoot.XMLNSC.t.eye = CAST(SUBSTRING(InputLocalEnvironment.Destination.HTTP.RequestIdentifier FROM 1 FOR 4)
                                       AS CHARACTER CCSID 1208);
    SET OutputRoot.XMLNSC.t.protocol = InputProperties.ReplyProtocol;
    SET OutputRoot.XMLNSC.t.type = InputProperties.ContentType;
    RETURN TRUE;""", {"parseQueryString": "true"})
    simple_flow(p, "Exact", "/tree/exact", COPY_HEADERS + "    SET OutputRoot.XMLNSC.exact = 'yes';\n    RETURN TRUE;")
    for fault, name in (("SOAP 1.1", "FaultSoap"), ("HTML", "FaultHtml"), ("JSON", "FaultJson"),
                        ("SOAP 1.2", "FaultSoap12")):
        simple_flow(p, name, f"/fault/{name}", "    THROW USER EXCEPTION MESSAGE 2951 VALUES('bad <order>', 42);",
                    {"faultFormat": fault})
    simple_flow(p, "BadXml", "/badxml", COPY_HEADERS + """
    SET OutputRoot.XMLNSC.v = InputRoot.XMLNSC.a.b;
    RETURN TRUE;""")
    simple_flow(p, "Silent", "/silent", "    RETURN FALSE;", {"timeoutForClient": "1"})
    p.flow("TimeoutPath", [
        ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/timeoutpath", "timeoutForClient": "1",
                                              "messageDomainProperty": "XMLNSC"}),
        ("pass", "ComIbmPassthru", "Nowhere", {}),
        ("c", "ComIbmCompute", "Late", {"computeExpression": "esql://routine/#Late.Main"}),
        ("r", "ComIbmWSReply", "HTTP Reply", {})],
        ["in.out -> pass.in", "in.timeout -> c.in", "c.out -> r.in"])
    p.esql("Late", module("Late", COPY_HEADERS + """
    SET OutputRoot.XMLNSC.late = InputRoot.XMLNSC.a;
    RETURN TRUE;"""))
    simple_flow(p, "HeaderLast", "/headerlast", """
    SET OutputRoot = InputRoot;
    SET OutputRoot.HTTPReplyHeader."X-A" = 'b';
    RETURN TRUE;""")
    p.flow("RequestLast", [
        ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/requestlast", "messageDomainProperty": "XMLNSC"}),
        ("c", "ComIbmCompute", "Compute", {"computeExpression": "esql://routine/#RequestLast.Main"}),
        ("q", "ComIbmWSRequest", "HTTP Request", {"URLSpecifier": f"http://127.0.0.1:{backend_port}/last",
                                                  "httpVersion": "1.1"}),
        ("r", "ComIbmWSReply", "HTTP Reply", {})],
        ["in.out -> c.in", "c.out -> q.in", "q.out -> r.in"])
    p.esql("RequestLast", module("RequestLast", """
    SET OutputRoot = InputRoot;
    SET OutputRoot.HTTPRequestHeader."X-B" = 'c';
    RETURN TRUE;"""))
    # Catch: walks the exception list the way the Toolkit's samples do.
    p.flow("Catching", [
        ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/catch", "messageDomainProperty": "XMLNSC"}),
        ("c", "ComIbmCompute", "Divide", {"computeExpression": "esql://routine/#Divide.Main"}),
        ("e", "ComIbmCompute", "Explain", {"computeExpression": "esql://routine/#Explain.Main"}),
        ("r", "ComIbmWSReply", "HTTP Reply", {})],
        ["in.out -> c.in", "c.out -> r.in", "in.catch -> e.in", "e.out -> r.in"])
    p.esql("Divide", module("Divide", COPY_HEADERS + """
    SET Environment.Variables.seen = 'kept';
    DECLARE n INTEGER CAST(InputRoot.XMLNSC.a.n AS INTEGER);
    SET OutputRoot.XMLNSC.q = 100 / n;
    RETURN TRUE;"""))
    p.esql("Explain", module("Explain", COPY_HEADERS + """
    DECLARE e REFERENCE TO InputExceptionList.*[1];
    DECLARE i INTEGER 0;
    WHILE LASTMOVE(e) DO
      IF e.Number IS NOT NULL THEN
        SET i = i + 1;
        SET OutputRoot.XMLNSC.chain.e[i] = FIELDNAME(e) || ':' || CAST(e.Number AS CHARACTER);
        SET OutputRoot.XMLNSC.chain.e[i].(XMLNSC.Attribute)label = e.Label;
        IF e.Insert[1].Text IS NOT NULL THEN
          SET OutputRoot.XMLNSC.chain.e[i].(XMLNSC.Attribute)insert = e.Insert[1].Text;
        END IF;
      END IF;
      MOVE e LASTCHILD;
    END WHILE;
    SET OutputRoot.XMLNSC.chain.seen = Environment.Variables.seen;
    SET OutputRoot.XMLNSC.chain.body = InputRoot.XMLNSC.a.n;
    SET OutputLocalEnvironment = InputLocalEnvironment;
    SET OutputLocalEnvironment.Destination.HTTP.ReplyStatusCode = 418;
    RETURN TRUE;"""))
    flow_text = (p.folder / "Catching.msgflow").read_text()
    explain = 'computeExpression="esql://routine/#Explain.Main"'
    flow_text = flow_text.replace(explain, explain + ' computeMode="destinationAndMessage"')
    (p.folder / "Catching.msgflow").write_text(flow_text)
    # Failure terminal of the node itself, and of the input node without catch.
    p.flow("Failing", [
        ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/failure/own", "messageDomainProperty": "XMLNSC"}),
        ("c", "ComIbmCompute", "Divide", {"computeExpression": "esql://routine/#Divide.Main"}),
        ("e", "ComIbmCompute", "Explain", {"computeExpression": "esql://routine/#Explain.Main"}),
        ("r", "ComIbmWSReply", "HTTP Reply", {})],
        ["in.out -> c.in", "c.out -> r.in", "c.failure -> e.in", "e.out -> r.in"])
    p.flow("FailingInput", [
        ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/failure/input", "messageDomainProperty": "XMLNSC"}),
        ("c", "ComIbmCompute", "Divide", {"computeExpression": "esql://routine/#Divide.Main"}),
        ("e", "ComIbmCompute", "Explain", {"computeExpression": "esql://routine/#Explain.Main"}),
        ("r", "ComIbmWSReply", "HTTP Reply", {})],
        ["in.out -> c.in", "c.out -> r.in", "in.failure -> e.in", "e.out -> r.in"])
    p.flow("Immediate", [
        ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/immediate", "messageDomainProperty": "XMLNSC",
                                              "validateTiming": "immediate"}),
        ("r", "ComIbmWSReply", "HTTP Reply", {})], ["in.out -> r.in"])
    # A reply from another flow, by identifier.
    p.flow("Store", [
        ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/store", "messageDomainProperty": "XMLNSC"}),
        ("c", "ComIbmCompute", "Keep", {"computeExpression": "esql://routine/#Keep.Main"})],
        ["in.out -> c.in"])
    p.esql("Keep", "DECLARE dummy INTEGER 0;\n" + module("Keep", """
    SET OutputRoot = InputRoot;
    LOG EVENT SEVERITY 1 MESSAGE 2951
      VALUES('STORED', CAST(InputLocalEnvironment.Destination.HTTP.RequestIdentifier AS CHARACTER));
    RETURN FALSE;"""))
    p.flow("Release", [
        ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/release", "messageDomainProperty": "XMLNSC"}),
        ("c", "ComIbmCompute", "Let", {"computeExpression": "esql://routine/#Let.Main",
                                       "computeMode": "destinationAndMessage"}),
        ("r", "ComIbmWSReply", "Other", {}), ("o", "ComIbmFlowOrder", "Order", {}),
        ("c2", "ComIbmCompute", "Own", {"computeExpression": "esql://routine/#Own.Main"}),
        ("r2", "ComIbmWSReply", "Own Reply", {})],
        ["in.out -> o.in", "o.first -> c.in", "c.out -> r.in", "o.second -> c2.in", "c2.out -> r2.in"])
    p.esql("Let", module("Let", COPY_HEADERS + """
    SET OutputRoot.XMLNSC.released = 'by another flow';
    SET OutputLocalEnvironment.Destination.HTTP.RequestIdentifier = CAST(InputRoot.XMLNSC.id AS BLOB);
    RETURN TRUE;"""))
    p.esql("Own", module("Own", COPY_HEADERS + "    SET OutputRoot.XMLNSC.done = 'ok';\n    RETURN TRUE;"))
    request_flows(p, backend_port)
    header_flows(p)


def request_flows(p, backend_port):
    url = f"http://127.0.0.1:{backend_port}"
    for name, path, more in (("Request", "/back", {}), ("RequestStatus", "/status/503", {}),
                             ("RequestJson", "/json", {"messageDomainProperty": "JSON"}),
                             ("RequestLatin", "/latin1", {}), ("RequestChunked", "/chunked", {}),
                             ("RequestRedirect", "/redirect", {"followRedirection": "true"}),
                             ("RequestSlow", "/slow", {"timeoutForServer": "1"}),
                             ("RequestGet", "/get", {"httpMethod": "GET"})):
        p.flow(name, [
            ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": f"/request/{name}",
                                                  "messageDomainProperty": "XMLNSC"}),
            ("q", "ComIbmWSRequest", "HTTP Request", {"URLSpecifier": url + path, "httpVersion": "1.1",
                                                      "messageDomainProperty": "XMLNSC", **more}),
            ("e", "ComIbmCompute", "Error", {"computeExpression": "esql://routine/#OnError.Main",
                                             "computeMode": "all"}),
            ("f", "ComIbmCompute", "Failure", {"computeExpression": "esql://routine/#OnFailure.Main"}),
            ("r", "ComIbmWSReply", "HTTP Reply", {})],
            ["in.out -> q.in", "q.out -> r.in", "q.error -> e.in", "e.out -> r.in", "q.failure -> f.in",
             "f.out -> r.in"])
    p.esql("OnError", module("OnError", COPY_HEADERS + """
    SET OutputLocalEnvironment = InputLocalEnvironment;
    SET OutputRoot.XMLNSC.error.status = InputRoot.HTTPResponseHeader."X-Original-HTTP-Status-Code";
    SET OutputRoot.XMLNSC.error.body = InputRoot.XMLNSC.answer.x;
    RETURN TRUE;"""))
    p.esql("OnFailure", module("OnFailure", COPY_HEADERS + """
    DECLARE e REFERENCE TO InputExceptionList.*[1];
    DECLARE name CHARACTER;
    WHILE LASTMOVE(e) DO
      IF e.Number IS NOT NULL THEN SET name = FIELDNAME(e); END IF;
      MOVE e LASTCHILD;
    END WHILE;
    SET OutputRoot.XMLNSC.failure = name;
    RETURN TRUE;"""))
    simple = [("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/request/dynamic",
                                                     "messageDomainProperty": "XMLNSC"}),
              ("c", "ComIbmCompute", "Prepare", {"computeExpression": "esql://routine/#Prepare.Main",
                                                 "computeMode": "all"}),
              ("q", "ComIbmWSRequest", "HTTP Request", {"URLSpecifier": url + "/unused", "httpVersion": "1.1",
                                                        "messageDomainProperty": "XMLNSC"}),
              ("r", "ComIbmWSReply", "HTTP Reply", {})]
    p.flow("RequestDynamic", simple, ["in.out -> c.in", "c.out -> q.in", "q.out -> r.in"])
    p.esql("Prepare", module("Prepare", COPY_HEADERS + f"""
    SET OutputLocalEnvironment = InputLocalEnvironment;
    SET OutputLocalEnvironment.Destination.HTTP.RequestURL = '{url}/dynamic';
    SET OutputLocalEnvironment.Destination.HTTP.RequestLine.Method = 'PUT';
    SET OutputLocalEnvironment.Destination.HTTP.QueryString.k = 'a b&c';
    SET OutputRoot.HTTPRequestHeader."X-Token" = 'secret';
    SET OutputRoot.HTTPRequestHeader."Content-Type" = 'application/xml';
    SET OutputRoot.XMLNSC.sent = InputRoot.XMLNSC.a;
    RETURN TRUE;"""))
    p.flow("RequestUnwired", [
        ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/request/unwired", "messageDomainProperty": "XMLNSC"}),
        ("q", "ComIbmWSRequest", "HTTP Request", {"URLSpecifier": url + "/status/404", "httpVersion": "1.1"}),
        ("r", "ComIbmWSReply", "HTTP Reply", {})], ["in.out -> q.in", "q.out -> r.in"])
    explain = ("e", "ComIbmCompute", "Explain", {"computeExpression": "esql://routine/#Explain.Main",
                                                 "computeMode": "destinationAndMessage"})
    for name, target, more, wires in (
            ("RequestRefused", "http://127.0.0.1:1/", {}, ["q.failure -> e.in"]),
            ("RequestErrorThrown", url + "/status/404", {}, ["in.catch -> e.in"])):
        p.flow(name, [
            ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": f"/request/{name}", "messageDomainProperty": "XMLNSC"}),
            ("q", "ComIbmWSRequest", "HTTP Request", {"URLSpecifier": target, "httpVersion": "1.1", **more}), explain,
            ("r", "ComIbmWSReply", "HTTP Reply", {})], ["in.out -> q.in", "q.out -> r.in", "e.out -> r.in", *wires])
    p.flow("RequestErrorAside", [
        ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/request/aside", "messageDomainProperty": "XMLNSC"}),
        ("q", "ComIbmWSRequest", "HTTP Request", {"URLSpecifier": url + "/status/500", "httpVersion": "1.1",
                                                  "messageDomainProperty": "XMLNSC", "replaceInputMsgWithHTTPError": "false",
                                                  "errorMsgLocationInTree": "OutputLocalEnvironment.Failed"}),
        ("c", "ComIbmCompute", "Aside", {"computeExpression": "esql://routine/#Aside.Main"}),
        ("r", "ComIbmWSReply", "HTTP Reply", {})], ["in.out -> q.in", "q.error -> c.in", "c.out -> r.in"])
    p.esql("Aside", module("Aside", COPY_HEADERS + """
    SET OutputRoot.XMLNSC.r.sent = InputRoot.XMLNSC.x;
    SET OutputRoot.XMLNSC.r.got = InputLocalEnvironment.Failed.answer.x;
    RETURN TRUE;"""))


def header_flows(p):
    rows = ('<nameValue4ReplyHeader name="X-Added" value="one"/>'
            '<nameValue4ReplyHeader name="Content-Type" value="text/plain"/>')
    p.flow("Header", [
        ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": "/header", "messageDomainProperty": "BLOB"}),
        ("h", "ComIbmHTTPHeader", "HTTP Header", {"httpReplyHeader": "Add", "httpInputHeader": "DeleteHeader"}, rows),
        ("r", "ComIbmWSReply", "HTTP Reply", {})], ["in.out -> h.in", "h.out -> r.in"])


# ---------------------------------------------------------------------------------------------- tests


@contextmanager
def nodes(binary, folder):
    backend = BackEnd()
    server_project(folder, backend.port)
    project = folder / "HttpNodes"
    with Server(binary, project) as server:
        yield SimpleNamespace(port=server.port, errors=server.errors, backend=backend, binary=binary, project=project,
                              folder=folder)
        assert server.process.poll() is None, "the server died:\n" + "\n".join(server.errors[-20:])
    backend.close()


@case_of(nodes)
def body_is_sent_back_as_it_came(t):
    body = '<?xml version="1.0"?><a  x=\'1\'>\n <b/></a>'
    reply = call(t.port, "/echo", body, headers=[("Content-Type", "application/xml")])
    assert reply.status == 200 and reply.text == body, reply.text
    assert reply.headers["content-type"] == "application/xml"
    reply = call(t.port, "/blob", bytes(range(256)))
    assert reply.body == bytes(range(256))


@case_of(nodes)
def request_becomes_a_tree(t):
    reply = call(t.port, "/tree/a/b?q=x%20y", "<in/>", headers=[("X-Custom", "c1"), ("Content-Type", "text/xml")])
    for part in ("<custom>c1</custom>", "<method>POST</method>", "<uri>/tree/a/b</uri>", "<below>a/b</below>",
                 "<q>x y</q>", "<id>24</id>", "<eye>EVHT</eye>", "<protocol>SOAP-HTTP</protocol>",
                 "<type>text/xml</type>"):
        assert part in reply.text, (part, reply.text)
    assert re.search(r"<command>POST http://localhost:\d+/tree/a/b\?q=x%20y HTTP/1.1</command>", reply.text), reply.text


@case_of(nodes)
def the_most_specific_url_wins(t):
    assert "<exact>yes</exact>" in call(t.port, "/tree/exact", "<in/>").text
    assert "<method>" in call(t.port, "/tree/exactly", "<in/>").text
    assert call(t.port, "/nothing", "<in/>").status == 404


@case_of(nodes)
def faults_have_the_chosen_form(t):
    reply = call(t.port, "/fault/FaultSoap", "<a/>")
    assert reply.status == 500 and reply.headers["content-type"].startswith("text/xml"), reply.text
    assert "BIP3113E" in reply.text and "<faultcode>SOAP-ENV:Server</faultcode>" in reply.text, reply.text
    assert "BIP2951I" in reply.text and "bad &lt;order&gt;" in reply.text and "42" in reply.text, reply.text
    assert call(t.port, "/fault/FaultHtml", "<a/>").text.startswith("<html>")
    document = json.loads(call(t.port, "/fault/FaultJson", "<a/>").text)
    assert document["error"]["message"].startswith("BIP3113E"), document
    assert "http://www.w3.org/2003/05/soap-envelope" in call(t.port, "/fault/FaultSoap12", "<a/>").text


@case_of(nodes)
def malformed_bodies_fail_when_touched(t):
    reply = call(t.port, "/badxml", "<a><b>1</b><c></a>")
    assert reply.status == 200 and "<v>1</v>" in reply.text, reply.text  # the fault lies behind what is read
    reply = call(t.port, "/badxml", "<a><x></a>")
    assert reply.status == 500 and "BIP5004E" in reply.text, reply.text
    assert call(t.port, "/immediate", "<a><b>1</b></c>").status == 500
    assert call(t.port, "/immediate", "<a><b>1</b></a>").status == 200


@case_of(nodes)
def silence_ends_with_the_input_nodes_time(t):
    start = time.monotonic()
    reply = call(t.port, "/silent", "<a/>")
    waited = time.monotonic() - start
    assert reply.status == 500 and "did not reply" in reply.text and 0.9 < waited < 10, (reply.text, waited)
    for _ in range(200):
        logged = [line for line in t.errors if "MS1830" in line and "Silent" in line]
        if logged:
            break
        time.sleep(0.02)
    assert len(logged) == 1, t.errors[-5:]
    reply = call(t.port, "/timeoutpath", "<a>7</a>")
    assert reply.status == 200 and reply.text == "<late>7</late>", reply.text


CHAIN = [f"RecoverableException:{number}" for number in (2230, 2488, 2439, 2450)]


@case_of(nodes)
def exceptions_reach_the_catch_terminal_with_their_chain(t):
    reply = call(t.port, "/catch", "<a><n>0</n></a>")
    assert reply.status == 418, (reply.status, reply.text)
    chain = re.findall(r"<e [^>]*>([^<]*)</e>", reply.text)
    assert chain == ["RecoverableException:2230"] + CHAIN, reply.text
    assert 'label="Catching.HTTP Input"' in reply.text and 'label="Catching.Divide"' in reply.text, reply.text
    assert "<seen>kept</seen><body>0</body>" in reply.text, reply.text
    assert call(t.port, "/catch", "<a><n>7</n></a>").text == "<q>14</q>"
    chain = re.findall(r"<e [^>]*>([^<]*)</e>", call(t.port, "/catch", "<a><n>x</n></a>").text)
    assert chain[:2] == ["RecoverableException:2230"] * 2 and len(chain) >= 4, chain


@case_of(nodes)
def failure_terminals_handle_errors_of_their_own_node(t):
    chain = re.findall(r"<e [^>]*>([^<]*)</e>", call(t.port, "/failure/own", "<a><n>0</n></a>").text)
    assert chain == CHAIN, chain
    chain = re.findall(r"<e [^>]*>([^<]*)</e>", call(t.port, "/failure/input", "<a><n>0</n></a>").text)
    assert chain == ["RecoverableException:2230"] + CHAIN, chain


@case_of(nodes)
def another_flow_can_reply(t):
    result = []
    thread = threading.Thread(target=lambda: result.append(call(t.port, "/store", "<a/>")))
    thread.start()
    identifier = None
    for _ in range(200):
        stored = [e for e in t.errors if "STORED" in e]
        if stored:
            identifier = re.search(r"X'([0-9a-fA-F]{48})'", stored[-1]).group(1)
            break
        time.sleep(0.02)
    assert identifier, t.errors[-3:]
    assert call(t.port, "/release", f"<id>{identifier}</id>").text == "<done>ok</done>"
    thread.join(10)
    assert result and result[0].text == "<released>by another flow</released>", result
    # The same identifier again is stale: ignored, and nothing is answered twice.
    assert call(t.port, "/release", f"<id>{identifier}</id>").text == "<done>ok</done>"


@case_of(nodes)
def requests_to_a_back_end(t):
    reply = call(t.port, "/request/Request", "<x>1</x>", headers=[("Content-Type", "text/xml")])
    assert reply.text == "<answer><x>1</x></answer>", reply.text
    method, path, headers, body = t.backend.requests[-1]
    assert (method, path, body) == ("POST", "/back", b"<x>1</x>"), (method, path, body)
    assert headers.get("SOAPAction") == '""' and headers["Content-Type"] == "text/xml", headers
    assert "X-Original-HTTP-Command" not in headers
    assert call(t.port, "/request/RequestJson", "<x/>").text.replace("\\/", "/") == '{"a":[1,2.50,null]}'
    assert call(t.port, "/request/RequestChunked", "<x/>").text == "<c>" + "1" * 3000 + "</c>"
    call(t.port, "/request/RequestGet", "<x/>")
    assert t.backend.requests[-1][0] == "GET" and t.backend.requests[-1][3] == b""
    reply = call(t.port, "/request/RequestRedirect", "<x>1</x>")
    assert reply.status == 200 and t.backend.requests[-1][1] == "/final", t.backend.requests[-1]
    reply = call(t.port, "/request/RequestLatin", "<x/>")
    assert reply.body in ("<a>Gr\u00fc\u00dfe</a>".encode("latin-1"), "<a>Gr\u00fc\u00dfe</a>".encode()), reply.body


@case_of(nodes)
def error_statuses_and_time_outs_of_a_back_end(t):
    reply = call(t.port, "/request/RequestStatus", "<x>5</x>")
    assert reply.text == "<error><status>503</status><body>5</body></error>", reply.text
    reply = call(t.port, "/request/RequestSlow", "<x/>")
    assert reply.status == 200 and reply.text == "<failure>SocketTimeoutException</failure>", reply.text
    reply = call(t.port, "/request/unwired", "<x/>")
    assert reply.status == 500 and "404" in reply.text, reply.text


@case_of(nodes)
def errors_of_a_request_have_their_chain(t):
    chain = re.findall(r"<e [^>]*>([^<]*)</e>", call(t.port, "/request/RequestRefused", "<a/>").text)
    assert chain == ["RecoverableException:2230", "RecoverableException:3162", "SocketException:3152",
                     "SocketException:3150"], chain
    reply = call(t.port, "/request/RequestErrorThrown", "<a/>")
    chain = re.findall(r"<e [^>]*>([^<]*)</e>", reply.text)
    assert chain[:3] == ["RecoverableException:2230", "RecoverableException:2230", "RecoverableException:3162"], chain
    assert "POST /status/404 HTTP/1.1" in reply.text, reply.text
    assert call(t.port, "/request/aside", "<x>5</x>").text == "<r><sent>5</sent><got>5</got></r>"


@case_of(nodes)
def the_local_environment_directs_requests(t):
    call(t.port, "/request/dynamic", "<a>9</a>")
    method, path, headers, body = t.backend.requests[-1]
    assert (method, body) == ("PUT", b"<sent>9</sent>") and path == "/dynamic?k=a%20b%26c", (method, path, body)
    assert headers["X-Token"] == "secret" and headers["Content-Type"] == "application/xml", headers


@case_of(nodes)
def http_header_node_sets_reply_headers(t):
    reply = call(t.port, "/header", "hello")
    assert reply.headers["x-added"] == "one" and reply.headers["content-type"] == "text/plain", reply.headers
    assert reply.text == "hello"


@case_of(nodes)
def a_header_that_is_set_last_does_not_hide_the_body(t):
    reply = call(t.port, "/headerlast", "<a>1</a>")
    assert (reply.status, reply.text, reply.headers["x-a"]) == (200, "<a>1</a>", "b"), (reply.headers, reply.text)
    before = len(t.backend.requests)
    reply = call(t.port, "/requestlast", "<a>2</a>")
    assert reply.status == 200 and reply.text == "<answer><a>2</a></answer>", reply.text
    _, _, headers, body = t.backend.requests[before]
    assert body == b"<a>2</a>" and headers["X-B"] == "c", (headers, body)


@case_of(nodes)
def framing_is_strict(t):
    port = t.port
    get = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n"
    close = b"Connection: close\r\n"
    # Pipelined requests are answered in order.
    raw = exchange(port, get + b"\r\n<a/>" + get + b"\r\n<b/>" + get + close + b"\r\n<c/>")
    places = [raw.find(x) for x in (b"<a/>", b"<b/>", b"<c/>")]
    assert -1 not in places and places == sorted(places) and raw.count(b"HTTP/1.1 200") == 3, raw
    chunked = b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n" + close + b"\r\n"
    assert b"<abc/>" in exchange(port, chunked + b"3\r\n<ab\r\n3;x=1\r\nc/>\r\n0\r\n\r\n")
    # The client that asks first is told to go on, and answered only then.
    with socket.create_connection(("127.0.0.1", port), timeout=20) as s:
        s.sendall(get + b"Expect: 100-continue\r\n" + close + b"\r\n")
        assert s.recv(4096).startswith(b"HTTP/1.1 100 ")
        s.sendall(b"<a/>")
        raw = b"".join(iter(lambda: s.recv(4096), b""))
        assert raw.lstrip().startswith(b"HTTP/1.1 200") and raw.endswith(b"<a/>"), raw
    for bad in (b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", b"Content-Length: 4\r\nContent-Length: 5\r\n",
                b"Transfer-Encoding: chunked, identity\r\n", b"Content-Length : 4\r\n", b"Content-Length: +4\r\n",
                b"X\x00Y: 1\r\n"):
        smuggled = b"<a/>GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
        raw = exchange(port, b"POST /echo HTTP/1.1\r\nHost: x\r\n" + bad + b"\r\n" + smuggled)
        assert raw.startswith((b"HTTP/1.1 400", b"HTTP/1.1 501")), (bad, raw[:80])
        assert raw.count(b"HTTP/1.1 ") == 1, (bad, raw)


@case_of(nodes)
def large_bodies(t):
    body = b"<a>" + b"x" * (8 << 20) + b"</a>"
    assert call(t.port, "/echo", body).body == body
    with socket.create_connection(("127.0.0.1", t.port), timeout=20) as s:
        s.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 104857600\r\n\r\n")
        assert b" 413 " in s.recv(4096).split(b"\r\n")[0]


@case_of(nodes)
def stop_finishes_requests_in_flight(t):
    with Server(t.binary, t.project) as server:
        results = []

        def slow():
            results.append(call(server.port, "/request/RequestSlow", "<x/>"))

        thread = threading.Thread(target=slow)
        thread.start()
        before = len(t.backend.requests)
        for _ in range(200):
            if len(t.backend.requests) > before:
                break
            time.sleep(0.01)
        server.process.send_signal(signal.SIGTERM)
        thread.join(20)
        assert results and results[0].status == 200, results
        assert server.process.wait(20) == 0


if __name__ == "__main__":
    import flow_tests  # noqa: F401
    main(__doc__)
