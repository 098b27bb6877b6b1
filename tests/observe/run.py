#!/usr/bin/env python3
"""End-to-end tests of what can be seen of a running server: metrics, statistics, spans, traces."""
import csv
import io
import json
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import (  # noqa: E402
    FLOW, Collector, Project, Skipped, eventually, main, module, parse_exposition, test)

# ---------------------------------------------------------------- metrics


@test
def metrics_are_valid_and_count_messages(t):
    with t.server(t.app()) as s:
        for _ in range(5):
            assert s.post("/App", "<a>12345</a>")[0] == 200
        samples = parse_exposition(s.metrics())
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
        raise Skipped("python3-prometheus-client is not installed") from None
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
def names_with_any_letter_are_labels(t):
    """Quotes, backslashes, line ends and letters beyond ASCII come back from an independent parser."""
    name = 'We"ird \\ Łódź'
    label = 'Do "this"\\n\nthen {that="x"} ✓'
    project = Project(t.folder, "App")
    project.flow("Plain", [("in", "ComIbmWSInput", "In", {"URLSpecifier": "/App", "messageDomainProperty": "XMLNSC"}),
                           ("do", "ComIbmCompute", label, {"computeExpression": "esql://routine/#M.Main"}),
                           ("reply", "ComIbmWSReply", "Reply", {})], ["in.out -> do.in", "do.out -> reply.in"])
    (t.folder / "App/Plain.msgflow").rename(t.folder / f"App/{name}.msgflow")
    project.esql("Code", module("M", "SET OutputRoot = InputRoot; RETURN TRUE;"))
    with t.server(t.folder / "App") as s:
        assert s.post("/App")[0] == 200
        text = s.metrics()
    parse_exposition(text)
    try:
        from prometheus_client.parser import text_string_to_metric_families
    except ImportError:
        raise Skipped("python3-prometheus-client is not installed") from None
    families = {f.name: f for f in text_string_to_metric_families(text)}
    sample = families["millstream_flow_messages"].samples[0]
    assert sample.labels == {"application": "App", "flow": name} and sample.value == 1, sample
    nodes = {x.labels["node"]: x for x in families["millstream_node_invocations"].samples}
    assert label in nodes and nodes[label].labels["flow"] == name, list(nodes)


@test
def metrics_follow_the_conventions(t):
    """What `promtool check metrics` looks at: help, units, suffixes, histograms."""
    with Collector() as back_end, t.server(t.app(), t.calling_app(back_end.url + "/x"), "--otlp", back_end.url) as s:
        s.post("/App")
        s.post("/Caller")
        text = s.metrics()
    samples = parse_exposition(text)
    types = dict(line.split(" ")[2:] for line in text.splitlines() if line.startswith("# TYPE "))
    helps = dict(line.split(" ", 3)[2:] for line in text.splitlines() if line.startswith("# HELP "))
    foreign_units = ("milliseconds", "_ms", "_us", "minutes", "hours", "kilobytes", "_mb", "_kb", "percent")
    for name, kind in types.items():
        assert re.fullmatch(r"(millstream|process)_[a-z0-9_]+", name), name
        assert helps[name].strip() and helps[name].endswith("."), name
        assert not any(name.removesuffix("_total").endswith(unit) for unit in foreign_units), name
        assert not re.search("_(counter|gauge|histogram)(_|$)", name), name
        assert (kind == "counter") == name.endswith("_total"), f"{name} is a {kind}"
        if kind != "counter":
            assert not name.endswith(("_count", "_sum", "_bucket")), name
    histograms = [name for name, kind in types.items() if kind == "histogram"]
    assert {"millstream_flow_duration_seconds", "millstream_http_client_duration_seconds"} <= set(histograms)
    for name in histograms:
        assert name.endswith("_seconds")
        series = {}
        for (sample, labels), value in samples.items():
            if sample == name + "_bucket":
                bound = float(re.search(r'le="([^"]+)"', labels).group(1))
                series.setdefault(re.sub(r',?le="[^"]+"', "", labels), []).append((bound, value))
        for labels, buckets in series.items():
            assert [b for b, _ in buckets] == sorted({b for b, _ in buckets}), buckets
            assert [v for _, v in buckets] == sorted(v for _, v in buckets), buckets
            assert buckets[-1][0] == float("inf")
            key = "" if labels == "{}" else labels
            assert samples[name + "_count", key] == buckets[-1][1] and samples[name + "_sum", key] >= 0


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
        result = t.call("stats", "--url", s.url)
        assert result.returncode == 0, result
        assert re.search(r"App/Hello +3 +0 +0 +\S+", result.stdout), result.stdout
        result = t.call("stats", "Hello", "--url", s.url)
        assert re.search(r"Do +ComputeNode +3 .*out 3", result.stdout), result.stdout
        result = t.call("stats", "--json", "--url", s.url)
        assert json.loads(result.stdout)["flows"][0]["record"]["MessageFlow"]["TotalInputMessages"] == 3
        result = t.call("stats", "Nope", "--url", s.url)
        assert result.returncode == 1 and "MS1718" in result.stderr, result
    result = t.call("stats", "--url", s.url)
    assert result.returncode == 1 and "No server answers" in result.stderr, result


# ---------------------------------------------------------------- user trace


@test
def user_trace_is_switched_while_messages_run(t):
    app = t.app("DECLARE I INTEGER 1;\nSET I = I + 1;\nSET OutputRoot = InputRoot;\n"
                "LOG USER TRACE VALUES('noted');\nRETURN TRUE;")
    with t.server(app) as s:
        assert s.post("/App")[0] == 200
        assert t.log("userTrace.App.Hello.txt") == ""
        result = t.call("trace", "--user-trace", "Hello", "on", "--url", s.url)
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
        assert t.call("trace", "--user-trace", "App/Hello", "off", "--url", s.url).returncode == 0
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


# ---------------------------------------------------------------- traces of messages


@test
def trace_prints_the_tree_at_each_node(t):
    with t.server(t.app("SET OutputRoot = InputRoot; SET OutputRoot.XMLNSC.a.more = 'new'; RETURN TRUE;")) as s:
        process = subprocess.Popen([t.binary, "trace", "Hello", "--count", "2", "--esql", "--url", s.url],
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


if __name__ == "__main__":
    import activity  # noqa: F401
    import spans  # noqa: F401
    main(__doc__)
