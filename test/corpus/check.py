#!/usr/bin/env python3
"""Reads a corpus of other people's files through SQL and compares with what other readers said.

Run by test/corpus/run.sh, which sets PGHOST, PGPORT, PGUSER and BIFANG_CORPUS. Every file is read
in a session of its own; afterwards the server must still be the one that was started. Prints one
line per difference, what was skipped and why, what came of each file that nobody can be required to
read, how each source fared, and `N passed, N failed, N skipped` at the end.
"""
import hashlib
import json
import math
import os
import re
import struct
import subprocess
import sys
from decimal import Decimal, InvalidOperation

CORPUS = os.environ["BIFANG_CORPUS"]
ONLY = sys.argv[1] if len(sys.argv) > 1 else ""

tallies = {}  # by source, the first part of a name: passed, failed, skipped


def tally(what):
    return tallies.setdefault(re.split("[/ ]", what)[0], [0, 0, 0])


def report(ok, what, detail=""):
    if ok:
        tally(what)[0] += 1
    else:
        tally(what)[1] += 1
        print(f"FAILED {what}: {detail}", flush=True)


def skip(what, why):
    tally(what)[2] += 1
    print(f"skipped {what}: {why}", flush=True)


def psql(script, stop=True):
    """Rows as lists of fields, the error text, and warnings."""
    run = subprocess.run(
        ["psql", "-X", "-q", "-A", "-t", "-F", "\x1f", "-R", "\x1e", "-P", "null=\x01NULL",
         "-v", f"ON_ERROR_STOP={1 if stop else 0}", "-v", "VERBOSITY=verbose", "-f", "-"],
        input=script.encode(), capture_output=True, timeout=300)
    out = run.stdout.decode("utf-8", "replace").rstrip("\n")
    err = run.stderr.decode("utf-8", "replace")
    rows = [r.split("\x1f") for r in re.split("\x1e|\n(?=\x02)", out)] if out else []
    return rows, [l for l in err.splitlines() if "ERROR:" in l or "psql: error" in l or "FATAL:" in l or "server closed" in l
                  or "terminat" in l], err


def quote(name):
    return '"' + name.replace('"', '""') + '"'


def literal(text):
    return "'" + text.replace("'", "''") + "'"


# What is refused by default, with the SQLSTATE that says so, and read with an option: then the
# values have to be the record's. Values that no PostgreSQL type can hold are NULL then.
REFUSED_BY_DEFAULT = {
    "parquet-testing/data/int96_from_spark.parquet": ("22008", "out_of_range 'null'"),
    "impala/data/dateless_timestamps.parq": ("22008", "out_of_range 'null'"),
    "parquet-testing/data/datapage_v1-corrupt-checksum.parquet":
        ("XX001", "verify_checksums 'off'"),
    "parquet-testing/data/rle-dict-uncompressed-corrupt-checksum.parquet":
        ("XX001", "verify_checksums 'off'"),
    "impala/data/iceberg_test/iceberg_v3/trino_variant": ("22P05", "invalid_text 'replace'"),
}
# Nested values that are refused.
BEYOND_POSTGRES = {}
# Shredded variants that their specification forbids; the oracle reads them all the same.
for case in ("040", "042"):
    BEYOND_POSTGRES[f"parquet-testing/shredded_variant/case-{case}.parquet"] = "XX001"
