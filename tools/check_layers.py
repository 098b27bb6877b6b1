#!/usr/bin/env python3
"""Checks that includes follow the architecture in tools/layers.json.

  tools/check_layers.py [ROOT]    exit 1 and one "file:line: message" each when something breaks a rule

1. A file of folder a includes a file of folder b only if b stands on a's line; every edge goes down.
2. _test.cc and _bench.cc files may include anything at a lower level. Sub-folders of nodes, parsers and
   wire never include each other; what they share is in common/.
3. Third-party headers: only in .cc files, and only in the folder that owns the library (tests may).
4. No include cycles, neither between folders nor between files.
5. Every folder of src/ and every DEPS entry of CMakeLists.txt is in the table.
"""
import json
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
TEST_FILE = re.compile(r"_(test|bench)\.cc$|_test(ing|_util|_support)?\.h$")
# Headers of the C library, POSIX and Linux. C++ headers have no extension.
SYSTEM_FOLDERS = ("sys/", "netinet/", "arpa/", "linux/", "bits/", "asm/")
SYSTEM_HEADERS = set("""
  aio.h cpuid.h cxxabi.h dirent.h dlfcn.h elf.h emmintrin.h errno.h execinfo.h fcntl.h features.h fnmatch.h
  ftw.h getopt.h glob.h grp.h ifaddrs.h immintrin.h inttypes.h langinfo.h limits.h link.h locale.h malloc.h
  math.h net/if.h netdb.h nmmintrin.h poll.h pthread.h pwd.h sched.h semaphore.h signal.h smmintrin.h spawn.h
  stdarg.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h syslog.h termios.h time.h tmmintrin.h
  ucontext.h unistd.h utime.h wchar.h wmmintrin.h x86intrin.h
""".split())


class Table:
    """tools/layers.json, checked and with '*' expanded."""

    def __init__(self, data):
        self.level = {f: i for i, level in enumerate(data["levels"]) for f in level}
        self.siblings = data.get("siblings", {})
        self.third_party = data.get("third_party", {})
        self.errors = []
        self.allowed = {}
        for folder, line in data["folders"].items():
            if folder not in self.level:
                self.errors.append(f"tools/layers.json: folder '{folder}' has no level")
                continue
            wanted = {f for f in line if f[0] not in "*-"}
            if "*" in line:
                wanted |= {f for f in self.level if self.level[f] < self.level[folder]}
            wanted -= {f[1:] for f in line if f[0] == "-"}
            for other in sorted(wanted):
                if other not in self.level:
                    self.errors.append(f"tools/layers.json: '{folder}' may include '{other}', which has no level")
                elif self.level[other] >= self.level[folder]:
                    self.errors.append(f"tools/layers.json: the edge {folder} -> {other} does not go down")
            self.allowed[folder] = wanted

    def owner_of(self, header):
        """(prefix, folders) of a third-party header, or None."""
        for prefix, folders in self.third_party.items():
            if header == prefix or (prefix[-1] == "/" or "." not in prefix) and header.startswith(prefix):
                return prefix, folders
        return None


def is_system(header):
    return "." not in header.rsplit("/", 1)[-1] and "/" not in header or header in SYSTEM_HEADERS or \
        header.startswith(SYSTEM_FOLDERS)


def read_includes(path):
    """[(line, '<' or '"', header)]; blanked comments cannot hide or fake an include at a line start."""
    text = path.read_text(encoding="utf-8", errors="replace")
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    return [(text.count("\n", 0, m.start()) + 1, m.group(1), m.group(2)) for m in INCLUDE.finditer(text)]


def folder_of(name):
    return name.split("/", 1)[0]


def sub_folder(name):
    parts = name.split("/")
    return parts[1] if len(parts) > 2 else None


