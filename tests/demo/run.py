#!/usr/bin/env python3
"""The golden projects and the one of the guide answer as expected, and the demo notices when a
project does not."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINARY = os.environ.get("MILLSTREAM", os.path.join(ROOT, "build/release/millstream"))
TIMEOUT_S = 300


def demo(folder):
    return subprocess.run(
        [sys.executable, "-B", os.path.join(ROOT, "examples/demo.py"), "--binary", BINARY, "--quick",
         folder], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def check(is_right, what, run):
    if not is_right:
        sys.exit(f"{what}\nexit code {run.returncode}\n{run.stdout}{run.stderr}")
    print(f"ok  {what}")


def write_guide_project(folder):
    """The files of docs/guide/first-flow.md, with its request and reply as the only row."""
    with open(os.path.join(ROOT, "docs/guide/first-flow.md"), encoding="utf-8") as page:
        text = page.read()
    files = re.findall(r"^`([\w.]+)`[^\n]*:\n\n```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    request = re.search(r"curl -d '(.*)' localhost:7800(\S+)", text)
    reply = re.search(r"^```json\n(.*)\n```$", text, re.MULTILINE)
    row = ["guide", "POST", request.group(2), "application/json", "in.json", "200", "out.json"]
    files += [("input/in.json", request.group(1)), ("expected/out.json", reply.group(1)),
              ("requests.tsv", "\t".join(row) + "\n")]
    for name, content in files:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)


def main():
    golden = demo(os.path.join(ROOT, "tests/golden"))
    check(golden.returncode == 0, "the golden projects answer as expected", golden)

    with tempfile.TemporaryDirectory(prefix="millstream-golden-") as work:
        project = os.path.join(work, "two-computes")
        shutil.copytree(os.path.join(ROOT, "tests/golden/two-computes"), project)
        with open(os.path.join(project, "expected", "parcel.xml"), "w", encoding="utf-8") as file:
            file.write("<Parcel/>\n")
        wrong = demo(work)
        check(wrong.returncode == 1 and "DIFFERENT" in wrong.stdout,
              "a reply that differs makes the demo fail", wrong)

        os.rename(os.path.join(project, "First.esql"), os.path.join(project, "First.txt"))
        refused = demo(work)
        check(refused.returncode == 1 and "First_Compute" in refused.stdout,
              "a project that is refused makes the demo fail and say why", refused)

    with tempfile.TemporaryDirectory(prefix="millstream-guide-") as work:
        write_guide_project(os.path.join(work, "hello"))
        guide = demo(work)
        check(guide.returncode == 0, "the project of docs/guide/first-flow.md runs", guide)

    sizes = {"2K": 2136, "20K": 20119, "200K": 199940, "2MB": 1998141}
    for size, expected in sizes.items():
        run = subprocess.run([BINARY, "payload", "sales", "--size", size], capture_output=True,
                             timeout=TIMEOUT_S, check=False)
        check(run.returncode == 0 and len(run.stdout) == expected,
              f"payload sales --size {size} has {expected} bytes", run)
    run = subprocess.run([BINARY, "payload", "tea"], capture_output=True, timeout=TIMEOUT_S,
                         check=False)
    check(run.returncode == 2 and b"tea" in run.stderr, "an unknown payload is refused", run)


if __name__ == "__main__":
    main()
