#!/usr/bin/env python3
"""Reads tables of another writer through SQL and compares with what that writer read itself.

    lake_check.py DIRECTORY [WORD ...]

DIRECTORY has `expected.json` of spark_tables.py (or of another program that writes the same). Compared
are every row of every table, of every snapshot and ref, the metadata functions, and predicates over each column
against a heap twin. PGHOST, PGPORT and PGUSER name the server. After CHECK_SECONDS only the rows of each table are
compared; what is left out is counted. Ends with `N passed, N failed, N skipped`.
"""

import collections
import datetime
import decimal
import json
import os
import re
import shutil
import sqlite3
import struct
import sys
import time

import psycopg2

DIRECTORY = os.path.abspath(sys.argv[1])
WORDS = sys.argv[2:]
UNTIL = time.time() + float(os.environ.get("CHECK_SECONDS", 3600))
passed = failed = skipped = 0


def check(what, got, expected):
    global passed, failed
    if got == expected:
        passed += 1
        return True
    failed += 1
    print(f"FAIL {what}: {str(got)[:600]}\n     expected {str(expected)[:600]}", flush=True)
    return False


class Failure(Exception):
    pass


def connect(database):
    db = psycopg2.connect(
        dbname=database, host=os.environ["PGHOST"], port=os.environ["PGPORT"], user=os.environ["PGUSER"]
    )
    db.autocommit = True
    return db


DB = connect(os.environ.get("PGDATABASE", "postgres"))


def sql(statement, *parameters):
    with DB.cursor() as cursor:
        try:
            cursor.execute(statement, parameters or None)
        except psycopg2.Error as error:
            raise Failure(f"{error.pgcode} {str(error).strip()} [{statement[:200]}]") from None
        return cursor.fetchall() if cursor.description else []


def quote(name):
    return '"' + name.replace('"', '""') + '"'


def literal(text):
    return (
        "'" + text.replace("'", "''") + "'"
        if "\\" not in text
        else "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
    )


# --- Values ---------------------------------------------------------------------------------------
class Number(str):
    """A number of a JSON text as it is spelt there."""


def parse(text):
    return json.loads(text, parse_int=Number, parse_float=Number, object_pairs_hook=Pairs)


class Pairs(list):
    """A JSON object with its pairs as they stand there."""


def real(text, kind, nested):
    value = float(text)
    if kind == "float":
        try:
            value = struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            pass
    # JSON has no negative zero.
    return "0.0" if nested and value == 0 else repr(value)


def moment(text, zoned):
    text = text.replace("T", " ")
    if zoned is True:
        if not text.endswith("+00:00"):
            return text
        text = text[:-6]
    return text.rstrip("0").rstrip(".") if "." in text else text


def scalar(kind, value, ours, nested):
    if kind in ("float", "double"):
        return real(value, kind, nested)
    if kind in ("byte", "short", "integer", "long"):
        return int(value)
    if kind.startswith("decimal"):
        number = decimal.Decimal(value)
        return number if nested else (number, number.as_tuple().exponent)
    if kind == "boolean":
        return value if isinstance(value, bool) else {"true": True, "false": False}[value]
    if kind in ("timestamp", "timestamp_ntz", "time"):
        return moment(value, ours and kind == "timestamp")
    if kind == "binary":
        return (value[2:] if ours else value).lower()
    if kind == "uuid":
        return value.lower()
    return str(value) if not isinstance(value, Pairs) else ("not a scalar", repr(value))


