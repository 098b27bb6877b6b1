#!/usr/bin/env python3
"""End-to-end tests of redeployment: real servers, real load, versions that replace each other."""
import http.client
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from versions import Load, Server, write_application, write_esql  # noqa: E402
from harness import case, command, eventually, main, pace  # noqa: E402
from soak import soak  # noqa: E402

USUAL_ADMIN_PORT = 7600  # the subject of a test; no test needs it free


def has_line(lines, part):
    return any(part in line for line in list(lines))


def make_bar(folder, name, file):
    """A BAR file of one application, as ibmint package makes it."""
    appzip = Path(folder) / "app.zip"
    with zipfile.ZipFile(appzip, "w") as archive:
        for path in sorted((Path(folder) / name).iterdir()):
            if path.name != ".project":
                archive.write(path, path.name)
    with zipfile.ZipFile(file, "w") as archive:
        archive.write(appzip, name + ".appzip")
    appzip.unlink()
    return file


@case
def watch_survives_what_does_not_compile_and_takes_what_does(binary, folder):
    write_application(folder, "a", "one")
    write_application(folder, "b", "b")
    with Server(binary, "--watch", folder) as server:
        assert server.get("/a") == (200, "one")
        (Path(folder) / "a" / "M.esql").write_text("CREATE nonsense")
        eventually(lambda: has_line(server.errors, "BIP4001"), "the diagnostics")
        assert has_line(server.errors, "a/M.esql:1:"), server.errors
        assert server.get("/a") == (200, "one")
        write_esql(folder, "a", "two")
        eventually(lambda: server.get("/a") == (200, "two"), "the new version")
        assert server.get("/b") == (200, "b")
        write_application(folder, "c", "c")
        eventually(lambda: server.get("/c") == (200, "c"), "a new application")
        shutil.rmtree(Path(folder) / "c")
        eventually(lambda: server.get("/c")[0] == 404, "an application that is gone")
        assert not has_line(server.lines, "Replaced: b"), "what has not changed is not touched"


@case
def watch_takes_changes_while_it_is_busy_with_others(binary, folder):
    write_application(folder, "a", "0")
    with Server(binary, "--watch", folder) as server:
        for n in range(1, 40):
            write_esql(folder, "a", str(n))
            pace(0.02)
        eventually(lambda: server.get("/a") == (200, "39"), "the last version")


@case
def deploy_under_load_loses_nothing(binary, folder):
    """A short form of the soak."""
    report = soak(binary, folder, redeployments=60, clients=4, pause_s=0.01)
    assert report["asked"] > 100, report


@case
def urls_move_between_applications_without_a_gap(binary, folder):
    """Two applications swap their URLs in each version: nobody meets a 404."""
    write_application(folder, "a", "left", "/left")
    write_application(folder, "b", "right", "/right")
    with Server(binary, folder) as server:
        with Load(server.port, "/left", lambda answer, _: answer == "left") as load:
            for n in range(20):
                left, right = ("b", "a") if n % 2 == 0 else ("a", "b")
                write_application(folder, left, "left", "/left")
                write_application(folder, right, "right", "/right")
                done = server.command("deploy", folder)
                assert done.returncode == 0, done.stderr
        assert not load.wrong, load.wrong[:3]
        assert server.get("/right")[1] == "right"


@case
def slow_requests_end_on_their_version(binary, folder):
    write_application(folder, "a", "old", before="CALL SLEEP(700);")
    with Server(binary, folder) as server:
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(server.get("/a"))) for _ in range(3)]
        for thread in threads:
            thread.start()
        flow = "/apiv2/applications/a/messageflows/F"
        eventually(lambda: server.ask("GET", flow)[1]["active"]["threadsInUse"] > 0, "a request in the flow")
        pace(0.05)  # those behind it wait for the instance by now
        write_application(folder, "a", "new")
        done = server.command("deploy", Path(folder) / "a")
        assert done.returncode == 0, done.stderr
        assert server.get("/a") == (200, "new"), "new messages do not wait for old ones"
        assert server.draining() == 1
        for thread in threads:
            thread.join(30)
        assert sorted(set(answers)) == [(200, "old")], answers
        eventually(lambda: server.draining() == 0, "the end of the old version")


