"""End-to-end tests of the activity log."""
import csv
import io
import json

from support import FAST, FLOW, PARENT, Collector, eventually, test


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@test
def activity_log_has_the_columns_of_the_product(t):
    with t.server(t.app()) as s:
        s.post("/App")
        assert s.ask("POST", FLOW + "/start-activity-log")[1]["activityLog"] is True
        s.post("/App")
        status, log = s.ask("GET", FLOW + "/activity-log")
        entries = log["activityLogEntries"]
        assert [e["bipNumber"] for e in entries] == ["BIP11501I", "BIP11506I"], entries
        assert entries[0]["tags"] == {"RM": "HTTP", "MSGFLOW": "Hello", "NODE": "In", "NODETYPE": "HTTPInput"}, entries[0]
        assert "RM" not in entries[1]["tags"], entries[1]
        s.ask("POST", FLOW + "/stop-activity-log")
        s.post("/App")
    rows = rows_of(t.log("activityLog.csv"))
    assert list(rows[0]) == ["MessageNumber", "Severity", "Timestamp", "ThreadID", "FormattedMessage", "Inserts", "RM",
                             "MSGFLOW", "NODE", "NODETYPE", "TRACE_ID", "SPAN_ID", "TRACE_STATE", "TRACE_PARENT"], rows[0]
    assert [r["MessageNumber"] for r in rows] == ["BIP11501I", "BIP11506I"]
    t.conf("ResourceManagers: {ActivityLogManager: {activityLogEnabled: true, minSeverityLevel: ERROR}}\n")
    with t.server(t.app("THROW USER EXCEPTION MESSAGE 2951 VALUES('no');", name="Bad")) as s:
        s.post("/Bad")
        _, log = s.ask("GET", "/apiv2/applications/Bad/messageflows/Hello/activity-log")
        assert {e["severity"] for e in log["activityLogEntries"]} == {"ERROR"}, log
    # A file begins with each start.
    assert len(rows_of(t.log("activityLog.csv.1"))) == 2
    rows = rows_of(t.log("activityLog.csv"))
    assert [r["MessageNumber"] for r in rows][-1] == "BIP11507E" and rows[-1]["Severity"] == "ERROR", rows
    assert [r["RM"] for r in rows] == ["HTTP", "", ""], rows


@test
def outputs_of_the_activity_log_choose_what_they_write(t):
    t.conf("ActivityLog:\n"
           "  All: {fileName: all.csv}\n"
           "  Requests: {fileName: 'log/requests.csv', filter: 'RM=HTTP;NODE=Call', formatEntries: true}\n"
           "  Bad: {fileName: 'log/bad.csv', minSeverityLevel: WARN}\n"
           "  Off: {enabled: false, fileName: 'log/off.csv'}\n"
           "  Shown: {consoleLog: true, consoleLogFormat: ibmjson, filter: 'NODE=Call',\n"
           "          additionalJsonElements: '\"site\": \"A\"'}\n")
    with Collector() as back_end, t.server(t.calling_app(back_end.url + "/stock"),
                                           t.calling_app(back_end.url + "/broken", "Broken")) as s:
        assert s.post("/Caller")[0] == 200
        assert s.post("/Broken")[0] == 500
        # In memory nothing is kept unless somebody asks.
        assert s.ask("GET", "/apiv2/applications/Caller/messageflows/Hello/activity-log")[1] == {"activityLogEntries": []}
        shown = eventually(lambda: len(found := [x for x in s.lines if x.startswith("{")]) >= 4 and found, "lines")
    line = json.loads(shown[0])
    assert line["site"] == "A" and line["messageId"] == "MS1724I" and line["tags"]["RM"] == "HTTP", line
    rows = rows_of((t.folder / "wd/all.csv").read_text())
    assert [r["MessageNumber"] for r in rows][:4] == ["BIP11501I", "MS1724I", "MS1725I", "BIP11506I"], rows
    assert {r["FormattedMessage"] for r in rows} == {""} and rows[0]["Inserts"] == "In", rows[0]
    rows = rows_of(t.log("requests.csv"))
    assert [r["MessageNumber"] for r in rows] == ["MS1724I", "MS1725I", "MS1724I", "MS1725W", "BIP2230E"][:len(rows)]
    assert rows[3]["FormattedMessage"] == "The request of node 'Call' was answered with status 500.", rows[3]
    assert {r["RM"] for r in rows} == {"HTTP"} and {r["NODETYPE"] for r in rows} == {"HTTPRequest"}
    rows = rows_of(t.log("bad.csv"))
    assert rows[0]["MessageNumber"] == "MS1725W" and rows[-1]["MessageNumber"] == "BIP11507E", rows
    assert t.log("off.csv") == "" and t.log("activityLog.csv") == ""


