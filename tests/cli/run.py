#!/usr/bin/env python3
"""End-to-end tests of the command line: what a user sees, and the exit codes."""
import functools
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

SUITES = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(SUITES / "common"), str(SUITES / "http")]
from harness import Server, case, command, main  # noqa: E402
from make_project import Project, module  # noqa: E402

PASS = "=== one\n--- esql\nRETURN TRUE;\n--- expect return\nTRUE\n"


def test(function):
    """A case that gets a Context."""
    @case
    @functools.wraps(function)
    def run(binary, folder):
        function(Context(binary, folder))
    return function


class Context:
    """A folder of its own for each test, and the binary."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def app(self, name, statement="SET OutputRoot = InputRoot; RETURN TRUE;"):
        path = self.folder / name
        project = Project(path.parent, path.name)
        project.flow("Hello", [("in", "ComIbmWSInput", "In", {"URLSpecifier": "/" + path.name}),
                               ("do", "ComIbmCompute", "Do", {"computeExpression": "esql://routine/#M.Main"}),
                               ("reply", "ComIbmWSReply", "Reply", {})],
                     ["in.out -> do.in", "do.out -> reply.in"])
        project.esql("Hello", module("M", statement))
        return path

    def call(self, *words, cwd=None):
        return command(self.binary, *words, folder=cwd or self.folder)

    def start(self, *words):
        """Runs a server until it is ready; returns its standard output up to there and its standard error."""
        with Server(self.binary, *words, folder=self.folder, unset=["--admin-port"]) as server:
            lines = list(server.lines)
            assert server.stop() == 0, server.errors
        return "\n".join(lines), "\n".join(server.errors)


@test
def a_missing_path_is_an_error(t):
    for command in ("check", "run"):
        for path in ("nothere.bar", "nothere"):
            result = t.call(command, path)
            assert result.returncode == 1, (command, path, result)
            assert f"{path}: error: MS1919: '{path}' does not exist." in result.stdout + result.stderr, result


@test
def a_missing_work_directory_is_an_error_of_check_and_made_by_run(t):
    t.app("Hello")
    for words in (["check", "Hello"], ["check"]):
        result = t.call(*words, "--work-dir", "nowhere")
        assert result.returncode == 1, (words, result)
        assert "The work directory 'nowhere' does not exist." in result.stdout + result.stderr, result
    t.start("Hello", "--work-dir", "made")
    assert (t.folder / "made/run").is_dir() and not (t.folder / "nowhere").exists()


@test
def a_work_directory_as_path_brings_its_settings(t):
    t.app("wd/run/Hello")
    t.write("wd/server.conf.yaml", "serverName: orders\n")
    t.write("wd/overrides/all.txt", "Hello#In.URLSpecifier=/over\nHello#udp=3\n")
    for words in (["wd"], ["--work-dir", "wd"]):
        out, errors = t.start(*words)
        assert "/over" in out and ": orders on port" in out, out
        assert "all.txt:2:1: warning: MS1910: The override 'Hello#udp'" in errors, errors
        result = t.call("check", *words)
        assert result.returncode == 0 and "warning: MS1910" in result.stdout, result
        assert "1 application(s) with 1 flow(s) can run" in result.stdout, result


@test
def settings_that_mean_nothing_are_said(t):
    t.app("wd/run/Hello")
    t.write("wd/server.conf.yaml", "Statistics:\n  Snapshot:\n    publicationOn: yes\nMillstream:\n  Drive: x\n")
    result = t.call("check", "wd")
    assert result.returncode == 1, result
    assert "server.conf.yaml:3:20: error: MS2003" in result.stdout, result
    assert "server.conf.yaml:5:3: warning: MS2005" in result.stdout, result


@test
def neither_path_nor_work_directory_is_wrong_usage(t):
    for command in ("check", "run"):
        result = t.call(command)
        assert result.returncode == 2 and "Give at least one PATH" in result.stderr, result


@test
def the_current_folder_has_its_real_name(t):
    folder = t.app("Hello", "SET x = 1;")
    (folder / ".project").unlink()
    result = t.call("check", "--json", ".", cwd=folder)
    assert result.returncode == 1 and '"Hello"' in result.stdout, result
    assert '"file": "Hello.esql"' in result.stdout, result


@test
def tests_that_are_not_there_fail(t):
    (t.folder / "empty").mkdir()
    result = t.call("test", "empty")
    assert result.returncode == 1 and "No test was found" in result.stderr, result
    t.write("a.esqltest", PASS)
    assert t.call("test", "a.esqltest").returncode == 0
    result = t.call("test", "a.esqltest", "--filter", "nothing like it")
    assert result.returncode == 1 and "'nothing like it' matches no case" in result.stderr, result


@test
def rebaseline_counts_what_changed(t):
    file = t.write("a.esqltest", PASS.replace("TRUE\n", "FALSE\n") + PASS.replace("one", "two"))
    assert "1 case(s) rewritten" in t.call("test", "--rebaseline", file).stdout
    assert "rewritten" not in t.call("test", "--rebaseline", file).stdout


FLOW = """--- msgflow Main
In: HTTPInput
  URLSpecifier = /a