def find_cycles(graph):
    """Strongly connected components of more than one node (Tarjan, without recursion)."""
    index, low, on_stack, stack, cycles = {}, {}, set(), [], []
    for start in sorted(graph):
        if start in index:
            continue
        work = [(start, iter(sorted(graph[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, edges = work[-1]
            for other in edges:
                if other not in graph:
                    continue
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(graph[other]))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member == node:
                            break
                    if len(component) > 1 or node in graph[node]:
                        cycles.append(sorted(component))
    return cycles


class Checker:
    def __init__(self, root, table):
        self.src = root / "src"
        self.root = root
        self.table = table
        self.errors = list(table.errors)
        self.includes = {}
        for path in sorted(p for p in self.src.rglob("*") if p.suffix in (".cc", ".h")):
            self.includes[path.relative_to(self.src).as_posix()] = read_includes(path)

    def error(self, name, line, message):
        self.errors.append(f"src/{name}:{line}: {message}")

    def check_ours(self, name, line, header):
        folder, other, is_test = folder_of(name), folder_of(header), bool(TEST_FILE.search(name))
        if not (self.src / header).exists():
            hint = "; write it from src/" if (self.src / name).parent.joinpath(header).exists() else ""
            self.error(name, line, f'no file "src/{header}"{hint}')
            return
        if TEST_FILE.search(header) and not is_test:
            self.error(name, line, f'"{header}" is for tests only')
        if other == folder:
            self.check_siblings(name, line, header)
            return
        if other not in self.table.level or folder not in self.table.level:
            return  # reported once by check_folders
        goes_down = self.table.level[other] < self.table.level[folder]
        if other in self.table.allowed.get(folder, ()) or is_test and goes_down:
            return
        why = "" if goes_down else f" (level {self.table.level[folder]} may not look up or across to level " \
            f"{self.table.level[other]})"
        self.error(name, line, f'{folder} may not include {other}: "{header}"{why}; it may include: '
                   f"{' '.join(sorted(self.table.allowed.get(folder, ()))) or 'nothing'}")

    def check_siblings(self, name, line, header):
        folder, mine, theirs = folder_of(name), sub_folder(name), sub_folder(header)
        if folder not in self.table.siblings or mine is None or mine == theirs or theirs == "common":
            return
        if theirs is None:
            reached = {sub_folder(h) for _, q, h in self.includes.get(header, ()) if q == '"' and
                       folder_of(h) == folder} - {None, "common", mine}
            if reached:
                self.error(name, line, f'"{header}" stands above {folder}/{mine}: it includes {folder}/'
                           f"{', '.join(sorted(reached))}")
            return
        if theirs not in self.table.siblings[folder].get(mine, ()):
            where = f"a test of both lies in src/{folder}" if TEST_FILE.search(name) else \
                f"what they share belongs in {folder}/common"
            self.error(name, line,
                       f'{folder}/{mine} may not include its sibling {folder}/{theirs}: "{header}"; {where}')

    def check_third_party(self, name, line, header):
        if is_system(header):
            return
        owner = self.table.owner_of(header)
        if owner is None:
            self.error(name, line, f"unknown third-party header <{header}>: a new library needs a line in "
                       "tools/layers.json and in docs/dependencies.md")
            return
        if TEST_FILE.search(name):
            return
        prefix, folders = owner
        if not name.endswith(".cc"):
            self.error(name, line, f"third-party header <{header}> in a header; wrap it in a .cc file")
        if folder_of(name) not in folders:
            whose = " and ".join(folders) if folders else "tests"
            self.error(name, line, f"<{header}> belongs to {whose}, not to {folder_of(name)}")

    def check_folders(self):
        for path in sorted(p for p in self.src.iterdir() if p.is_dir()):
            has_code = any(n.startswith(path.name + "/") for n in self.includes)
            if has_code and path.name not in self.table.allowed:
                self.errors.append(f"src/{path.name}: a new folder needs a line in tools/layers.json and a "
                                   "decision record in docs/adr/")

    def check_cycles(self):
        files = {n: {h for _, q, h in inc if q == '"'} for n, inc in self.includes.items()}
        for cycle in find_cycles(files):
            self.errors.append(f"src/{cycle[0]}:1: include cycle of files: {' '.join(cycle)}")
        folders = {}
        for name, headers in files.items():
            if not TEST_FILE.search(name):
                folders.setdefault(folder_of(name), set()).update(
                    folder_of(h) for h in headers if folder_of(h) != folder_of(name))
        for cycle in find_cycles(folders):
            self.errors.append(f"src/{cycle[0]}: include cycle of folders: {' '.join(cycle)}")

    def check_cmake(self):
        cmake = self.root / "CMakeLists.txt"
        if not cmake.exists():
            return
        for number, text in enumerate(cmake.read_text(encoding="utf-8").splitlines(), 1):
            match = re.match(r"ms_library\((\w+)(?:.*?\bDEPS ([\w ]+?))?(?: LIBS .*)?\)", text)
            if not match:
                continue
            folder = match.group(1)
            if folder not in self.table.allowed:
                self.errors.append(f"CMakeLists.txt:{number}: '{folder}' is not in tools/layers.json")
                continue
            for other in sorted(set((match.group(2) or "").split()) - self.table.allowed[folder]):
                self.errors.append(f"CMakeLists.txt:{number}: {folder} may not depend on {other}")

    def run(self):
        self.check_folders()
        for name, includes in self.includes.items():
            for line, quote, header in includes:
                if quote == '"':
                    self.check_ours(name, line, header)
                else:
                    self.check_third_party(name, line, header)
        self.check_cycles()
        self.check_cmake()
        return self.errors


def main():
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return 0
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    data = json.loads((root / "tools/layers.json").read_text(encoding="utf-8"))
    errors = Checker(root, Table(data)).run()
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
