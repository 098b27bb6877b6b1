#!/usr/bin/env python3
"""IBM MQ's REST API on the admin port, from outside: every header, parameter and status code, all
three versions, who may do what, and what hostile clients send.

    tests/queue/rest.py [--binary PATH] [--filter TEXT]

The last line is "N passed, N failed"; exit status 1 when something failed.
"""
import base64
import http.client
import json
import os
import re
import select
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from harness import Server, case, eventually, main, run

ROOT = "/ibmmq/rest/v"
TEXT = {"Content-Type": "text/plain;charset=utf-8"}
JSON = {"Content-Type": "application/json"}
CSRF = {"ibm-mq-rest-csrf-token": ""}
CSRF_FIELDS = [f"{name}: {value}" for name, value in CSRF.items()]
PASSWORD = "correct horse battery"


class Reply(NamedTuple):
    status: int
    headers: list
    body: bytes

    def get(self, name):
        """The only value of a header, or None."""
        values = self.all(name)
        assert len(values) <= 1, values
        return values[0] if values else None

    def all(self, name):
        return [v for n, v in self.headers if n.lower() == name.lower()]

    @property
    def text(self):
        return self.body.decode()

    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        errors = self.json()["error"]
        assert len(errors) == 1, errors
        error = errors[0]
        assert error["msgId"] == error["messageId"] and re.fullmatch(r"(MQWB|MS)\d{4}E", error["msgId"]), error
        assert error["message"].startswith(error["msgId"] + ": "), error
        assert error["explanation"] and error["action"] and error["type"] in ("rest", "messaging"), error
        return error


class Mq(Server):
    """A server with the queue manager QM1, and what a client of its REST API does."""

    def __init__(self, binary, folder, *arguments, dev=True):
        mode = ["--dev"] if dev else []
        super().__init__(binary, "--work-dir", folder / "work", "--qmgr", "QM1", "--buffered", *mode, *arguments)
        self.credentials = None

    def call(self, method, path, body=None, headers=None, version=3, user=None, csrf=True):
        """`headers`: a dictionary, or pairs when one comes several times."""
        connection = http.client.HTTPConnection("127.0.0.1", self.admin_port, timeout=60)
        try:
            url = path if path.startswith("/ibmmq") else f"{ROOT}{version}{path}"
            connection.putrequest(method, url, skip_accept_encoding=True)
            pairs = list(headers.items() if isinstance(headers, dict) else headers or [])
            if csrf and method not in ("GET", "HEAD"):
                pairs += CSRF.items()
            user = user or self.credentials
            if user:
                pairs.append(("Authorization", basic(*user)))
            if isinstance(body, str):
                body = body.encode()
            if body is not None:
                pairs.append(("Content-Length", str(len(body))))
            for name, value in pairs:
                connection.putheader(name, value)
            connection.endheaders(body)
            reply = connection.getresponse()
            return Reply(reply.status, reply.getheaders(), reply.read())
        finally:
            connection.close()

    def put(self, queue, body="x", headers=None, version=3, qmgr="QM1", **more):
        pairs = list(headers.items() if isinstance(headers, dict) else headers or [])
        if not any(name.lower() == "content-type" for name, _ in pairs):
            pairs += TEXT.items()
        return self.call("POST", f"/messaging/qmgr/{qmgr}/queue/{queue}/message", body, pairs, version, **more)

    def get(self, queue, query="", version=3, qmgr="QM1", **more):
        return self.call("DELETE", f"/messaging/qmgr/{qmgr}/queue/{queue}/message{query}", version=version, **more)

    def browse(self, queue, query="", version=3, qmgr="QM1", **more):
        return self.call("GET", f"/messaging/qmgr/{qmgr}/queue/{queue}/message{query}", version=version, **more)

    def list(self, queue, query="", version=3, **more):
        return self.call("GET", f"/messaging/qmgr/QM1/queue/{queue}/messagelist{query}", version=version, **more)

    def mqsc(self, command, version=3, **more):
        """The lines that a command as text answers."""
        body = {"type": "runCommand", "parameters": {"command": command}}
        reply = self.call("POST", "/admin/action/qmgr/QM1/mqsc", json.dumps(body), JSON, version, **more)
        assert reply.status == 200, reply
        answer = reply.json()
        lines = [line for item in answer["commandResponse"] for line in item["text"]]
        assert answer["overallCompletionCode"] == 0, answer
        return lines

    def json_command(self, version=3, **body):
        body = {"type": "runCommandJSON", **body}
        return self.call("POST", "/admin/action/qmgr/QM1/mqsc", json.dumps(body), JSON, version)

    def inputs(self, queue):
        answer = self.json_command(command="display", qualifier="qstatus", name=queue).json()
        return answer["commandResponse"][0]["parameters"]["ipprocs"]

    def depth(self, queue):
        answer = self.json_command(command="display", qualifier="qlocal", name=queue, responseParameters=["curdepth"]).json()
        return answer["commandResponse"][0]["parameters"]["curdepth"]


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def expect(reply, status, identifier, reason=None):
    assert reply.status == status, reply
    assert reply.error["msgId"] == identifier, reply
    assert reply.error.get("reasonCode") == reason, reply
    return reply.error


@case
def puts_gets_and_browses_in_every_version(binary, folder):
    with Mq(binary, folder) as mq:
        for version in (1, 2, 3):
            put = mq.put("DEV.QUEUE.1", f"Grüße {version}", version=version)
            assert put.status == 201 and put.body == b"", put
            identifier = put.get("ibm-mq-md-messageId")
            assert re.fullmatch(("ID:" if version == 3 else "") + "[0-9a-f]{48}", identifier), put
            for _ in range(2):
                seen = mq.browse("DEV.QUEUE.1", version=version)
                assert (seen.status, seen.text) == (200, f"Grüße {version}"), seen
            got = mq.get("DEV.QUEUE.1", version=version)
            assert (got.status, got.text) == (200, f"Grüße {version}"), got
            for reply in (seen, got):
                assert reply.get("ibm-mq-md-messageId") == identifier
                assert reply.get("Content-Type").replace(" ", "") == "text/plain;charset=utf-8"
                assert reply.get("ibm-mq-md-expiry") == "unlimited"
                assert reply.get("ibm-mq-md-persistence") == "nonPersistent"
                assert reply.get("ibm-mq-md-correlationId") is None
                assert reply.get("ibm-mq-md-replyTo") is None
                assert reply.get("ibm-mq-md-priority") == ("0" if version == 3 else None)
            for reply in (mq.get("DEV.QUEUE.1", version=version), mq.browse("DEV.QUEUE.1", version=version)):
                assert (reply.status, reply.body) == (204, b""), reply


