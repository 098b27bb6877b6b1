#!/usr/bin/env python3
"""Ports of messaging clients: which are open, with and without TLS, channels that are started and stopped by
command, what displays and metrics say of them.

    tests/wire/ports.py [--binary PATH] [--filter TEXT]

The last line is "N passed, N failed"; exit status 1 when something failed.
"""
import re
import socket
import ssl
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from harness import Server, WAIT_S, case, eventually, main

NUL = b"\0"


def dev_server(binary, folder, *more):
    return Server(binary, "--dev", "--work-dir", folder, "--qmgr", "QM1", "--buffered", *more)


def mqsc(server, script):
    return server.run("mqsc", "-e", text=script, check=False).stdout


class Stomp:
    """As much of a client as these cases need."""

    def __init__(self, port, tls=None, headers=""):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
        self.received = b""
        self.connected = self.ask("CONNECT\naccept-version:1.2\nhost:h\n" + headers)

    def ask(self, head, body=""):
        self.socket.sendall((head + "\n" + body).encode() + NUL)
        return self.frame()

    def frame(self):
        while NUL not in self.received:
            try:
                more = self.socket.recv(65536)
            except ConnectionResetError:
                more = b""
            if not more:
                return ""
            self.received += more
        frame, _, self.received = self.received.partition(NUL)
        return frame.decode().lstrip("\n")

    def put(self, queue, body):
        answer = self.ask(f"SEND\ndestination:{queue}\nreceipt:1\n", body)
        assert answer.startswith("RECEIPT"), answer

    def __enter__(self):
        assert self.connected.startswith("CONNECTED"), self.connected
        return self

    def __exit__(self, *_):
        self.socket.close()


def certificate(folder):
    key, cert, both = folder / "key.pem", folder / "cert.pem", folder / "both.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    both.write_bytes(key.read_bytes() + cert.read_bytes())
    return cert, both


@case
def the_port_is_printed_and_leads_to_the_queue_manager(binary, folder):
    with dev_server(binary, folder / "w", "--stomp-port", "free") as server:
        port = server.client_ports["stomp"]
        assert set(server.client_ports) == {"stomp"}, server.client_ports
        assert any(f"stomp://127.0.0.1:{port}  DEV.APP.STOMP" in line for line in server.lines)
        with Stomp(port, headers="client-id:me\n") as client:
            client.put("DEV.QUEUE.1", "hello")
            assert server.run("get", "DEV.QUEUE.1").stdout.strip() == "hello"
            shown = mqsc(server, "DISPLAY CHSTATUS(*) ALL")
            assert "CHANNEL(DEV.APP.STOMP)" in shown and "STATUS(RUNNING)" in shown, shown
            assert "CONNAME(127.0.0.1:" in shown, shown
            listeners = mqsc(server, "DISPLAY LSSTATUS(*) ALL")
            assert f"PORT({port})" in listeners and "DESCR(STOMP)" in listeners, listeners
            connections = mqsc(server, "DISPLAY CONN(*) WHERE(CHANNEL EQ DEV.APP.STOMP) ALL")
            assert "CONNAME(127.0.0.1:" in connections, connections
            metrics = server.admin("GET", "/metrics").text
            assert re.search(r'millstream_wire_connections{protocol="stomp",[^}]*} 1\b', metrics), metrics
            assert re.search(r'millstream_wire_messages_received_total{protocol="stomp",[^}]*} 1\b', metrics)
    assert server.process.returncode == 0


@case
def clients_are_told_when_the_server_stops(binary, folder):
    with dev_server(binary, folder / "w", "--stomp-port", "free") as server:
        with Stomp(server.client_ports["stomp"]) as client:
            assert server.stop() == 0
            assert client.frame().startswith("ERROR")


@case
def a_port_that_is_taken(binary, folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        words = [binary, "run", "--dev", "--work-dir", folder / "w", "--qmgr", "QM1", "--buffered", "--http-port", "0",
                 "--admin-port", "off", "--amqp-port", "0", "--mqtt-port", "0", "--stomp-port", port]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=WAIT_S, check=False)
        assert done.returncode == 1, done
        assert f"Cannot listen on 127.0.0.1:{port}" in done.stderr, done.stderr
        bad = subprocess.run([binary, "run", "--work-dir", str(folder / "w"), "--stomp-port", "x"], capture_output=True,
                             text=True, timeout=WAIT_S, check=False)
        assert bad.returncode == 2 and "--stomp-port is 'x'" in bad.stderr, bad