@case
def deploy_of_a_bar_with_errors_changes_nothing(binary, folder):
    write_application(folder, "a", "one")
    next_folder = Path(folder) / "next"
    write_application(next_folder, "a", "two")
    bar = make_bar(next_folder, "a", Path(folder) / "a.bar")
    with Server(binary, Path(folder) / "a") as server:
        trial = server.command("deploy", bar, "--dry-run")
        assert "Would replace: a" in trial.stdout, trial.stdout
        assert server.get("/a") == (200, "one")
        done = server.command("deploy", bar)
        assert done.returncode == 0 and "Replaced: a" in done.stdout, done.stdout + done.stderr
        assert server.get("/a") == (200, "two")
        assert "Nothing has changed" in server.command("deploy", bar).stdout
        (next_folder / "a" / "M.esql").write_text("CREATE nonsense")
        done = server.command("deploy", next_folder / "a")
        assert done.returncode == 1, done.stdout
        assert f"{next_folder}/a/M.esql:1:" in done.stderr, done.stderr
        assert server.get("/a") == (200, "two")
        done = server.command("undeploy", "a")
        assert done.returncode == 0, done.stderr
        assert server.get("/a")[0] == 404
        assert server.command("undeploy", "a").returncode == 1


@case
def the_rest_interface_is_that_of_the_product(binary, folder):
    write_application(folder, "a", "one")
    next_folder = Path(folder) / "next"
    write_application(next_folder, "b", "b")
    bar = make_bar(next_folder, "b", Path(folder) / "b.bar").read_bytes()
    with Server(binary, Path(folder) / "a") as server:
        status, reply = server.ask("POST", "/apiv2/deploy", bar, {"Content-Type": "application/octet-stream"})
        assert status == 200 and reply["type"] == "responseLog", reply
        assert reply["LogEntry"][0]["message"]["number"] == 9332, reply
        names = [child["name"] for child in server.ask("GET", "/apiv2/applications")[1]["children"]]
        assert names == ["a", "b"], names
        flow = server.ask("GET", "/apiv2/applications/a/messageflows/F")[1]
        for uri in ("/apiv2", "/apiv2/applications", "/apiv2/applications/a", flow["uri"]):
            one = server.ask("GET", uri)[1]
            assert set(one) >= {"hasChildren", "name", "type", "uri", "properties", "descriptiveProperties",
                                "active", "actions", "children"}, (uri, sorted(one))
            assert set(one["actions"]) == {"available", "unavailable"}, (uri, one["actions"])
        assert flow["active"] == {"isRunning": True, "state": "started", "threadsInUse": 0,
                                  "threadsCapacity": 1}, flow["active"]
        assert server.ask("POST", flow["actions"]["available"]["stop"])[0] == 200
        flow = server.ask("GET", flow["uri"])[1]
        assert not flow["active"]["isRunning"] and "start" in flow["actions"]["available"], flow
        assert server.ask("POST", "/apiv2/applications/a/start")[0] == 200
        assert server.get("/a") == (200, "one")
        form = b'--x\r\nContent-Disposition: form-data; name="f"; filename="b.bar"\r\n\r\n' + bar + b"\r\n--x--\r\n"
        status, reply = server.ask("POST", "/apiv2/deploy", form,
                                     {"Content-Type": "multipart/form-data; boundary=x"})
        assert status == 200 and reply["count"] == 0, reply
        assert server.ask("DELETE", "/apiv2/applications/b")[0] == 200
        assert server.ask("GET", "/apiv2/applications/b")[0] == 404
        assert server.ask("POST", "/apiv2/deploy", b"no archive")[0] == 400
        assert server.ask("POST", "/apiv2/applications/x/start")[0] == 404
        assert server.ask("POST", "/apiv2/deploy", bar, {"Origin": "http://evil.example"})[0] == 403
        assert server.ask("GET", "/apiv2", headers={"Host": "evil.example"})[0] == 403