BEYOND_POSTGRES["parquet-testing/shredded_variant/case-137.parquet"] = "0A000"
# Where the record is not what we give: query over the table, and its answer. This table's metadata
# is of version 2, which has no defaults, and names some for members of a struct. PyIceberg, which
# wrote it, and DuckDB give them to rows that are older than the members; so do we.
STATED_VALUES = {
    "duckdb-iceberg/add_columns_with_defaults_in_struct/default.db/"
    "add_columns_with_defaults_in_struct":
        ("a - 'col1' FROM f WHERE a->>'col_string' = 'HELLO'",
         {"col_boolean": True, "col_integer": 342342, "col_long": -9223372036854775808,
          "col_float": 0.34234, "col_double": 0.342343242342342, "col_decimal": 12345.00,
          "col_date": "2003-10-20", "col_time": "00:00:00.012345",
          "col_timestamp": "1970-01-01T00:00:00.012345",
          "col_timestamptz": "1970-01-01T00:00:00.012345+00:00", "col_string": "HELLO",
          "col_uuid": "f79c3e09-677c-4bbd-a479-3f349cb785e7", "col_fixed": "\\x010203ff03",
          "col_binary": "\\x0102"}),
}
# A variant that is null: a value for us, none for the oracle.
VARIANT_NULL = {f"parquet-testing/shredded_variant/case-{n}.parquet" for n in ("047", "089", "129", "135")}
# INT96 with a negative time of day: we round down, the oracle towards zero.
# How many values become NULL, and so are no minimum or maximum.
BEYOND_RANGE = {"parquet-testing/data/int96_from_spark.parquet": 1,
                "impala/data/dateless_timestamps.parq": 2}
DISPUTED_VALUES = {("impala/data/out_of_range_time_of_day.parquet", "min")}

PG_TYPES = {
    "VARCHAR": "text", "BIGINT": "bigint", "INTEGER": "integer", "SMALLINT": "smallint",
    "TINYINT": "smallint", "DOUBLE": "double precision", "FLOAT": "real", "BOOLEAN": "boolean",
    "BLOB": "bytea", "TIMESTAMP": "timestamp", "TIMESTAMP WITH TIME ZONE": "timestamptz",
    "DATE": "date", "UUID": "uuid", "UTINYINT": "smallint", "USMALLINT": "integer",
    "UINTEGER": "bigint", "UBIGINT": "numeric(20,0)", "TIME": "time", "TIME WITH TIME ZONE": "time",
    "TIMESTAMP_NS": "timestamp", "TIME_NS": "time", "JSON": "jsonb",
}


def pg_type(t):
    if re.fullmatch(r"DECIMAL\(\d+,\d+\)", t):
        return "numeric" + t[7:]
    return PG_TYPES.get(t)


def same_value(kind, want, got):
    """Do the oracle's text and ours mean the same value of this kind?"""
    if want is None or want == got:
        return True
    if kind in ("FLOAT", "DOUBLE"):
        a, b = float(want), float(got)
        if kind == "FLOAT":
            try:
                a, b = (struct.unpack("f", struct.pack("f", v))[0] for v in (a, b))
            except OverflowError:
                pass
        return a == b or (math.isnan(a) and math.isnan(b))
    if kind.startswith("DECIMAL") or kind.endswith("INT") or kind == "INTEGER":
        try:
            return Decimal(want) == Decimal(got)
        except InvalidOperation:
            return False
    if kind == "BOOLEAN":
        return want.lower()[:1] == got[:1]
    if kind == "BLOB":
        return want.lower() == got
    if "TIME" in kind or kind == "DATE":
        def norm(t):
            t = re.sub(r"\+00(:00)?$", "", t)
            t = re.sub(r"(\.\d{6})\d+$", r"\1", t)
            bc = re.search(r" ?\(?BC\)?", t)
            t = re.sub(r" ?\(?BC\)?", "", t)
            t = re.sub(r"\+00(:00)?$", "", t)
            if "." in t:
                t = t.rstrip("0").rstrip(".")
            return t.lstrip("0"), bool(bc)
        return norm(want) == norm(got)
    return False


def column_query(name, kind):
    q = quote(name)
    shown = f"encode({q}, 'hex')" if kind == "BLOB" else f"{q}::text"
    order = f'f.{q} COLLATE "C"' if kind == "VARCHAR" else f"f.{q}"
    parts = [f"(SELECT count({q}) FROM f)"]
    for direction in ("", " DESC"):
        parts.append(f"(SELECT {shown} FROM f WHERE {q} IS NOT NULL ORDER BY {order}{direction} LIMIT 1)")
    total = "NULL"
    if kind in ("VARCHAR", "BLOB"):
        total = f"(SELECT sum(octet_length({q}))::text FROM f)"
    elif kind.endswith("INT") or kind == "INTEGER" or kind.startswith("DECIMAL"):
        total = f"(SELECT sum({q})::text FROM f)"
    parts.append(total)
    return "SELECT 'col', " + ", ".join(parts) + ";"