def canonical(kind, value, ours, nested=False):
    """A hashable that is the same for the same value, whoever printed it."""
    if value is None:
        return None
    if isinstance(kind, str):
        return scalar(kind, value, ours, nested)
    if kind["type"] == "udt":
        return canonical(kind["sqlType"], value, ours, nested)
    if kind["type"] == "array":
        # Arrays of PostgreSQL hold their numbers as they are, lists in jsonb do not.
        return tuple(canonical(kind["elementType"], v, ours, True) for v in value)
    if kind["type"] == "map":
        if ours:
            pairs = [(k, v) for k, v in value]
        else:
            pairs = [(p["k"], p["v"]) if isinstance(p, dict) else (dict(p)["k"], dict(p)["v"]) for p in value]
        return frozenset(
            (canonical(kind["keyType"], k, ours, True), canonical(kind["valueType"], v, ours, True)) for k, v in pairs
        )
    fields = kind["fields"]
    if ours:
        found = dict(value)
        if set(found) != {f["name"] for f in fields}:
            return ("keys", tuple(sorted(found)))
        return tuple(canonical(f["type"], found[f["name"]], ours, True) for f in fields)
    return tuple(canonical(f["type"], v, ours, True) for f, (_, v) in zip(fields, pairs_of(value)))


def pairs_of(value):
    return value.items() if isinstance(value, dict) else value


PG_TYPES = {
    "boolean": "boolean",
    "integer": "integer",
    "long": "bigint",
    "float": "real",
    "double": "double precision",
    "date": "date",
    "timestamp": "timestamp with time zone",
    "timestamp_ntz": "timestamp without time zone",
    "string": "text",
    "binary": "bytea",
    "uuid": "uuid",
    "time": "time without time zone",
    "void": "text",
}


def pg_type(kind):
    if isinstance(kind, str):
        return re.sub("^decimal", "numeric", kind) if kind.startswith("decimal") else PG_TYPES[kind]
    if kind["type"] == "array" and isinstance(kind["elementType"], str):
        return pg_type(kind["elementType"]) + "[]"
    return "jsonb"


def compare_rows(what, columns, expected, relation, more=""):
    """Every value of every row. Columns are asked for by name, so the relation may have others."""
    names = ", ".join(quote(c) for c, _ in columns)
    try:
        rows = sql(f"SELECT to_json(r_)::text FROM (SELECT {names} FROM {relation}{more}) r_")
    except Failure as error:
        return check(what, str(error), f"{len(expected)} rows")
    want = collections.Counter(tuple(canonical(k, v, False) for (_, k), v in zip(columns, row)) for row in expected)
    got = collections.Counter()
    for (text,) in rows:
        pairs = parse(text) if text is not None else [("", None)] * len(columns)
        try:
            got[tuple(canonical(k, v, True) for (_, k), (_, v) in zip(columns, pairs))] += 1
        except (ValueError, TypeError, KeyError, decimal.InvalidOperation) as error:
            got[("unreadable", repr(error), text[:300])] += 1
    if want == got:
        return check(what, True, True)
    return check(
        what,
        f"{sum(got.values())} rows, not theirs: {list((got - want))[:3]}",
        f"{sum(want.values())} rows, not ours: {list((want - got))[:3]}",
    )


# --- Predicates -----------------------------------------------------------------------------------
COMPARE = r"""
CREATE OR REPLACE FUNCTION pg_temp.compare(ours text, twin text, predicates text[], OUT predicate text, OUT a text, OUT b text)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	q constant text := 'SELECT count(*) || '' '' || coalesce(sum(hashtextextended(r_::text, 0)::numeric), 0) FROM %s r_ WHERE %s';
BEGIN
	FOREACH predicate IN ARRAY predicates LOOP
		BEGIN
			EXECUTE format(q, ours, predicate) INTO a;
		EXCEPTION WHEN OTHERS THEN a := sqlstate || ' ' || sqlerrm;
		END;
		BEGIN
			EXECUTE format(q, twin, predicate) INTO b;
		EXCEPTION WHEN OTHERS THEN b := sqlstate || ' ' || sqlerrm;
		END;
		IF a IS DISTINCT FROM b THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END$$;
"""
ORDERED = {
    "boolean",
    "integer",
    "bigint",
    "real",
    "double precision",
    "date",
    "timestamp with time zone",
    "timestamp without time zone",
    "text",
    "bytea",
    "uuid",
    "time without time zone",
    "smallint",
}