@case
def carries_every_header(binary, folder):
    with Mq(binary, folder) as mq:
        digits = "0123456789abcdef" * 3
        headers = {"ibm-mq-md-correlationId": digits, "ibm-mq-md-expiry": "60000",
                   "ibm-mq-md-persistence": "persistent", "ibm-mq-md-replyTo": "REPLIES"}
        for version in (1, 2):
            assert mq.put("DEV.QUEUE.1", "m", headers, version).status == 201
            got = mq.get("DEV.QUEUE.1", version=version)
            assert got.get("ibm-mq-md-correlationId") == digits, got
            assert 50_000 < int(got.get("ibm-mq-md-expiry")) <= 60_000, got
            assert got.get("ibm-mq-md-persistence") == "persistent", got
            assert got.get("ibm-mq-md-replyTo") == "REPLIES@QM1", got
        headers |= {"ibm-mq-md-correlationId": "ID:" + digits.upper(), "ibm-mq-md-expiry": "unlimited",
                    "ibm-mq-md-replyTo": "REPLIES@OTHER", "ibm-mq-md-priority": "7"}
        assert mq.put("DEV.QUEUE.1", "m", headers).status == 201
        got = mq.get("DEV.QUEUE.1")
        assert got.get("ibm-mq-md-correlationId") == "ID:" + digits, got
        assert got.get("ibm-mq-md-expiry") == "unlimited", got
        assert got.get("ibm-mq-md-replyTo") == "REPLIES@OTHER", got
        assert got.get("ibm-mq-md-priority") == "7" and got.all("ibm-mq-usr") == [], got
        assert mq.put("DEV.QUEUE.1", "m", {"ibm-mq-md-priority": "asDestination", "ibm-mq-md-expiry": "0"}).status == 201
        got = mq.get("DEV.QUEUE.1")
        assert (got.get("ibm-mq-md-priority"), got.get("ibm-mq-md-expiry")) == ("0", "unlimited"), got
        # Only version 3 knows priorities and properties; the others pass over them, as the product does.
        assert mq.put("DEV.QUEUE.1", "m", {"ibm-mq-md-priority": "99", "ibm-mq-usr": "?"}, 2).status == 201
        assert mq.get("DEV.QUEUE.1", version=2).all("ibm-mq-usr") == []


@case
def refuses_header_values_that_are_none(binary, folder):
    with Mq(binary, folder) as mq:
        digits = "0" * 48
        bad = {
            "ibm-mq-md-correlationId": ["ID:" + digits[1:], "ID:" + "g" * 48, "ID:", "x" * 1001],
            "ibm-mq-md-expiry": ["-1", "1.5", "soon", "99999999901", "9" * 30, "1 "[:1] + "x"],
            "ibm-mq-md-persistence": ["PERSISTENT", "true", "asDestination"],
            "ibm-mq-md-priority": ["10", "-1", "high", "1.0"],
            "ibm-mq-md-replyTo": ["a b", "Q@", "@QM1", "Q@QM1@QM2", "x" * 49, "q!"],
            "ibm-mq-usr": ["color", "color;red", "color;red;colour", "n;x;integer", "n;1;boolean;2", "n;300;byte",
                           "n;40000;short", "n;3000000000;integer", "n;9223372036854775808;long", "n;1e400;double",
                           "n;1e39;float", "n;abc;bytes", 'n;"open;string', 'n;"a"b;string', "1n;x;string",
                           "a b;x;string", "JMSfoo;x;string", ";x;string"],
        }
        for name, values in bad.items():
            for value in values:
                error = expect(mq.put("DEV.QUEUE.1", "m", {name: value}), 400, "MQWB0302E")
                assert name in error["message"], error
        for version in (1, 2):
            for value in ("ID:" + digits, "abc", digits + "0"):
                expect(mq.put("DEV.QUEUE.1", "m", {"ibm-mq-md-correlationId": value}, version), 400, "MQWB0302E")
        for name in ("ibm-mq-md-expiry", "ibm-mq-md-persistence", "ibm-mq-md-correlationId", "ibm-mq-md-replyTo"):
            expect(mq.put("DEV.QUEUE.1", "m", [(name, ""), (name, "")]), 400, "MQWB0302E")
        assert mq.depth("DEV.QUEUE.1") == 0


@case
def carries_properties_of_every_type(binary, folder):
    with Mq(binary, folder) as mq:
        properties = ['flag;true;boolean', "tiny;-128;byte", "small;32767;short", "n;-2147483648;integer",
                      "big;9223372036854775807;long", "third;0.5;float", "pi;3.141592653589793;double",
                      'color;"dark, red; or so";string', r'quoted;"say \"hi\" \\ bye";string', "raw;00ff10;bytes",
                      'umlaut;"Grün";string']
        put = mq.put("DEV.QUEUE.1", "text", [("ibm-mq-usr", p.encode()) for p in properties])
        assert put.status == 201, put
        got = mq.get("DEV.QUEUE.1")
        assert got.text == "text"
        shown = [v.encode("latin-1").decode() for v in got.all("ibm-mq-usr")]
        assert shown == properties, shown
        # Several in one field, blanks around, the names that MQRFH2 has for types, text without quotes.
        field = " a ; 1 ; i4 , b;x y;string,c;0;boolean , d;i2;\"7\",e;12;r8"
        assert mq.put("DEV.QUEUE.1", "text", {"ibm-mq-usr": field}).status == 201
        assert mq.get("DEV.QUEUE.1", version=1).all("ibm-mq-usr") == []
        assert mq.put("DEV.QUEUE.1", "text", {"ibm-mq-usr": field}).status == 201
        shown = mq.get("DEV.QUEUE.1").all("ibm-mq-usr")
        assert shown == ["a;1;integer", 'b;"x y";string', "c;false;boolean", "d;7;short", "e;12;double"], shown


@case
def gets_and_browses_by_identifier(binary, folder):
    with Mq(binary, folder) as mq:
        digits = ["%048x" % (n + 1) for n in range(3)]
        for version, prefix in ((1, ""), (2, ""), (3, "ID:")):
            ids = [mq.put("DEV.QUEUE.1", f"m{n}", {"ibm-mq-md-correlationId": prefix + digits[n % 2]},
                          version).get("ibm-mq-md-messageId") for n in range(3)]
            assert mq.browse("DEV.QUEUE.1", f"?messageId={ids[2]}", version).text == "m2"
            assert mq.browse("DEV.QUEUE.1", f"?correlationId={prefix}{digits[1]}", version).text == "m1"
            assert mq.get("DEV.QUEUE.1", f"?messageId={ids[1]}&correlationId={prefix}{digits[0]}", version).status == 204
            assert mq.get("DEV.QUEUE.1", f"?correlationId={prefix}{digits[0]}&messageId={ids[2]}", version).text == "m2"
            assert mq.get("DEV.QUEUE.1", f"?correlationId={prefix}{digits[2]}", version).status == 204
            assert mq.get("DEV.QUEUE.1", f"?correlationId={prefix}{digits[0].upper()}", version).text == "m0"
            assert mq.get("DEV.QUEUE.1", f"?messageId={ids[1]}", version).text == "m1"
            for bad in ("abc", prefix + digits[0] + "0", "ID:ID:" + digits[0][3:], ""):
                expect(mq.get("DEV.QUEUE.1", f"?messageId={bad}", version), 400, "MS2240E")
        expect(mq.get("DEV.QUEUE.1", "?correlationId=ID:12", 3), 400, "MS2240E")
        expect(mq.get("DEV.QUEUE.1", "?correlationId=order-17", 2), 400, "MS2240E")
        assert mq.depth("DEV.QUEUE.1") == 0


