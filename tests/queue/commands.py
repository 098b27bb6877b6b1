#!/usr/bin/env python3
"""The queue commands (put, get, browse, move, mqsc, dlq, qmgr), on a server and on a stopped work
directory, with clients and servers that are killed.

    tests/queue/commands.py [--binary PATH] [--filter TEXT]

The last line is "N passed, N failed"; exit status 1 when something failed.
"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from harness import Server, Skipped, case, eventually, main, pace

PASSWORD = "correct horse battery"
# Folders of tests may lie where there is no direct I/O.
ANYWHERE = "--buffered"


def dev_server(binary, folder, *more):
    return Server(binary, "--dev", "--work-dir", folder, "--qmgr", "QM1", ANYWHERE, *more)


class Commands:
    """Runs commands of the binary against one place; bytes in, bytes out."""

    def __init__(self, binary, *place, environment=None):
        self.binary, self.place = binary, [str(p) for p in place]
        self.environment = {**os.environ, **(environment or {})}

    def line(self, *arguments):
        return [self.binary, *map(str, arguments), *self.place]

    def __call__(self, *arguments, data=b"", code=0):
        done = subprocess.run(self.line(*arguments), input=data, capture_output=True, timeout=120, check=False,
                              env=self.environment)
        assert done.returncode == code, (arguments, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
        return done

    def mqsc(self, script, code=0):
        return self("mqsc", "-e", data=script.encode(), code=code).stdout.decode()

    def depth(self, queue):
        out = self.mqsc(f"DISPLAY QLOCAL({queue}) CURDEPTH")
        return int(re.search(r"CURDEPTH\((\d+)\)", out).group(1))


def at(binary, server):
    return Commands(binary, "--url", server.url)


def on(binary, folder):
    return Commands(binary, "--work-dir", folder, ANYWHERE)


def places(binary, folder):
    """The same commands on a server, and then on its directory when it has stopped."""
    with dev_server(binary, folder) as server:
        yield at(binary, server)
    yield on(binary, folder)


@case
def a_message_goes_in_and_out(binary, folder):
    body = bytes(range(256)) * 40
    for run in places(binary, folder):
        run("put", "DEV.QUEUE.1", "--persistence", "yes", data=body)
        assert run.depth("DEV.QUEUE.1") == 1
        assert run("get", "DEV.QUEUE.1").stdout == body
        assert run("get", "DEV.QUEUE.1", code=3).stdout == b""
        run("put", "DEV.QUEUE.1", data=b"")
        assert run("get", "DEV.QUEUE.1").stdout == b""


@case
def descriptor_and_properties_travel(binary, folder):
    for run in places(binary, folder):
        run("put", "DEV.QUEUE.1", "--format", "MQSTR", "--priority", "7", "--persistence", "yes",
            "--correlation-id", "order-7", "--reply-to", "REPLIES", "--type", "request", "--expiry", "600",
            "-p", "color=red", "-p", "size:int=4", "-p", "ok:bool=true", data="grün".encode())
        for command in ("browse", "get"):
            m = json.loads(run(command, "DEV.QUEUE.1", "--json").stdout)
            assert m["format"] == "MQSTR" and m["priority"] == 7 and m["persistence"] is True, m
            assert bytes.fromhex(m["correlationId"]).rstrip(b"\0") == b"order-7", m
            assert m["replyToQueue"] == "REPLIES" and m["type"] == 1 and 0 < m["expiryTenths"] <= 6000, m
            assert m["properties"] == {"color": "red", "size": 4, "ok": True}, m
            assert m["body"] == "grün" and m["bytes"] == 5, m


@case
def files_lines_and_counts(binary, folder):
    (folder / "a").write_bytes(b"first")
    (folder / "b").write_bytes(b"second\n")
    for run in places(binary, folder / "w"):
        run("put", "DEV.QUEUE.1", folder / "a", folder / "b")
        assert run("get", "DEV.QUEUE.1", "--all", "--raw").stdout == b"firstsecond\n"
        run("put", "DEV.QUEUE.1", "--lines", data=b"1\n2\n\n3")
        assert run("get", "DEV.QUEUE.1", "-n", "2").stdout == b"1\n2\n"
        assert run("get", "DEV.QUEUE.1", "--all").stdout == b"\n3\n"
        done = run("put", "DEV.QUEUE.1", "-n", "5", "--show-ids", data=b"x")
        ids = done.stdout.decode().split()
        assert len(set(ids)) == 5 and all(len(i) == 48 for i in ids), ids
        assert run("get", "DEV.QUEUE.1", "--message-id", ids[3]).stdout == b"x"
        (folder / "out").mkdir(exist_ok=True)
        run("get", "DEV.QUEUE.1", "--all", "--output-dir", folder / "out")
        assert all((folder / "out" / i).read_bytes() == b"x" for i in ids if i != ids[3])


@case
def messages_are_selected(binary, folder):
    for run in places(binary, folder):
        for color in ("red", "blue", "red"):
            run("put", "DEV.QUEUE.1", "-p", f"color={color}", "--correlation-id", color, data=color.encode())
        assert run("get", "DEV.QUEUE.1", "--all", "--correlation-id", "blue").stdout == b"blue\n"
        assert run("browse", "DEV.QUEUE.1", "--bodies", "--selector", "color = 'red'").stdout == b"red\nred\n"
        run("browse", "DEV.QUEUE.1", "--selector", "color = 'green'", code=3)
        run("move", "DEV.QUEUE.1", "DEV.QUEUE.2", "-n", "1", "--selector", "color = 'red'")
        assert run("get", "DEV.QUEUE.1", "--all").stdout == b"red\n"
        assert run("get", "DEV.QUEUE.2", "--all").stdout == b"red\n"
        assert b"2459" in run("browse", "DEV.QUEUE.1", "--selector", "color = ", code=1).stderr


@case
def a_get_waits(binary, folder):
    with dev_server(binary, folder) as server:
        run = at(binary, server)
        waiting = subprocess.Popen(run.line("get", "DEV.QUEUE.1", "--wait", "60"), stdout=subprocess.PIPE)
        eventually(lambda: "IPPROCS(1)" in run.mqsc("DISPLAY QSTATUS(DEV.QUEUE.1) IPPROCS"), "the get is there")
        run("put", "DEV.QUEUE.1", data=b"late")
        assert waiting.communicate(timeout=60)[0] == b"late"
        run("get", "DEV.QUEUE.1", "--wait", "1", code=3)


@case
def a_hundred_thousand_messages(binary, folder):
    script = "ALTER QLOCAL(DEV.QUEUE.1) MAXDEPTH(200000)\nALTER QLOCAL(DEV.QUEUE.2) MAXDEPTH(200000)\n"
    lines = b"".join(b"message %d\n" % i for i in range(100_000))
    for i, run in enumerate(places(binary, folder)):
        if i == 0:
            run.mqsc(script)
        run("put", "DEV.QUEUE.1", "--lines", "--persistence", "yes", data=lines)
        assert run.depth("DEV.QUEUE.1") == 100_000
        run("move", "DEV.QUEUE.1", "DEV.QUEUE.2")
        assert run("browse", "DEV.QUEUE.2", "--bodies").stdout == lines
        assert run("get", "DEV.QUEUE.2", "--all").stdout == lines
        assert run.depth("DEV.QUEUE.1") == run.depth("DEV.QUEUE.2") == 0


@case
def what_a_killed_get_had_comes_back(binary, folder):
    with dev_server(binary, folder) as server:
        run = at(binary, server)
        run("put", "DEV.QUEUE.1", "--lines", "--persistence", "yes", data=b"".join(b"%d\n" % i for i in range(3000)))
        # Its output is not read: a unit of large bodies is open when the pipe is full.
        run("put", "DEV.QUEUE.2", "-n", "300", "--persistence", "yes", data=b"x" * 10_000)
        getting = subprocess.Popen(run.line("get", "DEV.QUEUE.2", "--all", "--unit", "50"), stdout=subprocess.PIPE)
        status = lambda: run.mqsc("DISPLAY QSTATUS(DEV.QUEUE.2) CURDEPTH UNCOM")
        eventually(lambda: "UNCOM(YES)" in status(), "a unit is open")
        getting.send_signal(signal.SIGKILL)
        getting.wait()
        eventually(lambda: "UNCOM(NO)" in status(), "the unit is backed out", timeout_s=20)
        left = run("browse", "DEV.QUEUE.2", "--json").stdout.splitlines()
        assert len(left) == 300, len(left)
        assert json.loads(left[0])["backoutCount"] == 1 and "backoutCount" not in json.loads(left[299])


@case
def a_reader_that_is_gone_loses_nothing(binary, folder):
    with dev_server(binary, folder) as server:
        run = at(binary, server)
        run("put", "DEV.QUEUE.1", "-n", "500", data=b"x" * 10_000)
        getting = subprocess.Popen(run.line("get", "DEV.QUEUE.1", "--all", "--unit", "10"), stdout=subprocess.PIPE)
        getting.stdout.read(50_000)
        getting.stdout.close()  # as `| head` does
        getting.wait(timeout=60)
        eventually(lambda: "UNCOM(NO)" in run.mqsc("DISPLAY QSTATUS(DEV.QUEUE.1) UNCOM"), "backed out", timeout_s=20)
        assert 480 <= run.depth("DEV.QUEUE.1") <= 500, run.depth("DEV.QUEUE.1")


@case
def no_acknowledged_message_is_missing_after_a_kill(binary, folder):
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    print(f"seed {seed}")
    acknowledged, sent = set(), set()
    for turn in range(4):
        with dev_server(binary, folder) as server:
            run = at(binary, server)
            if turn == 0:
                run.mqsc("ALTER QLOCAL(DEV.QUEUE.1) MAXDEPTH(999999999)")
            names = [f"{turn}-{i}" for i in range(200_000)]
            sent.update(names)
            putting = subprocess.Popen(run.line("put", "DEV.QUEUE.1", "--lines", "--persistence", "yes", "--unit", "20",
                                                "--show-ids"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            ids = []

            def feed(to=putting, lines=names):
                try:
                    to.stdin.write("".join(n + "\n" for n in lines).encode())
                    to.stdin.close()
                except BrokenPipeError:
                    pass

            feeder = threading.Thread(target=feed)
            reader = threading.Thread(target=lambda: ids.extend(putting.stdout.read().split()))
            errors = threading.Thread(target=putting.stderr.read)
            for t in (feeder, reader, errors):
                t.start()
            pace(chance.uniform(0.1, 0.6))
            server.stop(signal.SIGKILL)
            code = putting.wait(timeout=60)
            for t in (feeder, reader, errors):
                t.join()
            assert code == 1, code
            acknowledged.update(names[:len(ids)])
    assert acknowledged, "nothing was put"
    run = on(binary, folder)
    there = run("get", "DEV.QUEUE.1", "--all").stdout.decode().split()
    assert len(there) == len(set(there)), "a message is there twice"
    missing = acknowledged - set(there)
    assert not missing, f"{len(missing)} of {len(acknowledged)} acknowledged messages are missing"
    assert set(there) <= sent


@case
def a_killed_move_leaves_each_message_once(binary, folder):
    with dev_server(binary, folder) as server:
        run = at(binary, server)
        run.mqsc("ALTER QLOCAL(DEV.QUEUE.1) MAXDEPTH(200000)\nALTER QLOCAL(DEV.QUEUE.2) MAXDEPTH(200000)")
        run("put", "DEV.QUEUE.1", "--lines", "--persistence", "yes", data=b"".join(b"%d\n" % i for i in range(50_000)))
        moving = subprocess.Popen(run.line("move", "DEV.QUEUE.1", "DEV.QUEUE.2", "--unit", "10"),
                                  stderr=subprocess.DEVNULL)
        eventually(lambda: run.depth("DEV.QUEUE.2") > 100, "some are moved")
        server.stop(signal.SIGKILL)
        moving.wait(timeout=60)
    run = on(binary, folder)
    there = []
    for queue in ("DEV.QUEUE.2", "DEV.QUEUE.1"):
        there += run("get", queue, "--all", code=0).stdout.split()
    assert there == [b"%d" % i for i in range(50_000)], len(there)


@case
def refusals_are_named(binary, folder):
    for i, run in enumerate(places(binary, folder)):
        if i == 0:
            run.mqsc("DEFINE QLOCAL(SMALL) MAXDEPTH(3) MAXMSGL(10)\nDEFINE QLOCAL(SHUT) PUT(DISABLED) GET(DISABLED)")
        for command in ("put", "get", "browse"):
            assert b"2085 MQRC_UNKNOWN_OBJECT_NAME: SYSTEM.NOPE" in run(command, "SYSTEM.NOPE", data=b"x", code=1).stderr
        assert b"2053 MQRC_Q_FULL: SMALL" in run("put", "SMALL", "-n", "4", data=b"x", code=1).stderr
        run("get", "SMALL", code=3)  # the whole unit was put back
        done = run("put", "SMALL", "-n", "4", "--unit", "1", data=b"x", code=1)
        assert b"3 messages are on the queue, message 4 was refused" in done.stderr, done.stderr
        assert run("get", "SMALL", "--all", "--raw").stdout == b"xxx"
        assert b"2030" in run("put", "SMALL", data=b"x" * 11, code=1).stderr
        assert b"2051" in run("put", "SHUT", data=b"x", code=1).stderr
        assert b"2016" in run("get", "SHUT", code=1).stderr
        run("put", "DEV.QUEUE.1", "--lines", data=b"1\n2\n3\n4\n5\n")
        assert b"2053 MQRC_Q_FULL: SMALL" in run("move", "DEV.QUEUE.1", "SMALL", code=1).stderr
        assert run("get", "SMALL", "--all").stdout == b"1\n2\n3\n"
        assert run("get", "DEV.QUEUE.1", "--all").stdout == b"4\n5\n"
        run("move", "DEV.QUEUE.1", "DEV.QUEUE.1", code=2)
        run("put", "SMALL", "--property", "x", code=2)
        run("get", "SMALL", "--message-id", "far too long for an identifier", code=2)


@case
def logins_and_rights(binary, folder):
    def user(*arguments):
        done = subprocess.run([binary, "user", *arguments, "--work-dir", folder], input=2 * (PASSWORD + "\n"), text=True,
                              capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr

    with Server(binary, "--work-dir", folder, "--qmgr", "QM1", ANYWHERE) as server:
        user("add", "boss", "--group", "mqm")
        user("add", "guest", "--group", "guests")
        url = ("--url", server.url)
        right = {"MILLSTREAM_PASSWORD": PASSWORD}
        boss = Commands(binary, *url, "--user", "boss", environment=right)
        app = Commands(binary, *url, "--user", "guest", environment=right)

        def may_log_in():
            done = subprocess.run(boss.line("mqsc", "-e"), input=b"PING QMGR", capture_output=True, timeout=60,
                                  check=False, env=boss.environment)
            return done.returncode == 0

        # Not in a hurry: logins that fail slow down those that follow.
        for _ in range(10):
            pace(2)
            if may_log_in():
                break
        else:
            raise AssertionError("the server does not know the users")
        (folder / "password").write_text(PASSWORD + "\n")
        Commands(binary, *url, "--user", "boss", "--password-file", folder / "password")("put", "DEV.QUEUE.1", data=b"x")
        assert b"MS2701E" in Commands(binary, *url)("put", "DEV.QUEUE.1", data=b"x", code=1).stderr
        wrong = Commands(binary, *url, "--user", "boss", environment={"MILLSTREAM_PASSWORD": "wrong"})
        assert b"password" in wrong("get", "DEV.QUEUE.1", code=1).stderr
        eventually(lambda: b"2035" in app("get", "DEV.QUEUE.1", code=1).stderr, "the guest is known and may nothing")
        boss.mqsc("SET AUTHREC OBJTYPE(QMGR) GROUP('guests') AUTHADD(CONNECT,INQ)\n"
                  "SET AUTHREC PROFILE(DEV.QUEUE.1) OBJTYPE(QUEUE) GROUP('guests') AUTHADD(GET)")
        assert app("get", "DEV.QUEUE.1").stdout == b"x"
        assert b"2035" in app("put", "DEV.QUEUE.1", data=b"x", code=1).stderr
        app.mqsc("ALTER QLOCAL(DEV.QUEUE.1) MAXDEPTH(1)", code=10)


@case
def mqsc_is_runmqsc(binary, folder):
    for run in places(binary, folder):
        out = run("mqsc", data=b"* comment\nDEFINE QLOCAL(A.B) +\n  MAXDEPTH(7) REPLACE\nDISPLAY QLOCAL(A.B) MAXDEPTH\n").stdout
        text = out.decode()
        assert text.startswith("Starting MQSC for queue manager QM1.\n"), text
        assert "     1 : DEFINE QLOCAL(A.B) +" in text and "MAXDEPTH(7)" in text, text
        assert "2 MQSC commands read." in text and "All valid MQSC commands were processed." in text, text
        assert run.mqsc("NONSENSE", code=10)
        assert "AMQ8147" in run.mqsc("DISPLAY QLOCAL(NOPE)", code=10)
        (folder / "s.mqsc").write_text("DISPLAY QMGR QMNAME\n")
        assert b"QMNAME(QM1)" in run("mqsc", "QM1", "-e", "-f", folder / "s.mqsc").stdout
        run.mqsc("DELETE QLOCAL(A.B)")
        script = run("mqsc", "--export").stdout
        assert b"A.B" not in script
        run("mqsc", "QM9", code=20)


@case
def an_export_makes_the_same_queue_manager(binary, folder):
    run = at
    with dev_server(binary, folder / "one") as server:
        run = at(binary, server)
        run.mqsc("DEFINE QLOCAL(ORDERS) MAXDEPTH(77) DESCR('it''s')\nDEFINE QALIAS(OA) TARGET(ORDERS)\n"
                 "DEFINE QLOCAL(DLQ2)\nALTER QMGR DEADQ(DLQ2)")
        script = run("mqsc", "--export").stdout
    with dev_server(binary, folder / "two") as server:
        run = at(binary, server)
        run("mqsc", data=script)
        assert run("mqsc", "--export").stdout == script


def bury(run):
    """Three dead letters: two for FULL, one for MISSING; made as any program would."""
    def header(reason, queue):
        number = lambda n: n.to_bytes(4, "little")
        text = lambda s, n: s.encode().ljust(n)
        return (b"DLH " + number(1) + number(reason) + text(queue, 48) + text("QM1", 48) + number(546) + number(1208) +
                text("MQSTR", 8) + number(6) + text("app", 28) + text("20261130", 8) + text("12000000", 8))
    for reason, queue, body in ((2053, "FULL", b"one"), (2085, "SYSTEM.MISSING", b"two"), (2053, "FULL", b"three")):
        run("put", "DEV.DEAD.LETTER.QUEUE", "--format", "MQDEAD", "--persistence", "yes", "-p", "k=v",
            data=header(reason, queue) + body)


@case
def dead_letters(binary, folder):
    for i, run in enumerate(places(binary, folder)):
        if i == 0:
            run.mqsc("ALTER QMGR DEADQ(DEV.DEAD.LETTER.QUEUE)\nDEFINE QLOCAL(FULL) MAXDEPTH(1)\nDEFINE QLOCAL(OTHER)")
        bury(run)
        table = run("dlq", "list").stdout.decode().splitlines()
        assert len(table) == 4 and "2053 MQRC_Q_FULL" in table[1] and "SYSTEM.MISSING" in table[2], table
        letters = [json.loads(line) for line in run("dlq", "list", "--reason", "2053", "--json").stdout.splitlines()]
        assert [m["deadLetter"]["queue"] for m in letters] == ["FULL", "FULL"], letters
        run("dlq", "list", "--original-queue", "NONE", code=3)
        done = run("dlq", "retry", "--json", code=1)
        assert json.loads(done.stdout) == {"retried": 1, "left": [
            {"reason": 2053, "queue": "FULL", "messages": 1},
            {"reason": 2085, "queue": "SYSTEM.MISSING", "messages": 1}]}, done.stdout
        m = json.loads(run("get", "FULL", "--json").stdout)
        assert m["body"] == "one" and m["format"] == "MQSTR" and m["properties"] == {"k": "v"}, m
        run("dlq", "retry", "--reason", "MQRC_Q_FULL")
        assert run("get", "FULL").stdout == b"three"
        run("dlq", "retry", "--reason", "2053", code=3)
        run("dlq", "discard", code=2)
        run("dlq", "move", code=2)
        run("dlq", "move", "--to", "OTHER", "--strip")
        assert run("get", "OTHER").stdout == b"two"
        bury(run)
        run("dlq", "discard", "--original-queue", "FULL")
        assert run.depth("DEV.DEAD.LETTER.QUEUE") == 1
        run("dlq", "discard", "DEV.DEAD.LETTER.QUEUE", "--older-than", "60")
        assert run.depth("DEV.DEAD.LETTER.QUEUE") == 0


@case
def a_running_directory_is_refused(binary, folder):
    with dev_server(binary, folder) as server:
        done = on(binary, folder)("browse", "DEV.QUEUE.1", code=1)
        assert f"held by process {server.process.pid}".encode() in done.stderr, done.stderr
        done = Commands(binary, ANYWHERE)("qmgr", "verify", folder, code=1)
        assert b"MS1072" in done.stderr, done.stderr
    assert b"MS2702E" in on(binary, folder / "nothing")("browse", "DEV.QUEUE.1", code=1).stderr
    assert not (folder / "nothing").exists()
    done = Commands(binary, "--url", server.url)("put", "DEV.QUEUE.1", data=b"x", code=1)
    assert b"MS2700E" in done.stderr, done.stderr


@case
def queue_managers_are_made_checked_and_rescued(binary, folder):
    run = Commands(binary, ANYWHERE)
    work = folder / "work"
    made = run("qmgr", "create", work, "--qmgr", "ORDERS.QM")
    assert b"ORDERS.QM" in made.stdout, made.stdout
    run("qmgr", "create", work, "--qmgr", "ORDERS.QM", code=1)
    data = work / "qmgrs" / "ORDERS!QM"
    local = on(binary, work)
    local("put", "DEV.QUEUE.1", "--lines", data=b"".join(b"%d\n" % i for i in range(2000)))
    assert b"whole" in run("qmgr", "verify", work, "--qmgr", "ORDERS.QM").stdout
    assert run("qmgr", "dump", data).stdout.count(b"\n") > 10
    # The only one of a work directory needs no name.
    told = json.loads(run("qmgr", "verify", work, "--json").stdout)
    assert told["whole"] is True and told["damaged"] == [] and told["journalBlocks"] > 0, told
    rescued = folder / "rescued" / "qmgrs"
    told = json.loads(run("qmgr", "salvage", data, rescued / "ORDERS!QM", "--json").stdout)
    assert told["messages"] == 2000 and told["lost"] == [] and told["uncertain"] == [], told
    again = on(binary, folder / "rescued")
    assert again("get", "DEV.QUEUE.1", "--all").stdout == b"".join(b"%d\n" % i for i in range(2000))
    run("qmgr", "verify", folder / "none", code=1)
    run("qmgr", "salvage", data, code=2)


@case
def what_is_damaged_is_named_and_the_rest_rescued(binary, folder):
    run = Commands(binary, ANYWHERE)
    work = folder / "work"
    run("qmgr", "create", work)
    texts = [b"no such digits elsewhere %04d" % i for i in range(1000)]
    on(binary, work)("put", "DEV.QUEUE.1", "--lines", "--unit", "1", data=b"\n".join(texts) + b"\n")
    data = work / "qmgrs" / "QM1"
    # The checkpoint of the start has copied the first ones, block by block, to the spill file.
    copied = b"".join(f.read_bytes() for f in (data / "spill").iterdir())
    single = [text for text in texts if text not in copied]
    for suffix, where in (("middle", single[len(single) // 2]), ("end", single[-1])):
        copy = folder / suffix
        shutil.copytree(data, copy)
        hit = [(f, at) for f in sorted(copy.rglob("*")) if f.is_file()
               for at in [f.read_bytes().find(where)] if at >= 0]
        assert hit, "the message is in a file"
        for file, at in hit:
            with file.open("r+b") as f:
                f.seek(at)
                f.write(b"####")
        before = {f: f.read_bytes() for f in copy.rglob("*") if f.is_file()}
        told = json.loads(run("qmgr", "verify", copy, "--json", code=1).stdout)
        assert told["whole"] is False and {d["file"] for d in told["damaged"]} <= {str(f.relative_to(copy)) for f, _ in hit}
        assert told["damaged"][0]["queues"], told
        assert b"damaged: " in run("qmgr", "verify", copy, code=1).stdout
        assert b"damaged" in run("qmgr", "dump", copy, code=1).stdout
        # Damage is told before anything is opened for use.
        rescue = folder / f"rescue {suffix}" / "qmgrs" / "QM1"
        done = run("qmgr", "salvage", copy, rescue, code=1)
        assert b"lost: " in done.stdout and b"999 messages" in done.stdout, done.stdout
        assert before == {f: f.read_bytes() for f in copy.rglob("*") if f.is_file()}, "it leaves the directory as it is"
        got = on(binary, folder / f"rescue {suffix}")("get", "DEV.QUEUE.1", "--all").stdout.splitlines()
        assert got == [text for text in texts if text != where]
        run("qmgr", "salvage", copy, rescue, code=1)  # not over what is there
    # Names that are none of a queue manager, and files where folders should be.
    run("qmgr", "verify", folder / "none", code=1)
    (folder / "file").write_text("x")
    run("qmgr", "verify", folder / "file", code=1)
    run("qmgr", "salvage", folder / "file", folder / "to", code=1)
    run("qmgr", "create", folder / "other", "--qmgr", "no such name!", code=1)
    run("qmgr", "create", folder / "other", "--json", code=2)
    (folder / "empty").mkdir()
    assert b"no checkpoint" in run("qmgr", "verify", folder / "empty", code=1).stdout


@case
def every_queue_command_explains_itself(binary, folder):
    for command in ("put", "get", "browse", "move", "mqsc", "dlq", "qmgr", "user"):
        told = Commands(binary)(command, "--help").stdout.decode()
        examples = told.split("Examples:\n")[1]
        assert f"  millstream {command}" in examples or f"| millstream {command}" in examples, told


def on_a_small_disk(binary, folder, mib):
    """A binary that runs with an empty file system of so many MiB in `folder`, which nobody else sees but through
    /proc/PID/root."""
    script = folder.parent / "small_disk.sh"
    script.write_text("#!/bin/sh\nexec unshare --user --map-root-user --mount sh -c "
                      f"'mount -t tmpfs -o size={mib}m small {folder} && exec \"$@\"' sh {binary} \"$@\"\n")
    script.chmod(0o755)
    probe = subprocess.run([script, "version"], capture_output=True, timeout=60, check=False)
    if probe.returncode != 0:
        raise Skipped(f"no file system of one's own here: {probe.stderr.decode().strip()}")
    return script


@case
def a_full_disk_refuses_puts_and_nothing_else(binary, folder):
    disk = folder / "disk"
    disk.mkdir()
    small = on_a_small_disk(binary, disk, 760)
    with dev_server(small, disk / "work") as server:
        run = at(binary, server)
        seen = Path(f"/proc/{server.process.pid}/root{disk}")

        def metric(name):
            text = server.admin("GET", "/metrics").text
            return int(re.search(rf'^millstream_queue_manager_{name}{{qmgr="QM1"}} (\d+)$', text, re.M).group(1))

        def put(code=0, *more):
            return run("put", "DEV.QUEUE.1", "--persistence", "yes", *more, data=b"x" * 1000, code=code)

        for _ in range(3):
            put()
        eventually(lambda: metric("journal_bytes") > 0 and metric("admits_puts") == 1, "room at the start")
        assert metric("space_alarms_total") == 0 and metric("memory_bytes_max") > metric("memory_bytes") > 0
        filler = seen / "filler"
        with filler.open("wb") as file:  # leaves less than what the queue manager keeps for itself
            while (free := os.statvfs(seen)).f_bavail * free.f_frsize > 100 << 20:
                file.write(bytes(8 << 20))
                file.flush()
        eventually(lambda: metric("admits_puts") == 0, "it notices")
        assert metric("space_alarms_total") == 1
        refused = put(code=1).stderr
        assert metric("puts_refused_total") >= 1
        assert b"2056" in refused and b"MQRC_Q_SPACE_NOT_AVAILABLE" in refused, refused
        eventually(lambda: any("MS2048W" in line and "QM1" in line for line in server.errors), "the log says so")
        # What is there can be got, browsed, counted and committed; what need not be kept can be put.
        assert run.depth("DEV.QUEUE.1") == 3
        assert len(run("get", "DEV.QUEUE.1").stdout) == 1000
        run("put", "DEV.QUEUE.2", "--persistence", "no", data=b"light")
        assert run("get", "DEV.QUEUE.2").stdout == b"light"
        run.mqsc("ALTER QLOCAL(DEV.QUEUE.3) MAXDEPTH(77)")
        filler.unlink()
        eventually(lambda: metric("admits_puts") == 1, "room again")
        put()
        eventually(lambda: any("MS2049I" in line for line in server.errors), "the log says that, too")
        assert run.depth("DEV.QUEUE.1") == 3 and metric("space_alarms_total") == 1


@case
def frames_that_are_none_are_refused(binary, folder):
    with dev_server(binary, folder) as server:
        path = "/millstream/v1/qmgr/QM1/batch"
        for body in (b"", b"MSBQ", b"MSBQ\x02", b"x" * 10_000, b"MSBQ\x01\x01" + b"\xff" * 200):
            reply = server.admin("POST", path, body)
            assert reply.status == 400 and reply.json()["code"] == "MS2224", (body[:20], reply)
        assert server.admin("GET", path).status == 405


if __name__ == "__main__":
    main(__doc__)