def predicates_of(column, kind, values):
    q = quote(column)
    yield f"{q} IS NULL"
    yield f"{q} IS NOT NULL"
    if not (kind in ORDERED or kind.startswith("numeric")):
        return
    literals = [f"{literal(v)}::{kind}" for v in values]
    for v in literals:
        for operator in ("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"):
            yield f"{q} {operator} {v}"
        yield f"NOT ({q} = {v} OR {q} IS NULL)"
    if literals:
        yield f"{q} IN ({', '.join(literals[:4])})"
        yield f"{q} BETWEEN {literals[0]} AND {literals[-1]}"
        yield f"{q} NOT IN ({', '.join(literals[:3])})"
    if kind == "boolean":
        yield from (q, f"NOT {q}", f"{q} IS NOT TRUE", f"{q} IS UNKNOWN")
    if kind == "text":
        for v in values:
            escaped = re.sub(r"([\\%_])", r"\\\1", v[:3])
            yield f"{q} LIKE {literal(escaped + '%')}"
    if kind == "integer":
        yield f"{q} > 2147483648::bigint"
        yield f"{q} = 1.5"
    if kind in ("bigint", "real", "double precision"):
        yield f"{q} = 1::numeric"
        yield f"{q} < 2::smallint"


def check_predicates(what, relation, columns, n_values):
    sql("DROP TABLE IF EXISTS twin")
    try:
        sql(f"CREATE TEMP TABLE twin AS SELECT * FROM {relation}")
    except Failure as error:
        return check(f"{what} twin", str(error), "read")
    tests = []
    for column, kind in columns:
        values = []
        if kind in ORDERED or kind.startswith("numeric"):
            shown = f"encode({quote(column)}, 'hex')" if kind == "bytea" else f"{quote(column)}::text"
            values = [
                r[0]
                for r in sql(
                    f"SELECT v FROM (SELECT DISTINCT {quote(column)} AS k, {shown} AS v FROM twin WHERE {quote(column)} IS NOT NULL) t "
                    f"WHERE length(v) < 200 ORDER BY md5(v) LIMIT {n_values}"
                )
            ]
            if kind == "bytea":
                values = ["\\x" + v for v in values]
        tests += predicates_of(column, kind, values)
    sql(COMPARE)
    for predicate, ours, twin in sql("SELECT * FROM pg_temp.compare(%s, 'twin', %s)", relation, tests):
        check(f"{what} WHERE {predicate}", ours, twin)
    global passed
    passed += len(tests)


# --- One table ------------------------------------------------------------------------------------
def stamp(ms):
    return datetime.datetime.fromtimestamp(ms // 1000, datetime.timezone.utc) + datetime.timedelta(
        milliseconds=ms % 1000
    )


def check_metadata(name, entry, relation):
    got = sql(
        "SELECT snapshot_id, (extract(epoch FROM committed_at) * 1000)::bigint, operation, parent_id FROM bifang.snapshots(%s)",
        relation,
    )
    check(f"{name} snapshots", sorted(map(list, got)), sorted(entry["snapshots"]))
    got = sql(
        "SELECT snapshot_id, (extract(epoch FROM made_current_at) * 1000)::bigint FROM bifang.history(%s)", relation
    )
    check(f"{name} history", sorted(map(list, got)), sorted(entry["history"]))
    got = sql("SELECT name, kind, snapshot_id FROM bifang.refs(%s)", relation)
    check(f"{name} refs", sorted(map(list, got)), sorted(entry["refs"]))
    if "files" not in entry:
        return

    def base(path):
        return os.path.basename(path)

    got = sql("SELECT file, lower(format), rows, bytes FROM bifang.files(%s)", relation)
    data = [[base(f[1]), f[2].lower(), f[3], f[4]] for f in entry["files"] if f[0] == 0]
    check(f"{name} files", sorted([base(f[0]), *f[1:]] for f in got), sorted(data))
    got = sql(
        "SELECT file, CASE content WHEN 'data' THEN 0 ELSE 1 END, added_files, existing_files FROM bifang.manifests(%s)",
        relation,
    )
    check(
        f"{name} manifests",
        sorted([base(f[0]), *f[1:]] for f in got),
        sorted([base(f[0]), *f[1:]] for f in entry["manifests"]),
    )
    got = sql("SELECT sum(rows)::bigint, sum(files)::bigint FROM bifang.partitions(%s)", relation)
    want = (sum(f[2] for f in data) if data else None, len(data) if data else None)
    check(f"{name} partitions", got[0], want)