@case
def correlates_by_identifiers_of_the_application(binary, folder):
    with Mq(binary, folder) as mq:
        # The last two have the same first 24 bytes, which is what the descriptor holds.
        names = ["order 17", "it's 'quoted'", "Grüße", "x" * 24 + "a", "x" * 24 + "b"]
        for name in names:
            put = mq.put("DEV.QUEUE.1", name, {"ibm-mq-md-correlationId": name.encode()})
            assert put.status == 201, put
        for name in reversed(names):
            got = mq.browse("DEV.QUEUE.1", f"?correlationId={quote(name)}")
            assert got.text == name, got
            assert got.get("ibm-mq-md-correlationId").encode("latin-1").decode() == name
        listed = [m["correlationId"] for m in mq.list("DEV.QUEUE.1").json()["messages"]]
        assert listed == names, listed
        old = mq.browse("DEV.QUEUE.1", version=2).get("ibm-mq-md-correlationId")
        assert old == b"order 17".hex().ljust(48, "0"), old
        assert mq.get("DEV.QUEUE.1", "?correlationId=order").status == 204
        for name in reversed(names):
            assert mq.get("DEV.QUEUE.1", f"?correlationId={quote(name)}").text == name
        expect(mq.get("DEV.QUEUE.1", "?correlationId=%FF"), 400, "MS2240E")
        expect(mq.get("DEV.QUEUE.1", "?correlationId="), 400, "MS2240E")


@case
def lists_messages(binary, folder):
    with Mq(binary, folder) as mq:
        assert mq.list("DEV.QUEUE.1").json() == {"messages": []}
        digits = ["%048x" % (n % 3 + 1) for n in range(12)]
        ids = [mq.put("DEV.QUEUE.1", "m" * 5000, {"ibm-mq-md-correlationId": d}, 2).get("ibm-mq-md-messageId")
               for d in digits]
        for version, prefix in ((1, ""), (2, ""), (3, "ID:")):
            everything = mq.list("DEV.QUEUE.1", "?limit=100", version)
            assert everything.get("Content-Type") == "application/json; charset=utf-8"
            assert everything.json()["messages"] == [
                {"correlationId": prefix + d, "format": "MQSTR", "messageId": prefix + i} for d, i in zip(digits, ids)]
        assert len(mq.list("DEV.QUEUE.1").json()["messages"]) == 10
        assert len(mq.list("DEV.QUEUE.1", "?limit=2147483647").json()["messages"]) == 12
        picked = mq.list("DEV.QUEUE.1", f"?correlationId=ID:{digits[1]}&limit=3").json()["messages"]
        assert [m["messageId"][3:] for m in picked] == ids[1::3][:3]
        assert len(mq.list("DEV.QUEUE.1", f"?messageId={ids[4]}", 1).json()["messages"]) == 1
        for bad in ("0", "-1", "x", "2147483648", ""):
            expect(mq.list("DEV.QUEUE.1", f"?limit={bad}"), 400, "MS2240E")
        expect(mq.list("DEV.QUEUE.1", "?messageId=1"), 400, "MS2240E")
        expect(mq.list("SYSTEM.NOT.THERE"), 404, "MQWB0303E", 2085)
        assert mq.depth("DEV.QUEUE.1") == 12
        mq.mqsc("ALTER QLOCAL(DEV.QUEUE.1) GET(DISABLED)")
        assert mq.list("DEV.QUEUE.1").json() == {"messages": []}


@case
def waits_for_a_message_without_a_thread(binary, folder):
    with Mq(binary, folder) as mq:
        started = time.monotonic()
        assert mq.get("DEV.QUEUE.1", "?wait=300").status == 204
        assert time.monotonic() - started >= 0.29
        for bad in ("-1", "x", "2147483648", ""):
            expect(mq.get("DEV.QUEUE.1", f"?wait={bad}"), 400, "MS2240E")
        count = 100
        threads = len(os.listdir(f"/proc/{mq.process.pid}/task"))
        replies = []
        waiters = [threading.Thread(target=lambda: replies.append(mq.get("DEV.QUEUE.1", "?wait=50000")))
                   for _ in range(count)]
        for waiter in waiters:
            waiter.start()
        eventually(lambda: mq.inputs("DEV.QUEUE.1") == count, "all wait")
        assert len(os.listdir(f"/proc/{mq.process.pid}/task")) <= threads + 2
        for n in range(count):
            assert mq.put("DEV.QUEUE.1", str(n)).status == 201
        for waiter in waiters:
            waiter.join()
        assert sorted(int(r.text) for r in replies) == list(range(count))
        # By correlation identifier: others pass by.
        waiter = threading.Thread(target=lambda: replies.append(mq.get("DEV.QUEUE.1", "?wait=50000&correlationId=mine")))
        waiter.start()
        eventually(lambda: mq.inputs("DEV.QUEUE.1") == 1, "it waits")
        mq.put("DEV.QUEUE.1", "other", {"ibm-mq-md-correlationId": "other"})
        mq.put("DEV.QUEUE.1", "mine", {"ibm-mq-md-correlationId": "mine"})
        waiter.join()
        assert replies[-1].text == "mine" and mq.depth("DEV.QUEUE.1") == 1


@case
def a_client_that_left_takes_nothing(binary, folder):
    with Mq(binary, folder) as mq:
        for _ in range(5):
            client = socket.create_connection(("127.0.0.1", mq.admin_port))
            client.sendall(f"DELETE {ROOT}3/messaging/qmgr/QM1/queue/DEV.QUEUE.1/message?wait=60000 HTTP/1.1\r\n"
                           "Host: localhost\r\nibm-mq-rest-csrf-token: x\r\n\r\n".encode())
            eventually(lambda: mq.inputs("DEV.QUEUE.1") == 1, "it waits")
            client.close()
            eventually(lambda: mq.inputs("DEV.QUEUE.1") == 0, "the get ends with its client")
        mq.put("DEV.QUEUE.1", "kept")
        assert mq.get("DEV.QUEUE.1").text == "kept"


@case
def stops_while_gets_wait(binary, folder):
    with Mq(binary, folder) as mq:
        replies = []
        waiter = threading.Thread(target=lambda: replies.append(mq.get("DEV.QUEUE.1", "?wait=60000")))
        waiter.start()
        eventually(lambda: mq.inputs("DEV.QUEUE.1") == 1, "it waits")
        started = time.monotonic()
        try:
            assert mq.stop() == 0
        finally:
            waiter.join()
        assert time.monotonic() - started < 20


