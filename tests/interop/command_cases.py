"""The queue commands over AMQP, on whatever broker INTEROP_AMQP is: also on one that others wrote."""
import json
import os
import signal
import subprocess

from interop import IS_OURS, WAIT_S, case, endpoint, eventually, main, millstream, pace, queue

URL = "amqp://%s:%d" % endpoint("amqp")


def run(*arguments, data=b"", code=0):
    return millstream(*arguments, data=data, code=code, url=URL)


def at(name):
    return queue("cmd." + name)


def lines(output):
    return output.decode().splitlines()


@case
def put_and_get():
    run("put", at("plain"), data=b"hello")
    assert run("get", at("plain")) == b"hello"
    run("get", at("plain"), code=3)


@case
def a_line_each():
    run("put", at("lines"), "--lines", data=b"a\nb\nc\n")
    assert lines(run("get", at("lines"), "--all")) == ["a", "b", "c"]


@case
def many_messages_once_each():
    ids = lines(run("put", at("many"), "--count", 2500, "--show-ids", data=b"x"))
    assert len(set(ids)) == 2500
    got = [json.loads(line)["messageId"] for line in lines(run("get", at("many"), "--all", "--json"))]
    assert sorted(got) == sorted(ids)


@case
def large_message():
    body = os.urandom(3 << 20)
    run("put", at("large"), data=body)
    assert run("get", at("large")) == body


@case
def descriptor_and_properties_travel():
    run("put", at("fields"), "-p", "color=red", "-p", "n:int=5", "-p", "yes:bool=true", "--priority", 7, "--correlation-id", "c1",
        "--persistence", "no", "--expiry", 1000, data=b"x")
    m = json.loads(run("get", at("fields"), "--json"))
    assert {k: m["properties"][k] for k in ("color", "n", "yes")} == {"color": "red", "n": 5, "yes": True}, m
    assert (m["priority"], m["persistence"], m["body"]) == (7, False, "x"), m
    assert m["correlationId"].startswith("6331") and 0 < m["expiryTenths"] <= 10000, m


@case
def persistent_unless_said_otherwise():
    run("put", at("durable"), data=b"x")
    assert json.loads(run("get", at("durable"), "--json"))["persistence"]


@case
def browse_leaves_them():
    run("put", at("browse"), "--lines", data=b"a\nb\n")
    for _ in range(2):
        assert lines(run("browse", at("browse"), "--bodies")) == ["a", "b"]
    assert len(lines(run("get", at("browse"), "--all"))) == 2


@case
def selector():
    for color in ("red", "blue"):
        run("put", at("sel"), "-p", f"color={color}", data=color.encode())
    assert run("get", at("sel"), "--selector", "color = 'blue'") == b"blue"
    assert run("get", at("sel")) == b"red"


@case
def waits_for_a_message():
    with subprocess.Popen([os.environ["MILLSTREAM"], "get", at("wait"), "--wait", "20", "--url", URL],
                          stdout=subprocess.PIPE) as getter:
        pace(0.3)
        run("put", at("wait"), data=b"late")
        assert getter.communicate(timeout=WAIT_S)[0] == b"late"


@case
def delay():
    run("put", at("delay"), "--delay", 800, data=b"later")
    run("get", at("delay"), code=3)
    assert run("get", at("delay"), "--wait", 10) == b"later"


@case
def move():
    run("put", at("from"), "--lines", "-p", "k=v", data=b"a\nb\nc\n")
    run("move", at("from"), at("to"), "--count", 2)
    assert lines(run("get", at("from"), "--all")) == ["c"]
    moved = [json.loads(line) for line in lines(run("get", at("to"), "--all", "--json"))]
    assert [(m["body"], m["properties"]["k"]) for m in moved] == [("a", "v"), ("b", "v")]


@case
def all_or_nothing():
    run("put", at("unit"), "--lines", "--all-or-nothing", data=b"".join(b"%d\n" % i for i in range(50)))
    assert len(lines(run("get", at("unit"), "--all"))) == 50


@case
def a_killed_get_loses_nothing():
    run("put", at("killed"), "--count", 300, data=b"y" * 1000)
    with subprocess.Popen([os.environ["MILLSTREAM"], "get", at("killed"), "--all", "--unit", "50", "--wait", "30", "--url", URL],
                          stdout=subprocess.PIPE) as getter:
        got = getter.stdout.read(20_000)
        getter.send_signal(signal.SIGKILL)
        got += getter.stdout.read()
    written = got.count(b"\n")
    rest = eventually(lambda: lines(millstream_all("killed")), "what was not accepted")
    assert written + len(rest) >= 300, (written, len(rest))


def millstream_all(name):
    done = subprocess.run([os.environ["MILLSTREAM"], "get", at(name), "--all", "--url", URL], capture_output=True,
                          timeout=WAIT_S, check=False)
    return done.stdout


def refusals_say_why():
    done = subprocess.run([os.environ["MILLSTREAM"], "put", "no queue has such a name!", "--url", URL], input=b"x",
                          capture_output=True, timeout=WAIT_S, check=False)
    assert done.returncode == 1 and b"amqp:" in done.stderr, done


if IS_OURS:  # others take any name
    case(refusals_say_why)


@case
def nobody_is_there():
    done = subprocess.run([os.environ["MILLSTREAM"], "get", "Q", "--url", "amqp://127.0.0.1:1"], capture_output=True,
                          timeout=WAIT_S, check=False)
    assert done.returncode == 1 and done.stderr, done


if __name__ == "__main__":
    main()