def foreign(name, columns, location, more):
    """A foreign table at another point in time, with the columns of that time."""
    body = ", ".join(f"{quote(c)} {pg_type(k)}" for c, k in columns)
    sql("DROP FOREIGN TABLE IF EXISTS past")
    sql(f"CREATE FOREIGN TABLE past ({body}) SERVER here OPTIONS (location {literal(location)}, {more})")
    return "past"


def check_travel(name, entry, location):
    points = [(f"as_of_snapshot '{n}'", rows) for n, rows in entry["as_of"].items()]
    points += [(f"ref {literal(ref)}", rows) for ref, rows in entry["at_ref"].items()]
    times = [t for _, t in entry["history"]]
    for number, at in entry["history"]:
        if str(number) in entry["as_of"] and times.count(at) == 1:
            points.append((f"as_of_timestamp '{stamp(at).isoformat()}'", entry["as_of"][str(number)]))
    for option, (columns, rows) in points:
        try:
            relation = foreign("past", columns, location, option)
        except Failure as error:
            check(f"{name} {option}", str(error), "a foreign table")
            continue
        compare_rows(f"{name} {option}", columns, rows, relation)


def check_meta_columns(name, entry, location):
    for key, metas in (("lineage", ("row_id", "last_updated_sequence_number")), ("positions", ("file", "pos"))):
        if key not in entry:
            continue
        columns, rows = entry[key]
        names = [c for c, _ in columns[:-2]] + ["meta1", "meta2"]
        kinds = [k for _, k in columns[:-2]] + [("string" if metas[0] == "file" else "long"), "long"]
        body = ", ".join(f"{quote(c)} {pg_type(k)}" for c, k in zip(names[:-2], kinds))
        kind = "text" if metas[0] == "file" else "bigint"
        sql("DROP FOREIGN TABLE IF EXISTS meta")
        try:
            sql(
                f"CREATE FOREIGN TABLE meta ({body}, meta1 {kind} OPTIONS (meta '{metas[0]}'), meta2 bigint OPTIONS (meta '{metas[1]}')) "
                f"SERVER here OPTIONS (location {literal(location)})"
            )
        except Failure as error:
            check(f"{name} {key}", str(error), "a foreign table")
            continue
        if key == "positions":
            rows = [[*r[:-2], r[-2].removeprefix("file://").removeprefix("file:"), r[-1]] for r in rows]
        compare_rows(f"{name} {key}", list(zip(names, kinds)), rows, "meta")


def local(path):
    return re.sub("^file:(//)?", "", path)


def place(name, entry):
    """Where we are told the table is: its directory, or the metadata file when that does not lead there."""
    directory = local(entry["location"])
    if entry.get("moved"):
        target = f"{DIRECTORY}/moved/{name}"
        if not os.path.exists(target):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.move(directory, target)
        return target
    return directory if entry["catalog"] == "h" else local(entry["metadata"])


