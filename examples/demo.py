#!/usr/bin/env python3
"""Starts the server on example projects, drives it with curl and compares the replies.

Each project has a requests.tsv: name, method, path, content type, input file, status, expected
file ("-" for none). Replies must be the same bytes, but for a line feed at the end of the file.
"""
import argparse
import decimal
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
READY = re.compile(rb"Ready in ([0-9.]+) ms.* on port (\d+)")
READY_TIMEOUT_S = 60
STOP_TIMEOUT_S = 40
REQUEST_TIMEOUT_S = 60
SHOWN_MAX = 150
PAYLOAD_SIZES = ["2K", "20K", "200K"]
PAYLOAD_TARGETS = [("xml", "/xml/sum", "text/xml"), ("json", "/json/sum", "application/json")]

IS_TERMINAL = sys.stdout.isatty()


def colour(code, text):
    return f"\033[{code}m{text}\033[0m" if IS_TERMINAL else text


def shown(data):
    text = " ".join(data.decode("utf-8", "replace").split())
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}... ({len(data)} bytes)"


class Server:
    """A millstream process on a free port, with its statistics in a file."""

    def __init__(self, binary, folder, work):
        self.statistics = os.path.join(work, "statistics.jsonl")
        self.log = open(os.path.join(work, "server.log"), "wb")
        self.process = subprocess.Popen(
            [binary, "run", folder, "--http-port", "0", "--host", "127.0.0.1",
             "--statistics", self.statistics],
            stdout=subprocess.PIPE, stderr=self.log)
        signal.signal(signal.SIGALRM, self.give_up)
        signal.alarm(READY_TIMEOUT_S)
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            ready = READY.search(line)
            if ready:
                break
        signal.alarm(0)
        if not lines or not ready:
            self.fail(b"".join(lines))
        self.lines = [line.decode().rstrip() for line in lines]
        self.port = int(ready.group(2))

    def give_up(self, *_):
        self.process.kill()

    def fail(self, output):
        self.process.wait()
        self.log.flush()
        sys.stdout.write(output.decode("utf-8", "replace"))
        with open(self.log.name, encoding="utf-8", errors="replace") as log:
            sys.stdout.write(log.read())
        sys.exit("The server did not become ready.")

    def send(self, method, path, content_type, body_file):
        """The status and the body of the reply; status 0 when there was none."""
        command = ["curl", "-sS", "-X", method, "--max-time", str(REQUEST_TIMEOUT_S), "-w",
                   "\n%{http_code}", f"http://127.0.0.1:{self.port}{path}"]
        if content_type != "-":
            command += ["-H", f"Content-Type: {content_type}"]
        if method in ("POST", "PUT", "PATCH"):
            command += ["--data-binary", f"@{body_file or '/dev/null'}"]
        done = subprocess.run(command, capture_output=True, check=False)
        body, _, status = done.stdout.rpartition(b"\n")
        return int(status or 0), body if done.returncode == 0 else done.stderr

    def stop(self):
        """True when it ended by itself, in time and with exit code 0."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.stdout.read()
            code = self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.log.close()
        return code == 0


class Demo:
    def __init__(self, server, options):
        self.server = server
        self.is_quick = options.quick
        self.rebaselines = options.rebaseline
        self.count = 0
        self.wrong = 0

    def verdict(self, is_right):
        self.count += 1
        self.wrong += not is_right
        return colour("32", "OK") if is_right else colour("31;1", "DIFFERENT")

    def run_project(self, folder):
        print(colour("1", f"\n{os.path.relpath(folder, ROOT)}"))
        with open(os.path.join(folder, "requests.tsv"), encoding="utf-8") as listing:
            rows = [line.rstrip("\n").split("\t") for line in listing
                    if line.strip() and not line.startswith("#")]
        for name, method, path, content_type, input_name, status, expected_name in rows:
            input_file = None if input_name == "-" else os.path.join(folder, "input", input_name)
            got_status, got = self.server.send(method, path, content_type, input_file)
            expected = None
            if expected_name != "-":
                expected_file = os.path.join(folder, "expected", expected_name)
                if self.rebaselines and got_status == int(status):
                    with open(expected_file, "wb") as file:
                        file.write(got.removesuffix(b"\n") + b"\n")
                with open(expected_file, "rb") as file:
                    expected = file.read().removesuffix(b"\n")
            is_right = (got_status == int(status) and
                        (expected is None or got.removesuffix(b"\n") == expected))
            self.show(name, f"{method} {path}", input_file, got_status, got, is_right)
            if not is_right:
                wanted = "any body" if expected is None else expected.decode("utf-8", "replace")
                print(f"      expected {status} {wanted}\n      received {got_status} "
                      f"{got.decode('utf-8', 'replace')}")

    def show(self, name, request, input_file, status, reply, is_right):
        print(f"  {self.verdict(is_right)}  {name}")
        if self.is_quick:
            return
        body = b""
        if input_file:
            with open(input_file, "rb") as file:
                body = file.read()
        print(f"      > {request}  {shown(body)}")
        print(f"      < {status}  {shown(reply)}")

    def run_payloads(self, binary, work):
        print(colour("1", "\nGenerated sales lists, every sum checked exactly"))
        for size in PAYLOAD_SIZES:
            for kind, path, content_type in PAYLOAD_TARGETS:
                body = subprocess.run([binary, "payload", "sales", "--size", size, "--format", kind],
                                      check=True, capture_output=True).stdout
                body_file = os.path.join(work, f"sales.{kind}")
                with open(body_file, "wb") as file:
                    file.write(body)
                total = sum_of(body, kind)
                expected = (f'{{"Sum":{total}}}' if kind == "json" else
                            f"<SaleEnvelopeResult><Sum>{total}</Sum></SaleEnvelopeResult>")
                status, reply = self.server.send("POST", path, content_type, body_file)
                is_right = status == 200 and reply == expected.encode()
                print(f"  {self.verdict(is_right)}  {size:>4} {kind:<4} {len(body):>7} bytes  "
                      f"< {status}  {shown(reply)}")
                if not is_right:
                    print(f"      expected 200 {expected}")


def sum_of(body, kind):
    """Found in the text, without any of the server's code."""
    pattern = (rb'<(?:Price|Quantity|Balance)>([^<]*)<' if kind == "xml" else
               rb'"(?:Price|Quantity|Balance)":([0-9.]+)')
    return sum((decimal.Decimal(n.decode()) for n in re.findall(pattern, body)), decimal.Decimal(0))


