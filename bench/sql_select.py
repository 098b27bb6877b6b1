#!/usr/bin/env python3
"""A single-row indexed SELECT per message on PostgreSQL: our CPU beyond the driver's own.

Three measurements of one run, each the median of ROUNDS: the CPU per message of a flow without the
SELECT, of the same flow with it, and of a plain loop that makes the same ODBC calls. The difference
of the first two, less the third, is what the server adds. PostgreSQL's own processes are not counted.
  bench/sql_select.py [ROUNDS] [SECONDS]
"""
import subprocess
import sys

import harness
from harness import Lab, ROOT, median, spread, table, verdict

sys.path[:0] = [str(ROOT / "tests/http"), str(ROOT / "tests/sql")]
from make_project import COPY_HEADERS, Project, module  # noqa: E402
from postgres import Postgres  # noqa: E402

TARGET_US = 60
SELECT = """    SET OutputRoot.XMLNSC.r = THE (SELECT T.name, T.price FROM Database.item AS T
      WHERE T.id = CAST(InputRoot.XMLNSC.In.id AS INTEGER));
"""
CONSTANT = """    SET OutputRoot.XMLNSC.r.name = InputRoot.XMLNSC.In.id;
    SET OutputRoot.XMLNSC.r.price = CAST(InputRoot.XMLNSC.In.id AS INTEGER);
"""


def make_project(folder):
    project = Project(folder, "SqlSelect")
    project.esql("M", module("With", COPY_HEADERS + SELECT + "    RETURN TRUE;") +
                 module("Without", COPY_HEADERS + CONSTANT + "    RETURN TRUE;"))
    for name in ("With", "Without"):
        project.flow(name, [
            ("in", "ComIbmWSInput", "In", {"URLSpecifier": "/" + name.lower(), "messageDomainProperty": "XMLNSC"}),
            ("c", "ComIbmCompute", "C", {"computeExpression": f"esql://routine/#{name}.Main", "dataSource": "BENCH"}),
            ("reply", "ComIbmWSReply", "Reply", {})], ["in.out -> c.in", "c.out -> reply.in"])
    return project.folder


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    postgres = Postgres()
    try:
        postgres.sql("CREATE TABLE item (id INTEGER PRIMARY KEY, name VARCHAR(40), price NUMERIC(10,2));"
                     "INSERT INTO item SELECT n, 'item ' || n, n * 1.25 FROM generate_series(0, 9999) n;"
                     "ANALYZE item")
        with Lab() as lab:
            run(lab, postgres, rounds, seconds)
    finally:
        postgres.close()


def run(lab, postgres, rounds, seconds):
    work = lab.folder / "work"
    work.mkdir()
    (work / "server.conf.yaml").write_text(f"Millstream:\n  DataSources:\n    BENCH: '{postgres.connection()}'\n")
    project = make_project(lab.folder)
    server = lab.millstream(project, options=("--work-dir", work))
    script = lab.folder / "post.lua"
    script.write_text('wrk.method = "POST"\nwrk.headers["Content-Type"] = "text/xml"\n'
                      'local n = 0\nrequest = function()\n  n = (n + 1) % 1000\n'
                      '  return wrk.format(nil, nil, nil, "<In><id>" .. n .. "</id></In>")\nend\n')
    status, text = server.request("POST", "/with", b"<In><id>8</id></In>", {"Content-Type": "text/xml"})
    if status != 200 or b"<name>item 8</name><price>10.00</price>" not in text:
        raise SystemExit(f"{status} {text}")
    loop = [harness.tool("taskset"), "-c", harness.SERVER_CORE,
            str(harness.PROGRAM.parent / "bench/sql_driver_loop"), postgres.connection(), "5000"]
    without, with_select, driver = [], [], []
    for _ in range(rounds):
        for path, into in (("/without", without), ("/with", with_select)):
            into.append(lab.wrk(server, path, seconds, 4, script)[1])
        done = subprocess.run(loop, capture_output=True, text=True, check=True)
        driver.append(int(done.stdout.split()[0]) / 1000)
    ours = median(with_select) - median(without) - median(driver)
    print(harness.machine())
    table([["CPU per message", "us"],
           ["flow without the SELECT", spread(without)],
           ["flow with the SELECT", spread(with_select)],
           ["the driver alone, same ODBC calls in a loop", spread(driver)]])
    print("ours beyond the driver: " + verdict(ours, TARGET_US))


if __name__ == "__main__":
    main()