Reply: HTTPReply
In -> Reply
=== one
--- request POST /a
hello
--- expect reply 200
hello
"""


@test
def flow_tests_tell_people_and_programs(t):
    good = t.write("good.flowtest", FLOW)
    result = t.call("test", good, "--verbose", "--coverage")
    assert result.returncode == 0 and "1 passed, 0 failed" in result.stdout, result
    assert "Test/Main" in result.stdout and "2/2  100.0 %" in result.stdout, result
    t.write("bad.flowtest", FLOW.replace("=== one", "=== two").replace("reply 200\nhello", "reply 201\nbye"))
    result = t.call("test", ".", "--junit", "results.xml", "--coverage-json", "coverage.json")
    assert result.returncode == 1 and "1 passed, 1 failed" in result.stdout, result
    assert "bad.flowtest:9: two: status\n  - 201\n  + 200" in result.stdout, result
    junit = (t.folder / "results.xml").read_text()
    assert '<testsuite name="./bad.flowtest" tests="1" failures="1"' in junit, junit
    assert '"name": "Test/Main"' in (t.folder / "coverage.json").read_text()
    result = t.call("test", ".", "--json")
    assert result.returncode == 1 and '"failed": 1' in result.stdout, result
    assert t.call("test", ".", "--filter", "one").returncode == 0
    assert "1 case(s) rewritten" in t.call("test", "bad.flowtest", "--rebaseline").stdout
    assert t.call("test", ".").returncode == 0


@test
def test_projects_are_imported(t):
    (t.folder / "T" / "src").mkdir(parents=True)
    t.write("T/testproject.descriptor", "<testProject/>")
    t.write("T/src/OrderTest.java", 'class OrderTest { @Test public void pays() { NodeSpy pay = new NodeSpy('
            'new SpyObjectReference().application("Shop").messageFlow("F").node("Pay")); other.call(); } }')
    result = t.call("test", "--import", ".", "--output", "out")
    assert result.returncode == 0 and "OrderTest.pays: 1 of 2 statements" in result.stdout, result
    assert "=== pays" in (t.folder / "out" / "OrderTest.flowtest").read_text()
    assert t.call("test", "--import", ".", "--output", "out").returncode == 1, "nothing is replaced"
    (t.folder / "none").mkdir()
    assert t.call("test", "--import", "none").returncode == 1


@test
def help_of_a_command_in_both_spellings(t):
    assert t.call("help", "run").stdout == t.call("run", "--help").stdout != ""
    assert t.call("help", "nonsense").returncode == 2
    assert "Commands:" in t.call("help").stdout
    assert re.search(r"millstream version\n +\S", t.call("version", "--help").stdout)


@test
def the_reason_comes_before_the_refusal(t):
    t.app("Good")
    t.app("Bad", "SET x = 1;")
    result = t.call("run", "Good", "Bad")
    assert result.returncode == 1, result
    for errors in (result.stderr, t.start("Good", "Bad", "--partial")[1]):
        assert 0 < errors.index("Hello.esql:") < errors.index("MS2002E"), errors
        assert errors.count("MS2002") == 1, errors


@test
def a_port_in_use_is_said_once(t):
    t.app("Hello")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = t.call("run", "Hello", "--host", "127.0.0.1", "--http-port", port)
    assert result.returncode == 1, result
    assert f"MS2000E: Cannot listen on 127.0.0.1:{port}: Address already in use.\n" in result.stderr, result
    assert result.stderr.count("Cannot listen") == 1, result


BAD_ESQL = "SET x = 1;"


@test
def a_summary_counts_over_unrelated_trees(t):
    t.app("one/Hello")
    t.app("two/deep/Hello")
    t.app("two/deep/Bad", BAD_ESQL)
    result = t.call("check", "--summary", ".")
    assert result.returncode == 0 and result.stderr == "", result
    assert "3 project(s) in 2 place(s)" in result.stdout, result
    assert re.search(r"^flows +2 +3 +66 %$", result.stdout, re.M), result
    assert re.search(r"^ +1 +1  ESQL +\w+ +two/deep/Bad/Hello.esql:\d+:\d+$", result.stdout, re.M), result
    document = json.loads(t.call("check", "--summary", "--json", ".").stdout)
    assert document["flows"] == {"complete": 2, "total": 3}, document
    assert document["esqlModules"] == {"complete": 2, "total": 3}, document
    gap = document["unsupported"][0]
    assert (gap["kind"], gap["count"], gap["file"]) == ("ESQL", 1, "two/deep/Bad/Hello.esql"), gap
    assert t.call("check", "--summary", "nothere").returncode == 1


def complete(t, *words):
    """What bash offers for the last of `words`."""
    script = (f'source <("{t.binary}" completion bash); COMP_WORDS=({" ".join(map(shlex.quote, words))}); '
              f'COMP_CWORD={len(words) - 1}; _millstream; printf "%s\\n" "${{COMPREPLY[@]}}"')
    bin_folder = t.folder / "bin"
    if not bin_folder.exists():
        bin_folder.mkdir()
        (bin_folder / "millstream").symlink_to(t.binary)
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, cwd=t.folder,
                            env=dict(os.environ, PATH=f"{bin_folder}:{os.environ['PATH']}"))
    assert result.stderr == "", result
    return result.stdout.split()


@test
def bash_completes_commands_options_and_names(t):
    t.app("Hello")
    t.write("hello.txt", "")
    assert "check" in complete(t, "millstream", "") and "help" in complete(t, "millstream", "")
    assert complete(t, "millstream", "des") == ["describe"]
    assert "--summary" in complete(t, "millstream", "check", "--su")
    assert complete(t, "millstream", "payload", "--format", "x") == ["xml"]
    assert complete(t, "millstream", "payload", "--format", "=", "x") == ["xml"]
    assert complete(t, "millstream", "run", "--http-port", "") == []
    assert complete(t, "millstream", "check", "--work-dir", "H") == ["Hello"]
    assert sorted(complete(t, "millstream", "check", "")) == ["Hello", "bin", "hello.txt"]
    assert complete(t, "millstream", "list", "no") == ["nodes"]
    assert complete(t, "millstream", "describe", "HTTPInp") == ["HTTPInput"]
    assert complete(t, "millstream", "describe", "BIP2230") == ["BIP2230"]
    assert complete(t, "millstream", "completion", "z") == ["zsh"]
    assert complete(t, "millstream", "help", "undep") == ["undeploy"]


@test
def completion_for_other_shells_names_every_command(t):
    commands = re.findall(r"^  ([a-z-]+) ", t.call("--help").stdout, re.M)
    assert len(commands) > 7, commands
    zsh, fish = (t.call("completion", shell).stdout for shell in ("zsh", "fish"))
    for command in commands:
        assert f"    '{command}:" in zsh and f"    {command})\n" in zsh, command
        assert f"__fish_use_subcommand -a {command} -d " in fish, command
    assert "--work-dir=[" in zsh and " -l work-dir -r" in fish
    assert t.call("completion", "tcsh").returncode == 2
    for shell, script in (("zsh", zsh), ("fish", fish)):
        if shutil.which(shell):
            result = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, timeout=60)
            assert result.returncode == 0, result


def path_with_binary(t):
    folder = t.folder / "bin"
    folder.mkdir(exist_ok=True)
    if not (folder / "millstream").exists():
        (folder / "millstream").symlink_to(t.binary)
    return dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")


@test
def fish_completes_commands_options_and_names(t):
    if not shutil.which("fish"):
        return
    (t.folder / "ms.fish").write_text(t.call("completion", "fish").stdout)

    def offers(line):
        result = subprocess.run(["fish", "--no-config", "-c", f"source ms.fish; complete -C {shlex.quote(line)}"],
                                capture_output=True, text=True, timeout=60, cwd=t.folder, env=path_with_binary(t))
        assert result.returncode == 0 and result.stderr == "", result
        return [x.split("\t")[0] for x in result.stdout.splitlines()]

    assert offers("millstream des") == ["describe"]
    assert offers("millstream check --su") == ["--summary"]
    assert offers("millstream describe HTTPInp") == ["HTTPInput"]
    assert offers("millstream describe BIP223") == ["BIP2230"]
    assert offers("millstream payload --format x") == ["xml"]
    assert offers("millstream list no") == ["nodes"]


ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=; fpath=('$1' $fpath); autoload -U compinit; compinit -u -D; zstyle ":completion:*" list-colors ""'
# Prints the whole of what is offered instead of completing, and a mark behind it.
zpty -w shell 'compadd() { local -a got; builtin compadd -O got "$@"; print -rl -- "offer:"$^got; return 1 }
  complete-word-and-tell() { zle complete-word; print -r -- END:; }
  zle -N complete-word-and-tell; bindkey "^I" complete-word-and-tell; print READ""Y:'
zpty -r -m shell out '*READY:*' || exit 3
zpty -w -n shell $2$'\t'
zpty -r -m shell out '*END:*' || exit 4
print -r -- $out
"""