@test
def policies_are_outputs_of_the_activity_log(t):
    policies = t.folder / "Pol"
    policies.mkdir()
    (policies / ".project").write_text(
        "<projectDescription><name>Pol</name><natures>"
        "<nature>com.ibm.etools.mft.policy.ui.Nature</nature></natures></projectDescription>")
    (policies / "policy.descriptor").write_text(
        '<ns2:policyProjectDescriptor xmlns="http://com.ibm.etools.mft.descriptor.base" '
        'xmlns:ns2="http://com.ibm.etools.mft.descriptor.policyProject"><references/></ns2:policyProjectDescriptor>')

    def write(properties):
        (policies / "Log.policyxml").write_text(
            '<?xml version="1.0" encoding="UTF-8"?><policies><policy policyType="ActivityLog" policyName="Log" '
            f'policyTemplate="ActivityLog">{properties}</policy></policies>')

    write("<enabled>true</enabled><fileName>log/mine.csv</fileName><filter>MSGFLOW=Hello;RM=HTTP</filter>"
          "<numberOfLogs>2</numberOfLogs><formatEntries>true</formatEntries>")
    app = t.app()
    with t.server(app, policies) as s:
        assert s.post("/App")[0] == 200
    rows = rows_of(t.log("mine.csv"))
    assert [r["FormattedMessage"] for r in rows] == ["Received data from input node 'In'."], rows
    write("<fileName>log/mine.csv</fileName><minSeverityLevel>loud</minSeverityLevel>")
    server = t.server(app, policies)
    assert server.process.wait(timeout=30) == 1
    eventually(lambda: "ActivityLog policy Log/minSeverityLevel" in "\n".join(server.errors), "an error")
    result = t.call("check", "--summary", policies, app)
    assert "policy of type ActivityLog" not in result.stdout, result.stdout


@test
def activity_carries_the_trace(t):
    with Collector() as collector:
        t.conf("ActivityLog: {A: {fileName: 'log/a.csv'}}\n")
        with t.server(t.calling_app(collector.url + "/stock"), "--otlp", collector.url, environment=FAST) as s:
            assert s.post("/Caller", headers={"traceparent": PARENT, "tracestate": "v=1"})[0] == 200
            spans = eventually(lambda: len(collector.spans()) >= 2 and collector.spans(), "two spans")
    rows = rows_of(t.log("a.csv"))
    assert {r["TRACE_ID"] for r in rows} == {PARENT[3:35]} and {r["TRACE_STATE"] for r in rows} == {"v=1"}
    by_kind = {x["kind"]: x["spanId"] for x in spans}
    assert rows[0]["SPAN_ID"] == by_kind[2] and rows[0]["TRACE_PARENT"] == f"00-{PARENT[3:35]}-{by_kind[2]}-01"


@test
def database_statements_are_activities(t):
    import sqlite3
    sqlite3.connect(t.folder / "shop.db").execute("CREATE TABLE item (id INTEGER PRIMARY KEY)").connection.close()
    t.conf("Millstream: {DataSources: {SHOP: 'Driver=SQLite3;Database=%s'}}\n"
           "ActivityLog: {Db: {fileName: 'log/db.csv', filter: 'RM=ODBC', formatEntries: true}}\n" % (t.folder / "shop.db"))
    with t.server(t.database_app()) as s:
        assert s.post("/App", "<a>1</a>")[0] == 200
        assert s.post("/App", "<a>1</a>")[0] == 500  # the key is there
    rows = rows_of(t.log("db.csv"))
    assert rows[0]["FormattedMessage"] == "Executed INSERT in data source 'SHOP'.", rows
    assert rows[0]["Inserts"] == "INSERT;SHOP;Do" and rows[1]["MessageNumber"].startswith("BIP23"), rows
    assert len(rows) == 2, rows