def compare_columns(what, columns, rows):
    for (name, kind, want), row in zip(columns, rows):
        got = dict(zip(("non_null", "min", "max", "total"), row[1:]))
        label = f"{what} column {name}"
        if want.get("non_null") is not None and str(want["non_null"]) != got["non_null"]:
            report(False, label, f"{got['non_null']} values instead of {want['non_null']}")
            continue
        bad = None
        for key, theirs in (("min", want.get("min")), ("max", want.get("max")),
                            ("total", want.get("sum", want.get("total_bytes")))):
            if theirs is None or got[key] == "\x01NULL" or (what, key) in DISPUTED_VALUES:
                continue
            k = "DECIMAL" if key == "total" else kind
            if what.startswith("spark") and got[key] == "NaN":
                continue  # its expected values leave NaN out
            # the oracle cuts long texts
            if k in ("VARCHAR", "BLOB") and len(theirs) >= 60 and \
                    got[key].lower().startswith(theirs[:60].lower()):
                continue
            if not same_value(k, theirs, got[key]):
                bad = f"{key} is {got[key][:80]!r} instead of {theirs[:80]!r}"
        report(bad is None, label, bad)


SETUP = """
SET client_min_messages = warning;
SET TimeZone = 'UTC';
SET extra_float_digits = 1;
SET statement_timeout = '60s';
CREATE EXTENSION IF NOT EXISTS bifang_fdw;
DO $$BEGIN
	IF NOT EXISTS (SELECT FROM pg_foreign_server WHERE srvname = 'corpus') THEN
		CREATE SERVER corpus FOREIGN DATA WRAPPER bifang_fdw OPTIONS (format 'parquet');
	END IF;
END$$;
"""


def check_nested(what, imp, columns):
    """Columns of nested types as IMPORT declares them: all of their values can be shown."""
    columns = [c for c in columns if c[0] != "" and len(c[0].encode()) < 64]
    if not columns:
        return
    rows, errors, err = psql(imp + "SELECT relname FROM pg_class WHERE relkind = 'f' AND "
                             "relnamespace = 'c'::regnamespace;")
    if errors or len(rows) < 2 and "\n" not in rows[0][0]:
        return report("left out" in err, what + " import", err)
    name = rows[-1][0].split("\n")[-1]
    counts = ", ".join(f"count({quote(c[0])}), sum(length({quote(c[0])}::text))" for c in columns)
    rows, errors, err = psql(imp + f"SELECT 'n', {counts} FROM c.{quote(name)};")
    if errors:
        return report(BEYOND_POSTGRES.get(what, "none") in errors[0], what + " nested", errors[:1])
    got = rows[-1][-2 * len(columns):]
    for i, (column, kind, want) in enumerate(columns):
        if want.get("non_null") is not None and what not in VARIANT_NULL:
            report(got[2 * i] == str(want["non_null"]), f"{what} column {column}",
                   f"{got[2 * i]} values instead of {want['non_null']}")


def check_unreadable(what, verdict, imp):
    """Damaged or of no known kind: rows come back, or an error that says what is wrong with the file."""
    rows, errors, err = psql(imp + "SELECT relname FROM pg_class WHERE relkind = 'f' AND "
                             "relnamespace = 'c'::regnamespace;")
    left_out = re.search(r"(?:WARNING|DETAIL):.*", err)
    came = left_out[0] if left_out else "nothing"
    if not errors and rows and rows[-1][0].split("\n")[-1] != "0":
        name = f"c.{quote(rows[-1][0].split(chr(10))[-1])}"
        rows, errors, err = psql(imp + f"SELECT 'n', count(*), count(whole_row::text) FROM {name} whole_row;")
        came = "" if errors else f"{rows[-1][-2]} rows"
    error = re.search(r"ERROR:\s+(\w{5}): (.*)", errors[0]) if errors else None
    said = f"{error[1]} {error[2]}" if error else errors[0] if errors else came
    said = said.replace(f'"{CORPUS}/{what}": ', "")
    print(f"unreadable {what} ({verdict}): {said[:150]}", flush=True)
    report(error and re.match("XX001|0A000|54000|22|HV", error[1]) or not errors and came != "nothing", what, said)


