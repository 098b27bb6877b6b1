#!/usr/bin/env python3
"""What idle connections of messaging clients cost: memory of the server with N of them that have logged in, and its
CPU while nothing happens.

    bench/idle_connections.py [--binary PATH] [--protocol stomp|mqtt|amqp] [--connections N] [--memory-mib-max MIB]

Prints the memory before and with them, bytes a connection, and CPU in one second. Exit status 1 when the memory is
above the limit (200 MiB for 10,000, as issue 5 has it).
"""
import argparse
import os
import resource
import socket
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/common"))
from harness import ROOT, Server, WAIT_S, pace  # noqa: E402

# What a client says first, and how much of an answer means that it is in.
OPEN = b"\x00\x53\x10\xc0\x0f\x02\xa1\x09container\xa1\x01h"
AMQP_OPEN = b"AMQP\x00\x01\x00\x00" + (len(OPEN) + 8).to_bytes(4, "big") + b"\x02\x00\x00\x00" + OPEN
HELLO = {
    "stomp": (b"CONNECT\naccept-version:1.2\nhost:h\n\n\0", b"CONNECTED"),
    "mqtt": (b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x00\x00\x00", b"\x20\x02\x00\x00"),
    "amqp": (AMQP_OPEN, b"\x00\x53\x10"),
}


def connect(port, protocol):
    hello, answer = HELLO[protocol]
    s = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
    s.sendall(hello)
    received = b""
    while answer not in received:
        more = s.recv(4096)
        assert more, f"the server closed after {received!r}"
        received += more
    return s


def cpu_ms(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 // os.sysconf("SC_CLK_TCK")


def measure(options, folder):
    flag = f"--{options.protocol}-port"
    with Server(options.binary, "--dev", "--work-dir", folder, "--qmgr", "QM1", "--buffered", flag, "free") as server:
        port = server.client_ports[options.protocol]
        first = connect(port, options.protocol)  # what is made once counts before
        before = server.memory_kib()
        clients = [connect(port, options.protocol) for _ in range(options.connections)]
        after = server.memory_kib()
        cpu = cpu_ms(server.process.pid)
        pace(1.0)
        cpu = cpu_ms(server.process.pid) - cpu
        print(f"{options.protocol}: {options.connections} connections: {before / 1024:.1f} MiB before, "
              f"{after / 1024:.1f} MiB with them, {(after - before) * 1024 // options.connections} bytes each, "
              f"{cpu} ms of CPU in an idle second", flush=True)
        for s in [first, *clients]:
            s.close()
    return after / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.environ.get("MILLSTREAM", str(ROOT / "build/release/millstream")))
    parser.add_argument("--protocol", default="stomp", choices=sorted(HELLO))
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--memory-mib-max", type=float, default=200)
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory(prefix="millstream_") as folder:
        used = measure(options, Path(folder) / "w")
    sys.exit(1 if used > options.memory_mib_max else 0)


if __name__ == "__main__":
    main()
