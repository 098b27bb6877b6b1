#!/usr/bin/env python3
"""REST APIs and REST requests end to end: the projects of make_project.py in a work directory, driven over HTTP.

Each case makes many checks, and goes on after one that fails. schemathesis runs against examples/rest-api; where it cannot be
installed it is skipped by name, but in CI (CI=true) that is a failure.
"""
import functools
import http.client
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "common"))
import harness  # noqa: E402
import make_project  # noqa: E402
from harness import ROOT, WAIT_S, Skipped, case_of, command, main  # noqa: E402

SCHEMATHESIS = "schemathesis==4.32.5"
SCHEMATHESIS_SEED = "20261130"
SCHEMATHESIS_EXAMPLES = "25"
SCHEMATHESIS_TIMEOUT_S = 300


class Server(harness.Server):
    def send(self, method, path, body=None, headers=None):
        """(status, headers in lower case, body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        connection.request(method, path, body, headers or {})
        reply = connection.getresponse()
        received = {}
        for name, value in reply.getheaders():
            known = received.get(name.lower())
            received[name.lower()] = f"{known}, {value}" if known else value
        out = reply.status, received, reply.read().decode()
        connection.close()
        return out

    def send_json(self, method, path, body=None, headers=None):
        if body is not None:
            headers = {"Content-Type": "application/json", **(headers or {})}
            body = json.dumps(body)
        status, _, text = self.send(method, path, body, headers)
        return status, json.loads(text) if text else None


class BackEnd(http.server.BaseHTTPRequestHandler):
    """Answers with what it was asked, with the status that the test sets."""
    status = 200

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode()
        seen = {"method": self.command, "path": self.path, "body": body,
                "headers": {k.lower(): v for k, v in self.headers.items()}}
        data = json.dumps(seen).encode()
        self.send_response(BackEnd.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *_):
        pass


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def equal(self, what, found, expected):
        if found == expected:
            self.passed += 1
            return
        self.failed += 1
        print(f"FAILED {what}\n  found    {found}\n  expected {expected}")

    def true(self, what, is_right, shown=""):
        self.equal(what, bool(is_right) or shown, True)


@contextmanager
def apis(binary, folder):
    work = folder / "work"
    make_project.write_work_folder(str(work))
    back_end = http.server.ThreadingHTTPServer(("127.0.0.1", 0), BackEnd)
    threading.Thread(target=back_end.serve_forever, daemon=True).start()
    with Server(binary, "--work-dir", work) as server:
        yield SimpleNamespace(server=server, binary=binary, folder=str(folder),
                              base=f"http://127.0.0.1:{back_end.server_address[1]}/api")
        assert server.stop() == 0, "the server stops in order"
    back_end.shutdown()


def checked(*wanted):
    """A case that gets Checks and members of what the cases share."""
    def mark(function):
        @case_of(apis)
        @functools.wraps(function)
        def run(given):
            checks = Checks()
            function(checks, *(getattr(given, name) for name in wanted))
            print(f"       {checks.passed} checks")
            assert not checks.failed, f"{checks.failed} checks failed"
        return function
    return mark


@checked("server")
def routing(checks, server):
    status, echo = server.send_json("GET", "/echo/v1/plain/12?n=3&other=x", headers={"X-Trace": "t", "Cookie": "a=b; sid=s1"})
    checks.equal("an operation is reached", (status, echo["operation"], echo["method"], echo["path"]),
                 (200, "plain", "GET", "/plain/{id}"))
    checks.equal("URI is the whole URL", echo["uri"], f"http://127.0.0.1:{server.port}/echo/v1/plain/12?n=3&other=x")
    checks.equal("parameters are text", echo["parameters"], {"id": "12", "n": "3", "X-Trace": "t", "sid": "s1"})
    _, echo = server.send_json("GET", "/echo/v1/plain/x%2Fy%20z")
    checks.equal("path parameters are decoded, defaults filled in, nothing is checked", echo["parameters"],
                 {"id": "x/y z", "n": "7"})
    checks.equal("the most specific path wins", server.send_json("GET", "/echo/v1/plain/mine")[1]["operation"], "mine")
    _, echo = server.send_json("GET", "/echo/v1/files/a.tar.gz")
    checks.equal("two parameters in one segment", echo["parameters"], {"name": "a.tar", "type": "gz"})
    checks.equal("a slash at the end", server.send_json("GET", "/echo/v1/forms/")[0], 200)
    status, headers, _ = server.send("PATCH", "/echo/v1/plain/1")
    checks.equal("405 says what there is", (status, headers["allow"]), (405, "GET, DELETE, HEAD"))
    checks.equal("the specific path has its own methods",
                 server.send("DELETE", "/echo/v1/plain/mine")[0:1] + (server.send("DELETE", "/echo/v1/plain/mine")[1]["allow"],),
                 (405, "GET, HEAD"))
    status, headers, body = server.send("OPTIONS", "/echo/v1/plain/1")
    checks.equal("OPTIONS is answered", (status, headers["allow"], body), (204, "GET, DELETE, HEAD, OPTIONS", ""))
    status, body = server.send_json("GET", "/echo/v1/nowhere")
    checks.equal("404 in the fault format", (status, body["error"]["message"][:8]), (404, "MS1880E:"))
    status, body = server.send_json("DELETE", "/echo/v1/plain/1")
    checks.equal("no subflow: 501", (status, body["error"]["message"][:8]), (501, "MS1882E:"))
    status, headers, body = server.send("HEAD", "/echo/v1/forms")
    checks.equal("HEAD is answered by GET", (status, body), (200, ""))
    checks.true("with its headers", int(headers["content-length"]) > 0)
    checks.equal("a wild path", server.send("GET", "/echo/v1/%00%ff//..%2f")[0], 404)


@checked("server")
def styles(checks, server):
    def parts(path, headers=None):
        status, echo = server.send_json("GET", "/echo/v1" + path, headers=headers)
        return echo["parts"] if status == 200 else status
    abc = "Item=a;Item=b;Item=c;"
    xy = "x=1;y=2;"
    checks.equal("label", parts("/labels/.a.b.c/.x,1,y,2"), {"a": abc, "b": xy})
    checks.equal("matrix", parts("/matrices/;a=a;a=b;a=c/;b=x,1,y,2"), {"a": abc, "b": xy})
    checks.equal("simple", parts("/simples/a,b,c/x=1,y=2"), {"a": abc, "b": xy})
    checks.equal("form", parts("/forms?a=a&a=b&a=c&b=a,b,c&x=1&y=2"), {"a": abc, "b": abc, "p": xy})
    checks.equal("delimited, deepObject", parts("/delimited?s=a%20b%20c&p=a|b%7Cc&d[x]=1&d%5By%5D=2"),
                 {"s": abc, "p": "Item=a;Item=b|c;", "d": xy})
    checks.equal("header", parts("/headers", {"A": "a, b,c", "B": "x=1,y=2"}), {"A": abc, "B": xy})
    checks.equal("cookie", parts("/cookies", {"Cookie": "a=a,b,c"}), {"a": abc})
    _, echo = server.send_json("GET", "/echo/v1/forms?b=a,b%2Cc")
    checks.equal("a list is text too", (echo["parameters"]["b"], echo["parts"]["b"]), ("a,b,c", "Item=a;Item=b,c;"))


@checked("server")
def validation(checks, server):
    def put(path, body, content_type="application/json"):
        status, _, text = server.send("PUT", "/strict/v2" + path, body, {"Content-Type": content_type})
        return status, json.loads(text)
    good = '{"name":"n","next":{"name":"m"}}'
    checks.equal("a valid request", put("/items/1?kind=a&tags=x|yz", good), (200, json.loads(good)))
    for what, path, body, told in [
            ("a type", "/items/x?kind=a", good, "path parameter id must be of type integer"),
            ("a range", "/items/9999999999?kind=a", good, "path parameter id must be in the range of int32"),
            ("a missing parameter", "/items/1", good, "query parameter kind is missing"),
            ("an enumeration", "/items/1?kind=c", good, 'query parameter kind must be one of ["a","b"]'),
            ("an item", "/items/1?kind=a&tags=x|long", good, "query parameter tags/1 must have at most 3 characters"),
            ("bytes that are no text", "/items/1?kind=%ff", good, "query parameter kind is not UTF-8"),
            ("a body", "/items/1?kind=a", '{"next":{"name":""}}', "body must have the member name (strict.json:16); body/next/name must have"),
            ("a member too many", "/items/1?kind=a", '{"name":"n","z":1}', "body/z is not a member"),
            ("no JSON", "/items/1?kind=a", '{"name":', "body is not JSON"),
            ("a member twice", "/items/1?kind=a", '{"name":"a","name":"b"}', "body is not JSON"),
            ("deep JSON", "/items/1?kind=a", '{"name":"n","next":' * 70 + "1" + "}" * 70, "nested deeper"),
            ("no body", "/items/1?kind=a", "", "the body is missing")]:
        status, fault = put(path, body)
        checks.equal(f"{what}: 400", status, 400)
        checks.true(f"{what}: says why", told in fault["error"]["message"], fault["error"]["message"])
    for charset in ("utf-16", "ibm037", "utf-7"):
        status, fault = put("/items/1?kind=a", good, f"application/json; charset={charset}")
        checks.equal(f"JSON in {charset}", (status, "not in UTF-8" in str(fault)), (400, True))
    checks.equal("JSON in UTF-8", put("/items/1?kind=a", good, "application/json; charset=UTF-8")[0], 200)
    checks.equal("another media type", put("/items/1?kind=a", "<a/>", "text/xml")[0], 415)
    checks.equal("a body that is not expected", server.send("GET", "/strict/v2/items/1", "x")[0], 400)
    status, fault = server.send_json("GET", "/strict/v2/items/1")
    checks.equal("a reply that is not as promised", (status, "MS1885E" in fault["error"]["message"]), (500, True))
    checks.equal("only 2xx is checked", server.send_json("GET", "/strict/v2/items/404"), (404, {"title": "x"}))
    checks.equal("the catch handler", server.send_json("GET", "/strict/v2/throw"), (418, {"caught": True}))
    checks.equal("the timeout handler", server.send_json("GET", "/strict/v2/slow"), (503, {"waited": True}))


@checked("server")
def split_api(checks, server):
    """One API of several files, with security."""
    base = "/split/v1"
    key = {"X-Key": "k"}
    status, headers, _ = server.send("GET", base + "/split.yaml")
    checks.equal("the document is where its references lead on", (status, headers["location"]),
                 (302, base + "/api/split.yaml"))
    for path, text in make_project.SPLIT_FILES.items():
        checks.equal(f"served: {path}", server.send("GET", f"{base}/{path}")[::2], (200, text))
    for path in ("restapi.descriptor", "Split.esql", "api/../Split.esql", "api/..%2fSplit.esql", "%2e%2e/StrictApi/strict.json"):
        checks.equal(f"not served: {path}", server.send("GET", f"{base}/{path}")[0], 404)
    _, document = server.send_json("GET", base + "/openapi.json")
    text = json.dumps(document)
    references = re.findall(r'"\$ref": "([^"]*)"', text)
    checks.true("one document of all", references and all(r.startswith("#/components/") for r in references), references)
    checks.equal("with what was elsewhere", (sorted(document["components"]["schemas"]), sorted(document["paths"]["/forms"])),
                 (["Form", "Item", "Name", "Problem", "Upload", "how", "id"], ["post"]))

    def send(method, path, body=None, headers=None):
        status, _, text = server.send(method, base + path, body, headers)
        return status, text
    checks.equal("no security", send("GET", "/open")[0], 200)
    status, headers, text = server.send("PUT", base + "/items/1", "{}", {"Content-Type": "application/json"})
    checks.equal("no credential", (status, headers["www-authenticate"]),
                 (401, 'Basic realm="Split \\"1\\"", charset="UTF-8", ApiKey realm="Split \\"1\\"", in="header", name="X-Key"'))
    checks.true("and which it should be", "MS1878E" in text and "'putItem'" in text and "(api/paths/item.yaml:10)" in text, text)
    checks.equal("not before there is an operation", send("GET", "/nowhere")[0], 404)
    json_type = {"Content-Type": "application/json"}
    good = '{"id":1,"name":"a"}'
    for headers, expected in [({"Authorization": "Basic dTpw"}, 200), (key, 200), ({"Authorization": "Bearer t"}, 401),
                              ({"Authorization": "Basic"}, 401), ({"X-Key": ""}, 401)]:
        checks.equal(f"credential {headers}", send("PUT", "/items/1", good, {**json_type, **headers})[0], expected)
    for query, headers, expected in [("", {"Authorization": "bearer t"}, 200), ("?api_key=1", {"Cookie": "a=b; session=s"}, 200),
                                     ("?api_key=1", {}, 401), ("", {"Cookie": "session=s"}, 401), ("", key, 401)]:
        checks.equal(f"credential {query} {headers}", send("GET", "/items/1" + query, headers=headers)[0], expected)

    def told(method, path, body, content_type):
        status, text = send(method, path, body, {"Content-Type": content_type, **key})
        return status, "" if status == 200 else json.loads(text)["error"]["message"].partition("is not valid: ")[2]
    xml = "application/xml; charset=utf-8"
    fine = '<item id="1"><name>a</name><tags><tag>b</tag></tags><counts><counts>1</counts><counts>2</counts></counts></item>'
    checks.equal("XML", told("PUT", "/items/1", fine, xml), (200, ""))
    for body, expected in [
            ('<item id="1"><name>A</name></item>', 'body/name must match the pattern ^[a-z]{1,8}$, not "A" (api/split.yaml:35).'),
            ('<item><name>a</name></item>', "body must have the member id (models/item.yaml:2)."),
            ('<item id="1"><name>a</name><tags><x>b</x></tags></item>',
             "body/tags/0 must be an element tag, not x (models/item.yaml:10)."),
            ('<item id="1"><name>a</name><next id="1e2"><name>b</name></next></item>',
             'body/next/id must be of type integer, not "1e2" (models/item.yaml:7).'),
            ("<item>", "body is not XML: ")]:
        status, text = told("PUT", "/items/1", body, xml)
        checks.true(f"XML {body}", status == 400 and text.startswith(expected), text)
    checks.equal("a path parameter of another file", told("PUT", "/items/1e2", fine, xml),
                 (400, 'path parameter id must be of type integer, not "1e2" (models/item.yaml:7).'))
    form = "application/x-www-form-urlencoded"
    checks.equal("a form", told("POST", "/forms", "name=a&limit=5&tags=a&tags=b", form), (200, ""))
    checks.equal("a form that does not fit", told("POST", "/forms", "limit=1e1&tags=toolong", form)[1].count(" (common.json:"), 3)
    parts = ('--x\r\nContent-Disposition: form-data; name="name"\r\n\r\n%s\r\n'
             '--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\nContent-Type: %s\r\n\r\n\x01\r\n--x--\r\n')
    multipart = "multipart/form-data; boundary=x"
    checks.equal("parts", told("POST", "/forms", parts % ("a", "image/png"), multipart), (200, ""))
    status, text = told("POST", "/forms", parts % ("a", "text/html"), multipart)
    checks.true("a part of another kind", status == 400 and text.startswith(
        "body/file must be of the media type image/png, application/octet-stream, not text/html"), text)
    checks.true("a part that does not fit", told("POST", "/forms", parts % ("A", "image/png"), multipart)[1].startswith(
        "body/name must match"))
    checks.equal("an XML reply", server.send("GET", base + "/strange?how=good")[0], 200)
    for how, expected in [("name", 'body/name must match the pattern ^[a-z]{1,8}$, not "NO" (api/split.yaml:35)'),
                          ("root", "body must have the root element item, not other (models/item.yaml:2)"),
                          ("broken", "body is not XML"), ("header", "header X-Count is missing (common.json:8)"),
                          ("count", 'header X-Count must be of type integer, not "1e1" (common.json:8)')]:
        status, text = send("GET", "/strange?how=" + how)
        checks.true(f"a reply that is not as promised: {how}", status == 500 and "'strange'" in text and
                    expected in json.loads(text)["error"]["message"], text)


@checked("server")
def documents(checks, server):
    status, headers, text = server.send("GET", "/echo/v1/echo.yaml")
    checks.equal("the document as it is", (status, headers["content-type"]), (200, "application/yaml; charset=utf-8"))
    checks.true("word for word", text.startswith("openapi: 3.0.3\ninfo: {title: Echo <1>"))
    for path in ("/echo/v1/openapi.json", "/echo/v1?openapi", "/echo/v1/?swagger"):
        status, document = server.send_json("GET", path)
        checks.equal(f"{path}: where it is served", (status, document["servers"]), (200, [{"url": "/echo/v1"}]))
    status, document = server.send_json("GET", "/strict/v2/swagger.json")
    checks.equal("Swagger: base path and host", (document["basePath"], document["host"]),
                 ("/strict/v2", f"127.0.0.1:{server.port}"))
    status, headers, page = server.send("GET", "/echo/v1/api-docs")
    checks.equal("a page", (status, headers["content-type"]), (200, "text/html; charset=utf-8"))
    checks.true("text is escaped", "Echo &lt;1&gt;" in page and "Echo <1>" not in page)
    checks.true("nothing from elsewhere", not re.search(r'(src|href)="(https?:)?//', page) and "<script" not in page)
    checks.true("every operation", all(f'id="{o}"' in page for o in make_project.ECHO_OPERATIONS))


@checked("server")
def cors(checks, server):
    def preflight(origin, method="GET", headers="x-trace"):
        return server.send("OPTIONS", "/echo/v1/forms", headers={
            "Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers})
    status, headers, _ = preflight("https://b.example")
    checks.equal("a preflight", (status, headers["access-control-allow-origin"], headers["access-control-allow-methods"],
                                 headers["access-control-max-age"], headers["access-control-allow-credentials"]),
                 (204, "https://b.example", "GET,PUT", "60", "true"))
    checks.equal("another origin", preflight("https://c.example")[0], 403)
    checks.equal("another method", preflight("https://a.example", "DELETE")[0], 403)
    checks.equal("another header", preflight("https://a.example", "GET", "X-Other")[0], 403)
    _, headers, _ = server.send("GET", "/echo/v1/forms", headers={"Origin": "https://a.example"})
    checks.equal("a reply", (headers.get("access-control-allow-origin"), headers.get("access-control-expose-headers"),
                             headers.get("vary")), ("https://a.example", "X-Seen", "Origin"))
    _, headers, _ = server.send("GET", "/echo/v1/nowhere", headers={"Origin": "https://a.example"})
    checks.equal("a fault", headers.get("access-control-allow-origin"), "https://a.example")
    _, headers, _ = server.send("GET", "/echo/v1/forms", headers={"Origin": "https://c.example"})
    checks.equal("not for another origin", headers.get("access-control-allow-origin"), None)


@checked("server", "base")
def requests(checks, server, base):
    def ask(path, **body):
        return server.send_json("POST", path, body, {"X-Base": base})
    status, got = ask("/client/find", id="a b/c", tags=["x", "y&z"], note="n")
    seen = got["answer"]
    checks.equal("a call", (status, seen["method"], seen["path"]), (200, "POST", "/api/find/a%20b%2Fc?tags=x&tags=y%26z"))
    checks.equal("its headers", (seen["headers"]["x-kind"], seen["headers"]["accept"]), ("constant-7", "*/*"))
    checks.true("its content type", seen["headers"]["content-type"].startswith("application/json"))
    checks.equal("its body", json.loads(seen["body"])["note"], "n")
    checks.equal("WrittenDestination.REST", (got["method"], got["status"], got["bytes"] > 100), ("POST", 200, True))
    checks.equal("the message overrides", ask("/client/find", id="1", override="2")[1]["answer"]["path"], "/api/find/2")
    checks.equal("another operation", ask("/client/find", operation="list")[1]["answer"]["path"], "/api/list")
    checks.equal("a missing path parameter", ask("/client/find", tags=[])[0], 502)
    checks.equal("an API key", ask("/client/key")[1]["answer"]["headers"]["x-api-key"], "k-1")
    checks.equal("an API key in the query", ask("/client/key", operation="queried")[1]["answer"]["path"],
                 "/api/queried?the%20key=k-1")
    checks.equal("an API key in a cookie", ask("/client/key", operation="cooked")[1]["answer"]["headers"]["cookie"],
                 "session=k-1")
    seen = ask("/client/key", operation="open")[1]["answer"]
    checks.true("none where none is asked for", "k-1" not in json.dumps(seen), seen)
    checks.equal("user and password", ask("/client/basic")[1]["answer"]["headers"]["authorization"],
                 "Basic amFuZTpzM2NyZXQ=")
    checks.equal("a token", ask("/client/bearer")[1]["answer"]["headers"]["authorization"], "Bearer t-9")
    checks.equal("a part of the answer elsewhere", ask("/client/part", own="o"), (200, {"path": "/api/list", "own": "o"}))
    status, got = ask("/client/async")
    checks.equal("the asynchronous pair", (status, got["answer"]["path"], got["status"], got["context"]),
                 (200, "/api/list", 200, "kept"))
    BackEnd.status = 404
    status, got = ask("/client/key")
    checks.equal("error statuses go to error", (got["refused"], got["status"], got["answer"]["path"]),
                 (True, 404, "/api/list"))
    checks.equal("and of the pair", ask("/client/async")[1]["refused"], True)
    status, got = ask("/client/unwired")
    checks.equal("without error wired: an exception", (status, "MS1892" in json.dumps(got)), (500, True))
    BackEnd.status = 200
    closed = "http://127.0.0.1:1/api"
    checks.equal("nobody there: failure", server.send_json("POST", "/client/key", {}, {"X-Base": closed}),
                 (502, {"failed": True}))
    checks.equal("nobody there, of the pair", server.send_json("POST", "/client/async", {}, {"X-Base": closed}),
                 (502, {"failed": True}))


@checked("binary", "folder")
def refusals(checks, binary, work):
    def problems(name, change):
        folder = os.path.join(work, name)
        shutil.copytree(os.path.join(work, "work/run/StrictApi"), folder)
        change(folder)
        done = command(binary, "check", folder)
        return done.returncode, done.stdout + done.stderr

    def edit(file, old, new):
        def change(folder):
            path = os.path.join(folder, file)
            with open(path, encoding="utf-8") as source:
                text = source.read()
            assert old in text
            make_project.write(path, text.replace(old, new))
        return change

    checks.equal("nothing wrong", problems("fine", lambda folder: None)[0], 0)
    for name, change, code in [
            ("no-document", edit("restapi.descriptor", "strict.json", "gone.json"), "MS1897"),
            ("no-flow", edit("restapi.descriptor", "gen/StrictApi", "gen/Other"), "MS1896"),
            ("validation", edit("restapi.descriptor", '"INPUT"', '"SIDEWAYS"'), "MS1899"),
            ("syntax", edit("strict.json", '"swagger": "2.0",', '"swagger": "2.0"'), "strict.json:1:"),
            ("reference", edit("strict.json", "#/definitions/Item\"}}],", "#/definitions/Itm\"}}],"), "MS1122"),
            ("escape", edit("strict.json", '"#/definitions/Item"}}],', '"../../../etc/passwd"}}],'), "strict.json:9:"),
            ("escape-reason", edit("strict.json", '"#/definitions/Item"}}],', '"../../../etc/passwd"}}],'), "out of the project"),
            ("url", edit("strict.json", '"#/definitions/Item"}}],', '"http://a.example/x.json"}}],'), "nothing from a URL"),
            ("file", edit("strict.json", '"#/definitions/Item"}}],', '"gone.json"}}],'), "MS1122"),
            ("twice", edit("strict.json", '"getItem"', '"putItem"'), "MS1123")]:
        status, output = problems(name, change)
        checks.true(f"refused: {name}", status != 0 and code in output, output)
    status, output = problems("operation", edit("strict.json", '"slow"', '"sluggish"'))
    checks.true("a subflow without an operation is told", "warning: MS1898" in output, output)


@checked("binary", "folder")
def bar(checks, binary, work):
    """The same API as a BAR file."""
    folder = os.path.join(work, "work/run/EchoApi")
    app = os.path.join(work, "EchoApi.appzip")
    with zipfile.ZipFile(app, "w") as archive:
        for path, _, names in os.walk(folder):
            for name in names:
                file = os.path.join(path, name)
                # As BARs that were made on Windows.
                archive.write(file, os.path.relpath(file, folder).replace("/", "\\"))
    bar = os.path.join(work, "echo.bar")
    with zipfile.ZipFile(bar, "w") as archive:
        archive.write(app, "EchoApi.appzip")
    with Server(binary, bar) as server:
        status, echo = server.send_json("GET", "/echo/v1/plain/1")
        checks.equal("from a BAR", (status, echo["operation"]), (200, "plain"))
        checks.equal("its document", server.send("GET", "/echo/v1/echo.yaml")[0], 200)
        checks.true("it stops in order", server.stop() == 0)


def install_schemathesis():
    """Path of the program, or None."""
    folder = os.path.join(ROOT, "build/schemathesis")
    program = os.path.join(folder, "bin/schemathesis")
    if os.path.exists(program):
        return program
    try:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True, timeout=300)
        subprocess.run([os.path.join(folder, "bin/pip"), "install", "-q", "--disable-pip-version-check", SCHEMATHESIS],
                       check=True, capture_output=True, timeout=600)
    except (subprocess.SubprocessError, OSError) as problem:
        shutil.rmtree(folder, ignore_errors=True)
        print(f"schemathesis cannot be installed: {problem}")
        return None
    return program


@checked("binary", "folder")
def schemathesis(checks, binary, work):
    program = install_schemathesis()
    if not program:
        assert os.environ.get("CI") != "true", "schemathesis cannot be installed"
        raise Skipped("schemathesis cannot be installed")
    # Any credential will do for the second API. In XML a wrong type may look right: an empty list, an empty object, null
    # and no text are the same.
    for name, project, path, operations, more in [
            ("the example", os.path.join(ROOT, "examples/rest-api"), "/shop/v1", 200, []),
            ("an API of several files", os.path.join(work, "work/run/SplitApi"), "/split/v1", 100,
             ["--exclude-checks", "ignored_auth,negative_data_rejection", "-H", "Authorization: Basic dTpw", "--exclude-path", "/strange"])]:
        with Server(binary, project) as server:
            base = f"http://127.0.0.1:{server.port}{path}"
            done = subprocess.run(
                [program, "run", base + "/openapi.json", "--url", base, "--seed", SCHEMATHESIS_SEED, "--max-examples",
                 SCHEMATHESIS_EXAMPLES, "--no-color", "--workers", "1", *more],
                capture_output=True, text=True, cwd=work, timeout=SCHEMATHESIS_TIMEOUT_S, check=False)
            checks.true(f"schemathesis finds nothing in {name}", done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:])
            found = re.search(r"(\d+) generated", done.stdout)
            checks.true(f"and has looked at {name}", found and int(found.group(1)) > operations, done.stdout[-2000:])
            checks.true(f"{name} stops in order", server.stop() == 0)


if __name__ == "__main__":
    main(__doc__)
