"""What the end-to-end benchmarks share: servers pinned to a core, wrk on another, CPU by process.

CPU of a process is the sum of its threads' schedstat (nanoseconds on a core), so what the kernel
does for a request is in it. Everything that was started ends with the `Lab`.
"""
import contextlib
import http.client
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time

# Thousands of connections need descriptors, here and in what is started from here.
_, _descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (_descriptors, _descriptors))

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("MILLSTREAM", ROOT / "build/release/millstream"))
SERVER_CORE, DRIVER_CORE = "0", "1"
READY_WAIT_S = 20


def tool(name):
    """The path of a program, also in /usr/sbin, which is not on every PATH."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/bin")
    if not found:
        raise SystemExit(f"{name} is not installed")
    return found


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def cpu_ns(pid):
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            total += int((task / "schedstat").read_text().split()[0])
    return total


def resident_kb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))


def machine():
    """One line: processor, cores, kernel, load."""
    model = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    name = model.group(1) if model else os.uname().machine
    return f"{name}, {os.cpu_count()} cores, Linux {os.uname().release}, load {load}"


class Server:
    """A process that listens on `port`; `pid` is the one that does the work."""

    def __init__(self, name, process, pid, port):
        self.name, self.process, self.pid, self.port = name, process, pid, port

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, body, headers or {})
        reply = connection.getresponse()
        text = reply.read()
        connection.close()
        return reply.status, text


class Lab:
    """Starts servers and ends them; use with `with`."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bench"))
        self.processes = []
        return self

    def __exit__(self, *_):
        for process in self.processes:
            with contextlib.suppress(OSError):
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def spawn(self, command, cores, out=subprocess.DEVNULL):
        if isinstance(command[0], pathlib.Path) and not (ROOT / command[0]).exists():
            raise SystemExit(f"{command[0]} is not built: `make bench` builds it")
        pinned = [tool("taskset"), "-c", cores] if cores else []
        process = subprocess.Popen(pinned + [str(c) for c in command], stdout=out,
                                   stderr=subprocess.STDOUT, cwd=ROOT)
        self.processes.append(process)
        return process

    def millstream(self, *projects, cores=SERVER_CORE, threads=1, options=()):
        log = self.folder / f"millstream{len(self.processes)}.log"
        command = [PROGRAM, "run", *projects, "--http-port", "0", "--host", "127.0.0.1", "--cores",
                   threads, *options]
        with open(log, "w") as out:
            process = self.spawn(command, cores, out)
        port = self.wait_for(process, log, r"http://\*:(\d+)/")
        return Server("millstream", process, process.pid, port)

    def program(self, name, command, cores, pattern=r"(\d+)"):
        """A server of ours that prints its port first."""
        log = self.folder / f"{name}{len(self.processes)}.log"
        with open(log, "w") as out:
            process = self.spawn(command, cores, out)
        return Server(name, process, process.pid, self.wait_for(process, log, pattern))

    @staticmethod
    def wait_for(process, log, pattern):
        end = time.monotonic() + READY_WAIT_S
        while time.monotonic() < end and process.poll() is None:
            found = re.search(pattern, log.read_text())
            if found:
                return int(found.group(1))
            time.sleep(0.005)
        raise SystemExit(f"no ready line:\n{log.read_text()}")

    def nginx(self, body, cores=SERVER_CORE):
        """`return 200` with a fixed body, no access log, keep-alive without end."""
        port = free_port()
        d = self.folder
        temp = "".join(f"{kind}_temp_path {d}/{kind};" for kind in
                       ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        conf = d / "nginx.conf"
        conf.write_text(f"""daemon off; worker_processes 1; pid {d}/nginx.pid; error_log {d}/error.log;
            events {{ worker_connections 1024; }}
            http {{ access_log off; keepalive_requests 100000000; client_max_body_size 64m; {temp}
              server {{ listen 127.0.0.1:{port};
                location / {{ default_type text/plain; return 200 "{body}"; }} }} }}""")
        process = self.spawn([tool("nginx"), "-c", conf, "-p", d, "-e", d / "error.log"], cores)
        end = time.monotonic() + READY_WAIT_S
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                server = Server("nginx", process, self.child_of(process.pid), port)
                server.request("GET", "/")
                return server
            time.sleep(0.02)
        raise SystemExit("nginx did not start")

    @staticmethod
    def child_of(pid):
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if not children:
            raise OSError("no worker yet")
        return int(children[0])

    def post_script(self, body_file, content_type):
        """A wrk script that posts one file."""
        script = self.folder / (pathlib.Path(body_file).name + ".lua")
        script.write_text(f"""local f = io.open("{body_file}", "rb")
            wrk.method = "POST"
            wrk.body = f:read("*a")
            wrk.headers["Content-Type"] = "{content_type}" """)
        return script

    def wrk(self, server, path, seconds, connections, script=None, cores=DRIVER_CORE, threads=1,
            expects_errors=False):
        """Requests a second, and CPU microseconds a request of the server."""
        pinned = [tool("taskset"), "-c", cores] if cores else []
        command = pinned + [tool("wrk"), f"-t{threads}", f"-c{connections}", f"-d{seconds}",
                            "--timeout", "10s"]
        if script:
            command += ["-s", str(script)]
        before = cpu_ns(server.pid)
        out = subprocess.run(command + [f"http://127.0.0.1:{server.port}{path}"],
                             capture_output=True, text=True, check=True).stdout
        used = cpu_ns(server.pid) - before
        if ("Non-2xx" in out and not expects_errors) or "Socket errors" in out:
            raise SystemExit(f"{server.name} failed requests:\n{out}")
        found = re.search(r"(\d+) requests in ([\d.]+)(ms|s|m)", out)
        count = int(found.group(1))
        if count == 0:
            raise SystemExit(f"{server.name} answered nothing:\n{out}")
        rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))
        self.last_count = count
        return rate, used / count / 1000


def median(values):
    return statistics.median(values)


def spread(values):
    """'median (least-most)' of numbers, for the tables."""
    return f"{median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


def table(rows):
    """Prints rows as columns; the first row is the heading."""
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = [str(c).ljust(w) if i == 0 else str(c).rjust(w)
                 for i, (c, w) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())
        if number == 0:
            print("  ".join("-" * w for w in widths))


def verdict(value, target):
    return f"{value:.2f} (target {target:g}: {'met' if value <= target else 'MISSED'})"
