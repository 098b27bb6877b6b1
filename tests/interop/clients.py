"""Installs the clients of the suites, which others wrote: Debian packages by tools/setup.sh, npm
packages by the lock file in js/, Maven's by the versions in java/pom.xml. What is there is not
fetched again, so a machine without a network does once everything has been installed.

A client that cannot be installed raises Missing; run.py then skips its suites by name, and with
CI=true that is a failure.
"""
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build/clients"
INSTALL_S = 900


class Missing(Exception):
    """A client that is not there, and why."""


def run(words, what, folder=None):
    try:
        done = subprocess.run([str(w) for w in words], cwd=folder, capture_output=True, text=True, timeout=INSTALL_S,
                              check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"{what}: {error}") from None
    if done.returncode != 0:
        raise Missing(f"{what} ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-800:]}")


def is_current(stamp, *files):
    """Whether `stamp` was made for files as they are now; else what to write to it."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    text = digest.hexdigest()
    return stamp.is_file() and stamp.read_text() == text, text


_debian = []


def debian():
    """All Debian packages in one go, at most once a run."""
    if not _debian:
        try:
            run([ROOT / "tools/setup.sh", "interop"], "tools/setup.sh interop")
            _debian.append(None)
        except Missing as why:
            _debian.append(str(why))
    return _debian[0]


def python_module(module):
    """A Python package of Debian, for the interpreter that runs this."""
    probe = [sys.executable, "-c", f"import {module}"]
    if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
        return
    why = debian()
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        raise Missing(f"the Python module {module} is not there ({why or 'for ' + sys.executable})")


def program(name):
    if not shutil.which(name):
        why = debian()
        if not shutil.which(name):
            raise Missing(f"there is no program {name} ({why})")


def javascript():
    """The folder that has the JavaScript suites with their node_modules beside them."""
    program("node")
    program("npm")
    folder = BUILD / "js"
    sources = [HERE / "js/package.json", HERE / "js/package-lock.json"]
    stamp = folder / "installed"
    is_there, text = is_current(stamp, *sources)
    if not is_there:
        folder.mkdir(parents=True, exist_ok=True)
        for source in sources:
            shutil.copy(source, folder)
        run(["npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"], "npm ci", folder)
        stamp.write_text(text)
    for source in (HERE / "js").glob("*.js"):
        shutil.copy(source, folder)
    return folder


def java(name="java"):
    """The class path of what is in a folder with Java sources and a pom.xml, compiled."""
    program("javac")
    folder, pom = BUILD / name, HERE / name / "pom.xml"
    library, classes = folder / "lib", folder / "classes"
    is_there, text = is_current(folder / "installed", pom)
    if not is_there:
        program("mvn")
        shutil.rmtree(library, ignore_errors=True)
        library.mkdir(parents=True)
        run(["mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", f"-DoutputDirectory={library}",
             "-DincludeScope=runtime"], "mvn dependency:copy-dependencies")
        (folder / "installed").write_text(text)
    sources = sorted((HERE / name).glob("*.java"))
    is_there, text = is_current(folder / "compiled", pom, *sources)
    if not is_there:
        shutil.rmtree(classes, ignore_errors=True)
        classes.mkdir(parents=True)
        compiled(["javac", "-nowarn", "--release", "17", "-d", classes, "-cp", f"{library}/*", *sources], "javac")
        (folder / "compiled").write_text(text)
    return f"{classes}:{library}/*"


def compiled(words, what):
    """What is ours must compile: an error is not a missing client."""
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=INSTALL_S, check=False)
    assert done.returncode == 0, f"{what}:\n{done.stdout}{done.stderr}"


def proton_cpp():
    """The program of the C++ suite."""
    program("g++")
    header = Path("/usr/include/proton/container.hpp")
    if not header.is_file():
        why = debian()
        if not header.is_file():
            raise Missing(f"there is no {header} ({why})")
    folder = BUILD / "cpp"
    folder.mkdir(parents=True, exist_ok=True)
    sources = sorted((HERE / "cpp").glob("*"))
    target, stamp = folder / "proton_cases", folder / "compiled"
    is_there, text = is_current(stamp, *sources)
    if not (is_there and target.is_file()):
        compiler = ["ccache", "g++"] if shutil.which("ccache") else ["g++"]
        objects = []
        for source in (s for s in sources if s.suffix == ".cc"):
            objects.append(folder / (source.stem + ".o"))
            compiled([*compiler, "-std=c++17", "-O1", "-c", source, "-o", objects[-1]], "g++")
        compiled(["g++", *objects, "-lqpid-proton-cpp", "-lpthread", "-o", target], "g++")
        stamp.write_text(text)
    return target
