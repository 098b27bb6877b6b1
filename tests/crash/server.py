#!/usr/bin/env python3
"""Kills the shipped server with -9 at any instant, again and again, and judges its promises.

Test "a unit of work over three queues is committed, the server killed with -9 at any instant, and
after the restart the ledger is clean": several client processes speak with `millstream run --qmgr`
over its admin port (server_client: units over three queues, sessions, moves, publications, REST;
and the commands `millstream put` and `millstream get`). Some kills hit the start, some come after a
pause of the whole process, some take a client with them. Every few kills the server starts on a disk
without a free byte: gets and commits have to go on, puts be refused with 2056.

    tests/crash/server.py [--binary PATH] [--client PATH] [--count N] [--seed N] [--full-disk no|yes|only]

The full disk is a small tmpfs in a mount namespace of this process; where that is not permitted the
part is skipped and says so. The last line is "N passed, N failed".
"""
import argparse
import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from harness import Server, eventually, pace

CLIENTS = 3
FIELDS = ("kind", "at", "unit", "queue", "key", "producer", "number", "priority", "expires", "persistent", "flagged",
          "selective")
SETUP = """
ALTER QLOCAL(DEV.QUEUE.1) MAXDEPTH(999999999)
DEFINE QLOCAL(Q1) MAXDEPTH(999999999)
DEFINE QLOCAL(Q2) MAXDEPTH(999999999)
DEFINE QLOCAL(Q3) MAXDEPTH(999999999)
DEFINE QLOCAL(R1) MAXDEPTH(999999999)
DEFINE QLOCAL(MOVED) MAXDEPTH(999999999)
DEFINE TOPIC(FAN) TOPICSTR('fan/out')
DEFINE SUB(FAN.Q1) TOPICSTR('fan/out') DEST(Q1)
DEFINE SUB(FAN.Q2) TOPICSTR('fan/out') DEST(Q2)
DEFINE SUB(FAN.Q3) TOPICSTR('fan/out') DEST(Q3)
"""
# A unit of the commands: a text of two lines, its key first. sim/message_text.h has the form.
SMALL_TMPFS = "size=900m"


class Finding(Exception):
    pass


def entry(kind, unit="", queue="", key="", producer="", number=0, flagged=False):
    values = [kind, time.monotonic_ns(), unit, queue, key, producer, number, 0, 0, 1, int(flagged), 0]
    return "\t".join(map(str, values)) + "\n"


def text_of(key):
    size = len(key) + 2
    while len(f"{key} {size}\n") != size:
        size = len(f"{key} {size}\n")
    return f"{key} {size}\n"


class CommandClient(threading.Thread):
    """`millstream put` and `millstream get`, one after the other, each a unit of work."""

    def __init__(self, binary, url, ledger, name):
        super().__init__(daemon=True)
        self.binary, self.url, self.name_, self.number = binary, url, name, 0
        self.round = name.split("-")[0] + "-"
        self.ledger = open(ledger, "a", buffering=1, encoding="utf-8")
        self.error = None

    def note(self, *arguments, **more):
        self.ledger.write(entry(*arguments, **more))
        self.ledger.flush()

    def call(self, *arguments, data=b""):
        return subprocess.run([self.binary, *arguments, "--url", self.url], input=data, capture_output=True,
                              timeout=120, check=False)

    def run(self):
        try:
            while self.step():
                pass
        except Exception as error:  # noqa: BLE001
            self.error = error
        self.ledger.close()

    def step(self):
        self.number += 1
        unit, key = f"{self.name_}u{self.number}", f"{self.name_}k{self.number}"
        queue = f"Q{1 + self.number % 3}"
        self.note("put", unit, queue, key, self.name_, self.number)
        self.note("commit", unit)
        done = self.call("put", queue, "--persistence", "yes", "--message-id", key[:24], "-q", data=text_of(key).encode())
        if done.returncode != 0:
            if b"connect" in done.stderr or b"MS27" in done.stderr or b"2009" in done.stderr or b"2161" in done.stderr:
                return False
            raise Finding(f"put: {done.returncode} {done.stderr.decode()}")
        self.note("committed", unit)
        unit += "g"
        queue = f"Q{1 + (self.number + 1) % 3}"
        done = self.call("get", queue, "-q", "--raw")
        if done.stdout:
            key = done.stdout.split(b" ", 1)[0].decode()
            key += f"@{queue}" if key.endswith("p") else ""
            # Written before it is committed, so that an end without success leaves it open.
            self.note("got", unit, queue, key, unit, flagged=True)
            self.note("commit", unit)
            if done.returncode == 0:
                self.note("committed", unit)
        return done.returncode in (0, 3)


