"""Statements with what they reply, run in this order against each database.

case(NAME, ESQL, EXPECTED): the ESQL runs in a Compute node with `In` at the request's body; the reply is
the body it makes, or "=> 2488>2393>2322 D23000" for an exception. EXPECTED: one text, or one for SQLite
and one for PostgreSQL.
"""
CASES = []


def case(name, esql, expected, postgres=None, request="<In/>", **properties):
    CASES.append({"name": name, "esql": esql, "sqlite": expected, "request": request, "properties": properties,
                  "postgres": expected if postgres is None else postgres})


TABLES = {
    "sqlite": "CREATE TABLE item (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, price DECIMAL(10,2), made DATE, "
              "seen TIMESTAMP, at TIME, weight DOUBLE, flag BOOLEAN, picture BLOB, note TEXT, big BIGINT)",
    "postgres": "CREATE TABLE item (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, price NUMERIC(10,2), made DATE, "
                "seen TIMESTAMP, at TIME, weight FLOAT8, flag BOOLEAN, picture BYTEA, note TEXT, big BIGINT)",
}

# ------------------------------------------------------------ INSERT and the types

case("insert_all_types", """
    INSERT INTO Database.item (id, name, price, made, seen, at, weight, flag, picture, note, big)
      VALUES (1, 'Tea', DECIMAL '3.50', DATE '2026-01-31', TIMESTAMP '2026-01-31 10:11:12.123456', TIME '10:11:12',
              0.25, TRUE, X'00ff10', 'Gr\u00fc\u00dfe \u20ac \U0001d11e', 9223372036854775807);
    SET OutputRoot.XMLNSC.r = 'done';""", "<r>done</r>")
case("insert_without_columns", """
    INSERT INTO Database.item VALUES (2, 'Cake', DECIMAL '12.25', NULL, NULL, NULL, NULL, FALSE, NULL, NULL, -1);
    INSERT INTO Database.item (id, name) VALUES (3, 'Salt');
    SET OutputRoot.XMLNSC.r = SQLSTATE || ' ' || CAST(SQLCODE AS CHARACTER);""", "<r>00000 0</r>")
case("types_as_values", """
    DECLARE r ROW;
    SET r.i[] = (SELECT * FROM Database.item AS T WHERE T.id = 1);
    DECLARE t REFERENCE TO r.i;
    SET OutputRoot.XMLNSC.r.price = t.price + DECIMAL '0.01';
    SET OutputRoot.XMLNSC.r.big = t.big - 1;
    SET OutputRoot.XMLNSC.r.half = t.weight * 2 = 0.5;
    SET OutputRoot.XMLNSC.r.day = EXTRACT(DAY FROM t.made);
    SET OutputRoot.XMLNSC.r.micros = CAST(t.seen AS CHARACTER FORMAT 'yyyy-MM-dd HH:mm:ss.SSSSSS');
    SET OutputRoot.XMLNSC.r.hour = EXTRACT(HOUR FROM t.at);
    SET OutputRoot.XMLNSC.r.flag = NOT t.flag;
    SET OutputRoot.XMLNSC.r.bytes = LENGTH(t.picture);
    SET OutputRoot.XMLNSC.r.note = t.note;""",
     "<r><price>3.51</price><big>9223372036854775806</big><half>true</half><day>31</day>"
     "<micros>2026-01-31 10:11:12.123456</micros><hour>10</hour><flag>false</flag><bytes>3</bytes>"
     "<note>Gr\u00fc\u00dfe \u20ac \U0001d11e</note></r>")
case("insert_values_of_the_message", """
    INSERT INTO Database.item (id, name, price, made) VALUES (InputRoot.XMLNSC.In.id, InputRoot.XMLNSC.In.name,
      CAST(InputRoot.XMLNSC.In.price AS DECIMAL), CAST(InputRoot.XMLNSC.In.made AS DATE));
    SET OutputRoot.XMLNSC.r = THE (SELECT T.name, T.price FROM Database.item AS T WHERE T.id = 4);""",
     "<r><name>Milk</name><price>1.1</price></r>", "<r><name>Milk</name><price>1.10</price></r>",
     request="<In><id>4</id><name>Milk</name><price>1.10</price><made>2026-02-01</made></In>")