@case
def leaves_what_is_no_text_where_it_is(binary, folder):
    with Mq(binary, folder) as mq:
        mq.mqsc("DEFINE QLOCAL(INIT)")
        mq.mqsc("DEFINE PROCESS(P)")
        mq.mqsc("DEFINE QLOCAL(TRIGGERED) TRIGGER TRIGTYPE(EVERY) INITQ(INIT) PROCESS(P)")
        replies = []
        waiter = threading.Thread(target=lambda: replies.append(mq.get("INIT", "?wait=50000")))
        waiter.start()
        eventually(lambda: mq.inputs("INIT") == 1, "a trigger monitor")
        assert mq.put("TRIGGERED").status == 201
        waiter.join()
        for reply in [*replies, mq.get("INIT"), mq.browse("INIT"), mq.get("INIT", version=1)]:
            expect(reply, 501, "MQWB0303E", 2110)
        listed = mq.list("INIT").json()["messages"]
        assert [m["format"] for m in listed] == ["MQTRIG"], listed
        # What can be got by its identifier is not held up by it.
        put = mq.put("INIT", "text")
        assert mq.get("INIT", f"?messageId={put.get('ibm-mq-md-messageId')}").text == "text"
        assert mq.depth("INIT") == 1


@case
def says_what_a_queue_refuses(binary, folder):
    with Mq(binary, folder) as mq:
        # Other names that are not there, --dev makes queues of.
        name = "SYSTEM.NOT.THERE"
        for reply in (mq.put(name), mq.get(name), mq.browse(name), mq.put("SYSTEM.default.local.queue")):
            error = expect(reply, 404, "MQWB0303E", 2085)
            assert error["completionCode"] == 2 and "MQRC_UNKNOWN_OBJECT_NAME" in error["explanation"], error
        mq.mqsc("DEFINE QLOCAL(SMALL) MAXDEPTH(1) MAXMSGL(10)")
        expect(mq.put("SMALL", "12345678901"), 400, "MQWB0303E", 2030)
        assert mq.put("SMALL", "1234567890").status == 201
        expect(mq.put("SMALL"), 500, "MQWB0303E", 2053)
        mq.mqsc("ALTER QLOCAL(SMALL) PUT(DISABLED) GET(DISABLED)")
        expect(mq.put("SMALL"), 500, "MQWB0303E", 2051)
        expect(mq.get("SMALL"), 500, "MQWB0303E", 2016)
        expect(mq.browse("SMALL"), 500, "MQWB0303E", 2016)
        expect(mq.get("SMALL", "?wait=60000"), 500, "MQWB0303E", 2016)
        mq.mqsc("ALTER QLOCAL(SMALL) GET(ENABLED)")
        assert mq.get("SMALL").text == "1234567890"
        mq.mqsc("DEFINE QALIAS(ALIAS) TARGET(DEV.QUEUE.1)")
        mq.mqsc("DEFINE QALIAS(DANGLING) TARGET(NOWHERE)")
        assert mq.put("ALIAS", "by alias").status == 201 and mq.get("ALIAS").text == "by alias"
        expect(mq.put("DANGLING"), 404, "MQWB0303E", 2082)
        replies = []
        waiter = threading.Thread(target=lambda: replies.append(mq.get("DEV.QUEUE.2", "?wait=60000")))
        waiter.start()
        eventually(lambda: mq.inputs("DEV.QUEUE.2") == 1, "it waits")
        mq.mqsc("ALTER QLOCAL(DEV.QUEUE.2) GET(DISABLED)")
        waiter.join()
        expect(replies[0], 500, "MQWB0303E", 2016)


@case
def takes_names_with_odd_characters(binary, folder):
    with Mq(binary, folder) as mq:
        for name in ("A/B", "P%Q", "D.O.T", "_", "%2F"):
            mq.mqsc(f"DEFINE QLOCAL('{name}')")
            assert mq.put(quote(name, safe=""), name).status == 201
            assert mq.get(quote(name, safe="")).text == name
        assert mq.put("D%2EO%2eT", "dot", qmgr="%51M1").status == 201
        assert mq.get("D.O.T").text == "dot"
        for path in ("A/B", "", "SYSTEM.A%00B", "../DEV.QUEUE.1", "SYSTEM.%2E%2E", "SYSTEM.%", "x" * 49, "*", "DEV.%2A"):
            assert mq.put(path).status in (400, 404), path
        for qmgr in ("QM2", "qm1", "*", "%2A", "QM1%00", "QM1%20"):
            for reply in (mq.put("DEV.QUEUE.1", qmgr=qmgr), mq.get("DEV.QUEUE.1", qmgr=qmgr),
                          mq.browse("DEV.QUEUE.1", qmgr=qmgr)):
                expect(reply, 404, "MQWB0009E", 2058)
        expect(mq.call("POST", "/admin/action/qmgr/QM2/mqsc", "{}", JSON), 404, "MQWB0009E", 2058)
        expect(mq.call("GET", "/admin/qmgr/QM2"), 404, "MQWB0009E", 2058)


@case
def refuses_other_media_types_and_character_sets(binary, folder):
    with Mq(binary, folder) as mq:
        for good in ("text/plain", "text/plain; charset=utf-8", "TEXT/HTML;charset=UTF-8", 'text/xml;charset="utf-8"',
                     "application/json", "application/xml;charset=utf-8"):
            assert mq.put("DEV.QUEUE.1", "ä", {"Content-Type": good}).status == 201, good
            assert mq.get("DEV.QUEUE.1").text == "ä"
        for bad in ("application/octet-stream", "application/x-www-form-urlencoded", "text/csv", "", "text", "multipart/mixed"):
            expect(mq.put("DEV.QUEUE.1", "x", {"Content-Type": bad}), 415, "MQWB0306E")
        for bad in ("iso-8859-1", "utf-16", "us-ascii", "nonsense"):
            expect(mq.put("DEV.QUEUE.1", "x", {"Content-Type": f"text/plain;charset={bad}"}), 415, "MQWB0305E")
        for bad in (b"\xff", b"abc\xc3", b"\xed\xa0\x80", b"\xc0\xaf"):
            error = expect(mq.put("DEV.QUEUE.1", bad), 400, "MQWB0301E")
            assert "UTF-8" in error["explanation"]
        for odd in ("", "\0", "\r\n", "a" * 1_000_000):
            assert mq.put("DEV.QUEUE.1", odd).status == 201
            got = mq.get("DEV.QUEUE.1")
            assert got.status == 200 and got.text == odd
        assert mq.depth("DEV.QUEUE.1") == 0


