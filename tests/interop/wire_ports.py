"""Ports of the listeners of a server under test."""
import re
import socket

PROTOCOLS = ("amqp", "mqtt", "stomp")


def listener_arguments(protocols=PROTOCOLS):
    return [word for p in protocols for word in (f"--{p}-port", "free")]


def listener_ports(server):
    """Port by protocol, as the server has said them: "  amqp            amqp://127.0.0.1:5672"."""
    ports = {}
    for line in server.lines:
        found = re.search(r"\b(amqp|mqtt|stomp)://[^:]+:(\d+)", line)
        if found:
            ports[found[1]] = int(found[2])
    return ports


def free_ports(count):
    """For a server that cannot say which port it has taken."""
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports
