#!/usr/bin/env python3
"""End-to-end tests of flows and of the process around them: error paths, Trace files, instances, SHARED variables,
precedence of values, limits, start-up errors and stopping. Part of tests/http/run.py.
"""
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common")]
from harness import Server, case_of, eventually, main  # noqa: E402
from make_project import COPY_HEADERS, HEAD, Project, module  # noqa: E402
from wire import Reply, call, exchange, simple_flow  # noqa: E402

# Sanitizers make everything slower; upper bounds on times are for plain binaries.
IS_SLOW = bool(os.environ.get("MS_SLOW_BINARY"))


INPUT = {"messageDomainProperty": "XMLNSC"}
EXPLAIN = COPY_HEADERS + """
    DECLARE e REFERENCE TO InputExceptionList.*[1];
    DECLARE chain CHARACTER '';
    WHILE LASTMOVE(e) DO
      IF e.Number IS NOT NULL THEN
        SET chain = chain || ' ' || CAST(e.Number AS CHARACTER) || '@' || e.Label;
      END IF;
      MOVE e LASTCHILD;
    END WHILE;
    SET OutputRoot.XMLNSC.r.chain = TRIM(chain);
    SET OutputRoot.XMLNSC.r.custom = InputRoot.HTTPInputHeader."X-Custom";
    SET OutputRoot.XMLNSC.r.domain = FIELDNAME(InputRoot.*[<]);
    RETURN TRUE;"""


def compute(key, label, name, **more):
    return (key, "ComIbmCompute", label, {"computeExpression": f"esql://routine/#{name}.Main", **more})


def http_input(url, **more):
    return ("in", "ComIbmWSInput", "HTTP Input", {"URLSpecifier": url, **INPUT, **more})


REPLY = ("r", "ComIbmWSReply", "HTTP Reply", {})


def declare_udps(project, name, values):
    """User-defined properties of a flow with their defaults."""
    path = project.folder / f"{name}.msgflow"
    text = path.read_text()
    features = "".join(f'<eStructuralFeatures xmi:type="ecore:EAttribute" xmi:id="Property.{k}" name="{k}" '
                       f'defaultValueLiteral="{v}"/>' for k, v in values.items())
    organizer = "<propertyOrganizer>" + "".join(
        f'<propertyDescriptor groupName="Group.Basic" configurable="true" userDefined="true" '
        f'describedAttribute="Property.{k}"/>' for k in values) + "</propertyOrganizer>"
    path.write_text(text.replace("<composition>", features + "<composition>", 1)
                    .replace("</eClassifiers>", organizer + "</eClassifiers>", 1))


def make_flows(folder):
    p = Project(folder, "Flows")
    p.esql("Common", module("Explain", EXPLAIN) + module("Divide", COPY_HEADERS + """
    DECLARE n INTEGER CAST(InputRoot.XMLNSC.a.n AS INTEGER);
    SET OutputRoot.XMLNSC.q = 100 / n;
    RETURN TRUE;"""))
    explain = compute("e", "Explain", "Explain")
    throw = ("t", "ComIbmThrow", "Throw", {"messageText": "again", "messageNumber": "3005"})
    p.flow("CatchFails", [http_input("/catchfails"), compute("c", "Divide", "Divide"), throw, explain, REPLY],
           ["in.out -> c.in", "c.out -> r.in", "in.catch -> t.in", "in.failure -> e.in", "e.out -> r.in"])
    p.flow("FailureFails", [http_input("/failurefails"), compute("c", "Divide", "Divide"), throw, REPLY],
           ["in.out -> c.in", "c.out -> r.in", "in.failure -> t.in"])
    p.flow("OwnFailure", [http_input("/ownfailure"), compute("c", "Divide", "Divide"), throw, explain, REPLY],
           ["in.out -> c.in", "c.out -> r.in", "c.failure -> t.in", "in.catch -> e.in", "e.out -> r.in"])
    p.flow("Nested", [http_input("/nested"), ("o", "ComIbmTryCatch", "Outer", {}), ("i", "ComIbmTryCatch", "Inner", {}),
                      compute("c", "Divide", "Divide"), throw, explain, REPLY],
           ["in.out -> o.in", "o.try -> i.in", "i.try -> c.in", "c.out -> r.in", "i.catch -> t.in", "o.catch -> e.in",
            "e.out -> r.in"])
    p.flow("BadBody", [http_input("/badbody", validateTiming="immediate"), explain, REPLY],
           ["in.out -> r.in", "in.failure -> e.in", "e.out -> r.in"])
    for name, path in (("TraceDrive", "C:\\logs\\flow\\t.txt"), ("TraceOut", "/proc/self/fd/1")):
        p.flow(name, [http_input("/" + name.lower()),
                      ("t", "ComIbmTrace", "Trace", {"destination": "file", "filePath": path,
                                                     "pattern": name + " n=${Root.XMLNSC.a.n} ${1 + 2} {}${Root.XMLNSC}|\n"}),
                      REPLY], ["in.out -> t.in", "t.out -> r.in"])
    slow = COPY_HEADERS + "    SET Environment.s = SLEEP(250);\n    SET OutputRoot.XMLNSC.done = InputRoot.XMLNSC.a;\n    RETURN TRUE;"
    simple_flow(p, "Single", "/single", slow)
    simple_flow(p, "Open", "/open", slow)
    p.esql("Counters", "DECLARE total SHARED INTEGER 0;\nDECLARE plain SHARED INTEGER 0;\n" + module("Counted", COPY_HEADERS + """
    BEGIN ATOMIC
      DECLARE n INTEGER total;
      SET Environment.s = SLEEP(1);
      SET total = n + 1;
      SET OutputRoot.XMLNSC.n = total;
    END;
    RETURN TRUE;""") + module("OneByOne", COPY_HEADERS + """
    DECLARE n INTEGER plain;
    SET Environment.s = SLEEP(1);
    SET plain = n + 1;
    SET OutputRoot.XMLNSC.n = plain;
    RETURN TRUE;"""))
    for name, url in (("Counted", "/counted"), ("OneByOne", "/onebyone")):
        p.flow(name, [http_input(url), compute("c", "Count", name), REPLY], ["in.out -> c.in", "c.out -> r.in"])
    simple_flow(p, "Echo", "/echo", COPY_HEADERS + "    SET OutputRoot.XMLNSC = InputRoot.XMLNSC;\n    RETURN TRUE;")
    return p