case("insert_missing_field_is_null", """
    INSERT INTO Database.item (id, name, note) VALUES (5, 'Nil', InputRoot.XMLNSC.In.nothing);
    SET OutputRoot.XMLNSC.r = THE (SELECT T.id FROM Database.item AS T WHERE T.note IS NULL AND T.id = 5);""",
     "<r><id>5</id></r>")
case("large_text_and_blob", """
    DECLARE long CHARACTER REPLICATE('\u00e4bc ', 20000);
    INSERT INTO Database.item (id, name, note, picture) VALUES (6, 'Long', long, CAST(long AS BLOB CCSID 1208));
    DECLARE r ROW;
    SET r = THE (SELECT T.note, T.picture FROM Database.item AS T WHERE T.id = 6);
    SET OutputRoot.XMLNSC.r = LENGTH(r.note) + LENGTH(r.picture);
    DELETE FROM Database.item AS T WHERE T.id = 6;""", "<r>180000</r>")

# ------------------------------------------------------------ SELECT

case("select_columns", """
    SET OutputRoot.XMLNSC.r.i[] = (SELECT T.id, T.name AS title, T.price AS amounts.net FROM Database.item AS T
      WHERE T.id < 3);""",
     "<r><i><id>1</id><title>Tea</title><amounts><net>3.5</net></amounts></i>"
     "<i><id>2</id><title>Cake</title><amounts><net>12.25</net></amounts></i></r>",
     "<r><i><id>1</id><title>Tea</title><amounts><net>3.50</net></amounts></i>"
     "<i><id>2</id><title>Cake</title><amounts><net>12.25</net></amounts></i></r>")
case("select_names_in_any_case", """
    SET OutputRoot.XMLNSC.r.i[] = (SELECT T.ID, T.Name FROM Database.ITEM AS T WHERE T.Id = 2);""",
     "<r><i><ID>2</ID><Name>Cake</Name></i></r>")
case("select_star_has_the_names_of_the_database", """
    SET OutputRoot.XMLNSC.r[] = (SELECT * FROM Database.item AS T WHERE T.id = 3);""",
     "<r><id>3</id><name>Salt</name></r>")
case("select_all_of_one", """
    SET OutputRoot.XMLNSC.r[] = (SELECT T.*, 1 + 1 AS two FROM Database.item AS T WHERE T.id = 3);""",
     "<r><id>3</id><name>Salt</name><two>2</two></r>")
case("select_item", """
    SET OutputRoot.XMLNSC.r.n[] = (SELECT ITEM T.name FROM Database.item AS T WHERE T.id IN (1, 2));""",
     "<r><n>Tea</n><n>Cake</n></r>")
case("select_item_of_a_variable", """
    DECLARE price DECIMAL;
    SET price = THE (SELECT ITEM T.price FROM Database.item AS T WHERE T.name = 'Cake');
    SET OutputRoot.XMLNSC.r = price * 2;""", "<r>24.50</r>")
case("the_of_nothing_is_null", """
    SET OutputRoot.XMLNSC.r = COALESCE(THE (SELECT ITEM T.name FROM Database.item AS T WHERE T.id = 99), 'none');""",
     "<r>none</r>")
case("aggregates", """
    SET OutputRoot.XMLNSC.r.count = SELECT COUNT(*) FROM Database.item AS T;
    SET OutputRoot.XMLNSC.r.priced = SELECT COUNT(T.price) FROM Database.item AS T;
    SET OutputRoot.XMLNSC.r.max = SELECT MAX(T.id) FROM Database.item AS T WHERE T.id < 4;
    SET OutputRoot.XMLNSC.r.min = SELECT MIN(T.name) FROM Database.item AS T;
    SET OutputRoot.XMLNSC.r.sum = SELECT SUM(T.id) FROM Database.item AS T WHERE T.id <= 3;
    SET OutputRoot.XMLNSC.r.none = COALESCE((SELECT SUM(T.id) FROM Database.item AS T WHERE T.id > 99), -1);""",
     "<r><count>5</count><priced>3</priced><max>3</max><min>Cake</min><sum>6</sum><none>-1</none></r>")
case("aggregates_computed_here", """
    SET OutputRoot.XMLNSC.r.n = SELECT COUNT(*) FROM Database.item AS T WHERE SUBSTRING(T.name FROM 2 FOR 1) = 'a';
    SET OutputRoot.XMLNSC.r.s = SELECT SUM(LENGTH(T.name)) FROM Database.item AS T WHERE T.id < 3;""",
     "<r><n>2</n><s>7</s></r>")
