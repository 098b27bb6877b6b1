"""Ports of the listeners of a server under test."""
import re

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
