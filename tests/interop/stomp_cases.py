"""STOMP 1.0, 1.1 and 1.2 with stomp.py."""
import queue as queues

import stomp
from interop import WAIT_S, case, endpoint, eventually, main, named_case, ours, pace, queue, same

HOST, PORT = endpoint("stomp")
CLASSES = {"1.0": stomp.Connection10, "1.1": stomp.Connection11, "1.2": stomp.Connection12}
QUIET_S = 0.3


class Mailbox(stomp.ConnectionListener):
    def __init__(self):
        self.frames, self.errors, self.receipts, self.beats = queues.Queue(), queues.Queue(), set(), 0
        self.is_gone = False

    def on_message(self, frame):
        self.frames.put(frame)

    def on_error(self, frame):
        self.errors.put(frame)

    def on_receipt(self, frame):
        self.receipts.add(frame.headers["receipt-id"])

    def on_heartbeat(self):
        self.beats += 1

    def on_disconnected(self):
        self.is_gone = True

    def next(self):
        return self.frames.get(timeout=WAIT_S)

    def many(self, count):
        return [self.next().body for _ in range(count)]

    def nothing(self):
        pace(QUIET_S)
        assert self.frames.empty(), f"there was a message: {self.frames.get().body!r}"


class Client:
    def __init__(self, version="1.2", heartbeats=(0, 0), headers=None, auto_decode=True):
        extra = {"auto_decode": False} if not auto_decode else {}
        if version != "1.0":
            extra["heartbeats"] = heartbeats
        self.version = version
        self.connection = CLASSES[version]([(HOST, PORT)], reconnect_attempts_max=1, **extra)
        self.box = Mailbox()
        self.connection.set_listener("box", self.box)
        self.connection.connect(wait=True, headers=headers or {}, with_connect_command=True)
        self.receipts = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.connection.is_connected():
            self.connection.disconnect()

    def receipt(self, call, *arguments, **headers):
        """Calls with a receipt and waits for it."""
        self.receipts += 1
        name = f"r{self.receipts}"
        given = headers.pop("headers", {})
        call(*arguments, headers={**given, "receipt": name}, **headers)
        eventually(lambda: name in self.box.receipts or not self.box.errors.empty(), "the receipt")
        assert self.box.errors.empty(), self.box.errors.get().body

    def send(self, to, body, **headers):
        self.receipt(lambda headers: self.connection.send(to, body, headers=headers), headers=headers)

    def subscribe(self, to, ack="auto", number="1", **headers):
        self.connection.subscribe(to, id=number, ack=ack, headers=headers)

    def ack(self, frame, **more):
        if self.version == "1.2":
            self.connection.ack(frame.headers["ack"], **more)
        else:
            self.connection.ack(frame.headers["message-id"], frame.headers["subscription"], **more)

    def nack(self, frame):
        if self.version == "1.2":
            self.connection.nack(frame.headers["ack"])
        else:
            self.connection.nack(frame.headers["message-id"], frame.headers["subscription"])


def at(name):
    return "/queue/" + queue("st." + name)


def send_and_receive(version):
    with Client(version) as c:
        for i in range(10):
            c.send(at("simple"), f"m{i}")
        c.subscribe(at("simple"))
        same(c.box.many(10), [f"m{i}" for i in range(10)])


def headers_travel(version):
    values = {"plain": "v", "with-colon": "a:b"}
    if version != "1.0":
        values.update({"back": "c\\d", "lines": "one\ntwo"})
    with Client(version) as c:
        c.send(at("headers"), "x", **values)
        c.subscribe(at("headers"))
        got = c.box.next().headers
        same({k: got.get(k) for k in values}, values)


for v in CLASSES:
    named_case(f"v{v}_send_and_receive", send_and_receive, v)
    named_case(f"v{v}_headers_travel", headers_travel, v)


@case
def bytes_travel():
    body = bytes(range(256)) * 4000
    with Client(auto_decode=False) as c:
        c.send(at("bytes"), body)
        c.subscribe(at("bytes"))
        got = c.box.next()
        same((len(got.body), int(got.headers["content-length"])), (len(body), len(body)))
        assert got.body == body


def acknowledge_client(version):
    """An acknowledgement covers everything before it."""
    with Client(version) as c:
        for i in range(4):
            c.send(at("client"), f"{i}")
        c.subscribe(at("client"), ack="client")
        frames = [c.box.next() for _ in range(4)]
        c.ack(frames[2])
    with Client(version) as c:
        c.subscribe(at("client"))
        same(c.box.many(1), ["3"])
        c.box.nothing()