def parallel(count, action):
    results = [None] * count

    def run(i):
        results[i] = action(i)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results


def chain(reply):
    found = re.search(r"<chain>(.*?)</chain>", reply.text)
    return found.group(1) if found else reply.text


@contextmanager
def flows(binary, folder):
    project = make_flows(folder)
    work = folder / "work"
    work.mkdir()
    (work / "server.conf.yaml").write_text("serverName: T\n")
    overrides = folder / "overrides.txt"
    overrides.write_text("Single#additionalInstances=0\nCounted#additionalInstances=7\n")
    with Server(binary, project.folder, "--work-dir", work, "--overrides", overrides) as server:
        yield SimpleNamespace(server=server, port=server.port, binary=binary, folder=folder, work=work)
        assert server.process.poll() is None, "the server died:\n" + "\n".join(server.errors[-20:])


@case_of(flows)
def a_failing_catch_path_goes_to_failure(t):
    assert chain(call(t.port, "/catchfails", "<a><n>0</n></a>")) == \
        "2230@CatchFails.HTTP Input 3005@CatchFails.Throw"
    assert call(t.port, "/catchfails", "<a><n>4</n></a>").text == "<q>25</q>"


@case_of(flows)
def a_failing_failure_path_is_the_clients_fault_reply(t):
    reply = call(t.port, "/failurefails", "<a><n>0</n></a>")
    assert reply.status == 500 and "BIP3005" in reply.text and "again" in reply.text, reply.text


@case_of(flows)
def an_exception_in_a_nodes_failure_path_goes_up_to_catch(t):
    assert chain(call(t.port, "/ownfailure", "<a><n>0</n></a>")) == "2230@OwnFailure.HTTP Input 3005@OwnFailure.Throw"


@case_of(flows)
def try_catch_nests(t):
    assert chain(call(t.port, "/nested", "<a><n>0</n></a>")) == "2230@Nested.Outer 3005@Nested.Throw"
    assert call(t.port, "/nested", "<a><n>50</n></a>").text == "<q>2</q>"


@case_of(flows)
def a_body_that_cannot_be_parsed_goes_to_failure_with_its_headers(t):
    reply = call(t.port, "/badbody", "<a><b></a>", headers=[("X-Custom", "seen")])
    assert reply.status == 200 and "<custom>seen</custom><domain>BLOB</domain>" in reply.text, reply.text
    assert re.match(r"2230@BadBody.HTTP Input 5009|2230@BadBody.HTTP Input .*500[0-9]", chain(reply)), reply.text
    assert call(t.port, "/badbody", "<a/>").text == "<a/>"


