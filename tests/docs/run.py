#!/usr/bin/env python3
"""Runs the first example of each page of docs/guide and docs/operate as it is written.

  tests/docs/run.py [BINARY [PAGE...]]   the binary to test (build/release/millstream); only pages whose path holds a PAGE

A page begins with a block of commands; when a block of output follows, its first line must come out. Commands run in
a copy of what a clean clone has after `make build`. Ports of the page are replaced by free ones, so that pages can be
tested beside a running server; nothing else is. The last line is "N passed, N failed"; the exit code is 1 when one failed.
"""
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS_MAX = 120
# Pages whose first block is no shell command: they show a file, which is made and used as the page says.
FILES = {"docs/guide/flow-tests.md": "flowtest", "docs/guide/esql.md": None,
         "docs/guide/selectors-and-topics.md": None,
         # Its command is a run of the tests themselves.
         "docs/operate/durability.md": None}
# A page of the HTTPS port names more ports than the two, and that of messaging clients theirs.
PORTS = ("7800", "7600", "7843", "7990", "8080", "61613")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [str(s.getsockname()[1]) for s in sockets]
    for s in sockets:
        s.close()
    return ports


def blocks_of(text):
    """(language, text, text up to the next block) of each fenced block, in order."""
    return re.findall(r"^```(\w*)\n(.*?)^```$([^`]*)", text, re.MULTILINE | re.DOTALL)


def clone(folder, binary):
    for name in ("examples", "docs", "README.md"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
    (folder / "build/release").mkdir(parents=True)
    (folder / "build/release/millstream").symlink_to(binary)


def with_other_ports(script):
    """The script with free ports, also where the page leaves them at their defaults."""
    ports = dict(zip(PORTS, free_ports(len(PORTS))))
    options = "" if "--admin-port" in script else f" --admin-port {ports['7600']}"
    if "--http-port" not in script and "ListenerPort" not in script:
        options += f" --http-port {ports['7800']}"
    if "--https-keystore" in script:
        options += f" --https-port {ports['7843']}"
    script = re.sub(r"\b(millstream run)\b", rf"\1{options}", script)
    script = re.sub(r"\b(millstream (?:stats|trace|deploy|start|stop|put|get|browse|move|mqsc|dlq \w+)\b)",
                    rf"\1 --url http://127.0.0.1:{ports['7600']}", script)
    for page, own in ports.items():
        script = re.sub(rf"(localhost:|Port: |--http-port |--stomp-port ){page}\b", rf"\g<1>{own}", script)
    return script


def run_script(script, folder):
    home = folder / "home"
    home.mkdir()
    # What a page keeps in /tmp is kept in the copy.
    script = script.replace("/tmp/", f"{folder}/tmp/")
    environment = {**os.environ, "HOME": str(home)}
    process = subprocess.Popen(["bash", "-e", "-c", script], cwd=folder, env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        # Servers in the background keep the pipe open: they end with the script.
        process.wait(timeout=SECONDS_MAX)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    return process.returncode, process.communicate(timeout=SECONDS_MAX)[0]


def stable(text):
    """Without what differs from run to run: numbers, times and white space."""
    return re.sub(r"\s+", " ", re.sub(r"[\d.:,+-]+", "#", text)).strip()


def test_commands(blocks, folder):
    (language, script, after), *rest = blocks
    assert language == "sh", f"the page begins with {language or 'text'}, not with commands"
    code, output = run_script(with_other_ports(script), folder)
    assert code == 0, f"exit code {code}:\n{output}"
    # Output stands below its commands with nothing between them.
    if after.strip() or not rest or rest[0][0] not in ("", "xml", "json"):
        return
    first = rest[0][1].strip().splitlines()[0]
    assert stable(first) in stable(output), f"no line like\n  {first}\nin\n{output}"


def test_page(page, folder, binary):
    clone(folder, binary)
    blocks = blocks_of((ROOT / page).read_text())
    kind = FILES.get(page, "commands")
    if kind == "commands":
        return test_commands(blocks, folder)
    if kind == "flowtest":
        name = re.match(r"# (\S+)", blocks[0][1]).group(1)
        (folder / name).write_text(blocks[0][1])
        code, output = run_script(f"build/release/millstream test {name}", folder)
        assert code == 0, output


def main():
    binary = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/millstream").resolve()
    names = sys.argv[2:]
    pages = [str(p.relative_to(ROOT)) for part in ("guide", "operate") for p in sorted((ROOT / "docs" / part).glob("*.md"))]
    passed = failed = 0
    for page in pages:
        if names and not any(n in page for n in names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                (Path(folder) / "tmp").mkdir()
                test_page(page, Path(folder), binary)
                passed += 1
            except (AssertionError, subprocess.TimeoutExpired) as e:
                failed += 1
                print(f"FAILED {page}: {e}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
