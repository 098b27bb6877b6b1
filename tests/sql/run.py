#!/usr/bin/env python3
"""End-to-end tests of databases: real servers, SQLite and PostgreSQL through ODBC.

Needs libsqliteodbc, odbc-postgresql and postgresql.
"""
import sqlite3
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from xml.sax.saxutils import escape, unescape

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common"), str(HERE.parent / "http")]
import cases  # noqa: E402
from harness import CASES, Case, Server, case, case_of, command, eventually, main  # noqa: E402
from make_project import COPY_HEADERS, HEAD, Project, module  # noqa: E402
from postgres import Postgres, binaries  # noqa: E402

# What the catch terminal shows: numbers from the failed statement on, and the SQL state.
SHOW = COPY_HEADERS + """
    DECLARE text, state CHARACTER '';
    DECLARE e REFERENCE TO InputExceptionList;
    MOVE e FIRSTCHILD;
    WHILE LASTMOVE(e) AND e.Number IS NOT NULL DO
      IF e.Number <> 2230 THEN
        SET text = text || '>' || CAST(e.Number AS CHARACTER);
      END IF;
      IF e.Number = 2322 THEN
        SET state = ' D' || e.Insert[1].Text;
      END IF;
      MOVE e LASTCHILD;
    END WHILE;
    SET OutputRoot.XMLNSC.failed = SUBSTRING(text FROM 2) || state;
    RETURN TRUE;"""

TABLE_STOCK = "CREATE TABLE stock (item_id INTEGER, place VARCHAR(10), amount INTEGER)"
TABLE_PAIR = "CREATE TABLE pair_{} (id INTEGER PRIMARY KEY)"


def http_flow(project, name, middle, wires, catch=True):
    """HTTP Input -> `middle` -> HTTP Reply, with the exception shown in the reply."""
    nodes = [("in", "ComIbmWSInput", "In", {"URLSpecifier": "/" + name, "messageDomainProperty": "XMLNSC"}),
             *middle,
             ("show", "ComIbmCompute", "Show", {"computeExpression": "esql://routine/#Show.Main"}),
             ("reply", "ComIbmWSReply", "Reply", {}),
             ("error", "ComIbmWSReply", "Error", {})]
    wires = wires + (["in.catch -> show.in"] if catch else []) + ["show.out -> error.in"]
    project.flow(name, nodes, wires)


def compute(name, **properties):
    return (name.lower(), "ComIbmCompute", name,
            {"computeExpression": f"esql://routine/#{name}.Main", "dataSource": "SOURCE_X", **properties})


def make_project(folder):
    project = Project(folder, "Databases")
    project.esql("Show", module("Show", SHOW))
    text = ""
    for one in cases.CASES:
        name = "C_" + one["name"]
        text += module(name, COPY_HEADERS + "    BEGIN" + one["esql"] + "\n    END;\n    RETURN TRUE;")
        # The reply leaves before the flow commits, so the node commits: the next case sees what this one did.
        http_flow(project, one["name"], [compute(name, transaction="commit", **one["properties"])],
                  [f"in.out -> {name.lower()}.in", f"{name.lower()}.out -> reply.in"])
    project.esql("Cases", text)
    make_transaction_flows(project)
    make_node_flows(project)
    return project


def make_transaction_flows(project):
    """Two inserts in nodes of one flow, then what the request asks for."""
    body = COPY_HEADERS + "    SET OutputRoot.XMLNSC = InputRoot.XMLNSC;\n"
    insert = body + """    INSERT INTO Database.pair_{0} (id) VALUES (CAST(InputRoot.XMLNSC.In.id AS INTEGER));
    {1}
    RETURN TRUE;"""
    fail = """    IF InputRoot.XMLNSC.In.how = 'throw' THEN THROW USER EXCEPTION VALUES('on purpose'); END IF;
    IF InputRoot.XMLNSC.In.how = 'rollback' THEN ROLLBACK; END IF;
    IF InputRoot.XMLNSC.In.how = 'commit then throw' THEN
      COMMIT Database.SOURCE_X;
      THROW USER EXCEPTION VALUES('on purpose');
    END IF;"""
    project.esql("Pair", module("First", insert.format("a", "")) + module("Second", insert.format("b", fail)) +
                 module("Own", insert.format("a", "")) + module("Fail", body + "THROW USER EXCEPTION VALUES('x');"))
    http_flow(project, "pair", [compute("First"), compute("Second")],
              ["in.out -> first.in", "first.out -> second.in", "second.out -> reply.in"])
    http_flow(project, "own", [compute("Own", transaction="commit"), compute("Fail")],
              ["in.out -> own.in", "own.out -> fail.in", "fail.out -> reply.in"])
    http_flow(project, "pair_committed", [compute("First"), compute("Second", transaction="commit")],
              ["in.out -> first.in", "first.out -> second.in", "second.out -> reply.in"], catch=False)
    # Without catch and failure terminals the message ends with the input node's own reply.
    http_flow(project, "pair_plain", [compute("First"), compute("Second")],
              ["in.out -> first.in", "first.out -> second.in", "second.out -> reply.in"], catch=False)