@case
def asks_for_the_csrf_header(binary, folder):
    with Mq(binary, folder) as mq:
        path = "/messaging/qmgr/QM1/queue/DEV.QUEUE.1/message"
        command = json.dumps({"type": "runCommand", "parameters": {"command": "DEFINE QLOCAL(X)"}})
        for reply in (mq.put("DEV.QUEUE.1", csrf=False), mq.get("DEV.QUEUE.1", csrf=False),
                      mq.call("POST", "/admin/action/qmgr/QM1/mqsc", command, JSON, csrf=False),
                      mq.call("DELETE", "/login", csrf=False)):
            error = expect(reply, 403, "MQWB0100E")
            assert "ibm-mq-rest-csrf-token" in error["message"]
        for value in ("", "blank", "any value at all"):
            assert mq.call("POST", path, "x", {**TEXT, "ibm-mq-rest-csrf-token": value}, csrf=False).status == 201
        assert mq.depth("DEV.QUEUE.1") == 3
        # A browser's page of another site.
        foreign = mq.call("POST", path, "x", {**TEXT, "Origin": "https://evil.example"})
        assert foreign.status == 403 and foreign.error["msgId"] == "MS2202E", foreign
        assert mq.depth("DEV.QUEUE.1") == 3


@case
def knows_paths_and_methods(binary, folder):
    with Mq(binary, folder) as mq:
        queue = "/messaging/qmgr/QM1/queue/DEV.QUEUE.1"
        for method, path, allowed in (("PUT", f"{queue}/message", "POST, GET, DELETE"), ("POST", f"{queue}/messagelist", "GET"),
                                      ("GET", "/messaging/qmgr/QM1/topic/t/message", "POST"), ("PATCH", "/login", "POST, GET, DELETE"),
                                      ("GET", "/admin/action/qmgr/QM1/mqsc", "POST"), ("DELETE", "/admin/qmgr/QM1", "GET")):
            reply = mq.call(method, path)
            expect(reply, 405, "MQWB2005E")
            assert reply.get("Allow") == allowed, reply
        for path in ("", "/", "/messaging", "/messaging/qmgr/QM1", f"{queue}/message/x", "/admin", "/admin/qmgr/QM1/queue",
                     "/../v3/admin/qmgr", "/./admin/qmgr", "//admin/qmgr", "/admin/%71mgr"):
            expect(mq.call("GET", path), 404, "MS2200E")
        for version in (0, 4, "x"):
            expect(mq.call("GET", "/admin/qmgr", version=version), 404, "MS2200E")
        head = mq.call("HEAD", "/admin/qmgr")
        assert head.status == 200 and head.body == b"", head


@case
def publishes_to_topics(binary, folder):
    with Mq(binary, folder) as mq:
        mq.mqsc("DEFINE SUB(S) TOPICSTR('dev/a/+') DEST(DEV.QUEUE.2)")
        for version in (1, 2, 3):
            path = f"/messaging/qmgr/QM1/topic/{quote('dev/a/b', safe='')}/message"
            published = mq.call("POST", path, f"news {version}", TEXT, version)
            assert published.status == 201, published
            got = mq.get("DEV.QUEUE.2")
            assert got.text == f"news {version}" and got.get("ibm-mq-md-priority") == "4", got
            published = mq.call("POST", path, "news", {**TEXT, "ibm-mq-md-priority": "asDestination", "ibm-mq-usr": "a;1;byte"})
            assert published.status == 201, published
            got = mq.get("DEV.QUEUE.2")
            assert "a;1;byte" in got.all("ibm-mq-usr"), got
        nobody = mq.call("POST", "/messaging/qmgr/QM1/topic/nobody/message", "x", TEXT)
        assert nobody.status == 201, nobody


@case
def runs_mqsc_as_text(binary, folder):
    with Mq(binary, folder) as mq:
        for version in (1, 2, 3):
            lines = mq.mqsc(f"DEFINE QLOCAL(Q{version}) MAXDEPTH(7)", version)
            assert len(lines) == 1 and lines[0].startswith("AMQ8006I"), lines
            lines = mq.mqsc(f"display ql(Q{version}) maxdepth", version)
            assert "QUEUE(Q%d)" % version in lines[0] and "MAXDEPTH(7)" in lines[0], lines
        path = "/admin/action/qmgr/QM1/mqsc"

        def answer(command):
            body = {"type": "runCommand", "parameters": {"command": command}}
            reply = mq.call("POST", path, json.dumps(body), JSON)
            assert reply.status == 200, reply
            return reply.json()

        wrong = answer("DEFINE QLOCAL(Q1) MAXDEPTH(x)")
        assert wrong["overallCompletionCode"] == 2 and wrong["overallReasonCode"] == 3008, wrong
        assert "AMQ8" in wrong["commandResponse"][0]["text"][0], wrong
        again = answer("DEFINE QLOCAL(Q1)")
        assert again["commandResponse"][0]["text"][0].startswith("AMQ8150E"), again
        missing = answer("DISPLAY QLOCAL(NOT.THERE)")
        assert missing["commandResponse"][0]["reasonCode"] == 2085 and missing["overallCompletionCode"] == 2, missing
        assert answer("DISPLAY\nQLOCAL(Q1)\r\nMAXDEPTH")["overallCompletionCode"] == 0
        for command in ("", " ", "(", "'", "DISPLAY QLOCAL(", "\0", "é" * 1000, "DEFINE " * 10_000):
            assert answer(command)["overallCompletionCode"] in (0, 2), command


@case
def runs_mqsc_as_json(binary, folder):
    with Mq(binary, folder) as mq:
        for version in (1, 2, 3):
            made = mq.json_command(version, command="define", qualifier="qlocal", name="Q",
                              parameters={"maxdepth": 9, "put": "disabled", "descr": "it's 'mine'", "replace": "yes"}).json()
            assert (made["overallCompletionCode"], made["overallReasonCode"]) == (0, 0), made
            shown = mq.json_command(version, command="display", qualifier="QLOCAL", name="Q",
                               responseParameters=["maxdepth", "descr", "put"]).json()
            assert shown["commandResponse"] == [{
                "completionCode": 0, "reasonCode": 0,
                "parameters": {"queue": "Q", "type": "QLOCAL", "maxdepth": 9, "descr": "it's 'mine'", "put": "DISABLED"}}], shown
        several = mq.json_command(command="display", qualifier="qlocal", name="DEV.*").json()
        assert len(several["commandResponse"]) >= 4, several
        assert mq.json_command(command="display", qualifier="qmgr", responseParameters=["all"]).json()["overallCompletionCode"] == 0
        missing = mq.json_command(command="display", qualifier="qlocal", name="NOT.*").json()
        assert missing["overallCompletionCode"] == 2 and missing["overallReasonCode"] == 3008, missing
        assert missing["commandResponse"][0]["reasonCode"] == 2085, missing
        gone = mq.json_command(command="delete", qualifier="qlocal", name="NOT.THERE").json()
        assert gone["commandResponse"][0]["reasonCode"] == 2085, gone
        for bad in ({"command": "explode", "qualifier": "qlocal"}, {"command": "define", "qualifier": "banana"}, {},
                    {"command": "define", "qualifier": "qlocal", "name": "A", "parameters": []},
                    {"command": "define", "qualifier": "qlocal", "name": "A", "parameters": {"maxdepth": {}}},
                    {"command": "define", "qualifier": "qlocal", "name": "A", "parameters": {"x y": 1}},
                    {"command": "display", "qualifier": "qlocal", "name": "A", "responseParameters": "all"}):
            expect(mq.json_command(**bad), 400, "MQWB2004E")
        # Nothing in a value ends the command and begins another.
        mq.json_command(command="define", qualifier="qlocal", name="E", parameters={"descr": "') PUT(DISABLED) DESCR('x"})
        shown = mq.json_command(command="display", qualifier="qlocal", name="E", responseParameters=["put", "descr"]).json()
        assert shown["commandResponse"][0]["parameters"]["put"] == "ENABLED", shown