def check_parquet_file(entry):
    path = f"{CORPUS}/{entry['file']}"
    what = entry["file"]
    if not os.path.exists(path):
        return skip(what, "there is no such file")
    verdict = entry["verdict"]
    columns = [(c["name"], c["type"], c) for c in entry.get("columns", [])]
    flat = [c for c in columns if pg_type(c[1]) and c[0] != "" and len(c[0].encode()) < 64]
    names = [c[0] for c in flat]
    flat = [c for c in flat if names.count(c[0]) == 1]
    state, option = REFUSED_BY_DEFAULT.get(what, (None, None))
    head = SETUP + "BEGIN;\nCREATE SCHEMA c;\n"
    imp = head + (f"IMPORT FOREIGN SCHEMA x FROM SERVER corpus INTO c OPTIONS (format 'parquet', "
                  f"location {literal(path)});\n"
                  "SELECT count(*) FROM pg_foreign_table t JOIN pg_class r ON r.oid = t.ftrelid "
                  "WHERE relnamespace = 'c'::regnamespace;\n")
    if verdict != "readable":
        return check_unreadable(what, verdict, imp)
    rows, errors, err = psql(imp)
    if errors:
        report(False, what, errors[:1])
        return
    check_nested(what, imp, [c for c in columns if "md5" in c[2] or not pg_type(c[1])])
    if not flat:
        return None  # nested columns alone: done
    body = ",\n".join(f"{quote(c[0])} {pg_type(c[1])}" for c in flat)
    head += f"CREATE FOREIGN TABLE c.f ({body}) SERVER corpus OPTIONS (location {literal(path)});\n"
    if state:
        _, errors, _ = psql(head + "SELECT count(f::text) FROM c.f;")
        report(errors and state in errors[0], what + " by default", errors[:1] or "no error")
        head += f"ALTER FOREIGN TABLE c.f OPTIONS (ADD {option});\n"
    script = head + "SET search_path = c, public;\nSELECT 'rows', count(*) FROM f;\n"
    # One read for all columns: the file is small, the queries are many.
    script += "CREATE TEMP TABLE g ON COMMIT DROP AS SELECT * FROM f;\nDROP FOREIGN TABLE f;\n"
    script += "ALTER TABLE g RENAME TO f;\nSET search_path = pg_temp, public;\n"
    script += "\n".join(column_query(c[0], c[1]) for c in flat)
    rows, errors, err = psql(script)
    if errors:
        return report(False, what, errors[:1])
    text = "\x1e".join("\x1f".join(r) for r in rows)
    cells = [r.split("\x1f") for r in re.split("\x1e|\n(?=col\x1f)", text)]
    counts = entry["rows"] if isinstance(entry["rows"], list) else [entry["rows"]]
    report(cells[0][0] == "rows" and int(cells[0][1]) in counts, what,
           f"{cells[0]} instead of {entry['rows']} rows")
    lost = BEYOND_RANGE.get(what, 0)
    if lost:
        flat = [(n, k, {"non_null": w["non_null"] - lost}) for n, k, w in flat]
    compare_columns(what, flat, [r for r in cells[1:] if r[0] == "col"])


def check_parquet():
    with open(f"{CORPUS}/expected/parquet_expected.jsonl") as f:
        for line in f:
            entry = json.loads(line)
            if ONLY in entry["file"]:
                check_parquet_file(entry)