def make_node_flows(project):
    project.esql("Nodes", module("Log", """
    INSERT INTO Database.item (id, name) VALUES (CAST(Root.XMLNSC.In.id AS INTEGER), 'by a Database node');
    RETURN TRUE;""", "DATABASE") + module("HasRow", """
    RETURN EXISTS(SELECT * FROM Database.item AS T WHERE T.id = CAST(Root.XMLNSC.In.id AS INTEGER));""", "FILTER") +
                 module("Yes", COPY_HEADERS + "SET OutputRoot.XMLNSC.r = 'yes'; RETURN TRUE;") +
                 module("No", COPY_HEADERS + "SET OutputRoot.XMLNSC.r = 'no'; RETURN TRUE;"))
    http_flow(project, "database_node", [
        ("log", "ComIbmDatabase", "Log", {"statement": "esql://routine/#Log.Main", "dataSource": "SOURCE_X"})],
        ["in.out -> log.in", "log.out -> reply.in"])
    answers = [("yes", "ComIbmCompute", "Yes", {"computeExpression": "esql://routine/#Yes.Main"}),
               ("no", "ComIbmCompute", "No", {"computeExpression": "esql://routine/#No.Main"})]
    http_flow(project, "filter", [
        ("filter", "ComIbmFilter", "Filter",
         {"filterExpression": "esql://routine/#HasRow.Main", "dataSource": "SOURCE_X"}), *answers],
        ["in.out -> filter.in", "filter.true -> yes.in", "filter.false -> no.in", "yes.out -> reply.in",
         "no.out -> reply.in"])
    select = ('<queryElements tableName="item" columnName="name" operator="ASC" valueType="None" value="None"/>'
              '<queryElements tableName="item" columnName="id" operator="ASC" valueType="None" value="None"/>')
    where = ('<queryElements tableName="item" columnName="id" operator="{}" valueType="Element" '
             'value="$Body/In/id"/>')
    data = ('<dataElements columnName="item.name" messageElement="$OutputRoot/XMLNSC/In/name"/>'
            '<dataElements columnName="item.id" messageElement="$OutputRoot/XMLNSC/In/@found"/>')
    for name, operator, more in (
            ("retrieve", "=", {"sqlQuery": "SELECT item.name, item.id\nFROM item\nWHERE item.id = ?"}),
            ("retrieve_all", "&lt;=", {"allRows": "true"})):
        http_flow(project, name, [
            ("get", "ComIbmDatabaseRetrieve", "Get", {"dataSourceName": "SOURCE_X", "copyMessage": "true", **more},
             select + where.format(operator) + data), *answers],
            ["in.out -> get.in", "get.out -> reply.in", "get.keyNotFound -> no.in", "no.out -> reply.in"])
    rules = ('<outTerminals terminalNodeID="Match" dynamic="true" label="Match"/>'
             '<filterTable filterPattern="$item_name = $Body/In/name" routingOutputTerminal="Match"/>')
    http_flow(project, "route", [
        ("route", "ComIbmDatabaseRoute", "Route", {"dataSourceName": "SOURCE_X"},
         select + where.format("=") + rules), *answers],
        ["in.out -> route.in", "route.Match -> yes.in", "route.default -> no.in", "yes.out -> reply.in",
         "no.out -> reply.in", "route.keyNotFound -> reply.in"])


def make_work_folder(folder, name, lines):
    work = Path(folder) / name
    work.mkdir()
    (work / "server.conf.yaml").write_text("serverName: 'test'\nMillstream:\n  DataSources:\n" +
                                           "".join(f"    {line}\n" for line in lines))
    return work