@case_of(flows)
def trace_writes_its_pattern(t):
    for n in (1, 2):
        assert call(t.port, "/tracedrive", f"<a><n>{n}</n></a>").status == 200
    text = (t.work / "drives/c/logs/flow/t.txt").read_text()
    assert re.search(r"TraceDrive n=\S*1\S* 3 \{\}", text) and re.search(r"TraceDrive n=\S*2", text), text
    assert "(0x01000000:Folder):a" in text and "(0x03000000:PCDataField):n = '1' (CHARACTER)" in text, text
    call(t.port, "/traceout", "<a><n>7</n></a>")
    for _ in range(200):
        if any("TraceOut n=" in line for line in t.server.lines):
            break
        time.sleep(0.02)
    assert any("TraceOut n=" in line for line in t.server.lines), t.server.lines[-3:]


@case_of(flows)
def trace_to_the_standard_output_overwrites_nothing(t):
    """As `millstream run ... > file`: the stream has one position, for the server's lines and those of Trace nodes."""
    out = t.folder / "stdout.txt"
    with open(out, "wb") as stream:
        process = subprocess.Popen([t.binary, "run", str(t.folder / "Flows"), "--host", "127.0.0.1", "--http-port", "0"],
                                   stdout=stream, stderr=subprocess.DEVNULL)
    try:
        found = None
        for _ in range(1000):
            found = re.search(r"on port (\d+)", out.read_text())
            if found or process.poll() is not None:
                break
            time.sleep(0.02)
        assert found, "the server did not start"
        before = out.read_text()
        for n in (1, 2):
            assert call(int(found.group(1)), "/traceout", f"<a><n>{n}</n></a>").status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    text = out.read_text()
    assert text.startswith(before) and "\0" not in text, text
    assert len(re.findall(r"^TraceOut n=", text, re.M)) == 2, text


@case_of(flows)
def one_instance_takes_messages_in_turn(t):
    order, lock = [], threading.Lock()

    def send(i):
        time.sleep(i * 0.05)
        reply = call(t.port, "/single", f"<a>{i}</a>")
        with lock:
            order.append(re.search(r"<done>(\d)</done>", reply.text).group(1))
    start = time.monotonic()
    parallel(4, send)
    assert order == ["0", "1", "2", "3"], order
    assert time.monotonic() - start > 0.99
    start = time.monotonic()
    parallel(8, lambda i: call(t.port, "/open", "<a/>"))
    assert IS_SLOW or time.monotonic() - start < 1.5, time.monotonic() - start


@case_of(flows)
def shared_counters_are_exact(t):
    parallel(8, lambda i: [call(t.port, "/counted", "<a/>") for _ in range(20)])
    assert call(t.port, "/counted", "<a/>").text == "<n>161</n>"
    # Not ATOMIC, but without additionalInstances a flow with SHARED variables has one instance.
    parallel(8, lambda i: [call(t.port, "/onebyone", "<a/>") for _ in range(10)])
    assert call(t.port, "/onebyone", "<a/>").text == "<n>81</n>"


@case_of(flows)
def curl_in_its_own_ways(t):
    body = b"<a>" + b"x" * 2_000_000 + b"</a>"
    url = f"http://127.0.0.1:{t.port}/echo"

    def curl(*options):
        return subprocess.run(["curl", "-sS", "--max-time", "30", *options, "--data-binary", "@-", url], input=body,
                              capture_output=True, check=True).stdout
    assert curl("-H", "Expect: 100-continue") == body
    assert curl("-H", "Transfer-Encoding: chunked") == body
    assert curl("--http1.0") == body
    assert b"HTTP/1.0 200" in curl("--http1.0", "-i")[:20] or b"HTTP/1.1 200" in curl("--http1.0", "-i")[:20]


@case_of(flows)
def a_client_that_sends_slowly_is_served(t):
    data = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\nConnection: close\r\n\r\n<a>1</a>"
    with socket.create_connection(("127.0.0.1", t.port), timeout=20) as s:
        for at in range(0, len(data), 3):
            s.sendall(data[at:at + 3])
            time.sleep(0.005)
        got = b""
        while more := s.recv(4096):
            got += more
    assert Reply(got).text == "<a>1</a>", got


def run_to_end(binary, *arguments, timeout=60):
    return subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, check=False)


def echo_project(folder, name, url, flow="Echo"):
    p = Project(folder, name)
    p.flow(flow, [http_input(url), REPLY], ["in.out -> r.in"])
    return p