# What is refused, by what the error says: ORC, and what only a later format could mean.
def refused(entry, error):
    return "0A000" in error and "ORC" in entry["formats"]


ICEBERG_KINDS = {"string": "VARCHAR", "int": "INTEGER", "long": "BIGINT", "date": "DATE",
                 "timestamp": "TIMESTAMP", "timestamptz": "TIMESTAMP WITH TIME ZONE",
                 "float": "FLOAT", "double": "DOUBLE", "boolean": "BOOLEAN"}


def iceberg_kinds(entry):
    """The kinds of columns that are not nested; sums of floats are left out."""
    kinds = {}
    for field in entry.get("schema", []):
        _, name, kind = field.split(":", 2)
        kind = kind.replace(" required", "")
        if kind.startswith("decimal"):
            kinds[name] = kind.upper().replace(" ", "")
        elif kind in ICEBERG_KINDS:
            kinds[name] = ICEBERG_KINDS[kind]
    return kinds


def check_iceberg_table(entry):
    what = entry["table"]
    path = f"{CORPUS}/{what}"
    metadata = f"{path}/metadata/{entry['metadata']}"
    if ONLY not in what:
        return
    if not os.path.exists(metadata):
        return skip(what, "there is no such file")
    head = SETUP + ("BEGIN;\nCREATE SCHEMA c;\nCREATE FOREIGN TABLE c.f () SERVER corpus OPTIONS "
                    f"(format 'iceberg', location {literal(metadata)});\n")
    rows, errors, err = psql(head + "SELECT count(*) FROM c.f;")
    if errors:
        report(refused(entry, errors[0]), what, errors[:1])
        return
    want = entry.get("rows")
    if want is None:
        want = (entry.get("summary") or {}).get("total-records", 0)
    report(rows == [[str(want)]], what, f"{rows} instead of {want} rows")
    rows, errors, err = psql(head + "IMPORT FOREIGN SCHEMA x FROM SERVER corpus INTO c OPTIONS "
                             f"(format 'iceberg', location {literal(path)});\n"
                             "SELECT relname FROM pg_class WHERE relnamespace = 'c'::regnamespace "
                             "AND relname <> 'f';")
    if errors or not rows:
        report(not errors and "left out" in err, what + " import", err)
        return
    name = f"c.{quote(rows[0][0])}"
    head += ("IMPORT FOREIGN SCHEMA x FROM SERVER corpus INTO c OPTIONS (format 'iceberg', "
             f"location {literal(path)});\n")
    if what in REFUSED_BY_DEFAULT:
        state, option = REFUSED_BY_DEFAULT[what]
        _, errors, _ = psql(head + f"SELECT count(f::text) FROM {name} f;")
        report(errors and state in errors[0], what + " by default", errors[:1] or "no error")
        head += f"ALTER FOREIGN TABLE {name} OPTIONS (ADD {option});\n"
    kinds = iceberg_kinds(entry)
    script = head + (f"CREATE TEMP TABLE g ON COMMIT DROP AS SELECT * FROM {name};\n"
                     "ALTER FOREIGN TABLE c.f RENAME TO old;\nALTER TABLE g RENAME TO f;\n"
                     "SET search_path = pg_temp, public;\n")
    for c in entry.get("columns", []):
        q = quote(c["name"])
        script += (column_query(c["name"], kinds[c["name"]]) + "\n" if c["name"] in kinds else
                   f"SELECT 'col', count({q}), NULL, NULL, sum(length({q}::text)) FROM f;\n")
    rows, errors, err = psql(script)
    if errors:
        report(False, what, errors[:1])
        return
    text = "\x1e".join("\x1f".join(r) for r in rows)
    cells = [r.split("\x1f") for r in re.split("\x1e|\n(?=col\x1f)", text)]
    columns = [(c["name"], kinds.get(c["name"]), c if c["name"] in kinds else
                {"non_null": c["non_null"]}) for c in entry.get("columns", [])]
    compare_columns(what, columns, cells)
    if what in STATED_VALUES:
        query, want = STATED_VALUES[what]
        rows, errors, err = psql(head + f"ALTER FOREIGN TABLE c.f RENAME TO g;\nALTER FOREIGN TABLE "
                                 f"{name} RENAME TO f;\nSET search_path = c;\nSELECT {query};")
        report(not errors and len(rows) == 1 and json.loads(rows[0][0]) == want,
               what + " stated values", errors or rows)


