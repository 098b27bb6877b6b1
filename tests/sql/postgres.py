"""A PostgreSQL server for tests: in a folder of its own, on a Unix socket, as an unprivileged user."""
import glob
import os
import shutil
import subprocess
import tempfile
from pathlib import Path


def binaries():
    """The newest installed version's programs; None when there is none."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda p: int(p.split("/")[4]))
    return Path(found[-1]).parent if found else None


class Postgres:
    PORT = 54322  # only part of the socket's name: the server listens on no address

    def __init__(self):
        self.bin = binaries()
        self.folder = Path(tempfile.mkdtemp(prefix="ms_pg_"))
        self.data = self.folder / "data"
        self.as_user = []
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
            self.folder.chmod(0o755)
            self.as_user = ["runuser", "-u", "postgres", "--"]
        self.run("initdb", "-D", self.data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        self.start()

    def run(self, program, *arguments, **kwargs):
        command = [*self.as_user, str(self.bin / program), *map(str, arguments)]
        return subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, cwd="/", timeout=120, **kwargs)

    def start(self):
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c port={self.PORT} -c fsync=off"
        self.run("pg_ctl", "-D", self.data, "-o", options, "-l", self.folder / "log", "-w", "start")

    def kill(self):
        """As a crash: connections break in the middle of what they do."""
        self.run("pg_ctl", "-D", self.data, "-m", "immediate", "stop")

    def sql(self, text):
        """The rows of a statement, columns separated by '|'."""
        command = [*self.as_user, str(self.bin / "psql"), "-h", str(self.folder), "-p", str(self.PORT), "-U", "tester",
                   "-d", "postgres", "-AtqX", "-v", "ON_ERROR_STOP=1", "-c", text]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd="/", timeout=60)
        return done.stdout.strip()

    def connection(self):
        return f"Driver=PostgreSQL Unicode;Server={self.folder};Port={self.PORT};Database=postgres;UID=tester"

    def close(self):
        try:
            self.kill()
        except subprocess.SubprocessError:
            pass
        shutil.rmtree(self.folder, ignore_errors=True)
