"""Transactions of AMQP 1.0 with Qpid Proton for Python: the coordinator, posting, retirement."""
from interop import WAIT_S, case, endpoint, main, queue, same
from proton import Message, Timeout
from proton.handlers import MessagingHandler, TransactionHandler
from proton.reactor import Container
from proton.utils import BlockingConnection

TRANSACTIONAL = 0x34
URL = "amqp://%s:%d" % endpoint("amqp")


def at(name):
    return "queue://" + queue(name)


def put(name, bodies):
    c = BlockingConnection(URL, timeout=WAIT_S)
    sender = c.create_sender(at(name))
    for b in bodies:
        sender.send(Message(body=b, durable=True))
    c.close()


def take_all(name, quiet_s=0.3):
    """The bodies that are on a queue, and the delivery counts."""
    c = BlockingConnection(URL, timeout=WAIT_S)
    receiver = c.create_receiver(at(name), credit=100)
    got = []
    try:
        while True:
            m = receiver.receive(timeout=quiet_s)
            receiver.accept()
            got.append(m.body)
    except Timeout:
        c.close()
        return got


class Script(MessagingHandler, TransactionHandler):
    """Runs a generator: it yields the kind of the event that it waits for.

    Kinds: "declared", "declare_failed", "committed", "aborted", "commit_failed", "sendable", "posted",
    "message", "opened", "refused". What it gets is the event.
    """

    def __init__(self, script):
        super().__init__(prefetch=0, auto_accept=False, auto_settle=False)
        self.script, self.steps, self.waits, self.error = script, None, None, None
        self.early = []

    def on_start(self, event):
        self.container = event.container
        self.conn = event.container.connect(URL)
        self.timer = self.container.schedule(WAIT_S, self)
        self.steps = self.script(self)
        self.advance(None)

    def on_timer_task(self, event):
        self.error = self.error or AssertionError(f"waited for {self.waits}")
        self.container.stop()

    def advance(self, event):
        try:
            self.waits = self.steps.send(event)
        except StopIteration:
            return self.end(None)
        except Exception as error:  # noqa: BLE001
            return self.end(error)
        for i, (kind, event) in enumerate(self.early):
            if kind == self.waits:
                del self.early[i]
                return self.advance(event)

    def end(self, error):
        self.error = error
        self.timer.cancel()
        self.conn.close()

    def happened(self, kind, event):
        if self.waits == kind:
            self.waits = None
            self.advance(event)
        elif kind != "sendable":
            self.early.append((kind, event))

    def on_transaction_declared(self, event):
        self.happened("declared", event)

    def on_transaction_declare_failed(self, event):
        self.happened("declare_failed", event)

    def on_transaction_committed(self, event):
        self.happened("committed", event)

    def on_transaction_aborted(self, event):
        self.happened("aborted", event)

    def on_transaction_commit_failed(self, event):
        self.happened("commit_failed", event)

    def on_sendable(self, event):
        self.happened("sendable", event)

    def on_delivery(self, event):
        if event.link.is_sender and event.delivery.updated and event.delivery.remote_state == TRANSACTIONAL:
            self.happened("posted", event)

    def on_link_opened(self, event):
        if not event.link.is_sender or event.link.name != "coordinator":
            self.happened("opened", event)

    def on_link_error(self, event):
        self.happened("refused", event)

    def on_message(self, event):
        self.happened("message", event)

    def declare(self):
        self.container.declare_transaction(self.conn, handler=self)


def play(script):
    handler = Script(script)
    Container(handler).run()
    if handler.error:
        raise handler.error


def sending(name, count, commit, rounds=1):
    def script(h):
        sender = h.container.create_sender(h.conn, at(name))
        yield "sendable"
        for r in range(rounds):
            h.declare()
            transaction = (yield "declared").transaction
            for i in range(count):
                transaction.send(sender, Message(body=r * count + i, durable=True))
            if commit:
                transaction.commit()
                yield "committed"
            else:
                transaction.abort()
                yield "aborted"
    return script


@case
def commit_of_puts():
    play(sending("tx.put", 5, True))
    same(take_all("tx.put"), [0, 1, 2, 3, 4])


@case
def abort_of_puts():
    play(sending("tx.abort", 5, False))
    same(take_all("tx.abort"), [])


@case
def many_transactions_one_after_the_other():
    play(sending("tx.many", 10, True, rounds=30))
    same(take_all("tx.many"), list(range(300)))


@case
def nothing_in_a_transaction():
    def script(h):
        for end in ("committed", "aborted"):
            h.declare()
            transaction = (yield "declared").transaction
            transaction.commit() if end == "committed" else transaction.abort()
            yield end
    play(script)