class Proof:
    def __init__(self, options, folder, rng, ledgers=None):
        self.options, self.rng, self.folder = options, rng, folder
        self.work, self.ledgers = folder / "work", ledgers or folder / "ledgers"
        self.passed = self.failed = self.epoch = 0
        self.line = ""

    def start(self):
        with open(self.ledgers / "server.log", "a", encoding="utf-8") as log:
            log.write(entry("crash"))
        server = Server(self.options.binary, "--dev", "--work-dir", self.work, "--qmgr", "QM1", *self.options.server)
        if not server.port:
            raise Finding("the server does not start:\n" + "\n".join(server.lines + server.errors))
        return server

    def fresh(self):
        """An empty server and an empty ledger."""
        shutil.rmtree(self.ledgers, ignore_errors=True)
        self.ledgers.mkdir(parents=True)
        self.epoch += 1

    def judge(self, server):
        done = subprocess.run([self.options.client, "check", str(server.admin_port), self.ledgers], capture_output=True,
                              text=True, timeout=300, check=False)
        if done.returncode != 0:
            raise Finding(f"the ledger: {done.stdout}{done.stderr}")
        self.line = done.stdout.splitlines()[0]

    def begin(self, server, turn):
        name = f"e{self.epoch}r{turn}-"
        clients = [subprocess.Popen([self.options.client, "work", str(server.admin_port),
                                     str(self.ledgers / f"{name}c{i}.log"), f"{name}c{i}"], stderr=subprocess.PIPE)
                   for i in range(CLIENTS)]
        commands = CommandClient(self.options.binary, server.url, self.ledgers / f"{name}x.log", f"{name}x")
        commands.start()
        return clients, commands

    def end(self, clients, commands):
        for client in clients:
            errors = client.communicate(timeout=90)[1].decode()
            if client.returncode not in (0, -signal.SIGKILL):
                raise Finding(f"a client: {errors}")
        commands.join(timeout=130)
        if commands.is_alive():
            raise Finding("a command does not end")
        if commands.error:
            raise Finding(f"a command: {commands.error}")

    def kill_a_start(self):
        """A process that is killed before it is ready, or just then."""
        words = [self.options.binary, "run", "--dev", "--work-dir", self.work, "--qmgr", "QM1", "--http-port", "0",
                 "--admin-port", "0", "--amqp-port", "0", "--mqtt-port", "0", "--stomp-port", "0", *self.options.server]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        pace(self.rng.uniform(0, 0.3))
        if process.poll() is not None:
            raise Finding(f"a start ended with {process.returncode}")
        process.kill()
        process.wait()

    def kill(self, turn):
        if turn > 0 and self.rng.random() < 0.3:
            self.kill_a_start()
        server = self.start()
        try:
            if turn == 0:
                server.run("mqsc", "QM1", text=SETUP)
            self.judge(server)
            if turn % 40 == 39:
                subprocess.run([self.options.client, "drain", str(server.admin_port)], timeout=300, check=True)
                self.fresh()
            clients, commands = self.begin(server, turn)
            pace(self.rng.uniform(0.02, self.options.longest_ms / 1000))
            if self.rng.random() < 0.2:
                server.process.send_signal(signal.SIGSTOP)
                pace(self.rng.uniform(0, 0.3))
                server.process.send_signal(signal.SIGCONT)
                pace(self.rng.uniform(0, 0.1))
            if self.rng.random() < 0.2:
                clients[0].kill()
                pace(self.rng.uniform(0, 0.2))
            if server.process.poll() is not None:
                raise Finding("the server ended itself:\n" + "\n".join(server.errors[-40:]))
        finally:
            server.stop(signal.SIGKILL)
        self.end(clients, commands)

    def attempt(self, what, function):
        try:
            function()
            self.passed += 1
        except Exception as why:  # noqa: BLE001
            self.failed += 1
            print(f"{what}: {type(why).__name__}: {why}", flush=True)

    def last_look(self):
        server = self.start()
        try:
            self.judge(server)
            code = server.stop()
            if code != 0:
                raise Finding(f"a clean stop ends with {code}")
        finally:
            server.stop(signal.SIGKILL)

    def run(self, count):
        self.fresh()
        for turn in range(count):
            self.attempt(f"kill {turn}", lambda at=turn: self.kill(at))
            if self.failed:
                return
            if turn % 50 == 49:
                print(f"{turn + 1} kills: {self.line}", flush=True)
        self.attempt("the last look", self.last_look)
        print(self.line)