case("where_forms", """
    SET OutputRoot.XMLNSC.r.a[] = (SELECT ITEM T.id FROM Database.item AS T WHERE T.id BETWEEN 2 AND 3 AND NOT (T.id = 3));
    SET OutputRoot.XMLNSC.r.b[] = (SELECT ITEM T.id FROM Database.item AS T WHERE T.name LIKE '_a%' AND T.price IS NOT NULL);
    SET OutputRoot.XMLNSC.r.c[] = (SELECT ITEM T.id FROM Database.item AS T WHERE T.price IS NULL AND T.id < 4);
    SET OutputRoot.XMLNSC.r.d[] = (SELECT ITEM T.id FROM Database.item AS T WHERE UPPER(T.name) = 'TEA' OR T.id * 2 = 4);
    SET OutputRoot.XMLNSC.r.e[] = (SELECT ITEM T.id FROM Database.item AS T WHERE T.name || '!' = 'Tea!');
    SET OutputRoot.XMLNSC.r.f[] = (SELECT ITEM T.id FROM Database.item AS T
      WHERE CASE WHEN T.id = 1 THEN 'x' ELSE 'y' END = 'x');
    SET OutputRoot.XMLNSC.r.g[] = (SELECT ITEM T.id FROM Database.item AS T WHERE T.id NOT IN (1, 2, 4, 5));
    SET OutputRoot.XMLNSC.r.h[] = (SELECT ITEM T.id FROM Database.item AS T WHERE T.name LIKE 'C|ake' ESCAPE '|');
    SET OutputRoot.XMLNSC.r.i[] = (SELECT ITEM T.id FROM Database.item AS T WHERE -T.id < -4);
    SET OutputRoot.XMLNSC.r.j[] = (SELECT ITEM T.id FROM Database.item AS T WHERE COALESCE(T.price, 0) = 0 AND T.id < 5);""",
     "<r><a>2</a><b>2</b><c>3</c><d>1</d><d>2</d><e>1</e><f>1</f><g>3</g><h>2</h><i>5</i><j>3</j></r>")
case("where_with_the_message", """
    SET OutputRoot.XMLNSC.r.i[] = (SELECT ITEM T.id FROM Database.item AS T
      WHERE T.id = CAST(InputRoot.XMLNSC.In.id AS INTEGER) AND T.name = InputRoot.XMLNSC.In.name);
    SET OutputRoot.XMLNSC.r.j[] = (SELECT ITEM T.id FROM Database.item AS T
      WHERE InputRoot.XMLNSC.In.missing IS NULL AND (InputRoot.XMLNSC.In.id = '1' OR T.id = 3) AND T.id < 3);
    SET OutputRoot.XMLNSC.r.k[] = (SELECT ITEM T.id FROM Database.item AS T WHERE T.id = InputRoot.XMLNSC.In.missing);
    SET OutputRoot.XMLNSC.r.l[] = (SELECT ITEM T.id FROM Database.item AS T WHERE InputRoot.XMLNSC.In.id = '7');""",
     "<r><i>1</i><j>1</j><j>2</j></r>", request="<In><id>1</id><name>Tea</name></In>")
case("where_evaluated_here", """
    SET OutputRoot.XMLNSC.r.i[] = (SELECT ITEM T.id FROM Database.item AS T
      WHERE T.id < 5 AND CONTAINS(T.name, 'a') AND T.price > 2);
    SET OutputRoot.XMLNSC.r.j[] = (SELECT ITEM T.id FROM Database.item AS T
      WHERE CAST(T.id AS CHARACTER) = '2' OR T.id = 1);""",
     "<r><i>1</i><i>2</i><j>1</j><j>2</j></r>")
case("in_a_list_of_the_message", """
    SET OutputRoot.XMLNSC.r.i[] = (SELECT ITEM T.id FROM Database.item AS T WHERE T.name IN (InputRoot.XMLNSC.In.n[]));""",
     "<r><i>1</i><i>3</i></r>", request="<In><n>Salt</n><n>Tea</n></In>")