class Database:
    """One database with a server before it."""

    def __init__(self, kind, server):
        self.kind, self.port, self.server = kind, server.port, server
        self.schema = "main" if kind == "sqlite" else "public"

    def send(self, path, body="<In/>"):
        reply = self.server.request("POST", "/" + path, body.replace("@schema@", self.schema),
                                    {"Content-Type": "text/xml"})
        return reply.status, reply.text

    def reply(self, path, body="<In/>"):
        text = self.send(path, body)[1]
        return "=> " + unescape(text[8:-9]) if text.startswith("<failed>") else text


def expect_soon(function, wanted):
    """For what the flow commits after its reply has left."""
    eventually(lambda: function() == wanted, wanted, 10)


def expect(got, wanted):
    assert got == wanted, f"\n  got      {got}\n  expected {wanted}"


# ------------------------------------------------------------------------ tests of both databases

def make_sqlite(folder):
    """A database in a file, and what asks it beside the server."""
    file = folder / "shop.db"
    with sqlite3.connect(file) as own:
        for table in (cases.TABLES["sqlite"], TABLE_STOCK, TABLE_PAIR.format("a"), TABLE_PAIR.format("b")):
            own.execute(table)

    def query(text):
        with sqlite3.connect(file) as reading:
            return "\n".join("|".join(str(c) for c in row) for row in reading.execute(text))
    return file, query


@contextmanager
def on_sqlite(binary, folder):
    project = make_project(folder)
    file, query = make_sqlite(folder)
    work = make_work_folder(folder, "sqlite", [f"SOURCE_X: 'Driver=SQLite3;Database={file}'"])
    with Server(binary, project.folder, "--work-dir", work) as server:
        yield SimpleNamespace(db=Database("sqlite", server), query=query)


@contextmanager
def on_postgres(binary, folder):
    assert binaries(), "PostgreSQL is not installed"
    postgres = Postgres()
    try:
        for table in (cases.TABLES["postgres"], TABLE_STOCK, TABLE_PAIR.format("a"), TABLE_PAIR.format("b")):
            postgres.sql(table)
        make_procedures(postgres)
        project = make_project(folder)
        make_procedure_flow(project)
        work = make_work_folder(folder, "postgres", [f"SOURCE_X: '{postgres.connection()}'"])
        with Server(binary, project.folder, "--work-dir", work) as server:
            yield SimpleNamespace(db=Database("postgres", server), query=postgres.sql, postgres=postgres, binary=binary,
                                  folder=folder, project=project)
            assert server.process.poll() is None, "the server died:\n" + "\n".join(server.errors[-20:])
    finally:
        postgres.close()


def check_case(db, case):
    expect(db.reply(case["name"], case["request"]), case[db.kind])


def pairs(db, query):
    rows = query("SELECT id FROM pair_a ORDER BY id"), query("SELECT id FROM pair_b ORDER BY id")
    return [r.split() for r in rows]


def transactions(db, query):
    def send(number, how, path="pair"):
        return db.reply(path, f"<In><id>{number}</id><how>{how}</how></In>")
    assert "<id>1</id>" in send(1, "")
    expect_soon(lambda: pairs(db, query), [["1"], ["1"]])
    status, text = db.send("pair_plain", "<In><id>3</id><how>throw</how></In>")
    assert status == 500, (status, text)
    expect_soon(lambda: pairs(db, query), [["1"], ["1"]])
    send(4, "throw")
    expect_soon(lambda: pairs(db, query), [["1", "4"], ["1", "4"]])
    send(5, "rollback")
    expect_soon(lambda: pairs(db, query), [["1", "4"], ["1", "4"]])
    db.send("pair_plain", "<In><id>6</id><how>commit then throw</how></In>")
    expect_soon(lambda: pairs(db, query), [["1", "4", "6"], ["1", "4", "6"]])


def own_transaction(db, query):
    # transaction=commit: what the node did stays, though the flow fails after it.
    db.reply("own", "<In><id>20</id></In>")
    expect(query("SELECT id FROM pair_a WHERE id = 20"), "20")


def database_node(db, query):
    expect(db.reply("database_node", "<In><id>30</id></In>"), "<In><id>30</id></In>")
    expect_soon(lambda: query("SELECT name FROM item WHERE id = 30"), "by a Database node")
    expect(db.reply("filter", "<In><id>30</id></In>"), "<r>yes</r>")
    expect(db.reply("filter", "<In><id>31</id></In>"), "<r>no</r>")


