#!/usr/bin/env python3
"""The inputs that were once read wrongly, with what must come back.

Run by run.sh behind check.py, over `found/` of the corpus: each query in a session of its own, in a
database in the encoding that it asks for. Prints a line per difference and
`N passed, N failed, N skipped`.
"""
import os
import subprocess
import sys

FOUND = os.path.join(os.environ["BIFANG_CORPUS"], "found")
ERROR = "ERROR"  # any; what must not come is an answer

# Table, its columns and options (None: IMPORT), encoding, query over `t`, answer.
PARQUET, KAFKA = "format 'parquet'", "format 'kafka_log'"
CHECKS = [
    ("uuid_sorted", "id int, u uuid", "", "UTF8",
     "SELECT id FROM t WHERE u = '33000000-0000-0000-0000-000000000000'", "51"),
    ("uuid_sorted", "id int, u uuid", "", "UTF8",
     "SELECT count(*) FROM t WHERE u < 'bc000000-0000-0000-0000-000000000000'", "5"),
    ("hour_big", "id int, x timestamptz", "", "UTF8",
     "SELECT id FROM t WHERE x > '2020-01-01' ORDER BY id", "0\n1"),
    ("tsn-0", '"offset" bigint, "timestamp" timestamptz', KAFKA, "UTF8",
     'SELECT "timestamp" FROM t', ERROR),
    *(("tsn-0", f'"offset" bigint, "timestamp" {type_}', KAFKA + ", out_of_range 'null'", "UTF8",
       'SELECT "offset", "timestamp" IS NULL FROM t ORDER BY 1', "0|f\n1|t")
      for type_ in ("timestamptz", "text", "bigint")),
    ("enc.parquet", "s text, i bigint", PARQUET, "LATIN1", "SELECT s FROM t", ERROR),
    ("enc.parquet", "s text, i bigint", PARQUET + ", invalid_text 'null'", "LATIN1",
     "SELECT count(*) > 0, count(*) FILTER (WHERE s IS NULL) FROM t", "t|2"),  # one is NULL
    ("enc.parquet", "s text, i bigint", PARQUET + ", invalid_text 'replace'", "LATIN1",
     "SELECT count(*) FILTER (WHERE s LIKE '%?%') FROM t", "1"),
    ("enc.parquet", "s text, i bigint", PARQUET + ", invalid_text 'null'", "LATIN1",
     "SELECT count(*) FROM t WHERE s = 'no such text'", "0"),
    ("uml.parquet", None, PARQUET, "LATIN1",
     "SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute "
     "WHERE attrelid = 'uml'::regclass AND attnum > 0", "ü,a"),
    ("uml.parquet", '"ü" bigint', PARQUET, "LATIN1", 'SELECT count("ü") > 0 FROM t', "t"),
    ("*.parquet", None, PARQUET, "UTF8",
     "SELECT count(*) > 5, count(*) FILTER (WHERE relname = 'wide') FROM pg_class WHERE relkind = 'f'",
     "t|0"),
    ("offset_index_no_header.parquet", "a bigint", PARQUET, "UTF8",
     "SELECT count(*), min(a), max(a) FROM t WHERE a > 50", "49|51|99"),
    ("v2_num_nulls_0.parquet", "a bigint", PARQUET, "UTF8",
     "SELECT count(*), count(a), sum(a) FROM t", "3|2|4"),
    ("bloom_filter_short_numbytes.parquet", "r bigint", PARQUET, "UTF8",
     "SELECT count(*) FROM t WHERE r = 200", "100"),
    ("corrupt_stats.parquet", '"A" timestamp', PARQUET, "UTF8",
     "SELECT count(*) FROM t WHERE \"A\" = '2021-01-01 12:00'", "5"),
    ("broken_structure.parquet", "b bigint", PARQUET, "UTF8",
     "SET statement_timeout = '5s'; SELECT count(*) FROM t", ERROR),
    ("int64_min.parquet", "a double precision", PARQUET, "UTF8",
     "SELECT a = 2::float8 ^ 62 OR a = -(2::float8 ^ 62) OR a = -(2::float8 ^ 63) FROM t",
     "t\nt\nt"),
]


def psql(db, script):
    run = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", db, "-f", "-"],
                         input=script.encode(), capture_output=True, timeout=300,
                         env=dict(os.environ, PGCLIENTENCODING="UTF8", PGTZ="UTC"))
    error = [l for l in run.stderr.decode("utf-8", "replace").splitlines()
             if "ERROR:" in l or "FATAL:" in l or "server closed" in l or "terminat" in l]
    return run.stdout.decode("utf-8", "replace").rstrip("\n"), error


def check(n, name, columns, options, encoding, query, want):
    db = f"found_{encoding.lower()}"
    schema = f"s{n}"
    location = f"location '{FOUND}/{name}'"
    options = ", ".join(o for o in (options, location) if o)
    script = f"CREATE SCHEMA {schema}; SET search_path = {schema};\n"
    if columns is None:
        script += f"SET client_min_messages = error;\nIMPORT FOREIGN SCHEMA x FROM SERVER found INTO {schema} OPTIONS ({options});\n"
        query = query.replace("WHERE relkind", f"WHERE relnamespace = '{schema}'::regnamespace AND relkind")
    else:
        script += f"CREATE FOREIGN TABLE t ({columns}) SERVER found OPTIONS ({options});\n"
    got, error = psql(db, script + query)
    ok = (error and want == ERROR and "timeout" not in error[0] and "server closed" not in error[0]) or (
        not error and got == want)
    if not ok:
        print(f"FAILED found/{name}: {query}: {error[0] if error else got!r}, not {want!r}", flush=True)
    return ok


def main():
    if not os.path.isdir(FOUND):
        print("skipped found: the corpus has no such directory")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    for encoding in ("UTF8", "LATIN1"):
        db = f"found_{encoding.lower()}"
        psql("postgres", f"DROP DATABASE IF EXISTS {db}")
        _, error = psql("postgres", f"CREATE DATABASE {db} ENCODING '{encoding}' LC_COLLATE 'C' "
                                    f"LC_CTYPE 'C' TEMPLATE template0")
        if not error:
            _, error = psql(db, "CREATE EXTENSION bifang_fdw; CREATE SERVER found FOREIGN DATA WRAPPER bifang_fdw")
        if error:
            print(f"FAILED found: {error[0]}")
            return 1
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    results = [check(n, *c) for n, c in enumerate(CHECKS) if only in "found/" + c[0]]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, 0 skipped")
    return 0 if all(results) else 1


sys.exit(main())