@case
def refuses_commands_that_are_none(binary, folder):
    with Mq(binary, folder) as mq:
        path = "/admin/action/qmgr/QM1/mqsc"
        for body in ("", "{", "[]", "1", '"x"', "null", '{"type": "runCommand"}', '{"type": 1}', '{"type": "other"}',
                     '{"type": "runCommand", "parameters": {"command": 1}}', '{"type": "runCommand", "type": "x"}',
                     "[" * 100_000, '{"a":' * 5_000, "\xff", "[" + "1," * 20_000 + "1]"):
            expect(mq.call("POST", path, body.encode("latin-1"), JSON), 400, "MQWB2004E")
        expect(mq.call("POST", path, "{}", TEXT), 415, "MQWB0306E")
        expect(mq.call("POST", path, "{}"), 415, "MQWB0306E")
        expect(mq.call("POST", path, b" " * (1 << 20) + b"{}", JSON), 413, "MS2241E")
        assert mq.mqsc("PING QMGR")


@case
def shows_queue_managers_and_the_installation(binary, folder):
    with Mq(binary, folder) as mq:
        for version in (1, 2, 3):
            assert mq.call("GET", "/admin/qmgr", version=version).json() == {"qmgr": [{"name": "QM1", "state": "running"}]}
            assert mq.call("GET", "/admin/qmgr/QM1", version=version).json() == {"qmgr": [{"name": "QM1", "state": "running"}]}
            shown = mq.call("GET", "/admin/qmgr/QM1?attributes=*&status=*", version=version).json()["qmgr"][0]
            assert shown["extended"]["isDefaultQmgr"] is True, shown
            assert shown["status"]["connectionCount"] == 0, shown
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", shown["status"]["started"]), shown
            installation = mq.call("GET", "/admin/installation", version=version).json()["installation"]
            assert [sorted(i) for i in installation] == [["name", "platform", "version"]], installation
            name = installation[0]["name"]
            assert mq.call("GET", f"/admin/installation/{name}?attributes=extended").json()["installation"][0]["extended"]
        assert mq.call("GET", "/admin/qmgr?state=ended").json() == {"qmgr": []}
        expect(mq.call("GET", "/admin/installation/Other"), 404, "MS2200E")


def add_user(binary, folder, name, *arguments):
    run(binary, "user", "add", name, "--work-dir", folder / "work", *arguments, text=f"{PASSWORD}\n{PASSWORD}\n")


def secured(binary, folder, *arguments):
    """Not for development: an administrator, a user with some rights, and one without."""
    run(binary, "create-workdir", folder / "work")
    add_user(binary, folder, "boss", "--group", "mqm")
    add_user(binary, folder, "clerk")
    add_user(binary, folder, "nobody")
    mq = Mq(binary, folder, *arguments, dev=False)
    mq.credentials = ("boss", PASSWORD)
    return mq


def allow_clerk(mq):
    mq.mqsc("SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('clerk') AUTHADD(CONNECT,INQ)")
    mq.mqsc("SET AUTHREC PROFILE('DEV.QUEUE.1') OBJTYPE(QUEUE) PRINCIPAL('clerk') AUTHADD(PUT,GET,BROWSE,INQ)")
    mq.mqsc("SET AUTHREC PROFILE('DEV.QUEUE.2') OBJTYPE(QUEUE) PRINCIPAL('clerk') AUTHADD(BROWSE)")


@case
def lets_nobody_in_without_a_password(binary, folder):
    with secured(binary, folder) as mq:
        mq.credentials = None
        paths = (("GET", "/messaging/qmgr/QM1/queue/DEV.QUEUE.1/message"), ("DELETE", "/messaging/qmgr/QM1/queue/DEV.QUEUE.1/message"),
                 ("POST", "/messaging/qmgr/QM1/queue/DEV.QUEUE.1/message"), ("GET", "/messaging/qmgr/QM1/queue/DEV.QUEUE.1/messagelist"),
                 ("POST", "/messaging/qmgr/QM1/topic/t/message"), ("POST", "/admin/action/qmgr/QM1/mqsc"), ("GET", "/admin/qmgr"),
                 ("GET", "/admin/qmgr/QM1"), ("GET", "/admin/qmgr/OTHER"), ("GET", "/admin/installation"), ("GET", "/login"), ("DELETE", "/login"))
        for method, path in paths:
            reply = mq.call(method, path)
            expect(reply, 401, "MQWB0104E")
            assert reply.get("WWW-Authenticate").startswith("Basic "), reply
        for field in ("", "Basic", "Basic !", "Basic " + base64.b64encode(b"boss").decode(), "Bearer x", "Digest x", "Negotiate x"):
            expect(mq.call("GET", "/admin/qmgr", headers={"Authorization": field}), 401, "MQWB0104E")
        for cookie in ("LtpaToken2=x", "LtpaToken2=" + "0" * 64, 'LtpaToken2="x"', "a=b; LtpaToken2=y; c=d"):
            expect(mq.call("GET", "/admin/qmgr", headers={"Cookie": cookie}), 401, "MQWB0112E")
        for cookie in ("LtpaToken2", "LtpaToken2=", "XLtpaToken2=x", ";;;", "LtpaToken22=x"):
            expect(mq.call("GET", "/admin/qmgr", headers={"Cookie": cookie}), 401, "MQWB0104E")
        # One wrong password each: more of a kind are slowed down, below.
        wrong = [("boss", "wrong"), ("unknown", PASSWORD), ("mqm", PASSWORD), ("BOSS", PASSWORD)]
        replies = [mq.call("GET", "/admin/qmgr", user=pair) for pair in wrong]
        for reply in replies:
            assert reply.status in (401, 429), reply
            assert PASSWORD not in reply.text
        assert replies[0].status == 401
        eventually(lambda: mq.call("GET", "/admin/qmgr", user=("boss", PASSWORD)).status == 200, "the right one gets in")


def head_only(mq, method, path, length, *fields):
    """What is answered to a head whose body never comes."""
    head = "".join(f"{field}\r\n" for field in (f"{method} {path} HTTP/1.1", "Host: localhost", *CSRF_FIELDS, *fields))
    with socket.create_connection(("127.0.0.1", mq.admin_port), timeout=30) as client:
        client.sendall(f"{head}{length}\r\n\r\n".encode())
        return client.recv(65536).split(b"\r\n")[0].split(b" ")[1]