@test
def zsh_completes_commands_options_and_names(t):
    if not shutil.which("zsh"):
        return
    functions = t.folder / "functions"
    functions.mkdir()
    (functions / "_millstream").write_text(t.call("completion", "zsh").stdout)

    def offers(line):
        result = subprocess.run(["zsh", "-f", "-c", ZSH, "zsh", str(functions), line], capture_output=True, text=True,
                                timeout=60, cwd=t.folder, env=dict(path_with_binary(t), TERM="dumb", HOME=str(t.folder)))
        assert result.returncode == 0, result
        return set(re.findall(r"offer:(\S+)", result.stdout))

    assert "describe" in offers("millstream des")
    assert "--summary" in offers("millstream check --su")
    assert "HTTPInput" in offers("millstream describe HTTPInp")
    assert "xml" in offers("millstream payload --format=x")
    assert "nodes" in offers("millstream list no")


@test
def an_error_of_each_family_is_described(t):
    """Families are the folders' ranges: all numbers that share their first digits."""
    errors = t.call("list", "errors", "--names").stdout.split()
    assert len(errors) > 300, len(errors)
    families = {}
    for name in errors:
        families.setdefault(re.match(r"(BIP|MS)(\d+?)\d\d$", name).groups(), name)
    assert len(families) > 25, sorted(families)
    for name in families.values():
        for spelling in (name, name.lower(), name + "E"):
            result = t.call("describe", spelling)
            assert result.returncode == 0 and result.stdout.startswith(f"{name} (error)"), (spelling, result)
        assert len(result.stdout.strip().splitlines()) >= 3, result.stdout
    for name in ("BIP9999999", "MS0", "BIP"):
        result = t.call("describe", name)
        assert result.returncode != 0 and name in result.stderr, result