@case
def a_port_asks_for_a_queue_manager(binary, folder):
    with Server(binary, "--dev", "--work-dir", folder / "w", "--buffered", "--stomp-port", "free") as server:
        with Stomp(server.client_ports["stomp"]) as client:
            client.put("queue://DEV.QUEUE.1", "x")
    no_folder = subprocess.run([binary, "run", "examples", "--stomp-port", "free", "--http-port", "0"],
                               capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert no_folder.returncode == 1 and "--stomp-port asks for" in no_folder.stderr, no_folder.stderr


@case
def the_twin_with_tls(binary, folder):
    cert, both = certificate(folder)
    missing = subprocess.run([binary, "run", "--work-dir", str(folder / "x"), "--qmgr", "QM1", "--buffered",
                              "--http-port", "0", "--admin-port", "off", "--stomps-port", "free", "--dev"],
                             capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert missing.returncode == 1 and "STOMP with TLS needs a key" in missing.stderr, missing.stderr
    conf = folder / "w" / "server.conf.yaml"
    conf.parent.mkdir()
    conf.write_text(f"Millstream:\n  Messaging:\n    KeystoreFile: {both}\n    STOMP: {{Channel: SECURE}}\n")
    with dev_server(binary, folder / "w", "--amqps-port", "0", "--mqtts-port", "0",
                    "--stomps-port", "free") as server:
        tls = ssl.create_default_context(cafile=str(cert))
        with Stomp(server.client_ports["stomps"], tls) as client:
            client.put("DEV.QUEUE.1", "secret")
            assert "CHANNEL(SECURE)" in mqsc(server, "DISPLAY CHSTATUS(*)")
        assert "stomp" not in server.client_ports


@case
def limits_are_keys_of_the_file(binary, folder):
    conf = folder / "w" / "server.conf.yaml"
    conf.parent.mkdir()
    conf.write_text("Millstream:\n  Messaging:\n    STOMP: {MaxConnections: 1, MaxMessageBytes: 10}\n")
    with dev_server(binary, folder / "w", "--stomp-port", "free") as server:
        port = server.client_ports["stomp"]
        with Stomp(port) as client:
            assert Stomp(port).connected == ""
            assert "longer than 10 bytes" in client.ask("SEND\ndestination:DEV.QUEUE.1\n", "x" * 11)
        eventually(lambda: 'refused_total{protocol="stomp",channel="DEV.APP.STOMP"} 1' in
                   server.admin("GET", "/metrics").text, "a refused connection is counted")
    conf.write_text("Millstream:\n  Messaging:\n    STOMP: {Port: many}\n")
    bad = subprocess.run([binary, "run", "--work-dir", str(conf.parent), "--qmgr", "QM1", "--buffered"],
                         capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert bad.returncode == 1 and "Millstream/Messaging/STOMP/Port is 'many'" in bad.stderr, bad.stderr


@case
def channels_stop_and_start(binary, folder):
    with dev_server(binary, folder / "w", "--stomp-port", "free") as server:
        port = server.client_ports["stomp"]
        with Stomp(port) as client:
            assert "AMQ8019I" in mqsc(server, "STOP CHANNEL(DEV.APP.STOMP)")
            assert client.frame().startswith("ERROR")
        assert "PORT(" not in mqsc(server, "DISPLAY LSSTATUS(*)")
        assert "AMQ8018I" in mqsc(server, "START CHANNEL(DEV.APP.STOMP)")
        shown = mqsc(server, "DISPLAY LSSTATUS(*) ALL")
        again = int(re.search(r"PORT\((\d+)\)", shown).group(1))
        with Stomp(again):
            pass
        assert "AMQ8018I" not in mqsc(server, "START CHANNEL(DEV.APP.STOMP)")
        assert "AMQ8018I" not in mqsc(server, "START CHANNEL(NO.SUCH)")
        refused = mqsc(server, "DEFINE CHANNEL(TO.QM2) CHLTYPE(SVRCONN)\nSTART CHANNEL(TO.QM2)")
        assert "channels of this type do not run" in refused, refused


def speaks_amqp(port):
    """Whether somebody answers AMQP's first eight bytes there."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as client:
            client.sendall(b"AMQP\x00\x01\x00\x00")
            return client.recv(8).startswith(b"AMQP")
    except ConnectionError:
        return False


@case
def a_channel_that_was_started_starts_again(binary, folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    define = f"DEFINE CHANNEL(MORE.AMQP) CHLTYPE(AMQP) PORT({port}) MAXINST(1)\n"
    with dev_server(binary, folder / "w") as server:
        assert "AMQ8014I" in mqsc(server, define)
        assert not speaks_amqp(port)
        assert "AMQ8018I" in mqsc(server, "START CHANNEL(MORE.AMQP)")
        assert speaks_amqp(port)
        assert f"PORT({port})" in mqsc(server, "DISPLAY LSSTATUS(MORE.*) ALL")
    with dev_server(binary, folder / "w") as server:
        assert speaks_amqp(port), server.errors
        assert "AMQ8019I" in mqsc(server, "STOP CHANNEL(MORE.AMQP) MODE(FORCE)")
        assert not speaks_amqp(port)
    with dev_server(binary, folder / "w") as server:
        assert not speaks_amqp(port)
        script = folder / "more.mqsc"
        script.write_text("START CHANNEL(MORE.AMQP)\n")
    with dev_server(binary, folder / "w", script) as server:
        assert speaks_amqp(port), server.errors


if __name__ == "__main__":
    main(__doc__)