def fill(folder):
    """Takes every free byte of the file system."""
    with open(folder / "ballast", "ab", buffering=0) as ballast:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    ballast.write(b"\0" * size)
            except OSError:
                pass


def own_small_disk(folder):
    """A tmpfs that only this process and its children see. None: not permitted here."""
    libc = ctypes.CDLL(None, use_errno=True)
    new_namespace, private = 0x20000, (1 << 18) | (1 << 14)
    if libc.unshare(new_namespace) != 0 or libc.mount(b"none", b"/", None, private, None) != 0:
        return os.strerror(ctypes.get_errno())
    if libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, SMALL_TMPFS.encode()) != 0:
        return os.strerror(ctypes.get_errno())
    return None


def full_disk(proof, rounds):
    """Killed, and started on a full disk: it is ready, gives and commits, refuses puts; a free disk
    takes puts again; nothing is lost."""
    for turn in range(rounds):
        server = proof.start()
        if turn == 0:
            server.run("mqsc", "QM1", text=SETUP)
        clients, commands = proof.begin(server, turn)
        pace(proof.rng.uniform(0.3, 1.5))
        server.stop(signal.SIGKILL)
        proof.end(clients, commands)
        fill(proof.folder)
        server = proof.start()
        try:
            proof.judge(server)
            refused = put_until_refused(server)
            assert refused.returncode == 1 and "2056" in refused.stderr, (refused.returncode, refused.stderr)
            before = depth(server, "Q1")
            proof_unit = f"f{turn}"
            words = [proof.options.binary, "get", "Q1", "--raw", "-q", "--url", server.url]
            done = subprocess.run(words, capture_output=True, timeout=60, check=False)  # bodies are no text
            assert done.returncode in (0, 3), (done.returncode, done.stderr)
            if before > 0:
                assert done.returncode == 0 and depth(server, "Q1") == before - 1, (done, before)
                key = done.stdout.split(b" ", 1)[0].decode()
                key += "@Q1" if key.endswith("p") else ""
                with open(proof.ledgers / "full.log", "a", encoding="utf-8") as log:
                    log.write(entry("got", proof_unit, "Q1", key, proof_unit, flagged=True))
                    log.write(entry("commit", proof_unit) + entry("committed", proof_unit))
            server.stop(signal.SIGKILL)
            server = proof.start()
            proof.judge(server)
            (proof.folder / "ballast").unlink()
            eventually(lambda s=server: takes_puts(s), "puts are taken again")
        finally:
            server.stop(signal.SIGKILL)
        print(f"full disk {turn + 1}: {proof.line}", flush=True)


def put_until_refused(server):
    """The journal still has room in the segments that it had made; that is taken first."""
    for _ in range(400):
        done = server.command("put", "DEV.QUEUE.1", "--persistence", "yes", text="x" * 3_000_000)
        if done.returncode != 0:
            break
    return done


def takes_puts(server):
    done = server.command("put", "DEV.QUEUE.1", "--persistence", "yes", text="x")
    return done.returncode == 0


def depth(server, queue):
    out = server.run("mqsc", "QM1", text=f"DISPLAY QLOCAL({queue}) CURDEPTH").stdout
    return int(out.split("CURDEPTH(")[1].split(")")[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default="build/release/millstream")
    parser.add_argument("--client", default="build/release/server_client")
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--longest-ms", type=int, default=1500)
    parser.add_argument("--full-disk", default="yes", choices=("no", "yes", "only"))
    options = parser.parse_args()
    options.binary, options.client = str(Path(options.binary).resolve()), str(Path(options.client).resolve())
    options.server = ["--buffered"]
    print(f"seed {options.seed}, {options.count} kills", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="server-kill-", dir="build" if os.path.isdir("build") else None)).resolve()
    proof = Proof(options, folder / "kills", random.Random(options.seed))
    proof.folder.mkdir()
    if options.full_disk != "only":
        proof.run(options.count)
    passed, failed = proof.passed, proof.failed
    if options.full_disk != "no" and not failed:
        small = folder / "small"
        small.mkdir()
        refused = own_small_disk(small)
        if refused:
            print(f"skipped: a full disk: no mount of a tmpfs is permitted here: {refused}")
        else:
            proof = Proof(options, small, random.Random(options.seed), folder / "full-ledgers")
            proof.fresh()
            proof.attempt("a full disk", lambda: full_disk(proof, max(1, options.count // 100)))
            passed, failed = passed + proof.passed, failed + proof.failed
    if failed:
        print(f"what is left of it is in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