@case_of(flows)
def two_flows_with_one_url_are_refused_by_name(t):
    p = echo_project(t.folder / "twice", "Twice", "/same", "First")
    p.flow("Second", [http_input("/same"), REPLY], ["in.out -> r.in"])
    done = run_to_end(t.binary, "run", p.folder, "--http-port", 0)
    assert done.returncode == 1, done
    assert "/same" in done.stderr and "'First'" in done.stderr and "'Second'" in done.stderr, done.stderr
    done = run_to_end(t.binary, "check", p.folder)
    assert done.returncode == 1 and "/same" in done.stdout + done.stderr, done


@case_of(flows)
def partial_starts_what_can(t):
    folder = t.folder / "partial"
    echo_project(folder, "Good", "/good")
    bad = Project(folder, "Bad")
    bad.flow("Broken", [http_input("/bad"), compute("c", "C", "Missing"), REPLY], ["in.out -> c.in", "c.out -> r.in"])
    done = run_to_end(t.binary, "run", folder, "--http-port", 0)
    assert done.returncode == 1 and "Bad" in done.stderr and "Missing" in done.stderr, done.stderr
    with Server(t.binary, folder, "--partial") as server:
        assert call(server.port, "/good", "<a/>").text == "<a/>"
        assert call(server.port, "/bad", "<a/>").status == 404
        eventually(lambda: any("Bad" in line for line in server.errors), "what is wrong")


@case_of(flows)
def a_port_in_use_is_said(t):
    done = run_to_end(t.binary, "run", echo_project(t.folder / "port", "Port", "/p").folder, "--host", "127.0.0.1",
                      "--http-port", t.port)
    assert done.returncode == 1 and "MS2000" in done.stderr and str(t.port) in done.stderr, done.stderr


@case_of(flows)
def check_has_an_exit_code_and_places(t):
    good = echo_project(t.folder / "check", "Good", "/x")
    assert run_to_end(t.binary, "check", good.folder).returncode == 0
    bad = Project(t.folder / "check", "Bad")
    bad.flow("F", [http_input("/y"), compute("c", "C", "M"), REPLY], ["in.out -> c.in", "c.out -> r.in"])
    bad.esql("F", module("M", "    SET OutputRoot.XMLNSC.a = ;\n    RETURN TRUE;"))
    done = run_to_end(t.binary, "check", bad.folder)
    assert done.returncode == 1, done
    assert re.search(r"F\.esql:4:\d+: error: ", done.stdout + done.stderr), done


@case_of(flows)
def limits_answer_413_and_503(t):
    p = Project(t.folder / "limits", "Limits")
    simple_flow(p, "Slow", "/slow", COPY_HEADERS + "    SET Environment.s = SLEEP(600);\n"
                "    SET OutputRoot.XMLNSC.done = 1;\n    RETURN TRUE;")
    with Server(t.binary, p.folder, "--max-body", 1, "--max-in-flight", 2) as server:
        data = b"POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\nConnection: close\r\n\r\n"
        assert b" 413 " in exchange(server.port, data).split(b"\r\n")[0]
        statuses = [r.status for r in parallel(4, lambda i: call(server.port, "/slow", "<a/>"))]
        assert sorted(statuses) == [200, 200, 503, 503], statuses
        assert call(server.port, "/slow", "<a/>").status == 200


def make_bar(path, project, overrides):
    """A BAR with the project as a deployed application, and override values."""
    inner = path.with_suffix(".appzip")
    with zipfile.ZipFile(inner, "w") as z:
        for file in project.folder.iterdir():
            z.write(file, file.name)
    rows = "".join(f'<ConfigurableProperty uri="{uri}" override="{value}"/>' for uri, value in overrides.items())
    with zipfile.ZipFile(inner, "a") as z:
        z.writestr("META-INF/broker.xml", HEAD + f"<Broker><CompiledMessageFlow name=\"Values\">{rows}"
                   "</CompiledMessageFlow></Broker>")
    with zipfile.ZipFile(path, "w") as z:
        z.write(inner, project.name + ".appzip")
        z.writestr("META-INF/broker.xml", HEAD + "<Broker/>")