@case
def nothing_is_seen_before_the_commit():
    seen = []

    def script(h):
        sender = h.container.create_sender(h.conn, at("tx.unseen"))
        yield "sendable"
        h.declare()
        transaction = (yield "declared").transaction
        transaction.send(sender, Message(body=1))
        yield "posted"
        seen.append(take_all("tx.unseen", 0.2))
        transaction.commit()
        yield "committed"
    play(script)
    same(seen, [[]])
    same(take_all("tx.unseen"), [1])


def receiving(name, count, commit):
    def script(h):
        receiver = h.container.create_receiver(h.conn, at(name))
        yield "opened"
        h.declare()
        transaction = (yield "declared").transaction
        receiver.flow(count)
        for i in range(count):
            event = yield "message"
            same(event.message.body, i)
            transaction.accept(event.delivery)
        if commit:
            transaction.commit()
            yield "committed"
        else:
            transaction.abort()
            yield "aborted"
    return script


@case
def commit_of_gets():
    put("tx.get", range(5))
    play(receiving("tx.get", 3, True))
    same(take_all("tx.get"), [3, 4])


@case
def abort_of_gets():
    """ARTEMIS-4517 too: the order is that of the queue."""
    put("tx.back", range(6))
    play(receiving("tx.back", 4, False))
    same(take_all("tx.back"), list(range(6)))


@case
def order_after_an_abort_with_two_producers():
    """ARTEMIS-4517: two producers take turns; the consumer gives ten back."""
    one, two = (BlockingConnection(URL, timeout=WAIT_S) for _ in range(2))
    senders = [c.create_sender(at("tx.turns")) for c in (one, two)]
    for i in range(20):
        senders[i % 2].send(Message(body=i))
    play(receiving("tx.turns", 10, False))
    same(take_all("tx.turns"), list(range(20)))
    one.close()
    two.close()


@case
def gets_and_puts_are_one_unit():
    put("tx.from", range(4))

    def script(h):
        sender = h.container.create_sender(h.conn, at("tx.to"))
        yield "sendable"
        receiver = h.container.create_receiver(h.conn, at("tx.from"))
        yield "opened"
        for end in ("aborted", "committed"):
            h.declare()
            transaction = (yield "declared").transaction
            receiver.flow(2)
            for _ in range(2):
                event = yield "message"
                transaction.send(sender, Message(body=event.message.body * 10))
                transaction.accept(event.delivery)
            transaction.commit() if end == "committed" else transaction.abort()
            yield end
            if end == "aborted":
                receiver.close()
                receiver = h.container.create_receiver(h.conn, at("tx.from"), name="again")
                yield "opened"
    play(script)
    same(take_all("tx.to"), [0, 10])
    same(take_all("tx.from"), [2, 3])


@case
def two_transactions_at_once():
    def script(h):
        sender = h.container.create_sender(h.conn, at("tx.two"))
        yield "sendable"
        h.declare()
        first = (yield "declared").transaction
        h.declare()
        second = (yield "declared").transaction
        first.send(sender, Message(body="first"))
        second.send(sender, Message(body="second"))
        first.abort()
        yield "aborted"
        second.commit()
        yield "committed"
    play(script)
    same(take_all("tx.two"), ["second"])


@case
def the_end_of_a_connection_is_an_abort():
    def script(h):
        sender = h.container.create_sender(h.conn, at("tx.left"))
        yield "sendable"
        h.declare()
        transaction = (yield "declared").transaction
        transaction.send(sender, Message(body=1))
        yield "posted"
    play(script)
    same(take_all("tx.left"), [])


@case
def large_messages_in_a_transaction():
    def script(h):
        sender = h.container.create_sender(h.conn, at("tx.large"))
        yield "sendable"
        h.declare()
        transaction = (yield "declared").transaction
        for i in range(4):
            transaction.send(sender, Message(body=str(i) * (1 << 20)))
        transaction.commit()
        yield "committed"
    play(script)
    same([(len(b), b[0]) for b in take_all("tx.large")], [(1 << 20, str(i)) for i in range(4)])


@case
def several_queues_in_a_transaction():
    def script(h):
        senders = []
        for i in range(5):
            senders.append(h.container.create_sender(h.conn, at(f"tx.q{i}")))
            yield "opened"
        h.declare()
        transaction = (yield "declared").transaction
        for i, s in enumerate(senders):
            transaction.send(s, Message(body=i))
        transaction.commit()
        yield "committed"
    play(script)
    same([take_all(f"tx.q{i}") for i in range(5)], [[i] for i in range(5)])


if __name__ == "__main__":
    main()
