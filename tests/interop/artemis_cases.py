"""Our client against a broker that others wrote: the cases of command_cases.py on Artemis, which is
started for them."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import clients
from wire_ports import free_ports


def main():
    amqp, mqtt, stomp = free_ports(3)
    words = ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", clients.java("peer"), "Artemis"]
    with tempfile.TemporaryDirectory(prefix="millstream_") as folder:
        ports = [str(p) for p in (amqp, mqtt, stomp)]
        with subprocess.Popen([*words, folder, *ports], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as broker:
            line = broker.stdout.readline()
            assert line == b"ready\n", line
            environment = {k: v for k, v in os.environ.items() if k != "INTEROP_ADMIN"}
            environment["INTEROP_AMQP"] = f"127.0.0.1:{amqp}"
            done = subprocess.run([sys.executable, "-B", Path(__file__).with_name("command_cases.py"), *sys.argv[1:]],
                                  env=environment, check=False)
            broker.stdin.close()
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