@test
def lists_name_what_describe_explains(t):
    for kind, count in (("nodes", 30), ("functions", 80), ("errors", 300)):
        names = t.call("list", kind, "--names").stdout.split()
        assert len(names) == len(set(names)) >= count, (kind, len(names))
        for name in names[:: max(1, len(names) // 10)]:
            result = t.call("describe", name)
            assert result.returncode == 0 and name.split(".")[-1].upper() in result.stdout.upper(), (name, result)
        document = json.loads(t.call("list", kind, "--json").stdout)
        assert len(json.dumps(document)) > 1000
    assert t.call("list", "queues").returncode == 2


@test
def a_property_is_described(t):
    result = t.call("describe", "HTTPInput.URLSpecifier")
    assert result.returncode == 0 and "HTTPInput.URLSpecifier (property)" in result.stdout, result


@test
def users_are_kept_without_their_passwords(t):
    def user(*words, password=""):
        return subprocess.run([t.binary, "user", *words, "--work-dir", str(t.folder)], input=password,
                              capture_output=True, text=True, timeout=60)
    assert user("add", "app", "--group", "clients", password="a good passw0rd\n").returncode == 0
    assert user("add", "app", password="a good passw0rd\n").returncode == 1
    made = user("add", "boss", "--group", "mqm", "--generate")
    assert made.returncode == 0 and re.fullmatch(r"(?:[a-z2-9]{5}-){3}[a-z2-9]{5}\n", made.stdout), made
    short = user("password", "app", password="short\n")
    assert short.returncode == 1 and "MS2651E" in short.stderr, short
    file = t.folder / "config/users"
    assert file.stat().st_mode & 0o777 == 0o600
    assert "passw0rd" not in file.read_text() and made.stdout.strip() not in file.read_text()
    assert user("disable", "app").returncode == 0
    assert user("groups", "app", "--group", "a", "--group", "b").returncode == 0
    assert user("delete", "boss").returncode == 0
    listed = user("list").stdout.split()
    assert listed == ["app", "disabled", "a,b"], listed
    assert user("enable", "nobody").returncode == 1
    assert user("frobnicate").returncode == 2
    file.write_text("nonsense\n")
    assert "MS2656E" in user("list").stderr


if __name__ == "__main__":
    main(__doc__)