def retrieve_and_route(db, _):
    expect(db.reply("retrieve", "<In><id>2</id></In>"), '<In found="2"><id>2</id><name>Cake</name></In>')
    expect(db.reply("retrieve", "<In><id>999</id></In>"), "<r>no</r>")
    text = db.reply("retrieve_all", "<In><id>3</id></In>")
    assert "<name>Cake</name><name>Salt</name><name>Tea</name>" in text, text
    expect(db.reply("route", "<In><id>2</id><name>Cake</name></In>"), "<r>yes</r>")
    expect(db.reply("route", "<In><id>2</id><name>Tea</name></In>"), "<r>no</r>")
    expect(db.reply("route", "<In><id>999</id></In>"), "<In><id>999</id></In>")


def many_at_once(db, query):
    failures = []

    def work(start):
        for i in range(start, start + 25):
            status, text = db.send("pair", f"<In><id>{i}</id></In>")
            if status != 200 or "failed" in text:
                failures.append((i, status, text))
    threads = [threading.Thread(target=work, args=(1000 + 25 * n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures, failures[:3]
    expect_soon(lambda: query("SELECT COUNT(*) FROM pair_a WHERE id >= 1000"), "200")
    expect_soon(lambda: query("SELECT COUNT(*) FROM pair_b WHERE id >= 1000"), "200")


def add_cases_of_both(shared):
    kind = shared.__name__.removeprefix("on_")
    for one in cases.CASES:
        CASES.append(Case(f"{kind} {one['name']}", lambda t, one=one: check_case(t.db, one), shared))
    for function in (transactions, own_transaction, database_node, retrieve_and_route, many_at_once):
        CASES.append(Case(f"{kind} {function.__name__}", lambda t, function=function: function(t.db, t.query), shared))


add_cases_of_both(on_sqlite)
add_cases_of_both(on_postgres)

# ------------------------------------------------------------------------ PostgreSQL only

def make_procedures(postgres):
    postgres.sql("""
      CREATE PROCEDURE add_up(IN a INTEGER, INOUT total INTEGER, OUT said TEXT) LANGUAGE plpgsql AS $$
        BEGIN total := total + a; said := 'sum ' || total; END $$;
      CREATE FUNCTION twice(n INTEGER) RETURNS INTEGER LANGUAGE sql AS 'SELECT n * 2';
      CREATE FUNCTION split_up(IN n NUMERIC, OUT whole INTEGER, OUT rest NUMERIC) LANGUAGE sql AS
        'SELECT trunc(n)::int, n - trunc(n)';
      CREATE FUNCTION cheap(top NUMERIC) RETURNS TABLE (id INTEGER, name VARCHAR) LANGUAGE sql AS
        'SELECT id, name FROM item WHERE price < top ORDER BY id';
      CREATE FUNCTION two_lists() RETURNS SETOF refcursor LANGUAGE plpgsql AS $$
        DECLARE a refcursor; b refcursor;
        BEGIN OPEN a FOR SELECT 1 AS x; RETURN NEXT a; OPEN b FOR SELECT 2 AS y UNION ALL SELECT 3; RETURN NEXT b; END $$;
    """)


PROCEDURES = """
CREATE PROCEDURE addUp(IN a INTEGER, INOUT total INTEGER, OUT said CHARACTER) LANGUAGE DATABASE EXTERNAL NAME "add_up";
CREATE PROCEDURE twice(IN n INTEGER) RETURNS INTEGER LANGUAGE DATABASE EXTERNAL NAME "public.twice";
CREATE PROCEDURE splitUp(IN n DECIMAL, OUT whole INTEGER, OUT rest DECIMAL) LANGUAGE DATABASE EXTERNAL NAME "split_up";
CREATE PROCEDURE cheap(IN top DECIMAL) LANGUAGE DATABASE DYNAMIC RESULT SETS 1 EXTERNAL NAME "cheap";
CREATE PROCEDURE lists() LANGUAGE DATABASE DYNAMIC RESULT SETS 2 EXTERNAL NAME "%.two_lists";
"""


def make_procedure_flow(project):
    project.esql("Procedures", PROCEDURES + module("Calls", COPY_HEADERS + """
    DECLARE total INTEGER 5;
    DECLARE said CHARACTER;
    CALL addUp(CAST(InputRoot.XMLNSC.In.n AS INTEGER), total, said);
    SET OutputRoot.XMLNSC.r.total = total;
    SET OutputRoot.XMLNSC.r.said = said;
    CALL twice(21) IN Database.SOURCE_X INTO OutputRoot.XMLNSC.r.twice;
    SET OutputRoot.XMLNSC.r.again = twice(4);
    DECLARE whole INTEGER;
    CALL splitUp(DECIMAL '3.25', whole, OutputRoot.XMLNSC.r.rest);
    SET OutputRoot.XMLNSC.r.whole = whole;
    CALL cheap(DECIMAL '100', OutputRoot.XMLNSC.r.cheap[]) EXTERNAL SCHEMA 'public';
    CALL lists(OutputRoot.XMLNSC.r.one[], OutputRoot.XMLNSC.r.two[]);
    RETURN TRUE;""") + module("CallWrong", COPY_HEADERS + """
    CALL nowhere(1);
    RETURN TRUE;""").replace("CREATE COMPUTE", """
CREATE PROCEDURE nowhere(IN a INTEGER) LANGUAGE DATABASE EXTERNAL NAME "nowhere";
CREATE COMPUTE"""))
    for name in ("Calls", "CallWrong"):
        http_flow(project, name.lower(), [compute(name)],
                  [f"in.out -> {name.lower()}.in", f"{name.lower()}.out -> reply.in"])


@case_of(on_postgres)
def procedures(t):
    expect(t.db.reply("calls", "<In><n>7</n></In>"),
           "<r><total>12</total><said>sum 12</said><twice>42</twice><again>8</again><rest>0.25</rest><whole>3</whole>"
           "<cheap><id>1</id><name>Tea</name></cheap><cheap><id>2</id><name>Cake</name></cheap>"
           "<cheap><id>4</id><name>Milk</name></cheap><one><x>1</x></one><two><y>2</y></two><two><y>3</y></two></r>")
    expect(t.db.reply("callwrong"), "=> 2488>2393>2322 D42883")


@case_of(on_postgres)
def idle_connection_was_cut(t):
    """Connections that died while nobody used them are replaced without an error."""
    t.db.reply("pair", "<In><id>40</id></In>")
    expect_soon(lambda: t.postgres.sql("SELECT COUNT(*) FROM pair_b WHERE id = 40"), "1")
    t.postgres.kill()
    t.postgres.start()
    assert "<id>41</id>" in t.db.reply("pair", "<In><id>41</id></In>")
    expect_soon(lambda: t.postgres.sql("SELECT COUNT(*) FROM pair_b WHERE id IN (40, 41)"), "2")


@case_of(on_postgres)
def injection_through_numbers_and_names(t):
    before = t.postgres.sql("SELECT COUNT(*) FROM item")
    for hostile in ("1 OR 1=1", "1; DROP TABLE item", "0x31", "1'--"):
        t.db.reply("where_with_the_message", f"<In><id>{escape(hostile)}</id><name>x</name></In>")
    expect(t.postgres.sql("SELECT COUNT(*) FROM item"), before)


@case_of(on_postgres)
def killed_under_load(t):
    """Crashes in the middle of load: errors reach the failure path, nothing is half done, and it goes on."""
    stop = threading.Event()
    answered, failed, wrong = set(), [0], []
    numbers = iter(range(5000, 10_000_000))
    lock = threading.Lock()

    def work():
        while not stop.is_set():
            with lock:
                number = next(numbers)
            try:
                status, text = t.db.send("pair_committed", f"<In><id>{number}</id></In>")
            except OSError as e:
                wrong.append(f"{number}: {e}")
                continue
            with lock:
                if status == 200:
                    answered.add(number)
                else:
                    failed[0] += 1
                    if status != 500:
                        wrong.append(f"{number}: {status} {text}")
    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            eventually(lambda n=len(answered): len(answered) > n + 50, "answers")
            t.postgres.kill()
            eventually(lambda n=failed[0]: failed[0] > n + 5, "failures")
            t.postgres.start()
        eventually(lambda n=len(answered): len(answered) > n + 200, "answers again")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not wrong, wrong[:5]
    a = set(t.postgres.sql("SELECT id FROM pair_a WHERE id >= 5000").split())
    b = set(t.postgres.sql("SELECT id FROM pair_b WHERE id >= 5000").split())
    expect(sorted(a ^ b), [])
    lost = {str(n) for n in answered} - a
    assert not lost, f"answered but not there: {sorted(lost)[:5]}"
    assert failed[0] >= 15
    assert int(t.postgres.sql("SELECT COUNT(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'")) == 0


@case_of(on_postgres)
def policy(t):
    """A JDBCProviders policy names the database, with credentials of server.conf.yaml."""
    policies = t.folder / "Policies"
    policies.mkdir()
    (policies / "policy.descriptor").write_text(
        HEAD + '<ns2:policyProjectDescriptor xmlns="http://com.ibm.etools.mft.descriptor.base" '
        'xmlns:ns2="http://com.ibm.etools.mft.descriptor.policyProject"><references/></ns2:policyProjectDescriptor>')
    (policies / "db.policyxml").write_text(
        HEAD + '<policies><policy policyType="JDBCProviders" policyName="SOURCE_X" policyTemplate="DB2_91">'
        "<databaseName>postgres</databaseName><databaseType>Postgresql</databaseType>"
        f"<serverName>{t.postgres.folder}</serverName><portNumber>{t.postgres.PORT}</portNumber>"
        "<securityIdentity>mine</securityIdentity><maxConnectionPoolSize>2</maxConnectionPoolSize>"
        "</policy></policies>")
    work = t.folder / "policy-work"
    work.mkdir()
    (work / "server.conf.yaml").write_text(
        "Credentials:\n  ServerCredentials:\n    jdbc:\n      mine:\n        username: 'tester'\n        password: 'x'\n")
    with Server(t.binary, t.project.folder, policies, "--work-dir", work) as server:
        expect(Database("postgres", server).reply("the_of_nothing_is_null"), "<r>none</r>")


# ------------------------------------------------------------------------ without a database

@case
def no_database(binary, folder):
    """A data source that is not there: the flow starts, the statement raises a DatabaseException."""
    project = make_project(folder)
    work = make_work_folder(folder, "empty", ["OTHER: 'Driver=SQLite3;Database=/tmp/none'"])
    with Server(binary, project.folder, "--work-dir", work) as server:
        db = Database("sqlite", server)
        text = db.reply("insert_all_types")
        assert text.startswith("=> 2488>2393>2322 DIM00"), text


@case
def dsn(binary, folder):
    """Without any configuration of ours the name is a DSN of odbc.ini."""
    file, _ = make_sqlite(folder)
    ini = folder / "odbc.ini"
    ini.write_text(f"[SOURCE_X]\nDriver = SQLite3\nDatabase = {file}\n")
    with Server(binary, make_project(folder).folder, environment={"ODBCINI": str(ini)}) as server:
        expect(Database("sqlite", server).reply("the_of_nothing_is_null"), "<r>none</r>")


@case
def check_warns(binary, folder):
    project = Project(Path(folder) / "check", "Checked")
    project.esql("M", module("Has", "INSERT INTO Database.A.s.t VALUES (1); RETURN TRUE;") +
                 module("Needs", "SET OutputRoot.XMLNSC.r[] = (SELECT * FROM Database.t AS T); RETURN TRUE;"))
    project.flow("F", [("in", "ComIbmWSInput", "In", {"URLSpecifier": "/f"}),
                       ("a", "ComIbmCompute", "A", {"computeExpression": "esql://routine/#Has.Main"}),
                       ("b", "ComIbmCompute", "B", {"computeExpression": "esql://routine/#Needs.Main"})],
                 ["in.out -> a.in", "a.out -> b.in"])
    done = command(binary, "check", project.folder)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "MS1866" in line]
    assert done.returncode == 0 and len(lines) == 1 and "'Needs' of node 'B'" in lines[0], done.stdout + done.stderr


@case
def no_procedures(binary, folder):
    """SQLite has none, and its driver says so."""
    file, _ = make_sqlite(folder)
    project = Project(Path(folder) / "none", "Procedures")
    project.esql("Show", module("Show", SHOW))
    make_procedure_flow(project)
    work = make_work_folder(folder, "no-procedures", [f"SOURCE_X: 'Driver=SQLite3;Database={file}'"])
    with Server(binary, project.folder, "--work-dir", work) as server:
        db = Database("sqlite", server)
        for path in ("calls", "callwrong"):
            text = db.reply(path, "<In><n>7</n></In>")
            assert text.startswith("=> 2488") and "2111" in text, text


if __name__ == "__main__":
    main(__doc__)