def acknowledge_each(version):
    with Client(version) as c:
        for i in range(3):
            c.send(at("each"), f"{i}")
        c.subscribe(at("each"), ack="client-individual")
        frames = [c.box.next() for _ in range(3)]
        c.ack(frames[1])
    with Client(version) as c:
        c.subscribe(at("each"))
        same(sorted(c.box.many(2)), ["0", "2"])
        c.box.nothing()


for v in ("1.1", "1.2"):
    named_case(f"v{v}_acknowledge_client", acknowledge_client, v)
    named_case(f"v{v}_acknowledge_each", acknowledge_each, v)


@case
def unacknowledged_comes_again():
    with Client() as c:
        c.send(at("again"), "x")
        c.subscribe(at("again"), ack="client")
        c.box.next()
    with Client() as c:
        c.subscribe(at("again"))
        same(c.box.next().body, "x")


@case
def transaction_commits():
    with Client() as c:
        c.subscribe(at("tx"))
        txn = c.connection.begin()
        c.connection.send(at("tx"), "1", transaction=txn)
        c.connection.send(at("tx"), "2", transaction=txn)
        c.box.nothing()
        c.connection.commit(txn)
        same(c.box.many(2), ["1", "2"])


@case
def transaction_aborts():
    with Client() as c:
        c.subscribe(at("abort"))
        txn = c.connection.begin()
        c.connection.send(at("abort"), "1", transaction=txn)
        c.connection.abort(txn)
        c.box.nothing()


@case
def acknowledgement_in_a_transaction():
    with Client() as c:
        c.send(at("acktx"), "x")
        c.subscribe(at("acktx"), ack="client-individual")
        frame = c.box.next()
        txn = c.connection.begin()
        c.ack(frame, transaction=txn)
        c.connection.abort(txn)
    with Client() as c:
        c.subscribe(at("acktx"), ack="client-individual")
        frame = c.box.next()
        txn = c.connection.begin()
        c.ack(frame, transaction=txn)
        c.receipt(lambda headers: c.connection.commit(txn, headers=headers))
    with Client() as c:
        c.subscribe(at("acktx"))
        c.box.nothing()


@case
def several_transactions_at_once():
    with Client() as c:
        c.subscribe(at("several"))
        first, second = c.connection.begin(), c.connection.begin()
        c.connection.send(at("several"), "1", transaction=first)
        c.connection.send(at("several"), "2", transaction=second)
        c.connection.commit(second)
        same(c.box.next().body, "2")
        c.connection.commit(first)
        same(c.box.next().body, "1")


@case
def topics():
    topic = "/topic/" + queue("st/topic")
    with Client() as a, Client() as b, Client() as c:
        for client in (a, b):
            client.receipt(lambda headers, client=client: client.subscribe(topic, **headers))
        c.send(topic, "everyone")
        same([a.box.next().body, b.box.next().body], ["everyone", "everyone"])


@case
def unsubscribe():
    with Client() as c:
        c.subscribe(at("unsub"), number="7")
        c.receipt(lambda headers: c.connection.unsubscribe(id="7", **headers))
        c.send(at("unsub"), "x")
        c.box.nothing()


@case
def several_subscriptions_of_one_connection():
    with Client() as c:
        c.subscribe(at("sub1"), number="1")
        c.subscribe(at("sub2"), number="2")
        c.send(at("sub2"), "b")
        frame = c.box.next()
        same((frame.body, frame.headers["subscription"]), ("b", "2"))
        c.send(at("sub1"), "a")
        same(c.box.next().headers["subscription"], "1")


@case
def heart_beats():
    with Client(heartbeats=(400, 400)) as c:
        pace(2.0)
        assert c.connection.is_connected() and c.box.beats >= 2, c.box.beats
        c.send(at("beats"), "x")


@case
def selector():
    with Client() as c:
        c.send(at("sel"), "red", color="red")
        c.send(at("sel"), "blue", color="blue")
        c.subscribe(at("sel"), selector="color = 'blue'")
        same(c.box.next().body, "blue")
        c.box.nothing()


@case
@ours
def name_that_cannot_be():
    with Client() as c:
        c.connection.send("/queue/no queue has such a name!", "x")
        eventually(lambda: not c.box.errors.empty(), "an ERROR frame")
        eventually(lambda: c.box.is_gone, "the end of the connection")


if __name__ == "__main__":
    main()