def check_table(name, entry):
    location = place(name, entry)
    sql("DROP SCHEMA IF EXISTS one CASCADE")
    sql("CREATE SCHEMA one")
    try:
        sql(f'IMPORT FOREIGN SCHEMA "any" FROM SERVER here INTO one OPTIONS (location {literal(location)})')
        found = sql("SELECT relname FROM pg_class WHERE relnamespace = 'one'::regnamespace AND relkind = 'f'")
    except Failure as error:
        found, message = [], str(error)
    else:
        message = "not imported"
    if not found:
        return check(f"{name} import", message, "a table")
    relation = "one." + quote(found[0][0])
    if "refused" in entry:
        try:
            sql(f"SELECT * FROM {relation}")
            check(f"{name} is refused", "read", entry["refused"])
        except Failure as error:
            check(
                f"{name} is refused: {error}", entry["refused"] in str(error) and str(error).startswith("0A000"), True
            )
        return
    columns = sql(
        "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 "
        "AND NOT attisdropped ORDER BY attnum",
        relation,
    )
    if "imported" in entry:
        entry["columns"] = [(n, k) for n, (_, k) in zip(entry["imported"], entry["columns"])]
    want = [(c, pg_type(k)) for c, k in entry["columns"]]
    if check(f"{name} columns", columns, want):
        compare_rows(name, entry["columns"], entry["rows"], relation)
    global skipped
    if time.time() > UNTIL:
        skipped += 1
        return
    check_predicates(name, relation, columns, entry.get("values", 3))
    check_metadata(name, entry, relation)
    check_travel(name, entry, location)
    check_meta_columns(name, entry, location)


def check_catalogs(tables):
    """Tables of a JdbcCatalog, both versions: its rows are put into databases of this server, which
    are then somebody else's catalog to us."""
    for version in ("v0", "v1"):
        mine = {n: e for n, e in tables.items() if e["catalog"] == f"j{version}"}
        if not mine:
            continue
        sql(f"DROP DATABASE IF EXISTS catalog_{version}")
        sql(f"CREATE DATABASE catalog_{version}")
        with sqlite3.connect(f"{DIRECTORY}/j{version}.db") as theirs, connect(f"catalog_{version}").cursor() as ours:
            for table, definition in theirs.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
            ).fetchall():
                ours.execute(definition)
                for row in theirs.execute(f"SELECT * FROM {table}"):
                    ours.execute(f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(row))})", row)
        sql("DROP SERVER IF EXISTS far CASCADE; DROP SCHEMA IF EXISTS far CASCADE; CREATE SCHEMA far")
        sql(
            f"CREATE SERVER far FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_host {literal(os.environ['PGHOST'])}, "
            f"catalog_port '{os.environ['PGPORT']}', catalog_dbname 'catalog_{version}', catalog_name 'j{version}')"
        )
        sql(
            f"CREATE USER MAPPING FOR CURRENT_USER SERVER far OPTIONS (user {literal(os.environ['PGUSER'])}, password_required 'false')"
        )
        try:
            sql("IMPORT FOREIGN SCHEMA t FROM SERVER far INTO far")
        except Failure as error:
            check(f"catalog {version}", str(error), "imported")
        for name, entry in mine.items():
            compare_rows(f"{name} in the catalog", entry["columns"], entry["rows"], f"far.{name}")


def main():
    global skipped
    with open(f"{DIRECTORY}/expected.json") as f:
        tables = json.load(f)
    sql("SET client_min_messages = error; SET TimeZone = 'UTC'; SET statement_timeout = '120s'")
    sql("CREATE EXTENSION IF NOT EXISTS bifang_fdw")
    sql("DROP SERVER IF EXISTS here CASCADE")
    sql(f"CREATE SERVER here FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse {literal(DIRECTORY + '/h')})")
    for name, entry in tables.items():
        if not WORDS or any(w in name for w in WORDS):
            try:
                check_table(name, entry)
            except Failure as error:
                check(name, str(error), "no error")
    check_catalogs({n: e for n, e in tables.items() if not WORDS or any(w in n for w in WORDS)})
    if skipped:
        print(f"SKIPPED: all but the rows of {skipped} tables, for which there was no time")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