def run_flow_tests(binary, work):
    """Tests of a copy of an example: right, with a bug, and mended. True when they say so."""
    print(colour("1", "\nFlow tests of a copy of examples/http-xml-sum"))
    project = os.path.join(work, "http-xml-sum")
    shutil.copytree(os.path.join(ROOT, "examples/http-xml-sum"), project)
    source = os.path.join(project, "XmlSum.esql")
    with open(source, encoding="utf-8") as file:
        right = file.read()
    wrong = right.replace("SET total = total + CAST(invoice.Balance AS DECIMAL);", "")
    verdicts = []
    for title, text, code in [("with a bug: balances are not added", wrong, 1), ("mended", right, 0)]:
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([binary, "test", "http-xml-sum"], cwd=work, capture_output=True, text=True,
                              check=False)
        verdicts.append(done.returncode == code)
        print(f"  {colour('32', 'OK') if verdicts[-1] else colour('31;1', 'DIFFERENT')}  {title}")
        for line in done.stdout.splitlines():
            print(f"      {shown(line.encode()) if line.startswith('http') else line}")
    return all(verdicts)


def print_statistics(file_name):
    flows = {}
    with open(file_name, encoding="utf-8") as file:
        for line in file:
            flow = json.loads(line)["WMQIStatisticsAccounting"]["MessageFlow"]
            key = (flow["ApplicationName"], flow["MessageFlowName"])
            total = flows.setdefault(key, [0, 0, 0, 0])
            for i, member in enumerate(["TotalInputMessages", "TotalNumberOfMessagesWithErrors",
                                        "TotalElapsedTime", "TotalCPUTime"]):
                total[i] += flow[member]
    print(colour("1", "\nStatistics"))
    print(f"  {'application':<18} {'flow':<32} {'messages':>8} {'errors':>7} {'average':>9} {'CPU':>9}")
    for (application, flow), (messages, errors, elapsed, cpu) in sorted(flows.items()):
        average = f"{elapsed / messages:.0f} us" if messages else "-"
        cpu_average = f"{cpu / messages:.0f} us" if messages else "-"
        print(f"  {application:<18} {flow:<32} {messages:>8} {errors:>7} {average:>9} {cpu_average:>9}")
    return bool(flows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", default=os.path.join(ROOT, "examples"))
    parser.add_argument("--binary", default=os.path.join(ROOT, "build/release/millstream"))
    parser.add_argument("--quick", action="store_true", help="one line a request")
    parser.add_argument("--rebaseline", action="store_true",
                        help="write what came out as the expected replies; read the diff")
    options = parser.parse_args()
    folder = os.path.abspath(options.folder)
    projects = sorted(path for path, _, files in os.walk(folder) if "requests.tsv" in files)
    if not projects:
        sys.exit(f"No requests.tsv below {folder}.")
    if not os.access(options.binary, os.X_OK):
        sys.exit(f"{options.binary} is missing: run make build.")

    with tempfile.TemporaryDirectory(prefix="millstream-demo-") as work:
        server = Server(options.binary, folder, work)
        try:
            print("\n".join(server.lines))
            demo = Demo(server, options)
            for project in projects:
                demo.run_project(project)
            if folder == os.path.join(ROOT, "examples"):
                demo.run_payloads(options.binary, work)
        finally:
            is_stopped = server.stop()
        has_statistics = print_statistics(server.statistics)
        are_tests_right = folder != os.path.join(ROOT, "examples") or run_flow_tests(options.binary, work)
    print(f"\n{demo.count - demo.wrong} of {demo.count} replies as expected; the server "
          f"{'stopped in order' if is_stopped else 'did NOT stop in order'}.")
    return 0 if demo.wrong == 0 and is_stopped and has_statistics and are_tests_right else 1


if __name__ == "__main__":
    sys.exit(main())