def check_iceberg():
    with open(f"{CORPUS}/expected/iceberg_expected.json") as f:
        for entry in json.load(f):
            check_iceberg_table(entry)


def without_nulls(value):
    """Spark leaves members that are NULL out of the JSON of structs."""
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    return [without_nulls(v) for v in value] if isinstance(value, list) else value


def same_json(want, got):
    return without_nulls(json.loads(want)) == without_nulls(json.loads(got))


def check_spark_rows(name, entry, columns, head):
    """Every value of a small table; rows are matched by sorting both sides in the same way."""
    picked = [i for i, c in enumerate(entry["columns"]) if any(n == c["name"] for n, _, _ in columns)]
    shown = [f"encode({quote(n)}, 'hex')" if k == "BLOB" else f"{quote(n)}::text" for n, k, _ in columns]
    rows, errors, err = psql(head + "SELECT json_agg(json_build_array(" + ", ".join(shown) + ")) FROM f;")
    if errors:
        return report(False, f"spark {name} rows", errors[:1])
    ours = json.loads("\x1f".join(rows[0]))
    theirs = [[row[i] for i in picked] for row in entry["all"]]

    def match(want, got):
        if want is None or got is None:
            return want is got
        kind = columns[column][1]
        if kind == "JSON":
            return same_json(want, got)
        return want == got if kind == "VARCHAR" else same_value(kind, want, got)

    for got in ours:
        for want in theirs:
            for column in range(len(columns)):
                if not match(want[column], got[column]):
                    break
            else:
                theirs.remove(want)
                break
        else:
            return report(False, f"spark {name} rows", f"none is {got}")
    report(not theirs, f"spark {name} rows", f"missing {theirs[:1]}")


SPARK_KINDS = {"bigint": "BIGINT", "int": "INTEGER", "string": "VARCHAR", "timestamp": "TIMESTAMP",
               "timestamp_ntz": "TIMESTAMP", "date": "DATE", "float": "FLOAT", "double": "DOUBLE",
               "boolean": "BOOLEAN", "binary": "BLOB"}


def check_spark():
    with open(f"{CORPUS}/spark/expected.json") as f:
        tables = json.load(f)
    for name, entry in tables.items():
        db, table = name.split(".")
        path = f"{CORPUS}/spark/{db}/{table}"
        if ONLY not in f"spark/{db}/{table}" or not os.path.isdir(path):
            continue
        columns = []
        for c in entry["columns"]:
            kind = SPARK_KINDS.get(c["type"])
            if c["type"].startswith("decimal"):
                kind = c["type"].upper()
            if "<" in c["type"]:
                columns.append((c["name"], "JSON", dict(c)))
            elif kind and pg_type(kind):
                want = dict(c)
                if "sum" in want and kind in ("DOUBLE", "FLOAT"):
                    del want["sum"]
                if kind == "BLOB":
                    want["min"] = want["max"] = None
                columns.append((c["name"], kind, want))
        body = ",\n".join(f"{quote(n)} {'timestamptz' if w['type'] == 'timestamp' else pg_type(k)}"
                          for n, k, w in columns)
        script = SETUP + (f"BEGIN;\nCREATE SCHEMA c;\nCREATE FOREIGN TABLE c.f ({body}) SERVER corpus "
                          f"OPTIONS (format 'iceberg', location {literal(path)});\n"
                          "SET search_path = c, public;\nSELECT 'rows', count(*) FROM f;\n")
        script += "\n".join(column_query(n, k) for n, k, _ in columns)
        rows, errors, err = psql(script)
        if errors:
            report(False, f"spark {name}", errors[:1])
            continue
        text = "\x1e".join("\x1f".join(r) for r in rows)
        cells = [r.split("\x1f") for r in re.split("\x1e|\n(?=col\x1f)", text)]
        report(cells[0] == ["rows", str(entry["rows"])], f"spark {name}", f"{cells[0]}")
        compare_columns(f"spark {name}", columns, cells[1:])
        if "all" in entry:
            check_spark_rows(name, entry, columns, script.split("SELECT 'rows'")[0])


