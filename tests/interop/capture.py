#!/usr/bin/env python3
"""What goes over the wire is decoded by tshark without a "malformed" mark, while clients that others
wrote run a part of their cases.

    tests/interop/capture.py [--binary PATH] [--protocols LIST]

Capturing needs root, or the rights of a member of the group wireshark; without, it is skipped, and
with CI=true that is a failure. The last line is "N passed, N failed".
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import clients  # noqa: E402
from harness import ROOT, eventually  # noqa: E402
from run import Broker, environment_of, python, java, node  # noqa: E402

# What to run, and the cases by a part of their names: enough to see every kind of frame. Messages of
# one frame: tshark takes a later part of a longer one for a message of its own. It knows no STOMP.
TALK = {
    "amqp": [(python("proton_python.py", "proton"), "type_"), (python("proton_python.py", "proton"), "selector"),
             (python("proton_transactions.py", "proton"), "commit"), (python("proton_transactions.py", "proton"), "abort"),
             (java("JmsCases"), "durable"),
             (node("rhea_cases.js"), "credit")],
    "mqtt": [(node("mqtt_cases.js"), "qos"), (node("mqtt_cases.js"), "properties"), (node("mqtt_cases.js"), "will")],
}
FRAMES_MIN = {"amqp": 300, "mqtt": 60}
SUITE_S = 120


class Capture:
    def __init__(self, port, file):
        self.file = file
        self.process = subprocess.Popen(["tshark", "-q", "-i", "lo", "-B", "64", "-f", f"tcp port {port}", "-w", str(file)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.said = []
        for line in self.process.stderr:
            self.said.append(line)
            if "Capturing on" in line:
                break
        else:
            raise clients.Missing("tshark cannot capture: " + "".join(self.said)[-300:])
        eventually(lambda: file.is_file() and file.stat().st_size > 0, "the capture to begin", 20)

    def stop(self):
        self.process.terminate()
        self.process.communicate(timeout=30)


def decoded(file, port, protocol, wanted):
    """Numbers and info of the frames that a display filter wants."""
    done = subprocess.run(["tshark", "-r", str(file), "-d", f"tcp.port=={port},{protocol}", "-Y", wanted, "-T", "fields",
                           "-e", "frame.number", "-e", "_ws.col.Info"], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.splitlines()


def check(protocol, server, options, folder):
    port = server.ports[protocol]
    capture = Capture(port, folder / f"{protocol}.pcapng")
    try:
        for command, wanted in TALK[protocol]:
            words = [str(w) for w in command()] + [wanted]
            done = subprocess.run(words, env=environment_of(server.ports, server.url, options.binary), capture_output=True,
                                  text=True, timeout=SUITE_S, check=False)
            assert "\nok " in "\n" + done.stdout, (words, done.stdout[-500:], done.stderr[-500:])
    finally:
        capture.stop()
    frames = decoded(capture.file, port, protocol, protocol)
    # What tshark calls a bug of its own (it has one with empty values) is none of ours.
    bad = [f for f in decoded(capture.file, port, protocol, "_ws.malformed") if "[Dissector bug" not in f]
    print(f"  {protocol}: {len(frames)} packets decoded, {len(bad)} malformed", flush=True)
    assert len(frames) >= FRAMES_MIN[protocol], f"only {len(frames)} packets of {protocol}"
    assert not bad, bad[:10]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.environ.get("MILLSTREAM", str(ROOT / "build/release/millstream")))
    parser.add_argument("--protocols", default=",".join(TALK), help="what the server is to speak")
    options = parser.parse_args()
    protocols = [p for p in options.protocols.split(",") if p in TALK]
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="millstream_") as folder, Broker(options.binary, folder, protocols) as server:
        for protocol in protocols:
            try:
                clients.program("tshark")
                check(protocol, server, options, Path(folder))
                print(f"ok {protocol}", flush=True)
                passed += 1
            except clients.Missing as why:
                print(f"skipped {protocol}: {why}")
                failed += os.environ.get("CI") == "true"
            except Exception as error:  # noqa: BLE001
                print(f"FAILED {protocol}: {error!r}", flush=True)
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