case("join_of_tables", """
    INSERT INTO Database.stock (item_id, place, amount) VALUES (1, 'A', 10);
    INSERT INTO Database.stock (item_id, place, amount) VALUES (2, 'B', 20);
    INSERT INTO Database.stock (item_id, place, amount) VALUES (1, 'C', 30);
    SET OutputRoot.XMLNSC.r.i[] = (SELECT I.name, S.amount FROM Database.item AS I, Database.stock AS S
      WHERE I.id = S.item_id AND S.amount > 10);""",
     "<r><i><name>Cake</name><amount>20</amount></i><i><name>Tea</name><amount>30</amount></i></r>")
case("join_of_whole_tables", """
    SET OutputRoot.XMLNSC.r.i[] = (SELECT S.*, X.* FROM Database.stock AS S, Database.stock AS X
      WHERE S.place = 'A' AND X.place = 'B');
    SET OutputRoot.XMLNSC.r.j[] = (SELECT S.*, X.place AS other FROM Database.stock AS S, Database.stock AS X
      WHERE S.place = 'A' AND X.place = 'B');""",
     "<r><i><item_id>1</item_id><place>A</place><amount>10</amount><item_id>2</item_id><place>B</place>"
     "<amount>20</amount></i><j><item_id>1</item_id><place>A</place><amount>10</amount><other>B</other></j></r>")
case("join_with_the_message", """
    SET OutputRoot.XMLNSC.r.i[] = (SELECT T.name, M.want FROM Database.item AS T, InputRoot.XMLNSC.In.line[] AS M
      WHERE T.id < 4 AND CAST(T.id AS CHARACTER) = M.id);""",
     "<r><i><name>Tea</name><want>x</want></i><i><name>Salt</name><want>y</want></i></r>",
     request="<In><line><id>3</id><want>y</want></line><line><id>1</id><want>x</want></line></In>")
case("nested_select", """
    SET OutputRoot.XMLNSC.r.i[] = (SELECT I.name,
        (SELECT ITEM S.place FROM Database.stock AS S WHERE S.item_id = I.id) AS places.p[]
      FROM Database.item AS I WHERE I.id < 3);
    SET OutputRoot.XMLNSC.r.j[] = (SELECT ITEM I.id FROM Database.item AS I
      WHERE EXISTS(SELECT S.place FROM Database.stock AS S WHERE S.item_id = I.id));""",
     "<r><i><name>Tea</name><places><p>A</p><p>C</p></places></i><i><name>Cake</name><places><p>B</p></places></i>"
     "<j>1</j><j>2</j></r>")
case("for_over_rows", """
    DECLARE total INTEGER 0;
    FOR row AS (SELECT S.amount FROM Database.stock AS S) DO
      SET total = total + row.amount;
    END FOR;
    SET OutputRoot.XMLNSC.r = total;""", "<r>60</r>")
case("cardinality_and_exists", """
    SET OutputRoot.XMLNSC.r.c = CARDINALITY(SELECT * FROM Database.stock AS S);
    SET OutputRoot.XMLNSC.r.e = EXISTS(SELECT * FROM Database.stock AS S WHERE S.amount = 20);
    SET OutputRoot.XMLNSC.r.n = EXISTS(SELECT * FROM Database.stock AS S WHERE S.amount = 21);""",
     "<r><c>3</c><e>true</e><n>false</n></r>")
case("names_in_braces", """
    DECLARE t CHARACTER 'stock';
    SET OutputRoot.XMLNSC.r.i[] = (SELECT ITEM S.place FROM Database.{'SOURCE_' || 'X'}.{InputRoot.XMLNSC.In.schema}.{t} AS S
      WHERE S.amount = 10);
    UPDATE Database.{t} AS S SET amount = 11 WHERE S.amount = 10;
    SET OutputRoot.XMLNSC.r.j = THE (SELECT ITEM S.amount FROM Database.{t} AS S WHERE S.place = 'A');""",
     "<r><i>A</i><j>11</j></r>", request="<In><schema>@schema@</schema></In>")
case("hostile_name_in_braces", """
    SET OutputRoot.XMLNSC.r = COALESCE((SELECT COUNT(*) FROM Database.{InputRoot.XMLNSC.In.t} AS S), -1);""",
     "=> 2488>2393>2322 DHY000", "=> 2488>2393>2322 D42P01", request="<In><t>stock; DROP TABLE item; --</t></In>")

# ------------------------------------------------------------ UPDATE and DELETE

