"""A client for kill.py: puts messages, or gets them, again and again while the server comes and goes.

    kill_worker.py amqp|stomp put|get ADDRESS PREFIX PORTS_FILE

Prints "put TEXT" when the server has acknowledged a message, "maybe TEXT" before a message that has
come is acknowledged, and "got TEXT" afterwards: with STOMP when the server has said so, with AMQP when
it has been sent. Ends with its standard input.
"""
import json
import queue as queues
import sys
import threading

import stomp
from proton import Message
from proton.reactor import Container
from proton.utils import BlockingConnection

ANSWER_S = 3.0
STOP = threading.Event()
PROTOCOL, ROLE, ADDRESS, PREFIX, PORTS_FILE = sys.argv[1:6]


def port():
    with open(PORTS_FILE, encoding="utf-8") as file:
        return json.load(file)[PROTOCOL]


class Amqp:
    def __init__(self):
        self.connection = BlockingConnection(f"amqp://127.0.0.1:{port()}", timeout=ANSWER_S, container=Container())
        self.link = (self.connection.create_sender(ADDRESS) if ROLE == "put" else
                     self.connection.create_receiver(ADDRESS, credit=5))

    def put(self, text):
        self.link.send(Message(body=text, durable=True))

    def get(self):
        body = self.link.receive(timeout=ANSWER_S).body
        text = body if isinstance(body, str) else bytes(body).decode()
        print(f"maybe {text}", flush=True)
        self.link.accept()
        return text

    def close(self):
        self.connection.close()


class Stomp(stomp.ConnectionListener):
    def __init__(self):
        self.frames, self.receipts, self.is_gone = queues.Queue(), queues.Queue(), False
        self.connection = stomp.Connection12([("127.0.0.1", port())], reconnect_attempts_max=1)
        self.connection.set_listener("", self)
        self.connection.connect(wait=True)
        if ROLE == "get":
            self.connection.subscribe(ADDRESS, id="1", ack="client-individual", headers={"prefetch-count": "5"})

    def on_receipt(self, frame):
        self.receipts.put(frame.headers["receipt-id"])

    def on_message(self, frame):
        self.frames.put(frame)

    def put(self, text):
        self.connection.send(ADDRESS, text, "text/plain", headers={"persistent": "true", "receipt": text})
        while self.receipts.get(timeout=ANSWER_S) != text:
            pass

    def get(self):
        frame = self.frames.get(timeout=ANSWER_S)
        print(f"maybe {frame.body}", flush=True)
        self.connection.ack(frame.headers["ack"], receipt=frame.body)
        while self.receipts.get(timeout=ANSWER_S) != frame.body:
            pass
        return frame.body

    def close(self):
        self.connection.disconnect()


def wait_for_the_end():
    sys.stdin.read()
    STOP.set()


def main():
    threading.Thread(target=wait_for_the_end, daemon=True).start()
    number, client = 0, None
    while not STOP.is_set():
        try:
            client = client or (Amqp if PROTOCOL == "amqp" else Stomp)()
            if ROLE == "put":
                # A number that is not known to have arrived is not used again.
                number += 1
                client.put(f"{PREFIX}-{number}")
                print(f"put {PREFIX}-{number}", flush=True)
                STOP.wait(0.002)
            else:
                print(f"got {client.get()}", flush=True)
        except Exception:  # noqa: BLE001: whatever it is, the server may have gone
            client = None
            STOP.wait(0.05)


if __name__ == "__main__":
    main()
