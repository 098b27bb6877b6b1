"""AMQP 1.0 with Qpid Proton for Python: values, sections, links, subscriptions."""
import time
import uuid

from interop import (Skipped, WAIT_S, case, endpoint, eventually, main, named_case, pace, queue, same)
from proton import (Array, Data, Described, Message, Timeout, UNDESCRIBED, byte, char, decimal32, decimal64, decimal128,
                    float32, int32, short, symbol, timestamp, ubyte, uint, ulong, ushort)
from proton.reactor import AtMostOnce, Container, Copy, DurableSubscription, LinkOption, Selector
from proton.utils import BlockingConnection, LinkDetached, SendException

URL = "amqp://%s:%d" % endpoint("amqp")
QUIET_S = 0.4  # that nothing comes


class Connection(BlockingConnection):
    def __init__(self, container_id=None, **options):
        container = Container()
        if container_id:
            container.container_id = container_id
        super().__init__(URL, timeout=WAIT_S, container=container, **options)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.close()


def at(name):
    return "queue://" + queue(name)


def exchange(messages, address, receive=None):
    """Sends all, receives as many and accepts them."""
    with Connection() as c:
        sender = c.create_sender(address)
        for m in messages if isinstance(messages, list) else [messages]:
            sender.send(m)
        receiver = c.create_receiver(address, credit=10)
        got = []
        for _ in messages if isinstance(messages, list) else [messages]:
            got.append(receiver.receive(timeout=WAIT_S))
            receiver.accept()
    return got if isinstance(messages, list) else got[0]


def nothing(receiver, seconds=QUIET_S):
    try:
        m = receiver.receive(timeout=seconds)
    except Timeout:
        return
    raise AssertionError(f"there was a message: {m.body!r}")


class Capability(LinkOption):
    """Capabilities of a terminus."""

    def __init__(self, *names):
        self.names = [symbol(n) for n in names]

    def apply(self, link):
        terminus = link.source if link.is_receiver else link.target
        terminus.capabilities.put_array(False, Data.SYMBOL)
        terminus.capabilities.enter()
        for n in self.names:
            terminus.capabilities.put_symbol(n)
        terminus.capabilities.exit()


# --- values: the type matrix of qpid-interop-test

TYPES = {
    "null": [None],
    "boolean": [True, False],
    "ubyte": [ubyte(v) for v in (0, 0x7f, 0x80, 0xff)],
    "ushort": [ushort(v) for v in (0, 0x7fff, 0x8000, 0xffff)],
    "uint": [uint(v) for v in (0, 1, 0xff, 0x100, 0x7fffffff, 0x80000000, 0xffffffff)],
    "ulong": [ulong(v) for v in (0, 1, 0xff, 0x100, 0x102030405, 2**63 - 1, 2**63, 2**64 - 1)],
    "byte": [byte(v) for v in (-128, -1, 0, 127)],
    "short": [short(v) for v in (-32768, -1, 0, 32767)],
    "int": [int32(v) for v in (-2**31, -129, -128, -1, 0, 1, 127, 128, 2**31 - 1)],
    "long": [-2**63, -129, -128, -1, 0, 127, 128, 0x102030405, 2**63 - 1],
    "float": [float32(v) for v in (0.0, -0.0, 3.140625, -1.5 * 2**67, float("inf"), float("-inf"))],
    "double": [0.0, -0.0, 3.14159265359, -2.7182818e300, 5e-324, float("inf"), float("-inf")],
    "decimal32": [decimal32(v) for v in (0, 0x12345678, 0xff0000ff)],
    "decimal64": [decimal64(v) for v in (0, 0x123456789abcdef0, 0xff000000000000ff)],
    "decimal128": [decimal128(v) for v in (b"\x00" * 16, bytes(range(16)), b"\xff" * 16)],
    "char": [char(v) for v in ("a", "Z", "\x01", "\x7f", "\u00e9", "\u20ac", "\U0001f600")],
    "timestamp": [timestamp(v) for v in (0, 1, 0x16ea1d6ebc1, 0x7fffffffffffffff, -1)],
    "uuid": [uuid.UUID(int=v) for v in (0, 0x00010203_0405_0607_0809_0a0b0c0d0e0f, 2**128 - 1)],
    "binary": [b"", b"\x00", b"Hello, world!", bytes(range(256)) * 4],
    "string": ["", "Hello, world", "\"quoted\" 'text'", "gr\u00fc\u00df \u20ac \U0001f600", "x" * 255, "y" * 256,
               "z" * 70000],
    "symbol": [symbol(v) for v in ("", "myDomain.123", "s" * 255, "t" * 256)],
    "list": [[], [ubyte(1), int32(-2), 3], ["a", b"b", [None, True, ["deep", {"k": 1.5}]]],
             ["x" * 300 for _ in range(300)]],
    "map": [{}, {"one": ulong(1), "two": uint(2)}, {symbol("s"): "v", int32(5): [1, 2], "map": {"a": {"b": None}}},
            {f"key{i}": i for i in range(400)}],
    "array": [Array(UNDESCRIBED, Data.INT, 1, 2, 3), Array(UNDESCRIBED, Data.STRING, "a", "b"), Array(UNDESCRIBED, Data.SYMBOL),
              Array(UNDESCRIBED, Data.LONG, *range(500))],
    "described": [Described(symbol("my:type"), [1, "two"]), Described(ulong(0x1234_00000001), "text")],
}