case("update", """
    UPDATE Database.item AS T SET price = T.price * 2 + 1, note = 'was ' || T.name, weight = NULL WHERE T.id = 1;
    SET OutputRoot.XMLNSC.r = THE (SELECT T.price, T.note, T.weight FROM Database.item AS T WHERE T.id = 1);""",
     "<r><price>8</price><note>was Tea</note></r>", "<r><price>8.00</price><note>was Tea</note></r>")
case("update_nothing", """
    UPDATE Database.item AS T SET price = 1 WHERE T.id = 77;
    SET OutputRoot.XMLNSC.r = SQLSTATE || ' ' || CAST(SQLCODE AS CHARACTER);""", "<r>02000 100</r>")
case("update_nothing_is_an_error", """
    UPDATE Database.item AS T SET price = 1 WHERE T.id = 77;
    SET OutputRoot.XMLNSC.r = 'not here';""", "=> 2488>2393>2322 D02000", treatWarningsAsErrors="true")
case("update_all_and_delete", """
    UPDATE Database.stock SET amount = 1;
    DELETE FROM Database.stock AS S WHERE S.place = 'C';
    SET OutputRoot.XMLNSC.r.s = SELECT SUM(S.amount) FROM Database.stock AS S;
    DELETE FROM Database.stock;
    SET OutputRoot.XMLNSC.r.n = SELECT COUNT(*) FROM Database.stock AS S;""", "<r><s>2</s><n>0</n></r>")

# ------------------------------------------------------------ PASSTHRU

case("passthru_function", """
    SET OutputRoot.XMLNSC.r.i[] = PASSTHRU('SELECT id, name FROM item WHERE id < ? ORDER BY id DESC', 3);
    SET OutputRoot.XMLNSC.r.j[] = PASSTHRU('SELECT name AS n FROM item WHERE id = ? AND name = ?'
                                          VALUES(1, 'Tea'));
    SET OutputRoot.XMLNSC.r.k = THE (PASSTHRU('SELECT COUNT(*) AS n FROM item' TO Database.SOURCE_X));""",
     "<r><i><id>2</id><name>Cake</name></i><i><id>1</id><name>Tea</name></i><j><n>Tea</n></j><k><n>5</n></k></r>")
case("passthru_list_of_values", """
    SET OutputRoot.XMLNSC.r.i[] = PASSTHRU('SELECT id FROM item WHERE name = ? OR name = ? ORDER BY id',
                                          InputRoot.XMLNSC.In.n[]);
    SET OutputRoot.XMLNSC.r.j[] = PASSTHRU('SELECT id FROM item WHERE name = ? OR name = ? ORDER BY id'
                                          VALUES(InputRoot.XMLNSC.In.n[]));""",
     "<r><i><id>1</id></i><i><id>2</id></i><j><id>1</id></j><j><id>2</id></j></r>",
     request="<In><n>Cake</n><n>Tea</n></In>")
case("passthru_statement", """
    PASSTHRU 'CREATE TABLE scratch (n INTEGER)' TO Database.SOURCE_X;
    PASSTHRU 'INSERT INTO scratch VALUES (?)' TO Database.SOURCE_X VALUES(41);
    PASSTHRU('INSERT INTO scratch VALUES (?)', 42);
    PASSTHRU('UPDATE scratch SET n = n + 1');
    SET OutputRoot.XMLNSC.r.n[] = (SELECT ITEM S.n FROM Database.scratch AS S);
    PASSTHRU('DROP TABLE scratch');""", "<r><n>42</n><n>43</n></r>")
case("passthru_wrong_number_of_values", """
    PASSTHRU('SELECT id FROM item WHERE id = ?');
    SET OutputRoot.XMLNSC.r = 1;""", "=> 2488>2106", "=> 2488>2106")
case("passthru_beyond_ascii", """
    SET OutputRoot.XMLNSC.r.i[] = PASSTHRU('SELECT ''\u00e9\u20ac'' AS "na\u00efve" FROM item WHERE name = ?', 'Tea');
    SET OutputRoot.XMLNSC.r.j[] = PASSTHRU('SELECT ''\u00e9'' AS "\u00e9" FROM item WHERE id = 1');""",
     "<r><i><na\u00efve>\u00e9\u20ac</na\u00efve></i><j><\u00e9>\u00e9</\u00e9></j></r>")
case("select_from_passthru", """
    SET OutputRoot.XMLNSC.r.i[] = (SELECT P.id FROM PASSTHRU('SELECT id, price FROM item') AS P WHERE P.price > 10);""",
     "<r><i><id>2</id></i></r>")

