"""What one protocol puts, got by every other: text, bytes, properties, identifiers, replies, topics.

The table in docs/guide/protocols.md is what is expected. Protocols that the server does not speak
are left out; the queue commands stand for IBM MQ's side: descriptor and properties.
"""
import base64
import json
import os
import queue as queues

import paho.mqtt.client as mqtt
import stomp
from interop import RUN, WAIT_S, endpoint, eventually, main, millstream, mqsc, named_case, queue, same
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from proton import Message
from proton.reactor import Container
from proton.utils import BlockingConnection

SPOKEN = [p for p in ("amqp", "mqtt", "stomp") if f"INTEROP_{p.upper()}" in os.environ]


class Seen:
    """What a getter has seen: the body as bytes, whether it is text, and properties as text."""

    def __init__(self, body, is_text=None, properties=None, **more):
        self.body, self.is_text, self.properties = body, is_text, properties or {}
        self.more = {k: v for k, v in more.items() if v is not None}


class Amqp:
    name = "amqp"

    def __init__(self):
        self.connection = BlockingConnection("amqp://%s:%d" % endpoint("amqp"), timeout=WAIT_S, container=Container())

    def put(self, address, body, properties=None, correlation=None, reply_to=None):
        m = Message(body=body, properties=properties or {}, durable=True)
        if isinstance(body, bytes):
            m.inferred = True
        if correlation:
            m.correlation_id = correlation
        if reply_to:
            m.reply_to = reply_to
        self.connection.create_sender(address).send(m)

    def subscribe(self, address):
        self.receiver = self.connection.create_receiver(address, credit=10)

    def get(self):
        m = self.receiver.receive(timeout=WAIT_S)
        self.receiver.accept()
        body = m.body
        is_text = isinstance(body, str)
        raw = body.encode() if is_text else bytes(body)
        return Seen(raw, is_text, {k: str(v) for k, v in (m.properties or {}).items()}, correlation=m.correlation_id,
                    reply_to=m.reply_to)

    def close(self):
        self.connection.close()


class Stomp(stomp.ConnectionListener):
    name = "stomp"

    def __init__(self):
        self.frames = queues.Queue()
        self.receipts = set()
        self.errors = []
        self.connection = stomp.Connection12([endpoint("stomp")], auto_decode=False)
        self.connection.set_listener("", self)
        self.connection.connect(wait=True)

    def on_message(self, frame):
        self.frames.put(frame)

    def on_receipt(self, frame):
        self.receipts.add(frame.headers["receipt-id"])

    def on_error(self, frame):
        self.errors.append(frame.body)

    def wait(self, receipt):
        eventually(lambda: receipt in self.receipts or self.errors, "a receipt")
        assert not self.errors, self.errors

    def put(self, address, body, properties=None, correlation=None, reply_to=None):
        headers = {"receipt": "put", "persistent": "true", **(properties or {})}
        if isinstance(body, str):
            headers["content-type"] = "text/plain"
        if correlation:
            headers["correlation-id"] = correlation
        if reply_to:
            headers["reply-to"] = reply_to
        self.connection.send(address, body, headers=headers)
        self.wait("put")

    def subscribe(self, address):
        self.connection.subscribe(address, id="1", ack="auto", headers={"receipt": "sub"})
        self.wait("sub")

    def get(self):
        frame = self.frames.get(timeout=WAIT_S)
        body = frame.body if isinstance(frame.body, bytes) else frame.body.encode()
        return Seen(body, frame.headers.get("content-type", "").startswith("text/"), frame.headers,
                    correlation=frame.headers.get("correlation-id"), reply_to=frame.headers.get("reply-to"))

    def close(self):
        self.connection.disconnect()


class Commands:
    """The queue commands: descriptor and properties of MQ."""
    name = "commands"

    def put(self, address, body, properties=None, correlation=None, reply_to=None):
        words = ["put", address.removeprefix("queue://"), "--persistence", "yes"]
        if isinstance(body, str):
            words += ["--format", "MQSTR", "--ccsid", "1208"]
        for k, v in (properties or {}).items():
            words += ["-p", f"{k}={v}"]
        if correlation:
            words += ["--correlation-id", correlation]
        if reply_to:
            words += ["--reply-to", reply_to.removeprefix("queue://")]
        millstream(*words, data=body.encode() if isinstance(body, str) else body)

    def subscribe(self, address):
        self.queue = address.removeprefix("queue://")

    def get(self):
        m = json.loads(millstream("get", self.queue, "--wait", 20, "--json"))
        body = m["body"].encode() if "body" in m else base64.b64decode(m["bodyBase64"])
        correlation = bytes.fromhex(m.get("correlationId", "")).rstrip(b"\0").decode() or None
        reply_to = m.get("replyToQueue")
        return Seen(body, m.get("format") == "MQSTR", {k: str(v) for k, v in m.get("properties", {}).items()},
                    correlation=correlation, reply_to=reply_to)

    def close(self):
        pass