def type_travels(name):
    address = at("type." + name)
    values = TYPES[name]
    got = exchange([Message(body=v) for v in values], address)
    for m, want in zip(got, values):
        same(type(m.body), type(want), name)
        same(m.body, want, name)
        if isinstance(want, float):
            same(str(m.body), str(want), name)  # minus zero
        assert not m.inferred


for type_name in TYPES:
    named_case("type_" + type_name, type_travels, type_name)


@case
def body_of_data_sections():
    m = exchange(Message(body=b"\x00\x01\xff" * 50, inferred=True), at("data"))
    same((bytes(m.body), m.inferred), (b"\x00\x01\xff" * 50, True))


@case
def body_of_a_sequence():
    m = exchange(Message(body=[1, "two", [3.0, None]], inferred=True), at("sequence"))
    same((m.body, m.inferred), ([1, "two", [3.0, None]], True))


@case
def body_of_nothing():
    same(exchange(Message(), at("empty")).body, None)


# --- header, properties, annotations

@case
def header_travels():
    for durable in (True, False):
        for priority in (0, 4, 9):
            m = exchange(Message(body="h", durable=durable, priority=priority, ttl=60), at("header"))
            same((m.durable, m.priority, m.first_acquirer, m.delivery_count), (durable, priority, m.first_acquirer, 0))
            assert 0 < m.ttl <= 60, m.ttl


@case
def header_default_values():
    m = exchange(Message(body="h"), at("header0"))
    same((m.durable, m.priority, m.ttl, m.delivery_count), (False, 4, 0, 0))


@case
def properties_travel():
    sent = Message(body="p", id="id-1", user_id=b"someone", address="an address", subject="a subject",
                   reply_to="queue://REPLIES", correlation_id="c-1", content_type=symbol("text/plain"),
                   content_encoding=symbol("gzip"), expiry_time=4102444800, creation_time=1700000000.25,
                   group_id="g", group_sequence=7, reply_to_group_id="rg")
    m = exchange(sent, at("properties"))
    for field in ("id", "user_id", "address", "subject", "reply_to", "correlation_id", "content_type",
                  "content_encoding", "expiry_time", "creation_time", "group_id", "group_sequence",
                  "reply_to_group_id"):
        same(getattr(m, field), getattr(sent, field), field)


@case
def identifiers_of_all_types():
    ids = [ulong(0), ulong(2**64 - 1), uuid.UUID(int=77), b"binary\x00id", "text"]
    got = exchange([Message(body="i", id=i, correlation_id=i) for i in ids], at("ids"))
    for m, i in zip(got, ids):
        same((m.id, m.correlation_id), (i, i))


@case
def application_properties_travel():
    properties = {"string": "s", "true": True, "ubyte": ubyte(1), "ushort": ushort(2), "uint": uint(3),
                  "ulong": ulong(4), "byte": byte(-1), "short": short(-2), "int": int32(-3), "long": -4,
                  "float": float32(1.5), "double": 2.5, "char": char("c"), "uuid": uuid.UUID(int=5),
                  "timestamp": timestamp(6), "binary": b"b", "symbol": symbol("y"), "null": None}
    m = exchange(Message(body="a", properties=properties), at("application"))
    same(m.properties, properties)
    same({k: type(v) for k, v in m.properties.items()}, {k: type(v) for k, v in properties.items()})