@case
def reads_no_body_of_who_may_not_send_it(binary, folder):
    with secured(binary, folder) as mq:
        long, chunks = f"Content-Length: {90 << 20}", "Transfer-Encoding: chunked"
        put = f"{ROOT}3/messaging/qmgr/QM1/queue/DEV.QUEUE.1/message"
        batch = "/millstream/v1/qmgr/QM1/batch"
        token = "Cookie: LtpaToken2=" + "0" * 64
        for path in (put, f"{ROOT}3/admin/action/qmgr/QM1/mqsc", f"{ROOT}1/messaging/qmgr/NONE/topic/t/message", batch):
            for length in (long, chunks):
                assert head_only(mq, "POST", path, length) == b"401", (path, length)
        assert head_only(mq, "POST", put, long, token) == b"401"
        assert head_only(mq, "POST", f"{ROOT}3/login", long) == b"413"
        assert head_only(mq, "POST", f"{ROOT}3/nowhere", long) == b"404"
        assert head_only(mq, "PUT", put, long) == b"405"
        body = "x" * 300_000
        assert mq.put("DEV.QUEUE.1", body).status == 201
        assert mq.get("DEV.QUEUE.1").text == body


@case
def slows_down_who_guesses(binary, folder):
    with secured(binary, folder) as mq:
        assert mq.call("GET", "/admin/qmgr").status == 200
        later = None
        for n in range(50):
            reply = mq.call("GET", "/admin/qmgr", user=("clerk", f"guess {n}"))
            if reply.status == 429:
                later = reply
                break
            expect(reply, 401, "MQWB0104E")
        assert later is not None, "nothing slows down guesses"
        assert int(later.get("Retry-After")) >= 1 and later.error["msgId"] == "MS2223E", later


@case
def passwords_are_hashed_beside_what_else_is_asked(binary, folder):
    """With one thread for all connections: who has no password to check does not wait for those who have."""
    with secured(binary, folder, "--cores", "1") as mq:
        assert mq.call("GET", "/admin/qmgr").status == 200
        waiting = []
        try:
            for n in range(8):  # each hash takes its tenth of a second, one after the other
                client = socket.create_connection(("127.0.0.1", mq.admin_port), timeout=60)
                client.sendall(f"GET {ROOT}3/admin/qmgr HTTP/1.1\r\nHost: localhost\r\n"
                               f"Authorization: {basic(f'somebody{n}', 'a guess')}\r\n\r\n".encode())
                waiting.append(client)
            assert mq.admin("GET", "/metrics").status == 200
            assert mq.call("GET", "/admin/qmgr").status == 200  # its password is remembered
            answered = select.select(waiting, [], [], 0)[0]
            assert len(answered) < len(waiting), "all were hashed first"
            for client in waiting:
                assert client.recv(100).split(b" ")[1] in (b"401", b"429")
        finally:
            for client in waiting:
                client.close()


def listening_addresses(pid):
    """The local addresses, in hexadecimal, of the sockets on which a process listens."""
    inodes = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        found = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(descriptor))
        if found:
            inodes.add(found.group(1))
    lines = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]]
    return {line[1].split(":")[0] for line in lines if line[3] == "0A" and line[9] in inodes}


@case
def development_mode_is_for_this_machine(binary, folder):
    ports = [word for name in ("--amqp-port", "--stomp-port") for word in (name, "free")]
    with Mq(binary, folder, "--host", "0.0.0.0", *ports) as mq:
        assert listening_addresses(mq.process.pid) == {"0100007F"}
        assert mq.put("DEV.QUEUE.1").status == 201