@case_of(flows)
def values_come_from_where_the_precedence_says(t):
    folder = t.folder / "values"
    p = Project(folder, "Values")
    names = ["barred", "flowed", "varied", "initial"]
    p.flow("Values", [http_input("/values"), compute("c", "Compute", "Values"), REPLY], ["in.out -> c.in", "c.out -> r.in"])
    p.esql("Values", "".join(f"DECLARE {n} EXTERNAL CHARACTER 'initialiser';\n" for n in names) + module(
        "Values", COPY_HEADERS + "".join(f"    SET OutputRoot.XMLNSC.v.{n} = {n};\n" for n in names) + "    RETURN TRUE;"))
    declare_udps(p, "Values", {"barred": "default", "flowed": "default"})
    make_bar(folder / "Values.bar", p, {"Values#barred": "bar", "Values#HTTP Input.URLSpecifier": "/bar"})
    work = folder / "work"
    work.mkdir()
    (work / "server.conf.yaml").write_text("serverName: S1\nUserVariables:\n  barred: variable\n  flowed: variable\n"
                                           "  varied: variable\n")
    wanted = "<v><barred>bar</barred><flowed>default</flowed><varied>variable</varied><initial>initialiser</initial></v>"
    with Server(t.binary, folder / "Values.bar", "--work-dir", work) as server:
        assert call(server.port, "/bar", "<a/>").text == wanted, call(server.port, "/bar", "<a/>").text
        assert call(server.port, "/values", "<a/>").status == 404
    # An overrides file wins over the BAR; what it names in vain is warned about.
    (folder / "o.txt").write_text("Values#HTTP Input.URLSpecifier=/file\nValues#No Such.thing=1\n")
    with Server(t.binary, folder / "Values.bar", "--work-dir", work, "--overrides", folder / "o.txt") as server:
        assert call(server.port, "/file", "<a/>").text == wanted
        assert call(server.port, "/bar", "<a/>").status == 404
        eventually(lambda: any("o.txt:2" in line and "No Such" in line for line in server.errors), "the warning")


@case_of(flows)
def the_golden_user_variables_come_from_the_work_directory(t):
    project = Path(__file__).resolve().parent.parent / "golden" / "user-variables"
    work = t.folder / "variables"
    work.mkdir()
    (work / "server.conf.yaml").write_text("UserVariables:\n  region: north\n")
    (work / "overrides").mkdir()
    (work / "overrides" / "server.conf.yaml").write_text("UserVariables:\n  warehouse: W7\n")
    with Server(t.binary, project, "--work-dir", work) as server:
        reply = call(server.port, "/golden/settings", method="GET")
        assert reply.text == '{"region":"north","warehouse":"W7"}', reply.text
        deadline = time.monotonic() + 20  # the first message comes as the flow starts
        while not any("Region: north" in line for line in server.errors) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert any("Region: north" in line for line in server.errors), server.errors


@case_of(flows)
def stopping_refuses_new_requests_and_finishes_old_ones(t):
    p = Project(t.folder / "stop", "Stop")
    simple_flow(p, "Slow", "/slow", COPY_HEADERS + "    SET Environment.s = SLEEP(1500);\n"
                "    SET OutputRoot.XMLNSC.done = 1;\n    RETURN TRUE;")
    p.flow("Echo", [http_input("/echo"), REPLY], ["in.out -> r.in"])
    request = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n<a/>"
    with Server(t.binary, p.folder) as server:
        kept = socket.create_connection(("127.0.0.1", server.port), timeout=20)
        kept.sendall(request)
        assert b" 200 " in kept.recv(4096)
        results = []
        thread = threading.Thread(target=lambda: results.append(call(server.port, "/slow", "<a/>")))
        thread.start()
        time.sleep(0.3)
        server.process.send_signal(signal.SIGTERM)
        refused = False
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", server.port), timeout=1).close()
            except OSError:
                refused = True
                break
            time.sleep(0.01)
        assert refused
        got = b""
        try:
            kept.sendall(request)
            while more := kept.recv(4096):
                got += more
        except ConnectionError:
            pass
        kept.close()
        # An idle connection may be closed at once; one that is open says 503 and closes.
        assert not got or (b" 503 " in got.split(b"\r\n")[0] and b"connection: close" in got.lower()), got
        thread.join(20)
        assert results and results[0].status == 200 and results[0].text == "<done>1</done>", results
        assert server.process.wait(20) == 0
        assert not any("BIP3113" in line for line in server.errors), server.errors


@case_of(flows)
def a_killed_server_leaves_its_port_free(t):
    p = echo_project(t.folder / "kill", "Kill", "/k")
    server = Server(t.binary, p.folder)
    port = server.port
    assert call(port, "/k", "<a/>").status == 200
    server.stop(signal.SIGKILL)
    again = subprocess.Popen([t.binary, "run", str(p.folder), "--host", "127.0.0.1", "--http-port", str(port)],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert any("on port" in line for line in iter(again.stdout.readline, "")), "it did not start again"
        assert call(port, "/k", "<a/>").status == 200
    finally:
        again.terminate()
        again.wait(20)


if __name__ == "__main__":
    main(__doc__)
