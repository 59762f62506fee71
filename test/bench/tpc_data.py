#!/usr/bin/env python3
"""Makes the tables of TPC-H or TPC-DS as Parquet files, with DuckDB.

    tpc_data.py tpch|tpcds SCALE DIRECTORY

Next to the files: queries.json, a list of [number, text], and answers.json, the rows that DuckDB gives, as text. Does
nothing where the directory is complete.
"""
import glob
import importlib.util
import json
import os
import sys

import duckdb


def load_extension(connection, kind):
    root = importlib.util.find_spec(f"duckdb_extension_{kind}").submodule_search_locations[0]
    files = glob.glob(os.path.join(root, "**", f"{kind}.duckdb_extension"), recursive=True)
    connection.load_extension(files[0])


def text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "t" if value else "f"
    return str(value)


def main():
    kind, scale, directory = sys.argv[1:]
    done = os.path.join(directory, "answers.json")
    if os.path.exists(done):
        return
    os.makedirs(directory, exist_ok=True)
    c = duckdb.connect()
    c.execute("SET threads = 1")
    load_extension(c, kind)
    c.execute(f"CALL {'dbgen' if kind == 'tpch' else 'dsdgen'}(sf = {float(scale)})")
    for (table,) in c.execute("SELECT table_name FROM duckdb_tables()").fetchall():
        c.execute(f"COPY {table} TO '{directory}/{table}.parquet' (FORMAT parquet, COMPRESSION zstd)")
    queries = c.execute(f"SELECT query_nr, query FROM {kind}_queries() ORDER BY query_nr").fetchall()
    answers = {number: [[text(v) for v in row] for row in c.execute(query).fetchall()] for number, query in queries}
    with open(os.path.join(directory, "queries.json"), "w") as f:
        json.dump(queries, f)
    with open(done, "w") as f:
        json.dump(answers, f)


main()