@case
def hostile_archives_are_refused(binary, folder):
    write_application(folder, "a", "one")
    target = Path(folder) / "x.bar"
    with Server(binary, Path(folder) / "a") as server:
        for name in ("../evil.appzip", ".appzip", "..appzip", "...appzip"):
            with zipfile.ZipFile(target, "w") as archive:
                inner = Path(folder) / "inner.zip"
                with zipfile.ZipFile(inner, "w") as inside:
                    inside.writestr("application.descriptor", "<appDescriptor/>")
                archive.write(inner, name)
            status, reply = server.ask("POST", "/apiv2/deploy", target.read_bytes())
            assert status in (400, 422), (name, status, reply)
        # Nested archives of zeros: small to send, more than 1 GiB unpacked.
        zeros = Path(folder) / "zeros.zip"
        with zipfile.ZipFile(zeros, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("zeros.esql", bytes(100 << 20))
        with zipfile.ZipFile(target, "w") as archive:
            for n in range(12):
                archive.write(zeros, f"a{n}.appzip")
        status, reply = server.ask("POST", "/apiv2/deploy", target.read_bytes())
        assert status == 400 and reply["code"] == "MS1061", (status, reply)
        assert server.get("/a") == (200, "one")
        assert server.memory_kib() < 2_500_000


def bar_with(folder, name, files):
    """The BAR of an application that also has files made of (name, bytes) as often as wanted."""
    write_application(Path(folder) / "next", name, "new")
    inner, outer = Path(folder) / "inner.zip", Path(folder) / "outer.bar"
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted((Path(folder) / "next" / name).iterdir()):
            if path.name != ".project":
                archive.write(path, path.name)
        for file, content in files:
            archive.writestr(file, content)
    with zipfile.ZipFile(outer, "w") as archive:
        archive.write(inner, name + ".appzip")
    return outer.read_bytes()


@case
def sources_that_are_too_large_are_refused_at_once(binary, folder):
    write_application(folder, "a", "one")
    mib = 1 << 20
    nuls, spaces = bytes(5 * mib), b" " * (5 * mib)
    cases = [
        ("MS1630", [(f"z{n}.esql", b"-- text\n " + nuls) for n in range(12)]),
        ("MS1629", [("z.esql", b" " * (9 * mib))]),
        ("MS1629", [(f"z{n}.esql", spaces) for n in range(14)]),
        ("MS2022", [(f"z{n}.esql", spaces) for n in range(60)]),
        ("MS2022", [(f"z{n}.json", spaces) for n in range(60)]),
        ("MS1945", [("z.msgflow", b"<a>" + b" " * (17 * mib))]),
    ]
    with Server(binary, Path(folder) / "a") as server:
        for code, files in cases:
            start = time.monotonic()
            status, reply = server.ask("POST", "/apiv2/deploy", bar_with(folder, "a", files))
            codes = {d["code"] for d in reply["change"]["diagnostics"]}
            assert status == 422 and code in codes, (status, code, reply)
            assert time.monotonic() - start < 60, (code, time.monotonic() - start)
            if code == "MS1630":
                places = [(d["line"], d["column"]) for d in reply["change"]["diagnostics"] if d["code"] == code]
                assert places == [(2, 2)] * 12, places
        assert server.get("/a") == (200, "one")


def slow_to_compile(folder, name, files):
    text = "".join(f"CREATE FUNCTION f%d_{n}() RETURNS INTEGER BEGIN RETURN {n}; END;\n" for n in range(60000))
    return bar_with(folder, name, [(f"z{n}.esql", text.replace("%d", str(n))) for n in range(files)])


@case
def a_newer_deployment_of_the_same_ends_the_one_before(binary, folder):
    write_application(folder, "a", "one")
    slow = slow_to_compile(folder, "a", 5)
    newer, other = bar_with(folder, "a", []), bar_with(folder, "b", [])
    with Server(binary, Path(folder) / "a") as server:
        replies = []
        thread = threading.Thread(target=lambda: replies.append(server.ask("POST", "/apiv2/deploy", slow)))
        thread.start()
        while thread.is_alive():  # until one of them comes after it
            status, reply = server.ask("POST", "/apiv2/deploy", newer)
            assert status in (200, 409), reply  # 409: this one was the older
        thread.join()
        status, reply = replies[0]
        assert status == 409 and reply["change"]["error"]["code"] == "MS2023", reply
        assert server.get("/a") == (200, "new")
        # What is about something else goes on.
        thread = threading.Thread(target=lambda: replies.append(server.ask("POST", "/apiv2/deploy", slow)))
        thread.start()
        pace(0.3)
        assert server.ask("POST", "/apiv2/deploy", other)[0] == 200
        thread.join()
        assert replies[1][0] == 200, replies[1]


@case
def a_server_that_stops_does_not_wait_for_what_compiles(binary, folder):
    write_application(folder, "a", "one")
    slow = slow_to_compile(folder, "a", 14)
    with Server(binary, Path(folder) / "a") as server:
        replies = []

        def deploy():
            try:
                replies.append(server.ask("POST", "/apiv2/deploy", slow)[0])
            except OSError as error:
                replies.append(repr(error))

        thread = threading.Thread(target=deploy)
        thread.start()
        pace(0.4)
        assert server.stop() == 0
        thread.join()
        assert replies and replies[0] != 200, replies


@case
def deployments_at_once_are_unpacked_one_after_the_other(binary, folder):
    write_application(folder, "a", "one")
    zeros = Path(folder) / "zeros.zip"
    with zipfile.ZipFile(zeros, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("application.descriptor", "<appDescriptor/>")
        archive.writestr("zeros.bin", bytes(200 << 20))
    target = Path(folder) / "x.bar"
    with zipfile.ZipFile(target, "w") as archive:
        archive.write(zeros, "b.appzip")
    body = target.read_bytes()
    with Server(binary, Path(folder) / "a") as server:
        replies = []
        threads = [threading.Thread(target=lambda: replies.append(server.ask("POST", "/apiv2/deploy", body)[0]))
                   for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # Those that waited when a newer one came are given up.
        assert 200 in replies and set(replies) <= {200, 409}, replies
        status = Path(f"/proc/{server.process.pid}/status").read_text()
        peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
        assert peak < 900_000, peak  # each of them takes 200 MiB, and what runs as much


@case
def flows_start_and_stop(binary, folder):
    write_application(folder, "a", "one")
    write_application(folder, "b", "b")
    with Server(binary, folder) as server:
        done = server.command("stop", "F")
        assert done.returncode == 1 and "a/F" in done.stderr and "b/F" in done.stderr, done.stderr
        assert server.command("stop", "F", "--application", "a").returncode == 0
        assert server.get("/a")[0] == 404 and server.get("/b")[0] == 200
        write_esql(folder, "a", "two")
        assert server.command("deploy", Path(folder) / "a").returncode == 0
        assert server.get("/a")[0] == 404, "a stopped flow stays so in the next version"
        assert server.command("start", "F", "--application", "a").returncode == 0
        assert server.get("/a") == (200, "two")
        assert server.command("stop", "--application", "b").returncode == 0
        assert server.get("/b")[0] == 404
        assert server.command("start", "nix").returncode == 1


@case
def a_work_directory_keeps_what_is_deployed(binary, folder):
    work = Path(folder) / "work"
    made = subprocess.run([binary, "create-workdir", work], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    next_folder = Path(folder) / "next"
    write_application(next_folder, "a", "one")
    with Server(binary, "--work-dir", work) as server:
        assert server.command("deploy", next_folder / "a").returncode == 0
        assert server.get("/a") == (200, "one")
    with Server(binary, "--work-dir", work) as server:
        assert server.get("/a") == (200, "one")
        assert server.command("undeploy", "a").returncode == 0
        assert not (work / "run" / "a").exists()
        assert server.command("deploy", next_folder / "a").returncode == 0
        assert server.command("undeploy", "a").returncode == 0, "of what this very server has deployed"
    assert not (work / "run" / "a").exists()


@case
def what_is_deployed_beside_paths_is_kept_too(binary, folder):
    """A server of paths with a work directory, written in any way: what is deployed runs again after a
    restart and after a kill, also over an application of the paths."""
    work, paths, next_folder = (Path(folder) / name for name in ("work", "paths", "next"))
    work.mkdir()
    write_application(paths, "a", "of the path")
    write_application(paths, "b", "b")
    write_application(next_folder, "a", "deployed")
    write_application(next_folder, "c", "c")
    with Server(binary, paths, "--work-dir", f"{work}//./") as server:
        assert server.get("/a") == (200, "of the path")
        for name in ("a", "c"):
            done = server.command("deploy", next_folder / name)
            assert done.returncode == 0, done.stderr
        assert server.get("/a") == (200, "deployed")
        server.stop(signal.SIGKILL)
    with Server(binary, paths, "--work-dir", work) as server:
        assert [server.get("/" + name) for name in "abc"] == [(200, "deployed"), (200, "b"), (200, "c")]
        assert has_line(server.errors, "MS2021"), server.errors
        assert server.command("undeploy", "a").returncode == 0
        assert server.command("undeploy", "b").returncode == 0
        assert server.get("/a")[0] == 404, "the one in the path does not come in its place by itself"
        assert server.get("/b")[0] == 404
    with Server(binary, paths, "--work-dir", work) as server:
        answers = [server.get("/" + name) for name in "abc"]
        assert answers == [(200, "of the path"), (200, "b"), (200, "c")], "paths count again at the next start"
        assert not has_line(server.errors, "MS2021"), server.errors


@case
def an_empty_work_directory_waits_for_deployments(binary, folder):
    """With a run folder, with settings, or with both: none of them holds an application yet."""
    write_application(Path(folder) / "next", "a", "one")
    for name, makes in (("run", lambda work: (work / "run").mkdir()),
                        ("conf", lambda work: (work / "server.conf.yaml").write_text("serverName: w\n")),
                        ("both", lambda work: ((work / "run").mkdir(),
                                               (work / "server.conf.yaml").write_text("serverName: w\n")))):
        work = Path(folder) / name
        work.mkdir()
        makes(work)
        with Server(binary, "--work-dir", work) as server:
            assert server.get("/a")[0] == 404, name
            done = server.command("deploy", Path(folder) / "next" / "a")
            assert done.returncode == 0, done.stderr
        with Server(binary, "--work-dir", work) as server:
            assert server.get("/a") == (200, "one"), name
    # An empty folder becomes a work directory; one that has other things does not.
    other = Path(folder) / "nothing"
    other.mkdir()
    with Server(binary, "--work-dir", other):
        assert (other / "run").is_dir()
    shutil.rmtree(other)
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    done = command(binary, "run", "--http-port", 0, "--admin-port", 0, "--work-dir", other)
    assert done.returncode == 1 and "MS1906" in done.stderr, done


@case
def a_work_directory_is_whole_after_kill(binary, folder):
    """Killed at random instants of deployments, a server starts with either version, whole."""
    work = Path(folder) / "work"
    subprocess.run([binary, "create-workdir", work], capture_output=True, check=True)
    seed = random.randrange(1 << 30)
    print(f"    seed {seed}")
    rng = random.Random(seed)
    bars = {}
    for version in ("one", "two"):
        next_folder = Path(folder) / version
        write_application(next_folder, "a", version)
        for n in range(40):  # takes its time to write
            (next_folder / "a" / f"r{n}.txt").write_text(version)
        bars[version] = make_bar(next_folder, "a", Path(folder) / f"{version}.bar").read_bytes()
    write_application(Path(folder) / "path", "b", "b")
    server = Server(binary, "--work-dir", work)
    assert server.ask("POST", "/apiv2/deploy", bars["one"])[0] == 200
    survived = set()
    for n in range(12):
        version = "two" if n % 2 == 0 else "one"

        def deploy(server=server, version=version):
            try:
                server.ask("POST", "/apiv2/deploy", bars[version])
            except OSError:
                pass

        thread = threading.Thread(target=deploy)
        thread.start()
        pace(rng.uniform(0, 0.03))
        server.stop(signal.SIGKILL)
        thread.join()
        # With and without paths beside.
        server = Server(binary, "--work-dir", work, *([Path(folder) / "path"] if n % 3 == 0 else []))
        status, answer = server.get("/a")
        assert status == 200 and answer in ("one", "two"), (status, answer)
        texts = {path.read_text() for path in (work / "run" / "a").glob("r*.txt")}
        assert texts == {answer}, (answer, texts)
        assert not (work / "run" / ".deploying").exists()
        survived.add(answer)
    server.stop()


@case
def callable_flows_and_timers_change_hands_without_a_gap(binary, folder):
    examples = Path(__file__).resolve().parents[2] / "examples"
    for name in ("callable-flow", "timer"):
        shutil.copytree(examples / name, Path(folder) / name)
    request = (Path(folder) / "callable-flow/input/tea.xml").read_bytes()
    expected = None
    with Server(binary, "--watch", folder) as server:
        ends, wrong, answers = threading.Event(), [], []

        def ask():
            nonlocal expected
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
            while not ends.is_set():
                connection.request("POST", "/shop/quote", request, {"Content-Type": "text/xml"})
                reply = connection.getresponse()
                answer = (reply.status, reply.read())
                expected = expected or answer
                answers.append(1)
                if answer != expected or reply.status != 200:
                    wrong.append(answer)

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for n in range(12):
            for file in sorted(Path(folder).rglob("*.esql")):
                file.write_text(file.read_text() + f"-- {n}\n")
            pace(0.15)
        eventually(lambda: has_line(server.lines, "Replaced: callable-flow, timer"), "new versions of both")
        ends.set()
        for thread in threads:
            thread.join(30)
        assert not wrong and answers, wrong[:3]
        eventually(lambda: server.draining() == 0, "the end of the old versions")


@case
def a_second_server_runs_without_the_usual_admin_port(binary, folder):
    write_application(folder, "a", "one")
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", USUAL_ADMIN_PORT))
            taken.listen()
        except OSError:
            pass  # another server has it, which is as good
        command = [binary, "run", "--http-port", "0", str(folder)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = ""
        for line in process.stdout:
            if "Ready" in line:
                break
        process.send_signal(signal.SIGTERM)
        errors = process.communicate(timeout=60)[1]
        assert "Ready" in line and "MS2006" in errors, line + errors
        asked = subprocess.run(command + ["--admin-port", str(USUAL_ADMIN_PORT)], capture_output=True, text=True, timeout=60,
                               check=False)
        assert asked.returncode == 1 and "MS2000E" in asked.stderr, asked.stderr


if __name__ == "__main__":
    main(__doc__)