@case
def no_message_makes_a_header_of_its_own(binary, folder):
    with Mq(binary, folder) as mq:
        evil = "red\r\nSet-Cookie: LtpaToken2=mine\r\n\r\n<script>"
        done = subprocess.run([binary, "put", "DEV.QUEUE.1", "--url", mq.url, "-p", f"color={evil}", "--format", "MQSTR"],
                              input=b"body", capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done
        for reply in (mq.browse("DEV.QUEUE.1"), mq.get("DEV.QUEUE.1")):
            assert reply.status >= 400 and reply.get("Set-Cookie") is None and b"<script>" not in reply.body, reply
            assert "ibm-mq-usr" in reply.error["message"], reply
        assert mq.depth("DEV.QUEUE.1") == 1
        assert mq.get("DEV.QUEUE.1", version=1).text == "body"  # which shows no properties


@case
def rights_decide_and_the_rule_is_told(binary, folder):
    with secured(binary, folder) as mq:
        allow_clerk(mq)
        clerk, nobody = ("clerk", PASSWORD), ("nobody", PASSWORD)
        assert mq.put("DEV.QUEUE.1", "m", user=clerk).status == 201
        assert mq.browse("DEV.QUEUE.1", user=clerk).text == "m"
        assert len(mq.list("DEV.QUEUE.1", user=clerk).json()["messages"]) == 1
        assert mq.get("DEV.QUEUE.1", user=clerk).text == "m"
        mq.put("DEV.QUEUE.2", "kept")
        assert mq.browse("DEV.QUEUE.2", user=clerk).text == "kept"
        refused = {"put": mq.put("DEV.QUEUE.2", user=clerk), "get": mq.get("DEV.QUEUE.2", user=clerk),
                   "browse": mq.browse("DEV.QUEUE.3", user=clerk), "list": mq.list("DEV.QUEUE.3", user=clerk)}
        for what, reply in refused.items():
            error = expect(reply, 403, "MQWB0103E", 2035)
            assert "clerk" in error["explanation"] and ("+browse" if what == "list" else f"+{what}") in error["explanation"], error
        assert mq.depth("DEV.QUEUE.2") == 1
        for reply in (mq.put("DEV.QUEUE.1", user=nobody), mq.get("DEV.QUEUE.1", user=nobody)):
            error = expect(reply, 403, "MQWB0103E", 2035)
            assert "+connect" in error["explanation"], error
        body = json.dumps({"type": "runCommand", "parameters": {"command": "DISPLAY QLOCAL(*)"}})
        for user in (clerk, nobody):
            error = expect(mq.call("POST", "/admin/action/qmgr/QM1/mqsc", body, JSON, user=user), 403, "MQWB0103E", 2035)
            assert user[0] in error["explanation"], error
        mq.mqsc("SET AUTHREC PROFILE('DEV.QUEUE.1') OBJTYPE(QUEUE) PRINCIPAL('clerk') AUTHRMV(PUT)")
        expect(mq.put("DEV.QUEUE.1", user=clerk), 403, "MQWB0103E", 2035)


@case
def logs_in_and_out_with_a_token(binary, folder):
    with secured(binary, folder) as mq:
        allow_clerk(mq)
        mq.credentials = None
        login = json.dumps({"username": "clerk", "password": PASSWORD})
        tokens = []
        for version in (1, 2, 3):
            reply = mq.call("POST", "/login", login, JSON, version, csrf=version > 1)
            assert reply.status == 204 and reply.body == b"", reply
            cookie = reply.get("Set-Cookie")
            assert re.match(r"LtpaToken2=[0-9a-f]{64}; ", cookie) and "HttpOnly" in cookie and "SameSite=Strict" in cookie, cookie
            tokens.append({"Cookie": cookie.split(";")[0]})
        assert len({t["Cookie"] for t in tokens}) == 3
        who = mq.call("GET", "/login", headers=tokens[0]).json()["user"]
        assert who == [{"name": "clerk", "authenticationMechanism": "form", "role": ["MQWebUser"]}], who
        boss = mq.call("GET", "/login", user=("boss", PASSWORD)).json()["user"][0]
        assert boss["name"] == "boss" and "MQWebAdmin" in boss["role"] and boss["authenticationMechanism"] == "basic", boss
        assert mq.put("DEV.QUEUE.1", "m", {**TEXT, **tokens[0]}).status == 201
        expect(mq.put("DEV.QUEUE.1", "m", {**TEXT, **tokens[0]}, csrf=False), 403, "MQWB0100E")
        expect(mq.put("DEV.QUEUE.2", "m", {**TEXT, **tokens[0]}), 403, "MQWB0103E", 2035)
        assert mq.call("GET", "/messaging/qmgr/QM1/queue/DEV.QUEUE.1/message", headers=tokens[1]).text == "m"
        out = mq.call("DELETE", "/login", headers=tokens[0])
        assert out.status == 204 and "Max-Age=0" in out.get("Set-Cookie"), out
        expect(mq.call("GET", "/login", headers=tokens[0]), 401, "MQWB0112E")
        assert mq.call("GET", "/login", headers=tokens[1]).status == 200
        expect(mq.call("POST", "/login", json.dumps({"username": "clerk", "password": "no"}), JSON), 401, "MQWB0104E")
        for bad in ("", "{}", "[]", '{"username": "clerk"}', '{"username": 1, "password": "x"}', '{"username": "", "password": ""}',
                    "[" * 1000, json.dumps({"username": "a" * 20_000, "password": "x"})):
            expect(mq.call("POST", "/login", bad, JSON), 400, "MQWB2004E")
        expect(mq.call("POST", "/login", "username=clerk", {"Content-Type": "application/x-www-form-urlencoded"}), 415, "MQWB0306E")
        # Whoever is changed or removed has to log in again.
        run(binary, "user", "disable", "clerk", "--work-dir", folder / "work")
        eventually(lambda: mq.call("GET", "/login", headers=tokens[1]).status == 401, "the session of a disabled user ends")


@case
def survives_hostile_requests(binary, folder):
    with Mq(binary, folder) as mq:
        queue = "/messaging/qmgr/QM1/queue/DEV.QUEUE.1/message"
        assert mq.put("DEV.QUEUE.1", "m", {"ibm-mq-usr": "x" * 100_000}).status == 431
        assert mq.put("DEV.QUEUE.1", "m", [(f"x-{n}", "y") for n in range(500)]).status in (400, 431)
        assert mq.call("GET", queue + "?" + "a" * 60_000).status in (400, 414, 431)
        assert mq.call("GET", queue + "?" + "&".join(f"a{n}=b" for n in range(3000))).status in (204, 414, 431)
        many = ",".join(f"p{n};1;byte" for n in range(3000))
        expect(mq.put("DEV.QUEUE.1", "m", {"ibm-mq-usr": many}), 400, "MQWB0302E")
        for raw in (b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
                    b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
                    b"POST %s HTTP/1.1\r\nHost: localhost\r\nibm-mq-md-expiry: 1\n2\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", mq.admin_port), timeout=30) as client:
                client.sendall(raw % (f"{ROOT}3{queue}".encode()))
                assert b" 400 " in client.recv(4096).split(b"\r\n")[0]
        # A declared body that never comes, and clients that leave in the middle.
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", mq.admin_port)) as client:
                client.sendall(f"POST {ROOT}3{queue} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\nabc".encode())
        assert mq.put("DEV.QUEUE.1", "fine").status == 201
        assert mq.get("DEV.QUEUE.1").text == "fine" and mq.depth("DEV.QUEUE.1") == 0


@case
def keeps_persistent_messages_over_a_kill(binary, folder):
    with Mq(binary, folder) as mq:
        ids = [mq.put("DEV.QUEUE.1", f"m{n}", {"ibm-mq-md-persistence": "persistent", "ibm-mq-usr": f"n;{n};integer"})
               .get("ibm-mq-md-messageId") for n in range(5)]
        mq.put("DEV.QUEUE.1", "lost")
        assert mq.get("DEV.QUEUE.1", f"?messageId={ids[0]}").text == "m0"
        mq.process.kill()
        mq.process.wait()
    with Mq(binary, folder) as mq:
        listed = [m["messageId"] for m in mq.list("DEV.QUEUE.1").json()["messages"]]
        assert listed == ids[1:], listed
        got = mq.get("DEV.QUEUE.1", f"?messageId={ids[3]}")
        assert got.text == "m3" and got.all("ibm-mq-usr") == ["n;3;integer"], got


@case
def is_there_without_queue_managers_too(binary, folder):
    with Server(binary, "--work-dir", folder / "plain") as server:
        for method, path in (("GET", "/admin/qmgr"), ("POST", "/login"), ("DELETE", "/messaging/qmgr/QM1/queue/Q/message")):
            reply = server.admin(method, f"{ROOT}3{path}", headers=CSRF)
            assert reply.status == 503, reply
            assert reply.json()["error"][0]["msgId"] == "MS2220E", reply
        assert server.admin("GET", "/metrics").status == 200


@case
def tells_its_numbers(binary, folder):
    with Mq(binary, folder) as mq:
        def numbers():
            return dict(re.findall(r"^(millstream_queue\w*\{[^}]*\}) (\S+)$", mq.admin("GET", "/metrics").text, re.M))

        for n in range(3):
            mq.put("DEV.QUEUE.1", "m", {"ibm-mq-md-persistence": "persistent"})
        mq.get("DEV.QUEUE.1")
        seen = numbers()
        label = '{qmgr="QM1",queue="DEV.QUEUE.1"}'
        assert seen["millstream_queue_depth" + label] == "2", seen
        assert seen["millstream_queue_puts_total" + label] == "3", seen
        assert seen["millstream_queue_gets_total" + label] == "1", seen
        assert int(seen['millstream_queue_manager_journal_bytes{qmgr="QM1"}']) > 0, seen
        assert seen['millstream_queue_manager_admits_puts{qmgr="QM1"}'] == "1", seen
        assert 'millstream_queue_manager_checkpoints_total{qmgr="QM1"}' in seen, seen


if __name__ == "__main__":
    main(__doc__)
