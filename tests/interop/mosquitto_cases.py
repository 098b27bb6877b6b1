"""MQTT 3.1, 3.1.1 and 5 with mosquitto_pub and mosquitto_sub."""
import subprocess
import threading

from interop import RUN, WAIT_S, case, endpoint, eventually, main, named_case, pace, same

HOST, PORT = endpoint("mqtt")
AT = ["-h", HOST, "-p", str(PORT)]
VERSIONS = {"3.1": "mqttv31", "3.1.1": "mqttv311", "5": "mqttv5"}


def topic(text):
    return f"it/{RUN}/mosq/{text}"


def publish(to, *more, data=b"", version="3.1.1"):
    done = subprocess.run(["mosquitto_pub", *AT, "-V", VERSIONS[version], "-t", to, *map(str, more)], input=data,
                          capture_output=True, timeout=WAIT_S, check=False)
    assert done.returncode == 0, (done.stdout, done.stderr)


class Subscriber:
    """mosquitto_sub that has subscribed; its lines."""

    def __init__(self, *topics, version="3.1.1", more=()):
        words = [w for t in topics for w in ("-t", t)]
        self.process = subprocess.Popen(["stdbuf", "-oL", "mosquitto_sub", *AT, "-d", "-V", VERSIONS[version], *words, *map(str, more)],
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines, self.log = [], []
        threading.Thread(target=self._read, daemon=True).start()
        eventually(lambda: sum("SUBACK" in line for line in self.log) > 0, "SUBACK")

    def _read(self):
        for line in self.process.stdout:
            line = line.rstrip("\n")
            is_debug = line.startswith(("Client ", "Subscribed "))
            (self.log if is_debug else self.lines).append(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(WAIT_S)

    def get(self, count):
        eventually(lambda: len(self.lines) >= count, f"{count} messages of {self.lines}")
        return self.lines[:count]


def qos_travels(version, qos):
    with Subscriber(topic("qos"), version=version, more=["-q", qos]) as s:
        for i in range(5):
            publish(topic("qos"), "-q", qos, "-m", f"m{i}", version=version)
        same(s.get(5), [f"m{i}" for i in range(5)])


for v in VERSIONS:
    for level in (0, 1, 2):
        named_case(f"v{v}_qos_{level}", qos_travels, v, level)


@case
def retained():
    publish(topic("retained"), "-r", "-m", "kept", "-q", 1)
    with Subscriber(topic("retained"), more=["-F", "%r %p"]) as s:
        same(s.get(1), ["1 kept"])
    publish(topic("retained"), "-r", "-n")
    with Subscriber(topic("retained")) as s:
        pace(0.3)
        same(s.lines, [])


@case
def lines_of_a_file():
    with Subscriber(topic("lines"), more=["-q", 1]) as s:
        publish(topic("lines"), "-l", "-q", 1, data=b"".join(b"line %d\n" % i for i in range(500)))
        same(s.get(500), [f"line {i}" for i in range(500)])


@case
def durable_session():
    words = ["-c", "-i", f"mosq-{RUN}", "-q", 1]
    with Subscriber(topic("durable"), more=words):
        pass
    for i in range(3):
        publish(topic("durable"), "-q", 1, "-m", f"d{i}")
    with Subscriber(topic("durable"), more=words) as s:
        same(s.get(3), ["d0", "d1", "d2"])


@case
def will_of_a_killed_client():
    with Subscriber(topic("will"), more=["-q", 1]) as watcher:
        dying = Subscriber(topic("other"), more=["--will-topic", topic("will"), "--will-payload", "gone", "--will-qos", 1])
        dying.process.kill()
        dying.process.wait(WAIT_S)
        same(watcher.get(1), ["gone"])


@case
def wildcards():
    with Subscriber(topic("w/+/x"), topic("w/deep/#"), more=["-v", "-q", 1]) as s:
        for t in ("w/a/x", "w/a/y", "w/deep/er"):
            publish(topic(t), "-q", 1, "-m", "m")
        same(s.get(2), [topic("w/a/x") + " m", topic("w/deep/er") + " m"])


@case
def properties_of_5():
    with Subscriber(topic("props"), version="5", more=["-q", 1, "-F", "%p|%C|%R|%P"]) as s:
        publish(topic("props"), "-q", 1, "-m", "x", "-D", "publish", "content-type", "text/x", "-D", "publish",
                "response-topic", "re/ply", "-D", "publish", "user-property", "k", "v", version="5")
        same(s.get(1), ["x|text/x|re/ply|k:v"])


@case
def shared_subscription():
    shared = f"$share/g{RUN}/" + topic("shared")
    with Subscriber(shared, version="5", more=["-q", 1]) as a, Subscriber(shared, version="5", more=["-q", 1]) as b:
        for i in range(20):
            publish(topic("shared"), "-q", 1, "-m", f"{i}", version="5")
        eventually(lambda: len(a.lines) + len(b.lines) == 20, "each message once")
        same(sorted(map(int, a.lines + b.lines)), list(range(20)))
        assert a.lines and b.lines, "one had them all"


@case
def expiry():
    words = ["-c", "-i", f"mosq-x-{RUN}", "-q", 1, "-x", 600]
    with Subscriber(topic("expiry"), version="5", more=words):
        pass
    publish(topic("expiry"), "-q", 1, "-m", "short", "-D", "publish", "message-expiry-interval", 1, version="5")
    publish(topic("expiry"), "-q", 1, "-m", "long", version="5")
    pace(1.5)
    with Subscriber(topic("expiry"), version="5", more=words) as s:
        same(s.get(1), ["long"])


if __name__ == "__main__":
    main()