@case
def message_annotations_travel():
    annotations = {symbol("x-opt-mine"): "yes", symbol("x-opt-number"): ulong(7)}
    m = exchange(Message(body="a", annotations=annotations), at("annotations"))
    for key, value in annotations.items():
        same(m.annotations.get(key), value, key)


@case
def bare_message_is_unchanged():
    """Bit for bit: what is behind the header and annotations is what was sent."""
    sent = Message(body=[{"k": (b"\x00" * 300)}, 1.5], id="x", properties={"p": short(5)}, subject="s")
    got = exchange(sent, at("bare"))
    want = sent.encode()
    have = got.encode()
    # Properties (0x73) begin the bare message.
    same(have[have.index(b"\x00\x53\x73"):], want[want.index(b"\x00\x53\x73"):])


# --- sizes

def size_travels(size):
    body = bytes((i * 7) & 0xff for i in range(251)) * (size // 251 + 1)
    m = exchange(Message(body=body[:size], inferred=True), at("size"))
    assert bytes(m.body) == body[:size], f"{len(m.body)} bytes"


for byte_count in (1, 10, 100, 1000, 32768, 65536, 1 << 20, 10 << 20):
    named_case(f"size_{byte_count}", size_travels, byte_count)


@case
def large_messages_one_after_the_other():
    got = exchange([Message(body=("%d" % i) * 300000) for i in range(6)], at("large"))
    same([m.body[0] for m in got], list("012345"))


@case
def large_annotations_and_properties():
    m = exchange(Message(body="x", properties={f"p{i}": "v" * 400 for i in range(200)}), at("wide"))
    same(len(m.properties), 200)


# --- settlement

@case
def settled_by_the_sender():
    with Connection() as c:
        sender = c.create_sender(at("settled"), options=AtMostOnce())
        for i in range(20):
            sender.link.send(Message(body=i))
        receiver = c.create_receiver(at("settled"), credit=20)
        for i in range(20):
            same(receiver.receive(timeout=WAIT_S).body, i)
            receiver.accept()


@case
def settled_by_the_receiver_is_gone():
    with Connection() as c:
        c.create_sender(at("once")).send(Message(body=1))
        receiver = c.create_receiver(at("once"), credit=1, options=AtMostOnce())
        same(receiver.receive(timeout=WAIT_S).body, 1)
        receiver.close()
        nothing(c.create_receiver(at("once"), credit=1))


@case
def released_comes_again():
    with Connection() as c:
        c.create_sender(at("released")).send(Message(body=1))
        receiver = c.create_receiver(at("released"), credit=1)
        same(receiver.receive(timeout=WAIT_S).delivery_count, 0)
        receiver.release(delivered=False)
        m = receiver.receive(timeout=WAIT_S)
        same((m.body, m.delivery_count), (1, 0))
        receiver.accept()
        receiver.close()
        nothing(c.create_receiver(at("released"), credit=1))


@case
def modified_comes_again_and_counts():
    with Connection() as c:
        c.create_sender(at("modified")).send(Message(body=1))
        receiver = c.create_receiver(at("modified"), credit=1)
        for count in range(3):
            m = receiver.receive(timeout=WAIT_S)
            same((m.body, m.delivery_count), (1, count))
            receiver.fetcher.unsettled[0].local.failed = True
            receiver.release(delivered=True)
        same(receiver.receive(timeout=WAIT_S).delivery_count, 3)
        receiver.accept()


@case
def rejected_leaves_the_queue():
    with Connection() as c:
        c.create_sender(at("rejected")).send(Message(body=1))
        receiver = c.create_receiver(at("rejected"), credit=1)
        receiver.receive(timeout=WAIT_S)
        receiver.reject()
        receiver.close()
        nothing(c.create_receiver(at("rejected"), credit=1))


@case
def unsettled_comes_again_after_a_close():
    """Not settled when the link, or the connection, is closed."""
    with Connection() as c:
        c.create_sender(at("unsettled")).send(Message(body=1))
        receiver = c.create_receiver(at("unsettled"), credit=1)
        receiver.receive(timeout=WAIT_S)
        receiver.close()
        c.create_receiver(at("unsettled"), credit=1).receive(timeout=WAIT_S)
    with Connection() as c:
        receiver = c.create_receiver(at("unsettled"), credit=1)
        same(receiver.receive(timeout=WAIT_S).body, 1)
        receiver.accept()


@case
def order_is_kept():
    got = exchange([Message(body=i) for i in range(200)], at("order"))
    same([m.body for m in got], list(range(200)))


@case
def order_after_release_of_many():
    with Connection() as c:
        sender = c.create_sender(at("reorder"))
        for i in range(10):
            sender.send(Message(body=i))
        receiver = c.create_receiver(at("reorder"), credit=10)
        for i in range(10):
            same(receiver.receive(timeout=WAIT_S).body, i)
        receiver.close()
        receiver = c.create_receiver(at("reorder"), credit=10)
        for i in range(10):
            same(receiver.receive(timeout=WAIT_S).body, i)
            receiver.accept()


# --- credit

@case
def credit_is_a_limit():
    with Connection() as c:
        sender = c.create_sender(at("credit"))
        for i in range(8):
            sender.send(Message(body=i))
        receiver = c.create_receiver(at("credit"), credit=0)
        link = receiver.link
        link.flow(3)
        eventually(lambda: receiver.fetcher.has_message >= 3 or pump(c), "three messages")
        quiet(c)
        same(receiver.fetcher.has_message, 3)
        link.flow(2)
        eventually(lambda: receiver.fetcher.has_message >= 5 or pump(c), "five messages")
        quiet(c)
        same(receiver.fetcher.has_message, 5)


def pump(c):
    """Lets the container work a moment."""
    try:
        c.wait(lambda: False, timeout=0.02)
    except Timeout:
        pass
    return False


def quiet(c, seconds=QUIET_S):
    try:
        c.wait(lambda: False, timeout=seconds)
    except Timeout:
        pass


@case
def drain_of_an_empty_queue():
    with Connection() as c:
        receiver = c.create_receiver(at("drain0"), credit=0)
        receiver.link.drain(10)
        c.wait(lambda: receiver.link.credit == 0, timeout=WAIT_S, msg="the drain is not answered")
        same(receiver.fetcher.has_message, 0)


@case
def drain_gives_what_is_there():
    with Connection() as c:
        sender = c.create_sender(at("drain3"))
        for i in range(3):
            sender.send(Message(body=i))
        receiver = c.create_receiver(at("drain3"), credit=0)
        receiver.link.drain(10)
        c.wait(lambda: receiver.link.credit == 0 and not receiver.link.draining() or receiver.fetcher.has_message == 3
               and receiver.link.credit == 0, timeout=WAIT_S, msg="the drain is not answered")
        same(receiver.fetcher.has_message, 3)


@case
def credit_of_several_receivers():
    with Connection() as c:
        receivers = [c.create_receiver(at("several"), credit=5, name=f"r{i}") for i in range(4)]
        sender = c.create_sender(at("several"))
        for i in range(20):
            sender.send(Message(body=i))
        eventually(lambda: sum(r.fetcher.has_message for r in receivers) == 20 or pump(c), "all messages")
        same([r.fetcher.has_message for r in receivers], [5, 5, 5, 5])


# --- browsing and selectors

@case
def browse_leaves_the_messages():
    with Connection() as c:
        sender = c.create_sender(at("browse"))
        for i in range(5):
            sender.send(Message(body=i))
        for _ in range(2):
            browser = c.create_receiver(at("browse"), credit=10, options=Copy())
            same([browser.receive(timeout=WAIT_S).body for _ in range(5)], list(range(5)))
            browser.close()
        receiver = c.create_receiver(at("browse"), credit=10)
        for i in range(5):
            same(receiver.receive(timeout=WAIT_S).body, i)
            receiver.accept()


@case
def selector_chooses():
    with Connection() as c:
        sender = c.create_sender(at("selector"))
        for i in range(10):
            sender.send(Message(body=i, properties={"colour": "red" if i % 3 == 0 else "blue", "number": i}))
        receiver = c.create_receiver(at("selector"), credit=10, options=Selector("colour = 'red' AND number > 0"))
        for i in (3, 6, 9):
            same(receiver.receive(timeout=WAIT_S).body, i)
            receiver.accept()
        nothing(receiver)
        receiver.close()
        rest = c.create_receiver(at("selector"), credit=10)
        got = []
        for _ in range(7):
            got.append(rest.receive(timeout=WAIT_S).body)
            rest.accept()
        same(got, [0, 1, 2, 4, 5, 7, 8])


@case
def selector_is_echoed():
    with Connection() as c:
        receiver = c.create_receiver(at("echo"), credit=0, options=Selector("a = 1"))
        filters = receiver.link.remote_source.filter
        filters.rewind()
        assert filters.next(), "no filter came back"
        assert "a = 1" in str(filters.get_object())


@case
def selector_that_is_wrong_is_refused():
    with Connection() as c:
        try:
            c.create_receiver(at("wrong"), credit=1, options=Selector("this is ( no selector"))
        except LinkDetached as refused:
            same(refused.condition, "amqp:invalid-field")
            return
        raise AssertionError("it was taken")


@case
def selector_with_a_browser():
    with Connection() as c:
        sender = c.create_sender(at("both"))
        for i in range(6):
            sender.send(Message(body=i, properties={"odd": i % 2 == 1}))
        browser = c.create_receiver(at("both"), credit=10, options=[Copy(), Selector("odd = TRUE")])
        same([browser.receive(timeout=WAIT_S).body for _ in range(3)], [1, 3, 5])


# --- topics

@case
def topic_gives_everyone_a_copy():
    topic = f"topic://it/{queue('news')}"
    with Connection() as c:
        receivers = [c.create_receiver(topic, credit=10, name=f"s{i}") for i in range(3)]
        sender = c.create_sender(topic)
        for i in range(5):
            sender.send(Message(body=i))
        for r in receivers:
            same([r.receive(timeout=WAIT_S).body for _ in range(5)], list(range(5)))


@case
def topic_by_capability():
    topic = f"it/{queue('capability')}"
    with Connection() as c:
        receiver = c.create_receiver(topic, credit=10, options=Capability("topic"))
        c.create_sender(topic, options=Capability("topic")).send(Message(body="x"))
        same(receiver.receive(timeout=WAIT_S).body, "x")


@case
def topic_without_subscribers_takes_messages():
    with Connection() as c:
        c.create_sender(f"topic://it/{queue('nobody')}").send(Message(body="x"))


@case
def topic_with_a_selector():
    topic = f"topic://it/{queue('chosen')}"
    with Connection() as c:
        receiver = c.create_receiver(topic, credit=10, options=Selector("n >= 2"))
        sender = c.create_sender(topic)
        for i in range(4):
            sender.send(Message(body=i, properties={"n": i}))
        same([receiver.receive(timeout=WAIT_S).body for _ in range(2)], [2, 3])


@case
def durable_subscription_keeps():
    topic, who = f"topic://it/{queue('durable')}", queue("durable-client")
    with Connection(container_id=who) as c:
        receiver = c.create_receiver(topic, credit=10, name="sub", options=DurableSubscription())
        c.create_sender(topic).send(Message(body=1))
        same(receiver.receive(timeout=WAIT_S).body, 1)
        receiver.accept()
        receiver.link.detach()
        quiet(c, 0.2)
    with Connection() as c:
        c.create_sender(topic).send(Message(body=2, durable=True))
    with Connection(container_id=who) as c:
        receiver = c.create_receiver(topic, credit=10, name="sub", options=DurableSubscription())
        same(receiver.receive(timeout=WAIT_S).body, 2)
        receiver.accept()
        receiver.close()  # ends the subscription
    with Connection() as c:
        c.create_sender(topic).send(Message(body=3))
    with Connection(container_id=who) as c:
        nothing(c.create_receiver(topic, credit=10, name="sub", options=DurableSubscription()))


@case
def shared_subscription_shares():
    topic = f"topic://it/{queue('shared')}"
    with Connection(container_id=queue("shared1")) as one, Connection(container_id=queue("shared2")) as two:
        first = one.create_receiver(topic, credit=1, name="team|global", options=Capability("shared", "global", "topic"))
        second = two.create_receiver(topic, credit=1, name="team|global", options=Capability("shared", "global", "topic"))
        sender = one.create_sender(topic)
        for i in range(10):
            sender.send(Message(body=i))
        got = []
        deadline = time.monotonic() + WAIT_S
        while len(got) < 10 and time.monotonic() < deadline:
            for r in (first, second):
                try:
                    got.append(r.receive(timeout=0.1).body)
                    r.accept()
                except Timeout:
                    pass
        same(sorted(got), list(range(10)))


# --- nodes

@case
def dynamic_node_is_a_queue():
    with Connection() as c:
        receiver = c.create_receiver(None, credit=5, dynamic=True)
        address = receiver.link.remote_source.address
        assert address, "no address came back"
        c.create_sender(address).send(Message(body="dyn"))
        same(receiver.receive(timeout=WAIT_S).body, "dyn")


@case
def dynamic_nodes_differ():
    with Connection() as c:
        addresses = {c.create_receiver(None, credit=1, dynamic=True, name=f"d{i}").link.remote_source.address
                     for i in range(5)}
        same(len(addresses), 5)


@case
def dynamic_node_ends_with_its_link():
    with Connection() as c:
        receiver = c.create_receiver(None, credit=5, dynamic=True)
        address = receiver.link.remote_source.address
        c.create_sender(address).send(Message(body=1))
        receiver.close()
        try:
            nothing(c.create_receiver(address, credit=1))
        except LinkDetached as gone:
            same(gone.condition, "amqp:not-found")


@case
def request_and_reply():
    with Connection() as server, Connection() as client:
        receiver = server.create_receiver(at("service"), credit=5)
        anonymous = server.create_sender(None)
        replies = client.create_receiver(None, credit=5, dynamic=True)
        client.create_sender(at("service")).send(
            Message(body="hello", reply_to=replies.link.remote_source.address, correlation_id="1"))
        m = receiver.receive(timeout=WAIT_S)
        anonymous.send(Message(body=m.body.upper(), address=m.reply_to, correlation_id=m.correlation_id))
        receiver.accept()
        same(replies.receive(timeout=WAIT_S).body, "HELLO")


@case
def anonymous_relay():
    with Connection() as c:
        sender = c.create_sender(None)
        sender.send(Message(body=1, address=at("relay1")))
        sender.send(Message(body=2, address=at("relay2")))
        for i in (1, 2):
            receiver = c.create_receiver(at(f"relay{i}"), credit=1)
            same(receiver.receive(timeout=WAIT_S).body, i)
            receiver.accept()


@case
def anonymous_relay_without_an_address():
    with Connection() as c:
        try:
            c.create_sender(None).send(Message(body=1))
        except (SendException, LinkDetached):
            return
        raise AssertionError("it was taken")


@case
def prefix_and_plain_name_are_one_queue():
    with Connection() as c:
        c.create_sender("queue://" + queue("one")).send(Message(body=1))
        receiver = c.create_receiver(queue("one"), credit=1, options=Capability("queue"))
        same(receiver.receive(timeout=WAIT_S).body, 1)
        receiver.accept()


@case
def capabilities_of_the_connection():
    with Connection() as c:
        offered = c.conn.remote_offered_capabilities
        names = {str(n) for n in (offered if isinstance(offered, (list, tuple)) else list(offered.elements))} \
            if offered is not None else set()
        assert "ANONYMOUS-RELAY" in names, names
        assert "DELAYED_DELIVERY" in names, names
        assert "SHARED-SUBS" in names, names


# --- time

@case
def expired_is_not_delivered():
    with Connection() as c:
        sender = c.create_sender(at("expired"))
        sender.send(Message(body="short", ttl=0.1))
        sender.send(Message(body="long", ttl=60))
        pace(0.3)
        receiver = c.create_receiver(at("expired"), credit=5)
        same(receiver.receive(timeout=WAIT_S).body, "long")
        receiver.accept()
        nothing(receiver)


@case
def expired_gives_back_credit():
    """ARTEMIS-4141: a slow consumer, large messages that expire; the consumer does not starve."""
    with Connection() as c:
        sender = c.create_sender(at("starve"))
        for i in range(12):
            sender.send(Message(body="x" * 200000, ttl=0.2))
        pace(0.4)
        receiver = c.create_receiver(at("starve"), credit=1)
        for i in range(3):
            sender.send(Message(body=i))
            same(receiver.receive(timeout=WAIT_S).body, i)
            receiver.accept()


def delivered_later(annotation, value):
    with Connection() as c:
        sender = c.create_sender(at("later"))
        receiver = c.create_receiver(at("later"), credit=5)
        sent = time.time()
        sender.send(Message(body="later", annotations={symbol(annotation): value(sent)}))
        sender.send(Message(body="now"))
        same(receiver.receive(timeout=WAIT_S).body, "now")
        receiver.accept()
        same(receiver.receive(timeout=WAIT_S).body, "later")
        assert time.time() - sent >= 0.55, time.time() - sent
        receiver.accept()


named_case("delivery_time", delivered_later, "x-opt-delivery-time", lambda now: int((now + 0.6) * 1000))
named_case("delivery_delay", delivered_later, "x-opt-delivery-delay", lambda now: 600)


@case
def priority_goes_first():
    with Connection() as c:
        sender = c.create_sender(at("priority"))
        for p in (4, 0, 9, 2, 7, 9):
            sender.send(Message(body=p, priority=p))
        receiver = c.create_receiver(at("priority"), credit=6)
        got = []
        for _ in range(6):
            got.append(receiver.receive(timeout=WAIT_S).body)
            receiver.accept()
        same(got, [9, 9, 7, 4, 2, 0])


# --- connections

@case
def many_links_and_connections():
    connections = [Connection() for _ in range(10)]
    for i, c in enumerate(connections):
        for k in range(10):
            c.create_sender(at(f"many{k}"), name=f"s{k}").send(Message(body=(i, k)[0]))
    for k in range(10):
        receiver = connections[k].create_receiver(at(f"many{k}"), credit=10)
        got = []
        for _ in range(10):
            got.append(receiver.receive(timeout=WAIT_S).body)
            receiver.accept()
        same(got, list(range(10)))
    for c in connections:
        c.close()


@case
def idle_connection_is_kept_alive():
    with Connection(heartbeat=1) as c:
        sender = c.create_sender(at("idle"))
        quiet(c, 2.5)
        sender.send(Message(body=1))


@case
def cut_connection_gives_its_messages_back():
    """RabbitMQ #15473: what a connection had that is gone without a close."""
    import socket
    dead = Connection()
    dead.create_sender(at("cut")).send(Message(body=1))
    dead.create_receiver(at("cut"), credit=1).receive(timeout=WAIT_S)
    # Both ends see a reset.
    for fd in file_descriptors():
        try:
            s = socket.socket(fileno=fd)
        except OSError:
            continue
        if s.getpeername()[1] == endpoint("amqp")[1]:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            s.shutdown(socket.SHUT_RDWR)
        s.detach()
    with Connection() as c:
        receiver = c.create_receiver(at("cut"), credit=1)
        same(receiver.receive(timeout=WAIT_S).body, 1)
        receiver.accept()


def file_descriptors():
    import os
    import stat
    for name in os.listdir("/proc/self/fd"):
        try:
            if stat.S_ISSOCK(os.stat(f"/proc/self/fd/{name}").st_mode):
                yield int(name)
        except OSError:
            pass


@case
def attach_and_detach_many_times():
    with Connection() as c:
        for i in range(300):
            receiver = c.create_receiver(at("flap"), credit=1, name="again")
            receiver.close()
        c.create_sender(at("flap")).send(Message(body="still"))
        receiver = c.create_receiver(at("flap"), credit=1)
        same(receiver.receive(timeout=WAIT_S).body, "still")
        receiver.accept()


@case
def address_that_cannot_be():
    with Connection() as c:
        try:
            c.create_sender("queue://no queue has such a name!")
        except LinkDetached as refused:
            assert refused.condition in ("amqp:not-found", "amqp:invalid-field"), refused.condition
            return
        raise Skipped("this broker takes any name")


if __name__ == "__main__":
    main()