def kafka_expected(version):
    with open(f"{CORPUS}/logs/{version}/expected.json") as f:
        return json.load(f)


def check_kafka_partition(version, state, partition, levels):
    path = f"{CORPUS}/logs/{version}/{state}/{partition}"
    if not os.path.isdir(path) or ONLY not in path:
        return
    for level, want in levels.items():
        what = f"{version} {state} {partition} {level}"
        script = SETUP + f"""
BEGIN;
CREATE SCHEMA c;
CREATE FOREIGN TABLE c.k (partition int, "offset" bigint, "timestamp" timestamptz, key bytea,
	value bytea, headers jsonb) SERVER corpus
	OPTIONS (format 'kafka_log', location {literal(path)}, isolation '{level}');
SELECT count(*), min("offset"), max("offset"), sum("offset"), count(*) - count(value),
	(extract(epoch FROM min("timestamp")) * 1000)::bigint,
	(extract(epoch FROM max("timestamp")) * 1000)::bigint FROM c.k;
COPY (SELECT encode(convert_to("offset"::text || '|', 'UTF8') || coalesce(key, '\\x00') || '|'::bytea
	|| coalesce(value, '\\x00') || '\\x0a'::bytea, 'hex') FROM c.k ORDER BY "offset") TO STDOUT;
"""
        rows, errors, err = psql(script)
        if errors:
            old = version == "kafka-2.8" and "0A000" in errors[0]
            report(old, what, errors[:1])
            continue
        lines = "\x1e".join("\x1f".join(r) for r in rows).replace("\x1e", "\n").split("\n")
        got = lines[0].split("\x1f")
        md5 = hashlib.md5(b"".join(bytes.fromhex(l) for l in lines[1:] if l)).hexdigest()
        none = "\x01NULL"
        theirs = [want["records"], want.get("first"), want.get("last"), want["offset_sum"],
                  want["null_values"], want["min_ts"], want["max_ts"]]
        if want["records"] == 0:
            theirs[1:4] = [None, None, None]
            theirs[5:7] = [None, None]
        if "first" not in want:
            theirs[1:3] = got[1:3]
        theirs = [none if v is None else str(v) for v in theirs]
        report(got == theirs, what, f"{got} instead of {theirs}")
        if "md5_offset_key_value" in want and state == "stopped":
            report(md5 == want["md5_offset_key_value"], what + " md5", md5)


def check_kafka():
    for version in ("kafka-4.1", "kafka-2.8"):
        if os.path.isdir(f"{CORPUS}/logs/{version}"):
            for partition, levels in kafka_expected(version).items():
                if "records" in levels:
                    levels = {"read_committed": levels}
                for state in ("stopped", "live"):
                    check_kafka_partition(version, state, partition, levels)


rows, errors, err = psql(SETUP + "SELECT pg_postmaster_start_time();")
if errors:
    sys.exit("\n".join(errors))
started = rows
check_spark()
check_iceberg()
check_kafka()
check_parquet()
rows, errors, err = psql(SETUP + "SELECT pg_postmaster_start_time();")
report(rows == started, "server", "was restarted meanwhile")
for source, (p, f, s) in sorted(tallies.items()):
    print(f"{source:24} {p:6} passed {f:4} failed {s:4} skipped")
total = [sum(t[i] for t in tallies.values()) for i in range(3)]
print("{} passed, {} failed, {} skipped".format(*total))
sys.exit(1 if total[1] else 0)