class Mqtt:
    """Topics only; MQTT 5."""
    name = "mqtt"

    def __init__(self):
        self.messages = queues.Queue()
        self.subscribed = False
        self.client = mqtt.Client(client_id=f"matrix-{RUN}-{id(self):x}", protocol=mqtt.MQTTv5)
        self.client.on_message = lambda client, userdata, message: self.messages.put(message)
        self.client.on_subscribe = lambda *_: setattr(self, "subscribed", True)
        self.client.connect(*endpoint("mqtt"))
        self.client.loop_start()

    def put(self, address, body, properties=None, correlation=None, reply_to=None):
        more = Properties(PacketTypes.PUBLISH)
        if properties:
            more.UserProperty = list(properties.items())
        if correlation:
            more.CorrelationData = correlation.encode()
        if isinstance(body, str):
            more.PayloadFormatIndicator = 1
        self.client.publish(address.removeprefix("topic://"), body, qos=1, properties=more).wait_for_publish(WAIT_S)

    def subscribe(self, address):
        self.client.subscribe(address.removeprefix("topic://"), qos=1)
        eventually(lambda: self.subscribed, "SUBACK")

    def get(self):
        m = self.messages.get(timeout=WAIT_S)
        p = m.properties
        correlation = getattr(p, "CorrelationData", b"").decode() or None
        return Seen(m.payload, getattr(p, "PayloadFormatIndicator", 0) == 1, dict(getattr(p, "UserProperty", [])),
                    correlation=correlation)

    def close(self):
        self.client.loop_stop()
        self.client.disconnect()


KINDS = {"amqp": Amqp, "stomp": Stomp, "mqtt": Mqtt, "commands": Commands}
TEXT = "Grüße, 世界 🌍"
BYTES = bytes(range(256))


def exchange(putter, getter, address, is_topic=False, **message):
    to, of = KINDS[putter](), KINDS[getter]()
    try:
        if is_topic:
            of.subscribe(address)
            to.put(address, **message)
        else:
            to.put(address, **message)
            of.subscribe(address)
        return of.get()
    finally:
        to.close()
        of.close()


def texts(putter, getter, address, is_topic):
    seen = exchange(putter, getter, address, is_topic, body=TEXT)
    same((seen.body.decode(), seen.is_text), (TEXT, True))


def bytes_travel(putter, getter, address, is_topic):
    seen = exchange(putter, getter, address, is_topic, body=BYTES)
    same((seen.body, bool(seen.is_text)), (BYTES, False))


def properties_travel(putter, getter, address, is_topic):
    want = {"color": "red", "size": "12"}
    seen = exchange(putter, getter, address, is_topic, body="x", properties=want)
    same({k: seen.properties.get(k) for k in want}, want)


def correlation_travels(putter, getter, address, is_topic):
    seen = exchange(putter, getter, address, is_topic, body="x", correlation="order-7")
    same(seen.more.get("correlation"), "order-7")


def reply_to_travels(putter, getter, address, is_topic):
    seen = exchange(putter, getter, address, is_topic, body="x", reply_to="queue://" + queue("mx.replies"))
    # Each says it in its own way; the queue's name is in all of them.
    assert queue("mx.replies") in str(seen.more.get("reply_to")), seen.more


def add(kind, places, is_topic, function):
    for putter in places:
        for getter in places:
            if putter == getter:
                continue
            text = f"{kind}.{putter}.{getter}"
            name = f"it/{RUN}/mx/{text}" if is_topic else queue("mx." + text)
            address = ("topic://" if is_topic else "queue://") + name
            named_case(f"{'topic' if is_topic else 'queue'}_{kind}_{putter}_to_{getter}", function, putter, getter, address,
                       is_topic)


WITH_QUEUES = [p for p in SPOKEN if p != "mqtt"] + ["commands"]
for label, check in (("text", texts), ("bytes", bytes_travel), ("properties", properties_travel),
                     ("correlation", correlation_travels), ("reply_to", reply_to_travels)):
    add(label, WITH_QUEUES, False, check)
    if label != "reply_to":
        add(label, SPOKEN, True, check)


if __name__ == "__main__":
    mqsc("\n".join(f"DEFINE QLOCAL({queue('mx.' + k + '.' + a + '.' + b)}) REPLACE"
                   for k in ("text", "bytes", "properties", "correlation", "reply_to")
                   for a in WITH_QUEUES for b in WITH_QUEUES if a != b))
    main()