# ------------------------------------------------------------ errors, handlers, registers

case("constraint_is_an_exception", """
    INSERT INTO Database.item (id, name) VALUES (1, 'again');
    SET OutputRoot.XMLNSC.r = 'not here';""", "=> 2488>2393>2322 D23000", "=> 2488>2393>2322 D23505")
case("wrong_table_is_an_exception", """
    SET OutputRoot.XMLNSC.r[] = (SELECT * FROM Database.nowhere AS T);""",
     "=> 2488>2393>2322 DHY000", "=> 2488>2393>2322 D42P01")
case("continue_handler", """
    DECLARE CONTINUE HANDLER FOR SQLSTATE LIKE 'D23%'
    BEGIN
      SET OutputRoot.XMLNSC.r.state = SQLSTATE;
      SET OutputRoot.XMLNSC.r.code = SQLCODE;
      SET OutputRoot.XMLNSC.r.has_text = LENGTH(SQLERRORTEXT) > 10;
    END;
    INSERT INTO Database.item (id, name) VALUES (1, 'again');
    SET OutputRoot.XMLNSC.r.after = 'yes';""",
     "<r><state>D23000</state><code>-1</code><has_text>true</has_text><after>yes</after></r>",
     "<r><state>D23505</state><code>-1</code><has_text>true</has_text><after>yes</after></r>")
case("exit_handler", """
    inner : BEGIN
      DECLARE EXIT HANDLER FOR SQLSTATE LIKE 'D%' SET OutputRoot.XMLNSC.r.caught = SUBSTRING(SQLSTATE FROM 1 FOR 1);
      INSERT INTO Database.item (id, name) VALUES (1, 'again');
      SET OutputRoot.XMLNSC.r.never = 1;
    END inner;
    SET OutputRoot.XMLNSC.r.after = THE (SELECT ITEM T.name FROM Database.item AS T WHERE T.id = 3);""",
     "<r><caught>D</caught><after>Salt</after></r>")
case("no_exception_wanted", """
    INSERT INTO Database.item (id, name) VALUES (1, 'again');
    SET OutputRoot.XMLNSC.r.code = SQLCODE;
    SET OutputRoot.XMLNSC.r.state = SQLSTATE;
    SET OutputRoot.XMLNSC.r.native = SQLNATIVEERROR <> 0;
    SET OutputRoot.XMLNSC.r.text = SQLERRORTEXT <> '';
    DECLARE n INTEGER SELECT COUNT(*) FROM Database.item AS T;
    SET OutputRoot.XMLNSC.r.reset = SQLCODE;
    SET OutputRoot.XMLNSC.r.rows = CARDINALITY(SELECT T.* FROM Database.nowhere AS T);""",
     "<r><code>-1</code><state>23000</state><native>true</native><text>true</text><reset>0</reset><rows>0</rows></r>",
     "<r><code>-1</code><state>23505</state><native>true</native><text>true</text><reset>0</reset><rows>0</rows></r>",
     throwExceptionOnDatabaseError="false")
case("unsupported_parameter", """
    INSERT INTO Database.item (id, name) VALUES (50, INTERVAL '1' DAY);""", "=> 2488>2101")
case("hostile_values", """
    DECLARE CONTINUE HANDLER FOR SQLSTATE LIKE '%' SET OutputRoot.XMLNSC.r.failed = SQLERRORTEXT;
    DECLARE n INTEGER 100;
    FOR v AS InputRoot.XMLNSC.In.v[] DO
      INSERT INTO Database.item (id, name) VALUES (n, v);
      IF THE (SELECT ITEM T.name FROM Database.item AS T WHERE T.id = n AND T.name = v) = v THEN
        SET OutputRoot.XMLNSC.r.ok[n - 99] = n;
      END IF;
      SET n = n + 1;
    END FOR;
    DELETE FROM Database.item AS T WHERE T.id >= 100;
    SET OutputRoot.XMLNSC.r.rows = SELECT COUNT(*) FROM Database.item AS T;""",
     "<r><ok>100</ok><ok>101</ok><ok>102</ok><ok>103</ok><ok>104</ok><rows>5</rows></r>",
     request="<In><v>'; DROP TABLE item; --</v><v>' OR 1=1 --</v><v>\\'; DELETE FROM item; --</v><v>?$1:x\"</v>"
             "<v>%_{call x}</v></In>")
